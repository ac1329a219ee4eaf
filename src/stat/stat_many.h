/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns comparing many configurations with one baseline, with the chance of any false claim held: Holm's step-down on
 * paired t tests below eight, on moderated tests from eight on. Pooled variances (Dunnett, ANOVA) are not here: when
 * deviations differ as they do between configurations they give 10-29 % false claims.
 */
#ifndef HVTUNE_STAT_MANY_H
#define HVTUNE_STAT_MANY_H

#include "stat_compare.h"

enum stat_many_method {
	STAT_MANY_PAIRED,    /* t of d = x_j - x_0 over blocks */
	STAT_MANY_MODERATED, /* block-centred Welch with variances shrunk to each other */
};

enum { STAT_MANY_MODERATED_FROM = 8, STAT_MANY_SURE_BLOCKS = 8 };

struct stat_many_row {
	struct stat_interval ratio; /* to the baseline; simultaneous: alpha / k each (Bonferroni) */
	double t, df, p;
	double adjusted;	   /* Holm */
	double listed;		   /* Benjamini-Hochberg: only for a list called "about 5 % of these are false" */
	enum stat_verdict verdict; /* different by Holm, equivalent by the simultaneous interval */
	bool differs, equivalent;
};

struct stat_many {
	enum stat_many_method method;
	int configurations, blocks;	 /* with the baseline */
	double prior_df, prior_variance; /* of the moderation: d0 (may be infinite) and s0^2; NAN if paired */
	double family_error; /* what the chance of any false claim may reach: to be printed when above alpha */
};

/*
 * `logs` holds [configuration][block], configuration 0 the baseline; k = configurations - 1 rows are returned. At least
 * two blocks. The method follows from k.
 *
 * Moderated: m_j the means, e_jb = x_jb - m_j, block effects h_b = median_j e_jb, s_j^2 = var_b(x_jb - h_b) (k+1)/k;
 * d0 and s0^2 by stat_moderate; w_j = (d0 s0^2 + d s_j^2)/(d0 + d), df_j = min(d0 + d, k d), d = blocks - 1;
 * t_j = (m_j - m_0)/sqrt((w_j + w_0)/n) at Satterthwaite's df.
 */
int stat_many(const double *logs, int configurations, int blocks, double alpha, double margin,
	      struct stat_many *ret_many, struct stat_many_row *ret_rows, struct err *err);

/* Adjusted p values: Holm 1979 and Benjamini & Hochberg 1995. `ret_adjusted` may not be `p`. */
void stat_holm(const double *p, int n, double *ret_adjusted);
void stat_bh(const double *p, int n, double *ret_adjusted);

/*
 * The scaled F prior of variances with `df` degrees each, by the moments of their logs (Smyth 2004, limma's fitFDist):
 * z_j = ln s_j^2 - psi(df/2) + ln(df/2), v = var z - psi'(df/2); for v > 0 d0 = 2 trigamma^-1(v) and s0^2 = exp(mean z
 * + psi(d0/2) - ln(d0/2)); else d0 is infinite and s0^2 the mean. Variances below 1e-5 of the median count as that.
 * -EINVAL for fewer than two, or none above 0.
 */
int stat_moderate(const double *variances, int n, double df, double *ret_d0, double *ret_s0, struct err *err);

#endif
