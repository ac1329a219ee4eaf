/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the simulation of whole studies on drawn hosts: the decision of src/study drives them as it drives real ones.
 * Judged: is the pick within 1 % of the true best, how many minutes did it take, and how often is an answer wrong that
 * is said to be sure? Beside it successive halving, and full factorials: no method of choosing is part of those, so
 * that they say whether the hosts are drawn as those of the stated figures.
 *
 * usage: study_race [--instances METAL VM LEVERS] [--seed N]      (400 150 30)
 *
 * Exit code 1 when a figure is out of its bound by more than 3.5 of its own standard errors.
 */
#include <math.h>
#include <stdio.h>

#include "sim_host.h"
#include "stat_cases.h"
#include "text.h"

#define SLACK 1.15

/* Of fewer a deviation is not known well enough to judge a mean by it. */
enum { LEAST_HOSTS = 20 };

static struct judge judge;

struct factorial {
	int runs;
	double good, minutes; /* stated */
};

static const struct race {
	const struct sim_kind *kind;
	int instances;
	double minutes;			/* stated */
	long stated;			/* hosts that the stated figures come from */
	struct factorial factorials[3]; /* runs 0: no more */
} races[] = {
    {&sim_metal, 400, 174, 1200, {{1, 66.8, 100}, {5, 89.2, 344}, {12, 95.8, 771}}},
    {&sim_vm, 150, 390, 400, {{1, 50, 1052}, {5, 84, 4340}}},
    {&sim_levers, 30, 1060, 150, {{1, 40.5, 2501}}},
};

struct sums {
	double minutes, squares;
	long good, count, sure, wrong;
};

static void add(struct sums *sums, const struct sim_host *host, int pick)
{
	sums->count++;
	sums->good += pick >= 0 && sim_regret(host, pick) <= log1p(.01);
	sums->minutes += host->minutes;
	sums->squares += host->minutes * host->minutes;
}

static double error_of(const struct sums *sums)
{
	double n = (double)sums->count, mean = sums->minutes / n;

	return sqrt(fmax(0, sums->squares / n - mean * mean) / n);
}

static void by_engine(const struct race *race, int instances, unsigned long seed)
{
	struct sums sums = {0};
	double boots = 0, restarts = 0, runs = 0;
	long left = 0;

	for (int i = 0; i < instances; i++) {
		CLEANUP(sim_host_free)
		struct sim_host *host =
		    sim_host_new(race->kind, "confirm: no\ndesign: race\n", seed + (unsigned long)i, NULL);
		struct study_answer answer = sim_study(host);

		add(&sums, host, answer.incumbent);
		sums.sure += answer.sure;
		sums.wrong += answer.sure && sim_regret(host, answer.incumbent) > log1p(.01);
		left += answer.fallback;
		boots += host->boots;
		restarts += host->restarts;
		runs += host->runs;
	}
	(void)printf("  %s: %d hosts, %.1f boots, %.1f restarts, %.0f runs, %ld left the model\n", race->kind->name,
		     instances, boots / instances, restarts / instances, runs / instances, left);
	judge_least(&judge, "the pick is within 1 % of the best", sums.good, sums.count, 95);
	judge_below(&judge, "minutes", sums.minutes / (double)sums.count, error_of(&sums), SLACK * race->minutes);
	judge_most(&judge, "of the sure answers: more than 1 % off", sums.wrong, sums.sure, 5);
	(void)fflush(stdout);
}

static void by_factorial(const struct race *race, const struct factorial *factorial, int instances, unsigned long seed)
{
	struct sums sums = {0};
	char what[64];

	for (int i = 0; i < instances; i++) {
		CLEANUP(sim_host_free)
		struct sim_host *host = sim_host_new(race->kind, "", seed + (unsigned long)i, NULL);

		add(&sums, host, sim_factorial(host, factorial->runs));
	}
	(void)snprintf(what, sizeof(what), "full factorial, runs of each: %d", factorial->runs);
	judge_percent(&judge, what, sums.good, sums.count, factorial->good, race->stated, .1);
	/* Rounded, and the share of the levers' effects that lengthens runs was not stated. */
	judge_mean(&judge, "its minutes", sums.minutes, sums.squares, sums.count, factorial->minutes, race->stated,
		   .02 * factorial->minutes);
}

int main(int argc, char **argv)
{
	unsigned long seed = 1000;
	int instances[ARRAY_SIZE(races)];

	for (size_t i = 0; i < ARRAY_SIZE(races); i++)
		instances[i] = races[i].instances;
	for (int i = 1; i < argc; i++) {
		if (text_equal(argv[i], "--seed") && i + 1 < argc) {
			seed = strtoul(argv[++i], NULL, 10);
		} else if (text_equal(argv[i], "--instances") && i + 3 < argc) {
			for (size_t j = 0; j < ARRAY_SIZE(races); j++)
				instances[j] = (int)strtol(argv[++i], NULL, 10);
		} else {
			(void)fputs("usage: study_race [--instances METAL VM LEVERS] [--seed N]\n", stderr);
			return 2;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(races); i++) {
		if (instances[i] <= 0)
			continue;
		by_engine(&races[i], instances[i], seed + 100000 * i);
		for (size_t f = 0;
		     f < ARRAY_SIZE(races[i].factorials) && races[i].factorials[f].runs && instances[i] >= LEAST_HOSTS;
		     f++)
			by_factorial(&races[i], &races[i].factorials[f], instances[i], seed + 100000 * i);
	}
	return judge_end(&judge);
}
