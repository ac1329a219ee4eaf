/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a layout as elements of libvirt's domain XML (formatdomain.rst), and the whole XML of a VM that is new. */
#include "vm_write_internal.h"

enum { XAPIC_VCPUS = 255 }; /* beyond that an interrupt controller with extended ids is needed */

/* libvirt's units are powers of 1024 with these names. */
static void write_page(FILE *out, struct arena *arena, const struct vm_layout *layout, int indent)
{
	bool gib = layout->page_kib % 1048576 == 0;

	(void)fprintf(out, "%*s<page size='%lld' unit='%s'", indent, "",
		      (long long)(layout->page_kib / (gib ? 1048576 : 1)), gib ? "GiB" : "KiB");
	if (layout->cell_count) {
		struct cpuset cells = cpuset_range(0, layout->cell_count - 1);

		(void)fprintf(out, " nodeset='%s'", cpuset_format(arena, &cells));
	}
	(void)fputs("/>\n", out);
}

void vm_write_hugepages(FILE *out, const struct vm_layout *layout, int indent)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	if (layout->page_kib <= 4)
		return;
	(void)fprintf(out, "%*s<hugepages>\n", indent, "");
	write_page(out, arena, layout, indent + 2);
	(void)fprintf(out, "%*s</hugepages>\n", indent, "");
}

void vm_write_numatune(FILE *out, const struct vm_layout *layout, int indent)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	if (cpuset_empty(&layout->nodes))
		return;
	(void)fprintf(out, "%*s<numatune>\n%*s<memory mode='strict' nodeset='%s'/>\n", indent, "", indent + 2, "",
		      cpuset_format(arena, &layout->nodes));
	for (int i = 0; i < layout->cell_count; i++)
		(void)fprintf(out, "%*s<memnode cellid='%d' mode='strict' nodeset='%s'/>\n", indent + 2, "", i,
			      cpuset_format(arena, &layout->cells[i].host_nodes));
	(void)fprintf(out, "%*s</numatune>\n", indent, "");
}

void vm_write_topology(FILE *out, const struct vm_layout *layout, int indent)
{
	if (vm_layout_has_topology(layout))
		(void)fprintf(out, "%*s<topology sockets='%d' dies='%d' cores='%d' threads='%d'/>\n", indent, "",
			      layout->sockets, layout->dies, layout->cores, layout->threads);
}

void vm_write_cells(FILE *out, const struct vm_layout *layout, int indent)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	if (!layout->cell_count)
		return;
	(void)fprintf(out, "%*s<numa>\n", indent, "");
	for (int i = 0; i < layout->cell_count; i++) {
		const struct vm_layout_cell *cell = &layout->cells[i];

		(void)fprintf(out, "%*s<cell id='%d' cpus='%s' memory='%lld' unit='KiB'", indent + 2, "", i,
			      cpuset_format(arena, &cell->vcpus), (long long)cell->memory_kib);
		if (!layout->distances) {
			(void)fputs("/>\n", out);
			continue;
		}
		(void)fprintf(out, ">\n%*s<distances>\n", indent + 4, "");
		for (int j = 0; j < layout->cell_count; j++)
			(void)fprintf(out, "%*s<sibling id='%d' value='%d'/>\n", indent + 6, "", j,
				      layout->distances[i * layout->cell_count + j]);
		(void)fprintf(out, "%*s</distances>\n%*s</cell>\n", indent + 4, "", indent + 2, "");
	}
	(void)fprintf(out, "%*s</numa>\n", indent, "");
}

static void write_cputune(FILE *out, struct arena *arena, const struct vm_layout *layout)
{
	if (!layout->pins)
		return;
	(void)fputs("  <cputune>\n", out);
	for (int i = 0; i < layout->vcpus; i++)
		(void)fprintf(out, "    <vcpupin vcpu='%d' cpuset='%s'/>\n", i, cpuset_format(arena, &layout->pins[i]));
	if (!cpuset_empty(&layout->service))
		(void)fprintf(out, "    <emulatorpin cpuset='%s'/>\n", cpuset_format(arena, &layout->service));
	(void)fputs("  </cputune>\n", out);
}

/*
 * Cache leaves of the host tell how many threads share its L3. They are true for a guest only where each of its dies
 * has just as many; else QEMU's own L3, one for each die, has the right sharers, though not the host's size.
 */
static void write_cpu(FILE *out, const struct vm_layout *layout)
{
	(void)fputs("  <cpu mode='host-passthrough' check='none' migratable='on'>\n", out);
	vm_write_topology(out, layout, 4);
	if (layout->pins && vm_layout_has_topology(layout))
		(void)fputs(layout->dies_are_l3s ? "    <cache mode='passthrough'/>\n"
						 : "    <cache level='3' mode='emulate'/>\n",
			    out);
	if (layout->amd && layout->threads > 1 && vm_layout_has_topology(layout))
		(void)fputs("    <feature policy='require' name='topoext'/>\n", out);
	vm_write_cells(out, layout, 4);
	(void)fputs("  </cpu>\n", out);
}

void vm_write_domain(FILE *out, const struct vm_layout *layout)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	bool many = layout->vcpus > XAPIC_VCPUS;
	struct cpuset cpus = vm_layout_cpus(layout);

	(void)fprintf(out, "<domain type='kvm'>\n  <name>%s</name>\n", vm_write_xml(arena, layout->name));
	if (layout->memory_kib > 0)
		(void)fprintf(out, "  <memory unit='KiB'>%lld</memory>\n", (long long)layout->memory_kib);
	if (layout->page_kib > 4) {
		(void)fputs("  <memoryBacking>\n", out);
		vm_write_hugepages(out, layout, 4);
		(void)fputs("  </memoryBacking>\n", out);
	}
	(void)fprintf(out, "  <vcpu placement='static'>%d</vcpu>\n", layout->vcpus);
	if (!cpuset_empty(&cpus))
		write_cputune(out, arena, layout);
	vm_write_numatune(out, layout, 2);
	(void)fputs("  <os>\n    <type arch='x86_64' machine='q35'>hvm</type>\n  </os>\n"
		    "  <features>\n    <acpi/>\n    <apic/>\n",
		    out);
	if (many)
		(void)fputs("    <ioapic driver='qemu'/>\n", out);
	(void)fputs("  </features>\n", out);
	write_cpu(out, layout);
	(void)fputs("  <clock offset='utc'/>\n  <devices>\n", out);
	if (many)
		(void)fputs("    <iommu model='intel'>\n      <driver intremap='on' eim='on'/>\n    </iommu>\n", out);
	(void)fputs("  </devices>\n</domain>\n", out);
}
