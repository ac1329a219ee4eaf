/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the texts that command lines of QEMU stand in: scripts, logs, arguments, and hostile ones. */
#include <errno.h>

#include "vm_qemu_unit.h"

static void refused(const char *text, size_t size, int code, unsigned at_line, const char *what)
{
	struct vm *vm = NULL;
	struct err err = {0};

	assert_int_equal(vm_read_qemu_line("test.sh", text, size, &vm, &err), -code);
	assert_null(vm);
	assert_int_equal(err.line, at_line);
	if (!strstr(err.what, what) || strchr(err.what, '\n'))
		fail_msg("\"%s\" does not say \"%s\" in one line", err.what, what);
}

/* ---- texts ---- */

static void test_scripts(void **state)
{
	(void)state;
	READ(script, "#!/bin/sh\n"
		     "# starts qemu-system-x86_64 -smp 99\n"
		     "modprobe kvm -v; qemu-img create -f qcow2 'disk.img' 10G > /dev/null 2>&1\n"
		     "if [ -e /dev/kvm ]; then exec \\\n"
		     "  LC_ALL=C taskset -c '0-3' qemu-system-x86_64 \\\r\n"
		     "  -name \"my \\\"vm\\\"\" -smp 4\\\n"
		     ",threads=2 -m 2G # memory\n"
		     "fi\n");
	assert_string_equal(script->name, "my \"vm\"");
	assert_int_equal(script->vcpu_max, 4);
	assert_int_equal(script->cpu.threads, 2);
	assert_int_equal(script->memory_kib, 2097152);
	assert_list(&script->cpuset, "0-3");
	assert_int_equal(script->vcpu_place.line, 6);
	assert_int_equal(script->cputune_place.line, 5);
	assert_int_equal(script->note_count, 0);

	READ(variable, "\"$QEMU\" -smp 2 -m 1G");
	assert_int_equal(variable->vcpu_max, 2);
	READ(bare, "-smp 3 -cpu host");
	assert_int_equal(bare->vcpu_max, 3);
	READ(array,
	     "args=(-smp 4 -m 1G)\nargs+=(\n -cpu host # the best\n)\nqemu-system-x86_64 \"${args[@]}\" -name x &\n");
	assert_int_equal(array->vcpu_max, 4);
	assert_string_equal(array->cpu.model, "host");
	assert_string_equal(array->name, "x");
	READ(two, "qemu-system-x86_64 -smp 2 -m 1G\nkvm -smp 3\n");
	assert_int_equal(two->vcpu_max, 2);
	assert_true(has_note(two, "1 more command line of QEMU"));
	READ(cut, "qemu-system-x86_64 -smp 2 \\\n# -m 8G \\\n -cpu host\n");
	assert_null(cut->cpu.model);
	assert_true(has_note(cut, "ends before line 2"));
	READ(config, "qemu-system-x86_64 -readconfig vm.cfg -m 1G");
	assert_true(has_note(config, "-readconfig vm.cfg is not read"));
	READ(nothing, "qemu-system-x86_64 -m 1G -smp");
	assert_true(has_note(nothing, "-smp has no argument"));
	READ(list, "qemu-system-x86_64 -smp 2 -numa node,cpus=0-99999999");
	assert_true(has_note(list, "cpus=0-99999999 is no list"));
}

static void test_unknown_options(void **state)
{
	(void)state;
	WITH(vm, "-no-such-thing -smp 4 -other-thing value -m 1G -S -monitor stdio -serial - -cpu host");
	assert_int_equal(vm->vcpu_max, 4);
	assert_int_equal(vm->memory_kib, 1048576);
	assert_string_equal(vm->cpu.model, "host");
	assert_int_equal(vm->disk_count, 0);
}

static void test_argv(void **state)
{
	static const char argv[] = "/usr/bin/qemu-system-x86_64\0-name\0guest=a b,debug-threads=on\0-smp\0"
				   "2,sockets=1\0-append\0quiet $x \"\0";

	(void)state;
	CLEANUP(vm_free_pointer) struct vm *vm = must_read_bytes(argv, sizeof(argv) - 1);
	assert_string_equal(vm->name, "a b");
	assert_int_equal(vm->vcpu_max, 2);
}

static void test_looks_like(void **state)
{
	static const char *const yes[] = {"qemu-system-x86_64 -m 1G", "/usr/libexec/qemu-kvm -smp 2", "kvm -m 512",
					  "-machine q35 -smp 2", "FOO=1 sudo /usr/bin/kvm -m 1"};
	static const char *const no[] = {"",
					 "cores: 4\nmemory: 1024\n",
					 "<domain type='kvm'><name>x</name></domain>",
					 "echo qemu-system-x86_64 -m 1G",
					 "modprobe kvm",
					 "options kvm_amd npt=1 nested=0\n",
					 "quiet amd_iommu=on",
					 "qemu-img info x",
					 "it's"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!vm_looks_like_qemu_line(yes[i], strlen(yes[i])))
			fail_msg("not taken: %s", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (vm_looks_like_qemu_line(no[i], strlen(no[i])))
			fail_msg("taken: %s", no[i]);
}

/* ---- hostile ---- */

static void test_refused(void **state)
{
	static const struct {
		const char *text, *what;
		int code;
		unsigned line;
	} cases[] = {
	    {"hello world", "no command line of QEMU", EINVAL, 0},
	    {"", "no command line of QEMU", EINVAL, 0},
	    {"qemu-system-x86_64 \\\n -smp 1000000", "more than QEMU takes (4096)", ERANGE, 2},
	    {"qemu-system-x86_64 -smp sockets=4096,cores=4096,threads=4096", "more than QEMU takes", ERANGE, 1},
	    {"qemu-system-x86_64 -smp abc", "\"abc\" is no number", EINVAL, 1},
	    {"qemu-system-x86_64 -smp -3", "is no number", EINVAL, 1},
	    {"qemu-system-x86_64 -m 1X", "\"1X\" is no size", EINVAL, 1},
	    {"qemu-system-x86_64 -m 99999999999999G", "is no size", EINVAL, 1},
	    {"\n\nqemu-system-x86_64 -name 'x", "a single quote is opened here", EINVAL, 3},
	    {"qemu-system-x86_64 -name \"x", "a double quote is opened here", EINVAL, 1},
	    {"qemu-system-x86_64 -name $(x", "a substitution is opened here", EINVAL, 1},
	    {"qemu-system-x86_64 -device '{\"driver\":'", "JSON that cannot be read", EINVAL, 1},
	    {"qemu-system-x86_64 -numa node,nodeid=1 -numa node,nodeid=1", "is there twice", EINVAL, 1},
	    {"qemu-system-x86_64 -numa node,nodeid=500", "more than QEMU takes (127)", ERANGE, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		refused(cases[i].text, strlen(cases[i].text), cases[i].code, cases[i].line, cases[i].what);
	refused("a\0b\0\0\0", 6, EINVAL, 0, "no command line of QEMU");
}

static void test_huge_texts(void **state)
{
	enum { MANY = 10 * 1024 * 1024, WORDS = 100000 };
	CLEANUP(base_free) char *text = malloc(MANY);
	static const char front[] = "qemu-system-x86_64 -smp 2 -name ";

	(void)state;
	memset(text, 'a', MANY);
	memcpy(text, front, strlen(front));
	refused(text, MANY, EFBIG, 0, "are no command line");
	refused(text, 4 * 1024 * 1024, ENAMETOOLONG, 0, "at most 255 can be");
	CLEANUP(vm_free_pointer) struct vm *vm = must_read_bytes(text, strlen(front) + 255);
	assert_int_equal(vm->vcpu_max, 2);
	for (size_t i = strlen(front); i < 2 * WORDS; i++)
		text[i] = i % 2 ? 'x' : ' ';
	refused(text, (size_t)2 * WORDS, E2BIG, 1, "words in one command");
	memset(text + strlen(front), '[', 100000);
	static const char device[] = "qemu-system-x86_64 -object {[{[{[";

	memcpy(text, device, strlen(device));
	refused(text, 100000, EINVAL, 1, "JSON");
}

/* A log of libvirt: a line of words, then assignments and the command over many lines. */
static void test_log_of_libvirt(void **state)
{
	(void)state;
	READ(vm, "2026-01-02 03:04:05.678+0000: starting up libvirt version: 11.0.0, package: 1 (Builder <a@b>, 2026), "
		 "qemu version: 9.2.0, kernel: 6.12, hostname: h\n"
		 "LC_ALL=C \\\nPATH=/usr/bin \\\n/usr/bin/qemu-system-x86_64 \\\n-name guest=web,debug-threads=on \\\n"
		 "-machine pc-q35-9.2,usb=off,memory-backend=pc.ram,hpet=off,acpi=on \\\n-accel kvm \\\n"
		 "-cpu host,migratable=on,topoext=on,host-cache-info=on,l3-cache=off \\\n-m size=2097152k \\\n"
		 "-object '{\"qom-type\":\"memory-backend-memfd\",\"id\":\"pc.ram\",\"hugetlb\":true,"
		 "\"hugetlbsize\":2097152,\"prealloc\":true,\"size\":2147483648,\"host-nodes\":[1],\"policy\":\"bind\"}"
		 "' \\\n"
		 "-smp 4,sockets=1,dies=1,clusters=1,cores=2,threads=2 \\\n-msg timestamp=on\n"
		 "char device redirected to /dev/pts/1 (label charserial0)\n");
	assert_string_equal(vm->name, "web");
	assert_string_equal(vm->type, "kvm");
	assert_int_equal(vm->vcpu_max, 4);
	assert_int_equal(vm->memory_kib, 2097152);
	assert_int_equal(vm->pages[0].size_kib, 2048);
	assert_list(&vm->numa_nodes, "1");
	assert_string_equal(vm->cpu.cache_mode, "passthrough");
	assert_int_equal(vm->vcpu_place.line, 11);
	assert_int_equal(vm->note_count, 0);
}

/* What is repeated must not multiply: each of these is a few MiB. */
static void test_texts_that_would_multiply(void **state)
{
	enum { SIZE = 3 * 1024 * 1024 };
	CLEANUP(base_free) char *text = calloc(1, SIZE + 1);
	static const char command[] = "\nqemu-system-x86_64 -smp 2\n", key[] = "qemu-system-x86_64 -object {\\\"";
	size_t at = 0;

	(void)state;
	for (at = (size_t)sprintf(text, "a=("); at < 30000; at += 2)
		memcpy(text + at, "x ", 2);
	at += (size_t)sprintf(text + at, ")\n");
	for (int i = 0; at < SIZE - sizeof(command) - 64; i++)
		at += (size_t)sprintf(text + at, "b%d=(${a[@]})\n", i);
	memcpy(text + at, command, sizeof(command));
	CLEANUP(vm_free_pointer) struct vm *vm = must_read(text);
	assert_int_equal(vm->vcpu_max, 2);

	memset(text, 'k', SIZE);
	memcpy(text, key, strlen(key));
	at = SIZE / 2;
	at += (size_t)sprintf(text + at, "\\\":[");
	for (; at < SIZE - 8; at += 2)
		memcpy(text + at, "1,", 2);
	memcpy(text + at, "1]}", 4);
	refused(text, strlen(text), EINVAL, 1, "JSON with a key of more than");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_argv),
	    cmocka_unit_test(test_huge_texts),
	    cmocka_unit_test(test_log_of_libvirt),
	    cmocka_unit_test(test_looks_like),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_scripts),
	    cmocka_unit_test(test_texts_that_would_multiply),
	    cmocka_unit_test(test_unknown_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
