/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the studies that are part of the program: the files of data/studies by name. They are texts with a few words to
 * be filled in ($VM and what follows from it), so that one file serves hosts with a VM and without.
 */
#ifndef HVTUNE_STUDY_READY_H
#define HVTUNE_STUDY_READY_H

#include "arena.h"

/* data/studies/quick.yaml, which `hvtune tune` runs. */
extern const char study_quick_text[];

struct study_ready {
	const char *name, *text;
};

/* NULL past the end. */
const struct study_ready *study_ready_at(size_t index);

/* The one of that name, or NULL. */
const struct study_ready *study_ready_find(const char *name);

/* The value of its "title", in the arena. */
const char *study_ready_title(struct arena *arena, const struct study_ready *ready);

/* Does it speak of a VM? */
bool study_ready_wants_vm(const struct study_ready *ready);

/* What stands for the words; NULL: there is none here. */
struct study_ready_words {
	const char *vm;	      /* $VM: its name */
	const char *placed;   /* $PLACED: knobs with values that pin it where it is best, "vm.pins...: '...'" */
	const char *floating; /* $FLOATING: those that let it run everywhere */
	const char *pool_2m, *pool_1g; /* $POOL_2M, $POOL_1G: knobs that have pages of that size ready for it */
};

/*
 * The text with the words filled in, in the arena. A line of it with a word that has no value is left out;
 * *ret_left_out: those lines without comments, ended by NULL.
 */
const char *study_ready_fill(struct arena *arena, const struct study_ready *ready,
			     const struct study_ready_words *words, const char *const **ret_left_out);

#endif
