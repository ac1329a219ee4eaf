/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns where the memory of a running VM lies: numa_maps of its process, or the statistics of its control group. */
#include <ctype.h>
#include <inttypes.h>

#include "text.h"
#include "vm_process_internal.h"

/* Below this numa_maps costs less than some milliseconds at worst, and is exact. */
enum { FEW_PAGES_KIB = 512 * 1024, GIB_KIB = 1024 * 1024 };

/* ---- numa_maps ---- */

/* The number behind `key` in a line, or `otherwise`. */
static int64_t number_behind(const char *line, const char *end, const char *key, int64_t otherwise)
{
	const char *found = memmem(line, (size_t)(end - line), key, strlen(key));

	return found ? strtoll(found + strlen(key), NULL, 10) : otherwise;
}

/* The amounts of "... N0=4 N1=4 ...", each of them `unit_kib` long or, of a negative unit, so many bytes. */
static void add_nodes(struct host *host, const char *line, const char *end, int64_t unit_kib, int64_t *ret_kib)
{
	const struct host_topology *topology = &host->topology;
	const int64_t kib_limit = INT64_C(1) << 50;

	for (const char *at = line; at && at < end; at = memchr(at + 1, ' ', (size_t)(end - at - 1))) {
		char *behind = NULL;

		if (at[0] != ' ' || at[1] != 'N' || !isdigit((unsigned char)at[2]))
			continue;
		long node = strtol(at + 2, &behind, 10);
		int64_t amount = *behind == '=' ? strtoll(behind + 1, NULL, 10) : 0;
		const struct topology_node *known = node < CPUSET_MAX ? topology_node_by_os(topology, (int)node) : NULL;

		if (!known || amount <= 0 || (unit_kib > 0 && amount > kib_limit / unit_kib))
			continue;
		int64_t *to = &ret_kib[known - topology->nodes];

		*to = MIN_OF(*to + (unit_kib > 0 ? amount * unit_kib : amount / 1024), kib_limit);
	}
}

/*
 * Is it a mapping of QEMU's program, of a library or of what these read? Its pages are not the VM's: they lie on the
 * node of who read the file first, maybe long ago. Memory of a guest in a file is never in such a directory.
 */
static bool is_program(const char *line, const char *end)
{
	static const char *const directories[] = {"/usr/", "/lib",   "/bin/",	    "/sbin/",
						  "/opt/", "/snap/", "/nix/store/", "/gnu/store/"};
	static const char key[] = " file=";
	const char *file = memmem(line, (size_t)(end - line), key, strlen(key));

	for (size_t i = 0; file && i < ARRAY_SIZE(directories); i++)
		if (text_starts(file + strlen(key), directories[i]))
			return true;
	return false;
}

/* One mapping: "7f... default file=... huge dirty=8 N0=4 N1=4 kernelpagesize_kB=2048". */
static void add_mapping(struct host *host, struct vm *vm, const char *line, const char *end)
{
	bool huge = memmem(line, (size_t)(end - line), " huge", strlen(" huge")) != NULL;
	int64_t page_kib = number_behind(line, end, " kernelpagesize_kB=", 4);

	if (page_kib <= 0 || page_kib > GIB_KIB || is_program(line, end))
		return;
	add_nodes(host, line, end, page_kib, vm->node_kib);
	if (huge)
		add_nodes(host, line, end, page_kib, vm->node_huge_kib);
}

static void make_room(const struct host *host, struct vm *vm, const char *source)
{
	size_t nodes = (size_t)host->topology.node_count;

	vm->node_kib = ARENA_ARRAY(vm->arena, nodes, int64_t);
	vm->node_huge_kib = ARENA_ARRAY(vm->arena, nodes, int64_t);
	vm->node_source = source;
}

static void read_maps(struct host *host, struct vm *vm)
{
	const struct sys_look *maps = sys_read(host->sys, "/proc/%d/numa_maps", vm->pid);

	if (maps->state != SYS_VALUE || maps->size == 0) {
		if (maps->state == SYS_UNREADABLE)
			vm_add_note(vm, (struct vm_place){0},
				    arena_printf(vm->arena, "where its memory lies is not known: %s is %s", maps->path,
						 sys_reason(maps->errnum)));
		return;
	}
	make_room(host, vm, maps->path);
	for (const char *line = maps->data; *line;) {
		const char *end = strchrnul(line, '\n');

		add_mapping(host, vm, line, end);
		line = *end ? end + 1 : end;
	}
}

/* ---- control group ---- */

/* Lines "anon N0=4096 N1=0", in bytes: what the guest's memory can be is anonymous or shared (memfd, files in tmpfs).
 */
static bool read_group(struct host *host, struct vm *vm, const char *group)
{
	const struct sys_look *stat = sys_read(host->sys, "%s/memory.numa_stat", group);

	if (stat->state != SYS_VALUE)
		return false;
	make_room(host, vm, stat->path);
	for (const char *line = stat->data; *line;) {
		const char *end = strchrnul(line, '\n');

		if (text_starts(line, "anon ") || text_starts(line, "shmem "))
			add_nodes(host, line, end, -1, vm->node_kib);
		line = *end ? end + 1 : end;
	}
	return true;
}

/* ---- the choice ---- */

/* A line "VmRSS:	  123 kB" of the process's status; 0: not told. */
static int64_t status_kib(struct host *host, const struct vm *vm, const char *key)
{
	const struct sys_look *status = sys_read(host->sys, "/proc/%d/task/%d/status", vm->pid, vm->pid);
	const char *found = status->state == SYS_VALUE ? strstr(status->data, key) : NULL;

	return found ? strtoll(found + strlen(key), NULL, 10) : 0;
}

void vm_read_memory(struct host *host, struct vm *vm, const char *own_group, struct vm_process_budget *budget)
{
	int64_t ordinary_kib = status_kib(host, vm, "\nVmRSS:"); /* without pages of hugetlb */
	bool only_ordinary = status_kib(host, vm, "\nHugetlbPages:") <= 0;

	if (host->topology.node_count <= 0)
		return;
	if (ordinary_kib > FEW_PAGES_KIB && only_ordinary && own_group && read_group(host, vm, own_group))
		return;
	if (ordinary_kib > budget->ordinary_kib) {
		vm_add_note(vm, (struct vm_place){0},
			    arena_printf(vm->arena,
					 "where its memory lies was not looked at: the kernel would go through %" PRId64
					 " GiB of ordinary pages; numastat -p %d does",
					 ordinary_kib / GIB_KIB, vm->pid));
		return;
	}
	budget->ordinary_kib -= MAX_OF(ordinary_kib, 0);
	read_maps(host, vm);
}
