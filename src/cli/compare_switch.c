/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns making a machine as a configuration of `hvtune compare` wants it. */
#include "compare_switch.h"

#include <errno.h>
#include <jansson.h>

#include "knob_apply.h"
#include "text.h"

enum { MOST_ASKS = 64 };

static bool is_number_like(const char *text)
{
	return *text >= '0' && *text <= '9';
}

/* The pieces between commas, joined as the header says. */
static size_t cut(struct arena *arena, const char *text, const char **pieces)
{
	const char *open = NULL; /* a piece that waits for its '=' */
	size_t count = 0;

	for (;;) {
		size_t length = strcspn(text, ",");
		const char *piece = arena_strndup(arena, text, length);
		bool whole = strchr(piece, '=') != NULL;

		if (open)
			piece = arena_printf(arena, "%s,%s", open, piece);
		open = NULL;
		if (whole || (!count && !is_number_like(piece)))
			pieces[count++] = piece;
		else if (count && !strchr(piece, '=') && is_number_like(piece))
			pieces[count - 1] = arena_printf(arena, "%s,%s", pieces[count - 1], piece);
		else
			open = piece;
		/* A first piece without '=' waits too. */
		if (!whole && count == 1 && pieces[0] == piece) {
			open = piece;
			count = 0;
		}
		if (!text[length] || count == MOST_ASKS)
			break;
		text += length + 1;
	}
	if (open && count < MOST_ASKS)
		pieces[count++] = open;
	return count;
}

int compare_side_parse(struct arena *arena, const char *text, struct compare_side *ret, struct err *err)
{
	const char *pieces[MOST_ASKS + 1];
	size_t count;

	ret->given = text;
	ret->count = 0;
	if (!*text || text_equal(text, "now"))
		return 0;
	count = cut(arena, text, pieces);
	ret->asks = ARENA_ARRAY(arena, count + 1, struct knob_ask);
	for (size_t i = 0; i < count; i++)
		if (knob_ask_parse(arena, pieces[i], &ret->asks[i], err) < 0)
			return -EINVAL;
	ret->count = count;
	return 0;
}

static int judge_plan(const struct cli *cli, const struct compare_side *side, const struct knob_plan *plan)
{
	if (plan->follows)
		return cli_usage(cli, "%s: this takes %s to act, so it cannot be compared in blocks; a study can",
				 side->given, plan->follows);
	if (plan->hole && !cli_given(cli, OPTION_ACCEPT_RISK))
		return cli_usage(cli,
				 "%s opens a security hole while it is compared; add --accept-risk if that is wanted",
				 plan->hole);
	return 0;
}

int compare_side_check(const struct cli *cli, const struct compare_switch *from, const struct compare_side *side)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_plan plan = {0};
	struct err err = {0};
	int r;

	if (!side->count)
		return 0;
	if (knob_machine_open(from->root, NULL, &machine, &err) < 0)
		return cli_fail(&err);
	r = change_needs_root(cli, &machine);
	if (r)
		return r;
	r = knob_plan_make(&machine, side->asks, side->count, &plan, &err);
	if (r < 0) {
		(void)cli_fail(&err);
		return r == -EINVAL || r == -ERANGE ? EXIT_USAGE : EXIT_COULD_NOT;
	}
	return judge_plan(cli, side, &plan);
}

int compare_switch_undo(struct compare_switch *from, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	int r;

	if (!from->change)
		return 0;
	r = knob_machine_open(from->root, NULL, &machine, err);
	if (r == 0)
		r = knob_undo(&machine, from->change, &report, err);
	if (r < 0) {
		(void)err_hint(err, "a setting is not put back: hvtune undo %u tries again", from->change);
		return r;
	}
	from->change = 0;
	const char *left = knob_report_left(machine.arena, &report);

	if (left)
		(void)snprintf(from->left, sizeof(from->left), "%s", left);
	return 0;
}

/* A machine of its own for each: what the door has read is remembered by it. */
static int apply(struct compare_side *side, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	/* Whether the values stay is looked at after the run. */
	struct knob_apply_options options = {.settle_ms = 0};
	int r = knob_machine_open(side->from->root, NULL, &machine, err);

	if (r == 0)
		r = knob_plan_make(&machine, side->asks, side->count, &plan, err);
	if (r < 0 || !plan.points.count)
		return r;
	options.what = arena_printf(machine.arena, "compare %s", side->given);
	r = knob_apply(&machine, &plan, &options, &report, err);
	if (r == 0 || !report.rolled_back)
		side->from->change = report.id;
	return r;
}

int compare_side_enter(void *data, struct err *err)
{
	struct compare_side *side = data;
	int r;

	if (side->command.argv)
		return bench_hook(side->from->bench, &side->command, "--switch", err);
	r = compare_switch_undo(side->from, err);
	return r < 0 || !side->count ? r : apply(side, err);
}

const char *compare_side_settings(struct arena *arena, const struct compare_side *side)
{
	json_t *json = json_object();
	const char *kept;
	char *text;

	for (size_t i = 0; i < side->count; i++) {
		const struct knob_ask *ask = &side->asks[i];

		json_object_set_new(json, knob_ask_name(arena, ask), json_string(ask->value));
	}
	text = json_dumps(json, JSON_COMPACT);
	kept = arena_strdup(arena, text ? text : "{}");
	free(text);
	json_decref(json);
	return kept;
}
