/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how long a study takes on this machine. */
#include "study_time.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "study_estimate.h"
#include "study_host.h"
#include "study_named.h"
#include "text.h"

bool study_time_wanted(const struct study *study, struct arena *arena)
{
	for (size_t i = 0; i < study->workload_count; i++) {
		const struct study_workload *workload = &study->workloads[i];
		bool known = workload->group && study_named_find(arena, workload->name);

		if (workload->on || workload->ssh || (workload->takes_s > 0 && !known))
			return false;
	}
	return true;
}

static const char *last_line(struct arena *arena, const struct bench_outcome *outcome)
{
	const char *text = text_trim(arena, outcome->errors_size   ? outcome->errors
					    : outcome->output_size ? outcome->output
								   : "");
	const char *newline = strrchr(text, '\n');

	return newline ? newline + 1 : text;
}

static int spawn(const struct study_workload *workload, const struct study_command *of, const char *work,
		 struct arena *arena, struct bench_signals *signals, struct err *err)
{
	struct bench_command command =
	    study_command(arena, of, workload->directory, work, of == &workload->run ? workload->timeout_s : 0);
	const char *key = of == &workload->setup     ? "setup"
			  : of == &workload->prepare ? "prepare"
			  : of == &workload->cleanup ? "cleanup"
						     : "run";
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
	int r;

	if (!of->line)
		return 0;
	command.output = BENCH_OUTPUT_CAPTURE;
	r = bench_spawn(&command, signals, &outcome, err);
	if (r < 0)
		return r;
	if (outcome.stopped)
		return err_set(err, EINTR, workload->name, "stopped");
	if (outcome.timed_out)
		return err_set(err, EPROTO, workload->name, "its %s did not end within its timeout", key);
	if (outcome.exit_code == 0)
		return 0;
	const char *said = last_line(arena, &outcome);

	return err_set(err, EPROTO, workload->name, "its %s fails as the machine is now, with %s %d%s%s", key,
		       outcome.signal ? "signal" : "exit code", outcome.signal ? outcome.signal : outcome.exit_code,
		       *said ? ": " : "", said);
}

static int time_one(struct study_workload *workload, const char *work, struct arena *arena,
		    struct bench_signals *signals, struct err *err)
{
	int r = spawn(workload, &workload->setup, work, arena, signals, err);
	int64_t began_ns = bench_now_ns();

	if (r == 0)
		r = spawn(workload, &workload->prepare, work, arena, signals, err);
	if (r == 0)
		r = spawn(workload, &workload->run, work, arena, signals, err);
	if (r == 0)
		r = spawn(workload, &workload->cleanup, work, arena, signals, err);
	if (r == 0)
		workload->takes_s = (double)(bench_now_ns() - began_ns) / 1e9;
	return r;
}

int study_time_run(struct study *study, struct arena *arena, struct bench_signals *signals, struct err *err)
{
	const char *work = arena_printf(arena, "/var/tmp/hvtune-time-%d", (int)getpid());
	/* Those that are known by name are shared. */
	struct study_workload *own = ARENA_ARRAY(arena, study->workload_count + 1, struct study_workload);
	int r = study_work_make(work, err);

	memcpy(own, study->workloads, study->workload_count * sizeof(*own));
	study->workloads = own;
	for (size_t i = 0; i < study->workload_count && r == 0; i++)
		r = time_one(&own[i], work, arena, signals, err);
	study_work_clear(work);
	return r;
}

/* ---- what fits ---- */

static void tell(struct arena *arena, struct study_left_out *left_out, const char *text)
{
	const char **texts = ARENA_ARRAY(arena, left_out->count + 1, const char *);

	if (left_out->count)
		memcpy(texts, left_out->texts, left_out->count * sizeof(*texts));
	texts[left_out->count++] = text;
	left_out->texts = texts;
}

/* Pairs with the level go with it; those after it get its number. */
static void renumber_forbids(struct study *study, size_t factor, size_t gone)
{
	size_t kept = 0;

	for (size_t n = 0; n < study->forbid_count; n++) {
		const struct study_forbid *forbid = &study->forbids[n];
		bool meets = false;

		for (size_t i = 0; i < forbid->count; i++)
			meets = meets || (forbid->factors[i] == factor && forbid->levels[i] == gone);
		for (size_t i = 0; i < forbid->count && !meets; i++)
			if (forbid->factors[i] == factor && forbid->levels[i] > gone)
				forbid->levels[i]--;
		if (!meets)
			study->forbids[kept++] = *forbid;
	}
	study->forbid_count = kept;
}

/* The last level of the factor that is not the baseline's. */
static const char *drop_level(struct study *study, struct arena *arena, size_t f)
{
	struct study_factor *factor = &study->factors[f];
	size_t gone = factor->level_count - 1 - (study->baseline[f] == factor->level_count - 1);
	const char *what = arena_printf(arena, "%s=%s", factor->name, factor->levels[gone].name);

	renumber_forbids(study, f, gone);
	memmove(&factor->levels[gone], &factor->levels[gone + 1],
		(factor->level_count - gone - 1) * sizeof(*factor->levels));
	factor->level_count--;
	study->baseline[f] -= study->baseline[f] > gone;
	return what;
}

/* A factor that is not studied stays as it is now: its levels go, all but the baseline's, and then it. */
static const char *drop_factor(struct study *study, struct arena *arena, size_t f)
{
	const char *name = study->factors[f].name;

	while (study->factors[f].level_count > 1)
		(void)drop_level(study, arena, f);
	for (size_t n = 0; n < study->forbid_count; n++) {
		struct study_forbid *forbid = &study->forbids[n];
		size_t kept = 0;

		/* What excludes the level that stays is excluded for good. */
		for (size_t i = 0; i < forbid->count; i++)
			if (forbid->factors[i] != f) {
				forbid->factors[kept] = forbid->factors[i] - (forbid->factors[i] > f);
				forbid->levels[kept++] = forbid->levels[i];
			}
		forbid->count = kept;
	}
	study->factor_count--;
	memmove(&study->factors[f], &study->factors[f + 1], (study->factor_count - f) * sizeof(*study->factors));
	memmove(&study->baseline[f], &study->baseline[f + 1], (study->factor_count - f) * sizeof(*study->baseline));
	return name;
}

static bool fits(const struct study *study, struct arena *arena)
{
	struct study_estimate estimate;
	struct study_matrix matrix;

	study_matrix_make(arena, study, &matrix);
	study_estimate(&matrix, &estimate);
	return matrix.count >= 2 && estimate.whole_least_s <= study->budget_s;
}

/* What goes next; NULL: all that is left has to be measured. */
static const char *drop_next(struct study *study, struct arena *arena)
{
	for (size_t f = study->factor_count; f-- > 0 && study->factor_count > 1;)
		if (study->factors[f].optional)
			return drop_factor(study, arena, f);
	if (study->factor_count > 1 || !study->factors[0].optional)
		return NULL;
	if (study->factors[0].level_count > 2)
		return drop_level(study, arena, 0);
	if (!study->confirm)
		return NULL;
	study->confirm = false;
	return "confirming";
}

void study_time_fit(struct study *study, struct arena *arena, struct study_left_out *ret)
{
	const char *what;

	/* Over boots it is gone on with by another process, which must find the same configurations. */
	for (size_t f = 0; f < study->factor_count; f++)
		if (study->factors[f].cost != STUDY_LIVE)
			return;
	while (study->budget_s > 0 && !fits(study, arena) && (what = drop_next(study, arena)))
		tell(arena, ret,
		     arena_printf(arena, "%s: there is no time for it in %s", what,
				  text_duration(arena, study->budget_s)));
}
