/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading hugepage words as mm/hugetlb.c does; the rules are in host_hugewords.h. */
#include "host_hugewords.h"

#include <ctype.h>
#include <errno.h>

#include "text.h"

enum { KIB_2M = 2048, KIB_1G = 1048576 };

/* The variables of mm/hugetlb.c, under its names where that helps. */
struct parser {
	struct hugewords *out;
	bool has_1g;
	const struct cpuset *nodes;
	bool size_seen[HUGEWORDS_POOLS_MAX]; /* an hstate was added: 2 MiB, 1 GiB */
	bool valid_size;		     /* parsed_valid_hugepagesz */
	bool default_seen;		     /* parsed_default_hugepagesz */
	int64_t parsed_kib;		     /* size of parsed_hstate, 0: no size word yet */
	int64_t last_kib;		     /* last_mhp: size last counted, -1: none, 0: the default of that time */
	struct hugeword_pool early;	     /* hugepages= before any size word */
	bool early_set;
};

static int size_index(int64_t kib)
{
	return kib == KIB_1G;
}

/* memparse() of Linux: any base, one suffix, what follows is not looked at. */
static int64_t parse_size_kib(const char *text)
{
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 0);
	const char *suffixes = "kmgt";
	const char *suffix = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
	int shift = suffix ? 10 * (int)(suffix - suffixes) : -10;

	if (errno || number > (1ULL << 40) || (shift > 0 && number > (1ULL << (62 - shift))))
		return -1;
	return shift < 0 ? (int64_t)(number >> 10) : (int64_t)(number << shift);
}

static bool size_exists(const struct parser *parser, int64_t kib)
{
	return kib == KIB_2M || (kib == KIB_1G && parser->has_1g);
}

static struct hugeword_pool *pool_of(struct hugewords *words, int64_t kib)
{
	for (int i = 0; i < words->pool_count; i++)
		if (words->pools[i].size_kib == kib)
			return &words->pools[i];
	return NULL;
}

const struct hugeword_pool *hugewords_pool(const struct hugewords *words, int64_t size_kib)
{
	return pool_of((struct hugewords *)words, size_kib);
}

/* One number of a count; false when there is none or it is beyond belief. */
static bool take_number(const char **at, int64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	unsigned long long number = strtoull(*at, &end, 10);

	if (errno || number > INT32_MAX)
		return false;
	*at = end;
	*ret = (int64_t)number;
	return true;
}

static bool add_node(const struct parser *parser, struct hugeword_pool *pool, int64_t node, int64_t pages)
{
	if (pool->node_count == HUGEWORDS_NODES_MAX || node >= CPUSET_MAX)
		return false;
	if (parser->nodes && !cpuset_has(parser->nodes, (int)node))
		return false;
	for (int i = 0; i < pool->node_count; i++)
		if (pool->os_nodes[i] == node) {
			pool->node_pages[i] = pages;
			pool->pages += pages; /* the kernel adds to the sum, too */
			return true;
		}
	pool->os_nodes[pool->node_count] = (int)node;
	pool->node_pages[pool->node_count++] = pages;
	pool->pages += pages;
	return true;
}

/* "16", or "0:8,1:8". */
static bool parse_count(const struct parser *parser, const char *text, struct hugeword_pool *pool)
{
	const char *at = text ? text : "";
	int64_t first;

	if (!take_number(&at, &first))
		return false;
	if (*at != ':') {
		pool->pages = first;
		return true;
	}
	pool->per_node = true;
	for (;;) {
		int64_t pages;

		at++;
		if (!take_number(&at, &pages) || !add_node(parser, pool, first, pages))
			return false;
		if (*at != ',')
			return true;
		at++;
		if (!take_number(&at, &first) || *at != ':')
			return false;
	}
}

static enum hugeword_verdict take_count(struct parser *parser, const struct cmdline_word *word, int64_t *ret_kib)
{
	struct hugeword_pool pool = {.size_kib = parser->parsed_kib, .word = word};
	bool early = parser->parsed_kib == 0;

	if (!parser->valid_size) {
		parser->valid_size = true;
		return HUGEWORD_NO_SIZE;
	}
	*ret_kib = early ? -1 : parser->parsed_kib;
	if (parser->last_kib == parser->parsed_kib)
		return HUGEWORD_COUNT_TWICE;
	if (!parse_count(parser, word->value, &pool))
		return HUGEWORD_COUNT_BAD;
	parser->last_kib = parser->parsed_kib;
	bool is_size = strpbrk(word->value, "kKmMgGtT") != NULL;

	if (early) {
		parser->early = pool;
		parser->early_set = true;
	} else if (!pool_of(parser->out, pool.size_kib) && parser->out->pool_count < HUGEWORDS_POOLS_MAX) {
		parser->out->pools[parser->out->pool_count++] = pool;
	}
	return is_size ? HUGEWORD_COUNT_IS_SIZE : HUGEWORD_TAKEN;
}

/* An early plain count becomes that of the default size. */
static void settle_early(struct parser *parser, int64_t kib)
{
	struct hugeword_pool *pool = pool_of(parser->out, kib);

	if (!parser->early_set)
		return;
	parser->early.size_kib = kib;
	if (pool)
		*pool = parser->early;
	else if (parser->out->pool_count < HUGEWORDS_POOLS_MAX)
		parser->out->pools[parser->out->pool_count++] = parser->early;
	parser->early_set = false;
}

static enum hugeword_verdict take_default(struct parser *parser, const struct cmdline_word *word, int64_t *ret_kib)
{
	int64_t kib = parse_size_kib(word->value);

	parser->valid_size = false;
	*ret_kib = kib;
	if (parser->default_seen)
		return HUGEWORD_DEFAULT_TWICE;
	if (!size_exists(parser, kib))
		return HUGEWORD_SIZE_UNKNOWN;
	/* The kernel moves parsed_hstate only when the size is new: hugepagesz=1G ... default_hugepagesz=1G does not.
	 */
	if (!parser->size_seen[size_index(kib)])
		parser->parsed_kib = kib;
	parser->size_seen[size_index(kib)] = true;
	parser->valid_size = parser->default_seen = true;
	parser->out->default_kib = kib;
	parser->out->default_word = word;
	settle_early(parser, kib);
	return HUGEWORD_TAKEN;
}

static enum hugeword_verdict take_size(struct parser *parser, const struct cmdline_word *word, int64_t *ret_kib)
{
	int64_t kib = parse_size_kib(word->value);

	parser->valid_size = false;
	*ret_kib = kib;
	if (!size_exists(parser, kib))
		return HUGEWORD_SIZE_UNKNOWN;
	bool is_default = parser->default_seen && parser->out->default_kib == kib;

	if (parser->size_seen[size_index(kib)] && (!is_default || pool_of(parser->out, kib)))
		return HUGEWORD_SIZE_TWICE;
	parser->size_seen[size_index(kib)] = true;
	parser->parsed_kib = kib;
	parser->valid_size = true;
	return HUGEWORD_TAKEN;
}

static const struct {
	const char *name;
	enum hugeword_verdict (*take)(struct parser *parser, const struct cmdline_word *word, int64_t *ret_kib);
} takers[] = {
    {"default_hugepagesz", take_default},
    {"hugepagesz", take_size},
    {"hugepages", take_count},
};

/* "4G", "0:1G,1:1G" and not "0". */
static bool cma_is_asked(const struct cmdline_word *word)
{
	return word && word->value && strpbrk(word->value, "123456789");
}

/* hugepages=N first and a pair for the default size after it: the pair's count was noted first, the early one stands.
 */
static void mark_overridden(struct hugeword *words, int count, const struct hugewords *out)
{
	for (int i = 0; i < count; i++) {
		const struct hugeword_pool *pool = hugewords_pool(out, words[i].size_kib);

		if (words[i].verdict == HUGEWORD_TAKEN && text_equal(words[i].word->name, "hugepages") && pool &&
		    pool->word != words[i].word)
			words[i].verdict = HUGEWORD_COUNT_OVERRIDE;
	}
}

/*
 * A size word again that no hugepages= follows: the kernel logs that it ignores it, and nothing is lost by that, for
 * the size was chosen before (hugepages=64 default_hugepagesz=1G hugepagesz=1G).
 */
static void mark_harmless(struct hugeword *words, int count, const struct hugewords *out)
{
	for (int i = 0; i < count; i++) {
		bool size = words[i].verdict == HUGEWORD_SIZE_TWICE;
		bool same_default = words[i].verdict == HUGEWORD_DEFAULT_TWICE && words[i].size_kib == out->default_kib;
		bool counts = i + 1 < count && text_equal(words[i + 1].word->name, "hugepages");

		if ((size || same_default) && !counts)
			words[i].verdict = HUGEWORD_TAKEN;
	}
}

void hugewords_parse(struct arena *arena, const struct host_cmdline *cmdline, bool has_1g, const struct cpuset *nodes,
		     struct hugewords *ret)
{
	struct parser parser = {.out = ret, .has_1g = has_1g, .nodes = nodes, .valid_size = true, .last_kib = -1};
	struct hugeword *words = ARENA_ARRAY(arena, cmdline->count, struct hugeword);
	int count = 0;

	*ret = (struct hugewords){.default_kib = KIB_2M};
	for (int i = 0; i < cmdline->count; i++) {
		const struct cmdline_word *word = &cmdline->words[i];

		for (size_t t = 0; t < ARRAY_SIZE(takers) && !word->for_init; t++) {
			if (!word->value || !text_equal(word->name, takers[t].name))
				continue;
			struct hugeword *entry = &words[count++];

			*entry = (struct hugeword){.word = word, .size_kib = -1};
			entry->verdict = takers[t].take(&parser, word, &entry->size_kib);
		}
	}
	settle_early(&parser, ret->default_kib);
	mark_overridden(words, count, ret);
	mark_harmless(words, count, ret);
	const struct cmdline_word *cma = cmdline_last(cmdline, "hugetlb_cma");

	ret->cma_word = cma_is_asked(cma) ? cma : NULL;
	ret->words = words;
	ret->word_count = count;
}

int64_t hugewords_on_node(const struct hugeword_pool *pool, int os_node)
{
	if (!pool->per_node)
		return -1;
	for (int i = 0; i < pool->node_count; i++)
		if (pool->os_nodes[i] == os_node)
			return pool->node_pages[i];
	return 0;
}

const char *hugeword_reason(enum hugeword_verdict verdict)
{
	static const char *const reasons[] = {
	    [HUGEWORD_SIZE_UNKNOWN] = "is ignored: the CPU has no pages of that size",
	    [HUGEWORD_SIZE_TWICE] = "is ignored: the size was chosen before, and the first one stands",
	    [HUGEWORD_DEFAULT_TWICE] = "is ignored: the default size was chosen before, and the first one stands",
	    [HUGEWORD_NO_SIZE] = "is ignored: the size word before it was",
	    [HUGEWORD_COUNT_TWICE] =
		"is ignored: the pages of that size were counted before, and the first count stands",
	    [HUGEWORD_COUNT_OVERRIDE] =
		"is ignored: a hugepages= before any size word has set the default size's count",
	    [HUGEWORD_COUNT_IS_SIZE] =
		"gives a size where a number of pages is meant: the kernel reads the digits and drops the letter",
	    [HUGEWORD_COUNT_BAD] = "is ignored: not a number of pages, or a node that is not there",
	};

	return (size_t)verdict < ARRAY_SIZE(reasons) ? reasons[verdict] : NULL;
}
