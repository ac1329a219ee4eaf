/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns writing a capture: all looks of a door so far, anonymised, in one archive. The only place of src/sys that
 * writes; it makes one file and leaves nothing behind when it fails.
 */
#ifndef HVTUNE_SYS_CAPTURE_H
#define HVTUNE_SYS_CAPTURE_H

#include "sys.h"

enum { CAPTURE_SCHEMA = 1 };
#define CAPTURE_MANIFEST "hvtune-capture.json"
#define CAPTURE_ROOT "root"
#define CAPTURE_HWLOC "hwloc.xml"

struct capture_request {
	const char *path;      /* the archive: .tar.xz, .tar.zst, .tar.gz or .tar; "-": a .tar.xz to standard output */
	bool overwrite;	       /* an existing file may be replaced */
	const char *hwloc_xml; /* hwloc's XML of the host, or NULL */
	size_t hwloc_size;     /* its bytes */
	const char *version;   /* of hvtune */
	/* Called now and then with the share that is done, 0 to 100; NULL for none. */
	void (*progress)(void *context, int percent);
	void *context;
};

struct capture_result {
	size_t file_count;	 /* files with contents */
	size_t look_count;	 /* all looks that it answers */
	size_t unreadable_count; /* of them, refused by the machine */
	size_t replaced_count;	 /* different serials, addresses, names... that were replaced */
	uint64_t size_bytes;	 /* of the archive */
};

/*
 * Is the path fit for a capture: a known suffix, and nothing there unless `overwrite`? To be asked before time is spent
 * on reading. -EINVAL, -EEXIST, or why the directory cannot be reached.
 */
int sys_capture_check(const char *path, bool overwrite, struct err *err);

/*
 * Write all looks of `sys` so far. The archive appears under its name only when it is whole and on disk. -EINTR when
 * SIGINT, SIGTERM or SIGHUP arrived meanwhile: nothing is left then.
 */
int sys_capture_write(const struct sys *sys, const struct capture_request *request, struct capture_result *ret,
		      struct err *err);

/* "file", "list", "link": the word of the manifest. */
const char *sys_capture_kind_name(enum sys_kind kind);

#endif
