/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune results`: listing, showing, comparing, deleting, merging, exporting and importing sessions. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "measure.h"
#include "report.h"
#include "report_result.h"
#include "results_compare.h"
#include "text.h"

struct action {
	const char *name;
	enum store_mode mode;
	int least, most; /* arguments */
	const char *needs;
	int (*run)(const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count);
};

/* ---- list ---- */

static const char *time_text(struct arena *arena, int64_t us)
{
	time_t seconds = (time_t)(us / 1000000);
	struct tm parts;
	char text[32] = "-";

	if (localtime_r(&seconds, &parts))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts);
	return arena_strdup(arena, text);
}

/* The configurations' names, or the command. */
static const char *what_of(struct store *store, struct arena *arena, const struct store_summary *summary)
{
	struct store_whole whole;
	const char *what = "";

	if (store_load(store, arena, summary->session.id, &whole, NULL) < 0)
		return what;
	for (size_t i = 0; i < whole.configuration_count && i < 3; i++)
		what = arena_printf(arena, "%s%s%s", what, i ? " | " : "",
				    text_visible(arena, whole.configurations[i].name));
	return whole.configuration_count > 3 ? arena_printf(arena, "%s | ...", what) : what;
}

static json_t *summary_json(const struct store_summary *summary)
{
	const struct store_session *session = &summary->session;

	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:I, s:I, s:I}", "id", (json_int_t)session->id,
			 "uid", report_json_text(session->uid), "kind", report_json_text(session->kind), "label",
			 report_json_text(session->name), "state", report_json_text(session->state), "host",
			 report_json_text(session->host), "began_s", (double)session->began_us / 1e6, "ended_s",
			 session->ended_us ? json_real((double)session->ended_us / 1e6) : json_null(), "configurations",
			 (json_int_t)summary->configurations, "runs", (json_int_t)summary->runs, "valid",
			 (json_int_t)summary->valid);
}

static void list_json(const struct store *store, const struct store_summary *sessions, size_t count)
{
	json_t *json = report_json_start("results", NULL), *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, summary_json(&sessions[i]));
	json_object_set_new(json, "store", report_json_text(store_name(store)));
	json_object_set_new(json, "sessions", list);
	(void)report_json_print(stdout, json);
}

static int list(const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count)
{
	struct store_summary *sessions;
	struct err err = {0};
	size_t session_count;

	(void)names;
	(void)count;
	if (store_sessions(store, arena, &sessions, &session_count, &err) < 0)
		return cli_fail(&err);
	if (cli_given(cli, OPTION_JSON)) {
		list_json(store, sessions, session_count);
		return EXIT_FINE;
	}
	if (session_count == 0)
		(void)printf("No results in %s.\n", store_name(store));
	for (size_t i = 0; i < session_count; i++) {
		const struct store_session *session = &sessions[i].session;
		const char *name = session->name ? arena_printf(arena, "%s: ", text_visible(arena, session->name)) : "";
		const char *line =
		    arena_printf(arena, "%4" PRId64 "  %s  %-7s  %-7s  %3" PRId64 " run%s  %s%s", session->id,
				 time_text(arena, session->began_us), text_visible(arena, session->kind),
				 text_visible(arena, session->state), sessions[i].valid,
				 sessions[i].valid == 1 ? " " : "s", name, what_of(store, arena, &sessions[i]));

		(void)printf("%s\n", line);
	}
	return EXIT_FINE;
}

/* ---- show ---- */

static int show(const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count)
{
	struct report_result *result;
	struct err err = {0};

	if (report_result_load(arena, store, count ? names[0] : "last", &result, &err) < 0)
		return cli_fail(&err);
	if (cli_given(cli, OPTION_JSON))
		(void)report_json_print(stdout, report_result_json(result));
	else
		doc_text(&cli->out, report_result_doc(result));
	return EXIT_FINE;
}

static int compare(const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count)
{
	struct store_whole sides[2];
	struct err err = {0};

	(void)count;
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		int64_t id = 0;

		if (store_session_find(store, names[i], &id, &err) < 0 ||
		    store_load(store, arena, id, &sides[i], &err) < 0)
			return cli_fail(&err);
	}
	return results_compare(cli, arena, &sides[0], &sides[1]);
}

/* ---- what changes a store ---- */

static int sure(const struct cli *cli, int count)
{
	char answer[16];

	if (cli_given(cli, OPTION_YES))
		return 0;
	if (!isatty(STDIN_FILENO))
		return cli_usage(cli, "there is no terminal to ask on: add --yes to delete");
	(void)fprintf(stderr, "delete %d session%s for good? [y/N] ", count, count == 1 ? "" : "s");
	if (fgets(answer, sizeof(answer), stdin) && (text_equal(answer, "y\n") || text_equal(answer, "yes\n")))
		return 0;
	(void)fputs("Nothing is deleted.\n", stderr);
	return EXIT_FINDINGS;
}

/* {"store", "sessions": [...]} of what an action did. */
static void print_done(const struct store *store, const char *what, json_t *done)
{
	json_t *json = report_json_start("results", NULL);

	json_object_set_new(json, "store", report_json_text(store_name(store)));
	json_object_set_new(json, what, done);
	(void)report_json_print(stdout, json);
}

static int delete (const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count)
{
	int64_t *ids = ARENA_ARRAY(arena, (size_t)count, int64_t);
	struct err err = {0};
	int r, known = 0;

	/* All are known before one is gone; a session may have several names. */
	for (int i = 0; i < count; i++) {
		bool again = false;

		if (store_session_find(store, names[i], &ids[known], &err) < 0)
			return cli_fail(&err);
		for (int k = 0; k < known; k++)
			again = again || ids[k] == ids[known];
		known += !again;
	}
	r = sure(cli, known);
	if (r)
		return r;
	json_t *done = json_array();

	for (int i = 0; i < known && r == 0; i++) {
		if (store_session_delete(store, ids[i], &err) < 0)
			r = cli_fail(&err);
		else if (cli_given(cli, OPTION_JSON))
			json_array_append_new(done, json_integer(ids[i]));
		else
			(void)printf("Session %" PRId64 " is deleted.\n", ids[i]);
	}
	if (cli_given(cli, OPTION_JSON))
		print_done(store, "deleted", json_incref(done));
	json_decref(done);
	return r;
}

/* Sessions that came from somewhere: a line, or an item of the list that JSON prints at the end. */
static void tell_copied(const struct cli *cli, json_t *done, const char *from, size_t copied)
{
	if (cli_given(cli, OPTION_JSON))
		json_array_append_new(
		    done, json_pack("{s:o, s:I}", "from", report_json_text(from), "sessions", (json_int_t)copied));
	else
		(void)printf("%zu session%s from %s\n", copied, copied == 1 ? "" : "s", from);
}

static int merge(const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count)
{
	json_t *done = json_array();
	int r = EXIT_FINE;

	(void)arena;
	for (int i = 0; i < count && r == EXIT_FINE; i++) {
		CLEANUP(store_close_pointer) struct store *from = NULL;
		struct err err = {0};
		size_t copied = 0;

		if (store_open(names[i], STORE_READ, &from, &err) < 0 || store_merge(from, store, &copied, &err) < 0)
			r = cli_fail(&err);
		else
			tell_copied(cli, done, store_name(from), copied);
	}
	if (cli_given(cli, OPTION_JSON))
		print_done(store, "merged", json_incref(done));
	json_decref(done);
	return r;
}

static int export(const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count)
{
	const char *form = cli->values[OPTION_EXPORT_FORMAT];
	bool csv = text_equal(form, "csv");
	struct err err = {0};
	int r = 0;

	(void)arena;
	if (form && !csv && !text_equal(form, "jsonl"))
		return cli_usage(cli, "--format is jsonl or csv, not \"%s\"", form);
	if (csv && count == 0)
		return cli_usage(cli, "CSV is of one session: name it");
	if (count > 1)
		return cli_usage(cli, "export takes one session, or none for all");
	int64_t id = 0;

	if (count)
		r = store_session_find(store, names[0], &id, &err);
	if (r == 0)
		r = csv ? store_export_csv(store, id, stdout, &err) : store_export(store, id, stdout, &err);
	return r < 0 ? cli_fail(&err) : EXIT_FINE;
}

static int import_one(const struct cli *cli, struct store *store, const char *name, json_t *done)
{
	bool is_input = text_equal(name, "-");
	CLEANUP(base_fclose) FILE *file = is_input ? NULL : fopen(name, "re");
	const char *called = is_input ? "standard input" : name;
	struct err err = {0};
	size_t copied = 0;

	if (!is_input && !file) {
		(void)err_set(&err, errno, name, "it cannot be read: %s", sys_reason(errno));
		return cli_fail(&err);
	}
	if (store_import(store, is_input ? stdin : file, called, &copied, &err) < 0)
		return cli_fail(&err);
	tell_copied(cli, done, called, copied);
	return EXIT_FINE;
}

static int import(const struct cli *cli, struct store *store, struct arena *arena, char *const *names, int count)
{
	json_t *done = json_array();
	int r = EXIT_FINE;

	(void)arena;
	for (int i = 0; i < count && r == EXIT_FINE; i++)
		r = import_one(cli, store, names[i], done);
	if (cli_given(cli, OPTION_JSON))
		print_done(store, "imported", json_incref(done));
	json_decref(done);
	return r;
}

static const struct action actions[] = {
    {"list", STORE_READ, 0, 0, "nothing", list},
    {"show", STORE_READ, 0, 1, "a session (its number or label), or none for the last", show},
    {"compare", STORE_READ, 2, 2, "two sessions", compare},
    {"delete", STORE_WRITE, 1, INT32_MAX, "sessions", delete},
    {"merge", STORE_WRITE, 1, INT32_MAX, "the stores whose sessions are copied into this one", merge},
    {"export", STORE_READ, 0, 1, "a session, or none for all", export},
    {"import", STORE_WRITE, 1, INT32_MAX, "files that export wrote, - is standard input", import},
};

static const struct action *action_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (text_equal(actions[i].name, name))
			return &actions[i];
	return NULL;
}

int cmd_results(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(store_close_pointer) struct store *store = NULL;
	const char *name = cli->argument_count ? cli->arguments[0] : "list";
	const struct action *action = action_named(name);
	int count = MAX_OF(cli->argument_count - 1, 0);
	struct err err = {0};

	if (!action)
		return cli_usage(
		    cli, "results has no \"%s\"; it is list, show, compare, delete, merge, export or import", name);
	if (count < action->least || count > action->most)
		return cli_usage(cli, "results %s takes %s", action->name, action->needs);
	if (store_open(cli->values[OPTION_STORE], action->mode, &store, &err) < 0)
		return cli_fail(&err);
	return action->run(cli, store, arena, cli->arguments + 1, count);
}
