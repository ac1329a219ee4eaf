/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what running a study and reading it back have in common: how its runs stand in the store. */
#ifndef HVTUNE_STUDY_RUN_INTERNAL_H
#define HVTUNE_STUDY_RUN_INTERNAL_H

#include "bench_idle.h"
#include "study_run.h"

extern const char *const study_purposes[]; /* by enum study_purpose */

/*
 * As study_next(), but a step that was begun in another boot or process is done first. `config` (-1: none) and `boot`
 * are how the machine is now; the step is kept in setup->state.
 */
int study_step_next(struct arena *arena, const struct study_setup *setup, const struct study_outcome *outcome,
		    int config, int boot, struct study_step *ret, struct err *err);

/* The name of the configuration in the store that is a workload in a configuration of the study. */
const char *study_subject_name(struct arena *arena, const struct study_matrix *matrix, size_t config, size_t workload);

/* The settings of a configuration as they stand in the store: JSON, see store.h. */
const char *study_settings_json(struct arena *arena, const struct study_matrix *matrix, size_t config);

/* How it is measured, with the study file, the baseline and what runs take: JSON, see store.h. */
const char *study_method_json(struct arena *arena, const struct study_setup *setup, enum study_design design);

/* End those sessions of the study with that uid as "stopped" whose process has gone without ending them. */
int study_end_cut(struct store *store, const char *uid, const char *why, struct err *err);

/* ---- idle windows (study_run_idle.c) ---- */

/* The name of a configuration's idle windows in the store. */
const char *study_idle_name(struct arena *arena, const struct study_matrix *matrix, size_t config);

/* "wall power", as runs keep it; NULL for NULL: the widest that there is. */
const char *study_idle_metric(struct arena *arena, const char *meter);

/* What a window has measured. */
void study_seen_idle(struct study_seen *seen, const struct study *study, const struct bench_idle_window *window);

struct study_idler {
	struct arena *arena;
	const struct study_matrix *matrix;
	struct study_host *host;
	struct bench *bench;
	const char *meter;	  /* whose watts count */
	struct bench_idle *idles; /* by configuration; `parts` 0: not yet */
	void (*tell)(void *data, bool settles, double left_s);
	void *data;
};

/* An idle window of seen->config, which is entered first; `seen` is begun. Errors as bench_idle(). */
int study_idle_once(struct study_idler *idler, struct study_seen *seen, struct err *err);

/* A run of all workloads is put together one by one. `joules` may be NAN. */
void study_seen_begin(struct study_seen *seen, int config, int boot, enum study_purpose purpose);
void study_seen_add(struct study_seen *seen, const struct study *study, size_t workload, double wall_s, double value,
		    double joules);
void study_seen_end(struct study_seen *seen);

/*
 * Why no run of the study so far has joules of the boundary, when runs are too short for its meter; NULL. Of several
 * workloads one is enough: what it took is not in the joules of the others.
 */
const char *study_run_short(const struct bench *bench, enum meter_boundary boundary,
			    const struct study_outcome *outcome);

/* Count in outcome->lack the runs that have no joules, where others have; why is told by those of this session. */
void study_run_lack(const struct bench *bench, struct study_outcome *outcome);

#endif
