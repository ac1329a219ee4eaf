/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns words that are more than one value: lists of CPUs and of other items, and the pairs hugepagesz= hugepages=.
 */
#include "knob_boot_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "cpuset.h"
#include "host_hugewords.h"
#include "text.h"

/* ---- lists ---- */

/* Parameters whose items that begin with a digit are CPUs (Documentation/admin-guide/kernel-parameters.txt). */
static bool is_cpu_list(const char *name)
{
	static const char *const names[] = {"isolcpus",	   "nohz_full",	   "rcu_nocbs",
					    "irqaffinity", "kthread_cpus", "housekeeping"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (cmdline_same_name(name, names[i]))
			return true;
	return false;
}

struct list {
	const char *words; /* items that are no CPUs, with commas */
	struct cpuset cpus;
};

static bool is_cpus(const char *item, struct cpuset *ret)
{
	return isdigit((unsigned char)*item) && cpuset_parse(item, ret, NULL) == 0;
}

static struct list list_parse(struct arena *arena, const char *name, const char *value)
{
	struct list list = {.words = ""};
	bool cpus_here = is_cpu_list(name);

	while (value && *value) {
		size_t length = strcspn(value, ",");
		const char *item = arena_strndup(arena, value, length);
		struct cpuset cpus = {{0}};

		if (cpus_here && is_cpus(item, &cpus))
			list.cpus = cpuset_or(&list.cpus, &cpus);
		else if (length)
			list.words = arena_printf(arena, "%s%s%s", list.words, *list.words ? "," : "", item);
		value += length + (value[length] == ',');
	}
	return list;
}

/* Flags first, as isolcpus= wants them; then the CPUs, compressed. */
static const char *list_print(struct arena *arena, const struct list *list)
{
	const char *cpus = cpuset_format(arena, &list->cpus);

	if (!*cpus && !*list->words)
		return NULL;
	return arena_printf(arena, "%s%s%s", list->words, *list->words && *cpus ? "," : "", cpus);
}

/* The items of `words` that are (`wanted`) or are not in `among`. */
static const char *words_of(struct arena *arena, const char *words, const char *among, bool wanted)
{
	const char *kept = "";

	while (*words) {
		size_t length = strcspn(words, ",");
		const char *item = arena_strndup(arena, words, length);

		if (text_has_word(among, ",", item) == wanted)
			kept = arena_printf(arena, "%s%s%s", kept, *kept ? "," : "", item);
		words += length + (words[length] == ',');
	}
	return kept;
}

const char *boot_list_add(struct arena *arena, const char *name, const char *value, const char *items)
{
	struct list have = list_parse(arena, name, value), more = list_parse(arena, name, items);
	const char *missing = words_of(arena, more.words, have.words, false);

	if (!*missing && cpuset_subset(&more.cpus, &have.cpus) && value)
		return value;
	if (*missing)
		have.words = arena_printf(arena, "%s%s%s", have.words, *have.words ? "," : "", missing);
	have.cpus = cpuset_or(&have.cpus, &more.cpus);
	return list_print(arena, &have);
}

const char *boot_list_take(struct arena *arena, const char *name, const char *value, const char *items)
{
	struct list have = list_parse(arena, name, value), less = list_parse(arena, name, items);

	if (!*words_of(arena, have.words, less.words, true) && !cpuset_meets(&have.cpus, &less.cpus))
		return value;
	have.words = words_of(arena, have.words, less.words, false);
	have.cpus = cpuset_minus(&have.cpus, &less.cpus);
	/* isolcpus=domain without a CPU isolates none and is an error to the kernel. */
	if (is_cpu_list(name) && cpuset_empty(&have.cpus))
		return NULL;
	return list_print(arena, &have);
}

/* ---- huge pages ---- */

/* The words that stay as the kernel reads them; index[i] is the place of word i in `words`. */
static struct host_cmdline as_cmdline(struct arena *arena, const struct boot_words *words, size_t **ret_index)
{
	struct cmdline_word *list = ARENA_ARRAY(arena, words->count + 1, struct cmdline_word);
	size_t *index = ARENA_ARRAY(arena, words->count + 1, size_t);
	struct host_cmdline cmdline = {.words = list};

	for (size_t i = 0; i < words->count; i++) {
		if (words->list[i].gone)
			continue;
		index[cmdline.count] = i;
		list[cmdline.count++] = (struct cmdline_word){.text = words->list[i].name,
							      .name = words->list[i].name,
							      .value = words->list[i].value,
							      .for_init = words->list[i].for_init};
	}
	if (ret_index)
		*ret_index = index;
	return cmdline;
}

/* 2048 or 1048576; -1 for no page size of x86. */
static int64_t size_kib(const char *size)
{
	int64_t bytes = 0;

	if (!size || text_size(size, &bytes) < 0)
		return -1;
	return bytes == INT64_C(2) << 20 ? 2048 : bytes == INT64_C(1) << 30 ? 1048576 : -1;
}

const char *boot_pages_text(struct arena *arena, const struct boot_words *words, const char *but_size)
{
	struct host_cmdline cmdline = as_cmdline(arena, words, NULL);
	struct hugewords found;
	const char *text = "";

	hugewords_parse(arena, &cmdline, true, NULL, &found);
	for (int i = 0; i < found.pool_count; i++)
		if (found.pools[i].size_kib != size_kib(but_size))
			text = arena_printf(arena, "%s%s%" PRId64 " kB: %s", text, *text ? ", " : "",
					    found.pools[i].size_kib, found.pools[i].word->value);
	return text;
}

bool boot_pages_have(struct arena *arena, const struct boot_words *words, const char *size, const char *pages)
{
	struct host_cmdline cmdline = as_cmdline(arena, words, NULL);
	struct hugewords found;

	hugewords_parse(arena, &cmdline, true, NULL, &found);
	const struct hugeword_pool *pool = hugewords_pool(&found, size_kib(size));

	return pages ? pool && text_equal(pool->word->value, pages) : !pool;
}

const char *boot_pages_of(struct arena *arena, const struct boot_words *words, const char *size, const char *none)
{
	struct host_cmdline cmdline = as_cmdline(arena, words, NULL);
	struct hugewords found;

	hugewords_parse(arena, &cmdline, true, NULL, &found);
	const struct hugeword_pool *pool = hugewords_pool(&found, size_kib(size));

	return pool ? pool->word->value : none;
}

/* The size word that `count` counts for, when no other word depends on it; else NULL. */
static struct boot_word *own_size_word(struct boot_words *words, const size_t *index,
				       const struct host_cmdline *cmdline, const struct cmdline_word *count)
{
	int at = (int)(count - cmdline->words);

	for (int i = at - 1; i >= 0; i--) {
		const char *name = cmdline->words[i].name;

		if (cmdline_same_name(name, "hugepages") || cmdline_same_name(name, "default_hugepagesz"))
			return NULL;
		if (cmdline_same_name(name, "hugepagesz"))
			return &words->list[index[i]];
	}
	return NULL;
}

int boot_pages_change(const struct boot_line *line, struct boot_words *words, const struct knob_boot_change *change,
		      struct err *err)
{
	struct arena *arena = line->arena;
	size_t *index = NULL;
	struct host_cmdline cmdline = as_cmdline(arena, words, &index);
	const char *others = boot_pages_text(arena, words, change->name);
	struct hugewords found;

	hugewords_parse(arena, &cmdline, true, NULL, &found);
	const struct hugeword_pool *pool = hugewords_pool(&found, size_kib(change->name));
	struct boot_word *count = pool ? &words->list[index[pool->word - cmdline.words]] : NULL;

	if (boot_pages_have(arena, words, change->name, change->value))
		return 0;
	if (count && change->value) {
		boot_word_set(arena, count, count->name, change->value);
	} else if (count) {
		struct boot_word *size = own_size_word(words, index, &cmdline, pool->word);

		count->gone = true;
		if (size)
			size->gone = true;
	} else {
		boot_words_add(arena, words, "hugepagesz", change->name);
		boot_words_add(arena, words, "hugepages", change->value);
	}
	if (boot_pages_have(arena, words, change->name, change->value) &&
	    text_equal(others, boot_pages_text(arena, words, change->name)))
		return 0;
	/* Such as a size that was chosen before with no count behind it, or a count before any size. */
	const char *what = "hugepagesz= and hugepages= stand in an order in which one size cannot be changed alone";

	if (count)
		return boot_word_refuse(line, count, err, what);
	int r = err_set(err, ENOTSUP, line->count ? line->files[line->chars[0].file].path : NULL, "%s", what);

	(void)err_hint(err, "put the pairs hugepagesz=SIZE hugepages=N in order by hand first");
	return r;
}
