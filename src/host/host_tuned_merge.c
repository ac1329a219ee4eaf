/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns merging a tuned profile with all that it includes, and looking things up in it. */
#include "host_tuned.h"

#include <ctype.h>
#include <errno.h>

#include "host.h"
#include "host_tuned_parse.h"
#include "host_tuned_stock.h"
#include "text.h"

enum { SETTING_LIMIT = 2048, DEPTH_LIMIT = 16, FILE_LIMIT = 64 };

/* Reading one profile with all that it includes. */
struct merge {
	struct host *host;
	struct tuned_profile *profile;
	const char *files[FILE_LIMIT]; /* already read: a profile may include its namesake of an earlier directory */
	int file_count;
	const char *missing[FILE_LIMIT], *included[FILE_LIMIT];
	int depth, room;
};

bool tuned_name_is_safe(const char *name)
{
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.-", *at))
			return false;
	return *name != '\0';
}

static bool is_read_already(const struct merge *merge, const char *path)
{
	for (int i = 0; i < merge->file_count; i++)
		if (text_equal(merge->files[i], path))
			return true;
	return false;
}

/*
 * The tuned.conf of a profile: the last directory that has it and that was not read yet. NULL when none has;
 * *ret_again says whether one has that was read: tuned then goes on without an error.
 */
static const struct sys_look *find_profile(const struct merge *merge, const char *name, bool *ret_again)
{
	const struct host_tuned *tuned = &merge->host->daemons.tuned;
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	if (!*base || text_equal(base, "..") || text_equal(base, "."))
		return NULL;
	for (int i = tuned->dir_count - 1; i >= 0; i--) {
		const char *path = arena_printf(merge->host->arena, "%s/%s/tuned.conf", tuned->dirs[i], base);

		if (is_read_already(merge, path)) {
			*ret_again = true;
			continue;
		}
		const struct sys_look *look = sys_read(merge->host->sys, "%s", path);

		if (look->state != SYS_ABSENT)
			return look;
	}
	return NULL;
}

static void add_setting(struct merge *merge, const struct tuned_setting *setting)
{
	struct tuned_profile *profile = merge->profile;

	for (int i = 0; i < profile->setting_count; i++) {
		struct tuned_setting *old = &profile->settings[i];

		if (text_equal(old->section, setting->section) && text_equal(old->option, setting->option)) {
			*old = *setting;
			return;
		}
	}
	if (profile->setting_count >= SETTING_LIMIT)
		return;
	if (profile->setting_count == merge->room) {
		merge->room = merge->room ? merge->room * 2 : 32;
		struct tuned_setting *larger =
		    ARENA_ARRAY(merge->host->arena, (size_t)merge->room, struct tuned_setting);

		if (profile->setting_count)
			memcpy(larger, profile->settings, (size_t)profile->setting_count * sizeof(*larger));
		profile->settings = larger;
	}
	profile->settings[profile->setting_count++] = *setting;
}

/* Drop what was inherited for a section: all of it, or the options named in `only` (comma or blank separated). */
static void drop_settings(struct tuned_profile *profile, const char *section, const char *only)
{
	int kept = 0;

	for (int i = 0; i < profile->setting_count; i++) {
		const struct tuned_setting *setting = &profile->settings[i];
		bool goes =
		    text_equal(setting->section, section) && (!only || text_has_word(only, ", \t", setting->option));

		if (!goes)
			profile->settings[kept++] = *setting;
	}
	profile->setting_count = kept;
}

static const char *option_in(const struct tuned_file *file, const char *section, const char *option)
{
	for (int i = file->count - 1; i >= 0; i--)
		if (text_equal(file->options[i].section, section) && text_equal(file->options[i].name, option))
			return file->options[i].value;
	return NULL;
}

bool tuned_is_true(const char *value)
{
	return value && text_has_word("1 true True yes on", " ", value);
}

/* The keys that say how a section is to be taken rather than what is to be set. */
static bool is_about_section(const char *option)
{
	return text_has_word("type enabled replace drop priority devices devices_udev_regex uname_regex cpuinfo_regex "
			     "script_pre script_post",
			     " ", option);
}

/* Does the section speak of another architecture? The stock profiles have parts for aarch64. */
static bool is_foreign(const struct tuned_file *file, const char *section)
{
	const char *regex = option_in(file, section, "uname_regex");

	return regex && (strstr(regex, "aarch64") || strstr(regex, "ppc64") || strstr(regex, "s390"));
}

static const char *type_of_section(const struct merge *merge, const struct tuned_file *file, const char *section)
{
	const char *type = option_in(file, section, "type");

	for (int i = 0; !type && i < merge->profile->setting_count; i++)
		if (text_equal(merge->profile->settings[i].section, section))
			type = merge->profile->settings[i].type;
	return type ? type : section;
}

static void merge_section(struct merge *merge, const struct tuned_file *file, const char *section)
{
	const char *enabled = option_in(file, section, "enabled");
	const char *drop = option_in(file, section, "drop");

	if (is_foreign(file, section))
		return;
	const char *type = type_of_section(merge, file, section);

	if ((enabled && !tuned_is_true(enabled)) || tuned_is_true(option_in(file, section, "replace")))
		drop_settings(merge->profile, section, NULL);
	if (enabled && !tuned_is_true(enabled))
		return;
	if (drop)
		drop_settings(merge->profile, section, drop);
	for (int i = 0; i < file->count; i++) {
		const struct tuned_option *option = &file->options[i];

		if (!text_equal(option->section, section) || is_about_section(option->name))
			continue;
		const struct tuned_setting setting = {.section = section,
						      .type = type,
						      .option = option->name,
						      .value = option->value,
						      .path = file->path,
						      .line = option->line};

		add_setting(merge, &setting);
	}
}

static void merge_file(struct merge *merge, const struct tuned_file *file)
{
	for (int i = 0; i < file->section_count; i++)
		if (!text_equal(file->sections[i], "main"))
			merge_section(merge, file, file->sections[i]);
}

static void merge_stock(struct merge *merge, const char *name)
{
	const struct host_tuned *tuned = &merge->host->daemons.tuned;
	/* Hosts that are only a topology have no bounds. */
	int most = tuned->minor_most ? tuned->minor_most : 99;

	for (const struct tuned_stock_setting *stock = tuned_stock_settings; stock->profile; stock++) {
		const struct tuned_setting setting = {.section = stock->section,
						      .type = stock->section,
						      .option = stock->option,
						      .value = stock->value,
						      .path = TUNED_STOCK_PATH};

		/* Only what every version that this host may have agrees on. */
		if (text_equal(stock->profile, name) && stock->since <= tuned->minor_least && stock->until >= most)
			add_setting(merge, &setting);
	}
}

static void note_name(const char **names, int *count, const char *name)
{
	if (*count < FILE_LIMIT)
		names[(*count)++] = name;
}

static void merge_profile(struct merge *merge, const char *name);

/* Includes are separated by commas or semicolons; an unset variable in them cannot be followed. */
static void merge_includes(struct merge *merge, const char *includes)
{
	if (strchr(includes, '$')) {
		merge->profile->unresolved = true;
		return;
	}
	for (const char *at = includes; *at;) {
		size_t length = strcspn(at, ",;");
		const char *name = text_trim(merge->host->arena, arena_strndup(merge->host->arena, at, length));

		if (*name)
			merge_profile(merge, name);
		at += length + (at[length] != '\0');
	}
}

static void merge_text(struct merge *merge, const struct tuned_file *file)
{
	const char *includes = option_in(file, "main", "include");

	if (includes)
		merge_includes(merge, includes);
	merge_file(merge, file);
}

static void note_fault(struct merge *merge, const char *path, const struct err *err)
{
	struct tuned_profile *profile = merge->profile;

	if (profile->fault)
		return;
	profile->fault = arena_strdup(merge->host->arena, err->what);
	profile->fault_path = path;
	profile->fault_line = err->line;
}

static void merge_profile(struct merge *merge, const char *name)
{
	struct tuned_profile *profile = merge->profile;
	bool optional = *name == '-', again = false;

	name += optional;
	const struct sys_look *look = find_profile(merge, name, &again);
	const char *stock = tuned_stock_include(name);
	struct err err = {0};

	if (merge->depth >= DEPTH_LIMIT || merge->file_count >= FILE_LIMIT)
		return;
	merge->depth++;
	if (merge->depth > 1)
		note_name(merge->included, &profile->included_count, name);
	if (look && look->state == SYS_VALUE) {
		struct tuned_file file;

		merge->files[merge->file_count++] = look->path;
		if (!profile->path && merge->depth == 1)
			profile->path = look->path;
		if (tuned_file_parse(merge->host->arena, look->path, look->data, &file, &err) < 0)
			note_fault(merge, look->path, &err);
		merge_text(merge, &file);
	} else if (stock && !merge->host->daemons.tuned.system_dir_known) {
		/* Counted as a file, so that a loop through a user's profile of the same name ends. */
		merge->files[merge->file_count++] = TUNED_STOCK_PATH;
		profile->stock = profile->stock || merge->depth == 1;
		merge_includes(merge, stock);
		merge_stock(merge, name);
	} else if (merge->depth > 1 && !optional && !again && !look) {
		note_name(merge->missing, &profile->missing_count, name);
	}
	merge->depth--;
}

static void finish_merge(struct merge *merge)
{
	struct arena *arena = merge->host->arena;
	const char **missing = ARENA_ARRAY(arena, (size_t)merge->profile->missing_count, const char *);
	const char **included = ARENA_ARRAY(arena, (size_t)merge->profile->included_count, const char *);

	for (int i = 0; i < merge->profile->missing_count; i++)
		missing[i] = merge->missing[i];
	for (int i = 0; i < merge->profile->included_count; i++)
		included[i] = merge->included[i];
	merge->profile->missing = missing;
	merge->profile->included = included;
}

void tuned_profile_load(struct host *host, const char *name, struct tuned_profile *ret)
{
	struct merge merge = {.host = host, .profile = ret};

	*ret = (struct tuned_profile){.name = name};
	if (tuned_name_is_safe(name))
		merge_profile(&merge, name);
	finish_merge(&merge);
}

int tuned_profile_parse(struct host *host, const char *path, const char *text, struct tuned_profile *ret,
			struct err *err)
{
	struct merge merge = {.host = host, .profile = ret, .depth = 1};
	struct tuned_file file;
	struct err own = {0};
	int r;

	*ret = (struct tuned_profile){.name = path, .path = path};
	r = tuned_file_parse(host->arena, path, text, &file, &own);
	if (r < 0) {
		note_fault(&merge, path, &own);
		(void)err_copy(err, &own);
	}
	merge.files[merge.file_count++] = path;
	merge_text(&merge, &file);
	finish_merge(&merge);
	return r;
}

const struct tuned_setting *tuned_profile_setting(const struct tuned_profile *profile, const char *type,
						  const char *option)
{
	for (int i = profile->setting_count - 1; i >= 0; i--)
		if (text_equal(profile->settings[i].type, type) && text_equal(profile->settings[i].option, option))
			return &profile->settings[i];
	return NULL;
}

const struct tuned_setting *host_tuned_setting(const struct host_tuned *tuned, const char *type, const char *option)
{
	const struct tuned_setting *found = NULL;

	for (int i = tuned->profile_count - 1; !found && i >= 0; i--)
		found = tuned_profile_setting(&tuned->profiles[i], type, option);
	return found;
}

bool tuned_profile_is_a(const struct tuned_profile *profile, const char *name)
{
	if (text_equal(profile->name, name))
		return true;
	for (int i = 0; i < profile->included_count; i++)
		if (text_equal(profile->included[i], name))
			return true;
	return false;
}

const char *tuned_assignment(struct arena *arena, const char *text, const char *name)
{
	size_t length = strlen(name);
	const char *found = NULL;

	for (const char *at = text; *at;) {
		size_t line = strcspn(at, "\n");

		if (line > length && strncmp(at, name, length) == 0 && strchr("= \t", at[length])) {
			const char *equals = memchr(at, '=', line);

			if (equals)
				found = text_trim(arena,
						  arena_strndup(arena, equals + 1, (size_t)(at + line - equals - 1)));
		}
		at += line + (at[line] != '\0');
	}
	size_t size = found ? strlen(found) : 0;

	if (size >= 2 && found[0] == '"' && found[size - 1] == '"')
		found = arena_strndup(arena, found + 1, size - 2);
	return found;
}

static struct fact isolated_of_text(struct host *host, const char *value, const char *source)
{
	static const char name[] = "tuned.isolated_cores";
	struct cpuset cpus;
	struct err err = {0};

	if (!*value || strchr(value, '$')) {
		struct fact fact = fact_absent(name, source);

		fact.note = *value ? "computed by tuned when it starts" : "empty";
		return fact;
	}
	if (cpuset_parse(value, &cpus, &err) < 0)
		return fact_implausible(name, source, value, arena_strdup(host->arena, err.what));
	return fact_cpus(host->arena, name, &cpus, source);
}

/* The last file that a profile's [variables] includes. */
static const char *variables_file(const struct tuned_profile *profile)
{
	const struct tuned_setting *include = tuned_profile_setting(profile, "variables", "include");

	return include && include->value[0] == '/' && !strchr(include->value, '$') ? include->value : NULL;
}

struct fact tuned_profile_isolated(struct host *host, const struct tuned_profile *profile)
{
	const struct tuned_setting *setting = tuned_profile_setting(profile, "scheduler", "isolated_cores");
	const struct tuned_setting *variable = tuned_profile_setting(profile, "variables", "isolated_cores");
	const char *path = variables_file(profile);

	if (setting && !strchr(setting->value, '$'))
		return isolated_of_text(host, setting->value, setting->path);
	if (variable && !strchr(variable->value, '$'))
		return isolated_of_text(host, variable->value, variable->path);
	if (!path)
		return fact_absent("tuned.isolated_cores", profile->path ? profile->path : TUNED_STOCK_PATH);
	const struct sys_look *look = sys_read(host->sys, "%s", path);

	if (look->state != SYS_VALUE)
		return fact_of_look("tuned.isolated_cores", look);
	const char *value = tuned_assignment(host->arena, look->data, "isolated_cores");

	return value ? isolated_of_text(host, value, look->path) : fact_absent("tuned.isolated_cores", look->path);
}
