/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the writer share. */
#ifndef HVTUNE_SYS_WRITE_INTERNAL_H
#define HVTUNE_SYS_WRITE_INTERNAL_H

#include "sys_write.h"

/* The gate of a writer; 0 when it has none. */
int sys_write_pass(const struct sys_writer *writer, enum sys_write_when when, const char *call, const char *path,
		   const char *value, size_t size);
bool sys_write_has_gate(const struct sys_writer *writer);

#endif
