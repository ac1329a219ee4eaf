/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune report`: which session, in which form, to where. */
#include <errno.h>
#include <sys/stat.h>

#include "cli.h"
#include "report.h"
#include "report_result.h"
#include "store.h"
#include "text.h"

enum form { FORM_TEXT, FORM_HTML, FORM_MARKDOWN, FORM_JSON, FORM_CSV, FORM_SVG };

struct form_name {
	const char *name, *ending;
	enum form form;
};

static const struct form_name forms[] = {
    {"text", ".txt", FORM_TEXT},  {"html", ".html", FORM_HTML}, {"markdown", ".md", FORM_MARKDOWN},
    {"json", ".json", FORM_JSON}, {"csv", ".csv", FORM_CSV},	{"svg", NULL, FORM_SVG},
    {"html", ".htm", FORM_HTML},
};

static const struct form_name *form_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (text_equal(forms[i].name, name))
			return &forms[i];
	return NULL;
}

static const struct form_name *form_by_ending(const char *path)
{
	const char *ending = strrchr(path, '.');

	for (size_t i = 0; ending && i < ARRAY_SIZE(forms); i++)
		if (text_equal(forms[i].ending, ending))
			return &forms[i];
	return NULL;
}

/* The form that --format or the name of the file asks for. 0 or EXIT_USAGE. */
static int choose_form(const struct cli *cli, enum form *ret)
{
	const char *path = cli->values[OPTION_REPORT_OUTPUT], *wanted = cli->values[OPTION_REPORT_FORMAT];
	const struct form_name *form = wanted ? form_named(wanted) : path ? form_by_ending(path) : &forms[0];

	if (cli_given(cli, OPTION_JSON)) {
		if (wanted && !text_equal(wanted, "json"))
			return cli_usage(cli, "--json is --format json, not %s", wanted);
		form = form_named("json");
	}
	if (!form && wanted)
		return cli_usage(cli, "--format is text, html, markdown, json, csv or svg, not \"%s\"", wanted);
	if (!form)
		return cli_usage(cli,
				 "the form of \"%s\" cannot be told by its name (.html, .md, .json, .csv, .txt): give "
				 "--format",
				 path);
	if (form->form == FORM_SVG && (!path || text_equal(path, "-")))
		return cli_usage(cli, "--format svg writes a file for each chart: name their directory with --output");
	*ret = form->form;
	return 0;
}

/* One file a chart: 1-intervals.svg, 2-runs.svg... */
static int write_charts(const char *folder, const struct report_result *result)
{
	static const char *const names[] = {
	    [CHART_INTERVALS] = "intervals", [CHART_WATERFALL] = "steps",  [CHART_HEAT] = "heat-map",
	    [CHART_PARETO] = "pareto",	     [CHART_SERIES] = "over-time", [CHART_DOTS] = "runs"};
	struct err err = {0};

	if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
		(void)err_set(&err, errno, folder, "cannot make the directory for the charts: %s", strerror(errno));
		return cli_fail(&err);
	}
	for (int i = 0; i < result->chart_count; i++) {
		const struct chart *chart = &result->charts[i];
		CLEANUP(base_free) char *data = NULL;
		size_t size = 0;
		CLEANUP(base_fclose) FILE *out = open_memstream(&data, &size);
		const char *path = arena_printf(result->arena, "%s/%d-%s.svg", folder, i + 1, names[chart->kind]);

		if (!out)
			err_no_memory();
		chart_svg(out, chart, CHART_WIDTH_WIDE, "chart", true);
		base_fclose(&out);
		int r = cli_write_file(path, "chart", data, size);

		if (r)
			return r;
	}
	(void)printf("%s in %s\n", text_count(result->arena, result->chart_count, "chart", "charts"), folder);
	return EXIT_FINE;
}

static int put(FILE *out, enum form form, struct report_result *result, struct store *store, const struct term *term,
	       struct err *err)
{
	struct term to = *term;

	to.out = out;
	switch (form) {
	case FORM_TEXT:
		doc_text(&to, report_result_doc(result));
		return 0;
	case FORM_HTML:
		doc_html(out, report_result_doc(result));
		return 0;
	case FORM_MARKDOWN:
		doc_markdown(out, report_result_doc(result));
		return 0;
	case FORM_JSON:
		return report_json_print(out, report_result_json(result));
	case FORM_CSV:
		return store_export_csv(store, result->whole->session.id, out, err);
	case FORM_SVG:
		break;
	}
	return 0;
}

static int write_report(const struct cli *cli, enum form form, struct report_result *result, struct store *store)
{
	const char *path = cli->values[OPTION_REPORT_OUTPUT];
	CLEANUP(base_free) char *data = NULL;
	size_t size = 0;
	struct err err = {0};

	if (form == FORM_SVG)
		return write_charts(path, result);
	if (!path || text_equal(path, "-"))
		return put(stdout, form, result, store, &cli->out, &err) < 0 ? cli_fail(&err) : EXIT_FINE;
	CLEANUP(base_fclose) FILE *out = open_memstream(&data, &size);
	/* A file has the width of a page, and no colours of this terminal. */
	struct term term = {.width = 100, .utf8 = true};

	if (!out)
		err_no_memory();
	if (put(out, form, result, store, &term, &err) < 0)
		return cli_fail(&err);
	base_fclose(&out);
	return cli_write_file(path, "report", data, size);
}

int cmd_report(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(store_close_pointer) struct store *store = NULL;
	struct report_result *result = NULL;
	struct err err = {0};
	enum form form = FORM_TEXT;

	if (cli->argument_count > 1)
		return cli_usage(cli, "report takes one session, but got \"%s\" too", cli->arguments[1]);
	int r = choose_form(cli, &form);

	if (r)
		return r;
	if (store_open(cli->values[OPTION_STORE], STORE_READ, &store, &err) < 0 ||
	    report_result_load(arena, store, cli->argument_count ? cli->arguments[0] : "last", &result, &err) < 0)
		return cli_fail(&err);
	return write_report(cli, form, result, store);
}
