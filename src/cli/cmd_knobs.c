/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune knobs`. */
#include "change.h"
#include "report.h"
#include "report_knob.h"
#include "text.h"

/* A knob and what it has here. */
struct listed {
	const struct knob *knob;
	struct knob_points points;
	const char *absent; /* why there are no points */
};

static struct listed look(struct knob_machine *machine, const struct knob *knob, const char *name)
{
	struct listed listed = {.knob = knob, .points.arena = machine->arena};
	const struct knob_ask all = {.name = name, .value = ""};
	struct err why = {0};

	if (knob_expand(machine, &all, KNOB_EXPAND_READABLE, &listed.points, &why) < 0) {
		listed.points.count = 0;
		listed.absent = arena_strdup(machine->arena, why.what);
	}
	return listed;
}

/* Those that are here a line each, those that are not in a sentence. */
static void print_list(const struct cli *cli, struct knob_machine *machine)
{
	const char *missing = NULL;
	const struct knob *knob;

	for (size_t i = 0; (knob = knob_at(i)); i++) {
		const struct listed listed = look(machine, knob, knob->name);

		if (listed.points.count)
			report_knob_line(&cli->out, machine->arena, knob, &listed.points);
		else
			missing = arena_printf(machine->arena, "%s%s%s", missing ? missing : "", missing ? ", " : "",
					       knob->name);
	}
	if (missing)
		term_flow(&cli->out, 0, true, arena_printf(machine->arena, "Not on this machine: %s.", missing));
	term_flow(&cli->out, 0, true, "`hvtune knobs NAME` tells the legal values, what moves and what it costs.");
}

static void print_json(json_t *list)
{
	json_t *json = report_json_start("knobs", NULL);

	json_object_set_new(json, "knobs", list);
	(void)report_json_print(stdout, json);
}

static json_t *one_json(struct knob_machine *machine, const struct knob *knob, const char *name)
{
	const struct listed listed = look(machine, knob, name);

	return report_knob_json(machine, knob, &listed.points, listed.absent);
}

static int named(const struct cli *cli, struct knob_machine *machine, bool as_json)
{
	json_t *list = as_json ? json_array() : NULL;

	for (int i = 0; i < cli->argument_count; i++) {
		const char *name = cli->arguments[i];
		const struct knob *knob = knob_find(name);
		struct listed listed;

		if (as_json) {
			json_array_append_new(list, one_json(machine, knob, name));
			continue;
		}
		listed = look(machine, knob, name);
		if (i)
			(void)fputc('\n', cli->out.out);
		report_knob_page(&cli->out, machine, knob, &listed.points, listed.absent);
	}
	if (as_json)
		print_json(list);
	return EXIT_FINE;
}

int cmd_knobs(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	bool as_json = cli_given(cli, OPTION_JSON);
	const struct knob *knob;
	json_t *list;
	int r;

	for (int i = 0; i < cli->argument_count; i++)
		if (!knob_find(cli->arguments[i]))
			return cli_usage(cli, "there is no knob \"%s\"; `hvtune knobs` lists all", cli->arguments[i]);
	r = change_open(cli, &machine);
	if (r)
		return r;
	if (cli->argument_count)
		return named(cli, &machine, as_json);
	if (!as_json) {
		print_list(cli, &machine);
		return EXIT_FINE;
	}
	list = json_array();
	for (size_t i = 0; (knob = knob_at(i)); i++)
		json_array_append_new(list, one_json(&machine, knob, knob->name));
	print_json(list);
	return EXIT_FINE;
}
