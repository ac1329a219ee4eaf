/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of cutting command lines as the kernel does, and of the files that hold them. */
#include <errno.h>

#include "unit.h"

#include "host_cmdline_file.h"
#include "text.h"

struct word_case {
	const char *line;
	const char *name, *value; /* of the first word; value NULL: none */
	unsigned column;
	int count;
};

/* What next_arg() of lib/cmdline.c in Linux makes of these. */
static const struct word_case word_cases[] = {
    {"ro quiet", "ro", NULL, 1, 2},
    {"  a=b\tc", "a", "b", 3, 2},
    {"a=", "a", "", 1, 1},
    {"a=b=c", "a", "b=c", 1, 1},
    {"a=\"b c\" d", "a", "b c", 1, 2},
    {"\"a=b c\" d", "a", "b c", 1, 2},
    {"\"a b\" c", "a b", NULL, 1, 2},
    {"a=\"b c", "a", "b c", 1, 1},
    {"skew_tick=1\"=1\"=1 ro", "skew_tick", "1\"=1\"=1", 1, 2},
    {"a=b\"c d\"e f", "a", "b\"c d\"e", 1, 2},
    {"=a", "=a", NULL, 1, 1},
    {"=a=b", "=a", "b", 1, 1},
    {"\"", "", NULL, 1, 1},
    {"a=\"", "a", "", 1, 1},
    {"a\xa0"
     "b",
     "a", NULL, 1, 2},
};

static void test_words(void **state)
{
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(word_cases); i++) {
		const struct word_case *expected = &word_cases[i];
		struct host_cmdline cmdline = {0};

		cmdline_parse(arena, expected->line, &cmdline);
		if (cmdline.count != expected->count)
			fail_msg("%s: %d words, not %d", expected->line, cmdline.count, expected->count);
		assert_string_equal(cmdline.words[0].name, expected->name);
		assert_int_equal(cmdline.words[0].column, expected->column);
		if (!expected->value)
			assert_null(cmdline.words[0].value);
		else
			assert_string_equal(cmdline.words[0].value, expected->value);
	}
	(void)arena_free(arena);
}

static void test_none(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline = {0};

	(void)state;
	cmdline_parse(arena, "", &cmdline);
	assert_int_equal(cmdline.count, 0);
	cmdline_parse(arena, " \t\n", &cmdline);
	assert_int_equal(cmdline.count, 0);
	(void)arena_free(arena);
}

static void test_lookup(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline = {0};

	(void)state;
	cmdline_parse(arena, "kvm-amd.npt=0 a=1 kvm_amd.npt=1 -- a=2", &cmdline);
	assert_int_equal(cmdline_count(&cmdline, "kvm_amd.npt"), 2);
	assert_string_equal(cmdline_first(&cmdline, "kvm_amd.npt")->value, "0");
	assert_string_equal(cmdline_last(&cmdline, "kvm-amd.npt")->value, "1");
	assert_string_equal(cmdline_last(&cmdline, "a")->value, "1"); /* what is behind -- is for init */
	assert_null(cmdline_last(&cmdline, "b"));
	(void)arena_free(arena);
}

/* The word with this text; fails the test when it is not there. */
static const struct cmdline_word *word_of(const struct host_cmdline *cmdline, const char *text)
{
	for (int i = 0; i < cmdline->count; i++)
		if (text_equal(cmdline->words[i].text, text))
			return &cmdline->words[i];
	fail_msg("the word %s is not there", text);
	return NULL;
}

static void expect_at(const struct host_cmdline *cmdline, const char *text, unsigned line, unsigned column)
{
	const struct cmdline_word *word = word_of(cmdline, text);

	if (word->line != line || word->column != column)
		fail_msg("%s stands at %u:%u, not at %u:%u", text, word->line, word->column, line, column);
}

static void test_plain(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;
	struct err err = {0};

	(void)state;
	assert_int_equal(cmdline_read_plain(arena, "f", "# comment quiet\nro  a=1\n\n  b=\"x y\"\n", &cmdline, &err),
			 0);
	assert_int_equal(cmdline.count, 3);
	expect_at(&cmdline, "ro", 2, 1);
	expect_at(&cmdline, "a=1", 2, 5);
	assert_int_equal(cmdline.words[2].line, 4);
	assert_string_equal(cmdline.words[2].value, "x y");
	assert_int_equal(cmdline_read_plain(arena, "f", "# only a comment\n", &cmdline, &err), -EINVAL);
	(void)arena_free(arena);
}

static void test_entry(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;

	(void)state;
	assert_int_equal(
	    cmdline_read_entry(arena, "f",
			       "title Fedora\nlinux /vmlinuz\noptions root=UUID=1 ro\noptions\tquiet $more\n"
			       "optionsx no\n",
			       &cmdline, NULL),
	    0);
	assert_int_equal(cmdline.count, 4);
	expect_at(&cmdline, "root=UUID=1", 3, 9);
	expect_at(&cmdline, "quiet", 4, 9);
	(void)arena_free(arena);
}

static void test_modprobe(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;

	(void)state;
	assert_int_equal(cmdline_read_modprobe(arena, "f", "# x\noptions kvm_amd npt=1  nested=0\nblacklist nouveau\n",
					       &cmdline, NULL),
			 0);
	assert_int_equal(cmdline.count, 2);
	expect_at(&cmdline, "kvm_amd.npt=1", 2, 17);
	expect_at(&cmdline, "kvm_amd.nested=0", 2, 24);
	assert_int_equal(cmdline_read_modprobe(arena, "f", "options kvm_amd\n", &cmdline, NULL), -EINVAL);
	(void)arena_free(arena);
}

static void test_grub(void **state)
{
	static const char text[] = "# defaults\n"
				   "GRUB_TIMEOUT=5\n"
				   "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet amd_iommu=on\" # comment\n"
				   "export GRUB_CMDLINE_LINUX='iommu=pt'\n"
				   "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT idle=poll\"\n"
				   "GRUB_CMDLINE_LINUX+=\" dyndbg=\\\"file x +p\\\"\"\n"
				   "GRUB_CMDLINE_LINUX_DEFAULT+=' uuid='\"$(blkid -o value)\"' \\\n'\n"
				   "if true; then\n  foo=bar\nfi\n";
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;
	struct err err = {0};
	int r = cmdline_read_grub(arena, "grub", text, &cmdline, &err);

	(void)state;
	assert_string_equal(err.what, "");
	assert_int_equal(r, 0);
	expect_at(&cmdline, "iommu=pt", 4, 28);
	expect_at(&cmdline, "quiet", 3, 29);
	expect_at(&cmdline, "amd_iommu=on", 3, 35);
	expect_at(&cmdline, "idle=poll", 5, 57);
	assert_string_equal(cmdline_last(&cmdline, "dyndbg")->value, "file x +p");
	assert_int_equal(cmdline_last(&cmdline, "dyndbg")->line, 6);
	/* GRUB puts GRUB_CMDLINE_LINUX first, whatever the order in the file. */
	assert_string_equal(cmdline.words[0].text, "iommu=pt");
	(void)arena_free(arena);
}

static void test_grub_snippet(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;

	(void)state;
	/* The variable is set in another file: what stands there is not known and not a word of this one. */
	assert_int_equal(cmdline_read_grub(
			     arena, "g", "GRUB_CMDLINE_LINUX_DEFAULT=\"${GRUB_CMDLINE_LINUX_DEFAULT} nosmt \\\n ro\"\n",
			     &cmdline, NULL),
			 0);
	assert_int_equal(cmdline.count, 2);
	expect_at(&cmdline, "nosmt", 1, 59);
	expect_at(&cmdline, "ro", 2, 2);
	(void)arena_free(arena);
}

static void test_grub_faults(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;
	struct err err = {0};

	(void)state;
	assert_int_equal(cmdline_read_grub(arena, "g", "a=1\nGRUB_CMDLINE_LINUX=\"ro\nquiet\n", &cmdline, &err),
			 -EINVAL);
	assert_int_equal(err.line, 2);
	assert_int_equal(err.column, 20);
	assert_int_equal(cmdline_read_grub(arena, "g", "GRUB_TIMEOUT=5\n", &cmdline, &err), -EINVAL);
	(void)arena_free(arena);
}

static void expect_fault(const char *text, int count, const char *says, unsigned line, unsigned column)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;

	assert_int_equal(cmdline_read_grub(arena, "g", text, &cmdline, NULL), 0);
	assert_int_equal(cmdline.fault_count, count);
	if (count) {
		assert_non_null(strstr(cmdline.faults[0].what, says));
		assert_int_equal(cmdline.faults[0].line, line);
		assert_int_equal(cmdline.faults[0].column, column);
	}
	(void)arena_free(arena);
}

/* What the shell makes of a value is not always what its writer meant. */
static void test_grub_cut_by_shell(void **state)
{
	(void)state;
	expect_fault("a=1\nGRUB_CMDLINE_LINUX=quiet iommu=pt\n", 1, "\"iommu=pt\" does not belong", 2, 25);
	expect_fault("GRUB_CMDLINE_LINUX = \"quiet\"\n", 1, "before \"=\"", 1, 1);
	expect_fault("GRUB_CMDLINE_LINUX= \"quiet\"\n", 1, "does not belong", 1, 20);
	expect_fault("GRUB_CMDLINE_LINUX=\xe2\x80\x9cquiet iommu=pt\xe2\x80\x9d\n", 1, "does not belong", 1, 28);
	expect_fault("GRUB_CMDLINE_LINUX=\"ro\" # remark\nGRUB_CMDLINE_LINUX_DEFAULT=quiet\t\r\n", 0, "", 0, 0);
	expect_fault("GRUB_CMDLINE_LINUX=\"ro\" GRUB_TIMEOUT=5; echo x\nMINE = 3\n", 0, "", 0, 0);
}

/* A variable that doubles itself must not take all memory. */
static void test_grub_bomb(void **state)
{
	struct arena *arena = arena_new();
	struct host_cmdline cmdline;
	const char *text = "GRUB_CMDLINE_LINUX=\"ro quiet\"\n";

	(void)state;
	for (int i = 0; i < 64; i++)
		text = arena_printf(arena, "%sGRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX\"\n", text);
	assert_int_equal(cmdline_read_grub(arena, "g", text, &cmdline, NULL), -E2BIG);
	assert_true(arena_used(arena) < (size_t)256 * 1024 * 1024);
	(void)arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),	cmocka_unit_test(test_none),
	    cmocka_unit_test(test_lookup),	cmocka_unit_test(test_plain),
	    cmocka_unit_test(test_entry),	cmocka_unit_test(test_modprobe),
	    cmocka_unit_test(test_grub),	cmocka_unit_test(test_grub_snippet),
	    cmocka_unit_test(test_grub_faults), cmocka_unit_test(test_grub_cut_by_shell),
	    cmocka_unit_test(test_grub_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
