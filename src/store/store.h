/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns observations on disk: what was measured, on which host, with which settings, run by run as it happens. One store
 * is a SQLite file, or a PostgreSQL database for many hosts; both hold the same tables.
 *
 *   session        one `hvtune run`, `compare`, `idle` or study: the host, the command, how it was measured
 *   configuration  what is measured or compared: a command and the values of knobs
 *   metric         what is taken of a run: unit, which way is better, what measured it
 *   block          runs that belong together because they were made one after the other, in random order
 *   run            one execution: valid or not and why not, boot, VM start, clock; with a value for each metric
 *   source         a meter that was sampled; sample: its raw readings
 *   note           what happened meanwhile: a knob changed by somebody, throttling
 *
 * A session belongs to its writer until it is ended. Each call below that writes is one transaction and on disk for
 * every other process when it returns: a kill at any moment leaves whole runs, and at most one of state "running".
 *
 * Ids of configurations, metrics, blocks, runs and sources count from 0 within their session. Texts called JSON are one
 * JSON value each. NULL texts are kept as absent.
 */
#ifndef HVTUNE_STORE_H
#define HVTUNE_STORE_H

#include "arena.h"
#include "err.h"

/* What this hvtune writes. Older stores are brought up to it; newer ones are refused. */
enum { STORE_SCHEMA = 3 };

enum store_mode {
	STORE_READ,  /* never writes; a store that is not there is an error */
	STORE_WRITE, /* made when it is not there, brought up to STORE_SCHEMA when it is older */
};

struct store;

/* A store that is nowhere and gone when it is closed; opened with STORE_WRITE. */
#define STORE_IN_MEMORY ":memory:"

/*
 * `where`: a path, "postgresql://..." (or "postgres://..."), or NULL for the usual place: $HVTUNE_STORE, else for root
 * /var/lib/hvtune/results.db, else $XDG_DATA_HOME/hvtune/results.db or ~/.local/share/hvtune/results.db. -ENOENT: there
 * is none; -EACCES, -EROFS; -EBADMSG: it is damaged or no store of hvtune's; -EPROTO: made by a newer hvtune (or, with
 * STORE_READ, by an older one); -ENOSPC; -ELIBACC: the library that is needed is not installed.
 */
int store_open(const char *where, enum store_mode mode, struct store **ret, struct err *err);
struct store *store_close(struct store *store); /* takes NULL, returns NULL */
void store_close_pointer(struct store **store); /* for CLEANUP() */

/* What it is, for messages: its path, or the URL without the password. */
const char *store_name(const struct store *store);

/* Where store_open(NULL) looks, in the arena. -ENOENT: neither $HOME nor the others are set. */
int store_usual_place(struct arena *arena, const char **ret, struct err *err);

struct store_session {
	int64_t id;	     /* as people name it; given by the store, counting from 1 */
	const char *uid;     /* the same everywhere: 32 hexadecimal digits; made by store_session_begin() when NULL */
	const char *kind;    /* "run", "compare", "idle", "study" */
	const char *name;    /* a label of the user's, or NULL */
	const char *command; /* JSON array: the words of hvtune's own command line */
	const char *cwd;
	const char *version;	 /* of hvtune */
	const char *host;	 /* the machine's name */
	const char *facts;	 /* JSON object: what the host is */
	const char *environment; /* JSON object: variables that were set for the workload */
	const char *method;	 /* JSON object: how it is measured: rule, limits, seed */
	const char *study;	 /* uid of the session of the study that this is part of, or NULL */
	int64_t began_us;	 /* since 1970; now when 0 */
	int64_t ended_us;	 /* 0: not ended */
	/*
	 * "open", "done", "stopped" (by the user), "failed"; and "cut", which is never stored: it is open, but the
	 * process that wrote it is gone.
	 */
	const char *state;
	const char *why;     /* why it ended, in words, or NULL */
	const char *verdict; /* JSON: what was printed as its result, or NULL */
	const char *writer;  /* the process that writes it, see store_writer.c; this one when NULL */
};

struct store_configuration {
	int64_t id;
	const char *name;     /* "A", "make -j32" */
	const char *command;  /* JSON array of words, or NULL (idle) */
	const char *settings; /* JSON object: knob -> value that was set for it; "{}" for none */
	const char *place;    /* where it runs: NULL this host, "ssh:NAME", "vm:NAME" */
};

struct store_metric {
	int64_t id;
	const char *name;      /* "wall time", "energy" */
	const char *unit;      /* "s", "J", "1/s" */
	const char *direction; /* "less" or "more" is better, "none": neither */
	const char *source;    /* what measured it: "clock", "perf energy-pkg", "output: /intervals/0/rate" */
	const char *boundary;  /* of energy and power: "package", "wall"; else NULL */
};

struct store_block {
	int64_t id;
	const char *purpose; /* as of its runs */
	const char *order;   /* JSON array: ids of configurations in the order in which they are run */
	int64_t began_us;    /* now when 0 */
};

struct store_run {
	int64_t id;
	int64_t configuration;
	int64_t block;	      /* -1: none */
	int64_t position;     /* in its block, or among all runs */
	const char *purpose;  /* "warmup", "calibration", "measure", "idle" */
	int64_t began_us;     /* since 1970; now when 0 */
	int64_t took_ns;      /* by `clock`; -1: not known (yet) */
	const char *boot;     /* boot id of the host */
	const char *vm;	      /* the VM that it ran in, or NULL */
	const char *vm_boot;  /* boot id of that VM, or NULL */
	const char *clock;    /* the machine whose clock measured; NULL: the host */
	const char *state;    /* "running", "valid", "invalid" */
	const char *why;      /* why it is invalid, or NULL */
	int64_t exit_code;    /* -1: ended by a signal or unknown */
	int64_t signal;	      /* that ended it, or 0 */
	const double *values; /* by id of the metric, as many as the session has; NAN: none. Filled by store_load() */
};

struct store_source {
	int64_t id;
	const char *name;     /* "perf energy-pkg" */
	const char *boundary; /* "package", "wall", NULL */
	const char *quantity; /* "energy", "power", "clock", "temperature" */
	const char *unit;     /* "J", "W", "MHz", "C" */
	double resolution;    /* in `unit`; 0 unknown */
	int64_t period_ms;    /* how often it was read */
};

struct store_sample {
	int64_t run; /* -1: between runs */
	int64_t source;
	int64_t at_ns; /* since the session's began_us, by the monotonic clock */
	double value;
};

struct store_note {
	int64_t run;	  /* -1: of the session */
	int64_t at_us;	  /* since 1970; now when 0 */
	const char *kind; /* "gate", "knob", "warning" */
	const char *text;
};

/* ---- writing; the ids in the structs are given by the caller, but for session->id ---- */

/* Begin a session: state "open". *ret_id is its id. Once it returns, a power cut does not lose the session. */
int store_session_begin(struct store *store, const struct store_session *session, int64_t *ret_id, struct err *err);

/* End it. `why` and `verdict` may be NULL. */
int store_session_end(struct store *store, int64_t id, const char *state, const char *why, const char *verdict,
		      struct err *err);

/* Forget a session and all that belongs to it. -ENOENT. */
int store_session_delete(struct store *store, int64_t id, struct err *err);

int store_configuration_add(struct store *store, int64_t session, const struct store_configuration *configuration,
			    struct err *err);
int store_metric_add(struct store *store, int64_t session, const struct store_metric *metric, struct err *err);
int store_source_add(struct store *store, int64_t session, const struct store_source *source, struct err *err);
int store_block_add(struct store *store, int64_t session, const struct store_block *block, struct err *err);
int store_note_add(struct store *store, int64_t session, const struct store_note *note, struct err *err);

/* A run begins: state "running". */
int store_run_begin(struct store *store, int64_t session, const struct store_run *run, struct err *err);

/* It has ended: took_ns, clock, state, why, exit_code and signal are taken, and the values of `value_count` metrics. */
int store_run_end(struct store *store, int64_t session, const struct store_run *run, const double *values,
		  size_t value_count, struct err *err);

/* A run from beginning to end in one go, for runs that are over before a note of their beginning would help. */
int store_run_add(struct store *store, int64_t session, const struct store_run *run, const double *values,
		  size_t value_count, struct err *err);

/* Several such runs in one transaction, each with its own number of values. */
struct store_ended {
	struct store_run run;
	const double *values;
	size_t value_count;
};
int store_runs_add(struct store *store, int64_t session, const struct store_ended *runs, size_t count, struct err *err);

int store_samples_add(struct store *store, int64_t session, const struct store_sample *samples, size_t count,
		      struct err *err);

/* ---- reading; everything lives in the arena ---- */

struct store_summary { /* a line of `hvtune results` */
	struct store_session session;
	int64_t configurations, runs, valid;
};

/* All sessions, the newest last. */
int store_sessions(struct store *store, struct arena *arena, struct store_summary **ret, size_t *ret_count,
		   struct err *err);

/*
 * The session that a person names: its number, "last", the beginning of its uid (at least six digits), or its label
 * (the newest of that label). -ENOENT with a hint.
 */
int store_session_find(struct store *store, const char *name, int64_t *ret_id, struct err *err);

struct store_whole {
	struct store_session session;
	struct store_configuration *configurations;
	struct store_metric *metrics;
	struct store_block *blocks;
	struct store_run *runs;
	struct store_source *sources;
	struct store_note *notes;
	size_t configuration_count, metric_count, block_count, run_count, source_count, note_count;
};

/* All of a session but its samples. -ENOENT. */
int store_load(struct store *store, struct arena *arena, int64_t id, struct store_whole *ret, struct err *err);

/* Samples of a run (-1: all) and a source (-1: all), by source and time. */
int store_load_samples(struct store *store, struct arena *arena, int64_t session, int64_t run, int64_t source,
		       struct store_sample **ret, size_t *ret_count, struct err *err);

/* The metric of that name, or NULL. */
const struct store_metric *store_metric_named(const struct store_whole *whole, const char *name);

/*
 * The values of a metric over the runs of a configuration, in their order, without absent ones. Only valid runs, unless
 * `invalid` too. `purpose` NULL: any. In the arena; count returned.
 */
size_t store_values(struct arena *arena, const struct store_whole *whole, int64_t configuration, int64_t metric,
		    const char *purpose, bool invalid, double **ret);

/* ---- moving ---- */

/* Copy sessions into another store, under new numbers; one whose uid is there already is left. *ret_copied counts. */
int store_merge(struct store *from, struct store *into, size_t *ret_copied, struct err *err);

/*
 * A session (0: all) as JSON lines: {"hvtune_results": 2} first, then one line for each row:
 * {"table": "run", "session": 3, "id": 0, ...}. -EIO when `out` cannot be written.
 */
int store_export(struct store *store, int64_t session, FILE *out, struct err *err);

/*
 * Read such lines. Sessions that are there already are left. A line that is no row is refused with its number, and
 * nothing at all is taken then. `name` is for messages.
 */
int store_import(struct store *store, FILE *in, const char *name, size_t *ret_sessions, struct err *err);

/* A session's runs as CSV: one line a run, a column for each metric, with a heading. */
int store_export_csv(struct store *store, int64_t session, FILE *out, struct err *err);

#endif
