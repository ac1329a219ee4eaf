/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of how long a study takes here: workloads are timed once and fail early, and what does not fit into
 * the budget is left out from the back, with what excludes each other still excluded.
 */
#include <errno.h>
#include <unistd.h>

#include "study_estimate.h"
#include "study_time.h"
#include "text.h"
#include "unit.h"

static struct study *read_study(struct arena *arena, const char *text)
{
	struct study_mistakes mistakes = {0};
	struct study *study = NULL;

	if (study_read(arena, "s", text, strlen(text), &study, &mistakes) < 0)
		fail_msg("line %u: %s", mistakes.items[0].line, mistakes.items[0].what);
	return study;
}

static void test_time(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study *study = read_study(
	    arena,
	    "study: s\nworkloads:\n  a: {run: 'sleep 0.2; test -e $HVTUNE_WORK/f', setup: 'touch $HVTUNE_WORK/f'}\n"
	    "  b: {run: 'true', prepare: 'sleep 0.1'}\nfactors: {f: {optional: yes, knob: thp, levels: [never, "
	    "always]}}\n");
	struct err err = {0};

	(void)state;
	assert_true(study_time_wanted(study, arena));
	if (study_time_run(study, arena, NULL, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
	assert_true(study->workloads[0].takes_s >= .2 && study->workloads[0].takes_s < 10);
	assert_true(study->workloads[1].takes_s >= .1 && study->workloads[1].takes_s < 10);
	/* What the file says itself is believed. */
	assert_false(study_time_wanted(study, arena));
	study = read_study(arena, "study: s\nworkloads: {a: 'echo no such thing >&2; exit 4'}\n"
				  "factors: {f: {optional: yes, knob: thp, levels: [never, always]}}\n");
	assert_int_equal(study_time_run(study, arena, NULL, &err), -EPROTO);
	assert_non_null(strstr(err.what, "exit code 4: no such thing"));
	assert_int_equal(access(arena_printf(arena, "/var/tmp/hvtune-time-%d", (int)getpid()), F_OK), -1);
	assert_true(study_time_wanted(
	    read_study(arena, "study: s\nworkloads: [xz]\nfactors: {f: {optional: yes, knob: thp, levels: "
			      "[never, always]}}\n"),
	    arena));
}

static const struct {
	const char *budget;
	size_t factors, configs, left_out;
	bool confirm;
} fits[] = {
    /* Five blocks of 3 * 2 * 3 less the excluded ones with runs of 10 s and switches of 3 s, and five pairs. */
    {"30 min", 3, 3 * 2 * 3 - 3, 0, true},
    {"10 min", 2, 3 * 2, 1, true},
    {"6 min", 1, 3, 2, true},
    {"5 min", 1, 2, 3, true},
    {"3 min", 1, 2, 4, false},
    {"1 min", 1, 2, 4, false},
};

/* What is not optional stays, whatever it takes. */
static void test_stays(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study *study =
	    read_study(arena, "study: s\nworkloads: {w: {run: x, takes: 1 h}}\nfactors:\n"
			      "  a: {optional: yes, knob: thp, levels: [never, always]}\n"
			      "  b: {knob: swappiness, levels: [1, 60, 100]}\n"
			      "  c: {optional: yes, knob: dirty_ratio, levels: [1, 5]}\n"
			      "never: [{b: 60, c: 1}, {a: always, b: 1}]\nbaseline: {a: always, b: 100}\n"
			      "budget: 1 h\n");
	struct study_left_out left_out = {0};
	struct study_matrix matrix;

	(void)state;
	study_time_fit(study, arena, &left_out);
	study_matrix_make(arena, study, &matrix);
	assert_int_equal(left_out.count, 2);
	assert_true(study->confirm);
	assert_int_equal(matrix.count, 1);
	assert_string_equal(study_config_name(arena, &matrix, 0), "b=100");
}

static void test_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fits); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct study *study = read_study(
		    arena,
		    arena_printf(arena,
				 "study: s\nworkloads: {w: {run: x, takes: 10 s}}\nfactors:\n"
				 "  a: {optional: yes, knob: thp, levels: [never, madvise, always]}\n"
				 "  b: {optional: yes, knob: swappiness, levels: [1, 60]}\n"
				 "  c: {optional: yes, knob: dirty_ratio, levels: [1, 5, 10]}\n"
				 "design: full\nnever: [{b: 1, c: 10}]\nbaseline: {a: always, c: 1}\nbudget: %s\n",
				 fits[i].budget));
		struct study_left_out left_out = {0};
		struct study_matrix matrix;

		study_time_fit(study, arena, &left_out);
		study_matrix_make(arena, study, &matrix);
		assert_int_equal(study->factor_count, fits[i].factors);
		assert_int_equal(matrix.count, fits[i].configs);
		assert_int_equal(left_out.count, fits[i].left_out);
		assert_int_equal(study->confirm, fits[i].confirm);
		assert_string_equal(study->factors[0].levels[study->baseline[0]].name, "always");
		if (left_out.count > 2)
			assert_non_null(strstr(left_out.texts[2], "a=madvise"));
	}
}

/* A factor that goes stays as it is: what its level of now excludes is excluded. */
static void test_excluded(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study *study = read_study(arena, "study: s\nworkloads: {w: {run: x, takes: 10 s}}\nfactors:\n"
						"  a: {optional: yes, knob: thp, levels: [never, madvise, always]}\n"
						"  b: {optional: yes, knob: swappiness, levels: [1, 60, 100]}\n"
						"never: [{a: madvise, b: 60}, {a: always, b: 100}]\nbaseline: {b: 60}\n"
						"budget: 6 min\n");
	struct study_left_out left_out = {0};
	struct study_matrix matrix;

	(void)state;
	study_time_fit(study, arena, &left_out);
	study_matrix_make(arena, study, &matrix);
	assert_int_equal(study->factor_count, 1);
	assert_int_equal(matrix.count, 2);
	assert_string_equal(study_config_name(arena, &matrix, 0), "a=never");
	assert_string_equal(study_config_name(arena, &matrix, 1), "a=always");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_time), cmocka_unit_test(test_fit),
					   cmocka_unit_test(test_stays), cmocka_unit_test(test_excluded)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
