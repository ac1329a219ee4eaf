/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the process that starts commands and reaps what they leave. */
#include "bench_spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"
#include "text.h"

enum { MOST_LEFT = 256, STACK = 64 << 10, SWEEPS = 400, SWEEP_US = 2500 };

struct pids {
	pid_t items[MOST_LEFT];
	size_t count;
	bool all; /* none is missing */
};

struct spawner {
	int control;
	struct pids known; /* left by earlier commands: a server that a hook has started, say */
	char *texts;
	const char **pointers; /* words and variables, each ended by NULL */
	size_t text_room, pointer_room;
};

/* ---- the command ---- */

struct starting {
	const char *program, *cwd, *input;
	const char *const *argv, *const *environment;
	int ends[2]; /* -1: not captured */
	enum bench_output output;
	int error;
	_Alignas(16) char stack[STACK];
};

static bool put_files(const struct starting *starting)
{
	int input;

	/* Standard input and output of the spawner are /dev/null already. */
	if (*starting->input) {
		input = open(starting->input, O_RDONLY | O_CLOEXEC);
		if (input < 0 || dup2(input, STDIN_FILENO) < 0)
			return false;
	}
	if (starting->output == BENCH_OUTPUT_NONE)
		return dup2(STDOUT_FILENO, STDERR_FILENO) >= 0;
	/* hvtune's standard output is for its result. */
	if (starting->output == BENCH_OUTPUT_SHOWN)
		return dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
	return dup2(starting->ends[0], STDOUT_FILENO) >= 0 && dup2(starting->ends[1], STDERR_FILENO) >= 0;
}

/* In the new process, on the spawner's memory, which waits meanwhile: nothing is allocated here. */
static int become(void *data)
{
	struct starting *starting = data;
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	(void)sigemptyset(&none);
	(void)setpgid(0, 0);
	if ((!*starting->cwd || chdir(starting->cwd) == 0) && put_files(starting)) {
		(void)sigaction(SIGPIPE, &usual, NULL);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)execve(starting->program, (char *const *)starting->argv, (char *const *)starting->environment);
	}
	starting->error = errno;
	_exit(127);
}

/* Like vfork(2), but on a stack of its own; *ret_pidfd is -1 on kernels before 5.2. */
static pid_t start(struct starting *starting, int *ret_pidfd)
{
	pid_t pid =
	    clone(become, starting->stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, starting, ret_pidfd);

	if (pid < 0 && errno == EINVAL) {
		*ret_pidfd = -1;
		pid = clone(become, starting->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, starting);
	}
	return pid;
}

/* ---- what is left ---- */

static void list_children(struct pids *ret)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *path = arena_printf(arena, "/proc/self/task/%d/children", (int)getpid()), *text;
	size_t size;

	ret->count = 0;
	/* CONFIG_PROC_CHILDREN; every distribution's kernel has it. */
	ret->all = sys_read_given(arena, path, true, &text, &size, NULL) == 0;
	for (char *end = NULL; ret->all; text = end) {
		long pid = strtol(text, &end, 10);

		if (end == text)
			break;
		if (ret->count == MOST_LEFT)
			break;
		ret->items[ret->count++] = (pid_t)pid;
	}
}

static bool is_known(const struct spawner *self, pid_t pid)
{
	for (size_t i = 0; i < self->known.count; i++)
		if (self->known.items[i] == pid)
			return true;
	return false;
}

static void name_left(struct bench_reply *reply, pid_t pid)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *path = arena_printf(arena, "/proc/%d/comm", (int)pid), *text;
	size_t size, used = strlen(reply->left_names);

	if (sys_read_given(arena, path, true, &text, &size, NULL) == 0 && used + size + 2 < sizeof(reply->left_names))
		(void)snprintf(reply->left_names + used, sizeof(reply->left_names) - used, "%s%s", used ? ", " : "",
			       text_trim(arena, text));
}

/* Add what the kernel counted of a process that was reaped. */
static void count(struct bench_reply *reply, const struct rusage *used)
{
	reply->user_us += (int64_t)used->ru_utime.tv_sec * 1000000 + used->ru_utime.tv_usec;
	reply->system_us += (int64_t)used->ru_stime.tv_sec * 1000000 + used->ru_stime.tv_usec;
	reply->peak_kib = MAX_OF(reply->peak_kib, (int64_t)used->ru_maxrss);
}

/* Reap what has ended. False: there is no child any more. */
static bool reap(const struct spawner *self, struct bench_reply *reply)
{
	for (;;) {
		struct rusage used;
		pid_t pid = wait4(-1, NULL, WNOHANG | __WALL, &used);

		if (pid <= 0)
			return pid == 0 || errno != ECHILD;
		if (!is_known(self, pid))
			count(reply, &used);
	}
}

/* What came to this process because its parent ended: see it, and end it when the command was ended. */
static void sweep(struct spawner *self, struct bench_reply *reply, bool end)
{
	struct pids left = {.all = true};
	bool any = reap(self, reply), had_any = self->known.count || !self->known.all;

	for (int i = 0; any && i < SWEEPS; i++) {
		size_t fresh = 0;

		list_children(&left);
		for (size_t j = 0; j < left.count; j++)
			if (!is_known(self, left.items[j])) {
				fresh++;
				if (end)
					(void)kill(left.items[j], SIGKILL);
			}
		if (!end || !fresh)
			break;
		/* Their own children come here when they have ended. */
		(void)nanosleep(&(struct timespec){.tv_nsec = (long)SWEEP_US * 1000}, NULL);
		any = reap(self, reply);
	}
	for (size_t i = 0; any && i < left.count; i++)
		if (!is_known(self, left.items[i])) {
			reply->left++;
			name_left(reply, left.items[i]);
		}
	/* Not to be listed: told once. */
	if (any && !left.all && !had_any)
		reply->left = 1;
	self->known = any ? left : (struct pids){.all = true};
}

/* ---- orders ---- */

static bool receive_all(int fd, void *data, size_t size)
{
	char *at = data;

	while (size) {
		ssize_t got = recv(fd, at, size, MSG_WAITALL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

/* An order, with the descriptors that came with it. False at the end. */
static bool receive(const struct spawner *self, struct bench_order *ret, int ends[2])
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))];
	struct iovec part = {.iov_base = ret, .iov_len = sizeof(*ret)};
	struct msghdr message = {
	    .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
	const struct cmsghdr *header;
	ssize_t got;

	do
		got = recvmsg(self->control, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(*ret))
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ends, CMSG_DATA(header), 2 * sizeof(int));
	return true;
}

static void *larger(void *memory, size_t *room, size_t wanted, size_t each)
{
	if (memory && wanted <= *room)
		return memory;
	*room = 2 * wanted;
	memory = realloc(memory, *room * each);
	if (!memory)
		err_no_memory();
	return memory;
}

/* The texts of an order, as the command. */
static bool take_texts(struct spawner *self, const struct bench_order *order, struct starting *starting)
{
	const char *at, **pointer;

	self->texts = larger(self->texts, &self->text_room, order->size, 1);
	self->pointers = (const char **)larger((void *)self->pointers, &self->pointer_room,
					       (size_t)order->words + order->variables + 2, sizeof(*self->pointers));
	if (!receive_all(self->control, self->texts, order->size))
		return false;
	starting->program = at = self->texts;
	starting->cwd = at += strlen(at) + 1;
	starting->input = at += strlen(at) + 1;
	pointer = self->pointers;
	starting->argv = pointer;
	for (uint32_t i = 0; i < order->words; i++)
		*pointer++ = at += strlen(at) + 1;
	*pointer++ = NULL;
	starting->environment = pointer;
	for (uint32_t i = 0; i < order->variables; i++)
		*pointer++ = at += strlen(at) + 1;
	*pointer = NULL;
	return true;
}

/* An order while a command runs. False: whoever gave orders is gone. */
static bool obey(const struct spawner *self, pid_t pid)
{
	struct bench_order order;
	bool there = receive_all(self->control, &order, sizeof(order));
	int number = there && order.kind == BENCH_ORDER_TERM ? SIGTERM : SIGKILL;

	(void)kill(-pid, number);
	(void)kill(pid, number);
	return there;
}

static bool wait_for(struct spawner *self, pid_t pid, int pidfd, struct bench_reply *reply)
{
	struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN}, {.fd = self->control, .events = POLLIN}};
	bool ended_by_order = false, there = true;
	struct rusage used = {0};

	for (;;) {
		/* Without a pidfd the end is looked for every millisecond. */
		(void)poll(fds, ARRAY_SIZE(fds), pidfd < 0 ? 1 : -1);
		reply->ended_ns = bench_now_ns();
		if ((fds[0].revents || pidfd < 0) && wait4(pid, &reply->status, WNOHANG, &used) == pid)
			break;
		if (fds[1].revents) {
			there = obey(self, pid);
			ended_by_order = true;
			fds[1].fd = there ? self->control : -1;
		}
	}
	count(reply, &used);
	sweep(self, reply, ended_by_order);
	return there;
}

static bool run(struct spawner *self, const struct bench_order *order, int ends[2])
{
	struct starting starting;
	struct bench_reply reply = {0};
	struct rusage own = {0};
	int pidfd = -1;
	bool there = true;
	pid_t pid;

	starting.output = order->output;
	starting.error = 0;
	memcpy(starting.ends, ends, sizeof(starting.ends));
	if (!take_texts(self, order, &starting))
		return false;
	reply.began_ns = bench_now_ns();
	pid = start(&starting, &pidfd);
	reply.error = pid < 0 ? errno : starting.error;
	for (size_t i = 0; i < 2; i++)
		if (ends[i] >= 0)
			(void)close(ends[i]);
	if (pid > 0 && starting.error)
		(void)waitpid(pid, NULL, 0);
	else if (pid > 0)
		there = wait_for(self, pid, pidfd, &reply);
	if (pidfd >= 0)
		(void)close(pidfd);
	(void)getrusage(RUSAGE_SELF, &own);
	reply.floor_kib = own.ru_maxrss;
	reply.spent_us = (int64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000 + own.ru_utime.tv_usec +
			 own.ru_stime.tv_usec;
	return there && send(self->control, &reply, sizeof(reply), MSG_NOSIGNAL) == sizeof(reply);
}

/* None of hvtune's files, which it would hold open, and none of the signals that are for hvtune. */
static void keep_apart(int control)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDOUT_FILENO);
	if (control > STDERR_FILENO + 1)
		(void)close_range(STDERR_FILENO + 1, (unsigned)control - 1, 0);
	(void)close_range((unsigned)control + 1, ~0U, 0);
	(void)prctl(PR_SET_NAME, "hvtune-spawner");
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void bench_spawner_serve(int control)
{
	struct spawner self = {.control = control, .known.all = true};
	struct bench_order order;
	int ends[2] = {-1, -1};

	keep_apart(control);
	/* An order that came too late, for a command that had ended by itself, is for nobody. */
	while (receive(&self, &order, ends) && (order.kind != BENCH_ORDER_RUN || run(&self, &order, ends)))
		ends[0] = ends[1] = -1;
	_exit(0);
}
