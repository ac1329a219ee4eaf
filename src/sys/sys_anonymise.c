/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding secrets: the table of files and the walk over lines (sys_patterns.c, sys_free_text.c, sys_secret.c). */
#include "sys_anonymise.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

#include "err.h"
#include "sys_free_text.h"
#include "sys_patterns.h"
#include "sys_secret.h"
#include "text.h"

/* ---- files that are a secret as a whole ---- */

static const struct {
	const char *name; /* last component of the path */
	enum secret_kind kind;
} secret_files[] = {
    {"asset_tag", SECRET_SHAPE},
    {"board_asset_tag", SECRET_SHAPE},
    {"board_serial", SECRET_SHAPE},
    {"boot_id", SECRET_SHAPE},
    {"chassis_asset_tag", SECRET_SHAPE},
    {"chassis_serial", SECRET_SHAPE},
    {"domainname", SECRET_HOST},
    {"eui", SECRET_SHAPE},
    {"hostid", SECRET_SHAPE},
    {"hostname", SECRET_HOST},
    {"hostnqn", SECRET_SHAPE},
    {"machine-id", SECRET_SHAPE},
    {"nguid", SECRET_SHAPE},
    {"node_guid", SECRET_SHAPE},
    {"node_name", SECRET_SHAPE},
    {"nodename", SECRET_HOST},
    {"phys_port_id", SECRET_SHAPE},
    {"phys_switch_id", SECRET_SHAPE},
    {"port_guid", SECRET_SHAPE},
    {"port_name", SECRET_SHAPE},
    {"ppin", SECRET_SHAPE}, /* sysfs of 5.18 and later: the CPU's own serial number */
    {"product_serial", SECRET_SHAPE},
    {"product_uuid", SECRET_SHAPE},
    {"serial", SECRET_SHAPE},
    {"serial_number", SECRET_SHAPE},
    {"subsysnqn", SECRET_SHAPE},
    {"sys_image_guid", SECRET_SHAPE},
    {"unique_id", SECRET_SHAPE},
    {"uuid", SECRET_SHAPE},
    {"wwid", SECRET_SHAPE},
    {"wwn", SECRET_SHAPE},
};

struct sys_anonymiser {
	struct secret_store *store;
	regex_t *compiled; /* of sys_patterns */
};

struct sys_anonymiser *sys_anonymiser_new(void)
{
	struct sys_anonymiser *anonymiser = calloc(1, sizeof(*anonymiser));

	if (!anonymiser)
		err_no_memory();
	anonymiser->compiled = calloc(sys_pattern_count, sizeof(*anonymiser->compiled));
	if (!anonymiser->compiled)
		err_no_memory();
	anonymiser->store = secret_store_new();
	/* The patterns are our own: what can fail in compiling them is memory. */
	for (size_t i = 0; i < sys_pattern_count; i++)
		if (regcomp(&anonymiser->compiled[i], sys_patterns[i].regex, REG_EXTENDED) != 0)
			err_no_memory();
	return anonymiser;
}

struct sys_anonymiser *sys_anonymiser_free(struct sys_anonymiser *anonymiser)
{
	if (!anonymiser)
		return NULL;
	for (size_t i = 0; i < sys_pattern_count; i++)
		regfree(&anonymiser->compiled[i]);
	free(anonymiser->compiled);
	(void)secret_store_free(anonymiser->store);
	free(anonymiser);
	return NULL;
}

void sys_anonymiser_free_pointer(struct sys_anonymiser **anonymiser)
{
	*anonymiser = sys_anonymiser_free(*anonymiser);
}

size_t sys_anonymiser_count(const struct sys_anonymiser *anonymiser)
{
	return secret_count(anonymiser->store);
}

static bool edges_fit(enum edge edge, const char *line, size_t start, size_t end)
{
	char before = start ? line[start - 1] : ' ', after = line[end];

	if (edge == EDGE_NONE)
		return true;
	if (edge == EDGE_COLON && (before == ':' || after == ':'))
		return false;
	return !isalnum((unsigned char)before) && !isalnum((unsigned char)after);
}

/* Patterns without a `must` begin with eight hexadecimal digits, which few lines have in a row. */
static bool has_hex_run(const char *line)
{
	enum { RUN = 8 };

	for (size_t run = 0; *line; line++) {
		run = isxdigit((unsigned char)*line) ? run + 1 : 0;
		if (run == RUN)
			return true;
	}
	return false;
}

/* Replace all that one pattern finds in a line. Returns `line` itself when that is nothing. */
static const char *apply(struct sys_anonymiser *anonymiser, struct arena *arena, size_t which, const char *path,
			 const char *line)
{
	const struct pattern *pattern = &sys_patterns[which];
	regmatch_t groups[6];
	size_t from = 0;

	if (pattern->must ? !strstr(line, pattern->must) : !has_hex_run(line))
		return line;
	while (line[from] && regexec(&anonymiser->compiled[which], line + from, ARRAY_SIZE(groups), groups,
				     from ? REG_NOTBOL : 0) == 0) {
		size_t start = from + (size_t)groups[pattern->group].rm_so;
		size_t end = from + (size_t)groups[pattern->group].rm_eo;
		const struct match match = {.path = path, .line = line, .start = start, .end = end};

		if (end <= start || !edges_fit(pattern->edge, line, start, end) ||
		    (pattern->accept && !pattern->accept(&match))) {
			/* Go on behind the first character of what was found, at the next word where edges count. */
			from += (size_t)groups[0].rm_so + 1;
			while (pattern->edge != EDGE_NONE && isalnum((unsigned char)line[from]) &&
			       isalnum((unsigned char)line[from - 1]))
				from++;
			continue;
		}
		const char *other =
		    secret_replace(anonymiser->store, pattern->kind, arena_strndup(arena, line + start, end - start));

		line = arena_printf(arena, "%.*s%s%s", (int)start, line, other, line + end);
		from = start + strlen(other);
	}
	return line;
}

/* Names that were found are replaced wherever they stand, save where the kernel's own words are all there is. */
static bool may_hold_names(const char *path)
{
	return !text_starts(path, "/sys/") && !text_starts(path, "/proc/sys/");
}

static bool is_about_vms(const char *path)
{
	return strstr(path, "libvirt") || strstr(path, "qemu") || strstr(path, "/pve/");
}

static const char *anonymise_line(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path,
				  const char *line, bool names)
{
	/* Most lines are a number or a word. */
	if (!strpbrk(line, ":./-=@<\\") && strlen(line) < 32 && !strchr(line, 'x') && !names)
		return line;
	for (size_t i = 0; i < sys_pattern_count; i++)
		line = apply(anonymiser, arena, i, path, line);
	return names ? secret_replace_names(anonymiser->store, arena, line, is_about_vms(path)) : line;
}

/* Of what is mounted only the kernel's own file systems tell something here; the others tell servers and projects. */
static bool is_foreign_mount(const char *path, const char *line)
{
	static const char *const kept[] = {"bpf",      "cgroup",     "cgroup2",	  "debugfs", "devpts",
					   "devtmpfs", "efivarfs",   "hugetlbfs", "pstore",  "proc",
					   "resctrl",  "securityfs", "sysfs",	  "tracefs"};
	char type[16] = "";

	if (!text_equal(path, "/proc/mounts") && !text_equal(path, "/proc/self/mounts"))
		return false;
	if (sscanf(line, "%*s %*s %15s", type) != 1)
		return *line != '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (text_equal(type, kept[i]))
			return false;
	return true;
}

/* People write to each other in the comments of configuration files. The mark stays, and so do the line numbers. */
static const char *without_comment(const char *path, const char *line)
{
	bool configured = text_starts(path, "/etc/") || text_starts(path, "/boot/") || text_starts(path, "/usr/lib/");

	return configured && line[strspn(line, " \t")] == '#' ? "#" : line;
}

/* A file that is a secret as a whole: its first line's words. Placeholders are no secrets. */
static const char *whole_secret(struct sys_anonymiser *anonymiser, struct arena *arena, enum secret_kind kind,
				const char *line)
{
	static const char *const placeholders[] = {
	    "", "(none)", "0", "None", "localhost", "localhost.localdomain", "Not Specified", "N/A"};
	const char *secret = text_trim(arena, line);

	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++)
		if (text_equal(secret, placeholders[i]))
			return line;
	size_t start = (size_t)(strstr(line, secret) - line);

	return arena_printf(arena, "%.*s%s%s", (int)start, line, secret_replace(anonymiser->store, kind, secret),
			    line + start + strlen(secret));
}

static const enum secret_kind *kind_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < ARRAY_SIZE(secret_files); i++)
		if (text_equal(slash + 1, secret_files[i].name))
			return &secret_files[i].kind;
	return NULL;
}

struct buffer {
	char *data;
	size_t size, room;
};

static void buffer_add(struct buffer *buffer, const char *data, size_t size)
{
	if (buffer->size + size > buffer->room) {
		buffer->room = MAX_OF(buffer->room * 2, buffer->size + size + 4096);
		char *larger = realloc(buffer->data, buffer->room);

		if (!larger)
			err_no_memory();
		buffer->data = larger;
	}
	if (size)
		memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
}

/* The argument after "-name" of QEMU: "web1,process=qemu:web1". */
static const char *replace_first_word(struct sys_anonymiser *anonymiser, struct arena *arena, const char *line)
{
	size_t length = strcspn(line, ",");
	const char *name = secret_replace(anonymiser->store, SECRET_VM, arena_strndup(arena, line, length));

	return arena_printf(arena, "%s%s", name, secret_replace_names(anonymiser->store, arena, line + length, true));
}

/*
 * How much of a process's command line is kept: of an interpreter's the words up to the script, which tells what runs;
 * its arguments are the user's.
 */
static size_t kept_size(const char *path, const char *data, size_t size)
{
	const char *const end = data + size, *slash = data, *word = data;

	if (!text_starts(path, "/proc/") || !strstr(path, "/cmdline") || text_equal(path, "/proc/cmdline"))
		return size;
	for (const char *at = data; at < end && *at; at++)
		if (*at == '/')
			slash = at + 1;
	if (!text_starts(slash, "python") && !text_starts(slash, "perl"))
		return size;
	do
		word += strnlen(word, (size_t)(end - word)) + 1;
	while (word < end && *word == '-');
	return word < end ? MIN_OF((size_t)(word - data) + strnlen(word, (size_t)(end - word)) + 1, size) : size;
}

/* Where the line at `data` ends. A very long one, which no file of the kernel's has, is cut where no word is. */
static size_t line_length(const char *data, size_t size)
{
	enum { LONGEST = 4096 };
	size_t length = 0;

	while (length < size && length < LONGEST && data[length] != '\n' && data[length] != '\0')
		length++;
	if (length < LONGEST)
		return length;
	for (size_t cut = LONGEST; cut > LONGEST / 2; cut--)
		if (strchr(" ,;\"", data[cut - 1]))
			return cut;
	return length;
}

static bool is_xml_of_libvirt(const char *path)
{
	size_t length = strlen(path);

	return strstr(path, "libvirt") && length > 4 && text_equal(path + length - 4, ".xml");
}

const char *sys_anonymise_contents(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path,
				   const char *data, size_t size, size_t *ret_size)
{
	enum { SCRATCH_LIMIT = 1 << 20 };
	struct buffer buffer = {0};
	CLEANUP(arena_free_pointer) struct arena *scratch = arena_new();
	const enum secret_kind *whole = kind_of_file(path);
	bool names = may_hold_names(path), after_name = false;

	if (text_equal(path, "/proc/cpuinfo")) {
		*ret_size = size;
		return arena_strndup(arena, data, size);
	}

	size = kept_size(path, data, size);
	if (is_xml_of_libvirt(path))
		data = sys_without_free_text(arena, data, size, &size);
	/* Lines end with a newline, the words of a process's command line with a NUL. */
	for (size_t at = 0; at < size;) {
		size_t length = line_length(data + at, size - at);
		const char *line = arena_strndup(scratch, data + at, length);

		if (whole)
			line = whole_secret(anonymiser, scratch, *whole, line);
		else if (after_name && !strstr(line, "guest="))
			line = replace_first_word(anonymiser, scratch, line);
		else
			line = anonymise_line(anonymiser, scratch, path, without_comment(path, line), names);
		bool dropped = is_foreign_mount(path, line);

		after_name = length == 5 && memcmp(data + at, "-name", 5) == 0;
		if (!dropped)
			buffer_add(&buffer, line, strlen(line));
		at += length;
		if (at < size && (data[at] == '\n' || data[at] == '\0')) {
			if (!dropped)
				buffer_add(&buffer, data + at, 1);
			at++;
		}
		if (arena_used(scratch) > SCRATCH_LIMIT) {
			(void)arena_free(scratch);
			scratch = arena_new();
		}
	}
	*ret_size = buffer.size;
	const char *result = arena_strndup(arena, buffer.data ? buffer.data : "", buffer.size);

	free(buffer.data);
	return result;
}

/* Names in /sys are the kernel's, but for those of network interfaces, which people give: "br-HOST". */
static bool is_of_interface(const char *path)
{
	return strstr(path, "/net/") != NULL;
}

const char *sys_anonymise_path(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path)
{
	bool names = (!text_starts(path, "/sys/") && !text_starts(path, "/proc/")) || is_of_interface(path);

	return arena_strdup(arena, anonymise_line(anonymiser, arena, path, path, names));
}

const char *sys_anonymise_name(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path,
			       const char *name)
{
	const char *whole = sys_anonymise_path(anonymiser, arena,
					       arena_printf(arena, "%s/%s", text_equal(path, "/") ? "" : path, name));

	return strrchr(whole, '/') + 1;
}

const char *sys_anonymise_target(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path,
				 const char *target)
{
	bool names = !text_starts(path, "/sys/") || is_of_interface(path) || is_of_interface(target);

	/* Open files: which process holds a device is asked, the others are nobody's business. */
	if (text_starts(path, "/proc/") && strstr(path, "/fd/") && !text_starts(target, "/dev/"))
		return "elsewhere";
	return arena_strdup(arena, anonymise_line(anonymiser, arena, path, target, names));
}
