/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a session as a document: what it says, in which order. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "report_result_internal.h"
#include "report_scale.h"
#include "text.h"

/* ---- values of JSON as rows ---- */

struct rows {
	struct arena *arena;
	const char **cells;
	int count, room, columns;
};

static const char **row_new(struct rows *rows)
{
	if (rows->count == rows->room) {
		int room = rows->room ? rows->room * 2 : 16;
		const char **larger = ARENA_ARRAY(rows->arena, (size_t)room * (size_t)rows->columns, const char *);

		if (rows->count)
			memcpy(larger, rows->cells, (size_t)rows->count * (size_t)rows->columns * sizeof(*larger));
		rows->cells = larger;
		rows->room = room;
	}
	return &rows->cells[(size_t)rows->count++ * (size_t)rows->columns];
}

static const char *scalar(struct arena *arena, const json_t *value)
{
	if (json_is_string(value))
		return arena_strdup(arena, json_string_value(value));
	if (json_is_true(value) || json_is_false(value))
		return json_is_true(value) ? "yes" : "no";
	if (json_is_null(value))
		return "not known";
	if (json_is_integer(value))
		return arena_printf(arena, "%lld", (long long)json_integer_value(value));
	if (json_is_real(value))
		return arena_printf(arena, "%.6g", json_real_value(value));
	CLEANUP(base_free) char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	return arena_strdup(arena, text ? text : "?");
}

/* "cpu.model" for what is inside of an object; lists of plain values in one cell. */
static void put_json(struct rows *rows, const char *name, const json_t *value)
{
	const char *key;
	json_t *inner;

	if (!json_is_object(value)) {
		const char **cells = row_new(rows);

		cells[0] = name;
		cells[1] = scalar(rows->arena, value);
		return;
	}
	json_object_foreach ((json_t *)value, key, inner)
		put_json(rows, *name ? arena_printf(rows->arena, "%s.%s", name, key) : arena_strdup(rows->arena, key),
			 inner);
}

/* `without`: a key that is told elsewhere, or NULL. */
static void add_json(struct doc *doc, const char *text, const char *caption, const char *without)
{
	static const char *const heads[] = {"what", "value"};
	json_t *json = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	struct rows rows = {.arena = doc->arena, .columns = 2};
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);

	if (json_is_object(json) && without)
		(void)json_object_del(json, without);
	if (json_is_object(json))
		put_json(&rows, "", json);
	*table = (struct doc_table){caption, heads, rows.cells, 2, rows.count, 2};
	doc_add_table(doc, table);
	json_decref(json);
}

/* ---- texts ---- */

static const char *when(struct arena *arena, int64_t at_us)
{
	time_t seconds = (time_t)(at_us / 1000000);
	struct tm parts;
	char text[64];

	if (!at_us || !gmtime_r(&seconds, &parts) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts))
		return "not known";
	return arena_strdup(arena, text);
}

static const char *estimate_text(const struct report_result *result, const struct report_metric *metric, size_t index,
				 bool interval)
{
	const struct report_estimate *found = &metric->estimates[index];
	const char *unit = metric->measure.unit;

	if (!found->runs)
		return "no valid run";
	if (!interval)
		return scale_plain(result->arena, found->value.estimate, found->half, unit);
	if (!isfinite(found->half))
		return "too few runs";
	/* Both in the unit of the estimate, which stands once. */
	struct scale scale = scale_make(found->value.estimate, found->value.estimate, unit, 4), bare = scale;

	bare.unit[0] = '\0';
	return arena_printf(result->arena, "%s to %s", scale_value(result->arena, &bare, found->value.low, found->half),
			    scale_value(result->arena, &scale, found->value.high, found->half));
}

static const char *title(const struct report_result *result)
{
	const struct store_session *session = &result->whole->session;

	return session->name ? session->name
			     : arena_printf(result->arena, "hvtune %s on %s, %s", session->kind,
					    session->host ? session->host : "a host that is not known",
					    when(result->arena, session->began_us));
}

/* Longer ones are for who looks for them. */
enum { ROWS_SHOWN = 200 };

static void add_table(struct doc *doc, const struct doc_table *table)
{
	if (table->rows > ROWS_SHOWN)
		doc_add_folded(doc, table);
	else
		doc_add_table(doc, table);
}

/* ---- sections ---- */

static void add_configurations(struct doc *doc, const struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	const char *const *knobs = report_settings(doc->arena, whole);
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);
	int columns = 2;

	while (knobs[columns - 2])
		columns++;
	const char **heads = ARENA_ARRAY(doc->arena, (size_t)columns, const char *);
	const char **cells = ARENA_ARRAY(doc->arena, (size_t)columns * (whole->configuration_count + 1), const char *);

	heads[0] = "configuration";
	heads[1] = "command";
	for (int i = 2; i < columns; i++)
		heads[i] = knobs[i - 2];
	for (size_t i = 0; i < whole->configuration_count; i++) {
		const struct store_configuration *one = &whole->configurations[i];
		const char **row = &cells[i * (size_t)columns];

		row[0] = one->name;
		row[1] =
		    arena_printf(doc->arena, "%s%s%s", one->command ? report_command(doc->arena, one->command) : "none",
				 one->place ? ", in " : "", one->place ? one->place : "");
		for (int k = 2; k < columns; k++) {
			row[k] = report_setting(doc->arena, one, knobs[k - 2]);
			row[k] = row[k] ? row[k] : "as it was";
		}
	}
	*table = (struct doc_table){"Configurations and what each sets", heads,	 cells, columns,
				    (int)whole->configuration_count,	 columns};
	doc_add(doc, DOC_HEADING, whole->configuration_count > 1 ? "What was compared" : "What was measured");
	add_table(doc, table);
}

static bool measured(const struct report_result *result, size_t metric)
{
	for (size_t i = 0; i < result->whole->configuration_count; i++)
		if (result->metrics[metric].estimates[i].runs)
			return true;
	return false;
}

/* Metrics without any value have no rows; they are named. */
static void add_unmeasured(struct doc *doc, const struct report_result *result)
{
	const char *names = "";

	for (size_t m = 0; m < result->whole->metric_count; m++)
		if (!measured(result, m))
			names = arena_printf(doc->arena, "%s%s%s", names, *names ? ", " : "",
					     result->metrics[m].measure.name);
	if (*names)
		doc_add(doc, DOC_TEXT, arena_printf(doc->arena, "No value was measured of: %s.", names));
}

static void add_estimates(struct doc *doc, const struct report_result *result)
{
	const char **heads = ARENA_ARRAY(doc->arena, 7, const char *);
	const struct store_whole *whole = result->whole;
	bool compared = !result->study && whole->configuration_count > 1, booted = result->boot_count > 1;
	int columns = 0, first_number;

	heads[columns++] = "configuration";
	heads[columns++] = "metric";
	if (compared)
		heads[columns++] = "beside the first";
	first_number = columns;
	heads[columns++] = "runs";
	heads[columns++] = "estimate";
	heads[columns++] = "interval";
	if (booted)
		heads[columns++] = "boots";
	struct rows rows = {.arena = doc->arena, .columns = columns};
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);
	bool arithmetic = false, few_boots = false;

	for (size_t m = 0; m < whole->metric_count; m++)
		for (size_t i = 0; i < whole->configuration_count && measured(result, m); i++) {
			/* Of idle windows, whose parts are no runs, there is a table of its own. */
			if (!result_has_runs(result, result->workloads[i], m) ||
			    (result_is_idle(result, i) && result->answer.idle_count))
				continue;
			const struct report_metric *metric = &result->metrics[m];
			const struct report_estimate *found = &metric->estimates[i];
			const char **row = row_new(&rows);

			*row++ = whole->configurations[i].name;
			*row++ = metric->measure.name;
			if (compared)
				*row++ = i ? metric->differences[i].brief : "";
			*row++ = arena_printf(doc->arena, "%d", found->runs);
			*row++ = arena_printf(doc->arena, "%s%s", estimate_text(result, metric, i, false),
					      found->arithmetic ? ", arithmetic" : "");
			*row++ = estimate_text(result, metric, i, true);
			if (booted)
				*row++ = arena_printf(doc->arena, "%d", found->boots);
			arithmetic = arithmetic || found->arithmetic;
			few_boots = few_boots || (found->runs && found->boots < RESULT_LEAST);
		}
	*table = (struct doc_table){"Estimates: geometric means, with 95 % intervals on logarithms",
				    heads,
				    rows.cells,
				    columns,
				    rows.count,
				    first_number};
	doc_add(doc, DOC_HEADING, "Figures");
	add_table(doc, table);
	if (arithmetic)
		doc_add(doc, DOC_NOTE,
			"Arithmetic: a value is 0 or below it and has no logarithm, so this is the mean of the values "
			"as they are, with Student's interval.");
	if (result->boot_count > 1)
		doc_add(doc, DOC_NOTE,
			few_boots
			    ? "The runs are of several boots, and boots differ by themselves. From three boots on an "
			      "interval rests on the means of boots; of fewer it holds for those boots only."
			    : "The runs are of several boots: the intervals rest on the means of boots.");
	add_unmeasured(doc, result);
}

static void add_changes(struct doc *doc, const struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	const char *const *knobs = report_settings(doc->arena, whole);

	doc_add(doc, DOC_HEADING, "What was changed, and how to undo it");
	if (!knobs[0]) {
		doc_add(doc, DOC_TEXT, "Nothing of the machine was changed for this.");
		return;
	}
	for (size_t i = 0; i < whole->configuration_count; i++) {
		const char *line = "";

		/* Settings of a study's configuration are told once, not for each of its workloads and idle windows. */
		if (result->workloads[i])
			continue;

		for (size_t k = 0; knobs[k]; k++) {
			const char *value = report_setting(doc->arena, &whole->configurations[i], knobs[k]);

			if (value)
				line = arena_printf(doc->arena, "%s%s%s=%s", line, *line ? ", " : "", knobs[k], value);
		}
		doc_add(
		    doc, DOC_TEXT,
		    arena_printf(doc->arena, "For %s: %s.", result_setting_label(result, i), *line ? line : "nothing"));
	}
	doc_add(doc, DOC_TEXT,
		"Each change stands in hvtune's journal and is put back when the measurement ends. What is still in "
		"force, "
		"and putting it back by hand:");
	doc_add(doc, DOC_CODE, "hvtune status\nhvtune undo ID\n");
}

static void add_notes(struct doc *doc, const struct report_result *result)
{
	static const char *const heads[] = {"when", "kind", "what"};
	const struct store_whole *whole = result->whole;
	const char **cells = ARENA_ARRAY(doc->arena, whole->note_count * 3 + 1, const char *);
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);

	for (size_t i = 0; i < whole->note_count; i++) {
		const struct store_note *note = &whole->notes[i];

		cells[i * 3] = note->run < 0 ? when(doc->arena, note->at_us)
					     : arena_printf(doc->arena, "run %lld", (long long)note->run + 1);
		cells[i * 3 + 1] = note->kind;
		cells[i * 3 + 2] = note->text;
	}
	*table = (struct doc_table){"Notes", heads, cells, 3, (int)whole->note_count, 3};
	if (whole->note_count)
		doc_add(doc, DOC_HEADING, "What happened meanwhile");
	add_table(doc, table);
}

/* Runs that are in no figure, by configuration and reason. */
static void add_left_out(struct doc *doc, const struct report_result *result)
{
	static const char *const heads[] = {"configuration", "why", "runs"};
	const struct store_whole *whole = result->whole;
	struct rows rows = {.arena = doc->arena, .columns = ARRAY_SIZE(heads)};
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);
	int *counts = ARENA_ARRAY(doc->arena, whole->run_count + 1, int);

	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		const char *name = result_configuration_name(result, run->configuration), *why = run->purpose;
		size_t at = 0, count = (size_t)rows.count;

		if (result_counts(run))
			continue;
		if (!text_equal(run->state, "valid"))
			why = arena_printf(doc->arena, "%s%s%s", run->state, run->why ? ": " : "",
					   run->why ? run->why : "");
		while (at < count && !(text_equal(rows.cells[at * 3], name) && text_equal(rows.cells[at * 3 + 1], why)))
			at++;
		if (at == count) {
			const char **row = row_new(&rows);

			row[0] = name;
			row[1] = why;
		}
		rows.cells[at * 3 + 2] = arena_printf(doc->arena, "%d", ++counts[at]);
	}
	*table = (struct doc_table){
	    "Runs that are kept, but are in no figure", heads, rows.cells, ARRAY_SIZE(heads), rows.count, 2};
	if (rows.count)
		doc_add(doc, DOC_HEADING, "What was left out");
	add_table(doc, table);
}

static const char *took(struct arena *arena, const struct store_run *run)
{
	return run->took_ns < 0 ? "not known" : scale_plain(arena, (double)run->took_ns / 1e9, NAN, "s");
}

static void add_runs(struct doc *doc, const struct report_result *result)
{
	static const char *const first[] = {"run", "configuration", "boot", "block", "purpose", "state", "took"};
	const struct store_whole *whole = result->whole;
	size_t columns = ARRAY_SIZE(first), *shown = ARENA_ARRAY(doc->arena, whole->metric_count + 1, size_t);

	for (size_t m = 0; m < whole->metric_count; m++)
		if (measured(result, m))
			shown[columns++ - ARRAY_SIZE(first)] = m;
	const char **heads = ARENA_ARRAY(doc->arena, columns, const char *);
	const char **cells = ARENA_ARRAY(doc->arena, columns * (whole->run_count + 1), const char *);
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);

	memcpy(heads, first, sizeof(first));
	for (size_t m = ARRAY_SIZE(first); m < columns; m++)
		heads[m] = result->metrics[shown[m - ARRAY_SIZE(first)]].measure.name;
	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		const char **row = &cells[i * columns];

		row[0] = arena_printf(doc->arena, "%lld", (long long)run->id + 1);
		row[1] = result_configuration_name(result, run->configuration);
		row[2] = result->boots[i] < 0 ? "" : arena_printf(doc->arena, "%d", result->boots[i] + 1);
		row[3] = run->block < 0 ? "" : arena_printf(doc->arena, "%lld", (long long)run->block + 1);
		row[4] = run->purpose;
		row[5] = run->why ? arena_printf(doc->arena, "%s: %s", run->state, run->why) : run->state;
		row[6] = took(doc->arena, run);
		for (size_t m = ARRAY_SIZE(first); m < columns; m++) {
			const struct report_metric *metric = &result->metrics[shown[m - ARRAY_SIZE(first)]];
			double value = result_value(whole, run, shown[m - ARRAY_SIZE(first)]);

			row[m] = isfinite(value)
				     ? scale_plain(doc->arena, value, fabs(value) / 1000, metric->measure.unit)
				     : "";
		}
	}
	*table = (struct doc_table){
	    "Every run, in the order in which they were made", heads, cells, (int)columns, (int)whole->run_count, 6};
	doc_add(doc, DOC_HEADING, "Every run");
	add_table(doc, table);
}

static void add_study_file(struct doc *doc, const struct report_result *result)
{
	json_t *method = result_json(result->whole->session.method);
	const char *file = json_string_value(json_object_get(method, "file"));

	if (file)
		doc_add(doc, DOC_TEXT, "The study file:");
	doc_add(doc, DOC_CODE, file ? arena_strdup(doc->arena, file) : NULL);
	json_decref(method);
}

static void add_repeat(struct doc *doc, const struct report_result *result)
{
	const struct store_session *session = &result->whole->session;

	doc_add(doc, DOC_HEADING, "To repeat it");
	if (session->cwd)
		doc_add(doc, DOC_CODE,
			arena_printf(doc->arena, "cd %s\n%s\n", report_word(doc->arena, session->cwd),
				     report_command(doc->arena, session->command)));
	else
		doc_add(doc, DOC_CODE, arena_printf(doc->arena, "%s\n", report_command(doc->arena, session->command)));
	add_json(doc, session->environment, "Variables that were set", NULL);
}

const struct doc *report_result_doc(struct report_result *result)
{
	const struct store_session *session = &result->whole->session;
	struct doc *doc = doc_new(result->arena, title(result));

	for (size_t i = 0; result->verdict[i]; i++)
		doc_add(doc, i ? DOC_TEXT : DOC_VERDICT, result->verdict[i]);
	doc_add(doc, DOC_NOTE,
		arena_printf(doc->arena, "Session %lld, begun %s%s%s; %s%s%s. hvtune %s.", (long long)session->id,
			     when(doc->arena, session->began_us), session->ended_us ? ", ended " : "",
			     session->ended_us ? when(doc->arena, session->ended_us) : "", session->state,
			     session->why ? ": " : "", session->why ? session->why : "",
			     session->version ? session->version : "of a version that is not known"));
	result_doc_picks(doc, result);
	if (result->answer.pick_count)
		doc_add(doc, DOC_HEADING, "In pictures");
	for (int i = 0; i < result->chart_count; i++)
		doc_add_chart(doc, &result->charts[i]);
	add_estimates(doc, result);
	result_doc_changes(doc, result);
	result_doc_means(doc, result);
	result_doc_attribution(doc, result);
	result_doc_idle(doc, result);
	add_configurations(doc, result);
	add_changes(doc, result);
	add_left_out(doc, result);
	add_notes(doc, result);
	doc_add(doc, DOC_HEADING, "The host");
	if (!report_result_host(doc, session)) {
		doc_add(doc, DOC_TEXT, session->host);
		add_json(doc, session->facts, "Facts about the host", NULL);
	}
	doc_add(doc, DOC_HEADING, "How it was measured");
	add_json(doc, session->method, "Method", "file");
	add_study_file(doc, result);
	/* That of a study stands in tables of its own. */
	if (!result->study)
		add_json(doc, session->verdict, "What came of it", NULL);
	add_repeat(doc, result);
	add_runs(doc, result);
	return doc;
}
