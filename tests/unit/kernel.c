/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the simulated kernel; see kernel.h. What it says to each file is in kernel_cpu.c, kernel_memory.c. */
#include "kernel.h"

#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_rules.h"
#include "text.h"
#include "unit.h"

#define CPU "/sys/devices/system/cpu/"
#define STATUS CPU "amd_pstate/status"

static const struct kernel_rule *const rules[] = {kernel_cpu_rules, kernel_memory_rules, kernel_pages_rules,
						  kernel_device_rules};

static const char *path_in(const struct kernel *kernel, const char *path)
{
	static char full[2][4200];
	static int turn;

	turn = !turn;
	(void)snprintf(full[turn], sizeof(full[turn]), "%s%s", kernel->tree->root, path);
	return full[turn];
}

const char *kernel_beside(const char *path, const char *name)
{
	static char beside[8][4096];
	static int turn;

	turn = (turn + 1) % 8;
	(void)snprintf(beside[turn], sizeof(beside[turn]), "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
	return beside[turn];
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

long kernel_number(const struct kernel *kernel, const char *path)
{
	char text[64];
	int64_t number = 0;

	kernel_read(kernel, path, text, sizeof(text));
	(void)text_int(text, 10, &number);
	return (long)number;
}

void kernel_put(const struct kernel *kernel, const char *path, const char *value)
{
	FILE *file = fopen(path_in(kernel, path), "w");

	if (!file)
		abort();
	(void)fprintf(file, "%s\n", value);
	(void)fclose(file);
}

void kernel_put_number(const struct kernel *kernel, const char *path, long number)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%ld", number);
	kernel_put(kernel, path, text);
}

bool kernel_exists(const struct kernel *kernel, const char *path)
{
	return access(path_in(kernel, path), F_OK) == 0;
}

void kernel_remove(const struct kernel *kernel, const char *path)
{
	(void)unlink(path_in(kernel, path));
}

static const struct kernel_rule *rule_of(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		for (const struct kernel_rule *rule = rules[i]; rule->pattern; rule++)
			if (fnmatch(rule->pattern, path, FNM_PATHNAME) == 0)
				return rule;
	return NULL;
}

/* Files like "always [madvise] never" take one of their words and move the brackets. */
static void move_brackets(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	char line[4096] = "", words[4096];
	size_t at = 0;

	(void)snprintf(words, sizeof(words), "%s", before);
	for (char *word = strtok(words, " []"); word; word = strtok(NULL, " []"))
		at += (size_t)snprintf(line + at, sizeof(line) - at, text_equal(word, value) ? "%s[%s]" : "%s%s",
				       at ? " " : "", word);
	kernel_put(kernel, path, line);
}

static int judge(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	const struct kernel_rule *rule = rule_of(path);

	if (strchr(before, '[') && !text_has_word(before, " []", value))
		return -EINVAL;
	return rule && rule->judge ? rule->judge(kernel, path, value) : 0;
}

static void take(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	const struct kernel_rule *rule = rule_of(path);

	if (strchr(before, '['))
		move_brackets(kernel, path, value, before);
	if (rule && rule->take)
		rule->take(kernel, path, value, before);
	else if (!strchr(before, '['))
		kernel_put(kernel, path, value);
	if (text_equal(kernel->vanish_at, path)) {
		kernel_remove(kernel, CPU "cpufreq/policy1/scaling_governor");
		kernel_remove(kernel, CPU "cpufreq/policy1/energy_performance_preference");
	}
}

void kernel_write(struct kernel *kernel, const char *path, const char *value)
{
	char before[4096];

	kernel_read(kernel, path, before, sizeof(before));
	if (kernel_exists(kernel, path) && judge(kernel, path, value, before) == 0)
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
		return judge(kernel, path, value, kernel->before);
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
	return (struct sys_write_gate){pass, kernel, kernel_play_device};
}

static const struct tree_file boot_files[] = {
    {CPU "amd_pstate/status", "passive\n"},
    {CPU "cpufreq/boost", "1\n"},
    {CPU "cpufreq/policy0/affected_cpus", "0\n"},
    {CPU "cpufreq/policy1/affected_cpus", "1\n"},
    {CPU "cpufreq/policy2/affected_cpus", "2\n"},
    {CPU "cpu0/acpi_cppc/nominal_freq", "2800\n"},
    {CPU "cpu1/acpi_cppc/nominal_freq", "2800\n"},
    {CPU "cpu2/acpi_cppc/nominal_freq", "2800\n"},
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

void kernel_start(struct kernel *kernel, const char *mode)
{
	*kernel = (struct kernel){.tree = tree_new(boot_files)};
	kernel_build_policies(kernel, "passive");
	if (!text_equal(mode, "passive"))
		kernel_write(kernel, STATUS, mode);
}

void kernel_reboot(struct kernel *kernel, const char *mode, const char *boot_id)
{
	tree_add(kernel->tree, boot_files);
	kernel_put(kernel, "/proc/sys/kernel/random/boot_id", boot_id);
	kernel_build_policies(kernel, "passive");
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
	/* Directories that nobody needs any more: below /sys and /proc they come and go with what is simulated. */
	if (kind == FTW_D && (text_starts(path + dumping.root, "/etc/") || text_starts(path + dumping.root, "/run/")))
		(void)fprintf(dumping.out, "%s/\n", path + dumping.root);
	if (kind == FTW_F && !text_starts(path + dumping.root, "/var/lib/hvtune") && !strstr(path, "/request_")) {
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
