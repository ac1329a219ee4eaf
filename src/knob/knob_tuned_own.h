/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns profiles of tuned that hvtune writes, so that a setting can be handed to tuned instead of being fought over.
 * Such a profile includes the one that is active and sets what was asked for; it is never written twice, so that the
 * name of the active profile tells what tuned has loaded. Source: tuned.conf(5), tuned/plugins of tuned 2.20 to 2.28.
 */
#ifndef HVTUNE_KNOB_TUNED_OWN_H
#define HVTUNE_KNOB_TUNED_OWN_H

#include "knob_tuned.h"

#define KNOB_TUNED_OWN "tuned.own" /* the knob; `where` of its point is the file */

/* Expand and check of tuned.own: see struct knob. */
int knob_tuned_own_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			  struct knob_points *points, struct err *err);
int knob_tuned_own_check(struct knob_machine *machine, const struct knob_point *point, struct err *err);

/*
 * The text of a profile that includes `include` (names with commas between them, or NULL) and brings about `asks`,
 * after `before`, an earlier profile of hvtune's whose settings it keeps (or NULL). tuned's 2.minor decides which
 * options there are. -EINVAL: tuned has no option for one of them, or not for single CPUs.
 */
int knob_tuned_profile_text(struct knob_machine *machine, const char *include, const struct tuned_profile *before,
			    int minor, const struct knob_ask *asks, size_t count, const char **ret, struct err *err);

/*
 * What asks for `asks` through tuned: a profile of a new name, its activation, and `asks` themselves, which are read
 * back like others. In the machine's arena. -ECONNREFUSED: tuned does not run; -EINVAL as above.
 */
int knob_tuned_hand_over(struct knob_machine *machine, const struct knob_ask *asks, size_t count,
			 const struct knob_ask **ret, size_t *ret_count, struct err *err);

#endif
