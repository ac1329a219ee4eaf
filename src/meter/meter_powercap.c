/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns energy by powercap (RAPL): /sys/class/powercap/intel-rapl:P/energy_uj, on AMD too (drivers/powercap/
 * intel_rapl_msr.c). Microjoules that go round at max_energy_range_uj, 65,532,610,987 with the usual unit.
 *
 * Kernels of about 6.9 to 6.11 have a zone for each CCD, named package-N-die-M, and all of them read the counter of the
 * package: one is kept for each package, whatever the names say. The zone "core" below a package is on AMD one core.
 */
#include "meter_driver.h"

#include <errno.h>

#include "cpuset.h"
#include "text.h"

#define POWERCAP "/sys/class/powercap"

enum { MOST_ZONES = 1024 };

static const char needs_root[] = "run hvtune as root: energy_uj is closed to others since Linux 5.10 (CVE-2020-8694)";

static enum meter_boundary boundary_of(const char *name)
{
	static const struct {
		const char *start;
		enum meter_boundary boundary;
	} known[] = {{"package-", METER_PACKAGE},
		     {"core", METER_CORE},
		     {"dram", METER_MEMORY},
		     {"psys", METER_BOARD},
		     {"uncore", METER_PART}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (text_starts(name, known[i].start))
			return known[i].boundary;
	return METER_PART;
}

/* The P of package-P and package-P-die-D; of a zone inside one that of the zone around it is not asked for. */
static int package_of(struct meter_set *set, const char *name)
{
	int64_t package;

	if (!text_starts(name, "package-"))
		return -1;
	name += strlen("package-");
	name = arena_strndup(set->arena, name, strcspn(name, "-"));
	return text_int(name, 10, &package) == 0 && package >= 0 && package < CPUSET_MAX ? (int)package : -1;
}

static bool is_known_package(const struct meter_set *set, int package)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->inputs[i]->driver == &meter_powercap && set->inputs[i]->source.boundary == METER_PACKAGE &&
		    set->inputs[i]->source.package == package)
			return true;
	return false;
}

static void add_zone(struct meter_set *set, const char *zone)
{
	const char *name = meter_text(set, POWERCAP "/%s/name", zone);
	int64_t range_uj = 0;

	if (!name)
		return;
	enum meter_boundary boundary = boundary_of(name);
	int package = package_of(set, name);

	if (boundary == METER_PACKAGE && is_known_package(set, package))
		return;
	/* Every package has a zone of that name inside. */
	const char *below = strchr(zone, ':') ? strchr(strchr(zone, ':') + 1, ':') : NULL;
	const char *unique = below ? arena_printf(set->arena, "%s.%s", zone, name) : name;
	int r = meter_number(set->sys, &range_uj, POWERCAP "/%s/max_energy_range_uj", zone);
	struct meter_input *input =
	    meter_add(set, &meter_powercap,
		      (struct meter_source){
			  .name = arena_printf(set->arena, "powercap.%s", unique),
			  .place = arena_printf(set->arena, POWERCAP "/%s/energy_uj", zone),
			  .quantity = METER_ENERGY,
			  .boundary = boundary,
			  .package = package,
			  .resolution = 15.26e-6, /* 2^-16 J, the usual unit of MSR 0xC0010299 */
			  .refresh_s = 0.001,
			  .counter = {.range = r < 0 ? 0 : (uint64_t)MAX_OF(range_uj, 0),
				      .unit_j = 1e-6,
				      .stands_ns = 1000000000},
		      });

	/* Without the range a wrap cannot be told from a reset, and taking it for 0 made others report negative energy.
	 */
	if (r < 0 || range_uj <= 0) {
		meter_refuse(set, input, r < 0 ? -r : EBADMSG, NULL);
		input->source.why = "its max_energy_range_uj cannot be read, so wraps cannot be told";
		return;
	}
	meter_open_file(set, input, needs_root);
	input->source.hint = needs_root;
}

static int find(struct meter_set *set, struct err *err)
{
	const struct sys_look *look = sys_list(set->sys, POWERCAP);
	size_t before = set->count;

	(void)err;
	for (size_t i = 0; look->state == SYS_VALUE && i < MIN_OF(look->size, (size_t)MOST_ZONES); i++)
		/* intel-rapl itself is the control type; what is of intel-rapl-mmio and dtpm counts nothing on AMD. */
		if (text_starts(look->names[i], "intel-rapl:") || text_starts(look->names[i], "amd-rapl:"))
			add_zone(set, look->names[i]);
	if (set->count == before)
		meter_lacks(set, "powercap", "there is no zone in " POWERCAP,
			    "modprobe intel_rapl_msr (for AMD too); a virtual machine has none");
	return 0;
}

static void read_energy(struct meter_input *input, struct meter_reading *ret)
{
	int r = sys_again_number(&input->file, &ret->count);

	if (r < 0)
		meter_unread(ret, -r);
}

const struct meter_driver meter_powercap = {.name = "powercap", .find = find, .read = read_energy};
