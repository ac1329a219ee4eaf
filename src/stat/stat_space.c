/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the configurations of a study, their order, the first design and successive halving. */
#include "stat_space.h"

#include <errno.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

int stat_space_check(const struct stat_space *space, struct err *err)
{
	if (space->factors < 1 || space->factors > STAT_FACTORS)
		return err_set(err, EINVAL, NULL, "%d factors; 1 to %d are possible", space->factors, STAT_FACTORS);
	if (space->count < 1 || space->count > STAT_CONFIGURATIONS)
		return err_set(err, EINVAL, NULL, "%d configurations; 1 to %d are possible", space->count,
			       STAT_CONFIGURATIONS);
	for (int i = 0; i < space->count * space->factors; i++)
		if (space->levels[i] < 0)
			return err_set(err, EINVAL, NULL, "configuration %d has the level %d of factor %d",
				       i / space->factors, space->levels[i], i % space->factors);
	return 0;
}

static gsl_rng *random_new(uint64_t seed)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);

	if (!random)
		err_no_memory();
	gsl_rng_set(random, (unsigned long)(seed ^ seed >> 32) & 0xffffffff);
	return random;
}

void stat_order_nested(const struct stat_costs *costs, int from, uint64_t seed, int *configurations, int count)
{
	gsl_rng *random = random_new(seed);

	if (count > 1)
		gsl_ran_shuffle(random, configurations, (size_t)count, sizeof(int));
	gsl_rng_free(random);
	for (int i = 0; i < count; i++) {
		int best = i, swap;
		double least = 0;

		for (int j = i; j < count; j++) {
			double minutes = costs->change(costs->context, from, configurations[j]).minutes;

			if (j == i || minutes < least) {
				least = minutes;
				best = j;
			}
		}
		swap = configurations[i];
		configurations[i] = configurations[best];
		configurations[best] = swap;
		from = configurations[i];
	}
}

static int levels_of(const struct stat_space *space, int factor)
{
	int most = 0;

	for (int c = 0; c < space->count; c++)
		most = MAX_OF(most, space->levels[c * space->factors + factor]);
	return most + 1;
}

/* One factor's level in each row: balanced over rows (over host combinations for what needs a boot), permuted. */
static void design_factor(const struct stat_space *space, gsl_rng *random, int factor, int want, int *rows)
{
	int levels = levels_of(space, factor), groups = want;
	bool host = space->changes[factor] == STAT_CHANGE_HOST;
	CLEANUP(base_free) int *order = stat_zeroed(MAX_OF(want, levels), sizeof(int));
	CLEANUP(base_free) int *names = stat_zeroed(levels, sizeof(int));

	if (host)
		groups = MIN_OF(want, STAT_DESIGN_HOSTS);
	for (int i = 0; i < levels; i++)
		names[i] = i;
	gsl_ran_shuffle(random, names, (size_t)levels, sizeof(int));
	for (int i = 0; i < groups; i++)
		order[i] = names[i % levels];
	gsl_ran_shuffle(random, order, (size_t)groups, sizeof(int));
	for (int row = 0; row < want; row++)
		rows[row * space->factors + factor] = order[row * groups / want];
}

int stat_design(const struct stat_space *space, uint64_t seed, int want, int *ret_configurations)
{
	CLEANUP(base_free) int *rows = stat_zeroed(want * space->factors, sizeof(int));
	CLEANUP(base_free) bool *taken = stat_zeroed(space->count, sizeof(bool));
	gsl_rng *random = random_new(seed);
	int count = 0;

	for (int f = 0; f < space->factors; f++)
		design_factor(space, random, f, want, rows);
	gsl_rng_free(random);
	for (int row = 0; row < want && count < space->count; row++) {
		int best = -1, most = -1;

		for (int c = 0; c < space->count; c++) {
			int equal = 0;

			/* A host factor that differs costs a boot: it weighs more than all others. */
			for (int f = 0; f < space->factors; f++)
				if (space->levels[c * space->factors + f] == rows[row * space->factors + f])
					equal += space->changes[f] == STAT_CHANGE_HOST ? STAT_FACTORS : 1;
			if (!taken[c] && equal > most) {
				most = equal;
				best = c;
			}
		}
		taken[best] = true;
		ret_configurations[count++] = best;
	}
	return count;
}

struct stat_halving stat_halving_begin(int *array, int count)
{
	for (int i = 0; i < count; i++)
		array[i] = i;
	return (struct stat_halving){1, count, array};
}

void stat_halving_cut(struct stat_halving *halving, const double *means)
{
	/* Few are left after the first cut: insertion keeps ties in order. */
	for (int i = 1; i < halving->count; i++) {
		int moving = halving->configurations[i], j = i;

		for (; j > 0 && means[halving->configurations[j - 1]] > means[moving]; j--)
			halving->configurations[j] = halving->configurations[j - 1];
		halving->configurations[j] = moving;
	}
	halving->count = (halving->count + STAT_HALVING_ETA - 1) / STAT_HALVING_ETA;
	halving->runs = MIN_OF(STAT_HALVING_CAP, halving->runs * STAT_HALVING_ETA);
}
