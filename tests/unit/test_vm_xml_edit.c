/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of changing domain XML: what an edit makes of a text byte for byte, and for every domain of the shared
 * cases that nothing else changes.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "text.h"
#include "unit.h"
#include "vm_text.h"
#include "vm_xml.h"
#include "vm_xml_edit.h"

/* CPU 5; CPUs 0 and 1 */
#define FIVE                                                                                                           \
	{                                                                                                              \
		{                                                                                                      \
			1UL << 5                                                                                       \
		}                                                                                                      \
	}
#define PAIR                                                                                                           \
	{                                                                                                              \
		{                                                                                                      \
			0x3                                                                                            \
		}                                                                                                      \
	}

static const char *edited(struct arena *arena, const char *text, const struct vm_xml_edit *edits, int count)
{
	const char *result = NULL;
	size_t size = 0;
	struct err err = {0};

	if (vm_xml_edit(arena, "e.xml", text, strlen(text), edits, count, &result, &size, &err) < 0)
		fail_msg("%s: %u: %s", text, err.line, err.what);
	assert_int_equal(strlen(result), size);
	return result;
}

struct edit_case {
	const char *before, *after; /* after NULL: the same bytes */
	struct vm_xml_edit edit;
};

static void check(const struct edit_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		const char *wanted = cases[i].after ? cases[i].after : cases[i].before;
		const char *once = edited(arena, cases[i].before, &cases[i].edit, 1);

		assert_string_equal(once, wanted);
		/* What has been done once is not done again. */
		assert_string_equal(edited(arena, once, &cases[i].edit, 1), wanted);
	}
}

static void test_pins(void **state)
{
	static const struct edit_case cases[] = {
	    /* The value alone changes; quotes, blanks and comments stay. */
	    {"<domain>\n  <vcpu>4</vcpu>\n  <cputune>\n    <vcpupin  vcpu=\"3\"\n\tcpuset=\"1\" /> <!-- hot -->\n  "
	     "</cputune>\n"
	     "</domain>\n",
	     "<domain>\n  <vcpu>4</vcpu>\n  <cputune>\n    <vcpupin  vcpu=\"3\"\n\tcpuset=\"5\" /> <!-- hot -->\n  "
	     "</cputune>\n"
	     "</domain>\n",
	     {.kind = VM_XML_VCPU_PIN, .index = 3, .set = FIVE}},
	    /* Between its neighbours, with the quotes of the file; a comment keeps its line. */
	    {"<domain type=\"kvm\">\n\t<vcpu>4</vcpu>\n\t<cputune>\n\t\t<vcpupin vcpu=\"0\" cpuset=\"1\"/> <!-- a -->\n"
	     "\t\t<vcpupin vcpu=\"3\" cpuset=\"4\"/>\n\t</cputune>\n</domain>",
	     "<domain type=\"kvm\">\n\t<vcpu>4</vcpu>\n\t<cputune>\n\t\t<vcpupin vcpu=\"0\" cpuset=\"1\"/> <!-- a -->\n"
	     "\t\t<vcpupin vcpu=\"2\" cpuset=\"5\"/>\n\t\t<vcpupin vcpu=\"3\" cpuset=\"4\"/>\n\t</cputune>\n</domain>",
	     {.kind = VM_XML_VCPU_PIN, .index = 2, .set = FIVE}},
	    /* A <cputune> is made where libvirt writes it. */
	    {"<domain>\n  <name>a</name>\n  <vcpu>1</vcpu>\n  <os/>\n</domain>\n",
	     "<domain>\n  <name>a</name>\n  <vcpu>1</vcpu>\n  <cputune>\n    <vcpupin vcpu='0' cpuset='5'/>\n  "
	     "</cputune>\n"
	     "  <os/>\n</domain>\n",
	     {.kind = VM_XML_VCPU_PIN, .index = 0, .set = FIVE}},
	    /* Line ends of Windows; an empty element is opened. */
	    {"<domain>\r\n <cputune/>\r\n</domain>\r\n",
	     "<domain>\r\n <cputune>\r\n  <emulatorpin cpuset='0-1'/>\r\n </cputune>\r\n</domain>\r\n",
	     {.kind = VM_XML_EMULATOR_PIN, .set = PAIR}},
	    /* All on one line. */
	    {"<domain><vcpu>2</vcpu><os/></domain>",
	     "<domain><vcpu>2</vcpu><cputune><vcpupin vcpu='1' cpuset='5'/></cputune><os/></domain>",
	     {.kind = VM_XML_VCPU_PIN, .index = 1, .set = FIVE}},
	    {"<domain/>",
	     "<domain>\n  <cputune>\n    <emulatorpin cpuset='5'/>\n  </cputune>\n</domain>",
	     {.kind = VM_XML_EMULATOR_PIN, .set = FIVE}},
	    {"<domain>\n  <cputune>\n    <!-- <vcpupin vcpu='0' cpuset='9'/> -->\n  </cputune>\n</domain>",
	     "<domain>\n  <cputune>\n    <emulatorpin cpuset='5'/>\n    <!-- <vcpupin vcpu='0' cpuset='9'/> -->\n  "
	     "</cputune>\n"
	     "</domain>",
	     {.kind = VM_XML_EMULATOR_PIN, .set = FIVE}},
	    /* The same set in other words is left alone. */
	    {"<domain><vcpu cpuset='0,1'>2</vcpu></domain>", NULL, {.kind = VM_XML_VCPU_CPUSET, .set = PAIR}},
	    {"<domain><vcpu placement='auto' cpuset='0,1'>2</vcpu></domain>",
	     "<domain><vcpu placement='static' cpuset='0,1'>2</vcpu></domain>",
	     {.kind = VM_XML_VCPU_CPUSET, .set = PAIR}},
	    {"<domain><vcpu cpuset='7' current='1'>2</vcpu></domain>",
	     "<domain><vcpu current='1'>2</vcpu></domain>",
	     {.kind = VM_XML_VCPU_CPUSET, .remove = true}},
	    {"<domain>\n  <name>a</name>\n</domain>\n",
	     "<domain>\n  <name>a</name>\n  <vcpu cpuset='5'>1</vcpu>\n</domain>\n",
	     {.kind = VM_XML_VCPU_CPUSET, .set = FIVE}},
	    {"<domain>\n  <cputune>\n    <vcpupin vcpu='0' cpuset='1'/>\n    <emulatorpin cpuset='2'/>\n  "
	     "</cputune>\n</domain>",
	     "<domain>\n  <cputune>\n    <emulatorpin cpuset='2'/>\n  </cputune>\n</domain>",
	     {.kind = VM_XML_VCPU_PIN, .index = 0, .remove = true}},
	    {"<domain><cputune><emulatorpin cpuset='2'/></cputune></domain>",
	     "<domain><cputune></cputune></domain>",
	     {.kind = VM_XML_EMULATOR_PIN, .remove = true}},
	    {"<domain>\n <iothreads>1</iothreads>\n <cputune>\n  <shares>9</shares>\n  <emulatorsched scheduler='rr' "
	     "priority='1'/>\n"
	     " </cputune>\n</domain>",
	     "<domain>\n <iothreads>1</iothreads>\n <cputune>\n  <shares>9</shares>\n  <iothreadpin iothread='1' "
	     "cpuset='5'/>\n"
	     "  <emulatorsched scheduler='rr' priority='1'/>\n </cputune>\n</domain>",
	     {.kind = VM_XML_IOTHREAD_PIN, .index = 1, .set = FIVE}},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void test_memory(void **state)
{
	static const struct vm_pages big[] = {{.size_kib = 1 << 20, .cells = {.given = true, .set = {{0x3}}}},
					      {.size_kib = 2048}};
	static const struct edit_case cases[] = {
	    {"<domain>\n  <vcpu>1</vcpu>\n  <numatune>\n    <memory mode='strict' placement='auto'/>\n  "
	     "</numatune>\n</domain>",
	     "<domain>\n  <vcpu>1</vcpu>\n  <numatune>\n    <memory mode='strict' placement='static' nodeset='0-1'/>\n"
	     "  </numatune>\n</domain>",
	     {.kind = VM_XML_NUMA_MEMORY, .word = "strict", .set = PAIR}},
	    {"<domain>\n  <vcpu>1</vcpu>\n</domain>",
	     "<domain>\n  <vcpu>1</vcpu>\n  <numatune>\n    <memory mode='preferred' nodeset='0-1'/>\n  "
	     "</numatune>\n</domain>",
	     {.kind = VM_XML_NUMA_MEMORY, .word = "preferred", .set = PAIR}},
	    {"<domain>\n <numatune>\n  <memory mode='strict' nodeset='0'/>\n  <memnode cellid='1' mode='strict' "
	     "nodeset='1'/>\n"
	     " </numatune>\n</domain>",
	     "<domain>\n <numatune>\n  <memory mode='strict' nodeset='0'/>\n  <memnode cellid='0' mode='strict' "
	     "nodeset='5'/>\n"
	     "  <memnode cellid='1' mode='strict' nodeset='1'/>\n </numatune>\n</domain>",
	     {.kind = VM_XML_MEMNODE, .index = 0, .word = "strict", .set = FIVE}},
	    {"<domain>\n  <memory>1</memory>\n  <memoryBacking>\n    <locked/>\n  </memoryBacking>\n</domain>",
	     "<domain>\n  <memory>1</memory>\n  <memoryBacking>\n    <hugepages/>\n    <locked/>\n  "
	     "</memoryBacking>\n</domain>",
	     {.kind = VM_XML_HUGEPAGES}},
	    {"<domain>\n  <memory>1</memory>\n  <memoryBacking>\n    <hugepages>\n      <page size='1' unit='M'/>\n"
	     "    </hugepages>\n  </memoryBacking>\n</domain>",
	     "<domain>\n  <memory>1</memory>\n  <memoryBacking>\n    <hugepages>\n"
	     "      <page size='1048576' unit='KiB' nodeset='0-1'/>\n      <page size='2048' unit='KiB'/>\n"
	     "    </hugepages>\n  </memoryBacking>\n</domain>",
	     {.kind = VM_XML_HUGEPAGES, .pages = big, .count = 2}},
	    {"<domain><memoryBacking><hugepages><page size='2' unit='M'/></hugepages></memoryBacking></domain>",
	     NULL,
	     {.kind = VM_XML_HUGEPAGES, .pages = big + 1, .count = 1}},
	    {"<domain><memoryBacking><hugepages/><locked/></memoryBacking></domain>",
	     "<domain><memoryBacking><locked/></memoryBacking></domain>",
	     {.kind = VM_XML_HUGEPAGES, .remove = true}},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void test_cpu(void **state)
{
	static const int near[] = {10, 32}, far[] = {32, 10};
	static const struct vm_cell cells[] = {
	    {.id = 0, .cpus = {.given = true, .set = {{0x3}}}, .memory_kib = 1024, .distances = near},
	    {.id = 1, .cpus = {.given = true, .set = {{0xc}}}, .memory_kib = 2048, .distances = far},
	};
	static const struct edit_case cases[] = {
	    /* dies and clusters only where they say something: older libvirt does not know them */
	    {"<domain>\n  <cpu mode='host-passthrough'>\n    <feature name='x'/>\n  </cpu>\n</domain>",
	     "<domain>\n  <cpu mode='host-passthrough'>\n    <topology sockets='1' cores='4' threads='2'/>\n"
	     "    <feature name='x'/>\n  </cpu>\n</domain>",
	     {.kind = VM_XML_TOPOLOGY, .topology = {1, 1, 1, 4, 2}}},
	    {"<domain><cpu><topology sockets='1' dies='2' cores='4' threads='1'/></cpu></domain>",
	     "<domain><cpu><topology sockets='2' dies='1' cores='4' threads='1'/></cpu></domain>",
	     {.kind = VM_XML_TOPOLOGY, .topology = {2, 1, 1, 4, 1}}},
	    {"<domain>\n <cpu mode='host-passthrough'/>\n</domain>",
	     "<domain>\n <cpu mode='host-passthrough'>\n  <feature policy='require' name='topoext'/>\n "
	     "</cpu>\n</domain>",
	     {.kind = VM_XML_CPU_FEATURE, .name = "topoext", .word = "require"}},
	    {"<domain><cpu><feature policy='disable' name='topoext'/></cpu></domain>",
	     "<domain><cpu><feature policy='require' name='topoext'/></cpu></domain>",
	     {.kind = VM_XML_CPU_FEATURE, .name = "topoext", .word = "require"}},
	    {"<domain><cpu><cache level='3' mode='emulate'/></cpu></domain>",
	     "<domain><cpu><cache mode='passthrough'/></cpu></domain>",
	     {.kind = VM_XML_CPU_CACHE, .word = "passthrough"}},
	    {"<domain><cpu mode='host-model'/></domain>",
	     "<domain><cpu mode='host-passthrough'/></domain>",
	     {.kind = VM_XML_CPU_MODE, .word = "host-passthrough"}},
	    {"<domain>\n  <cpu>\n    <numa>\n      <cell id='0' cpus='0' memory='1' unit='MiB' discard='yes'/>\n    "
	     "</numa>\n"
	     "  </cpu>\n</domain>",
	     "<domain>\n  <cpu>\n    <numa>\n      <cell id='0' cpus='0-1' memory='1' unit='MiB' discard='yes'>\n"
	     "        <distances>\n          <sibling id='0' value='10'/>\n          <sibling id='1' value='32'/>\n"
	     "        </distances>\n      </cell>\n      <cell id='1' cpus='2-3' memory='2048' unit='KiB'>\n"
	     "        <distances>\n          <sibling id='0' value='32'/>\n          <sibling id='1' value='10'/>\n"
	     "        </distances>\n      </cell>\n    </numa>\n  </cpu>\n</domain>",
	     {.kind = VM_XML_CELLS, .cells = cells, .count = 2}},
	    {"<domain><cpu><numa><cell id='0' cpus='0'/></numa><topology sockets='1' cores='1' "
	     "threads='1'/></cpu></domain>",
	     "<domain><cpu><topology sockets='1' cores='1' threads='1'/></cpu></domain>",
	     {.kind = VM_XML_CELLS, .remove = true}},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void test_devices(void **state)
{
	static const struct edit_case cases[] = {
	    {"<domain>\n <devices>\n  <interface type='bridge'>\n   <model type='virtio'/>\n   <boot order='1'/>\n  "
	     "</interface>\n"
	     " </devices>\n</domain>",
	     "<domain>\n <devices>\n  <interface type='bridge'>\n   <model type='virtio'/>\n   <driver queues='4'/>\n"
	     "   <boot order='1'/>\n  </interface>\n </devices>\n</domain>",
	     {.kind = VM_XML_NIC_QUEUES, .index = 0, .count = 4}},
	    {"<domain><devices><interface type='a'/><disk/><interface type='b'><driver name='vhost' "
	     "queues='8'/></interface>"
	     "</devices></domain>",
	     "<domain><devices><interface type='a'/><disk/><interface type='b'><driver name='vhost'/></interface>"
	     "</devices></domain>",
	     {.kind = VM_XML_NIC_QUEUES, .index = 1, .count = 0}},
	    {"<domain><devices><disk><driver name='qemu'/></disk></devices></domain>",
	     "<domain><devices><disk><driver name='qemu' iothread='2'/></disk></devices></domain>",
	     {.kind = VM_XML_DISK_IOTHREAD, .index = 0, .count = 2}},
	    {"<domain>\n  <vcpu>1</vcpu>\n</domain>",
	     "<domain>\n  <vcpu>1</vcpu>\n  <iothreads>2</iothreads>\n</domain>",
	     {.kind = VM_XML_IOTHREADS, .count = 2}},
	    {"<domain><iothreads>1</iothreads></domain>",
	     "<domain><iothreads>3</iothreads></domain>",
	     {.kind = VM_XML_IOTHREADS, .count = 3}},
	    {"<domain>\n  <iothreads>1</iothreads>\n</domain>", "<domain>\n</domain>", {.kind = VM_XML_IOTHREADS}},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		struct vm_xml_edit edit;
		int status;
	} cases[] = {
	    {"<domain>", {.kind = VM_XML_EMULATOR_PIN}, -EINVAL},
	    {"<network/>", {.kind = VM_XML_EMULATOR_PIN}, -EINVAL},
	    {"<domainsnapshot><domain/></domainsnapshot>", {.kind = VM_XML_EMULATOR_PIN, .set = FIVE}, -EOPNOTSUPP},
	    {"<domain><devices/></domain>", {.kind = VM_XML_NIC_QUEUES, .index = 2, .count = 1}, -EINVAL},
	    {"<domain><vcpu>2</vcpu></domain>", {.kind = VM_XML_VCPU_PIN, .index = 2, .set = FIVE}, -EINVAL},
	    {"<domain><cputune><vcpupin vcpu='0' cpuset='1'/><vcpupin vcpu='0' cpuset='2'/></cputune></domain>",
	     {.kind = VM_XML_VCPU_PIN, .index = 0, .remove = true},
	     -EINVAL},
	    {"<domain><iothreadids><iothread id='1'/><iothread id='2'/></iothreadids></domain>",
	     {.kind = VM_XML_IOTHREADS, .count = 1},
	     -EINVAL},
	};
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *result = NULL;
		size_t size = 0;
		int status = vm_xml_edit(arena, "e.xml", cases[i].text, strlen(cases[i].text), &cases[i].edit, 1,
					 &result, &size, NULL);

		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].text, status);
		assert_null(result);
	}
	(void)arena_free(arena);
}

/* ---- every domain of the shared cases ---- */

/* Lines of `text` without those that contain a word that the edit writes, as one text. */
static char *other_lines(struct arena *arena, const char *text)
{
	static const char *const words[] = {"<vcpupin ", "<cputune", "</cputune>", "<cputune/>"};
	char *kept = arena_alloc(arena, strlen(text) + 1), *at = kept;

	while (*text) {
		size_t length = strcspn(text, "\n") + 1;
		bool touched = false;

		length = MIN_OF(length, strlen(text));
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			touched |= memmem(text, length, words[i], strlen(words[i])) != NULL;
		if (!touched)
			at = mempcpy(at, text, length);
		text += length;
	}
	return kept;
}

/* The lines of two VMs, but for those about pins, are the same. */
static void assert_same_vm(const char *name, const struct vm *one, const struct vm *other)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct vm_text a = vm_text(arena, one), b = vm_text(arena, other);
	int i = 0, j = 0;

	for (;;) {
		while (i < a.count && text_starts(a.lines[i], "vcpu "))
			i++;
		while (j < b.count && text_starts(b.lines[j], "vcpu "))
			j++;
		if (i == a.count || j == b.count)
			break;
		if (strcmp(a.lines[i], b.lines[j]) != 0)
			fail_msg("%s: \"%s\" became \"%s\"", name, a.lines[i], b.lines[j]);
		i++, j++;
	}
	assert_true(i == a.count && j == b.count);
}

static void round_trip(const char *name, const char *text, size_t size, int *ret_count)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *vm = NULL, *again = NULL;
	const char *result = NULL;
	size_t result_size = 0;

	if (vm_read_libvirt_xml(name, text, size, &vm, NULL) < 0)
		return; /* networks, fragments, differences */
	(*ret_count)++;
	assert_int_equal(vm_xml_edit(arena, name, text, size, NULL, 0, &result, &result_size, NULL), 0);
	assert_int_equal(size, result_size);
	assert_memory_equal(text, result, size);

	/* Every vCPU somewhere else. */
	struct vm_xml_edit *edits = ARENA_ARRAY(arena, (size_t)vm->vcpu_max, struct vm_xml_edit);

	for (int id = 0; id < vm->vcpu_max; id++) {
		edits[id] = (struct vm_xml_edit){.kind = VM_XML_VCPU_PIN, .index = id};
		cpuset_add(&edits[id].set, 1000 + id);
	}

	const char *pinned = NULL;
	struct err err = {0};
	int status = vm_xml_edit(arena, name, text, size, edits, vm->vcpu_max, &pinned, &result_size, &err);

	if (status < 0)
		fail_msg("%s: %s", name, err.what);
	if (strcmp(other_lines(arena, result), other_lines(arena, pinned)) != 0)
		fail_msg("%s: lines that have nothing to do with the pins changed", name);
	assert_int_equal(vm_read_libvirt_xml(name, pinned, result_size, &again, NULL), 0);
	for (int id = 0; id < again->vcpu_max; id++)
		assert_true(cpuset_has(&again->vcpus[id].pin.set, 1000 + id));
	assert_same_vm(name, vm, again);
}

static void test_shared_cases(void **state)
{
	static char text[1 << 20];
	const char *shared = getenv("HVTUNE_SHARED"), *top = getenv("HVTUNE_TOP");
	char path[4096];
	struct archive *archive = archive_read_new();
	struct archive_entry *entry = NULL;
	int count = 0;

	(void)state;
	if (shared)
		(void)snprintf(path, sizeof(path), "%s/cases/config.tar.xz", shared);
	else
		(void)snprintf(path, sizeof(path), "%s/../shared/cases/config.tar.xz", top ? top : ".");
	(void)archive_read_support_filter_xz(archive);
	(void)archive_read_support_format_tar(archive);
	if (archive_read_open_filename(archive, path, 65536) != ARCHIVE_OK) {
		(void)archive_read_free(archive);
		print_message("%s is not there: domains of others are not tried\n", path);
		skip();
		return;
	}
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		size_t length = strlen(name);

		if (length < 4 || strcmp(name + length - 4, ".xml") != 0)
			continue;

		la_ssize_t size = archive_read_data(archive, text, sizeof(text) - 1);

		assert_true(size >= 0 && (size_t)size < sizeof(text) - 1);
		text[size] = '\0';
		round_trip(name, text, (size_t)size, &count);
	}
	(void)archive_read_free(archive);
	assert_true(count >= 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pins),    cmocka_unit_test(test_memory),  cmocka_unit_test(test_cpu),
	    cmocka_unit_test(test_devices), cmocka_unit_test(test_refused), cmocka_unit_test(test_shared_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
