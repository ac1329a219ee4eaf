/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns whether a host can start a menu entry for once. The danger is a choice that is not taken back: GRUB deletes
 * next_entry in its environment block before it boots, which it can only do where it can write, else it would start the
 * trial for ever.
 */
#include "knob_boot_internal.h"

#include "text.h"

/* What GRUB cannot write to (check_writable in Debian's 00_header, and grub-core/disk/diskfilter.c). */
static bool is_unwritable_type(const char *type)
{
	return text_has_word("btrfs zfs squashfs overlay cpiofs romfs tarfs iso9660 nfs nfs4 tmpfs", " ", type);
}

/* The kind of a device mapper's device by the prefix of its uuid; a path of multipath is a plain disk to GRUB. */
static bool is_plain_mapping(struct host *host, const char *name)
{
	const struct sys_look *blocks = sys_list(host->sys, "/sys/class/block");

	for (size_t i = 0; blocks->state == SYS_VALUE && i < blocks->size; i++) {
		if (!text_starts(blocks->names[i], "dm-"))
			continue;
		const struct sys_look *own = sys_read(host->sys, "/sys/class/block/%s/dm/name", blocks->names[i]);
		const struct sys_look *uuid = sys_read(host->sys, "/sys/class/block/%s/dm/uuid", blocks->names[i]);

		if (own->state == SYS_VALUE && text_equal(text_trim(host->arena, own->data), name))
			return uuid->state == SYS_VALUE && strstr(uuid->data, "mpath-");
	}
	return false;
}

static const char *why_not_device(struct host *host, const char *device, const char *dir)
{
	static const char mapper[] = "/dev/mapper/";
	const char *kind = NULL;

	if (text_starts(device, "/dev/dm-") ||
	    (text_starts(device, mapper) && !is_plain_mapping(host, device + strlen(mapper))))
		kind = "a logical volume or an encrypted device";
	else if (text_starts(device, "/dev/md"))
		kind = "a software RAID";
	return kind ? arena_printf(host->arena,
				   "GRUB cannot write to %s (%s is on %s), so it would start the trial again and again",
				   device, dir, kind)
		    : NULL;
}

/* Is `path` at or below `mount`? */
static bool is_below(const char *path, const char *mount)
{
	size_t length = strlen(mount);

	return text_equal(mount, "/") ||
	       (strncmp(path, mount, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

/* The mount that a directory is on: the longest, and of equal ones the last. Names in the arena. */
static bool find_mount(struct host *host, const char *dir, const char **ret_device, const char **ret_type)
{
	const struct sys_look *look = sys_read(host->sys, "/proc/mounts");
	size_t best = 0;

	for (const char *at = look->state == SYS_VALUE ? look->data : ""; *at;) {
		size_t length = strcspn(at, "\n");
		char *fields[3], *save = NULL, *line = arena_strndup(host->arena, at, length);
		bool whole = true;

		for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
			fields[i] = strtok_r(i ? NULL : line, " ", &save);
			whole = whole && fields[i];
		}
		if (whole && is_below(dir, fields[1]) && strlen(fields[1]) >= best) {
			best = strlen(fields[1]);
			*ret_device = fields[0];
			*ret_type = fields[2];
		}
		at += length + (at[length] == '\n');
	}
	return best > 0;
}

/* The UUID of a device's file system: the name of a link to it. */
static const char *uuid_of(struct host *host, const char *device)
{
	const struct sys_look *names = sys_list(host->sys, "/dev/disk/by-uuid");
	const char *base = strrchr(device, '/');

	for (size_t i = 0; base && names->state == SYS_VALUE && i < names->size; i++) {
		const struct sys_look *link = sys_link(host->sys, "/dev/disk/by-uuid/%s", names->names[i]);
		const char *target = link->state == SYS_VALUE ? strrchr(link->data, '/') : NULL;

		if (text_equal(target, base))
			return arena_strdup(host->arena, names->names[i]);
	}
	return NULL;
}

/*
 * GRUB writes to FAT, and an EFI system partition is neither a logical volume nor a RAID that it would have to know.
 * The boot partitions of proxmox-boot-tool are its own, and not mounted.
 */
void boot_find_esp(struct host *host, struct knob_boot_loader *loader)
{
	static const char *const places[] = {"/boot/efi", "/efi"};
	const char *device = NULL, *type = NULL;

	if (loader->kind == KNOB_BOOT_PROXMOX_GRUB || sys_list(host->sys, "/sys/firmware/efi")->state == SYS_ABSENT)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(places) && !loader->esp; i++) {
		if (!find_mount(host, places[i], &device, &type) || !text_equal(type, "vfat") ||
		    why_not_device(host, device, places[i]))
			continue;
		loader->esp_uuid = uuid_of(host, device);
		loader->esp = loader->esp_uuid ? places[i] : NULL;
	}
}

static const char *why_not_grub(struct host *host, const struct knob_boot_loader *loader)
{
	/* On Fedora and RHEL with UEFI it may be a link to the EFI system partition, where GRUB can write. */
	const struct sys_look *link = sys_link(host->sys, "%s", loader->grub_env);
	const char *path = link->state == SYS_VALUE && strstr(link->data, "efi/EFI/") ? "/boot/efi" : loader->grub_env;
	const char *dir = arena_strndup(host->arena, path, (size_t)(strrchr(path, '/') - path));
	const char *device = NULL, *type = NULL;
	const struct sys_look *env = sys_read(host->sys, "%s", loader->grub_env);

	if (text_equal(path, "/boot/efi"))
		dir = path;
	if (!find_mount(host, dir, &device, &type))
		return arena_printf(host->arena, "What %s lies on is not known, and so whether GRUB can write there",
				    dir);
	/* SUSE's GRUB keeps the block in the header of btrfs, and writes there. */
	if (text_equal(type, "btrfs") && env->state == SYS_VALUE && strstr(env->data, "\nenv_block="))
		return NULL;
	if (is_unwritable_type(type))
		return arena_printf(
		    host->arena, "GRUB cannot write to %s (%s is on it), so it would start the trial again and again",
		    type, dir);
	return why_not_device(host, device, dir);
}

const char *boot_loader_variable(struct host *host, struct arena *arena, const char *name)
{
	const struct sys_look *look =
	    sys_read(host->sys, "/sys/firmware/efi/efivars/%s-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", name);
	char *text, *at;

	/* Four bytes of attributes, then UTF-16. */
	if (look->state != SYS_VALUE || look->size < 6)
		return NULL;
	text = at = arena_alloc(arena, look->size);
	for (size_t i = 4; i + 1 < look->size && (look->data[i] || look->data[i + 1]); i += 2)
		*at++ = look->data[i + 1] || look->data[i] < ' ' || look->data[i] > '~' ? '?' : look->data[i];
	return text;
}

const char *boot_no_trial(struct host *host, const struct knob_boot_loader *loader)
{
	switch (loader->kind) {
	case KNOB_BOOT_UNKNOWN:
		return "Which boot loader this host has cannot be told";
	case KNOB_BOOT_GRUB_DEBIAN:
	case KNOB_BOOT_GRUB_OTHER:
	case KNOB_BOOT_GRUB_BLS:
		return why_not_grub(host, loader);
	case KNOB_BOOT_SYSTEMD:
	case KNOB_BOOT_SDBOOTUTIL:
		if (!loader->entries)
			return "The directory of the loader's entries is not mounted";
		return boot_loader_variable(host, host->arena, "LoaderInfo")
			   ? NULL
			   : "The running loader tells nothing of itself in EFI variables (LoaderInfo), so it cannot "
			     "be "
			     "told to take an entry for once";
	case KNOB_BOOT_UKI:
		return "A unified kernel image carries its line in itself: there is no second entry with another line";
	case KNOB_BOOT_PROXMOX_GRUB:
	case KNOB_BOOT_PROXMOX_SDBOOT:
		return "The boot partitions of proxmox-boot-tool are not mounted, and its tool has no entry for one "
		       "boot.";
	case KNOB_BOOT_OSTREE:
		return "rpm-ostree makes a changed line the default at once; the deployment before stays in the menu, "
		       "and "
		       "rpm-ostree rollback goes back to it";
	}
	return NULL;
}
