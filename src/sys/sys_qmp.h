/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns asking a running QEMU over the socket of its monitor (QMP): a socket is no file, so it has a door of its own
 * beside sys_read(). Only the questions of a fixed list are ever sent, all of which change nothing, and of the answers
 * only numbers of threads and names of I/O threads are kept.
 *
 * A monitor serves one client at a time: one that has a client is left alone, and nobody is made to wait longer than an
 * answer takes.
 *
 * Source: docs/interop/qmp-spec.rst and qapi/machine.json, qapi/misc.json of QEMU; query-cpus-fast since QEMU 2.12.
 */
#ifndef HVTUNE_SYS_QMP_H
#define HVTUNE_SYS_QMP_H

#include "sys.h"

enum { SYS_QMP_WAIT_S = 2 };

/*
 * What the QEMU of process `pid` answers on the first of these sockets that has time: a look at "/proc/PID/qmp", which
 * is hvtune's own name, as trees and captures have it. The paths are as QEMU was given them: absolute ones in its root,
 * others in its working directory. The contents are JSON, an answer by question:
 *
 *   {"query-cpus-fast": [{"cpu-index": 0, "thread-id": 4243}],
 *    "query-iothreads": [{"id": "iothread1", "thread-id": 4250}]}
 *
 * Otherwise the look is unreadable: EBUSY (another client has it), EACCES or EPERM, ECONNREFUSED (nobody listens),
 * ENOTSOCK, EXDEV (another process than QEMU listens there), EPROTO (what answers is no monitor), ETIMEDOUT (no answer
 * for SYS_QMP_WAIT_S seconds); or absent, without any socket.
 */
const struct sys_look *sys_qmp(struct sys *sys, int pid, const char *const *sockets, size_t count);

#endif
