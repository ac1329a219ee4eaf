/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what asking for a boot and judging one have in common. */
#ifndef HVTUNE_STUDY_BOOT_INTERNAL_H
#define HVTUNE_STUDY_BOOT_INTERNAL_H

#include "knob_boot_state.h"
#include "study_boot.h"
#include "study_host.h"

/* Lines of the kernel, and the kernels. */
struct study_lines {
	const char *standard; /* of the default entry, as the loader's files have it */
	const char *running;
	const char *trial;	     /* hvtune.trial= of the running one; NULL: it is of no trial */
	const char *standard_kernel; /* their releases; "" where no level of the study chooses a kernel */
	const char *running_kernel;
};

int study_boot_lines(struct study_boot *boot, struct study_lines *ret, struct err *err);

/* The names of all words that any level sets. */
size_t study_boot_names(struct arena *arena, const struct study *study, const char *const **ret);

/* What a word, or the kernel, is in an ordinary boot. */
const char *study_boot_usual(struct study_boot *boot, const struct study_lines *lines, const char *name);

/* All those words with the values that they have in a configuration; *ret_trial: one is not the default's. */
size_t study_boot_wanted(struct study_boot *boot, const struct study_lines *lines, size_t config, struct knob_ask **ret,
			 bool *ret_trial);
bool study_boot_has(struct study_boot *boot, const struct study_lines *lines, const struct knob_ask *words,
		    size_t count);

/* {"driver": "guided"}: the levels of a configuration that a boot sets; the caller's. */
json_t *study_boot_levels(const struct study_matrix *matrix, size_t config);

/* How often in a row boots with these levels have failed, or were lost; and that this is over. */
unsigned study_boot_failures(const struct study_state *state, const json_t *levels, bool lost);
bool study_boot_forgive(struct study_state *state, const json_t *levels, bool lost);

/* The change that asked for a boot, the newest; false: none is in force. *ret_done: it was not cut short. */
bool study_boot_in_force(struct study_boot *boot, unsigned *ret_id, bool *ret_done, struct err *err);

/* Take back all that asked for boots. */
int study_boot_forget(struct study_boot *boot, struct err *err);

/* The units that had failed when the study began. */
const char *const *study_boot_units(struct study_boot *boot, size_t *ret_count);

#endif
