/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a host does now as lines for a screen. */
#include "report_watch.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "report_topology.h"
#include "text.h"

enum { CLOCK_COLUMNS = 9, SHARE_COLUMNS = 6, MOST_NAMED = 24 };

struct lines {
	struct arena *arena;
	const struct watch_view *view;
	const struct watch_look *look;
	struct watch_line *all;
	int count, room;
};

static void add(struct lines *lines, enum term_colour colour, const char *text)
{
	const char *end = text;

	if (lines->count == lines->room) {
		int room = lines->room ? lines->room * 2 : 64;
		struct watch_line *larger = ARENA_ARRAY(lines->arena, (size_t)room, struct watch_line);

		if (lines->count)
			memcpy(larger, lines->all, (size_t)lines->count * sizeof(*larger));
		lines->all = larger;
		lines->room = room;
	}
	for (int columns = 0; *end && columns < lines->look->width; columns++)
		end += text_character(end, &(bool){0});
	lines->all[lines->count++] = (struct watch_line){
	    text_visible(lines->arena, arena_strndup(lines->arena, text, (size_t)(end - text))), colour};
}

static const char *clock_text(struct arena *arena, double mhz)
{
	return isfinite(mhz) ? arena_printf(arena, "%.2f GHz", mhz / 1e3) : "?";
}

static const char *share_text(struct arena *arena, double share)
{
	return isfinite(share) ? arena_printf(arena, "%.0f %%", share * 100) : "?";
}

/* ---- head ---- */

static void put_head(struct lines *lines)
{
	const struct watch_view *view = lines->view;
	time_t seconds = (time_t)(view->at_us / 1000000);
	struct tm parts;
	char at[32] = "";

	if (localtime_r(&seconds, &parts))
		(void)strftime(at, sizeof(at), "%H:%M:%S", &parts);
	const char *left = host_summary(view->host, lines->arena);
	const char *right = arena_printf(lines->arena, "%s, every %.3g s", at, lines->look->period_s);
	int gap = lines->look->width - term_columns(left) - term_columns(right);

	if (gap >= 2) {
		add(lines, TERM_BOLD, arena_printf(lines->arena, "%s%*s%s", left, gap, "", right));
		return;
	}
	add(lines, TERM_BOLD, left);
	add(lines, TERM_PLAIN, right);
}

static const char *reading_text(const struct lines *lines, const struct watch_reading *reading)
{
	bool heat = reading->source->quantity == METER_TEMPERATURE;
	const char *unit = heat ? lines->look->utf8 ? "\u00b0C" : "C" : "W";

	if (!isfinite(reading->value))
		return arena_printf(lines->arena, "%s ?", reading->source->name);
	return arena_printf(lines->arena, "%s %.1f %s%s%s", reading->source->name, reading->value, unit,
			    heat ? "" : " ", heat ? "" : meter_boundary_name(reading->source->boundary));
}

static void put_readings(struct lines *lines)
{
	const char *line = "";

	for (size_t i = 0; i < lines->view->reading_count; i++) {
		const char *text = reading_text(lines, &lines->view->readings[i]);

		if (*line && term_columns(line) + 2 + term_columns(text) > lines->look->width) {
			add(lines, TERM_PLAIN, line);
			line = "";
		}
		line = arena_printf(lines->arena, "%s%s%s", line, *line ? "  " : "", text);
	}
	if (*line)
		add(lines, TERM_PLAIN, line);
}

/* ---- groups and CPUs ---- */

static int threads_on(const struct watch_vm *vm, const struct cpuset *cpus)
{
	int count = 0;

	for (int i = 0; i < vm->count; i++)
		count += cpuset_has(cpus, vm->vcpus[i].cpu);
	return count;
}

/* "web1 5, db 2": VMs with threads of vCPUs on these CPUs now. */
static const char *vms_on(const struct lines *lines, const struct cpuset *cpus)
{
	const char *text = "";
	int named = 0;

	for (size_t i = 0; i < lines->view->vm_count && named < MOST_NAMED; i++) {
		int count = threads_on(&lines->view->vms[i], cpus);

		if (!count)
			continue;
		text =
		    arena_printf(lines->arena, "%s%s%s %d", text, *text ? ", " : "", lines->view->vms[i].name, count);
		named++;
	}
	return text;
}

static const char *figures(const struct lines *lines, double clock_mhz, double c0, double use, const double *idle)
{
	struct arena *arena = lines->arena;
	const char *text = arena_printf(arena, "%*s%*s%*s", CLOCK_COLUMNS, clock_text(arena, clock_mhz), SHARE_COLUMNS,
					share_text(arena, c0), SHARE_COLUMNS, share_text(arena, use));

	for (size_t i = 0; i < lines->view->state_count; i++)
		text =
		    arena_printf(arena, "%s%*s", text, MAX_OF(SHARE_COLUMNS, term_columns(lines->view->states[i]) + 1),
				 share_text(arena, idle[i]));
	return text;
}

static const char *group_name(const struct lines *lines, const struct watch_group *group)
{
	if (group->l3 < 0)
		return "no L3";
	return arena_printf(lines->arena, "%s %d", report_group_word(lines->view->host), group->l3);
}

static void put_groups(struct lines *lines)
{
	const struct watch_view *view = lines->view;
	struct arena *arena = lines->arena;
	int name = term_columns("group"), cpus = term_columns("CPUs");
	const char *head;

	for (size_t i = 0; i < view->group_count; i++) {
		name = MAX_OF(name, term_columns(group_name(lines, &view->groups[i])));
		cpus = MAX_OF(cpus, term_columns(cpuset_format(arena, &view->groups[i].cpus)));
	}
	/* A long list would push the figures out of the picture. */
	cpus = MIN_OF(cpus, MAX_OF(lines->look->width / 4, 4));
	head = arena_printf(arena, "%-*s  %-*s%*s%*s%*s", name, "group", cpus, "CPUs", CLOCK_COLUMNS, "clock",
			    SHARE_COLUMNS, "C0", SHARE_COLUMNS, "use");
	for (size_t i = 0; i < view->state_count; i++)
		head = arena_printf(arena, "%s%*s", head, MAX_OF(SHARE_COLUMNS, term_columns(view->states[i]) + 1),
				    view->states[i]);
	add(lines, TERM_PLAIN, "");
	add(lines, TERM_DIM, arena_printf(arena, "%s  %s", head, view->vm_count ? "vCPUs that run here" : ""));
	for (size_t i = 0; i < view->group_count; i++) {
		const struct watch_group *group = &view->groups[i];

		add(lines, TERM_PLAIN,
		    arena_printf(arena, "%-*s  %-*.*s%s  %s", name, group_name(lines, group), cpus, cpus,
				 cpuset_format(arena, &group->cpus),
				 figures(lines, group->clock_mhz, group->c0, group->use, group->idle),
				 vms_on(lines, &group->cpus)));
		for (size_t k = 0; k < view->cpu_count && lines->look->cpus; k++) {
			const struct watch_cpu *cpu = &view->cpus[k];
			struct cpuset self = cpuset_range(cpu->cpu, cpu->cpu);

			if (cpu->l3 == group->l3)
				add(lines, TERM_DIM,
				    arena_printf(arena, "%*s  %-*d%s  %s", name,
						 cpu->core >= 0 ? arena_printf(arena, "core %d", cpu->core) : "", cpus,
						 cpu->cpu, figures(lines, cpu->clock_mhz, cpu->c0, cpu->use, cpu->idle),
						 vms_on(lines, &self)));
		}
	}
}

/* ---- VMs ---- */

static const char *where(const struct lines *lines, const struct watch_vm *vm)
{
	const char *text = "";
	int known = 0;

	for (size_t i = 0; i < lines->view->group_count; i++) {
		const struct watch_group *group = &lines->view->groups[i];
		int count = threads_on(vm, &group->cpus);
		struct cpuset on = {0};

		for (int k = 0; k < vm->count; k++)
			if (cpuset_has(&group->cpus, vm->vcpus[k].cpu))
				cpuset_add(&on, vm->vcpus[k].cpu);
		known += count;
		if (count)
			text = arena_printf(lines->arena, "%s%s%s: %s", text, *text ? "; " : "",
					    group_name(lines, group), cpuset_format(lines->arena, &on));
	}
	return known ? text : "?";
}

static void put_vms(struct lines *lines)
{
	const struct watch_view *view = lines->view;
	struct arena *arena = lines->arena;
	int name = term_columns("VM");

	if (!view->vm_count)
		return;
	for (size_t i = 0; i < view->vm_count; i++)
		name = MAX_OF(name, term_columns(view->vms[i].name));
	name = MIN_OF(name, lines->look->width / 3);
	add(lines, TERM_PLAIN, "");
	add(lines, TERM_DIM,
	    arena_printf(arena, "%-*s  vCPUs     use  halts/s  est. W  CPUs on which its vCPUs run now", name, "VM"));
	for (size_t i = 0; i < view->vm_count; i++) {
		const struct watch_vm *vm = &view->vms[i];
		const char *shown = text_visible(arena, vm->name), *end = shown;
		int columns = 0;

		for (; *end && columns < name; columns++)
			end += text_character(end, &(bool){0});
		add(lines, TERM_PLAIN,
		    arena_printf(
			arena, "%.*s%*s  %5d%8s%9s%8s  %s", (int)(end - shown), shown, name - columns, "", vm->count,
			share_text(arena, vm->use), isfinite(vm->halts) ? arena_printf(arena, "%.0f", vm->halts) : "?",
			isfinite(vm->power_w) ? arena_printf(arena, "%.1f", vm->power_w) : "?", where(lines, vm)));
	}
}

int report_watch_lines(struct arena *arena, const struct watch_view *view, const struct watch_look *look,
		       const struct watch_line **ret)
{
	struct lines lines = {.arena = arena, .view = view, .look = look};

	put_head(&lines);
	put_readings(&lines);
	put_groups(&lines);
	put_vms(&lines);
	if (view->remarks[0])
		add(&lines, TERM_PLAIN, "");
	for (size_t i = 0; view->remarks[i]; i++)
		add(&lines, TERM_DIM, view->remarks[i]);
	*ret = lines.all;
	return lines.count;
}
