/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the plan that changes the kernel line of all later boots, loader by loader. */
#include "knob_boot_internal.h"

#include <errno.h>

#include "text.h"

/* ---- plans ---- */

bool knob_boot_plan_is_empty(const struct knob_boot_plan *plan)
{
	return !plan->file_count && !plan->command_count;
}

void boot_plan_file(struct arena *arena, struct knob_boot_plan *plan, const struct boot_file *before,
		    const struct boot_file *after)
{
	struct knob_boot_file *larger = ARENA_ARRAY(arena, plan->file_count + 1, struct knob_boot_file);

	if (plan->file_count)
		memcpy(larger, plan->files, plan->file_count * sizeof(*larger));
	larger[plan->file_count++] = (struct knob_boot_file){.path = before->path,
							     .before = before->exists ? before->text : NULL,
							     .before_size = before->exists ? before->size : 0,
							     .after = after->exists ? after->text : NULL,
							     .after_size = after->exists ? after->size : 0};
	plan->files = larger;
}

static const char *const *copy_arguments(struct arena *arena, const char *const *argv)
{
	size_t count = 0;

	while (argv && argv[count])
		count++;
	const char **copy = ARENA_ARRAY(arena, count + 1, const char *);

	for (size_t i = 0; i < count; i++)
		copy[i] = arena_strdup(arena, argv[i]);
	return argv ? copy : NULL;
}

void boot_plan_command(struct arena *arena, struct knob_boot_plan *plan, enum boot_when when, const char *why,
		       const char *const *argv, const char *const *undo)
{
	struct knob_boot_command *larger = ARENA_ARRAY(arena, plan->command_count + 1, struct knob_boot_command);

	if (plan->command_count)
		memcpy(larger, plan->commands, plan->command_count * sizeof(*larger));
	larger[plan->command_count++] = (struct knob_boot_command){.argv = copy_arguments(arena, argv),
								   .undo = copy_arguments(arena, undo),
								   .before = when == BOOT_FIRST,
								   .makes = when == BOOT_MAKE,
								   .why = why};
	plan->commands = larger;
}

const char *boot_command_text(struct arena *arena, const char *const *argv)
{
	const char *text = "";

	for (; argv && *argv; argv++)
		text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", *argv);
	return text;
}

void boot_plan_note(struct arena *arena, struct knob_boot_plan *plan, const char *format, ...)
{
	const char **larger = ARENA_ARRAY(arena, plan->note_count + 1, const char *);
	va_list values;

	if (plan->note_count)
		memcpy(larger, plan->notes, plan->note_count * sizeof(*larger));
	va_start(values, format);
	larger[plan->note_count++] = arena_vprintf(arena, format, values);
	va_end(values);
	plan->notes = larger;
}

/* ---- where the line stands ---- */

static bool is_debian(const struct knob_boot_loader *loader)
{
	return loader->kind == KNOB_BOOT_GRUB_DEBIAN || loader->kind == KNOB_BOOT_PROXMOX_GRUB;
}

/* grub-mkconfig of Debian sources grub.d/ *.cfg in the order of the shell's glob; the others read the one file. */
static int add_snippets(struct boot_table *table, struct boot_where *where, struct err *err)
{
	const struct sys_look *names = sys_list(table->host->sys, "/etc/default/grub.d");
	bool placed = false;
	int r = 0;

	for (size_t i = 0; names->state == SYS_VALUE && i < names->size; i++)
		if (text_equal(names->names[i], strrchr(BOOT_OWN_SNIPPET, '/') + 1))
			placed = true;
	if (names->state != SYS_VALUE)
		return 0;
	const char **sorted = ARENA_ARRAY(table->arena, names->size + 2, const char *);
	size_t count = 0;

	for (size_t i = 0; i < names->size; i++) {
		const char *dot = strrchr(names->names[i], '.');

		if (text_equal(dot, ".cfg") && names->names[i][0] != '.')
			sorted[count++] = names->names[i];
	}
	if (!placed)
		sorted[count++] = strrchr(BOOT_OWN_SNIPPET, '/') + 1;
	for (size_t i = 1; i < count; i++)
		for (size_t j = i; j > 0 && strcmp(sorted[j - 1], sorted[j]) > 0; j--) {
			const char *other = sorted[j];

			sorted[j] = sorted[j - 1];
			sorted[j - 1] = other;
		}
	for (size_t i = 0; r == 0 && i < count; i++) {
		uint16_t file = 0;

		r = boot_table_add(table, arena_printf(table->arena, "/etc/default/grub.d/%s", sorted[i]), &file, err);
		if (r == 0 && text_equal(table->files[file].path, BOOT_OWN_SNIPPET))
			where->home = file;
		where->file_count++;
	}
	return r;
}

int boot_find_defaults(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_where *ret,
		       struct err *err)
{
	struct boot_where where = {.read = boot_read_shell, .file_count = 1, .env = BOOT_NO_FILE};
	int r = boot_table_add(table, "/etc/default/grub", &where.file, err);

	where.anchor_name = loader->kind == KNOB_BOOT_GRUB_BLS ? "GRUB_CMDLINE_LINUX" : "GRUB_CMDLINE_LINUX_DEFAULT";
	if (r == 0 && is_debian(loader))
		r = add_snippets(table, &where, err);
	if (r == 0)
		*ret = where;
	return r;
}

/* /etc/kernel/cmdline; made from the running line where `make` says that its absence means just that. */
static int find_kernel_line(struct boot_table *table, bool first_only, bool make, struct boot_where *ret,
			    struct err *err)
{
	struct boot_where where = {.read = boot_read_plain, .env = BOOT_NO_FILE, .first_only = first_only};
	int r = boot_table_add(table, "/etc/kernel/cmdline", &where.file, err);

	if (r < 0)
		return r;
	struct boot_file *file = &table->files[where.file];

	if (make && !file->exists) {
		const char *line = boot_running_line(table->host, table->arena);

		if (!*line)
			return err_set(err, ENOTSUP, file->path, "is not there, and the running line is not known");
		file->text = arena_printf(table->arena, "%s\n", line);
		file->size = strlen(file->text);
		file->exists = true;
	}
	*ret = where;
	return 0;
}

/* ---- loader entries ---- */

static int edit_entries(struct boot_table *table, const struct knob_boot_loader *loader,
			const struct knob_boot_change *changes, size_t count, struct err *err)
{
	struct boot_entries entries = {.count = 0};
	int r = boot_own_entries(table, loader, &entries, err);

	for (size_t i = 0; r == 0 && i < entries.count; i++) {
		struct boot_where where = entries.where;

		where.file = entries.files[i];
		r = boot_edit(table, &where, changes, count, err);
	}
	if (r == 0 && !entries.count)
		r = err_set(err, ENOTSUP, loader->entries, "there is no loader entry with a kernel of this system");
	return r;
}

/* ---- what follows from changed files ---- */

static bool differs(const struct boot_file *a, const struct boot_file *b)
{
	return a->exists != b->exists || a->size != b->size || memcmp(a->text, b->text, a->size) != 0;
}

/* GRUB writes into its block at boot, so that is changed through its own tool and not as a file. */
static void plan_env(const struct boot_table *table, const struct knob_boot_loader *loader, size_t file,
		     struct knob_boot_plan *plan)
{
	struct arena *arena = table->arena;
	const char *tool = arena_printf(arena, "%s-editenv", loader->grub_prefix);
	const char *before = boot_env_get(arena, &table->before[file], "kernelopts");
	const char *after = boot_env_get(arena, &table->files[file], "kernelopts");
	const char *const argv[] = {tool, loader->grub_env, "set", arena_printf(arena, "kernelopts=%s", after), NULL};
	const char *const undo[] = {tool, loader->grub_env, "set", arena_printf(arena, "kernelopts=%s", before), NULL};

	boot_plan_command(arena, plan, BOOT_THEN, "since the loader entries take the line from GRUB's environment",
			  argv, undo);
}

static bool plan_files(struct boot_table *table, const struct knob_boot_loader *loader, struct knob_boot_plan *plan)
{
	bool any = false;

	for (size_t i = 0; i < table->count; i++) {
		if (!differs(&table->before[i], &table->files[i]))
			continue;
		if (boot_snippet_is_empty(&table->files[i]))
			table->files[i].exists = false;
		if (loader->grub_env && text_equal(table->files[i].path, loader->grub_env))
			plan_env(table, loader, i, plan);
		else
			boot_plan_file(table->arena, plan, &table->before[i], &table->files[i]);
		any = true;
	}
	return any;
}

/* tuned puts its own words behind ours, where they win. */
static int check_tuned(const struct boot_table *table, const struct knob_boot_change *changes, size_t count,
		       struct err *err)
{
	static const char path[] = "/etc/tuned/bootcmdline", name[] = "TUNED_BOOT_CMDLINE=\"";
	const struct sys_look *look = sys_read(table->host->sys, "%s", path);
	const char *start = look->state == SYS_VALUE ? strstr(look->data, name) : NULL;
	struct host_cmdline words = {.count = 0};

	if (!start)
		return 0;
	start += strlen(name);
	cmdline_parse(table->arena, arena_strndup(table->arena, start, strcspn(start, "\"\n")), &words);
	for (size_t i = 0; i < count; i++) {
		const struct cmdline_word *word = cmdline_last(&words, changes[i].name);

		if (!word || (changes[i].op == KNOB_BOOT_SET && text_equal(word->value, changes[i].value)))
			continue;
		int r = err_set(err, ENOTSUP, path,
				"tuned's profile puts %s on the line of every boot, behind other words", word->text);

		(void)err_hint(err, "change it in the profile ([bootloader] cmdline), or choose another profile");
		return r;
	}
	return 0;
}

/* ---- loaders ---- */

const char *const *knob_boot_maker(struct arena *arena, const struct knob_boot_loader *loader)
{
	static const char *const update_grub[] = {"update-grub", NULL};
	static const char *const install[] = {"kernel-install", "add-all", NULL};
	static const char *const refresh[] = {"proxmox-boot-tool", "refresh", NULL};
	static const char *const update[] = {"sdbootutil", "update-all-entries", NULL};
	const char **make;

	switch (loader->kind) {
	case KNOB_BOOT_GRUB_DEBIAN:
		return update_grub;
	case KNOB_BOOT_GRUB_OTHER:
		make = ARENA_ARRAY(arena, 4, const char *);
		make[0] = arena_printf(arena, "%s-mkconfig", loader->grub_prefix);
		make[1] = "-o";
		make[2] = loader->grub_cfg;
		return make;
	case KNOB_BOOT_UKI:
		return install;
	case KNOB_BOOT_SDBOOTUTIL:
		return update;
	case KNOB_BOOT_PROXMOX_GRUB:
	case KNOB_BOOT_PROXMOX_SDBOOT:
		return refresh;
	case KNOB_BOOT_UNKNOWN:
	case KNOB_BOOT_GRUB_BLS:
	case KNOB_BOOT_SYSTEMD:
	case KNOB_BOOT_OSTREE:
		break;
	}
	return NULL;
}

static void plan_maker(const struct boot_table *table, const struct knob_boot_loader *loader,
		       struct knob_boot_plan *plan)
{
	boot_plan_command(table->arena, plan, BOOT_MAKE,
			  loader->grub_env ? "so that GRUB's menu has the new line"
					   : "so that what boots is made anew with the line",
			  knob_boot_maker(table->arena, loader), NULL);
}

static int plan_defaults(struct boot_table *table, const struct knob_boot_loader *loader,
			 const struct knob_boot_change *changes, size_t count, struct knob_boot_plan *plan,
			 struct err *err)
{
	const char *kernel = boot_kernel_asked(changes, count);
	struct boot_where where = {.env = BOOT_NO_FILE};
	int r = boot_find_defaults(table, loader, &where, err);

	if (r == 0)
		r = boot_edit(table, &where, changes, count, err);
	if (r == 0 && kernel && loader->kind == KNOB_BOOT_GRUB_DEBIAN)
		r = boot_pin(table, loader, kernel, plan, err);
	if (r == 0 && plan_files(table, loader, plan))
		plan_maker(table, loader, plan);
	return r;
}

/* Entries are what boots; the other files only feed entries to come, so that their faults stop nothing. */
static int plan_entries(struct boot_table *table, const struct knob_boot_loader *loader,
			const struct knob_boot_change *changes, size_t count, struct knob_boot_plan *plan,
			struct err *err)
{
	struct boot_where defaults, line = {.env = BOOT_NO_FILE};
	struct err ignored = {0};
	int r = 0;

	if (loader->grub_env) {
		if (boot_find_defaults(table, loader, &defaults, &ignored) < 0 ||
		    (table->files[0].exists && boot_edit(table, &defaults, changes, count, &ignored) < 0))
			boot_plan_note(table->arena, plan, "%s is left alone: %s.", ignored.where, ignored.what);
	}
	r = edit_entries(table, loader, changes, count, err);
	if (r < 0)
		return r;
	r = find_kernel_line(table, false, false, &line, err);
	if (r == 0 && table->files[line.file].exists)
		r = boot_edit(table, &line, changes, count, err);
	else if (r == 0 && !loader->grub_env)
		boot_plan_note(
		    table->arena, plan,
		    "There is no /etc/kernel/cmdline: a kernel installed later gets the line of the kernel that "
		    "runs then.");
	if (r == 0)
		(void)plan_files(table, loader, plan);
	return r;
}

/* One line for all kernels, from which a tool makes what boots. */
static int plan_kernel_line(struct boot_table *table, const struct knob_boot_loader *loader,
			    const struct knob_boot_change *changes, size_t count, struct knob_boot_plan *plan,
			    struct err *err)
{
	struct boot_where where = {.env = BOOT_NO_FILE};
	int r = find_kernel_line(table, loader->kind == KNOB_BOOT_PROXMOX_SDBOOT, true, &where, err);
	const struct boot_file made = r == 0 ? table->files[where.file] : (struct boot_file){.path = ""};

	if (r == 0)
		r = boot_edit(table, &where, changes, count, err);
	/* Made from the running line and not changed: then there is nothing to write. */
	if (r == 0 && !differs(&made, &table->files[where.file]))
		table->files[where.file] = table->before[where.file];
	if (r == 0 && plan_files(table, loader, plan))
		plan_maker(table, loader, plan);
	if (r == 0 && loader->kind == KNOB_BOOT_UKI && plan->command_count)
		boot_plan_note(table->arena, plan, "kernel-install knows add-all from systemd 255 on.");
	return r;
}

/* rpm-ostree keeps the line with each deployment; what is there now is the best that can be read. */
static int plan_ostree(struct boot_table *table, const struct knob_boot_change *changes, size_t count,
		       struct knob_boot_plan *plan, struct err *err)
{
	struct arena *arena = table->arena;
	struct boot_where where = {.read = boot_read_plain, .env = BOOT_NO_FILE};
	struct boot_line line;
	struct boot_words words;
	int r = boot_table_add(table, "/proc/cmdline", &where.file, err);

	if (r < 0)
		return r;
	(void)boot_read_plain(table, &where, &line, err);
	boot_words_cut(&line, &words);
	const char **argv = ARENA_ARRAY(arena, 2 * words.count + 2 * count + 8, const char *);
	const char **undo = ARENA_ARRAY(arena, 2 * words.count + 2 * count + 8, const char *);
	const char *whole = boot_line_text(&line);
	size_t used = 2;

	argv[0] = undo[0] = "rpm-ostree";
	argv[1] = undo[1] = "kargs";
	r = boot_words_change(&line, &words, changes, count, err);
	for (size_t i = 0; r == 0 && i < words.count; i++) {
		const struct boot_word *word = &words.list[i];
		bool old = i < words.old_count;
		const char *before = arena_strndup(arena, whole + word->from, word->to - word->from);

		if (old && (word->gone || word->text)) {
			argv[used] = arena_printf(arena, "--delete-if-present=%s", before);
			undo[used++] = arena_printf(arena, "--append-if-missing=%s", before);
		}
		if (!word->gone && word->text) {
			argv[used] = arena_printf(arena, "--append-if-missing=%s", word->text);
			undo[used++] = arena_printf(arena, "--delete-if-present=%s", word->text);
		}
	}
	if (r == 0 && used > 2)
		boot_plan_command(arena, plan, BOOT_THEN, "since rpm-ostree keeps the line with each deployment", argv,
				  undo);
	return r;
}

int knob_boot_plan_default(struct host *host, const struct knob_boot_loader *loader,
			   const struct knob_boot_change *changes, size_t count, struct arena *arena,
			   struct knob_boot_plan *ret, struct err *err)
{
	struct boot_table *table = boot_table_new(host, arena);
	const char *kernel = boot_kernel_asked(changes, count);
	struct knob_boot_plan plan = {.file_count = 0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = knob_boot_change_check(&changes[i], err);
	if (r == 0 && kernel && loader->kind != KNOB_BOOT_GRUB_DEBIAN)
		r = boot_pin(boot_table_new(host, arena), loader, kernel, &plan, err);
	if (r == 0)
		r = check_tuned(table, changes, count, err);
	if (r < 0)
		return r;
	switch (loader->kind) {
	case KNOB_BOOT_UNKNOWN:
		r = err_set(err, ENOTSUP, NULL, "which boot loader this host has cannot be told (%s)",
			    loader->evidence);
		(void)err_hint(err, "add the words to the kernel's line by hand");
		return r;
	case KNOB_BOOT_GRUB_DEBIAN:
	case KNOB_BOOT_GRUB_OTHER:
	case KNOB_BOOT_PROXMOX_GRUB:
		r = plan_defaults(table, loader, changes, count, &plan, err);
		break;
	case KNOB_BOOT_GRUB_BLS:
	case KNOB_BOOT_SYSTEMD:
		r = plan_entries(table, loader, changes, count, &plan, err);
		break;
	case KNOB_BOOT_UKI:
	case KNOB_BOOT_SDBOOTUTIL:
	case KNOB_BOOT_PROXMOX_SDBOOT:
		r = plan_kernel_line(table, loader, changes, count, &plan, err);
		break;
	case KNOB_BOOT_OSTREE:
		r = plan_ostree(table, changes, count, &plan, err);
		break;
	}
	if (r == 0)
		*ret = plan;
	return r;
}
