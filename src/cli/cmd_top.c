/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune top`: when to read, and where it goes. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "change.h"
#include "cli.h"
#include "meter_sampler.h"
#include "sys.h"
#include "text.h"
#include "top_screen.h"

enum { LEAST_S = 1, MOST_S = 10, USUAL_S = 2 };

struct top {
	const struct cli *cli;
	struct watch *watch;
	struct change_signals signals;
	int resized;	       /* signalfd of SIGWINCH, -1 without a screen */
	struct screen *screen; /* NULL: --batch or --prometheus */
	double period_s;
	int64_t times; /* views to show; 0: until it is stopped */
	bool cpus;
	int first; /* line on top of the screen */
	bool done;
};

/* ---- options ---- */

static int read_options(struct top *top)
{
	const struct cli *cli = top->cli;
	const char *period = cli->values[OPTION_REFRESH], *times = cli->values[OPTION_TIMES];
	char *end;

	top->period_s = USUAL_S;
	if (period) {
		top->period_s = strtod(period, &end);
		if (end == period || *end || !(top->period_s >= LEAST_S && top->period_s <= MOST_S))
			return cli_usage(cli, "--refresh takes seconds from %d to %d, not \"%s\"", LEAST_S, MOST_S,
					 period);
	}
	if (times && (text_int(times, 10, &top->times) < 0 || top->times < 1))
		return cli_usage(cli, "--times takes a number from 1 on, not \"%s\"", times);
	if (cli->argument_count)
		return cli_usage(cli, "top takes no argument, but got \"%s\"", cli->arguments[0]);
	if (!cli_given(cli, OPTION_BATCH) && !cli_given(cli, OPTION_PROMETHEUS) &&
	    (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return cli_usage(
		    cli, "there is no terminal to draw on: --batch prints CSV, --prometheus FILE writes a file");
	top->cpus = cli_given(cli, OPTION_CPUS);
	return 0;
}

/* ---- files ---- */

static int write_prometheus(const char *path, const struct watch_view *view, struct err *err)
{
	CLEANUP(base_free) char *data = NULL;
	size_t size = 0;
	CLEANUP(base_fclose) FILE *out = open_memstream(&data, &size);

	if (!out)
		err_no_memory();
	report_watch_prometheus(out, view);
	base_fclose(&out);
	return cli_replace_file(path, data, size, err);
}

/* ---- the screen ---- */

static void draw(struct top *top, const struct watch_view *view)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct watch_look look = {.utf8 = top->cli->out.utf8, .cpus = top->cpus, .period_s = top->period_s};
	const struct watch_line *lines;
	int rows;

	screen_size(top->screen, &look.width, &rows);
	int count = report_watch_lines(arena, view, &look, &lines);

	top->first = MAX_OF(MIN_OF(top->first, count - rows + 1), 0);
	screen_draw(top->screen, lines, count, top->first,
		    arena_printf(arena, "%.*s", look.width, "q quit  c CPUs  arrows scroll  + - how often"));
}

/* Keys that were pressed. Does the picture change by them? */
static bool take_keys(struct top *top)
{
	bool changed = false;
	int columns, rows;

	screen_size(top->screen, &columns, &rows);
	for (enum screen_key key = screen_key(top->screen); key != SCREEN_NONE && !top->done;
	     key = screen_key(top->screen)) {
		static const int steps[] = {[SCREEN_UP] = -1,
					    [SCREEN_DOWN] = 1,
					    [SCREEN_PAGE_UP] = -10,
					    [SCREEN_PAGE_DOWN] = 10,
					    [SCREEN_SLOWER] = 0};

		changed = true;
		top->done |= key == SCREEN_QUIT;
		top->cpus ^= key == SCREEN_CPUS;
		top->first = MAX_OF(top->first + steps[key], 0);
		if (key == SCREEN_FASTER)
			top->period_s = fmax(LEAST_S, top->period_s - 1);
		if (key == SCREEN_SLOWER)
			top->period_s = fmin(MOST_S, top->period_s + 1);
	}
	return changed;
}

/* ---- time ---- */

/* Until `until_ns`, or something that ends it. Keys and a new size change the picture at once. */
static void wait_until(struct top *top, int64_t until_ns, const struct watch_view *view)
{
	for (int64_t now_ns = meter_now_ns(); !top->done && now_ns < until_ns; now_ns = meter_now_ns()) {
		struct pollfd fds[] = {{.fd = top->signals.fd, .events = POLLIN},
				       {.fd = top->resized, .events = POLLIN},
				       {.fd = top->screen ? STDIN_FILENO : -1, .events = POLLIN}};
		int64_t left_ns = until_ns - now_ns;
		struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000),
					.tv_nsec = (long)(left_ns % 1000000000)};
		struct signalfd_siginfo info;
		bool changed = false;

		if (ppoll(fds, ARRAY_SIZE(fds), &left, NULL) <= 0)
			continue;
		top->done |= fds[0].revents != 0;
		while (fds[1].revents && read(top->resized, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
			screen_resized(top->screen);
			changed = true;
		}
		/* A terminal that has gone away is always ready and gives nothing. */
		top->done |= (fds[2].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
		if (fds[2].revents & POLLIN)
			changed |= take_keys(top);
		if (changed && !top->done)
			draw(top, view);
	}
}

static int show(struct top *top, const struct watch_view *view, struct err *err)
{
	const char *path = top->cli->values[OPTION_PROMETHEUS];

	if (top->screen)
		draw(top, view);
	if (cli_given(top->cli, OPTION_BATCH)) {
		errno = 0;
		report_watch_csv(stdout, view, top->cpus);
		/* Nobody reads it any more: that is how `head` ends it. */
		top->done |= ferror(stdout) != 0;
		if (ferror(stdout) && errno != EPIPE) {
			int errnum = errno ? errno : EIO;

			clearerr(stdout);
			return err_set(err, errnum, "standard output", "cannot write: %s", sys_reason(errnum));
		}
	}
	return path ? write_prometheus(path, view, err) : 0;
}

static int go_on(struct top *top, struct err *err)
{
	int64_t next_ns = meter_now_ns(), shown = 0;
	const struct watch_view *view = watch_read(top->watch);

	if (cli_given(top->cli, OPTION_BATCH))
		report_watch_csv_head(stdout);
	/* What is counted needs two readings: a log begins with the second one, the screen does not wait for it. */
	if (top->screen)
		draw(top, view);
	while (!top->done) {
		next_ns += (int64_t)(top->period_s * 1e9);
		/* After a machine has slept, or a slow read, the missed ones are not made up for. */
		next_ns = MAX_OF(next_ns, meter_now_ns());
		wait_until(top, next_ns, view);
		if (top->done)
			break;
		view = watch_read(top->watch);
		int r = show(top, view, err);

		if (r < 0)
			return r;
		shown++;
		top->done |= top->times && shown >= top->times;
	}
	return 0;
}

static int open_resized(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGWINCH);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int cmd_top(struct cli *cli)
{
	struct top top = {.cli = cli, .resized = -1};
	CLEANUP(watch_close_pointer) struct watch *watch = NULL;
	struct err err = {0};
	int r = read_options(&top);

	if (r)
		return r;
	if (watch_open(cli->values[OPTION_HOST], cli->values[OPTION_CONNECT], &watch, &err) < 0)
		return cli_fail(&err);
	top.watch = watch;
	change_hold_signals(&top.signals);
	if (!cli_given(cli, OPTION_BATCH) && !cli_given(cli, OPTION_PROMETHEUS)) {
		top.resized = open_resized();
		r = screen_open(&top.screen, &err);
	}
	if (r >= 0)
		r = go_on(&top, &err);
	top.screen = screen_close(top.screen);
	if (top.resized >= 0)
		(void)close(top.resized);
	change_release_signals(&top.signals);
	return r < 0 ? cli_fail(&err) : EXIT_FINE;
}
