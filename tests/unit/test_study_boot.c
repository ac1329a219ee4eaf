/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of studies that boot the host: a machine of files whose loader takes a trial's entry once, as GRUB
 * does. Each boot is a process of its own, which may be killed anywhere; what is measured is the line that runs.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "knob_boot_state.h"
#include "knob_confirm.h"
#include "study_go.h"
#include "study_unit.h"
#include "text.h"

enum { MOST_BOOTS = 40, KILLED = 99, FAULT = 98 };

struct calls {
	int made, kill_at; /* 0: never */
};

struct sim {
	struct arena *arena;
	char *root;
	const char *uid;      /* of the study; its own, since its directory lies outside of the machine */
	const char *standard; /* the line of the default entry */
	const char *taken;    /* the trial that was booted last: its entry is taken once */
	const char *broken;   /* a word with which no kernel comes up; NULL: all do */
	const char *swapped;  /* a release in whose place the default's comes up; NULL: none */
	int boots, fallbacks;
	int calls;	      /* of the writer until it is killed; 0: never */
	struct calls *shared; /* with the process that was started last */
	const char *study;    /* the text of its file */
};

/* ---- the machine ---- */

static void put(const struct sim *sim, const char *path, const char *text)
{
	const char *at = arena_printf(sim->arena, "%s%s", sim->root, path);
	CLEANUP(base_fclose) FILE *out = fopen(at, "we");

	assert_true(out && fputs(text, out) >= 0);
}

static const char *get(const struct sim *sim, const char *path)
{
	const char *at = arena_printf(sim->arena, "%s%s", sim->root, path);
	CLEANUP(base_fclose) FILE *in = fopen(at, "re");
	char *text = arena_alloc(sim->arena, 65536);

	if (!in)
		return NULL;
	text[fread(text, 1, 65535, in)] = '\0';
	return text;
}

#define RELEASE "6.1.0-25-amd64"
#define OTHER_RELEASE "6.1.0-23-amd64"

static void come_up(struct sim *sim, const char *line, const char *release)
{
	sim->boots++;
	put(sim, "/proc/sys/kernel/osrelease", arena_printf(sim->arena, "%s\n", release));
	put(sim, "/proc/cmdline", arena_printf(sim->arena, "%s\n", line));
	put(sim, "/proc/sys/kernel/random/boot_id",
	    arena_printf(sim->arena, "%08d-0000-0000-0000-000000000000\n", sim->boots));
}

/* What GRUB does: the entry that custom.cfg holds is taken once, and a kernel that cannot go on leads to the default.
 */
static void boot(struct sim *sim)
{
	const char *custom = get(sim, "/boot/grub/custom.cfg"), *entry = custom ? strstr(custom, "\tlinux") : NULL;
	const char *word = entry ? strstr(entry, "hvtune.trial=") : NULL;

	if (word) {
		const char *kernel = strstr(entry, "vmlinuz-") + 8, *line = strchr(kernel, ' ') + 1;
		const char *id = arena_strndup(sim->arena, word + 13, strcspn(word + 13, " \n"));

		line = arena_strndup(sim->arena, line, strcspn(line, "\n"));
		kernel = arena_strndup(sim->arena, kernel, strcspn(kernel, " "));
		if (!text_equal(id, sim->taken)) {
			sim->taken = id;
			if (!sim->broken || !strstr(line, sim->broken)) {
				come_up(sim, line, text_equal(kernel, sim->swapped) ? RELEASE : kernel);
				return;
			}
			sim->fallbacks++;
		}
	}
	come_up(sim, sim->standard, RELEASE);
}

static struct sim start(const char *study)
{
	struct sim sim = {.arena = arena_new(), .study = study};

	sim.shared = mmap(NULL, sizeof(*sim.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(sim.shared != MAP_FAILED);
	const char *top = getenv("HVTUNE_TOP");

	sim.uid = arena_printf(sim.arena, "%08x%024x", (unsigned)getpid(), 1U);
	sim.root = arena_strdup(sim.arena, "/tmp/hvtune-study-boot-XXXXXX");
	assert_non_null(mkdtemp(sim.root));
	assert_int_equal(system(arena_printf(sim.arena,
					     "cp -r '%s/tests/knob/boot/debian/root/.' '%s' && mkdir -p "
					     "'%s/proc/sys/kernel/random' '%s/etc/systemd/system' '%s/var/lib/hvtune'",
					     top ? top : ".", sim.root, sim.root, sim.root, sim.root)),
			 0);
	sim.standard = get(&sim, "/proc/cmdline");
	sim.standard = arena_strndup(sim.arena, sim.standard, strcspn(sim.standard, "\n"));
	come_up(&sim, sim.standard, RELEASE);
	return sim;
}

static void stop(struct sim *sim)
{
	assert_int_equal(system(arena_printf(sim->arena, "rm -r '%s'", sim->root)), 0);
	sim->arena = arena_free(sim->arena);
	assert_int_equal(munmap(sim->shared, sizeof(*sim->shared)), 0);
}

/* Every file but the journal and the results, as one checksum. */
static const char *sum_of(const struct sim *sim)
{
	const char *command = arena_printf(sim->arena,
					   "cd '%s' && find . -type f ! -path './var/lib/hvtune/*' ! -path './proc/*' "
					   "-print0 | sort -z | xargs -0 sha256sum | sha256sum",
					   sim->root);
	char *sum = arena_alloc(sim->arena, 128);
	FILE *pipe = popen(command, "re");

	assert_non_null(pipe);
	assert_non_null(fgets(sum, 128, pipe));
	assert_int_equal(pclose(pipe), 0);
	return sum;
}

/* ---- a process of hvtune ---- */

static int count_call(void *data, enum sys_write_when when, const char *call, const char *path, const char *value,
		      size_t size)
{
	struct calls *calls = data;

	(void)call;
	(void)path;
	(void)value;
	(void)size;
	if (when == SYS_WRITE_BEFORE && ++calls->made == calls->kill_at)
		_exit(KILLED);
	return 0;
}

static int failed(const char *what, const struct err *err)
{
	(void)fprintf(stderr, "%s: %s: %s\n", what, err->where, err->what);
	return FAULT;
}

/* What a person would be told stands in the machine, so that a failed test can show it. */
static void note(void *data, const char *event, const char *text)
{
	const struct sim *sim = data;
	const char *at = arena_printf(sim->arena, "%s/var/lib/hvtune/told", sim->root);
	CLEANUP(base_fclose) FILE *out = fopen(at, "ae");

	assert_true(out && fprintf(out, "%s: %s\n", event, text) > 0);
}

static const char *told(const struct sim *sim)
{
	const char *text = get(sim, "/var/lib/hvtune/told");

	return text ? text : "";
}

static int begin(struct arena *arena, struct knob_machine *machine, const struct sim *sim, struct err *err)
{
	struct study_mistakes mistakes = {0};
	struct study_state state = {.uid = sim->uid,
				    .file = "s.yaml",
				    .text = sim->study,
				    .command = "[\"hvtune\", \"study\", \"run\"]",
				    .directory = "/",
				    .environment = json_object()};
	struct study_boot boot = {.arena = arena, .machine = machine, .state = &state};

	if (study_read(arena, "s.yaml", sim->study, strlen(sim->study), &boot.study, &mistakes) < 0)
		return err_set(err, EINVAL, "s.yaml", "%s", mistakes.items[0].what);
	state.name = boot.study->name;
	study_matrix_make(arena, boot.study, &boot.matrix);
	int r = study_go_begin(&boot, err);

	study_state_clear(&state);
	return r;
}

static int go_on(struct arena *arena, struct knob_machine *machine, const struct sim *sim)
{
	CLEANUP(store_close_pointer) struct store *store = NULL;
	CLEANUP(study_outcome_clear) struct study_outcome outcome = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct study_mistakes mistakes = {0};
	struct study_boot boot = {
	    .arena = arena, .machine = machine, .state = &state, .notify = note, .data = (void *)sim};
	enum study_move move = STUDY_OVER;
	struct err err = {0};
	int r = study_state_read(machine, &state, &err);

	if (r == 0)
		r = study_read(arena, "s.yaml", state.text, strlen(state.text), &boot.study, &mistakes);
	if (r == 0)
		r = study_suit_again(arena, boot.study, state.suited, &err);
	if (r == 0)
		r = study_boot_open(&boot, &err);
	if (r == 0)
		r = store_open(arena_printf(arena, "%s/var/lib/hvtune/results.db", sim->root), STORE_WRITE, &store,
			       &err);
	const struct study_setup setup = {.matrix = &boot.matrix,
					  .machine = machine,
					  .sys = machine->sys,
					  .store = store,
					  .session = {.command = state.command, .host = "sim", .facts = "{}"},
					  .text = state.text,
					  .uid = state.uid,
					  .boot = &boot,
					  .state = &state,
					  .limits = {0}};

	if (r == 0)
		r = study_go_on(&boot, &setup, &outcome, &move, &err);
	return r < 0 ? failed("go on", &err) : (int)move;
}

/* In a process of its own: what its move is, KILLED or FAULT. */
static int process(const struct sim *sim, bool is_first)
{
	int status = 0;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct sys_write_gate gate = {.pass = count_call, .data = sim->shared};
		struct arena *arena = arena_new();
		struct knob_machine machine = {0};
		struct err err = {0};
		int code;

		*sim->shared = (struct calls){.kill_at = sim->calls};
		(void)setenv("SIM_ROOT", sim->root, 1);
		if (knob_machine_open(sim->root, &gate, &machine, &err) < 0)
			_exit(failed("open", &err));
		if (is_first)
			code = begin(arena, &machine, sim, &err) < 0 ? failed("begin", &err) : 0;
		else
			code = go_on(arena, &machine, sim);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED;
}

/* Until it is over: boots, kills that are power cuts, signals. How many boots it took; fails the test when it faults.
 */
static int run_to_end(struct sim *sim)
{
	int boots = 0;

	for (; boots < MOST_BOOTS; boots++) {
		int move = process(sim, false);

		if (move == KILLED)
			sim->calls = 0;
		else if (move == STUDY_OVER)
			return boots;
		else if (move == STUDY_HOLDS || move == FAULT)
			fail_msg("boot %d: it holds or faults (%d)", boots, move);
		boot(sim);
	}
	fail_msg("no end after %d boots", boots);
	return 0;
}

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
	"      grep -qx " OTHER_RELEASE " $SIM_ROOT/proc/sys/kernel/osrelease && v=$((v - 10))\n"                      \
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
		  "  kernel: {knob: boot.kernel, levels: [" RELEASE ", " OTHER_RELEASE "]}\n"                          \
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
	CLEANUP(store_close_pointer) struct store *store = NULL;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes mistakes = {0};
	struct study_matrix matrix;
	struct study *study = NULL;
	struct study_seen *seen = NULL;
	const char *meter = NULL;
	struct err err = {0};
	size_t count = 0;

	*ret = (struct found){0};
	assert_int_equal(study_read(arena, "s.yaml", sim->study, strlen(sim->study), &study, &mistakes), 0);
	study_matrix_make(arena, study, &matrix);
	assert_int_equal(
	    store_open(arena_printf(arena, "%s/var/lib/hvtune/results.db", sim->root), STORE_READ, &store, &err), 0);
	if (study_load(arena, store, &matrix, sim->uid, &seen, &count, &meter, &err) < 0)
		fail_msg("load: %s", err.what);
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

/* Nothing is left of it, and the host runs with the default's line. */
static void check_restored(const struct sim *sim, const char *before)
{
	assert_string_equal(sum_of(sim), before);
	assert_null(get(sim, KNOB_STUDY));
	assert_null(get(sim, KNOB_STUDY_WISH));
	assert_null(get(sim, KNOB_STUDY_UNIT));
	assert_null(get(sim, BOOT_TRIAL_STATE));
	assert_null(strstr(get(sim, "/proc/cmdline"), "hvtune.trial"));
}

/* ---- the tests ---- */

static void test_all_configurations(void **state)
{
	struct sim sim = start(FOUR);
	const char *before = sum_of(&sim);
	struct found found;

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	assert_non_null(strstr(get(&sim, KNOB_STUDY_UNIT), "study go-on"));
	int boots = run_to_end(&sim);

	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 8);
	/* Each of them after a boot of its own, but for the first when the host is in it already. */
	assert_in_range(boots, 7, 9);
	assert_int_equal(found.warm, found.boots);
	check_restored(&sim, before);
	stop(&sim);
}

/* What does not come up is tried once more, left out and told; the rest is measured. */
static void test_one_does_not_boot(void **state)
{
	struct sim sim = start(FOUR);
	const char *before = sum_of(&sim);
	struct found found;

	(void)state;
	sim.broken = "skew_tick=1";
	assert_int_equal(process(&sim, true), 0);
	(void)run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 4);
	assert_true(found.iommu && !found.tick);
	/* Two pairs of levels have the word, each is tried twice. */
	assert_int_equal(sim.fallbacks, 4);
	assert_non_null(strstr(told(&sim), "iommu=absent tick=1 cannot be measured: 2 boots in a row failed"));
	check_restored(&sim, before);
	stop(&sim);
}

/* Another kernel is a level as a word is; both are asked for and judged together. */
static void test_kernels(void **state)
{
	struct sim sim = start(KERNELS);
	const char *before = sum_of(&sim);
	struct found found;

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	int boots = run_to_end(&sim);

	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 8);
	assert_true(found.iommu && found.tick);
	assert_in_range(boots, 7, 9);
	assert_non_null(strstr(told(&sim), "end: study s has ended (done)"));
	assert_null(strstr(told(&sim), "not measurable"));
	assert_string_equal(get(&sim, "/proc/sys/kernel/osrelease"), RELEASE "\n");
	check_restored(&sim, before);
	stop(&sim);
}

/* The line is the one that was asked for, and the kernel is not. */
static void test_wrong_kernel(void **state)
{
	struct sim sim = start(KERNELS);
	const char *before = sum_of(&sim);
	struct found found;

	(void)state;
	sim.swapped = OTHER_RELEASE;
	assert_int_equal(process(&sim, true), 0);
	(void)run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 4);
	assert_true(found.iommu && !found.tick);
	assert_non_null(strstr(told(&sim), "iommu=absent kernel=" OTHER_RELEASE
					   " cannot be measured: 2 boots in a row failed, the last: not so: the kernel "
					   "is " OTHER_RELEASE ", but " RELEASE));
	check_restored(&sim, before);
	stop(&sim);
}

/* Of a study that chooses none, a boot with another kernel than before is no boot to measure in. */
static void test_new_kernel(void **state)
{
	struct sim sim = start(TWO);
	const char *before = sum_of(&sim);

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	assert_int_equal(process(&sim, false), STUDY_BOOTS);
	boot(&sim);
	put(&sim, "/proc/sys/kernel/osrelease", OTHER_RELEASE "\n");
	assert_int_equal(process(&sim, false), STUDY_BOOTS);
	assert_non_null(
	    strstr(get(&sim, KNOB_STUDY), "the kernel is " OTHER_RELEASE ", and the study began with " RELEASE));
	boot(&sim);
	(void)run_to_end(&sim);
	assert_non_null(strstr(told(&sim), "end: study s has ended (done)"));
	check_restored(&sim, before);
	stop(&sim);
}

/* What boots and takes the host down under load is not tried for ever. */
static void test_one_panics_under_load(void **state)
{
	struct sim sim = start(FOUR);
	const char *before = sum_of(&sim);
	struct found found;

	(void)state;
	put(&sim, "/panic", "skew_tick=1\n");
	before = sum_of(&sim);
	assert_int_equal(process(&sim, true), 0);
	(void)run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_true(found.iommu && !found.tick);
	assert_int_equal(found.runs, 4);
	check_restored(&sim, before);
	stop(&sim);
}

/* Killed, with the power, before every single call that changes something; then left alone. */
static void test_killed_anywhere(void **state)
{
	int calls = 1, over = 0;

	(void)state;
	for (; over < 1; calls += 1) {
		struct sim sim = start(TWO);
		const char *before = sum_of(&sim);
		struct found found;
		int boots = 0, killed = 0;

		assert_int_equal(process(&sim, true), 0);
		/* Calls are counted over all processes of the study. */
		for (int left = calls, move = -1; move != STUDY_OVER; boots++) {
			if (boots > MOST_BOOTS)
				fail_msg("killed at call %d: no end", calls);
			sim.calls = killed ? 0 : left;
			move = process(&sim, false);
			if (move == FAULT || move == STUDY_HOLDS || move == STUDY_LEFT)
				fail_msg("killed at call %d: it came to %d", calls, move);
			killed = killed || move == KILLED;
			/* Its state is the last thing that goes. */
			if (move == KILLED && !get(&sim, KNOB_STUDY))
				break;
			left -= sim.shared->made;
			if (move != STUDY_OVER)
				boot(&sim);
		}
		find(&sim, &found);
		if (found.wrong || found.runs < 2 || !found.iommu)
			fail_msg("killed at call %d: %zu runs, %zu wrong; %s", calls, found.runs, found.wrong,
				 told(&sim));
		check_restored(&sim, before);
		over += !killed;
		stop(&sim);
	}
	/* It has been killed at many places. */
	assert_in_range(calls, 40, 2000);
}

/* SIGTERM, as of a shutdown by somebody else: nothing is half done, and it goes on with the next boot. */
static void test_signal(void **state)
{
	struct sim sim = start(TWO);
	struct found found;
	int move;

	(void)state;
	put(&sim, "/term", "x");
	assert_int_equal(process(&sim, true), 0);
	while ((move = process(&sim, false)) == STUDY_BOOTS)
		boot(&sim);
	assert_int_equal(move, STUDY_LEFT);
	boot(&sim);
	(void)run_to_end(&sim);
	find(&sim, &found);
	assert_int_equal(found.wrong, 0);
	assert_int_equal(found.runs, 2);
	assert_null(get(&sim, KNOB_STUDY));
	stop(&sim);
}

static const char *state_text(const struct sim *sim)
{
	const char *text = get(sim, KNOB_STUDY);

	assert_non_null(text);
	return text;
}

/* It holds over a boot, goes on when it is told to, and ends when it is told to, from another line by a boot. */
static void test_wishes(void **state)
{
	struct sim sim = start(FOUR);
	const char *before = sum_of(&sim);

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	/* Until its unit has begun it is told as one that starts. */
	assert_non_null(strstr(state_text(&sim), "\"starting\": true"));
	while (!strstr(get(&sim, "/proc/cmdline"), "hvtune.trial")) {
		assert_int_equal(process(&sim, false), STUDY_BOOTS);
		assert_non_null(strstr(state_text(&sim), "\"starting\": false"));
		boot(&sim);
	}
	put(&sim, KNOB_STUDY_WISH, "pause\n");
	assert_int_equal(process(&sim, false), STUDY_HOLDS);
	assert_non_null(strstr(state_text(&sim), "\"paused\": true"));
	assert_int_equal(process(&sim, false), STUDY_HOLDS);
	put(&sim, KNOB_STUDY_WISH, "abort\n");
	assert_int_equal(process(&sim, false), STUDY_BOOTS);
	boot(&sim);
	assert_int_equal(process(&sim, false), STUDY_OVER);
	check_restored(&sim, before);
	stop(&sim);
}

/* Aborted before its unit has begun: nothing was measured, and nothing is left of it. */
static void test_aborted_at_once(void **state)
{
	struct sim sim = start(FOUR);
	const char *before = sum_of(&sim);

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	put(&sim, KNOB_STUDY_WISH, "abort\n");
	assert_int_equal(process(&sim, false), STUDY_OVER);
	check_restored(&sim, before);
	stop(&sim);
}

/* hvtune confirm, or its service, makes no boot of a study the default. */
static void test_never_confirmed(void **state)
{
	struct sim sim = start(TWO);
	const struct knob_apply_options options = {.what = "confirm"};
	struct knob_machine machine = {0};
	struct knob_confirm confirm = {0};
	struct knob_report report = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	while (!strstr(get(&sim, "/proc/cmdline"), "hvtune.trial")) {
		assert_int_equal(process(&sim, false), STUDY_BOOTS);
		boot(&sim);
	}
	const char *before = sum_of(&sim);

	assert_int_equal(knob_machine_open(sim.root, NULL, &machine, &err), 0);
	assert_int_equal(knob_confirm_look(&machine, true, &confirm, &err), 0);
	assert_true(confirm.is_trial_boot);
	assert_non_null(strstr(confirm.of, "study"));
	assert_int_equal(confirm.count, 0);
	assert_int_equal(knob_confirm_accept(&machine, &options, &report, &err), -EPERM);
	knob_machine_close(&machine);
	assert_string_equal(sum_of(&sim), before);
	stop(&sim);
}

static void test_abort_by_the_line(void **state)
{
	struct sim sim = start(FOUR);
	const char *before = sum_of(&sim);

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	assert_int_equal(process(&sim, false), STUDY_BOOTS);
	boot(&sim);
	put(&sim, "/proc/cmdline", arena_printf(sim.arena, "%s hvtune.study=abort\n", sim.standard));
	assert_int_equal(process(&sim, false), STUDY_OVER);
	check_restored(&sim, before);
	stop(&sim);
}

/* What a level's command has made is taken back after a death too, in whichever boot. */
static void test_hooks(void **state)
{
	struct sim sim =
	    start(WORKLOADS "factors:\n"
			    "  iommu: {knob: boot.iommu, levels: [absent, pt]}\n"
			    "  file: {levels: {no: as-found, yes: {run: 'touch $SIM_ROOT/hooked', undo: 'rm "
			    "$SIM_ROOT/hooked'}}}\n"
			    "design: full\nconfirm: no\nruns: 1\n");
	const char *before;

	(void)state;
	put(&sim, "/panic", "iommu=pt\n");
	before = sum_of(&sim);
	assert_int_equal(process(&sim, true), 0);
	(void)run_to_end(&sim);
	check_restored(&sim, before);
	stop(&sim);
}

/* No more boots than the file allows, the way back counted. */
static void test_bounded(void **state)
{
	struct sim sim = start(FOUR "limits: {boots: 3}\n");
	const char *before = sum_of(&sim);

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	assert_int_equal(run_to_end(&sim), 3);
	assert_non_null(strstr(told(&sim), "the boots that it may have are used up"));
	check_restored(&sim, before);
	stop(&sim);
}

/* Two at a time are refused, and what stands in the state's place is told. */
static void test_refused(void **state)
{
	struct sim sim = start(TWO);

	(void)state;
	assert_int_equal(process(&sim, true), 0);
	assert_int_equal(process(&sim, true), FAULT);
	put(&sim, KNOB_STUDY, "{\"version\": 1, \"uid\": 7}\n");
	assert_int_equal(process(&sim, true), FAULT);
	assert_int_equal(process(&sim, false), FAULT);
	stop(&sim);
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
