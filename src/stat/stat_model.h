/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the model that describes many configurations by few numbers: ln of the measured value is a Gaussian process over
 * factor levels, pairs of levels and configurations, plus an effect of each boot, plus noise whose variance each
 * configuration shares in part (a Bayesian analysis of variance; Rasmussen & Williams, Gaussian Processes, ch. 2 and
 * 5).
 *
 *   y_cb = mu + theta_c + B_b + e,
 *   k(c, c') = 1 + sum_f v_f [c_f = c'_f] + v2 C(e, 2)/C(F, 2) + v3 [c = c'],   e = number of equal factors,
 *   K_ij = k(c_i, c_j) + vb [b_i = b_j] + [i = j] (s2 sig2_c / m + 1e-6),
 *   sig2_c = (4 p + SS_c) / (4 + df_c), p = (SS + 2 x .012^2) / (DF + 2), SS within cells (one configuration in one
 * boot).
 */
#ifndef HVTUNE_STAT_MODEL_H
#define HVTUNE_STAT_MODEL_H

#include "stat_space.h"

struct stat_run {
	int configuration;
	int boot; /* any number that tells boots apart */
	double log;
};

/* Variances; the priors are log-normal about (median, sd of the ln): v_f (.03^2, 1.5), v2 (.012^2, 1), v3 (.005^2, 1),
 * vb
 * (.004^2, 1.2), s2 (1, .3). */
struct stat_hyper {
	double factor[STAT_FACTORS]; /* v_f */
	double pair;		     /* v2 */
	double rest;		     /* v3 */
	double boot;		     /* vb */
	double noise;		     /* s2: factor on the noise seen */
};

struct stat_hyper stat_hyper_prior(int factors); /* all at their medians */

struct stat_model;

/* `space` must outlive the model. */
struct stat_model *stat_model_new(const struct stat_space *space);
void stat_model_free(struct stat_model **model); /* for CLEANUP(); takes a pointer to NULL */

/* The runs so far, all of them. -EINVAL for none, a configuration outside of the space, a log that is no number. */
int stat_model_runs(struct stat_model *model, const struct stat_run *runs, int n, struct err *err);

/* The noise variance sig2 of each configuration, instead of what the runs say; for checks against a reference. */
void stat_model_noise(struct stat_model *model, double variance, double jitter);

struct stat_hyper *stat_model_hyper(struct stat_model *model);

/*
 * Maximum a posteriori by coordinate search on the logs of the variances: `sweeps` over all, by factors of `step` in
 * the first sweep and 1.6 in the others. Needs runs.
 */
void stat_model_fit(struct stat_model *model, int sweeps, double step);

/* Number of runs at the last fit; 0 before the first. */
int stat_model_fitted(const struct stat_model *model);

/* Log marginal likelihood without the constant of 2 pi: -y'K^-1 y/2 - sum ln L_ii. */
double stat_model_likelihood(struct stat_model *model);

/*
 * The posterior of all configurations with v2 and v3 times `widen` (decisions take 3: interactions larger than fitted
 * must not fool them). -EDOM when the covariance is no longer positive.
 */
int stat_model_solve(struct stat_model *model, double widen, struct err *err);

bool stat_model_solved(const struct stat_model *model); /* since the runs were given */

/* After stat_model_solve: of theta on the scale of the logs, and of the effect of a boot (0 and vb for one unknown). */
double stat_model_mean(const struct stat_model *model, int c);
double stat_model_variance(const struct stat_model *model, int c);
double stat_model_covariance(const struct stat_model *model, int c, int d);
double stat_model_boot_variance(const struct stat_model *model, int boot);
double stat_model_boot_covariance(const struct stat_model *model, int boot, int c);
double stat_model_noise_of(const struct stat_model *model, int c); /* s2 sig2_c: variance of one run */
int stat_model_runs_of(const struct stat_model *model, int c);	   /* how many it has */

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
