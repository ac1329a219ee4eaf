/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the one model of a virtual machine: what is declared (libvirt XML, Proxmox conf, QEMU command line), what runs
 * (threads, their affinity, where memory lies), and what the guest is made to believe (topology, caches, NUMA cells).
 * Whatever the source, the same VM reads as the same struct vm.
 *
 * A CPU list that is not there is `given == false`, never an empty set. Sizes are KiB. All memory of a VM lives in its
 * arena and is freed together with vm_free().
 */
#ifndef HVTUNE_VM_H
#define HVTUNE_VM_H

#include "arena.h"
#include "cpuset.h"
#include "host.h"

enum vm_source { VM_LIBVIRT_XML, VM_LIBVIRT_LIVE, VM_PROXMOX_CONF, VM_QEMU_LINE, VM_QEMU_PROCESS };
enum vm_state { VM_STATE_UNKNOWN, VM_STATE_DEFINED, VM_STATE_RUNNING };

/* Where something is written: for messages. */
struct vm_place {
	unsigned line, column; /* 1-based, 0 unknown */
};

/* A set of CPUs or nodes that may not be there. */
struct vm_set {
	bool given;
	struct cpuset set;
	const char *text; /* as written, for sets that could not be understood; else NULL */
	struct vm_place place;
};

struct vm_scheduler {
	const char *policy; /* "fifo", "rr", "batch", "idle"; NULL: the default one */
	int priority;	    /* for fifo and rr */
};

struct vm_vcpu {
	int id;
	bool enabled;
	struct vm_set pin; /* declared: vcpupin; else the VM's cpuset is in struct vm */
	struct vm_scheduler scheduler;
	int tid;	       /* host thread when running, else 0 */
	struct vm_set running; /* affinity of that thread */
};

struct vm_iothread {
	int64_t id;
	const char *name; /* of a QEMU object ("io1"), or NULL */
	struct vm_set pin;
	struct vm_scheduler scheduler;
	int users; /* disks and controllers that name it */
	int tid;
	struct vm_set running;
	bool pin_only; /* a pin or scheduler names it, but nothing declares it */
	struct vm_place place;
};

/* A worker of vhost: a thread of QEMU since Linux 6.4, a kernel thread before. */
struct vm_vhost {
	int tid;
	struct vm_set running;
};

/* <hugepages/> without a page is one entry of size 0. */
struct vm_pages {
	int64_t size_kib;    /* 0: the host's default size */
	struct vm_set cells; /* guest cells that it is for; not given: all */
	struct vm_place place;
};

struct vm_memnode {
	int cell;
	const char *mode;    /* strict, preferred, interleave, restrictive */
	struct vm_set nodes; /* host nodes */
	struct vm_place place;
};

struct vm_cell {
	int id;
	struct vm_set cpus;   /* guest vCPU numbers */
	int64_t memory_kib;   /* -1 unknown */
	const char *access;   /* shared, private, NULL */
	const int *distances; /* cell_count entries, 0 where not given; NULL: none given */
	struct vm_place place;
};

enum vm_cpu_mode { VM_CPU_DEFAULT, VM_CPU_CUSTOM, VM_CPU_HOST_MODEL, VM_CPU_HOST_PASSTHROUGH, VM_CPU_MAXIMUM };

struct vm_feature {
	const char *name;
	bool on; /* require, force, optional; false: disable, forbid */
};

struct vm_cpu {
	enum vm_cpu_mode mode;
	const char *model; /* "EPYC-Milan", "host"; may be NULL */
	struct vm_feature *features;
	int feature_count;
	const char *cache_mode; /* "passthrough", "emulate", "disable"; NULL */
	int cache_level;	/* 0: none given */
	const char *migratable; /* "on", "off"; NULL */
	bool topology_given;
	int sockets, dies, clusters, cores, threads; /* 1 where not given */
	struct vm_place topology_place;
	const char *maxphysaddr_mode; /* "passthrough", "emulate"; NULL */
	int maxphysaddr_bits;	      /* 0: not given */
	struct vm_place place, cache_place;
};

struct vm_disk {
	const char *target, *bus, *cache, *io, *source; /* "vda", "virtio", "none", "native", path; may be NULL */
	const char *device;				/* "disk", "cdrom" */
	int queues;					/* 0: not given */
	int64_t iothread;				/* -1: none */
	const char *iothread_name;			/* of a QEMU object; may be NULL */
	int mapped_iothreads;				/* iothread-vq-mapping */
	struct vm_place place;
};

struct vm_nic {
	const char *type, *model, *driver; /* "bridge", "vhostuser" ("tap": QEMU's); "virtio"; "vhost"; may be NULL */
	const char *device;		   /* tap or bridge name; may be NULL */
	const char *mac;		   /* as libvirt's XML has it; may be NULL */
	const char *outside;	   /* interface of the host that it goes out by: bridge, NIC of a macvtap, tap */
	const struct device *port; /* the host's NIC below that, by vm_find_ports(); NULL: not told, or several */
	int queues;		   /* 0: not given */
	struct vm_place place;
};

struct vm_controller {
	const char *type, *model; /* "scsi", "virtio-scsi" */
	int queues;
	int64_t iothread;     /* -1: none */
	int mapped_iothreads; /* iothread mapping */
	struct vm_place place;
};

struct vm_hostdev {
	const char *address; /* "0000:41:00.0"; NULL when it is no PCI device */
	const char *type;    /* "pci", "usb", "mdev" */
	struct vm_place place;
};

struct vm_filesystem {
	const char *driver; /* "virtiofs", "path" (9p), ... */
	struct vm_place place;
};

struct vm_timer {
	const char *name, *tickpolicy, *mode;
	int present; /* -1 not given */
};

struct vm_cachetune {
	struct cpuset vcpus;
	int level;
	int64_t id;	  /* of the host's cache, as in resctrl */
	int64_t size_kib; /* 0 unknown */
	const char *type; /* "both", "code", "data" */
	struct vm_place place;
};

/* What a reader saw and the VM's fields cannot hold: "pending changes are not in force". For people. */
struct vm_note {
	const char *text;
	struct vm_place place;
};

struct vm {
	struct arena *arena;
	enum vm_source source;
	enum vm_state state;
	const char *path;			  /* the file, URI or process that it was read from */
	const char *name, *uuid, *machine, *type; /* "q35", "kvm"; may be NULL */
	const char *arch;			  /* "x86_64"; NULL: not told */
	int pid;				  /* of QEMU when running, else 0 */

	int vcpu_max, vcpu_now; /* 0 unknown */
	struct vm_set cpuset; /* default of vCPUs, emulator and I/O threads: <vcpu cpuset>, Proxmox affinity, taskset */
	bool placement_auto;  /* numad chooses */
	struct vm_set cpu_nodes; /* all threads run on the CPUs of these host nodes: numactl --cpunodebind */
	struct vm_vcpu *vcpus;	 /* vcpu_max entries */
	int stray_pins;		 /* pins of vCPUs that do not exist, and the first of them */
	int stray_pin_vcpu;
	struct vm_place stray_pin_place;
	struct vm_cpu cpu;

	struct vm_set emulator;		/* emulatorpin */
	struct vm_set emulator_running; /* affinity of the main thread */
	struct vm_scheduler emulator_scheduler;
	int iothread_declared; /* <iothreads>; objects of a QEMU line */
	struct vm_iothread *iothreads;
	int iothread_count;	   /* entries, declared or pinned */
	struct vm_set cgroup_cpus; /* cpuset.cpus.effective of its scope */
	struct vm_vhost *vhosts;   /* running: one for each queue pair of NICs with vhost */
	int vhost_count;

	int64_t memory_kib;	    /* 0 unknown */
	int64_t current_memory_kib; /* what the balloon leaves at start; 0: not given */
	int64_t max_memory_kib;	    /* for memory hotplug; 0: none */
	bool hugepages;
	struct vm_pages *pages;
	int page_count;
	bool no_share_pages, locked;
	int64_t hard_limit_kib;	   /* 0: none */
	const char *memory_source; /* "anonymous", "file", "memfd"; may be NULL */
	const char *memory_access; /* "shared", "private"; may be NULL */
	const char *allocation;	   /* "immediate", "ondemand" */
	const char *numa_mode;	   /* <numatune><memory mode>; NULL: none */
	struct vm_set numa_nodes;
	bool numa_auto;
	struct vm_memnode *memnodes;
	int memnode_count;
	struct vm_cell *cells;
	int cell_count;
	int64_t *node_kib;	 /* running: memory on each host node of host->topology.nodes; NULL unknown */
	int64_t *node_huge_kib;	 /* the same, of hugetlb pages only */
	const char *node_source; /* the file that tells: numa_maps, or a control group's memory.numa_stat */

	const char *hyperv_mode;	       /* "custom", "passthrough", "host-model"; NULL: no enlightenments */
	const char *ioapic;		       /* "kvm", "qemu" (split irqchip), "off" (no irqchip in KVM); NULL */
	int hint_dedicated, poll_control, pmu; /* -1 not given, 0 off, 1 on */
	int kvm_hidden;			       /* the guest is not told that it runs on KVM; -1, 0, 1 */
	int cpu_pm;			       /* -overcommit cpu-pm: the guest idles natively; -1, 0, 1 */
	struct vm_feature *hyperv;	       /* "vpindex", "stimer", "stimer-direct", "tlbflush", ... */
	int hyperv_count;
	const char *clock_offset;
	struct vm_timer *timers;
	int timer_count;

	struct vm_disk *disks;
	int disk_count;
	struct vm_nic *nics;
	int nic_count;
	struct vm_controller *controllers;
	int controller_count;
	struct vm_hostdev *hostdevs;
	int hostdev_count;
	struct vm_filesystem *filesystems;
	int filesystem_count;
	const char *balloon;	       /* model; "none"; NULL: not given */
	const char *iommu;	       /* model; NULL: none */
	int iommu_intremap, iommu_eim; /* -1 not given, 0, 1 */
	int iommu_xtsup;	       /* the same, for AMD's */
	const char *launch_security;   /* "sev", "sev-snp"; NULL: none */
	struct vm_cachetune *cachetunes;
	int cachetune_count;
	const char *os_hint; /* "windows" when the file says so (libosinfo metadata, Proxmox ostype); NULL: not told */

	const char **qmp_sockets; /* of a QEMU line: where it listens for clients of its monitor (QMP) */
	int qmp_socket_count;
	bool qmp_waits; /* there are such that may still wait for their first client: asking starts the guest */

	const char **qemu_args; /* libvirt's qemu:commandline, Proxmox args: as words; NULL: none */
	int qemu_arg_count;

	struct vm_place vcpu_place, cputune_place, memory_place, cells_place;
	struct vm_place numatune_place, hugepages_place, iothreads_place, iommu_place;

	struct vm_note *notes;
	int note_count, note_room;

	const struct vm *process; /* of a definition whose VM runs: the VM as its process shows it; not owned */
};

struct vm *vm_free(struct vm *vm);    /* takes NULL, returns NULL */
void vm_free_pointer(struct vm **vm); /* for CLEANUP() */

/* An empty VM with its arena; for readers. Nothing is given in it. */
struct vm *vm_new(enum vm_source source, const char *path);

/*
 * Parse libvirt's form of CPU and node sets: "0-3,^2,8" (virBitmapParse of libvirt): numbers and ranges, from left to
 * right, where ^N takes N out of what came before; white space around numbers and a comma at the end are allowed.
 * -EINVAL with the column on bad syntax and for a set without members, which libvirt refuses as well, -ERANGE on a
 * number of CPUSET_MAX or more; *ret untouched then.
 */
int vm_parse_cpuset(const char *text, struct cpuset *ret, struct err *err);

/*
 * A name of more bytes is refused with -ENAMETOOLONG, as no file could be called by it: libvirt, QEMU and Proxmox make
 * such for each VM (NAME_MAX of Linux).
 */
enum { VM_NAME_MAX = 255 };
int vm_check_name(const struct vm *vm, struct err *err);

/* Add a note; beyond 100 they are dropped. */
void vm_add_note(struct vm *vm, struct vm_place place, const char *text);

/* ---- what follows from a VM ---- */

/* Where vCPU `id` may run as declared: its pin, else the VM's cpuset. NULL: anywhere. */
const struct cpuset *vm_vcpu_declared(const struct vm *vm, int id);

/* Is every vCPU pinned to exactly one CPU of its own? */
bool vm_is_pinned_one_to_one(const struct vm *vm);

/* Union of the declared CPUs of all vCPUs; empty when none is pinned. */
struct cpuset vm_vcpu_cpus(const struct vm *vm);

/* The guest's core (socket-major number) that vCPU `id` is a thread of, by the declared topology. */
int vm_guest_core_of(const struct vm *vm, int id);

/* Has each queue of this NIC a worker of vhost in the kernel? As far as is told: virtio, and nothing else serves it. */
bool vm_nic_uses_vhost(const struct vm_nic *nic);

/* State of a CPU feature or enlightenment: 1 on, 0 off, -1 not given. */
int vm_feature(const struct vm_feature *features, int count, const char *name);

#endif
