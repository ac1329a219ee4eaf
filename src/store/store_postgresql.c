/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns PostgreSQL: loading libpq when a store is a URL, speaking to the server, and saying in one line what it refuses.
 * Compiled only where libpq's headers are.
 */
#include <errno.h>
#include <inttypes.h>
#include <libpq-fe.h>

#include "library.h"
#include "store_internal.h"
#include "text.h"

enum { MOST_COLUMNS = 32, MOST_CELLS = 32 };

/* Types of the server's catalogue (pg_type.dat). */
enum {
	TYPE_UNKNOWN = 0,
	TYPE_INT8 = 20,
	TYPE_INT2 = 21,
	TYPE_INT4 = 23,
	TYPE_TEXT = 25,
	TYPE_FLOAT4 = 700,
	TYPE_FLOAT8 = 701
};

/* clang-format off */
#define PQ_FUNCTIONS(X)                                                                                                \
	X(PQclear) X(PQconnectdbParams) X(PQerrorMessage) X(PQexecParams) X(PQfinish) X(PQftype) X(PQgetisnull)        \
	X(PQgetvalue) X(PQnfields) X(PQntuples) X(PQresultErrorField) X(PQresultStatus) X(PQstatus)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct pq {
	PQ_FUNCTIONS(DECLARE)
	PGconn *connection;
};

static int load(struct pq *pq, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&pq->name},
	    PQ_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libpq.so.5"},
					.name = "libpq",
					.where = "PostgreSQL",
					.install = "libpq5 (Debian, Ubuntu) or libpq (Fedora, RHEL)",
					.errnum = ELIBACC};

	return library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);
}

/* The first line of what the server says, without its "ERROR:  ". */
static void put_line(char *ret, size_t size, const char *message)
{
	const char *colon = text_starts(message, "ERROR:") ? message + strlen("ERROR:") : message;

	while (*colon == ' ')
		colon++;
	(void)snprintf(ret, size, "%.*s", (int)strcspn(colon, "\n"), colon);
}

static int explain(struct store *store, const PGresult *result, struct err *err)
{
	static const struct {
		const char *state; /* SQLSTATE, or its class */
		int errnum;
		const char *words;
	} known[] = {
	    {"53100", ENOSPC, "the server's disk is full: what was not written yet is lost"},
	    {"42501", EACCES, "this user may not do that there"},
	    {"25006", EROFS, "it cannot be written"},
	    {"40", EBUSY, "another process was in the way"},
	    {"55P03", EBUSY, "another process was in the way"},
	    {"57P", EPIPE, "the server is shutting down"},
	    {"08", EPIPE, "the connection is gone"},
	};
	struct pq *pq = store->private;
	const char *state = result ? pq->PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	char said[256];

	put_line(said, sizeof(said), pq->PQerrorMessage(pq->connection));
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (state && text_starts(state, known[i].state))
			return err_set(err, known[i].errnum, store->name, "%s: %s", known[i].words, said);
	if (pq->PQstatus(pq->connection) != CONNECTION_OK)
		return err_set(err, EPIPE, store->name, "the connection is gone: %s", said);
	return err_set(err, EIO, store->name, "PostgreSQL says: %s", said);
}

/* A parameter as text; `room` has space for a number. */
static const char *parameter(const struct store_cell *cell, char *room, size_t size, Oid *ret_type)
{
	if (cell->type == STORE_INT) {
		(void)snprintf(room, size, "%" PRId64, cell->number);
		*ret_type = TYPE_INT8;
		return room;
	}
	if (cell->type == STORE_REAL) {
		(void)snprintf(room, size, "%.17g", cell->real);
		*ret_type = TYPE_FLOAT8;
		return room;
	}
	*ret_type = cell->type == STORE_TEXT ? TYPE_TEXT : TYPE_UNKNOWN;
	return cell->type == STORE_TEXT ? cell->text : NULL;
}

static struct store_cell column(struct pq *pq, const PGresult *result, int row, int at)
{
	const char *text = pq->PQgetvalue(result, row, at);

	if (pq->PQgetisnull(result, row, at))
		return (struct store_cell){.type = STORE_NULL};
	switch (pq->PQftype(result, at)) {
	case TYPE_INT8:
	case TYPE_INT4:
	case TYPE_INT2:
		return (struct store_cell){.type = STORE_INT, .number = strtoll(text, NULL, 10)};
	case TYPE_FLOAT8:
	case TYPE_FLOAT4:
		return (struct store_cell){.type = STORE_REAL, .real = strtod(text, NULL)};
	default:
		return (struct store_cell){.type = STORE_TEXT, .text = text};
	}
}

static int hand_on(struct pq *pq, const PGresult *result, store_row_function *row, void *data)
{
	size_t count = MIN_OF((size_t)pq->PQnfields(result), (size_t)MOST_COLUMNS);
	int r = 0;

	for (int i = 0; row && i < pq->PQntuples(result) && r >= 0; i++) {
		struct store_cell cells[MOST_COLUMNS];

		for (size_t j = 0; j < count; j++)
			cells[j] = column(pq, result, i, (int)j);
		r = row(data, cells, count);
	}
	return MIN_OF(r, 0);
}

static int run(struct store *store, const char *sql, bool keep, const struct store_cell *cells, size_t count,
	       store_row_function *row, void *data, struct err *err)
{
	struct pq *pq = store->private;
	const char *values[MOST_CELLS] = {NULL};
	char rooms[MOST_CELLS][40];
	Oid types[MOST_CELLS] = {0};
	PGresult *result;
	ExecStatusType status;
	int r = 0;

	(void)keep;
	if (count > MOST_CELLS)
		return err_set(err, E2BIG, store->name, "a statement with %zu values", count);
	for (size_t i = 0; i < count; i++)
		values[i] = parameter(&cells[i], rooms[i], sizeof(rooms[i]), &types[i]);
	result = pq->PQexecParams(pq->connection, sql, (int)count, types, values, NULL, NULL, 0);
	status = pq->PQresultStatus(result);
	if (status == PGRES_TUPLES_OK)
		r = hand_on(pq, result, row, data);
	else if (status != PGRES_COMMAND_OK)
		r = explain(store, result, err);
	pq->PQclear(result);
	return r;
}

static int count_row(void *data, const struct store_cell *cells, size_t count)
{
	(void)cells;
	(void)count;
	++*(size_t *)data;
	return 0;
}

static bool has_table(struct store *store, const char *table)
{
	size_t found = 0;

	(void)run(store,
		  "SELECT 1 FROM information_schema.tables WHERE table_name = $1 AND table_schema = ANY "
		  "(current_schemas(false))",
		  true, &(struct store_cell){.type = STORE_TEXT, .text = table}, 1, count_row, &found, NULL);
	return found > 0;
}

/* A database may hold other things too; a table of one of our names is refused when ours are made. */
static bool is_foreign(struct store *store)
{
	(void)store;
	return false;
}

static void close_pq(struct store *store)
{
	struct pq *pq = store->private;

	if (pq->connection)
		pq->PQfinish(pq->connection);
	free(pq);
	store->private = NULL;
}

static const struct store_backend backend = {
    .begin = "BEGIN", .run = run, .has_table = has_table, .is_foreign = is_foreign, .close = close_pq};

static int connect_to(struct store *store, const char *url, struct err *err)
{
	static const char *const names[] = {"dbname", "connect_timeout", "application_name", "client_encoding", NULL};
	const char *const values[] = {url, "10", "hvtune", "UTF8", NULL};
	struct pq *pq = store->private;
	char said[256];

	/* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */
	pq->connection = pq->PQconnectdbParams(names, values, 1);
	if (pq->PQstatus(pq->connection) == CONNECTION_OK)
		return 0;
	/* NOLINTEND(clang-analyzer-core.CallAndMessage) */
	put_line(said, sizeof(said), pq->PQerrorMessage(pq->connection));
	(void)err_set(err, ECONNREFUSED, store->name, "the database cannot be reached: %s", said);
	(void)err_hint(err, "a password belongs into ~/.pgpass or PGPASSWORD");
	return -ECONNREFUSED;
}

int store_postgresql_open(struct store *store, const char *url, struct err *err)
{
	struct pq *pq = calloc(1, sizeof(*pq));
	int r;

	if (!pq)
		err_no_memory();
	store->private = pq;
	store->backend = &backend;
	r = load(pq, err);
	if (r == 0)
		r = connect_to(store, url, err);
	if (r < 0)
		close_pq(store);
	return r;
}
