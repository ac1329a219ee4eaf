/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns opening a store: the usual place, making the file, its version; and statements and transactions for both kinds.
 */
#include "store.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

#include "store_internal.h"
#include "sys.h"
#include "text.h"

/* ---- cells, statements, transactions ---- */

struct store_cell store_cell_text(const char *text)
{
	return (struct store_cell){.type = text ? STORE_TEXT : STORE_NULL, .text = text};
}

struct store_cell store_cell_real(double value)
{
	return (struct store_cell){.type = isnan(value) ? STORE_NULL : STORE_REAL, .real = value};
}

int store_run(struct store *store, const char *sql, const struct store_cell *cells, size_t count, struct err *err)
{
	return store->backend->run(store, sql, true, cells, count, NULL, NULL, err);
}

int store_query(struct store *store, const char *sql, const struct store_cell *cells, size_t count,
		store_row_function *row, void *data, struct err *err)
{
	return store->backend->run(store, sql, true, cells, count, row, data, err);
}

int store_query_once(struct store *store, const char *sql, const struct store_cell *cells, size_t count,
		     store_row_function *row, void *data, struct err *err)
{
	return store->backend->run(store, sql, false, cells, count, row, data, err);
}

int store_writable(struct store *store, struct err *err)
{
	if (store->mode == STORE_READ)
		return err_set(err, EROFS, store->name, "it was opened for reading only");
	return store->backend->is_there ? store->backend->is_there(store, err) : 0;
}

int store_begin(struct store *store, struct err *err)
{
	int r = store_writable(store, err);

	return r < 0 ? r : store_run(store, store->backend->begin, NULL, 0, err);
}

int store_commit(struct store *store, struct err *err)
{
	int r = store_run(store, "COMMIT", NULL, 0, err);

	return r < 0 ? store_give_up(store, r) : 0;
}

int store_give_up(struct store *store, int r)
{
	(void)store_run(store, "ROLLBACK", NULL, 0, NULL);
	return r;
}

int64_t store_now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- opening ---- */

static int open_path(struct store *store, const char *path, struct err *err)
{
	struct stat info;

	if (text_equal(path, STORE_IN_MEMORY))
		return store_sqlite_open(store, path, err);

	if (store->mode == STORE_WRITE) {
		int r = store_make_file(store->arena, path, err);

		return r < 0 ? r : store_sqlite_open(store, path, err);
	}
	if (stat(path, &info) < 0) {
		int r = err_set(err, errno, path, "there are no results: %s", sys_reason(errno));

		return r == -ENOENT ? err_hint(err, "hvtune run and hvtune compare make some") : r;
	}
	if (!S_ISREG(info.st_mode))
		return err_set(err, EINVAL, path, "this is no file; a store is one, or a URL");
	return store_sqlite_open(store, path, err);
}

static int check_version(struct store *store, struct err *err)
{
	int version = 0, r = store_schema_of(store, &version, err);

	if (r < 0)
		return r;
	if (version > STORE_SCHEMA) {
		(void)err_set(err, EPROTO, store->name,
			      "this store was made by a newer hvtune: its schema is %d, this one knows up to %d",
			      version, STORE_SCHEMA);
		return err_hint(err, "use that hvtune, or name another place with --store");
	}
	if (version == STORE_SCHEMA)
		return 0;
	if (store->mode == STORE_WRITE)
		return store_migrate(store, STORE_SCHEMA, err);
	if (version == 0)
		return err_set(err, ENOENT, store->name, "there are no results in it");
	(void)err_set(err, EPROTO, store->name, "this store is of an older hvtune (schema %d, now %d)", version,
		      STORE_SCHEMA);
	return err_hint(err, "anything that writes to it brings it up to date: hvtune results merge, say");
}

static bool is_url(const char *where)
{
	return text_starts(where, "postgresql://") || text_starts(where, "postgres://");
}

/* "mysql://...": what looks like a URL is no path, which would make directories of it. */
static int refuse_url(const char *where, struct err *err)
{
	const char *rest = strstr(where, "://");

	for (const char *c = where; rest && c < rest; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-", *c))
			rest = NULL;
	if (!rest || rest == where)
		return 0;
	(void)err_set(err, EINVAL, where, "results are kept in a file or in PostgreSQL, not in this");
	return err_hint(err, "name a path, or postgresql://USER@HOST/DATABASE");
}

/* The URL without what stands between the second ':' and '@'. */
static const char *without_password(struct arena *arena, const char *url)
{
	const char *host = strstr(url, "//") + 2, *end = host + strcspn(host, "/?"), *at = NULL, *colon;

	for (const char *c = host; c < end; c++)
		if (*c == '@')
			at = c;
	colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
	return colon ? arena_printf(arena, "%.*s%s", (int)(colon - url), url, at) : arena_strdup(arena, url);
}

int store_open(const char *where, enum store_mode mode, struct store **ret, struct err *err)
{
	struct err own = {0};
	struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!err)
		err = &own;
	if (!store)
		err_no_memory();
	store->arena = arena_new();
	store->mode = mode;
	r = where ? 0 : store_usual_place(store->arena, &where, err);
	if (r == 0 && !is_url(where))
		r = refuse_url(where, err);
	if (r == 0) {
		store->name = is_url(where) ? without_password(store->arena, where) : arena_strdup(store->arena, where);
		r = is_url(where) ? store_postgresql_open(store, where, err) : open_path(store, where, err);
	}
	if (r == 0)
		r = check_version(store, err);
	if (r < 0) {
		(void)store_close(store);
		return r;
	}
	*ret = store;
	return 0;
}

struct store *store_close(struct store *store)
{
	if (!store)
		return NULL;
	if (store->private)
		store->backend->close(store);
	(void)arena_free(store->arena);
	free(store);
	return NULL;
}

void store_close_pointer(struct store **store)
{
	*store = store_close(*store);
}

const char *store_name(const struct store *store)
{
	return store->name;
}
