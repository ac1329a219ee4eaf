/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in host_net.h. */
#include "host_net.h"

#include "host.h"
#include "text.h"

/* A bridge has a port for each VM; deeper stacks than VLAN on bond on NIC below a bridge are hardly ever made. */
enum { INTERFACE_LIMIT = 4096, DEPTH_LIMIT = 8 };

struct walk {
	struct host *host;
	int *devices;
	int count, room, visited;
};

static bool is_name(const char *name)
{
	return *name && !strchr(name, '/') && !text_equal(name, ".") && !text_equal(name, "..");
}

static int nic_by_name(const struct host *host, const char *name)
{
	for (int i = 0; i < host->devices.count; i++)
		if (host->devices.list[i].class == DEVICE_NIC && text_equal(host->devices.list[i].name, name))
			return i;
	return -1;
}

static void add(struct walk *walk, int device)
{
	for (int i = 0; i < walk->count; i++)
		if (walk->devices[i] == device)
			return;
	if (walk->count < walk->room)
		walk->devices[walk->count++] = device;
}

/* False: nothing lies below it. */
static bool go_down(struct walk *walk, const char *name, int depth)
{
	static const char lower[] = "lower_";
	int device = nic_by_name(walk->host, name);
	bool found = false;

	if (device >= 0)
		add(walk, device);
	if (device >= 0 || depth == DEPTH_LIMIT || ++walk->visited > INTERFACE_LIMIT)
		return true;
	const struct sys_look *links = sys_list(walk->host->sys, "/sys/class/net/%s", name);
	bool is_bridge = false;

	for (size_t i = 0; links->state == SYS_VALUE && i < links->size; i++) {
		is_bridge = is_bridge || text_equal(links->names[i], "brif");
		if (!text_starts(links->names[i], lower))
			continue;
		(void)go_down(walk, links->names[i] + strlen(lower), depth + 1);
		found = true;
	}
	if (found || !is_bridge)
		return found;
	/* Copied trees may have lost the links. */
	const struct sys_look *ports = sys_list(walk->host->sys, "/sys/class/net/%s/brif", name);

	for (size_t i = 0; ports->state == SYS_VALUE && i < ports->size; i++)
		(void)go_down(walk, ports->names[i], depth + 1);
	return true;
}

int host_net_devices(struct host *host, const char *interface, int *ret, int room)
{
	struct walk walk = {.host = host, .devices = ret, .room = room};

	if (!is_name(interface) || go_down(&walk, interface, 0))
		return walk.count;
	const struct sys_look *master = sys_link(host->sys, "/sys/class/net/%s/master", interface);
	const char *slash = master->state == SYS_VALUE ? strrchr(master->data, '/') : NULL;

	if (slash && is_name(slash + 1))
		(void)go_down(&walk, slash + 1, 0);
	return walk.count;
}
