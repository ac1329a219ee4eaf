/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a layout as words of a QEMU command line, and as taskset commands for its threads. */
#include "vm_write_internal.h"

static void write_backend(FILE *out, struct arena *arena, const struct vm_layout *layout, int number,
			  int64_t memory_kib, const char *nodes)
{
	(void)fprintf(out, "-object memory-backend-%s,id=m%d,size=%s,host-nodes=%s,policy=bind",
		      layout->page_kib > 4 ? "memfd" : "ram", number, vm_write_size(arena, memory_kib), nodes);
	if (layout->page_kib > 4)
		(void)fprintf(out, ",prealloc=on,hugetlb=on,hugetlbsize=%s", vm_write_size(arena, layout->page_kib));
	(void)fputc('\n', out);
}

/* QEMU wants a host-nodes of its own for each part of a list. */
static const char *host_nodes(struct arena *arena, const struct cpuset *nodes)
{
	const char *text = NULL;

	CPUSET_FOREACH (node, nodes)
		text = text ? arena_printf(arena, "%s,host-nodes=%d", text, node) : arena_printf(arena, "%d", node);
	return text;
}

static void write_memory(FILE *out, struct arena *arena, const struct vm_layout *layout)
{
	if (layout->memory_kib <= 0 || cpuset_empty(&layout->nodes))
		return;
	(void)fprintf(out, "-m %s\n", vm_write_size(arena, layout->memory_kib));
	if (!layout->cell_count) {
		write_backend(out, arena, layout, 0, layout->memory_kib, host_nodes(arena, &layout->nodes));
		(void)fputs("-machine memory-backend=m0\n", out);
		return;
	}
	for (int i = 0; i < layout->cell_count; i++)
		write_backend(out, arena, layout, i, layout->cells[i].memory_kib,
			      host_nodes(arena, &layout->cells[i].host_nodes));
	for (int i = 0; i < layout->cell_count; i++) {
		(void)fprintf(out, "-numa node,nodeid=%d,memdev=m%d", i, i);
		for (int cpu = cpuset_first(&layout->cells[i].vcpus), last; cpu >= 0;
		     cpu = cpuset_next(&layout->cells[i].vcpus, last)) {
			last = cpu;
			while (cpuset_has(&layout->cells[i].vcpus, last + 1))
				last++;
			(void)fprintf(out, ",cpus=%d-%d", cpu, last);
		}
		(void)fputc('\n', out);
	}
	for (int i = 0; layout->distances && i < layout->cell_count; i++)
		for (int j = 0; j < layout->cell_count; j++)
			if (i != j)
				(void)fprintf(out, "-numa dist,src=%d,dst=%d,val=%d\n", i, j,
					      layout->distances[i * layout->cell_count + j]);
}

/* Threads that are known by number. */
static void write_pins(FILE *out, struct arena *arena, const struct vm_layout *layout, const struct vm *vm)
{
	if (!cpuset_empty(&layout->service)) {
		const char *service = cpuset_format(arena, &layout->service);

		(void)fprintf(out, "taskset -cp %s %d\n", service, vm->pid);
		for (int i = 0; i < vm->iothread_count; i++)
			if (vm->iothreads[i].tid > 0)
				(void)fprintf(out, "taskset -cp %s %d\n", service, vm->iothreads[i].tid);
	}
	for (int i = 0; i < layout->vcpus; i++)
		(void)fprintf(out, "taskset -cp %s %d\n", cpuset_format(arena, &layout->pins[i]), vm->vcpus[i].tid);
}

static bool threads_known(const struct vm_layout *layout, const struct vm *vm)
{
	if (!vm || vm->pid <= 0 || !vm->vcpus || vm->vcpu_max != layout->vcpus)
		return false;
	for (int i = 0; i < layout->vcpus; i++)
		if (vm->vcpus[i].tid <= 0)
			return false;
	return true;
}

void vm_write_qemu(FILE *out, const struct vm_layout *layout, const struct vm *vm)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *restart = vm_layout_restart(arena, layout, vm);

	if (restart) {
		(void)fputs("# words of the command line, with the next start:\n", out);
		if (vm_layout_has_topology(layout) && layout->threads > 1 && layout->amd)
			(void)fputs("-cpu host,topoext=on\n", out);
		if (vm_layout_has_topology(layout))
			(void)fprintf(out, "-smp cpus=%d,maxcpus=%d,sockets=%d,dies=%d,cores=%d,threads=%d\n",
				      layout->vcpus, layout->vcpus, layout->sockets, layout->dies, layout->cores,
				      layout->threads);
		write_memory(out, arena, layout);
	}
	if (!layout->pins)
		return;
	if (threads_known(layout, vm)) {
		(void)fputs("# pins of the threads that run:\n", out);
		write_pins(out, arena, layout, vm);
		return;
	}
	(void)fputs("# pins, once it runs (QEMU names its threads with -name guest=NAME,debug-threads=on):\n", out);
	(void)fprintf(out, "pid=%s\n", vm && vm->pid > 0 ? arena_printf(arena, "%d", vm->pid) : "PID");
	vm_write_pin_by_name(out, layout, "");
}
