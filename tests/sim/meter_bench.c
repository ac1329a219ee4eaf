/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns measuring what sampling costs: a host of 512 CPUs as files (clocks, idle times, energy, temperature), sampled
 * once a second, beside a plain sweep over the same files, as turbostat does it: each is opened, read, parsed and
 * closed.
 *
 * usage: meter_bench [SECONDS]
 *
 * Promise: the sampler takes less than 0.5 % of one core. Exit code 1 when it is broken.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "meter_sampler.h"

enum { CPUS = 512, FILES_MOST = CPUS * 8 };

static const double promise = 0.005;

struct list {
	char *paths[FILES_MOST];
	size_t count;
};

static void fail(const char *what)
{
	(void)fprintf(stderr, "meter_bench: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void make_parents(const char *path)
{
	char parent[512];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		(void)snprintf(parent, sizeof(parent), "%.*s", (int)(at - path), path);
		if (mkdir(parent, 0700) < 0 && errno != EEXIST)
			fail(parent);
	}
}

/* A file of the host; `swept`: it is read again and again. */
static void put(const char *root, struct list *swept, const char *text, const char *format, ...)
    __attribute__((__format__(__printf__, 4, 5)));

static void put(const char *root, struct list *swept, const char *text, const char *format, ...)
{
	char name[256], path[512];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	(void)snprintf(path, sizeof(path), "%s%s", root, name);
	make_parents(path);
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) == EOF || fclose(file) == EOF)
		fail(path);
	if (swept && swept->count < FILES_MOST)
		swept->paths[swept->count++] = strdup(path);
}

#define CPU "/sys/devices/system/cpu/"
#define MSR "/sys/bus/event_source/devices/msr/"

static void make_host(const char *root, struct list *swept)
{
	put(root, NULL, "0-511\n", CPU "online");
	put(root, NULL, "10\n", MSR "type");
	put(root, NULL, "event=0x00\n", MSR "events/tsc");
	put(root, NULL, "event=0x01\n", MSR "events/aperf");
	put(root, NULL, "event=0x02\n", MSR "events/mperf");
	put(root, swept, "123456789012345\n", "/perf/msr/0/cpu0");
	for (int cpu = 0; cpu < CPUS; cpu++) {
		put(root, swept, "98765432109876\n", "/perf/msr/1/cpu%d", cpu);
		put(root, swept, "87654321098765\n", "/perf/msr/2/cpu%d", cpu);
		for (int state = 0; state < 3; state++) {
			static const char *const names[] = {"POLL\n", "C1\n", "C2\n"};

			put(root, NULL, names[state], CPU "cpu%d/cpuidle/state%d/name", cpu, state);
			put(root, state ? swept : NULL, "123456789\n", CPU "cpu%d/cpuidle/state%d/time", cpu, state);
		}
	}
	for (int package = 0; package < 2; package++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "package-%d\n", package);
		put(root, NULL, name, "/sys/class/powercap/intel-rapl:%d/name", package);
		put(root, NULL, "65532610987\n", "/sys/class/powercap/intel-rapl:%d/max_energy_range_uj", package);
		put(root, swept, "1234567890\n", "/sys/class/powercap/intel-rapl:%d/energy_uj", package);
		put(root, NULL, "k10temp\n", "/sys/class/hwmon/hwmon%d/name", package);
		put(root, swept, "61250\n", "/sys/class/hwmon/hwmon%d/temp1_input", package);
	}
}

static double cpu_seconds(void)
{
	struct timespec used;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* CPU time of one plain sweep over all files, the least of some. */
static double plain_sweep(const struct list *swept)
{
	double least = INFINITY;

	for (int round = 0; round < 10; round++) {
		double start = cpu_seconds();
		volatile uint64_t sum = 0;

		for (size_t i = 0; i < swept->count; i++) {
			unsigned long long value = 0;
			FILE *file = fopen(swept->paths[i], "re");

			if (!file || fscanf(file, "%llu", &value) != 1) /* NOLINT(cert-err34-c): as turbostat does */
				fail(swept->paths[i]);
			(void)fclose(file);
			sum += value;
		}
		least = fmin(least, cpu_seconds() - start);
	}
	return least;
}

static struct meter_cost sampled(struct sys *sys, long seconds)
{
	CLEANUP(meter_set_close_pointer) struct meter_set *set = NULL;
	CLEANUP(meter_cpus_close_pointer) struct meter_cpus *cpus = NULL;
	CLEANUP(meter_sampler_free_pointer) struct meter_sampler *sampler = NULL;
	struct err err = {0};

	if (meter_set_open(sys, NULL, &set, &err) < 0)
		fail(err.what);
	meter_cpus_open(sys, &cpus);
	if (meter_cpus_count(cpus) != CPUS || meter_cpus_clocks(cpus).state != METER_VALUE ||
	    meter_cpus_idle(cpus).state != METER_VALUE || meter_source_count(set) != 4)
		fail("the host is not all there");
	if (meter_sampler_start(set, &(struct meter_sampling){.period_s = 1, .cpus = cpus}, &sampler, &err) < 0)
		fail(err.what);
	(void)nanosleep(&(struct timespec){.tv_sec = seconds, .tv_nsec = 500000000}, NULL);
	meter_sampler_stop(sampler);
	return meter_sampler_cost(sampler);
}

int main(int argc, char **argv)
{
	static struct list swept;
	char root[] = "/dev/shm/hvtune-meter-XXXXXX", command[64];
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
	struct sys *sys = NULL;

	if (seconds < 1 || !mkdtemp(root))
		fail(root);
	make_host(root, &swept);
	if (sys_open_dir(root, &sys, NULL) < 0)
		fail(root);
	double plain_s = plain_sweep(&swept);
	struct meter_cost cost = sampled(sys, seconds);
	/* One read at the start and one each second. */
	double sweep_s = cost.cpu_s / (double)(seconds + 1), share = sweep_s;

	printf("%-34s %6.2f ms %6.2f ms %6.2f  %s (of CPU time a second: %.2f %% of one core, under %.1f %%; peer: a "
	       "plain "
	       "sweep, %zu files)\n",
	       "sampler, 512 CPUs, 1 Hz", sweep_s * 1e3, plain_s * 1e3, sweep_s / plain_s,
	       share < promise ? "holds" : "BROKEN", share * 100, promise * 100, swept.count);
	(void)sys_close(sys);
	(void)snprintf(command, sizeof(command), "rm -r %s", root);
	if (system(command)) /* NOLINT(cert-env33-c): a path of our own */
		fail(root);
	for (size_t i = 0; i < swept.count; i++)
		free(swept.paths[i]);
	return share < promise ? 0 : 1;
}
