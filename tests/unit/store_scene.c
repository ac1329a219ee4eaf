/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the store that tests write and read. */
#include "store_scene.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

const char *store_place(const struct store_scene *scene)
{
	return scene->url ? scene->url : scene->path;
}

int store_set_up(void **state)
{
	struct store_scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	(void)strcpy(scene->folder, "/tmp/hvtune-store-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	(void)snprintf(scene->path, sizeof(scene->path), "%s/results.db", scene->folder);
	scene->url = getenv("HVTUNE_TEST_POSTGRESQL");
	*state = scene;
	return 0;
}

int store_tear_down(void **state)
{
	struct store_scene *scene = *state;
	static const char *const names[] = {"results.db", "results.db-wal", "results.db-shm",
					    "other.db",	  "other.db-wal",   "other.db-shm"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", scene->folder, names[i]);
		(void)unlink(path);
	}
	assert_int_equal(rmdir(scene->folder), 0);
	free(scene);
	return 0;
}

struct store *store_opened(const char *where, enum store_mode mode)
{
	struct err err = {0};
	struct store *store = NULL;

	if (store_open(where, mode, &store, &err) < 0)
		err_print(stderr, &err);
	assert_non_null(store);
	return store;
}

int64_t store_fill(struct store *store, const char *label, size_t runs)
{
	struct err err = {0};
	int64_t id = 0;
	const struct store_session session = {.kind = "compare",
					      .name = label,
					      .command = "[\"compare\",\"a \\\"b\\\"\"]",
					      .cwd = "/tmp",
					      .version = "0.1.0",
					      .host = "h\xc3\xa4user",
					      .facts = "{\"cpu\":\"EPYC\"}",
					      .method = "{\"seed\":1}"};
	const struct store_configuration configurations[] = {
	    {.id = 0, .name = "A", .command = "[\"true\"]", .settings = "{}"},
	    {.id = 1, .name = "B, quoted \"x\"", .command = "[\"false\"]", .settings = "{\"governor\":\"powersave\"}"}};
	const struct store_metric metrics[] = {
	    {.id = 0, .name = "wall time", .unit = "s", .direction = "less", .source = "clock"},
	    {.id = 1, .name = "energy", .unit = "J", .direction = "less", .source = "perf", .boundary = "package"}};

	assert_int_equal(store_session_begin(store, &session, &id, &err), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(store_configuration_add(store, id, &configurations[i], &err), 0);
		assert_int_equal(store_metric_add(store, id, &metrics[i], &err), 0);
	}
	assert_int_equal(store_source_add(store, id,
					  &(struct store_source){.name = "perf",
								 .boundary = "package",
								 .quantity = "energy",
								 .unit = "J",
								 .resolution = 0.25,
								 .period_ms = 100},
					  &err),
			 0);
	assert_int_equal(
	    store_block_add(store, id, &(struct store_block){.purpose = "measure", .order = "[1,0]"}, &err), 0);
	for (size_t i = 0; i < runs; i++) {
		const double values[] = {0.1 + (double)i, i % 2 ? (double)NAN : 1e-300};
		struct store_run run = {.id = (int64_t)i,
					.configuration = (int64_t)i % 2,
					.block = i % 3 ? 0 : -1,
					.position = (int64_t)i,
					.purpose = i ? "measure" : "warmup",
					.boot = "boot-1"};

		assert_int_equal(store_run_begin(store, id, &run, &err), 0);
		run.took_ns = 1000000007 * (int64_t)(i + 1);
		run.state = i == 2 ? "invalid" : "valid";
		run.why = i == 2 ? "exit code 1, \"bad\"" : NULL;
		run.exit_code = i == 2;
		assert_int_equal(store_run_end(store, id, &run, values, 2, &err), 0);
	}
	const struct store_sample samples[] = {{0, 0, 5, 1.5}, {0, 0, 9, 2.5}, {1, 0, 12, 3.5}};

	assert_int_equal(store_samples_add(store, id, samples, 3, &err), 0);
	assert_int_equal(
	    store_note_add(store, id, &(struct store_note){.run = 1, .kind = "knob", .text = "moved"}, &err), 0);
	assert_int_equal(store_session_end(store, id, "done", "precision reached", "{\"a\":1}", &err), 0);
	return id;
}

void store_assert_filled(struct store *store, int64_t id, const char *label, size_t runs)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct store_whole whole;
	struct store_sample *samples;
	struct err err = {0};
	size_t count;
	double *values;

	assert_int_equal(store_load(store, arena, id, &whole, &err), 0);
	assert_int_equal(strlen(whole.session.uid), 32);
	assert_string_equal(whole.session.kind, "compare");
	assert_string_equal(whole.session.name, label);
	assert_string_equal(whole.session.command, "[\"compare\",\"a \\\"b\\\"\"]");
	assert_string_equal(whole.session.host, "h\xc3\xa4user");
	assert_null(whole.session.environment);
	assert_null(whole.session.study);
	assert_string_equal(whole.session.state, "done");
	assert_string_equal(whole.session.verdict, "{\"a\":1}");
	assert_true(whole.session.began_us > 1000000000000000 && whole.session.ended_us >= whole.session.began_us);
	assert_int_equal(whole.configuration_count, 2);
	assert_string_equal(whole.configurations[1].name, "B, quoted \"x\"");
	assert_string_equal(whole.configurations[1].settings, "{\"governor\":\"powersave\"}");
	assert_int_equal(whole.metric_count, 2);
	assert_string_equal(whole.metrics[1].boundary, "package");
	assert_null(whole.metrics[0].boundary);
	assert_int_equal(store_metric_named(&whole, "energy")->id, 1);
	assert_null(store_metric_named(&whole, "joy"));
	assert_int_equal(whole.source_count, 1);
	assert_true(whole.sources[0].resolution == 0.25 && whole.sources[0].period_ms == 100);
	assert_int_equal(whole.block_count, 1);
	assert_string_equal(whole.blocks[0].order, "[1,0]");
	assert_int_equal(whole.note_count, 1);
	assert_string_equal(whole.notes[0].text, "moved");
	assert_int_equal(whole.run_count, runs);
	for (size_t i = 0; i < runs; i++) {
		assert_int_equal(whole.runs[i].id, i);
		assert_int_equal(whole.runs[i].block, i % 3 ? 0 : -1);
		assert_int_equal(whole.runs[i].took_ns, 1000000007 * (int64_t)(i + 1));
		assert_true(whole.runs[i].values[0] == 0.1 + (double)i);
		assert_true(i % 2 ? isnan(whole.runs[i].values[1]) : whole.runs[i].values[1] == 1e-300);
		assert_string_equal(whole.runs[i].state, i == 2 ? "invalid" : "valid");
		assert_int_equal(whole.runs[i].exit_code, i == 2);
	}
	assert_string_equal(whole.runs[2].why, "exit code 1, \"bad\"");
	/* Of A: runs 0 (a warm-up), 2 (invalid), 4... */
	count = store_values(arena, &whole, 0, 0, "measure", false, &values);
	assert_int_equal(count, (runs - 1) / 2 - 1);
	assert_true(count == 0 || values[0] == 4.1);
	assert_int_equal(store_values(arena, &whole, 0, 0, "measure", true, &values), (runs - 1) / 2);
	assert_int_equal(store_values(arena, &whole, 1, 1, NULL, true, &values), 0);
	assert_int_equal(store_load_samples(store, arena, id, -1, -1, &samples, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_int_equal(store_load_samples(store, arena, id, 0, -1, &samples, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_true(samples[1].at_ns == 9 && samples[1].value == 2.5);
}
