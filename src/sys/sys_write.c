/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the writes to files of a machine; sys_write_run.c has the programs. */
#include "sys_write.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sys.h"
#include "sys_write_internal.h"
#include "text.h"

enum { NAME_BYTES = 300 };

#define SELINUX_LABEL "security.selinux"

struct sys_writer {
	char *root;
	int root_fd;
	const char *const *patterns;
	struct sys_write_gate gate;
	int lock_fd; /* -1: none */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

int sys_writer_open(const char *root, const char *const *patterns, const struct sys_write_gate *gate,
		    struct sys_writer **ret, struct err *err)
{
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sys_writer *writer;

	if (fd < 0)
		return err_set(err, errno, root, "cannot be opened as the root of a machine: %s", sys_reason(errno));
	writer = calloc(1, sizeof(*writer));
	if (!writer || !(writer->root = strdup(root)))
		err_no_memory();
	writer->root_fd = fd;
	writer->lock_fd = -1;
	writer->patterns = patterns;
	if (gate)
		writer->gate = *gate;
	*ret = writer;
	return 0;
}

struct sys_writer *sys_writer_close(struct sys_writer *writer)
{
	if (!writer)
		return NULL;
	close_fd(&writer->lock_fd);
	close_fd(&writer->root_fd);
	free(writer->root);
	free(writer);
	return NULL;
}

void sys_writer_close_pointer(struct sys_writer **writer)
{
	*writer = sys_writer_close(*writer);
}

bool sys_writer_is_live(const struct sys_writer *writer)
{
	return text_equal(writer->root, "/");
}

int sys_write_pass(const struct sys_writer *writer, enum sys_write_when when, const char *call, const char *path,
		   const char *value, size_t size)
{
	return writer->gate.pass ? writer->gate.pass(writer->gate.data, when, call, path, value, size) : 0;
}

bool sys_write_has_gate(const struct sys_writer *writer)
{
	return writer->gate.pass != NULL;
}

int sys_write_play(const struct sys_writer *writer, const char *device, unsigned long request, void *argument)
{
	return writer->gate.play ? writer->gate.play(writer->gate.data, device, request, argument) : -EXDEV;
}

/* One system call that changes something, between its gates. A macro, for the calls have all kinds of arguments. */
#define GATED_WRITE(writer, result, name, path, value, size, call)                                                     \
	do {                                                                                                           \
		int refused_ = sys_write_pass(writer, SYS_WRITE_BEFORE, name, path, value, size);                      \
		if (refused_ < 0) {                                                                                    \
			errno = -refused_;                                                                             \
			(result) = -1;                                                                                 \
		} else {                                                                                               \
			(result) = (call);                                                                             \
			int errnum_ = errno;                                                                           \
			(void)sys_write_pass(writer, SYS_WRITE_AFTER, name, path, value, size);                        \
			errno = errnum_;                                                                               \
		}                                                                                                      \
	} while (0)
#define GATED(writer, result, name, path, call) GATED_WRITE(writer, result, name, path, NULL, 0, call)

/* Component by component, for kernels (before 5.6) and sandboxes without openat2. */
static int open_by_steps(int root_fd, const char *relative, int flags, mode_t mode)
{
	CLEANUP(close_fd) int at = dup(root_fd);
	char name[256];

	while (at >= 0) {
		size_t length = strcspn(relative, "/");

		if (length >= sizeof(name)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		(void)snprintf(name, sizeof(name), "%.*s", (int)length, relative);
		if (!relative[length])
			return openat(at, name, flags | O_NOFOLLOW, mode);
		int next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		close_fd(&at);
		at = next;
		relative += length + 1;
	}
	return -1;
}

static int open_beneath(const struct sys_writer *writer, const char *path, int flags, mode_t mode)
{
	const char *relative = path + strspn(path, "/");
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
			       .mode = mode,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	long fd;

	if (strstr(path, "/../") || text_equal(relative, "..")) {
		errno = EINVAL;
		return -1;
	}
	fd = syscall(SYS_openat2, writer->root_fd, relative, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_steps(writer->root_fd, relative, flags | O_CLOEXEC, mode);
	return (int)fd;
}

static int refuse(struct err *err, int errnum, const char *path, const char *what)
{
	(void)err_set(err, errnum, path, "could not be %s: %s", what, sys_reason(errnum));
	if (errnum == ELOOP)
		(void)err_hint(err, "a symbolic link is in the way; only real files are written");
	else if (errnum == EACCES || errnum == EPERM)
		(void)err_hint(err, "root may");
	return -errnum;
}

static int check_path(const struct sys_writer *writer, const char *path, struct err *err)
{
	for (const char *const *pattern = writer->patterns; path[0] == '/' && *pattern; pattern++)
		/* fnmatch(3) works in wide characters; most patterns differ before their first star. */
		if (strncmp(*pattern, path, strcspn(*pattern, "*?[")) == 0 &&
		    fnmatch(*pattern, path, FNM_PATHNAME | FNM_PERIOD) == 0)
			return 0;
	return err_set(err, EPERM, path, "is not among the paths that are ever written");
}

/*
 * Below these a file is one value, shown whole by one read (kernfs: single_open; proc_sys_call_handler()): after a read
 * that did not fill its room there is nothing more to ask for.
 */
static bool is_one_value(const char *path)
{
	static const char *const trees[] = {"/sys/devices/", "/sys/module/", "/sys/kernel/mm/", "/proc/sys/"};

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		if (text_starts(path, trees[i]))
			return true;
	return false;
}

int sys_writer_read(struct sys_writer *writer, struct arena *arena, const char *path, const char **ret_data,
		    size_t *ret_size, struct err *err)
{
	CLEANUP(close_fd) int fd = open_beneath(writer, path, O_RDONLY | O_NONBLOCK, 0);
	CLEANUP(base_free) char *larger = NULL;
	char small[4096], *data = small; /* room for a value; a file moves to the heap */
	size_t size = 0, room = sizeof(small);

	if (fd < 0)
		return refuse(err, errno, path, "opened");
	for (;;) {
		if (size + 1 >= room) {
			if (room >= SYS_WRITER_READ_BYTES)
				return refuse(err, EFBIG, path, "read");
			room = MIN_OF(4 * room, (size_t)SYS_WRITER_READ_BYTES);
			char *moved = realloc(larger, room);

			if (!moved)
				return refuse(err, ENOMEM, path, "read");
			if (!larger)
				memcpy(moved, small, size);
			data = larger = moved;
		}
		ssize_t got = read(fd, data + size, room - size - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return refuse(err, errno, path, "read");
		size += (size_t)got;
		if (got == 0 || (size + 1 < sizeof(small) && is_one_value(path)))
			break;
	}
	*ret_data = arena_strndup(arena, data, size);
	if (ret_size)
		*ret_size = size;
	return 0;
}

/* In these file systems a file is a value of the kernel's and has no length to be cut to; a device has none either. */
static bool is_kernel_file(int fd)
{
	static const long magics[] = {0x62656572 /* sysfs */, 0x9fa0 /* proc */, 0x63677270 /* cgroup2 */,
				      0x27e0eb /* cgroup */, 0x64626720 /* debugfs */};
	struct stat file;
	struct statfs info;

	if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode) || fstatfs(fd, &info) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if ((long)info.f_type == magics[i])
			return true;
	return false;
}

/*
 * One write(2), at the start: the file was just opened. Not pwrite(2), which files of procfs that are read by
 * seq_file(9) refuse (ESPIPE: /proc/irq). What is no file of the kernel's is cut to what was written, before the gate
 * sees it done. */
static ssize_t write_value(int fd, const char *data, size_t size)
{
	ssize_t wrote = write(fd, data, size);

	if (wrote == (ssize_t)size && !is_kernel_file(fd) && ftruncate(fd, (off_t)size) < 0)
		return -1;
	return wrote;
}

int sys_write_open(const struct sys_writer *writer, const char *path, int flags, int *ret_fd, struct err *err)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY;
	int r = writes ? check_path(writer, path, err) : 0, fd;

	if (r < 0)
		return r;
	fd = open_beneath(writer, path, flags, 0);
	if (fd < 0)
		return refuse(err, errno, path, writes ? "opened for writing" : "opened");
	*ret_fd = fd;
	return 0;
}

/* With `ret_fd` the file stays open. */
static int set_value(struct sys_writer *writer, const char *path, const char *data, size_t size, int *ret_fd,
		     struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	ssize_t wrote;
	int r = sys_write_open(writer, path, O_WRONLY | O_NOCTTY, &fd, err);

	if (r < 0)
		return r;
	GATED_WRITE(writer, wrote, "write", path, data, size, write_value(fd, data, size));
	if (wrote < 0)
		return refuse(err, errno, path, "written");
	if ((size_t)wrote != size)
		return err_set(err, EIO, path, "took %zd of %zu bytes", wrote, size);
	if (ret_fd) {
		*ret_fd = fd;
		fd = -1;
	}
	return 0;
}

int sys_writer_set(struct sys_writer *writer, const char *path, const char *data, size_t size, struct err *err)
{
	return set_value(writer, path, data, size, NULL, err);
}

int sys_writer_hold(struct sys_writer *writer, const char *path, const void *data, size_t size, int *ret_fd,
		    struct err *err)
{
	return set_value(writer, path, data, size, ret_fd, err);
}

/* The directory of a path, made where it is missing; -1 and errno. */
static int open_parent(struct sys_writer *writer, const char *path, bool make, const char **ret_name)
{
	char parent[4096];
	const char *slash = strrchr(path, '/');
	int fd;

	if (!slash || (size_t)(slash - path) >= sizeof(parent)) {
		errno = EINVAL;
		return -1;
	}
	*ret_name = slash + 1;
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	if (!parent[0])
		return openat(writer->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open_beneath(writer, parent, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0 && errno == ENOENT && make) {
		const char *name;
		CLEANUP(close_fd) int above = open_parent(writer, parent, true, &name);
		int made;

		if (above < 0)
			return -1;
		GATED(writer, made, "mkdir", parent, mkdirat(above, name, 0755));
		if (made < 0 && errno != EEXIST)
			return -1;
		fd = open_beneath(writer, parent, O_RDONLY | O_DIRECTORY, 0);
	}
	return fd;
}

static int write_all(struct sys_writer *writer, int fd, const char *path, const char *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t wrote;

		GATED_WRITE(writer, wrote, "write", path, data + done, size - done,
			    write(fd, data + done, size - done));
		if (wrote < 0 && errno != EINTR)
			return -errno;
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

/* Owner, mode and label of the file that is replaced; what the file system has none of is left. */
static int copy_attributes(int from, int to)
{
	struct stat info;
	char label[256];
	ssize_t length;

	if (fstat(from, &info) < 0 || fchown(to, info.st_uid, info.st_gid) < 0 || fchmod(to, info.st_mode & 07777) < 0)
		return -errno;
	length = fgetxattr(from, SELINUX_LABEL, label, sizeof(label));
	if (length > 0)
		(void)fsetxattr(to, SELINUX_LABEL, label, (size_t)length, 0);
	return 0;
}

/* Always the same name, so that a left-over of a run that was killed is found, and is in nobody's way. */
static int temporary_name(const char *name, char ret[NAME_BYTES], const char *path, struct err *err)
{
	return snprintf(ret, NAME_BYTES, ".%s.hvtune-new", name) >= NAME_BYTES
		   ? refuse(err, ENAMETOOLONG, path, "replaced")
		   : 0;
}

int sys_writer_replace(struct sys_writer *writer, const char *path, const char *data, size_t size, mode_t mode,
		       struct err *err)
{
	CLEANUP(close_fd) int parent = -1;
	CLEANUP(close_fd) int old = -1;
	CLEANUP(close_fd) int fd = -1;
	const char *name = NULL;
	char temporary[NAME_BYTES];
	int r = check_path(writer, path, err), done;

	if (r < 0)
		return r;
	parent = open_parent(writer, path, true, &name);
	if (parent < 0)
		return refuse(err, errno, path, "replaced");
	old = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (old < 0 && errno != ENOENT)
		return refuse(err, errno, path, "replaced");
	r = temporary_name(name, temporary, path, err);
	if (r < 0)
		return r;
	GATED(writer, fd, "open", path,
	      openat(parent, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode));
	if (fd < 0)
		return refuse(err, errno, path, "replaced");
	r = fchmod(fd, mode) < 0 ? -errno : 0;
	if (r == 0 && old >= 0)
		r = copy_attributes(old, fd);
	if (r == 0)
		r = write_all(writer, fd, path, data, size);
	if (r == 0)
		r = fsync(fd) < 0 ? -errno : 0;
	if (r == 0) {
		GATED(writer, done, "rename", path, renameat(parent, temporary, parent, name));
		r = done < 0 ? -errno : fsync(parent) < 0 ? -errno : 0;
	}
	if (r < 0) {
		(void)unlinkat(parent, temporary, 0);
		return refuse(err, -r, path, "replaced");
	}
	return 0;
}

int sys_writer_tidy(struct sys_writer *writer, const char *path, struct err *err)
{
	CLEANUP(close_fd) int parent = -1;
	const char *name = NULL;
	char temporary[NAME_BYTES];
	int r = check_path(writer, path, err), done;

	if (r < 0)
		return r;
	parent = open_parent(writer, path, false, &name);
	if (parent < 0)
		return errno == ENOENT ? 0 : refuse(err, errno, path, "tidied up");
	r = temporary_name(name, temporary, path, err);
	if (r < 0 || faccessat(parent, temporary, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return r;
	GATED(writer, done, "unlink", path, unlinkat(parent, temporary, 0));
	return done < 0 ? refuse(err, errno, path, "tidied up") : 0;
}

int sys_writer_remove(struct sys_writer *writer, const char *path, struct err *err)
{
	CLEANUP(close_fd) int parent = -1;
	const char *name = NULL;
	int r = check_path(writer, path, err), done;

	if (r < 0)
		return r;
	parent = open_parent(writer, path, false, &name);
	if (parent < 0)
		return errno == ENOENT ? 0 : refuse(err, errno, path, "removed");
	GATED(writer, done, "unlink", path, unlinkat(parent, name, 0));
	if (done < 0 && errno != ENOENT)
		return refuse(err, errno, path, "removed");
	return fsync(parent) < 0 ? refuse(err, errno, path, "synced") : 0;
}

/* Is it a directory above a path that may be written? Each pattern is cut to as many names as the path has. */
static int check_dir(const struct sys_writer *writer, const char *path, struct err *err)
{
	char cut[4096];

	for (const char *const *pattern = writer->patterns; path[0] == '/' && *pattern; pattern++) {
		const char *end = *pattern;

		for (const char *at = path; end && at; at = strchr(at + 1, '/'))
			end = strchr(end + 1, '/');
		if (!end || (size_t)(end - *pattern) >= sizeof(cut))
			continue;
		(void)snprintf(cut, sizeof(cut), "%.*s", (int)(end - *pattern), *pattern);
		if (fnmatch(cut, path, FNM_PATHNAME | FNM_PERIOD) == 0)
			return 0;
	}
	return err_set(err, EPERM, path, "is not above any path that is ever written");
}

int sys_writer_remove_dir(struct sys_writer *writer, const char *path, struct err *err)
{
	CLEANUP(close_fd) int parent = -1;
	const char *name = NULL;
	int r = check_dir(writer, path, err), done;

	if (r < 0)
		return r;
	parent = open_parent(writer, path, false, &name);
	if (parent < 0)
		return errno == ENOENT ? 0 : refuse(err, errno, path, "removed");
	GATED(writer, done, "rmdir", path, unlinkat(parent, name, AT_REMOVEDIR));
	if (done < 0)
		return errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST ? 0
										: refuse(err, errno, path, "removed");
	return fsync(parent) < 0 ? refuse(err, errno, path, "synced") : 0;
}

bool sys_writer_exists(const struct sys_writer *writer, const char *path)
{
	CLEANUP(close_fd) int fd = open_beneath(writer, path, O_PATH, 0);

	return fd >= 0;
}

static int open_own(struct sys_writer *writer, const char *path, int flags, int *ret_fd, struct err *err)
{
	CLEANUP(close_fd) int parent = -1;
	const char *name = NULL;
	int r = check_path(writer, path, err), fd;

	if (r < 0)
		return r;
	parent = open_parent(writer, path, true, &name);
	if (parent < 0)
		return refuse(err, errno, path, "made");
	fd = openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		GATED(writer, fd, "open", path,
		      openat(parent, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
		if (fd >= 0 && fsync(parent) < 0) {
			close_fd(&fd);
			return refuse(err, errno, path, "synced");
		}
	}
	if (fd < 0)
		return refuse(err, errno, path, "opened for writing");
	*ret_fd = fd;
	return 0;
}

int sys_writer_append(struct sys_writer *writer, const char *path, const char *data, size_t size, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	struct stat before;
	int r = open_own(writer, path, O_RDWR | O_APPEND, &fd, err), synced;

	if (r < 0)
		return r;
	if (fstat(fd, &before) < 0)
		return refuse(err, errno, path, "written");
	r = write_all(writer, fd, path, data, size);
	if (r < 0) {
		(void)ftruncate(fd, before.st_size);
		return refuse(err, -r, path, "written");
	}
	GATED(writer, synced, "fdatasync", path, fdatasync(fd));
	return synced < 0 ? refuse(err, errno, path, "synced") : 0;
}

int sys_writer_cut(struct sys_writer *writer, const char *path, size_t size, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	int r = open_own(writer, path, O_RDWR, &fd, err), done;

	if (r < 0)
		return r;
	GATED(writer, done, "ftruncate", path, ftruncate(fd, (off_t)size));
	if (done < 0)
		return refuse(err, errno, path, "cut");
	return fdatasync(fd) < 0 ? refuse(err, errno, path, "synced") : 0;
}

int sys_writer_reserve(struct sys_writer *writer, const char *path, size_t size, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	struct stat before;
	int r = open_own(writer, path, O_RDWR | O_APPEND, &fd, err), done;

	if (r < 0)
		return r;
	if (fstat(fd, &before) < 0)
		return refuse(err, errno, path, "written");
	GATED(writer, done, "fallocate", path, fallocate(fd, FALLOC_FL_KEEP_SIZE, before.st_size, (off_t)size));
	if (done < 0 && errno != EOPNOTSUPP && errno != ENOSYS)
		return refuse(err, errno, path, "given the room it needs");
	return 0;
}

int sys_writer_lock(struct sys_writer *writer, const char *path, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	int r;

	if (writer->lock_fd >= 0)
		return 0;
	r = open_own(writer, path, O_RDWR, &fd, err);
	if (r < 0)
		return r;
	/* Who only looks whether it is taken (below) holds it for a moment, a change of another hvtune mostly for less.
	 */
	for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno == EWOULDBLOCK && tries < 100) {
			(void)usleep(20000);
			continue;
		}
		return errno == EWOULDBLOCK ? err_set(err, EWOULDBLOCK, path,
						      "another hvtune is changing this machine; wait for its end")
					    : refuse(err, errno, path, "locked");
	}
	writer->lock_fd = fd;
	fd = -1;
	return 0;
}

bool sys_writer_has_lock(const struct sys_writer *writer)
{
	return writer->lock_fd >= 0;
}

void sys_writer_unlock(struct sys_writer *writer)
{
	/* A program that is just being started may still have the file open. */
	if (writer->lock_fd >= 0)
		(void)flock(writer->lock_fd, LOCK_UN);
	close_fd(&writer->lock_fd);
	writer->lock_fd = -1;
}

bool sys_writer_is_locked(const struct sys_writer *writer, const char *path)
{
	CLEANUP(close_fd) int fd = open_beneath(writer, path, O_RDONLY, 0);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}
