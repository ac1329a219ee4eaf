/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the pictures of the topology share: the layout as groups of cores, and the marks that CPUs carry.
 */
#ifndef HVTUNE_REPORT_TOPOLOGY_H
#define HVTUNE_REPORT_TOPOLOGY_H

#include "host.h"

/* The preferred-core rank that amd_pstate gives the CPU, or -1. Higher is preferred. */
int64_t report_core_rank(const struct host *host, int cpu);

#endif
