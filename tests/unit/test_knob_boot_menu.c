/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of reading GRUB's menu and of telling where a choice for one boot is safe. */
#include <errno.h>

#include "unit.h"

#include "knob_boot_menu.h"
#include "text.h"
#include "tree.h"

static const char menu_text[] = "### BEGIN ###\n"
				"if [ \"${next_entry}\" ] ; then\n"
				"   set default=\"${next_entry}\"\n"
				"else\n"
				"   set default=\"1>0\"\n"
				"fi\n"
				"function savedefault { set default=\"x\"; }\n"
				"menuentry 'First > one' --class os $menuentry_id_option 'first' {\n"
				"\tif [ x$a = xb ]; then insmod x; fi # { in a comment\n"
				"\techo 'a } in quotes' \"and \\\" { there\"\n"
				"\tlinux\t/vmlinuz-1 root=/dev/a ro \\\n\t  quiet\n"
				"\tinitrd /initrd-1\n"
				"}\n"
				"submenu \"More\" --id more {\n"
				"\tmenuentry 'Second' --id 'second' { linux /vmlinuz-2 ro; initrd /i; }\n"
				"\tmenuentry 'Xen' { multiboot2 /xen; module2 /vmlinuz }\n"
				"}\n"
				"if [ \"$grub_platform\" = \"efi\" ]; then\n"
				"\tmenuentry 'Firmware' { fwsetup }\n"
				"fi\n"
				"menuentry Last --unrestricted { linux16 /memtest; linux /two }\n"
				"source ${config_directory}/custom.cfg\n";

static struct boot_file file_of(const char *text)
{
	return (struct boot_file){.path = "grub.cfg", .text = text, .size = strlen(text), .exists = true};
}

static void test_menu(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct boot_menu *menu = ARENA_NEW(arena, struct boot_menu);
	struct boot_file file = file_of(menu_text);
	struct err err = {0};

	(void)state;
	assert_int_equal(boot_menu_parse(arena, &file, menu, &err), 0);
	assert_int_equal(menu->count, 6);
	assert_string_equal(menu->default_text, "1>0");
	assert_true(menu->takes_next);
	assert_true(menu->reads_custom);
	assert_string_equal(menu->list[0].title, "First > one");
	assert_string_equal(menu->list[0].id, "first");
	assert_string_equal(menu->list[1].id, "more");
	assert_true(menu->list[1].is_submenu);
	assert_int_equal(menu->list[2].parent, 1);
	assert_null(menu->list[3].id);
	assert_true(menu->list[4].unsure);
	assert_string_equal(menu->list[5].title, "Last");
	assert_int_equal(menu->list[5].parent, -1);
	assert_false(menu->list[5].unsure);
}

/* As GRUB finds it: numbers, titles, ids, paths through submenus; ">>" is a '>' of a title. */
static void test_find(void **state)
{
	static const struct {
		const char *chosen, *title; /* NULL: refused */
		int error;
	} cases[] = {
	    {"0", "First > one", 0},	    {"first", "First > one", 0}, {"First >> one", "First > one", 0},
	    {"1>0", "Second", 0},	    {"1>1", "Xen", 0},		 {"more>second", "Second", 0},
	    {"More>Second", "Second", 0},   {"1", "Second", 0},		 {"Last", "Last", 0},
	    {"Firmware", "Firmware", 0},    {"3", NULL, -ENOTSUP},	 {"1>7", NULL, -ENOENT},
	    {"First > one", NULL, -ENOENT}, {"second", NULL, -ENOENT},	 {"gone", NULL, -ENOENT},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct boot_menu *menu = ARENA_NEW(arena, struct boot_menu);
	struct boot_file file = file_of(menu_text);

	(void)state;
	assert_int_equal(boot_menu_parse(arena, &file, menu, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct boot_menu_entry *entry = NULL;
		int r = boot_menu_find(arena, menu, cases[i].chosen, &entry, &file, NULL);

		if (r != cases[i].error)
			fail_msg("%s: %d", cases[i].chosen, r);
		if (cases[i].title)
			assert_string_equal(entry->title, cases[i].title);
	}
}

static void test_linux(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct boot_menu *menu = ARENA_NEW(arena, struct boot_menu);
	struct boot_file file = file_of(menu_text);
	const char *kernel = "";
	size_t start = 0, end = 0;
	struct err err = {0};

	(void)state;
	assert_int_equal(boot_menu_parse(arena, &file, menu, NULL), 0);
	assert_int_equal(boot_menu_linux(arena, &file, &menu->list[0], &kernel, &start, &end, &err), 0);
	assert_string_equal(arena_strndup(arena, menu_text + start, end - start), " root=/dev/a ro \\\n\t  quiet");
	assert_int_equal(boot_menu_linux(arena, &file, &menu->list[2], &kernel, &start, &end, &err), 0);
	assert_string_equal(arena_strndup(arena, menu_text + start, end - start), " ro");
	assert_int_equal(boot_menu_linux(arena, &file, &menu->list[3], &kernel, &start, &end, &err), -ENOTSUP);
	assert_int_equal(err.line, 17);
	assert_non_null(strstr(err.what, "no command in this menu entry loads"));
	assert_int_equal(boot_menu_linux(arena, &file, &menu->list[5], &kernel, &start, &end, &err), -ENOTSUP);
	assert_non_null(strstr(err.what, "a second command"));
}

static void test_bad_menus(void **state)
{
	static const struct {
		const char *text, *what;
		unsigned line;
	} cases[] = {
	    {"\nmenuentry 'a {\n}\n", "quote", 2},
	    {"menuentry 'a' {\n linux /v\n", "brace", 1},
	    {"submenu 'a' {\n menuentry 'b' { }\n", "no end", 1},
	    {"menuentry --id a { }\n", "without a title", 1},
	    {"menuentry 'a'\n", "without a title or a body", 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct boot_menu *menu = ARENA_NEW(arena, struct boot_menu);
		struct boot_file file = file_of(cases[i].text);
		struct err err = {0};

		assert_int_equal(boot_menu_parse(arena, &file, menu, &err), -ENOTSUP);
		if (!strstr(err.what, cases[i].what) || err.line != cases[i].line)
			fail_msg("%s: %u: %s", cases[i].text, err.line, err.what);
	}
}

/* Where GRUB could not take next_entry back, a trial that cannot boot would be started for ever. */
static void test_where_grub_writes(void **state)
{
	static const struct {
		const char *mounts;
		const char *no; /* part of the reason; NULL: a trial is possible */
	} cases[] = {
	    {"/dev/sda2 / ext4 rw 0 0\n", NULL},
	    {"/dev/sda2 / btrfs rw 0 0\n", "cannot write to btrfs"},
	    {"/dev/sda2 / btrfs rw 0 0\n/dev/sda1 /boot ext4 rw 0 0\n", NULL},
	    {"/dev/sda2 / ext4 rw 0 0\nrpool/boot /boot zfs rw 0 0\n", "cannot write to zfs"},
	    {"/dev/md0 / ext4 rw 0 0\n", "software RAID"},
	    {"/dev/mapper/vg-root / ext4 rw 0 0\n", "logical volume"},
	    {"/dev/mapper/mpatha-part2 / xfs rw 0 0\n", NULL},
	    {"/dev/mapper/mpathb / xfs rw 0 0\n", "logical volume"},
	    {"/dev/sda2 /boots ext4 rw 0 0\n", "is not known"},
	    {"", "is not known"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct tree_file files[] = {
		    {"/sys/devices/system/cpu/online", "0-3\n"},
		    {"/etc/os-release", "ID=debian\n"},
		    {"/etc/default/grub", "GRUB_DEFAULT=0\n"},
		    {"/proc/mounts", cases[i].mounts},
		    {"/sys/class/block/dm-0/dm/name", "vg-root\n"},
		    {"/sys/class/block/dm-0/dm/uuid", "LVM-abc\n"},
		    {"/sys/class/block/dm-1/dm/name", "mpatha-part2\n"},
		    {"/sys/class/block/dm-1/dm/uuid", "part2-mpath-36000\n"},
		    {NULL, NULL},
		};
		struct tree *tree = tree_new(files);
		struct knob_boot_loader loader = {0};

		knob_boot_find(tree_host(tree), &loader);
		assert_int_equal(loader.kind, KNOB_BOOT_GRUB_DEBIAN);
		if (!cases[i].no != !loader.no_trial || (cases[i].no && !strstr(loader.no_trial, cases[i].no)))
			fail_msg("%s: %s", cases[i].mounts, loader.no_trial ? loader.no_trial : "possible");
		(void)tree_free(tree);
	}
}

/* Is the line that runs what was asked for? */
static void test_line_has(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	static const char line[] = "BOOT_IMAGE=/v root=/dev/a ro iommu=off iommu=pt mitigations=auto -- nosmt\n";

	(void)state;
	assert_true(
	    knob_boot_line_has(arena, line, &(struct knob_boot_change){.name = "mitigations", .value = "auto"}));
	assert_false(knob_boot_line_has(arena, line, &(struct knob_boot_change){.name = "iommu", .value = "pt"}));
	assert_false(knob_boot_line_has(arena, line, &(struct knob_boot_change){.name = "nosmt"}));
	assert_true(
	    knob_boot_line_has(arena, line, &(struct knob_boot_change){.name = "nosmt", .op = KNOB_BOOT_REMOVE}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_menu),      cmocka_unit_test(test_find),     cmocka_unit_test(test_linux),
	    cmocka_unit_test(test_bad_menus), cmocka_unit_test(test_line_has), cmocka_unit_test(test_where_grub_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
