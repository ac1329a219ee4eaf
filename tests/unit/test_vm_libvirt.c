/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of asking libvirt, against the test driver that its library brings along: no daemon is needed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"
#include "unit.h"
#include "vm_libvirt.h"

/* Read, or skip the running test where there is no libvirt. */
static struct vm_libvirt *read_uri(const char *uri)
{
	struct vm_libvirt *libvirt = NULL;
	struct err err = {0};
	int status = vm_libvirt_read(uri, &libvirt, &err);

	if (status == -ENOSYS || status == -ENOENT) {
		print_message("%s\n", err.what);
		skip();
	}
	if (status < 0)
		fail_msg("%s: %s", err.where, err.what);
	return libvirt;
}

static void test_default(void **state)
{
	CLEANUP(vm_libvirt_free_pointer) struct vm_libvirt *libvirt = read_uri("test:///default");
	const struct vm_libvirt_domain *it = &libvirt->domains[0];

	(void)state;
	assert_int_equal(libvirt->count, 1);
	assert_string_equal(libvirt->uri, "test:///default");
	assert_string_equal(it->name, "test");
	assert_null(it->problem);
	assert_string_equal(it->running->name, "test");
	assert_string_equal(it->running->path, "test:///default");
	assert_int_equal(it->running->source, VM_LIBVIRT_LIVE);
	assert_int_equal(it->running->state, VM_STATE_RUNNING);
	assert_int_equal(it->running->vcpu_max, 2);
	assert_int_equal(it->running->memory_kib, 8 << 20);
	assert_true(it->running->vcpus[1].running.given);
	assert_int_equal(it->declared->state, VM_STATE_DEFINED);
	assert_false(it->declared->vcpus[1].running.given);
	assert_non_null(strstr(it->running_xml, "<domain type='test' id="));
	assert_null(strstr(it->declared_xml, " id='"));
}

static void test_pins(void **state)
{
	static const char node[] = "<node><cpu><nodes>1</nodes><sockets>1</sockets><cores>8</cores><threads>1</"
				   "threads><active>8</active></cpu>"
				   "<domain type='test'><name>pinned</name><memory>1024</memory><vcpu>2</vcpu>"
				   "<cputune><vcpupin vcpu='0' cpuset='3'/><vcpupin vcpu='1' cpuset='4-5'/></cputune>"
				   "<os><type>hvm</type></os></domain></node>";
	char path[] = "/tmp/hvtune-test-XXXXXX.xml", uri[64];
	int file = mkstemps(path, 4);

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, node, strlen(node)), strlen(node));
	(void)close(file);
	(void)snprintf(uri, sizeof(uri), "test://%s", path);

	struct vm_libvirt *libvirt = NULL;
	struct err err = {0};
	int status = vm_libvirt_read(uri, &libvirt, &err);

	(void)unlink(path);
	if (status == -ENOSYS || status == -ENOENT)
		skip();
	if (status < 0)
		fail_msg("%s", err.what);
	assert_int_equal(libvirt->count, 1);

	const struct vm *vm = libvirt->domains[0].running;

	assert_string_equal(vm->name, "pinned");
	assert_int_equal(cpuset_count(&vm->vcpus[0].running.set), 1);
	assert_true(cpuset_has(&vm->vcpus[0].running.set, 3));
	assert_true(cpuset_has(&vm->vcpus[1].running.set, 4));
	assert_true(cpuset_has(&vm->vcpus[1].running.set, 5));
	assert_int_equal(cpuset_count(&vm->vcpus[1].running.set), 2);
	(void)vm_libvirt_free(libvirt);
}

static void test_no_connection(void **state)
{
	struct vm_libvirt *libvirt = NULL;
	struct err err = {0};
	int status = vm_libvirt_read("nosuchdriver:///x", &libvirt, &err);

	(void)state;
	if (status == -ENOSYS || status == -ENOENT)
		skip();
	assert_int_equal(status, -ECONNREFUSED);
	assert_null(libvirt);
	assert_string_equal(err.where, "nosuchdriver:///x");
	assert_true(err.what[0] && !strchr(err.what, '\n'));
}

static void test_another_host_is_not_asked(void **state)
{
	static const struct tree_file files[] = {{"/run/libvirt/libvirt-sock-ro", ""}, {NULL, NULL}};
	struct tree *tree = tree_new(files);

	(void)state;
	tree_add_amd(tree, 4, 4, 25, 17);
	assert_false(vm_libvirt_listens(tree_host(tree)->sys));
	(void)tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_default),
	    cmocka_unit_test(test_pins),
	    cmocka_unit_test(test_no_connection),
	    cmocka_unit_test(test_another_host_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
