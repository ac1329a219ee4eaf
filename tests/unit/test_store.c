/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of store that hold for SQLite and PostgreSQL: what is written is read back, by every way out and in again;
 * sessions are found, and lines that are no rows refused.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "store_internal.h"
#include "store_scene.h"
#include "text.h"

static void test_what_is_written_is_read_back(void **state)
{
	struct store_scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = store_opened(store_place(scene), STORE_WRITE);
	int64_t first = store_fill(store, "one", 6), second = store_fill(store, "two", 9);

	assert_int_equal(second, first + 1);
	store_assert_filled(store, first, "one", 6);
	store_assert_filled(store, second, "two", 9);
	(void)store_close(store);
	store = store_opened(store_place(scene), STORE_READ);
	store_assert_filled(store, first, "one", 6);

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
	struct store_scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = store_opened(store_place(scene), STORE_WRITE);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int64_t first = store_fill(store, "label", 1), second = store_fill(store, "label", 1),
		third = store_fill(store, "other", 1), found;
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
	struct store_scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = store_opened(store_place(scene), STORE_WRITE);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int64_t first = store_fill(store, "last", 1), second = store_fill(store, "plain", 1), found;

	(void)store_fill(store, arena_printf(arena, "%d", (int)second), 1);
	int64_t newest = store_fill(store, "plain", 1);

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
	struct store_scene *scene = *state;
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
		struct store *store = store_opened(store_place(scene), STORE_WRITE);
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
	CLEANUP(store_close_pointer) struct store *store = store_opened(store_place(scene), STORE_WRITE);

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
	struct store_scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = store_opened(store_place(scene), STORE_WRITE);
	CLEANUP(store_close_pointer) struct store *other = NULL;
	CLEANUP(base_free) char *text = NULL, *again = NULL;
	int64_t id = store_fill(store, "moved", 7), found;
	struct err err = {0};
	size_t size, copied = 99;
	char path[128];
	FILE *out = open_memstream(&text, &size), *in;

	assert_int_equal(store_export(store, id, out, &err), 0);
	assert_int_equal(fclose(out), 0);
	(void)snprintf(path, sizeof(path), "%s/other.db", scene->folder);
	other = store_opened(path, STORE_WRITE);
	in = fmemopen(text, size, "r");
	assert_int_equal(store_import(other, in, "x.jsonl", &copied, &err), 0);
	assert_int_equal(copied, 1);
	assert_int_equal(store_session_find(other, "moved", &found, &err), 0);
	store_assert_filled(other, found, "moved", 7);
	/* The same once more is left. */
	rewind(in);
	assert_int_equal(store_import(other, in, "x.jsonl", &copied, &err), 0);
	assert_int_equal(copied, 0);
	assert_int_equal(fclose(in), 0);
	assert_int_equal(store_merge(store, other, &copied, &err), 0);
	assert_int_equal(store_session_find(store, "moved", &found, &err), 0);
	(void)store_fill(store, "second", 3);
	assert_int_equal(store_merge(store, other, &copied, &err), 0);
	assert_int_equal(copied, 1);
	assert_int_equal(store_session_find(other, "second", &found, &err), 0);
	store_assert_filled(other, found, "second", 3);
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
	struct store_scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = store_opened(store_place(scene), STORE_WRITE);

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

static void test_the_table_of_tables_is_the_schema(void **state)
{
	struct store_scene *scene = *state;
	CLEANUP(store_close_pointer) struct store *store = store_opened(store_place(scene), STORE_WRITE);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct err err = {0};

	for (size_t i = 0; store_table_at(i); i++)
		assert_int_equal(store_query_once(store, store_select_text(arena, store_table_at(i)), &CELL_INT(0), 1,
						  NULL, NULL, &err),
				 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    STORE_TEST(test_what_is_written_is_read_back),
	    STORE_TEST(test_sessions_are_found_by_number_label_and_uid),
	    STORE_TEST(test_out_and_in_again),
	    STORE_TEST(test_bad_lines_are_refused),
	    STORE_TEST(test_the_table_of_tables_is_the_schema),
	    STORE_TEST(test_labels_shadow_nothing),
	    STORE_TEST(test_a_session_without_its_end),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
