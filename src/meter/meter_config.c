/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the file declared in meter_config.h. */
#include "meter_config.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "text.h"

enum { MOST_ENTRIES = 256, MOST_WORDS = 256 };

#define OF(kind) (1U << METER_KIND_##kind)
#define NETWORK (OF(SHELLY) | OF(TASMOTA) | OF(REDFISH) | OF(TAPO) | OF(NUT))
#define SECRETS (OF(SHELLY) | OF(TASMOTA) | OF(REDFISH) | OF(TAPO) | OF(IPMI))
#define ALL ((1U << METER_KINDS) - 1)

static const struct key {
	const char *name;
	unsigned kinds;	   /* that take it */
	unsigned required; /* kinds that want it */
} keys[METER_KEYS] = {
    [METER_KEY_KIND] = {"kind", ALL, ALL},
    [METER_KEY_ADDRESS] = {"address", NETWORK | OF(IPMI), NETWORK},
    [METER_KEY_USER] = {"user", SECRETS, OF(TAPO) | OF(REDFISH)},
    [METER_KEY_PASSWORD] = {"password", SECRETS, 0},
    [METER_KEY_PASSWORD_FILE] = {"password-file", SECRETS, 0},
    [METER_KEY_PASSWORD_ENV] = {"password-env", SECRETS, 0},
    [METER_KEY_BOUNDARY] = {"boundary", ALL, 0},
    [METER_KEY_PART] = {"part", ALL, 0},
    [METER_KEY_PERIOD] = {"period", ALL, 0},
    [METER_KEY_MOST] = {"most", ALL, 0},
    [METER_KEY_COMMAND] = {"command", OF(COMMAND), OF(COMMAND)},
    [METER_KEY_SHELL] = {"shell", OF(COMMAND), 0},
    [METER_KEY_ID] = {"id", OF(SHELLY) | OF(REDFISH) | OF(NUT) | OF(IPMI), OF(NUT)},
    [METER_KEY_VERIFY] = {"verify", OF(REDFISH), 0},
    [METER_KEY_CA] = {"ca", OF(REDFISH), 0},
};

static const struct kind {
	const char *name;
	enum meter_boundary boundary;
} kinds[METER_KINDS] = {
    [METER_KIND_COMMAND] = {"command", METER_WALL}, [METER_KIND_SHELLY] = {"shelly", METER_WALL},
    [METER_KIND_TASMOTA] = {"tasmota", METER_WALL}, [METER_KIND_REDFISH] = {"redfish", METER_BOARD},
    [METER_KIND_TAPO] = {"tapo", METER_WALL},	    [METER_KIND_NUT] = {"nut", METER_WALL},
    [METER_KIND_IPMI] = {"ipmi", METER_BOARD},
};

const char *meter_kind_name(enum meter_kind kind)
{
	return kinds[kind].name;
}

struct parse {
	struct arena *arena;
	const char *path;
	bool closed;
	struct meter_config config;
	struct err *err;
};

static int wrong(const struct parse *parse, unsigned line, const char *format, ...) PRINTF_LIKE(3, 4);

static int wrong(const struct parse *parse, unsigned line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *text = arena_vprintf(parse->arena, format, arguments);

	va_end(arguments);
	return err_set_at(parse->err, EINVAL, parse->path, line, 0, "%s", text);
}

static const char *list_kinds(struct arena *arena)
{
	const char *text = kinds[0].name;

	for (size_t i = 1; i < METER_KINDS; i++)
		text = arena_printf(arena, "%s, %s", text, kinds[i].name);
	return text;
}

/* ---- lines ---- */

static bool is_name(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return length > 0 && length <= 64;
}

static int begin_section(struct parse *parse, const char *text, unsigned line)
{
	struct meter_config *config = &parse->config;
	size_t length = strlen(text);

	if (text[length - 1] != ']')
		return wrong(parse, line, "a section is written [name]");
	const char *name = text_trim(parse->arena, arena_strndup(parse->arena, text + 1, length - 2));

	if (!is_name(name))
		return wrong(parse, line, "a name of letters, digits, '-', '_' and '.' was expected in [ ]");
	for (size_t i = 0; i < config->count; i++)
		if (text_equal(config->entries[i].name, name))
			return wrong(parse, line, "there is a section [%s] already, in line %u", name,
				     config->entries[i].line);
	if (config->count == MOST_ENTRIES)
		return wrong(parse, line, "more than %d meters", MOST_ENTRIES);
	config->entries[config->count++] = (struct meter_entry){.name = name, .line = line, .verify = true};
	return 0;
}

static int unknown_key(const struct parse *parse, unsigned line, const char *word)
{
	const char *near = NULL;
	int nearest = 3;

	for (size_t i = 0; i < METER_KEYS; i++) {
		int distance = text_distance(keys[i].name, word);

		if (distance < nearest) {
			nearest = distance;
			near = keys[i].name;
		}
	}
	/* The word may be a password that lost its key: it is not repeated. */
	return near ? wrong(parse, line, "there is no key of that name; did you mean \"%s\"?", near)
		    : wrong(parse, line, "there is no key of that name");
}

static int set_key(struct parse *parse, const char *text, unsigned line)
{
	const char *equals = strchr(text, '=');

	if (!equals)
		return wrong(parse, line, "[name] or key = value was expected");
	if (!parse->config.count)
		return wrong(parse, line, "a section [name] comes first");
	struct meter_entry *entry = &parse->config.entries[parse->config.count - 1];
	const char *word = text_trim(parse->arena, arena_strndup(parse->arena, text, (size_t)(equals - text)));
	const char *value = text_trim(parse->arena, equals + 1);

	for (size_t i = 0; i < METER_KEYS; i++) {
		if (!text_equal(keys[i].name, word))
			continue;
		if (entry->values[i])
			return wrong(parse, line, "\"%s\" is given twice, here and in line %u", word, entry->lines[i]);
		if (!*value)
			return wrong(parse, line, "\"%s\" has no value", word);
		entry->values[i] = value;
		entry->lines[i] = line;
		return 0;
	}
	return unknown_key(parse, line, word);
}

static int parse_lines(struct parse *parse, const char *text)
{
	unsigned line = 0;
	int r = 0;

	while (*text && r == 0) {
		size_t length = strcspn(text, "\n");
		const char *content = text_trim(parse->arena, arena_strndup(parse->arena, text, length));

		line++;
		if (*content == '[')
			r = begin_section(parse, content, line);
		else if (*content && *content != '#' && *content != ';')
			r = set_key(parse, content, line);
		text += length + (text[length] == '\n');
	}
	return r;
}

/* ---- what the keys mean ---- */

static int take_number(const struct parse *parse, const struct meter_entry *entry, enum meter_key key, double least,
		       double most, double *ret)
{
	const char *text = entry->values[key];
	char *end;

	if (!text)
		return 0;
	double number = strtod(text, &end);

	if (end == text || *end || !(number >= least && number <= most))
		return wrong(parse, entry->lines[key], "\"%s\" takes a number from %g to %g", keys[key].name, least,
			     most);
	*ret = number;
	return 0;
}

static int take_switch(const struct parse *parse, const struct meter_entry *entry, enum meter_key key, bool *ret)
{
	const char *text = entry->values[key];

	if (!text)
		return 0;
	if (!text_equal(text, "yes") && !text_equal(text, "no"))
		return wrong(parse, entry->lines[key], "\"%s\" takes yes or no", keys[key].name);
	*ret = text_equal(text, "yes");
	return 0;
}

static int take_boundary(const struct parse *parse, struct meter_entry *entry)
{
	static const enum meter_boundary known[] = {METER_PACKAGE, METER_BOARD, METER_WALL};
	const char *text = entry->values[METER_KEY_BOUNDARY];

	entry->boundary = kinds[entry->kind].boundary;
	if (!text)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!text_equal(meter_boundary_name(known[i]), text))
			continue;
		entry->boundary = known[i];
		return 0;
	}
	return wrong(parse, entry->lines[METER_KEY_BOUNDARY], "\"boundary\" takes wall, board or package");
}

/* What stands in an address goes into a URL, and must not become something else there. */
static int check_address(const struct parse *parse, const struct meter_entry *entry)
{
	const char *text = entry->values[METER_KEY_ADDRESS];

	for (const char *at = text; at && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("-_.:[]%", *at))
			return wrong(parse, entry->lines[METER_KEY_ADDRESS],
				     "\"address\" takes a name or number, with :PORT where it is not the usual one");
	return 0;
}

static int take_kind(const struct parse *parse, struct meter_entry *entry)
{
	const char *text = entry->values[METER_KEY_KIND];

	if (!text)
		return wrong(parse, entry->line, "[%s] has no \"kind\": %s", entry->name, list_kinds(parse->arena));
	for (size_t i = 0; i < METER_KINDS; i++) {
		if (!text_equal(kinds[i].name, text))
			continue;
		entry->kind = (enum meter_kind)i;
		return 0;
	}
	return wrong(parse, entry->lines[METER_KEY_KIND], "there is no kind \"%s\"; there are %s", text,
		     list_kinds(parse->arena));
}

static int check_keys(const struct parse *parse, const struct meter_entry *entry)
{
	int secrets = 0;

	for (size_t i = 0; i < METER_KEYS; i++) {
		if (entry->values[i] && !(keys[i].kinds & 1U << entry->kind))
			return wrong(parse, entry->lines[i], "\"%s\" is not for kind %s", keys[i].name,
				     kinds[entry->kind].name);
		if (!entry->values[i] && (keys[i].required & 1U << entry->kind))
			return wrong(parse, entry->line, "[%s], of kind %s, has no \"%s\"", entry->name,
				     kinds[entry->kind].name, keys[i].name);
	}
	for (size_t i = METER_KEY_PASSWORD; i <= METER_KEY_PASSWORD_ENV; i++)
		secrets += entry->values[i] != NULL;
	if (secrets > 1)
		return wrong(parse, entry->line,
			     "[%s] has several passwords: one of password, password-file, password-env", entry->name);
	if (entry->values[METER_KEY_PASSWORD] && !parse->closed) {
		(void)err_set_at(parse->err, EACCES, parse->path, entry->lines[METER_KEY_PASSWORD], 0,
				 "a password stands in a file that others can read");
		return err_hint(parse->err, "chmod 600 it, and let root or the one who runs hvtune own it");
	}
	return 0;
}

static int finish_entry(const struct parse *parse, struct meter_entry *entry)
{
	int r = take_kind(parse, entry);

	if (r == 0)
		r = check_keys(parse, entry);
	if (r == 0)
		r = check_address(parse, entry);
	if (r == 0)
		r = take_boundary(parse, entry);
	if (r == 0)
		r = take_number(parse, entry, METER_KEY_PERIOD, 0.1, 3600, &entry->period_s);
	if (r == 0)
		r = take_number(parse, entry, METER_KEY_MOST, 1, 1e6, &entry->most_w);
	if (r == 0)
		r = take_switch(parse, entry, METER_KEY_PART, &entry->part);
	if (r == 0)
		r = take_switch(parse, entry, METER_KEY_SHELL, &entry->shell);
	if (r == 0)
		r = take_switch(parse, entry, METER_KEY_VERIFY, &entry->verify);
	entry->secret = entry->values[METER_KEY_PASSWORD];
	return r;
}

int meter_config_parse(struct arena *arena, const char *path, const char *text, bool closed, struct meter_config *ret,
		       struct err *err)
{
	struct parse parse = {.arena = arena,
			      .path = path,
			      .closed = closed,
			      .config = {.path = path, .entries = ARENA_ARRAY(arena, MOST_ENTRIES, struct meter_entry)},
			      .err = err};
	int r = parse_lines(&parse, text);

	for (size_t i = 0; i < parse.config.count && r == 0; i++)
		r = finish_entry(&parse, &parse.config.entries[i]);
	if (r == 0)
		*ret = parse.config;
	return r;
}

/* ---- secrets elsewhere ---- */

static int read_secret(struct arena *arena, const struct meter_config *config, struct meter_entry *entry,
		       struct err *err)
{
	const char *path = entry->values[METER_KEY_PASSWORD_FILE], *name = entry->values[METER_KEY_PASSWORD_ENV], *data;
	bool closed;
	size_t size;

	if (name) {
		entry->secret = getenv(name);
		if (entry->secret && *entry->secret)
			return 0;
		return err_set_at(err, EINVAL, config->path, entry->lines[METER_KEY_PASSWORD_ENV], 0,
				  "the environment has no variable %s", name);
	}
	if (!path)
		return 0;
	int r = sys_read_closed(arena, path, &data, &size, &closed, err);

	if (r < 0)
		return r;
	if (!closed) {
		(void)err_set(err, EACCES, path, "a password stands in a file that others can read");
		return err_hint(err, "chmod 600 it, and let root or the one who runs hvtune own it");
	}
	entry->secret = arena_strndup(arena, data, strcspn(data, "\r\n"));
	return *entry->secret ? 0 : err_set(err, EINVAL, path, "its first line is empty, and no password");
}

int meter_config_read(struct arena *arena, const char *path, struct meter_config *ret, struct err *err)
{
	struct meter_config config;
	const char *text;
	bool closed;
	size_t size;
	int r = sys_read_closed(arena, path, &text, &size, &closed, err);

	if (r < 0)
		return r;
	r = meter_config_parse(arena, path, text, closed, &config, err);
	for (size_t i = 0; r == 0 && i < config.count; i++)
		r = read_secret(arena, &config, &config.entries[i], err);
	if (r == 0)
		*ret = config;
	return r;
}

/* ---- words of a command ---- */

int meter_config_words(struct arena *arena, const char *text, const char *const **ret, struct err *err)
{
	const char **words = ARENA_ARRAY(arena, MOST_WORDS + 1, const char *);
	char *word = arena_alloc(arena, strlen(text) + MOST_WORDS + 1);
	size_t count = 0;
	char quote = 0;

	while (*(text += strspn(text, " \t"))) {
		if (count == MOST_WORDS)
			return err_set(err, E2BIG, NULL, "more than %d words in a command", MOST_WORDS);
		words[count++] = word;
		for (; *text && (quote || !strchr(" \t", *text)); text++) {
			if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? 0 : *text;
			else if (*text == '\\' && quote != '\'' && text[1])
				*word++ = *++text;
			else
				*word++ = *text;
		}
		*word++ = '\0';
	}
	if (quote)
		return err_set(err, EINVAL, NULL, "a quote %c is not closed", quote);
	if (!count)
		return err_set(err, EINVAL, NULL, "an empty command");
	*ret = words;
	return 0;
}
