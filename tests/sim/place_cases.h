/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the hosts and VM mixes on which placing is judged: shapes of AMD hosts, and VMs drawn by a seed.
 */
#ifndef HVTUNE_PLACE_CASES_H
#define HVTUNE_PLACE_CASES_H

#include "place.h"

enum mix { MIX_RANDOM, MIX_CLOUD, MIX_ENTERPRISE, MIX_COUNT };

struct case_host {
	const char *name;
	int sockets, nodes, ccxs, cores; /* nodes a socket, CCXs a node, cores a CCX */
	int memory_gib;			 /* of a node */
	bool x3d;			 /* the first CCX is the cache die */
};

extern const struct case_host case_hosts[];
extern const int case_host_count;

struct case_random {
	uint64_t state;
};

struct place_case {
	struct place_problem problem;
	struct place_ccx *ccxs;
	struct place_node *nodes;
	struct place_vm *vms; /* room for vm_room */
	int vm_room;
	int cores;	   /* of the host without the reserve */
	int all_cores;	   /* with it */
	double memory_kib; /* of the host, without what stays with it */
};

int case_below(struct case_random *random, int below);
double case_uniform(struct case_random *random);
/* The host without VMs. */
struct place_case *case_new(struct arena *arena, const struct case_host *host, int vm_room);
/* Draw one VM of the mix. */
struct place_vm case_draw(struct case_random *random, const struct place_case *of, const struct case_host *host,
			  enum mix mix);
/* Draw VMs until `load` percent of the host's free cores, and at most 95 % of its memory, are asked for. */
void case_fill(struct place_case *of, const struct case_host *host, enum mix mix, int load, uint64_t seed);
/* Time of this process alone, in ms: other load on the machine does not count. */
double case_now_ms(void);

#endif
