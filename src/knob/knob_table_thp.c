/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of transparent huge pages beyond the main switch, and of merging equal pages. Sources:
 * Documentation/admin-guide/mm/{transhuge,ksm}.rst of Linux, mm/huge_memory.c, mm/khugepaged.c, mm/ksm.c.
 */
#include <errno.h>

#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define THP "/sys/kernel/mm/transparent_hugepage"
#define KHUGEPAGED THP "/khugepaged/"
#define KSM "/sys/kernel/mm/ksm/"
#define FAMILY "thp."

/* "hugepages-64kB" as people say it, "64k"; NULL for other names. */
static const char *size_of(struct arena *arena, const char *directory)
{
	static const char prefix[] = "hugepages-";
	const char *number = arena_strdup(arena, directory + (text_starts(directory, prefix) ? strlen(prefix) : 0));
	char *unit = strstr(number, "kB");
	int64_t kib;

	if (!text_starts(directory, prefix) || !unit)
		return NULL;
	*unit = '\0';
	if (text_int(number, 10, &kib) < 0)
		return NULL;
	return kib % 1024 ? arena_printf(arena, "%lldk", (long long)kib)
			  : arena_printf(arena, "%lldM", (long long)kib / 1024);
}

static bool same_size(const char *a, const char *b)
{
	int64_t bytes_a, bytes_b;

	return text_size(a, &bytes_a) == 0 && text_size(b, &bytes_b) == 0 && bytes_a == bytes_b;
}

/* thp.64k is the file `enabled` of that size, thp.64k.shmem its `shmem_enabled`. */
static int expand_sizes(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			struct knob_points *points, struct err *err)
{
	static const struct {
		const char *suffix, *file;
	} kinds[] = {{"", "enabled"}, {".shmem", "shmem_enabled"}};
	const char *member = ask->name + strlen(FAMILY), *sizes = "";
	size_t before = points->count;
	const struct sys_look *look = sys_list(machine->sys, "%s", THP);

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++) {
		const char *size = size_of(machine->arena, look->names[i]);

		for (size_t kind = 0; size && kind < ARRAY_SIZE(kinds); kind++) {
			const char *suffix = kinds[kind].suffix;
			size_t length = strlen(member) - MIN_OF(strlen(suffix), strlen(member));
			bool all = text_equal(member, "*");
			struct knob_ask one = {
			    .name = all ? arena_printf(machine->arena, FAMILY "%s%s", size, suffix) : ask->name,
			    .where = ask->where,
			    .value = ask->value,
			};
			int r;

			if (!all && (!text_equal(member + length, suffix) ||
				     !same_size(arena_strndup(machine->arena, member, length), size)))
				continue;
			r = knob_expand_path(
			    machine, knob, &one,
			    arena_printf(machine->arena, THP "/%s/%s", look->names[i], kinds[kind].file), points, err);
			if (r < 0)
				return r;
		}
		if (size)
			sizes = arena_printf(machine->arena, "%s%s%s", sizes, *sizes ? ", " : "", size);
	}
	if (points->count > before)
		return 0;
	(void)err_set(err, ENOENT, ask->name, "this kernel has no transparent huge pages of that size");
	return *sizes ? err_hint(err, "it has %s", sizes) : err_hint(err, "sizes of their own came with Linux 6.8");
}

static const struct knob thp_sizes = {
    .name = FAMILY "*",
    .summary = "transparent huge pages of one size; with .shmem those of shared memory",
    .value = "always|inherit|madvise|never, of shared memory also within_size, advise",
    .members = "thp.64k, thp.2M, thp.64k.shmem",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_choice_file,
    .path = THP "/hugepages-*kB/enabled",
    .paths = (const char *const[]){THP "/hugepages-*kB/shmem_enabled", NULL},
    .expand = expand_sizes,
    .words = "always inherit madvise never within_size advise",
    .rank = KNOB_RANK_PLAIN,
    .check = knob_check_choice,
};

static const struct knob khugepaged_pages = {
    .name = "khugepaged.pages_to_scan",
    .summary = "pages that khugepaged looks at in one round",
    .value = "pages",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KHUGEPAGED "pages_to_scan",
    .least = 1,
    .most = UINT32_MAX,
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob khugepaged_sleep = {
    .name = "khugepaged.scan_sleep_ms",
    .summary = "time that khugepaged sleeps between rounds",
    .value = "ms",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KHUGEPAGED "scan_sleep_millisecs",
    .least = 0,
    .most = UINT32_MAX,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "short sleeps of khugepaged cost CPU time and keep a core awake",
};

static const struct knob khugepaged_defrag = {
    .name = "khugepaged.defrag",
    .summary = "whether khugepaged makes room by compaction",
    .value = "0|1",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KHUGEPAGED "defrag",
    .words = "0 1",
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob khugepaged_none = {
    .name = "khugepaged.max_ptes_none",
    .summary = "untouched small pages that khugepaged takes into a huge one",
    .value = "0-511",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KHUGEPAGED "max_ptes_none",
    .least = 0,
    .most = 511,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "many untouched pages taken in let memory grow that nobody asked for",
};

static int64_t pages_shared(struct knob_machine *machine)
{
	const char *text;
	int64_t pages = 0;
	struct err ignored = {0};

	if (knob_get_value(machine, KSM "pages_shared", &text, &ignored) == 0)
		(void)text_int(text, 10, &pages);
	return pages;
}

/* The kernel says EBUSY as long as pages are merged. */
static int set_unmerged(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	int r = knob_set_value(machine, where, text, err);

	if (r == -EBUSY) {
		(void)err_set(err, EBUSY, where, "cannot be changed while pages are merged");
		(void)err_hint(err, "ksm=2 takes them apart");
	}
	return r;
}

static int judge_unmerged(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			  struct err *err)
{
	const struct knob_point *run = knob_plan_find(plan, "ksm", "");
	int64_t pages = pages_shared(machine);

	if (pages == 0 || (run && text_equal(run->new, "2")))
		return 0;
	(void)err_set(err, EBUSY, step->name, "cannot be changed while pages are merged; %lld are", (long long)pages);
	return err_hint(err, "ksm=2 in the same plan takes them apart first");
}

static const struct knob_actuator unmerged_file = {
    .name = "unmerged", .get = knob_get_value, .set = set_unmerged, .raw = knob_raw_value};

static const struct knob ksm_across = {
    .name = "ksm.merge_across_nodes",
    .summary = "whether equal pages of different NUMA nodes are merged",
    .value = "0|1",
    .unit = KNOB_OF_HOST,
    .actuator = &unmerged_file,
    .path = KSM "merge_across_nodes",
    .words = "0 1",
    .rank = KNOB_RANK_PLAIN + 2,
    .judge = judge_unmerged,
    .hurts = "pages merged across nodes (1) are read from afar by all nodes but one",
};

static const struct knob ksm_pages = {
    .name = "ksm.pages_to_scan",
    .summary = "pages that ksmd looks at in one round",
    .value = "pages",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KSM "pages_to_scan",
    .least = 1,
    .most = UINT32_MAX,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "a ksmd that scans much takes up to a whole core",
};

static const struct knob ksm_sleep = {
    .name = "ksm.sleep_ms",
    .summary = "time that ksmd sleeps between rounds",
    .value = "ms",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KSM "sleep_millisecs",
    .least = 0,
    .most = UINT32_MAX,
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob ksm_zero = {
    .name = "ksm.use_zero_pages",
    .summary = "whether empty pages are merged with the zero page of the kernel",
    .value = "0|1",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KSM "use_zero_pages",
    .words = "0 1",
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob ksm_smart = {
    .name = "ksm.smart_scan",
    .summary = "whether ksmd skips pages that were not merged before (Linux 6.7)",
    .value = "0|1",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KSM "smart_scan",
    .words = "0 1",
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob ksm_advisor = {
    .name = "ksm.advisor_mode",
    .summary = "whether the kernel itself chooses how much ksmd scans (Linux 6.8)",
    .value = "none|scan-time",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_choice_file,
    .path = KSM "advisor_mode",
    .words = "none scan-time",
    .rank = KNOB_RANK_PLAIN - 2,
    .moves = "ksm.pages_to_scan",
    .check = knob_check_choice,
};

const struct knob *const knob_table_thp[] = {
    &thp_sizes, &khugepaged_pages, &khugepaged_sleep, &khugepaged_defrag, &khugepaged_none, &ksm_across,
    &ksm_pages, &ksm_sleep,	   &ksm_zero,	      &ksm_smart,	  &ksm_advisor,	    NULL,
};
