/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the trial boot: an entry of its own beside the default, taken once. Nothing here touches the default entry or
 * what it is made from.
 */
#include "knob_boot_internal.h"

#include <ctype.h>
#include <errno.h>

#include "knob_boot_menu.h"
#include "text.h"

static const char block_begin[] = "### BEGIN hvtune trial: one boot with another kernel line ###\n";
static const char block_end[] = "### END hvtune trial ###\n";
enum { ENV_BYTES = 1024 };

const char *const knob_boot_trial_entries[] = {BOOT_TRIAL_GRUB_ENTRY, BOOT_TRIAL_SYSTEMD_ENTRY, NULL};

/* ---- the line ---- */

/* What only a trial has on its line, besides hvtune.trial=; each unless the line has a word on it already. */
static const struct knob_boot_change safety[] = {
    {.name = "panic", .value = "30"},		 /* the kernel, and the initial ramdisk of initramfs-tools */
    {.name = "rd.shell", .value = "0"},		 /* dracut: no shell that waits for a person... */
    {.name = "rd.emergency", .value = "reboot"}, /* ...but a reboot */
};

static bool has_word(const struct boot_words *words, const char *name)
{
	for (size_t i = 0; i < words->count; i++)
		if (!words->list[i].gone && !words->list[i].for_init && cmdline_same_name(words->list[i].name, name))
			return true;
	return false;
}

/*
 * The whole text of the line with the changes and the words of a trial. `beside`: the default's loader entry where the
 * kernel that runs in the trial does not lead to it; else NULL.
 */
static int trial_line(const struct boot_line *line, const struct knob_boot_change *changes, size_t count,
		      const char *id, const char *beside, const char **ret, struct err *err)
{
	struct arena *arena = line->arena;
	const char *text = boot_line_text(line);
	/* As one plain text: what stands in GRUB's environment or in several lines is written out. */
	struct boot_file *file = ARENA_NEW(arena, struct boot_file);
	struct boot_line plain = {.arena = arena, .files = file};
	struct boot_splices splices = {.arena = arena};
	struct boot_words words;
	size_t size = 0, end;

	*file = (struct boot_file){.path = line->files[line->count ? line->chars[0].file : 0].path,
				   .text = text,
				   .size = strlen(text),
				   .exists = true};
	for (end = file->size; end && isspace((unsigned char)text[end - 1]); end--)
		;
	boot_line_put_span(&plain, 0, 0, end, BOOT_PLAIN);
	plain.anchor =
	    (struct boot_anchor){.given = true, .context = BOOT_PLAIN, .at = (uint32_t)end, .blank_before = end > 0};
	boot_words_cut(&plain, &words);
	int r = boot_words_change(&plain, &words, changes, count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(safety); i++)
		if (!has_word(&words, safety[i].name))
			boot_words_add(arena, &words, safety[i].name, safety[i].value);
	boot_words_add(arena, &words, "hvtune.trial", id);
	if (beside)
		boot_words_add(arena, &words, BOOT_BESIDE, beside);
	r = boot_words_splice(&plain, &words, &splices, err);
	if (r == 0)
		r = boot_splices_apply(&splices, file, 0, ret, &size, err);
	for (size_t i = 0; r == 0 && i < count; i++)
		if (!knob_boot_line_has(arena, *ret, &changes[i]))
			r = err_set(err, ENOTSUP, file->path, "the trial's line is not the one that was asked for: %s",
				    *ret);
	return r;
}

/* ---- GRUB's menu ---- */

/* Lines of an entry that would make it a default, or the next boot wait for a person. */
static bool is_left_out(const char *line)
{
	line += strspn(line, " \t");
	return text_starts(line, "savedefault\n") || text_starts(line, "recordfail\n");
}

/* `'` has to be written as '\'' inside such quotes. */
static const char *quoted(struct arena *arena, const char *text)
{
	char *out = ARENA_ARRAY(arena, 4 * strlen(text) + 1, char), *at = out;

	for (; *text; text++) {
		if (*text == '\'')
			at = stpcpy(at, "'\\''");
		else
			*at++ = *text;
	}
	return out;
}

/*
 * How GRUB chooses the trial where it cannot write to its own block: the id stands on the EFI system partition, and
 * only when GRUB could take it away there is the trial's entry the default of this one boot.
 */
static const char *choice_by_esp(struct arena *arena, const struct knob_boot_loader *loader, const char *id)
{
	const char *file = "(${hvtune_esp})" BOOT_TRIAL_ESP_FILE;

	if (!loader->esp)
		return "";
	return arena_printf(arena,
			    "search --no-floppy --fs-uuid --set=hvtune_esp %s\n"
			    "if [ -n \"${hvtune_esp}\" ]; then\n"
			    "  load_env -f %s hvtune_trial\n"
			    "  if [ \"${hvtune_trial}\" = \"%s\" ]; then\n"
			    "    set hvtune_trial=\n"
			    "    if save_env -f %s hvtune_trial; then\n"
			    "      set default=\"%s\"\n"
			    "      set boot_once=true\n"
			    "    fi\n"
			    "  fi\n"
			    "fi\n",
			    loader->esp_uuid, file, id, file, BOOT_TRIAL_ID);
}

/* The entry of a kernel once more, with its own title and id and another line. */
static const char *entry_text(struct arena *arena, const char *cfg, const struct boot_kernel *from, const char *line,
			      const char *choice)
{
	const struct boot_menu_entry *entry = from->entry;
	const char *before_id = arena_strndup(arena, cfg + entry->title_end, entry->id_at - entry->title_end);
	const char *behind_id = arena_strndup(arena, cfg + entry->id_end, entry->body - 1 - entry->id_end);
	const char *text = arena_printf(arena, "%smenuentry 'hvtune trial: %s' %s --id '%s' %s{", block_begin,
					quoted(arena, entry->title), text_trim(arena, before_id), BOOT_TRIAL_ID,
					behind_id + strspn(behind_id, " \t"));
	const char *body = arena_printf(arena, "%.*s %s%.*s", (int)(from->start - entry->body), cfg + entry->body, line,
					(int)(entry->end - from->end), cfg + from->end);

	while (*body) {
		size_t length = strcspn(body, "\n");

		if (!is_left_out(body))
			text = arena_printf(arena, "%s%.*s", text, (int)(length + (body[length] == '\n')), body);
		body += length + (body[length] == '\n');
	}
	/* Should its kernel have gone by then, GRUB takes the first entry instead of waiting for a person. */
	return arena_printf(arena, "%s}\n%sif [ \"${default}\" = \"%s\" ]; then\n  set fallback=\"0\"\nfi\n%s", text,
			    choice, BOOT_TRIAL_ID, block_end);
}

static const char *custom_path(struct arena *arena, const struct knob_boot_loader *loader)
{
	return arena_printf(arena, "%.*s/custom.cfg", (int)(strrchr(loader->grub_env, '/') - loader->grub_env),
			    loader->grub_env);
}

/* custom.cfg without the trial's block. -ENOTSUP when the block has lost its end. */
static int without_block(struct arena *arena, const struct boot_file *file, const char **ret, struct err *err)
{
	const char *begin = strstr(file->text, block_begin), *end = begin ? strstr(begin, block_end) : NULL;

	if (begin && !end)
		return err_set_at(err, ENOTSUP, file->path, boot_file_line(file, (size_t)(begin - file->text)), 0,
				  "the block of hvtune's trial has lost its last line; take the block out by hand");
	*ret = begin ? arena_printf(arena, "%.*s%s", (int)(begin - file->text), file->text, end + strlen(block_end))
		     : file->text;
	return 0;
}

static void choose_by_grub(struct arena *arena, const struct knob_boot_loader *loader, struct knob_boot_plan *plan,
			   const char *entry)
{
	const char *const argv[] = {arena_printf(arena, "%s-reboot", loader->grub_prefix), entry, NULL};
	const char *const undo[] = {arena_printf(arena, "%s-editenv", loader->grub_prefix), loader->grub_env, "unset",
				    "next_entry", NULL};

	boot_plan_command(arena, plan, BOOT_THEN, "so that the next boot, and only that, takes the trial's entry", argv,
			  undo);
}

/* The block of the environment has to have room for the choice. */
static int check_room(struct boot_table *table, const struct knob_boot_loader *loader, const char *entry,
		      struct err *err)
{
	const char *ignored = NULL;
	uint16_t env = 0;
	int r = boot_table_add(table, loader->grub_env, &env, err);

	if (r == 0 && table->files[env].exists)
		r = boot_env_set(table->arena, &table->files[env], "next_entry", entry, &ignored, err);
	return r;
}

/* The id on the EFI system partition, in a block as GRUB's. */
static int add_choice(struct boot_table *table, const struct knob_boot_loader *loader, const char *id,
		      struct knob_boot_plan *plan, struct err *err)
{
	static const char head[] = "# GRUB Environment Block\n";
	char *block = arena_alloc(table->arena, ENV_BYTES + 1);
	uint16_t file = 0;
	int r = boot_table_add(table, arena_printf(table->arena, "%s" BOOT_TRIAL_ESP_FILE, loader->esp), &file, err);

	if (r < 0)
		return r;
	memset(block, '#', ENV_BYTES);
	int used = snprintf(block, ENV_BYTES, "%shvtune_trial=%s\n", head, id);

	block[used] = '#'; /* where the text ended */
	table->files[file].text = block;
	table->files[file].size = ENV_BYTES;
	table->files[file].exists = true;
	boot_plan_file(table->arena, plan, &table->before[file], &table->files[file]);
	return 0;
}

static int trial_by_menu(struct boot_table *table, const struct knob_boot_loader *loader,
			 const struct knob_boot_change *changes, size_t count, const char *id,
			 struct knob_boot_plan *plan, struct err *err)
{
	struct arena *arena = table->arena;
	struct boot_kernels kernels = {.count = 0};
	static const struct boot_kernel none;
	const struct boot_kernel *from = &none;
	const char *text = "", *rest = "";
	uint16_t custom = 0;
	int r = boot_kernels_find(table, loader, &kernels, err);

	if (r < 0)
		return r;
	if (!kernels.menu->takes_next && !loader->esp)
		r = err_set(err, ENOTSUP, loader->grub_cfg,
			    "this menu of GRUB takes no entry for one boot (next_entry)");
	if (r == 0 && !kernels.menu->reads_custom)
		r = err_set(err, ENOTSUP, loader->grub_cfg, "this menu of GRUB does not read custom.cfg");
	if (r < 0) {
		(void)err_hint(err, "is 41_custom in /etc/grub.d? make the menu anew");
		return r;
	}
	r = boot_kernels_choose(table, loader, &kernels, boot_kernel_asked(changes, count), &from, err);
	if (r == 0)
		r = trial_line(&kernels.line, changes, count, id, NULL, &text, err);
	if (r == 0)
		r = boot_table_add(table, custom_path(arena, loader), &custom, err);
	if (r == 0)
		r = without_block(arena, &table->files[custom], &rest, err);
	if (r == 0)
		r = loader->esp ? add_choice(table, loader, id, plan, err)
				: check_room(table, loader, BOOT_TRIAL_ID, err);
	if (r < 0)
		return r;
	struct boot_file after = table->files[custom];

	after.text = arena_printf(
	    arena, "%s%s%s", rest, *rest && rest[strlen(rest) - 1] != '\n' ? "\n" : "",
	    entry_text(arena, table->files[from->file].text, from, text, choice_by_esp(arena, loader, id)));
	after.size = strlen(after.text);
	after.exists = true;
	boot_plan_file(arena, plan, &table->before[custom], &after);
	if (!loader->esp)
		choose_by_grub(arena, loader, plan, BOOT_TRIAL_ID);
	return 0;
}

/* ---- loader entries ---- */

/* The menu of GRUB that reads loader entries has the code for one boot from grub-mkconfig, unless someone took it out.
 */
static int check_menu(struct boot_table *table, const struct knob_boot_loader *loader, struct err *err)
{
	uint16_t cfg = 0;
	int r = boot_table_add(table, loader->grub_cfg, &cfg, err);

	if (r == 0 && !strstr(table->files[cfg].text, "next_entry"))
		r = err_set(err, ENOTSUP, loader->grub_cfg,
			    "this menu of GRUB takes no entry for one boot (next_entry)");
	return r;
}

static const char *trial_entry_path(struct arena *arena, const struct knob_boot_loader *loader)
{
	return arena_printf(arena, "%s/%s", loader->entries,
			    loader->grub_env ? BOOT_TRIAL_GRUB_ENTRY : BOOT_TRIAL_SYSTEMD_ENTRY);
}

static bool has_key(const char *line, const char *key)
{
	line += strspn(line, " \t");
	return text_starts(line, key) && isspace((unsigned char)line[strlen(key)]);
}

/*
 * The entry of a kernel with another title and line. Without its sort-key systemd-boot puts it behind those that have
 * one; what names the file ("id") is that entry's own.
 */
static const char *trial_entry_text(struct arena *arena, const char *entry, const char *line)
{
	const char *text = "# made by hvtune for one boot\n";
	bool had_options = false;

	while (*entry) {
		size_t length = strcspn(entry, "\n");

		if (has_key(entry, "title"))
			text = arena_printf(arena, "%stitle hvtune trial: %s\n", text,
					    text_trim(arena, arena_strndup(arena, entry + 5, length - 5)));
		else if (has_key(entry, "options") && !had_options)
			text = arena_printf(arena, "%soptions %s\n", text, line);
		else if (!has_key(entry, "options") && !has_key(entry, "sort-key") && !has_key(entry, "id"))
			text = arena_printf(arena, "%s%.*s\n", text, (int)length, entry);
		had_options = had_options || has_key(entry, "options");
		entry += length + (entry[length] == '\n');
	}
	return text;
}

/* The default beside a trial of another kernel, as a word of the line can say it; NULL where none is needed or can. */
static const char *beside_of(const struct boot_kernels *kernels, const struct boot_kernel *from)
{
	const struct knob_boot_change word = {.name = BOOT_BESIDE, .value = kernels->list->id};

	return from == kernels->list || knob_boot_change_check(&word, NULL) < 0 ? NULL : word.value;
}

static int trial_by_entry(struct boot_table *table, const struct knob_boot_loader *loader,
			  const struct knob_boot_change *changes, size_t count, const char *id,
			  struct knob_boot_plan *plan, struct err *err)
{
	static const char *const choose[] = {"bootctl", "set-oneshot", BOOT_TRIAL_SYSTEMD_ENTRY, NULL};
	static const char *const unchoose[] = {"bootctl", "set-oneshot", "", NULL};
	struct arena *arena = table->arena;
	struct boot_kernels kernels = {.count = 0};
	static const struct boot_kernel none;
	const struct boot_kernel *from = &none;
	const char *text = "";
	uint16_t own = 0;
	int r = boot_kernels_find(table, loader, &kernels, err);

	if (r == 0)
		r = boot_kernels_choose(table, loader, &kernels, boot_kernel_asked(changes, count), &from, err);
	if (r == 0)
		r = trial_line(&kernels.line, changes, count, id, beside_of(&kernels, from), &text, err);
	if (r == 0)
		r = boot_table_add(table, trial_entry_path(arena, loader), &own, err);
	if (r == 0 && loader->grub_env)
		r = check_menu(table, loader, err);
	if (r == 0 && loader->grub_env)
		r = check_room(table, loader, BOOT_TRIAL_GRUB_ENTRY, err);
	if (r < 0)
		return r;
	struct boot_file after = table->files[own];

	after.text = trial_entry_text(arena, table->files[from->file].text, text_trim(arena, text));
	after.size = strlen(after.text);
	after.exists = true;
	boot_plan_file(arena, plan, &table->before[own], &after);
	if (loader->grub_env)
		choose_by_grub(
		    arena, loader, plan,
		    arena_strndup(arena, BOOT_TRIAL_GRUB_ENTRY, strlen(BOOT_TRIAL_GRUB_ENTRY) - strlen(".conf")));
	else
		boot_plan_command(arena, plan, BOOT_THEN,
				  "so that the next boot, and only that, takes the trial's entry", choose, unchoose);
	return 0;
}

/* ---- all loaders ---- */

static bool is_id(const char *id)
{
	size_t length = strlen(id);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)id[i]) && id[i] != '-')
			return false;
	return length > 0 && length <= 40;
}

int knob_boot_plan_trial(struct host *host, const struct knob_boot_loader *loader,
			 const struct knob_boot_change *changes, size_t count, const char *id, struct arena *arena,
			 struct knob_boot_plan *ret, struct err *err)
{
	struct boot_table *table = boot_table_new(host, arena);
	struct knob_boot_plan plan = {.file_count = 0};
	int r = is_id(id) ? 0 : err_set(err, EINVAL, id, "no id of a trial: letters, digits and -, at most 40");

	for (size_t i = 0; r == 0 && i < count; i++)
		r = knob_boot_change_check(&changes[i], err);
	if (r < 0)
		return r;
	if (loader->no_trial) {
		r = err_set(err, ENOTSUP, loader->name, "no trial boot is possible here: %s", loader->no_trial);
		(void)err_hint(err, "--no-trial changes the default entry without one");
		return r;
	}
	r = loader->entries ? trial_by_entry(table, loader, changes, count, id, &plan, err)
			    : trial_by_menu(table, loader, changes, count, id, &plan, err);
	if (r == 0)
		*ret = plan;
	return r;
}

/* What GRUB's environment says of the next boot; NULL: nothing. */
static int next_of_grub(struct boot_table *table, const struct knob_boot_loader *loader, const char **ret,
			struct err *err)
{
	uint16_t env = 0;
	int r = loader->grub_env ? boot_table_add(table, loader->grub_env, &env, err) : 0;

	if (r == 0)
		*ret = loader->grub_env ? boot_env_get(table->arena, &table->files[env], "next_entry") : NULL;
	return r;
}

bool knob_boot_names_next(struct host *host, const struct knob_boot_loader *loader)
{
	const char *next = NULL;

	return next_of_grub(boot_table_new(host, host->arena), loader, &next, NULL) == 0 && next;
}

int knob_boot_plan_tidy(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
			struct knob_boot_plan *ret, struct err *err)
{
	struct boot_table *table = boot_table_new(host, arena);
	struct knob_boot_plan plan = {.file_count = 0};
	const char *next = NULL;
	int r = next_of_grub(table, loader, &next, err);

	if (r < 0)
		return r;
	if (next && !*next) {
		const char *const unset[] = {arena_printf(arena, "%s-editenv", loader->grub_prefix), loader->grub_env,
					     "unset", "next_entry", NULL};

		boot_plan_command(arena, &plan, BOOT_THEN, "so that GRUB's environment is as it was", unset, NULL);
	}
	*ret = plan;
	return 0;
}

/* Take back a choice that no boot has taken yet. */
static int forget_choice(struct boot_table *table, const struct knob_boot_loader *loader, struct knob_boot_plan *plan,
			 struct err *err)
{
	struct arena *arena = table->arena;
	const char *const none[] = {"bootctl", "set-oneshot", "", NULL};
	const char *const unset[] = {
	    arena_printf(arena, "%s-editenv", loader->grub_prefix ? loader->grub_prefix : "grub"), loader->grub_env,
	    "unset", "next_entry", NULL};
	const char *chosen;
	uint16_t env = 0;

	if (!loader->grub_env) {
		chosen = boot_loader_variable(table->host, arena, "LoaderEntryOneShot");
	} else {
		int r = boot_table_add(table, loader->grub_env, &env, err);

		if (r < 0)
			return r;
		chosen = boot_env_get(arena, &table->files[env], "next_entry");
	}
	if (chosen && boot_is_trial_entry(chosen))
		boot_plan_command(arena, plan, BOOT_FIRST, "so that the next boot does not take the trial's entry",
				  loader->grub_env ? unset : none, NULL);
	return 0;
}

int knob_boot_plan_forget(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
			  struct knob_boot_plan *ret, struct err *err)
{
	struct boot_table *table = boot_table_new(host, arena);
	struct knob_boot_plan plan = {.file_count = 0};
	const char *rest = "";
	uint16_t file = 0;
	int r = 0;

	if (!loader->entries && !loader->grub_env) {
		*ret = plan;
		return 0;
	}
	r = forget_choice(table, loader, &plan, err);
	if (r == 0)
		r = boot_table_add(
		    table, loader->entries ? trial_entry_path(arena, loader) : custom_path(arena, loader), &file, err);
	if (r == 0 && !loader->entries)
		r = without_block(arena, &table->files[file], &rest, err);
	if (r < 0)
		return r;
	struct boot_file after = table->files[file];

	after.text = rest;
	after.size = strlen(rest);
	after.exists = *rest != '\0';
	if (table->files[file].exists && after.size != table->files[file].size)
		boot_plan_file(arena, &plan, &table->before[file], &after);
	if (loader->esp)
		r = boot_table_add(table, arena_printf(arena, "%s" BOOT_TRIAL_ESP_FILE, loader->esp), &file, err);
	if (r < 0)
		return r;
	if (loader->esp && table->files[file].exists)
		boot_plan_file(arena, &plan, &table->before[file], &(struct boot_file){.exists = false});
	*ret = plan;
	return 0;
}

const char *knob_boot_trial_id(const struct host *host)
{
	const struct cmdline_word *word = cmdline_last(&host->cmdline, "hvtune.trial");

	return word ? word->value : NULL;
}

/* ---- what the next ordinary boot has ---- */

int knob_boot_configured(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
			 struct host_cmdline *ret, struct err *err)
{
	struct boot_table *table = boot_table_new(host, arena);
	struct boot_where where = {.env = BOOT_NO_FILE};
	struct boot_line line = {.arena = arena, .files = table->files};
	int r = 0;

	if (loader->kind == KNOB_BOOT_UNKNOWN || loader->kind == KNOB_BOOT_OSTREE)
		return err_set(err, ENOTSUP, loader->name, "what its next boot has on the line stands in no file");
	if (loader->kind == KNOB_BOOT_GRUB_BLS || loader->kind == KNOB_BOOT_SYSTEMD) {
		r = boot_default_entry(table, loader, &where, NULL, err);
	} else if (loader->grub_env) {
		r = boot_find_defaults(table, loader, &where, err);
	} else {
		where.read = boot_read_plain;
		where.first_only = loader->kind == KNOB_BOOT_PROXMOX_SDBOOT;
		r = boot_table_add(table, "/etc/kernel/cmdline", &where.file, err);
		/* Without that file the tools take the running line. */
		if (r == 0 && !table->files[where.file].exists) {
			table->files[where.file].text = boot_running_line(host, arena);
			table->files[where.file].size = strlen(table->files[where.file].text);
		}
	}
	if (r == 0)
		r = where.read(table, &where, &line, err);
	if (r < 0)
		return r;
	struct host_cmdline cmdline = {.path = table->files[where.file].path, .first_line = 1};
	const char *text = boot_line_text(&line);

	cmdline.line = fact_text("cmdline.line", text, cmdline.path);
	cmdline_parse(arena, text, &cmdline);
	*ret = cmdline;
	return 0;
}
