/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns parsing a text as XML without trusting it, finding the domain in it, and the order in which its parts are read.
 */
#include "vm_xml.h"

#include <ctype.h>
#include <errno.h>
#include <libxml/parser.h>

#include "text.h"
#include "vm_xml_parts.h"

enum { MARKUP_MAX = 1 << 18 /* "<" in one text; a domain of 4096 pinned vCPUs has about 20000 */ };

/* What the parser's callbacks need; it hangs on the parser context. */
struct parse {
	const char *path;
	struct err *err;
	int failed; /* first negative errno */
};

/* What libvirt's other documents are, and XML of others that lies near. */
static const struct {
	const char *element, *is, *hint;
} documents[] = {
    {"capabilities", "this is the capabilities of a host, not a domain", "virsh dumpxml NAME prints a domain"},
    {"cpu", "this is a CPU alone, not a domain", NULL},
    {"device", "this is a node device, not a domain", NULL},
    {"disk", "this is a disk alone, not a domain", NULL},
    {"domainCapabilities", "this is the capabilities of domains, not a domain", "virsh dumpxml NAME prints a domain"},
    {"domains", "this is a list of domains, not one domain", "give each <domain> a file of its own"},
    {"filter", "this is a network filter, not a domain", NULL},
    {"interface", "this is a network interface, not a domain", NULL},
    {"network", "this is a network, not a domain", NULL},
    {"networkport", "this is a network port, not a domain", NULL},
    {"networkstatus", "this is the state of a network, not a domain", NULL},
    {"node", "this is the configuration of a node, not a domain", NULL},
    {"pool", "this is a storage pool, not a domain", NULL},
    {"poolstate", "this is the state of a storage pool, not a domain", NULL},
    {"secret", "this is a secret, not a domain", NULL},
    {"sysinfo", "this is system information, not a domain", NULL},
    {"topology", "this is hwloc's picture of a host, not a domain", "hand it to --host"},
    {"volume", "this is a storage volume, not a domain", NULL},
};

/* Documents that hold a <domain>. */
static const char *const wrappers[] = {"domainbackup", "domaincheckpoint", "domainsnapshot", "domstatus",
				       "qemu-migration"};

/* ---- the text ---- */

static void note_error(void *user, const xmlError *error)
{
	xmlParserCtxt *context = user;
	struct parse *parse = context->_private;
	size_t length = error->message ? strcspn(error->message, "\r\n") : 0;

	/* The first fault is the cause. Warnings, and prefixes that are not declared, are none. */
	if (parse->failed || error->level != XML_ERR_FATAL)
		return;
	if (error->code == XML_ERR_NO_MEMORY)
		err_no_memory();

	/* Words of the parser's that speak to programmers: "...: 256 use XML_PARSE_HUGE option". */
	const char *advice = error->message ? strstr(error->message, " use XML_PARSE_HUGE") : NULL;

	length = advice ? (size_t)(advice - error->message) : length;
	/* The parser refuses these because of its own limits. */
	bool limit = error->code == XML_ERR_NAME_TOO_LONG || error->code == XML_ERR_ATTRIBUTE_NOT_FINISHED ||
		     error->code == XML_ERR_INTERNAL_ERROR;

	parse->failed = err_set_at(parse->err, EINVAL, parse->path, error->line > 0 ? (unsigned)error->line : 0,
				   error->int2 > 0 ? (unsigned)error->int2 : 0, "%s: %.*s",
				   limit ? "no XML that a domain has" : "not well-formed XML",
				   (int)MIN_OF(length, (size_t)200), error->message ? error->message : "");
}

/* xmlStructuredErrorFunc takes a pointer to const since libxml2 2.12 only. */
#if LIBXML_VERSION >= 21200
static void on_error(void *user, const xmlError *error)
#else
static void on_error(void *user, xmlError *error)
#endif
{
	note_error(user, error);
}

/* Called at <!DOCTYPE, before anything in it is read. */
static void on_document_type(void *user, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
	xmlParserCtxt *context = user;
	struct parse *parse = context->_private;

	(void)name, (void)external, (void)system;
	if (!parse->failed)
		parse->failed =
		    err_set_at(parse->err, EINVAL, parse->path, (unsigned)MAX_OF(context->input->line, 0), 0,
			       "a document type declaration, which no domain has; entities are not read");
	xmlStopParser(context);
}

static bool too_much_markup(const char *text, size_t size)
{
	const char *end = text + size;
	int count = 0;

	while ((text = memchr(text, '<', (size_t)(end - text))) && ++count <= MARKUP_MAX)
		text++;
	return count > MARKUP_MAX;
}

static int check_size(const char *path, const char *text, size_t size, struct err *err)
{
	if (size > VM_XML_BYTES_MAX)
		return err_set(err, E2BIG, path, "larger than %d MiB: no domain is", VM_XML_BYTES_MAX / 1024 / 1024);
	if (!vm_looks_like_libvirt_xml(text, size))
		return err_set(err, EINVAL, path, size ? "this is not XML" : "empty");
	if (too_much_markup(text, size))
		return err_set(err, E2BIG, path, "more than %d tags: no domain has as many", MARKUP_MAX);
	return 0;
}

static int parse_text(const char *path, const char *text, size_t size, xmlDoc **ret, struct err *err)
{
	struct parse parse = {.path = path, .err = err};
	int status = check_size(path, text, size, err);

	if (status < 0)
		return status;

	xmlParserCtxt *context = xmlNewParserCtxt();

	if (!context)
		err_no_memory();
	context->_private = &parse;
	context->sax->serror = on_error;
	context->sax->internalSubset = on_document_type;

	xmlDoc *doc = xmlCtxtReadMemory(context, text, (int)size, NULL, NULL,
					XML_PARSE_NONET | XML_PARSE_BIG_LINES | XML_PARSE_NOCDATA);

	xmlFreeParserCtxt(context);
	if (doc && !parse.failed) {
		*ret = doc;
		return 0;
	}
	xmlFreeDoc(doc);
	return parse.failed ? parse.failed : err_set(err, EINVAL, path, "not well-formed XML");
}

static size_t blank_size(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
		at++;
	return at;
}

bool vm_looks_like_libvirt_xml(const char *text, size_t size)
{
	static const char utf16_le[] = {'\xff', '\xfe', '<', '\0'}, utf16_be[] = {'\xfe', '\xff', '\0', '<'};

	if (size >= 4 && (memcmp(text, utf16_le, 4) == 0 || memcmp(text, utf16_be, 4) == 0))
		return true;
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}

	size_t at = blank_size(text, size);

	if (size - at < 3 || text[at] != '<')
		return false;

	unsigned char next = (unsigned char)text[at + 1];

	return next == '?' || next == '!' || next == '_' || next >= 0x80 || isalpha(next);
}

/* ---- the domain in it ---- */

/* Set the places of all nodes: both lists are in the order of the start tags. */
static void join_places(const xmlDoc *doc, const struct vm_xml_scan *scan)
{
	xmlNode *node = xmlDocGetRootElement(doc), *root = node;
	int at = 0;

	while (node && at < scan->count) {
		if (node->type == XML_ELEMENT_NODE)
			node->_private = &scan->elements[at++];
		if (node->children) {
			node = node->children;
			continue;
		}
		while (node != root && !node->next)
			node = node->parent;
		node = node == root ? NULL : node->next;
	}
}

static int refuse_document(struct vm_xml_reader *reader, const xmlNode *root)
{
	const char *path = reader->vm->path;
	struct vm_place place = vm_xml_place(reader, root);

	for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
		if (!text_equal((const char *)root->name, documents[i].element))
			continue;

		int status = err_set_at(reader->err, EINVAL, path, place.line, place.column, "%s", documents[i].is);

		if (documents[i].hint)
			(void)err_hint(reader->err, "%s", documents[i].hint);
		return status;
	}
	return err_set_at(reader->err, EINVAL, path, place.line, place.column,
			  "the outermost element is <%.60s>: this is not a domain", (const char *)root->name);
}

static int find_domain(struct vm_xml_reader *reader, const xmlDoc *doc, const xmlNode **ret)
{
	const xmlNode *root = xmlDocGetRootElement(doc);

	if (vm_xml_named(root, "domain")) {
		*ret = root;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++) {
		if (!vm_xml_named(root, wrappers[i]))
			continue;

		const xmlNode *domain = vm_xml_first(root, "domain");
		struct vm_place place = vm_xml_place(reader, root);

		if (!domain)
			return err_set_at(reader->err, EINVAL, reader->vm->path, place.line, place.column,
					  "this <%s> holds no domain", wrappers[i]);
		if (!text_equal(wrappers[i], "domstatus"))
			vm_add_note(reader->vm, vm_xml_place(reader, domain),
				    arena_printf(reader->vm->arena, "the domain as a <%s> keeps it", wrappers[i]));
		*ret = domain;
		return 0;
	}
	return refuse_document(reader, root);
}

/* ---- its parts ---- */

static void read_identity(struct vm_xml_reader *reader, const xmlNode *domain)
{
	struct vm *vm = reader->vm;
	const xmlNode *type = vm_xml_at(domain, "os/type");

	vm->name = vm_xml_text(reader, vm_xml_first(domain, "name"));
	vm->uuid = vm_xml_text(reader, vm_xml_first(domain, "uuid"));
	vm->type = vm_xml_attribute(reader, domain, "type");
	vm->machine = vm_xml_attribute(reader, type, "machine");
	vm->arch = vm_xml_attribute(reader, type, "arch");
	vm->launch_security = vm_xml_attribute(reader, vm_xml_first(domain, "launchSecurity"), "type");
	/* Only a domain that runs, or ran when it was dumped, has an id. */
	vm->state = vm_xml_attribute(reader, domain, "id") ? VM_STATE_RUNNING : VM_STATE_DEFINED;
}

static bool in_namespace(const xmlNode *node, const char *name, const char *uri)
{
	return node->type == XML_ELEMENT_NODE && node->ns && text_equal((const char *)node->name, name) &&
	       text_starts((const char *)node->ns->href, uri);
}

/* What virt-manager notes of the operating system it installed: <libosinfo:os id="http://microsoft.com/win/10"/>. */
static void read_os_hint(struct vm_xml_reader *reader, const xmlNode *domain)
{
	static const char uri[] = "http://libosinfo.org/xmlns/libvirt/domain/";
	const xmlNode *metadata = vm_xml_first(domain, "metadata");

	for (const xmlNode *info = metadata ? metadata->children : NULL; info; info = info->next) {
		if (!in_namespace(info, "libosinfo", uri))
			continue;
		for (const xmlNode *os = info->children; os; os = os->next) {
			const char *id = in_namespace(os, "os", uri) ? vm_xml_attribute(reader, os, "id") : NULL;

			if (id && strstr(id, "://microsoft.com/"))
				reader->vm->os_hint = "windows";
		}
	}
}

static void read_arguments(struct vm_xml_reader *reader, const xmlNode *domain)
{
	static const char uri[] = "http://libvirt.org/schemas/domain/qemu/";
	struct vm *vm = reader->vm;

	for (const xmlNode *line = domain->children; line; line = line->next) {
		int count = 0;

		if (!in_namespace(line, "commandline", uri))
			continue;
		for (const xmlNode *arg = line->children; arg; arg = arg->next)
			count += in_namespace(arg, "arg", uri);
		vm->qemu_args = ARENA_ARRAY(vm->arena, (size_t)count, const char *);
		if (count)
			vm_add_note(vm, vm_xml_place(reader, line),
				    "qemu:commandline hands words to QEMU past libvirt; they are not judged");
		vm->qemu_arg_count = 0;
		for (const xmlNode *arg = line->children; arg; arg = arg->next) {
			const char *value =
			    in_namespace(arg, "arg", uri) ? vm_xml_attribute(reader, arg, "value") : NULL;

			if (value)
				vm->qemu_args[vm->qemu_arg_count++] = value;
		}
		return;
	}
}

/* libvirt's own state file, /run/libvirt/qemu/NAME.xml: state, pid and threads stand around the domain. */
static void read_status(struct vm_xml_reader *reader, const xmlNode *domain)
{
	struct vm *vm = reader->vm;
	const xmlNode *status = domain->parent;

	if (!vm_xml_named(status, "domstatus"))
		return;

	const char *state = vm_xml_attribute(reader, status, "state");

	vm->state = text_equal(state, "shutoff") || text_equal(state, "crashed") ? VM_STATE_DEFINED : VM_STATE_RUNNING;
	vm->pid = (int)vm_xml_number(reader, status, "pid", 0, INT32_MAX, 0);
	VM_XML_EACH (vcpu, vm_xml_first(status, "vcpus"), "vcpu") {
		int64_t id = vm_xml_number(reader, vcpu, "id", 0, INT32_MAX, -1);

		if (id >= 0 && id < vm->vcpu_max) /* others can be plugged in */
			vm->vcpus[id].tid = (int)vm_xml_number(reader, vcpu, "pid", 0, INT32_MAX, 0);
	}
}

static int read_domain(struct vm_xml_reader *reader, const xmlDoc *doc)
{
	static void (*const parts[])(struct vm_xml_reader *, const xmlNode *) = {
	    read_identity,	   read_os_hint,	read_arguments,	 vm_xml_read_vcpus,
	    vm_xml_read_iothreads, vm_xml_read_cputune, vm_xml_read_cpu, vm_xml_read_memory,
	    vm_xml_read_features,  vm_xml_read_devices, read_status,
	};
	const xmlNode *domain = NULL;
	int status = find_domain(reader, doc, &domain);

	for (size_t i = 0; i < ARRAY_SIZE(parts) && status == 0; i++) {
		parts[i](reader, domain);
		status = reader->failed;
	}
	return status < 0 ? status : vm_check_name(reader->vm, reader->err);
}

int vm_read_libvirt_xml(const char *path, const char *text, size_t size, struct vm **ret, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *scratch = arena_new();
	struct vm_xml_reader reader = {.err = err};
	xmlDoc *doc = NULL;
	int status = parse_text(path, text, size, &doc, err);

	if (status < 0)
		return status;
	reader.vm = vm_new(VM_LIBVIRT_XML, path);
	/* Where it cannot be scanned, messages have the lines that libxml2 knows. */
	if (vm_xml_can_scan(text, size) && vm_xml_scan(scratch, text, size, &reader.scan, NULL) == 0)
		join_places(doc, &reader.scan);
	status = read_domain(&reader, doc);
	xmlFreeDoc(doc);
	if (status < 0)
		reader.vm = vm_free(reader.vm);
	else
		*ret = reader.vm;
	return status;
}
