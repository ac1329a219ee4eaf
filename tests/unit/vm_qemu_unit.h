/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading command lines of QEMU in tests: the text must be read, or the test fails with where it was refused. */
#ifndef HVTUNE_TEST_VM_QEMU_UNIT_H
#define HVTUNE_TEST_VM_QEMU_UNIT_H

#include "text.h"
#include "vm_qemu_line.h"
#include "vm_unit.h"

static inline struct vm *must_read_bytes(const char *text, size_t size)
{
	struct vm *vm = NULL;
	struct err err = {0};

	if (vm_read_qemu_line("test.sh", text, size, &vm, &err) < 0)
		fail_msg("refused: %u:%u %s\n%.300s", err.line, err.column, err.what, text);
	return vm;
}

static inline struct vm *must_read(const char *text)
{
	return must_read_bytes(text, strlen(text));
}

/* A line that is QEMU with the given options. */
static inline struct vm *line(const char *options)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	return must_read(arena_printf(arena, "qemu-system-x86_64 %s\n", options));
}

#define WITH(into, options) CLEANUP(vm_free_pointer) struct vm *into = line(options)
#define READ(into, text) CLEANUP(vm_free_pointer) struct vm *into = must_read(text)

#endif
