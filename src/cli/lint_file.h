/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what `hvtune lint` is given: reading a file and telling what it is.
 */
#ifndef HVTUNE_LINT_FILE_H
#define HVTUNE_LINT_FILE_H

#include "arena.h"
#include "err.h"

enum lint_kind {
	LINT_UNKNOWN,
	LINT_CMDLINE,
	LINT_ENTRY,
	LINT_GRUB,
	LINT_MODPROBE,
	LINT_TUNED,
	LINT_TUNED_LOG,
	LINT_DOMAIN,
	LINT_PROXMOX,
	LINT_QEMU,
};

/* The kind by the name that --kind takes ("cmdline", "grub", "modprobe", "domain"...), or LINT_UNKNOWN. */
enum lint_kind lint_kind_by_name(const char *name);

/*
 * Read a whole file, "-" is standard input. Refused with one line: directories, more than 1 MiB, nothing in it, binary.
 * *ret_text lives in the arena.
 */
int lint_file_read(struct arena *arena, const char *path, const char **ret_text, struct err *err);

/*
 * Tell what a text is by its contents. -ENOTSUP for kinds that are known but not judged (systemd units), -EINVAL for
 * what is not understood; both say what is.
 */
int lint_file_kind(const char *path, const char *text, enum lint_kind *ret, struct err *err);

#endif
