/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the machine with VMs; see vm_scene.h. */
#include "vm_scene.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "text.h"
#include "unit.h"

/* As libvirt lays it out: undo can then be compared byte for byte. */
#define DEFINITION(name, uuid, vcpus, pins, more)                                                                      \
	"<?xml version=\"1.0\"?>\n"                                                                                    \
	"<domain type=\"kvm\">\n"                                                                                      \
	"  <name>" name "</name>\n"                                                                                    \
	"  <uuid>" uuid "</uuid>\n"                                                                                    \
	"  <memory unit=\"KiB\">4194304</memory>\n"                                                                    \
	"  <vcpu placement=\"static\">" vcpus "</vcpu>\n"                                                              \
	"  <iothreads>1</iothreads>\n"                                                                                 \
	"  <cputune>\n" pins "  </cputune>\n" more "  <os>\n"                                                          \
	"    <type arch=\"x86_64\">hvm</type>\n"                                                                       \
	"  </os>\n"                                                                                                    \
	"  <cpu mode=\"host-passthrough\"/>\n"                                                                         \
	"  <devices>\n"                                                                                                \
	"    <interface type=\"bridge\">\n"                                                                            \
	"      <mac address=\"52:54:00:00:00:01\"/>\n"                                                                 \
	"      <source bridge=\"br0\"/>\n"                                                                             \
	"      <model type=\"virtio\"/>\n"                                                                             \
	"    </interface>\n"                                                                                           \
	"    <graphics type=\"vnc\" passwd=\"secret\"/>\n"                                                             \
	"  </devices>\n"                                                                                               \
	"</domain>\n"

#define WEB_NUMATUNE                                                                                                   \
	"  <numatune>\n"                                                                                               \
	"    <memory mode=\"restrictive\" nodeset=\"0\"/>\n"                                                           \
	"  </numatune>\n"

#define DB_UUID "22222222-2222-4333-8444-555555555555"

static const struct tree_file files[] = {
    {"/sys/devices/system/cpu/possible", "0-31\n"},
    {"/proc/sys/kernel/random/boot_id", "first\n"},
    {"/sys/module/kvm_amd/refcnt", "9\n"},
    {"/sys/kernel/debug/kvm/1000-14/vcpu0/x", ""},
    {"/sys/kernel/debug/kvm/2000-14/vcpu0/x", ""},
    {"/sys/kernel/debug/kvm/3000-14/vcpu0/x", ""},
    {"/var/lib/", NULL},
    {"/etc/libvirt/test.xml", "<node/>\n"},
    {"/etc/libvirt/qemu/web.xml", DEFINITION("web", SCENE_WEB_UUID, "4",
					     "    <vcpupin vcpu=\"0\" cpuset=\"4\"/>\n"
					     "    <vcpupin vcpu=\"1\" cpuset=\"5\"/>\n"
					     "    <vcpupin vcpu=\"2\" cpuset=\"6\"/>\n"
					     "    <vcpupin vcpu=\"3\" cpuset=\"7\"/>\n"
					     "    <emulatorpin cpuset=\"0-1\"/>\n"
					     "    <iothreadpin iothread=\"1\" cpuset=\"2\"/>\n",
					     WEB_NUMATUNE)},
    {"/run/libvirt/qemu/web.live",
     "<domain type='kvm' id='1'><name>web</name><uuid>" SCENE_WEB_UUID "</uuid><memory>4194304</memory>"
     "<vcpu>4</vcpu><iothreads>1</iothreads><cputune>@PINS@</cputune>"
     "<numatune><memory mode='restrictive' nodeset='0'/></numatune><os><type>hvm</type></os></domain>\n"},
    {"/run/libvirt/qemu/web.pid", "1000\n"},
    {"/run/libvirt/qemu/web.pins",
     "vcpu 0 4\nvcpu 1 5\nvcpu 2 6\nvcpu 3 7\nemulator 0 0-1\niothread 1 2\nmemory 0 0\n"},
    {"/etc/libvirt/qemu/db.xml", DEFINITION("db", DB_UUID, "2",
					    "    <vcpupin vcpu=\"0\" cpuset=\"8\"/>\n"
					    "    <vcpupin vcpu=\"1\" cpuset=\"9\"/>\n"
					    "    <emulatorpin cpuset=\"0-1\"/>\n",
					    "")},
    {"/run/libvirt/qemu/db.live",
     "<domain type='kvm' id='2'><name>db</name><uuid>" DB_UUID "</uuid><memory>4194304</memory>"
     "<vcpu>2</vcpu><cputune>@PINS@</cputune><os><type>hvm</type></os></domain>\n"},
    {"/run/libvirt/qemu/db.pid", "2000\n"},
    {"/run/libvirt/qemu/db.pins", "vcpu 0 8\nvcpu 1 9\nemulator 0 0-1\n"},
    {NULL, NULL},
};

static const struct {
	int pid, tid;
	const char *name, *cpus;
} threads[] = {
    {SCENE_WEB, 1000, "qemu-system-x86", "0-1"}, {SCENE_WEB, 1001, "CPU 0/KVM", "4"},
    {SCENE_WEB, 1002, "CPU 1/KVM", "5"},	 {SCENE_WEB, 1003, "CPU 2/KVM", "6"},
    {SCENE_WEB, 1004, "CPU 3/KVM", "7"},	 {SCENE_WEB, SCENE_IOTHREAD, "IO iothread1", "2"},
    {SCENE_WEB, 1006, "worker", "0-1"},		 {SCENE_WEB, SCENE_VHOST, "vhost-1000", "0-1"},
    {SCENE_DB, 2000, "qemu-system-x86", "0-1"},	 {SCENE_DB, 2001, "CPU 0/KVM", "8"},
    {SCENE_DB, 2002, "CPU 1/KVM", "9"},		 {SCENE_PLAIN, 3000, "qemu-system-x86", "0-31"},
    {SCENE_PLAIN, 3001, "CPU 0/KVM", "0-31"},	 {SCENE_PLAIN, 3002, "CPU 1/KVM", "0-31"},
    {SCENE_PLAIN, 3003, "IO disk0", "0-31"},
};

static const struct {
	int pid;
	const char *words;
} processes[] = {
    {SCENE_WEB, "/usr/bin/qemu-system-x86_64 -name guest=web,debug-threads=on -uuid " SCENE_WEB_UUID " -smp 4 -m 4096 "
		"-object {\"qom-type\":\"iothread\",\"id\":\"iothread1\"} -chardev socket,id=charmonitor,fd=30 "
		"-netdev {\"type\":\"tap\",\"fd\":\"3\",\"vhost\":true,\"id\":\"n\"} -device virtio-net-pci,netdev=n"},
    {SCENE_DB, "/usr/bin/qemu-system-x86_64 -name guest=db,debug-threads=on -uuid " DB_UUID
	       " -smp 2 -m 4096 -chardev socket,id=charmonitor,fd=30"},
    {SCENE_PLAIN, "/usr/bin/qemu-system-x86_64 -name guest=plain,debug-threads=on -smp 2 -m 1024 "
		  "-object iothread,id=disk0"},
};

static void write_process(struct tree *tree, int pid, const char *words, long start)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	char *argv = arena_strdup(arena, words);
	size_t size = strlen(argv) + 1;

	for (size_t i = 0; i < size; i++)
		argv[i] = argv[i] == ' ' ? '\0' : argv[i];
	tree_write_bytes(tree, arena_printf(arena, "/proc/%d/cmdline", pid), argv, size);
	tree_write(tree, arena_printf(arena, "/proc/%d/stat", pid),
		   arena_printf(arena, "%d (qemu) system-x86) S 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 9 0 %ld 1 1\n",
				pid, start));
}

static void write_thread(struct tree *tree, int pid, int tid, const char *name, const char *cpus)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	tree_write(tree, arena_printf(arena, "/proc/%d/task/%d/comm", pid, tid), arena_printf(arena, "%s\n", name));
	tree_write(tree, arena_printf(arena, "/proc/%d/task/%d/status", pid, tid),
		   arena_printf(arena,
				"Name:\t%s\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems_allowed:\t1\n"
				"Mems_allowed_list:\t0\n",
				name, cpus));
}

void vm_scene_start(struct vm_scene *scene)
{
	void *library = dlopen("libvirt.so.0", RTLD_NOW | RTLD_LOCAL);

	*scene = (struct vm_scene){.libvirt = library ? dlsym(library, "fake_libvirt") : NULL};
	if (!scene->libvirt) {
		fail_msg("there is no library in libvirt's place: LD_LIBRARY_PATH");
		return;
	}
	*scene->libvirt = (struct fake_libvirt){0};
	scene->tree = tree_new(NULL);
	tree_add_amd(scene->tree, 16, 4, 25, 17);
	tree_add(scene->tree, files);
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
		write_process(scene->tree, processes[i].pid, processes[i].words, 5000 + processes[i].pid);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		write_thread(scene->tree, threads[i].pid, threads[i].tid, threads[i].name, threads[i].cpus);
}

void vm_scene_stop(struct vm_scene *scene)
{
	scene->tree = tree_free(scene->tree);
}

void vm_scene_restart_web(struct vm_scene *scene)
{
	write_process(scene->tree, SCENE_WEB, processes[0].words, 9999);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		if (threads[i].pid == SCENE_WEB)
			write_thread(scene->tree, threads[i].pid, threads[i].tid, threads[i].name, "12-15");
	vm_scene_write(scene, "/run/libvirt/qemu/web.pins",
		       "vcpu 0 12-15\nvcpu 1 12-15\nvcpu 2 12-15\nvcpu 3 12-15\nemulator 0 12-15\niothread 1 12-15\n"
		       "memory 0 0\n");
}

static const char *path_in(const struct vm_scene *scene, const char *path)
{
	static char full[4][4200];
	static int turn;

	turn = (turn + 1) % 4;
	(void)snprintf(full[turn], sizeof(full[turn]), "%s%s", scene->tree->root, path);
	return full[turn];
}

const char *vm_scene_read(const struct vm_scene *scene, const char *path)
{
	static char text[4][16384];
	static int turn;
	FILE *file = fopen(path_in(scene, path), "r");
	size_t got;

	turn = (turn + 1) % 4;
	got = file ? fread(text[turn], 1, sizeof(text[turn]) - 1, file) : 0;
	text[turn][got] = '\0';
	if (file)
		(void)fclose(file);
	return text[turn];
}

void vm_scene_write(struct vm_scene *scene, const char *path, const char *contents)
{
	tree_write(scene->tree, path, contents);
}

void vm_scene_remove(struct vm_scene *scene, const char *path)
{
	(void)unlink(path_in(scene, path));
}

static const char *status_of(int pid, int tid)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	return path;
}

const char *vm_scene_affinity(const struct vm_scene *scene, int pid, int tid)
{
	static char list[4][128];
	static int turn;
	const char *text = vm_scene_read(scene, status_of(pid, tid)), *line = strstr(text, "Cpus_allowed_list:\t");

	turn = (turn + 1) % 4;
	assert_non_null(line);
	(void)sscanf(line, "Cpus_allowed_list:\t%127s", list[turn]);
	return list[turn];
}

void vm_scene_taskset(struct vm_scene *scene, int pid, int tid, const char *cpus)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *text = vm_scene_read(scene, status_of(pid, tid)), *line = strstr(text, "Cpus_allowed_list:\t");

	line += strlen("Cpus_allowed_list:\t");
	vm_scene_write(scene, status_of(pid, tid),
		       arena_printf(arena, "%.*s%s%s", (int)(line - text), text, cpus, line + strcspn(line, "\n")));
}

/* The kernel's part where there is none: "/proc/PID/task/TID" moves. */
static void play_affinity(struct vm_scene *scene, const char *path, const char *value, size_t size)
{
	char list[128];
	int pid = (int)strtol(path + strlen("/proc/"), NULL, 10), tid = (int)strtol(strrchr(path, '/') + 1, NULL, 10);

	(void)snprintf(list, sizeof(list), "%.*s", (int)size, value);
	vm_scene_taskset(scene, pid, tid, list);
}

static int pass(void *data, enum sys_write_when when, const char *call, const char *path, const char *value,
		size_t size)
{
	struct vm_scene *scene = data;
	size_t length = strlen(scene->log);

	scene->calls++;
	if (scene->calls == scene->kill_at)
		(void)kill(getpid(), SIGKILL);
	if (when == SYS_WRITE_BEFORE && scene->calls == scene->fail_at)
		return -scene->fail_errnum;
	if (when == SYS_WRITE_AFTER && text_equal(call, "sched_setaffinity"))
		play_affinity(scene, path, value, size);
	if (when == SYS_WRITE_AFTER && (text_starts(call, "vir") || text_equal(call, "sched_setaffinity")))
		(void)snprintf(scene->log + length, sizeof(scene->log) - length, "%s %s %.*s\n", call,
			       text_starts(path, "/proc/") ? strrchr(path, '/') + 1 : "", (int)size,
			       value ? value : "");
	return 0;
}

struct sys_write_gate vm_scene_gate(struct vm_scene *scene)
{
	return (struct sys_write_gate){.pass = pass, .data = scene};
}

struct vm_layout vm_scene_layout(struct arena *arena, const char *name, const char *cpus, const char *service,
				 const char *nodes)
{
	struct vm_layout layout = {.name = name, .amd = true};
	struct cpuset set;
	struct cpuset *pins;
	int vcpu = 0;

	assert_int_equal(cpuset_parse(cpus, &set, NULL), 0);
	pins = ARENA_ARRAY(arena, (size_t)cpuset_count(&set), struct cpuset);
	CPUSET_FOREACH (cpu, &set)
		pins[vcpu++] = cpuset_range(cpu, cpu);
	layout.vcpus = vcpu;
	layout.pins = pins;
	assert_int_equal(cpuset_parse(service, &layout.service, NULL), 0);
	assert_int_equal(cpuset_parse(nodes, &layout.nodes, NULL), 0);
	return layout;
}
