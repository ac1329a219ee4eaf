/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a study as one session: it may have been cut and resumed, and each part is a session of its own in the store.
 * Configurations and metrics of the parts are the same by their names.
 *
 * Its blocks are looks at one configuration each, chosen by what was seen before. They compare nothing, so the runs are
 * in no block here, and the report claims no difference.
 */
#include <math.h>
#include <string.h>

#include "report_result.h"
#include "text.h"

struct joining {
	struct arena *arena;
	struct store_whole whole;
	struct store_sample *samples;
	size_t sample_count;
};

static int64_t configuration_id(struct joining *joining, const struct store_configuration *one)
{
	struct store_whole *whole = &joining->whole;

	for (size_t i = 0; i < whole->configuration_count; i++)
		if (text_equal(whole->configurations[i].name, one->name))
			return (int64_t)i;
	whole->configurations[whole->configuration_count] = *one;
	whole->configurations[whole->configuration_count].id = (int64_t)whole->configuration_count;
	return (int64_t)whole->configuration_count++;
}

static int64_t metric_id(struct joining *joining, const struct store_metric *one)
{
	struct store_whole *whole = &joining->whole;

	for (size_t i = 0; i < whole->metric_count; i++)
		if (text_equal(whole->metrics[i].name, one->name))
			return (int64_t)i;
	whole->metrics[whole->metric_count] = *one;
	whole->metrics[whole->metric_count].id = (int64_t)whole->metric_count;
	return (int64_t)whole->metric_count++;
}

static int64_t source_id(struct joining *joining, const struct store_source *one)
{
	struct store_whole *whole = &joining->whole;

	for (size_t i = 0; i < whole->source_count; i++)
		if (text_equal(whole->sources[i].name, one->name))
			return (int64_t)i;
	whole->sources[whole->source_count] = *one;
	whole->sources[whole->source_count].id = (int64_t)whole->source_count;
	return (int64_t)whole->source_count++;
}

static void add_runs(struct joining *joining, const struct store_whole *part, const int64_t *configurations,
		     const int64_t *metrics, size_t metrics_in_all)
{
	struct store_whole *whole = &joining->whole;

	for (size_t i = 0; i < part->run_count; i++) {
		struct store_run *run = &whole->runs[whole->run_count];
		double *values = ARENA_ARRAY(joining->arena, metrics_in_all + 1, double);

		*run = part->runs[i];
		run->id = (int64_t)whole->run_count++;
		run->configuration = configurations[part->runs[i].configuration];
		run->block = -1;
		for (size_t m = 0; m < metrics_in_all; m++)
			values[m] = (double)NAN;
		for (size_t m = 0; m < part->metric_count && part->runs[i].values; m++)
			values[metrics[m]] = part->runs[i].values[m];
		run->values = values;
	}
}

/* `first_run`: how many runs came before this part. */
static void add_notes(struct joining *joining, const struct store_whole *part, size_t first_run)
{
	struct store_whole *whole = &joining->whole;

	for (size_t i = 0; i < part->note_count; i++) {
		struct store_note *note = &whole->notes[whole->note_count++];

		*note = part->notes[i];
		if (note->run >= 0)
			note->run += (int64_t)first_run;
	}
}

static int add_samples(struct joining *joining, struct store *store, const struct store_whole *part,
		       const int64_t *sources, struct err *err)
{
	struct store_sample *more, *all;
	size_t count;
	int64_t later_ns = (part->session.began_us - joining->whole.session.began_us) * 1000;
	int r = store_load_samples(store, joining->arena, part->session.id, -1, -1, &more, &count, err);

	if (r < 0 || !count)
		return r;
	all = ARENA_ARRAY(joining->arena, joining->sample_count + count, struct store_sample);
	if (joining->sample_count)
		memcpy(all, joining->samples, joining->sample_count * sizeof(*all));
	for (size_t i = 0; i < count; i++) {
		struct store_sample *sample = &all[joining->sample_count++];

		*sample = more[i];
		sample->at_ns += later_ns;
		sample->source = sources[more[i].source];
		sample->run = -1;
	}
	joining->samples = all;
	return 0;
}

static int add_part(struct joining *joining, struct store *store, const struct store_whole *part, size_t metrics_in_all,
		    struct err *err)
{
	int64_t *configurations = ARENA_ARRAY(joining->arena, part->configuration_count + 1, int64_t);
	int64_t *metrics = ARENA_ARRAY(joining->arena, part->metric_count + 1, int64_t);
	int64_t *sources = ARENA_ARRAY(joining->arena, part->source_count + 1, int64_t);
	size_t first_run = joining->whole.run_count;

	for (size_t i = 0; i < part->configuration_count; i++)
		configurations[i] = configuration_id(joining, &part->configurations[i]);
	for (size_t i = 0; i < part->metric_count; i++)
		metrics[i] = metric_id(joining, &part->metrics[i]);
	for (size_t i = 0; i < part->source_count; i++)
		sources[i] = source_id(joining, &part->sources[i]);
	add_runs(joining, part, configurations, metrics, metrics_in_all);
	add_notes(joining, part, first_run);
	joining->whole.session.ended_us = part->session.ended_us;
	joining->whole.session.state = part->session.state;
	joining->whole.session.why = part->session.why;
	joining->whole.session.verdict = part->session.verdict;
	return add_samples(joining, store, part, sources, err);
}

/* Room for all parts together. */
static void make_room(struct joining *joining, const struct store_whole *parts, size_t count)
{
	struct store_whole sum = {0};

	for (size_t i = 0; i < count; i++) {
		sum.configuration_count += parts[i].configuration_count;
		sum.metric_count += parts[i].metric_count;
		sum.source_count += parts[i].source_count;
		sum.run_count += parts[i].run_count;
		sum.note_count += parts[i].note_count;
	}
	joining->whole = (struct store_whole){
	    .session = parts[0].session,
	    .configurations = ARENA_ARRAY(joining->arena, sum.configuration_count + 1, struct store_configuration),
	    .metrics = ARENA_ARRAY(joining->arena, sum.metric_count + 1, struct store_metric),
	    .sources = ARENA_ARRAY(joining->arena, sum.source_count + 1, struct store_source),
	    .runs = ARENA_ARRAY(joining->arena, sum.run_count + 1, struct store_run),
	    .notes = ARENA_ARRAY(joining->arena, sum.note_count + 1, struct store_note)};
}

static size_t metrics_of(const struct store_whole *parts, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += parts[i].metric_count;
	return sum;
}

static int join_parts(struct arena *arena, struct store *store, struct store_whole *whole,
		      struct store_sample **samples, size_t *sample_count, struct err *err)
{
	const char *uid = whole->session.study ? whole->session.study : whole->session.uid;
	struct joining joining = {.arena = arena};
	struct store_summary *sessions;
	size_t session_count, count = 0;
	int r = store_sessions(store, arena, &sessions, &session_count, err);

	if (r < 0)
		return r;
	struct store_whole *parts = ARENA_ARRAY(arena, session_count + 1, struct store_whole);

	for (size_t i = 0; i < session_count; i++) {
		const struct store_session *session = &sessions[i].session;

		if (!text_equal(session->uid, uid) && !text_equal(session->study, uid))
			continue;
		r = store_load(store, arena, session->id, &parts[count++], err);
		if (r < 0)
			return r;
	}
	make_room(&joining, parts, count);
	for (size_t i = 0; i < count; i++) {
		r = add_part(&joining, store, &parts[i], metrics_of(parts, count), err);
		if (r < 0)
			return r;
	}
	*whole = joining.whole;
	*samples = joining.samples;
	*sample_count = joining.sample_count;
	return 0;
}

int report_result_load(struct arena *arena, struct store *store, const char *name, struct report_result **ret,
		       struct err *err)
{
	struct store_whole *whole = ARENA_NEW(arena, struct store_whole);
	struct store_sample *samples = NULL;
	size_t count = 0;
	int64_t id = 0;
	int r = store_session_find(store, name, &id, err);

	if (r == 0)
		r = store_load(store, arena, id, whole, err);
	if (r == 0)
		r = store_load_samples(store, arena, id, -1, -1, &samples, &count, err);
	if (r == 0 && text_equal(whole->session.kind, "study"))
		r = join_parts(arena, store, whole, &samples, &count, err);
	return r < 0 ? r : report_result_make(arena, whole, samples, count, ret, err);
}
