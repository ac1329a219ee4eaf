/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns strict number parsing, comparisons of words and the forms in which quantities are shown.
 */
#ifndef HVTUNE_TEXT_H
#define HVTUNE_TEXT_H

#include <stdio.h>
#include <string.h>

#include "arena.h"

static inline bool text_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static inline bool text_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Is `word` one of the words of `words`, which are separated by `separators`? */
bool text_has_word(const char *words, const char *separators, const char *word);

/* The text without white space around it. */
const char *text_trim(struct arena *arena, const char *text);

/*
 * A whole decimal number ("-12", also with a newline after it), nothing else. `base` as strtoll's. -EINVAL or -ERANGE;
 * *ret untouched then.
 */
int text_int(const char *text, int base, int64_t *ret);

/* A size with an optional suffix K, M, G, T (powers of 1024, as in sysfs and on the kernel command line), in bytes. */
int text_size(const char *text, int64_t *ret_bytes);

/* "32 MiB", "1.5 GiB", "768 KiB": at most one decimal, none when it is a whole number. */
const char *text_kib(struct arena *arena, int64_t kib);

/* "3.25 GHz", "800 MHz". */
const char *text_khz(struct arena *arena, int64_t khz);

/*
 * A time for people, as exact as it is of use: "20 ms", "1.5 s", "45 s", "1 min 30 s", "12 min", "1 h 50 min", "7.5 h",
 * "2 d". What is negative or no number is "0 s".
 */
const char *text_duration(struct arena *arena, double seconds);

/* "1 run", "2 runs": a count with its word; `many` is the word for all but one. */
const char *text_count(struct arena *arena, long long count, const char *one, const char *many);

/* How many single-letter edits (insert, delete, replace, swap of neighbours) turn one word into the other. */
int text_distance(const char *a, const char *b);

/*
 * The length in bytes of the UTF-8 character at `at`, which is not the end of the text: 1 for a byte that begins none.
 * *ret_visible: it may be shown to a person. Bytes that are no UTF-8, control characters (U+0080 to U+009F too, which
 * terminals obey) and those that turn the direction of writing may not.
 */
size_t text_character(const char *at, bool *ret_visible);

/* Print foreign text: a '?' stands for what may not be shown. */
void text_put(FILE *out, const char *text, size_t length);

/* The same as a text. */
const char *text_visible(struct arena *arena, const char *text);

/* Order names with numbers as people do: node2 before node10. For qsort on const char *. */
int text_compare_natural(const void *a, const void *b);

#endif
