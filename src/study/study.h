/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a study is: workloads, factors with their levels, what must not meet, what is sought, and what it may cost.
 * It is read from a YAML file; docs/study-files.md describes each key. Nothing in here looks at a machine.
 */
#ifndef HVTUNE_STUDY_H
#define HVTUNE_STUDY_H

#include "arena.h"
#include "err.h"
#include "knob.h"

/* More makes no study that a host could finish; the product of the levels is limited by STUDY_MOST_CONFIGS. */
enum { STUDY_MOST_FACTORS = 24, STUDY_MOST_LEVELS = 32, STUDY_MOST_WORKLOADS = 128, STUDY_MOST_CONFIGS = 4096 };

/* What it takes to go from one level of a factor to another, cheapest first: the order of nesting. */
enum study_cost {
	STUDY_LIVE,	  /* written at run time */
	STUDY_VM_RESTART, /* VMs are shut down and started */
	STUDY_GUEST_BOOT, /* a guest boots with another kernel line */
	STUDY_HOST_BOOT,
	STUDY_PERSON, /* somebody changes the BIOS and boots */
	STUDY_COSTS,
};

/* "live", "vm-restart", ... as in the file. */
const char *study_cost_name(enum study_cost cost);

/* Seconds that a switch of that cost takes beside the run, before one was measured (methods 3.1; host: with settling).
 */
double study_cost_seconds(enum study_cost cost);

struct study;

/* The same for a study on its machine: what was measured of it there. */
double study_switch_seconds(const struct study *study, enum study_cost cost);

/* What setting a knob takes until it acts. */
enum study_cost study_ask_cost(const struct knob_ask *ask);

struct study_factor;

/* What a person is asked to do for a level of a factor that has `ask`, in the arena. */
const char *study_ask_text(struct arena *arena, const struct study_factor *factor, size_t level);

/* A command: a list of words that is executed as it stands, or one text for the shell. */
struct study_command {
	const char *const *words; /* ended by NULL; with `shell` one text */
	bool shell;
	unsigned line; /* 0: there is none */
};

/* Where a value that is measured is found in the output of a workload. */
enum study_metric_kind {
	STUDY_WALL,  /* the wall time of the command */
	STUDY_JSON,  /* a number at a JSON pointer (RFC 6901) */
	STUDY_REGEX, /* the first group of an extended regular expression */
};

struct study_metric {
	enum study_metric_kind kind;
	const char *pattern; /* NULL for STUDY_WALL */
	const char *unit;    /* "s" */
	bool more_is_better;
	unsigned line;
};

struct study_workload {
	const char *name, *group;    /* group NULL: none */
	const char *const *packages; /* that have to be installed, ended by NULL; NULL: none is named */
	unsigned line;
	struct study_command run, setup, prepare, cleanup;
	const char *directory;	   /* NULL: where hvtune was started */
	const char *on;		   /* the name of a VM; NULL: not in a VM */
	const char *ssh;	   /* "user@machine", where ssh(1) takes it; NULL: not over ssh */
	double timeout_s, takes_s; /* 0: not said */
	double weight;
	struct study_metric metric;
};

struct study_level {
	const char *name;
	unsigned line;
	struct knob_ask *asks; /* ask_count knobs to set, those of the plan too; none: as it was found */
	size_t ask_count;
	const char *plan;		/* the file of a plan that it takes its asks from; NULL: none */
	struct study_command run, undo; /* hooks */
	struct study_command see;	/* succeeds when a person has set the level; line 0: nothing tells */
	enum study_cost cost;		/* to come to it, or to leave it */
};

struct study_factor {
	const char *name;
	unsigned line;
	struct study_level *levels;
	size_t level_count;
	enum study_cost cost; /* the dearest of its levels */
	bool optional;	      /* what cannot be set on a machine is left out there, instead of being a fault */
	const char *ask;      /* what a person is asked to do, "{level}" being the level; NULL: no person is needed */
	bool ask_boots;	      /* he boots the host for it */
};

/* Levels that must not meet: level[i] of factor[i] for all i < count. */
struct study_forbid {
	size_t *factors, *levels;
	size_t count;
	unsigned line;
};

enum study_goal { STUDY_TIME, STUDY_ENERGY, STUDY_LOAD_WATTS, STUDY_IDLE_WATTS, STUDY_GOALS };

const char *study_goal_name(enum study_goal goal);

struct study_objective {
	enum study_goal goal;
	double at_most; /* a limit instead of a wish: idle watts at most that; 0: none */
	double weight;	/* beside the others', for one answer; 0: none is given, and each has its own answer */
	unsigned line;
};

/* How a VM is dealt with. */
struct study_vm_rule {
	const char *ssh; /* "user@machine": its guest is up when it answers there; NULL: when its agent does */
	bool force;	 /* one that does not shut down is cut off */
	double wait_s;	 /* for its guest to come up, or to shut down; 0: not said */
	unsigned line;
};

/* What must not be exceeded while the study runs; 0: no limit. Lines are those of the file. */
struct study_limits {
	double temperature_c; /* of the hottest source of the host */
	double power_w;	      /* of the boundary that the study measures by */
	unsigned boots;	      /* of the host, in all, those back to the baseline too */
	unsigned temperature_line, power_line, boots_line;
};

enum study_design {
	STUDY_AUTO,	  /* blocks of all below twelve configurations, else a race */
	STUDY_FULL,	  /* all configurations in blocks */
	STUDY_RACE,	  /* methods 3.4 */
	STUDY_ONE_BY_ONE, /* the baseline, each level alone, all best together, each left out (methods 4) */
};

const char *study_design_name(enum study_design design);

struct study {
	const char *file, *name, *title;
	struct study_workload *workloads;
	size_t workload_count;
	struct study_factor *factors;
	size_t factor_count;
	struct study_forbid *forbids;
	size_t forbid_count;
	struct study_objective objectives[STUDY_GOALS];
	size_t objective_count;
	const char *meter; /* "wall", "board", "package": whose joules and watts count; NULL: the widest that there is
			    */
	struct study_limits limits;
	struct study_command notify; /* run when something is to be told to a person */
	size_t *baseline;	     /* factor_count levels */
	bool baseline_given;	     /* by the file; else it is what the machine has now, where a level says so */
	enum study_design design;
	double budget_s;     /* 0: none */
	double confidence;   /* of the answer: 0.95 */
	double within;	     /* "as good as the best" within that share: 0.01 */
	unsigned runs_least; /* per configuration in designs that are no race */
	unsigned runs_most;
	bool leave_best;	/* the best, when it was confirmed, is set at the end; else all is put back */
	bool confirm;		/* winner against baseline again on fresh data */
	const char *const *vms; /* names of VMs that are restarted or measured, ended by NULL */
	const struct study_vm_rule *vm_rules; /* as many */
	double idle_settle_s;		      /* before an idle window: 120 */
	double idle_window_s;		      /* 30 */
	double boot_s; /* that a boot of this host took so far, until work could go on; 0: not known */
	uint64_t seed; /* of all random order: told, so that a study can be repeated as it was */
};

/* What is wrong with a file, all of it. */
struct study_mistakes {
	struct arena *arena;
	struct err *items;
	size_t count, room;
};

/*
 * Read a study; `file` is for messages. Everything lives in the arena. 0, or -EINVAL with at least one mistake, each
 * with its line; knobs are looked up in the table of knobs, no machine is asked.
 */
int study_read(struct arena *arena, const char *file, const char *text, size_t length, struct study **ret,
	       struct study_mistakes *mistakes);

#endif
