/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns telling which loader a host has and where its files are. The family is that of host_boot.c; here it is refined
 * to what has to be edited and run.
 */
#include "knob_boot_internal.h"

#include "text.h"

static bool exists(struct host *host, const char *path)
{
	return sys_read(host->sys, "%s", path)->state != SYS_ABSENT;
}

static bool dir_exists(struct host *host, const char *path)
{
	return sys_list(host->sys, "%s", path)->state != SYS_ABSENT;
}

/* Is there a line in the file that starts with the text, blanks apart? */
static bool has_line(struct host *host, const char *path, const char *start)
{
	const struct sys_look *look = sys_read(host->sys, "%s", path);

	for (const char *at = look->state == SYS_VALUE ? look->data : ""; *at;) {
		if (text_starts(at + strspn(at, " \t"), start))
			return true;
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return false;
}

/* Where systemd's loaders look: the extended boot partition or the EFI system partition, by their usual mounts. */
static const char *entries_of(struct host *host)
{
	static const char *const places[] = {"/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (dir_exists(host, places[i]))
			return places[i];
	return NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && text_equal(text + length - tail, end);
}

static bool dir_has(struct host *host, const char *path, const char *suffix)
{
	const struct sys_look *names = path ? sys_list(host->sys, "%s", path) : NULL;

	for (size_t i = 0; names && names->state == SYS_VALUE && i < names->size; i++)
		if (ends_with(names->names[i], suffix))
			return true;
	return false;
}

/*
 * GRUB's menu on RHEL and kin: up to version 8 the real file lies on the EFI system partition, later that is a stub
 * which only names the one in /boot/grub2 (facts: interfaces 5.10).
 */
static const char *grub2_menu(struct host *host)
{
	const struct sys_look *vendors = sys_list(host->sys, "/boot/efi/EFI");

	for (size_t i = 0; vendors->state == SYS_VALUE && i < vendors->size; i++) {
		const struct sys_look *look = sys_read(host->sys, "/boot/efi/EFI/%s/grub.cfg", vendors->names[i]);

		if (look->state == SYS_VALUE && dir_exists(host, "/sys/firmware/efi") &&
		    strstr(look->data, "menuentry "))
			return look->path;
	}
	return "/boot/grub2/grub.cfg";
}

static void set_grub(struct host *host, struct knob_boot_loader *loader, enum knob_boot_kind kind, const char *prefix)
{
	bool two = text_equal(prefix, "grub2");

	loader->kind = kind;
	loader->grub_prefix = prefix;
	loader->grub_cfg = two ? grub2_menu(host) : "/boot/grub/grub.cfg";
	loader->grub_env = two ? "/boot/grub2/grubenv" : "/boot/grub/grubenv";
	loader->name = kind == KNOB_BOOT_GRUB_DEBIAN	? "GRUB with update-grub"
		       : kind == KNOB_BOOT_PROXMOX_GRUB ? "GRUB by proxmox-boot-tool"
		       : kind == KNOB_BOOT_GRUB_BLS	? "GRUB with loader entries"
		       : two				? "GRUB with grub2-mkconfig"
							: "GRUB with grub-mkconfig";
}

static void set_entries(struct knob_boot_loader *loader, enum knob_boot_kind kind, const char *name,
			const char *entries)
{
	loader->kind = kind;
	loader->name = name;
	loader->entries = entries;
}

/* openSUSE says in one file what it boots with: "grub2", "grub2-efi", "grub2-bls", "systemd-boot". */
static bool find_suse(struct host *host, struct knob_boot_loader *loader)
{
	static const char path[] = "/etc/sysconfig/bootloader";

	if (!has_line(host, path, "LOADER_TYPE=\"grub2-bls") && !has_line(host, path, "LOADER_TYPE=\"systemd-boot"))
		return false;
	set_entries(loader, KNOB_BOOT_SDBOOTUTIL, "loader entries by sdbootutil", entries_of(host));
	loader->evidence = path;
	return true;
}

static void find_systemd(struct host *host, struct knob_boot_loader *loader)
{
	static const char *const images[] = {"/efi/EFI/Linux", "/boot/EFI/Linux", "/boot/efi/EFI/Linux"};
	const char *entries = entries_of(host);

	if (has_line(host, "/etc/kernel/install.conf", "layout=uki")) {
		set_entries(loader, KNOB_BOOT_UKI, "unified kernel images", NULL);
		loader->evidence = "/etc/kernel/install.conf";
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		if (!dir_has(host, entries, ".conf") && dir_has(host, images[i], ".efi")) {
			set_entries(loader, KNOB_BOOT_UKI, "unified kernel images", NULL);
			loader->evidence = images[i];
			return;
		}
	}
	if (!entries) {
		loader->evidence = "no loader/entries below /boot, /efi, /boot/efi";
		return;
	}
	set_entries(loader, KNOB_BOOT_SYSTEMD, "systemd-boot with loader entries", entries);
}

/* Entries count only where the menu reads them: RHEL has a switch for that (GRUB_ENABLE_BLSCFG). */
static void find_rhel(struct host *host, struct knob_boot_loader *loader)
{
	const char *menu = grub2_menu(host);
	bool menu_known = sys_read(host->sys, "%s", menu)->state == SYS_VALUE;
	bool reads = menu_known ? has_line(host, menu, "blscfg")
				: has_line(host, "/etc/default/grub", "GRUB_ENABLE_BLSCFG=true");

	if (reads && dir_exists(host, "/boot/loader/entries")) {
		set_grub(host, loader, KNOB_BOOT_GRUB_BLS, "grub2");
		loader->entries = "/boot/loader/entries";
		loader->evidence = menu_known ? menu : "/etc/default/grub";
	} else if (exists(host, "/etc/default/grub")) {
		set_grub(host, loader, KNOB_BOOT_GRUB_OTHER, "grub2");
		loader->evidence = "/etc/default/grub";
	} else {
		loader->evidence = "no blscfg in GRUB's menu, no /etc/default/grub";
	}
}

/* proxmox-boot-tool keeps kernels on boot partitions of its own, which it lists. */
static bool by_proxmox_tool(struct host *host)
{
	const struct sys_look *look = sys_read(host->sys, "/etc/kernel/proxmox-boot-uuids");

	return look->state == SYS_VALUE && look->data[strspn(look->data, " \t\r\n")];
}

void knob_boot_find(struct host *host, struct knob_boot_loader *ret)
{
	struct knob_boot_loader loader = {
	    .kind = KNOB_BOOT_UNKNOWN, .name = "not known", .evidence = host->os.boot_loader.source};

	switch (find_suse(host, &loader) ? BOOT_UNKNOWN : host->os.loader) {
	case BOOT_UNKNOWN:
		break;
	case BOOT_GRUB_DEBIAN:
		set_grub(host, &loader, by_proxmox_tool(host) ? KNOB_BOOT_PROXMOX_GRUB : KNOB_BOOT_GRUB_DEBIAN, "grub");
		break;
	case BOOT_GRUB_BLS:
		find_rhel(host, &loader);
		break;
	case BOOT_GRUB_SUSE:
		set_grub(host, &loader, KNOB_BOOT_GRUB_OTHER, "grub2");
		break;
	case BOOT_GRUB_OTHER:
		set_grub(host, &loader, KNOB_BOOT_GRUB_OTHER, dir_exists(host, "/boot/grub2") ? "grub2" : "grub");
		break;
	case BOOT_SYSTEMD_BOOT:
		find_systemd(host, &loader);
		break;
	case BOOT_PROXMOX:
		set_entries(&loader, KNOB_BOOT_PROXMOX_SDBOOT, "systemd-boot by proxmox-boot-tool", NULL);
		break;
	case BOOT_OSTREE:
		loader.kind = KNOB_BOOT_OSTREE;
		loader.name = "rpm-ostree";
		break;
	}
	loader.no_trial = boot_no_trial(host, &loader);
	if (loader.no_trial && loader.grub_env && !loader.entries)
		boot_find_esp(host, &loader);
	if (loader.esp)
		loader.no_trial = NULL;
	*ret = loader;
}
