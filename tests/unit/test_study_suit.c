/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of a study that is made to suit a machine: what goes, what stays, and what is the baseline. */
#include <errno.h>

#include "kernel.h"
#include "study_suit.h"
#include "text.h"
#include "unit.h"

struct suited {
	struct kernel kernel;
	struct knob_machine machine;
	struct study *study;
	struct study_left_out left_out;
	struct study_matrix matrix;
	int r;
};

static void suit(struct suited *suited, const char *mode, const char *factors)
{
	struct study_mistakes mistakes = {0};
	struct err err = {0};

	*suited = (struct suited){0};
	kernel_start(&suited->kernel, mode);
	assert_int_equal(knob_machine_open(suited->kernel.tree->root, NULL, &suited->machine, &err), 0);
	const char *text = arena_printf(suited->machine.arena, "study: s\nworkloads: {w: make}\nfactors:\n%s", factors);

	if (study_read(suited->machine.arena, "s.yaml", text, strlen(text), &suited->study, &mistakes) < 0)
		fail_msg("line %u: %s", mistakes.items[0].line, mistakes.items[0].what);
	suited->r = study_suit(&suited->machine, suited->study, &suited->left_out, &err);
	if (suited->r == 0)
		study_matrix_make(suited->machine.arena, suited->study, &suited->matrix);
}

static void finish(struct suited *suited)
{
	knob_machine_close(&suited->machine);
	kernel_stop(&suited->kernel);
}

#define WIDE                                                                                                           \
	"  epp: {optional: yes, knob: epp, levels: [power, balance_performance]}\n"                                    \
	"  governor: {optional: yes, knob: governor, levels: [performance, powersave, schedutil]}\n"                   \
	"  thp: {knob: thp, levels: [never, madvise, always]}\n"                                                       \
	"never:\n  - {epp: power, thp: always}\n  - {governor: schedutil, thp: never}\n  - {governor: performance, "   \
	"thp: always}\n"

/* passive: no EPP, its "never" goes with it; the governor that holds is the baseline. */
static void test_passive(void **state)
{
	struct suited suited;

	(void)state;
	suit(&suited, "passive", WIDE);
	assert_int_equal(suited.r, 0);
	assert_int_equal(suited.study->factor_count, 2);
	assert_string_equal(suited.study->factors[0].name, "governor");
	assert_int_equal(suited.study->factors[0].level_count, 3);
	assert_int_equal(suited.study->forbid_count, 2);
	assert_int_equal(suited.left_out.count, 1);
	assert_non_null(strstr(suited.left_out.texts[0], "epp: "));
	assert_string_equal(suited.study->factors[0].levels[suited.study->baseline[0]].name, "schedutil");
	assert_int_equal(suited.matrix.count, 3 * 3 - 2);
	finish(&suited);
}

/* active: no schedutil, and performance excludes all EPP but its own. */
static void test_active(void **state)
{
	struct suited suited;

	(void)state;
	suit(&suited, "active", WIDE);
	assert_int_equal(suited.r, 0);
	assert_int_equal(suited.study->factor_count, 3);
	assert_int_equal(suited.study->factors[1].level_count, 2);
	/* Both EPP levels with performance; of the file's three, the one of schedutil is gone. */
	assert_int_equal(suited.study->forbid_count, 2 + 2);
	for (size_t c = 0; c < suited.matrix.count; c++) {
		const size_t *levels = study_levels(&suited.matrix, c);

		assert_int_equal(levels[1], 1); /* powersave */
	}
	assert_int_equal(suited.matrix.count, 2 * 3 - 1);
	finish(&suited);
}

static void test_nothing_left(void **state)
{
	struct suited suited;

	(void)state;
	suit(&suited, "passive", "  epp: {optional: yes, knob: epp, levels: [power, balance_performance]}\n");
	assert_int_equal(suited.r, -ENOENT);
	finish(&suited);
}

/* Factors that are not optional stay as they are: study_check() says what is wrong with them. */
static void test_not_optional(void **state)
{
	struct suited suited;

	(void)state;
	suit(&suited, "passive", "  epp: {knob: epp, levels: [power, balance_performance]}\n");
	assert_int_equal(suited.r, 0);
	assert_int_equal(suited.study->factor_count, 1);
	assert_int_equal(suited.left_out.count, 0);
	finish(&suited);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_passive), cmocka_unit_test(test_active),
					   cmocka_unit_test(test_nothing_left), cmocka_unit_test(test_not_optional)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
