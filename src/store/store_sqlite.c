/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns SQLite: loading it when a store is opened (a check needs none and starts faster without), opening the file so
 * that a kill loses nothing (write-ahead log), and saying in one line what is wrong with it.
 */
#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library.h"
#include "store_internal.h"
#include "sys.h"
#include "text.h"

enum { BUSY_MS = 10000, MOST_STATEMENTS = 64, OLDEST = 3035000 /* RETURNING */ };

/* clang-format off */
#define SQLITE_FUNCTIONS(X)                                                                                            \
	X(sqlite3_bind_double) X(sqlite3_bind_int64) X(sqlite3_bind_null) X(sqlite3_bind_text) X(sqlite3_busy_timeout) \
	X(sqlite3_clear_bindings) X(sqlite3_close_v2) X(sqlite3_column_count) X(sqlite3_column_double)                 \
	X(sqlite3_column_int64) X(sqlite3_column_text) X(sqlite3_column_type) X(sqlite3_errmsg)                        \
	X(sqlite3_exec) X(sqlite3_extended_errcode) X(sqlite3_finalize) X(sqlite3_libversion_number)                   \
	X(sqlite3_open_v2) X(sqlite3_prepare_v2) X(sqlite3_reset) X(sqlite3_step) X(sqlite3_system_errno)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct kept {
	const char *sql;
	sqlite3_stmt *statement;
};

struct lite {
	SQLITE_FUNCTIONS(DECLARE)
	sqlite3 *database;
	struct kept kept[MOST_STATEMENTS];
	size_t kept_count;
	dev_t device; /* of the file that is written */
	ino_t inode;  /* 0: none is */
};

static int load(struct lite *lite, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&lite->name},
	    SQLITE_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libsqlite3.so.0"},
					.name = "libsqlite3",
					.where = "SQLite",
					.install = "libsqlite3-0 (Debian, Ubuntu) or sqlite-libs (Fedora, RHEL)",
					.errnum = ELIBACC};
	int r = library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);

	if (r < 0)
		return r;
	return lite->sqlite3_libversion_number() < OLDEST
		   ? err_set(err, ELIBACC, "SQLite", "it is older than 3.35, which is needed")
		   : 0;
}

/* What a result code means to a person. */
static int explain(const struct store *store, const struct lite *lite, int code, struct err *err)
{
	int reason = lite->database ? lite->sqlite3_system_errno(lite->database) : 0;
	struct err own;

	/* The hints below return what is in it. */
	if (!err)
		err = &own;

	switch (code & 0xff) {
	case SQLITE_FULL:
		(void)err_set(err, ENOSPC, store->name, "the disk is full: what was not written yet is lost");
		return err_hint(err, "make room, or name another place with --store");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, EBUSY, store->name, "another process has kept it for more than %d s",
			       BUSY_MS / 1000);
	case SQLITE_READONLY:
		(void)err_set(err, EROFS, store->name, "it cannot be written");
		return err_hint(err, "name another place with --store");
	case SQLITE_NOTADB:
		(void)err_set(err, EBADMSG, store->name, "this file is no SQLite database");
		return err_hint(err, "name another place with --store");
	case SQLITE_CORRUPT:
		(void)err_set(err, EBADMSG, store->name, "it is damaged: %s", lite->sqlite3_errmsg(lite->database));
		return err_hint(err, "save what can be read: sqlite3 FILE .recover | sqlite3 NEW");
	case SQLITE_CANTOPEN:
		return err_set(err, reason ? reason : EACCES, store->name, "it cannot be opened: %s",
			       sys_reason(reason ? reason : EACCES));
	case SQLITE_IOERR:
		if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
			return err_set(err, ENOSPC, store->name, "the disk is full: what was not written yet is lost");
		return err_set(err, reason ? reason : EIO, store->name, "it cannot be read or written: %s",
			       sys_reason(reason ? reason : EIO));
	default:
		return err_set(err, EIO, store->name, "SQLite says: %s", lite->sqlite3_errmsg(lite->database));
	}
}

static int prepare(struct store *store, const char *sql, bool keep, sqlite3_stmt **ret, struct err *err)
{
	struct lite *lite = store->private;
	int code;

	for (size_t i = 0; keep && i < lite->kept_count; i++)
		if (lite->kept[i].sql == sql) {
			*ret = lite->kept[i].statement;
			return 0;
		}
	code = lite->sqlite3_prepare_v2(lite->database, sql, -1, ret, NULL);
	if (code != SQLITE_OK)
		return explain(store, lite, lite->sqlite3_extended_errcode(lite->database), err);
	if (keep && lite->kept_count < MOST_STATEMENTS)
		lite->kept[lite->kept_count++] = (struct kept){sql, *ret};
	return 0;
}

static bool is_kept(const struct lite *lite, const sqlite3_stmt *statement)
{
	for (size_t i = 0; i < lite->kept_count; i++)
		if (lite->kept[i].statement == statement)
			return true;
	return false;
}

static void bind(struct lite *lite, sqlite3_stmt *statement, const struct store_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int at = (int)i + 1;

		if (cells[i].type == STORE_INT)
			(void)lite->sqlite3_bind_int64(statement, at, cells[i].number);
		else if (cells[i].type == STORE_REAL)
			(void)lite->sqlite3_bind_double(statement, at, cells[i].real);
		else if (cells[i].type == STORE_TEXT)
			(void)lite->sqlite3_bind_text(statement, at, cells[i].text, -1, SQLITE_STATIC);
		else
			(void)lite->sqlite3_bind_null(statement, at);
	}
}

static struct store_cell column(struct lite *lite, sqlite3_stmt *statement, int at)
{
	switch (lite->sqlite3_column_type(statement, at)) {
	case SQLITE_INTEGER:
		return (struct store_cell){.type = STORE_INT, .number = lite->sqlite3_column_int64(statement, at)};
	case SQLITE_FLOAT:
		return (struct store_cell){.type = STORE_REAL, .real = lite->sqlite3_column_double(statement, at)};
	case SQLITE_NULL:
		return (struct store_cell){.type = STORE_NULL};
	default:
		return (struct store_cell){.type = STORE_TEXT,
					   .text = (const char *)lite->sqlite3_column_text(statement, at)};
	}
}

enum { MOST_COLUMNS = 32 };

static int step(struct store *store, sqlite3_stmt *statement, store_row_function *row, void *data, struct err *err)
{
	struct lite *lite = store->private;
	int code;

	while ((code = lite->sqlite3_step(statement)) == SQLITE_ROW) {
		struct store_cell cells[MOST_COLUMNS];
		size_t count = (size_t)lite->sqlite3_column_count(statement);
		int r;

		count = MIN_OF(count, (size_t)MOST_COLUMNS);
		for (size_t i = 0; i < count; i++)
			cells[i] = column(lite, statement, (int)i);
		r = row ? row(data, cells, count) : 0;
		if (r < 0)
			return r;
	}
	return code == SQLITE_DONE ? 0 : explain(store, lite, lite->sqlite3_extended_errcode(lite->database), err);
}

static int run(struct store *store, const char *sql, bool keep, const struct store_cell *cells, size_t count,
	       store_row_function *row, void *data, struct err *err)
{
	struct lite *lite = store->private;
	sqlite3_stmt *statement = NULL;
	int r = prepare(store, sql, keep, &statement, err);

	if (r < 0 || !statement)
		return r;
	bind(lite, statement, cells, count);
	r = step(store, statement, row, data, err);
	if (is_kept(lite, statement)) {
		(void)lite->sqlite3_reset(statement);
		(void)lite->sqlite3_clear_bindings(statement);
	} else {
		(void)lite->sqlite3_finalize(statement);
	}
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

	(void)run(store, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", true,
		  &(struct store_cell){.type = STORE_TEXT, .text = table}, 1, count_row, &found, NULL);
	return found > 0;
}

static bool is_foreign(struct store *store)
{
	size_t found = 0;

	(void)run(store, "SELECT 1 FROM sqlite_master", true, NULL, 0, count_row, &found, NULL);
	return found > 0;
}

static void finish(struct store *store)
{
	struct lite *lite = store->private;

	for (size_t i = 0; i < lite->kept_count; i++)
		(void)lite->sqlite3_finalize(lite->kept[i].statement);
	lite->kept_count = 0;
	if (lite->database)
		(void)lite->sqlite3_close_v2(lite->database);
	lite->database = NULL;
}

static void close_lite(struct store *store)
{
	finish(store);
	free(store->private);
	store->private = NULL;
}

/* SQLite goes on writing into a file that has no name any more, and says nothing. */
static int is_there(struct store *store, struct err *err)
{
	const struct lite *lite = store->private;
	struct stat now;

	if (!lite->inode || (stat(store->name, &now) == 0 && now.st_ino == lite->inode && now.st_dev == lite->device))
		return 0;
	(void)err_set(err, ESTALE, store->name, "this store was deleted or replaced while it was in use");
	return err_hint(err, "what was measured until then went with it");
}

/* The directory too: a file whose name is not on disk is lost with all that was synced in it. */
static int settle(struct store *store, struct err *err)
{
	struct lite *lite = store->private;
	int code = lite->sqlite3_exec(lite->database, "PRAGMA wal_checkpoint(PASSIVE)", NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return explain(store, lite, lite->sqlite3_extended_errcode(lite->database), err);
	if (lite->inode)
		store_sync_folder(store->name);
	return 0;
}

static const struct store_backend backend = {.begin = "BEGIN IMMEDIATE",
					     .run = run,
					     .has_table = has_table,
					     .is_foreign = is_foreign,
					     .is_there = is_there,
					     .settle = settle,
					     .close = close_lite};

/* A path as SQLite takes it in a URI. */
static const char *uri_of(struct arena *arena, const char *path, const char *rest)
{
	char *text = arena_alloc(arena, 3 * strlen(path) + strlen(rest) + 8), *at = text;

	if (text_equal(path, STORE_IN_MEMORY))
		return path;

	at += sprintf(at, "file:");
	for (const char *from = path; *from; from++)
		at += strchr("?#%", *from) ? sprintf(at, "%%%02x", (unsigned)(unsigned char)*from)
					   : sprintf(at, "%c", *from);
	(void)sprintf(at, "%s", rest);
	return text;
}

static int open_file(struct store *store, const char *path, const char *rest, int flags, struct err *err)
{
	struct lite *lite = store->private;
	const char *uri = uri_of(store->arena, path, rest);
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */
	int code = lite->sqlite3_open_v2(uri, &lite->database, flags | SQLITE_OPEN_URI, NULL);

	if (code == SQLITE_OK) {
		(void)lite->sqlite3_busy_timeout(lite->database, BUSY_MS);
		/* The first look at the file: that is when SQLite finds out what it is. */
		code = lite->sqlite3_exec(lite->database, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL);
	}
	return code == SQLITE_OK ? 0 : explain(store, lite, lite->sqlite3_extended_errcode(lite->database), err);
}

static int open_to_read(struct store *store, const char *path, struct err *err)
{
	int r = open_file(store, path, "", SQLITE_OPEN_READONLY, err);

	/* A log can only be read where its index can be made; on a read-only disk there is none to read. */
	if (r == 0 || (r != -EROFS && r != -EACCES && r != -ENOENT) || access(path, R_OK) < 0)
		return r;
	if (err)
		*err = (struct err){0};
	finish(store);
	return open_file(store, path, "?immutable=1", SQLITE_OPEN_READONLY, err);
}

static int open_to_write(struct store *store, const char *path, struct err *err)
{
	struct lite *lite = store->private;
	int code, r = open_file(store, path, "", SQLITE_OPEN_READWRITE, err);
	struct stat file;

	if (r < 0)
		return r;
	if (!text_equal(path, STORE_IN_MEMORY) && stat(path, &file) == 0) {
		lite->device = file.st_dev;
		lite->inode = file.st_ino;
	}
	/*
	 * What is committed outlives a kill; after a power cut the last runs may be missing, but nothing is torn, and
	 * the session is there (settle()). The
	 * log is taken into the file at the end, or every 32 MiB: in between that would disturb what is measured.
	 */
	code = lite->sqlite3_exec(
	    lite->database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8000",
	    NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : explain(store, lite, lite->sqlite3_extended_errcode(lite->database), err);
}

int store_sqlite_open(struct store *store, const char *path, struct err *err)
{
	struct lite *lite = calloc(1, sizeof(*lite));
	int r;

	if (!lite)
		err_no_memory();
	store->private = lite;
	store->backend = &backend;
	r = load(lite, err);
	if (r == 0)
		r = store->mode == STORE_READ ? open_to_read(store, path, err) : open_to_write(store, path, err);
	if (r < 0)
		close_lite(store);
	return r;
}
