/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the file of a study that runs, and what is wished of it. */
#include "study_state.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "host_cmdline.h"
#include "knob_journal.h"
#include "study_hand.h"
#include "text.h"

enum { VERSION = 1 };

/* ---- reading ---- */

static int bad_state(struct err *err)
{
	int r = err_set(err, EBADMSG, KNOB_STUDY, "is no state of a study that this hvtune knows");

	(void)err_hint(err, "hvtune undo --all puts settings back; then remove the file, and one can be run again");
	return r;
}

static const char *text_of(struct arena *arena, const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static unsigned count_of(const json_t *json, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(json, key));

	return value > 0 && value <= INT32_MAX ? (unsigned)value : 0;
}

static double number_of(const json_t *json, const char *key)
{
	return json_number_value(json_object_get(json, key));
}

/* What is not there, or of another kind, is an empty one. */
static json_t *list_of(const json_t *json, const char *key)
{
	json_t *list = json_object_get(json, key);

	return json_is_array(list) ? json_incref(list) : json_array();
}

static json_t *object_of(const json_t *json, const char *key)
{
	json_t *object = json_object_get(json, key);

	return json_is_object(object) ? json_incref(object) : json_object();
}

static void read_all(struct arena *arena, const json_t *json, struct study_state *state)
{
	const json_t *asked = json_object_get(json, "asked"), *step = json_object_get(json, "step"),
		     *hand = json_object_get(json, "hand");

	*state = (struct study_state){
	    .uid = text_of(arena, json, "uid"),
	    .name = text_of(arena, json, "study"),
	    .file = text_of(arena, json, "file"),
	    .text = text_of(arena, json, "text"),
	    .store = text_of(arena, json, "store"),
	    .meters = text_of(arena, json, "meters"),
	    .command = text_of(arena, json, "command"),
	    .directory = text_of(arena, json, "directory"),
	    .environment = object_of(json, "environment"),
	    .limits = {.load = number_of(json, "load_limit"), .temperature_c = number_of(json, "temperature_limit")},
	    .kernel = text_of(arena, json, "kernel"),
	    .suited = object_of(json, "suited"),
	    .vms = object_of(json, "vms"),
	    .units = list_of(json, "units"),
	    .began_s = (int64_t)json_integer_value(json_object_get(json, "began")),
	    .next_entry = json_is_true(json_object_get(json, "next_entry")),
	    .boots_most = count_of(json, "boots_most"),
	    .budget_s = number_of(json, "budget_s"),
	    .starting = json_is_true(json_object_get(json, "starting")),
	    .timing = json_is_true(json_object_get(json, "timing")),
	    .spent_s = number_of(json, "spent_s"),
	    .boots = count_of(json, "boots"),
	    .boots_timed = count_of(json, "boots_timed"),
	    .boots_s = number_of(json, "boots_s"),
	    .boot = text_of(arena, json, "boot"),
	    .asked = {.boot = text_of(arena, asked, "boot"),
		      .trial = text_of(arena, asked, "trial"),
		      .levels = object_of(asked, "levels"),
		      .at_s = (int64_t)json_integer_value(json_object_get(asked, "at"))},
	    .step = {.config = text_of(arena, step, "config"),
		     .incumbent = text_of(arena, step, "incumbent"),
		     .words = text_of(arena, step, "words"),
		     .purpose = (enum study_purpose)MIN_OF(count_of(step, "purpose"), (unsigned)STUDY_PURPOSES),
		     .runs = count_of(step, "runs"),
		     .own_boot = json_is_true(json_object_get(step, "own_boot")),
		     .seen = count_of(step, "seen")},
	    .hand = {.levels = object_of(hand, "levels"),
		     .wanted = object_of(hand, "wanted"),
		     .texts = list_of(hand, "texts"),
		     .boot = text_of(arena, hand, "boot"),
		     .line = text_of(arena, hand, "line"),
		     .fault = text_of(arena, hand, "fault"),
		     .boots = json_is_true(json_object_get(hand, "boots")),
		     .kept = json_is_true(json_object_get(hand, "kept"))},
	    .hooks = object_of(json, "hooks"),
	    .out = list_of(json, "out"),
	    .failures = list_of(json, "failures"),
	    .paused = json_is_true(json_object_get(json, "paused")),
	    .clean = json_is_true(json_object_get(json, "clean")),
	    .end = text_of(arena, json, "end"),
	    .why = text_of(arena, json, "why"),
	    .pid = (int)count_of(json, "pid"),
	    .pid_start = (uint64_t)json_integer_value(json_object_get(json, "pid_start")),
	    .config = text_of(arena, json, "config"),
	    .runs = count_of(json, "runs")};
}

int study_state_read(struct knob_machine *machine, struct study_state *ret, struct err *err)
{
	struct study_state state;
	struct err fault = {0};
	const char *data = NULL;
	int r = sys_writer_read(machine->writer, machine->arena, KNOB_STUDY, &data, NULL, &fault);

	if (r == -ENOENT || r == -ENOTDIR)
		return err_set(err, ENOENT, NULL, "no study runs, and none waits to be gone on with");
	if (r < 0) {
		(void)err_copy(err, &fault);
		return r;
	}
	json_t *json = json_loads(data, JSON_REJECT_DUPLICATES, NULL);

	read_all(machine->arena, json, &state);
	bool good = json_integer_value(json_object_get(json, "version")) == VERSION && state.uid && *state.uid &&
		    state.name && state.file && state.text && state.directory && state.boot &&
		    (!state.asked.boot || state.asked.trial) && (!study_hand_waits(&state) || state.hand.boot) &&
		    (!state.step.config || (state.step.words && state.step.runs && state.step.purpose > STUDY_WARM_UP &&
					    state.step.purpose < STUDY_PURPOSES));

	json_decref(json);
	if (!good) {
		study_state_clear(&state);
		return bad_state(err);
	}
	*ret = state;
	return 0;
}

void study_state_clear(struct study_state *state)
{
	json_t **owned[] = {&state->environment,  &state->suited,      &state->vms,	    &state->units,
			    &state->asked.levels, &state->hand.levels, &state->hand.wanted, &state->hand.texts,
			    &state->hooks,	  &state->out,	       &state->failures};

	for (size_t i = 0; i < ARRAY_SIZE(owned); i++) {
		json_decref(*owned[i]);
		*owned[i] = NULL;
	}
}

/* ---- writing ---- */

static void put_text(json_t *json, const char *key, const char *text)
{
	if (text)
		(void)json_object_set_new(json, key, json_string(text));
}

static void put_shared(json_t *json, const char *key, json_t *value)
{
	if (value)
		(void)json_object_set(json, key, value);
}

static json_t *asked_json(const struct study_asked *asked)
{
	json_t *json = json_object();

	put_text(json, "boot", asked->boot);
	put_text(json, "trial", asked->trial);
	put_shared(json, "levels", asked->levels);
	(void)json_object_set_new(json, "at", json_integer(asked->at_s));
	return json;
}

static json_t *hand_json(const struct study_hand *hand)
{
	json_t *json = json_pack("{s:b, s:b}", "boots", hand->boots, "kept", hand->kept);

	put_shared(json, "levels", hand->levels);
	put_shared(json, "wanted", hand->wanted);
	put_shared(json, "texts", hand->texts);
	put_text(json, "boot", hand->boot);
	put_text(json, "line", hand->line);
	put_text(json, "fault", hand->fault);
	return json;
}

static json_t *step_json(const struct study_asked_step *step)
{
	json_t *json = json_pack("{s:i, s:b, s:i, s:i}", "purpose", (int)step->purpose, "own_boot", step->own_boot,
				 "runs", (int)step->runs, "seen", (int)step->seen);

	put_text(json, "config", step->config);
	put_text(json, "incumbent", step->incumbent);
	put_text(json, "words", step->words ? step->words : "");
	return json;
}

static json_t *state_json(const struct study_state *state)
{
	json_t *json = json_pack("{s:i, s:b, s:f, s:f, s:I, s:i, s:f, s:i, s:i, s:f, s:b, s:b, s:i, s:I, s:i}",
				 "version", VERSION, "next_entry", state->next_entry, "load_limit", state->limits.load,
				 "temperature_limit", state->limits.temperature_c, "began", (json_int_t)state->began_s,
				 "boots_most", (int)state->boots_most, "spent_s", state->spent_s, "boots",
				 (int)state->boots, "boots_timed", (int)state->boots_timed, "boots_s", state->boots_s,
				 "paused", state->paused, "clean", state->clean, "pid", state->pid, "pid_start",
				 (json_int_t)state->pid_start, "runs", (int)state->runs);
	const struct {
		const char *key, *text;
	} texts[] = {{"uid", state->uid},	  {"study", state->name},
		     {"file", state->file},	  {"text", state->text},
		     {"store", state->store},	  {"meters", state->meters},
		     {"command", state->command}, {"directory", state->directory},
		     {"kernel", state->kernel},	  {"boot", state->boot},
		     {"end", state->end},	  {"why", state->why},
		     {"config", state->config}};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		put_text(json, texts[i].key, texts[i].text);
	if (state->budget_s > 0)
		(void)json_object_set_new(json, "budget_s", json_real(state->budget_s));
	(void)json_object_set_new(json, "starting", json_boolean(state->starting));
	(void)json_object_set_new(json, "timing", json_boolean(state->timing));
	put_shared(json, "environment", state->environment);
	put_shared(json, "suited", state->suited);
	put_shared(json, "vms", state->vms);
	put_shared(json, "units", state->units);
	put_shared(json, "hooks", state->hooks);
	put_shared(json, "out", state->out);
	put_shared(json, "failures", state->failures);
	(void)json_object_set_new(json, "asked", asked_json(&state->asked));
	if (state->hand.levels)
		(void)json_object_set_new(json, "hand", hand_json(&state->hand));
	(void)json_object_set_new(json, "step", step_json(&state->step));
	return json;
}

int study_state_write(struct knob_machine *machine, const struct study_state *state, struct err *err)
{
	json_t *json = state_json(state);
	CLEANUP(base_free) char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;

	json_decref(json);
	if (!text)
		return err_set(err, EILSEQ, KNOB_STUDY, "what is to be kept of the study is no UTF-8");
	const char *line = arena_printf(machine->arena, "%s\n", text);

	return sys_writer_replace(machine->writer, KNOB_STUDY, line, strlen(line), 0600, err);
}

int study_state_remove(struct knob_machine *machine, struct err *err)
{
	int r = sys_writer_remove(machine->writer, KNOB_STUDY_WISH, err);

	/* A kill may have left new contents beside either. */
	if (r == 0)
		r = sys_writer_tidy(machine->writer, KNOB_STUDY_WISH, err);
	if (r == 0)
		r = sys_writer_tidy(machine->writer, KNOB_STUDY, err);
	return r < 0 ? r : sys_writer_remove(machine->writer, KNOB_STUDY, err);
}

int study_state_over(struct knob_machine *machine, struct study_state *state, struct err *err)
{
	if (!json_object_size(state->hooks))
		return study_state_remove(machine, err);
	state->pid = 0;
	state->paused = state->starting = false;
	state->clean = true;
	if (!state->end)
		state->end = "stopped";
	int r = study_wish_write(machine, STUDY_NO_WISH, err);

	return r < 0 ? r : study_state_write(machine, state, err);
}

/* ---- the process ---- */

/* The 22nd field of /proc/PID/stat, counted behind the name, which may hold anything; 0: no such process. */
static uint64_t start_of(struct knob_machine *machine, int pid)
{
	const char *path = arena_printf(machine->arena, "/proc/%d/stat", pid), *data = NULL, *at;
	int64_t ticks = 0;

	if (pid <= 0 || sys_writer_read(machine->writer, machine->arena, path, &data, NULL, NULL) < 0)
		return 0;
	at = strrchr(data, ')');
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at + 1, ' ');
		if (at && field == 21) {
			const char *word = arena_strndup(machine->arena, at + 1, strcspn(at + 1, " \n"));

			if (text_int(word, 10, &ticks) < 0)
				return 0;
		}
	}
	return (uint64_t)ticks;
}

bool study_state_is_alive(struct knob_machine *machine, const struct study_state *state)
{
	return state->pid && state->pid_start && start_of(machine, state->pid) == state->pid_start;
}

bool study_state_is_starting(struct knob_machine *machine, const struct study_state *state)
{
	return state->starting && !state->paused && text_equal(state->boot, knob_boot_id(machine)) &&
	       !study_state_is_alive(machine, state);
}

void study_state_name(struct knob_machine *machine, struct study_state *state)
{
	state->pid = (int)getpid();
	state->pid_start = start_of(machine, state->pid);
	state->starting = false;
}

void study_state_take(struct knob_machine *machine, struct study_state *state)
{
	study_state_name(machine, state);
	state->clean = false;
}

bool study_state_is_stuck(struct knob_machine *machine, const struct study_state *state)
{
	return state->end && json_object_size(state->hooks) && !study_hand_waits(state) &&
	       !study_state_is_alive(machine, state);
}

/* ---- others ---- */

const char *study_state_words(struct knob_machine *machine, const struct study_state *state)
{
	if (study_state_is_alive(machine, state))
		return state->end ? "is being ended" : "runs";
	if (!state->end && study_state_is_starting(machine, state))
		return "is starting";
	if (study_hand_waits(state))
		return "waits for a person";
	if (state->end)
		return "has ended, and has something left to be put back";
	if (state->asked.boot)
		return "waits for the host to boot";
	if (state->paused)
		return "is paused";
	return state->boots_most ? "waits to be gone on with" : "was killed before its end";
}

int study_state_refuse(struct knob_machine *machine, const char *uid, struct err *err)
{
	CLEANUP(study_state_clear) struct study_state other = {0};
	struct err fault = {0};
	int r = study_state_read(machine, &other, &fault);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		(void)err_copy(err, &fault);
		return r;
	}
	bool alive = study_state_is_alive(machine, &other);

	if (study_state_is_stuck(machine, &other)) {
		(void)err_set(err, EBUSY, NULL, "study %s still has undo of level %s to run", other.name,
			      study_levels_text(machine->arena, other.hooks));
		return err_hint(err, STUDY_TRY_AGAIN);
	}
	if (text_equal(uid, other.uid) && !other.boots_most && (!alive || other.pid == (int)getpid()) &&
	    !study_hand_waits(&other))
		return 0;
	(void)err_set(err, EBUSY, NULL, "study %s %s", other.name, study_state_words(machine, &other));
	(void)err_hint(err, alive || study_state_is_starting(machine, &other)
				? "hvtune study status tells how it stands, hvtune study abort ends it"
			    : study_hand_waits(&other)
				? "hvtune study status tells what he is to do, hvtune study abort ends it"
				: "hvtune study resume goes on with it, hvtune study abort ends it");
	return -EBUSY;
}

/* ---- one of several processes ---- */

/* *ret_had: it was taken before, and is not to be let go. */
static int lock_free(struct knob_machine *machine, const char *uid, bool *ret_had, struct err *err)
{
	struct err fault = {0};

	*ret_had = sys_writer_has_lock(machine->writer);
	int r = sys_writer_lock(machine->writer, KNOB_LOCK, &fault);

	/* Who has it for long may be a study that has begun: that is named. */
	if (r == 0 || r == -EWOULDBLOCK) {
		int refused = study_state_refuse(machine, uid, err);

		if (refused < 0 && r == 0 && !*ret_had)
			sys_writer_unlock(machine->writer);
		if (refused < 0)
			return refused;
	}
	if (r < 0)
		(void)err_copy(err, &fault);
	return r;
}

static void unlock(struct knob_machine *machine, bool had)
{
	if (!had)
		sys_writer_unlock(machine->writer);
}

int study_state_claim(struct knob_machine *machine, const struct study_state *state, struct err *err)
{
	bool had;
	int r = lock_free(machine, state->uid, &had, err);

	if (r < 0)
		return r;
	r = study_wish_write(machine, STUDY_NO_WISH, err);
	if (r == 0)
		r = study_state_write(machine, state, err);
	unlock(machine, had);
	return r;
}

int study_state_reclaim(struct knob_machine *machine, const char *uid, struct study_state *ret, struct err *err)
{
	bool had;
	int r = lock_free(machine, uid, &had, err);

	if (r < 0)
		return r;
	r = study_state_read(machine, ret, err);
	if (r == 0) {
		study_state_name(machine, ret);
		r = study_state_write(machine, ret, err);
	}
	unlock(machine, had);
	return r;
}

const char *study_state_owes(struct knob_machine *machine)
{
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct err ignored = {0};

	if (study_state_read(machine, &state, &ignored) < 0 || !json_object_size(state.hooks) ||
	    study_state_is_alive(machine, &state))
		return NULL;
	return arena_printf(machine->arena, "Study %s still has undo of level %s to run: %s.", state.name,
			    study_levels_text(machine->arena, state.hooks),
			    study_state_is_stuck(machine, &state) ? STUDY_TRY_AGAIN : "hvtune study abort");
}

/* ---- wishes ---- */

static const char *const wishes[] = {[STUDY_WISH_PAUSE] = "pause\n", [STUDY_WISH_ABORT] = "abort\n"};

static bool line_says_abort(struct knob_machine *machine)
{
	const char *line = NULL;
	struct host_cmdline words;
	const struct cmdline_word *word;

	if (sys_writer_read(machine->writer, machine->arena, "/proc/cmdline", &line, NULL, NULL) < 0)
		return false;
	cmdline_parse(machine->arena, line, &words);
	word = cmdline_last(&words, "hvtune.study");
	return word && text_equal(word->value, "abort");
}

enum study_wish study_wish_read(struct knob_machine *machine)
{
	const char *data = NULL;

	if (line_says_abort(machine))
		return STUDY_WISH_ABORT;
	if (sys_writer_read(machine->writer, machine->arena, KNOB_STUDY_WISH, &data, NULL, NULL) < 0)
		return STUDY_NO_WISH;
	for (size_t i = STUDY_WISH_PAUSE; i < ARRAY_SIZE(wishes); i++)
		if (text_equal(data, wishes[i]))
			return (enum study_wish)i;
	return STUDY_NO_WISH;
}

int study_wish_write(struct knob_machine *machine, enum study_wish wish, struct err *err)
{
	return wish == STUDY_NO_WISH ? sys_writer_remove(machine->writer, KNOB_STUDY_WISH, err)
				     : sys_writer_replace(machine->writer, KNOB_STUDY_WISH, wishes[wish],
							  strlen(wishes[wish]), 0600, err);
}
