/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune workloads`: those that are known by name, whether they work here, and installing what they need. */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "measure.h"
#include "report.h"
#include "study_named.h"
#include "study_run.h"
#include "text.h"

struct chosen {
	const struct study_workload **items;
	size_t count;
};

/* Those that are named, groups as @group too; without names all. 0, or EXIT_USAGE. */
static int choose(const struct cli *cli, struct arena *arena, int first, struct chosen *ret)
{
	const struct study_workload *all;
	size_t count = study_named(arena, &all);

	ret->items = ARENA_ARRAY(arena, count * (size_t)(cli->argument_count + 1) + 1, const struct study_workload *);
	for (size_t i = 0; i < count && first >= cli->argument_count; i++)
		ret->items[ret->count++] = &all[i];
	for (int a = first; a < cli->argument_count; a++) {
		const char *name = cli->arguments[a];
		size_t before = ret->count;

		for (size_t i = 0; i < count; i++)
			if (*name == '@' ? text_equal(all[i].group, name + 1) : text_equal(all[i].name, name))
				ret->items[ret->count++] = &all[i];
		if (ret->count == before)
			return cli_usage(cli, "there is no workload \"%s\"; `hvtune workloads` lists all", name);
	}
	return 0;
}

static const char *packages_text(struct arena *arena, const struct study_workload *workload)
{
	const char *text = "";

	for (size_t i = 0; workload->packages && workload->packages[i]; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? " " : "", workload->packages[i]);
	return text;
}

static int list(const struct cli *cli, struct measure *measure, const struct chosen *chosen)
{
	json_t *rows = json_array();
	const char *group = NULL;

	for (size_t i = 0; i < chosen->count; i++) {
		const struct study_workload *workload = chosen->items[i];
		const char *missing = study_named_missing(measure->host->sys, workload);

		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "name", workload->name, "group",
						      workload->group, "unit", workload->metric.unit, "better",
						      workload->metric.more_is_better ? "more" : "less", "installed",
						      !missing, "packages",
						      report_json_text(packages_text(measure->arena, workload))));
		if (cli_given(cli, OPTION_JSON))
			continue;
		if (!text_equal(group, workload->group))
			(void)fprintf(cli->out.out, "%s\n", workload->group);
		group = workload->group;
		(void)fprintf(cli->out.out, "  %-15s ", workload->name);
		term_flow(&cli->out, 18, true,
			  missing ? arena_printf(measure->arena, "not installed: %s", missing)
				  : arena_printf(measure->arena, "%s, %s is better", workload->metric.unit,
						 workload->metric.more_is_better ? "more" : "less"));
	}
	if (!cli_given(cli, OPTION_JSON)) {
		json_decref(rows);
		return EXIT_FINE;
	}
	json_t *json = report_json_start("workloads", NULL);

	json_object_set_new(json, "workloads", rows);
	(void)report_json_print(stdout, json);
	return EXIT_FINE;
}

/* One run of each, with nothing kept. */
static int check_one(const struct cli *cli, struct measure *measure, const struct study_workload *workload,
		     const char *work, json_t *rows, struct err *err)
{
	const struct study_metric metric = workload->metric;
	struct bench_reader reader;
	bool reads = study_workload_reader(measure->arena, workload, &reader);
	const struct bench_command setup = study_command(measure->arena, &workload->setup, NULL, work, 0);
	const struct bench_command prepare = study_command(measure->arena, &workload->prepare, NULL, work, 0);
	struct bench_subject subject = {.name = workload->name,
					.command = study_command(measure->arena, &workload->run, NULL, work, 600),
					.prepare = workload->prepare.line ? &prepare : NULL,
					.readers = reads ? &reader : NULL,
					.reader_count = reads};
	const struct bench_run *run = NULL;
	int number, at, r = 0;

	subject.command.output = BENCH_OUTPUT_CAPTURE;
	progress_show(&measure->progress, "%s", workload->name);
	if (workload->setup.line)
		r = bench_hook(measure->bench, &setup, workload->name, err);
	if (r == 0)
		r = bench_add(measure->bench, &subject, &number, err);
	if (r == 0)
		r = bench_measure(measure->bench, number, "measure", -1, &run, err);
	if (r < 0 && r != -EPROTO)
		return r;
	const char *why = r < 0 ? err->what : run && run->valid ? NULL : run ? run->why : "no run";
	double value = NAN, wall = NAN;

	if (!why) {
		wall = run->values[bench_values_find(&measure->bench->values, BENCH_WALL)];
		at = bench_values_find(&measure->bench->values, study_metric_name(workload));
		value = at >= 0 ? run->values[at] : (double)NAN;
	}
	json_array_append_new(rows, json_pack("{s:s, s:b, s:o, s:s, s:o, s:o}", "name", workload->name, "works", !why,
					      "value", measure_number_json(value), "unit", metric.unit, "seconds",
					      measure_number_json(wall), "why", report_json_text(why)));
	if (cli_given(cli, OPTION_JSON))
		return why ? 1 : 0;
	progress_end(&measure->progress);
	(void)fprintf(cli->out.out, "  %-15s ", workload->name);
	term_flow(&cli->out, 18, true,
		  why ? arena_printf(measure->arena, "does not work here: %s", why)
		      : arena_printf(measure->arena, "%s in %.1f s", measure_value(measure->arena, metric.unit, value),
				     wall));
	return why ? 1 : 0;
}

static int check(const struct cli *cli, struct measure *measure, const struct chosen *chosen)
{
	const char *work = arena_printf(measure->arena, "/var/tmp/hvtune-workloads-%d", (int)getpid());
	json_t *rows = json_array();
	struct err err = {0};
	bool bad = false;
	int r = measure_begin(cli, measure, json_object());

	if (r) {
		json_decref(rows);
		return r;
	}
	r = study_work_make(work, &err);
	for (size_t i = 0; i < chosen->count && r >= 0; i++) {
		const char *missing = study_named_missing(measure->host->sys, chosen->items[i]);

		if (missing && !cli_given(cli, OPTION_JSON))
			(void)fprintf(cli->out.out, "  %-15s not installed: %s\n", chosen->items[i]->name, missing);
		if (missing) {
			bad = true;
			json_array_append_new(rows, json_pack("{s:s, s:b, s:s}", "name", chosen->items[i]->name,
							      "works", 0, "why", "not installed"));
			continue;
		}
		r = check_one(cli, measure, chosen->items[i], work, rows, &err);
		bad = bad || r > 0;
	}
	progress_end(&measure->progress);
	study_work_clear(work);
	if (cli_given(cli, OPTION_JSON)) {
		json_t *json = report_json_start("workloads", NULL);

		json_object_set(json, "workloads", rows);
		(void)report_json_print(stdout, json);
	}
	json_decref(rows);
	return r < 0 ? cli_fail(&err) : bad ? EXIT_FINDINGS : EXIT_FINE;
}

static int install(const struct cli *cli, struct measure *measure, const struct chosen *chosen)
{
	const char **words = ARENA_ARRAY(measure->arena, 16 * chosen->count + 8, const char *);
	struct bench_command command = {.argv = words, .output = BENCH_OUTPUT_SHOWN};
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
	struct err err = {0};
	size_t count = 0, first;

	if (!sys_has_dir(measure->host->sys, "/var/lib/dpkg/info"))
		return cli_usage(cli, "this is no Debian: `hvtune workloads` names the programs to install by hand");
	for (const char *const *word = (const char *const[]){"apt-get", "install", "--no-install-recommends", NULL};
	     *word; word++)
		words[count++] = *word;
	if (cli_given(cli, OPTION_YES))
		words[count++] = "-y";
	first = count;
	for (size_t i = 0; i < chosen->count; i++) {
		const struct study_workload *workload = chosen->items[i];

		if (study_named_missing(measure->host->sys, workload))
			for (size_t p = 0; workload->packages[p] && p < 16; p++)
				words[count++] = workload->packages[p];
	}
	if (count == first) {
		term_flow(&cli->out, 0, true, "All that they need is installed.");
		return EXIT_FINE;
	}
	(void)fprintf(cli->out.out, "%s\n", bench_words_text(measure->arena, words));
	(void)fflush(cli->out.out);
	if (cli_given(cli, OPTION_DRY_RUN))
		return EXIT_FINE;
	command.input = isatty(STDIN_FILENO) ? "/dev/tty" : NULL;
	if (bench_spawn(&command, NULL, &outcome, &err) < 0)
		return cli_fail(&err);
	return outcome.exit_code == 0 ? EXIT_FINE : EXIT_COULD_NOT;
}

int cmd_workloads(struct cli *cli)
{
	static const struct {
		const char *word;
		int (*run)(const struct cli *cli, struct measure *measure, const struct chosen *chosen);
	} verbs[] = {{"list", list}, {"check", check}, {"install", install}};
	CLEANUP(measure_close) struct measure measure = {0};
	struct chosen chosen = {0};
	size_t verb = 0;
	int r;

	while (cli->argument_count && verb < ARRAY_SIZE(verbs) && !text_equal(verbs[verb].word, cli->arguments[0]))
		verb++;
	if (verb == ARRAY_SIZE(verbs))
		return cli_usage(cli, "workloads does not know \"%s\"; it does: list, check, install",
				 cli->arguments[0]);
	/* Nothing of these is a result. */
	cli->values[OPTION_NO_STORE] = "";
	r = measure_open(cli, &measure);
	if (r == 0)
		r = choose(cli, measure.arena, cli->argument_count ? 1 : 0, &chosen);
	return r ? r : verbs[verb].run(cli, &measure, &chosen);
}
