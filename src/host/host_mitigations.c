/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_mitigations.h. */
#include "host_mitigations.h"

#include "host.h"
#include "text.h"

#define DIRECTORY "/sys/devices/system/cpu/vulnerabilities"

enum { FILE_LIMIT = 128 };

static const struct {
	const char *start;
	enum mitigation_state state;
} kernel_words[] = {
    {"Not affected", MITIGATION_NOT_AFFECTED},
    {"Mitigation: ", MITIGATION_ACTIVE},
    {"Vulnerable", MITIGATION_VULNERABLE},
};

/* By the kernel's own words only: what they mean for a part is the kernel's business, not ours. */
enum mitigation_state host_mitigation_state(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_words); i++)
		if (text_starts(text, kernel_words[i].start))
			return kernel_words[i].state;
	return MITIGATION_UNKNOWN;
}

const struct mitigation *host_mitigation(const struct host_mitigations *mitigations, const char *name)
{
	for (int i = 0; i < mitigations->count; i++)
		if (text_equal(mitigations->list[i].name, name))
			return &mitigations->list[i];
	return NULL;
}

void host_mitigations_read(struct host *host)
{
	struct host_mitigations *mitigations = &host->mitigations;
	const struct sys_look *names = sys_list(host->sys, DIRECTORY);

	mitigations->directory = names->state == SYS_VALUE ? fact_switch("mitigations.directory", true, DIRECTORY)
							   : fact_of_look("mitigations.directory", names);
	if (names->state != SYS_VALUE)
		return;
	mitigations->list = ARENA_ARRAY(host->arena, MIN_OF(names->size, (size_t)FILE_LIMIT), struct mitigation);
	for (size_t i = 0; i < names->size && i < FILE_LIMIT; i++) {
		struct mitigation *mitigation = &mitigations->list[mitigations->count++];

		mitigation->name = names->names[i];
		mitigation->text =
		    fact_read_text(host->arena, host->sys, names->names[i], DIRECTORY "/%s", names->names[i]);
		mitigation->state = host_mitigation_state(fact_text_or(&mitigation->text, ""));
	}
}

void host_mitigations_rows(const struct host *host, struct host_rows *rows)
{
	static const struct {
		enum mitigation_state state;
		const char *section;
	} order[] = {
	    {MITIGATION_VULNERABLE, "Vulnerable"},
	    {MITIGATION_ACTIVE, "Mitigated"},
	    {MITIGATION_UNKNOWN, "Other"},
	    {MITIGATION_NOT_AFFECTED, "Not affected"},
	};
	const struct host_mitigations *mitigations = &host->mitigations;

	if (!mitigations->count)
		host_rows_add(rows, "Vulnerability files", &mitigations->directory);
	for (size_t o = 0; o < ARRAY_SIZE(order); o++)
		for (int i = 0; i < mitigations->count; i++)
			if (mitigations->list[i].state == order[o].state) {
				rows->section = order[o].section;
				host_rows_add(rows, mitigations->list[i].name, &mitigations->list[i].text);
			}
}
