/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what distances cost, and the order of scores.
 */
#include "place_internal.h"

/*
 * Medians of one-way latencies between cores as people measured them with core-to-core-latency: EPYC 7R13 (Milan) 20-28
 * ns in a CCX, 107 to another CCX of the socket, 197 to the other socket; EPYC 7742 (Rome) 95-119 near and 120-149 far
 * in a socket, 260 to the other. Only their order matters for VMs inside one node. Memory: of the order of the gap
 * between NPS4 and NPS1 on Rome (9 to 12 ns, AnandTech 14694) and of a hop between sockets. Device and class: assumed.
 */
const struct place_latency place_latency_default = {
    .ccx = 25,
    .node = 105,
    .socket = 125,
    .other = 220,
    .memory_node = 12,
    .memory_other = 100,
    .device = 40,
    .class_mismatch = 40,
};

int place_score_compare(const struct place_score *a, const struct place_score *b)
{
	const int64_t terms[][2] = {
	    {a->unplaced, b->unplaced}, {a->excess, b->excess}, {a->moved_kib, b->moved_kib},
	    {a->changed, b->changed},	{a->policy, b->policy}, {a->sharing, b->sharing},
	};

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		if (terms[i][0] != terms[i][1])
			return terms[i][0] < terms[i][1] ? -1 : 1;
	}
	return 0;
}

int place_compare_main(const struct place_score *a, const struct place_score *b)
{
	struct place_score one = *a, other = *b;

	one.policy = one.sharing = other.policy = other.sharing = 0;
	return place_score_compare(&one, &other);
}
