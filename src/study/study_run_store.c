/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how a study and its runs stand in the store: their names, settings and method, and what one look comes to. */
#include <jansson.h>
#include <math.h>
#include <sys/random.h>

#include "bench_energy.h"
#include "study_run_internal.h"
#include "text.h"

const char *const study_purposes[] = {
    [STUDY_WARM_UP] = "warmup", [STUDY_CHOOSE] = "measure", [STUDY_CONFIRM] = "confirm", [STUDY_IDLE] = "idle"};

const char *study_subject_name(struct arena *arena, const struct study_matrix *matrix, size_t config, size_t workload)
{
	const char *name = study_config_name(arena, matrix, config);

	return matrix->study->workload_count == 1
		   ? name
		   : arena_printf(arena, "%s: %s", matrix->study->workloads[workload].name, name);
}

const char *study_settings_json(struct arena *arena, const struct study_matrix *matrix, size_t config)
{
	const struct study *study = matrix->study;
	const size_t *levels = study_levels(matrix, config);
	json_t *json = json_object();

	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_level *level = &study->factors[f].levels[levels[f]];

		for (size_t i = 0; i < level->ask_count; i++) {
			const struct knob_ask *ask = &level->asks[i];

			json_object_set_new(json, knob_ask_name(arena, ask), json_string(ask->value));
		}
		if (!level->ask_count)
			json_object_set_new(json, study->factors[f].name, json_string(level->name));
	}
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);
	const char *copy = arena_strdup(arena, text ? text : "{}");

	free(text);
	json_decref(json);
	return copy;
}

const char *const *study_knob_names(struct arena *arena, const struct study *study)
{
	const char **names;
	size_t count = 0;

	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			count += study->factors[f].levels[l].ask_count;
	names = ARENA_ARRAY(arena, count + 1, const char *);
	count = 0;
	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			for (size_t i = 0; i < study->factors[f].levels[l].ask_count; i++) {
				const char *name = study->factors[f].levels[l].asks[i].name;
				bool there = false;

				for (size_t n = 0; n < count && !there; n++)
					there = text_equal(names[n], name);
				if (!there)
					names[count++] = name;
			}
	return names;
}

const char *study_uid(struct arena *arena)
{
	unsigned char bytes[16] = {0};
	const char *text = "";

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)(bench_now_ns() >> (4 * i));
	for (size_t i = 0; i < sizeof(bytes); i++)
		text = arena_printf(arena, "%s%02x", text, bytes[i]);
	return text;
}

const char *study_method_json(struct arena *arena, const struct study_setup *setup, enum study_design design)
{
	const struct study *study = setup->matrix->study;
	json_t *json = json_pack("{s:s, s:s, s:s, s:I, s:f, s:f}", "study", study->name, "file", setup->text, "design",
				 study_design_name(design), "seed", (json_int_t)study->seed, "within", study->within,
				 "confidence", study->confidence);
	json_t *baseline = json_loads(study_settings_json(arena, setup->matrix, setup->matrix->baseline), 0, NULL);

	/* What shares and changes are told against. */
	json_object_set_new(json, "baseline", baseline);
	json_t *takes = json_array();

	/* By them what has no room in the budget is left out, when it is gone on with too. */
	for (size_t i = 0; i < study->workload_count; i++)
		json_array_append_new(takes, json_real(study->workloads[i].takes_s));
	json_object_set_new(json, "takes", takes);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	const char *copy = text ? arena_strdup(arena, text) : "{}";

	free(text);
	json_decref(json);
	return copy;
}

int study_end_cut(struct store *store, const char *uid, const char *why, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_summary *sessions = NULL;
	size_t count = 0;
	int r = store_sessions(store, arena, &sessions, &count, err);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct store_session *session = &sessions[i].session;

		if (text_equal(session->state, "cut") &&
		    (text_equal(session->uid, uid) || text_equal(session->study, uid)))
			r = store_session_end(store, session->id, "stopped", why, NULL, err);
	}
	return r;
}

/* ---- one look at a configuration: every workload once ---- */

void study_seen_begin(struct study_seen *seen, int config, int boot, enum study_purpose purpose)
{
	*seen = (struct study_seen){.config = config, .boot = boot, .purpose = purpose, .valid = true};
	for (size_t goal = 0; goal < STUDY_GOALS; goal++)
		seen->value[goal] = NAN;
	seen->lowest = seen->error = seen->busy = (double)NAN;
}

void study_seen_add(struct study_seen *seen, const struct study *study, size_t workload, double wall_s, double value,
		    double joules)
{
	const struct study_workload *of = &study->workloads[workload];
	double weights = 0;

	for (size_t i = 0; i < study->workload_count; i++)
		weights += study->workloads[i].weight;
	if (of->metric.more_is_better)
		value = 1 / value;
	/* What one workload lacks, the whole run lacks: the joules of the others are not those of the run. */
	if (!(seen->minutes > 0))
		seen->value[STUDY_TIME] = seen->value[STUDY_ENERGY] = 0;
	/* The sum of the weighted logs, made a geometric mean by study_seen_end(). */
	seen->value[STUDY_TIME] += of->weight / weights * log(value);
	seen->value[STUDY_ENERGY] += joules;
	seen->minutes += wall_s / 60;
}

void study_seen_end(struct study_seen *seen)
{
	seen->value[STUDY_TIME] = exp(seen->value[STUDY_TIME]);
	seen->value[STUDY_LOAD_WATTS] = seen->value[STUDY_ENERGY] / (seen->minutes * 60);
	if (!isfinite(seen->value[STUDY_TIME]) || seen->value[STUDY_TIME] <= 0)
		seen->valid = false;
}

/* Of the runs that count, *ret_of: how many have joules. */
static size_t with_joules(const struct study_outcome *outcome, size_t *ret_of)
{
	size_t with = 0;

	*ret_of = 0;
	for (size_t i = 0; i < outcome->count; i++) {
		const struct study_seen *seen = &outcome->seen[i];

		if (!seen->valid || seen->purpose == STUDY_IDLE || seen->purpose == STUDY_WARM_UP)
			continue;
		(*ret_of)++;
		with += isfinite(seen->value[STUDY_ENERGY]) != 0;
	}
	return with;
}

const char *study_run_short(const struct bench *bench, enum meter_boundary boundary,
			    const struct study_outcome *outcome)
{
	const char *why = bench_too_short(bench, boundary);
	struct bench_lack lack;
	size_t of;

	if (why || with_joules(outcome, &of) || !of)
		return why;
	bench_lack(bench, &lack);
	return lack.why;
}

void study_run_lack(const struct bench *bench, struct study_outcome *outcome)
{
	struct bench_lack lack = {0}, present;
	size_t with = with_joules(outcome, &lack.of);

	bench_lack(bench, &present);
	lack.without = with ? lack.of - with : 0;
	if (lack.without)
		lack.why = present.why ? arena_strdup(outcome->arena, present.why) : BENCH_ENERGY_MISSED;
	outcome->lack = lack;
}
