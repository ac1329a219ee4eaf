/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the topology on machines of many shapes. */
#include <errno.h>

#include "unit.h"

#include "machine.h"
#include "text.h"

enum { ZEN3 = 0x19, MILAN = 0x01, ZEN2 = 0x17, ROME = 0x31 };

static struct cpuset set_of(const char *list)
{
	struct cpuset set;

	assert_int_equal(cpuset_parse(list, &set, NULL), 0);
	return set;
}

static void assert_set(const struct cpuset *set, const char *list)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	assert_string_equal(cpuset_format(arena, set), list);
}

static void test_levels(void **state)
{
	static const struct machine machine = {2, 1, 2, 4, 2, .family = ZEN3, .model = MILAN};
	struct tree *tree = machine_tree(&machine);
	const struct host_topology *t = &tree_host(tree)->topology;

	(void)state;
	assert_int_equal(t->package_count, 2);
	assert_int_equal(t->node_count, 2);
	assert_int_equal(t->l3_count, 4);
	assert_int_equal(t->core_count, 16);
	assert_int_equal(t->thread_count, 32);
	assert_int_equal(t->cpu_count, 32);
	assert_int_equal(t->threads_per_core, 2);
	assert_true(t->l3_known && t->core_known && t->node_known);
	assert_set(&t->l3s[3].cpus, "12-15,28-31");
	assert_int_equal(t->l3s[3].size_kib, 32768);
	assert_int_equal(t->l3s[3].core_count, 4);
	assert_int_equal(t->l3s[3].package, 1);
	assert_set(&t->l3s[3].nodes, "1");
	assert_int_equal(topology_l3_of(t, 29), 3);
	assert_int_equal(topology_core_of(t, 29), topology_core_of(t, 13));
	assert_int_equal(topology_node_of(t, 29), 1);
	assert_int_equal(topology_package_of(t, 29), 1);
	assert_int_equal(t->cpus[13].smt, 0);
	assert_int_equal(t->cpus[29].smt, 1);
	assert_int_equal(topology_l3_of(t, 32), -1);
	assert_int_equal(topology_l3_of(t, -1), -1);
	assert_true(fact_is_number(&t->nps, 1));
	assert_true(fact_is_off(&t->l3_as_numa));
	assert_true(fact_is_number(&t->nodes[1].memory_kib, 33554432));
	assert_true(fact_is_number(&t->nodes[1].free_kib, 1048576));
	assert_int_equal(t->nodes[0].distances[1], 32);
	assert_null(t->l3_conflict);
	assert_null(t->node_conflict);
	/* Milan: each CCD has one CCX, which the kernel does not say but the generation does. */
	assert_int_equal(t->ccd_count, 4);
	assert_non_null(strstr(t->ccd_source, "Zen 3"));
	tree_free(tree);
}

static void test_neighbouring_siblings(void **state)
{
	static const struct machine machine = {1, 1, 2, 2, 2, .family = ZEN2, .model = ROME, .neighbours = true};
	struct tree *tree = machine_tree(&machine);
	const struct host_topology *t = &tree_host(tree)->topology;
	struct cpuset some = set_of("0,2-3,5");
	struct cpuset whole = topology_whole_cores(t, &some);

	(void)state;
	assert_set(&t->cores[1].cpus, "2-3");
	assert_set(&whole, "0-5");
	assert_int_equal(topology_split_cores(t, &some), 2);
	assert_int_equal(topology_split_l3s(t, &some), 2);
	some = set_of("4-7");
	assert_int_equal(topology_split_cores(t, &some), 0);
	assert_int_equal(topology_split_l3s(t, &some), 0);
	/* Zen 2 has two CCXs on a CCD; which, nothing here tells. */
	assert_int_equal(t->ccd_count, 0);
	assert_null(t->ccd_source);
	tree_free(tree);
}

static void test_dies_are_ccds(void **state)
{
	static const struct machine machine = {1, 1, 4, 2, 1, .family = ZEN2, .model = ROME, .die_is_ccd = true};
	struct tree *tree = machine_tree(&machine);
	const struct host_topology *t = &tree_host(tree)->topology;

	(void)state;
	assert_int_equal(t->ccd_count, 2);
	assert_string_equal(t->ccd_source, "die_id of the kernel");
	assert_int_equal(t->ccds[1].l3_count, 2);
	assert_set(&t->ccds[1].cpus, "4-7");
	assert_int_equal(t->l3s[3].ccd, 1);
	assert_int_equal(t->cores[5].ccd, 1);
	assert_int_equal(t->packages[0].ccd_count, 2);
	tree_free(tree);
}

static void test_split_l3_lists(void **state)
{
	/* As kernels before 4.14 show a part with fused-off cores: the second L3 as two, with one id. */
	static const struct machine machine = {1, 1, 3, 2, 1, .family = 0x17, .model = 1, .l3_ids = {7, 1, 1}};
	struct tree *tree = machine_tree(&machine);
	const struct host_topology *t = &tree_host(tree)->topology;

	(void)state;
	assert_int_equal(t->l3_count, 2);
	assert_set(&t->l3s[1].cpus, "2-5");
	assert_int_equal(t->l3s[1].core_count, 4);
	assert_int_equal(t->packages[0].l3_count, 2);
	assert_int_equal(t->cpus[5].l3, 1);
	assert_non_null(strstr(t->l3_conflict, "2-3 and 4-5"));
	tree_free(tree);
}

static void test_stacked_cache(void **state)
{
	static const struct {
		int first_kib, second_kib;
		bool x3d;
	} cases[] = {{98304, 32768, true}, {16384, 8192, false}, {98304, 98304, false}, {65536, 16384, true}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine machine = {
		    1, 1, 2, 2, 1, .family = 0x19, .model = 0x61, .l3_kib = {cases[i].first_kib, cases[i].second_kib}};
		struct tree *tree = machine_tree(&machine);
		const struct host_topology *t = &tree_host(tree)->topology;

		assert_int_equal(t->x3d, cases[i].x3d);
		assert_set(&t->large_l3_cpus, cases[i].x3d ? "0-1" : "");
		assert_int_equal(t->l3s[0].large, cases[i].x3d);
		assert_false(t->l3s[1].large);
		tree_free(tree);
	}
}

static void assert_settings(const struct machine *machine, int nps, int l3_as_numa)
{
	struct tree *tree = machine_tree(machine);
	const struct host_topology *t = &tree_host(tree)->topology;

	assert_int_equal(fact_number_or(&t->nps, -1), nps);
	assert_int_equal(fact_number_or(&t->l3_as_numa, -1), l3_as_numa);
	if (nps < 0)
		assert_non_null(t->nps.note);
	tree_free(tree);
}

static void test_bios_settings(void **state)
{
	(void)state;
	assert_settings(&(struct machine){2, 4, 2, 2, 1, .family = ZEN3, .model = MILAN}, 4, 0);
	assert_settings(&(struct machine){1, 2, 4, 1, 1, .family = ZEN3, .model = MILAN}, 2, 0);
	/* Eight nodes of one L3 each are no NPS; four may be either. */
	assert_settings(&(struct machine){1, 8, 1, 2, 1, .family = ZEN3, .model = MILAN}, -1, 1);
	assert_settings(&(struct machine){1, 4, 1, 2, 1, .family = ZEN3, .model = MILAN}, -1, -1);
	/* Three nodes of two L3 groups come from no setting that is known. */
	assert_settings(&(struct machine){1, 3, 2, 1, 1, .family = ZEN3, .model = MILAN}, -1, 0);
	/* Neither is said of a guest, of what is no Zen part, or without L3 groups. */
	assert_settings(&(struct machine){1, 2, 2, 2, 1, .family = ZEN3, .model = MILAN, .guest = true}, -1, -1);
	assert_settings(&(struct machine){1, 2, 2, 2, 1, .family = 0x15, .model = 2}, -1, -1);
	assert_settings(&(struct machine){1, 2, 2, 2, 1, .family = ZEN3, .model = MILAN, .no_caches = true}, -1, -1);
}

static void test_one_node_for_two_sockets(void **state)
{
	static const struct machine machine = {2, 1, 2, 2, 1, .family = ZEN3, .model = MILAN};
	struct tree *tree = machine_tree(&machine);

	(void)state;
	tree_write(tree, "/sys/devices/system/node/online", "0\n");
	tree_write(tree, "/sys/devices/system/node/node0/cpulist", "0-7\n");
	const struct host_topology *t = &tree_host(tree)->topology;

	assert_true(fact_is_number(&t->nps, 0));
	assert_null(t->node_conflict);
	assert_int_equal(cpuset_count(&t->nodes[0].packages), 2);
	tree_free(tree);
}

static void test_strange_nodes(void **state)
{
	static const struct machine machine = {1, 2, 1, 2, 1, .family = ZEN3, .model = MILAN};
	struct tree *tree = machine_tree(&machine);

	(void)state;
	/* Numbers with gaps, no CPUs, no memory, a mask where the list is missing. */
	tree_write(tree, "/sys/devices/system/node/online", "0,4,6\n");
	tree_write(tree, "/sys/devices/system/node/node4/cpulist", "\n");
	tree_write(tree, "/sys/devices/system/node/node6/cpumap", "0000000c\n");
	tree_write(tree, "/sys/devices/system/node/node6/meminfo", "Node 6 MemTotal:  0 kB\n");
	tree_write(tree, "/sys/devices/system/node/has_memory", "0\n");
	const struct host_topology *t = &tree_host(tree)->topology;

	assert_int_equal(t->node_count, 3);
	assert_int_equal(t->nodes[1].os_node, 4);
	assert_true(cpuset_empty(&t->nodes[1].cpus));
	assert_true(t->nodes[1].memoryless);
	assert_set(&t->nodes[2].cpus, "2-3");
	assert_true(t->nodes[2].memoryless);
	assert_false(t->nodes[0].memoryless);
	assert_ptr_equal(topology_node_by_os(t, 6), &t->nodes[2]);
	assert_null(topology_node_by_os(t, 1));
	tree_free(tree);
}

static void test_contradicting_nodes(void **state)
{
	static const struct machine machine = {2, 1, 2, 2, 1, .family = ZEN3, .model = MILAN};
	struct tree *tree = machine_tree(&machine);

	(void)state;
	tree_write(tree, "/sys/devices/system/node/node0/cpulist", "0-4\n");
	tree_write(tree, "/sys/devices/system/node/node1/cpulist", "5-7\n");
	struct host *host = tree_host(tree);

	assert_non_null(host->topology.node_conflict);
	assert_non_null(strstr(host->topology.node_conflict, "node 0 holds CPUs of packages 0-1"));
	assert_non_null(strstr(host->topology.node_conflict, "L3 of CPUs 4-5 lies in nodes 0-1"));
	assert_int_equal(fact_number_or(&host->topology.nps, -1), -1);
	tree_free(tree);
}

static void test_without_caches(void **state)
{
	static const struct machine machine = {1, 1, 1, 4, 2, .family = ZEN3, .model = MILAN, .no_caches = true};
	struct tree *tree = machine_tree(&machine);
	const struct host_topology *t = &tree_host(tree)->topology;

	(void)state;
	assert_false(t->l3_known);
	assert_int_equal(t->l3_count, 0);
	assert_int_equal(t->core_count, 4);
	assert_int_equal(t->cpus[0].l3, -1);
	assert_int_equal(t->ccd_count, 0);
	tree_free(tree);
}

static void test_offline(void **state)
{
	static const struct machine machine = {1, 1, 1, 4, 1, .family = ZEN3, .model = MILAN};
	struct tree *tree = machine_tree(&machine);

	(void)state;
	tree_write(tree, "/sys/devices/system/cpu/online", "0-1,3\n");
	tree_write(tree, "/sys/devices/system/cpu/cpu2/online", "0\n");
	tree_write(tree, "/sys/devices/system/cpu/possible", "0-63\n");
	struct host *host = tree_host(tree);
	struct cpuset off = host_cpu_switched_off(host);

	assert_set(&off, "2");
	assert_int_equal(host->topology.core_count, 3);
	assert_false(host->topology.cpus[2].known);
	assert_int_equal(topology_core_of(&host->topology, 2), -1);
	assert_set(&host->topology.l3s[0].cpus, "0-1,3");
	tree_free(tree);
}

static void test_garbage(void **state)
{
	static const struct machine machine = {1, 1, 1, 2, 1, .family = ZEN3, .model = MILAN};
	struct tree *tree = machine_tree(&machine);

	(void)state;
	tree_write(tree, "/sys/devices/system/cpu/online", "0-99999999999,,\n");
	tree_write(tree, "/sys/devices/system/cpu/cpu0/topology/core_cpus", "zz\n");
	tree_write(tree, "/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_map", "\n");
	tree_write(tree, "/sys/devices/system/cpu/cpu0/cache/index3/size", "-5M\n");
	tree_write(tree, "/sys/devices/system/node/online", "5-\n");
	tree_write(tree, "/sys/devices/system/node/node0/distance", "ten\n");
	tree_write(tree, "/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: lots\n");
	const struct host *host = tree_host(tree);

	/* Nothing to be asserted but that it ends, and that nothing unknown is a number. */
	for (int i = 0; i < host->topology.node_count; i++) {
		assert_null(host->topology.nodes[i].distances);
		assert_false(fact_known(&host->topology.nodes[i].memory_kib));
		assert_false(host->topology.nodes[i].memoryless);
	}
	tree_free(tree);
}

static void test_export(void **state)
{
	static const struct machine machine = {2, 1, 2, 2, 2, .family = ZEN3, .model = MILAN};
	struct tree *tree = machine_tree(&machine);
	struct err err = {0};
	char *xml;
	size_t size;

	(void)state;
	tree_write(tree, "/sys/class/dmi/id/product_serial", "SECRET-1\n");
	tree_write(tree, "/sys/class/dmi/id/product_uuid", "SECRET-2\n");
	tree_write(tree, "/sys/class/dmi/id/product_name", "SECRET-3\n");
	/* Where hwloc takes from what uname() says, in the dump of another machine. */
	tree_write(tree, "/proc/hwloc-nofile-info", "OSName: Linux\nArchitecture: x86_64\nHostName: SECRET-4\n");
	assert_int_equal(host_topology_export_xml(tree_host(tree), &xml, &size, &err), 0);
	assert_int_equal(strlen(xml), size);
	assert_null(strstr(xml, "SECRET"));
	assert_null(strstr(xml, "HostName"));
	assert_non_null(strstr(xml, "CPUVendor"));
	assert_non_null(strstr(xml, "</topology>"));

	struct arena *arena = arena_new();
	struct host *again = ARENA_NEW(arena, struct host);

	again->arena = arena;
	again->kind = HOST_HWLOC_XML;
	again->name = "export";
	again->sys = sys_open_nothing("export");
	assert_int_equal(host_topology_read_hwloc(again, xml, size, true, &err), 0);
	const struct host_topology *a = &tree_host(tree)->topology, *b = &again->topology;

	assert_int_equal(a->package_count, b->package_count);
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->l3_count, b->l3_count);
	assert_int_equal(a->core_count, b->core_count);
	for (int i = 0; i < a->l3_count; i++)
		assert_true(cpuset_equal(&a->l3s[i].cpus, &b->l3s[i].cpus));
	assert_true(again->cpu.is_amd);
	/* The XML does not tell whether this is a guest, whose nodes would say nothing of the BIOS. */
	assert_true(fact_is_number(&a->nps, 1));
	assert_int_equal(b->nps.state, FACT_ABSENT);
	assert_true(fact_is_number(&again->cpu.family, ZEN3));
	(void)sys_close(again->sys);
	arena_free(arena);
	free(xml);
	tree_free(tree);
}

static int read_synthetic(const char *text, bool is_xml, struct host_topology *ret)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct host *host = ARENA_NEW(arena, struct host);
	struct err err = {0};

	host->arena = arena;
	host->kind = is_xml ? HOST_HWLOC_XML : HOST_SYNTHETIC;
	host->name = "test";
	host->sys = sys_open_nothing("test");
	int r = host_topology_read_hwloc(host, text, strlen(text), is_xml, &err);

	if (r == 0)
		*ret = host->topology; /* only counts may be looked at: the arena goes */
	else
		assert_int_not_equal(err.code, 0);
	(void)sys_close(host->sys);
	return r;
}

static void test_synthetic(void **state)
{
	struct host_topology counts;

	(void)state;
	assert_int_equal(read_synthetic("package:2 l3:8 core:4 pu:2", false, &counts), 0);
	assert_int_equal(counts.package_count, 2);
	assert_int_equal(counts.l3_count, 16);
	assert_int_equal(counts.core_count, 64);
	assert_int_equal(counts.thread_count, 128);
	assert_true(read_synthetic("package:two", false, &counts) < 0);
	/* Whole or not at all: 12288 CPUs are not 8192. */
	assert_int_equal(read_synthetic("package:8 l3:64 core:8 pu:2", false, &counts), 0);
	assert_int_equal(counts.thread_count, 8192);
	assert_int_equal(read_synthetic("package:8 l3:64 core:8 pu:3", false, &counts), -E2BIG);
	assert_true(read_synthetic("<topology><object type=\"Machine\"", true, &counts) < 0);
	assert_true(read_synthetic("<html/>", true, &counts) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_levels),
	    cmocka_unit_test(test_neighbouring_siblings),
	    cmocka_unit_test(test_dies_are_ccds),
	    cmocka_unit_test(test_split_l3_lists),
	    cmocka_unit_test(test_stacked_cache),
	    cmocka_unit_test(test_bios_settings),
	    cmocka_unit_test(test_one_node_for_two_sockets),
	    cmocka_unit_test(test_strange_nodes),
	    cmocka_unit_test(test_contradicting_nodes),
	    cmocka_unit_test(test_without_caches),
	    cmocka_unit_test(test_offline),
	    cmocka_unit_test(test_garbage),
	    cmocka_unit_test(test_export),
	    cmocka_unit_test(test_synthetic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
