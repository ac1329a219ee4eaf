/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns messages to the firmware of EPYC (HSMP, Host System Management Port), as a part of the writer. What sets
 * something passes the gate. In a directory that holds a machine as files there is no firmware, unless the gate plays
 * it: it is given SYS_HSMP_DEVICE, SYS_HSMP_REQUEST and a struct sys_hsmp_message.
 */
#ifndef HVTUNE_SYS_WRITE_HSMP_H
#define HVTUNE_SYS_WRITE_HSMP_H

#include "sys_hsmp.h"
#include "sys_write.h"

/*
 * Send a message to a socket. The device is opened for reading or, with `sets`, for writing only, so that the kernel
 * itself refuses a message of the other kind (EPERM). SYS_HSMP_DEVICE has to be among the patterns of the writer for
 * `sets`. -ENOENT: no such device; -EINVAL: other counts are expected; -ENOMSG: kernel or firmware know no such
 * message; -ETIMEDOUT: it does not answer, HSMP is off in the BIOS; -ENODEV: no such socket. Takes up to a millisecond;
 * the kernel logs a line for a message that fails.
 */
int sys_writer_hsmp(struct sys_writer *writer, struct sys_hsmp_message *message, bool sets, struct err *err);

#endif
