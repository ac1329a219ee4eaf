/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the shell that reads GRUB's defaults: its state, the values of assignments, and reading all files.
 */
#ifndef HVTUNE_KNOB_BOOT_SHELL_H
#define HVTUNE_KNOB_BOOT_SHELL_H

#include <ctype.h>

#include "knob_boot_internal.h"

enum { VARIABLE_LIMIT = 256 };

struct variable {
	const char *name;
	struct boot_line value;
};

struct shell {
	struct arena *arena;
	const struct boot_file *files;
	const char *text; /* of the current file, NUL at the end */
	size_t at;
	uint16_t file;
	int depth;	  /* of if, case, loops, groups and functions */
	bool conditional; /* behind && || | */
	int nesting;
	struct variable variables[VARIABLE_LIMIT];
	size_t variable_count;
	size_t expanded;
	const char *anchor_name;
	struct boot_anchor *anchors; /* one a file */
	struct err *err;
};

static inline char shell_now(const struct shell *shell)
{
	return shell->text[shell->at];
}

static inline bool shell_is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The length of a variable's name at the start of the text; 0 when it starts none. */
size_t shell_name_length(const char *text);

/* Is it one of the two variables of the kernel's line? */
bool shell_is_ours(const char *name, size_t length);

struct variable *shell_find(struct shell *shell, const char *name, size_t length);

/* -ENOTSUP at that offset of the current file. */
int shell_refuse(const struct shell *shell, size_t at, const char *what, const char *hint);

void shell_put(struct shell *shell, struct boot_line *value, size_t start, size_t end, enum boot_context context,
	       char c);

/* One word of the shell; *ret_quote is the quote that it ends with, or 0. */
int shell_take_word(struct shell *shell, struct boot_line *value, char *ret_quote);

/*
 * Read files one after the other, as grub-mkconfig sources them. `ret` gets GRUB_CMDLINE_LINUX and _DEFAULT, joined;
 * ret_anchors (one for each file, zeroed by the caller) where a word goes into what `anchor_name` is set to in it.
 * -ENOTSUP with the line where the shell would have to be run to know.
 */
int boot_shell_read(struct arena *arena, const struct boot_file *files, size_t count, const char *anchor_name,
		    struct boot_anchor *ret_anchors, struct boot_line *ret, struct err *err);

#endif
