/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns changing a kernel line word by word, and turning changed words into splices of the files they stand in. */
#include "knob_boot_internal.h"

#include <ctype.h>
#include <errno.h>

#include "text.h"

enum { BOOT_WORD_LIMIT = 4096, VALUE_LIMIT = 2048 };

/* ---- cutting ---- */

static bool is_blank(const struct boot_char *c)
{
	return c->context != BOOT_OPAQUE && (c->c == ' ' || (c->c >= '\t' && c->c <= '\r'));
}

/* One pair of quotes around a word or a value is not part of it (lib/cmdline.c of Linux). */
static const char *unquoted(struct arena *arena, const char *text)
{
	size_t length = strlen(text);

	if (*text == '"') {
		text++;
		length--;
		if (length && text[length - 1] == '"')
			length--;
	}
	return arena_strndup(arena, text, length);
}

static void name_word(struct arena *arena, struct boot_word *word, const char *text)
{
	const char *whole = unquoted(arena, text);
	const char *equals = *whole ? strchr(whole + 1, '=') : NULL;

	word->name = equals ? arena_strndup(arena, whole, (size_t)(equals - whole)) : whole;
	word->value = equals ? unquoted(arena, equals + 1) : NULL;
}

static struct boot_word *word_room(struct arena *arena, struct boot_words *words)
{
	if (words->count == words->room) {
		words->room = words->room ? words->room * 2 : 32;
		struct boot_word *larger = ARENA_ARRAY(arena, words->room, struct boot_word);

		if (words->count)
			memcpy(larger, words->list, words->count * sizeof(*larger));
		words->list = larger;
	}
	words->list[words->count] = (struct boot_word){.from = 0};
	return &words->list[words->count++];
}

void boot_words_cut(const struct boot_line *line, struct boot_words *ret)
{
	const char *text = boot_line_text(line);
	bool for_init = false;

	*ret = (struct boot_words){.count = 0};
	for (size_t at = 0; at < line->count && ret->count < BOOT_WORD_LIMIT;) {
		bool in_quotes = false;

		while (at < line->count && is_blank(&line->chars[at]))
			at++;
		size_t start = at;

		for (; at < line->count && (in_quotes || !is_blank(&line->chars[at])); at++)
			if (text[at] == '"')
				in_quotes = !in_quotes;
		if (at == start)
			break;
		struct boot_word *word = word_room(line->arena, ret);

		name_word(line->arena, word, arena_strndup(line->arena, text + start, at - start));
		word->from = start;
		word->to = at;
		word->for_init = for_init;
		for_init = for_init || text_equal(word->name, "--");
	}
	ret->old_count = ret->count;
}

/* ---- asking ---- */

/* Parameters that mean more each time they stand there; none of them is a setting with one value. */
bool knob_boot_may_repeat(const char *name)
{
	static const char *const names[] = {"console",	  "earlycon",	   "earlyprintk",   "memmap",
					    "netconsole", "systemd.mask",  "systemd.wants", "module_blacklist",
					    "video",	  "dm_mod.create", "ostree",	    "zswap.zpool"};

	if (text_starts(name, "rd."))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (cmdline_same_name(name, names[i]))
			return true;
	return false;
}

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
			return false;
	return true;
}

/*
 * What a value may hold: it has to come through a shell, GRUB's own language and the kernel unharmed. Of what would end
 * a quoted text in one of them there is no use in a kernel parameter.
 */
static bool is_value(const char *value)
{
	if (strlen(value) > VALUE_LIMIT)
		return false;
	for (; *value; value++)
		if (*value < ' ' || *value > '~' || strchr("\"\\$`'", *value))
			return false;
	return true;
}

static int check_pages(const struct knob_boot_change *change, struct err *err)
{
	int64_t bytes = 0;

	if (text_size(change->name, &bytes) < 0 || (bytes != INT64_C(2) << 20 && bytes != INT64_C(1) << 30))
		return err_set(err, EINVAL, change->name, "no size of huge pages; this CPU has 2M and 1G");
	if (change->value && (!*change->value || strspn(change->value, "0123456789:,") != strlen(change->value)))
		return err_set(err, EINVAL, change->value, "no number of pages; 16, or by node 0:8,1:8");
	return 0;
}

/* Names of releases come from the tail of a file's name. */
static int check_release(const struct knob_boot_change *change, struct err *err)
{
	static const char others[] = "._+~:-";
	const char *at = change->value;

	while (at && *at && (isalnum((unsigned char)*at) || strchr(others, *at)))
		at++;
	if (at && !*at && at > change->value && strlen(change->value) <= VALUE_LIMIT)
		return 0;
	return err_set(err, EINVAL, change->value ? change->value : change->name,
		       "no release of a kernel as uname -r prints it");
}

int knob_boot_change_check(const struct knob_boot_change *change, struct err *err)
{
	bool wants_value = change->op == KNOB_BOOT_ADD || change->op == KNOB_BOOT_TAKE;

	if (change->op == KNOB_BOOT_PAGES)
		return check_pages(change, err);
	if (change->op == KNOB_BOOT_KERNEL)
		return check_release(change, err);
	if (!is_name(change->name))
		return err_set(err, EINVAL, change->name, "no name of a kernel parameter (letters, digits, _ - .)");
	if (change->value && !is_value(change->value))
		return err_set(
		    err, EINVAL, change->name,
		    "a value of a kernel parameter has no quotes, $, ` or \\, no control characters, and at most "
		    "%d characters",
		    VALUE_LIMIT);
	if (wants_value && (!change->value || !*change->value))
		return err_set(err, EINVAL, change->name, "which items of the list?");
	if (cmdline_same_name(change->name, "hugepages") || cmdline_same_name(change->name, "hugepagesz"))
		return err_set(err, EINVAL, change->name,
			       "counts and sizes of huge pages are set as one unit, by size");
	if (change->op == KNOB_BOOT_REMOVE && !change->value && knob_boot_may_repeat(change->name))
		return err_set(err, EINVAL, change->name, "may stand several times: which value is to go?");
	return 0;
}

static bool is_called(const struct boot_word *word, const char *name)
{
	return !word->gone && !word->for_init && cmdline_same_name(word->name, name);
}

static bool same_value(const char *a, const char *b)
{
	return a && b ? text_equal(a, b) : a == b;
}

static struct boot_word *last_called(const struct boot_words *words, const char *name)
{
	for (size_t i = words->count; i > 0; i--)
		if (is_called(&words->list[i - 1], name))
			return &words->list[i - 1];
	return NULL;
}

static bool has_value(const struct boot_words *words, const char *name, const char *value)
{
	for (size_t i = 0; i < words->count; i++)
		if (is_called(&words->list[i], name) && same_value(words->list[i].value, value))
			return true;
	return false;
}

/* All words of the name have this value, and there is one. */
static bool is_set(const struct boot_words *words, const char *name, const char *value)
{
	for (size_t i = 0; i < words->count; i++)
		if (is_called(&words->list[i], name) && !same_value(words->list[i].value, value))
			return false;
	return last_called(words, name) != NULL;
}

bool boot_words_have(const struct boot_words *words, const struct knob_boot_change *change)
{
	struct arena *arena = arena_new();
	const struct boot_word *word = last_called(words, change->name);
	const char *value = word ? word->value : NULL;
	bool have = false;

	switch (change->op) {
	case KNOB_BOOT_SET:
		have = knob_boot_may_repeat(change->name) ? has_value(words, change->name, change->value)
							  : is_set(words, change->name, change->value);
		break;
	case KNOB_BOOT_REMOVE:
		have = change->value ? !has_value(words, change->name, change->value) : !word;
		break;
	case KNOB_BOOT_ADD:
		have = value && text_equal(boot_list_add(arena, change->name, value, change->value), value);
		break;
	case KNOB_BOOT_TAKE:
		have = !value || text_equal(boot_list_take(arena, change->name, value, change->value), value);
		break;
	case KNOB_BOOT_PAGES:
		have = boot_pages_have(arena, words, change->name, change->value);
		break;
	case KNOB_BOOT_KERNEL:
		have = true;
		break;
	}
	(void)arena_free(arena);
	return have;
}

/* ---- changing ---- */

/* Blanks, and what means something to GRUB's language or to a shell, stand in quotes, which the kernel takes off. */
static const char *word_text(struct arena *arena, const char *name, const char *value)
{
	if (!value)
		return name;
	for (const char *at = value; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_-.,:/@%+=", *at))
			return arena_printf(arena, "%s=\"%s\"", name, value);
	return arena_printf(arena, "%s=%s", name, value);
}

void boot_word_set(struct arena *arena, struct boot_word *word, const char *name, const char *value)
{
	word->name = arena_strdup(arena, name);
	word->value = value ? arena_strdup(arena, value) : NULL;
	word->text = word_text(arena, word->name, word->value);
}

struct boot_word *boot_words_add(struct arena *arena, struct boot_words *words, const char *name, const char *value)
{
	struct boot_word *word = word_room(arena, words);

	boot_word_set(arena, word, name, value);
	return word;
}

int boot_word_refuse(const struct boot_line *line, const struct boot_word *word, struct err *err, const char *what)
{
	if (word->from >= word->to)
		return err_set(err, ENOTSUP, word->name, "%s", what);
	const struct boot_char *first = &line->chars[word->from];
	const struct boot_file *file = &line->files[first->file];

	return err_set_at(err, ENOTSUP, file->path, boot_file_line(file, first->start), 0, "%s: %s", word->name, what);
}

static void remove_called(struct boot_words *words, const struct knob_boot_change *change)
{
	for (size_t i = 0; i < words->count; i++)
		if (is_called(&words->list[i], change->name) &&
		    (!change->value || same_value(words->list[i].value, change->value)))
			words->list[i].gone = true;
}

/* The last word counts; the ones before it go, since some parameters are acted on at each of their words. */
static void set_called(struct arena *arena, struct boot_words *words, const char *name, const char *value)
{
	struct boot_word *last = last_called(words, name);

	if (!last) {
		boot_words_add(arena, words, name, value);
		return;
	}
	for (struct boot_word *word = words->list; word < last; word++)
		if (is_called(word, name))
			word->gone = true;
	if (!same_value(last->value, value))
		boot_word_set(arena, last, last->name, value);
}

static void change_list(struct arena *arena, struct boot_words *words, const struct knob_boot_change *change)
{
	const struct boot_word *word = last_called(words, change->name);
	const char *value = word ? word->value : NULL;
	const char *wanted = change->op == KNOB_BOOT_ADD ? boot_list_add(arena, change->name, value, change->value)
							 : boot_list_take(arena, change->name, value, change->value);

	if (wanted)
		set_called(arena, words, change->name, wanted);
	else
		remove_called(words, &(struct knob_boot_change){.name = change->name});
}

static int change_one(const struct boot_line *line, struct boot_words *words, const struct knob_boot_change *change,
		      struct err *err)
{
	switch (change->op) {
	case KNOB_BOOT_SET:
		if (knob_boot_may_repeat(change->name))
			boot_words_add(line->arena, words, change->name, change->value);
		else
			set_called(line->arena, words, change->name, change->value);
		break;
	case KNOB_BOOT_REMOVE:
		remove_called(words, change);
		break;
	case KNOB_BOOT_ADD:
	case KNOB_BOOT_TAKE:
		change_list(line->arena, words, change);
		break;
	case KNOB_BOOT_PAGES:
		return boot_pages_change(line, words, change, err);
	case KNOB_BOOT_KERNEL:
		break;
	}
	return 0;
}

int boot_words_change(const struct boot_line *line, struct boot_words *words, const struct knob_boot_change *changes,
		      size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *pages = boot_pages_text(line->arena, words, NULL);
		int r = boot_words_have(words, &changes[i]) ? 0 : change_one(line, words, &changes[i], err);

		if (r < 0)
			return r;
		/* default_hugepagesz= also says for which size a count without a size is. */
		if (changes[i].op != KNOB_BOOT_PAGES && !text_equal(pages, boot_pages_text(line->arena, words, NULL))) {
			r = err_set(err, ENOTSUP, changes[i].name,
				    "this would move huge pages to another size (now: %s)", pages);
			(void)err_hint(err, "write a size before every hugepages= by hand first");
			return r;
		}
	}
	return 0;
}

static bool ends_kernels_part(const struct boot_word *word)
{
	return !word->gone && !word->for_init && text_equal(word->name, "--");
}

/* ---- splices ---- */

static bool stand_together(const struct boot_char *a, const struct boot_char *b)
{
	return a->context != BOOT_OPAQUE && a->context == b->context && a->file == b->file && a->end == b->start;
}

static bool is_in_one_piece(const struct boot_line *line, const struct boot_word *word)
{
	for (size_t i = word->from; i + 1 < word->to; i++)
		if (!stand_together(&line->chars[i], &line->chars[i + 1]))
			return false;
	return line->chars[word->from].context != BOOT_OPAQUE;
}

/* Text as it has to be written in a context. Words have no `'`, `$`, '`' or '\\' in them (is_value). */
static const char *escaped(struct arena *arena, const char *text, enum boot_context context)
{
	char *out = ARENA_ARRAY(arena, 2 * strlen(text) + 1, char), *at = out;

	for (; *text; text++) {
		if (context == BOOT_DOUBLE && *text == '"')
			*at++ = '\\';
		if (context == BOOT_BARE && !isalnum((unsigned char)*text) && !strchr("_-.,:/@%+=", *text))
			*at++ = '\\';
		*at++ = *text;
	}
	return out;
}

/* Words leave with the blanks behind them, the last ones of a value with those before. */
static void splice_out(const struct boot_line *line, size_t from, size_t to, struct boot_splices *splices)
{
	size_t end = to;

	while (end < line->count && is_blank(&line->chars[end]) && line->chars[end].c != '\n' &&
	       stand_together(&line->chars[end - 1], &line->chars[end]))
		end++;
	if (end == to)
		while (from > 0 && is_blank(&line->chars[from - 1]) && line->chars[from - 1].c != '\n' &&
		       stand_together(&line->chars[from - 1], &line->chars[from]))
			from--;
	boot_splice(splices, line->chars[from].file, line->chars[from].start, line->chars[end - 1].end, "");
}

static int refuse_pieces(const struct boot_line *line, const struct boot_word *word, struct err *err)
{
	int r = boot_word_refuse(line, word, err, "the shell puts this word together; it is not edited");

	(void)err_hint(err, "write the word out in this file, or change it where it comes from");
	return r;
}

/* The words from `at` on that leave and stand side by side in one file; *ret is the last of them. */
static int splice_gone(const struct boot_line *line, const struct boot_words *words, size_t at,
		       struct boot_splices *splices, size_t *ret, struct err *err)
{
	size_t last = at;

	for (size_t i = at; i < words->old_count && words->list[i].gone; i++) {
		const struct boot_word run = {.from = words->list[last].from, .to = words->list[i].to};

		if (!is_in_one_piece(line, &words->list[i]))
			return refuse_pieces(line, &words->list[i], err);
		if (!is_in_one_piece(line, &run))
			break;
		last = i;
	}
	splice_out(line, words->list[at].from, words->list[last].to, splices);
	*ret = last;
	return 0;
}

static int splice_word(const struct boot_line *line, const struct boot_word *word, struct boot_splices *splices,
		       struct err *err)
{
	const struct boot_char *first = &line->chars[word->from], *last = &line->chars[word->to - 1];

	if (!is_in_one_piece(line, word))
		return refuse_pieces(line, word, err);
	boot_splice(splices, first->file, first->start, last->end,
		    escaped(line->arena, word->text, (enum boot_context)first->context));
	return 0;
}

/* All new words as one text, ready for the context. */
static const char *new_text(const struct boot_line *line, const struct boot_words *words, enum boot_context context)
{
	const char *text = "";

	for (size_t i = words->old_count; i < words->count; i++)
		if (!words->list[i].gone)
			text = arena_printf(line->arena, "%s%s%s", text, *text ? " " : "",
					    escaped(line->arena, words->list[i].text, context));
	return text;
}

/* What stands behind "--" is init's: new words go before it. */
static int splice_before_init(const struct boot_line *line, const struct boot_words *words, const struct boot_word *end,
			      struct boot_splices *splices, struct err *err)
{
	const struct boot_char *at = &line->chars[end->from];

	if (!is_in_one_piece(line, end) || at->context == BOOT_BARE)
		return boot_word_refuse(line, end, err, "no word can be put before this one safely");
	boot_splice(splices, at->file, at->start, at->start,
		    arena_printf(line->arena, "%s ", new_text(line, words, (enum boot_context)at->context)));
	return 0;
}

static int splice_new(const struct boot_line *line, const struct boot_words *words, struct boot_splices *splices,
		      struct err *err)
{
	const struct boot_anchor *anchor = &line->anchor;
	const char *text = new_text(line, words, (enum boot_context)anchor->context);

	if (!*text)
		return 0;
	for (size_t i = 0; i < words->old_count; i++)
		if (ends_kernels_part(&words->list[i]))
			return splice_before_init(line, words, &words->list[i], splices, err);
	if (!anchor->given)
		return err_set(err, ENOTSUP, line->count ? line->files[line->chars[0].file].path : NULL,
			       "there is no place for a new word");
	if (anchor->quote_from)
		boot_splice(splices, anchor->file, anchor->from, anchor->from, "\"");
	boot_splice(splices, anchor->file, anchor->at, anchor->at,
		    arena_printf(line->arena, "%s%s%s%s", anchor->prefix ? anchor->prefix : "",
				 anchor->blank_before ? " " : "", text, anchor->suffix ? anchor->suffix : ""));
	return 0;
}

int boot_words_splice(const struct boot_line *line, const struct boot_words *words, struct boot_splices *splices,
		      struct err *err)
{
	for (size_t i = 0; i < words->old_count; i++) {
		const struct boot_word *word = &words->list[i];
		int r = word->gone   ? splice_gone(line, words, i, splices, &i, err)
			: word->text ? splice_word(line, word, splices, err)
				     : 0;

		if (r < 0)
			return r;
	}
	return splice_new(line, words, splices, err);
}
