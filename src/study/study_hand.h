/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a person changes in a study: which level of each factor that asks for it is in force, asking for another,
 * and taking it for done. Nothing is taken for done by itself, whatever boots meanwhile: only who has done it says so.
 */
#ifndef HVTUNE_STUDY_HAND_H
#define HVTUNE_STUDY_HAND_H

#include "study_matrix.h"
#include "study_state.h"

/* Has the study a factor that a person changes? */
bool study_asks(const struct study *study);

/* Of the study of a machine; texts that the state keeps live in the machine's arena. */
struct study_hands {
	struct knob_machine *machine;
	const struct study *study;
	struct study_state *state;
};

/*
 * A study begins: what it assumes is in force, the baseline's levels. One that is gone on with knows what is. -EPROTO:
 * a level's `see` says otherwise; nothing is written. Writes no state.
 */
int study_hand_begin(const struct study_hands *hands, struct err *err);

/* {"nps": "1"}: the levels of a configuration that a person sets; the caller's. */
json_t *study_hand_levels(const struct study_matrix *matrix, size_t config);

/* Are the levels that a person sets in force for that configuration? Without a state only if he sets none. */
bool study_hand_is_here(const struct study_matrix *matrix, const struct study_state *state, size_t config);

/*
 * Ask for these levels, as study_hand_levels() has them: 0 when they are in force, else STUDY_ASKS (study_boot.h) once
 * it is on disk. Everything else must have been put back.
 */
int study_hand_ask(const struct study_hands *hands, const json_t *levels, struct err *err);

/* Does each level in force show, where something tells? 0, or STUDY_ASKS as study_hand_ask(): it is asked for again. */
int study_hand_look(const struct study_hands *hands, struct err *err);

/* Does the study wait for a person? */
bool study_hand_waits(const struct study_state *state);

/*
 * Somebody says that it is done: what was asked for is in force. -EAGAIN: it cannot be so, and err says why, in words
 * for a person; it goes on waiting. Of a study that boots nothing itself the boot that runs is looked at here. Either
 * way the state is on disk.
 */
int study_hand_done(const struct study_hands *hands, struct err *err);

/*
 * Somebody says that it cannot be done, and why: what was asked for is left out, as what does not boot is. Where
 * nothing is left without it, state->end is set. At the end of a study it stays as it is. On disk when 0 is returned.
 */
int study_hand_cannot(const struct study_hands *hands, const char *why, struct err *err);

/*
 * The study has ended (state->end): ask for these levels, unless they are in force or it cannot be done. As
 * study_hand_ask().
 */
int study_hand_leave(const struct study_hands *hands, const json_t *levels, struct err *err);

/* What is not as in the baseline, with how it is put back, as the end of a sentence; NULL: nothing. In the arena. */
const char *study_hand_left(struct arena *arena, const struct study *study, const struct study_state *state);

/* What is asked for, in words: "Set NPS to 4 in the BIOS setup; Plug the fan in". In the arena. */
const char *study_hand_asked(struct arena *arena, const struct study_state *state);

/* What a person does, and says afterwards: whole sentences. In the arena. */
const char *study_hand_todo(struct arena *arena, const struct study_state *state);

/* All of it, for those who are far from a terminal. */
const char *study_hand_say(struct arena *arena, const struct study_state *state);

/* How often a person is asked when all configurations are visited in blocks, `blocks` of them, and at the end. */
unsigned study_count_asks(const struct study_matrix *matrix, unsigned blocks);

#endif
