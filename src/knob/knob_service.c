/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns services as knobs: those that write what hvtune sets, by a fixed list of names. The value has two halves, what a
 * service does now and what it does at boot: "running,enabled". "on" and "off" stand for both.
 */
#include "knob_service.h"

#include <errno.h>

#include "knob_systemd.h"
#include "text.h"

#define RUNNING "running"
#define STOPPED "stopped"

/* What systemctl enable, disable and mask can bring about, and so what can be put back. */
static const char settable[] = "enabled disabled masked";

static const char *unit_of(struct arena *arena, const char *member)
{
	return arena_printf(arena, "%s.service", member);
}

static int get(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	struct systemd_unit unit = {0};
	int r = knob_unit_read(machine, where, &unit, err);

	if (r == 0)
		*ret = arena_printf(machine->arena, "%s,%s", unit.running ? RUNNING : STOPPED, unit.enable);
	return r;
}

static int set(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *enable = text ? strchr(text, ',') : NULL;
	bool run = text && text_starts(text, RUNNING);
	struct systemd_unit unit = {0};
	int r = knob_unit_read(machine, where, &unit, err);

	if (r < 0)
		return r;
	if (!enable)
		return err_set(err, EINVAL, where, "a service cannot be made to be \"%s\"", text ? text : "absent");
	if (!run && unit.running)
		r = knob_unit_stop(machine, where, err);
	if (r == 0 && text_has_word(settable, " ", enable + 1) && text_has_word(settable, " ", unit.enable))
		r = knob_unit_enable(machine, where, unit.enable, enable + 1, err);
	if (r == 0 && run && !unit.running)
		r = knob_unit_start(machine, where, err);
	return r;
}

static const char *booted(struct arena *arena, const char *text)
{
	const char *enable = strchr(text, ',');

	if (!enable || !text_has_word(settable, " ", enable + 1))
		return text;
	return arena_printf(arena, "%s%s", text_equal(enable + 1, "enabled") ? RUNNING : STOPPED, enable);
}

const struct knob_actuator knob_service_actuator = {.name = "service", .get = get, .set = set, .booted = booted};

/* What was asked in both halves: the half that is not named stays. */
static const char *value_of(struct arena *arena, const char *asked, const struct systemd_unit *unit)
{
	static const struct {
		const char *word, *now, *boot; /* NULL: as it is */
	} words[] = {
	    {"on", RUNNING, "enabled"},	   {"off", STOPPED, "disabled"}, {RUNNING, RUNNING, NULL},
	    {STOPPED, STOPPED, NULL},	   {"enabled", NULL, "enabled"}, {"disabled", NULL, "disabled"},
	    {"masked", STOPPED, "masked"},
	};
	bool settable_now = text_has_word(settable, " ", unit->enable);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_equal(asked, words[i].word))
			return arena_printf(arena, "%s,%s",
					    words[i].now    ? words[i].now
					    : unit->running ? RUNNING
							    : STOPPED,
					    words[i].boot && settable_now ? words[i].boot : unit->enable);
	return asked;
}

int knob_service_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			struct knob_points *points, struct err *err)
{
	struct knob_point point = {.knob = knob, .name = ask->name, .label = ""};
	struct systemd_unit unit = {0};
	int r;

	if (ask->where)
		return err_set(err, EINVAL, ask->where, "%s is one for the whole host and takes no @WHERE", ask->name);
	point.where = unit_of(machine->arena, ask->name + strlen("service."));
	r = knob_unit_read(machine, point.where, &unit, err);
	if (r < 0)
		return r;
	point.new = value_of(machine->arena, ask->value, &unit);
	knob_points_add(points, &point);
	return 0;
}

int knob_service_check(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const char *comma = point->new ? strchr(point->new, ',') : NULL;
	const char *now = comma ? arena_strndup(machine->arena, point->new, (size_t)(comma - point->new)) : "";
	const char *boot_before = strchr(point->old, ',') + 1;

	if (!comma || !text_has_word(RUNNING " " STOPPED, " ", now))
		return err_set(err, EINVAL, point->new,
			       "%s takes on, off, running, stopped, enabled, disabled, masked, or both halves as in "
			       "running,disabled",
			       point->name);
	if (!text_equal(comma + 1, boot_before) &&
	    (!text_has_word(settable, " ", comma + 1) || !text_has_word(settable, " ", boot_before)))
		return err_set(err, EINVAL, comma + 1,
			       "%s is %s, which systemctl enable, disable and mask do not change", point->where,
			       boot_before);
	if (text_equal(point->new, RUNNING ",masked"))
		return err_set(err, EINVAL, point->new, "a masked service cannot run");
	return 0;
}
