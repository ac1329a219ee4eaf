/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune fix`: the settings that findings of this host recommend, as one plan. */
#include <errno.h>

#include "advise.h"
#include "change.h"
#include "knob_fix.h"
#include "text.h"
#include "vm_joined.h"

struct fixing {
	const struct cli *cli;
	struct knob_machine *machine;
	const struct advise_result *result;
	struct knob_ask *asks; /* of all findings */
	size_t count;
	const char *what;
	const char **notes; /* what the pages say of the change */
	size_t note_count;
};

static const struct advise_finding *find(const struct advise_result *result, const char *id)
{
	for (size_t i = 0; i < result->finding_count; i++)
		if (text_equal(result->findings[i].rule->id, id))
			return &result->findings[i];
	return NULL;
}

/* There is no such finding here: that is fine, unless it could not be decided. An exit code. */
static int not_here(const struct fixing *fixing, const char *id)
{
	struct err err = {0};

	for (size_t i = 0; i < fixing->result->unknown_count; i++)
		if (text_equal(fixing->result->unknowns[i].rule->id, id)) {
			(void)err_set(&err, ENODATA, id, "could not be decided: %s", fixing->result->unknowns[i].why);
			return cli_fail(&err);
		}
	(void)fprintf(stderr, "hvtune: %s: is not found on this host; there is nothing to fix\n", id);
	return EXIT_FINE;
}

static int by_hand(const struct fixing *fixing, const struct advise_finding *finding, struct err *err)
{
	const char *hand = finding->by_hand ? finding->by_hand : finding->rule->by_hand;

	(void)err_set(err, EOPNOTSUPP, finding->rule->id, "%s", arena_strdup(fixing->machine->arena, err->what));
	if (hand)
		(void)err_hint(err, "by hand: %s", hand);
	else
		(void)err_hint(err, "hvtune explain %s tells more", finding->rule->id);
	return cli_fail(err);
}

static void note(struct fixing *fixing, const char *text)
{
	fixing->notes[fixing->note_count++] = text;
}

static int add(struct fixing *fixing, const struct advise_finding *finding)
{
	struct arena *arena = fixing->machine->arena;
	const struct advise_rule *rule = finding->rule;
	struct knob_ask *asks, *larger;
	size_t count;
	struct err err = {0};

	if (knob_fix_asks(arena, finding->knobs, &asks, &count, &err) < 0)
		return by_hand(fixing, finding, &err);
	larger = ARENA_ARRAY(arena, fixing->count + count, struct knob_ask);
	if (fixing->count)
		memcpy(larger, fixing->asks, fixing->count * sizeof(*larger));
	memcpy(larger + fixing->count, asks, count * sizeof(*larger));
	fixing->asks = larger;
	fixing->count += count;
	if (rule->hurts && !text_equal(rule->hurts, "nothing"))
		note(fixing, arena_printf(arena, "%s: the fix costs %s", rule->id, rule->hurts));
	if (finding->experiment)
		note(fixing,
		     arena_printf(arena, "%s: not certain for every host; measure %s", rule->id, finding->experiment));
	return EXIT_FINE;
}

static int add_notes(const struct cli *cli, struct knob_machine *machine, struct knob_plan *plan, void *data)
{
	const struct fixing *fixing = data;

	(void)cli;
	for (size_t i = 0; i < fixing->note_count && plan->points.count; i++)
		knob_plan_note(machine, plan, fixing->notes[i]);
	return 0;
}

static int fix(struct fixing *fixing)
{
	const struct cli *cli = fixing->cli;
	struct change_request request = {.look = add_notes, .data = fixing};

	fixing->what = "fix";
	fixing->notes = ARENA_ARRAY(fixing->machine->arena, 2 * (size_t)cli->argument_count + 1, const char *);
	for (int i = 0; i < cli->argument_count; i++) {
		const struct advise_finding *finding = find(fixing->result, cli->arguments[i]);
		int r = finding ? add(fixing, finding) : not_here(fixing, cli->arguments[i]);

		if (r)
			return r;
		if (finding)
			fixing->what = arena_printf(fixing->machine->arena, "%s %s", fixing->what, cli->arguments[i]);
	}
	if (!fixing->count && !cli_given(cli, OPTION_JSON))
		return EXIT_FINE;
	request.what = fixing->what;
	request.asks = fixing->asks;
	request.count = fixing->count;
	return change_run(cli, fixing->machine, &request);
}

/* 0, or an exit code when a name is no finding's. */
static int check_names(const struct cli *cli)
{
	for (int i = 0; i < cli->argument_count; i++) {
		const char *id = cli->arguments[i];
		const struct advise_rule *near = advise_rule_near(id);

		if (advise_rule_by_id(id))
			continue;
		return near ? cli_usage(cli, "there is no finding \"%s\"; did you mean \"%s\"?", id, near->id)
			    : cli_usage(cli, "there is no finding \"%s\"; `hvtune explain --list` names all", id);
	}
	return cli->argument_count ? 0 : cli_usage(cli, "fix needs a FINDING of `hvtune check`");
}

int cmd_fix(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(vm_joined_free_pointer) struct vm_joined *vms = NULL;
	CLEANUP(advise_result_free_pointer) struct advise_result *result = NULL;
	struct fixing fixing = {.cli = cli, .machine = &machine};
	struct err err = {0};
	int r = check_names(cli);

	if (r == 0)
		r = change_check_options(cli);
	if (r == 0)
		r = change_open(cli, &machine);
	if (r)
		return r;
	if (host_open(cli->values[OPTION_ROOT], &host, &err) < 0 || vm_joined_read(host, NULL, &vms, &err) < 0)
		return cli_fail(&err);
	result = advise_run(&(struct advise_subject){.host = host, .vms = vms->vms, .vm_count = (size_t)vms->count});
	fixing.result = result;
	return fix(&fixing);
}
