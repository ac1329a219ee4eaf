/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the test that a configuration of Proxmox and the QEMU command line beside it read as the same VM, for every pair
 * among the shared cases. What cannot be the same is in a table, with the reason.
 */
#include <archive.h>
#include <archive_entry.h>
#include <fnmatch.h>

#include "text.h"
#include "unit.h"
#include "vm_proxmox.h"
#include "vm_qemu_line.h"
#include "vm_text.h"

/* Lines of vm_text() that may differ, by file and line; "*" is any. */
static const struct {
	const char *file, *line, *reason;
} differences[] = {
    {"*", "disk ? source: *", "the configuration names a volume of a storage, QEMU its path"},
    {"*", "disk ? io: *", "without aio= it depends on the kind of storage, which only the host tells"},
    {"*", "disk ?? source: *", "the same"},
    {"*", "disk ?? io: *", "the same"},
    {"*", "os: *", "a QEMU line does not tell the guest's system"},
    {"simple-btrfs.conf", "disk 1 cache: *", "on btrfs the default is not none; only the host knows that it is btrfs"},
    {"custom-cpu-model-host-phys-bits.conf", "cpu: *", "custom types are in another file of the host"},
    {"custom-cpu-model-host-phys-bits.conf", "feature *", "the same"},
    {"custom-cpu-model-host-phys-bits.conf", "hyperv vendor_id: *", "the same"},
    {"cpu-level.conf", "feature vmx-mbec: off", "turned off for Windows by newer releases of Proxmox"},
    {"*", "feature cet-ibt: off", "the same"},
    {"*", "feature cet-ss: off", "the same"},
    {"q35-linux-hostpci-mapping.conf", "host device ?: pci *",
     "what a mapping stands for is in another file of the host"},
};

struct file {
	const char *name, *text;
	size_t size;
	struct file *next;
};

/* All files of a directory of a shared archive, with their last names; NULL: it is not there. */
static struct file *read_files(struct arena *arena, const char *name_of_archive, const char *directory)
{
	const char *shared = getenv("HVTUNE_SHARED"), *top = getenv("HVTUNE_TOP");
	const char *path = shared
			       ? arena_printf(arena, "%s/cases/%s.tar.xz", shared, name_of_archive)
			       : arena_printf(arena, "%s/../shared/cases/%s.tar.xz", top ? top : ".", name_of_archive);
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	struct file *files = NULL;

	archive_read_support_filter_all(archive);
	archive_read_support_format_all(archive);
	if (archive_read_open_filename(archive, path, 65536) != ARCHIVE_OK) {
		printf("# %s is not there: no pair is compared (HVTUNE_SHARED names another place)\n", path);
		archive_read_free(archive);
		return NULL;
	}
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		size_t size = (size_t)archive_entry_size(entry);

		if (!text_starts(name, directory) || archive_entry_filetype(entry) != AE_IFREG)
			continue;
		struct file *file = ARENA_NEW(arena, struct file);
		char *text = arena_alloc(arena, size + 1);

		assert_int_equal(archive_read_data(archive, text, size), size);
		*file = (struct file){
		    .name = arena_strdup(arena, strrchr(name, '/') + 1), .text = text, .size = size, .next = files};
		files = file;
	}
	archive_read_free(archive);
	return files;
}

static const struct file *file_named(const struct file *files, const char *name)
{
	while (files && !text_equal(files->name, name))
		files = files->next;
	return files;
}

static bool may_differ(const char *file, const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++)
		if (fnmatch(differences[i].file, file, 0) == 0 && fnmatch(differences[i].line, line, 0) == 0)
			return true;
	return false;
}

static bool has_line(const struct vm_text *text, const char *line)
{
	for (int i = 0; i < text->count; i++)
		if (text_equal(text->lines[i], line))
			return true;
	return false;
}

static int lines_only_in(const char *file, const struct vm_text *text, const struct vm_text *other, const char *where)
{
	int count = 0;

	for (int i = 0; i < text->count; i++) {
		if (has_line(other, text->lines[i]) || may_differ(file, text->lines[i]))
			continue;
		printf("# %s: only %s has \"%s\"\n", file, where, text->lines[i]);
		count++;
	}
	return count;
}

/* Lines that the two VMs do not share. */
static int compare(struct arena *arena, const struct file *conf, const struct file *command)
{
	CLEANUP(vm_free_pointer) struct vm *one = NULL;
	CLEANUP(vm_free_pointer) struct vm *other = NULL;
	struct err err = {0};

	if (vm_read_proxmox("8006.conf", conf->text, conf->size, &one, &err) < 0)
		fail_msg("%s:%u: %s", conf->name, err.line, err.what);
	if (vm_read_qemu_line(command->name, command->text, command->size, &other, &err) < 0)
		fail_msg("%s:%u: %s", command->name, err.line, err.what);
	struct vm_text text = vm_text(arena, one), other_text = vm_text(arena, other);

	return lines_only_in(conf->name, &text, &other_text, "the configuration") +
	       lines_only_in(conf->name, &other_text, &text, "the QEMU line");
}

static void test_pairs(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct file *files = read_files(arena, "config", "config/proxmox/");
	int pairs = 0, different = 0;

	(void)state;
	if (!files)
		skip();
	for (const struct file *file = files; file; file = file->next) {
		const struct file *command = file_named(files, arena_printf(arena, "%s.cmd", file->name));

		if (!command)
			continue;
		pairs++;
		different += compare(arena, file, command);
	}
	printf("# %d pairs\n", pairs);
	assert_true(pairs >= 30);
	assert_int_equal(different, 0);
}

/* Those without a partner are read, too. */
static void test_all_are_read(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct file *files = read_files(arena, "config", "config/proxmox/");
	struct err err = {0};

	(void)state;
	if (!files)
		skip();
	for (const struct file *file = files; file; file = file->next) {
		CLEANUP(vm_free_pointer) struct vm *vm = NULL;
		bool command = fnmatch("*.cmd", file->name, 0) == 0;
		int outcome = command ? vm_read_qemu_line(file->name, file->text, file->size, &vm, &err)
				      : vm_read_proxmox(file->name, file->text, file->size, &vm, &err);

		if (outcome < 0)
			fail_msg("%s:%u: %s", file->name, err.line, err.what);
		assert_int_equal(vm_looks_like_qemu_line(file->text, file->size), command);
		assert_int_equal(vm_looks_like_proxmox(file->text, file->size), !command);
		assert_true(vm->vcpu_max > 0);
		assert_true(vm->memory_kib > 0);
	}
}

/* Files of users, and what must be seen in them. */
static void test_files_of_users(void **state)
{
	static const struct {
		const char *file, *line;
	} expected[] = {
	    {"u09-tr3960x-proxmox.conf", "cpuset: 3-18"},
	    {"u09-tr3960x-proxmox.conf", "cell 0: cpus 0-15, 33554432 KiB, shared"},
	    {"u09-tr3960x-proxmox.conf", "pages 1048576 KiB: cells -"},
	    {"u09-tr3960x-proxmox.conf", "host device 2: pci 0000:23:00.3"},
	    {"u09-tr3960x-proxmox.conf", "os: windows"},
	    {"u10-epyc7343-proxmox.conf", "cpuset: 8-15,24-31"},
	    {"u10-epyc7343-proxmox.conf", "topology: 1 sockets 1 dies 1 clusters 1 cores 16 threads 1"},
	    {"u20a-virtiofs-hugepage.qemu", "topology: 1 sockets 1 dies 1 clusters 1 cores 4 threads 2"},
	    {"u20a-virtiofs-hugepage.qemu", "pages 0 KiB: cells -"},
	    {"u20a-virtiofs-hugepage.qemu", "memory backing: file shared immediate, hugepages 1, locked 0, merge 1"},
	    {"u20a-virtiofs-hugepage.qemu", "filesystem 0: virtiofs"},
	    {"u20b-dpdk-vhostuser.qemu", "cpuset: 1-4"},
	    {"u20b-dpdk-vhostuser.qemu", "vcpu 0: on -"},
	    {"u20b-dpdk-vhostuser.qemu", "nic 0: vhostuser virtio - -, 2 queues"},
	    {"u20c-bind-node0.qemu", "memory nodes: strict 0"},
	    {"u20c-bind-node0.qemu", "cpu: 1 EPYC-v4"},
	    {"u20d-split-irqchip-noeim.qemu", "vcpus: 300 of 300"},
	    {"u20d-split-irqchip-noeim.qemu", "ioapic: qemu"},
	    {"u20d-split-irqchip-noeim.qemu", "iommu: intel, intremap 1, eim 0, xtsup -1"},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct file *files = read_files(arena, "config", "config/users/");
	struct file *scenarios = read_files(arena, "scenarios", "scenarios/");

	(void)state;
	if (!files || !scenarios)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct file *file = file_named(files, expected[i].file);
		CLEANUP(vm_free_pointer) struct vm *vm = NULL;
		struct err err = {0};

		file = file ? file : file_named(scenarios, expected[i].file);
		assert_non_null(file);
		int outcome = strstr(file->name, ".qemu")
				  ? vm_read_qemu_line(file->name, file->text, file->size, &vm, &err)
				  : vm_read_proxmox(file->name, file->text, file->size, &vm, &err);

		if (outcome < 0)
			fail_msg("%s:%u: %s", file->name, err.line, err.what);
		const struct vm_text text = vm_text(arena, vm);

		if (!has_line(&text, expected[i].line))
			fail_msg("%s: no \"%s\"", file->name, expected[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_are_read),
	    cmocka_unit_test(test_files_of_users),
	    cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
