/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns single words of a kernel line as values: what a parameter is set to, and the change that sets it.
 */
#include "knob_boot_internal.h"

#include "text.h"

static const char pages_prefix[] = "hugepages.";
static const char absent[] = "absent", present[] = "present";

static void cut(struct arena *arena, const char *text, struct boot_words *ret)
{
	const struct boot_file file = {.path = "line", .text = text, .size = strlen(text), .exists = true};
	struct boot_line line = {.arena = arena, .files = &file};

	boot_line_put_span(&line, 0, 0, file.size, BOOT_PLAIN);
	boot_words_cut(&line, ret);
}

bool knob_boot_line_has(struct arena *arena, const char *line, const struct knob_boot_change *change)
{
	struct boot_words words;

	cut(arena, line, &words);
	return boot_words_have(&words, change);
}

const char *knob_boot_value(struct arena *arena, const char *line, const char *name)
{
	struct boot_words words;
	const char *value = absent;

	cut(arena, line, &words);
	if (text_starts(name, pages_prefix))
		return boot_pages_of(arena, &words, name + strlen(pages_prefix), absent);
	for (size_t i = 0; i < words.count; i++)
		if (!words.list[i].for_init && cmdline_same_name(words.list[i].name, name))
			value = words.list[i].value ? words.list[i].value : present;
	return value;
}

struct knob_boot_change knob_boot_change_of(const char *name, const char *value)
{
	bool is_absent = text_equal(value, absent), is_pages = text_starts(name, pages_prefix);

	if (text_equal(name, KNOB_BOOT_KERNEL_NAME))
		return (struct knob_boot_change){.name = name, .value = value, .op = KNOB_BOOT_KERNEL};
	if (is_pages)
		return (struct knob_boot_change){
		    .name = name + strlen(pages_prefix), .value = is_absent ? NULL : value, .op = KNOB_BOOT_PAGES};
	if (is_absent)
		return (struct knob_boot_change){.name = name, .op = KNOB_BOOT_REMOVE};
	return (struct knob_boot_change){.name = name, .value = text_equal(value, present) ? NULL : value};
}
