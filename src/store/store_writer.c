/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns who writes a session, and whether that process is still there: "BOOT NAMESPACE PID START", the boot id of the
 * host, the inode of the namespace in which the PID counts, and when the process started (ticks since boot, field 22 of
 * /proc/PID/stat, so that another process of the same number is another).
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"
#include "sys.h"
#include "text.h"

static const char *boot(struct arena *arena)
{
	const char *data;
	size_t size;

	if (sys_read_given(arena, "/proc/sys/kernel/random/boot_id", true, &data, &size, NULL) < 0)
		return NULL;
	return text_trim(arena, data);
}

/* 0: it is not known. */
static uint64_t namespace_of_pids(void)
{
	struct stat info;

	return stat("/proc/self/ns/pid", &info) == 0 ? (uint64_t)info.st_ino : 0;
}

/* -ENOENT: there is no such process. */
static int start_of(struct arena *arena, int64_t pid, uint64_t *ret)
{
	const char *data, *at;
	size_t size;
	int r = sys_read_given(arena, arena_printf(arena, "/proc/%" PRId64 "/stat", pid), true, &data, &size, NULL);

	if (r < 0)
		return r;
	/* Field 2 is a name with anything in it, in parentheses. */
	at = strrchr(data, ')');
	for (int field = 2; field < 22 && at; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EBADMSG;
	*ret = strtoull(at, NULL, 10);
	return 0;
}

const char *store_writer(struct arena *arena)
{
	const char *now = boot(arena);
	uint64_t start;

	if (!now || !namespace_of_pids() || start_of(arena, getpid(), &start) < 0)
		return NULL;
	return arena_printf(arena, "%s %" PRIu64 " %d %" PRIu64, now, namespace_of_pids(), (int)getpid(), start);
}

/* Only what is sure: of another host or namespace nothing is. */
static bool is_gone(struct arena *arena, const struct store_session *session)
{
	char host[256] = "", boot_id[64], *end;
	const char *now = boot(arena), *rest = session->writer ? strchr(session->writer, ' ') : NULL;
	uint64_t space, start, found;
	int64_t pid;
	int r;

	if (!rest || !now || rest - session->writer >= (ptrdiff_t)sizeof(boot_id))
		return false;
	(void)snprintf(boot_id, sizeof(boot_id), "%.*s", (int)(rest - session->writer), session->writer);
	if (!text_equal(boot_id, now))
		return gethostname(host, sizeof(host) - 1) == 0 && text_equal(host, session->host);
	space = strtoull(rest, &end, 10);
	pid = strtoll(end, &end, 10);
	start = strtoull(end, &end, 10);
	if (*end || pid <= 0 || space != namespace_of_pids())
		return false;
	r = start_of(arena, pid, &found);
	return r == -ENOENT || r == -ESRCH || (r == 0 && found != start);
}

void store_mark_cut(struct arena *arena, struct store_session *session)
{
	if (!text_equal(session->state, "open") || !is_gone(arena, session))
		return;
	session->state = "cut";
	session->why = "its process has gone without ending it: it was killed, or the machine went down";
}
