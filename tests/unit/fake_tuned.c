/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tuned of the tests. It does what tuned/daemon/{controller,daemon}.py and the plug-ins of tuned 2.20 do, in
 * their order: of each setting the value is saved just before it is written, per CPU and option by option; taking back
 * goes the same way in reverse, and a write that fails is passed over in silence. It answers a switch when the new
 * profile is loaded, applies it after that, and then sends profile_changed.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "fake_internal.h"
#include "host_tuned_parse.h"
#include "text.h"

enum { MOST_SETTINGS = 64, MOST_SAVED = 512 };

#define NAME "com.redhat.tuned"
#define OBJECT "/Tuned"
#define CONTROL "com.redhat.tuned.control"

struct setting {
	const char *section, *option, *value;
};

struct saved {
	const char *path, *value;
};

/* One process serves one tuned. */
static struct tuned {
	struct fake *fake;
	const char *profile; /* NULL: none */
	bool manual, running;
	struct setting settings[MOST_SETTINGS];
	int setting_count;
	struct saved saved[MOST_SAVED];
	int saved_count, writes;
} tuned;

void fake_tuned_install(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/etc/tuned/active_profile", "balanced\n"},
	    {"/etc/tuned/profile_mode", "manual\n"},
	    {"/etc/tuned/tuned-main.conf", "daemon = 1\n"},
	    {"/usr/lib/python3/dist-packages/tuned/version.py",
	     "TUNED_VERSION_MAJOR = 2\nTUNED_VERSION_MINOR = 20\nTUNED_VERSION_PATCH = 0\n"},
	    /* As in 2.20: without EPP. */
	    {"/usr/lib/tuned/balanced/tuned.conf", "[main]\nsummary=x\n[cpu]\ngovernor=conservative|powersave\n"},
	    {"/usr/lib/tuned/throughput-performance/tuned.conf",
	     "[main]\nsummary=x\n[cpu]\ngovernor=performance\nenergy_performance_preference=performance\n"
	     "[sysctl]\nvm.dirty_ratio = 40\nvm.swappiness=10\n"},
	    {"/usr/lib/tuned/virtual-host/tuned.conf",
	     "[main]\ninclude=throughput-performance\n[cpu]\nforce_latency=cstate.id_no_zero:3|70\n"
	     "[vm]\ntransparent_hugepages=always\n[sysfs]\n/sys/kernel/mm/ksm/run=0\n"},
	    {"/usr/lib/tuned/powersave/tuned.conf", "[cpu]\ngovernor=powersave\nenergy_performance_preference=power\n"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
}

static const char *path_of_profile(const char *name)
{
	static const char *const places[] = {"/etc/tuned", "/usr/lib/tuned"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *path = arena_printf(tuned.fake->arena, "%s/%s/tuned.conf", places[i], name);

		if (access(arena_printf(tuned.fake->arena, "%s%s", tuned.fake->kernel->tree->root, path), F_OK) == 0)
			return path;
	}
	return NULL;
}

static void take_setting(const struct tuned_option *option)
{
	for (int i = 0; i < tuned.setting_count; i++)
		if (text_equal(tuned.settings[i].section, option->section) &&
		    text_equal(tuned.settings[i].option, option->name)) {
			tuned.settings[i].value = option->value;
			return;
		}
	if (tuned.setting_count < MOST_SETTINGS)
		tuned.settings[tuned.setting_count++] = (struct setting){option->section, option->name, option->value};
}

static void drop_settings(const char *section, const char *names)
{
	int kept = 0;

	for (int i = 0; i < tuned.setting_count; i++)
		if (!text_equal(tuned.settings[i].section, section) ||
		    !text_has_word(names, ", ", tuned.settings[i].option))
			tuned.settings[kept++] = tuned.settings[i];
	tuned.setting_count = kept;
}

static bool load(const char *name);

static bool load_list(const char *names, const char *separators)
{
	for (const char *at = names; *at;) {
		size_t length = strcspn(at, separators);

		if (length && !load(arena_strndup(tuned.fake->arena, at, length)))
			return false;
		at += length + (at[length] != '\0');
	}
	return true;
}

/* False: there is no such profile, or no reading it. */
static bool load(const char *name)
{
	const char *path = path_of_profile(name);
	struct tuned_file file;
	struct err ignored = {0};
	char text[4096];

	if (!path)
		return false;
	kernel_read(tuned.fake->kernel, path, text, sizeof(text));
	if (tuned_file_parse(tuned.fake->arena, path, arena_strdup(tuned.fake->arena, text), &file, &ignored) < 0)
		return false;
	for (int i = 0; i < file.count; i++)
		if (text_equal(file.options[i].section, "main") && text_equal(file.options[i].name, "include") &&
		    !load_list(file.options[i].value, ","))
			return false;
	for (int i = 0; i < file.count; i++)
		if (text_equal(file.options[i].name, "drop"))
			drop_settings(file.options[i].section, file.options[i].value);
	for (int i = 0; i < file.count; i++)
		if (!text_equal(file.options[i].section, "main") && !text_equal(file.options[i].name, "drop"))
			take_setting(&file.options[i]);
	return true;
}

/* The word in brackets, as tuned reads such files. */
static const char *active_option(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	return close ? arena_strndup(tuned.fake->arena, open + 1, (size_t)(close - open - 1)) : text;
}

static void write_one(const char *path, const char *value)
{
	struct fake_orders *orders = tuned.fake->orders;
	char before[256];

	kernel_read(tuned.fake->kernel, path, before, sizeof(before));
	if (!*before)
		return;
	if (tuned.saved_count < MOST_SAVED)
		tuned.saved[tuned.saved_count++] =
		    (struct saved){path, active_option(arena_strdup(tuned.fake->arena, before))};
	kernel_write(tuned.fake->kernel, path, value);
	tuned.writes++;
	if (tuned.writes == orders->tuned_dies_after)
		_exit(1);
	if (tuned.writes == orders->caller_dies_after)
		(void)kill(orders->caller, SIGKILL);
}

/* The first alternative that the policy has. */
static const char *governor_of(const char *policy, const char *alternatives)
{
	struct arena *arena = tuned.fake->arena;
	char words[256];

	kernel_read(tuned.fake->kernel, arena_printf(arena, "%s/scaling_available_governors", policy), words,
		    sizeof(words));
	for (const char *at = alternatives; *at;) {
		size_t length = strcspn(at, "|");
		const char *word = arena_strndup(arena, at, length);

		if (text_has_word(words, " ", word))
			return word;
		at += length + (at[length] != '\0');
	}
	return alternatives;
}

static void apply_cpu(const struct setting *setting)
{
	struct arena *arena = tuned.fake->arena;

	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		const char *policy = arena_printf(arena, "/sys/devices/system/cpu/cpufreq/policy%d", cpu);

		if (text_equal(setting->option, "governor"))
			write_one(arena_printf(arena, "%s/scaling_governor", policy),
				  governor_of(policy, setting->value));
		if (text_equal(setting->option, "energy_performance_preference"))
			write_one(arena_printf(arena, "%s/energy_performance_preference", policy), setting->value);
	}
}

/* A path with or without a '*' for the number of the CPU. */
static void apply_path(const struct setting *setting)
{
	const char *star = strchr(setting->option, '*');

	if (!star)
		write_one(setting->option, setting->value);
	for (int cpu = 0; star && cpu < KERNEL_CPUS; cpu++)
		write_one(arena_printf(tuned.fake->arena, "%.*s%d%s", (int)(star - setting->option), setting->option,
				       cpu, star + 1),
			  setting->value);
}

static void apply_setting(const struct setting *setting)
{
	struct arena *arena = tuned.fake->arena;

	if (text_equal(setting->section, "cpu"))
		apply_cpu(setting);
	if (text_equal(setting->section, "sysfs"))
		apply_path(setting);
	if (text_equal(setting->option, "transparent_hugepages"))
		write_one("/sys/kernel/mm/transparent_hugepage/enabled", setting->value);
	if (text_equal(setting->section, "sysctl")) {
		char *path = arena_printf(arena, "/proc/sys/%s", setting->option);

		for (char *dot = path; (dot = strchr(dot, '.'));)
			*dot = '/';
		write_one(path, setting->value);
	}
}

static void save_active(void)
{
	tree_write(tuned.fake->kernel->tree, "/etc/tuned/active_profile",
		   arena_printf(tuned.fake->arena, "%s\n", tuned.profile ? tuned.profile : ""));
	tree_write(tuned.fake->kernel->tree, "/etc/tuned/profile_mode", tuned.manual ? "manual\n" : "auto\n");
}

static void apply_profile(void)
{
	save_active();
	tuned.writes = 0;
	for (int i = 0; i < tuned.setting_count; i++)
		apply_setting(&tuned.settings[i]);
	tuned.running = true;
}

static void roll_back(void)
{
	while (tuned.saved_count > 0) {
		const struct saved *saved = &tuned.saved[--tuned.saved_count];

		kernel_write(tuned.fake->kernel, saved->path, saved->value);
	}
	tuned.running = false;
}

static bool load_all(const char *names)
{
	tuned.setting_count = 0;
	return load_list(names, " ");
}

static int tell_changed(const char *names, bool result, const char *text)
{
	return sd_bus_emit_signal(tuned.fake->bus, OBJECT, CONTROL, "profile_changed", "sbs", names, result, text);
}

static int switch_to(sd_bus_message *message, const char *names, bool manual)
{
	bool was_running = tuned.running, loaded;
	const char *before = tuned.profile, *text = "OK";
	int r;

	if (was_running)
		roll_back();
	loaded = load_all(names);
	if (!loaded) {
		text = arena_printf(tuned.fake->arena, "Requested profile '%s' doesn't exist.", names);
		(void)tell_changed(names, false, text);
		(void)load_all(before ? before : "");
	} else {
		tuned.profile = arena_strdup(tuned.fake->arena, names);
		tuned.manual = manual;
	}
	r = sd_bus_reply_method_return(message, "(bs)", loaded, text);
	(void)sd_bus_flush(tuned.fake->bus);
	if (was_running && tuned.profile) {
		apply_profile();
		(void)tell_changed(tuned.profile, true, "OK");
	}
	return r;
}

static int on_switch(sd_bus_message *message)
{
	const char *names = "";

	fake_must(sd_bus_message_read(message, "s", &names), "switch_profile");
	return switch_to(message, names, true);
}

static int on_auto(sd_bus_message *message)
{
	return switch_to(message, "balanced", false);
}

static int on_start(sd_bus_message *message)
{
	bool can = tuned.profile && !tuned.running;
	int r = sd_bus_reply_method_return(message, "b", can || tuned.running);

	(void)sd_bus_flush(tuned.fake->bus);
	if (can) {
		apply_profile();
		(void)tell_changed(tuned.profile, true, "OK");
	}
	return r;
}

static int on_stop(sd_bus_message *message)
{
	roll_back();
	return sd_bus_reply_method_return(message, "b", 1);
}

static int on_disable(sd_bus_message *message)
{
	roll_back();
	tuned.profile = NULL;
	tuned.manual = true;
	save_active();
	return sd_bus_reply_method_return(message, "b", 1);
}

static int on_is_running(sd_bus_message *message)
{
	return sd_bus_reply_method_return(message, "b", tuned.running);
}

static int on_active(sd_bus_message *message)
{
	return sd_bus_reply_method_return(message, "s", tuned.profile ? tuned.profile : "");
}

static int on_post_loaded(sd_bus_message *message)
{
	return sd_bus_reply_method_return(message, "s", "");
}

static int on_mode(sd_bus_message *message)
{
	return sd_bus_reply_method_return(message, "(ss)", tuned.manual ? "manual" : "auto", "");
}

static int on_recommend(sd_bus_message *message)
{
	return sd_bus_reply_method_return(message, "s", "balanced");
}

static int on_profiles(sd_bus_message *message)
{
	return sd_bus_reply_method_return(message, "as", 5, "balanced", "powersave", "throughput-performance",
					  "virtual-host", "hvtune");
}

static int on_message(sd_bus_message *message, void *data, sd_bus_error *error)
{
	static const struct {
		const char *method;
		int (*answer)(sd_bus_message *message);
	} methods[] = {
	    {"active_profile", on_active},
	    {"auto_profile", on_auto},
	    {"disable", on_disable},
	    {"is_running", on_is_running},
	    {"profile_mode", on_mode},
	    {"profiles", on_profiles},
	    {"post_loaded_profile", on_post_loaded},
	    {"recommend_profile", on_recommend},
	    {"start", on_start},
	    {"stop", on_stop},
	    {"switch_profile", on_switch},
	};

	(void)data, (void)error;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (sd_bus_message_is_method_call(message, CONTROL, methods[i].method))
			return methods[i].answer(message);
	return 0;
}

void fake_tuned_make(struct fake *fake)
{
	tuned = (struct tuned){.fake = fake};
	fake_must(sd_bus_add_object(fake->bus, NULL, OBJECT, on_message, NULL), "sd_bus_add_object");
}

/* The real one takes its name when the profile is applied, and gives it back when all is rolled back. */
void fake_tuned_run(bool on)
{
	char profile[256], mode[64];

	if (!on) {
		roll_back();
		tuned.profile = NULL;
		fake_must(sd_bus_release_name(tuned.fake->bus, NAME), "sd_bus_release_name");
		return;
	}
	kernel_read(tuned.fake->kernel, "/etc/tuned/active_profile", profile, sizeof(profile));
	kernel_read(tuned.fake->kernel, "/etc/tuned/profile_mode", mode, sizeof(mode));
	tuned.manual = !text_equal(mode, "auto");
	if (*profile && load_all(profile)) {
		tuned.profile = arena_strdup(tuned.fake->arena, profile);
		apply_profile();
	}
	fake_must(sd_bus_request_name(tuned.fake->bus, NAME, 0), "sd_bus_request_name");
}
