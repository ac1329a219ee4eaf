/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune study apply`: what a study found is made permanent through plan and journal. */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "change.h"
#include "measure.h"
#include "report.h"
#include "report_study.h"
#include "store.h"
#include "study_boot.h"
#include "study_cli.h"
#include "study_matrix.h"
#include "study_verdict.h"
#include "text.h"

/* A study as it is kept: all of its sessions are one. */
struct kept {
	struct arena *arena;
	const char *name, *uid, *host;
	json_t *facts, *answer; /* of the last session that has one; borrowed from `roots` */
	json_t *roots[3];
	size_t root_count;
	struct study *study;
	const char *state, *why; /* how that session ended: anything but "done" is no decision of the study */
	const char *settings;	 /* JSON: of the configuration that is applied, as it was measured; NULL: not known */
};

static void kept_clear(struct kept *kept)
{
	for (size_t i = 0; i < kept->root_count; i++)
		json_decref(kept->roots[i]);
}

static json_t *parsed(struct kept *kept, const char *text)
{
	json_t *json = text ? json_loads(text, 0, NULL) : NULL;

	if (json)
		kept->roots[kept->root_count++] = json;
	return json;
}

static bool belongs(const struct store_session *session, const char *uid)
{
	return text_equal(session->uid, uid) || text_equal(session->study, uid);
}

static int refuse(const char *where, const char *what, const char *hint)
{
	struct err err = {0};

	(void)err_set(&err, EINVAL, where, "%s", what);
	if (hint)
		(void)err_hint(&err, "%s", hint);
	return cli_fail(&err);
}

/* The study that a person names, and its answer. 0, or an exit code after a line. */
static int read_study(struct store *store, const char *wanted, struct kept *kept)
{
	struct store_summary *sessions;
	struct store_whole whole;
	struct err err = {0};
	size_t count;
	int64_t id;
	const char *text, *answer = NULL, *facts = NULL;

	if (store_session_find(store, wanted, &id, &err) < 0 || store_load(store, kept->arena, id, &whole, &err) < 0 ||
	    store_sessions(store, kept->arena, &sessions, &count, &err) < 0)
		return cli_fail(&err);
	text = json_string_value(json_object_get(parsed(kept, whole.session.method), "file"));
	if (!text_equal(whole.session.kind, "study") || !text)
		return refuse(wanted, "this session is of no study", "hvtune results lists what there is");
	kept->name = whole.session.name;
	kept->uid = whole.session.study ? whole.session.study : whole.session.uid;
	kept->host = whole.session.host;
	for (size_t i = 0; i < count; i++)
		if (belongs(&sessions[i].session, kept->uid) && sessions[i].session.verdict) {
			answer = sessions[i].session.verdict;
			facts = sessions[i].session.facts;
			kept->host = sessions[i].session.host;
			kept->state = sessions[i].session.state;
			kept->why = sessions[i].session.why;
		}
	kept->answer = json_object_get(parsed(kept, answer), "answer");
	kept->facts = parsed(kept, facts);
	if (!kept->answer)
		return refuse(kept->name, "this study has no answer yet",
			      arena_printf(kept->arena, "go on with it: hvtune study resume %.8s", kept->uid));
	return study_cli_parse(kept->arena, arena_printf(kept->arena, "the file of study %s", kept->name), text,
			       &kept->study);
}

/* ---- where it was measured ---- */

static const char *name_of_host(const struct host *host, struct arena *arena, const char *root)
{
	const struct sys_look *look;
	char name[256] = "";

	if (!root && gethostname(name, sizeof(name) - 1) == 0)
		return arena_strdup(arena, name);
	look = sys_read(host->sys, "/proc/sys/kernel/hostname");
	return look->state == SYS_VALUE ? text_trim(arena, look->data) : NULL;
}

/* What is different here, in words; "" for nothing. What is not known does not differ. */
static int find_differences(const struct cli *cli, const struct kept *kept, const char **ret)
{
	const char *root = cli->values[OPTION_ROOT], *text = "";
	bool other_kernels = study_boot_chooses_kernel(kept->arena, kept->study);
	struct host *host;
	struct err err = {0};

	/* A directory with some files of a machine tells nothing of it. */
	if (host_open(root ? root : "/", &host, &err) < 0)
		return root ? 0 : cli_fail(&err);
	const struct {
		const char *what, *then, *now;
	} rows[] = {
	    {"host", kept->host, name_of_host(host, kept->arena, root)},
	    {"CPU", json_string_value(json_object_get(kept->facts, "cpu.model_name")),
	     fact_text_or(&host->cpu.model_name, NULL)},
	    /* Measured under several, it holds for each. */
	    {"kernel", other_kernels ? NULL : json_string_value(json_object_get(kept->facts, "os.kernel_release")),
	     fact_text_or(&host->os.kernel_release, NULL)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].then && rows[i].now && !text_equal(rows[i].then, rows[i].now))
			text = arena_printf(kept->arena, "%s%s%s %s (here %s)", text, *text ? ", " : "", rows[i].what,
					    rows[i].then, rows[i].now);
	(void)host_close(host);
	*ret = text;
	return 0;
}

static int check_place(const struct cli *cli, const struct kept *kept)
{
	const char *text = "";
	int r = find_differences(cli, kept, &text);

	if (r || !*text)
		return r;
	if (!cli_given(cli, OPTION_ELSEWHERE))
		return refuse(kept->name, arena_printf(kept->arena, "it was measured on %s", text),
			      "measure it here, or take it over all the same: --measured-elsewhere");
	(void)fprintf(stderr, "hvtune: measured on %s; what it brings here is not known\n", text);
	return 0;
}

/* ---- which configuration ---- */

/* The one of a list of the answer whose `key` is that name. */
static const json_t *item_named(const struct kept *kept, const char *list, const char *key, const char *name)
{
	const json_t *items = json_object_get(kept->answer, list), *item;
	size_t i;

	json_array_foreach (items, i, item)
		if (text_equal(json_string_value(json_object_get(item, key)), name))
			return item;
	return NULL;
}

static const json_t *row_named(const struct kept *kept, const char *name)
{
	return item_named(kept, "configurations", "name", name);
}

static const json_t *pick_named(const struct kept *kept, const char *name)
{
	return item_named(kept, "picks", "pick", name);
}

static double value_of(const json_t *row, const char *goal)
{
	const json_t *value = json_object_get(json_object_get(row, goal), "value");

	return value ? json_number_value(json_object_get(value, "estimate")) : (double)NAN;
}

/* The pick "near" by another share than the study's own: the last of those that it found whose share is not larger. */
static const json_t *near_of(const struct kept *kept, double slower)
{
	const json_t *items = json_object_get(kept->answer, "near"), *item, *found = NULL;
	size_t i;

	json_array_foreach (items, i, item)
		if (json_number_value(json_object_get(item, "slower")) <= slower)
			found = item;
	return found;
}

/* All names that --pick takes, for messages. */
static const char *pick_names(struct arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < STUDY_PICKS; i++)
		text = arena_printf(arena, "%s%s, ", text, study_pick_name((enum study_pick)i));
	return arena_printf(arena, "%sor a configuration by its name", text);
}

/* Told before the question; who is not asked has to say so beforehand. 0, or an exit code. */
static int tell_unsure(const struct cli *cli, const struct kept *kept, const char *text)
{
	if (!cli_given(cli, OPTION_YES) || cli_given(cli, OPTION_NOT_SURE)) {
		(void)fprintf(stderr, "hvtune: %s\n", text);
		return 0;
	}
	(void)refuse(kept->name, text,
		     arena_printf(kept->arena,
				  "measure on (hvtune study resume %.8s), or take it all the same: --not-sure",
				  kept->uid));
	return EXIT_FINDINGS;
}

/* What is not known of a pick is told; who is not asked afterwards has to know it beforehand. 0, or an exit code. */
static int check_sure(const struct cli *cli, const struct kept *kept, const json_t *pick, const char *name)
{
	const char *unsure = json_string_value(json_object_get(pick, "unsure"));
	const json_t *bad = json_object_get(pick, "bad");
	bool sure = json_is_true(json_object_get(pick, "sure")), ended = text_equal(kept->state, "done");
	const char *text = "";

	if (sure && ended)
		return 0;
	if (!ended)
		text = arena_printf(kept->arena, "the study did not come to its end%s%s%s", kept->why ? " (" : "",
				    kept->why ? kept->why : "", kept->why ? ")" : "");
	if (!sure && unsure)
		text = arena_printf(kept->arena, "%s%s%s", text, *text ? "; " : "", unsure);
	if (!sure && json_is_number(bad))
		text = arena_printf(kept->arena, "%s%sby the runs %s that it is more than %.3g %% worse than the best",
				    text, *text ? "; " : "", report_study_odds(kept->arena, json_number_value(bad)),
				    100 * json_number_value(json_object_get(kept->answer, "within")));
	text = arena_printf(kept->arena, "that %s is the best is not as sure as was asked for: %s", name,
			    *text ? text : "the study does not say why");
	return tell_unsure(cli, kept, text);
}

/* The pick that this configuration is, one that is sure before another; NULL: it is none. */
static const json_t *pick_of(const struct kept *kept, const char *name)
{
	const json_t *picks = json_object_get(kept->answer, "picks"), *pick, *found = NULL;
	size_t i;

	json_array_foreach (picks, i, pick)
		if (text_equal(json_string_value(json_object_get(pick, "configuration")), name) &&
		    (!found || json_is_true(json_object_get(pick, "sure"))))
			found = pick;
	return found;
}

/* How a configuration that is no pick stands beside those that are: "time 5.2 % more than fastest (a=1 b=2)". */
static const char *beside_picks(const struct kept *kept, const json_t *row)
{
	static const struct {
		enum study_pick pick;
		enum study_goal goal;
	} sides[] = {{STUDY_FASTEST, STUDY_TIME}, {STUDY_EFFICIENT, STUDY_ENERGY}, {STUDY_QUIET, STUDY_IDLE_WATTS}};
	const char *text = "";

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		const char *pick = study_pick_name(sides[i].pick), *goal = study_goal_name(sides[i].goal);
		const char *best = json_string_value(json_object_get(pick_named(kept, pick), "configuration"));
		double ratio = value_of(row, goal) / value_of(best ? row_named(kept, best) : NULL, goal);
		const json_t *good = json_object_get(json_object_get(row, goal), "good");

		if (!isfinite(ratio))
			continue;
		text = arena_printf(kept->arena, "%s%s%s %.1f %% %s than %s (%s)", text, *text ? ", " : "", goal,
				    100 * fabs(ratio - 1), ratio < 1 ? "less" : "more", pick, best);
		if (json_is_number(good))
			text = arena_printf(kept->arena, "%s, among the best with %s", text,
					    report_study_odds(kept->arena, json_number_value(good)));
	}
	return text;
}

/* A configuration by its name: whoever takes what the study did not pick is told how it compares. */
static int check_named(const struct cli *cli, const struct kept *kept, const json_t *row, const char *name)
{
	const json_t *pick = pick_of(kept, name);
	const char *beside;

	if (pick)
		return check_sure(cli, kept, pick, name);
	beside = beside_picks(kept, row);
	return tell_unsure(
	    cli, kept,
	    arena_printf(kept->arena, "%s is not what the study picks%s%s", name, *beside ? ": " : "", beside));
}

/* A configuration by its name, or what is picked. 0, or an exit code after a line. */
static int find_pick(const struct cli *cli, const struct kept *kept, double slower, const char **ret)
{
	const char *wanted = cli->values[OPTION_PICK], *name;
	const json_t *pick = pick_named(kept, wanted), *row;

	if (!pick) {
		row = row_named(kept, wanted);
		if (!row)
			return refuse(kept->name, arena_printf(kept->arena, "\"%s\" was not measured in it", wanted),
				      arena_printf(kept->arena, "--pick takes %s", pick_names(kept->arena)));
		if (json_is_true(json_object_get(row, "given_up")))
			return refuse(wanted, "this one could not be measured: its runs were void", NULL);
		*ret = wanted;
		return check_named(cli, kept, row, wanted);
	}
	if (slower > 0 && json_is_string(json_object_get(pick, "configuration"))) {
		pick = near_of(kept, slower / 100);
		if (!pick)
			return refuse(kept->name, "its answer holds that pick for its own share only",
				      "take it without --slower");
	}
	name = json_string_value(json_object_get(pick, "configuration"));
	if (!name)
		return refuse(kept->name,
			      arena_printf(kept->arena, "it has none for \"%s\": %s", wanted,
					   json_is_string(json_object_get(pick, "why"))
					       ? json_string_value(json_object_get(pick, "why"))
					       : "energy was not measured"),
			      NULL);
	*ret = name;
	return check_sure(cli, kept, pick, name);
}

/* ---- what it sets ---- */

/* The settings of the configuration as they were measured, in any of the study's sessions. */
static int find_settings(struct store *store, struct kept *kept, const char *name, struct err *err)
{
	struct store_summary *sessions;
	size_t count, length = strlen(name);
	int r = store_sessions(store, kept->arena, &sessions, &count, err);

	for (size_t i = 0; i < count && r == 0 && !kept->settings; i++) {
		struct store_whole whole;

		if (!belongs(&sessions[i].session, kept->uid))
			continue;
		r = store_load(store, kept->arena, sessions[i].session.id, &whole, err);
		/* With several workloads, or idle windows, they are "WORKLOAD: CONFIGURATION". */
		for (size_t c = 0; r == 0 && c < whole.configuration_count && !kept->settings; c++) {
			const char *full = whole.configurations[c].name;
			size_t at = strlen(full);

			if (at >= length && text_equal(full + at - length, name) &&
			    (at == length ||
			     (at > length + 1 && full[at - length - 1] == ' ' && full[at - length - 2] == ':')))
				kept->settings = whole.configurations[c].settings;
		}
	}
	return r;
}

/* The file may take asks from a plan that lies elsewhere: what it says now must be what was measured. */
static bool is_as_measured(const struct kept *kept, const struct knob_ask *asks, size_t count)
{
	json_t *then = kept->settings ? json_loads(kept->settings, 0, NULL) : NULL;
	bool same = true;

	for (size_t i = 0; i < count && then && same; i++)
		same = text_equal(json_string_value(json_object_get(then, knob_ask_name(kept->arena, &asks[i]))),
				  asks[i].value);
	json_decref(then);
	return same;
}

/* What a knob does not set is told: hooks are for who wrote them, and a person turns what is asked of one. */
static void tell_by_hand(struct arena *arena, const struct study_factor *factor, const struct study_level *level)
{
	if (level->run.line)
		(void)fprintf(stderr,
			      "hvtune: %s=%s is made by the command of line %u of the study file: run it yourself\n",
			      factor->name, level->name, level->run.line);
	else if (factor->ask)
		(void)fprintf(stderr, "hvtune: %s=%s is set by a person: %s\n", factor->name, level->name,
			      study_ask_text(arena, factor, (size_t)(level - factor->levels)));
}

static size_t find_asks(const struct kept *kept, const size_t *levels, struct knob_ask **ret)
{
	const struct study *study = kept->study;
	struct knob_ask *asks;
	size_t count = 0;

	for (size_t f = 0; f < study->factor_count; f++)
		count += levels[f] == STUDY_LEFT_OUT ? 0 : study->factors[f].levels[levels[f]].ask_count;
	asks = ARENA_ARRAY(kept->arena, count + 1, struct knob_ask);
	count = 0;
	for (size_t f = 0; f < study->factor_count; f++) {
		if (levels[f] == STUDY_LEFT_OUT)
			continue;
		const struct study_level *level = &study->factors[f].levels[levels[f]];

		for (size_t i = 0; i < level->ask_count; i++)
			asks[count++] = level->asks[i];
		if (!level->ask_count || study->factors[f].ask)
			tell_by_hand(kept->arena, &study->factors[f], level);
	}
	*ret = asks;
	return count;
}

static int apply(struct cli *cli, struct store *store, struct kept *kept, const char *name)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	size_t *levels = ARENA_ARRAY(kept->arena, kept->study->factor_count + 1, size_t);
	struct knob_ask *asks;
	struct err err = {0};
	int r;

	if (!study_levels_named(kept->study, name, levels))
		return refuse(name, "the kept study file does not have these levels", NULL);
	if (find_settings(store, kept, name, &err) < 0)
		return cli_fail(&err);
	struct change_request request = {.what = arena_printf(kept->arena, "study apply %s: %s", kept->name, name),
					 .count = find_asks(kept, levels, &asks)};

	if (!is_as_measured(kept, asks, request.count))
		return refuse(name,
			      "what its levels set now is not what was measured: a plan that the study file "
			      "names has changed",
			      "hvtune results show the study, and use hvtune set");
	if (!request.count)
		return refuse(name, "nothing of it is set by a knob", NULL);
	r = change_open(cli, &machine);
	if (r)
		return r;
	request.asks = asks;
	if (!cli_given(cli, OPTION_JSON))
		term_flow(&cli->out, 0, true,
			  arena_printf(kept->arena, "Study %s, %s: %s", kept->name, cli->values[OPTION_PICK], name));
	return change_run(cli, &machine, &request);
}

int study_cli_apply(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(store_close_pointer) struct store *store = NULL;
	CLEANUP(kept_clear) struct kept kept = {.arena = arena};
	const char *name = NULL;
	struct err err = {0};
	double slower;
	int r;

	if (cli->argument_count > 2)
		return cli_usage(cli, "study apply takes one STUDY");
	if (!cli_given(cli, OPTION_PICK))
		return cli_usage(cli, "study apply needs --pick: %s", pick_names(arena));
	r = measure_number(cli, OPTION_SLOWER, 0.01, 1000, 0, &slower);
	if (r == 0 && slower > 0 && !text_equal(cli->values[OPTION_PICK], study_pick_name(STUDY_NEAR)))
		return cli_usage(cli, "--slower goes with --pick near");
	if (r == 0)
		r = change_check_options(cli);
	if (r)
		return r;
	if (store_open(cli->values[OPTION_STORE], STORE_READ, &store, &err) < 0)
		return cli_fail(&err);
	r = read_study(store, cli->argument_count > 1 ? cli->arguments[1] : "last", &kept);
	if (r == 0)
		r = find_pick(cli, &kept, slower, &name);
	if (r == 0)
		r = check_place(cli, &kept);
	return r ? r : apply(cli, store, &kept, name);
}
