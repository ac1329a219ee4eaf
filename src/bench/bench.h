/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns measuring: a session in which configurations are run, one run after the other in any order, each with hooks, the
 * gate, what was measured of it, and a row in the store before the next begins. What to run next is for the caller:
 * bench_repeat() until one configuration is known well enough, bench_compare() (bench_compare.h) for blocks, a study.
 */
#ifndef HVTUNE_BENCH_H
#define HVTUNE_BENCH_H

#include "bench_gate.h"
#include "bench_metric.h"
#include "bench_spawn.h"
#include "meter_sampler.h"
#include "stat_stop.h"
#include "store.h"

/* A configuration: what is run, and what the machine is like for it. Texts and commands must outlive the session. */
struct bench_subject {
	const char *name;
	struct bench_command command;
	const struct bench_command *prepare, *conclude; /* before and after each run, not timed; NULL: none */
	int exit_code;					/* the one that is expected; BENCH_ANY_EXIT: any */
	const char *settings;				/* JSON object, see store.h; NULL: {} */
	const char *place;				/* see store.h */
	const struct bench_reader *readers;		/* reader_count, instead of those of the session; NULL: those */
	size_t reader_count;
	/* Make the machine such; called before a run when the last one was of another subject. NULL: nothing to do. */
	int (*enter)(void *data, struct err *err);
	void *data;
};

enum { BENCH_ANY_EXIT = -1 };

/* What the machine must not exceed while runs are made; 0: no limit. */
struct bench_safety {
	double temperature_c; /* of the hottest sensor */
	double power_w;	      /* of `boundary`, over some seconds */
	enum meter_boundary boundary;
};

struct bench_setup {
	struct store *store;	      /* NULL: nothing is kept */
	struct store_session session; /* as it is to be kept; kind and command are enough */
	struct sys *sys;	      /* for the gate and the meters; must outlive the session */
	struct knob_machine *machine; /* for the settings that are watched; NULL: none are */
	const char *const *watch;     /* knobs that are watched besides the usual ones, ended by NULL; NULL: none */
	struct meter_set *meters;     /* NULL: energy is not measured */
	const struct bench_reader *readers; /* reader_count, for the output of commands */
	size_t reader_count;
	const char *read_from; /* a file that readers read instead of the output, after each run; NULL */
	struct bench_limits limits;
	struct bench_safety safety;
	/* Told about twice a second while a run waits for limits.temperature_c. NULL: nobody listens. */
	void (*cooling)(void *data, const char *sensor, double celsius, double left_s);
	void *data;
	struct bench_spawner *spawner; /* opened early, and to be closed after the session; NULL: one of its own */
	bool random_offset; /* give each run an environment of another size, so that no layout of the stack is lucky */
};

struct bench_run {
	int64_t id;
	int configuration;
	const char *purpose; /* see store.h */
	int64_t block;
	bool valid;
	const char *why;      /* it is not valid */
	const double *values; /* value_count, by place of the metric; later ones: NAN */
	size_t value_count;
};

struct bench {
	struct arena *arena;
	struct bench_signals signals;
	int64_t session; /* its number in the store; 0: not kept */
	struct bench_values values;
	struct bench_run *runs; /* run_count */
	size_t run_count;
	size_t void_count;
	int64_t small_kib;  /* of commands whose peak memory is too small to be told: no more than this; 0: none */
	const char *left;   /* the last processes that a command left running: "sleep, sh"; NULL: none */
	double foreign;	    /* the largest share of the CPUs that others took in a run; NAN: not known */
	const char *energy; /* why no energy is measured, or NULL: it is */
	struct bench_private *self;
};

/* Begin a session. Signals are held from here on. The store's refusals are those of store_session_begin(). */
int bench_open(const struct bench_setup *setup, struct bench **ret, struct err *err);

/*
 * End it, in the store too: "done", "stopped" or "failed", with why and the verdict (JSON), both may be NULL. Takes
 * NULL. What the store says is in err, the session is freed all the same.
 */
int bench_close(struct bench *bench, const char *state, const char *why, const char *verdict, struct err *err);

/* What hvtune itself has used since the session began, in words, in the arena. At its end a note of it is kept. */
const char *bench_cost(const struct bench *bench, struct arena *arena);

/* Why no run so far has joules of the boundary, when they are too short for its meter; NULL. Lives as the session. */
const char *bench_too_short(const struct bench *bench, enum meter_boundary boundary);

/* Runs without joules among valid ones that have them: those that were too short for the meter, or that it missed. */
struct bench_lack {
	size_t without, of; /* without 0: none lacks them, or all do (bench->energy) */
	const char *why;    /* lives as the session; NULL: none lacks them */
};

/* Of the widest boundary of which any run has joules; warm-up runs are not looked at. */
void bench_lack(const struct bench *bench, struct bench_lack *ret);

/* "3 of 8 runs have none: WHY", in the arena. */
const char *bench_lack_text(struct arena *arena, const struct bench_lack *lack);

/*
 * What of the settings that are watched holds another value than when the session began, in the arena; NULL: nothing.
 * For the end, when all that was set has been put back.
 */
const char *bench_not_back(const struct bench *bench, struct arena *arena);

/* Add a configuration; *ret is its number. */
int bench_add(struct bench *bench, const struct bench_subject *subject, int *ret, struct err *err);

/* Run a hook (--setup, --cleanup): 0, -EPROTO with its last line when it fails, -EINTR when it was stopped. */
int bench_hook(struct bench *bench, const struct bench_command *hook, const char *what, struct err *err);

/* The same of a hook that has run, with its output captured; *outcome stays the caller's. */
int bench_hook_judge(struct arena *arena, struct bench_outcome *outcome, const char *what, struct err *err);

/* Note in the store that a block begins; `order` is the order of `count` configurations. *ret is its number. */
int bench_block(struct bench *bench, const char *purpose, const int *order, size_t count, int64_t *ret,
		struct err *err);

/*
 * Make the machine such as the configuration wants it, without a run; bench_measure() does it by itself. Nothing is
 * done when the last run was of it. Errors of the configuration's enter().
 */
int bench_enter(struct bench *bench, int configuration, struct err *err);

/*
 * One run. 0 also when it is void: see (*ret)->valid. -EINTR: stopped by a signal, or because the machine exceeds what
 * is allowed (bench->signals.over says how); that run is in the store as invalid. Other errors: it could not be
 * started, a hook or enter() failed, or the store cannot be written. *ret lives as long as the session, until the next
 * run.
 */
int bench_measure(struct bench *bench, int configuration, const char *purpose, int64_t block,
		  const struct bench_run **ret, struct err *err);

/* Keep a void run that was not made, since the machine could not be made such; `why` says what was in the way. */
int bench_void(struct bench *bench, int configuration, const char *purpose, int64_t block, const char *why,
	       const struct bench_run **ret, struct err *err);

/*
 * The shortest runs are kept some tens of milliseconds together, unless meters are sampled: after this all are in the
 * store.
 */
int bench_flush(struct bench *bench, struct err *err);

/*
 * The values of a metric over valid runs of a configuration and purpose (NULL: any), in order. In the arena; returns
 * the count.
 */
size_t bench_series(const struct bench *bench, struct arena *arena, int configuration, const char *metric,
		    const char *purpose, double **ret);

/* The metric that decides: `given`, else the first that readers gave, else wall time. */
const char *bench_target(const struct bench *bench, const char *given);

/* ---- one configuration until it is known well enough ---- */

struct bench_rule {
	const char *metric;   /* NULL: the first that the readers gave, or wall time */
	unsigned warmup;      /* runs that are kept but left out */
	unsigned runs;	      /* exactly so many; 0: by precision */
	double precision;     /* relative half width of the interval, .01 */
	unsigned least, most; /* runs, by precision */
	int64_t time_ns;      /* no run begins after this; 0: no limit */
	/* Told before each run: how many valid runs there are, how many there may be (0 unknown) and the time left. */
	void (*tell)(void *data, const struct bench *bench, unsigned done, unsigned expected, double left_s);
	void *data;
};

enum bench_end { BENCH_STOPPED, BENCH_PRECISE, BENCH_RUNS, BENCH_MOST_RUNS, BENCH_TIME, BENCH_VOID };

struct bench_result {
	const char *metric;
	enum bench_end end;
	struct stat_estimate estimate; /* n == 0: there is no valid run */
	double alpha;		       /* nominal, of its interval */
};

/* Repeat a configuration by the rule. Errors as bench_measure(); *ret is filled with what there is then too. */
int bench_repeat(struct bench *bench, int configuration, const struct bench_rule *rule, struct bench_result *ret,
		 struct err *err);

const char *bench_end_text(enum bench_end end);

#endif
