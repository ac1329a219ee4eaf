/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what lies below an interface of the network: the PCI devices that the traffic of a bridge, bond, VLAN, macvlan
 * or tap leaves the machine by.
 *
 * Source: links lower_NAME and master in /sys/class/net/NAME (net/core/dev.c of Linux, since 3.13), brif of bridges.
 */
#ifndef HVTUNE_HOST_NET_H
#define HVTUNE_HOST_NET_H

#include "base.h"

struct host;

/*
 * The NICs below `interface`, as indices of host->devices.list, each once. A NIC itself is the only one below it; a tap
 * without anything below it is followed to the bridge that it is in. Returns their number, at most `room`; 0 also for
 * what leads nowhere (a bridge of its own, the end of a veth pair, which has no link to the other).
 */
int host_net_devices(struct host *host, const char *interface, int *ret, int room);

#endif
