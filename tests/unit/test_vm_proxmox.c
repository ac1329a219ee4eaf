/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of configurations of Proxmox: each setting, what Proxmox adds by itself, sections, and hostile texts. */
#include <errno.h>

#include "text.h"
#include "vm_proxmox.h"
#include "vm_unit.h"

static struct vm *must_read(const char *text)
{
	struct vm *vm = NULL;
	struct err err = {0};

	if (vm_read_proxmox("/etc/pve/qemu-server/105.conf", text, strlen(text), &vm, &err) < 0)
		fail_msg("refused: %u:%u %s\n%.300s", err.line, err.column, err.what, text);
	return vm;
}

#define READ(into, text) CLEANUP(vm_free_pointer) struct vm *into = must_read(text)

static void test_the_least(void **state)
{
	(void)state;
	READ(vm, "bootdisk: scsi0\n");
	assert_int_equal(vm->source, VM_PROXMOX_CONF);
	assert_string_equal(vm->name, "vm105");
	assert_string_equal(vm->machine, "pc");
	assert_string_equal(vm->type, "kvm");
	assert_string_equal(vm->cpu.model, "kvm64");
	assert_int_equal(vm->vcpu_max, 1);
	assert_int_equal(vm->memory_kib, 524288);
	assert_string_equal(vm->balloon, "virtio");
	assert_null(vm->os_hint);
	assert_false(vm->cpuset.given);
	assert_int_equal(vm->note_count, 0);
}

static void test_cpu(void **state)
{
	(void)state;
	READ(vm, "cores: 4\nsockets: 2\nvcpus: 6\n"
		 "cpu: host,hidden=1,flags=+pdpe1gb;-pcid;+topoext,phys-bits=host\nostype: l26\nname: db\n");
	assert_int_equal(vm->vcpu_max, 8);
	assert_int_equal(vm->vcpu_now, 6);
	assert_int_equal(vm->cpu.sockets, 2);
	assert_int_equal(vm->cpu.cores, 4);
	assert_int_equal(vm->cpu.threads, 1);
	assert_true(vm->cpu.topology_given);
	assert_int_equal(vm->cpu.mode, VM_CPU_HOST_PASSTHROUGH);
	assert_int_equal(vm_feature(vm->cpu.features, vm->cpu.feature_count, "pdpe1gb"), 1);
	assert_int_equal(vm_feature(vm->cpu.features, vm->cpu.feature_count, "pcid"), 0);
	assert_int_equal(vm_feature(vm->cpu.features, vm->cpu.feature_count, "topoext"), 1);
	assert_int_equal(vm_feature(vm->cpu.features, vm->cpu.feature_count, "kvm_pv_eoi"), 1);
	assert_int_equal(vm->kvm_hidden, 1);
	assert_string_equal(vm->cpu.maxphysaddr_mode, "passthrough");
	assert_string_equal(vm->name, "db");
	assert_int_equal(vm->vcpu_place.line, 1);
	assert_int_equal(vm->vcpu_place.column, 8);
	assert_int_equal(vm->cpu.place.line, 4);

	READ(made, "cpu: x86-64-v2-AES\n");
	assert_string_equal(made->cpu.model, "qemu64");
	assert_int_equal(vm_feature(made->cpu.features, made->cpu.feature_count, "aes"), 1);
	READ(emulated, "kvm: 0\ncores: 2\nnet0: virtio=AA:BB:CC:DD:EE:FF,bridge=vmbr0\n");
	assert_string_equal(emulated->type, "qemu");
	assert_string_equal(emulated->cpu.model, "qemu64");
	assert_string_equal(emulated->nics[0].driver, "qemu");
}

static void test_windows(void **state)
{
	(void)state;
	READ(vm, "ostype: win11\nmachine: q35\nmeta: creation-qemu=9.2.0,ctime=1\n");
	assert_string_equal(vm->os_hint, "windows");
	assert_string_equal(vm->machine, "pc-q35-9.2");
	assert_string_equal(vm->clock_offset, "localtime");
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "stimer"), 1);
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "vapic"), 1);
	READ(old, "ostype: wvista\nmeta: creation-qemu=6.1.0\nlocaltime: 0\ntdf: 0\n");
	assert_string_equal(old->machine, "pc-i440fx-5.1");
	assert_null(old->clock_offset);
	assert_int_equal(vm_feature(old->hyperv, old->hyperv_count, "stimer"), -1);
	assert_int_equal(vm_feature(old->hyperv, old->hyperv_count, "vapic"), 1);
	READ(ancient, "ostype: wxp\n");
	assert_int_equal(ancient->hyperv_count, 0);
}

static void test_memory(void **state)
{
	(void)state;
	READ(plain, "memory: 4096\nballoon: 0\n");
	assert_int_equal(plain->memory_kib, 4194304);
	assert_string_equal(plain->balloon, "none");
	assert_int_equal(plain->cell_count, 0);

	READ(sockets, "memory: current=4096\nnuma: 1\nsockets: 2\ncores: 3\nhugepages: 2\n");
	assert_int_equal(sockets->cell_count, 2);
	assert_list(&sockets->cells[1].cpus, "3-5");
	assert_int_equal(sockets->cells[1].memory_kib, 2097152);
	assert_int_equal(sockets->pages[0].size_kib, 2048);
	assert_string_equal(sockets->memory_access, "shared");
	assert_string_equal(sockets->allocation, "immediate");

	READ(cells, "memory: 5120\nnuma: 1\ncores: 8\nhugepages: any\n"
		    "numa0: cpus=0-1;4-5,hostnodes=0,memory=4096,policy=bind\n"
		    "numa1: cpus=2-3;6-7,hostnodes=1;3,memory=1000,policy=interleave\n");
	assert_list(&cells->cells[0].cpus, "0-1,4-5");
	assert_int_equal(cells->memnode_count, 2);
	assert_string_equal(cells->memnodes[0].mode, "strict");
	assert_list(&cells->memnodes[1].nodes, "1,3");
	assert_string_equal(cells->memnodes[1].mode, "interleave");
	assert_int_equal(cells->page_count, 2);
	assert_int_equal(cells->pages[0].size_kib, 1048576);
	assert_list(&cells->pages[1].cells, "1");
	assert_int_equal(cells->memnodes[1].place.line, 6);

	READ(flat, "hugepages: 1024\nmemory: 2048\n");
	assert_true(flat->hugepages);
	assert_true(has_note(flat, "needs numa: 1"));
}

static void test_affinity(void **state)
{
	(void)state;
	READ(vm, "# runs near the NIC\ncores: 4\naffinity: 8-9,24-25\n");
	assert_list(&vm->cpuset, "8-9,24-25");
	assert_false(vm->vcpus[0].pin.given);
	assert_int_equal(vm->cputune_place.line, 3);
	READ(hook, "#cpu_taskset 3-18\ncores: 16\nhookscript: local:snippets/pin.sh\n");
	assert_list(&hook->cpuset, "3-18");
	assert_true(has_note(hook, "cpu_taskset"));
	assert_true(has_note(hook, "local:snippets/pin.sh"));
	/* affinity is what Proxmox itself knows. */
	READ(both, "#cpu_taskset 3-18\naffinity: 1\n");
	assert_list(&both->cpuset, "1");
	READ(bad, "affinity: 1-x\n");
	assert_false(bad->cpuset.given);
	assert_string_equal(bad->cpuset.text, "1-x");
}

static void test_disks(void **state)
{
	(void)state;
	READ(vm, "scsihw: virtio-scsi-single\n"
		 "scsi0: local:105/a.raw,iothread=1,aio=native,cache=writeback,queues=4\n"
		 "scsi1: local:105/b.raw\nvirtio3: local:105/c.raw,iothread=1\nide2: none,media=cdrom\n"
		 "sata0: local:105/d.raw\n");
	assert_int_equal(vm->disk_count, 5);
	assert_string_equal(vm->disks[0].target, "ide2");
	assert_string_equal(vm->disks[0].device, "cdrom");
	const struct vm_disk *disk = &vm->disks[1];

	assert_string_equal(disk->target, "scsi0");
	assert_string_equal(disk->io, "native");
	assert_string_equal(disk->cache, "writeback");
	assert_string_equal(disk->source, "local:105/a.raw");
	assert_int_equal(disk->place.line, 2);
	assert_string_equal(vm->disks[2].cache, "none");
	assert_null(vm->disks[2].io);
	assert_string_equal(vm->disks[3].bus, "virtio");
	assert_string_equal(vm->disks[3].iothread_name, "iothread-virtio3");
	assert_string_equal(vm->disks[4].bus, "sata");
	/* A controller for each SCSI disk, with its thread. */
	assert_int_equal(vm->controller_count, 2);
	assert_int_equal(vm->controllers[0].iothread, 1);
	assert_int_equal(vm->controllers[0].queues, 4);
	assert_int_equal(vm->controllers[1].iothread, -1);
	assert_int_equal(vm->iothread_count, 2);
	assert_int_equal(vm->iothreads[0].users, 1);

	/* Without a controller of its own a SCSI disk gets no thread. */
	READ(shared, "scsihw: virtio-scsi-pci\nscsi0: a:1,iothread=1\nscsi1: a:2,iothread=1\n");
	assert_int_equal(shared->iothread_count, 0);
	assert_int_equal(shared->controller_count, 1);
	READ(lsi, "scsi0: a:1\nscsi8: a:2\n");
	assert_int_equal(lsi->controller_count, 2);
	assert_string_equal(lsi->controllers[0].model, "lsilogic");
}

static void test_devices(void **state)
{
	(void)state;
	READ(vm, "machine: q35,viommu=intel\n"
		 "net0: virtio=AA:BB:CC:DD:EE:01,bridge=vmbr0,queues=8\nnet3: model=e1000,macaddr=AA:BB:CC:DD:EE:02\n"
		 "hostpci0: 01:00,pcie=1\nhostpci1: 0000:C1:00.1;0000:c2:00.0\nhostpci2: mapping=gpu\n"
		 "usb0: host=1234:5678\nusb1: spice\nvirtiofs0: share\namd-sev: type=snp\n");
	assert_int_equal(vm->nic_count, 2);
	assert_string_equal(vm->nics[0].device, "tap105i0");
	assert_string_equal(vm->nics[0].driver, "vhost");
	assert_int_equal(vm->nics[0].queues, 8);
	assert_string_equal(vm->nics[1].model, "e1000");
	assert_string_equal(vm->nics[1].type, "user");
	assert_int_equal(vm->hostdev_count, 5);
	assert_string_equal(vm->hostdevs[0].address, "0000:01:00.0");
	assert_string_equal(vm->hostdevs[1].address, "0000:c1:00.1");
	assert_string_equal(vm->hostdevs[2].address, "0000:c2:00.0");
	assert_null(vm->hostdevs[3].address);
	assert_string_equal(vm->hostdevs[3].type, "pci");
	assert_string_equal(vm->hostdevs[4].type, "usb");
	assert_string_equal(vm->filesystems[0].driver, "virtiofs");
	assert_string_equal(vm->iommu, "intel");
	assert_int_equal(vm->iommu_intremap, 1);
	assert_string_equal(vm->ioapic, "qemu");
	assert_string_equal(vm->launch_security, "sev-snp");
}

static void test_args(void **state)
{
	(void)state;
	READ(vm, "cores: 8\nargs: -cpu 'host,topoext=on' -smp 8,cores=4,threads=2 -object iothread,id=x\n");
	assert_int_equal(vm->cpu.threads, 2);
	assert_int_equal(vm->cpu.mode, VM_CPU_HOST_PASSTHROUGH);
	assert_int_equal(vm->iothread_count, 1);
	assert_int_equal(vm->qemu_arg_count, 6);
	assert_string_equal(vm->qemu_args[1], "host,topoext=on");
	assert_int_equal(vm->vcpu_place.line, 2);
	assert_int_equal(vm->vcpu_place.column, 35);
}

static void test_sections_are_not_in_force(void **state)
{
	(void)state;
	READ(vm, "cores: 2\nmemory: 1024\nlock: backup\ntemplate: 1\n\n[PENDING]\ncores: 16\naffinity: 0-3\n\n"
		 "[before update]\ncores: 1\n#a note\nsnaptime: 1\n\n[special:cloudinit]\nname: x\n");
	assert_int_equal(vm->vcpu_max, 2);
	assert_false(vm->cpuset.given);
	assert_true(has_note(vm, "pending changes in lines 6-8 are not in force"));
	assert_true(has_note(vm, "lines 10-13 are of the snapshot \"before update\""));
	assert_true(has_note(vm, "locked: backup"));
	assert_true(has_note(vm, "a template"));
	assert_int_equal(vm->note_count, 4);
	READ(odd, "cores: 2\nthis is nothing\n");
	assert_true(has_note(odd, "line 2 is no setting"));
}

static void refused(const char *text, size_t size, int code, unsigned line, const char *what)
{
	struct vm *vm = NULL;
	struct err err = {0};

	if (vm_read_proxmox("100.conf", text, size, &vm, &err) != -code)
		fail_msg("%d, line %u: %s", err.code, err.line, err.what);
	assert_null(vm);
	assert_int_equal(err.line, line);
	if (!strstr(err.what, what) || strchr(err.what, '\n'))
		fail_msg("\"%s\" does not say \"%s\" in one line", err.what, what);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *what;
		int code;
		unsigned line;
	} cases[] = {
	    {"", "no setting of a VM", EINVAL, 0},
	    {"hello\nworld: 1\n", "no setting of a VM", EINVAL, 0},
	    {"name: x\ncores: many\n", "cores: \"many\" is no number", EINVAL, 2},
	    {"cores: 1000000\n", "1000000 is not between", ERANGE, 1},
	    {"cores: 4096\nsockets: 4096\n", "more vCPUs than QEMU takes", ERANGE, 1},
	    {"cores: -1\n", "is not between", ERANGE, 1},
	    {"memory: lots\n", "is no number of MiB", EINVAL, 1},
	    {"cores: 1\nnuma: 1\nnuma0: cpus=0\n", "memory= in MiB is missing", EINVAL, 3},
	    {"cores: 1\nargs: -name 'x\n", "a single quote is opened here", EINVAL, 2},
	    {"scsi0: {\"a\":\n", "JSON that cannot be read", EINVAL, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		refused(cases[i].text, strlen(cases[i].text), cases[i].code, cases[i].line, cases[i].what);
	refused("cores: 1\0\n", 10, EINVAL, 0, "NUL");
}

static void test_huge_texts(void **state)
{
	enum { SIZE = 1024 * 1024 };
	static const char front[] = "cores: 1\ncpu: host,flags=";
	CLEANUP(base_free) char *text = malloc(SIZE + 1);

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		text[i] = i % 2 ? ';' : 'a';
	memcpy(text, front, strlen(front));
	refused(text, SIZE, E2BIG, 2, "properties in one option");
	memset(text, '\n', SIZE + 1);
	refused(text, SIZE, E2BIG, 0, "lines");
	refused(text, SIZE + 1, EFBIG, 0, "no configuration");
}

static void test_looks_like(void **state)
{
	static const char *const yes[] = {"cores: 4\n", "#note\nscsi0: x\n[snap]\nfoo bar\n", "smbios1: uuid=x"};
	static const char *const no[] = {"",
					 "qemu-system-x86_64 -m 1G\n",
					 "[cpu]\ngovernor=performance\n",
					 "options kvm_amd npt=1\n",
					 "<domain/>",
					 "key: value\n",
					 "cores: 2\nprocessor\t: 0\nvendor_id : AuthenticAMD\n"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!vm_looks_like_proxmox(yes[i], strlen(yes[i])))
			fail_msg("not taken: %s", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (vm_looks_like_proxmox(no[i], strlen(no[i])))
			fail_msg("taken: %s", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_affinity),   cmocka_unit_test(test_args),
	    cmocka_unit_test(test_cpu),	       cmocka_unit_test(test_devices),
	    cmocka_unit_test(test_disks),      cmocka_unit_test(test_huge_texts),
	    cmocka_unit_test(test_looks_like), cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_refused),    cmocka_unit_test(test_sections_are_not_in_force),
	    cmocka_unit_test(test_the_least),  cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
