/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the properties of one option of QEMU. */
#include "vm_qemu_options.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>

#include "text.h"

/* Keys of members have those of all objects around them in front: a long one would be copied for each member. */
enum { PROPERTY_LIMIT = 4096, DEPTH_LIMIT = 16, KEY_LIMIT = 256 };

struct filling {
	struct arena *arena;
	const char *path;
	const struct qemu_word *word;
	struct qemu_options *options;
	struct err *err;
};

static int add(const struct filling *filling, struct qemu_property property)
{
	struct qemu_options *options = filling->options;

	if (options->count >= PROPERTY_LIMIT)
		return err_set_at(filling->err, E2BIG, filling->path, filling->word->line, filling->word->column,
				  "more than %d properties in one option", PROPERTY_LIMIT);
	if (options->count == options->room) {
		options->room = options->room ? options->room * 2 : 16;
		struct qemu_property *larger = ARENA_ARRAY(filling->arena, (size_t)options->room, struct qemu_property);

		if (options->count)
			memcpy(larger, options->list, (size_t)options->count * sizeof(*larger));
		options->list = larger;
	}
	options->list[options->count++] = property;
	return 0;
}

static int add_json(const struct filling *filling, const char *key, const json_t *value, int depth);

static int add_members(const struct filling *filling, const char *prefix, const json_t *value, int depth)
{
	const char *dot = *prefix ? "." : "", *key;
	json_t *member;
	size_t index;

	json_object_foreach ((json_t *)value, key, member) {
		int outcome =
		    add_json(filling, arena_printf(filling->arena, "%s%s%s", prefix, dot, key), member, depth);

		if (outcome < 0)
			return outcome;
	}
	json_array_foreach (value, index, member) {
		int outcome =
		    add_json(filling, arena_printf(filling->arena, "%s%s%zu", prefix, dot, index), member, depth);

		if (outcome < 0)
			return outcome;
	}
	return 0;
}

static int add_json(const struct filling *filling, const char *key, const json_t *value, int depth)
{
	struct qemu_property property = {.key = key};

	if (strlen(key) > KEY_LIMIT)
		return err_set_at(filling->err, EINVAL, filling->path, filling->word->line, filling->word->column,
				  "JSON with a key of more than %d characters", KEY_LIMIT);
	switch (json_typeof(value)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		if (depth >= DEPTH_LIMIT)
			return err_set_at(filling->err, EINVAL, filling->path, filling->word->line,
					  filling->word->column, "JSON that is nested more than %d levels deep",
					  DEPTH_LIMIT);
		return add_members(filling, key, value, depth + 1);
	case JSON_STRING:
		property.value = arena_strdup(filling->arena, json_string_value(value));
		break;
	case JSON_INTEGER:
		property.value = arena_printf(filling->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		property.value = arena_printf(filling->arena, "%g", json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		property.value = json_is_true(value) ? "on" : "off";
		break;
	case JSON_NULL:
		return 0;
	}
	return add(filling, property);
}

static int read_json(const struct filling *filling)
{
	json_error_t why;
	json_t *root = json_loads(filling->word->text, JSON_ALLOW_NUL, &why);

	if (!root)
		return err_set_at(filling->err, EINVAL, filling->path, filling->word->line, filling->word->column,
				  "JSON that cannot be read: %s", why.text);
	int outcome = add_members(filling, "", root, 0);

	json_decref(root);
	return outcome;
}

/* Copy up to a comma that stands alone; ",," is a comma. */
static const char *cut_part(struct arena *arena, const char **at)
{
	const char *end = *at;
	size_t length = 0;

	while (*end && (*end != ',' || end[1] == ','))
		end += *end == ',' ? 2 : 1;
	char *part = arena_strndup(arena, *at, (size_t)(end - *at));

	for (const char *from = *at; from < end; from += *from == ',' ? 2 : 1)
		part[length++] = *from;
	part[length] = '\0';
	*at = *end ? end + 1 : end;
	return part;
}

static int read_plain(const struct filling *filling, const char *implied)
{
	const char *at = filling->word->text;

	for (bool first = true; *at; first = false) {
		const char *part = cut_part(filling->arena, &at);
		const char *equals = strchr(part, '=');
		struct qemu_property property = {.key = part, .value = "on", .bare = true};

		if (!*part)
			continue;
		if (equals)
			property = (struct qemu_property){
			    .key = arena_strndup(filling->arena, part, (size_t)(equals - part)), .value = equals + 1};
		else if (first && implied)
			property = (struct qemu_property){.key = implied, .value = part};
		int outcome = add(filling, property);

		if (outcome < 0)
			return outcome;
	}
	return 0;
}

int qemu_options_read(struct arena *arena, const char *path, const struct qemu_word *word, const char *implied,
		      struct qemu_options *ret, struct err *err)
{
	struct qemu_options options = {0};
	const struct filling filling = {arena, path, word, &options, err};
	int outcome = word->text[0] == '{' ? read_json(&filling) : read_plain(&filling, implied);

	if (outcome == 0)
		*ret = options;
	return outcome;
}

bool qemu_key_equal(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b))
			return false;
	return *a == *b;
}

const char *qemu_option(const struct qemu_options *options, const char *key)
{
	for (int i = options->count - 1; i >= 0; i--)
		if (qemu_key_equal(options->list[i].key, key))
			return options->list[i].value;
	return NULL;
}

int qemu_switch(const char *value)
{
	if (!value)
		return -1;
	if (text_has_word("on yes true y 1", " ", value))
		return 1;
	return text_has_word("off no false n 0", " ", value) ? 0 : -1;
}

int qemu_size(const char *text, int64_t unit, int64_t *ret_bytes)
{
	static const char suffixes[] = "BKMGTPE";
	char *end = NULL;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	double number = hex ? (double)strtoull(text, &end, 16) : strtod(text, &end);
	const char *suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;

	if (suffix) {
		unit = (int64_t)1 << (10 * (suffix - suffixes));
		end++;
		if (*end == 'i' || *end == 'I')
			end++;
		if (*end == 'B' || *end == 'b')
			end++;
	}
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return -EINVAL;
	number *= (double)unit;
	if (!(number >= 0 && number < 9.0e18))
		return -ERANGE;
	*ret_bytes = (int64_t)number;
	return 0;
}

bool qemu_version(const char *text, int *ret_major, int *ret_minor)
{
	enum { LONGEST = 4 }; /* digits */
	size_t major = strspn(text, "0123456789");
	const char *behind = text + major + 1;

	if (!major || major > LONGEST || text[major] != '.')
		return false;
	size_t minor = strspn(behind, "0123456789");

	if (!minor || minor > LONGEST)
		return false;
	*ret_major = (int)strtol(text, NULL, 10);
	*ret_minor = (int)strtol(behind, NULL, 10);
	return true;
}
