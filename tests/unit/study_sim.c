/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the machine of files on which studies boot. */
#include "study_sim.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "knob_boot_state.h"
#include "study_go.h"
#include "study_unit.h"
#include "text.h"

/* ---- the machine ---- */

void sim_put(const struct sim *sim, const char *path, const char *text)
{
	const char *at = arena_printf(sim->arena, "%s%s", sim->root, path);
	CLEANUP(base_fclose) FILE *out = fopen(at, "we");

	assert_true(out && fputs(text, out) >= 0);
}

const char *sim_get(const struct sim *sim, const char *path)
{
	const char *at = arena_printf(sim->arena, "%s%s", sim->root, path);
	CLEANUP(base_fclose) FILE *in = fopen(at, "re");
	char *text = arena_alloc(sim->arena, 65536);

	if (!in)
		return NULL;
	text[fread(text, 1, 65535, in)] = '\0';
	return text;
}

static void come_up(struct sim *sim, const char *line, const char *release)
{
	sim->boots++;
	sim_put(sim, "/proc/sys/kernel/osrelease", arena_printf(sim->arena, "%s\n", release));
	sim_put(sim, "/proc/cmdline", arena_printf(sim->arena, "%s\n", line));
	sim_put(sim, "/proc/sys/kernel/random/boot_id",
		arena_printf(sim->arena, "%08d-0000-0000-0000-000000000000\n", sim->boots));
}

/* What GRUB does: the entry that custom.cfg holds is taken once, and a kernel that cannot go on leads to the default.
 */
void sim_boot(struct sim *sim)
{
	const char *custom = sim_get(sim, "/boot/grub/custom.cfg"), *entry = custom ? strstr(custom, "\tlinux") : NULL;
	const char *word = entry ? strstr(entry, "hvtune.trial=") : NULL;

	if (word) {
		const char *kernel = strstr(entry, "vmlinuz-") + 8, *line = strchr(kernel, ' ') + 1;
		const char *id = arena_strndup(sim->arena, word + 13, strcspn(word + 13, " \n"));

		line = arena_strndup(sim->arena, line, strcspn(line, "\n"));
		kernel = arena_strndup(sim->arena, kernel, strcspn(kernel, " "));
		if (!text_equal(id, sim->taken)) {
			sim->taken = id;
			if (!sim->broken || !strstr(line, sim->broken)) {
				come_up(sim, line, text_equal(kernel, sim->swapped) ? SIM_RELEASE : kernel);
				return;
			}
			sim->fallbacks++;
		}
	}
	come_up(sim, sim->standard, SIM_RELEASE);
}

struct sim sim_start(const char *study)
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
	sim.standard = sim_get(&sim, "/proc/cmdline");
	sim.standard = arena_strndup(sim.arena, sim.standard, strcspn(sim.standard, "\n"));
	come_up(&sim, sim.standard, SIM_RELEASE);
	return sim;
}

void sim_stop(struct sim *sim)
{
	assert_int_equal(system(arena_printf(sim->arena, "rm -r '%s'", sim->root)), 0);
	sim->arena = arena_free(sim->arena);
	assert_int_equal(munmap(sim->shared, sizeof(*sim->shared)), 0);
}

/* Every file but the journal and the results, as one checksum. */
const char *sim_sum(const struct sim *sim)
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
	struct sim_calls *calls = data;

	(void)call;
	(void)path;
	(void)value;
	(void)size;
	if (when == SYS_WRITE_BEFORE && ++calls->made == calls->kill_at)
		_exit(SIM_KILLED);
	return 0;
}

static int failed(const char *what, const struct err *err)
{
	(void)fprintf(stderr, "%s: %s: %s\n", what, err->where, err->what);
	return SIM_FAULT;
}

/* What a person would be told stands in the machine, so that a failed test can show it. */
static void note(void *data, const char *event, const char *text)
{
	const struct sim *sim = data;
	const char *at = arena_printf(sim->arena, "%s/var/lib/hvtune/told", sim->root);
	CLEANUP(base_fclose) FILE *out = fopen(at, "ae");

	assert_true(out && fprintf(out, "%s: %s\n", event, text) > 0);
}

const char *sim_told(const struct sim *sim)
{
	const char *text = sim_get(sim, "/var/lib/hvtune/told");

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

/* The study of boot->state. */
static int open_study(struct study_boot *boot, struct err *err)
{
	struct study_mistakes mistakes = {0};
	const char *text;
	int r = study_state_read(boot->machine, boot->state, err);

	if (r < 0)
		return r;
	text = boot->state->text;
	r = study_read(boot->arena, "s.yaml", text, strlen(text), &boot->study, &mistakes);
	if (r == 0)
		r = study_suit_again(boot->arena, boot->study, boot->state->suited, err);
	return r < 0 ? r : study_boot_open(boot, err);
}

static int go_on(struct arena *arena, struct knob_machine *machine, const struct sim *sim)
{
	CLEANUP(store_close_pointer) struct store *store = NULL;
	CLEANUP(study_outcome_clear) struct study_outcome outcome = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct study_boot boot = {
	    .arena = arena, .machine = machine, .state = &state, .notify = note, .data = (void *)sim};
	enum study_move move = STUDY_OVER;
	struct err err = {0};
	int r = open_study(&boot, &err);

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
					  .boot = r == 0 && study_needs_boots(boot.study) ? &boot : NULL,
					  .state = &state,
					  .limits = {0}};

	if (r == 0)
		r = study_go_on(&boot, &setup, &outcome, &move, &err);
	return r < 0 ? failed("go on", &err) : (int)move;
}

static int answer(struct arena *arena, struct knob_machine *machine, const char *cannot)
{
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct study_boot boot = {.arena = arena, .machine = machine, .state = &state};
	struct err err = {0};
	int r = open_study(&boot, &err);
	const struct study_hands hands = {machine, boot.study, &state};

	if (r == 0)
		r = cannot ? study_hand_cannot(&hands, cannot, &err) : study_hand_done(&hands, &err);
	return r == -EAGAIN ? SIM_REFUSED : r < 0 ? failed("answer", &err) : 0;
}

enum doing { BEGIN, GO_ON, DONE, CANNOT };

/* In a process of its own: what that comes to. */
static int in_process(const struct sim *sim, enum doing doing, const char *why)
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

		*sim->shared = (struct sim_calls){.kill_at = sim->calls};
		(void)setenv("SIM_ROOT", sim->root, 1);
		if (knob_machine_open(sim->root, &gate, &machine, &err) < 0)
			_exit(failed("open", &err));
		if (doing == BEGIN)
			code = begin(arena, &machine, sim, &err) < 0 ? failed("begin", &err) : 0;
		else
			code = doing == GO_ON ? go_on(arena, &machine, sim) : answer(arena, &machine, why);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : SIM_KILLED;
}

size_t sim_results(const struct sim *sim, struct arena *arena, struct study_matrix *ret_matrix, struct study_seen **ret)
{
	CLEANUP(store_close_pointer) struct store *store = NULL;
	struct study_mistakes mistakes = {0};
	struct study *study = NULL;
	const char *meter = NULL;
	struct err err = {0};
	size_t count = 0;

	assert_int_equal(study_read(arena, "s.yaml", sim->study, strlen(sim->study), &study, &mistakes), 0);
	study_matrix_make(arena, study, ret_matrix);
	assert_int_equal(
	    store_open(arena_printf(arena, "%s/var/lib/hvtune/results.db", sim->root), STORE_READ, &store, &err), 0);
	if (study_load(arena, store, ret_matrix, sim->uid, ret, &count, &meter, &err) < 0)
		fail_msg("load: %s", err.what);
	return count;
}

int sim_process(const struct sim *sim, bool is_first)
{
	return in_process(sim, is_first ? BEGIN : GO_ON, NULL);
}

int sim_answer(const struct sim *sim, const char *cannot)
{
	return in_process(sim, cannot ? CANNOT : DONE, cannot);
}

/* Until it is over: boots, kills that are power cuts, signals. How many boots it took; fails the test when it faults.
 */
int sim_run_to_end(struct sim *sim)
{
	int boots = 0;

	for (; boots < SIM_MOST_BOOTS; boots++) {
		int move = sim_process(sim, false);

		if (move == SIM_KILLED)
			sim->calls = 0;
		else if (move == STUDY_OVER)
			return boots;
		else if (move == STUDY_HOLDS || move == STUDY_WAITS || move == SIM_FAULT)
			fail_msg("boot %d: it holds or faults (%d)", boots, move);
		sim_boot(sim);
	}
	fail_msg("no end after %d boots", boots);
	return 0;
}

/* Nothing is left of it, and the host runs with the default's line. */
void sim_check_restored(const struct sim *sim, const char *before)
{
	assert_string_equal(sim_sum(sim), before);
	assert_null(sim_get(sim, KNOB_STUDY));
	assert_null(sim_get(sim, KNOB_STUDY_WISH));
	assert_null(sim_get(sim, KNOB_STUDY_UNIT));
	assert_null(sim_get(sim, BOOT_TRIAL_STATE));
	assert_null(strstr(sim_get(sim, "/proc/cmdline"), "hvtune.trial"));
}
