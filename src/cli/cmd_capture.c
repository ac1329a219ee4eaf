/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune capture`. */
#include <errno.h>

#include "cli.h"

int cmd_capture(struct cli *cli)
{
	struct err err = {0};

	(void)cli;
	(void)err_set(&err, ENOTSUP, NULL, "capture does not write yet");
	return cli_fail(&err);
}
