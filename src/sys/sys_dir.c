/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the door on a directory: reads below a root descriptor. For a root other than "/" the kernel resolves every link
 * inside the root (openat2 RESOLVE_IN_ROOT, Linux 5.6), so a tree with absolute links or loops cannot lead out of it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys_internal.h"
#include "text.h"

struct dir_door {
	int root_fd;
	bool confined; /* not the running machine: links stay inside */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static const char *relative_of(const char *path)
{
	path += strspn(path, "/");
	return *path ? path : ".";
}

/* O_NONBLOCK keeps a FIFO or a tty from stopping us; openat2 takes it for no O_PATH. */
static int open_below(const struct dir_door *door, const char *path, int flags)
{
	flags |= flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	if (!door->confined) {
		int fd = open(path, flags);

		return fd < 0 ? -errno : fd;
	}
	struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, door->root_fd, relative_of(path), &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/*
 * Opening a device can wait or do something (a watchdog starts, a tape rewinds), so a thing that is no file is not
 * opened at all: absent. On the running machine only /dev holds such things; a foreign tree may hold them anywhere.
 */
static int refuse_device(const struct dir_door *door, const char *path)
{
	struct stat info;

	if (!door->confined) {
		if (!text_starts(path, "/dev/") || (stat(path, &info) == 0 && S_ISREG(info.st_mode)))
			return 0;
		return -ENOENT;
	}
	if (fstatat(door->root_fd, relative_of(path), &info, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* opening will tell */
	if (S_ISLNK(info.st_mode)) {
		CLEANUP(close_fd) int fd = open_below(door, path, O_PATH);

		if (fd < 0)
			return fd;
		if (fstat(fd, &info) < 0)
			return -errno;
	}
	return S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) ? 0 : -ENOENT;
}

/*
 * The effective limit is read as exactly four bytes: the kernel takes other lengths too, but hands out a native s32
 * (kernel/power/qos.c, cpu_latency_qos_read). Opening it for reading asks for the default, which limits nothing.
 */
static int read_latency(struct arena *arena, const char *path, const char **ret_data, size_t *ret_size)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;
	char value[4];

	if (fd < 0)
		return -errno;
	if (fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISCHR(info.st_mode))
		return -ENOENT;
	ssize_t got = read(fd, value, sizeof(value));

	if (got < 0)
		return -errno;
	*ret_data = arena_strndup(arena, value, (size_t)got);
	*ret_size = (size_t)got;
	return 0;
}

/*
 * Where a read that does not fill the buffer has reached the end, so that the second read is saved: attributes of sysfs
 * (a page, or binary ones that fill what they are given) and files of a tree. In /proc records may come one by one.
 */
static bool short_read_is_end(const struct dir_door *door, const char *path)
{
	return door->confined || text_starts(path, "/sys/");
}

static int dir_read(void *self, struct arena *arena, const char *path, const char **ret_data, size_t *ret_size)
{
	const struct dir_door *door = self;

	if (!door->confined && text_equal(path, "/dev/cpu_dma_latency"))
		return read_latency(arena, path, ret_data, ret_size);
	int r = refuse_device(door, path);

	if (r < 0)
		return r;
	CLEANUP(close_fd) int fd = open_below(door, path, O_RDONLY);
	CLEANUP(base_free) char *large = NULL;
	char small[4096];
	char *buffer = small;
	size_t room = sizeof(small), size = 0;
	bool short_is_end = short_read_is_end(door, path);

	if (fd < 0)
		return fd;
	for (;;) {
		ssize_t got = read(fd, buffer + size, room - size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		size += (size_t)got;
		if (got == 0 || (short_is_end && size < room))
			break;
		if (size < room)
			continue;
		if (room > SYS_FILE_LIMIT)
			return -EFBIG;
		/* One byte more than the limit, to tell a file of exactly 8 MiB from a larger one. */
		room = MIN_OF(room * 4, (size_t)SYS_FILE_LIMIT + 1);
		char *larger = realloc(large, room);

		if (!larger)
			err_no_memory();
		if (!large)
			memcpy(larger, small, size);
		large = buffer = larger;
	}
	*ret_data = arena_strndup(arena, buffer, size);
	*ret_size = size;
	return 0;
}

static int dir_open(void *self, const char *path)
{
	int r = refuse_device(self, path);

	return r < 0 ? r : open_below(self, path, O_RDONLY);
}

static void close_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

static int dir_list(void *self, struct arena *arena, const char *path, const char *const **ret_names, size_t *ret_count)
{
	int fd = open_below(self, path, O_RDONLY | O_DIRECTORY);
	CLEANUP(base_free) const char **names = NULL;
	size_t count = 0, room = 0;

	if (fd < 0)
		return fd;
	CLEANUP(close_dir) DIR *dir = fdopendir(fd);

	if (!dir) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);

		if (!entry && errno)
			return -errno;
		if (!entry)
			break;
		if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
			continue;
		if (count == room) {
			room = room ? room * 2 : 64;
			const char **more = reallocarray(names, room, sizeof(*names));

			if (!more)
				err_no_memory();
			names = more;
		}
		names[count++] = arena_strdup(arena, entry->d_name);
	}
	sys_sort_names(names, count);
	const char **kept = ARENA_ARRAY(arena, count + 1, const char *);

	if (count)
		memcpy(kept, names, count * sizeof(*names));
	*ret_names = kept;
	*ret_count = count;
	return 0;
}

static int dir_link(void *self, struct arena *arena, const char *path, const char **ret_target)
{
	char target[PATH_MAX];
	CLEANUP(close_fd) int fd = open_below(self, path, O_PATH | O_NOFOLLOW);

	if (fd < 0)
		return fd;
	ssize_t length = readlinkat(fd, "", target, sizeof(target));

	/* On a thing that is no link, readlinkat("") says ENOENT; so it is no link: absent. */
	if (length < 0)
		return errno == EINVAL ? -ENOENT : -errno;
	*ret_target = arena_strndup(arena, target, (size_t)length);
	return 0;
}

static void dir_close(void *self)
{
	struct dir_door *door = self;

	close_fd(&door->root_fd);
	free(door);
}

static const struct sys_backend dir_backend = {
    .read = dir_read, .list = dir_list, .link = dir_link, .open = dir_open, .close = dir_close};

int sys_open_dir(const char *root, struct sys **ret, struct err *err)
{
	CLEANUP(base_free) char *real = realpath(root, NULL);

	if (!real)
		return err_set(err, errno, root, "cannot open this host: %s", strerror(errno));
	int fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, errno, root, "cannot open this host: %s", strerror(errno));
	struct dir_door *door = calloc(1, sizeof(*door));

	if (!door)
		err_no_memory();
	*door = (struct dir_door){.root_fd = fd, .confined = !text_equal(real, "/")};
	*ret = sys_new(&dir_backend, door, root, real);
	return 0;
}

static int nothing_read(void *self, struct arena *arena, const char *path, const char **ret_data, size_t *ret_size)
{
	(void)self, (void)arena, (void)path, (void)ret_data, (void)ret_size;
	return -ENOENT;
}

static int nothing_list(void *self, struct arena *arena, const char *path, const char *const **ret_names,
			size_t *ret_count)
{
	(void)self, (void)arena, (void)path, (void)ret_names, (void)ret_count;
	return -ENOENT;
}

static int nothing_link(void *self, struct arena *arena, const char *path, const char **ret_target)
{
	(void)self, (void)arena, (void)path, (void)ret_target;
	return -ENOENT;
}

static const struct sys_backend nothing_backend = {.read = nothing_read, .list = nothing_list, .link = nothing_link};

struct sys *sys_open_nothing(const char *name)
{
	return sys_new(&nothing_backend, NULL, name, NULL);
}
