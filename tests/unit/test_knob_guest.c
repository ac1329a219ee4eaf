/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of the kernel's line of guests: which file gets which words, the menu made anew, what is refused in which
 * words, and that undo gives back every byte, whenever the process was killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"
#include "vm_scene.h"

enum { MOST_ASKS = 4 };

#define WEB "/run/libvirt/qemu/web.guest"
#define DB "/run/libvirt/qemu/db.guest"
#define GRUB "/etc/default/grub"

#define DEFAULTS                                                                                                       \
	"# If you change this file, run 'update-grub' afterwards.\n"                                                   \
	"GRUB_DEFAULT=0\n"                                                                                             \
	"GRUB_CMDLINE_LINUX_DEFAULT='quiet  splash mitigations=auto' # \"keep\"\n"                                     \
	"GRUB_CMDLINE_LINUX=\"console=ttyS0\""
#define CHANGED                                                                                                        \
	"# If you change this file, run 'update-grub' afterwards.\n"                                                   \
	"GRUB_DEFAULT=0\n"                                                                                             \
	"GRUB_CMDLINE_LINUX_DEFAULT='quiet  splash mitigations=off' # \"keep\"\n"                                      \
	"GRUB_CMDLINE_LINUX=\"console=ttyS0\""

/* Debian with update-grub, and SUSE with grub2-mkconfig, whose snippets count for nothing. */
static const struct tree_file guests[] = {
    {WEB GRUB, DEFAULTS},
    {WEB "/usr/sbin/update-grub", ""},
    {WEB "/boot/grub/grub.cfg", DEFAULTS},
    {DB GRUB, "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n"},
    {DB "/usr/sbin/grub2-mkconfig", ""},
    {DB "/boot/grub2/grub.cfg", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n"},
    {NULL, NULL},
};

static void start(struct vm_scene *scene)
{
	vm_scene_start(scene);
	tree_add(scene->tree, guests);
}

static int plan(struct knob_machine *machine, const char *const *words, struct knob_plan *ret, struct err *err)
{
	struct knob_ask asks[MOST_ASKS];
	size_t count = 0;
	int r = 0;

	for (; count < MOST_ASKS && words[count] && r == 0; count++)
		r = knob_ask_parse(machine->arena, words[count], &asks[count], err);
	return r < 0 ? r : knob_plan_make(machine, asks, count, ret, err);
}

static void open_machine(struct vm_scene *scene, struct knob_machine *ret)
{
	const struct sys_write_gate gate = vm_scene_gate(scene);

	assert_int_equal(knob_machine_open(scene->tree->root, &gate, ret, NULL), 0);
	scene->log[0] = '\0';
}

static int try_set(struct vm_scene *scene, const char *const *words, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	const struct knob_apply_options options = {.what = "set"};
	struct knob_report report;
	struct knob_plan made;

	open_machine(scene, &machine);
	int r = plan(&machine, words, &made, err);

	scene->calls = 0;
	return r < 0 ? r : knob_apply(&machine, &made, &options, &report, err);
}

static void set(struct vm_scene *scene, const char *const *words)
{
	struct err err = {0};

	if (try_set(scene, words, &err) < 0)
		fail_msg("%s: %s: %s", words[0], err.where, err.what);
}

static int try_undo(struct vm_scene *scene, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report;

	open_machine(scene, &machine);
	scene->calls = 0;
	return knob_undo(&machine, 0, &report, err);
}

static void undo(struct vm_scene *scene)
{
	struct err err = {0};

	if (try_undo(scene, &err) < 0)
		fail_msg("undo: %s: %s", err.where, err.what);
}

static char *dump(const struct vm_scene *scene)
{
	return kernel_dump(&(struct kernel){.tree = scene->tree});
}

static const char *const mitigations[] = {"guest.mitigations@web=off", NULL};

static void set_and_back(void **state)
{
	struct vm_scene scene;
	struct stat status;

	(void)state;
	start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *path = arena_printf(arena, "%s" WEB GRUB, scene.tree->root);

	assert_int_equal(chmod(path, 0640), 0);
	set(&scene, mitigations);
	assert_string_equal(vm_scene_read(&scene, WEB GRUB), CHANGED);
	assert_string_equal(vm_scene_read(&scene, WEB "/boot/grub/grub.cfg"), CHANGED);
	/* The agent makes files that everybody may write; whoever writes this one is root at the next update-grub. */
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	/* In this order: never written in place. */
	const char *copy = strstr(scene.log, "cp -p -- " GRUB " " GRUB ".hvtune\n");
	const char *write = strstr(scene.log, "write " GRUB ".hvtune\n");
	const char *move = strstr(scene.log, "mv -f -T -- " GRUB ".hvtune " GRUB "\n");
	const char *menu = strstr(scene.log, "/usr/sbin/update-grub\n");

	assert_true(copy && write && move && menu && copy < write && write < move && move < menu);
	assert_null(strstr(menu + strlen("/usr/sbin/update-grub"), "update-grub"));

	undo(&scene);
	assert_int_equal(chmod(path, 0644), 0);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_string_equal(before, after);
	vm_scene_stop(&scene);
}

static void two_guests(void **state)
{
	static const char *const words[] = {"guest.idle@web,db=poll", "guest.nosmt@db=present", NULL};
	struct vm_scene scene;

	(void)state;
	start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	set(&scene, words);
	assert_non_null(strstr(vm_scene_read(&scene, WEB "/boot/grub/grub.cfg"), " mitigations=auto idle=poll'"));
	assert_string_equal(vm_scene_read(&scene, DB "/boot/grub2/grub.cfg"),
			    "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet idle=poll nosmt\"\n");
	undo(&scene);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_string_equal(before, after);
	vm_scene_stop(&scene);
}

/* Images of clouds set the variable anew in a snippet: a word in /etc/default/grub would be lost. */
static void last_snippet_counts(void **state)
{
	static const char *const words[] = {"guest.idle@web=halt", NULL};
	static const char path[] = WEB GRUB ".d/50-cloudimg-settings.cfg";
	struct vm_scene scene;

	(void)state;
	start(&scene);
	vm_scene_write(&scene, path, "GRUB_TIMEOUT=0\nGRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1\"\n");
	vm_scene_write(&scene, WEB GRUB ".d/60-other.cfg", "GRUB_TIMEOUT=1\n");
	set(&scene, words);
	assert_string_equal(vm_scene_read(&scene, path),
			    "GRUB_TIMEOUT=0\nGRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 idle=halt\"\n");
	assert_string_equal(vm_scene_read(&scene, WEB GRUB), DEFAULTS);
	/* Somebody adds to the file: only the word goes. */
	vm_scene_write(&scene, path, "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 idle=halt theirs\"\n");
	undo(&scene);
	assert_string_equal(vm_scene_read(&scene, path), "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 theirs\"\n");
	vm_scene_stop(&scene);
}

/* All words of a plan are looked at before anything is written. */
static const struct {
	const char *ask, *path, *contents; /* a file that is there besides, or is gone where contents is NULL */
	int errnum;
	const char *what, *hint;
} refused[] = {
    {"guest.mitigations=off", NULL, NULL, EINVAL, "needs the name of a VM: guest.mitigations@NAME=off", ""},
    {"guest.mitigations@web=of", NULL, NULL, EINVAL, "", ""},
    {"guest.idle@web=sometimes", NULL, NULL, EINVAL, "guest.idle takes", ""},
    {"guest.idle@nobody=poll", NULL, NULL, ENOENT, "libvirt knows no such VM", ""},
    {"guest.kernel@web=6.12.9", NULL, NULL, ENOTSUP, "chooses no kernel inside a guest", ""},
    {"guest.console@web=ttyS1", NULL, NULL, EINVAL, "may stand several times", ""},
    {"guest.files@web=x", NULL, NULL, EINVAL, "is no setting", ""},
    {"guest.idle@web=poll", "/run/libvirt/qemu/web.live", NULL, EHOSTDOWN, "the VM is off", ""},
    {"guest.idle@web=poll", "/run/libvirt/qemu/web.blocked", "guest-exec\n", EPERM,
     "its guest agent does not carry out guest-exec", "/etc/sysconfig/qemu-ga"},
    {"guest.idle@web=poll", "/run/libvirt/qemu/web.blocked", "guest-file-open\n", EPERM,
     "its guest agent does not carry out guest-file-open", "FILTER_RPC_ARGS"},
    {"guest.idle@web=poll", WEB GRUB, NULL, ENOTSUP, "the guest has no /etc/default/grub", "only GRUB"},
    {"guest.idle@web=poll", WEB "/boot/grub/grub.cfg", NULL, ENOTSUP, "has no update-grub or grub-mkconfig", ""},
    {"guest.idle@web=poll", WEB GRUB, "A=b\nGRUB_ENABLE_BLSCFG=true\n", ENOTSUP, "loader entries", ""},
    {"guest.idle@web=poll", WEB GRUB, "if true; then GRUB_CMDLINE_LINUX_DEFAULT=quiet; fi\n", ENOTSUP, "", ""},
};

static void refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		const char *words[] = {refused[i].ask, NULL};
		struct err err = {0};
		struct vm_scene scene;

		start(&scene);
		if (refused[i].path && refused[i].contents)
			vm_scene_write(&scene, refused[i].path, refused[i].contents);
		else if (refused[i].path)
			vm_scene_remove(&scene, refused[i].path);
		CLEANUP(base_free) char *before = dump(&scene);
		int r = try_set(&scene, words, &err);
		CLEANUP(base_free) char *after = dump(&scene);

		if (r != -refused[i].errnum || !strstr(err.what, refused[i].what) || !strstr(err.hint, refused[i].hint))
			fail_msg("%s (%zu): %d: %s: %s (%s)", refused[i].ask, i, r, err.where, err.what, err.hint);
		assert_string_equal(before, after);
		vm_scene_stop(&scene);
	}
}

static void without_agent(void **state)
{
	struct err err = {0};
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	assert_int_equal(try_set(&scene, mitigations, &err), -ENOTCONN);
	assert_string_equal(err.where, "web");
	assert_non_null(strstr(err.what, "QEMU guest agent is not connected"));
	assert_non_null(strstr(err.hint, "qemu-guest-agent"));
	vm_scene_stop(&scene);
}

/* A guest that is off keeps what was set: its undo waits, and is not taken for done. */
static void undo_waits_for_the_guest(void **state)
{
	struct err err = {0};
	struct vm_scene scene;

	(void)state;
	start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	set(&scene, mitigations);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *live = arena_strdup(arena, vm_scene_read(&scene, "/run/libvirt/qemu/web.live"));

	vm_scene_remove(&scene, "/run/libvirt/qemu/web.live");
	assert_int_equal(try_undo(&scene, &err), -EIO);
	assert_non_null(strstr(err.what, "the VM is off"));
	assert_string_equal(vm_scene_read(&scene, WEB GRUB), CHANGED);
	vm_scene_write(&scene, "/run/libvirt/qemu/web.live", live);
	undo(&scene);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_string_equal(before, after);
	vm_scene_stop(&scene);
}

/* Opening the door of memory reads asks for more than a yes. */
static void holes(void **state)
{
	static const char *const spelled[] = {"guest.nopti@web=present", NULL}, *const plain[] = {"guest.idle@web=halt",
												  NULL};
	struct vm_scene scene;
	struct err err = {0};

	(void)state;
	start(&scene);
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_plan made = {0};

	open_machine(&scene, &machine);
	assert_int_equal(plan(&machine, mitigations, &made, &err), 0);
	assert_non_null(made.hole);
	assert_int_equal(plan(&machine, spelled, &made, &err), 0);
	assert_non_null(made.hole);
	assert_int_equal(plan(&machine, plain, &made, &err), 0);
	assert_null(made.hole);
	knob_machine_close(&machine);
	machine = (struct knob_machine){0};
	vm_scene_stop(&scene);
}

/* In a process that kills itself at a call. False when it came to its end before. */
static bool killed(struct vm_scene *scene, long at, bool undoes)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct err err = {0};

		scene->kill_at = at;
		_exit(undoes ? -try_undo(scene, &err) : -try_set(scene, mitigations, &err));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status);
}

/* Killed at every call of set, and of undo: the guest's file is always whole, and undo gives back all bytes. */
static void killed_anywhere(void **state)
{
	struct vm_scene scene;

	(void)state;
	start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	for (int undoes = 0; undoes < 2; undoes++) {
		long at = 1;

		for (bool dead = true; dead; at++) {
			struct err err = {0};

			if (undoes)
				set(&scene, mitigations);
			dead = killed(&scene, at, undoes);
			const char *now = vm_scene_read(&scene, WEB GRUB);

			if (!text_equal(now, DEFAULTS) && !text_equal(now, CHANGED))
				fail_msg("killed at %ld: torn: %s", at, now);
			scene.kill_at = 0;
			int r = try_undo(&scene, &err);
			CLEANUP(base_free) char *after = dump(&scene);

			/* -ENOENT: it died before anything was begun, or after all was undone. */
			if ((r < 0 && r != -ENOENT) || strcmp(before, after) != 0)
				fail_msg("killed at %ld of %s: %d: %s: %s", at, undoes ? "undo" : "set", r, err.where,
					 err.what);
			vm_scene_remove(&scene, KNOB_JOURNAL);
		}
		if (at <= 15)
			fail_msg("%s: only %ld calls", undoes ? "undo" : "set", at);
	}
	vm_scene_stop(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(set_and_back),
	    cmocka_unit_test(two_guests),
	    cmocka_unit_test(last_snippet_counts),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(without_agent),
	    cmocka_unit_test(undo_waits_for_the_guest),
	    cmocka_unit_test(holes),
	    cmocka_unit_test(killed_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
