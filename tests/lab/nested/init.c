/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Owns everything that runs inside the nested guest: the one process of a virtual
 * machine that exists to be placed, measured and restarted.  Linked statically, it
 * is the whole initramfs.
 *
 * It says on the console when it is up and with how many CPUs, then keeps them as
 * busy as the kernel command line asks: lab.load=N percent of each (0 by default).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Busy for percent of every 100 ms. */
static void load(int percent)
{
	for (;;) {
		long long end = now_ns() + percent * 1000000LL;

		while (now_ns() < end)
			;
		usleep((100 - percent) * 1000);
	}
}

static int wanted_load(void)
{
	char line[4096] = "";
	FILE *f = fopen("/proc/cmdline", "re");
	const char *word;
	int percent = 0;

	if (f) {
		if (fgets(line, sizeof line, f) && (word = strstr(line, "lab.load=")))
			percent = atoi(word + strlen("lab.load="));
		fclose(f);
	}
	return percent < 0 ? 0 : percent > 100 ? 100 : percent;
}

int main(void)
{
	long cpus;
	int percent;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	percent = wanted_load();

	printf("lab-guest: up with %ld CPUs, load %d %%\n", cpus, percent);
	fflush(stdout);

	for (long cpu = 0; percent > 0 && cpu < cpus; cpu++)
		if (fork() == 0) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(cpu, &set);
			sched_setaffinity(0, sizeof set, &set);
			load(percent);
		}
	for (;;)
		pause();
}
