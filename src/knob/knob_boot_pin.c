/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns making a kernel the default of all boots. hvtune does it where a file of its own is enough, which goes again
 * without a trace: on Debian and its kin GRUB_DEFAULT may stand in a file of grub.d. What other loaders keep in files
 * of others or in the firmware is left to a person, with the command.
 */
#include <ctype.h>
#include <errno.h>

#include "knob_boot_internal.h"
#include "text.h"

static const char head[] = "# The kernel that is the default, chosen by hvtune; `hvtune undo` takes it back.\n"
			   "GRUB_DEFAULT=\"";

const char *boot_pinned(struct boot_table *table, const struct knob_boot_loader *loader)
{
	const struct sys_look *look =
	    loader->kind == KNOB_BOOT_GRUB_DEBIAN ? sys_read(table->host->sys, "%s", BOOT_OWN_KERNEL) : NULL;
	const char *id = look && look->state == SYS_VALUE ? strstr(look->data, "GRUB_DEFAULT=\"") : NULL;

	if (!id)
		return NULL;
	id += strlen("GRUB_DEFAULT=\"");
	return arena_strndup(table->arena, id, strcspn(id, "\"\n"));
}

/* What a person types. */
static const char *by_hand(struct arena *arena, const struct knob_boot_loader *loader, const struct boot_kernel *kernel)
{
	switch (loader->kind) {
	case KNOB_BOOT_GRUB_BLS:
		return arena_printf(arena, "%s-set-default '%s'", loader->grub_prefix, kernel->id);
	case KNOB_BOOT_SYSTEMD:
	case KNOB_BOOT_SDBOOTUTIL:
		return arena_printf(arena, "bootctl set-default '%s'", kernel->id);
	case KNOB_BOOT_PROXMOX_GRUB:
	case KNOB_BOOT_PROXMOX_SDBOOT:
		return arena_printf(arena, "proxmox-boot-tool kernel pin %s", kernel->release);
	case KNOB_BOOT_UNKNOWN:
	case KNOB_BOOT_GRUB_DEBIAN:
	case KNOB_BOOT_GRUB_OTHER:
	case KNOB_BOOT_UKI:
	case KNOB_BOOT_OSTREE:
		break;
	}
	return arena_printf(arena, "GRUB_DEFAULT='%s' in /etc/default/grub, then %s", kernel->id,
			    boot_command_text(arena, knob_boot_maker(arena, loader)));
}

/*
 * The entry that always is of this kernel: the first of the menu is of the newest, and one for recovery has another
 * line. Its id goes through a shell and GRUB's language.
 */
static const struct boot_kernel *find_entry(const struct boot_kernels *kernels, const char *release)
{
	for (size_t i = 0; i < kernels->count; i++) {
		const struct boot_kernel *kernel = &kernels->list[i];
		const char *at = kernel->id;

		while (isalnum((unsigned char)*at) || (*at && strchr("._:~+>-", *at)))
			at++;
		if (text_equal(kernel->release, release) && kernel->same_line && !*at && strstr(kernel->id, release))
			return kernel;
	}
	return NULL;
}

/* Files of grub.d are read in the order of their names, and the last word counts. */
static const struct boot_file *find_later(const struct boot_table *table)
{
	static const char variable[] = "GRUB_DEFAULT=";

	for (size_t i = 0; i < table->count; i++) {
		const struct boot_file *file = &table->files[i];

		if (!text_starts(file->path, "/etc/default/grub.d/") || strcmp(file->path, BOOT_OWN_KERNEL) <= 0)
			continue;
		for (const char *at = file->text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
			at += strspn(at, " \t");
			if (text_starts(at, variable) || text_starts(at, "export GRUB_DEFAULT="))
				return file;
		}
	}
	return NULL;
}

static int write_pin(struct boot_table *table, const struct boot_kernel *entry, struct err *err)
{
	const struct boot_file *later = find_later(table);
	uint16_t file = 0;

	if (later) {
		(void)err_set(err, ENOTSUP, later->path, "sets GRUB_DEFAULT, and is read after hvtune's own file");
		return err_hint(err, "choose the kernel there: GRUB_DEFAULT=\"%s\"", entry->id);
	}
	while (file < table->count && !text_equal(table->files[file].path, BOOT_OWN_KERNEL))
		file++;
	int r = file < table->count ? 0 : boot_table_add(table, BOOT_OWN_KERNEL, &file, err);

	if (r < 0)
		return r;
	table->files[file].text = arena_printf(table->arena, "%s%s\"\n", head, entry->id);
	table->files[file].size = strlen(table->files[file].text);
	table->files[file].exists = true;
	return 0;
}

int boot_pin(struct boot_table *table, const struct knob_boot_loader *loader, const char *release,
	     struct knob_boot_plan *plan, struct err *err)
{
	struct boot_kernels kernels = {.count = 0};
	static const struct boot_kernel none;
	const struct boot_kernel *kernel = &none, *standard, *entry;
	int r = boot_kernels_find(table, loader, &kernels, err);

	if (r == 0)
		r = boot_kernels_choose(table, loader, &kernels, release, &kernel, err);
	standard = boot_kernels_default(&kernels);
	if (r < 0 || text_equal(standard->release, release))
		return r;
	entry = find_entry(&kernels, release);
	if (entry && loader->kind == KNOB_BOOT_GRUB_DEBIAN &&
	    sys_list(table->host->sys, "/etc/default/grub.d")->state == SYS_VALUE) {
		r = write_pin(table, entry, err);
		if (r == 0)
			boot_plan_note(
			    table->arena, plan,
			    "Kernel %s stays the default when a newer one is installed; without it GRUB takes "
			    "the first of its menu.",
			    release);
		return r;
	}
	(void)err_set(err, ENOTSUP, BOOT_KERNEL_PLACE, "hvtune makes no kernel the default of all boots here; it is %s",
		      standard->release ? standard->release : standard->id);
	return err_hint(err, "by hand: %s", by_hand(table->arena, loader, entry ? entry : kernel));
}
