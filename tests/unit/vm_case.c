/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in vm_case.h. */
#include "unit.h"

#include "vm_case.h"

#include "machine.h"
#include "vm_xml.h"

static const char well_made[] =
    "<domain type='kvm'><name>web1</name><memory unit='GiB'>4</memory><memoryBacking></memoryBacking>"
    "<vcpu placement='static'>8</vcpu><cputune>" OWN_PINS "<emulatorpin cpuset='4-5'/></cputune>"
    "<numatune><memory mode='strict' nodeset='0'/></numatune>"
    "<os><type arch='x86_64' machine='q35'>hvm</type></os><features></features>"
    "<cpu mode='host-passthrough'><topology sockets='1' dies='1' cores='4' threads='2'/>"
    "<feature policy='require' name='topoext'/></cpu><clock offset='utc'></clock>"
    "<devices></devices></domain>";

/* cmocka hands state to tests, not to tables of them. */
static struct tree *the_tree;

int vm_cases_setup(void **state)
{
	struct machine machine = {
	    .packages = 1, .nodes = 2, .l3s = 2, .cores = 4, .threads = 2, .family = 25, .model = 17};

	(void)state;
	the_tree = machine_tree(&machine);
	tree_write(the_tree, "/sys/devices/system/cpu/isolated", "\n");
	tree_write(the_tree, "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	tree_write(the_tree, "/proc/meminfo",
		   "MemTotal:       67108864 kB\nMemFree:        60000000 kB\nHugepagesize:       2048 kB\n");
	tree_write(the_tree, "/proc/sys/kernel/numa_balancing", "0\n");
	tree_write(the_tree, "/sys/kernel/mm/ksm/run", "0\n");
	tree_write(the_tree, "/sys/module/kvm/parameters/halt_poll_ns", "200000\n");
	return tree_host(the_tree) ? 0 : -1;
}

int vm_cases_teardown(void **state)
{
	(void)state;
	the_tree = tree_free(the_tree);
	return 0;
}

static const char *edit(struct arena *arena, const char *xml, const struct vm_edit *edit)
{
	const char *at = strstr(xml, edit->find);

	if (!at)
		fail_msg("\"%s\" is not in the XML", edit->find);
	return arena_printf(arena, "%.*s%s%s", (int)(at - xml), xml, edit->put, at + strlen(edit->find));
}

static struct vm *make_vm(const struct vm_case *one)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *xml = well_made;
	struct vm *vm = NULL;
	struct err err = {0};

	for (size_t i = 0; one && i < VM_EDITS_MAX && one->edits[i].find; i++)
		xml = edit(arena, xml, &one->edits[i]);
	if (vm_read_libvirt_xml("web1.xml", xml, strlen(xml), &vm, &err) < 0)
		fail_msg("%s: %s\n%s", one ? one->id : "unchanged", err.what, xml);
	if (one && one->vm)
		one->vm(vm);
	return vm;
}

static struct advise_result *judge(struct host *host, struct vm *vm)
{
	struct advise_subject subject = {
	    .host = host, .vms = &vm, .vm_count = 1, .path = "web1.xml", .rule_prefixes = "vm."};

	return advise_run(&subject);
}

struct host *vm_cases_host(void)
{
	return tree_host(the_tree);
}

struct advise_result *vm_cases_unchanged(struct vm **ret_vm)
{
	*ret_vm = make_vm(NULL);
	return judge(tree_host(the_tree), *ret_vm);
}

static void run_case(const struct vm_case *one)
{
	struct host *host = tree_host(the_tree);
	struct host saved = *host;
	struct vm *vm = make_vm(one);

	if (one->host)
		one->host(host);
	struct advise_result *result = judge(host, vm);
	const struct advise_finding *finding = tree_find(result, one->id);

	if (one->severity == VM_SILENT && finding)
		fail_msg("%s: must be silent, says: %s", one->id, finding->title);
	if (one->severity != VM_SILENT && !finding)
		fail_msg("%s: does not fire%s%s", one->id, one->says ? ": " : "", one->says ? one->says : "");
	if (finding && (int)finding->severity != one->severity)
		fail_msg("%s: is %s: %s", one->id, advise_severity_name(finding->severity), finding->title);
	if (finding && one->says && !strstr(finding->title, one->says) &&
	    !(finding->detail && strstr(finding->detail, one->says)))
		fail_msg("%s: says \"%s\" (%s), not \"%s\"", one->id, finding->title,
			 finding->detail ? finding->detail : "", one->says);
	if (finding)
		assert_string_equal(finding->vm, vm->name);
	(void)advise_result_free(result);
	(void)vm_free(vm);
	*host = saved;
}

void vm_cases_run(const struct vm_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		run_case(&cases[i]);
}

void vm_cases_cover(const struct advise_rule *rules, const struct vm_case *cases, size_t count)
{
	struct vm *vm;
	struct advise_result *result = vm_cases_unchanged(&vm);

	for (; rules->id; rules++) {
		bool fires = tree_has(result, rules->id), silent = !fires;

		for (size_t i = 0; i < count; i++) {
			fires |= text_equal(cases[i].id, rules->id) && cases[i].severity != VM_SILENT;
			silent |= text_equal(cases[i].id, rules->id) && cases[i].severity == VM_SILENT;
		}
		if (!fires || !silent)
			fail_msg("%s: no case in which it %s", rules->id, fires ? "is silent" : "fires");
	}
	(void)advise_result_free(result);
	(void)vm_free(vm);
}
