/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the reads of sys_again.h that are no files on the running machine: registers, counters of perf, messages to
 * SMUs. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys_again.h"
#include "sys_hsmp.h"
#include "sys_internal.h"

static int opened(enum sys_again_kind kind, long fd, struct sys_again *ret)
{
	if (fd < 0)
		return -errno;
	*ret = (struct sys_again){.kind = kind, .fd = (int)fd};
	return 0;
}

/* ---- registers ---- */

int sys_again_open_msr(struct sys *sys, int cpu, struct sys_again *ret)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	bool live = sys_is_live(sys);
	int r = live ? opened(SYS_AGAIN_MSR, open(path, O_RDONLY | O_CLOEXEC), ret) : sys_again_open(sys, path, ret);

	if (r < 0)
		return r;
	/* The archive of a host has no registers: there is nothing that could be read at their places. */
	if (ret->kind == SYS_AGAIN_FIXED)
		return -ENOENT;
	ret->kind = SYS_AGAIN_MSR;
	ret->stride = live ? 1 : sizeof(uint64_t);
	return 0;
}

int sys_again_msr(const struct sys_again *again, uint32_t number, uint64_t *ret)
{
	uint64_t value;
	ssize_t got = pread(again->fd, &value, sizeof(value), (off_t)number * again->stride);

	if (got < 0)
		return -errno;
	if (got != (ssize_t)sizeof(value))
		return -EIO;
	*ret = value;
	return 0;
}

/* ---- perf ---- */

int sys_again_open_group(struct sys *sys, const char *pmu, uint32_t type, const uint64_t *configs, size_t count,
			 int cpu, struct sys_again_group *ret)
{
	struct sys_again_group group = {.count = count};

	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attributes = {
		    .type = type,
		    .size = sizeof(attributes),
		    .config = configs[i],
		    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		};
		char path[256];
		int r, leader = i ? group.counters[0].fd : -1;

		if (sys_is_live(sys))
			r = opened(SYS_AGAIN_PERF,
				   syscall(SYS_perf_event_open, &attributes, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC),
				   &group.counters[i]);
		else {
			(void)snprintf(path, sizeof(path), "/perf/%s/%" PRIx64 "/cpu%d", pmu, configs[i], cpu);
			r = sys_again_open(sys, path, &group.counters[i]);
		}
		if (r < 0) {
			sys_again_close_group(&group);
			return r;
		}
	}
	*ret = group;
	return 0;
}

int sys_again_open_perf(struct sys *sys, const char *pmu, uint32_t type, uint64_t config, int cpu,
			struct sys_again *ret)
{
	struct sys_again_group group;
	int r = sys_again_open_group(sys, pmu, type, &config, 1, cpu, &group);

	if (r == 0)
		*ret = group.counters[0];
	return r;
}

void sys_again_close_group(struct sys_again_group *group)
{
	for (size_t i = 0; i < SYS_AGAIN_GROUP; i++)
		sys_again_close(&group->counters[i]);
	group->count = 0;
}

/* Layout of PERF_FORMAT_GROUP in perf_event_open(2). */
static int read_group(int fd, size_t count, uint64_t *ret_counts)
{
	uint64_t values[3 + SYS_AGAIN_GROUP];
	ssize_t got = read(fd, values, (3 + count) * sizeof(*values));

	if (got < 0)
		return -errno;
	if (got != (ssize_t)((3 + count) * sizeof(*values)) || values[0] != count)
		return -EIO;
	/* Enabled for longer than it ran: it had to share the hardware, and the count is a part. */
	if (values[2] < values[1])
		return -EAGAIN;
	for (size_t i = 0; i < count; i++)
		ret_counts[i] = values[3 + i];
	return 0;
}

int sys_again_group(const struct sys_again_group *group, uint64_t *ret_counts)
{
	uint64_t counts[SYS_AGAIN_GROUP];
	int r = 0;

	if (group->counters[0].kind == SYS_AGAIN_PERF)
		return read_group(group->counters[0].fd, group->count, ret_counts);
	for (size_t i = 0; i < group->count && r == 0; i++)
		r = sys_again_number(&group->counters[i], &counts[i]);
	for (size_t i = 0; i < group->count && r == 0; i++)
		ret_counts[i] = counts[i];
	return r;
}

int sys_again_perf(const struct sys_again *again, uint64_t *ret)
{
	return again->kind == SYS_AGAIN_PERF ? read_group(again->fd, 1, ret) : sys_again_number(again, ret);
}

/* ---- HSMP ---- */

int sys_again_open_hsmp(struct sys *sys, int socket, uint32_t message, struct sys_again *ret)
{
	char path[64];
	int r;

	if (sys_is_live(sys)) {
		r = opened(SYS_AGAIN_HSMP, open(SYS_HSMP_DEVICE, O_RDONLY | O_CLOEXEC), ret);
	} else {
		(void)snprintf(path, sizeof(path), "/hsmp/%d/%" PRIu32, socket, message);
		r = sys_again_open(sys, path, ret);
	}
	if (r < 0)
		return r;
	ret->message = message;
	ret->socket = (uint16_t)socket;
	return 0;
}

int sys_again_hsmp(const struct sys_again *again, uint32_t *ret)
{
	struct sys_hsmp_message message = {.id = again->message, .response_count = 1, .socket = again->socket};
	uint64_t number;

	if (again->kind != SYS_AGAIN_HSMP) {
		int r = sys_again_number(again, &number);

		if (r < 0)
			return r;
		*ret = (uint32_t)number;
		return number > UINT32_MAX ? -EBADMSG : 0;
	}
	if (ioctl(again->fd, SYS_HSMP_REQUEST, &message) < 0)
		return -errno;
	*ret = message.arguments[0];
	return 0;
}

/* ---- how many may be open ---- */

int sys_again_room(size_t count)
{
	/* For what else is open, and what programs of ours open. */
	enum { OTHERS = 256 };
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= count + OTHERS)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < count + OTHERS)
		return -EMFILE;
	limit.rlim_cur = count + OTHERS;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}
