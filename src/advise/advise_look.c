/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns looks of predicates that are no single fact: a line of the kernel log, values over groups of CPUs, and how
 * words get on to the kernel command line of this host.
 */
#include "advise_check.h"

const char *advise_log_line(struct advise_check *c, const char *part)
{
	const struct sys_look *look = c->host->sys ? sys_kernel_log(c->host->sys) : NULL;
	const char *found = look && look->state == SYS_VALUE ? strstr(look->data, part) : NULL;

	if (!found)
		return NULL;
	while (found > look->data && found[-1] != '\n')
		found--;
	const char *line = arena_strndup(c->arena, found, MIN_OF(strcspn(found, "\n"), (size_t)160));

	advise_note_text(c, "kernel log", "%s", line);
	return line;
}

size_t advise_groups(struct advise_check *c, size_t offset, const char *file, struct cpufreq_group **ret_groups)
{
	size_t count = host_cpufreq_groups(c->arena, &c->host->cpufreq, offset, ret_groups);
	const char *text = "";

	for (size_t i = 0; i < count; i++)
		text = arena_printf(c->arena, "%s%s%s (%s)", text, i ? ", " : "", (*ret_groups)[i].value,
				    advise_cpu_list(c, &(*ret_groups)[i].cpus));
	if (count)
		advise_note_text(c, arena_printf(c->arena, "/sys/devices/system/cpu/cpufreq/policy*/%s", file), "%s",
				 text);
	return count;
}

/* Where each boot loader keeps the words; the order is that of the enum. */
static const struct {
	const char *add, *remove;
	const char *rewrite; /* the tool that carries a changed file over to what is booted */
} boot_commands[] = {
    [BOOT_UNKNOWN] = {"add %s to the kernel command line of the boot loader",
		      "take %s off the kernel command line of the boot loader",
		      "run the tool of the boot loader that reads the file"},
    [BOOT_GRUB_DEBIAN] = {"add %s to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then update-grub",
			  "take %s out of /etc/default/grub, then update-grub", "update-grub"},
    [BOOT_GRUB_BLS] = {"grubby --update-kernel=ALL --args=\"%s\"", "grubby --update-kernel=ALL --remove-args=\"%s\"",
		       "grub2-mkconfig -o /boot/grub2/grub.cfg --update-bls-cmdline (grubby --update-kernel=ALL "
		       "--args=... where grub2-mkconfig has no such option)"},
    [BOOT_GRUB_SUSE] = {"add %s to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then grub2-mkconfig -o "
			"/boot/grub2/grub.cfg",
			"take %s out of /etc/default/grub, then grub2-mkconfig -o /boot/grub2/grub.cfg",
			"grub2-mkconfig -o /boot/grub2/grub.cfg"},
    [BOOT_GRUB_OTHER] = {"add %s to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then grub-mkconfig -o "
			 "/boot/grub/grub.cfg",
			 "take %s out of /etc/default/grub, then grub-mkconfig -o /boot/grub/grub.cfg",
			 "grub-mkconfig -o /boot/grub/grub.cfg"},
    [BOOT_SYSTEMD_BOOT] = {"add %s to /etc/kernel/cmdline, then kernel-install add-all",
			   "take %s out of /etc/kernel/cmdline, then kernel-install add-all", "kernel-install add-all"},
    [BOOT_PROXMOX] = {"add %s to the one line of /etc/kernel/cmdline, then proxmox-boot-tool refresh",
		      "take %s out of /etc/kernel/cmdline, then proxmox-boot-tool refresh",
		      "proxmox-boot-tool refresh"},
    [BOOT_OSTREE] = {"rpm-ostree kargs --append=\"%s\"", "rpm-ostree kargs --delete=\"%s\"",
		     "rpm-ostree kargs --append-if-missing=\"...\" with the parameters"},
};

/* The templates are the table's own, each with one %s. */
static const char *fill(struct advise_check *c, const char *template, const char *words)
{
	const char *at = strstr(template, "%s");

	return advise_printf(c, "%.*s%s%s", (int)(at - template), template, words, at + 2);
}

const char *advise_boot_command(struct advise_check *c, const char *add, const char *remove)
{
	size_t loader = (size_t)c->host->os.loader;
	const char *text = NULL;

	if (loader >= ARRAY_SIZE(boot_commands))
		loader = BOOT_UNKNOWN;
	if (remove)
		text = fill(c, boot_commands[loader].remove, remove);
	if (add && text)
		return advise_printf(c, "%s; %s; then reboot", text, fill(c, boot_commands[loader].add, add));
	if (add)
		text = fill(c, boot_commands[loader].add, add);
	return text ? advise_printf(c, "%s; then reboot", text) : NULL;
}

const char *advise_boot_rewrite(struct advise_check *c)
{
	size_t loader = (size_t)c->host->os.loader;

	if (loader >= ARRAY_SIZE(boot_commands))
		loader = BOOT_UNKNOWN;
	return advise_printf(c, "%s; then reboot", boot_commands[loader].rewrite);
}
