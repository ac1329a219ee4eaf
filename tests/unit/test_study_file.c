/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of study files: every mistake is named with its line, and what is right is read as it is written. */
#include <errno.h>

#include "study_matrix.h"
#include "study_yaml.h"
#include "text.h"
#include "unit.h"

#define HEAD "study: s\nworkloads: {w: make}\n"

static const struct {
	const char *text;
	unsigned line;
	const char *part;
} mistakes[] = {
    {"", 0, "empty"},
    {"- a\n", 1, "a study is a list of keys"},
    {"study: s\n", 1, "needs \"workloads\""},
    {"study: a b\n" HEAD, 2, "\"study\" is there twice; the first is in line 1"},
    {"study: [\n", 2, "no YAML"},
    {"study: s\n\tworkloads: {}\n", 2, "no YAML"},
    {HEAD "---\nstudy: t\n", 4, "a second document"},
    {HEAD "factor:\n  a: {}\n", 3, "no key \"factor\"; did you mean \"factors\"?"},
    {HEAD "factors:\n  f: {knob: governer, levels: [a, b]}\n", 4,
     "there is no knob \"governer\"; did you mean \"governor\"?"},
    {HEAD "factors:\n  f: {knob: governor, levels: [a]}\n", 4, "at least two levels"},
    {HEAD "factors:\n  f:\n    knob: governor\n    levels: [a, b, a]\n", 6, "level \"a\" is there twice"},
    {HEAD "factors:\n  f: {levels: [1, 4]}\n", 4, "says not of what"},
    {HEAD "factors:\n  f: {ask: Set it, levels: [1, 4]}\n", 4, "must say {level}"},
    {HEAD "factors:\n  f: {levels: {a: {run: x}, b: {set: {thp: never}}}}\n", 4, "has no \"undo\""},
    {HEAD "factors:\n  f: {levels: {a: {}, b: {set: {thp: never}}}}\n", 4, "neither sets a knob"},
    {HEAD "factors:\n  f: {levels: {a: {set: {thp: [x]}}, b: {set: {thp: never}}}}\n", 4,
     "expected a value of the knob"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\n  g: {knob: thp, levels: [never, madvise]}\n", 5,
     "factors \"f\" and \"g\" both set thp"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnever:\n  - {f: nevr}\n", 6, "has no level \"nevr\""},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnever:\n  - {f: never}\n", 6, "forbids the baseline"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbaseline: {g: 1}\n", 5, "no factor \"g\""},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [tme]\n", 5,
     "\"tme\" is not an objective; did you mean \"time\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [{time: 3 W}]\n", 5, "only watts"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [{idle-watts: 90 W}]\n", 5,
     "one must be sought"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbudget: 8\n", 5, "a time with its unit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nconfidence: 0.98\n", 5, "write it with its unit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nconfidence: 100 %\n", 5, "between 0 % and 100 %"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nruns: [9, 3]\n", 5, "is above the most"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, {idle-watts: 90}]\n", 5, "as 120 W"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nleave: it\n", 5, "one of restore, best"},
    {"study: s\nworkloads:\n  w: {run: ''}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "an empty command"},
    {"study: s\nworkloads:\n  w: {run: x, on: web1}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "not among vms"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {json: a, better: less}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "no JSON pointer"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {regex: 'a(b'}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "no extended regular expression"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {regex: '([0-9]+) ms'}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "better: more"},
    {"study: s\nworkloads:\n  w: {run: x, directory: src}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "no absolute path"},
    {HEAD "factors: &a\n  f: *a\n", 3, "contains itself"},
    {HEAD "factors:\n  ? [a]\n  : b\n", 4, "a key must be a word"},
    {HEAD "factors: {f: {knob: thp, levels: [\"ne\\0ver\", always]}}\n", 3, "NUL"},
    {"study: \xff\n", 0, "no UTF-8"},
};

static void read_text(struct arena *arena, const char *text, struct study **ret, struct study_mistakes *found,
		      int *ret_r)
{
	*found = (struct study_mistakes){0};
	*ret_r = study_read(arena, "s.yaml", text, strlen(text), ret, found);
}

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct study *study = NULL;
		struct study_mistakes found;
		bool met = false;
		int r;

		read_text(arena, mistakes[i].text, &study, &found, &r);
		if (r != -EINVAL || study || !found.count)
			fail_msg("mistake %zu was not seen:\n%s", i, mistakes[i].text);
		for (size_t j = 0; j < found.count && !met; j++) {
			char all[1024];

			(void)snprintf(all, sizeof(all), "%s (%s)", found.items[j].what, found.items[j].hint);
			met = found.items[j].line == mistakes[i].line && strstr(all, mistakes[i].part);
		}
		if (!met)
			fail_msg("mistake %zu: expected \"%s\" in line %u, got line %u \"%s\" (%s)\n%s", i,
				 mistakes[i].part, mistakes[i].line, found.items[0].line, found.items[0].what,
				 found.items[0].hint, mistakes[i].text);
	}
}

/* One look at the file must show all that is wrong with it. */
static void test_all_at_once(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes found;
	struct study *study = NULL;
	int r;

	(void)state;
	read_text(arena,
		  "study: a/b\nworkloads:\n  w: {rum: x}\nfactors:\n  f: {knob: thp, levels: [never]}\n  g: {knob: "
		  "nope, levels: [1, 2]}\n"
		  "budget: long\n",
		  &study, &found, &r);
	assert_int_equal(r, -EINVAL);
	const unsigned lines[] = {1, 3, 3, 5, 6, 7};

	assert_int_equal(found.count, ARRAY_SIZE(lines));
	for (size_t i = 0; i < found.count; i++)
		assert_int_equal(found.items[i].line, lines[i]);
}

static const char whole[] = "study: amd\n"
			    "title: 'Speed: all'\n"
			    "vms: [web1]\n"
			    "workloads:\n"
			    "  build:\n"
			    "    run: make -j32\n"
			    "    prepare: [rm, -rf, build]\n"
			    "    directory: /src/gdb\n"
			    "    timeout: 20 min\n"
			    "  net:\n"
			    "    run: [iperf3, -J]\n"
			    "    on: web1\n"
			    "    weight: 2\n"
			    "    metric: {json: /end/sum/bits_per_second, unit: bit/s, better: more}\n"
			    "factors:\n"
			    "  governor: {knob: governor, levels: [performance, powersave]}\n"
			    "  driver: {knob: boot.amd_pstate, levels: [passive, active, guided]}\n"
			    "  queues: {knob: vm.queues@web1, levels: [1, 4, 16]}\n"
			    "  share:\n"
			    "    needs: vm-restart\n"
			    "    levels:\n"
			    "      nfs: {run: [mount, a], undo: [umount, a]}\n"
			    "      both: {set: {thp: never, swappiness: 10}}\n"
			    "never:\n"
			    "  - {driver: active, governor: powersave}\n"
			    "baseline: {driver: guided}\n"
			    "objectives: [time, {idle-watts: 0.12 kW}]\n"
			    "budget: 1.5 h\n"
			    "within: 2 %\n"
			    "leave: best\n";

static void test_whole(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes found;
	struct study *study = NULL;
	int r;

	(void)state;
	/* The queues of a card are a knob of the VM's definition only in later tables. */
	const char *knob = knob_find("vm.queues") ? whole : NULL;
	char text[sizeof(whole) + 32];

	(void)snprintf(text, sizeof(text), "%s", whole);
	if (!knob) {
		char *at = strstr(text, "vm.queues@web1");

		memcpy(at, "vm.memory@web1", strlen("vm.memory@web1"));
	}
	read_text(arena, text, &study, &found, &r);
	if (r)
		fail_msg("line %u: %s", found.items[0].line, found.items[0].what);
	assert_string_equal(study->title, "Speed: all");
	assert_int_equal(study->workload_count, 2);
	assert_true(study->workloads[0].run.shell);
	assert_string_equal(study->workloads[0].prepare.words[1], "-rf");
	assert_false(study->workloads[0].prepare.shell);
	assert_float_equal(study->workloads[0].timeout_s, 1200, 0);
	assert_string_equal(study->workloads[1].on, "web1");
	assert_true(study->workloads[1].metric.more_is_better);
	assert_int_equal(study->factor_count, 4);
	assert_int_equal(study->factors[0].cost, STUDY_LIVE);
	assert_int_equal(study->factors[1].cost, STUDY_HOST_BOOT);
	assert_int_equal(study->factors[3].cost, STUDY_VM_RESTART);
	assert_int_equal(study->factors[3].levels[1].ask_count, 2);
	assert_int_equal(study->baseline[1], 2);
	assert_float_equal(study->objectives[1].at_most, 120, 1e-9);
	assert_float_equal(study->budget_s, 5400, 1e-9);
	assert_float_equal(study->within, .02, 1e-12);
	assert_true(study->leave_best);
}

/* The nested order costs as much as the minimum spanning tree, which no order can beat. */
static void test_nested(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes found;
	struct study *study = NULL;
	struct study_matrix matrix;
	size_t boots = 0, restarts = 0;
	int r;

	(void)state;
	read_text(arena,
		  HEAD "factors:\n  a: {knob: thp, levels: [always, madvise, never]}\n"
		       "  b: {knob: boot.mitigations, levels: [auto, off]}\n"
		       "  c: {needs: vm-restart, levels: {x: {set: {swappiness: 1}}, y: {set: {swappiness: 2}}}}\n"
		       "  d: {knob: boot.iommu, levels: [pt, nopt]}\n"
		       "never:\n  - {a: never, b: off, c: y}\n",
		  &study, &found, &r);
	assert_int_equal(r, 0);
	study_matrix_make(arena, study, &matrix);
	assert_int_equal(matrix.count, 3 * 2 * 2 * 2 - 2);
	assert_int_equal(matrix.baseline, 0);
	for (size_t i = 1; i < matrix.count; i++) {
		int cost = study_switch_cost(&matrix, i - 1, i);

		assert_true(cost >= STUDY_LIVE);
		boots += cost == STUDY_HOST_BOOT;
		restarts += cost == STUDY_VM_RESTART;
		assert_int_equal(study_find_config(&matrix, study_levels(&matrix, i)), i);
	}
	assert_int_equal(boots, 3);
	assert_int_equal(restarts, 4);
	assert_string_equal(study_config_name(arena, &matrix, 0), "a=always b=auto c=x d=pt");
	assert_int_equal(study_switch_cost(&matrix, 2, 2), -1);
}

/* Aliases within aliases are one node each, not their product; deep nesting is refused. */
static void test_bombs(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	char text[8192] = "a: &a [x,x,x,x,x,x,x,x,x]\n";
	struct study_node *root = NULL;
	struct err err = {0};
	size_t used = strlen(text);

	(void)state;
	for (char c = 'b'; c <= 'z'; c++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1, c - 1,
					 c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
	assert_int_equal(study_yaml_parse(arena, "bomb", text, used, &root, &err), 0);
	assert_true(arena_used(arena) < 1 << 20);
	memset(text, '[', 4000);
	assert_int_equal(study_yaml_parse(arena, "deep", text, 4000, &root, &err), -EINVAL);
	memset(text + 100, ']', 100);
	memset(text, '[', 100);
	assert_int_equal(study_yaml_parse(arena, "deep", text, 200, &root, &err), -EINVAL);
	assert_non_null(strstr(err.what, "32 levels"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_mistakes), cmocka_unit_test(test_all_at_once), cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_nested),   cmocka_unit_test(test_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
