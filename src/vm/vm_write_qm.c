/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a layout as Proxmox commands. Its `affinity` is one set for all threads of a VM (qm.conf(5)), so a hookscript
 * pins each vCPU after the start.
 */
#include "vm_write_internal.h"

/* Commas part the options of numaN: lists of its own are parted by semicolons. */
static const char *semicolons(struct arena *arena, const struct cpuset *set)
{
	char *text = arena_strdup(arena, cpuset_format(arena, set));

	for (char *at = text; *at; at++)
		*at = *at == ',' ? ';' : *at;
	return text;
}

static void write_numa(FILE *out, struct arena *arena, const struct vm_layout *layout, const char *vmid)
{
	const struct vm_layout_cell one = {
	    .host_nodes = layout->nodes, .vcpus = cpuset_range(0, layout->vcpus - 1), .memory_kib = layout->memory_kib};
	const struct vm_layout_cell *cells = layout->cell_count ? layout->cells : &one;
	int count = layout->cell_count ? layout->cell_count : 1;

	if (cpuset_empty(&layout->nodes) || layout->memory_kib <= 0)
		return;
	(void)fprintf(out, "qm set %s --numa 1", vmid);
	for (int i = 0; i < count; i++) {
		const char *cpus = semicolons(arena, &cells[i].vcpus);
		const char *nodes = semicolons(arena, &cells[i].host_nodes);

		(void)fprintf(out, " --numa%d 'cpus=%s,hostnodes=%s,memory=%lld,policy=bind'", i, cpus, nodes,
			      (long long)(cells[i].memory_kib / 1024));
	}
	(void)fputc('\n', out);
}

static void write_hookscript(FILE *out, const struct vm_layout *layout, const char *vmid)
{
	(void)fprintf(out,
		      "cat > /var/lib/vz/snippets/hvtune-%s.sh <<'END'\n"
		      "#!/bin/sh\n"
		      "# Pins each vCPU of VM %s to its own CPU once it runs; Proxmox calls it with VMID and phase.\n"
		      "[ \"$2\" = post-start ] || exit 0\n"
		      "pid=$(cat \"/run/qemu-server/$1.pid\") || exit 0\n",
		      vmid, vmid);
	vm_write_pin_by_name(out, layout, "");
	(void)fprintf(out,
		      "exit 0\n"
		      "END\n"
		      "chmod +x /var/lib/vz/snippets/hvtune-%s.sh\n"
		      "qm set %s --hookscript local:snippets/hvtune-%s.sh\n",
		      vmid, vmid, vmid);
}

void vm_write_qm(FILE *out, const struct vm_layout *layout, const char *vmid)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct cpuset cpus = vm_layout_cpus(layout), all = cpuset_or(&cpus, &layout->service);

	vmid = vmid ? vmid : "VMID";
	if (cpuset_empty(&cpus))
		return;
	(void)fprintf(out, "qm set %s --affinity %s\n", vmid, cpuset_format(arena, &all));
	if (vm_layout_has_topology(layout))
		(void)fprintf(out, "qm set %s --sockets %d --cores %d\n", vmid, layout->sockets,
			      layout->vcpus / layout->sockets);
	if (layout->page_kib > 4)
		(void)fprintf(out, "qm set %s --hugepages %d\n", vmid, (int)(layout->page_kib / 1024));
	write_numa(out, arena, layout, vmid);
	if (vm_layout_has_topology(layout) && layout->threads > 1)
		(void)fprintf(out,
			      "# Proxmox has no option for threads: the guest takes the two threads of a core for two "
			      "cores. Its args: can carry\n"
			      "#   -smp %d,sockets=%d,dies=%d,cores=%d,threads=%d%s\n"
			      "# look at the whole line with qm showcmd %s before a start.\n",
			      layout->vcpus, layout->sockets, layout->dies, layout->cores, layout->threads,
			      layout->amd ? " -cpu host,topoext=on" : "", vmid);
	write_hookscript(out, layout, vmid);
}
