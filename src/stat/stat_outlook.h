/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what is known of a choice among many that was made by few runs: how likely it is good enough, what it costs that
 * it may not be the best, and what measuring as long again is expected to bring.
 */
#ifndef HVTUNE_STAT_OUTLOOK_H
#define HVTUNE_STAT_OUTLOOK_H

#include "stat_effects.h"

/*
 * The variance of one run of each of n cells, shrunk to what all have in common (methods 3.4): (4 p + SS_c) / (4 +
 * df_c) with p = (SS + 2 x .012^2) / (DF + 2), at 4 + df_c degrees of freedom. Cells of one run have the common one.
 */
void stat_cell_spread(const struct stat_cell *cells, int n, double *ret_variances, double *ret_df);

/* `draws` draws of the means of the cells, ret_draws[draw][cell]: mean + sqrt(variance / n) t(df). */
void stat_cell_draw(const struct stat_cell *cells, int n, int draws, uint64_t seed, double *ret_draws);

struct stat_outlook {
	double best;		       /* P(the pick is the best) */
	double bad;		       /* P(it is more than the margin worse than the best) */
	double regret_mean, regret_95; /* relative: how much worse it is than the best; mean and 95 % point */
	double
	    gain; /* relative: how much better the pick after twice the runs is expected to be; at most regret_mean */
};

/*
 * Of configuration `pick` among the n with `among` (NULL: all), lower is better, from joint draws [draw][configuration]
 * on logs with their means. regret_mean is the expected value of perfect information, gain that of sample information
 * (Raiffa & Schlaifer 1961, ch. 4-5): twice the runs halve the variance, so that the means then are distributed as m +
 * (draw - m) / sqrt(2).
 */
void stat_outlook(const double *draws, int count, int n, const double *means, const bool *among, int pick,
		  double margin, struct stat_outlook *ret);

#endif
