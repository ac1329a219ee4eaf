/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune show`. */
#include "cli.h"
#include "report.h"
#include "text.h"

static int list_subjects(void)
{
	size_t count;
	const struct host_subject *subjects = host_subjects(&count);

	for (size_t i = 0; i < count; i++)
		(void)printf("%-12s %s\n", subjects[i].name, subjects[i].title);
	return EXIT_FINE;
}

static bool is_subject(const char *name)
{
	size_t count;
	const struct host_subject *subjects = host_subjects(&count);

	for (size_t i = 0; i < count; i++)
		if (text_equal(subjects[i].name, name))
			return true;
	return false;
}

static int unknown_subject(const struct cli *cli, const char *name)
{
	size_t count;
	const struct host_subject *subjects = host_subjects(&count);
	const char *near = NULL;
	int nearest = 3;

	for (size_t i = 0; i < count; i++) {
		int distance = text_distance(subjects[i].name, name);

		if (distance < nearest) {
			nearest = distance;
			near = subjects[i].name;
		}
	}
	return near ? cli_usage(cli, "there is no subject \"%s\"; did you mean \"%s\"?", name, near)
		    : cli_usage(cli, "there is no subject \"%s\"; `hvtune show --list` names them", name);
}

static int write_svg(FILE *out, const void *host)
{
	return report_topology_svg(out, host);
}

int cmd_show(struct cli *cli)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	const char *const *names = (const char *const *)cli->arguments;
	size_t count = (size_t)cli->argument_count;
	bool topology_only = count == 1 && text_equal(names[0], "topology");

	if (cli_given(cli, OPTION_LIST))
		return list_subjects();
	for (size_t i = 0; i < count; i++)
		if (!is_subject(names[i]))
			return unknown_subject(cli, names[i]);
	if (cli_given(cli, OPTION_SVG) && !topology_only)
		return cli_usage(cli, "--svg draws the topology: hvtune show topology --svg FILE");
	int r = cli_open_host(cli, &host);

	if (r)
		return r;
	if (cli_given(cli, OPTION_SVG))
		r = cli_write_picture(cli, write_svg, host);
	else if (cli_given(cli, OPTION_JSON))
		(void)report_json_print(stdout, topology_only ? report_topology_json(host)
							      : report_facts_json(host, names, count));
	else if (topology_only && !cli_given(cli, OPTION_SOURCES))
		report_topology(&cli->out, host);
	else
		report_facts(&cli->out, host, names, count, cli_given(cli, OPTION_SOURCES));
	cli_print_timing(cli, host);
	return r;
}
