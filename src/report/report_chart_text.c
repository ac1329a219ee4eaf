/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns charts of rows in the terminal, and what all text forms share. */
#include <math.h>

#include "report_chart_svg.h"
#include "report_chart_text.h"

#include "err.h"
#include "text.h"

/* ---- cells ---- */

struct text_track text_track_new(struct arena *arena, int width)
{
	struct text_track track = {.arena = arena, .width = MAX_OF(width, 1)};

	track.cells = ARENA_ARRAY(arena, (size_t)track.width, const char *);
	text_track_run(&track, 0, track.width - 1, " ");
	return track;
}

void text_track_put(struct text_track *track, int at, const char *character)
{
	if (at >= 0 && at < track->width)
		track->cells[at] = character;
}

void text_track_run(struct text_track *track, int from, int to, const char *character)
{
	for (int i = MIN_OF(from, to); i <= MAX_OF(from, to); i++)
		text_track_put(track, i, character);
}

void text_track_words(struct text_track *track, int at, const char *ascii)
{
	for (; *ascii; ascii++)
		text_track_put(track, at++, arena_strndup(track->arena, ascii, 1));
}

const char *text_track_line(const struct text_track *track)
{
	size_t size = 1;
	int width = track->width;

	while (width && text_equal(track->cells[width - 1], " "))
		width--;
	for (int i = 0; i < width; i++)
		size += strlen(track->cells[i]);
	char *line = arena_alloc(track->arena, size), *end = line;

	for (int i = 0; i < width; i++)
		end = stpcpy(end, track->cells[i]);
	return line;
}

const char *text_for(const struct term *term, struct arena *arena, const char *text)
{
	static const char *const plain[][2] = {{"\u00b0", ""}, {"\u2212", "-"}, {"\u00a0", " "}, {"\u2026", "..."}};
	char *line = arena_alloc(arena, strlen(text) * 2 + 1), *end = line;

	for (bool visible; *text;) {
		size_t length = text_character(text, &visible);
		const char *with = !visible ? "?" : NULL;

		for (size_t i = 0; i < ARRAY_SIZE(plain) && length > 1 && !with; i++)
			if (text_starts(text, plain[i][0]))
				with = term->utf8 && i != 2 ? NULL : plain[i][1];
		if (!with && length > 1 && !term->utf8)
			with = "?";
		end = with ? stpcpy(end, with) : mempcpy(end, text, length);
		text += length;
	}
	return line;
}

const char *text_fill(const struct term *term, struct arena *arena, const char *text, int columns)
{
	const char *shown = text_for(term, arena, text), *end = shown;
	int have = term_columns(shown);

	if (have <= columns)
		return arena_printf(arena, "%s%*s", shown, columns - have, "");
	for (int i = 0; i < columns - 1; i++)
		end += text_character(end, &(bool){0});
	return arena_printf(arena, "%.*s%s", (int)(end - shown), shown, term->utf8 ? "\u2026" : "~");
}

void text_flow(const struct term *term, struct arena *arena, int indent, bool started, const char *text)
{
	const char *shown = text_for(term, arena, text);
	char *broken = arena_alloc(arena, strlen(shown) * 2 + 1), *end = broken;
	int room = MAX_OF(term->width - indent, 1), columns = 0;

	/* term_flow() keeps words whole, also those that are wider than the terminal. */
	for (const char *at = shown; *at;) {
		size_t length = text_character(at, &(bool){0});

		columns = *at == ' ' ? 0 : columns + 1;
		if (columns > room) {
			*end++ = ' ';
			columns = 1;
		}
		end = mempcpy(end, at, length);
		at += length;
	}
	term_flow(term, indent, started, broken);
}

/* ---- axes ---- */

int text_column(const struct scale *scale, double value)
{
	return isfinite(value) ? (int)lround(scale_at(scale, value)) : -1;
}

struct scale text_scale(struct arena *arena, double low, double high, const char *unit, int width)
{
	for (int ticks = 8;; ticks--) {
		struct scale scale = scale_make(low, high, unit, ticks);
		int widest = 0;

		scale.to = width - 1;
		for (int i = 0; i < scale.tick_count; i++)
			widest = MAX_OF(widest, term_columns(scale_tick_text(arena, &scale, i)));
		if (ticks <= 2 || widest + 2 <= scale.step / (scale.high - scale.low) * (width - 1))
			return scale;
	}
}

void text_axis(const struct term *term, struct arena *arena, const struct scale *scale, int indent, int width,
	       const char *what)
{
	struct text_track line = text_track_new(arena, width), numbers = text_track_new(arena, width);

	text_track_run(&line, 0, width - 1, term->utf8 ? "\u2500" : "-");
	for (int i = 0; i < scale->tick_count; i++) {
		const char *text = scale_tick_text(arena, scale, i);
		int at = text_column(scale, scale_tick(scale, i)), length = (int)strlen(text);

		text_track_put(&line, at, term->utf8 ? "\u253c" : "+");
		text_track_words(&numbers, MIN_OF(MAX_OF(at - length / 2, 0), MAX_OF(width - length, 0)), text);
	}
	(void)fprintf(term->out, "%*s%s\n%*s%s\n", indent, "", text_track_line(&line), indent, "",
		      text_track_line(&numbers));
	text_flow(term, arena, indent, false, what);
}

/* ---- rows ---- */

struct text_rows {
	const struct term *term;
	struct arena *arena;
	struct scale scale;
	int label, track; /* columns */
	bool below;	  /* values have no room beside the track: they stand above it, after the label */
};

static struct text_rows rows_new(const struct term *term, struct arena *arena, const struct chart_row *rows, int count,
				 double low, double high, const char *unit)
{
	struct text_rows all = {.term = term, .arena = arena};
	int values = 0;

	for (int i = 0; i < count; i++) {
		all.label = MAX_OF(all.label, term_columns(rows[i].label));
		if (rows[i].value)
			values = MAX_OF(values, term_columns(text_for(term, arena, rows[i].value)));
	}
	all.label = MIN_OF(all.label, term->width / 3);
	all.track = term->width - all.label - values - 5;
	if (all.track < 16) {
		all.below = true;
		all.track = term->width - 3;
	}
	all.track = MIN_OF(all.track, 80);
	all.scale = text_scale(arena, low, high, unit, all.track);
	return all;
}

static void put_row(const struct text_rows *all, const struct chart_row *row, const struct text_track *track,
		    enum term_colour colour)
{
	const struct term *term = all->term;
	const char *on = term_on(term, colour), *off = colour == TERM_PLAIN ? "" : term_on(term, TERM_PLAIN);
	const char *value = text_for(term, all->arena, row->value ? row->value : "");
	const char *note = text_for(term, all->arena, row->note ? row->note : "");
	const char *line = text_track_line(track);

	if (all->below) {
		text_flow(term, all->arena, 0, false,
			  arena_printf(all->arena, "%s: %s%s%s", row->label, value, *note ? "; " : "", note));
		if (*line)
			(void)fprintf(term->out, "  %s%s%s\n", on, line, off);
		return;
	}
	(void)fprintf(term->out, "%s  %s%s%s%*s  %s", text_fill(term, all->arena, row->label, all->label), on, line,
		      off, all->track - term_columns(line), "", value);
	bool beside = all->label + all->track + 6 + term_columns(value) + term_columns(note) <= term->width;

	(void)fprintf(term->out, "%s%s\n", *note && beside ? "; " : "", beside ? note : "");
	if (*note && !beside)
		text_flow(term, all->arena, all->label + 2, false, note);
}

static void put_axis(const struct text_rows *all, const struct chart_measure *measure)
{
	text_axis(all->term, all->arena, &all->scale, all->below ? 2 : all->label + 2, all->track,
		  chart_measure_words(all->arena, measure, all->scale.unit));
}

static void put_interval(const struct term *term, struct text_track *track, const struct scale *scale, double value,
			 double low, double high, const char *mark)
{
	int at = text_column(scale, value), from = text_column(scale, low), to = text_column(scale, high);

	if (from >= 0 && to >= 0) {
		text_track_run(track, from, to, term->utf8 ? "\u2500" : "-");
		text_track_put(track, from, term->utf8 ? "\u251c" : "[");
		text_track_put(track, to, term->utf8 ? "\u2524" : "]");
	}
	text_track_put(track, at, mark);
}

static void put_intervals(const struct term *term, struct arena *arena, const struct chart_intervals *chart)
{
	static const char *const marks[][2] = {[CHART_PLAIN] = {"\u25cf", "o"},
					       [CHART_REFERENCE] = {"\u25a0", "#"},
					       [CHART_BEST] = {"\u25c6", "*"},
					       [CHART_UNSURE] = {"\u25cb", "."},
					       [CHART_BAD] = {"\u25c7", "x"}};
	static const enum term_colour colours[] = {[CHART_PLAIN] = TERM_PLAIN,
						   [CHART_REFERENCE] = TERM_BOLD,
						   [CHART_BEST] = TERM_GREEN,
						   [CHART_UNSURE] = TERM_DIM,
						   [CHART_BAD] = TERM_YELLOW};
	struct chart_row *rows = ARENA_ARRAY(arena, (size_t)chart->count + 1, struct chart_row);
	double low = NAN, high = NAN;

	for (int i = 0; i < chart->count; i++) {
		chart_hold(&low, &high, chart->rows[i].value);
		chart_hold(&low, &high, chart->rows[i].low);
		chart_hold(&low, &high, chart->rows[i].high);
	}
	struct scale scale = scale_make(low, high, chart->measure.unit, 8);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_interval *row = &chart->rows[i];

		rows[i] = (struct chart_row){
		    row->label,
		    isfinite(row->value) ? chart_estimate(arena, &scale, row->value, row->low, row->high) : "not known",
		    row->note};
	}
	struct text_rows all = rows_new(term, arena, rows, chart->count, low, high, chart->measure.unit);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_interval *row = &chart->rows[i];
		struct text_track track = text_track_new(arena, all.track);

		if (row->group) {
			(void)fputs(term_on(term, TERM_BOLD), term->out);
			text_flow(term, arena, 0, false, row->group);
			(void)fputs(term_on(term, TERM_PLAIN), term->out);
		}
		put_interval(term, &track, &all.scale, row->value, row->low, row->high, marks[row->mark][!term->utf8]);
		put_row(&all, &rows[i], &track, colours[row->mark]);
	}
	put_axis(&all, &chart->measure);
}

static void put_waterfall(const struct term *term, struct arena *arena, const struct chart_waterfall *chart)
{
	struct chart_row *rows = ARENA_ARRAY(arena, (size_t)chart->count + 1, struct chart_row);
	double low = NAN, high = NAN, before = NAN;

	for (int i = 0; i < chart->count; i++)
		chart_hold(&low, &high, chart->steps[i].value);
	struct scale scale = scale_make(low, high, chart->measure.unit, 8);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_step *step = &chart->steps[i];

		rows[i] = (struct chart_row){step->label, chart_step_value(arena, &scale, step, before), step->note};
		before = isfinite(step->value) ? step->value : before;
	}
	struct text_rows all = rows_new(term, arena, rows, chart->count, low, high, chart->measure.unit);

	before = NAN;
	for (int i = 0; i < chart->count; i++) {
		const struct chart_step *step = &chart->steps[i];
		struct text_track track = text_track_new(arena, all.track);
		int from = text_column(&all.scale, before), to = text_column(&all.scale, step->value);
		bool clear = !(step->change_low <= 0 && step->change_high >= 0);
		bool good = (step->value < before) == (chart->measure.better == CHART_LOWER);
		enum term_colour colour = from < 0 || step->measured || !clear || chart->measure.better == CHART_NEITHER
					      ? TERM_PLAIN
					  : good ? TERM_GREEN
						 : TERM_YELLOW;

		if (from < 0 || to < 0 || step->measured)
			text_track_put(&track, to, term->utf8 ? "\u25a0" : "#");
		else
			text_track_run(&track, from, to, term->utf8 ? clear ? "\u2588" : "\u2591" : clear ? "#" : ":");
		put_row(&all, &rows[i], &track, colour);
		before = isfinite(step->value) ? step->value : before;
	}
	put_axis(&all, &chart->measure);
}

/* Runs that fall on one column are counted: 1 to 9, then +. */
static void put_dots(const struct term *term, struct arena *arena, const struct chart_dots *chart)
{
	struct chart_row *rows = ARENA_ARRAY(arena, (size_t)chart->count + 1, struct chart_row);
	double low = NAN, high = NAN;

	for (int i = 0; i < chart->count; i++) {
		for (int k = 0; k < chart->rows[i].count; k++)
			chart_hold(&low, &high, chart->rows[i].values[k]);
		chart_hold(&low, &high, chart->rows[i].low);
		chart_hold(&low, &high, chart->rows[i].high);
	}
	struct scale scale = scale_make(low, high, chart->measure.unit, 8);

	for (int i = 0; i < chart->count; i++)
		rows[i] = (struct chart_row){
		    chart->rows[i].label,
		    chart_estimate(arena, &scale, chart->rows[i].value, chart->rows[i].low, chart->rows[i].high),
		    chart_runs_words(arena, &chart->rows[i])};
	struct text_rows all = rows_new(term, arena, rows, chart->count, low, high, chart->measure.unit);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_runs *row = &chart->rows[i];
		struct text_track track = text_track_new(arena, all.track), line = text_track_new(arena, all.track);
		int *runs = ARENA_ARRAY(arena, (size_t)all.track, int);

		for (int k = 0; k < row->count; k++) {
			bool out =
			    row->kinds && (row->kinds[k] == CHART_RUN_VOID || row->kinds[k] == CHART_RUN_WARM_UP);

			if (isfinite(row->values[k]) && out)
				text_track_put(&track, text_column(&all.scale, row->values[k]),
					       row->kinds[k] == CHART_RUN_VOID ? "x" : "w");
			else if (isfinite(row->values[k]))
				runs[text_column(&all.scale, row->values[k])]++;
		}
		for (int at = 0; at < all.track; at++)
			if (runs[at])
				text_track_put(&track, at, runs[at] > 9 ? "+" : arena_printf(arena, "%d", runs[at]));
		put_interval(term, &line, &all.scale, row->value, row->low, row->high, term->utf8 ? "\u25cf" : "o");
		put_row(&all, &rows[i], &track, TERM_PLAIN);
		(void)fprintf(term->out, "%*s%s\n", all.below ? 2 : all.label + 2, "", text_track_line(&line));
	}
	put_axis(&all, &chart->measure);
	text_flow(term, arena, 0, false,
		  "A digit is the number of runs in that column, + more than nine; w is a warm-up and x a void run, "
		  "both left "
		  "out; below it the estimate.");
}

static void put_kind(const struct term *term, struct arena *arena, const struct chart *chart)
{
	switch (chart->kind) {
	case CHART_INTERVALS:
		put_intervals(term, arena, &chart->intervals);
		break;
	case CHART_WATERFALL:
		put_waterfall(term, arena, &chart->waterfall);
		break;
	case CHART_HEAT:
		chart_text_heat(term, arena, &chart->heat);
		break;
	case CHART_PARETO:
		chart_text_pareto(term, arena, &chart->pareto);
		break;
	case CHART_SERIES:
		chart_text_series(term, arena, &chart->series);
		break;
	case CHART_DOTS:
		put_dots(term, arena, &chart->dots);
		break;
	}
}

/* Lines without the blanks at their ends. */
static void print_trimmed(FILE *out, const char *text)
{
	while (*text) {
		size_t whole = strcspn(text, "\n"), length = whole;

		while (length && text[length - 1] == ' ')
			length--;
		(void)fprintf(out, "%.*s\n", (int)length, text);
		text += whole + (text[whole] == '\n');
	}
}

void chart_text(const struct term *term, const struct chart *chart)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	CLEANUP(base_fclose) FILE *out = open_memstream(&text, &size);
	struct term inner = *term;

	if (!out)
		err_no_memory();
	inner.out = out;
	text_flow(&inner, arena, 0, false, chart->title);
	if (chart_is_empty(chart))
		text_flow(&inner, arena, 0, false, CHART_EMPTY);
	else
		put_kind(&inner, arena, chart);
	if (chart->note)
		text_flow(&inner, arena, 0, false, chart->note);
	base_fclose(&out);
	print_trimmed(term->out, text);
}
