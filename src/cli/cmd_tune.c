/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns `hvtune tune`: the quick study with the user's own workload, and the best of it applied when that is asked for.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "change.h"
#include "measure.h"
#include "study_cli.h"
#include "study_named.h"
#include "study_ready.h"
#include "text.h"

/* The text with another value of a key of the study, which stands in a line of its own. */
static const char *with_key(struct arena *arena, const char *text, const char *key, const char *value)
{
	const char *at = strstr(text, arena_printf(arena, "\n%s: ", key));

	return at ? arena_printf(arena, "%.*s\n%s: %s%s", (int)(at - text), text, key, value,
				 at + 1 + strcspn(at + 1, "\n"))
		  : text;
}

static int fail_at(const char *path, int errnum)
{
	struct err err = {0};

	(void)err_set(&err, errnum, path, "%s", sys_reason(errnum));
	return cli_fail(&err);
}

/*
 * The words after -- are the workload; a name alone that is known is that one; none: those of the study. As a value of
 * a study file: JSON is YAML, and who goes on with it after a kill has nothing but the file. *ret_code: an exit code
 * after a line.
 */
static const char *workloads(const struct cli *cli, struct arena *arena, int *ret_code)
{
	const char *cwd = cli->values[OPTION_CWD] ? cli->values[OPTION_CWD] : ".";
	char here[PATH_MAX] = "";
	json_t *run, *json;

	if (cli->argument_count == 1 && study_named_find(arena, cli->arguments[0]))
		return arena_printf(arena, "[%s]", cli->arguments[0]);
	run = json_array();
	if (!*cli->arguments[0])
		*ret_code = cli_usage(cli, "the command is empty");
	else if (!realpath(cwd, here))
		*ret_code = fail_at(cwd, errno);
	for (int i = 0; i < cli->argument_count && !*ret_code; i++)
		if (json_array_append_new(run, json_string(cli->arguments[i])) < 0)
			*ret_code = cli_usage(cli, "word %d of the command is no UTF-8, as study files are", i + 1);
	json = json_pack("{s:{s:o, s:s}}", "workload", "run", run, "directory", *ret_code ? "/" : here);
	return measure_json_text(arena, json);
}

/* The study's text for this workload and time. 0, or an exit code after a line. */
static int make_text(const struct cli *cli, struct arena *arena, double minutes, const char **ret)
{
	const char *text = with_key(arena, study_quick_text, "budget", arena_printf(arena, "%.3f s", 60 * minutes));
	int code = 0;
	const char *value = cli->argument_count ? workloads(cli, arena, &code) : NULL;

	if (code)
		return code;
	*ret = value ? with_key(arena, text, "workloads", value) : text;
	return 0;
}

int cmd_tune(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_cli_job job = {.command = "tune", .apply = cli_given(cli, OPTION_TUNE_APPLY)};
	struct study_mistakes mistakes = {0};
	double minutes;
	int r;

	if (study_read(arena, "quick.yaml", study_quick_text, strlen(study_quick_text), &job.study, &mistakes) < 0)
		return cli_fail(&mistakes.items[0]);
	r = measure_number(cli, OPTION_MINUTES, .05, 24 * 60, job.study->budget_s / 60, &minutes);
	if (r == 0)
		r = make_text(cli, arena, minutes, &job.text);
	if (r)
		return r;
	if (study_read(arena, "quick.yaml", job.text, strlen(job.text), &job.study, &mistakes) < 0)
		return cli_fail(&mistakes.items[0]);
	/* What stands in no file that anybody could look at has no line. */
	if (cli->argument_count)
		job.study->workloads[0].line = 0;
	return study_cli_job(cli, &job);
}
