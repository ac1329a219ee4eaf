/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what tests of the readers of VMs ask again and again. */
#ifndef HVTUNE_TEST_VM_UNIT_H
#define HVTUNE_TEST_VM_UNIT_H

#include "cpuset.h"
#include "unit.h"
#include "vm.h"

/* The set was given, and is that list. */
static inline void assert_list(const struct vm_set *set, const char *expected)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	assert_true(set->given);
	assert_string_equal(cpuset_format(arena, &set->set), expected);
}

static inline bool has_note(const struct vm *vm, const char *text)
{
	for (int i = 0; i < vm->note_count; i++)
		if (strstr(vm->notes[i].text, text))
			return true;
	return false;
}

#endif
