/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is written while something is measured: each call is one transaction. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/random.h>

#include "store_internal.h"
#include "text.h"

/* One statement as its own transaction: it needs no BEGIN. */
static int run_alone(struct store *store, const char *sql, const struct store_cell *cells, size_t count,
		     struct err *err)
{
	int r = store_writable(store, err);

	return r < 0 ? r : store_run(store, sql, cells, count, err);
}

static int make_uid(char ret[33], struct err *err)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(err, EIO, NULL, "the kernel gives no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int begin_session(struct store *store, const struct store_session *session, int64_t *ret_id, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	char made[33] = "";
	int64_t id = 0;
	int r = session->uid ? 0 : make_uid(made, err);

	if (r == 0)
		r = store_next_session(store, &id, err);
	if (r < 0)
		return r;
	const struct store_cell cells[] = {
	    CELL_INT(id),
	    CELL_TEXT(session->uid ? session->uid : made),
	    CELL_TEXT(session->kind),
	    CELL_TEXT(session->name),
	    CELL_TEXT(session->command),
	    CELL_TEXT(session->cwd),
	    CELL_TEXT(session->version),
	    CELL_TEXT(session->host),
	    CELL_TEXT(session->facts),
	    CELL_TEXT(session->environment),
	    CELL_TEXT(session->method),
	    CELL_TEXT(session->study),
	    CELL_INT(session->began_us ? session->began_us : store_now_us()),
	    CELL_TEXT(session->writer ? session->writer : store_writer(arena)),
	};

	r = store_run(
	    store,
	    "INSERT INTO session (id, uid, kind, name, command, cwd, version, host, facts, environment, method, "
	    "study, began_us, writer, state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
	    "'open')",
	    cells, ARRAY_SIZE(cells), err);
	if (r == 0)
		*ret_id = id;
	return r;
}

int store_session_begin(struct store *store, const struct store_session *session, int64_t *ret_id, struct err *err)
{
	int64_t id = 0;
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = begin_session(store, session, &id, err);
	r = r < 0 ? store_give_up(store, r) : store_commit(store, err);
	/* A study that goes on after a power cut looks for it. */
	if (r == 0 && store->backend->settle)
		r = store->backend->settle(store, err);
	if (r == 0)
		*ret_id = id;
	return r;
}

int store_session_end(struct store *store, int64_t id, const char *state, const char *why, const char *verdict,
		      struct err *err)
{
	const struct store_cell cells[] = {CELL_TEXT(state), CELL_TEXT(why), CELL_TEXT(verdict),
					   CELL_INT(store_now_us()), CELL_INT(id)};

	return run_alone(store, "UPDATE session SET state = $1, why = $2, verdict = $3, ended_us = $4 WHERE id = $5",
			 cells, ARRAY_SIZE(cells), err);
}

static int count_row(void *data, const struct store_cell *cells, size_t count)
{
	(void)count;
	*(int64_t *)data = cells[0].number;
	return 0;
}

static int delete_rows(struct store *store, int64_t id, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	size_t last = 0;
	int r = 0;

	while (store_table_at(last + 1))
		last++;
	/* What belongs to the session first, the session itself last. */
	for (size_t at = last + 1; at-- > 0 && r == 0;) {
		const struct store_table *table = store_table_at(at);

		r = store_query_once(
		    store, arena_printf(arena, "DELETE FROM %s WHERE %s = $1", table->name, table->columns[0].name),
		    &CELL_INT(id), 1, NULL, NULL, err);
	}
	return r;
}

int store_session_delete(struct store *store, int64_t id, struct err *err)
{
	int64_t found = 0;
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = store_query(store, "SELECT COUNT(*) FROM session WHERE id = $1", &CELL_INT(id), 1, count_row, &found, err);
	if (r == 0 && !found)
		r = err_set(err, ENOENT, store->name, "there is no session %" PRId64, id);
	if (r == 0)
		r = delete_rows(store, id, err);
	return r < 0 ? store_give_up(store, r) : store_commit(store, err);
}

int store_configuration_add(struct store *store, int64_t session, const struct store_configuration *configuration,
			    struct err *err)
{
	const struct store_cell cells[] = {CELL_INT(session),
					   CELL_INT(configuration->id),
					   CELL_TEXT(configuration->name),
					   CELL_TEXT(configuration->command),
					   CELL_TEXT(configuration->settings),
					   CELL_TEXT(configuration->place)};

	return run_alone(
	    store,
	    "INSERT INTO configuration (session, id, name, command, settings, place) VALUES ($1, $2, $3, $4, "
	    "$5, $6)",
	    cells, ARRAY_SIZE(cells), err);
}

int store_metric_add(struct store *store, int64_t session, const struct store_metric *metric, struct err *err)
{
	const struct store_cell cells[] = {
	    CELL_INT(session),		CELL_INT(metric->id),	      CELL_TEXT(metric->name),
	    CELL_TEXT(metric->unit),	CELL_TEXT(metric->direction), CELL_TEXT(metric->source),
	    CELL_TEXT(metric->boundary)};

	return run_alone(
	    store,
	    "INSERT INTO metric (session, id, name, unit, direction, source, boundary) VALUES ($1, $2, $3, $4, "
	    "$5, $6, $7)",
	    cells, ARRAY_SIZE(cells), err);
}

int store_source_add(struct store *store, int64_t session, const struct store_source *source, struct err *err)
{
	const struct store_cell cells[] = {CELL_INT(session),
					   CELL_INT(source->id),
					   CELL_TEXT(source->name),
					   CELL_TEXT(source->boundary),
					   CELL_TEXT(source->quantity),
					   CELL_TEXT(source->unit),
					   CELL_REAL(source->resolution),
					   CELL_INT(source->period_ms)};

	return run_alone(
	    store,
	    "INSERT INTO source (session, id, name, boundary, quantity, unit, resolution, period_ms) VALUES "
	    "($1, $2, $3, $4, $5, $6, $7, $8)",
	    cells, ARRAY_SIZE(cells), err);
}

int store_block_add(struct store *store, int64_t session, const struct store_block *block, struct err *err)
{
	const struct store_cell cells[] = {CELL_INT(session), CELL_INT(block->id), CELL_TEXT(block->purpose),
					   CELL_TEXT(block->order),
					   CELL_INT(block->began_us ? block->began_us : store_now_us())};

	return run_alone(store,
			 "INSERT INTO block (session, id, purpose, run_order, began_us) VALUES ($1, $2, $3, $4, $5)",
			 cells, ARRAY_SIZE(cells), err);
}

int store_note_add(struct store *store, int64_t session, const struct store_note *note, struct err *err)
{
	const struct store_cell cells[] = {CELL_INT(session), CELL_INT(note->run),
					   CELL_INT(note->at_us ? note->at_us : store_now_us()), CELL_TEXT(note->kind),
					   CELL_TEXT(note->text)};

	return run_alone(store, "INSERT INTO note (session, run, at_us, kind, text) VALUES ($1, $2, $3, $4, $5)", cells,
			 ARRAY_SIZE(cells), err);
}

/* ---- runs ---- */

static int insert_run(struct store *store, int64_t session, const struct store_run *run, bool ended, struct err *err)
{
	const struct store_cell cells[] = {CELL_INT(session),
					   CELL_INT(run->id),
					   CELL_INT(run->configuration),
					   CELL_INT(run->block),
					   CELL_INT(run->position),
					   CELL_TEXT(run->purpose),
					   CELL_INT(run->began_us ? run->began_us : store_now_us()),
					   CELL_INT(ended ? run->took_ns : -1),
					   CELL_TEXT(run->boot),
					   CELL_TEXT(run->vm),
					   CELL_TEXT(run->vm_boot),
					   CELL_TEXT(run->clock),
					   CELL_TEXT(ended ? run->state : "running"),
					   CELL_TEXT(ended ? run->why : NULL),
					   CELL_INT(ended ? run->exit_code : -1),
					   CELL_INT(ended ? run->signal : 0)};

	return run_alone(
	    store,
	    "INSERT INTO run (session, id, configuration, block, position, purpose, began_us, took_ns, boot, "
	    "vm, vm_boot, clock, state, why, exit_code, signal) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
	    "$10, $11, $12, $13, $14, $15, $16)",
	    cells, ARRAY_SIZE(cells), err);
}

int store_run_begin(struct store *store, int64_t session, const struct store_run *run, struct err *err)
{
	return insert_run(store, session, run, false, err);
}

static int insert_values(struct store *store, int64_t session, int64_t run, const double *values, size_t count,
			 struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct store_cell cells[] = {CELL_INT(session), CELL_INT(run), CELL_INT((int64_t)i),
						   CELL_REAL(values[i])};

		if (!isnan(values[i]))
			r = store_run(store,
				      "INSERT INTO measurement (session, run, metric, value) VALUES ($1, $2, $3, $4)",
				      cells, ARRAY_SIZE(cells), err);
	}
	return r;
}

static int update_run(struct store *store, int64_t session, const struct store_run *run, struct err *err)
{
	const struct store_cell cells[] = {CELL_INT(run->took_ns),  CELL_TEXT(run->clock),    CELL_TEXT(run->state),
					   CELL_TEXT(run->why),	    CELL_INT(run->exit_code), CELL_INT(run->signal),
					   CELL_TEXT(run->vm_boot), CELL_INT(session),	      CELL_INT(run->id)};

	return store_run(store,
			 "UPDATE run SET took_ns = $1, clock = $2, state = $3, why = $4, exit_code = $5, signal = $6, "
			 "vm_boot = $7 WHERE session = $8 AND id = $9",
			 cells, ARRAY_SIZE(cells), err);
}

int store_run_end(struct store *store, int64_t session, const struct store_run *run, const double *values,
		  size_t value_count, struct err *err)
{
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = update_run(store, session, run, err);
	if (r == 0)
		r = insert_values(store, session, run->id, values, value_count, err);
	return r < 0 ? store_give_up(store, r) : store_commit(store, err);
}

int store_runs_add(struct store *store, int64_t session, const struct store_ended *runs, size_t count, struct err *err)
{
	int r = count ? store_begin(store, err) : 0;

	if (r < 0 || !count)
		return r;
	for (size_t i = 0; i < count && r == 0; i++) {
		r = insert_run(store, session, &runs[i].run, true, err);
		if (r == 0)
			r = insert_values(store, session, runs[i].run.id, runs[i].values, runs[i].value_count, err);
	}
	return r < 0 ? store_give_up(store, r) : store_commit(store, err);
}

int store_run_add(struct store *store, int64_t session, const struct store_run *run, const double *values,
		  size_t value_count, struct err *err)
{
	return store_runs_add(store, session, &(struct store_ended){*run, values, value_count}, 1, err);
}

int store_samples_add(struct store *store, int64_t session, const struct store_sample *samples, size_t count,
		      struct err *err)
{
	int r = count ? store_begin(store, err) : 0;

	if (r < 0 || !count)
		return r;
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct store_cell cells[] = {CELL_INT(session), CELL_INT(samples[i].run),
						   CELL_INT(samples[i].source), CELL_INT(samples[i].at_ns),
						   CELL_REAL(samples[i].value)};

		if (!isnan(samples[i].value))
			r = store_run(
			    store,
			    "INSERT INTO sample (session, run, source, at_ns, value) VALUES ($1, $2, $3, $4, $5)",
			    cells, ARRAY_SIZE(cells), err);
	}
	return r < 0 ? store_give_up(store, r) : store_commit(store, err);
}
