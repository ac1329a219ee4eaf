/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune explain`. */
#include "advise.h"
#include "cli.h"
#include "report.h"
#include "text.h"

/* Is the word the subject of rules: what stands before the dot of their ids? */
static bool is_of_subject(const struct advise_rule *rule, const char *subject)
{
	size_t length = strlen(subject);

	return strncmp(rule->id, subject, length) == 0 && rule->id[length] == '.';
}

static bool is_subject(const char *word)
{
	const struct advise_rule *rule;

	for (size_t i = 0; (rule = advise_rule_at(i)); i++)
		if (is_of_subject(rule, word))
			return true;
	return false;
}

/* One line "warn   idle.c2-shut-out  title"; long titles go on below themselves. */
static void print_listed(const struct term *term, const struct advise_rule *rule, int id_width)
{
	int column = 8 + id_width + 2;

	(void)fprintf(term->out, "%-6s  %-*s  ", advise_severity_name(rule->severity), id_width, rule->id);
	/* A narrow terminal has no room beside the ids. */
	if (term->width < column + 24) {
		(void)fputc('\n', term->out);
		term_flow(term, 8, false, rule->title);
	} else {
		term_flow(term, column, true, rule->title);
	}
}

/* All rules, or those of a subject. */
static int list_rules(const struct cli *cli, const char *subject, bool json)
{
	const struct advise_rule *rule;
	json_t *list = json_array();
	int id_width = 0;

	for (size_t i = 0; (rule = advise_rule_at(i)); i++)
		if (!subject || is_of_subject(rule, subject))
			id_width = MAX_OF(id_width, term_columns(rule->id));
	for (size_t i = 0; (rule = advise_rule_at(i)); i++) {
		if (subject && !is_of_subject(rule, subject))
			continue;
		if (json)
			json_array_append_new(list,
					      json_pack("{s:s, s:s, s:s}", "id", rule->id, "severity",
							advise_severity_name(rule->severity), "title", rule->title));
		else
			print_listed(&cli->out, rule, id_width);
	}
	if (!json) {
		json_decref(list);
		(void)fputc('\n', cli->out.out);
		term_flow(&cli->out, 0, true,
			  "`hvtune explain ID` prints a page. Studies A, B and C are described in docs/studies.md.");
		return EXIT_FINE;
	}
	json_t *all = report_json_start("explain", NULL);

	json_object_set_new(all, "rules", list);
	(void)report_json_print(stdout, all);
	return EXIT_FINE;
}

static json_t *rule_json(const struct advise_rule *rule)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s, s:s?, s:s?, s:s?, s:s?, s:s?}", "id", rule->id, "severity",
			 advise_severity_name(rule->severity), "title", rule->title, "mechanism", rule->mechanism,
			 "effect", rule->effect, "basis", advise_basis_name(rule->basis), "source", rule->source,
			 "hurts", rule->hurts, "knobs", rule->knobs, "by_hand", rule->by_hand, "experiment",
			 rule->experiment);
}

int cmd_explain(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	bool as_json = cli_given(cli, OPTION_JSON);

	if (as_json && cli_given(cli, OPTION_MARKDOWN))
		return cli_usage(cli, "--json and --markdown exclude each other");
	if (cli_given(cli, OPTION_LIST) && cli->argument_count)
		return cli_usage(cli, "--list takes no ID, but got \"%s\"", cli->arguments[0]);
	if (cli->argument_count == 0 && cli_given(cli, OPTION_MARKDOWN))
		return cli_usage(cli, "--markdown needs an ID");
	if (cli->argument_count == 0)
		return list_rules(cli, NULL, as_json);
	if (cli->argument_count == 1 && is_subject(cli->arguments[0]))
		return list_rules(cli, cli->arguments[0], as_json);
	for (int i = 0; i < cli->argument_count; i++) {
		const char *id = cli->arguments[i];

		if (advise_rule_by_id(id))
			continue;
		const struct advise_rule *near = advise_rule_near(id);

		return near ? cli_usage(cli, "there is no finding \"%s\"; did you mean \"%s\"?", id, near->id)
			    : cli_usage(cli, "there is no finding \"%s\"; `hvtune explain --list` names all", id);
	}
	json_t *pages = json_array();

	for (int i = 0; i < cli->argument_count; i++) {
		const struct advise_rule *rule = advise_rule_by_id(cli->arguments[i]);

		if (as_json)
			json_array_append_new(pages, rule_json(rule));
		else
			report_page(&cli->out, advise_page(arena, rule), cli_given(cli, OPTION_MARKDOWN));
	}
	if (!as_json) {
		json_decref(pages);
		return EXIT_FINE;
	}
	json_t *all = report_json_start("explain", NULL);

	json_object_set_new(all, "rules", pages);
	(void)report_json_print(stdout, all);
	return EXIT_FINE;
}
