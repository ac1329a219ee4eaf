/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns terminal width, colour and flowed text. */
#include "term.h"

#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"

enum { NARROWEST = 40, WIDEST_TEXT = 118 };

bool term_size(FILE *out, int *ret_columns, int *ret_rows)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
		return false;
	*ret_columns = size.ws_col;
	*ret_rows = size.ws_row;
	return true;
}

struct term term_of(FILE *out)
{
	struct term term = {.out = out, .width = 80};
	const char *columns = getenv("COLUMNS");
	const char *kind = getenv("TERM");
	const char *no_colour = getenv("NO_COLOR");
	int64_t number;
	struct winsize size;
	bool terminal = isatty(fileno(out)) == 1;

	if (terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		term.width = size.ws_col;
	else if (columns && text_int(columns, 10, &number) == 0 && number > 0 && number < 1000)
		term.width = (int)number;
	term.width = MAX_OF(term.width, NARROWEST);
	term.colour = terminal && !(no_colour && *no_colour) && !text_equal(kind, "dumb");
	term.utf8 = text_equal(nl_langinfo(CODESET), "UTF-8");
	return term;
}

const char *term_on(const struct term *term, enum term_colour colour)
{
	static const char *const sequences[] = {
	    [TERM_PLAIN] = "\033[0m",	[TERM_BOLD] = "\033[1m",   [TERM_DIM] = "\033[2m",   [TERM_RED] = "\033[1;31m",
	    [TERM_YELLOW] = "\033[33m", [TERM_GREEN] = "\033[32m", [TERM_BLUE] = "\033[34m", [TERM_CYAN] = "\033[36m",
	};

	return term->colour ? sequences[colour] : "";
}

int term_columns(const char *text)
{
	int columns = 0;

	/* Every character that hvtune prints is one column wide, and so is the mark for one that it does not. */
	for (bool visible; *text; columns++)
		text += text_character(text, &visible);
	return columns;
}

/* Is a word, without punctuation behind it, a unit? */
static bool is_unit(const char *word, size_t length)
{
	static const char *const units[] = {"us",  "ns",  "ms",	 "s",	"min", "h",   "%",   "W",    "kHz",
					    "MHz", "GHz", "KiB", "MiB", "GiB", "TiB", "PiB", "bytes"};

	while (length && strchr(",;.:)]", word[length - 1]))
		length--;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i]) == length && memcmp(word, units[i], length) == 0)
			return true;
	return false;
}

/* Length of what is not broken: a word, and with it the unit that follows a number. */
static size_t unbroken_length(const char *text)
{
	size_t length = strcspn(text, " \n\t");
	bool number = length && text[length - 1] >= '0' && text[length - 1] <= '9';
	const char *next = text + length;

	if (number && *next == ' ') {
		size_t more = strcspn(next + 1, " \n\t");

		if (is_unit(next + 1, more))
			return length + 1 + more;
	}
	return length;
}

void term_flow(const struct term *term, int indent, bool started, const char *text)
{
	int limit = MIN_OF(term->width, WIDEST_TEXT);
	int column = indent;

	if (!started)
		(void)fprintf(term->out, "%*s", indent, "");
	for (bool first = true; *text; first = false) {
		size_t gap = strspn(text, " \n\t");

		text += gap;
		size_t length = unbroken_length(text);
		int columns = 0;

		if (!length)
			break;
		for (size_t i = 0; i < length; columns++)
			i += text_character(text + i, &(bool){0});
		if (!first && column + 1 + columns > limit) {
			(void)fprintf(term->out, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			(void)fputc(' ', term->out);
			column++;
		}
		text_put(term->out, text, length);
		column += columns;
		text += length;
	}
	(void)fputc('\n', term->out);
}
