/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns bringing a machine from one configuration of a study to another. */
#include "study_host.h"

#include <errno.h>
#include <string.h>

#include "study_hand.h"
#include "study_vm.h"
#include "text.h"

extern char **environ;

void study_host_begin(struct study_host *host)
{
	host->config = -1;
	host->change = 0;
	host->hooked = ARENA_ARRAY(host->arena, host->matrix->study->factor_count + 1, size_t);
}

static bool is_of_study(const char *what)
{
	return text_starts(what, STUDY_MARK) || text_starts(what, "compare ");
}

int study_host_tidy(struct knob_machine *machine, const char *name, struct err *err)
{
	const char *mark = name ? arena_printf(machine->arena, STUDY_MARK "%s: ", name) : NULL;
	struct knob_journal journal = {0};
	unsigned *ids;
	int r = knob_journal_read(machine, &journal, err);
	size_t count = r < 0 ? 0 : knob_in_force(machine, &journal, &ids);

	for (size_t i = 0; i < count && r == 0; i++)
		for (size_t c = 0; c < journal.count && r == 0; c++) {
			struct knob_report report = {0};

			if (journal.changes[c].id == ids[i] &&
			    (mark ? text_starts(journal.changes[c].what, mark) : is_of_study(journal.changes[c].what)))
				r = knob_undo(machine, ids[i], &report, err);
		}
	return r;
}

int study_host_clean(struct knob_machine *machine, struct err *err)
{
	struct knob_journal journal = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct err study = {0};
	unsigned *ids;

	/* One whose levels are commands has nothing in the journal. */
	if (study_state_read(machine, &state, &study) == 0 && study_state_is_alive(machine, &state))
		return study_state_refuse(machine, NULL, err);
	int r = knob_journal_read(machine, &journal, err);
	size_t count = r < 0 ? 0 : knob_in_force(machine, &journal, &ids);

	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < journal.count; c++) {
			const struct knob_change *change = &journal.changes[c];

			if (change->id != ids[i])
				continue;
			if (change->state != KNOB_CHANGE_DONE)
				(void)err_set(err, EBUSY, change->what, "this change was cut short, or is being made");
			else if (is_of_study(change->what) || text_starts(change->what, STUDY_BOOT_MARK))
				(void)err_set(err, EBUSY, change->what,
					      "this is in force: measured by another hvtune, or left by one that was "
					      "killed");
			else
				continue;
			/* Whose they are knows how to put them back. */
			if ((text_starts(change->what, STUDY_MARK) || text_starts(change->what, STUDY_BOOT_MARK)) &&
			    study_state_refuse(machine, NULL, &study) == -EBUSY) {
				(void)err_copy(err, &study);
				return -EBUSY;
			}
			(void)err_hint(err, "wait for it, or put it back: hvtune undo %u", change->id);
			return -EBUSY;
		}
	return r;
}

size_t study_host_asks_of(struct arena *arena, const struct study_matrix *matrix, size_t config, enum study_cost least,
			  enum study_cost most, struct knob_ask **ret)
{
	const struct study *study = matrix->study;
	const size_t *levels = study_levels(matrix, config);
	struct knob_ask *asks;
	size_t count = 0;

	for (size_t f = 0; f < study->factor_count; f++)
		count += study->factors[f].levels[levels[f]].ask_count;
	asks = ARENA_ARRAY(arena, count + 1, struct knob_ask);
	count = 0;
	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_level *level = &study->factors[f].levels[levels[f]];

		for (size_t i = 0; i < level->ask_count; i++) {
			enum study_cost cost = study_ask_cost(&level->asks[i]);

			if (cost >= least && cost <= most)
				asks[count++] = level->asks[i];
		}
	}
	*ret = asks;
	return count;
}

size_t study_host_asks(struct arena *arena, const struct study_matrix *matrix, size_t config, struct knob_ask **ret)
{
	return study_host_asks_of(arena, matrix, config, STUDY_LIVE, STUDY_PERSON, ret);
}

const char *const *study_environment(struct arena *arena, const char *const *more)
{
	const char **environment;
	size_t count = 0, added = 0;

	while (environ[count])
		count++;
	while (more[added])
		added++;
	environment = ARENA_ARRAY(arena, count + added + 1, const char *);
	for (size_t i = 0; i < count; i++)
		environment[i] = arena_strdup(arena, environ[i]);
	for (size_t i = 0; i < added; i++)
		environment[count + i] = more[i];
	return environment;
}

static const char *const *with_work(struct arena *arena, const char *work)
{
	return study_environment(arena, (const char *const[]){arena_printf(arena, "HVTUNE_WORK=%s", work), NULL});
}

struct bench_command study_command(struct arena *arena, const struct study_command *command, const char *directory,
				   const char *work, double timeout_s)
{
	return (struct bench_command){.argv = command->shell ? bench_shell_argv(arena, "/bin/sh", command->words[0])
							     : command->words,
				      .cwd = directory,
				      .environment = work ? with_work(arena, work) : NULL,
				      .timeout_ns = (int64_t)(timeout_s * 1e9)};
}

bool study_host_stopped(void *data)
{
	const struct study_host *host = data;

	return !host->leaving && host->bench && bench_signals_came(&host->bench->signals);
}

/* Each once: a study comes to the same place again and again. */
static const char *with(struct arena *arena, const char *all, const char *text)
{
	if (!text || (all && strstr(all, text)))
		return all;
	return all ? arena_printf(arena, "%s; %s", all, text) : text;
}

void study_host_left(struct study_host *host, const char *left)
{
	host->left = with(host->arena, host->left, left);
}

void study_host_stuck(struct study_host *host, const char *stuck)
{
	host->stuck = with(host->arena, host->stuck, stuck);
}

/* ---- hooks ---- */

static int run_hook(struct study_host *host, const struct study_command *hook, const char *what, struct err *err)
{
	const struct bench_command command = study_command(host->arena, hook, NULL, NULL, 0);

	return hook->line ? bench_hook(host->bench, &command, what, err) : 0;
}

/* No signal stops it: what is half taken back would be left so. */
static int undo_hook(struct arena *arena, const struct study_command *hook, const char *what, struct err *err)
{
	struct bench_command command = study_command(arena, hook, NULL, NULL, 0);
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
	int r;

	if (!hook->line)
		return 0;
	/* Its last words say why it failed. */
	command.output = BENCH_OUTPUT_CAPTURE;
	r = bench_spawn(&command, NULL, &outcome, err);
	return r < 0 ? r : bench_hook_judge(arena, &outcome, what, err);
}

static const char *level_words(struct arena *arena, const struct study *study, size_t factor, size_t level,
			       const char *hook)
{
	const struct study_factor *of = &study->factors[factor];

	return arena_printf(arena, "%s=%s (%s)", of->name, of->levels[level].name, hook);
}

/* The command that takes a level back, for a person to run. */
static const char *undo_line(struct arena *arena, const struct study *study, size_t factor, size_t level)
{
	const struct study_command *undo = &study->factors[factor].levels[level].undo;
	const char *line = undo->words[0];

	for (size_t i = 1; !undo->shell && undo->words[i]; i++)
		line = arena_printf(arena, "%s %s", line, undo->words[i]);
	return line;
}

/* *stuck is added what could not be taken back, why, and the command to do it with by hand. */
static int undo_level(struct arena *arena, const struct study *study, size_t factor, size_t level, const char **stuck,
		      struct err *err)
{
	const char *words = level_words(arena, study, factor, level, "undo");
	struct err fault = {0};
	int r = undo_hook(arena, &study->factors[factor].levels[level].undo, words, &fault);

	if (r == 0)
		return 0;
	*stuck =
	    with(arena, *stuck,
		 arena_printf(arena, "%s: %s; by hand: %s", words, fault.what, undo_line(arena, study, factor, level)));
	return err_copy(err, &fault);
}

/* On disk before a hook runs, and after it was taken back: a kill must not make it forgotten. */
static int write_hook(struct study_host *host, size_t factor, const char *level, struct err *err)
{
	const char *name = host->matrix->study->factors[factor].name;

	if (!host->state)
		return 0;
	if (!host->state->hooks)
		host->state->hooks = json_object();
	if (level)
		(void)json_object_set_new(host->state->hooks, name, json_string(level));
	else
		(void)json_object_del(host->state->hooks, name);
	return study_state_write(host->machine, host->state, err);
}

/* The level of a factor whose command has run, by the state; level_count: none. */
static size_t hooked_level(const struct study_factor *factor, const struct study_state *state)
{
	const char *name = json_string_value(json_object_get(state->hooks, factor->name));
	size_t level = 0;

	while (level < factor->level_count && !text_equal(name, factor->levels[level].name))
		level++;
	return level;
}

int study_host_unhook(struct arena *arena, const struct study *study, struct study_state *state, const char **ret_stuck)
{
	int worst = 0;

	*ret_stuck = NULL;
	for (size_t f = study->factor_count; f-- > 0;) {
		size_t level = hooked_level(&study->factors[f], state);

		if (level == study->factors[f].level_count)
			continue;
		/* What cannot be taken back does not keep the rest from being. */
		int r = undo_level(arena, study, f, level, ret_stuck, NULL);

		if (r == 0)
			(void)json_object_del(state->hooks, study->factors[f].name);
		else if (worst == 0)
			worst = r;
	}
	return worst;
}

const char *study_host_by_hand(struct arena *arena, const struct study *study, const struct study_state *state)
{
	const char *text = NULL;

	for (size_t f = study->factor_count; f-- > 0;) {
		size_t level = hooked_level(&study->factors[f], state);

		if (level < study->factors[f].level_count)
			text = with(arena, text,
				    arena_printf(arena, "%s by hand: %s", level_words(arena, study, f, level, "undo"),
						 undo_line(arena, study, f, level)));
	}
	return text;
}

/* Take back the hooks of levels that `levels` (NULL: none) does not have. */
static int undo_hooks(struct study_host *host, const size_t *levels, struct err *err)
{
	const struct study *study = host->matrix->study;
	int worst = 0;

	for (size_t f = study->factor_count; f-- > 0;) {
		size_t level = host->hooked[f] - 1;
		struct err fault = {0};

		if (!host->hooked[f] || (levels && levels[f] == level))
			continue;
		/* What cannot be taken back does not keep the rest from being; on disk it stays. */
		int r = undo_level(host->arena, study, f, level, &host->stuck, &fault);

		host->hooked[f] = 0;
		if (r == 0)
			r = write_hook(host, f, NULL, &fault);
		if (r < 0 && worst == 0) {
			worst = r;
			(void)err_copy(err, &fault);
		}
	}
	return worst;
}

/* Those that are made before VMs start (`vms`), or the others. */
static int run_hooks(struct study_host *host, const size_t *levels, bool vms, struct err *err)
{
	const struct study *study = host->matrix->study;

	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_level *level = &study->factors[f].levels[levels[f]];

		if (!level->run.line || host->hooked[f] == levels[f] + 1 || study_vm_of_all(study, f, levels[f]) != vms)
			continue;
		/* One that fails half way is taken back too. */
		host->hooked[f] = levels[f] + 1;
		int r = write_hook(host, f, level->name, err);

		if (r == 0)
			r = run_hook(host, &level->run, level_words(host->arena, study, f, levels[f], "run"), err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- knobs ---- */

static int undo_change(struct study_host *host, unsigned *in_force, struct err *err)
{
	struct knob_report report = {0};
	unsigned change = *in_force;

	if (!change)
		return 0;
	*in_force = 0;
	int r = knob_undo(host->machine, change, &report, err);

	if (r < 0)
		study_host_stuck(host, arena_printf(host->arena, "settings of change %u: hvtune undo %u tries again",
						    change, change));
	else
		study_host_left(host, knob_report_left(host->arena, &report));
	return r;
}

static int undo_knobs(struct study_host *host, struct err *err)
{
	return undo_change(host, &host->change, err);
}

static int undo_vm_knobs(struct study_host *host, struct err *err)
{
	return undo_change(host, &host->vm_change, err);
}

/* Those of VMs that run, or those of the host: VMs start with these, and those move threads of the VMs then. */
static size_t live_asks(struct study_host *host, int config, bool vms, struct knob_ask **ret)
{
	size_t all = study_host_asks_of(host->arena, host->matrix, (size_t)config, STUDY_LIVE, STUDY_LIVE, ret);
	size_t count = 0;

	for (size_t i = 0; i < all; i++)
		if ((knob_find((*ret)[i].name)->scope == KNOB_VM) == vms)
			(*ret)[count++] = (*ret)[i];
	return count;
}

static int set_knobs(struct study_host *host, int config, bool vms, struct err *err)
{
	const struct study *study = host->matrix->study;
	const struct knob_apply_options options = {
	    .what = arena_printf(host->arena, STUDY_MARK "%s: %s", study->name,
				 study_config_name(host->arena, host->matrix, (size_t)config)),
	    .settle_ms = host->settle_ms,
	    .stop = study_host_stopped,
	    .data = host};
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	struct knob_ask *asks;
	size_t count = live_asks(host, config, vms, &asks);
	int r;

	if (!count)
		return 0;
	r = knob_plan_make(host->machine, asks, count, &plan, err);
	if (r == 0 && plan.points.count) {
		r = knob_apply(host->machine, &plan, &options, &report, err);
		if (r == 0)
			*(vms ? &host->vm_change : &host->change) = report.id;
	}
	return r == -ECANCELED && report.interrupted ? -EINTR : r;
}

/* It takes longest, and the host goes down for it: nothing of the study is in force then. */
static int ask_person(struct study_host *host, int config, struct err *err)
{
	const struct study_hands hands = {host->machine, host->matrix->study, host->state};
	json_t *levels;
	int r;

	if (!host->state)
		return err_set(err, EPERM, host->matrix->study->name,
			       "what waits for a person is kept on this machine, which takes root");
	r = study_host_leave(host, err);
	if (r < 0)
		return r;
	levels = study_hand_levels(host->matrix, (size_t)config);
	r = study_hand_ask(&hands, levels, err);
	json_decref(levels);
	return r;
}

int study_host_enter(struct study_host *host, int config, struct err *err)
{
	const size_t *levels = study_levels(host->matrix, (size_t)config);
	struct err fault = {0};
	int r, left;

	if (host->config == config && !host->anew)
		return 0;
	host->config = -1;
	if (!study_hand_is_here(host->matrix, host->state, (size_t)config))
		return ask_person(host, config, err);
	r = host->boot && !host->anew ? study_boot_is_here(host->boot, (size_t)config, err) : !host->anew;
	if (r == 0) {
		r = study_host_leave(host, err);
		return r < 0 ? r : study_boot_enter(host->boot, (size_t)config, host->anew, err);
	}
	if (r > 0)
		r = undo_hooks(host, levels, err);
	if (r == 0)
		r = undo_vm_knobs(host, err);
	if (r == 0)
		r = study_vm_down(host, config, err);
	if (r == 0)
		r = undo_knobs(host, err);
	if (r == 0)
		r = set_knobs(host, config, false, err);
	if (r == 0)
		r = run_hooks(host, levels, true, err);
	if (r == 0)
		r = study_vm_up(host, config, err);
	if (r == 0)
		r = set_knobs(host, config, true, err);
	if (r == 0)
		r = run_hooks(host, levels, false, err);
	if (r < 0) {
		left = study_host_leave(host, &fault);
		/* It may be tried again only on a machine that is as it was. */
		if (r == -EHOSTUNREACH && left < 0 && left != -EHOSTUNREACH) {
			r = left;
			(void)err_copy(err, &fault);
		}
		return r;
	}
	host->config = config;
	host->switches++;
	return 0;
}

static int undo_all_hooks(struct study_host *host, struct err *err)
{
	return undo_hooks(host, NULL, err);
}

int study_host_leave(struct study_host *host, struct err *err)
{
	int (*const parts[])(struct study_host * host, struct err * err) = {
	    undo_all_hooks, undo_vm_knobs, study_vm_leave_down, undo_knobs, study_vm_leave_up};
	int worst = 0;

	host->leaving = true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct err fault = {0};
		int r = parts[i](host, &fault);

		if (r < 0 && !host->stuck)
			study_host_stuck(host, arena_printf(host->arena, "%s: %s", fault.where, fault.what));
		if (r < 0 && worst == 0) {
			worst = r;
			(void)err_copy(err, &fault);
		}
	}
	host->leaving = false;
	host->config = -1;
	return worst;
}

/* ---- workloads ---- */

const char *study_metric_name(const struct study_workload *workload)
{
	return workload->metric.kind == STUDY_WALL ? BENCH_WALL : workload->name;
}

bool study_workload_reader(struct arena *arena, const struct study_workload *workload, struct bench_reader *ret)
{
	const struct study_metric *metric = &workload->metric;

	if (metric->kind == STUDY_WALL)
		return false;
	*ret = (struct bench_reader){.kind = metric->kind == STUDY_JSON ? BENCH_JSON : BENCH_REGEX,
				     .pattern = metric->pattern,
				     .metric = {.name = workload->name,
						.unit = metric->unit,
						.source = arena_printf(arena, "output: %s", metric->pattern),
						.better = metric->more_is_better ? BENCH_MORE : BENCH_LESS}};
	return true;
}

static int spawn_plain(const char *const *words, const char *what, struct err *err)
{
	const struct bench_command command = {.argv = words, .output = BENCH_OUTPUT_CAPTURE};
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
	int r = bench_spawn(&command, NULL, &outcome, err);

	if (r == 0 && outcome.exit_code != 0)
		r = err_set(err, EIO, what, "%.*s", (int)strcspn(outcome.errors, "\n"), outcome.errors);
	return r;
}

void study_work_clear(const char *path)
{
	(void)spawn_plain((const char *const[]){"rm", "-rf", "--", path, NULL}, path, NULL);
}

int study_work_make(const char *path, struct err *err)
{
	/* What somebody else has put there, or a kill has left, is not worked in. */
	study_work_clear(path);
	return spawn_plain((const char *const[]){"mkdir", "-m", "700", "--", path, NULL}, path, err);
}
