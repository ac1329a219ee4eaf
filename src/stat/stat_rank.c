/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rank methods: signed rank, Hodges-Lehmann and Mann-Whitney with their exact distributions. */
#include "stat_compare.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

enum { SIGNED_EXACT = 200, UNPAIRED_EXACT = 60, WALSH_MAX = 2000 /* two million averages */ };

/* Twice the rank of each value, ties sharing the mean of theirs: whole numbers, so that sums of ranks can be counted.
 */
static void double_ranks(const double *values, int n, int *ret_ranks)
{
	CLEANUP(base_free) size_t *order = stat_zeroed(n, sizeof(size_t));

	gsl_sort_index(order, values, 1, (size_t)n);
	for (int i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && values[order[end]] == values[order[i]]; end++)
			continue;
		for (int j = i; j < end; j++)
			ret_ranks[order[j]] = i + 1 + end;
	}
}

/* P(sum of the ranks that fall on the plus side = s), s = 0 .. total, each rank by a fair coin. */
static double *coin_sums(const int *ranks, int n, int total)
{
	double *share = stat_zeroed(total + 1, sizeof(double));
	int top = 0;

	share[0] = 1;
	for (int i = 0; i < n; i++) {
		top += ranks[i];
		for (int s = top; s >= 0; s--)
			share[s] = (share[s] + (s >= ranks[i] ? share[s - ranks[i]] : 0)) / 2;
	}
	return share;
}

double stat_signed_rank_p(const double *d, int n)
{
	CLEANUP(base_free) double *sizes = stat_zeroed(n, sizeof(double)), *share = NULL;
	CLEANUP(base_free) int *ranks = stat_zeroed(n, sizeof(int));
	CLEANUP(base_free) bool *plus = stat_zeroed(n, sizeof(bool));
	int m = 0, total = 0, sum = 0;
	double squares = 0, lower = 0;

	for (int i = 0; i < n; i++) {
		if (d[i] == 0)
			continue;
		plus[m] = d[i] > 0;
		sizes[m++] = fabs(d[i]);
	}
	if (!m)
		return 1;
	double_ranks(sizes, m, ranks);
	for (int i = 0; i < m; i++) {
		total += ranks[i];
		squares += (double)ranks[i] * ranks[i];
		sum += plus[i] ? ranks[i] : 0;
	}
	sum = MIN_OF(sum, total - sum);
	if (m > SIGNED_EXACT)
		return MIN_OF(1, 2 * gsl_cdf_ugaussian_P((sum + 1 - total / 2.) / sqrt(squares / 4)));
	share = coin_sums(ranks, m, total);
	for (int s = 0; s <= sum; s++)
		lower += share[s];
	return MIN_OF(1, 2 * lower);
}

/* The largest count k of extreme Walsh averages that may be cut on each side; 0 for none. */
static int walsh_cut(int n, double alpha)
{
	CLEANUP(base_free) double *share = NULL;
	CLEANUP(base_free) int *ranks = NULL;
	int total = n * (n + 1) / 2, k = 0;
	double below = 0;

	if (n > SIGNED_EXACT) {
		double sd = sqrt(n * (n + 1.) * (2. * n + 1) / 24);

		return (int)MAX_OF(0, floor(total / 2. + gsl_cdf_ugaussian_Pinv(alpha / 2) * sd));
	}
	ranks = stat_zeroed(n, sizeof(int));
	for (int i = 0; i < n; i++)
		ranks[i] = i + 1;
	share = coin_sums(ranks, n, total);
	while (k < total && below + share[k] <= alpha / 2)
		below += share[k++];
	return k;
}

struct stat_interval stat_hodges_lehmann(const double *d, int n, double alpha)
{
	struct stat_interval interval = {NAN, -INFINITY, INFINITY};
	CLEANUP(base_free) double *walsh = NULL;
	int count = 0, cut;

	if (n < 1 || n > WALSH_MAX)
		return interval;
	walsh = stat_zeroed(n * (n + 1) / 2, sizeof(double));
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			walsh[count++] = (d[i] + d[j]) / 2;
	gsl_sort(walsh, 1, (size_t)count);
	interval.estimate = stat_sorted_median(walsh, count);
	cut = walsh_cut(n, alpha);
	if (cut > 0) {
		interval.low = walsh[cut - 1];
		interval.high = walsh[count - cut];
	}
	return interval;
}

/* P(sum of the ranks of a random choice of nx <= sum), by counting choices: table[chosen][sum]. */
static double choice_sums(const int *ranks, int n, int nx, int total, int sum)
{
	size_t width = (size_t)total + 1;
	CLEANUP(base_free) double *ways = stat_zeroed((nx + 1) * (total + 1), sizeof(double));
	double below = 0, all = 0;

	ways[0] = 1;
	for (int i = 0; i < n; i++)
		for (int chosen = MIN_OF(i + 1, nx); chosen > 0; chosen--)
			for (int s = total; s >= ranks[i]; s--)
				ways[(size_t)chosen * width + (size_t)s] +=
				    ways[(size_t)(chosen - 1) * width + (size_t)(s - ranks[i])];
	for (int s = 0; s <= total; s++) {
		all += ways[(size_t)nx * width + (size_t)s];
		below += s <= sum ? ways[(size_t)nx * width + (size_t)s] : 0;
	}
	return below / all;
}

double stat_mann_whitney_p(const double *x, int nx, const double *y, int ny)
{
	int n = nx + ny, sum = 0, total = n * (n + 1), other;
	CLEANUP(base_free) double *both = NULL;
	CLEANUP(base_free) int *ranks = NULL;
	double squares = 0, variance;

	if (nx < 1 || ny < 1)
		return 1;
	both = stat_zeroed(n, sizeof(double));
	ranks = stat_zeroed(n, sizeof(int));
	memcpy(both, x, sizeof(double) * (size_t)nx);
	memcpy(both + nx, y, sizeof(double) * (size_t)ny);
	double_ranks(both, n, ranks);
	for (int i = 0; i < n; i++)
		squares += pow(ranks[i] - (n + 1), 2);
	for (int i = 0; i < nx; i++)
		sum += ranks[i];
	other = 2 * nx * (n + 1) - sum; /* as far on the other side of the mean, nx (n + 1) */
	sum = MIN_OF(sum, other);
	if (n <= UNPAIRED_EXACT)
		return MIN_OF(1, 2 * choice_sums(ranks, n, nx, total, sum));
	variance = squares * nx * ny / ((double)n * (n - 1));
	return variance > 0 ? MIN_OF(1, 2 * gsl_cdf_ugaussian_P((sum + 1 - nx * (n + 1.)) / sqrt(variance))) : 1;
}
