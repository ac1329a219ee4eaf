/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns levels that take a plan: the file that `hvtune place --json` or `hvtune set --dry-run --json` has printed. Of a
 * placement it takes pins and nodes of each VM, as the next start has them; pages and topology are knobs of their own.
 */
#include <errno.h>
#include <jansson.h>

#include "study_reader.h"
#include "text.h"

struct plan {
	struct study_reader *reader;
	const struct study_node *node;
	const char **asks;
	size_t count, room;
};

static void add(struct plan *plan, const char *text)
{
	if (plan->count == plan->room) {
		size_t room = MAX_OF(2 * plan->room, 16U);
		const char **larger = ARENA_ARRAY(plan->reader->arena, room, const char *);

		if (plan->count)
			memcpy(larger, plan->asks, plan->count * sizeof(*larger));
		plan->asks = larger;
		plan->room = room;
	}
	plan->asks[plan->count++] = text;
}

/* "0:8,1:9" of [8, 9]. */
static const char *pins_text(struct arena *arena, const json_t *cpus)
{
	const char *text = "";

	for (size_t i = 0; i < json_array_size(cpus); i++)
		text = arena_printf(arena, "%s%s%zu:%" JSON_INTEGER_FORMAT, text, i ? "," : "", i,
				    json_integer_value(json_array_get(cpus, i)));
	return text;
}

static const char *nodes_text(struct arena *arena, const json_t *memory)
{
	const char *text = "";

	for (size_t i = 0; i < json_array_size(memory); i++)
		text = arena_printf(arena, "%s%s%" JSON_INTEGER_FORMAT, text, i ? "," : "",
				    json_integer_value(json_object_get(json_array_get(memory, i), "node")));
	return text;
}

/* One VM of a placement; those that are left where they are say nothing. */
static void add_vm(struct plan *plan, const json_t *vm)
{
	struct arena *arena = plan->reader->arena;
	const char *name = json_string_value(json_object_get(vm, "name"));
	const char *emulator = json_string_value(json_object_get(vm, "emulator"));
	const json_t *cpus = json_object_get(vm, "cpu_of_vcpu"), *memory = json_object_get(vm, "memory");

	if (!name || !json_array_size(cpus))
		return;
	add(plan, arena_printf(arena, "vm.pins.next@%s=%s", name, pins_text(arena, cpus)));
	if (emulator && *emulator)
		add(plan, arena_printf(arena, "vm.emulator.next@%s=%s", name, emulator));
	if (json_array_size(memory))
		add(plan, arena_printf(arena, "vm.memory.next@%s=%s", name, nodes_text(arena, memory)));
}

static void read_json(struct plan *plan, const json_t *json)
{
	const json_t *asks = json_object_get(json, "asks"), *vms = json_object_get(json, "vms");

	for (size_t i = 0; i < json_array_size(asks); i++)
		if (json_is_string(json_array_get(asks, i)))
			add(plan, arena_strdup(plan->reader->arena, json_string_value(json_array_get(asks, i))));
	for (size_t i = 0; i < json_array_size(vms); i++)
		add_vm(plan, json_array_get(vms, i));
}

void study_read_plan(struct study_reader *reader, struct study_level *level, const struct study_node *node)
{
	struct plan plan = {.reader = reader, .node = node};
	const char *path = study_scalar(reader, node, "the file of a plan");
	struct err err = {0};
	json_error_t where;
	const char *text;
	size_t size;

	if (!path)
		return;
	if (*path != '/') {
		study_mistake(reader, node,
			      "\"%s\" is no absolute path; a study goes on after a boot, from another directory", path);
		return;
	}
	if (sys_read_given(reader->arena, path, true, &text, &size, &err) < 0) {
		study_mistake(reader, node, "%s: %s", path, err.what);
		return;
	}
	json_t *json = json_loadb(text, size, 0, &where);
	const char *why = json ? "no plan, or one that changes nothing" : where.text;

	read_json(&plan, json);
	json_decref(json);
	if (!plan.count) {
		study_mistake(reader, node, "%s: %s", path, why);
		study_advice(reader, "a plan is what `hvtune place VM --json` or `hvtune set --dry-run --json` prints");
		return;
	}
	level->plan = path;
	level->asks = ARENA_ARRAY(reader->arena, plan.count, struct knob_ask);
	for (size_t i = 0; i < plan.count; i++)
		study_add_ask(reader, level, plan.asks[i], node);
}
