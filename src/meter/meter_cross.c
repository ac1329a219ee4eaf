/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the comparison of what sources of different boundaries say: a part never draws more than the whole. */
#include <math.h>

#include "arena.h"
#include "meter_sampler.h"

/* Steps of whole watts, meters of the class of 1 %, means that lag behind: so much is no contradiction. */
static const double tolerance = 0.05;

static const struct pair {
	enum meter_boundary part, whole;
} pairs[] = {
    {METER_PACKAGE, METER_BOARD}, {METER_PACKAGE, METER_WALL}, {METER_SOCKET, METER_BOARD},
    {METER_SOCKET, METER_WALL},	  {METER_BOARD, METER_WALL},
};

const char *meter_contradiction(const struct meter_sampler *sampler, int64_t from_ns, int64_t to_ns,
				struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct meter_result part, whole;

		meter_total(sampler, pairs[i].part, from_ns, to_ns, &part);
		meter_total(sampler, pairs[i].whole, from_ns, to_ns, &whole);
		if (part.state != METER_VALUE || whole.state != METER_VALUE)
			continue;
		double error = 2 * hypot(part.error_share, whole.error_share);

		if (part.mean <= whole.mean * (1 + tolerance + error))
			continue;
		return arena_printf(
		    arena,
		    "%.1f W at the boundary \"%s\" is more than the %.1f W of \"%s\", which it is a part of: "
		    "one of them is wrong, or a meter sees only one of several power supplies",
		    part.mean, meter_boundary_name(pairs[i].part), whole.mean, meter_boundary_name(pairs[i].whole));
	}
	return NULL;
}
