/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a host of 8 CPUs with SMT for tests of linted files: 4 cores whose threads are N and N + 4, and two L3 groups,
 * 0-1,4-5 and 2-3,6-7. 32 GiB on one node, kernel 6.12, /dev/kvm, three idle states of which C2 takes 400 us.
 */
#ifndef HVTUNE_LINES_H
#define HVTUNE_LINES_H

#include "tree.h"

/* A finding is not expected. */
enum { SILENT = -1 };

struct tree *lines_host(void);

/* Fail the running test unless `id` is found with `severity` and `says` in its title, or is not found when SILENT. */
void lines_expect(const struct advise_result *result, const char *what, const char *id, int severity, const char *says);

#endif
