/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the spawner. */
#include "bench_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_guest.h"
#include "sys.h"
#include "text.h"

extern char **environ;

enum { GRACE_MS = 2000, CHUNK = 64 << 10, LOOK_NS = 1000000000 };

int64_t bench_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_outcome_clear(struct bench_outcome *outcome)
{
	free(outcome->output);
	free(outcome->errors);
	outcome->output = outcome->errors = NULL;
}

/* ---- signals ---- */

_Static_assert(sizeof(((struct bench_signals *)0)->before) >= sizeof(sigset_t), "room for a mask");

void bench_signals_hold(struct bench_signals *signals)
{
	sigset_t held, before;

	(void)sigemptyset(&held);
	(void)sigaddset(&held, SIGINT);
	(void)sigaddset(&held, SIGTERM);
	(void)sigaddset(&held, SIGHUP);
	/* Whatever would end hvtune with settings changed comes to an orderly end instead. */
	(void)sigaddset(&held, SIGQUIT);
	(void)sigaddset(&held, SIGALRM);
	(void)sigaddset(&held, SIGUSR1);
	(void)sigaddset(&held, SIGUSR2);
	(void)sigaddset(&held, SIGXCPU);
	(void)sigprocmask(SIG_BLOCK, &held, &before);
	memcpy(signals->before, &before, sizeof(before));
	signals->fd = signalfd(-1, &held, SFD_NONBLOCK | SFD_CLOEXEC);
	signals->stopped = false;
	signals->look = NULL;
	signals->over = NULL;
	signals->looked_ns = 0;
}

bool bench_signals_came(struct bench_signals *signals)
{
	struct signalfd_siginfo info;

	while (signals->fd >= 0 && read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		signals->stopped = true;
	return signals->stopped;
}

const char *bench_signals_over(struct bench_signals *signals)
{
	int64_t now_ns = bench_now_ns();

	if (!signals->look || signals->over || now_ns - signals->looked_ns < LOOK_NS)
		return signals->over;
	signals->looked_ns = now_ns;
	signals->over = signals->look(signals->data);
	return signals->over;
}

bool bench_signals_wait(struct bench_signals *signals, int64_t wait_ns)
{
	int64_t end_ns = bench_now_ns() + wait_ns;

	while (!bench_signals_came(signals)) {
		int64_t left_ns = end_ns - bench_now_ns();
		struct pollfd wait = {.fd = signals->fd, .events = POLLIN};
		struct timespec left = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};

		if (left_ns <= 0)
			return false;
		(void)ppoll(&wait, 1, &left, NULL);
	}
	return true;
}

void bench_signals_release(struct bench_signals *signals)
{
	sigset_t before;

	(void)bench_signals_came(signals);
	if (signals->fd >= 0)
		(void)close(signals->fd);
	signals->fd = -1;
	memcpy(&before, signals->before, sizeof(before));
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- the program ---- */

int bench_find_program(struct arena *arena, const char *name, const char **ret, struct err *err)
{
	const char *path = getenv("PATH"), *refused = NULL;

	if (strchr(name, '/')) {
		if (access(name, X_OK) < 0)
			return err_set(err, errno, name, "this program cannot be run: %s", sys_reason(errno));
		*ret = arena_strdup(arena, name);
		return 0;
	}
	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (size_t length; *name; path += length + 1) {
		const char *found;

		length = strcspn(path, ":");
		found = arena_printf(arena, "%.*s%s%s", (int)length, path, length ? "/" : "", name);
		if (access(found, X_OK) == 0) {
			*ret = found;
			return 0;
		}
		if (errno == EACCES)
			refused = found;
		if (!path[length])
			break;
	}
	if (refused)
		return err_set(err, EACCES, refused, "this program cannot be run: %s", sys_reason(EACCES));
	(void)err_set(err, ENOENT, name, "there is no such program");
	(void)err_hint(err, "install it, or name its path; for what is built into a shell add --shell");
	return -ENOENT;
}

/* ---- starting ---- */

struct child {
	pid_t pid;
	int pidfd;
	int out, errors; /* ends to read, -1: none */
	int own_peak_kib;
};

static void put_outputs(posix_spawn_file_actions_t *actions, enum bench_output output, const int ends[2])
{
	if (output == BENCH_OUTPUT_NONE) {
		(void)posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
		(void)posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
	} else if (output == BENCH_OUTPUT_SHOWN) {
		/* hvtune's standard output is for its result. */
		(void)posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
	} else {
		(void)posix_spawn_file_actions_adddup2(actions, ends[0], STDOUT_FILENO);
		(void)posix_spawn_file_actions_adddup2(actions, ends[1], STDERR_FILENO);
	}
}

static int spawn(const struct bench_command *command, const int ends[2], pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *const *environment = command->environment ? (char *const *)command->environment : environ;
	sigset_t none, usual;
	int r;

	(void)sigemptyset(&none);
	(void)sigemptyset(&usual);
	(void)sigaddset(&usual, SIGPIPE);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes,
				       POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setpgroup(&attributes, 0);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setsigdefault(&attributes, &usual);
	if (command->cwd)
		(void)posix_spawn_file_actions_addchdir_np(&actions, command->cwd);
	(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, command->input ? command->input : "/dev/null",
					       O_RDONLY, 0);
	put_outputs(&actions, command->output, ends);
	r = command->program ? posix_spawn(ret_pid, command->program, &actions, &attributes,
					   (char *const *)command->argv, environment)
			     : posix_spawnp(ret_pid, command->argv[0], &actions, &attributes,
					    (char *const *)command->argv, environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

static void close_both(int ends[2])
{
	for (size_t i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			(void)close(ends[i]);
		ends[i] = -1;
	}
}

static int make_pipes(int reads[2], int writes[2])
{
	for (size_t i = 0; i < 2; i++) {
		int pipes[2];

		if (pipe2(pipes, O_CLOEXEC) < 0) {
			int errnum = errno;

			close_both(reads);
			close_both(writes);
			return -errnum;
		}
		reads[i] = pipes[0];
		writes[i] = pipes[1];
	}
	return 0;
}

static int start(const struct bench_command *command, struct child *child, int64_t *ret_began_ns)
{
	int reads[2] = {-1, -1}, writes[2] = {-1, -1};
	struct rusage own;
	int r = command->output == BENCH_OUTPUT_CAPTURE ? make_pipes(reads, writes) : 0;

	if (r < 0)
		return r;
	(void)getrusage(RUSAGE_SELF, &own);
	*ret_began_ns = bench_now_ns();
	r = spawn(command, writes, &child->pid);
	close_both(writes);
	if (r < 0) {
		close_both(reads);
		return r;
	}
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	child->out = reads[0];
	child->errors = reads[1];
	child->own_peak_kib = (int)own.ru_maxrss;
	return 0;
}

/* ---- waiting ---- */

/* Bytes that come in. */
struct inflow {
	char *data;
	size_t size, room;
};

/* False at the end. */
static bool take(int fd, struct inflow *flow)
{
	char dropped[4096];
	ssize_t got;

	if (flow->room - flow->size < CHUNK && flow->room < BENCH_MOST_OUTPUT) {
		size_t room = flow->room ? 2 * flow->room : (size_t)2 * CHUNK;
		char *larger = realloc(flow->data, room + 1);

		if (!larger)
			err_no_memory();
		flow->data = larger;
		flow->room = room;
	}
	if (flow->size < flow->room)
		got = read(fd, flow->data + flow->size, flow->room - flow->size);
	else
		got = read(fd, dropped, sizeof(dropped));
	if (got > 0 && flow->size < flow->room)
		flow->size += (size_t)got;
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

struct waiting {
	struct child *child;
	struct bench_signals *signals;
	struct inflow flows[2];
	int64_t end_ns; /* of the timeout, or when to kill; INT64_MAX: none */
	bool asked;	/* SIGTERM was sent */
};

static void end_group(struct waiting *waiting, struct bench_outcome *outcome)
{
	(void)outcome;
	(void)kill(-waiting->child->pid, waiting->asked ? SIGKILL : SIGTERM);
	waiting->end_ns = waiting->asked ? INT64_MAX : bench_now_ns() + (int64_t)GRACE_MS * 1000000;
	waiting->asked = true;
}

static bool reap(const struct waiting *waiting, struct bench_outcome *ret, bool wait)
{
	struct rusage used = {0};
	int status = 0;
	pid_t got = wait4(waiting->child->pid, &status, wait ? 0 : WNOHANG, &used);

	if (got != waiting->child->pid)
		return false;
	ret->ended_ns = bench_now_ns();
	ret->user_us = (int64_t)used.ru_utime.tv_sec * 1000000 + used.ru_utime.tv_usec;
	ret->system_us = (int64_t)used.ru_stime.tv_sec * 1000000 + used.ru_stime.tv_usec;
	ret->peak_kib = used.ru_maxrss > waiting->child->own_peak_kib ? used.ru_maxrss : -1;
	ret->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}

static void wait_for_end(struct waiting *waiting, struct bench_outcome *ret)
{
	struct child *child = waiting->child;

	for (;;) {
		struct pollfd fds[] = {{.fd = child->pidfd, .events = POLLIN},
				       {.fd = child->out, .events = POLLIN},
				       {.fd = child->errors, .events = POLLIN},
				       {.fd = waiting->signals ? waiting->signals->fd : -1, .events = POLLIN}};
		/* Without a pidfd (an old kernel) the end is looked for every millisecond. */
		int64_t left_ns = child->pidfd < 0 ? 1000000 : INT64_MAX;
		struct timespec left;

		if (waiting->signals && waiting->signals->look)
			left_ns = MIN_OF(left_ns, (int64_t)LOOK_NS);
		if (waiting->end_ns != INT64_MAX)
			left_ns = MIN_OF(left_ns, MAX_OF(waiting->end_ns - bench_now_ns(), (int64_t)0));
		left = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
		(void)ppoll(fds, ARRAY_SIZE(fds), left_ns == INT64_MAX ? NULL : &left, NULL);
		if ((fds[0].revents || child->pidfd < 0) && reap(waiting, ret, false))
			return;
		if (fds[1].revents && !take(child->out, &waiting->flows[0])) {
			(void)close(child->out);
			child->out = -1;
		}
		if (fds[2].revents && !take(child->errors, &waiting->flows[1])) {
			(void)close(child->errors);
			child->errors = -1;
		}
		if (waiting->signals && !ret->stopped &&
		    (bench_signals_came(waiting->signals) || bench_signals_over(waiting->signals))) {
			ret->stopped = true;
			waiting->asked = false;
			end_group(waiting, ret);
		}
		if (waiting->end_ns != INT64_MAX && bench_now_ns() >= waiting->end_ns) {
			ret->timed_out = ret->timed_out || !ret->stopped;
			end_group(waiting, ret);
		}
	}
}

/* What is still in the pipe; a child of the child may hold it open for ever, so nothing is waited for. */
static void drain(int *fd, struct inflow *flow)
{
	if (*fd < 0)
		return;
	for (;;) {
		struct pollfd ready = {.fd = *fd, .events = POLLIN};

		if (poll(&ready, 1, 0) <= 0 || !take(*fd, flow))
			break;
	}
	(void)close(*fd);
	*fd = -1;
}

static char *finish_flow(struct inflow *flow, size_t *ret_size)
{
	if (!flow->data)
		return NULL;
	flow->data[flow->size] = '\0';
	*ret_size = flow->size;
	return flow->data;
}

int bench_spawn(const struct bench_command *command, struct bench_signals *signals, struct bench_outcome *ret,
		struct err *err)
{
	struct child child = {.pidfd = -1, .out = -1, .errors = -1};
	struct waiting waiting = {.child = &child, .signals = signals, .end_ns = INT64_MAX};
	struct bench_outcome outcome = {0};
	int r;

	if (command->guest)
		return bench_guest_spawn(command, signals, ret, err);
	r = start(command, &child, &outcome.began_ns);
	if (r < 0) {
		if (command->cwd && access(command->cwd, X_OK) < 0)
			return err_set(err, errno, command->cwd, "the command cannot be run in this directory: %s",
				       sys_reason(errno));
		return err_set(err, -r, command->argv[0], "this program cannot be run: %s", sys_reason(-r));
	}
	if (command->timeout_ns)
		waiting.end_ns = outcome.began_ns + command->timeout_ns;
	wait_for_end(&waiting, &outcome);
	/* What it left running would disturb the next run. */
	if (outcome.timed_out || outcome.stopped)
		(void)kill(-child.pid, SIGKILL);
	drain(&child.out, &waiting.flows[0]);
	drain(&child.errors, &waiting.flows[1]);
	if (child.pidfd >= 0)
		(void)close(child.pidfd);
	outcome.output = finish_flow(&waiting.flows[0], &outcome.output_size);
	outcome.errors = finish_flow(&waiting.flows[1], &outcome.errors_size);
	*ret = outcome;
	return 0;
}
