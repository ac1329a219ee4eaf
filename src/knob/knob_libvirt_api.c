/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the calls into libvirt's library that change VMs. Compiled only where libvirt's headers are. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "knob_libvirt_internal.h"
#include "library.h"
#include "text.h"
#include "vm_libvirt.h"
#include "vm_xml.h"

/* ---- errors ---- */

static const struct {
	int code, errnum;
} reasons[] = {
    {VIR_ERR_NO_DOMAIN, ENOENT},
    {VIR_ERR_AUTH_FAILED, EACCES},
    {VIR_ERR_AUTH_CANCELLED, EACCES},
    {VIR_ERR_ACCESS_DENIED, EACCES},
    {VIR_ERR_AUTH_UNAVAILABLE, EACCES},
    {VIR_ERR_OPERATION_DENIED, EACCES},
    {VIR_ERR_INVALID_ARG, EINVAL},
    {VIR_ERR_CONFIG_UNSUPPORTED, EINVAL},
    {VIR_ERR_XML_ERROR, EINVAL},
    {VIR_ERR_XML_INVALID_SCHEMA, EINVAL},
    {VIR_ERR_AGENT_UNRESPONSIVE, ENOTCONN},
    {VIR_ERR_AGENT_UNSYNCED, ENOTCONN},
    {VIR_ERR_ARGUMENT_UNSUPPORTED, ENOTSUP},
};

/* What libvirt said last in this thread. */
int libvirt_fail(const struct libvirt_connection *it, const char *what, struct err *err)
{
	virErrorPtr error = it->api.virGetLastError();
	int errnum = EIO;

	for (size_t i = 0; error && i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].code == error->code)
			errnum = reasons[i].errnum;
	return err_set(err, errnum, what, "libvirt: %s", error && error->message ? error->message : "no reason given");
}

/* libvirt prints each error on its own otherwise. */
static void on_libvirt_error(void *data, virErrorPtr error)
{
	(void)data, (void)error;
}

/* ---- connecting ---- */

static int load(struct libvirt_connection *it, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&it->api.name},
	    LIBVIRT_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libvirt.so.0"},
					.name = "libvirt's library",
					.where = it->uri,
					.install = "libvirt0 (Debian, Ubuntu) or libvirt-libs (Fedora, RHEL)",
					.errnum = ENOSYS};

	return library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);
}

/* A daemon that hangs would be waited for for ever: connecting has a thread of its own, which is left behind then. */
struct connecting {
	struct libvirt_connection it; /* what was loaded so far */
	char *uri;
	bool writes;
	virConnectPtr handle;
	struct err err;
	int status;
};

static void *connect_to(void *data)
{
	struct connecting *connecting = data;
	struct libvirt_connection *it = &connecting->it;

	connecting->status = it->api.virConnectOpen ? 0 : load(it, &connecting->err);
	if (connecting->status < 0)
		return NULL;
	/* Looking starts no daemon of a session. */
	(void)setenv("LIBVIRT_AUTOSTART", "0", 0);
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */
	it->api.virSetErrorFunc(NULL, on_libvirt_error);
	connecting->handle =
	    connecting->writes ? it->api.virConnectOpen(it->uri) : it->api.virConnectOpenReadOnly(it->uri);
	if (!connecting->handle) {
		connecting->status = libvirt_fail(it, it->uri, &connecting->err);
		if (connecting->status == -EIO)
			connecting->err.code = connecting->status = -ECONNREFUSED;
	}
	return NULL;
}

static int connect_in_time(struct connecting *connecting, struct err *err)
{
	pthread_t thread;
	struct timespec until = {0};
	int r = pthread_create(&thread, NULL, connect_to, connecting);

	if (r != 0)
		return err_set(err, r, connecting->uri, "no thread for asking libvirt");
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += VM_LIBVIRT_WAIT_S;
	if (pthread_timedjoin_np(thread, NULL, &until) == 0) {
		if (connecting->status < 0)
			(void)err_copy(err, &connecting->err);
		return connecting->status;
	}
	(void)pthread_detach(thread);
	(void)err_set(err, ETIMEDOUT, connecting->uri, "libvirt does not answer for %d seconds", VM_LIBVIRT_WAIT_S);
	return err_hint(err, "does virsh list answer? systemctl status libvirtd virtqemud");
}

/* The URI of the machine; NULL when it has no libvirt that could be asked. */
static const char *uri_of(struct knob_machine *machine)
{
	struct err ignored = {0};
	const char *data;

	if (sys_writer_is_live(machine->writer))
		return VM_LIBVIRT_URI;
	return sys_writer_read(machine->writer, machine->arena, KNOB_LIBVIRT_TEST, &data, NULL, &ignored) < 0
		   ? NULL
		   : arena_printf(machine->arena, "test://%s%s", sys_root(machine->sys), KNOB_LIBVIRT_TEST);
}

/* As large as the highest CPU number needs. */
static size_t map_size(struct knob_machine *machine)
{
	const struct sys_look *possible = sys_read(machine->sys, "/sys/devices/system/cpu/possible");
	struct cpuset set = {0};
	int last = -1;

	if (possible->state == SYS_VALUE && cpuset_parse(possible->data, &set, NULL) == 0)
		CPUSET_FOREACH (cpu, &set)
			last = cpu;
	return last < 0 ? CPUSET_MAX / 8 : (size_t)last / 8 + 1;
}

/* Open what is not open yet of the two connections: the one that looks, or the one that changes. */
static int open_one(struct knob_machine *machine, struct libvirt_connection *it, bool writes, struct err *err)
{
	struct connecting *connecting;
	int r;

	if (writes ? it->writer : it->reader)
		return 0;
	connecting = calloc(1, sizeof(*connecting));
	if (!connecting || !(connecting->uri = strdup(it->uri)))
		err_no_memory();
	connecting->it.api = it->api;
	connecting->it.uri = connecting->uri;
	connecting->writes = writes;
	r = connect_in_time(connecting, err);
	if (r == -ETIMEDOUT)
		return r; /* its thread still has it */
	if (r == 0) {
		it->api = connecting->it.api;
		*(writes ? &it->writer : &it->reader) = connecting->handle;
		machine->libvirt = it;
	}
	free(connecting->uri);
	free(connecting);
	return r;
}

static int open_for(struct knob_machine *machine, bool writes, struct err *err)
{
	struct libvirt_connection *it = machine->libvirt;
	const char *uri = it ? it->uri : uri_of(machine);

	if (!uri)
		return err_set(err, ENOTSUP, sys_root(machine->sys), "no libvirt runs in a directory");
	if (!it) {
		it = ARENA_NEW(machine->arena, struct libvirt_connection);
		it->uri = uri;
		it->map_size = map_size(machine);
	}
	return open_one(machine, it, writes, err);
}

int knob_libvirt_open(struct knob_machine *machine, struct err *err)
{
	return open_for(machine, false, err);
}

void knob_libvirt_close(struct knob_machine *machine)
{
	struct libvirt_connection *it = machine->libvirt;

	if (it && it->reader)
		(void)it->api.virConnectClose(it->reader);
	if (it && it->writer)
		(void)it->api.virConnectClose(it->writer);
	machine->libvirt = NULL;
}

/* ---- VMs ---- */

void libvirt_release(struct libvirt_domain *domain)
{
	if (domain->handle)
		(void)domain->it->api.virDomainFree(domain->handle);
}

int libvirt_look_up(struct knob_machine *machine, const char *uuid, bool writes, struct libvirt_domain *ret,
		    struct err *err)
{
	int r = open_for(machine, writes, err);

	if (r < 0)
		return r;
	ret->it = machine->libvirt;
	ret->handle = ret->it->api.virDomainLookupByUUIDString(writes ? ret->it->writer : ret->it->reader, uuid);
	return ret->handle ? 0 : libvirt_fail(ret->it, uuid, err);
}

/* The same, of one that runs. */
static int look_up_running(struct knob_machine *machine, const char *uuid, bool writes, struct libvirt_domain *ret,
			   struct err *err)
{
	int r = libvirt_look_up(machine, uuid, writes, ret, err);

	if (r == 0 && ret->it->api.virDomainIsActive(ret->handle) != 1)
		r = err_set(err, ENOENT, uuid, "the VM does not run");
	return r;
}

/* A call failed; perhaps because the VM has just ended. */
static int fail_running(const struct libvirt_domain *domain, const char *what, struct err *err)
{
	int r = libvirt_fail(domain->it, what, err);

	return domain->it->api.virDomainIsActive(domain->handle) == 1
		   ? r
		   : err_set(err, ENOENT, what, "the VM does not run any more");
}

int knob_libvirt_find(struct knob_machine *machine, const char *name, struct knob_domain *ret, struct err *err)
{
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	char uuid[VIR_UUID_STRING_BUFLEN];
	const struct libvirt_api *api;
	int r = knob_libvirt_open(machine, err);

	if (r < 0)
		return r;
	domain.it = machine->libvirt;
	api = &domain.it->api;
	domain.handle = api->virDomainLookupByName(domain.it->reader, name);
	if (!domain.handle)
		domain.handle = api->virDomainLookupByUUIDString(domain.it->reader, name);
	if (!domain.handle)
		return err_set(err, ENOENT, name, "libvirt knows no such VM");
	if (api->virDomainGetUUIDString(domain.handle, uuid) < 0)
		return libvirt_fail(domain.it, name, err);
	*ret = (struct knob_domain){
	    .uuid = arena_strdup(machine->arena, uuid),
	    .name = arena_strdup(machine->arena, api->virDomainGetName(domain.handle)),
	    .running = api->virDomainIsActive(domain.handle) == 1,
	    .persistent = api->virDomainIsPersistent(domain.handle) == 1,
	    .saved = api->virDomainHasManagedSaveImage(domain.handle, 0) == 1,
	};
	return 0;
}

int knob_libvirt_xml(struct knob_machine *machine, const char *uuid, enum knob_libvirt_xml which, const char **ret,
		     struct err *err)
{
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	CLEANUP(base_free) char *xml = NULL;
	bool declared = which != KNOB_LIBVIRT_RUNNING, whole = which == KNOB_LIBVIRT_WHOLE;
	int r = declared ? libvirt_look_up(machine, uuid, whole, &domain, err)
			 : look_up_running(machine, uuid, false, &domain, err);

	if (r < 0)
		return r;
	if (declared && domain.it->api.virDomainIsPersistent(domain.handle) != 1)
		return err_set(err, ENOENT, uuid, "the VM is not defined");
	/* Without this flag passwords are left out, and defining what was read would lose them. */
	xml = domain.it->api.virDomainGetXMLDesc(domain.handle, (whole ? VIR_DOMAIN_XML_SECURE : 0) |
								    (declared ? VIR_DOMAIN_XML_INACTIVE : 0));
	if (!xml)
		return libvirt_fail(domain.it, uuid, err);
	*ret = arena_strdup(machine->arena, xml);
	return 0;
}

struct defining {
	const struct libvirt_connection *it;
	const char *xml;
};

static int define(void *data)
{
	const struct defining *defining = data;
	struct libvirt_domain domain = {
	    defining->it,
	    defining->it->api.virDomainDefineXMLFlags(defining->it->writer, defining->xml, VIR_DOMAIN_DEFINE_VALIDATE)};

	if (!domain.handle)
		return -EPROTO;
	libvirt_release(&domain);
	return 0;
}

int knob_libvirt_define(struct knob_machine *machine, const char *uuid, const char *xml, struct err *err)
{
	struct defining defining = {.xml = xml};
	int r = open_for(machine, true, err);

	if (r < 0)
		return r;
	defining.it = machine->libvirt;
	/* The gate is not told the text: it holds passwords. */
	r = sys_writer_call(machine->writer, "virDomainDefineXMLFlags", uuid, NULL, define, &defining);
	return r == -EPROTO ? libvirt_fail(defining.it, uuid, err)
	       : r < 0	    ? err_set(err, -r, uuid, "could not be defined: %s", sys_reason(-r))
			    : 0;
}

/* ---- pins ---- */

static struct cpuset set_of_map(const unsigned char *map, size_t size)
{
	struct cpuset set = {0};

	for (size_t cpu = 0; cpu < MIN_OF(size * 8, (size_t)CPUSET_MAX); cpu++)
		if (map[cpu / 8] & (1U << (cpu % 8)))
			cpuset_add(&set, (int)cpu);
	return set;
}

/* Where an I/O thread may run is only told by its thread; where it is to run stands in the XML. */
static int get_iothread_pin(struct knob_machine *machine, const char *uuid, int64_t index, struct cpuset *ret,
			    struct err *err)
{
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	const struct libvirt_connection *it = machine->libvirt;
	const char *xml = NULL;
	int r = knob_libvirt_xml(machine, uuid, KNOB_LIBVIRT_RUNNING, &xml, err);

	if (r == 0 && xml)
		r = vm_read_libvirt_xml(uuid, xml, strlen(xml), &vm, err);
	if (r < 0 || !vm)
		return r;
	for (int i = 0; i < vm->iothread_count; i++) {
		if (vm->iothreads[i].id != index || vm->iothreads[i].pin_only)
			continue;
		*ret = vm->iothreads[i].pin.given ? vm->iothreads[i].pin.set
		       : vm->cpuset.given	  ? vm->cpuset.set
						  : cpuset_range(0, (int)it->map_size * 8 - 1);
		return 0;
	}
	return err_set(err, ENOENT, uuid, "the VM has no I/O thread %lld", (long long)index);
}

static int get_map(struct knob_machine *machine, const char *uuid, enum knob_libvirt_thread thread, int64_t index,
		   struct cpuset *ret, struct err *err)
{
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	int r = look_up_running(machine, uuid, false, &domain, err);
	size_t size = r < 0 ? 1 : domain.it->map_size, count = thread == KNOB_LIBVIRT_VCPU ? (size_t)index + 1 : 1;
	unsigned char *maps = arena_array(machine->arena, count, size);
	int got;

	if (r < 0)
		return r;
	if (thread == KNOB_LIBVIRT_VCPU)
		got = domain.it->api.virDomainGetVcpuPinInfo(domain.handle, (int)count, maps, (int)size,
							     VIR_DOMAIN_AFFECT_LIVE);
	else
		got =
		    domain.it->api.virDomainGetEmulatorPinInfo(domain.handle, maps, (int)size, VIR_DOMAIN_AFFECT_LIVE);
	if (got < 0)
		return fail_running(&domain, uuid, err);
	if (got == 0 || (size_t)got < count)
		return err_set(err, ENOENT, uuid, "the VM has no such thread");
	*ret = set_of_map(maps + (count - 1) * size, size);
	return 0;
}

int knob_libvirt_get_pin(struct knob_machine *machine, const char *uuid, enum knob_libvirt_thread thread, int64_t index,
			 struct cpuset *ret, struct err *err)
{
	int r = knob_libvirt_open(machine, err);

	if (r < 0)
		return r;
	return thread == KNOB_LIBVIRT_IOTHREAD ? get_iothread_pin(machine, uuid, index, ret, err)
					       : get_map(machine, uuid, thread, index, ret, err);
}

struct pinning {
	const struct libvirt_domain *domain;
	enum knob_libvirt_thread thread;
	unsigned index;
	unsigned char map[CPUSET_MAX / 8];
	int map_size;
};

static int pin(void *data)
{
	struct pinning *it = data;
	const struct libvirt_api *api = &it->domain->it->api;
	virDomainPtr handle = it->domain->handle;
	int r = -1;

	if (it->thread == KNOB_LIBVIRT_VCPU)
		r = api->virDomainPinVcpuFlags(handle, it->index, it->map, it->map_size, VIR_DOMAIN_AFFECT_LIVE);
	else if (it->thread == KNOB_LIBVIRT_EMULATOR)
		r = api->virDomainPinEmulator(handle, it->map, it->map_size, VIR_DOMAIN_AFFECT_LIVE);
	else
		r = api->virDomainPinIOThread(handle, it->index, it->map, it->map_size, VIR_DOMAIN_AFFECT_LIVE);
	return r < 0 ? -EPROTO : 0;
}

int knob_libvirt_pin(struct knob_machine *machine, const char *uuid, enum knob_libvirt_thread thread, int64_t index,
		     const struct cpuset *cpus, struct err *err)
{
	static const char *const calls[] = {
	    [KNOB_LIBVIRT_VCPU] = "virDomainPinVcpuFlags",
	    [KNOB_LIBVIRT_EMULATOR] = "virDomainPinEmulator",
	    [KNOB_LIBVIRT_IOTHREAD] = "virDomainPinIOThread",
	};
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	struct pinning pinning = {.domain = &domain, .thread = thread, .index = (unsigned)index};
	const char *list = cpuset_format(machine->arena, cpus);
	int r = look_up_running(machine, uuid, true, &domain, err);

	if (r < 0)
		return r;
	CPUSET_FOREACH (cpu, cpus) {
		pinning.map[cpu / 8] |= (unsigned char)(1U << (cpu % 8));
		pinning.map_size = cpu / 8 + 1;
	}
	r = sys_writer_call(machine->writer, calls[thread], uuid, list, pin, &pinning);
	return r == -EPROTO ? fail_running(&domain, uuid, err)
	       : r < 0	    ? err_set(err, -r, uuid, "could not be pinned to %s: %s", list, sys_reason(-r))
			    : 0;
}

/* ---- memory ---- */

int knob_libvirt_get_nodes(struct knob_machine *machine, const char *uuid, struct cpuset *ret, struct err *err)
{
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	int count = 0, r = look_up_running(machine, uuid, false, &domain, err);
	virTypedParameterPtr parameters;
	struct cpuset set = {0};

	if (r < 0)
		return r;
	if (domain.it->api.virDomainGetNumaParameters(domain.handle, NULL, &count, VIR_DOMAIN_AFFECT_LIVE) < 0)
		return fail_running(&domain, uuid, err);
	parameters = ARENA_ARRAY(machine->arena, (size_t)MAX_OF(count, 0) + 1, virTypedParameter);
	if (domain.it->api.virDomainGetNumaParameters(domain.handle, parameters, &count, VIR_DOMAIN_AFFECT_LIVE) < 0)
		return fail_running(&domain, uuid, err);
	for (int i = 0; i < count; i++)
		if (parameters[i].type == VIR_TYPED_PARAM_STRING &&
		    text_equal(parameters[i].field, VIR_DOMAIN_NUMA_NODESET) && parameters[i].value.s)
			(void)vm_parse_cpuset(parameters[i].value.s, &set, NULL);
	domain.it->api.virTypedParamsClear(parameters, count);
	if (cpuset_empty(&set))
		return err_set(err, ENOENT, uuid, "its memory is not confined to nodes");
	*ret = set;
	return 0;
}

struct confining {
	const struct libvirt_domain *domain;
	virTypedParameter parameter;
};

static int confine(void *data)
{
	struct confining *it = data;

	return it->domain->it->api.virDomainSetNumaParameters(it->domain->handle, &it->parameter, 1,
							      VIR_DOMAIN_AFFECT_LIVE) < 0
		   ? -EPROTO
		   : 0;
}

int knob_libvirt_set_nodes(struct knob_machine *machine, const char *uuid, const struct cpuset *nodes, struct err *err)
{
	CLEANUP(libvirt_release) struct libvirt_domain domain = {0};
	char *list = arena_strdup(machine->arena, cpuset_format(machine->arena, nodes));
	struct confining confining = {&domain, {.field = VIR_DOMAIN_NUMA_NODESET, .type = VIR_TYPED_PARAM_STRING}};
	int r = look_up_running(machine, uuid, true, &domain, err);

	if (r < 0)
		return r;
	confining.parameter.value.s = list;
	r = sys_writer_call(machine->writer, "virDomainSetNumaParameters", uuid, list, confine, &confining);
	return r == -EPROTO ? fail_running(&domain, uuid, err)
	       : r < 0 ? err_set(err, -r, uuid, "its memory could not be moved to node %s: %s", list, sys_reason(-r))
		       : 0;
}
