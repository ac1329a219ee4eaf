/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the meters of a session. */
#include "bench_energy.h"

#include <errno.h>
#include <math.h>

#include "text.h"

/* More uncertain than that is no figure. */
#define MOST_ERROR .1

struct bench_energy {
	struct arena *arena;
	struct meter_set *set;
	struct meter_sampler *sampler;
	size_t *kept;	 /* samples of each source that are in the store */
	int64_t *stored; /* number of each source in the store, -1: it is not used */
	/* By boundary: was any run told, and why the last one that was not is too short for it; NULL: it is not. */
	bool told[METER_BOUNDARIES];
	const char *missed[METER_BOUNDARIES];
};

const char *bench_energy_short_of(struct arena *arena, const struct meter_source *source, double run_s)
{
	double least_s = meter_least_window_s(source, MOST_ERROR);

	return run_s < least_s ? arena_printf(arena,
					      "runs of %.2g s are too short for the meter %s, which is read every %.2g "
					      "s: it tells runs of %.2g s or more",
					      run_s, source->name, source->period_s, ceil(least_s * 10) / 10)
			       : NULL;
}

const char *bench_energy_short(struct arena *arena, const struct meter_set *set, enum meter_boundary boundary,
			       double run_s)
{
	const char *why = NULL;

	for (size_t i = 0; i < meter_source_count(set) && !why; i++) {
		const struct meter_source *source = meter_source_at(set, i);

		if (source->chosen && source->boundary == boundary)
			why = bench_energy_short_of(arena, source, run_s);
	}
	return why;
}

const char *bench_energy_missed(const struct bench_energy *energy, enum meter_boundary boundary)
{
	const char *why = NULL;

	for (enum meter_boundary b = 0; energy && b < METER_BOUNDARIES; b++) {
		if (boundary != METER_BOUNDARIES && b != boundary)
			continue;
		if (energy->told[b])
			return NULL;
		why = energy->missed[b] ? energy->missed[b] : why;
	}
	return why;
}

static struct bench_lack lack_of(const struct bench *bench, size_t metric)
{
	struct bench_lack lack = {0};
	size_t with = 0;

	for (size_t i = 0; i < bench->run_count; i++) {
		const struct bench_run *run = &bench->runs[i];

		if (!run->valid || text_equal(run->purpose, "warmup"))
			continue;
		lack.of++;
		with += metric < run->value_count && !isnan(run->values[metric]);
	}
	lack.without = with ? lack.of - with : 0;
	return lack;
}

const char *bench_lack_text(struct arena *arena, const struct bench_lack *lack)
{
	return arena_printf(arena, "%zu of %s %s none: %s", lack->without,
			    text_count(arena, (long long)lack->of, "run", "runs"), lack->without == 1 ? "has" : "have",
			    lack->why);
}

void bench_energy_lack(const struct bench_energy *energy, const struct bench *bench, struct bench_lack *ret)
{
	*ret = (struct bench_lack){0};
	for (size_t m = 0; energy && m < bench->values.count; m++) {
		const struct bench_metric *metric = &bench->values.metrics[m];

		if (!text_equal(metric->unit, "J") || !text_equal(metric->source, "meters"))
			continue;
		for (enum meter_boundary b = 0; b < METER_BOUNDARIES; b++) {
			struct bench_lack lack;

			if (!energy->told[b] || !text_equal(metric->boundary, meter_boundary_name(b)))
				continue;
			lack = lack_of(bench, m);
			if (lack.without)
				lack.why = energy->missed[b] ? energy->missed[b] : BENCH_ENERGY_MISSED;
			/* Of the wider one people ask; the order of metrics is that of boundaries. */
			*ret = lack;
		}
	}
}

double bench_energy_cost_s(const struct bench_energy *energy)
{
	return energy ? meter_sampler_cost(energy->sampler).cpu_s : 0;
}

static bool is_usable(const struct meter_source *source)
{
	return source->state == METER_VALUE;
}

int bench_energy_open(struct meter_set *set, struct arena *arena, struct bench_energy **ret, const char **ret_why,
		      struct err *err)
{
	struct bench_energy *energy = ARENA_NEW(arena, struct bench_energy);
	bool any = false, tells = false;
	int r;

	*ret_why = "not measurable here";
	if (!set)
		return 0;
	energy->arena = arena;
	energy->set = set;
	energy->kept = ARENA_ARRAY(arena, meter_source_count(set) + 1, size_t);
	energy->stored = ARENA_ARRAY(arena, meter_source_count(set) + 1, int64_t);
	for (size_t i = 0; i < meter_source_count(set); i++)
		any = any || is_usable(meter_source_at(set, i));
	for (enum meter_boundary boundary = 0; boundary < METER_BOUNDARIES; boundary++)
		tells = tells || meter_has(set, boundary);
	if (tells)
		*ret_why = NULL;
	if (!any)
		return 0;
	r = meter_sampler_start(set, NULL, &energy->sampler, err);
	if (r == 0)
		*ret = energy;
	return r;
}

struct bench_energy *bench_energy_close(struct bench_energy *energy)
{
	if (energy)
		energy->sampler = meter_sampler_free(energy->sampler);
	return NULL;
}

int bench_energy_store(const struct bench_energy *energy, struct store *store, int64_t session, struct err *err)
{
	int64_t count = 0;
	int r = 0;

	for (size_t i = 0; energy && i < meter_source_count(energy->set) && r == 0; i++) {
		const struct meter_source *source = meter_source_at(energy->set, i);
		const struct store_source kept = {.id = count,
						  .name = source->name,
						  .boundary = meter_boundary_name(source->boundary),
						  .quantity = meter_quantity_name(source->quantity),
						  .unit = meter_quantity_unit(source->quantity),
						  .resolution = source->resolution,
						  .period_ms = (int64_t)(source->period_s * 1000)};

		energy->stored[i] = is_usable(source) ? count++ : -1;
		if (is_usable(source))
			r = store_source_add(store, session, &kept, err);
	}
	return r;
}

int64_t bench_energy_mark(struct bench_energy *energy)
{
	return energy ? meter_sampler_mark(energy->sampler) : 0;
}

static void take_boundary(struct bench_energy *energy, enum meter_boundary boundary, int64_t from_ns, int64_t to_ns,
			  struct bench_values *values)
{
	const char *name = meter_boundary_name(boundary);
	struct meter_result result;
	bool known;

	meter_total(energy->sampler, boundary, from_ns, to_ns, &result);
	known = result.state == METER_VALUE && !(result.error_share > MOST_ERROR);
	energy->told[boundary] = energy->told[boundary] || known;
	/* Once is enough: a session may have a million of them. */
	if (!known && !energy->missed[boundary])
		energy->missed[boundary] =
		    bench_energy_short(energy->arena, energy->set, boundary, (double)(to_ns - from_ns) / 1e9);
	(void)bench_values_set(values,
			       &(struct bench_metric){arena_printf(energy->arena, "%s" BENCH_ENERGY_OF, name), "J",
						      "meters", name, BENCH_LESS},
			       known ? result.energy_j : (double)NAN);
	(void)bench_values_set(values,
			       &(struct bench_metric){arena_printf(energy->arena, "%s" BENCH_POWER_OF, name), "W",
						      "meters", name, BENCH_LESS},
			       known ? result.mean : (double)NAN);
}

static void take_temperature(const struct bench_energy *energy, int64_t from_ns, int64_t to_ns,
			     struct bench_values *values)
{
	double highest = (double)NAN;
	bool any = false;

	for (size_t i = 0; i < meter_source_count(energy->set); i++) {
		const struct meter_source *source = meter_source_at(energy->set, i);
		struct meter_result result;

		if (!is_usable(source) || source->quantity != METER_TEMPERATURE)
			continue;
		any = true;
		meter_window(energy->sampler, i, from_ns, to_ns, &result);
		if (result.state == METER_VALUE && !(highest > result.peak))
			highest = result.peak;
	}
	if (any)
		(void)bench_values_set(
		    values, &(struct bench_metric){BENCH_TEMPERATURE, "C", "meters", NULL, BENCH_NEITHER}, highest);
}

void bench_energy_take(struct bench_energy *energy, int64_t from_ns, int64_t to_ns, struct bench_values *values)
{
	if (!energy)
		return;
	for (enum meter_boundary boundary = 0; boundary < METER_BOUNDARIES; boundary++)
		if (meter_has(energy->set, boundary))
			take_boundary(energy, boundary, from_ns, to_ns, values);
	take_temperature(energy, from_ns, to_ns, values);
}

/* The last value of a source; NAN: it gave none. */
static double last_value(const struct bench_energy *energy, size_t source)
{
	const struct meter_sample *samples;
	size_t count = meter_samples(energy->sampler, source, &samples, NULL);

	return count && samples[count - 1].state == METER_VALUE ? samples[count - 1].value : (double)NAN;
}

double bench_energy_hottest(const struct bench_energy *energy, const char **ret_sensor)
{
	double hottest = (double)NAN;

	*ret_sensor = NULL;
	for (size_t i = 0; energy && i < meter_source_count(energy->set); i++) {
		const struct meter_source *source = meter_source_at(energy->set, i);

		if (!is_usable(source) || source->quantity != METER_TEMPERATURE || isnan(last_value(energy, i)) ||
		    last_value(energy, i) <= hottest)
			continue;
		hottest = last_value(energy, i);
		*ret_sensor = source->name;
	}
	return hottest;
}

static const char *hot(const struct bench_energy *energy, double limit_c, struct arena *arena)
{
	const char *sensor;
	double now_c = bench_energy_hottest(energy, &sensor);

	return now_c > limit_c
		   ? arena_printf(arena, "%s is at %.0f C, above the limit of %.0f C", sensor, now_c, limit_c)
		   : NULL;
}

/* Over a window that each source of the boundary has been read twice in, and that has ended for all of them. */
static double power_of(const struct bench_energy *energy, enum meter_boundary boundary)
{
	struct meter_result result;
	double period_s = 1;
	int64_t to_ns;

	for (size_t i = 0; i < meter_source_count(energy->set); i++) {
		const struct meter_source *source = meter_source_at(energy->set, i);

		if (source->chosen && source->boundary == boundary)
			period_s = MAX_OF(period_s, source->period_s);
	}
	to_ns = meter_now_ns() - (int64_t)(period_s * 1e9);
	meter_total(energy->sampler, boundary, to_ns - (int64_t)(2e9 * period_s), to_ns, &result);
	return result.state == METER_VALUE ? result.mean : (double)NAN;
}

double bench_energy_power(const struct bench_energy *energy)
{
	static const enum meter_boundary widest_first[] = {METER_WALL, METER_BOARD, METER_SOCKET, METER_PACKAGE};

	for (size_t i = 0; energy && i < ARRAY_SIZE(widest_first); i++)
		if (meter_has(energy->set, widest_first[i]))
			return power_of(energy, widest_first[i]);
	return (double)NAN;
}

const char *bench_energy_throttled(const struct bench_energy *energy, int64_t from_ns, int64_t to_ns,
				   struct arena *arena)
{
	for (size_t i = 0; energy && i < meter_source_count(energy->set); i++) {
		const struct meter_source *source = meter_source_at(energy->set, i);
		struct meter_result result;

		if (!is_usable(source) || source->quantity != METER_LIMIT)
			continue;
		meter_window(energy->sampler, i, from_ns, to_ns, &result);
		if (result.state == METER_VALUE && result.limits & METER_LIMIT_HEAT)
			return arena_printf(arena, "the CPU was slowed down meanwhile by %s (%s)",
					    meter_limit_text(arena, result.limits & METER_LIMIT_HEAT), source->name);
	}
	return NULL;
}

static const char *strong(const struct bench_energy *energy, const struct bench_safety *safety, struct arena *arena)
{
	double now_w = power_of(energy, safety->boundary);

	return now_w > safety->power_w ? arena_printf(arena, "%s power is %.0f W, above the limit of %.0f W",
						      meter_boundary_name(safety->boundary), now_w, safety->power_w)
				       : NULL;
}

const char *bench_energy_over(const struct bench_energy *energy, const struct bench_safety *safety, struct arena *arena)
{
	const char *why = safety->temperature_c > 0 ? hot(energy, safety->temperature_c, arena) : NULL;

	return why || safety->power_w <= 0 ? why : strong(energy, safety, arena);
}

int bench_energy_keep(struct bench_energy *energy, struct store *store, int64_t session, int64_t began_ns, int64_t run,
		      struct err *err)
{
	int r = 0;

	for (size_t i = 0; energy && i < meter_source_count(energy->set) && r == 0; i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		const struct meter_source *source = meter_source_at(energy->set, i);
		const struct meter_sample *samples;
		size_t count = meter_samples(energy->sampler, i, &samples, NULL), fresh = count - energy->kept[i];
		struct store_sample *rows = ARENA_ARRAY(arena, fresh + 1, struct store_sample);
		size_t used = 0;

		for (size_t j = energy->kept[i]; j < count; j++)
			if (samples[j].state == METER_VALUE)
				rows[used++] = (struct store_sample){.run = run,
								     .source = energy->stored[i],
								     .at_ns = samples[j].time_ns - began_ns,
								     .value = source->quantity == METER_ENERGY
										  ? (double)samples[j].count *
											source->counter.unit_j
										  : samples[j].value};
		if (energy->stored[i] >= 0)
			r = store_samples_add(store, session, rows, used, err);
		energy->kept[i] = count;
	}
	return r;
}
