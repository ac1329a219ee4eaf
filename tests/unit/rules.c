/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns running tables of rule cases; see rules.h. */
#include "unit.h"
#include "rules.h"
#include "text.h"

static void check_case(const struct tree_file *healthy, const struct rule_case *one, size_t number)
{
	struct tree *tree = tree_new(NULL);

	tree_add_amd(tree, 8, 8, 25, 17);
	tree_add(tree, healthy);
	tree_add(tree, one->files);
	struct advise_result *result = tree_advise(tree);
	const struct advise_finding *found = tree_find(result, one->id);

	if (one->fires && !found)
		fail_msg("case %zu: %s is silent", number, one->id);
	if (!one->fires && found)
		fail_msg("case %zu: %s fires: %s", number, one->id, found->title);
	if (found && found->severity != one->severity)
		fail_msg("case %zu: %s is %s, not %s", number, one->id, advise_severity_name(found->severity),
			 advise_severity_name(one->severity));
	if (found && one->title && !strstr(found->title, one->title))
		fail_msg("case %zu: %s says \"%s\", not \"%s\"", number, one->id, found->title, one->title);
	advise_result_free(result);
	tree_free(tree);
}

void rules_check(const struct tree_file *healthy, const struct rule_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_case(healthy, &cases[i], i);
}

void rules_covered(const struct advise_rule *rules, const struct rule_case *cases, size_t count)
{
	for (const struct advise_rule *rule = rules; rule->id; rule++) {
		bool fires = false, silent = false;

		for (size_t i = 0; i < count; i++)
			if (text_equal(cases[i].id, rule->id)) {
				fires |= cases[i].fires;
				silent |= !cases[i].fires;
			}
		if (!fires || !silent)
			fail_msg("%s has no case in which it %s", rule->id, fires ? "stays silent" : "fires");
	}
}
