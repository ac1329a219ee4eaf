/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a bus of a test's own (a dbus-daemon that nobody else can reach) and the services on it: a tuned that acts on
 * the simulated kernel as tuned 2.20 acts on Linux, its faults included. The services live in a process of their own,
 * so that hvtune can be killed while they go on.
 */
#ifndef HVTUNE_TEST_FAKE_BUS_H
#define HVTUNE_TEST_FAKE_BUS_H

#include <sys/types.h>

#include "kernel.h"

/* What the services are told to do wrong; read by them at each call. */
struct fake_orders {
	int tuned_dies_after;  /* tuned dies after that many writes of a profile; 0: never */
	int caller_dies_after; /* the process `caller` is killed after that many writes, and tuned goes on; 0: never */
	pid_t caller;
};

struct fake_bus {
	char address[256];
	char config[64]; /* path of dbus-daemon's configuration */
	pid_t daemon;
	pid_t services; /* 0: none run */
	struct fake_orders *orders;
};

/* The bus of a program whose tests all use one: fake_bus_group_start() and _stop() are its group's fixtures. */
extern struct fake_bus fake_bus_shared;
int fake_bus_group_start(void **state);
int fake_bus_group_stop(void **state);

/* False when there is no dbus-daemon here. */
bool fake_bus_start(struct fake_bus *bus);
void fake_bus_stop(struct fake_bus *bus);

/*
 * Start the services as at boot: systemd runs what is enabled, and tuned applies the profile of
 * /etc/tuned/active_profile. They answer when it returns.
 */
void fake_services_start(struct fake_bus *bus, struct kernel *kernel);
void fake_services_stop(struct fake_bus *bus);

/* Boot the simulated machine anew, as kernel_reboot(): no service outlives it, and systemd starts what is enabled. */
void fake_services_reboot(struct fake_bus *bus, struct kernel *kernel, const char *mode, const char *boot_id);

/* Units for a simulated machine: tuned enabled, irqbalance running and enabled, others not. */
void fake_systemd_install(struct kernel *kernel);

/* Profiles and settings of tuned for a simulated machine, with "balanced" active. */
void fake_tuned_install(struct kernel *kernel);

#endif
