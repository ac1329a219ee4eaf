/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of facts as text: groups of CPUs, what is missing, the width. */
#include "unit.h"
#include "healthy.h"
#include "report.h"
#include "text.h"

/* What `hvtune show SUBJECT` prints at 60 columns. Free it. */
static char *shown(struct tree *tree, const char *subject)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct term term = {.out = out, .width = 60};

	assert_non_null(out);
	report_facts(&term, tree_host(tree), NULL, &subject, 1, false);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_groups(void **state)
{
	struct tree *tree = healthy_new();

	(void)state;
	tree_write(tree, POLICY_FILE(2, "scaling_governor"), "performance\n");
	CLEANUP(base_free) char *text = shown(tree, "cpufreq");

	assert_non_null(strstr(text, "Governor             powersave (CPUs 0-1,3)\n"));
	/* The label stands once. */
	assert_non_null(strstr(text, "\n                         performance (CPUs 2)\n"));
	assert_non_null(strstr(text, "Set minimum          1.50 GHz (CPUs 0-3)\n"));
	(void)tree_free(tree);
}

static void test_missing_together(void **state)
{
	struct tree *tree = healthy_new();

	(void)state;
	CLEANUP(base_free) char *text = shown(tree, "cpufreq");

	assert_non_null(strstr(text, "    Absent               Dynamic EPP, X3D mode\n"));
	assert_null(strstr(text, "X3D mode             absent"));
	(void)tree_free(tree);
}

/* A reason is never folded away, and an unreadable fact is not called absent. */
static void test_reasons_stay(void **state)
{
	static const struct tree_file changes[] = {{"/sys/class/powercap", GONE},
						   {"/sys/class/hwmon/hwmon3", GONE},
						   {POLICY_FILE(0, "energy_performance_preference"), GONE},
						   {POLICY_FILE(0, "energy_performance_preference/"), ""},
						   {NULL, NULL}};
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, changes);
	CLEANUP(base_free) char *power = shown(tree, "power");
	CLEANUP(base_free) char *cpufreq = shown(tree, "cpufreq");

	assert_non_null(strstr(power, "absent (power is unknown"));
	assert_non_null(strstr(cpufreq, "EPP                  unreadable ("));
	(void)tree_free(tree);
}

static void test_width(void **state)
{
	struct tree *tree = healthy_new();

	(void)state;
	CLEANUP(base_free) char *text = shown(tree, "cpufreq");

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_in_range(strcspn(line, "\n"), 0, 60);
	(void)tree_free(tree);
}

static void test_json_has_all(void **state)
{
	struct tree *tree = healthy_new();
	const char *subject = "cpufreq";
	bool x3d = false, governor = false;
	json_t *json = report_facts_json(tree_host(tree), NULL, &subject, 1);
	json_t *rows = json_object_get(json_object_get(json, "facts"), "cpufreq"), *row;
	size_t i;

	(void)state;
	json_array_foreach (rows, i, row) {
		const char *label = json_string_value(json_object_get(row, "label"));

		x3d |= text_equal(label, "X3D mode") &&
		       text_equal(json_string_value(json_object_get(row, "state")), "absent");
		governor |= text_equal(label, "Governor") &&
			    text_equal(json_string_value(json_object_get(row, "value")), "powersave") &&
			    text_equal(json_string_value(json_object_get(row, "cpus")), "0-3");
	}
	assert_true(x3d);
	assert_true(governor);
	json_decref(json);
	(void)tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_groups), cmocka_unit_test(test_missing_together), cmocka_unit_test(test_reasons_stay),
	    cmocka_unit_test(test_width),  cmocka_unit_test(test_json_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
