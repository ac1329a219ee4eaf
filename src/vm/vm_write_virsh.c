/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a layout as virsh commands. */
#include "vm_write_internal.h"

#include "text.h"

/*
 * libvirt moves memory of a VM that runs only where it is bound by cpuset.mems alone, mode restrictive
 * (formatdomain.rst, numatune); everything else waits for the next start.
 */
static void write_numatune(FILE *out, struct arena *arena, const struct vm_layout *layout, const struct vm *vm,
			   const char *name)
{
	bool restrictive = vm && text_equal(vm->numa_mode, "restrictive");
	bool live = vm && vm->state == VM_STATE_RUNNING && restrictive;

	if (cpuset_empty(&layout->nodes) || layout->cell_count)
		return;
	(void)fprintf(out, "virsh numatune %s --mode %s --nodeset %s%s --config\n", name,
		      restrictive ? "restrictive" : "strict", cpuset_format(arena, &layout->nodes),
		      live ? " --live" : "");
}

void vm_write_virsh(FILE *out, const struct vm_layout *layout, const struct vm *vm)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *name = vm_write_shell(arena, layout->name);
	const char *when = vm && vm->state == VM_STATE_RUNNING ? "--live --config" : "--config";
	const char *service = cpuset_format(arena, &layout->service);
	const char *restart = vm_layout_restart(arena, layout, vm);

	for (int i = 0; layout->pins && i < layout->vcpus; i++)
		(void)fprintf(out, "virsh vcpupin %s %d %s %s\n", name, i, cpuset_format(arena, &layout->pins[i]),
			      when);
	if (*service)
		(void)fprintf(out, "virsh emulatorpin %s %s %s\n", name, service, when);
	for (int i = 0; *service && vm && i < vm->iothread_count; i++)
		(void)fprintf(out, "virsh iothreadpin %s %lld %s %s\n", name, (long long)vm->iothreads[i].id, service,
			      when);
	write_numatune(out, arena, layout, vm, name);
	if (restart)
		(void)fprintf(out, "# with the next start of the VM, in its XML (--format diff shows it): %s\n",
			      restart);
}
