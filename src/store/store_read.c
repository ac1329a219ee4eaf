/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading sessions back. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "store_internal.h"
#include "text.h"

/* Rows of one kind, gathered into an array. */
struct gather {
	struct arena *arena;
	char *items;
	size_t size, count, room;
	void (*fill)(struct arena *arena, void *item, const struct store_cell *cells);
};

static int gather_row(void *data, const struct store_cell *cells, size_t count)
{
	struct gather *gather = data;

	(void)count;
	if (gather->count == gather->room) {
		size_t room = gather->room ? 2 * gather->room : 16;
		char *larger = arena_array(gather->arena, room, gather->size);

		if (gather->count)
			memcpy(larger, gather->items, gather->count * gather->size);
		gather->items = larger;
		gather->room = room;
	}
	gather->fill(gather->arena, gather->items + gather->count++ * gather->size, cells);
	return 0;
}

static const char *keep(struct arena *arena, const struct store_cell *cell)
{
	return cell->type == STORE_TEXT ? arena_strdup(arena, cell->text) : NULL;
}

/* What must be there; a store that somebody wrote into by hand is no reason for a crash. */
static const char *keep_sure(struct arena *arena, const struct store_cell *cell)
{
	return cell->type == STORE_TEXT ? arena_strdup(arena, cell->text) : "";
}

static double real(const struct store_cell *cell)
{
	return cell->type == STORE_REAL ? cell->real : cell->type == STORE_INT ? (double)cell->number : (double)NAN;
}

/* Each in the order of the columns of the table of tables. */
static void fill_session(struct arena *arena, void *item, const struct store_cell *cells)
{
	*(struct store_session *)item = (struct store_session){
	    .id = cells[0].number,
	    .uid = keep_sure(arena, &cells[1]),
	    .kind = keep_sure(arena, &cells[2]),
	    .name = keep(arena, &cells[3]),
	    .command = keep(arena, &cells[4]),
	    .cwd = keep(arena, &cells[5]),
	    .version = keep(arena, &cells[6]),
	    .host = keep(arena, &cells[7]),
	    .facts = keep(arena, &cells[8]),
	    .environment = keep(arena, &cells[9]),
	    .method = keep(arena, &cells[10]),
	    .study = keep(arena, &cells[11]),
	    .began_us = cells[12].number,
	    .ended_us = cells[13].number,
	    .state = keep_sure(arena, &cells[14]),
	    .why = keep(arena, &cells[15]),
	    .verdict = keep(arena, &cells[16]),
	    .writer = keep(arena, &cells[17]),
	};
	store_mark_cut(arena, item);
}

static void fill_configuration(struct arena *arena, void *item, const struct store_cell *cells)
{
	*(struct store_configuration *)item = (struct store_configuration){
	    .id = cells[1].number,
	    .name = keep_sure(arena, &cells[2]),
	    .command = keep(arena, &cells[3]),
	    .settings = keep(arena, &cells[4]),
	    .place = keep(arena, &cells[5]),
	};
}

static void fill_metric(struct arena *arena, void *item, const struct store_cell *cells)
{
	*(struct store_metric *)item = (struct store_metric){
	    .id = cells[1].number,
	    .name = keep_sure(arena, &cells[2]),
	    .unit = keep_sure(arena, &cells[3]),
	    .direction = keep_sure(arena, &cells[4]),
	    .source = keep(arena, &cells[5]),
	    .boundary = keep(arena, &cells[6]),
	};
}

static void fill_block(struct arena *arena, void *item, const struct store_cell *cells)
{
	*(struct store_block *)item = (struct store_block){
	    .id = cells[1].number,
	    .purpose = keep_sure(arena, &cells[2]),
	    .order = keep(arena, &cells[3]),
	    .began_us = cells[4].number,
	};
}

static void fill_run(struct arena *arena, void *item, const struct store_cell *cells)
{
	*(struct store_run *)item = (struct store_run){
	    .id = cells[1].number,
	    .configuration = cells[2].number,
	    .block = cells[3].number,
	    .position = cells[4].number,
	    .purpose = keep_sure(arena, &cells[5]),
	    .began_us = cells[6].number,
	    .took_ns = cells[7].number,
	    .boot = keep(arena, &cells[8]),
	    .vm = keep(arena, &cells[9]),
	    .vm_boot = keep(arena, &cells[10]),
	    .clock = keep(arena, &cells[11]),
	    .state = keep_sure(arena, &cells[12]),
	    .why = keep(arena, &cells[13]),
	    .exit_code = cells[14].number,
	    .signal = cells[15].number,
	};
}

static void fill_source(struct arena *arena, void *item, const struct store_cell *cells)
{
	*(struct store_source *)item = (struct store_source){
	    .id = cells[1].number,
	    .name = keep_sure(arena, &cells[2]),
	    .boundary = keep(arena, &cells[3]),
	    .quantity = keep_sure(arena, &cells[4]),
	    .unit = keep_sure(arena, &cells[5]),
	    .resolution = cells[6].type == STORE_NULL ? 0 : real(&cells[6]),
	    .period_ms = cells[7].number,
	};
}

static void fill_sample(struct arena *arena, void *item, const struct store_cell *cells)
{
	(void)arena;
	*(struct store_sample *)item = (struct store_sample){
	    .run = cells[1].number, .source = cells[2].number, .at_ns = cells[3].number, .value = real(&cells[4])};
}

static void fill_note(struct arena *arena, void *item, const struct store_cell *cells)
{
	*(struct store_note *)item = (struct store_note){
	    .run = cells[1].number,
	    .at_us = cells[2].number,
	    .kind = keep_sure(arena, &cells[3]),
	    .text = keep_sure(arena, &cells[4]),
	};
}

static const struct store_table *table_named(const char *name)
{
	size_t at = 0;

	while (!text_equal(store_table_at(at)->name, name))
		at++;
	return store_table_at(at);
}

static int gather_table(struct store *store, struct arena *arena, int64_t session, const char *table, size_t size,
			void (*fill)(struct arena *, void *, const struct store_cell *), void *ret_items,
			size_t *ret_count, struct err *err)
{
	struct gather gather = {.arena = arena, .size = size, .fill = fill};
	int r = store_query_once(store, store_select_text(arena, table_named(table)), &CELL_INT(session), 1, gather_row,
				 &gather, err);

	if (r < 0)
		return r;
	*(void **)ret_items = gather.items;
	*ret_count = gather.count;
	return 0;
}

/* ---- one session ---- */

struct measuring {
	struct store_whole *whole;
	double *values; /* metric_count for each run */
};

static struct store_run *run_of(struct store_whole *whole, int64_t id)
{
	/* Ids count from 0, but for what somebody deleted by hand. */
	if (id >= 0 && (size_t)id < whole->run_count && whole->runs[id].id == id)
		return &whole->runs[id];
	for (size_t i = 0; i < whole->run_count; i++)
		if (whole->runs[i].id == id)
			return &whole->runs[i];
	return NULL;
}

static int value_row(void *data, const struct store_cell *cells, size_t count)
{
	struct measuring *measuring = data;
	const struct store_run *run = run_of(measuring->whole, cells[1].number);
	int64_t metric = cells[2].number;

	(void)count;
	if (run && metric >= 0 && (size_t)metric < measuring->whole->metric_count)
		measuring
		    ->values[(size_t)(run - measuring->whole->runs) * measuring->whole->metric_count + (size_t)metric] =
		    real(&cells[3]);
	return 0;
}

static int load_values(struct store *store, struct arena *arena, struct store_whole *whole, int64_t id, struct err *err)
{
	struct measuring measuring = {whole, ARENA_ARRAY(arena, whole->run_count * whole->metric_count + 1, double)};

	for (size_t i = 0; i < whole->run_count * whole->metric_count; i++)
		measuring.values[i] = (double)NAN;
	for (size_t i = 0; i < whole->run_count; i++)
		whole->runs[i].values = measuring.values + i * whole->metric_count;
	return store_query_once(store, store_select_text(arena, table_named("measurement")), &CELL_INT(id), 1,
				value_row, &measuring, err);
}

#define GATHER(name, type, list)                                                                                       \
	gather_table(store, arena, id, #name, sizeof(struct store_##type), fill_##type, &whole.list##s,                \
		     &whole.list##_count, err)

int store_load(struct store *store, struct arena *arena, int64_t id, struct store_whole *ret, struct err *err)
{
	struct store_whole whole = {0};
	struct store_session *sessions;
	size_t count;
	int r = gather_table(store, arena, id, "session", sizeof(*sessions), fill_session, &sessions, &count, err);

	if (r < 0)
		return r;
	if (!count) {
		(void)err_set(err, ENOENT, store->name, "there is no session %" PRId64, id);
		(void)err_hint(err, "hvtune results lists them");
		return -ENOENT;
	}
	whole.session = sessions[0];
	r = GATHER(configuration, configuration, configuration);
	if (r == 0)
		r = GATHER(metric, metric, metric);
	if (r == 0)
		r = GATHER(block, block, block);
	if (r == 0)
		r = GATHER(run, run, run);
	if (r == 0)
		r = GATHER(source, source, source);
	if (r == 0)
		r = GATHER(note, note, note);
	if (r == 0)
		r = load_values(store, arena, &whole, id, err);
	/* No run goes on where nobody writes. */
	for (size_t i = 0; i < whole.run_count && text_equal(whole.session.state, "cut"); i++)
		if (text_equal(whole.runs[i].state, "running")) {
			whole.runs[i].state = "invalid";
			whole.runs[i].why = "it was cut off";
		}
	if (r == 0)
		*ret = whole;
	return r;
}

int store_load_samples(struct store *store, struct arena *arena, int64_t session, int64_t run, int64_t source,
		       struct store_sample **ret, size_t *ret_count, struct err *err)
{
	struct gather gather = {.arena = arena, .size = sizeof(struct store_sample), .fill = fill_sample};
	const struct store_cell cells[] = {CELL_INT(session), CELL_INT(run), CELL_INT(source)};
	int r = store_query(
	    store,
	    "SELECT session, run, source, at_ns, value FROM sample WHERE session = $1 AND ($2 = -1 OR run = "
	    "$2) AND ($3 = -1 OR source = $3) ORDER BY source, at_ns",
	    cells, ARRAY_SIZE(cells), gather_row, &gather, err);

	if (r < 0)
		return r;
	*ret = (struct store_sample *)(void *)gather.items;
	*ret_count = gather.count;
	return 0;
}

const struct store_metric *store_metric_named(const struct store_whole *whole, const char *name)
{
	for (size_t i = 0; i < whole->metric_count; i++)
		if (text_equal(whole->metrics[i].name, name))
			return &whole->metrics[i];
	return NULL;
}

size_t store_values(struct arena *arena, const struct store_whole *whole, int64_t configuration, int64_t metric,
		    const char *purpose, bool invalid, double **ret)
{
	double *values = ARENA_ARRAY(arena, whole->run_count + 1, double);
	size_t count = 0;

	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		bool taken = text_equal(run->state, "valid") || (invalid && text_equal(run->state, "invalid"));

		if (taken && run->configuration == configuration && (!purpose || text_equal(run->purpose, purpose)) &&
		    metric >= 0 && (size_t)metric < whole->metric_count && !isnan(run->values[metric]))
			values[count++] = run->values[metric];
	}
	*ret = values;
	return count;
}

/* ---- all sessions ---- */

static void fill_summary(struct arena *arena, void *item, const struct store_cell *cells)
{
	struct store_summary *summary = item;
	size_t columns = table_named("session")->count;

	fill_session(arena, &summary->session, cells);
	summary->configurations = cells[columns].number;
	summary->runs = cells[columns + 1].number;
	summary->valid = cells[columns + 2].number;
}

int store_sessions(struct store *store, struct arena *arena, struct store_summary **ret, size_t *ret_count,
		   struct err *err)
{
	struct gather gather = {.arena = arena, .size = sizeof(struct store_summary), .fill = fill_summary};
	int r = store_query(
	    store,
	    "SELECT id, uid, kind, name, command, cwd, version, host, facts, environment, method, study, began_us, "
	    "ended_us, state, why, verdict, writer, (SELECT COUNT(*) FROM configuration c WHERE c.session = "
	    "session.id), "
	    "(SELECT "
	    "COUNT(*) FROM run r WHERE r.session = session.id), (SELECT COUNT(*) FROM run r WHERE r.session = "
	    "session.id "
	    "AND r.state = 'valid') FROM session ORDER BY id",
	    NULL, 0, gather_row, &gather, err);

	if (r < 0)
		return r;
	*ret = (struct store_summary *)(void *)gather.items;
	*ret_count = gather.count;
	return 0;
}

struct finding {
	const char *name;
	int64_t by_number, by_label, by_uid, newest;
	size_t uids;
};

static int find_row(void *data, const struct store_cell *cells, size_t count)
{
	struct finding *finding = data;
	int64_t id = cells[0].number, number;

	(void)count;
	finding->newest = id;
	if (text_int(finding->name, 10, &number) == 0 && number == id)
		finding->by_number = id;
	if (cells[2].type == STORE_TEXT && text_equal(cells[2].text, finding->name))
		finding->by_label = id;
	if (strlen(finding->name) >= 6 && cells[1].type == STORE_TEXT && text_starts(cells[1].text, finding->name)) {
		finding->by_uid = id;
		finding->uids++;
	}
	return 0;
}

int store_session_find(struct store *store, const char *name, int64_t *ret_id, struct err *err)
{
	struct finding finding = {.name = name};
	int64_t found;
	int r = store_query(store, "SELECT id, uid, name FROM session ORDER BY id", NULL, 0, find_row, &finding, err);

	if (r < 0)
		return r;
	/* A session that somebody has labelled "last" or by a number is found by its own number. */
	found = text_equal(name, "last") ? finding.newest
		: finding.by_number	 ? finding.by_number
		: finding.by_label	 ? finding.by_label
		: finding.uids == 1	 ? finding.by_uid
					 : 0;
	if (!found && finding.uids > 1) {
		(void)err_set(err, ENOENT, store->name, "the identifiers of %zu sessions begin with \"%s\"",
			      finding.uids, name);
		(void)err_hint(err, "add digits, or name one by its number");
		return -ENOENT;
	}
	if (!found) {
		(void)err_set(err, ENOENT, store->name, "there is no session \"%s\"", name);
		(void)err_hint(err, "hvtune results lists them");
		return -ENOENT;
	}
	*ret_id = found;
	return 0;
}
