/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzes the files that hold a kernel line, GRUB's menu and its environment block. What was edited once is not edited
 * again, keeps its other words, and a refusal leaves the text alone.
 */
#include <string.h>

#include "knob_boot_menu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct knob_boot_change changes[] = {
    {.name = "amd_pstate", .value = "guided"},		 {.name = "iommu", .value = "pt"},
    {.name = "quiet", .op = KNOB_BOOT_REMOVE},		 {.name = "isolcpus", .value = "2,3", .op = KNOB_BOOT_ADD},
    {.name = "1G", .value = "4", .op = KNOB_BOOT_PAGES},
};

static void edit(struct arena *arena, const struct boot_where *where, const char *text)
{
	struct boot_table *table = boot_table_new(NULL, arena);

	table->files[0] = (struct boot_file){.path = "fuzz", .text = text, .size = strlen(text), .exists = true};
	table->count = 1;
	if (boot_edit(table, where, changes, ARRAY_SIZE(changes), NULL) < 0) {
		if (table->files[0].text != text)
			abort();
		return;
	}
	const char *once = table->files[0].text;

	if (strlen(once) != table->files[0].size)
		abort();
	if (boot_edit(table, where, changes, ARRAY_SIZE(changes), NULL) < 0 || table->files[0].text != once)
		abort();
}

static void read_menu(struct arena *arena, const char *text)
{
	struct boot_file file = {.path = "fuzz", .text = text, .size = strlen(text), .exists = true};
	struct boot_menu *menu = ARENA_NEW(arena, struct boot_menu);

	if (boot_menu_parse(arena, &file, menu, NULL) < 0)
		return;
	for (size_t i = 0; i < menu->count; i++) {
		const struct boot_menu_entry *entry = &menu->list[i], *found = NULL;
		const char *kernel = NULL;
		size_t start = 0, end = 0;

		if (entry->head > entry->title_end || entry->title_end > entry->id_at || entry->id_at > entry->id_end ||
		    entry->id_end >= entry->body || entry->body > entry->end || entry->end >= file.size)
			abort();
		if (boot_menu_linux(arena, &file, entry, &kernel, &start, &end, NULL) == 0 &&
		    (start < entry->body || end < start || end > entry->end))
			abort();
		(void)boot_menu_find(arena, menu, entry->title, &found, &file, NULL);
	}
}

static void read_env(struct arena *arena, const char *text)
{
	struct boot_file file = {.path = "fuzz", .text = text, .size = strlen(text), .exists = true};
	const char *after = NULL;

	if (boot_env_set(arena, &file, "next_entry", "a>b", &after, NULL) < 0)
		return;
	struct boot_file with = file;

	with.text = after;
	const char *value = boot_env_get(arena, &with, "next_entry");

	if (strlen(after) != file.size || !value || strcmp(value, "a>b") != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct boot_where forms[] = {
	    {.read = boot_read_shell,
	     .file_count = 1,
	     .env = BOOT_NO_FILE,
	     .anchor_name = "GRUB_CMDLINE_LINUX_DEFAULT"},
	    {.read = boot_read_plain, .env = BOOT_NO_FILE},
	    {.read = boot_read_entry, .env = BOOT_NO_FILE},
	    {.read = boot_read_entry, .env = 0, .first_only = true},
	};
	struct arena *arena = arena_new();
	const char *text = arena_strndup(arena, (const char *)data, size);

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		edit(arena, &forms[i], text);
	read_menu(arena, text);
	read_env(arena, text);
	(void)arena_free(arena);
	return 0;
}
