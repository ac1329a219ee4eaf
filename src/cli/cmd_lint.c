/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune lint`. */
#include <errno.h>

#include "cli.h"

int cmd_lint(struct cli *cli)
{
	struct err err = {0};

	if (!cli->argument_count)
		return cli_usage(cli, "lint needs a FILE");
	(void)err_set(&err, ENOTSUP, cli->arguments[0], "lint does not read files yet");
	return cli_fail(&err);
}
