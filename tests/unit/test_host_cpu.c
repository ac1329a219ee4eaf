/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the CPU's identity: /proc/cpuinfo, generations, names. */
#include "unit.h"

#include "text.h"
#include "tree.h"

static void test_cpuinfo(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
			      "model name\t: AMD EPYC 9354P 32-Core Processor\nstepping\t: 1\nmicrocode\t: 0xa101148\n"
			      "flags\t\t: fpu svm npt cppc\n\n"
			      "processor\t: 1\nvendor_id\t: GenuineIntel\nmodel\t\t: 99\nmicrocode\t: 0xa101148\n\n"
			      "processor\t: 5\nmicrocode\t: 0xa10113e\nflags\t\t: hypervisor\n"},
	    {"/sys/devices/system/cpu/nohz_full", "  (null)\n"},
	    {"/sys/devices/system/cpu/isolated", "\n"},
	    {"/sys/devices/system/cpu/smt/active", "1\n"},
	    {NULL, NULL},
	};
	struct tree *tree = tree_new(files);
	const struct host_cpu *cpu = &tree_host(tree)->cpu;

	(void)state;
	assert_true(fact_is_text(&cpu->vendor, "AuthenticAMD"));
	assert_true(fact_is_number(&cpu->family, 25));
	assert_true(fact_is_number(&cpu->model, 17));
	assert_true(fact_is_number(&cpu->stepping, 1));
	assert_true(fact_is_text(&cpu->microcode, "0xa101148"));
	assert_true(fact_is_on(&cpu->microcode_mixed));
	assert_non_null(strstr(cpu->microcode_mixed.note, "CPUs 5 "));
	assert_true(host_cpu_has_flag(cpu, "cppc"));
	assert_false(host_cpu_has_flag(cpu, "hypervisor"));
	assert_false(host_cpu_has_flag(cpu, "cpp"));
	assert_true(cpu->is_amd && cpu->zen == ZEN_4 && cpu->one_l3_per_ccd);
	assert_string_equal(cpu->codename, "Genoa");
	/* Without a list of what is on line, the numbers of cpuinfo are. */
	assert_true(fact_known(&cpu->online));
	assert_int_equal(cpuset_count(cpu->online.cpus), 3);
	assert_true(cpuset_has(cpu->online.cpus, 5));
	/* The kernel's words for an empty list. */
	assert_true(fact_known(&cpu->nohz_full) && cpuset_empty(cpu->nohz_full.cpus));
	assert_true(fact_known(&cpu->isolated) && cpuset_empty(cpu->isolated.cpus));
	assert_true(fact_is_on(&cpu->smt_active));
	assert_int_equal(cpu->smt_control.state, FACT_ABSENT);
	tree_free(tree);
}

static void test_strange_cpuinfo(void **state)
{
	static const char *const texts[] = {"processor", "processor\t: 99999999999\nmodel\t\t: many\n", ":\n:\n",
					    "model name\t:\n\nmicrocode\t:\n",
					    "processor\t: 0\nflags\t\t:\nstepping\t: unknown"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct tree *tree = tree_new(NULL);

		tree_write(tree, "/proc/cpuinfo", texts[i]);
		const struct host_cpu *cpu = &tree_host(tree)->cpu;

		assert_false(fact_known(&cpu->family));
		assert_false(fact_known(&cpu->model));
		assert_false(fact_known(&cpu->stepping));
		assert_false(cpu->is_amd);
		tree_free(tree);
	}
}

static void test_generations(void **state)
{
	static const struct {
		const char *vendor;
		int family, model;
		const char *name, *zen, *codename;
		bool one_l3;
	} cases[] = {
	    {"AuthenticAMD", 0x17, 0x01, "AMD EPYC 7601 32-Core Processor", "Zen", "Naples", false},
	    {"AuthenticAMD", 0x17, 0x01, "AMD Ryzen Threadripper 1950X 16-Core Processor", "Zen", "Whitehaven", false},
	    {"AuthenticAMD", 0x17, 0x08, "AMD Ryzen 5 2600 Six-Core Processor", "Zen+", "Pinnacle Ridge", false},
	    {"AuthenticAMD", 0x17, 0x31, "AMD EPYC 7742 64-Core Processor", "Zen 2", "Rome", false},
	    {"AuthenticAMD", 0x17, 0x71, "AMD Ryzen 9 3950X 16-Core Processor", "Zen 2", "Matisse", false},
	    {"AuthenticAMD", 0x19, 0x01, "AMD EPYC 7763 64-Core Processor", "Zen 3", "Milan", true},
	    {"AuthenticAMD", 0x19, 0x21, "AMD Ryzen 9 5950X 16-Core Processor", "Zen 3", "Vermeer", true},
	    {"AuthenticAMD", 0x19, 0x50, "AMD Ryzen 7 5800H", "Zen 3", "Cezanne", false},
	    {"AuthenticAMD", 0x19, 0x11, "AMD EPYC 9654 96-Core Processor", "Zen 4", "Genoa", true},
	    {"AuthenticAMD", 0x19, 0xa0, "AMD EPYC 9754 128-Core Processor", "Zen 4c", "Bergamo", false},
	    {"AuthenticAMD", 0x19, 0xa0, "AMD EPYC 8534P 64-Core Processor", "Zen 4c", "Siena", false},
	    {"AuthenticAMD", 0x1a, 0x02, "AMD EPYC 9755 128-Core Processor", "Zen 5", "Turin", true},
	    {"AuthenticAMD", 0x1a, 0x11, "AMD EPYC 9965 192-Core Processor", "Zen 5c", "Turin Dense", true},
	    {"AuthenticAMD", 0x1a, 0x24, "AMD Ryzen AI 9 HX 370", "Zen 5", "Strix Point", false},
	    {"AuthenticAMD", 0x1a, 0x90, "a part to come", NULL, NULL, false},
	    {"HygonGenuine", 0x18, 0x00, "Hygon C86 7185 32-core Processor", "Zen", "Dhyana", false},
	    {"AuthenticAMD", 0x15, 0x02, "AMD FX(tm)-8350 Eight-Core Processor", NULL, NULL, false},
	    {"GenuineIntel", 0x19, 0x01, "no such part", NULL, NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct host_cpu cpu;

		host_cpu_forget(&cpu, "test");
		cpu.vendor = fact_text("cpu.vendor", cases[i].vendor, "test");
		cpu.family = fact_number("cpu.family", UNIT_NONE, cases[i].family, "test");
		cpu.model = fact_number("cpu.model", UNIT_NONE, cases[i].model, "test");
		cpu.model_name = fact_text("cpu.model_name", cases[i].name, "test");
		host_cpu_name_generation(&cpu);
		if (cases[i].zen)
			assert_string_equal(cpu.zen_name, cases[i].zen);
		else
			assert_null(cpu.zen_name);
		if (cases[i].codename)
			assert_string_equal(cpu.codename, cases[i].codename);
		else
			assert_null(cpu.codename);
		assert_int_equal(cpu.one_l3_per_ccd, cases[i].one_l3);
	}
}

static void test_short_names(void **state)
{
	static const struct {
		const char *name, *shortened;
	} cases[] = {
	    {"AMD EPYC 9354P 32-Core Processor", "EPYC 9354P"},
	    {"AMD Ryzen 5 2600 Six-Core Processor", "Ryzen 5 2600"},
	    {"AMD Ryzen Threadripper PRO 3975WX 32-Cores", "Ryzen Threadripper PRO 3975WX"},
	    {"AMD Ryzen 7 5800H with Radeon Graphics", "Ryzen 7 5800H"},
	    {"AMD Opteron(tm) Processor 6176", "Opteron 6176"},
	    {"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "Intel Xeon E5-2680 v4"},
	    {"AMD", "AMD"},
	    {"", ""},
	    {" -Core  ", "-Core"},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct host_cpu cpu;

	(void)state;
	host_cpu_forget(&cpu, "test");
	assert_null(host_cpu_short_name(&cpu, arena));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cpu.model_name = fact_text("cpu.model_name", cases[i].name, "test");
		assert_string_equal(host_cpu_short_name(&cpu, arena), cases[i].shortened);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cpuinfo),
	    cmocka_unit_test(test_strange_cpuinfo),
	    cmocka_unit_test(test_generations),
	    cmocka_unit_test(test_short_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
