/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes tuned profiles and logs, and the rules that judge them, against a host of one topology. */
#include <string.h>

#include "advise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host *host = NULL;
	struct tuned_profile profile;

	if (host_open("package:1 l3:2 core:2 pu:2", &host, NULL) < 0)
		abort();
	const char *text = arena_strndup(host->arena, (const char *)data, size);

	(void)tuned_profile_parse(host, "fuzz", text, &profile, NULL);
	const struct advise_subject as_profile = {
	    .host = host, .profile = &profile, .path = "fuzz", .rule_prefixes = "tuned."};
	const struct advise_subject as_log = {
	    .host = host, .verify_log = text, .path = "fuzz", .rule_prefixes = "tuned.verify"};

	(void)advise_result_free(advise_run(&as_profile));
	(void)advise_result_free(advise_run(&as_log));
	(void)host_close(host);
	return 0;
}
