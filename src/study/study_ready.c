/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the studies that are part of the program. */
#include "study_ready.h"

#include <string.h>

#include "text.h"

/* Made of the files of data/studies by tools/embed. */
extern const char study_amd_vm_speed_text[], study_ccx_numa_hugepages_text[], study_efficiency_text[],
    study_mitigation_bill_text[], study_nic_queues_text[];

static const struct study_ready all[] = {
    {"quick", study_quick_text},
    {"amd-vm-speed", study_amd_vm_speed_text},
    {"ccx-numa-hugepages", study_ccx_numa_hugepages_text},
    {"efficiency", study_efficiency_text},
    {"mitigation-bill", study_mitigation_bill_text},
    {"nic-queues", study_nic_queues_text},
};

const struct study_ready *study_ready_at(size_t index)
{
	return index < ARRAY_SIZE(all) ? &all[index] : NULL;
}

const struct study_ready *study_ready_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (text_equal(all[i].name, name))
			return &all[i];
	return NULL;
}

const char *study_ready_title(struct arena *arena, const struct study_ready *ready)
{
	const char *at = strstr(ready->text, "\ntitle: ");

	if (!at)
		return "";
	at += strlen("\ntitle: ");
	return arena_strndup(arena, at, strcspn(at, "\n"));
}

bool study_ready_wants_vm(const struct study_ready *ready)
{
	return strstr(ready->text, "$VM") != NULL;
}

/* The word at `at` ("$VM") and what stands for it; 0: none of ours. */
static size_t find_word(const char *at, const struct study_ready_words *words, const char **ret)
{
	const struct {
		const char *word, *value;
	} known[] = {{"$VM", words->vm},
		     {"$PLACED", words->placed},
		     {"$FLOATING", words->floating},
		     {"$POOL_2M", words->pool_2m},
		     {"$POOL_1G", words->pool_1g}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (text_starts(at, known[i].word)) {
			*ret = known[i].value;
			return strlen(known[i].word);
		}
	return 0;
}

/* One line with its words filled in; NULL: one of them has no value. */
static const char *fill_line(struct arena *arena, const char *line, const struct study_ready_words *words)
{
	const char *filled = "", *value = NULL;

	for (;;) {
		size_t plain = strcspn(line, "$"), length;

		filled = arena_printf(arena, "%s%.*s", filled, (int)plain, line);
		line += plain;
		if (!*line)
			return filled;
		length = find_word(line, words, &value);
		if (length && !value)
			return NULL;
		filled = length ? arena_printf(arena, "%s%s", filled, value) : arena_printf(arena, "%s$", filled);
		line += length ? length : 1;
	}
}

const char *study_ready_fill(struct arena *arena, const struct study_ready *ready,
			     const struct study_ready_words *words, const char *const **ret_left_out)
{
	const char **left_out;
	const char *text = "";
	size_t lines = 1, count = 0;

	for (const char *at = ready->text; *at; at++)
		lines += *at == '\n';
	left_out = ARENA_ARRAY(arena, lines + 1, const char *);
	for (const char *at = ready->text; *at;) {
		size_t length = strcspn(at, "\n");
		const char *line = arena_strndup(arena, at, length), *filled = fill_line(arena, line, words);

		if (filled)
			text = arena_printf(arena, "%s%s\n", text, filled);
		else if (line[strspn(line, " ")] != '#')
			left_out[count++] = text_trim(arena, line);
		at += length + (at[length] == '\n');
	}
	*ret_left_out = left_out;
	return text;
}
