/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of options that a module takes when it is loaded: lines of hvtune's own file in /etc/modprobe.d. What
 * another file or the kernel's command line sets already is refused, for which of the two counts is nobody's wish.
 * Sources: modprobe.d(5), Documentation/virt/kvm and arch/x86/kvm/svm/svm.c of Linux.
 */
#include <ctype.h>
#include <errno.h>

#include "host_cmdline_file.h"
#include "knob_lines.h"
#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define FAMILY "module."
#define OWN_FILE "/etc/modprobe.d/hvtune.conf"

static const char *const modules[] = {"kvm", "kvm_amd"};

/* Where modprobe looks (kmod, libkmod-config.c). */
static const char *const directories[] = {"/etc/modprobe.d",	 "/run/modprobe.d", "/usr/local/lib/modprobe.d",
					  "/usr/lib/modprobe.d", "/lib/modprobe.d", NULL};

/* Words that these options take besides those of a switch. */
static const struct {
	const char *module, *option, *words;
} more_words[] = {
    {"kvm", "nx_huge_pages", "off force auto never"},
    {"kvm_amd", "avic", "auto"},
};

/* "options kvm_amd avic=1 nested=0": the key is "kvm_amd avic". */
static bool find_option(const char *line, size_t size, const char *key, struct knob_line_span *ret)
{
	size_t at = 0, words = 0, module_size = strcspn(key, " ");
	const char *option = key + module_size + 1;
	bool found = false;

	*ret = (struct knob_line_span){0};
	while (at < size) {
		size_t gap = at, end;

		while (at < size && isblank((unsigned char)line[at]))
			at++;
		for (end = at; end < size && !isblank((unsigned char)line[end]);)
			end++;
		if (end == at)
			break;
		if (words == 0 && (end - at != 7 || strncmp(line + at, "options", 7) != 0))
			return false;
		if (words == 1 && (end - at != module_size || strncmp(line + at, key, module_size) != 0))
			return false;
		if (words >= 2 && end - at > strlen(option) && strncmp(line + at, option, strlen(option)) == 0 &&
		    line[at + strlen(option)] == '=') {
			size_t value = at + strlen(option) + 1;

			*ret = (struct knob_line_span){value, end - value, gap, end - gap};
			found = true;
		}
		words++;
		at = end;
	}
	if (found && words == 3)
		ret->item_size = size;
	return found;
}

static const char *make_option(struct arena *arena, const char *key, const char *value)
{
	return arena_printf(arena, "options %s=%s", key, value);
}

static const struct knob_line_form form = {
    .find = find_option,
    .make = make_option,
    .header = "# Options of modules set by hvtune; `hvtune undo` takes them out again.\n",
};

static int get_option(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	return knob_lines_get(machine, &form, where, ret, err);
}

static int set_option(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return knob_lines_set(machine, &form, where, text, err);
}

static const struct knob_actuator option_line = {
    .name = "module option", .get = get_option, .set = set_option, .tidy = knob_lines_tidy};

/* What the module runs with now; NULL when it is not loaded or does not tell. */
static const char *runs_with(struct knob_machine *machine, const char *module, const char *option)
{
	const struct sys_look *look = sys_read(machine->sys, "/sys/module/%s/parameters/%s", module, option);

	return look->state == SYS_VALUE ? text_trim(machine->arena, look->data) : NULL;
}

static void add_option(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		       const char *module, const char *option, struct knob_points *points)
{
	struct arena *arena = machine->arena;

	knob_points_add(points, &(struct knob_point){
				    .knob = knob,
				    .name = arena_printf(arena, FAMILY "%s.%s", module, option),
				    .where = arena_printf(arena, OWN_FILE ":%s %s", module, option),
				    .label = "",
				    .new = ask->value,
				});
}

static int refuse_option(struct knob_machine *machine, const struct knob_ask *ask, const char *module, struct err *err)
{
	const char *names = "";
	const struct sys_look *look;

	if (!module) {
		(void)err_set(err, ENOENT, ask->name, "options are set of the modules kvm and kvm_amd");
		return err_hint(err, "for example " FAMILY "kvm_amd.avic=1");
	}
	if (!sys_has_dir(machine->sys, "/sys/module/%s", module)) {
		(void)err_set(err, ENOENT, ask->name, "the module %s is not loaded, so its options are not known",
			      module);
		return err_hint(err, "modprobe %s, then again", module);
	}
	look = sys_list(machine->sys, "/sys/module/%s/parameters", module);
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++)
		names = arena_printf(machine->arena, "%s%s%s", names, *names ? " " : "", look->names[i]);
	(void)err_set(err, ENOENT, ask->name, "the module %s has no such option", module);
	return err_hint(err, "it has: %s", names);
}

/* A driver that is part of the kernel never asks modprobe. Modules that were loaded have the file `initstate`. */
static int check_loadable(struct knob_machine *machine, const char *module, const char *option, struct err *err)
{
	if (sys_read(machine->sys, "/sys/module/%s/initstate", module)->state != SYS_ABSENT)
		return 0;
	(void)err_set(err, EINVAL, module, "is part of this kernel, no module: files of modprobe.d do nothing for it");
	return err_hint(err, "the word %s.%s=... on the kernel's command line does", module, option);
}

static int expand_options(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			  struct knob_points *points, struct err *err)
{
	const char *member = ask->name + strlen(FAMILY), *asked_module = NULL;
	bool all = text_equal(member, "*");
	size_t before = points->count;

	if (ask->where)
		return err_set(err, EINVAL, ask->where, "%s is one for the whole host and takes no @WHERE", ask->name);
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		const char *module = modules[i];
		const char *option = text_starts(member, module) ? member + strlen(module) : "";
		const struct sys_look *look = sys_list(machine->sys, "/sys/module/%s/parameters", module);

		if (!all && *option++ != '.')
			continue;
		asked_module = module;
		for (size_t j = 0; look->state == SYS_VALUE && j < look->size; j++)
			if (all || text_equal(look->names[j], option))
				add_option(machine, knob, ask, module, look->names[j], points);
		if (!all && points->count > before)
			return check_loadable(machine, module, option, err);
	}
	return points->count > before ? 0 : refuse_option(machine, ask, asked_module, err);
}

/* The parts of a point: "kvm_amd" and "avic". */
static void parts_of(struct arena *arena, const struct knob_point *point, const char **ret_module,
		     const char **ret_option)
{
	const char *key = strchr(point->where, ':') + 1, *blank = strchr(key, ' ');

	*ret_module = arena_strndup(arena, key, (size_t)(blank - key));
	*ret_option = blank + 1;
}

struct other {
	struct arena *arena;
	const char *module, *option;
	struct err *err;
};

static int refuse_other(const struct other *other, const char *path, unsigned line, const char *value)
{
	(void)err_set_at(other->err, EEXIST, path, line, 0, "sets %s.%s=%s already", other->module, other->option,
			 value ? value : "");
	return err_hint(other->err, "change it there, or take it out there first");
}

static int look_for_other(void *data, const char *path, const char *text)
{
	const struct other *other = data;
	const char *name = arena_printf(other->arena, "%s.%s", other->module, other->option);
	struct host_cmdline words;
	struct err ignored = {0};
	const struct cmdline_word *word;

	if (text_equal(path, OWN_FILE) || cmdline_read_modprobe(other->arena, path, text, &words, &ignored) < 0)
		return 0;
	word = cmdline_last(&words, name);
	return word ? refuse_other(other, path, word->line, word->value) : 0;
}

static int check_others(struct knob_machine *machine, const struct other *other)
{
	const char *name = arena_printf(other->arena, "%s.%s", other->module, other->option);
	const struct sys_look *look = sys_read(machine->sys, "/proc/cmdline");
	struct host_cmdline words;
	const struct cmdline_word *word = NULL;

	if (look->state == SYS_VALUE) {
		cmdline_parse(other->arena, look->data, &words);
		word = cmdline_last(&words, name);
	}
	return word ? refuse_other(other, "/proc/cmdline", 0, word->value)
		    : knob_lines_walk(machine, directories, look_for_other, (void *)other);
}

/* A value that the module does not take keeps it from being loaded, and with it all VMs. */
static int check_value(struct knob_machine *machine, const struct other *other, const char *value)
{
	const char *now = runs_with(machine, other->module, other->option);
	int64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(more_words); i++)
		if (text_equal(more_words[i].module, other->module) &&
		    text_equal(more_words[i].option, other->option) && text_has_word(more_words[i].words, " ", value))
			return 0;
	if (now && text_has_word("Y N", " ", now))
		return text_has_word("0 1 y n Y N", " ", value)
			   ? 0
			   : err_set(other->err, EINVAL, value, "%s.%s is a switch and takes 0 or 1", other->module,
				     other->option);
	return text_int(value, 10, &number) == 0
		   ? 0
		   : err_set(other->err, EINVAL, value, "%s.%s takes a number; it runs with %s now", other->module,
			     other->option, now ? now : "one that it does not tell");
}

static int check_option(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	struct other other = {.arena = machine->arena, .err = err};
	int r;

	parts_of(machine->arena, point, &other.module, &other.option);
	r = check_value(machine, &other, point->new);
	return r < 0 ? r : check_others(machine, &other);
}

/* Mitigations that are options of kvm. */
static int judge_option(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			struct err *err)
{
	const struct knob_point *point = &plan->points.items[step->first];
	const char *module, *option;
	bool is_mitigation, is_off = text_has_word("0 n N off never", " ", point->new);

	(void)err;
	parts_of(machine->arena, point, &module, &option);
	is_mitigation = text_has_word("mitigate_smt_rsb nx_huge_pages", " ", option);
	if (!plan->hole && ((is_mitigation && is_off) || (text_equal(option, "allow_unsafe_mappings") && !is_off)))
		plan->hole = arena_printf(machine->arena, "%s=%s", point->name, point->new);
	return 0;
}

static const struct knob module_options = {
    .name = FAMILY "*",
    .summary = "an option that a module of KVM takes when it is loaded",
    .value = "0|1, or a number",
    .members = FAMILY "kvm_amd.avic, " FAMILY "kvm.halt_poll_ns",
    .scope = KNOB_MODULE,
    .unit = KNOB_OF_HOST,
    .actuator = &option_line,
    .path = OWN_FILE,
    .expand = expand_options,
    .rank = KNOB_RANK_FILE,
    .check = check_option,
    .judge = judge_option,
    .hurts = "where the module is part of the initramfs, that has to be made anew too (update-initramfs -u, dracut -f)",
    .after = "all VMs stopped and the module loaded anew (modprobe -r kvm_amd kvm; modprobe kvm_amd), or a reboot",
};

const struct knob *const knob_table_module[] = {&module_options, NULL};
