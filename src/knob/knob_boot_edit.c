/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the forms in which a kernel line stands in files (shell variables, plain lines, loader entries), and editing it
 * there with everything read back before it counts.
 */
#include "knob_boot_internal.h"

#include <ctype.h>
#include <errno.h>

#include "knob_boot_shell.h"
#include "text.h"

/* ---- files ---- */

struct boot_table *boot_table_new(struct host *host, struct arena *arena)
{
	struct boot_table *table = ARENA_NEW(arena, struct boot_table);

	table->arena = arena;
	table->host = host;
	return table;
}

int boot_table_add(struct boot_table *table, const char *path, uint16_t *ret, struct err *err)
{
	const struct sys_look *look = sys_read(table->host->sys, "%s", path);
	struct boot_file file = {.path = arena_strdup(table->arena, path), .text = ""};

	if (look->state == SYS_UNREADABLE) {
		(void)err_set(err, look->errnum, path, "cannot be read: %s", sys_reason(look->errnum));
		return look->errnum == EACCES ? err_hint(err, "run hvtune as root") : -look->errnum;
	}
	if (table->count >= BOOT_FILES_MAX)
		return err_set(err, E2BIG, path, "more files than a boot loader has (%d)", BOOT_FILES_MAX);
	if (look->state == SYS_VALUE) {
		if (strlen(look->data) != look->size)
			return err_set(err, EILSEQ, path, "is no text: it holds a NUL byte");
		if (look->size > BOOT_TEXT_LIMIT)
			return err_set(err, EFBIG, path, "larger than any such file (1 MiB)");
		file.text = look->data;
		file.size = look->size;
		file.exists = true;
	}
	table->files[table->count] = table->before[table->count] = file;
	*ret = (uint16_t)table->count++;
	return 0;
}

/* ---- forms ---- */

static const char snippet_head[] = "# Kernel parameters set by hvtune; `hvtune undo` takes them back.\n"
				   "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT ";

/* What has to stand before and behind a word in a file that does not set the variable yet. */
static struct boot_anchor new_assignment(struct arena *arena, const struct boot_table *table,
					 const struct boot_where *where)
{
	const struct boot_file *file = &table->files[where->home];
	bool own = text_equal(file->path, BOOT_OWN_SNIPPET);
	bool open_line = file->size && file->text[file->size - 1] != '\n';
	struct boot_anchor anchor = {.given = true, .file = where->home, .context = BOOT_DOUBLE, .suffix = "\"\n"};

	anchor.at = (uint32_t)file->size;
	anchor.prefix = own && !file->exists
			    ? snippet_head
			    : arena_printf(arena, own ? "%s%s=\"$%s " : "%s%s=\"", open_line ? "\n" : "",
					   where->anchor_name, where->anchor_name);
	return anchor;
}

bool boot_snippet_is_empty(const struct boot_file *file)
{
	size_t head = strlen(snippet_head) - 1; /* a last word goes with the blank before it */

	if (!text_equal(file->path, BOOT_OWN_SNIPPET) || !file->exists || strncmp(file->text, snippet_head, head) != 0)
		return false;
	return text_equal(file->text + head + strspn(file->text + head, " "), "\"\n");
}

int boot_read_shell(const struct boot_table *table, const struct boot_where *where, struct boot_line *ret,
		    struct err *err)
{
	struct boot_anchor *anchors = ARENA_ARRAY(table->arena, table->count, struct boot_anchor);
	int r = boot_shell_read(table->arena, table->files, where->file_count, where->anchor_name, anchors, ret, err);

	if (r < 0)
		return r;
	ret->anchor = anchors[where->home];
	/* A file that sets it in a way that takes no more words gets a second, appending assignment. */
	if (!ret->anchor.given)
		ret->anchor = new_assignment(table->arena, table, where);
	return 0;
}

static void anchor_behind(struct boot_line *line, uint16_t file, size_t start, size_t end)
{
	const char *text = line->files[file].text;

	while (end > start && isspace((unsigned char)text[end - 1]))
		end--;
	line->anchor = (struct boot_anchor){
	    .given = true, .file = file, .context = BOOT_PLAIN, .at = (uint32_t)end, .blank_before = end > start};
}

/* /etc/kernel/cmdline: lines that begin with '#' are comments, all others are one line (Proxmox takes the first). */
int boot_read_plain(const struct boot_table *table, const struct boot_where *where, struct boot_line *ret,
		    struct err *err)
{
	const struct boot_file *file = &table->files[where->file];

	(void)err;
	*ret = (struct boot_line){.arena = table->arena, .files = table->files};
	anchor_behind(ret, where->file, 0, 0);
	if (!file->size)
		ret->anchor.suffix = "\n";
	for (size_t start = 0; start < file->size;) {
		size_t length = strcspn(file->text + start, "\n"), end = start + length;
		bool newline = file->text[end] == '\n';
		const char *text = file->text + start;

		if (where->first_only || text[strspn(text, " \t")] != '#') {
			boot_line_put_span(ret, where->file, start, end + newline, BOOT_PLAIN);
			if (strspn(text, " \t\r") < length || where->first_only)
				anchor_behind(ret, where->file, start, end);
			if (where->first_only)
				break;
		}
		start = end + newline;
	}
	return 0;
}

/* "$kernelopts" of an entry stands for the variable of GRUB's environment block. */
static int put_options(const struct boot_table *table, const struct boot_where *where, size_t start, size_t end,
		       struct boot_line *ret, struct err *err)
{
	static const char variable[] = "$kernelopts";
	const char *text = table->files[where->file].text;

	while (start < end) {
		const char *found = memmem(text + start, end - start, variable, strlen(variable));
		size_t at = found ? (size_t)(found - text) : end;
		size_t after = at + strlen(variable);
		bool whole = found && !isalnum((unsigned char)text[after]) && text[after] != '_';
		bool known = false;
		int r = 0;

		boot_line_put_span(ret, where->file, start, at, BOOT_PLAIN);
		if (!found)
			break;
		if (whole && where->env != BOOT_NO_FILE && table->files[where->env].exists)
			r = boot_env_read(table->files, where->env, variable + 1, ret, &known, err);
		if (r < 0)
			return r;
		if (!known)
			boot_line_put_span(ret, where->file, at, after, BOOT_PLAIN);
		start = after;
	}
	return 0;
}

/* An entry of the Boot Loader Specification. Of several "options" lines GRUB takes the first, systemd-boot all. */
int boot_read_entry(const struct boot_table *table, const struct boot_where *where, struct boot_line *ret,
		    struct err *err)
{
	static const char key[] = "options";
	const struct boot_file *file = &table->files[where->file];
	bool had = false;

	*ret = (struct boot_line){.arena = table->arena, .files = table->files};
	for (size_t start = 0; start < file->size && !(had && where->first_only);) {
		const char *text = file->text + start;
		size_t length = strcspn(text, "\n"), indent = strspn(text, " \t");
		size_t end = start + length, value = start + indent + strlen(key);

		if (text_starts(text + indent, key) && length > indent + strlen(key) &&
		    isspace((unsigned char)file->text[value])) {
			if (had)
				boot_line_put(ret, &(struct boot_char){.context = BOOT_PLAIN, .c = ' '});
			value += strspn(file->text + value, " \t");
			int r = put_options(table, where, value, end, ret, err);

			if (r < 0)
				return r;
			/* Words go where most of the line stands: into the block of GRUB when that is used. */
			if (ret->anchor.context != BOOT_ENV)
				anchor_behind(ret, where->file, value, end);
			had = true;
		}
		start = end + 1;
	}
	return had ? 0
		   : err_set(err, ENOTSUP, file->path, "this loader entry has no \"options\" line to put a word on");
}

/* ---- editing ---- */

/* `text` is the line's, of boot_line_text(). */
static const char *word_as_read(const struct boot_line *line, const char *text, const struct boot_word *word)
{
	return word->text ? word->text : arena_strndup(line->arena, text + word->from, word->to - word->from);
}

/* The last word with this text that is not yet accounted for. */
static bool account(const char *line_text, struct boot_words *words, const char *text)
{
	for (size_t i = words->count; i > 0; i--) {
		struct boot_word *word = &words->list[i - 1];
		size_t length = word->to - word->from;

		if (!word->gone && strlen(text) == length && memcmp(line_text + word->from, text, length) == 0) {
			word->gone = true;
			return true;
		}
	}
	return false;
}

/* Does the line as read again hold the words that were to stay, in their order, the new ones, and no others? */
static bool is_as_planned(const struct boot_line *line, const struct boot_words *words, const struct boot_line *again,
			  const struct knob_boot_change *changes, size_t count)
{
	const char *text = boot_line_text(line), *text_again = boot_line_text(again);
	struct boot_words read;
	size_t at = 0;

	boot_words_cut(again, &read);
	for (size_t i = 0; i < count; i++)
		if (!boot_words_have(&read, &changes[i]))
			return false;
	for (size_t i = words->old_count; i < words->count; i++)
		if (!words->list[i].gone && !account(text_again, &read, words->list[i].text))
			return false;
	for (size_t i = 0; i < words->old_count; i++) {
		if (words->list[i].gone)
			continue;
		while (at < read.count && read.list[at].gone)
			at++;
		if (at == read.count || !text_equal(word_as_read(line, text, &words->list[i]),
						    word_as_read(again, text_again, &read.list[at])))
			return false;
		at++;
	}
	while (at < read.count && read.list[at].gone)
		at++;
	return at == read.count;
}

static int read_back(const struct boot_table *table, const struct boot_where *where, const struct boot_line *line,
		     const struct boot_words *words, const struct knob_boot_change *changes, size_t count,
		     struct err *err)
{
	struct boot_line again;
	int r = where->read(table, where, &again, err);

	if (r < 0 || is_as_planned(line, words, &again, changes, count))
		return r;
	r = err_set(err, ENOTSUP, table->files[where->file].path,
		    "the line read back from the edited text is not the one that was asked for: %s",
		    boot_line_text(&again));
	(void)err_hint(err, "change the line by hand");
	return r;
}

int boot_edit(struct boot_table *table, const struct boot_where *where, const struct knob_boot_change *changes,
	      size_t count, struct err *err)
{
	struct boot_table *after = ARENA_NEW(table->arena, struct boot_table);
	struct boot_splices splices = {.arena = table->arena};
	struct boot_line line;
	struct boot_words words;
	int r = where->read(table, where, &line, err);

	if (r < 0)
		return r;
	boot_words_cut(&line, &words);
	r = boot_words_change(&line, &words, changes, count, err);
	if (r == 0)
		r = boot_words_splice(&line, &words, &splices, err);
	if (r < 0 || !splices.count)
		return r;
	*after = *table;
	for (size_t i = 0; i < splices.count; i++) {
		struct boot_file *file = &after->files[splices.list[i].file];

		r = boot_splices_apply(&splices, table->files, splices.list[i].file, &file->text, &file->size, err);
		if (r == 0 && splices.list[i].file == where->env)
			r = boot_env_fit(table->arena, &table->files[where->env], &file->text, &file->size, err);
		if (r < 0)
			return r;
		file->exists = true;
	}
	r = read_back(after, where, &line, &words, changes, count, err);
	if (r == 0)
		memcpy(table->files, after->files, sizeof(table->files));
	return r;
}
