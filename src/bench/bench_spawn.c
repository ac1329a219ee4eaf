/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns hvtune's side of the spawner: signals, programs, orders, output. */
#include "bench_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_guest.h"
#include "bench_spawner.h"
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

/* ---- the spawner ---- */

struct bench_spawner {
	pid_t pid;
	int control; /* -1: it could not be opened */
	int errnum;  /* why */
	int64_t spent_us;
};

struct bench_spawner *bench_spawner_open(void)
{
	struct bench_spawner *spawner = calloc(1, sizeof(*spawner));
	int ends[2] = {-1, -1};

	if (!spawner)
		err_no_memory();
	spawner->control = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		spawner->errnum = errno;
		return spawner;
	}
	spawner->pid = fork();
	if (spawner->pid == 0)
		bench_spawner_serve(ends[1]);
	spawner->errnum = errno;
	(void)close(ends[1]);
	if (spawner->pid > 0)
		spawner->control = ends[0];
	else
		(void)close(ends[0]);
	return spawner;
}

struct bench_spawner *bench_spawner_close(struct bench_spawner *spawner)
{
	if (!spawner)
		return NULL;
	if (spawner->control >= 0) {
		(void)close(spawner->control);
		while (waitpid(spawner->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	free(spawner);
	return NULL;
}

int64_t bench_spawner_spent_us(const struct bench_spawner *spawner)
{
	return spawner ? spawner->spent_us : 0;
}

/* ---- starting ---- */

struct child {
	int control;
	int out, errors; /* ends to read, -1: none */
};

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

static void add_text(struct iovec *parts, size_t *count, uint64_t *size, const char *text)
{
	parts[*count] = (struct iovec){.iov_base = (void *)text, .iov_len = strlen(text) + 1};
	*size += parts[(*count)++].iov_len;
}

static size_t length_of(const char *const *list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/* All of it, however many parts; with the two descriptors unless they are -1. */
static int send_parts(int fd, struct iovec *parts, size_t count, const int ends[2])
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))] = {0};
	bool with_ends = ends[0] >= 0;

	while (count) {
		struct msghdr message = {.msg_iov = parts, .msg_iovlen = MIN_OF(count, (size_t)IOV_MAX)};
		ssize_t sent;

		if (with_ends) {
			message.msg_control = space;
			message.msg_controllen = sizeof(space);
			*CMSG_FIRSTHDR(&message) = (struct cmsghdr){
			    .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(2 * sizeof(int))};
			memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), ends, 2 * sizeof(int));
		}
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		with_ends = false;
		for (; count && (size_t)sent >= parts->iov_len; parts++, count--)
			sent -= (ssize_t)parts->iov_len;
		if (count) {
			parts->iov_base = (char *)parts->iov_base + sent;
			parts->iov_len -= (size_t)sent;
		}
	}
	return 0;
}

static int send_command(int fd, const struct bench_command *command, const char *program, const int ends[2])
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *const *environment =
	    command->environment ? command->environment : (const char *const *)(void *)environ;
	struct bench_order order = {.kind = BENCH_ORDER_RUN,
				    .output = command->output,
				    .words = (uint32_t)length_of(command->argv),
				    .variables = (uint32_t)length_of(environment)};
	struct iovec *parts = ARENA_ARRAY(arena, (size_t)order.words + order.variables + 4, struct iovec);
	size_t count = 1;

	add_text(parts, &count, &order.size, program);
	add_text(parts, &count, &order.size, command->cwd ? command->cwd : "");
	add_text(parts, &count, &order.size, command->input ? command->input : "");
	for (size_t i = 0; i < order.words; i++)
		add_text(parts, &count, &order.size, command->argv[i]);
	for (size_t i = 0; i < order.variables; i++)
		add_text(parts, &count, &order.size, environment[i]);
	parts[0] = (struct iovec){.iov_base = &order, .iov_len = sizeof(order)};
	return send_parts(fd, parts, count, ends);
}

static int start(const struct bench_spawner *spawner, const struct bench_command *command, struct child *child,
		 struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int reads[2] = {-1, -1}, writes[2] = {-1, -1}, r = 0;
	const char *program = command->program ? command->program : command->argv[0];

	/* A name with a directory is of the directory that it is run in. */
	if (!strchr(program, '/'))
		r = bench_find_program(arena, program, &program, err);
	if (r < 0)
		return r;
	if (command->output == BENCH_OUTPUT_CAPTURE)
		r = make_pipes(reads, writes);
	if (r == 0)
		r = send_command(spawner->control, command, program, writes);
	close_both(writes);
	if (r < 0) {
		close_both(reads);
		return err_set(err, -r, command->argv[0], "this program cannot be run: %s", sys_reason(-r));
	}
	*child = (struct child){spawner->control, reads[0], reads[1]};
	return 0;
}

/* ---- waiting ---- */

/* Bytes that come in. */
struct inflow {
	char *data;
	size_t size, room;
	bool cut; /* more came than there is room for */
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
	else {
		got = read(fd, dropped, sizeof(dropped));
		flow->cut = flow->cut || got > 0;
	}
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

static void end_command(struct waiting *waiting)
{
	const struct bench_order order = {.kind = waiting->asked ? BENCH_ORDER_KILL : BENCH_ORDER_TERM};

	(void)send(waiting->child->control, &order, sizeof(order), MSG_NOSIGNAL);
	waiting->end_ns = waiting->asked ? INT64_MAX : bench_now_ns() + (int64_t)GRACE_MS * 1000000;
	waiting->asked = true;
}

/* Until the spawner has answered. */
static int wait_for_end(struct waiting *waiting, struct bench_outcome *ret, struct bench_reply *reply)
{
	struct child *child = waiting->child;

	for (;;) {
		struct pollfd fds[] = {{.fd = child->control, .events = POLLIN},
				       {.fd = child->out, .events = POLLIN},
				       {.fd = child->errors, .events = POLLIN},
				       {.fd = waiting->signals ? waiting->signals->fd : -1, .events = POLLIN}};
		int64_t left_ns = waiting->signals && waiting->signals->look ? LOOK_NS : INT64_MAX;
		struct timespec left;

		if (waiting->end_ns != INT64_MAX)
			left_ns = MIN_OF(left_ns, MAX_OF(waiting->end_ns - bench_now_ns(), (int64_t)0));
		left = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
		(void)ppoll(fds, ARRAY_SIZE(fds), left_ns == INT64_MAX ? NULL : &left, NULL);
		if (fds[0].revents)
			return recv(child->control, reply, sizeof(*reply), MSG_WAITALL) == sizeof(*reply) ? 0 : -EIO;
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
			end_command(waiting);
		}
		if (waiting->end_ns != INT64_MAX && bench_now_ns() >= waiting->end_ns) {
			ret->timed_out = ret->timed_out || !ret->stopped;
			end_command(waiting);
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

static void take_reply(const struct bench_reply *reply, struct bench_outcome *ret)
{
	ret->began_ns = reply->began_ns;
	ret->ended_ns = reply->ended_ns;
	ret->user_us = reply->user_us;
	ret->system_us = reply->system_us;
	ret->peak_kib = reply->peak_kib > reply->floor_kib ? reply->peak_kib : -1;
	ret->peak_floor_kib = reply->floor_kib;
	ret->exit_code = WIFEXITED(reply->status) ? WEXITSTATUS(reply->status) : -1;
	ret->signal = WIFSIGNALED(reply->status) ? WTERMSIG(reply->status) : 0;
	ret->left = reply->left;
	(void)snprintf(ret->left_names, sizeof(ret->left_names), "%s", reply->left_names);
}

static int not_started(const struct bench_command *command, int errnum, struct err *err)
{
	if (command->cwd && access(command->cwd, X_OK) < 0)
		return err_set(err, errno, command->cwd, "the command cannot be run in this directory: %s",
			       sys_reason(errno));
	if (command->input && access(command->input, R_OK) < 0)
		return err_set(err, errno, command->input, "this cannot be read: %s", sys_reason(errno));
	return err_set(err, errnum, command->argv[0], "this program cannot be run: %s", sys_reason(errnum));
}

int bench_spawner_run(struct bench_spawner *spawner, const struct bench_command *command, struct bench_signals *signals,
		      struct bench_outcome *ret, struct err *err)
{
	struct child child = {.control = -1, .out = -1, .errors = -1};
	struct waiting waiting = {.child = &child, .signals = signals, .end_ns = INT64_MAX};
	struct bench_outcome outcome = {0};
	struct bench_reply reply = {0};
	int r;

	if (command->guest)
		return bench_guest_spawn(command, signals, ret, err);
	if (spawner->control < 0)
		return err_set(err, spawner->errnum, NULL, "no process can be started: %s",
			       sys_reason(spawner->errnum));
	r = start(spawner, command, &child, err);
	if (r < 0)
		return r;
	if (command->timeout_ns)
		waiting.end_ns = bench_now_ns() + command->timeout_ns;
	r = wait_for_end(&waiting, &outcome, &reply);
	drain(&child.out, &waiting.flows[0]);
	drain(&child.errors, &waiting.flows[1]);
	outcome.output = finish_flow(&waiting.flows[0], &outcome.output_size);
	outcome.errors = finish_flow(&waiting.flows[1], &outcome.errors_size);
	outcome.cut = waiting.flows[0].cut || waiting.flows[1].cut;
	if (r < 0 || reply.error) {
		bench_outcome_clear(&outcome);
		if (reply.error)
			return not_started(command, reply.error, err);
		return err_set(err, EIO, command->argv[0], "hvtune's own process that starts commands has gone");
	}
	spawner->spent_us = reply.spent_us;
	take_reply(&reply, &outcome);
	*ret = outcome;
	return 0;
}

int bench_spawn(const struct bench_command *command, struct bench_signals *signals, struct bench_outcome *ret,
		struct err *err)
{
	struct bench_spawner *spawner = bench_spawner_open();
	int r = bench_spawner_run(spawner, command, signals, ret, err);

	(void)bench_spawner_close(spawner);
	return r;
}
