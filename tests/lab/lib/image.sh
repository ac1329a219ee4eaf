# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the two things that the lab takes from Debian, once, into the cache:
#
#   tools-KEY/  the emulator, unpacked but not installed; see emulator() in machine.sh
#   image-KEY/  disk.img (MBR, GRUB, one ext4 partition), vmlinuz, initrd, cmdline,
#               packages.txt (what is in it)
#
# KEY is a hash of everything that goes in, so a change here or in guest/, nested/ or
# packages makes a new one.  A build works in a directory of its own and is renamed
# when complete; a lock makes others wait for it.

LAB_ROOT_UUID=6c616200-6876-4475-6e65-000000000001
LAB_DISK_MIB=6144
LAB_PARTITION_SECTOR=2048

image_key() {
	{
		echo "$LAB_SUITE $LAB_DISK_MIB"
		cat "$LAB/lib/image.sh" "$LAB/lib/tree.sh"
		sed -e '/^#/d' -e '/^$/d' "$LAB/packages"
		find "$LAB/guest" "$LAB/nested" -type f -print0 | LC_ALL=C sort -z | while IFS= read -r -d '' file; do
			echo "${file#"$LAB"}"
			cat "$file"
		done
	} | sha256sum | cut -c1-16
}

tools_key() { echo "$LAB_TOOLS_SUITE qemu-system-x86 qemu-utils seabios" | sha256sum | cut -c1-16; }

image_dir() { echo "$LAB_CACHE/image-$(image_key)"; }
tools_dir() { echo "$LAB_CACHE/tools-$(tools_key)"; }
image_ready() { [ -d "$(image_dir)" ] && [ -d "$(tools_dir)" ]; }

debootstrap_tree() {	# LOG ARGUMENTS...
	local log=$1
	shift
	if ! mmdebstrap --aptopt='Acquire::Retries "3"' "$@" >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		return 1
	fi
}

build_tools() {	# DIRECTORY
	debootstrap_tree "$1.log" --variant=extract --include=qemu-system-x86,qemu-utils,seabios \
		"$LAB_TOOLS_SUITE" "$1" "deb [signed-by=$LAB_KEYRING] $MIRROR $LAB_TOOLS_SUITE main"
}

build_tree() {	# DIRECTORY
	local packages sources=()
	packages=$(sed -e '/^#/d' -e '/^$/d' "$LAB/packages" | paste -sd,)
	sources+=("deb [signed-by=$LAB_KEYRING] $MIRROR $LAB_SUITE main")
	sources+=("deb [signed-by=$LAB_KEYRING] $MIRROR $LAB_SUITE-backports main")
	[ -z "$SECURITY_MIRROR" ] ||
		sources+=("deb [signed-by=$LAB_KEYRING] $SECURITY_MIRROR $LAB_SUITE-security main")
	export LAB LAB_ROOT_UUID
	# shellcheck disable=SC2016 # the hooks expand these, not this shell
	debootstrap_tree "$1.log" --variant=minbase --dpkgopt=force-unsafe-io --include="$packages" \
		--essential-hook='"$LAB/lib/tree.sh" early "$1"' \
		--customize-hook='"$LAB/lib/tree.sh" late "$1"' \
		"$LAB_SUITE" "$1" "${sources[@]}"
}

# The nested guests: a bare one (no kernel), and Debian's kernel with an initramfs that
# holds one static program.
build_nested() {	# TREE
	local where=$1/var/lib/libvirt/images list=$1.nested
	mkdir -p "$where" "$list"
	gcc -m32 -ffreestanding -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables -mno-sse -Os \
		-c -o "$list/bare.o" "$LAB/nested/bare.c" &&
		ld -m elf_i386 --no-warn-rwx-segments -T "$LAB/nested/bare.ld" -o "$list/bare.elf" "$list/bare.o" &&
		objcopy -O binary "$list/bare.elf" "$where/lab-guest.bare" || return
	gcc -static -Os -s -o "$list/init" "$LAB/nested/init.c" || return
	cp "$LAB"/nested/lab-guest "$1/usr/local/sbin/lab-guest"
	chmod 755 "$1/usr/local/sbin/lab-guest"
	mkdir -p "$1/tmp/nested"/{dev,proc,sys}
	cp "$list/init" "$1/tmp/nested/init"
	chroot "$1" sh -c 'cd /tmp/nested && find . | cpio --quiet -o -H newc >/var/lib/libvirt/images/lab-guest.cpio'
	rm -rf "$1/tmp/nested" "$list"
	cp "$1"/boot/vmlinuz-* "$where/lab-guest.vmlinuz"
}

# The disk: boot code and partition table in sector 0, GRUB's core from sector 1 on, then
# one partition.  GRUB's own installer wants a block device, and there is none here.
build_disk() {	# TREE IMAGE
	local disk=$2/disk.img sectors=$((LAB_DISK_MIB * 2048)) version
	truncate -s "${LAB_DISK_MIB}M" "$disk"
	mke2fs -q -t ext4 -d "$1" -L lab -U "$LAB_ROOT_UUID" -m 0 \
		-E "offset=$((LAB_PARTITION_SECTOR * 512)),lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0" \
		"$disk" "$(((sectors - LAB_PARTITION_SECTOR) / 2))k"
	python3 - "$1" "$disk" "$LAB_PARTITION_SECTOR" "$((sectors - LAB_PARTITION_SECTOR))" <<-'PYTHON'
		import struct, sys
		tree, disk, start, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
		boot = open(tree + "/usr/lib/grub/i386-pc/boot.img", "rb").read()
		core = open(tree + "/boot/grub/i386-pc/core.img", "rb").read()
		assert len(core) <= (start - 1) * 512, "core.img does not fit before the partition"
		# boot.img looks for its core in sector 1 as it comes; core.img, as grub-mkimage
		# writes it, expects to lie in one piece from there.
		entry = struct.pack("<B3sB3sII", 0x80, b"\xfe\xff\xff", 0x83, b"\xfe\xff\xff", start, count)
		sector = boot[:440] + struct.pack("<IH", 0x68766c62, 0) + entry + bytes(48) + b"\x55\xaa"
		with open(disk, "r+b") as out:
		    out.write(sector)
		    out.write(core)
	PYTHON
	cp "$1"/boot/vmlinuz-* "$2/vmlinuz"
	cp "$1"/boot/initrd.img-* "$2/initrd"
	# The line that GRUB gives the kernel, so that a boot without GRUB differs by nothing.
	version=$(basename "$1"/boot/vmlinuz-*)
	echo "BOOT_IMAGE=/boot/$version root=UUID=$LAB_ROOT_UUID ro console=ttyS0,115200" >"$2/cmdline"
	chroot "$1" dpkg-query -W >"$2/packages.txt"
}

build_image() {	# IMAGE
	phase "host tree from $LAB_SUITE" build_tree "$1/tree" &&
		phase "nested guest" build_nested "$1/tree" &&
		phase "disk" build_disk "$1/tree" "$1" &&
		rm -rf --one-file-system "$1/tree"
}

# make_once DIRECTORY FUNCTION: build into a temporary directory, rename when done.
make_once() {
	local partial
	[ ! -d "$1" ] || return 0
	partial=$(mktemp -d "$LAB_CACHE/partial.XXXXXX")
	at_exit "rm -rf --one-file-system '$partial'"
	chmod 755 "$partial"
	mkdir "$partial/made"
	"$2" "$partial/made" && mv "$partial/made" "$1"
}

# Makes sure that tools and image are there.
ensure_image() {
	local reason start=$SECONDS
	image_ready && return 0
	reason=$(why_not) || { say "cannot run here: $reason"; exit "$LAB_SKIPPED"; }
	mkdir -p "$LAB_CACHE"
	exec 8>"$LAB_CACHE/lock"
	flock -n 8 || { say "another build is running; waiting for it"; flock 8; }
	if ! image_ready; then
		find_mirrors
		make_once "$(tools_dir)" build_tools_phase || die "the emulator could not be unpacked"
		make_once "$(image_dir)" build_image || die "the image could not be built"
		say "image ready after $((SECONDS - start)) s: $(image_dir)"
	fi
	exec 8>&-
}

build_tools_phase() { phase "emulator from $LAB_TOOLS_SUITE" build_tools "$1"; }
