/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns planning every level and pair of levels on a machine. */
#include <errno.h>
#include <unistd.h>

#include "knob_libvirt.h"
#include "study_boot_internal.h"
#include "study_check.h"
#include "study_named.h"
#include "study_vm.h"
#include "text.h"

struct checking {
	struct knob_machine *machine;
	const struct study *study;
	const struct study_matrix *matrix; /* NULL: only levels are asked about */
	struct study_checked *result;
};

bool study_problem_blocks(enum study_problem_kind kind)
{
	return kind != STUDY_LEVEL_LATER && kind != STUDY_RISK && kind != STUDY_VM_SILENT && kind != STUDY_NO_IDLE;
}

void study_problem_add(struct arena *arena, struct study_checked *checked, enum study_problem_kind kind, unsigned line,
		       const char *what, const char *why)
{
	if (checked->count == checked->room) {
		size_t room = MAX_OF(2 * checked->room, 16U);
		struct study_problem *problems = ARENA_ARRAY(arena, room, struct study_problem);

		if (checked->count)
			memcpy(problems, checked->problems, checked->count * sizeof(*problems));
		checked->problems = problems;
		checked->room = room;
	}
	checked->problems[checked->count++] =
	    (struct study_problem){.kind = kind, .line = line, .what = what, .why = why};
	if (study_problem_blocks(kind))
		checked->possible = false;
}

static int by_line(const void *a, const void *b)
{
	const struct study_problem *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

void study_problems_sort(struct study_checked *checked)
{
	if (checked->count)
		qsort(checked->problems, checked->count, sizeof(*checked->problems), by_line);
}

static void add_problem(struct checking *checking, enum study_problem_kind kind, unsigned line, const char *what,
			const char *why)
{
	study_problem_add(checking->machine->arena, checking->result, kind, line, what, why);
}

/* Plan the asks of one or two levels. `b` may be NULL. */
static int plan_levels(struct checking *checking, const struct study_level *a, const struct study_level *b,
		       struct knob_plan *ret, struct err *err)
{
	size_t count = a->ask_count + (b ? b->ask_count : 0);
	struct knob_ask *asks = ARENA_ARRAY(checking->machine->arena, count + 1, struct knob_ask);

	if (a->ask_count)
		memcpy(asks, a->asks, a->ask_count * sizeof(*asks));
	if (b && b->ask_count)
		memcpy(asks + a->ask_count, b->asks, b->ask_count * sizeof(*asks));
	return knob_plan_make(checking->machine, asks, count, ret, err);
}

static const char *level_name(struct checking *checking, size_t factor, size_t level)
{
	return arena_printf(checking->machine->arena, "%s=%s", checking->study->factors[factor].name,
			    checking->study->factors[factor].levels[level].name);
}

static bool has_boot_factor(const struct study *study)
{
	for (size_t i = 0; i < study->factor_count; i++)
		if (study->factors[i].cost >= STUDY_HOST_BOOT)
			return true;
	return false;
}

/* VMs and services answer on the machine that runs, not in a copy of its files. */
static bool is_asked_live(const struct knob *knob)
{
	return knob->scope == KNOB_VM || knob->scope == KNOB_GUEST || text_starts(knob->name, "vm.") ||
	       text_starts(knob->name, "tuned.") || text_starts(knob->name, "service.");
}

static bool asks_live(const struct study_level *level)
{
	for (size_t i = 0; i < level->ask_count; i++) {
		const struct knob *knob = knob_find(level->asks[i].name);

		if (knob && is_asked_live(knob))
			return true;
	}
	return false;
}

bool study_level_later(struct knob_machine *machine, const struct study *study, const struct study_level *level)
{
	bool boots = has_boot_factor(study), copy = !sys_writer_is_live(machine->writer);
	struct study_level rest = {.asks = ARENA_ARRAY(machine->arena, level->ask_count + 1, struct knob_ask)};
	struct knob_plan plan = {0};

	for (size_t i = 0; i < level->ask_count; i++) {
		const struct knob *knob = knob_find(level->asks[i].name);

		if (!knob || !((knob->appears && boots) || (is_asked_live(knob) && copy)))
			rest.asks[rest.ask_count++] = level->asks[i];
	}
	if (rest.ask_count == level->ask_count)
		return false;
	return !rest.ask_count || study_pair_plan(machine, &rest, NULL, &plan, NULL) == 0;
}

static const char *why_of(struct checking *checking, const struct err *err)
{
	struct arena *arena = checking->machine->arena;

	return *err->hint ? arena_printf(arena, "%s: %s (%s)", err->where, err->what, err->hint)
			  : arena_printf(arena, "%s: %s", err->where, err->what);
}

/* A level that is refused by itself may be fine beside one of another factor: EPP beside governor powersave. */
static bool is_possible_beside(struct checking *checking, size_t factor, const struct study_level *level)
{
	for (size_t f = 0; f < checking->study->factor_count; f++)
		for (size_t l = 0; f != factor && l < checking->study->factors[f].level_count; l++) {
			struct knob_plan plan;
			struct err err = {0};

			if (plan_levels(checking, level, &checking->study->factors[f].levels[l], &plan, &err) == 0)
				return true;
		}
	return false;
}

enum study_possible study_level_possible(struct knob_machine *machine, const struct study *study, size_t factor,
					 size_t level, struct err *err)
{
	struct checking checking = {.machine = machine, .study = study};
	struct knob_plan plan = {0};

	if (plan_levels(&checking, &study->factors[factor].levels[level], NULL, &plan, err) == 0)
		return STUDY_BY_ITSELF;
	return is_possible_beside(&checking, factor, &study->factors[factor].levels[level]) ? STUDY_BESIDE_SOME
											    : STUDY_NOT_AT_ALL;
}

int study_pair_plan(struct knob_machine *machine, const struct study_level *a, const struct study_level *b,
		    struct knob_plan *ret, struct err *err)
{
	struct checking checking = {.machine = machine};

	return plan_levels(&checking, a, b, ret, err);
}

static void check_levels(struct checking *checking, enum study_possible **ret)
{
	const struct study *study = checking->study;

	for (size_t f = 0; f < study->factor_count; f++) {
		ret[f] = ARENA_ARRAY(checking->machine->arena, study->factors[f].level_count, enum study_possible);
		for (size_t l = 0; l < study->factors[f].level_count; l++) {
			const struct study_level *level = &study->factors[f].levels[l];
			struct knob_plan plan = {0};
			struct err err = {0};
			int r = plan_levels(checking, level, NULL, &plan, &err);

			if (r == 0)
				ret[f][l] = STUDY_BY_ITSELF;
			else if (is_possible_beside(checking, f, level))
				ret[f][l] = STUDY_BESIDE_SOME;
			if (r == 0 && plan.hole)
				add_problem(
				    checking, STUDY_RISK, level->line, level_name(checking, f, l),
				    arena_printf(checking->machine->arena, "%s opens a security hole", plan.hole));
			if (ret[f][l] != STUDY_NOT_AT_ALL)
				continue;
			/* Of a guest that is off nothing can be said before the study has started it. */
			if (err.code == -EHOSTDOWN || study_level_later(checking->machine, study, level))
				add_problem(
				    checking, STUDY_LEVEL_LATER, level->line, level_name(checking, f, l),
				    asks_live(level) && !sys_writer_is_live(checking->machine->writer)
					? "VMs and services are asked on the machine itself, not in a copy of it"
					: why_of(checking, &err));
			else
				add_problem(checking, STUDY_LEVEL_REFUSED, level->line, level_name(checking, f, l),
					    why_of(checking, &err));
		}
	}
}

/* ---- levels that are one ---- */

static bool same_command(const struct study_command *a, const struct study_command *b)
{
	size_t i = 0;

	if (!a->line || !b->line || a->shell != b->shell)
		return a->line == b->line;
	while (a->words[i] && text_equal(a->words[i], b->words[i]))
		i++;
	return !a->words[i] && !b->words[i];
}

/* "2M" and "2048K"; without a letter it may count something else ("8192" pages). */
static bool same_size(const char *a, const char *b)
{
	int64_t number, bytes_a, bytes_b;

	return text_int(a, 10, &number) < 0 && text_int(b, 10, &number) < 0 && text_size(a, &bytes_a) == 0 &&
	       text_size(b, &bytes_b) == 0 && bytes_a == bytes_b;
}

/* Ask by ask in words that mean the same whatever the machine is ("10" and "010"). */
static bool same_asks(const struct study_level *a, const struct study_level *b)
{
	for (size_t i = 0; i < a->ask_count; i++) {
		const struct knob_ask *x = &a->asks[i], *y = &b->asks[i];
		const struct knob *knob = knob_find(x->name);

		if (a->ask_count != b->ask_count || !knob || !text_equal(x->name, y->name) ||
		    (x->where != y->where && !text_equal(x->where, y->where)) ||
		    (!knob_same(knob, x->value, y->value) && !same_size(x->value, y->value)))
			return false;
	}
	return a->ask_count == b->ask_count;
}

static const struct knob_point *nth_point(const struct knob_plan *plan, size_t index)
{
	return index < plan->points.count ? &plan->points.items[index]
					  : &plan->already.items[index - plan->points.count];
}

static size_t count_points(const struct knob_plan *plan)
{
	return plan->points.count + plan->already.count;
}

/* Every point of one has its like in the other: this machine makes the same of both ("16G" and "8192" pages). */
static bool same_points(const struct knob_plan *a, const struct knob_plan *b)
{
	size_t count = count_points(a);

	if (count != count_points(b))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct knob_point *x = nth_point(a, i);
		bool found = false;

		for (size_t n = 0; n < count && !found; n++) {
			/* Mostly at the same place. */
			const struct knob_point *y = nth_point(b, (i + n) % count);

			found =
			    x->knob == y->knob && text_equal(x->where, y->where) && knob_same(x->knob, x->new, y->new);
		}
		if (!found)
			return false;
	}
	return true;
}

static bool is_twice(struct checking *checking, const struct study_level *a, const struct study_level *b)
{
	struct knob_plan x = {0}, y = {0};

	if (!same_command(&a->run, &b->run) || !same_command(&a->undo, &b->undo))
		return false;
	if (same_asks(a, b))
		return true;
	return a->ask_count && b->ask_count && plan_levels(checking, a, NULL, &x, NULL) == 0 &&
	       plan_levels(checking, b, NULL, &y, NULL) == 0 && same_points(&x, &y);
}

/* It would be measured as two and told as a choice. What a person sets is not known here. */
static void check_twice(struct checking *checking)
{
	const struct study *study = checking->study;

	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 1; !study->factors[f].ask && l < study->factors[f].level_count; l++)
			for (size_t before = 0; before < l; before++) {
				const struct study_level *levels = study->factors[f].levels;

				if (!is_twice(checking, &levels[before], &levels[l]))
					continue;
				add_problem(checking, STUDY_LEVEL_TWICE, levels[l].line, level_name(checking, f, l),
					    arena_printf(checking->machine->arena,
							 "levels %s and %s are the same value; leave one of them out",
							 levels[before].name, levels[l].name));
				break;
			}
}

bool study_pair_forbidden(const struct study *study, size_t f, size_t i, size_t g, size_t j)
{
	for (size_t n = 0; n < study->forbid_count; n++) {
		const struct study_forbid *forbid = &study->forbids[n];
		bool whole = true;

		for (size_t k = 0; k < forbid->count && whole; k++)
			whole = (forbid->factors[k] == f && forbid->levels[k] == i) ||
				(forbid->factors[k] == g && forbid->levels[k] == j);
		if (whole)
			return true;
	}
	return false;
}

static void check_pair(struct checking *checking, size_t f, size_t i, size_t g, size_t j)
{
	const struct study *study = checking->study;
	const struct study_level *a = &study->factors[f].levels[i], *b = &study->factors[g].levels[j];
	struct knob_plan plan;
	struct err err = {0};

	if (!a->ask_count || !b->ask_count || study_pair_forbidden(study, f, i, g, j))
		return;
	if (plan_levels(checking, a, b, &plan, &err) == 0)
		return;
	add_problem(checking, STUDY_PAIR_REFUSED, MAX_OF(a->line, b->line),
		    arena_printf(checking->machine->arena, "%s with %s", level_name(checking, f, i),
				 level_name(checking, g, j)),
		    arena_printf(checking->machine->arena, "%s; if they are not to meet: never: [{%s: %s, %s: %s}]",
				 why_of(checking, &err), study->factors[f].name, a->name, study->factors[g].name,
				 b->name));
}

static void check_pairs(struct checking *checking, enum study_possible *const *possible)
{
	const struct study *study = checking->study;

	for (size_t f = 1; f < study->factor_count; f++)
		for (size_t g = 0; g < f; g++) {
			size_t count = study->factors[g].level_count;

			/* What is asked for after a boot is not what the machine is now. */
			if ((study->factors[f].cost >= STUDY_HOST_BOOT) != (study->factors[g].cost >= STUDY_HOST_BOOT))
				continue;
			for (size_t n = 0; n < study->factors[f].level_count * count; n++) {
				/* What is refused in any company was said already. */
				if (possible[f][n / count] != STUDY_NOT_AT_ALL &&
				    possible[g][n % count] != STUDY_NOT_AT_ALL)
					check_pair(checking, f, n / count, g, n % count);
			}
		}
}

/* The first word of a command that is executed as it stands must be a program. */
static bool is_program(const struct study_command *command)
{
	const char *path = getenv("PATH");
	char at[4096];

	if (!command->line || command->shell)
		return true;
	if (strchr(command->words[0], '/'))
		return access(command->words[0], X_OK) == 0;
	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (snprintf(at, sizeof(at), "%.*s/%s", (int)length, path, command->words[0]) < (int)sizeof(at) &&
		    access(at, X_OK) == 0)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

static void check_workloads(struct checking *checking)
{
	const struct study *study = checking->study;

	for (size_t i = 0; i < study->workload_count; i++) {
		const struct study_workload *workload = &study->workloads[i];

		/* What runs in a VM is there, not here. */
		const char *missing = study_named_missing(checking->machine->sys, workload);

		if (missing && !workload->on && !workload->ssh)
			add_problem(checking, STUDY_WORKLOAD, workload->line, workload->name,
				    arena_printf(checking->machine->arena,
						 "package %s is not installed (hvtune workloads install %s)", missing,
						 workload->name));
		if (workload->on || workload->ssh || !sys_writer_is_live(checking->machine->writer))
			continue;
		if (!is_program(&workload->run))
			add_problem(checking, STUDY_WORKLOAD, workload->line, workload->name,
				    arena_printf(checking->machine->arena, "there is no program \"%s\"",
						 workload->run.words[0]));
		if (workload->directory && access(workload->directory, X_OK) < 0)
			add_problem(checking, STUDY_WORKLOAD, workload->line, workload->name,
				    arena_printf(checking->machine->arena, "directory %s: %s", workload->directory,
						 sys_reason(errno)));
	}
}

/* Of a level that takes a boot: what it asks for must be what a boot sets, and hvtune must be able to boot. */
static void check_boots(struct checking *checking)
{
	const struct study *study = checking->study;
	const char *refused = study_needs_boots(study) ? study_boots_refused(checking->machine) : NULL;

	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_factor *factor = &study->factors[f];
		const char *const *names;

		if (factor->cost != STUDY_HOST_BOOT)
			continue;
		if (refused)
			add_problem(checking, STUDY_NOT_HERE, factor->line, factor->name, refused);
		for (size_t l = 0; l < factor->level_count; l++)
			if (factor->levels[l].run.line)
				add_problem(checking, STUDY_NOT_YET, factor->levels[l].line, level_name(checking, f, l),
					    "its command would have to be run before a boot; only words of the "
					    "kernel's line are booted by themselves so far");
		if (!study_boot_names(checking->machine->arena, study, &names))
			add_problem(checking, STUDY_NOT_YET, factor->line, factor->name,
				    "it needs a boot of the host, and no level says what a boot would change (\"set: "
				    "{boot.amd_pstate: guided}\")");
	}
	if (study->limits.boots && study_needs_boots(study) &&
	    study->limits.boots < study_count_boots(checking->matrix, 1))
		add_problem(checking, STUDY_NOT_HERE, study->limits.boots_line, "limits.boots",
			    arena_printf(checking->machine->arena,
					 "each configuration once takes %s, and %u %s allowed",
					 text_count(checking->machine->arena, study_count_boots(checking->matrix, 1),
						    "boot", "boots"),
					 study->limits.boots, study->limits.boots == 1 ? "is" : "are"));
}

static void check_vms(struct checking *checking)
{
	const struct study *study = checking->study;
	struct err ignored = {0};

	/* In a copy of a machine's files there are none to ask. */
	if (!sys_writer_is_live(checking->machine->writer) && knob_libvirt_open(checking->machine, &ignored) < 0)
		return;
	for (size_t i = 0; study->vms[i]; i++) {
		struct err err = {0};
		bool silent = false;

		if (study_vm_check(checking->machine, study, i, &silent, &err) < 0)
			add_problem(checking, STUDY_VM, study->vm_rules[i].line, study->vms[i], why_of(checking, &err));
		else if (silent)
			add_problem(checking, STUDY_VM_SILENT, study->vm_rules[i].line, study->vms[i],
				    "it has no channel for a guest agent and no \"ssh\", so that its guest cannot say "
				    "when it is up: after each start it is left alone for its \"wait\" (30 s where the "
				    "file says none) and taken for up if it still runs");
	}
}

/* What the engine would refuse when it begins. */
static void check_design(struct checking *checking, const struct study_matrix *matrix)
{
	const struct study *study = checking->study;
	struct arena *arena = checking->machine->arena;

	for (size_t f = 0; study->design == STUDY_ONE_BY_ONE && f < study->factor_count; f++)
		if (study->factors[f].level_count != 2)
			add_problem(checking, STUDY_NO_DESIGN, study->factors[f].line, study->factors[f].name,
				    arena_printf(arena,
						 "design one-by-one takes factors of two levels; this one has %zu",
						 study->factors[f].level_count));
	if (!study_is_allowed(study, study->baseline))
		add_problem(
		    checking, STUDY_NO_DESIGN, 1, study->name,
		    arena_printf(arena,
				 "what the machine has now is excluded by \"never\", and all is compared with it; "
				 "name another: baseline: {%s: ...}",
				 study->factors[0].name));
	if (matrix->count < 2)
		add_problem(checking, STUDY_NO_DESIGN, 1, study->name,
			    "\"never\" leaves less than two configurations to compare");
}

void study_check(struct knob_machine *machine, const struct study_matrix *matrix, struct study_checked *ret)
{
	struct checking checking = {.machine = machine, .study = matrix->study, .matrix = matrix, .result = ret};
	enum study_possible **possible =
	    ARENA_ARRAY(machine->arena, matrix->study->factor_count + 1, enum study_possible *);

	*ret = (struct study_checked){.possible = true};
	check_levels(&checking, possible);
	check_twice(&checking);
	check_pairs(&checking, possible);
	check_workloads(&checking);
	check_vms(&checking);
	check_boots(&checking);
	check_design(&checking, matrix);
	study_problems_sort(ret);
}

void study_count_switches(const struct study_matrix *matrix, struct study_switches *ret)
{
	size_t at = matrix->baseline;

	*ret = (struct study_switches){0};
	for (size_t i = 0; i < matrix->count; i++) {
		int cost = study_switch_cost(matrix, at, i);

		if (cost >= 0)
			ret->count[cost]++;
		at = i;
	}
	int cost = matrix->count ? study_switch_cost(matrix, at, matrix->baseline) : -1;

	if (cost >= 0)
		ret->count[cost]++;
}
