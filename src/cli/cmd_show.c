/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune show`. */
#include "cli.h"
#include "report.h"
#include "text.h"

static int list_subjects(const struct cli *cli)
{
	const char *name, *title;

	if (cli_given(cli, OPTION_JSON)) {
		json_t *list = json_array(), *all = report_json_start("show", NULL);

		for (size_t i = 0; report_subject_at(i, &name, &title); i++)
			json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "title", title));
		json_object_set_new(all, "subjects", list);
		(void)report_json_print(stdout, all);
		return EXIT_FINE;
	}
	for (size_t i = 0; report_subject_at(i, &name, &title); i++)
		(void)printf("%-12s %s\n", name, title);
	return EXIT_FINE;
}

static bool is_subject(const char *wanted)
{
	const char *name, *title;

	for (size_t i = 0; report_subject_at(i, &name, &title); i++)
		if (text_equal(name, wanted))
			return true;
	return false;
}

static int unknown_subject(const struct cli *cli, const char *wanted)
{
	const char *near = NULL, *name, *title;
	int nearest = 3;

	for (size_t i = 0; report_subject_at(i, &name, &title); i++) {
		int distance = text_distance(name, wanted);

		if (distance < nearest) {
			nearest = distance;
			near = name;
		}
	}
	return near ? cli_usage(cli, "there is no subject \"%s\"; did you mean \"%s\"?", wanted, near)
		    : cli_usage(cli, "there is no subject \"%s\"; `hvtune show --list` names them", wanted);
}

/* All subjects, or "vms" among them? Looking for VMs is spared else. */
static bool wants_vms(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(names[i], "vms"))
			return true;
	return count == 0;
}

static int write_svg(FILE *out, const void *host)
{
	return report_topology_svg(out, host);
}

int cmd_show(struct cli *cli)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(vm_joined_free_pointer) struct vm_joined *vms = NULL;
	struct err err = {0};
	const char *const *names = (const char *const *)cli->arguments;
	size_t count = (size_t)cli->argument_count;
	bool topology_only = count == 1 && text_equal(names[0], "topology");

	if (cli_given(cli, OPTION_LIST) && count)
		return cli_usage(cli, "--list takes no subject, but got \"%s\"", names[0]);
	if (cli_given(cli, OPTION_LIST))
		return list_subjects(cli);
	for (size_t i = 0; i < count; i++)
		if (!is_subject(names[i]))
			return unknown_subject(cli, names[i]);
	if (cli_given(cli, OPTION_SVG) && !topology_only)
		return cli_usage(cli, "--svg draws the topology: hvtune show topology --svg FILE");
	if (cli_given(cli, OPTION_SVG) && (cli_given(cli, OPTION_JSON) || cli_given(cli, OPTION_SOURCES)))
		return cli_usage(cli, "--svg draws instead of printing: --json and --sources have no place beside it");
	int r = cli_open_host(cli, &host);

	if (r)
		return r;
	if (wants_vms(names, count) && vm_joined_read(host, cli->values[OPTION_CONNECT], &vms, &err) < 0)
		return cli_fail(&err);
	if (cli_given(cli, OPTION_SVG))
		r = cli_write_picture(cli, write_svg, host);
	else if (cli_given(cli, OPTION_JSON))
		(void)report_json_print(stdout, topology_only ? report_topology_json(host)
							      : report_facts_json(host, vms, names, count));
	else if (topology_only && !cli_given(cli, OPTION_SOURCES))
		report_topology(&cli->out, host);
	else
		report_facts(&cli->out, host, vms, names, count, cli_given(cli, OPTION_SOURCES));
	cli_print_timing(cli, host);
	return r;
}
