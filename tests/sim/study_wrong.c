/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the simulation of studies on hosts that are not as the model of the choice thinks them: they drift, have two
 * modes or heavy tails, fail to boot, hold configurations that cannot be measured, have runs that are alike in a boot
 * or that settle after a start. Judged: how many of the answers that are said to be sure are more than 1 % off the
 * best, which must not be more than the study allows (5 %).
 *
 * usage: study_wrong [--reps N]      (200 hosts of each kind)
 *
 * Exit code 1 when a share is above its bound by more than 3.5 of its standard errors.
 */
#include <math.h>
#include <stdio.h>

#include "sim_host.h"
#include "stat_cases.h"

#define STATED 5. /* %, of wrong sure answers */

static const struct {
	const char *name;
	struct sim_wrong wrong;
	double minutes; /* at most that many times those of a host as modelled */
} natures[] = {
    {"as modelled", {.fails = 0}, 1.15},
    {"drift 1 %", {.drift_sd = .01}, 1.5},
    {"slower by 1 % an hour", {.slope = .01}, 1.5},
    {"boots differ by 1 %", {.boot_sd = .01}, 1.5},
    {"one run in five 5 % longer", {.bimodal = .2, .bimodal_by = .05}, 2.5},
    {"heavy tails: t(3)", {.tail = 3}, 1.5},
    {"each fifth boot fails", {.fails = 5}, 1.8},
    {"one in ten cannot be run", {.dead = .1}, 1.5},
    {"three levels together 1 %", {.triples = .01}, 1.5},
    {"runs of a boot alike, .3", {.within_boot = .3}, 1.5},
    {"runs of a boot alike, .5", {.within_boot = .5}, 1.5},
    {"runs of a boot alike, .7", {.within_boot = .7}, 1.5},
    {"runs of a boot alike, .9", {.within_boot = .9}, 1.5},
    {"3 % an hour in each boot", {.ramp = .03}, 1.5},
    {"+- 3 % an hour in boots", {.ramp_sd = .03}, 1.5},
    {"first run 5 % longer", {.settling = .05}, 1.5},
    {"first runs +5 % e^-1.2i", {.settling = .05, .settling_runs = .58}, 1.5},
    {"first runs +2 % e^-i/3", {.settling = .02, .settling_runs = 2.08}, 1.5},
    {"first runs +5 % e^-i/3", {.settling = .05, .settling_runs = 2.08}, 1.5},
};

int main(int argc, char **argv)
{
	long hosts = reps_of(argc, argv, 200);
	long all_sure = 0, all_wrong = 0;
	struct judge judge = {0};

	for (size_t k = 0; k < ARRAY_SIZE(natures); k++) {
		double minutes = 0, squares = 0, worst = 0, boots = 0;
		long good = 0, sure = 0, wrong = 0, left = 0;
		char what[64];

		for (long i = 0; i < hosts; i++) {
			CLEANUP(sim_host_free)
			struct sim_host *host = sim_host_new(&sim_metal, "confirm: no\ndesign: race\n",
							     1000 + (unsigned long)i, &natures[k].wrong);
			struct study_answer answer = sim_study(host);
			double regret = answer.incumbent >= 0 ? sim_regret(host, answer.incumbent) : INFINITY;

			good += regret <= log1p(.01);
			sure += answer.sure;
			wrong += answer.sure && regret > log1p(.01);
			left += answer.fallback;
			worst = answer.sure ? fmax(worst, expm1(regret)) : worst;
			minutes += host->minutes;
			squares += host->minutes * host->minutes;
			boots += host->boots;
		}
		all_sure += sure;
		all_wrong += wrong;
		double n = (double)hosts, mean = minutes / n;

		(void)printf(
		    "  %s: %ld hosts, %.1f %% within 1 %%, %ld sure, the worst of them %.1f %% off, %ld left the "
		    "model, %.1f boots\n",
		    natures[k].name, hosts, 100 * (double)good / n, sure, 100 * worst, left, boots / n);
		(void)snprintf(what, sizeof(what), "sure and wrong: %s", natures[k].name);
		judge_most(&judge, what, wrong, MAX_OF(sure, 1), STATED);
		judge_below(&judge, "minutes", mean, sqrt(fmax(0, squares / n - mean * mean) / n),
			    174 * natures[k].minutes);
		(void)fflush(stdout);
	}
	/* Few hosts of each tell little; all together they tell more. */
	judge_most(&judge, "sure and wrong: all of them", all_wrong, MAX_OF(all_sure, 1), STATED);
	return judge_end(&judge);
}
