/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns when runs of one configuration are enough. */
#include "stat_stop.h"

#include <errno.h>
#include <math.h>

enum { FIRST_LOW = 3, FIRST_HIGH = 10 };

/* Simulated for 3, 4, 6, 8 and 10 first runs, 5 between its neighbours; 7 and 9 take the stricter neighbour. */
static const double nominals[] = {.020, .025, .028, .030, .030, .035, .035, .035};

int stat_stop_rule(int first, int cap, double target, struct stat_stop_rule *ret_rule, struct err *err)
{
	if (first < FIRST_LOW || first > FIRST_HIGH)
		return err_set(err, EINVAL, NULL, "the stop rule looks first after %d to %d runs, not after %d",
			       FIRST_LOW, FIRST_HIGH, first);
	if (cap < first)
		return err_set(err, EINVAL, NULL, "at most %d runs are fewer than the %d before the first look", cap,
			       first);
	if (!(target > 0 && target < 1))
		return err_set(err, EINVAL, NULL, "a precision of %g %% is not between 0 and 100 %%", target * 100);
	*ret_rule = (struct stat_stop_rule){first, cap, target, nominals[first - FIRST_LOW]};
	return 0;
}

int stat_stop_look(const struct stat_stop_rule *rule, const double *values, int n, enum stat_stop *ret_stop,
		   struct stat_estimate *ret_estimate, struct err *err)
{
	int r = stat_estimate(values, n, rule->nominal, ret_estimate, err);

	if (r < 0)
		return r;
	if (n >= rule->first && ret_estimate->relative_half_width <= rule->target)
		*ret_stop = STAT_STOP_TARGET;
	else
		*ret_stop = n >= rule->cap ? STAT_STOP_CAP : STAT_STOP_MORE;
	return 0;
}

int stat_stop_runs(const struct stat_stop_rule *rule, double cv)
{
	double z = 2.17 * cv / rule->target, runs = ceil(z * z + 2);

	return runs < rule->first ? rule->first : runs < 1e9 ? (int)runs : 1000000000;
}

double stat_sequence_factor(int n, double g, double alpha)
{
	double prior = 1 + n * g, r;

	if (n < 2)
		return INFINITY;
	r = pow(prior / (alpha * alpha), 1. / n);
	if (r >= prior)
		return INFINITY;
	return sqrt((n - 1) * ((r - 1) / (1 - r / prior)) / n);
}

struct stat_interval stat_sequence_interval(const double *values, int n, double g, double alpha)
{
	double mean = stat_mean(values, n), factor = stat_sequence_factor(n, g, alpha), half;

	if (!isfinite(factor))
		return (struct stat_interval){mean, -INFINITY, INFINITY};
	half = factor * stat_sd(values, n);
	return (struct stat_interval){mean, mean - half, mean + half};
}
