/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns loading libvirt's library and asking it. Compiled only where libvirt's headers are. Only functions that libvirt
 * lets a read-only connection call are loaded at all.
 */
#include "vm_libvirt_api.h"

#include <errno.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "library.h"
#include "text.h"
#include "vm_xml.h"

/* clang-format off */
#define LIBVIRT_FUNCTIONS(X)                                                                                           \
	X(virConnectClose) X(virConnectListAllDomains) X(virConnectOpenReadOnly) X(virDomainFree)                      \
	X(virDomainGetIOThreadInfo) X(virDomainGetName) X(virDomainGetVcpus) X(virDomainGetXMLDesc)                    \
	X(virDomainIOThreadInfoFree) X(virDomainIsActive) X(virDomainIsPersistent) X(virGetLastErrorMessage)           \
	X(virSetErrorFunc)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct api {
	LIBVIRT_FUNCTIONS(DECLARE)
};

/* What one call works with. */
struct asking {
	struct api api;
	virConnectPtr connection;
	struct vm_libvirt *libvirt;
	struct err *err;
};

static int load(struct api *api, const char *uri, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&api->name},
	    LIBVIRT_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libvirt.so.0"},
					.name = "libvirt's library",
					.where = uri,
					.install = "libvirt0 (Debian, Ubuntu) or libvirt-libs (Fedora, RHEL)",
					.errnum = ENOENT};

	return library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);
}

/* libvirt prints each error on its own otherwise. */
static void on_libvirt_error(void *data, virErrorPtr error)
{
	(void)data, (void)error;
}

static struct cpuset cpus_of(const unsigned char *map, size_t size)
{
	struct cpuset set = {0};

	for (size_t cpu = 0; cpu < MIN_OF(size * 8, (size_t)CPUSET_MAX); cpu++)
		if (map[cpu / 8] & (1U << (cpu % 8)))
			cpuset_add(&set, (int)cpu);
	return set;
}

/* Where the threads may run now, as the kernel told libvirt. */
static void read_vcpus(struct asking *asking, virDomainPtr domain, struct vm *vm)
{
	enum { MAP = CPUSET_MAX / 8 };
	CLEANUP(base_free) unsigned char *maps = calloc((size_t)vm->vcpu_max, MAP);
	CLEANUP(base_free) virVcpuInfo *info = calloc((size_t)vm->vcpu_max, sizeof(*info));

	if (!maps || !info)
		err_no_memory();

	int count = asking->api.virDomainGetVcpus(domain, info, vm->vcpu_max, maps, MAP);

	for (int i = 0; i < MIN_OF(count, vm->vcpu_max); i++) {
		struct cpuset set = cpus_of(maps + (size_t)i * MAP, MAP);

		if (info[i].number >= (unsigned)vm->vcpu_max || cpuset_empty(&set))
			continue;
		vm->vcpus[info[i].number].running = (struct vm_set){.given = true, .set = set};
	}
}

static void read_iothreads(struct asking *asking, virDomainPtr domain, struct vm *vm)
{
	virDomainIOThreadInfoPtr *info = NULL;
	int count = asking->api.virDomainGetIOThreadInfo(domain, &info, VIR_DOMAIN_AFFECT_LIVE);

	for (int i = 0; i < count; i++) {
		struct cpuset set = cpus_of(info[i]->cpumap, (size_t)MAX_OF(info[i]->cpumaplen, 0));

		for (int at = 0; at < vm->iothread_count && !cpuset_empty(&set); at++)
			if (vm->iothreads[at].id == info[i]->iothread_id)
				vm->iothreads[at].running = (struct vm_set){.given = true, .set = set};
		asking->api.virDomainIOThreadInfoFree(info[i]);
	}
	free(info);
}

/* One version of a VM; NULL with `problem` set when it cannot be read. */
static struct vm *read_version(struct asking *asking, virDomainPtr domain, unsigned flags, struct vm_libvirt_domain *it,
			       const char **ret_xml)
{
	struct arena *arena = asking->libvirt->arena;
	CLEANUP(base_free) char *xml = asking->api.virDomainGetXMLDesc(domain, flags);
	struct vm *vm = NULL;
	struct err err = {0};

	if (!xml) {
		it->problem = arena_strdup(arena, asking->api.virGetLastErrorMessage());
		return NULL;
	}
	*ret_xml = arena_strdup(arena, xml);
	if (vm_read_libvirt_xml(asking->libvirt->uri, xml, strlen(xml), &vm, &err) < 0) {
		it->problem = arena_strdup(arena, err.what);
		return NULL;
	}
	vm->source = VM_LIBVIRT_LIVE;
	vm->state = flags & VIR_DOMAIN_XML_INACTIVE ? VM_STATE_DEFINED : VM_STATE_RUNNING;
	return vm;
}

static void read_domain(struct asking *asking, virDomainPtr domain)
{
	struct vm_libvirt_domain *it = &asking->libvirt->domains[asking->libvirt->count];
	const char *name = asking->api.virDomainGetName(domain);

	it->name = arena_strdup(asking->libvirt->arena, name ? name : "");
	if (asking->api.virDomainIsActive(domain) == 1)
		it->running = read_version(asking, domain, 0, it, &it->running_xml);
	if (asking->api.virDomainIsPersistent(domain) == 1)
		it->declared = read_version(asking, domain, VIR_DOMAIN_XML_INACTIVE, it, &it->declared_xml);
	if (it->running) {
		read_vcpus(asking, domain, it->running);
		read_iothreads(asking, domain, it->running);
	}
	/* It may have ended since it was listed. */
	if (it->running || it->declared || it->problem)
		asking->libvirt->count++;
}

static int read_domains(struct asking *asking)
{
	virDomainPtr *domains = NULL;
	int count = asking->api.virConnectListAllDomains(asking->connection, &domains, 0), status = 0;
	const char *uri = asking->libvirt->uri;

	if (count < 0)
		return err_set(asking->err, EIO, uri, "libvirt does not list its VMs: %s",
			       asking->api.virGetLastErrorMessage());
	if (count > VM_LIBVIRT_DOMAINS_MAX)
		status = err_set(asking->err, E2BIG, uri, "%d VMs are more than %d", count, VM_LIBVIRT_DOMAINS_MAX);
	else
		asking->libvirt->domains = ARENA_ARRAY(asking->libvirt->arena, (size_t)count, struct vm_libvirt_domain);
	for (int i = 0; i < count; i++) {
		if (status == 0)
			read_domain(asking, domains[i]);
		(void)asking->api.virDomainFree(domains[i]);
	}
	free(domains);
	return status;
}

int vm_libvirt_ask(const char *uri, struct vm_libvirt **ret, struct err *err)
{
	struct asking asking = {.err = err};
	int status = load(&asking.api, uri, err);

	if (status < 0)
		return status;
	/* A connection to a session would start a daemon otherwise; looking starts nothing. */
	(void)setenv("LIBVIRT_AUTOSTART", "0", 0);
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */
	asking.api.virSetErrorFunc(NULL, on_libvirt_error);
	asking.connection = asking.api.virConnectOpenReadOnly(uri);
	if (!asking.connection)
		return err_set(err, ECONNREFUSED, uri, "%s", asking.api.virGetLastErrorMessage());

	struct arena *arena = arena_new();

	asking.libvirt = ARENA_NEW(arena, struct vm_libvirt);
	asking.libvirt->arena = arena;
	asking.libvirt->uri = arena_strdup(arena, uri);
	status = read_domains(&asking);
	(void)asking.api.virConnectClose(asking.connection);
	if (status == 0)
		*ret = asking.libvirt;
	else
		(void)vm_libvirt_free(asking.libvirt);
	return status;
}
