# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the emulated machine: the options that shape it, and the emulator's command
# line that follows from them.
#
# The named machine "epyc" is the default: one socket with 2 CCXs of 2 cores with 2
# threads each, and a NUMA node for each CCX (an EPYC in NPS2, cut down).

machine_defaults() {
	SOCKETS=1 CCXS=2 CORES=2 THREADS=2 NODES=2 DISTANCE=12
	MEM=8192 PM_PROFILE=4 PREFCORE=off CSTATES=1 POWER_METER=on BMC=on
	AMD_PSTATE='' APPEND='' GRUB=off
}

machine_usage() {
	cat <<-'TEXT'
	machine options:
	  --machine NAME        epyc (1x2x2x2, 2 nodes; default), small (1x2x1x1, 1 node),
	                        dual (2x2x2x2, 4 nodes, distance 32), nosmt (1x4x2x1, 2 nodes)
	  --shape SxXxCxT       sockets x CCXs per socket x cores per CCX x threads per core
	  --nodes N             NUMA nodes; they share out the CCXs evenly
	  --distance N          distance between any two nodes (12)
	  --mem MIB             memory over all nodes (8192)
	  --pm-profile N        FADT preferred profile (4: enterprise server; 0: unspecified; 1: desktop)
	  --prefcore on|off     cores with different highest performance (off)
	  --cstates 0|1|2       deepest idle state in _CST (1; with 2 the idle host is busy: an idle
	                        state entered by an I/O port does not stop an emulated CPU)
	  --power-meter on|off  ACPI power meter (on)
	  --bmc on|off          IPMI BMC on a KCS interface (on)
	  --amd-pstate MODE     active, passive, guided, disable: the word on the kernel command
	                        line; none: no word (default)
	  --append WORDS        more words for the kernel command line
	  --grub                boot through GRUB from the disk (needed for reboots)
	TEXT
}

# Takes one option; MACHINE_SHIFT says how many words it was, 0 when it is none of these.
machine_option() {	# OPTION [VALUE]
	MACHINE_SHIFT=2
	case $1 in
	--machine)
		case $2 in
		epyc) SOCKETS=1 CCXS=2 CORES=2 THREADS=2 NODES=2 ;;
		small) SOCKETS=1 CCXS=2 CORES=1 THREADS=1 NODES=1 MEM=3072 ;;
		dual) SOCKETS=2 CCXS=2 CORES=2 THREADS=2 NODES=4 DISTANCE=32 MEM=16384 ;;
		nosmt) SOCKETS=1 CCXS=4 CORES=2 THREADS=1 NODES=2 ;;
		*) die "no machine is called $2" ;;
		esac
		;;
	--shape)
		[[ $2 =~ ^([1-9][0-9]*)x([1-9][0-9]*)x([1-9][0-9]*)x([12])$ ]] ||
			die "--shape wants SOCKETSxCCXSxCORESxTHREADS, not $2"
		SOCKETS=${BASH_REMATCH[1]} CCXS=${BASH_REMATCH[2]}
		CORES=${BASH_REMATCH[3]} THREADS=${BASH_REMATCH[4]}
		;;
	--nodes) NODES=$2 ;;
	--distance) DISTANCE=$2 ;;
	--mem) MEM=$2 ;;
	--pm-profile) PM_PROFILE=$2 ;;
	--prefcore) PREFCORE=$2 ;;
	--cstates) CSTATES=$2 ;;
	--power-meter) POWER_METER=$2 ;;
	--bmc) BMC=$2 ;;
	--amd-pstate)
		case $2 in
		active | passive | guided | disable) AMD_PSTATE=$2 ;;
		none) AMD_PSTATE='' ;;
		*) die "--amd-pstate: $2 is no mode" ;;
		esac
		;;
	--append) APPEND="$APPEND $2" ;;
	--grub) GRUB=on MACHINE_SHIFT=1 ;;
	*) MACHINE_SHIFT=0 ;;
	esac
}

cpu_count() { echo $((SOCKETS * CCXS * CORES * THREADS)); }

check_machine() {
	[ $((SOCKETS * CCXS % NODES)) -eq 0 ] || die "$NODES nodes cannot share out $((SOCKETS * CCXS)) CCXs evenly"
}

# The words that come after the image's own command line.
extra_words() { echo "${AMD_PSTATE:+ amd_pstate=$AMD_PSTATE}$APPEND"; }

# The emulator is not installed but runs from its unpacked tree with the libraries
# there, so it needs neither a chroot nor the libraries of this machine.
emulator() {	# PROGRAM ARGUMENTS...
	local tools program=$1
	tools=$(tools_dir)
	shift
	exec env QEMU_MODULE_DIR="$tools/usr/lib/x86_64-linux-gnu/qemu" \
		"$tools/usr/lib64/ld-linux-x86-64.so.2" --library-path "$tools/usr/lib/x86_64-linux-gnu" \
		"$tools/usr/bin/$program" "$@"
}

make_firmware() {	# DIRECTORY
	local options=(--cpus "$(cpu_count)" --threads "$THREADS" --cstates "$CSTATES" --pm-profile "$PM_PROFILE")
	[ "$PREFCORE" = off ] || options+=(--prefcore)
	[ "$POWER_METER" = on ] || options+=(--no-power-meter)
	mkdir -p "$1"
	as --32 -o "$1/rom.o" "$LAB/firmware/rom.S"
	ld -m elf_i386 -Ttext 0 --oformat binary -o "$1/rom.code" "$1/rom.o"
	PYTHONDONTWRITEBYTECODE=1 python3 "$LAB/firmware/tables.py" "${options[@]}" --rom-code "$1/rom.code" "$1"
}

# The disk of a run: an overlay of the image, so that any number of runs share it.  When
# GRUB boots with words of this run, they must be in its files: then it is a copy (of
# what is not zero in it), and the words go into the copy.
make_disk() {	# DIRECTORY
	local image words
	image=$(image_dir)
	words=$(extra_words)
	if [ "$GRUB" = on ] && [ -n "$words" ]; then
		cp --sparse=always --reflink=auto "$image/disk.img" "$1/disk.raw"
		DISK_FORMAT=raw
		edit_grub_words "$1" "$words"
	elif [ ! -e "$1/disk.qcow2" ]; then
		(emulator qemu-img create -q -f qcow2 -F raw -b "$image/disk.img" "$1/disk.qcow2")
		DISK_FORMAT=qcow2
	fi
}

edit_grub_words() {	# DIRECTORY WORDS
	local part="$1/disk.raw?offset=$((LAB_PARTITION_SECTOR * 512))" words
	words=$(printf '%s' "${2# }" | sed 's/[&|\\]/\\&/g')
	debugfs -R "dump /etc/default/grub.d/lab.cfg $1/lab.cfg" "$part" 2>/dev/null
	debugfs -R "dump /boot/grub/grub.cfg $1/grub.cfg" "$part" 2>/dev/null
	sed -i "s|^GRUB_CMDLINE_LINUX=\"\\(.*\\)\"|GRUB_CMDLINE_LINUX=\"\\1 $words\"|" "$1/lab.cfg"
	sed -i "s|\\(ro .*console=ttyS0,115200\\)|\\1 $words|" "$1/grub.cfg"
	grep -qF -- "${2# }" "$1/grub.cfg" || die "the words did not get into grub.cfg"
	debugfs -w "$part" >/dev/null 2>&1 <<-COMMANDS
		rm /etc/default/grub.d/lab.cfg
		write $1/lab.cfg /etc/default/grub.d/lab.cfg
		rm /boot/grub/grub.cfg
		write $1/grub.cfg /boot/grub/grub.cfg
	COMMANDS
}

numa_arguments() {
	local node other ccx per_node=$((SOCKETS * CCXS / NODES))
	for ((node = 0; node < NODES; node++)); do
		MACHINE+=(-object "memory-backend-ram,id=ram$node,size=$((MEM / NODES))M")
		MACHINE+=(-numa "node,nodeid=$node,memdev=ram$node")
	done
	for ((ccx = 0; ccx < SOCKETS * CCXS; ccx++)); do
		MACHINE+=(-numa "cpu,node-id=$((ccx / per_node)),socket-id=$((ccx / CCXS)),die-id=$((ccx % CCXS))")
	done
	for ((node = 0; node < NODES; node++)); do
		for ((other = 0; other < NODES; other++)); do
			[ $node -eq $other ] || MACHINE+=(-numa "dist,src=$node,dst=$other,val=$DISTANCE")
		done
	done
}

# The processor.  TCG does not offer "topoext", with which AMD processors describe threads
# and caches, but it answers those CPUID leaves when it is forced to; the MSRs of the
# speculation controls it ignores.  So these are forced, and all else that EPYC-Milan has
# and TCG has not is off, since a forced feature would be missing when it is used.
# Without the hypervisor bit the kernel takes this for the bare metal it stands for.
cpu_model() {
	local feature model=EPYC-Milan,hypervisor=off,svm=on,npt=on,x-force-features=on,topoext=on,invtsc=on
	for feature in pcid invpcid xsavec xsaves misalignsse osvw perfctr-core fxsr-opt clzero nrip-save; do
		model+=,$feature=off
	done
	echo "$model"
}

# Fills MACHINE with the emulator's arguments for the run in a directory.
machine_arguments() {	# DIRECTORY
	local image tools
	image=$(image_dir)
	tools=$(tools_dir)
	MACHINE=(-name lab -nodefaults -no-user-config -display none -monitor "unix:$1/monitor,server=on,wait=off"
		-L "$tools/usr/share/seabios" -L "$tools/usr/share/qemu"
		# One thread for all CPUs: a guest that spins for a lock held by a CPU which this
		# machine has no core for would otherwise eat half of the time.
		-machine q35 -accel tcg,thread=single
		-cpu "$(cpu_model)" -m "$MEM"
		-smp "$(cpu_count),sockets=$SOCKETS,dies=$CCXS,cores=$CORES,threads=$THREADS"
		-smbios "type=0,vendor=hvtune lab,version=1,date=01/01/2026"
		-smbios "type=1,manufacturer=hvtune lab,product=emulated EPYC host"
		-acpitable "file=$1/firmware/ssdt.aml" -acpitable "file=$1/firmware/pcct.aml"
		-option-rom "$1/firmware/rom.bin"
		-drive "file=$1/disk.$DISK_FORMAT,format=$DISK_FORMAT,if=none,id=disk,cache=unsafe,discard=unmap"
		-device virtio-blk-pci,drive=disk,bus=pcie.0
		-fsdev "local,id=lab,path=$1/share,security_model=none"
		-device virtio-9p-pci,fsdev=lab,mount_tag=lab,bus=pcie.0
		-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng,bus=pcie.0)
	[ "$NODES" -eq 1 ] || numa_arguments
	# The NIC leads nowhere.  With more than one node it hangs below a root bridge of the
	# last one, so that there is a PCI device with a node of its own.
	MACHINE+=(-netdev user,id=net,restrict=on)
	if [ "$NODES" -gt 1 ]; then
		MACHINE+=(-device "pxb-pcie,id=pxb,bus_nr=64,numa_node=$((NODES - 1)),bus=pcie.0"
			-device pcie-root-port,id=rootport,bus=pxb,chassis=1
			-device virtio-net-pci,netdev=net,bus=rootport,romfile=)
	else
		MACHINE+=(-device virtio-net-pci,netdev=net,bus=pcie.0,romfile=)
	fi
	[ "$BMC" = off ] || MACHINE+=(-device ipmi-bmc-sim,id=bmc0 -device isa-ipmi-kcs,bmc=bmc0)
	if [ "$GRUB" = off ]; then
		# A reboot would come back to this same kernel without GRUB: it ends the run instead.
		MACHINE+=(-kernel "$image/vmlinuz" -initrd "$image/initrd"
			-append "$(cat "$image/cmdline")$(extra_words)" -no-reboot)
	fi
}
