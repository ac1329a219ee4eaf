/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knob: one thing of a machine that can be set, with how it is read, what it accepts, what moves with it, what
 * it hurts, and whether it lasts over a reboot. A knob has points: the places that each hold one text (the governor has
 * one for each policy). All else in this room works on points alike: plans, the journal, apply and undo.
 */
#ifndef HVTUNE_KNOB_H
#define HVTUNE_KNOB_H

#include "arena.h"
#include "err.h"
#include "sys.h"
#include "sys_write.h"

/* A trial boot that is asked for by more than a person: it is never confirmed, and its default never changes. */
struct knob_trial_of {
	const char *who;	   /* "study 0123abcd" */
	const char *id;		   /* of the trial, as knob_boot_plan_trial() takes it */
	const char *const *failed; /* failed_count units that may have failed in it */
	size_t failed_count;
};

/* What the knobs of one machine work with. */
struct knob_machine {
	struct arena *arena; /* everything that is read lives here */
	struct sys *sys;     /* for what there is: policies, nodes, devices */
	struct sys_writer *writer;
	void *libvirt;			      /* private to knob_libvirt*.c; NULL until it is needed */
	struct knob_vms *vms;		      /* private to knob_vm*.c, likewise */
	struct sys_bus *bus;		      /* see knob_bus.h; NULL until it is needed */
	const char *bus_address;	      /* NULL: the system's bus */
	const struct knob_trial_of *trial_of; /* whose the trial boots are that are asked for; NULL: a person's */
	unsigned vm_wait_s;		      /* how long a guest may take to shut down; 0: KNOB_LIBVIRT_SHUTDOWN_S */
	bool no_trial; /* knobs of the next boot change the default entry at once, without a trial boot */
};

/*
 * Open `root` ("/" or NULL: this machine, else a directory that holds a machine as files). The writer is limited to the
 * paths of the table of knobs and of hvtune's own state. `gate` may be NULL (see sys_write.h).
 */
int knob_machine_open(const char *root, const struct sys_write_gate *gate, struct knob_machine *ret, struct err *err);
void knob_machine_close(struct knob_machine *machine); /* also for CLEANUP() */

struct knob;
struct knob_following;
struct knob_point;

/* How a point is read and written. */
struct knob_actuator {
	const char *name;
	/*
	 * The text that a point holds now, trimmed; it lives in the machine's arena. -ENOENT: the point is not there
	 * (any more). For whole files an absent file is no error: *ret NULL.
	 */
	int (*get)(struct knob_machine *machine, const char *where, const char **ret, struct err *err);
	/* Make it hold `text`; NULL for whole files: remove it. What was written may be read back in other words. */
	int (*set)(struct knob_machine *machine, const char *where, const char *text, struct err *err);
	/* Do two texts mean the same? NULL: equal as text or as numbers. Neither is NULL. */
	bool (*same)(const char *a, const char *b);
	/*
	 * Are two places one thing to a person, who cannot ask two values of it? Asked also across knobs of this
	 * actuator. NULL: only a place and itself, of one knob.
	 */
	bool (*same_place)(const char *a, const char *b);
	/*
	 * What a point that was left with `text` holds after the next boot: a service that is enabled runs then. In
	 * `arena`, or `text` itself. NULL: a boot moves nothing of it.
	 */
	const char *(*booted)(struct arena *arena, const char *text);
	/* The text as it stands in a file at `where`, for files that set it at boot. NULL: set() is more than that. */
	const char *(*raw)(struct arena *arena, const char *text);
	/* Remove what a set() that was killed may have left beside the point. NULL: it leaves nothing. */
	int (*tidy)(struct knob_machine *machine, const char *where, struct err *err);
	/*
	 * Make what was written act, once after all points of a change were written or put back ("update-grub"); also
	 * when nothing had to be put back, since a change may have been cut short before it. `points` are all points
	 * of the change, also those of other actuators. NULL: nothing to do.
	 */
	int (*settle)(struct knob_machine *machine, const struct knob_point *points, size_t count, struct err *err);
};

struct knob_point {
	const struct knob *knob;
	const char *name;  /* the knob as asked for: "governor", "hugepages.2M" */
	const char *where; /* what the actuator takes: a path, or a thread of a VM (knob_vm_where.h) */
	const char *label; /* what people call the point: "CPU 3", "node 0", "web1 vCPU 3"; "" when there is only one */
	const char *old;   /* what it held; NULL: it was absent */
	const char *new;   /* what it shall hold; NULL: absent; meaningless for guards */
};

/* A growing list of points, in an arena. */
struct knob_points {
	struct arena *arena;
	struct knob_point *items;
	size_t count, room;
};

void knob_points_add(struct knob_points *points, const struct knob_point *point);

/* "governor@0-7=powersave" in its parts. `where` is NULL for all. */
struct knob_ask {
	const char *name, *where, *value;
};

enum knob_scope {
	KNOB_RUNTIME, /* of the running kernel; gone after a reboot */
	KNOB_CONFIG,  /* a file or service that lasts */
	KNOB_BOOT,    /* of the next boot */
	KNOB_MODULE,  /* read when a module is loaded */
	KNOB_VM,
	KNOB_GUEST,
};

/* What @where names. */
enum knob_unit {
	KNOB_OF_HOST, /* there is one point; no @where */
	KNOB_OF_CPUS, /* a CPU list */
	KNOB_OF_NODES,
	KNOB_OF_IRQS, /* a list of numbers of interrupts */
	KNOB_OF_SOCKETS,
	KNOB_OF_NAMES, /* a name, or names with commas: a device, a VM */
};

/* Of two steps of one rank, the one all of whose numbers go that way is written first. */
enum knob_order {
	KNOB_AS_ASKED,
	KNOB_FALLING_FIRST, /* a lower limit makes way for the upper one; pages given back make room for others */
	KNOB_RISING_FIRST,
};

struct knob_plan;
struct knob_step;

struct knob {
	/*
	 * "governor"; with a '*' at the end it stands for a family, of which the rest of the name is the member:
	 * "hugepages.*".
	 */
	const char *name;
	const char *summary; /* one line */
	const char *value;   /* the form of its value, for help: "WORD", "0-100", "kHz" */
	const char *members; /* of a family: how they are named, for help: "idle.C2, idle.2"; else NULL */
	enum knob_scope scope;
	enum knob_unit unit;
	const struct knob_actuator *actuator;
	/*
	 * Where its points are: a path in which '*' is the number of the CPU, node or other instance. With `expand` it
	 * only says, as an fnmatch(3) pattern, what may be written.
	 */
	const char *path;
	const char *written;	  /* for help, where `path` does not tell where it is written; NULL: it does */
	const char *const *paths; /* further patterns of what its actuator writes, ended by NULL; NULL: none */
	/*
	 * Find the points that `ask` names, with label, and `new` for each (ask->value translated). NULL: by `path`,
	 * with ask->value. A family that is asked for by its own name ("idle.*") gives all points of all members, each
	 * named by its member. -ENOENT: this machine has no such thing; -EINVAL: what was asked makes no sense; err
	 * says why.
	 */
	int (*expand)(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err);
	/* The words that are legal here, in the machine's arena, where no file tells them and `check` judges; or NULL.
	 */
	const char *(*list)(struct knob_machine *machine, const struct knob_point *point);
	const char *choices; /* path of the file with the words that are legal here ('*' as in path), or NULL */
	const char *words;   /* legal words with blanks between them, where no file tells them; NULL: any */
	int64_t least, most; /* legal numbers, when least < most; words are legal besides */
	int rank;	     /* what is written first: lower ranks; see knob_ranks */
	enum knob_order order;
	const char *moves;	/* names of knobs that may move when this is written, with blanks between them */
	const char *appears;	/* what makes it appear: "amd_pstate=active", values with commas; NULL: nothing here */
	const char *unwritable; /* a value that is only reached through another knob ("0" of dirty_bytes), or NULL */
	const char *stands_for; /* a word that reads back as the value that it stands for ("default" of epp), or NULL */
	bool yields;		/* changed by someone else, undo does not hold it: other points of the change edit it */
	const char *hole;	/* values that open a security hole, with blanks between them, or NULL */
	const char *hurts;	/* what it costs or risks, one sentence; NULL: nothing to say */
	const char *after;	/* what has to follow for it to act: "a reboot", "a restart of the VM"; NULL: nothing */
	/*
	 * One set() of a point makes several changes: when it is killed, the point may hold neither the old nor the new
	 * value. After an undo that was cut short such a value is not taken for somebody else's.
	 */
	bool in_steps;
	/* Further checks of a value at plan time; NULL: none. */
	int (*check)(struct knob_machine *machine, const struct knob_point *point, struct err *err);
	/* A look at one step within its whole plan, to refuse it or to add remarks; NULL: none. */
	int (*judge)(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err);
	/*
	 * What belongs to a value that is to be written: remarks on the plan, and further asks (EPP after a profile of
	 * tuned that leaves it where it was). NULL: nothing. See knob_plan.h.
	 */
	int (*follow)(struct knob_machine *machine, const struct knob_point *point, struct knob_following *following,
		      struct err *err);
	/*
	 * Make a point hold what it holds now and `text` besides, for sets of CPUs. Called for all points of a step
	 * before the first is set, so that threads that change places never have to share one meanwhile. NULL: no need.
	 */
	int (*widen)(struct knob_machine *machine, const char *where, const char *text, struct err *err);
};

/* Does a value of this knob outlive a reboot? */
static inline bool knob_lasts(const struct knob *knob)
{
	return knob->scope != KNOB_RUNTIME && knob->scope != KNOB_VM;
}

/* The order of writing. What makes others appear or resets them comes first, boot files last. */
enum knob_ranks {
	KNOB_RANK_SERVICE = 5, /* before what is asked of it */
	KNOB_RANK_DAEMON = 10, /* tuned profile: writes many of the others */
	KNOB_RANK_SMT = 20,    /* makes CPUs come and go */
	KNOB_RANK_DRIVER = 30, /* amd_pstate: rebuilds all policies */
	KNOB_RANK_DYNAMIC_EPP = 33,
	KNOB_RANK_PROFILE = 36,
	KNOB_RANK_BOOST = 40, /* the global one before those of policies */
	KNOB_RANK_BOOST_CPU = 45,
	KNOB_RANK_GOVERNOR = 50, /* before EPP: performance forces it */
	KNOB_RANK_LIMIT = 60,
	KNOB_RANK_EPP = 70,
	KNOB_RANK_PLAIN = 100,
	KNOB_RANK_PAGES = 120,
	KNOB_RANK_FILE = 150,
	KNOB_RANK_VM = 160,
	KNOB_RANK_BOOT = 200,
};

/* The knobs of the table by number, in the order in which help shows them; NULL after the last. */
const struct knob *knob_at(size_t index);

/* The knob of that name or the family it is a member of; NULL when there is none. */
const struct knob *knob_find(const char *name);

/* Cut "name[@where]=value"; texts in the arena. -EINVAL with a hint. */
int knob_ask_parse(struct arena *arena, const char *text, struct knob_ask *ret, struct err *err);

/* "governor", "epp@0-3": what an ask sets, as it was asked; in the arena or the ask's own. */
const char *knob_ask_name(struct arena *arena, const struct knob_ask *ask);

/* Which points knob_expand() takes. */
enum knob_expand {
	KNOB_EXPAND_THERE,    /* those that are there; one that cannot be read is an error */
	KNOB_EXPAND_COMING,   /* also those that another knob of the plan makes appear, with `old` NULL */
	KNOB_EXPAND_READABLE, /* those that can be read */
	KNOB_EXPAND_UNREAD,   /* all that there may be, without looking at any: `old` stays NULL */
};

/* All points that `ask` names, with their present values in `old` and what is asked in `new`. */
int knob_expand(struct knob_machine *machine, const struct knob_ask *ask, enum knob_expand which,
		struct knob_points *points, struct err *err);

/* Is ask->value legal for the point? What `choices` says is not asked when `blind` (the driver will be another one). */
int knob_check(struct knob_machine *machine, const struct knob_point *point, bool blind, struct err *err);

/* The words that are legal for the point now as the machine says it, in its arena; NULL when it does not. */
const char *knob_choices(struct knob_machine *machine, const struct knob_point *point);

/* Read a point now. As the actuator's get. */
int knob_get(struct knob_machine *machine, const struct knob_point *point, const char **ret, struct err *err);

/* What messages call the point: its path, or its label where it is no file. */
const char *knob_place(const struct knob_point *point);

/* Do two texts mean the same for this knob? Either may be NULL (absent). */
bool knob_same(const struct knob *knob, const char *a, const char *b);

/* What a point that was left with `text` holds after the next boot, in the machine's arena or `text`; NULL for NULL. */
const char *knob_booted(struct knob_machine *machine, const struct knob *knob, const char *text);

#endif
