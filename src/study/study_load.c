/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading back what the sessions of a study measured. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "study_meter.h"
#include "study_run_internal.h"
#include "text.h"

/* Instead of the number of a workload: nothing is run. */
#define IDLE SIZE_MAX

struct loading {
	struct arena *arena;
	const struct study_matrix *matrix;
	const char **names; /* [config][workload]: of the configurations in the store; then [config] of idle windows */
	const char **boots; /* ids in the order in which they were met */
	size_t boot_count, boot_room;
	struct study_seen *seen;
	size_t count, room;
	const char *meter, *energy; /* what it is measured by, and the metric of that; NULL: not known yet */
};

static int boot_number(struct loading *loading, const char *id)
{
	for (size_t i = 0; i < loading->boot_count; i++)
		if (text_equal(loading->boots[i], id))
			return (int)i;
	if (loading->boot_count == loading->boot_room) {
		size_t room = MAX_OF(2 * loading->boot_room, 16U);
		const char **larger = ARENA_ARRAY(loading->arena, room, const char *);

		if (loading->boot_count)
			memcpy(larger, loading->boots, loading->boot_count * sizeof(*larger));
		loading->boots = larger;
		loading->boot_room = room;
	}
	loading->boots[loading->boot_count] = id ? id : "";
	return (int)loading->boot_count++;
}

/*
 * Which configuration and workload a configuration of the store is, IDLE for its idle windows; false: none of this
 * study file.
 */
static bool find_subject(const struct loading *loading, const char *name, int *ret_config, size_t *ret_workload)
{
	size_t workloads = loading->matrix->study->workload_count, runs = loading->matrix->count * workloads;

	for (size_t i = 0; i < runs + loading->matrix->count; i++)
		if (text_equal(name, loading->names[i])) {
			*ret_config = (int)(i < runs ? i / workloads : i - runs);
			*ret_workload = i < runs ? i % workloads : IDLE;
			return true;
		}
	return false;
}

static enum study_purpose purpose_of(const char *word)
{
	enum study_purpose purpose = STUDY_WARM_UP;

	for (size_t i = STUDY_WARM_UP; i < STUDY_PURPOSES; i++)
		if (text_equal(word, study_purposes[i]))
			purpose = (enum study_purpose)i;
	return purpose;
}

static double value_of(const struct store_whole *whole, const struct store_run *run, const char *name)
{
	const struct store_metric *metric = store_metric_named(whole, name);

	return metric ? run->values[metric->id] : (double)NAN;
}

/* What the study goes by, once the first session that has measured any energy says so. */
static void find_meter(struct loading *loading, const struct store_whole *whole)
{
	for (size_t m = 0; study_meters[m] && !loading->meter; m++) {
		const char *name = study_meter_metric(loading->arena, study_meters[m]);

		if (loading->matrix->study->meter && !text_equal(loading->matrix->study->meter, study_meters[m]))
			continue;
		for (size_t i = 0; i < whole->run_count && !loading->meter; i++)
			if (!isnan(value_of(whole, &whole->runs[i], name))) {
				loading->meter = study_meters[m];
				loading->energy = name;
			}
	}
}

static struct study_seen *next_seen(struct loading *loading)
{
	if (loading->count == loading->room) {
		size_t room = MAX_OF(2 * loading->room, 64U);
		struct study_seen *larger = ARENA_ARRAY(loading->arena, room, struct study_seen);

		if (loading->count)
			memcpy(larger, loading->seen, loading->count * sizeof(*larger));
		loading->seen = larger;
		loading->room = room;
	}
	return &loading->seen[loading->count++];
}

/* ---- idle windows ---- */

static double seconds_of(const struct store_whole *whole, const int64_t *runs, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)whole->runs[runs[i]].took_ns / 1e9;
	return sum;
}

/* The last of a window: the parts, or all of it at once after the first part gave no power. */
static size_t last_parts(const struct store_whole *whole, const int64_t *runs, size_t count)
{
	size_t first = count;

	while (first > 0 && whole->runs[runs[first - 1]].configuration == whole->runs[runs[count - 1]].configuration)
		first--;
	return first;
}

/* As bench_idle() has judged it. */
static void take_window(struct loading *loading, const struct store_whole *whole, const int64_t *runs, size_t count,
			int config)
{
	struct bench_idle_window window = {.valid = true, .mean = NAN, .lowest = NAN, .error = NAN, .busy = 0};
	struct study_seen *seen = next_seen(loading);
	double *watts = ARENA_ARRAY(loading->arena, count, double);
	size_t first = last_parts(whole, runs, count), parts = count - first;

	study_seen_begin(seen, config, boot_number(loading, whole->runs[runs[0]].boot), STUDY_IDLE);
	window.metric = study_idle_metric(loading->arena, loading->meter);
	for (size_t i = first; i < count; i++) {
		const struct store_run *run = &whole->runs[runs[i]];

		window.valid = window.valid && text_equal(run->state, "valid");
		watts[i - first] = window.metric ? value_of(whole, run, window.metric) : (double)NAN;
		window.lowest = i == first ? watts[0] : MIN_OF(window.lowest, watts[i - first]);
		window.busy += value_of(whole, run, BENCH_FOREIGN) / 100 / (double)parts;
	}
	/* One that a kill cut short: its seconds tell how many parts there should be. */
	window.valid =
	    window.valid && seconds_of(whole, runs + first, parts) > .9 * loading->matrix->study->idle_window_s;
	window.mean = stat_mean(watts, (int)parts);
	window.error = stat_sd(watts, (int)parts) / sqrt((double)parts);
	study_seen_idle(seen, loading->matrix->study, &window);
}

/* ---- runs ---- */

/* The runs of one block are one look at a configuration. */
static void take_block(struct loading *loading, const struct store_whole *whole, int64_t block, const int *configs,
		       const size_t *workloads)
{
	const struct study *study = loading->matrix->study;
	int64_t *windows = ARENA_ARRAY(loading->arena, whole->run_count + 1, int64_t);
	struct study_seen *seen = NULL;
	size_t done = 0, window_parts = 0;

	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		const struct study_workload *workload;

		if (run->block != block || configs[run->configuration] < 0)
			continue;
		if (workloads[run->configuration] == IDLE) {
			windows[window_parts++] = (int64_t)i;
			continue;
		}
		if (!seen) {
			seen = next_seen(loading);
			study_seen_begin(seen, configs[run->configuration], boot_number(loading, run->boot),
					 purpose_of(run->purpose));
		}
		workload = &study->workloads[workloads[run->configuration]];
		done++;
		seen->valid = seen->valid && text_equal(run->state, "valid");
		if (seen->valid)
			study_seen_add(seen, study, workloads[run->configuration], (double)run->took_ns / 1e9,
				       value_of(whole, run, study_metric_name(workload)),
				       loading->energy ? value_of(whole, run, loading->energy) : (double)NAN);
	}
	if (window_parts)
		take_window(loading, whole, windows, window_parts, configs[whole->runs[windows[0]].configuration]);
	if (!seen)
		return;
	/* One that was cut short counts as void. */
	seen->valid = seen->valid && done == study->workload_count;
	if (seen->valid)
		study_seen_end(seen);
}

static void take_session(struct loading *loading, const struct store_whole *whole)
{
	int *configs = ARENA_ARRAY(loading->arena, whole->configuration_count + 1, int);
	size_t *workloads = ARENA_ARRAY(loading->arena, whole->configuration_count + 1, size_t);

	for (size_t i = 0; i < whole->configuration_count; i++)
		if (!find_subject(loading, whole->configurations[i].name, &configs[i], &workloads[i]))
			configs[i] = -1;
	find_meter(loading, whole);
	for (size_t i = 0; i < whole->block_count; i++)
		take_block(loading, whole, whole->blocks[i].id, configs, workloads);
}

int study_load(struct arena *arena, struct store *store, const struct study_matrix *matrix, const char *uid,
	       struct study_seen **ret, size_t *ret_count, const char **ret_meter, struct err *err)
{
	int ignored;

	return study_load_boot(arena, store, matrix, uid, "", ret, ret_count, &ignored, ret_meter, err);
}

int study_load_boot(struct arena *arena, struct store *store, const struct study_matrix *matrix, const char *uid,
		    const char *boot, struct study_seen **ret, size_t *ret_count, int *ret_boot, const char **ret_meter,
		    struct err *err)
{
	struct loading loading = {.arena = arena, .matrix = matrix};
	struct store_summary *sessions;
	size_t count, found = 0;
	size_t workloads = matrix->study->workload_count;
	int r = store_sessions(store, arena, &sessions, &count, err);

	loading.names = ARENA_ARRAY(arena, matrix->count * (workloads + 1) + 1, const char *);
	for (size_t i = 0; i < matrix->count * workloads; i++)
		loading.names[i] = study_subject_name(arena, matrix, i / workloads, i % workloads);
	for (size_t i = 0; i < matrix->count; i++)
		loading.names[matrix->count * workloads + i] = study_idle_name(arena, matrix, i);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct store_session *session = &sessions[i].session;
		struct store_whole whole;

		if (!text_equal(session->uid, uid) && !text_equal(session->study, uid))
			continue;
		found++;
		r = store_load(store, arena, session->id, &whole, err);
		if (r == 0)
			take_session(&loading, &whole);
	}
	if (r < 0)
		return r;
	if (!found)
		return err_set(err, ENOENT, uid, "there is no such study in %s", store_name(store));
	*ret = loading.seen;
	*ret_count = loading.count;
	*ret_meter = loading.meter;
	*ret_boot = boot_number(&loading, boot);
	return 0;
}
