/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about hugepage words of the kernel command line, against the host's memory and nodes. */
#include <inttypes.h>

#include "advise_check.h"
#include "host_hugewords.h"

#define HUGETLBPAGE "Linux Documentation/admin-guide/mm/hugetlbpage.rst"

/* Boot memory that the kernel itself needs: a reservation above this share has failed or starved hosts. */
enum { SHARE_TOO_MUCH_PERCENT = 95 };

static struct hugewords words_of(struct advise_check *c)
{
	const struct host_topology *topology = &c->host->topology;
	struct cpuset nodes = {0};
	struct hugewords words;
	bool has_1g = !fact_known(&c->host->cpu.flags) || host_cpu_has_flag(&c->host->cpu, "pdpe1gb");

	for (int i = 0; i < topology->node_count; i++)
		cpuset_add(&nodes, topology->nodes[i].os_node);
	hugewords_parse(c->arena, c->cmdline, has_1g, topology->node_known && topology->node_count ? &nodes : NULL,
			&words);
	return words;
}

static void check_ignored(struct advise_check *c)
{
	const struct hugewords words = words_of(c);

	for (int i = 0; i < words.word_count; i++) {
		const struct hugeword *word = &words.words[i];

		if (word->verdict == HUGEWORD_TAKEN)
			continue;
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", word->word->text);
		struct advise_finding *finding =
		    advise_report_as(c, word->verdict == HUGEWORD_COUNT_IS_SIZE ? ADVISE_FAIL : ADVISE_WARN, "%s %s",
				     word->word->text, hugeword_reason(word->verdict));

		if (word->verdict == HUGEWORD_DEFAULT_TWICE && words.default_word)
			finding->detail = advise_printf(c, "what counts is %s", words.default_word->text);
		advise_at_word(c, finding, word->word);
	}
}

static void check_exceeds_memory(struct advise_check *c)
{
	const struct hugewords words = words_of(c);
	int64_t total_kib, asked_kib = 0;

	for (int i = 0; i < words.pool_count; i++) {
		const struct hugeword_pool *pool = &words.pools[i];

		/* Counts beyond any machine must not wrap. */
		asked_kib += MIN_OF(pool->pages, INT64_C(1) << 40) * pool->size_kib;
		advise_note_text(c, c->cmdline->path, "%s", pool->word->text);
	}
	if (!asked_kib || !advise_number(c, &c->host->memory.total_kib, &total_kib) || total_kib <= 0)
		return;
	const char *asked = text_kib(c->arena, asked_kib), *has = text_kib(c->arena, total_kib);
	const struct cmdline_word *word = words.pools[words.pool_count - 1].word;

	if (asked_kib > total_kib)
		advise_at_word(c, advise_report(c, "Hugepages ask for %s, the host has %s", asked, has), word);
	else if (asked_kib / SHARE_TOO_MUCH_PERCENT * 100 > total_kib)
		advise_at_word(c,
			       advise_report_as(c, ADVISE_WARN, "Hugepages take %s of %s and leave little to the host",
						asked, has),
			       word);
}

static void check_node_memory(struct advise_check *c)
{
	const struct hugewords words = words_of(c);

	for (int i = 0; i < words.pool_count; i++)
		for (int n = 0; n < words.pools[i].node_count; n++) {
			const struct hugeword_pool *pool = &words.pools[i];
			const struct topology_node *node = topology_node_by_os(&c->host->topology, pool->os_nodes[n]);
			int64_t has_kib;

			advise_forget(c);
			if (!node || !pool->node_pages[n] || !advise_number(c, &node->memory_kib, &has_kib) ||
			    MIN_OF(pool->node_pages[n], INT64_C(1) << 40) * pool->size_kib <= has_kib)
				continue;
			advise_note_text(c, c->cmdline->path, "%s", pool->word->text);
			advise_at_word(c,
				       advise_report(c, "Node %d is asked for %" PRId64 " pages of %s and has %s",
						     pool->os_nodes[n], pool->node_pages[n],
						     text_kib(c->arena, pool->size_kib), text_kib(c->arena, has_kib)),
				       pool->word);
		}
}

static int nodes_with_memory(const struct host_topology *topology)
{
	int count = 0;

	for (int i = 0; i < topology->node_count; i++)
		count += !topology->nodes[i].memoryless;
	return topology->node_known ? count : 0;
}

static void check_spread(struct advise_check *c)
{
	const struct hugewords words = words_of(c);
	int nodes = nodes_with_memory(&c->host->topology);

	for (int i = 0; i < words.pool_count && nodes > 1; i++) {
		const struct hugeword_pool *pool = &words.pools[i];

		if (pool->per_node || !pool->pages)
			continue;
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", pool->word->text);
		advise_at_word(
		    c,
		    advise_report(c, "%" PRId64 " pages of %s are spread over %d nodes, about %" PRId64 " each",
				  pool->pages, text_kib(c->arena, pool->size_kib), nodes, pool->pages / nodes),
		    pool->word);
	}
}

static void check_per_node(struct advise_check *c)
{
	const struct hugewords words = words_of(c);

	for (int i = 0; i < words.pool_count; i++) {
		const struct hugeword_pool *pool = &words.pools[i];
		const char *split = "";

		if (!pool->per_node)
			continue;
		for (int n = 0; n < pool->node_count; n++)
			split = advise_printf(c, "%s%snode %d: %" PRId64, split, n ? ", " : "", pool->os_nodes[n],
					      pool->node_pages[n]);
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", pool->word->text);
		advise_at_word(c,
			       advise_report(c, "%s asks for pages of %s node by node (%s)", pool->word->text,
					     text_kib(c->arena, pool->size_kib), split),
			       pool->word);
	}
}

const struct advise_rule advise_cmdline_memory_rules[] = {
    {
	.id = "cmdline.hugepage-word-ignored",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "The kernel ignores a hugepage word or a part of it",
	.mechanism =
	    "hugepages= counts for the size word before it. A size can be chosen once: the first hugepagesz= of a size "
	    "and the first default_hugepagesz= stand, later ones are dropped with the hugepages= behind them.",
	.effect = "other pages are reserved than the line seems to say",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLBPAGE,
	.hurts = "nothing",
	.by_hand = "write one hugepagesz=SIZE hugepages=COUNT for each size, and default_hugepagesz= at most once",
	.check = check_ignored,
    },
    {
	.id = "cmdline.hugepages-exceed-memory",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "Hugepages ask for more memory than the host can give",
	.mechanism = "The kernel reserves what it can and says nothing more than the count in /sys. What is reserved "
		     "is gone for "
		     "all else.",
	.effect = "fewer pages than asked, and a host short of memory",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLBPAGE,
	.hurts = "VMs that count on these pages",
	.by_hand = "lower hugepages=, and leave the host some GiB",
	.check = check_exceeds_memory,
    },
    {
	.id = "cmdline.hugepages-exceed-node",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "A node is asked for more hugepages than it has memory",
	.mechanism = "hugepages=NODE:COUNT takes the pages from that node only.",
	.effect = "fewer pages than asked on that node",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLBPAGE,
	.hurts = "VMs that are bound to the node",
	.by_hand = "numactl -H shows the memory of each node",
	.check = check_node_memory,
    },
    {
	.id = "cmdline.hugepages-spread",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "Hugepages are spread over the nodes",
	.mechanism = "A plain count is divided among all nodes with memory. A VM that is bound to one node finds only "
		     "that node's "
		     "share; hugepages=0:8,1:8 asks node by node.",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLBPAGE,
	.check = check_spread,
    },
    {
	.id = "cmdline.hugepages-by-node",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "Hugepages are asked for node by node",
	.mechanism = "An uneven split is then what was asked for. Old kernels do not know this form and read the first "
		     "number as the count.",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLBPAGE,
	.check = check_per_node,
    },
    {.id = NULL},
};
