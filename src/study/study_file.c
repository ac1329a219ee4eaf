/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the top of a study file: its keys, what they are when they are not there, and what goes together. */
#include <errno.h>

#include "study_matrix.h"
#include "study_reader.h"
#include "text.h"

/* Longer than any machine is there for: a slip of the pen. */
#define MOST_BUDGET_S (1000. * 86400)

static const char *const design_names[] = {
    [STUDY_AUTO] = "auto", [STUDY_FULL] = "full", [STUDY_RACE] = "race", [STUDY_ONE_BY_ONE] = "one-by-one"};
static const char *const goal_names[STUDY_GOALS] = {[STUDY_TIME] = "time",
						    [STUDY_ENERGY] = "energy",
						    [STUDY_LOAD_WATTS] = "load-watts",
						    [STUDY_IDLE_WATTS] = "idle-watts"};

const char *study_design_name(enum study_design design)
{
	return design_names[design];
}

const char *study_goal_name(enum study_goal goal)
{
	return goal_names[goal];
}

static void read_design(struct study_reader *reader, const struct study_node *node, void *into)
{
	int at = study_choice(reader, node, design_names, ARRAY_SIZE(design_names), "a design");

	if (at >= 0)
		*(enum study_design *)into = (enum study_design)at;
}

static void read_leave(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const char *const names[] = {"restore", "best"};
	int at = study_choice(reader, node, names, ARRAY_SIZE(names), "what a study can leave");

	if (at >= 0)
		*(bool *)into = at == 1;
}

/* "idle-watts", or {idle-watts: 120 W}: at most that. */
static void read_objective(struct study_reader *reader, const struct study_node *node)
{
	struct study *study = reader->study;
	const struct study_node *name = node;
	struct study_objective objective = {.line = node->line};

	if (node->kind == STUDY_MAP && node->item_count == 1)
		name = node->keys[0];
	int at = study_choice(reader, name, goal_names, ARRAY_SIZE(goal_names), "an objective");

	if (at < 0)
		return;
	objective.goal = (enum study_goal)at;
	if (name != node && (objective.goal == STUDY_TIME || objective.goal == STUDY_ENERGY))
		study_mistake(reader, node, "only watts can be limited; %s is sought as low as it gets",
			      goal_names[at]);
	else if (name != node)
		study_read_watts(reader, node->items[0], &objective.at_most);
	for (size_t i = 0; i < study->objective_count; i++)
		if (study->objectives[i].goal == objective.goal) {
			study_mistake(reader, node, "objective \"%s\" is there twice", goal_names[at]);
			return;
		}
	study->objectives[study->objective_count++] = objective;
}

static void read_objectives(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study *study = reader->study;
	bool sought = false;

	(void)into;
	if (node->kind == STUDY_SCALAR) {
		read_objective(reader, node);
	} else if (node->kind == STUDY_LIST) {
		for (size_t i = 0; i < node->item_count; i++)
			read_objective(reader, node->items[i]);
	} else {
		study_mistake(reader, node, "objectives are a list, \"[time, energy]\"");
		return;
	}
	for (size_t i = 0; i < study->objective_count; i++)
		sought = sought || study->objectives[i].at_most == 0;
	if (study->objective_count && !sought)
		study_mistake(reader, node, "all objectives are limits; one must be sought, as \"time\"");
}

static void read_runs(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study *study = into;

	if (node->kind != STUDY_LIST) {
		study_read_count(reader, node, &study->runs_least);
		study->runs_most = study->runs_least;
		return;
	}
	if (node->item_count != 2) {
		study_mistake(reader, node, "runs are one number, or the least and the most, \"[5, 16]\"");
		return;
	}
	study_read_count(reader, node->items[0], &study->runs_least);
	study_read_count(reader, node->items[1], &study->runs_most);
	if (study->runs_least > study->runs_most)
		study_mistake(reader, node, "the least number of runs, %u, is above the most, %u", study->runs_least,
			      study->runs_most);
}

static const struct study_field idle_fields[] = {
    {"settle", study_read_duration, offsetof(struct study, idle_settle_s), false},
    {"window", study_read_duration, offsetof(struct study, idle_window_s), false},
};

static void read_idle(struct study_reader *reader, const struct study_node *node, void *into)
{
	(void)study_read_fields(reader, node, idle_fields, ARRAY_SIZE(idle_fields), into, "idle");
}

/* A name, or keys with more: {name: web1, ssh: root@web1, wait: 5 min, force: yes}. */
static const char *read_vm(struct study_reader *reader, const struct study_node *node, struct study_vm_rule *rule)
{
	static const struct study_field keys[] = {
	    {"name", NULL, 0, true},
	    {"ssh", study_read_text, offsetof(struct study_vm_rule, ssh), false},
	    {"wait", study_read_duration, offsetof(struct study_vm_rule, wait_s), false},
	    {"force", study_read_flag, offsetof(struct study_vm_rule, force), false},
	};
	const struct study_node *name = study_node_get(node, "name", NULL);

	rule->line = node->line;
	if (node->kind != STUDY_MAP)
		return study_scalar(reader, node, "the name of a VM");
	if (!study_read_fields(reader, node, keys, ARRAY_SIZE(keys), rule, "a VM") || !name)
		return NULL;
	/* What begins with a dash would be an option of ssh(1). */
	if (rule->ssh && (!*rule->ssh || *rule->ssh == '-' || strpbrk(rule->ssh, " \t\n")))
		study_mistake(reader, study_node_get(node, "ssh", NULL), "\"%s\" names no machine; USER@MACHINE does",
			      rule->ssh);
	return study_scalar(reader, name, "the name of a VM");
}

static void read_vms(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char **names = ARENA_ARRAY(reader->arena, node->item_count + 1, const char *);
	struct study_vm_rule *rules = ARENA_ARRAY(reader->arena, node->item_count + 1, struct study_vm_rule);
	size_t count = 0;

	if (node->kind != STUDY_LIST) {
		study_mistake(reader, node, "vms are a list of names, \"[web1]\"");
		return;
	}
	for (size_t i = 0; i < node->item_count; i++) {
		const char *name = read_vm(reader, node->items[i], &rules[count]);

		for (size_t j = 0; name && j < count; j++)
			if (text_equal(names[j], name))
				study_mistake(reader, node->items[i], "VM \"%s\" is there twice", name);
		if (name)
			names[count++] = name;
	}
	reader->study->vm_rules = rules;
	*(const char *const **)into = names;
}

/* "85 C"; what no part of a machine reaches or leaves is a mistake in writing. */
static void read_temperature(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study_limits *limits = into;

	limits->temperature_line = node->line;
	study_read_celsius(reader, node, &limits->temperature_c);
}

static void read_power(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study_limits *limits = into;

	limits->power_line = node->line;
	study_read_watts(reader, node, &limits->power_w);
}

static void read_boots(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study_limits *limits = into;

	limits->boots_line = node->line;
	study_read_count(reader, node, &limits->boots);
}

static void read_limits(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const struct study_field limits[] = {
	    {"temperature", read_temperature, 0, false},
	    {"power", read_power, 0, false},
	    {"boots", read_boots, 0, false},
	};

	if (study_read_fields(reader, node, limits, ARRAY_SIZE(limits), into, "limits") && !node->item_count)
		study_mistake(reader, node, "limits without one: temperature, power or boots");
}

static void read_meter(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const char *const names[] = {"wall", "board", "package"};
	int at = study_choice(reader, node, names, ARRAY_SIZE(names), "a boundary of meters");

	if (at >= 0)
		*(const char **)into = names[at];
}

/* "weights: {time: 2, energy: 1}", of all that is sought. */
static void read_weights(struct study_reader *reader, const struct study_node *node)
{
	struct study *study = reader->study;

	if (node->kind != STUDY_MAP) {
		study_mistake(reader, node,
			      "\"weights\" holds objectives with a weight each, \"{time: 2, energy: 1}\"");
		return;
	}
	for (size_t i = 0; i < node->item_count; i++) {
		int goal = study_choice(reader, node->keys[i], goal_names, ARRAY_SIZE(goal_names), "an objective");
		struct study_objective *objective = NULL;

		for (size_t j = 0; j < study->objective_count; j++)
			if ((int)study->objectives[j].goal == goal)
				objective = &study->objectives[j];
		if (goal >= 0 && !objective)
			study_mistake(reader, node->keys[i], "\"%s\" has a weight and is not among the objectives",
				      goal_names[goal]);
		else if (goal >= 0 && objective->at_most > 0)
			study_mistake(reader, node->keys[i], "\"%s\" is a limit, which has no weight",
				      goal_names[goal]);
		else if (goal == STUDY_IDLE_WATTS)
			study_mistake(
			    reader, node->keys[i],
			    "idle-watts takes no weight: idle watts are measured for the finalists, not in each run; "
			    "seek it beside the others, or as a limit");
		else if (goal >= 0)
			study_read_weight(reader, node->items[i], &objective->weight);
	}
	for (size_t j = 0; j < study->objective_count; j++)
		if (study->objectives[j].at_most == 0 && study->objectives[j].goal != STUDY_IDLE_WATTS &&
		    !study_node_get(node, goal_names[study->objectives[j].goal], NULL))
			study_mistake(reader, node, "\"%s\" is sought and has no weight",
				      goal_names[study->objectives[j].goal]);
}

static void read_seed(struct study_reader *reader, const struct study_node *node, void *into)
{
	unsigned seed = 0;

	study_read_count(reader, node, &seed);
	*(uint64_t *)into = seed;
}

/* A session is asked for by this name, too: it must not be what names another one. */
static void read_study_name(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char *name = NULL;
	int64_t number;

	study_read_name(reader, node, &name);
	if (!name)
		return;
	if (text_equal(name, "last") || text_int(name, 10, &number) == 0)
		study_mistake(reader, node, "a study cannot be named \"%s\": that names a session already", name);
	*(const char **)into = name;
}

static void read_budget(struct study_reader *reader, const struct study_node *node, void *into)
{
	double budget_s = 0;

	study_read_duration(reader, node, &budget_s);
	if (budget_s > MOST_BUDGET_S)
		study_mistake(reader, node, "\"%s\" is no budget: at most 1000 d", node->text);
	*(double *)into = budget_s;
}

static const struct study_field fields[] = {
    {"study", read_study_name, offsetof(struct study, name), true},
    {"title", study_read_text, offsetof(struct study, title), false},
    {"workloads", study_read_workloads, 0, true},
    {"on", NULL, 0, false},
    {"factors", study_read_factors, 0, true},
    {"never", NULL, 0, false},
    {"baseline", NULL, 0, false},
    {"objectives", read_objectives, 0, false},
    {"weights", NULL, 0, false},
    {"meter", read_meter, offsetof(struct study, meter), false},
    {"limits", read_limits, offsetof(struct study, limits), false},
    {"notify", study_read_command, offsetof(struct study, notify), false},
    {"design", read_design, offsetof(struct study, design), false},
    {"runs", read_runs, 0, false},
    {"budget", read_budget, offsetof(struct study, budget_s), false},
    {"confidence", study_read_share, offsetof(struct study, confidence), false},
    {"within", study_read_share, offsetof(struct study, within), false},
    {"idle", read_idle, 0, false},
    {"leave", read_leave, offsetof(struct study, leave_best), false},
    {"confirm", study_read_flag, offsetof(struct study, confirm), false},
    {"vms", read_vms, offsetof(struct study, vms), false},
    {"seed", read_seed, offsetof(struct study, seed), false},
};

/* "on" of the study is for all workloads that do not say where they run. */
static void read_place(struct study_reader *reader, const struct study_node *root)
{
	const struct study_node *on = study_node_get(root, "on", NULL), *all = study_node_get(root, "workloads", NULL);
	struct study *study = reader->study;
	struct study_workload place = {0};

	if (!on)
		return;
	study_read_on(reader, on, &place);
	for (size_t i = 0; i < study->workload_count; i++)
		if (all->kind != STUDY_MAP || !study_node_get(all->items[i], "on", NULL)) {
			study->workloads[i].on = place.on;
			study->workloads[i].ssh = place.ssh;
		}
}

/* Work in a VM and knobs of a VM name VMs that the study must know. */
static void check_workloads(struct study_reader *reader, const struct study_node *root)
{
	const struct study *study = reader->study;
	const struct study_node *node = study_node_get(root, "workloads", NULL);

	for (size_t i = 0; i < study->workload_count; i++) {
		const char *on = study->workloads[i].on;
		const struct study_node *said =
		    node->kind == STUDY_MAP ? study_node_get(node->items[i], "on", NULL) : NULL;
		bool known = !on;

		for (size_t j = 0; study->vms[j] && !known; j++)
			known = text_equal(study->vms[j], on);
		if (!known) {
			study_mistake(reader, said ? said : study_node_get(root, "on", NULL),
				      "workload \"%s\" runs on \"%s\", which is not among vms",
				      study->workloads[i].name, on);
			study_advice(reader, "vms: [%s]", on);
		}
	}
}

/* A definition or a kernel line acts when the study starts the VM: it must know that one. */
static void check_vm_knob(struct study_reader *reader, const struct study_node *node, const struct knob_ask *ask)
{
	enum study_cost cost = study_ask_cost(ask);
	const struct study *study = reader->study;
	char *rest = ask->where ? arena_strdup(reader->arena, ask->where) : NULL;

	if (cost != STUDY_VM_RESTART && cost != STUDY_GUEST_BOOT)
		return;
	if (!rest)
		study_mistake(reader, node, "%s needs the name of a VM: %s@NAME", ask->name, ask->name);
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
		bool known = false;

		for (size_t i = 0; study->vms[i] && !known; i++)
			known = text_equal(study->vms[i], name);
		if (known)
			continue;
		study_mistake(reader, node, "%s is of \"%s\", which is not among vms", ask->name, name);
		study_advice(reader, "vms: [%s]", name);
	}
}

static void check_vm_knobs(struct study_reader *reader, const struct study_node *root)
{
	const struct study *study = reader->study;
	const struct study_node *node = study_node_get(root, "factors", NULL);

	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			for (size_t i = 0; i < study->factors[f].levels[l].ask_count; i++) {
				size_t before = reader->mistakes->count;

				check_vm_knob(reader, node->items[f], &study->factors[f].levels[l].asks[i]);
				/* One of them says it. */
				if (reader->mistakes->count > before)
					l = study->factors[f].level_count - 1;
			}
}

/* The same knob in two factors: one would overwrite the other, and neither's effect could be told. */
static void check_knobs(struct study_reader *reader, const struct study_node *root)
{
	const struct study *study = reader->study;
	const struct study_node *node = study_node_get(root, "factors", NULL);

	for (size_t f = 1; f < study->factor_count; f++)
		for (size_t g = 0; g < f; g++)
			for (size_t i = 0; i < study->factors[f].level_count; i++)
				for (size_t j = 0; j < study->factors[g].level_count; j++) {
					const struct study_level *a = &study->factors[f].levels[i];
					const struct study_level *b = &study->factors[g].levels[j];

					for (size_t k = 0; k < a->ask_count * b->ask_count; k++) {
						const struct knob_ask *x = &a->asks[k / b->ask_count];
						const struct knob_ask *y = &b->asks[k % b->ask_count];

						if (!text_equal(x->name, y->name) ||
						    (x->where && y->where && !text_equal(x->where, y->where)))
							continue;
						study_mistake(reader, node->items[f],
							      "factors \"%s\" and \"%s\" both set %s",
							      study->factors[g].name, study->factors[f].name, x->name);
						return;
					}
				}
}

static void check_matrix(struct study_reader *reader, const struct study_node *root)
{
	const struct study *study = reader->study;
	double product = study_product(study);

	if (product > STUDY_MOST_CONFIGS)
		study_mistake(reader, study_node_get(root, "factors", NULL),
			      "%.0f combinations of levels; a study has at most %d", product, STUDY_MOST_CONFIGS);
	else if (study->forbid_count && !study_is_allowed(study, study->baseline))
		study_mistake(reader, study_node_get(root, "never", NULL), "\"never\" forbids the baseline");
}

int study_read(struct arena *arena, const char *file, const char *text, size_t length, struct study **ret,
	       struct study_mistakes *mistakes)
{
	struct study *study = ARENA_NEW(arena, struct study);
	struct study_reader reader = {.arena = arena, .file = file, .study = study, .mistakes = mistakes};
	const struct study_node *never, *baseline, *weights;
	struct study_node *root;
	struct err err = {0};
	int r = study_yaml_parse(arena, file, text, length, &root, &err);

	mistakes->arena = arena;
	if (r < 0) {
		mistakes->items = ARENA_NEW(arena, struct err);
		mistakes->items[0] = err;
		mistakes->count = mistakes->room = 1;
		return -EINVAL;
	}
	*study = (struct study){.file = file,
				.confidence = .95,
				.within = .01,
				.runs_least = 5,
				.runs_most = 16,
				.confirm = true,
				.idle_settle_s = 120,
				.idle_window_s = 30,
				.seed = 1};
	study->vms = ARENA_ARRAY(arena, 1, const char *);
	study->vm_rules = ARENA_ARRAY(arena, 1, struct study_vm_rule);
	if (study_read_fields(&reader, root, fields, ARRAY_SIZE(fields), study, "a study")) {
		study->baseline = ARENA_ARRAY(arena, study->factor_count + 1, size_t);
		never = study_node_get(root, "never", NULL);
		baseline = study_node_get(root, "baseline", NULL);
		weights = study_node_get(root, "weights", NULL);
		study->baseline_given = baseline;
		if (baseline)
			study_read_baseline(&reader, baseline);
		if (never)
			study_read_forbids(&reader, never);
		if (!study->objective_count)
			study->objectives[study->objective_count++] = (struct study_objective){.goal = STUDY_TIME};
		if (weights)
			read_weights(&reader, weights);
		read_place(&reader, root);
		check_workloads(&reader, root);
		check_vm_knobs(&reader, root);
		check_knobs(&reader, root);
		if (!mistakes->count)
			check_matrix(&reader, root);
	}
	if (mistakes->count)
		return -EINVAL;
	*ret = study;
	return 0;
}
