/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of a journal that has grown large: what is in force survives, what is over goes, ids go on. */
#include <errno.h>
#include <sys/stat.h>
#include <zlib.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"

#define JOURNAL_IN(root) "%s" KNOB_JOURNAL, root

static void add_line(FILE *file, const char *text)
{
	(void)fprintf(file, "%08lx %s\n", crc32(0, (const unsigned char *)text, (unsigned)strlen(text)), text);
}

/* `count` changes from id 2 on that were applied and undone, each of some size. */
static void add_old_changes(const struct kernel *kernel, unsigned count)
{
	char path[4096], line[4096];
	FILE *file;

	(void)snprintf(path, sizeof(path), JOURNAL_IN(kernel->tree->root));
	file = fopen(path, "a");
	assert_non_null(file);
	for (unsigned id = 2; id < 2 + count; id++) {
		(void)snprintf(
		    line, sizeof(line),
		    "{\"t\":\"begin\",\"id\":%u,\"boot\":\"first\",\"time\":1,\"what\":\"%0900d\",\"points\":"
		    "[[\"swappiness\",\"/proc/sys/vm/swappiness\",\"\",\"60\",\"1\"]],\"guards\":[],\"steps\":[1]}",
		    id, 0);
		add_line(file, line);
		(void)snprintf(line, sizeof(line), "{\"t\":\"undo\",\"id\":%u,\"state\":\"done\"}", id);
		add_line(file, line);
	}
	(void)fclose(file);
}

static off_t journal_size(const struct kernel *kernel)
{
	char path[4096];
	struct stat info;

	(void)snprintf(path, sizeof(path), JOURNAL_IN(kernel->tree->root));
	assert_int_equal(stat(path, &info), 0);
	return info.st_size;
}

static unsigned apply(struct kernel *kernel, const char *text)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	const struct knob_apply_options options = {.what = "a test"};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	struct knob_ask ask;
	struct err err = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, &gate, &machine, &err), 0);
	assert_int_equal(knob_ask_parse(machine.arena, text, &ask, &err), 0);
	assert_int_equal(knob_plan_make(&machine, &ask, 1, &plan, &err), 0);
	if (knob_apply(&machine, &plan, &options, &report, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
	return report.id;
}

static int undo(struct kernel *kernel, unsigned id)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	struct err err = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, &gate, &machine, &err), 0);
	return knob_undo(&machine, id, &report, &err);
}

static void what_is_in_force_survives(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel, "active");
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	assert_int_equal(apply(&kernel, "governor=performance"), 1);
	add_old_changes(&kernel, 1200);
	assert_true(journal_size(&kernel) > KNOB_JOURNAL_LARGE);
	assert_int_equal(apply(&kernel, "thp=never"), 1202);
	assert_true(journal_size(&kernel) < 16384);
	assert_int_equal(undo(&kernel, 0), 0);
	assert_int_equal(undo(&kernel, 1), 0);
	assert_int_equal(undo(&kernel, 0), -ENOENT);
	CLEANUP(base_free) char *after = kernel_dump(&kernel);

	assert_string_equal(before, after);
	kernel_stop(&kernel);
}

static void a_small_journal_is_left_alone(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel, "active");
	assert_int_equal(apply(&kernel, "swappiness=10"), 1);
	add_old_changes(&kernel, 10);
	off_t size = journal_size(&kernel);

	assert_int_equal(apply(&kernel, "thp=never"), 12);
	assert_true(journal_size(&kernel) > size);
	kernel_stop(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_in_force_survives),
	    cmocka_unit_test(a_small_journal_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
