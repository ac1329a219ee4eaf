/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of layouts as virsh, qm, QEMU and XML: what they say, and that the XML reads back as the layout. */
#include "unit.h"

#include "text.h"
#include "vm_write_internal.h"
#include "vm_xml.h"

/* What a writer writes; `call` uses `out`. */
#define WRITTEN(arena, call)                                                                                           \
	__extension__({                                                                                                \
		char *buffer = NULL;                                                                                   \
		size_t buffer_size = 0;                                                                                \
		FILE *out = open_memstream(&buffer, &buffer_size);                                                     \
		call;                                                                                                  \
		(void)fclose(out);                                                                                     \
		const char *kept = arena_strdup((arena), buffer);                                                      \
		free(buffer);                                                                                          \
		kept;                                                                                                  \
	})

static struct cpuset set_of(const char *list)
{
	struct cpuset set;

	assert_int_equal(cpuset_parse(list, &set, NULL), 0);
	return set;
}

/* Four vCPUs on two cores of node 1, 8 GiB in 1 GiB pages. */
static struct vm_layout small(struct cpuset *pins)
{
	static const int cpus[] = {4, 12, 5, 13};

	for (int i = 0; i < 4; i++) {
		pins[i] = (struct cpuset){0};
		cpuset_add(&pins[i], cpus[i]);
	}
	return (struct vm_layout){.name = "web 1",
				  .vcpus = 4,
				  .pins = pins,
				  .service = set_of("0,8"),
				  .nodes = set_of("1"),
				  .memory_kib = 8 * 1048576,
				  .page_kib = 1048576,
				  .sockets = 1,
				  .dies = 1,
				  .cores = 2,
				  .threads = 2,
				  .amd = true};
}

/* The same over two nodes with a die in each. */
static struct vm_layout wide(struct cpuset *pins, struct vm_layout_cell *cells)
{
	static const int distances[] = {10, 32, 32, 10};
	struct vm_layout layout = small(pins);

	cells[0] = (struct vm_layout_cell){set_of("0"), set_of("0-1"), 5 * 1048576};
	cells[1] = (struct vm_layout_cell){set_of("1"), set_of("2-3"), 3 * 1048576};
	layout.nodes = set_of("0-1");
	layout.cells = cells;
	layout.cell_count = 2;
	layout.distances = distances;
	layout.sockets = 2;
	layout.cores = 1;
	return layout;
}

static void test_virsh(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *vm = vm_new(VM_LIBVIRT_XML, "x.xml");
	struct cpuset pins[4];
	struct vm_layout layout = small(pins);
	struct vm_iothread io = {.id = 3};

	(void)state;
	vm->state = VM_STATE_RUNNING;
	vm->iothreads = &io;
	vm->iothread_count = 1;
	const char *text = WRITTEN(arena, vm_write_virsh(out, &layout, vm));

	assert_non_null(strstr(text, "virsh vcpupin 'web 1' 1 12 --live --config\n"));
	assert_non_null(strstr(text, "virsh emulatorpin 'web 1' 0,8 --live --config\n"));
	assert_non_null(strstr(text, "virsh iothreadpin 'web 1' 3 0,8 --live --config\n"));
	/* Strict memory cannot move while it runs. */
	assert_non_null(strstr(text, "virsh numatune 'web 1' --mode strict --nodeset 1 --config\n"));
	vm->numa_mode = "restrictive";
	text = WRITTEN(arena, vm_write_virsh(out, &layout, vm));
	assert_non_null(strstr(text, "--mode restrictive --nodeset 1 --live --config\n"));
	vm->state = VM_STATE_DEFINED;
	text = WRITTEN(arena, vm_write_virsh(out, &layout, vm));
	assert_null(strstr(text, "--live"));
	assert_non_null(strstr(text, "# with the next start"));
}

static void test_qm(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct cpuset pins[4];
	struct vm_layout_cell cells[2];
	struct vm_layout layout = small(pins);

	(void)state;
	const char *text = WRITTEN(arena, vm_write_qm(out, &layout, "100"));

	assert_non_null(strstr(text, "qm set 100 --affinity 0,4-5,8,12-13\n"));
	assert_non_null(strstr(text, "qm set 100 --sockets 1 --cores 4\n"));
	assert_non_null(strstr(text, "qm set 100 --hugepages 1024\n"));
	assert_non_null(strstr(text, "--numa0 'cpus=0-3,hostnodes=1,memory=8192,policy=bind'\n"));
	assert_non_null(strstr(text, "pin 1 12\n"));
	assert_non_null(strstr(text, "--hookscript local:snippets/hvtune-100.sh\n"));
	layout = wide(pins, cells);
	text = WRITTEN(arena, vm_write_qm(out, &layout, NULL));
	assert_non_null(strstr(text, "--numa0 'cpus=0-1,hostnodes=0,memory=5120,policy=bind' --numa1 'cpus=2-3,"));
	assert_non_null(strstr(text, "qm set VMID --sockets 2 --cores 2\n"));
}

static void test_qemu(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *vm = vm_new(VM_QEMU_PROCESS, "900");
	struct cpuset pins[4];
	struct vm_layout_cell cells[2];
	struct vm_layout layout = small(pins);
	struct vm_vcpu vcpus[4] = {{.tid = 901}, {.tid = 902}, {.tid = 903}, {.tid = 904}};

	(void)state;
	const char *text = WRITTEN(arena, vm_write_qemu(out, &layout, NULL));

	assert_non_null(
	    strstr(text, "-cpu host,topoext=on\n-smp cpus=4,maxcpus=4,sockets=1,dies=1,cores=2,threads=2\n"));
	assert_non_null(strstr(text, "-object memory-backend-memfd,id=m0,size=8G,host-nodes=1,policy=bind,prealloc=on,"
				     "hugetlb=on,hugetlbsize=1G\n-machine memory-backend=m0\n"));
	assert_non_null(strstr(text, "taskset -acp 0,8 \"$pid\"\npin 0 4\npin 1 12\n"));
	vm->pid = 900;
	vm->vcpus = vcpus;
	vm->vcpu_max = 4;
	text = WRITTEN(arena, vm_write_qemu(out, &layout, vm));
	assert_non_null(strstr(text, "taskset -cp 0,8 900\ntaskset -cp 4 901\ntaskset -cp 12 902\n"));
	vcpus[3].tid = 0;
	text = WRITTEN(arena, vm_write_qemu(out, &layout, vm));
	assert_non_null(strstr(text, "pid=900\n"));
	layout = wide(pins, cells);
	text = WRITTEN(arena, vm_write_qemu(out, &layout, NULL));
	assert_non_null(strstr(text, "-numa node,nodeid=1,memdev=m1,cpus=2-3\n"));
	assert_non_null(strstr(text, "-numa dist,src=1,dst=0,val=32\n"));
}

static struct vm *read_back(const char *text)
{
	struct vm *vm = NULL;
	struct err err = {0};

	if (vm_read_libvirt_xml("new.xml", text, strlen(text), &vm, &err) < 0)
		fail_msg("%s\n%s", err.what, text);
	return vm;
}

static void test_domain_reads_back(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct cpuset pins[4];
	struct vm_layout_cell cells[2];
	struct vm_layout layout = wide(pins, cells);

	(void)state;
	layout.name = "<'&\">";
	CLEANUP(vm_free_pointer) struct vm *vm = read_back(WRITTEN(arena, vm_write_domain(out, &layout)));

	assert_string_equal(vm->name, layout.name);
	assert_int_equal(vm->memory_kib, layout.memory_kib);
	assert_true(vm_is_pinned_one_to_one(vm));
	for (int i = 0; i < 4; i++)
		assert_true(cpuset_equal(&vm->vcpus[i].pin.set, &pins[i]));
	assert_true(cpuset_equal(&vm->emulator.set, &layout.service));
	assert_int_equal(vm->cell_count, 2);
	assert_int_equal(vm->cells[1].memory_kib, cells[1].memory_kib);
	assert_int_equal(vm->cells[1].distances[0], 32);
	assert_int_equal(vm->memnode_count, 2);
	assert_int_equal(vm->pages[0].size_kib, 1048576);
	assert_true(cpuset_equal(&vm->pages[0].cells.set, &(struct cpuset){.bits = {3}}));
	assert_int_equal(vm_feature(vm->cpu.features, vm->cpu.feature_count, "topoext"), 1);
	/* Nothing of it is left to change. */
	assert_null(vm_layout_restart(arena, &layout, vm));
	layout.sockets = 1;
	layout.cores = 2;
	assert_string_equal(vm_layout_restart(arena, &layout, vm), "topology");
}

static void test_large_and_odd(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct vm_layout odd = {
	    .name = "odd", .vcpus = 5, .sockets = 1, .dies = 1, .cores = 3, .threads = 2, .amd = true};
	struct vm_layout large = {.name = "large", .vcpus = 288, .sockets = 1, .dies = 18, .cores = 8, .threads = 2};

	(void)state;
	const char *text = WRITTEN(arena, vm_write_domain(out, &odd));

	assert_null(strstr(text, "<topology"));
	assert_null(strstr(text, "<cputune"));
	assert_null(strstr(text, "topoext"));
	text = WRITTEN(arena, vm_write_domain(out, &large));
	assert_non_null(strstr(text, "<ioapic driver='qemu'/>"));
	assert_non_null(strstr(text, "eim='on'"));
}

static void test_quoting(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	assert_string_equal(vm_write_shell(arena, "web-1"), "web-1");
	assert_string_equal(vm_write_shell(arena, "-rf"), "'-rf'");
	assert_string_equal(vm_write_shell(arena, "a'b$(c)"), "'a'\\''b$(c)'");
	assert_string_equal(vm_write_shell(arena, ""), "''");
	assert_string_equal(vm_write_size(arena, 1536 * 1024), "1536M");
	assert_string_equal(vm_write_size(arena, 3), "3K");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_virsh),	  cmocka_unit_test(test_qm),
	    cmocka_unit_test(test_qemu),	  cmocka_unit_test(test_domain_reads_back),
	    cmocka_unit_test(test_large_and_odd), cmocka_unit_test(test_quoting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
