/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the forms declared in report_meter.h. */
#include "report_meter.h"

#include <math.h>

#include "report.h"
#include "text.h"

enum { INDENT = 2 };

/* Of a counter its power is shown, as that is what people know. */
static enum meter_quantity shown_quantity(enum meter_quantity quantity)
{
	return quantity == METER_ENERGY ? METER_POWER : quantity;
}

const char *report_meter_amount(const struct term *term, struct arena *arena, enum meter_quantity quantity,
				double amount)
{
	const char *unit = meter_quantity_unit(quantity);

	if (quantity == METER_TEMPERATURE && !term->utf8)
		unit = "C";
	return arena_printf(arena, "%.*f %s", fabs(amount) < 10 ? 2 : 1, amount, unit);
}

/* "15 uJ", "0.1 W", "1 ms", "2 s": with an SI prefix below 1. */
static const char *step_text(struct arena *arena, double step, const char *unit)
{
	static const struct {
		double factor;
		const char *prefix;
	} prefixes[] = {{1, ""}, {1e3, "m"}, {1e6, "u"}};
	size_t i = 0;

	while (i < ARRAY_SIZE(prefixes) - 1 && step * prefixes[i].factor < 0.1)
		i++;
	return arena_printf(arena, "%.3g %s%s", step * prefixes[i].factor, prefixes[i].prefix, unit);
}

static const char *of_text(struct arena *arena, const struct meter_source *source)
{
	const char *boundary = meter_boundary_name(source->boundary);

	return source->package >= 0 ? arena_printf(arena, "%s %d", boundary, source->package) : boundary;
}

static const char *kind_text(const struct term *term, struct arena *arena, const struct meter_source *source)
{
	const char *unit = meter_quantity_unit(source->quantity);
	const char *text = source->quantity == METER_ENERGY ? "counter" : meter_quantity_name(source->quantity);

	if (source->quantity == METER_TEMPERATURE && !term->utf8)
		unit = "C";
	if (source->resolution > 0)
		text = arena_printf(arena, "%s, in steps of %s", text, step_text(arena, source->resolution, unit));
	if (source->refresh_s > 0)
		text = arena_printf(arena, "%s, new every %s", text, step_text(arena, source->refresh_s, "s"));
	return text;
}

/* What is known of a source: its amount, or the state with the reason. */
static const char *now_text(const struct term *term, struct arena *arena, const struct meter_source *source,
			    const struct meter_result *result)
{
	const char *why = source->state == METER_VALUE ? result->why : source->why;
	enum meter_state state = source->state == METER_VALUE ? result->state : source->state;

	if (state == METER_VALUE && source->quantity == METER_LIMIT)
		return meter_limit_text(arena, result->limits);
	if (state == METER_VALUE && !isnan(result->mean))
		return report_meter_amount(term, arena, shown_quantity(source->quantity), result->mean);
	if (state == METER_VALUE)
		return "readable";
	return arena_printf(arena, "%s%s%s", meter_state_name(state), why ? ": " : "", why ? why : "");
}

struct widths {
	int name, of, now;
};

static struct widths measure(const struct term *term, struct arena *arena, const struct report_meters *meters)
{
	struct widths widths = {0};
	const struct meter_source *source;

	for (size_t i = 0; (source = meter_source_at(meters->set, i)); i++) {
		widths.name = MAX_OF(widths.name, term_columns(source->name));
		widths.of = MAX_OF(widths.of, term_columns(of_text(arena, source)));
		if (source->state == METER_VALUE)
			widths.now =
			    MAX_OF(widths.now, term_columns(now_text(term, arena, source, &meters->results[i])));
	}
	return widths;
}

static void put_padded(const struct term *term, const char *text, int width)
{
	(void)fputs(text, term->out);
	(void)fprintf(term->out, "%*s", MAX_OF(width - term_columns(text), 0) + 2, "");
}

static void print_source(const struct term *term, struct arena *arena, const struct widths *widths,
			 const struct meter_source *source, const struct meter_result *result, bool with_remark)
{
	const char *now = now_text(term, arena, source, result);
	bool works = source->state == METER_VALUE;
	int column = INDENT + widths->name + 2 + widths->of + 2;

	(void)fprintf(term->out, "%s ", source->chosen ? "*" : " ");
	put_padded(term, text_visible(arena, source->name), widths->name);
	put_padded(term, of_text(arena, source), widths->of);
	if (!works) {
		term_flow(term, column, true, now);
		term_flow(term, column, false, source->place);
		if (source->hint)
			term_flow(term, column, false, source->hint);
		return;
	}
	put_padded(term, now, widths->now);
	term_flow(term, column + widths->now + 2, true, kind_text(term, arena, source));
	if (result->state == METER_VALUE && result->why && with_remark)
		term_flow(term, column, false, result->why);
}

/* "C1 3.1 %, C2 84.6 %" */
static const char *idle_text(struct arena *arena, const struct report_meters *meters)
{
	const char *text = "", *state;

	for (size_t i = 0; (state = meter_cpus_state(meters->cpus, i)); i++)
		text = arena_printf(arena, "%s%s%s %.1f %%", text, i ? ", " : "", text_visible(arena, state),
				    100 * meters->activity.idle_share[i]);
	return text;
}

static const char *clock_text(struct arena *arena, const struct report_meters *meters)
{
	const struct meter_cpu_activity *activity = &meters->activity;
	const char *share = arena_printf(arena, "%.1f %% of the time in C0", 100 * activity->c0_share);

	return isnan(activity->busy_mhz) ? share
					 : arena_printf(arena, "%.0f MHz while busy, %s", activity->busy_mhz, share);
}

static void print_way(const struct term *term, struct arena *arena, const char *label, const struct meter_cpus_way *way,
		      const char *known)
{
	put_padded(term, label, 0);
	if (way->state == METER_VALUE)
		term_flow(term, (int)strlen(label) + 2, true, known ? known : "readable");
	else
		term_flow(term, (int)strlen(label) + 2, true,
			  arena_printf(arena, "%s: %s; %s", meter_state_name(way->state), way->why, way->hint));
}

static void print_cpus(const struct term *term, struct arena *arena, const struct report_meters *meters)
{
	const struct meter_cpus_way clocks = meter_cpus_clocks(meters->cpus), idle = meter_cpus_idle(meters->cpus);

	if (meter_source_count(meters->set))
		(void)fputc('\n', term->out);
	print_way(term, arena, "  Clocks", &clocks,
		  isnan(meters->activity.c0_share) ? NULL : clock_text(arena, meters));
	print_way(term, arena, "  Idle  ", &idle,
		  isnan(meters->activity.idle_share[0]) ? NULL : idle_text(arena, meters));
}

static bool any_power(const struct meter_set *set)
{
	const struct meter_source *source;

	for (size_t i = 0; (source = meter_source_at(set, i)); i++)
		if (source->chosen)
			return true;
	return false;
}

static const char *last_words(struct arena *arena, const struct report_meters *meters)
{
	if (!any_power(meters->set))
		return "Energy and power cannot be measured here, which is not 0 W; everything else works.";
	return arena_printf(arena, "* is what hvtune takes for its boundary; the others are beside it.%s%s%s",
			    meters->window_s > 0 ? arena_printf(arena, " Means over %.1f s", meters->window_s) : "",
			    meters->window_s > 0
				? arena_printf(arena, "; reading took %.2f %% of one core", 100 * meters->cost.share)
				: "",
			    meters->window_s > 0 ? "." : "");
}

void report_meters(const struct term *term, const struct report_meters *meters)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct widths widths = measure(term, arena, meters);
	const struct meter_source *source;
	const struct meter_missing *missing;
	int width = 0;

	for (size_t i = 0; (source = meter_source_at(meters->set, i)); i++)
		/* Of a short look nobody expects many readings. */
		print_source(term, arena, &widths, source, &meters->results[i], meters->window_s >= 10);
	for (size_t i = 0; (missing = meter_missing_at(meters->set, i)); i++)
		width = MAX_OF(width, term_columns(missing->driver));
	if (meters->contradiction)
		term_flow(term, INDENT, false, arena_printf(arena, "Implausible: %s.", meters->contradiction));
	if (meters->cpus)
		print_cpus(term, arena, meters);
	if (width)
		(void)fprintf(term->out, "%sNot here:\n", meters->cpus || meter_source_count(meters->set) ? "\n" : "");
	for (size_t i = 0; (missing = meter_missing_at(meters->set, i)); i++) {
		(void)fprintf(term->out, "%*s", INDENT, "");
		put_padded(term, missing->driver, width);
		term_flow(term, INDENT + width + 2, true,
			  arena_printf(arena, "%s%s%s", missing->why, missing->hint ? "; " : "",
				       missing->hint ? missing->hint : ""));
	}
	(void)fputc('\n', term->out);
	term_flow(term, 0, true, last_words(arena, meters));
}

/* ---- JSON ---- */

static json_t *known(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

/* null for what is not known and would else be 0. */
static json_t *above_zero(double number)
{
	return number > 0 ? json_real(number) : json_null();
}

json_t *report_meter_result_json(const struct meter_result *result)
{
	bool works = result->state == METER_VALUE;
	json_t *json =
	    json_pack("{s:s, s:o}", "state", meter_state_name(result->state), "why", report_json_text(result->why));

	json_object_set_new(json, "energy_j", known(result->energy_j));
	json_object_set_new(json, "mean", known(result->mean));
	json_object_set_new(json, "peak", known(result->peak));
	json_object_set_new(json, "least", known(result->least));
	json_object_set_new(json, "error_share", works ? known(result->error_share) : json_null());
	json_object_set_new(json, "window_s", known(result->window_s));
	json_object_set_new(json, "covered_s", known(result->covered_s));
	json_object_set_new(json, "refresh_s", above_zero(result->refresh_s));
	json_object_set_new(json, "samples", json_integer((json_int_t)result->samples));
	json_object_set_new(json, "bad", json_integer((json_int_t)result->bad));
	json_object_set_new(json, "distinct", json_integer((json_int_t)result->distinct));
	json_object_set_new(json, "limits", json_integer(result->limits));
	json_object_set_new(json, "wraps", json_integer(result->wraps));
	json_object_set_new(json, "resets", json_integer(result->resets));
	json_object_set_new(json, "gaps", json_integer(result->gaps));
	json_object_set_new(json, "stands", json_integer(result->stands));
	json_object_set_new(json, "glitches", json_integer(result->glitches));
	return json;
}

static json_t *source_json(const struct meter_source *source, const struct meter_result *result)
{
	json_t *json = json_object();

	json_object_set_new(json, "name", report_json_text(source->name));
	json_object_set_new(json, "driver", report_json_text(source->driver));
	json_object_set_new(json, "place", report_json_text(source->place));
	json_object_set_new(json, "quantity", json_string(meter_quantity_name(source->quantity)));
	json_object_set_new(json, "unit", json_string(meter_quantity_unit(source->quantity)));
	json_object_set_new(json, "boundary", json_string(meter_boundary_name(source->boundary)));
	json_object_set_new(json, "package", source->package >= 0 ? json_integer(source->package) : json_null());
	json_object_set_new(json, "resolution", above_zero(source->resolution));
	json_object_set_new(json, "refresh_s", above_zero(source->refresh_s));
	json_object_set_new(json, "period_s", json_real(source->period_s));
	json_object_set_new(json, "most", json_real(source->most));
	json_object_set_new(json, "chosen", json_boolean(source->chosen));
	json_object_set_new(json, "state", json_string(meter_state_name(source->state)));
	json_object_set_new(json, "why", source->state == METER_VALUE ? json_null() : report_json_text(source->why));
	json_object_set_new(json, "hint", source->state == METER_VALUE ? json_null() : report_json_text(source->hint));
	json_object_set_new(json, "result",
			    source->state == METER_VALUE ? report_meter_result_json(result) : json_null());
	return json;
}

static json_t *way_json(const struct meter_cpus_way *way)
{
	bool works = way->state == METER_VALUE;

	return json_pack("{s:s, s:o, s:o, s:o}", "state", meter_state_name(way->state), "place",
			 report_json_text(way->place), "why", works ? json_null() : report_json_text(way->why), "hint",
			 works ? json_null() : report_json_text(way->hint));
}

static json_t *cpus_json(const struct report_meters *meters)
{
	const struct meter_cpus_way clocks = meter_cpus_clocks(meters->cpus), idle = meter_cpus_idle(meters->cpus);
	json_t *json = json_object(), *shares = json_object();
	const char *state;

	for (size_t i = 0; (state = meter_cpus_state(meters->cpus, i)); i++)
		json_object_set_new(shares, state, known(meters->activity.idle_share[i]));
	json_object_set_new(json, "count", json_integer((json_int_t)meter_cpus_count(meters->cpus)));
	json_object_set_new(json, "busy_mhz", known(meters->activity.busy_mhz));
	json_object_set_new(json, "c0_share", known(meters->activity.c0_share));
	json_object_set_new(json, "idle_shares", shares);
	json_object_set_new(json, "clocks", way_json(&clocks));
	json_object_set_new(json, "idle", way_json(&idle));
	return json;
}

void report_meters_json(json_t *json, const struct report_meters *meters)
{
	json_t *sources = json_array(), *missing_list = json_array();
	const struct meter_source *source;
	const struct meter_missing *missing;

	for (size_t i = 0; (source = meter_source_at(meters->set, i)); i++)
		json_array_append_new(sources, source_json(source, &meters->results[i]));
	for (size_t i = 0; (missing = meter_missing_at(meters->set, i)); i++)
		json_array_append_new(missing_list, json_pack("{s:s, s:s, s:o}", "driver", missing->driver, "why",
							      missing->why, "hint", report_json_text(missing->hint)));
	json_object_set_new(json, "window_s", above_zero(meters->window_s));
	json_object_set_new(json, "sources", sources);
	json_object_set_new(json, "cpus", meters->cpus ? cpus_json(meters) : json_null());
	json_object_set_new(json, "contradiction", report_json_text(meters->contradiction));
	json_object_set_new(json, "missing", missing_list);
	json_object_set_new(json, "cost",
			    meters->window_s > 0
				? json_pack("{s:f, s:f, s:I}", "cpu_s", meters->cost.cpu_s, "core_share",
					    meters->cost.share, "reads", (json_int_t)meters->cost.reads)
				: json_null());
}
