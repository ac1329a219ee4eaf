/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in machine.h. */
#include "unit.h"

#include "machine.h"

#define CPU_DIR "/sys/devices/system/cpu"

static int cores_of(const struct machine *m)
{
	return m->packages * m->nodes * m->l3s * m->cores;
}

static int thread_number(const struct machine *m, int core, int thread)
{
	return m->neighbours ? core * m->threads + thread : core + thread * cores_of(m);
}

/* All threads of the cores first..last. */
static struct cpuset threads_of(const struct machine *m, int first, int last)
{
	struct cpuset cpus = {0};

	for (int core = first; core <= last; core++)
		for (int thread = 0; thread < m->threads; thread++)
			cpuset_add(&cpus, thread_number(m, core, thread));
	return cpus;
}

static struct cpuset around(const struct machine *m, int core, int size)
{
	int first = core / size * size;

	return threads_of(m, first, first + size - 1);
}

/* As sysfs writes masks: words of 32 bits. */
static const char *mask_of(struct arena *arena, const struct cpuset *cpus)
{
	const char *text = "";

	for (int word = 7; word >= 0; word--) {
		unsigned bits = 0;

		for (int bit = 0; bit < 32; bit++)
			bits |= cpuset_has(cpus, word * 32 + bit) ? 1U << bit : 0;
		text = arena_printf(arena, "%s%s%08x", text, *text ? "," : "", bits);
	}
	return arena_printf(arena, "%s\n", text);
}

static void write_set(struct tree *tree, struct arena *arena, const char *path, const struct cpuset *cpus)
{
	tree_write(tree, path, mask_of(arena, cpus));
	tree_write(tree, arena_printf(arena, "%s_list", path), arena_printf(arena, "%s\n", cpuset_format(arena, cpus)));
}

static void write_cache(struct tree *tree, struct arena *arena, const struct machine *m, int core, int cpu)
{
	int l3 = core / m->cores;
	int kib = l3 < 8 && m->l3_kib[l3] ? m->l3_kib[l3] : 32768, id = l3 < 8 && m->l3_ids[l3] ? m->l3_ids[l3] : l3;
	struct cpuset shared = around(m, core, m->cores);
	const char *at = arena_printf(arena, CPU_DIR "/cpu%d/cache/index3", cpu);

	tree_write(tree, arena_printf(arena, "%s/level", at), "3\n");
	tree_write(tree, arena_printf(arena, "%s/type", at), "Unified\n");
	tree_write(tree, arena_printf(arena, "%s/id", at), arena_printf(arena, "%d\n", id));
	tree_write(tree, arena_printf(arena, "%s/size", at), arena_printf(arena, "%dK\n", kib));
	tree_write(tree, arena_printf(arena, "%s/shared_cpu_map", at), mask_of(arena, &shared));
	tree_write(tree, arena_printf(arena, "%s/shared_cpu_list", at),
		   arena_printf(arena, "%s\n", cpuset_format(arena, &shared)));
}

static void write_cpu(struct tree *tree, struct arena *arena, const struct machine *m, int core, int cpu)
{
	int per_package = m->nodes * m->l3s * m->cores;
	struct cpuset siblings = threads_of(m, core, core), package = around(m, core, per_package);
	struct cpuset die = m->die_is_ccd ? around(m, core, 2 * m->cores) : package;
	const char *at = arena_printf(arena, CPU_DIR "/cpu%d/topology", cpu);

	write_set(tree, arena, arena_printf(arena, "%s/core_cpus", at), &siblings);
	write_set(tree, arena, arena_printf(arena, "%s/package_cpus", at), &package);
	write_set(tree, arena, arena_printf(arena, "%s/die_cpus", at), &die);
	tree_write(tree, arena_printf(arena, "%s/core_id", at), arena_printf(arena, "%d\n", core % per_package));
	tree_write(tree, arena_printf(arena, "%s/physical_package_id", at),
		   arena_printf(arena, "%d\n", core / per_package));
	tree_write(tree, arena_printf(arena, "%s/die_id", at),
		   arena_printf(arena, "%d\n", m->die_is_ccd ? core / (2 * m->cores) : core / per_package));
	if (!m->no_caches)
		write_cache(tree, arena, m, core, cpu);
}

static void write_nodes(struct tree *tree, struct arena *arena, const struct machine *m)
{
	int count = m->packages * m->nodes, cores = m->l3s * m->cores;

	tree_write(tree, "/sys/devices/system/node/online",
		   count > 1 ? arena_printf(arena, "0-%d\n", count - 1) : "0\n");
	for (int node = 0; node < count; node++) {
		struct cpuset cpus = threads_of(m, node * cores, node * cores + cores - 1);
		const char *at = arena_printf(arena, "/sys/devices/system/node/node%d", node), *distances = "";

		for (int other = 0; other < count; other++)
			distances = arena_printf(arena, "%s%s%d", distances, other ? " " : "",
						 other == node			       ? 10
						 : other / m->nodes == node / m->nodes ? 12
										       : 32);
		tree_write(tree, arena_printf(arena, "%s/cpulist", at),
			   arena_printf(arena, "%s\n", cpuset_format(arena, &cpus)));
		tree_write(tree, arena_printf(arena, "%s/cpumap", at), mask_of(arena, &cpus));
		tree_write(tree, arena_printf(arena, "%s/distance", at), arena_printf(arena, "%s\n", distances));
		tree_write(tree, arena_printf(arena, "%s/meminfo", at),
			   arena_printf(arena,
					"Node %d MemTotal:       33554432 kB\nNode %d MemFree:        1048576 kB\n",
					node, node));
	}
}

struct tree *machine_tree(const struct machine *m)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = tree_new(NULL);
	struct cpuset all = threads_of(m, 0, cores_of(m) - 1);
	const char *list = arena_printf(arena, "%s\n", cpuset_format(arena, &all)), *cpuinfo = "";

	CPUSET_FOREACH (cpu, &all) {
		cpuinfo = arena_printf(arena, "%sprocessor\t: %d\nvendor_id\t: AuthenticAMD\n", cpuinfo, cpu);
		if (m->family)
			cpuinfo =
			    arena_printf(arena, "%scpu family\t: %d\nmodel\t\t: %d\n", cpuinfo, m->family, m->model);
		cpuinfo = arena_printf(arena, "%smodel name\t: %s\nmicrocode\t: 0xa10113e\nflags\t\t: fpu svm%s\n\n",
				       cpuinfo, m->name ? m->name : "AMD EPYC Test", m->guest ? " hypervisor" : "");
	}
	tree_write(tree, "/proc/cpuinfo", cpuinfo);
	tree_write(tree, CPU_DIR "/online", list);
	tree_write(tree, CPU_DIR "/present", list);
	tree_write(tree, CPU_DIR "/possible", list);
	tree_write(tree, CPU_DIR "/kernel_max", "8191\n");
	for (int core = 0; core < cores_of(m); core++)
		for (int thread = 0; thread < m->threads; thread++)
			write_cpu(tree, arena, m, core, thread_number(m, core, thread));
	write_nodes(tree, arena, m);
	return tree;
}
