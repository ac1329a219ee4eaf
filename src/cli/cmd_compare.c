/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune compare`. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/random.h>

#include "bench_compare.h"
#include "compare_switch.h"
#include "measure.h"
#include "report.h"
#include "report_result.h"
#include "stat_many.h"
#include "study_host.h"
#include "text.h"

#define MOST_SECONDS (30. * 24 * 3600)

enum { MOST_SIDES = 16, MOST_CAP = 60, MOST_BLOCKS = 100000, USUAL_MANY = STAT_MANY_SURE_BLOCKS };

struct compared {
	const struct cli *cli;
	struct measure measure;
	struct compare_switch from;
	struct compare_side sides[MOST_SIDES];
	struct bench_subject subjects[MOST_SIDES];
	int numbers[MOST_SIDES];
	size_t count;
	struct bench_compare_rule rule;
	double fail_share; /* --fail-if-slower; NAN: not asked for */
	bool knobs;	   /* any side sets knobs */
};

static const enum cli_option_id side_options[] = {OPTION_SIDE_A, OPTION_SIDE_B, OPTION_SIDE_C, OPTION_SIDE_D};

/* ---- the rule ---- */

static int read_calibration(const struct cli *cli, int *ret)
{
	double blocks;
	int r = measure_count(cli, OPTION_CALIBRATE, 2, MOST_BLOCKS, 0, &blocks);

	if (cli_given(cli, OPTION_NO_CALIBRATION) && cli_given(cli, OPTION_CALIBRATE))
		return cli_usage(cli, "--calibrate and --no-calibration exclude each other");
	*ret = cli_given(cli, OPTION_NO_CALIBRATION) ? 0
	       : cli_given(cli, OPTION_CALIBRATE)    ? (int)blocks
						     : BENCH_CALIBRATE_AUTO;
	return r;
}

static int read_numbers(const struct cli *cli, struct compared *compared)
{
	double blocks = 0, most = 0, margin = 0, time_s = 0, warmup = 0, seed = 0, fail = 0;
	struct bench_compare_rule *rule = &compared->rule;
	struct err err = {0};
	int r = measure_count(cli, OPTION_BLOCKS, 2, MOST_BLOCKS, 0, &blocks);

	if (r == 0)
		r = measure_count(cli, OPTION_MOST_BLOCKS, STAT_BLOCKS_FIRST + 3, MOST_CAP, STAT_BLOCKS_CAP, &most);
	if (r == 0)
		r = measure_number(cli, OPTION_MARGIN, 0.01, 50, 1, &margin);
	if (r == 0)
		r = measure_number(cli, OPTION_TIME, 0.001, MOST_SECONDS, 0, &time_s);
	if (r == 0)
		r = measure_count(cli, OPTION_WARMUP, 0, MOST_BLOCKS, 1, &warmup);
	if (r == 0)
		r = measure_count(cli, OPTION_SEED, 0, 9e15, -1, &seed);
	if (r == 0)
		r = measure_number(cli, OPTION_FAIL_IF_SLOWER, 0, 1000, 0, &fail);
	if (r == 0)
		r = read_calibration(cli, &rule->calibration);
	if (r)
		return r;
	if (cli_given(cli, OPTION_BLOCKS) && cli_given(cli, OPTION_MOST_BLOCKS))
		return cli_usage(cli, "--blocks says how many exactly; it excludes --max-blocks");
	if (stat_sequential_plan(STAT_BLOCKS_FIRST, (int)most, margin / 100, &rule->plan, &err) < 0)
		return cli_fail(&err);
	rule->metric = cli->values[OPTION_TARGET];
	rule->blocks = (unsigned)blocks;
	rule->warmup = (unsigned)warmup;
	rule->time_ns = (int64_t)(time_s * 1e9);
	/* Six bytes are below what --seed takes, so that what is kept can be given again. */
	rule->seed = seed < 0 ? 0 : (uint64_t)seed;
	if (seed < 0)
		(void)getrandom(&rule->seed, 6, 0);
	compared->fail_share = cli_given(cli, OPTION_FAIL_IF_SLOWER) ? fail / 100 : (double)NAN;
	return 0;
}

static void tell(void *data, const char *what, unsigned done, unsigned expected, double left_s)
{
	struct compared *compared = data;
	struct progress *progress = &compared->measure.progress;

	if (!isfinite(left_s))
		progress_show(progress, "%s, block 1 of at most %u", what, expected);
	else if (left_s >= 90)
		progress_show(progress, "%s, block %u of at most %u, at most %.0f minutes left", what, done + 1,
			      expected, left_s / 60);
	else
		progress_show(progress, "%s, block %u of at most %u, at most %.0f s left", what, done + 1, expected,
			      left_s);
}

/* ---- what is compared ---- */

static void add_side(struct compared *compared, const char *name, const struct bench_command *command)
{
	struct compare_side *side = &compared->sides[compared->count];
	struct bench_subject *subject = &compared->subjects[compared->count];

	side->from = &compared->from;
	side->name = name;
	*subject = measure_subject(&compared->measure, name, command);
	subject->settings = compare_side_settings(compared->measure.arena, side);
	subject->data = side;
	compared->count++;
}

/* One command given twice has to be told apart. */
static const char *own_name(const struct compared *compared, const char *text)
{
	for (size_t i = 0; i < compared->count; i++)
		if (text_equal(compared->sides[i].name, text))
			return arena_printf(compared->measure.arena, "%s (%zu)", text, compared->count + 1);
	return text;
}

static int read_commands(const struct cli *cli, struct compared *compared)
{
	if (cli->argument_count < 2)
		return cli_usage(cli,
				 "compare needs two commands, each as one word ('make -j32' 'make -j64'), or --a and "
				 "--b before one command");
	if (cli->argument_count > MOST_SIDES)
		return cli_usage(cli, "at most %d commands can be compared", MOST_SIDES);
	for (int i = 0; i < cli->argument_count; i++) {
		struct bench_command command;
		int r = measure_text_command(cli, &compared->measure, cli->arguments[i], &command);

		if (r)
			return r;
		add_side(compared, own_name(compared, cli->arguments[i]), &command);
	}
	return 0;
}

/* "A" alone, or with what it sets. */
static const char *side_name(struct arena *arena, char letter, const char *given)
{
	return given && *given ? arena_printf(arena, "%c: %s", letter, given) : arena_printf(arena, "%c", letter);
}

static int read_one_side(const struct cli *cli, struct compared *compared, size_t at,
			 const struct bench_command *command)
{
	struct arena *arena = compared->measure.arena;
	struct compare_side *side = &compared->sides[compared->count];
	const char *given = cli->values[side_options[at]];
	char letter = (char)('A' + at);
	struct err err = {0};
	int r;

	if (cli_given(cli, OPTION_SWITCH)) {
		const char *text = arena_printf(arena, "%s %s", cli->values[OPTION_SWITCH],
						given ? given : arena_printf(arena, "%c", letter));

		r = measure_text_command(cli, &compared->measure, text, &side->command);
		side->command.timeout_ns = 0;
	} else if (!*given) {
		return cli_usage(cli, "--%c takes KNOB=VALUE, or now for the machine as it is, but got an empty word",
				 letter - 'A' + 'a');
	} else {
		r = compare_side_parse(arena, given, side, &err);
		if (r < 0) {
			(void)cli_fail(&err);
			return EXIT_USAGE;
		}
		side->from = &compared->from;
		r = compare_side_check(cli, &compared->from, side);
		compared->knobs = compared->knobs || side->count;
	}
	if (r)
		return r;
	add_side(compared, side_name(arena, letter, given), command);
	compared->subjects[compared->count - 1].enter = compare_side_enter;
	return 0;
}

static int read_settings(const struct cli *cli, struct compared *compared)
{
	struct bench_command command;
	size_t sides = 0;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(side_options); i++)
		if (cli_given(cli, side_options[i])) {
			if (i != sides)
				return cli_usage(cli, "--%c needs --%c too", (int)('a' + i), (int)('a' + sides));
			sides++;
		}
	if (sides == 0 && cli_given(cli, OPTION_SWITCH))
		sides = 2;
	if (sides < 2)
		return cli_usage(cli, "compare needs --b too; `--b now` is the machine as it is");
	if (!cli->argument_count)
		return cli_usage(cli, "compare needs a command behind the options: -- make -j32");
	r = measure_words_command(cli, &compared->measure, cli->arguments, cli->argument_count, &command);
	for (size_t i = 0; i < sides && r == 0; i++)
		r = read_one_side(cli, compared, i, &command);
	for (size_t i = 1; i < sides && r == 0; i++)
		for (size_t j = 0; j < i && r == 0; j++)
			if (cli->values[side_options[i]] &&
			    text_equal(cli->values[side_options[i]], cli->values[side_options[j]]))
				r = cli_usage(
				    cli,
				    "--%c and --%c are the same; to see how well this machine compares, compare a "
				    "command with itself: hvtune compare 'CMD' 'CMD'",
				    (int)('a' + j), (int)('a' + i));
	return r;
}

static bool has_sides(const struct cli *cli)
{
	for (size_t i = 0; i < ARRAY_SIZE(side_options); i++)
		if (cli_given(cli, side_options[i]))
			return true;
	return cli_given(cli, OPTION_SWITCH);
}

/* ---- the answer ---- */

static json_t *calibration_json(const struct bench_compared *result)
{
	const struct stat_aa *aa = &result->aa;

	if (!result->calibrated)
		return json_null();
	return json_pack("{s:i, s:o, s:b, s:o, s:b}", "blocks", aa->compare.blocks, "ratio",
			 measure_interval_json(aa->compare.ratio), "alarm", aa->alarm, "detectable",
			 measure_number_json(aa->detectable), "drift", aa->drift.flagged);
}

static json_t *verdict_json(const struct bench_compared *result)
{
	return json_pack("{s:o, s:s, s:i, s:i, s:o}", "metric", report_json_text(result->metric), "end",
			 bench_compare_end_text(result->end), "blocks", (int)result->blocks, "void_blocks",
			 (int)result->void_blocks, "calibration", calibration_json(result));
}

static void print_calibration(const struct term *term, struct arena *arena, const struct bench_compared *result)
{
	const struct stat_aa *aa = &result->aa;

	if (!result->calibrated)
		return;
	if (aa->alarm)
		term_flow(
		    term, 2, false,
		    arena_printf(
			arena,
			"calibration: compared with itself in %d blocks the first seems to differ by %s; that is "
			"chance in one of twenty cases, else runs here depend on each other and the verdict is in "
			"doubt",
			aa->compare.blocks, measure_percent(arena, aa->compare.ratio.estimate - 1)));
	else
		term_flow(
		    term, 2, false,
		    arena_printf(arena,
				 "calibration: compared with itself in %d blocks the first does not differ (%s); a "
				 "difference of %s would be seen in nine of ten cases",
				 aa->compare.blocks, measure_percent(arena, aa->compare.ratio.estimate - 1),
				 isfinite(aa->detectable) ? measure_percent(arena, aa->detectable) + 1 : "no size"));
}

static void print_side(const struct term *term, struct arena *arena, const struct report_result *shown, size_t at)
{
	const struct report_metric *metric = &shown->metrics[shown->main];
	const struct report_estimate *estimate = &metric->estimates[at];

	if (!estimate->runs) {
		term_flow(term, 2, false,
			  arena_printf(arena, "%s: no valid run", shown->whole->configurations[at].name));
		return;
	}
	term_flow(term, 2, false,
		  arena_printf(arena, "%s: %s, %d run%s", shown->whole->configurations[at].name,
			       measure_interval(arena, metric->metric->unit, estimate->value), estimate->runs,
			       estimate->runs == 1 ? "" : "s"));
}

static const char *how_decided(struct arena *arena, const struct compared *compared,
			       const struct bench_compared *result)
{
	const char *looks = compared->rule.blocks
				? ""
				: arena_printf(arena,
					       ", looked at after each from the %dth at a level of %.2g %% that "
					       "holds all looks together at 5 %%",
					       compared->rule.plan.first, 100 * compared->rule.plan.nominal);

	return arena_printf(arena, "%u block%s in random order%s; ended because: %s", result->blocks,
			    result->blocks == 1 ? "" : "s", looks, bench_compare_end_text(result->end));
}

static void print_answer(const struct term *term, const struct compared *compared, const struct bench_compared *result,
			 const struct report_result *shown)
{
	struct arena *arena = shown->arena;

	if (!result->blocks)
		term_flow(term, 0, true, "Not compared: in no block were all runs valid.");
	for (const char *const *line = shown->verdict; *line && result->blocks; line++)
		term_flow(term, 0, true, *line);
	for (size_t i = 0; i < compared->count && shown->main >= 0; i++)
		print_side(term, arena, shown, i);
	/* The verdict of three and more names the best only. */
	for (size_t i = 1; i < compared->count && compared->count > 2 && shown->main >= 0; i++)
		term_flow(term, 2, false, shown->metrics[shown->main].differences[i].words);
	term_flow(term, 2, false, how_decided(arena, compared, result));
	print_calibration(term, arena, result);
	if (result->compare.outliers_matter)
		term_flow(term, 2, false, "single runs matter much here: the estimate by ranks is another");
	term_flow(term, 2, false,
		  "of this boot only: another boot may differ by more than the interval; a study compares boots");
}

/* Is any other shown to be worse than the first by more than was asked? */
static bool is_too_slow(const struct compared *compared, const struct report_result *shown)
{
	const struct report_metric *metric = shown->main >= 0 ? &shown->metrics[shown->main] : NULL;

	for (size_t i = 1; metric && i < compared->count; i++) {
		struct stat_interval ratio = metric->differences[i].ratio;
		bool more = metric->measure.better == CHART_HIGHER;
		double least = more ? 1 / ratio.high - 1 : ratio.low - 1;

		if (stat_bounded(ratio) && least > compared->fail_share)
			return true;
	}
	return false;
}

static int show(struct compared *compared, const struct bench_compared *result, int64_t session, struct err *err)
{
	struct store_whole whole;
	struct report_result *shown;
	struct arena *arena = compared->measure.arena;
	int r = store_load(compared->measure.store, arena, session, &whole, err);

	if (r == 0)
		r = report_result_make(arena, &whole, NULL, 0, &shown, err);
	if (r < 0)
		return cli_fail(err);
	if (cli_given(compared->cli, OPTION_JSON)) {
		json_t *json = report_json_start("compare", NULL);

		json_object_set_new(json, "session",
				    cli_given(compared->cli, OPTION_NO_STORE) ? json_null() : json_integer(session));
		json_object_set_new(json, "restored", json_boolean(!compared->from.change && !*compared->from.left));
		json_object_set_new(json, "left_alone",
				    report_json_text(*compared->from.left ? compared->from.left : NULL));
		json_object_set_new(json, "summary", verdict_json(result));
		json_object_set_new(json, "result", report_result_json(shown));
		(void)report_json_print(stdout, json);
	} else {
		print_answer(&compared->cli->out, compared, result, shown);
	}
	return result->blocks && !isnan(compared->fail_share) && is_too_slow(compared, shown) ? EXIT_FINDINGS
											      : EXIT_FINE;
}

/* ---- running ---- */

static json_t *method_json(const struct compared *compared)
{
	const struct bench_compare_rule *rule = &compared->rule;

	return json_pack("{s:s, s:f, s:f, s:i, s:i, s:i, s:i, s:f, s:I}", "rule",
			 rule->blocks ? "blocks" : "sequential", "alpha",
			 rule->blocks ? STAT_ALPHA : rule->plan.nominal, "margin", rule->plan.margin, "blocks",
			 (int)rule->blocks, "cap", rule->plan.cap, "calibration", rule->calibration, "warmup",
			 (int)rule->warmup, "time_s", (double)rule->time_ns / 1e9, "seed", (json_int_t)rule->seed);
}

static int run(struct compared *compared, struct bench_compared *result, struct err *err)
{
	struct bench *bench = compared->measure.bench;
	int r = 0;

	compared->from.bench = bench;
	for (size_t i = 0; i < compared->count && r == 0; i++)
		r = bench_add(bench, &compared->subjects[i], &compared->numbers[i], err);
	if (r == 0)
		r = bench_compare(bench, compared->numbers, compared->count, &compared->rule, result, err);
	return r;
}

static int finish(struct compared *compared, struct bench_compared *result, struct err *err)
{
	CLEANUP(base_free) char *remarks = NULL;
	size_t size = 0;
	struct term term = compared->cli->out;
	json_t *json = verdict_json(result);
	struct err undo_err = {0};
	int64_t session = 0;
	int code, shown_code;

	/* The session's own texts end with it. */
	result->metric = arena_strdup(compared->measure.arena, result->metric);
	progress_end(&compared->measure.progress);
	/* First of all the machine gets back what is its own. */
	int undone = compare_switch_undo(&compared->from, &undo_err);
	const char *not_back = undone < 0 || *compared->from.left
				   ? NULL
				   : bench_not_back(compared->measure.bench, compared->measure.arena);

	if (not_back)
		(void)snprintf(compared->from.left, sizeof(compared->from.left), "%s", not_back);

	term.out = open_memstream(&remarks, &size);
	if (!term.out)
		err_no_memory();
	measure_print_remarks(&term, compared->measure.bench);
	if (*compared->from.left)
		term_flow(&term, 2, false,
			  arena_printf(compared->measure.arena,
				       "not put back, since somebody else has set it: %s; `hvtune set` sets it",
				       compared->from.left));
	(void)fclose(term.out);
	code = measure_end(compared->cli, &compared->measure, err, bench_compare_end_text(result->end), json, &session);
	json_decref(json);
	shown_code = show(compared, result, session, &(struct err){0});
	if (!cli_given(compared->cli, OPTION_JSON)) {
		(void)fputs(remarks, compared->cli->out.out);
		if (!cli_given(compared->cli, OPTION_NO_STORE))
			measure_print_kept(&compared->cli->out, session);
	}
	if (undone < 0)
		return cli_fail(&undo_err);
	return code ? code : result->blocks == 0 ? EXIT_COULD_NOT : shown_code;
}

static void close_compared(struct compared *compared)
{
	/* After an error; else it is done already. */
	(void)compare_switch_undo(&compared->from, NULL);
	measure_close(&compared->measure);
}

/* Is the machine as it is by itself? And what is watched while it is compared. */
static int look_at_machine(struct compared *compared)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct arena *arena = compared->measure.arena;
	struct err err = {0};
	const char **names;
	size_t count = 0;

	if (knob_machine_open(compared->from.root, NULL, &machine, &err) < 0 || study_host_clean(&machine, &err) < 0)
		return cli_fail(&err);
	for (size_t s = 0; s < compared->count; s++)
		count += compared->sides[s].count;
	names = ARENA_ARRAY(arena, count + 1, const char *);
	count = 0;
	for (size_t s = 0; s < compared->count; s++)
		for (size_t i = 0; i < compared->sides[s].count; i++) {
			bool there = false;

			for (size_t n = 0; n < count && !there; n++)
				there = text_equal(names[n], compared->sides[s].asks[i].name);
			if (!there)
				names[count++] = compared->sides[s].asks[i].name;
		}
	compared->measure.watch = names;
	return 0;
}

int cmd_compare(struct cli *cli)
{
	CLEANUP(close_compared) struct compared compared = {.cli = cli, .from.root = cli->values[OPTION_ROOT]};
	struct bench_compared result = {.metric = BENCH_WALL};
	struct err err = {0};
	int r = read_numbers(cli, &compared);

	if (r == 0)
		r = measure_open(cli, &compared.measure);
	if (r == 0)
		r = has_sides(cli) ? read_settings(cli, &compared) : read_commands(cli, &compared);
	if (r == 0 && compared.count > 2 && !compared.rule.blocks) {
		if (cli_given(cli, OPTION_MOST_BLOCKS))
			return cli_usage(cli, "--max-blocks is for two; more are compared in a number of --blocks");
		compared.rule.blocks = USUAL_MANY;
	}
	if (r == 0 && compared.knobs)
		r = look_at_machine(&compared);
	if (r == 0)
		r = measure_begin(cli, &compared.measure, method_json(&compared));
	if (r)
		return r;
	compared.rule.tell = tell;
	compared.rule.data = &compared;
	/* What was tried in vain on the way is not what came of it. */
	if (run(&compared, &result, &err) == 0)
		err = (struct err){0};
	return finish(&compared, &result, &err);
}
