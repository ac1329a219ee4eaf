/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of what only a store in a file can be: older, newer, foreign, damaged, read-only, on a full disk or gone, each
 * with one clear line; written by two at once; killed at any moment, with whole runs left. And where it is by itself.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "store_internal.h"
#include "store_scene.h"
#include "text.h"

static int open_fails(const char *path, enum store_mode mode, struct err *err)
{
	struct store *store = NULL;
	int r;

	*err = (struct err){0};
	r = store_open(path, mode, &store, err);
	assert_null(store);
	assert_int_equal(r, err->code);
	assert_string_equal(err->where, path);
	assert_true(*err->what);
	return r;
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void test_an_older_store_is_brought_up_and_a_newer_one_refused(void **state)
{
	struct store_scene *scene = *state;
	struct store *store = store_opened(scene->path, STORE_WRITE);
	struct err err = {0};
	char path[128];

	(void)store_close(store);
	(void)snprintf(path, sizeof(path), "%s/other.db", scene->folder);
	write_file(path, "", 0);
	/* Version 1 as it was, with a session in it. */
	struct store old = {.arena = arena_new(), .name = path, .mode = STORE_WRITE};

	assert_int_equal(store_sqlite_open(&old, path, &err), 0);
	assert_int_equal(store_migrate(&old, 1, &err), 0);
	assert_false(old.backend->has_table(&old, "sample"));
	assert_int_equal(
	    store_query_once(&old,
			     "INSERT INTO session (id, uid, kind, began_us, state) VALUES (1, 'abcdef0', 'run', "
			     "5, 'done')",
			     NULL, 0, NULL, NULL, &err),
	    0);
	old.backend->close(&old);
	(void)arena_free(old.arena);

	assert_int_equal(open_fails(path, STORE_READ, &err), -EPROTO);
	assert_non_null(strstr(err.what, "older"));
	store = store_opened(path, STORE_WRITE);
	assert_true(store->backend->has_table(store, "sample"));
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_whole whole;

	assert_int_equal(store_load(store, arena, 1, &whole, &err), 0);
	assert_string_equal(whole.session.uid, "abcdef0");
	assert_int_equal(store_query_once(store, "UPDATE hvtune_meta SET value = 99 WHERE name = 'schema'", NULL, 0,
					  NULL, NULL, &err),
			 0);
	(void)store_close(store);
	assert_int_equal(open_fails(path, STORE_WRITE, &err), -EPROTO);
	assert_int_equal(open_fails(path, STORE_READ, &err), -EPROTO);
	assert_non_null(strstr(err.what, "newer"));
}

static void test_foreign_and_damaged_files(void **state)
{
	struct store_scene *scene = *state;
	struct store *store;
	struct store raw = {.arena = arena_new(), .name = "raw", .mode = STORE_WRITE};
	struct err err = {0};
	char noise[8192];

	assert_int_equal(open_fails(scene->path, STORE_READ, &err), -ENOENT);
	assert_int_equal(open_fails(scene->folder, STORE_READ, &err), -EINVAL);
	assert_int_equal(open_fails(scene->folder, STORE_WRITE, &err), -EINVAL);
	write_file(scene->path,
		   "this is no database, and long enough to be seen as one that is none: "
		   "0123456789012345678901234567890123456789",
		   100);
	assert_int_equal(open_fails(scene->path, STORE_WRITE, &err), -EBADMSG);
	assert_int_equal(open_fails(scene->path, STORE_READ, &err), -EBADMSG);
	/* Another program's database. */
	write_file(scene->path, "", 0);
	assert_int_equal(store_sqlite_open(&raw, scene->path, &err), 0);
	assert_int_equal(store_query_once(&raw, "CREATE TABLE bookmarks (id INTEGER)", NULL, 0, NULL, NULL, &err), 0);
	raw.backend->close(&raw);
	(void)arena_free(raw.arena);
	assert_int_equal(open_fails(scene->path, STORE_WRITE, &err), -EBADMSG);
	assert_non_null(strstr(err.what, "no store of hvtune's"));
	/* A store with noise in its middle. */
	assert_int_equal(unlink(scene->path), 0);
	store = store_opened(scene->path, STORE_WRITE);
	(void)store_fill(store, "x", 200);
	(void)store_close(store);
	memset(noise, 0x5a, sizeof(noise));
	FILE *file = fopen(scene->path, "r+e");

	for (long at = 4096; at < 60000; at += 4096) {
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		assert_int_equal(fwrite(noise, 1, 4096, file), 4096);
	}
	assert_int_equal(fclose(file), 0);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_whole whole;
	int r = store_open(scene->path, STORE_READ, &store, &err);

	if (r == 0) {
		r = store_load(store, arena, 1, &whole, &err);
		(void)store_close(store);
	}
	assert_int_equal(r, -EBADMSG);
	assert_non_null(strstr(err.what, "damaged"));
}

static void test_a_read_only_place(void **state)
{
	struct store_scene *scene = *state;
	struct store *store = store_opened(scene->path, STORE_WRITE);
	struct err err = {0};
	int64_t id = store_fill(store, "x", 5);
	uid_t user = geteuid();

	(void)store_close(store);
	assert_int_equal(chmod(scene->path, 0444), 0);
	assert_int_equal(chmod(scene->folder, 0555), 0);
	if (user == 0)
		assert_int_equal(seteuid(65534), 0);
	store = store_opened(scene->path, STORE_READ);
	store_assert_filled(store, id, "x", 5);
	(void)store_close(store);
	int r = open_fails(scene->path, STORE_WRITE, &err);
	char path[128];

	assert_true(r == -EACCES || r == -EROFS);
	(void)snprintf(path, sizeof(path), "%s/new.db", scene->folder);
	assert_int_equal(open_fails(path, STORE_WRITE, &err), -EACCES);
	assert_true(*err.hint);
	if (user == 0)
		assert_int_equal(seteuid(user), 0);
	assert_int_equal(chmod(scene->folder, 0700), 0);
}

static void test_only_the_owner_may_read_it(void **state)
{
	struct store_scene *scene = *state;
	struct store *store = store_opened(scene->path, STORE_WRITE);
	struct stat info;
	char path[128];

	(void)store_fill(store, "x", 1);
	assert_int_equal(stat(scene->path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	(void)snprintf(path, sizeof(path), "%s-wal", scene->path);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	(void)store_close(store);
}

/* A limit on the size of files stands for a full disk. */
static void test_a_full_disk(void **state)
{
	struct store_scene *scene = *state;
	struct store *store = store_opened(scene->path, STORE_WRITE);
	int64_t id = store_fill(store, "kept", 5);
	struct err err = {0};
	struct rlimit before;
	struct store_note note = {.run = -1, .kind = "warning"};
	char *large = malloc(4 << 20);
	int r;

	assert_non_null(large);
	memset(large, 'x', (4 << 20) - 1);
	large[(4 << 20) - 1] = '\0';
	note.text = large;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, before.rlim_max}), 0);
	r = store_note_add(store, id, &note, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(r, -ENOSPC);
	assert_non_null(strstr(err.what, "full"));
	/* What was there is, and it goes on when there is room again. */
	store_assert_filled(store, id, "kept", 5);
	(void)store_fill(store, "later", 4);
	free(large);
	(void)store_close(store);
}

/* A writer that is killed at a random moment, over and over: runs are whole, and none that was told of is lost. */
static void test_a_kill_at_any_moment(void **state)
{
	struct store_scene *scene = *state;
	int64_t told[2] = {0};

	(void)store_close(store_opened(scene->path, STORE_WRITE));
	for (unsigned round = 0; round < 60; round++) {
		int pipes[2];
		pid_t child;

		assert_int_equal(pipe(pipes), 0);
		child = fork();
		if (child == 0) {
			struct store *store = store_opened(scene->path, STORE_WRITE);
			int64_t id = 0;
			const double values[] = {1, 2};

			(void)store_session_begin(store, &(struct store_session){.kind = "run"}, &id, NULL);
			(void)store_metric_add(
			    store, id, &(struct store_metric){.id = 0, .name = "a", .unit = "s", .direction = "less"},
			    NULL);
			(void)store_metric_add(
			    store, id, &(struct store_metric){.id = 1, .name = "b", .unit = "s", .direction = "less"},
			    NULL);
			for (int64_t i = 0;; i++) {
				struct store_run run = {.id = i, .block = -1, .purpose = "measure"};

				if (store_run_begin(store, id, &run, NULL) < 0)
					_exit(1);
				run.state = "valid";
				if (store_run_end(store, id, &run, values, 2, NULL) < 0)
					_exit(1);
				if (write(pipes[1], (int64_t[]){id, i}, sizeof(told)) != (ssize_t)sizeof(told))
					_exit(1);
			}
		}
		assert_true(child > 0);
		(void)close(pipes[1]);
		assert_int_equal(read(pipes[0], told, sizeof(told)), sizeof(told));
		(void)nanosleep(&(struct timespec){.tv_nsec = 37000L * round}, NULL);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		while (read(pipes[0], told, sizeof(told)) == (ssize_t)sizeof(told))
			;
		(void)close(pipes[0]);

		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(store_close_pointer) struct store *store = store_opened(scene->path, STORE_READ);
		struct store_whole whole;
		struct err err = {0};

		assert_int_equal(store_load(store, arena, told[0], &whole, &err), 0);
		assert_true(whole.run_count >= (size_t)told[1] + 1 && whole.run_count <= (size_t)told[1] + 3);
		for (size_t i = 0; i < whole.run_count; i++) {
			bool ended = text_equal(whole.runs[i].state, "valid");

			assert_true(ended || i == whole.run_count - 1);
			assert_true(!ended || (whole.runs[i].values[0] == 1 && whole.runs[i].values[1] == 2));
			assert_true(ended || isnan(whole.runs[i].values[0]));
		}
	}
}

static void test_two_writers_wait_for_each_other(void **state)
{
	struct store_scene *scene = *state;
	pid_t child;
	int status;

	(void)store_close(store_opened(scene->path, STORE_WRITE));
	child = fork();
	struct store *store = store_opened(scene->path, STORE_WRITE);

	for (int i = 0; i < 20; i++)
		(void)store_fill(store, "both", 3);
	(void)store_close(store);
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_summary *sessions;
	size_t count;

	store = store_opened(scene->path, STORE_READ);
	assert_int_equal(store_sessions(store, arena, &sessions, &count, NULL), 0);
	assert_int_equal(count, 40);
	for (size_t i = 0; i < count; i++)
		store_assert_filled(store, sessions[i].session.id, "both", 3);
	(void)store_close(store);
}

/* SQLite writes on into a file that has no name any more, and says nothing. */
static void test_a_store_that_goes_away(void **state)
{
	struct store_scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = store_opened(scene->path, STORE_WRITE);
	int64_t id = store_fill(store, "here", 1);
	struct err err = {0};

	assert_int_equal(unlink(scene->path), 0);
	assert_int_equal(store_session_end(store, id, "done", NULL, NULL, &err), -ESTALE);
	assert_non_null(strstr(err.what, "deleted or replaced while it was in use"));
	assert_int_equal(store_session_delete(store, id, &err), -ESTALE);
	/* Another one in its place is not written either. */
	struct store *other = store_opened(scene->path, STORE_WRITE);

	(void)store_close(other);
	assert_int_equal(store_session_end(store, id, "done", NULL, NULL, &err), -ESTALE);
}

static void test_urls_are_no_paths(void **state)
{
	static const char *const urls[] = {"mysql://x", "http://host/x.db", "sqlite+x://a"};
	struct store_scene *scene = *state;
	struct err err = {0};
	char path[160];

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		assert_int_equal(open_fails(urls[i], STORE_WRITE, &err), -EINVAL);
		assert_non_null(strstr(err.what, "in a file or in PostgreSQL"));
		assert_int_not_equal(access(urls[i], F_OK), 0);
	}
	/* A path with the same signs in it is one. */
	(void)snprintf(path, sizeof(path), "%s/odd://x.db", scene->folder);
	struct store *store = store_opened(path, STORE_WRITE);

	(void)store_close(store);
	assert_int_equal(unlink(path), 0);
	(void)snprintf(path, sizeof(path), "%s/odd:", scene->folder);
	assert_int_equal(rmdir(path), 0);
}

static void test_the_usual_place(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *found = NULL;
	uid_t user = geteuid();

	(void)state;
	assert_int_equal(setenv("HVTUNE_STORE", "/x/y.db", 1), 0);
	assert_int_equal(store_usual_place(arena, &found, NULL), 0);
	assert_string_equal(found, "/x/y.db");
	assert_int_equal(unsetenv("HVTUNE_STORE"), 0);
	if (user == 0) {
		assert_int_equal(store_usual_place(arena, &found, NULL), 0);
		assert_string_equal(found, "/var/lib/hvtune/results.db");
		assert_int_equal(seteuid(65534), 0);
	}
	assert_int_equal(setenv("XDG_DATA_HOME", "/data", 1), 0);
	assert_int_equal(setenv("HOME", "/home/me", 1), 0);
	assert_int_equal(store_usual_place(arena, &found, NULL), 0);
	assert_string_equal(found, "/data/hvtune/results.db");
	assert_int_equal(setenv("XDG_DATA_HOME", "relative", 1), 0);
	assert_int_equal(store_usual_place(arena, &found, NULL), 0);
	assert_string_equal(found, "/home/me/.local/share/hvtune/results.db");
	assert_int_equal(unsetenv("HOME"), 0);
	assert_int_equal(store_usual_place(arena, &found, NULL), -ENOENT);
	if (user == 0)
		assert_int_equal(seteuid(user), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    STORE_TEST(test_an_older_store_is_brought_up_and_a_newer_one_refused),
	    STORE_TEST(test_foreign_and_damaged_files),
	    STORE_TEST(test_a_read_only_place),
	    STORE_TEST(test_only_the_owner_may_read_it),
	    STORE_TEST(test_a_full_disk),
	    STORE_TEST(test_a_kill_at_any_moment),
	    STORE_TEST(test_two_writers_wait_for_each_other),
	    STORE_TEST(test_the_usual_place),
	    STORE_TEST(test_a_store_that_goes_away),
	    STORE_TEST(test_urls_are_no_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
