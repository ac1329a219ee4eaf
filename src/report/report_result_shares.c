/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns how the shares of settings are shown: a waterfall that ends at what was measured, never at the product, with the
 * range over orders; a table; and a chain of single steps, which is one order of many and says so.
 */
#include <math.h>

#include "report_result_internal.h"
#include "report_scale.h"
#include "text.h"

const char *result_ratio_words(struct arena *arena, double ratio, double half)
{
	return scale_change(arena, &(struct scale){.unit_size = 1, .unit = "%"}, 100 * (ratio - 1), 100 * half, true);
}

static const char *lever_name(struct arena *arena, const struct report_lever *lever)
{
	return arena_printf(arena, "%s: %s \u2192 %s", lever->knobs, lever->from, lever->to);
}

static struct chart_step step_of(const char *label, double before, const struct stat_interval *ratio)
{
	bool bounded = stat_bounded(*ratio);

	return (struct chart_step){.label = label,
				   .value = before * ratio->estimate,
				   .change_low = bounded ? before * (ratio->low - 1) : NAN,
				   .change_high = bounded ? before * (ratio->high - 1) : NAN};
}

static const char *title(struct arena *arena, const struct report_attribution *shares, const char *what)
{
	return arena_printf(arena, "%s: %s%s%s", shares->measure.name, what, shares->workload ? ", " : "",
			    shares->workload ? shares->workload : "");
}

static void chart_chain(struct report_result *result, const struct report_attribution *shares)
{
	struct arena *arena = result->arena;
	struct chart_step *steps = ARENA_ARRAY(arena, (size_t)shares->chain_count + 1, struct chart_step);
	int count = 0;

	if (shares->chain_count < 2)
		return;
	steps[count++] = (struct chart_step){.label = shares->from, .value = shares->start, .change_low = NAN};
	for (int i = 0; i < shares->chain_count; i++) {
		const struct report_step *step = &shares->chain[i];

		steps[count++] = (struct chart_step){
		    .label = step->label,
		    .value = step->value,
		    .change_low = NAN,
		    .change_high = NAN,
		    .note = isfinite(step->alone)
				? arena_printf(arena, "alone %s", result_ratio_words(arena, step->alone, .001))
				: "alone: not known"};
	}
	result_chart(result, CHART_WATERFALL, title(arena, shares, "single steps, in this order"),
		     "What a step brings depends on those before it; what it brings alone stands beside it.")
	    ->waterfall = (struct chart_waterfall){shares->measure, steps, count};
}

void result_chart_attribution(struct report_result *result, const struct report_attribution *shares)
{
	struct arena *arena = result->arena;
	struct chart_step *steps = ARENA_ARRAY(arena, (size_t)shares->count + 3, struct chart_step);
	struct chart_step *last;
	double now = shares->start;
	int count = 0;

	steps[count++] = (struct chart_step){.label = shares->from, .value = now, .change_low = NAN};
	for (int k = 0; k < shares->count; k++) {
		const struct report_lever *lever = &shares->levers[k];
		struct chart_step *step = &steps[count++];

		*step = step_of(lever_name(arena, lever), now, &lever->share);
		step->note = lever->equivalent ? "nothing worth a name" : NULL;
		if (isfinite(lever->least) && isfinite(lever->most)) {
			step->order_low = now * (lever->least - 1);
			step->order_high = now * (lever->most - 1);
		}
		now = step->value;
	}
	if (isfinite(shares->residual.estimate))
		steps[count++] = step_of("interactions left", now, &shares->residual);
	last = &steps[count++];
	*last = step_of(shares->to, shares->end / shares->total.estimate, &shares->total);
	/* The interval of the end is about the end. */
	last->change_low += shares->end / shares->total.estimate - shares->end;
	last->change_high += shares->end / shares->total.estimate - shares->end;
	last->value = shares->end;
	last->note = "as measured";
	last->measured = true;
	result_chart(result, CHART_WATERFALL, title(arena, shares, "what each setting contributes"),
		     arena_printf(arena,
				  "%s With 95 %% intervals; the thin line is the range over orders. They multiply.",
				  shares->how))
	    ->waterfall = (struct chart_waterfall){shares->measure, steps, count};
	chart_chain(result, shares);
}

static const char *range(struct arena *arena, double low, double high, double half)
{
	return isfinite(low) && isfinite(high) ? arena_printf(arena, "%s to %s", result_ratio_words(arena, low, half),
							      result_ratio_words(arena, high, half))
					       : "not known";
}

static double half_of(const struct stat_interval *ratio)
{
	return stat_bounded(*ratio) ? (ratio->high - ratio->low) / 2 : .001;
}

static void put_row(struct arena *arena, const char **row, const char *name, const struct stat_interval *ratio)
{
	double half = half_of(ratio);

	row[0] = name;
	row[1] = result_ratio_words(arena, ratio->estimate, half);
	row[2] = range(arena, ratio->low, ratio->high, half);
}

static void add_table(struct doc *doc, const struct report_attribution *shares)
{
	static const char *const heads[] = {"setting", "share", "95 % interval", "alone", "range over orders"};
	struct arena *arena = doc->arena;
	struct doc_table *table = ARENA_NEW(arena, struct doc_table);
	const char **cells = ARENA_ARRAY(arena, ((size_t)shares->count + 2) * ARRAY_SIZE(heads), const char *);
	size_t rows = 0, columns = ARRAY_SIZE(heads);

	for (int k = 0; k < shares->count; k++) {
		const struct report_lever *lever = &shares->levers[k];
		const char **row = &cells[rows++ * columns];
		double half = half_of(&lever->share);

		put_row(arena, row, lever_name(arena, lever), &lever->share);
		row[3] = isfinite(lever->alone) ? result_ratio_words(arena, lever->alone, half) : "not known";
		row[4] = range(arena, lever->least, lever->most, half);
	}
	if (isfinite(shares->residual.estimate))
		put_row(arena, &cells[rows++ * columns], "not attributable (three-way and higher)", &shares->residual);
	put_row(arena, &cells[rows++ * columns], "all together, as measured", &shares->total);
	*table = (struct doc_table){
	    arena_printf(arena, "%s, from %s to %s", title(arena, shares, "ratios"), shares->from, shares->to),
	    heads,
	    cells,
	    (int)columns,
	    (int)rows,
	    1};
	doc_add_table(doc, table);
	if (!shares->attributable)
		doc_add(doc, DOC_TEXT,
			"Three or more of these settings act on each other: what is not attributable is clear of none. "
			"A full design of them tells more.");
}

void result_doc_attribution(struct doc *doc, const struct report_result *result)
{
	if (result->attribution_count)
		doc_add(doc, DOC_HEADING, "What each setting contributes");
	for (int i = 0; i < result->attribution_count; i++)
		add_table(doc, &result->attributions[i]);
}
