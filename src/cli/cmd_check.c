/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune check`. */
#include "advise.h"
#include "cli.h"
#include "report.h"

int cmd_check(struct cli *cli)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;

	if (cli->argument_count)
		return cli_usage(cli, "check takes no arguments, but got \"%s\"", cli->arguments[0]);
	int r = cli_open_host(cli, &host);

	if (r)
		return r;
	struct advise_subject subject = {.host = host};
	CLEANUP(advise_result_free_pointer) struct advise_result *result = advise_run(&subject);

	if (cli_given(cli, OPTION_JSON))
		(void)report_json_print(stdout, report_findings_json(host, result, "check"));
	else
		report_findings(&cli->out, host, result, cli_given(cli, OPTION_ALL));
	cli_print_timing(cli, host);
	return result->count_by_severity[ADVISE_FAIL] + result->count_by_severity[ADVISE_WARN] ? EXIT_FINDINGS
											       : EXIT_FINE;
}
