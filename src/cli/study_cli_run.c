/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune study run`: the look at the machine first, consent, progress, and the answer. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "change.h"
#include "measure.h"
#include "report.h"
#include "report_study.h"
#include "study_hand.h"
#include "study_cli_boot.h"
#include "study_meter.h"
#include "study_ready.h"
#include "study_suit.h"
#include "study_time.h"
#include "text.h"

struct telling {
	struct measure *measure;
	const struct study *study;
	const struct study_matrix *matrix;
};

static void tell(void *data, const struct study_progress *now)
{
	struct telling *telling = data;
	double left = telling->study->budget_s - now->spent_s;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	if (now->left_s > 0)
		progress_show(&telling->measure->progress, "%s, %s; %s, %.0f s left", now->step->words, now->config,
			      now->settles ? "letting it settle" : "measuring", now->left_s);
	else if (telling->study->budget_s > 0 && left > 0)
		progress_show(&telling->measure->progress, "%s, %s; run %zu, at most %s left", now->step->words,
			      now->config, now->runs + 1, text_duration(arena, left));
	else
		progress_show(&telling->measure->progress, "%s, %s; run %zu, %s so far", now->step->words, now->config,
			      now->runs + 1, text_duration(arena, now->spent_s));
}

/* "targets" and "answer"; null when nothing was measured that has one. */
static void put_answer(json_t *json, const struct study_matrix *matrix, const struct study_outcome *outcome)
{
	struct study_verdict verdict;
	bool any = study_verdict(outcome->engine, outcome->seen, outcome->count, NULL, &verdict, NULL) == 0;

	json_object_set_new(json, "targets", report_study_answer_json(matrix, outcome));
	json_object_set_new(json, "answer",
			    any ? report_study_verdict_json(outcome->arena, matrix, &verdict) : json_null());
}

const char *study_cli_answer(const struct study_matrix *matrix, const struct study_outcome *outcome)
{
	json_t *json = json_object();

	put_answer(json, matrix, outcome);
	char *text = json_dumps(json, JSON_COMPACT);
	const char *kept = text ? arena_strdup(outcome->arena, text) : NULL;

	free(text);
	json_decref(json);
	return kept;
}

static const char *answer(void *data, const struct study_outcome *outcome)
{
	const struct telling *telling = data;

	return study_cli_answer(telling->matrix, outcome);
}

static bool has_risk(const struct study_checked *checked)
{
	for (size_t i = 0; i < checked->count; i++)
		if (checked->problems[i].kind == STUDY_RISK)
			return true;
	return false;
}

/* A person has done what it waited for: he was asked when it began. */
static bool is_answered(const struct cli *cli)
{
	return cli_given(cli, OPTION_DONE) || cli_given(cli, OPTION_CANNOT);
}

/* Can consent be had at all? Told before workloads are tried, which may take an hour. */
static int can_consent(const struct cli *cli, const struct study_checked *checked)
{
	if (has_risk(checked) && !cli_given(cli, OPTION_ACCEPT_RISK) && !is_answered(cli))
		return cli_usage(cli,
				 "the study opens a security hole while it runs; add --accept-risk if that is wanted");
	if (!cli_given(cli, OPTION_YES) && !is_answered(cli) && !isatty(STDIN_FILENO))
		return cli_usage(cli, "there is no terminal to ask on: add --yes to run it, or `study check` to look");
	return 0;
}

static int consent(const struct cli *cli, const struct study_checked *checked)
{
	char answer[16];
	int r = can_consent(cli, checked);

	if (r || cli_given(cli, OPTION_YES) || is_answered(cli))
		return r;
	(void)fflush(stdout);
	(void)fputs("run it? [y/N] ", stderr);
	if (fgets(answer, sizeof(answer), stdin) && (text_equal(answer, "y\n") || text_equal(answer, "yes\n")))
		return 0;
	(void)fputs("Nothing is changed.\n", stderr);
	return EXIT_FINDINGS;
}

/* Does it set anything? Then root is needed. */
static bool sets_knobs(const struct study *study)
{
	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			if (study->factors[f].levels[l].ask_count)
				return true;
	return false;
}

static void look_first(struct measure *measure, const struct study_matrix *matrix, struct study_checked *ret)
{
	study_check(&measure->machine, matrix, ret);
	study_meter_check(measure->arena, matrix->study, measure->meters, ret);
}

static int look(const struct cli *cli, struct measure *measure, const struct study_matrix *matrix)
{
	struct study_checked checked;

	look_first(measure, matrix, &checked);
	if ((!cli_given(cli, OPTION_JSON) && !is_answered(cli)) || !checked.possible)
		report_study_check(&cli->out, measure->arena, matrix, &checked);
	if (!checked.possible)
		return EXIT_COULD_NOT;
	if (study_needs_boots(matrix->study) && !cli_given(cli, OPTION_JSON))
		study_cli_foretell(cli, measure->arena, matrix);
	return consent(cli, &checked);
}

static void print_json(const char *command, const struct study_matrix *matrix, const struct study_outcome *outcome,
		       const struct study_estimate *announced, const struct study_state *state, bool kept)
{
	json_t *json = report_json_start(command, NULL);

	json_object_set_new(json, "study", report_json_text(matrix->study->name));
	json_object_set_new(json, "uid", report_json_text(outcome->uid));
	json_object_set_new(json, "session", kept ? json_integer(outcome->session) : json_null());
	json_object_set_new(json, "state", report_json_text(outcome->asks ? "asks" : outcome->state));
	json_object_set_new(json, "asks", study_cli_asks_json(state));
	json_object_set_new(json, "why", report_json_text(outcome->why));
	json_object_set_new(json, "runs", json_integer((json_int_t)outcome->count));
	json_object_set_new(json, "void", json_integer((json_int_t)outcome->void_count));
	json_object_set_new(json, "seconds", json_real(outcome->spent_s));
	json_object_set_new(json, "restored", json_boolean(outcome->restored));
	json_object_set_new(json, "not_put_back", report_json_text(outcome->stuck));
	json_object_set_new(json, "left_alone", report_json_text(outcome->left));
	json_object_set_new(json, "leaves_running", report_json_text(outcome->running));
	json_object_set_new(json, "foreign", measure_number_json(outcome->foreign));
	json_object_set_new(json, "without_energy", measure_lack_json(&outcome->lack));
	json_object_set_new(json, "announced_s",
			    announced->run_s > 0
				? json_pack("[f, f]", announced->whole_least_s, announced->whole_most_s)
				: json_null());
	put_answer(json, matrix, outcome);
	(void)report_json_print(stdout, json);
}

static const char *took(const struct study_outcome *outcome, const struct study_estimate *announced)
{
	const char *length = report_study_length(outcome->arena, announced);

	return arena_printf(outcome->arena, "%s%s%s", text_duration(outcome->arena, outcome->spent_s),
			    length ? "; announced were " : "", length ? length : "");
}

void study_cli_print_left(const struct cli *cli, const struct study_outcome *outcome)
{
	if (outcome->stuck)
		term_flow(&cli->out, 0, true, arena_printf(outcome->arena, "Not put back: %s.", outcome->stuck));
	if (outcome->left)
		term_flow(&cli->out, 0, true,
			  arena_printf(outcome->arena,
				       "Not put back, since somebody else has set it: %s; `hvtune set` sets it.",
				       outcome->left));
	measure_print_disturbed(&cli->out, "a workload", outcome->running, outcome->foreign);
}

/* What it took, whether the machine is as it was, and what the runs were disturbed by. */
static void print_end(const struct cli *cli, const struct study_outcome *outcome,
		      const struct study_estimate *announced)
{
	term_flow(&cli->out, 0, true,
		  arena_printf(outcome->arena, "%s, %s, %s; %s.",
			       text_count(outcome->arena, (long long)outcome->count, "run", "runs"),
			       text_count(outcome->arena, outcome->switches, "switch", "switches"),
			       took(outcome, announced),
			       outcome->restored ? "all settings are as before" : "not all is as it was before"));
	study_cli_print_left(cli, outcome);
}

/* Is the study as sure of the best of all it sought as was asked for? */
static bool is_sure(const struct study_outcome *outcome)
{
	const struct study_target *targets;
	size_t count = study_engine_targets(outcome->engine, &targets);
	struct study_answer answer;

	for (size_t t = 0; t < count; t++)
		if (study_answer(outcome->engine, t, outcome->seen, outcome->count, &answer, NULL) < 0 || !answer.sure)
			return false;
	return true;
}

static int print_outcome(const struct cli *cli, const char *command, const struct study_matrix *matrix,
			 const struct study_outcome *outcome, const struct study_estimate *announced,
			 const struct study_state *state)
{
	if (cli_given(cli, OPTION_JSON)) {
		print_json(command, matrix, outcome, announced, state, !cli_given(cli, OPTION_NO_STORE));
	} else if (outcome->asks) {
		print_end(cli, outcome, announced);
	} else {
		if (outcome->why)
			term_flow(&cli->out, 0, true,
				  arena_printf(outcome->arena, "Ended early: %s. What it has so far:", outcome->why));
		report_study_answer(&cli->out, matrix, outcome);
		struct study_verdict verdict;

		if (study_verdict(outcome->engine, outcome->seen, outcome->count, NULL, &verdict, NULL) == 0)
			report_study_verdict(&cli->out, outcome->arena, matrix, &verdict);
		print_end(cli, outcome, announced);
		measure_print_kept(&cli->out, cli_given(cli, OPTION_NO_STORE) ? 0 : outcome->session);
	}
	if (outcome->asks)
		return EXIT_FINDINGS;
	if (!text_equal(outcome->state, "done"))
		return EXIT_COULD_NOT;
	return outcome->what == STUDY_DONE && is_sure(outcome) ? EXIT_FINE : EXIT_FINDINGS;
}

/* The best of the first target, where it was confirmed to be better than the baseline; else the baseline. */
static size_t best_of(const struct study_matrix *matrix, const struct study_outcome *outcome)
{
	struct stat_compare compare;

	return outcome->incumbent >= 0 && outcome->incumbent != (int)matrix->baseline &&
		       study_confirmed(outcome->engine, 0, outcome->seen, outcome->count, outcome->incumbent, &compare,
				       NULL) == 0 &&
		       compare.verdict == STAT_LOWER
		   ? (size_t)outcome->incumbent
		   : matrix->baseline;
}

/* The best of the first target through plan and journal; or how to do it by hand. */
static int keep_best(const struct cli *cli, struct measure *measure, const struct study_cli_job *job,
		     const struct study_matrix *matrix, const struct study_outcome *outcome)
{
	struct change_request request = {0};
	size_t best = best_of(matrix, outcome);
	struct knob_ask *asks;
	const char *words = "";

	if (best == matrix->baseline)
		return EXIT_FINE;
	request.count = study_host_asks(measure->arena, matrix, best, &asks);
	request.asks = asks;
	for (size_t i = 0; i < request.count; i++)
		words = arena_printf(measure->arena, "%s %s=%s", words, knob_ask_name(measure->arena, &asks[i]),
				     asks[i].value);
	/* What hooks make is for who wrote them. */
	if (!request.count)
		return EXIT_FINE;
	if (!job->apply && !job->study->leave_best) {
		if (!cli_given(cli, OPTION_JSON))
			term_flow(&cli->out, 0, true, arena_printf(measure->arena, "To keep it: hvtune set%s", words));
		return EXIT_FINE;
	}
	request.what = arena_printf(measure->arena, "best of %s:%s", job->study->name, words);
	return change_run(cli, &measure->machine, &request);
}

static void print_left_out(const struct cli *cli, struct arena *arena, const struct study_left_out *left_out)
{
	for (size_t i = 0; i < left_out->count && !cli_given(cli, OPTION_JSON); i++)
		term_flow(&cli->out, 0, true, arena_printf(arena, "left out: %s", left_out->texts[i]));
}

/* A study that holds, or waits for a person, is told of until somebody goes on with it; all others have ended. */
static void forget_or_hold(struct measure *measure, const struct study_cli_job *job, const struct study_matrix *matrix,
			   struct study_state *state, const struct study_outcome *outcome, int result)
{
	struct study_boot boot = {.arena = measure->arena,
				  .machine = &measure->machine,
				  .study = job->study,
				  .matrix = *matrix,
				  .state = state};
	bool keeps = job->study->leave_best && result == 0 && text_equal(outcome->state, "done");
	struct err err = {0};

	if (study_cli_settle(&boot, outcome, result,
			     study_hand_levels(matrix, keeps ? best_of(matrix, outcome) : matrix->baseline), &err) < 0)
		(void)cli_fail(&err);
}

/* What is left for a person to do, or was left by him, behind the answer. */
static void print_person(const struct cli *cli, struct arena *arena, const struct study_cli_job *job,
			 const struct study_state *state)
{
	const char *left = study_hand_left(arena, job->study, state);

	if (study_hand_waits(state)) {
		term_flow(&cli->out, 0, true,
			  state->end ? "To put back what was changed by hand, the study waits for a person:"
				     : "The study waits for a person:");
		study_cli_print_asks(cli, arena, state);
	} else if (left && state->paused) {
		term_flow(
		    &cli->out, 0, true,
		    arena_printf(arena,
				 "Changed by hand: %s. hvtune study resume goes on with it as it is, hvtune study "
				 "abort ends it.",
				 left));
	} else if (left) {
		term_flow(&cli->out, 0, true, arena_printf(arena, "Still changed by hand: %s.", left));
	}
}

/* What the file is on this machine: of a study that a person has changed it for meanwhile, as it was then. */
static int suit(struct measure *measure, const struct study_cli_job *job, struct study_left_out *left_out,
		struct err *err)
{
	CLEANUP(study_state_clear) struct study_state own = {0};
	struct study_boot boot = {
	    .arena = measure->arena, .machine = &measure->machine, .study = job->study, .state = &own};

	if (!job->resume || !study_asks(job->study) || !measure->machine.writer ||
	    study_state_read(&measure->machine, &own, NULL) < 0)
		return study_suit(&measure->machine, job->study, left_out, err);
	*left_out = (struct study_left_out){0};
	int r = study_suit_again(measure->arena, job->study, own.suited, err);

	return r < 0 ? r : study_boot_open(&boot, err);
}

/* What would end hvtune comes when that is done. */
static int let_go(struct bench_signals *signals, struct err *err)
{
	bool came = bench_signals_came(signals);

	bench_signals_release(signals);
	return came ? err_set(err, EINTR, NULL, "stopped by the user") : 0;
}

/*
 * What the commands of levels have made in this boot is there still, and nothing is measured beside it; what they made
 * in another one may have gone with that, and is only told.
 */
static int refuse_stuck(struct knob_machine *machine, const struct study_state *state, const char *stuck,
			struct err *err)
{
	struct err here = {0};
	struct err *to = text_equal(state->boot, knob_boot_id(machine)) ? err : &here;

	(void)err_set(to, EPROTO, NULL, "not put back: %s", stuck);
	(void)err_hint(to, STUDY_TRY_AGAIN);
	if (to == err)
		return -EPROTO;
	err_print(stderr, to);
	return 0;
}

/* What the study that is gone on with has left is put back by one process, which the state names meanwhile. */
static int put_back_own(struct measure *measure, const struct study_cli_job *job, struct err *err)
{
	CLEANUP(study_state_clear) struct study_state own = {0};
	struct knob_machine *machine = &measure->machine;
	struct bench_signals signals = {0};
	const char *stuck = NULL;
	struct err fault = {0};

	bench_signals_hold(&signals);
	int r = study_state_reclaim(machine, job->resume, &own, &fault);

	if (r == 0) {
		r = study_host_tidy(machine, own.name, &fault);
		int unhooked = r == 0 ? study_host_unhook(measure->arena, job->study, &own, &stuck) : 0;

		own.pid = 0;
		int written = study_state_write(machine, &own, r == 0 ? &fault : NULL);

		r = r < 0 ? r : written;
		if (r == 0 && unhooked < 0)
			r = refuse_stuck(machine, &own, stuck, &fault);
	} else if (r == -ENOENT) {
		r = 0;
	}
	if (r < 0)
		(void)err_copy(err, &fault);
	int stopped = let_go(&signals, r == 0 ? err : NULL);

	return r < 0 ? r : stopped;
}

/*
 * No study begins beside another one, nor on top of what one has left; that of the one that is gone on with is put back
 * first. Who is not root can neither set nor see anything of the kind.
 */
static int make_way(struct measure *measure, const struct study_cli_job *job, struct err *err)
{
	struct knob_machine *machine = &measure->machine;
	int r = geteuid() == 0 ? study_state_refuse(machine, job->resume, err) : 0;

	if (r == 0 && job->resume && geteuid() == 0 && machine->writer)
		r = put_back_own(measure, job, err);
	return r < 0 ? r : study_host_clean(machine, err);
}

/* As study_cli_time(); who asks is told of the study meanwhile, and can end it. */
static int time_workloads(const struct cli *cli, struct measure *measure, const struct study_cli_job *job,
			  const struct study_matrix *matrix, const struct bench_limits *limits)
{
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct knob_machine *machine = &measure->machine;
	struct bench_signals signals = {0};
	struct err err = {0};

	if (geteuid() != 0 || !machine->writer || job->resume || !study_time_wanted(job->study, measure->arena))
		return study_cli_time(cli, measure, job);
	bench_signals_hold(&signals);
	if (study_cli_note(cli, measure, job, matrix, limits, true, &state, &err) < 0)
		return cli_fail(&err);
	int r = study_cli_time(cli, measure, job);

	if (study_state_remove(machine, &err) < 0)
		return cli_fail(&err);
	/* Of what has failed already the exit code is to be seen. */
	return r ? r : let_go(&signals, &err) < 0 ? cli_fail(&err) : 0;
}

int study_cli_job(struct cli *cli, struct study_cli_job *job)
{
	CLEANUP(measure_close) struct measure measure = {0};
	CLEANUP(study_outcome_clear) struct study_outcome outcome = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct study_left_out left_out;
	struct study_estimate announced;
	struct study_checked checked;
	struct study_matrix matrix;
	struct err err = {0};
	struct bench_limits limits = {0};
	int r;

	if (cli_given(cli, OPTION_JSON) && !cli_given(cli, OPTION_YES) && !is_answered(cli))
		return cli_usage(cli, "--json does not ask: add --yes");
	if (cli_given(cli, OPTION_JSON) && (job->apply || job->study->leave_best))
		return cli_usage(cli, "--json prints one answer: keep the best with `hvtune set` after it");
	r = measure_open(cli, &measure);
	if (r == 0)
		r = measure_limits(cli, measure.meters, &limits);
	if (r)
		return r;
	if (make_way(&measure, job, &err) < 0)
		return cli_fail(&err);
	if (suit(&measure, job, &left_out, &err) < 0) {
		print_left_out(cli, measure.arena, &left_out);
		return cli_fail(&err);
	}
	print_left_out(cli, measure.arena, &left_out);
	if (sets_knobs(job->study) && geteuid() != 0)
		return cli_usage(cli, "this study changes settings of the host: run it as root");
	if (study_asks(job->study) && (geteuid() != 0 || cli_given(cli, OPTION_NO_STORE)))
		return cli_usage(cli, "this study waits for a person, and lasts over that: run it as root, and leave "
				      "--no-store out");
	study_matrix_make(measure.arena, job->study, &matrix);
	look_first(&measure, &matrix, &checked);
	r = checked.possible ? can_consent(cli, &checked) : 0;
	if (r == 0 && checked.possible)
		r = time_workloads(cli, &measure, job, &matrix, &limits);
	if (r)
		return r;
	study_matrix_make(measure.arena, job->study, &matrix);
	r = look(cli, &measure, &matrix);
	if (r)
		return r;
	if (study_needs_boots(job->study))
		return study_cli_begin(cli, &measure, job, &matrix, &limits);
	struct telling telling = {.measure = &measure, .study = job->study, .matrix = &matrix};
	/* Others can only ask and wish where this one may write what they read. */
	bool noted = geteuid() == 0 && measure.machine.writer;
	struct bench_signals signals = {0};

	/* From before it is written down until it is told how it ended: who is impatient asks more than once. */
	bench_signals_hold(&signals);
	if (noted && study_cli_note(cli, &measure, job, &matrix, &limits, false, &state, &err) < 0)
		return cli_fail(&err);
	const struct study_setup setup = {.matrix = &matrix,
					  .machine = &measure.machine,
					  .sys = measure.host->sys,
					  .store = measure.store,
					  .meters = measure.meters,
					  .session = measure_session(cli, &measure),
					  .text = job->text,
					  .resume = job->resume,
					  .uid = state.uid,
					  .state = noted ? &state : NULL,
					  .settle_ms = STUDY_CLI_SETTLE_MS,
					  .limits = limits,
					  .tell = tell,
					  .answer = answer,
					  .data = &telling};

	study_estimate(&matrix, &announced);
	measure.progress = progress_start();
	r = study_run(&setup, &outcome, &err);
	progress_end(&measure.progress);
	if (noted)
		forget_or_hold(&measure, job, &matrix, &state, &outcome, r);
	if (r < 0)
		(void)cli_fail(&err);
	int code = r < 0 && !outcome.count ? EXIT_COULD_NOT
					   : print_outcome(cli, job->command, &matrix, &outcome, &announced, &state);

	if (noted && !cli_given(cli, OPTION_JSON))
		print_person(cli, measure.arena, job, &state);
	if (noted && study_state_is_stuck(&measure.machine, &state))
		return study_cli_tell_stuck(measure.arena, &state);
	/* Otherwise nothing follows but the exit code, which no signal takes the place of. */
	if (r < 0 || code == EXIT_COULD_NOT || outcome.asks)
		return r < 0 ? EXIT_COULD_NOT : code;
	/* Who asked for it to be set, and stopped it after that, has said his last word. */
	if (let_go(&signals, &err) < 0 && (job->apply || job->study->leave_best)) {
		(void)err_hint(&err, "what it has measured is kept: hvtune study apply sets the best of it");
		return cli_fail(&err);
	}
	int kept = keep_best(cli, &measure, job, &matrix, &outcome);

	return kept ? kept : code;
}

/*
 * The study that waits on this machine, and where its results are; nothing: another way tells which. Texts in the
 * arena.
 */
static const char *find_waiting(struct cli *cli, struct arena *arena)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct err ignored = {0};

	if (knob_machine_open("/", NULL, &machine, &ignored) < 0 || study_state_read(&machine, &state, &ignored) < 0)
		return NULL;
	if (!cli_given(cli, OPTION_STORE) && state.store)
		cli->values[OPTION_STORE] = state.store[0] == '/' || strstr(state.store, "://")
						? arena_strdup(arena, state.store)
						: arena_printf(arena, "%s/%s", state.directory, state.store);
	if (!cli_given(cli, OPTION_METERS) && state.meters)
		cli->values[OPTION_METERS] = state.meters[0] == '/'
						 ? arena_strdup(arena, state.meters)
						 : arena_printf(arena, "%s/%s", state.directory, state.meters);
	return arena_strdup(arena, state.uid);
}

/* The file and the uid of the study that a session is of. 0, or an exit code after a line. */
static int find_study(struct cli *cli, struct arena *arena, struct study_cli_job *job, const char **ret_name)
{
	const char *waiting = cli->argument_count > 1 ? NULL : find_waiting(cli, arena);
	const char *wanted = cli->argument_count > 1 ? cli->arguments[1] : waiting ? waiting : "last";
	CLEANUP(store_close_pointer) struct store *store = NULL;
	struct store_whole whole;
	struct err err = {0};
	int64_t id;

	if (store_open(cli->values[OPTION_STORE], STORE_READ, &store, &err) < 0 ||
	    store_session_find(store, wanted, &id, &err) < 0 || store_load(store, arena, id, &whole, &err) < 0) {
		if (waiting)
			(void)err_hint(&err,
				       "nothing of the study that waits is kept there: name its --store, or hvtune "
				       "study abort ends it");
		return cli_fail(&err);
	}
	json_t *method = whole.session.method ? json_loads(whole.session.method, 0, NULL) : NULL;
	json_t *command = whole.session.command ? json_loads(whole.session.command, 0, NULL) : NULL;
	const char *text = json_string_value(json_object_get(method, "file"));

	/* `tune` of old kept the study of the program, and measured another workload than that says. */
	if (text_equal(whole.session.kind, "study") && text &&
	    (text_equal(json_string_value(json_array_get(command, 1)), "study") || !text_equal(text, study_quick_text)))
		job->text = arena_strdup(arena, text);
	const json_t *takes = json_object_get(method, "takes");
	double *seconds = ARENA_ARRAY(arena, json_array_size(takes) + 1, double);

	for (size_t i = 0; i < json_array_size(takes); i++)
		seconds[i] = json_real_value(json_array_get(takes, i));
	job->takes = seconds;
	job->takes_count = json_array_size(takes);
	json_decref(method);
	json_decref(command);
	if (!job->text) {
		(void)err_set(&err, EINVAL, wanted, "this session is of no `hvtune study run` or `hvtune tune`");
		if (waiting)
			(void)err_hint(&err, "hvtune study abort ends it; then run hvtune tune again");
		return cli_fail(&err);
	}
	job->resume = whole.session.study ? whole.session.study : whole.session.uid;
	*ret_name = arena_printf(arena, "the file of study %s", whole.session.name);
	return 0;
}

int study_cli_resume(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_cli_job job = {.command = "study resume"};
	const char *name = NULL;
	int r;

	if (study_cli_answer_asks(cli, &r) || study_cli_wake(cli, &r))
		return r;
	if (cli->argument_count > 2)
		return cli_usage(cli, "study resume takes one SESSION");
	if (cli_given(cli, OPTION_ROOT) || cli_given(cli, OPTION_NO_STORE))
		return cli_usage(cli, "a study is gone on with on this machine, with the runs that are kept");
	r = find_study(cli, arena, &job, &name);
	if (r == 0)
		r = study_cli_parse(arena, name, job.text, &job.study);
	return r ? r : study_cli_job(cli, &job);
}

int study_cli_run(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_cli_job job = {.command = "study run"};
	int r;

	if (cli->argument_count != 2)
		return cli_usage(cli, "study run takes one FILE, or the name of a study of the program");
	if (cli_given(cli, OPTION_ROOT))
		return cli_usage(cli, "a study is run on this machine; --host is for study check");
	r = study_cli_read(cli, arena, cli->arguments[1], &job.text, &job.study);
	return r ? r : study_cli_job(cli, &job);
}
