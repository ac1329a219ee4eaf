/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns who else writes the knobs. */
#include "knob_rivals.h"

#include <fnmatch.h>

#include "host.h"
#include "text.h"

/* Services that write once at boot are none: what they wrote is what was found. */
static const struct service {
	const char *daemon;
	const char *knobs; /* names or patterns of names, with blanks between them */
	const char *when, *instead;
} services[] = {
    {"power-profiles-daemon", "governor epp boost cpu_boost", "when its profile is switched",
     "powerprofilesctl set performance, balanced or power-saver, or hvtune set service.power-profiles-daemon=off"},
    {"tlp", "governor epp boost cpu_boost min_freq max_freq amd_pstate", "at boot and when the power supply changes",
     "its settings in /etc/tlp.d, or hvtune set service.tlp=off"},
    {"auto-cpufreq", "governor epp boost cpu_boost min_freq max_freq", "every few seconds",
     "/etc/auto-cpufreq.conf, or hvtune set service.auto-cpufreq=off"},
    {"system76-power", "governor epp boost cpu_boost min_freq max_freq", "when its profile is switched",
     "system76-power profile, or hvtune set service.system76-power=off"},
    {"laptop-mode", "governor min_freq max_freq", "when the power supply changes", "/etc/laptop-mode/conf.d"},
    {"gamemoded", "governor x3d_mode", "while a game runs", "/etc/gamemode.ini"},
    {"ksmtuned", "ksm ksm.pages_to_scan ksm.sleep_ms", "when memory gets short and when it is free again",
     "/etc/ksmtuned.conf, or hvtune set service.ksmtuned=off"},
    {"irqbalance", "irq irq.*", "every ten seconds",
     "its ban list (IRQBALANCE_BANNED_CPULIST), or hvtune set service.irqbalance=off"},
    {"numad", "vm.pins vm.emulator vm.iothreads vm.memory", "as the load moves", "hvtune set service.numad=off"},
};

/* Options of tuned's plug-ins that are no path of a knob; of [sysctl] and [sysfs] the option tells the path. */
static const struct {
	const char *type, *option, *knob;
} tuned_options[] = {
    {"cpu", "governor", "governor"},
    {"cpu", "energy_performance_preference", "epp"},
    {"cpu", "boost", "boost"},
    {"cpu", "pm_qos_resume_latency_us", "latency"},
    {"vm", "transparent_hugepages", "thp"},
    {"vm", "transparent_hugepage", "thp"},
    {"vm", "transparent_hugepage.defrag", "thp.defrag"},
    {"vm", "dirty_bytes", "dirty_bytes"},
    {"vm", "dirty_ratio", "dirty_ratio"},
    {"vm", "dirty_background_bytes", "dirty_background_bytes"},
    {"vm", "dirty_background_ratio", "dirty_background_ratio"},
};

/* Is the knob one of a service's? Its members and a family's own name both count. */
static bool is_written_by(const struct service *service, const struct knob *knob)
{
	char pattern[64];

	for (const char *at = service->knobs; *at;) {
		size_t length = strcspn(at, " ");

		(void)snprintf(pattern, sizeof(pattern), "%.*s", (int)length, at);
		if (fnmatch(pattern, knob->name, 0) == 0)
			return true;
		at += length + strspn(at + length, " ");
	}
	return false;
}

/* Does the path of a knob, in which '*' stands for a number, mean this setting of [sysctl] or [sysfs]? */
static bool is_path_of(const struct knob *knob, const struct tuned_setting *setting)
{
	static const char sysctls[] = "/proc/sys/";
	const char *path = knob->path, *option = setting->option;

	if (!path)
		return false;
	if (text_equal(setting->type, "sysfs"))
		return fnmatch(option, path, FNM_PATHNAME) == 0 || fnmatch(path, option, FNM_PATHNAME) == 0;
	if (!text_equal(setting->type, "sysctl") || !text_starts(path, sysctls))
		return false;
	path += strlen(sysctls);
	/* "vm.swappiness" and "vm/swappiness" are the same to sysctl. */
	for (; *path && *option; path++, option++)
		if (*path != *option && !(*path == '/' && *option == '.'))
			return false;
	return !*path && !*option;
}

static const struct tuned_setting *tuned_setting_of(const struct host_tuned *tuned, const struct knob *knob,
						    const struct tuned_profile **ret_profile)
{
	/* The last one counts. */
	for (int i = tuned->profile_count; i-- > 0;)
		for (int j = tuned->profiles[i].setting_count; j-- > 0;) {
			const struct tuned_setting *setting = &tuned->profiles[i].settings[j];
			bool is_it = is_path_of(knob, setting);

			for (size_t k = 0; k < ARRAY_SIZE(tuned_options) && !is_it; k++)
				is_it = text_equal(tuned_options[k].type, setting->type) &&
					text_equal(tuned_options[k].option, setting->option) &&
					text_equal(tuned_options[k].knob, knob->name);
			if (is_it) {
				*ret_profile = &tuned->profiles[i];
				return setting;
			}
		}
	return NULL;
}

static bool could_be_tuned(const struct knob *knob)
{
	for (size_t i = 0; i < ARRAY_SIZE(tuned_options); i++)
		if (text_equal(tuned_options[i].knob, knob->name))
			return true;
	return knob->path && (text_starts(knob->path, "/proc/sys/") || text_starts(knob->path, "/sys/"));
}

/* "governor, epp" */
static const char *names_of(struct arena *arena, const char *names, const char *name)
{
	return *names ? arena_printf(arena, "%s, %s", names, name) : name;
}

static const char *tuned_text(struct knob_machine *machine, const struct host_tuned *tuned,
			      const struct knob *const *knobs, size_t count)
{
	const struct tuned_profile *profile = NULL;
	const char *list = "";

	for (size_t i = 0; i < count; i++) {
		const struct tuned_setting *setting = tuned_setting_of(tuned, knobs[i], &profile);

		if (setting)
			list = names_of(machine->arena, list,
					arena_printf(machine->arena, "%s (%s)", knobs[i]->name, setting->value));
	}
	if (!*list)
		return NULL;
	return arena_printf(machine->arena,
			    "tuned's profile %s sets %s too, whenever tuned starts or is given a profile; instead: "
			    "hvtune set tuned.profile=NAME, or set --through tuned, which hands the setting to it",
			    profile->name, list);
}

static const char *service_text(struct knob_machine *machine, const struct service *service,
				const struct knob *const *knobs, size_t count)
{
	const char *list = "";

	for (size_t i = 0; i < count; i++)
		if (is_written_by(service, knobs[i]))
			list = names_of(machine->arena, list, knobs[i]->name);
	return *list ? arena_printf(machine->arena, "%s runs and sets %s too, %s; instead: %s", service->daemon, list,
				    service->when, service->instead)
		     : NULL;
}

static bool could_be_any(const struct knob *const *knobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (could_be_tuned(knobs[i]))
			return true;
		for (size_t j = 0; j < ARRAY_SIZE(services); j++)
			if (is_written_by(&services[j], knobs[i]))
				return true;
	}
	return false;
}

size_t knob_rivals(struct knob_machine *machine, const struct knob *const *knobs, size_t count, struct knob_rival **ret)
{
	struct host *host;
	const char *text;
	size_t found = 0;

	*ret = ARENA_ARRAY(machine->arena, ARRAY_SIZE(services) + 1, struct knob_rival);
	if (!could_be_any(knobs, count))
		return 0;
	/* A host of which nothing but its services is read. */
	host = ARENA_NEW(machine->arena, struct host);
	host->arena = machine->arena;
	host->sys = machine->sys;
	host_daemons_read(host);
	text =
	    host_daemon_runs(&host->daemons, "tuned") ? tuned_text(machine, &host->daemons.tuned, knobs, count) : NULL;
	if (text)
		(*ret)[found++] = (struct knob_rival){"tuned", text};
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		text = host_daemon_runs(&host->daemons, services[i].daemon)
			   ? service_text(machine, &services[i], knobs, count)
			   : NULL;
		if (text)
			(*ret)[found++] = (struct knob_rival){services[i].daemon, text};
	}
	return found;
}

/* Does the plan itself set the service or its profile? Then whoever asked knows of it. */
static bool is_dealt_with(struct knob_machine *machine, const struct knob_plan *plan, const char *daemon)
{
	const char *service = arena_printf(machine->arena, "service.%s", daemon);
	const char *profile = arena_printf(machine->arena, "%s.profile", daemon);

	for (size_t i = 0; i < plan->step_count; i++)
		if (text_equal(plan->steps[i].name, service) || text_equal(plan->steps[i].name, profile))
			return true;
	return false;
}

void knob_rivals_note(struct knob_machine *machine, struct knob_plan *plan)
{
	const struct knob **knobs = ARENA_ARRAY(machine->arena, plan->step_count + 1, const struct knob *);
	struct knob_rival *rivals;
	size_t count = 0, found;

	for (size_t i = 0; i < plan->step_count; i++) {
		bool known = false;

		for (size_t j = 0; j < count && !known; j++)
			known = knobs[j] == plan->steps[i].knob;
		if (!known)
			knobs[count++] = plan->steps[i].knob;
	}
	found = knob_rivals(machine, knobs, count, &rivals);
	for (size_t i = 0; i < found; i++)
		if (!is_dealt_with(machine, plan, rivals[i].daemon))
			knob_plan_note(machine, plan, rivals[i].text);
}
