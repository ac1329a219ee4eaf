/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns taking findings out of a result: those that are waived, and those below a severity. */
#include "advise.h"
#include "text.h"

bool advise_severity_by_name(const char *name, enum advise_severity *ret)
{
	for (int severity = ADVISE_FAIL; severity <= ADVISE_GOOD; severity++) {
		if (!text_equal(advise_severity_name((enum advise_severity)severity), name))
			continue;
		*ret = (enum advise_severity)severity;
		return true;
	}
	return false;
}

/* Keep the findings that `is_out` does not take; returns how many went. */
static size_t take_out(struct advise_result *result, bool (*is_out)(const struct advise_finding *, const void *),
		       const void *context)
{
	struct advise_finding *kept = ARENA_ARRAY(result->arena, result->finding_count, struct advise_finding);
	size_t count = 0, before = result->finding_count;

	for (size_t i = 0; i < before; i++) {
		if (is_out(&result->findings[i], context))
			result->count_by_severity[result->findings[i].severity]--;
		else
			kept[count++] = result->findings[i];
	}
	result->findings = kept;
	result->finding_count = count;
	return before - count;
}

static bool is_named(const struct advise_finding *finding, const void *context)
{
	return text_has_word(context, ",", finding->rule->id);
}

void advise_ignore(struct advise_result *result, const char *ids)
{
	struct advise_unknown *kept = ARENA_ARRAY(result->arena, result->unknown_count, struct advise_unknown);
	size_t count = 0;

	result->ignored_count += take_out(result, is_named, ids);
	for (size_t i = 0; i < result->unknown_count; i++)
		if (!text_has_word(ids, ",", result->unknowns[i].rule->id))
			kept[count++] = result->unknowns[i];
	result->unknowns = kept;
	result->unknown_count = count;
}

static bool is_less(const struct advise_finding *finding, const void *context)
{
	return finding->severity > *(const enum advise_severity *)context;
}

void advise_keep_from(struct advise_result *result, enum advise_severity least)
{
	result->below_count += take_out(result, is_less, &least);
}
