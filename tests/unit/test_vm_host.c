/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the VMs of a host: files of libvirt and Proxmox, and processes beside them. */
#include "unit.h"

#include "machine.h"
#include "text.h"
#include "vm_joined.h"

#define XML "<domain type='kvm'><name>db</name><memory>1048576</memory><vcpu>2</vcpu></domain>\n"

static struct vm_host *read_list(struct tree *tree)
{
	struct vm_host *list = NULL;
	struct err err = {0};

	if (vm_host_read(tree_host(tree), NULL, &list, &err) < 0)
		fail_msg("%s", err.what);
	return list;
}

static struct tree *machine(void)
{
	static const struct machine shape = {
	    .packages = 1, .nodes = 1, .l3s = 2, .cores = 4, .threads = 2, .family = 25, .model = 17};

	return machine_tree(&shape);
}

static void test_none(void **state)
{
	struct tree *tree = machine();
	CLEANUP(vm_host_free_pointer) struct vm_host *list = read_list(tree);

	(void)state;
	assert_int_equal(list->count, 0);
	assert_null(list->refused);
	tree_free(tree);
}

static void test_declared(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/libvirt/qemu/db.xml", XML},
	    {"/etc/libvirt/qemu/broken.xml", "<domain"},
	    {"/etc/libvirt/qemu/networks/", NULL},
	    {"/etc/libvirt/qemu/notes.txt", "no VM\n"},
	    {"/etc/pve/qemu-server/100.conf", "cores: 4\nmemory: 4096\nname: web\nostype: l26\n"},
	    {NULL, NULL},
	};
	struct tree *tree = machine();

	(void)state;
	tree_add(tree, files);
	CLEANUP(vm_host_free_pointer) struct vm_host *list = read_list(tree);

	assert_int_equal(list->count, 3);
	assert_string_equal(list->entries[0].name, "broken");
	assert_null(list->entries[0].declared);
	assert_non_null(list->entries[0].problem);
	assert_string_equal(list->entries[1].name, "db");
	assert_string_equal(list->entries[1].declared_text, XML);
	assert_int_equal(list->entries[1].declared->state, VM_STATE_DEFINED);
	assert_string_equal(list->entries[2].name, "web");
	assert_null(list->entries[2].declared_text);
	assert_int_equal(list->entries[2].declared->vcpu_max, 4);
	tree_free(tree);
}

static void test_running_beside_declared(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/libvirt/qemu/db.xml", XML},
	    {"/sys/module/kvm_amd/refcnt", "12\n"},
	    {"/proc/900/comm", "qemu-system-x86\n"},
	    {"/proc/900/status", "Name:\tqemu-system-x86\nTgid:\t900\nPPid:\t1\nCpus_allowed_list:\t0,8\n"},
	    {"/proc/900/task/900/comm", "qemu-system-x86\n"},
	    {"/proc/900/task/900/status", "Name:\tqemu-system-x86\nCpus_allowed_list:\t0,8\n"},
	    {"/proc/900/task/901/comm", "CPU 0/KVM\n"},
	    {"/proc/900/task/901/status", "Name:\tCPU 0/KVM\nCpus_allowed_list:\t4\n"},
	    {"/proc/900/task/902/comm", "CPU 1/KVM\n"},
	    {"/proc/900/task/902/status", "Name:\tCPU 1/KVM\nCpus_allowed_list:\t12\n"},
	    {NULL, NULL},
	};
	static const char line[] =
	    "/usr/bin/qemu-system-x86_64\0-name\0guest=db,debug-threads=on\0-smp\0002\0-m\0001024";
	struct tree *tree = machine();

	(void)state;
	tree_add(tree, files);
	tree_write_bytes(tree, "/proc/900/cmdline", line, sizeof(line));
	CLEANUP(vm_host_free_pointer) struct vm_host *list = read_list(tree);

	assert_int_equal(list->count, 1);
	assert_non_null(list->entries[0].declared);
	assert_non_null(list->entries[0].running);
	assert_int_equal(list->entries[0].running->pid, 900);
	assert_int_equal(list->entries[0].running->vcpus[1].tid, 902);
	tree_free(tree);
}

/* Names are hidden in a capture: what comes first must not hang on them. */
static void test_joined_in_order_of_start(void **state)
{
	static const struct tree_file files[] = {
	    {"/etc/libvirt/qemu/a.xml", "<domain type='kvm'><name>a</name><vcpu>1</vcpu></domain>\n"},
	    {"/etc/libvirt/qemu/b.xml", "<domain type='kvm'><name>b</name><vcpu>1</vcpu></domain>\n"},
	    {"/etc/libvirt/qemu/c.xml", "<domain type='kvm'><name>c</name><vcpu>1</vcpu></domain>\n"},
	    {"/sys/module/kvm_amd/refcnt", "12\n"},
	    {"/proc/700/comm", "qemu-system-x86\n"},
	    {"/proc/900/comm", "qemu-system-x86\n"},
	    {NULL, NULL},
	};
	static const char of_c[] = "qemu-system-x86_64\0-name\0guest=c";
	static const char of_b[] = "qemu-system-x86_64\0-name\0guest=b";
	struct tree *tree = machine();
	struct vm_joined *made = NULL;
	struct err err = {0};

	(void)state;
	tree_add(tree, files);
	tree_write_bytes(tree, "/proc/700/cmdline", of_c, sizeof(of_c));
	tree_write_bytes(tree, "/proc/900/cmdline", of_b, sizeof(of_b));
	assert_int_equal(vm_joined_read(tree_host(tree), NULL, &made, &err), 0);
	CLEANUP(vm_joined_free_pointer) struct vm_joined *vms = made;

	assert_int_equal(vms->count, 3);
	assert_int_equal(vms->running_count, 2);
	assert_string_equal(vms->vms[0]->name, "c");
	assert_string_equal(vms->vms[1]->name, "b");
	assert_string_equal(vms->vms[2]->name, "a");
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_none),
	    cmocka_unit_test(test_declared),
	    cmocka_unit_test(test_running_beside_declared),
	    cmocka_unit_test(test_joined_in_order_of_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
