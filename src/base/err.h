/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the one way in which hvtune reports that something could not be done: a function returns 0 or a negative errno
 * and fills a struct err, which the command prints once, at the top.
 */
#ifndef HVTUNE_ERR_H
#define HVTUNE_ERR_H

#include <stdarg.h>
#include <stdio.h>

#include "base.h"

struct err {
	int code;	 /* negative errno, 0 when nothing is wrong */
	unsigned line;	 /* 1-based line in `where`, 0 when that has no meaning */
	unsigned column; /* 1-based column, 0 when unknown */
	char where[256]; /* file, command line word or host the error is about; may be empty */
	char what[384];	 /* what is wrong, and what was expected */
	char hint[256];	 /* what to do about it; may be empty */
};

/*
 * Fill `err` (which may be NULL) and return -errnum, so that `return err_set(...)` reads well. `errnum` is positive;
 * `where` may be NULL. A text that does not fit is cut.
 */
int err_set(struct err *err, int errnum, const char *where, const char *format, ...) PRINTF_LIKE(4, 5);

/* As err_set, with the position in a text. `line` and `column` are 1-based; 0 means unknown. */
int err_set_at(struct err *err, int errnum, const char *where, unsigned line, unsigned column, const char *format, ...)
    PRINTF_LIKE(6, 7);

/*
 * Add what to do about it. Returns err->code, and -EINVAL where there is none (`err` is NULL, or nothing was set):
 * never 0, for `return err_hint(...)` stands where something has failed.
 */
int err_hint(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Report what `from` says as `err`, which may be NULL. Returns from->code, for `return err_copy(...)`. */
int err_copy(struct err *err, const struct err *from);

/* What is wrong, as err->what; "" where `err` is NULL. As long lived as `err`. */
const char *err_what(const struct err *err);

/* Print "hvtune: where:line: what (hint)" and a newline; control characters of foreign texts are shown as '?'. */
void err_print(FILE *out, const struct err *err);

/* Say that memory ran out and leave with exit code 3: a tool that only reads has nothing to save then. */
NORETURN void err_no_memory(void);

#endif
