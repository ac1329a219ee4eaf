/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the pictures of the topology share: the nesting in which it is drawn, and the marks that CPUs carry.
 */
#ifndef HVTUNE_REPORT_TOPOLOGY_H
#define HVTUNE_REPORT_TOPOLOGY_H

#include "host.h"
#include "term.h"

/* CPUs that share an L3, or, where that is not known, all of a section that are in no known L3. */
struct layout_group {
	int l3; /* index in topology.l3s, -1 unknown */
	struct cpuset cpus;
	const struct cpuset *columns; /* one for each core: its threads; where cores are not known one for each CPU */
	int column_count;
	int threads; /* the most CPUs in a column */
};

/* A node inside a package, or the whole package. */
struct layout_section {
	int node; /* index in topology.nodes, -1 when it is not one node */
	struct layout_group *groups;
	int group_count;
};

struct layout_package {
	int package; /* index in topology.packages, -1 when packages are not known */
	struct layout_section *sections;
	int section_count;
};

struct layout {
	struct layout_package *packages;
	int package_count;
	bool nodes_nested;  /* every node with CPUs lies in one package: sections are nodes */
	bool node_is_group; /* every node is one L3 group (L3 as NUMA domain, or NPS4 on parts with one L3 a node) */
	struct cpuset isolated;
	struct cpuset preferred; /* CPUs with the highest preferred-core rank, where ranks differ */
	int64_t top_rank;
};

/* Everything lives in the arena. */
const struct layout *report_layout(struct arena *arena, const struct host *host);

/* "CCX" on Zen, "L3" elsewhere. */
const char *report_group_word(const struct host *host);

/* "384 GiB, 310 GiB free", "no memory", or NULL when it is not known. */
const char *report_node_memory(struct arena *arena, const struct topology_node *node);

/* What the distances between nodes say in a line; NULL when they are not known or there is one node. */
const char *report_distances(struct arena *arena, const struct host *host);

/* What is not known or contradictory, a sentence each; ends with NULL. */
const char *const *report_remarks(struct arena *arena, const struct host *host);

/* The preferred-core rank that amd_pstate gives the CPU, or -1. Higher is preferred. */
int64_t report_core_rank(const struct host *host, int cpu);

/* To whom each CPU belongs, for a picture with marks instead of CPU numbers. */
struct report_owners {
	const char *const *marks;     /* topology.cpu_count texts; NULL: nobody's */
	int width;		      /* columns of the widest mark */
	const struct cpuset *changed; /* CPUs that are drawn bold where there are colours; NULL: none */
	const int *tints;	      /* topology.cpu_count numbers; CPUs with one number have one tint in the SVG */
	const char *legend;	      /* what the marks mean, for the SVG */
};

/* The boxes of report_topology() with marks in them, without what stands above and below. */
void report_topology_owners(const struct term *term, const struct host *host, const struct report_owners *owners);

/* report_topology_svg() with marks and tints; `owners` may be NULL. 0 or a negative errno. */
int report_topology_svg_owners(FILE *out, const struct host *host, const struct report_owners *owners);

#endif
