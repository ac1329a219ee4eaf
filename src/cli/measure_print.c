/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how the figures of measuring commands are printed. */
#include <inttypes.h>
#include <math.h>

#include "measure.h"
#include "report.h"
#include "stat.h"
#include "text.h"

/* ---- figures ---- */

/* Units that take a prefix. */
static const char *const scalable[] = {"s", "J", "W", "bit/s", "B/s", "1/s", "Hz"};

struct scale {
	double factor;
	const char *prefix;
};

static struct scale scale_of(const char *unit, double value)
{
	static const struct scale scales[] = {{1e12, "T"}, {1e9, "G"},	{1e6, "M"},  {1e3, "k"},
					      {1, ""},	   {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}};
	bool takes = false;

	for (size_t i = 0; i < ARRAY_SIZE(scalable); i++)
		takes = takes || text_equal(unit, scalable[i]);
	/* A kilosecond is no unit that people know, and 1/s has no small ones. */
	for (size_t i = 0; takes && value > 0 && isfinite(value) && i < ARRAY_SIZE(scales); i++)
		if (value >= scales[i].factor * 0.99999 && !(text_equal(unit, "s") && scales[i].factor > 1) &&
		    !(text_equal(unit, "1/s")))
			return scales[i];
	return (struct scale){1, ""};
}

/* Four digits, never as a power of ten below a million. */
static const char *digits(struct arena *arena, double value)
{
	double size = fabs(value);

	if (!isfinite(value))
		return isnan(value) ? "-" : value > 0 ? "inf" : "-inf";
	return size >= 1000  ? arena_printf(arena, "%.0f", value)
	       : size >= 100 ? arena_printf(arena, "%.1f", value)
	       : size >= 10  ? arena_printf(arena, "%.2f", value)
	       : size >= 1   ? arena_printf(arena, "%.3f", value)
			     : arena_printf(arena, "%.4g", value);
}

static const char *behind(struct arena *arena, const char *prefix, const char *unit)
{
	return *prefix || (unit && *unit) ? arena_printf(arena, " %s%s", prefix, unit ? unit : "") : "";
}

const char *measure_value(struct arena *arena, const char *unit, double value)
{
	struct scale scale = scale_of(unit, value);

	return arena_printf(arena, "%s%s", digits(arena, value / scale.factor), behind(arena, scale.prefix, unit));
}

const char *measure_interval(struct arena *arena, const char *unit, struct stat_interval interval)
{
	struct scale scale = scale_of(unit, interval.estimate);

	if (!stat_bounded(interval))
		return measure_value(arena, unit, interval.estimate);
	return arena_printf(arena, "%s%s (%s .. %s)", digits(arena, interval.estimate / scale.factor),
			    behind(arena, scale.prefix, unit), digits(arena, interval.low / scale.factor),
			    digits(arena, interval.high / scale.factor));
}

const char *measure_percent(struct arena *arena, double share)
{
	double percent = 100 * share, size = fabs(percent);

	if (!isfinite(share))
		return "not known";
	return arena_printf(arena, size >= 10 ? "%+.1f %%" : size >= .1 ? "%+.2f %%" : "%+.3f %%", percent);
}

json_t *measure_number_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *measure_interval_json(struct stat_interval interval)
{
	return json_pack("{s:o, s:o, s:o}", "estimate", measure_number_json(interval.estimate), "low",
			 measure_number_json(interval.low), "high", measure_number_json(interval.high));
}

json_t *measure_lack_json(const struct bench_lack *lack)
{
	return lack->without ? json_pack("{s:i, s:i, s:o}", "runs", (int)lack->without, "of", (int)lack->of, "why",
					 report_json_text(lack->why))
			     : json_null();
}

/* ---- metrics beside the one that was asked for ---- */

json_t *measure_metrics_json(const struct bench *bench, int configuration)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	json_t *list = json_array();

	for (size_t i = 0; i < bench->values.count; i++) {
		const struct bench_metric *metric = &bench->values.metrics[i];
		double *values;
		size_t count = bench_series(bench, arena, configuration, metric->name, "measure", &values);

		if (count)
			json_array_append_new(list, json_pack("{s:o, s:o, s:s, s:f, s:i}", "name",
							      report_json_text(metric->name), "unit",
							      report_json_text(metric->unit ? metric->unit : ""),
							      "better", bench_better_name(metric->better), "mean",
							      stat_mean(values, (int)count), "runs", (int)count));
	}
	return list;
}

void measure_print_metrics(const struct term *term, const struct bench *bench, int configuration, const char *but)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *line = "";

	for (size_t i = 0; i < bench->values.count; i++) {
		const struct bench_metric *metric = &bench->values.metrics[i];
		double *values;
		size_t count = bench_series(bench, arena, configuration, metric->name, "measure", &values);

		if (count && !text_equal(metric->name, but) && !text_equal(metric->name, BENCH_FOREIGN))
			line = arena_printf(arena, "%s%s%s %s", line, *line ? ", " : "", metric->name,
					    measure_value(arena, metric->unit, stat_mean(values, (int)count)));
	}
	if (*line)
		term_flow(term, 2, false, arena_printf(arena, "%s (means)", line));
	if (bench->small_kib)
		term_flow(term, 2, false,
			  arena_printf(arena, "peak memory of runs under %s cannot be told",
				       measure_value(arena, "MiB", (double)bench->small_kib / 1024)));
	if (bench->energy)
		term_flow(term, 2, false,
			  arena_printf(arena, "energy: %s; `hvtune meters` says what would help", bench->energy));
}

/* ---- remarks ---- */

/* A share of the CPUs from which on a measurement has to be taken with care. */
#define BUSY .05

void measure_print_disturbed(const struct term *term, const char *who, const char *left, double foreign)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	if (left)
		term_flow(term, 2, false,
			  arena_printf(arena,
				       "%s leaves processes running (%s): they are in the way of the runs that follow, "
				       "and what they do is not in the figures",
				       who, left));
	if (foreign > BUSY)
		term_flow(
		    term, 2, false,
		    arena_printf(arena,
				 "other processes used up to %.0f %% of the CPUs meanwhile; --max-load makes such "
				 "runs void",
				 fmin(100 * foreign, 100)));
}

void measure_print_remarks(const struct term *term, const struct bench *bench)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *why = NULL;

	for (size_t i = 0; i < bench->run_count; i++)
		why = bench->runs[i].why ? bench->runs[i].why : why;
	if (bench->void_count)
		term_flow(term, 2, false,
			  arena_printf(arena, "%zu run%s void and left out%s: %s", bench->void_count,
				       bench->void_count == 1 ? " is" : "s are",
				       bench->void_count == 1 ? "" : ", the last", why));
	struct bench_lack lack;

	bench_lack(bench, &lack);
	if (lack.without)
		term_flow(term, 2, false, arena_printf(arena, "energy: %s", bench_lack_text(arena, &lack)));
	measure_print_disturbed(term, "the command", bench->left, bench->foreign);
	term_flow(term, 2, false, bench_cost(bench, arena));
}

void measure_print_kept(const struct term *term, int64_t session)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	if (session)
		term_flow(
		    term, 0, true,
		    arena_printf(arena, "Kept as session %" PRId64 ": hvtune results show %" PRId64, session, session));
}
