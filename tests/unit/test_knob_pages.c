/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of reserved huge pages: counts and totals, what is refused, shortage, pages in use. */
#include <errno.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"

#define NODE "/sys/devices/system/node/node"
#define PAGES(node) NODE node "/hugepages/hugepages-2048kB/nr_hugepages"
#define SURPLUS(node) NODE node "/hugepages/hugepages-2048kB/surplus_hugepages"

enum { MOST_ASKS = 4 };

struct work {
	struct kernel kernel;
	struct knob_machine machine;
	struct knob_plan plan;
	struct knob_report report;
	struct err err;
};

static void start(struct work *work)
{
	*work = (struct work){0};
	kernel_start(&work->kernel, "active");
	kernel_add_pages(&work->kernel);
}

static void stop(struct work *work)
{
	knob_machine_close(&work->machine);
	kernel_stop(&work->kernel);
}

static int plan(struct work *work, const char *const asks[MOST_ASKS])
{
	const struct sys_write_gate gate = kernel_gate(&work->kernel);
	struct knob_ask parsed[MOST_ASKS];
	size_t count = 0;
	int r;

	knob_machine_close(&work->machine);
	assert_int_equal(knob_machine_open(work->kernel.tree->root, &gate, &work->machine, &work->err), 0);
	while (count < MOST_ASKS && asks[count]) {
		r = knob_ask_parse(work->machine.arena, asks[count], &parsed[count], &work->err);
		if (r < 0)
			return r;
		count++;
	}
	return knob_plan_make(&work->machine, parsed, count, &work->plan, &work->err);
}

static int apply(struct work *work)
{
	const struct knob_apply_options options = {.what = "a test"};

	return knob_apply(&work->machine, &work->plan, &options, &work->report, &work->err);
}

static void assert_number(const struct work *work, const char *path, long number)
{
	assert_int_equal(kernel_number(&work->kernel, path), number);
}

static bool has_note(const struct work *work, const char *part)
{
	for (size_t i = 0; i < work->plan.note_count; i++)
		if (strstr(work->plan.notes[i], part))
			return true;
	return false;
}

struct counted {
	const char *ask;
	long node0, node1;
};

static const struct counted counts[] = {
    {"hugepages.2M=100", 100, 100},	{"hugepages.2M@node1=100", 0, 100}, {"hugepages.2M=total:101", 51, 50},
    {"hugepages.2M@0=total:64", 64, 0}, {"hugepages.2M=200M", 100, 100},    {"hugepages.2M=total:1G", 256, 256},
    {"hugepages.2048K=7", 7, 7},
};

static void counts_and_totals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct work work;

		start(&work);
		if (plan(&work, (const char *const[MOST_ASKS]){counts[i].ask}) < 0 || apply(&work) < 0)
			fail_msg("%s: %s: %s", counts[i].ask, work.err.where, work.err.what);
		assert_number(&work, PAGES("0"), counts[i].node0);
		assert_number(&work, PAGES("1"), counts[i].node1);
		stop(&work);
	}
}

struct refusal {
	const char *asks[MOST_ASKS];
	int r;
	const char *part;
};

static const struct refusal refusals[] = {
    {{"hugepages.2M@0=2000"}, -ENOMEM, "3.9 GiB more are asked for; 3 GiB are free, and 200 MiB"},
    {{"hugepages.2M@0=1000", "hugepages.1G@0=2"}, -ENOMEM, "4 GiB more"},
    {{"hugepages.4M=1"}, -ENOENT, "no huge pages of that size"},
    {{"overcommit_hugepages.1G=1"}, -ENOENT, "that are made on demand"},
    {{"hugepages.2M@3=1"}, -ENOENT, "no node 3"},
    {{"hugepages.2M=3K"}, -EINVAL, "no multiple"},
    {{"hugepages.2M=all"}, -EINVAL, "takes a number of pages"},
    {{"hugepages.2M=-1"}, -EINVAL, "takes a number of pages"},
    {{"hugepages.2M=total:"}, -EINVAL, "takes a number of pages"},
};

static void refused_in_the_plan(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct work work;
		int r;

		start(&work);
		r = plan(&work, refusals[i].asks);
		if (r != refusals[i].r || !strstr(work.err.what, refusals[i].part))
			fail_msg("%s: %d: %s: %s", refusals[i].asks[0], r, work.err.where, work.err.what);
		stop(&work);
	}
}

/* Pages that are given back make room for those of the other size, although they were asked for last. */
static void room_is_made_first(void **state)
{
	struct work work;

	(void)state;
	start(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"hugepages.2M@0=1000"}), 0);
	assert_int_equal(apply(&work), 0);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"hugepages.1G@0=2", "hugepages.2M@0=0"}), 0);
	assert_string_equal(work.plan.steps[0].name, "hugepages.2M");
	assert_true(has_note(&work, "seldom found"));
	assert_int_equal(apply(&work), 0);
	stop(&work);
}

/* More than one write gets, but there is memory: it is compacted and written again. */
static void memory_in_pieces(void **state)
{
	struct work work;

	(void)state;
	start(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"hugepages.2M@1=1000"}), 0);
	assert_int_equal(apply(&work), 0);
	assert_number(&work, PAGES("1"), 1000);
	stop(&work);
}

/* Caches that turn out not to be given up: what was got is put back, on the other node and of the other knob too. */
static void shortage_rolls_back(void **state)
{
	struct work work;
	char *before, *after;
	int r;

	(void)state;
	start(&work);
	before = kernel_dump(&work.kernel);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"swappiness=1", "hugepages.2M=1550"}), 0);
	assert_true(has_note(&work, "28 MiB of caches"));
	assert_true(has_note(&work, "172 MiB are left"));
	r = apply(&work);
	assert_int_equal(r, -ENOMEM);
	assert_non_null(strstr(work.err.what, "1536 of 1550"));
	assert_true(work.report.rolled_back);
	after = kernel_dump(&work.kernel);
	assert_string_equal(before, after);
	free(before);
	free(after);
	stop(&work);
}

/* Pages that a VM uses stay until it ends; giving back succeeds all the same. */
static void pages_in_use(void **state)
{
	struct work work;

	(void)state;
	start(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"hugepages.2M@0=200"}), 0);
	assert_int_equal(apply(&work), 0);
	kernel_use_pages(&work.kernel, 0, 150);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"hugepages.2M@0=100"}), 0);
	assert_true(has_note(&work, "150 pages are in use; those above 100 go"));
	assert_int_equal(knob_undo(&work.machine, 0, &work.report, &work.err), 0);
	assert_int_equal(work.report.events[0].outcome, KNOB_PUT_BACK);
	assert_number(&work, PAGES("0"), 150);
	assert_number(&work, SURPLUS("0"), 150);
	stop(&work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_and_totals),   cmocka_unit_test(refused_in_the_plan),
	    cmocka_unit_test(room_is_made_first),  cmocka_unit_test(memory_in_pieces),
	    cmocka_unit_test(shortage_rolls_back), cmocka_unit_test(pages_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
