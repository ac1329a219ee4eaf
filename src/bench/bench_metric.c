/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the metrics of a session and the parsing of what the user asks to be read from the output. */
#include "bench_metric.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <string.h>

#include "bench_internal.h"
#include "meter.h"
#include "text.h"

const char *bench_better_name(enum bench_better better)
{
	static const char *const names[] = {[BENCH_LESS] = "less", [BENCH_MORE] = "more", [BENCH_NEITHER] = "none"};

	return names[better];
}

void bench_values_clear(struct bench_values *values)
{
	for (size_t i = 0; i < values->count; i++)
		values->values[i] = (double)NAN;
}

int bench_values_find(const struct bench_values *values, const char *name)
{
	for (size_t i = 0; i < values->count; i++)
		if (text_equal(values->metrics[i].name, name))
			return (int)i;
	return -1;
}

static const char *keep(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

size_t bench_values_set(struct bench_values *values, const struct bench_metric *metric, double value)
{
	int found = bench_values_find(values, metric->name);

	if (found >= 0) {
		values->values[found] = value;
		return (size_t)found;
	}
	if (values->count == values->room) {
		size_t room = values->room ? 2 * values->room : 16;
		struct bench_metric *metrics = ARENA_ARRAY(values->arena, room, struct bench_metric);
		double *numbers = ARENA_ARRAY(values->arena, room, double);

		for (size_t i = 0; i < values->count; i++) {
			metrics[i] = values->metrics[i];
			numbers[i] = values->values[i];
		}
		values->metrics = metrics;
		values->values = numbers;
		values->room = room;
	}
	values->metrics[values->count] = (struct bench_metric){
	    .name = arena_strdup(values->arena, metric->name),
	    .unit = keep(values->arena, metric->unit),
	    .source = keep(values->arena, metric->source),
	    .boundary = keep(values->arena, metric->boundary),
	    .better = metric->better,
	};
	values->values[values->count] = value;
	return values->count++;
}

/* ---- what is asked for ---- */

static int parse_better(const char *text, enum bench_better *ret)
{
	for (enum bench_better better = BENCH_LESS; better <= BENCH_NEITHER; better++)
		if (text_equal(text, bench_better_name(better))) {
			*ret = better;
			return 0;
		}
	return -EINVAL;
}

bool bench_metric_is_own(const char *name)
{
	static const char *const own[] = {BENCH_WALL, BENCH_USER,    BENCH_SYSTEM,
					  BENCH_PEAK, BENCH_FOREIGN, BENCH_TEMPERATURE};
	static const char *const of_boundary[] = {BENCH_ENERGY_OF, BENCH_POWER_OF};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (text_equal(name, own[i]))
			return true;
	for (enum meter_boundary boundary = 0; boundary < METER_BOUNDARIES; boundary++)
		for (size_t i = 0; i < ARRAY_SIZE(of_boundary); i++) {
			size_t length = strlen(meter_boundary_name(boundary));

			if (text_starts(name, meter_boundary_name(boundary)) &&
			    text_equal(name + length, of_boundary[i]))
				return true;
		}
	return false;
}

/* "NAME[:UNIT[:BETTER]]", cut at its colons. */
static int parse_head(struct arena *arena, const char *head, const char *whole, struct bench_metric *metric,
		      struct err *err)
{
	char *name = arena_strdup(arena, head), *unit = strchr(name, ':'),
	     *better = unit ? strchr(unit + 1, ':') : NULL;

	if (unit)
		*unit++ = '\0';
	if (better)
		*better++ = '\0';
	metric->name = name;
	metric->unit = unit ? unit : "";
	metric->better = BENCH_LESS;
	if (!*name)
		return err_set(err, EINVAL, whole, "a metric needs a name before the first ':' or '='");
	if (bench_metric_is_own(name)) {
		(void)err_set(err, EINVAL, whole, "the name \"%s\" is taken by what hvtune itself measures", name);
		(void)err_hint(err, "give what the command prints another name");
		return -EINVAL;
	}
	if (better && parse_better(better, &metric->better) < 0)
		return err_set(err, EINVAL, whole, "better is \"less\", \"more\" or \"none\", not \"%s\"", better);
	return 0;
}

int bench_regex_compile(regex_t *ret, const char *pattern, struct err *err)
{
	char reason[128];
	int r = regcomp(ret, pattern, REG_EXTENDED | REG_NEWLINE);

	if (r == 0)
		return 0;
	(void)regerror(r, ret, reason, sizeof(reason));
	return err_set(err, EINVAL, pattern, "this is no regular expression: %s", reason);
}

static int check_pattern(const struct bench_reader *reader, struct err *err)
{
	regex_t regex;
	int r;

	if (reader->kind == BENCH_JSON)
		return *reader->pattern == '/' ? 0
					       : err_set(err, EINVAL, reader->pattern,
							 "a JSON pointer begins with '/': /end/sum/bits_per_second");
	r = bench_regex_compile(&regex, reader->pattern, err);
	if (r == 0)
		regfree(&regex);
	return r;
}

static int parse_built_in(struct arena *arena, const char *text, struct bench_reader *ret, struct err *err)
{
	const char *names = "";

	for (size_t i = 0; bench_built_in_at(i, NULL); i++) {
		if (text_equal(bench_built_in_at(i, NULL), text)) {
			*ret = (struct bench_reader){.kind = BENCH_BUILT_IN, .pattern = bench_built_in_at(i, NULL)};
			return 0;
		}
		names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", bench_built_in_at(i, NULL));
	}
	(void)err_set(err, EINVAL, text, "this is no reader of output");
	(void)err_hint(err, "it is %s, or NAME:UNIT:more=json:POINTER, or NAME:UNIT:less=regex:EXPRESSION", names);
	return -EINVAL;
}

int bench_reader_parse(struct arena *arena, const char *text, struct bench_reader *ret, struct err *err)
{
	static const struct {
		const char *mark;
		enum bench_reader_kind kind;
	} kinds[] = {{"=json:", BENCH_JSON}, {"=regex:", BENCH_REGEX}};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *mark = strstr(text, kinds[i].mark);
		struct bench_reader reader = {.kind = kinds[i].kind};
		int r;

		/* The first '=' decides: an expression may hold one. */
		if (!mark || memchr(text, '=', (size_t)(mark - text)))
			continue;
		r = parse_head(arena, arena_strndup(arena, text, (size_t)(mark - text)), text, &reader.metric, err);
		reader.pattern = arena_strdup(arena, mark + strlen(kinds[i].mark));
		reader.metric.source = arena_printf(arena, "output: %s%s", kinds[i].mark + 1, reader.pattern);
		if (r == 0)
			r = check_pattern(&reader, err);
		if (r == 0)
			*ret = reader;
		return r;
	}
	return parse_built_in(arena, text, ret, err);
}
