/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the test that a session outlives a power cut from its beginning on: what SQLite has not synced is its log. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store.h"
#include "unit.h"

/* The file alone, as a power cut leaves it whose log was never written. */
static void copy_without_log(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stat info;

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(fstat(in, &info), 0);
	assert_int_equal(sendfile(out, in, NULL, (size_t)info.st_size), info.st_size);
	assert_int_equal(close(in), 0);
	assert_int_equal(close(out), 0);
}

static void test_session_is_there(void **state)
{
	char folder[] = "/tmp/hvtune-settled-XXXXXX", path[64], copy[64], gone[96];
	static const char *const tails[] = {"", "-wal", "-shm"};
	const struct store_session session = {.kind = "study", .name = "night", .version = "1", .host = "h"};
	struct store *store = NULL, *after = NULL;
	struct err err = {0};
	int64_t id, found;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/results.db", folder);
	(void)snprintf(copy, sizeof(copy), "%s/copy.db", folder);
	assert_int_equal(store_open(path, STORE_WRITE, &store, &err), 0);
	assert_int_equal(store_session_begin(store, &session, &id, &err), 0);
	copy_without_log(path, copy);
	assert_int_equal(store_open(copy, STORE_READ, &after, &err), 0);
	assert_int_equal(store_session_find(after, "last", &found, &err), 0);
	assert_int_equal(found, id);
	store_close_pointer(&after);
	store_close_pointer(&store);
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		(void)snprintf(gone, sizeof(gone), "%s%s", path, tails[i]);
		(void)unlink(gone);
		(void)snprintf(gone, sizeof(gone), "%s%s", copy, tails[i]);
		(void)unlink(gone);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_session_is_there)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
