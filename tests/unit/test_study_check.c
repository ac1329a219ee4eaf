/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of what a study meets on a machine: the simulated kernel's couplings refuse, and nothing is written.
 */
#include "kernel.h"
#include "study_check.h"
#include "text.h"
#include "unit.h"

enum { MOST_EXPECTED = 8 };

static const struct scene {
	const char *mode, *factors;
	bool possible;
	struct {
		enum study_problem_kind kind;
		unsigned line;
		const char *what;
	} expected[MOST_EXPECTED]; /* ended by a NULL what */
} scenes[] = {
    {"active", "  f: {knob: thp, levels: [always, never]}\n  g: {knob: swappiness, levels: [1, 60]}\n", true, {{0}}},
    {"active",
     "  f: {knob: thp, levels: [always, madvise, never]}\n  g: {knob: swappiness, levels: [1, 60]}\ndesign: "
     "one-by-one\n",
     false,
     {{STUDY_NO_DESIGN, 4, "f"}}},
    {"active", "  f: {knob: thp, levels: [always, never]}\nnever: [{f: never}]\n", false, {{STUDY_NO_DESIGN, 1, "s"}}},
    /* What performance holds is told as a pair, and not with a "never". */
    {"active",
     "  gov: {knob: governor, levels: [powersave, performance]}\n  epp: {knob: epp, levels: [power, performance]}\n",
     false,
     {{STUDY_PAIR_REFUSED, 5, "epp=power with gov=performance"}}},
    {"active",
     "  gov: {knob: governor, levels: [powersave, performance]}\n  epp: {knob: epp, levels: [power, performance]}\n"
     "never: [{gov: performance, epp: power}]\n",
     true,
     {{0}}},
    /* EPP only comes with the mode active, which another factor sets. */
    {"passive",
     "  mode: {knob: amd_pstate, levels: [active, guided]}\n  epp: {knob: epp, levels: [power, performance]}\n"
     "never: [{mode: guided, epp: power}]\n",
     false,
     {{STUDY_PAIR_REFUSED, 5, "epp=performance with mode=guided"}}},
    {"passive",
     "  epp: {knob: epp, levels: [power, performance]}\n",
     false,
     {{STUDY_LEVEL_REFUSED, 4, "epp=power"}, {STUDY_LEVEL_REFUSED, 4, "epp=performance"}}},
    {"passive", "  f: {knob: thp, levels: [always, sometimes]}\n", false, {{STUDY_LEVEL_REFUSED, 4, "f=sometimes"}}},
    /* One value in other words: for the knob, for this machine (pages of 2 MiB), and with all that a level sets. */
    {"active",
     "  f: {knob: swappiness, levels: [10, 60, 010]}\n  g: {knob: thp, levels: [never, always]}\n",
     false,
     {{STUDY_LEVEL_TWICE, 4, "f=010"}}},
    {"active",
     "  f:\n    levels:\n      a: {set: {swappiness: 10, thp: never}}\n      b: {set: {thp: never, swappiness: 010}}\n"
     "      c: {set: {thp: never}}\n",
     false,
     {{STUDY_LEVEL_TWICE, 7, "f=b"}}},
    {"active", "  f: {levels: {a: as-found, b: as-found}}\n", false, {{STUDY_LEVEL_TWICE, 4, "f=b"}}},
    {"active",
     "  f: {levels: {a: {run: x, undo: y}, b: {run: x, undo: y}, c: {run: x, undo: z}, d: as-found}}\n",
     false,
     {{STUDY_LEVEL_TWICE, 4, "f=b"}}},
    /* After a boot that is not the present one it may be there. */
    {"passive",
     "  nps: {ask: 'Set NPS to {level}', levels: [1, 4]}\n  epp: {knob: epp, levels: [power, performance]}\n",
     true,
     {{STUDY_LEVEL_LATER, 5, "epp=power"}, {STUDY_LEVEL_LATER, 5, "epp=performance"}}},
};

static void check(const struct scene *scene)
{
	struct knob_machine machine = {0};
	struct study_mistakes mistakes = {0};
	struct study_checked checked;
	struct study_matrix matrix;
	struct study *study = NULL;
	struct kernel kernel;
	struct err err = {0};
	size_t count = 0;

	kernel_start(&kernel, scene->mode);
	const struct sys_write_gate gate = kernel_gate(&kernel);

	assert_int_equal(knob_machine_open(kernel.tree->root, &gate, &machine, &err), 0);
	const char *text = arena_printf(machine.arena, "study: s\nworkloads: {w: make}\nfactors:\n%s", scene->factors);

	if (study_read(machine.arena, "s.yaml", text, strlen(text), &study, &mistakes) < 0)
		fail_msg("line %u: %s", mistakes.items[0].line, mistakes.items[0].what);
	study_matrix_make(machine.arena, study, &matrix);
	study_check(&machine, &matrix, &checked);
	while (scene->expected[count].what)
		count++;
	for (size_t i = 0; i < checked.count; i++)
		if (i >= count || checked.problems[i].kind != scene->expected[i].kind ||
		    checked.problems[i].line != scene->expected[i].line ||
		    !text_equal(checked.problems[i].what, scene->expected[i].what))
			fail_msg("%s: problem %zu: line %u: %s: %s", scene->factors, i, checked.problems[i].line,
				 checked.problems[i].what, checked.problems[i].why);
	assert_int_equal(checked.count, count);
	assert_int_equal(checked.possible, scene->possible);
	assert_int_equal(kernel.calls, 0);
	knob_machine_close(&machine);
	kernel_stop(&kernel);
}

static void test_scenes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		check(&scenes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
