/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes command lines in all forms of files, and the rules that judge them, against a host of one topology. */
#include <string.h>

#include "advise.h"
#include "host_cmdline_file.h"

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

static void judge(struct host *host, const struct host_cmdline *cmdline)
{
	const struct advise_subject subject = {
	    .host = host, .cmdline = cmdline, .path = "fuzz", .rule_prefixes = "cmdline."};

	(void)advise_result_free(advise_run(&subject));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const readers[])(struct arena *, const char *, const char *, struct host_cmdline *,
				      struct err *) = {cmdline_read_plain, cmdline_read_entry, cmdline_read_grub,
						       cmdline_read_modprobe};
	struct host *host = host_for_run();

	const char *text = arena_strndup(host->arena, (const char *)data, size);

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		struct host_cmdline cmdline = {0};

		if (readers[i](host->arena, "fuzz", text, &cmdline, NULL) < 0)
			continue;
		for (int w = 0; w < cmdline.count; w++)
			if (!cmdline.words[w].line || !cmdline.words[w].column)
				abort();
		judge(host, &cmdline);
	}
	return 0;
}
