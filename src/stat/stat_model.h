/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the model that describes many configurations by few numbers: ln of the measured value is a Gaussian process over
 * factor levels, pairs of levels and configurations, plus an effect of each boot, plus noise whose variance each
 * configuration shares in part (a Bayesian analysis of variance; Rasmussen & Williams, Gaussian Processes, ch. 2 and
 * 5).
 *
 *   y_cb = mu + theta_c + B_b + e,
 *   k(c, c') = 1 + sum_f v_f [c_f = c'_f] + v2 C(e, 2)/C(F, 2) + v3 [c = c'],   e = number of equal factors,
 *   K_ij = k(c_i, c_j) + [b_i = b_j] (vb + s2 sqrt(sig2_ci sig2_cj) R_ij) + [i = j] 1e-6   of cells: one configuration
 *                                                                                       in one boot, m runs
 *   R_ij = mean over the runs s of i and t of j of r^|place_s - place_t|                  (r = 0: [i = j] / m),
 *   sig2_c = (4 p + SS_c) / (4 + df_c), p = (SS + 2 x .012^2) / (DF + 2), SS within cells, about the mean by
 * generalized least squares under r.
 *
 * Runs of one boot are alike where something of the host changes more slowly than runs follow each other: their noise
 * is a first-order autoregression (Box & Jenkins, Time Series Analysis, 3.2) over their places in the boot. Taken for
 * independent they would show too small a noise, and their mean would be worth n instead of about n (1 - r) / (1 + r)
 * runs (Bayley & Hammersley 1946). r is estimated with the rest: weights of 0, .2 ... .95 from how likely the means of
 * cells and the differences within them are (innovations: Prais & Winsten 1954; the unknown sig2_c integrated out),
 * half of the prior on 0; then (1 + r) / (1 - r) is its weighted mean, since a mean's variance goes with that. Slow
 * settling after a start and drift within a boot look like this too. Figures: docs/statistics.md.
 */
#ifndef HVTUNE_STAT_MODEL_H
#define HVTUNE_STAT_MODEL_H

#include "stat_space.h"

struct stat_run {
	int configuration;
	int boot; /* any number that tells boots apart */
	double log;
};

/*
 * Variances; the priors are log-normal about (median, sd of the ln): v_f (.03^2, 1.5), v2 (.012^2, 1), v3 (.005^2, 1),
 * vb (.004^2, 1.2), s2 (1, .3).
 */
struct stat_hyper {
	double factor[STAT_FACTORS]; /* v_f */
	double pair;		     /* v2 */
	double rest;		     /* v3 */
	double boot;		     /* vb */
	double noise;		     /* s2: factor on the noise seen */
	double alike;		     /* r: of the noise of a run and that of the run before it in its boot; 0 to .95 */
};

struct stat_hyper stat_hyper_prior(int factors); /* all at their medians */

struct stat_model;

/* `space` must outlive the model. */
struct stat_model *stat_model_new(const struct stat_space *space);
void stat_model_free(struct stat_model **model); /* for CLEANUP(); takes a pointer to NULL */

/* The runs so far, all of them, in their order. -EINVAL for none, a configuration outside of the space, a log that is
 * no number. */
int stat_model_runs(struct stat_model *model, const struct stat_run *runs, int n, struct err *err);

/* The noise variance sig2 of each configuration, instead of what the runs say; for checks against a reference. */
void stat_model_noise(struct stat_model *model, double variance, double jitter);

/* To be read, or set before the runs are given. */
struct stat_hyper *stat_model_hyper(struct stat_model *model);

/*
 * Maximum a posteriori by coordinate search on the logs of the variances: `sweeps` over all, by factors of `step` in
 * the first sweep and 1.6 in the others; after each sweep how alike runs are. Needs runs.
 */
void stat_model_fit(struct stat_model *model, int sweeps, double step);

/* What stat_select() keeps with a model between calls: the runs of the last fit that is gone on from. */
struct stat_past {
	struct stat_run *runs; /* freed with the model */
	int count;
	bool given_up; /* the model did not describe these, or fewer of them */
};

struct stat_past *stat_model_past(struct stat_model *model);

/* Log marginal likelihood without the constant of 2 pi: -y'K^-1 y/2 - sum ln L_ii. */
double stat_model_likelihood(struct stat_model *model);

/* What stat_model_check() needs of stat_model_solve(), without the rest. */
int stat_model_factor(struct stat_model *model, double widen, struct err *err);

/*
 * The posterior of all configurations with v2 and v3 times `widen` (decisions take 3: interactions larger than fitted
 * must not fool them). -EDOM when the covariance is no longer positive.
 */
int stat_model_solve(struct stat_model *model, double widen, struct err *err);

bool stat_model_solved(const struct stat_model *model); /* since the runs were given */

/* After stat_model_solve: of theta on the scale of the logs. */
double stat_model_mean(const struct stat_model *model, int c);
double stat_model_variance(const struct stat_model *model, int c);
double stat_model_covariance(const struct stat_model *model, int c, int d);
double stat_model_boot_variance(const struct stat_model *model, int boot);
double stat_model_boot_covariance(const struct stat_model *model, int boot, int c);
int stat_model_runs_of(const struct stat_model *model, int c); /* how many it has */

/*
 * By how much the variance of theta_a - theta_b falls when `c` runs `runs` times next, in that boot (one that is not
 * known is a new one).
 */
double stat_model_gain(const struct stat_model *model, int c, int boot, int runs, int a, int b);

/* Any linear contrast a'theta of all configurations: mean and variance a'Sigma a. */
void stat_model_contrast(const struct stat_model *model, const double *a, double *ret_mean, double *ret_variance);

/*
 * `draws` joint draws of theta of `n` configurations, ret_draws[draw][i] (Cholesky factor of their posterior
 * covariance). Only `seed` decides them.
 */
void stat_model_draw(const struct stat_model *model, const int *configurations, int n, int draws, uint64_t seed,
		     double *ret_draws);

/*
 * Leave-one-out: z_i = (K^-1 y)_i / sqrt((K^-1)_ii) of each cell (Rasmussen & Williams 5.4.2). The model does not
 * describe these runs when the mean square, the largest left out, is above 1.6; one |z| above 4 alone is a cell that
 * stands out: a noisy configuration, more often than a wrong model. After stat_model_solve.
 */
struct stat_check {
	double mean_square; /* without the largest */
	double largest;	    /* |z| */
	int configuration;  /* of the cell with it */
	bool fits, stands_out;
};

struct stat_check stat_model_check(const struct stat_model *model);

#endif
