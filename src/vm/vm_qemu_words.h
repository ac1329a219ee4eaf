/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns cutting a text into shell commands and words, as far as command lines of QEMU need it: quotes, backslashes,
 * continued lines, comments, redirections, arrays. Nothing is run or expanded, save arrays that the text itself fills:
 * "$RAM" stays "$RAM".
 */
#ifndef HVTUNE_VM_QEMU_WORDS_H
#define HVTUNE_VM_QEMU_WORDS_H

#include "arena.h"
#include "err.h"

/* More words than this are refused: a large VM has some hundreds. */
enum { QEMU_WORD_LIMIT = 16384 };

struct qemu_word {
	const char *text;
	unsigned line, column; /* 1-based */
};

struct qemu_words {
	struct arena *arena;
	struct qemu_word *list;
	int count, room;
};

/* Append a word; its text is kept, not copied. -E2BIG with err at the limit. */
int qemu_words_add(struct qemu_words *words, const char *path, struct qemu_word word, struct err *err);

/*
 * Called with each command of a text, in order; `index` counts them from 0. The words are overwritten after the call.
 * `comment_line` is the line of a comment that stood behind a continued line and so ended the command, else 0. A return
 * value other than 0 ends the walk and is handed on.
 */
typedef int qemu_command_visit(void *context, const struct qemu_words *words, int index, unsigned comment_line);

/* Walk over the commands of a shell text. -EINVAL with line and column on a quote that is not closed. */
int qemu_commands(struct arena *arena, const char *path, const char *text, size_t size, qemu_command_visit *visit,
		  void *context, struct err *err);

/* The words of an argv as /proc/PID/cmdline has it: each ends with a NUL. `line` is 1, `column` the word's number. */
int qemu_argv(struct qemu_words *words, const char *path, const char *data, size_t size, struct err *err);

#endif
