/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the whole table of knobs, part after part. */
#include "knob_table.h"

static const struct knob *const *const parts[] = {
    /* One a line, so that those who add parts do not meet. */
    /* clang-format off */
    knob_table_cpu,
    knob_table_idle,
    knob_table_memory,
    knob_table_pages,
    knob_table_thp,
    knob_table_kvm,
    knob_table_irq,
    knob_table_nic,
    knob_table_hsmp,
    knob_table_module,
    knob_table_lasting,
    knob_table_daemon,
    knob_table_boot,
    knob_table_vm,
    knob_table_guest,
    /* clang-format on */
};

const struct knob *knob_at(size_t index)
{
	for (size_t part = 0; part < ARRAY_SIZE(parts); part++)
		for (const struct knob *const *knob = parts[part]; *knob; knob++)
			if (index-- == 0)
				return *knob;
	return NULL;
}
