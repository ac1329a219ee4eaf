/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns values of the running kernel that are to be set again at each boot: "lasting.swappiness=10". What is below
 * /proc/sys becomes a line of hvtune's own file in /etc/sysctl.d, what is in sysfs one in /etc/tmpfiles.d. Sources:
 * sysctl.d(5), tmpfiles.d(5) of systemd.
 */
#include <errno.h>
#include <fnmatch.h>

#include "knob_lines.h"
#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define FAMILY "lasting."
#define PROC_SYS "/proc/sys/"
#define SYSCTL_NAME "90-hvtune.conf"
#define SYSCTL_FILE "/etc/sysctl.d/" SYSCTL_NAME
#define TMPFILES_FILE "/etc/tmpfiles.d/hvtune.conf"

static const char *const sysctl_directories[] = {"/etc/sysctl.d",     "/run/sysctl.d", "/usr/local/lib/sysctl.d",
						 "/usr/lib/sysctl.d", "/lib/sysctl.d", NULL};
static const char *const tmpfiles_directories[] = {"/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d",
						   "/usr/lib/tmpfiles.d", NULL};

enum { MOST_PATH = 1024 };

static bool is_blank(char letter)
{
	return letter == ' ' || letter == '\t';
}

/* "vm.swappiness = 10", also with a '-' before it (no matter when it fails) and with slashes. */
static bool find_sysctl(const char *line, size_t size, const char *key, struct knob_line_span *ret)
{
	size_t at = 0, end = size;

	while (at < end && is_blank(line[at]))
		at++;
	if (at < end && line[at] == '-')
		at++;
	for (; *key; key++, at++)
		if (at == end || (line[at] == '/' ? '.' : line[at]) != *key)
			return false;
	while (at < end && is_blank(line[at]))
		at++;
	if (at == end || line[at] != '=')
		return false;
	for (at++; at < end && is_blank(line[at]);)
		at++;
	while (end > at && is_blank(line[end - 1]))
		end--;
	*ret = (struct knob_line_span){at, end - at, 0, size};
	return true;
}

static const char *make_sysctl(struct arena *arena, const char *key, const char *value)
{
	return arena_printf(arena, "%s = %s", key, value);
}

/* The path and the argument of "w /sys/kernel/mm/ksm/run - - - - 1": type, path, mode, user, group, age, argument. */
static bool parse_tmpfiles(const char *line, size_t size, char path[MOST_PATH], struct knob_line_span *ret)
{
	size_t at = 0, field[7] = {0}, length[7] = {0};

	for (size_t i = 0; i < 7; i++) {
		while (at < size && is_blank(line[at]))
			at++;
		field[i] = at;
		while (at < size && (i == 6 || !is_blank(line[at])))
			at++;
		length[i] = at - field[i];
	}
	if (length[6] == 0 || line[field[0]] != 'w' || length[1] >= MOST_PATH)
		return false;
	(void)snprintf(path, MOST_PATH, "%.*s", (int)length[1], line + field[1]);
	*ret = (struct knob_line_span){field[6], length[6], 0, size};
	return true;
}

/* The line of this very path: one with a star is about others too, and a line after it goes before it. */
static bool find_tmpfiles(const char *line, size_t size, const char *key, struct knob_line_span *ret)
{
	struct knob_line_span span;
	char path[MOST_PATH];

	if (!parse_tmpfiles(line, size, path, &span) || !text_equal(path, key))
		return false;
	*ret = span;
	return true;
}

/* A line that sets this path, or one of those that it stands for. */
static bool match_tmpfiles(const char *line, size_t size, const char *key, struct knob_line_span *ret)
{
	struct knob_line_span span;
	char path[MOST_PATH];

	if (!parse_tmpfiles(line, size, path, &span) ||
	    (fnmatch(path, key, FNM_PATHNAME) != 0 && fnmatch(key, path, FNM_PATHNAME) != 0))
		return false;
	*ret = span;
	return true;
}

static const char *make_tmpfiles(struct arena *arena, const char *key, const char *value)
{
	return arena_printf(arena, "w %s - - - - %s", key, value);
}

/* The lines act in their order, and a governor decides which EPP may be set. */
static bool ahead_of(struct arena *arena, const char *key, const char *line, size_t size)
{
	static const char governor[] = "/scaling_governor";
	size_t length = strlen(key), end = strlen(governor);
	struct knob_line_span ignored;

	return length > end && text_equal(key + length - end, governor) &&
	       match_tmpfiles(line, size,
			      arena_printf(arena, "%.*s/energy_performance_preference", (int)(length - end), key),
			      &ignored);
}

static const struct knob_line_form sysctl_form = {
    .find = find_sysctl,
    .make = make_sysctl,
    .header = "# Set by hvtune (lasting.KNOB=VALUE); `hvtune undo` takes it out again.\n",
};
static const struct knob_line_form tmpfiles_form = {
    .find = find_tmpfiles,
    .make = make_tmpfiles,
    .ahead_of = ahead_of,
    .header = "# Set by hvtune (lasting.KNOB=VALUE); `hvtune undo` takes it out again.\n",
};

static const struct knob_line_form *form_of(const char *where)
{
	return text_starts(where, SYSCTL_FILE) ? &sysctl_form : &tmpfiles_form;
}

static int get_lasting(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	return knob_lines_get(machine, form_of(where), where, ret, err);
}

static int set_lasting(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return knob_lines_set(machine, form_of(where), where, text, err);
}

static const struct knob_actuator lasting_line = {
    .name = "lasting", .get = get_lasting, .set = set_lasting, .tidy = knob_lines_tidy};

/* Why a value of this knob cannot be made to last here; NULL: it can. */
static const char *unfit(const struct knob *knob, const char **ret_hint)
{
	*ret_hint = "";
	if (knob->scope != KNOB_RUNTIME)
		return "lasts by itself";
	if (!knob->actuator->raw)
		return "is no value that a file can set at boot";
	if (knob->rank <= KNOB_RANK_PROFILE) {
		*ret_hint = "the words of the kernel's command line are there for that (boot.*)";
		return "makes other values come and go, and has to be set before them";
	}
	if (knob->path && text_starts(knob->path, "/sys/module/")) {
		*ret_hint = "module.kvm.NAME=VALUE is for that";
		return "is there only once the module is loaded";
	}
	return NULL;
}

/* "/sys/devices/system/cpu/cpu3/x" with a star for the 3: all instances, of CPUs or of nodes. */
static const char *with_star(struct arena *arena, const char *path)
{
	static const char *const kinds[] = {"/cpufreq/policy", "/cpu/cpu", "/node/node"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *at = strstr(path, kinds[i]), *digits = at ? at + strlen(kinds[i]) : "";
		size_t length = strspn(digits, "0123456789");

		if (length && digits[length] == '/')
			return arena_printf(arena, "%.*s*%s", (int)(digits - path), path, digits + length);
	}
	return NULL;
}

/* How many files there are that such a path stands for. */
static size_t count_of(struct knob_machine *machine, const char *path)
{
	size_t before = (size_t)(strchr(path, '*') - path), start = before, count = 0;
	const struct sys_look *look;

	while (path[start - 1] != '/')
		start--;
	look = sys_list(machine->sys, "%.*s", (int)start - 1, path);
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++) {
		const char *name = look->names[i];
		size_t digits =
		    strncmp(name, path + start, before - start) == 0 ? strspn(name + before - start, "0123456789") : 0;

		if (digits && !name[before - start + digits] &&
		    sys_read(machine->sys, "%.*s%s%s", (int)start, path, name, path + before + 1)->state != SYS_ABSENT)
			count++;
	}
	return count;
}

/* One path for all of them, where they are all that there are, and get the same; else NULL. */
static const char *path_of_all(struct knob_machine *machine, const struct knob_ask *ask,
			       const struct knob_points *values)
{
	const char *path = ask->where || values->count < 2 ? NULL : with_star(machine->arena, values->items[0].where);

	for (size_t i = 1; path && i < values->count; i++)
		if (!text_equal(values->items[i].new, values->items[0].new) ||
		    !text_equal(values->items[i].name, values->items[0].name) ||
		    !text_equal(with_star(machine->arena, values->items[i].where), path))
			return NULL;
	return path && count_of(machine, path) == values->count ? path : NULL;
}

/* A line of the file, for one point of the knob or, with `all`, for all. */
static int add_line(struct knob_machine *machine, const struct knob *lasting, const struct knob_point *point,
		    const char *all, struct knob_points *points, struct err *err)
{
	struct arena *arena = machine->arena;
	const char *raw = point->knob->actuator->raw(arena, point->new);
	char *key;

	if (strpbrk(raw, "%\\\n\"'"))
		return err_set(err, EINVAL, point->new, "cannot stand in a file of settings");
	if (text_starts(point->where, PROC_SYS)) {
		key = arena_strdup(arena, point->where + strlen(PROC_SYS));
		for (char *slash = key; (slash = strchr(slash, '/'));)
			*slash = '.';
	} else {
		key = arena_strdup(arena, all ? all : point->where);
	}
	knob_points_add(points,
			&(struct knob_point){
			    .knob = lasting,
			    .name = arena_printf(arena, FAMILY "%s", point->name),
			    .where = arena_printf(arena, "%s:%s", *key == '/' ? TMPFILES_FILE : SYSCTL_FILE, key),
			    .label = all ? "" : point->label,
			    .new = raw,
			});
	return 0;
}

static int expand_lasting(struct knob_machine *machine, const struct knob *lasting, const struct knob_ask *ask,
			  struct knob_points *points, struct err *err)
{
	const struct knob_ask inner = {.name = ask->name + strlen(FAMILY), .where = ask->where, .value = ask->value};
	const struct knob *knob = knob_find(inner.name);
	struct knob_points values = {.arena = machine->arena};
	const char *why, *hint, *all;
	int r;

	if (!knob || knob == lasting) {
		(void)err_set(err, ENOENT, ask->name, "there is no such knob to make last");
		return err_hint(err, "after " FAMILY " stands the name of a knob, such as " FAMILY "swappiness=10");
	}
	why = unfit(knob, &hint);
	if (why) {
		(void)err_set(err, EINVAL, inner.name, "%s", why);
		return *hint ? err_hint(err, "%s", hint) : -EINVAL;
	}
	r = knob_expand(machine, &inner, KNOB_EXPAND_THERE, &values, err);
	all = path_of_all(machine, &inner, &values);
	for (size_t i = 0; r == 0 && i < values.count; i++) {
		/* A guard is asked for without a value. */
		if (*ask->value)
			r = knob_check(machine, &values.items[i], true, err);
		if (r == 0 && (!all || i == 0))
			r = add_line(machine, lasting, &values.items[i], all, points, err);
	}
	return r;
}

struct others {
	struct knob_machine *machine;
	struct knob_plan *plan;
	bool (*find)(const char *line, size_t size, const char *key, struct knob_line_span *ret);
	const char *own, *key, *after; /* only files whose name sorts after this one; NULL: all */
};

static int look_for_others(void *data, const char *path, const char *text)
{
	const struct others *others = data;
	unsigned number = 1;

	if (text_equal(path, others->own) || (others->after && strcmp(strrchr(path, '/') + 1, others->after) <= 0))
		return 0;
	for (const char *line = text; *line; number++) {
		size_t size = strcspn(line, "\n");
		struct knob_line_span span;

		if (others->find(line, size, others->key, &span))
			knob_plan_note(others->machine, others->plan,
				       arena_printf(others->machine->arena,
						    others->after ? "%s:%u sets %s to %.*s after that, and wins"
								  : "%s:%u sets %s to %.*s too; one of the two counts",
						    path, number, others->key, (int)span.value_size,
						    line + span.value));
		line += size + (line[size] == '\n');
	}
	return 0;
}

/* Another file that sets the same is told, for at the next boot it may be the one that counts. */
static int judge_lasting(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			 struct err *err)
{
	(void)err;
	for (size_t i = step->first; i < step->first + step->count; i++) {
		struct others others = {.machine = machine, .plan = plan};
		bool is_sysctl = form_of(plan->points.items[i].where) == &sysctl_form;

		others.find = is_sysctl ? find_sysctl : match_tmpfiles;
		others.after = is_sysctl ? SYSCTL_NAME : NULL;
		knob_lines_split(machine->arena, plan->points.items[i].where, &others.own, &others.key);
		(void)knob_lines_walk(machine, is_sysctl ? sysctl_directories : tmpfiles_directories, look_for_others,
				      &others);
	}
	return 0;
}

static const struct knob lasting = {
    .name = FAMILY "*",
    .summary = "a value of the running kernel, set again at each boot by a file of hvtune's",
    .value = "as of the knob that is named",
    .members = FAMILY "swappiness, " FAMILY "thp, " FAMILY "hugepages.2M",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_NAMES,
    .actuator = &lasting_line,
    .path = SYSCTL_FILE,
    .paths = (const char *const[]){TMPFILES_FILE, NULL},
    .expand = expand_lasting,
    .rank = KNOB_RANK_FILE + 1,
    .judge = judge_lasting,
    .after = "a reboot; without lasting. a value is set at once",
};

const struct knob *const knob_table_lasting[] = {&lasting, NULL};
