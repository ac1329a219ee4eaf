/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Owns everything that runs inside the nested guest: the one process of a virtual
 * machine that exists to be placed, measured and restarted.  Linked statically, it
 * is the whole initramfs.
 *
 * It says on the console when it is up and with how many CPUs; with the word "busy" on
 * the kernel command line it then keeps all of them in a loop.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static int wants_busy(void)
{
	char line[4096] = "";
	FILE *f = fopen("/proc/cmdline", "re");
	int busy = 0;

	if (f) {
		busy = fgets(line, sizeof line, f) && strstr(line, " busy");
		fclose(f);
	}
	return busy;
}

int main(void)
{
	long cpus;
	int busy;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	busy = wants_busy();

	printf("lab-guest: up with %ld CPUs, %s\n", cpus, busy ? "busy" : "idle");
	fflush(stdout);

	for (long cpu = 0; busy && cpu < cpus; cpu++)
		if (fork() == 0) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(cpu, &set);
			sched_setaffinity(0, sizeof set, &set);
			for (volatile unsigned long work = 0;; work++)
				;
		}
	for (;;)
		pause();
}
