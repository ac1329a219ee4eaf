/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns asking the agents in guests, by libvirt-qemu's library. Compiled only where libvirt's headers are. */
#include <dlfcn.h>
#include <errno.h>

#include "knob_libvirt_internal.h"

static int load_agent(struct libvirt_connection *it, struct err *err)
{
	void *library = it->virDomainQemuAgentCommand ? NULL : dlopen("libvirt-qemu.so.0", RTLD_NOW | RTLD_LOCAL);

	if (library)
		*(void **)&it->virDomainQemuAgentCommand = dlsym(library, "virDomainQemuAgentCommand");
	return it->virDomainQemuAgentCommand ? 0 : err_set(err, ENOSYS, it->uri, "libvirt-qemu: %s", dlerror());
}

struct asking_agent {
	const struct libvirt_domain *domain;
	const char *command;
	char *reply;
};

static int ask_agent(void *data)
{
	enum { WAIT_S = 10 };
	struct asking_agent *asking = data;

	asking->reply =
	    asking->domain->it->virDomainQemuAgentCommand(asking->domain->handle, asking->command, WAIT_S, 0);
	return asking->reply ? 0 : -EPROTO;
}

int knob_libvirt_agent(struct knob_machine *machine, const char *uuid, const char *change, const char *command,
		       char **ret_reply, struct err *err)
{
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	struct asking_agent asking = {.domain = &domain, .command = command};
	const char *name;
	int r = libvirt_look_up(machine, uuid, true, &domain, err);

	if (r == 0)
		r = load_agent(machine->libvirt, err);
	if (r < 0)
		return r;
	name = domain.it->api.virDomainGetName(domain.handle);
	if (domain.it->api.virDomainIsActive(domain.handle) != 1)
		return err_set(err, EHOSTDOWN, name, "the VM is off: its guest is reached only while it runs");
	r = change ? sys_writer_call(machine->writer, "virDomainQemuAgentCommand", uuid, change, ask_agent, &asking)
		   : ask_agent(&asking);
	if (r < 0)
		return r == -EPROTO ? libvirt_fail(domain.it, name, err)
				    : err_set(err, -r, name, "its guest agent was not asked: %s", sys_reason(-r));
	*ret_reply = asking.reply;
	return 0;
}
