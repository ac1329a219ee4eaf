/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of whole studies of a VM: work in its guest through a real qemu-ga, which runs it on this machine, while
 * the VM is restarted by the library in libvirt's place; and one of whose configurations the VM does not come up.
 */
#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "study_run.h"
#include "text.h"
#include "unit.h"
#include "vm_scene.h"

#define QEMU "/run/libvirt/qemu/web"
#define DEFINITION "/etc/libvirt/qemu/web.xml"

static const struct tree_file guest[] = {
    {QEMU ".guest/proc/sys/kernel/random/boot_id", "boot-1\n"},
    {QEMU ".guest/proc/cmdline", "quiet\n"},
    {NULL, NULL},
};

/* What the guest is measured by says which CPUs its vCPU 0 has: the pins reach what runs. */
#define STUDY                                                                                                          \
	"study: pins\n"                                                                                                \
	"vms: [web]\n"                                                                                                 \
	"workloads:\n"                                                                                                 \
	"  w:\n"                                                                                                       \
	"    on: vm:web\n"                                                                                             \
	"    setup: 'echo 0 >\"$HVTUNE_WORK/runs\"'\n"                                                                 \
	"    prepare: 'test -d \"$HVTUNE_WORK\"'\n"                                                                    \
	"    run: 'grep -q \"<vcpupin vcpu=.0. cpuset=.12.\" %s" QEMU ".live && echo took 1 || echo took 2'\n"         \
	"    metric: {regex: 'took ([0-9]+)', unit: s, better: less}\n"                                                \
	"factors:\n"                                                                                                   \
	"  pins: {levels: {found: as-found, far: {set: {'vm.pins.next@web': 12-15}}}}\n"                               \
	"runs: [5, 5]\n"                                                                                               \
	"confirm: no\n"

struct scene {
	struct vm_scene vms;
	struct knob_machine machine;
	struct store *store;
	struct study_matrix matrix;
	pid_t agent;
};

static void start_agent(struct scene *scene)
{
	char socket[4096], state[4096], pid[4200];
	const char *const words[] = {"qemu-ga", "-m", "unix-listen", "-p", socket, "-t", state, "-f", pid, NULL};
	const struct timespec moment = {.tv_nsec = 20000000};

	(void)snprintf(socket, sizeof(socket), "%s" QEMU ".agent", scene->vms.tree->root);
	(void)snprintf(state, sizeof(state), "%s/state", scene->vms.tree->root);
	(void)snprintf(pid, sizeof(pid), "%s/pid", state);
	assert_int_equal(mkdir(state, 0700), 0);
	scene->agent = fork();
	if (scene->agent == 0) {
		/* It ends with the test, however that ends. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int fd = 0; fd <= 2; fd++)
			(void)dup2(open("/dev/null", O_RDWR), fd);
		execv("/usr/sbin/qemu-ga", (char *const *)words);
		_exit(127);
	}
	assert_true(scene->agent > 0);
	for (int i = 0; i < 1000 && access(socket, F_OK) < 0; i++)
		(void)nanosleep(&moment, NULL);
}

static void start(struct scene *scene)
{
	const struct sys_write_gate gate = vm_scene_gate(&scene->vms);
	struct study_mistakes mistakes = {0};
	struct study *study = NULL;
	struct err err = {0};

	*scene = (struct scene){0};
	vm_scene_start(&scene->vms);
	tree_add(scene->vms.tree, guest);
	start_agent(scene);
	assert_int_equal(knob_machine_open(scene->vms.tree->root, &gate, &scene->machine, NULL), 0);
	const char *text = arena_printf(scene->machine.arena, STUDY, scene->vms.tree->root);

	mistakes.arena = scene->machine.arena;
	if (study_read(scene->machine.arena, "s.yaml", text, strlen(text), &study, &mistakes) < 0)
		fail_msg("line %u: %s", mistakes.items[0].line, mistakes.items[0].what);
	study_matrix_make(scene->machine.arena, study, &scene->matrix);
	if (store_open(STORE_IN_MEMORY, STORE_WRITE, &scene->store, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
}

static void stop(struct scene *scene)
{
	(void)kill(scene->agent, SIGKILL);
	(void)waitpid(scene->agent, NULL, 0);
	scene->store = store_close(scene->store);
	knob_machine_close(&scene->machine);
	vm_scene_stop(&scene->vms);
}

static void run(struct scene *scene, struct study_outcome *ret)
{
	const struct study_setup setup = {
	    .matrix = &scene->matrix,
	    .machine = &scene->machine,
	    .sys = scene->machine.sys,
	    .store = scene->store,
	    .session = {.command = "[]", .version = "test", .host = "here", .facts = "{}"},
	    .text = "pins"};
	struct err err = {0};

	if (study_run(&setup, ret, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
}

static size_t count_valid(const struct study_outcome *outcome, int config)
{
	size_t count = 0;

	for (size_t i = 0; i < outcome->count; i++)
		count += outcome->seen[i].config == config && outcome->seen[i].valid &&
			 outcome->seen[i].purpose == STUDY_CHOOSE;
	return count;
}

static bool has_agent(void)
{
	if (access("/usr/sbin/qemu-ga", X_OK) == 0)
		return true;
	print_message("there is no qemu-ga (Debian: qemu-guest-agent)\n");
	return false;
}

static void the_better_pins(void **state)
{
	struct study_outcome outcome;
	struct store_whole whole;
	struct scene scene;

	(void)state;
	if (!has_agent())
		skip();
	start(&scene);
	const char *before = arena_strdup(scene.machine.arena, vm_scene_read(&scene.vms, DEFINITION));
	int far = (int)study_find_config(&scene.matrix, (const size_t[]){1});

	run(&scene, &outcome);
	assert_string_equal(outcome.state, "done");
	assert_true(outcome.restored);
	assert_int_equal(count_valid(&outcome, far), 5);
	assert_int_equal(count_valid(&outcome, 1 - far), 5);
	for (size_t i = 0; i < outcome.count; i++)
		assert_true(outcome.seen[i].value[STUDY_TIME] == (outcome.seen[i].config == far ? 1 : 2));
	assert_int_equal(outcome.incumbent, far);
	assert_int_equal(store_load(scene.store, scene.machine.arena, outcome.session, &whole, NULL), 0);
	for (size_t i = 0; i < whole.configuration_count; i++)
		assert_string_equal(whole.configurations[i].place, "vm:web");
	assert_string_equal(vm_scene_read(&scene.vms, DEFINITION), before);
	assert_string_equal(vm_scene_affinity(&scene.vms, SCENE_WEB, 1001), "4");
	study_outcome_clear(&outcome);
	stop(&scene);
}

/* What the VM does not start with is tried again, given up, and the rest is measured. */
static void pins_that_do_not_start(void **state)
{
	struct study_outcome outcome;
	struct scene scene;
	size_t voids = 0;

	(void)state;
	if (!has_agent())
		skip();
	start(&scene);
	int far = (int)study_find_config(&scene.matrix, (const size_t[]){1});

	vm_scene_write(&scene.vms, QEMU ".broken", "cpuset=\"12\"");
	run(&scene, &outcome);
	assert_string_equal(outcome.state, "done");
	assert_true(outcome.restored);
	for (size_t i = 0; i < outcome.count; i++)
		voids += !outcome.seen[i].valid && outcome.seen[i].config == far;
	assert_int_equal(voids, STUDY_MOST_VOID);
	assert_int_equal(count_valid(&outcome, far), 0);
	assert_true(count_valid(&outcome, 1 - far) > 0);
	assert_true(study_given_up(outcome.seen, outcome.count, far));
	assert_string_equal(vm_scene_affinity(&scene.vms, SCENE_WEB, 1001), "4");
	/* And it is told again from the store, after a boot or a kill. */
	struct study_seen *seen;
	const char *meter;
	size_t count;

	assert_int_equal(
	    study_load(scene.machine.arena, scene.store, &scene.matrix, outcome.uid, &seen, &count, &meter, NULL), 0);
	assert_true(study_given_up(seen, count, far));
	study_outcome_clear(&outcome);
	stop(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_better_pins), cmocka_unit_test(pins_that_do_not_start)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
