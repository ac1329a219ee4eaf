/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of settings that are handed to tuned: what the profile says, for which tuned, and there and back. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"
#include "fake_bus.h"
#include "knob_tuned_own.h"
#include "text.h"
#include "unit.h"

#define EPP "/sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference"
#define GOVERNOR "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor"
#define LIMIT "/sys/devices/system/cpu/cpufreq/policy2/scaling_max_freq"

static void begin(struct kernel *kernel, const struct crash_scene *scene, void *data)
{
	(void)data, (void)scene;
	kernel_start(kernel, "active");
	fake_systemd_install(kernel);
	fake_tuned_install(kernel);
	fake_services_start(&fake_bus_shared, kernel);
}

static void end(struct kernel *kernel, void *data)
{
	(void)data;
	fake_services_stop(&fake_bus_shared);
	kernel_stop(kernel);
}

static void open_machine(struct kernel *kernel, struct knob_machine *ret)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	struct err err = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, &gate, ret, &err), 0);
	ret->bus_address = kernel->bus_address;
}

static size_t parse(struct knob_machine *machine, const char *const *texts, struct knob_ask *ret)
{
	size_t count = 0;
	struct err err = {0};

	for (; texts[count]; count++)
		assert_int_equal(knob_ask_parse(machine->arena, texts[count], &ret[count], &err), 0);
	return count;
}

/* What `hvtune set --through tuned` does. */
static int hand_over(struct kernel *kernel, const char *const *texts, struct err *err)
{
	const struct knob_apply_options options = {.what = "a test"};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	const struct knob_ask *all = NULL;
	struct knob_ask asks[CRASH_ASKS];
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	size_t count;
	int r;

	open_machine(kernel, &machine);
	count = parse(&machine, texts, asks);
	r = knob_tuned_hand_over(&machine, asks, count, &all, &count, err);
	if (r == 0)
		r = knob_plan_make(&machine, all, count, &plan, err);
	return r < 0 ? r : knob_apply(&machine, &plan, &options, &report, err);
}

static void assert_holds(const struct kernel *kernel, const char *path, const char *wanted)
{
	char text[4096];

	kernel_read(kernel, path, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void text_by_version(void **state)
{
	static const struct {
		int minor;
		const char *asks[CRASH_ASKS], *text; /* NULL: refused */
	} cases[] = {
	    {20,
	     {"governor=powersave", "epp=balance_performance", "swappiness=10"},
	     "[cpu]\ngovernor=powersave\nenergy_performance_preference=balance_performance\n\n[sysctl]\n"
	     "vm.swappiness=10\n"},
	    {20, {"dirty_bytes=1048576"}, "[sysctl]\ndrop=vm.dirty_ratio\nvm.dirty_bytes=1048576\n"},
	    {26, {"dirty_bytes=1048576"}, "[vm]\ndrop=dirty_ratio\ndirty_bytes=1048576\n"},
	    {20, {"boost=0"}, "[sysfs]\n/sys/devices/system/cpu/cpufreq/boost=0\n"},
	    {24, {"boost=0"}, "[cpu]\nboost=0\n"},
	    {20,
	     {"thp=never", "ksm=0"},
	     "[vm]\ndrop=transparent_hugepage\ntransparent_hugepages=never\n\n[sysfs]\n/sys/kernel/mm/ksm/run=0\n"},
	    {20, {"latency.hold=50"}, "[cpu]\nforce_latency=50\n"},
	    {20, {"latency.hold=off"}, "[cpu]\nforce_latency=None\n"},
	    {20, {"max_freq=2000000"}, "[sysfs]\n/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq=2000000\n"},
	    {19, {"epp=power"}, NULL},
	    {28, {"governor@0-1=powersave"}, NULL},
	    {28, {"service.irqbalance=off"}, NULL},
	    {28, {"tuned.profile=balanced"}, NULL},
	};
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel, "active");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_ask asks[CRASH_ASKS];
		const char *text = NULL;
		struct err err = {0};
		int r;

		open_machine(&kernel, &machine);
		r = knob_tuned_profile_text(&machine, "balanced", NULL, cases[i].minor, asks,
					    parse(&machine, cases[i].asks, asks), &text, &err);
		assert_int_equal(r, cases[i].text ? 0 : -EINVAL);
		if (!cases[i].text)
			continue;
		assert_non_null(strstr(text, "\ninclude=balanced\n\n"));
		assert_string_equal(strstr(text, "\n\n") + 2, cases[i].text);
	}
	kernel_stop(&kernel);
}

static void there_and_back(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	if (hand_over(&kernel, (const char *[]){"governor=performance", "max_freq=2000000", NULL}, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
	assert_holds(&kernel, "/etc/tuned/active_profile", "hvtune");
	assert_holds(&kernel, GOVERNOR, "performance");
	assert_holds(&kernel, LIMIT, "2000000");
	/* It is tuned that holds it now: also after its next start. */
	fake_services_stop(&fake_bus_shared);
	kernel_write(&kernel, LIMIT, "3700000");
	fake_services_start(&fake_bus_shared, &kernel);
	assert_holds(&kernel, LIMIT, "2000000");
	crash_check_undone(&kernel, before, "handed over");
	end(&kernel, NULL);
}

/* The second profile keeps what the first one set, and its undo leads back to the first. */
static void one_after_the_other(void **state)
{
	struct kernel kernel;
	struct err err = {0};
	char text[4096];

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	assert_int_equal(hand_over(&kernel, (const char *[]){"swappiness=5", "ksm=0", NULL}, &err), 0);
	CLEANUP(base_free) char *first = kernel_dump(&kernel);

	assert_int_equal(hand_over(&kernel, (const char *[]){"ksm=2", "epp=power", NULL}, &err), 0);
	assert_holds(&kernel, "/etc/tuned/active_profile", "hvtune-2");
	kernel_read(&kernel, "/etc/tuned/hvtune-2/tuned.conf", text, sizeof(text));
	assert_non_null(strstr(text, "\ninclude=balanced\n"));
	assert_non_null(strstr(text, "\nvm.swappiness=5\n"));
	assert_non_null(strstr(text, "\n/sys/kernel/mm/ksm/run=2"));
	assert_holds(&kernel, "/proc/sys/vm/swappiness", "5");
	assert_holds(&kernel, EPP, "power");
	crash_check_undone(&kernel, first, "the second");
	crash_check_undone(&kernel, before, "the first");
	end(&kernel, NULL);
}

/* A twin that is inherited would win or lose by chance: it is dropped. */
static void inherited_twin(void **state)
{
	struct kernel kernel;
	struct err err = {0};
	const struct crash_scene scene = {NULL, {"tuned.profile=throughput-performance"}, NULL};

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	assert_int_equal(crash_apply(&kernel, &scene, &err), 0);
	assert_holds(&kernel, "/proc/sys/vm/dirty_ratio", "40");
	assert_int_equal(hand_over(&kernel, (const char *[]){"dirty_bytes=1048576", NULL}, &err), 0);
	assert_holds(&kernel, "/proc/sys/vm/dirty_bytes", "1048576");
	assert_holds(&kernel, "/proc/sys/vm/dirty_ratio", "0");
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_holds(&kernel, "/proc/sys/vm/dirty_ratio", "40");
	crash_check_undone(&kernel, before, "both");
	end(&kernel, NULL);
}

/* Killed at any call of handing over, or of the undo of it: undo gives back everything, tuned's choice and all. */
static void killed_anywhere(bool in_undo)
{
	static const char *const texts[] = {"governor=performance", "swappiness=5", NULL};
	long at = 1;

	for (bool dead = true; dead; at++) {
		struct kernel kernel;
		char how[64];
		pid_t pid;
		int status = 0;

		begin(&kernel, NULL, NULL);
		CLEANUP(base_free) char *before = kernel_dump(&kernel);
		struct err err = {0};

		if (in_undo)
			assert_int_equal(hand_over(&kernel, texts, &err), 0);
		(void)fflush(NULL);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			kernel.calls = 0;
			kernel.kill_at = at;
			_exit(in_undo ? -crash_undo(&kernel, &err) : -hand_over(&kernel, texts, &err));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		dead = WIFSIGNALED(status);
		(void)snprintf(how, sizeof(how), "%s killed at %ld", in_undo ? "undo" : "hand-over", at);
		crash_check_undone(&kernel, before, how);
		end(&kernel, NULL);
	}
	assert_true(at > 10);
}

static void killed_in_hand_over(void **state)
{
	(void)state;
	killed_anywhere(false);
}

static void killed_in_undo(void **state)
{
	(void)state;
	killed_anywhere(true);
}

static void refusals(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	tree_write(kernel.tree, "/proc/cmdline", "quiet transparent_hugepage=madvise\n");
	assert_int_equal(hand_over(&kernel, (const char *[]){"thp=never", NULL}, &err), -EINVAL);
	assert_non_null(strstr(err.what, "command line"));
	assert_int_equal(hand_over(&kernel, (const char *[]){"governor=fastest", NULL}, &err), -EINVAL);
	assert_int_equal(hand_over(&kernel, (const char *[]){"tuned.own@other=x", NULL}, &err), -EINVAL);
	tree_write(kernel.tree, "/etc/tuned/tuned-main.conf", "profile_dirs = /usr/lib/tuned,/srv/tuned\n");
	assert_int_equal(hand_over(&kernel, (const char *[]){"ksm=0", NULL}, &err), -ENOENT);
	fake_services_stop(&fake_bus_shared);
	assert_int_equal(hand_over(&kernel, (const char *[]){"ksm=0", NULL}, &err), -ECONNREFUSED);
	kernel_stop(&kernel);
}

/* Which directory: it moved in 2.23. */
static void directory_by_version(void **state)
{
	struct kernel kernel;
	struct err err = {0};
	char text[4096];

	(void)state;
	begin(&kernel, NULL, NULL);
	tree_write(kernel.tree, "/usr/lib/tuned/profiles/balanced/tuned.conf", "[cpu]\ngovernor=powersave\n");
	tree_write(kernel.tree, "/usr/lib/python3/dist-packages/tuned/version.py",
		   "TUNED_VERSION_MAJOR = 2\nTUNED_VERSION_MINOR = 27\nTUNED_VERSION_PATCH = 0\n");
	/* The tuned of the tests is an old one and does not find it there; hvtune puts all back. */
	assert_int_equal(hand_over(&kernel, (const char *[]){"ksm=0", NULL}, &err), -EPROTO);
	assert_string_equal(err.what, "it says: Requested profile 'hvtune' doesn't exist.");
	kernel_read(&kernel, "/etc/tuned/profiles/hvtune/tuned.conf", text, sizeof(text));
	assert_string_equal(text, "");
	end(&kernel, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_by_version),
	    cmocka_unit_test(there_and_back),
	    cmocka_unit_test(one_after_the_other),
	    cmocka_unit_test(inherited_twin),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(directory_by_version),
	    cmocka_unit_test(killed_in_hand_over),
	    cmocka_unit_test(killed_in_undo),
	};

	return cmocka_run_group_tests(tests, fake_bus_group_start, fake_bus_group_stop);
}
