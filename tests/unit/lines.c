/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the host declared in lines.h. */
#include "unit.h"

#include "lines.h"
#include "text.h"

static void write_cpu(struct tree *tree, int cpu, const char *file, const char *contents)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	tree_write(tree, path, contents);
}

static void add_smt(struct tree *tree)
{
	for (int cpu = 0; cpu < 8; cpu++) {
		char siblings[16], mask[16], core[16];
		int first = cpu % 4, l3 = first / 2;

		(void)snprintf(siblings, sizeof(siblings), "%d,%d\n", first, first + 4);
		(void)snprintf(mask, sizeof(mask), "%02x\n", 0x11 << first);
		(void)snprintf(core, sizeof(core), "%d\n", first);
		write_cpu(tree, cpu, "topology/core_id", core);
		write_cpu(tree, cpu, "topology/thread_siblings_list", siblings);
		write_cpu(tree, cpu, "topology/core_cpus_list", siblings);
		write_cpu(tree, cpu, "topology/thread_siblings", mask);
		write_cpu(tree, cpu, "topology/core_cpus", mask);
		write_cpu(tree, cpu, "cache/index3/id", l3 ? "1\n" : "0\n");
		write_cpu(tree, cpu, "cache/index3/shared_cpu_list", l3 ? "2-3,6-7\n" : "0-1,4-5\n");
		write_cpu(tree, cpu, "cache/index3/shared_cpu_map", l3 ? "cc\n" : "33\n");
	}
}

static void add_idle(struct tree *tree)
{
	static const char *const names[] = {"POLL\n", "C1\n", "C2\n"}, *const latencies[] = {"0\n", "1\n", "400\n"};

	for (int state = 0; state < 3; state++) {
		char file[64];

		(void)snprintf(file, sizeof(file), "cpuidle/state%d/name", state);
		write_cpu(tree, 0, file, names[state]);
		(void)snprintf(file, sizeof(file), "cpuidle/state%d/latency", state);
		write_cpu(tree, 0, file, latencies[state]);
	}
	tree_write(tree, "/sys/devices/system/cpu/cpuidle/current_driver", "acpi_idle\n");
}

struct tree *lines_host(void)
{
	static const struct tree_file files[] = {
	    {"/proc/sys/kernel/osrelease", "6.12.0\n"},
	    {"/proc/version", "Linux version 6.12.0\n"},
	    {"/proc/meminfo",
	     "MemTotal:       33554432 kB\nMemAvailable:   30000000 kB\nHugepagesize:       2048 kB\n"},
	    {"/dev/kvm", ""},
	    {NULL, NULL},
	};
	struct tree *tree = tree_new(NULL);

	tree_add_amd(tree, 8, 8, 25, 17);
	add_smt(tree);
	add_idle(tree);
	tree_add(tree, files);
	return tree;
}

void lines_expect(const struct advise_result *result, const char *what, const char *id, int severity, const char *says)
{
	bool found = false, said = false;

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct advise_finding *finding = &result->findings[i];

		if (!text_equal(finding->rule->id, id))
			continue;
		if (severity == SILENT)
			fail_msg("%s: %s is reported: %s", what, id, finding->title);
		found = found || (int)finding->severity == severity;
		said = said || ((int)finding->severity == severity && (!says || strstr(finding->title, says)));
	}
	if (severity == SILENT)
		return;
	if (!found)
		fail_msg("%s: %s is not reported as %s", what, id,
			 advise_severity_name((enum advise_severity)severity));
	if (!said)
		fail_msg("%s: %s does not say \"%s\"", what, id, says);
}
