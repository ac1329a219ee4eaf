/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the explanation of a finding as a page of Markdown. */
#include "advise.h"

const char *advise_page(struct arena *arena, const struct advise_rule *rule)
{
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		err_no_memory();
	(void)fprintf(out, "# %s\n\n%s (%s)\n", rule->id, rule->title, advise_severity_name(rule->severity));
	(void)fprintf(out, "\n## Why it matters\n\n%s\n", rule->mechanism);
	if (rule->effect)
		(void)fprintf(out, "\n## What to expect\n\n%s\n\nBasis: %s. %s\n", rule->effect,
			      advise_basis_name(rule->basis), rule->source ? rule->source : "");
	if (rule->hurts)
		(void)fprintf(out, "\n## What the change hurts\n\n%s\n", rule->hurts);
	if (rule->knobs)
		(void)fprintf(out, "\n## The setting\n\n`%s`\n", rule->knobs);
	if (rule->by_hand)
		(void)fprintf(out, "\n## By hand\n\n%s\n", rule->by_hand);
	if (rule->experiment)
		(void)fprintf(out, "\n## The experiment that decides it here\n\n%s\n", rule->experiment);
	if (!rule->effect && rule->source)
		(void)fprintf(out, "\n## Source\n\n%s\n", rule->source);
	if (fclose(out) != 0)
		err_no_memory();
	return arena_strndup(arena, text, size);
}
