/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the simulation of choosing: drawn hosts of 40, 400 and 1024 configurations with boot effects, drift and noise,
 * chosen among by the model and by successive halving. Figures: how often the pick is within 1 % of the best, and the
 * minutes until then.
 *
 * usage: stat_choose [--reps N]     (200 hosts of 40 configurations, a quarter of 400, a tenth of 1024)
 */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "stat_cases.h"
#include "stat_select.h"

enum { MOST = 1024, FACTORS = 10, RUNS = 320, LEAST_HOSTS = 20 };

static struct judge judge;

/* A drawn host: the truth, and what a switch costs on it. */
struct truth {
	struct stat_space space;
	int levels[MOST * FACTORS];
	enum stat_change changes[FACTORS];
	double theta[MOST], sd[MOST]; /* ln seconds */
	int pstate;		      /* factor whose level 0 (disabled) is a boot away from the others; -1: none */
};

static double uniform(gsl_rng *random, double low, double high)
{
	return low + (high - low) * gsl_rng_uniform(random);
}

/* All combinations of the levels; the first factor slowest. */
static void factorial(struct truth *host, const int *sizes, int factors)
{
	int count = 1;

	for (int f = 0; f < factors; f++)
		count *= sizes[f];
	host->space = (struct stat_space){factors, count, host->levels, host->changes, NULL};
	for (int c = 0; c < count; c++)
		for (int f = factors - 1, rest = c; f >= 0; rest /= sizes[f--])
			host->levels[c * factors + f] = rest % sizes[f];
}

static int level(const struct truth *host, int c, int f)
{
	return host->levels[c * host->space.factors + f];
}

/* Effects of levels, of pairs of levels, and of each configuration. */
static void add_effects(struct truth *host, gsl_rng *random, double main[FACTORS][8], double pair_sd[FACTORS][FACTORS],
			double base)
{
	static double pairs[FACTORS][FACTORS][8][8];
	int factors = host->space.factors;

	for (int f = 0; f < factors; f++)
		for (int g = f + 1; g < factors; g++)
			for (int i = 0; i < 8; i++)
				for (int j = 0; j < 8; j++)
					pairs[f][g][i][j] = gsl_ran_gaussian(random, pair_sd[f][g]);
	for (int c = 0; c < host->space.count; c++) {
		host->theta[c] = log(base) + gsl_ran_gaussian(random, .0015);
		for (int f = 0; f < factors; f++) {
			host->theta[c] += main[f][level(host, c, f)];
			for (int g = f + 1; g < factors; g++)
				host->theta[c] += pairs[f][g][level(host, c, f)][level(host, c, g)];
		}
		host->sd[c] = fmin(.05, fmax(.004, .011 * exp(gsl_ran_gaussian(random, .6))));
	}
}

enum { MITIGATIONS, PSTATE, TUNED, GUEST, QUEUES };

static void tuned_and_pstate(gsl_rng *random, double main[FACTORS][8])
{
	double span = uniform(random, .02, .05), least = 1, most = 0;

	for (int i = 0; i < 5; i++) {
		main[TUNED][i] = gsl_rng_uniform(random);
		least = fmin(least, main[TUNED][i]);
		most = fmax(most, main[TUNED][i]);
	}
	for (int i = 0; i < 5; i++)
		main[TUNED][i] = (main[TUNED][i] - least) / (most - least) * span;
	/* disabled, passive, guided, active */
	main[PSTATE][0] = uniform(random, 0, .03);
	main[PSTATE][1] = uniform(random, 0, .02);
	main[PSTATE][2] = uniform(random, -.002, .002);
}

static void pair_deviations(double pair_sd[FACTORS][FACTORS], double all)
{
	for (int f = 0; f < FACTORS; f++)
		for (int g = 0; g < FACTORS; g++)
			pair_sd[f][g] = all;
}

/* Profile 0 is balanced: with the driver disabled it costs more. */
static void add_balanced(struct truth *host, gsl_rng *random)
{
	double cost = uniform(random, .02, .06);

	for (int c = 0; c < host->space.count; c++)
		if (level(host, c, PSTATE) == 0 && level(host, c, TUNED) == 0)
			host->theta[c] += cost;
}

static void bare_metal(struct truth *host, gsl_rng *random)
{
	static const int sizes[] = {2, 4, 5};
	double main[FACTORS][8] = {{0}}, pair_sd[FACTORS][FACTORS];

	factorial(host, sizes, 3);
	host->changes[MITIGATIONS] = STAT_CHANGE_HOST;
	host->changes[PSTATE] = STAT_CHANGE_HOST;
	host->changes[TUNED] = STAT_CHANGE_LIVE;
	host->pstate = PSTATE;
	pair_deviations(pair_sd, .003);
	pair_sd[PSTATE][TUNED] = .004;
	main[MITIGATIONS][1] = log1p(uniform(random, -.15, -.12));
	tuned_and_pstate(random, main);
	add_effects(host, random, main, pair_sd, 82.4);
	add_balanced(host, random);
}

static void virtual_machine(struct truth *host, gsl_rng *random)
{
	static const int sizes[] = {2, 4, 5, 2, 5};
	double main[FACTORS][8] = {{0}}, pair_sd[FACTORS][FACTORS], gain = log1p(uniform(random, -.12, -.05));

	factorial(host, sizes, 5);
	host->changes[MITIGATIONS] = STAT_CHANGE_HOST;
	host->changes[PSTATE] = STAT_CHANGE_HOST;
	host->changes[TUNED] = STAT_CHANGE_LIVE;
	host->changes[GUEST] = host->changes[QUEUES] = STAT_CHANGE_GUEST;
	host->pstate = PSTATE;
	pair_deviations(pair_sd, .003);
	pair_sd[PSTATE][TUNED] = .004;
	main[MITIGATIONS][1] = log1p(uniform(random, -.14, -.08));
	main[GUEST][1] = log1p(uniform(random, -.15, -.12));
	for (int i = 0; i < 5; i++)
		main[QUEUES][i] = gain * (1 - exp(-i)) / (1 - exp(-4));
	tuned_and_pstate(random, main);
	add_effects(host, random, main, pair_sd, 130.6);
	add_balanced(host, random);
}

static void ten_levers(struct truth *host, gsl_rng *random)
{
	static const int sizes[] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
	int order[FACTORS], large = gsl_rng_uniform(random) < .5 ? 3 : 4;
	double main[FACTORS][8] = {{0}}, pair_sd[FACTORS][FACTORS], both;

	factorial(host, sizes, FACTORS);
	for (int f = 0; f < FACTORS; f++) {
		host->changes[f] = f < 3 ? STAT_CHANGE_HOST : f < 6 ? STAT_CHANGE_GUEST : STAT_CHANGE_LIVE;
		order[f] = f;
	}
	host->pstate = -1;
	gsl_ran_shuffle(random, order, FACTORS, sizeof(int));
	for (int i = 0; i < FACTORS; i++)
		main[order[i]][1] = i < large ? -uniform(random, .02, .13) * (gsl_rng_uniform(random) < .5 ? -1 : 1)
					      : gsl_ran_gaussian(random, .003);
	pair_deviations(pair_sd, .003 / 2);
	add_effects(host, random, main, pair_sd, 100);
	both = uniform(random, .02, .05);
	for (int c = 0; c < host->space.count; c++)
		if (level(host, c, order[0]) && level(host, c, order[1]))
			host->theta[c] += both;
}

/* ---- what it costs ---- */

static double run_minutes(const void *context, int c)
{
	const struct truth *host = context;

	return (exp(host->theta[c]) + 15) / 60;
}

/* From -1 a boot. With each boot and guest start goes a warm-up run; a VM host starts its guest anew. */
static struct stat_switch change(const void *context, int from, int to)
{
	const struct truth *host = context;
	struct stat_switch is = {from < 0 ? STAT_CHANGE_HOST : STAT_CHANGE_NONE, 0};
	bool guest = host->space.factors > 3;

	for (int f = 0; from >= 0 && f < host->space.factors; f++) {
		enum stat_change needs = host->changes[f];
		int a = level(host, from, f), b = level(host, to, f);

		if (f == host->pstate && a && b)
			needs = STAT_CHANGE_LIVE;
		if (a != b && needs > is.change)
			is.change = needs;
	}
	if (is.change == STAT_CHANGE_HOST)
		is.minutes = 6 + (guest ? .75 : 0) + run_minutes(context, to);
	else if (is.change == STAT_CHANGE_GUEST)
		is.minutes = .75 + run_minutes(context, to);
	else if (is.change == STAT_CHANGE_LIVE)
		is.minutes = .25;
	return is;
}

/* ---- a study ---- */

struct study {
	struct truth *host;
	gsl_rng *random;
	struct stat_costs costs;
	struct stat_run runs[RUNS];
	int n, configuration, boot, boots;
	double effect, drift, minutes; /* of the boot and of the session, on logs */
};

static void begin(struct study *study, struct truth *host, gsl_rng *random)
{
	*study = (struct study){.host = host, .random = random, .costs = {host, change, run_minutes}};
	study->configuration = -1;
	study->drift = gsl_ran_gaussian(random, .003);
}

static double measure(struct study *study)
{
	int c = study->configuration;

	study->minutes += run_minutes(study->host, c);
	study->drift = study->drift * exp(-1. / 20) + gsl_ran_gaussian(study->random, .003 * sqrt(1 - exp(-.1)));
	return study->host->theta[c] + study->effect + study->drift +
	       gsl_ran_gaussian(study->random, study->host->sd[c]);
}

static void go(struct study *study, int c)
{
	struct stat_switch needed = change(study->host, study->configuration, c);

	study->minutes += needed.minutes;
	if (needed.change == STAT_CHANGE_HOST) {
		study->boot++;
		study->boots++;
		study->effect = gsl_ran_gaussian(study->random, .003);
	}
	study->configuration = c;
}

static void run(struct study *study, int c, int runs)
{
	go(study, c);
	for (int i = 0; i < runs && study->n < RUNS; i++)
		study->runs[study->n++] = (struct stat_run){c, study->boot, measure(study)};
}

static int by_model(struct study *study, unsigned seed, bool *ret_fell_back)
{
	const struct stat_space *space = &study->host->space;
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(space);
	struct stat_select_rule rule = STAT_SELECT_RULE;
	struct stat_choice choice = {0};
	int order[STAT_DESIGN], count;

	rule.seed = seed;
	count = stat_design(space, seed, STAT_DESIGN, order);
	stat_order_nested(&study->costs, -1, seed, order, count);
	for (int i = 0; i < count; i++)
		run(study, order[i], 1);
	for (;;) {
		struct err err = {0};

		if (stat_select(model, space, &study->costs, &rule, study->runs, study->n, study->configuration,
				study->boot, &choice, &err) < 0) {
			(void)fprintf(stderr, "%s\n", err.what);
			exit(3);
		}
		if (choice.what != STAT_SELECT_RUN)
			break;
		run(study, choice.configuration, choice.runs);
	}
	*ret_fell_back = choice.what == STAT_SELECT_FALLBACK;
	return choice.incumbent;
}

static int by_halving(struct study *study, unsigned seed)
{
	static int array[MOST], counts[MOST];
	static double means[MOST];
	struct stat_halving halving = stat_halving_begin(array, study->host->space.count);

	for (int c = 0; c < halving.count; c++)
		counts[c] = 0, means[c] = 0;
	while (halving.count > 1) {
		stat_order_nested(&study->costs, study->configuration, seed++, halving.configurations, halving.count);
		for (int i = 0; i < halving.count; i++) {
			int c = halving.configurations[i];

			go(study, c);
			for (int k = 0; k < halving.runs; k++)
				means[c] += (measure(study) - means[c]) / ++counts[c];
		}
		stat_halving_cut(&halving, means);
	}
	return halving.configurations[0];
}

/* ---- tables ---- */

/* How the noise of configurations spreads is not stated, so the stated minutes are a bound and not a figure to meet. */
#define SLACK 1.15

static const struct {
	const char *name;
	void (*draw)(struct truth *host, gsl_rng *random);
	long share; /* of the hosts asked for */
	double good, minutes, halving_good, halving_minutes;
} rows[] = {
    {"bare metal, 40", bare_metal, 1, 97.5, 174, 97.6, 229},
    {"VM, 400", virtual_machine, 4, 95.8, 390, 99.0, 2570},
    {"ten levers, 1024", ten_levers, 10, 96.0, 1060, 98.3, 6398},
};

static void table(size_t row, long hosts)
{
	static struct truth host;
	gsl_rng *random = random_of(100 + row);
	struct study study;
	double sum[2] = {0}, squares[2] = {0}, runs = 0, boots = 0;
	long good[2] = {0}, fell = 0;
	char what[96];

	for (long rep = 0; rep < hosts; rep++) {
		double best;

		rows[row].draw(&host, random);
		best = host.theta[0];
		for (int c = 1; c < host.space.count; c++)
			best = fmin(best, host.theta[c]);
		for (int method = 0; method < 2; method++) {
			bool fell_back = false;
			int pick;

			begin(&study, &host, random);
			pick = method ? by_halving(&study, (unsigned)rep) : by_model(&study, (unsigned)rep, &fell_back);
			fell += fell_back;
			good[method] += host.theta[pick] <= best + log(1.01);
			sum[method] += study.minutes;
			squares[method] += study.minutes * study.minutes;
			runs += method ? 0 : study.n;
			boots += method ? 0 : study.boots;
		}
	}
	printf("  3.2 %s: %ld hosts, %.1f runs, %.1f boots, %ld left the model\n", rows[row].name, hosts,
	       runs / (double)hosts, boots / (double)hosts, fell);
	for (int method = 0; method < 2; method++) {
		double minutes = method ? rows[row].halving_minutes : rows[row].minutes, mean;

		(void)snprintf(what, sizeof(what), "%s, within 1 %% (stated %.1f)", method ? "halving" : "model",
			       method ? rows[row].halving_good : rows[row].good);
		judge_least(&judge, what, good[method], hosts, 95);
		(void)snprintf(what, sizeof(what), "%s, minutes (stated %.0f)", method ? "halving" : "model", minutes);
		mean = sum[method] / (double)hosts;
		judge_below(&judge, what, mean,
			    sqrt(fmax(0, squares[method] / (double)hosts - mean * mean) / (double)hosts),
			    SLACK * minutes);
	}
	gsl_rng_free(random);
}

int main(int argc, char **argv)
{
	long hosts = reps_of(argc, argv, 200);

	for (size_t row = 0; row < ARRAY_SIZE(rows); row++)
		if (hosts / rows[row].share >= LEAST_HOSTS)
			table(row, hosts / rows[row].share);
	return judge_end(&judge);
}
