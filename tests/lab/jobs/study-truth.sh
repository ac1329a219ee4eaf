# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what is true in the studies of the lab: how long the work takes and what the host draws, as a function of the
# settings that its kernel has. The work (study-work.sh) and the power meter (study-meter.sh) follow it; a study has to
# find it. Nothing here knows of hvtune, and nothing starts a process: the emulated CPUs have no time for that.
#
# In permille of the time of amd_pstate=disable under governor performance, and milliwatts of the whole host:
#
#	mode      time  idle W      governor, EPP          time  W more under load
#	disable   1000    100       performance            1000  120
#	passive    960     95       else                   1250   70
#	guided     840     92       else, EPP performance  1050   96
#	active     900     70       else, EPP power        1400   20
#
# and under virtual-host, which the kernel shows by vm.dirty_background_ratio=5: time 920, 40 W more always.
# Fastest: guided, virtual-host (773). Fewest joules: active, balanced, EPP power (1260 x 90 W = 113 against 156 and more).
#
# Where the file `vm` beside this one names a VM, it counts too: with its first vCPU on CPU 2 alone and two queues, time
# 950 and 15 W more; as it was found, with one queue and the vCPU anywhere, nothing. Fastest is then guided, virtual-host
# with the VM moved (734 against 773 and more), and the fewest joules are where they were (113 against 126 and more).

# same FILE...: the word that all of them hold, in SAME; "mixed" when they differ.
same() {
	local file word
	SAME=''
	for file; do
		word=''
		read -r word 2>/dev/null <"$file"
		case $SAME in
		'' | "$word") SAME=$word ;;
		*) SAME=mixed ;;
		esac
	done
}

# look_at_vm NAME: what its process is, in VM: found, moved, or mixed when it is neither or does not run.
look_at_vm() {
	local task word key list pid='' cpus='' queues=0
	VM=mixed
	read -r pid 2>/dev/null <"/run/libvirt/qemu/$1.pid"
	[ -n "$pid" ] || return
	for task in "/proc/$pid/task"/*; do
		word=''
		read -r word 2>/dev/null <"$task/comm"
		case $word in
		'CPU 0/KVM')
			while read -r key list; do
				[ "$key" != Cpus_allowed_list: ] || cpus=$list
			done 2>/dev/null <"$task/status"
			;;
		vhost-*) queues=$((queues + 1)) ;;
		esac
	done
	case $cpus/$queues in
	2/2) VM=moved ;;
	0-3/1) VM=found ;;
	esac
}

# The settings of the kernel, in MODE, GOVERNOR, EPP and BACKGROUND; and VM.
look_at_settings() {
	local cpu=/sys/devices/system/cpu name
	MODE=disable EPP=none BACKGROUND=''
	[ ! -e $cpu/amd_pstate/status ] || read -r MODE <$cpu/amd_pstate/status
	same $cpu/cpufreq/policy*/scaling_governor
	GOVERNOR=$SAME
	if [ -e $cpu/cpufreq/policy0/energy_performance_preference ]; then
		same $cpu/cpufreq/policy*/energy_performance_preference
		EPP=$SAME
	fi
	read -r BACKGROUND </proc/sys/vm/dirty_background_ratio
	VM=none
	if read -r name 2>/dev/null <"${0%/*}/vm"; then
		look_at_vm "$name"
	fi
}

# The truth of those settings: TRUE_PERMILLE, TRUE_IDLE_MW and TRUE_LOAD_MW. What is half set is slow and dear, so that
# no study would choose it.
find_truth() {
	case $MODE in
	disable) TRUE_PERMILLE=1000 TRUE_IDLE_MW=100000 ;;
	passive) TRUE_PERMILLE=960 TRUE_IDLE_MW=95000 ;;
	guided) TRUE_PERMILLE=840 TRUE_IDLE_MW=92000 ;;
	active) TRUE_PERMILLE=900 TRUE_IDLE_MW=70000 ;;
	*) TRUE_PERMILLE=2000 TRUE_IDLE_MW=200000 ;;
	esac
	if [ "$BACKGROUND" = 5 ]; then
		TRUE_PERMILLE=$((TRUE_PERMILLE * 920 / 1000)) TRUE_IDLE_MW=$((TRUE_IDLE_MW + 40000))
	fi
	case $VM in
	moved) TRUE_PERMILLE=$((TRUE_PERMILLE * 950 / 1000)) TRUE_IDLE_MW=$((TRUE_IDLE_MW + 15000)) ;;
	mixed) TRUE_PERMILLE=$((TRUE_PERMILLE * 2)) TRUE_IDLE_MW=$((TRUE_IDLE_MW + 200000)) ;;
	esac
	case $GOVERNOR/$EPP in
	*mixed*) TRUE_PERMILLE=$((TRUE_PERMILLE * 2)) TRUE_LOAD_MW=$((TRUE_IDLE_MW + 200000)) ;;
	performance/*) TRUE_LOAD_MW=$((TRUE_IDLE_MW + 120000)) ;;
	*/performance) TRUE_PERMILLE=$((TRUE_PERMILLE * 1050 / 1000)) TRUE_LOAD_MW=$((TRUE_IDLE_MW + 96000)) ;;
	*/power) TRUE_PERMILLE=$((TRUE_PERMILLE * 1400 / 1000)) TRUE_LOAD_MW=$((TRUE_IDLE_MW + 20000)) ;;
	*) TRUE_PERMILLE=$((TRUE_PERMILLE * 1250 / 1000)) TRUE_LOAD_MW=$((TRUE_IDLE_MW + 70000)) ;;
	esac
}
