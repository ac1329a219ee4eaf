/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in sys_qmp.h. */
#include "sys_qmp.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/openat2.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys_internal.h"
#include "text.h"

/* Answers for 4096 vCPUs are shorter than a MiB. */
enum { ANSWER_LIMIT = 4 * 1024 * 1024, EVENT_LIMIT = 10000 };

/* All that is ever asked, and the members of each element that are kept. */
static const struct question {
	const char *command;
	const char *kept[3];
} questions[] = {
    {"query-cpus-fast", {"cpu-index", "thread-id"}},
    {"query-iothreads", {"id", "thread-id"}},
};

struct monitor {
	int fd;
	uint64_t until_us;
	char *data;
	size_t size, room, line_size; /* the first line_size bytes are the line that was looked at last */
};

static void monitor_close(struct monitor *monitor)
{
	if (monitor->fd >= 0)
		(void)close(monitor->fd);
	free(monitor->data);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static void json_free(json_t **json)
{
	json_decref(*json);
}

/* ---- the socket ---- */

/* The socket's place in the file system, by a descriptor: QEMU may have another root, and paths may be too long. */
static int open_place(int pid, const char *path)
{
	char from[64];
	bool absolute = path[0] == '/';

	(void)snprintf(from, sizeof(from), "/proc/%d/%s", pid, absolute ? "root" : "cwd");
	CLEANUP(close_fd) int directory = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return -errno;
	/* Links of a relative path may leave its directory, as they do for QEMU; those of a root stay in it. */
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_NO_MAGICLINKS | (absolute ? RESOLVE_IN_ROOT : 0)};
	long fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));
	struct stat info;

	if (fd < 0)
		return -errno;
	if (fstat((int)fd, &info) == 0 && S_ISSOCK(info.st_mode))
		return (int)fd;
	(void)close((int)fd);
	return -ENOTSOCK;
}

/*
 * Has the socket a client? /proc/PID/net/unix lists, with the path that was listened on, the listener and each
 * connection: "Num: RefCount Protocol Flags Type St Inode Path", St 03 connected, 02 waiting to be accepted. The file
 * names all sockets of the machine, so it is no look that a capture would keep.
 */
static bool has_client(int pid, const char *path)
{
	char name[64];
	bool found = false;
	CLEANUP(base_free) char *line = NULL;
	size_t room = 0;
	ssize_t length;

	(void)snprintf(name, sizeof(name), "/proc/%d/net/unix", pid);
	CLEANUP(base_fclose) FILE *file = fopen(name, "re");

	while (file && !found && (length = getline(&line, &room, file)) > 0) {
		char state[3] = "";
		int at = 0;

		line[length - 1] = '\0';
		if (sscanf(line, "%*s %*s %*s %*s %*s %2s %*s %n", state, &at) == 1 && at > 0)
			found = text_equal(line + at, path) && (text_equal(state, "02") || text_equal(state, "03"));
	}
	return found;
}

static int connect_to(struct monitor *monitor, int pid, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);
	CLEANUP(close_fd) int place = open_place(pid, path);

	if (place < 0)
		return place;
	if (has_client(pid, path))
		return -EBUSY;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", place);
	monitor->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (monitor->fd < 0 || connect(monitor->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN ? -EBUSY : -errno;
	/* Who called listen(): whatever else has this path now is not to be spoken to. */
	if (getsockopt(monitor->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	return peer.pid == pid ? 0 : -EXDEV;
}

/* ---- lines ---- */

static int wait_for(const struct monitor *monitor, short events)
{
	struct pollfd ready = {.fd = monitor->fd, .events = events};
	uint64_t now_us = sys_now_us();
	int count = now_us < monitor->until_us ? poll(&ready, 1, (int)((monitor->until_us - now_us) / 1000) + 1) : 0;

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	return count == 0 ? -ETIMEDOUT : 0;
}

static int receive(struct monitor *monitor)
{
	enum { STEP = 16 * 1024 };

	if (monitor->room - monitor->size < STEP) {
		char *larger = realloc(monitor->data, monitor->room + 4 * (size_t)STEP);

		if (!larger)
			err_no_memory();
		monitor->data = larger;
		monitor->room += 4 * (size_t)STEP;
	}
	int r = wait_for(monitor, POLLIN);

	if (r < 0)
		return r;
	ssize_t got = recv(monitor->fd, monitor->data + monitor->size, STEP, 0);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	monitor->size += (size_t)got;
	if (got == 0 || monitor->size > ANSWER_LIMIT)
		return -EPROTO;
	return 0;
}

/* The next line as JSON, which is an object. */
static int next_object(struct monitor *monitor, json_t **ret)
{
	const char *newline;
	json_t *object;

	monitor->size -= monitor->line_size;
	if (monitor->line_size)
		memmove(monitor->data, monitor->data + monitor->line_size, monitor->size);
	monitor->line_size = 0;
	while (!monitor->size || !(newline = memchr(monitor->data, '\n', monitor->size))) {
		int r = receive(monitor);

		if (r < 0)
			return r;
	}
	monitor->line_size = (size_t)(newline - monitor->data) + 1;
	object = json_loadb(monitor->data, monitor->line_size, 0, NULL);
	if (!json_is_object(object)) {
		json_decref(object);
		return -EPROTO;
	}
	*ret = object;
	return 0;
}

static int say(struct monitor *monitor, const char *command)
{
	char line[128];
	size_t size = (size_t)snprintf(line, sizeof(line), "{\"execute\": \"%s\"}\n", command), sent = 0;

	while (sent < size) {
		int r = wait_for(monitor, POLLOUT);

		if (r < 0)
			return r;
		ssize_t got = send(monitor->fd, line + sent, size - sent, MSG_NOSIGNAL);

		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		sent += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* The answer to the last command; events may come before it. `*ret` stays NULL when QEMU refuses it. */
static int answer(struct monitor *monitor, json_t **ret)
{
	for (int i = 0; i < EVENT_LIMIT; i++) {
		CLEANUP(json_free) json_t *object = NULL;
		int r = next_object(monitor, &object);

		if (r < 0)
			return r;
		if (json_object_get(object, "error"))
			return 0;
		if (json_object_get(object, "return")) {
			*ret = json_incref(json_object_get(object, "return"));
			return 0;
		}
		if (!json_object_get(object, "event"))
			return -EPROTO;
	}
	return -EPROTO;
}

/* ---- questions ---- */

static json_t *kept_of(const struct question *question, const json_t *list)
{
	json_t *kept = json_array();

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *element = json_object();

		for (size_t k = 0; k < ARRAY_SIZE(question->kept) && question->kept[k]; k++) {
			json_t *value = json_object_get(json_array_get(list, i), question->kept[k]);

			if (value)
				(void)json_object_set(element, question->kept[k], value);
		}
		(void)json_array_append_new(kept, element);
	}
	return kept;
}

static int ask(struct monitor *monitor, json_t *answers)
{
	CLEANUP(json_free) json_t *greeting = NULL, *ready = NULL;
	int r = next_object(monitor, &greeting);

	if (r < 0)
		return r;
	if (!json_object_get(greeting, "QMP"))
		return -EPROTO;
	r = say(monitor, "qmp_capabilities");
	r = r < 0 ? r : answer(monitor, &ready);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(questions); i++) {
		CLEANUP(json_free) json_t *list = NULL;

		r = say(monitor, questions[i].command);
		r = r < 0 ? r : answer(monitor, &list);
		if (r == 0 && json_is_array(list))
			(void)json_object_set_new(answers, questions[i].command, kept_of(&questions[i], list));
	}
	return r;
}

static int ask_at(int pid, const char *path, json_t *answers)
{
	CLEANUP(monitor_close) struct monitor monitor = {.fd = -1};
	int r = connect_to(&monitor, pid, path);

	monitor.until_us = sys_now_us() + SYS_QMP_WAIT_S * UINT64_C(1000000);
	return r < 0 ? r : ask(&monitor, answers);
}

const struct sys_look *sys_qmp(struct sys *sys, int pid, const char *const *sockets, size_t count)
{
	char path[64];
	CLEANUP(json_free) json_t *answers = json_object();
	uint64_t start_us = sys_now_us();
	int r = -ENOENT;

	(void)snprintf(path, sizeof(path), "/proc/%d/qmp", pid);
	const struct sys_look *known = sys_recall(sys, path, SYS_FILE);

	if (known || !sys_is_live(sys))
		return known ? known : sys_read(sys, "%s", path);
	for (size_t i = 0; i < count; i++) {
		int outcome = ask_at(pid, sockets[i], answers);

		/* Of several that do not answer, the first says why; and nobody waits twice. */
		r = i == 0 || outcome == 0 ? outcome : r;
		if (outcome == 0 || outcome == -ETIMEDOUT)
			break;
		(void)json_object_clear(answers);
	}
	char *text = json_dumps(answers, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!text)
		err_no_memory();
	size_t size = strlen(text);
	const char *kept = arena_strndup(sys_arena(sys), text, size);

	free(text);
	return sys_remember(sys, path, SYS_FILE, r, kept, size, (uint32_t)(sys_now_us() - start_us));
}
