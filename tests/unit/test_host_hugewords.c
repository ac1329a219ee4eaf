/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of host_hugewords: the order and the verdicts of mm/hugetlb.c. The lines with two answers are the examples of
 * Documentation/admin-guide/mm/hugetlbpage.rst and what users posted.
 */
#include "unit.h"
#include "host_hugewords.h"
#include "text.h"

enum { KIB_2M = 2048, KIB_1G = 1048576 };

static const struct {
	const char *line;
	int64_t pages_2m, pages_1g; /* -1: no count stands */
	int64_t default_kib;
	const char *verdicts; /* a letter a word: t taken, z size twice, d default twice, n no size, c count twice,
			       * o overridden, b bad count, u unknown size */
} lines[] = {
    {"quiet", -1, -1, KIB_2M, ""},
    {"hugepages=512", 512, -1, KIB_2M, "t"},
    {"hugepagesz=1G hugepages=16", -1, 16, KIB_2M, "tt"},
    {"default_hugepagesz=1G hugepagesz=1G hugepages=16", -1, 16, KIB_1G, "ttt"},
    {"default_hugepagesz=1G hugepages=16", -1, 16, KIB_1G, "tt"},
    {"hugepagesz=2M hugepages=512 hugepagesz=1G hugepages=4", 512, 4, KIB_2M, "tttt"},
    /* The guide: 256 pages, the 512 are ignored. */
    {"hugepages=256 hugepagesz=2M hugepages=512", 256, -1, KIB_2M, "tto"},
    {"hugepages=16 default_hugepagesz=1G", -1, 16, KIB_1G, "tt"},
    /* The first default size stands, and the count behind the second one has no size. */
    {"default_hugepagesz=2M hugepages=100 hugepagesz=1G hugepages=4 default_hugepagesz=1G hugepages=8", 100, 4, KIB_2M,
     "ttttdn"},
    {"hugepagesz=2M hugepages=2 hugepages=5", 2, -1, KIB_2M, "ttc"},
    {"hugepagesz=2M hugepages=2 hugepagesz=2M hugepages=5", 2, -1, KIB_2M, "ttzn"},
    {"hugepagesz=1G hugepages=1 hugepagesz=2M hugepages=3 default_hugepagesz=1G hugepages=9", 3, 1, KIB_1G, "tttttc"},
    {"hugepagesz=4M hugepages=7", -1, -1, KIB_2M, "un"},
    {"hugepagesz=1048576k hugepages=3", -1, 3, KIB_2M, "tt"},
    {"hugepagesz=0x40000000 hugepages=3", -1, 3, KIB_2M, "tt"},
    {"hugepages=many", -1, -1, KIB_2M, "b"},
    {"hugepages=", -1, -1, KIB_2M, "b"},
    {"hugepages=-5", -1, -1, KIB_2M, "b"},
    {"hugepages=99999999999999999999", -1, -1, KIB_2M, "b"},
    {"hugepagesz=99999999999999999999G hugepages=1", -1, -1, KIB_2M, "un"},
    {"hugepagesz= hugepages=1", -1, -1, KIB_2M, "un"},
    {"hugepagesz hugepages", -1, -1, KIB_2M, ""},
    {"hugepages=0", 0, -1, KIB_2M, "t"},
    {"quiet -- hugepages=512", -1, -1, KIB_2M, ""},
};

static int64_t pages_of(const struct hugewords *words, int64_t kib)
{
	const struct hugeword_pool *pool = hugewords_pool(words, kib);

	return pool ? pool->pages : -1;
}

static const char *verdicts_of(struct arena *arena, const struct hugewords *words)
{
	static const char letters[] = {
	    [HUGEWORD_TAKEN] = 't',	     [HUGEWORD_SIZE_UNKNOWN] = 'u', [HUGEWORD_SIZE_TWICE] = 'z',
	    [HUGEWORD_DEFAULT_TWICE] = 'd',  [HUGEWORD_NO_SIZE] = 'n',	    [HUGEWORD_COUNT_TWICE] = 'c',
	    [HUGEWORD_COUNT_OVERRIDE] = 'o', [HUGEWORD_COUNT_BAD] = 'b',
	};
	const char *text = "";

	for (int i = 0; i < words->word_count; i++) {
		enum hugeword_verdict verdict = words->words[i].verdict;

		/* Every refusal has its reason, and only refusals. */
		assert_true((hugeword_reason(verdict) == NULL) == (verdict == HUGEWORD_TAKEN));
		text = arena_printf(arena, "%s%c", text, letters[verdict]);
	}
	return text;
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct host_cmdline cmdline = {.count = 0};
		struct hugewords words;

		cmdline_parse(arena, lines[i].line, &cmdline);
		hugewords_parse(arena, &cmdline, true, NULL, &words);
		if (pages_of(&words, KIB_2M) != lines[i].pages_2m || pages_of(&words, KIB_1G) != lines[i].pages_1g ||
		    words.default_kib != lines[i].default_kib ||
		    !text_equal(verdicts_of(arena, &words), lines[i].verdicts))
			fail_msg("\"%s\": %ld of 2M, %ld of 1G, default %ld, verdicts %s", lines[i].line,
				 (long)pages_of(&words, KIB_2M), (long)pages_of(&words, KIB_1G),
				 (long)words.default_kib, verdicts_of(arena, &words));
	}
}

static void parse(struct arena *arena, const char *line, bool has_1g, const struct cpuset *nodes, struct hugewords *ret)
{
	struct host_cmdline cmdline = {.count = 0};

	cmdline_parse(arena, line, &cmdline);
	hugewords_parse(arena, &cmdline, has_1g, nodes, ret);
}

static void test_node_form(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct cpuset nodes = cpuset_range(0, 1);
	struct hugewords words;

	(void)state;
	parse(arena, "hugepagesz=1G hugepages=0:16,1:0", true, &nodes, &words);
	const struct hugeword_pool *pool = hugewords_pool(&words, KIB_1G);

	assert_non_null(pool);
	assert_true(pool->per_node);
	assert_int_equal(pool->pages, 16);
	assert_int_equal(hugewords_on_node(pool, 0), 16);
	assert_int_equal(hugewords_on_node(pool, 1), 0);
	assert_int_equal(hugewords_on_node(pool, 7), 0);

	parse(arena, "hugepagesz=1G hugepages=0:16,2:4", true, &nodes, &words);
	assert_null(hugewords_pool(&words, KIB_1G));
	assert_int_equal(words.words[1].verdict, HUGEWORD_COUNT_BAD);
	parse(arena, "hugepages=0:16,2:4", true, NULL, &words); /* nodes not known: taken as written */
	assert_int_equal(hugewords_pool(&words, KIB_2M)->pages, 20);
	parse(arena, "hugepages=8", true, &nodes, &words);
	assert_int_equal(hugewords_on_node(hugewords_pool(&words, KIB_2M), 0), -1);
	static const char *const bad[] = {"hugepages=0:", "hugepages=0:1,", "hugepages=0:1,2", "hugepages=:4",
					  "hugepages=0:1,1:"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		parse(arena, bad[i], true, NULL, &words);
		if (words.words[0].verdict != HUGEWORD_COUNT_BAD || words.pool_count)
			fail_msg("%s was taken", bad[i]);
	}
}

/* More nodes than there is room for end in a verdict, not beyond the array. */
static void test_many_nodes(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *line = "hugepages=0:1";
	struct hugewords words;

	(void)state;
	for (int node = 1; node < HUGEWORDS_NODES_MAX; node++)
		line = arena_printf(arena, "%s,%d:1", line, node);
	parse(arena, line, true, NULL, &words);
	assert_int_equal(hugewords_pool(&words, KIB_2M)->pages, HUGEWORDS_NODES_MAX);
	parse(arena, arena_printf(arena, "%s,%d:1", line, HUGEWORDS_NODES_MAX), true, NULL, &words);
	assert_int_equal(words.words[0].verdict, HUGEWORD_COUNT_BAD);
}

static void test_cpu_without_1g(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct hugewords words;

	(void)state;
	parse(arena, "default_hugepagesz=1G hugepages=4", false, NULL, &words);
	assert_int_equal(words.pool_count, 0);
	assert_int_equal(words.default_kib, KIB_2M);
	assert_null(words.default_word);
	assert_int_equal(words.words[0].verdict, HUGEWORD_SIZE_UNKNOWN);
	assert_int_equal(words.words[1].verdict, HUGEWORD_NO_SIZE);
}

static void test_cma(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct hugewords words;

	(void)state;
	parse(arena, "hugetlb_cma=4G", true, NULL, &words);
	assert_non_null(words.cma_word);
	parse(arena, "hugetlb_cma=0", true, NULL, &words);
	assert_null(words.cma_word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),	   cmocka_unit_test(test_node_form), cmocka_unit_test(test_many_nodes),
	    cmocka_unit_test(test_cpu_without_1g), cmocka_unit_test(test_cma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
