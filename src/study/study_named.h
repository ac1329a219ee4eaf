/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the workloads that are known by name: data/workloads.yaml, which is part of the program. They are real programs
 * of Debian in groups (compile, compress, crypto...).
 */
#ifndef HVTUNE_STUDY_NAMED_H
#define HVTUNE_STUDY_NAMED_H

#include "study.h"
#include "sys.h"

/* All of them, in the arena; their number is returned. */
size_t study_named(struct arena *arena, const struct study_workload **ret);

/* The one of that name, or NULL. */
const struct study_workload *study_named_find(struct arena *arena, const char *name);

/* The package that is missing for it here, by what dpkg has installed; NULL: none, or this is no Debian. */
const char *study_named_missing(struct sys *sys, const struct study_workload *workload);

#endif
