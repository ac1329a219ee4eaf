/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of XML that is broken, hostile or something else: one clear line, within memory and time. */
#include <errno.h>
#include <string.h>

#include "text.h"
#include "unit.h"
#include "vm_xml.h"

/* Reading fails with a message of one line that contains `says`. */
static struct err refused(const char *text, size_t size, int status, const char *says)
{
	struct vm *vm = NULL;
	struct err err = {0};
	int got = vm_read_libvirt_xml("bad.xml", text, size, &vm, &err);

	if (got != status)
		fail_msg("%.40s: status %d, not %d: %s", text, got, status, err.what);
	assert_null(vm);
	assert_string_equal(err.where, "bad.xml");
	if (!strstr(err.what, says) || strchr(err.what, '\n'))
		fail_msg("%.40s: says \"%s\", not \"%s\"", text, err.what, says);
	return err;
}

static struct err refused_text(const char *text, const char *says)
{
	return refused(text, strlen(text), -EINVAL, says);
}

/* `count` times `piece` between `before` and `after`. */
static char *repeat(struct arena *arena, const char *before, const char *piece, size_t count, const char *after)
{
	size_t length = strlen(piece), head = strlen(before);
	char *text = arena_alloc(arena, head + length * count + strlen(after) + 1);

	memcpy(text, before, head);
	for (size_t i = 0; i < count; i++)
		memcpy(text + head + i * length, piece, length);
	memcpy(text + head + count * length, after, strlen(after));
	return text;
}

static void test_broken(void **state)
{
	struct err err =
	    refused_text("<domain>\n <vcpu>4</vcpu>\n <os></os><oops>\n</domain>\n", "not well-formed XML");

	(void)state;
	assert_int_equal(err.line, 4);
	assert_true(err.column > 0);
	refused_text("", "empty");
	refused_text("root=/dev/sda quiet", "this is not XML");
	refused_text("<", "this is not XML");
	refused_text("<domain", "not well-formed XML");
	refused_text("<!-- no end", "not well-formed XML");
	refused_text("<?xml version='1.0'?>", "not well-formed XML");
	refused_text("<domain/><domain/>", "not well-formed XML");
	refused_text("<domain>&undeclared;</domain>", "not well-formed XML");
	refused_text("<domain a='1' a='2'/>", "not well-formed XML");
	refused("<domain>\0</domain>", 18, -EINVAL, "not well-formed XML");
	refused("\0\0\0\0<domain/>", 13, -EINVAL, "this is not XML");
}

static void test_other_documents(void **state)
{
	static const char *const cases[][2] = {
	    {"<network><name>default</name></network>", "this is a network, not a domain"},
	    {"<pool type='dir'/>", "this is a storage pool, not a domain"},
	    {"<capabilities/>", "this is the capabilities of a host, not a domain"},
	    {"<domainCapabilities/>", "this is the capabilities of domains, not a domain"},
	    {"<volume/>", "this is a storage volume, not a domain"},
	    {"<device/>", "this is a node device, not a domain"},
	    {"<topology version='2.0'/>", "this is hwloc's picture of a host, not a domain"},
	    {"<html/>", "the outermost element is <html>: this is not a domain"},
	    {"<domainsnapshot><name>a</name></domainsnapshot>", "this <domainsnapshot> holds no domain"},
	    {"<x:domain xmlns:x='urn:x'/>", "this is not a domain"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = refused_text(cases[i][0], cases[i][1]);

		assert_int_equal(err.line, 1);
		assert_true(vm_looks_like_libvirt_xml(cases[i][0], strlen(cases[i][0])));
	}
}

static void test_entities(void **state)
{
	/* Whether expanded, of the file system, or only declared: nothing after <!DOCTYPE is read. */
	static const char *const cases[] = {
	    "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
	    "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>]>"
	    "<domain><name>&d;</name></domain>",
	    "<!DOCTYPE d [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><domain><name>&f;</name></domain>",
	    "<!DOCTYPE d SYSTEM 'http://localhost/x.dtd'><domain/>",
	    "<!DOCTYPE domain><domain/>",
	    "<!DOCTYPE d [<!ENTITY % p SYSTEM 'file:///dev/zero'> %p;]><domain/>",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		refused_text(cases[i], "document type declaration");
}

static void test_sizes(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *deep = repeat(arena, "<domain>", "<a>", 100000, "");
	const char *name = repeat(arena, "<domain><", "n", 9 << 20, "/></domain>");
	const char *attribute = repeat(arena, "<domain><a b='", "n", 9 << 20, "'/></domain>");
	const char *tags = repeat(arena, "<domain>", "<a/>", 400000, "</domain>");
	const char *disks = repeat(arena, "<domain><devices>", "<disk/>", 5000, "</devices></domain>");
	const char *pins =
	    repeat(arena, "<domain><cputune>", "<iothreadpin iothread='1' cpuset='0'/>", 5000, "</cputune></domain>");
	const char *large = repeat(arena, "<domain>", " ", VM_XML_BYTES_MAX, "</domain>");
	struct vm *vm = NULL;

	(void)state;
	refused(deep, strlen(deep), -EINVAL, "depth");
	refused(name, strlen(name), -EINVAL, "XML");
	refused(tags, strlen(tags), -E2BIG, "tags");
	refused(disks, strlen(disks), -E2BIG, "more than 4096 <disk>");
	refused(pins, strlen(pins), -E2BIG, "more than 4096 <iothreadpin>");
	refused(large, strlen(large), -E2BIG, "larger than 10 MiB");
	/* Long, but within libxml2's limits: read, or refused in one line. */
	if (vm_read_libvirt_xml("bad.xml", attribute, strlen(attribute), &vm, NULL) == 0)
		vm = vm_free(vm);
}

static void test_counts(void **state)
{
	static const char *const cases[] = {
	    "<domain>\n <vcpu>0</vcpu></domain>",    "<domain>\n <vcpu>-3</vcpu></domain>",
	    "<domain>\n <vcpu>four</vcpu></domain>", "<domain>\n <vcpu></vcpu></domain>",
	    "<domain>\n <vcpu>4097</vcpu></domain>", "<domain>\n <vcpu>99999999999999999999</vcpu></domain>",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = refused_text(cases[i], "not a number of vCPUs");

		assert_int_equal(err.line, 2);
		assert_int_equal(err.column, 2);
	}
}

static void test_encodings(void **state)
{
	static const char latin[] = "<?xml version='1.0' encoding='ISO-8859-1'?><domain><name>caf\xe9</name></domain>";
	static const char wrong[] = "<domain><name>caf\xe9</name></domain>";
	static const char unknown[] = "<?xml version='1.0' encoding='KLINGON'?><domain><name>a</name></domain>";
	static const char bom[] = "\xef\xbb\xbf<domain>\n<vcpu>2</vcpu></domain>";
	static const char utf16[] = "\xff\xfe<\0d\0o\0m\0a\0i\0n\0>\0\n\0<\0n\0a\0m\0e\0>\0w\0<\0/\0n\0a\0m\0e\0>\0"
				    "<\0v\0c\0p\0u\0>\0"
				    "2\0<\0/\0v\0c\0p\0u\0>\0<\0/\0d\0o\0m\0a\0i\0n\0>";
	struct vm *vm = NULL;

	(void)state;
	assert_int_equal(vm_read_libvirt_xml("l.xml", latin, strlen(latin), &vm, NULL), 0);
	assert_string_equal(vm->name, "caf\xc3\xa9");
	vm = vm_free(vm);
	refused_text(wrong, "not well-formed XML: Input is not proper UTF-8");
	refused_text(unknown, "not well-formed XML");
	assert_int_equal(vm_read_libvirt_xml("b.xml", bom, strlen(bom), &vm, NULL), 0);
	assert_int_equal(vm->vcpu_place.line, 2);
	vm = vm_free(vm);
	/* As PowerShell writes what virsh prints. */
	assert_int_equal(vm_read_libvirt_xml("u.xml", utf16, sizeof(utf16), &vm, NULL), 0);
	assert_string_equal(vm->name, "w");
	assert_int_equal(vm->vcpu_max, 2);
	assert_int_equal(vm->vcpu_place.line, 2);
	assert_int_equal(vm->vcpu_place.column, 0);
	vm = vm_free(vm);
}

static void test_lines_beyond_65535(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *text = repeat(arena, "<domain>", "\n", 70000, "  <vcpu\n>2</vcpu></domain>");
	const char *bad = repeat(arena, "<domain>", "\n", 70000, "</vcpu>");
	struct vm *vm = NULL;

	(void)state;
	assert_int_equal(vm_read_libvirt_xml("long.xml", text, strlen(text), &vm, NULL), 0);
	assert_int_equal(vm->vcpu_place.line, 70001);
	assert_int_equal(vm->vcpu_place.column, 3);
	vm = vm_free(vm);
	assert_int_equal(refused_text(bad, "not well-formed").line, 70001);
}

static void test_looks(void **state)
{
	static const struct {
		const char *text;
		bool looks;
	} cases[] = {
	    {"<domain/>", true},
	    {"\n\t <domain/>", true},
	    {"<?xml version='1.0'?>", true},
	    {"<!-- a -->", true},
	    {"\xef\xbb\xbf<d/>", true},
	    {"< domain>", false},
	    {"<3 quiet", false},
	    {"", false},
	    {"a <b>", false},
	    {"agent: 1\n", false},
	    {"<", false},
	    {"   ", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (vm_looks_like_libvirt_xml(cases[i].text, strlen(cases[i].text)) != cases[i].looks)
			fail_msg("\"%s\"", cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_broken),
	    cmocka_unit_test(test_other_documents),
	    cmocka_unit_test(test_entities),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_encodings),
	    cmocka_unit_test(test_lines_beyond_65535),
	    cmocka_unit_test(test_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
