/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns measuring an idle window of a study, by the protocol of study A: settle, then a window. */
#include <math.h>

#include "study_run_internal.h"

/* Of the window: batch means of five seconds out of the usual thirty (methods 5.2). */
enum { PARTS = 6 };

struct idle_entry {
	struct study_host *host;
	int config;
};

static int enter(void *data, struct err *err)
{
	const struct idle_entry *entry = data;

	return study_host_enter(entry->host, entry->config, err);
}

const char *study_idle_name(struct arena *arena, const struct study_matrix *matrix, size_t config)
{
	return arena_printf(arena, "idle: %s", study_config_name(arena, matrix, config));
}

const char *study_idle_metric(struct arena *arena, const char *meter)
{
	return meter ? arena_printf(arena, "%s power", meter) : NULL;
}

void study_seen_idle(struct study_seen *seen, const struct study *study, const struct bench_idle_window *window)
{
	seen->value[STUDY_IDLE_WATTS] = window->mean;
	seen->lowest = window->lowest;
	seen->error = window->error;
	seen->busy = window->busy;
	seen->minutes = (study->idle_settle_s + study->idle_window_s) / 60;
	seen->valid = window->valid && isfinite(window->mean) && window->mean > 0;
}

static void prepare(struct study_idler *idler, int config)
{
	struct idle_entry *entry = ARENA_NEW(idler->arena, struct idle_entry);
	const struct study *study = idler->matrix->study;

	*entry = (struct idle_entry){.host = idler->host, .config = config};
	idler->idles[config] = (struct bench_idle){
	    .subject = {.name = study_idle_name(idler->arena, idler->matrix, (size_t)config),
			.settings = study_settings_json(idler->arena, idler->matrix, (size_t)config),
			.enter = enter,
			.data = entry},
	    .metric = study_idle_metric(idler->arena, idler->meter),
	    .settle_s = study->idle_settle_s,
	    .window_s = study->idle_window_s,
	    .parts = PARTS,
	    .tell = idler->tell,
	    .data = idler->data};
}

int study_idle_once(struct study_idler *idler, struct study_seen *seen, struct err *err)
{
	struct bench_idle *idle = &idler->idles[seen->config];
	struct bench_idle_window window;
	int64_t block;
	int r;

	if (!idle->parts)
		prepare(idler, seen->config);
	r = bench_block(idler->bench, study_purposes[STUDY_IDLE], &seen->config, 1, &block, err);
	if (r == 0)
		r = bench_idle(idler->bench, idle, block, &window, err);
	if (r == 0)
		study_seen_idle(seen, idler->matrix->study, &window);
	return r;
}
