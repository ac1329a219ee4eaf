/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of asking monitors: a server in this very process plays QEMU, well and badly. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys_qmp.h"
#include "text.h"
#include "unit.h"

#define GREETING "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\r\n"
#define DONE "{\"return\": {}}\r\n"
#define CPUS                                                                                                           \
	"{\"return\": [{\"thread-id\": 11, \"props\": {\"core-id\": 0}, \"qom-path\": \"/secret\", \"cpu-index\": "    \
	"0}, {\"thread-id\": 12, \"cpu-index\": 1}]}\r\n"
#define IOTHREADS "{\"return\": [{\"poll-max-ns\": 32768, \"thread-id\": 13, \"id\": \"io1\"}]}\r\n"
#define EVENT "{\"event\": \"RTC_CHANGE\", \"data\": {\"offset\": 1}}\r\n"

/* What is said: the first line at once, each other one when a line came in. NULL ends it, "" says nothing. */
struct server {
	char path[108];
	int listener, fd;
	const char *const *lines;
	pthread_t thread;
	char heard[1024];
};

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	(void)unlink(path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void speak(const struct server *server, const char *line)
{
	for (size_t sent = 0, size = strlen(line); sent < size;) {
		ssize_t got = send(server->fd, line + sent, size - sent, MSG_NOSIGNAL);

		if (got <= 0)
			return;
		sent += (size_t)got;
	}
}

static void *serve(void *data)
{
	struct server *server = data;
	size_t size = 0;

	server->fd = accept(server->listener, NULL, NULL);
	for (int i = 0; server->lines[i]; i++) {
		char *newline = NULL;

		speak(server, server->lines[i]);
		while (server->lines[i + 1] && !newline) {
			ssize_t got = recv(server->fd, server->heard + size, sizeof(server->heard) - size - 1, 0);

			if (got <= 0)
				break;
			newline = memchr(server->heard + size, '\n', (size_t)got);
			size += (size_t)got;
		}
	}
	(void)close(server->fd);
	return NULL;
}

static void start(struct server *server, const char *name, const char *const *lines)
{
	*server = (struct server){.lines = lines};
	(void)snprintf(server->path, sizeof(server->path), "/tmp/hvtune-test-%d-%s.sock", (int)getpid(), name);
	server->listener = listen_at(server->path);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server)
{
	(void)shutdown(server->listener, SHUT_RDWR);
	(void)pthread_join(server->thread, NULL);
	(void)close(server->listener);
	(void)unlink(server->path);
}

/* Ask once at these sockets; the look is the door's, which the caller closes. */
static const struct sys_look *ask(struct sys **sys, const char *one, const char *other)
{
	const char *const sockets[] = {one, other};

	assert_int_equal(sys_open_dir("/", sys, NULL), 0);
	return sys_qmp(*sys, (int)getpid(), sockets, one ? other ? 2 : 1 : 0);
}

static void assert_refused(const char *one, int errnum)
{
	CLEANUP(sys_close_pointer) struct sys *sys = NULL;
	const struct sys_look *look = ask(&sys, one, NULL);

	assert_int_equal(look->state, SYS_UNREADABLE);
	assert_int_equal(look->errnum, errnum);
	assert_null(look->data);
}

static void assert_fails(const char *const *lines, int errnum)
{
	struct server server;

	start(&server, "bad", lines);
	assert_refused(server.path, errnum);
	stop(&server);
}

static const char *const good[] = {GREETING, EVENT DONE, CPUS, IOTHREADS, NULL};

static void test_answers_are_kept_and_nothing_else(void **state)
{
	struct server server;
	CLEANUP(sys_close_pointer) struct sys *sys = NULL;

	(void)state;
	start(&server, "good", good);
	const struct sys_look *look = ask(&sys, server.path, NULL);

	assert_int_equal(look->state, SYS_VALUE);
	assert_string_equal(look->data,
			    "{\"query-cpus-fast\":[{\"cpu-index\":0,\"thread-id\":11},{\"cpu-index\":1,\"thread-id\":"
			    "12}],\"query-iothreads\":[{\"id\":\"io1\",\"thread-id\":13}]}");
	assert_int_equal(look->size, strlen(look->data));
	stop(&server);
	assert_string_equal(server.heard, "{\"execute\": \"qmp_capabilities\"}\n{\"execute\": \"query-cpus-fast\"}\n"
					  "{\"execute\": \"query-iothreads\"}\n");
	/* It is remembered: a second look asks nobody. */
	assert_ptr_equal(sys_qmp(sys, (int)getpid(), NULL, 0), look);
}

/* QEMU before 2.12 knows no query-cpus-fast. */
static void test_what_is_refused_is_left_out(void **state)
{
	static const char *const lines[] = {
	    GREETING, DONE, "{\"error\": {\"class\": \"CommandNotFound\", \"desc\": \"\"}}\n", IOTHREADS, NULL};
	struct server server;
	CLEANUP(sys_close_pointer) struct sys *sys = NULL;

	(void)state;
	start(&server, "old", lines);
	const struct sys_look *look = ask(&sys, server.path, NULL);

	assert_int_equal(look->state, SYS_VALUE);
	assert_string_equal(look->data, "{\"query-iothreads\":[{\"id\":\"io1\",\"thread-id\":13}]}");
	stop(&server);
}

static void test_no_monitor(void **state)
{
	static const char *const ssh[] = {"SSH-2.0-OpenSSH_9.2\r\n", NULL};
	static const char *const array[] = {"[1]\n", NULL};
	static const char *const other[] = {"{\"QGA\": 1}\n", NULL};
	static const char *const ends[] = {GREETING, NULL};
	static const char *const odd[] = {GREETING, "{\"odd\": 1}\n", NULL};

	(void)state;
	assert_fails(ssh, EPROTO);
	assert_fails(array, EPROTO);
	assert_fails(other, EPROTO);
	assert_fails(odd, EPROTO);
	/* The server hangs up: as a reset, or as the end, by what was still under way. */
	struct server server;
	CLEANUP(sys_close_pointer) struct sys *sys = NULL;

	start(&server, "ends", ends);
	const struct sys_look *look = ask(&sys, server.path, NULL);

	assert_int_equal(look->state, SYS_UNREADABLE);
	assert_true(look->errnum == EPROTO || look->errnum == ECONNRESET || look->errnum == EPIPE);
	stop(&server);
}

static void test_an_endless_answer_is_cut(void **state)
{
	enum { SIZE = 5 * 1024 * 1024 };
	static char endless[SIZE];
	const char *const lines[] = {GREETING, endless, NULL};

	(void)state;
	memset(endless, ' ', SIZE - 1);
	assert_fails(lines, EPROTO);
}

static void test_silence_is_waited_for_once(void **state)
{
	static const char *const silent[] = {"", "", NULL};
	struct server one, other;
	CLEANUP(sys_close_pointer) struct sys *sys = NULL;

	(void)state;
	start(&one, "silent", silent);
	start(&other, "free", good);
	const struct sys_look *look = ask(&sys, one.path, other.path);

	assert_int_equal(look->state, SYS_UNREADABLE);
	assert_int_equal(look->errnum, ETIMEDOUT);
	assert_in_range(look->took_us, SYS_QMP_WAIT_S * 1000000 - 1, SYS_QMP_WAIT_S * 1000000 + 900000);
	stop(&one);
	stop(&other);
}

static void test_one_in_use_is_left_alone(void **state)
{
	static const char *const nothing[] = {"", "", NULL};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct server busy, idle;
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CLEANUP(sys_close_pointer) struct sys *sys = NULL;

	(void)state;
	start(&busy, "busy", nothing);
	start(&idle, "idle", good);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", busy.path);
	assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_refused(busy.path, EBUSY);
	/* The next one is asked. */
	const struct sys_look *look = ask(&sys, busy.path, idle.path);

	assert_int_equal(look->state, SYS_VALUE);
	(void)close(client);
	stop(&busy);
	stop(&idle);
}

static void test_another_process_is_not_spoken_to(void **state)
{
	char path[108];
	int ready[2], end[2];
	char byte = 0;

	(void)state;
	(void)snprintf(path, sizeof(path), "/tmp/hvtune-test-%d-other.sock", (int)getpid());
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	pid_t child = fork();

	if (child == 0) {
		(void)close(end[1]);
		(void)listen_at(path);
		(void)!write(ready[1], &byte, 1);
		(void)!read(end[0], &byte, 1); /* until the parent has gone on */
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_refused(path, EXDEV);
	(void)close(end[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* Now nobody listens there. */
	assert_refused(path, ECONNREFUSED);
	(void)unlink(path);
	for (size_t i = 0; i < ARRAY_SIZE(ready); i++)
		(void)close(ready[i]);
	(void)close(end[0]);
}

static void test_places(void **state)
{
	CLEANUP(sys_close_pointer) struct sys *sys = NULL, *none = NULL;
	struct server server;
	char relative[256] = "";

	(void)state;
	assert_refused("/etc/passwd", ENOTSOCK);
	assert_int_equal(ask(&sys, "/tmp/hvtune-no-such-socket", NULL)->state, SYS_ABSENT);
	assert_int_equal(ask(&none, NULL, NULL)->state, SYS_ABSENT);
	/* Paths longer than an address may be, and relative ones, as QEMU has them in its working directory. */
	CLEANUP(sys_close_pointer) struct sys *other = NULL;
	char *before = getcwd(NULL, 0);

	assert_int_equal(chdir("/tmp"), 0);
	start(&server, "relative", good);
	for (int i = 0; i < 80; i++)
		(void)strcat(relative, "./");
	(void)strcat(relative, strrchr(server.path, '/') + 1);
	assert_int_equal(ask(&other, relative, NULL)->state, SYS_VALUE);
	stop(&server);
	assert_int_equal(chdir(before), 0);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_an_endless_answer_is_cut),
	    cmocka_unit_test(test_another_process_is_not_spoken_to),
	    cmocka_unit_test(test_answers_are_kept_and_nothing_else),
	    cmocka_unit_test(test_no_monitor),
	    cmocka_unit_test(test_one_in_use_is_left_alone),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_silence_is_waited_for_once),
	    cmocka_unit_test(test_what_is_refused_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
