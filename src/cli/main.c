/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns main: finding the command, parsing its options from the tables, help, and the exit code. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>

#include "cli.h"
#include "config.h"
#include "text.h"
#include "stat.h"

void cli_print_fault(const struct err *err)
{
	(void)fflush(stdout);
	err_print(stderr, err);
}

void cli_print_usage(const struct cli *cli, const char *format, ...)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	va_list arguments;
	size_t length = strlen(format);

	va_start(arguments, format);
	const char *text = arena_vprintf(arena, format, arguments);

	va_end(arguments);
	(void)fputs("hvtune: ", stderr);
	text_put(stderr, text, strlen(text));
	/* A question ends the sentence; another begins. */
	(void)fprintf(stderr, "%s hvtune %s%s--help%s\n", length && format[length - 1] == '?' ? " See" : "; see",
		      cli->command ? cli->command->name : "", cli->command ? " " : "",
		      length && format[length - 1] == '?' ? "." : "");
}

int cli_open_host(const struct cli *cli, struct host **ret)
{
	struct err err = {0};

	return host_open(cli->values[OPTION_HOST], ret, &err) < 0 ? cli_fail(&err) : 0;
}

const char *cli_next(const struct cli *cli, enum cli_option_id id, int *at)
{
	while (*at < cli->given_count) {
		const struct cli_given *given = &cli->given[(*at)++];

		if (given->id == id)
			return given->value;
	}
	return NULL;
}

void cli_print_timing(const struct cli *cli, const struct host *host)
{
	const struct sys_look *slowest = sys_first_look(host->sys);

	if (!cli_given(cli, OPTION_TIMING))
		return;
	for (size_t i = 0; i < host->timing_count; i++)
		(void)fprintf(stderr, "%8.2f ms  %s\n", host->timings[i].took_us / 1e3, host->timings[i].what);
	for (const struct sys_look *look = slowest; look; look = look->next)
		if (look->took_us > slowest->took_us)
			slowest = look;
	(void)fprintf(stderr, "%zu reads took %.2f ms", sys_look_count(host->sys),
		      (double)sys_look_time_us(host->sys) / 1e3);
	if (slowest)
		(void)fprintf(stderr, "; the slowest: %s, %.2f ms", slowest->path, slowest->took_us / 1e3);
	(void)fputc('\n', stderr);
}

static const struct cli_option *option_by_id(enum cli_option_id id)
{
	const struct cli_option *option = cli_options;

	while (option->id && option->id != id)
		option++;
	return option;
}

static void print_option(const struct term *term, const struct cli_option *option)
{
	char left[64];
	int length = snprintf(left, sizeof(left), "  %c%c%s --%s%s%s", option->letter ? '-' : ' ',
			      option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
			      option->argument ? " " : "", option->argument ? option->argument : "");

	(void)fprintf(term->out, "%-24s", left);
	if (length > 23)
		(void)fputc('\n', term->out);
	term_flow(term, 24, length <= 23, option->help);
}

static void print_command_help(const struct term *term, const struct cli_command *command)
{
	(void)fprintf(term->out, "Usage: hvtune %s [options]%s%s\n\n", command->name, *command->arguments ? " " : "",
		      command->arguments);
	term_flow(term, 0, true, command->description);
	(void)fputs("\nOptions:\n", term->out);
	for (const enum cli_option_id *id = command->options; *id; id++)
		print_option(term, option_by_id(*id));
	print_option(term, option_by_id(OPTION_HELP));
	(void)fprintf(term->out, "\nExit codes: %s.\n", command->codes);
}

static void print_help(const struct term *term)
{
	(void)fputs("Usage: hvtune COMMAND [options] [arguments]\n\n"
		    "Says what is wrong with an AMD KVM host and why, changes it, and puts it back.\n\nCommands:\n",
		    term->out);
	for (const struct cli_command *command = cli_commands; command->name; command++)
		(void)fprintf(term->out, "  %-12s %s\n", command->name, command->summary);
	(void)fputs("\nhvtune COMMAND --help tells the options of a command; hvtune --version the version.\n"
		    "Start with: hvtune check\n",
		    term->out);
}

static const struct cli_command *find_command(const char *name)
{
	for (const struct cli_command *command = cli_commands; command->name; command++)
		if (text_equal(command->name, name))
			return command;
	return NULL;
}

static int unknown_command(const struct cli *cli, const char *name)
{
	const struct cli_command *near = NULL;
	int nearest = 3;

	for (const struct cli_command *command = cli_commands; command->name; command++) {
		int distance = text_distance(command->name, name);

		if (distance < nearest) {
			nearest = distance;
			near = command;
		}
	}
	return near ? cli_usage(cli, "there is no command \"%s\"; did you mean \"%s\"?", name, near->name)
		    : cli_usage(cli, "there is no command \"%s\"", name);
}

/* Of what there is only one, a second is a slip that would silently win. */
static bool is_given_once(enum cli_option_id id)
{
	static const enum cli_option_id repeated[] = {OPTION_IGNORE, OPTION_FILE, OPTION_NEW, OPTION_ENV,
						      OPTION_METRIC};

	for (size_t i = 0; i < ARRAY_SIZE(repeated); i++)
		if (repeated[i] == id)
			return false;
	return option_by_id(id)->argument != NULL;
}

/* An option of the command that is nearly the word; NULL when none is. */
static const char *near_option(const struct cli *cli, const char *word)
{
	const char *near = NULL;
	int nearest = 3;

	for (const enum cli_option_id *id = cli->command->options; id && *id; id++) {
		const char *name = option_by_id(*id)->name;
		int distance = text_distance(name, word);

		if (distance < nearest) {
			nearest = distance;
			near = name;
		}
	}
	return near;
}

/* What getopt did not take; `given` is the word with it, `optopt` the letter, or the value of a long option, or 0. */
static int refuse_option(const struct cli *cli, const char *given)
{
	const char *name = text_starts(given, "--") ? given + 2 : NULL;
	const char *near = name ? near_option(cli, name) : NULL;

	if (optopt >= 256)
		return cli_usage(cli, "option --%s takes no argument",
				 option_by_id((enum cli_option_id)(optopt - 256))->name);
	if (optopt > 0 && optopt < 128)
		return cli_usage(cli, "unknown option -%c", optopt);
	return near ? cli_usage(cli, "unknown option %s; did you mean \"--%s\"?", given, near)
		    : cli_usage(cli, "unknown option %s", given);
}

/* Parse the options of a command; 0, or an exit code + 1 when all is said (help, errors). */
static int parse_options(struct cli *cli, int argc, char **argv, struct cli_given *given_options)
{
	struct option long_options[OPTION_COUNT + 1] = {0};
	char letters[2 * OPTION_COUNT + 4] = "+:";
	size_t letter_count = 2, option_count = 0;
	enum cli_option_id by_letter[128] = {0};
	const enum cli_option_id only_help[] = {0};
	const enum cli_option_id *ids = cli->command->options ? cli->command->options : only_help;

	for (size_t i = 0;; i++) {
		enum cli_option_id id = ids[i] ? ids[i] : OPTION_HELP;
		const struct cli_option *option = option_by_id(id);

		long_options[option_count++] =
		    (struct option){.name = option->name,
				    .has_arg = option->argument ? required_argument : no_argument,
				    .val = 256 + (int)id};
		if (option->letter) {
			by_letter[(unsigned char)option->letter] = id;
			letters[letter_count++] = option->letter;
			if (option->argument)
				letters[letter_count++] = ':';
		}
		if (id == OPTION_HELP)
			break;
	}
	opterr = 0;
	for (int found;
	     (found = getopt_long(argc, argv, text_starts(cli->command->arguments, "-- ") ? letters : letters + 1,
				  long_options, NULL)) != -1;) {
		const char *given = argv[optind - 1];

		/* getopt still stands in a word that has more bytes of the letter. */
		if (found == '?' && optopt < 0 && optind < argc && strchr(argv[optind], optopt))
			given = argv[optind];
		if (found == '?')
			return 1 + refuse_option(cli, given);
		if (found == ':')
			return 1 + cli_usage(cli, "option %s needs an argument", given);
		enum cli_option_id id = found >= 256 ? (enum cli_option_id)(found - 256) : by_letter[found];

		if (cli->values[id] && is_given_once(id))
			return 1 + cli_usage(cli, "--%s was given twice", option_by_id(id)->name);
		cli->values[id] = optarg ? optarg : "";
		given_options[cli->given_count++] = (struct cli_given){id, cli->values[id]};
	}
	if (cli_given(cli, OPTION_HELP)) {
		print_command_help(&cli->out, cli->command);
		return 1 + EXIT_FINE;
	}
	cli->given = given_options;
	cli->arguments = argv + optind;
	cli->argument_count = argc - optind;
	return 0;
}

static int run(struct cli *cli, int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : NULL;

	if (!first) {
		print_help(&cli->out);
		return EXIT_USAGE;
	}
	if (text_equal(first, "--version") || text_equal(first, "-V")) {
		(void)printf("hvtune %s\n", HVTUNE_VERSION);
		return EXIT_FINE;
	}
	bool help = text_equal(first, "--help") || text_equal(first, "-h") || text_equal(first, "help");

	if (help && argc == 2) {
		print_help(&cli->out);
		return EXIT_FINE;
	}
	if (help)
		first = argv[2];
	cli->command = find_command(first);
	if (!cli->command)
		return first[0] == '-'
			   ? cli_usage(cli, "unknown option %s: a command comes first, then its options", first)
			   : unknown_command(cli, first);
	if (help) {
		print_command_help(&cli->out, cli->command);
		return EXIT_FINE;
	}
	/* A word holds at most as many options as it has letters. */
	size_t room = 1;

	for (int i = 1; i < argc; i++)
		room += strlen(argv[i]) + 1;
	struct cli_given *given = calloc(room, sizeof(*given));

	if (!given)
		err_no_memory();
	int r = parse_options(cli, argc - 1, argv + 1, given);
	int code = r ? r - 1 : cli->command->run(cli);

	free(given);
	return code;
}

int main(int argc, char **argv)
{
	(void)setlocale(LC_CTYPE, "");
	stat_survive();
	struct cli cli = {.out = term_of(stdout)};
	int code = run(&cli, argc, argv);

	/* A full disk or a closed pipe must not look like success. */
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		struct err err = {0};
		int errnum = errno;

		/* An earlier write may have failed, whose reason is not known any more. */
		(void)err_set(&err, errnum ? errnum : EIO, "standard output", "cannot write%s%s",
			      errnum ? ": " : " all of it", errnum ? strerror(errnum) : "");
		return errnum == EPIPE ? EXIT_COULD_NOT : cli_fail(&err);
	}
	return code;
}
