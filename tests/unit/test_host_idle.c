/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of facts on idle states: the binary request, who holds it, where a state is allowed. */
#include "unit.h"
#include "healthy.h"
#include "host.h"
#include "text.h"

#define LATENCY "/dev/cpu_dma_latency"

static void test_healthy(void **state)
{
	struct tree *tree = healthy_new();
	const struct host_idle *idle = &tree_host(tree)->idle;

	(void)state;
	assert_int_equal(idle->state_count, 3);
	assert_true(idle->states[0].polls);
	assert_true(fact_is_number(&idle->dma_latency_us, IDLE_LATENCY_NO_REQUEST));
	assert_true(fact_is_text(&host_idle_deepest(idle)->name, "C2"));
	assert_ptr_equal(host_idle_deepest_allowed(idle), host_idle_deepest(idle));
	assert_true(fact_is_text(&idle->driver, "acpi_idle"));
	/* Nobody is searched for when nobody asks. */
	assert_int_equal(idle->holders_state.state, FACT_ABSENT);
	for (const struct sys_look *look = sys_first_look(tree_host(tree)->sys); look; look = look->next)
		assert_null(strstr(look->path, "/fd"));
	(void)tree_free(tree);
}

static void test_latency_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum fact_state state;
		int64_t held_us;
	} files[] = {
	    {"\106\000\000\000", 4, FACT_VALUE, 70},
	    {"\000\000\000\000", 4, FACT_VALUE, 0},
	    {"\000\224\065\167", 4, FACT_VALUE, 2000000000},
	    {"\001\224\065\167", 4, FACT_IMPLAUSIBLE, 0},
	    {"\377\377\377\377", 4, FACT_IMPLAUSIBLE, 0},
	    {"70\n", 3, FACT_IMPLAUSIBLE, 0},
	    {"", 0, FACT_IMPLAUSIBLE, 0},
	    {"2000000000\n", 11, FACT_IMPLAUSIBLE, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct tree *tree = healthy_new();

		tree_write_bytes(tree, LATENCY, files[i].bytes, files[i].size);
		const struct fact *held = &tree_host(tree)->idle.dma_latency_us;

		assert_int_equal(held->state, files[i].state);
		if (held->state == FACT_VALUE)
			assert_int_equal(held->number, files[i].held_us);
		(void)tree_free(tree);
	}
}

static void test_allowed(void **state)
{
	static const struct tree_file changes[] = {
	    {CPU_FILE(0, "cpuidle/state2/disable"), "1\n"},
	    {CPU_FILE(1, "power/pm_qos_resume_latency_us"), "20\n"},
	    {CPU_FILE(2, "power/pm_qos_resume_latency_us"), "n/a\n"},
	    {CPU_FILE(3, "power/pm_qos_resume_latency_us"), "-5\n"}, /* no limit that can be */
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	struct arena *arena = tree_host(tree)->arena;
	const struct host_idle *idle = &tree_host(tree)->idle;

	assert_string_equal(cpuset_format(arena, &idle->states[2].allowed_on), "3");
	assert_string_equal(cpuset_format(arena, &idle->states[1].allowed_on), "0-1,3");
	assert_string_equal(cpuset_format(arena, &idle->states[0].allowed_on), "0-3");
	assert_string_equal(cpuset_format(arena, &idle->states[2].disabled_on), "0");
	assert_string_equal(cpuset_format(arena, &idle->resume_limited_on), "1-2");
	assert_true(fact_is_text(&idle->resume_latency, "20"));
	(void)tree_free(tree);
}

static void test_holders(void **state)
{
	static const struct tree_file changes[] = {
	    {LATENCY, LATENCY_OF("\106", "\000", "\000", "\000")},
	    {"/run/tuned/tuned.pid", "911\n"},
	    {"/proc/911/comm", "tuned\n"},
	    {"/proc/911/fd/7", "->/dev/cpu_dma_latency"},
	    {"/proc/4/fd/1", "->/dev/cpu_dma_latency"}, /* comm is gone */
	    {"/proc/5/fd/1", "->/dev/cpu_dma_latency.old"},
	    {"/proc/0/fd/1", "->/dev/cpu_dma_latency"}, /* no such process can be */
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	const struct host_idle *idle = &tree_host(tree)->idle;

	assert_int_equal(idle->holder_count, 2);
	assert_int_equal(idle->holders[0].pid, 911);
	assert_string_equal(idle->holders[0].command, "tuned");
	assert_int_equal(idle->holders[1].pid, 4);
	assert_string_equal(idle->holders[1].command, "?");
	assert_true(fact_is_on(&idle->holders_state));
	(void)tree_free(tree);
}

/* States beyond what a kernel has, negative latencies, names that are none. */
static void test_garbage(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = healthy_new();

	(void)state;
	for (int i = 3; i < 40; i++)
		tree_write(tree, arena_printf(arena, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/latency", i),
			   "-1\n");
	tree_write(tree, "/sys/devices/system/cpu/cpu0/cpuidle/stateX/latency", "1\n");
	tree_write(tree, "/sys/devices/system/cpu/cpu0/cpuidle/state-1/latency", "1\n");
	const struct host_idle *idle = &tree_host(tree)->idle;

	assert_in_range(idle->state_count, 3, 16);
	assert_int_equal(idle->states[3].latency_us.state, FACT_IMPLAUSIBLE);
	(void)tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_healthy), cmocka_unit_test(test_latency_bytes), cmocka_unit_test(test_allowed),
	    cmocka_unit_test(test_holders), cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
