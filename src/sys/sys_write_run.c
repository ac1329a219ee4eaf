/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns starting programs on the running machine: no shell, a clean environment, a time limit, its output kept. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"
#include "sys_write_internal.h"
#include "text.h"

enum { MOST_OUTPUT = 64 << 10 };

static const char *const directories[] = {"/usr/sbin", "/usr/bin", "/sbin", "/bin", NULL};
static char *const environment[] = {(char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", (char *)"LC_ALL=C", NULL};

static const char *find_program(struct arena *arena, const char *name)
{
	for (const char *const *directory = directories; *directory; directory++) {
		const char *path = arena_printf(arena, "%s/%s", *directory, name);

		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Its output until it closes it; false when the time is over. What is too much is read and dropped. */
static bool gather(int fd, int64_t end_ms, char *output, size_t *ret_size)
{
	char dropped[4096];

	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int64_t left = end_ms - now_ms();
		bool keeps = *ret_size < MOST_OUTPUT;

		if (left <= 0)
			return false;
		if (poll(&wait, 1, (int)MIN_OF(left, 1000)) <= 0)
			continue;
		ssize_t got =
		    read(fd, keeps ? output + *ret_size : dropped, keeps ? MOST_OUTPUT - *ret_size : sizeof(dropped));

		if (got == 0)
			return true;
		if (got < 0 && errno != EINTR)
			return true;
		if (got > 0 && keeps)
			*ret_size += (size_t)got;
	}
}

static int start(const char *program, const char *const *argv, int output_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	/* A group of its own: Ctrl-C at hvtune must not cut update-grub in half. */
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setpgroup(&attributes, 0);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
	(void)posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
	r = posix_spawn(ret_pid, program, &actions, &attributes, (char *const *)argv, environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

static const char *last_line(struct arena *arena, const char *output)
{
	const char *text = text_trim(arena, output), *newline = strrchr(text, '\n');

	return newline ? newline + 1 : text;
}

static int run(struct arena *arena, const char *program, const char *const *argv, unsigned timeout_s,
	       const char **ret_output, struct err *err)
{
	char *output = arena_alloc(arena, MOST_OUTPUT + 1);
	size_t size = 0;
	int pipes[2], status = 0;
	pid_t pid = 0;
	bool ended;
	int r;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return err_set(err, errno, program, "could not be started: %s", sys_reason(errno));
	r = start(program, argv, pipes[1], &pid);
	(void)close(pipes[1]);
	if (r < 0) {
		(void)close(pipes[0]);
		return err_set(err, -r, program, "could not be started: %s", sys_reason(-r));
	}
	ended = gather(pipes[0], now_ms() + (int64_t)timeout_s * 1000, output, &size);
	(void)close(pipes[0]);
	if (!ended)
		(void)kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	output[size] = '\0';
	if (!ended)
		return err_set(err, ETIMEDOUT, program, "did not end within %u seconds and was killed", timeout_s);
	if (WIFSIGNALED(status))
		return err_set(err, EPROTO, program, "was killed by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return err_set(err, EPROTO, program, "failed with exit code %d: %s", WEXITSTATUS(status),
			       size ? last_line(arena, output) : "it printed nothing");
	if (ret_output)
		*ret_output = output;
	return 0;
}

int sys_write_run_given(struct arena *arena, const char *const *argv, unsigned timeout_s, const char **ret_output,
			struct err *err)
{
	const char *program = strchr(argv[0], '/') ? argv[0] : find_program(arena, argv[0]);

	if (!program)
		return err_set(err, ENOENT, argv[0], "is not installed");
	return run(arena, program, argv, timeout_s, ret_output, err);
}

int sys_writer_run(struct sys_writer *writer, struct arena *arena, const char *const *argv, unsigned timeout_s,
		   const char **ret_output, struct err *err)
{
	const char *program;
	int r = sys_write_pass(writer, SYS_WRITE_BEFORE, "run", argv[0], NULL, 0);

	if (r < 0)
		return err_set(err, -r, argv[0], "could not be run: %s", sys_reason(-r));
	if (!sys_writer_is_live(writer))
		return err_set(err, EXDEV, argv[0], "can only be run on the running machine");
	program = find_program(arena, argv[0]);
	if (!program)
		return err_set(err, ENOENT, argv[0], "is not installed");
	r = run(arena, program, argv, timeout_s, ret_output, err);
	(void)sys_write_pass(writer, SYS_WRITE_AFTER, "run", argv[0], NULL, 0);
	return r;
}

int sys_own_program(struct arena *arena, const char **ret, struct err *err)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		return err_set(err, errno, "/proc/self/exe", "hvtune does not know where it lies: %s",
			       sys_reason(errno));
	*ret = arena_strndup(arena, path, (size_t)length);
	return 0;
}
