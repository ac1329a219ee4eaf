/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of facts on frequency: order, gaps, garbage, and how few reads they take. */
#include <errno.h>

#include "unit.h"
#include "healthy.h"
#include "host.h"
#include "text.h"

static void test_healthy(void **state)
{
	struct tree *tree = healthy_new();
	const struct host_cpufreq *cpufreq = &tree_host(tree)->cpufreq;

	(void)state;
	assert_int_equal(cpufreq->policy_count, HEALTHY_CPUS);
	assert_true(fact_is_on(&cpufreq->policies_dir));
	assert_true(fact_is_text(host_cpufreq_driver(cpufreq), "amd-pstate-epp"));
	assert_true(fact_is_number(&cpufreq->policies[3].scaling_min_khz, 1500000));
	assert_true(fact_is_text(&cpufreq->policies[3].available_governors, "performance powersave"));
	assert_true(fact_is_number(&cpufreq->policies[3].lowest_nonlinear_khz, 1500000));
	assert_true(fact_is_number(&cpufreq->nominal_mhz, 3250));
	assert_true(fact_is_on(&cpufreq->cppc));
	assert_true(fact_is_on(&cpufreq->cppc_flag));
	assert_true(fact_is_text(&cpufreq->status, "active"));
	assert_int_equal(cpufreq->x3d_mode.state, FACT_ABSENT);
	(void)tree_free(tree);
}

/* One policy for several CPUs, numbers in natural order with gaps, names that are none. */
static void test_shapes(void **state)
{
	static const struct tree_file changes[] = {
	    {"/sys/devices/system/cpu/cpufreq", GONE},
	    {POLICY_FILE(10, "affected_cpus"), "1 3\n"},
	    {POLICY_FILE(10, "scaling_driver"), "acpi-cpufreq\n"},
	    {POLICY_FILE(2, "affected_cpus"), "0,2\n"},
	    {POLICY_FILE(2, "scaling_driver"), "acpi-cpufreq\n"},
	    {POLICY_FILE(5, "affected_cpus"), "\n"}, /* its CPUs are off line */
	    {POLICY_FILE(6, "scaling_driver"), "acpi-cpufreq\n"},
	    {POLICY_FILE(8192, "scaling_driver"), "acpi-cpufreq\n"},
	    {POLICY_FILE(x, "scaling_driver"), "acpi-cpufreq\n"},
	    {POLICY_FILE(-1, "scaling_driver"), "acpi-cpufreq\n"},
	    {"/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us", "1\n"},
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	const struct host_cpufreq *cpufreq = &tree_host(tree)->cpufreq;
	struct arena *arena = tree_host(tree)->arena;

	assert_int_equal(cpufreq->policy_count, 3);
	assert_int_equal(cpufreq->policies[0].number, 2);
	assert_string_equal(cpuset_format(arena, &cpufreq->policies[0].cpus), "0,2");
	assert_int_equal(cpufreq->policies[1].number, 6);
	assert_string_equal(cpuset_format(arena, &cpufreq->policies[1].cpus), "6");
	assert_int_equal(cpufreq->policies[2].number, 10);
	assert_string_equal(cpuset_format(arena, &cpufreq->policies[2].cpus), "1,3");
	assert_int_equal(cpufreq->policies[0].epp.state, FACT_ABSENT);
	(void)tree_free(tree);
}

static void test_garbage(void **state)
{
	static const struct tree_file changes[] = {
	    {POLICY_FILE(0, "scaling_max_freq"), "<unsupported>\n"},
	    {POLICY_FILE(1, "scaling_max_freq"), "0\n"},
	    {POLICY_FILE(2, "scaling_max_freq"), "-3800000\n"},
	    {POLICY_FILE(3, "scaling_max_freq"), "99999999999999999999999\n"},
	    {POLICY_FILE(0, "boost"), "2\n"},
	    {POLICY_FILE(1, "affected_cpus"), "one\n"},
	    {POLICY_FILE(2, "energy_performance_preference"), GONE},
	    {POLICY_FILE(2, "energy_performance_preference/"), ""}, /* a directory cannot be read */
	    {"/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq", "0\n"},
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	const struct host_cpufreq *cpufreq = &tree_host(tree)->cpufreq;

	assert_int_equal(cpufreq->policy_count, HEALTHY_CPUS);
	for (int i = 0; i < HEALTHY_CPUS; i++)
		assert_int_equal(cpufreq->policies[i].scaling_max_khz.state, FACT_IMPLAUSIBLE);
	assert_int_equal(cpufreq->policies[0].boost.state, FACT_IMPLAUSIBLE);
	assert_true(cpuset_has(&cpufreq->policies[1].cpus, 1));
	assert_int_equal(cpufreq->policies[2].epp.state, FACT_UNREADABLE);
	assert_int_equal(cpufreq->nominal_mhz.state, FACT_IMPLAUSIBLE);
	(void)tree_free(tree);
}

static void test_groups(void **state)
{
	static const struct tree_file changes[] = {
	    {POLICY_FILE(1, "scaling_governor"), "performance\n"},
	    {POLICY_FILE(2, "boost"), GONE},
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();
	struct cpufreq_group *groups;

	(void)state;
	healthy_change(tree, changes);
	struct arena *arena = tree_host(tree)->arena;
	const struct host_cpufreq *cpufreq = &tree_host(tree)->cpufreq;

	assert_int_equal(host_cpufreq_groups(arena, cpufreq, offsetof(struct cpufreq_policy, governor), &groups), 2);
	assert_string_equal(groups[0].value, "powersave");
	assert_string_equal(cpuset_format(arena, &groups[0].cpus), "0,2-3");
	assert_string_equal(cpuset_format(arena, &groups[1].cpus), "1");
	/* Where the fact is absent the CPU is in no group. */
	assert_int_equal(host_cpufreq_groups(arena, cpufreq, offsetof(struct cpufreq_policy, boost), &groups), 1);
	assert_string_equal(cpuset_format(arena, &groups[0].cpus), "0-1,3");
	(void)tree_free(tree);
}

/* More unlike values than can be shown are kept within bounds, and no CPU is lost. */
static void test_many_groups(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	enum { MANY = 300 };
	struct host_cpufreq cpufreq = {.policies = ARENA_ARRAY(arena, MANY, struct cpufreq_policy),
				       .policy_count = MANY};
	struct cpufreq_group *groups;
	int cpus = 0;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		cpuset_add(&cpufreq.policies[i].cpus, i);
		cpufreq.policies[i].prefcore_ranking = fact_number("rank", UNIT_NONE, i, "here");
	}
	size_t count = host_cpufreq_groups(arena, &cpufreq, offsetof(struct cpufreq_policy, prefcore_ranking), &groups);

	assert_in_range(count, 2, 64);
	for (size_t i = 0; i < count; i++)
		cpus += cpuset_count(&groups[i].cpus);
	assert_int_equal(cpus, MANY);
	assert_string_equal(groups[count - 1].value, "other values");
}

/* A read on Zen 2 is a mailbox call, and 384 policies add up: CPPC on one CPU, no frequency of the moment, few files.
 */
static void test_few_reads(void **state)
{
	static const struct tree_file changes[] = {
	    {POLICY_FILE(0, "scaling_cur_freq"), "1\n"},
	    {POLICY_FILE(1, "cpuinfo_cur_freq"), "1\n"},
	    {CPU_FILE(1, "acpi_cppc/nominal_freq"), "3250\n"},
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();
	int looks = 0;

	(void)state;
	healthy_change(tree, changes);
	for (const struct sys_look *look = sys_first_look(tree_host(tree)->sys); look; look = look->next) {
		assert_null(strstr(look->path, "cur_freq"));
		assert_null(strstr(look->path, "cpu1/acpi_cppc"));
		looks += strstr(look->path, "/cpufreq/policy3/") != NULL;
	}
	assert_in_range(looks, 1, 8);
	(void)tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_healthy), cmocka_unit_test(test_shapes),	cmocka_unit_test(test_garbage),
	    cmocka_unit_test(test_groups),  cmocka_unit_test(test_many_groups), cmocka_unit_test(test_few_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
