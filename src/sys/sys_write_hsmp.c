/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns sending messages to the firmware of EPYC. */
#include "sys_write_hsmp.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys.h"
#include "sys_write_internal.h"

_Static_assert(sizeof(struct sys_hsmp_message) == 44, "the kernel's own layout");

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* What each errno means is in drivers/platform/x86/amd/hsmp/hsmp.c of Linux. */
static int refuse(const struct sys_hsmp_message *message, int r, struct err *err)
{
	(void)err_set(err, -r, SYS_HSMP_DEVICE, "message %02xh to socket %u failed: %s", (unsigned)message->id,
		      (unsigned)message->socket, sys_reason(-r));
	if (r == -ETIMEDOUT)
		return err_hint(err, "the BIOS has to allow it: HSMP Support, where Auto means off");
	return r == -ENOMSG ? err_hint(err, "this kernel or this CPU does not know it") : r;
}

int sys_writer_hsmp(struct sys_writer *writer, struct sys_hsmp_message *message, bool sets, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	int r = sys_writer_is_live(writer)
		    ? sys_write_open(writer, SYS_HSMP_DEVICE, sets ? O_WRONLY : O_RDONLY, &fd, err)
		    : 0;

	if (r < 0)
		return r;
	r = sys_write_ioctl(writer, &(struct sys_ioctl){SYS_HSMP_DEVICE, fd, SYS_HSMP_REQUEST, message, message, sets});
	if (r == -EXDEV)
		return err_set(err, ENOENT, SYS_HSMP_DEVICE, "is not there");
	return r < 0 ? refuse(message, r, err) : 0;
}
