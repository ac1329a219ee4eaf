/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of src/sys share: the door's insides and the backends behind it (a directory, an archive).
 */
#ifndef HVTUNE_SYS_INTERNAL_H
#define HVTUNE_SYS_INTERNAL_H

#include "sys.h"

enum { SYS_FILE_LIMIT = 8 * 1024 * 1024 };

/*
 * A backend answers for absolute, clean paths. Each call returns 0 or a negative errno; what it returns is allocated in
 * the arena. -ENOENT and its kin mean absent (see sys.c), everything else unreadable.
 */
struct sys_backend {
	int (*read)(void *self, struct arena *arena, const char *path, const char **ret_data, size_t *ret_size);
	int (*list)(void *self, struct arena *arena, const char *path, const char *const **ret_names,
		    size_t *ret_count);
	int (*link)(void *self, struct arena *arena, const char *path, const char **ret_target);
	const char *(*part)(void *self, const char *name, size_t *ret_size); /* may be NULL */
	int (*open)(void *self, const char *path); /* for reading again and again: a descriptor; may be NULL */
	void (*close)(void *self);
};

/* Wrap a backend; takes `self` over. `root` NULL when there is no directory. */
struct sys *sys_new(const struct sys_backend *backend, void *self, const char *name, const char *root);

/* Remember a look that came from elsewhere than a backend call (the kernel log). Takes over nothing. */
const struct sys_look *sys_remember(struct sys *sys, const char *path, enum sys_kind kind, int error, const char *data,
				    size_t size, uint32_t took_us);
const struct sys_look *sys_recall(const struct sys *sys, const char *path, enum sys_kind kind);
struct arena *sys_arena(struct sys *sys);

#define SYS_KERNEL_LOG "/dev/kmsg"
/* Ask the backend for a file without remembering the look. */
int sys_ask_file(struct sys *sys, const char *path, const char **ret_data, size_t *ret_size);

/* A descriptor to read the file from, or a negative errno; -EOPNOTSUPP when the backend has none to give. */
int sys_ask_open(struct sys *sys, const char *path);

/* Microseconds of the monotonic clock. */
uint64_t sys_now_us(void);

struct sys_tree;

/*
 * Open the door on a capture that is in `*tree`: states as they were when it was written. Takes the tree over and sets
 * it to NULL. -ENOENT, without an err, when the tree is no capture of hvtune's.
 */
int sys_replay_open(struct sys_tree **tree, const char *name, struct sys **ret, struct err *err);

/* Sort names in natural order. */
void sys_sort_names(const char **names, size_t count);

#endif
