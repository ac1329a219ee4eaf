/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the kernels that a loader has entries of: which release each is, which of them is the default's, and the entry
 * to copy for another one.
 */
#include <ctype.h>
#include <errno.h>

#include "knob_boot_menu.h"
#include "text.h"

/* ---- releases ---- */

/* "6.1.0-28-amd64"; "linux" of Arch and "0-rescue-..." of dracut are none. */
static bool is_release(const char *text)
{
	size_t digits = strspn(text, "0123456789"), length = strlen(text);

	/* What `make install` moves out of the way is another build of the release in front. */
	return digits && text[digits] == '.' && !(length > 4 && text_equal(text + length - 4, ".old"));
}

/* Arch names kernels by their package, and says in the modules of a release which package they are of. */
static const char *release_of_package(struct host *host, struct arena *arena, const char *package)
{
	const struct sys_look *names = sys_list(host->sys, "/usr/lib/modules");

	for (size_t i = 0; names->state == SYS_VALUE && i < names->size; i++) {
		const struct sys_look *look = sys_read(host->sys, "/usr/lib/modules/%s/pkgbase", names->names[i]);

		if (look->state == SYS_VALUE && text_equal(text_trim(arena, look->data), package))
			return arena_strdup(arena, names->names[i]);
	}
	return NULL;
}

/* Of /boot/vmlinuz-RELEASE, of kernel-install's /TOKEN/RELEASE/linux, or of the entry's version, "1@RELEASE" on SUSE.
 */
static const char *release_of(struct host *host, struct arena *arena, const char *path, const char *version)
{
	static const char *const stems[] = {"vmlinuz-", "vmlinux-", "kernel-", "bzImage-", "Image-"};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *tail = NULL;
	const char *dir = slash ? arena_strndup(arena, path, (size_t)(slash - path)) : "";
	const char *above = strrchr(dir, '/'), *at = version ? strchr(version, '@') : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(stems) && !tail; i++)
		if (text_starts(base, stems[i]))
			tail = base + strlen(stems[i]);
	if (tail && is_release(tail))
		return arena_strdup(arena, tail);
	if (!tail && above && is_release(above + 1))
		return arena_strdup(arena, above + 1);
	if (version && is_release(at ? at + 1 : version))
		return at ? at + 1 : version;
	return tail ? release_of_package(host, arena, tail) : NULL;
}

/* ---- entries ---- */

/* Are the lines the same, and if not, is there a word of those that say which system starts in which they differ? */
static void compare_lines(struct arena *arena, const char *line, const char *standard, struct boot_kernel *kernel)
{
	static const char *const words[] = {"root", "rootflags", "rootfstype", "init", "initrd", "ostree"};

	kernel->same_line = text_equal(text_trim(arena, line), text_trim(arena, standard));
	for (size_t i = 0; i < ARRAY_SIZE(words) && !kernel->unlike; i++)
		if (!text_equal(knob_boot_value(arena, line, words[i]), knob_boot_value(arena, standard, words[i])))
			kernel->unlike = words[i];
}

/* How GRUB is told of an entry: by its id or title, behind those of the submenus that it is in. */
static const char *menu_id(struct arena *arena, const struct boot_menu *menu, const struct boot_menu_entry *entry)
{
	const char *own = entry->id ? entry->id : entry->title;

	return entry->parent < 0 ? own
				 : arena_printf(arena, "%s>%s", menu_id(arena, menu, &menu->list[entry->parent]), own);
}

static int add_of_menu(struct boot_table *table, uint16_t file, const struct boot_menu_entry *entry,
		       struct boot_kernels *kernels, struct err *err)
{
	struct arena *arena = table->arena;
	struct boot_kernel *kernel = &kernels->list[kernels->count];
	const char *path = "";
	struct boot_line line = {.arena = arena, .files = table->files};

	*kernel = (struct boot_kernel){.file = file, .entry = entry};
	int r = boot_menu_linux(arena, &table->files[file], entry, &path, &kernel->start, &kernel->end, err);

	if (r < 0)
		return r;
	boot_line_put_span(&line, file, kernel->start + strspn(table->files[file].text + kernel->start, " \t"),
			   kernel->end, BOOT_PLAIN);
	if (!kernels->count)
		kernels->line = line;
	kernel->release = release_of(table->host, arena, path, NULL);
	kernel->id = menu_id(arena, kernels->menu, entry);
	compare_lines(arena, boot_line_text(&line), boot_line_text(&kernels->line), kernel);
	kernels->count++;
	return 0;
}

/* The entry of GRUB's menu that is the default now. */
static int default_of_menu(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_menu *menu,
			   uint16_t *ret_file, const struct boot_menu_entry **ret, struct err *err)
{
	uint16_t cfg = 0, env = 0;
	int r = boot_table_add(table, loader->grub_cfg, &cfg, err);

	if (r == 0)
		r = boot_table_add(table, loader->grub_env, &env, err);
	if (r < 0)
		return r;
	const struct boot_file *file = &table->files[cfg];

	if (!file->exists)
		return err_set(err, ENOTSUP, loader->grub_cfg, "GRUB's menu is not there");
	r = boot_menu_parse(table->arena, file, menu, err);
	if (r < 0)
		return r;
	const char *chosen = menu->default_text ? menu->default_text : "0", *pinned = boot_pinned(table, loader);

	/* Of an entry that has gone GRUB says nothing, and takes the first. */
	if (pinned)
		chosen = boot_menu_find(table->arena, menu, pinned, ret, file, NULL) == 0 ? pinned : "0";

	if (text_equal(chosen, "${saved_entry}") || text_equal(chosen, "$saved_entry"))
		chosen = boot_env_get(table->arena, &table->files[env], "saved_entry");
	if (chosen && strchr(chosen, '$'))
		return err_set(err, ENOTSUP, loader->grub_cfg, "GRUB's default is computed at boot (%s)", chosen);
	*ret_file = cfg;
	return boot_menu_find(table->arena, menu, chosen && *chosen ? chosen : "0", ret, file, err);
}

static int kernels_of_menu(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_kernels *ret,
			   struct err *err)
{
	struct boot_menu *menu = ARENA_NEW(table->arena, struct boot_menu);
	static const struct boot_menu_entry none;
	const struct boot_menu_entry *standard = &none;
	uint16_t file = 0;
	int r = default_of_menu(table, loader, menu, &file, &standard, err);

	ret->menu = menu;
	ret->list = ARENA_ARRAY(table->arena, menu->count + 1, struct boot_kernel);
	if (r == 0)
		r = add_of_menu(table, file, standard, ret, err);
	for (size_t i = 0; r == 0 && i < menu->count; i++) {
		const struct boot_menu_entry *entry = &menu->list[i];

		/* One without a kernel of Linux, as of the firmware's setup, is none to copy. */
		if (entry != standard && !entry->is_submenu && !entry->unsure)
			(void)add_of_menu(table, file, entry, ret, NULL);
	}
	return r;
}

static int add_of_entries(struct boot_table *table, const struct boot_where *where, struct boot_kernels *kernels,
			  struct err *err)
{
	struct arena *arena = table->arena;
	struct boot_kernel *kernel = &kernels->list[kernels->count];
	const struct boot_file *file = &table->files[where->file];
	struct boot_line line;
	int r = boot_read_entry(table, where, &line, err);

	if (r < 0)
		return r;
	if (!kernels->count)
		kernels->line = line;
	*kernel =
	    (struct boot_kernel){.release = release_of(table->host, arena, boot_entry_value(arena, file->text, "linux"),
						       boot_entry_value(arena, file->text, "version")),
				 .id = strrchr(file->path, '/') + 1,
				 .file = where->file};
	compare_lines(arena, boot_line_text(&line), boot_line_text(&kernels->line), kernel);
	/* GRUB's tools leave the end of the name out. */
	if (where->env != BOOT_NO_FILE)
		kernel->id = arena_strndup(arena, kernel->id, strlen(kernel->id) - strlen(".conf"));
	kernels->count++;
	return 0;
}

static int kernels_of_entries(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_kernels *ret,
			      struct err *err)
{
	struct boot_entries entries = {.count = 0};
	struct boot_where where = {.env = BOOT_NO_FILE};
	int r = boot_default_entry(table, loader, &where, &entries, err);
	uint16_t standard = where.file;

	if (r < 0)
		return r;
	ret->list = ARENA_ARRAY(table->arena, entries.count + 1, struct boot_kernel);
	r = add_of_entries(table, &where, ret, err);
	for (size_t i = 0; r == 0 && i < entries.count; i++) {
		where.file = entries.files[i];
		/* One without a line is none to copy. */
		if (where.file != standard)
			(void)add_of_entries(table, &where, ret, NULL);
	}
	return r;
}

int boot_kernels_find(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_kernels *ret,
		      struct err *err)
{
	struct boot_kernels kernels = {.count = 0};
	int r = loader->entries	   ? kernels_of_entries(table, loader, &kernels, err)
		: loader->grub_cfg ? kernels_of_menu(table, loader, &kernels, err)
				   : err_set(err, ENOTSUP, loader->name, "no kernel can be chosen here: %s",
					     loader->no_trial ? loader->no_trial : "the loader has no entries");

	if (r == 0)
		*ret = kernels;
	return r;
}

/* ---- the one that is asked for ---- */

const char *boot_kernel_asked(const struct knob_boot_change *changes, size_t count)
{
	const char *release = NULL;

	for (size_t i = 0; i < count; i++)
		if (changes[i].op == KNOB_BOOT_KERNEL)
			release = changes[i].value;
	return release;
}

const struct boot_kernel *boot_kernels_default(const struct boot_kernels *kernels)
{
	static const struct boot_kernel none = {.id = ""};

	return kernels->list ? kernels->list : &none;
}

static const char *place_of(const struct knob_boot_loader *loader)
{
	return loader->entries ? loader->entries : loader->grub_cfg;
}

/* All releases that could be asked for, each once, the default's first. */
static const char *releases(struct arena *arena, const struct boot_kernels *kernels, const char *between)
{
	const char *text = "";

	for (size_t i = 0; i < kernels->count; i++) {
		const struct boot_kernel *kernel = &kernels->list[i];
		bool told = !kernel->release || kernel->unlike;

		for (size_t j = 0; j < i && !told; j++)
			told = !kernels->list[j].unlike && text_equal(kernels->list[j].release, kernel->release);
		if (!told)
			text = arena_printf(arena, "%s%s%s", text, *text ? between : "", kernel->release);
	}
	return text;
}

/* Files of kernels get their entries when the loader's menu is made. */
static int refuse_missing(struct boot_table *table, const struct knob_boot_loader *loader,
			  const struct boot_kernels *kernels, const char *release, struct err *err)
{
	const char *const *maker = knob_boot_maker(table->arena, loader);
	const char *there = releases(table->arena, kernels, ", ");
	const struct sys_look *names = sys_list(table->host->sys, "/boot");
	const char *file = arena_printf(table->arena, "vmlinuz-%s", release);

	if (!*there)
		there = "none whose name tells its release";
	for (size_t i = 0; names->state == SYS_VALUE && i < names->size; i++) {
		if (!text_equal(names->names[i], file))
			continue;
		(void)err_set(err, ENOENT, BOOT_KERNEL_PLACE,
			      "/boot has %s, but %s has no entry of it; entries are there of: %s", file,
			      place_of(loader), there);
		return maker ? err_hint(err, "make its entry: %s", boot_command_text(table->arena, maker)) : -ENOENT;
	}
	return err_set(err, ENOENT, BOOT_KERNEL_PLACE, "%s%s%s; in %s are: %s", *release ? "kernel " : "", release,
		       *release ? " is not installed" : "an empty value is no release", place_of(loader), there);
}

int boot_kernels_choose(struct boot_table *table, const struct knob_boot_loader *loader,
			const struct boot_kernels *kernels, const char *release, const struct boot_kernel **ret,
			struct err *err)
{
	const struct boot_kernel *other = NULL;

	for (size_t i = 0; i < kernels->count; i++) {
		const struct boot_kernel *kernel = &kernels->list[i];

		if (release && !text_equal(kernel->release, release))
			continue;
		if (!kernel->unlike) {
			*ret = kernel;
			return 0;
		}
		other = kernel;
	}
	if (!other)
		return refuse_missing(table, loader, kernels, release, err);
	const struct boot_file *file = &table->files[other->file];

	return err_set_at(err, ENOTSUP, file->path, other->entry ? boot_file_line(file, other->entry->head) : 1, 0,
			  "the entry of kernel %s has another %s= on its line than the default's: it is of another "
			  "system",
			  release, other->unlike);
}

int knob_boot_configured_kernel(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
				const char **ret, struct err *err)
{
	struct boot_kernels kernels = {.count = 0};
	const struct boot_kernel *standard;
	int r = boot_kernels_find(boot_table_new(host, arena), loader, &kernels, err);

	if (r < 0)
		return r;
	standard = boot_kernels_default(&kernels);
	if (!standard->release)
		return err_set(err, ENOTSUP, place_of(loader),
			       "the default entry (%s) does not tell the release of its kernel", standard->id);
	*ret = standard->release;
	return 0;
}

int knob_boot_kernels(struct host *host, const struct knob_boot_loader *loader, struct arena *arena, const char **ret,
		      struct err *err)
{
	struct boot_kernels kernels = {.count = 0};
	int r = boot_kernels_find(boot_table_new(host, arena), loader, &kernels, err);

	if (r == 0)
		*ret = releases(arena, &kernels, " ");
	return r;
}

int knob_boot_check_kernel(struct host *host, const struct knob_boot_loader *loader, const char *release,
			   struct err *err)
{
	struct boot_table *table = boot_table_new(host, host->arena);
	struct boot_kernels kernels = {.count = 0};
	const struct boot_kernel *ignored = NULL;
	int r = boot_kernels_find(table, loader, &kernels, err);

	if (r < 0)
		return r;
	if (boot_kernels_choose(table, loader, &kernels, release, &ignored, err) == 0)
		return 0;
	/* Whoever asked named the wrong one: elsewhere its entry is what has gone. */
	if (err)
		err->code = -EINVAL;
	return -EINVAL;
}
