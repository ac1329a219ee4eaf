/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how the verdict of a study is told in words: what to take, how sure that is, idle watts, and shares. */
#include <math.h>

#include "report.h"
#include "report_study.h"
#include "text.h"

static const struct {
	const char *title; /* NULL: it has a figure in it */
	enum study_goal goal;
} picks[STUDY_PICKS] = {
    [STUDY_FASTEST] = {"fastest", STUDY_TIME},
    [STUDY_EFFICIENT] = {"most efficient", STUDY_ENERGY},
    [STUDY_NEAR] = {NULL, STUDY_ENERGY},
    [STUDY_KNEE] = {"knee of both", STUDY_ENERGY},
    [STUDY_QUIET] = {"lowest idle watts", STUDY_IDLE_WATTS},
};

struct telling {
	const struct term *term;
	struct arena *arena;
	const struct study_matrix *matrix;
	const struct study_verdict *verdict;
};

static const char *name_of(const struct telling *telling, int config)
{
	return study_config_name(telling->arena, telling->matrix, (size_t)config);
}

static void say(const struct telling *telling, unsigned indent, const char *text)
{
	term_flow(telling->term, (int)indent, false, text);
}

/* "-9.5 % (-10.2 .. -8.8)" of a ratio. */
static const char *change(struct arena *arena, struct stat_interval ratio)
{
	const char *text = arena_printf(arena, "%+.1f %%", 100 * (ratio.estimate - 1));

	return stat_bounded(ratio)
		   ? arena_printf(arena, "%s (%+.1f .. %+.1f)", text, 100 * (ratio.low - 1), 100 * (ratio.high - 1))
		   : text;
}

static const char *watts(struct arena *arena, struct stat_interval is)
{
	return stat_bounded(is) ? arena_printf(arena, "%.1f W (%.1f .. %.1f)", is.estimate, is.low, is.high)
				: arena_printf(arena, "%.1f W", is.estimate);
}

/* ---- picks ---- */

/* Each goal that is known of it, beside the baseline. */
static const char *beside_baseline(const struct telling *telling, const struct study_row *row)
{
	static const char *const words[STUDY_GOALS] = {[STUDY_TIME] = "time",
						       [STUDY_ENERGY] = "energy",
						       [STUDY_LOAD_WATTS] = "watts under load",
						       [STUDY_IDLE_WATTS] = "idle watts"};
	const char *text = "";

	if (row->config == (int)telling->matrix->baseline)
		return "the baseline itself";
	for (size_t goal = 0; goal < STUDY_GOALS; goal++)
		if (isfinite(row->ratio[goal].estimate))
			text = arena_printf(telling->arena, "%s%s%s %s", text, *text ? ", " : "", words[goal],
					    change(telling->arena, row->ratio[goal]));
	return *text ? arena_printf(telling->arena, "against the baseline: %s", text)
		     : "not measured beside the baseline";
}

static const char *title_of(const struct telling *telling, enum study_pick which)
{
	return picks[which].title ? picks[which].title
				  : arena_printf(telling->arena, "most efficient within %.3g %% of the fastest",
						 100 * telling->verdict->slower);
}

/* Of what was measured, or was asked for. */
static bool is_worth_telling(const struct telling *telling, enum study_pick which)
{
	const struct study_picked *pick = &telling->verdict->picks[which];

	return pick->config >= 0 || pick->sought || telling->verdict->measured[picks[which].goal];
}

/* All that one configuration is picked for, from `first` on. */
static void tell_config(const struct telling *telling, enum study_pick first, const struct study_row *row)
{
	const struct study *study = telling->matrix->study;
	const char *titles = "", *unsure = "", *odds = "", *before = NULL;

	for (size_t i = first; i < STUDY_PICKS; i++) {
		const struct study_picked *pick = &telling->verdict->picks[i];
		const char *title = title_of(telling, (enum study_pick)i);

		if (pick->config != row->config)
			continue;
		titles = arena_printf(telling->arena, "%s%s%s", titles, *titles ? ", " : "", title);
		if (!pick->sure && !text_equal(pick->unsure, before))
			unsure = arena_printf(telling->arena, "%s%s%s", unsure, *unsure ? "; " : "", pick->unsure);
		before = pick->sure ? before : pick->unsure;
		if (!pick->sure && isfinite(pick->outlook.bad))
			odds = arena_printf(telling->arena, "%s%s%s that it is not the %s", odds, *odds ? ", " : "",
					    report_study_odds(telling->arena, pick->outlook.bad), title);
	}
	say(telling, 2, arena_printf(telling->arena, "%s: %s", titles, name_of(telling, row->config)));
	say(telling, 4, beside_baseline(telling, row));
	if (*unsure)
		say(telling, 4,
		    arena_printf(telling->arena, "not as sure as asked for (%.3g %%): %s%s", 100 * study->confidence,
				 unsure,
				 *odds ? arena_printf(telling->arena, "; by the runs %s within %.3g %%", odds,
						      100 * study->within)
				       : ""));
	else
		say(telling, 4,
		    arena_printf(telling->arena, "within %.3g %% of the best with the %.3g %% that were asked for",
				 100 * study->within, 100 * study->confidence));
}

static bool was_told(const struct telling *telling, enum study_pick which)
{
	for (size_t i = 0; i < which; i++)
		if (telling->verdict->picks[i].config == telling->verdict->picks[which].config)
			return true;
	return false;
}

static void tell_picks(const struct telling *telling)
{
	bool any = false;

	for (size_t i = 0; i < STUDY_PICKS; i++)
		any = any || is_worth_telling(telling, (enum study_pick)i);
	if (!any)
		return;
	term_flow(telling->term, 0, true, "What to take (hvtune study apply --pick):");
	for (size_t i = 0; i < STUDY_PICKS; i++) {
		const struct study_picked *pick = &telling->verdict->picks[i];

		if (!is_worth_telling(telling, (enum study_pick)i))
			continue;
		if (pick->config < 0)
			say(telling, 2,
			    arena_printf(telling->arena, "%s: none, %s", title_of(telling, (enum study_pick)i),
					 pick->why ? pick->why : ""));
		else if (!was_told(telling, (enum study_pick)i))
			tell_config(telling, (enum study_pick)i, study_verdict_row(telling->verdict, pick->config));
	}
}

/* ---- what more time would bring ---- */

static void tell_outlook(const struct telling *telling)
{
	const struct study_verdict *verdict = telling->verdict;
	const char *text = "";

	for (size_t i = 0; i < STUDY_QUIET; i++) {
		const struct study_picked *pick = &verdict->picks[i];
		const struct stat_outlook *is = &pick->outlook;

		if (pick->config >= 0 && (pick->sought || i == STUDY_FASTEST) && isfinite(is->regret_mean))
			text = arena_printf(telling->arena,
					    "%s%s%s %s (it is now expected to be %s behind the best, at most %s with "
					    "95 %%)",
					    text, *text ? ", " : "", title_of(telling, (enum study_pick)i),
					    report_study_percent(telling->arena, is->gain),
					    report_study_percent(telling->arena, is->regret_mean),
					    report_study_percent(telling->arena, is->regret_95));
	}
	if (*text)
		term_flow(telling->term, 0, true,
			  arena_printf(telling->arena, "Measuring as long again, %s of runs, is expected to gain: %s.",
				       text_duration(telling->arena, 60 * verdict->minutes), text));
}

/* ---- the front and what is left out ---- */

static void tell_front(const struct telling *telling)
{
	const struct study_verdict *verdict = telling->verdict;
	size_t count = 0;
	bool odds = true;

	for (size_t i = 0; i < verdict->row_count; i++) {
		count += verdict->rows[i].front;
		odds = odds && (!verdict->rows[i].front || isfinite(verdict->rows[i].dominated));
	}
	if (count < 2)
		return;
	term_flow(telling->term, 0, true,
		  odds ? "No other is both as fast and as efficient (with the probability that one is after all):"
		       : "No other is both as fast and as efficient (too few runs to say how sure):");
	for (size_t i = 0; i < verdict->row_count; i++) {
		const struct study_row *row = &verdict->rows[i];

		if (row->front)
			say(telling, 2,
			    arena_printf(telling->arena, "%s: time %.4g, energy %.4g J%s%s",
					 name_of(telling, row->config), row->value[STUDY_TIME].estimate,
					 row->value[STUDY_ENERGY].estimate,
					 odds ? arena_printf(telling->arena, " (%s)",
							     report_study_odds(telling->arena, row->dominated))
					      : "",
					 row->allowed ? "" : "; it breaks a limit"));
	}
}

static void tell_limits(const struct telling *telling)
{
	const struct study *study = telling->matrix->study;

	for (size_t o = 0; o < study->objective_count; o++) {
		const struct study_objective *objective = &study->objectives[o];
		size_t keep = 0, broken = 0, open = 0;

		for (size_t i = 0; i < telling->verdict->row_count && objective->at_most > 0; i++) {
			enum study_keeps keeps = telling->verdict->rows[i].keeps[objective->goal];

			keep += keeps == STUDY_KEEPS;
			broken += keeps == STUDY_BREAKS;
			open += keeps == STUDY_KEEPS_UNKNOWN;
		}
		if (objective->at_most > 0)
			term_flow(
			    telling->term, 0, true,
			    arena_printf(telling->arena,
					 "Limit of %s, %.4g W: %zu keep it, %zu do not%s; what does not is not "
					 "picked.",
					 study_goal_name(objective->goal), objective->at_most, keep, broken,
					 open ? arena_printf(telling->arena, ", of %zu it is not known", open) : ""));
	}
}

static void tell_given_up(const struct telling *telling)
{
	for (size_t i = 0; i < telling->verdict->row_count; i++) {
		const struct study_row *row = &telling->verdict->rows[i];

		if (row->given_up)
			term_flow(telling->term, 0, true,
				  arena_printf(telling->arena,
					       "Given up: %s, its last %d runs were void; nothing is said of it.",
					       name_of(telling, row->config), STUDY_MOST_VOID));
	}
}

/* ---- idle watts ---- */

static void tell_idle(const struct telling *telling, const struct study_idle *idle)
{
	struct arena *arena = telling->arena;
	const char *text = arena_printf(arena, "%s: %s, lowest %.1f W", name_of(telling, idle->config),
					watts(arena, idle->watts), idle->lowest);

	if (isfinite(idle->over.estimate))
		text = arena_printf(arena, "%s, %+.1f W beside the baseline", text, idle->over.estimate);
	if (idle->busy > .02)
		text = arena_printf(arena, "%s; the CPUs were %.0f %% busy, that is not idle", text, 100 * idle->busy);
	say(telling, 2, text);
	if (idle->left)
		say(telling, 4,
		    arena_printf(arena,
				 "it leaves a trace: after it was left without a boot the baseline drew %+.1f W (%+.1f "
				 ".. %+.1f) beside before",
				 idle->trace.estimate, idle->trace.low, idle->trace.high));
	else if (stat_bounded(idle->trace))
		say(telling, 4,
		    arena_printf(arena, "no trace after it was left: the baseline drew %+.1f W (%+.1f .. %+.1f)",
				 idle->trace.estimate, idle->trace.low, idle->trace.high));
	if (idle->behind >= 0)
		say(telling, 4,
		    arena_printf(arena, "measured while the trace of %s may still have been there",
				 name_of(telling, idle->behind)));
}

static void tell_break_even(const struct telling *telling)
{
	double seconds = telling->verdict->break_even_s;

	if (isnan(seconds))
		return;
	term_flow(telling->term, 0, true,
		  seconds <= 0
		      ? "The fastest draws more at idle, and never earns it back, however often runs start."
		      : arena_printf(telling->arena,
				     "The fastest draws more at idle: it takes less energy in all only where a "
				     "run starts more often than every %s.",
				     text_duration(telling->arena, seconds)));
}

static void tell_idles(const struct telling *telling)
{
	const struct study_verdict *verdict = telling->verdict;
	const struct study *study = telling->matrix->study;

	if (verdict->idle_why)
		term_flow(telling->term, 0, true, arena_printf(telling->arena, "Idle watts: %s.", verdict->idle_why));
	if (!verdict->idle_count)
		return;
	term_flow(telling->term, 0, true,
		  arena_printf(telling->arena, "Idle, %.3g s after it was left alone, over %.3g s:",
			       study->idle_settle_s, study->idle_window_s));
	for (size_t i = 0; i < verdict->idle_count; i++)
		tell_idle(telling, &verdict->idles[i]);
	tell_break_even(telling);
}

/* ---- shares ---- */

static void tell_lever(const struct telling *telling, const struct study_shares *shares,
		       const struct study_lever *lever)
{
	const struct study_factor *factor = &telling->matrix->study->factors[lever->factor];
	const char *text =
	    arena_printf(telling->arena, "%s, %s to %s: %s", factor->name, factor->levels[lever->from].name,
			 factor->levels[lever->to].name, change(telling->arena, lever->share));

	if (shares->count > 1)
		text = arena_printf(telling->arena, "%s; %+.1f to %+.1f %% by the order", text,
				    100 * (lever->least - 1), 100 * (lever->most - 1));
	say(telling, 2, lever->equivalent ? arena_printf(telling->arena, "%s; nothing worth a name", text) : text);
}

static void tell_chain(const struct telling *telling, const struct study_shares *shares)
{
	const char *text = arena_printf(telling->arena, "in this order: %.4g", shares->start);

	if (!shares->chain || shares->count < 2)
		return;
	for (size_t i = 0; i < shares->count; i++) {
		const struct study_lever *lever = &shares->levers[shares->chain[i].lever];

		text = arena_printf(telling->arena, "%s, %s %.4g (%+.1f %%; alone %+.1f %%)", text,
				    telling->matrix->study->factors[lever->factor].name, shares->chain[i].value,
				    100 * (shares->chain[i].step - 1), 100 * (lever->alone - 1));
	}
	say(telling, 2, text);
}

static void tell_shares(const struct telling *telling, enum study_goal goal)
{
	const struct study_shares *shares = &telling->verdict->shares[goal];
	struct arena *arena = telling->arena;

	if (!shares->count) {
		if (shares->config >= 0 && shares->config != (int)telling->matrix->baseline && shares->why)
			term_flow(
			    telling->term, 0, true,
			    arena_printf(arena, "Shares in %s: not told, %s.", study_goal_name(goal), shares->why));
		return;
	}
	term_flow(telling->term, 0, true,
		  arena_printf(arena, "Shares in %s on the way from the baseline to %s, %s:", study_goal_name(goal),
			       name_of(telling, shares->config), change(arena, shares->total)));
	for (size_t i = 0; i < shares->count; i++)
		tell_lever(telling, shares, &shares->levers[i]);
	if (shares->by == STUDY_SHARES_ENDS)
		say(telling, 2,
		    arena_printf(
			arena, "left over, not attributable: %s%s", change(arena, shares->residual),
			shares->attributable ? "" : "; more than two levers act together, design full tells which"));
	tell_chain(telling, shares);
}

static void tell_together(const struct telling *telling)
{
	const struct study_verdict *verdict = telling->verdict;

	if (verdict->together >= 0)
		term_flow(
		    telling->term, 0, true,
		    arena_printf(telling->arena,
				 "By the shares all levers that gain should be best together: %s, about %+.1f %%. "
				 "That was not measured: hvtune compare tells.",
				 name_of(telling, verdict->together), 100 * (verdict->together_ratio - 1)));
}

void report_study_verdict(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			  const struct study_verdict *verdict)
{
	const struct telling telling = {.term = term, .arena = arena, .matrix = matrix, .verdict = verdict};

	tell_picks(&telling);
	tell_limits(&telling);
	tell_outlook(&telling);
	tell_front(&telling);
	tell_idles(&telling);
	for (size_t goal = 0; goal < STUDY_GOALS; goal++)
		tell_shares(&telling, (enum study_goal)goal);
	tell_together(&telling);
	tell_given_up(&telling);
}
