/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes command lines of QEMU: shell texts, and argvs where a NUL is in the data. */
#include "vm_qemu_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	const char *text = arena_strndup(arena, (const char *)data, size);
	struct err err;
	bool looks = vm_looks_like_qemu_line(text, size);

	/* What reads well must have looked like one. */
	if (vm_read_qemu_line("fuzz", text, size, &vm, &err) == 0 && !looks)
		abort();
	return 0;
}
