/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the fields of a definition as texts, and texts as edits of it. */
#include "knob_vm_declared.h"

#include <errno.h>

#include "text.h"
#include "vm_xml.h"

enum { MOST_IOTHREADS = 1024, MOST_PAGES = 64 };

/* ---- texts ---- */

/* Commas part the pins, so a list's own become '+'. */
static const char *plus(struct arena *arena, const struct cpuset *set)
{
	char *text = arena_strdup(arena, cpuset_format(arena, set));

	for (char *at = text; *at; at++)
		*at = *at == ',' ? '+' : *at;
	return text;
}

static int parse_plus(struct arena *arena, const char *text, struct cpuset *ret, struct err *err)
{
	char *commas = arena_strdup(arena, text);

	for (char *at = commas; *at; at++)
		*at = *at == '+' ? ',' : *at;
	return cpuset_parse(commas, ret, err);
}

const char *knob_vm_format_pins(struct arena *arena, const struct cpuset *pins, int count)
{
	const char *text = NULL;

	for (int i = 0; i < count; i++)
		if (!cpuset_empty(&pins[i]))
			text = arena_printf(arena, "%s%s%d:%s", text ? text : "", text ? "," : "", i,
					    plus(arena, &pins[i]));
	return text ? text : "-";
}

int knob_vm_parse_pins(struct arena *arena, const char *text, int count, struct cpuset *ret, struct err *err)
{
	char *rest = arena_strdup(arena, text_equal(text, "-") ? "" : text);

	memset(ret, 0, (size_t)count * sizeof(*ret));
	for (char *word = strsep(&rest, ","); word && *word; word = strsep(&rest, ",")) {
		char *colon = strchr(word, ':');
		struct cpuset who, where;

		if (!colon)
			return err_set(err, EINVAL, text, "\"%s\" is no NUMBER:CPUS", word);
		*colon = '\0';
		if (parse_plus(arena, word, &who, NULL) < 0 || parse_plus(arena, colon + 1, &where, NULL) < 0 ||
		    cpuset_empty(&who) || cpuset_empty(&where))
			return err_set(err, EINVAL, text, "\"%s:%s\" is no NUMBER:CPUS", word, colon + 1);
		CPUSET_FOREACH (i, &who) {
			if (i >= count)
				return err_set(err, EINVAL, text, "there is no number %d: they are 0 to %d", i,
					       count - 1);
			ret[i] = where;
		}
	}
	return 0;
}

static const struct {
	const char *suffix;
	int64_t kib;
} page_units[] = {{"G", 1 << 20}, {"M", 1 << 10}, {"K", 1}};

static const char *page_text(struct arena *arena, int64_t kib)
{
	if (kib == 0)
		return "default";
	for (size_t i = 0; i < ARRAY_SIZE(page_units); i++)
		if (kib % page_units[i].kib == 0)
			return arena_printf(arena, "%lld%s", (long long)(kib / page_units[i].kib),
					    page_units[i].suffix);
	return "default";
}

int knob_vm_parse_page(const char *text, int64_t *ret_kib, struct err *err)
{
	int64_t bytes;

	if (text_equal(text, "default")) {
		*ret_kib = 0;
		return 0;
	}
	if (text_size(text, &bytes) < 0 || bytes < 4096 || bytes % 1024)
		return err_set(err, EINVAL, text, "is no size of a page: 4K, 2M, 1G or default");
	*ret_kib = bytes / 1024;
	return 0;
}

int knob_vm_parse_topology(const char *text, struct vm_xml_topology *ret, const char **ret_rest, struct err *err)
{
	struct vm_xml_topology topology = {.clusters = 1};
	int end = 0;

	/* NOLINTNEXTLINE(cert-err34-c): what is out of range is told by the product. */
	if (sscanf(text, "%5dx%5dx%5dx%5d%n", &topology.sockets, &topology.dies, &topology.cores, &topology.threads,
		   &end) != 4 ||
	    topology.sockets < 1 || topology.dies < 1 || topology.cores < 1 || topology.threads < 1)
		return err_set(err, EINVAL, text, "is no topology: SOCKETSxDIESxCORESxTHREADS, such as 1x2x4x2");
	*ret = topology;
	*ret_rest = text + end;
	return 0;
}

/* ---- fields ---- */

struct edits {
	struct arena *arena;
	struct vm_xml_edit *list;
	int count;
};

static void add(struct edits *edits, struct vm_xml_edit edit)
{
	edits->list[edits->count++] = edit;
}

static const char *pins_text(struct arena *arena, const struct vm *vm)
{
	struct cpuset *pins = ARENA_ARRAY(arena, (size_t)vm->vcpu_max + 1, struct cpuset);

	for (int i = 0; i < vm->vcpu_max; i++)
		if (vm->vcpus[i].pin.given)
			pins[i] = vm->vcpus[i].pin.set;
	return knob_vm_format_pins(arena, pins, vm->vcpu_max);
}

static int edit_pins(struct edits *edits, const struct vm *vm, const char *text, struct err *err)
{
	struct cpuset *pins = ARENA_ARRAY(edits->arena, (size_t)vm->vcpu_max + 1, struct cpuset);
	int r = knob_vm_parse_pins(edits->arena, text, vm->vcpu_max, pins, err);

	for (int i = 0; i < vm->vcpu_max && r == 0; i++)
		if (vm->vcpus[i].pin.given || !cpuset_empty(&pins[i]))
			add(edits,
			    (struct vm_xml_edit){
				.kind = VM_XML_VCPU_PIN, .index = i, .set = pins[i], .remove = cpuset_empty(&pins[i])});
	return r;
}

static const char *emulator_text(struct arena *arena, const struct vm *vm)
{
	return vm->emulator.given ? cpuset_format(arena, &vm->emulator.set) : "-";
}

static int edit_emulator(struct edits *edits, const struct vm *vm, const char *text, struct err *err)
{
	struct vm_xml_edit edit = {.kind = VM_XML_EMULATOR_PIN, .remove = text_equal(text, "-")};

	(void)vm;
	if (!edit.remove && cpuset_parse(text, &edit.set, err) < 0)
		return -EINVAL;
	add(edits, edit);
	return 0;
}

/* The largest number of an I/O thread, and one more. */
static int iothread_numbers(const struct vm *vm)
{
	int most = 0;

	for (int i = 0; i < vm->iothread_count; i++)
		if (vm->iothreads[i].id < MOST_IOTHREADS)
			most = MAX_OF(most, (int)vm->iothreads[i].id + 1);
	return most;
}

static const char *iothreads_text(struct arena *arena, const struct vm *vm)
{
	int count = iothread_numbers(vm);
	struct cpuset *pins = ARENA_ARRAY(arena, (size_t)count + 1, struct cpuset);

	for (int i = 0; i < vm->iothread_count; i++)
		if (vm->iothreads[i].pin.given && vm->iothreads[i].id >= 0 && vm->iothreads[i].id < count)
			pins[vm->iothreads[i].id] = vm->iothreads[i].pin.set;
	return knob_vm_format_pins(arena, pins, count);
}

static int edit_iothreads(struct edits *edits, const struct vm *vm, const char *text, struct err *err)
{
	int count = iothread_numbers(vm);
	struct cpuset *pins = ARENA_ARRAY(edits->arena, (size_t)count + 1, struct cpuset);
	int r = knob_vm_parse_pins(edits->arena, text, count, pins, err);

	for (int i = 0; i < vm->iothread_count && r == 0; i++) {
		const struct vm_iothread *thread = &vm->iothreads[i];
		const struct cpuset *pin = thread->id >= 0 && thread->id < count ? &pins[thread->id] : NULL;

		if (pin && (thread->pin.given || !cpuset_empty(pin)))
			add(edits, (struct vm_xml_edit){.kind = VM_XML_IOTHREAD_PIN,
							.index = thread->id,
							.set = *pin,
							.remove = cpuset_empty(pin)});
	}
	return r;
}

static const char *memory_text(struct arena *arena, const struct vm *vm)
{
	if (vm->numa_auto)
		return "auto";
	return vm->numa_nodes.given ? arena_printf(arena, "%s %s", vm->numa_mode ? vm->numa_mode : "strict",
						   cpuset_format(arena, &vm->numa_nodes.set))
				    : "-";
}

static int edit_memory(struct edits *edits, const struct vm *vm, const char *text, struct err *err)
{
	struct vm_xml_edit edit = {.kind = VM_XML_NUMA_MEMORY, .remove = text_equal(text, "-")};
	const char *blank = strchr(text, ' ');

	(void)vm;
	if (!edit.remove && (!blank || cpuset_parse(blank + 1, &edit.set, err) < 0))
		return err_set(err, EINVAL, text, "is no MODE NODES");
	edit.word = edit.remove ? NULL : arena_strndup(edits->arena, text, (size_t)(blank - text));
	add(edits, edit);
	return 0;
}

static const char *pages_text(struct arena *arena, const struct vm *vm)
{
	const char *text = NULL;

	for (int i = 0; vm->hugepages && i < vm->page_count; i++) {
		const struct vm_pages *page = &vm->pages[i];

		text = arena_printf(arena, "%s%s%s%s%s", text ? text : "", text ? "," : "",
				    page_text(arena, page->size_kib), page->cells.given ? "@" : "",
				    page->cells.given ? plus(arena, &page->cells.set) : "");
	}
	return text ? text : "-";
}

static int edit_pages(struct edits *edits, const struct vm *vm, const char *text, struct err *err)
{
	struct vm_pages *pages = ARENA_ARRAY(edits->arena, MOST_PAGES, struct vm_pages);
	char *rest = arena_strdup(edits->arena, text_equal(text, "-") ? "" : text);
	struct vm_xml_edit edit = {.kind = VM_XML_HUGEPAGES, .pages = pages};

	(void)vm;
	for (char *word = strsep(&rest, ","); word && *word && edit.count < MOST_PAGES; word = strsep(&rest, ",")) {
		struct vm_pages *page = &pages[edit.count++];
		char *at = strchr(word, '@');

		if (at)
			*at = '\0';
		page->cells.given = at != NULL;
		if (knob_vm_parse_page(word, &page->size_kib, err) < 0 ||
		    (at && parse_plus(edits->arena, at + 1, &page->cells.set, err) < 0))
			return -EINVAL;
	}
	edit.remove = edit.count == 0;
	if (edit.count == 1 && pages[0].size_kib == 0)
		edit.count = 0;
	add(edits, edit);
	return 0;
}

static const char *topology_text(struct arena *arena, const struct vm *vm)
{
	int topoext = vm_feature(vm->cpu.features, vm->cpu.feature_count, "topoext");
	const struct vm_cpu *cpu = &vm->cpu;

	return arena_printf(arena, "%s%s",
			    cpu->topology_given
				? arena_printf(arena, "%dx%dx%dx%d", cpu->sockets, cpu->dies, cpu->cores, cpu->threads)
				: "-",
			    topoext > 0	   ? "+topoext"
			    : topoext == 0 ? "-topoext"
					   : "");
}

static int edit_topology(struct edits *edits, const struct vm *vm, const char *text, struct err *err)
{
	struct vm_xml_edit edit = {.kind = VM_XML_TOPOLOGY, .remove = text[0] == '-'};
	struct vm_xml_edit feature = {.kind = VM_XML_CPU_FEATURE, .name = "topoext"};
	const char *rest = text + 1;
	int r = edit.remove ? 0 : knob_vm_parse_topology(text, &edit.topology, &rest, err);
	int now = vm_feature(vm->cpu.features, vm->cpu.feature_count, "topoext");

	if (r < 0)
		return r;
	feature.remove = !*rest;
	feature.word = text_equal(rest, "+topoext") ? "require" : "disable";
	if (!edit.remove || vm->cpu.topology_given)
		add(edits, edit);
	if (!feature.remove || now >= 0)
		add(edits, feature);
	return 0;
}

/* Each with its text, and what makes it say that; one that has several has them by `which`. */
static const struct {
	const char *word;
	const char *(*text)(struct arena *arena, const struct vm *vm);
	int (*edit)(struct edits *edits, const struct vm *vm, const char *text, struct err *err);
} fields[] = {
    {"pins", pins_text, edit_pins},
    {"emulator", emulator_text, edit_emulator},
    {"iothreads", iothreads_text, edit_iothreads},
    {"memory", memory_text, edit_memory},
    {"pages", pages_text, edit_pages},
    {"topology", topology_text, edit_topology},
};

static int find_nic(const struct vm *vm, const char *mac, int *ret, struct err *err)
{
	for (int i = 0; mac && i < vm->nic_count; i++)
		if (text_equal(vm->nics[i].mac, mac)) {
			*ret = i;
			return 0;
		}
	return err_set(err, ENOENT, mac, "there is no such NIC");
}

int knob_vm_declared_text(struct arena *arena, const struct vm *vm, const char *field, const char *which,
			  const char **ret, struct err *err)
{
	int nic = -1, r;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (text_equal(fields[i].word, field)) {
			*ret = fields[i].text(arena, vm);
			return 0;
		}
	r = find_nic(vm, which, &nic, err);
	if (r == 0)
		*ret = arena_printf(arena, "%d", MAX_OF(vm->nics[nic].queues, 1));
	return r;
}

static int edits_of(struct edits *edits, const struct vm *vm, const char *field, const char *which, const char *text,
		    struct err *err)
{
	struct vm_xml_edit edit = {.kind = VM_XML_NIC_QUEUES};
	int64_t number = 0;
	int nic = -1, r;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (text_equal(fields[i].word, field))
			return fields[i].edit(edits, vm, text, err);
	r = find_nic(vm, which, &nic, err);
	if (r < 0)
		return r;
	if (text_int(text, 10, &number) < 0 || number < 1 || number > INT16_MAX)
		return err_set(err, EINVAL, text, "is no number of queues");
	edit.index = nic;
	/* One is what a NIC has that says nothing, and libvirt leaves it out of its definitions. */
	edit.count = number > 1 ? (int)number : 0;
	add(edits, edit);
	return 0;
}

/* ---- the actuator ---- */

struct field {
	const char *uuid, *word, *which; /* which: NULL when there is only one */
};

static int read_definition(struct knob_machine *machine, const char *where, enum knob_libvirt_xml which,
			   struct field *field, const char **ret_xml, struct vm **ret, struct err *err)
{
	char *rest = arena_strdup(machine->arena, where);
	int r;

	field->uuid = strsep(&rest, " ");
	field->word = strsep(&rest, " ");
	field->which = rest;
	if (!field->word)
		return err_set(err, EINVAL, where, "names no setting of a VM");
	r = knob_libvirt_xml(machine, field->uuid, which, ret_xml, err);
	return r < 0 ? r : vm_read_libvirt_xml(field->uuid, *ret_xml, strlen(*ret_xml), ret, err);
}

static int get_declared(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	struct field field = {0};
	const char *xml;
	int r = read_definition(machine, where, KNOB_LIBVIRT_DECLARED, &field, &xml, &vm, err);

	return r < 0 ? r : knob_vm_declared_text(machine->arena, vm, field.word, field.which, ret, err);
}

static int set_declared(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	struct edits edits = {.arena = machine->arena};
	struct field field = {0};
	const char *xml = NULL, *changed = NULL;
	size_t size;
	int r = text ? read_definition(machine, where, KNOB_LIBVIRT_WHOLE, &field, &xml, &vm, err)
		     : err_set(err, EINVAL, where, "a VM is not taken away");

	if (r < 0 || !vm)
		return r;
	edits.list =
	    ARENA_ARRAY(machine->arena, (size_t)vm->vcpu_max + (size_t)vm->iothread_count + 4, struct vm_xml_edit);
	r = edits_of(&edits, vm, field.word, field.which, text, err);
	if (r == 0)
		r = vm_xml_edit(machine->arena, where, xml, strlen(xml), edits.list, edits.count, &changed, &size, err);
	return r < 0 ? r : knob_libvirt_define(machine, field.uuid, changed, err);
}

const struct knob_actuator knob_vm_declared = {.name = "declared", .get = get_declared, .set = set_declared};
