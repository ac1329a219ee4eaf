/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the one door to the machine: every file, directory and link that hvtune looks at is read here, below a root, and
 * only read. Each look is remembered with its outcome and the time it took, so that a second look is free, a finding
 * can show what it saw, and `hvtune capture` can write exactly what was asked.
 *
 * A door opens on a directory (the running machine is the directory "/") or on an archive held in memory.
 */
#ifndef HVTUNE_SYS_H
#define HVTUNE_SYS_H

#include "arena.h"
#include "err.h"

enum sys_state {
	SYS_ABSENT,	/* there is no such file, or not on this kernel or machine */
	SYS_VALUE,	/* it was read */
	SYS_UNREADABLE, /* it is there but refused: errnum says why (EACCES, EINVAL of EPP, EBUSY, ELOOP, EFBIG...) */
};

enum sys_kind { SYS_FILE, SYS_DIR, SYS_LINK };

/* One look at one path. Lives as long as the door. */
struct sys_look {
	const char *path; /* absolute, as asked: "/proc/cmdline" */
	enum sys_kind kind;
	enum sys_state state;
	int errnum;		  /* positive errno for SYS_UNREADABLE, else 0 */
	const char *data;	  /* SYS_FILE: contents, NUL after them; SYS_LINK: the target. NULL unless SYS_VALUE */
	size_t size;		  /* bytes in data without the NUL */
	const char *const *names; /* SYS_DIR: `size` names in natural order (node2 before node10), without . and .. */
	uint32_t took_us;	  /* the time of the first look */
	struct sys_look *next;	  /* in the order of the looks; see sys_first_look() */
};

struct sys;

/* What can be opened as a host, for the hints of messages. */
#define SYS_HOST_KINDS                                                                                                 \
	"a host is a directory or archive (tar, cpio, zip, 7z) with sys/ and proc/, a capture, an hwloc XML file, an " \
	"lscpu text (plain or -J), or an hwloc synthetic description"

/* Open the door on a directory. `root` "/" is this machine. -ENOENT, -ENOTDIR, -EACCES with a clear err. */
int sys_open_dir(const char *root, struct sys **ret, struct err *err);

/*
 * Open the door on an archive (any format and compression of libarchive): one that hvtune captured, or a plain archive
 * of a sysfs/proc tree, whose root is found by itself. Nothing is unpacked to disk. Refused with one line: entries that
 * leave the archive ("..", links out), more than 512 MiB or 500,000 entries, damaged or foreign files.
 */
int sys_open_archive(const char *path, struct sys **ret, struct err *err);

/* The same for an archive that is in memory; `data` is not needed after that. */
int sys_open_archive_memory(const void *data, size_t size, const char *name, struct sys **ret, struct err *err);

/* A door behind which nothing is: for hosts known only from a topology or an lscpu text. `name` is kept for messages.
 */
struct sys *sys_open_nothing(const char *name);

struct sys *sys_close(struct sys *sys);	  /* takes NULL, returns NULL */
void sys_close_pointer(struct sys **sys); /* for CLEANUP() */

/* Is this the running machine, read as "/"? */
bool sys_is_live(const struct sys *sys);

/* What was opened, as given. */
const char *sys_name(const struct sys *sys);

/* The directory that the door is on, or NULL (archives, nothing): for libraries that take a root of their own. */
const char *sys_root(const struct sys *sys);

/*
 * Read a whole file of at most 8 MiB. Never NULL: look at ->state. A path is absolute; ".." in it is refused as absent.
 * Links are followed inside the root only.
 */
const struct sys_look *sys_read(struct sys *sys, const char *format, ...) PRINTF_LIKE(2, 3);

/* The names in a directory. */
const struct sys_look *sys_list(struct sys *sys, const char *format, ...) PRINTF_LIKE(2, 3);

/* The target of a symbolic link, not followed. */
const struct sys_look *sys_link(struct sys *sys, const char *format, ...) PRINTF_LIKE(2, 3);

/* Does the path exist as a directory that can be listed, or as a file? Counts as a look of that kind. */
bool sys_has_dir(struct sys *sys, const char *format, ...) PRINTF_LIKE(2, 3);

/*
 * The kernel log: SYS_FILE look at "/dev/kmsg", one message a line, without the prefix of /dev/kmsg; only lines that
 * contain one of a fixed list of words that hvtune's facts ask for (see sys_log.c), so that a capture holds no more.
 */
const struct sys_look *sys_kernel_log(struct sys *sys);

/*
 * Read a file that the user names; it is no look at the host. At most 8 MiB, into the arena, with a NUL after it.
 * -EILSEQ with `only_text` when it holds a NUL, -EFBIG, -EINVAL for what is no file (a FIFO would wait), or why not.
 */
int sys_read_given(struct arena *arena, const char *path, bool only_text, const char **ret_data, size_t *ret_size,
		   struct err *err);

/*
 * The same for a text that may hold a secret: *ret_closed when only root or the user who runs hvtune owns it and nobody
 * else may read or write it.
 */
int sys_read_closed(struct arena *arena, const char *path, const char **ret_data, size_t *ret_size, bool *ret_closed,
		    struct err *err);

/*
 * Does the path mean an open stream: "-", /dev/stdin, /dev/fd/N? Then all that it gives, at most 512 MiB, with a NUL
 * after it; free() it. -ENOTTY for a terminal, at which nobody would type a host.
 */
bool sys_is_stream(const char *path);
int sys_read_stream(const char *path, char **ret_data, size_t *ret_size, struct err *err);

/* All looks so far, in order. */
const struct sys_look *sys_first_look(const struct sys *sys);

/* Number of looks that went to the machine, and the time they took together. */
size_t sys_look_count(const struct sys *sys);
uint64_t sys_look_time_us(const struct sys *sys);

/* Text of a captured side file (such as "hwloc.xml") of an archive that hvtune wrote, or NULL. `ret_size` may be NULL.
 */
const char *sys_capture_part(const struct sys *sys, const char *name, size_t *ret_size);

/* "permission denied", "invalid argument"...: the words used for errnum everywhere. */
const char *sys_reason(int errnum);

#endif
