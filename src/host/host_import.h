/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns hosts that are no trees: hwloc XML, hwloc synthetic descriptions, lscpu texts.
 */
#ifndef HVTUNE_HOST_IMPORT_H
#define HVTUNE_HOST_IMPORT_H

#include "host.h"

/*
 * If host->name is such a host, fill it (kind, sys, facts) and set *ret_imported; otherwise do nothing and return 0.
 * An error is such a host that cannot be understood.
 */
int host_import(struct host *host, bool *ret_imported, struct err *err);

#endif
