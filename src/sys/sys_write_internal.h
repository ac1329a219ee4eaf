/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the writer share. */
#ifndef HVTUNE_SYS_WRITE_INTERNAL_H
#define HVTUNE_SYS_WRITE_INTERNAL_H

#include "sys_write.h"

/* The gate of a writer; 0 when it has none. */
int sys_write_pass(const struct sys_writer *writer, enum sys_write_when when, const char *call, const char *path,
		   const char *value, size_t size);
bool sys_write_has_gate(const struct sys_writer *writer);

/* As struct sys_write_gate's `play`; -EXDEV when nobody plays devices. */
int sys_write_play(const struct sys_writer *writer, const char *device, unsigned long request, void *argument);

/* Open a file beneath the root: for reading any, for writing those among the patterns. */
int sys_write_open(const struct sys_writer *writer, const char *path, int flags, int *ret_fd, struct err *err);

/* One ioctl(2). */
struct sys_ioctl {
	const char *device; /* what the gate is told */
	int fd;		    /* -1: the machine is files, and the gate plays the device */
	unsigned long request;
	void *argument;
	void *played; /* the argument that the gate is given */
	bool sets;    /* passes the gate; else it only asks */
};

/* 0 or a negative errno; -EXDEV: there are no devices here. */
int sys_write_ioctl(const struct sys_writer *writer, const struct sys_ioctl *call);

#endif
