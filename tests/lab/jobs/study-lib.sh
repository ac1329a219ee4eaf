# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what the jobs with studies share: a host with tuned, a power meter that follows the settings and the work that is
# measured; its files and settings to compare with afterwards, byte for byte.

. ./knobs.sh

# prepare_host: as it is before anything is measured. All of it lasts, so that it is the same after every boot.
prepare_host() {
	install -d /usr/local/lib/lab
	install -t /usr/local/lib/lab study-truth.sh study-work.sh study-meter.sh
	install -D "$(command -v hvtune)" /usr/local/bin/hvtune
	# On a busy machine the emulated CPUs need longer for tuned than systemd waits.
	install -d /etc/systemd/system/service.d
	printf '[Service]\nTimeoutStartSec=900\n' >/etc/systemd/system/service.d/lab.conf
	cat >/etc/systemd/system/lab-meter.service <<-UNIT
		[Unit]
		Description=What the lab's power meter shows
		[Service]
		ExecStart=/usr/local/lib/lab/study-meter.sh
		[Install]
		WantedBy=multi-user.target
	UNIT
	# Debian's default lets tuned itself ask for 100 us whenever the load is 0.2 or more.
	sed -i 's/^dynamic_tuning.*/dynamic_tuning = 0/' /etc/tuned/tuned-main.conf
	systemctl daemon-reload
	systemctl -q enable --now lab-meter.service tuned.service || fail "the meter or tuned does not start"
	tuned-adm profile balanced || fail "tuned-adm"
}

# Every file of the configuration and of the boot, by its bytes, owner and mode; and what the boot loader will do.
files() {
	find /etc /boot /usr/local -xdev \( -type f -o -type l -o -type d \) -printf '%p %y %m %u:%g %l\n' | sort
	find /etc /boot /usr/local -xdev -type f ! -path '/boot/initrd*' ! -path '/boot/vmlinuz*' -print0 | sort -z | xargs -0 sha256sum
}
settings() {
	snapshot
	tuned-adm active
	od -An -td4 -N4 /dev/cpu_dma_latency
	cat /proc/cmdline
}

# remember_host / host_is_as_before
remember_host() {
	files >"$LAB_OUT/before.files"
	settings >"$LAB_OUT/before.settings"
}
host_is_as_before() {
	settings >"$LAB_OUT/after.settings"
	files >"$LAB_OUT/after.files"
	diff "$LAB_OUT/before.settings" "$LAB_OUT/after.settings" || fail "settings are not as they were"
	diff "$LAB_OUT/before.files" "$LAB_OUT/after.files" || fail "files are not as they were"
	echo "ok: $(wc -l <"$LAB_OUT/before.settings") settings and $(wc -l <"$LAB_OUT/before.files") lines of files as before"
}

# take_answers: what the study that ended last has found.
take_answers() {
	hvtune results export last >"$LAB_OUT/study.jsonl" || fail "results export: status $?"
	jq -s -e 'map(select(.verdict).verdict | if type == "string" then fromjson else . end) | last' \
		"$LAB_OUT/study.jsonl" >"$LAB_OUT/study.json" || fail "no answer is kept"
}

# answers_are TARGET BEST...: it has this best configuration for each target that is named, and is sure of it.
answers_are() {
	take_answers
	while [ $# -gt 0 ]; do
		expect "best for $1" "$2 true" jq -r --arg target "$1" \
			'.targets[] | select(.target == $target) | "\(.best) \(.sure)"' "$LAB_OUT/study.json"
		shift 2
	done
}
