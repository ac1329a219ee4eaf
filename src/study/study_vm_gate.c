/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in study_vm_gate.h. */
#include "study_vm_gate.h"

#include <errno.h>

#include "knob_boot.h"
#include "knob_guest.h"
#include "knob_guest_agent.h"
#include "knob_vm.h"
#include "text.h"

/* ---- what a guest says of itself ---- */

static int read_over_ssh(const struct study_host *host, const struct study_vm *vm, const char *path, const char **ret,
			 struct err *err)
{
	const struct bench_command command = {.argv =
						  (const char *const[]){"ssh", "-oBatchMode=yes", "-oConnectTimeout=5",
									"--", vm->rule->ssh, "cat", path, NULL},
					      .timeout_ns = 15000000000,
					      .output = BENCH_OUTPUT_CAPTURE};
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
	const char *said;
	int r = bench_spawn(&command, NULL, &outcome, err);

	if (r < 0)
		return r;
	if (outcome.exit_code != 0) {
		said = text_trim(host->arena, outcome.errors ? outcome.errors : "");
		return err_set(err, ENOTCONN, vm->rule->ssh, "ssh: %s", *said ? said : "no answer");
	}
	*ret = arena_strdup(host->arena, outcome.output ? outcome.output : "");
	return 0;
}

static int read_in_guest(struct study_host *host, const struct study_vm *vm, const char *path, const char **ret,
			 struct err *err)
{
	const char *const argv[] = {"cat", path, NULL};
	const char *text = "";
	int r = vm->rule->ssh ? read_over_ssh(host, vm, path, &text, err)
			      : knob_guest_run(host->machine, vm->uuid, false, argv, &text, err);

	if (r == 0)
		*ret = text_trim(host->arena, text);
	return r;
}

/* ---- waiting ---- */

/* What waiting may change: the agent is not there yet, or its first words get lost. */
static bool may_come(int r)
{
	return r == -ENOTCONN || r == -EIO || r == -ETIMEDOUT || r == -EPROTO || r == -EREMOTEIO;
}

static int64_t wait_ns(const struct study_host *host, const struct study_vm *vm)
{
	enum { FILES_NS = 500000000 };
	double wait_s = vm->rule->wait_s > 0 ? vm->rule->wait_s : STUDY_VM_WAIT_S;

	/* VMs in a directory of files are up at once or never. */
	return sys_writer_is_live(host->machine->writer) ? (int64_t)(wait_s * 1e9) : FILES_NS;
}

bool study_vm_pause(const struct study_host *host, int64_t moment_ns)
{
	struct bench_signals none = {.fd = -1};

	return bench_signals_wait(host->bench && !host->leaving ? &host->bench->signals : &none, moment_ns);
}

/* QEMU is another process after a start, which only work in the guest has to know. */
static int reach(struct study_host *host, struct study_vm *vm, struct err *err)
{
	const struct study *study = host->matrix ? host->matrix->study : NULL;
	bool works = false;

	for (size_t i = 0; study && i < study->workload_count; i++)
		works = works || text_equal(study->workloads[i].on, vm->file_name);
	return works ? bench_guest_open(host->machine, vm->uuid, &vm->guest, err) : 0;
}

/* ---- a guest that cannot say that it is up ---- */

bool study_vm_needs_guest(const struct study *study, const char *file_name)
{
	for (size_t i = 0; i < study->workload_count; i++)
		if (text_equal(study->workloads[i].on, file_name))
			return true;
	/* Of whichever VM: that it is another one's is not worth a guest that is taken for up. */
	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			for (size_t i = 0; i < study->factors[f].levels[l].ask_count; i++)
				if (study_ask_cost(&study->factors[f].levels[l].asks[i]) == STUDY_GUEST_BOOT)
					return true;
	return false;
}

/* Its process as it is now; `ret` is the same text as long as it is the same process. */
static int look_at_process(struct study_host *host, const struct study_vm *vm, const char **ret, struct err *err)
{
	struct knob_vm found = {0};
	int r;

	knob_vm_forget(host->machine);
	r = knob_vm_find(host->machine, vm->uuid, &found, err);
	if (r < 0)
		return r;
	if (!found.running)
		return err_set(err, EHOSTUNREACH, vm->name, "its process has ended");
	*ret = arena_printf(host->arena, "process %d of %lld", found.running->pid, (long long)found.start);
	return 0;
}

/* There is no channel on which an agent could answer, and nothing of the study happens in the guest. */
static int wait_silently(struct study_host *host, struct study_vm *vm, const char *before, struct err *err)
{
	enum { FILES_NS = 100000000 };
	double settle_s = vm->rule->wait_s > 0 ? vm->rule->wait_s : STUDY_VM_SETTLE_S;
	int64_t settle_ns = sys_writer_is_live(host->machine->writer) ? (int64_t)(settle_s * 1e9) : FILES_NS;
	int64_t until_ns = bench_now_ns() + settle_ns;
	const char *process = "", *after = "";
	int r = look_at_process(host, vm, &process, err);

	if (r < 0 || (!before && text_equal(vm->boot, process)))
		return r;
	for (int64_t left_ns = settle_ns; left_ns > 0; left_ns = until_ns - bench_now_ns())
		if (study_vm_pause(host, MIN_OF(left_ns, (int64_t)500000000)))
			return err_set(err, EINTR, vm->name, "stopped");
	r = look_at_process(host, vm, &after, err);
	if (r == 0 && !text_equal(process, after))
		return err_set(err, EHOSTUNREACH, vm->name, "it was started again by somebody else");
	if (r == 0)
		vm->boot = after;
	return r;
}

static int give_up(const struct study_vm *vm, const struct err *why, const char *before, struct err *err)
{
	struct err reason = *why;

	if (reason.code == 0)
		return err_set(err, EHOSTUNREACH, vm->name, "its guest has still the boot id %s", before);
	(void)err_set(err, EHOSTUNREACH, vm->name, "its guest does not come up: %s", reason.what);
	return *reason.hint ? err_hint(err, "%s", reason.hint) : -EHOSTUNREACH;
}

int study_vm_wait_up(struct study_host *host, struct study_vm *vm, const char *before, struct err *err)
{
	enum { MOMENT_NS = 500000000, FILES_MOMENT_NS = 20000000 };
	int64_t until_ns = bench_now_ns() + wait_ns(host, vm);
	int64_t moment_ns = sys_writer_is_live(host->machine->writer) ? MOMENT_NS : FILES_MOMENT_NS;

	for (;;) {
		const char *boot = NULL;
		struct err why = {0};
		int r = read_in_guest(host, vm, "/proc/sys/kernel/random/boot_id", &boot, &why);

		if (r == 0 && boot && !text_equal(boot, before))
			r = reach(host, vm, &why);
		else if (r == 0)
			r = -ENOTCONN; /* the old boot still answers */
		if (r == -ENOTSUP && host->matrix && !study_vm_needs_guest(host->matrix->study, vm->file_name))
			return wait_silently(host, vm, before, err);
		if (r == 0) {
			vm->boot = boot;
			return 0;
		}
		if (!may_come(r) || bench_now_ns() >= until_ns)
			return give_up(vm, &why, before ? before : "", err);
		if (study_vm_pause(host, moment_ns))
			return err_set(err, EINTR, vm->name, "stopped");
	}
}

/* ---- the gate ---- */

static int judge_line(struct study_host *host, const struct study_vm *vm, const struct knob_ask *asks, size_t count,
		      struct err *err)
{
	const char *line = "";
	int r = count ? read_in_guest(host, vm, "/proc/cmdline", &line, err) : 0;

	if (r < 0)
		return err_set(err, EHOSTUNREACH, vm->name, "the line of its guest's kernel cannot be read");
	for (size_t i = 0; i < count; i++) {
		const char *name = asks[i].name + strlen(KNOB_GUEST_FAMILY);
		const struct knob_boot_change change = knob_boot_change_of(name, asks[i].value);

		if (!knob_boot_line_has(host->arena, line, &change))
			return err_set(err, EHOSTUNREACH, vm->name, "its guest booted with \"%s\", which is not %s=%s",
				       line, asks[i].name, asks[i].value);
	}
	return 0;
}

static int judge_pins(struct study_host *host, const struct study_vm *vm, struct err *err)
{
	struct knob_vm found;
	int r = knob_vm_find(host->machine, vm->uuid, &found, err);

	if (r < 0 || !found.running || !found.declared)
		return r < 0 ? r : err_set(err, EHOSTUNREACH, vm->name, "its process is not to be found");
	for (int i = 0; i < MIN_OF(found.declared->vcpu_max, found.running->vcpu_max); i++) {
		const struct vm_set *pin = &found.declared->vcpus[i].pin;
		const struct vm_vcpu *vcpu = &found.running->vcpus[i];
		struct cpuset outside;

		if (!pin->given || !vcpu->tid || !vcpu->running.given)
			continue;
		outside = cpuset_minus(&vcpu->running.set, &pin->set);
		if (!cpuset_empty(&outside))
			return err_set(err, EHOSTUNREACH, vm->name, "its vCPU %d may run on %s and is pinned to %s", i,
				       cpuset_format(host->arena, &vcpu->running.set),
				       cpuset_format(host->arena, &pin->set));
	}
	return 0;
}

int study_vm_judge(struct study_host *host, const struct study_vm *vm, const struct knob_ask *asks, size_t count,
		   struct err *err)
{
	int r = judge_line(host, vm, asks, count, err);

	return r < 0 ? r : judge_pins(host, vm, err);
}
