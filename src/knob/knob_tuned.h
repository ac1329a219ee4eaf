/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the knobs of tuned share: the service on the bus, its profiles as files, and what its profiles can write.
 * Sources: tuned/daemon/{controller,daemon}.py and tuned/plugins of tuned 2.20 to 2.28.
 */
#ifndef HVTUNE_KNOB_TUNED_H
#define HVTUNE_KNOB_TUNED_H

#include "host.h"
#include "knob_plan.h"

/* The knobs that profiles of tuned write, shipped ones and such as people make: [cpu], [vm], [sysctl] and [sysfs]. */
#define KNOB_TUNED_MOVES                                                                                               \
	"boost cpu_boost governor min_freq max_freq epp latency thp thp.defrag thp.shmem ksm numa_balancing "          \
	"swappiness dirty_bytes dirty_ratio dirty_background_bytes dirty_background_ratio dirty_writeback_cs "         \
	"min_free_kbytes zone_reclaim_mode nmi_watchdog platform_profile kvm.halt_poll_ns"

/*
 * The value of tuned.profile when no profile is active; what stands before one that tuned chose by itself; and before
 * one that is loaded and not applied (after the method stop, or when a switch from "off" was cut short).
 */
#define KNOB_TUNED_OFF "off"
#define KNOB_TUNED_AUTO "auto:"
#define KNOB_TUNED_STOPPED "stopped:"

extern const struct knob_actuator knob_tuned_actuator; /* tuned.profile; `where` is "tuned" */

/* Expand, judge and follow of tuned.profile: see struct knob. */
int knob_tuned_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err);
int knob_tuned_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err);
int knob_tuned_follow(struct knob_machine *machine, const struct knob_point *point, struct knob_following *following,
		      struct err *err);

/* What the files of this machine say of tuned: where profiles lie, which version, what is active. */
const struct host_tuned *knob_tuned_files(struct knob_machine *machine, struct host **ret_host);

/*
 * The settings of one profile, or of several with blanks between them, merged as tuned does; NULL for "off" and
 * "stopped:". "auto:" in front is passed over.
 */
const struct tuned_profile *knob_tuned_profile(struct knob_machine *machine, const char *names);

#endif
