/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of bench's spawner: times, exit codes, output, timeouts with all that was started, signals, words of commands.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "bench_spawn.h"

static struct bench_outcome spawn(const char *script, struct bench_command command)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct bench_outcome outcome = {0};
	struct err err = {0};

	command.argv = argv;
	if (bench_spawn(&command, NULL, &outcome, &err) < 0)
		fail_msg("%s", err.what);
	return outcome;
}

static void test_times_and_codes(void **state)
{
	struct bench_outcome outcome = spawn("sleep 0.1; exit 7", (struct bench_command){0});
	double took_s = (double)(outcome.ended_ns - outcome.began_ns) / 1e9;

	(void)state;
	assert_int_equal(outcome.exit_code, 7);
	assert_int_equal(outcome.signal, 0);
	assert_false(outcome.timed_out || outcome.stopped);
	assert_true(took_s >= 0.1 && took_s < 5);
	assert_true(outcome.user_us + outcome.system_us < 100000);
	assert_null(outcome.output);
	outcome = spawn("i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done", (struct bench_command){0});
	assert_true(outcome.user_us > 10000);
	assert_int_equal(outcome.exit_code, 0);
	outcome = spawn("kill -9 $$", (struct bench_command){0});
	assert_int_equal(outcome.exit_code, -1);
	assert_int_equal(outcome.signal, SIGKILL);
}

static void test_peak_memory(void **state)
{
	static const char *const none[] = {"/bin/true", NULL}, *const some[] = {
								   "/bin/sh", "-c",
								   "x=$(head -c 9000000 /dev/zero | tr '\\0' a); :",
								   NULL};
	struct bench_spawner *spawner = bench_spawner_open();
	const size_t much = (size_t)200 << 20;
	char *memory = malloc(much);
	struct bench_outcome outcome = {0};

	(void)state;
	assert_non_null(memory);
	memset(memory, 1, much);
	/* Of a process that is large by now, nothing is counted: that of a tiny command is its own or not told. */
	assert_int_equal(bench_spawner_run(spawner, &(struct bench_command){.argv = none}, NULL, &outcome, NULL), 0);
	assert_int_equal(outcome.exit_code, 0);
	assert_in_range(outcome.peak_floor_kib, 100, 100 << 10);
	assert_true(outcome.peak_kib == -1 || outcome.peak_kib < 8 << 10);
	assert_int_equal(bench_spawner_run(spawner, &(struct bench_command){.argv = some}, NULL, &outcome, NULL), 0);
#ifndef __SANITIZE_ADDRESS__
	assert_in_range(outcome.peak_floor_kib, 100, 8 << 10);
	assert_in_range(outcome.peak_kib, 9000, 60000);
#endif
	assert_true(bench_spawner_spent_us(spawner) >= 0);
	assert_null(bench_spawner_close(spawner));
	/* One that is started from here cannot be told. */
	assert_int_equal(bench_spawn(&(struct bench_command){.argv = none}, NULL, &outcome, NULL), 0);
	assert_int_equal(outcome.peak_kib, -1);
	assert_true(memory[much - 1] == 1);
	free(memory);
	assert_null(bench_spawner_close(NULL));
}

/* Of what a command starts and does not wait for, too, once it has ended. */
static void test_times_of_what_is_not_waited_for(void **state)
{
	struct bench_outcome outcome = spawn("(i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; echo done >&3) "
					     "3>&1 | (:) & sleep 0.01; wait",
					     (struct bench_command){0});

	(void)state;
	assert_true(outcome.user_us > 10000);
	/* The shell in between ends at once; the one that works comes to the spawner. */
	outcome =
	    spawn("mkfifo $$.f; (setsid sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; : >'$$'.f' &); "
		  ": <$$.f; sleep 0.2; rm $$.f",
		  (struct bench_command){.cwd = "/tmp"});
	assert_int_equal(outcome.exit_code, 0);
	assert_int_equal(outcome.left, 0);
	assert_true(outcome.user_us > 10000);
}

static void test_what_a_command_leaves_is_told(void **state)
{
	struct bench_spawner *spawner = bench_spawner_open();
	const char *const leave[] = {"/bin/sh", "-c", "setsid sleep 30 & echo $!; (sleep 31 &)", NULL};
	const char *const none[] = {"/bin/true", NULL};
	struct bench_command command = {.argv = leave, .output = BENCH_OUTPUT_CAPTURE};
	struct bench_outcome outcome = {0};
	pid_t pid;

	(void)state;
	assert_int_equal(bench_spawner_run(spawner, &command, NULL, &outcome, NULL), 0);
	assert_int_equal(outcome.left, 2);
	assert_true(*outcome.left_names != '\0');
	pid = (pid_t)strtol(outcome.output, NULL, 10);
	bench_outcome_clear(&outcome);
	/* It is left alone (a hook may have started a server), and told once. */
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(bench_spawner_run(spawner, &(struct bench_command){.argv = none}, NULL, &outcome, NULL), 0);
	assert_int_equal(outcome.left, 0);
	/* Nor does a later timeout end it. */
	command.argv = (const char *const[]){"sleep", "47", NULL};
	command.timeout_ns = 50000000;
	assert_int_equal(bench_spawner_run(spawner, &command, NULL, &outcome, NULL), 0);
	bench_outcome_clear(&outcome);
	assert_true(outcome.timed_out);
	assert_int_equal(kill(pid, 0), 0);
	(void)bench_spawner_close(spawner);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

static bool runs(const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	return kill((pid_t)strtol(at + strlen(mark), NULL, 10), 0) == 0;
}

static void test_a_timeout_ends_what_hides(void **state)
{
	struct bench_outcome outcome =
	    spawn("setsid sh -c 'echo a$$; exec sleep 47' & (setsid sh -c \"trap '' TERM; echo b\\$\\$; sleep 47; "
		  "sleep 47\" &); sleep 0.2; sleep 47",
		  (struct bench_command){.output = BENCH_OUTPUT_CAPTURE, .timeout_ns = 800000000});

	(void)state;
	assert_true(outcome.timed_out);
	assert_int_equal(outcome.left, 0);
	assert_non_null(strchr(outcome.output, 'a'));
	assert_non_null(strchr(outcome.output, 'b'));
	assert_false(runs(outcome.output, "a"));
	assert_false(runs(outcome.output, "b"));
	bench_outcome_clear(&outcome);
}

static void test_much_output_is_cut_and_told(void **state)
{
	struct bench_outcome outcome =
	    spawn("head -c 40000000 /dev/zero", (struct bench_command){.output = BENCH_OUTPUT_CAPTURE});

	(void)state;
	assert_int_equal(outcome.exit_code, 0);
	assert_true(outcome.cut);
	assert_int_equal(outcome.output_size, BENCH_MOST_OUTPUT);
	bench_outcome_clear(&outcome);
}

static void test_output_is_kept_apart(void **state)
{
	struct bench_outcome outcome =
	    spawn("echo out; echo err >&2; cat; pwd; echo $WHO",
		  (struct bench_command){.output = BENCH_OUTPUT_CAPTURE,
					 .cwd = "/usr",
					 .environment = (const char *const[]){"WHO=me", "PATH=/usr/bin:/bin", NULL}});

	(void)state;
	assert_string_equal(outcome.output, "out\n/usr\nme\n");
	assert_string_equal(outcome.errors, "err\n");
	assert_int_equal(outcome.output_size, strlen(outcome.output));
	bench_outcome_clear(&outcome);
	/* Much on both, in turns: neither may stand in the other's way. */
	outcome = spawn("for i in 1 2 3 4 5 6 7 8; do head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; done",
			(struct bench_command){.output = BENCH_OUTPUT_CAPTURE});
	assert_int_equal(outcome.output_size, 2400000);
	assert_int_equal(outcome.errors_size, 2400000);
	bench_outcome_clear(&outcome);
	/* One that holds the pipe open in the background does not hold the run up. */
	outcome = spawn("sleep 3 & echo done", (struct bench_command){.output = BENCH_OUTPUT_CAPTURE});
	assert_string_equal(outcome.output, "done\n");
	assert_true(outcome.ended_ns - outcome.began_ns < 2000000000);
	bench_outcome_clear(&outcome);
}

static void test_a_timeout_ends_all_that_was_started(void **state)
{
	struct bench_outcome outcome =
	    spawn("sleep 47 & echo $!; sleep 47",
		  (struct bench_command){.output = BENCH_OUTPUT_CAPTURE, .timeout_ns = 300000000});
	pid_t child = (pid_t)strtol(outcome.output, NULL, 10);

	(void)state;
	assert_true(outcome.timed_out);
	assert_false(outcome.stopped);
	assert_int_equal(outcome.signal, SIGTERM);
	assert_true(outcome.ended_ns - outcome.began_ns < 5000000000);
	assert_true(child > 1);
	for (int i = 0; i < 100 && kill(child, 0) == 0; i++)
		(void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	assert_true(kill(child, 0) < 0);
	bench_outcome_clear(&outcome);
	/* One that does not listen. */
	outcome = spawn("trap '' TERM; sleep 47; sleep 47", (struct bench_command){.timeout_ns = 100000000});
	assert_true(outcome.timed_out);
	assert_int_equal(outcome.signal, SIGKILL);
}

static void test_a_signal_stops(void **state)
{
	const char *const argv[] = {"/bin/sleep", "47", NULL};
	const struct bench_command command = {.argv = argv};
	struct bench_signals signals;
	struct bench_outcome outcome = {0};
	struct err err = {0};
	pid_t own = getpid(), child;

	(void)state;
	bench_signals_hold(&signals);
	assert_false(bench_signals_came(&signals));
	child = fork();
	if (child == 0) {
		(void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
		_exit(kill(own, SIGINT) != 0);
	}
	assert_int_equal(bench_spawn(&command, &signals, &outcome, &err), 0);
	assert_true(outcome.stopped);
	assert_false(outcome.timed_out);
	assert_int_equal(outcome.signal, SIGTERM);
	assert_true(bench_signals_came(&signals));
	assert_true(bench_signals_wait(&signals, 10000000000));
	bench_signals_release(&signals);
	(void)waitpid(child, NULL, 0);
}

static void test_what_cannot_be_run(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *const argv[] = {"/etc/passwd", NULL};
	const struct bench_command no_program = {.argv = argv},
				   no_folder = {.argv = (const char *const[]){"true", NULL}, .cwd = "/nowhere"};
	struct bench_outcome outcome = {0};
	struct err err = {0};
	const char *found;

	(void)state;
	assert_int_equal(bench_spawn(&no_program, NULL, &outcome, &err), -EACCES);
	assert_string_equal(err.where, "/etc/passwd");
	assert_int_equal(bench_spawn(&no_folder, NULL, &outcome, &err), -ENOENT);
	assert_string_equal(err.where, "/nowhere");
	assert_int_equal(bench_find_program(arena, "sh", &found, &err), 0);
	assert_int_equal(access(found, X_OK), 0);
	assert_int_equal(bench_find_program(arena, "/bin/sh", &found, &err), 0);
	assert_string_equal(found, "/bin/sh");
	assert_int_equal(bench_find_program(arena, "no-such-program", &found, &err), -ENOENT);
	assert_true(*err.hint);
	assert_int_equal(bench_find_program(arena, "/etc/passwd", &found, &err), -EACCES);
}

static void test_words(void **state)
{
	static const struct {
		const char *text, *words; /* with '|' between them; NULL: refused */
		int code;
	} cases[] = {
	    {"make -j32", "make|-j32", 0},
	    {"  a\tb\n c ", "a|b|c", 0},
	    {"a 'b c' \"d e\" f\\ g", "a|b c|d e|f g", 0},
	    {"a '' b", "a||b", 0},
	    {"a'b'\"c\"d", "abcd", 0},
	    {"a \"x\\\"y\\\\\" 'x\\y'", "a|x\"y\\|x\\y", 0},
	    {"a 'x|y;$z' b", "a|x|y;$z|b", 0},
	    {"a~b c#d e!f", "a~b|c#d|e!f", 0},
	    {"", NULL, -EINVAL},
	    {"   ", NULL, -EINVAL},
	    {"''", NULL, -EINVAL},
	    {"a 'b", NULL, -EINVAL},
	    {"a \"b", NULL, -EINVAL},
	    {"a | b", NULL, -ENOTSUP},
	    {"a > b", NULL, -ENOTSUP},
	    {"a; b", NULL, -ENOTSUP},
	    {"a $HOME", NULL, -ENOTSUP},
	    {"a \"$HOME\"", NULL, -ENOTSUP},
	    {"a `b`", NULL, -ENOTSUP},
	    {"ls *.c", NULL, -ENOTSUP},
	    {"ls ~", NULL, -ENOTSUP},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		const char *const *words = NULL, *joined = "";
		struct err err = {0};

		assert_int_equal(bench_words(arena, cases[i].text, &words, &err), cases[i].code);
		assert_true((words != NULL) == (cases[i].code == 0));
		for (size_t j = 0; words && words[j]; j++)
			joined = arena_printf(arena, "%s%s%s", joined, j ? "|" : "", words[j]);
		if (words) {
			const char *const *again = NULL;
			const char *text = bench_words_text(arena, words);

			assert_string_equal(joined, cases[i].words);
			/* What is put together is cut the same. */
			assert_int_equal(bench_words(arena, text, &again, &err), 0);
			for (size_t j = 0; words[j] || again[j]; j++)
				assert_string_equal(words[j], again[j]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_times_and_codes),
	    cmocka_unit_test(test_peak_memory),
	    cmocka_unit_test(test_times_of_what_is_not_waited_for),
	    cmocka_unit_test(test_what_a_command_leaves_is_told),
	    cmocka_unit_test(test_a_timeout_ends_what_hides),
	    cmocka_unit_test(test_much_output_is_cut_and_told),
	    cmocka_unit_test(test_output_is_kept_apart),
	    cmocka_unit_test(test_a_timeout_ends_all_that_was_started),
	    cmocka_unit_test(test_a_signal_stops),
	    cmocka_unit_test(test_what_cannot_be_run),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("bench_spawn", tests, NULL, NULL);
}
