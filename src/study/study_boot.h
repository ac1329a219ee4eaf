/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the boots of a study: which words the kernel's line has to have for a configuration, asking for that boot once
 * and for no boot after it, and judging what came up. The default entry stays what it was, so that a panic, a hang or a
 * power cut in any other boot leads back to the baseline by itself.
 */
#ifndef HVTUNE_STUDY_BOOT_H
#define HVTUNE_STUDY_BOOT_H

#include "study_matrix.h"
#include "study_state.h"

struct bench_signals;

struct study_boot {
	struct arena *arena;
	struct knob_machine *machine;
	struct study *study;	       /* as study_suit() or study_suit_again() made it */
	struct study_matrix matrix;    /* of study_boot_open(); without what has turned out not to boot */
	struct study_state *state;     /* is written whenever it changes */
	unsigned wait_s;	       /* how long a boot may take to come up whole, once hvtune runs in it */
	struct bench_signals *signals; /* that end the wait for it; NULL: none do */
	/* Tells a person what has happened that he may want to know: "failed", with a sentence or two. NULL: nobody. */
	void (*notify)(void *data, const char *event, const char *text);
	void *data;
};

/* What study_boot_enter() and those who call it return besides 0 and errors. */
enum {
	STUDY_REBOOT = 1, /* everything is put back and written down: the machine is to be booted now */
	STUDY_NO_BOOT,	  /* it would have to boot, and the boots that it may have are used up */
	STUDY_ASKS,	  /* everything is put back and written down: a person is to change something (study_hand.h) */
};

/* A failed boot is tried again; as often in a row, and it is given up. */
enum { STUDY_MOST_FAILED = 2 };
/* So often in a row may a host go down between two whole runs of what had booted well. */
enum { STUDY_MOST_LOST = 3 };

/* Does a level of the study need another boot of the host? */
bool study_needs_boots(const struct study *study);

/*
 * Boots that visiting all configurations `rounds` times takes, those from the baseline and back to it counted; 0: none
 * is needed.
 */
unsigned study_count_boots(const struct study_matrix *matrix, unsigned rounds);

/* How many boots a study may have when its file says nothing: enough for its design, and for some that fail. */
unsigned study_usual_boots(const struct study_matrix *matrix);

/*
 * Why host boots cannot be done by hvtune on this machine, in one sentence without a full stop; NULL: they can. In the
 * machine's arena. Read only.
 */
const char *study_boots_refused(struct knob_machine *machine);

/*
 * The words of the kernel's line that a configuration asks for, each as {name, value} in the form of knob_boot_value();
 * options of modules are words too, since a word lasts for one boot and a file would not. Those that the configuration
 * says nothing of have the default's value and are not among them.
 */
size_t study_boot_words(struct arena *arena, const struct study_matrix *matrix, size_t config, struct knob_ask **ret);

/* Does a level choose the kernel of the host? */
bool study_boot_chooses_kernel(struct arena *arena, const struct study *study);

/* Make boot->matrix of boot->study, without the levels that are known not to boot. -EBADMSG. */
int study_boot_open(struct study_boot *boot, struct err *err);

/*
 * Look at the boot that runs, before anything is done in it: is it the one that was asked for, has it come up whole, is
 * it as it should be? What is not so is written down as a failed boot, what failed too often is taken out of
 * boot->matrix, or ends the study (state->end). STUDY_REBOOT: what was asked for is still to come. -EINTR: a signal
 * came, and nothing is judged.
 */
int study_boot_arrive(struct study_boot *boot, struct err *err);

/* 1: the machine is booted for that configuration, by a boot that was found good; 0: it is not. */
int study_boot_is_here(struct study_boot *boot, size_t config, struct err *err);

/*
 * Is the machine booted for that configuration? 0: yes. Else the boot is asked for - everything else must have been put
 * back already - and STUDY_REBOOT is returned, or STUDY_NO_BOOT. `anew`: a boot is asked for even if it is.
 */
int study_boot_enter(struct study_boot *boot, size_t config, bool anew, struct err *err);

/* A run was whole: what went down before it is forgotten. */
void study_boot_was_well(struct study_boot *boot);

/*
 * The study has ended (state->end): take back what was asked for, and ask for an ordinary boot unless this is one, with
 * the line of the default. STUDY_REBOOT, or 0: the machine is where it began.
 */
int study_boot_leave(struct study_boot *boot, struct err *err);

#endif
