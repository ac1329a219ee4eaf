/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the hugepage words of a kernel command line ask for, read in order as mm/hugetlb.c of Linux reads them.
 *
 * The rules (hugepages_setup, hugepagesz_setup and default_hugepagesz_setup, alike from 5.8 on; the admin's guide is
 * Documentation/admin-guide/mm/hugetlbpage.rst):
 *  - hugepagesz=S and default_hugepagesz=S choose the size for the hugepages=N that follows;
 *  - hugepages=N before any size word counts for the default size, whichever that will be, and cannot be overridden;
 *  - a size may be chosen once: the FIRST hugepagesz=S and the FIRST default_hugepagesz= stand, later ones are ignored
 *    together with the hugepages= behind them (hugepagesz=S right after default_hugepagesz=S without a count between is
 *    no repetition);
 *  - of two hugepages= without a size word between, the first stands;
 *  - hugepages=0:8,1:8 asks per node, a plain count is spread over the nodes with memory;
 *  - hugetlb_cma= makes the kernel skip the boot-time reservation of 1 GiB pages.
 */
#ifndef HVTUNE_HOST_HUGEWORDS_H
#define HVTUNE_HOST_HUGEWORDS_H

#include "host_cmdline.h"

enum { HUGEWORDS_NODES_MAX = 64, HUGEWORDS_POOLS_MAX = 2 }; /* x86 has two sizes: 2 MiB and 1 GiB */

enum hugeword_verdict {
	HUGEWORD_TAKEN,		 /* or again what was chosen before, with nothing lost */
	HUGEWORD_SIZE_UNKNOWN,	 /* a size that the CPU does not have: ignored, and the hugepages= behind it too */
	HUGEWORD_SIZE_TWICE,	 /* hugepagesz= of a size that was chosen before: ignored */
	HUGEWORD_DEFAULT_TWICE,	 /* a second default_hugepagesz=: ignored */
	HUGEWORD_NO_SIZE,	 /* hugepages= behind a size word that was ignored: ignored */
	HUGEWORD_COUNT_TWICE,	 /* hugepages= again without a size word between: ignored */
	HUGEWORD_COUNT_OVERRIDE, /* hugepages= for the default size, which an earlier plain hugepages= has set: ignored
				  */
	HUGEWORD_COUNT_IS_SIZE,	 /* hugepages=1G: the kernel reads the number, 1 page, and leaves the letter */
	HUGEWORD_COUNT_BAD,	 /* not a number, or a node that is not there */
};

struct hugeword {
	const struct cmdline_word *word; /* default_hugepagesz=, hugepagesz= or hugepages= */
	enum hugeword_verdict verdict;
	int64_t size_kib; /* the size it chooses or counts for; -1 when it has none */
};

struct hugeword_pool {
	int64_t size_kib;
	int64_t pages;			 /* all nodes together */
	const struct cmdline_word *word; /* the hugepages= that stands */
	bool per_node;			 /* asked node by node */
	int node_count;			 /* entries in use; 0 unless per_node */
	int os_nodes[HUGEWORDS_NODES_MAX];
	int64_t node_pages[HUGEWORDS_NODES_MAX];
};

struct hugewords {
	const struct hugeword *words; /* all hugepage words in the order of the line */
	int word_count;
	struct hugeword_pool pools[HUGEWORDS_POOLS_MAX]; /* sizes for which a count stands */
	int pool_count;
	int64_t default_kib;			 /* 2048, or what default_hugepagesz= chose */
	const struct cmdline_word *default_word; /* the default_hugepagesz= that stands, or NULL */
	const struct cmdline_word *cma_word;	 /* hugetlb_cma= with more than 0, or NULL */
};

/*
 * Read the words. `has_1g`: the CPU has 1 GiB pages (flag pdpe1gb); true where that is not known. `nodes`: OS numbers
 * of the nodes that are online, NULL where they are not known. Never fails: what cannot be read is a verdict.
 */
void hugewords_parse(struct arena *arena, const struct host_cmdline *cmdline, bool has_1g, const struct cpuset *nodes,
		     struct hugewords *ret);

/* The pool asked for with this page size, or NULL. */
const struct hugeword_pool *hugewords_pool(const struct hugewords *words, int64_t size_kib);

/* Pages asked for on one node; 0 when the words name other nodes only, -1 when they ask for no split. */
int64_t hugewords_on_node(const struct hugeword_pool *pool, int os_node);

/* Why a word is ignored, as the end of a sentence: "is ignored: the size was chosen before"; NULL for a taken one. */
const char *hugeword_reason(enum hugeword_verdict verdict);

#endif
