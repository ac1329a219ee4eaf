/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns carrying out a study on a machine. */
#include "study_run.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "study_meter.h"
#include "study_run_internal.h"
#include "study_vm.h"
#include "study_work.h"
#include "text.h"

/* When so many runs in a row are void, of whichever configurations, it is the machine or the workload. */
enum { HOPELESS_VOID = 3 * STUDY_MOST_VOID };
/* How old at most what others are told may be, but for the run that is made. */
#define WRITE_EVERY_NS 5000000000

/* Enters a configuration for bench; one for each subject. */
struct entry {
	struct study_host *host;
	int config;
};

struct running {
	const struct study_setup *setup;
	const struct study *study;
	struct arena *arena;
	struct study_outcome *outcome;
	struct bench *bench;
	struct study_host host;
	struct bench_command *commands, *prepares, *cleanups; /* by workload */
	struct bench_reader *readers;			      /* by workload */
	int *subjects;					      /* [config][workload]: 1 + number at bench; 0: not yet */
	struct study_idler idler;
	size_t room; /* of outcome->seen */
	double spent_before_s;
	int64_t began_ns, written_ns;
	int boot;
	bool warm;		       /* a run was made since the last boot or restart */
	size_t void_row;	       /* void runs in a row, idle windows left out */
	const struct study_step *step; /* that is being done */
	const char *step_config;
	const char *work;
	const char *energy; /* the metric whose joules count; NULL: none */
	const char *meter;  /* "wall": whose they are */
};

static int enter(void *data, struct err *err)
{
	const struct entry *entry = data;

	return study_host_enter(entry->host, entry->config, err);
}

/* ---- workloads ---- */

static void prepare_workload(struct running *running, size_t at)
{
	const struct study_workload *workload = &running->study->workloads[at];

	running->commands[at] =
	    study_work_command(&running->host, workload, &workload->run, running->work, workload->timeout_s);
	/* A void run's last words say why. */
	running->commands[at].output = BENCH_OUTPUT_CAPTURE;
	if (workload->prepare.line)
		running->prepares[at] =
		    study_work_command(&running->host, workload, &workload->prepare, running->work, 0);
	if (workload->cleanup.line)
		running->cleanups[at] =
		    study_work_command(&running->host, workload, &workload->cleanup, running->work, 0);
	(void)study_workload_reader(running->arena, workload, &running->readers[at]);
}

/* Inputs are made before anything is changed, in a directory that goes with the study. */
static int make_ready(struct running *running, struct err *err)
{
	const struct study *study = running->study;
	int r = study_work_make(running->work, err);

	if (r == 0)
		r = study_vm_begin(&running->host, err);
	if (r == 0)
		r = study_work_make_there(&running->host, running->work, err);
	running->commands = ARENA_ARRAY(running->arena, study->workload_count, struct bench_command);
	running->prepares = ARENA_ARRAY(running->arena, study->workload_count, struct bench_command);
	running->cleanups = ARENA_ARRAY(running->arena, study->workload_count, struct bench_command);
	running->readers = ARENA_ARRAY(running->arena, study->workload_count, struct bench_reader);
	for (size_t i = 0; i < study->workload_count && r == 0; i++) {
		const struct study_workload *workload = &study->workloads[i];

		prepare_workload(running, i);
		if (workload->setup.line) {
			const struct bench_command setup =
			    study_work_command(&running->host, workload, &workload->setup, running->work, 0);

			r = bench_hook(running->bench, &setup,
				       arena_printf(running->arena, "setup of %s", workload->name), err);
		}
	}
	return r;
}

static int subject_of(struct running *running, int config, size_t workload, int *ret, struct err *err)
{
	int *known = &running->subjects[(size_t)config * running->study->workload_count + workload];
	struct entry *entry;
	int number, r;

	if (*known) {
		*ret = *known - 1;
		return 0;
	}
	entry = ARENA_NEW(running->arena, struct entry);
	*entry = (struct entry){.host = &running->host, .config = config};
	const struct study_workload *of = &running->study->workloads[workload];
	const struct bench_subject subject = {
	    .name = study_subject_name(running->arena, running->setup->matrix, (size_t)config, workload),
	    .command = running->commands[workload],
	    .prepare = of->prepare.line ? &running->prepares[workload] : NULL,
	    .conclude = of->cleanup.line ? &running->cleanups[workload] : NULL,
	    .place = study_work_place(running->arena, of),
	    .settings = study_settings_json(running->arena, running->setup->matrix, (size_t)config),
	    .readers = of->metric.kind == STUDY_WALL ? NULL : &running->readers[workload],
	    .reader_count = of->metric.kind == STUDY_WALL ? 0 : 1,
	    .enter = enter,
	    .data = entry};

	r = bench_add(running->bench, &subject, &number, err);
	if (r < 0)
		return r;
	*known = number + 1;
	*ret = number;
	return 0;
}

/* ---- one look at a configuration: every workload once ---- */

static double value_at(const struct bench *bench, const struct bench_run *run, const char *metric)
{
	int at = bench_values_find(&bench->values, metric);

	return at >= 0 && (size_t)at < run->value_count ? run->values[at] : (double)NAN;
}

static void keep_seen(struct running *running, const struct study_seen *seen)
{
	struct study_outcome *outcome = running->outcome;

	if (outcome->count == running->room) {
		size_t room = MAX_OF(2 * running->room, 64U);
		struct study_seen *larger = ARENA_ARRAY(running->arena, room, struct study_seen);

		if (outcome->count)
			memcpy(larger, outcome->seen, outcome->count * sizeof(*larger));
		outcome->seen = larger;
		running->room = room;
	}
	outcome->seen[outcome->count++] = *seen;
	outcome->void_count += !seen->valid;
}

static int look_once(struct running *running, int config, enum study_purpose purpose, const char **ret_why,
		     struct err *err)
{
	const struct study *study = running->study;
	int *order = ARENA_ARRAY(running->arena, study->workload_count, int);
	int *subjects = ARENA_ARRAY(running->arena, study->workload_count, int);
	struct study_seen seen;
	int64_t block;
	int r = 0;

	study_seen_begin(&seen, config, running->boot, purpose);
	stat_block_order(study->seed + 17, (int)running->outcome->count, (int)study->workload_count, order);
	for (size_t i = 0; i < study->workload_count && r == 0; i++)
		r = subject_of(running, config, (size_t)order[i], &subjects[i], err);
	if (r == 0)
		r = bench_block(running->bench, study_purposes[purpose], subjects, study->workload_count, &block, err);
	for (size_t i = 0; i < study->workload_count && r == 0 && seen.valid; i++) {
		const struct study_workload *workload = &study->workloads[order[i]];
		const struct bench_run *run;

		r = bench_measure(running->bench, subjects[i], study_purposes[purpose], block, &run, err);
		if (r == -EHOSTUNREACH)
			r = bench_void(running->bench, subjects[i], study_purposes[purpose], block,
				       arena_printf(running->arena, "%s: %s", err->where, err->what), &run, err);
		if (r < 0)
			break;
		seen.valid = run->valid;
		/* Somebody may have changed what it sets. */
		if (!run->valid)
			running->host.config = -1;
		*ret_why = run->why ? arena_printf(running->arena, "%s: %s", workload->name, run->why) : NULL;
		if (run->valid)
			study_seen_add(&seen, study, (size_t)order[i], value_at(running->bench, run, BENCH_WALL),
				       value_at(running->bench, run, study_metric_name(workload)),
				       running->energy ? value_at(running->bench, run, running->energy) : (double)NAN);
	}
	if (r < 0)
		return r;
	if (seen.valid)
		study_seen_end(&seen);
	keep_seen(running, &seen);
	if (seen.valid && running->setup->boot)
		study_boot_was_well(running->setup->boot);
	running->warm = running->host.config >= 0 || seen.valid;
	return 0;
}

/* The machine did not become such: a void run of the first workload says why. */
static int keep_unmade(struct running *running, const struct study_step *step, const char *why, struct err *err)
{
	const char *purpose = study_purposes[STUDY_WARM_UP];
	const struct bench_run *run;
	struct study_seen seen;
	int64_t block = 0;
	int subject = 0, r = subject_of(running, step->config, 0, &subject, err);

	study_seen_begin(&seen, step->config, running->boot, STUDY_WARM_UP);
	seen.valid = false;
	if (r == 0)
		r = bench_block(running->bench, purpose, &subject, 1, &block, err);
	if (r == 0)
		r = bench_void(running->bench, subject, purpose, block, why, &run, err);
	if (r < 0)
		return r;
	keep_seen(running, &seen);
	running->warm = false;
	return 0;
}

/* ---- the loop ---- */

static double spent(const struct running *running)
{
	return running->spent_before_s + (double)(bench_now_ns() - running->began_ns) / 1e9;
}

/* For those who ask how it stands. That it cannot be written is no reason to stop measuring. */
static void write_down(struct running *running, const char *config)
{
	struct study_state *state = running->setup->state;
	int64_t now = bench_now_ns();

	if (!state || (text_equal(state->config, config) && now - running->written_ns < WRITE_EVERY_NS))
		return;
	state->config = arena_strdup(running->setup->machine->arena, config);
	state->runs = (unsigned)running->outcome->count;
	state->spent_s = spent(running);
	(void)study_state_write(running->setup->machine, state, NULL);
	running->written_ns = now;
}

static void tell(struct running *running, const struct study_step *step)
{
	const struct study_progress progress = {
	    .step = step,
	    .config = study_config_name(running->arena, running->setup->matrix, (size_t)step->config),
	    .runs = running->outcome->count,
	    .spent_s = spent(running)};

	if (running->setup->tell)
		running->setup->tell(running->setup->data, &progress);
	write_down(running, progress.config);
}

/* A configuration with nothing but void runs is given up by the decision; what no other can be measured without is not.
 */
static int judge_voids(const struct running *running, const struct study_step *step, const char *why, struct err *err)
{
	const struct study_outcome *outcome = running->outcome;

	why = why ? why : "no value";
	if (step->config == (int)running->setup->matrix->baseline &&
	    study_given_up(outcome->seen, outcome->count, step->config))
		return err_set(err, EPROTO, running->study->name, "%d runs of the baseline, %s, are void: %s",
			       STUDY_MOST_VOID, running->step_config, why);
	if (running->void_row < HOPELESS_VOID)
		return 0;
	return err_set(err, EPROTO, running->study->name, "%zu runs in a row are void, the last of %s: %s",
		       running->void_row, running->step_config, why);
}

/* Where the machine does not become such the workload is not to blame: only the baseline is needed by the others. */
static int judge_unmade(const struct running *running, const struct study_step *step, const char *why, struct err *err)
{
	const struct study_outcome *outcome = running->outcome;

	if (step->config != (int)running->setup->matrix->baseline ||
	    !study_given_up(outcome->seen, outcome->count, step->config))
		return 0;
	return err_set(err, EPROTO, running->study->name, "the baseline, %s, does not come up %d times: %s",
		       running->step_config, STUDY_MOST_VOID, why);
}

static void tell_idle(void *data, bool settles, double left_s)
{
	const struct running *running = data;
	const struct study_progress progress = {.step = running->step,
						.config = running->step_config,
						.runs = running->outcome->count,
						.spent_s = spent(running),
						.settles = settles,
						.left_s = left_s};

	if (running->setup->tell)
		running->setup->tell(running->setup->data, &progress);
}

/* An idle window of the configuration, in which the machine is. */
static int idle_once(struct running *running, const struct study_step *step, struct err *err)
{
	struct study_seen seen;
	int r;

	if (!running->idler.bench)
		running->idler = (struct study_idler){
		    .arena = running->arena,
		    .matrix = running->setup->matrix,
		    .host = &running->host,
		    .bench = running->bench,
		    .meter = running->meter,
		    .idles = ARENA_ARRAY(running->arena, running->setup->matrix->count, struct bench_idle),
		    .tell = tell_idle,
		    .data = running};
	study_seen_begin(&seen, step->config, running->boot, STUDY_IDLE);
	r = study_idle_once(&running->idler, &seen, err);
	if (r < 0)
		return r;
	if (!seen.valid)
		running->host.config = -1;
	keep_seen(running, &seen);
	return 0;
}

static int perform(struct running *running, const struct study_step *step, struct err *err)
{
	const char *why = NULL;
	bool restarts = running->host.config >= 0 && running->host.config != step->config &&
			study_switch_cost(running->setup->matrix, (size_t)running->host.config, (size_t)step->config) >=
			    STUDY_VM_RESTART;
	int r = 0;

	running->step = step;
	running->step_config = study_config_name(running->arena, running->setup->matrix, (size_t)step->config);
	tell(running, step);
	if (restarts)
		running->warm = false;
	running->host.anew = step->own_boot && running->setup->boot &&
			     !study_boot_is_fresh(running->outcome->seen, running->outcome->count, running->boot);
	r = study_host_enter(&running->host, step->config, err);
	if (r == -EHOSTUNREACH) {
		why = arena_printf(running->arena, "%s: %s", err->where, err->what);
		*err = (struct err){0};
		r = keep_unmade(running, step, why, err);
		return r < 0 ? r : judge_unmade(running, step, why, err);
	}
	if (r == 0 && step->purpose == STUDY_IDLE)
		return idle_once(running, step, err);
	if (r == 0 && !running->warm)
		r = look_once(running, step->config, STUDY_WARM_UP, &why, err);
	for (int i = 0; i < step->runs && r == 0; i++) {
		r = look_once(running, step->config, step->purpose, &why, err);
		if (r == 0)
			running->void_row =
			    running->outcome->seen[running->outcome->count - 1].valid ? 0 : running->void_row + 1;
	}
	return r ? r : judge_voids(running, step, why, err);
}

/* No run begins after that: one most of which would come after the budget is none that was announced. */
static double last_begin_s(const struct running *running)
{
	double budget_s = running->study->budget_s, run_s = 0;

	for (size_t i = 0; i < running->study->workload_count; i++)
		run_s += running->study->workloads[i].takes_s;
	return budget_s - MIN_OF(run_s / 2, budget_s / 4);
}

/* Time is left for idle windows: they are what the other runs are chosen by. Half of the budget is for them at most. */
static bool is_out_of_time(const struct running *running)
{
	const struct study_outcome *outcome = running->outcome;
	double budget_s = running->study->budget_s,
	       idle_s = study_idle_seconds(outcome->engine, outcome->seen, outcome->count);

	return budget_s > 0 && spent(running) >= last_begin_s(running) - MIN_OF(idle_s, budget_s / 2);
}

/* Does somebody want it to hold, or to end? */
static bool wished(struct running *running, struct err *err)
{
	enum study_wish wish = running->setup->state ? study_wish_read(running->setup->machine) : STUDY_NO_WISH;

	running->outcome->paused = wish == STUDY_WISH_PAUSE;
	if (wish == STUDY_WISH_ABORT)
		(void)err_set(err, EINTR, running->study->name, "aborted");
	return wish != STUDY_NO_WISH;
}

/* A meter that there is may be too slow for the runs. */
static void see_short(struct running *running)
{
	const char *why = running->meter
			      ? study_run_short(running->bench, study_meter_boundary(running->meter), running->outcome)
			      : NULL;

	study_engine_no_energy(running->outcome->engine, why);
	if (running->meter)
		running->outcome->energy = why ? arena_strdup(running->arena, why) : NULL;
}

static int loop(struct running *running, struct err *err)
{
	struct study_outcome *outcome = running->outcome;
	struct study_step step;

	if (!running->meter)
		study_engine_no_idle(outcome->engine, outcome->energy ? outcome->energy : "no meter tells watts here");
	for (;;) {
		see_short(running);
		if (is_out_of_time(running))
			study_engine_hurry(outcome->engine);
		int r = study_step_next(running->arena, running->setup, outcome, running->host.config, running->boot,
					&step, err);

		if (r < 0)
			return r;
		outcome->what = step.cut ? STUDY_RUN : step.what;
		outcome->incumbent = step.incumbent;
		if (step.cut ||
		    (step.what == STUDY_RUN && running->study->budget_s > 0 && spent(running) >= last_begin_s(running)))
			outcome->why = "the budget is spent";
		if (step.what != STUDY_RUN || (outcome->why && !step.cut))
			return 0;
		if (wished(running, err))
			return outcome->paused ? 0 : -EINTR;
		r = perform(running, &step, err);
		if (r)
			return r;
	}
}

/* Before anything is set: what the study was measured by is still there, and its limits can be watched. */
static int check_meters(const struct running *running, const char *meter, const char *measured, struct err *err)
{
	const struct study *study = running->study;
	const struct meter_set *meters = running->setup->meters;
	const char *missing = NULL;

	if (measured && !(meters && meter_has(meters, study_meter_boundary(measured))))
		return err_set(err, ENODATA, study->file,
			       "the study was measured by the meter of the %s, which is not readable now", measured);
	if (study->limits.temperature_c > 0 && !study_meter_feels(meters))
		missing = "temperature";
	else if (study->limits.power_w > 0 && !meter)
		missing = "power";
	return missing ? err_set(err, ENODATA, study->file, "%s has a limit, and is not readable here", missing) : 0;
}

static int begin(struct running *running, struct err *err)
{
	const struct study_setup *setup = running->setup;
	struct study_outcome *outcome = running->outcome;
	struct bench_setup bench = {.store = setup->store,
				    .session = setup->session,
				    .sys = setup->sys,
				    .machine = setup->machine,
				    .watch = study_knob_names(running->arena, running->study),
				    .meters = setup->meters,
				    .limits = setup->limits,
				    .safety = {.temperature_c = running->study->limits.temperature_c,
					       .power_w = running->study->limits.power_w},
				    .random_offset = true};
	const char *meter = study_meter_choose(running->study, setup->meters), *measured = NULL;
	const char *resume = setup->resume ? setup->resume : setup->uid;
	int r = 0;

	if (resume && setup->store)
		r = study_load_boot(running->arena, setup->store, setup->matrix, resume, knob_boot_id(setup->machine),
				    &outcome->seen, &outcome->count, &running->boot, &measured, err);
	if (r == -ENOENT && !setup->resume) {
		resume = NULL;
		r = 0;
	}
	outcome->uid = setup->resume ? setup->resume : setup->uid ? setup->uid : study_uid(running->arena);
	bench.session.kind = "study";
	bench.session.name = running->study->name;
	bench.session.uid = resume ? NULL : outcome->uid;
	bench.session.study = resume;
	bench.session.method = study_method_json(running->arena, setup, study_engine_design(outcome->engine));
	if (r == 0)
		r = check_meters(running, meter, measured, err);
	meter = measured ? measured : meter;
	running->energy = study_meter_metric(running->arena, meter);
	running->meter = meter;
	if (meter)
		bench.safety.boundary = study_meter_boundary(meter);
	running->room = outcome->count;
	for (size_t i = 0; i < outcome->count; i++)
		running->spent_before_s += outcome->seen[i].minutes * 60;
	if (setup->state)
		running->spent_before_s = MAX_OF(running->spent_before_s, setup->state->spent_s);
	if (r == 0)
		r = bench_open(&bench, &running->bench, err);
	if (r)
		return r;
	outcome->session = running->bench->session;
	outcome->energy = running->bench->energy ? arena_strdup(running->arena, running->bench->energy) : NULL;
	running->host = (struct study_host){.arena = running->arena,
					    .machine = setup->machine,
					    .matrix = setup->matrix,
					    .bench = running->bench,
					    .state = setup->state,
					    .boot = setup->boot,
					    .settle_ms = setup->settle_ms};
	study_host_begin(&running->host);
	running->work = arena_printf(running->arena, "/var/tmp/hvtune-study-%.12s", outcome->uid);
	return 0;
}

/* Everything back, the directory away, the session ended. `r` is what the study came to; returned. */
static int finish(struct running *running, int r, struct err *err)
{
	struct study_outcome *outcome = running->outcome;
	struct err fault = {0}, ignored = {0};

	/* Before VMs that were off are off again. */
	study_work_clear_there(&running->host, running->work);
	int left = study_host_leave(&running->host, &fault);

	outcome->switches = running->host.switches;
	if (running->setup->state)
		running->setup->state->spent_s = spent(running);
	outcome->spent_s = (double)(bench_now_ns() - running->began_ns) / 1e9;
	study_work_clear(running->work);
	if (r == STUDY_REBOOT || r == STUDY_ASKS || outcome->paused) {
		outcome->reboots = r == STUDY_REBOOT;
		outcome->asks = r == STUDY_ASKS;
		outcome->state = "stopped";
		outcome->why = outcome->reboots ? "the host boots, and it goes on after that"
			       : outcome->asks	? "it waits for a person"
						: "paused";
		r = 0;
	} else if (r == STUDY_NO_BOOT) {
		outcome->state = "done";
		outcome->why = "the boots that it may have are used up";
		r = 0;
	} else if (r == -EINTR) {
		outcome->state = "stopped";
		outcome->over = running->bench->signals.over;
		outcome->why = running->bench->signals.over ? arena_strdup(running->arena, running->bench->signals.over)
							    : "stopped by the user";
		r = 0;
	} else {
		outcome->state = r < 0 ? "failed" : "done";
		if (r < 0)
			outcome->why = err ? arena_strdup(running->arena, err->what) : "failed";
	}
	outcome->left = running->host.left;
	outcome->stuck = running->host.stuck;
	/* What a workload has set while nothing of the study was in force is in no undo. */
	if (!outcome->left && !outcome->stuck)
		outcome->left = bench_not_back(running->bench, running->arena);
	outcome->restored = left == 0 && !outcome->left && !outcome->stuck;
	outcome->running = running->bench->left ? arena_strdup(running->arena, running->bench->left) : NULL;
	outcome->foreign = running->bench->foreign;
	study_run_lack(running->bench, outcome);
	if (left < 0 && r == 0) {
		r = left;
		(void)err_copy(err, &fault);
	}
	const char *answer =
	    running->setup->answer && outcome->count ? running->setup->answer(running->setup->data, outcome) : NULL;
	int closed = bench_close(running->bench, outcome->state, outcome->why, answer, &ignored);

	if (closed == -ESTALE)
		outcome->session = 0;
	if (closed < 0 && r == 0) {
		r = closed;
		(void)err_copy(err, &ignored);
	}
	return r;
}

int study_run(const struct study_setup *setup, struct study_outcome *ret, struct err *err)
{
	struct study_outcome *outcome = ret;
	struct running running = {.setup = setup, .study = setup->matrix->study, .outcome = outcome};
	int r;

	*outcome =
	    (struct study_outcome){.arena = arena_new(), .incumbent = -1, .state = "failed", .foreign = (double)NAN};
	running.arena = outcome->arena;
	running.subjects = ARENA_ARRAY(running.arena, setup->matrix->count * running.study->workload_count, int);
	running.began_ns = bench_now_ns();
	r = study_engine_new(running.arena, setup->matrix, &outcome->engine, err);
	if (r == 0)
		r = begin(&running, err);
	if (r < 0)
		return r;
	r = make_ready(&running, err);
	if (r == 0)
		r = loop(&running, err);
	return finish(&running, r, err);
}

void study_outcome_clear(struct study_outcome *outcome)
{
	study_engine_free(&outcome->engine);
	outcome->arena = arena_free(outcome->arena);
}
