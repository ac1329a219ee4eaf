/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the reads declared in sys_again.h. */
#include "sys_again.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
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

int sys_again_open_msr(struct sys *sys, int cpu, struct sys_again *ret)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	if (!sys_is_live(sys))
		return opened(SYS_AGAIN_MSR, sys_ask_open(sys, path), ret);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return opened(SYS_AGAIN_MSR, fd < 0 ? -errno : fd, ret);
}

int sys_again_open_perf(struct sys *sys, const char *pmu, uint32_t type, uint64_t config, int cpu,
			struct sys_again *ret)
{
	struct perf_event_attr attributes = {
	    .type = type,
	    .size = sizeof(attributes),
	    .config = config,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	char path[256];

	if (!sys_is_live(sys)) {
		(void)snprintf(path, sizeof(path), "/perf/%s/%" PRIx64 "/cpu%d", pmu, config, cpu);
		return sys_again_open(sys, path, ret);
	}
	long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return opened(SYS_AGAIN_PERF, fd < 0 ? -errno : (int)fd, ret);
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

int sys_again_msr(const struct sys_again *again, uint32_t number, uint64_t *ret)
{
	uint64_t value;
	ssize_t got = pread(again->fd, &value, sizeof(value), number);

	if (got < 0)
		return -errno;
	if (got != (ssize_t)sizeof(value))
		return -EIO;
	*ret = value;
	return 0;
}

int sys_again_perf(const struct sys_again *again, uint64_t *ret)
{
	struct {
		uint64_t count, enabled_ns, running_ns;
	} value;

	if (again->kind != SYS_AGAIN_PERF)
		return sys_again_number(again, ret);
	ssize_t got = read(again->fd, &value, sizeof(value));

	if (got < 0)
		return -errno;
	if (got != (ssize_t)sizeof(value))
		return -EIO;
	if (value.running_ns < value.enabled_ns)
		return -EAGAIN;
	*ret = value.count;
	return 0;
}
