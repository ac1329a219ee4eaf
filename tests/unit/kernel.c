/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the simulated kernel; see kernel.h. The rules are those of drivers/cpufreq/amd-pstate.c and mm/page-writeback.c.
 */
#include "kernel.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"
#include "unit.h"

#define CPU "/sys/devices/system/cpu/"
#define STATUS CPU "amd_pstate/status"
#define BOOST CPU "cpufreq/boost"

static const char *path_in(const struct kernel *kernel, const char *path)
{
	static char full[2][4200];
	static int turn;

	turn = !turn;
	(void)snprintf(full[turn], sizeof(full[turn]), "%s%s", kernel->tree->root, path);
	return full[turn];
}

void kernel_read(const struct kernel *kernel, const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path_in(kernel, path), "r");
	size_t got = file ? fread(ret, 1, size - 1, file) : 0;

	ret[got] = '\0';
	if (got && ret[got - 1] == '\n')
		ret[got - 1] = '\0';
	if (file)
		(void)fclose(file);
}

static void put(const struct kernel *kernel, const char *path, const char *value)
{
	FILE *file = fopen(path_in(kernel, path), "w");

	if (!file)
		abort();
	(void)fprintf(file, "%s\n", value);
	(void)fclose(file);
}

static const char *policy(int cpu, const char *name)
{
	static char path[4][256];
	static int turn;

	turn = (turn + 1) % 4;
	(void)snprintf(path[turn], sizeof(path[turn]), CPU "cpufreq/policy%d/%s", cpu, name);
	return path[turn];
}

static bool exists(const struct kernel *kernel, const char *path)
{
	return access(path_in(kernel, path), F_OK) == 0;
}

/* All policies as the driver makes them when it is registered in that mode. */
static void build_policies(const struct kernel *kernel, const char *mode)
{
	bool active = text_equal(mode, "active"), none = text_equal(mode, "disable");

	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		if (none) {
			(void)unlink(path_in(kernel, policy(cpu, "scaling_governor")));
			(void)unlink(path_in(kernel, policy(cpu, "scaling_min_freq")));
			(void)unlink(path_in(kernel, policy(cpu, "scaling_max_freq")));
		} else {
			put(kernel, policy(cpu, "scaling_governor"), active ? "powersave" : "schedutil");
			put(kernel, policy(cpu, "scaling_min_freq"), "1500000");
			put(kernel, policy(cpu, "scaling_max_freq"), "3700000");
			put(kernel, policy(cpu, "scaling_available_governors"),
			    active ? "performance powersave"
				   : "conservative ondemand userspace powersave performance schedutil");
		}
		if (active) {
			put(kernel, policy(cpu, "energy_performance_preference"), "balance_performance");
			put(kernel, policy(cpu, "energy_performance_available_preferences"),
			    "default performance balance_performance balance_power power");
		} else {
			(void)unlink(path_in(kernel, policy(cpu, "energy_performance_preference")));
			(void)unlink(path_in(kernel, policy(cpu, "energy_performance_available_preferences")));
		}
	}
	put(kernel, BOOST, "1");
}

/* Would the kernel refuse this value? 0 or a negative errno. */
static int judge(const struct kernel *kernel, const char *path, const char *value)
{
	if (text_equal(path, STATUS) && !text_has_word("active passive guided disable", " ", value))
		return -EINVAL;
	if (text_equal(path, "/proc/sys/vm/dirty_bytes") && text_equal(value, "0"))
		return -EINVAL;
	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		char governor[64], words[256];

		kernel_read(kernel, policy(cpu, "scaling_governor"), governor, sizeof(governor));
		kernel_read(kernel, policy(cpu, "scaling_available_governors"), words, sizeof(words));
		if (text_equal(path, policy(cpu, "scaling_governor")) && !text_has_word(words, " ", value))
			return -EINVAL;
		if (text_equal(path, policy(cpu, "energy_performance_preference")) &&
		    text_equal(governor, "performance") && !text_equal(value, "performance"))
			return -EBUSY;
	}
	return 0;
}

static void set_status(const struct kernel *kernel, const char *value, const char *before)
{
	bool in_place = !text_equal(value, "active") && !text_equal(before, "active") &&
			!text_equal(value, "disable") && !text_equal(before, "disable");

	if (!text_equal(value, before) && !in_place)
		build_policies(kernel, value);
}

/* Take a value that was judged, with all that moves by it. */
static void take(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	if (text_starts(before, "always") || text_starts(before, "[always")) {
		char shown[64] = "";

		for (const char *const *word = (const char *const[]){"always", "madvise", "never", NULL}; *word; word++)
			(void)snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown),
				       text_equal(*word, value) ? "%s[%s]" : "%s%s", *shown ? " " : "", *word);
		put(kernel, path, shown);
		return;
	}
	put(kernel, path, value);
	if (text_equal(path, STATUS))
		set_status(kernel, value, before);
	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		if (text_equal(path, policy(cpu, "scaling_governor")) && text_equal(value, "performance") &&
		    exists(kernel, policy(cpu, "energy_performance_preference")))
			put(kernel, policy(cpu, "energy_performance_preference"), "performance");
		if (text_equal(path, BOOST))
			put(kernel, policy(cpu, "scaling_max_freq"), text_equal(value, "1") ? "3700000" : "2800000");
	}
	if (text_equal(path, "/proc/sys/vm/dirty_bytes"))
		put(kernel, "/proc/sys/vm/dirty_ratio", "0");
	if (text_equal(path, "/proc/sys/vm/dirty_ratio"))
		put(kernel, "/proc/sys/vm/dirty_bytes", "0");
	if (text_equal(kernel->vanish_at, path)) {
		(void)unlink(path_in(kernel, policy(1, "scaling_governor")));
		(void)unlink(path_in(kernel, policy(1, "energy_performance_preference")));
	}
}

void kernel_write(struct kernel *kernel, const char *path, const char *value)
{
	char before[4096];

	kernel_read(kernel, path, before, sizeof(before));
	if (judge(kernel, path, value) == 0)
		take(kernel, path, value, before);
}

static int play(struct kernel *kernel, enum sys_write_when when, const char *path, const char *data, size_t size)
{
	char value[4096];

	(void)snprintf(value, sizeof(value), "%.*s", (int)size, data);
	value[strcspn(value, "\n")] = '\0';
	/* In a directory the brackets are moved by who writes. */
	if (strchr(value, '[')) {
		memmove(value, strchr(value, '[') + 1, strlen(strchr(value, '[')));
		value[strcspn(value, "]")] = '\0';
	}
	if (when == SYS_WRITE_BEFORE) {
		kernel_read(kernel, path, kernel->before, sizeof(kernel->before));
		return judge(kernel, path, value);
	}
	take(kernel, path, value, kernel->before);
	return 0;
}

static int pass(void *data, enum sys_write_when when, const char *call, const char *path, const char *value,
		size_t size)
{
	struct kernel *kernel = data;
	bool is_value = text_equal(call, "write") && (text_starts(path, "/sys/") || text_starts(path, "/proc/"));
	int r = is_value ? play(kernel, when, path, value, size) : 0;

	kernel->calls++;
	if (kernel->calls == kernel->kill_at)
		(void)kill(getpid(), SIGKILL);
	if (when == SYS_WRITE_BEFORE && (kernel->calls == kernel->fail_at || text_equal(path, kernel->fail_path)))
		return -kernel->fail_errnum;
	return r;
}

struct sys_write_gate kernel_gate(struct kernel *kernel)
{
	return (struct sys_write_gate){pass, kernel};
}

void kernel_start(struct kernel *kernel, const char *mode)
{
	static const struct tree_file files[] = {
	    {CPU "amd_pstate/status", "passive\n"},
	    {BOOST, "1\n"},
	    {CPU "cpufreq/policy0/affected_cpus", "0\n"},
	    {CPU "cpufreq/policy1/affected_cpus", "1\n"},
	    {CPU "cpufreq/policy2/affected_cpus", "2\n"},
	    {CPU "cpu0/power/pm_qos_resume_latency_us", "0\n"},
	    {CPU "cpu1/power/pm_qos_resume_latency_us", "0\n"},
	    {CPU "cpu2/power/pm_qos_resume_latency_us", "n/a\n"},
	    {CPU "smt/control", "notsupported\n"},
	    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
	    {"/sys/kernel/mm/ksm/run", "1\n"},
	    {"/proc/sys/vm/dirty_bytes", "0\n"},
	    {"/proc/sys/vm/dirty_ratio", "20\n"},
	    {"/proc/sys/vm/swappiness", "60\n"},
	    {"/proc/sys/kernel/numa_balancing", "1\n"},
	    {"/proc/sys/kernel/random/boot_id", "first\n"},
	    {"/var/lib/", NULL},
	    {NULL, NULL},
	};

	*kernel = (struct kernel){.tree = tree_new(files)};
	build_policies(kernel, "passive");
	if (!text_equal(mode, "passive"))
		kernel_write(kernel, STATUS, mode);
}

void kernel_stop(struct kernel *kernel)
{
	kernel->tree = tree_free(kernel->tree);
}

struct dumping {
	FILE *out;
	size_t root;
};

/* nftw() has no argument for its caller. */
static _Thread_local struct dumping dumping;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int dump_file(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)where;
	if (kind == FTW_F && !text_starts(path + dumping.root, "/var/lib/hvtune")) {
		FILE *file = fopen(path, "r");
		char data[4096];
		size_t got = file ? fread(data, 1, sizeof(data) - 1, file) : 0;

		data[got] = '\0';
		for (char *newline = data; (newline = strchr(newline, '\n')); newline++)
			*newline = '|';
		(void)fprintf(dumping.out, "%s: %s\n", path + dumping.root, data);
		if (file)
			(void)fclose(file);
	}
	return 0;
}

char *kernel_dump(const struct kernel *kernel)
{
	char *text = NULL, *sorted;
	size_t size = 0, count = 0, at = 0;
	const char **lines;

	dumping = (struct dumping){open_memstream(&text, &size), strlen(kernel->tree->root)};
	if (!dumping.out || nftw(kernel->tree->root, dump_file, 16, FTW_PHYS) < 0)
		abort();
	(void)fclose(dumping.out);
	lines = calloc(size + 1, sizeof(*lines));
	sorted = calloc(1, size + 1);
	if (!lines || !sorted)
		abort();
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		lines[count++] = line;
	qsort(lines, count, sizeof(*lines), by_name);
	for (size_t i = 0; i < count; i++)
		at += (size_t)sprintf(sorted + at, "%s\n", lines[i]);
	free(lines);
	free(text);
	return sorted;
}
