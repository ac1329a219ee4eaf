/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns CPU vulnerabilities and their mitigations, in the kernel's own words.
 */
#ifndef HVTUNE_HOST_MITIGATIONS_H
#define HVTUNE_HOST_MITIGATIONS_H

#include "fact.h"

struct host;
struct host_rows;

enum mitigation_state { MITIGATION_UNKNOWN, MITIGATION_NOT_AFFECTED, MITIGATION_ACTIVE, MITIGATION_VULNERABLE };

struct mitigation {
	const char *name; /* file name: "spec_rstack_overflow" */
	struct fact text;
	enum mitigation_state state;
};

struct host_mitigations {
	struct fact directory; /* switch, on when the kernel lists vulnerabilities (4.15 and later) */
	struct mitigation *list;
	int count;
};

/* By file name, or NULL. */
const struct mitigation *host_mitigation(const struct host_mitigations *mitigations, const char *name);

/* What the kernel's words mean: "Mitigation: Retpolines..." is MITIGATION_ACTIVE. */
enum mitigation_state host_mitigation_state(const char *text);

void host_mitigations_read(struct host *host);
void host_mitigations_rows(const struct host *host, struct host_rows *rows);

#endif
