/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what is on disk of a study that runs: /var/lib/hvtune/study, one JSON object, replaced as a whole and synced.
 * It holds all that a boot, a power cut or a kill would make it forget and that the store does not have: how it was
 * begun, which boot was asked for, what boots have failed. What others wish of it stands in a file of its own, so that
 * nobody writes over anybody.
 */
#ifndef HVTUNE_STUDY_STATE_H
#define HVTUNE_STUDY_STATE_H

#include <jansson.h>

#include "bench_gate.h"
#include "knob.h"
#include "study_next.h"

/* A boot that was asked for and has not come up, or not been looked at. */
struct study_asked {
	const char *boot;  /* boot id under which it was asked; NULL: none is */
	const char *trial; /* hvtune.trial= of its line; "": an ordinary boot of the default entry */
	json_t *levels;	   /* of the factors that a boot sets, {"driver": "guided"}; stays when it has come up */
	int64_t at_s;	   /* seconds since 1970 */
};

/* What is measured, as study_next() decided it. */
struct study_asked_step {
	const char *config; /* by name; NULL: nothing was decided yet */
	const char *incumbent, *words;
	enum study_purpose purpose;
	unsigned runs;
	bool own_boot;
	size_t seen; /* runs that had been made then, warm-up runs and void ones too */
};

/* What a person changes, and nobody else can. */
struct study_hand {
	json_t *levels;	   /* that are in force, as far as it is known: {"nps": "1"}, of each factor that asks */
	json_t *wanted;	   /* {"nps": "4"}: what he is asked for now; empty: nothing */
	json_t *texts;	   /* the same in words, a text each */
	const char *boot;  /* boot id under which it was asked; NULL: nothing ever was */
	const char *line;  /* of the kernel, when a study began that boots the host only by a person */
	const char *fault; /* why it was not taken for done; NULL: nobody has said so, or it was */
	bool boots;	   /* it takes a boot of the host, which he makes */
	bool kept;	   /* he was asked to put it back when the study had ended, and cannot */
};

struct study_state {
	/* How it was begun; never changed. */
	const char *uid, *name;
	const char *file, *text;    /* the study file: its name for messages, and what stands in it */
	const char *meters;	    /* the file of --meters; NULL: the usual one */
	const char *store;	    /* as --store was given; NULL: the usual place */
	const char *command;	    /* JSON, as it is kept with the results */
	const char *directory;	    /* in which hvtune was started */
	json_t *environment;	    /* {"PATH": ...}: what workloads are given of it after a boot too */
	struct bench_limits limits; /* of runs */
	const char *kernel;	    /* the release that ran */
	json_t *suited;		    /* what the file is on this machine, see study_suited_json() */
	json_t *vms;		    /* {"web": true}: did the VM run? */
	json_t *units;		    /* names of the units that had failed already */
	int64_t began_s;	    /* seconds since 1970 */
	bool next_entry;	    /* GRUB's environment had a word on the next boot's entry */
	unsigned boots_most;	    /* of the host, in all; 0: it boots never */
	/* How it stands. */
	double budget_s;      /* as options have it; 0: as the file has it */
	bool starting;	      /* its unit was asked to start, and has not begun */
	bool timing;	      /* nothing is measured yet: each workload is run once, to tell how long it takes */
	double spent_s;	      /* at work, boots too; without the present process */
	unsigned boots;	      /* asked for so far */
	unsigned boots_timed; /* of those the ones of which it is known how long they took... */
	double boots_s;	      /* ...and that in all, until work could go on */
	const char *boot;     /* id of the boot that was looked at and found good; "": none yet */
	struct study_asked asked;
	struct study_asked_step step;
	struct study_hand hand;
	json_t *hooks; /* {"share": "nfs"}: levels whose command has made what is to be taken back */
	json_t *out;   /* [{"levels": {...}, "why": "..."}]: what cannot be measured */
	/*
	 * [{"levels": {...}, "why": "...", "at": seconds, "lost": bool, "over": bool}]: every boot that was not what
	 * was asked, and every one that had come up well and went down before a run was whole ("lost"). What went well
	 * since with the same levels makes it "over".
	 */
	json_t *failures;
	bool paused;
	bool clean;	 /* the last process ended by itself or by a signal, and put everything back */
	const char *end; /* how it ends, once that is known: "done", "stopped", "failed"; NULL: it goes on */
	const char *why; /* of that; NULL: nothing to say */
	/* For those who ask. */
	int pid;	    /* of the process that runs it; 0: none */
	uint64_t pid_start; /* its start, in ticks after the boot: a number may be given again */
	const char *config; /* that is measured; NULL: none */
	unsigned runs;
};

/* Texts in the machine's arena. -ENOENT: no study runs; -EBADMSG: the file is none of hvtune's. */
int study_state_read(struct knob_machine *machine, struct study_state *ret, struct err *err);
void study_state_clear(struct study_state *state); /* its JSON; for CLEANUP() */

/* 0 once it is on disk. */
int study_state_write(struct knob_machine *machine, const struct study_state *state, struct err *err);

/* The study is over: its state and what was wished of it go. */
int study_state_remove(struct knob_machine *machine, struct err *err);

/*
 * The same, unless commands of its levels are not taken back yet (state->hooks): then it stays, with its end, for
 * `study abort` to try again. The caller tells.
 */
int study_state_over(struct knob_machine *machine, struct study_state *state, struct err *err);

/* What is to be done then. */
#define STUDY_TRY_AGAIN "hvtune study abort tries again; when it is done by hand, hvtune study abort --done"

/* Is the process there that runs it? */
bool study_state_is_alive(struct knob_machine *machine, const struct study_state *state);

/* Has it ended, and nothing is left of it but what commands of its levels could not take back? */
bool study_state_is_stuck(struct knob_machine *machine, const struct study_state *state);

/* Was its unit asked to start in this boot, and has not begun yet? */
bool study_state_is_starting(struct knob_machine *machine, const struct study_state *state);

/* Name this process as the one that runs it; written with the next study_state_write(). */
void study_state_name(struct knob_machine *machine, struct study_state *state);

/* The same, and from now on something may have to be put back. */
void study_state_take(struct knob_machine *machine, struct study_state *state);

/* How it stands in the words of a sentence about it, without a full stop: "runs", "is paused". */
const char *study_state_words(struct knob_machine *machine, const struct study_state *state);

/*
 * May the study with that uid (NULL: one that has none yet) be this machine's? 0: no other one runs or waits; the state
 * of its own that a dead process, or this one, has left of it is in nobody's way unless it boots the host, or has ended
 * with a level not taken back. -EBUSY: err names the study, how it stands and what to do; other errors as
 * study_state_read().
 */
int study_state_refuse(struct knob_machine *machine, const char *uid, struct err *err);

/*
 * The same, and then write the state, as one step among processes: under the lock of the machine, which is let go after
 * it unless it was taken before. `state` names this process, or the unit that starts. The wish of an earlier one goes
 * too. -EBUSY, as above: nothing is written; -EWOULDBLOCK: another hvtune is changing this machine.
 */
int study_state_claim(struct knob_machine *machine, const struct study_state *state, struct err *err);

/*
 * Likewise of the study with that uid, from what is on disk of it: read, this process named in it, written. `ret` is to
 * be cleared. -ENOENT: nothing is.
 */
int study_state_reclaim(struct knob_machine *machine, const char *uid, struct study_state *ret, struct err *err);

/*
 * What a study whose process is gone has left to be taken back by commands of its levels, as a sentence; NULL: nothing.
 * In the machine's arena.
 */
const char *study_state_owes(struct knob_machine *machine);

/* ---- wishes ---- */

enum study_wish { STUDY_NO_WISH, STUDY_WISH_PAUSE, STUDY_WISH_ABORT };

/* hvtune.study=abort on the kernel's line is STUDY_WISH_ABORT too. */
enum study_wish study_wish_read(struct knob_machine *machine);

/* STUDY_NO_WISH takes a wish back. */
int study_wish_write(struct knob_machine *machine, enum study_wish wish, struct err *err);

/* ---- levels by name ---- */

/* What study_suit() made of the file: its factors with their levels, "never" and the baseline. */
json_t *study_suited_json(const struct study *study);

/* Make the study that the file is read as such again, on any boot. -EBADMSG: the names are not those of the file. */
int study_suit_again(struct arena *arena, struct study *study, const json_t *suited, struct err *err);

/* Levels never meet again: what {"driver": "guided", ...} names. -EBADMSG likewise. */
int study_forbid_levels(struct arena *arena, struct study *study, const json_t *levels, struct err *err);

/* "driver=guided iommu=pt", in the arena. */
const char *study_levels_text(struct arena *arena, const json_t *levels);

#endif
