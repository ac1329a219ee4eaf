/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in watch.h: CPUs, groups, power, and looking for VMs anew. */
#include "watch.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "meter_counter.h"
#include "meter_sampler.h"
#include "sys_again.h"
#include "text.h"
#include "watch_share.h"
#include "watch_vm.h"

/* VMs are looked for so often: it opens the host anew, since a door remembers what it saw. */
static const double look_for_vms_s = 30;

enum { STAT_ROOM = 1 << 20 };

struct load {
	uint64_t busy, all; /* clock ticks */
	bool known;
};

struct watch {
	struct arena *arena;
	char *what, *connect; /* NULL: not given */
	struct host *host;
	struct meter_set *set;
	int *os_packages;		/* physical_package_id of each package */
	struct meter_counter *counters; /* of the readings that are energy */
	int64_t *counted_ns;
	struct meter_cpus *cpus;
	struct meter_cpus_moment moments[2];
	int now; /* the moment that was read last */
	struct sys_again stat, *frequencies;
	char *stat_text;
	struct load *loads; /* by CPU number */
	struct vm_joined *joined;
	struct host *vm_host; /* the one that `joined` is of, if it is another */
	struct watch_vms *vms;
	int64_t last_ns, looked_ns;
	struct watch_view view;
};

/* ---- CPUs ---- */

static void open_frequencies(struct watch *watch)
{
	size_t count = meter_cpus_count(watch->cpus);

	if (meter_cpus_clocks(watch->cpus).state == METER_VALUE)
		return;
	watch->frequencies = ARENA_ARRAY(watch->arena, count + 1, struct sys_again);
	(void)sys_again_room(count);
	for (size_t i = 0; i < count; i++)
		(void)sys_again_open(watch->host->sys,
				     arena_printf(watch->arena,
						  "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
						  meter_cpus_number(watch->cpus, i)),
				     &watch->frequencies[i]);
}

static void add_to_group(struct watch *watch, const struct watch_cpu *cpu)
{
	struct watch_view *view = &watch->view;
	struct watch_group *group = view->groups;

	while (group < view->groups + view->group_count && group->l3 != cpu->l3)
		group++;
	if (group == view->groups + view->group_count) {
		view->group_count++;
		group->l3 = cpu->l3;
	}
	cpuset_add(&group->cpus, cpu->cpu);
}

static void find_cpus(struct watch *watch)
{
	const struct host_topology *topology = &watch->host->topology;
	struct watch_view *view = &watch->view;
	const char **states;

	view->cpu_count = meter_cpus_count(watch->cpus);
	view->cpus = ARENA_ARRAY(watch->arena, view->cpu_count + 1, struct watch_cpu);
	view->groups = ARENA_ARRAY(watch->arena, view->cpu_count + 1, struct watch_group);
	for (size_t i = 0; i < view->cpu_count; i++) {
		int cpu = meter_cpus_number(watch->cpus, i);

		view->cpus[i] = (struct watch_cpu){.cpu = cpu,
						   .core = topology_core_of(topology, cpu),
						   .l3 = topology_l3_of(topology, cpu),
						   .package = topology_package_of(topology, cpu)};
		add_to_group(watch, &view->cpus[i]);
	}
	while (meter_cpus_state(watch->cpus, view->state_count))
		view->state_count++;
	states = ARENA_ARRAY(watch->arena, view->state_count + 1, const char *);
	for (size_t i = 0; i < view->state_count; i++)
		states[i] = meter_cpus_state(watch->cpus, i);
	view->states = states;
}

/* Columns of /proc/stat (proc(5)): user nice system idle iowait irq softirq steal; guest time is in user's. */
static void read_loads(struct watch *watch)
{
	for (size_t i = 0; i < watch->view.cpu_count; i++)
		watch->view.cpus[i].use = (double)NAN;
	if (watch->stat.kind == SYS_AGAIN_CLOSED || sys_again_read(&watch->stat, watch->stat_text, STAT_ROOM) <= 0)
		return;
	for (const char *line = watch->stat_text; text_starts(line, "cpu"); line += strcspn(line, "\n") + 1) {
		enum { IDLE = 3, IOWAIT = 4, COLUMNS = 8 };
		uint64_t sum = 0, idle = 0;
		char *at;
		long cpu = strtol(line + strlen("cpu"), &at, 10);

		for (int i = 0; i < COLUMNS && line[strlen("cpu")] != ' '; i++) {
			uint64_t ticks = strtoull(at, &at, 10);

			sum += ticks;
			idle += i == IDLE || i == IOWAIT ? ticks : 0;
		}
		for (size_t i = 0; i < watch->view.cpu_count && line[strlen("cpu")] != ' '; i++) {
			struct load *load = &watch->loads[i];

			if (watch->view.cpus[i].cpu != cpu)
				continue;
			/* iowait may count backwards (proc(5)). */
			if (load->known && sum > load->all && sum - idle >= load->busy)
				watch->view.cpus[i].use =
				    fmin(1, (double)(sum - idle - load->busy) / (double)(sum - load->all));
			*load = (struct load){sum - idle, sum, true};
		}
		if (!line[strcspn(line, "\n")])
			break;
	}
}

static void read_cpus(struct watch *watch, bool first)
{
	struct watch_view *view = &watch->view;
	const struct meter_cpus_moment *before = &watch->moments[watch->now];

	watch->now = !watch->now;
	meter_cpus_read(watch->cpus, &watch->moments[watch->now]);
	for (size_t i = 0; i < view->cpu_count; i++) {
		struct watch_cpu *cpu = &view->cpus[i];
		uint64_t khz;

		cpu->clock_mhz = cpu->c0 = (double)NAN;
		for (size_t k = 0; k < view->state_count; k++)
			cpu->idle[k] = (double)NAN;
		if (!first) {
			struct meter_cpu_activity did =
			    meter_cpus_between(watch->cpus, before, &watch->moments[watch->now], i);

			cpu->clock_mhz = did.busy_mhz;
			cpu->c0 = did.c0_share;
			memcpy(cpu->idle, did.idle_share, sizeof(cpu->idle));
		}
		if (watch->frequencies && watch->frequencies[i].kind != SYS_AGAIN_CLOSED &&
		    sys_again_number(&watch->frequencies[i], &khz) == 0)
			cpu->clock_mhz = (double)khz / 1e3;
	}
	read_loads(watch);
}

/* A mean over those that are known; NAN without any. */
struct mean {
	double sum, weight;
};

static void mean_add(struct mean *mean, double value, double weight)
{
	if (!isfinite(value) || !isfinite(weight))
		return;
	mean->sum += value * weight;
	mean->weight += weight;
}

static double mean_of(const struct mean *mean)
{
	return mean->weight > 0 ? mean->sum / mean->weight : (double)NAN;
}

static void sum_groups(struct watch_view *view)
{
	for (size_t g = 0; g < view->group_count; g++) {
		struct watch_group *group = &view->groups[g];
		struct mean clock = {0}, c0 = {0}, use = {0}, idle[METER_IDLE_MOST] = {0};

		for (size_t i = 0; i < view->cpu_count; i++) {
			const struct watch_cpu *cpu = &view->cpus[i];

			if (!cpuset_has(&group->cpus, cpu->cpu))
				continue;
			mean_add(&clock, cpu->clock_mhz, isfinite(cpu->c0) ? cpu->c0 : 1);
			mean_add(&c0, cpu->c0, 1);
			mean_add(&use, cpu->use, 1);
			for (size_t k = 0; k < view->state_count; k++)
				mean_add(&idle[k], cpu->idle[k], 1);
		}
		group->clock_mhz = mean_of(&clock);
		group->c0 = mean_of(&c0);
		group->use = mean_of(&use);
		for (size_t k = 0; k < view->state_count; k++)
			group->idle[k] = mean_of(&idle[k]);
	}
}

/* ---- power and temperature ---- */

/* The one to take for its boundary; slow ones would hold the picture. */
static bool is_shown(const struct meter_source *source)
{
	if (source->slow || source->state != METER_VALUE)
		return false;
	return source->quantity == METER_TEMPERATURE ||
	       (source->chosen && (source->quantity == METER_ENERGY || source->quantity == METER_POWER));
}

static void find_readings(struct watch *watch)
{
	struct watch_view *view = &watch->view;
	size_t count = watch->set ? meter_source_count(watch->set) : 0;

	view->readings = ARENA_ARRAY(watch->arena, count + 1, struct watch_reading);
	watch->counters = ARENA_ARRAY(watch->arena, count + 1, struct meter_counter);
	watch->counted_ns = ARENA_ARRAY(watch->arena, count + 1, int64_t);
	for (size_t i = 0; i < count; i++)
		if (is_shown(meter_source_at(watch->set, i)))
			view->readings[view->reading_count++].source = meter_source_at(watch->set, i);
}

static double watts(struct watch *watch, size_t index, const struct meter_source *source, uint64_t count)
{
	struct meter_counter *counter = &watch->counters[index];
	double before_j = counter->energy_j;
	int64_t before_ns = counter->good_ns, now_ns = meter_now_ns();

	switch (meter_counter_add(counter, &source->counter, now_ns, count)) {
	case METER_COUNTER_COUNTS:
	case METER_COUNTER_WRAPS:
		return (counter->energy_j - before_j) / ((double)(now_ns - before_ns) / 1e9);
	case METER_COUNTER_FIRST:
	case METER_COUNTER_SAME:
	case METER_COUNTER_GLITCH:
	case METER_COUNTER_WAITS:
	case METER_COUNTER_RESETS:
	case METER_COUNTER_GAP:
	case METER_COUNTER_STANDS:
		break;
	}
	return (double)NAN;
}

static void read_power(struct watch *watch)
{
	for (size_t i = 0; i < watch->view.reading_count; i++) {
		struct watch_reading *shown = &watch->view.readings[i];
		int index = meter_source_find(watch->set, shown->source->name);
		struct meter_reading reading;

		shown->value = (double)NAN;
		shown->why = NULL;
		if (index < 0)
			continue;
		meter_read(watch->set, (size_t)index, &reading);
		if (reading.state != METER_VALUE)
			shown->why = reading.why ? reading.why : "it cannot be read";
		else if (shown->source->quantity == METER_ENERGY)
			shown->value = watts(watch, i, shown->source, reading.count);
		else
			shown->value = reading.value;
	}
}

/* ---- VMs ---- */

/* Look for VMs anew, on a door that has seen nothing yet. Where that fails the old list stays. */
static void look_for_vms(struct watch *watch)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct vm_joined *joined = NULL;
	struct watch_vms *vms;

	watch->looked_ns = watch->last_ns;
	if (host_open(watch->what, &host, NULL) < 0 || vm_joined_read(host, watch->connect, &joined, NULL) < 0)
		return;
	vms = watch_vms_open(host, joined, watch->vms);
	watch->vms = watch_vms_close(watch->vms);
	watch->vms = vms;
	(void)vm_joined_free(watch->joined);
	watch->joined = joined;
	(void)host_close(watch->vm_host);
	watch->vm_host = host;
	host = NULL;
}

static void read_vms(struct watch *watch, double elapsed_s)
{
	struct watch_view *view = &watch->view;
	bool gone = watch_vms_read(watch->vms, elapsed_s, &view->vms, &view->vm_count);

	if (!gone && (double)(watch->last_ns - watch->looked_ns) / 1e9 < look_for_vms_s)
		return;
	/* Threads that were known a moment ago have no time to count from now: they are shown as just read. */
	struct watch_vms *before = watch->vms;

	if (gone || before) {
		look_for_vms(watch);
		if (watch->vms != before)
			(void)watch_vms_read(watch->vms, (double)NAN, &view->vms, &view->vm_count);
	}
}

/* ---- all ---- */

static void put_remarks(struct watch *watch)
{
	struct meter_cpus_way clocks = meter_cpus_clocks(watch->cpus), idle = meter_cpus_idle(watch->cpus);
	const char **remarks = ARENA_ARRAY(watch->arena, 5, const char *);
	size_t count = 0;
	bool power = false;

	for (size_t i = 0; i < watch->view.reading_count; i++)
		power |= watch->view.readings[i].source->quantity != METER_TEMPERATURE;
	if (clocks.state != METER_VALUE)
		remarks[count++] =
		    arena_printf(watch->arena, "C0 is not known: %s%s%s%s.", clocks.why ? clocks.why : "no counters",
				 clocks.hint ? " (" : "", clocks.hint ? clocks.hint : "", clocks.hint ? ")" : "");
	if (idle.state != METER_VALUE)
		remarks[count++] =
		    arena_printf(watch->arena, "Idle states are not known: %s.", idle.why ? idle.why : "no cpuidle");
	if (!power)
		remarks[count++] = "Power is not measurable here; `hvtune meters` tells why.";
	watch->view.remarks = remarks;
}

int watch_open(const char *what, const char *connect, struct watch **ret, struct err *err)
{
	struct arena *arena = arena_new();
	struct watch *watch = ARENA_NEW(arena, struct watch);
	const struct meter_setup setup = {.local = true};
	int r;

	watch->arena = arena;
	watch->what = what ? arena_strdup(arena, what) : NULL;
	watch->connect = connect ? arena_strdup(arena, connect) : NULL;
	r = host_open(what, &watch->host, err);
	if (r >= 0)
		r = vm_joined_read(watch->host, connect, &watch->joined, err);
	if (r >= 0)
		r = meter_set_open(watch->host->sys, &setup, &watch->set, err);
	if (r < 0) {
		(void)watch_close(watch);
		return r;
	}
	watch->view.host = watch->host;
	meter_cpus_open(watch->host->sys, &watch->cpus);
	for (size_t i = 0; i < ARRAY_SIZE(watch->moments); i++)
		watch->moments[i] = meter_cpus_moment_new(watch->cpus);
	open_frequencies(watch);
	find_cpus(watch);
	find_readings(watch);
	watch->os_packages = ARENA_ARRAY(arena, (size_t)watch->host->topology.package_count + 1, int);
	for (int i = 0; i < watch->host->topology.package_count; i++)
		watch->os_packages[i] = watch->host->topology.packages[i].os_package;
	watch->loads = ARENA_ARRAY(arena, watch->view.cpu_count + 1, struct load);
	watch->stat_text = arena_alloc(arena, STAT_ROOM);
	(void)sys_again_open(watch->host->sys, "/proc/stat", &watch->stat);
	watch->vms = watch_vms_open(watch->host, watch->joined, NULL);
	put_remarks(watch);
	*ret = watch;
	return 0;
}

struct watch *watch_close(struct watch *watch)
{
	if (!watch)
		return NULL;
	(void)watch_vms_close(watch->vms);
	(void)vm_joined_free(watch->joined);
	(void)host_close(watch->vm_host);
	for (size_t i = 0; watch->frequencies && i < watch->view.cpu_count; i++)
		sys_again_close(&watch->frequencies[i]);
	sys_again_close(&watch->stat);
	if (watch->cpus)
		for (size_t i = 0; i < ARRAY_SIZE(watch->moments); i++)
			meter_cpus_moment_free(&watch->moments[i]);
	(void)meter_cpus_close(watch->cpus);
	(void)meter_set_close(watch->set);
	(void)host_close(watch->host);
	(void)arena_free(watch->arena);
	return NULL;
}

void watch_close_pointer(struct watch **watch)
{
	*watch = watch_close(*watch);
}

const struct watch_view *watch_read(struct watch *watch)
{
	int64_t now_ns = meter_now_ns();
	struct timespec now;
	double elapsed_s = watch->last_ns ? (double)(now_ns - watch->last_ns) / 1e9 : (double)NAN;

	if (!watch->last_ns)
		watch->looked_ns = now_ns;
	read_cpus(watch, watch->last_ns == 0);
	watch->last_ns = now_ns;
	sum_groups(&watch->view);
	read_power(watch);
	read_vms(watch, elapsed_s);
	watch_share_power(&watch->view, watch->os_packages, watch->host->topology.package_count);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	watch->view.at_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
	watch->view.elapsed_s = elapsed_s;
	return &watch->view;
}
