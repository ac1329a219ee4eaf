/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of studies that boot the host, on a machine of files (study_sim.h): what is measured is the line that
 * runs.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "unit.h"

#include "knob_boot_state.h"
#include "knob_confirm.h"
#include "study_go.h"
#include "study_sim.h"
#include "study_unit.h"
#include "text.h"

/* ---- what was measured ---- */

/* The workload tells what runs: 10 s, less with the words that make it fast. */
#define WORKLOADS                                                                                                      \
	"study: s\n"                                                                                                   \
	"workloads:\n"                                                                                                 \
	"  w:\n"                                                                                                       \
	"    run: |\n"                                                                                                 \
	"      pid=$(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' $SIM_ROOT/var/lib/hvtune/study)\n"                    \
	"      v=100\n"                                                                                                \
	"      grep -qw iommu=pt $SIM_ROOT/proc/cmdline && v=$((v - 20))\n"                                            \
	"      grep -qw skew_tick=1 $SIM_ROOT/proc/cmdline && v=$((v - 10))\n"                                         \
	"      grep -qx " SIM_OTHER_RELEASE " $SIM_ROOT/proc/sys/kernel/osrelease && v=$((v - 10))\n"                  \
	"      [ -z \"$(cat $SIM_ROOT/term 2>/dev/null)\" ] || { : >$SIM_ROOT/term; kill -TERM $pid; sleep 5; }\n"     \
	"      [ ! -e $SIM_ROOT/panic ] || ! grep -qwf $SIM_ROOT/panic $SIM_ROOT/proc/cmdline || { kill -KILL $pid; "  \
	"sleep 5; }\n"                                                                                                 \
	"      echo \"v=$v\"\n"                                                                                        \
	"    metric: {regex: 'v=([0-9]+)', unit: s, better: less}\n"

#define FOUR                                                                                                           \
	WORKLOADS "factors:\n"                                                                                         \
		  "  iommu: {knob: boot.iommu, levels: [absent, pt]}\n"                                                \
		  "  tick: {knob: boot.skew_tick, levels: [absent, '1']}\n"                                            \
		  "design: full\nconfirm: no\nruns: 2\n"
/* The kernel stands in the place of the word `tick`, and is worth as much. */
#define KERNELS                                                                                                        \
	WORKLOADS "factors:\n"                                                                                         \
		  "  iommu: {knob: boot.iommu, levels: [absent, pt]}\n"                                                \
		  "  kernel: {knob: boot.kernel, levels: [" SIM_RELEASE ", " SIM_OTHER_RELEASE "]}\n"                  \
		  "design: full\nconfirm: no\nruns: 2\n"
#define TWO                                                                                                            \
	WORKLOADS "factors:\n"                                                                                         \
		  "  iommu: {knob: boot.iommu, levels: [absent, pt]}\n"                                                \
		  "design: full\nconfirm: no\nruns: 1\n"

struct found {
	size_t runs, wrong, warm; /* whole runs; those with another value than their configuration's; warm-up runs */
	int boots;		  /* different ones */
	bool iommu, tick;	  /* there is a run with it */
};

/* Each whole run must have seen the line of its configuration. */
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
		bool iommu = levels[0] == 1, tick = study->factor_count > 1 && levels[1] == 1;

		if (!seen[i].valid)
			continue;
		ret->runs += seen[i].purpose != STUDY_WARM_UP;
		ret->warm += seen[i].purpose == STUDY_WARM_UP;
		ret->wrong += fabs(seen[i].value[STUDY_TIME] - (100 - 20 * iommu - 10 * tick)) > 1e-6;
		ret->iommu = ret->iommu || iommu;
		ret->tick = ret->tick || tick;
		ret->boots = MAX_OF(ret->boots, seen[i].boot + 1);
	}
}

/* ---- the tests ---- */

static void test_all_configurations(void **state)
{
	struct sim sim = sim_start(FOUR);
	const char *before = sim_sum(&sim);
	struct found found;

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY_UNIT), "study go-on"));
	int boots = sim_run_to_end(&sim);

	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 8);
	/* Each of them after a boot of its own, but for the first when the host is in it already. */
	assert_in_range(boots, 7, 9);
	assert_int_equal(found.warm, found.boots);
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* What does not come up is tried once more, left out and told; the rest is measured. */
static void test_one_does_not_boot(void **state)
{
	struct sim sim = sim_start(FOUR);
	const char *before = sim_sum(&sim);
	struct found found;

	(void)state;
	sim.broken = "skew_tick=1";
	assert_int_equal(sim_process(&sim, true), 0);
	(void)sim_run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 4);
	assert_true(found.iommu && !found.tick);
	/* Two pairs of levels have the word, each is tried twice. */
	assert_int_equal(sim.fallbacks, 4);
	assert_non_null(strstr(sim_told(&sim), "iommu=absent tick=1 cannot be measured: 2 boots in a row failed"));
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* Another kernel is a level as a word is; both are asked for and judged together. */
static void test_kernels(void **state)
{
	struct sim sim = sim_start(KERNELS);
	const char *before = sim_sum(&sim);
	struct found found;

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	int boots = sim_run_to_end(&sim);

	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 8);
	assert_true(found.iommu && found.tick);
	assert_in_range(boots, 7, 9);
	assert_non_null(strstr(sim_told(&sim), "end: study s has ended (done)"));
	assert_null(strstr(sim_told(&sim), "not measurable"));
	assert_string_equal(sim_get(&sim, "/proc/sys/kernel/osrelease"), SIM_RELEASE "\n");
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* The line is the one that was asked for, and the kernel is not. */
static void test_wrong_kernel(void **state)
{
	struct sim sim = sim_start(KERNELS);
	const char *before = sim_sum(&sim);
	struct found found;

	(void)state;
	sim.swapped = SIM_OTHER_RELEASE;
	assert_int_equal(sim_process(&sim, true), 0);
	(void)sim_run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 4);
	assert_true(found.iommu && !found.tick);
	assert_non_null(strstr(sim_told(&sim),
			       "iommu=absent kernel=" SIM_OTHER_RELEASE
			       " cannot be measured: 2 boots in a row failed, the last: not so: the kernel "
			       "is " SIM_OTHER_RELEASE ", but " SIM_RELEASE));
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* Of a study that chooses none, a boot with another kernel than before is no boot to measure in. */
static void test_new_kernel(void **state)
{
	struct sim sim = sim_start(TWO);
	const char *before = sim_sum(&sim);

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	assert_int_equal(sim_process(&sim, false), STUDY_BOOTS);
	sim_boot(&sim);
	sim_put(&sim, "/proc/sys/kernel/osrelease", SIM_OTHER_RELEASE "\n");
	assert_int_equal(sim_process(&sim, false), STUDY_BOOTS);
	assert_non_null(strstr(sim_get(&sim, KNOB_STUDY),
			       "the kernel is " SIM_OTHER_RELEASE ", and the study began with " SIM_RELEASE));
	sim_boot(&sim);
	(void)sim_run_to_end(&sim);
	assert_non_null(strstr(sim_told(&sim), "end: study s has ended (done)"));
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* What boots and takes the host down under load is not tried for ever. */
static void test_one_panics_under_load(void **state)
{
	struct sim sim = sim_start(FOUR);
	const char *before = sim_sum(&sim);
	struct found found;

	(void)state;
	sim_put(&sim, "/panic", "skew_tick=1\n");
	before = sim_sum(&sim);
	assert_int_equal(sim_process(&sim, true), 0);
	(void)sim_run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_true(found.iommu && !found.tick);
	assert_int_equal(found.runs, 4);
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* Killed, with the power, before every single call that changes something; then left alone. */
static void test_killed_anywhere(void **state)
{
	int calls = 1, over = 0;

	(void)state;
	for (; over < 1; calls += 1) {
		struct sim sim = sim_start(TWO);
		const char *before = sim_sum(&sim);
		struct found found;
		int boots = 0, killed = 0;

		assert_int_equal(sim_process(&sim, true), 0);
		/* Calls are counted over all processes of the study. */
		for (int left = calls, move = -1; move != STUDY_OVER; boots++) {
			if (boots > SIM_MOST_BOOTS)
				fail_msg("killed at call %d: no end", calls);
			sim.calls = killed ? 0 : left;
			move = sim_process(&sim, false);
			if (move == SIM_FAULT || move == STUDY_HOLDS || move == STUDY_LEFT)
				fail_msg("killed at call %d: it came to %d", calls, move);
			killed = killed || move == SIM_KILLED;
			/* Its state is the last thing that goes. */
			if (move == SIM_KILLED && !sim_get(&sim, KNOB_STUDY))
				break;
			left -= sim.shared->made;
			if (move != STUDY_OVER)
				sim_boot(&sim);
		}
		find(&sim, &found);
		if (found.wrong || found.runs < 2 || !found.iommu)
			fail_msg("killed at call %d: %zu runs, %zu wrong; %s", calls, found.runs, found.wrong,
				 sim_told(&sim));
		sim_check_restored(&sim, before);
		over += !killed;
		sim_stop(&sim);
	}
	/* It has been killed at many places. */
	assert_in_range(calls, 40, 2000);
}

/* SIGTERM, as of a shutdown by somebody else: nothing is half done, and it goes on with the next boot. */
static void test_signal(void **state)
{
	struct sim sim = sim_start(TWO);
	struct found found;
	int move;

	(void)state;
	sim_put(&sim, "/term", "x");
	assert_int_equal(sim_process(&sim, true), 0);
	while ((move = sim_process(&sim, false)) == STUDY_BOOTS)
		sim_boot(&sim);
	assert_int_equal(move, STUDY_LEFT);
	sim_boot(&sim);
	(void)sim_run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 2);
	assert_null(sim_get(&sim, KNOB_STUDY));
	sim_stop(&sim);
}

static const char *state_text(const struct sim *sim)
{
	const char *text = sim_get(sim, KNOB_STUDY);

	assert_non_null(text);
	return text;
}

/* It holds over a boot, goes on when it is told to, and ends when it is told to, from another line by a boot. */
static void test_wishes(void **state)
{
	struct sim sim = sim_start(FOUR);
	const char *before = sim_sum(&sim);

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	/* Until its unit has begun it is told as one that starts. */
	assert_non_null(strstr(state_text(&sim), "\"starting\": true"));
	while (!strstr(sim_get(&sim, "/proc/cmdline"), "hvtune.trial")) {
		assert_int_equal(sim_process(&sim, false), STUDY_BOOTS);
		assert_non_null(strstr(state_text(&sim), "\"starting\": false"));
		sim_boot(&sim);
	}
	sim_put(&sim, KNOB_STUDY_WISH, "pause\n");
	assert_int_equal(sim_process(&sim, false), STUDY_HOLDS);
	assert_non_null(strstr(state_text(&sim), "\"paused\": true"));
	assert_int_equal(sim_process(&sim, false), STUDY_HOLDS);
	sim_put(&sim, KNOB_STUDY_WISH, "abort\n");
	assert_int_equal(sim_process(&sim, false), STUDY_BOOTS);
	sim_boot(&sim);
	assert_int_equal(sim_process(&sim, false), STUDY_OVER);
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* Aborted before its unit has begun: nothing was measured, and nothing is left of it. */
static void test_aborted_at_once(void **state)
{
	struct sim sim = sim_start(FOUR);
	const char *before = sim_sum(&sim);

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	sim_put(&sim, KNOB_STUDY_WISH, "abort\n");
	assert_int_equal(sim_process(&sim, false), STUDY_OVER);
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* hvtune confirm, or its service, makes no boot of a study the default. */
static void test_never_confirmed(void **state)
{
	struct sim sim = sim_start(TWO);
	const struct knob_apply_options options = {.what = "confirm"};
	struct knob_machine machine = {0};
	struct knob_confirm confirm = {0};
	struct knob_report report = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	while (!strstr(sim_get(&sim, "/proc/cmdline"), "hvtune.trial")) {
		assert_int_equal(sim_process(&sim, false), STUDY_BOOTS);
		sim_boot(&sim);
	}
	const char *before = sim_sum(&sim);

	assert_int_equal(knob_machine_open(sim.root, NULL, &machine, &err), 0);
	assert_int_equal(knob_confirm_look(&machine, true, &confirm, &err), 0);
	assert_true(confirm.is_trial_boot);
	assert_non_null(strstr(confirm.of, "study"));
	assert_int_equal(confirm.count, 0);
	assert_int_equal(knob_confirm_accept(&machine, &options, &report, &err), -EPERM);
	knob_machine_close(&machine);
	assert_string_equal(sim_sum(&sim), before);
	sim_stop(&sim);
}

static void test_abort_by_the_line(void **state)
{
	struct sim sim = sim_start(FOUR);
	const char *before = sim_sum(&sim);

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	assert_int_equal(sim_process(&sim, false), STUDY_BOOTS);
	sim_boot(&sim);
	sim_put(&sim, "/proc/cmdline", arena_printf(sim.arena, "%s hvtune.study=abort\n", sim.standard));
	assert_int_equal(sim_process(&sim, false), STUDY_OVER);
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* What a level's command has made is taken back after a death too, in whichever boot. */
static void test_hooks(void **state)
{
	struct sim sim =
	    sim_start(WORKLOADS "factors:\n"
				"  iommu: {knob: boot.iommu, levels: [absent, pt]}\n"
				"  file: {levels: {no: as-found, yes: {run: 'touch $SIM_ROOT/hooked', undo: 'rm "
				"$SIM_ROOT/hooked'}}}\n"
				"design: full\nconfirm: no\nruns: 1\n");
	const char *before;

	(void)state;
	sim_put(&sim, "/panic", "iommu=pt\n");
	before = sim_sum(&sim);
	assert_int_equal(sim_process(&sim, true), 0);
	(void)sim_run_to_end(&sim);
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* No more boots than the file allows, the way back counted. */
static void test_bounded(void **state)
{
	struct sim sim = sim_start(FOUR "limits: {boots: 3}\n");
	const char *before = sim_sum(&sim);

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	assert_int_equal(sim_run_to_end(&sim), 3);
	assert_non_null(strstr(sim_told(&sim), "the boots that it may have are used up"));
	sim_check_restored(&sim, before);
	sim_stop(&sim);
}

/* Two at a time are refused, and what stands in the state's place is told. */
static void test_refused(void **state)
{
	struct sim sim = sim_start(TWO);

	(void)state;
	assert_int_equal(sim_process(&sim, true), 0);
	assert_int_equal(sim_process(&sim, true), SIM_FAULT);
	sim_put(&sim, KNOB_STUDY, "{\"version\": 1, \"uid\": 7}\n");
	assert_int_equal(sim_process(&sim, true), SIM_FAULT);
	assert_int_equal(sim_process(&sim, false), SIM_FAULT);
	sim_stop(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_configurations),
					   cmocka_unit_test(test_one_does_not_boot),
					   cmocka_unit_test(test_kernels),
					   cmocka_unit_test(test_wrong_kernel),
					   cmocka_unit_test(test_new_kernel),
					   cmocka_unit_test(test_one_panics_under_load),
					   cmocka_unit_test(test_killed_anywhere),
					   cmocka_unit_test(test_signal),
					   cmocka_unit_test(test_wishes),
					   cmocka_unit_test(test_aborted_at_once),
					   cmocka_unit_test(test_abort_by_the_line),
					   cmocka_unit_test(test_never_confirmed),
					   cmocka_unit_test(test_bounded),
					   cmocka_unit_test(test_hooks),
					   cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
