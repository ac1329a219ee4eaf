/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns moving sessions: between stores, out as JSON lines and CSV, in from JSON lines. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "store_internal.h"
#include "text.h"

enum { MOST_CELLS = 32, MOST_LINE = 64 << 20 };

/* ---- rows as JSON ---- */

struct exporting {
	FILE *out;
	const struct store_table *table;
};

static json_t *cell_json(const struct store_cell *cell)
{
	json_t *json = NULL;

	if (cell->type == STORE_INT)
		json = json_integer(cell->number);
	else if (cell->type == STORE_REAL)
		json = json_real(cell->real);
	else if (cell->type == STORE_TEXT && !(json = json_string(cell->text)))
		json = json_string("(not UTF-8)");
	/* An infinity is no JSON. */
	return json ? json : json_null();
}

static int write_json(FILE *out, json_t *json)
{
	int r = json_dumpf(json, out, JSON_COMPACT | JSON_REAL_PRECISION(17));

	json_decref(json);
	return r < 0 || fputc('\n', out) == EOF ? -EIO : 0;
}

static int export_row(void *data, const struct store_cell *cells, size_t count)
{
	struct exporting *exporting = data;
	json_t *json = json_pack("{s:s}", "table", exporting->table->name);

	for (size_t i = 0; i < count; i++)
		if (cells[i].type != STORE_NULL)
			json_object_set_new(json, exporting->table->columns[i].name, cell_json(&cells[i]));
	return write_json(exporting->out, json);
}

static int export_session(struct store *store, struct arena *arena, int64_t id, FILE *out, struct err *err)
{
	int r = 0;

	for (size_t i = 0; store_table_at(i) && r == 0; i++) {
		struct exporting exporting = {out, store_table_at(i)};

		r = store_query_once(store, store_select_text(arena, exporting.table), &CELL_INT(id), 1, export_row,
				     &exporting, err);
	}
	return r;
}

static int number_row(void *data, const struct store_cell *cells, size_t count)
{
	struct gathering {
		int64_t *ids;
		size_t count;
	} *gathering = data;

	(void)count;
	gathering->ids[gathering->count++] = cells[0].number;
	return 0;
}

static int one_number(void *data, const struct store_cell *cells, size_t count)
{
	(void)count;
	*(int64_t *)data = cells[0].number;
	return 0;
}

/* The numbers of all sessions, or of the one that is asked for. */
static int numbers(struct store *store, struct arena *arena, int64_t session, int64_t **ret, size_t *ret_count,
		   struct err *err)
{
	struct {
		int64_t *ids;
		size_t count;
	} gathering = {0};
	int64_t total = 0;
	int r = store_query(store, "SELECT COUNT(*) FROM session", NULL, 0, one_number, &total, err);

	if (r < 0)
		return r;
	gathering.ids = ARENA_ARRAY(arena, (size_t)total + 1, int64_t);
	r = store_query(store, "SELECT id FROM session WHERE $1 = 0 OR id = $1 ORDER BY id", &CELL_INT(session), 1,
			number_row, &gathering, err);
	if (r < 0)
		return r;
	if (session && !gathering.count)
		return err_set(err, ENOENT, store->name, "there is no session %" PRId64, session);
	*ret = gathering.ids;
	*ret_count = gathering.count;
	return 0;
}

int store_export(struct store *store, int64_t session, FILE *out, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int64_t *ids;
	size_t count;
	int r = numbers(store, arena, session, &ids, &count, err);

	if (r < 0)
		return r;
	r = write_json(out, json_pack("{s:i}", "hvtune_results", STORE_SCHEMA));
	for (size_t i = 0; i < count && r == 0; i++)
		r = export_session(store, arena, ids[i], out, err);
	if (r == -EIO || fflush(out) == EOF)
		return err_set(err, EIO, "export", "it cannot be written");
	return r;
}

/* ---- into a store ---- */

/* A new number for each session that comes in; 0 for one that is there already. */
struct renumbering {
	struct store *into;
	struct arena *arena;
	const struct store_table *table;
	const char *insert;
	int64_t new_id; /* of the session that is coming */
	bool skip;	/* it is there already */
};

static int insert_cells(struct renumbering *renumbering, const struct store_cell *cells, size_t count, struct err *err)
{
	return store_query_once(renumbering->into, renumbering->insert, cells, count, NULL, NULL, err);
}

static int is_there(struct store *store, const char *uid, bool *ret, struct err *err)
{
	int64_t found = 0;
	int r = store_query(store, "SELECT COUNT(*) FROM session WHERE uid = $1", (struct store_cell[]){CELL_TEXT(uid)},
			    1, one_number, &found, err);

	*ret = found > 0;
	return r;
}

/* A row of the table of sessions decides what becomes of the rows that follow. */
static int take_row(struct renumbering *renumbering, struct store_cell *cells, size_t count, size_t *copied,
		    struct err *err)
{
	bool is_session = text_equal(renumbering->table->name, "session");
	int r = 0;

	if (is_session) {
		r = is_there(renumbering->into, cells[1].text, &renumbering->skip, err);
		if (r == 0 && !renumbering->skip)
			r = store_next_session(renumbering->into, &renumbering->new_id, err);
		*copied += r == 0 && !renumbering->skip;
	}
	if (r < 0 || renumbering->skip)
		return r;
	cells[0] = CELL_INT(renumbering->new_id);
	return insert_cells(renumbering, cells, count, err);
}

struct merging {
	struct renumbering renumbering;
	size_t copied;
	struct err *err;
};

static int merge_row(void *data, const struct store_cell *cells, size_t count)
{
	struct merging *merging = data;
	struct store_cell own[MOST_CELLS];

	memcpy(own, cells, count * sizeof(*cells));
	return take_row(&merging->renumbering, own, count, &merging->copied, merging->err);
}

static void use_table(struct renumbering *renumbering, const struct store_table *table)
{
	if (renumbering->table == table)
		return;
	renumbering->table = table;
	renumbering->insert = store_insert_text(renumbering->arena, table);
}

static int merge_session(struct store *from, struct merging *merging, int64_t id, struct err *err)
{
	int r = 0;

	for (size_t i = 0; store_table_at(i) && r == 0; i++) {
		use_table(&merging->renumbering, store_table_at(i));
		r = store_query_once(from, store_select_text(merging->renumbering.arena, store_table_at(i)),
				     &CELL_INT(id), 1, merge_row, merging, err);
		if (merging->renumbering.skip)
			break;
	}
	return r;
}

int store_merge(struct store *from, struct store *into, size_t *ret_copied, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct merging merging = {.renumbering = {.into = into, .arena = arena}, .err = err};
	int64_t *ids;
	size_t count;
	int r = numbers(from, arena, 0, &ids, &count, err);

	if (r == 0)
		r = store_begin(into, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count && r == 0; i++)
		r = merge_session(from, &merging, ids[i], err);
	r = r < 0 ? store_give_up(into, r) : store_commit(into, err);
	if (r == 0)
		*ret_copied = merging.copied;
	return r;
}

/* ---- rows from JSON lines ---- */

struct importing {
	struct renumbering renumbering;
	const char *name;
	unsigned line;
	int64_t old_id; /* of the session as the file numbers it */
	bool any;	/* a session came */
	size_t copied;
};

static int refuse(const struct importing *importing, struct err *err, const char *what, const char *which)
{
	return err_set_at(err, EBADMSG, importing->name, importing->line, 0, "%s%s%s", what, which ? " " : "",
			  which ? which : "");
}

static const struct store_table *table_of(const char *name)
{
	for (size_t i = 0; name && store_table_at(i); i++)
		if (text_equal(store_table_at(i)->name, name))
			return store_table_at(i);
	return NULL;
}

static bool take_cell(const json_t *json, enum store_type type, struct store_cell *ret)
{
	if (!json || json_is_null(json))
		*ret = (struct store_cell){.type = STORE_NULL};
	else if (type == STORE_INT && json_is_integer(json))
		*ret = CELL_INT(json_integer_value(json));
	else if (type == STORE_REAL && json_is_number(json))
		*ret = CELL_REAL(json_number_value(json));
	else if (type == STORE_TEXT && json_is_string(json))
		*ret = CELL_TEXT(json_string_value(json));
	else
		return false;
	return true;
}

static int import_row(struct importing *importing, const json_t *json, struct err *err)
{
	const struct store_table *table = table_of(json_string_value(json_object_get(json, "table")));
	struct store_cell cells[MOST_CELLS] = {0};
	bool is_session = table && text_equal(table->name, "session");
	int r;

	if (!table)
		return refuse(importing, err, "this line names no table of hvtune's", NULL);
	for (size_t i = 0; i < table->count; i++)
		if (!take_cell(json_object_get(json, table->columns[i].name), table->columns[i].type, &cells[i]))
			return refuse(importing, err,
				      "this is of another kind than it should be:", table->columns[i].name);
	if (cells[0].type != STORE_INT || (is_session && cells[1].type != STORE_TEXT))
		return refuse(importing, err, "this line does not say of which session it is", NULL);
	if (is_session) {
		importing->old_id = cells[0].number;
		importing->any = true;
	} else if (!importing->any || cells[0].number != importing->old_id) {
		return refuse(importing, err, "this line belongs to a session that does not stand before it", NULL);
	}
	use_table(&importing->renumbering, table);
	r = take_row(&importing->renumbering, cells, table->count, &importing->copied, err);
	/* What the database refuses (a missing or a doubled value) is a fault of the line. */
	return r == -EIO ? refuse(importing, err, "this line does not fit:", err ? err->what : NULL) : r;
}

static int import_head(struct importing *importing, const json_t *json, struct err *err)
{
	const json_t *version = json_object_get(json, "hvtune_results");

	if (!json_is_integer(version))
		return refuse(importing, err,
			      "these are no results of hvtune's: the first line should be "
			      "{\"hvtune_results\": ...}",
			      NULL);
	if (json_integer_value(version) > STORE_SCHEMA)
		return refuse(importing, err, "these results are of a newer hvtune", NULL);
	return 0;
}

static int import_line(struct importing *importing, const char *line, size_t length, struct err *err)
{
	json_error_t error;
	json_t *json = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	int r;

	if (!json)
		return refuse(importing, err, "this is no JSON:", error.text);
	if (!json_is_object(json))
		r = refuse(importing, err, "this is no JSON object", NULL);
	else if (importing->line == 1)
		r = import_head(importing, json, err);
	else
		r = import_row(importing, json, err);
	json_decref(json);
	return r;
}

static int import_lines(struct importing *importing, FILE *in, struct err *err)
{
	CLEANUP(base_free) char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int r = 0;

	while (r == 0 && (length = getline(&line, &room, in)) > 0) {
		importing->line++;
		if (length > MOST_LINE)
			r = refuse(importing, err, "this line is longer than any that hvtune writes", NULL);
		else if (!(length == 1 && line[0] == '\n'))
			r = import_line(importing, line, (size_t)length, err);
	}
	if (r == 0 && ferror(in))
		return err_set(err, EIO, importing->name, "it cannot be read to its end");
	if (r == 0 && !importing->line)
		return err_set(err, EBADMSG, importing->name, "it is empty");
	return r;
}

int store_import(struct store *store, FILE *in, const char *name, size_t *ret_sessions, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct importing importing = {.renumbering = {.into = store, .arena = arena}, .name = name};
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = import_lines(&importing, in, err);
	r = r < 0 ? store_give_up(store, r) : store_commit(store, err);
	if (r == 0)
		*ret_sessions = importing.copied;
	return r;
}

/* ---- CSV (RFC 4180) ---- */

static void csv_text(FILE *out, const char *text)
{
	bool quote = text && (strpbrk(text, ",\"\r\n") || *text == ' ');

	if (!text)
		return;
	if (!quote) {
		(void)fputs(text, out);
		return;
	}
	(void)fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			(void)fputc('"', out);
		(void)fputc(*text, out);
	}
	(void)fputc('"', out);
}

static const char *configuration_name(const struct store_whole *whole, int64_t id)
{
	for (size_t i = 0; i < whole->configuration_count; i++)
		if (whole->configurations[i].id == id)
			return whole->configurations[i].name;
	return "";
}

static void csv_run(FILE *out, const struct store_whole *whole, const struct store_run *run)
{
	(void)fprintf(out, "%" PRId64 ",%" PRId64 ",", whole->session.id, run->id);
	csv_text(out, configuration_name(whole, run->configuration));
	(void)fputc(',', out);
	if (run->block >= 0)
		(void)fprintf(out, "%" PRId64, run->block);
	(void)fprintf(out, ",%" PRId64 ",%s,%" PRId64 ".%06" PRId64 ",", run->position, run->purpose,
		      run->began_us / 1000000, run->began_us % 1000000);
	csv_text(out, run->boot);
	(void)fputc(',', out);
	csv_text(out, run->vm);
	(void)fprintf(out, ",%s,", run->state);
	csv_text(out, run->why);
	(void)fputc(',', out);
	if (run->exit_code >= 0)
		(void)fprintf(out, "%" PRId64, run->exit_code);
	for (size_t i = 0; i < whole->metric_count; i++) {
		(void)fputc(',', out);
		if (!isnan(run->values[i]))
			(void)fprintf(out, "%.17g", run->values[i]);
	}
	(void)fputs("\r\n", out);
}

int store_export_csv(struct store *store, int64_t session, FILE *out, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_whole whole;
	int r = store_load(store, arena, session, &whole, err);

	if (r < 0)
		return r;
	(void)fputs("session,run,configuration,block,position,purpose,began,boot,vm,state,why,exit_code", out);
	for (size_t i = 0; i < whole.metric_count; i++) {
		(void)fputc(',', out);
		csv_text(out, arena_printf(arena, "%s [%s]", whole.metrics[i].name, whole.metrics[i].unit));
	}
	(void)fputs("\r\n", out);
	for (size_t i = 0; i < whole.run_count; i++)
		csv_run(out, &whole, &whole.runs[i]);
	return fflush(out) == EOF || ferror(out) ? err_set(err, EIO, "export", "it cannot be written") : 0;
}
