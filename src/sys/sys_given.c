/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading a file that the user names, which is no part of a host's tree. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys_internal.h"
#include "text.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static int read_some(int fd, char *buffer, size_t room, size_t *ret_size)
{
	size_t size = 0;

	while (size < room) {
		ssize_t got = read(fd, buffer + size, room - size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		size += (size_t)got;
	}
	*ret_size = size;
	return 0;
}

static int read_given(struct arena *arena, const char *path, bool only_text, const char **ret_data, size_t *ret_size,
		      struct stat *ret_info, struct err *err)
{
	enum { LOOK_AT = 4096 };
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	CLEANUP(base_free) char *buffer = NULL;
	struct stat info;
	size_t size = 0, more = 0;

	if (fd < 0 || fstat(fd, &info) < 0)
		return err_set(err, errno, path, "cannot open it: %s", strerror(errno));
	if (!S_ISREG(info.st_mode))
		return err_set(err, EINVAL, path, "a file was expected");
	buffer = malloc(SYS_FILE_LIMIT + 1);
	if (!buffer)
		err_no_memory();
	int r = read_some(fd, buffer, LOOK_AT, &size);

	if (r == 0 && only_text && memchr(buffer, '\0', size))
		return err_set(err, EILSEQ, path, "a text was expected, but it holds binary data");
	if (r == 0 && size == LOOK_AT)
		r = read_some(fd, buffer + size, SYS_FILE_LIMIT + 1 - size, &more);
	if (r < 0)
		return err_set(err, -r, path, "cannot read it: %s", strerror(-r));
	size += more;
	if (size > SYS_FILE_LIMIT)
		return err_set(err, EFBIG, path, "larger than 8 MiB");
	if (only_text && memchr(buffer, '\0', size))
		return err_set(err, EILSEQ, path, "a text was expected, but it holds binary data");
	*ret_data = arena_strndup(arena, buffer, size);
	*ret_size = size;
	*ret_info = info;
	return 0;
}

int sys_read_given(struct arena *arena, const char *path, bool only_text, const char **ret_data, size_t *ret_size,
		   struct err *err)
{
	struct stat info;

	return read_given(arena, path, only_text, ret_data, ret_size, &info, err);
}

int sys_read_closed(struct arena *arena, const char *path, const char **ret_data, size_t *ret_size, bool *ret_closed,
		    struct err *err)
{
	struct stat info = {0};
	int r = read_given(arena, path, true, ret_data, ret_size, &info, err);

	if (r == 0)
		*ret_closed = !(info.st_mode & (S_IRWXG | S_IRWXO)) && (info.st_uid == 0 || info.st_uid == geteuid());
	return r;
}

bool sys_is_stream(const char *path)
{
	return text_equal(path, "-") || text_equal(path, "/dev/stdin") || text_starts(path, "/dev/fd/") ||
	       text_starts(path, "/proc/self/fd/");
}

static int read_to_end(int fd, const char *name, char **ret_data, size_t *ret_size, struct err *err)
{
	enum { STREAM_LIMIT = 512 * 1024 * 1024, FIRST_ROOM = 256 * 1024 };
	CLEANUP(base_free) char *data = NULL;
	size_t room = 0, size = 0, more = 0;

	do {
		room = room ? room * 2 : FIRST_ROOM;
		if (room > STREAM_LIMIT)
			return err_set(err, EFBIG, name, "more than 512 MiB");
		char *larger = realloc(data, room + 1);

		if (!larger)
			err_no_memory();
		data = larger;
		int r = read_some(fd, data + size, room - size, &more);

		if (r < 0)
			return err_set(err, -r, name, "cannot read it: %s", strerror(-r));
		size += more;
	} while (size == room);
	data[size] = '\0';
	*ret_data = data;
	*ret_size = size;
	data = NULL;
	return 0;
}

int sys_read_stream(const char *path, char **ret_data, size_t *ret_size, struct err *err)
{
	bool is_stdin = text_equal(path, "-") || text_equal(path, "/dev/stdin");
	const char *name = is_stdin ? "standard input" : path;
	CLEANUP(close_fd) int opened = is_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int fd = is_stdin ? STDIN_FILENO : opened;

	if (fd < 0)
		return err_set(err, errno, name, "cannot open it: %s", strerror(errno));
	if (isatty(fd)) {
		(void)err_set(err, ENOTTY, name, "this is a terminal, and a host is not typed");
		return err_hint(err, "give a host to it: lscpu | hvtune check --host -");
	}
	return read_to_end(fd, name, ret_data, ret_size, err);
}
