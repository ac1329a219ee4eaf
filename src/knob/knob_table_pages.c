/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of huge pages that are reserved: a count for each size and node. Sources:
 * Documentation/admin-guide/mm/hugetlbpage.rst of Linux, mm/hugetlb.c (set_max_huge_pages).
 *
 * What is written is the number of pages that are kept. Pages in use are never taken away: when fewer are to be kept
 * than are in use, the rest become surplus, still count in nr_hugepages, and go when their users end. So what a node
 * keeps is nr_hugepages less surplus_hugepages, and giving pages back always succeeds. Growing stops without an error
 * where the kernel finds no more memory in one piece: it is read back, and tried again after the node was compacted.
 */
#include <errno.h>
#include <stdlib.h>

#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define SIZES "/sys/kernel/mm/hugepages"
#define NODE "/sys/devices/system/node/node*"
#define FAMILY "hugepages."
#define MORE_FAMILY "overcommit_hugepages."
#define TOTAL "total:"

enum { MOST_TRIES = 20 }; /* as long as each gets some more */

static int read_number(struct knob_machine *machine, const char *path, int64_t *ret, struct err *err)
{
	const char *text;
	int r = knob_get_value(machine, path, &text, err);

	if (r < 0)
		return r;
	return text_int(text, 10, ret) < 0 ? err_set(err, EBADMSG, path, "holds no number: %s", text) : 0;
}

static int64_t number_beside(struct knob_machine *machine, const char *path, const char *name)
{
	const char *text = knob_beside(machine, path, name);
	int64_t number;

	return text && text_int(text, 10, &number) == 0 ? number : 0;
}

static int read_kept(struct knob_machine *machine, const char *where, int64_t *ret, struct err *err)
{
	int64_t all;
	int r = read_number(machine, where, &all, err);

	if (r == 0)
		*ret = all - number_beside(machine, where, "surplus_hugepages");
	return r;
}

static int get_pages(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	int64_t kept;
	int r = read_kept(machine, where, &kept, err);

	if (r == 0)
		*ret = arena_printf(machine->arena, "%lld", (long long)kept);
	return r;
}

/* Move pages together on the node of `where`; that it is not possible shows in what comes after. */
static void compact(struct knob_machine *machine, const char *where)
{
	const char *end = strstr(where, "/hugepages/");
	struct err ignored = {0};
	int r = knob_set_value(machine, arena_printf(machine->arena, "%.*s/compact", (int)(end - where), where), "1",
			       &ignored);

	if (r == -ENOENT)
		(void)knob_set_value(machine, "/proc/sys/vm/compact_memory", "1", &ignored);
}

static int set_pages(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	int64_t wanted, kept = -1, before = -1;
	int idle_tries = 0;

	if (!text || text_int(text, 10, &wanted) < 0)
		return err_set(err, EINVAL, where, "takes a number of pages");
	for (int tries = 0; tries < MOST_TRIES && idle_tries < 2; tries++) {
		int r = knob_set_value(machine, where, text, err);

		if (r == -EINVAL)
			return err_set(err, EINVAL, where, "this kernel reserves pages of this size only at boot");
		if (r == 0)
			r = read_kept(machine, where, &kept, err);
		if (r < 0)
			return r;
		if (kept >= wanted)
			return 0;
		idle_tries = kept > before ? 0 : idle_tries + 1;
		before = kept;
		compact(machine, where);
	}
	(void)err_set(err, ENOMEM, where, "the kernel found memory in one piece for %lld of %lld pages",
		      (long long)kept, (long long)wanted);
	return err_hint(err, "ask for fewer, stop what uses the memory, or have them reserved at boot");
}

static const struct knob_actuator pages_file = {
    .name = "pages", .get = get_pages, .set = set_pages, .raw = knob_raw_value};

/* The bytes of a page of the directory "hugepages-2048kB"; 0 for other names. */
static int64_t size_of(const char *directory)
{
	static const char prefix[] = "hugepages-";
	char *end;
	long long kib = text_starts(directory, prefix) ? strtoll(directory + strlen(prefix), &end, 10) : 0;

	return kib > 0 && kib < (1LL << 40) && text_equal(end, "kB") ? kib * 1024 : 0;
}

static const char *size_name(struct arena *arena, int64_t bytes)
{
	return bytes % (1 << 30) == 0	? arena_printf(arena, "%lldG", (long long)bytes >> 30)
	       : bytes % (1 << 20) == 0 ? arena_printf(arena, "%lldM", (long long)bytes >> 20)
					: arena_printf(arena, "%lldK", (long long)bytes >> 10);
}

/* "512" pages or "16G" of memory, in pages. */
static int parse_count(const char *text, int64_t page, const struct knob_ask *ask, int64_t *ret, struct err *err)
{
	int64_t bytes;

	if (text_int(text, 10, ret) == 0 && *ret >= 0)
		return 0;
	if (*text < '0' || *text > '9' || text_int(text, 10, &bytes) == 0 || text_size(text, &bytes) < 0)
		return err_set(err, EINVAL, ask->value, "%s takes a number of pages such as 512, or memory such as 16G",
			       ask->name);
	if (bytes % page)
		return err_set(err, EINVAL, ask->value, "is no multiple of the size of the page");
	*ret = bytes / page;
	return 0;
}

/* Give each node its count: the same, or a share of the total, the first ones one more where it does not come out even.
 */
static int share_out(struct knob_machine *machine, const struct knob_ask *ask, int64_t page, struct knob_points *nodes,
		     struct err *err)
{
	bool is_total = text_starts(ask->value, TOTAL);
	int64_t count = 0, each, rest;
	int r = 0;

	/* A guard is asked for without a value. */
	if (*ask->value)
		r = parse_count(ask->value + (is_total ? strlen(TOTAL) : 0), page, ask, &count, err);
	if (r < 0 || nodes->count == 0)
		return r;
	each = is_total ? count / (int64_t)nodes->count : count;
	rest = is_total ? count % (int64_t)nodes->count : 0;
	for (size_t i = 0; i < nodes->count; i++)
		nodes->items[i].new =
		    arena_printf(machine->arena, "%lld", (long long)each + ((int64_t)i < rest ? 1 : 0));
	return 0;
}

/* The nodes of one size; those without memory have no such directory. */
static int expand_size(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask, int64_t page,
		       struct knob_points *points, struct err *err)
{
	struct knob_points nodes = {.arena = machine->arena};
	const char *path =
	    arena_printf(machine->arena, NODE "/hugepages/hugepages-%lldkB/nr_hugepages", (long long)page / 1024);
	size_t kept = 0;
	int r = knob_expand_path(machine, knob, ask, path, &nodes, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < nodes.count; i++) {
		struct err ignored = {0};
		const char *now;

		if (get_pages(machine, nodes.items[i].where, &now, &ignored) != -ENOENT)
			nodes.items[kept++] = nodes.items[i];
	}
	nodes.count = kept;
	r = share_out(machine, ask, page, &nodes, err);
	for (size_t i = 0; r == 0 && i < nodes.count; i++)
		knob_points_add(points, &nodes.items[i]);
	return r;
}

static int expand_more(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask, int64_t page,
		       struct knob_points *points, struct err *err)
{
	struct knob_ask counted = *ask;
	int64_t count = 0;
	int r = *ask->value ? parse_count(ask->value, page, ask, &count, err) : 0;

	if (r < 0)
		return r;
	counted.value = arena_printf(machine->arena, "%lld", (long long)count);
	return knob_expand_path(
	    machine, knob, &counted,
	    arena_printf(machine->arena, SIZES "/hugepages-%lldkB/nr_overcommit_hugepages", (long long)page / 1024),
	    points, err);
}

/*
 * Pages that are larger than what the buddy allocator hands out are not made on demand: mm/hugetlb.c answers EINVAL to
 * nr_overcommit_hugepages of them (hstate_is_gigantic), whatever is written.
 */
#define LARGEST_ON_DEMAND (INT64_C(1) << 30)

/* For each size of this machine that the member names. */
static int expand_sizes(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			struct knob_points *points, struct err *err)
{
	const char *member = ask->name + strlen(knob->name) - 1, *sizes = "";
	const struct sys_look *look = sys_list(machine->sys, "%s", SIZES);
	int64_t wanted;
	bool found = false;

	if (text_size(member, &wanted) < 0)
		wanted = -1;
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++) {
		int64_t page = size_of(look->names[i]);
		const char *size = size_name(machine->arena, page);
		bool all = text_equal(member, "*");
		struct knob_ask one = *ask;
		int r;

		if (page == 0 || (page >= LARGEST_ON_DEMAND && !text_starts(knob->name, FAMILY)))
			continue;
		sizes = arena_printf(machine->arena, "%s%s%s", sizes, *sizes ? ", " : "", size);
		if (!all && page != wanted)
			continue;
		found = true;
		if (all)
			one.name =
			    arena_printf(machine->arena, "%.*s%s", (int)strlen(knob->name) - 1, knob->name, size);
		r = text_starts(knob->name, FAMILY) ? expand_size(machine, knob, &one, page, points, err)
						    : expand_more(machine, knob, &one, page, points, err);
		if (r < 0)
			return r;
	}
	if (found)
		return 0;
	(void)err_set(err, ENOENT, ask->name, "this machine has no huge pages of that size%s",
		      text_starts(knob->name, FAMILY) ? "" : " that are made on demand");
	return *sizes ? err_hint(err, "it has %s", sizes) : -ENOENT;
}

/* "Node 0 MemFree:  123 kB" of a node's meminfo, in KiB. */
static int64_t node_kib(const char *meminfo, const char *name)
{
	const char *line = strstr(meminfo, name);

	return line ? strtoll(line + strlen(name), NULL, 10) : 0;
}

/* What a plan does to one node. */
struct node_change {
	const char *label;
	int64_t more_kib;  /* that it takes, or gives back */
	bool more_at_once; /* pages of 1 GiB among them */
};

static struct node_change sum_node(const struct knob_plan *plan, const struct knob_point *of)
{
	struct node_change change = {.label = of->label};

	for (size_t i = 0; i < plan->points.count; i++) {
		const struct knob_point *point = &plan->points.items[i];
		int64_t old, new, page;

		if (point->knob != of->knob || !text_equal(point->label, of->label) || !point->old ||
		    text_int(point->old, 10, &old) < 0 || text_int(point->new, 10, &new) < 0)
			continue;
		page = size_of(arena_strndup(plan->points.arena, strstr(point->where, "/hugepages-") + 1,
					     strcspn(strstr(point->where, "/hugepages-") + 1, "/")));
		change.more_kib += (new - old) * (page / 1024);
		change.more_at_once |= new > old &&page >= (1 << 30);
	}
	return change;
}

static int judge_node(struct knob_machine *machine, struct knob_plan *plan, const struct knob_point *point,
		      struct err *err)
{
	struct arena *arena = machine->arena;
	struct node_change change = sum_node(plan, point);
	const char *end = strstr(point->where, "/hugepages/"), *meminfo;
	int64_t free_kib, spare_kib, total_kib;

	if (change.more_kib <= 0 ||
	    knob_get_value(machine, arena_printf(arena, "%.*s/meminfo", (int)(end - point->where), point->where),
			   &meminfo, err) < 0)
		return 0;
	free_kib = node_kib(meminfo, "MemFree:");
	spare_kib = node_kib(meminfo, "FilePages:") - node_kib(meminfo, "Shmem:") + node_kib(meminfo, "SReclaimable:");
	spare_kib = spare_kib > 0 ? spare_kib : 0;
	total_kib = node_kib(meminfo, "MemTotal:");
	if (change.more_kib > free_kib + spare_kib) {
		(void)err_set(err, ENOMEM, change.label,
			      "%s more are asked for; %s are free, and %s could be made free",
			      text_kib(arena, change.more_kib), text_kib(arena, free_kib), text_kib(arena, spare_kib));
		return err_hint(err, "ask for fewer pages, or on other nodes");
	}
	if (change.more_kib > free_kib)
		knob_plan_note(machine, plan,
			       arena_printf(arena, "%s: %s of caches have to be dropped for that, which takes time",
					    change.label, text_kib(arena, change.more_kib - free_kib)));
	if (free_kib + spare_kib - change.more_kib < total_kib / 20)
		knob_plan_note(machine, plan,
			       arena_printf(arena, "%s: %s are left for everything else", change.label,
					    text_kib(arena, free_kib + spare_kib - change.more_kib)));
	if (change.more_at_once)
		knob_plan_note(machine, plan,
			       "pages of 1 GiB are seldom found in one piece on a machine that has run for a while; "
			       "what is not found is put back");
	return 0;
}

static int judge_pages(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		       struct err *err)
{
	for (size_t i = step->first; i < step->first + step->count; i++) {
		const struct knob_point *point = &plan->points.items[i];
		int64_t all = 0, used, wanted;
		struct err ignored = {0};
		int r = judge_node(machine, plan, point, err);

		if (r < 0)
			return r;
		if (read_number(machine, point->where, &all, &ignored) < 0 || text_int(point->new, 10, &wanted) < 0)
			continue;
		used = all - number_beside(machine, point->where, "free_hugepages");
		if (wanted < used)
			knob_plan_note(
			    machine, plan,
			    arena_printf(machine->arena,
					 "%s: %lld pages are in use; those above %lld go when their users end",
					 point->label, (long long)used, (long long)wanted));
	}
	return 0;
}

static const struct knob hugepages = {
    .name = FAMILY "*",
    .summary = "huge pages reserved on a node",
    .value = "COUNT or memory (16G) of each node, or total:COUNT over the nodes",
    .members = "hugepages.2M, hugepages.1G",
    .unit = KNOB_OF_NODES,
    .actuator = &pages_file,
    .path = NODE "/hugepages/hugepages-*kB/nr_hugepages",
    .paths = (const char *const[]){NODE "/compact", "/proc/sys/vm/compact_memory", NULL},
    .expand = expand_sizes,
    .least = 0,
    .most = INT32_MAX,
    .rank = KNOB_RANK_PAGES,
    .order = KNOB_FALLING_FIRST,
    .judge = judge_pages,
    .hurts = "memory that is reserved is taken from everything else, also while no VM uses it",
};

static const struct knob overcommit = {
    .name = MORE_FAMILY "*",
    .summary = "huge pages that may be made beyond the reserved ones when they are asked for",
    .value = "COUNT or memory (16G)",
    .members = "overcommit_hugepages.2M",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = SIZES "/hugepages-*kB/nr_overcommit_hugepages",
    .expand = expand_sizes,
    .least = 0,
    .most = INT32_MAX,
    .rank = KNOB_RANK_PAGES + 1,
    .hurts = "a VM that counts on such pages fails to start when memory is in pieces",
};

const struct knob *const knob_table_pages[] = {&hugepages, &overcommit, NULL};
