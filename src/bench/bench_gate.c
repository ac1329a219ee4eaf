/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns looking at the machine around runs. */
#include "bench_gate.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_spawn.h"
#include "text.h"

enum { MOST_STAT = 256 << 10, SHORTEST_MS = 500, SLEPT_MS = 100, SET_MS = 500 };

/* Run-time settings that change how fast the CPUs are or how memory is used. */
static const char *const watched[] = {
    "amd_pstate", "governor",	      "epp", "boost",	   "cpu_boost", "min_freq",	 "max_freq",
    "smt",	  "platform_profile", "thp", "thp.defrag", "ksm",	"numa_balancing"};

struct point {
	const char *name, *label, *path;
	uint64_t hash, first_hash; /* of what it held last, and when the gate was opened */
	char text[32], first[32];
};

struct bench_gate {
	struct arena *arena;
	struct knob_machine *machine;
	struct sys_again stat;
	struct sys_again *throttles; /* throttle_count */
	size_t throttle_count;
	struct point *points;
	size_t point_count;
	int64_t looked_ns, look_took_ns;
	char *buffer; /* MOST_STAT */
};

/* ---- settings ---- */

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash;
}

static void read_point(struct bench_gate *gate, struct arena *arena, struct point *point, const char **ret)
{
	const char *data = NULL;

	*ret = sys_writer_read(gate->machine->writer, arena, point->path, &data, NULL, NULL) < 0
		   ? ""
		   : text_trim(arena, data);
}

static bool is_watched(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		if (text_equal(watched[i], name))
			return true;
	return false;
}

static void find_points(struct bench_gate *gate, const char *const *also)
{
	struct knob_points found = {.arena = gate->arena};

	for (size_t i = 0; i < ARRAY_SIZE(watched); i++) {
		const struct knob_ask ask = {.name = watched[i], .value = ""};

		(void)knob_expand(gate->machine, &ask, KNOB_EXPAND_READABLE, &found, NULL);
	}
	for (size_t i = 0; also && also[i]; i++) {
		const struct knob_ask ask = {.name = also[i], .value = ""};

		if (!is_watched(also[i]))
			(void)knob_expand(gate->machine, &ask, KNOB_EXPAND_READABLE, &found, NULL);
	}
	gate->points = ARENA_ARRAY(gate->arena, found.count + 1, struct point);
	for (size_t i = 0; i < found.count; i++)
		if (text_starts(found.items[i].where, "/sys/") || text_starts(found.items[i].where, "/proc/"))
			gate->points[gate->point_count++] =
			    (struct point){.name = arena_strdup(gate->arena, found.items[i].name),
					   .label = arena_strdup(gate->arena, found.items[i].label),
					   .path = arena_strdup(gate->arena, found.items[i].where)};
}

/* Go over all; *ret_what, if not NULL, is the first that has another value than was known. */
static void look_at_points(struct bench_gate *gate, struct arena *texts, const char **ret_what)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int64_t began_ns = bench_now_ns();

	for (size_t i = 0; i < gate->point_count; i++) {
		struct point *point = &gate->points[i];
		const char *now;
		uint64_t hash;

		read_point(gate, arena, point, &now);
		hash = hash_of(now);
		if (hash != point->hash && ret_what && !*ret_what)
			*ret_what =
			    arena_printf(texts, "%s%s%s was changed from \"%s\" to \"%s\" meanwhile", point->name,
					 *point->label ? " of " : "", point->label, point->text, now);
		point->hash = hash;
		(void)snprintf(point->text, sizeof(point->text), "%s", now);
	}
	gate->looked_ns = bench_now_ns();
	gate->look_took_ns = gate->looked_ns - began_ns;
}

void bench_gate_remember(struct bench_gate *gate)
{
	if (gate->machine)
		look_at_points(gate, NULL, NULL);
}

const char *bench_gate_changed(struct bench_gate *gate, struct arena *arena, bool sure)
{
	const char *what = NULL;

	if (!gate->machine || (!sure && bench_now_ns() - gate->looked_ns < 100 * gate->look_took_ns))
		return NULL;
	look_at_points(gate, arena, &what);
	return what;
}

const char *bench_gate_left(struct bench_gate *gate, struct arena *arena)
{
	const char *text = NULL;
	size_t more = 0;

	bench_gate_remember(gate);
	for (size_t i = 0; i < gate->point_count; i++) {
		const struct point *point = &gate->points[i];

		if (point->hash == point->first_hash)
			continue;
		more += text != NULL;
		if (!text)
			text = arena_printf(arena, "%s%s%s holds %s (before: %s)", point->name,
					    *point->label ? " of " : "", point->label,
					    *point->text ? point->text : "nothing",
					    *point->first ? point->first : "nothing");
	}
	return more ? arena_printf(arena, "%s, and %zu more", text, more) : text;
}

/* ---- the gate ---- */

static void find_throttles(struct bench_gate *gate, struct sys *sys)
{
	const struct sys_look *cpus = sys_list(sys, "/sys/devices/system/cpu");

	/* Only Intel's CPUs have these files; where the first has none, no CPU has. */
	if (cpus->state != SYS_VALUE || !sys_has_dir(sys, "/sys/devices/system/cpu/cpu0/thermal_throttle"))
		return;
	gate->throttles = ARENA_ARRAY(gate->arena, cpus->size, struct sys_again);
	for (size_t i = 0; i < cpus->size; i++) {
		const char *path = arena_printf(
		    gate->arena, "/sys/devices/system/cpu/%s/thermal_throttle/core_throttle_count", cpus->names[i]);

		if (text_starts(cpus->names[i], "cpu") && cpus->names[i][3] >= '0' && cpus->names[i][3] <= '9' &&
		    gate->throttle_count < 512 &&
		    sys_again_open(sys, path, &gate->throttles[gate->throttle_count]) == 0)
			gate->throttle_count++;
	}
}

struct bench_gate *bench_gate_open(struct sys *sys, struct knob_machine *machine, const char *const *also)
{
	struct arena *arena = arena_new();
	struct bench_gate *gate = ARENA_NEW(arena, struct bench_gate);

	gate->arena = arena;
	gate->machine = machine;
	gate->buffer = arena_alloc(arena, MOST_STAT);
	if (sys_again_open(sys, "/proc/stat", &gate->stat) < 0)
		gate->stat = (struct sys_again){.kind = SYS_AGAIN_CLOSED};
	find_throttles(gate, sys);
	if (machine)
		find_points(gate, also);
	bench_gate_remember(gate);
	for (size_t i = 0; i < gate->point_count; i++) {
		gate->points[i].first_hash = gate->points[i].hash;
		memcpy(gate->points[i].first, gate->points[i].text, sizeof(gate->points[i].first));
	}
	return gate;
}

struct bench_gate *bench_gate_close(struct bench_gate *gate)
{
	if (!gate)
		return NULL;
	sys_again_close(&gate->stat);
	for (size_t i = 0; i < gate->throttle_count; i++)
		sys_again_close(&gate->throttles[i]);
	(void)arena_free(gate->arena);
	return NULL;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice" in clock ticks; guests are in user (proc(5)).
 */
static void read_stat(struct bench_gate *gate, struct bench_view *view)
{
	uint64_t ticks[8] = {0};
	int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
	ssize_t got =
	    gate->stat.kind == SYS_AGAIN_CLOSED ? -ENOENT : sys_again_read(&gate->stat, gate->buffer, MOST_STAT);
	const char *at = gate->buffer + strlen("cpu ");

	if (got <= 0 || !text_starts(gate->buffer, "cpu "))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ticks); i++) {
		char *end = NULL;

		ticks[i] = strtoull(at, &end, 10);
		if (end == at)
			return;
		at = end;
	}
	view->busy_us = (int64_t)(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * tick_us;
	view->steal_us = (int64_t)ticks[7] * tick_us;
	for (const char *line = strchr(gate->buffer, '\n'); line && text_starts(line, "\ncpu");
	     line = strchr(line + 1, '\n'))
		view->cpus++;
}

void bench_gate_look(struct bench_gate *gate, bool only_clocks, struct bench_view *ret)
{
	struct bench_view view = {.at_ns = bench_now_ns()};

	view.slept_ns = clock_ns(CLOCK_BOOTTIME) - view.at_ns;
	view.set_ns = clock_ns(CLOCK_REALTIME) - view.at_ns;
	if (!only_clocks)
		read_stat(gate, &view);
	for (size_t i = 0; i < gate->throttle_count && !only_clocks; i++) {
		uint64_t count;

		if (sys_again_number(&gate->throttles[i], &count) == 0)
			view.throttles += count;
	}
	*ret = view;
}

static double share(int64_t part_us, const struct bench_view *before, const struct bench_view *after)
{
	int64_t passed_us = (after->at_ns - before->at_ns) / 1000;

	if (passed_us < (int64_t)SHORTEST_MS * 1000 || !after->cpus)
		return (double)NAN;
	return MAX_OF(0., (double)part_us / ((double)passed_us * (double)after->cpus));
}

double bench_gate_foreign(const struct bench_view *before, const struct bench_view *after, int64_t own_us)
{
	return share(after->busy_us - before->busy_us - own_us, before, after);
}

const char *bench_gate_judge(struct arena *arena, const struct bench_view *before, const struct bench_view *after,
			     int64_t own_us, const struct bench_limits *limits)
{
	double foreign = bench_gate_foreign(before, after, own_us);
	double steal = share(after->steal_us - before->steal_us, before, after);
	int64_t set_ms = (after->set_ns - before->set_ns) / 1000000;

	if (after->slept_ns - before->slept_ns > (int64_t)SLEPT_MS * 1000000)
		return "the machine slept meanwhile";
	if (set_ms > SET_MS || set_ms < -SET_MS)
		return arena_printf(arena, "the clock was set by %.1f s meanwhile", (double)set_ms / 1e3);
	if (after->throttles > before->throttles)
		return "the CPU was throttled for its temperature meanwhile";
	if (limits->load > 0 && foreign > limits->load)
		return arena_printf(arena, "other processes used %.0f %% of the CPUs meanwhile", 100 * foreign);
	if (limits->load > 0 && steal > limits->load)
		return arena_printf(arena, "the hypervisor gave %.0f %% of the CPUs to others meanwhile", 100 * steal);
	return NULL;
}
