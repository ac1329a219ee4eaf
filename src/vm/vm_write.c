/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what follows from a layout, and what the writers share. */
#include "vm_write_internal.h"

#include "text.h"

bool vm_layout_has_topology(const struct vm_layout *layout)
{
	return layout->sockets > 0 && layout->sockets * layout->dies * layout->cores * layout->threads == layout->vcpus;
}

struct cpuset vm_layout_cpus(const struct vm_layout *layout)
{
	struct cpuset all = {0};

	for (int i = 0; layout->pins && i < layout->vcpus; i++)
		all = cpuset_or(&all, &layout->pins[i]);
	return all;
}

static bool same_topology(const struct vm_layout *layout, const struct vm_cpu *cpu)
{
	return cpu->topology_given && cpu->sockets == layout->sockets && cpu->dies == layout->dies &&
	       cpu->clusters == 1 && cpu->cores == layout->cores && cpu->threads == layout->threads;
}

bool vm_layout_changes_topology(const struct vm_layout *layout, const struct vm *vm)
{
	bool flat = layout->sockets == 1 && layout->dies == 1 && layout->threads == 1;

	if (!vm_layout_has_topology(layout) || (vm && same_topology(layout, &vm->cpu)))
		return false;
	/* Cores or sockets: without threads and dies that is a matter of licences, not of placement. */
	return !(vm && flat && vm->cpu.topology_given && vm->cpu.threads == 1 && vm->cpu.dies == 1);
}

static bool same_pages(const struct vm_layout *layout, const struct vm *vm)
{
	if (layout->page_kib <= 4)
		return !vm->hugepages;
	/* Without a size it is the host's default one, which the layout was made of. */
	return vm->hugepages &&
	       (vm->page_count == 0 || vm->pages[0].size_kib == 0 || vm->pages[0].size_kib == layout->page_kib);
}

static bool same_cells(const struct vm_layout *layout, const struct vm *vm)
{
	if (vm->cell_count != layout->cell_count)
		return layout->cell_count == 0;
	for (int i = 0; i < layout->cell_count; i++)
		if (vm->cells[i].memory_kib != layout->cells[i].memory_kib ||
		    (vm->cells[i].cpus.given && !cpuset_equal(&vm->cells[i].cpus.set, &layout->cells[i].vcpus)))
			return false;
	return true;
}

static bool same_nodes(const struct vm_layout *layout, const struct vm *vm)
{
	struct cpuset declared = vm->numa_nodes.set;

	for (int i = 0; i < vm->memnode_count; i++)
		declared = i == 0 ? vm->memnodes[i].nodes.set : cpuset_or(&declared, &vm->memnodes[i].nodes.set);
	return cpuset_equal(&declared, &layout->nodes);
}

const char *vm_layout_restart(struct arena *arena, const struct vm_layout *layout, const struct vm *vm)
{
	const struct {
		bool differs;
		const char *word;
	} parts[] = {
	    {vm_layout_changes_topology(layout, vm), "topology"},
	    {layout->page_kib && !(vm && same_pages(layout, vm)), "pages"},
	    {layout->cell_count && !(vm && same_cells(layout, vm)), "NUMA cells"},
	    {!cpuset_empty(&layout->nodes) && !(vm && same_nodes(layout, vm)), "memory nodes"},
	};
	const char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].differs)
			text = text ? arena_printf(arena, "%s, %s", text, parts[i].word) : parts[i].word;
	return text;
}

/* What must not reach a terminal raw, as $'...' of bash, zsh and POSIX of 2024 writes it. */
static const char *escaped_for_shell(struct arena *arena, const char *text)
{
	char *escaped = arena_alloc(arena, strlen("$''") + 4 * strlen(text) + 1), *end = stpcpy(escaped, "$'");

	while (*text) {
		bool visible;
		size_t length = text_character(text, &visible);

		if (visible && (*text == '\'' || *text == '\\'))
			*end++ = '\\';
		for (size_t i = 0; i < length; i++)
			end += visible ? sprintf(end, "%c", text[i]) : sprintf(end, "\\%03o", (unsigned char)text[i]);
		text += length;
	}
	(void)stpcpy(end, "'");
	return escaped;
}

const char *vm_write_shell(struct arena *arena, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,/:=@%+";
	const char *quoted = "'";

	if (*text && *text != '-' && strspn(text, plain) == strlen(text))
		return text;
	if (!text_equal(text_visible(arena, text), text))
		return escaped_for_shell(arena, text);
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "'");

		quoted = arena_printf(arena, "%s%.*s%s", quoted, (int)length, at, at[length] ? "'\\''" : "");
		at += length + (at[length] == '\'');
	}
	return arena_printf(arena, "%s'", quoted);
}

const char *vm_write_xml(struct arena *arena, const char *text)
{
	static const struct {
		char letter;
		const char *entity;
	} entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'\'', "&apos;"}, {'"', "&quot;"}};
	char *escaped = arena_alloc(arena, strlen(text) * strlen("&quot;") + 1), *end = escaped;

	for (const char *at = text_visible(arena, text); *at; at++) {
		const char *entity = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(entities); i++)
			if (*at == entities[i].letter)
				entity = entities[i].entity;
		if (entity)
			end = stpcpy(end, entity);
		else
			*end++ = *at;
	}
	*end = '\0';
	return escaped;
}

const char *vm_write_size(struct arena *arena, int64_t kib)
{
	const char *unit = kib % 1048576 == 0 ? "G" : kib % 1024 == 0 ? "M" : "K";

	return arena_printf(arena, "%lld%s",
			    (long long)(*unit == 'G'   ? kib / 1048576
					: *unit == 'M' ? kib / 1024
						       : kib),
			    unit);
}

void vm_write_pin_by_name(FILE *out, const struct vm_layout *layout, const char *indent)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)fprintf(out,
		      "%spin() { for t in /proc/$pid/task/*; do\n"
		      "%s\t[ \"$(cat \"$t/comm\")\" = \"CPU $1/KVM\" ] && taskset -cp \"$2\" \"${t##*/}\"\n"
		      "%sdone; }\n",
		      indent, indent, indent);
	if (!cpuset_empty(&layout->service))
		(void)fprintf(out, "%staskset -acp %s \"$pid\"\n", indent, cpuset_format(arena, &layout->service));
	for (int i = 0; layout->pins && i < layout->vcpus; i++)
		(void)fprintf(out, "%spin %d %s\n", indent, i, cpuset_format(arena, &layout->pins[i]));
}
