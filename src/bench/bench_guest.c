/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns commands in guests. */
#include "bench_guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_remote.h"
#include "knob_guest_agent.h"
#include "knob_vm.h"
#include "text.h"

enum { GRACE_MS = 2000, MOST_INPUT = 1 << 20 };

/* How long an agent may not answer while a command runs: a guest that computes on all CPUs is slow to. */
enum { SILENCE_S = 60 };

/* ---- the guest ---- */

int bench_guest_open(struct knob_machine *machine, const char *name, struct bench_guest *ret, struct err *err)
{
	static const char *const look[] = {"sh", "-c", "command -v setsid >/dev/null", NULL};
	struct knob_domain domain = {0};
	struct knob_vm vm = {0};
	struct err ignored = {0};
	int r = knob_libvirt_find(machine, name, &domain, err);

	if (r < 0)
		return r;
	if (!domain.running) {
		(void)err_set(err, EHOSTDOWN, domain.name, "the VM is off, so nothing can be run in it");
		return err_hint(err, "virsh start %s", domain.name);
	}
	r = knob_guest_run(machine, domain.uuid, false, look, NULL, err);
	if (r == -EREMOTEIO) {
		(void)err_set(err, ENOEXEC, domain.name,
			      "the guest has no setsid, without which a command in it "
			      "could not be ended with all that it started");
		return err_hint(err, "install util-linux in the guest, or measure over --on ssh:");
	}
	if (r == -ENOEXEC)
		return err_set(err, ENOEXEC, domain.name,
			       "the guest has no sh: only guests with a POSIX shell are measured");
	if (r < 0)
		return r;
	*ret = (struct bench_guest){.machine = machine, .uuid = domain.uuid, .name = domain.name};
	/* For the load of others alone: without it QEMU counts among them. */
	if (knob_vm_find(machine, domain.uuid, &vm, &ignored) == 0 && vm.running)
		ret->pid = vm.running->pid;
	return 0;
}

int bench_guest_find_program(const struct bench_guest *guest, const char *program, struct err *err)
{
	const char *const look[] = {"sh", "-c", "command -v -- \"$1\" >/dev/null", "hvtune", program, NULL};
	int r = knob_guest_run(guest->machine, guest->uuid, false, look, NULL, err);

	if (r != -EREMOTEIO)
		return r;
	(void)err_set(err, ENOENT, program, "there is no such program in the VM %s", guest->name);
	return err_hint(err, "install it there, or name its path; the agent's $PATH is short");
}

/* CPU time of QEMU with its vCPUs so far; -1: not known. */
static int64_t cpu_us(const struct bench_guest *guest, struct arena *arena)
{
	const char *path = arena_printf(arena, "/proc/%d/stat", guest->pid), *text = NULL, *end;
	unsigned long long user = 0, system = 0;
	struct err ignored = {0};

	if (!guest->pid || sys_writer_read(guest->machine->writer, arena, path, &text, NULL, &ignored) < 0)
		return -1;
	end = strrchr(text, ')');
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers. */
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
		return -1;
	return (int64_t)((user + system) * 1000000 / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* ---- one command ---- */

struct guest_run {
	const struct bench_command *command;
	const struct bench_guest *guest;
	struct arena *arena;
	struct bench_signals *signals;
	struct bench_outcome *outcome;
	struct knob_guest_program program;
	int64_t end_ns; /* of the timeout, or when to kill; INT64_MAX: none */
	bool asked;	/* SIGTERM was sent */
};

static int read_input(const struct bench_command *command, struct arena *arena, struct knob_guest_command *start,
		      struct err *err)
{
	int r =
	    command->input ? sys_read_given(arena, command->input, false, &start->input, &start->input_size, err) : 0;

	if (r == 0 && start->input_size > MOST_INPUT) {
		(void)err_set(err, EFBIG, command->input, "a guest agent takes at most 1 MiB of input");
		return err_hint(err, "put the file into the guest and name it in the command, or use --on ssh:");
	}
	return r;
}

/* A program of ours in the guest, whose fate does not matter. */
static void run_aside(struct guest_run *run, const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct err ignored = {0};

	(void)knob_guest_run(run->guest->machine, run->guest->uuid, false, argv, NULL, &ignored);
}

static void end_group(struct guest_run *run)
{
	run_aside(run, arena_printf(run->arena, "kill -s %s -- -%lld", run->asked ? "KILL" : "TERM",
				    (long long)run->program.pid));
	run->end_ns = run->asked ? INT64_MAX : bench_now_ns() + (int64_t)GRACE_MS * 1000000;
	run->asked = true;
}

/* Ask more and more seldom: a fiftieth of the time so far, so that a short run is not waited for and a long one not
 * disturbed. */
static int64_t pause_ns(int64_t so_far_ns)
{
	enum { LEAST_NS = 2000000, MOST_NS = 500000000 };

	return MIN_OF(MAX_OF(so_far_ns / 50, (int64_t)LEAST_NS), (int64_t)MOST_NS);
}

static void wait_a_moment(struct guest_run *run)
{
	int64_t wait_ns = pause_ns(bench_now_ns() - run->outcome->began_ns);
	struct bench_signals none = {.fd = -1};

	if (run->end_ns != INT64_MAX)
		wait_ns = MIN_OF(wait_ns, MAX_OF(run->end_ns - bench_now_ns(), (int64_t)0));
	/* One signal is told once; the next look at it would not wait any more. */
	(void)bench_signals_wait(run->signals && !run->outcome->stopped ? run->signals : &none, wait_ns);
	if (run->signals && bench_signals_came(run->signals) && !run->outcome->stopped) {
		run->outcome->stopped = true;
		run->asked = false;
		end_group(run);
	}
	if (run->end_ns != INT64_MAX && bench_now_ns() >= run->end_ns) {
		run->outcome->timed_out = run->outcome->timed_out || !run->outcome->stopped;
		end_group(run);
	}
}

static char *copy_bytes(const char *data, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy)
		err_no_memory();
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	return copy;
}

static void lose(struct guest_run *run, const char *what)
{
	run->outcome->lost = true;
	run->outcome->exit_code = -1;
	run->outcome->errors = copy_bytes(what, strlen(what));
	run->outcome->errors_size = strlen(what);
}

/* Until it has ended, or the VM is off, or its agent is silent for too long. */
static void wait_for_end(struct guest_run *run)
{
	const struct bench_guest *guest = run->guest;
	int64_t heard_ns = bench_now_ns(), killed_ns = 0;

	for (;;) {
		struct err why = {0};
		int r = knob_guest_look(guest->machine, guest->uuid, run->arena, &run->program, &why);
		int64_t now_ns = bench_now_ns();

		run->outcome->ended_ns = now_ns;
		if (r == 0 && run->program.ended)
			return;
		if (r == 0)
			heard_ns = now_ns;
		else if (r != -ENOTCONN || now_ns - heard_ns > (int64_t)SILENCE_S * 1000000000) {
			lose(run, why.what);
			return;
		}
		/* SIGKILL was sent, and something holds on to what the agent waits for. */
		killed_ns = run->asked && run->end_ns == INT64_MAX ? (killed_ns ? killed_ns : now_ns) : 0;
		if (killed_ns && now_ns - killed_ns > (int64_t)GRACE_MS * 1000000) {
			lose(run, "it does not end in the guest, though it was killed");
			return;
		}
		wait_a_moment(run);
	}
}

static void take_outcome(struct guest_run *run)
{
	const struct knob_guest_program *program = &run->program;
	struct bench_outcome *outcome = run->outcome;

	outcome->exit_code = program->exit_code;
	outcome->signal = program->signal;
	outcome->output = copy_bytes(program->output, program->output_size);
	outcome->output_size = program->output_size;
	outcome->errors = copy_bytes(program->errors, program->errors_size);
	outcome->errors_size = program->errors_size;
}

int bench_guest_spawn(const struct bench_command *command, struct bench_signals *signals, struct bench_outcome *ret,
		      struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct knob_guest_command start = {.argv = command->argv};
	struct bench_outcome outcome = {.peak_kib = -1};
	struct guest_run run = {.command = command,
				.guest = command->guest,
				.arena = arena,
				.signals = signals,
				.outcome = &outcome,
				.end_ns = INT64_MAX};
	int64_t cpu_before_us = cpu_us(command->guest, arena), cpu_after_us;
	int r = read_input(command, arena, &start, err);

	if (r == 0)
		r = knob_guest_start(command->guest->machine, command->guest->uuid, NULL, &start, &run.program, err);
	if (r < 0)
		return r;
	outcome.began_ns = bench_now_ns();
	if (command->timeout_ns)
		run.end_ns = outcome.began_ns + command->timeout_ns;
	wait_for_end(&run);
	if (run.program.ended)
		take_outcome(&run);
	/* What it left running would disturb the next run, and a shell that was killed has not tidied up. */
	if (outcome.timed_out || outcome.stopped)
		run_aside(&run,
			  arena_printf(arena, "kill -s KILL -- -%lld 2>/dev/null; rm -rf " BENCH_GUEST_DIRECTORY "%lld",
				       (long long)run.program.pid, (long long)run.program.pid));
	cpu_after_us = cpu_us(command->guest, arena);
	if (cpu_before_us >= 0 && cpu_after_us >= cpu_before_us)
		outcome.user_us = cpu_after_us - cpu_before_us;
	*ret = outcome;
	return 0;
}
