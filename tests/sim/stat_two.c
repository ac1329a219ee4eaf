/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the simulation of comparisons: false alarms and power of paired t in random blocks under drift, the sequential
 * comparison and the confidence sequence, and geometric means.
 *
 * usage: stat_two [--reps N]     (20000)
 */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "stat_cases.h"
#include "stat_geomean.h"
#include "stat_sequential.h"

enum { MOST = 60 };

static struct judge judge;

/* d of one more block: A and B in random order, B `effect` more. */
static double block(struct series *series, double effect)
{
	bool b_first = gsl_rng_uniform(series->random) < .5;
	double first = series_next(series), second = series_next(series);

	return log(b_first ? first / second : second / first) + log1p(effect);
}

/* ---- 2.1: eight blocks ---- */

static void fixed_blocks(long reps)
{
	enum { N = 8, STATED = 20000 };
	static const struct {
		enum source source;
		double alarms, power;
	} rows[] = {{NORMAL_1, 4.9, 40},   {OU_20, 5.0, 87},	   {OU_5, 5.0, 74},    {LINEAR, 5.1, 41},
		    {BOOT_A_RUN, 5.2, 34}, {FLOOR_EXP_1, 4.2, 50}, {BIMODAL, 3.3, 20}, {OUTLIERS, 2.6, 19}};
	char what[96];

	printf("  2.1 paired t on ln ratios, random blocks, n 8: alarms and power at +1 %%\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(100 + row);
		long hits[2] = {0};

		for (long rep = 0; rep < 2 * reps; rep++) {
			struct series series = series_begin(rows[row].source, random);
			struct stat_compare compare;
			double d[N];

			for (int i = 0; i < N; i++)
				d[i] = block(&series, rep & 1 ? .01 : 0);
			(void)stat_compare_logs(d, N, STAT_ALPHA, STAT_MARGIN, &compare, NULL);
			hits[rep & 1] += compare.differs;
		}
		(void)snprintf(what, sizeof(what), "alarms, %s", source_names[rows[row].source]);
		judge_percent(&judge, what, hits[0], reps, rows[row].alarms, STATED, .1);
		(void)snprintf(what, sizeof(what), "power, %s", source_names[rows[row].source]);
		judge_percent(&judge, what, hits[1], reps, rows[row].power, STATED, 1);
		gsl_rng_free(random);
	}
}

/* One after the other under slow drift: why blocks. */
static void one_after_the_other(long reps)
{
	enum { N = 8 };
	gsl_rng *random = random_of(150);
	long hits = 0;

	for (long rep = 0; rep < reps; rep++) {
		struct series series = series_begin(OU_20, random);
		struct stat_welch welch;
		double x[2 * N];

		for (int i = 0; i < 2 * N; i++)
			x[i] = log(series_next(&series));
		(void)stat_welch(x, N, x + N, N, STAT_ALPHA, &welch, NULL);
		hits += welch.p <= STAT_ALPHA;
	}
	judge_percent(&judge, "Welch, A..AB..B, OU drift, 20", hits, reps, 34.3, 20000, .1);
	gsl_rng_free(random);
}

/* ---- 2.3: looking after each block ---- */

/*
 * Blocks until a look decides, or the cap, or `most`. What stat_sequential_look does, without its rank tests, which
 * take most of its time; the last look is a whole one.
 */
static int blocks_to_end(double (*next)(void *of), void *of, const struct stat_sequential *plan, int most,
			 struct stat_compare *ret_compare)
{
	double d[MOST], theta = log1p(plan->margin);
	enum stat_stop stop;
	int n = 0;

	most = plan->cap ? MIN_OF(plan->cap, most) : most;
	while (n < most) {
		struct stat_interval is;

		d[n++] = next(of);
		if (n < plan->first)
			continue;
		is = plan->cap ? stat_t_interval(d, n, plan->nominal)
			       : stat_sequence_interval(d, n, STAT_SEQUENCE_G, plan->nominal);
		if (is.low > 0 || is.high < 0 || (is.low > -theta && is.high < theta))
			break;
	}
	(void)stat_sequential_look(plan, d, n, &stop, ret_compare, NULL);
	return n;
}

static double next_block(void *of)
{
	return block(of, 0);
}

/* Lognormal values on their own scale: on logs they are normal, and no test of the rule. */
static double next_difference(void *of)
{
	double first = series_next(of);

	return series_next(of) - first;
}

struct plain {
	gsl_rng *random;
	double effect, sd;
};

static double next_plain(void *of)
{
	const struct plain *plain = of;

	return log1p(plain->effect) + gsl_ran_gaussian_ziggurat(plain->random, plain->sd);
}

/* A margin that nothing keeps: only differences end it, as in the table of alarms. */
#define NO_MARGIN 1e-12

static void sequential_alarms(long reps)
{
	enum { STATED = 60000 };
	static const struct {
		enum source source;
		int cap;
		double alarms;
	} rows[] = {{NORMAL_1, 16, 5.2}, {FLOOR_EXP_1, 16, 3.3}, {BIMODAL, 16, 2.4}, {OUTLIERS, 16, 2.2},
		    {OU_20, 16, 5.1},	 {LOGNORMAL_8, 16, 2.7}, {LINEAR, 16, 5.2},  {NORMAL_1, 30, 5.1}};
	char what[96];

	printf("  2.3 false alarms of the sequential comparison from five blocks\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(200 + row);
		struct stat_sequential plan;
		long hits = 0;

		(void)stat_sequential_plan(STAT_BLOCKS_FIRST, rows[row].cap, NO_MARGIN, &plan, NULL);
		for (long rep = 0; rep < reps; rep++) {
			struct series series = series_begin(rows[row].source, random);
			struct stat_compare compare;

			(void)blocks_to_end(rows[row].source == LOGNORMAL_8 ? next_difference : next_block, &series,
					    &plan, MOST, &compare);
			hits += compare.differs;
		}
		(void)snprintf(what, sizeof(what), "%s, cap %d", source_names[rows[row].source], rows[row].cap);
		judge_percent(&judge, what, hits, reps, rows[row].alarms, STATED, .1);
		gsl_rng_free(random);
	}
}

/* Every entry of the table of nominal levels: 5 % by construction on normal data. */
static void nominal_levels(long reps)
{
	static const int firsts[] = {3, 4, 5, 6, 8}, caps[] = {8, 10, 12, 16, 20, 30, 60};
	char what[96];

	printf("  2.3 each nominal level: 5 %% over all looks\n");
	for (size_t f = 0; f < ARRAY_SIZE(firsts); f++)
		for (size_t c = 0; c < ARRAY_SIZE(caps); c++) {
			gsl_rng *random = random_of(300 + 10 * f + c);
			struct stat_sequential plan;
			double critical[MOST + 1];
			long hits = 0;

			(void)stat_sequential_plan(firsts[f], caps[c], STAT_MARGIN, &plan, NULL);
			for (int n = 2; n <= MOST; n++)
				critical[n] = stat_t_critical(plan.nominal, n - 1);
			for (long rep = 0; rep < reps; rep++) {
				double sum = 0, squares = 0;

				for (int n = 1; n <= plan.cap; n++) {
					double z = gsl_ran_gaussian_ziggurat(random, 1), sd;

					sum += z;
					squares += z * z;
					if (n < plan.first)
						continue;
					sd = sqrt(fmax(0, squares - sum * sum / n) / (n - 1));
					if (fabs(sum) > critical[n] * sd * sqrt(n)) {
						hits++;
						break;
					}
				}
			}
			(void)snprintf(what, sizeof(what), "first %d, cap %d, nominal %.4f", firsts[f], caps[c],
				       plan.nominal);
			judge_percent(&judge, what, hits, reps, 5, 60000, .3);
			gsl_rng_free(random);
		}
}

/* The sequence under a look after every block up to 60, and blocks to a verdict for both. */
static void blocks_to_verdict(long reps)
{
	enum { STATED = 60000 };
	static const struct {
		double sd, effect, capped, open;
	} rows[] = {{.005, 0, 6.6, 7.1},  {.005, .01, 6.0, 6.4},  {.01, 0, 14.3, 17.4},
		    {.01, .02, 6.0, 6.4}, {.02, .02, 11.3, 13.4}, {.01, .05, 5.0, 4.6}};
	char what[96];

	printf("  2.3 blocks to a verdict, margin 1 %%, at most 30\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++)
		for (int open = 0; open < 2; open++) {
			gsl_rng *random = random_of(400 + 2 * row + (unsigned)open);
			struct stat_sequential plan;
			double sum = 0, squares = 0;

			(void)stat_sequential_plan(STAT_BLOCKS_FIRST, 30, STAT_MARGIN, &plan, NULL);
			if (open) {
				plan = stat_sequential_open(&plan);
				plan.first = 4; /* below, its interval is unbounded anyway */
			}
			for (long rep = 0; rep < reps; rep++) {
				struct stat_compare compare;
				struct plain plain = {random, rows[row].effect, rows[row].sd};
				int n = blocks_to_end(next_plain, &plain, &plan, 30, &compare);

				sum += n;
				squares += (double)n * n;
			}
			(void)snprintf(what, sizeof(what), "%s, sd %g %%, +%g %%", open ? "sequence" : "capped",
				       rows[row].sd * 100, rows[row].effect * 100);
			judge_mean(&judge, what, sum, squares, reps, open ? rows[row].open : rows[row].capped, STATED,
				   .1);
			gsl_rng_free(random);
		}
}

static void sequence_alarms(long reps)
{
	static const enum source sources[] = {NORMAL_1, OU_20, FLOOR_EXP_1, BIMODAL};
	char what[96];

	printf("  2.3 false alarms of the confidence sequence, looked at up to 60 blocks: stated 1.7-3.0 %%\n");
	for (size_t s = 0; s < ARRAY_SIZE(sources); s++) {
		gsl_rng *random = random_of(500 + s);
		struct stat_sequential plan;
		long hits = 0;

		(void)stat_sequential_plan(4, 0, NO_MARGIN, &plan, NULL);
		for (long rep = 0; rep < reps; rep++) {
			struct series series = series_begin(sources[s], random);
			struct stat_compare compare;

			(void)blocks_to_end(next_block, &series, &plan, MOST, &compare);
			hits += compare.differs;
		}
		(void)snprintf(what, sizeof(what), "%s", source_names[sources[s]]);
		judge_most(&judge, what, hits, reps, 3.0);
		gsl_rng_free(random);
	}
}

/* ---- 5.1: geometric means ---- */

static void geomeans(long reps)
{
	enum { WORKLOADS = 50, BLOCKS = 8 };
	static const struct {
		int workloads, blocks;
	} rows[] = {{5, 5}, {10, 8}, {20, 5}, {50, 8}};
	char what[96];

	printf("  5.1 geometric means: coverage of these workloads (94.7-95.3) and of those like them (94.6-95.2)\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(600 + row);
		long these = 0, alike = 0, crossed = 0;
		double half[2] = {0}, squares[2] = {0};

		for (long rep = 0; rep < reps; rep++) {
			double d[WORKLOADS][BLOCKS], truth = 0;
			struct stat_workload workloads[WORKLOADS];
			struct stat_geomean is;

			for (int w = 0; w < rows[row].workloads; w++) {
				double effect = .02 + gsl_ran_gaussian_ziggurat(random, .06);
				/* Of mean square .02^2. */
				double sd = .02 * exp(gsl_ran_gaussian_ziggurat(random, .3) - .09);

				truth += effect / rows[row].workloads;
				for (int b = 0; b < rows[row].blocks; b++)
					d[w][b] = effect + gsl_ran_gaussian_ziggurat(random, sd);
				workloads[w] = (struct stat_workload){d[w], rows[row].blocks, 1};
			}
			(void)stat_geomean(workloads, rows[row].workloads, STAT_ALPHA, &is, NULL);
			these += log(is.these.low) <= truth && truth <= log(is.these.high);
			alike += log(is.alike.low) <= .02 && .02 <= log(is.alike.high);
			crossed += log(is.these.low) <= .02 && .02 <= log(is.these.high);
			for (int i = 0; i < 2; i++) {
				double width = 100 * (log(i ? is.alike.high : is.these.high) - is.mean);

				half[i] += width;
				squares[i] += width * width;
			}
		}
		(void)snprintf(what, sizeof(what), "these, %d workloads x %d", rows[row].workloads, rows[row].blocks);
		judge_percent(&judge, what, these, reps, 95, 20000, .6);
		(void)snprintf(what, sizeof(what), "alike, %d workloads x %d", rows[row].workloads, rows[row].blocks);
		judge_percent(&judge, what, alike, reps, 94.9, 20000, .6);
		judge_most(&judge, "  these for those alike", crossed, reps, 44);
		if (rows[row].workloads == WORKLOADS) {
			judge_mean(&judge, "  these, half width %", half[0], squares[0], reps, .20, 20000, .02);
			judge_mean(&judge, "  alike, half width %", half[1], squares[1], reps, 1.71, 20000, .02);
		}
		gsl_rng_free(random);
	}
}

int main(int argc, char **argv)
{
	long reps = reps_of(argc, argv, 20000);

	fixed_blocks(reps);
	one_after_the_other(reps);
	sequential_alarms(reps);
	nominal_levels(reps);
	sequence_alarms(reps);
	blocks_to_verdict(reps);
	geomeans(reps);
	return judge_end(&judge);
}
