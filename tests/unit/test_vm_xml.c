/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of what is read from domain XML: every field of the model that XML can give. */
#include <string.h>

#include "text.h"
#include "unit.h"
#include "vm_xml.h"

static struct vm *read_text(const char *text)
{
	struct vm *vm = NULL;
	struct err err = {0};

	if (vm_read_libvirt_xml("test.xml", text, strlen(text), &vm, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.column, err.what);
	return vm;
}

/* A domain that holds `inside`. */
static struct vm *read_inside(const char *inside)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	return read_text(arena_printf(arena, "<domain type='kvm'><vcpu>4</vcpu>\n%s</domain>", inside));
}

static void assert_set(struct vm *vm, const struct vm_set *set, const char *expected)
{
	assert_true(set->given);
	assert_null(set->text);
	assert_string_equal(cpuset_format(vm->arena, &set->set), expected);
}

static void test_identity(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm = read_text("<?xml version='1.0'?>\n"
				  "<!-- kept in a file -->\n"
				  "<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>\n"
				  "  <name> web1 </name>\n"
				  "  <uuid>c7a5fdbd-edaf-9455-926a-d65c16db1809</uuid>\n"
				  "  <metadata><l:libosinfo xmlns:l='http://libosinfo.org/xmlns/libvirt/domain/1.0'>\n"
				  "    <l:os id='http://microsoft.com/win/11'/></l:libosinfo></metadata>\n"
				  "  <os><type arch='x86_64' machine='pc-q35-9.2'>hvm</type></os>\n"
				  "  <launchSecurity type='sev-snp'/>\n"
				  "  <qemu:commandline><qemu:arg value='-cpu'/><qemu:env name='A' value='b'/>\n"
				  "    <qemu:arg value='host,x=&quot;y&quot;'/></qemu:commandline>\n"
				  "</domain>\n");

	(void)state;
	assert_int_equal(vm->source, VM_LIBVIRT_XML);
	assert_int_equal(vm->state, VM_STATE_DEFINED);
	assert_string_equal(vm->path, "test.xml");
	assert_string_equal(vm->name, "web1");
	assert_string_equal(vm->uuid, "c7a5fdbd-edaf-9455-926a-d65c16db1809");
	assert_string_equal(vm->type, "kvm");
	assert_string_equal(vm->machine, "pc-q35-9.2");
	assert_string_equal(vm->arch, "x86_64");
	assert_string_equal(vm->os_hint, "windows");
	assert_string_equal(vm->launch_security, "sev-snp");
	assert_int_equal(vm->qemu_arg_count, 2);
	assert_string_equal(vm->qemu_args[0], "-cpu");
	assert_int_equal(vm->note_count, 1);
	assert_non_null(strstr(vm->notes[0].text, "qemu:commandline"));
	assert_string_equal(vm->qemu_args[1], "host,x=\"y\"");
}

static void test_nothing_is_given(void **state)
{
	CLEANUP(vm_free_pointer) struct vm *vm = read_text("<domain/>");

	(void)state;
	assert_null(vm->name);
	assert_null(vm->type);
	assert_int_equal(vm->vcpu_max, 1); /* as libvirt has it */
	assert_int_equal(vm->vcpu_now, 1);
	assert_false(vm->cpuset.given);
	assert_false(vm->vcpus[0].pin.given);
	assert_false(vm->emulator.given);
	assert_int_equal(vm->memory_kib, 0);
	assert_int_equal(vm->iothread_declared, 0);
	assert_int_equal(vm->cpu.mode, VM_CPU_DEFAULT);
	assert_false(vm->cpu.topology_given);
	assert_int_equal(vm->cpu.threads, 1);
	assert_false(vm->hugepages);
	assert_null(vm->numa_mode);
	assert_int_equal(vm->hint_dedicated, -1);
	assert_int_equal(vm->poll_control, -1);
	assert_int_equal(vm->pmu, -1);
	assert_int_equal(vm->iommu_eim, -1);
	assert_null(vm->balloon);
	assert_null(vm->hyperv_mode);
	assert_null(vm->os_hint);
	assert_int_equal(vm->vcpu_place.line, 0);
}

static void test_vcpus(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm =
	    read_text("<domain>\n  <vcpu placement='static' cpuset='0-3,^2' current='2'>4</vcpu>\n</domain>");
	CLEANUP(vm_free_pointer)
	struct vm *numad = read_text("<domain><vcpu placement='auto' cpuset='0-3'>4</vcpu></domain>");
	CLEANUP(vm_free_pointer)
	struct vm *plugged =
	    read_text("<domain><vcpu current='2'>4</vcpu><vcpus>"
		      "<vcpu id='0' enabled='yes' hotpluggable='no'/><vcpu id='1' enabled='no'/>"
		      "<vcpu id='2' enabled='no'/><vcpu id='3' enabled='yes'/><vcpu id='9' enabled='yes'/>"
		      "</vcpus></domain>");

	(void)state;
	assert_int_equal(vm->vcpu_max, 4);
	assert_int_equal(vm->vcpu_now, 2);
	assert_true(vm->vcpus[1].enabled);
	assert_false(vm->vcpus[2].enabled);
	assert_set(vm, &vm->cpuset, "0-1,3");
	assert_int_equal(vm->cpuset.place.line, 2);
	assert_int_equal(vm->vcpu_place.line, 2);
	assert_int_equal(vm->vcpu_place.column, 3);
	assert_true(numad->placement_auto);
	assert_false(numad->cpuset.given);
	assert_int_equal(plugged->vcpu_now, 2);
	assert_true(plugged->vcpus[0].enabled);
	assert_false(plugged->vcpus[1].enabled);
	assert_true(plugged->vcpus[3].enabled);
	assert_int_equal(plugged->vcpus[3].id, 3);
}

static void test_cputune(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm = read_inside("<iothreads>2</iothreads>\n"
				    "<cputune>\n"
				    " <vcpupin vcpu='0' cpuset='8'/>\n"
				    " <vcpupin vcpu='1' cpuset='9-10'/><vcpupin vcpu='2' cpuset='nine'/>\n"
				    " <vcpupin vcpu='7' cpuset='3'/><vcpupin vcpu='8' cpuset='3'/>\n"
				    " <emulatorpin cpuset='0-1'/>\n"
				    " <iothreadpin iothread='2' cpuset='2'/><iothreadpin iothread='5' cpuset='3'/>\n"
				    " <vcpusched vcpus='1-2' scheduler='fifo' priority='5'/>\n"
				    " <iothreadsched iothreads='2' scheduler='batch'/>\n"
				    " <emulatorsched scheduler='rr' priority='1'/>\n"
				    " <cachetune vcpus='0-1'>\n"
				    "  <cache id='4' level='3' type='both' size='3' unit='MiB'/>\n"
				    "  <cache id='5' level='3' type='code' size='512'/><monitor level='3' vcpus='0'/>\n"
				    " </cachetune>\n"
				    "</cputune>");

	(void)state;
	assert_int_equal(vm->cputune_place.line, 3);
	assert_set(vm, &vm->vcpus[0].pin, "8");
	assert_int_equal(vm->vcpus[0].pin.place.line, 4);
	assert_int_equal(vm->vcpus[0].pin.place.column, 2);
	assert_set(vm, &vm->vcpus[1].pin, "9-10");
	assert_false(vm->vcpus[2].pin.given);
	assert_string_equal(vm->vcpus[2].pin.text, "nine");
	assert_int_equal(vm->vcpus[2].pin.place.column, 35);
	assert_false(vm->vcpus[3].pin.given);
	assert_null(vm->vcpus[3].pin.text);
	assert_int_equal(vm->stray_pins, 2);
	assert_int_equal(vm->stray_pin_vcpu, 7);
	assert_int_equal(vm->stray_pin_place.line, 6);
	assert_set(vm, &vm->emulator, "0-1");
	assert_int_equal(vm->iothread_declared, 2);
	assert_int_equal(vm->iothread_count, 3);
	assert_set(vm, &vm->iothreads[1].pin, "2");
	assert_false(vm->iothreads[1].pin_only);
	assert_int_equal(vm->iothreads[2].id, 5);
	assert_true(vm->iothreads[2].pin_only);
	assert_null(vm->vcpus[0].scheduler.policy);
	assert_string_equal(vm->vcpus[2].scheduler.policy, "fifo");
	assert_int_equal(vm->vcpus[2].scheduler.priority, 5);
	assert_string_equal(vm->iothreads[1].scheduler.policy, "batch");
	assert_string_equal(vm->emulator_scheduler.policy, "rr");
	assert_int_equal(vm->cachetune_count, 2);
	assert_int_equal(cpuset_count(&vm->cachetunes[0].vcpus), 2);
	assert_int_equal(vm->cachetunes[0].level, 3);
	assert_int_equal(vm->cachetunes[0].id, 4);
	assert_int_equal(vm->cachetunes[0].size_kib, 3072);
	assert_int_equal(vm->cachetunes[1].size_kib, 512);
	assert_string_equal(vm->cachetunes[1].type, "code");
}

static void test_iothreads(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *partial = read_inside("<iothreads>4</iothreads><iothreadids><iothread id='6'/>"
					 "<iothread id='2'/></iothreadids>");
	CLEANUP(vm_free_pointer)
	struct vm *ids = read_inside("<iothreadids><iothread id='3'><poll max='0'/></iothread></iothreadids><devices>\n"
				     "<disk><driver iothread='3'/><target dev='vda' bus='virtio'/></disk>"
				     "<disk><driver queues='2'><iothreads><iothread id='3'><queue id='0'/></iothread>"
				     "<iothread id='4'/></iothreads></driver></disk>"
				     "<controller type='scsi'><driver iothread='3'/></controller></devices>");

	(void)state;
	assert_int_equal(partial->iothread_declared, 4);
	assert_int_equal(partial->iothreads[0].id, 6);
	assert_int_equal(partial->iothreads[1].id, 2);
	assert_int_equal(partial->iothreads[2].id, 1); /* libvirt fills up with the lowest free ids */
	assert_int_equal(partial->iothreads[3].id, 3);
	assert_int_equal(ids->iothread_declared, 1);
	assert_int_equal(ids->iothreads[0].users, 3);
	assert_int_equal(ids->disks[1].mapped_iothreads, 2);
}

static void test_memory(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm = read_inside("<memory unit='GiB'>16</memory><currentMemory unit='MB'>1</currentMemory>\n"
				    "<maxMemory slots='4' unit='TiB'>1</maxMemory>\n"
				    "<memoryBacking><hugepages>\n"
				    " <page size='1' unit='G' nodeset='0,2-3'/><page size='2048'/></hugepages>\n"
				    " <nosharepages/><locked/><source type='memfd'/><access mode='shared'/>\n"
				    " <allocation mode='immediate' threads='8'/></memoryBacking>\n"
				    "<numatune><memory mode='preferred' nodeset='1'/>\n"
				    " <memnode cellid='2' nodeset='4-6,^6'/></numatune>");
	CLEANUP(vm_free_pointer)
	struct vm *plain = read_inside("<memoryBacking><hugepages/></memoryBacking>"
				       "<numatune><memory placement='auto'/></numatune>");

	(void)state;
	assert_int_equal(vm->memory_kib, 16 << 20);
	assert_int_equal(vm->current_memory_kib, 977); /* 1000000 bytes, rounded up */
	assert_int_equal(vm->max_memory_kib, 1 << 30);
	assert_int_equal(vm->memory_place.line, 2);
	assert_true(vm->hugepages);
	assert_int_equal(vm->hugepages_place.line, 4);
	assert_int_equal(vm->page_count, 2);
	assert_int_equal(vm->pages[0].size_kib, 1 << 20);
	assert_set(vm, &vm->pages[0].cells, "0,2-3");
	assert_int_equal(vm->pages[0].place.line, 5);
	assert_int_equal(vm->pages[1].size_kib, 2048);
	assert_false(vm->pages[1].cells.given);
	assert_true(vm->no_share_pages);
	assert_true(vm->locked);
	assert_string_equal(vm->memory_source, "memfd");
	assert_string_equal(vm->memory_access, "shared");
	assert_string_equal(vm->allocation, "immediate");
	assert_string_equal(vm->numa_mode, "preferred");
	assert_set(vm, &vm->numa_nodes, "1");
	assert_false(vm->numa_auto);
	assert_int_equal(vm->numatune_place.line, 8);
	assert_int_equal(vm->memnode_count, 1);
	assert_int_equal(vm->memnodes[0].cell, 2);
	assert_string_equal(vm->memnodes[0].mode, "strict"); /* libvirt's default */
	assert_set(vm, &vm->memnodes[0].nodes, "4-5");
	assert_int_equal(plain->page_count, 1);
	assert_int_equal(plain->pages[0].size_kib, 0);
	assert_true(plain->numa_auto);
	assert_string_equal(plain->numa_mode, "strict");
	assert_false(plain->no_share_pages);
}

static void test_units(void **state)
{
	/* virScaleInteger() of libvirt: "k" and "KiB" are 1024, "KB" is 1000, and case does not matter. */
	static const struct {
		const char *memory;
		int64_t kib;
	} cases[] = {
	    {"<memory>1000</memory>", 1000},
	    {"<memory unit='b'>4096</memory>", 4},
	    {"<memory unit='bytes'>4097</memory>", 5},
	    {"<memory unit='KB'>1024</memory>", 1000},
	    {"<memory unit='k'>7</memory>", 7},
	    {"<memory unit='kib'>7</memory>", 7},
	    {"<memory unit='M'>1</memory>", 1024},
	    {"<memory unit='MB'>1024</memory>", 1000000},
	    {"<memory unit='G'>1</memory>", 1 << 20},
	    {"<memory unit='GB'>1</memory>", 976563},
	    {"<memory unit='T'> 1 \n</memory>", 1 << 30},
	    {"<memory unit='furlong'>1</memory>", 0},
	    {"<memory unit='Kg'>1</memory>", 0},
	    {"<memory unit='E'>17</memory>", 0}, /* more than 64 bits of bytes */
	    {"<memory>-5</memory>", 0},
	    {"<memory>lots</memory>", 0},
	    {"<cpu><numa><cell cpus='0' memory='1' unit='GiB'/><cell cpus='1' memory='1024'/></numa></cpu>",
	     (1 << 20) + 1024},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(vm_free_pointer) struct vm *vm = read_inside(cases[i].memory);

		if (vm->memory_kib != cases[i].kib)
			fail_msg("%s: %lld KiB", cases[i].memory, (long long)vm->memory_kib);
	}
}

static void test_cpu(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm =
	    read_inside("<cpu mode='host-passthrough' check='none' migratable='off'>\n"
			" <topology sockets='1' dies='2' clusters='1' cores='8' threads='2'/>\n"
			" <cache mode='emulate' level='3'/>\n"
			" <maxphysaddr mode='passthrough' bits='46'/>\n"
			" <feature policy='require' name='topoext'/><feature name='a'/>\n"
			" <feature policy='force' name='b'/><feature policy='disable' name='svm'/>\n"
			" <feature policy='forbid' name='c'/><feature policy='optional' name='d'/>\n"
			" <numa>\n"
			"  <cell id='0' cpus='0-1' memory='2' unit='GiB' memAccess='shared'>\n"
			"   <distances><sibling id='0' value='10'/><sibling id='1' value='32'/></distances></cell>\n"
			"  <cell id='1' memory='1024'/>\n"
			" </numa></cpu>");
	CLEANUP(vm_free_pointer)
	struct vm *named = read_inside("<cpu match='exact'><model fallback='forbid'>EPYC-Milan</model></cpu>");
	CLEANUP(vm_free_pointer) struct vm *model = read_inside("<cpu mode='host-model'/>");
	CLEANUP(vm_free_pointer) struct vm *maximum = read_inside("<cpu mode='maximum'/>");

	(void)state;
	assert_int_equal(vm->cpu.mode, VM_CPU_HOST_PASSTHROUGH);
	assert_null(vm->cpu.model);
	assert_string_equal(vm->cpu.migratable, "off");
	assert_true(vm->cpu.topology_given);
	assert_int_equal(vm->cpu.sockets, 1);
	assert_int_equal(vm->cpu.dies, 2);
	assert_int_equal(vm->cpu.clusters, 1);
	assert_int_equal(vm->cpu.cores, 8);
	assert_int_equal(vm->cpu.threads, 2);
	assert_int_equal(vm->cpu.place.line, 2);
	assert_int_equal(vm->cpu.topology_place.line, 3);
	assert_string_equal(vm->cpu.cache_mode, "emulate");
	assert_int_equal(vm->cpu.cache_level, 3);
	assert_int_equal(vm->cpu.cache_place.line, 4);
	assert_string_equal(vm->cpu.maxphysaddr_mode, "passthrough");
	assert_int_equal(vm->cpu.maxphysaddr_bits, 46);
	assert_int_equal(vm->cpu.feature_count, 6);
	assert_int_equal(vm_feature(vm->cpu.features, 6, "topoext"), 1);
	assert_int_equal(vm_feature(vm->cpu.features, 6, "a"), 1);
	assert_int_equal(vm_feature(vm->cpu.features, 6, "b"), 1);
	assert_int_equal(vm_feature(vm->cpu.features, 6, "svm"), 0);
	assert_int_equal(vm_feature(vm->cpu.features, 6, "c"), 0);
	assert_int_equal(vm_feature(vm->cpu.features, 6, "d"), 1);
	assert_int_equal(vm->cell_count, 2);
	assert_int_equal(vm->cells_place.line, 9);
	assert_set(vm, &vm->cells[0].cpus, "0-1");
	assert_int_equal(vm->cells[0].memory_kib, 2 << 20);
	assert_string_equal(vm->cells[0].access, "shared");
	assert_int_equal(vm->cells[0].distances[1], 32);
	assert_int_equal(vm->cells[0].place.line, 10);
	assert_int_equal(vm->cells[1].id, 1);
	assert_false(vm->cells[1].cpus.given);
	assert_int_equal(vm->cells[1].memory_kib, 1024);
	assert_null(vm->cells[1].distances);
	assert_int_equal(named->cpu.mode, VM_CPU_CUSTOM);
	assert_string_equal(named->cpu.model, "EPYC-Milan");
	assert_int_equal(model->cpu.mode, VM_CPU_HOST_MODEL);
	assert_int_equal(maximum->cpu.mode, VM_CPU_MAXIMUM);
}

static void test_features_and_clock(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm =
	    read_inside("<features><acpi/><ioapic driver='qemu'/><pmu state='off'/>\n"
			"<kvm><hidden state='on'/><hint-dedicated state='on'/><poll-control state='off'/></kvm>\n"
			"<hyperv mode='custom'><vpindex state='on'/><synic state='off'/>\n"
			" <stimer state='on'><direct state='on'/></stimer><spinlocks state='on' retries='8191'/>\n"
			"</hyperv></features>\n"
			"<clock offset='localtime'><timer name='hpet' present='no'/>\n"
			" <timer name='rtc' tickpolicy='catchup'/><timer name='tsc' mode='native'/>\n"
			" <timer name='hypervclock' present='yes'/></clock>");
	CLEANUP(vm_free_pointer)
	struct vm *plain = read_inside("<features><pmu/><hyperv mode='passthrough'/></features>");

	(void)state;
	assert_string_equal(vm->ioapic, "qemu");
	assert_int_equal(vm->pmu, 0);
	assert_int_equal(vm->hint_dedicated, 1);
	assert_int_equal(vm->poll_control, 0);
	assert_string_equal(vm->hyperv_mode, "custom");
	assert_int_equal(vm->hyperv_count, 5);
	assert_int_equal(vm_feature(vm->hyperv, 5, "vpindex"), 1);
	assert_int_equal(vm_feature(vm->hyperv, 5, "synic"), 0);
	assert_int_equal(vm_feature(vm->hyperv, 5, "stimer"), 1);
	assert_int_equal(vm_feature(vm->hyperv, 5, "stimer-direct"), 1);
	assert_int_equal(vm_feature(vm->hyperv, 5, "spinlocks"), 1);
	assert_int_equal(vm_feature(vm->hyperv, 5, "reset"), -1);
	assert_string_equal(vm->clock_offset, "localtime");
	assert_int_equal(vm->timer_count, 4);
	assert_string_equal(vm->timers[0].name, "hpet");
	assert_int_equal(vm->timers[0].present, 0);
	assert_string_equal(vm->timers[1].tickpolicy, "catchup");
	assert_int_equal(vm->timers[1].present, -1);
	assert_string_equal(vm->timers[2].mode, "native");
	assert_int_equal(vm->timers[3].present, 1);
	assert_int_equal(plain->pmu, 1);
	assert_string_equal(plain->hyperv_mode, "passthrough");
	assert_int_equal(plain->hyperv_count, 0);
}

static void test_storage(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm =
	    read_inside("<devices>\n"
			"<disk type='block' device='lun'><driver cache='none' io='native' queues='4'/>\n"
			" <source dev='/dev/vg/a'/><target dev='vda' bus='virtio'/></disk>\n"
			"<disk type='network'><source protocol='rbd' name='pool/image'/></disk>\n"
			"<disk device='cdrom'><target dev='sda' bus='sata'/></disk>\n"
			"<controller type='scsi' model='virtio-scsi'><driver queues='8' iothread='2'/></controller>\n"
			"<filesystem type='mount'><driver type='virtiofs'/></filesystem>\n"
			"<filesystem type='mount'/></devices>");

	(void)state;
	assert_int_equal(vm->disk_count, 3);
	assert_string_equal(vm->disks[0].device, "lun");
	assert_string_equal(vm->disks[0].cache, "none");
	assert_string_equal(vm->disks[0].io, "native");
	assert_string_equal(vm->disks[0].source, "/dev/vg/a");
	assert_string_equal(vm->disks[0].target, "vda");
	assert_string_equal(vm->disks[0].bus, "virtio");
	assert_int_equal(vm->disks[0].queues, 4);
	assert_int_equal(vm->disks[0].iothread, -1);
	assert_int_equal(vm->disks[0].place.line, 3);
	assert_string_equal(vm->disks[1].device, "disk");
	assert_string_equal(vm->disks[1].source, "pool/image");
	assert_int_equal(vm->disks[1].queues, 0);
	assert_null(vm->disks[2].source);
	assert_int_equal(vm->controller_count, 1);
	assert_string_equal(vm->controllers[0].type, "scsi");
	assert_string_equal(vm->controllers[0].model, "virtio-scsi");
	assert_int_equal(vm->controllers[0].queues, 8);
	assert_int_equal(vm->controllers[0].iothread, 2);
	assert_int_equal(vm->filesystem_count, 2);
	assert_string_equal(vm->filesystems[0].driver, "virtiofs");
	assert_string_equal(vm->filesystems[1].driver, "path");
}

static void test_other_devices(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm = read_inside(
	    "<devices>\n"
	    "<interface type='bridge'><source bridge='br0'/><model type='virtio'/>\n"
	    " <driver name='vhost' queues='4'/></interface>\n"
	    "<interface type='network'><source network='default'/><target dev='vnet3'/></interface>\n"
	    "<interface type='hostdev'><source><address type='pci' domain='0x0000' bus='0x05'\n"
	    "  slot='0x10' function='0x1'/></source></interface>\n"
	    "<hostdev mode='subsystem' type='pci'><source>\n"
	    " <address domain='0x0000' bus='0x41' slot='0x00' function='0x0'/></source>\n"
	    " <address type='pci' bus='0x06'/></hostdev>\n"
	    "<hostdev mode='subsystem' type='usb'><source><vendor id='1'/></source></hostdev>\n"
	    "<hostdev mode='subsystem' type='pci'><source><address bus='0x100' slot='0'/></source></hostdev>\n"
	    "<memballoon model='none'/>\n"
	    "<iommu model='intel'><driver intremap='on' eim='off' xtsup='on'/></iommu></devices>");

	(void)state;
	assert_int_equal(vm->nic_count, 3);
	assert_string_equal(vm->nics[0].type, "bridge");
	assert_string_equal(vm->nics[0].model, "virtio");
	assert_string_equal(vm->nics[0].driver, "vhost");
	assert_string_equal(vm->nics[0].device, "br0");
	assert_int_equal(vm->nics[0].queues, 4);
	assert_int_equal(vm->nics[0].place.line, 3);
	assert_string_equal(vm->nics[1].device, "vnet3");
	assert_int_equal(vm->nics[1].queues, 0);
	assert_int_equal(vm->hostdev_count, 4);
	assert_string_equal(vm->hostdevs[0].address, "0000:05:10.1");
	assert_string_equal(vm->hostdevs[0].type, "pci");
	assert_string_equal(vm->hostdevs[1].address, "0000:41:00.0");
	assert_int_equal(vm->hostdevs[1].place.line, 8);
	assert_string_equal(vm->hostdevs[2].type, "usb");
	assert_null(vm->hostdevs[2].address);
	assert_null(vm->hostdevs[3].address); /* there is no bus 256 */
	assert_string_equal(vm->balloon, "none");
	assert_string_equal(vm->iommu, "intel");
	assert_int_equal(vm->iommu_place.line, 14);
	assert_int_equal(vm->iommu_intremap, 1);
	assert_int_equal(vm->iommu_eim, 0);
	assert_int_equal(vm->iommu_xtsup, 1);
}

/* Absent, and there but not to be understood, are two things. */
static void test_what_is_not_understood_is_told(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *vm = read_inside("<cpu><topology sockets='1' cores='{cores}' threads='2'/></cpu>\n"
				    "<cputune><emulatorpin cpuset='0-'/></cputune>\n"
				    "<cpu/><numatune><memory nodeset='3'/></numatune>");

	(void)state;
	assert_int_equal(vm->note_count, 2);
	assert_string_equal(vm->notes[0].text, "<emulatorpin cpuset=\"0-\"> is no set of CPUs or nodes");
	assert_int_equal(vm->notes[0].place.line, 3);
	assert_string_equal(vm->notes[1].text, "<topology cores=\"{cores}\"> is no number");
	assert_int_equal(vm->notes[1].place.line, 2);
	assert_int_equal(vm->cpu.cores, 1);
	assert_false(vm->cpu.topology_given);
}

/* A number that libvirt would refuse is no zero and no silence. */
static void test_numbers_that_cannot_be_are_told(void **state)
{
	static const struct {
		const char *inside, *note; /* NULL: none */
	} cases[] = {
	    {"<memory unit='GiB'>-1</memory>", "<memory> holds \"-1 GiB\", which is no size"},
	    {"<memory></memory>", "<memory> holds \"\", which is no size"},
	    {"<memory unit='GiB'>99999999999999999999</memory>", "which is no size"},
	    {"<memory unit='parsec'>4</memory>", "\"4 parsec\""},
	    {"<memory unit='GiB'>4</memory>", NULL},
	    {"<memory>0</memory>", NULL},
	    {"<iothreads>99999999999</iothreads>", "<iothreads> holds"},
	    {"<cpu><topology sockets='0' cores='1' threads='1'/></cpu>", "sockets=\"0\"> is no number from 1"},
	    {"<cpu><numa><cell id='0' cpus='0' memory='1e9'/></numa></cpu>", "memory=\"1e9\"> is no size"},
	    {"<cpu><numa><cell id='0' cpus='0'/></numa></cpu>", NULL},
	    {"<memoryBacking><hugepages><page size='1' unit='G'/></hugepages></memoryBacking>", NULL},
	    {"<memoryBacking><hugepages><page size='x'/></hugepages></memoryBacking>", "size=\"x\"> is no size"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(vm_free_pointer) struct vm *vm = read_inside(cases[i].inside);

		if (vm->note_count != (cases[i].note ? 1 : 0))
			fail_msg("%s: %d notes", cases[i].inside, vm->note_count);
		if (cases[i].note && !strstr(vm->notes[0].text, cases[i].note))
			fail_msg("%s: %s", cases[i].inside, vm->notes[0].text);
	}
}

static void test_wrappers(void **state)
{
	CLEANUP(vm_free_pointer)
	struct vm *status = read_text("<domstatus state='running' reason='booted' pid='4711'><vcpus>"
				      "<vcpu id='0' pid='4720'/><vcpu id='1' pid='4721'/><vcpu id='2' pid='1'/></vcpus>"
				      "<domain type='kvm' id='3'><name>run</name><vcpu>2</vcpu></domain></domstatus>");
	CLEANUP(vm_free_pointer)
	struct vm *snapshot = read_text("<domainsnapshot><name>before</name><state>shutoff</state>"
					"<domain><name>snap</name></domain></domainsnapshot>");
	CLEANUP(vm_free_pointer) struct vm *dumped = read_text("<domain id='7'/>");

	(void)state;
	assert_string_equal(status->name, "run");
	assert_int_equal(status->state, VM_STATE_RUNNING);
	assert_int_equal(status->pid, 4711);
	assert_int_equal(status->vcpus[0].tid, 4720);
	assert_int_equal(status->vcpus[1].tid, 4721);
	assert_string_equal(snapshot->name, "snap");
	assert_int_equal(snapshot->state, VM_STATE_DEFINED);
	assert_string_equal(snapshot->notes[0].text, "the domain as a <domainsnapshot> keeps it");
	assert_int_equal(status->note_count, 0);
	assert_int_equal(dumped->state, VM_STATE_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_identity),
	    cmocka_unit_test(test_nothing_is_given),
	    cmocka_unit_test(test_vcpus),
	    cmocka_unit_test(test_cputune),
	    cmocka_unit_test(test_iothreads),
	    cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_units),
	    cmocka_unit_test(test_cpu),
	    cmocka_unit_test(test_features_and_clock),
	    cmocka_unit_test(test_storage),
	    cmocka_unit_test(test_other_devices),
	    cmocka_unit_test(test_what_is_not_understood_is_told),
	    cmocka_unit_test(test_numbers_that_cannot_be_are_told),
	    cmocka_unit_test(test_wrappers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
