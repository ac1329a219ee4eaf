/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the latency hold; see knob_latency.h. */
#include "knob_latency.h"

#include <errno.h>

#include "knob_systemd.h"
#include "text.h"

enum { MOST_STATES = 10 }; /* CPUIDLE_STATE_MAX */

#define OFF "off"
#define VERB "hold-latency "
/* What stands behind a value whose unit does not run, or is not enabled: set() was killed in its middle. */
#define HALF ",half done"

static bool is_lasting(const char *where)
{
	return text_starts(where, "/etc/");
}

static const char *unit_of(const char *where)
{
	return strrchr(where, '/') + 1;
}

/* The number behind the verb of a unit's ExecStart; NULL: it has none. */
static const char *value_of(struct arena *arena, const char *text)
{
	const char *verb = strstr(text, VERB);
	const char *digits = verb ? verb + strlen(VERB) : "";
	size_t length = strspn(digits, "0123456789");

	return length ? arena_strndup(arena, digits, length) : NULL;
}

static int get(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	struct systemd_unit unit = {0};
	const char *text = "", *value;
	/* Asked first, so that a plan is refused where no systemd could carry it out. */
	int r = knob_unit_read(machine, unit_of(where), &unit, err);

	if (r == 0 || r == -ENOENT)
		r = sys_writer_read(machine->writer, machine->arena, where, &text, NULL, err);
	/* The file is the last thing to go. */
	if (r == -ENOENT || r == -ENOTDIR) {
		*ret = OFF;
		return 0;
	}
	if (r < 0)
		return r;
	value = value_of(machine->arena, text);
	*ret = arena_printf(machine->arena, "%s%s", value ? value : "?",
			    unit.running && (!is_lasting(where) || text_equal(unit.enable, "enabled")) ? "" : HALF);
	return 0;
}

static const char *unit_text(struct arena *arena, const char *program, const char *value, bool lasting)
{
	return arena_printf(arena,
			    "# Written by hvtune; hvtune undo takes it away.\n"
			    "[Unit]\n"
			    "Description=No CPU may take longer than %s us to wake up (hvtune)\n"
			    "Documentation=man:hvtune-hold-latency(1)\n"
			    "\n"
			    "[Service]\n"
			    "Type=notify\n"
			    "ExecStart=%s " VERB "%s\n"
			    "Restart=on-failure\n"
			    "NoNewPrivileges=yes\n"
			    "CapabilityBoundingSet=\n"
			    "ProtectSystem=strict\n"
			    "PrivateNetwork=yes\n"
			    "RestrictAddressFamilies=AF_UNIX\n"
			    "%s",
			    value, program, value, lasting ? "\n[Install]\nWantedBy=multi-user.target\n" : "");
}

static int hold(struct knob_machine *machine, const char *where, const char *value, struct err *err)
{
	const char *unit = unit_of(where), *program = "", *text;
	int r = knob_unit_program(machine, &program, err);

	if (r < 0)
		return r;
	text = unit_text(machine->arena, program, value, is_lasting(where));
	r = sys_writer_replace(machine->writer, where, text, strlen(text), 0644, err);
	if (r == 0)
		r = knob_units_reload(machine, err);
	if (r == 0 && is_lasting(where))
		r = knob_unit_enable(machine, unit, "disabled", "enabled", err);
	return r < 0 ? r : knob_unit_restart(machine, unit, err);
}

static int let_go(struct knob_machine *machine, const char *where, struct err *err)
{
	struct systemd_unit unit = {0};
	int r = knob_unit_read(machine, unit_of(where), &unit, err);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0)
		r = knob_unit_stop(machine, unit.name, err);
	else
		r = 0;
	if (r == 0 && is_lasting(where))
		r = knob_unit_enable(machine, unit_of(where), "enabled", "disabled", err);
	if (r == 0)
		r = sys_writer_remove(machine->writer, where, err);
	return r < 0 ? r : knob_units_reload(machine, err);
}

static int set(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *half = text ? strstr(text, HALF) : NULL;

	if (!text || text_equal(text, OFF))
		return let_go(machine, where, err);
	/* What was half done before is brought to its end. */
	return hold(machine, where, half ? arena_strndup(machine->arena, text, (size_t)(half - text)) : text, err);
}

static int tidy(struct knob_machine *machine, const char *where, struct err *err)
{
	return sys_writer_tidy(machine->writer, where, err);
}

const struct knob_actuator knob_latency_actuator = {.name = "latency-unit", .get = get, .set = set, .tidy = tidy};

/* "C2 (400 us)": the states of CPU 0 that take longer to leave. */
static const char *shut_out(struct knob_machine *machine, int64_t limit_us)
{
	static const char cpuidle[] = "/sys/devices/system/cpu/cpu0/cpuidle";
	const char *list = "";

	for (int state = 0; state < MOST_STATES; state++) {
		const struct sys_look *name = sys_read(machine->sys, "%s/state%d/name", cpuidle, state);
		const struct sys_look *latency = sys_read(machine->sys, "%s/state%d/latency", cpuidle, state);
		int64_t us;

		if (name->state != SYS_VALUE || latency->state != SYS_VALUE || text_int(latency->data, 10, &us) < 0 ||
		    us <= limit_us)
			continue;
		list = arena_printf(machine->arena, "%s%s%s (%lld us)", list, *list ? ", " : "",
				    text_trim(machine->arena, name->data), (long long)us);
	}
	return list;
}

int knob_latency_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		       struct err *err)
{
	const struct knob_point *point = &plan->points.items[step->first];
	const char *list, *program = "";
	int64_t us;
	int r;

	if (text_int(point->new, 10, &us) < 0)
		return 0;
	r = knob_unit_program(machine, &program, err);
	if (r < 0)
		return r;
	list = shut_out(machine, us);
	if (*list)
		knob_plan_note(
		    machine, plan,
		    arena_printf(machine->arena,
				 "%s: all CPUs are kept out of %s: idle watts rise, and the boost of busy cores falls",
				 step->name, list));
	knob_plan_note(machine, plan,
		       arena_printf(machine->arena, "%s: %s runs %s", step->name, unit_of(point->where), program));
	return 0;
}
