/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a stored session shows: its estimates and comparisons, the sentences of its verdict, its charts, and the
 * document made of all that. Everything is computed anew from the runs, with the rules of src/stat.
 */
#ifndef HVTUNE_REPORT_RESULT_H
#define HVTUNE_REPORT_RESULT_H

#include <jansson.h>

#include "report_doc.h"
#include "stat_compare.h"
#include "stat_effects.h"
#include "stat_geomean.h"
#include "store.h"

/* One metric of one configuration. */
struct report_estimate {
	int runs;  /* valid ones with a value */
	int boots; /* in which they were made; 0: not known */
	/*
	 * The geometric mean with its interval on logs, from the means of boots where there are RESULT_LEAST or more;
	 * NAN without runs. Infinite bounds: too few runs for an interval.
	 */
	struct stat_interval value;
	double half;	 /* half of the interval, NAN without one */
	bool arithmetic; /* a value is 0 or below, so that there are no logs: the mean of the values as they are */
};

/* One configuration beside the first, over the blocks that hold both. */
struct report_difference {
	int blocks;
	struct stat_interval ratio; /* NAN without a block */
	enum stat_verdict verdict;
	double within;	   /* no difference larger than this share was shown; may be infinite */
	const char *words; /* "B takes 3.1 % less time than A (2.2 to 4.0 % less)" */
	const char *brief; /* "3.1 % less" */
};

struct report_metric {
	const struct store_metric *metric;
	struct chart_measure measure;
	struct report_estimate *estimates;     /* for each configuration */
	struct report_difference *differences; /* the same; that of the first is empty */
};

/* What a setting contributes to a change of several, as ratios. */
struct report_lever {
	const char *knobs, *from, *to; /* "governor", "powersave", "performance" */
	struct stat_interval share;
	double alone;	    /* on the start, without the others */
	double least, most; /* the range over orders */
	bool equivalent;    /* nothing worth a name */
};

/* One step of a chain of single changes. */
struct report_step {
	const char *label;
	double value, step, alone; /* after it; ratio to the one before; ratio alone. NAN: not known */
};

/* The way from one configuration to another, the largest share first. */
struct report_attribution {
	struct chart_measure measure;
	const char *goal;     /* what it is of: a metric, or a goal of a study */
	const char *workload; /* NULL: there is one, or it is of all together */
	const char *from, *to;
	const char *how; /* the shares were found, a sentence */
	double start, end;
	struct stat_interval total;    /* as measured */
	struct stat_interval residual; /* NAN: nothing is left over, by the way in which they were found */
	bool attributable;
	struct report_lever *levers;
	int count;
	struct report_step *chain;
	int chain_count;
};

/* What a study said at its end. */
struct report_pick {
	const char *pick, *title;  /* "near", "most efficient within 5 % of the fastest" */
	const char *configuration; /* NULL: none, see why */
	const char *why;
	bool sure;
	const char *unsure;	     /* what keeps it from being sure; NULL: it is, or that was not kept */
	double bad, regret_95, gain; /* NAN: not known */
};

struct report_idle {
	const char *name, *behind; /* NULL: behind none */
	int windows;
	struct stat_interval watts, over, trace; /* NAN: not known */
	double lowest;
	bool left;
};

struct report_answer {
	struct report_pick *picks;
	struct report_idle *idles;
	struct chart_point *points; /* time and energy */
	int pick_count, idle_count, point_count;
	const char *idle_why;
	double break_even_s; /* NAN: not known */
};

/* A configuration of a study beside its baseline over all workloads: ratios above 1 are more. */
struct report_mean {
	int configuration;		       /* it in one of its workloads; the settings are the same in all */
	struct stat_geomean performance;       /* workloads 0: none has runs of both */
	struct stat_geomean power, efficiency; /* performance per watt; workloads 0: energy was not measured */
	double *ratios;			       /* of performance, by workload; NAN: not measured */
	const char *left_out;		       /* names of workloads that are in none of the means; "" */
};

/* A metric before and after. */
struct report_change {
	int metric, from, to, pairs;
	double before, after;	    /* geometric means */
	struct stat_interval ratio; /* bounded */
	enum stat_verdict verdict;
};

struct report_result {
	struct arena *arena;
	const struct store_whole *whole;
	const struct store_sample *samples;
	size_t sample_count;
	const int *boots; /* of each run, counted from 0 in their order; -1: not known */
	int boot_count;
	/* By configuration: its first run (-1: none) and how many there are; next_run by run, -1 after the last. */
	const int *first_run, *runs_of, *next_run;
	bool study; /* runs were chosen by what was seen: no difference is claimed */
	/*
	 * Of each configuration: a study may have several, whose values are not compared. workload_count: its idle
	 * windows, in which nothing is run.
	 */
	const int *workloads;
	int workload_count;
	const int *baselines;	       /* of each workload the configuration that it began from; -1: not measured */
	double alpha, margin;	       /* of the comparisons, from the session's method */
	struct report_metric *metrics; /* whole->metric_count */
	int energy;		       /* index of the metric of energy, else of power, that is not the main one; -1 */
	int main;		       /* index of the metric that the verdict is about; -1 without metrics */
	struct report_attribution
	    *attributions; /* of the main metric and of energy, by workload; or what a study said */
	int attribution_count;
	struct report_answer answer;
	struct report_mean *means; /* the baseline first; none where there is one workload */
	int mean_count;
	struct report_change *changes; /* of two configurations; of a study to what it confirmed */
	int change_count;
	const char *const *verdict; /* sentences, the first is the main one; ends with NULL */
	struct chart *charts;
	int chart_count, chart_room;
};

/*
 * Compute it; everything lives in the arena, and `whole` and `samples` must too. Runs that are no numbers are left out;
 * -EINVAL only for what a store cannot hold.
 */
int report_result_make(struct arena *arena, const struct store_whole *whole, const struct store_sample *samples,
		       size_t sample_count, struct report_result **ret, struct err *err);

/* Configurations as JSON settings: the value of a knob as text, or NULL. */
const char *report_setting(struct arena *arena, const struct store_configuration *configuration, const char *knob);

/* Knobs that any configuration sets, in the order of their first appearance; ends with NULL. */
const char *const *report_settings(struct arena *arena, const struct store_whole *whole);

/* A JSON array of words as a command for the shell: quoted where it must be. NULL: "". */
const char *report_command(struct arena *arena, const char *words);

/* One word of it. */
const char *report_word(struct arena *arena, const char *word);

/* The ratio of configuration `b` to `a` over the blocks that hold both; NAN where it has no interval. */
struct stat_interval report_result_pair(const struct report_result *result, size_t metric, size_t a, size_t b);

/* The charts of the result, into result->charts. */
void report_result_charts(struct report_result *result);

/*
 * The result of a session of the store, by its name as people give it. Of a study all parts together, in the order in
 * which they were begun; run by run, in no block. Errors of the store.
 */
int report_result_load(struct arena *arena, struct store *store, const char *name, struct report_result **ret,
		       struct err *err);

/* The host, from the facts that were kept; false: they are of another form, and nothing was added. */
bool report_result_host(struct doc *doc, const struct store_session *session);

/* The whole document: verdict first. */
const struct doc *report_result_doc(struct report_result *result);

json_t *report_result_json(const struct report_result *result);

#endif
