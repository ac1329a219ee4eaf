/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the look at a trial boot that has come up, and making its line the default. Until that is done the default entry
 * is the old one, so that a host that does not come this far falls back by itself.
 */
#ifndef HVTUNE_KNOB_CONFIRM_H
#define HVTUNE_KNOB_CONFIRM_H

#include "knob_apply.h"

enum knob_confirm_state {
	KNOB_CONFIRM_GOOD,
	KNOB_CONFIRM_NOT_YET, /* it may still come: a VM that starts, a target that is being reached */
	KNOB_CONFIRM_BAD,     /* waiting does not help in this boot */
};

/* One thing that was looked at. */
struct knob_confirm_item {
	const char *what; /* "kernel line has amd_pstate=guided" */
	const char *found;
	enum knob_confirm_state state;
};

struct knob_confirm {
	bool is_trial_boot; /* this boot has the trial's line; else it is the old default, or the trial is to come */
	bool asked_now;	    /* the trial was asked for in this very boot: the reboot is still to come */
	const char *of;	    /* who else asked for it ("study 0123abcd"): it is never confirmed; NULL: a person did */
	const char *asked;  /* "amd_pstate=guided iommu=pt" */
	struct knob_confirm_item *items; /* only in the trial boot */
	size_t count;
	enum knob_confirm_state worst;
};

/*
 * Look at this boot. -ENOENT when no trial boot was asked for. Texts live in the machine's arena. Without `checks` no
 * items are made, so nothing is run and only files are read.
 */
int knob_confirm_look(struct knob_machine *machine, bool checks, struct knob_confirm *ret, struct err *err);

/*
 * The same look at a boot that is no matter of `confirm`: `count` words of the line, each as {name, value} in the form
 * of knob_boot_value(), and what they were to bring about; the system has come up, with VMs that start with it, and no
 * unit has failed besides those in `failed`. Only ret->items, count and worst are set.
 */
int knob_confirm_boot(struct knob_machine *machine, const struct knob_ask *words, size_t count,
		      const char *const *failed, size_t failed_count, struct knob_confirm *ret, struct err *err);

/* How the trial stands, as one or two sentences, of a look with or without checks; in the machine's arena. */
const char *knob_confirm_text(struct knob_machine *machine, const struct knob_confirm *confirm);

/*
 * Make the trial's words part of the default (a change of its own, which undo takes back) and take the trial's entry
 * away. -EPERM: it is not a person's trial. Errors as of knob_apply() and knob_undo().
 */
int knob_confirm_accept(struct knob_machine *machine, const struct knob_apply_options *options, struct knob_report *ret,
			struct err *err);

#endif
