/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a switch of tuned's profile entails: is there such a profile, what does it shut out, and is EPP left
 * behind?
 *
 * With amd_pstate active the governor performance forces EPP to performance, and another governor does not bring it
 * back (drivers/cpufreq/amd-pstate.c). tuned saves EPP after its own write of the governor, so it saves "performance"
 * and restores that, in the wrong order besides (plugin_cpu.py). A profile that sets EPP itself hides this; one that
 * does not (balanced before 2.22) leaves all CPUs at full power until somebody writes EPP or the host is rebooted.
 */
#include <errno.h>

#include "cpuset.h"
#include "knob_journal.h"
#include "knob_tuned_own.h"
#include "text.h"

const struct host_tuned *knob_tuned_files(struct knob_machine *machine, struct host **ret_host)
{
	struct host *host = ARENA_NEW(machine->arena, struct host);

	host->arena = machine->arena;
	host->sys = machine->sys;
	host_tuned_read(host);
	if (ret_host)
		*ret_host = host;
	return &host->daemons.tuned;
}

static void add_settings(struct tuned_profile *all, const struct tuned_profile *more, struct arena *arena)
{
	size_t count = (size_t)all->setting_count + (size_t)more->setting_count;
	struct tuned_setting *settings = ARENA_ARRAY(arena, count + 1, struct tuned_setting);

	if (all->setting_count)
		memcpy(settings, all->settings, (size_t)all->setting_count * sizeof(*settings));
	if (more->setting_count)
		memcpy(settings + all->setting_count, more->settings, (size_t)more->setting_count * sizeof(*settings));
	all->settings = settings;
	all->setting_count = (int)count;
}

const struct tuned_profile *knob_tuned_profile(struct knob_machine *machine, const char *names)
{
	struct tuned_profile *all;
	struct host *host;

	if (!names || !*names || text_equal(names, KNOB_TUNED_OFF) || text_starts(names, KNOB_TUNED_STOPPED))
		return NULL;
	(void)knob_tuned_files(machine, &host);
	names += text_starts(names, KNOB_TUNED_AUTO) ? strlen(KNOB_TUNED_AUTO) : 0;
	all = ARENA_NEW(machine->arena, struct tuned_profile);
	all->name = names;
	for (const char *at = names; *at;) {
		size_t length = strcspn(at, " ");
		struct tuned_profile one;

		tuned_profile_load(host, arena_strndup(machine->arena, at, length), &one);
		/* The last setting counts: see tuned_profile_setting(). */
		add_settings(all, &one, machine->arena);
		at += length + (at[length] != '\0');
	}
	return all;
}

static bool is_performance(const char *epp)
{
	return text_equal(epp, "performance") || text_equal(epp, "0");
}

static struct knob_points points_of(struct knob_machine *machine, const char *name)
{
	const struct knob_ask all = {.name = name, .value = ""};
	struct knob_points points = {.arena = machine->arena};
	struct err ignored = {0};

	if (knob_expand(machine, &all, KNOB_EXPAND_READABLE, &points, &ignored) < 0)
		points.count = 0;
	return points;
}

/* What EPP of a point was before the newest change in force that took it to performance; NULL: the journal has none. */
static const char *epp_before(const struct knob_journal *journal, const char *where, unsigned *ret_id)
{
	for (size_t i = journal->count; i-- > 0;) {
		const struct knob_change *change = &journal->changes[i];
		const struct {
			const struct knob_point *points;
			size_t count;
		} lists[] = {{change->points, change->point_count}, {change->guards, change->guard_count}};

		if (change->state != KNOB_CHANGE_DONE)
			continue;
		for (size_t list = 0; list < ARRAY_SIZE(lists); list++)
			for (size_t j = 0; j < lists[list].count; j++) {
				const struct knob_point *point = &lists[list].points[j];

				if (text_equal(point->name, "epp") && text_equal(point->where, where) && point->old &&
				    !is_performance(point->old)) {
					*ret_id = change->id;
					return point->old;
				}
			}
	}
	return NULL;
}

/* CPUs whose EPP is to go back to the same value. */
struct group {
	const char *value;
	unsigned change;
	struct cpuset cpus;
};

static int cpu_of(const struct knob_point *point)
{
	int64_t cpu = -1;

	(void)text_int(point->label + strcspn(point->label, "0123456789"), 10, &cpu);
	return (int)cpu;
}

static size_t group_by_epp_before(struct knob_machine *machine, const struct knob_points *epp, struct group *groups)
{
	struct knob_journal journal = {0};
	struct err ignored = {0};
	size_t count = 0;

	/* Only root reads the journal; without it nothing is known of before. */
	if (knob_journal_read(machine, &journal, &ignored) < 0)
		return 0;
	for (size_t i = 0; i < epp->count; i++) {
		unsigned id = 0;
		const char *value =
		    is_performance(epp->items[i].old) ? epp_before(&journal, epp->items[i].where, &id) : NULL;
		size_t at = 0;

		if (!value)
			continue;
		while (at < count && !text_equal(groups[at].value, value))
			at++;
		if (at == count)
			groups[count++] = (struct group){.value = value, .change = id};
		cpuset_add(&groups[at].cpus, cpu_of(&epp->items[i]));
	}
	return count;
}

static void restore_epp(struct knob_machine *machine, const struct knob_point *point, const struct knob_points *epp,
			struct knob_following *following)
{
	struct group *groups = ARENA_ARRAY(machine->arena, epp->count + 1, struct group);
	size_t count = group_by_epp_before(machine, epp, groups);

	for (size_t i = 0; i < count; i++) {
		const struct knob_ask ask = {"epp", cpuset_format(machine->arena, &groups[i].cpus), groups[i].value};

		knob_following_add(machine, following, &ask);
		knob_plan_note(
		    machine, following->plan,
		    arena_printf(machine->arena,
				 "epp: %s as before change %u; tuned's %s sets none and would leave performance",
				 groups[i].value, groups[i].change, point->new));
	}
	if (count == 0)
		knob_plan_note(
		    machine, following->plan,
		    arena_printf(machine->arena,
				 "epp: stays at performance, for %s sets none and tuned does not bring the old one "
				 "back; to lower it too: hvtune set tuned.profile=%s epp=balance_performance",
				 point->new, point->new));
}

static void follow_epp(struct knob_machine *machine, const struct knob_point *point,
		       const struct tuned_profile *profile, struct knob_following *following)
{
	const struct tuned_setting *governor = profile ? tuned_profile_setting(profile, "cpu", "governor") : NULL;
	struct knob_points epp, governors;
	bool forced = false;

	if (knob_following_asks(following, "epp") ||
	    (profile && tuned_profile_setting(profile, "cpu", "energy_performance_preference")) ||
	    (governor && text_has_word(governor->value, "|", "performance")))
		return;
	epp = points_of(machine, "epp");
	governors = points_of(machine, "governor");
	for (size_t i = 0; i < epp.count && i < governors.count; i++)
		forced =
		    forced || (is_performance(epp.items[i].old) && text_equal(governors.items[i].old, "performance"));
	if (!forced)
		return;
	if (governor) {
		restore_epp(machine, point, &epp, following);
		return;
	}
	/* Which governor comes back is known to tuned alone; EPP cannot be written while it is performance. */
	knob_plan_note(
	    machine, following->plan,
	    arena_printf(machine->arena,
			 "epp: tuned leaves it at performance; to bring both back: hvtune set tuned.profile=%s "
			 "governor=powersave epp=balance_performance",
			 point->new));
}

/* The settings of the new profile; of one that the same plan writes, from its text. */
static const struct tuned_profile *new_profile(struct knob_machine *machine, const char *name,
					       const struct knob_following *following)
{
	struct tuned_profile *profile;
	struct err ignored = {0};
	struct host *host;

	for (size_t i = 0; i < following->count; i++) {
		const struct knob_ask *ask = &following->asks[i];

		if (!text_equal(ask->name, KNOB_TUNED_OWN) || !text_equal(ask->where, name))
			continue;
		(void)knob_tuned_files(machine, &host);
		profile = ARENA_NEW(machine->arena, struct tuned_profile);
		(void)tuned_profile_parse(host, name, ask->value, profile, &ignored);
		return profile;
	}
	return knob_tuned_profile(machine, name);
}

int knob_tuned_follow(struct knob_machine *machine, const struct knob_point *point, struct knob_following *following,
		      struct err *err)
{
	const struct tuned_profile *profile = new_profile(machine, point->new, following);
	const struct tuned_setting *latency = profile ? tuned_profile_setting(profile, "cpu", "force_latency") : NULL;

	(void)err;
	follow_epp(machine, point, profile, following);
	if (latency && !text_equal(latency->value, "None"))
		knob_plan_note(
		    machine, following->plan,
		    arena_printf(machine->arena,
				 "%s holds /dev/cpu_dma_latency (force_latency=%s): idle states that take longer to "
				 "leave are shut on all CPUs (hvtune explain tuned.latency-shuts-out-states)",
				 point->new, latency->value));
	return 0;
}
