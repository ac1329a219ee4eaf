/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of what a study answers, on hosts whose truth is known: picks and the front, limits of watts, idle
 * windows with traces, each lever's share, configurations that cannot be measured.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "study_verdict.h"
#include "study_world.h"
#include "unit.h"

static void judge(struct world *world, struct study_engine *engine, struct study_verdict *ret)
{
	struct err err = {0};

	if (study_verdict(engine, world->seen, world->count, NULL, ret, &err) < 0)
		fail_msg("%s", err.what);
}

static const char *name_of(struct world *world, int config)
{
	return config < 0 ? "none" : study_config_name(world->arena, &world->matrix, (size_t)config);
}

static void assert_near(double value, double expected, double most)
{
	if (!(fabs(value - expected) <= most))
		fail_msg("%.9g is not %.9g", value, expected);
}

static void assert_holds(struct stat_interval interval, double truth)
{
	if (!(interval.low <= truth && truth <= interval.high))
		fail_msg("%g is not in %g .. %g", truth, interval.low, interval.high);
}

#define TWO                                                                                                            \
	"study: s\nworkloads: {w: make}\nruns: [5, 16]\nconfirm: no\nfactors:\n"                                       \
	"  a: {knob: thp, levels: [always, madvise, never]}\n  b: {knob: swappiness, levels: [1, 60]}\n"
#define BOTH "objectives: [time, energy]\n"

/* a: never is fastest and takes most energy, madvise the least; b: 60 costs both. */
static const double times[] = {0, -.03, -.10, 0, .04}, energies[] = {0, -.20, .05, 0, .02};

static void test_picks(void **state)
{
	static const char *const expected[STUDY_PICKS] = {[STUDY_FASTEST] = "a=never b=1",
							  [STUDY_EFFICIENT] = "a=madvise b=1",
							  [STUDY_NEAR] = "a=never b=1",
							  [STUDY_KNEE] = "a=madvise b=1",
							  [STUDY_QUIET] = "none"};
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;

	(void)state;
	world_make(&world, TWO BOTH);
	world.effects = times;
	world.energy = energies;
	assert_int_equal(world_play(&world, false, &engine).what, STUDY_DONE);
	judge(&world, engine, &is);
	for (size_t i = 0; i < STUDY_PICKS; i++)
		assert_string_equal(name_of(&world, is.picks[i].config), expected[i]);
	assert_true(is.picks[STUDY_FASTEST].sure && is.picks[STUDY_FASTEST].sought && is.picks[STUDY_KNEE].sure);
	assert_false(is.picks[STUDY_NEAR].sought);
	assert_non_null(is.picks[STUDY_QUIET].why);
	assert_true(is.picks[STUDY_FASTEST].outlook.bad < .02);
	assert_true(is.picks[STUDY_FASTEST].outlook.regret_mean < .002);
	/* Half of the configurations, with b=60, are beaten by those with b=1. */
	for (size_t i = 0; i < is.row_count; i++) {
		const struct study_row *row = &is.rows[i];
		const size_t *levels = study_levels(&world.matrix, (size_t)row->config);
		double base = world_truth(&world, (int)world.matrix.baseline);

		assert_int_equal(row->front, levels[1] == 0 && levels[0] != 0);
		assert_true(i == 0 || is.rows[i - 1].value[STUDY_TIME].estimate <= row->value[STUDY_TIME].estimate);
		if (row->config == (int)world.matrix.baseline)
			continue;
		assert_holds(row->ratio[STUDY_TIME], exp(world_truth(&world, row->config) - base));
		assert_holds(row->ratio[STUDY_ENERGY], exp(world_energy(&world, row->config)));
	}
	/* By every share at once: from the fastest on, each takes less energy than the one before. */
	assert_true(is.near_count >= 2 && is.nears[0].slower == 0);
	assert_int_equal(is.nears[0].pick.config, is.picks[STUDY_FASTEST].config);
	for (size_t i = 1; i < is.near_count; i++)
		assert_true(is.nears[i].slower > is.nears[i - 1].slower &&
			    world_energy(&world, is.nears[i].pick.config) <
				world_energy(&world, is.nears[i - 1].pick.config));
	assert_int_equal(is.nears[is.near_count - 1].pick.config, is.picks[STUDY_EFFICIENT].config);
	/* With 10 % to spare madvise is near enough. */
	const struct study_verdict_options wide = {.slower = .1};
	struct err err = {0};
	size_t last = 0;

	while (last + 1 < is.near_count && is.nears[last + 1].slower <= wide.slower)
		last++;
	assert_string_equal(name_of(&world, is.nears[last].pick.config), "a=madvise b=1");
	assert_int_equal(study_verdict(engine, world.seen, world.count, &wide, &is, &err), 0);
	assert_string_equal(name_of(&world, is.picks[STUDY_NEAR].config), "a=madvise b=1");
	world_clear(&world, &engine);
}

/* Ten runs of each of two configurations, as `starts` starts of the VM each; a start moves all its runs by 5 %. */
static struct stat_interval by_starts(int starts)
{
	struct study_engine *engine = NULL;
	struct study_verdict is;
	struct stat_interval value = {NAN, NAN, NAN};
	struct world world;
	struct err err = {0};

	world_make(&world, "study: s\nvms: [web]\nworkloads: {w: make}\ndesign: full\nconfirm: no\nfactors:\n"
			   "  p: {knob: vm.pages@web, levels: [4K, 2M]}\n");
	world.effects = (const double[]){0, 0};
	for (int start = 0; start < 2 * starts; start++)
		for (int i = 0; i < 10 / starts; i++) {
			world_run(&world, start % 2, STUDY_CHOOSE);
			world.seen[world.count - 1].value[STUDY_TIME] =
			    100 * exp((start / 2 % 2 ? .05 : 0) + .001 * (i % 3));
		}
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	judge(&world, engine, &is);
	for (size_t i = 0; i < is.row_count; i++)
		if (is.rows[i].config == 0)
			value = is.rows[i].value[STUDY_TIME];
	world_clear(&world, &engine);
	return value;
}

/* Runs within one start of a VM do not tell how starts differ: two starts are two values, ten are ten. */
static void test_vm_starts(void **state)
{
	struct stat_interval two = by_starts(2), ten = by_starts(10);

	(void)state;
	/* Two means 5 % apart: +- t(.05, 1) x .05 / 2 on logs, which is 32 %. */
	assert_true(two.high / two.estimate > 1.3);
	/* Ten of them: +- 2.26 x .026 / sqrt(10). */
	assert_near(ten.high / ten.estimate, 1.019, .003);
}

/* Too noisy to know: it is told, and more time would help. */
static void test_unsure(void **state)
{
	struct study_engine *engine;
	struct study_verdict is, more;
	struct world world;

	(void)state;
	world_make(&world, TWO);
	world.effects = (const double[]){0, -.01, -.012, 0, .005};
	world.noise = .04;
	assert_int_equal(world_play(&world, false, &engine).what, STUDY_SPENT);
	judge(&world, engine, &is);
	assert_false(is.picks[STUDY_FASTEST].sure);
	assert_true(is.picks[STUDY_FASTEST].outlook.bad > .02);
	assert_true(is.picks[STUDY_FASTEST].outlook.gain > .0005);
	assert_true(is.picks[STUDY_FASTEST].outlook.gain <= is.picks[STUDY_FASTEST].outlook.regret_mean);
	assert_near(is.minutes, 96, 1e-9);
	assert_int_equal(is.picks[STUDY_EFFICIENT].config, -1);
	assert_non_null(is.picks[STUDY_EFFICIENT].why);
	/* Three times as many runs more of each, and less regret is expected. */
	for (int i = 0; i < 48; i++)
		for (size_t c = 0; c < world.matrix.count; c++)
			world_run(&world, (int)c, STUDY_CHOOSE);
	judge(&world, engine, &more);
	assert_true(more.picks[STUDY_FASTEST].outlook.regret_mean < is.picks[STUDY_FASTEST].outlook.regret_mean);
	world_clear(&world, &engine);
}

/* Is this pick unsure, for a reason that says so, and without odds where there are none? */
static void assert_unsure(const struct study_picked *pick, const char *why, bool odds)
{
	assert_true(pick->config >= 0);
	assert_false(pick->sure);
	if (!pick->unsure || !strstr(pick->unsure, why))
		fail_msg("\"%s\" has no \"%s\"", pick->unsure ? pick->unsure : "(none)", why);
	assert_int_equal(isfinite(pick->outlook.bad), odds);
	assert_int_equal(isfinite(pick->outlook.regret_mean), odds);
	assert_int_equal(isfinite(pick->outlook.regret_95), odds);
}

/* Stopped at any point before its least runs, a study is sure of nothing, and of too few runs it tells no odds. */
static void test_stopped(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct study_answer answer;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, TWO BOTH);
	world.effects = times;
	world.energy = energies;
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	/* One configuration, however often. */
	for (int i = 0; i < 6; i++)
		world_run(&world, 0, STUDY_CHOOSE);
	judge(&world, engine, &is);
	for (size_t i = 0; i < STUDY_QUIET; i++)
		assert_unsure(&is.picks[i], "5 of 6 configurations were not measured", false);
	assert_true(is.few[STUDY_TIME] && isnan(is.rows[0].good[STUDY_TIME]) && isnan(is.rows[0].dominated));
	/* All but one, many times: still the one may be the best. */
	for (int i = 0; i < 6; i++)
		for (int c = 1; c < 5; c++)
			world_run(&world, c, STUDY_CHOOSE);
	judge(&world, engine, &is);
	assert_unsure(&is.picks[STUDY_FASTEST], "1 of 6 configurations was not measured", false);
	/* Whole blocks: 1 and 2 are too few, 3 and 4 are fewer than the least of 5. */
	for (int block = 1; block <= 4; block++) {
		world_run(&world, 5, STUDY_CHOOSE);
		judge(&world, engine, &is);
		assert_unsure(&is.picks[STUDY_FASTEST], block < 3 ? "too few runs" : "stopped after", block >= 3);
		assert_unsure(&is.picks[STUDY_NEAR], block < 3 ? "too few runs" : "stopped after", block >= 3);
		assert_int_equal(study_answer(engine, 0, world.seen, world.count, &answer, &err), 0);
		assert_false(answer.sure);
		assert_string_equal(answer.unsure, is.picks[STUDY_FASTEST].unsure);
	}
	world_run(&world, 5, STUDY_CHOOSE);
	judge(&world, engine, &is);
	assert_true(is.picks[STUDY_FASTEST].sure && !is.picks[STUDY_FASTEST].unsure && is.picks[STUDY_NEAR].sure);
	world_clear(&world, &engine);
}

/* never is fastest, and its load watts break the limit. */
static void test_load_limit(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct study_step step;
	struct world world;

	(void)state;
	world_make(&world, TWO "objectives: [time, {load-watts: 136 W}]\n");
	world.effects = times;
	world.energy = energies;
	step = world_play(&world, false, &engine);
	/* exp(9) / 60 = 135.05 W at the baseline, 142 with never, 110 with madvise. */
	assert_string_equal(name_of(&world, step.incumbent), "a=madvise b=1");
	judge(&world, engine, &is);
	assert_string_equal(name_of(&world, is.picks[STUDY_FASTEST].config), "a=madvise b=1");
	assert_true(is.picks[STUDY_FASTEST].sure);
	for (size_t i = 0; i < is.row_count; i++)
		assert_int_equal(is.rows[i].allowed, study_levels(&world.matrix, (size_t)is.rows[i].config)[0] < 2 &&
							 is.rows[i].value[STUDY_LOAD_WATTS].estimate <= 136);
	world_clear(&world, &engine);
	/* None keeps it: nothing is picked, which is said. */
	world_make(&world, TWO "objectives: [time, {load-watts: 20 W}]\n");
	world.effects = times;
	world.energy = energies;
	assert_int_equal(world_play(&world, false, &engine).incumbent, -1);
	judge(&world, engine, &is);
	assert_int_equal(is.picks[STUDY_FASTEST].config, -1);
	assert_non_null(strstr(is.picks[STUDY_FASTEST].why, "limits"));
	world_clear(&world, &engine);
}

/* ---- idle watts ---- */

static size_t windows(const struct world *world, int config)
{
	size_t n = 0;

	for (size_t i = 0; i < world->count; i++)
		n += world->seen[i].purpose == STUDY_IDLE && (config < 0 || world->seen[i].config == config);
	return n;
}

/* Two are as good in time; the one that idles lower is picked for it, after windows of the finalists alone. */
static void test_idle_wish(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;

	(void)state;
	world_make(&world, TWO "objectives: [time, idle-watts]\nwithin: 2 %\n");
	world.effects = (const double[]){0, -.10, -.103, 0, .05};
	world.energy = energies;
	world.idle = (const double[]){0, 3, 25, 0, 0};
	assert_int_equal(world_play(&world, true, &engine).what, STUDY_DONE);
	/* The baseline, and two finalists between windows of it. */
	assert_int_equal(windows(&world, -1), 5);
	assert_int_equal(windows(&world, (int)world.matrix.baseline), 3);
	judge(&world, engine, &is);
	assert_string_equal(name_of(&world, is.picks[STUDY_QUIET].config), "a=always b=1");
	assert_int_equal(is.idle_count, 3);
	assert_int_equal(is.idles[0].config, world.matrix.baseline);
	for (size_t i = 0; i < is.idle_count; i++) {
		assert_holds(is.idles[i].watts, world_idle(&world, is.idles[i].config));
		assert_false(is.idles[i].left);
		if (i)
			assert_holds(is.idles[i].over, world_idle(&world, is.idles[i].config) - 100);
	}
	/* Of never: 25 W more at idle; a run takes .103 less on logs of time, .05 more of energy: it never pays. */
	assert_true(is.break_even_s == 0 || isnan(is.break_even_s));
	world_clear(&world, &engine);
}

/* A limit of idle watts: on down the list until one keeps it. */
static void test_idle_limit(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct study_step step;
	struct world world;

	(void)state;
	world_make(&world, TWO "objectives: [time, {idle-watts: 99 W}]\n");
	world.effects = times;
	world.idle = (const double[]){0, 5, 25, 0, -5};
	step = world_play(&world, false, &engine);
	/* In the order of time: never 1 (125 W), never 60 (120), madvise 1 (105), always 1 (100), madvise 60 (100),
	 * always 60 (95). */
	assert_string_equal(name_of(&world, step.incumbent), "a=always b=60");
	judge(&world, engine, &is);
	assert_string_equal(name_of(&world, is.picks[STUDY_FASTEST].config), "a=always b=60");
	assert_int_equal(study_verdict_row(&is, step.incumbent)->keeps[STUDY_IDLE_WATTS], STUDY_KEEPS);
	world_clear(&world, &engine);
}

#define TUNED                                                                                                          \
	"study: s\nworkloads: {w: make}\nruns: [5, 16]\nconfirm: no\nobjectives: [time, idle-watts]\nfactors:\n"       \
	"  p: {knob: tuned.profile, levels: [balanced, virtual-host, throughput-performance]}\n"
#define BOOTED "  m: {knob: boot.mitigations, levels: [auto, off]}\n"

/* Study A: virtual-host draws 89 W more, and 75 of them stay after it was left. */
static void test_trace(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;

	(void)state;
	world_make(&world, TUNED);
	world.effects = (const double[]){0, -.10, -.05};
	world.idle = (const double[]){0, 89, 14};
	world.trace = (const double[]){0, 75, 0};
	/* The traces of the runs before the windows are gone by a boot that somebody made. */
	(void)world_play(&world, false, &engine);
	for (size_t i = 0; i < world.count; i++)
		if (world.seen[i].purpose == STUDY_IDLE) {
			world.count = i;
			break;
		}
	world.boots++;
	world.before = -1;
	world.drawn = 0;
	(void)world_go_on(&world, engine);
	judge(&world, engine, &is);
	assert_int_equal(is.idle_count, 2);
	assert_string_equal(name_of(&world, is.idles[1].config), "p=virtual-host");
	assert_true(is.idles[1].left);
	assert_near(is.idles[1].trace.estimate, 75, .7);
	assert_true(is.idles[1].trace.low > 70 && is.idles[1].trace.high < 80);
	/* The baseline is what it was before, not what the trace made of it. */
	assert_holds(is.idles[0].watts, 100);
	assert_int_equal(is.idles[0].windows, 1);
	assert_holds(is.idles[1].over, 89);
	assert_int_equal(is.picks[STUDY_QUIET].config, world.matrix.baseline);
	world_clear(&world, &engine);
}

/* With boots each window has its own, so that the traces are shown and spoil nothing. */
static void test_own_boots(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;
	int boot = -1;

	(void)state;
	world_make(&world, TUNED BOOTED);
	world.effects = (const double[]){0, -.10, -.097, 0, 0};
	world.idle = (const double[]){0, 89, 14, 0, 0};
	world.trace = (const double[]){0, 75, 0, 0, 0};
	(void)world_play(&world, true, &engine);
	judge(&world, engine, &is);
	assert_true(is.idle_count >= 3);
	for (size_t i = 0; i < is.idle_count; i++)
		assert_holds(is.idles[i].watts, world_idle(&world, is.idles[i].config));
	for (size_t i = 0; i < world.count; i++) {
		if (world.seen[i].purpose != STUDY_IDLE)
			continue;
		/* But for the baseline right after another one. */
		if (world.seen[i].boot == boot)
			assert_int_equal(world.seen[i].config, world.matrix.baseline);
		boot = world.seen[i].boot;
	}
	world_clear(&world, &engine);
}

/* Without a meter all else goes on, and why there are no watts is told. */
static void test_no_meter(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct study_step step;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, TWO "objectives: [time, {idle-watts: 50 W}]\n");
	world.effects = times;
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	study_engine_no_idle(engine, "not measurable here");
	step = world_go_on(&world, engine);
	assert_int_equal(step.what, STUDY_DONE);
	assert_string_equal(name_of(&world, step.incumbent), "a=never b=1");
	assert_int_equal(windows(&world, -1), 0);
	judge(&world, engine, &is);
	assert_string_equal(is.idle_why, "not measurable here");
	assert_string_equal(name_of(&world, is.picks[STUDY_FASTEST].config), "a=never b=1");
	world_clear(&world, &engine);
	/* Alone it is not answerable. */
	world_make(&world, TWO "objectives: [idle-watts]\n");
	world.effects = times;
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	study_engine_no_idle(engine, "not measurable here");
	assert_int_equal(study_next(engine, world.seen, 0, 0, 0, &step, &err), -ENODATA);
	assert_non_null(strstr(err.what, "not measurable here"));
	world_clear(&world, &engine);
}

/* Nothing else sought: every configuration, and no run. */
static void test_idle_only(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct study_step step;
	struct world world;

	(void)state;
	world_make(&world, TWO "objectives: [idle-watts]\n");
	world.effects = times;
	world.idle = (const double[]){0, -12, 25, 0, -3};
	step = world_play(&world, true, &engine);
	assert_int_equal(step.what, STUDY_DONE);
	assert_string_equal(name_of(&world, step.incumbent), "a=madvise b=60");
	assert_int_equal(windows(&world, -1), world.count);
	judge(&world, engine, &is);
	assert_string_equal(name_of(&world, is.picks[STUDY_QUIET].config), "a=madvise b=60");
	assert_true(is.picks[STUDY_QUIET].sure);
	assert_int_equal(is.idle_count, world.matrix.count);
	world_clear(&world, &engine);
}

/* The time is over: windows are still measured, runs are not. */
static void test_hurry(void **state)
{
	struct study_engine *engine;
	struct study_step step;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, TWO "objectives: [time, idle-watts]\n");
	world.effects = times;
	world.idle = (const double[]){0, -12, 25, 0, -3};
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	for (size_t c = 0; c < world.matrix.count; c++)
		world_run(&world, (int)c, STUDY_CHOOSE);
	assert_true(study_idle_seconds(engine, world.seen, world.count) >= 150);
	study_engine_hurry(engine);
	step = world_go_on(&world, engine);
	assert_int_equal(step.what, STUDY_SPENT);
	assert_true(step.cut);
	assert_string_equal(name_of(&world, step.incumbent), "a=never b=1");
	assert_true(windows(&world, -1) >= 3);
	assert_int_equal(windows(&world, -1) + world.matrix.count, world.count);
	world_clear(&world, &engine);
}

/* ---- shares ---- */

#define LEVERS                                                                                                         \
	"study: s\nworkloads: {w: make}\nconfirm: no\nruns: 6\nfactors:\n  a: {knob: thp, levels: [always, never]}\n"  \
	"  b: {knob: swappiness, levels: [1, 60]}\n  c: {knob: numa_balancing, levels: [0, 1]}\n"

static const double levers[] = {0, -.10, 0, -.04, 0, .002};

static const struct study_lever *lever_of(const struct study_shares *shares, size_t factor)
{
	for (size_t i = 0; i < shares->count; i++)
		if (shares->levers[i].factor == factor)
			return &shares->levers[i];
	fail_msg("factor %zu has no share", factor);
	return NULL;
}

static void test_one_by_one(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct study_step step;
	struct world world;

	(void)state;
	world_make(&world, LEVERS "design: one-by-one\n");
	world.effects = levers;
	step = world_play(&world, false, &engine);
	assert_int_equal(step.what, STUDY_DONE);
	/* It has an answer too: the best of what was measured. */
	assert_string_equal(name_of(&world, step.incumbent), "a=never b=60 c=0");
	judge(&world, engine, &is);
	const struct study_shares *shares = &is.shares[STUDY_TIME];

	/* Of three levers these are all corners. */
	assert_int_equal(shares->by, STUDY_SHARES_SHAPLEY);
	assert_int_equal(shares->count, 3);
	assert_int_equal(shares->levers[0].factor, 0);
	assert_int_equal(shares->levers[1].factor, 1);
	for (size_t f = 0; f < 3; f++)
		assert_holds(lever_of(shares, f)->share, exp(levers[2 * f + 1]));
	assert_true(lever_of(shares, 2)->equivalent);
	assert_false(lever_of(shares, 0)->equivalent);
	assert_holds(shares->total, exp(-.138));
	assert_true(shares->attributable);
	assert_near(shares->end / shares->start, exp(-.138), .01);
	world_clear(&world, &engine);
}

/* Four levers one by one: only the ends are measured, and what all of them do together is left over and told. */
static void test_residual(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;

	(void)state;
	world_make(&world, LEVERS "  d: {knob: dirty_ratio, levels: [20, 40]}\ndesign: one-by-one\n");
	world.effects = (const double[]){0, -.10, 0, -.04, 0, .002, 0, -.02};
	world.meet = -.05;
	(void)world_play(&world, false, &engine);
	judge(&world, engine, &is);
	const struct study_shares *shares = &is.shares[STUDY_TIME];

	assert_int_equal(shares->by, STUDY_SHARES_ENDS);
	assert_int_equal(shares->count, 4);
	assert_null(shares->chain);
	/* Each last in has all of the -.05, each share half of it: four halves are one too many. */
	assert_holds(lever_of(shares, 0)->share, exp(-.10 - .025));
	assert_holds(shares->residual, exp(.05));
	assert_false(shares->attributable);
	assert_near(lever_of(shares, 0)->least, exp(-.15), .01);
	assert_near(lever_of(shares, 0)->most, exp(-.10), .01);
	assert_near(lever_of(shares, 0)->alone, exp(-.10), .01);
	world_clear(&world, &engine);
}

/* Two gain and two cost: together the two that gain are no corner of the 2k + 2, and should be the best. */
static void test_together(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;

	(void)state;
	world_make(&world, LEVERS "  d: {knob: dirty_ratio, levels: [20, 40]}\ndesign: one-by-one\n");
	world.effects = (const double[]){0, -.10, 0, .06, 0, -.05, 0, .04};
	(void)world_play(&world, false, &engine);
	judge(&world, engine, &is);
	assert_string_equal(name_of(&world, is.picks[STUDY_FASTEST].config), "a=never b=1 c=1 d=40");
	assert_string_equal(name_of(&world, is.together), "a=never b=1 c=1 d=20");
	assert_near(is.together_ratio, exp(-.15), .01);
	world_clear(&world, &engine);
	/* All gain: all on was measured. */
	world_make(&world, LEVERS "  d: {knob: dirty_ratio, levels: [20, 40]}\ndesign: one-by-one\n");
	world.effects = (const double[]){0, -.10, 0, -.06, 0, -.05, 0, -.04};
	(void)world_play(&world, false, &engine);
	judge(&world, engine, &is);
	assert_int_equal(is.together, -1);
	world_clear(&world, &engine);
}

/* All corners: the Shapley values, their range over orders, and a chain whose steps make up the whole. */
static void test_full_shares(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;
	double product = 1, chain = 1;

	(void)state;
	world_make(&world, LEVERS "design: full\n");
	world.effects = (const double[]){0, -.10, 0, -.04, 0, -.02};
	world.meet = -.03;
	(void)world_play(&world, false, &engine);
	judge(&world, engine, &is);
	const struct study_shares *shares = &is.shares[STUDY_TIME];

	assert_int_equal(shares->by, STUDY_SHARES_SHAPLEY);
	for (size_t i = 0; i < shares->count; i++) {
		const struct study_lever *lever = &shares->levers[i];

		/* A third of what all three do together. */
		assert_holds(lever->share, exp(world.effects[2 * lever->factor + 1] - .01));
		assert_true(lever->least <= lever->share.estimate && lever->share.estimate <= lever->most);
		product *= lever->share.estimate;
		chain *= shares->chain[i].step;
	}
	assert_near(product, shares->end / shares->start, 1e-9);
	assert_near(chain, shares->end / shares->start, 1e-9);
	assert_int_equal(shares->chain[2].config, shares->config);
	assert_holds(shares->total, exp(-.19));
	world_clear(&world, &engine);
}

#define RACE                                                                                                           \
	"study: s\nworkloads: {w: make}\nconfirm: no\ndesign: race\nfactors:\n"                                        \
	"  a: {knob: thp, levels: [always, never]}\n  b: {knob: swappiness, levels: [1, 60]}\n"                        \
	"  c: {knob: numa_balancing, levels: [0, 1]}\n  d: {knob: dirty_ratio, levels: [20, 40]}\n"

static void test_race_shares(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;

	(void)state;
	world_make(&world, RACE BOTH);
	world.effects = (const double[]){0, -.10, 0, -.04, 0, .03, 0, -.02};
	world.energy = (const double[]){0, .10, 0, -.04, 0, .03, 0, -.02};
	assert_int_equal(world_play(&world, false, &engine).what, STUDY_DONE);
	judge(&world, engine, &is);
	assert_string_equal(name_of(&world, is.picks[STUDY_FASTEST].config), "a=never b=60 c=0 d=40");
	assert_string_equal(name_of(&world, is.picks[STUDY_EFFICIENT].config), "a=always b=60 c=0 d=40");
	assert_int_equal(is.shares[STUDY_TIME].by, STUDY_SHARES_MODEL);
	assert_holds(lever_of(&is.shares[STUDY_TIME], 0)->share, exp(-.10));
	assert_holds(lever_of(&is.shares[STUDY_TIME], 1)->share, exp(-.04));
	assert_holds(lever_of(&is.shares[STUDY_ENERGY], 1)->share, exp(-.04));
	assert_true(is.picks[STUDY_FASTEST].outlook.regret_mean < .005);
	for (size_t i = 0; i < is.row_count; i++)
		assert_true(is.rows[i].runs > 0);
	world_clear(&world, &engine);
}

/* A race that is stopped says which part of its rule is not met, and its best is one that was measured. */
static void test_race_stopped(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct study_answer answer;
	struct world world;
	struct err err = {0};
	size_t all;

	(void)state;
	world_make(&world, RACE BOTH);
	world.effects = (const double[]){0, -.10, 0, -.04, 0, .03, 0, -.02};
	world.energy = (const double[]){0, .10, 0, -.04, 0, .03, 0, -.02};
	assert_int_equal(world_play(&world, false, &engine).what, STUDY_DONE);
	judge(&world, engine, &is);
	for (size_t i = 0; i < STUDY_QUIET; i++)
		assert_int_equal(is.picks[i].sure, !is.picks[i].unsure);
	assert_true(is.picks[STUDY_FASTEST].sure);
	all = world.count;
	for (world.count = 1; world.count < all; world.count++) {
		study_engine_free(&engine);
		assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
		assert_int_equal(study_answer(engine, 0, world.seen, world.count, &answer, &err), 0);
		judge(&world, engine, &is);
		assert_true(answer.incumbent >= 0);
		/* What is told of the target is what is picked for it, with the same odds and the same word. */
		assert_int_equal(is.picks[STUDY_FASTEST].config, answer.incumbent);
		assert_non_null(study_verdict_row(&is, answer.incumbent));
		assert_int_equal(answer.sure, !answer.unsure);
		assert_int_equal(is.picks[STUDY_FASTEST].sure, answer.sure);
		if (world.count < 4) {
			assert_unsure(&is.picks[STUDY_FASTEST], "too few runs", false);
			assert_unsure(&is.picks[STUDY_KNEE], "too few runs", false);
		}
		if (isfinite(is.picks[STUDY_FASTEST].outlook.bad))
			assert_true(is.picks[STUDY_FASTEST].outlook.regret_95 >=
				    is.picks[STUDY_FASTEST].outlook.regret_mean);
	}
	assert_unsure(&is.picks[STUDY_NEAR], "has not met its rule", true);
	world_clear(&world, &engine);
}

/* ---- what cannot be measured ---- */

/* One hangs whenever it is tried: it is given up after four tries, and the others are compared without it. */
static void test_given_up(void **state)
{
	static const char *const designs[] = {TWO, LEVERS "design: one-by-one\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct study_engine *engine;
		struct study_verdict is;
		struct study_step step;
		struct world world;
		int tries = 0;

		world_make(&world, designs[i]);
		world.effects = i ? levers : times;
		world.broken = (int)world.matrix.count - 1;
		step = world_play(&world, true, &engine);
		assert_int_equal(step.what, STUDY_DONE);
		for (size_t s = 0; s < world.count; s++)
			tries += world.seen[s].config == world.broken;
		assert_int_equal(tries, STUDY_MOST_VOID);
		judge(&world, engine, &is);
		assert_true(study_verdict_row(&is, world.broken)->given_up);
		assert_int_equal(study_verdict_row(&is, world.broken)->voids, STUDY_MOST_VOID);
		assert_int_equal(is.voids, STUDY_MOST_VOID);
		assert_true(is.picks[STUDY_FASTEST].config != world.broken && is.picks[STUDY_FASTEST].config >= 0);
		/* Its share of one-by-one cannot be told, which is said. */
		if (i)
			assert_non_null(is.shares[STUDY_TIME].why);
		world_clear(&world, &engine);
	}
}

static void test_nothing(void **state)
{
	struct study_engine *engine;
	struct study_verdict is;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, TWO);
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	assert_int_equal(study_verdict(engine, world.seen, 0, NULL, &is, &err), -ENODATA);
	world_clear(&world, &engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_picks),      cmocka_unit_test(test_vm_starts),    cmocka_unit_test(test_unsure),
	    cmocka_unit_test(test_load_limit), cmocka_unit_test(test_idle_wish),    cmocka_unit_test(test_idle_limit),
	    cmocka_unit_test(test_trace),      cmocka_unit_test(test_own_boots),    cmocka_unit_test(test_no_meter),
	    cmocka_unit_test(test_idle_only),  cmocka_unit_test(test_hurry),	    cmocka_unit_test(test_one_by_one),
	    cmocka_unit_test(test_residual),   cmocka_unit_test(test_full_shares),  cmocka_unit_test(test_race_shares),
	    cmocka_unit_test(test_given_up),   cmocka_unit_test(test_together),	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_stopped),    cmocka_unit_test(test_race_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
