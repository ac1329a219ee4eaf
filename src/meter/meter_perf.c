/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns energy by perf: the events energy-* of the PMU "power" (arch/x86/events/rapl.c). The kernel extends the counter
 * to 64 bit by a timer of its own, so it does not wrap. Type, event and scale come from sysfs; raw counts mean nothing
 * without the scale (2^-32 J).
 *
 * The cpumask has a CPU for each package, on kernels of about 6.9 to 6.11 one for each CCD, all of which read the
 * counter of the package: one is kept for each physical package.
 */
#include "meter_driver.h"

#include <errno.h>
#include <math.h>

#include "cpuset.h"
#include "text.h"

#define PMU "/sys/bus/event_source/devices/power"

enum { MOST_EVENTS = 32 };

static const char needs_right[] =
    "run hvtune as root, or give it CAP_PERFMON, or set kernel.perf_event_paranoid to 0 or less";

struct event {
	const char *name; /* "energy-pkg" */
	uint32_t type;
	uint64_t config;
	double scale;
};

/* "event=0x02" in the field that format/event names ("config:0-7"), which is the low end on all kernels there are. */
static int parse_event(struct meter_set *set, const char *name, struct event *ret)
{
	const char *text = meter_text(set, PMU "/events/%s", name);
	const char *format = meter_text(set, PMU "/format/event");
	const char *scale = meter_text(set, PMU "/events/%s.scale", name);
	const char *unit = meter_text(set, PMU "/events/%s.unit", name);
	int64_t type, config;
	char *end;

	if (meter_number(set->sys, &type, PMU "/type") < 0 || type < 0 || type > UINT32_MAX)
		return -EBADMSG;
	if (!text || !text_starts(text, "event=") || text_int(text + strlen("event="), 0, &config) < 0 || config < 0)
		return -EBADMSG;
	if (format && !text_starts(format, "config:0-"))
		return -EBADMSG;
	if (!scale || (unit && !text_equal(unit, "Joules")))
		return -EBADMSG;
	ret->scale = strtod(scale, &end);
	if (end == scale || *end || !isfinite(ret->scale) || ret->scale <= 0)
		return -EBADMSG;
	ret->name = name;
	ret->type = (uint32_t)type;
	ret->config = (uint64_t)config;
	return 0;
}

static enum meter_boundary boundary_of(const char *event)
{
	static const struct {
		const char *event;
		enum meter_boundary boundary;
	} known[] = {{"energy-pkg", METER_PACKAGE},
		     {"energy-ram", METER_MEMORY},
		     {"energy-psys", METER_BOARD},
		     {"energy-core", METER_CORE}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (text_equal(known[i].event, event))
			return known[i].boundary;
	return METER_PART;
}

static void add_event(struct meter_set *set, const struct event *event, int cpu, int package)
{
	const char *which = package >= 0 ? arena_printf(set->arena, "-%d", package) : "";
	struct meter_input *input =
	    meter_add(set, &meter_perf,
		      (struct meter_source){
			  .name = arena_printf(set->arena, "perf.%s%s", event->name + strlen("energy-"), which),
			  .place = arena_printf(set->arena, PMU "/events/%s", event->name),
			  .quantity = METER_ENERGY,
			  .boundary = boundary_of(event->name),
			  /* psys is of the platform. */
			  .package = boundary_of(event->name) == METER_BOARD ? -1 : package,
			  .resolution = 15.26e-6, /* of the register below; the count is finer than what it counts */
			  .refresh_s = 0.001,
			  .counter = {.range = 0, .unit_j = event->scale, .stands_ns = 1000000000},
		      });
	int r = set->setup.only_look
		    ? 0
		    : sys_again_open_perf(set->sys, "power", event->type, event->config, cpu, &input->file);

	input->source.hint = needs_right;
	input->from_zero = input->file.kind == SYS_AGAIN_PERF;
	if (r < 0)
		meter_refuse(set, input, -r, r == -EACCES || r == -EPERM ? needs_right : NULL);
	if (r == -ENOENT && !sys_is_live(set->sys))
		input->source.why = "a copy of a host has no counters of perf";
}

static void add_packages(struct meter_set *set, const struct event *event, const struct cpuset *cpus)
{
	struct cpuset packages = {0};

	CPUSET_FOREACH (cpu, cpus) {
		int package = meter_package_of(set->sys, cpu);

		if (package >= 0 && cpuset_has(&packages, package))
			continue;
		if (package >= 0)
			cpuset_add(&packages, package);
		add_event(set, event, cpu, package);
	}
}

static int find(struct meter_set *set, struct err *err)
{
	const struct sys_look *look = sys_list(set->sys, PMU "/events");
	const char *mask = meter_text(set, PMU "/cpumask");
	struct cpuset cpus = {0};
	size_t before = set->count;

	(void)err;
	if (mask && cpuset_parse(mask, &cpus, NULL) < 0)
		cpus = (struct cpuset){0};
	for (size_t i = 0; look->state == SYS_VALUE && i < MIN_OF(look->size, (size_t)MOST_EVENTS); i++) {
		struct event event;

		if (text_starts(look->names[i], "energy-") && !strchr(look->names[i], '.') &&
		    parse_event(set, look->names[i], &event) == 0)
			add_packages(set, &event, &cpus);
	}
	if (set->count == before)
		meter_lacks(set, "perf", "the kernel offers no event energy-* in " PMU "/events",
			    "modprobe rapl; a virtual machine has none");
	return 0;
}

static void read_energy(struct meter_input *input, struct meter_reading *ret)
{
	int r = sys_again_perf(&input->file, &ret->count);

	if (r < 0)
		meter_unread(ret, -r);
}

const struct meter_driver meter_perf = {.name = "perf", .find = find, .read = read_energy};
