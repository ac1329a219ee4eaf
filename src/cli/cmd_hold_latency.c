/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune hold-latency`: the process of the units hvtune-latency.service and hvtune-latency-boot.service. */
#include <signal.h>
#include <unistd.h>

#include "cli.h"
#include "sys_bus.h"
#include "sys_write.h"
#include "text.h"

/* PM_QOS_CPU_LATENCY_DEFAULT_VALUE, which stands for "no limit". */
enum { NO_LIMIT_US = 2000000000 };

#define DEVICE "/dev/cpu_dma_latency"

int cmd_hold_latency(struct cli *cli)
{
	static const char *const patterns[] = {DEVICE, NULL};
	CLEANUP(sys_writer_close_pointer) struct sys_writer *writer = NULL;
	struct err err = {0};
	sigset_t ends;
	int64_t us;
	int32_t value;
	int fd = -1, signal_number, r;

	if (cli->argument_count != 1 || text_int(cli->arguments[0], 10, &us) < 0 || us < 0 || us > NO_LIMIT_US)
		return cli_usage(cli, "hold-latency takes microseconds, from 0 to %d", NO_LIMIT_US);
	value = (int32_t)us;
	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &ends, NULL);
	r = sys_writer_open("/", patterns, NULL, &writer, &err);
	/* Four bytes are a number; any other length would be read as hexadecimal text (kernel/power/qos.c). */
	if (r == 0)
		r = sys_writer_hold(writer, DEVICE, &value, sizeof(value), &fd, &err);
	if (r < 0)
		return cli_fail(&err);
	sys_notify_ready();
	(void)sigwait(&ends, &signal_number);
	(void)close(fd);
	return EXIT_FINE;
}
