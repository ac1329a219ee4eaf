/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of store: what is written is read back, by every way out and in again; stores that are older, newer, foreign,
 * damaged, read-only or on a full disk give one clear line; a kill at any moment leaves whole runs.
 *
 * They run on a SQLite file of their own, and on the PostgreSQL database of HVTUNE_TEST_POSTGRESQL where that is set
 * (tests/cli/test_postgresql.py starts a server for it).
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
#include "text.h"

struct scene {
	char folder[64];
	char path[96];
	const char *url; /* of PostgreSQL, or NULL */
};

static const char *place(const struct scene *scene)
{
	return scene->url ? scene->url : scene->path;
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	(void)strcpy(scene->folder, "/tmp/hvtune-store-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	(void)snprintf(scene->path, sizeof(scene->path), "%s/results.db", scene->folder);
	scene->url = getenv("HVTUNE_TEST_POSTGRESQL");
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;
	static const char *const names[] = {"results.db", "results.db-wal", "results.db-shm",
					    "other.db",	  "other.db-wal",   "other.db-shm"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", scene->folder, names[i]);
		(void)unlink(path);
	}
	assert_int_equal(rmdir(scene->folder), 0);
	free(scene);
	return 0;
}

static struct store *open_store(const char *where, enum store_mode mode)
{
	struct err err = {0};
	struct store *store = NULL;

	if (store_open(where, mode, &store, &err) < 0)
		err_print(stderr, &err);
	assert_non_null(store);
	return store;
}

static int64_t fill(struct store *store, const char *label, size_t runs)
{
	struct err err = {0};
	int64_t id = 0;
	const struct store_session session = {.kind = "compare",
					      .name = label,
					      .command = "[\"compare\",\"a \\\"b\\\"\"]",
					      .cwd = "/tmp",
					      .version = "0.1.0",
					      .host = "h\xc3\xa4user",
					      .facts = "{\"cpu\":\"EPYC\"}",
					      .method = "{\"seed\":1}"};
	const struct store_configuration configurations[] = {
	    {.id = 0, .name = "A", .command = "[\"true\"]", .settings = "{}"},
	    {.id = 1, .name = "B, quoted \"x\"", .command = "[\"false\"]", .settings = "{\"governor\":\"powersave\"}"}};
	const struct store_metric metrics[] = {
	    {.id = 0, .name = "wall time", .unit = "s", .direction = "less", .source = "clock"},
	    {.id = 1, .name = "energy", .unit = "J", .direction = "less", .source = "perf", .boundary = "package"}};

	assert_int_equal(store_session_begin(store, &session, &id, &err), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(store_configuration_add(store, id, &configurations[i], &err), 0);
		assert_int_equal(store_metric_add(store, id, &metrics[i], &err), 0);
	}
	assert_int_equal(store_source_add(store, id,
					  &(struct store_source){.name = "perf",
								 .boundary = "package",
								 .quantity = "energy",
								 .unit = "J",
								 .resolution = 0.25,
								 .period_ms = 100},
					  &err),
			 0);
	assert_int_equal(
	    store_block_add(store, id, &(struct store_block){.purpose = "measure", .order = "[1,0]"}, &err), 0);
	for (size_t i = 0; i < runs; i++) {
		const double values[] = {0.1 + (double)i, i % 2 ? (double)NAN : 1e-300};
		struct store_run run = {.id = (int64_t)i,
					.configuration = (int64_t)i % 2,
					.block = i % 3 ? 0 : -1,
					.position = (int64_t)i,
					.purpose = i ? "measure" : "warmup",
					.boot = "boot-1"};

		assert_int_equal(store_run_begin(store, id, &run, &err), 0);
		run.took_ns = 1000000007 * (int64_t)(i + 1);
		run.state = i == 2 ? "invalid" : "valid";
		run.why = i == 2 ? "exit code 1, \"bad\"" : NULL;
		run.exit_code = i == 2;
		assert_int_equal(store_run_end(store, id, &run, values, 2, &err), 0);
	}
	const struct store_sample samples[] = {{0, 0, 5, 1.5}, {0, 0, 9, 2.5}, {1, 0, 12, 3.5}};

	assert_int_equal(store_samples_add(store, id, samples, 3, &err), 0);
	assert_int_equal(
	    store_note_add(store, id, &(struct store_note){.run = 1, .kind = "knob", .text = "moved"}, &err), 0);
	assert_int_equal(store_session_end(store, id, "done", "precision reached", "{\"a\":1}", &err), 0);
	return id;
}

static void assert_filled(struct store *store, int64_t id, const char *label, size_t runs)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_whole whole;
	struct store_sample *samples;
	struct err err = {0};
	size_t count;
	double *values;

	assert_int_equal(store_load(store, arena, id, &whole, &err), 0);
	assert_int_equal(strlen(whole.session.uid), 32);
	assert_string_equal(whole.session.kind, "compare");
	assert_string_equal(whole.session.name, label);
	assert_string_equal(whole.session.command, "[\"compare\",\"a \\\"b\\\"\"]");
	assert_string_equal(whole.session.host, "h\xc3\xa4user");
	assert_null(whole.session.environment);
	assert_null(whole.session.study);
	assert_string_equal(whole.session.state, "done");
	assert_string_equal(whole.session.verdict, "{\"a\":1}");
	assert_true(whole.session.began_us > 1000000000000000 && whole.session.ended_us >= whole.session.began_us);
	assert_int_equal(whole.configuration_count, 2);
	assert_string_equal(whole.configurations[1].name, "B, quoted \"x\"");
	assert_string_equal(whole.configurations[1].settings, "{\"governor\":\"powersave\"}");
	assert_int_equal(whole.metric_count, 2);
	assert_string_equal(whole.metrics[1].boundary, "package");
	assert_null(whole.metrics[0].boundary);
	assert_int_equal(store_metric_named(&whole, "energy")->id, 1);
	assert_null(store_metric_named(&whole, "joy"));
	assert_int_equal(whole.source_count, 1);
	assert_true(whole.sources[0].resolution == 0.25 && whole.sources[0].period_ms == 100);
	assert_int_equal(whole.block_count, 1);
	assert_string_equal(whole.blocks[0].order, "[1,0]");
	assert_int_equal(whole.note_count, 1);
	assert_string_equal(whole.notes[0].text, "moved");
	assert_int_equal(whole.run_count, runs);
	for (size_t i = 0; i < runs; i++) {
		assert_int_equal(whole.runs[i].id, i);
		assert_int_equal(whole.runs[i].block, i % 3 ? 0 : -1);
		assert_int_equal(whole.runs[i].took_ns, 1000000007 * (int64_t)(i + 1));
		assert_true(whole.runs[i].values[0] == 0.1 + (double)i);
		assert_true(i % 2 ? isnan(whole.runs[i].values[1]) : whole.runs[i].values[1] == 1e-300);
		assert_string_equal(whole.runs[i].state, i == 2 ? "invalid" : "valid");
		assert_int_equal(whole.runs[i].exit_code, i == 2);
	}
	assert_string_equal(whole.runs[2].why, "exit code 1, \"bad\"");
	/* Of A: runs 0 (a warm-up), 2 (invalid), 4... */
	count = store_values(arena, &whole, 0, 0, "measure", false, &values);
	assert_int_equal(count, (runs - 1) / 2 - 1);
	assert_true(count == 0 || values[0] == 4.1);
	assert_int_equal(store_values(arena, &whole, 0, 0, "measure", true, &values), (runs - 1) / 2);
	assert_int_equal(store_values(arena, &whole, 1, 1, NULL, true, &values), 0);
	assert_int_equal(store_load_samples(store, arena, id, -1, -1, &samples, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_int_equal(store_load_samples(store, arena, id, 0, -1, &samples, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_true(samples[1].at_ns == 9 && samples[1].value == 2.5);
}

static void test_what_is_written_is_read_back(void **state)
{
	struct scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = open_store(place(scene), STORE_WRITE);
	int64_t first = fill(store, "one", 6), second = fill(store, "two", 9);

	assert_int_equal(second, first + 1);
	assert_filled(store, first, "one", 6);
	assert_filled(store, second, "two", 9);
	(void)store_close(store);
	store = open_store(place(scene), STORE_READ);
	assert_filled(store, first, "one", 6);

	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_summary *sessions;
	struct err err = {0};
	size_t count;

	assert_int_equal(store_sessions(store, arena, &sessions, &count, &err), 0);
	assert_true(count >= 2);
	assert_int_equal(sessions[count - 1].session.id, second);
	assert_int_equal(sessions[count - 1].configurations, 2);
	assert_int_equal(sessions[count - 1].runs, 9);
	assert_int_equal(sessions[count - 1].valid, 8);
	assert_int_equal(store_session_delete(store, second, &err), -EROFS);
}

static void test_sessions_are_found_by_number_label_and_uid(void **state)
{
	struct scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = open_store(place(scene), STORE_WRITE);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int64_t first = fill(store, "label", 1), second = fill(store, "label", 1), third = fill(store, "other", 1),
		found;
	struct err err = {0};
	struct store_whole whole;
	char uid[9] = "";

	assert_int_equal(store_load(store, arena, first, &whole, &err), 0);
	(void)strncpy(uid, whole.session.uid, 8);
	assert_int_equal(store_session_find(store, arena_printf(arena, "%d", (int)first), &found, &err), 0);
	assert_int_equal(found, first);
	assert_int_equal(store_session_find(store, "label", &found, &err), 0);
	assert_int_equal(found, second);
	assert_int_equal(store_session_find(store, "last", &found, &err), 0);
	assert_int_equal(found, third);
	assert_int_equal(store_session_find(store, uid, &found, &err), 0);
	assert_int_equal(found, first);
	assert_int_equal(store_session_find(store, "nothing", &found, &err), -ENOENT);
	assert_non_null(strstr(err.what, "\"nothing\""));
	assert_int_equal(store_session_delete(store, second, &err), 0);
	assert_int_equal(store_session_find(store, "label", &found, &err), 0);
	assert_int_equal(found, first);
	assert_int_equal(store_session_delete(store, second, &err), -ENOENT);
	assert_int_equal(store_load(store, arena, second, &whole, &err), -ENOENT);
}

/* Who has labelled a session by what names others is not in the way of those. */
static void test_labels_shadow_nothing(void **state)
{
	struct scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = open_store(place(scene), STORE_WRITE);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int64_t first = fill(store, "last", 1), second = fill(store, "plain", 1), found;

	(void)fill(store, arena_printf(arena, "%d", (int)second), 1);
	int64_t newest = fill(store, "plain", 1);

	assert_int_equal(store_session_find(store, "last", &found, NULL), 0);
	assert_int_equal(found, newest);
	assert_int_equal(store_session_find(store, arena_printf(arena, "%d", (int)second), &found, NULL), 0);
	assert_int_equal(found, second);
	assert_int_equal(store_session_find(store, arena_printf(arena, "%d", (int)first), &found, NULL), 0);
	assert_int_equal(found, first);
}

/* A process that is gone left its session open: it is told from one that is being measured, and so is its last run. */
static void test_a_session_without_its_end(void **state)
{
	struct scene *scene = *state;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct store_session session = {.kind = "run", .host = NULL};
	const struct store_configuration configuration = {.name = "A"};
	const struct store_run run = {.purpose = "measure", .state = "running", .block = -1};
	struct store_whole whole;
	struct store_summary *sessions;
	int64_t id = 0, own = 0;
	size_t count;
	int status, fds[2];

	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();

	if (child == 0) {
		struct store *store = open_store(place(scene), STORE_WRITE);
		bool fine = store_session_begin(store, &session, &id, NULL) == 0 &&
			    store_configuration_add(store, id, &configuration, NULL) == 0 &&
			    store_run_begin(store, id, &run, NULL) == 0 && write(fds[1], &id, sizeof(id)) == sizeof(id);

		_exit(!fine);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(fds[0], &id, sizeof(id)), sizeof(id));
	(void)close(fds[0]);
	(void)close(fds[1]);
	CLEANUP(store_close_pointer) struct store *store = open_store(place(scene), STORE_WRITE);

	assert_int_equal(store_session_begin(store, &session, &own, NULL), 0);
	assert_int_equal(store_load(store, arena, id, &whole, NULL), 0);
	assert_string_equal(whole.session.state, "cut");
	assert_non_null(strstr(whole.session.why, "killed"));
	assert_string_equal(whole.runs[0].state, "invalid");
	assert_string_equal(whole.runs[0].why, "it was cut off");
	assert_int_equal(store_load(store, arena, own, &whole, NULL), 0);
	assert_string_equal(whole.session.state, "open");
	/* Ended, it is what its end says. */
	assert_int_equal(store_session_end(store, own, "done", NULL, NULL, NULL), 0);
	assert_int_equal(store_sessions(store, arena, &sessions, &count, NULL), 0);
	for (size_t i = 0; i < count; i++)
		if (sessions[i].session.id == own)
			assert_string_equal(sessions[i].session.state, "done");
		else if (sessions[i].session.id == id)
			assert_string_equal(sessions[i].session.state, "cut");
	/* Another boot of another host, and another namespace: nothing is known of them. */
	static const char *const elsewhere[] = {"01234567-89ab-cdef-0123-456789abcdef 1 2 3", "nonsense", ""};

	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		const struct store_session other = {.kind = "run", .host = "another-host", .writer = elsewhere[i]};

		assert_int_equal(store_session_begin(store, &other, &own, NULL), 0);
		assert_int_equal(store_load(store, arena, own, &whole, NULL), 0);
		assert_string_equal(whole.session.state, "open");
	}
}

static void test_out_and_in_again(void **state)
{
	struct scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = open_store(place(scene), STORE_WRITE);
	CLEANUP(store_close_pointer) struct store *other = NULL;
	CLEANUP(base_free) char *text = NULL, *again = NULL;
	int64_t id = fill(store, "moved", 7), found;
	struct err err = {0};
	size_t size, copied = 99;
	char path[128];
	FILE *out = open_memstream(&text, &size), *in;

	assert_int_equal(store_export(store, id, out, &err), 0);
	assert_int_equal(fclose(out), 0);
	(void)snprintf(path, sizeof(path), "%s/other.db", scene->folder);
	other = open_store(path, STORE_WRITE);
	in = fmemopen(text, size, "r");
	assert_int_equal(store_import(other, in, "x.jsonl", &copied, &err), 0);
	assert_int_equal(copied, 1);
	assert_int_equal(store_session_find(other, "moved", &found, &err), 0);
	assert_filled(other, found, "moved", 7);
	/* The same once more is left. */
	rewind(in);
	assert_int_equal(store_import(other, in, "x.jsonl", &copied, &err), 0);
	assert_int_equal(copied, 0);
	assert_int_equal(fclose(in), 0);
	assert_int_equal(store_merge(store, other, &copied, &err), 0);
	assert_int_equal(store_session_find(store, "moved", &found, &err), 0);
	(void)fill(store, "second", 3);
	assert_int_equal(store_merge(store, other, &copied, &err), 0);
	assert_int_equal(copied, 1);
	assert_int_equal(store_session_find(other, "second", &found, &err), 0);
	assert_filled(other, found, "second", 3);
	/* A damaged line takes nothing of the file, and says where. */
	in = fmemopen(text, size - 30, "r");
	assert_int_equal(store_session_find(other, "moved", &found, &err), 0);
	assert_int_equal(store_session_delete(other, found, &err), 0);
	assert_int_equal(store_import(other, in, "x.jsonl", &copied, &err), -EBADMSG);
	assert_string_equal(err.where, "x.jsonl");
	assert_true(err.line > 20);
	assert_int_equal(fclose(in), 0);
	assert_int_equal(store_session_find(other, "moved", &found, &err), -ENOENT);

	out = open_memstream(&again, &size);
	assert_int_equal(store_export_csv(store, id, out, &err), 0);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(again, ",wall time [s],energy [J]\r\n"));
	assert_non_null(strstr(again, ",\"B, quoted \"\"x\"\"\",0,1,measure,"));
	assert_non_null(strstr(again, ",invalid,\"exit code 1, \"\"bad\"\"\",1,2.1"));
}

static void test_bad_lines_are_refused(void **state)
{
	static const struct {
		const char *text, *what;
		unsigned line;
	} cases[] = {
	    {"", "empty", 0},
	    {"hello\n", "no JSON", 1},
	    {"[1]\n", "no JSON object", 1},
	    {"{\"x\": 1}\n", "no results of hvtune's", 1},
	    {"{\"hvtune_results\": 99}\n", "newer", 1},
	    {"{\"hvtune_results\": 2}\n{\"table\": \"joy\"}\n", "no table", 2},
	    {"{\"hvtune_results\": 2}\n\n{\"table\": \"run\", \"session\": 1, \"id\": 0}\n", "does not stand before it",
	     3},
	    {"{\"hvtune_results\": 2}\n{\"table\": \"session\", \"id\": \"x\"}\n", "another kind than it should be: id",
	     2},
	    {"{\"hvtune_results\": 2}\n{\"table\": \"session\", \"id\": 1}\n", "of which session", 2},
	    {"{\"hvtune_results\": 2}\n{\"table\": \"session\", \"id\": 1, \"uid\": \"u\"}\n", "does not fit", 2},
	};
	struct scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = open_store(place(scene), STORE_WRITE);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		FILE *in = *cases[i].text ? fmemopen((void *)(uintptr_t)cases[i].text, strlen(cases[i].text), "r")
					  : fopen("/dev/null", "re");
		struct err err = {0};
		size_t copied = 99;

		assert_int_equal(store_import(store, in, "bad", &copied, &err), -EBADMSG);
		assert_int_equal(fclose(in), 0);
		if (!strstr(err.what, cases[i].what))
			fail_msg("case %zu: %s", i, err.what);
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(copied, 99);
	}
}

/* ---- what only files can be ---- */

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
	struct scene *scene = *state;
	struct store *store = open_store(scene->path, STORE_WRITE);
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
	store = open_store(path, STORE_WRITE);
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
	struct scene *scene = *state;
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
	store = open_store(scene->path, STORE_WRITE);
	(void)fill(store, "x", 200);
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
	struct scene *scene = *state;
	struct store *store = open_store(scene->path, STORE_WRITE);
	struct err err = {0};
	int64_t id = fill(store, "x", 5);
	uid_t user = geteuid();

	(void)store_close(store);
	assert_int_equal(chmod(scene->path, 0444), 0);
	assert_int_equal(chmod(scene->folder, 0555), 0);
	if (user == 0)
		assert_int_equal(seteuid(65534), 0);
	store = open_store(scene->path, STORE_READ);
	assert_filled(store, id, "x", 5);
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
	struct scene *scene = *state;
	struct store *store = open_store(scene->path, STORE_WRITE);
	struct stat info;
	char path[128];

	(void)fill(store, "x", 1);
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
	struct scene *scene = *state;
	struct store *store = open_store(scene->path, STORE_WRITE);
	int64_t id = fill(store, "kept", 5);
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
	assert_filled(store, id, "kept", 5);
	(void)fill(store, "later", 4);
	free(large);
	(void)store_close(store);
}

/* A writer that is killed at a random moment, over and over: runs are whole, and none that was told of is lost. */
static void test_a_kill_at_any_moment(void **state)
{
	struct scene *scene = *state;
	int64_t told[2] = {0};

	(void)store_close(open_store(scene->path, STORE_WRITE));
	for (unsigned round = 0; round < 60; round++) {
		int pipes[2];
		pid_t child;

		assert_int_equal(pipe(pipes), 0);
		child = fork();
		if (child == 0) {
			struct store *store = open_store(scene->path, STORE_WRITE);
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
		CLEANUP(store_close_pointer) struct store *store = open_store(scene->path, STORE_READ);
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
	struct scene *scene = *state;
	pid_t child;
	int status;

	(void)store_close(open_store(scene->path, STORE_WRITE));
	child = fork();
	struct store *store = open_store(scene->path, STORE_WRITE);

	for (int i = 0; i < 20; i++)
		(void)fill(store, "both", 3);
	(void)store_close(store);
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_summary *sessions;
	size_t count;

	store = open_store(scene->path, STORE_READ);
	assert_int_equal(store_sessions(store, arena, &sessions, &count, NULL), 0);
	assert_int_equal(count, 40);
	for (size_t i = 0; i < count; i++)
		assert_filled(store, sessions[i].session.id, "both", 3);
	(void)store_close(store);
}

/* SQLite writes on into a file that has no name any more, and says nothing. */
static void test_a_store_that_goes_away(void **state)
{
	struct scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = open_store(scene->path, STORE_WRITE);
	int64_t id = fill(store, "here", 1);
	struct err err = {0};

	assert_int_equal(unlink(scene->path), 0);
	assert_int_equal(store_session_end(store, id, "done", NULL, NULL, &err), -ESTALE);
	assert_non_null(strstr(err.what, "deleted or replaced while it was in use"));
	assert_int_equal(store_session_delete(store, id, &err), -ESTALE);
	/* Another one in its place is not written either. */
	struct store *other = open_store(scene->path, STORE_WRITE);

	(void)store_close(other);
	assert_int_equal(store_session_end(store, id, "done", NULL, NULL, &err), -ESTALE);
}

static void test_urls_are_no_paths(void **state)
{
	static const char *const urls[] = {"mysql://x", "http://host/x.db", "sqlite+x://a"};
	struct scene *scene = *state;
	struct err err = {0};
	char path[160];

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		assert_int_equal(open_fails(urls[i], STORE_WRITE, &err), -EINVAL);
		assert_non_null(strstr(err.what, "in a file or in PostgreSQL"));
		assert_int_not_equal(access(urls[i], F_OK), 0);
	}
	/* A path with the same signs in it is one. */
	(void)snprintf(path, sizeof(path), "%s/odd://x.db", scene->folder);
	struct store *store = open_store(path, STORE_WRITE);

	(void)store_close(store);
	assert_int_equal(unlink(path), 0);
	(void)snprintf(path, sizeof(path), "%s/odd:", scene->folder);
	assert_int_equal(rmdir(path), 0);
}

static void test_the_table_of_tables_is_the_schema(void **state)
{
	struct scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = open_store(place(scene), STORE_WRITE);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct err err = {0};

	for (size_t i = 0; store_table_at(i); i++)
		assert_int_equal(store_query_once(store, store_select_text(arena, store_table_at(i)), &CELL_INT(0), 1,
						  NULL, NULL, &err),
				 0);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
#define BOTH                                                                                                           \
	TEST(test_what_is_written_is_read_back), TEST(test_sessions_are_found_by_number_label_and_uid),                \
	    TEST(test_out_and_in_again), TEST(test_bad_lines_are_refused),                                             \
	    TEST(test_the_table_of_tables_is_the_schema), TEST(test_labels_shadow_nothing),                            \
	    TEST(test_a_session_without_its_end)
	const struct CMUnitTest both[] = {BOTH};
	const struct CMUnitTest all[] = {
	    BOTH,
	    TEST(test_an_older_store_is_brought_up_and_a_newer_one_refused),
	    TEST(test_foreign_and_damaged_files),
	    TEST(test_a_read_only_place),
	    TEST(test_only_the_owner_may_read_it),
	    TEST(test_a_full_disk),
	    TEST(test_a_kill_at_any_moment),
	    TEST(test_two_writers_wait_for_each_other),
	    TEST(test_the_usual_place),
	    TEST(test_a_store_that_goes_away),
	    TEST(test_urls_are_no_paths),
	};

	return getenv("HVTUNE_TEST_POSTGRESQL") ? cmocka_run_group_tests_name("store", both, NULL, NULL)
						: cmocka_run_group_tests_name("store", all, NULL, NULL);
}
