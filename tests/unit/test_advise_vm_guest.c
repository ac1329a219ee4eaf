/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the rules about what VMs are made of: pages, topology, features, devices; and of VMs that run. */
#include "unit.h"

#include "vm_case.h"

#define HUGE(page)                                                                                                     \
	{                                                                                                              \
		"<memoryBacking>", "<memoryBacking><hugepages>" page "</hugepages>"                                    \
	}
#define GIANT HUGE("<page size='1' unit='G'/>")
#define UNBOUND                                                                                                        \
	{                                                                                                              \
		"<memory mode='strict' nodeset='0'/>", ""                                                              \
	}
#define NO_PINS                                                                                                        \
	{                                                                                                              \
		OWN_PINS, ""                                                                                           \
	}
#define DEVICE(xml)                                                                                                    \
	{                                                                                                              \
		"<devices>", "<devices>" xml                                                                           \
	}
#define DISK(xml) DEVICE("<disk type='file' device='disk'>" xml "</disk>")
#define NIC(xml) DEVICE("<interface type='bridge'>" xml "</interface>")
#define FEATURE(xml)                                                                                                   \
	{                                                                                                              \
		"<features>", "<features>" xml                                                                         \
	}
#define BRIDGE DEVICE("<interface type='bridge'><source bridge='br0'/><model type='virtio'/></interface>")
#define PCI                                                                                                            \
	DEVICE("<hostdev mode='subsystem' type='pci'><source><address domain='0x0000' bus='0x41' slot='0x00' "         \
	       "function='0x0'/></source></hostdev>")
#define VHOST_USER                                                                                                     \
	DEVICE("<interface type='vhostuser'><source type='unix' path='/s'/><model type='virtio'/></interface>")
#define SHARED                                                                                                         \
	{                                                                                                              \
		"<memoryBacking>", "<memoryBacking><access mode='shared'/>"                                            \
	}
#define MODEL(name)                                                                                                    \
	{"<feature policy='require' name='topoext'/>", "<model>" name "</model>"},                                     \
	{                                                                                                              \
		"host-passthrough", "custom"                                                                           \
	}

/* A pool of pages of one size: in all, free, free on node 0; half of the total belongs to each node. */
static void pool(struct host *host, int64_t size_kib, int64_t total, int64_t free, int64_t near)
{
	struct memory_pages *pages = ARENA_NEW(host->arena, struct memory_pages);
	struct memory_node_pages *nodes = ARENA_ARRAY(host->arena, 2, struct memory_node_pages);

	for (int i = 0; i < 2; i++)
		nodes[i] = (struct memory_node_pages){
		    .os_node = i,
		    .total = fact_number("pages", UNIT_COUNT, total / 2, "nr_hugepages"),
		    .free = fact_number("pages", UNIT_COUNT, i ? free - near : near, "free_hugepages")};
	*pages = (struct memory_pages){.size_kib = size_kib,
				       .total = fact_number("pages", UNIT_COUNT, total, "nr_hugepages"),
				       .free = fact_number("pages", UNIT_COUNT, free, "free_hugepages"),
				       .nodes = nodes,
				       .node_count = 2};
	host->memory.pages = pages;
	host->memory.page_size_count = 1;
}

static void no_pages(struct host *host)
{
	pool(host, 2048, 0, 0, 0);
}

static void few_pages(struct host *host)
{
	pool(host, 2048, 1000, 1000, 500);
}

static void used_pages(struct host *host)
{
	pool(host, 2048, 4096, 1000, 500);
}

static void just_enough(struct host *host)
{
	pool(host, 2048, 2048, 2048, 2048);
}

static void plenty(struct host *host)
{
	pool(host, 2048, 9000, 9000, 4500);
}

static void far_pages(struct host *host)
{
	pool(host, 2048, 4096, 4096, 100);
}

static void halves(struct host *host)
{
	pool(host, 2048, 3000, 3000, 1500);
}

static void overcommitted(struct host *host)
{
	no_pages(host);
	host->memory.pages[0].overcommit = fact_number("pages", UNIT_COUNT, 4096, "nr_overcommit_hugepages");
}

static void thp(struct host *host, const char *word)
{
	host->memory.thp_enabled = fact_text("thp", word, "/sys/kernel/mm/transparent_hugepage/enabled");
}

static void thp_never(struct host *host)
{
	thp(host, "never");
}

static void ksm(struct host *host)
{
	host->memory.ksm_run = fact_number("ksm", UNIT_NONE, 1, "/sys/kernel/mm/ksm/run");
}

static void has_ibpb(struct host *host)
{
	host->cpu.flags = fact_text("flags", "fpu svm ibpb", "/proc/cpuinfo");
}

static void device_at_node(struct host *host, int node)
{
	struct device *device = ARENA_NEW(host->arena, struct device);

	*device = (struct device){.address = "0000:41:00.0", .node = fact_number("node", UNIT_NONE, node, "numa_node")};
	host->devices.list = device;
	host->devices.count = 1;
}

static void port_at_node(struct vm *vm, int node)
{
	struct device *device = ARENA_NEW(vm->arena, struct device);

	*device = (struct device){.name = "eth0", .node = fact_number("node", UNIT_NONE, node, "numa_node")};
	for (int i = 0; i < vm->nic_count; i++)
		vm->nics[i].port = device;
}

static void port_far(struct vm *vm)
{
	port_at_node(vm, 1);
}

static void port_near(struct vm *vm)
{
	port_at_node(vm, 0);
}

static void device_far(struct host *host)
{
	device_at_node(host, 1);
}

static void device_near(struct host *host)
{
	device_at_node(host, 0);
}

static void is_windows(struct vm *vm)
{
	vm->os_hint = "windows";
}

static void idles_itself(struct vm *vm)
{
	vm->cpu_pm = 1;
}

static void has_remark(struct vm *vm)
{
	vm_add_note(vm, (struct vm_place){0}, "a template: it never runs");
}

static void runs(struct vm *vm)
{
	vm->state = VM_STATE_RUNNING;
	vm->pid = 4242;
}

static void run_as_pinned(struct vm *vm)
{
	runs(vm);
	for (int id = 0; id < vm->vcpu_max; id++)
		vm->vcpus[id].running = vm->vcpus[id].pin;
}

static void one_moved(struct vm *vm)
{
	run_as_pinned(vm);
	vm->vcpus[3].running = (struct vm_set){.given = true, .set = cpuset_range(9, 9)};
}

static void with_memory(struct vm *vm, int64_t near_kib, int64_t far_kib)
{
	run_as_pinned(vm);
	vm->node_kib = ARENA_ARRAY(vm->arena, 2, int64_t);
	vm->node_kib[0] = near_kib;
	vm->node_kib[1] = far_kib;
}

static void memory_far(struct vm *vm)
{
	with_memory(vm, 3000000, 1000000);
}

static void memory_near(struct vm *vm)
{
	with_memory(vm, 4000000, 10000);
}

static void process_of(struct vm *vm, int64_t memory_kib)
{
	struct vm *process = ARENA_NEW(vm->arena, struct vm);

	run_as_pinned(vm);
	*process = *vm;
	process->memory_kib = memory_kib;
	vm->process = process;
}

static void process_smaller(struct vm *vm)
{
	process_of(vm, vm->memory_kib / 2);
}

static void process_same(struct vm *vm)
{
	process_of(vm, vm->memory_kib);
}

static const struct vm_case pages_cases[] = {
    {"vm.pages-none", ADVISE_FAIL, "2048 pages of 2 MiB, none", no_pages, NULL, {HUGE("")}},
    {"vm.pages-none", VM_SILENT, NULL, overcommitted, NULL, {HUGE("")}},
    {"vm.pages-none", VM_SILENT, NULL, NULL, NULL, {HUGE("")}}, /* no pool is known */
    {"vm.pages-too-few", ADVISE_FAIL, "1000 are reserved", few_pages, NULL, {HUGE("")}},
    {"vm.pages-too-few", VM_SILENT, NULL, plenty, NULL, {HUGE("")}},
    {"vm.pages-in-use", ADVISE_WARN, "only 1000 are free", used_pages, NULL, {HUGE("")}},
    {"vm.pages-in-use", VM_SILENT, NULL, used_pages, runs, {HUGE("")}},
    {"vm.pages-size", ADVISE_FAIL, "pages of 4 MiB", plenty, NULL, {HUGE("<page size='4' unit='M'/>")}},
    {"vm.pages-size", VM_SILENT, NULL, plenty, NULL, {HUGE("<page size='2' unit='M'/>")}},
    {"vm.pages-not-multiple", ADVISE_FAIL, "1 GiB", NULL, NULL, {GIANT, {"'GiB'>4<", "'MiB'>3500<"}}},
    {"vm.pages-not-multiple", VM_SILENT, NULL, NULL, NULL, {GIANT}},
    {"vm.pages-on-other-node", ADVISE_FAIL, "only 100 of 4096", far_pages, NULL, {HUGE("")}},
    {"vm.pages-on-other-node", ADVISE_WARN, "remote memory", far_pages, NULL, {HUGE(""), UNBOUND}},
    {"vm.pages-on-other-node", VM_SILENT, NULL, plenty, NULL, {HUGE("")}},
    {"vm.pages-on-other-node", VM_SILENT, NULL, far_pages, NULL, {HUGE(""), UNBOUND, NO_PINS}},
    {"vm.pages-cell-missing", ADVISE_FAIL, "guest cell 1", NULL, NULL, {HUGE("<page size='2' unit='M' nodeset='1'/>")}},
    {"vm.pages-cell-missing", VM_SILENT, NULL, NULL, NULL, {HUGE("<page size='2' unit='M' nodeset='0'/>")}},
    {"vm.small-pages", ADVISE_WARN, "4 KiB pages", thp_never, NULL, {{NULL, NULL}}},
    {"vm.small-pages", VM_SILENT, NULL, thp_never, NULL, {HUGE("")}},
    {"vm.pages-span-nodes", ADVISE_ADVICE, "at most 1500", halves, NULL, {HUGE(""), UNBOUND, NO_PINS}},
    {"vm.pages-span-nodes", VM_SILENT, NULL, plenty, NULL, {HUGE(""), UNBOUND, NO_PINS}},
    {"vm.pages-no-spare", ADVISE_INFO, "fit exactly", just_enough, NULL, {HUGE("")}},
    {"vm.pages-no-spare", VM_SILENT, NULL, plenty, NULL, {HUGE("")}},
    {"vm.pages-cell",
     ADVISE_GOOD,
     "guest cell 0, not host nodes",
     NULL,
     NULL,
     {HUGE("<page size='2' unit='M' nodeset='0'/>"),
      {"</cpu>", "<numa><cell id='0' cpus='0-7' memory='4' unit='GiB'/></numa></cpu>"}}},
};

static const struct vm_case topology_cases[] = {
    {"vm.topology-product", ADVISE_FAIL, "1 x 3 x 2 = 6", NULL, NULL, {{"cores='4'", "cores='3'"}}},
    {"vm.many-without-eim",
     ADVISE_FAIL,
     "an IOMMU with EIM and a split irqchip",
     NULL,
     NULL,
     {{">8</vcpu>", ">300</vcpu>"}}},
    {"vm.many-without-eim",
     ADVISE_FAIL,
     "eim is off",
     NULL,
     NULL,
     {{">8</vcpu>", ">300</vcpu>"},
      FEATURE("<ioapic driver='qemu'/>"),
      DEVICE("<iommu model='intel'><driver intremap='on' eim='off'/></iommu>")}},
    {"vm.many-without-eim",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {{">8</vcpu>", ">300</vcpu>"},
      FEATURE("<ioapic driver='qemu'/>"),
      DEVICE("<iommu model='amd'><driver intremap='on' xtsup='on'/></iommu>")}},
    {"vm.many-right",
     ADVISE_GOOD,
     "300",
     NULL,
     NULL,
     {{">8</vcpu>", ">300</vcpu>"},
      FEATURE("<ioapic driver='qemu'/>"),
      DEVICE("<iommu model='intel'><driver intremap='on' eim='on'/></iommu>")}},
    {"vm.clusters-on-x86", ADVISE_FAIL, "2 clusters", NULL, NULL, {{"dies='1' cores='4'", "clusters='2' cores='2'"}}},
    {"vm.clusters-on-x86",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {{"dies='1' cores='4'", "clusters='2' cores='2'"}, {"x86_64", "aarch64"}}},
    {"vm.pin-of-no-vcpu", ADVISE_WARN, "vCPU 8 of 8", NULL, NULL, {{"vcpu='0'", "vcpu='8'"}}},
    {"vm.windows-sockets",
     ADVISE_ADVICE,
     "8 sockets",
     NULL,
     is_windows,
     {{"<topology sockets='1' dies='1' cores='4' threads='2'/>", ""}}},
    {"vm.windows-sockets",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {{"<topology sockets='1' dies='1' cores='4' threads='2'/>", ""}}},
    {"vm.no-topology",
     ADVISE_INFO,
     "8 sockets",
     NULL,
     NULL,
     {{"<topology sockets='1' dies='1' cores='4' threads='2'/>", ""}}},
    {"vm.generic-cpu", ADVISE_ADVICE, "qemu64", NULL, NULL, {MODEL("qemu64")}},
    {"vm.generic-cpu", VM_SILENT, NULL, NULL, NULL, {MODEL("EPYC-Genoa")}},
    {"vm.generic-cpu", VM_SILENT, NULL, NULL, NULL, {MODEL("qemu64"), {"type='kvm'", "type='qemu'"}}},
    {"vm.mitigation-hidden", ADVISE_ADVICE, "EPYC hides ibpb", has_ibpb, NULL, {MODEL("EPYC")}},
    {"vm.mitigation-hidden", ADVISE_INFO, "kvm64 hides ibpb", has_ibpb, NULL, {MODEL("kvm64")}},
    {"vm.mitigation-hidden", VM_SILENT, NULL, has_ibpb, NULL, {MODEL("EPYC-Milan")}},
    {"vm.mitigation-hidden", VM_SILENT, NULL, NULL, NULL, {MODEL("EPYC")}},
    {"vm.not-migratable",
     ADVISE_INFO,
     "migratable is off",
     NULL,
     NULL,
     {{"mode='host-passthrough'", "mode='host-passthrough' migratable='off'"}}},
    {"vm.dedicated-but-floating",
     ADVISE_WARN,
     "0 of 8",
     NULL,
     NULL,
     {NO_PINS, FEATURE("<kvm><hint-dedicated state='on'/></kvm>")}},
    {"vm.dedicated-but-floating", VM_SILENT, NULL, NULL, NULL, {FEATURE("<kvm><hint-dedicated state='on'/></kvm>")}},
    {"vm.poll-control",
     ADVISE_INFO,
     "turn the host's halt polling off",
     NULL,
     NULL,
     {FEATURE("<kvm><poll-control state='on'/></kvm>")}},
};

#define ALL_ENLIGHTENMENTS                                                                                             \
	FEATURE("<hyperv><relaxed state='on'/><vapic state='on'/><spinlocks state='on' retries='8191'/>"               \
		"<vpindex state='on'/><synic state='on'/><stimer state='on'/></hyperv>")

static const struct vm_case feature_cases[] = {
    {"vm.hyperv-dependencies",
     ADVISE_FAIL,
     "stimer needs synic",
     NULL,
     NULL,
     {FEATURE("<hyperv><stimer state='on'/></hyperv>")}},
    {"vm.hyperv-dependencies", VM_SILENT, NULL, NULL, NULL, {ALL_ENLIGHTENMENTS}},
    {"vm.windows-enlightenments", ADVISE_ADVICE, "synic, stimer", NULL, is_windows, {{NULL, NULL}}},
    {"vm.windows-enlightenments", VM_SILENT, NULL, NULL, is_windows, {ALL_ENLIGHTENMENTS}},
    {"vm.windows-clock", ADVISE_ADVICE, "no hypervclock", NULL, is_windows, {{NULL, NULL}}},
    {"vm.windows-clock",
     ADVISE_ADVICE,
     "an hpet",
     NULL,
     is_windows,
     {{"<clock offset='utc'>",
       "<clock offset='utc'><timer name='hypervclock' present='yes'/><timer name='hpet' present='yes'/>"}}},
    {"vm.windows-clock",
     VM_SILENT,
     NULL,
     NULL,
     is_windows,
     {{"<clock offset='utc'>",
       "<clock offset='utc'><timer name='hypervclock' present='yes'/><timer name='hpet' present='no'/>"}}},
    {"vm.locked-without-limit", ADVISE_ADVICE, NULL, NULL, NULL, {{"<memoryBacking>", "<memoryBacking><locked/>"}}},
    {"vm.locked-without-limit",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {{"<memoryBacking>", "<memtune><hard_limit unit='GiB'>8</hard_limit></memtune><memoryBacking><locked/>"}}},
    {"vm.ksm-merges", ADVISE_ADVICE, NULL, ksm, NULL, {{NULL, NULL}}},
    {"vm.ksm-merges", VM_SILENT, NULL, ksm, NULL, {{"<memoryBacking>", "<memoryBacking><nosharepages/>"}}},
    {"vm.cpu-pm", ADVISE_WARN, "no CPUs of their own", NULL, idles_itself, {NO_PINS}},
    {"vm.cpu-pm", ADVISE_INFO, "100 % busy", NULL, idles_itself, {{NULL, NULL}}},
    {"vm.remark", ADVISE_INFO, "a template", NULL, has_remark, {{NULL, NULL}}},
};

static const struct vm_case device_cases[] = {
    {"vm.tap-queues", ADVISE_FAIL, "300 queues", NULL, NULL, {NIC("<model type='virtio'/><driver queues='300'/>")}},
    {"vm.queues-over-vcpus",
     ADVISE_WARN,
     "16 queues for 8 vCPUs",
     NULL,
     NULL,
     {NIC("<model type='virtio'/><driver queues='16'/>")}},
    {"vm.queues-over-vcpus", VM_SILENT, NULL, NULL, NULL, {NIC("<model type='virtio'/><driver queues='8'/>")}},
    {"vm.queues-without-virtio",
     ADVISE_WARN,
     "bus sata",
     NULL,
     NULL,
     {DISK("<driver queues='2'/><target dev='sda' bus='sata'/>")}},
    {"vm.queues-without-virtio",
     ADVISE_WARN,
     "as e1000",
     NULL,
     NULL,
     {NIC("<model type='e1000'/><driver queues='4'/>")}},
    {"vm.queues-without-virtio",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {DISK("<driver queues='2'/><target dev='vda' bus='virtio'/>")}},
    {"vm.disk-queues-over-vcpus",
     ADVISE_ADVICE,
     "16 queues for 8",
     NULL,
     NULL,
     {DISK("<driver queues='16'/><target dev='vda' bus='virtio'/>")}},
    {"vm.disk-queues-over-vcpus",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {DISK("<driver queues='8'/><target dev='vda' bus='virtio'/>")}},
    {"vm.iothread-without-virtio",
     ADVISE_WARN,
     "bus sata",
     NULL,
     NULL,
     {{"<cputune>", "<iothreads>1</iothreads><cputune>"},
      DISK("<driver iothread='1'/><target dev='sda' bus='sata'/>")}},
    {"vm.not-shared", ADVISE_FAIL, "vhost-user", NULL, NULL, {VHOST_USER}},
    {"vm.not-shared",
     ADVISE_FAIL,
     "virtiofs",
     NULL,
     NULL,
     {DEVICE("<filesystem type='mount'><driver type='virtiofs'/><source dir='/s'/><target dir='s'/></filesystem>")}},
    {"vm.not-shared",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {DEVICE("<filesystem type='mount'><driver type='path'/><source dir='/s'/><target dir='s'/></filesystem>")}},
    {"vm.shared-without-source", ADVISE_WARN, "vhost-user", NULL, NULL, {VHOST_USER, SHARED}},
    {"vm.shared-without-source", ADVISE_INFO, NULL, NULL, NULL, {SHARED}},
    {"vm.shared-without-source",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {SHARED, {"<access mode='shared'/>", "<source type='memfd'/><access mode='shared'/>"}}},
    {"vm.shared-right", ADVISE_GOOD, "vhost-user", NULL, NULL, {VHOST_USER, SHARED, HUGE("")}},
    {"vm.balloon-beside-vfio", ADVISE_INFO, NULL, NULL, NULL, {PCI, DEVICE("<memballoon model='virtio'/>")}},
    {"vm.balloon-beside-vfio", VM_SILENT, NULL, NULL, NULL, {PCI, DEVICE("<memballoon model='none'/>")}},
    {"vm.device-on-other-node", ADVISE_ADVICE, "at node 1, the vCPUs are on node 0", device_far, NULL, {PCI}},
    {"vm.device-on-other-node", VM_SILENT, NULL, device_near, NULL, {PCI}},
    {"vm.device-on-other-node",
     ADVISE_ADVICE,
     "NIC 0 (br0) leaves the host by eth0 at node 1, the vCPUs are on node 0",
     NULL,
     port_far,
     {BRIDGE}},
    {"vm.device-on-other-node", VM_SILENT, NULL, NULL, port_near, {BRIDGE}},
    {"vm.emulated-nic", ADVISE_ADVICE, "e1000", NULL, NULL, {NIC("<model type='e1000'/>")}},
    {"vm.emulated-nic", VM_SILENT, NULL, NULL, NULL, {NIC("<model type='virtio'/>")}},
    {"vm.emulated-disk", ADVISE_ADVICE, "sata", NULL, NULL, {DISK("<target dev='sda' bus='sata'/>")}},
    {"vm.emulated-disk",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {DEVICE("<disk type='file' device='cdrom'><target dev='sda' bus='sata'/></disk>")}},
    {"vm.native-io-cached",
     ADVISE_FAIL,
     "writeback",
     NULL,
     NULL,
     {DISK("<driver io='native' cache='writeback'/><target dev='vda' bus='virtio'/>")}},
    {"vm.native-io-cached",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {DISK("<driver io='native' cache='none'/><target dev='vda' bus='virtio'/>")}},
};

static const struct vm_case running_cases[] = {
    {"vm.affinity-differs", ADVISE_WARN, "vCPU 3 on 9 instead of 17", NULL, one_moved, {{NULL, NULL}}},
    {"vm.affinity-differs", VM_SILENT, NULL, NULL, run_as_pinned, {{NULL, NULL}}},
    {"vm.definition-differs", ADVISE_WARN, "2 GiB of memory instead of 4 GiB", NULL, process_smaller, {{NULL, NULL}}},
    {"vm.definition-differs", VM_SILENT, NULL, NULL, process_same, {{NULL, NULL}}},
    {"vm.memory-lies-remote", ADVISE_WARN, "not on the vCPUs' node 0", NULL, memory_far, {{NULL, NULL}}},
    {"vm.memory-lies-remote", VM_SILENT, NULL, NULL, memory_near, {{NULL, NULL}}},
};

#define TESTS_OF(subject)                                                                                              \
	static void test_##subject(void **state)                                                                       \
	{                                                                                                              \
		(void)state;                                                                                           \
		vm_cases_run(subject##_cases, ARRAY_SIZE(subject##_cases));                                            \
	}

#define COVER_OF(subject)                                                                                              \
	static void cover_##subject(void **state)                                                                      \
	{                                                                                                              \
		(void)state;                                                                                           \
		vm_cases_cover(advise_vm_##subject##_rules, subject##_cases, ARRAY_SIZE(subject##_cases));             \
	}

TESTS_OF(pages)
TESTS_OF(topology)
TESTS_OF(feature)
TESTS_OF(device)
TESTS_OF(running)
COVER_OF(pages)
COVER_OF(topology)
COVER_OF(feature)
COVER_OF(device)

/* Two VMs, the second `shift` CPUs further on; both run. */
static struct advise_result *judge_two(struct vm *vms[2], int shift, struct advise_result **ret_one)
{
	struct advise_result *one = vm_cases_unchanged(&vms[0]);
	struct advise_result *other = vm_cases_unchanged(&vms[1]);
	struct host *host = vm_cases_host();
	struct advise_subject subject = {.host = host, .vms = vms, .vm_count = 2, .rule_prefixes = "vm."};

	vms[1]->name = "db1";
	for (int i = 0; i < 2; i++)
		run_as_pinned(vms[i]);
	for (int id = 0; id < 8; id++) {
		int cpu = cpuset_first(&vms[1]->vcpus[id].pin.set) + shift;

		vms[1]->vcpus[id].pin.set = vms[1]->vcpus[id].running.set = cpuset_range(cpu, cpu);
	}
	(void)advise_result_free(other);
	*ret_one = one;
	return advise_run(&subject);
}

static size_t count_of(const struct advise_result *result, const char *id)
{
	size_t count = 0;

	for (size_t i = 0; i < result->finding_count; i++)
		count += text_equal(result->findings[i].rule->id, id);
	return count;
}

static void test_two(void **state)
{
	struct vm *vms[2];
	struct advise_result *one, *result = judge_two(vms, 0, &one);

	(void)state;
	assert_false(tree_has(one, "vm.same-cpu-as-another"));
	assert_int_equal(count_of(result, "vm.same-cpu-as-another"), 1);
	assert_non_null(strstr(tree_find(result, "vm.same-cpu-as-another")->title, "0-3,16-19"));
	(void)advise_result_free(one);
	(void)advise_result_free(result);
	for (int i = 0; i < 2; i++)
		(void)vm_free(vms[i]);

	result = judge_two(vms, 4, &one);
	assert_false(tree_has(result, "vm.same-cpu-as-another"));
	assert_false(tree_has(result, "vm.siblings-of-another"));
	assert_false(tree_has(result, "vm.vcpus-over-host"));
	/* The same with the second thread of each core given to the other VM. */
	for (int id = 0; id < 8; id++) {
		vms[0]->vcpus[id].running.set = cpuset_range(id, id);
		vms[1]->vcpus[id].running.set = cpuset_range(16 + id, 16 + id);
	}
	(void)advise_result_free(result);
	struct advise_subject subject = {.host = vm_cases_host(), .vms = vms, .vm_count = 2, .rule_prefixes = "vm."};

	result = advise_run(&subject);
	assert_int_equal(count_of(result, "vm.siblings-of-another"), 1);
	(void)advise_result_free(one);
	(void)advise_result_free(result);
	for (int i = 0; i < 2; i++)
		(void)vm_free(vms[i]);
}

/* More vCPUs than CPUs in all is told once, as a note. */
static void test_overcommit(void **state)
{
	struct vm *vms[5];
	struct advise_subject subject = {.host = vm_cases_host(), .vms = vms, .vm_count = 5, .rule_prefixes = "vm."};

	(void)state;
	for (int i = 0; i < 5; i++) {
		(void)advise_result_free(vm_cases_unchanged(&vms[i]));
		vms[i]->state = VM_STATE_RUNNING;
	}
	struct advise_result *result = advise_run(&subject);

	assert_int_equal(count_of(result, "vm.vcpus-over-host"), 1);
	assert_non_null(strstr(tree_find(result, "vm.vcpus-over-host")->title, "40 vCPUs on 32"));
	(void)advise_result_free(result);
	for (int i = 0; i < 5; i++)
		(void)vm_free(vms[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pages),     cmocka_unit_test(cover_pages),	 cmocka_unit_test(test_topology),
	    cmocka_unit_test(cover_topology), cmocka_unit_test(test_feature),	 cmocka_unit_test(cover_feature),
	    cmocka_unit_test(test_device),    cmocka_unit_test(cover_device),	 cmocka_unit_test(test_running),
	    cmocka_unit_test(test_two),	      cmocka_unit_test(test_overcommit),
	};

	return cmocka_run_group_tests(tests, vm_cases_setup, vm_cases_teardown);
}
