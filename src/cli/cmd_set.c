/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune set`. */
#include <errno.h>

#include "change.h"
#include "knob_tuned_own.h"
#include "text.h"

int cmd_set(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct change_request request = {.what = "set", .count = (size_t)cli->argument_count};
	struct knob_ask *asks;
	struct err err = {0};
	int r;

	if (!cli->argument_count)
		return cli_usage(cli, "set needs KNOB=VALUE; `hvtune knobs` lists what there is");
	if (cli_given(cli, OPTION_THROUGH) && !text_equal(cli->values[OPTION_THROUGH], "tuned"))
		return cli_usage(cli, "--through takes tuned");
	r = change_check_options(cli);
	if (r == 0)
		r = change_open(cli, &machine);
	if (r)
		return r;
	asks = ARENA_ARRAY(machine.arena, request.count, struct knob_ask);
	for (size_t i = 0; i < request.count; i++) {
		if (knob_ask_parse(machine.arena, cli->arguments[i], &asks[i], &err) < 0) {
			(void)cli_fail(&err);
			return EXIT_USAGE;
		}
		request.what = arena_printf(machine.arena, "%s %s", request.what, cli->arguments[i]);
	}
	request.asks = asks;
	if (cli_given(cli, OPTION_THROUGH) &&
	    knob_tuned_hand_over(&machine, asks, request.count, &request.asks, &request.count, &err) < 0) {
		(void)cli_fail(&err);
		return err.code == -EINVAL ? EXIT_USAGE : EXIT_COULD_NOT;
	}
	return change_run(cli, &machine, &request);
}
