/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns VMs that are started and shut down, of the library in libvirt's place; see fake_libvirt.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_libvirt_internal.h"

static int is_there(const struct _virDomain *domain, const char *ending)
{
	return access(RUNTIME(domain, ending), F_OK) == 0;
}

/* What the attribute of the element says that begins at `element`; 0 when it has none. */
static int attribute(const char *element, const char *name, char *ret, size_t size)
{
	char key[NAME];
	const char *at, *end = strchr(element, '>');

	(void)snprintf(key, sizeof(key), " %s=\"", name);
	at = strstr(element, key);
	if (!at || !end || at > end)
		return 0;
	at += strlen(key);
	(void)snprintf(ret, size, "%.*s", (int)strcspn(at, "\""), at);
	return 1;
}

static void start_thread(const struct _virDomain *domain, const char *kind, const char *element)
{
	char index[8] = "0", list[NAME], name[NAME];
	int tid = fake_pid_of(domain);

	if (!attribute(element, "cpuset", list, sizeof(list)))
		return;
	if (attribute(element, "vcpu", index, sizeof(index))) {
		(void)snprintf(name, sizeof(name), "CPU %s/KVM", index);
		tid = fake_tid_of(domain, name);
	} else if (attribute(element, "iothread", index, sizeof(index))) {
		(void)snprintf(name, sizeof(name), "IO iothread%s", index);
		tid = fake_tid_of(domain, name);
	}
	fake_put_pin(domain, kind, (unsigned)strtol(index, NULL, 10), list);
	fake_put_status(domain, tid, "Cpus_allowed_list:\t", is_there(domain, ".loose") ? FAKE_ALL : list);
}

/* Threads run where the definition says. */
static void start_threads(const struct _virDomain *domain, const char *xml)
{
	static const char *const kinds[] = {"vcpu", "iothread", "emulator"};
	char element[NAME];

	fake_write_text(RUNTIME(domain, ".pins"), "");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		(void)snprintf(element, sizeof(element), "<%spin ", kinds[i]);
		for (const char *at = xml; (at = strstr(at, element)); at++)
			start_thread(domain, kinds[i], at);
	}
}

/* Another run of the process: later than the last one. */
static void start_process(const struct _virDomain *domain, const char *pid)
{
	char from[2 * PATH], path[2 * PATH], text[TEXT], changed[TEXT], *field;

	(void)snprintf(from, sizeof(from), "%s/proc/gone-%s", domain->connection->root, domain->name);
	(void)snprintf(path, sizeof(path), "%s/proc/%d", domain->connection->root, (int)strtol(pid, NULL, 10));
	(void)rename(from, path);
	(void)snprintf(path, sizeof(path), "%s/proc/%d/stat", domain->connection->root, (int)strtol(pid, NULL, 10));
	if (fake_read_text(path, text, sizeof(text)) < 0 || !(field = strrchr(text, ')')))
		return;
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (!field)
		return;
	(void)snprintf(changed, sizeof(changed), "%.*s %ld%s", (int)(field - text), text, strtol(field, NULL, 10) + 100,
		       strchr(field + 1, ' '));
	fake_write_text(path, changed);
}

/* The guest's own boot: another id, and the words that its menu has now. */
static void boot_guest(const struct _virDomain *domain)
{
	static const char key[] = "GRUB_CMDLINE_LINUX_DEFAULT=";
	char path[2 * PATH], text[TEXT], line[TEXT], *at, *words = NULL;

	(void)snprintf(path, sizeof(path), "%s/proc/sys/kernel/random/boot_id", RUNTIME(domain, ".guest"));
	if (fake_read_text(path, text, sizeof(text)) == 0) {
		(void)snprintf(line, sizeof(line), "boot-%ld\n", strtol(text + strlen("boot-"), NULL, 10) + 1);
		fake_write_text(path, line);
	}
	(void)snprintf(path, sizeof(path), "%s/boot/grub/grub.cfg", RUNTIME(domain, ".guest"));
	if (fake_read_text(path, text, sizeof(text)) < 0)
		return;
	for (at = text; (at = strstr(at, key)); at++)
		words = at + strlen(key);
	(void)snprintf(line, sizeof(line), "BOOT_IMAGE=/vmlinuz %.*s\n", words ? (int)strcspn(words + 1, "'\"\n") : 0,
		       words ? words + 1 : "");
	(void)snprintf(path, sizeof(path), "%s/proc/cmdline", RUNTIME(domain, ".guest"));
	fake_write_text(path, line);
}

int virDomainCreate(virDomainPtr domain)
{
	char xml[TEXT], pid[32] = "1\n", broken[NAME];

	if (domain->connection->looks)
		return fake_fail(VIR_ERR_OPERATION_DENIED, "operation forbidden for read only access");
	fake_libvirt.changes++;
	if (virDomainIsActive(domain))
		return fake_fail(VIR_ERR_OPERATION_INVALID,
				 "Requested operation is not valid: domain is already running");
	if (fake_read_text(DEFINITION(domain), xml, sizeof(xml)) < 0)
		return fake_fail(VIR_ERR_NO_DOMAIN, "Domain not found");
	if (fake_libvirt.changes == fake_libvirt.fail_at ||
	    (fake_read_text(RUNTIME(domain, ".broken"), broken, sizeof(broken)) == 0 && strstr(xml, broken)))
		return fake_fail(VIR_ERR_INTERNAL_ERROR,
				 "internal error: qemu unexpectedly closed the monitor: unable to "
				 "map backing store for guest RAM: Cannot allocate memory");
	(void)fake_read_text(RUNTIME(domain, ".off"), pid, sizeof(pid));
	start_process(domain, pid);
	fake_write_text(RUNTIME(domain, ".pid"), pid);
	fake_write_text(RUNTIME(domain, ".live"), xml);
	(void)unlink(RUNTIME(domain, ".off"));
	start_threads(domain, xml);
	boot_guest(domain);
	return 0;
}

int virDomainShutdownFlags(virDomainPtr domain, unsigned flags)
{
	(void)flags;
	if (fake_begin_change(domain) < 0)
		return -1;
	if (!is_there(domain, ".hang"))
		fake_end_domain(domain);
	return 0;
}

int virDomainDestroy(virDomainPtr domain)
{
	if (fake_begin_change(domain) < 0)
		return -1;
	fake_end_domain(domain);
	return 0;
}
