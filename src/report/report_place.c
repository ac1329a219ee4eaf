/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a plan as text: a block for each VM, the host before and after, what is left, what is to be done. */
#include "report_place.h"
#include "report_place_pages.h"

#include "text.h"

enum { LABEL = 12, INDENT = 15 };

struct printing {
	struct arena *arena;
	const struct term *term;
	const struct report_place *place;
	const struct place_plan *plan;
};

static void row(const struct printing *p, const char *label, const char *text)
{
	(void)fprintf(p->term->out, "  %-*s ", LABEL, label);
	term_flow(p->term, INDENT, true, text);
}

static const char *plural(const struct printing *p, int count, const char *word)
{
	return arena_printf(p->arena, "%d %s%s", count, word, count == 1 ? "" : "s");
}

/* ---- one VM ---- */

/* "0-3 on 4,68 5,69": the vCPUs of a run, siblings together. */
static const char *pins_text(const struct printing *p, const struct place_vm_plan *vm, int first, int last)
{
	const struct host_topology *topology = &p->plan->host->topology;
	const char *text = arena_printf(p->arena, first == last ? "%d on" : "%d-%d on", first, last);

	for (int i = first; i <= last; i++) {
		int cpu = vm->cpus_of_vcpus[i], core = topology_core_of(topology, cpu);
		bool sibling = i > first && core >= 0 && core == topology_core_of(topology, vm->cpus_of_vcpus[i - 1]);

		text = arena_printf(p->arena, "%s%s%d", text, sibling ? "," : " ", cpu);
	}
	return text;
}

static int ccx_of(const struct place_plan *plan, int cpu)
{
	for (int i = 0; i < plan->problem->ccx_count; i++)
		if (cpuset_has(&plan->ccx_cpus[i], cpu))
			return i;
	return -1;
}

/* A line for each CCX that the VM is on. */
static void print_pins(const struct printing *p, const struct place_vm_plan *vm)
{
	int vcpus = vm->request->vcpus;

	if (!vm->cpus_of_vcpus) {
		row(p, "vCPUs", arena_printf(p->arena, "all %d on %s", vcpus, cpuset_format(p->arena, &vm->cpus)));
		return;
	}
	for (int first = 0, last; first < vcpus; first = last + 1) {
		int ccx = ccx_of(p->plan, vm->cpus_of_vcpus[first]);

		for (last = first; last + 1 < vcpus && ccx_of(p->plan, vm->cpus_of_vcpus[last + 1]) == ccx;)
			last++;
		row(p, first ? "" : "vCPUs", pins_text(p, vm, first, last));
	}
}

static const char *page_word(int64_t page_kib)
{
	return page_kib == 1048576 ? "1 GiB" : page_kib == 2048 ? "2 MiB" : NULL;
}

/* Pages of this size on the node, or NULL. */
static const struct memory_node_pages *pool_of(const struct host *host, int64_t page_kib, int os_node)
{
	const struct memory_pages *pages = host_memory_pages_of(&host->memory, page_kib);

	for (int i = 0; pages && i < pages->node_count; i++)
		if (pages->nodes[i].os_node == os_node)
			return &pages->nodes[i];
	return NULL;
}

static const char *pool_text(const struct printing *p, int64_t page_kib, int os_node)
{
	const struct memory_node_pages *pool = pool_of(p->plan->host, page_kib, os_node);

	if (!pool || !fact_known(&pool->total) || !fact_known(&pool->free))
		return "how many exist there is not known";
	return arena_printf(p->arena, "%lld exist, %lld free", (long long)pool->total.number,
			    (long long)pool->free.number);
}

static void print_memory(const struct printing *p, const struct place_vm_plan *vm, const int64_t *memory_kib)
{
	if (vm->request->memory_kib <= 0) {
		row(p, "memory", "not known, left aside");
		return;
	}
	for (int i = 0, first = 1; memory_kib && i < p->plan->os_node_count; i++) {
		const char *page = page_word(vm->page_kib);
		const char *kib = text_kib(p->arena, memory_kib[i]);

		if (memory_kib[i] <= 0)
			continue;
		row(p, first ? "memory" : "",
		    page ? arena_printf(p->arena, "%s on node %d: %lld pages of %s (%s)", kib, p->plan->os_nodes[i],
					(long long)(memory_kib[i] / vm->page_kib), page,
					pool_text(p, vm->page_kib, p->plan->os_nodes[i]))
			 : arena_printf(p->arena, "%s on node %d in ordinary pages", kib, p->plan->os_nodes[i]));
		first = 0;
	}
}

static void print_guest(const struct printing *p, const struct place_vm_plan *vm, const struct vm_layout *layout)
{
	const char *text;

	if (vm->sockets <= 0)
		return;
	text = arena_printf(p->arena, "%s x %s x %s x %s", plural(p, vm->sockets, "socket"), plural(p, vm->dies, "die"),
			    plural(p, vm->cores, "core"), plural(p, vm->threads, "thread"));
	if (layout->cell_count)
		text = arena_printf(p->arena, "%s; %d NUMA cells%s", text, layout->cell_count,
				    layout->distances ? " with the host's distances" : "");
	if (vm->dies > 1)
		text = arena_printf(p->arena, "%s; a die is one L3 group", text);
	if (vm->topology_note)
		text = arena_printf(p->arena, "%s; %s", text, vm->topology_note);
	row(p, "show guest", text);
}

static void print_score(const struct printing *p, const struct place_vm_result *result, int cores)
{
	row(p, "score",
	    arena_printf(
		p->arena,
		"%.1f ns per core: between cores %.1f, memory %.1f, device %.1f, class %.1f; alone on the empty "
		"host %.1f; %s",
		place_ns(result->cost, cores), place_ns(result->pair_cost, cores), place_ns(result->memory_cost, cores),
		place_ns(result->device_cost, cores), place_ns(result->class_cost, cores),
		place_ns(result->ideal, cores), report_place_vm_proof(p->arena, result, cores)));
}

static const char *smt_text(const struct place_request *request, int cores)
{
	return request->vcpus > cores		    ? " as sibling threads"
	       : request->smt == PLACE_SMT_ISOLATED ? ", one a core"
						    : "";
}

/* Each queue of a virtio NIC has a worker of vhost; see the finding vm.vhost-uncounted. */
static int vhost_workers(const struct vm *vm)
{
	int workers = 0;

	for (int i = 0; vm && i < vm->nic_count; i++)
		workers += vm_nic_uses_vhost(&vm->nics[i]) && vm->nics[i].queues > 1 ? vm->nics[i].queues : 0;
	return workers;
}

/* Where all threads of the VM go that are no vCPUs. */
static const char *service_text(const struct printing *p, const struct report_place_vm *shown)
{
	const struct cpuset *service = &shown->layout.service;
	int workers = vhost_workers(shown->vm), cpus = cpuset_count(service);

	if (cpuset_empty(service))
		return "no place of its own: the host keeps no cores; it stays where it is";
	return arena_printf(p->arena, "%s, with I/O and vhost threads%s", cpuset_format(p->arena, service),
			    workers > cpus
				? arena_printf(p->arena,
					       "; its %d vhost workers are more than these %d CPUs: --reserve "
					       "keeps more, or fewer queues will do",
					       workers, cpus)
				: "");
}

static void print_vm(const struct printing *p, int index)
{
	const struct place_vm_plan *vm = &p->plan->vms[index];
	const struct place_request *request = vm->request;
	const struct report_place_vm *shown = &p->place->vms[index];
	int cores = report_place_cores(p->plan, index);
	bool placed = vm->result && vm->result->placed;

	(void)fprintf(p->term->out, "\n%s", term_on(p->term, TERM_BOLD));
	term_flow(p->term, 0, true,
		  placed ? arena_printf(p->arena, "%s %s: %s on %s%s", report_place_mark(p->arena, index),
					request->name, plural(p, request->vcpus, "vCPU"), plural(p, cores, "core"),
					smt_text(request, cores))
			 : arena_printf(p->arena, "%s %s: no place for %s", report_place_mark(p->arena, index),
					request->name, plural(p, request->vcpus, "vCPU")));
	(void)fputs(term_on(p->term, TERM_PLAIN), p->term->out);
	if (!placed) {
		row(p, "why", vm->result && vm->result->reason ? vm->result->reason : "the host has no room for it");
		return;
	}
	row(p, "on", report_place_where(p->arena, p->place, index));
	print_pins(p, vm);
	row(p, "emulator", service_text(p, shown));
	print_memory(p, vm, shown->memory_kib);
	print_guest(p, vm, &shown->layout);
	print_score(p, vm->result, cores);
	row(p, "why", report_place_why(p->arena, p->place, index));
}

static void print_kept(const struct printing *p)
{
	int count = 0;

	for (int i = 0; i < p->plan->vm_count; i++) {
		const struct place_vm_plan *vm = &p->plan->vms[i];

		if (vm->request->right == PLACE_KEEP)
			(void)fprintf(p->term->out, "%s%s %s stays on %s\n", count++ ? "" : "\n",
				      report_place_mark(p->arena, i), text_visible(p->arena, vm->request->name),
				      cpuset_format(p->arena, &vm->request->cpus_now));
	}
}

/* ---- the host ---- */

static bool anyone_now(const struct place_plan *plan)
{
	for (int i = 0; i < plan->vm_count; i++)
		if (!cpuset_empty(&plan->vms[i].request->cpus_now))
			return true;
	return false;
}

static void print_pictures(const struct printing *p)
{
	if (anyone_now(p->plan)) {
		(void)fputs("\nThe host now:\n", p->term->out);
		report_topology_owners(p->term, p->plan->host, report_place_owners(p->arena, p->place, false));
	}
	(void)fputs("\nThe host with this plan:\n", p->term->out);
	const struct report_owners *owners = report_place_owners(p->arena, p->place, true);

	report_topology_owners(p->term, p->plan->host, owners);
	row(p, "marks",
	    arena_printf(p->arena, "%s; %s free, - an idle sibling, + more than one VM", owners->legend,
			 p->term->utf8 ? "·" : "."));
}

static const char *next_text(const struct printing *p, int cores)
{
	int64_t cost;
	int ccxs;

	if (!place_next(p->plan->problem, p->plan->solution, cores, &cost, &ccxs))
		return arena_printf(p->arena, "%d cores: no room", cores);
	return arena_printf(p->arena, "%d cores: %s, %.0f ns", cores,
			    p->plan->host->topology.l3_known ? plural(p, ccxs, report_group_word(p->plan->host))
							     : "room",
			    place_ns(cost, cores));
}

static const char *free_text(const struct printing *p)
{
	struct cpuset ccxs = report_place_free_ccxs(p->plan);
	int cores = 0;

	for (int i = 0; i < p->plan->problem->ccx_count; i++)
		cores += p->plan->solution->free[i];
	if (cpuset_empty(&ccxs))
		return plural(p, cores, "core");
	return arena_printf(p->arena, "%s; %s %s without any VM", plural(p, cores, "core"),
			    report_group_word(p->plan->host), cpuset_format(p->arena, &ccxs));
}

static void print_host(const struct printing *p)
{
	(void)fputc('\n', p->term->out);
	row(p, "host keeps",
	    cpuset_empty(&p->plan->reserve)
		? "no core of its own"
		: arena_printf(p->arena, "%s%s%s", cpuset_format(p->arena, &p->plan->reserve),
			       p->plan->reserve_why ? ": " : "", p->plan->reserve_why ? p->plan->reserve_why : ""));
	row(p, "free", free_text(p));
	row(p, "next VM", arena_printf(p->arena, "%s; %s; %s", next_text(p, 4), next_text(p, 8), next_text(p, 16)));
	row(p, "the plan", report_place_proof(p->arena, p->plan));
	for (int i = 0; i < p->plan->note_count; i++)
		row(p, "note", p->plan->notes[i]);
	for (int i = 0; i < p->place->note_count; i++)
		row(p, "note", p->place->notes[i]);
}

/* ---- steps ---- */

static const char *step_text(const struct printing *p, const struct report_place_order *order)
{
	const struct place_vm_plan *vm = &p->plan->vms[order->vm];
	const char *name = vm->request->name, *restart = p->place->vms[order->vm].restart;
	int64_t moved = report_place_moved_kib(p->place, order->vm);
	const char *tail = restart ? arena_printf(p->arena, "; with its next start: %s", restart) : "";

	if (order->step == STEP_START)
		return arena_printf(p->arena, "%s: with its next start", name);
	if (order->step == STEP_MOVE && moved < 0)
		return arena_printf(p->arena, "%s: pin anew; where its memory is now is not known%s", name, tail);
	if (order->step == STEP_MOVE)
		return arena_printf(p->arena, "%s: to other nodes, %s to migrate%s", name, text_kib(p->arena, moved),
				    tail);
	return arena_printf(p->arena, "%s: pin anew, nothing to migrate%s", name, tail);
}

static void print_steps(const struct printing *p)
{
	int count, page_count;
	const struct report_place_order *order = report_place_order(p->arena, p->place, &count);
	const struct report_place_pages *pages = report_place_pages(p->arena, p->place, &page_count);

	if (!count) {
		(void)fputs("Nothing is to be changed.\n", p->term->out);
		return;
	}
	(void)fputs("To be done, in this order:\n", p->term->out);
	for (int i = 0; i < page_count; i++)
		row(p, arena_printf(p->arena, "%d.", i + 1), report_place_pages_text(p->arena, &pages[i]));
	const char *boot = report_place_pages_boot(p->arena, p->place, pages, page_count);

	if (boot)
		row(p, "", arena_printf(p->arena, "or, as 1 GiB pages need memory in one piece, at boot: %s", boot));
	for (int i = 0; i < count; i++)
		row(p, arena_printf(p->arena, "%d.", page_count + i + 1), step_text(p, &order[i]));
}

static struct printing printing_of(struct arena *arena, const struct term *term, const struct report_place *place)
{
	return (struct printing){.arena = arena, .term = term, .place = place, .plan = place->plan};
}

void report_place_steps(const struct term *term, const struct report_place *place)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct printing p = printing_of(arena, term, place);

	print_steps(&p);
}

static void print_first_line(const struct printing *p)
{
	int asked, placed = report_place_placed(p->place, &asked);

	term_flow(p->term, 0, true, host_summary(p->plan->host, p->arena));
	if (asked == 0)
		term_flow(p->term, 0, true, "All VMs have a place already; --repin or --move lets them leave it.");
	else if (placed == asked)
		term_flow(p->term, 0, true, arena_printf(p->arena, "%s placed.", plural(p, placed, "VM")));
	else
		term_flow(p->term, 0, true,
			  arena_printf(p->arena, "%s placed, %d not.", plural(p, placed, "VM"), asked - placed));
}

void report_place(const struct term *term, const struct report_place *place)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct printing p = printing_of(arena, term, place);

	print_first_line(&p);
	for (int i = 0; i < place->plan->vm_count; i++)
		if (place->plan->vms[i].request->right != PLACE_KEEP)
			print_vm(&p, i);
	print_kept(&p);
	print_pictures(&p);
	print_host(&p);
	(void)fputc('\n', term->out);
	print_steps(&p);
	(void)fputc('\n', term->out);
	term_flow(
	    term, 0, true,
	    "The nanoseconds are latencies between cores as published for such machines; they do not say that a VM "
	    "gets faster. Measure that before and after. --format virsh, qm, qemu, xml or diff prints the change.");
}
