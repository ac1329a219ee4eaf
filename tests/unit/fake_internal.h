/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the services on the test's bus share. */
#ifndef HVTUNE_TEST_FAKE_INTERNAL_H
#define HVTUNE_TEST_FAKE_INTERNAL_H

#include <systemd/sd-bus.h>

#include "fake_bus.h"

struct fake {
	sd_bus *bus;
	struct kernel *kernel;
	struct fake_orders *orders;
	struct arena *arena;
};

/* End the process when something that cannot fail has failed. */
void fake_must(int r, const char *what);

/* Put systemd on the bus, and the services that it runs at boot; they live as long as the process. */
void fake_systemd_serve(struct fake *fake);

/* What the machine forgets of its services when it goes down. */
void fake_systemd_down(struct kernel *kernel);

/* Make a tuned that does not run yet; start and stop it. */
void fake_tuned_make(struct fake *fake);
void fake_tuned_run(bool on);

#endif
