/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns starting VMs and shutting them down through libvirt. Compiled only where libvirt's headers are. */
#include <errno.h>
#include <time.h>

#include "knob_libvirt_internal.h"

/* Longest wait in a machine of files, whose VMs are done at once or never. */
enum { FILES_WAIT_MS = 300, POLL_MS = 100, ASK_AGAIN_MS = 15000 };

struct powering {
	const struct libvirt_domain *domain;
	int64_t wait_ms;
};

static int start(void *data)
{
	const struct powering *powering = data;

	return powering->domain->it->api.virDomainCreate(powering->domain->handle) < 0 ? -EPROTO : 0;
}

static bool is_off(const struct powering *powering)
{
	return powering->domain->it->api.virDomainIsActive(powering->domain->handle) == 0;
}

/*
 * A guest that still boots does not hear the first knock, so it is asked again by the power button. Whatever else the
 * calls say, a VM that is off is what was wanted.
 */
static int shut_down(void *data)
{
	const struct powering *powering = data;
	const struct libvirt_api *api = &powering->domain->it->api;
	const struct timespec moment = {.tv_nsec = POLL_MS * 1000000L};
	int r = api->virDomainShutdownFlags(powering->domain->handle, 0);

	for (int64_t waited_ms = 0; !is_off(powering); waited_ms += POLL_MS) {
		if (r < 0)
			return -EPROTO;
		if (waited_ms >= powering->wait_ms)
			return -ETIME;
		if (waited_ms && waited_ms % ASK_AGAIN_MS == 0)
			(void)api->virDomainShutdownFlags(powering->domain->handle, VIR_DOMAIN_SHUTDOWN_ACPI_POWER_BTN);
		(void)nanosleep(&moment, NULL);
	}
	return 0;
}

static int cut(void *data)
{
	const struct powering *powering = data;

	return powering->domain->it->api.virDomainDestroy(powering->domain->handle) < 0 && !is_off(powering) ? -EPROTO
													     : 0;
}

int knob_libvirt_power(struct knob_machine *machine, const char *uuid, enum knob_libvirt_power power, struct err *err)
{
	static const struct {
		const char *call;
		int (*change)(void *data);
	} ways[] = {[KNOB_LIBVIRT_START] = {"virDomainCreate", start},
		    [KNOB_LIBVIRT_SHUT_DOWN] = {"virDomainShutdownFlags", shut_down},
		    [KNOB_LIBVIRT_CUT] = {"virDomainDestroy", cut}};
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	struct powering powering = {.domain = &domain};
	unsigned wait_s = machine->vm_wait_s ? machine->vm_wait_s : KNOB_LIBVIRT_SHUTDOWN_S;
	const char *name;
	int r = libvirt_look_up(machine, uuid, true, &domain, err);

	if (r < 0)
		return r;
	if (is_off(&powering) == (power != KNOB_LIBVIRT_START))
		return 0;
	name = domain.it->api.virDomainGetName(domain.handle);
	powering.wait_ms = sys_writer_is_live(machine->writer) ? (int64_t)wait_s * 1000 : FILES_WAIT_MS;
	r = sys_writer_call(machine->writer, ways[power].call, uuid, NULL, ways[power].change, &powering);
	if (r == -EPROTO)
		return libvirt_fail(domain.it, name, err);
	if (r == -ETIME) {
		(void)err_set(err, ETIME, name, "the VM does not shut down for %u seconds", wait_s);
		return err_hint(err, "its guest has to act on the power button (acpid or systemd-logind) or run "
				     "qemu-guest-agent");
	}
	return r < 0 ? err_set(err, -r, name, "its power was not changed: %s", sys_reason(-r)) : 0;
}
