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
#include "store.h"

/* One metric of one configuration. */
struct report_estimate {
	int runs;		    /* valid ones with a value */
	struct stat_interval value; /* NAN without runs; infinite bounds: too few for an interval */
	double half;		    /* half of the interval, NAN without one */
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

struct report_result {
	struct arena *arena;
	const struct store_whole *whole;
	const struct store_sample *samples;
	size_t sample_count;
	bool study;	/* runs were chosen by what was seen: no difference is claimed */
	int *workloads; /* of each configuration: a study may have several, whose values are not compared */
	int workload_count;
	double alpha, margin;	       /* of the comparisons, from the session's method */
	struct report_metric *metrics; /* whole->metric_count */
	int main;		       /* index of the metric that the verdict is about; -1 without metrics */
	const char *const *verdict;    /* sentences, the first is the main one; ends with NULL */
	struct chart *charts;
	int chart_count;
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
 * `whole` is a session of a study: take all of its parts together, in the order in which they were begun; run by run,
 * in no block. Errors of the store. The results are untouched then.
 */
int report_result_study(struct arena *arena, struct store *store, struct store_whole *whole,
			struct store_sample **samples, size_t *sample_count, struct err *err);

/* The host, from the facts of `hvtune show --json`; false: they are of another form, and nothing was added. */
bool report_result_host(struct doc *doc, const char *facts);

/* The whole document: verdict first. */
const struct doc *report_result_doc(struct report_result *result);

json_t *report_result_json(const struct report_result *result);

#endif
