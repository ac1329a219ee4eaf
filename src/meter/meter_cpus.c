/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the counters declared in meter_cpus.h. */
#include "meter_cpus.h"

#include <errno.h>
#include <math.h>

#include "arena.h"
#include "cpuset.h"
#include "meter_driver.h"
#include "meter_sampler.h"
#include "text.h"

#define CPU "/sys/devices/system/cpu"
#define PMU "/sys/bus/event_source/devices/msr"

/* Intel and AMD; the copies that cannot be written are AMD's (PPR, "MPERFReadOnly"). */
enum { MSR_TSC = 0x10, MSR_MPERF = 0xe7, MSR_APERF = 0xe8 };
#define MSR_MPERF_COPY UINT32_C(0xc00000e7)
#define MSR_APERF_COPY UINT32_C(0xc00000e8)

/* No clock is that high: such a pair of counts was set back between. */
static const double most_hz = 10e9;

struct cpu_input {
	int number;
	struct sys_again_group clocks; /* APERF, MPERF */
	struct sys_again msr;
	struct sys_again idle[METER_IDLE_MOST];
};

struct meter_cpus {
	struct arena *arena;
	struct sys *sys;
	struct cpu_input *inputs;
	size_t count;
	struct sys_again tsc; /* of perf */
	bool by_msr;
	uint32_t aperf_number, mperf_number;
	const char *states[METER_IDLE_MOST + 1];
	int state_numbers[METER_IDLE_MOST];
	size_t state_count;
	struct meter_cpus_way clocks, idle;
};

static int number_in(struct sys *sys, int64_t *ret, const char *path)
{
	const struct sys_look *look = sys_read(sys, "%s", path);

	if (look->state != SYS_VALUE)
		return look->state == SYS_ABSENT ? -ENOENT : -look->errnum;
	return text_int(look->data, 10, ret) < 0 ? -EBADMSG : 0;
}

/* ---- finding and opening ---- */

static void find_cpus(struct meter_cpus *cpus)
{
	const struct sys_look *look = sys_read(cpus->sys, CPU "/online");
	struct cpuset online;

	if (look->state != SYS_VALUE || cpuset_parse(look->data, &online, NULL) < 0)
		return;
	cpus->inputs = ARENA_ARRAY(cpus->arena, (size_t)cpuset_count(&online) + 1, struct cpu_input);
	CPUSET_FOREACH (cpu, &online)
		cpus->inputs[cpus->count++] = (struct cpu_input){.number = cpu};
}

/* Polling is no sleep: it is in C0. */
static void find_states(struct meter_cpus *cpus)
{
	int cpu = cpus->count ? cpus->inputs[0].number : 0;

	for (int state = 0; cpus->state_count < METER_IDLE_MOST; state++) {
		const struct sys_look *look = sys_read(cpus->sys, CPU "/cpu%d/cpuidle/state%d/name", cpu, state);

		if (look->state != SYS_VALUE)
			return;
		const char *name = text_trim(cpus->arena, look->data);

		if (text_equal(name, "POLL"))
			continue;
		cpus->state_numbers[cpus->state_count] = state;
		cpus->states[cpus->state_count++] = name;
	}
}

static int event_config(struct meter_cpus *cpus, const char *name, uint64_t *ret)
{
	const struct sys_look *look = sys_read(cpus->sys, PMU "/events/%s", name);
	int64_t config;

	if (look->state != SYS_VALUE)
		return look->state == SYS_ABSENT ? -ENOENT : -look->errnum;
	if (!text_starts(look->data, "event=") || text_int(look->data + strlen("event="), 0, &config) < 0)
		return -EBADMSG;
	*ret = (uint64_t)config;
	return 0;
}

static int open_perf(struct meter_cpus *cpus)
{
	uint64_t configs[2] = {0}, tsc = 0;
	int64_t type = 0;
	int r = number_in(cpus->sys, &type, PMU "/type");

	if (r == 0)
		r = event_config(cpus, "aperf", &configs[0]);
	if (r == 0)
		r = event_config(cpus, "mperf", &configs[1]);
	if (r == 0)
		r = event_config(cpus, "tsc", &tsc);
	for (size_t i = 0; i < cpus->count && r == 0; i++)
		r = sys_again_open_group(cpus->sys, "msr", (uint32_t)type, configs, 2, cpus->inputs[i].number,
					 &cpus->inputs[i].clocks);
	if (r == 0)
		r = sys_again_open_perf(cpus->sys, "msr", (uint32_t)type, tsc, cpus->inputs[0].number, &cpus->tsc);
	cpus->clocks.place = PMU "/events/aperf, mperf";
	return r;
}

static void close_clocks(struct meter_cpus *cpus)
{
	for (size_t i = 0; i < cpus->count; i++) {
		sys_again_close_group(&cpus->inputs[i].clocks);
		sys_again_close(&cpus->inputs[i].msr);
	}
	sys_again_close(&cpus->tsc);
}

static int open_msr(struct meter_cpus *cpus)
{
	uint64_t value;
	int r = 0;

	for (size_t i = 0; i < cpus->count && r == 0; i++)
		r = sys_again_open_msr(cpus->sys, cpus->inputs[i].number, &cpus->inputs[i].msr);
	if (r < 0)
		return r;
	bool copies = sys_again_msr(&cpus->inputs[0].msr, MSR_MPERF_COPY, &value) == 0 && value;

	cpus->mperf_number = copies ? MSR_MPERF_COPY : MSR_MPERF;
	cpus->aperf_number = copies ? MSR_APERF_COPY : MSR_APERF;
	r = sys_again_msr(&cpus->inputs[0].msr, cpus->mperf_number, &value);
	if (r == 0)
		r = sys_again_msr(&cpus->inputs[0].msr, MSR_TSC, &value);
	if (r < 0)
		return r;
	cpus->by_msr = true;
	cpus->clocks.place = "/dev/cpu/N/msr";
	return 0;
}

static void refuse(struct meter_cpus_way *way, struct arena *arena, int errnum, const char *hint)
{
	bool absent = errnum == ENOENT || errnum == ENODEV;

	way->state = absent ? METER_ABSENT : METER_UNREADABLE;
	way->why = absent ? "this CPU or kernel does not offer it" : arena_strdup(arena, sys_reason(errnum));
	way->hint = hint;
}

static void open_clocks(struct meter_cpus *cpus)
{
	int perf = cpus->count ? open_perf(cpus) : -ENOENT, r;

	if (perf == 0)
		return;
	close_clocks(cpus);
	r = cpus->count ? open_msr(cpus) : -ENOENT;
	if (r == 0)
		return;
	close_clocks(cpus);
	/* What hinders perf is easier to put right than what hinders the files. */
	if (perf == -EACCES || perf == -EPERM || r == -EACCES || r == -EPERM)
		refuse(&cpus->clocks, cpus->arena, EACCES,
		       "run hvtune as root, or give it CAP_PERFMON, or set kernel.perf_event_paranoid to 0 or less");
	else
		refuse(&cpus->clocks, cpus->arena, perf == -ENOENT ? -r : -perf,
		       "needs the counters APERF and MPERF, which most virtual machines do not have");
}

static void open_idle(struct meter_cpus *cpus)
{
	int r = cpus->state_count ? 0 : -ENOENT;

	cpus->idle.place = CPU "/cpu*/cpuidle/state*/time";
	for (size_t i = 0; i < cpus->count && r == 0; i++) {
		for (size_t j = 0; j < cpus->state_count && r == 0; j++) {
			char path[128];

			(void)snprintf(path, sizeof(path), CPU "/cpu%d/cpuidle/state%d/time", cpus->inputs[i].number,
				       cpus->state_numbers[j]);
			r = sys_again_open(cpus->sys, path, &cpus->inputs[i].idle[j]);
		}
	}
	if (r < 0)
		refuse(&cpus->idle, cpus->arena, -r,
		       "needs a driver of cpuidle, which most virtual machines do not have");
}

void meter_cpus_open(struct sys *sys, struct meter_cpus **ret)
{
	struct meter_cpus *cpus = calloc(1, sizeof(*cpus));

	if (!cpus)
		err_no_memory();
	cpus->arena = arena_new();
	cpus->sys = sys;
	cpus->tsc.fd = -1;
	find_cpus(cpus);
	find_states(cpus);
	/* Two counters of perf and the times of the states for each CPU: some 2000 descriptors for 512 of them. */
	size_t files = cpus->count * (2 + cpus->state_count);
	int r = sys_again_room(files);

	if (r < 0) {
		const char *hint = arena_printf(
		    cpus->arena, "%zu files must be open at once: raise the hard limit (ulimit -Hn)", files);

		refuse(&cpus->clocks, cpus->arena, -r, hint);
		refuse(&cpus->idle, cpus->arena, -r, hint);
	} else {
		open_clocks(cpus);
		open_idle(cpus);
	}
	*ret = cpus;
}

struct meter_cpus *meter_cpus_close(struct meter_cpus *cpus)
{
	if (!cpus)
		return NULL;
	close_clocks(cpus);
	for (size_t i = 0; i < cpus->count; i++)
		for (size_t j = 0; j < METER_IDLE_MOST; j++)
			sys_again_close(&cpus->inputs[i].idle[j]);
	(void)arena_free(cpus->arena);
	free(cpus);
	return NULL;
}

void meter_cpus_close_pointer(struct meter_cpus **cpus)
{
	*cpus = meter_cpus_close(*cpus);
}

/* ---- looking at it ---- */

size_t meter_cpus_count(const struct meter_cpus *cpus)
{
	return cpus->count;
}

int meter_cpus_number(const struct meter_cpus *cpus, size_t index)
{
	return cpus->inputs[index].number;
}

const char *meter_cpus_state(const struct meter_cpus *cpus, size_t index)
{
	return index < cpus->state_count ? cpus->states[index] : NULL;
}

struct meter_cpus_way meter_cpus_clocks(const struct meter_cpus *cpus)
{
	return cpus->clocks;
}

struct meter_cpus_way meter_cpus_idle(const struct meter_cpus *cpus)
{
	return cpus->idle;
}

struct meter_cpus_moment meter_cpus_moment_new(const struct meter_cpus *cpus)
{
	struct meter_cpus_moment moment = {.cpus = calloc(cpus->count + 1, sizeof(*moment.cpus))};

	if (!moment.cpus)
		err_no_memory();
	return moment;
}

void meter_cpus_moment_free(struct meter_cpus_moment *moment)
{
	free(moment->cpus);
	*moment = (struct meter_cpus_moment){0};
}

/* ---- reading ---- */

static bool read_clocks(const struct meter_cpus *cpus, const struct cpu_input *input, struct meter_cpu_counts *ret)
{
	uint64_t counts[SYS_AGAIN_GROUP];

	if (cpus->clocks.state != METER_VALUE)
		return false;
	if (cpus->by_msr)
		return sys_again_msr(&input->msr, cpus->aperf_number, &ret->aperf) == 0 &&
		       sys_again_msr(&input->msr, cpus->mperf_number, &ret->mperf) == 0;
	if (sys_again_group(&input->clocks, counts) < 0)
		return false;
	ret->aperf = counts[0];
	ret->mperf = counts[1];
	return true;
}

static bool read_idle(const struct meter_cpus *cpus, const struct cpu_input *input, struct meter_cpu_counts *ret)
{
	if (cpus->idle.state != METER_VALUE)
		return false;
	for (size_t i = 0; i < cpus->state_count; i++)
		if (sys_again_number(&input->idle[i], &ret->idle_us[i]) < 0)
			return false;
	return true;
}

void meter_cpus_read(struct meter_cpus *cpus, struct meter_cpus_moment *ret)
{
	int64_t before_ns = meter_now_ns();

	for (size_t i = 0; i < cpus->count; i++) {
		struct meter_cpu_counts *counts = &ret->cpus[i];

		counts->clocks = read_clocks(cpus, &cpus->inputs[i], counts);
		counts->idle = read_idle(cpus, &cpus->inputs[i], counts);
	}
	ret->tsc_known =
	    cpus->clocks.state == METER_VALUE && (cpus->by_msr ? sys_again_msr(&cpus->inputs[0].msr, MSR_TSC, &ret->tsc)
							       : sys_again_perf(&cpus->tsc, &ret->tsc)) == 0;
	ret->time_ns = before_ns + (meter_now_ns() - before_ns) / 2;
}

/* ---- what was done ---- */

static double hz_of_tsc(const struct meter_cpus_moment *before, const struct meter_cpus_moment *after)
{
	double elapsed_s = (double)(after->time_ns - before->time_ns) / 1e9;

	if (!before->tsc_known || !after->tsc_known || elapsed_s <= 0)
		return (double)NAN;
	return (double)(after->tsc - before->tsc) / elapsed_s;
}

static struct meter_cpu_activity unknown(void)
{
	struct meter_cpu_activity activity = {.busy_mhz = (double)NAN, .c0_share = (double)NAN};

	for (size_t i = 0; i < METER_IDLE_MOST; i++)
		activity.idle_share[i] = (double)NAN;
	return activity;
}

/* Counts of one CPU, or NAN where they cannot be. */
static void add_clocks(const struct meter_cpu_counts *before, const struct meter_cpu_counts *after, double elapsed_s,
		       double *aperf, double *mperf)
{
	double a = (double)(after->aperf - before->aperf), m = (double)(after->mperf - before->mperf);

	/* Set back by another program, or a CPU that went away between. */
	if (!before->clocks || !after->clocks || a > most_hz * elapsed_s || m > most_hz * elapsed_s)
		a = m = (double)NAN;
	*aperf += a;
	*mperf += m;
}

struct meter_cpu_activity meter_activity_of(const struct meter_activity_sums *sums)
{
	struct meter_cpu_activity activity = unknown();
	double time_s = sums->elapsed_s * (double)sums->cpus;

	if (time_s <= 0)
		return activity;
	if (sums->mperf > 0)
		activity.busy_mhz = sums->tsc_hz * sums->aperf / sums->mperf / 1e6;
	if (sums->mperf >= 0)
		activity.c0_share = sums->mperf / (sums->tsc_hz * time_s);
	for (size_t i = 0; i < sums->states && sums->idle_known; i++)
		/* Counted when a CPU wakes up, so that time before the window may be in it; not set back. */
		activity.idle_share[i] =
		    sums->idle_us[i] < 1e15 ? fmin(sums->idle_us[i] / 1e6 / time_s, 1) : (double)NAN;
	return activity;
}

static struct meter_cpu_activity between(const struct meter_cpus *cpus, const struct meter_cpus_moment *before,
					 const struct meter_cpus_moment *after, size_t first, size_t count)
{
	struct meter_activity_sums sums = {
	    .elapsed_s = (double)(after->time_ns - before->time_ns) / 1e9,
	    .tsc_hz = hz_of_tsc(before, after),
	    .cpus = count,
	    .states = cpus->state_count,
	    .idle_known = cpus->state_count > 0,
	};

	for (size_t i = first; i < first + count; i++) {
		const struct meter_cpu_counts *one = &before->cpus[i], *other = &after->cpus[i];

		add_clocks(one, other, sums.elapsed_s, &sums.aperf, &sums.mperf);
		sums.idle_known = sums.idle_known && one->idle && other->idle;
		for (size_t j = 0; j < cpus->state_count; j++) {
			sums.idle_known = sums.idle_known && other->idle_us[j] >= one->idle_us[j];
			sums.idle_us[j] += (double)(other->idle_us[j] - one->idle_us[j]);
		}
	}
	return meter_activity_of(&sums);
}

struct meter_cpu_activity meter_cpus_between(const struct meter_cpus *cpus, const struct meter_cpus_moment *before,
					     const struct meter_cpus_moment *after, size_t index)
{
	return between(cpus, before, after, index, 1);
}

struct meter_cpu_activity meter_cpus_all_between(const struct meter_cpus *cpus, const struct meter_cpus_moment *before,
						 const struct meter_cpus_moment *after)
{
	return between(cpus, before, after, 0, cpus->count);
}
