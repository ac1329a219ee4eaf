/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of boot plans on whole machines, one for each loader: tests/knob/boot/NAME/root has the files, `plan`
 * beside it what hvtune makes of them. HVTUNE_RENEW=1 writes those texts anew; read the difference then.
 */
#include <errno.h>

#include "unit.h"

#include "diff.h"
#include "knob_boot.h"
#include "text.h"

static const char *const machines[] = {
    "arch-grub",   "arch-systemd",     "debian", "fedora", "fedora-uki", "proxmox-grub", "proxmox-lvm-efi",
    "proxmox-zfs", "proxmox-zfs-grub", "rhel8",	 "rhel9",  "silverblue", "sles",	 "tumbleweed",
    "ubuntu",	   "unknown",
};

static const struct knob_boot_change changes[] = {
    {.name = "amd_pstate", .value = "guided"},
    {.name = "iommu", .value = "pt"},
    {.name = "nosmt", .op = KNOB_BOOT_REMOVE},
    {.name = "isolcpus", .value = "2,3,4,5", .op = KNOB_BOOT_ADD},
    {.name = "1G", .value = "16", .op = KNOB_BOOT_PAGES},
};

static const char *top(void)
{
	const char *path = getenv("HVTUNE_TOP");

	return path ? path : ".";
}

static struct host *open_machine(struct arena *arena, const char *name)
{
	struct host *host = NULL;
	struct err err = {0};

	if (host_open(arena_printf(arena, "%s/tests/knob/boot/%s/root", top(), name), &host, &err) < 0)
		fail_msg("%s: %s", name, err.what);
	return host;
}

static void print_command(FILE *out, const char *what, const char *const *argv)
{
	(void)fprintf(out, "%s:", what);
	for (size_t i = 0; argv[i]; i++)
		(void)fprintf(out, strchr(argv[i], ' ') ? " '%s'" : " %s", argv[i]);
	(void)fputc('\n', out);
}

static void print_plan(FILE *out, const struct knob_boot_plan *plan)
{
	for (size_t i = 0; i < plan->command_count; i++)
		if (plan->commands[i].before)
			print_command(out, "first", plan->commands[i].argv);
	for (size_t i = 0; i < plan->file_count; i++) {
		const struct knob_boot_file *file = &plan->files[i];

		diff_unified(out, file->before ? file->path : "/dev/null", file->after ? file->path : "/dev/null",
			     file->before ? file->before : "", file->after ? file->after : "");
	}
	for (size_t i = 0; i < plan->command_count; i++) {
		if (!plan->commands[i].before)
			print_command(out, "then", plan->commands[i].argv);
		if (plan->commands[i].undo)
			print_command(out, "undo", plan->commands[i].undo);
	}
	for (size_t i = 0; i < plan->note_count; i++)
		(void)fprintf(out, "note: %s\n", plan->notes[i]);
	if (knob_boot_plan_is_empty(plan))
		(void)fprintf(out, "nothing to do\n");
}

static void print_refusal(FILE *out, const struct err *err)
{
	(void)fprintf(out, "refused: %s:%u: %s (%s)\n", err->where, err->line, err->what, err->hint);
}

/* The text that is expected, compared or written anew. */
static void compare(struct arena *arena, const char *name, const char *what, const char *text)
{
	const char *path = arena_printf(arena, "%s/tests/knob/boot/%s/%s", top(), name, what);
	const char *expected = "";
	size_t size = 0;

	if (getenv("HVTUNE_RENEW")) {
		CLEANUP(base_fclose) FILE *out = fopen(path, "we");

		assert_non_null(out);
		assert_true(fputs(text, out) >= 0);
		return;
	}
	if (sys_read_given(arena, path, true, &expected, &size, NULL) < 0)
		fail_msg("%s cannot be read", path);
	if (!text_equal(text, expected)) {
		diff_unified(stderr, path, "now", expected, text);
		fail_msg("%s: another %s", name, what);
	}
}

/* The machine with the plan's files in place. */
static void put_files(struct arena *arena, const char *root, const struct knob_boot_plan *plan)
{
	for (size_t i = 0; i < plan->file_count; i++) {
		const char *path = arena_printf(arena, "%s%s", root, plan->files[i].path);

		if (!plan->files[i].after) {
			assert_int_equal(remove(path), 0);
			continue;
		}
		assert_int_equal(system(arena_printf(arena, "mkdir -p '%.*s'", (int)(strrchr(path, '/') - path), path)),
				 0);
		CLEANUP(base_fclose) FILE *out = fopen(path, "we");

		assert_non_null(out);
		assert_int_equal(fwrite(plan->files[i].after, 1, plan->files[i].after_size, out),
				 plan->files[i].after_size);
	}
}

static void test_plans(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(host_close_pointer) struct host *host = open_machine(arena, machines[i]);
		CLEANUP(base_free) char *text = NULL;
		struct knob_boot_loader loader = {0};
		struct knob_boot_plan plan = {0};
		struct err err = {0};
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		knob_boot_find(host, &loader);
		(void)fprintf(out, "loader: %s (%s)\n", loader.name, loader.evidence);
		if (knob_boot_plan_default(host, &loader, changes, ARRAY_SIZE(changes), arena, &plan, &err) < 0)
			print_refusal(out, &err);
		else
			print_plan(out, &plan);
		(void)fclose(out);
		compare(arena, machines[i], "plan", text);
	}
}

static char *copy_machine(struct arena *arena, const struct host *host)
{
	char *root = arena_strdup(arena, "/tmp/hvtune-boot-XXXXXX");

	assert_non_null(mkdtemp(root));
	assert_int_equal(system(arena_printf(arena, "cp -r '%s/.' '%s'", sys_root(host->sys), root)), 0);
	return root;
}

/* With the files in place nothing is left to do, whatever the loader. */
static void test_plans_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(host_close_pointer) struct host *host = open_machine(arena, machines[i]);
		struct knob_boot_loader loader = {0};
		struct knob_boot_plan plan = {0};
		struct host *after = NULL;

		knob_boot_find(host, &loader);
		if (knob_boot_plan_default(host, &loader, changes, ARRAY_SIZE(changes), arena, &plan, NULL) < 0 ||
		    !plan.file_count)
			continue;
		char *root = copy_machine(arena, host);

		put_files(arena, root, &plan);
		assert_int_equal(host_open(root, &after, NULL), 0);
		knob_boot_find(after, &loader);
		assert_int_equal(
		    knob_boot_plan_default(after, &loader, changes, ARRAY_SIZE(changes), arena, &plan, NULL), 0);
		if (plan.file_count)
			fail_msg("%s: %s is changed again", machines[i], plan.files[0].path);
		(void)host_close(after);
		assert_int_equal(system(arena_printf(arena, "rm -r '%s'", root)), 0);
	}
}

/* ---- trial boots ---- */

static void test_trials(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(host_close_pointer) struct host *host = open_machine(arena, machines[i]);
		CLEANUP(base_free) char *text = NULL;
		struct knob_boot_loader loader = {0};
		struct knob_boot_plan plan = {0};
		struct err err = {0};
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		knob_boot_find(host, &loader);
		if (knob_boot_plan_trial(host, &loader, changes, ARRAY_SIZE(changes), "t1", arena, &plan, &err) < 0)
			print_refusal(out, &err);
		else
			print_plan(out, &plan);
		(void)fclose(out);
		compare(arena, machines[i], "trial", text);
		/* Only the trial's own files are written. */
		for (size_t j = 0; j < plan.file_count; j++)
			assert_true(strstr(plan.files[j].path, "hvtune") || strstr(plan.files[j].path, "custom.cfg"));
	}
}

static const struct knob_boot_file *file_of(const struct knob_boot_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->file_count; i++)
		if (text_equal(plan->files[i].path, path))
			return &plan->files[i];
	fail_msg("nothing is said of %s", path);
	return NULL;
}

/* What the trial put there is no part of any default, and goes without a trace. */
static void test_trial_and_forget(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		CLEANUP(host_close_pointer) struct host *host = open_machine(arena, machines[i]);
		struct knob_boot_loader loader = {0};
		struct knob_boot_plan plan = {0}, before = {0}, with = {0}, forget = {0};
		struct host_cmdline line = {0}, line_with = {0};
		struct host *after = NULL;

		knob_boot_find(host, &loader);
		if (loader.no_trial)
			continue;
		assert_int_equal(
		    knob_boot_plan_trial(host, &loader, changes, ARRAY_SIZE(changes), "t1", arena, &plan, NULL), 0);
		assert_int_equal(
		    knob_boot_plan_default(host, &loader, changes, ARRAY_SIZE(changes), arena, &before, NULL), 0);
		assert_int_equal(knob_boot_configured(host, &loader, arena, &line, NULL), 0);
		char *root = copy_machine(arena, host);

		put_files(arena, root, &plan);
		assert_int_equal(host_open(root, &after, NULL), 0);
		knob_boot_find(after, &loader);
		assert_int_equal(
		    knob_boot_plan_default(after, &loader, changes, ARRAY_SIZE(changes), arena, &with, NULL), 0);
		assert_int_equal(with.file_count, before.file_count);
		for (size_t j = 0; j < with.file_count; j++)
			assert_string_equal(with.files[j].path, before.files[j].path);
		assert_int_equal(knob_boot_configured(after, &loader, arena, &line_with, NULL), 0);
		assert_string_equal(line_with.line.text, line.line.text);
		assert_int_equal(knob_boot_plan_forget(after, &loader, arena, &forget, NULL), 0);
		assert_int_equal(forget.file_count, plan.file_count);
		for (size_t j = 0; j < plan.file_count; j++) {
			const struct knob_boot_file *back = file_of(&forget, plan.files[j].path);

			if (plan.files[j].before)
				assert_string_equal(back->after, plan.files[j].before);
			else
				assert_null(back->after);
		}
		(void)host_close(after);
		assert_int_equal(system(arena_printf(arena, "rm -r '%s'", root)), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_trials),
	    cmocka_unit_test(test_trial_and_forget),
	    cmocka_unit_test(test_plans),
	    cmocka_unit_test(test_plans_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
