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
	return text_has_word("os.uptime memory.free memory.available memory.swap_free topology.node", " ", name) ||
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

static void find_differences(struct differences *differences, const struct store_whole *a, const struct store_whole *b)
{
	json_t *facts[] = {parsed(a->session.facts), parsed(b->session.facts)};

	add(differences, "host", a->session.host, b->session.host);
	add(differences, "hvtune", a->session.version, b->session.version);
	add(differences, "boot", boot_of(a), boot_of(b));
	add(differences, "directory", a->session.cwd, b->session.cwd);
	add(differences, "environment", a->session.environment, b->session.environment);
	if (a->configuration_count && b->configuration_count) {
		add(differences, "command", a->configurations[0].command, b->configurations[0].command);
		add(differences, "settings", a->configurations[0].settings, b->configurations[0].settings);
	}
	compare_facts(differences, facts[0], facts[1]);
	json_decref(facts[0]);
	json_decref(facts[1]);
}

/* ---- what was measured ---- */

struct pair {
	const struct store_metric *metric;
	struct stat_interval ratio; /* b to a */
	double a, b;		    /* geometric means */
	int runs_a, runs_b;
};

static int compare_metric(struct arena *arena, const struct store_whole *a, const struct store_whole *b,
			  const struct store_metric *metric, struct pair *ret)
{
	const struct store_metric *other = store_metric_named(b, metric->name);
	double *values[2], *logs[2];
	struct stat_welch welch;
	int counts[2];

	if (!other || !text_equal(other->unit, metric->unit) || !a->configuration_count || !b->configuration_count)
		return -1;
	counts[0] = (int)store_values(arena, a, a->configurations[0].id, metric->id, "measure", false, &values[0]);
	counts[1] = (int)store_values(arena, b, b->configurations[0].id, other->id, "measure", false, &values[1]);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		logs[i] = ARENA_ARRAY(arena, (size_t)counts[i] + 1, double);
		for (int j = 0; j < counts[i]; j++) {
			if (!(values[i][j] > 0))
				return -1;
			logs[i][j] = log(values[i][j]);
		}
	}
	if (stat_welch(logs[1], counts[1], logs[0], counts[0], STAT_ALPHA, &welch, NULL) < 0)
		return -1;
	*ret = (struct pair){.metric = metric,
			     .ratio = stat_exp(welch.difference),
			     .a = exp(stat_mean(logs[0], counts[0])),
			     .b = exp(stat_mean(logs[1], counts[1])),
			     .runs_a = counts[0],
			     .runs_b = counts[1]};
	return 0;
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

static void print_text(const struct cli *cli, struct arena *arena, const struct differences *differences,
		       const struct pair *pairs, size_t count, const char *warning)
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
	for (size_t i = 0; i < count; i++) {
		const struct pair *pair = &pairs[i];
		const char *unit = pair->metric->unit;

		term_flow(&cli->out, 2, false,
			  arena_printf(arena, "%s: %s -> %s, %s (%s .. %s), %d and %d runs", pair->metric->name,
				       measure_value(arena, unit, pair->a), measure_value(arena, unit, pair->b),
				       measure_percent(arena, pair->ratio.estimate - 1),
				       measure_percent(arena, pair->ratio.low - 1),
				       measure_percent(arena, pair->ratio.high - 1), pair->runs_a, pair->runs_b));
	}
	if (!count)
		term_flow(&cli->out, 2, false, "there is no metric that both have with two valid runs or more");
	term_flow(&cli->out, 0, true, warning);
}

static void print_json(const struct differences *differences, const struct pair *pairs, size_t count,
		       const char *warning)
{
	json_t *json = report_json_start("results", NULL), *list = json_array(), *metrics = json_array();

	for (size_t i = 0; i < differences->count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "what", report_json_text(differences->items[i].what),
						"a", report_json_text(differences->items[i].a), "b",
						report_json_text(differences->items[i].b)));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(metrics, json_pack("{s:o, s:o, s:f, s:f, s:o, s:i, s:i}", "name",
							 report_json_text(pairs[i].metric->name), "unit",
							 report_json_text(pairs[i].metric->unit), "a", pairs[i].a, "b",
							 pairs[i].b, "ratio", measure_interval_json(pairs[i].ratio),
							 "runs_a", pairs[i].runs_a, "runs_b", pairs[i].runs_b));
	json_object_set_new(json, "differences", list);
	json_object_set_new(json, "metrics", metrics);
	json_object_set_new(json, "caution", report_json_text(warning));
	(void)report_json_print(stdout, json);
}

int results_compare(const struct cli *cli, struct arena *arena, const struct store_whole *a,
		    const struct store_whole *b)
{
	struct differences differences = {.arena = arena};
	struct pair *pairs = ARENA_ARRAY(arena, a->metric_count + 1, struct pair);
	size_t count = 0;

	find_differences(&differences, a, b);
	for (size_t i = 0; i < a->metric_count; i++)
		count += compare_metric(arena, a, b, &a->metrics[i], &pairs[count]) == 0;
	if (cli_given(cli, OPTION_JSON))
		print_json(&differences, pairs, count, caution(a, b));
	else
		print_text(cli, arena, &differences, pairs, count, caution(a, b));
	return EXIT_FINE;
}
