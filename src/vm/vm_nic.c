/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in vm_nic.h. */
#include "vm_nic.h"

#include "host_net.h"

enum { PORTS_MAX = 64 };

static const struct device *port_of(struct host *host, const char *interface)
{
	int ports[PORTS_MAX], count = host_net_devices(host, interface, ports, PORTS_MAX);
	const struct device *first = count ? &host->devices.list[ports[0]] : NULL;

	for (int i = 0; i < count; i++) {
		const struct device *device = &host->devices.list[ports[i]];

		if (!fact_known(&device->node) || device->node.number != first->node.number)
			return NULL;
	}
	return count < PORTS_MAX ? first : NULL;
}

void vm_find_ports(struct host *host, struct vm *vm)
{
	for (int i = 0; i < vm->nic_count; i++)
		vm->nics[i].port = vm->nics[i].outside ? port_of(host, vm->nics[i].outside) : NULL;
}
