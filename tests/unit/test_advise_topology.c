/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the findings about topology: each is reported where it is so, and on no sound machine. */
#include "unit.h"

#include "machine.h"
#include "text.h"

#define NODE_DIR "/sys/devices/system/node"
#define CPU_DIR "/sys/devices/system/cpu"

enum { MILAN = 0x01 };

/* Run all rules over the tree and free it; the finding must be there with that severity and words in its title. */
static void assert_found(struct tree *tree, const char *id, enum advise_severity severity, const char *words)
{
	struct advise_result *result = tree_advise(tree);
	const struct advise_finding *finding = tree_find(result, id);

	if (!finding)
		fail_msg("%s is not reported", id);
	assert_int_equal(finding->severity, severity);
	if (!strstr(finding->title, words))
		fail_msg("\"%s\" is not in \"%s\"", words, finding->title);
	assert_true(finding->evidence_count > 0);
	advise_result_free(result);
	tree_free(tree);
}

static void assert_quiet(const struct machine *machine)
{
	struct tree *tree = machine_tree(machine);
	struct advise_result *result = tree_advise(tree);

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct advise_finding *finding = &result->findings[i];

		if (text_starts(finding->rule->id, "topology.") && finding->severity <= ADVISE_ADVICE)
			fail_msg("%s: %s", finding->rule->id, finding->title);
	}
	advise_result_free(result);
	tree_free(tree);
}

static void test_sound_machines(void **state)
{
	static const struct machine machines[] = {
	    {1, 1, 1, 1, 1, .family = 0x19, .model = MILAN},
	    {1, 1, 2, 8, 2, .family = 0x19, .model = 0x21},
	    {2, 4, 2, 2, 2, .family = 0x19, .model = MILAN},
	    {1, 8, 1, 3, 2, .family = 0x17, .model = 0x31},
	    {2, 1, 2, 2, 1, .family = 0x15, .model = 0x02},
	    {1, 2, 1, 2, 1, .guest = true},
	    {1, 1, 1, 4, 2, .family = 0x1a, .model = 0x44, .neighbours = true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		assert_quiet(&machines[i]);
	assert_found(machine_tree(&machines[1]), "topology.consistent", ADVISE_GOOD, "fit each other");
}

static void test_memoryless_nodes(void **state)
{
	static const struct machine machine = {1, 4, 2, 1, 1, .family = 0x17, .model = 0x08};
	static const char *const nothing = "Node 1 MemTotal:  0 kB\n";
	struct tree *half = machine_tree(&machine), *most = machine_tree(&machine), *all = machine_tree(&machine);

	(void)state;
	for (int node = 0; node < 4; node++) {
		char path[64];

		(void)snprintf(path, sizeof(path), NODE_DIR "/node%d/meminfo", node);
		if (node % 2)
			tree_write(half, path, nothing);
		if (node)
			tree_write(most, path, nothing);
		tree_write(all, path, nothing);
	}
	assert_found(half, "topology.memoryless-node", ADVISE_ADVICE,
		     "nodes 1,3 have CPUs but no memory: keep VMs on nodes 0,2");
	assert_found(most, "topology.memoryless-node", ADVISE_WARN, "3 of 4 nodes have no memory");
	/* Where no node has memory the figures are not what they seem. */
	struct advise_result *result = tree_advise(all);

	assert_false(tree_has(result, "topology.memoryless-node"));
	advise_result_free(result);
	tree_free(all);
}

static void test_nodes(void **state)
{
	static const struct machine machine = {2, 1, 2, 2, 1, .family = 0x19, .model = MILAN};
	struct tree *empty = machine_tree(&machine), *crossed = machine_tree(&machine),
		    *uneven = machine_tree(&machine);

	(void)state;
	tree_write(empty, NODE_DIR "/online", "0-2\n");
	tree_write(empty, NODE_DIR "/node2/cpulist", "\n");
	assert_found(empty, "topology.cpuless-node", ADVISE_INFO, "node 2 has no CPUs");
	tree_write(crossed, NODE_DIR "/node0/cpulist", "0-5\n");
	tree_write(crossed, NODE_DIR "/node1/cpulist", "6-7\n");
	assert_found(crossed, "topology.node-contradiction", ADVISE_ADVICE, "node 0 holds CPUs of packages 0-1");
	tree_write(uneven, NODE_DIR "/node1/meminfo", "Node 1 MemTotal:  16777216 kB\n");
	assert_found(uneven, "topology.memory-uneven", ADVISE_INFO, "from 16 GiB to 32 GiB");
	assert_found(machine_tree(&(struct machine){1, 8, 1, 3, 2, .family = 0x17, .model = 0x31}),
		     "topology.l3-as-numa", ADVISE_INFO, "8 nodes equal 8 L3 groups of 6 threads");
	assert_found(machine_tree(&(struct machine){1, 4, 1, 2, 1, .family = 0x19, .model = MILAN}),
		     "topology.nps-unclear", ADVISE_INFO, "NPS4");
	assert_found(machine_tree(&(struct machine){1, 4, 2, 1, 1, .family = 0x19, .model = MILAN}), "topology.nps",
		     ADVISE_INFO, "NPS4: 4 nodes per socket, 2 L3 groups in a node");
}

static void test_l3_groups(void **state)
{
	(void)state;
	assert_found(machine_tree(&(struct machine){1, 1, 3, 2, 1, .family = 0x17, .model = 1, .l3_ids = {7, 1, 1}}),
		     "topology.l3-lists-disagree", ADVISE_ADVICE, "2 L3 groups by id");
	assert_found(machine_tree(&(struct machine){1, 1, 1, 4, 2, .family = 0x19, .model = MILAN, .no_caches = true}),
		     "topology.l3-unknown", ADVISE_INFO, "L3 layout unknown");
	assert_found(machine_tree(&(struct machine){1, 1, 4, 1, 2, .family = 0x17, .model = 1}), "topology.one-core-l3",
		     ADVISE_INFO, "VM of 2 vCPUs");
	assert_found(
	    machine_tree(&(struct machine){1, 1, 2, 2, 1, .family = 0x19, .model = 0x61, .l3_kib = {98304, 32768}}),
	    "topology.x3d-asymmetric", ADVISE_INFO, "CPUs 0-1 share 96 MiB of L3, CPUs 2-3 share 32 MiB");
}

static void test_cpus(void **state)
{
	static const struct machine machine = {1, 1, 1, 4, 2, .family = 0x19, .model = MILAN};
	struct tree *slots = machine_tree(&machine), *off = machine_tree(&machine), *smt = machine_tree(&machine),
		    *full = machine_tree(&machine);

	(void)state;
	tree_write(slots, CPU_DIR "/possible", "0-127\n");
	assert_found(slots, "topology.possible-more-than-present", ADVISE_INFO,
		     "declares 128 CPUs (0-127) of which 8 exist");
	tree_write(off, CPU_DIR "/online", "0-6\n");
	tree_write(off, CPU_DIR "/cpu7/online", "0\n");
	tree_write(off, CPU_DIR "/cpu3/topology/core_cpus", "8\n");
	assert_found(off, "topology.cpus-offline", ADVISE_INFO, "off line: 7");
	tree_write(smt, CPU_DIR "/online", "0-3\n");
	tree_write(smt, CPU_DIR "/smt/control", "off\n");
	assert_found(smt, "topology.smt-off", ADVISE_INFO, "4 second threads (4-7)");
	tree_write(full, CPU_DIR "/kernel_max", "7\n");
	assert_found(full, "topology.kernel-cpu-limit", ADVISE_INFO, "built for 8 CPUs");
	struct tree *mixed = machine_tree(&machine);

	tree_write(mixed, CPU_DIR "/online", "0-6\n");
	tree_write(mixed, CPU_DIR "/cpu7/online", "0\n");
	assert_found(mixed, "topology.smt-mixed", ADVISE_ADVICE, "1 core has one thread on line (CPUs 3), 3 two");
	assert_found(machine_tree(&(struct machine){1, 1, 1, 4, 2, .family = 0x19, .model = MILAN, .neighbours = true}),
		     "topology.adjacent-siblings", ADVISE_INFO, "(0 and 1)");
	assert_found(machine_tree(&(struct machine){1, 1, 1, 4, 2, .guest = true}), "topology.guest", ADVISE_INFO,
		     "guest");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sound_machines), cmocka_unit_test(test_memoryless_nodes),
	    cmocka_unit_test(test_nodes),	   cmocka_unit_test(test_l3_groups),
	    cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
