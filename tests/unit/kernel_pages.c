/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules of mm/hugetlb.c of the simulated kernel: set_max_huge_pages() of one node. */
#include <errno.h>
#include <stdlib.h>

#include "kernel_rules.h"
#include "text.h"

#define NODE "/sys/devices/system/node/node"
#define SIZES "/sys/kernel/mm/hugepages/"

enum { NODE_KIB = 4 << 20, FREE_KIB = 3 << 20 };

/* The file of the node of `path`, which lies in its directory of one size. */
static const char *of_node(const char *path, const char *name)
{
	static char file[4][512];
	static int turn;

	turn = (turn + 1) % 4;
	(void)snprintf(file[turn], sizeof(file[turn]), "%.*s/%s", (int)(strstr(path, "/hugepages/") - path), path,
		       name);
	return file[turn];
}

static long free_kib(const struct kernel *kernel, const char *path)
{
	char text[4096];
	const char *line;

	kernel_read(kernel, of_node(path, "meminfo"), text, sizeof(text));
	line = strstr(text, "MemFree:");
	return line ? strtol(line + strlen("MemFree:"), NULL, 10) : 0;
}

static void put_free(const struct kernel *kernel, const char *path, long kib)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "Node 0 MemTotal:       %d kB\nNode 0 MemFree:        %ld kB\nNode 0 FilePages:      204800 kB\n"
		       "Node 0 Shmem:          0 kB\nNode 0 SReclaimable:   0 kB",
		       NODE_KIB, kib);
	kernel_put(kernel, of_node(path, "meminfo"), text);
}

static int judge_pages(const struct kernel *kernel, const char *path, const char *value)
{
	int64_t count;

	(void)kernel;
	(void)path;
	return text_int(value, 10, &count) < 0 || count < 0 ? -EINVAL : 0;
}

static void take_pages(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	const char *free_file = kernel_beside(path, "free_hugepages");
	const char *surplus_file = kernel_beside(path, "surplus_hugepages");
	const char *pieces_file = of_node(path, "pieces");
	long page_kib = strstr(path, "2048kB") ? 2048 : 1 << 20;
	int64_t wanted = 0, all = 0;
	long unused = kernel_number(kernel, free_file), surplus;
	long memory_kib = free_kib(kernel, path), pieces = kernel_number(kernel, pieces_file), used, change;

	(void)text_int(value, 10, &wanted);
	(void)text_int(before, 10, &all);
	used = (long)all - unused;
	change = (long)wanted - (long)all;
	if (change > 0) {
		change = MIN_OF(change, MIN_OF(pieces, memory_kib / page_kib));
		if (wanted - (long)all > change)
			pieces = 0;
	}
	if (all + change < used)
		change = used - (long)all;
	surplus = all + change > wanted ? (long)all + change - (long)wanted : 0;
	kernel_put_number(kernel, path, (long)all + change);
	kernel_put_number(kernel, free_file, unused + change);
	kernel_put_number(kernel, surplus_file, surplus);
	kernel_put_number(kernel, pieces_file, change < 0 ? KERNEL_PIECES : pieces);
	put_free(kernel, path, memory_kib - change * page_kib);
}

static void take_compact(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	(void)value;
	kernel_put(kernel, path, before);
	kernel_put_number(kernel, kernel_beside(path, "pieces"), KERNEL_PIECES);
}

void kernel_add_pages(struct kernel *kernel)
{
	static const char *const sizes[] = {"hugepages-2048kB", "hugepages-1048576kB"};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), SIZES "%s/nr_overcommit_hugepages", sizes[i]);
		tree_write(kernel->tree, path, "0\n");
		for (int node = 0; node < 2; node++) {
			(void)snprintf(path, sizeof(path), NODE "%d/hugepages/%s/nr_hugepages", node, sizes[i]);
			tree_write(kernel->tree, path, "0\n");
			tree_write(kernel->tree, kernel_beside(path, "free_hugepages"), "0\n");
			tree_write(kernel->tree, kernel_beside(path, "surplus_hugepages"), "0\n");
			tree_write(kernel->tree, of_node(path, "compact"), "\n");
			kernel_put_number(kernel, of_node(path, "pieces"), KERNEL_PIECES);
			put_free(kernel, path, FREE_KIB);
		}
	}
}

void kernel_use_pages(struct kernel *kernel, int node, int count)
{
	char path[256];

	(void)snprintf(path, sizeof(path), NODE "%d/hugepages/hugepages-2048kB/free_hugepages", node);
	kernel_put_number(kernel, path, kernel_number(kernel, path) - count);
}

const struct kernel_rule kernel_pages_rules[] = {
    {NODE "*/hugepages/*/nr_hugepages", judge_pages, take_pages},
    {NODE "*/compact", NULL, take_compact},
    {NULL, NULL, NULL},
};
