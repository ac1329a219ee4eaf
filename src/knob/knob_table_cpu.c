/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of frequency, boost and SMT. Sources: Documentation/admin-guide/pm/amd-pstate.rst,
 * cpufreq.rst of Linux, drivers/cpufreq/amd-pstate.c for what resets and forces what.
 */
#include <errno.h>

#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define ANY_DRIVER "amd_pstate=active,passive,guided"
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
    .follow = knob_keep_policies,
    .hurts = "governors and EPP of all CPUs go to the driver's defaults",
};

static const char *planned_status(struct knob_machine *machine, const struct knob_plan *plan)
{
	const struct knob_point *planned = knob_plan_find(plan, amd_pstate.name, "");
	const char *now = NULL;
	struct err ignored = {0};

	if (planned)
		return planned->new;
	(void)knob_get_value(machine, amd_pstate.path, &now, &ignored);
	return now;
}

static int judge_dynamic_epp(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			     struct err *err)
{
	if (text_equal(planned_status(machine, plan), "active"))
		return 0;
	return err_set(err, EINVAL, step->name, "is only there for the mode active of amd_pstate");
}

/* Linux 7.1 and 7.2. The driver is registered anew when it is written. */
static const struct knob dynamic_epp = {
    .name = "dynamic_epp",
    .summary = "EPP chosen by the driver, after the power supply and the platform profile",
    .value = "enabled|disabled",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/devices/system/cpu/amd_pstate/dynamic_epp",
    .words = "enabled disabled",
    .rank = KNOB_RANK_DYNAMIC_EPP,
    .moves = "boost cpu_boost governor min_freq max_freq epp",
    .judge = judge_dynamic_epp,
    .follow = knob_keep_policies,
    .hurts = "EPP of all CPUs goes to the driver's defaults, and cannot be set while this is enabled",
};

/* The driver amd-pstate-epp knows two governors (drivers/cpufreq/cpufreq.c, cpufreq_parse_policy). */
static int judge_governor(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			  struct err *err)
{
	const struct knob_point *point = &plan->points.items[step->first];

	if (!knob_plan_find(plan, amd_pstate.name, "") || !text_equal(planned_status(machine, plan), "active") ||
	    text_has_word("performance powersave", " ", point->new))
		return 0;
	return err_set(err, EINVAL, point->new,
		       "with amd_pstate=active there are the governors performance and powersave");
}

static const struct knob governor = {
    .name = "governor",
    .summary = "how the frequency is chosen",
    .value = "WORD",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = POLICY "/scaling_governor",
    .appears = ANY_DRIVER,
    .choices = POLICY "/scaling_available_governors",
    .words = "performance powersave schedutil ondemand conservative userspace",
    .rank = KNOB_RANK_GOVERNOR,
    .moves = "epp min_freq",
    .judge = judge_governor,
};

static int check_epp(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const char *words;
	int64_t number;

	if (text_equal(point->new, "custom"))
		return err_set(err, EINVAL, point->new, "epp is set to a number for that");
	if (text_int(point->new, 10, &number) < 0 && text_int(point->new, 16, &number) == 0)
		return err_set(err, EINVAL, point->new, "epp takes a word or a decimal number from 0 to 255");
	/* Kernels that take numbers (7.1) list "custom", but not while the governor performance holds EPP. */
	if (text_int(point->new, 10, &number) < 0)
		return 0;
	words = knob_beside(machine, point->where, "energy_performance_available_preferences");
	if (words && !text_equal(words, "performance") && !text_has_word(words, " ", "custom"))
		return err_set(err, EINVAL, point->new, "this kernel takes no numbers for EPP, only: %s", words);
	return 0;
}

/*
 * With the governor performance amd-pstate-epp holds EPP at 0 and refuses all else with EBUSY. A plan that wants both
 * contradicts itself (-EINVAL); where the machine is like that it cannot be (-EBUSY).
 */
static int judge_epp(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err)
{
	const struct knob_point *dynamic = knob_plan_find(plan, dynamic_epp.name, "");
	const char *is_dynamic = dynamic ? dynamic->new : NULL;
	struct err ignored = {0};

	if (!dynamic)
		(void)knob_get_value(machine, dynamic_epp.path, &is_dynamic, &ignored);
	if (text_equal(is_dynamic, "enabled")) {
		(void)err_set(err, dynamic ? EINVAL : EBUSY, step->name,
			      "is chosen by the driver while dynamic_epp is enabled");
		return err_hint(err, "set dynamic_epp=disabled with it");
	}
	for (size_t i = step->first; i < step->first + step->count; i++) {
		const struct knob_point *point = &plan->points.items[i];
		const struct knob_point *planned = knob_plan_find(plan, "governor", point->label);
		const char *word = planned ? planned->new
				   : knob_plan_moves(plan, "governor")
				       ? NULL
				       : knob_beside(machine, point->where, "scaling_governor");

		if (!text_equal(word, "performance") || knob_same(point->knob, point->new, "performance"))
			continue;
		(void)err_set(err, planned ? EINVAL : EBUSY, point->label,
			      "has the governor performance, which holds EPP at performance");
		return err_hint(err, "set governor=powersave with it, which in this mode does not mean slow");
	}
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

static const struct knob_actuator epp_file = {
    .name = "epp", .get = get_epp, .set = knob_set_value, .same = same_epp, .raw = knob_raw_value};

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
    .appears = "amd_pstate=active",
    .stands_for = "default",
    .check = check_epp,
    .judge = judge_epp,
};

static int64_t khz_beside(struct knob_machine *machine, const char *path, const char *name)
{
	const char *text = knob_beside(machine, path, name);
	int64_t khz;

	return text && text_int(text, 10, &khz) == 0 ? khz : -1;
}

/* What the hardware can do at most, in kHz; cpuinfo_max_freq falls when boost is off, which a plan may change. */
static int64_t most_khz(struct knob_machine *machine, const char *path)
{
	int64_t most = khz_beside(machine, path, "cpuinfo_max_freq");
	int64_t hardware = khz_beside(machine, path, "amd_pstate_max_freq");

	return hardware > most ? hardware : most;
}

/* "hardware" is another number for each kind of core. */
static int expand_limit(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			struct knob_points *points, struct err *err)
{
	size_t first = points->count;
	int r = knob_expand_path(machine, knob, ask, knob->path, points, err);

	if (r < 0 || !text_equal(ask->value, "hardware"))
		return r;
	for (size_t i = first; i < points->count; i++) {
		struct knob_point *point = &points->items[i];
		int64_t khz = text_equal(knob->name, "min_freq") ? khz_beside(machine, point->where, "cpuinfo_min_freq")
								 : most_khz(machine, point->where);

		if (khz < 0)
			return err_set(err, ENOENT, point->where, "the limit of the hardware is not known");
		point->new = arena_printf(machine->arena, "%lld", (long long)khz);
	}
	return 0;
}

/* What lies outside of the hardware's range is cut to it by the kernel without a word. */
static int check_limit(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	int64_t least = khz_beside(machine, point->where, "cpuinfo_min_freq");
	int64_t most = most_khz(machine, point->where), khz;

	if (text_int(point->new, 10, &khz) < 0 || least < 0 || most < 0 || (khz >= least && khz <= most))
		return 0;
	return err_set(err, ERANGE, point->new, "%s of %s takes %lld to %lld kHz", point->name, point->label,
		       (long long)least, (long long)most);
}

/* The other limit of the same CPU as the plan leaves it, in kHz; -1: nobody can tell. */
static int64_t other_limit(struct knob_machine *machine, const struct knob_plan *plan, const struct knob_point *point,
			   const char *knob, const char *file)
{
	const struct knob_point *planned = knob_plan_find(plan, knob, point->label);
	int64_t khz;

	if (planned)
		return text_int(planned->new, 10, &khz) == 0 ? khz : -1;
	return knob_plan_moves(plan, knob) ? -1 : khz_beside(machine, point->where, file);
}

/* Does the plan take boost away from this CPU? */
static bool loses_boost(const struct knob_plan *plan, const struct knob_point *point)
{
	const struct knob_point *one = knob_plan_find(plan, "cpu_boost", point->label);
	const struct knob_point *all = knob_plan_find(plan, "boost", "");

	return one ? text_equal(one->new, "0") : all && text_equal(all->new, "0");
}

/*
 * What a CPU runs at without boost, in kHz; -1: nobody can tell. amd-pstate caps limits at the nominal frequency of
 * CPPC then (amd_pstate_set_boost()), which acpi_cppc tells in MHz; the older driver's limits never go above it.
 */
static int64_t nominal_khz(struct knob_machine *machine, const struct knob_point *point)
{
	const char *policy = strstr(point->where, "/policy");
	const struct sys_look *look;
	int64_t mhz;

	if (!policy || khz_beside(machine, point->where, "amd_pstate_max_freq") < 0)
		return -1;
	look = sys_read(machine->sys, "/sys/devices/system/cpu/cpu%.*s/acpi_cppc/nominal_freq",
			(int)strspn(policy + strlen("/policy"), "0123456789"), policy + strlen("/policy"));
	return look->state == SYS_VALUE && text_int(look->data, 10, &mhz) == 0 && mhz > 0 && mhz < 100000 ? mhz * 1000
													  : -1;
}

/* While boost is off the hardware's own maximum is out of reach. */
static int check_reach(struct knob_machine *machine, const struct knob_plan *plan, const struct knob_point *point,
		       struct err *err)
{
	bool loses = loses_boost(plan, point);
	int64_t most = loses				   ? nominal_khz(machine, point)
		       : knob_plan_moves(plan, "max_freq") ? -1
							   : khz_beside(machine, point->where, "cpuinfo_max_freq");
	bool is_upper = text_equal(point->knob->name, "max_freq");
	int64_t khz;

	/* The hardware's maximum is no limit. */
	if (most < 0 || text_int(point->new, 10, &khz) < 0 || khz <= most ||
	    (is_upper && khz == most_khz(machine, point->where)))
		return 0;
	if (loses) {
		(void)err_set(err, ERANGE, point->label, "%s takes at most %lld kHz without boost", point->name,
			      (long long)most);
		return err_hint(err, "the plan takes boost away; leave that out, or %s",
				is_upper ? "set max_freq=hardware for no other limit" : "give less");
	}
	(void)err_set(err, ERANGE, point->label, "%s takes at most %lld kHz as things are", point->name,
		      (long long)most);
	return err_hint(err, "boost is off; boost=1 in the same plan gives more");
}

static int judge_limit(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		       struct err *err)
{
	bool is_lower = text_equal(step->knob->name, "min_freq");

	for (size_t i = step->first; i < step->first + step->count; i++) {
		const struct knob_point *point = &plan->points.items[i];
		int64_t khz, other = is_lower ? other_limit(machine, plan, point, "max_freq", "scaling_max_freq")
					      : other_limit(machine, plan, point, "min_freq", "scaling_min_freq");
		int r = check_reach(machine, plan, point, err);

		if (r < 0)
			return r;

		if (other < 0 || text_int(point->new, 10, &khz) < 0 || (is_lower ? khz <= other : khz >= other))
			continue;
		(void)err_set(err, ERANGE, point->label, "%s would be %lld kHz and %s %lld kHz", point->name,
			      (long long)khz, is_lower ? "max_freq" : "min_freq", (long long)other);
		return err_hint(err, "the lower limit cannot lie above the upper one; set both");
	}
	return 0;
}

static const struct knob min_freq = {
    .name = "min_freq",
    .summary = "lower limit of the frequency",
    .value = "kHz or hardware",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = POLICY "/scaling_min_freq",
    .expand = expand_limit,
    .words = "hardware",
    .appears = ANY_DRIVER,
    .least = 1,
    .most = 10000000,
    .rank = KNOB_RANK_LIMIT,
    .order = KNOB_FALLING_FIRST,
    .check = check_limit,
    .judge = judge_limit,
};

/*
 * An upper limit at cpuinfo_max_freq is none. That falls while boost is off, and a limit that is put back at that time
 * must not stay when boost is on again: no limit is called by the hardware's maximum, of which the kernel takes what it
 * can.
 */
static int get_max(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	const char *most = knob_beside(machine, where, "cpuinfo_max_freq");
	const char *hardware = knob_beside(machine, where, "amd_pstate_max_freq");
	int r = knob_get_value(machine, where, ret, err);

	if (r == 0 && hardware && text_equal(*ret, most))
		*ret = hardware;
	return r;
}

static const struct knob_actuator max_file = {
    .name = "max", .get = get_max, .set = knob_set_value, .raw = knob_raw_value};

static const struct knob max_freq = {
    .name = "max_freq",
    .summary = "upper limit of the frequency",
    .value = "kHz or hardware",
    .unit = KNOB_OF_CPUS,
    .actuator = &max_file,
    .path = POLICY "/scaling_max_freq",
    .expand = expand_limit,
    .words = "hardware",
    .appears = ANY_DRIVER,
    .least = 1,
    .most = 10000000,
    .rank = KNOB_RANK_LIMIT,
    .order = KNOB_RISING_FIRST,
    .check = check_limit,
    .judge = judge_limit,
};

#define BOOST "/sys/devices/system/cpu/cpufreq/boost"

/* While boost of all CPUs is off, the kernel takes neither value for one (Linux, cpufreq.c: store_local_boost()). */
static int judge_cpu_boost(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			   struct err *err)
{
	const struct knob_point *all = knob_plan_find(plan, "boost", ""), *first = &plan->points.items[step->first];
	struct err ignored = {0};
	const char *value = all ? all->new : NULL;

	if (!all && knob_get_value(machine, BOOST, &value, &ignored) < 0)
		return 0;
	if (!text_equal(value, "0"))
		return 0;
	(void)err_set(err, all ? EINVAL : EBUSY, first->label, "%s cannot be set while boost of all CPUs is off",
		      first->name);
	return err_hint(err, text_equal(first->new, "0") ? "boost=0 alone turns it off everywhere"
							 : "boost=1 in the same plan turns it on");
}

static const struct knob boost = {
    .name = "boost",
    .summary = "boost of all CPUs",
    .value = "0|1",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = BOOST,
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
    .appears = ANY_DRIVER,
    .words = "0 1",
    .rank = KNOB_RANK_BOOST_CPU,
    .moves = "max_freq min_freq",
    .judge = judge_cpu_boost,
};

/* The device of the driver, which is an ACPI device of one number or another below one bus or another. */
static int expand_x3d(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err)
{
	static const char driver[] = "/sys/bus/platform/drivers/amd_x3d_vcache";
	const struct sys_look *look = sys_list(machine->sys, "%s", driver);

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++) {
		const char *real;
		int r;

		if (!text_starts(look->names[i], "AMDI0101:"))
			continue;
		r = knob_real_path(machine, arena_printf(machine->arena, "%s/%s/amd_x3d_mode", driver, look->names[i]),
				   &real, err);
		return r < 0 ? r : knob_expand_path(machine, knob, ask, real, points, err);
	}
	(void)err_set(err, ENOENT, knob->name, "this machine has no such setting");
	return err_hint(err, "it is there on parts with two kinds of L3, with the driver amd_3d_vcache (Linux 6.13)");
}

static const char *const x3d_paths[] = {"/sys/devices/platform/*/AMDI0101:*/amd_x3d_mode",
					"/sys/devices/*/AMDI0101:*/amd_x3d_mode", NULL};

static const struct knob x3d_mode = {
    .name = "x3d_mode",
    .summary = "which CCD is preferred on parts with two kinds of L3",
    .value = "frequency|cache",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .paths = x3d_paths,
    .expand = expand_x3d,
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
    .moves = "governor min_freq max_freq cpu_boost epp latency idle.*",
    .hurts = "CPUs come or go: pins of VMs to second threads are lost by the kernel, and forceoff lasts until a reboot",
};

static const struct knob platform_profile = {
    .name = "platform_profile",
    .summary = "the firmware's own balance of performance, heat and noise (desktops and laptops)",
    .value = "WORD",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/firmware/acpi/platform_profile",
    .choices = "/sys/firmware/acpi/platform_profile_choices",
    .words = "low-power cool quiet balanced balanced-performance performance max-power",
    .rank = KNOB_RANK_PROFILE,
    .moves = "epp",
    .hurts = "the firmware may move power limits and fans that Linux does not show",
};

/*
 * Since Linux 6.15 a file of debugfs that tells Y or N (arch/x86/kernel/itmt.c), before that a sysctl; it is there
 * where the cores of the machine have ranks.
 */
#define ITMT_SYSCTL "/proc/sys/kernel/sched_itmt_enabled"
static const char *const itmt_paths[] = {ITMT_SYSCTL, NULL};

static int set_itmt(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	bool on = text_equal(text, "on");

	return text_equal(where, ITMT_SYSCTL) ? knob_set_value(machine, where, on ? "1" : "0", err)
					      : knob_switch_file.set(machine, where, text, err);
}

static int get_itmt(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	return knob_switch_file.get(machine, where, ret, err);
}

static const struct knob_actuator itmt_file = {.name = "itmt", .get = get_itmt, .set = set_itmt};

static int expand_itmt(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		       struct knob_points *points, struct err *err)
{
	bool is_old = sys_read(machine->sys, ITMT_SYSCTL)->state != SYS_ABSENT;

	return knob_expand_path(machine, knob, ask, is_old ? ITMT_SYSCTL : knob->path, points, err);
}

static const struct knob itmt = {
    .name = "itmt",
    .summary = "whether the scheduler prefers the cores that boost highest (preferred cores)",
    .value = "on|off",
    .unit = KNOB_OF_HOST,
    .actuator = &itmt_file,
    .path = "/sys/kernel/debug/x86/sched_itmt_enabled",
    .paths = itmt_paths,
    .expand = expand_itmt,
    .words = "on off",
    .rank = KNOB_RANK_PLAIN,
    .hurts = "off spreads light work over cores that boost less; on gathers it, also where VMs are pinned",
};

const struct knob *const knob_table_cpu[] = {
    &amd_pstate, &governor, &epp,	  &min_freq,	     &max_freq, &boost, &cpu_boost,
    &x3d_mode,	 &smt,	    &dynamic_epp, &platform_profile, &itmt,	NULL,
};
