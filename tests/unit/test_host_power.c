/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of facts on sources of energy and on KVM's modules. */
#include <errno.h>

#include "unit.h"
#include "healthy.h"
#include "host.h"
#include "text.h"

#define RAPL "/sys/class/powercap/"
#define PERF "/sys/bus/event_source/devices/power/events/"

static const struct power_source *source_of(const struct host_power *power, const char *kind, const char *name)
{
	for (int i = 0; i < power->count; i++)
		if (text_equal(power->sources[i].kind, kind) && text_equal(power->sources[i].name, name))
			return &power->sources[i];
	return NULL;
}

static void test_sources(void **state)
{
	static const struct tree_file changes[] = {
	    {RAPL "intel-rapl:1/name", "package-1\n"},
	    {RAPL "intel-rapl:1/energy_uj", "5\n"},
	    {RAPL "intel-rapl:0:0/name", "core\n"},
	    {RAPL "intel-rapl:0:0/energy_uj", "5\n"},
	    {RAPL "intel-rapl:2/name", "package-0-die-1\n"},
	    {RAPL "intel-rapl:2/energy_uj/", ""}, /* cannot be read */
	    {RAPL "dtpm/name", "x\n"},
	    {PERF "energy-pkg", "event=0x02\n"},
	    {PERF "energy-pkg.scale", "2.3283064365386962890625e-10\n"},
	    {"/sys/class/hwmon/hwmon7/name", "amd_hsmp_hwmon\n"},
	    {"/sys/class/hwmon/hwmon7/power1_input", "4294967295000\n"},
	    {"/sys/class/hwmon/hwmon8/device/power1_average", "90000000\n"}, /* an old kernel's meter has no name */
	    {"/sys/class/hwmon/hwmon9/name", "nvme\n"},
	    {"/sys/class/hwmon/hwmon9/power1_input", "5000000\n"},
	    {"/dev/hsmp", ""},
	    {"/dev/ipmi0", ""},
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	const struct host_power *power = &tree_host(tree)->power;

	assert_true(fact_is_on(&power->energy));
	assert_true(fact_is_on(&source_of(power, "powercap", "package-0")->usable));
	assert_string_equal(source_of(power, "powercap", "core")->boundary, "core");
	assert_false(source_of(power, "powercap", "package-1")->duplicate);
	assert_true(source_of(power, "powercap", "package-0-die-1")->duplicate);
	assert_int_equal(source_of(power, "powercap", "package-0-die-1")->package, 0);
	assert_int_equal(source_of(power, "powercap", "package-0-die-1")->usable.state, FACT_UNREADABLE);
	assert_null(source_of(power, "powercap", "x"));
	assert_non_null(source_of(power, "perf", "energy-pkg"));
	assert_null(source_of(power, "perf", "energy-pkg.scale"));
	assert_int_equal(source_of(power, "hwmon", "amd_hsmp_hwmon")->usable.state, FACT_IMPLAUSIBLE);
	assert_non_null(source_of(power, "hwmon", "power_meter"));
	assert_non_null(source_of(power, "hsmp", "hsmp"));
	assert_non_null(source_of(power, "ipmi", "ipmi0"));
	assert_true(fact_is_text(&power->temperature, "k10temp"));
	/* 3 packages zones + core, perf, two meters, hsmp_hwmon, hsmp, ipmi; the NVMe is none of the host's sources. */
	assert_int_equal(power->count, 10);
	(void)tree_free(tree);
}

/* Who could not read the device of mode 0600 was not root: perf and IPMI then need it. */
static void test_root(void **state)
{
	static const struct tree_file changes[] = {
	    {"/dev/cpu_dma_latency", GONE}, {"/dev/ipmi0", ""}, {PERF "energy-pkg", "event=0x02\n"}, {NULL, NULL}};
	static const struct tree_file paranoid[] = {{"/proc/sys/kernel/perf_event_paranoid", "0\n"}, {NULL, NULL}};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	const struct host_power *power = &tree_host(tree)->power;

	assert_int_equal(source_of(power, "perf", "energy-pkg")->usable.errnum, EACCES);
	assert_int_equal(source_of(power, "ipmi", "ipmi0")->usable.errnum, EACCES);
	(void)tree_free(tree);

	tree = healthy_new();
	healthy_change(tree, changes);
	healthy_change(tree, paranoid);
	assert_true(fact_is_on(&source_of(&tree_host(tree)->power, "perf", "energy-pkg")->usable));
	(void)tree_free(tree);
}

static void test_nothing(void **state)
{
	static const struct tree_file changes[] = {
	    {"/sys/class", GONE}, {"/sys/module", GONE}, {"/dev", GONE}, {NULL, NULL}};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	const struct host *host = tree_host(tree);

	assert_int_equal(host->power.count, 0);
	assert_int_equal(host->power.energy.state, FACT_ABSENT);
	assert_false(host->power.looked);
	assert_int_equal(host->kvm.device.state, FACT_ABSENT);
	assert_int_equal(host->kvm.module_kvm.state, FACT_ABSENT);
	assert_int_equal(host->kvm.parameter_count, 0);
	(void)tree_free(tree);
}

static void test_kvm(void **state)
{
	static const struct tree_file changes[] = {
	    {"/sys/module/vhost_net", GONE},
	    {"/sys/module/kvm_amd/parameters/avic", "auto\n"},
	    {"/sys/module/kvm/parameters/nx_huge_pages", "never\n"},
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	const struct host_kvm *kvm = &tree_host(tree)->kvm;

	assert_true(fact_is_on(&kvm->module_kvm));
	assert_true(fact_is_on(&kvm->module_vendor));
	assert_true(fact_is_off(&kvm->module_vhost_net));
	assert_true(fact_is_on(&kvm->device));
	assert_true(fact_is_on(&kvm->npt));
	assert_true(fact_is_off(&kvm->nx_huge_pages));
	assert_int_equal(kvm->avic.state, FACT_ABSENT);
	assert_true(fact_is_number(&kvm->halt_poll_ns, 200000));
	assert_true(fact_is_text(host_kvm_parameter(kvm, "kvm_amd", "vgif"), "1"));
	assert_null(host_kvm_parameter(kvm, "kvm_amd", "ept"));
	(void)tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sources),
	    cmocka_unit_test(test_root),
	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_kvm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
