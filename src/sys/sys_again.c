/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the reads of files declared in sys_again.h. */
#include "sys_again.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sys_internal.h"

static int opened(enum sys_again_kind kind, int fd, struct sys_again *ret)
{
	if (fd < 0)
		return fd;
	*ret = (struct sys_again){.kind = kind, .fd = fd};
	return 0;
}

/* What no backend opens stands still: one look serves for all reads. */
static int fixed(struct sys *sys, const char *path, struct sys_again *ret)
{
	const char *data;
	size_t size;
	int r = sys_ask_file(sys, path, &data, &size);

	if (r < 0)
		return r;
	*ret = (struct sys_again){.kind = SYS_AGAIN_FIXED, .fd = -1, .fixed = data, .fixed_size = size};
	return 0;
}

int sys_again_open(struct sys *sys, const char *path, struct sys_again *ret)
{
	int fd = sys_ask_open(sys, path);

	return fd == -EOPNOTSUPP ? fixed(sys, path, ret) : opened(SYS_AGAIN_FILE, fd, ret);
}

void sys_again_close(struct sys_again *again)
{
	if (again->kind != SYS_AGAIN_CLOSED && again->fd >= 0)
		(void)close(again->fd);
	*again = (struct sys_again){.kind = SYS_AGAIN_CLOSED, .fd = -1};
}

ssize_t sys_again_read(const struct sys_again *again, char *buffer, size_t room)
{
	ssize_t got;

	if (again->kind == SYS_AGAIN_FIXED) {
		got = (ssize_t)MIN_OF(again->fixed_size, room);
		memcpy(buffer, again->fixed, (size_t)got);
	} else {
		do
			got = pread(again->fd, buffer, room, 0);
		while (got < 0 && errno == EINTR);
	}
	if (got < 0)
		return -errno;
	if ((size_t)got >= room)
		return -E2BIG;
	buffer[got] = '\0';
	return got;
}

int sys_again_number(const struct sys_again *again, uint64_t *ret)
{
	char text[32];
	ssize_t got = sys_again_read(again, text, sizeof(text));
	uint64_t number = 0;
	const char *at = text;

	if (got < 0)
		return got == -E2BIG ? -EBADMSG : (int)got;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(number, UINT64_C(10), &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return -EBADMSG;
	if (at == text || (*at && *at != '\n'))
		return -EBADMSG;
	*ret = number;
	return 0;
}
