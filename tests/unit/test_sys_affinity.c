/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the writer: threads, here and in a directory of files; files of procfs; calls of libraries;
 * directories. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys_write.h"
#include "tree.h"
#include "unit.h"

static const char *const patterns[] = {NULL};

struct seen {
	int before, after, refuse;
	char value[64];
};

static int pass(void *data, enum sys_write_when when, const char *call, const char *path, const char *value,
		size_t size)
{
	struct seen *seen = data;

	(void)path;
	*(when == SYS_WRITE_BEFORE ? &seen->before : &seen->after) += 1;
	(void)snprintf(seen->value, sizeof(seen->value), "%s %.*s", call, (int)size, value);
	return when == SYS_WRITE_BEFORE ? -seen->refuse : 0;
}

static void in_files(void **state)
{
	CLEANUP(sys_writer_close_pointer) struct sys_writer *gated = NULL;
	CLEANUP(sys_writer_close_pointer) struct sys_writer *plain = NULL;
	struct tree *tree = tree_new(NULL);
	struct seen seen = {0};
	const struct sys_write_gate gate = {.pass = pass, .data = &seen};
	const struct cpuset cpus = cpuset_range(4, 5);
	struct err err = {0};

	(void)state;
	assert_int_equal(sys_writer_open(tree->root, patterns, &gate, &gated, &err), 0);
	assert_int_equal(sys_writer_set_affinity(gated, 7, 8, &cpus, &err), 0);
	assert_int_equal(seen.before, 1);
	assert_int_equal(seen.after, 1);
	assert_string_equal(seen.value, "sched_setaffinity 4-5");
	seen.refuse = EPERM;
	assert_int_equal(sys_writer_set_affinity(gated, 7, 8, &cpus, &err), -EPERM);
	assert_string_equal(err.where, "/proc/7/task/8");
	assert_int_equal(sys_writer_open(tree->root, patterns, NULL, &plain, &err), 0);
	assert_int_equal(sys_writer_set_affinity(plain, 7, 8, &cpus, &err), -EXDEV);
	tree_free(tree);
}

/* Only directories above what may be written, and only empty ones. */
static void directories(void **state)
{
	static const char *const some[] = {"/etc/systemd/system/*.slice.d/90-hvtune.conf", NULL};
	static const struct tree_file files[] = {{"/etc/systemd/system/a.slice.d/", NULL},
						 {"/etc/systemd/system/b.slice.d/50-other.conf", "x\n"},
						 {"/etc/other/", NULL},
						 {"/srv/x/", NULL},
						 {"/etc/link", "->/srv/x"},
						 {NULL, NULL}};
	static const struct {
		const char *path;
		int status;
		bool stays;
	} cases[] = {
	    {"/etc/systemd/system/a.slice.d", 0, false},
	    {"/etc/systemd/system/a.slice.d", 0, false},
	    {"/etc/systemd/system/b.slice.d", 0, true},
	    {"/etc/systemd/system", 0, true},
	    {"/etc/systemd/system/c.service.d", -EPERM, false},
	    {"/etc/other", -EPERM, true},
	    {"/srv/x", -EPERM, true},
	    {"/", -EPERM, true},
	    {"etc", -EPERM, true},
	    {"/etc/systemd/system/b.slice.d/50-other.conf", -EPERM, true},
	};
	CLEANUP(sys_writer_close_pointer) struct sys_writer *writer = NULL;
	struct tree *tree = tree_new(files);
	struct err err = {0};

	(void)state;
	assert_int_equal(sys_writer_open(tree->root, some, NULL, &writer, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(sys_writer_remove_dir(writer, cases[i].path, &err), cases[i].status);
		if (cases[i].path[1])
			assert_int_equal(sys_writer_exists(writer, cases[i].path), cases[i].stays);
	}
	/* Not through a symbolic link. */
	assert_false(sys_writer_exists(writer, "/etc/link/y"));
	tree_free(tree);
}

static void on_this_machine(void **state)
{
	CLEANUP(sys_writer_close_pointer) struct sys_writer *writer = NULL;
	struct cpuset before = {0}, after = {0}, one = {0};
	struct cpuset nowhere = cpuset_range(CPUSET_MAX - 1, CPUSET_MAX - 1);
	struct err err = {0};

	(void)state;
	assert_true(sched_getaffinity(0, sizeof(before), (cpu_set_t *)&before) >= 0);
	cpuset_add(&one, cpuset_first(&before));
	assert_int_equal(sys_writer_open("/", patterns, NULL, &writer, &err), 0);
	assert_int_equal(sys_writer_set_affinity(writer, getpid(), getpid(), &one, &err), 0);
	assert_true(sched_getaffinity(0, sizeof(after), (cpu_set_t *)&after) >= 0);
	assert_true(cpuset_equal(&after, &one));
	assert_int_equal(sys_writer_set_affinity(writer, getpid(), getpid(), &nowhere, &err), -EINVAL);
	assert_int_equal(sys_writer_set_affinity(writer, getpid(), getpid(), &before, &err), 0);
}

/* A file of procfs that is read by seq_file(9), as those of /proc/irq: it takes a write(2), and no pwrite(2). */
static void a_file_of_procfs(void **state)
{
	static const char *const names[] = {"/proc/*/comm", NULL};
	CLEANUP(sys_writer_close_pointer) struct sys_writer *writer = NULL;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *path = arena_printf(arena, "/proc/%d/comm", getpid()), *before, *after;
	struct err err = {0};

	(void)state;
	assert_int_equal(sys_writer_open("/", names, NULL, &writer, &err), 0);
	assert_int_equal(sys_writer_read(writer, arena, path, &before, NULL, &err), 0);
	assert_int_equal(sys_writer_set(writer, path, "renamed\n", 8, &err), 0);
	assert_int_equal(sys_writer_read(writer, arena, path, &after, NULL, &err), 0);
	assert_int_equal(strncmp(after, "renamed", 7), 0);
	assert_int_equal(sys_writer_set(writer, path, before, strlen(before), &err), 0);
}

static int change(void *data)
{
	return ++*(int *)data == 1 ? 0 : -EBUSY;
}

static void of_libraries(void **state)
{
	CLEANUP(sys_writer_close_pointer) struct sys_writer *writer = NULL;
	struct seen seen = {0};
	const struct sys_write_gate gate = {.pass = pass, .data = &seen};
	struct err err = {0};
	int calls = 0;

	(void)state;
	assert_int_equal(sys_writer_open("/", patterns, &gate, &writer, &err), 0);
	assert_int_equal(sys_writer_call(writer, "call", "web1", "4", change, &calls), 0);
	assert_int_equal(sys_writer_call(writer, "call", "web1", "4", change, &calls), -EBUSY);
	assert_int_equal(seen.after, 2);
	seen.refuse = EIO;
	assert_int_equal(sys_writer_call(writer, "call", "web1", NULL, change, &calls), -EIO);
	assert_int_equal(calls, 2);
	assert_int_equal(seen.after, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(in_files),		cmocka_unit_test(directories),	cmocka_unit_test(on_this_machine),
	    cmocka_unit_test(a_file_of_procfs), cmocka_unit_test(of_libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
