/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune explain`. */
#include "advise.h"
#include "cli.h"
#include "report.h"
#include "text.h"

static int list_rules(bool json)
{
	const struct advise_rule *rule;
	json_t *list = json_array();

	for (size_t i = 0; (rule = advise_rule_at(i)); i++) {
		if (json)
			json_array_append_new(list,
					      json_pack("{s:s, s:s, s:s}", "id", rule->id, "severity",
							advise_severity_name(rule->severity), "title", rule->title));
		else
			(void)printf("%-6s %-34s %s\n", advise_severity_name(rule->severity), rule->id, rule->title);
	}
	if (!json) {
		json_decref(list);
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

	if (cli_given(cli, OPTION_LIST) || cli->argument_count == 0)
		return list_rules(as_json);
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
