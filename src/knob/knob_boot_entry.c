/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns loader entries (Boot Loader Specification, type 1): which are this system's, and which one is the default.
 */
#include "knob_boot_internal.h"

#include <errno.h>

#include "text.h"

const char *boot_entry_value(struct arena *arena, const char *text, const char *key)
{
	while (*text) {
		size_t length = strcspn(text, "\n"), indent = strspn(text, " \t"), name = strlen(key);

		if (text_starts(text + indent, key) && (text[indent + name] == ' ' || text[indent + name] == '\t'))
			return text_trim(arena, arena_strndup(arena, text + indent + name, length - indent - name));
		text += length + (text[length] == '\n');
	}
	return NULL;
}

bool boot_is_own_entry(struct host *host, struct arena *arena, const char *name, const char *text)
{
	const struct sys_look *id = sys_read(host->sys, "/etc/machine-id");
	const char *machine = boot_entry_value(arena, text, "machine-id");

	if (!boot_entry_value(arena, text, "linux") || strstr(name, "rescue") || boot_is_trial_entry(name))
		return false;
	return !machine || id->state != SYS_VALUE || text_equal(machine, text_trim(arena, id->data));
}

const char *boot_running_line(struct host *host, struct arena *arena)
{
	static const char *const of_loader[] = {"BOOT_IMAGE=", "initrd=", "hvtune."};
	const char *text = "";

	for (int i = 0; i < host->cmdline.count; i++) {
		const char *word = host->cmdline.words[i].text;
		const char *quote = strpbrk(word, " \t") ? "\"" : "";
		bool skip = false;

		for (size_t j = 0; j < ARRAY_SIZE(of_loader); j++)
			skip = skip || text_starts(word, of_loader[j]);
		if (!skip)
			text = arena_printf(arena, "%s%s%s%s%s", text, *text ? " " : "", quote, word, quote);
	}
	return text;
}

/* ---- the default ---- */

/* `selected`: an id, with or without ".conf", or a title; NULL: not known. */
static bool is_selected(const char *name, const char *title, const char *selected)
{
	size_t stem = strlen(name) - strlen(".conf");

	if (!selected)
		return false;
	return text_equal(name, selected) || text_equal(title, selected) ||
	       (strlen(selected) == stem && strncmp(name, selected, stem) == 0);
}

static bool is_running(struct arena *arena, const char *text, const char *release)
{
	const char *linux_path = boot_entry_value(arena, text, "linux"),
		   *version = boot_entry_value(arena, text, "version");

	return release && (text_equal(version, release) || (linux_path && strstr(linux_path, release)));
}

int boot_own_entries(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_entries *ret,
		     struct err *err)
{
	const struct sys_look *names = sys_list(table->host->sys, "%s", loader->entries);
	struct boot_entries entries = {
	    .where = {.read = boot_read_entry, .env = BOOT_NO_FILE, .first_only = loader->grub_env}};
	int r = 0;

	if (names->state != SYS_VALUE) {
		r = err_set(err, names->errnum ? names->errnum : ENOENT, loader->entries, "cannot be listed: %s",
			    sys_reason(names->errnum ? names->errnum : ENOENT));
		(void)err_hint(err, "run hvtune as root");
		return r;
	}
	if (loader->grub_env)
		r = boot_table_add(table, loader->grub_env, &entries.where.env, err);
	entries.files = ARENA_ARRAY(table->arena, names->size + 1, uint16_t);
	for (size_t i = 0; r == 0 && i < names->size; i++) {
		const char *name = names->names[i];
		uint16_t file = 0;

		if (!text_equal(strrchr(name, '.'), ".conf"))
			continue;
		r = boot_table_add(table, arena_printf(table->arena, "%s/%s", loader->entries, name), &file, err);
		if (r == 0 && boot_is_own_entry(table->host, table->arena, name, table->files[file].text))
			entries.files[entries.count++] = file;
	}
	if (r < 0)
		return r;
	entries.where.file = entries.count ? entries.files[0] : BOOT_NO_FILE;
	*ret = entries;
	return 0;
}

int boot_default_entry(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_where *ret,
		       struct boot_entries *ret_all, struct err *err)
{
	struct arena *arena = table->arena;
	const char *release = fact_text_or(&table->host->os.kernel_release, NULL), *chosen;
	/* In a trial with another kernel the running one is not the default's. */
	const struct cmdline_word *beside = cmdline_last(&table->host->cmdline, BOOT_BESIDE);
	uint16_t selected = BOOT_NO_FILE, running = BOOT_NO_FILE;
	struct boot_entries entries = {.count = 0};
	int r = boot_own_entries(table, loader, &entries, err);

	if (r < 0)
		return r;
	chosen = loader->grub_env ? boot_env_get(arena, &table->files[entries.where.env], "saved_entry")
				  : boot_loader_variable(table->host, arena, "LoaderEntrySelected");
	for (size_t i = 0; i < entries.count; i++) {
		const struct boot_file *file = &table->files[entries.files[i]];

		const char *name = strrchr(file->path, '/') + 1;

		if (is_selected(name, boot_entry_value(arena, file->text, "title"), chosen))
			selected = entries.files[i];
		if (beside ? is_selected(name, NULL, beside->value) : is_running(arena, file->text, release))
			running = entries.files[i];
	}
	if (selected == BOOT_NO_FILE && running == BOOT_NO_FILE && entries.count != 1)
		return err_set(err, ENOTSUP, loader->entries, "which of its %zu entries is the default cannot be told",
			       entries.count);
	*ret = entries.where;
	if (selected != BOOT_NO_FILE || running != BOOT_NO_FILE)
		ret->file = selected != BOOT_NO_FILE ? selected : running;
	if (ret_all)
		*ret_all = entries;
	return 0;
}
