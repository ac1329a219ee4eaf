/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns every write to a machine: the only module that opens files of a host for writing, and the only one that starts
 * programs on it or moves threads. A writer stands below a root, follows no symbolic link, and touches only paths that
 * match the patterns it was opened with. Nothing is ever given to a shell.
 *
 * Each system call that changes something passes a gate, before and after: that is where tests kill the process, make a
 * call fail, or play the kernel that moves one value when another is written.
 */
#ifndef HVTUNE_SYS_WRITE_H
#define HVTUNE_SYS_WRITE_H

#include <sys/types.h>

#include "arena.h"
#include "cpuset.h"
#include "err.h"

struct sys_writer;

/* Files of this size and more are not read whole. */
enum { SYS_WRITER_READ_BYTES = 8 << 20 };

enum sys_write_when { SYS_WRITE_BEFORE, SYS_WRITE_AFTER };

struct sys_write_gate {
	/*
	 * `call` is the system call's name, `path` what it is about ("/sys/..."; of a rename the final name), `value`
	 * the `size` bytes that a write is to write (else NULL). Before: a negative errno makes the call fail with it
	 * without being made. After: the result is not looked at.
	 */
	int (*pass)(void *data, enum sys_write_when when, const char *call, const char *path, const char *value,
		    size_t size);
	void *data;
	/*
	 * Play a device of a machine that is files: as ioctl(2), 0 or a negative errno. Asked after `pass` when
	 * something is set, and without it when something is asked. NULL: there are no devices.
	 */
	int (*play)(void *data, const char *device, unsigned long request, void *argument);
};

/*
 * `root` is "/" or the directory that holds a machine as files. `patterns` is an array of fnmatch(3) patterns (with
 * FNM_PATHNAME), ended by NULL; it must outlive the writer. `gate` may be NULL; it is copied.
 */
int sys_writer_open(const char *root, const char *const *patterns, const struct sys_write_gate *gate,
		    struct sys_writer **ret, struct err *err);
struct sys_writer *sys_writer_close(struct sys_writer *writer); /* takes NULL, returns NULL; locks are released */
void sys_writer_close_pointer(struct sys_writer **writer);	/* for CLEANUP() */

/* Is its root this machine's? */
bool sys_writer_is_live(const struct sys_writer *writer);

/*
 * Read what a file holds now, at most 8 MiB, never from a cache; a NUL stands after it. -ENOENT, -EACCES, or the
 * errno of a value that its driver refuses to tell. Any path may be read.
 */
int sys_writer_read(struct sys_writer *writer, struct arena *arena, const char *path, const char **ret_data,
		    size_t *ret_size, struct err *err);

/*
 * Write `size` bytes into a file that exists, in one write(2), as sysfs and procfs ask for. On other file systems the
 * file holds just that afterwards.
 */
int sys_writer_set(struct sys_writer *writer, const char *path, const char *data, size_t size, struct err *err);

/*
 * Replace or make a whole file: written beside it under a name of its own, synced, renamed over it, directory synced;
 * owner, mode and security label of an old file are kept, a new one gets `mode`. Missing parents are made with 0755.
 */
int sys_writer_replace(struct sys_writer *writer, const char *path, const char *data, size_t size, mode_t mode,
		       struct err *err);

/* Remove what a sys_writer_replace() that was killed may have left beside the file. */
int sys_writer_tidy(struct sys_writer *writer, const char *path, struct err *err);

/*
 * Write `size` bytes into a device and keep it open, for those that forget what was written when it is closed. The
 * caller closes *ret_fd.
 */
int sys_writer_hold(struct sys_writer *writer, const char *path, const void *data, size_t size, int *ret_fd,
		    struct err *err);

/* Remove a file and sync its directory. A missing file is fine. */
int sys_writer_remove(struct sys_writer *writer, const char *path, struct err *err);

/*
 * Remove a directory that is empty, one above a path that the writer may write, and sync its parent. One that is not
 * there or holds something is fine, and left.
 */
int sys_writer_remove_dir(struct sys_writer *writer, const char *path, struct err *err);

/* Is there anything of this name now? False also where it may not be looked at. */
bool sys_writer_exists(const struct sys_writer *writer, const char *path);

/*
 * Append to a file and sync it (fdatasync). Made with mode 0600, missing parents with 0755. When the disk is full, the
 * file is cut back to what it was, so that no half record stays.
 */
int sys_writer_append(struct sys_writer *writer, const char *path, const char *data, size_t size, struct err *err);

/* Cut a file to its first `size` bytes and sync it. */
int sys_writer_cut(struct sys_writer *writer, const char *path, size_t size, struct err *err);

/* Make sure that `size` more bytes can be appended. -ENOSPC. File systems that can't promise it are taken at their
 * word. */
int sys_writer_reserve(struct sys_writer *writer, const char *path, size_t size, struct err *err);

/*
 * Take the lock of this writer, which lasts until it is closed or the process ends; it has only one, and taking it
 * again is fine. -EWOULDBLOCK when another process has it.
 */
int sys_writer_lock(struct sys_writer *writer, const char *path, struct err *err);

/* Has this writer the lock? */
bool sys_writer_has_lock(const struct sys_writer *writer);

/* Let it go earlier than that; fine without one. */
void sys_writer_unlock(struct sys_writer *writer);

/* Does another process hold that lock? Reads only; false when there is no such file or it may not be opened. */
bool sys_writer_is_locked(const struct sys_writer *writer, const char *path);

/*
 * Start a program of this machine and wait for it: `argv` ends with NULL and argv[0] is looked for in the system's
 * directories, standard input is empty, the environment is PATH and LC_ALL=C. At most `timeout_s` seconds, then it is
 * killed: -ETIMEDOUT. Its output (64 KiB at most) into the arena. -ENOENT when there is no such program, -EXDEV when
 * the root is no running machine, -EPROTO when it fails, with the last line it printed in `err`.
 */
int sys_writer_run(struct sys_writer *writer, struct arena *arena, const char *const *argv, unsigned timeout_s,
		   const char **ret_output, struct err *err);

/* The absolute path of this program's file, in the arena; the name of one that was replaced ends in " (deleted)". */
int sys_own_program(struct arena *arena, const char **ret, struct err *err);

/*
 * The same for a program that the user's own file names, such as one that prints what a meter says: it is no change of
 * hvtune's, so no writer is asked. argv[0] may be a path. In a thread it leaves alone what other threads do.
 */
int sys_write_run_given(struct arena *arena, const char *const *argv, unsigned timeout_s, const char **ret_output,
			struct err *err);

/*
 * Let a thread run on these CPUs only (sched_setaffinity). A directory that holds a machine as files has no threads:
 * there it is left to the gate to play the kernel, and -EXDEV without one. -ENOENT when the thread has ended, -EINVAL
 * when none of the CPUs is there for it.
 */
int sys_writer_set_affinity(struct sys_writer *writer, int pid, int tid, const struct cpuset *cpus, struct err *err);

/*
 * For changes that a library makes (libvirt's): call `change` between the gates, which see `call` (the function's
 * name), `what` it is about and the `value` that is set (may be NULL). What `change` returns, or the gate's errno.
 */
int sys_writer_call(struct sys_writer *writer, const char *call, const char *what, const char *value,
		    int (*change)(void *data), void *data);

#endif
