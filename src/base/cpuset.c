/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns CPU and node sets and their text forms. */
#include "cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { WORD_BITS = 8 * sizeof(unsigned long), WORDS = CPUSET_MAX / WORD_BITS };

int cpuset_count(const struct cpuset *set)
{
	return CPU_COUNT_S(sizeof(*set), (const cpu_set_t *)set);
}

bool cpuset_empty(const struct cpuset *set)
{
	return cpuset_first(set) < 0;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool cpuset_subset(const struct cpuset *inner, const struct cpuset *outer)
{
	for (int i = 0; i < WORDS; i++)
		if (inner->bits[i] & ~outer->bits[i])
			return false;
	return true;
}

bool cpuset_meets(const struct cpuset *a, const struct cpuset *b)
{
	for (int i = 0; i < WORDS; i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

struct cpuset cpuset_and(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset result;

	for (int i = 0; i < WORDS; i++)
		result.bits[i] = a->bits[i] & b->bits[i];
	return result;
}

struct cpuset cpuset_or(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset result;

	for (int i = 0; i < WORDS; i++)
		result.bits[i] = a->bits[i] | b->bits[i];
	return result;
}

struct cpuset cpuset_minus(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset result;

	for (int i = 0; i < WORDS; i++)
		result.bits[i] = a->bits[i] & ~b->bits[i];
	return result;
}

int cpuset_next(const struct cpuset *set, int after)
{
	int cpu = after + 1;

	if (cpu < 0 || cpu >= CPUSET_MAX)
		return -1;
	unsigned long word = set->bits[cpu / WORD_BITS] & (~0UL << (cpu % WORD_BITS));

	for (int i = cpu / WORD_BITS;;) {
		if (word)
			return i * WORD_BITS + __builtin_ctzl(word);
		if (++i >= WORDS)
			return -1;
		word = set->bits[i];
	}
}

int cpuset_first(const struct cpuset *set)
{
	return cpuset_next(set, -1);
}

struct cpuset cpuset_range(int first, int last)
{
	struct cpuset set = {0};

	for (int cpu = first; cpu <= last; cpu++)
		cpuset_add(&set, cpu);
	return set;
}

struct cursor {
	const char *start, *at;
	struct err *err;
};

static int bad_list(const struct cursor *cursor, const char *expected)
{
	if (*cursor->at)
		return err_set_at(cursor->err, EINVAL, NULL, 0, (unsigned)(cursor->at - cursor->start + 1),
				  "bad CPU list \"%.60s\": expected %s at column %u", cursor->start, expected,
				  (unsigned)(cursor->at - cursor->start + 1));
	return err_set(cursor->err, EINVAL, NULL, "bad CPU list \"%.60s\": expected %s at the end", cursor->start,
		       expected);
}

static int read_number(struct cursor *cursor, int *ret)
{
	long number = 0;

	if (!isdigit((unsigned char)*cursor->at))
		return bad_list(cursor, "a number");
	for (; isdigit((unsigned char)*cursor->at); cursor->at++) {
		number = number * 10 + (*cursor->at - '0');
		if (number >= CPUSET_MAX)
			return err_set(
			    cursor->err, ERANGE, NULL,
			    "bad CPU list \"%.60s\": a number is over %d, the most that a Linux kernel on x86 knows",
			    cursor->start, CPUSET_MAX - 1);
	}
	*ret = (int)number;
	return 0;
}

/* One range with its optional stride, "10-15:2/4": of each group of 4, the first 2. */
static int read_range(struct cursor *cursor, struct cpuset *set)
{
	int first = 0, last = 0, used = 1, group = 1;
	int r = read_number(cursor, &first);

	if (r < 0)
		return r;
	last = first;
	if (*cursor->at == '-') {
		cursor->at++;
		r = read_number(cursor, &last);
		if (r < 0)
			return r;
		if (last < first)
			return bad_list(cursor, "a range that goes up");
	}
	if (*cursor->at == ':') {
		cursor->at++;
		r = read_number(cursor, &used);
		if (r < 0)
			return r;
		if (*cursor->at != '/')
			return bad_list(cursor, "\"/\" and the size of the group");
		cursor->at++;
		r = read_number(cursor, &group);
		if (r < 0)
			return r;
		if (group < 1 || used > group)
			return bad_list(cursor, "a group of at least one and no larger use");
	}
	for (int cpu = first; cpu <= last; cpu++)
		if ((cpu - first) % group < used)
			cpuset_add(set, cpu);
	return 0;
}

int cpuset_parse(const char *text, struct cpuset *ret, struct err *err)
{
	struct cursor cursor = {.start = text, .at = text, .err = err};
	struct cpuset set = {0};

	while (isspace((unsigned char)*cursor.at))
		cursor.at++;
	if (*cursor.at) {
		for (;;) {
			int r = read_range(&cursor, &set);

			if (r < 0)
				return r;
			if (*cursor.at != ',')
				break;
			cursor.at++;
		}
		while (isspace((unsigned char)*cursor.at))
			cursor.at++;
		if (*cursor.at)
			return bad_list(&cursor, "\",\" or the end");
	}
	*ret = set;
	return 0;
}

int cpuset_parse_mask(const char *text, struct cpuset *ret, struct err *err)
{
	struct cpuset set = {0};
	const char *end = text + strlen(text);
	int bit = 0, word_bits = 0;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	if (end == text)
		return err_set(err, EINVAL, NULL, "bad CPU mask: it is empty");
	/* From the right: a comma closes a word of 32 bits, however many digits were written of it. */
	for (const char *at = end; at > text;) {
		char c = *--at;

		/* "ff," and "f,,f": a comma stands between two words, never alone. */
		if (c == ',' && word_bits && at > text) {
			bit += 32 - word_bits;
			word_bits = 0;
			continue;
		}
		if (!isxdigit((unsigned char)c) || word_bits >= 32)
			return err_set_at(err, EINVAL, NULL, 0, (unsigned)(at - text + 1),
					  "bad CPU mask \"%.60s\": expected hexadecimal words of 32 bits with commas",
					  text);
		int value = isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;

		for (int i = 0; i < 4; i++) {
			if (!(value & (1 << i)))
				continue;
			if (bit + i >= CPUSET_MAX)
				return err_set(err, ERANGE, NULL, "bad CPU mask: a bit is over %d", CPUSET_MAX - 1);
			cpuset_add(&set, bit + i);
		}
		bit += 4;
		word_bits += 4;
	}
	*ret = set;
	return 0;
}

const char *cpuset_format(struct arena *arena, const struct cpuset *set)
{
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		err_no_memory();
	for (int first = cpuset_first(set); first >= 0;) {
		int last = first;

		while (cpuset_has(set, last + 1))
			last++;
		(void)fprintf(out, "%s%d", first == cpuset_first(set) ? "" : ",", first);
		if (last > first)
			(void)fprintf(out, "-%d", last);
		first = cpuset_next(set, last);
	}
	if (fclose(out) != 0)
		err_no_memory();
	return arena_strndup(arena, text, size);
}
