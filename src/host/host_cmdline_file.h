/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns files that hold a kernel command line or parts of one: each becomes a struct host_cmdline in which every word
 * knows its line and column in the file.
 */
#ifndef HVTUNE_HOST_CMDLINE_FILE_H
#define HVTUNE_HOST_CMDLINE_FILE_H

#include "host_cmdline.h"

/*
 * All take a text of at most 1 MiB without NUL; -EINVAL with line when it holds no words, -E2BIG when it is larger.
 * ret->words, ->line and ->path live in the arena (path is copied).
 */

/* /proc/cmdline, /etc/kernel/cmdline: lines that start with '#' are comments, all others are one command line. */
int cmdline_read_plain(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
		       struct err *err);

/* An entry of the Boot Loader Specification: its "options" lines, one after the other. */
int cmdline_read_entry(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
		       struct err *err);

/*
 * /etc/default/grub and grub.d snippets: GRUB_CMDLINE_LINUX and GRUB_CMDLINE_LINUX_DEFAULT in the order in which GRUB
 * puts them, with shell quotes, +=, continued lines and ${NAME} of variables that the file sets. What a shell would
 * have to compute stays as written. -EINVAL also on a quote that is not closed. What the shell makes of a space before
 * "=" or of a value without quotes is told in ret->faults; with faults a file without words is no error.
 */
int cmdline_read_grub(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
		      struct err *err);

/* modprobe.d: "options MODULE a=b" is read as the word MODULE.a=b, which is the same on the command line. */
int cmdline_read_modprobe(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
			  struct err *err);

#endif
