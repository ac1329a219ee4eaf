/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the knobs of daemons. */
#include "knob_latency.h"
#include "knob_service.h"
#include "knob_slice.h"
#include "knob_table.h"
#include "knob_tuned_own.h"

static const struct knob tuned_profile = {
    .name = "tuned.profile",
    .summary = "active profile of tuned",
    .value = "NAME, auto (what tuned recommends) or off",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_HOST,
    .actuator = &knob_tuned_actuator,
    .expand = knob_tuned_expand,
    .rank = KNOB_RANK_DAEMON,
    .moves = KNOB_TUNED_MOVES,
    .in_steps = true,
    .judge = knob_tuned_judge,
    .follow = knob_tuned_follow,
};

static const char *const own_profiles[] = {"/etc/tuned/profiles/*/tuned.conf", NULL};

static const struct knob tuned_own = {
    .name = KNOB_TUNED_OWN,
    .summary = "profiles of tuned that hvtune wrote, to hand settings to it (set --through tuned)",
    .value = "text of tuned.conf, or none",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_NAMES,
    .actuator = &knob_whole_file,
    .path = "/etc/tuned/*/tuned.conf",
    .paths = own_profiles,
    .expand = knob_tuned_own_expand,
    .rank = KNOB_RANK_SERVICE,
    .check = knob_tuned_own_check,
};

/* Services that write what hvtune sets; `what` they are, `moved` the knobs that their start or end may move. */
#define SERVICE(member, what, moved, price)                                                                            \
	{                                                                                                              \
		.name = "service." member, .summary = (what),                                                          \
		.value = "on|off|running|stopped|enabled|disabled|masked", .scope = KNOB_CONFIG, .unit = KNOB_OF_HOST, \
		.actuator = &knob_service_actuator, .expand = knob_service_expand, .rank = KNOB_RANK_SERVICE,          \
		.moves = (moved), .in_steps = true, .check = knob_service_check, .hurts = (price),                     \
	}

#define CPUFREQ "governor epp boost cpu_boost min_freq max_freq"
#define BY_DESKTOP "a desktop starts it again over D-Bus when it wants it; masked keeps it away"

static const struct knob services[] = {
    SERVICE("tuned", "tuned, which applies profiles", "tuned.profile " KNOB_TUNED_MOVES, NULL),
    SERVICE("tuned-ppd", "switches tuned's profile on request of a desktop", "tuned.profile " KNOB_TUNED_MOVES,
	    BY_DESKTOP),
    SERVICE("power-profiles-daemon", "sets EPP, governor and boost on request of a desktop",
	    CPUFREQ " platform_profile", BY_DESKTOP),
    SERVICE("tlp", "TLP, which saves power on laptops", CPUFREQ " platform_profile amd_pstate nmi_watchdog", NULL),
    SERVICE("auto-cpufreq", "sets governor, EPP and boost every few seconds", CPUFREQ, NULL),
    SERVICE("system76-power", "sets governor, EPP and boost by profile", CPUFREQ, NULL),
    SERVICE("laptop-mode", "sets governor and limits when the power supply changes", CPUFREQ, NULL),
    SERVICE("cpupower", "sets governor and limits once at boot", CPUFREQ, NULL),
    SERVICE("cpufrequtils", "sets governor and limits once at boot", CPUFREQ, NULL),
    SERVICE("irqbalance", "spreads interrupts over CPUs", NULL,
	    "without it interrupts stay where they are, also where CPUs come and go"),
    SERVICE("ksmtuned", "switches KSM by need of memory", "ksm ksm.pages_to_scan ksm.sleep_ms", NULL),
    SERVICE("ksm", "switches KSM on at boot", "ksm", NULL),
    SERVICE("numad", "moves processes and their memory to nodes", NULL, NULL),
    SERVICE("thermald", "holds power limits of Intel parts", NULL, NULL),
    SERVICE("scx_loader", "loads schedulers (sched_ext)", NULL, NULL),
};

static const struct knob latency_hold = {
    .name = "latency.hold",
    .summary = "longest wake-up time allowed to all CPUs, held by a unit of systemd until the reboot",
    .value = "us or off",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_latency_actuator,
    .path = KNOB_LATENCY_RUNTIME,
    .words = "off",
    .least = 0,
    .most = 2000000000,
    .rank = KNOB_RANK_PLAIN,
    .in_steps = true,
    .judge = knob_latency_judge,
};

static const struct knob latency_hold_lasting = {
    .name = "latency.hold.lasting",
    .summary = "the same by a unit that is enabled, now and after each boot",
    .value = "us or off",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_HOST,
    .actuator = &knob_latency_actuator,
    .path = KNOB_LATENCY_LASTING,
    .words = "off",
    .least = 0,
    .most = 2000000000,
    .rank = KNOB_RANK_FILE,
    .in_steps = true,
    .judge = knob_latency_judge,
};

static const struct knob slice_cpus = {
    .name = "slice.cpus",
    .summary = "CPUs that the services, users or VMs of a slice may use, until the reboot",
    .value = "CPU list or all",
    .unit = KNOB_OF_NAMES,
    .actuator = &knob_slice_actuator,
    .path = KNOB_SLICE_RUNTIME,
    .expand = knob_slice_expand,
    .rank = KNOB_RANK_PLAIN,
    .check = knob_slice_check,
    .hurts = "what runs there has fewer CPUs to share; threads that were pinned outside of them are moved",
};

static const struct knob slice_cpus_lasting = {
    .name = "slice.cpus.lasting",
    .summary = "the same by a file that stays, now and after each boot",
    .value = "CPU list, all or none",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_NAMES,
    .actuator = &knob_slice_actuator,
    .path = KNOB_SLICE_LASTING,
    .expand = knob_slice_expand,
    .rank = KNOB_RANK_FILE,
    .check = knob_slice_check,
    .hurts = "what runs there has fewer CPUs to share; threads that were pinned outside of them are moved",
};

/* clang-format off */
const struct knob *const knob_table_daemon[] = {
    &tuned_profile, &tuned_own, &latency_hold, &latency_hold_lasting, &slice_cpus, &slice_cpus_lasting,
    &services[0], &services[1], &services[2], &services[3], &services[4], &services[5], &services[6], &services[7],
    &services[8], &services[9], &services[10], &services[11], &services[12], &services[13], &services[14],
    NULL,
};
/* clang-format on */
_Static_assert(ARRAY_SIZE(knob_table_daemon) == ARRAY_SIZE(services) + 7, "each service stands in the table");
