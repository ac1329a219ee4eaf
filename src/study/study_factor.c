/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the factors of a study file: their levels, what a change of level costs, and which levels must not meet. */
#include <errno.h>

#include "study_reader.h"
#include "text.h"

static const struct {
	const char *name;
	double seconds;
} costs[] = {
    /*
     * A live switch is written, read back, and looked at again after two seconds. The others are those of the
     * mathematics: guest restart 45 s, host boot 6 min with settling. A person: their own time.
     */
    [STUDY_LIVE] = {"live", 3},
    [STUDY_VM_RESTART] = {"vm-restart", 45},
    [STUDY_GUEST_BOOT] = {"guest-boot", 45},
    [STUDY_HOST_BOOT] = {"host-boot", 360},
    [STUDY_PERSON] = {"person", 900},
};

const char *study_cost_name(enum study_cost cost)
{
	return costs[cost].name;
}

double study_cost_seconds(enum study_cost cost)
{
	return costs[cost].seconds;
}

double study_switch_seconds(const struct study *study, enum study_cost cost)
{
	return cost == STUDY_HOST_BOOT && study->boot_s > 0 ? study->boot_s : study_cost_seconds(cost);
}

static void read_cost(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char *names[STUDY_COSTS];

	for (size_t i = 0; i < STUDY_COSTS; i++)
		names[i] = costs[i].name;
	int at = study_choice(reader, node, names, STUDY_COSTS, "a cost of changing a level");

	if (at >= 0)
		*(enum study_cost *)into = (enum study_cost)at;
}

/* What setting the knob takes until it acts. */
static enum study_cost cost_of_knob(const struct knob *knob)
{
	static const enum study_cost by_scope[] = {
	    [KNOB_RUNTIME] = STUDY_LIVE,     [KNOB_CONFIG] = STUDY_LIVE, [KNOB_BOOT] = STUDY_HOST_BOOT,
	    [KNOB_MODULE] = STUDY_HOST_BOOT, [KNOB_VM] = STUDY_LIVE,	 [KNOB_GUEST] = STUDY_GUEST_BOOT,
	};

	/* What a definition says acts when the VM is started. */
	if (knob->scope == KNOB_CONFIG && text_starts(knob->name, "vm."))
		return STUDY_VM_RESTART;
	/* What a guest needs a reboot for, the host does not. */
	if (knob->after && strstr(knob->after, "reboot") && knob->scope != KNOB_GUEST)
		return STUDY_HOST_BOOT;
	return by_scope[knob->scope];
}

enum study_cost study_ask_cost(const struct knob_ask *ask)
{
	const struct knob *knob = knob_find(ask->name);

	return knob ? cost_of_knob(knob) : STUDY_LIVE;
}

static void refuse_knob(struct study_reader *reader, const struct study_node *node, const char *name)
{
	const char **names;
	size_t count = 0;

	while (knob_at(count))
		count++;
	names = ARENA_ARRAY(reader->arena, count, const char *);
	for (size_t i = 0; i < count; i++)
		names[i] = knob_at(i)->name;
	study_mistake(reader, node, "there is no knob \"%s\"%s", name, study_near(reader, name, names, count));
	study_advice(reader, "`hvtune knobs` lists all");
}

/* What is no word of the kernel's line, and would be taken for one that does nothing. */
static bool means_kernel(const char *name)
{
	return text_has_word("kernel boot.entry boot.linux boot.vmlinuz boot.version", " ", name);
}

void study_add_ask(struct study_reader *reader, struct study_level *level, const char *text,
		   const struct study_node *node)
{
	const char *name = arena_strndup(reader->arena, text, strcspn(text, "@="));
	const struct knob *knob = knob_find(name);
	struct knob_ask ask;
	struct err err = {0};

	if (means_kernel(name)) {
		study_mistake(reader, node, "there is no knob \"%s\"; which kernel is booted is boot.kernel", name);
		study_advice(reader, "its levels are releases as `uname -r` prints them");
		return;
	}
	if (!knob) {
		refuse_knob(reader, node, name);
		return;
	}
	if (knob_ask_parse(reader->arena, text, &ask, &err) < 0) {
		study_mistake(reader, node, "%s: %s", err.where, err.what);
		return;
	}
	level->cost = MAX_OF(level->cost, study_ask_cost(&ask));
	level->asks[level->ask_count++] = ask;
}

/* KNOB or KNOB@WHERE with its value. */
static void add_value(struct study_reader *reader, struct study_level *level, const char *knob,
		      const struct study_node *node, const struct study_node *value)
{
	const char *text = study_scalar(reader, value, "a value of the knob");

	if (text)
		study_add_ask(reader, level, arena_printf(reader->arena, "%s=%s", knob, text), node);
}

static void read_set(struct study_reader *reader, struct study_level *level, const struct study_node *node)
{
	if (node->kind != STUDY_MAP || !node->item_count) {
		study_mistake(reader, node, "\"set\" holds knobs with their values, \"governor: powersave\"");
		return;
	}
	level->asks = ARENA_ARRAY(reader->arena, node->item_count, struct knob_ask);
	for (size_t i = 0; i < node->item_count; i++)
		add_value(reader, level, node->keys[i]->text, node->keys[i], node->items[i]);
}

/* A level with keys: what it sets, and its hooks. */
static void read_level_keys(struct study_reader *reader, struct study_level *level, const struct study_node *node)
{
	static const struct study_field fields[] = {
	    {"set", NULL, 0, false},
	    {"plan", NULL, 0, false},
	    {"run", study_read_command, offsetof(struct study_level, run), false},
	    {"undo", study_read_command, offsetof(struct study_level, undo), false},
	    {"see", study_read_command, offsetof(struct study_level, see), false},
	};
	const struct study_node *set = study_node_get(node, "set", NULL), *plan = study_node_get(node, "plan", NULL);

	if (!study_read_fields(reader, node, fields, ARRAY_SIZE(fields), level, "a level"))
		return;
	if (set && plan)
		study_mistake(reader, node, "level \"%s\" has both \"set\" and \"plan\"; one says what is set",
			      level->name);
	else if (set)
		read_set(reader, level, set);
	else if (plan)
		study_read_plan(reader, level, plan);
	if (level->run.line && !study_node_get(node, "undo", NULL))
		study_mistake(reader, node, "level \"%s\" runs a command and has no \"undo\" to take it back",
			      level->name);
	if (level->undo.line && !study_node_get(node, "run", NULL))
		study_mistake(reader, node, "level \"%s\" has an \"undo\" and runs no command that it could take back",
			      level->name);
	if (!set && !plan && !level->see.line && !study_node_get(node, "run", NULL) &&
	    !study_node_get(node, "undo", NULL)) {
		study_mistake(reader, node, "level \"%s\" neither sets a knob nor runs a command", level->name);
		study_advice(reader, "%s: as-found leaves the machine as it was found", level->name);
	}
}

/* levels: [a, b] of a knob, or of what a person changes; or names with keys. */
static void read_levels(struct study_reader *reader, struct study_factor *factor, const struct study_node *knob,
			const struct study_node *node)
{
	bool named = node->kind == STUDY_MAP;

	if (node->kind == STUDY_SCALAR || node->item_count < 2) {
		study_mistake(reader, node, "factor \"%s\" needs at least two levels", factor->name);
		return;
	}
	if (node->item_count > STUDY_MOST_LEVELS) {
		study_mistake(reader, node, "%zu levels; a factor has at most %d", node->item_count, STUDY_MOST_LEVELS);
		return;
	}
	if (!named && !knob && !factor->ask) {
		study_mistake(reader, node,
			      "factor \"%s\" has values and says not of what: \"knob\", or \"ask\" for a person",
			      factor->name);
		return;
	}
	if (named && knob) {
		study_mistake(reader, node, "levels of a knob are a list of its values; named levels say \"set\"");
		return;
	}
	factor->levels = ARENA_ARRAY(reader->arena, node->item_count, struct study_level);
	factor->level_count = node->item_count;
	for (size_t i = 0; i < node->item_count; i++) {
		struct study_level *level = &factor->levels[i];
		const struct study_node *name = named ? node->keys[i] : node->items[i];

		level->line = name->line;
		level->name = study_scalar(reader, name, "a level");
		if (!level->name)
			level->name = "?";
		for (size_t j = 0; j < i; j++)
			if (text_equal(factor->levels[j].name, level->name))
				study_mistake(reader, name, "level \"%s\" is there twice", level->name);
		if (named && !text_equal(node->items[i]->text, "as-found")) {
			read_level_keys(reader, level, node->items[i]);
		} else if (!named && knob && knob->kind == STUDY_SCALAR) {
			level->asks = ARENA_NEW(reader->arena, struct knob_ask);
			add_value(reader, level, knob->text, knob, name);
		}
	}
}

/* "{level}" by the level's name, as often as it is there. */
static const char *with_level(struct arena *arena, const char *text, const char *level)
{
	static const char mark[] = "{level}";
	const char *result = "", *at;

	while ((at = strstr(text, mark))) {
		result = arena_printf(arena, "%s%.*s%s", result, (int)(at - text), text, level);
		text = at + strlen(mark);
	}
	return arena_printf(arena, "%s%s", result, text);
}

const char *study_ask_text(struct arena *arena, const struct study_factor *factor, size_t level)
{
	return with_level(arena, factor->ask, factor->levels[level].name);
}

static bool names_level(const struct study_command *command)
{
	bool any = false;

	for (size_t i = 0; command->words[i]; i++)
		any = any || strstr(command->words[i], "{level}");
	return any;
}

static struct study_command command_of_level(struct arena *arena, const struct study_command *command,
					     const char *level)
{
	struct study_command result = *command;
	const char **words;
	size_t count = 0;

	while (command->words[count])
		count++;
	words = ARENA_ARRAY(arena, count + 1, const char *);
	for (size_t i = 0; i < count; i++)
		words[i] = with_level(arena, command->words[i], level);
	result.words = words;
	return result;
}

/* What a person does, and what tells that it is done: of the factor with {level}, or of each level. */
static void read_ask(struct study_reader *reader, const struct study_node *node, struct study_factor *factor)
{
	const struct study_node *needs = study_node_get(node, "needs", NULL), *see = study_node_get(node, "see", NULL);
	struct study_command command = {0};

	if (factor->ask && !strstr(factor->ask, "{level}"))
		study_mistake(reader, study_node_get(node, "ask", NULL),
			      "what a person is asked to do must say {level} where the level stands");
	if (!factor->ask && needs && text_equal(needs->text, "person")) {
		study_mistake(reader, needs, "factor \"%s\" needs a person, and does not say what he is to do",
			      factor->name);
		study_advice(reader, "ask: 'Set it to {level}'");
	}
	if (see)
		study_read_command(reader, see, &command);
	if (command.line && !names_level(&command))
		study_mistake(reader, see, "what tells the level must say {level} where the level stands");
	for (size_t l = 0; l < factor->level_count; l++) {
		struct study_level *level = &factor->levels[l];

		if (!factor->ask && (see || level->see.line))
			study_mistake(reader, see ? see : node,
				      "\"see\" tells whether a person has set a level; factor \"%s\" asks none",
				      factor->name);
		else if (command.line && !level->see.line)
			level->see = command_of_level(reader->arena, &command, level->name);
	}
}

static void read_factor(struct study_reader *reader, const struct study_node *node, struct study_factor *factor)
{
	enum study_cost least = STUDY_LIVE;
	static const struct study_field fields[] = {
	    {"levels", NULL, 0, true},
	    {"knob", NULL, 0, false},
	    {"ask", study_read_text, offsetof(struct study_factor, ask), false},
	    {"see", NULL, 0, false},
	    {"needs", NULL, 0, false},
	    {"optional", study_read_flag, offsetof(struct study_factor, optional), false},
	};
	const struct study_node *levels = study_node_get(node, "levels", NULL);
	const struct study_node *knob = study_node_get(node, "knob", NULL);
	const struct study_node *needs = study_node_get(node, "needs", NULL);

	factor->line = node->line;
	if (!study_read_fields(reader, node, fields, ARRAY_SIZE(fields), factor, "a factor") || !levels)
		return;
	if (needs)
		read_cost(reader, needs, &least);
	if (factor->ask && knob)
		study_mistake(reader, knob, "factor \"%s\" is set by a knob or by a person, not both", factor->name);
	if (knob && !study_scalar(reader, knob, "the name of a knob"))
		return;
	/* Where nothing else is said, it is a matter of the BIOS. */
	factor->ask_boots = factor->ask && (!needs || least >= STUDY_HOST_BOOT);
	if (factor->ask)
		least = STUDY_PERSON;
	read_levels(reader, factor, knob, levels);
	read_ask(reader, node, factor);
	for (size_t i = 0; i < factor->level_count; i++) {
		factor->levels[i].cost = MAX_OF(factor->levels[i].cost, least);
		factor->cost = MAX_OF(factor->cost, factor->levels[i].cost);
	}
}

void study_read_factors(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study *study = reader->study;

	(void)into;
	if (node->kind != STUDY_MAP || !node->item_count) {
		study_mistake(reader, node, "factors are names with their levels");
		return;
	}
	if (node->item_count > STUDY_MOST_FACTORS) {
		study_mistake(reader, node, "%zu factors; a study has at most %d", node->item_count,
			      STUDY_MOST_FACTORS);
		return;
	}
	study->factors = ARENA_ARRAY(reader->arena, node->item_count, struct study_factor);
	study->factor_count = node->item_count;
	for (size_t i = 0; i < node->item_count; i++) {
		study->factors[i].name = "?";
		study_read_name(reader, node->keys[i], &study->factors[i].name);
		read_factor(reader, node->items[i], &study->factors[i]);
	}
}

/* "factor: level" for each pair of the map; false after a mistake. */
static bool read_pairs(struct study_reader *reader, const struct study_node *node, size_t *factors, size_t *levels)
{
	const struct study *study = reader->study;
	bool fine = true;

	for (size_t i = 0; i < node->item_count; i++) {
		const char *name = node->keys[i]->text;
		const char *word = study_scalar(reader, node->items[i], "a level");
		const struct study_factor *factor = NULL;
		const char *names[MAX_OF(STUDY_MOST_FACTORS, STUDY_MOST_LEVELS)], *all = "";
		bool found = false;

		for (size_t j = 0; j < study->factor_count && !factor; j++) {
			names[j] = study->factors[j].name;
			if (text_equal(study->factors[j].name, name)) {
				factor = &study->factors[j];
				factors[i] = j;
			}
		}
		if (!factor)
			study_mistake(reader, node->keys[i], "there is no factor \"%s\" in this study%s", name,
				      study_near(reader, name, names, study->factor_count));
		for (size_t j = 0; factor && word && j < factor->level_count && !found; j++) {
			names[j] = factor->levels[j].name;
			all = arena_printf(reader->arena, "%s%s%s", all, j ? ", " : "", factor->levels[j].name);
			if (text_equal(factor->levels[j].name, word)) {
				levels[i] = j;
				found = true;
			}
		}
		if (factor && word && !found && factor->level_count) {
			study_mistake(reader, node->items[i], "factor \"%s\" has no level \"%s\"%s", name, word,
				      study_near(reader, word, names, factor->level_count));
			study_advice(reader, "it has: %s", all);
		}
		fine = fine && found;
	}
	return fine;
}

void study_read_forbids(struct study_reader *reader, const struct study_node *node)
{
	struct study *study = reader->study;

	if (node->kind != STUDY_LIST) {
		study_mistake(reader, node, "\"never\" is a list of levels that must not meet, \"- {a: 1, b: 2}\"");
		return;
	}
	study->forbids = ARENA_ARRAY(reader->arena, node->item_count + 1, struct study_forbid);
	for (size_t i = 0; i < node->item_count; i++) {
		const struct study_node *item = node->items[i];
		struct study_forbid *forbid = &study->forbids[study->forbid_count];

		if (item->kind != STUDY_MAP || !item->item_count) {
			study_mistake(reader, item, "expected factors with the levels that must not meet");
			continue;
		}
		*forbid = (struct study_forbid){.factors = ARENA_ARRAY(reader->arena, item->item_count, size_t),
						.levels = ARENA_ARRAY(reader->arena, item->item_count, size_t),
						.count = item->item_count,
						.line = item->line};
		if (read_pairs(reader, item, forbid->factors, forbid->levels))
			study->forbid_count++;
	}
}

void study_read_baseline(struct study_reader *reader, const struct study_node *node)
{
	struct study *study = reader->study;
	size_t factors[STUDY_MOST_FACTORS], levels[STUDY_MOST_FACTORS];

	if (node->kind != STUDY_MAP) {
		study_mistake(reader, node, "\"baseline\" holds factors with a level each");
		return;
	}
	if (node->item_count > STUDY_MOST_FACTORS || !read_pairs(reader, node, factors, levels))
		return;
	for (size_t i = 0; i < node->item_count; i++)
		study->baseline[factors[i]] = levels[i];
}
