#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what is done inside the host's tree while mmdebstrap builds it, which calls it
# twice: "early" before the packages are installed, "late" after.

set -eu
when=$1
tree=$2

early() {
	# Configuration that the packages' own scripts find when they run.
	cp -r --no-preserve=ownership "$LAB/guest/." "$tree/"
	echo lab-host >"$tree/etc/hostname"
	printf '127.0.0.1\tlocalhost\n127.0.1.1\tlab-host\n' >"$tree/etc/hosts"
	printf 'UUID=%s\t/\text4\terrors=remount-ro\t0\t1\n' "$LAB_ROOT_UUID" >"$tree/etc/fstab"
}

# grub-probe asks the running system where things lie, and here that is not the lab's
# host.  So it answers what it will find there: the one partition of the one disk.
write_grub_probe() {
	cat >"$tree/usr/sbin/grub-probe" <<-PROBE
		#!/bin/sh
		for word; do case \$word in
		--target=device | device) echo /dev/vda1 ;;
		--target=disk | disk) echo /dev/vda ;;
		--target=fs | fs) echo ext2 ;;
		--target=fs_uuid | fs_uuid) echo $LAB_ROOT_UUID ;;
		--target=partmap | partmap) echo msdos ;;
		--target=hints_string | hints_string) echo "--hint-bios=hd0,msdos1" ;;
		--target=compatibility_hint | compatibility_hint) echo hd0,msdos1 ;;
		esac; done
	PROBE
	chmod 755 "$tree/usr/sbin/grub-probe"
}

install_grub() {
	local grub=$tree/boot/grub
	mkdir -p "$grub/i386-pc" "$grub/fonts"
	cp "$tree"/usr/lib/grub/i386-pc/*.{mod,lst} "$grub/i386-pc/"
	cp "$tree/usr/share/grub/unicode.pf2" "$grub/fonts/"
	chroot "$tree" grub-mkimage -O i386-pc -p '(hd0,msdos1)/boot/grub' \
		-o /boot/grub/i386-pc/core.img biosdisk part_msdos ext2
	chroot "$tree" grub-editenv /boot/grub/grubenv create
	mv "$tree/usr/sbin/grub-probe" "$tree/usr/sbin/grub-probe.real"
	write_grub_probe
	chroot "$tree" grub-mkconfig -o /boot/grub/grub.cfg
	mv "$tree/usr/sbin/grub-probe.real" "$tree/usr/sbin/grub-probe"
	# Where "dpkg-reconfigure grub-pc" and hvtune find the disk.
	echo 'grub-pc grub-pc/install_devices multiselect /dev/vda' | chroot "$tree" debconf-set-selections
}

# The emulated processors would take longer to unpack a module than the disk to read it.
unpack_modules() {
	find "$tree/lib/modules" -name '*.ko.xz' -print0 | xargs -0 -n 200 -P 2 xz -d
	chroot "$tree" sh -c 'depmod "$(basename /lib/modules/*)" && update-initramfs -u -k all'
}

late() {
	# A fixed identity, or the first boot would ask for one.
	echo 6c61620068764475ae65000000000001 >"$tree/etc/machine-id"
	chroot "$tree" systemctl -q enable lab-job.service
	chroot "$tree" systemctl -q set-default lab.target
	# A job starts what it wants to look at; until then nothing tunes the host, and nothing
	# takes time that the emulated processors do not have.  libvirt starts by its socket, a
	# shell on the console when there is no job.
	chroot "$tree" systemctl -q disable tuned.service irqbalance.service libvirtd.service \
		libvirt-guests.service
	mkdir -p "$tree/etc/systemd/system-generators"
	ln -s /dev/null "$tree/etc/systemd/system-generators/systemd-getty-generator"
	chroot "$tree" systemctl -q mask getty@tty1.service apt-daily.timer apt-daily-upgrade.timer \
		dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
		systemd-networkd-wait-online.service systemd-binfmt.service systemd-pstore.service \
		modprobe@configfs.service modprobe@dm_mod.service modprobe@drm.service \
		modprobe@efi_pstore.service modprobe@fuse.service modprobe@loop.service
	unpack_modules
	install_grub
}

"$when"
