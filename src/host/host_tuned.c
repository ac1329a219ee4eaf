/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts about tuned: version, directories, active profiles; merging them is in host_tuned_merge.c. */
#include "host_tuned.h"

#include "host.h"
#include "text.h"

enum { NAME_LIMIT = 16 };

/* Python's site directory differs by distribution: dist-packages on Debian, python3.N/site-packages elsewhere. */
static struct fact read_version(struct host *host)
{
	static const char name[] = "tuned.version";
	const struct sys_look *version = sys_read(host->sys, "/usr/lib/python3/dist-packages/tuned/version.py");

	if (version->state == SYS_ABSENT) {
		const struct sys_look *libraries = sys_list(host->sys, "/usr/lib");

		for (size_t i = 0; libraries->state == SYS_VALUE && i < libraries->size; i++)
			if (text_starts(libraries->names[i], "python3.") && version->state != SYS_VALUE)
				version = sys_read(host->sys, "/usr/lib/%s/site-packages/tuned/version.py",
						   libraries->names[i]);
	}
	if (version->state != SYS_VALUE)
		return fact_of_look(name, version);
	const char *parts[3] = {tuned_assignment(host->arena, version->data, "TUNED_VERSION_MAJOR"),
				tuned_assignment(host->arena, version->data, "TUNED_VERSION_MINOR"),
				tuned_assignment(host->arena, version->data, "TUNED_VERSION_PATCH")};
	int64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!parts[i] || text_int(parts[i], 10, &number) < 0 || number < 0 || number > 9999)
			return fact_implausible(name, version->path, parts[i] ? parts[i] : "", "no version number");
	return fact_text(name, arena_printf(host->arena, "%s.%s.%s", parts[0], parts[1], parts[2]), version->path);
}

/* N of "2.N.P"; 0 when it is not known. */
static int minor_of(struct arena *arena, const char *version)
{
	int64_t minor;

	if (!text_starts(version, "2.") ||
	    text_int(arena_strndup(arena, version + 2, strcspn(version + 2, ".")), 10, &minor) < 0)
		return 0;
	return (int)minor;
}

/* Profile directories moved in 2.23; where only one of them is there, it tells the version. */
static void read_layout(struct host *host)
{
	static const char new_dir[] = "/usr/lib/tuned/profiles", old_dir[] = "/usr/lib/tuned";
	struct host_tuned *tuned = &host->daemons.tuned;
	int minor = minor_of(host->arena, fact_text_or(&tuned->version, ""));
	bool is_new;

	tuned->minor_least = 0;
	tuned->minor_most = 99;
	if (minor)
		tuned->minor_least = tuned->minor_most = minor;
	if (sys_has_dir(host->sys, new_dir)) {
		tuned->system_dir_known = is_new = true;
		tuned->layout = fact_text("tuned.layout", new_dir, new_dir);
	} else if (sys_has_dir(host->sys, old_dir)) {
		tuned->system_dir_known = true;
		is_new = false;
		tuned->layout = fact_text("tuned.layout", old_dir, old_dir);
	} else if (minor || sys_has_dir(host->sys, "/etc/tuned/profiles")) {
		is_new = minor ? minor >= 23 : true;
		tuned->layout = fact_text("tuned.layout", is_new ? new_dir : old_dir,
					  minor ? "derived from tuned.version" : "/etc/tuned/profiles");
	} else {
		tuned->layout = fact_absent("tuned.layout", new_dir);
		return;
	}
	if (is_new)
		tuned->minor_least = MAX_OF(tuned->minor_least, 23);
	else
		tuned->minor_most = MIN_OF(tuned->minor_most, 22);
}

static void set_dirs(struct host *host, const char *list)
{
	struct host_tuned *tuned = &host->daemons.tuned;
	const char **dirs = ARENA_ARRAY(host->arena, NAME_LIMIT, const char *);

	for (const char *at = list; *at && tuned->dir_count < NAME_LIMIT;) {
		size_t length = strcspn(at, ",");
		const char *dir = text_trim(host->arena, arena_strndup(host->arena, at, length));

		if (*dir == '/')
			dirs[tuned->dir_count++] = dir;
		at += length + (at[length] != '\0');
	}
	tuned->dirs = dirs;
}

/* The main configuration: the search path, and whether dynamic tuning is on. */
static void read_main_conf(struct host *host)
{
	static const char path[] = "/etc/tuned/tuned-main.conf";
	struct host_tuned *tuned = &host->daemons.tuned;
	const struct sys_look *look = sys_read(host->sys, path);
	const char *layout = fact_text_or(&tuned->layout, "");
	const char *dirs = text_equal(layout, "/usr/lib/tuned/profiles") ? "/usr/lib/tuned/profiles,/etc/tuned/profiles"
			   : text_equal(layout, "/usr/lib/tuned")	 ? "/usr/lib/tuned,/etc/tuned"
									 : "/etc/tuned,/etc/tuned/profiles";

	tuned->dynamic_tuning = fact_of_look("tuned.dynamic_tuning", look);
	if (look->state == SYS_VALUE) {
		const char *dynamic = tuned_assignment(host->arena, look->data, "dynamic_tuning");
		const char *own_dirs = tuned_assignment(host->arena, look->data, "profile_dirs");

		if (own_dirs && *own_dirs == '/')
			dirs = own_dirs;
		if (dynamic)
			tuned->dynamic_tuning = fact_switch("tuned.dynamic_tuning", tuned_is_true(dynamic), path);
		else
			tuned->dynamic_tuning.note = "not set in it; the default depends on the version";
	}
	set_dirs(host, dirs);
}

/* Where a profile lies that is in none of the directories: the other layout's place for own profiles. */
static const char *profile_elsewhere(struct host *host, const char *name)
{
	static const char *const places[] = {"/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct sys_look *look = sys_read(host->sys, "%s/%s/tuned.conf", places[i], name);

		if (look->state == SYS_VALUE)
			return look->path;
	}
	return NULL;
}

static void read_profiles(struct host *host)
{
	struct host_tuned *tuned = &host->daemons.tuned;
	struct tuned_profile *profiles = ARENA_ARRAY(host->arena, NAME_LIMIT, struct tuned_profile);
	const char *names = fact_text_or(&tuned->active_profile, "");

	tuned->profiles = profiles;
	for (const char *at = names; *at && tuned->profile_count < NAME_LIMIT;) {
		at += strspn(at, " \t\n");
		size_t length = strcspn(at, " \t\n");

		if (!length)
			break;
		struct tuned_profile *profile = &profiles[tuned->profile_count++];

		tuned_profile_load(host, arena_strndup(host->arena, at, length), profile);
		if (!profile->path && tuned_name_is_safe(profile->name))
			profile->elsewhere = profile_elsewhere(host, profile->name);
		at += length;
	}
}

static struct fact read_boot_cmdline(struct host *host)
{
	const struct sys_look *look = sys_read(host->sys, "/etc/tuned/bootcmdline");
	const char *words =
	    look->state == SYS_VALUE ? tuned_assignment(host->arena, look->data, "TUNED_BOOT_CMDLINE") : NULL;

	return words ? fact_text("tuned.boot_cmdline", words, look->path) : fact_of_look("tuned.boot_cmdline", look);
}

void host_tuned_read(struct host *host)
{
	struct host_tuned *tuned = &host->daemons.tuned;

	tuned->active_profile =
	    fact_read_text(host->arena, host->sys, "tuned.active_profile", "/etc/tuned/active_profile");
	/* Everything of tuned is below /etc/tuned; a host without it is spared the other looks. */
	if (tuned->active_profile.state == FACT_ABSENT && !sys_has_dir(host->sys, "/etc/tuned")) {
		tuned->version = fact_absent("tuned.version", "/etc/tuned");
		tuned->layout = fact_absent("tuned.layout", "/etc/tuned");
		tuned->mode = fact_absent("tuned.mode", "/etc/tuned");
		tuned->dynamic_tuning = fact_absent("tuned.dynamic_tuning", "/etc/tuned");
		tuned->isolated_cores = fact_absent("tuned.isolated_cores", "/etc/tuned");
		tuned->boot_cmdline = fact_absent("tuned.boot_cmdline", "/etc/tuned");
		tuned->minor_most = 99;
		set_dirs(host, "");
		return;
	}
	tuned->version = read_version(host);
	read_layout(host);
	read_main_conf(host);
	tuned->mode = fact_read_text(host->arena, host->sys, "tuned.mode", "/etc/tuned/profile_mode");
	tuned->boot_cmdline = read_boot_cmdline(host);
	read_profiles(host);
	tuned->isolated_cores = fact_absent("tuned.isolated_cores", "/etc/tuned/active_profile");
	for (int i = 0; i < tuned->profile_count; i++) {
		struct fact isolated = tuned_profile_isolated(host, &tuned->profiles[i]);

		if (isolated.state != FACT_ABSENT || isolated.note)
			tuned->isolated_cores = isolated;
	}
}

static void settings_rows(const struct tuned_profile *profile, struct host_rows *rows)
{
	rows->section = arena_printf(rows->arena, "tuned profile %s", profile->name);
	for (int i = 0; i < profile->setting_count; i++) {
		const struct tuned_setting *setting = &profile->settings[i];
		struct fact fact = fact_text("tuned.setting", setting->value, setting->path);

		host_rows_add(rows, arena_printf(rows->arena, "[%s] %s", setting->section, setting->option), &fact);
	}
}

void host_tuned_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_tuned *tuned = &host->daemons.tuned;

	host_rows_add(rows, "tuned version", &tuned->version);
	host_rows_add(rows, "tuned profile", &tuned->active_profile);
	host_rows_add(rows, "tuned mode", &tuned->mode);
	host_rows_add(rows, "tuned profile directory", &tuned->layout);
	host_rows_add(rows, "tuned dynamic tuning", &tuned->dynamic_tuning);
	host_rows_add(rows, "tuned isolated cores", &tuned->isolated_cores);
	host_rows_add(rows, "tuned boot words", &tuned->boot_cmdline);
	for (int i = 0; i < tuned->profile_count; i++)
		settings_rows(&tuned->profiles[i], rows);
}
