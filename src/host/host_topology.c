/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the ordering of what was gathered, the indices between the levels, CCDs, X3D, and the questions about sets of
 * CPUs that are declared in host_topology.h.
 */
#include "host_topology.h"

#include <errno.h>

#include "host_topology_internal.h"
#include "text.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* A large cache: X3D parts stack 64 MiB on the 32 MiB of one die. A ratio alone would call Strix (16 + 8 MiB) X3D. */
enum { X3D_FLOOR_KIB = 64 * 1024 };

/* ---- gathering ---- */

static void *room_for_one(struct arena *arena, void *array, int count, int *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? *room * 2 : 8;
	void *larger = arena_array(arena, (size_t)*room, size);

	if (count)
		memcpy(larger, array, (size_t)count * size);
	return larger;
}

void topology_add_package(struct topology_gather *gather, const struct cpuset *cpus, int os_package)
{
	struct host_topology *facts = &gather->host->topology;

	if (cpuset_empty(cpus))
		return;
	facts->packages = room_for_one(gather->host->arena, facts->packages, facts->package_count,
				       &gather->package_room, sizeof(*facts->packages));
	facts->packages[facts->package_count++] = (struct topology_package){.cpus = *cpus, .os_package = os_package};
}

void topology_add_die(struct topology_gather *gather, const struct cpuset *cpus, int os_die)
{
	if (cpuset_empty(cpus))
		return;
	gather->dies = room_for_one(gather->host->arena, gather->dies, gather->die_count, &gather->die_room,
				    sizeof(*gather->dies));
	gather->dies[gather->die_count++] = (struct topology_die){.cpus = *cpus, .os_die = os_die};
}

void topology_add_l3(struct topology_gather *gather, const struct cpuset *cpus, int64_t size_kib)
{
	struct host_topology *facts = &gather->host->topology;

	if (cpuset_empty(cpus))
		return;
	facts->l3s =
	    room_for_one(gather->host->arena, facts->l3s, facts->l3_count, &gather->l3_room, sizeof(*facts->l3s));
	facts->l3s[facts->l3_count++] = (struct topology_l3){.cpus = *cpus, .size_kib = size_kib, .id = -1};
}

void topology_add_core(struct topology_gather *gather, const struct cpuset *cpus, int os_core_id)
{
	struct host_topology *facts = &gather->host->topology;

	if (cpuset_empty(cpus))
		return;
	facts->cores = room_for_one(gather->host->arena, facts->cores, facts->core_count, &gather->core_room,
				    sizeof(*facts->cores));
	facts->cores[facts->core_count++] = (struct topology_core){.cpus = *cpus, .os_core_id = os_core_id};
}

/* ---- ordering: packages by first CPU, what is in them by package, L3 group and first CPU ---- */

static int compare_first(const struct cpuset *a, const struct cpuset *b)
{
	int first_a = cpuset_first(a), first_b = cpuset_first(b);

	return (first_a > first_b) - (first_a < first_b);
}

static int compare_packages(const void *a, const void *b)
{
	const struct topology_package *one = a, *other = b;

	return compare_first(&one->cpus, &other->cpus);
}

static int compare_l3s(const void *a, const void *b)
{
	const struct topology_l3 *one = a, *other = b;

	if (one->package != other->package)
		return one->package > other->package ? 1 : -1;
	return compare_first(&one->cpus, &other->cpus);
}

static int compare_cores(const void *a, const void *b)
{
	const struct topology_core *one = a, *other = b;

	if (one->package != other->package)
		return one->package > other->package ? 1 : -1;
	if (one->l3 != other->l3)
		return one->l3 > other->l3 ? 1 : -1;
	return compare_first(&one->cpus, &other->cpus);
}

static void sort(void *array, int count, size_t size, int (*compare)(const void *, const void *))
{
	if (count > 1)
		qsort(array, (size_t)count, size, compare);
}

static void index_packages(struct host_topology *facts)
{
	sort(facts->packages, facts->package_count, sizeof(*facts->packages), compare_packages);
	for (int i = 0; i < facts->package_count; i++)
		CPUSET_FOREACH (cpu, &facts->packages[i].cpus) {
			facts->cpus[cpu].package = i;
		}
}

static void index_l3s(struct host_topology *facts)
{
	for (int i = 0; i < facts->l3_count; i++)
		facts->l3s[i].package = facts->cpus[cpuset_first(&facts->l3s[i].cpus)].package;
	sort(facts->l3s, facts->l3_count, sizeof(*facts->l3s), compare_l3s);
	for (int i = 0; i < facts->l3_count; i++) {
		CPUSET_FOREACH (cpu, &facts->l3s[i].cpus) {
			facts->cpus[cpu].l3 = i;
		}
		facts->l3s[i].core_count = 0;
		if (facts->l3s[i].package >= 0)
			facts->packages[facts->l3s[i].package].l3_count++;
	}
}

static void index_cores(struct host_topology *facts)
{
	int by_threads[64] = {0};

	for (int i = 0; i < facts->core_count; i++) {
		const struct topology_cpu *first = &facts->cpus[cpuset_first(&facts->cores[i].cpus)];

		facts->cores[i].package = first->package;
		facts->cores[i].l3 = first->l3;
		facts->cores[i].ccd = -1;
	}
	sort(facts->cores, facts->core_count, sizeof(*facts->cores), compare_cores);
	for (int i = 0; i < facts->core_count; i++) {
		const struct topology_core *core = &facts->cores[i];
		int smt = 0;

		CPUSET_FOREACH (cpu, &core->cpus) {
			facts->cpus[cpu].core = i;
			facts->cpus[cpu].smt = smt++;
		}
		by_threads[MIN_OF(smt, (int)ARRAY_SIZE(by_threads) - 1)]++;
		if (core->l3 >= 0)
			facts->l3s[core->l3].core_count++;
		if (core->package >= 0)
			facts->packages[core->package].core_count++;
	}
	facts->threads_per_core = 0;
	for (int i = 1; i < (int)ARRAY_SIZE(by_threads); i++)
		if (by_threads[i] > by_threads[facts->threads_per_core])
			facts->threads_per_core = i;
}

static void index_cpus(struct host *host, const struct cpuset *cpus)
{
	struct host_topology *facts = &host->topology;

	facts->cpu_count = facts->thread_count = 0;
	CPUSET_FOREACH (cpu, cpus) {
		facts->cpu_count = cpu + 1;
		facts->thread_count++;
	}
	facts->cpus = ARENA_ARRAY(host->arena, (size_t)facts->cpu_count, struct topology_cpu);
	for (int cpu = 0; cpu < facts->cpu_count; cpu++)
		facts->cpus[cpu] = (struct topology_cpu){
		    .known = cpuset_has(cpus, cpu), .core = -1, .l3 = -1, .ccd = -1, .package = -1, .node = -1};
}

/* A source may name CPUs that are not among its own: sets are cut to what is on line, and empty ones go. */
static void cut_sets(struct topology_gather *gather)
{
	struct host_topology *facts = &gather->host->topology;
	int kept = 0;

#define CUT(array, count)                                                                                              \
	do {                                                                                                           \
		kept = 0;                                                                                              \
		for (int i = 0; i < (count); i++) {                                                                    \
			(array)[i].cpus = cpuset_and(&(array)[i].cpus, &gather->cpus);                                 \
			if (!cpuset_empty(&(array)[i].cpus))                                                           \
				(array)[kept++] = (array)[i];                                                          \
		}                                                                                                      \
		(count) = kept;                                                                                        \
	} while (0)
	CUT(facts->packages, facts->package_count);
	CUT(facts->l3s, facts->l3_count);
	CUT(facts->cores, facts->core_count);
	CUT(gather->dies, gather->die_count);
#undef CUT
}

/* ---- L3 ids, and lists that disagree ---- */

/* The index of the level 3 cache below cpuN/cache: 3 nearly always. -1 when there is none. */
static int l3_cache_index(struct host *host, int cpu)
{
	static const int indices[] = {3, 2, 4};

	for (size_t i = 0; i < ARRAY_SIZE(indices); i++) {
		struct fact level = fact_read_number(host->arena, host->sys, UNIT_NONE, "level",
						     CPU_DIR "/cpu%d/cache/index%d/level", cpu, indices[i]);

		if (fact_is_number(&level, 3))
			return indices[i];
	}
	return -1;
}

static void read_l3_ids(struct host *host)
{
	struct host_topology *facts = &host->topology;
	int index = facts->l3_count ? l3_cache_index(host, cpuset_first(&facts->l3s[0].cpus)) : -1;

	/* One read per group, not per CPU. */
	for (int i = 0; i < facts->l3_count && index >= 0; i++) {
		struct fact id =
		    fact_read_number(host->arena, host->sys, UNIT_NONE, "id", CPU_DIR "/cpu%d/cache/index%d/id",
				     cpuset_first(&facts->l3s[i].cpus), index);

		facts->l3s[i].id = fact_number_or(&id, -1);
	}
}

/*
 * Kernels before 4.14 computed shared_cpu_list of parts with fused-off cores as if each L3 had four: on a Ryzen 5 1600
 * the second L3 shows up as 6-9 and 10-11. The cache id of both is the same, and ids are unique in a system
 * (hardinfo issue 210; ids are taken from the APIC id).
 */
static void settle_l3_conflicts(struct host *host)
{
	struct host_topology *facts = &host->topology;
	const char *conflict = NULL;

	for (int i = 0; i < facts->l3_count; i++) {
		struct topology_l3 *one = &facts->l3s[i];

		for (int j = i + 1; j < facts->l3_count; j++) {
			struct topology_l3 *other = &facts->l3s[j];

			if (one->id < 0 || one->id != other->id || one->package != other->package ||
			    one->size_kib != other->size_kib)
				continue;
			conflict = arena_printf(
			    host->arena,
			    "%s%sthe kernel lists CPUs %s and %s as two L3 groups, but both have cache id %d: "
			    "taken as one",
			    conflict ? conflict : "", conflict ? "; " : "", cpuset_format(host->arena, &one->cpus),
			    cpuset_format(host->arena, &other->cpus), (int)one->id);
			one->cpus = cpuset_or(&one->cpus, &other->cpus);
			memmove(other, other + 1, (size_t)(facts->l3_count - j - 1) * sizeof(*other));
			facts->l3_count--;
			j--;
		}
	}
	facts->l3_conflict = conflict;
}

static void find_x3d(struct host_topology *facts)
{
	int64_t smallest = INT64_MAX, largest = -1;

	for (int i = 0; i < facts->l3_count; i++) {
		if (facts->l3s[i].size_kib < 0)
			return;
		smallest = MIN_OF(smallest, facts->l3s[i].size_kib);
		largest = MAX_OF(largest, facts->l3s[i].size_kib);
	}
	if (largest < X3D_FLOOR_KIB || smallest == largest)
		return;
	facts->x3d = true;
	for (int i = 0; i < facts->l3_count; i++) {
		struct topology_l3 *l3 = &facts->l3s[i];

		l3->large = l3->size_kib >= X3D_FLOOR_KIB && l3->size_kib > smallest;
		if (l3->large)
			facts->large_l3_cpus = cpuset_or(&facts->large_l3_cpus, &l3->cpus);
	}
}

/* ---- the whole ---- */

static bool covers_all(const struct host_topology *facts, size_t offset)
{
	for (int cpu = 0; cpu < facts->cpu_count; cpu++) {
		const char *entry = (const char *)&facts->cpus[cpu];

		if (facts->cpus[cpu].known && *(const int *)(const void *)(entry + offset) < 0)
			return false;
	}
	return facts->thread_count > 0;
}

static void derive(struct topology_gather *gather)
{
	struct host *host = gather->host;
	struct host_topology *facts = &host->topology;

	cut_sets(gather);
	index_cpus(host, &gather->cpus);
	index_packages(facts);
	index_l3s(facts);
	read_l3_ids(host);
	settle_l3_conflicts(host);
	if (facts->l3_conflict) {
		for (int i = 0; i < facts->package_count; i++)
			facts->packages[i].l3_count = 0;
		index_l3s(facts);
	}
	index_cores(facts);
	facts->l3_known = covers_all(facts, offsetof(struct topology_cpu, l3));
	facts->core_known = covers_all(facts, offsetof(struct topology_cpu, core));
	topology_find_ccds(host, gather);
	find_x3d(facts);
	if (!gather->has_nodes)
		topology_read_nodes(host);
	topology_judge_nodes(host);
	topology_find_zen1_dies(host);
	facts->state = fact_switch("topology", true, gather->source);
	/* Kernels before 2.6.28 have no list of what is on line, and hwloc has looked at each CPU. */
	if (!fact_known(&host->cpu.online) || text_equal(host->cpu.online.source, "/proc/cpuinfo"))
		host->cpu.online = fact_cpus(host->arena, "cpu.online", &gather->cpus, gather->source);
}

static void forget(struct host *host)
{
	host->topology = (struct host_topology){
	    .state = fact_absent("topology", CPU_DIR),
	    .nps = fact_absent("topology.nps", "derived from nodes and packages"),
	    .l3_as_numa = fact_absent("topology.l3_as_numa", "derived from nodes and L3 groups"),
	};
}

/*
 * hwloc trusts these lists: an empty or endless one stops it by an assertion (list_sysfsnode() of topology-linux.c), as
 * no kernel writes such. A tree of somebody else's may hold anything.
 */
static bool hwloc_can_read(const struct host *host)
{
	static const char *const lists[] = {CPU_DIR "/online", CPU_DIR "/possible", "/sys/devices/system/node/online",
					    "/sys/devices/system/node/possible"};

	for (size_t i = 0; i < ARRAY_SIZE(lists) && host->kind != HOST_LIVE; i++) {
		struct fact list = fact_read_cpus(host->arena, host->sys, "topology.list", "%s", lists[i]);

		if (list.state == FACT_IMPLAUSIBLE || (fact_known(&list) && cpuset_empty(list.cpus)))
			return false;
	}
	return true;
}

void host_topology_start(struct host *host)
{
	bool is_tree = host->kind == HOST_LIVE || host->kind == HOST_DIRECTORY;

	host->topology.load = is_tree && hwloc_can_read(host) ? topology_start_hwloc(host) : NULL;
}

void host_topology_read(struct host *host)
{
	struct topology_load *load = host->topology.load;
	struct topology_gather gather = {.host = host};
	struct err err = {0};
	const char *xml = NULL;
	size_t size = 0;
	int r;

	forget(host);
	/* hwloc would look at this machine where there is no tree. */
	if (host->kind == HOST_HWLOC_XML || host->kind == HOST_LSCPU || host->kind == HOST_SYNTHETIC)
		return;
	if (host->kind == HOST_ARCHIVE) {
		/* A capture of hvtune's carries what hwloc saw; a plain archive has only the lists. */
		xml = sys_capture_part(host->sys, "hwloc.xml", &size);
		r = xml && size ? topology_gather_hwloc(&gather, NULL, xml, size, &err) : -ENOENT;
	} else {
		r = load ? topology_gather_hwloc(&gather, load, NULL, 0, &err) : -EINVAL;
	}
	if (r < 0) {
		forget(host);
		gather = (struct topology_gather){.host = host};
		r = topology_gather_lists(&gather) ? 0 : r;
	}
	/* Else neither hwloc nor the lists know anything, which is no topology; a capture shall say the same. */
	if (r == 0)
		derive(&gather);
}

int host_topology_read_hwloc(struct host *host, const char *text, size_t size, bool is_xml, struct err *err)
{
	struct topology_gather gather = {.host = host};

	forget(host);
	host_cpu_forget(&host->cpu, "hwloc");
	int r = topology_gather_hwloc(&gather, NULL, text, is_xml ? size : 0, err);

	if (r < 0)
		return r;
	derive(&gather);
	return 0;
}

/* ---- questions ---- */

static const struct topology_cpu *entry_of(const struct host_topology *topology, int cpu)
{
	return cpu >= 0 && cpu < topology->cpu_count && topology->cpus[cpu].known ? &topology->cpus[cpu] : NULL;
}

int topology_l3_of(const struct host_topology *topology, int cpu)
{
	const struct topology_cpu *entry = entry_of(topology, cpu);

	return entry ? entry->l3 : -1;
}

int topology_core_of(const struct host_topology *topology, int cpu)
{
	const struct topology_cpu *entry = entry_of(topology, cpu);

	return entry ? entry->core : -1;
}

int topology_node_of(const struct host_topology *topology, int cpu)
{
	const struct topology_cpu *entry = entry_of(topology, cpu);

	return entry ? entry->node : -1;
}

int topology_package_of(const struct host_topology *topology, int cpu)
{
	const struct topology_cpu *entry = entry_of(topology, cpu);

	return entry ? entry->package : -1;
}

const struct topology_node *topology_node_by_os(const struct host_topology *topology, int os_node)
{
	for (int i = 0; i < topology->node_count; i++)
		if (topology->nodes[i].os_node == os_node)
			return &topology->nodes[i];
	return NULL;
}

struct cpuset topology_whole_cores(const struct host_topology *topology, const struct cpuset *cpus)
{
	struct cpuset whole = *cpus;

	CPUSET_FOREACH (cpu, cpus) {
		int core = topology_core_of(topology, cpu);

		if (core >= 0)
			whole = cpuset_or(&whole, &topology->cores[core].cpus);
	}
	return whole;
}

int topology_split_cores(const struct host_topology *topology, const struct cpuset *cpus)
{
	int split = 0;

	for (int i = 0; i < topology->core_count; i++)
		split += cpuset_meets(&topology->cores[i].cpus, cpus) && !cpuset_subset(&topology->cores[i].cpus, cpus);
	return split;
}

int topology_split_l3s(const struct host_topology *topology, const struct cpuset *cpus)
{
	int split = 0;

	for (int i = 0; i < topology->l3_count; i++)
		split += cpuset_meets(&topology->l3s[i].cpus, cpus) && !cpuset_subset(&topology->l3s[i].cpus, cpus);
	return split;
}
