/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns settings that are lines of a file: "vm.swappiness = 10" of sysctl.d, "options kvm_amd avic=1" of modprobe.d. One
 * point is one setting; all other bytes of the file stay what they are. A file that hvtune made is removed with the
 * last of its settings.
 *
 * The `where` of such a point is the file and the setting with a colon between them:
 * "/etc/sysctl.d/x.conf:vm.swappiness".
 */
#ifndef HVTUNE_KNOB_LINES_H
#define HVTUNE_KNOB_LINES_H

#include "knob.h"

/* Where a setting stands in its line, in bytes from the line's begin. */
struct knob_line_span {
	size_t value, value_size;
	size_t item, item_size; /* what is cut out of the line when the setting goes; the whole line: all of it */
};

struct knob_line_form {
	/* Does the line (without its newline) hold the setting? */
	bool (*find)(const char *line, size_t size, const char *key, struct knob_line_span *ret);
	/* The line that holds it, without newline. */
	const char *(*make)(struct arena *arena, const char *key, const char *value);
	/* Does a new line of `key` have to stand before this line? NULL: it stands at the end. */
	bool (*ahead_of)(struct arena *arena, const char *key, const char *line, size_t size);
	const char *header; /* the first lines of a file that hvtune makes; NULL: it makes none */
};

/* The parts of a `where`. */
void knob_lines_split(struct arena *arena, const char *where, const char **ret_path, const char **ret_key);

/* The value of the setting, of the last line that holds it; NULL when there is no such line or file. */
int knob_lines_get(struct knob_machine *machine, const struct knob_line_form *form, const char *where, const char **ret,
		   struct err *err);

/* Change the setting in its line, add a line, or with `text` NULL take it out. -ENOENT: no file, and it makes none. */
int knob_lines_set(struct knob_machine *machine, const struct knob_line_form *form, const char *where, const char *text,
		   struct err *err);

int knob_lines_tidy(struct knob_machine *machine, const char *where, struct err *err);

/*
 * Look through the files NAME.conf of the directories, each of which hides the same names of those after it, in order
 * of names. For each that is there, `look` gets path and text; it ends when `look` returns other than 0, which is
 * returned.
 */
int knob_lines_walk(struct knob_machine *machine, const char *const *directories,
		    int (*look)(void *data, const char *path, const char *text), void *data);

#endif
