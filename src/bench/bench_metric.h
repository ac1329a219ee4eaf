/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what is taken of a run: the figures of the system (wall time, user and system time, peak memory, energy) and
 * those that a workload prints, each with its unit and which way is better.
 */
#ifndef HVTUNE_BENCH_METRIC_H
#define HVTUNE_BENCH_METRIC_H

#include "arena.h"
#include "err.h"

/* Names of the metrics that every run has. */
#define BENCH_WALL "wall time"	     /* s */
#define BENCH_USER "user time"	     /* s */
#define BENCH_SYSTEM "system time"   /* s */
#define BENCH_PEAK "peak memory"     /* MiB */
#define BENCH_FOREIGN "foreign load" /* % of all CPUs */
/* And where there are meters; the latter two behind the name of a boundary. */
#define BENCH_TEMPERATURE "temperature" /* C, the highest */
#define BENCH_ENERGY_OF " energy"	/* J */
#define BENCH_POWER_OF " power"		/* W */

enum bench_better { BENCH_LESS, BENCH_MORE, BENCH_NEITHER };

const char *bench_better_name(enum bench_better better); /* "less", "more", "none" */

struct bench_metric {
	const char *name; /* unique among the metrics of a session */
	const char *unit;
	const char *source; /* "clock", "kernel", "output: /end/bits" */
	const char *boundary;
	enum bench_better better;
};

/* The metrics of a session with the values of one run. Metrics are added as they are met and keep their place. */
struct bench_values {
	struct arena *arena; /* texts are copied into it */
	struct bench_metric *metrics;
	double *values; /* NAN: not of this run */
	size_t count, room;
};

/* Forget the values, keep the metrics. */
void bench_values_clear(struct bench_values *values);

/* Set a value; the metric is added when there is none of that name. Returns its place. */
size_t bench_values_set(struct bench_values *values, const struct bench_metric *metric, double value);

/* The place of the metric of that name, or -1. */
int bench_values_find(const struct bench_values *values, const char *name);

/* ---- what workloads print ---- */

enum bench_reader_kind { BENCH_JSON, BENCH_REGEX, BENCH_BUILT_IN };

struct bench_reader {
	enum bench_reader_kind kind;
	struct bench_metric metric; /* of BENCH_JSON and BENCH_REGEX */
	const char *pattern;	    /* JSON pointer (RFC 6901), extended regular expression, or name of the built-in */
};

/*
 * "NAME[:UNIT[:less|more]]=json:POINTER" or "...=regex:EXPRESSION", or the name of a built-in alone: "iperf3",
 * "sysbench", "fio", "stress-ng", "phoronix". Texts in the arena; the expression is compiled to see whether it can be.
 * -EINVAL with a hint.
 */
int bench_reader_parse(struct arena *arena, const char *text, struct bench_reader *ret, struct err *err);

/* Is that the name of what every run has, or of what a meter gives? Nothing that a workload prints may have it. */
bool bench_metric_is_own(const char *name);

/* The names of the built-ins with what each reads; NULL past the end. */
const char *bench_built_in_at(size_t index, const char **ret_reads);

/*
 * Find the values in what a run printed: JSON and XML in `output`, the others in both. -ENOENT: it is not there,
 * -EBADMSG: the output is no JSON or XML, or what stands there is no number, -EPROTO: the workload says that it failed;
 * such a run is void, with err->what as the reason.
 */
int bench_reader_read(const struct bench_reader *reader, const char *output, const char *errors,
		      struct bench_values *values, struct err *err);

#endif
