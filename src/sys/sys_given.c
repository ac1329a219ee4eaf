/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading a file that the user names, which is no part of a host's tree. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys_internal.h"

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

int sys_read_given(struct arena *arena, const char *path, bool only_text, const char **ret_data, size_t *ret_size,
		   struct err *err)
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
	return 0;
}
