/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the rules on tuned, its profiles and the services beside it. */
#include "unit.h"

#include "advise_check.h"
#include "lines.h"

#define ACTIVE(name)                                                                                                   \
	{                                                                                                              \
		"/etc/tuned/active_profile", name "\n"                                                                 \
	}
#define RUNS(unit)                                                                                                     \
	{"/sys/fs/cgroup/system.slice/cgroup.procs", ""},                                                              \
	{                                                                                                              \
		"/sys/fs/cgroup/system.slice/" unit ".service/cgroup.procs", "9\n"                                     \
	}
#define NO_SERVICE                                                                                                     \
	{                                                                                                              \
		"/sys/fs/cgroup/system.slice/cgroup.procs", ""                                                         \
	}
#define AT_BOOT(unit)                                                                                                  \
	{                                                                                                              \
		"/etc/systemd/system/multi-user.target.wants/" unit ".service", "->/usr/lib/x"                         \
	}
#define SHIPPED(name, text)                                                                                            \
	{                                                                                                              \
		"/usr/lib/tuned/profiles/" name "/tuned.conf", text                                                    \
	}
#define OWN(text) {"/etc/tuned/profiles/mine/tuned.conf", text}, ACTIVE("mine")
#define POLICY(file, text)                                                                                             \
	{                                                                                                              \
		"/sys/devices/system/cpu/cpufreq/policy0/" file, text "\n"                                             \
	}
#define EPP_HOST(governor, epp)                                                                                        \
	POLICY("affected_cpus", "0"), POLICY("scaling_driver", "amd-pstate-epp"),                                      \
	    POLICY("scaling_governor", governor), POLICY("scaling_available_governors", "performance powersave"),      \
	    POLICY("energy_performance_preference", epp),                                                              \
	    POLICY("energy_performance_available_preferences",                                                         \
		   "default performance balance_performance balance_power power")

enum { FILES_MAX = 14 };

struct tuned_case {
	const char *id;
	int severity;
	const char *says;
	struct tree_file files[FILES_MAX];
};

static const struct tuned_case cases[] = {
    {"tuned.profile-not-found", ADVISE_FAIL, "mine", {ACTIVE("mine"), SHIPPED("balanced", "[cpu]\n")}},
    {"tuned.profile-not-found",
     ADVISE_FAIL,
     "mine",
     {ACTIVE("mine"), SHIPPED("balanced", "[cpu]\n"), {"/etc/tuned/mine/tuned.conf", "[cpu]\nboost=1\n"}}},
    {"tuned.profile-not-found", SILENT, NULL, {OWN("[cpu]\nboost=1\n"), SHIPPED("balanced", "[cpu]\n")}},
    {"tuned.profile-not-found", SILENT, NULL, {ACTIVE("mine")}}, /* no directory was captured: nothing is known */
    {"tuned.name-refused", ADVISE_FAIL, "characters", {ACTIVE("my$(id)")}},
    {"tuned.name-refused", SILENT, NULL, {ACTIVE("my-profile_1.2")}},
    {"tuned.include-not-found",
     ADVISE_FAIL,
     "gone",
     {OWN("[main]\ninclude=gone\n[cpu]\nboost=1\n"), SHIPPED("balanced", "[cpu]\n")}},
    {"tuned.include-not-found",
     SILENT,
     NULL,
     {OWN("[main]\ninclude=${f:virt_check:a:b}\n[cpu]\nboost=1\n"), SHIPPED("balanced", "[cpu]\n")}},
    {"tuned.syntax", ADVISE_FAIL, "neither", {OWN("[cpu]\ngovernor performance\n")}},
    {"tuned.syntax", SILENT, NULL, {OWN("[cpu]\ngovernor=performance # fast\n")}},
    {"tuned.not-running", ADVISE_INFO, "balanced", {ACTIVE("balanced"), NO_SERVICE}},
    {"tuned.not-running", SILENT, NULL, {ACTIVE("balanced"), RUNS("tuned")}},
    {"tuned.not-running", SILENT, NULL, {ACTIVE("balanced")}},
    {"tuned.no-profile", ADVISE_ADVICE, NULL, {ACTIVE(""), RUNS("tuned")}},
    {"tuned.no-profile", SILENT, NULL, {ACTIVE("balanced"), RUNS("tuned")}},
    {"tuned.left-behind",
     ADVISE_ADVICE,
     "swappiness 10, dirty_ratio 40",
     {ACTIVE(""), {"/proc/sys/vm/swappiness", "10\n"}, {"/proc/sys/vm/dirty_ratio", "40\n"}}},
    {"tuned.left-behind", SILENT, NULL, {ACTIVE(""), {"/proc/sys/vm/swappiness", "10\n"}}},
    {"tuned.left-behind",
     SILENT,
     NULL,
     {{"/proc/sys/vm/swappiness", "10\n"}, {"/proc/sys/vm/dirty_ratio", "40\n"}}}, /* no tuned here */
    {"tuned.settings-differ",
     ADVISE_ADVICE,
     "governor is powersave",
     {OWN("[cpu]\ngovernor=performance\n"), EPP_HOST("powersave", "power")}},
    {"tuned.settings-differ",
     ADVISE_ADVICE,
     "is power, not",
     {OWN("[cpu]\nenergy_performance_preference=balance_performance\n"), EPP_HOST("powersave", "power")}},
    {"tuned.settings-differ",
     SILENT,
     NULL,
     {OWN("[cpu]\ngovernor=schedutil|ondemand|powersave\nenergy_performance_preference=power|balance_power\n"),
      EPP_HOST("powersave", "power")}},
    {"tuned.settings-differ",
     SILENT,
     NULL,
     {OWN("[cpu]\nenergy_performance_preference=powersave\n"), EPP_HOST("powersave", "power")}},
    {"tuned.boot-words-not-booted",
     ADVISE_WARN,
     "skew_tick=1",
     {ACTIVE("balanced"),
      {"/etc/tuned/bootcmdline", "TUNED_BOOT_CMDLINE=\"skew_tick=1 nohz=on\"\n"},
      {"/proc/cmdline", "ro nohz=on\n"}}},
    {"tuned.boot-words-not-booted",
     SILENT,
     NULL,
     {ACTIVE("balanced"),
      {"/etc/tuned/bootcmdline", "TUNED_BOOT_CMDLINE=\"nohz=on\"\n"},
      {"/proc/cmdline", "ro nohz=on\n"}}},
    {"tuned.dynamic-tuning-latency",
     ADVISE_WARN,
     "C2 (400 us)",
     {ACTIVE("powersave"), {"/etc/tuned/tuned-main.conf", "dynamic_tuning = 1\n"}}},
    {"tuned.dynamic-tuning-latency",
     SILENT,
     NULL,
     {ACTIVE("powersave"), {"/etc/tuned/tuned-main.conf", "dynamic_tuning = 0\n"}}},
    {"tuned.dynamic-tuning-latency",
     SILENT,
     NULL,
     {ACTIVE("powersave"), {"/etc/tuned/tuned-main.conf", "daemon = 1\n"}}},
    {"tuned.latency-shuts-out-states", ADVISE_WARN, "70 us: it shuts out C2 (400 us)", {ACTIVE("virtual-host")}},
    {"tuned.latency-shuts-out-states", ADVISE_WARN, " 1 us", {ACTIVE("latency-performance")}},
    {"tuned.latency-shuts-out-states", SILENT, NULL, {ACTIVE("throughput-performance")}},
    {"tuned.latency-shuts-out-states", SILENT, NULL, {ACTIVE("virtual-host"), NO_SERVICE}},
    {"tuned.latency-shuts-out-states",
     SILENT,
     NULL,
     {ACTIVE("virtual-host"),
      {"/sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C3\n"},
      {"/sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "400\n"}}},
    {"tuned.latency-shuts-out-states",
     SILENT,
     NULL,
     {OWN("[main]\ninclude=virtual-host\n[cpu]\nforce_latency=None\n")}},
    {"tuned.latency-inherited", ADVISE_ADVICE, NULL, {OWN("[main]\ninclude=virtual-host\n[cpu]\nboost=1\n")}},
    {"tuned.latency-inherited", SILENT, NULL, {OWN("[main]\ninclude=virtual-host\n[cpu]\nforce_latency=None\n")}},
    {"tuned.epp-word", ADVISE_FAIL, "=powersave", {OWN("[cpu]\nenergy_performance_preference=powersave\n")}},
    {"tuned.epp-word", SILENT, NULL, {OWN("[cpu]\nenergy_performance_preference=balance-power|balance_power\n")}},
    {"tuned.epp-word", SILENT, NULL, {OWN("[cpu]\nenergy_performance_preference=64\n")}},
    {"tuned.governor-not-available",
     ADVISE_WARN,
     "governor=schedutil, which amd-pstate-epp does not have",
     {OWN("[cpu]\ngovernor=schedutil\n"), EPP_HOST("powersave", "power")}},
    {"tuned.governor-not-available",
     ADVISE_WARN,
     "governor=ondemand|conservative",
     {OWN("[cpu]\ngovernor=ondemand|conservative\n"), EPP_HOST("performance", "performance")}},
    {"tuned.governor-not-available",
     SILENT,
     NULL,
     {OWN("[cpu]\ngovernor=schedutil|ondemand|powersave\n"), EPP_HOST("powersave", "power")}},
    {"tuned.governor-not-available", SILENT, NULL, {ACTIVE("balanced"), EPP_HOST("powersave", "power")}},
    {"tuned.governor-not-available", SILENT, NULL, {OWN("[cpu]\ngovernor=${g}\n"), EPP_HOST("powersave", "power")}},
    /* where governors are modules, one that is not loaded may yet be */
    {"tuned.governor-not-available",
     SILENT,
     NULL,
     {OWN("[cpu]\ngovernor=conservative\n"), POLICY("scaling_driver", "acpi-cpufreq"),
      POLICY("scaling_available_governors", "performance schedutil")}},
    {"tuned.governor-not-available",
     ADVISE_WARN,
     "governor=on-demand is no governor of Linux",
     {OWN("[cpu]\ngovernor=on-demand\n")}},
    {"tuned.boost-file-missing",
     ADVISE_INFO,
     "on by default",
     {OWN("[cpu]\nboost=1\n"), EPP_HOST("powersave", "power")}},
    {"tuned.boost-file-missing",
     ADVISE_WARN,
     "boost stays on",
     {OWN("[cpu]\nboost=0\n"), EPP_HOST("powersave", "power")}},
    {"tuned.boost-file-missing",
     SILENT,
     NULL,
     {OWN("[cpu]\nboost=1\n"), EPP_HOST("powersave", "power"), POLICY("boost", "1")}},
    {"tuned.boost-file-missing", SILENT, NULL, {OWN("[cpu]\nboost=1\n")}}, /* no driver, nothing to say */
    {"tuned.intel-options", ADVISE_INFO, "harmless", {ACTIVE("throughput-performance")}},
    {"tuned.intel-options", SILENT, NULL, {OWN("[cpu]\ngovernor=performance\n")}},
    {"tuned.isolated-cores-syntax", ADVISE_FAIL, NULL, {OWN("[scheduler]\nisolated_cores=2-x\n")}},
    {"tuned.isolated-cores-syntax", SILENT, NULL, {OWN("[scheduler]\nisolated_cores=2,6\n")}},
    {"tuned.isolated-cores-offline", ADVISE_FAIL, "8-9", {OWN("[scheduler]\nisolated_cores=6-9\n")}},
    {"tuned.isolated-cores-offline", SILENT, NULL, {OWN("[scheduler]\nisolated_cores=2,6\n")}},
    {"tuned.isolated-cores-split", ADVISE_WARN, "sibling threads 6", {OWN("[scheduler]\nisolated_cores=2\n")}},
    {"tuned.isolated-cores-split", SILENT, NULL, {OWN("[scheduler]\nisolated_cores=2,6\n")}},
    {"tuned.isolation-by-design",
     ADVISE_INFO,
     "by design",
     {ACTIVE("cpu-partitioning"),
      {"/etc/tuned/cpu-partitioning-variables.conf", "isolated_cores=2,6\n"},
      {"/sys/devices/system/cpu/isolated", "\n"}}},
    {"tuned.isolation-by-design",
     SILENT,
     NULL,
     {ACTIVE("cpu-partitioning"),
      {"/etc/tuned/cpu-partitioning-variables.conf", "isolated_cores=2,6\n"},
      {"/sys/devices/system/cpu/isolated", "2,6\n"}}},
    {"tuned.wrong-side", ADVISE_ADVICE, "virtual-guest", {ACTIVE("virtual-guest")}},
    {"tuned.wrong-side",
     ADVISE_ADVICE,
     "virtual-host",
     {ACTIVE("virtual-host"), {"/sys/class/dmi/id/sys_vendor", "QEMU\n"}}},
    {"tuned.wrong-side", SILENT, NULL, {ACTIVE("virtual-host")}},
    {"tuned.realtime-disables-pstate",
     ADVISE_ADVICE,
     NULL,
     {ACTIVE("realtime-virtual-host"), {"/proc/cmdline", "ro amd_pstate=disable\n"}}},
    {"tuned.realtime-disables-pstate",
     SILENT,
     NULL,
     {ACTIVE("throughput-performance"), {"/proc/cmdline", "ro amd_pstate=disable\n"}}},
    {"tuned.thp-skipped",
     ADVISE_ADVICE,
     "always",
     {OWN("[vm]\ntransparent_hugepages=always\n"), {"/proc/cmdline", "ro transparent_hugepage=never\n"}}},
    {"tuned.thp-skipped",
     SILENT,
     NULL,
     {OWN("[vm]\ntransparent_hugepages=never\n"), {"/proc/cmdline", "ro transparent_hugepage=never\n"}}},
    {"tuned.profile-idle-power", ADVISE_INFO, NULL, {ACTIVE("throughput-performance")}},
    {"tuned.profile-idle-power", SILENT, NULL, {ACTIVE("balanced")}},
    {"tuned.saves-power-on-vm-host", ADVISE_ADVICE, "powersave", {ACTIVE("powersave")}},
    {"tuned.saves-power-on-vm-host", SILENT, NULL, {ACTIVE("balanced"), EPP_HOST("powersave", "balance_performance")}},
    {"tuned.boot-loader-not-served",
     ADVISE_WARN,
     NULL,
     {OWN("[bootloader]\ncmdline_mine=+iommu=pt\n"),
      {"/etc/pve/storage.cfg", "x\n"},
      {"/etc/kernel/cmdline", "root=ZFS=rpool/ROOT\n"},
      {"/etc/kernel/proxmox-boot-uuids", "1234-ABCD\n"}}},
    {"tuned.boot-loader-not-served", SILENT, NULL, {OWN("[bootloader]\ncmdline_mine=+iommu=pt\n")}},
    {"tuned.unknown-plugin", ADVISE_WARN, "sysctl", {OWN("[sysctll]\nvm.swappiness=1\n")}},
    {"tuned.unknown-plugin", ADVISE_INFO, NULL, {OWN("[quantum]\nx=1\n")}},
    {"tuned.unknown-plugin", SILENT, NULL, {OWN("[mine]\ntype=sysfs\n/sys/kernel/mm/ksm/run=0\n")}},
    {"tuned.unknown-option", ADVISE_WARN, "governor", {OWN("[cpu]\ngoverner=performance\n")}},
    {"tuned.unknown-option", SILENT, NULL, {OWN("[cpu]\npriority=10\nsampling_down_factor=1\n")}},
    {"tuned.script-in-writable-place", ADVISE_WARN, "/tmp/x.sh", {OWN("[script]\nscript=/tmp/x.sh\n")}},
    {"tuned.script-in-writable-place", SILENT, NULL, {OWN("[script]\nscript=${i:PROFILE_DIR}/script.sh\n")}},
    {"tuned.sysfs-path", ADVISE_WARN, "/proc/sys", {OWN("[sysfs]\n/proc/sys/vm/swappiness=1\n")}},
    {"tuned.sysfs-path", SILENT, NULL, {OWN("[sysfs]\n/sys/kernel/mm/ksm/run=0\n")}},
    {"tuned.sysctl-gone", ADVISE_ADVICE, NULL, {OWN("[sysctl]\nkernel.sched_migration_cost_ns=1\n")}},
    {"tuned.sysctl-gone", SILENT, NULL, {OWN("[scheduler]\nsched_migration_cost_ns=1\n")}},

    {"daemon.two-power-daemons",
     ADVISE_WARN,
     "tuned and power-profiles-daemon",
     {RUNS("tuned"), RUNS("power-profiles-daemon")}},
    {"daemon.two-power-daemons", ADVISE_WARN, "tuned and tlp", {RUNS("tuned"), AT_BOOT("tlp")}},
    {"daemon.two-power-daemons", SILENT, NULL, {RUNS("tuned"), RUNS("tuned-ppd"), RUNS("irqbalance")}},
    {"daemon.tlp-shut-out", ADVISE_WARN, NULL, {RUNS("power-profiles-daemon"), AT_BOOT("tlp")}},
    {"daemon.tlp-shut-out", SILENT, NULL, {NO_SERVICE, AT_BOOT("tlp")}},
    {"daemon.tuned-ppd-twice", ADVISE_WARN, NULL, {RUNS("tuned-ppd"), RUNS("power-profiles-daemon")}},
    {"daemon.tuned-ppd-twice", SILENT, NULL, {RUNS("tuned-ppd")}},
    {"daemon.tuned-ppd-switches", ADVISE_INFO, NULL, {RUNS("tuned"), RUNS("tuned-ppd")}},
    {"daemon.tuned-ppd-switches", SILENT, NULL, {RUNS("tuned")}},
    {"daemon.cpupower-beside-tuned", ADVISE_ADVICE, "cpupower", {RUNS("tuned"), AT_BOOT("cpupower")}},
    {"daemon.cpupower-beside-tuned", SILENT, NULL, {NO_SERVICE, AT_BOOT("cpupower")}},
    {"daemon.irqbalance-overrides-irqaffinity",
     ADVISE_ADVICE,
     "irqaffinity=0",
     {RUNS("irqbalance"), {"/proc/cmdline", "ro irqaffinity=0\n"}}},
    {"daemon.irqbalance-overrides-irqaffinity", SILENT, NULL, {RUNS("irqbalance"), {"/proc/cmdline", "ro\n"}}},
    {"daemon.irqbalance-and-isolation",
     ADVISE_INFO,
     "2,6",
     {RUNS("irqbalance"), {"/sys/devices/system/cpu/isolated", "2,6\n"}}},
    {"daemon.irqbalance-and-isolation", SILENT, NULL, {RUNS("irqbalance"), {"/sys/devices/system/cpu/isolated", "\n"}}},
    {"daemon.numad", ADVISE_ADVICE, NULL, {RUNS("numad")}},
    {"daemon.numad", SILENT, NULL, {NO_SERVICE}},
    {"daemon.ksmtuned-waits", ADVISE_INFO, NULL, {RUNS("ksmtuned"), {"/sys/kernel/mm/ksm/run", "0\n"}}},
    {"daemon.ksmtuned-waits", SILENT, NULL, {RUNS("ksmtuned"), {"/sys/kernel/mm/ksm/run", "1\n"}}},
    {"daemon.sched-ext",
     ADVISE_INFO,
     "lavd",
     {{"/sys/kernel/sched_ext/state", "enabled\n"}, {"/sys/kernel/sched_ext/root/ops", "lavd\n"}}},
    {"daemon.sched-ext", SILENT, NULL, {{"/sys/kernel/sched_ext/state", "disabled\n"}}},
    {"daemon.auto-cpufreq", ADVISE_ADVICE, NULL, {RUNS("auto-cpufreq")}},
    {"daemon.auto-cpufreq", SILENT, NULL, {NO_SERVICE}},
    {"daemon.thermald-on-amd", ADVISE_INFO, NULL, {RUNS("thermald")}},
    {"daemon.thermald-on-amd", SILENT, NULL, {NO_SERVICE}},
    {"daemon.gamemode", ADVISE_INFO, NULL, {{"/proc/1/comm", "init\n"}, {"/proc/5/comm", "gamemoded\n"}}},
    {"daemon.gamemode", SILENT, NULL, {{"/proc/1/comm", "init\n"}}},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tree *tree = lines_host();
		char what[64];

		tree_add(tree, cases[i].files);
		(void)snprintf(what, sizeof(what), "case %zu", i + 1);
		struct advise_result *result = tree_advise(tree);

		lines_expect(result, what, cases[i].id, cases[i].severity, cases[i].says);
		(void)advise_result_free(result);
		(void)tree_free(tree);
	}
}

static struct advise_result *judge_log(struct tree *tree, const char *log)
{
	const struct advise_subject subject = {
	    .host = tree_host(tree), .verify_log = log, .path = "tuned.log", .rule_prefixes = "tuned.verify"};

	return advise_run(&subject);
}

static void test_verify(void **state)
{
	static const char conservative[] =
	    "ERROR tuned.plugins.plugin_modules: verify: failed: module cpufreq_conservative is not loaded\n"
	    "INFO tuned.plugins.base: verify: passed: device cpu0: governor = powersave\n";
	static const char differs[] =
	    "INFO tuned.plugins.base: verify: passed: 'governor' = 'performance'\n"
	    "ERROR tuned.plugins.base: verify: failed: 'vm.swappiness' = '60', expected '10'\n"
	    "ERROR tuned.plugins.base: verify: failed: device cpu0: 'energy_perf_bias' = 'None', expected 'normal'\n";
	struct tree *tree = lines_host();
	struct advise_result *result = judge_log(tree, conservative);

	(void)state;
	lines_expect(result, "conservative", "tuned.verify-harmless", ADVISE_INFO,
		     "harmless reasons only: cpufreq_conservative");
	lines_expect(result, "conservative", "tuned.verify-differs", SILENT, NULL);
	lines_expect(result, "conservative", "tuned.verify-clean", SILENT, NULL);
	(void)advise_result_free(result);
	result = judge_log(tree, differs);
	lines_expect(result, "differs", "tuned.verify-differs", ADVISE_WARN, "vm.swappiness");
	lines_expect(result, "differs", "tuned.verify-harmless", ADVISE_INFO, "One of the failed lines");
	assert_int_equal(tree_find(result, "tuned.verify-differs")->line, 2);
	assert_int_equal(tree_find(result, "tuned.verify-differs")->column, 27);
	(void)advise_result_free(result);
	result = judge_log(tree, "INFO tuned: verify: passed: a\nINFO tuned: starting\n");
	lines_expect(result, "clean", "tuned.verify-clean", ADVISE_GOOD, NULL);
	lines_expect(result, "clean", "tuned.verify-harmless", SILENT, NULL);
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

/* A linted profile takes the place of the active one, and points into its own file. */
static void test_linted(void **state)
{
	static const struct tree_file files[] = {ACTIVE("balanced"), {NULL, NULL}};
	struct tree *tree = lines_host();
	struct tuned_profile profile;

	(void)state;
	tree_add(tree, files);
	struct host *host = tree_host(tree);

	assert_int_equal(tuned_profile_parse(host, "own.conf",
					     "[main]\ninclude=virtual-host\n\n[cpu]\nboost=yes\ngovner=x\n", &profile,
					     NULL),
			 0);
	const struct advise_subject subject = {
	    .host = host, .profile = &profile, .path = "own.conf", .rule_prefixes = "tuned."};
	struct advise_result *result = advise_run(&subject);

	lines_expect(result, "linted", "tuned.latency-shuts-out-states", ADVISE_WARN, "This profile");
	lines_expect(result, "linted", "tuned.unknown-option", ADVISE_WARN, "govner");
	lines_expect(result, "linted", "tuned.profile-not-found", SILENT, NULL);
	assert_int_equal(tree_find(result, "tuned.unknown-option")->line, 6);
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

static void test_covered(void **state)
{
	static const char own[] = "tuned.verify-differs tuned.verify-harmless tuned.verify-clean";
	static const struct advise_rule *const tables[] = {advise_tuned_rules, advise_tuned_option_rules,
							   advise_tuned_profile_rules, advise_daemon_rules};

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct advise_rule *rule = tables[t]; rule->id; rule++) {
			bool fires = false, silent = false;

			for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
				if (text_equal(cases[i].id, rule->id)) {
					fires |= cases[i].severity != SILENT;
					silent |= cases[i].severity == SILENT;
				}
			if ((!fires || !silent) && !text_has_word(own, " ", rule->id))
				fail_msg("%s has no case in which it %s", rule->id, fires ? "is silent" : "fires");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_verify),
	    cmocka_unit_test(test_linted),
	    cmocka_unit_test(test_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
