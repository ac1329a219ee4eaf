/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune place`: options to wishes, the plan, and the form in which it is printed. */
#include <errno.h>

#include "cli.h"
#include "diff.h"
#include "place_apply.h"
#include "place_input.h"
#include "report_place.h"
#include "text.h"
#include "vm_write_edit.h"

enum form { FORM_TEXT, FORM_XML, FORM_DIFF, FORM_VIRSH, FORM_QM, FORM_QEMU };

struct placing {
	struct cli *cli;
	enum form form;
	struct place_defaults defaults;
	struct place_wishes wishes;
	struct place_inputs *inputs;
	struct report_place report;
};

/* ---- options ---- */

struct word {
	const char *name;
	int value;
};

/* The value of a word option; `otherwise` when it is not given. False after a message. */
static bool choose(const struct cli *cli, enum cli_option_id id, const char *option, const struct word *words,
		   size_t count, int otherwise, int *ret)
{
	const char *given = cli->values[id];

	*ret = otherwise;
	if (!given)
		return true;
	for (size_t i = 0; i < count; i++)
		if (text_equal(words[i].name, given)) {
			*ret = words[i].value;
			return true;
		}
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *known = "";

	for (size_t i = 0; i < count; i++)
		known = arena_printf(arena, "%s%s%s", known,
				     i == 0	     ? ""
				     : i + 1 < count ? ", "
						     : " and ",
				     words[i].name);
	(void)cli_usage(cli, "--%s does not know \"%s\"; it knows %s", option, given, known);
	return false;
}

enum policy_word { POLICY_PACK, POLICY_SPREAD, POLICY_POWER, POLICY_CACHE, POLICY_FREQUENCY };

static bool read_policy(struct placing *placing)
{
	static const struct word words[] = {{"pack", POLICY_PACK},
					    {"spread", POLICY_SPREAD},
					    {"power", POLICY_POWER},
					    {"cache", POLICY_CACHE},
					    {"frequency", POLICY_FREQUENCY}};
	int policy;

	if (!choose(placing->cli, OPTION_POLICY, "policy", words, ARRAY_SIZE(words), POLICY_PACK, &policy))
		return false;
	placing->wishes.policy = policy == POLICY_SPREAD  ? PLACE_SPREAD
				 : policy == POLICY_POWER ? PLACE_POWER
							  : PLACE_PACK;
	placing->defaults.wish = policy == POLICY_CACHE	      ? PLACE_CLASS_CACHE
				 : policy == POLICY_FREQUENCY ? PLACE_CLASS_FREQUENCY
							      : PLACE_CLASS_NONE;
	return true;
}

static bool read_words(struct placing *placing)
{
	static const struct word smt_words[] = {{"exposed", PLACE_VM_SMT_EXPOSED},
						{"isolated", PLACE_VM_SMT_ISOLATED},
						{"one-per-core", PLACE_VM_SMT_ONE_PER_CORE}};
	static const struct word forms[] = {{"text", FORM_TEXT},   {"xml", FORM_XML}, {"diff", FORM_DIFF},
					    {"virsh", FORM_VIRSH}, {"qm", FORM_QM},   {"qemu", FORM_QEMU}};
	static const struct word changes[] = {{"nps=1", 1}, {"nps=2", 2}, {"nps=4", 4}, {"l3-as-numa", -1}};
	int smt, form, change;

	if (!choose(placing->cli, OPTION_SMT, "smt", smt_words, ARRAY_SIZE(smt_words), PLACE_VM_SMT_AS_DECLARED,
		    &smt) ||
	    !choose(placing->cli, OPTION_FORMAT, "format", forms, ARRAY_SIZE(forms), FORM_TEXT, &form) ||
	    !choose(placing->cli, OPTION_WHAT_IF, "what-if", changes, ARRAY_SIZE(changes), 0, &change))
		return false;
	placing->defaults.smt = (enum place_vm_smt)smt;
	placing->form = (enum form)form;
	placing->wishes.what_if = (struct place_what_if){.nps = MAX_OF(change, 0), .l3_as_numa = change < 0};
	return true;
}

/* "2": cores of each node; "0-1,64-65": these CPUs. */
static bool read_reserve(struct placing *placing)
{
	const char *text = placing->cli->values[OPTION_RESERVE];
	int64_t cores;
	struct err err = {0};

	if (!text)
		return true;
	if (text_int(text, 10, &cores) == 0 && cores >= 0 && cores < CPUSET_MAX) {
		placing->wishes.reserve_cores = (int)cores;
		return true;
	}
	if (cpuset_parse(text, &placing->wishes.reserve, &err) == 0 && !cpuset_empty(&placing->wishes.reserve))
		return true;
	(void)cli_usage(placing->cli, "--reserve wants a number of cores or a list of CPUs, not \"%s\"", text);
	return false;
}

static bool read_max_excess(struct placing *placing)
{
	enum { MOST_NS = 100000 };
	const char *text = placing->cli->values[OPTION_MAX_EXCESS];
	int64_t ns;

	if (!text)
		return true;
	if (text_int(text, 10, &ns) < 0 || ns < 0 || ns > MOST_NS) {
		(void)cli_usage(placing->cli, "--max-excess wants nanoseconds, not \"%s\"", text);
		return false;
	}
	placing->wishes.max_excess_ns = (int)ns;
	return true;
}

static bool read_options(struct placing *placing)
{
	const struct cli *cli = placing->cli;

	placing->wishes = place_wishes_default();
	placing->defaults.even = cli_given(cli, OPTION_EVEN);
	placing->defaults.repin = cli_given(cli, OPTION_REPIN);
	placing->defaults.move = cli_given(cli, OPTION_MOVE);
	int standard_inputs = text_equal(cli->values[OPTION_HOST], "-"), at = 0;

	for (const char *path; (path = cli_next(cli, OPTION_FILE, &at));)
		standard_inputs += text_equal(path, "-");
	if (standard_inputs > 1) {
		(void)cli_usage(cli, "standard input can be read once only");
		return false;
	}
	if (!read_policy(placing) || !read_words(placing) || !read_reserve(placing) || !read_max_excess(placing))
		return false;
	if ((cli_given(cli, OPTION_NAME) || cli_given(cli, OPTION_COPIES)) && !cli_given(cli, OPTION_NEW)) {
		(void)cli_usage(cli, "--name and --count go with --new");
		return false;
	}
	if (cli_given(cli, OPTION_JSON) && placing->form != FORM_TEXT) {
		(void)cli_usage(cli, "--json and --format exclude each other");
		return false;
	}
	if (text_equal(cli->values[OPTION_SVG], "-") &&
	    (cli_given(cli, OPTION_JSON) || cli_given(cli, OPTION_PLAN) || placing->form != FORM_TEXT)) {
		(void)cli_usage(cli, "the picture and the plan cannot both go to standard output: --svg FILE");
		return false;
	}
	return true;
}

/* ---- forms of the change ---- */

/* "100" of /etc/pve/qemu-server/100.conf. */
static const char *vmid_of(struct arena *arena, const struct vm *vm)
{
	const char *base = vm && vm->path ? strrchr(vm->path, '/') : NULL;
	size_t digits;

	if (!vm || !vm->path)
		return NULL;
	base = base ? base + 1 : vm->path;
	digits = strspn(base, "0123456789");
	return digits && text_equal(base + digits, ".conf") ? arena_strndup(arena, base, digits) : NULL;
}

/* The XML of a VM with the plan in it; for one that is new the whole. -ENOTSUP where there is no XML to start from. */
static int xml_of(struct placing *placing, int index, const char **ret, struct err *err)
{
	const struct place_input *input = &placing->inputs->inputs[index];
	const struct vm_layout *layout = &placing->report.vms[index].layout;
	const struct vm_xml_edit *edits;
	size_t size;

	if (input->vm && (!input->text || !input->declared))
		return err_set(err, ENOTSUP, layout->name, "it was not read from an XML: there is none to change");
	if (input->vm) {
		int count = vm_write_edits(placing->inputs->arena, layout, input->declared, &edits);

		return vm_xml_edit(placing->inputs->arena, input->declared->path, input->text, input->size, edits,
				   count, ret, &size, err);
	}
	CLEANUP(base_free) char *text = NULL;
	CLEANUP(base_fclose) FILE *out = open_memstream(&text, &size);

	if (!out)
		err_no_memory();
	vm_write_domain(out, layout);
	base_fclose(&out);
	*ret = arena_strdup(placing->inputs->arena, text);
	return 0;
}

static int print_xml(struct placing *placing, int index, FILE *out, struct err *err)
{
	const struct place_input *input = &placing->inputs->inputs[index];
	const char *name = placing->report.vms[index].layout.name,
		   *path = input->declared ? input->declared->path : NULL, *text;
	int r = xml_of(placing, index, &text, err);

	if (r < 0)
		return r;
	if (placing->form == FORM_XML)
		(void)fputs(text, out);
	else
		diff_unified(out, path ? path : "/dev/null",
			     path ? path : arena_printf(placing->inputs->arena, "%s.xml", name),
			     input->text ? input->text : "", text);
	return 0;
}

static int print_change(struct placing *placing, int index, FILE *out, struct err *err)
{
	const struct vm_layout *layout = &placing->report.vms[index].layout;
	const struct vm *vm = placing->inputs->inputs[index].vm;

	if (placing->form == FORM_XML || placing->form == FORM_DIFF)
		return print_xml(placing, index, out, err);
	(void)fprintf(out, "# %s\n", text_visible(placing->inputs->arena, layout->name));
	if (placing->form == FORM_VIRSH)
		vm_write_virsh(out, layout, vm);
	else if (placing->form == FORM_QM)
		vm_write_qm(out, layout, vmid_of(placing->inputs->arena, placing->inputs->inputs[index].declared));
	else
		vm_write_qemu(out, layout, vm);
	return 0;
}

/* The changes in the order in which they are to be made. */
static int print_changes(struct placing *placing)
{
	FILE *out = placing->cli->out.out;
	int count, code = 0;
	const struct report_place_order *order = report_place_order(placing->inputs->arena, &placing->report, &count);

	for (int i = 0; i < count; i++) {
		struct err err = {0};

		if (print_change(placing, order[i].vm, out, &err) < 0)
			code = cli_fail(&err);
	}
	return code;
}

/* ---- the plan ---- */

/*
 * On a host of one node memory lies there anyway: a VM that says nothing of nodes is left to say nothing. QEMU and
 * Proxmox name the node beside the size of hugepages, so there it stays.
 */
static void leave_only_node(const struct place_plan *plan, const struct place_input *input, struct vm_layout *layout)
{
	const struct vm *vm = input->declared ? input->declared : input->vm;
	bool says = vm && (vm->numa_nodes.given || vm->memnode_count);

	if (plan->os_node_count == 1 && !says && (input->text || layout->page_kib <= 4))
		layout->nodes = (struct cpuset){0};
}

static void fill_report(struct placing *placing, const struct host *host, const struct place_plan *plan)
{
	struct arena *arena = placing->inputs->arena;
	struct report_place_vm *vms = ARENA_ARRAY(arena, (size_t)plan->vm_count + 1, struct report_place_vm);

	for (int i = 0; i < plan->vm_count; i++) {
		const struct place_input *input = &placing->inputs->inputs[i];

		vms[i] = (struct report_place_vm){.vm = input->vm, .asked = input->asked, .smt = input->smt};
		if (!plan->vms[i].result || !plan->vms[i].result->placed || plan->vms[i].request->right == PLACE_KEEP)
			continue;
		vms[i].memory_kib = place_memory(arena, plan, i);
		vms[i].layout = place_layout(arena, plan, i, input->smt);
		leave_only_node(plan, input, &vms[i].layout);
		vms[i].restart =
		    vm_layout_restart(arena, &vms[i].layout, input->declared ? input->declared : input->vm);
	}
	placing->report = (struct report_place){.host = host,
						.plan = plan,
						.wishes = &placing->wishes,
						.vms = vms,
						.notes = placing->inputs->notes,
						.note_count = placing->inputs->note_count};
}

static int write_svg(FILE *out, const void *report)
{
	return report_place_svg(out, report);
}

static int print_plan(struct placing *placing)
{
	int asked, placed = report_place_placed(&placing->report, &asked);
	int code = placed < asked ? EXIT_FINDINGS : EXIT_FINE, r = 0;
	const struct cli *cli = placing->cli;

	if (cli_given(cli, OPTION_SVG))
		r = cli_write_picture(cli, write_svg, &placing->report);
	if (r)
		return r;
	if (cli_given(cli, OPTION_JSON))
		(void)report_json_print(stdout, report_place_json(&placing->report));
	else if (placing->form != FORM_TEXT)
		r = print_changes(placing);
	else if (cli_given(cli, OPTION_PLAN))
		report_place_steps(&cli->out, &placing->report);
	else if (!text_equal(cli->values[OPTION_SVG], "-"))
		report_place(&cli->out, &placing->report);
	return MAX_OF(code, r);
}

/* Proxmox has its own ways to keep a VM's settings: what to do there is printed. */
static int refuse_foreign(struct placing *placing, int index)
{
	struct err err = {0};

	placing->form = FORM_QM;
	(void)err_set(&err, ENOTSUP, placing->report.vms[index].layout.name,
		      "is a VM of Proxmox, which hvtune does not change; nothing is changed");
	(void)err_hint(&err, "what to do by hand is printed");
	(void)print_changes(placing);
	return cli_fail(&err);
}

static void release(json_t **json)
{
	json_decref(*json);
}

static int apply(struct placing *placing)
{
	CLEANUP(release) json_t *json = NULL;
	const struct cli *cli = placing->cli;
	int foreign = place_apply_foreign(placing->inputs, &placing->report);

	if (foreign >= 0)
		return refuse_foreign(placing, foreign);
	if (cli_given(cli, OPTION_JSON))
		json = report_place_json(&placing->report);
	if (!json) {
		int r = print_plan(placing);

		if (r == EXIT_COULD_NOT)
			return r;
	}
	return place_apply(cli, placing->inputs, &placing->report, json);
}

/*
 * The host's core lies with CPU 0, on parts with one large L3 usually in that one. Where all that is wished for are
 * cores of one kind, it goes to the other: eight cores with a large L3 are not seven.
 */
static void reserve_off_class(struct placing *placing, const struct host *host)
{
	const struct host_topology *topology = &host->topology;
	bool cache = false, frequency = false;

	for (int i = 0; i < placing->inputs->count; i++) {
		cache |= placing->inputs->requests[i].wish == PLACE_CLASS_CACHE;
		frequency |= placing->inputs->requests[i].wish == PLACE_CLASS_FREQUENCY;
	}
	if (!topology->x3d || cli_given(placing->cli, OPTION_RESERVE) || cache == frequency)
		return;
	for (int i = 0; i < topology->core_count; i++) {
		int l3 = topology->cores[i].l3;

		if (l3 < 0 || topology->l3s[l3].large == cache)
			continue;
		placing->wishes.reserve = topology->cores[i].cpus;
		place_inputs_note(placing->inputs, cache ? "the host's core is outside the large L3, which VMs want"
							 : "the host's core is in the large L3, which no VM wants");
		return;
	}
}

/* Plan; VMs that only find no place because we wanted equal parts are asked for again without. */
static int plan_all(struct placing *placing, const struct host *host, const struct place_plan **ret, struct err *err)
{
	struct place_inputs *inputs = placing->inputs;
	bool again = false;
	int r = place_host(inputs->arena, host, inputs->requests, inputs->count, &placing->wishes, ret, err);

	for (int i = 0; r == 0 && i < inputs->count; i++) {
		const struct place_vm_result *result = (*ret)->vms[i].result;

		if (!inputs->inputs[i].even_by_us || (result && result->placed))
			continue;
		inputs->requests[i].even = false;
		again = true;
	}
	return again ? place_host(inputs->arena, host, inputs->requests, inputs->count, &placing->wishes, ret, err) : r;
}

int cmd_place(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(place_inputs_free) struct place_inputs inputs = {.arena = arena};
	struct placing placing = {.cli = cli, .inputs = &inputs};
	const struct place_plan *plan;
	struct err err = {0};
	int code;

	if (!read_options(&placing))
		return EXIT_USAGE;
	int r = place_apply_check(cli);

	if (r == 0)
		r = cli_open_host(cli, &host);

	if (r)
		return r;
	if (place_inputs_collect(cli, host, &placing.defaults, &inputs, &err) < 0) {
		/* What an option says is wrong usage; what a file says is not. */
		code = cli_fail(&err);
		return text_starts(err.where, "--") ? EXIT_USAGE : code;
	}
	if (!inputs.count)
		return cli_usage(cli, "there is no VM to place: name a file with --file or a new one with --new");
	reserve_off_class(&placing, host);
	if (plan_all(&placing, host, &plan, &err) < 0)
		return cli_fail(&err);
	fill_report(&placing, host, plan);
	r = cli_given(cli, OPTION_APPLY) ? apply(&placing) : print_plan(&placing);
	cli_print_timing(cli, host);
	return r;
}
