/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns number parsing and the shown forms of quantities. */
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>

bool text_has_word(const char *words, const char *separators, const char *word)
{
	size_t length = strlen(word);

	while (*words) {
		words += strspn(words, separators);
		size_t this_length = strcspn(words, separators);

		if (length && this_length == length && memcmp(words, word, length) == 0)
			return true;
		words += this_length;
	}
	return false;
}

const char *text_trim(struct arena *arena, const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return arena_strndup(arena, text, length);
}

int text_int(const char *text, int base, int64_t *ret)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	errno = 0;
	long long number = strtoll(text, &end, base);

	if (end == text)
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return -EINVAL;
	*ret = number;
	return 0;
}

int text_size(const char *text, int64_t *ret_bytes)
{
	static const char suffixes[] = "KMGT";
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	long long number = strtoll(text, &end, 0);

	if (errno == ERANGE)
		return -ERANGE;
	const char *suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;

	if (suffix) {
		int64_t factor = INT64_C(1024) << (10 * (suffix - suffixes));

		if (__builtin_mul_overflow(number, factor, &number))
			return -ERANGE;
		end++;
	}
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return -EINVAL;
	*ret_bytes = number;
	return 0;
}

const char *text_kib(struct arena *arena, int64_t kib)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
	size_t unit = 0;
	double value = (double)kib;

	while (unit + 1 < ARRAY_SIZE(units) && value >= 1024) {
		value /= 1024;
		unit++;
	}
	char number[32];

	(void)snprintf(number, sizeof(number), "%.1f", value);
	size_t length = strlen(number);

	if (length > 2 && text_equal(number + length - 2, ".0"))
		number[length - 2] = '\0';
	return arena_printf(arena, "%s %s", number, units[unit]);
}

const char *text_khz(struct arena *arena, int64_t khz)
{
	if (khz >= 1000000)
		return arena_printf(arena, "%.2f GHz", (double)khz / 1e6);
	return arena_printf(arena, "%" PRId64 " MHz", khz / 1000);
}

/* "7.5 h", "8 h". */
static const char *tenths(struct arena *arena, double value, const char *unit)
{
	long long whole = llround(10 * value);

	return whole % 10 ? arena_printf(arena, "%lld.%lld %s", whole / 10, whole % 10, unit)
			  : arena_printf(arena, "%lld %s", whole / 10, unit);
}

/* "1 min 30 s", "2 min". */
static const char *in_two(struct arena *arena, long long count, long long of, const char *large, const char *small)
{
	return count % of ? arena_printf(arena, "%lld %s %lld %s", count / of, large, count % of, small)
			  : arena_printf(arena, "%lld %s", count / of, large);
}

const char *text_duration(struct arena *arena, double seconds)
{
	static const long long MINUTE = 60, HOUR = 3600, DAY = 86400;

	if (!isfinite(seconds) || seconds < .0005)
		return "0 s";
	if (seconds < .9995)
		return arena_printf(arena, "%.0f ms", 1000 * seconds);
	if (seconds < 9.95)
		return tenths(arena, seconds, "s");
	if (llround(seconds) < MINUTE)
		return arena_printf(arena, "%lld s", llround(seconds));
	if (llround(seconds) < 10 * MINUTE)
		return in_two(arena, llround(seconds), MINUTE, "min", "s");
	if (llround(seconds / (double)MINUTE) < MINUTE)
		return arena_printf(arena, "%lld min", llround(seconds / (double)MINUTE));
	if (llround(seconds / (double)MINUTE) < 2 * MINUTE)
		return in_two(arena, llround(seconds / (double)MINUTE), MINUTE, "h", "min");
	return seconds < 2. * (double)DAY ? tenths(arena, seconds / (double)HOUR, "h")
					  : tenths(arena, seconds / (double)DAY, "d");
}

const char *text_count(struct arena *arena, long long count, const char *one, const char *many)
{
	return arena_printf(arena, "%lld %s", count, count == 1 ? one : many);
}

int text_distance(const char *a, const char *b)
{
	enum { LONGEST = 64 };
	size_t length_a = strlen(a), length_b = strlen(b);
	int rows[3][LONGEST + 1];

	if (length_a > LONGEST || length_b > LONGEST)
		return text_equal(a, b) ? 0 : LONGEST;
	for (size_t j = 0; j <= length_b; j++)
		rows[0][j] = (int)j;
	for (size_t i = 1; i <= length_a; i++) {
		int *row = rows[i % 3], *before = rows[(i + 2) % 3], *before_that = rows[(i + 1) % 3];

		row[0] = (int)i;
		for (size_t j = 1; j <= length_b; j++) {
			int best = before[j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN_OF(best, before[j] + 1);
			best = MIN_OF(best, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN_OF(best, before_that[j - 2] + 1);
			row[j] = best;
		}
	}
	return rows[length_a % 3][length_b];
}

/* How many bytes a well-formed character takes (RFC 3629); 0 for what is none. */
static size_t utf8_length(const unsigned char *at)
{
	size_t length = at[0] < 0x80   ? 1
			: at[0] < 0xc2 ? 0
			: at[0] < 0xe0 ? 2
			: at[0] < 0xf0 ? 3
			: at[0] < 0xf5 ? 4
				       : 0;

	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Longer forms than needed, surrogates, and what is beyond U+10FFFF. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf0 && at[1] < 0x90) ||
	    (at[0] == 0xf4 && at[1] >= 0x90))
		return 0;
	return length;
}

size_t text_character(const char *at, bool *ret_visible)
{
	const unsigned char *bytes = (const unsigned char *)at;
	size_t length = utf8_length(bytes);
	bool control = bytes[0] < 0x20 || bytes[0] == 0x7f || (bytes[0] == 0xc2 && bytes[1] < 0xa0);
	/* U+200E, U+200F; U+202A to U+202E; U+2066 to U+2069 */
	bool turns = length == 3 && bytes[0] == 0xe2 &&
		     ((bytes[1] == 0x80 && (bytes[2] == 0x8e || bytes[2] == 0x8f)) ||
		      (bytes[1] == 0x80 && bytes[2] >= 0xaa && bytes[2] <= 0xae) ||
		      (bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9));

	/* U+FFFE and U+FFFF: no characters, and forbidden in XML */
	bool none = length == 3 && bytes[0] == 0xef && bytes[1] == 0xbf && bytes[2] >= 0xbe;

	*ret_visible = length && !control && !turns && !none;
	return MAX_OF(length, 1);
}

void text_put(FILE *out, const char *text, size_t length)
{
	for (size_t step, at = 0; at < length && text[at]; at += step) {
		bool visible;

		step = text_character(text + at, &visible);
		if (visible && step <= length - at)
			(void)fwrite(text + at, 1, step, out);
		else
			(void)fputc('?', out);
	}
}

const char *text_visible(struct arena *arena, const char *text)
{
	char *copy = arena_strdup(arena, text), *to = copy;

	while (*text) {
		bool visible;
		size_t step = text_character(text, &visible);

		if (visible)
			memcpy(to, text, step);
		else
			*to = '?';
		to += visible ? step : 1;
		text += step;
	}
	*to = '\0';
	return copy;
}

int text_compare_natural(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}
