/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the kernel log as a file. */
#include "sys_internal.h"

const struct sys_look *sys_kernel_log(struct sys *sys)
{
	return sys_read(sys, "/dev/kmsg");
}
