/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the commands that change a machine share. */
#include "change.h"

#include <errno.h>
#include <limits.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "knob_apply.h"
#include "knob_rivals.h"
#include "progress.h"
#include "report.h"
#include "report_knob.h"
#include "text.h"

enum { SETTLE_MS = 2000, SETTLE_MOST_S = 600 };

/* ---- the machine ---- */

int change_open(const struct cli *cli, struct knob_machine *ret)
{
	/* Both are --host; the commands that only look take more kinds of it. */
	const char *given = cli->values[OPTION_ROOT] ? cli->values[OPTION_ROOT] : cli->values[OPTION_HOST];
	const char *root = given ? given : "/";
	struct err err = {0};
	struct stat info = {0};
	char real[PATH_MAX];

	if (!text_equal(root, "-") && stat(root, &info) < 0) {
		(void)err_set(&err, errno, root, "cannot open this host: %s", sys_reason(errno));
		return cli_fail(&err);
	}
	if (text_equal(root, "-") || !S_ISDIR(info.st_mode)) {
		(void)err_set(&err, ENOTDIR, root, "only this machine or a directory can be changed");
		(void)err_hint(&err, "unpack an archive first, and give its directory");
		return cli_fail(&err);
	}
	/* "/." is this machine too. */
	if (realpath(root, real) && text_equal(real, "/"))
		root = "/";
	if (knob_machine_open(root, NULL, ret, &err) < 0)
		return cli_fail(&err);
	ret->no_trial = cli_given(cli, OPTION_NO_TRIAL);
	if (sys_has_dir(ret->sys, "/sys") || sys_has_dir(ret->sys, "/proc"))
		return 0;
	knob_machine_close(ret);
	(void)err_set(&err, ENOENT, root, "no machine in here: neither sys/ nor proc/ below it");
	return cli_fail(&err);
}

int change_needs_root(const struct cli *cli, const struct knob_machine *machine)
{
	struct err err = {0};

	if (!sys_writer_is_live(machine->writer) || geteuid() == 0)
		return 0;
	(void)err_set(&err, EPERM, NULL, "changing this machine needs root: sudo hvtune %s ...", cli->command->name);
	return cli_fail(&err);
}

/* ---- options ---- */

int change_check_options(const struct cli *cli)
{
	if (cli_given(cli, OPTION_YES) && cli_given(cli, OPTION_DRY_RUN))
		return cli_usage(cli, "--yes and --dry-run exclude each other");
	if (cli_given(cli, OPTION_JSON) && !cli_given(cli, OPTION_YES) && !cli_given(cli, OPTION_DRY_RUN))
		return cli_usage(cli, "--json does not ask: add --dry-run to look or --yes to apply");
	return 0;
}

/* --settle, or what suits the machine: files in a directory move by nobody. */
static int read_settle(const struct cli *cli, const struct knob_machine *machine, unsigned *ret_ms)
{
	const char *text = cli->values[OPTION_SETTLE];
	char *end = NULL;
	double seconds;

	*ret_ms = sys_writer_is_live(machine->writer) ? SETTLE_MS : 0;
	if (!text)
		return 0;
	seconds = strtod(text, &end);
	if (end == text || *end || !(seconds >= 0 && seconds <= SETTLE_MOST_S))
		return cli_usage(cli, "--settle takes seconds from 0 to %d, but got \"%s\"", SETTLE_MOST_S, text);
	*ret_ms = (unsigned)(seconds * 1000);
	return 0;
}

/* ---- asking ---- */

static bool read_answer(char *ret, size_t size)
{
	if (!fgets(ret, (int)size, stdin))
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static int ask_for_hole(const struct cli *cli, const struct knob_plan *plan)
{
	char answer[256];

	if (!plan->hole || cli_given(cli, OPTION_ACCEPT_RISK))
		return 0;
	if (cli_given(cli, OPTION_YES) || !isatty(STDIN_FILENO))
		return cli_usage(cli, "%s opens a security hole; add --accept-risk if that is wanted", plan->hole);
	(void)fprintf(stderr, "This opens a security hole. To go on, type %s: ", plan->hole);
	if (read_answer(answer, sizeof(answer)) && text_equal(answer, plan->hole))
		return 0;
	(void)fputs("Not typed: nothing is changed.\n", stderr);
	return EXIT_FINDINGS;
}

/* 0 when it may go on, else an exit code. */
static int consent(const struct cli *cli, const struct knob_plan *plan)
{
	char answer[16];
	int r;

	if (!cli_given(cli, OPTION_YES) && !isatty(STDIN_FILENO))
		return cli_usage(cli, "there is no terminal to ask on: add --yes to apply or --dry-run to look");
	(void)fflush(stdout);
	r = ask_for_hole(cli, plan);
	if (r || cli_given(cli, OPTION_YES))
		return r;
	(void)fputs("apply? [y/N] ", stderr);
	if (read_answer(answer, sizeof(answer)) && (text_equal(answer, "y") || text_equal(answer, "yes")))
		return 0;
	(void)fputs("Nothing is changed.\n", stderr);
	return EXIT_FINDINGS;
}

/* ---- signals ---- */

void change_hold_signals(struct change_signals *signals)
{
	sigset_t held;

	(void)sigemptyset(&held);
	(void)sigaddset(&held, SIGINT);
	(void)sigaddset(&held, SIGTERM);
	(void)sigaddset(&held, SIGHUP);
	(void)sigaddset(&held, SIGQUIT);
	(void)sigprocmask(SIG_BLOCK, &held, &signals->before);
	signals->fd = signalfd(-1, &held, SFD_NONBLOCK | SFD_CLOEXEC);
	/* Not asked about, but a closed pipe must not end it half-way either. */
	(void)sigaddset(&held, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &held, NULL);
}

bool change_signalled(struct change_signals *signals)
{
	struct signalfd_siginfo info;

	return signals->fd >= 0 && read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info);
}

void change_release_signals(struct change_signals *signals)
{
	while (change_signalled(signals))
		;
	if (signals->fd >= 0)
		(void)close(signals->fd);
	(void)sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

/* ---- applying ---- */

struct applying {
	struct change_signals signals;
	struct progress progress;
	struct timespec asked; /* when signals were looked for */
};

/* Asked before every write; one look in 10 ms is soon enough, and no system call for each of 8192 CPUs. */
static bool is_stopped(void *data)
{
	struct applying *applying = data;
	struct timespec now;
	int64_t passed_ms;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	passed_ms =
	    (int64_t)(now.tv_sec - applying->asked.tv_sec) * 1000 + (now.tv_nsec - applying->asked.tv_nsec) / 1000000;
	if (passed_ms < 10)
		return false;
	applying->asked = now;
	return change_signalled(&applying->signals);
}

static void tell(void *data, size_t written, size_t count)
{
	struct applying *applying = data;

	if (written < count)
		progress_show(&applying->progress, "writing, %zu of %zu", written, count);
	else
		progress_show(&applying->progress, "all is written; looking whether it stays so");
}

static const char *state_of(int r, const struct knob_report *report)
{
	return r == 0		      ? "applied"
	       : !report->rolled_back ? "half done"
	       : report->interrupted  ? "interrupted"
				      : "rolled back";
}

static void print_outcome(const struct cli *cli, const struct knob_machine *machine, const struct knob_plan *plan,
			  const struct knob_report *report, int r)
{
	if (r == 0) {
		term_flow(&cli->out, 0, true,
			  arena_printf(machine->arena, "Done, as change %u. To put it back: hvtune undo %u%s%s.",
				       report->id, report->id, plan->follows ? ". For all of it to act: " : "",
				       plan->follows ? plan->follows : ""));
		return;
	}
	(void)fputc('\n', cli->out.out);
	report_knob_events(&cli->out, machine->arena, report);
}

/* After a failure: one line on standard error, and the code. */
static int explain_failure(const struct knob_report *report, struct err *err)
{
	if (!report->rolled_back)
		(void)err_hint(err, "not everything could be put back: hvtune undo %u tries again", report->id);
	else if (report->interrupted)
		(void)err_hint(err, "everything is as before");
	else
		(void)err_hint(err, "everything was put back");
	(void)cli_fail(err);
	return report->rolled_back && !report->interrupted ? EXIT_FINDINGS : EXIT_COULD_NOT;
}

int change_tell_damage(const char *damage)
{
	if (!damage)
		return EXIT_FINE;
	(void)fprintf(stderr, "hvtune: %s\n", damage);
	return EXIT_FINDINGS;
}

/* What is going on, and where its JSON goes: `part` of `json`; NULL: as text. */
struct running {
	const struct cli *cli;
	struct knob_machine *machine;
	const char *what;
	const struct knob_plan *plan;
	json_t *json, *part;
};

static int apply(const struct running *running, unsigned settle_ms)
{
	struct applying applying = {.progress = progress_start()};
	const struct knob_apply_options options = {
	    .what = running->what, .settle_ms = settle_ms, .stop = is_stopped, .tell = tell, .data = &applying};
	struct knob_report report = {0};
	struct err err = {0};
	int r;

	change_hold_signals(&applying.signals);
	r = knob_apply(running->machine, running->plan, &options, &report, &err);
	progress_end(&applying.progress);
	change_release_signals(&applying.signals);
	(void)change_tell_damage(report.damage);
	/* It did not even begin. */
	if (r < 0 && report.id == 0)
		return cli_fail(&err);
	if (running->json) {
		json_object_set_new(running->part, "result",
				    json_pack("{s:s, s:i, s:o, s:o}", "state", state_of(r, &report), "id",
					      (int)report.id, "error", r < 0 ? report_json_text(err.what) : json_null(),
					      "events", report_knob_events_json(&report)));
		(void)report_json_print(stdout, json_incref(running->json));
	} else {
		print_outcome(running->cli, running->machine, running->plan, &report, r);
	}
	return r < 0 ? explain_failure(&report, &err) : EXIT_FINE;
}

static json_t *asks_json(const struct cli *cli, const struct change_request *request)
{
	json_t *json = report_json_start(cli->command->name, NULL), *asks = json_array();
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	for (size_t i = 0; i < request->count; i++) {
		const struct knob_ask *ask = &request->asks[i];

		json_array_append_new(
		    asks, report_json_text(arena_printf(arena, "%s%s%s=%s", ask->name, ask->where ? "@" : "",
							ask->where ? ask->where : "", ask->value)));
	}
	json_object_set_new(json, "asks", asks);
	return json;
}

static void release(json_t **json)
{
	json_decref(*json);
}

/* After the plan was shown. */
static int go_on(const struct running *running)
{
	unsigned settle_ms;
	int r = read_settle(running->cli, running->machine, &settle_ms);

	if (r)
		return r;
	if (cli_given(running->cli, OPTION_DRY_RUN) || !running->plan->points.count) {
		if (running->json)
			(void)report_json_print(stdout, json_incref(running->json));
		return EXIT_FINE;
	}
	r = change_needs_root(running->cli, running->machine);
	if (r == 0)
		r = consent(running->cli, running->plan);
	return r ? r : apply(running, settle_ms);
}

int change_run_plan(const struct cli *cli, struct knob_machine *machine, const char *what, struct knob_plan *plan,
		    json_t *json, json_t *part)
{
	const struct running running = {cli, machine, what, plan, json, part};

	knob_rivals_note(machine, plan);
	if (json)
		report_knob_plan_json(part, plan);
	else
		report_knob_plan(&cli->out, machine->arena, plan);
	return go_on(&running);
}

int change_run(const struct cli *cli, struct knob_machine *machine, const struct change_request *request)
{
	CLEANUP(release) json_t *json = NULL;
	struct knob_plan plan = {0};
	struct err err = {0};
	int r = knob_plan_make(machine, request->asks, request->count, &plan, &err);

	if (r < 0) {
		(void)cli_fail(&err);
		return r == -EINVAL || r == -ERANGE ? EXIT_USAGE : EXIT_COULD_NOT;
	}
	if (request->look) {
		r = request->look(cli, machine, &plan, request->data);
		if (r)
			return r;
	}
	if (cli_given(cli, OPTION_JSON))
		json = asks_json(cli, request);
	return change_run_plan(cli, machine, request->what, &plan, json, json);
}
