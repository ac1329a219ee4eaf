/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in knob_guest_grub.h. */
#include "knob_guest_grub.h"

#include <errno.h>
#include <stdlib.h>

#include "knob_boot_shell.h"
#include "knob_libvirt.h"
#include "text.h"

#define DEFAULTS "/etc/default/grub"
#define SNIPPETS DEFAULTS ".d"

static const char anchor_name[] = "GRUB_CMDLINE_LINUX_DEFAULT";

/* What makes the menu, and the menu that it makes. update-grub reads snippets too, as Debian patches grub-mkconfig. */
static const struct {
	const char *argv[4];
	const char *menu;
	bool snippets;
} makers[] = {
    {{"/usr/sbin/update-grub"}, "/boot/grub/grub.cfg", true},
    {{"/usr/sbin/grub2-mkconfig", "-o", "/boot/grub2/grub.cfg"}, "/boot/grub2/grub.cfg", false},
    {{"/usr/bin/grub2-mkconfig", "-o", "/boot/grub2/grub.cfg"}, "/boot/grub2/grub.cfg", false},
    {{"/usr/bin/grub-mkconfig", "-o", "/boot/grub/grub.cfg"}, "/boot/grub/grub.cfg", false},
    {{"/usr/sbin/grub-mkconfig", "-o", "/boot/grub/grub.cfg"}, "/boot/grub/grub.cfg", false},
};

static int add_file(struct knob_machine *machine, struct guest_grub *grub, const char *path, struct err *err)
{
	struct boot_table *table = grub->table;
	const char *text = NULL;
	int r = knob_guest_read(machine, grub->uuid, path, &text, err);

	if (r < 0 || !text)
		return r;
	if (table->count >= BOOT_FILES_MAX)
		return err_set(err, E2BIG, path, "more files than a boot loader has (%d)", BOOT_FILES_MAX);
	table->files[table->count] = table->before[table->count] =
	    (struct boot_file){.path = path, .text = text, .size = strlen(text), .exists = true};
	table->count++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The agent lists no directories. */
static int add_snippets(struct knob_machine *machine, struct guest_grub *grub, struct err *err)
{
	/* That of its kind which is always there keeps a missing directory from being an error. */
	static const char pattern[] = SNIPPETS "/*.cfg";
	const char *const argv[] = {"find", "/etc/default", "-maxdepth", "2", "-path", pattern, NULL};
	const char **paths = ARENA_ARRAY(machine->arena, BOOT_FILES_MAX, const char *), *output = "";
	size_t count = 0;
	int r = knob_guest_run(machine, grub->uuid, false, argv, &output, err);
	char *rest = arena_strdup(machine->arena, output);

	for (char *line = strsep(&rest, "\n"); r == 0 && line && count < BOOT_FILES_MAX; line = strsep(&rest, "\n"))
		if (text_starts(line, SNIPPETS "/") && line[strlen(SNIPPETS "/")] != '.')
			paths[count++] = line;
	qsort(paths, count, sizeof(*paths), by_name);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_file(machine, grub, paths[i], err);
	return r;
}

static int refuse(struct knob_machine *machine, const struct guest_grub *grub, const char *what, struct err *err)
{
	struct knob_domain domain = {.name = grub->uuid};
	struct err ignored = {0};

	(void)knob_libvirt_find(machine, grub->uuid, &domain, &ignored);
	(void)err_set(err, ENOTSUP, domain.name, "%s", what);
	return err_hint(err, "only GRUB with " DEFAULTS " is served in guests; change the line in the guest itself");
}

static int find_maker(struct knob_machine *machine, struct guest_grub *grub, bool *ret_snippets, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++) {
		bool program = false, menu = false;
		int r = knob_guest_has(machine, grub->uuid, makers[i].argv[0], &program, err);

		if (r == 0 && program)
			r = knob_guest_has(machine, grub->uuid, makers[i].menu, &menu, err);
		if (r < 0)
			return r;
		if (!menu)
			continue;
		grub->maker = makers[i].argv;
		*ret_snippets = makers[i].snippets;
		return 0;
	}
	return refuse(machine, grub, "the guest has no update-grub or grub-mkconfig with the menu that it makes", err);
}

/* Does a line of it begin so? */
static bool has_line(const char *text, const char *start)
{
	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (text_starts(text, start))
			return true;
	}
	return false;
}

/* New words go into the last file that sets the variable: what stands before it may not count. */
static int find_home(struct guest_grub *grub, struct err *err)
{
	struct boot_table *table = grub->table;
	struct boot_anchor *anchors = ARENA_ARRAY(table->arena, table->count, struct boot_anchor);
	struct boot_line line;
	int r = boot_shell_read(table->arena, table->files, table->count, anchor_name, anchors, &line, err);

	grub->where = (struct boot_where){.read = boot_read_shell,
					  .file_count = (uint16_t)table->count,
					  .env = BOOT_NO_FILE,
					  .anchor_name = anchor_name};
	for (size_t i = 0; r == 0 && i < table->count; i++)
		if (anchors[i].given)
			grub->where.home = (uint16_t)i;
	return r;
}

int guest_grub_read(struct knob_machine *machine, const char *uuid, struct guest_grub *ret, struct err *err)
{
	struct guest_grub grub = {.uuid = uuid, .table = boot_table_new(NULL, machine->arena)};
	const char *xml = "";
	bool snippets = false;
	int r = add_file(machine, &grub, DEFAULTS, err);

	if (r == 0)
		r = knob_libvirt_xml(machine, uuid, KNOB_LIBVIRT_RUNNING, &xml, err);
	if (r < 0)
		return r;
	if (strstr(xml, "<kernel>"))
		return refuse(machine, &grub,
			      "the VM starts a kernel that its definition names, with the line that stands there", err);
	if (!grub.table->count)
		return refuse(machine, &grub, "the guest has no " DEFAULTS, err);
	if (has_line(grub.table->files[0].text, "GRUB_ENABLE_BLSCFG=true"))
		return refuse(machine, &grub,
			      "the guest's GRUB reads loader entries (GRUB_ENABLE_BLSCFG=true), which grubby edits",
			      err);
	r = find_maker(machine, &grub, &snippets, err);
	if (r == 0 && snippets)
		r = add_snippets(machine, &grub, err);
	if (r == 0)
		r = find_home(&grub, err);
	if (r == 0)
		*ret = grub;
	return r;
}

int guest_grub_line(const struct guest_grub *grub, const char **ret, struct err *err)
{
	struct boot_line line;
	int r = grub->where.read(grub->table, &grub->where, &line, err);

	if (r == 0)
		*ret = boot_line_text(&line);
	return r;
}
