/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns walking over the processes of a host. */
#include "host_process.h"

#include <ctype.h>

#include "host.h"
#include "text.h"

size_t host_each_process(struct host *host, void (*look)(void *context, const char *pid, const char *name),
			 void *context)
{
	const struct sys_look *proc = sys_list(host->sys, "/proc");
	size_t count = 0;

	if (proc->state != SYS_VALUE)
		return 0;
	for (size_t i = 0; i < proc->size && count < HOST_PROCESS_LIMIT; i++) {
		if (!isdigit((unsigned char)proc->names[i][0]))
			continue;
		const struct sys_look *comm = sys_read(host->sys, "/proc/%s/comm", proc->names[i]);

		count++;
		if (comm->state == SYS_VALUE)
			look(context, proc->names[i], text_trim(host->arena, comm->data));
	}
	return count;
}
