/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes archives as hosts, plain ones and captures: whatever opens answers every look without harm. */
#include <errno.h>
#include <string.h>

#include "sys_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything below a directory, as far as names lead, and not too deep: links may go round. */
static void look_around(struct sys *sys, const char *path, int depth)
{
	const struct sys_look *names = sys_list(sys, "%s", path);

	if (names->state != SYS_VALUE || depth == 0)
		return;
	for (size_t i = 0; i < names->size && i < 32; i++) {
		char below[4200];

		if (strchr(names->names[i], '/'))
			abort();
		(void)snprintf(below, sizeof(below), "%s/%s", path[1] ? path : "", names->names[i]);
		const struct sys_look *file = sys_read(sys, "%s", below);

		if (file->state == SYS_VALUE && file->data[file->size] != '\0')
			abort();
		(void)sys_link(sys, "%s", below);
		look_around(sys, below, depth - 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(sys_close_pointer) struct sys *sys = NULL;
	struct err err = {0};
	int r = sys_open_archive_memory(data, size, "fuzz", &sys, &err);

	/* Refused with a reason, or open. */
	if (r < 0 ? !err.what[0] || sys : !sys)
		abort();
	if (r < 0)
		return 0;
	look_around(sys, "/", 6);
	(void)sys_kernel_log(sys);
	(void)sys_capture_part(sys, "hwloc.xml", NULL);
	return 0;
}
