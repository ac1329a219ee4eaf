/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the verdict of a study as JSON: as it is printed, and as it is kept with the results. */
#include <math.h>

#include "report.h"
#include "report_study.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval(struct stat_interval is)
{
	return isfinite(is.estimate) ? json_pack("{s:o, s:o, s:o}", "estimate", number(is.estimate), "low",
						 number(is.low), "high", number(is.high))
				     : json_null();
}

static json_t *name_of(struct arena *arena, const struct study_matrix *matrix, int config)
{
	return config < 0 ? json_null() : report_json_text(study_config_name(arena, matrix, (size_t)config));
}

static json_t *pick_json(struct arena *arena, const struct study_matrix *matrix, enum study_pick kind,
			 const struct study_picked *pick)
{
	bool there = pick->config >= 0;

	return json_pack("{s:s, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "pick", study_pick_name(kind),
			 "configuration", name_of(arena, matrix, pick->config), "why",
			 there ? json_null() : report_json_text(pick->why), "sought", pick->sought, "sure", pick->sure,
			 "unsure", report_json_text(there ? pick->unsure : NULL), "bad",
			 there ? number(pick->outlook.bad) : json_null(), "regret",
			 there ? number(pick->outlook.regret_mean) : json_null(), "regret_95",
			 there ? number(pick->outlook.regret_95) : json_null(), "gain",
			 there ? number(pick->outlook.gain) : json_null());
}

static json_t *picks_json(struct arena *arena, const struct study_matrix *matrix, const struct study_verdict *verdict)
{
	json_t *list = json_array();

	for (size_t i = 0; i < STUDY_PICKS; i++)
		json_array_append_new(list, pick_json(arena, matrix, (enum study_pick)i, &verdict->picks[i]));
	return list;
}

static json_t *nears_json(struct arena *arena, const struct study_matrix *matrix, const struct study_verdict *verdict)
{
	json_t *list = json_array();

	for (size_t i = 0; i < verdict->near_count; i++) {
		json_t *json = pick_json(arena, matrix, STUDY_NEAR, &verdict->nears[i].pick);

		json_object_set_new(json, "slower", number(verdict->nears[i].slower));
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *row_json(struct arena *arena, const struct study_matrix *matrix, const struct study_row *row)
{
	static const char *const limits[] = {[STUDY_NO_LIMIT] = NULL,
					     [STUDY_KEEPS] = "keeps",
					     [STUDY_BREAKS] = "breaks",
					     [STUDY_KEEPS_UNKNOWN] = "unknown"};
	json_t *json =
	    json_pack("{s:o, s:i, s:i, s:i, s:o, s:b, s:b, s:b}", "name", name_of(arena, matrix, row->config), "runs",
		      row->runs, "void", row->voids, "boots", row->boots, "dominated", number(row->dominated), "front",
		      row->front, "allowed", row->allowed, "given_up", row->given_up);

	for (size_t goal = 0; goal < STUDY_GOALS; goal++) {
		const char *limit = limits[row->keeps[goal]];

		json_object_set_new(json, study_goal_name((enum study_goal)goal),
				    isfinite(row->value[goal].estimate)
					? json_pack("{s:o, s:o, s:o, s:o}", "value", interval(row->value[goal]),
						    "ratio", interval(row->ratio[goal]), "good",
						    number(row->good[goal]), "limit",
						    limit ? json_string(limit) : json_null())
					: json_null());
	}
	return json;
}

static json_t *idles_json(struct arena *arena, const struct study_matrix *matrix, const struct study_verdict *verdict)
{
	json_t *list = json_array();

	for (size_t i = 0; i < verdict->idle_count; i++) {
		const struct study_idle *idle = &verdict->idles[i];

		json_array_append_new(list, json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "name",
						      name_of(arena, matrix, idle->config), "windows", idle->windows,
						      "watts", interval(idle->watts), "lowest", number(idle->lowest),
						      "busy", number(idle->busy), "over_baseline", interval(idle->over),
						      "trace", interval(idle->trace), "left", idle->left, "behind",
						      name_of(arena, matrix, idle->behind)));
	}
	return list;
}

static json_t *shares_json(struct arena *arena, const struct study_matrix *matrix, const struct study_shares *shares)
{
	static const char *const by[] = {[STUDY_SHARES_NONE] = NULL,
					 [STUDY_SHARES_ENDS] = "first-and-last-in",
					 [STUDY_SHARES_SHAPLEY] = "all-corners",
					 [STUDY_SHARES_MODEL] = "model"};
	json_t *levers = json_array(), *chain = json_array();

	if (shares->by == STUDY_SHARES_NONE) {
		json_decref(levers);
		json_decref(chain);
		return json_pack("{s:n, s:o}", "by", "why", report_json_text(shares->why));
	}
	for (size_t i = 0; i < shares->count; i++) {
		const struct study_lever *lever = &shares->levers[i];
		const struct study_factor *factor = &matrix->study->factors[lever->factor];

		json_array_append_new(levers, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "factor",
							report_json_text(factor->name), "from",
							report_json_text(factor->levels[lever->from].name), "to",
							report_json_text(factor->levels[lever->to].name), "share",
							interval(lever->share), "least", number(lever->least), "most",
							number(lever->most), "alone", number(lever->alone),
							"equivalent", lever->equivalent));
	}
	for (size_t i = 0; i < shares->count && shares->chain; i++)
		json_array_append_new(
		    chain, json_pack("{s:o, s:o, s:o, s:o}", "factor",
				     report_json_text(
					 matrix->study->factors[shares->levers[shares->chain[i].lever].factor].name),
				     "configuration", name_of(arena, matrix, shares->chain[i].config), "value",
				     number(shares->chain[i].value), "step", number(shares->chain[i].step)));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "by", by[shares->by], "configuration",
			 name_of(arena, matrix, shares->config), "start", number(shares->start), "end",
			 number(shares->end), "total", interval(shares->total), "residual", interval(shares->residual),
			 "attributable", shares->attributable, "levers", levers, "in_this_order", chain);
}

json_t *report_study_verdict_json(struct arena *arena, const struct study_matrix *matrix,
				  const struct study_verdict *verdict)
{
	json_t *rows = json_array(), *shares = json_object();
	json_t *together = verdict->together < 0
			       ? json_null()
			       : json_pack("{s:o, s:o}", "configuration", name_of(arena, matrix, verdict->together),
					   "ratio", number(verdict->together_ratio));

	for (size_t i = 0; i < verdict->row_count; i++)
		json_array_append_new(rows, row_json(arena, matrix, &verdict->rows[i]));
	for (size_t goal = 0; goal < STUDY_IDLE_WATTS; goal++)
		json_object_set_new(shares, study_goal_name((enum study_goal)goal),
				    shares_json(arena, matrix, &verdict->shares[goal]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "baseline",
			 name_of(arena, matrix, (int)matrix->baseline), "picks", picks_json(arena, matrix, verdict),
			 "near", nears_json(arena, matrix, verdict), "slower", number(verdict->slower),
			 "configurations", rows, "idle", idles_json(arena, matrix, verdict), "idle_why",
			 report_json_text(verdict->idle_why), "break_even_s",
			 isinf(verdict->break_even_s) ? json_null() : number(verdict->break_even_s), "shares", shares,
			 "together", together, "within", number(matrix->study->within), "void",
			 (json_int_t)verdict->voids, "minutes", number(verdict->minutes));
}
