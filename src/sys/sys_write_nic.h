/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the queues of NICs (ethtool's channels), as a part of the writer: they are no files. What sets them passes the
 * gate. In a directory that holds a machine as files there are none, unless the gate plays them: it is given
 * SIOCETHTOOL and a struct ethtool_channels.
 */
#ifndef HVTUNE_SYS_WRITE_NIC_H
#define HVTUNE_SYS_WRITE_NIC_H

#include "sys_write.h"

/*
 * The combined queues of a NIC, and how many it could have; 0 where it has only queues of one direction. -ENOENT when
 * there is no such NIC or its driver tells nothing.
 */
int sys_writer_get_queues(struct sys_writer *writer, const char *nic, uint32_t *ret_count, uint32_t *ret_most,
			  struct err *err);

/* All else about its channels stays. Else the errno of the driver: -EINVAL for more than it has, -EBUSY, -EOPNOTSUPP.
 */
int sys_writer_set_queues(struct sys_writer *writer, const char *nic, uint32_t count, struct err *err);

#endif
