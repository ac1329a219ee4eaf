/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the life of a study over boots of the host: its beginning, going on with it in whatever boot the machine has
 * come up, and its end, after which nothing of it is left but what it has measured. It never boots the machine itself:
 * it says that this has to be done now.
 */
#ifndef HVTUNE_STUDY_GO_H
#define HVTUNE_STUDY_GO_H

#include "study_run.h"

enum study_move {
	STUDY_OVER,  /* it has ended, and everything is as it was before it */
	STUDY_BOOTS, /* the machine has to be booted now; it goes on after that */
	STUDY_HOLDS, /* somebody wished it to pause */
	STUDY_WAITS, /* a person is to change something: see study_hand.h */
	STUDY_OWES,  /* it has ended, but for what commands of its levels could not take back: state->hooks */
	STUDY_LEFT,  /* stopped by a signal: it can be gone on with */
};

/*
 * Write down a new study: boot->state holds its uid, name, file, text, store, command, directory, environment and load
 * limit, the rest is filled in here. Then the unit is installed that goes on with it. boot->matrix must be made.
 * -EBUSY: another study runs or waits, see study_state_refuse(). A study that boots nothing has no unit: it is this
 * process's, which removes the state with study_state_remove() when it has ended. -EPROTO: what a person sets is not as
 * it should be.
 */
int study_go_begin(struct study_boot *boot, struct err *err);

/*
 * Go on with the study of boot->state until it has to boot, holds or ends. setup->matrix is &boot->matrix. `outcome` is
 * of the runs of this boot (outcome->arena NULL: none were made), and is for the caller to clear. Errors: nothing could
 * be decided; the state on disk is as it was, and it can be tried again.
 */
int study_go_on(struct study_boot *boot, const struct study_setup *setup, struct study_outcome *outcome,
		enum study_move *ret, struct err *err);

/*
 * Run what the study's file has under "notify", with HVTUNE_STUDY (its name), HVTUNE_EVENT ("end", "paused", "failed",
 * "ask") and HVTUNE_TEXT in its environment. It gets a minute; that it fails changes nothing.
 */
void study_notify(struct study_boot *boot, const char *event, const char *text);

#endif
