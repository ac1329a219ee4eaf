/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns making a study of the program one of this host: which VM it is of, and where `hvtune place` would put that. */
#include <errno.h>

#include "place_input.h"
#include "study_cli.h"
#include "study_ready.h"
#include "text.h"

/* ---- which VM ---- */

static const char *names_of(struct arena *arena, const struct vm_host *vms)
{
	const char *all = "";

	for (int i = 0; i < vms->count; i++)
		all = arena_printf(arena, "%s%s%s", all, *all ? ", " : "", vms->entries[i].name);
	return all;
}

/* Names stand in the file as they are. */
static bool suits_yaml(const char *name)
{
	for (const char *at = name; *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+", *at))
			return false;
	return *name != '\0' && *name != '-' && *name != '.' && *name != '+';
}

/* *ret NULL: there is none, or none is wanted. 0, or an exit code. */
static int choose_vm(const struct cli *cli, struct arena *arena, const struct vm_host *vms, const char **ret)
{
	const char *given = cli->values[OPTION_STUDY_VM], *name = NULL;

	if (text_equal(given, "none"))
		return 0;
	if (!given && vms->count > 1)
		return cli_usage(cli, "there are several VMs, and the study is of one: --vm NAME, of %s; or --vm none",
				 names_of(arena, vms));
	for (int i = 0; i < vms->count; i++)
		if (!given || text_equal(vms->entries[i].name, given))
			name = vms->entries[i].name;
	if (given && !name)
		return cli_usage(cli, "there is no VM \"%s\" here%s%s", given, vms->count ? "; there are: " : "",
				 names_of(arena, vms));
	if (name && !suits_yaml(name))
		return cli_usage(cli, "\"%s\": a VM of a study has a name of letters, digits and - _ . +", name);
	*ret = name ? arena_strdup(arena, name) : NULL;
	return 0;
}

/* ---- where it would be put ---- */

static const char *pins_of(struct arena *arena, const struct place_vm_plan *vm)
{
	const char *text = "";

	for (int i = 0; i < vm->request->vcpus; i++)
		text = arena_printf(arena, "%s%s%d:%d", text, i ? "," : "", i, vm->cpus_of_vcpus[i]);
	return text;
}

/* Pages of a size that are there already, and those that the VM takes. NULL: there is no such pool. */
static const char *pool_of(struct arena *arena, struct host *host, const struct place_plan *plan, int index,
			   const char *name, int page_kib)
{
	const int64_t *memory = place_memory(arena, plan, index);
	const char *text = "";

	for (int i = 0; memory && i < plan->os_node_count; i++) {
		const struct sys_look *look =
		    sys_read(host->sys, "/sys/devices/system/node/node%d/hugepages/hugepages-%dkB/nr_hugepages",
			     plan->os_nodes[i], page_kib);
		int64_t now;

		if (memory[i] <= 0)
			continue;
		if (look->state != SYS_VALUE || text_int(text_trim(arena, look->data), 10, &now) < 0)
			return NULL;
		text = arena_printf(arena, "%s%shugepages.%s@%d: %lld", text, *text ? ", " : "", name,
				    plan->os_nodes[i], (long long)now + (memory[i] + page_kib - 1) / page_kib);
	}
	return *text ? text : NULL;
}

static void fill_placed(struct arena *arena, struct host *host, const struct place_plan *plan, int index,
			struct study_ready_words *words)
{
	const struct place_vm_plan *vm = &plan->vms[index];
	const char *name = words->vm;
	char *all = arena_strdup(arena, cpuset_format(arena, host_cpu_online(host)));

	words->placed = arena_printf(arena, "vm.pins.next@%s: '%s'", name, pins_of(arena, vm));
	if (!cpuset_empty(&vm->service))
		words->placed = arena_printf(arena, "%s, vm.emulator.next@%s: '%s'", words->placed, name,
					     cpuset_format(arena, &vm->service));
	if (plan->os_node_count > 1 && !cpuset_empty(&vm->os_nodes))
		words->placed = arena_printf(arena, "%s, vm.memory.next@%s: '%s'", words->placed, name,
					     cpuset_format(arena, &vm->os_nodes));
	words->pool_2m = pool_of(arena, host, plan, index, "2M", 2048);
	words->pool_1g = pool_of(arena, host, plan, index, "1G", 1048576);
	/* Within a list of pins a set has no commas. */
	for (char *at = all; *at; at++)
		*at = *at == ',' ? '+' : *at;
	words->floating = arena_printf(arena, "vm.pins.next@%s: '0%s%.0d:%s', vm.emulator.next@%s: '%s'", name,
				       vm->request->vcpus > 1 ? "-" : "", vm->request->vcpus - 1, all, name,
				       cpuset_format(arena, host_cpu_online(host)));
}

/* As `hvtune place NAME` does, with the usual wishes. */
static int place_vm(struct cli *cli, struct arena *arena, struct host *host, struct study_ready_words *words)
{
	CLEANUP(place_inputs_free) struct place_inputs inputs = {.arena = arena};
	char *name = arena_strdup(arena, words->vm);
	struct cli asking = {.command = cli->command, .arguments = &name, .argument_count = 1, .out = cli->out};
	const struct place_defaults defaults = {.smt = PLACE_VM_SMT_AS_DECLARED};
	const struct place_wishes wishes = {.policy = PLACE_PACK};
	const struct place_plan *plan;
	struct err err = {0};

	if (place_inputs_collect(&asking, host, &defaults, &inputs, &err) < 0 ||
	    place_host(arena, host, inputs.requests, inputs.count, &wishes, &plan, &err) < 0)
		return cli_fail(&err);
	for (int i = 0; i < plan->vm_count; i++)
		if (text_equal(plan->vms[i].request->name, name) && plan->vms[i].cpus_of_vcpus)
			fill_placed(arena, host, plan, i, words);
	if (words->placed)
		return 0;
	(void)err_set(&err, ENOSPC, name, "there is no place for this VM that could be compared");
	(void)err_hint(&err, "hvtune place %s says why", name);
	return cli_fail(&err);
}

int study_cli_ready(struct cli *cli, struct arena *arena, const struct study_ready *ready, const char **ret_text,
		    const char *const **ret_left_out)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct study_ready_words words = {0};
	struct vm_host *vms = NULL;
	struct err err = {0};
	int r = 0;

	if (!study_ready_wants_vm(ready)) {
		if (cli_given(cli, OPTION_STUDY_VM))
			return cli_usage(cli, "the study %s is of no VM", ready->name);
		*ret_text = study_ready_fill(arena, ready, &words, ret_left_out);
		return 0;
	}
	if (host_open(cli->values[OPTION_ROOT], &host, &err) < 0 || vm_host_read(host, NULL, &vms, &err) < 0)
		return cli_fail(&err);
	r = choose_vm(cli, arena, vms, &words.vm);
	vms = vm_host_free(vms);
	if (r == 0 && words.vm && strstr(ready->text, "$PLACED"))
		r = place_vm(cli, arena, host, &words);
	if (r == 0)
		*ret_text = study_ready_fill(arena, ready, &words, ret_left_out);
	return r;
}
