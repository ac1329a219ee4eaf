/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune undo`. */
#include <errno.h>

#include "change.h"
#include "knob_apply.h"
#include "report.h"
#include "report_knob.h"
#include "study_state.h"
#include "text.h"

struct undoing {
	const struct cli *cli;
	struct knob_machine *machine;
	json_t *changes; /* what was undone, for JSON; NULL for text */
};

static void tell(const struct undoing *undoing, const struct knob_report *report, int r)
{
	struct arena *arena = undoing->machine->arena;

	if (undoing->changes) {
		json_array_append_new(undoing->changes, json_pack("{s:i, s:o, s:b, s:o}", "id", (int)report->id, "what",
								  report_json_text(report->what), "undone", r == 0,
								  "events", report_knob_events_json(report)));
		return;
	}
	term_flow(&undoing->cli->out, 0, true,
		  arena_printf(arena, "Change %u (%s) is %s.", report->id, report->what,
			       r == 0 ? "undone" : "undone in part"));
	report_knob_events(&undoing->cli->out, arena, report);
}

/* One change, or the newest (0). EXIT_FINE with *ret_none when there is none. */
static int undo_one(const struct undoing *undoing, unsigned id, bool *ret_none)
{
	struct change_signals signals;
	struct knob_report report = {0};
	struct err err = {0};
	int r;

	/* Half an undo helps nobody: it is let come to its end. */
	change_hold_signals(&signals);
	r = knob_undo(undoing->machine, id, &report, &err);
	change_release_signals(&signals);
	if (r == -ENOENT && id == 0 && report.id == 0) {
		*ret_none = true;
		return change_tell_damage(report.damage);
	}
	(void)change_tell_damage(report.damage);
	if (report.id)
		tell(undoing, &report, r);
	if (r == 0)
		return EXIT_FINE;
	if (r == -EIO && report.id)
		(void)err_hint(&err, "hvtune undo %u tries again", report.id);
	(void)cli_fail(&err);
	return r == -EIO && report.id ? EXIT_FINDINGS : EXIT_COULD_NOT;
}

static int undo_all(const struct undoing *undoing, unsigned id, bool all)
{
	bool none = false;
	int code = undo_one(undoing, id, &none);
	bool any = !none;

	while (all && code == EXIT_FINE && !none)
		code = undo_one(undoing, 0, &none);
	if (!any && !undoing->changes)
		(void)fputs("Nothing of hvtune's is in force.\n", undoing->cli->out.out);
	return code;
}

int cmd_undo(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct undoing undoing = {.cli = cli, .machine = &machine};
	bool all = cli_given(cli, OPTION_EVERY);
	int64_t id = 0;
	int r;

	if (cli->argument_count > 1 || (cli->argument_count && all))
		return cli_usage(cli, "undo takes one change, or --all");
	if (cli->argument_count && (text_int(cli->arguments[0], 10, &id) < 0 || id < 1 || id > INT32_MAX))
		return cli_usage(cli, "\"%s\" is no number of a change; `hvtune status` lists them", cli->arguments[0]);
	r = change_open(cli, &machine);
	if (r == 0)
		r = change_needs_root(cli, &machine);
	if (r)
		return r;
	if (cli_given(cli, OPTION_JSON))
		undoing.changes = json_array();
	r = undo_all(&undoing, (unsigned)id, all);
	const char *owes = study_state_owes(&machine);

	if (owes && !undoing.changes)
		term_flow(&cli->out, 0, true, owes);
	if (undoing.changes) {
		json_t *json = report_json_start("undo", NULL);

		json_object_set_new(json, "changes", undoing.changes);
		(void)report_json_print(stdout, json);
	}
	return r;
}
