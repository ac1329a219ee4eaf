/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of frequency, boost, idle states and SMT. Sources: Documentation/admin-guide/pm/amd-pstate.rst,
 * cpufreq.rst and cpuidle.rst of Linux, drivers/cpufreq/amd-pstate.c for what resets and forces what.
 */
#include <errno.h>

#include "knob_table.h"
#include "text.h"

#define POLICY "/sys/devices/system/cpu/cpufreq/policy*"

static const struct knob amd_pstate = {
    .name = "amd_pstate",
    .summary = "mode of the amd_pstate driver",
    .value = "active|passive|guided|disable",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/devices/system/cpu/amd_pstate/status",
    .words = "active passive guided disable",
    .rank = KNOB_RANK_DRIVER,
    .moves = "boost cpu_boost governor min_freq max_freq epp",
    .hurts = "governors, limits, boost and EPP of all CPUs go to the driver's defaults",
};

static const struct knob governor = {
    .name = "governor",
    .summary = "how the frequency is chosen",
    .value = "WORD",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = POLICY "/scaling_governor",
    .choices = POLICY "/scaling_available_governors",
    .words = "performance powersave schedutil ondemand conservative userspace",
    .rank = KNOB_RANK_GOVERNOR,
    .moves = "epp min_freq",
};

/* With the governor performance amd-pstate-epp holds EPP at 0 and refuses all else with EBUSY. */
static int check_epp(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	int64_t number;

	(void)machine;
	if (text_equal(point->new, "custom"))
		return err_set(err, EINVAL, point->new, "epp is set to a number for that");
	if (text_int(point->new, 10, &number) < 0 && text_int(point->new, 16, &number) == 0)
		return err_set(err, EINVAL, point->new, "epp takes a word or a decimal number from 0 to 255");
	return 0;
}

/* A number stands for a word once the driver has read it back as one, and the other way round. */
static bool same_epp(const char *a, const char *b)
{
	static const struct {
		const char *word;
		int64_t number;
	} raw[] = {{"performance", 0}, {"balance_performance", 128}, {"balance_power", 191}, {"power", 255}};
	int64_t number[2] = {-1, -2};
	const char *texts[2] = {a, b};

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < ARRAY_SIZE(raw); i++)
			if (text_int(texts[side], 10, &number[side]) < 0 && text_equal(texts[side], raw[i].word))
				number[side] = raw[i].number;
	return text_equal(a, b) || number[0] == number[1];
}

/*
 * A raw value that is no word's reads back as EINVAL: it is the firmware's own, which the driver kept at its start and
 * puts back when "default" is written (amd_pstate: epp_default).
 */
static int get_epp(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	int r = knob_get_value(machine, where, ret, err);

	if (r != -EINVAL)
		return r;
	*ret = "default";
	return 0;
}

static const struct knob_actuator epp_file = {"epp", get_epp, knob_set_value, same_epp, NULL};

static const struct knob epp = {
    .name = "epp",
    .summary = "energy performance preference of the hardware",
    .value = "WORD or 0-255",
    .unit = KNOB_OF_CPUS,
    .actuator = &epp_file,
    .path = POLICY "/energy_performance_preference",
    .choices = POLICY "/energy_performance_available_preferences",
    .words = "default performance balance_performance balance_power power",
    .least = 0,
    .most = 255,
    .rank = KNOB_RANK_EPP,
    .appears = "amd_pstate",
    .check = check_epp,
};

static const struct knob min_freq = {
    .name = "min_freq",
    .summary = "lower limit of the frequency",
    .value = "kHz",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = POLICY "/scaling_min_freq",
    .least = 0,
    .most = 10000000,
    .rank = KNOB_RANK_LIMIT,
};

static const struct knob max_freq = {
    .name = "max_freq",
    .summary = "upper limit of the frequency",
    .value = "kHz",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = POLICY "/scaling_max_freq",
    .least = 1,
    .most = 10000000,
    .rank = KNOB_RANK_LIMIT,
};

static const struct knob boost = {
    .name = "boost",
    .summary = "boost of all CPUs",
    .value = "0|1",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/devices/system/cpu/cpufreq/boost",
    .words = "0 1",
    .rank = KNOB_RANK_BOOST,
    .moves = "cpu_boost max_freq min_freq",
};

static const struct knob cpu_boost = {
    .name = "cpu_boost",
    .summary = "boost of single CPUs",
    .value = "0|1",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = POLICY "/boost",
    .words = "0 1",
    .rank = KNOB_RANK_BOOST_CPU,
    .moves = "max_freq min_freq",
};

static const struct knob x3d_mode = {
    .name = "x3d_mode",
    .summary = "which CCD is preferred on parts with two kinds of L3",
    .value = "frequency|cache",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/bus/platform/drivers/amd_x3d_vcache/AMDI0101:*/amd_x3d_mode",
    .words = "frequency cache",
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob smt = {
    .name = "smt",
    .summary = "the second threads of all cores",
    .value = "on|off|forceoff",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/devices/system/cpu/smt/control",
    .words = "on off forceoff",
    .rank = KNOB_RANK_SMT,
    .moves = "governor min_freq max_freq cpu_boost epp latency",
    .hurts = "CPUs come or go: pins of VMs to second threads are lost by the kernel, and forceoff lasts until a reboot",
};

static const struct knob latency = {
    .name = "latency",
    .summary = "longest wake-up time allowed to single CPUs",
    .value = "us, 0 (no limit) or n/a (no idle state at all)",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
    .words = "n/a",
    .least = 0,
    .most = INT32_MAX,
    .rank = KNOB_RANK_PLAIN,
    .hurts =
	"a limit below the exit latency of C2 keeps these CPUs out of it: idle watts rise, and boost of others falls",
};

const struct knob *const knob_table_cpu[] = {
    &amd_pstate, &governor, &epp, &min_freq, &max_freq, &boost, &cpu_boost, &x3d_mode, &smt, &latency, NULL,
};
