/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the profiles of tuned that hvtune writes; see knob_tuned_own.h. */
#include "knob_tuned_own.h"

#include <errno.h>

#include "knob_table.h"
#include "text.h"

#define HEADER "# Written by hvtune; hvtune undo takes it away.\n"
#define NAME "hvtune"

enum { MOST_OWN = 1000, MOST_OPTIONS = 512 };

/* Options of tuned's plug-ins for knobs, since 2.minor; of two for a knob the first that there is. */
static const struct option {
	const char *knob, *section, *option;
	int since;
	const char *twin; /* an option of the same section that would undo it, and is dropped */
} options[] = {
    {"governor", "cpu", "governor", 0, NULL},
    {"epp", "cpu", "energy_performance_preference", 20, NULL},
    {"boost", "cpu", "boost", 24, NULL},
    {"cpu_boost", "cpu", "boost", 24, NULL},
    {"max_freq", "sysfs", "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq", 0, NULL},
    {"latency", "cpu", "pm_qos_resume_latency_us", 18, NULL},
    {"latency.hold", "cpu", "force_latency", 0, NULL},
    {"latency.hold.lasting", "cpu", "force_latency", 0, NULL},
    {"platform_profile", "acpi", "platform_profile", 22, NULL},
    {"thp", "vm", "transparent_hugepages", 0, "transparent_hugepage"},
    {"thp.defrag", "vm", "transparent_hugepage.defrag", 18, NULL},
    {"dirty_bytes", "vm", "dirty_bytes", 26, "dirty_ratio"},
    {"dirty_ratio", "vm", "dirty_ratio", 26, "dirty_bytes"},
    {"dirty_background_bytes", "vm", "dirty_background_bytes", 26, "dirty_background_ratio"},
    {"dirty_background_ratio", "vm", "dirty_background_ratio", 26, "dirty_background_bytes"},
    {"dirty_bytes", "sysctl", "vm.dirty_bytes", 0, "vm.dirty_ratio"},
    {"dirty_ratio", "sysctl", "vm.dirty_ratio", 0, "vm.dirty_bytes"},
    {"dirty_background_bytes", "sysctl", "vm.dirty_background_bytes", 0, "vm.dirty_background_ratio"},
    {"dirty_background_ratio", "sysctl", "vm.dirty_background_ratio", 0, "vm.dirty_background_bytes"},
};

/* In the order in which they are written. */
static const char *const sections[] = {"cpu", "acpi", "vm", "sysctl", "sysfs"};

struct profile {
	struct arena *arena;
	struct tuned_setting settings[MOST_OPTIONS];
	int count;
	const char *dropped[ARRAY_SIZE(sections)]; /* with commas between them; NULL: none */
};

static void put(struct profile *profile, const char *section, const char *option, const char *value)
{
	for (int i = 0; i < profile->count; i++)
		if (text_equal(profile->settings[i].section, section) &&
		    text_equal(profile->settings[i].option, option)) {
			profile->settings[i].value = value;
			return;
		}
	if (profile->count < MOST_OPTIONS)
		profile->settings[profile->count++] =
		    (struct tuned_setting){.section = section, .option = option, .value = value};
}

static void drop(struct profile *profile, const char *section, const char *option)
{
	int kept = 0;

	for (int i = 0; i < profile->count; i++)
		if (!text_equal(profile->settings[i].section, section) ||
		    !text_equal(profile->settings[i].option, option))
			profile->settings[kept++] = profile->settings[i];
	profile->count = kept;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (text_equal(sections[i], section)) {
			const char **dropped = &profile->dropped[i];

			if (!*dropped)
				*dropped = option;
			else if (!text_has_word(*dropped, ",", option))
				*dropped = arena_printf(profile->arena, "%s,%s", *dropped, option);
		}
}

/* "vm.swappiness" of "/proc/sys/vm/swappiness". */
static const char *sysctl_of(struct arena *arena, const char *path)
{
	char *name = arena_strdup(arena, path + strlen("/proc/sys/"));

	for (char *slash = name; (slash = strchr(slash, '/'));)
		*slash = '.';
	return name;
}

/* Does the knob's file take the value as it is asked for? */
static bool is_plain(const struct knob *knob)
{
	return knob->path && !knob->expand &&
	       (knob->actuator == &knob_value_file || knob->actuator == &knob_choice_file);
}

static int put_ask(struct profile *profile, const struct knob_ask *ask, int minor, struct err *err)
{
	const struct knob *knob = knob_find(ask->name);

	if (ask->where) {
		(void)err_set(err, EINVAL, ask->name, "tuned is given it for all CPUs, nodes or devices only");
		return err_hint(err, "leave out @%s, or set it without --through", ask->where);
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!text_equal(options[i].knob, ask->name) || options[i].since > minor)
			continue;
		put(profile, options[i].section, options[i].option,
		    text_equal(options[i].option, "force_latency") && text_equal(ask->value, "off") ? "None"
												    : ask->value);
		if (options[i].twin)
			drop(profile, options[i].section, options[i].twin);
		return 0;
	}
	if (knob && is_plain(knob) && text_starts(knob->path, "/proc/sys/"))
		put(profile, "sysctl", sysctl_of(profile->arena, knob->path), ask->value);
	else if (knob && is_plain(knob) && text_starts(knob->path, "/sys/"))
		put(profile, "sysfs", knob->path, ask->value);
	else {
		(void)err_set(err, EINVAL, ask->name, "tuned 2.%d has no option for it", minor);
		return err_hint(err, "set it without --through");
	}
	return 0;
}

static const char *print(const struct profile *profile, const char *include)
{
	const char *text =
	    arena_printf(profile->arena, HEADER "[main]\nsummary=Settings that hvtune handed to tuned\n%s%s%s",
			 include ? "include=" : "", include ? include : "", include ? "\n" : "");

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const char *part =
		    profile->dropped[i] ? arena_printf(profile->arena, "drop=%s\n", profile->dropped[i]) : "";

		for (int j = 0; j < profile->count; j++)
			if (text_equal(profile->settings[j].section, sections[i]))
				part = arena_printf(profile->arena, "%s%s=%s\n", part, profile->settings[j].option,
						    profile->settings[j].value);
		if (*part)
			text = arena_printf(profile->arena, "%s\n[%s]\n%s", text, sections[i], part);
	}
	return text;
}

int knob_tuned_profile_text(struct knob_machine *machine, const char *include, const struct tuned_profile *before,
			    int minor, const struct knob_ask *asks, size_t count, const char **ret, struct err *err)
{
	struct profile *profile = ARENA_NEW(machine->arena, struct profile);

	profile->arena = machine->arena;
	for (int i = 0; before && i < before->setting_count; i++) {
		const struct tuned_setting *setting = &before->settings[i];

		/* What the included profiles set comes with them. */
		if (!text_equal(setting->path, before->path))
			continue;
		put(profile, setting->section, setting->option, setting->value);
		for (size_t j = 0; j < ARRAY_SIZE(options); j++)
			if (options[j].twin && text_equal(options[j].section, setting->section) &&
			    text_equal(options[j].option, setting->option))
				drop(profile, setting->section, options[j].twin);
	}
	for (size_t i = 0; i < count; i++) {
		int r = put_ask(profile, &asks[i], minor, err);

		if (r < 0)
			return r;
	}
	*ret = print(profile, include);
	return 0;
}

/* The directory for own profiles that this tuned reads. */
static int own_dir(const struct host_tuned *files, const char **ret, struct err *err)
{
	for (int i = files->dir_count - 1; i >= 0; i--)
		if (text_equal(files->dirs[i], "/etc/tuned") || text_equal(files->dirs[i], "/etc/tuned/profiles")) {
			*ret = files->dirs[i];
			return 0;
		}
	(void)err_set(err, ENOENT, "/etc/tuned/tuned-main.conf",
		      "tuned searches no directory below /etc/tuned for profiles (profile_dirs)");
	return err_hint(err, "set it without --through");
}

static bool is_own_name(const char *name)
{
	int64_t number;

	return text_equal(name, NAME) ||
	       (text_starts(name, NAME "-") && text_int(name + strlen(NAME "-"), 10, &number) == 0 && number > 1);
}

static const char *own_name(struct arena *arena, int number)
{
	return number == 1 ? NAME : arena_printf(arena, NAME "-%d", number);
}

static const char *own_path(struct arena *arena, const char *dir, const char *name)
{
	return arena_printf(arena, "%s/%s/tuned.conf", dir, name);
}

static void add_own(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask, const char *dir,
		    const char *name, struct knob_points *points)
{
	const struct knob_point point = {.knob = knob,
					 .name = ask->name,
					 .where = own_path(machine->arena, dir, name),
					 .label = name,
					 .new = text_equal(ask->value, "none") ? NULL : ask->value};

	knob_points_add(points, &point);
}

static bool is_there(struct knob_machine *machine, const char *dir, const char *name)
{
	return sys_read(machine->sys, "%s", own_path(machine->arena, dir, name))->state != SYS_ABSENT;
}

int knob_tuned_own_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			  struct knob_points *points, struct err *err)
{
	size_t before = points->count;
	const char *dir = NULL;
	int r = own_dir(knob_tuned_files(machine, NULL), &dir, err);

	if (r < 0)
		return r;
	if (ask->where && !is_own_name(ask->where))
		return err_set(err, EINVAL, ask->where, "profiles of hvtune's are called " NAME ", " NAME "-2...");
	if (ask->where)
		add_own(machine, knob, ask, dir, ask->where, points);
	for (int i = 1; !ask->where && i <= MOST_OWN; i++)
		if (is_there(machine, dir, own_name(machine->arena, i)))
			add_own(machine, knob, ask, dir, own_name(machine->arena, i), points);
	return points->count > before ? 0 : err_set(err, ENOENT, dir, "tuned has no profile of hvtune's");
}

int knob_tuned_own_check(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	struct tuned_profile profile;
	struct host *host;
	int r;

	if (!point->new)
		return 0;
	if (!text_starts(point->new, HEADER)) {
		(void)err_set(err, EINVAL, point->name, "such a profile is written by set --through tuned");
		return err_hint(err, "hvtune set --through tuned governor=powersave");
	}
	(void)knob_tuned_files(machine, &host);
	r = tuned_profile_parse(host, point->where, point->new, &profile, err);
	return r < 0 ? r : 0;
}

/* tuned leaves thp alone where the kernel's command line sets it (plugin_vm.py). */
static int check_command_line(struct knob_machine *machine, const struct knob_ask *asks, size_t count, struct err *err)
{
	const struct sys_look *cmdline = sys_read(machine->sys, "/proc/cmdline");

	for (size_t i = 0; i < count; i++)
		if (text_equal(asks[i].name, "thp") && cmdline->state == SYS_VALUE &&
		    strstr(cmdline->data, "transparent_hugepage=")) {
			(void)err_set(
			    err, EINVAL, asks[i].name,
			    "tuned leaves it alone, since transparent_hugepage= is on the kernel's command line");
			return err_hint(err, "set it without --through");
		}
	return 0;
}

/* What an own profile includes, as it stands there; NULL: nothing. */
static const char *include_in(struct knob_machine *machine, const char *path)
{
	const struct sys_look *look = sys_read(machine->sys, "%s", path);
	const char *line = look->state == SYS_VALUE ? strstr(look->data, "\ninclude=") : NULL;

	line = line ? line + strlen("\ninclude=") : NULL;
	return line ? arena_strndup(machine->arena, line, strcspn(line, "\n")) : NULL;
}

/*
 * "balanced,powersave": what a new profile includes. An earlier one of hvtune's is replaced, not included: *ret_before.
 */
static const char *include_of(struct knob_machine *machine, const char *active, struct tuned_profile **ret_before)
{
	const char *list = "";
	struct host *host;

	active += text_starts(active, KNOB_TUNED_STOPPED) ? strlen(KNOB_TUNED_STOPPED) : 0;
	active += text_starts(active, KNOB_TUNED_AUTO) ? strlen(KNOB_TUNED_AUTO) : 0;
	*ret_before = NULL;
	if (text_equal(active, KNOB_TUNED_OFF))
		return NULL;
	(void)knob_tuned_files(machine, &host);
	for (const char *at = active; *at;) {
		size_t length = strcspn(at, " ");
		const char *name = arena_strndup(machine->arena, at, length);

		at += length + (at[length] != '\0');
		if (is_own_name(name)) {
			*ret_before = ARENA_NEW(machine->arena, struct tuned_profile);
			tuned_profile_load(host, name, *ret_before);
			name = (*ret_before)->path ? include_in(machine, (*ret_before)->path) : NULL;
		}
		if (name)
			list = arena_printf(machine->arena, "%s%s%s", list, *list ? "," : "", name);
	}
	return *list ? list : NULL;
}

int knob_tuned_hand_over(struct knob_machine *machine, const struct knob_ask *asks, size_t count,
			 const struct knob_ask **ret, size_t *ret_count, struct err *err)
{
	const struct host_tuned *files = knob_tuned_files(machine, NULL);
	struct knob_ask *all = ARENA_ARRAY(machine->arena, count + 2, struct knob_ask);
	struct tuned_profile *before = NULL;
	const char *active = "", *dir = "", *name = NULL, *text, *include;
	int r = knob_tuned_actuator.get(machine, "tuned", &active, err);

	if (r == 0)
		r = own_dir(files, &dir, err);
	if (r == 0)
		r = check_command_line(machine, asks, count, err);
	if (r < 0)
		return r;
	for (int i = 1; i <= MOST_OWN && !name; i++)
		if (!is_there(machine, dir, own_name(machine->arena, i)))
			name = own_name(machine->arena, i);
	if (!name)
		return err_set(err, EEXIST, dir, "it holds %d profiles of hvtune's", MOST_OWN);
	include = include_of(machine, active, &before);
	r = knob_tuned_profile_text(machine, include, before, files->minor_least, asks, count, &text, err);
	if (r < 0)
		return r;
	all[0] = (struct knob_ask){KNOB_TUNED_OWN, name, text};
	all[1] = (struct knob_ask){"tuned.profile", NULL, name};
	memcpy(all + 2, asks, count * sizeof(*asks));
	*ret = all;
	*ret_count = count + 2;
	return 0;
}
