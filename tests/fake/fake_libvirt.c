/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the library; see fake_libvirt.h. */
#include "fake_libvirt_cpus.h"
#include "fake_libvirt_internal.h"

#include <dirent.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL FAKE_ALL

__attribute__((visibility("default"))) struct fake_libvirt fake_libvirt;

/* For the library beside it, of the agents in guests (fake_libvirt_agent.c). */
__attribute__((visibility("default"))) int fake_libvirt_fail(int code, const char *message);
__attribute__((visibility("default"))) int fake_libvirt_guest(virDomainPtr domain, char *ret, size_t size);

static _Thread_local virError last;
static _Thread_local char last_message[256];

int fake_fail(int code, const char *message)
{
	(void)snprintf(last_message, sizeof(last_message), "%s", message);
	last = (virError){.code = code, .message = last_message};
	return -1;
}

int fake_libvirt_fail(int code, const char *message)
{
	return fake_fail(code, message);
}

/* ---- files ---- */

const char *fake_path_of(const struct _virDomain *domain, const char *directory, const char *ending)
{
	static _Thread_local char path[4][2 * PATH];
	static _Thread_local int turn;

	turn = (turn + 1) % 4;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s/%s%s", domain->connection->root, directory, domain->name,
		       ending);
	return path[turn];
}

int fake_read_text(const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(ret, 1, size - 1, file) : 0;

	ret[got] = '\0';
	if (!file)
		return -1;
	(void)fclose(file);
	return 0;
}

void fake_write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

int fake_pid_of(const struct _virDomain *domain)
{
	char text[32];

	return fake_read_text(RUNTIME(domain, ".pid"), text, sizeof(text)) < 0 ? 0 : (int)strtol(text, NULL, 10);
}

/* ---- pins ---- */

/* The line "KIND INDEX LIST"; the list is ALL where there is none. */
static void get_pin(const struct _virDomain *domain, const char *kind, unsigned index, char *ret, size_t size)
{
	char pins[TEXT], key[NAME];

	(void)snprintf(key, sizeof(key), "%s %u ", kind, index);
	(void)snprintf(ret, size, "%s", ALL);
	(void)fake_read_text(RUNTIME(domain, ".pins"), pins, sizeof(pins));
	for (char *line = strtok(pins, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line, key, strlen(key)) == 0)
			(void)snprintf(ret, size, "%s", line + strlen(key));
}

void fake_put_pin(const struct _virDomain *domain, const char *kind, unsigned index, const char *list)
{
	char pins[TEXT], changed[TEXT] = "", key[NAME];
	int found = 0;

	(void)snprintf(key, sizeof(key), "%s %u ", kind, index);
	(void)fake_read_text(RUNTIME(domain, ".pins"), pins, sizeof(pins));
	for (char *line = strtok(pins, "\n"); line; line = strtok(NULL, "\n")) {
		int it = strncmp(line, key, strlen(key)) == 0;

		(void)snprintf(changed + strlen(changed), sizeof(changed) - strlen(changed), "%s%s\n", it ? key : line,
			       it ? list : "");
		found |= it;
	}
	if (!found)
		(void)snprintf(changed + strlen(changed), sizeof(changed) - strlen(changed), "%s%s\n", key, list);
	fake_write_text(RUNTIME(domain, ".pins"), changed);
}

/* What the kernel would show of the thread. */
void fake_put_status(const struct _virDomain *domain, int tid, const char *key, const char *list)
{
	char path[2 * PATH], text[TEXT], changed[TEXT], *line, *end;

	(void)snprintf(path, sizeof(path), "%s/proc/%d/task/%d/status", domain->connection->root, fake_pid_of(domain),
		       tid);
	if (fake_read_text(path, text, sizeof(text)) < 0 || !(line = strstr(text, key)))
		return;
	line += strlen(key);
	end = line + strcspn(line, "\n");
	(void)snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(line - text), text, list, end);
	fake_write_text(path, changed);
}

/* The thread of that name; 0: none. */
int fake_tid_of(const struct _virDomain *domain, const char *name)
{
	char path[2 * PATH], text[NAME];
	struct dirent *entry;
	DIR *directory;
	int found = 0;

	(void)snprintf(path, sizeof(path), "%s/proc/%d/task", domain->connection->root, fake_pid_of(domain));
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		(void)snprintf(path, sizeof(path), "%s/proc/%d/task/%s/comm", domain->connection->root,
			       fake_pid_of(domain), entry->d_name);
		if (fake_read_text(path, text, sizeof(text)) == 0 && strncmp(text, name, strlen(name)) == 0 &&
		    text[strlen(name)] == '\n')
			found = (int)strtol(entry->d_name, NULL, 10);
	}
	if (directory)
		(void)closedir(directory);
	return found;
}

void fake_end_domain(const struct _virDomain *domain)
{
	char from[2 * PATH], to[2 * PATH], pid[32];

	(void)snprintf(from, sizeof(from), "%s/proc/%d", domain->connection->root, fake_pid_of(domain));
	(void)snprintf(to, sizeof(to), "%s/proc/gone-%s", domain->connection->root, domain->name);
	(void)snprintf(pid, sizeof(pid), "%d\n", fake_pid_of(domain));
	(void)rename(from, to);
	fake_write_text(RUNTIME(domain, ".off"), pid);
	(void)unlink(RUNTIME(domain, ".live"));
	(void)unlink(RUNTIME(domain, ".pid"));
	(void)unlink(RUNTIME(domain, ".pins"));
}

/* Before each change of a VM: may it be made? */
int fake_begin_change(const struct _virDomain *domain)
{
	if (domain->connection->looks)
		return fake_fail(VIR_ERR_OPERATION_DENIED, "operation forbidden for read only access");
	fake_libvirt.changes++;
	if (fake_libvirt.changes == fake_libvirt.vanish_at)
		fake_end_domain(domain);
	if (fake_libvirt.changes == fake_libvirt.fail_at)
		return fake_fail(VIR_ERR_SYSTEM_ERROR, "Unable to write to 'cpuset.cpus': No space left on device");
	if (!fake_pid_of(domain))
		return fake_fail(VIR_ERR_OPERATION_INVALID, "Requested operation is not valid: domain is not running");
	return 0;
}

static int pin(virDomainPtr domain, const char *kind, unsigned index, const char *thread, const unsigned char *map,
	       int size)
{
	unsigned long long set = 0, limit = ~0ULL;
	char list[256], narrowed[256], text[256];
	int tid;

	for (int cpu = 0; cpu < size * 8 && cpu < CPUS; cpu++)
		if (map[cpu / 8] >> (cpu % 8) & 1)
			set |= 1ULL << cpu;
	if (fake_begin_change(domain) < 0)
		return -1;
	tid = thread ? fake_tid_of(domain, thread) : fake_pid_of(domain);
	if (!tid || !set)
		return fake_fail(VIR_ERR_INVALID_ARG, "invalid argument: vcpu or iothread not found");
	if (fake_read_text(RUNTIME(domain, ".cpuset"), text, sizeof(text)) == 0)
		limit = parse(text);
	format(set, list, sizeof(list));
	format(set & limit ? set & limit : limit, narrowed, sizeof(narrowed));
	fake_put_pin(domain, kind, index, list);
	fake_put_status(domain, tid, "Cpus_allowed_list:\t", narrowed);
	return 0;
}

/* ---- the calls ---- */

static virConnectPtr connect_to(const char *name, int looks)
{
	static const char scheme[] = "test://", file[] = "/etc/libvirt/test.xml";
	struct _virConnect *connection;
	const char *end = name ? strstr(name, file) : NULL, *fail_at = getenv("FAKE_LIBVIRT_FAIL_AT");
	const char *root = getenv("FAKE_LIBVIRT_ROOT");
	char whole[2 * PATH];

	/* The system's libvirt, of a hvtune that measures this machine. */
	if (root && name && strcmp(name, "qemu:///system") == 0) {
		(void)snprintf(whole, sizeof(whole), "%s%s%s", scheme, root, file);
		name = whole;
		end = strstr(name, file);
	}
	if (fail_at)
		fake_libvirt.fail_at = (int)strtol(fail_at, NULL, 10);
	if (fake_libvirt.refuse == 1 || (fake_libvirt.refuse == 3 && !looks)) {
		(void)fake_fail(VIR_ERR_AUTH_UNAVAILABLE, "authentication unavailable: no polkit agent available");
		return NULL;
	}
	if (fake_libvirt.refuse == 2 || !end || strncmp(name, scheme, strlen(scheme)) != 0) {
		(void)fake_fail(VIR_ERR_SYSTEM_ERROR, "Failed to connect socket to '/var/run/libvirt/libvirt-sock'");
		return NULL;
	}
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		abort();
	connection->looks = looks;
	(void)snprintf(connection->root, sizeof(connection->root), "%.*s", (int)(end - name - (long)strlen(scheme)),
		       name + strlen(scheme));
	return connection;
}

virConnectPtr virConnectOpen(const char *name)
{
	return connect_to(name, 0);
}

virConnectPtr virConnectOpenReadOnly(const char *name)
{
	return connect_to(name, 1);
}

int virConnectClose(virConnectPtr connection)
{
	free(connection);
	return 0;
}

void virSetErrorFunc(void *data, virErrorFunc handler)
{
	(void)data, (void)handler;
}

virErrorPtr virGetLastError(void)
{
	return last.code ? &last : NULL;
}

int virDomainFree(virDomainPtr domain)
{
	free(domain);
	return 0;
}

static virDomainPtr make_domain(virConnectPtr connection, const char *name)
{
	struct _virDomain *domain = calloc(1, sizeof(*domain));
	char text[TEXT];
	const char *uuid;

	if (!domain)
		abort();
	domain->connection = connection;
	(void)snprintf(domain->name, sizeof(domain->name), "%s", name);
	if (fake_read_text(DEFINITION(domain), text, sizeof(text)) < 0 &&
	    fake_read_text(RUNTIME(domain, ".live"), text, sizeof(text)) < 0) {
		free(domain);
		(void)fake_fail(VIR_ERR_NO_DOMAIN, "Domain not found");
		return NULL;
	}
	uuid = strstr(text, "<uuid>");
	if (uuid)
		(void)snprintf(domain->uuid, sizeof(domain->uuid), "%.36s", uuid + strlen("<uuid>"));
	return domain;
}

virDomainPtr virDomainLookupByName(virConnectPtr connection, const char *name)
{
	return make_domain(connection, name);
}

virDomainPtr virDomainLookupByUUIDString(virConnectPtr connection, const char *uuid)
{
	static const char *const directories[] = {"etc/libvirt/qemu", "run/libvirt/qemu"};
	virDomainPtr found = NULL;

	for (int i = 0; i < 2 && !found; i++) {
		char path[2 * PATH], name[NAME];
		struct dirent *entry;
		DIR *directory;

		(void)snprintf(path, sizeof(path), "%s/%s", connection->root, directories[i]);
		directory = opendir(path);
		while (directory && !found && (entry = readdir(directory))) {
			char *dot = strrchr(entry->d_name, '.');

			if (!dot || (strcmp(dot, ".xml") != 0 && strcmp(dot, ".live") != 0))
				continue;
			(void)snprintf(name, sizeof(name), "%.*s", (int)(dot - entry->d_name), entry->d_name);
			found = make_domain(connection, name);
			if (found && strcmp(found->uuid, uuid) != 0) {
				free(found);
				found = NULL;
			}
		}
		if (directory)
			(void)closedir(directory);
	}
	if (!found)
		(void)fake_fail(VIR_ERR_NO_DOMAIN, "Domain not found: no domain with matching uuid");
	return found;
}

const char *virDomainGetName(virDomainPtr domain)
{
	return domain->name;
}

int virDomainGetUUIDString(virDomainPtr domain, char *buf)
{
	(void)memcpy(buf, domain->uuid, sizeof(domain->uuid));
	return 0;
}

int virDomainIsActive(virDomainPtr domain)
{
	return access(RUNTIME(domain, ".live"), F_OK) == 0;
}

int virDomainIsPersistent(virDomainPtr domain)
{
	return access(DEFINITION(domain), F_OK) == 0;
}

int virDomainHasManagedSaveImage(virDomainPtr domain, unsigned flags)
{
	return (void)flags, access(RUNTIME(domain, ".save"), F_OK) == 0;
}

/* Only who may write is told passwords, and only when he asks. */
static void hide_passwords(char *text)
{
	static const char key[] = " passwd=\"";
	char *at = strstr(text, key), *end = at ? strchr(at + strlen(key), '"') : NULL;

	if (end)
		(void)memmove(at, end + 1, strlen(end + 1) + 1);
}

static void insert_pins(const struct _virDomain *domain, char *text, size_t size)
{
	static const char mark[] = "@PINS@";
	char pins[TEXT], elements[TEXT] = "", rest[TEXT], *at = strstr(text, mark);

	if (!at)
		return;
	(void)fake_read_text(RUNTIME(domain, ".pins"), pins, sizeof(pins));
	for (char *line = strtok(pins, "\n"); line; line = strtok(NULL, "\n")) {
		char *index = strchr(line, ' '), *list = index ? strchr(index + 1, ' ') : NULL, number[2 * NAME] = "";

		if (!list || strncmp(line, "memory ", strlen("memory ")) == 0)
			continue;
		*index++ = *list++ = '\0';
		if (strcmp(line, "emulator") != 0)
			(void)snprintf(number, sizeof(number), " %.32s='%.16s'", line, index);
		(void)snprintf(elements + strlen(elements), sizeof(elements) - strlen(elements),
			       "<%spin%s cpuset='%s'/>", line, number, list);
	}
	(void)snprintf(rest, sizeof(rest), "%s", at + strlen(mark));
	(void)snprintf(at, size - (size_t)(at - text), "%s%s", elements, rest);
}

char *virDomainGetXMLDesc(virDomainPtr domain, unsigned flags)
{
	char text[TEXT];
	int declared = (flags & VIR_DOMAIN_XML_INACTIVE) || !virDomainIsActive(domain);

	if (domain->connection->looks && (flags & VIR_DOMAIN_XML_SECURE)) {
		(void)fake_fail(VIR_ERR_OPERATION_DENIED, "operation forbidden for read only access");
		return NULL;
	}
	if (fake_read_text(declared ? DEFINITION(domain) : RUNTIME(domain, ".live"), text, sizeof(text)) < 0) {
		(void)fake_fail(VIR_ERR_NO_DOMAIN, "Domain not found");
		return NULL;
	}
	if (!(flags & VIR_DOMAIN_XML_SECURE))
		hide_passwords(text);
	insert_pins(domain, text, sizeof(text));
	return strdup(text);
}

static void normalise_one(xmlNode *node)
{
	xmlChar *unit = xmlGetNoNsProp(node, (const xmlChar *)"unit");
	xmlChar *size = xmlGetNoNsProp(node, (const xmlChar *)"size");
	xmlChar *queues = xmlGetNoNsProp(node, (const xmlChar *)"queues");
	char kib[32];

	if (strcmp((const char *)node->name, "topology") == 0 && !xmlHasProp(node, (const xmlChar *)"clusters"))
		(void)xmlNewProp(node, (const xmlChar *)"clusters", (const xmlChar *)"1");
	if (unit && size && strcmp((const char *)unit, "GiB") == 0) {
		(void)snprintf(kib, sizeof(kib), "%lld", strtoll((const char *)size, NULL, 10) << 20);
		(void)xmlSetProp(node, (const xmlChar *)"unit", (const xmlChar *)"KiB");
		(void)xmlSetProp(node, (const xmlChar *)"size", (const xmlChar *)kib);
	}
	/* Of a NIC's queues only more than one are kept. */
	if (queues && strcmp((const char *)queues, "1") == 0 &&
	    strcmp((const char *)node->parent->name, "interface") == 0)
		(void)xmlUnsetProp(node, (const xmlChar *)"queues");
	xmlFree(unit);
	xmlFree(size);
	xmlFree(queues);
}

/* libvirt writes all numbers of a topology, all sizes in KiB, and no element that says nothing. */
static void normalise(xmlNode *parent)
{
	static const char *const droppable[] = {"cputune", "memoryBacking", "numatune", "driver"};

	for (xmlNode *node = parent->children, *next; node; node = next) {
		int drop = 0;

		next = node->next;
		if (node->type == XML_ELEMENT_NODE) {
			normalise(node);
			normalise_one(node);
		}
		for (size_t i = 0; i < sizeof(droppable) / sizeof(*droppable); i++)
			drop |= strcmp((const char *)node->name, droppable[i]) == 0;
		if (node->type == XML_COMMENT_NODE || (drop && !node->properties && !node->children) ||
		    xmlIsBlankNode(node)) {
			xmlUnlinkNode(node);
			xmlFreeNode(node);
		}
	}
}

virDomainPtr virDomainDefineXMLFlags(virConnectPtr connection, const char *xml, unsigned flags)
{
	xmlDoc *document = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NOBLANKS | XML_PARSE_NONET);
	const char *open = strstr(xml, "<name>"), *end = open ? strstr(open, "</name>") : NULL;
	struct _virDomain domain = {.connection = connection};
	xmlChar *text = NULL;
	int size = 0;

	fake_libvirt.changes++;
	if (connection->looks || !document || !end || flags != VIR_DOMAIN_DEFINE_VALIDATE ||
	    fake_libvirt.changes == fake_libvirt.fail_at) {
		(void)fake_fail(VIR_ERR_XML_INVALID_SCHEMA, "XML document failed to validate against schema");
		xmlFreeDoc(document);
		return NULL;
	}
	(void)snprintf(domain.name, sizeof(domain.name), "%.*s", (int)(end - open - (long)strlen("<name>")),
		       open + strlen("<name>"));
	normalise(xmlDocGetRootElement(document));
	xmlDocDumpFormatMemory(document, &text, &size, 1);
	fake_write_text(DEFINITION(&domain), (const char *)text);
	xmlFree(text);
	xmlFreeDoc(document);
	return make_domain(connection, domain.name);
}

static void fill_map(const char *list, unsigned char *map, int size)
{
	unsigned long long set = parse(list);

	(void)memset(map, 0, (size_t)size);
	for (int cpu = 0; cpu < CPUS && cpu < size * 8; cpu++)
		if (set >> cpu & 1)
			map[cpu / 8] |= (unsigned char)(1U << (cpu % 8));
}

int virDomainGetVcpuPinInfo(virDomainPtr domain, int ncpumaps, unsigned char *cpumaps, int maplen, unsigned flags)
{
	int vcpu = 0;

	(void)flags;
	for (; vcpu < ncpumaps; vcpu++) {
		char list[256], name[NAME];

		(void)snprintf(name, sizeof(name), "CPU %d/KVM", vcpu);
		if (!fake_tid_of(domain, name))
			break;
		get_pin(domain, "vcpu", (unsigned)vcpu, list, sizeof(list));
		fill_map(list, cpumaps + (long)vcpu * maplen, maplen);
	}
	return vcpu;
}

int virDomainPinVcpuFlags(virDomainPtr domain, unsigned vcpu, unsigned char *cpumap, int maplen, unsigned flags)
{
	char name[NAME];

	(void)flags;
	(void)snprintf(name, sizeof(name), "CPU %u/KVM", vcpu);
	return pin(domain, "vcpu", vcpu, name, cpumap, maplen);
}

int virDomainGetEmulatorPinInfo(virDomainPtr domain, unsigned char *cpumaps, int maplen, unsigned flags)
{
	char list[256];

	(void)flags;
	get_pin(domain, "emulator", 0, list, sizeof(list));
	fill_map(list, cpumaps, maplen);
	return 1;
}

int virDomainPinEmulator(virDomainPtr domain, unsigned char *cpumap, int maplen, unsigned flags)
{
	(void)flags;
	return pin(domain, "emulator", 0, NULL, cpumap, maplen);
}

int virDomainPinIOThread(virDomainPtr domain, unsigned iothread_id, unsigned char *cpumap, int maplen, unsigned flags)
{
	char name[NAME];

	(void)flags;
	(void)snprintf(name, sizeof(name), "IO iothread%u", iothread_id);
	return pin(domain, "iothread", iothread_id, name, cpumap, maplen);
}

int virDomainGetNumaParameters(virDomainPtr domain, virTypedParameterPtr params, int *nparams, unsigned flags)
{
	char list[256];

	(void)flags;
	if (*nparams == 0) {
		*nparams = 2;
		return 0;
	}
	get_pin(domain, "memory", 0, list, sizeof(list));
	params[0] = (virTypedParameter){.field = VIR_DOMAIN_NUMA_MODE, .type = VIR_TYPED_PARAM_INT};
	params[1] = (virTypedParameter){.field = VIR_DOMAIN_NUMA_NODESET, .type = VIR_TYPED_PARAM_STRING};
	params[1].value.s = strdup(list);
	*nparams = 2;
	return 0;
}

int virDomainSetNumaParameters(virDomainPtr domain, virTypedParameterPtr params, int nparams, unsigned flags)
{
	if (nparams != 1 || flags != VIR_DOMAIN_AFFECT_LIVE || params->type != VIR_TYPED_PARAM_STRING)
		return fake_fail(VIR_ERR_INVALID_ARG, "invalid argument");
	if (fake_begin_change(domain) < 0)
		return -1;
	fake_put_pin(domain, "memory", 0, params->value.s);
	fake_put_status(domain, fake_pid_of(domain), "Mems_allowed_list:\t", params->value.s);
	return 0;
}

void virTypedParamsClear(virTypedParameterPtr params, int nparams)
{
	for (int i = 0; i < nparams; i++)
		if (params[i].type == VIR_TYPED_PARAM_STRING)
			free(params[i].value.s);
}

/* The directory that plays the guest; 1 when the connection may only look. */
int fake_libvirt_guest(virDomainPtr domain, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%s", RUNTIME(domain, ".guest"));
	return domain->connection->looks;
}
