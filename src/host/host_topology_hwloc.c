/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the dealings with hwloc: loading with the least work, and its XML for captures. */
#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <pthread.h>
#include <strings.h>

#include "host_topology_internal.h"
#include "text.h"

static void destroy_topology(hwloc_topology_t *topology)
{
	if (*topology)
		hwloc_topology_destroy(*topology);
	*topology = NULL;
}

/*
 * The environment of hwloc. It has no call for the root directory of a dump nor for the choice of back-ends: both are
 * environment variables, read in hwloc_topology_init() and hwloc_topology_load(). They are set around these two calls
 * and put back, and what a user may have set for lstopo does not change hvtune's facts.
 *
 * HWLOC_COMPONENTS=linux,stop: only sysfs is read. The x86 back-end would bind hvtune to each CPU in turn, which takes
 * time and wakes idle cores, and would describe this machine where a dump is asked for.
 */
static const char *const hwloc_variables[] = {"HWLOC_COMPONENTS", "HWLOC_FSROOT",	    "HWLOC_THISSYSTEM",
					      "HWLOC_XMLFILE",	  "HWLOC_SYNTHETIC",	    "HWLOC_HIDE_ERRORS",
					      "HWLOC_CPUID_PATH", "HWLOC_DUMPED_HWDATA_DIR"};

struct environment {
	char *before[ARRAY_SIZE(hwloc_variables)];
};

static void set_variable(const char *name, const char *value)
{
	if ((value ? setenv(name, value, 1) : unsetenv(name)) < 0)
		err_no_memory();
}

static void enter_environment(struct environment *environment, const char *root, bool only_linux)
{
	for (size_t i = 0; i < ARRAY_SIZE(hwloc_variables); i++) {
		const char *value = getenv(hwloc_variables[i]);

		environment->before[i] = value ? strdup(value) : NULL;
		if (value && !environment->before[i])
			err_no_memory();
		set_variable(hwloc_variables[i], NULL);
	}
	/* hwloc boxes its complaints about contradicting firmware on stderr; hvtune has findings for them. */
	set_variable("HWLOC_HIDE_ERRORS", "2");
	if (only_linux)
		set_variable("HWLOC_COMPONENTS", "linux,stop");
	if (root) {
		set_variable("HWLOC_FSROOT", root);
		set_variable("HWLOC_THISSYSTEM", "0");
	}
}

static void leave_environment(struct environment *environment)
{
	for (size_t i = 0; i < ARRAY_SIZE(hwloc_variables); i++) {
		set_variable(hwloc_variables[i], environment->before[i]);
		free(environment->before[i]);
	}
}

/* What a load is for: facts want few kinds of objects and no extras, a capture wants all that is no device. */
enum purpose { FOR_FACTS_OF_TREE, FOR_FACTS_OF_TEXT, FOR_CAPTURE };

static int choose_objects(hwloc_topology_t topology, enum purpose purpose)
{
	static const hwloc_obj_type_t kept[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE};
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
	int r = 0;

	if (purpose == FOR_CAPTURE)
		return hwloc_topology_set_flags(topology, flags);
		/* Nodes, distances and memory are read from a tree through the door, so that captures hold them. */
#if HWLOC_API_VERSION >= 0x00020800
	flags |= HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
	if (purpose == FOR_FACTS_OF_TREE)
		flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES;
#endif
	r |= hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		r |= hwloc_topology_set_type_filter(topology, kept[i], HWLOC_TYPE_FILTER_KEEP_ALL);
	/* Groups carry the nodes that fit no package; without them hwloc moves such nodes elsewhere. */
	if (purpose == FOR_FACTS_OF_TEXT)
		r |= hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	return r | hwloc_topology_set_flags(topology, flags);
}

static int set_text(hwloc_topology_t topology, const char *text, size_t size)
{
	if (!text)
		return 0;
	/* hwloc wants the size with the NUL that ends the text. */
	if (size >= INT_MAX)
		return -1;
	return size ? hwloc_topology_set_xmlbuffer(topology, text, (int)size + 1)
		    : hwloc_topology_set_synthetic(topology, text);
}

/*
 * One load. Of a large tree it takes as long as all other facts together and touches nothing of theirs, so it may run
 * in a thread of its own; the environment is set and put back by the caller's thread, before it starts and after its
 * end.
 */
struct topology_load {
	enum purpose purpose;
	const char *text;
	size_t size;
	struct environment environment;
	pthread_t thread;
	bool in_thread;
	hwloc_topology_t topology;
	const char *step; /* that failed */
	int errnum;	  /* 0: loaded */
};

static void *run_load(void *argument)
{
	struct topology_load *load = argument;
	int r;

	errno = 0;
	load->step = "start";
	r = hwloc_topology_init(&load->topology);
	if (r == 0) {
		load->step = "take its options";
		r = choose_objects(load->topology, load->purpose);
	}
	if (r == 0) {
		load->step = "understand this topology";
		r = set_text(load->topology, load->text, load->size);
	}
	if (r == 0) {
		load->step = "load this topology";
		r = hwloc_topology_load(load->topology);
	}
	load->errnum = r == 0 ? 0 : errno ? errno : EINVAL;
	return NULL;
}

static void begin_load(struct topology_load *load, const struct host *host)
{
	enter_environment(&load->environment, host->kind == HOST_DIRECTORY ? sys_root(host->sys) : NULL, !load->text);
}

static int end_load(struct topology_load *load, const struct host *host, hwloc_topology_t *ret, struct err *err)
{
	if (load->in_thread)
		(void)pthread_join(load->thread, NULL);
	leave_environment(&load->environment);
	if (load->errnum) {
		destroy_topology(&load->topology);
		return err_set(err, load->errnum, host->name, "hwloc could not %s", load->step);
	}
	*ret = load->topology;
	return 0;
}

static int load_now(const struct host *host, enum purpose purpose, const char *text, size_t size, hwloc_topology_t *ret,
		    struct err *err)
{
	struct topology_load load = {.purpose = purpose, .text = text, .size = size};

	begin_load(&load, host);
	(void)run_load(&load);
	return end_load(&load, host, ret, err);
}

struct topology_load *topology_start_hwloc(struct host *host)
{
	struct topology_load *load = ARENA_NEW(host->arena, struct topology_load);

	load->purpose = FOR_FACTS_OF_TREE;
	begin_load(load, host);
	load->in_thread = pthread_create(&load->thread, NULL, run_load, load) == 0;
	if (!load->in_thread)
		(void)run_load(load);
	return load;
}

static struct cpuset cpuset_of(hwloc_const_bitmap_t bitmap)
{
	struct cpuset set = {0};

	/* Sets of a topology are finite; bits past the end of `set` are cut. */
	if (bitmap)
		(void)hwloc_bitmap_to_ulongs(bitmap, ARRAY_SIZE(set.bits), set.bits);
	return set;
}

static int os_number(const struct hwloc_obj *object)
{
	return object->os_index == HWLOC_UNKNOWN_INDEX || object->os_index > INT_MAX ? -1 : (int)object->os_index;
}

/*
 * hwloc fills in sizes that a description does not give (16 MiB of L3, 1 GiB a node...). Does the text give `key` for a
 * level whose name starts with `type`: "l3:8(size=32MiB)", "[numa(memory=64GiB)]"?
 */
static bool description_gives(const char *text, const char *type, const char *key)
{
	for (const char *at = text; *at;) {
		at += strspn(at, " []");
		size_t name = strcspn(at, " []("), length = name + (at[name] == '(' ? strcspn(at + name, ")") : 0);

		if (strncasecmp(at, type, strlen(type)) == 0 && memmem(at + name, length - name, key, strlen(key)))
			return true;
		at += length + (at[length] == ')');
	}
	return false;
}

/* The children of one package, die... are found in hwloc's order; topology.c sorts. */
static void gather_type(struct topology_gather *gather, hwloc_topology_t topology, hwloc_obj_type_t type)
{
	const struct host *host = gather->host;
	bool sizes = host->kind != HOST_SYNTHETIC || description_gives(host->name, "l3", "size=");

	for (hwloc_obj_t object = NULL; (object = hwloc_get_next_obj_by_type(topology, type, object));) {
		struct cpuset cpus = cpuset_of(object->cpuset);

		if (type == HWLOC_OBJ_PACKAGE)
			topology_add_package(gather, &cpus, os_number(object));
		else if (type == HWLOC_OBJ_DIE)
			topology_add_die(gather, &cpus, os_number(object));
		else if (type == HWLOC_OBJ_CORE)
			topology_add_core(gather, &cpus, os_number(object));
		else if (object->attr->cache.type == HWLOC_OBJ_CACHE_UNIFIED)
			topology_add_l3(gather, &cpus,
					sizes && object->attr->cache.size ? (int64_t)(object->attr->cache.size / 1024)
									  : -1);
	}
}

static void gather_distances(struct host *host, hwloc_topology_t topology)
{
	struct host_topology *facts = &host->topology;
	struct hwloc_distances_s *distances = NULL;
	unsigned count = 1;

	if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &distances,
					HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) < 0 ||
	    count == 0)
		return;
	if ((int)distances->nbobjs == facts->node_count) {
		for (int from = 0; from < facts->node_count; from++) {
			int *row = ARENA_ARRAY(host->arena, (size_t)facts->node_count, int);

			for (int to = 0; to < facts->node_count; to++)
				row[to] = (int)distances->values[from * facts->node_count + to];
			for (int node = 0; node < facts->node_count; node++)
				if (facts->nodes[node].os_node == os_number(distances->objs[from]))
					facts->nodes[node].distances = row;
		}
	}
	hwloc_distances_release(topology, distances);
}

static void gather_nodes(struct topology_gather *gather, hwloc_topology_t topology)
{
	struct host *host = gather->host;
	struct host_topology *facts = &host->topology;
	int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
	bool sizes = host->kind != HOST_SYNTHETIC || description_gives(host->name, "numa", "memory=") ||
		     description_gives(host->name, "node", "memory=");

	if (count <= 0)
		return;
	facts->nodes = ARENA_ARRAY(host->arena, (size_t)count, struct topology_node);
	for (hwloc_obj_t object = NULL; (object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object));) {
		struct topology_node *node = &facts->nodes[facts->node_count++];
		int64_t memory_kib = (int64_t)(object->attr->numanode.local_memory / 1024);

		node->os_node = os_number(object);
		node->cpus = cpuset_of(object->cpuset);
		node->free_kib = fact_absent("topology.node.free", "hwloc");
		/* A topology without any memory figure has none to tell, rather than no memory. */
		if (sizes && hwloc_get_root_obj(topology)->total_memory)
			node->memory_kib = fact_number("topology.node.memory", UNIT_KIB, memory_kib, "hwloc");
		else
			node->memory_kib = fact_absent("topology.node.memory", "hwloc");
	}
	gather->has_nodes = facts->node_known = true;
	gather_distances(host, topology);
}

/* Identity of the CPU, for hosts that are nothing but a topology. */
static void gather_identity(struct host *host, hwloc_topology_t topology)
{
	struct host_cpu *cpu = &host->cpu;
	const struct {
		const char *key, *name;
		struct fact *fact;
		bool is_number;
	} wanted[] = {
	    {"CPUVendor", "cpu.vendor", &cpu->vendor, false},
	    {"CPUModel", "cpu.model_name", &cpu->model_name, false},
	    {"CPUFamilyNumber", "cpu.family", &cpu->family, true},
	    {"CPUModelNumber", "cpu.model", &cpu->model, true},
	    {"CPUStepping", "cpu.stepping", &cpu->stepping, true},
	};
	hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const char *text = package ? hwloc_obj_get_info_by_name(package, wanted[i].key) : NULL;
		int64_t number;

		if (fact_known(wanted[i].fact))
			continue;
		if (!text)
			text = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), wanted[i].key);
		*wanted[i].fact = fact_absent(wanted[i].name, "hwloc");
		if (text && !wanted[i].is_number)
			*wanted[i].fact = fact_text(wanted[i].name, arena_strdup(host->arena, text), "hwloc");
		else if (text && text_int(text, 10, &number) == 0 && number >= 0)
			*wanted[i].fact = fact_number(wanted[i].name, UNIT_NONE, number, "hwloc");
	}
	host_cpu_name_generation(cpu);
}

int topology_gather_hwloc(struct topology_gather *gather, struct topology_load *started, const char *text, size_t size,
			  struct err *err)
{
	CLEANUP(destroy_topology) hwloc_topology_t topology = NULL;
	int r = started ? end_load(started, gather->host, &topology, err)
			: load_now(gather->host, FOR_FACTS_OF_TEXT, text, size, &topology, err);

	if (r < 0)
		return r;
	/* Cut off at the largest number, it would be another machine. */
	const int last = hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(topology));

	if (last >= CPUSET_MAX)
		return err_set(err, E2BIG, gather->host->name,
			       "CPU %d: a Linux kernel on x86 has no numbers over %d, and hvtune neither", last,
			       CPUSET_MAX - 1);
	gather->cpus = cpuset_of(hwloc_topology_get_topology_cpuset(topology));
	if (cpuset_empty(&gather->cpus))
		return err_set(err, ENODATA, gather->host->name, "hwloc finds no CPU in this topology");
	gather->source = "hwloc";
	gather_type(gather, topology, HWLOC_OBJ_PACKAGE);
	gather_type(gather, topology, HWLOC_OBJ_DIE);
	gather_type(gather, topology, HWLOC_OBJ_L3CACHE);
	gather_type(gather, topology, HWLOC_OBJ_CORE);
	if (gather->host->kind == HOST_HWLOC_XML || gather->host->kind == HOST_SYNTHETIC) {
		gather_nodes(gather, topology);
		gather_identity(gather->host, topology);
	}
	return 0;
}

/*
 * Keep only the infos that describe the CPU and the software that made the file. Everything else (HostName, DMI serials
 * and asset tags, cgroups, disk and network names) is dropped, also what later versions of hwloc may add.
 */
static size_t drop_infos(char *xml, size_t size)
{
	static const char *const kept[] = {"Architecture", "Backend",	     "CPUFamilyNumber",
					   "CPUModel",	   "CPUModelNumber", "CPUStepping",
					   "CPUVendor",	   "Inclusive",	     "hwlocVersion"};
	char *end = xml + size, *to = xml;

	for (char *from = xml; from < end;) {
		static const char start[] = "<info name=\"";
		char *info = memmem(from, (size_t)(end - from), start, strlen(start));
		char *close = info ? memmem(info, (size_t)(end - info), "/>", 2) : NULL;

		if (!info || !close) {
			memmove(to, from, (size_t)(end - from));
			to += end - from;
			break;
		}
		const char *name = info + strlen(start);
		bool keep = false;

		for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
			keep |= text_starts(name, kept[i]) && name[strlen(kept[i])] == '"';
		/* The line goes with the element: its indentation and its end. */
		char *resume = close + 2, *until = info;

		if (keep) {
			until = resume;
		} else {
			while (until > from && (until[-1] == ' ' || until[-1] == '\t'))
				until--;
			resume += resume < end && *resume == '\n';
		}
		memmove(to, from, (size_t)(until - from));
		to += until - from;
		from = resume;
	}
	*to = '\0';
	return (size_t)(to - xml);
}

int host_topology_export_xml(const struct host *host, char **ret_xml, size_t *ret_size, struct err *err)
{
	CLEANUP(destroy_topology) hwloc_topology_t topology = NULL;
	char *buffer = NULL;
	int length = 0;

	if (host->kind != HOST_LIVE && host->kind != HOST_DIRECTORY)
		return err_set(err, EINVAL, host->name, "only a running machine or a directory can be captured");
	int r = load_now(host, FOR_CAPTURE, NULL, 0, &topology, err);

	if (r < 0)
		return r;
	if (hwloc_topology_export_xmlbuffer(topology, &buffer, &length, 0) < 0 || length <= 0)
		return err_set(err, errno ? errno : EIO, host->name, "hwloc could not write its XML");
	/* `length` counts the NUL. The copy is the caller's to free(); hwloc's buffer is not. */
	char *xml = strndup(buffer, (size_t)length);

	hwloc_free_xmlbuffer(topology, buffer);
	if (!xml)
		err_no_memory();
	*ret_size = drop_infos(xml, strlen(xml));
	*ret_xml = xml;
	return 0;
}
