/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the schema: how each version of it came to be, and the table of tables. */
#include <errno.h>
#include <inttypes.h>

#include "store_internal.h"
#include "text.h"

/* Statements of each step, ended by NULL. A step is never changed once it was released: stores hold it. */
static const char *const schema_1[] = {
    "CREATE TABLE hvtune_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    "INSERT INTO hvtune_meta VALUES ('schema', 1), ('sessions', 0)",
    "CREATE TABLE session (id BIGINT PRIMARY KEY, uid TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT, command "
    "TEXT, "
    "cwd TEXT, version TEXT, host TEXT, facts TEXT, environment TEXT, method TEXT, study TEXT, began_us BIGINT NOT "
    "NULL, "
    "ended_us BIGINT, state TEXT NOT NULL, why TEXT, verdict TEXT)",
    "CREATE TABLE configuration (session BIGINT NOT NULL REFERENCES session (id), id BIGINT NOT NULL, name TEXT NOT "
    "NULL, "
    "command TEXT, settings TEXT, place TEXT, PRIMARY KEY (session, id))",
    "CREATE TABLE metric (session BIGINT NOT NULL REFERENCES session (id), id BIGINT NOT NULL, name TEXT NOT NULL, "
    "unit TEXT NOT NULL, direction TEXT NOT NULL, source TEXT, boundary TEXT, PRIMARY KEY (session, id))",
    "CREATE TABLE block (session BIGINT NOT NULL REFERENCES session (id), id BIGINT NOT NULL, purpose TEXT NOT NULL, "
    "run_order TEXT, began_us BIGINT NOT NULL, PRIMARY KEY (session, id))",
    "CREATE TABLE run (session BIGINT NOT NULL REFERENCES session (id), id BIGINT NOT NULL, configuration BIGINT NOT "
    "NULL, "
    "block BIGINT NOT NULL, position BIGINT NOT NULL, purpose TEXT NOT NULL, began_us BIGINT NOT NULL, took_ns BIGINT "
    "NOT "
    "NULL, boot TEXT, vm TEXT, vm_boot TEXT, clock TEXT, state TEXT NOT NULL, why TEXT, exit_code BIGINT NOT NULL, "
    "signal BIGINT NOT NULL, PRIMARY KEY (session, id))",
    "CREATE TABLE measurement (session BIGINT NOT NULL REFERENCES session (id), run BIGINT NOT NULL, metric BIGINT NOT "
    "NULL, value DOUBLE PRECISION NOT NULL, PRIMARY KEY (session, run, metric))",
    NULL};
static const char *const schema_2[] = {
    "CREATE TABLE source (session BIGINT NOT NULL REFERENCES session (id), id BIGINT NOT NULL, name TEXT NOT NULL, "
    "boundary TEXT, quantity TEXT NOT NULL, unit TEXT NOT NULL, resolution DOUBLE PRECISION, period_ms BIGINT NOT "
    "NULL, "
    "PRIMARY KEY (session, id))",
    /* No key: raw readings are many, and two of one nanosecond do no harm. */
    "CREATE TABLE sample (session BIGINT NOT NULL REFERENCES session (id), run BIGINT NOT NULL, source BIGINT NOT "
    "NULL, "
    "at_ns BIGINT NOT NULL, value DOUBLE PRECISION NOT NULL)",
    "CREATE INDEX sample_of_session ON sample (session, run, source)",
    "CREATE TABLE note (session BIGINT NOT NULL REFERENCES session (id), run BIGINT NOT NULL, at_us BIGINT NOT NULL, "
    "kind TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX note_of_session ON note (session)", NULL};

/* Who writes the session: a session that was never ended is told from one that is being measured. */
static const char *const schema_3[] = {"ALTER TABLE session ADD COLUMN writer TEXT", NULL};

static const char *const *const steps[] = {schema_1, schema_2, schema_3};
_Static_assert(ARRAY_SIZE(steps) == STORE_SCHEMA, "a step for each version");

static int take_number(void *data, const struct store_cell *cells, size_t count)
{
	(void)count;
	*(int64_t *)data = cells[0].number;
	return 0;
}

int store_schema_of(struct store *store, int *ret, struct err *err)
{
	int64_t version = 0;
	int r;

	if (!store->backend->has_table(store, "hvtune_meta")) {
		if (store->backend->is_foreign(store))
			return err_set(err, EBADMSG, store->name, "this is a database, but no store of hvtune's");
		*ret = 0;
		return 0;
	}
	r = store_query(store, "SELECT value FROM hvtune_meta WHERE name = 'schema'", NULL, 0, take_number, &version,
			err);
	if (r < 0)
		return r;
	if (version < 1 || version > INT32_MAX)
		return err_set(err, EBADMSG, store->name, "this store does not say its version; it is damaged");
	*ret = (int)version;
	return 0;
}

static int migrate(struct store *store, int from, int version, struct err *err)
{
	int r = 0;

	for (int at = from; at < MIN_OF(version, STORE_SCHEMA) && r == 0; at++)
		for (const char *const *statement = steps[at]; *statement && r == 0; statement++)
			r = store_query_once(store, *statement, NULL, 0, NULL, NULL, err);
	return r < 0 ? r
		     : store_run(store, "UPDATE hvtune_meta SET value = $1 WHERE name = 'schema'", &CELL_INT(version),
				 1, err);
}

int store_migrate(struct store *store, int version, struct err *err)
{
	int from = 0, r = store_begin(store, err);

	if (r < 0)
		return r;
	/* Asked inside the transaction: another hvtune may be making it too. */
	r = store_schema_of(store, &from, err);
	if (r == 0 && from < version)
		r = migrate(store, from, version, err);
	return r < 0 ? store_give_up(store, r) : store_commit(store, err);
}

int store_next_session(struct store *store, int64_t *ret, struct err *err)
{
	return store_query(store, "UPDATE hvtune_meta SET value = value + 1 WHERE name = 'sessions' RETURNING value",
			   NULL, 0, take_number, ret, err);
}

/* ---- the table of tables ---- */

#define INT(name)                                                                                                      \
	{                                                                                                              \
		name, STORE_INT                                                                                        \
	}
#define REAL(name)                                                                                                     \
	{                                                                                                              \
		name, STORE_REAL                                                                                       \
	}
#define TEXT(name)                                                                                                     \
	{                                                                                                              \
		name, STORE_TEXT                                                                                       \
	}

static const struct store_column session_columns[] = {
    INT("id"),	     TEXT("uid"),     TEXT("kind"),  TEXT("name"),	  TEXT("command"), TEXT("cwd"),
    TEXT("version"), TEXT("host"),    TEXT("facts"), TEXT("environment"), TEXT("method"),  TEXT("study"),
    INT("began_us"), INT("ended_us"), TEXT("state"), TEXT("why"),	  TEXT("verdict"), TEXT("writer")};
static const struct store_column configuration_columns[] = {INT("session"),  INT("id"),	       TEXT("name"),
							    TEXT("command"), TEXT("settings"), TEXT("place")};
static const struct store_column metric_columns[] = {INT("session"),	INT("id"),	TEXT("name"),	 TEXT("unit"),
						     TEXT("direction"), TEXT("source"), TEXT("boundary")};
static const struct store_column block_columns[] = {INT("session"), INT("id"), TEXT("purpose"), TEXT("run_order"),
						    INT("began_us")};
static const struct store_column run_columns[] = {
    INT("session"),  INT("id"),	     INT("configuration"), INT("block"), INT("position"), TEXT("purpose"),
    INT("began_us"), INT("took_ns"), TEXT("boot"),	   TEXT("vm"),	 TEXT("vm_boot"), TEXT("clock"),
    TEXT("state"),   TEXT("why"),    INT("exit_code"),	   INT("signal")};
static const struct store_column measurement_columns[] = {INT("session"), INT("run"), INT("metric"), REAL("value")};
static const struct store_column source_columns[] = {INT("session"),	 INT("id"),	   TEXT("name"),
						     TEXT("boundary"),	 TEXT("quantity"), TEXT("unit"),
						     REAL("resolution"), INT("period_ms")};
static const struct store_column sample_columns[] = {INT("session"), INT("run"), INT("source"), INT("at_ns"),
						     REAL("value")};
static const struct store_column note_columns[] = {INT("session"), INT("run"), INT("at_us"), TEXT("kind"),
						   TEXT("text")};

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names. */
#define TABLE(name, order)                                                                                             \
	{                                                                                                              \
#name, order, name##_columns, ARRAY_SIZE(name##_columns)                                               \
	}
static const struct store_table tables[] = {
    TABLE(session, "id"),      TABLE(configuration, "id"),	  TABLE(metric, "id"), TABLE(block, "id"),
    TABLE(run, "id"),	       TABLE(measurement, "run, metric"), TABLE(source, "id"), TABLE(sample, "source, at_ns"),
    TABLE(note, "at_us, run"),
};

const struct store_table *store_table_at(size_t index)
{
	return index < ARRAY_SIZE(tables) ? &tables[index] : NULL;
}

static const char *column_list(struct arena *arena, const struct store_table *table)
{
	const char *list = table->columns[0].name;

	for (size_t i = 1; i < table->count; i++)
		list = arena_printf(arena, "%s, %s", list, table->columns[i].name);
	return list;
}

const char *store_select_text(struct arena *arena, const struct store_table *table)
{
	return arena_printf(arena, "SELECT %s FROM %s WHERE %s = $1 ORDER BY %s", column_list(arena, table),
			    table->name, table->columns[0].name, table->order);
}

const char *store_insert_text(struct arena *arena, const struct store_table *table)
{
	const char *values = "$1";

	for (size_t i = 1; i < table->count; i++)
		values = arena_printf(arena, "%s, $%zu", values, i + 1);
	return arena_printf(arena, "INSERT INTO %s (%s) VALUES (%s)", table->name, column_list(arena, table), values);
}
