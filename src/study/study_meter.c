/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns which meter a study goes by. */
#include "study_meter.h"

#include <string.h>

#include "bench_energy.h"
#include "text.h"

const char *const study_meters[] = {"wall", "board", "package", NULL};

enum meter_boundary study_meter_boundary(const char *name)
{
	for (enum meter_boundary boundary = 0; boundary < METER_BOUNDARIES; boundary++)
		if (text_equal(meter_boundary_name(boundary), name))
			return boundary;
	return METER_BOUNDARIES;
}

const char *study_meter_choose(const struct study *study, const struct meter_set *meters)
{
	for (size_t i = 0; meters && study_meters[i]; i++)
		if ((!study->meter || text_equal(study->meter, study_meters[i])) &&
		    meter_has(meters, study_meter_boundary(study_meters[i])))
			return study_meters[i];
	return NULL;
}

const char *study_meter_metric(struct arena *arena, const char *name)
{
	return name ? arena_printf(arena, "%s energy", name) : NULL;
}

bool study_meter_feels(const struct meter_set *meters)
{
	for (size_t i = 0; meters && i < meter_source_count(meters); i++) {
		const struct meter_source *source = meter_source_at(meters, i);

		if (source->quantity == METER_TEMPERATURE && source->state == METER_VALUE)
			return true;
	}
	return false;
}

static bool is_of_energy(enum study_goal goal)
{
	return goal == STUDY_ENERGY || goal == STUDY_LOAD_WATTS;
}

/* Energy of a workload whose runs end before the meter has told enough. */
static void check_short(struct arena *arena, const struct study *study, const struct meter_set *meters,
			struct study_checked *checked)
{
	enum meter_boundary boundary = study_meter_boundary(study_meter_choose(study, meters));

	for (size_t i = 0; i < study->objective_count; i++)
		for (size_t w = 0; is_of_energy(study->objectives[i].goal) && w < study->workload_count; w++) {
			const struct study_workload *workload = &study->workloads[w];
			const char *why = workload->takes_s > 0
					      ? bench_energy_short(arena, meters, boundary, workload->takes_s)
					      : NULL;

			if (why)
				study_problem_add(arena, checked, STUDY_NO_METER, study->objectives[i].line,
						  arena_printf(arena, "energy of %s", workload->name), why);
		}
}

void study_meter_check(struct arena *arena, const struct study *study, const struct meter_set *meters,
		       struct study_checked *checked)
{
	const char *no_meter = study->meter ? arena_printf(arena,
							   "no meter of the %s is readable here; hvtune meters tells "
							   "what there is",
							   study->meter)
					    : "no energy or power is readable here; hvtune meters tells what it takes";
	bool any = study_meter_choose(study, meters);

	for (size_t i = 0; i < study->objective_count && !any; i++) {
		const struct study_objective *objective = &study->objectives[i];
		/* Idle windows are left out, and all else goes on; where nothing else is sought nothing is left. */
		bool beside = objective->goal == STUDY_IDLE_WATTS && study->objective_count > 1;

		if (objective->goal != STUDY_TIME)
			study_problem_add(arena, checked, beside ? STUDY_NO_IDLE : STUDY_NO_METER, objective->line,
					  study_goal_name(objective->goal),
					  beside ? arena_printf(arena, "left out: %s", no_meter) : no_meter);
	}
	if (any)
		check_short(arena, study, meters, checked);
	if (study->limits.power_w > 0 && !any)
		study_problem_add(arena, checked, STUDY_NO_METER, study->limits.power_line, "limits: power", no_meter);
	if (study->limits.temperature_c > 0 && !study_meter_feels(meters))
		study_problem_add(arena, checked, STUDY_NO_METER, study->limits.temperature_line, "limits: temperature",
				  "no temperature is readable here, so it cannot be kept (modprobe k10temp)");
	study_problems_sort(checked);
}
