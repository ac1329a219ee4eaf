/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of this room share: statements with cells, the two backends behind one table of functions, and
 * the table of tables from which copying, exporting and deleting come.
 *
 * SQL is written once for both: parameters are $1, $2... in the order of their first use, numbers are BIGINT and DOUBLE
 * PRECISION, texts TEXT, and ids are counted by hvtune, not by the database.
 */
#ifndef HVTUNE_STORE_INTERNAL_H
#define HVTUNE_STORE_INTERNAL_H

#include "store.h"

enum store_type { STORE_NULL, STORE_INT, STORE_REAL, STORE_TEXT };

struct store_cell {
	enum store_type type;
	int64_t number;
	double real;
	const char *text; /* of a row: valid while the row is looked at */
};

#define CELL_INT(value) ((struct store_cell){.type = STORE_INT, .number = (value)})
#define CELL_TEXT(value) store_cell_text(value)
#define CELL_REAL(value) store_cell_real(value)

struct store_cell store_cell_text(const char *text); /* NULL gives STORE_NULL */
struct store_cell store_cell_real(double value);     /* NAN gives STORE_NULL */

/* A row of an answer; a negative errno ends the query with it. */
typedef int store_row_function(void *data, const struct store_cell *cells, size_t count);

struct store_backend {
	const char *begin; /* of a transaction that writes */
	/* Run one statement. `sql` is a literal when `keep`, so that it is prepared only once. `row` may be NULL. */
	int (*run)(struct store *store, const char *sql, bool keep, const struct store_cell *cells, size_t count,
		   store_row_function *row, void *data, struct err *err);
	bool (*has_table)(struct store *store, const char *table);
	/* Is there anything in it that is not ours? */
	bool (*is_foreign)(struct store *store);
	/* Is what was opened still what stands at its place? NULL: it cannot go away. */
	int (*is_there)(struct store *store, struct err *err);
	/* Have what was committed outlive a power cut too. NULL: each commit does. */
	int (*settle)(struct store *store, struct err *err);
	void (*close)(struct store *store);
};

struct store {
	const struct store_backend *backend;
	struct arena *arena;
	const char *name;
	enum store_mode mode;
	void *private; /* the backend's */
};

/* Make the file and its directories when it is not there. */
int store_make_file(struct arena *arena, const char *path, struct err *err);

/* Have the names in the directory of `path` outlive a power cut, as far as its file system can. */
void store_sync_folder(const char *path);

int store_sqlite_open(struct store *store, const char *path, struct err *err);
int store_postgresql_open(struct store *store, const char *url, struct err *err);

/* A literal with cells. */
int store_run(struct store *store, const char *sql, const struct store_cell *cells, size_t count, struct err *err);
int store_query(struct store *store, const char *sql, const struct store_cell *cells, size_t count,
		store_row_function *row, void *data, struct err *err);
/* A statement that was put together, not kept. */
int store_query_once(struct store *store, const char *sql, const struct store_cell *cells, size_t count,
		     store_row_function *row, void *data, struct err *err);

/* Before each transaction that writes: -EROFS, or -ESTALE when it has gone from under us. */
int store_writable(struct store *store, struct err *err);
int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
/* Ends a transaction that failed; `r` and `err` stay what they were. Returns r. */
int store_give_up(struct store *store, int r);

/* Bring the schema up to `version`; the store was opened for writing. */
int store_migrate(struct store *store, int version, struct err *err);
/* Its schema; 0 when it is empty. */
int store_schema_of(struct store *store, int *ret, struct err *err);

/* The number of the next session; inside a transaction. */
int store_next_session(struct store *store, int64_t *ret, struct err *err);

struct store_column {
	const char *name;
	enum store_type type; /* STORE_INT, STORE_REAL or STORE_TEXT */
};

struct store_table {
	const char *name;
	const char *order;		    /* columns that order it within a session */
	const struct store_column *columns; /* the first is the number of the session */
	size_t count;
};

/* The session's table first; NULL past the end. */
const struct store_table *store_table_at(size_t index);

/* "SELECT ... FROM table WHERE session = $1 ORDER BY ..." and "INSERT INTO table ... VALUES ($1, ...)". */
const char *store_select_text(struct arena *arena, const struct store_table *table);
const char *store_insert_text(struct arena *arena, const struct store_table *table);

int64_t store_now_us(void);

/* This process, as sessions keep it; NULL where /proc does not tell. */
const char *store_writer(struct arena *arena);

/* Make an open session "cut" when the process that wrote it is known to be gone. */
void store_mark_cut(struct arena *arena, struct store_session *session);

#endif
