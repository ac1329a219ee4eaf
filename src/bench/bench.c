/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a session and one run in it: hooks, gate, spawn, values. */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

#include "bench_internal.h"
#include "bench_session.h"
#include "bench_settle.h"
#include "sys.h"
#include "text.h"

extern char **environ;

enum { MOST_CONFIGURATIONS = 65536, LONGEST_BLIND_NS = 200000000, MOST_SCRATCH = 256 << 10 };

/* ---- the session ---- */

static int64_t now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static const char *boot_id(struct arena *arena, struct sys *sys)
{
	const struct sys_look *look = sys_read(sys, "/proc/sys/kernel/random/boot_id");

	return look->state == SYS_VALUE ? text_trim(arena, look->data) : NULL;
}

static const struct bench_metric standard[] = {
    {BENCH_WALL, "s", "clock", NULL, BENCH_LESS},	 {BENCH_USER, "s", "kernel", NULL, BENCH_LESS},
    {BENCH_SYSTEM, "s", "kernel", NULL, BENCH_LESS},	 {BENCH_PEAK, "MiB", "kernel", NULL, BENCH_LESS},
    {BENCH_FOREIGN, "%", "kernel", NULL, BENCH_NEITHER},
};

static struct bench *free_bench(struct bench *bench)
{
	struct bench_private *self = bench->self;

	(void)bench_energy_close(self->energy);
	(void)bench_gate_close(self->gate);
	(void)bench_spawner_close(self->own_spawner);
	(void)arena_free(self->scratch);
	bench_signals_release(&bench->signals);
	(void)arena_free(bench->arena);
	return NULL;
}

/* CPU time of this process and its spawner, without what they have started. */
static double own_cpu_s(const struct bench_private *self)
{
	struct rusage usage = {0};

	(void)getrusage(RUSAGE_SELF, &usage);
	return (double)bench_spawner_spent_us(self->spawner) / 1e6 +
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static const char *look_at_safety(void *data)
{
	struct bench *bench = data;

	return bench_energy_over(bench->self->energy, &bench->self->setup.safety, bench->arena);
}

int bench_open(const struct bench_setup *setup, struct bench **ret, struct err *err)
{
	struct arena *arena = arena_new();
	struct bench *bench = ARENA_NEW(arena, struct bench);
	struct bench_private *self = ARENA_NEW(arena, struct bench_private);
	int r = 0;

	bench->arena = arena;
	bench->self = self;
	bench->values.arena = arena;
	bench->foreign = (double)NAN;
	self->setup = *setup;
	self->last = -1;
	self->scratch = arena_new();
	self->boot = boot_id(arena, setup->sys);
	(void)getrandom(&self->chance, sizeof(self->chance), 0);
	if (!setup->spawner)
		self->own_spawner = bench_spawner_open();
	self->spawner = setup->spawner ? setup->spawner : self->own_spawner;
	bench_signals_hold(&bench->signals);
	self->gate = bench_gate_open(setup->sys, setup->machine, setup->watch);
	for (size_t i = 0; i < ARRAY_SIZE(standard); i++)
		(void)bench_values_set(&bench->values, &standard[i], (double)NAN);
	if (setup->store)
		r = store_session_begin(setup->store, &setup->session, &bench->session, err);
	self->began_ns = bench_now_ns();
	self->began_cpu_s = own_cpu_s(self);
	if (r == 0)
		r = bench_energy_open(setup->meters, arena, &self->energy, &bench->energy, err);
	self->has_meter = !bench->energy;
	if (r == 0 && self->energy && (setup->safety.temperature_c > 0 || setup->safety.power_w > 0)) {
		bench->signals.look = look_at_safety;
		bench->signals.data = bench;
	}
	if (r == 0 && setup->store)
		r = bench_energy_store(self->energy, setup->store, bench->session, err);
	if (r < 0) {
		(void)free_bench(bench);
		return r;
	}
	*ret = bench;
	return 0;
}

const char *bench_cost(const struct bench *bench, struct arena *arena)
{
	double own_s = own_cpu_s(bench->self) - bench->self->began_cpu_s,
	       sampling_s = bench_energy_cost_s(bench->self->energy);
	double wall_s = (double)(bench_now_ns() - bench->self->began_ns) / 1e9;
	const char *text = arena_printf(arena, "hvtune itself used %.2g s of CPU in %.3g s, %.2g %% of one core", own_s,
					wall_s, 100 * own_s / MAX_OF(wall_s, 1e-9));

	return sampling_s > 0 ? arena_printf(arena, "%s; %.2g s of it for meters", text, sampling_s) : text;
}

const char *bench_too_short(const struct bench *bench, enum meter_boundary boundary)
{
	return bench_energy_missed(bench->self->energy, boundary);
}

void bench_lack(const struct bench *bench, struct bench_lack *ret)
{
	bench_energy_lack(bench->self->energy, bench, ret);
}

const char *bench_not_back(const struct bench *bench, struct arena *arena)
{
	return bench_gate_left(bench->self->gate, arena);
}

static int keep_cost(struct bench *bench, struct err *err)
{
	const struct store_note note = {.run = -1, .kind = "cost", .text = bench_cost(bench, bench->arena)};

	return store_note_add(bench->self->setup.store, bench->session, &note, err);
}

int bench_close(struct bench *bench, const char *state, const char *why, const char *verdict, struct err *err)
{
	struct store *store = bench ? bench->self->setup.store : NULL;
	int r = 0;

	if (!bench)
		return 0;
	if (store) {
		r = bench_flush(bench, err);
		if (r == 0)
			r = bench_energy_keep(bench->self->energy, store, bench->session, bench->self->began_ns, -1,
					      err);
		if (r == 0)
			r = keep_cost(bench, err);
		if (r == 0)
			r = store_session_end(store, bench->session, state, why, verdict, err);
	}
	(void)free_bench(bench);
	return r;
}

/* ---- configurations, blocks, hooks ---- */

int bench_add(struct bench *bench, const struct bench_subject *subject, int *ret, struct err *err)
{
	struct bench_private *self = bench->self;
	const struct store_configuration configuration = {
	    .id = (int64_t)self->subject_count,
	    .name = subject->name,
	    .command = subject->command.argv ? bench_words_json(self->scratch, subject->command.argv) : NULL,
	    .settings = subject->settings ? subject->settings : "{}",
	    .place = subject->place};
	int r = 0;

	if (self->subject_count == MOST_CONFIGURATIONS)
		return err_set(err, E2BIG, NULL, "a session has at most %d configurations", MOST_CONFIGURATIONS);
	if (self->setup.store)
		r = store_configuration_add(self->setup.store, bench->session, &configuration, err);
	if (r < 0)
		return r;
	if (self->subject_count == self->subject_room) {
		size_t room = self->subject_room ? 2 * self->subject_room : 16;
		struct bench_subject *larger = ARENA_ARRAY(bench->arena, room, struct bench_subject);

		if (self->subject_count)
			memcpy(larger, self->subjects, self->subject_count * sizeof(*larger));
		self->subjects = larger;
		self->subject_room = room;
	}
	self->subjects[self->subject_count] = *subject;
	*ret = (int)self->subject_count++;
	return 0;
}

int bench_block(struct bench *bench, const char *purpose, const int *order, size_t count, int64_t *ret, struct err *err)
{
	struct bench_private *self = bench->self;
	const char *text = "[";
	int r = 0;

	for (size_t i = 0; i < count; i++)
		text = arena_printf(self->scratch, "%s%s%d", text, i ? "," : "", order[i]);
	const struct store_block block = {
	    .id = self->block_count, .purpose = purpose, .order = arena_printf(self->scratch, "%s]", text)};

	if (self->setup.store)
		r = store_block_add(self->setup.store, bench->session, &block, err);
	if (r == 0)
		*ret = self->block_count++;
	return r;
}

static const char *last_line(struct arena *arena, const char *text)
{
	const char *trimmed = text_trim(arena, text ? text : ""), *newline = strrchr(trimmed, '\n');

	return newline ? newline + 1 : trimmed;
}

int bench_hook_judge(struct arena *arena, struct bench_outcome *outcome, const char *what, struct err *err)
{
	const char *said;

	if (outcome->stopped)
		return err_set(err, EINTR, what, "stopped");
	if (outcome->exit_code == 0)
		return 0;
	if (outcome->lost)
		return err_set(err, EPROTO, what, "this command was lost: %s", outcome->errors);
	/* Of another machine its times come too. */
	(void)bench_remote_take(arena, outcome, &(struct bench_remote){0}, NULL);
	said = last_line(arena, outcome->errors_size ? outcome->errors : outcome->output);
	if (outcome->timed_out)
		return err_set(err, EPROTO, what, "this command did not end in time");
	if (outcome->signal)
		return err_set(err, EPROTO, what, "this command was ended by signal %d (%s)", outcome->signal,
			       strsignal(outcome->signal));
	return err_set(err, EPROTO, what, "this command failed with exit code %d%s%s", outcome->exit_code,
		       *said ? ": " : "", said);
}

int bench_hook(struct bench *bench, const struct bench_command *hook, const char *what, struct err *err)
{
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
	struct bench_command command = *hook;
	int r;

	if (command.output != BENCH_OUTPUT_SHOWN)
		command.output = BENCH_OUTPUT_CAPTURE;
	r = bench_spawner_run(bench->self->spawner, &command, &bench->signals, &outcome, err);
	return r < 0 ? r : bench_hook_judge(bench->arena, &outcome, what, err);
}

/* ---- one run ---- */

/* The command's environment and a variable of random length (as hyperfine does; Mytkowicz et al. 2009). */
static const char *const *with_offset(struct bench_private *self, const char *const *given)
{
	const char *const *from = given ? given : (const char *const *)environ;
	const char **environment;
	size_t count = 0, length;

	if (!self->setup.random_offset)
		return given;
	while (from[count])
		count++;
	environment = ARENA_ARRAY(self->scratch, count + 2, const char *);
	memcpy(environment, from, count * sizeof(*from));
	self->chance = self->chance * 6364136223846793005u + 1442695040888963407u;
	length = (size_t)(self->chance >> 33) % BENCH_OFFSET;
	memcpy(self->offset, BENCH_OFFSET_NAME, sizeof(BENCH_OFFSET_NAME) - 1);
	memset(self->offset + sizeof(BENCH_OFFSET_NAME) - 1, 'X', length);
	self->offset[sizeof(BENCH_OFFSET_NAME) - 1 + length] = '\0';
	environment[count] = self->offset;
	return environment;
}

static const char *why_not(struct arena *arena, const struct bench_subject *subject,
			   const struct bench_outcome *outcome)
{
	const char *said;

	if (outcome->stopped)
		return "stopped by the user";
	if (outcome->lost)
		return arena_printf(arena, "it was lost: %s", last_line(arena, outcome->errors));
	if (outcome->timed_out)
		return arena_printf(arena, "it did not end within %.3g s", (double)subject->command.timeout_ns / 1e9);
	if (subject->exit_code == BENCH_ANY_EXIT || (!outcome->signal && outcome->exit_code == subject->exit_code))
		return NULL;
	said = last_line(arena, outcome->errors_size ? outcome->errors : outcome->output);
	if (outcome->signal)
		return arena_printf(arena, "ended by signal %d (%s)", outcome->signal, strsignal(outcome->signal));
	return arena_printf(arena, "exit code %d%s%s", outcome->exit_code, *said ? ": " : "", said);
}

static void take_standard(struct bench *bench, const struct bench_outcome *outcome)
{
	double *values = bench->values.values;

	values[0] = (double)(outcome->ended_ns - outcome->began_ns) / 1e9;
	values[1] = (double)outcome->user_us / 1e6;
	values[2] = (double)outcome->system_us / 1e6;
	values[3] = outcome->peak_kib < 0 ? (double)NAN : (double)outcome->peak_kib / 1024;
}

static size_t readers_of(const struct bench *bench, const struct bench_subject *subject,
			 const struct bench_reader **ret)
{
	const struct bench_setup *setup = &bench->self->setup;

	*ret = subject->readers ? subject->readers : setup->readers;
	return subject->readers ? subject->reader_count : setup->reader_count;
}

static const char *read_output(struct bench *bench, const struct bench_subject *subject,
			       const struct bench_outcome *outcome)
{
	struct bench_private *self = bench->self;
	const char *text = outcome->output;
	const struct bench_reader *readers;
	size_t count = readers_of(bench, subject, &readers);
	struct err err = {0};

	if (count && !self->setup.read_from && outcome->cut)
		return arena_printf(self->scratch, "it printed more than the %d MiB that are read",
				    BENCH_MOST_OUTPUT >> 20);
	if (self->setup.read_from) {
		size_t size;

		if (sys_read_given(self->scratch, self->setup.read_from, true, &text, &size, &err) < 0)
			return arena_printf(self->scratch, "%s: %s", self->setup.read_from, err.what);
	}
	for (size_t i = 0; i < count; i++)
		if (bench_reader_read(&readers[i], text, outcome->errors, &bench->values, &err) < 0)
			return arena_printf(self->scratch, "%s%s%s", err.where, *err.where ? ": " : "", err.what);
	return NULL;
}

int bench_enter(struct bench *bench, int configuration, struct err *err)
{
	struct bench_private *self = bench->self;
	const struct bench_subject *subject = &self->subjects[configuration];
	int r = 0;

	if (self->last != configuration && subject->enter) {
		r = subject->enter(subject->data, err);
		bench_gate_remember(self->gate);
	}
	if (r == 0)
		self->last = configuration;
	return r;
}

static int enter(struct bench *bench, int configuration, struct err *err)
{
	const struct bench_subject *subject = &bench->self->subjects[configuration];
	int r = bench_enter(bench, configuration, err);

	if (r == 0 && subject->prepare)
		r = bench_hook(bench, subject->prepare, "--prepare", err);
	return r;
}

static const char *left_text(struct arena *arena, const struct bench_outcome *outcome)
{
	return *outcome->left_names ? arena_strdup(arena, outcome->left_names) : "what cannot be listed";
}

/* The figures of the machine that it ran on, instead of those of ssh. */
static int take_remote(struct bench *bench, struct bench_outcome *outcome, struct err *err)
{
	double *values = bench->values.values;
	int r = bench_remote_take(bench->arena, outcome, &bench->self->remote, err);

	values[0] = r < 0 ? (double)NAN : bench->self->remote.wall_s;
	values[1] = r < 0 ? (double)NAN : bench->self->remote.user_s;
	values[2] = r < 0 ? (double)NAN : bench->self->remote.system_s;
	values[3] = (double)NAN;
	return r;
}

/* The spawn between its looks. */
static int run_once(struct bench *bench, int configuration, struct bench_outcome *outcome, const char **ret_why,
		    struct err *err)
{
	struct bench_private *self = bench->self;
	const struct bench_subject *subject = &self->subjects[configuration];
	struct bench_command command = subject->command;
	const struct bench_reader *readers;
	bool only_clocks;
	struct bench_view before, after;
	int64_t own_us, from_ns, to_ns;
	const char *why;
	double foreign;
	struct err remote_err = {0};
	int r, remote_r = 0;

	command.environment = with_offset(self, command.environment);
	if ((readers_of(bench, subject, &readers) && !self->setup.read_from) || bench_is_remote(subject->place))
		command.output = BENCH_OUTPUT_CAPTURE;
	/* Of short runs the machine is looked at now and then only: a look takes a part of such a run. */
	only_clocks = bench_is_short(bench, configuration) && bench_now_ns() - self->looked_ns < LONGEST_BLIND_NS;
	bench_gate_look(self->gate, only_clocks, &before);
	from_ns = bench_energy_mark(self->energy);
	r = bench_spawner_run(self->spawner, &command, &bench->signals, outcome, err);
	if (r < 0)
		return r;
	to_ns = bench_energy_mark(self->energy);
	bench_gate_look(self->gate, only_clocks, &after);
	if (!only_clocks)
		self->looked_ns = after.at_ns;
	own_us = outcome->user_us + outcome->system_us;
	take_standard(bench, outcome);
	if (outcome->peak_kib < 0 && !bench_is_remote(subject->place))
		bench->small_kib = outcome->peak_floor_kib;
	/* ssh may keep its connection for the next run. */
	if (outcome->left && !bench_is_remote(subject->place))
		bench->left = left_text(bench->arena, outcome);
	self->remote = (struct bench_remote){0};
	if (bench_is_remote(subject->place))
		remote_r = take_remote(bench, outcome, &remote_err);
	/* An agent is asked now and then whether it is done: its watts are those of the run alone. */
	if (subject->command.guest && remote_r == 0 && self->remote.wall_s >= 0) {
		from_ns = outcome->began_ns;
		to_ns = MIN_OF(to_ns, from_ns + (int64_t)(self->remote.wall_s * 1e9));
	}
	bench_energy_take(self->energy, from_ns, to_ns, &bench->values);
	if (self->has_meter)
		bench->energy = bench_energy_missed(self->energy, METER_BOUNDARIES);
	foreign = bench_gate_foreign(&before, &after, own_us);
	bench->values.values[4] = 100 * foreign;
	if (!isnan(foreign) && !(bench->foreign > foreign))
		bench->foreign = foreign;
	why = outcome->stopped ? bench->signals.over : NULL;
	if (!why)
		why = why_not(self->scratch, subject, outcome);
	if (!why && remote_r < 0)
		why = arena_strdup(self->scratch, remote_err.what);
	if (!why)
		why = read_output(bench, subject, outcome);
	if (why && self->remote.printed > BENCH_GUEST_OUTPUT && !outcome->timed_out && !outcome->stopped)
		why = arena_printf(self->scratch,
				   "%s (it printed %.1f MiB, of which a guest agent brings the first %d MiB)", why,
				   (double)self->remote.printed / (1 << 20), BENCH_GUEST_OUTPUT >> 20);
	if (!why)
		why = bench_gate_judge(self->scratch, &before, &after, own_us, &self->setup.limits);
	if (!why)
		why = bench_energy_throttled(self->energy, from_ns, to_ns, self->scratch);
	/* What a configuration has set is looked at after each of its runs, whatever the look costs. */
	const char *changed = bench_gate_changed(self->gate, self->scratch, subject->enter != NULL);

	if (changed)
		self->last = -1; /* it must be set anew before the next run */
	if (!why)
		why = changed;
	*ret_why = why;
	return 0;
}

static struct store_run row_of(const struct bench_private *self, const struct bench_run *run)
{
	return (struct store_run){.id = run->id,
				  .configuration = run->configuration,
				  .block = run->block,
				  .position = run->id,
				  .purpose = run->purpose,
				  .boot = self->boot};
}

int bench_measure(struct bench *bench, int configuration, const char *purpose, int64_t block,
		  const struct bench_run **ret, struct err *err)
{
	struct bench_private *self = bench->self;
	const struct bench_subject *subject = &self->subjects[configuration];
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {.exit_code = -1};
	struct bench_run run = {
	    .id = (int64_t)bench->run_count, .configuration = configuration, .purpose = purpose, .block = block};
	const struct store_run row = row_of(self, &run);
	bool begun = !bench_is_short(bench, configuration);
	int r;

	if (arena_used(self->scratch) > MOST_SCRATCH) {
		(void)arena_free(self->scratch);
		self->scratch = arena_new();
	}
	bench_values_clear(&bench->values);
	if (bench_signals_came(&bench->signals))
		return err_set(err, EINTR, NULL, "stopped");
	if (bench_signals_over(&bench->signals))
		return err_set(err, EINTR, NULL, "%s", bench->signals.over);
	r = enter(bench, configuration, err);
	if (r == 0)
		r = bench_cool(bench, self->scratch, &run.why, err);
	self->row_began_us = now_us();
	if (r == 0 && begun)
		r = bench_flush(bench, err);
	if (r == 0 && self->setup.store && begun)
		r = store_run_begin(self->setup.store, bench->session, &row, err);
	if (r < 0)
		return r;
	/* What would be void anyway is not run. */
	if (!run.why)
		r = run_once(bench, configuration, &outcome, &run.why, err);
	if (r < 0)
		run.why = arena_printf(self->scratch, "it could not be started: %s", err ? err->what : "");
	run.valid = !run.why;
	struct err store_err = {0};

	*ret = bench_keep_run(bench, &run);
	int stored = bench_store_run(bench, &row, *ret, begun, &outcome, &store_err);

	if (r == 0 && stored < 0) {
		(void)err_copy(err, &store_err);
		return stored;
	}
	if (r == 0 && outcome.stopped)
		return err_set(err, EINTR, NULL, "%s", bench->signals.over ? bench->signals.over : "stopped");
	if (r == 0 && subject->conclude)
		r = bench_hook(bench, subject->conclude, "--conclude", err);
	return r;
}

int bench_void(struct bench *bench, int configuration, const char *purpose, int64_t block, const char *why,
	       const struct bench_run **ret, struct err *err)
{
	struct bench_private *self = bench->self;
	const struct bench_outcome outcome = {.exit_code = -1};
	const struct bench_run run = {.id = (int64_t)bench->run_count,
				      .configuration = configuration,
				      .purpose = purpose,
				      .block = block,
				      .why = why};
	const struct store_run row = row_of(self, &run);

	bench_values_clear(&bench->values);
	self->remote = (struct bench_remote){0};
	self->row_began_us = now_us();
	*ret = bench_keep_run(bench, &run);
	return bench_store_run(bench, &row, *ret, false, &outcome, err);
}

size_t bench_series(const struct bench *bench, struct arena *arena, int configuration, const char *metric,
		    const char *purpose, double **ret)
{
	int at = bench_values_find(&bench->values, metric);
	double *values = ARENA_ARRAY(arena, bench->run_count + 1, double);
	size_t count = 0;

	for (size_t i = 0; i < bench->run_count; i++) {
		const struct bench_run *run = &bench->runs[i];

		if (run->valid && run->configuration == configuration &&
		    (!purpose || text_equal(run->purpose, purpose)) && at >= 0 && (size_t)at < run->value_count &&
		    !isnan(run->values[at]))
			values[count++] = run->values[at];
	}
	*ret = values;
	return count;
}

const char *bench_target(const struct bench *bench, const char *given)
{
	static const char *const of_the_system[] = {"clock", "kernel", "meters"};

	for (size_t i = 0; i < bench->values.count && !given; i++) {
		const struct bench_metric *metric = &bench->values.metrics[i];
		bool system = metric->better == BENCH_NEITHER;

		for (size_t j = 0; j < ARRAY_SIZE(of_the_system); j++)
			system = system || text_equal(metric->source, of_the_system[j]);
		given = system ? NULL : metric->name;
	}
	return given ? given : BENCH_WALL;
}
