/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the calls to systemd; see knob_systemd.h. */
#include "knob_systemd.h"

#include <errno.h>
#include <time.h>

#include "knob_bus.h"
#include "text.h"

enum { CALL_S = 90, JOB_S = 300, POLL_MS = 20 };

#define SERVICE "org.freedesktop.systemd1"

static const struct sys_bus_object manager = {SERVICE, "/org/freedesktop/systemd1", SERVICE ".Manager", "systemd"};

static int change(struct knob_machine *machine, const char *method, const char *types, const char *const *texts,
		  struct sys_bus_reply *ret, struct err *err)
{
	struct sys_bus *bus;
	int r = knob_bus(machine, &bus, err);

	return r < 0 ? r : sys_bus_change(bus, machine->arena, &manager, method, types, texts, CALL_S, ret, err);
}

static int property(struct knob_machine *machine, const char *path, const char *interface, const char *name,
		    struct sys_bus_reply *ret, struct err *err)
{
	const struct sys_bus_object object = {SERVICE, path, arena_printf(machine->arena, SERVICE ".%s", interface),
					      "systemd"};
	struct sys_bus *bus;
	int r = knob_bus(machine, &bus, err);

	return r < 0 ? r : sys_bus_property(bus, machine->arena, &object, name, ret, err);
}

int knob_unit_property(struct knob_machine *machine, const struct systemd_unit *unit, const char *interface,
		       const char *name, const char **ret, struct err *err)
{
	struct sys_bus_reply reply = {0};
	int r = property(machine, unit->path, interface, name, &reply, err);

	if (r < 0)
		return r;
	*ret = "";
	for (size_t i = 0; i < reply.count; i++)
		*ret = arena_printf(machine->arena, "%s%s%s", *ret, i ? " " : "", reply.texts[i]);
	return 0;
}

/* systemd keeps the state of unit files in its memory until a reload; this asks for the files. */
static int read_enable(struct knob_machine *machine, struct systemd_unit *unit, struct err *err)
{
	struct sys_bus_reply reply = {0};
	struct sys_bus *bus;
	int r = knob_bus(machine, &bus, err);

	if (r == 0)
		r = sys_bus_ask(bus, machine->arena, &manager, "GetUnitFileState", "s",
				(const char *[]){unit->name, NULL}, &reply, err);
	/* A unit without a file, made by a generator or by another service. */
	if (r == -ENOENT) {
		unit->enable = "transient";
		return 0;
	}
	unit->enable = sys_bus_text(&reply, 0);
	return r;
}

int knob_unit_read(struct knob_machine *machine, const char *name, struct systemd_unit *ret, struct err *err)
{
	struct systemd_unit unit = {.name = name};
	struct sys_bus_reply reply = {0};
	struct sys_bus *bus;
	int r = knob_bus(machine, &bus, err);

	if (r == 0)
		r = sys_bus_ask(bus, machine->arena, &manager, "LoadUnit", "s", (const char *[]){name, NULL}, &reply,
				err);
	if (r < 0)
		return r;
	unit.path = sys_bus_text(&reply, 0);
	r = property(machine, unit.path, "Unit", "LoadState", &reply, err);
	if (r == 0 && text_equal(sys_bus_text(&reply, 0), "not-found"))
		return err_set(err, ENOENT, name, "there is no such unit here");
	if (r == 0)
		r = property(machine, unit.path, "Unit", "ActiveState", &reply, err);
	if (r < 0)
		return r;
	unit.running = text_has_word("active reloading activating refreshing", " ", sys_bus_text(&reply, 0));
	r = read_enable(machine, &unit, err);
	if (r == 0)
		*ret = unit;
	return r;
}

/* Wait until the unit has no job any more: its property Job is (0, "/") then. */
static int wait_for_job(struct knob_machine *machine, const struct systemd_unit *unit, struct err *err)
{
	const struct timespec moment = {.tv_nsec = POLL_MS * 1000000L};

	for (unsigned polls = 0; polls < JOB_S * 1000 / POLL_MS; polls++) {
		struct sys_bus_reply job = {0};
		int r = property(machine, unit->path, "Unit", "Job", &job, err);

		/* A unit that nobody refers to is forgotten as soon as it has stopped. */
		if (r == -ENOENT || text_equal(sys_bus_text(&job, 0), "0"))
			return 0;
		if (r < 0)
			return r;
		(void)nanosleep(&moment, NULL);
	}
	return err_set(err, ETIMEDOUT, unit->name, "its job did not end within %d seconds", JOB_S);
}

static int run_job(struct knob_machine *machine, const char *name, const char *method, bool running, struct err *err)
{
	struct systemd_unit unit = {.name = name};
	const char *why = "";
	struct err ignored = {0};
	int r = change(machine, method, "ss", (const char *[]){name, "replace", NULL}, NULL, err);

	if (r == 0)
		r = knob_unit_read(machine, name, &unit, err);
	if (r == 0)
		r = wait_for_job(machine, &unit, err);
	if (r == 0)
		r = knob_unit_read(machine, name, &unit, err);
	if (r < 0 || unit.running == running)
		return r;
	/* A service that runs once and leaves has done its part. */
	if (knob_unit_property(machine, &unit, "Service", "Result", &why, &ignored) == 0 && running &&
	    text_equal(why, "success"))
		return 0;
	(void)err_set(err, EPROTO, name, "it did not %s%s%s%s", running ? "start" : "stop", *why ? " (" : "", why,
		      *why ? ")" : "");
	return err_hint(err, "journalctl -u %s tells why", name);
}

int knob_unit_start(struct knob_machine *machine, const char *name, struct err *err)
{
	return run_job(machine, name, "StartUnit", true, err);
}

int knob_unit_restart(struct knob_machine *machine, const char *name, struct err *err)
{
	return run_job(machine, name, "RestartUnit", true, err);
}

int knob_unit_stop(struct knob_machine *machine, const char *name, struct err *err)
{
	return run_job(machine, name, "StopUnit", false, err);
}

int knob_units_reload(struct knob_machine *machine, struct err *err)
{
	return change(machine, "Reload", "", NULL, NULL, err);
}

int knob_unit_enable(struct knob_machine *machine, const char *name, const char *from, const char *to, struct err *err)
{
	static const struct {
		const char *state, *enter, *leave; /* methods; NULL: there is nothing to do */
		const char *enter_types;
	} states[] = {
	    {"enabled", "EnableUnitFiles", "DisableUnitFiles", "asbb"},
	    {"masked", "MaskUnitFiles", "UnmaskUnitFiles", "asbb"},
	};
	int r = 0;

	if (text_equal(from, to))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(states) && r == 0; i++)
		if (text_equal(from, states[i].state))
			r = change(machine, states[i].leave, "asb", (const char *[]){"1", name, "false", NULL}, NULL,
				   err);
	for (size_t i = 0; i < ARRAY_SIZE(states) && r == 0; i++)
		if (text_equal(to, states[i].state))
			r = change(machine, states[i].enter, states[i].enter_types,
				   (const char *[]){"1", name, "false", "true", NULL}, NULL, err);
	return r < 0 ? r : knob_units_reload(machine, err);
}

int knob_unit_program(struct knob_machine *machine, const char **ret, struct err *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.+-";
	const char *path = "";
	int r = sys_own_program(machine->arena, &path, err);

	if (r < 0)
		return r;
	if (path[strspn(path, plain)]) {
		(void)err_set(err, EINVAL, path, "a unit cannot name a program of this name, or it was replaced");
		return err_hint(err, "install hvtune, and run it from there");
	}
	*ret = path;
	return 0;
}
