/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns `hvtune apply`. A plan file is the JSON of `set --dry-run`. What it asks for is planned anew on this machine;
 * paths in it are never written to, only compared: where the machine is not any more as the plan saw it, nobody has
 * agreed to what would happen.
 */
#include <errno.h>
#include <jansson.h>

#include "change.h"
#include "report.h"
#include "sys.h"
#include "text.h"

struct plan_file {
	const char *path;
	json_t *json;
};

static void release(struct plan_file *file)
{
	json_decref(file->json);
}

static int no_plan(const char *path, struct err *err)
{
	(void)err_set(err, EINVAL, path, "is no plan");
	return err_hint(err, "a plan is what hvtune set --dry-run --json prints");
}

static int read_plan(struct knob_machine *machine, struct plan_file *file, struct err *err)
{
	CLEANUP(base_free) char *stream = NULL;
	const char *data;
	size_t size;
	json_error_t where;
	bool from_stream = sys_is_stream(file->path);
	int r = from_stream ? sys_read_stream(file->path, &stream, &size, err)
			    : sys_read_given(machine->arena, file->path, true, &data, &size, err);

	if (r < 0)
		return r;
	file->json = json_loadb(from_stream ? stream : data, size, 0, &where);
	if (!file->json)
		return err_set_at(err, EINVAL, file->path, (unsigned)MAX_OF(where.line, 0),
				  (unsigned)MAX_OF(where.column, 0), "is no JSON: %s", where.text);
	if (json_integer_value(json_object_get(file->json, "schema")) != REPORT_SCHEMA)
		return no_plan(file->path, err);
	if (!json_array_size(json_object_get(file->json, "asks")))
		return no_plan(file->path, err);
	return 0;
}

static int read_asks(struct knob_machine *machine, const struct plan_file *file, struct change_request *request,
		     struct err *err)
{
	const json_t *list = json_object_get(file->json, "asks");
	size_t count = json_array_size(list);
	struct knob_ask *asks = ARENA_ARRAY(machine->arena, count, struct knob_ask);

	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		int r = text ? knob_ask_parse(machine->arena, arena_strdup(machine->arena, text), &asks[i], err)
			     : no_plan(file->path, err);

		if (r < 0)
			return r;
	}
	request->asks = asks;
	request->count = count;
	return 0;
}

/* ---- is the machine as the plan saw it? ---- */

static const char *member(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static const struct knob_point *find(const struct knob_points *points, const json_t *write)
{
	for (size_t i = 0; i < points->count; i++)
		if (text_equal(points->items[i].name, member(write, "knob")) &&
		    text_equal(points->items[i].where, member(write, "at")))
			return &points->items[i];
	return NULL;
}

static int stale(const char *where, struct err *err, const char *was, const char *is)
{
	(void)err_set(err, EAGAIN, where, "has changed since the plan was made: it was %s, it is %s",
		      was ? was : "absent", is ? is : "absent");
	return err_hint(err, "make a new plan with hvtune set --dry-run --json");
}

/* One write of the file: the machine holds the same old value, or what is asked for already. */
static int compare(const struct knob_plan *plan, const json_t *write, struct err *err)
{
	const struct knob_point *point = find(&plan->points, write);
	json_t *old;
	bool same;

	if (!point)
		return find(&plan->already, write)
			   ? 0
			   : stale(member(write, "at") ? member(write, "at") : "", err, member(write, "old"), NULL);
	/* As it was written there: what is no UTF-8 was replaced. */
	old = report_json_text(point->old);
	same = json_equal(old, json_object_get(write, "old"));
	json_decref(old);
	return same ? 0 : stale(point->where, err, member(write, "old"), point->old);
}

static int look(const struct cli *cli, struct knob_machine *machine, struct knob_plan *plan, void *data)
{
	const struct plan_file *file = data;
	const json_t *steps = json_object_get(file->json, "steps");
	size_t written = 0;
	struct err err = {0};

	(void)cli;
	(void)machine;
	/* Asks alone are for any machine. */
	if (!steps)
		return 0;
	for (size_t i = 0; i < json_array_size(steps); i++) {
		const json_t *writes = json_object_get(json_array_get(steps, i), "writes");

		for (size_t j = 0; j < json_array_size(writes); j++) {
			const json_t *write = json_array_get(writes, j);

			if (compare(plan, write, &err) < 0)
				return cli_fail(&err);
			written += find(&plan->points, write) != NULL;
		}
	}
	if (written == plan->points.count)
		return 0;
	(void)err_set(&err, EAGAIN, file->path, "the machine has changed since: %zu more values would be written",
		      plan->points.count - written);
	(void)err_hint(&err, "make a new plan with hvtune set --dry-run --json");
	return cli_fail(&err);
}

int cmd_apply(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(release) struct plan_file file = {0};
	struct change_request request = {.look = look, .data = &file};
	struct err err = {0};
	int r;

	if (cli->argument_count != 1)
		return cli_usage(cli, "apply needs one plan, a file that `hvtune set --dry-run --json` printed");
	file.path = cli->arguments[0];
	r = change_check_options(cli);
	if (r == 0)
		r = change_open(cli, &machine);
	if (r)
		return r;
	if (read_plan(&machine, &file, &err) < 0 || read_asks(&machine, &file, &request, &err) < 0)
		return cli_fail(&err);
	request.what = arena_printf(machine.arena, "apply %s", file.path);
	return change_run(cli, &machine, &request);
}
