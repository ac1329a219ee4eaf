/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the options of measuring commands and their session. */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_remote.h"
#include "config.h"
#include "report.h"
#include "text.h"

extern char **environ;

#define MOST_SECONDS (30. * 24 * 3600)

static int number(const struct cli *cli, enum cli_option_id id, bool whole, const double *range, double usual,
		  double *ret)
{
	const char *text = cli->values[id];
	char *end = NULL;
	double value;

	*ret = usual;
	if (!text)
		return 0;
	value = strtod(text, &end);
	if (end != text && *end == '%' && !whole)
		end++;
	if (end == text || *end || !(value >= range[0] && value <= range[1]) || (whole && value != floor(value))) {
		const struct cli_option *option = cli_options;

		while (option->id != id)
			option++;
		return cli_usage(cli, "--%s takes a %snumber from %.16g to %.16g, but got \"%s\"", option->name,
				 whole ? "whole " : "", range[0], range[1], text);
	}
	*ret = value;
	return 0;
}

int measure_number(const struct cli *cli, enum cli_option_id id, double least, double most, double usual, double *ret)
{
	return number(cli, id, false, (const double[]){least, most}, usual, ret);
}

int measure_count(const struct cli *cli, enum cli_option_id id, double least, double most, double usual, double *ret)
{
	return number(cli, id, true, (const double[]){least, most}, usual, ret);
}

/* ---- commands ---- */

static int usage_of(const struct err *err)
{
	(void)cli_fail(err);
	return err->code == -EINVAL || err->code == -ENOTSUP ? EXIT_USAGE : EXIT_COULD_NOT;
}

const char *measure_place_name(const struct measure *measure)
{
	return strchr(measure->place, ':') + 1;
}

static bool is_in_vm(const struct measure *measure)
{
	return measure->place && text_starts(measure->place, "vm:");
}

/* On another machine the program is looked for there. */
static void put_remote(const struct cli *cli, struct measure *measure, struct bench_command *command)
{
	const char **environment = ARENA_ARRAY(measure->arena, (size_t)cli->given_count + 1, const char *);
	const char *given;
	size_t count = 0;
	int at = 0;

	while ((given = cli_next(cli, OPTION_ENV, &at)))
		environment[count++] = given;
	if (is_in_vm(measure)) {
		command->argv = bench_guest_argv(measure->arena, command->argv, measure->remote_cwd, environment);
		command->guest = &measure->guest;
	} else {
		command->argv = bench_remote_argv(measure->arena, measure_place_name(measure), command->argv,
						  measure->remote_cwd, environment);
	}
	command->environment = NULL;
}

static int find_program(const struct cli *cli, struct measure *measure, struct bench_command *command)
{
	struct err err = {0};
	int r = 0;

	if (is_in_vm(measure) && !cli_given(cli, OPTION_SHELL))
		r = bench_guest_find_program(&measure->guest, command->argv[0], &err);
	if (r == 0 && measure->place)
		put_remote(cli, measure, command);
	if (r == 0 && !command->guest)
		r = bench_find_program(measure->arena, command->argv[0], &command->program, &err);
	return r < 0 ? cli_fail(&err) : 0;
}

int measure_text_command(const struct cli *cli, struct measure *measure, const char *text, struct bench_command *ret)
{
	struct err err = {0};

	*ret = measure->command;
	if (cli_given(cli, OPTION_SHELL))
		ret->argv = bench_shell_argv(measure->arena, "", text);
	else if (bench_words(measure->arena, text, &ret->argv, &err) < 0)
		return usage_of(&err);
	return find_program(cli, measure, ret);
}

int measure_words_command(const struct cli *cli, struct measure *measure, char *const *words, int count,
			  struct bench_command *ret)
{
	const char **copy = ARENA_ARRAY(measure->arena, (size_t)count + 1, const char *);

	for (int i = 0; i < count; i++)
		copy[i] = words[i];
	if (!*copy[0])
		return cli_usage(cli, "the command is empty");
	*ret = measure->command;
	ret->argv = copy;
	if (cli_given(cli, OPTION_SHELL)) {
		const char *text = copy[0];

		/* Several words are one text for the shell, as ssh does it. */
		for (int i = 1; i < count; i++)
			text = arena_printf(measure->arena, "%s %s", text, copy[i]);
		ret->argv = bench_shell_argv(measure->arena, "", text);
	}
	return find_program(cli, measure, ret);
}

static int read_hooks(const struct cli *cli, struct measure *measure)
{
	const struct {
		enum cli_option_id id;
		struct bench_command *hook;
	} hooks[] = {{OPTION_SETUP, &measure->setup},
		     {OPTION_PREPARE, &measure->prepare},
		     {OPTION_CONCLUDE, &measure->conclude},
		     {OPTION_CLEANUP, &measure->cleanup}};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hooks) && r == 0; i++)
		if (cli_given(cli, hooks[i].id))
			r = measure_text_command(cli, measure, cli->values[hooks[i].id], hooks[i].hook);
	return r;
}

/* hvtune's own environment with --env over it. */
static int read_environment(const struct cli *cli, struct measure *measure)
{
	const char **environment;
	const char *given;
	size_t count = 0;
	int at = 0;

	if (!cli_given(cli, OPTION_ENV))
		return 0;
	while (environ[count])
		count++;
	environment = ARENA_ARRAY(measure->arena, count + (size_t)cli->given_count + 1, const char *);
	for (size_t i = 0; i < count; i++)
		environment[i] = environ[i];
	while ((given = cli_next(cli, OPTION_ENV, &at))) {
		const char *equals = strchr(given, '=');
		size_t place = 0;

		if (!equals || equals == given)
			return cli_usage(cli, "--env takes NAME=VALUE, but got \"%s\"", given);
		while (place < count && strncmp(environment[place], given, (size_t)(equals - given) + 1) != 0)
			place++;
		environment[place] = given;
		count += place == count;
	}
	measure->command.environment = environment;
	return 0;
}

static int read_readers(const struct cli *cli, struct measure *measure)
{
	struct err err = {0};
	const char *given;
	int at = 0;

	measure->readers = ARENA_ARRAY(measure->arena, (size_t)cli->given_count + 1, struct bench_reader);
	while ((given = cli_next(cli, OPTION_METRIC, &at))) {
		struct bench_reader *reader = &measure->readers[measure->reader_count];

		if (bench_reader_parse(measure->arena, given, reader, &err) < 0)
			return usage_of(&err);
		for (size_t i = 0; i < measure->reader_count; i++)
			if (reader->metric.name && text_equal(measure->readers[i].metric.name, reader->metric.name))
				return cli_usage(cli, "--metric gives \"%s\" twice", reader->metric.name);
		measure->reader_count++;
	}
	return 0;
}

static int read_command(const struct cli *cli, struct measure *measure)
{
	double timeout_s, exit_code = 0;
	int r = measure_number(cli, OPTION_TIMEOUT, 0.001, MOST_SECONDS, 0, &timeout_s);

	if (r == 0 && !text_equal(cli->values[OPTION_EXIT_CODE], "any"))
		r = measure_count(cli, OPTION_EXIT_CODE, 0, 255, 0, &exit_code);
	else if (r == 0)
		exit_code = BENCH_ANY_EXIT;
	if (r)
		return r;
	measure->exit_code = (int)exit_code;
	measure->command.timeout_ns = (int64_t)(timeout_s * 1e9);
	measure->command.cwd = cli->values[OPTION_CWD];
	measure->place = cli->values[OPTION_ON];
	if (measure->place && (!bench_is_remote(measure->place) || !*measure_place_name(measure)))
		return cli_usage(cli, "--on takes ssh:HOST or vm:NAME, but got \"%s\"", measure->place);
	if (measure->place) {
		measure->remote_cwd = measure->command.cwd;
		measure->command.cwd = NULL;
	}
	measure->command.input = cli->values[OPTION_INPUT];
	measure->command.output = cli_given(cli, OPTION_SHOW_OUTPUT) ? BENCH_OUTPUT_SHOWN : BENCH_OUTPUT_NONE;
	if (measure->command.cwd && access(measure->command.cwd, X_OK) < 0) {
		struct err err = {0};

		(void)err_set(&err, errno, measure->command.cwd, "commands cannot be run in this directory: %s",
			      sys_reason(errno));
		return cli_fail(&err);
	}
	struct stat info;

	/* A pipe would wait for ever for who writes it. */
	if (measure->command.input && stat(measure->command.input, &info) == 0 && !S_ISREG(info.st_mode) &&
	    !S_ISCHR(info.st_mode))
		return cli_usage(cli, "--input takes a file, and \"%s\" is none", measure->command.input);
	if (measure->command.input && access(measure->command.input, R_OK) < 0) {
		struct err err = {0};

		(void)err_set(&err, errno, measure->command.input, "this cannot be read: %s", sys_reason(errno));
		return cli_fail(&err);
	}
	return read_environment(cli, measure);
}

/* What names a session otherwise, and what nobody could type again, is no label. */
static int check_label(const struct cli *cli, struct arena *arena)
{
	enum { LONGEST = 100 };
	const char *label = cli->values[OPTION_LABEL];
	int64_t number;

	if (!label)
		return 0;
	if (!*label || text_equal(text_trim(arena, label), ""))
		return cli_usage(cli, "--label is empty");
	if (strlen(label) > LONGEST)
		return cli_usage(cli, "--label takes at most %d bytes, but got %zu", LONGEST, strlen(label));
	if (!text_equal(text_visible(arena, label), label))
		return cli_usage(cli, "--label has characters that cannot be shown");
	if (text_equal(label, "last") || text_int(label, 10, &number) == 0)
		return cli_usage(cli, "--label cannot be \"%s\": that names another session already", label);
	return 0;
}

/* ---- opening ---- */

/* Settings are watched through it, without which can be measured too; a VM is only reached through it. */
static int open_machine(struct measure *measure)
{
	struct err err = {0};
	int r = knob_machine_open("/", NULL, &measure->machine, &err);

	if (r < 0)
		measure->machine = (struct knob_machine){0};
	if (!is_in_vm(measure))
		return 0;
	if (r == 0)
		r = bench_guest_open(&measure->machine, measure_place_name(measure), &measure->guest, &err);
	return r < 0 ? cli_fail(&err) : 0;
}

int measure_open(const struct cli *cli, struct measure *ret)
{
	struct err err = {0};
	int r;

	/* The spawner first: this process is never as small again. */
	*ret = (struct measure){.spawner = bench_spawner_open(), .arena = arena_new(), .progress = progress_start()};
	r = check_label(cli, ret->arena);
	if (r == 0)
		r = read_command(cli, ret);
	if (r == 0)
		r = open_machine(ret);
	if (r == 0)
		r = read_hooks(cli, ret);
	if (r == 0)
		r = read_readers(cli, ret);
	if (r)
		return r;
	if (cli_given(cli, OPTION_NO_STORE) && cli_given(cli, OPTION_STORE))
		return cli_usage(cli, "--store and --no-store exclude each other");
	if (store_open(cli_given(cli, OPTION_NO_STORE) ? STORE_IN_MEMORY : cli->values[OPTION_STORE], STORE_WRITE,
		       &ret->store, &err) < 0)
		return cli_fail(&err);
	const struct meter_setup meters = {.config = cli->values[OPTION_METERS]};

	if (host_open(NULL, &ret->host, &err) < 0 || meter_set_open(ret->host->sys, &meters, &ret->meters, &err) < 0)
		return cli_fail(&err);
	return 0;
}

void measure_close(struct measure *measure)
{
	(void)bench_close(measure->bench, "failed", NULL, NULL, NULL);
	measure->bench = NULL;
	measure_named_clear(measure);
	measure->spawner = bench_spawner_close(measure->spawner);
	knob_machine_close(&measure->machine);
	measure->meters = meter_set_close(measure->meters);
	measure->store = store_close(measure->store);
	measure->host = host_close(measure->host);
	measure->arena = arena_free(measure->arena);
}

struct bench_subject measure_subject(const struct measure *measure, const char *name,
				     const struct bench_command *command)
{
	return (struct bench_subject){
	    .name = name,
	    .command = *command,
	    .prepare = measure->prepare.argv ? &measure->prepare : NULL,
	    .conclude = measure->conclude.argv ? &measure->conclude : NULL,
	    .exit_code = measure->exit_code,
	    .place = measure->place,
	};
}

/* ---- the session ---- */

const char *measure_json_text(struct arena *arena, json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
	const char *kept = arena_strdup(arena, text ? text : "null");

	free(text);
	json_decref(json);
	return kept;
}

/* hvtune's own command line; the program's name is of no use elsewhere. */
static const char *own_words(const struct cli *cli, struct arena *arena)
{
	const char **words = ARENA_ARRAY(arena, (size_t)(2 * cli->given_count + cli->argument_count) + 4, const char *);
	size_t count = 0;

	words[count++] = "hvtune";
	words[count++] = cli->command->name;
	for (int i = 0; i < cli->given_count; i++) {
		const struct cli_option *option = cli_options;

		while (option->id != cli->given[i].id)
			option++;
		words[count++] = arena_printf(arena, "--%s", option->name);
		if (option->argument)
			words[count++] = cli->given[i].value;
	}
	words[count++] = "--";
	for (int i = 0; i < cli->argument_count; i++)
		words[count++] = cli->arguments[i];
	return bench_words_json(arena, words);
}

static const char *environment_text(const struct cli *cli, struct arena *arena)
{
	json_t *json = json_object();
	const char *given;
	int at = 0;

	while ((given = cli_next(cli, OPTION_ENV, &at))) {
		size_t length = strcspn(given, "=");

		json_object_set_new(json, arena_strndup(arena, given, length), report_json_text(given + length + 1));
	}
	return measure_json_text(arena, json);
}

struct store_session measure_session(const struct cli *cli, const struct measure *measure)
{
	struct arena *arena = measure->arena;
	char own_name[256] = "", cwd[4096] = "";

	(void)gethostname(own_name, sizeof(own_name) - 1);
	return (struct store_session){.kind = cli->command->name,
				      .name = cli->values[OPTION_LABEL],
				      .command = own_words(cli, arena),
				      .cwd = getcwd(cwd, sizeof(cwd)) ? arena_strdup(arena, cwd) : NULL,
				      .version = HVTUNE_VERSION,
				      .host = arena_strdup(arena, own_name),
				      .facts = measure_facts(measure),
				      .environment = environment_text(cli, arena)};
}

int measure_limits(const struct cli *cli, const struct meter_set *meters, struct bench_limits *ret)
{
	double load = 0, temperature_c = 0;
	struct err err = {0};
	bool any = false;
	int r = measure_number(cli, OPTION_MAX_LOAD, 0.1, 100, 0, &load);

	if (r == 0)
		r = measure_number(cli, OPTION_MAX_TEMP, 10, 150, 0, &temperature_c);
	if (r)
		return r;
	for (size_t i = 0; meters && i < meter_source_count(meters); i++)
		any = any || (meter_source_at(meters, i)->state == METER_VALUE &&
			      meter_source_at(meters, i)->quantity == METER_TEMPERATURE);
	if (temperature_c > 0 && !any) {
		(void)err_set(&err, ENODEV, "--max-temp", "no sensor of temperature is readable here");
		(void)err_hint(&err, "`hvtune meters` says what would help");
		return cli_fail(&err);
	}
	*ret = (struct bench_limits){.load = load / 100, .temperature_c = temperature_c};
	return 0;
}

static void tell_cooling(void *data, const char *sensor, double celsius, double left_s)
{
	struct measure *measure = data;

	progress_show(&measure->progress, "waiting for the machine to cool: %s is at %.0f C, at most %.0f s more",
		      sensor, celsius, left_s);
}

int measure_begin(const struct cli *cli, struct measure *measure, json_t *method)
{
	struct store_session session;
	struct err err = {0};
	struct bench_limits limits = {0};
	int r = measure_limits(cli, measure->meters, &limits);
	const char *text = measure_json_text(measure->arena, method);

	if (r)
		return r;
	session = measure_session(cli, measure);
	session.method = text;
	const struct bench_setup setup = {
	    .store = measure->store,
	    .session = session,
	    .sys = measure->host->sys,
	    .machine = measure->machine.sys ? &measure->machine : NULL,
	    .watch = measure->watch,
	    .meters = measure->meters,
	    .readers = measure->readers,
	    .reader_count = measure->reader_count,
	    .read_from = cli->values[OPTION_READ_FROM],
	    .limits = limits,
	    .cooling = tell_cooling,
	    .data = measure,
	    .spawner = measure->spawner,
	    .random_offset = true,
	};

	if (bench_open(&setup, &measure->bench, &err) < 0)
		return cli_fail(&err);
	if (!measure->setup.argv || bench_hook(measure->bench, &measure->setup, "--setup", &err) == 0)
		return 0;
	(void)measure_end(cli, measure, &err, NULL, NULL, NULL);
	return EXIT_COULD_NOT;
}

int measure_end(const struct cli *cli, struct measure *measure, const struct err *err, const char *why,
		const json_t *verdict, int64_t *ret_session)
{
	struct err end_err = {0};
	const char *state = err->code == 0 ? "done" : err->code == -EINTR ? "stopped" : "failed", *text = NULL;
	int code = 0;

	progress_end(&measure->progress);
	if (ret_session)
		*ret_session = measure->bench->session;
	/* The workload's own leftovers are taken away after Ctrl-C too. */
	measure->bench->signals.stopped = false;
	if (measure->cleanup.argv && bench_hook(measure->bench, &measure->cleanup, "--cleanup", &end_err) < 0)
		code = cli_fail(&end_err);
	if (verdict)
		text = measure_json_text(measure->arena, json_deep_copy(verdict));
	if (bench_close(measure->bench, state,
			why	     ? why
			: *err->what ? err->what
				     : NULL,
			text, &end_err) < 0 &&
	    err->code == 0)
		code = cli_fail(&end_err);
	/* With the store went the session. */
	if (ret_session && (end_err.code == -ESTALE || err->code == -ESTALE))
		*ret_session = 0;
	measure->bench = NULL;
	(void)cli;
	if (err->code != 0)
		code = cli_fail(err);
	return code;
}
