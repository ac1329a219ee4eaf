/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of reading tuned and of telling which services run. */
#include <errno.h>

#include "unit.h"

#include "host_tuned_parse.h"
#include "text.h"
#include "tree.h"

#define NEW_SYSTEM "/usr/lib/tuned/profiles/"
#define NEW_OWN "/etc/tuned/profiles/"

static struct tree *tree_with(const struct tree_file *files)
{
	struct tree *tree = tree_new(NULL);

	tree_add_amd(tree, 2, 2, 25, 17);
	tree_add(tree, files);
	return tree;
}

static void test_syntax(void **state)
{
	static const char text[] =
	    "# c\n; c\n[main]\nsummary = a # b\nx=a#b\n\n[cpu]  # behind\ntype=cpu\nlist=a\n  b\n"
	    "\tc\nempty=\nlist2 = \"4 5\"\n";
	struct arena *arena = arena_new();
	struct tuned_file file;
	struct err err = {0};

	(void)state;
	assert_int_equal(tuned_file_parse(arena, "f", text, &file, &err), 0);
	assert_int_equal(file.section_count, 2);
	assert_int_equal(file.count, 6);
	assert_string_equal(file.options[0].value, "a");
	assert_string_equal(file.options[1].value, "a#b"); /* no blank before it: no comment */
	assert_string_equal(file.options[3].value, "a\nb\nc");
	assert_int_equal(file.options[3].line, 9);
	assert_string_equal(file.options[4].value, "");
	assert_string_equal(file.options[5].value, "\"4 5\"");
	(void)arena_free(arena);
}

static void test_syntax_faults(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} faults[] = {{"a=b\n", 1}, {"[main]\n\nno delimiter\n", 3}, {"[main]\n=x\n", 2}, {"[main\n", 1}, {"[]\n", 1}};
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct tuned_file file;
		struct err err = {0};

		assert_int_equal(tuned_file_parse(arena, "f", faults[i].text, &file, &err), -EINVAL);
		assert_int_equal(err.line, faults[i].line);
	}
	(void)arena_free(arena);
}

static const char *value_of(const struct host *host, const char *type, const char *option)
{
	const struct tuned_setting *setting = host_tuned_setting(&host->daemons.tuned, type, option);

	return setting ? setting->value : NULL;
}

static void test_merge(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/tuned/active_profile", "mine\n"},
	    {NEW_SYSTEM "base/tuned.conf", "[cpu]\ngovernor=performance\nforce_latency=99\n[disk]\nreadahead=1\n"
					   "[vm]\ndirty_ratio=1\n[arm]\ntype=cpu\nuname_regex=aarch64\ngovernor=arm\n"},
	    {NEW_OWN "mine/tuned.conf",
	     "[main]\ninclude=base\n[cpu]\nforce_latency=None\n[disk]\nreplace=1\nspindown=6\n[vm]\nenabled=0\n"
	     "[again]\ntype=cpu\nboost=0\n"},
	    {NULL, NULL},
	};
	struct tree *tree = tree_with(files);
	const struct host *host = tree_host(tree);
	const struct host_tuned *tuned = &host->daemons.tuned;

	(void)state;
	assert_int_equal(tuned->profile_count, 1);
	assert_string_equal(tuned->profiles[0].path, NEW_OWN "mine/tuned.conf");
	assert_true(tuned_profile_is_a(&tuned->profiles[0], "base"));
	assert_string_equal(value_of(host, "cpu", "governor"), "performance");
	assert_string_equal(value_of(host, "cpu", "force_latency"), "None");
	assert_string_equal(value_of(host, "cpu", "boost"), "0"); /* by type, not by section */
	assert_string_equal(value_of(host, "disk", "spindown"), "6");
	assert_null(value_of(host, "disk", "readahead"));
	assert_null(value_of(host, "vm", "dirty_ratio"));
	assert_string_equal(host_tuned_setting(tuned, "cpu", "force_latency")->path, NEW_OWN "mine/tuned.conf");
	assert_int_equal(host_tuned_setting(tuned, "cpu", "force_latency")->line, 4);
	(void)tree_free(tree);
}

/* A profile may include its namesake of the other directory; loops end. */
static void test_namesakes_and_loops(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/tuned/active_profile", "a\n"},
	    {NEW_SYSTEM "a/tuned.conf", "[cpu]\ngovernor=powersave\n"},
	    {NEW_OWN "a/tuned.conf", "[main]\ninclude=a, b\n[cpu]\nboost=1\n"},
	    {NEW_OWN "b/tuned.conf", "[main]\ninclude=c;gone,-optional\n"},
	    {NEW_OWN "c/tuned.conf", "[main]\ninclude=b\n[sysctl]\nvm.swappiness=1\n"},
	    {NULL, NULL},
	};
	struct tree *tree = tree_with(files);
	const struct host *host = tree_host(tree);
	const struct tuned_profile *profile = &host->daemons.tuned.profiles[0];

	(void)state;
	assert_string_equal(value_of(host, "cpu", "governor"), "powersave");
	assert_string_equal(value_of(host, "cpu", "boost"), "1");
	assert_string_equal(value_of(host, "sysctl", "vm.swappiness"), "1");
	assert_int_equal(profile->missing_count, 1); /* neither the loop back to b nor the optional one is missing */
	assert_string_equal(profile->missing[0], "gone");
	(void)tree_free(tree);
}

static void test_old_layout(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/tuned/active_profile", "mine\n"},
	    {"/usr/lib/tuned/balanced/tuned.conf", "[cpu]\ngovernor=conservative|powersave\n"},
	    {NEW_OWN "mine/tuned.conf", "[cpu]\nboost=1\n"},
	    {"/usr/lib/python3/dist-packages/tuned/version.py",
	     "TUNED_VERSION_MAJOR = 2\nTUNED_VERSION_MINOR = 20\nTUNED_VERSION_PATCH = 0\n"},
	    {"/etc/tuned/tuned-main.conf", "# x\ndaemon = 1\ndynamic_tuning = 1\n"},
	    {NULL, NULL},
	};
	struct tree *tree = tree_with(files);
	const struct host_tuned *tuned = &tree_host(tree)->daemons.tuned;

	(void)state;
	assert_string_equal(tuned->layout.text, "/usr/lib/tuned");
	assert_string_equal(tuned->version.text, "2.20.0");
	assert_true(fact_is_on(&tuned->dynamic_tuning));
	assert_null(tuned->profiles[0].path);
	assert_string_equal(tuned->profiles[0].elsewhere, NEW_OWN "mine/tuned.conf");
	(void)tree_free(tree);
}

/* Stock values count only where every version that the host may have agrees on them. */
static void test_stock(void **state)
{
	static const struct tree_file unknown[] = {{"/etc/tuned/active_profile", "virtual-host\n"}, {NULL, NULL}};
	static const struct tree_file recent[] = {
	    {"/etc/tuned/active_profile", "virtual-host\n"}, {"/etc/tuned/profiles/", NULL}, {NULL, NULL}};
	struct tree *tree = tree_with(unknown);
	const struct host *host = tree_host(tree);

	(void)state;
	assert_true(host->daemons.tuned.profiles[0].stock);
	assert_string_equal(value_of(host, "cpu", "force_latency"), "cstate.id_no_zero:3|70");
	assert_string_equal(value_of(host, "cpu", "governor"), "performance");
	assert_null(value_of(host, "cpu", "energy_performance_preference"));
	assert_string_equal(host_tuned_setting(&host->daemons.tuned, "cpu", "governor")->path, TUNED_STOCK_PATH);
	(void)tree_free(tree);
	tree = tree_with(recent);
	assert_string_equal(value_of(tree_host(tree), "cpu", "energy_performance_preference"), "performance");
	(void)tree_free(tree);
}

static void test_isolated(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/tuned/active_profile", "cpu-partitioning\n"},
	    {"/etc/tuned/cpu-partitioning-variables.conf", "# isolated_cores=9\nisolated_cores=1,3-5\n"},
	    {NULL, NULL},
	};
	static const struct tree_file computed[] = {
	    {"/etc/tuned/active_profile", "cpu-partitioning\n"},
	    {"/etc/tuned/cpu-partitioning-variables.conf", "isolated_cores=${f:calc_isolated_cores:1}\n"},
	    {NULL, NULL},
	};
	struct tree *tree = tree_with(files);
	struct arena *arena = arena_new();

	(void)state;
	assert_string_equal(cpuset_format(arena, tree_host(tree)->daemons.tuned.isolated_cores.cpus), "1,3-5");
	(void)tree_free(tree);
	tree = tree_with(computed);
	assert_int_equal(tree_host(tree)->daemons.tuned.isolated_cores.state, FACT_ABSENT);
	assert_non_null(tree_host(tree)->daemons.tuned.isolated_cores.note);
	(void)tree_free(tree);
	(void)arena_free(arena);
}

static void test_boot_words(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/tuned/bootcmdline", "TUNED_BOOT_CMDLINE=\"skew_tick=1 nohz=on\"\nTUNED_BOOT_INITRD_ADD=\n"},
	    {NULL, NULL},
	};
	struct tree *tree = tree_with(files);

	(void)state;
	assert_string_equal(tree_host(tree)->daemons.tuned.boot_cmdline.text, "skew_tick=1 nohz=on");
	assert_int_equal(tree_host(tree)->daemons.tuned.profile_count, 0);
	(void)tree_free(tree);
}

static const struct fact *running(struct tree *tree, const char *name)
{
	return &host_daemon(&tree_host(tree)->daemons, name)->running;
}

static void test_control_groups(void **state)
{
	static const struct tree_file files[] = {
	    {"/sys/fs/cgroup/system.slice/cgroup.procs", ""},
	    {"/sys/fs/cgroup/system.slice/tuned.service/cgroup.procs", "911\n"},
	    {"/etc/systemd/system/multi-user.target.wants/tlp.service", "->/usr/lib/systemd/system/tlp.service"},
	    {"/proc/77/comm", "irqbalance\n"}, /* not looked at: the control groups tell all */
	    {NULL, NULL},
	};
	struct tree *tree = tree_with(files);

	(void)state;
	assert_true(fact_is_on(running(tree, "tuned")));
	assert_true(fact_is_off(running(tree, "irqbalance")));
	assert_true(fact_is_on(running(tree, "tlp")));
	assert_int_equal(running(tree, "gamemoded")->state, FACT_ABSENT);
	(void)tree_free(tree);
}

static void test_processes(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/1/comm", "init\n"},
	    {"/proc/20/comm", "power-profiles-\n"},
	    {"/proc/30/comm", "python3\n"},
	    {NULL, NULL},
	};
	static const char cmdline[] = "/usr/bin/python3\0-Es\0/usr/sbin/tuned\0-l";
	struct tree *tree = tree_with(files);

	(void)state;
	tree_write_bytes(tree, "/proc/30/cmdline", cmdline, sizeof(cmdline));
	assert_true(fact_is_on(running(tree, "power-profiles-daemon")));
	assert_true(fact_is_on(running(tree, "tuned")));
	assert_true(fact_is_off(running(tree, "tuned-ppd")));
	assert_int_equal(running(tree, "tlp")->state, FACT_ABSENT); /* writes once and leaves no process */
	(void)tree_free(tree);
}

/* Where process 1 is not seen, others may be hidden as well. */
static void test_some_processes(void **state)
{
	static const struct tree_file files[] = {{"/proc/901/comm", "tuned\n"}, {NULL, NULL}};
	struct tree *tree = tree_with(files);

	(void)state;
	assert_true(fact_is_on(running(tree, "tuned")));
	assert_int_equal(running(tree, "irqbalance")->state, FACT_ABSENT);
	(void)tree_free(tree);
}

static void test_sched_ext(void **state)
{
	static const struct tree_file files[] = {
	    {"/sys/kernel/sched_ext/state", "enabled\n"}, {"/sys/kernel/sched_ext/root/ops", "lavd\n"}, {NULL, NULL}};
	struct tree *tree = tree_with(files);

	(void)state;
	assert_true(fact_is_on(running(tree, "scx")));
	assert_string_equal(tree_host(tree)->daemons.scx_ops.text, "lavd");
	(void)tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_syntax),	   cmocka_unit_test(test_syntax_faults),
	    cmocka_unit_test(test_merge),	   cmocka_unit_test(test_namesakes_and_loops),
	    cmocka_unit_test(test_old_layout),	   cmocka_unit_test(test_stock),
	    cmocka_unit_test(test_isolated),	   cmocka_unit_test(test_boot_words),
	    cmocka_unit_test(test_control_groups), cmocka_unit_test(test_processes),
	    cmocka_unit_test(test_some_processes), cmocka_unit_test(test_sched_ext),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
