/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the actuators for files: values of the kernel's, words in brackets, CPU lists, whole files of settings. */
#include <errno.h>

#include "cpuset.h"
#include "knob_table.h"
#include "text.h"

int knob_get_value(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	const char *data;
	int r = sys_writer_read(machine->writer, machine->arena, where, &data, NULL, err);

	/* ENODEV and ENXIO: the CPU or device behind the file has just gone. */
	if (r == -ENODEV || r == -ENXIO || r == -ENOTDIR)
		return -ENOENT;
	if (r < 0)
		return r;
	*ret = text_trim(machine->arena, data);
	return 0;
}

int knob_set_value(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *line;

	if (!text)
		return err_set(err, ENOENT, where, "was not there before and cannot be taken away");
	line = arena_printf(machine->arena, "%s\n", text);
	return sys_writer_set(machine->writer, where, line, strlen(line), err);
}

const char *knob_raw_value(struct arena *arena, const char *text)
{
	(void)arena;
	return text;
}

static int get_choice(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	const char *all, *open, *close;
	int r = knob_get_value(machine, where, &all, err);

	if (r < 0)
		return r;
	open = strchr(all, '[');
	close = open ? strchr(open, ']') : NULL;
	*ret = close ? arena_strndup(machine->arena, open + 1, (size_t)(close - open - 1)) : all;
	return 0;
}

/* The kernel moves its brackets by itself; in a directory that holds a machine as files nobody else would. */
static int set_choice(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *all, *line = "";
	int r;

	if (!text || sys_writer_is_live(machine->writer))
		return knob_set_value(machine, where, text, err);
	r = knob_get_value(machine, where, &all, err);
	if (r < 0)
		return r;
	for (const char *at = all; *at;) {
		size_t skip = strspn(at, " []\n"), length = strcspn(at + skip, " []\n");
		bool chosen = strlen(text) == length && strncmp(at + skip, text, length) == 0;

		if (length)
			line = arena_printf(machine->arena, chosen ? "%s%s[%.*s]" : "%s%s%.*s", line, *line ? " " : "",
					    (int)length, at + skip);
		at += skip + length;
	}
	return knob_set_value(machine, where, line, err);
}

int knob_check_choice(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const char *all;
	struct err ignored = {0};

	if (knob_get_value(machine, point->where, &all, &ignored) < 0 || !strchr(all, '[') ||
	    text_has_word(all, " []", point->new))
		return 0;
	return err_set(err, EINVAL, point->new, "%s takes one of: %s", point->name, all);
}

/* Parameters of modules read Y or N, whatever was written. */
static int get_switch(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	const char *raw;
	int r = knob_get_value(machine, where, &raw, err);

	if (r == 0)
		*ret = text_has_word("Y y 1", " ", raw) ? "on" : text_has_word("N n 0", " ", raw) ? "off" : raw;
	return r;
}

static const char *raw_switch(struct arena *arena, const char *text)
{
	(void)arena;
	return text_equal(text, "on") ? "Y" : text_equal(text, "off") ? "N" : text;
}

static int set_switch(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return knob_set_value(machine, where, text ? raw_switch(machine->arena, text) : NULL, err);
}

static bool same_cpus(const char *a, const char *b)
{
	struct cpuset set_a, set_b;
	struct err ignored = {0};

	return text_equal(a, b) || (cpuset_parse(a, &set_a, &ignored) == 0 && cpuset_parse(b, &set_b, &ignored) == 0 &&
				    cpuset_equal(&set_a, &set_b));
}

static int get_whole(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	size_t size;
	const char *data;
	int r = sys_writer_read(machine->writer, machine->arena, where, &data, &size, err);

	if (r == -ENOENT || r == -ENOTDIR) {
		*ret = NULL;
		return 0;
	}
	if (r < 0)
		return r;
	if (strlen(data) != size)
		return err_set(err, EILSEQ, where, "is no text: a NUL stands in it");
	*ret = data;
	return 0;
}

static int set_whole(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return text ? sys_writer_replace(machine->writer, where, text, strlen(text), 0644, err)
		    : sys_writer_remove(machine->writer, where, err);
}

static int tidy_whole(struct knob_machine *machine, const char *where, struct err *err)
{
	return sys_writer_tidy(machine->writer, where, err);
}

static bool same_bytes(const char *a, const char *b)
{
	return text_equal(a, b);
}

const struct knob_actuator knob_value_file = {
    .name = "value", .get = knob_get_value, .set = knob_set_value, .raw = knob_raw_value};
const struct knob_actuator knob_choice_file = {
    .name = "choice", .get = get_choice, .set = set_choice, .raw = knob_raw_value};
const struct knob_actuator knob_switch_file = {
    .name = "switch", .get = get_switch, .set = set_switch, .raw = raw_switch};
const struct knob_actuator knob_cpus_file = {
    .name = "cpus", .get = knob_get_value, .set = knob_set_value, .same = same_cpus, .raw = knob_raw_value};
const struct knob_actuator knob_whole_file = {
    .name = "file", .get = get_whole, .set = set_whole, .same = same_bytes, .tidy = tidy_whole};
