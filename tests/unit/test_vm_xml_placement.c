/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the part of a domain XML in which a placement stands: taken out, put back, compared. */
#include <errno.h>
#include <string.h>

#include "text.h"
#include "unit.h"
#include "vm_xml_placement.h"

static const char plain[] = "<domain type='kvm'>\n"
			    "  <name>web</name>\n"
			    "  <memory unit='KiB'>4194304</memory>\n"
			    "  <vcpu placement='static'>2</vcpu>\n"
			    "  <os>\n"
			    "    <type arch='x86_64'>hvm</type>\n"
			    "  </os>\n"
			    "  <devices>\n"
			    "    <graphics type='vnc' passwd='secret'/>\n"
			    "  </devices>\n"
			    "</domain>\n";

static const char pinned[] = "<domain type='kvm'>\n"
			     "  <name>web</name>\n"
			     "  <memory unit='KiB'>4194304</memory>\n"
			     "  <memoryBacking>\n"
			     "    <hugepages/>\n"
			     "  </memoryBacking>\n"
			     "  <vcpu placement='static'>2</vcpu>\n"
			     "  <cputune>\n"
			     "    <shares>2048</shares>\n"
			     "    <vcpupin vcpu='0' cpuset='4'/>\n"
			     "    <vcpupin vcpu='1' cpuset='5'/>\n"
			     "  </cputune>\n"
			     "  <os>\n"
			     "    <type arch='x86_64'>hvm</type>\n"
			     "  </os>\n"
			     "  <cpu mode='host-passthrough'/>\n"
			     "  <devices>\n"
			     "    <graphics type='vnc' passwd='secret'/>\n"
			     "  </devices>\n"
			     "</domain>\n";

static const char *placement_of(struct arena *arena, const char *text)
{
	const char *placement = NULL;
	struct err err = {0};

	if (vm_xml_placement(arena, "test", text, strlen(text), &placement, &err) < 0)
		fail_msg("%s", err.what);
	return placement;
}

static const char *put(struct arena *arena, const char *text, const char *placement)
{
	const char *changed = NULL;
	struct err err = {0};

	if (vm_xml_placement_put(arena, "test", text, strlen(text), placement, &changed, &err) < 0)
		fail_msg("%s", err.what);
	return changed;
}

static void taken_out(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *placement = placement_of(arena, pinned);

	(void)state;
	assert_string_equal(placement_of(arena, plain),
			    "<placement>\n  <vcpu placement='static'>2</vcpu>\n</placement>\n");
	assert_non_null(strstr(placement, "  <cputune>\n    <shares>2048</shares>\n"));
	assert_non_null(strstr(placement, "<hugepages/>"));
	assert_non_null(strstr(placement, "<cpu mode='host-passthrough'/>"));
	assert_null(strstr(placement, "secret"));
	assert_null(strstr(placement, "hvm"));
}

static void put_back(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *to_pinned = put(arena, plain, placement_of(arena, pinned));

	(void)state;
	/* Byte for byte, there and back, elements made and removed. */
	assert_string_equal(to_pinned, pinned);
	assert_string_equal(put(arena, pinned, placement_of(arena, plain)), plain);
	assert_string_equal(put(arena, pinned, placement_of(arena, pinned)), pinned);
}

static void the_rest_stays(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	static const char disk[] = "    <disk type='block' device='disk'><target dev='vda'/></disk>\n";
	const char *at = strstr(pinned, "    <graphics");
	const char *later = arena_printf(arena, "%.*s%s%s", (int)(at - pinned), pinned, disk, at);
	const char *back = put(arena, later, placement_of(arena, plain));

	(void)state;
	assert_non_null(strstr(back, disk));
	assert_null(strstr(back, "<cputune>"));
	assert_non_null(strstr(back, "passwd='secret'"));
}

static void assert_same(bool expected, const char *a, const char *b)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *one = arena_printf(arena, "<placement>%s</placement>", a);
	const char *other = arena_printf(arena, "<placement>%s</placement>", b);

	if (vm_xml_placement_same(one, other) != expected || vm_xml_placement_same(other, one) != expected)
		fail_msg("%s: %s | %s", expected ? "not the same" : "the same", a, b);
}

static void what_is_the_same(void **state)
{
	(void)state;
	assert_same(true, "<vcpu placement='static'>2</vcpu>", "\n  <vcpu>2</vcpu>\n");
	assert_same(true, "<cputune><vcpupin vcpu='0' cpuset='4,5'/></cputune>",
		    "<cputune>\n\t<vcpupin cpuset=\"4-5\" vcpu=\"0\"></vcpupin></cputune>");
	assert_same(true, "<cputune><emulatorpin cpuset='1'/><vcpupin vcpu='0' cpuset='4'/></cputune>",
		    "<cputune><vcpupin vcpu='0' cpuset='4'/><emulatorpin cpuset='1'/></cputune>");
	assert_same(true, "<memoryBacking><hugepages><page size='1' unit='GiB'/></hugepages></memoryBacking>",
		    "<memoryBacking><hugepages><page size='1048576' unit='KiB'/></hugepages></memoryBacking>");
	assert_same(true, "<cpu><topology sockets='1' cores='2' threads='2'/></cpu>",
		    "<cpu><topology sockets='1' dies='1' clusters='1' cores='2' threads='2'/></cpu>");
	assert_same(true, "<memoryBacking>\n  </memoryBacking>", "");
	assert_same(true, "<numatune><memory mode='strict' placement='static' nodeset='0'/></numatune>",
		    "<numatune><memory mode='strict' nodeset='0'/></numatune>");
}

static void what_differs(void **state)
{
	(void)state;
	assert_same(false, "<vcpu>2</vcpu>", "<vcpu>4</vcpu>");
	assert_same(false, "<vcpu placement='auto'>2</vcpu>", "<vcpu>2</vcpu>");
	assert_same(false, "<cputune><vcpupin vcpu='0' cpuset='4'/></cputune>",
		    "<cputune><vcpupin vcpu='0' cpuset='5'/></cputune>");
	assert_same(false, "<cputune><vcpupin vcpu='0' cpuset='4'/><vcpupin vcpu='1' cpuset='5'/></cputune>",
		    "<cputune><vcpupin vcpu='0' cpuset='5'/><vcpupin vcpu='1' cpuset='4'/></cputune>");
	assert_same(false, "<memoryBacking><hugepages/></memoryBacking>", "");
	assert_same(false, "<cpu><topology sockets='1' dies='2' cores='2' threads='2'/></cpu>",
		    "<cpu><topology sockets='1' cores='2' threads='2'/></cpu>");
	assert_same(false, "<cpu mode='host-passthrough'/>", "<cpu mode='host-model'/>");
	assert_same(false, "<cpu/>", "");
	assert_same(false, "<vcpu>2", "<vcpu>2</vcpu>");
}

static void what_is_refused(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	static const char other[] = "<network/>", snapshot[] = "<domainsnapshot><domain type='kvm'><name>a</name>"
							       "</domain></domainsnapshot>";
	const char *text = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(vm_xml_placement(arena, "t", other, strlen(other), &text, &err), -EINVAL);
	assert_int_equal(vm_xml_placement(arena, "t", snapshot, strlen(snapshot), &text, &err), -EOPNOTSUPP);
	assert_int_equal(vm_xml_placement_put(arena, "t", plain, strlen(plain), "<domain/>", &text, &err), -EINVAL);
	assert_int_equal(vm_xml_placement_put(arena, "t", plain, strlen(plain), "4-7", &text, &err), -EINVAL);
	assert_null(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(taken_out),	cmocka_unit_test(put_back),	cmocka_unit_test(the_rest_stays),
	    cmocka_unit_test(what_is_the_same), cmocka_unit_test(what_differs), cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
