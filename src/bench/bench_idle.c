/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns idle windows. */
#include "bench_idle.h"

#include <errno.h>
#include <math.h>

#include "bench_settle.h"
#include "text.h"

/* As runs of that purpose they stand in the store. */
#define PURPOSE "idle"

const char *const bench_powers[BENCH_POWERS] = {"wall power", "board power", "package power"};

static void tell(const struct bench_idle *idle, bool settles, double left_s)
{
	if (idle->tell)
		idle->tell(idle->data, settles, left_s);
}

/* `sleep`, which does nothing, for so long. */
static int add_sleep(struct bench *bench, const struct bench_idle *idle, double seconds, int *known, struct err *err)
{
	const char **argv;
	struct bench_subject subject = idle->subject;
	int number, r;

	if (*known)
		return 0;
	argv = ARENA_ARRAY(bench->arena, 3, const char *);
	argv[0] = "sleep";
	argv[1] = arena_printf(bench->arena, "%.3f", seconds);
	subject.command = (struct bench_command){.argv = argv};
	r = bench_find_program(bench->arena, argv[0], &subject.command.program, err);
	if (r == 0)
		r = bench_add(bench, &subject, &number, err);
	if (r == 0)
		*known = number + 1;
	return r;
}

static void tell_settling(void *data, double left_s)
{
	tell(data, true, left_s);
}

static double value_of(const struct bench *bench, const struct bench_run *run, const char *metric)
{
	int at = bench_values_find(&bench->values, metric);

	return at >= 0 && (size_t)at < run->value_count ? run->values[at] : (double)NAN;
}

static const char *power_of(const struct bench *bench, const struct bench_idle *idle, const struct bench_run *run)
{
	if (idle->metric)
		return isfinite(value_of(bench, run, idle->metric)) ? idle->metric : NULL;
	for (size_t i = 0; i < BENCH_POWERS; i++)
		if (isfinite(value_of(bench, run, bench_powers[i])))
			return bench_powers[i];
	return NULL;
}

static bool has_power(const struct bench *bench)
{
	for (size_t i = 0; i < BENCH_POWERS; i++)
		if (bench_values_find(&bench->values, bench_powers[i]) >= 0)
			return true;
	return false;
}

/* The figures of `parts` runs of one configuration. */
static int measure(struct bench *bench, const struct bench_idle *idle, int configuration, int parts, int64_t block,
		   struct bench_idle_window *ret, struct err *err)
{
	double *watts = ARENA_ARRAY(bench->arena, (size_t)parts, double), busy = 0;

	*ret = (struct bench_idle_window){.valid = true, .mean = NAN, .lowest = NAN, .error = NAN, .busy = NAN};
	for (int i = 0; i < parts; i++) {
		const struct bench_run *run;
		int r;

		tell(idle, false, idle->window_s / parts * (parts - i));
		r = bench_measure(bench, configuration, PURPOSE, block, &run, err);
		if (r < 0)
			return r;
		ret->parts++;
		busy += value_of(bench, run, BENCH_FOREIGN) / 100;
		if (!run->valid) {
			ret->valid = false;
			ret->why = arena_strdup(bench->arena, run->why);
			return 0;
		}
		if (i == 0)
			ret->metric = power_of(bench, idle, run);
		/* Without a figure the other parts would tell nothing more, but to whom only the load is of interest.
		 */
		if (!ret->metric && has_power(bench))
			return 0;
		watts[i] = ret->metric ? value_of(bench, run, ret->metric) : (double)NAN;
	}
	ret->busy = busy / parts;
	ret->mean = stat_mean(watts, parts);
	ret->error = stat_sd(watts, parts) / sqrt(parts);
	ret->lowest = watts[0];
	for (int i = 1; i < parts; i++)
		ret->lowest = MIN_OF(ret->lowest, watts[i]);
	return 0;
}

int bench_idle(struct bench *bench, struct bench_idle *idle, int64_t block, struct bench_idle_window *ret,
	       struct err *err)
{
	struct bench_idle_window window;
	struct bench_settled settled;
	int r = add_sleep(bench, idle, idle->window_s / idle->parts, &idle->number, err);

	if (r == 0)
		r = bench_enter(bench, idle->number - 1, err);
	if (r == 0)
		r = bench_settle(bench, idle->settle_s, tell_settling, idle, &settled, err);
	if (r == 0)
		r = measure(bench, idle, idle->number - 1, idle->parts, block, &window, err);
	if (r == 0 && window.valid && !isfinite(window.mean) && has_power(bench) && idle->parts > 1) {
		r = add_sleep(bench, idle, idle->window_s, &idle->whole, err);
		if (r == 0)
			r = measure(bench, idle, idle->whole - 1, 1, block, &window, err);
	}
	if (r == 0) {
		window.settled = settled.settled;
		window.settle_took_s = settled.took_s;
		*ret = window;
	}
	return r;
}
