/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the verbs of `hvtune study` share. */
#ifndef HVTUNE_CLI_STUDY_H
#define HVTUNE_CLI_STUDY_H

#include "cli.h"
#include "study.h"

/* Read the study file, - for standard input; 0, or an exit code after all its mistakes are printed. */
int study_cli_read(struct arena *arena, const char *path, const char **ret_text, struct study **ret);

int study_cli_run(struct cli *cli);

#endif
