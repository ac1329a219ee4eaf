/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns comparing configurations in blocks. */
#include "bench_compare.h"

#include <errno.h>
#include <math.h>

#include "bench_internal.h"
#include "text.h"

/* A run that takes longer than that is calibrated with fewer blocks. */
#define LONG_RUN_S 2.

enum { MOST_VOID_BLOCKS = 5, SHORT_CALIBRATION = 5, MOST_COMPARED = 64 };

const char *bench_compare_end_text(enum bench_compare_end end)
{
	static const char *const texts[] = {
	    [BENCH_COMPARE_STOPPED] = "it was stopped",	    [BENCH_DECIDED] = "it is decided",
	    [BENCH_BLOCKS] = "as many blocks as asked for", [BENCH_MOST_BLOCKS] = "the most blocks allowed were made",
	    [BENCH_COMPARE_TIME] = "the time is over",	    [BENCH_COMPARE_VOID] = "too many runs were void",
	};

	return texts[end];
}

struct comparing {
	struct bench *bench;
	struct arena *arena;
	const struct bench_compare_rule *rule;
	const int *configurations;
	size_t count;
	struct bench_compared *result;
	double *values; /* of whole blocks: count each */
	size_t room;	/* blocks */
	int64_t began_ns, phase_ns;
	const char *what;
	unsigned expected;
};

static void tell(const struct comparing *comparing, unsigned done)
{
	double passed_s = (double)(bench_now_ns() - comparing->phase_ns) / 1e9, left_s = (double)NAN;
	const struct bench_compare_rule *rule = comparing->rule;

	if (!rule->tell)
		return;
	if (done)
		left_s = passed_s / done * (comparing->expected > done ? comparing->expected - done : 0);
	if (rule->time_ns)
		left_s = fmin(left_s, (double)(comparing->began_ns + rule->time_ns - bench_now_ns()) / 1e9);
	rule->tell(rule->data, comparing->what, done, comparing->expected, left_s);
}

static int warm_up(struct comparing *comparing, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < comparing->count && r == 0; i++)
		for (unsigned j = 0; j < comparing->rule->warmup && r == 0; j++) {
			const struct bench_run *run;

			r = bench_measure(comparing->bench, comparing->configurations[i], "warmup", -1, &run, err);
		}
	return r;
}

/*
 * One block in the order of `order`, places in `which`, into values[place]. 0, or 1 when a run of it was void and the
 * block is worth nothing.
 */
static int run_block(struct comparing *comparing, const char *purpose, const int *which, const int *order, size_t count,
		     double *values, double *in_order, struct err *err)
{
	int ids[MOST_COMPARED] = {0};
	int64_t block = -1;
	int r;

	for (size_t i = 0; i < count; i++)
		ids[i] = which[order[i]];
	r = bench_block(comparing->bench, purpose, ids, count, &block, err);
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct bench_run *run;
		int at;

		r = bench_measure(comparing->bench, ids[i], purpose, block, &run, err);
		if (r < 0)
			return r;
		comparing->result->metric = bench_target(comparing->bench, comparing->rule->metric);
		at = bench_values_find(&comparing->bench->values, comparing->result->metric);
		if (!run->valid || at < 0 || (size_t)at >= run->value_count || !(run->values[at] > 0))
			return 1;
		values[order[i]] = run->values[at];
		if (in_order)
			in_order[i] = run->values[at];
	}
	return r;
}

static bool is_over(const struct comparing *comparing)
{
	return comparing->rule->time_ns && bench_now_ns() - comparing->began_ns >= comparing->rule->time_ns;
}

static bool is_hopeless(const struct comparing *comparing)
{
	return comparing->result->void_blocks >= MOST_VOID_BLOCKS + 2 * comparing->result->blocks;
}

/* ---- the first with itself ---- */

static int calibrate(struct comparing *comparing, unsigned blocks, struct err *err)
{
	const int both[] = {comparing->configurations[0], comparing->configurations[0]};
	double *a = ARENA_ARRAY(comparing->arena, blocks, double), *b = ARENA_ARRAY(comparing->arena, blocks, double);
	double *in_order = ARENA_ARRAY(comparing->arena, 2 * (size_t)blocks, double), pair[2];
	unsigned done = 0, tried = 0;
	int r = 0;

	comparing->what = "calibrating";
	comparing->expected = blocks;
	comparing->phase_ns = bench_now_ns();
	while (done < blocks && r >= 0 && !is_over(comparing)) {
		int order[2];

		tell(comparing, done);
		/* Another series of orders than the comparison has. */
		stat_block_order(~comparing->rule->seed, (int)tried++, 2, order);
		r = run_block(comparing, "calibration", both, order, 2, pair, &in_order[2 * (size_t)done], err);
		if (r == 0) {
			a[done] = pair[0];
			b[done++] = pair[1];
		}
		if (tried >= MOST_VOID_BLOCKS + 2 * done)
			break;
	}
	if (r < 0 || done < 2)
		return MIN_OF(r, 0);
	r = stat_aa(&comparing->rule->plan, a, b, in_order, (int)done, &comparing->result->aa, err);
	comparing->result->calibrated = r == 0;
	return r;
}

static unsigned calibration_of(const struct comparing *comparing)
{
	const struct bench *bench = comparing->bench;
	double longest_s = 0;

	if (comparing->rule->calibration != BENCH_CALIBRATE_AUTO)
		return (unsigned)comparing->rule->calibration;
	for (size_t i = 0; i < bench->run_count; i++)
		longest_s = fmax(longest_s, bench->runs[i].values[0]);
	return longest_s > LONG_RUN_S ? SHORT_CALIBRATION : STAT_AA_BLOCKS;
}

/* ---- each with the others ---- */

static double *values_of(struct comparing *comparing, unsigned block)
{
	if (block >= comparing->room) {
		size_t room = comparing->room ? 2 * comparing->room : 16;
		double *larger = ARENA_ARRAY(comparing->arena, room * comparing->count, double);

		if (comparing->room)
			memcpy(larger, comparing->values, comparing->room * comparing->count * sizeof(*larger));
		comparing->values = larger;
		comparing->room = room;
	}
	return comparing->values + (size_t)block * comparing->count;
}

/* Look at what there is: 1 when it ends. */
static int look(struct comparing *comparing, struct err *err)
{
	const struct bench_compare_rule *rule = comparing->rule;
	struct bench_compared *result = comparing->result;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	double *d = ARENA_ARRAY(arena, result->blocks, double);
	enum stat_stop stop = STAT_STOP_MORE;
	int r = 0;

	for (unsigned i = 0; i < result->blocks; i++)
		d[i] = log(values_of(comparing, i)[1]) - log(values_of(comparing, i)[0]);
	if (comparing->count == 2 && rule->blocks)
		r = stat_compare_logs(d, (int)result->blocks, STAT_ALPHA, rule->plan.margin, &result->compare, err);
	else if (comparing->count == 2)
		r = stat_sequential_look(&rule->plan, d, (int)result->blocks, &stop, &result->compare, err);
	if (r < 0)
		return r;
	if (rule->blocks && result->blocks >= rule->blocks) {
		result->end = BENCH_BLOCKS;
		return 1;
	}
	if (!rule->blocks && stop != STAT_STOP_MORE) {
		result->end = stop == STAT_STOP_TARGET ? BENCH_DECIDED : BENCH_MOST_BLOCKS;
		return 1;
	}
	return 0;
}

static int compare_blocks(struct comparing *comparing, struct err *err)
{
	struct bench_compared *result = comparing->result;
	int order[MOST_COMPARED], tried = 0;

	comparing->what = "comparing";
	comparing->expected = comparing->rule->blocks ? comparing->rule->blocks : (unsigned)comparing->rule->plan.cap;
	comparing->phase_ns = bench_now_ns();
	for (;;) {
		int r;

		tell(comparing, result->blocks);
		stat_block_order(comparing->rule->seed, tried++, (int)comparing->count, order);
		r = run_block(comparing, "measure", comparing->configurations, order, comparing->count,
			      values_of(comparing, result->blocks), NULL, err);
		if (r < 0)
			return r;
		result->blocks += r == 0;
		result->void_blocks += r == 1;
		r = r == 0 ? look(comparing, err) : 0;
		if (r)
			return MIN_OF(r, 0);
		if (is_over(comparing) || is_hopeless(comparing)) {
			result->end = is_over(comparing) ? BENCH_COMPARE_TIME : BENCH_COMPARE_VOID;
			return 0;
		}
	}
}

int bench_compare(struct bench *bench, const int *configurations, size_t count, const struct bench_compare_rule *rule,
		  struct bench_compared *ret, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct bench_compared result = {.metric = BENCH_WALL};
	struct comparing comparing = {.bench = bench,
				      .arena = arena,
				      .rule = rule,
				      .configurations = configurations,
				      .count = count,
				      .result = &result,
				      .began_ns = bench_now_ns()};
	unsigned blocks;
	int r;

	if (count < 2 || count > MOST_COMPARED || (count > 2 && !rule->blocks))
		return err_set(err, EINVAL, NULL, "2 to %d configurations can be compared", MOST_COMPARED);
	r = warm_up(&comparing, err);
	blocks = calibration_of(&comparing);
	if (r == 0 && blocks)
		r = calibrate(&comparing, blocks, err);
	if (r == 0)
		r = compare_blocks(&comparing, err);
	*ret = result;
	return r;
}
