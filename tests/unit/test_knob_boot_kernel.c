/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of choosing another kernel: which releases the entries of a loader have, the trial's entry with that
 * kernel, what is refused, and that the default is still known in the trial's own boot.
 */
#include <errno.h>

#include "unit.h"

#include "knob_boot.h"
#include "text.h"
#include "tree.h"

static bool same(const char *a, const char *b)
{
	return a && b ? text_equal(a, b) : a == b;
}

static struct host *open_machine(struct arena *arena, const char *name)
{
	const char *top = getenv("HVTUNE_TOP");
	struct host *host = NULL;
	struct err err = {0};

	if (host_open(arena_printf(arena, "%s/tests/knob/boot/%s/root", top ? top : ".", name), &host, &err) < 0)
		fail_msg("%s: %s", name, err.what);
	return host;
}

static int plan_kernel(struct host *host, struct arena *arena, const char *release, struct knob_boot_plan *ret,
		       struct err *err)
{
	const struct knob_boot_change changes[] = {knob_boot_change_of(KNOB_BOOT_KERNEL_NAME, release),
						   {.name = "iommu", .value = "pt"}};
	struct knob_boot_loader loader = {0};

	knob_boot_find(host, &loader);
	return knob_boot_plan_trial(host, &loader, changes, ARRAY_SIZE(changes), "t1", arena, ret, err);
}

/* ---- the trial's entry ---- */

static void test_trial(void **state)
{
	static const struct {
		const char *machine, *release, *has[5], *has_not[3];
	} cases[] = {
	    {"debian",
	     "6.1.0-23-amd64",
	     {"menuentry 'hvtune trial: Debian GNU/Linux, with Linux 6.1.0-23-amd64'",
	      "\tlinux\t/boot/vmlinuz-6.1.0-23-amd64 root=UUID=5f1c2f6e-0d3b-4b52-9a41-3c1f0b9e7a10 ro  quiet "
	      "iommu=pt ",
	      "\tinitrd\t/boot/initrd.img-6.1.0-23-amd64\n"},
	     {"6.1.0-25", "single", "hvtune.beside"}},
	    /* The default's own kernel, by its name: no other entry than without it. */
	    {"debian",
	     "6.1.0-25-amd64",
	     {"menuentry 'hvtune trial: Debian GNU/Linux' ", "vmlinuz-6.1.0-25-amd64 "},
	     {"6.1.0-23", "hvtune.beside"}},
	    {"ubuntu", "6.8.0-47-generic", {"\tlinux\t/vmlinuz-6.8.0-47-generic "}, {"6.8.0-45"}},
	    /* With the default's line, whatever its own was, and with the default's name on it. */
	    {"fedora",
	     "6.13.9-200.fc42.x86_64",
	     {"linux /vmlinuz-6.13.9-200.fc42.x86_64\n", "initrd /initramfs-6.13.9-200.fc42.x86_64.img\n",
	      "rhgb quiet amd_pstate=active iommu=pt ",
	      "hvtune.trial=t1 hvtune.beside=4b1a5cfe5c2e4d04a6d2c5e4b0a3f9d1-6.14.0-63.fc42.x86_64\n"},
	     {"tuned_params", "linux /vmlinuz-6.14"}},
	    {"tumbleweed", "6.14.1-1-default", {"linux      /opensuse-tumbleweed/6.14.1-1-default/linux-1\n"}, {NULL}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(host_close_pointer) struct host *host = open_machine(arena, cases[i].machine);
		struct knob_boot_plan plan = {0};
		struct err err = {0};

		if (plan_kernel(host, arena, cases[i].release, &plan, &err) < 0)
			fail_msg("%s: %s: %s", cases[i].machine, err.where, err.what);
		for (const char *const *text = cases[i].has; *text; text++)
			if (!strstr(plan.files[0].after, *text))
				fail_msg("%s: no %s in %s", cases[i].machine, *text, plan.files[0].after);
		for (const char *const *text = cases[i].has_not; text < cases[i].has_not + 3 && *text; text++)
			if (strstr(plan.files[0].after, *text))
				fail_msg("%s: %s in %s", cases[i].machine, *text, plan.files[0].after);
	}
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
	static const struct {
		const char *machine, *release, *what;
	} cases[] = {
	    {"debian", "6.1.0-99-amd64",
	     "kernel 6.1.0-99-amd64 is not installed; in /boot/grub/grub.cfg are: 6.1.0-25-amd64, 6.1.0-23-amd64"},
	    {"debian", "6.1", "not installed"},
	    {"debian", "../6.1", "no release of a kernel"},
	    {"debian", "", "no release of a kernel"},
	    {"fedora", "0-rescue-4b1a5cfe5c2e4d04a6d2c5e4b0a3f9d1", "in /boot/loader/entries are: 6.14.0-63"},
	    {"fedora-uki", "6.14.0", "A unified kernel image carries its line in itself"},
	    {"arch-grub", "6.14.0-arch1-1", "are: none whose name tells its release"},
	    {"silverblue", "6.14.0", "rpm-ostree"},
	    {"unknown", "6.14.0", "Which boot loader this host has cannot be told"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(host_close_pointer) struct host *host = open_machine(arena, cases[i].machine);
		struct knob_boot_plan plan = {0};
		struct err err = {0};

		assert_true(plan_kernel(host, arena, cases[i].release, &plan, &err) < 0);
		if (!strstr(err.what, cases[i].what))
			fail_msg("%s: %s: %s", cases[i].machine, cases[i].release, err.what);
	}
}

/* ---- single entries ---- */

#define GRUB_HEAD                                                                                                      \
	"if [ \"${next_entry}\" ]; then\n  set default=\"${next_entry}\"\n  set next_entry=\n  save_env next_entry\n"  \
	"else\n  set default=\"0\"\nfi\nsource ${config_directory}/custom.cfg\n"
#define ENTRY(title, kernel, line)                                                                                     \
	"menuentry '" title "' --id '" title "' {\n\tlinux " kernel " " line "\n\tinitrd /initrd\n}\n"

static struct tree *menu_tree(const char *entries)
{
	static const char fill[] = "########################################";
	struct arena *arena = arena_new();
	const struct tree_file files[] = {
	    {"/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n"},
	    {"/etc/os-release", "ID=debian\n"},
	    {"/boot/grub/grub.cfg", arena_printf(arena, "%s%s", GRUB_HEAD, entries)},
	    {"/boot/grub/grubenv", arena_printf(arena, "# GRUB Environment Block\n%s", fill)},
	    {"/boot/vmlinuz-6.12.0", ""},
	    {"/proc/cmdline", "root=/dev/a\n"},
	    {"/proc/mounts", "/dev/sda1 / ext4 rw 0 0\n"},
	    {"/sys/devices/system/cpu/online", "0\n"},
	    {"/usr/lib/modules/6.14.4-arch1-1/pkgbase", "linux\n"},
	    {"/usr/lib/modules/6.12.25-1-lts/pkgbase", "linux-lts\n"},
	    {NULL, NULL},
	};
	struct tree *tree = tree_new(files);

	(void)arena_free(arena);
	return tree;
}

/* Which release each kernel is, by the name of its file and what else tells it. */
static void test_names(void **state)
{
	static const struct {
		const char *path, *release; /* NULL: not told */
	} cases[] = {
	    {"/boot/vmlinuz-6.1.0-28-amd64", "6.1.0-28-amd64"},
	    {"/vmlinux-5.14.21-150500.55.7-default", "5.14.21-150500.55.7-default"},
	    {"($root)/@/boot/vmlinuz-6.12.0+", "6.12.0+"},
	    {"/0123/6.14.0-63.fc42.x86_64/linux", "6.14.0-63.fc42.x86_64"},
	    {"/boot/vmlinuz-linux", "6.14.4-arch1-1"},
	    {"/boot/vmlinuz-linux-lts", "6.12.25-1-lts"},
	    {"/boot/vmlinuz-linux-zen", NULL},
	    {"/boot/vmlinuz-6.12.0.old", NULL},
	    {"/boot/vmlinuz", NULL},
	    {"vmlinuz", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct tree *tree =
		    menu_tree(arena_printf(arena, ENTRY("One", "%s", "root=/dev/a quiet"), cases[i].path));
		struct knob_boot_loader loader = {0};
		const char *release = NULL;
		struct err err = {0};

		knob_boot_find(tree_host(tree), &loader);
		int r = knob_boot_configured_kernel(tree_host(tree), &loader, arena, &release, &err);

		if (r != (cases[i].release ? 0 : -ENOTSUP) || !same(release, cases[i].release))
			fail_msg("%s: %s %s", cases[i].path, release ? release : "none", err.what);
		(void)tree_free(tree);
	}
}

/* An entry of another system, as os-prober finds them, and a kernel that no menu was made for. */
static void test_not_ours(void **state)
{
	static const char entries[] = ENTRY("One", "/boot/vmlinuz-6.1.0", "root=/dev/a quiet")
	    ENTRY("Snapshot", "/boot/vmlinuz-6.2.0", "root=/dev/a rootflags=subvol=old quiet")
		ENTRY("Theirs", "/boot/vmlinuz-6.3.0", "root=/dev/b quiet")
		    ENTRY("Recovery", "/boot/vmlinuz-6.4.0", "root=/dev/a single") "menuentry 'Setup' { fwsetup }\n";
	static const struct {
		const char *release, *what;
		unsigned line;
	} cases[] = {
	    {"6.2.0", "the entry of kernel 6.2.0 has another rootflags= on its line", 13},
	    {"6.3.0", "the entry of kernel 6.3.0 has another root= on its line", 17},
	    {"6.4.0", NULL, 0},
	    {"6.12.0",
	     "/boot has vmlinuz-6.12.0, but /boot/grub/grub.cfg has no entry of it; entries are there of: 6.1.0, "
	     "6.4.0",
	     0},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = menu_tree(entries);
	struct knob_boot_loader loader = {0};
	struct knob_boot_plan plan = {0};

	(void)state;
	knob_boot_find(tree_host(tree), &loader);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = {0};
		int r = knob_boot_check_kernel(tree_host(tree), &loader, cases[i].release, &err);

		if (!cases[i].what != (r == 0) || (cases[i].what && !strstr(err.what, cases[i].what)) ||
		    err.line != cases[i].line)
			fail_msg("%s: %u %s", cases[i].release, err.line, err.what);
		if (text_equal(cases[i].release, "6.12.0"))
			assert_string_equal(err.hint, "make its entry: update-grub");
	}
	/* What differs besides is not taken over: the kernel alone is another one. */
	assert_int_equal(plan_kernel(tree_host(tree), arena, "6.4.0", &plan, NULL), 0);
	assert_non_null(strstr(plan.files[0].after, "vmlinuz-6.4.0 root=/dev/a quiet iommu=pt"));
	(void)tree_free(tree);
}

/* ---- in the trial's boot ---- */

/* Where the loader tells no default, the running kernel does; in a trial with another kernel its line does. */
static void test_default_in_trial(void **state)
{
	static const char name[] = "/boot/loader/entries/";
	static const char entry[] = "title Six\nlinux /vmlinuz-%s\ninitrd /initrd-%s\noptions root=/dev/a quiet\n";
	static const struct {
		const char *line, *running, *release;
	} cases[] = {
	    {"root=/dev/a quiet\n", "6.14.0", "6.14.0"},
	    {"root=/dev/a quiet hvtune.trial=t1 hvtune.beside=a-6.13.9\n", "6.14.0", "6.13.9"},
	    {"root=/dev/a quiet hvtune.trial=t1 hvtune.beside=a-6.13.9.conf\n", "6.14.0", "6.13.9"},
	    {"root=/dev/a quiet hvtune.trial=t1 hvtune.beside=a-6.12.0\n", "6.14.0", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		const struct tree_file files[] = {
		    {"/etc/default/grub", "GRUB_ENABLE_BLSCFG=true\n"},
		    {"/etc/os-release", "ID=fedora\n"},
		    {"/boot/grub2/grub.cfg", "set default=\"${next_entry}\"\nblscfg\n"},
		    {"/boot/grub2/grubenv", ""},
		    {arena_printf(arena, "%sa-6.13.9.conf", name), arena_printf(arena, entry, "6.13.9", "6.13.9")},
		    {arena_printf(arena, "%sa-6.14.0.conf", name), arena_printf(arena, entry, "6.14.0", "6.14.0")},
		    {"/proc/cmdline", cases[i].line},
		    {"/proc/sys/kernel/osrelease", arena_printf(arena, "%s\n", cases[i].running)},
		    {"/proc/mounts", "/dev/sda1 / ext4 rw 0 0\n"},
		    {"/sys/devices/system/cpu/online", "0\n"},
		    {NULL, NULL},
		};
		struct tree *tree = tree_new(files);
		struct knob_boot_loader loader = {0};
		const char *release = NULL;
		struct err err = {0};

		knob_boot_find(tree_host(tree), &loader);
		assert_int_equal(loader.kind, KNOB_BOOT_GRUB_BLS);
		int r = knob_boot_configured_kernel(tree_host(tree), &loader, arena, &release, &err);

		if (r != (cases[i].release ? 0 : -ENOTSUP) || !same(release, cases[i].release))
			fail_msg("%s: %s %s", cases[i].line, release ? release : "none", err.what);
		(void)tree_free(tree);
	}
}

/* ---- the default ---- */

/* One file of hvtune's own, where that is enough; elsewhere what to type. */
static void test_default(void **state)
{
	static const struct {
		const char *machine, *release, *pin, *hint; /* neither: nothing is to be done */
	} cases[] = {
	    {"debian", "6.1.0-25-amd64", NULL, NULL},
	    {"debian", "6.1.0-23-amd64",
	     "\nGRUB_DEFAULT=\"gnulinux-advanced-5f1c2f6e-0d3b-4b52-9a41-3c1f0b9e7a10>"
	     "gnulinux-6.1.0-23-amd64-advanced-5f1c2f6e-0d3b-4b52-9a41-3c1f0b9e7a10\"\n",
	     NULL},
	    /* Not the first of the menu, which is of the newest whichever that is. */
	    {"ubuntu", "6.8.0-47-generic", ">gnulinux-6.8.0-47-generic-advanced-0c9a5d6c-8f52-4b1f-8f6c-0c2a8f1d3b77\"",
	     NULL},
	    {"fedora", "6.13.9-200.fc42.x86_64", NULL,
	     "by hand: grub2-set-default '4b1a5cfe5c2e4d04a6d2c5e4b0a3f9d1-6.13.9-200.fc42.x86_64'"},
	    {"tumbleweed", "6.14.1-1-default", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(host_close_pointer) struct host *host = open_machine(arena, cases[i].machine);
		const struct knob_boot_change change = knob_boot_change_of(KNOB_BOOT_KERNEL_NAME, cases[i].release);
		struct knob_boot_loader loader = {0};
		struct knob_boot_plan plan = {0};
		struct err err = {0};

		knob_boot_find(host, &loader);
		int r = knob_boot_plan_default(host, &loader, &change, 1, arena, &plan, &err);

		assert_int_equal(r, cases[i].hint ? -ENOTSUP : 0);
		assert_int_equal(plan.file_count, cases[i].pin ? 1 : 0);
		assert_int_equal(plan.command_count, cases[i].pin ? 1 : 0);
		if (cases[i].hint)
			assert_string_equal(err.hint, cases[i].hint);
		if (!cases[i].pin)
			continue;
		assert_string_equal(plan.files[0].path, "/etc/default/grub.d/zz-hvtune-kernel.cfg");
		assert_null(plan.files[0].before);
		assert_non_null(strstr(plan.files[0].after, cases[i].pin));
		assert_string_equal(plan.commands[0].argv[0], "update-grub");
	}
}

/* What the file pins is the default, in the menu too once it is made; of an entry that has gone GRUB takes the first.
 */
static void test_pinned(void **state)
{
	static const char entries[] = ENTRY("One", "/boot/vmlinuz-6.2.0", "root=/dev/a quiet")
	    ENTRY("a-6.2.0", "/boot/vmlinuz-6.2.0", "root=/dev/a quiet")
		ENTRY("r-6.1.0", "/boot/vmlinuz-6.1.0", "root=/dev/a single")
		    ENTRY("a-6.1.0", "/boot/vmlinuz-6.1.0", "root=/dev/a quiet")
			ENTRY("with a blank 6.3.0", "/boot/vmlinuz-6.3.0", "root=/dev/a quiet");
	static const struct {
		const char *pinned, *later, *release, *is, *pin, *error;
	} cases[] = {
	    {NULL, NULL, "6.1.0", "6.2.0", "a-6.1.0", NULL},
	    {"a-6.1.0", NULL, "6.1.0", "6.1.0", NULL, NULL},
	    {"a-6.1.0", NULL, "6.2.0", "6.1.0", "a-6.2.0", NULL},
	    {"a-6.0.0", NULL, "6.1.0", "6.2.0", "a-6.1.0", NULL},
	    {NULL, NULL, "6.3.0", "6.2.0", NULL, "makes no kernel the default of all boots here; it is 6.2.0"},
	    {NULL, "# GRUB_DEFAULT=1\nGRUB_TIMEOUT=1\n", "6.1.0", "6.2.0", "a-6.1.0", NULL},
	    {NULL, " GRUB_DEFAULT=1\n", "6.1.0", "6.2.0", NULL, "sets GRUB_DEFAULT, and is read after"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct tree *tree = menu_tree(entries);
		const struct knob_boot_change change = knob_boot_change_of(KNOB_BOOT_KERNEL_NAME, cases[i].release);
		struct knob_boot_loader loader = {0};
		struct knob_boot_plan plan = {0};
		const char *release = NULL;
		struct err err = {0};

		tree_write(tree, "/etc/default/grub.d/10-other.cfg", "GRUB_DEFAULT=2\n");
		if (cases[i].pinned)
			tree_write(tree, "/etc/default/grub.d/zz-hvtune-kernel.cfg",
				   arena_printf(arena, "# of hvtune\nGRUB_DEFAULT=\"%s\"\n", cases[i].pinned));
		if (cases[i].later)
			tree_write(tree, "/etc/default/grub.d/zzz.cfg", cases[i].later);
		knob_boot_find(tree_host(tree), &loader);
		assert_int_equal(knob_boot_configured_kernel(tree_host(tree), &loader, arena, &release, &err), 0);
		assert_string_equal(release, cases[i].is);
		int r = knob_boot_plan_default(tree_host(tree), &loader, &change, 1, arena, &plan, &err);

		if (r != (cases[i].error ? -ENOTSUP : 0) || (r && !strstr(err.what, cases[i].error)))
			fail_msg("%zu: %d %s", i, r, err.what);
		assert_int_equal(plan.file_count, cases[i].pin ? 1 : 0);
		if (cases[i].pin)
			assert_non_null(strstr(plan.files[0].after, arena_printf(arena, "\"%s\"\n", cases[i].pin)));
		(void)tree_free(tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_trial),    cmocka_unit_test(test_refused),	      cmocka_unit_test(test_names),
	    cmocka_unit_test(test_not_ours), cmocka_unit_test(test_default_in_trial), cmocka_unit_test(test_default),
	    cmocka_unit_test(test_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
