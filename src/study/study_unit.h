/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the unit that goes on with a study after each boot: there while a study with boots runs, and not before or
 * after. */
#ifndef HVTUNE_STUDY_UNIT_H
#define HVTUNE_STUDY_UNIT_H

#include "knob.h"

#define STUDY_UNIT "hvtune-study.service"

/*
 * Write the unit and have systemd start it with every boot. The state of the study has to be on disk already: it is
 * what tells that the unit has to go again. On a machine of files nothing is asked of systemd.
 */
int study_unit_install(struct knob_machine *machine, struct err *err);

/* Take it away; one that is not there is fine. */
int study_unit_remove(struct knob_machine *machine, struct err *err);

/* End it, or its start that is still to come, and wait until it has ended; one that is not there is fine. */
int study_unit_stop(struct knob_machine *machine, struct err *err);

/* Start it now, without waiting for it. */
int study_unit_start(struct knob_machine *machine, struct err *err);

#endif
