/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of running VMs: found in every way, threads by their names, control groups of both kinds, memory. */
#include <unistd.h>

#include "sys_capture.h"
#include "text.h"
#include "tree.h"
#include "vm_process.h"
#include "vm_unit.h"

enum { MAIN = 1000 };

struct found {
	struct arena *arena;
	struct vm **list;
	int count;
};

static struct found find(struct tree *tree)
{
	struct found found = {.arena = arena_new()};

	assert_int_equal(vm_running(tree_host(tree), found.arena, &found.list, &found.count, NULL), 0);
	return found;
}

static void drop(struct found *found)
{
	vm_running_free(found->list, found->count);
	(void)arena_free(found->arena);
}

static struct tree *machine(const char *users)
{
	struct tree *tree = tree_new(NULL);

	tree_add_amd(tree, 16, 8, 25, 17);
	if (users)
		tree_write(tree, "/sys/module/kvm_amd/refcnt", users);
	return tree;
}

/* The command line of a process: blanks become NULs. */
static void write_cmdline(struct tree *tree, int pid, const char *words)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	char *argv = arena_strdup(arena, words);
	size_t size = strlen(argv) + 1;

	for (size_t i = 0; i < size; i++)
		argv[i] = argv[i] == ' ' ? '\0' : argv[i];
	tree_write_bytes(tree, arena_printf(arena, "/proc/%d/cmdline", pid), argv, size);
}

static void write_thread(struct tree *tree, int pid, int tid, const char *name, const char *cpus)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	tree_write(tree, arena_printf(arena, "/proc/%d/task/%d/comm", pid, tid), arena_printf(arena, "%s\n", name));
	tree_write(tree, arena_printf(arena, "/proc/%d/task/%d/status", pid, tid),
		   arena_printf(arena, "Name:\t%s\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems_allowed_list:\t0\n",
				name, cpus));
}

static void write_guest(struct tree *tree, int pid)
{
	write_cmdline(tree, pid,
		      "/usr/bin/qemu-system-x86_64 -name guest=web,debug-threads=on -smp 2 -m 2048 "
		      "-object {\"qom-type\":\"iothread\",\"id\":\"iothread1\"} "
		      "-netdev {\"type\":\"tap\",\"fds\":\"3:4\",\"vhost\":true,\"id\":\"n\"} "
		      "-device virtio-net-pci,netdev=n");
	write_thread(tree, pid, pid, "qemu-system-x86", "0-1");
	write_thread(tree, pid, pid + 1, "CPU 0/KVM", "8");
	write_thread(tree, pid, pid + 2, "CPU 1/KVM", "9-10");
	write_thread(tree, pid, pid + 3, "IO iothread1", "2");
	write_thread(tree, pid, pid + 4, "IO mon_iothread", "0-15");
	write_thread(tree, pid, pid + 5, "worker", "0-15");
}

#define SCOPE "/sys/fs/cgroup/machine.slice/machine-qemu\\x2d1\\x2dweb.scope"

static void test_libvirt(void **state)
{
	struct tree *tree = machine("9\n");

	(void)state;
	write_guest(tree, MAIN);
	write_thread(tree, MAIN, MAIN + 6, "vhost-1000", "0-1");
	write_thread(tree, MAIN, MAIN + 7, "vhost-1000", "0-1");
	write_cmdline(tree, 1200, "/usr/bin/swtpm socket");
	tree_write(tree, SCOPE "/libvirt/cgroup.procs", "1000\n1200\n");
	tree_write(tree, SCOPE "/cpuset.cpus.effective", "0-11\n");
	tree_write(tree, "/sys/fs/cgroup/machine.slice/libpod-1.scope/cgroup.procs", "1\n");
	tree_write(tree, "/proc/1000/cgroup", "0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator\n");
	tree_write(tree, "/proc/1000/numa_maps",
		   "55d0 default heap anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n"
		   "7f00 bind:0 file=/dev/hugepages/x huge dirty=512 N0=512 N7=1 kernelpagesize_kB=2048\n"
		   "7f01 default file=/lib/x.so\n"
		   "7f02 default file=/usr/bin/qemu-system-x86_64 mapped=40 active=0 N0=30 N1=10 kernelpagesize_kB=4\n"
		   "7f03 default file=/usr/lib/x86_64-linux-gnu/libc.so.6 anon=2 dirty=2 N0=2 kernelpagesize_kB=4\n");
	struct found found = find(tree);

	assert_int_equal(found.count, 1);
	const struct vm *vm = found.list[0];

	assert_string_equal(vm->name, "web");
	assert_string_equal(vm->path, "/proc/1000");
	assert_int_equal(vm->pid, MAIN);
	assert_int_equal(vm->source, VM_QEMU_PROCESS);
	assert_int_equal(vm->state, VM_STATE_RUNNING);
	assert_int_equal(vm->vcpu_max, 2);
	assert_int_equal(vm->vcpus[1].tid, MAIN + 2);
	assert_list(&vm->vcpus[0].running, "8");
	assert_list(&vm->vcpus[1].running, "9-10");
	assert_false(vm->vcpus[0].pin.given);
	assert_list(&vm->emulator_running, "0-1");
	assert_int_equal(vm->iothreads[0].tid, MAIN + 3);
	assert_list(&vm->iothreads[0].running, "2");
	assert_int_equal(vm->vhost_count, 2);
	assert_list(&vm->vhosts[1].running, "0-1");
	assert_list(&vm->cgroup_cpus, "0-11");
	assert_int_equal(vm->node_kib[0], 512 * 2048 + 12);
	assert_int_equal(vm->node_huge_kib[0], 512 * 2048);
	assert_int_equal(vm->note_count, 0);
	drop(&found);
	tree_free(tree);
}

static void test_proxmox(void **state)
{
	struct tree *tree = machine("9\n");

	(void)state;
	write_cmdline(tree, 2000,
		      "/usr/bin/kvm -id 105 -name db -smp 1 -object iothread,id=iothread-virtio0 "
		      "-object iothread,id=iothread-virtio1 -netdev type=tap,id=net0,vhost=on "
		      "-device virtio-net-pci,netdev=net0");
	write_thread(tree, 2000, 2000, "kvm", "0-15");
	write_thread(tree, 2000, 2001, "IO iothread-vir", "3");
	write_thread(tree, 2000, 2002, "IO iothread-vir", "4");
	write_thread(tree, 2000, 2003, "CPU 0/KVM", "5");
	tree_write(tree, "/sys/fs/cgroup/qemu.slice/105.scope/cgroup.procs", "2000\n");
	tree_write(tree, "/sys/fs/cgroup/qemu.slice/cpuset.cpus.effective", "0-15\n");
	/* A kernel thread of a Linux before 6.4, in the group of its owner. */
	tree_write(tree, "/sys/fs/cgroup/qemu.slice/105.scope/cgroup.threads", "2000\n2001\n2050\nx\n");
	tree_write(tree, "/proc/2050/comm", "vhost-2000\n");
	tree_write(tree, "/proc/2050/status", "Name:\tvhost-2000\nCpus_allowed_list:\t6-7\n");
	tree_write(tree, "/proc/2000/cgroup", "0::/qemu.slice/105.scope\n");
	struct found found = find(tree);

	assert_int_equal(found.count, 1);
	const struct vm *vm = found.list[0];

	assert_string_equal(vm->name, "db");
	assert_string_equal(vm->type, "kvm");
	assert_int_equal(vm->iothreads[0].tid, 2001);
	assert_list(&vm->iothreads[1].running, "4");
	assert_int_equal(vm->vhost_count, 1);
	assert_int_equal(vm->vhosts[0].tid, 2050);
	assert_list(&vm->vhosts[0].running, "6-7");
	assert_list(&vm->cgroup_cpus, "0-15");
	assert_null(vm->node_kib);
	drop(&found);
	tree_free(tree);
}

static void test_cgroup_v1(void **state)
{
	struct tree *tree = machine("9\n");

	(void)state;
	write_guest(tree, MAIN);
	tree_write(tree, "/sys/fs/cgroup/systemd/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/cgroup.procs",
		   "1000\n");
	tree_write(tree, "/proc/1000/cgroup",
		   "12:cpuset:/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/emulator\n3:cpu,cpuacct:/x\n0::/y\n");
	tree_write(tree, "/sys/fs/cgroup/cpuset/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/cpuset.effective_cpus",
		   "4-7\n");
	struct found found = find(tree);

	assert_int_equal(found.count, 1);
	assert_list(&found.list[0]->cgroup_cpus, "4-7");
	drop(&found);
	tree_free(tree);
}

static void test_all_processes(void **state)
{
	struct tree *tree = machine(NULL);

	(void)state;
	write_guest(tree, MAIN);
	tree_write(tree, "/proc/1000/comm", "qemu-system-x86\n");
	/* Not named by old versions of QEMU. */
	write_cmdline(tree, 990, "qemu-system-x86_64 -smp 2 -name old");
	tree_write(tree, "/proc/990/comm", "qemu-system-x86\n");
	write_thread(tree, 990, 990, "qemu-system-x86", "0-15");
	write_thread(tree, 990, 991, "qemu-system-x86", "0-15");
	tree_write(tree, "/proc/7/comm", "kvm\n"); /* a kernel thread: no command line */
	tree_write_bytes(tree, "/proc/7/cmdline", "", 0);
	struct found found = find(tree);

	assert_int_equal(found.count, 2);
	assert_string_equal(found.list[0]->name, "old");
	assert_int_equal(found.list[0]->vcpus[0].tid, 0);
	assert_false(found.list[0]->vcpus[0].running.given);
	assert_true(has_note(found.list[0], "have no names"));
	assert_string_equal(found.list[1]->name, "web");
	drop(&found);
	tree_free(tree);
}

static void test_debugfs_lists_all(void **state)
{
	struct tree *tree = machine("9\n");

	(void)state;
	write_guest(tree, MAIN);
	write_guest(tree, 3000);
	write_guest(tree, 4000);
	tree_write(tree, "/sys/kernel/debug/kvm/1000-14/", "");
	tree_write(tree, "/sys/kernel/debug/kvm/3000-22/", "");
	tree_write(tree, "/sys/kernel/debug/kvm/exits", "0\n");
	tree_write(tree, "/proc/4000/comm", "qemu-system-x86\n");
	struct found found = find(tree);

	assert_int_equal(found.count, 2);
	assert_int_equal(found.list[1]->pid, 3000);
	drop(&found);
	tree_free(tree);
}

static void test_costs_nothing_without_vms(void **state)
{
	static const char *const users[] = {"0\n", NULL};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		struct tree *tree = machine(users[i]);
		struct host *host = tree_host(tree);
		size_t before = sys_look_count(host->sys);
		struct found found = find(tree);

		assert_int_equal(found.count, 0);
		assert_in_range(sys_look_count(host->sys) - before, 0, users[i] ? 9 : 12);
		drop(&found);
		tree_free(tree);
	}
}

static void test_garbage(void **state)
{
	struct tree *tree = machine("9\n");

	(void)state;
	write_cmdline(tree, MAIN, "/usr/bin/qemu-system-x86_64 -smp 1000000");
	write_thread(tree, MAIN, MAIN, "qemu-system-x86", "zero");
	write_thread(tree, MAIN, MAIN + 1, "CPU 3/KVM", "4");
	write_thread(tree, MAIN, MAIN + 2, "CPU 99999999999/KVM", "4");
	write_thread(tree, MAIN, MAIN + 3, "CPU x/KVM", "4");
	tree_write(tree, "/proc/1000/task/abc/comm", "CPU 0/KVM\n");
	tree_write(tree, "/proc/1000/cgroup", "::::\n0\n\n0::/../../etc\n");
	tree_write(tree, "/proc/1000/numa_maps",
		   "x N0=99999999999999999999 kernelpagesize_kB=4\nN0=1\nx N0 N= N9999999999=1 kernelpagesize_kB=-3\n"
		   "y N0=7 kernelpagesize_kB=4");
	tree_write(tree, SCOPE "/cgroup.procs", "1000\n-5\n99999999999999\nabc\n\n");
	struct found found = find(tree);

	assert_int_equal(found.count, 1);
	const struct vm *vm = found.list[0];

	assert_true(has_note(vm, "is not understood"));
	assert_int_equal(vm->vcpu_max, 4);
	assert_int_equal(vm->vcpus[3].tid, MAIN + 1);
	assert_int_equal(vm->vcpus[0].tid, 0);
	assert_false(vm->emulator_running.given);
	assert_string_equal(vm->emulator_running.text, "zero");
	assert_false(vm->cgroup_cpus.given);
	assert_int_equal(vm->node_kib[0], 28);
	drop(&found);
	tree_free(tree);
}

/* What was seen on a machine is seen in its capture, without the VM's name. */
static void test_a_capture_replays_it(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct tree *tree = machine("9\n");
	const char *path = arena_printf(arena, "%s.tar", tree->root);
	const struct capture_request request = {.path = path, .version = "test"};
	struct capture_result result;

	(void)state;
	write_guest(tree, MAIN);
	write_cmdline(tree, MAIN,
		      "/usr/bin/qemu-system-x86_64 -name guest=acme-payroll,debug-threads=on -smp 2 "
		      "-object secret,id=s,data=aHVudGVyMg==,format=base64 -smbios type=1,serial=ACME-1234567");
	tree_write(tree, "/sys/fs/cgroup/machine.slice/machine-qemu\\x2d1\\x2dacme-payroll.scope/cgroup.procs",
		   "1000\n");
	tree_write(tree, "/sys/fs/cgroup/machine.slice/machine-qemu\\x2d1\\x2dacme-payroll.scope/cpuset.cpus.effective",
		   "0-11\n");
	tree_write(tree, "/proc/1000/cgroup", "0::/machine.slice/machine-qemu\\x2d1\\x2dacme-payroll.scope\n");
	struct found found = find(tree);

	assert_int_equal(found.count, 1);
	drop(&found);
	assert_int_equal(sys_capture_write(tree_host(tree)->sys, &request, &result, NULL), 0);
	assert_int_equal(host_open(path, &host, NULL), 0);
	(void)unlink(path);

	struct vm **list;
	int count;

	assert_int_equal(vm_running(host, arena, &list, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_list(&list[0]->vcpus[1].running, "9-10");
	assert_list(&list[0]->cgroup_cpus, "0-11");
	assert_true(text_starts(list[0]->name, "vm"));
	for (const struct sys_look *look = sys_first_look(host->sys); look; look = look->next) {
		assert_null(strstr(look->path, "acme"));
		if (look->kind != SYS_FILE || look->state != SYS_VALUE)
			continue;
		assert_null(memmem(look->data, look->size, "acme", 4));
		assert_null(memmem(look->data, look->size, "aHVudGVyMg", 10));
	}
	vm_running_free(list, count);
	tree_free(tree);
}

/* ---- what looking for memory may cost ---- */

/* A VM with so much memory in its page tables, and numa_maps that says otherwise than its group. */
static void write_large(struct tree *tree, int pid, const char *group, const char *rss_kib, const char *huge_kib)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	write_guest(tree, pid);
	tree_write(tree, arena_printf(arena, "/proc/%d/task/%d/status", pid, pid),
		   arena_printf(arena, "Name:\tqemu\nCpus_allowed_list:\t0-1\nVmRSS:\t %s kB\nHugetlbPages:\t %s kB\n",
				rss_kib, huge_kib));
	tree_write(tree, arena_printf(arena, "/proc/%d/numa_maps", pid),
		   "7f00 default anon=9 N0=9 kernelpagesize_kB=4\n");
	tree_write(tree, arena_printf(arena, "/proc/%d/cgroup", pid), arena_printf(arena, "0::%s\n", group));
	tree_write(tree, arena_printf(arena, "/proc/%d/comm", pid), "qemu-system-x86\n");
	tree_write(tree, arena_printf(arena, "/sys/fs/cgroup%s/memory.numa_stat", group),
		   "anon N0=1073741824 N7=4096\nfile N0=999999999\nshmem N0=4096\nanon_thp N0=1073741824\n");
}

#define OWN_GROUP "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope"

static void test_large_memory_is_told_by_its_group(void **state)
{
	static const struct {
		const char *group, *rss_kib, *huge_kib;
		int64_t expected_kib;
		const char *source;
	} cases[] = {
	    {OWN_GROUP, "8388608", "0", 1048576 + 4, "/sys/fs/cgroup" OWN_GROUP "/memory.numa_stat"},
	    {"/qemu.slice/105.scope", "8388608", "0", 1048576 + 4,
	     "/sys/fs/cgroup/qemu.slice/105.scope/memory.numa_stat"},
	    /* little, with pages of hugetlb (which the group does not count), and with a group that others share */
	    {OWN_GROUP, "300000", "0", 36, "/proc/1000/numa_maps"},
	    {OWN_GROUP, "8388608", "4194304", 36, "/proc/1000/numa_maps"},
	    {"/user.slice/session-3.scope", "8388608", "0", 36, "/proc/1000/numa_maps"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tree *tree = machine(NULL);

		write_large(tree, MAIN, cases[i].group, cases[i].rss_kib, cases[i].huge_kib);
		struct found found = find(tree);

		assert_int_equal(found.count, 1);
		assert_string_equal(found.list[0]->node_source, cases[i].source);
		assert_int_equal(found.list[0]->node_kib[0], cases[i].expected_kib);
		drop(&found);
		tree_free(tree);
	}
}

/* 100 GiB of ordinary pages may be asked for, the next 100 GiB are left out, and a small one behind them is not. */
static void test_what_is_left_out_is_said(void **state)
{
	struct tree *tree = machine(NULL);

	(void)state;
	write_large(tree, 1000, "/user.slice/a.scope", "104857600", "0");
	write_large(tree, 2000, "/user.slice/b.scope", "104857600", "0");
	write_large(tree, 3000, "/user.slice/c.scope", "4000", "0");
	struct found found = find(tree);

	assert_int_equal(found.count, 3);
	assert_non_null(found.list[0]->node_kib);
	assert_null(found.list[1]->node_kib);
	assert_true(has_note(found.list[1], "would go through 100 GiB of ordinary pages; numastat -p 2000 does"));
	assert_non_null(found.list[2]->node_kib);
	drop(&found);
	tree_free(tree);
}

/* ---- monitors: trees have what they answered as /proc/PID/qmp ---- */

#define QMP_ANSWER                                                                                                     \
	"{\"query-cpus-fast\": [{\"cpu-index\": 1, \"thread-id\": 1002}, {\"cpu-index\": 0, \"thread-id\": 1003}, "    \
	"{\"cpu-index\": 7, \"thread-id\": 5}], \"query-iothreads\": [{\"id\": \"iothread-scsi1\", \"thread-id\": "    \
	"1004}, {\"id\": \"iothread-scsi0\", \"thread-id\": 1005}, {\"id\": \"other\", \"thread-id\": 1001}]}"

/* A VM whose threads have the names in `names`, and a monitor; where it says that it listens is `words`. */
static struct found find_with_monitor(struct tree *tree, const char *const names[5], const char *words)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	write_cmdline(tree, MAIN,
		      arena_printf(arena,
				   "qemu-system-x86_64 -name web -smp 2 -object iothread,id=iothread-scsi0 "
				   "-object iothread,id=iothread-scsi1 %s",
				   words));
	write_thread(tree, MAIN, MAIN, "qemu-system-x86", "0-15");
	for (int i = 0; i < 5; i++)
		write_thread(tree, MAIN, MAIN + 1 + i, names[i], arena_printf(arena, "%d", i + 1));
	tree_write(tree, "/proc/1000/comm", "qemu-system-x86\n");
	tree_write(tree, "/proc/1000/qmp", QMP_ANSWER);
	return find(tree);
}

static const char *const unnamed[] = {"qemu-system-x86", "qemu-system-x86", "qemu-system-x86", "qemu-system-x86",
				      "qemu-system-x86"};
static const char *const alike[] = {"worker", "CPU 0/KVM", "CPU 1/KVM", "IO iothread-scs", "IO iothread-scs"};

static void test_the_monitor_tells_threads_apart(void **state)
{
	struct tree *tree = machine("9\n");

	(void)state;
	struct found found = find_with_monitor(tree, unnamed, "-qmp unix:/run/web.qmp,server=on,wait=off");
	const struct vm *vm = found.list[0];

	assert_int_equal(vm->vcpu_max, 2); /* the thread of vCPU 7 is none of this process */
	assert_int_equal(vm->vcpus[0].tid, 1003);
	assert_list(&vm->vcpus[0].running, "3");
	assert_int_equal(vm->vcpus[1].tid, 1002);
	assert_list(&vm->iothreads[0].running, "5");
	assert_list(&vm->iothreads[1].running, "4");
	assert_int_equal(vm->note_count, 0);
	drop(&found);
	tree_free(tree);
}

static void test_the_monitor_tells_names_that_are_cut_alike(void **state)
{
	struct tree *tree = machine("9\n");

	(void)state;
	struct found found = find_with_monitor(tree, alike, "-qmp unix:/run/web.qmp,server,nowait");

	/* By the names alone it would be the other way round. */
	assert_int_equal(found.list[0]->iothreads[0].tid, 1005);
	assert_int_equal(found.list[0]->iothreads[1].tid, 1004);
	assert_int_equal(found.list[0]->note_count, 0);
	drop(&found);
	tree_free(tree);
}

static void test_monitors_that_are_not_asked(void **state)
{
	static const struct {
		const char *words, *why;
	} cases[] = {
	    {"", "no -qmp unix:PATH,server=on,wait=off says where to ask"},
	    {"-qmp unix:/run/web.qmp,server", "might start the guest"},
	    {"-qmp unix:/run/web.qmp", "no -qmp"},
	    {"-qmp tcp:localhost:4444,server,nowait", "no -qmp"},
	    {"-monitor unix:/run/web.hmp,server,nowait", "no -qmp"},
	    {"-chardev socket,id=m,path=/run/web.qmp,server=on,wait=off -mon chardev=m,mode=readline", "no -qmp"},
	    {"-chardev socket,id=charmonitor,path=/var/lib/libvirt/qemu/domain-1-web/monitor.sock,server=on,wait=off "
	     "-mon chardev=charmonitor,id=monitor,mode=control",
	     "is libvirt's"},
	    {"-chardev socket,id=qmp,path=/var/run/qemu-server/100.qmp,server=on,wait=off -mon "
	     "chardev=qmp,mode=control",
	     "is Proxmox's"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tree *tree = machine("9\n");
		struct found found = find_with_monitor(tree, unnamed, cases[i].words);

		assert_int_equal(found.count, 1);
		assert_false(found.list[0]->vcpus[0].running.given);
		assert_true(has_note(found.list[0], "which is a vCPU is not known"));
		if (!has_note(found.list[0], cases[i].why))
			fail_msg("\"%s\" gives no reason \"%s\"", cases[i].words, cases[i].why);
		drop(&found);
		tree_free(tree);
	}
}

static void test_all_forms_of_monitors(void **state)
{
	static const char *const forms[] = {
	    "-qmp unix:/run/web.qmp,server,nowait",
	    "-qmp unix:/run/web.qmp,server=on,wait=off",
	    "-qmp-pretty unix:web.qmp,server=on,wait=off",
	    "-chardev socket,id=m,path=/run/web.qmp,server=on,wait=off -mon chardev=m,mode=control",
	    "-chardev socket,path=/run/web.qmp,server,nowait,id=m -mon m,mode=control,pretty=on",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tree *tree = machine("9\n");
		struct found found = find_with_monitor(tree, unnamed, forms[i]);

		assert_int_equal(found.list[0]->vcpus[0].tid, 1003);
		drop(&found);
		tree_free(tree);
	}
}

static void test_answers_that_are_none(void **state)
{
	static const char *const answers[] = {
	    "", "[]", "{\"query-cpus-fast\": 3}", "{\"query-cpus-fast\": [1, {}, {\"cpu-index\": \"x\"}]}",
	    "{\"query-cpus-fast\": [{\"cpu-index\": -1, \"thread-id\": 1001}, {\"cpu-index\": 99999999999, "
	    "\"thread-id\": 1002}, {\"cpu-index\": 0, \"thread-id\": 99999999999}, {\"cpu-index\": 0, \"thread-id\": "
	    "-5}]}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct tree *tree = machine("9\n");

		/* Never seen by the first look, which find_with_monitor() drops with its host. */
		struct found first = find_with_monitor(tree, unnamed, "");
		struct host *host = NULL;

		drop(&first);
		write_cmdline(tree, MAIN, "qemu-system-x86_64 -smp 2 -qmp unix:/run/web.qmp,server=on,wait=off");
		tree_write(tree, "/proc/1000/qmp", answers[i]);
		assert_int_equal(host_open(tree->root, &host, NULL), 0);
		struct found found = {.arena = arena_new()};

		assert_int_equal(vm_running(host, found.arena, &found.list, &found.count, NULL), 0);
		assert_int_equal(found.count, 1);
		assert_int_equal(found.list[0]->vcpus[0].tid, 0);
		drop(&found);
		(void)host_close(host);
		tree_free(tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_capture_replays_it),
	    cmocka_unit_test(test_all_forms_of_monitors),
	    cmocka_unit_test(test_all_processes),
	    cmocka_unit_test(test_answers_that_are_none),
	    cmocka_unit_test(test_cgroup_v1),
	    cmocka_unit_test(test_costs_nothing_without_vms),
	    cmocka_unit_test(test_debugfs_lists_all),
	    cmocka_unit_test(test_garbage),
	    cmocka_unit_test(test_large_memory_is_told_by_its_group),
	    cmocka_unit_test(test_libvirt),
	    cmocka_unit_test(test_monitors_that_are_not_asked),
	    cmocka_unit_test(test_proxmox),
	    cmocka_unit_test(test_the_monitor_tells_names_that_are_cut_alike),
	    cmocka_unit_test(test_the_monitor_tells_threads_apart),
	    cmocka_unit_test(test_what_is_left_out_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
