/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the VMs of a study; see study_vm.h. */
#include "study_vm.h"

#include <errno.h>
#include <string.h>

#include "knob_libvirt.h"
#include "knob_vm.h"
#include "study_vm_gate.h"
#include "text.h"

struct study_vms {
	struct study_vm *items; /* count, in the order of the file */
	size_t count;
};

/* ---- what is asked of a VM ---- */

static bool is_of_vm(enum study_cost cost)
{
	return cost == STUDY_VM_RESTART || cost == STUDY_GUEST_BOOT;
}

/* Is the VM among the names that an ask is for? */
static bool names_vm(const struct knob_ask *ask, const struct study_vm *vm)
{
	return ask->where && (text_has_word(ask->where, ",", vm->name) || text_has_word(ask->where, ",", vm->uuid));
}

/* The asks of one kind that the configuration has for the VM, each for it alone. */
static size_t asks_of(struct study_host *host, const struct study_vm *vm, int config, enum study_cost cost,
		      struct knob_ask **ret)
{
	size_t all = study_host_asks_of(host->arena, host->matrix, (size_t)config, cost, cost, ret), count = 0;

	for (size_t i = 0; i < all; i++)
		if (names_vm(&(*ret)[i], vm)) {
			(*ret)[count] = (*ret)[i];
			(*ret)[count++].where = vm->name;
		}
	return count;
}

bool study_vm_of_all(const struct study *study, size_t factor, size_t level)
{
	const struct study_level *of = &study->factors[factor].levels[level];

	if (!is_of_vm(of->cost))
		return false;
	for (size_t l = 0; l < study->factors[factor].level_count; l++)
		for (size_t i = 0; i < study->factors[factor].levels[l].ask_count; i++)
			if (is_of_vm(study_ask_cost(&study->factors[factor].levels[l].asks[i])))
				return false;
	return true;
}

/* What the VM is to be, as one text: two configurations with the same need no restart. */
static const char *wanted(struct study_host *host, const struct study_vm *vm, int config)
{
	const struct study *study = host->matrix->study;
	const size_t *levels = study_levels(host->matrix, (size_t)config);
	const char *text = "";
	struct knob_ask *asks;

	for (int cost = STUDY_VM_RESTART; cost <= STUDY_GUEST_BOOT; cost++) {
		size_t count = asks_of(host, vm, config, (enum study_cost)cost, &asks);

		for (size_t i = 0; i < count; i++)
			text = arena_printf(host->arena, "%s%s=%s ", text, asks[i].name, asks[i].value);
	}
	for (size_t f = 0; f < study->factor_count; f++)
		if (study_vm_of_all(study, f, levels[f]))
			text = arena_printf(host->arena, "%s%s=%s ", text, study->factors[f].name,
					    study->factors[f].levels[levels[f]].name);
	return text;
}

/* ---- changes ---- */

static int apply(struct study_host *host, const struct study_vm *vm, const struct knob_ask *asks, size_t count,
		 const char *what, unsigned *ret_change, struct err *err)
{
	const struct knob_apply_options options = {
	    .what = arena_printf(host->arena, STUDY_MARK "%s: %s of %s", host->matrix->study->name, what, vm->name),
	    .stop = study_host_stopped,
	    .data = host};
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	int r = count ? knob_plan_make(host->machine, asks, count, &plan, err) : 0;

	if (r < 0 || !plan.points.count)
		return r;
	r = knob_apply(host->machine, &plan, &options, &report, err);
	if (r == 0)
		*ret_change = report.id;
	return r == -ECANCELED && report.interrupted ? -EINTR : r;
}

static int undo(struct study_host *host, unsigned *change, struct err *err)
{
	struct knob_report report = {0};
	int r;

	if (!*change)
		return 0;
	r = knob_undo(host->machine, *change, &report, err);
	if (r == -EIO && report.count && report.events[0].why)
		(void)err_set(err, EIO, knob_place(&report.events[0].point), "%s", report.events[0].why);
	/* What could not be put back stays in force, and is tried again at the end. */
	if (r < 0 && r != -ENOENT)
		return r;
	*change = 0;
	study_host_left(host, r < 0 ? NULL : knob_report_left(host->arena, &report));
	return 0;
}

/* ---- power ---- */

/* A VM that does not do as it is told makes its configuration void, and ends nothing. */
static int unreachable(struct err *err)
{
	if (err)
		err->code = -EHOSTUNREACH;
	return -EHOSTUNREACH;
}

static int is_running(struct study_host *host, const struct study_vm *vm, bool *ret, struct err *err)
{
	struct knob_domain domain;
	int r = knob_libvirt_find(host->machine, vm->uuid, &domain, err);

	if (r == 0)
		*ret = domain.running;
	return r;
}

static int set_power(struct study_host *host, const struct study_vm *vm, const char *power, unsigned *ret_change,
		     struct err *err)
{
	const struct knob_ask ask = {.name = "vm.power", .where = vm->name, .value = power};
	int r;

	host->machine->vm_wait_s = (unsigned)vm->rule->wait_s;
	r = apply(host, vm, &ask, 1, text_equal(power, "on") ? "start" : "shutdown", ret_change, err);
	host->machine->vm_wait_s = 0;
	if (r == -ETIME || r == -EIO)
		r = unreachable(err);
	/* Its threads are others now. */
	knob_vm_forget(host->machine);
	return r;
}

static int go_off(struct study_host *host, struct study_vm *vm, struct err *err)
{
	int r = set_power(host, vm, "off", &vm->off, err);

	if (r == -EHOSTUNREACH && vm->rule->force)
		r = set_power(host, vm, "cut", &vm->off, err);
	return r;
}

/* Start it: by taking back that it is off; one that went off by itself is started as it was found running. */
static int go_on(struct study_host *host, struct study_vm *vm, struct err *err)
{
	bool running = false;
	int r = undo(host, &vm->off, err);

	if (r == 0)
		r = is_running(host, vm, &running, err);
	if (r == 0 && !running)
		r = vm->was_running || vm->started
			? knob_libvirt_power(host->machine, vm->uuid, KNOB_LIBVIRT_START, err)
			: set_power(host, vm, "on", &vm->started, err);
	knob_vm_forget(host->machine);
	if (r == -EIO)
		r = unreachable(err);
	return r;
}

/* ---- one VM ---- */

static int make_sure_it_is_up(struct study_host *host, struct study_vm *vm, struct err *err)
{
	bool running = false;
	int r = is_running(host, vm, &running, err);

	if (r == 0 && !running)
		r = go_on(host, vm, err);
	return r < 0 ? r : study_vm_wait_up(host, vm, running ? NULL : vm->boot, err);
}

/* The words of its kernel line: in the guest, while it runs. */
static int set_line(struct study_host *host, struct study_vm *vm, const struct knob_ask *asks, size_t count,
		    struct err *err)
{
	int r = vm->line || count ? make_sure_it_is_up(host, vm, err) : 0;

	if (r == 0)
		r = undo(host, &vm->line, err);
	return r < 0 ? r : apply(host, vm, asks, count, "kernel line", &vm->line, err);
}

static int set_definition(struct study_host *host, struct study_vm *vm, const struct knob_ask *asks, size_t count,
			  struct err *err)
{
	int r = undo(host, &vm->definition, err);

	return r < 0 ? r : apply(host, vm, asks, count, "definition", &vm->definition, err);
}

/* `config` -1: as it was found. Its line while it runs, then off. */
static int take_down(struct study_host *host, struct study_vm *vm, int config, struct err *err)
{
	struct knob_ask *line = NULL;
	size_t count = config < 0 ? 0 : asks_of(host, vm, config, STUDY_GUEST_BOOT, &line);
	int r = set_line(host, vm, line, count, err);

	/* From here on it is what neither was asked. */
	vm->asked = NULL;
	return r < 0 ? r : go_off(host, vm, err);
}

static int bring_up(struct study_host *host, struct study_vm *vm, int config, struct err *err)
{
	struct knob_ask *line = NULL, *definition = NULL;
	size_t line_count = config < 0 ? 0 : asks_of(host, vm, config, STUDY_GUEST_BOOT, &line);
	size_t count = config < 0 ? 0 : asks_of(host, vm, config, STUDY_VM_RESTART, &definition);
	int r = set_definition(host, vm, definition, count, err);

	if (r == 0)
		r = go_on(host, vm, err);
	if (r == 0)
		r = study_vm_wait_up(host, vm, vm->boot, err);
	if (r == 0)
		r = study_vm_judge(host, vm, line, line_count, err);
	if (r == 0)
		vm->asked = config < 0 ? "" : wanted(host, vm, config);
	return r;
}

static bool is_other(struct study_host *host, const struct study_vm *vm, int config)
{
	return !vm->asked || !text_equal(vm->asked, wanted(host, vm, config));
}

int study_vm_down(struct study_host *host, int config, struct err *err)
{
	int r = 0;

	for (size_t i = 0; host->vms && i < host->vms->count && r == 0; i++)
		if (is_other(host, &host->vms->items[i], config))
			r = take_down(host, &host->vms->items[i], config, err);
	return r;
}

int study_vm_up(struct study_host *host, int config, struct err *err)
{
	int r = 0;

	for (size_t i = 0; host->vms && i < host->vms->count && r == 0; i++)
		r = is_other(host, &host->vms->items[i], config) ? bring_up(host, &host->vms->items[i], config, err)
								 : make_sure_it_is_up(host, &host->vms->items[i], err);
	return r;
}

/* ---- looking ---- */

static int find(struct knob_machine *machine, const char *name, struct knob_domain *ret, struct err *err)
{
	int r = knob_libvirt_find(machine, name, ret, err);

	if (r < 0)
		return r;
	if (!ret->persistent)
		return err_set(err, ENOTSUP, ret->name, "is not defined at libvirt: once off, it would be gone");
	if (ret->saved) {
		(void)err_set(err, ENOTSUP, ret->name,
			      "has a saved image, from which it would start instead of from its definition");
		return err_hint(err, "start it once and shut it down, or: virsh managedsave-remove %s", ret->name);
	}
	return 0;
}

int study_vm_check(struct knob_machine *machine, const struct study *study, size_t at, bool *ret_silent,
		   struct err *err)
{
	struct knob_domain domain;
	struct bench_guest guest;
	int r = find(machine, study->vms[at], &domain, err);

	*ret_silent = false;
	if (r < 0 || !domain.running || study->vm_rules[at].ssh)
		return r;
	r = bench_guest_open(machine, domain.uuid, &guest, err);
	*ret_silent = r == -ENOTSUP && !study_vm_needs_guest(study, study->vms[at]);
	return *ret_silent ? 0 : r;
}

/* ---- over boots of the host ---- */

json_t *study_vm_running_json(struct knob_machine *machine, const struct study *study)
{
	json_t *json = json_object();

	for (size_t i = 0; study->vms[i]; i++) {
		struct knob_domain domain;
		struct err ignored = {0};

		if (knob_libvirt_find(machine, study->vms[i], &domain, &ignored) == 0)
			(void)json_object_set_new(json, study->vms[i], json_boolean(domain.running));
	}
	return json;
}

/* Has a change that is in force something of the VM's guest? */
static bool is_guest_changed(struct knob_machine *machine, const char *uuid)
{
	struct knob_journal journal = {0};
	struct err ignored = {0};
	unsigned *ids;
	size_t count = knob_journal_read(machine, &journal, &ignored) < 0 ? 0 : knob_in_force(machine, &journal, &ids);

	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < journal.count; c++)
			for (size_t p = 0; journal.changes[c].id == ids[i] && p < journal.changes[c].point_count; p++) {
				const struct knob_point *point = &journal.changes[c].points[p];

				if (point->knob && point->knob->scope == KNOB_GUEST && text_starts(point->where, uuid))
					return true;
			}
	return false;
}

static int find_and_start(struct knob_machine *machine, const char *name, bool ran, struct knob_domain *ret,
			  struct err *err)
{
	int r = knob_libvirt_find(machine, name, ret, err);

	if (r == 0 && ran && !ret->running)
		r = knob_libvirt_power(machine, ret->uuid, KNOB_LIBVIRT_START, err);
	knob_vm_forget(machine);
	return r;
}

/*
 * One that ran is started again. Right after a boot what it takes may still be coming: /dev/kvm as libvirt may open it,
 * a network, a pool, libvirt itself.
 */
static int wake(struct knob_machine *machine, const struct study_vm_rule *rule, const char *name, bool ran, bool whole,
		struct err *err)
{
	enum { TRIES = 60 };
	const int64_t total_ns = sys_writer_is_live(machine->writer) ? STUDY_VM_WAIT_S * INT64_C(1000000000) : 60000000;
	struct study_host host = {.arena = machine->arena, .machine = machine, .leaving = true};
	struct study_vm vm = {.rule = rule};
	struct knob_domain domain;
	int r = find_and_start(machine, name, ran, &domain, err);

	for (int i = 0; i < TRIES && r < 0 && ran; i++) {
		(void)study_vm_pause(&host, total_ns / TRIES);
		r = find_and_start(machine, name, ran, &domain, err);
	}
	if (r < 0 || !whole || !is_guest_changed(machine, domain.uuid))
		return r;
	vm.file_name = vm.name = domain.name;
	vm.uuid = domain.uuid;
	return study_vm_wait_up(&host, &vm, NULL, err);
}

int study_vm_wake(struct knob_machine *machine, const struct study *study, const json_t *ran, bool whole,
		  struct err *err)
{
	int worst = 0;

	for (size_t i = 0; study->vms[i]; i++) {
		struct err fault = {0};
		int r = wake(machine, &study->vm_rules[i], study->vms[i],
			     json_is_true(json_object_get(ran, study->vms[i])), whole, &fault);

		if (r < 0 && worst == 0) {
			worst = r;
			(void)err_copy(err, &fault);
		}
	}
	return worst;
}

/* ---- begin and end ---- */

static int begin_vm(struct study_host *host, struct study_vm *vm, struct err *err)
{
	struct knob_domain domain;
	int r = find(host->machine, vm->name, &domain, err);

	if (r < 0)
		return r;
	vm->uuid = domain.uuid;
	vm->name = domain.name;
	vm->was_running = domain.running;
	if (!domain.running)
		r = set_power(host, vm, "on", &vm->started, err);
	if (r == 0)
		r = study_vm_wait_up(host, vm, NULL, err);
	if (r == 0)
		vm->asked = "";
	return r;
}

int study_vm_begin(struct study_host *host, struct err *err)
{
	const struct study *study = host->matrix->study;
	struct study_vms *vms;
	int r = 0;

	if (!study->vms || !*study->vms)
		return 0;
	vms = host->vms = ARENA_NEW(host->arena, struct study_vms);
	while (study->vms[vms->count])
		vms->count++;
	vms->items = ARENA_ARRAY(host->arena, vms->count, struct study_vm);
	for (size_t i = 0; i < vms->count; i++)
		vms->items[i] = (struct study_vm){
		    .file_name = study->vms[i], .name = study->vms[i], .uuid = "", .rule = &study->vm_rules[i]};
	for (size_t i = 0; i < vms->count && r == 0; i++)
		r = begin_vm(host, &vms->items[i], err);
	return r;
}

/* Is anything of it not as it was found, but for whether it runs? */
static bool is_changed(const struct study_vm *vm)
{
	return vm->line || vm->definition || vm->off || !vm->asked || *vm->asked;
}

/* One that was off needs no other start: it ends off. */
static int leave_down(struct study_host *host, struct study_vm *vm, struct err *err)
{
	if (!*vm->uuid || !is_changed(vm))
		return 0;
	if (!vm->started)
		return take_down(host, vm, -1, err);
	vm->asked = NULL;
	return set_line(host, vm, NULL, 0, err);
}

/* Whatever did not come up: what it starts with next is its own again, and it runs as it did. */
static int leave_up(struct study_host *host, struct study_vm *vm, struct err *err)
{
	struct err fault = {0};
	int r = 0, last = 0;

	if (*vm->uuid && is_changed(vm) && !vm->started)
		r = bring_up(host, vm, -1, err);
	if (vm->definition)
		last = undo(host, &vm->definition, &fault);
	if (last == 0 && vm->off)
		last = go_on(host, vm, &fault);
	host->machine->vm_wait_s = (unsigned)vm->rule->wait_s;
	if (last == 0 && vm->started)
		last = undo(host, &vm->started, &fault);
	host->machine->vm_wait_s = 0;
	knob_vm_forget(host->machine);
	if (r == 0 && last < 0)
		(void)err_copy(err, &fault);
	return r < 0 ? r : last;
}

static int leave_all(struct study_host *host, int (*leave)(struct study_host *, struct study_vm *, struct err *),
		     struct err *err)
{
	int worst = 0;

	for (size_t i = host->vms ? host->vms->count : 0; i-- > 0;) {
		struct err fault = {0};
		int r = leave(host, &host->vms->items[i], &fault);

		if (r < 0 && worst == 0) {
			worst = r;
			(void)err_copy(err, &fault);
		}
	}
	return worst;
}

int study_vm_leave_down(struct study_host *host, struct err *err)
{
	return leave_all(host, leave_down, err);
}

int study_vm_leave_up(struct study_host *host, struct err *err)
{
	return leave_all(host, leave_up, err);
}

const struct bench_guest *study_vm_guest(const struct study_host *host, const char *name)
{
	for (size_t i = 0; host->vms && i < host->vms->count; i++)
		if (text_equal(host->vms->items[i].file_name, name))
			return &host->vms->items[i].guest;
	return NULL;
}
