/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns waiting until the machine is cool enough, and until it has settled. */
#include "bench_settle.h"

#include <errno.h>
#include <string.h>
#include <math.h>

#include "bench_session.h"
#include "stat_drift.h"

enum { STEP_NS = 500000000, MOST_POINTS = 4096 };

#define FLAT_LOAD .02
#define FLAT_CELSIUS 1.
#define FLAT_W 1.
#define FLAT_W_SHARE .01

int bench_cool(struct bench *bench, struct arena *arena, const char **ret_why, struct err *err)
{
	const struct bench_private *self = bench->self;
	double limit_c = self->setup.limits.temperature_c, now_c;
	double most_s = self->setup.limits.cool_s > 0 ? self->setup.limits.cool_s : BENCH_COOL_S;
	int64_t end_ns = bench_now_ns() + (int64_t)(most_s * 1e9), left_ns;
	const char *sensor;

	*ret_why = NULL;
	if (!(limit_c > 0))
		return 0;
	/* As it is now, and at the very beginning at all. */
	(void)bench_energy_mark(self->energy);
	while ((now_c = bench_energy_hottest(self->energy, &sensor)) > limit_c) {
		left_ns = end_ns - bench_now_ns();
		if (left_ns <= 0) {
			*ret_why =
			    arena_printf(arena,
					 "%s was still at %.0f C after %.3g s of waiting, above the %.0f C at which "
					 "runs may begin",
					 sensor, now_c, most_s, limit_c);
			return 0;
		}
		if (self->setup.cooling)
			self->setup.cooling(self->setup.data, sensor, now_c, (double)left_ns / 1e9);
		if (bench_signals_wait(&bench->signals, MIN_OF(left_ns, (int64_t)STEP_NS)))
			return err_set(err, EINTR, NULL, "stopped");
	}
	return 0;
}

/* ---- settling ---- */

enum { LOAD, TEMPERATURE, POWER, SERIES };

struct watched {
	double at[SERIES][MOST_POINTS], values[SERIES][MOST_POINTS];
	int counts[SERIES];
};

static void add(struct watched *watched, int series, double at, double value)
{
	int *count = &watched->counts[series];

	if (!isfinite(value))
		return;
	/* Of a long wait the end is what counts. */
	if (*count == MOST_POINTS) {
		*count = MOST_POINTS / 2;
		memmove(watched->at[series], watched->at[series] + *count, (size_t)*count * sizeof(double));
		memmove(watched->values[series], watched->values[series] + *count, (size_t)*count * sizeof(double));
	}
	watched->at[series][*count] = at;
	watched->values[series][(*count)++] = value;
}

static enum stat_settled judge(const struct watched *watched, double limit_s, double now_s)
{
	static const double flat[SERIES] = {FLAT_LOAD, FLAT_CELSIUS, FLAT_W};
	const struct stat_settle_rule rule = {fmin(STAT_SETTLE_RULE.window, limit_s / 4), limit_s};
	struct stat_settling series[SERIES];
	int count = 0;

	for (int i = 0; i < SERIES; i++) {
		int n = watched->counts[i];

		/* What is not measured here is nothing to wait for. */
		if (!n)
			continue;
		series[count] = (struct stat_settling){watched->at[i], watched->values[i], n, flat[i]};
		if (i == POWER)
			series[count].tolerance = fmax(FLAT_W, FLAT_W_SHARE * watched->values[i][n - 1]);
		count++;
	}
	if (!count)
		return now_s >= limit_s ? STAT_SETTLE_LATE : STAT_SETTLING;
	return stat_settled(&rule, series, count, 0, now_s);
}

int bench_settle(struct bench *bench, double limit_s, void (*tell)(void *data, double left_s), void *data,
		 struct bench_settled *ret, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct bench_private *self = bench->self;
	struct watched *watched = ARENA_NEW(arena, struct watched);
	int64_t began_ns = bench_now_ns();
	enum stat_settled settled = STAT_SETTLING;
	struct bench_view last, view;

	*ret = (struct bench_settled){0};
	bench_gate_look(self->gate, false, &last);
	while (limit_s > 0 && settled == STAT_SETTLING) {
		double now_s = (double)(bench_now_ns() - began_ns) / 1e9;
		const char *sensor;

		if (tell)
			tell(data, fmax(limit_s - now_s, 0));
		if (bench_signals_wait(&bench->signals, (int64_t)fmin(STEP_NS, fmax(limit_s - now_s, 0) * 1e9)))
			return err_set(err, EINTR, NULL, "stopped");
		now_s = (double)(bench_now_ns() - began_ns) / 1e9;
		bench_gate_look(self->gate, false, &view);
		add(watched, LOAD, now_s, bench_gate_foreign(&last, &view, 0));
		if (isfinite(bench_gate_foreign(&last, &view, 0)))
			last = view;
		add(watched, TEMPERATURE, now_s, bench_energy_hottest(self->energy, &sensor));
		add(watched, POWER, now_s, bench_energy_power(self->energy));
		settled = judge(watched, limit_s, now_s);
	}
	ret->settled = settled == STAT_SETTLED;
	ret->took_s = (double)(bench_now_ns() - began_ns) / 1e9;
	return 0;
}
