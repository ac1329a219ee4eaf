/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the topology drawn in the terminal. */
#include "report.h"

void report_topology(const struct term *term, const struct host *host)
{
	(void)term, (void)host;
}

json_t *report_topology_json(const struct host *host)
{
	return report_json_start("show", host);
}
