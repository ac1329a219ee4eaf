/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of options of QEMU read as VMs: every option that the model has a field for, in every form. */
#include <errno.h>

#include "vm_qemu_unit.h"

/* ---- smp ---- */

static void test_smp(void **state)
{
	static const struct {
		const char *options;
		int max, now, sockets, dies, clusters, cores, threads;
		bool given;
	} cases[] = {
	    {"", 1, 1, 1, 1, 1, 1, 1, false},
	    {"-smp 8", 8, 8, 1, 1, 1, 8, 1, false},
	    {"--smp 8", 8, 8, 1, 1, 1, 8, 1, false},
	    {"-smp cpus=8", 8, 8, 1, 1, 1, 8, 1, false},
	    {"-smp 8 -M pc-q35-6.1", 8, 8, 8, 1, 1, 1, 1, false},
	    {"-smp 8 -M pc-q35-6.2", 8, 8, 1, 1, 1, 8, 1, false},
	    {"-smp 8 -M pc-i440fx-2.11", 8, 8, 8, 1, 1, 1, 1, false},
	    {"-smp 8 -M pc-q35-rhel8.5.0", 8, 8, 8, 1, 1, 1, 1, false},
	    {"-smp 8 -M pc-q35-rhel9.2.0", 8, 8, 1, 1, 1, 8, 1, false},
	    {"-smp 4,maxcpus=8", 8, 4, 1, 1, 1, 8, 1, false},
	    {"-smp 8,sockets=1,cores=4,threads=2", 8, 8, 1, 1, 1, 4, 2, true},
	    {"-smp 8,threads=2", 8, 8, 1, 1, 1, 4, 2, true},
	    {"-smp 8,sockets=2", 8, 8, 2, 1, 1, 4, 1, true},
	    {"-smp 8,cores=2", 8, 8, 4, 1, 1, 2, 1, true},
	    {"-smp 8,cores=2,sockets=2", 8, 8, 2, 1, 1, 2, 2, true},
	    {"-smp sockets=2,dies=2,cores=4,threads=2", 32, 32, 2, 2, 1, 4, 2, true},
	    {"-smp 16,maxcpus=16,sockets=1,dies=2,modules=2,cores=2,threads=2", 16, 16, 1, 2, 2, 2, 2, true},
	    /* A product that is not the number of vCPUs stays as it is written. */
	    {"-smp 6,sockets=1,cores=4,threads=2", 6, 6, 1, 1, 1, 4, 2, true},
	    {"-smp 2 -smp 4", 4, 4, 1, 1, 1, 4, 1, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		WITH(vm, cases[i].options);

		if (vm->vcpu_max != cases[i].max || vm->vcpu_now != cases[i].now ||
		    vm->cpu.sockets != cases[i].sockets || vm->cpu.dies != cases[i].dies ||
		    vm->cpu.clusters != cases[i].clusters || vm->cpu.cores != cases[i].cores ||
		    vm->cpu.threads != cases[i].threads || vm->cpu.topology_given != cases[i].given)
			fail_msg("%s: %d of %d, %d.%d.%d.%d.%d", cases[i].options, vm->vcpu_now, vm->vcpu_max,
				 vm->cpu.sockets, vm->cpu.dies, vm->cpu.clusters, vm->cpu.cores, vm->cpu.threads);
		assert_int_equal(vm->vcpus[vm->vcpu_max - 1].enabled, cases[i].max == cases[i].now);
	}
}

static void test_shell_variables_stay_unknown(void **state)
{
	(void)state;
	READ(vm, "CPUS=8\nqemu-system-x86_64 -smp $CPUS,threads=2 -m ${RAM}G -cpu host\n");
	assert_int_equal(vm->vcpu_max, 0);
	assert_false(vm->cpu.topology_given);
	assert_int_equal(vm->memory_kib, 0);
	assert_true(has_note(vm, "$CPUS"));
	assert_true(has_note(vm, "${RAM}G"));
}

/* ---- cpu and machine ---- */

static void test_cpu(void **state)
{
	(void)state;
	WITH(host, "-cpu host,+topoext,-svm,invtsc=on,x2apic=off,migratable=off,kvm-hint-dedicated=on,"
		   "kvm-poll-control=off,pmu=off,host-cache-info=on,l3-cache=off,kvm=off,enforce");
	assert_int_equal(host->cpu.mode, VM_CPU_HOST_PASSTHROUGH);
	assert_string_equal(host->cpu.model, "host");
	assert_int_equal(vm_feature(host->cpu.features, host->cpu.feature_count, "topoext"), 1);
	assert_int_equal(vm_feature(host->cpu.features, host->cpu.feature_count, "svm"), 0);
	assert_int_equal(vm_feature(host->cpu.features, host->cpu.feature_count, "invtsc"), 1);
	assert_int_equal(vm_feature(host->cpu.features, host->cpu.feature_count, "x2apic"), 0);
	assert_int_equal(host->cpu.feature_count, 4);
	assert_string_equal(host->cpu.migratable, "off");
	assert_int_equal(host->hint_dedicated, 1);
	assert_int_equal(host->poll_control, 0);
	assert_int_equal(host->pmu, 0);
	assert_int_equal(host->kvm_hidden, 1);
	assert_string_equal(host->cpu.cache_mode, "passthrough");

	WITH(named, "-cpu EPYC-Milan,l3-cache=on,+kvm_hint_dedicated");
	assert_int_equal(named->cpu.mode, VM_CPU_CUSTOM);
	assert_string_equal(named->cpu.model, "EPYC-Milan");
	assert_string_equal(named->cpu.cache_mode, "emulate");
	assert_int_equal(named->cpu.cache_level, 3);
	assert_int_equal(named->hint_dedicated, 1);

	WITH(max, "-cpu max,l3-cache=off,phys-bits=46");
	assert_string_equal(max->cpu.maxphysaddr_mode, "emulate");
	assert_int_equal(max->cpu.maxphysaddr_bits, 46);
	assert_int_equal(max->cpu.mode, VM_CPU_MAXIMUM);
	assert_string_equal(max->cpu.cache_mode, "disable");

	WITH(none, "");
	assert_null(none->hyperv_mode);
	assert_string_equal(none->arch, "x86_64");
	assert_int_equal(none->cpu.mode, VM_CPU_DEFAULT);
	assert_null(none->cpu.model);
	assert_int_equal(none->hint_dedicated, -1);
	assert_int_equal(none->kvm_hidden, -1);
}

static void test_enlightenments(void **state)
{
	(void)state;
	WITH(vm, "-cpu host,hv_relaxed,hv-vapic=on,hv_spinlocks=0x1fff,hv-time,hv_stimer=off,hv-vendor-id=abc,-hv-ipi");
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "relaxed"), 1);
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "vapic"), 1);
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "spinlocks"), 1);
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "stimer"), 0);
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "vendor_id"), 1);
	assert_int_equal(vm_feature(vm->hyperv, vm->hyperv_count, "ipi"), 0);
	assert_int_equal(vm->cpu.feature_count, 0);
	assert_string_equal(vm->hyperv_mode, "custom");
	assert_int_equal(vm->timer_count, 1);
	assert_string_equal(vm->timers[0].name, "hypervclock");
	assert_int_equal(vm->timers[0].present, 1);
}

static void test_machine(void **state)
{
	(void)state;
	WITH(vm,
	     "-name guest=web1,debug-threads=on -machine pc-q35-9.0,accel=kvm:tcg,kernel-irqchip=split,mem-merge=off,"
	     "hpet=off -uuid 11111111-2222-3333-4444-555555555555 -overcommit mem-lock=on,cpu-pm=on");
	assert_string_equal(vm->name, "web1");
	assert_string_equal(vm->machine, "pc-q35-9.0");
	assert_string_equal(vm->type, "kvm");
	assert_string_equal(vm->ioapic, "qemu");
	assert_string_equal(vm->uuid, "11111111-2222-3333-4444-555555555555");
	assert_true(vm->no_share_pages);
	assert_true(vm->locked);
	assert_int_equal(vm->cpu_pm, 1);
	assert_string_equal(vm->timers[0].name, "hpet");
	assert_int_equal(vm->timers[0].present, 0);

	WITH(parts, "-M q35 -M kernel-irqchip=on -enable-kvm -name web2 -smbios type=1,uuid=abc");
	assert_string_equal(parts->machine, "q35");
	assert_string_equal(parts->type, "kvm");
	assert_string_equal(parts->ioapic, "kvm");
	assert_string_equal(parts->name, "web2");
	assert_string_equal(parts->uuid, "abc");

	WITH(emulated, "-m 1G");
	assert_string_equal(emulated->type, "qemu");
	assert_null(emulated->ioapic);
	READ(kvm, "/usr/bin/kvm -machine type=q35+pve1 -accel kvm,kernel-irqchip=off");
	assert_string_equal(kvm->type, "kvm");
	assert_string_equal(kvm->machine, "q35");
	assert_string_equal(kvm->ioapic, "off");
}

static void test_clock(void **state)
{
	(void)state;
	WITH(vm, "-rtc base=localtime,driftfix=slew -global kvm-pit.lost_tick_policy=delay -no-hpet");
	assert_string_equal(vm->clock_offset, "localtime");
	assert_int_equal(vm->timer_count, 3);
	assert_string_equal(vm->timers[0].name, "rtc");
	assert_string_equal(vm->timers[0].tickpolicy, "catchup");
	assert_string_equal(vm->timers[1].name, "pit");
	assert_string_equal(vm->timers[1].tickpolicy, "delay");
	WITH(date, "-rtc base=2006-06-17T16:01:21 -global driver=kvm-pit,property=lost_tick_policy,value=discard");
	assert_string_equal(date->clock_offset, "absolute");
	assert_string_equal(date->timers[0].tickpolicy, "discard");
}

/* ---- memory ---- */

static void test_memory_sizes(void **state)
{
	static const struct {
		const char *options;
		int64_t kib;
	} cases[] = {
	    {"-m 16384", 16777216},
	    {"-m 16G", 16777216},
	    {"-m 1.5g", 1572864},
	    {"-m size=4096,slots=8,maxmem=64G", 4194304},
	    {"-m size=1048576k", 1048576},
	    {"", 131072},
	    {"-object memory-backend-memfd,id=m0,size=2G -machine q35,memory-backend=m0", 2097152},
	    {"-m 1G -object memory-backend-ram,id=d0,size=512M -device pc-dimm,id=dimm0,memdev=d0", 1572864},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		WITH(vm, cases[i].options);

		if (vm->memory_kib != cases[i].kib)
			fail_msg("%s: %lld KiB", cases[i].options, (long long)vm->memory_kib);
	}
}

static void test_backends(void **state)
{
	(void)state;
	WITH(memfd,
	     "-object memory-backend-memfd,id=m0,size=16G,host-nodes=0-1,policy=interleave,prealloc=on,merge=off,"
	     "hugetlb=on,hugetlbsize=1G -machine memory-backend=m0");
	assert_true(memfd->hugepages);
	assert_int_equal(memfd->page_count, 1);
	assert_int_equal(memfd->pages[0].size_kib, 1048576);
	assert_false(memfd->pages[0].cells.given);
	assert_string_equal(memfd->memory_source, "memfd");
	assert_string_equal(memfd->memory_access, "shared");
	assert_string_equal(memfd->allocation, "immediate");
	assert_true(memfd->no_share_pages);
	assert_string_equal(memfd->numa_mode, "interleave");
	assert_list(&memfd->numa_nodes, "0-1");

	WITH(file, "-object memory-backend-file,id=m0,size=16G,mem-path=/dev/hugepages1G,share=no");
	assert_string_equal(file->memory_source, "file");
	assert_string_equal(file->memory_access, "private");
	assert_int_equal(file->pages[0].size_kib, 1048576);
	WITH(plain, "-object memory-backend-file,id=m0,size=16G,mem-path=/dev/shm,share=on");
	assert_false(plain->hugepages);
	assert_string_equal(plain->memory_access, "shared");
	WITH(unknown, "-object memory-backend-file,id=m0,size=16G,mem-path=/dev/hugepages");
	assert_int_equal(unknown->page_count, 1);
	assert_int_equal(unknown->pages[0].size_kib, 0);
	WITH(named, "-object memory-backend-file,id=m0,size=1G,mem-path=/dev/hugepages/libvirt/qemu/3-db1G");
	assert_true(named->hugepages);
	assert_int_equal(named->pages[0].size_kib, 0);
	WITH(old, "-m 4G -mem-path /dev/hugepages -mem-prealloc");
	assert_true(old->hugepages);
	assert_string_equal(old->allocation, "immediate");
	WITH(json, "-object '{\"qom-type\":\"memory-backend-ram\",\"id\":\"pc.ram\",\"size\":1073741824,"
		   "\"host-nodes\":[0,2],\"policy\":\"bind\",\"prealloc\":true}'");
	assert_string_equal(json->numa_mode, "strict");
	assert_list(&json->numa_nodes, "0,2");
	assert_string_equal(json->allocation, "immediate");
}

static void test_cells(void **state)
{
	(void)state;
	WITH(vm,
	     "-smp 8,sockets=2,cores=2,threads=2 -m 8G "
	     "-object memory-backend-memfd,id=m0,size=4G,host-nodes=0,policy=bind,hugetlb=on,hugetlbsize=2M,share=off "
	     "-object memory-backend-memfd,id=m1,size=4G,host-nodes=1,policy=preferred "
	     "-numa node,nodeid=0,cpus=0-1,cpus=4,memdev=m0 -numa node,nodeid=1,cpus=2-3,cpus=5-7,memdev=m1 "
	     "-numa dist,src=0,dst=1,val=21");
	assert_int_equal(vm->cell_count, 2);
	assert_list(&vm->cells[0].cpus, "0-1,4");
	assert_list(&vm->cells[1].cpus, "2-3,5-7");
	assert_int_equal(vm->cells[0].memory_kib, 4194304);
	assert_string_equal(vm->cells[0].access, "private");
	assert_string_equal(vm->cells[1].access, "shared");
	assert_int_equal(vm->cells[0].distances[1], 21);
	assert_int_equal(vm->cells[1].distances[0], 21);
	assert_int_equal(vm->memnode_count, 2);
	assert_int_equal(vm->memnodes[1].cell, 1);
	assert_string_equal(vm->memnodes[1].mode, "preferred");
	assert_list(&vm->memnodes[1].nodes, "1");
	assert_null(vm->numa_mode);
	assert_list(&vm->pages[0].cells, "0");
	assert_int_equal(vm->cells_place.line, 1);

	WITH(numbers, "-smp 8,sockets=2,cores=2,threads=2 -numa node,mem=2048 -numa node,mem=2G "
		      "-numa cpu,node-id=0,socket-id=0 -numa cpu,node-id=1,socket-id=1,core-id=0 "
		      "-numa cpu,node-id=1,socket-id=1,core-id=1,thread-id=1");
	assert_list(&numbers->cells[0].cpus, "0-3");
	assert_list(&numbers->cells[1].cpus, "4-5,7");
	assert_int_equal(numbers->cells[0].memory_kib, 2097152);
	assert_int_equal(numbers->cells[1].memory_kib, 2097152);

	WITH(one, "-object memory-backend-ram,id=r,size=1G,host-nodes=0,policy=bind -numa node,nodeid=0,memdev=r");
	assert_string_equal(one->numa_mode, "strict");
	assert_int_equal(one->memnode_count, 0);
	assert_false(one->cells[0].cpus.given);
}

/* ---- devices ---- */

static void test_disks(void **state)
{
	(void)state;
	WITH(vm, "-object iothread,id=iothread7 -object iothread,id=io-a -object "
		 "'{\"qom-type\":\"iothread\",\"id\":\"io-b\"}' "
		 "-drive file=/a,,b.img,if=none,id=d0,cache=none,aio=native "
		 "-device virtio-blk-pci,drive=d0,id=disk0,iothread=io-a,num-queues=4 "
		 "-blockdev driver=file,filename=/c.img,node-name=f1,aio=io_uring "
		 "-blockdev driver=raw,node-name=d1,file=f1,cache.direct=off "
		 "-device '{\"driver\":\"virtio-blk-pci\",\"id\":\"disk1\",\"drive\":\"d1\",\"write-cache\":\"off\","
		 "\"iothread-vq-mapping\":[{\"iothread\":\"io-a\",\"vqs\":[0,1]},{\"iothread\":\"iothread7\"}]}' "
		 "-device virtio-scsi-pci,id=scsi0,iothread=io-b,num_queues=8 -device scsi-cd,bus=scsi0.0,id=cd "
		 "-drive file=x.img,if=virtio -hda y.img -cdrom z.iso w.img "
		 "-drive if=pflash,file=OVMF.fd -device nvme,drive=d0,id=n0 -device ide-hd,bus=ahci0.0,drive=d0");
	assert_int_equal(vm->iothread_declared, 3);
	assert_int_equal(vm->iothreads[0].id, 7);
	assert_int_equal(vm->iothreads[1].id, 1);
	assert_int_equal(vm->iothreads[2].id, 2);
	assert_string_equal(vm->iothreads[1].name, "io-a");
	assert_int_equal(vm->iothreads[0].users, 1);
	assert_int_equal(vm->iothreads[1].users, 2);
	assert_int_equal(vm->iothreads[2].users, 1);

	assert_int_equal(vm->disk_count, 9);
	const struct vm_disk *disk = vm->disks;

	assert_string_equal(disk[0].target, "disk0");
	assert_string_equal(disk[0].bus, "virtio");
	assert_string_equal(disk[0].source, "/a,b.img");
	assert_string_equal(disk[0].cache, "none");
	assert_string_equal(disk[0].io, "native");
	assert_int_equal(disk[0].iothread, 1);
	assert_string_equal(disk[0].iothread_name, "io-a");
	assert_int_equal(disk[0].queues, 4);
	assert_string_equal(disk[1].source, "/c.img");
	assert_string_equal(disk[1].io, "io_uring");
	assert_string_equal(disk[1].cache, "writethrough");
	assert_int_equal(disk[1].mapped_iothreads, 2);
	assert_int_equal(disk[1].iothread, -1);
	assert_string_equal(disk[2].device, "cdrom");
	assert_string_equal(disk[2].bus, "scsi");
	assert_string_equal(disk[3].bus, "virtio");
	assert_string_equal(disk[4].source, "y.img");
	assert_string_equal(disk[5].device, "cdrom");
	assert_string_equal(disk[6].source, "w.img");
	assert_string_equal(disk[7].bus, "nvme");
	assert_string_equal(disk[8].bus, "sata");

	assert_int_equal(vm->controller_count, 1);
	assert_string_equal(vm->controllers[0].model, "virtio-scsi");
	assert_int_equal(vm->controllers[0].iothread, 2);
	assert_int_equal(vm->controllers[0].queues, 8);
	WITH(sev, "-object sev-snp-guest,id=s -m 1G,maxmem=8G");
	assert_string_equal(sev->launch_security, "sev-snp");
	assert_int_equal(sev->max_memory_kib, 8388608);
}

static void test_caches_of_blockdevs(void **state)
{
	static const struct {
		const char *blockdev, *device, *cache;
	} cases[] = {
	    {"cache.direct=on", "", "none"},
	    {"cache.direct=on", ",write-cache=off", "directsync"},
	    {"cache.direct=off", ",write-cache=on", "writeback"},
	    {"cache.direct=off", ",write-cache=off", "writethrough"},
	    {"cache.direct=off,cache.no-flush=on", "", "unsafe"},
	    {"file.cache.direct=on", "", "none"},
	    {"file.driver=file", "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		WITH(vm, arena_printf(arena, "-blockdev raw,node-name=n,%s -device scsi-hd,drive=n%s",
				      cases[i].blockdev, cases[i].device));

		if (!cases[i].cache)
			assert_null(vm->disks[0].cache);
		else
			assert_string_equal(vm->disks[0].cache, cases[i].cache);
	}
}

static void test_nics(void **state)
{
	(void)state;
	WITH(vm, "-netdev tap,id=n0,ifname=tap3,vhost=on,queues=4 -device virtio-net-pci,netdev=n0,mq=on,vectors=10 "
		 "-netdev vhost-user,id=n1,chardev=c,queues=2 -device virtio-net-pci-non-transitional,netdev=n1 "
		 "-netdev '{\"type\":\"tap\",\"fds\":\"33:34:35\",\"vhost\":true,\"id\":\"n2\"}' "
		 "-device '{\"driver\":\"virtio-net-pci\",\"netdev\":\"n2\"}' "
		 "-netdev tap,id=n3,br=br0 -device e1000-82545em,netdev=n3 -nic user,model=virtio-net-pci "
		 "-net nic,model=rtl8139 -net user -nic none");
	assert_int_equal(vm->nic_count, 6);
	assert_string_equal(vm->nics[0].type, "tap");
	assert_string_equal(vm->nics[0].model, "virtio");
	assert_string_equal(vm->nics[0].driver, "vhost");
	assert_string_equal(vm->nics[0].device, "tap3");
	assert_int_equal(vm->nics[0].queues, 4);
	assert_string_equal(vm->nics[1].type, "vhostuser");
	assert_int_equal(vm->nics[1].queues, 2);
	assert_int_equal(vm->nics[2].queues, 3);
	assert_string_equal(vm->nics[2].driver, "vhost");
	assert_string_equal(vm->nics[3].driver, "qemu");
	assert_string_equal(vm->nics[3].model, "e1000");
	assert_string_equal(vm->nics[3].device, "br0");
	assert_string_equal(vm->nics[4].model, "virtio");
	assert_string_equal(vm->nics[4].type, "user");
	assert_string_equal(vm->nics[5].model, "rtl8139");
}

static void test_other_devices(void **state)
{
	(void)state;
	WITH(vm, "-device vfio-pci,host=41:00.0 -device vfio-pci,host=0000:C1:00.1,id=x "
		 "-device vfio-pci,sysfsdev=/sys/bus/mdev/devices/aa-bb -device usb-host,hostbus=1 "
		 "-device intel-iommu,intremap=on,eim=off,caching-mode=on -device virtio-balloon-pci,id=b "
		 "-device vhost-user-fs-pci,chardev=c,tag=t -device virtio-9p-pci,fsdev=f");
	assert_int_equal(vm->hostdev_count, 4);
	assert_string_equal(vm->hostdevs[0].address, "0000:41:00.0");
	assert_string_equal(vm->hostdevs[1].address, "0000:c1:00.1");
	assert_string_equal(vm->hostdevs[2].type, "mdev");
	assert_string_equal(vm->hostdevs[3].type, "usb");
	assert_string_equal(vm->iommu, "intel");
	assert_int_equal(vm->iommu_intremap, 1);
	assert_int_equal(vm->iommu_eim, 0);
	assert_string_equal(vm->balloon, "virtio");
	assert_int_equal(vm->filesystem_count, 2);
	assert_string_equal(vm->filesystems[0].driver, "virtiofs");
	assert_string_equal(vm->filesystems[1].driver, "path");

	WITH(amd, "-device amd-iommu,xtsup=on");
	assert_string_equal(amd->iommu, "amd");
	assert_int_equal(amd->iommu_xtsup, 1);
	assert_int_equal(amd->iommu_eim, -1);
	assert_int_equal(amd->iommu_intremap, -1);
	assert_string_equal(amd->balloon, "none");
	WITH(virtio, "-device virtio-iommu-pci");
	assert_string_equal(virtio->iommu, "virtio");
}

/* ---- in front ---- */

static void test_taskset_is_no_pin(void **state)
{
	static const struct {
		const char *front, *cpus;
	} cases[] = {
	    {"taskset 0x1e", "1-4"},
	    {"taskset ff00ff", "0-7,16-23"},
	    {"taskset 0xff00000000000000", "56-63"},
	    {"taskset -c 0-3,8", "0-3,8"},
	    {"/usr/bin/taskset -ac 4-7:2", "4,6"},
	    {"sudo taskset --cpu-list 2", "2"},
	    {"taskset --cpu-list=2-3", "2-3"},
	    {"numactl -C 4-7", "4-7"},
	    {"numactl --physcpubind=4-7", "4-7"},
	    {"numactl -C 4-7 taskset -c 6-9", "6-7"},
	    {"systemd-run --scope -p AllowedCPUs=0-3 --unit vm", "0-3"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		READ(vm, arena_printf(arena, "%s qemu-system-x86_64 -smp 4", cases[i].front));

		if (!vm->cpuset.given)
			fail_msg("%s", cases[i].front);
		assert_list(&vm->cpuset, cases[i].cpus);
		assert_false(vm->vcpus[0].pin.given);
		assert_false(vm->emulator.given);
		assert_int_equal(vm->cputune_place.line, 1);
	}
	READ(variable, "taskset -c $CPUS qemu-system-x86_64 -smp 4");
	assert_false(variable->cpuset.given);
	assert_string_equal(variable->cpuset.text, "$CPUS");
	assert_true(has_note(variable, "$CPUS"));
}

static void test_numactl_and_chrt(void **state)
{
	(void)state;
	READ(vm, "sudo -E numactl --cpunodebind=1 --membind 1 nice -n -5 chrt -f 10 qemu-system-x86_64 -smp 2");
	assert_list(&vm->cpu_nodes, "1");
	assert_string_equal(vm->numa_mode, "strict");
	assert_list(&vm->numa_nodes, "1");
	assert_string_equal(vm->vcpus[1].scheduler.policy, "fifo");
	assert_int_equal(vm->vcpus[1].scheduler.priority, 10);
	assert_string_equal(vm->emulator_scheduler.policy, "fifo");
	READ(letters, "numactl -N0 -i all qemu-system-x86_64 -m 1G");
	assert_list(&letters->cpu_nodes, "0");
	/* What -object says, counts for more. */
	READ(bound, "numactl -m 1 qemu-system-x86_64 -object memory-backend-ram,id=r,size=1G,host-nodes=0,policy=bind");
	assert_list(&bound->numa_nodes, "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_backends),
	    cmocka_unit_test(test_caches_of_blockdevs),
	    cmocka_unit_test(test_cells),
	    cmocka_unit_test(test_clock),
	    cmocka_unit_test(test_cpu),
	    cmocka_unit_test(test_disks),
	    cmocka_unit_test(test_enlightenments),
	    cmocka_unit_test(test_machine),
	    cmocka_unit_test(test_memory_sizes),
	    cmocka_unit_test(test_nics),
	    cmocka_unit_test(test_numactl_and_chrt),
	    cmocka_unit_test(test_other_devices),
	    cmocka_unit_test(test_shell_variables_stay_unknown),
	    cmocka_unit_test(test_smp),
	    cmocka_unit_test(test_taskset_is_no_pin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
