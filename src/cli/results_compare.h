/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns two sessions beside each other: first what else differs between them, then the ratio of each metric that both
 * have. They were not measured in blocks, so what drifted between them is in the ratio, and that is said.
 */
#ifndef HVTUNE_RESULTS_COMPARE_H
#define HVTUNE_RESULTS_COMPARE_H

#include "cli.h"
#include "store.h"

/* Print it; an exit code. Configurations of one name are compared, or the only one of each. */
int results_compare(const struct cli *cli, struct arena *arena, const struct store_whole *a,
		    const struct store_whole *b);

#endif
