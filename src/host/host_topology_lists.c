/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the topology as sysfs lists it, read through the door. Used where hwloc cannot look: in an archive of a tree,
 * which is never unpacked to disk and which hwloc, wanting a directory, cannot open. The rules are hwloc's, so that the
 * same tree gives the same facts in both ways.
 */
#include "host_topology_internal.h"
#include "text.h"

#define CPU_DIR "/sys/devices/system/cpu"

static int64_t read_number(struct host *host, const char *path)
{
	const struct sys_look *look = sys_read(host->sys, "%s", path);
	int64_t number;

	return look->state == SYS_VALUE && text_int(look->data, 10, &number) == 0 ? number : -1;
}

/* A set by the first of the names that is there: masks are older than lists, and names have changed. */
static bool read_set(struct host *host, int cpu, const char *const *names, struct cpuset *ret)
{
	for (; *names; names++) {
		const struct sys_look *look = sys_read(host->sys, CPU_DIR "/cpu%d/%s", cpu, *names);
		size_t length = strlen(*names);
		bool is_list = length > 4 && text_equal(*names + length - 4, "list");

		if (look->state != SYS_VALUE)
			continue;
		if ((is_list ? cpuset_parse : cpuset_parse_mask)(look->data, ret, NULL) == 0)
			return true;
	}
	return false;
}

static int read_id(struct host *host, int cpu, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), CPU_DIR "/cpu%d/topology/%s", cpu, name);
	int64_t number = read_number(host, path);

	return number >= 0 && number <= INT32_MAX ? (int)number : -1;
}

/* The L3 of a CPU: the unified cache of level 3, whatever its index. */
static bool read_l3(struct host *host, int cpu, struct cpuset *ret, int64_t *ret_size_kib)
{
	/* index3 nearly always; others on CPUs with more or fewer level 1 caches. */
	static const int indices[] = {3, 2, 4, 1, 0};

	for (size_t i = 0; i < ARRAY_SIZE(indices); i++) {
		int at = indices[i];
		char path[128], names[2][64];

		(void)snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cache/index%d/level", cpu, at);
		if (read_number(host, path) != 3)
			continue;
		const struct sys_look *type = sys_read(host->sys, CPU_DIR "/cpu%d/cache/index%d/type", cpu, at);
		struct fact size = fact_read_number(host->arena, host->sys, UNIT_KIB, "size",
						    CPU_DIR "/cpu%d/cache/index%d/size", cpu, at);

		if (type->state == SYS_VALUE && !text_starts(type->data, "Unified"))
			continue;
		(void)snprintf(names[0], sizeof(names[0]), "cache/index%d/shared_cpu_map", at);
		(void)snprintf(names[1], sizeof(names[1]), "cache/index%d/shared_cpu_list", at);
		*ret_size_kib = fact_number_or(&size, -1);
		return read_set(host, cpu, (const char *const[]){names[0], names[1], NULL}, ret);
	}
	return false;
}

/*
 * Bulldozer and its kin (family 15h): old kernels list the two integer cores of a module as threads of one core, with a
 * core_id each. hwloc takes them for cores then; so does this.
 */
static bool is_module(struct host *host, int cpu, const struct cpuset *siblings)
{
	int first = cpuset_first(siblings), other = first == cpu ? cpuset_next(siblings, cpu) : first;

	return fact_is_number(&host->cpu.family, 0x15) && other >= 0 &&
	       read_id(host, cpu, "core_id") != read_id(host, other, "core_id");
}

static void gather_cpu(struct topology_gather *gather, struct cpuset done[4], int cpu)
{
	static const char *const cores[] = {"topology/core_cpus", "topology/thread_siblings", "topology/core_cpus_list",
					    "topology/thread_siblings_list", NULL};
	static const char *const packages[] = {"topology/package_cpus", "topology/core_siblings",
					       "topology/package_cpus_list", "topology/core_siblings_list", NULL};
	static const char *const dies[] = {"topology/die_cpus", "topology/die_cpus_list", NULL};
	struct host *host = gather->host;
	struct cpuset set;
	int64_t size_kib = -1;

	/* A set is taken from its first CPU on line, as hwloc does: contradicting lists of later CPUs are not heard. */
	if (!cpuset_has(&done[0], cpu) && read_set(host, cpu, cores, &set)) {
		set = cpuset_and(&set, &gather->cpus);
		if (is_module(host, cpu, &set))
			set = cpuset_range(cpu, cpu);
		done[0] = cpuset_or(&done[0], &set);
		topology_add_core(gather, &set, read_id(host, cpu, "core_id"));
	}
	if (!cpuset_has(&done[1], cpu) && read_set(host, cpu, packages, &set)) {
		int id = read_id(host, cpu, "physical_package_id");

		set = cpuset_and(&set, &gather->cpus);
		done[1] = cpuset_or(&done[1], &set);
		if (id >= 0)
			topology_add_package(gather, &set, id);
	}
	if (!cpuset_has(&done[2], cpu) && read_set(host, cpu, dies, &set)) {
		set = cpuset_and(&set, &gather->cpus);
		done[2] = cpuset_or(&done[2], &set);
		topology_add_die(gather, &set, read_id(host, cpu, "die_id"));
	}
	if (!cpuset_has(&done[3], cpu) && read_l3(host, cpu, &set, &size_kib)) {
		set = cpuset_and(&set, &gather->cpus);
		done[3] = cpuset_or(&done[3], &set);
		topology_add_l3(gather, &set, size_kib);
	}
}

bool topology_gather_lists(struct topology_gather *gather)
{
	struct host *host = gather->host;
	struct cpuset online = *host_cpu_online(host), done[4] = {0};

	CPUSET_FOREACH (cpu, &online) {
		if (sys_has_dir(host->sys, CPU_DIR "/cpu%d/topology", cpu))
			cpuset_add(&gather->cpus, cpu);
	}
	if (cpuset_empty(&gather->cpus))
		return false;
	gather->source = "lists in " CPU_DIR;
	CPUSET_FOREACH (cpu, &gather->cpus) {
		gather_cpu(gather, done, cpu);
	}
	return true;
}
