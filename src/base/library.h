/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns loading a shared library when it is needed: those that few commands use, or that take longer to load than a
 * check takes, are not linked.
 */
#ifndef HVTUNE_LIBRARY_H
#define HVTUNE_LIBRARY_H

#include "err.h"

enum { LIBRARY_FILES = 4 };

struct library {
	const char *files[LIBRARY_FILES]; /* "libcurl.so.4": the first that is there; the rest NULL */
	const char *name;		  /* as people call it: "libcurl" */
	const char *where;		  /* what errors are about: "HTTP", a URI; may be NULL */
	const char *install;		  /* "libcurl4 (Debian, Ubuntu) or libcurl (Fedora, RHEL, SUSE)" */
	int errnum;			  /* of the errors: ENOENT, ENOSYS, ELIBACC */
};

/* A function of it, and the pointer that it is put into. */
struct library_function {
	const char *name;
	void **function;
};

/*
 * Load the library and find `count` functions in it, all of them or -errnum with a hint. It is never closed, like every
 * library that may leave threads or their destructors behind. *ret_handle, for dlsym(3) of what is no function, may be
 * NULL.
 */
int library_load(const struct library *library, const struct library_function *functions, size_t count,
		 void **ret_handle, struct err *err);

#endif
