/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes configurations of Proxmox. */
#include "vm_proxmox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	const char *text = arena_strndup(arena, (const char *)data, size);
	struct err err;

	/* What looks like one may hold a refused value; what reads well has settings. */
	(void)vm_looks_like_proxmox(text, size);
	if (vm_read_proxmox("100.conf", text, size, &vm, &err) == 0 && vm->vcpu_max < 0)
		abort();
	return 0;
}
