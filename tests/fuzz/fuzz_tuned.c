/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes tuned profiles and logs, and the rules that judge them, against a host of one topology. */
#include <string.h>

#include "advise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Opening a host takes longer than a run, so one serves for many; texts pile up in its arena until then. */
static struct host *host_for_run(void)
{
	static struct host *host;
	static unsigned runs;

	if (runs++ % 500 == 0) {
		host = host_close(host);
		if (host_open("package:1 l3:2 core:2 pu:2", &host, NULL) < 0)
			abort();
	}
	return host;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host *host = host_for_run();
	struct tuned_profile profile;

	const char *text = arena_strndup(host->arena, (const char *)data, size);

	(void)tuned_profile_parse(host, "fuzz", text, &profile, NULL);
	const struct advise_subject as_profile = {
	    .host = host, .profile = &profile, .path = "fuzz", .rule_prefixes = "tuned."};
	const struct advise_subject as_log = {
	    .host = host, .verify_log = text, .path = "fuzz", .rule_prefixes = "tuned.verify"};

	(void)advise_result_free(advise_run(&as_profile));
	(void)advise_result_free(advise_run(&as_log));
	return 0;
}
