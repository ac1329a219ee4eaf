/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns which hugepages must be reserved before the VMs of a plan can start.
 */
#ifndef HVTUNE_REPORT_PLACE_PAGES_H
#define HVTUNE_REPORT_PLACE_PAGES_H

#include "report_place.h"

struct report_place_pages {
	int os_node;
	int64_t page_kib;
	int64_t more;  /* pages that are missing */
	int64_t total; /* nr_hugepages to be */
};

/*
 * What is missing on each node, by page size; `ret_count` entries. Free pages that cannot be known, and nodes of a
 * what-if, ask for nothing.
 */
const struct report_place_pages *report_place_pages(struct arena *arena, const struct report_place *place,
						    int *ret_count);

/* "reserve 128 more pages of 1 GiB on node 0: ...", what to do. */
const char *report_place_pages_text(struct arena *arena, const struct report_place_pages *pages);

/*
 * Kernel parameters that reserve the 1 GiB pages of all nodes, which rarely are to be had later; NULL when none of
 * those is missing.
 */
const char *report_place_pages_boot(struct arena *arena, const struct report_place *place,
				    const struct report_place_pages *pages, int count);

#endif
