/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns hosts made of a few files; see tree.h. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "text.h"
#include "tree.h"

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			fail_msg("mkdir %s: %s", path, strerror(errno));
		*slash = '/';
	}
}

static char *path_in(const struct tree *tree, const char *path)
{
	char *full = NULL;

	if (asprintf(&full, "%s%s", tree->root, path) < 0)
		fail_msg("out of memory");
	make_parents(full);
	return full;
}

void tree_write_bytes(struct tree *tree, const char *path, const void *data, size_t size)
{
	CLEANUP(base_free) char *full = path_in(tree, path);
	CLEANUP(base_fclose) FILE *out = fopen(full, "we");

	if (!out || fwrite(data, 1, size, out) != size)
		fail_msg("write %s: %s", full, strerror(errno));
}

void tree_write(struct tree *tree, const char *path, const char *contents)
{
	CLEANUP(base_free) char *full = path_in(tree, path);

	if (path[strlen(path) - 1] == '/')
		return;
	if (!text_starts(contents, "->")) {
		tree_write_bytes(tree, path, contents, strlen(contents));
		return;
	}
	if (symlink(contents + 2, full) < 0)
		fail_msg("symlink %s: %s", full, strerror(errno));
}

void tree_add(struct tree *tree, const struct tree_file *files)
{
	for (; files && files->path; files++)
		tree_write(tree, files->path, files->contents);
}

struct tree *tree_new(const struct tree_file *files)
{
	/* Thousands of small files: in memory where that is there, since a slow disk makes minutes of them. */
	const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	const char *where = getenv("TMPDIR");
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	assert_true(asprintf(&tree->root, "%s/hvtune-tree-XXXXXX", where ? where : memory) > 0);
	assert_non_null(mkdtemp(tree->root));
	tree_add(tree, files);
	return tree;
}

/* "ffffffff,0000ff00": the mask form of first..last on a machine of `cpus` CPUs. */
static const char *mask_text(struct arena *arena, int cpus, int first, int last)
{
	const char *mask = "";

	for (int word = (cpus - 1) / 32; word >= 0; word--) {
		uint32_t bits = 0;

		for (int bit = 0; bit < 32; bit++)
			if (word * 32 + bit >= first && word * 32 + bit <= last)
				bits |= UINT32_C(1) << bit;
		mask = arena_printf(arena, "%s%s%08x", mask, *mask ? "," : "", bits);
	}
	return arena_printf(arena, "%s\n", mask);
}

static const char *list_text(struct arena *arena, int first, int last)
{
	return first == last ? arena_printf(arena, "%d\n", first) : arena_printf(arena, "%d-%d\n", first, last);
}

static void add_cpu(struct tree *tree, struct arena *arena, int cpu, int cpus, int per_l3)
{
	int l3 = cpu / per_l3, l3_first = l3 * per_l3, l3_last = MIN_OF(cpus, l3_first + per_l3) - 1;
	const char *me = list_text(arena, cpu, cpu), *all = list_text(arena, 0, cpus - 1);
	const char *my_mask = mask_text(arena, cpus, cpu, cpu), *all_mask = mask_text(arena, cpus, 0, cpus - 1);
	const struct tree_file files[] = {
	    {"topology/physical_package_id", "0\n"},
	    {"topology/core_id", me},
	    {"topology/thread_siblings_list", me},
	    {"topology/thread_siblings", my_mask},
	    {"topology/core_cpus_list", me},
	    {"topology/core_cpus", my_mask},
	    {"topology/core_siblings_list", all},
	    {"topology/core_siblings", all_mask},
	    {"topology/package_cpus_list", all},
	    {"topology/package_cpus", all_mask},
	    {"cache/index3/level", "3\n"},
	    {"cache/index3/type", "Unified\n"},
	    {"cache/index3/size", "32768K\n"},
	    {"cache/index3/id", list_text(arena, l3, l3)},
	    {"cache/index3/shared_cpu_list", list_text(arena, l3_first, l3_last)},
	    {"cache/index3/shared_cpu_map", mask_text(arena, cpus, l3_first, l3_last)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		tree_write(tree, arena_printf(arena, "/sys/devices/system/cpu/cpu%d/%s", cpu, files[i].path),
			   files[i].contents);
}

void tree_add_amd(struct tree *tree, int cpus, int per_l3, int family, int model)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *all = list_text(arena, 0, cpus - 1);
	const char *text = "";

	for (int cpu = 0; cpu < cpus; cpu++) {
		text = arena_printf(arena,
				    "%sprocessor\t: %d\nvendor_id\t: AuthenticAMD\ncpu family\t: %d\nmodel\t\t: %d\n"
				    "model name\t: AMD EPYC Test Processor\nstepping\t: 1\n"
				    "flags\t\t: fpu vme svm npt topoext hw_pstate cpb\n\n",
				    text, cpu, family, model);
		add_cpu(tree, arena, cpu, cpus, per_l3);
	}
	const struct tree_file files[] = {
	    {"/proc/cpuinfo", text},
	    {"/sys/devices/system/cpu/online", all},
	    {"/sys/devices/system/cpu/possible", all},
	    {"/sys/devices/system/cpu/present", all},
	    {"/sys/devices/system/node/online", "0\n"},
	    {"/sys/devices/system/node/node0/cpulist", all},
	    {"/sys/devices/system/node/node0/cpumap", mask_text(arena, cpus, 0, cpus - 1)},
	    {"/sys/devices/system/node/node0/meminfo",
	     "Node 0 MemTotal:       33554432 kB\nNode 0 MemFree:        30000000 kB\n"},
	    {NULL, NULL},
	};

	tree_add(tree, files);
}

struct host *tree_host(struct tree *tree)
{
	struct err err = {0};

	if (!tree->host && host_open(tree->root, &tree->host, &err) < 0)
		fail_msg("host_open(%s): %s", tree->root, err.what);
	return tree->host;
}

struct advise_result *tree_advise(struct tree *tree)
{
	struct advise_subject subject = {.host = tree_host(tree)};

	return advise_run(&subject);
}

const struct advise_finding *tree_find(const struct advise_result *result, const char *id)
{
	for (size_t i = 0; i < result->finding_count; i++)
		if (text_equal(result->findings[i].rule->id, id))
			return &result->findings[i];
	return NULL;
}

bool tree_has(const struct advise_result *result, const char *id)
{
	return tree_find(result, id) != NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

struct tree *tree_free(struct tree *tree)
{
	if (!tree)
		return NULL;
	(void)host_close(tree->host);
	if (nftw(tree->root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		fail_msg("cannot remove %s: %s", tree->root, strerror(errno));
	free(tree->root);
	free(tree);
	return NULL;
}
