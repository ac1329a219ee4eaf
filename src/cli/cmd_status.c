/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune status`. */
#include "change.h"
#include "knob_confirm.h"
#include "knob_rivals.h"
#include "knob_status.h"
#include "report.h"
#include "report_knob.h"
#include "study_state.h"

struct status {
	struct knob_journal journal;
	struct knob_standing *standings; /* newest first */
	size_t count;
	struct knob_rival *rivals; /* who else writes these knobs */
	size_t rival_count;
	const char *trial; /* how a trial boot stands that was asked for, or NULL */
	const char *owes;  /* what a study that was killed has left to its levels' commands, or NULL */
	bool at_work;
	bool wrong; /* something was cut short or drifted, or a study that was killed has left something */
};

static void look_for_rivals(struct knob_machine *machine, struct status *status)
{
	const struct knob **knobs;
	size_t count = 0, room = 0;

	for (size_t i = 0; i < status->count; i++)
		room += status->standings[i].change->step_count;
	knobs = ARENA_ARRAY(machine->arena, room + 1, const struct knob *);
	for (size_t i = 0; i < status->count; i++) {
		const struct knob_change *change = status->standings[i].change;

		for (size_t j = 0; j < change->step_count; j++) {
			const struct knob *knob = change->steps[j].knob;
			size_t at = 0;

			while (at < count && knobs[at] != knob)
				at++;
			if (knob && at == count)
				knobs[count++] = knob;
		}
	}
	status->rival_count = knob_rivals(machine, knobs, count, &status->rivals);
}

static void look_for_trial(struct knob_machine *machine, struct status *status)
{
	struct knob_confirm confirm = {0};
	struct err ignored = {0};

	if (knob_confirm_look(machine, false, &confirm, &ignored) == 0)
		status->trial = knob_confirm_text(machine, &confirm);
}

static int look(struct knob_machine *machine, struct status *ret, struct err *err)
{
	struct status status = {.at_work = knob_at_work(machine), .owes = study_state_owes(machine)};
	unsigned *ids;
	int r = knob_journal_read(machine, &status.journal, err);

	if (r < 0)
		return r;
	status.count = knob_in_force(machine, &status.journal, &ids);
	status.standings = ARENA_ARRAY(machine->arena, status.count + 1, struct knob_standing);
	for (size_t i = 0, at = status.journal.count; i < status.count; i++) {
		const struct knob_standing *standing = &status.standings[i];

		while (status.journal.changes[--at].id != ids[i])
			;
		knob_standing(machine, &status.journal, &status.journal.changes[at], &status.standings[i]);
		if ((standing->cut_short && !status.at_work) || standing->drift.count)
			status.wrong = true;
	}
	status.wrong = status.wrong || status.owes;
	look_for_rivals(machine, &status);
	look_for_trial(machine, &status);
	*ret = status;
	return 0;
}

static void print_text(const struct term *term, struct arena *arena, const struct status *status)
{
	if (status->journal.damage)
		term_flow(term, 0, true, status->journal.damage);
	if (!status->count)
		(void)fputs("Nothing of hvtune's is in force.\n", term->out);
	else
		(void)fprintf(term->out, "%zu change%s in force, the newest first:\n\n", status->count,
			      status->count == 1 ? "" : "s");
	for (size_t i = 0; i < status->count; i++)
		report_knob_standing(term, arena, &status->standings[i], status->at_work);
	if (status->rival_count || status->trial || status->owes)
		(void)fputc('\n', term->out);
	if (status->trial)
		term_flow(term, 0, true, status->trial);
	if (status->owes)
		term_flow(term, 0, true, status->owes);
	for (size_t i = 0; i < status->rival_count; i++)
		term_flow(term, 0, true, arena_printf(arena, "%s.", status->rivals[i].text));
}

static void print_json(const struct status *status)
{
	json_t *json = report_json_start("status", NULL), *list = json_array(), *rivals = json_array();

	for (size_t i = 0; i < status->rival_count; i++)
		json_array_append_new(rivals, json_pack("{s:s, s:o}", "service", status->rivals[i].daemon, "text",
							report_json_text(status->rivals[i].text)));
	for (size_t i = 0; i < status->count; i++)
		json_array_append_new(list, report_knob_standing_json(&status->standings[i]));
	json_object_set_new(json, "changes", list);
	json_object_set_new(json, "rivals", rivals);
	json_object_set_new(json, "trial", report_json_text(status->trial));
	json_object_set_new(json, "at_work", json_boolean(status->at_work));
	json_object_set_new(json, "damage", report_json_text(status->journal.damage));
	(void)report_json_print(stdout, json);
}

int cmd_status(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct status status;
	struct err err = {0};
	int r;

	if (cli->argument_count)
		return cli_usage(cli, "status takes no arguments, but got \"%s\"", cli->arguments[0]);
	r = change_open(cli, &machine);
	if (r)
		return r;
	if (look(&machine, &status, &err) < 0)
		return cli_fail(&err);
	if (cli_given(cli, OPTION_JSON))
		print_json(&status);
	else
		print_text(&cli->out, machine.arena, &status);
	return status.wrong ? EXIT_FINDINGS : EXIT_FINE;
}
