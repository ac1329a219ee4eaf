/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns struct err: filling and printing it. */
#include "err.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static void PRINTF_LIKE(3, 0) fill_text(char *ret_text, size_t size, const char *format, va_list arguments)
{
	(void)vsnprintf(ret_text, size, format, arguments);
}

static void fill_where(struct err *err, int errnum, const char *where, unsigned line, unsigned column)
{
	*err = (struct err){.code = -errnum, .line = line, .column = column};
	if (where)
		(void)snprintf(err->where, sizeof(err->where), "%s", where);
}

int err_set(struct err *err, int errnum, const char *where, const char *format, ...)
{
	if (err) {
		va_list arguments;

		fill_where(err, errnum, where, 0, 0);
		va_start(arguments, format);
		fill_text(err->what, sizeof(err->what), format, arguments);
		va_end(arguments);
	}
	return -errnum;
}

int err_set_at(struct err *err, int errnum, const char *where, unsigned line, unsigned column, const char *format, ...)
{
	if (err) {
		va_list arguments;

		fill_where(err, errnum, where, line, column);
		va_start(arguments, format);
		fill_text(err->what, sizeof(err->what), format, arguments);
		va_end(arguments);
	}
	return -errnum;
}

int err_hint(struct err *err, const char *format, ...)
{
	va_list arguments;

	if (!err)
		return -EINVAL;
	va_start(arguments, format);
	fill_text(err->hint, sizeof(err->hint), format, arguments);
	va_end(arguments);
	return err->code < 0 ? err->code : -EINVAL;
}

static void print_clean(FILE *out, const char *text)
{
	text_put(out, text, strlen(text));
}

int err_copy(struct err *err, const struct err *from)
{
	if (err)
		*err = *from;
	return from->code;
}

const char *err_what(const struct err *err)
{
	return err ? err->what : "";
}

void err_print(FILE *out, const struct err *err)
{
	(void)fputs("hvtune: ", out);
	if (err->where[0]) {
		print_clean(out, err->where);
		if (err->line)
			(void)fprintf(out, ":%u", err->line);
		if (err->line && err->column)
			(void)fprintf(out, ":%u", err->column);
		(void)fputs(": ", out);
	}
	print_clean(out, err->what[0] ? err->what : strerror(-err->code));
	if (err->hint[0]) {
		(void)fputs("; ", out);
		print_clean(out, err->hint);
	}
	(void)fputc('\n', out);
}

void err_no_memory(void)
{
	static const char text[] = "hvtune: out of memory\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(3);
}
