/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns which VMs `hvtune place` looks at and what it may do with each: those of files, of the host, and new ones.
 */
#ifndef HVTUNE_PLACE_INPUT_H
#define HVTUNE_PLACE_INPUT_H

#include "cli.h"
#include "place_vm.h"
#include "vm_host.h"

struct place_input {
	const struct vm *vm;	   /* as it runs, else as it is declared; NULL: it does not exist yet */
	const struct vm *declared; /* what `text` was read as */
	const char *text;	   /* what it was read from, NUL-terminated; NULL: nothing that could be edited */
	size_t size;
	bool asked;	 /* its place is asked for */
	bool even_by_us; /* equal parts were not asked for: they give way where they leave it without a place */
	enum place_vm_smt smt;
};

struct place_inputs {
	struct arena *arena;
	struct place_input *inputs;	/* count entries, */
	struct place_request *requests; /* and as many */
	int count, room;
	const char **notes; /* note_count lines on what was left aside */
	int note_count, note_room;
	struct vm_host *host_vms; /* owner of the VMs of the host */
	struct vm **file_vms;	  /* file_vm_count VMs that were read from files */
	int file_vm_count;
};

/* What the options say of every VM. */
struct place_defaults {
	enum place_vm_smt smt;
	enum place_class wish;
	bool even, repin, move;
};

/* Collect all. The VMs are freed by place_inputs_free(), also after failure. */
int place_inputs_collect(const struct cli *cli, struct host *host, const struct place_defaults *defaults,
			 struct place_inputs *inputs, struct err *err);
/* A line for the end of the plan; it lives as long as the arena. */
void place_inputs_note(struct place_inputs *inputs, const char *note);

void place_inputs_free(struct place_inputs *inputs); /* for CLEANUP() */

#endif
