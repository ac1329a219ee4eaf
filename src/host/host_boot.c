/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns telling which boot loader started this host, and so how its kernel command line is changed for good. Only signs
 * that users can read: the words that each loader leaves on the command line, and files in /etc, /boot and /run.
 */
#include "host.h"
#include "host_cmdline_file.h"
#include "host_os_internal.h"
#include "text.h"

static bool exists(struct host *host, const char *path)
{
	return sys_read(host->sys, "%s", path)->state != SYS_ABSENT;
}

/* A directory that may not be listed is there all the same (Fedora keeps /boot/loader/entries from users). */
static bool dir_exists(struct host *host, const char *path)
{
	return sys_list(host->sys, "%s", path)->state != SYS_ABSENT;
}

/* GRUB leaves BOOT_IMAGE=; systemd-boot and EFI stubs leave initrd= with backslashes. */
static bool line_has(struct host *host, const char *what)
{
	const struct sys_look *line = sys_read(host->sys, "/proc/cmdline");

	return line->state == SYS_VALUE && strstr(line->data, what);
}

static bool is_like(const struct host *host, const char *names)
{
	const char *family = host->os.family;

	while (*family) {
		size_t length = strcspn(family, " ");

		if (length && text_has_word(names, " ", arena_strndup(host->arena, family, length)))
			return true;
		family += length + strspn(family + length, " ");
	}
	return false;
}

static const char *sign_of_ostree(struct host *host)
{
	if (exists(host, "/run/ostree-booted"))
		return "/run/ostree-booted";
	return line_has(host, "ostree=") ? "/proc/cmdline: ostree=" : NULL;
}

/* proxmox-boot-tool also serves GRUB on legacy and secure boot: BOOT_IMAGE= then says that GRUB's file counts. */
static const char *sign_of_proxmox(struct host *host)
{
	if (!fact_is_on(&host->os.proxmox) || line_has(host, "BOOT_IMAGE="))
		return NULL;
	if (line_has(host, "initrd=\\EFI\\proxmox"))
		return "/proc/cmdline: initrd=\\EFI\\proxmox";
	return exists(host, "/etc/kernel/proxmox-boot-uuids") ? "/etc/kernel/proxmox-boot-uuids" : NULL;
}

static const char *sign_of_systemd_boot(struct host *host)
{
	static const char *const configurations[] = {"/boot/loader/loader.conf", "/efi/loader/loader.conf",
						     "/boot/efi/loader/loader.conf"};

	if (line_has(host, "BOOT_IMAGE="))
		return NULL;
	if (line_has(host, "initrd=\\"))
		return "/proc/cmdline: initrd=\\";
	for (size_t i = 0; i < ARRAY_SIZE(configurations); i++)
		if (exists(host, configurations[i]) && !exists(host, "/etc/default/grub"))
			return configurations[i];
	return NULL;
}

static const char *sign_of_debian(struct host *host)
{
	return is_like(host, "debian ubuntu") && exists(host, "/etc/default/grub") ? "/etc/default/grub" : NULL;
}

static const char *sign_of_bls(struct host *host)
{
	if (!is_like(host, "fedora rhel centos rocky almalinux ol"))
		return NULL;
	if (dir_exists(host, "/boot/loader/entries"))
		return "/boot/loader/entries";
	return exists(host, "/etc/default/grub") ? "/etc/default/grub" : NULL;
}

static const char *sign_of_suse(struct host *host)
{
	return is_like(host, "suse opensuse sles") && exists(host, "/etc/default/grub") ? "/etc/default/grub" : NULL;
}

static const char *sign_of_grub(struct host *host)
{
	return exists(host, "/etc/default/grub") ? "/etc/default/grub" : NULL;
}

static const struct {
	enum os_boot_loader loader;
	const char *name;
	const char *(*sign)(struct host *host); /* what it was told by, or NULL */
} loaders[] = {
    {BOOT_OSTREE, "rpm-ostree or bootc", sign_of_ostree},
    {BOOT_PROXMOX, "systemd-boot by proxmox-boot-tool", sign_of_proxmox},
    {BOOT_SYSTEMD_BOOT, "systemd-boot", sign_of_systemd_boot},
    {BOOT_GRUB_DEBIAN, "GRUB with update-grub", sign_of_debian},
    {BOOT_GRUB_BLS, "GRUB with boot loader entries (grubby)", sign_of_bls},
    {BOOT_GRUB_SUSE, "GRUB with grub2-mkconfig", sign_of_suse},
    {BOOT_GRUB_OTHER, "GRUB with grub-mkconfig", sign_of_grub},
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * GRUB's defaults as one text: Debian's grub-mkconfig sources the snippets of grub.d after the file, in the order of a
 * shell's glob. NULL when one of them cannot be read, for then what it sets is not known.
 */
static const char *grub_defaults(struct host *host, const struct sys_look *file)
{
	const struct sys_look *names = sys_list(host->sys, "/etc/default/grub.d");
	const char *text = file->data;

	if (names->state != SYS_VALUE || names->size == 0)
		return names->state == SYS_UNREADABLE ? NULL : text;
	const char **sorted = ARENA_ARRAY(host->arena, names->size, const char *);

	memcpy(sorted, names->names, names->size * sizeof(*sorted));
	qsort(sorted, names->size, sizeof(*sorted), compare_names);
	for (size_t i = 0; i < names->size; i++) {
		const char *dot = strrchr(sorted[i], '.');

		if (!text_equal(dot, ".cfg") || sorted[i][0] == '.')
			continue;
		const struct sys_look *look = sys_read(host->sys, "/etc/default/grub.d/%s", sorted[i]);

		if (look->state != SYS_VALUE || strlen(look->data) != look->size)
			return NULL;
		text = arena_printf(host->arena, "%s\n%s", text, look->data);
	}
	return text;
}

static void read_configured(struct host *host)
{
	bool grub = host->os.loader == BOOT_GRUB_DEBIAN || host->os.loader == BOOT_GRUB_SUSE ||
		    host->os.loader == BOOT_GRUB_OTHER;
	bool plain = host->os.loader == BOOT_SYSTEMD_BOOT || host->os.loader == BOOT_PROXMOX;
	struct host_cmdline found = {.count = 0};
	struct err ignored = {0};

	if (!grub && !plain)
		return;
	const struct sys_look *look = sys_read(host->sys, grub ? "/etc/default/grub" : "/etc/kernel/cmdline");

	if (look->state != SYS_VALUE || strlen(look->data) != look->size)
		return;
	const char *text = grub ? grub_defaults(host, look) : look->data;

	if (!text)
		return;
	int r = grub ? cmdline_read_grub(host->arena, look->path, text, &found, &ignored)
		     : cmdline_read_plain(host->arena, look->path, text, &found, &ignored);

	if (r == 0)
		host->os.configured = found;
}

struct fact host_boot_loader(struct host *host)
{
	for (size_t i = 0; i < ARRAY_SIZE(loaders); i++) {
		const char *sign = loaders[i].sign(host);

		if (!sign)
			continue;
		host->os.loader = loaders[i].loader;
		read_configured(host);
		return fact_text("os.boot_loader", loaders[i].name, sign);
	}
	return fact_absent("os.boot_loader", "/proc/cmdline, /etc/default/grub, /boot/loader");
}

const char *host_os_boot_by_hand(const struct host_os *os)
{
	static const char *const ways[] = {
	    [BOOT_UNKNOWN] = "add it to the kernel command line in the configuration of the boot loader, then reboot",
	    [BOOT_GRUB_DEBIAN] = "add it to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, run update-grub, reboot",
	    [BOOT_GRUB_BLS] = "grubby --update-kernel=ALL --args=\"...\" (--remove-args to take one away), reboot",
	    [BOOT_GRUB_SUSE] = "add it to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, run grub2-mkconfig -o "
			       "/boot/grub2/grub.cfg, reboot",
	    [BOOT_GRUB_OTHER] = "add it to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, run grub-mkconfig -o "
				"/boot/grub/grub.cfg, reboot",
	    [BOOT_SYSTEMD_BOOT] = "add it to /etc/kernel/cmdline, run kernel-install add-all, reboot",
	    [BOOT_PROXMOX] = "add it to /etc/kernel/cmdline (one line), run proxmox-boot-tool refresh, reboot",
	    [BOOT_OSTREE] = "rpm-ostree kargs --append=... (--delete=... to take one away), reboot",
	};

	return ways[(size_t)os->loader < ARRAY_SIZE(ways) ? os->loader : BOOT_UNKNOWN];
}
