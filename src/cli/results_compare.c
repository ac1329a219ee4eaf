/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns two sessions beside each other. */
#include "results_compare.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "measure.h"
#include "report.h"
#include "stat_compare.h"
#include "text.h"

enum { LEAST_RUNS = 3 };

/* ---- which configurations stand beside each other ---- */

struct side {
	const struct store_configuration *a, *b;
};

struct sides {
	const struct store_whole *a, *b;
	struct side *pairs;
	size_t count;
	const char *alone; /* names that only one of them has; "" */
};

static const struct store_configuration *named(const struct store_whole *whole, const char *name)
{
	for (size_t i = 0; i < whole->configuration_count; i++)
		if (text_equal(whole->configurations[i].name, name))
			return &whole->configurations[i];
	return NULL;
}

static void find_sides(struct arena *arena, struct sides *sides)
{
	const struct store_whole *a = sides->a, *b = sides->b;

	sides->pairs = ARENA_ARRAY(arena, a->configuration_count + 1, struct side);
	sides->alone = "";
	/* The only one of each may be another command: that is what is asked for. */
	if (a->configuration_count == 1 && b->configuration_count == 1) {
		sides->pairs[sides->count++] = (struct side){a->configurations, b->configurations};
		return;
	}
	for (int side = 0; side < 2; side++) {
		const struct store_whole *one = side ? b : a, *other = side ? a : b;

		for (size_t i = 0; i < one->configuration_count; i++) {
			const struct store_configuration *found = named(other, one->configurations[i].name);

			if (!found)
				sides->alone = arena_printf(arena, "%s%s%s (only in the %s)", sides->alone,
							    *sides->alone ? ", " : "", one->configurations[i].name,
							    side ? "second" : "first");
			else if (side == 0)
				sides->pairs[sides->count++] = (struct side){&one->configurations[i], found};
		}
	}
}

/* ---- what else differs ---- */

struct difference {
	const char *what, *a, *b;
};

struct differences {
	struct arena *arena;
	struct difference *items;
	size_t count, room;
};

static void add(struct differences *differences, const char *what, const char *a, const char *b)
{
	if (text_equal(a, b) || (!a && !b))
		return;
	if (differences->count == differences->room) {
		size_t room = differences->room ? 2 * differences->room : 32;
		struct difference *larger = ARENA_ARRAY(differences->arena, room, struct difference);

		if (differences->count)
			memcpy(larger, differences->items, differences->count * sizeof(*larger));
		differences->items = larger;
		differences->room = room;
	}
	differences->items[differences->count++] = (struct difference){what, a ? a : "absent", b ? b : "absent"};
}

/* What is another value each time it is looked at. */
static bool is_reading(const char *name)
{
	return text_has_word(
		   "os.uptime memory.free memory.available memory.swap_free memory.committed memory.anon_huge "
		   "memory.ksm_pages_sharing memory.ksm_general_profit kvm.users topology.node",
		   " ", name) ||
	       text_starts(name, "topology.node ") || text_starts(name, "idle.state");
}

static const char *value_of(struct arena *arena, const json_t *value)
{
	const char *kept = NULL;
	char *text;

	if (!value)
		return NULL;
	if (json_is_string(value))
		return arena_strdup(arena, json_string_value(value));
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	if (text)
		kept = arena_strdup(arena, text);
	free(text);
	return kept;
}

/* Both are objects of texts (measure.c); what only the second has comes last. */
static void compare_facts(struct differences *differences, json_t *a, json_t *b)
{
	struct arena *arena = differences->arena;
	const char *key;
	json_t *value;

	json_object_foreach (a, key, value) {
		if (!is_reading(key))
			add(differences, arena_strdup(arena, key), value_of(arena, value),
			    value_of(arena, json_object_get(b, key)));
	}
	json_object_foreach (b, key, value) {
		if (!is_reading(key) && !json_object_get(a, key))
			add(differences, arena_strdup(arena, key), NULL, value_of(arena, value));
	}
}

static json_t *parsed(const char *text)
{
	json_t *json = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;

	return json ? json : json_null();
}

static const char *boot_of(const struct store_whole *whole)
{
	return whole->run_count ? whole->runs[0].boot : NULL;
}

static void find_differences(struct differences *differences, const struct sides *sides)
{
	const struct store_whole *a = sides->a, *b = sides->b;
	json_t *facts[] = {parsed(a->session.facts), parsed(b->session.facts)};

	add(differences, "host", a->session.host, b->session.host);
	add(differences, "hvtune", a->session.version, b->session.version);
	add(differences, "boot", boot_of(a), boot_of(b));
	add(differences, "directory", a->session.cwd, b->session.cwd);
	add(differences, "environment", a->session.environment, b->session.environment);
	for (size_t i = 0; i < sides->count; i++) {
		const struct store_configuration *of_a = sides->pairs[i].a, *of_b = sides->pairs[i].b;
		const char *of = sides->count > 1 ? arena_printf(differences->arena, " of %s", of_a->name) : "";

		add(differences, arena_printf(differences->arena, "command%s", of), of_a->command, of_b->command);
		add(differences, arena_printf(differences->arena, "settings%s", of), of_a->settings, of_b->settings);
	}
	compare_facts(differences, facts[0], facts[1]);
	json_decref(facts[0]);
	json_decref(facts[1]);
}

/* ---- what was measured ---- */

struct pair {
	const struct store_metric *metric;
	const struct side *side;
	struct stat_interval ratio; /* b to a */
	double a, b;		    /* geometric means */
	int runs_a, runs_b;
};

/* Logs of the valid runs that were measured; 0 with a value that has none. */
static int logs_of(struct arena *arena, const struct store_whole *whole, int64_t configuration, int64_t metric,
		   double **ret)
{
	double *logs = ARENA_ARRAY(arena, whole->run_count + 1, double);
	int count = 0;

	*ret = logs;
	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		double value = run->values[metric];

		if (run->configuration != configuration || !text_equal(run->state, "valid") || isnan(value) ||
		    text_has_word("warmup calibration", " ", run->purpose))
			continue;
		if (!(value > 0))
			return 0;
		logs[count++] = log(value);
	}
	return count;
}

static bool compare_metric(struct arena *arena, const struct sides *sides, const struct side *side,
			   const struct store_metric *metric, struct pair *ret)
{
	const struct store_metric *other = store_metric_named(sides->b, metric->name);
	struct stat_welch welch = {.difference = {NAN, NAN, NAN}};
	double *logs[2];
	int counts[2];

	if (!other || !text_equal(other->unit, metric->unit))
		return false;
	counts[0] = logs_of(arena, sides->a, side->a->id, metric->id, &logs[0]);
	counts[1] = logs_of(arena, sides->b, side->b->id, other->id, &logs[1]);
	if (!counts[0] || !counts[1])
		return false;
	*ret = (struct pair){.metric = metric,
			     .side = side,
			     .a = exp(stat_mean(logs[0], counts[0])),
			     .b = exp(stat_mean(logs[1], counts[1])),
			     .runs_a = counts[0],
			     .runs_b = counts[1]};
	ret->ratio = (struct stat_interval){ret->b / ret->a, NAN, NAN};
	/* Of fewer an interval tells nothing. */
	if (MIN_OF(counts[0], counts[1]) >= LEAST_RUNS &&
	    stat_welch(logs[1], counts[1], logs[0], counts[0], STAT_ALPHA, &welch, NULL) == 0)
		ret->ratio = stat_exp(welch.difference);
	return true;
}

static const char *caution(const struct store_whole *a, const struct store_whole *b)
{
	return text_equal(boot_of(a), boot_of(b))
		   ? "The sessions were made one after the other, so what drifted between them is in these ratios; "
		     "`hvtune "
		     "compare` measures in blocks."
		   : "The sessions are of two boots, and boots differ by themselves: these ratios say how the two "
		     "boots "
		     "differed, not what made them. A study compares several boots of each.";
}

static const char *pair_text(struct arena *arena, const struct pair *pair, bool several)
{
	const char *unit = pair->metric->unit, *of = several ? arena_printf(arena, "%s, ", pair->side->a->name) : "";
	const char *range = stat_bounded(pair->ratio)
				? arena_printf(arena, "%s .. %s", measure_percent(arena, pair->ratio.low - 1),
					       measure_percent(arena, pair->ratio.high - 1))
				: "too few runs for an interval";

	return text_visible(arena,
			    arena_printf(arena, "%s%s: %s -> %s, %s (%s), %d and %s", of, pair->metric->name,
					 measure_value(arena, unit, pair->a), measure_value(arena, unit, pair->b),
					 measure_percent(arena, pair->ratio.estimate - 1), range, pair->runs_a,
					 text_count(arena, pair->runs_b, "run", "runs")));
}

static void print_text(const struct cli *cli, struct arena *arena, const struct differences *differences,
		       const struct sides *sides, const struct pair *pairs, size_t count, const char *warning)
{
	if (differences->count)
		(void)fputs("What else differs:\n", cli->out.out);
	for (size_t i = 0; i < differences->count; i++)
		term_flow(&cli->out, 2, false,
			  arena_printf(arena, "%s: %s | %s", differences->items[i].what,
				       text_visible(arena, differences->items[i].a),
				       text_visible(arena, differences->items[i].b)));
	if (!differences->count)
		(void)fputs("Nothing else differs that was noted.\n", cli->out.out);
	(void)fputs("\nThe second to the first:\n", cli->out.out);
	for (size_t i = 0; i < count; i++)
		term_flow(&cli->out, 2, false, pair_text(arena, &pairs[i], sides->count > 1));
	if (!sides->count)
		term_flow(&cli->out, 2, false, "there is no configuration that both have");
	else if (!count)
		term_flow(&cli->out, 2, false, "there is no metric of which both have values above 0");
	if (*sides->alone)
		term_flow(&cli->out, 0, true,
			  text_visible(arena, arena_printf(arena, "Not compared: %s.", sides->alone)));
	term_flow(&cli->out, 0, true, warning);
}

static void print_json(const struct differences *differences, const struct sides *sides, const struct pair *pairs,
		       size_t count, const char *warning)
{
	json_t *json = report_json_start("results", NULL), *list = json_array(), *metrics = json_array();

	for (size_t i = 0; i < differences->count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "what", report_json_text(differences->items[i].what),
						"a", report_json_text(differences->items[i].a), "b",
						report_json_text(differences->items[i].b)));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(metrics, json_pack("{s:o, s:o, s:o, s:f, s:f, s:o, s:i, s:i}", "configuration",
							 report_json_text(pairs[i].side->a->name), "name",
							 report_json_text(pairs[i].metric->name), "unit",
							 report_json_text(pairs[i].metric->unit), "a", pairs[i].a, "b",
							 pairs[i].b, "ratio", measure_interval_json(pairs[i].ratio),
							 "runs_a", pairs[i].runs_a, "runs_b", pairs[i].runs_b));
	json_object_set_new(json, "differences", list);
	json_object_set_new(json, "metrics", metrics);
	json_object_set_new(json, "not_compared", report_json_text(*sides->alone ? sides->alone : NULL));
	json_object_set_new(json, "caution", report_json_text(warning));
	(void)report_json_print(stdout, json);
}

int results_compare(const struct cli *cli, struct arena *arena, const struct store_whole *a,
		    const struct store_whole *b)
{
	struct differences differences = {.arena = arena};
	struct sides sides = {.a = a, .b = b};
	size_t count = 0;

	find_sides(arena, &sides);
	find_differences(&differences, &sides);
	struct pair *pairs = ARENA_ARRAY(arena, a->metric_count * sides.count + 1, struct pair);

	for (size_t k = 0; k < sides.count; k++)
		for (size_t i = 0; i < a->metric_count; i++)
			count += compare_metric(arena, &sides, &sides.pairs[k], &a->metrics[i], &pairs[count]);
	if (cli_given(cli, OPTION_JSON))
		print_json(&differences, &sides, pairs, count, caution(a, b));
	else
		print_text(cli, arena, &differences, &sides, pairs, count, caution(a, b));
	return EXIT_FINE;
}
