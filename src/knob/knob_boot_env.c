/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns GRUB's environment block: a file of fixed size (1024 bytes), "# GRUB Environment Block", lines NAME=VALUE with
 * '\' before a newline or a '\' of a value, and '#' up to the end (grub-core/lib/envblk.c). GRUB itself writes into the
 * blocks of that file at boot, so its size never changes.
 */
#include "knob_boot_internal.h"

#include <errno.h>

#include "text.h"

static const char header[] = "# GRUB Environment Block\n";

struct assignment {
	size_t start, value, end; /* of the line, of the value, of the newline behind it */
};

static int check(const struct boot_file *file, struct err *err)
{
	if (file->size < strlen(header) || !text_starts(file->text, header))
		return err_set_at(
		    err, EINVAL, file->path, 1, 0,
		    "not an environment block of GRUB: it does not begin with \"# GRUB Environment Block\"");
	return 0;
}

/* The next line from `at` on; a value goes on over newlines with a '\' before them. */
static bool next_line(const struct boot_file *file, size_t *at, struct assignment *ret)
{
	size_t i = *at;

	if (i >= file->size)
		return false;
	*ret = (struct assignment){.start = i};
	for (; i < file->size && file->text[i] != '\n'; i++) {
		if (file->text[i] == '=' && !ret->value)
			ret->value = i + 1;
		if (file->text[i] == '\\' && i + 1 < file->size)
			i++;
	}
	ret->end = MIN_OF(i, file->size);
	*at = ret->end + 1;
	return true;
}

static bool find(const struct boot_file *file, const char *name, struct assignment *ret)
{
	size_t at = 0, length = strlen(name);
	struct assignment line;

	while (next_line(file, &at, &line)) {
		if (file->text[line.start] == '#' || line.value != line.start + length + 1 ||
		    memcmp(file->text + line.start, name, length) != 0)
			continue;
		*ret = line;
		return true;
	}
	return false;
}

int boot_env_read(const struct boot_file *files, uint16_t file, const char *name, struct boot_line *ret,
		  bool *ret_found, struct err *err)
{
	struct assignment line = {0};
	int r = check(&files[file], err);

	if (r < 0)
		return r;
	*ret_found = find(&files[file], name, &line);
	for (size_t i = line.value; *ret_found && i < line.end; i++) {
		size_t start = i;

		if (files[file].text[i] == '\\' && i + 1 < line.end)
			i++;
		boot_line_put(ret, &(struct boot_char){.start = (uint32_t)start,
						       .end = (uint32_t)i + 1,
						       .file = file,
						       .context = BOOT_ENV,
						       .c = files[file].text[i]});
	}
	if (*ret_found)
		ret->anchor =
		    (struct boot_anchor){.given = true,
					 .file = file,
					 .context = BOOT_ENV,
					 .blank_before = line.end > line.value && files[file].text[line.end - 1] != ' ',
					 .at = (uint32_t)line.end};
	return 0;
}

const char *boot_env_get(struct arena *arena, const struct boot_file *file, const char *name)
{
	struct boot_line value = {.arena = arena, .files = file};
	bool found = false;

	return boot_env_read(file, 0, name, &value, &found, NULL) == 0 && found ? boot_line_text(&value) : NULL;
}

static const char *escaped(struct arena *arena, const char *value)
{
	char *out = ARENA_ARRAY(arena, 2 * strlen(value) + 1, char), *at = out;

	for (; *value; value++) {
		if (*value == '\\' || *value == '\n')
			*at++ = '\\';
		*at++ = *value;
	}
	return out;
}

int boot_env_fit(struct arena *arena, const struct boot_file *before, const char **text, size_t *size, struct err *err)
{
	size_t used = *size;

	while (used && (*text)[used - 1] == '#')
		used--;
	/* A block without a single fill byte ends in an assignment, whose newline GRUB needs. */
	if (used && (*text)[used - 1] != '\n')
		return err_set(err, EINVAL, before->path, "not an environment block of GRUB: its last line has no end");
	if (used > before->size) {
		int r = err_set(err, ENOSPC, before->path,
				"GRUB's environment block holds %zu bytes, and its variables would need %zu",
				before->size, used);

		(void)err_hint(err, "shorten the line (CPU lists as ranges), or unset variables with grub-editenv");
		return r;
	}
	char *block = arena_alloc(arena, before->size + 1);

	memset(block, '#', before->size);
	*text = memcpy(block, *text, used);
	*size = before->size;
	return 0;
}

int boot_env_set(struct arena *arena, const struct boot_file *file, const char *name, const char *value,
		 const char **ret_text, struct err *err)
{
	struct assignment line = {0};
	int r = check(file, err);

	if (r < 0)
		return r;
	if (!find(file, name, &line)) {
		size_t used = file->size;

		while (used && file->text[used - 1] == '#')
			used--;
		if (file->text[used - 1] != '\n')
			return err_set(err, EINVAL, file->path,
				       "not an environment block of GRUB: its last line has no end");
		line = (struct assignment){.start = used, .end = used - 1};
	}
	const char *text = arena_printf(arena, "%.*s%s%s%s%s%.*s", (int)line.start, file->text, value ? name : "",
					value ? "=" : "", value ? escaped(arena, value) : "", value ? "\n" : "",
					(int)(file->size - MIN_OF(line.end + 1, file->size)),
					file->text + MIN_OF(line.end + 1, file->size));
	size_t size = strlen(text);

	r = boot_env_fit(arena, file, &text, &size, err);
	if (r == 0)
		*ret_text = text;
	return r;
}
