/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a machine of files for tests of studies over boots: its loader takes a trial's entry once, as GRUB does. Each
 * boot is a process of its own, which may be killed anywhere; SIM_ROOT is where workloads find the machine.
 */
#ifndef HVTUNE_STUDY_SIM_H
#define HVTUNE_STUDY_SIM_H

#include "arena.h"
#include "study_go.h"
#include "study_hand.h"

/* Kernels of the machine: the default's, and one more. */
#define SIM_RELEASE "6.1.0-25-amd64"
#define SIM_OTHER_RELEASE "6.1.0-23-amd64"

enum { SIM_MOST_BOOTS = 40, SIM_KILLED = 99, SIM_FAULT = 98, SIM_REFUSED = 97 };

struct sim_calls {
	int made, kill_at; /* 0: never */
};

struct sim {
	struct arena *arena;
	char *root;
	const char *uid;      /* of the study; its own, since its directory lies outside of the machine */
	const char *standard; /* the line of the default entry */
	const char *taken;    /* the trial that was booted last: its entry is taken once */
	const char *broken;   /* a word with which no kernel comes up; NULL: all do */
	const char *swapped;  /* a release in whose place the default's comes up; NULL: none */
	int boots, fallbacks;
	int calls;		  /* of the writer until it is killed; 0: never */
	struct sim_calls *shared; /* with the process that was started last */
	const char *study;	  /* the text of its file */
};

/* A file of the machine; NULL: it is not there. */
void sim_put(const struct sim *sim, const char *path, const char *text);
const char *sim_get(const struct sim *sim, const char *path);

/* `study` is the text of its file. */
struct sim sim_start(const char *study);
void sim_stop(struct sim *sim);

/* Every file but the journal and the results, as one checksum. */
const char *sim_sum(const struct sim *sim);

/* A boot, whoever makes it: a trial that was asked for, else the default. */
void sim_boot(struct sim *sim);

/* What a person was told so far, "event: text" a line. */
const char *sim_told(const struct sim *sim);

/* What was measured so far, all in the arena: how many runs, valid or not, and of which configurations. */
size_t sim_results(const struct sim *sim, struct arena *arena, struct study_matrix *ret_matrix,
		   struct study_seen **ret);

/* A process of hvtune that begins the study, or goes on with it: its enum study_move, SIM_KILLED or SIM_FAULT. */
int sim_process(const struct sim *sim, bool is_first);

/*
 * A process of hvtune in which a person says that it is done (`cannot` NULL) or why it cannot be: 0, SIM_KILLED,
 * SIM_REFUSED or SIM_FAULT.
 */
int sim_answer(const struct sim *sim, const char *cannot);

/* Until it is over: boots, kills that are power cuts, signals. How many boots it took; fails the test when it faults.
 */
int sim_run_to_end(struct sim *sim);

/* Nothing is left of it, and the host runs with the default's line. */
void sim_check_restored(const struct sim *sim, const char *before);

#endif
