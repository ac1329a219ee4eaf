/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of studies that ask a person, on a machine of files (study_sim.h): /nps is what its setup holds, and
 * that is measured. The person is the test.
 */
#include <jansson.h>
#include <math.h>

#include "unit.h"

#include "study_go.h"
#include "study_sim.h"
#include "text.h"

#define WORKLOADS                                                                                                      \
	"study: s\n"                                                                                                   \
	"workloads:\n"                                                                                                 \
	"  w:\n"                                                                                                       \
	"    run: |\n"                                                                                                 \
	"      v=100\n"                                                                                                \
	"      grep -qx 4 $SIM_ROOT/nps && v=$((v - 20))\n"                                                            \
	"      grep -qx 2 $SIM_ROOT/nps && v=$((v - 5))\n"                                                             \
	"      grep -qw iommu=pt $SIM_ROOT/proc/cmdline && v=$((v - 10))\n"                                            \
	"      echo \"v=$v\"\n"                                                                                        \
	"    metric: {regex: 'v=([0-9]+)', unit: s, better: less}\n"                                                   \
	"design: full\nconfirm: no\nfactors:\n"
#define NPS "  nps: {ask: 'Set NPS to {level} in the setup', levels: [1, 4]}\n"
#define THREE "  nps: {ask: 'Set NPS to {level} in the setup', levels: [1, 2, 4]}\n"
#define SEEN "  nps: {ask: 'Set NPS to {level} in the setup', levels: [1, 4], see: 'grep -qx {level} $SIM_ROOT/nps'}\n"
#define LIVE "  nps: {ask: 'Turn it to {level}', needs: live, levels: [1, 4]}\n"
#define IOMMU "  iommu: {knob: boot.iommu, levels: [absent, pt]}\n"

#define ONCE "runs: 1\n"
#define TWICE "runs: 2\n"

enum { MOST_TURNS = 60 };

struct found {
	size_t runs, wrong; /* whole runs; those with another value than their configuration's */
	size_t with[8];	    /* runs by NPS */
};

static const double worth[] = {[1] = 0, [2] = 5, [4] = 20};

static void find(const struct sim *sim, struct found *ret)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_matrix matrix;
	struct study_seen *seen;
	size_t count = sim_results(sim, arena, &matrix, &seen);
	const struct study *study = matrix.study;

	*ret = (struct found){0};
	for (size_t i = 0; i < count; i++) {
		const size_t *levels = study_levels(&matrix, (size_t)seen[i].config);
		int nps = *study->factors[0].levels[levels[0]].name - '0';
		bool iommu = study->factor_count > 1 && levels[1] == 1;

		if (!seen[i].valid)
			continue;
		ret->runs += seen[i].purpose != STUDY_WARM_UP;
		ret->with[nps] += seen[i].purpose != STUDY_WARM_UP;
		ret->wrong += fabs(seen[i].value[STUDY_TIME] - (100 - worth[nps] - 10 * iommu)) > 1e-6;
	}
}

static struct sim begin(const char *study)
{
	struct sim sim = sim_start(study);

	sim_put(&sim, "/nps", "1\n");
	assert_int_equal(sim_process(&sim, true), 0);
	return sim;
}

/* What stands in the state: wanted or in force; NULL: nothing. */
static const char *nps_of(const struct sim *sim, const char *key)
{
	const char *text = sim_get(sim, KNOB_STUDY);
	json_t *state = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *of = json_object_get(json_object_get(state, "hand"), key);
	const char *level = json_string_value(json_object_get(of, "nps"));

	level = level ? arena_strdup(sim->arena, level) : NULL;
	json_decref(state);
	return level;
}

/* The setup of the machine, from its next boot on. */
static void set_nps(const struct sim *sim, const char *level)
{
	sim_put(sim, "/nps", arena_printf(sim->arena, "%s\n", level));
}

/* What a process came to: it is killed after so many calls of all that there were, once. */
static int count_calls(struct sim *sim, int move)
{
	if (move == SIM_KILLED)
		sim->calls = 0;
	else if (sim->calls)
		sim->calls -= sim->shared->made;
	return move;
}

/* A person who does what he is asked for; what has to boot boots. Ends at STUDY_OVER; how often he was asked. */
static int play(struct sim *sim, bool boots)
{
	int asked = 0, r;

	for (int turn = 0; turn < MOST_TURNS; turn++) {
		int move = count_calls(sim, sim_process(sim, false));

		if (move == STUDY_OVER)
			return asked;
		if (move == STUDY_BOOTS || move == SIM_KILLED) {
			sim_boot(sim);
			/* Its state is the last thing that goes. */
			if (!sim_get(sim, KNOB_STUDY))
				return asked;
			continue;
		}
		if (move != STUDY_WAITS)
			fail_msg("turn %d: it comes to %d; %s", turn, move, sim_told(sim));
		assert_non_null(nps_of(sim, "wanted"));
		set_nps(sim, nps_of(sim, "wanted"));
		asked++;
		if (boots)
			sim_boot(sim);
		r = count_calls(sim, sim_answer(sim, NULL));
		if (r == SIM_KILLED) {
			sim_boot(sim);
			r = nps_of(sim, "wanted") ? sim_answer(sim, NULL) : 0;
		}
		if (r != 0)
			fail_msg("turn %d: his answer comes to %d; %s", turn, r, sim_get(sim, KNOB_STUDY));
	}
	fail_msg("no end after %d turns", MOST_TURNS);
	return 0;
}

/* Each level is measured as itself, and he is asked there and back: twice, and once to put it back. */
static void test_all_levels(void **state)
{
	static const struct {
		const char *study;
		bool boots;
		int asked;
		size_t runs;
	} cases[] = {{WORKLOADS NPS TWICE, true, 2, 4},
		     /* Without a way back in the blocks it is at the end that he is asked to put it back. */
		     {WORKLOADS NPS ONCE, true, 2, 2},
		     {WORKLOADS LIVE ONCE, false, 2, 2},
		     {WORKLOADS NPS IOMMU ONCE, true, 2, 4},
		     {WORKLOADS LIVE TWICE, false, 2, 4},
		     {WORKLOADS THREE TWICE, true, 4, 6},
		     {WORKLOADS SEEN IOMMU TWICE, true, 2, 8}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sim sim = begin(cases[i].study);
		const char *before = sim_sum(&sim);
		struct found found;

		int asked = play(&sim, cases[i].boots);

		find(&sim, &found);
		assert_int_equal(found.wrong, 0);
		assert_int_equal(found.runs, cases[i].runs);
		assert_int_equal(asked, cases[i].asked);
		assert_string_equal(sim_get(&sim, "/nps"), "1\n");
		assert_non_null(strstr(sim_told(&sim), "ask: study s waits for a person: "));
		assert_null(strstr(sim_told(&sim), "still changed by hand"));
		if (!strstr(cases[i].study, IOMMU))
			sim_check_restored(&sim, before);
		else
			assert_null(sim_get(&sim, KNOB_STUDY));
		sim_stop(&sim);
	}
}

/* Boots, his too, are not taken for an answer, and an answer without a boot is none. */
static void test_nothing_is_taken_for_done(void **state)
{
	struct sim sim = begin(WORKLOADS NPS TWICE);
	struct found found;

	(void)state;
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	assert_string_equal(nps_of(&sim, "wanted"), "4");
	assert_int_equal(sim_answer(&sim, NULL), SIM_REFUSED);
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY), "still the boot in which it was asked for"));
	for (int i = 0; i < 3; i++) {
		sim_boot(&sim);
		assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
		assert_string_equal(nps_of(&sim, "levels"), "1");
	}
	set_nps(&sim, "4");
	assert_int_equal(sim_answer(&sim, NULL), 0);
	assert_string_equal(nps_of(&sim, "levels"), "4");
	assert_null(strstr(sim_get(&sim, KNOB_STUDY), "still the boot"));
	(void)play(&sim, true);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 4);
	sim_stop(&sim);
}

/* Another kernel, or another line of it, is another machine; who boots the right one is taken at his word. */
static void test_boot_is_judged(void **state)
{
	struct sim sim = begin(WORKLOADS NPS TWICE);
	const char *line;

	(void)state;
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	set_nps(&sim, "4");
	sim_boot(&sim);
	line = sim_get(&sim, "/proc/cmdline");
	sim_put(&sim, "/proc/cmdline", "quiet mitigations=off\n");
	assert_int_equal(sim_answer(&sim, NULL), SIM_REFUSED);
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY), "the kernel's line is"));
	sim_put(&sim, "/proc/cmdline", line);
	sim_put(&sim, "/proc/sys/kernel/osrelease", "6.12.0\n");
	assert_int_equal(sim_answer(&sim, NULL), SIM_REFUSED);
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY), "the kernel is 6.12.0"));
	sim_put(&sim, "/proc/sys/kernel/osrelease", SIM_RELEASE "\n");
	assert_int_equal(sim_answer(&sim, NULL), 0);
	sim_stop(&sim);
}

/* A slip is not measured as the other level: not at the beginning, not after his word, not when it is lost later. */
static void test_slips_are_seen(void **state)
{
	struct sim sim = sim_start(WORKLOADS SEEN TWICE);
	struct found found;

	(void)state;
	sim_put(&sim, "/nps", "4\n");
	assert_int_equal(sim_process(&sim, true), SIM_FAULT);
	assert_null(sim_get(&sim, KNOB_STUDY));
	set_nps(&sim, "1");
	assert_int_equal(sim_process(&sim, true), 0);
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	set_nps(&sim, "2");
	sim_boot(&sim);
	assert_int_equal(sim_answer(&sim, NULL), SIM_REFUSED);
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY), "nps is not 4: its \\\"see\\\" (line"));
	set_nps(&sim, "1");
	assert_int_equal(sim_answer(&sim, NULL), SIM_REFUSED);
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY), "and that of 1 does not"));
	set_nps(&sim, "4");
	assert_int_equal(sim_answer(&sim, NULL), 0);
	/* The battery of the setup is flat. */
	set_nps(&sim, "1");
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	assert_string_equal(nps_of(&sim, "wanted"), "4");
	(void)play(&sim, true);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 4);
	sim_stop(&sim);
}

/* What cannot be done is left out with his reason, and the rest is measured. */
static void test_cannot(void **state)
{
	struct sim sim = begin(WORKLOADS THREE TWICE);
	struct found found;

	(void)state;
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	assert_string_equal(nps_of(&sim, "wanted"), "2");
	assert_int_equal(sim_answer(&sim, "the setup has no such item"), 0);
	(void)play(&sim, true);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_true(found.with[1] == 2 && found.with[2] == 0 && found.with[4] == 2);
	assert_non_null(strstr(sim_told(&sim), "not measurable: nps=2 (the setup has no such item)"));
	sim_stop(&sim);
}

/* Without the only other level, or the baseline, it ends; what cannot be put back is told. */
static void test_cannot_at_all(void **state)
{
	struct sim sim = begin(WORKLOADS NPS TWICE);

	(void)state;
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	assert_int_equal(sim_answer(&sim, "no"), 0);
	assert_int_equal(sim_process(&sim, false), STUDY_OVER);
	assert_non_null(strstr(sim_told(&sim), "nothing is left to compare: no"));
	assert_null(strstr(sim_told(&sim), "still changed by hand"));
	sim_stop(&sim);

	sim = begin(WORKLOADS THREE TWICE);
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	sim_boot(&sim);
	assert_int_equal(sim_answer(&sim, NULL), 0);
	while (!text_equal(nps_of(&sim, "wanted"), "1")) {
		assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
		if (text_equal(nps_of(&sim, "wanted"), "1"))
			break;
		sim_boot(&sim);
		assert_int_equal(sim_answer(&sim, NULL), 0);
	}
	assert_int_equal(sim_answer(&sim, "it is stuck"), 0);
	assert_int_equal(sim_process(&sim, false), STUDY_OVER);
	assert_non_null(strstr(sim_told(&sim), "the baseline cannot be set again: it is stuck"));
	assert_non_null(
	    strstr(sim_told(&sim), "still changed by hand: nps=2 (to put it back: Set NPS to 1 in the setup)"));
	assert_null(sim_get(&sim, KNOB_STUDY));
	sim_stop(&sim);
}

/* What is asked for at the end may stay as it is: that is told, and the study has ended as it has. */
static void test_stays_at_the_end(void **state)
{
	struct sim sim = begin(WORKLOADS NPS ONCE);

	(void)state;
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	set_nps(&sim, "4");
	sim_boot(&sim);
	assert_int_equal(sim_answer(&sim, NULL), 0);
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	assert_string_equal(nps_of(&sim, "wanted"), "1");
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY), "\"end\": \"done\""));
	assert_non_null(
	    strstr(sim_told(&sim), "to put back what was changed by hand it waits for a person: Set NPS to 1"));
	sim_boot(&sim);
	assert_int_equal(sim_process(&sim, false), STUDY_WAITS);
	assert_int_equal(sim_answer(&sim, "it is wanted so"), 0);
	assert_int_equal(sim_process(&sim, false), STUDY_OVER);
	assert_non_null(strstr(sim_told(&sim), "study s has ended (done)"));
	assert_non_null(strstr(sim_told(&sim), "still changed by hand: nps=4"));
	sim_stop(&sim);
}

/* Who aborts it waits for nobody, and is told what is still changed. */
static void test_abort(void **state)
{
	struct sim sim = begin(WORKLOADS NPS IOMMU TWICE);

	(void)state;
	while (sim_process(&sim, false) == STUDY_BOOTS)
		sim_boot(&sim);
	set_nps(&sim, "4");
	sim_boot(&sim);
	assert_int_equal(sim_answer(&sim, NULL), 0);
	while (sim_process(&sim, false) == STUDY_BOOTS)
		sim_boot(&sim);
	assert_string_equal(nps_of(&sim, "levels"), "4");
	sim_put(&sim, KNOB_STUDY_WISH, "abort\n");
	(void)sim_run_to_end(&sim);
	assert_non_null(
	    strstr(sim_told(&sim), "still changed by hand: nps=4 (to put it back: Set NPS to 1 in the setup)"));
	assert_null(sim_get(&sim, KNOB_STUDY));
	sim_stop(&sim);
}

/* Killed, with the power, before every single call that changes something. */
static void test_killed_anywhere(void **state)
{
	int calls = 1;
	bool killed = true;

	(void)state;
	for (; killed; calls++) {
		struct sim sim = begin(WORKLOADS SEEN ONCE);
		struct found found;

		sim.calls = calls;
		(void)play(&sim, true);
		killed = sim.calls == 0;
		find(&sim, &found);
		if (found.wrong || found.runs < 2)
			fail_msg("killed at call %d: %zu runs, %zu wrong; %s", calls, found.runs, found.wrong,
				 sim_told(&sim));
		assert_null(sim_get(&sim, KNOB_STUDY));
		sim_stop(&sim);
	}
	assert_in_range(calls, 5, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_levels),	     cmocka_unit_test(test_nothing_is_taken_for_done),
	    cmocka_unit_test(test_boot_is_judged),   cmocka_unit_test(test_slips_are_seen),
	    cmocka_unit_test(test_cannot),	     cmocka_unit_test(test_cannot_at_all),
	    cmocka_unit_test(test_stays_at_the_end), cmocka_unit_test(test_abort),
	    cmocka_unit_test(test_killed_anywhere)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
