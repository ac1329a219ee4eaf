/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns starting the commands that are measured and the hooks around them: the one spawner of this room. No shell comes
 * between unless the command is one. A timeout or Ctrl-C ends the command's process group and then all else that it has
 * started, in whatever session or group that hides; a command that ends by itself may leave processes, and that is
 * told.
 *
 * Wall time is CLOCK_MONOTONIC from before the spawn until the end is seen; user and system time and peak memory are
 * those of the command and of all that it or hvtune has reaped of it, from wait4(2).
 */
#ifndef HVTUNE_BENCH_SPAWN_H
#define HVTUNE_BENCH_SPAWN_H

#include "arena.h"
#include "err.h"

struct bench_guest;

enum bench_output {
	BENCH_OUTPUT_NONE,    /* to /dev/null */
	BENCH_OUTPUT_SHOWN,   /* to hvtune's own, standard output to standard error */
	BENCH_OUTPUT_CAPTURE, /* kept; what is more than BENCH_MOST_OUTPUT is read and dropped */
};

enum { BENCH_MOST_OUTPUT = 32 << 20, BENCH_LEFT_NAMES = 64 };

struct bench_command {
	const char *const *argv;	/* ended by NULL */
	const char *program;		/* path of argv[0]; NULL: looked for in $PATH each time */
	const char *cwd;		/* NULL: where hvtune is */
	const char *const *environment; /* "NAME=value", ended by NULL; NULL: hvtune's own */
	int64_t timeout_ns;		/* 0: none. The group gets SIGTERM, and SIGKILL two seconds later */
	enum bench_output output;
	const char *input; /* a file for standard input; NULL: /dev/null */
	/* The VM whose agent runs it, argv being of bench_guest_argv(); NULL: it runs here. See bench_guest.h. */
	const struct bench_guest *guest;
};

struct bench_outcome {
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC */
	int64_t user_us, system_us;
	int64_t peak_kib; /* of the largest process; -1 when that is less than can be told (see bench_spawner_run()) */
	int64_t peak_floor_kib; /* a peak up to this cannot be told */
	int exit_code;		/* -1: ended by a signal */
	int signal;		/* 0: it ended by itself */
	bool timed_out;
	bool stopped;			   /* because of a signal to hvtune */
	bool lost;			   /* of a guest: what came of it is not known; `errors` says why */
	int left;			   /* processes that it has started and that run on */
	char left_names[BENCH_LEFT_NAMES]; /* of the first of them: "sleep, sh" */
	bool cut;			   /* there was more output than is kept */
	char *output, *errors;		   /* BENCH_OUTPUT_CAPTURE: with a NUL behind; freed by bench_outcome_clear() */
	size_t output_size, errors_size;
};

void bench_outcome_clear(struct bench_outcome *outcome); /* for CLEANUP() too */

/* SIGINT, SIGTERM and SIGHUP wait here while something is measured. */
struct bench_signals {
	int fd;		  /* signalfd(2), -1: none */
	bool stopped;	  /* one has come */
	char before[128]; /* the mask before, a sigset_t */
	/*
	 * What else ends a run as a signal does: asked at most once a second, why or NULL (a machine that is too hot).
	 * `look` NULL: nothing does. `over` keeps the first answer.
	 */
	const char *(*look)(void *data);
	void *data;
	const char *over;
	int64_t looked_ns;
};

void bench_signals_hold(struct bench_signals *signals);
void bench_signals_release(struct bench_signals *signals);
/* Has one come? */
bool bench_signals_came(struct bench_signals *signals);
/* Is there a reason of `look`'s to end what runs? */
const char *bench_signals_over(struct bench_signals *signals);
/* Wait so long, or until one comes: true then. */
bool bench_signals_wait(struct bench_signals *signals, int64_t wait_ns);

/* Where the program is that `name` means by $PATH, in the arena. -ENOENT, -EACCES with a hint. */
int bench_find_program(struct arena *arena, const char *name, const char **ret, struct err *err);

/*
 * The process from which commands are started. The kernel counts into a command's peak memory what that process has, so
 * it is to be opened early, while hvtune has read little; a peak no larger than its own (some 2 MiB then) cannot be
 * told and is -1. The first error of opening it is told by bench_spawner_run().
 */
struct bench_spawner *bench_spawner_open(void);
struct bench_spawner *bench_spawner_close(struct bench_spawner *spawner); /* takes NULL, returns NULL */
int64_t bench_spawner_spent_us(const struct bench_spawner *spawner);	  /* its own CPU time; 0 for NULL */

/*
 * Run a command to its end. 0 whatever it ended with; a negative errno when it could not be started: -ENOENT, -EACCES,
 * -ENOEXEC, -ENOTDIR... `signals` may be NULL.
 */
int bench_spawner_run(struct bench_spawner *spawner, const struct bench_command *command, struct bench_signals *signals,
		      struct bench_outcome *ret, struct err *err);

/* The same from a spawner for this one command. */
int bench_spawn(const struct bench_command *command, struct bench_signals *signals, struct bench_outcome *ret,
		struct err *err);

/*
 * Cut a text into the words of a command as a POSIX shell would: blanks, quotes, backslashes. -EINVAL for an open quote
 * or an empty command, and -ENOTSUP for what only a shell can do (|, >, $, *...), with the hint --shell.
 */
int bench_words(struct arena *arena, const char *text, const char *const **ret, struct err *err);

/* The argv that has the shell run a text. */
const char *const *bench_shell_argv(struct arena *arena, const char *shell, const char *text);

/* Words as one line that a shell would take back. */
const char *bench_words_text(struct arena *arena, const char *const *words);

/* Words as a JSON array. */
const char *bench_words_json(struct arena *arena, const char *const *words);

int64_t bench_now_ns(void); /* CLOCK_MONOTONIC */

#endif
