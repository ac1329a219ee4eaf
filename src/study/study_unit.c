/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the unit of a study. */
#include "study_unit.h"

#include <errno.h>

#include "knob_boot_state.h"
#include "knob_systemd.h"
#include "text.h"

static const char form[] =
    "# Written by hvtune for a study that runs; it goes with the study's end (hvtune study abort ends it).\n"
    "[Unit]\n"
    "Description=Go on with the study of hvtune\n"
    "Documentation=man:hvtune-study(1)\n"
    "ConditionPathExists=" KNOB_STUDY "\n"
    "After=multi-user.target libvirtd.service virtqemud.service libvirt-guests.service pve-guests.service "
    "tuned.service\n"
    "StartLimitIntervalSec=3600\n"
    "StartLimitBurst=5\n"
    "\n"
    "[Service]\n"
    "Type=exec\n"
    /* Drivers may still be coming: KVM's, without which no VM starts. */
    "ExecStartPre=-udevadm settle --timeout=180\n"
    "TimeoutStartSec=300\n"
    "ExecStart=%s study go-on\n"
    /* Workloads are stopped by hvtune, which puts everything back after them. */
    "KillMode=mixed\n"
    "TimeoutStopSec=300\n"
    "Restart=on-failure\n"
    "RestartSec=30\n"
    "\n"
    "[Install]\n"
    "WantedBy=multi-user.target\n";

static const char *const reload[] = {"systemctl", "daemon-reload", NULL};

int study_unit_install(struct knob_machine *machine, struct err *err)
{
	static const char *const enable[] = {"systemctl", "enable", "--quiet", STUDY_UNIT, NULL};
	const char *program = "", *text;
	int r = knob_unit_program(machine, &program, err);

	if (r < 0)
		return r;
	text = arena_printf(machine->arena, form, program);
	r = sys_writer_replace(machine->writer, KNOB_STUDY_UNIT, text, strlen(text), 0644, err);
	if (r == 0)
		r = boot_run(machine, reload, NULL, err);
	return r < 0 ? r : boot_run(machine, enable, NULL, err);
}

int study_unit_remove(struct knob_machine *machine, struct err *err)
{
	static const char *const disable[] = {"systemctl", "disable", "--quiet", STUDY_UNIT, NULL};
	bool there = sys_writer_exists(machine->writer, KNOB_STUDY_UNIT);
	/* The link that enables it first: without the file nobody would know whose it is. */
	int r = there ? boot_run(machine, disable, NULL, err) : 0;

	if (r == 0)
		r = sys_writer_tidy(machine->writer, KNOB_STUDY_UNIT, err);
	if (r == 0)
		r = sys_writer_remove(machine->writer, KNOB_STUDY_UNIT, err);
	return r < 0 || !there ? r : boot_run(machine, reload, NULL, err);
}

int study_unit_start(struct knob_machine *machine, struct err *err)
{
	static const char *const start[] = {"systemctl", "start", "--no-block", STUDY_UNIT, NULL};

	return boot_run(machine, start, NULL, err);
}

int study_unit_stop(struct knob_machine *machine, struct err *err)
{
	static const char *const stop[] = {"systemctl", "stop", STUDY_UNIT, NULL};

	return sys_writer_exists(machine->writer, KNOB_STUDY_UNIT) ? boot_run(machine, stop, NULL, err) : 0;
}
