/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the systemd of the tests: unit files of the simulated machine, read at the first question and again at a Reload
 * only, as systemd does; jobs that take a moment; enablement by files. What a unit does when it starts or stops is in
 * the table of effects. What runs is a file below /fake, so that a dump of the machine tells it.
 */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "cpuset.h"
#include "fake_internal.h"
#include "text.h"

enum { MOST_UNITS = 32, JOB_POLLS = 2 };

#define OBJECT "/org/freedesktop/systemd1"
#define SERVICE "org.freedesktop.systemd1"

#define WANTS_DIR "/etc/systemd/system/multi-user.target.wants"
#define RUNNING_DIR "/fake/running"

struct unit {
	const char *name;
	const char *text;    /* of its file when it was loaded; NULL: there was none */
	const char *allowed; /* AllowedCPUs of its drop-ins when it was loaded; "" without */
	bool running, failed;
	int polls_left; /* so often is it told that its job goes on */
};

static struct systemd {
	struct fake *fake;
	struct unit units[MOST_UNITS];
	int count;
} systemd;

static const char *const unit_dirs[] = {"/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"};

static const char *printed(const char *format, const char *name)
{
	return arena_printf(systemd.fake->arena, "%s%s", format, name);
}

static bool exists(const char *path)
{
	return access(printed(systemd.fake->kernel->tree->root, path), F_OK) == 0;
}

static void remove_file(const char *path)
{
	(void)unlink(printed(systemd.fake->kernel->tree->root, path));
}

/* The last AllowedCPUs of the drop-ins, by the names of the files; an empty one starts anew. */
static const char *allowed_cpus(const char *name)
{
	static const char *const files[] = {"/etc/systemd/system/%s.d/50-owner.conf",
					    "/etc/systemd/system/%s.d/90-hvtune.conf",
					    "/run/systemd/system/%s.d/91-hvtune.conf"};
	const char *allowed = "";

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[256], text[4096];

		(void)snprintf(path, sizeof(path), "%.*s%s%s", (int)(strchr(files[i], '%') - files[i]), files[i], name,
			       strchr(files[i], '%') + 2);
		kernel_read(systemd.fake->kernel, path, text, sizeof(text));
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			if (text_starts(line, "AllowedCPUs="))
				allowed = arena_strdup(systemd.fake->arena, strchr(line, '=') + 1);
	}
	return allowed;
}

static void load(struct unit *unit)
{
	char text[4096];

	unit->allowed = allowed_cpus(unit->name);
	unit->text = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(unit_dirs) && !unit->text; i++) {
		const char *path = arena_printf(systemd.fake->arena, "%s/%s", unit_dirs[i], unit->name);

		if (!exists(path))
			continue;
		kernel_read(systemd.fake->kernel, path, text, sizeof(text));
		unit->text = arena_strdup(systemd.fake->arena, text);
	}
}

static struct unit *unit_of(const char *name)
{
	struct unit *unit = &systemd.units[systemd.count];

	for (int i = 0; i < systemd.count; i++)
		if (text_equal(systemd.units[i].name, name))
			return &systemd.units[i];
	if (systemd.count == MOST_UNITS)
		fake_must(-E2BIG, name);
	systemd.count++;
	*unit = (struct unit){.name = arena_strdup(systemd.fake->arena, name)};
	unit->running = exists(printed(RUNNING_DIR "/", name));
	load(unit);
	return unit;
}

static void start_ksmtuned(bool on)
{
	kernel_write(systemd.fake->kernel, "/sys/kernel/mm/ksm/run", on ? "1" : "0");
}

/* What holds the wake-up time of all CPUs, by unit. */
static void hold_latency(const struct unit *unit, bool on)
{
	const char *verb = unit->text ? strstr(unit->text, "hold-latency ") : NULL;
	const char *mark = printed("/fake/latency/", unit->name);

	if (on && verb)
		tree_write(systemd.fake->kernel->tree, mark,
			   arena_printf(systemd.fake->arena, "%.*s\n", (int)strcspn(strchr(verb, ' ') + 1, "\n"),
					strchr(verb, ' ') + 1));
	else
		remove_file(mark);
}

static const struct {
	const char *name;
	void (*act)(bool on);
} effects[] = {
    {"tuned.service", fake_tuned_run},
    {"ksmtuned.service", start_ksmtuned},
};

static void run(struct unit *unit, bool on)
{
	const char *mark = printed(RUNNING_DIR "/", unit->name);

	unit->polls_left = JOB_POLLS;
	unit->failed = on && (!unit->text || strstr(unit->text, "/bin/false"));
	if (unit->failed)
		on = false;
	if (unit->running == on)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		if (text_equal(unit->name, effects[i].name))
			effects[i].act(on);
	if (text_starts(unit->name, "hvtune-latency"))
		hold_latency(unit, on);
	unit->running = on;
	if (on)
		tree_write(systemd.fake->kernel->tree, mark, "yes\n");
	else
		remove_file(mark);
}

static const char *enable_file(const char *name)
{
	return printed(WANTS_DIR "/", name);
}

static const char *file_state(const struct unit *unit)
{
	struct unit now = *unit;

	load(&now);
	if (exists(printed("/fake/masked/", unit->name)))
		return "masked";
	if (!now.text)
		return NULL;
	if (!strstr(now.text, "[Install]"))
		return "static";
	return exists(enable_file(unit->name)) ? "enabled" : "disabled";
}

static int no_such(sd_bus_message *message, const char *name)
{
	return sd_bus_reply_method_errorf(message, SERVICE ".NoSuchUnit", "Unit %s not found.", name);
}

static int on_load(sd_bus_message *message)
{
	const char *name = "";

	fake_must(sd_bus_message_read(message, "s", &name), "LoadUnit");
	return sd_bus_reply_method_return(
	    message, "o", arena_printf(systemd.fake->arena, OBJECT "/unit/%d", (int)(unit_of(name) - systemd.units)));
}

static int on_file_state(sd_bus_message *message)
{
	const char *name = "", *state;

	fake_must(sd_bus_message_read(message, "s", &name), "GetUnitFileState");
	state = file_state(unit_of(name));
	return state ? sd_bus_reply_method_return(message, "s", state)
		     : sd_bus_reply_method_errorf(message, "org.freedesktop.DBus.Error.FileNotFound",
						  "No such file or directory");
}

static int on_job(sd_bus_message *message, bool stop_first, bool start)
{
	const char *name = "", *mode = "";
	struct unit *unit;

	fake_must(sd_bus_message_read(message, "ss", &name, &mode), "job");
	unit = unit_of(name);
	if (start && !unit->text)
		return no_such(message, name);
	if (stop_first)
		run(unit, false);
	if (start)
		run(unit, true);
	return sd_bus_reply_method_return(message, "o", OBJECT "/job/1");
}

static int on_start(sd_bus_message *message)
{
	return on_job(message, false, true);
}

static int on_stop(sd_bus_message *message)
{
	return on_job(message, true, false);
}

static int on_restart(sd_bus_message *message)
{
	return on_job(message, true, true);
}

static int on_reload(sd_bus_message *message)
{
	for (int i = 0; i < systemd.count; i++) {
		const char *group = printed("/sys/fs/cgroup/", systemd.units[i].name);

		load(&systemd.units[i]);
		/* What a group holds follows its unit. */
		if (exists(group))
			tree_write(systemd.fake->kernel->tree, printed(group, "/cpuset.cpus"),
				   printed(systemd.units[i].allowed, "\n"));
	}
	return sd_bus_reply_method_return(message, "");
}

/* One file name is all that hvtune ever gives. */
static const char *file_given(sd_bus_message *message)
{
	const char *name = "";

	fake_must(sd_bus_message_enter_container(message, 'a', "s"), "files");
	fake_must(sd_bus_message_read(message, "s", &name), "files");
	fake_must(sd_bus_message_exit_container(message), "files");
	return name;
}

static int on_enable(sd_bus_message *message)
{
	const char *name = file_given(message);

	tree_write(systemd.fake->kernel->tree, enable_file(name), "link\n");
	return sd_bus_reply_method_return(message, "ba(sss)", 1, 0);
}

static int on_disable(sd_bus_message *message)
{
	remove_file(enable_file(file_given(message)));
	return sd_bus_reply_method_return(message, "a(sss)", 0);
}

static int on_mask(sd_bus_message *message)
{
	tree_write(systemd.fake->kernel->tree, printed("/fake/masked/", file_given(message)), "link\n");
	return sd_bus_reply_method_return(message, "a(sss)", 0);
}

static int on_unmask(sd_bus_message *message)
{
	remove_file(printed("/fake/masked/", file_given(message)));
	return sd_bus_reply_method_return(message, "a(sss)", 0);
}

/* "0-2" as the bytes of a mask. */
static int reply_mask(sd_bus_message *message, const char *list)
{
	struct cpuset cpus = {0};
	struct err ignored = {0};
	uint8_t mask[CPUSET_MAX / 8] = {0};
	size_t size = 0;
	sd_bus_message *reply = NULL;

	if (*list)
		fake_must(cpuset_parse(list, &cpus, &ignored), list);
	CPUSET_FOREACH (cpu, &cpus) {
		mask[cpu / 8] |= (uint8_t)(1 << cpu % 8);
		size = (size_t)cpu / 8 + 1;
	}
	fake_must(sd_bus_message_new_method_return(message, &reply), "reply");
	fake_must(sd_bus_message_open_container(reply, 'v', "ay"), "reply");
	fake_must(sd_bus_message_append_array(reply, 'y', mask, size), "reply");
	fake_must(sd_bus_message_close_container(reply), "reply");
	fake_must(sd_bus_send(systemd.fake->bus, reply, NULL), "reply");
	sd_bus_message_unref(reply);
	return 1;
}

static int on_property(sd_bus_message *message)
{
	const char *interface = "", *name = "", *path = sd_bus_message_get_path(message);
	struct unit *unit;
	int64_t number;

	fake_must(sd_bus_message_read(message, "ss", &interface, &name), "Get");
	if (!text_starts(path, OBJECT "/unit/") || text_int(path + strlen(OBJECT "/unit/"), 10, &number) < 0 ||
	    number < 0 || number >= systemd.count)
		return no_such(message, path);
	unit = &systemd.units[number];
	if (text_equal(name, "LoadState"))
		return sd_bus_reply_method_return(message, "v", "s",
						  exists(printed("/fake/masked/", unit->name)) ? "masked"
						  : unit->text				       ? "loaded"
											       : "not-found");
	if (text_equal(name, "ActiveState"))
		return sd_bus_reply_method_return(message, "v", "s",
						  unit->running	 ? "active"
						  : unit->failed ? "failed"
								 : "inactive");
	if (text_equal(name, "Result"))
		return sd_bus_reply_method_return(message, "v", "s", unit->failed ? "exit-code" : "success");
	if (text_equal(name, "AllowedCPUs"))
		return reply_mask(message, unit->allowed);
	if (text_equal(name, "NeedDaemonReload"))
		return sd_bus_reply_method_return(message, "v", "b",
						  !text_equal(unit->allowed, allowed_cpus(unit->name)));
	if (text_equal(name, "Job")) {
		bool goes_on = unit->polls_left > 0;

		unit->polls_left -= goes_on;
		return sd_bus_reply_method_return(message, "v", "(uo)", goes_on ? 1 : 0,
						  goes_on ? OBJECT "/job/1" : "/");
	}
	return sd_bus_reply_method_errorf(message, "org.freedesktop.DBus.Error.UnknownProperty", "no %s", name);
}

static const struct {
	const char *interface, *method;
	int (*answer)(sd_bus_message *message);
} methods[] = {
    {SERVICE ".Manager", "LoadUnit", on_load},
    {SERVICE ".Manager", "GetUnitFileState", on_file_state},
    {SERVICE ".Manager", "StartUnit", on_start},
    {SERVICE ".Manager", "StopUnit", on_stop},
    {SERVICE ".Manager", "RestartUnit", on_restart},
    {SERVICE ".Manager", "Reload", on_reload},
    {SERVICE ".Manager", "EnableUnitFiles", on_enable},
    {SERVICE ".Manager", "DisableUnitFiles", on_disable},
    {SERVICE ".Manager", "MaskUnitFiles", on_mask},
    {SERVICE ".Manager", "UnmaskUnitFiles", on_unmask},
    {"org.freedesktop.DBus.Properties", "Get", on_property},
};

static int on_message(sd_bus_message *message, void *data, sd_bus_error *error)
{
	(void)data, (void)error;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (sd_bus_message_is_method_call(message, methods[i].interface, methods[i].method))
			return methods[i].answer(message);
	return 0;
}

static void each_in(struct kernel *kernel, const char *dir, void (*act)(const struct kernel *kernel, const char *path))
{
	char path[512];
	DIR *names;

	(void)snprintf(path, sizeof(path), "%s%s", kernel->tree->root, dir);
	names = opendir(path);
	for (struct dirent *entry; names && (entry = readdir(names));) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (*entry->d_name != '.')
			act(kernel, path);
	}
	if (names)
		(void)closedir(names);
}

/* What is enabled runs at boot, tuned among it. */
static void start_one(const struct kernel *kernel, const char *path)
{
	struct unit *unit = unit_of(strrchr(path, '/') + 1);

	(void)kernel;
	if (exists(printed("/fake/masked/", unit->name)))
		return;
	unit->running = false;
	run(unit, true);
}

void fake_systemd_serve(struct fake *fake)
{
	systemd = (struct systemd){.fake = fake};
	fake_must(sd_bus_add_fallback(fake->bus, NULL, OBJECT, on_message, NULL), "sd_bus_add_fallback");
	fake_must(sd_bus_request_name(fake->bus, SERVICE, 0), "sd_bus_request_name");
	/* Slices with a group are known from the start. */
	(void)unit_of("machine.slice");
	(void)unit_of("system.slice");
	each_in(fake->kernel, WANTS_DIR, start_one);
}

void fake_systemd_down(struct kernel *kernel)
{
	each_in(kernel, RUNNING_DIR, kernel_remove);
	each_in(kernel, "/fake/latency", kernel_remove);
	each_in(kernel, unit_dirs[1], kernel_remove);
}

void fake_systemd_install(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/usr/lib/systemd/system/tuned.service", "[Service]\nExecStart=/usr/sbin/tuned\n[Install]\n"},
	    {"/usr/lib/systemd/system/ksmtuned.service", "[Service]\nExecStart=/usr/sbin/ksmtuned\n[Install]\n"},
	    {"/usr/lib/systemd/system/irqbalance.service", "[Service]\nExecStart=/usr/sbin/irqbalance\n[Install]\n"},
	    {"/usr/lib/systemd/system/numad.service", "[Service]\nExecStart=/bin/false\n[Install]\n"},
	    {"/usr/lib/systemd/system/thermald.service", "[Service]\nExecStart=/usr/sbin/thermald\n"},
	    {"/usr/lib/systemd/system/machine.slice", "[Slice]\n"},
	    {"/usr/lib/systemd/system/system.slice", "[Slice]\n"},
	    {"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n"},
	    {"/sys/fs/cgroup/machine.slice/cgroup.procs", ""},
	    {"/sys/fs/cgroup/machine.slice/cpuset.cpus", "\n"},
	    {"/sys/fs/cgroup/system.slice/cgroup.procs", ""},
	    {"/sys/fs/cgroup/system.slice/cpuset.cpus", "\n"},
	    {"/sys/devices/system/cpu/online", "0-2\n"},
	    {"/etc/systemd/system/multi-user.target.wants/tuned.service", "link\n"},
	    {"/etc/systemd/system/multi-user.target.wants/irqbalance.service", "link\n"},
	    {"/fake/running/irqbalance.service", "yes\n"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
}
