/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of editing the kernel's line in the forms in which it stands in files; each case is one file's text. */
#include <errno.h>

#include "unit.h"

#include "knob_boot_internal.h"
#include "text.h"

enum form { DEFAULTS, PLAIN, FIRST, ENTRY, RHEL };

#define SET(n, v)                                                                                                      \
	{                                                                                                              \
		.name = (n), .value = (v)                                                                              \
	}
#define BARE(n)                                                                                                        \
	{                                                                                                              \
		.name = (n)                                                                                            \
	}
#define REMOVE(n)                                                                                                      \
	{                                                                                                              \
		.name = (n), .op = KNOB_BOOT_REMOVE                                                                    \
	}
#define OP(o, n, v)                                                                                                    \
	{                                                                                                              \
		.name = (n), .value = (v), .op = KNOB_BOOT_##o                                                         \
	}

enum { CHANGES = 4 };

struct edit_case {
	enum form form;
	const char *before;
	struct knob_boot_change changes[CHANGES]; /* up to one without a name */
	const char *after;			  /* the text; or "!", the line of the refusal, and part of its words */
};

static struct boot_where where_of(enum form form)
{
	return (struct boot_where){.read = form == DEFAULTS || form == RHEL ? boot_read_shell
					   : form == ENTRY		    ? boot_read_entry
									    : boot_read_plain,
				   .file_count = 1,
				   .env = BOOT_NO_FILE,
				   .first_only = form == FIRST || form == ENTRY,
				   .anchor_name = form == RHEL ? "GRUB_CMDLINE_LINUX" : "GRUB_CMDLINE_LINUX_DEFAULT"};
}

static int edit(struct arena *arena, enum form form, const char *before, const struct knob_boot_change *changes,
		const char **ret, struct err *err)
{
	struct boot_table *table = boot_table_new(NULL, arena);
	struct boot_where where = where_of(form);
	size_t count = 0;

	table->files[0] = (struct boot_file){.path = "file", .text = before, .size = strlen(before), .exists = true};
	table->before[0] = table->files[0];
	table->count = 1;
	while (count < CHANGES && changes[count].name)
		count++;
	for (size_t i = 0; i < count; i++) {
		int r = knob_boot_change_check(&changes[i], err);

		if (r < 0)
			return r;
	}
	int r = boot_edit(table, &where, changes, count, err);

	*ret = arena_strndup(arena, table->files[0].text, table->files[0].size);
	return r;
}

static void run_case(const struct edit_case *one)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct err err = {0};
	const char *after = NULL, *again = NULL;
	int r = edit(arena, one->form, one->before, one->changes, &after, &err);

	if (*one->after == '!') {
		if (r == 0)
			fail_msg("not refused: %s -> %s", one->before, after);
		if (strtoul(one->after + 1, NULL, 10) != err.line || !strstr(err.what, strchr(one->after, ' ') + 1))
			fail_msg("%s: line %u, \"%s\"; expected %s", one->before, err.line, err.what, one->after + 1);
		return;
	}
	if (r < 0)
		fail_msg("refused: %s: line %u: %s", one->before, err.line, err.what);
	assert_string_equal(after, one->after);
	/* What is set is not set again: nothing ever grows. */
	assert_int_equal(edit(arena, one->form, after, one->changes, &again, &err), 0);
	assert_string_equal(again, after);
}

static void run_cases(const struct edit_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		run_case(&cases[i]);
}

/* ---- plain lines and loader entries ---- */

static void test_plain(void **state)
{
	static const struct edit_case cases[] = {
	    {PLAIN,
	     "root=/dev/sda1 ro quiet\n",
	     {SET("amd_pstate", "active")},
	     "root=/dev/sda1 ro quiet amd_pstate=active\n"},
	    {PLAIN, "ro quiet", {SET("iommu", "pt")}, "ro quiet iommu=pt"},
	    {PLAIN, "ro  quiet \n", {SET("iommu", "pt")}, "ro  quiet iommu=pt \n"},
	    {PLAIN, "", {BARE("nosmt")}, "nosmt\n"},
	    {PLAIN, "a b\n", {BARE("b")}, "a b\n"},
	    {PLAIN, "a b c\n", {REMOVE("b")}, "a c\n"},
	    {PLAIN, "a b c\n", {REMOVE("c")}, "a b\n"},
	    {PLAIN, "a b c\n", {REMOVE("b"), REMOVE("c")}, "a\n"},
	    {PLAIN, "a\tb  c\n", {REMOVE("b")}, "a\tc\n"},
	    {PLAIN, "a\n", {REMOVE("a")}, "\n"},
	    {PLAIN, "a b c\n", {REMOVE("z")}, "a b c\n"},
	    {PLAIN, "a b c\n", {REMOVE("b"), SET("d", "1")}, "a c d=1\n"},
	    {PLAIN, "a b c\n", {REMOVE("c"), SET("d", "1")}, "a b d=1\n"},
	    /* The last word counts, and earlier ones go. */
	    {PLAIN, "iommu=off ro iommu=on\n", {SET("iommu", "pt")}, "ro iommu=pt\n"},
	    {PLAIN, "iommu=off ro iommu=pt\n", {SET("iommu", "pt")}, "ro iommu=pt\n"},
	    {PLAIN, "iommu=pt ro iommu=pt\n", {SET("iommu", "pt")}, "iommu=pt ro iommu=pt\n"},
	    /* '-' and '_' are one to the kernel. */
	    {PLAIN,
	     "transparent-hugepage=always\n",
	     {SET("transparent_hugepage", "never")},
	     "transparent-hugepage=never\n"},
	    {PLAIN, "nosmt=force\n", {BARE("nosmt")}, "nosmt\n"},
	    /* Quotes are taken off by the kernel, and put on where GRUB or a shell would cut. */
	    {PLAIN, "mitigations=\"auto\" ro\n", {SET("mitigations", "auto")}, "mitigations=\"auto\" ro\n"},
	    {PLAIN, "ro\n", {SET("mitigations", "auto;no_user_kernel")}, "ro mitigations=\"auto;no_user_kernel\"\n"},
	    {PLAIN, "dyndbg=\"file a.c +p\" ro\n", {SET("dyndbg", "x y")}, "dyndbg=\"x y\" ro\n"},
	    {PLAIN, "\"a b=c\" ro\n", {SET("d", "e")}, "\"a b=c\" ro d=e\n"},
	    /* What follows "--" is init's. */
	    {PLAIN, "ro -- iommu=off\n", {SET("iommu", "pt")}, "ro iommu=pt -- iommu=off\n"},
	    {PLAIN, "ro iommu=on -- 3\n", {REMOVE("iommu"), SET("a", "b")}, "ro a=b -- 3\n"},
	    /* Comments, several lines, line ends. */
	    {PLAIN, "# mine\nro\nquiet\n", {SET("a", "b")}, "# mine\nro\nquiet a=b\n"},
	    {PLAIN, "# a=b\nro\n", {SET("a", "b")}, "# a=b\nro a=b\n"},
	    {PLAIN, "ro quiet\r\n", {SET("a", "b")}, "ro quiet a=b\r\n"},
	    {FIRST,
	     "root=ZFS=rpool boot=zfs\nold line a=c\n",
	     {SET("a", "b")},
	     "root=ZFS=rpool boot=zfs a=b\nold line a=c\n"},
	    /* Words that may stand several times are not replaced. */
	    {PLAIN,
	     "console=tty0 ro\n",
	     {SET("console", "ttyS0,115200n8")},
	     "console=tty0 ro console=ttyS0,115200n8\n"},
	    {PLAIN, "console=tty0 console=ttyS0\n", {SET("console", "tty0")}, "console=tty0 console=ttyS0\n"},
	    {PLAIN, "console=tty0 console=ttyS0\n", {OP(REMOVE, "console", "tty0")}, "console=ttyS0\n"},
	    {PLAIN, "console=tty0\n", {REMOVE("console")}, "!0 which value"},
	    {ENTRY,
	     "title X\nlinux /v\noptions root=/dev/a ro\ninitrd /i\n",
	     {SET("a", "b")},
	     "title X\nlinux /v\noptions root=/dev/a ro a=b\ninitrd /i\n"},
	    {ENTRY,
	     "options\troot=/dev/a $kernelopts $tuned_params",
	     {SET("a", "b")},
	     "options\troot=/dev/a $kernelopts $tuned_params a=b"},
	    {ENTRY, "title X\nlinux /v\n", {SET("a", "b")}, "!0 no \"options\" line"},
	    /* GRUB takes the first of several lines. */
	    {ENTRY, "options a\noptions b\n", {SET("c", "d")}, "options a c=d\noptions b\n"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

/* ---- GRUB's defaults ---- */

#define D "GRUB_CMDLINE_LINUX_DEFAULT"

static void test_defaults(void **state)
{
	static const struct edit_case cases[] = {
	    {DEFAULTS, D "=\"quiet\"\n", {SET("a", "b")}, D "=\"quiet a=b\"\n"},
	    {DEFAULTS, D "='quiet'\n", {SET("a", "b")}, D "='quiet a=b'\n"},
	    {DEFAULTS, D "=quiet\n", {SET("a", "b")}, D "=\"quiet a=b\"\n"},
	    {DEFAULTS, D "=\"\"\n", {SET("a", "b")}, D "=\"a=b\"\n"},
	    {DEFAULTS, D "=\n", {SET("a", "b")}, D "=\"a=b\"\n"},
	    {DEFAULTS, D "=\"quiet\"", {SET("a", "b")}, D "=\"quiet a=b\""},
	    {DEFAULTS, D "=\"quiet\"\r\n", {SET("a", "b")}, D "=\"quiet a=b\"\r\n"},
	    {DEFAULTS, "  export " D "=\"quiet\" # words\n", {SET("a", "b")}, "  export " D "=\"quiet a=b\" # words\n"},
	    {DEFAULTS, "# " D "=\"a=b\"\n" D "=\"quiet\"\n", {SET("a", "b")}, "# " D "=\"a=b\"\n" D "=\"quiet a=b\"\n"},
	    {DEFAULTS, "GRUB_DEFAULT=0\n", {SET("a", "b")}, "GRUB_DEFAULT=0\n" D "=\"a=b\"\n"},
	    {DEFAULTS, "GRUB_DEFAULT=0", {SET("a", "b")}, "GRUB_DEFAULT=0\n" D "=\"a=b\"\n"},
	    {RHEL, "GRUB_CMDLINE_LINUX=\"ro\"\n", {SET("a", "b")}, "GRUB_CMDLINE_LINUX=\"ro a=b\"\n"},
	    /* A word is changed where it stands. */
	    {DEFAULTS,
	     "GRUB_CMDLINE_LINUX=\"a=x\"\n" D "=\"quiet\"\n",
	     {SET("a", "b")},
	     "GRUB_CMDLINE_LINUX=\"a=b\"\n" D "=\"quiet\"\n"},
	    {DEFAULTS,
	     "GRUB_CMDLINE_LINUX=\"a=x\"\n" D "=\"quiet a=y\"\n",
	     {SET("a", "b")},
	     "GRUB_CMDLINE_LINUX=\"\"\n" D "=\"quiet a=b\"\n"},
	    /* Appending assignments. */
	    {DEFAULTS, D "=\"quiet\"\n" D "+=\" x\"\n", {SET("a", "b")}, D "=\"quiet\"\n" D "+=\" x a=b\"\n"},
	    {DEFAULTS, D "=\"quiet\"\n" D "=\"$" D " x\"\n", {SET("x", "b")}, D "=\"quiet\"\n" D "=\"$" D " x=b\"\n"},
	    {DEFAULTS, D "=\"quiet\"\n" D "=\"${" D "} x\"\n", {REMOVE("quiet")}, D "=\"\"\n" D "=\"${" D "} x\"\n"},
	    {DEFAULTS, D "=\"quiet\"\n" D "=\"$" D "\"\n", {SET("a", "b")}, D "=\"quiet\"\n" D "=\"$" D " a=b\"\n"},
	    {DEFAULTS, "A=x\n" D "=\"$A\"\n", {SET("a", "b")}, "A=x\n" D "=\"$A a=b\"\n"},
	    {DEFAULTS,
	     "A=\"iommu=off\"\n" D "=\"quiet $A\"\n",
	     {SET("iommu", "pt")},
	     "A=\"iommu=pt\"\n" D "=\"quiet $A\"\n"},
	    /* tuned's own line. */
	    {DEFAULTS,
	     D "=\"quiet\"\n" D "=\"${" D ":+$" D " }\\$tuned_params\"\n",
	     {SET("quiet", NULL), SET("a", "b")},
	     D "=\"quiet\"\n" D "=\"${" D ":+$" D " }\\$tuned_params a=b\"\n"},
	    /* Escapes and continued lines. */
	    {DEFAULTS,
	     D "=\"dyndbg=\\\"file a +p\\\" ro\"\n",
	     {SET("dyndbg", "x y")},
	     D "=\"dyndbg=\\\"x y\\\" ro\"\n"},
	    {DEFAULTS, D "=\"ro \\\n  quiet\"\n", {SET("quiet", NULL), REMOVE("ro")}, D "=\"\\\n  quiet\"\n"},
	    {DEFAULTS, D "='dyndbg=\"file a +p\" ro'\n", {SET("dyndbg", "x y")}, D "='dyndbg=\"x y\" ro'\n"},
	    {DEFAULTS, D "=quiet\\ splash\n", {REMOVE("splash"), SET("quiet", NULL)}, D "=quiet\n"},
	    /* What has to be run is left as it is, beside other words. */
	    {DEFAULTS,
	     "GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`\n" D "=\"quiet\"\n",
	     {SET("a", "b")},
	     "GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`\n" D "=\"quiet a=b\"\n"},
	    {DEFAULTS,
	     "GRUB_DISTRIBUTOR=\"$(sed 's, release .*$,,g' /etc/system-release)\"\n" D "=\"x\"\n",
	     {SET("a", "b")},
	     "GRUB_DISTRIBUTOR=\"$(sed 's, release .*$,,g' /etc/system-release)\"\n" D "=\"x a=b\"\n"},
	    {DEFAULTS, D "=\"root=$(blkid x) quiet\"\n", {SET("a", "b")}, D "=\"root=$(blkid x) quiet a=b\"\n"},
	    {DEFAULTS,
	     "if [ -f /x ]; then\n  GRUB_TIMEOUT=3\nfi\n" D "=\"x\"\n",
	     {SET("a", "b")},
	     "if [ -f /x ]; then\n  GRUB_TIMEOUT=3\nfi\n" D "=\"x a=b\"\n"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void test_refusals(void **state)
{
	static const struct edit_case cases[] = {
	    {DEFAULTS, "x=1\n" D "=quiet splash\n", {SET("a", "b")}, "!2 ends at its first space"},
	    {DEFAULTS, D " = \"quiet\"\n", {SET("a", "b")}, "!1 not set in a plain assignment"},
	    {DEFAULTS, "\nif true; then\n" D "=\"quiet\"\nfi\n", {SET("a", "b")}, "!3 for the shell to decide"},
	    {DEFAULTS, "[ -n \"$x\" ] && " D "=\"quiet\"\n", {SET("a", "b")}, "!1 for the shell to decide"},
	    {DEFAULTS, "case x in\nx) " D "=\"quiet\";;\nesac\n", {SET("a", "b")}, "!2 not set in a plain"},
	    {DEFAULTS, "f() {\n" D "=\"quiet\"\n}\n", {SET("a", "b")}, "!2 for the shell to decide"},
	    {DEFAULTS, ". /etc/default/other\n", {SET("a", "b")}, "!1 read in here"},
	    {DEFAULTS, "eval \"x\"\n", {SET("a", "b")}, "!1 read in here"},
	    {DEFAULTS, "cat <<EOF\n", {SET("a", "b")}, "!1 is not followed"},
	    {DEFAULTS, "x=1\n" D "=\"quiet\n", {SET("a", "b")}, "!2 is not closed"},
	    {DEFAULTS, D "='quiet\n", {SET("a", "b")}, "!1 is not closed"},
	    {DEFAULTS, "unset " D "\n", {SET("a", "b")}, "!1 taken back"},
	    {DEFAULTS, D "=\"iommu=$(x)\"\n", {SET("iommu", "pt")}, "!1 puts this word together"},
	    {DEFAULTS, "\n" D "=\"iommu\"=off\n", {SET("iommu", "pt")}, "!2 puts this word together"},
	    {DEFAULTS, D "=\"iommu=$X\"\n", {REMOVE("iommu")}, "!1 puts this word together"},
	    /* No value that a shell, GRUB or the kernel would read otherwise. */
	    {PLAIN, "ro\n", {SET("a", "x\"y")}, "!0 has no quotes"},
	    {PLAIN, "ro\n", {SET("a", "$(reboot)")}, "!0 has no quotes"},
	    {PLAIN, "ro\n", {SET("a", "x\ny")}, "!0 no control characters"},
	    {PLAIN, "ro\n", {SET("a b", "c")}, "!0 no name of a kernel parameter"},
	    {PLAIN, "ro\n", {SET("a=b", "c")}, "!0 no name of a kernel parameter"},
	    {PLAIN, "ro\n", {SET("hugepages", "4")}, "!0 as one unit"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

/* ---- what happened to others ---- */

static void test_disasters(void **state)
{
	static const struct edit_case cases[] = {
	    /* Applied again and again this once became skew_tick=1"=1"=1"=1, and GRUB stopped at its prompt. */
	    {DEFAULTS,
	     D "=\"skew_tick=1\"\n",
	     {SET("skew_tick", "1"), SET("tsc", "reliable")},
	     D "=\"skew_tick=1 tsc=reliable\"\n"},
	    {DEFAULTS,
	     "\n" D "=\"quiet skew_tick=1\"=1\"=1\"\n",
	     {SET("skew_tick", "1")},
	     "!2 puts this word together"},
	    {DEFAULTS, D "=\"quiet skew_tick=1\"=1\"=1\n", {SET("tsc", "reliable")}, "!1 is not closed"},
	    /* No blank between two words: a security option was swallowed (115200n8spectre_v2=off). */
	    {DEFAULTS,
	     D "=\"console=ttyS0,115200n8\"\n",
	     {SET("spectre_v2", "off")},
	     D "=\"console=ttyS0,115200n8 spectre_v2=off\"\n"},
	    {DEFAULTS,
	     D "=console=ttyS0,115200n8\n",
	     {SET("spectre_v2", "off")},
	     D "=\"console=ttyS0,115200n8 spectre_v2=off\"\n"},
	    {DEFAULTS, D "+=\"\"\n", {SET("a", "b")}, D "+=\" a=b\"\n"},
	    {DEFAULTS,
	     D "=console=ttyS0,115200n8\n" D "+=\"\"\n",
	     {SET("a", "b")},
	     D "=console=ttyS0,115200n8\n" D "+=\" a=b\"\n"},
	    {DEFAULTS, "A=x\n" D "=\"$A\"'y'\n", {SET("a", "b")}, "A=x\n" D "=\"$A\"'y a=b'\n"},
	    {ENTRY,
	     "options ro console=ttyS0,115200n8",
	     {SET("spectre_v2", "off")},
	     "options ro console=ttyS0,115200n8 spectre_v2=off"},
	    /* Lists that grow with every run, and long lists of single CPUs. */
	    {PLAIN, "isolcpus=2,3,4,5\n", {OP(ADD, "isolcpus", "6-7,2")}, "isolcpus=2-7\n"},
	    {PLAIN,
	     "isolcpus=managed_irq,domain,2-7\n",
	     {OP(ADD, "isolcpus", "8,9,10,11")},
	     "isolcpus=managed_irq,domain,2-11\n"},
	    {PLAIN,
	     "isolcpus=managed_irq,2-7\n",
	     {OP(ADD, "isolcpus", "managed_irq,2-7")},
	     "isolcpus=managed_irq,2-7\n"},
	    {PLAIN, "ro\n", {OP(ADD, "nohz_full", "1,2,3")}, "ro nohz_full=1-3\n"},
	    {PLAIN, "isolcpus=domain,2-7 ro\n", {OP(TAKE, "isolcpus", "2-3")}, "isolcpus=domain,4-7 ro\n"},
	    {PLAIN, "isolcpus=domain,2-7 ro\n", {OP(TAKE, "isolcpus", "0-63")}, "ro\n"},
	    {PLAIN, "initcall_blacklist=x ro\n", {OP(ADD, "initcall_blacklist", "y,x")}, "initcall_blacklist=x,y ro\n"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void test_pages(void **state)
{
	static const struct edit_case cases[] = {
	    {PLAIN, "ro\n", {OP(PAGES, "1G", "16")}, "ro hugepagesz=1G hugepages=16\n"},
	    {PLAIN, "hugepagesz=1G hugepages=8 ro\n", {OP(PAGES, "1G", "16")}, "hugepagesz=1G hugepages=16 ro\n"},
	    {PLAIN, "hugepagesz=1G hugepages=8 ro\n", {OP(PAGES, "1G", "8")}, "hugepagesz=1G hugepages=8 ro\n"},
	    {PLAIN,
	     "hugepagesz=1G hugepages=8 hugepagesz=2M hugepages=512\n",
	     {OP(PAGES, "1G", "0:4,1:4")},
	     "hugepagesz=1G hugepages=0:4,1:4 hugepagesz=2M hugepages=512\n"},
	    {PLAIN,
	     "hugepagesz=1G hugepages=8 hugepagesz=2M hugepages=512\n",
	     {OP(PAGES, "1G", NULL)},
	     "hugepagesz=2M hugepages=512\n"},
	    {PLAIN,
	     "default_hugepagesz=1G hugepagesz=1G hugepages=8 ro\n",
	     {OP(PAGES, "1G", "4")},
	     "default_hugepagesz=1G hugepagesz=1G hugepages=4 ro\n"},
	    {PLAIN, "default_hugepagesz=1G hugepages=8 ro\n", {OP(PAGES, "1G", NULL)}, "default_hugepagesz=1G ro\n"},
	    {PLAIN, "hugepages=512 ro\n", {OP(PAGES, "2M", "1024")}, "hugepages=1024 ro\n"},
	    {PLAIN, "hugepages=512 ro\n", {OP(PAGES, "1G", "4")}, "hugepages=512 ro hugepagesz=1G hugepages=4\n"},
	    {PLAIN, "hugepages=512 ro\n", {OP(PAGES, "2M", NULL)}, "ro\n"},
	    /* 512 pages of 2 MiB would become 512 GiB. */
	    {PLAIN, "hugepages=512 ro\n", {SET("default_hugepagesz", "1G")}, "!0 move huge pages"},
	    /* The size was chosen before without a count: a second hugepagesz= would be ignored. */
	    {PLAIN,
	     "hugepagesz=1G hugepagesz=2M hugepages=1\n",
	     {OP(PAGES, "1G", "4")},
	     "!0 one size cannot be changed"},
	    {PLAIN, "ro\n", {OP(PAGES, "4M", "4")}, "!0 no size of huge pages"},
	    {PLAIN, "ro\n", {OP(PAGES, "1G", "1G")}, "!0 no number of pages"},
	    {DEFAULTS,
	     D "=\"quiet\"\n",
	     {OP(PAGES, "1G", "16"), SET("transparent_hugepage", "never")},
	     D "=\"quiet hugepagesz=1G hugepages=16 transparent_hugepage=never\"\n"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

/* ---- GRUB's environment block ---- */

static const char env_start[] =
    "# GRUB Environment Block\n# WARNING: Do not edit this file by tools other than grub-editenv\n"
    "saved_entry=abc\nkernelopts=root=/dev/a ro\nboot_success=0\n";

static struct boot_file block(struct arena *arena, const char *text)
{
	char *whole = arena_alloc(arena, 1025);

	memset(whole, '#', 1024);
	memcpy(whole, text, strlen(text));
	return (struct boot_file){.path = "grubenv", .text = whole, .size = 1024, .exists = true};
}

static void test_env(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct boot_file file = block(arena, env_start);
	const char *text = NULL;

	(void)state;
	assert_string_equal(boot_env_get(arena, &file, "saved_entry"), "abc");
	assert_null(boot_env_get(arena, &file, "saved"));
	assert_null(boot_env_get(arena, &file, "WARNING"));
	/* Set to what it is: the same bytes. */
	assert_int_equal(boot_env_set(arena, &file, "saved_entry", "abc", &text, NULL), 0);
	assert_memory_equal(text, file.text, 1025);
	/* Set, read, unset: the same bytes again. */
	assert_int_equal(boot_env_set(arena, &file, "next_entry", "a\\b>c", &text, NULL), 0);
	struct boot_file with = {.path = "grubenv", .text = text, .size = 1024, .exists = true};

	assert_int_equal(strlen(text), 1024);
	assert_string_equal(boot_env_get(arena, &with, "next_entry"), "a\\b>c");
	assert_int_equal(boot_env_set(arena, &with, "next_entry", NULL, &text, NULL), 0);
	assert_memory_equal(text, file.text, 1025);
	assert_int_equal(boot_env_set(arena, &file, "saved_entry", NULL, &text, NULL), 0);
	assert_null(strstr(text, "saved_entry"));
	assert_int_equal(strlen(text), 1024);
}

static void test_env_overflow(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct boot_file file = block(arena, env_start), full = block(arena, env_start);
	char *long_value = arena_alloc(arena, 1025);
	size_t room = 1024 - strlen(env_start) - strlen("x=\n");
	const char *text = NULL;
	struct err err = {0};

	(void)state;
	memset(long_value, 'v', room);
	assert_int_equal(boot_env_set(arena, &file, "x", long_value, &text, NULL), 0);
	full.text = text;
	assert_string_equal(boot_env_get(arena, &full, "x"), long_value);
	/* Not a byte is free now. */
	assert_int_equal(boot_env_set(arena, &full, "y", "", &text, &err), -ENOSPC);
	assert_non_null(strstr(err.what, "1024 bytes"));
	long_value[room] = 'v';
	assert_int_equal(boot_env_set(arena, &file, "x", long_value, &text, &err), -ENOSPC);
	/* 112 CPUs written one by one was what filled it. */
	struct boot_file none = {.path = "grubenv", .text = "saved_entry=1\n", .size = 14, .exists = true};

	assert_int_equal(boot_env_set(arena, &none, "x", "1", &text, &err), -EINVAL);
	assert_null(boot_env_get(arena, &none, "saved_entry"));
}

/* A line in GRUB's block, through "$kernelopts" of the entry. */
static void test_kernelopts(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct boot_table *table = boot_table_new(NULL, arena);
	struct boot_where where = {.read = boot_read_entry, .file = 0, .env = 1, .first_only = true};
	const struct knob_boot_change change = {.name = "iommu", .value = "pt"};
	const char *options = "title X\noptions $kernelopts $tuned_params\n";
	char *cpus = arena_alloc(arena, 1200);
	struct err err = {0};

	(void)state;
	table->files[0] = (struct boot_file){.path = "entry", .text = options, .size = strlen(options), .exists = true};
	table->files[1] = block(arena, env_start);
	table->count = 2;
	assert_int_equal(boot_edit(table, &where, &change, 1, &err), 0);
	assert_string_equal(table->files[0].text, options);
	assert_int_equal(table->files[1].size, 1024);
	assert_string_equal(boot_env_get(arena, &table->files[1], "kernelopts"), "root=/dev/a ro iommu=pt");
	assert_string_equal(boot_env_get(arena, &table->files[1], "boot_success"), "0");
	for (int cpu = 0; cpu < 230; cpu++)
		(void)sprintf(cpus + strlen(cpus), "%s%d", cpu ? "," : "", cpu * 2);
	assert_int_equal(
	    boot_edit(table, &where, &(struct knob_boot_change){.name = "isolcpus", .value = cpus}, 1, &err), -ENOSPC);
	assert_string_equal(boot_env_get(arena, &table->files[1], "kernelopts"), "root=/dev/a ro iommu=pt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain),	 cmocka_unit_test(test_defaults),   cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_disasters),	 cmocka_unit_test(test_pages),	    cmocka_unit_test(test_env),
	    cmocka_unit_test(test_env_overflow), cmocka_unit_test(test_kernelopts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
