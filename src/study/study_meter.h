/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns which meter a study goes by. Joules of unlike boundaries are not comparable, so there is one for all runs of a
 * study, those of its later sessions too.
 */
#ifndef HVTUNE_STUDY_METER_H
#define HVTUNE_STUDY_METER_H

#include "meter.h"
#include "study_check.h"

/* Boundaries that a study can go by, the widest first: the wall knows more than the sockets. Ended by NULL. */
extern const char *const study_meters[];

/* The one that the file says, else the widest that is readable; NULL: none is, or `meters` is NULL. */
const char *study_meter_choose(const struct study *study, const struct meter_set *meters);

/* Of that name; there must be one. */
enum meter_boundary study_meter_boundary(const char *name);

/* "wall energy", as runs keep it. In the arena; NULL for NULL. */
const char *study_meter_metric(struct arena *arena, const char *name);

/* Is any temperature readable here? */
bool study_meter_feels(const struct meter_set *meters);

/*
 * Add to `checked` what the study wants of meters and this machine has not: watts or joules that are sought, limits.
 * Texts live in `arena`.
 */
void study_meter_check(struct arena *arena, const struct study *study, const struct meter_set *meters,
		       struct study_checked *checked);

#endif
