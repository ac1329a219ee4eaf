/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the active profile of tuned: read, switched and switched off over D-Bus, as tuned-adm does it. tuned answers a
 * switch when the new profile is loaded and applies it in a thread after that; its signal profile_changed tells the
 * end, and is waited for.
 */
#include "knob_tuned.h"

#include <errno.h>

#include "knob_bus.h"
#include "knob_tuned_own.h"
#include "text.h"

/* How long a switch may take; tuned-adm waits for 600 seconds, with profiles whose scripts call grub2-mkconfig in mind.
 */
enum { SWITCH_S = 600 };

static const struct sys_bus_object tuned = {"com.redhat.tuned", "/Tuned", "com.redhat.tuned.control", "tuned"};

/* Why nobody answers, and what would change that; what is left of tuned in /etc when it is removed is no tuned. */
static int no_answer(struct knob_machine *machine, struct err *err)
{
	if (!knob_tuned_files(machine, NULL)->system_dir_known) {
		(void)err_set(err, ECONNREFUSED, "tuned", "it is not installed");
		return err_hint(err, "apt install tuned (Debian, Ubuntu), dnf install tuned (Fedora, RHEL)");
	}
	/* Without a bus it is the bus that has to be told of. */
	if (!machine->bus)
		return err_hint(err, "tuned is asked over it: once there is one, systemctl start tuned");
	(void)err_set(err, ECONNREFUSED, "tuned", "it is not running");
	return err_hint(err, "systemctl start tuned");
}

/* Ask a method without arguments for its `count` answers. */
static int ask_tuned(struct knob_machine *machine, const char *method, size_t count, struct sys_bus_reply *ret,
		     struct err *err)
{
	struct sys_bus *bus;
	int r = knob_bus(machine, &bus, err);

	if (r == 0)
		r = sys_bus_ask(bus, machine->arena, &tuned, method, "", NULL, ret, err);
	if (r == -ECONNREFUSED)
		return no_answer(machine, err);
	if (r == 0 && ret->count < count)
		return err_set(err, EPROTO, "tuned", "its answer to %s cannot be understood", method);
	return r;
}

/* active_profile names the post-loaded profile too, which no switch touches. */
static const char *without_post_loaded(struct arena *arena, const char *active, const char *post)
{
	size_t length = strlen(active), tail = strlen(post);

	if (!tail || length < tail || !text_equal(active + length - tail, post) ||
	    (length > tail && active[length - tail - 1] != ' '))
		return active;
	return text_trim(arena, arena_strndup(arena, active, length - tail));
}

static int get(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	struct sys_bus_reply active = {0}, post = {0}, mode = {0}, running = {0};
	const char *name;
	int r = ask_tuned(machine, "active_profile", 1, &active, err);

	(void)where;
	if (r == 0)
		r = ask_tuned(machine, "profile_mode", 2, &mode, err);
	if (r == 0)
		r = ask_tuned(machine, "post_loaded_profile", 1, &post, err);
	if (r == 0)
		r = ask_tuned(machine, "is_running", 1, &running, err);
	if (r < 0)
		return r;
	name = without_post_loaded(machine->arena, text_trim(machine->arena, sys_bus_text(&active, 0)),
				   sys_bus_text(&post, 0));
	*ret = *name ? arena_printf(machine->arena, "%s%s%s",
				    text_equal(sys_bus_text(&running, 0), "true") ? "" : KNOB_TUNED_STOPPED,
				    text_equal(sys_bus_text(&mode, 0), "auto") ? KNOB_TUNED_AUTO : "", name)
		     : KNOB_TUNED_OFF;
	return 0;
}

/* tuned has loaded the profile; wait until it has written all of it. */
static int wait_for_profile(struct knob_machine *machine, struct sys_bus *bus, const char *names, struct err *err)
{
	for (unsigned waited_s = 0; waited_s < SWITCH_S;) {
		struct sys_bus_reply signal = {0}, running = {0};
		int r = sys_bus_next(bus, machine->arena, 1000, &signal, err);

		if (r == -ETIMEDOUT) {
			waited_s++;
			/* It may have died of the profile. */
			r = ask_tuned(machine, "is_running", 1, &running, err);
			if (r < 0)
				return r;
			continue;
		}
		if (r < 0)
			return r;
		if (!text_equal(sys_bus_text(&signal, 0), names))
			continue;
		return text_equal(sys_bus_text(&signal, 1), "true")
			   ? 0
			   : err_set(err, EPROTO, "tuned", "it could not apply %s: %s", names,
				     sys_bus_text(&signal, 2));
	}
	return err_set(err, ETIMEDOUT, "tuned", "%s was not applied within %d seconds", names, SWITCH_S);
}

/* A method without arguments that says whether it did what it is called. */
static int tell(struct knob_machine *machine, struct sys_bus *bus, const char *method, struct err *err)
{
	struct sys_bus_reply reply = {0};
	int r = sys_bus_change(bus, machine->arena, &tuned, method, "", NULL, SWITCH_S, &reply, err);

	return r == 0 && !text_equal(sys_bus_text(&reply, 0), "true")
		   ? err_set(err, EPROTO, "tuned", "it could not %s; see /var/log/tuned/tuned.log", method)
		   : r;
}

/* Let tuned load a profile. Where tuning runs, it is started anew by that. */
static int load_profile(struct knob_machine *machine, struct sys_bus *bus, const char *names, bool automatic,
			struct err *err)
{
	struct sys_bus_reply reply = {0};
	int r = sys_bus_change(bus, machine->arena, &tuned, automatic ? "auto_profile" : "switch_profile",
			       automatic ? "" : "s", (const char *[]){automatic ? NULL : names, NULL}, SWITCH_S, &reply,
			       err);

	if (r < 0)
		return r;
	if (reply.count < 2)
		return err_set(err, EPROTO, "tuned", "its answer to a switch cannot be understood");
	return text_equal(sys_bus_text(&reply, 0), "true")
		   ? 0
		   : err_set(err, EPROTO, "tuned", "it says: %s", sys_bus_text(&reply, 1));
}

static int switch_profile(struct knob_machine *machine, struct sys_bus *bus, const char *names, bool automatic,
			  bool stopped, struct err *err)
{
	struct sys_bus_reply reply = {0};
	bool runs;
	int r = sys_bus_listen(bus, &tuned, "profile_changed", err);

	/* By itself it takes what it recommends now, which may be another profile than at the time. */
	if (r == 0 && automatic)
		r = ask_tuned(machine, "recommend_profile", 1, &reply, err);
	if (r < 0)
		return r;
	if (automatic)
		names = sys_bus_text(&reply, 0);
	sys_bus_forget(bus);
	r = load_profile(machine, bus, names, automatic, err);
	if (r == 0)
		r = ask_tuned(machine, "is_running", 1, &reply, err);
	if (r < 0)
		return r;
	runs = text_equal(sys_bus_text(&reply, 0), "true");
	/* After "off" or "stop" a profile is loaded and nothing is done with it. */
	if (!runs && !stopped)
		r = tell(machine, bus, "start", err);
	if (r == 0 && (runs || !stopped))
		r = wait_for_profile(machine, bus, names, err);
	if (r == 0 && runs && stopped)
		r = tell(machine, bus, "stop", err);
	return r;
}

static int set(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *names = text ? text : KNOB_TUNED_OFF;
	bool stopped = text_starts(names, KNOB_TUNED_STOPPED), automatic;
	struct sys_bus *bus;
	int r = knob_bus(machine, &bus, err);

	(void)where;
	if (r < 0)
		return r;
	if (text_equal(names, KNOB_TUNED_OFF))
		return tell(machine, bus, "disable", err);
	names += stopped ? strlen(KNOB_TUNED_STOPPED) : 0;
	automatic = text_starts(names, KNOB_TUNED_AUTO);
	names += automatic ? strlen(KNOB_TUNED_AUTO) : 0;
	return switch_profile(machine, bus, names, automatic, stopped, err);
}

/* The order of names is that of merging, so it counts; blanks do not, and tuned joins names by one. */
const struct knob_actuator knob_tuned_actuator = {.name = "tuned", .get = get, .set = set};

/* Words with one blank between them. */
static const char *one_blank(struct arena *arena, const char *text)
{
	const char *joined = "";

	for (const char *at = text; *at;) {
		size_t length;

		at += strspn(at, " \t");
		length = strcspn(at, " \t");
		if (length)
			joined = arena_printf(arena, "%s%s%.*s", joined, *joined ? " " : "", (int)length, at);
		at += length;
	}
	return joined;
}

int knob_tuned_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err)
{
	struct knob_point point = {.knob = knob, .name = ask->name, .where = "tuned", .label = ""};
	struct sys_bus_reply reply = {0};
	int r;

	if (ask->where)
		return err_set(err, EINVAL, ask->where, "%s is one for the whole host and takes no @WHERE", ask->name);
	/* Where tuned does not run there is no such knob, and this tells why. */
	r = ask_tuned(machine, "is_running", 1, &reply, err);
	if (r < 0)
		return r;
	point.new = one_blank(machine->arena, ask->value);
	if (text_equal(point.new, "auto")) {
		r = ask_tuned(machine, "recommend_profile", 1, &reply, err);
		if (r < 0)
			return r;
		point.new = arena_printf(machine->arena, KNOB_TUNED_AUTO "%s", sys_bus_text(&reply, 0));
	}
	knob_points_add(points, &point);
	return 0;
}

static const char *nearest(const struct sys_bus_reply *names, const char *name)
{
	const char *near = NULL;
	int best = 4;

	for (size_t i = 0; i < names->count; i++) {
		int distance = text_distance(sys_bus_text(names, i), name);

		if (distance < best) {
			best = distance;
			near = sys_bus_text(names, i);
		}
	}
	return near;
}

static bool is_among(const struct sys_bus_reply *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (text_equal(sys_bus_text(names, i), name))
			return true;
	return false;
}

int knob_tuned_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err)
{
	struct sys_bus_reply known = {0};
	const char *names = plan->points.items[step->first].new;
	int r;

	if (!names || !*names)
		return err_set(err, EINVAL, step->name, "it takes the name of a profile, auto or off");
	if (text_equal(names, KNOB_TUNED_OFF) || text_starts(names, KNOB_TUNED_AUTO))
		return 0;
	r = ask_tuned(machine, "profiles", 0, &known, err);
	for (const char *at = names; *at && r == 0;) {
		size_t length = strcspn(at, " ");
		const char *name = arena_strndup(machine->arena, at, length), *near;

		at += length + (at[length] != '\0');
		if (is_among(&known, name) || knob_plan_find(plan, KNOB_TUNED_OWN, name))
			continue;
		(void)err_set(err, EINVAL, name, "tuned has no such profile");
		near = nearest(&known, name);
		r = near ? err_hint(err, "did you mean \"%s\"? tuned-adm list shows all", near)
			 : err_hint(err, "tuned-adm list shows all");
	}
	return r;
}
