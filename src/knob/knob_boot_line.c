/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a text of which every character knows its place in a file, and the splicing of files. */
#include "knob_boot_internal.h"

#include <errno.h>

#include "text.h"

void boot_line_put(struct boot_line *line, const struct boot_char *character)
{
	if (line->count >= BOOT_CHAR_LIMIT)
		return;
	if (line->count == line->room) {
		line->room = line->room ? line->room * 2 : 256;
		struct boot_char *larger = ARENA_ARRAY(line->arena, line->room, struct boot_char);

		if (line->count)
			memcpy(larger, line->chars, line->count * sizeof(*larger));
		line->chars = larger;
	}
	line->chars[line->count++] = *character;
}

void boot_line_put_all(struct boot_line *line, const struct boot_line *from)
{
	size_t count = from->count; /* `from` may be `line` */

	for (size_t i = 0; i < count; i++) {
		struct boot_char character = from->chars[i];

		boot_line_put(line, &character);
	}
}

void boot_line_put_span(struct boot_line *line, uint16_t file, size_t start, size_t end, enum boot_context context)
{
	for (size_t i = start; i < end; i++)
		boot_line_put(line, &(struct boot_char){.start = (uint32_t)i,
							.end = (uint32_t)i + 1,
							.file = file,
							.context = (uint8_t)context,
							.c = line->files[file].text[i]});
}

const char *boot_line_text(const struct boot_line *line)
{
	char *text = ARENA_ARRAY(line->arena, line->count + 1, char);

	for (size_t i = 0; i < line->count; i++)
		text[i] = line->chars[i].context == BOOT_OPAQUE ? '$' : line->chars[i].c;
	return text;
}

void boot_splice(struct boot_splices *splices, uint16_t file, uint32_t start, uint32_t end, const char *text)
{
	if (splices->count == splices->room) {
		splices->room = splices->room ? splices->room * 2 : 16;
		struct boot_splice *larger = ARENA_ARRAY(splices->arena, splices->room, struct boot_splice);

		if (splices->count)
			memcpy(larger, splices->list, splices->count * sizeof(*larger));
		splices->list = larger;
	}
	splices->list[splices->count++] =
	    (struct boot_splice){.file = file, .start = start, .end = end, .text = arena_strdup(splices->arena, text)};
}

static int compare_splices(const void *left, const void *right)
{
	const struct boot_splice *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return strcmp(a->text, b->text);
}

static bool same_splice(const struct boot_splice *a, const struct boot_splice *b)
{
	return compare_splices(a, b) == 0;
}

int boot_splices_apply(const struct boot_splices *splices, const struct boot_file *files, uint16_t file,
		       const char **ret_text, size_t *ret_size, struct err *err)
{
	struct boot_splice *sorted = ARENA_ARRAY(splices->arena, splices->count + 1, struct boot_splice);
	size_t done = 0, room = files[file].size + 1;

	if (splices->count)
		memcpy(sorted, splices->list, splices->count * sizeof(*sorted));
	qsort(sorted, splices->count, sizeof(*sorted), compare_splices);
	for (size_t i = 0; i < splices->count; i++)
		room += strlen(sorted[i].text);
	char *text = ARENA_ARRAY(splices->arena, room, char), *at = text;

	for (size_t i = 0; i < splices->count; i++) {
		const struct boot_splice *splice = &sorted[i];

		if (splice->file != file || (i && same_splice(splice, splice - 1)))
			continue;
		if (splice->start < done)
			return err_set_at(err, ENOTSUP, files[file].path, boot_file_line(&files[file], splice->start),
					  0, "two of the changes meet in one word here");
		at = mempcpy(at, files[file].text + done, splice->start - done);
		at = mempcpy(at, splice->text, strlen(splice->text));
		done = splice->end;
	}
	at = mempcpy(at, files[file].text + done, files[file].size - done);
	*ret_text = text;
	*ret_size = (size_t)(at - text);
	return 0;
}

unsigned boot_file_line(const struct boot_file *file, size_t offset)
{
	unsigned line = 1;

	for (size_t i = 0; i < offset && i < file->size; i++)
		line += file->text[i] == '\n';
	return line;
}
