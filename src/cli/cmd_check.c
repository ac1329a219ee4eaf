/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune check`. */
#include <string.h>

#include "advise.h"
#include "cli.h"
#include "knob_status.h"
#include "report.h"
#include "vm_joined.h"

/* [{"name": "web1", "state": "running"}] */
static json_t *vms_json(const struct vm_joined *vms)
{
	json_t *list = json_array();

	for (int i = 0; i < vms->count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:s}", "name", report_json_text(vms->vms[i]->name), "state",
						vms->vms[i]->state == VM_STATE_RUNNING ? "running" : "defined"));
	return list;
}

/*
 * Changes of hvtune's that were cut short: [{"id": 3, "what": "set governor=powersave"}]. The journal is no fact about
 * the host and in no capture; where it cannot be read nothing is said.
 */
static json_t *cut_short(const struct host *host)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_journal journal = {0};
	json_t *list = json_array();
	struct err ignored = {0};

	if ((host->kind != HOST_LIVE && host->kind != HOST_DIRECTORY) ||
	    knob_machine_open(host->name, NULL, &machine, &ignored) < 0 || knob_at_work(&machine) ||
	    knob_journal_read(&machine, &journal, &ignored) < 0)
		return list;
	for (size_t i = 0; i < journal.count; i++) {
		struct knob_standing standing;

		knob_standing(&machine, &journal, &journal.changes[i], &standing);
		if (standing.cut_short && (!standing.other_boot || standing.lasting))
			json_array_append_new(list, json_pack("{s:i, s:o}", "id", (int)journal.changes[i].id, "what",
							      report_json_text(journal.changes[i].what)));
	}
	return list;
}

static void print_cut_short(const struct term *term, const json_t *changes)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	for (size_t i = 0; i < json_array_size(changes); i++) {
		const json_t *change = json_array_get(changes, i);
		int id = (int)json_integer_value(json_object_get(change, "id"));

		term_flow(term, 0, true,
			  arena_printf(arena, "Change %d (%s) was cut short: hvtune undo %d puts back what it wrote.",
				       id, json_string_value(json_object_get(change, "what")), id));
	}
}

static void release(json_t **json)
{
	json_decref(*json);
}

/* Declarations that cannot be read as a VM: ["/etc/libvirt/qemu/web1.xml: ..."] */
static json_t *unread_json(const struct vm_joined *vms)
{
	json_t *list = json_array();

	for (int i = 0; i < vms->list->count; i++)
		if (vms->list->entries[i].problem)
			json_array_append_new(list, report_json_text(vms->list->entries[i].problem));
	return list;
}

/* What was not looked at, and why. */
static void print_unread(const struct vm_joined *vms)
{
	for (int i = 0; i < vms->list->count; i++)
		if (vms->list->entries[i].problem)
			(void)printf("A VM is not looked at: %s\n", vms->list->entries[i].problem);
	if (vms->refused)
		(void)printf("VMs that do not run are not looked at: %s needs root.\n", vms->refused);
}

static void print_as_json(const struct host *host, const struct vm_joined *vms, const struct advise_result *result,
			  json_t *changes)
{
	json_t *json = report_findings_json(host, result, "check");

	json_object_set_new(json, "vms", vms_json(vms));
	json_object_set_new(json, "vms_unread", unread_json(vms));
	if (vms->refused)
		json_object_set_new(json, "vms_refused", report_json_text(vms->refused));
	json_object_set(json, "cut_short", changes);
	(void)report_json_print(stdout, json);
}

/* Every id of "a.b,c.d" must be one: a waiver with a slip would waive nothing. */
static int check_ids(const struct cli *cli, const char *ids)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	while (*ids) {
		size_t length = strcspn(ids, ",");
		const char *id = arena_strndup(arena, ids, length);
		const struct advise_rule *near = advise_rule_near(id);

		if (length && !advise_rule_by_id(id))
			return near ? cli_usage(cli, "there is no finding \"%s\"; did you mean \"%s\"?", id, near->id)
				    : cli_usage(cli, "there is no finding \"%s\"; `hvtune explain --list` names all",
						id);
		ids += length + (ids[length] == ',');
	}
	return 0;
}

/* What --ignore and --min ask for; 0, or an exit code after saying what is wrong with it. */
static int check_choice(const struct cli *cli, enum advise_severity *ret_least)
{
	int at = 0;

	for (const char *ids; (ids = cli_next(cli, OPTION_IGNORE, &at));) {
		int r = check_ids(cli, ids);

		if (r)
			return r;
	}
	if (cli_given(cli, OPTION_MIN) && !advise_severity_by_name(cli->values[OPTION_MIN], ret_least))
		return cli_usage(cli, "there is no severity \"%s\"; there are fail, warn, advice, info and good",
				 cli->values[OPTION_MIN]);
	return 0;
}

static void choose(const struct cli *cli, enum advise_severity least, struct advise_result *result)
{
	int at = 0;

	for (const char *ids; (ids = cli_next(cli, OPTION_IGNORE, &at));)
		advise_ignore(result, ids);
	if (cli_given(cli, OPTION_MIN))
		advise_keep_from(result, least);
}

int cmd_check(struct cli *cli)
{
	enum advise_severity least = ADVISE_GOOD;
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(vm_joined_free_pointer) struct vm_joined *vms = NULL;
	CLEANUP(release) json_t *changes = NULL;
	struct err err = {0};

	if (cli->argument_count)
		return cli_usage(cli, "check takes no arguments, but got \"%s\"", cli->arguments[0]);
	int r = check_choice(cli, &least);

	r = r ? r : cli_open_host(cli, &host);

	if (r)
		return r;
	if (vm_joined_read(host, cli->values[OPTION_CONNECT], &vms, &err) < 0)
		return cli_fail(&err);
	struct advise_subject subject = {.host = host, .vms = vms->vms, .vm_count = (size_t)vms->count};
	CLEANUP(advise_result_free_pointer) struct advise_result *result = advise_run(&subject);

	choose(cli, least, result);
	changes = cut_short(host);
	if (cli_given(cli, OPTION_JSON))
		print_as_json(host, vms, result, changes);
	else
		/* Who asks for notes by --min wants to see them. */
		report_findings(&cli->out, host, vm_joined_summary(vms), result,
				cli_given(cli, OPTION_ALL) || (cli_given(cli, OPTION_MIN) && least >= ADVISE_INFO));
	if (!cli_given(cli, OPTION_JSON)) {
		print_unread(vms);
		print_cut_short(&cli->out, changes);
	}
	cli_print_timing(cli, host);
	return result->count_by_severity[ADVISE_FAIL] + result->count_by_severity[ADVISE_WARN] +
		       json_array_size(changes)
		   ? EXIT_FINDINGS
		   : EXIT_FINE;
}
