/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune status`. */
#include "change.h"
#include "knob_status.h"
#include "report.h"
#include "report_knob.h"

struct status {
	struct knob_journal journal;
	struct knob_standing *standings; /* newest first */
	size_t count;
	bool at_work;
	bool wrong; /* something was cut short or drifted */
};

static int look(struct knob_machine *machine, struct status *ret, struct err *err)
{
	struct status status = {.at_work = knob_at_work(machine)};
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
}

static void print_json(const struct status *status)
{
	json_t *json = report_json_start("status", NULL), *list = json_array();

	for (size_t i = 0; i < status->count; i++)
		json_array_append_new(list, report_knob_standing_json(&status->standings[i]));
	json_object_set_new(json, "changes", list);
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
