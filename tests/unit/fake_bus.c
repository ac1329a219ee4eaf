/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns starting and ending the test's bus and the process of its services; see fake_bus.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_internal.h"
#include "unit.h"

static const char configuration[] = "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\""
				    " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
				    "<busconfig><type>session</type><listen>unix:dir=/tmp</listen>"
				    "<auth>EXTERNAL</auth><policy context=\"default\">"
				    "<allow send_destination=\"*\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/>"
				    "</policy></busconfig>\n";

void fake_must(int r, const char *what)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "fake service: %s: %s\n", what, strerror(-r));
	_exit(1);
}

bool fake_bus_start(struct fake_bus *bus)
{
	char config[96];
	char *const argv[] = {(char *)"dbus-daemon", (char *)"--nofork", (char *)"--print-address=1", config, NULL};
	posix_spawn_file_actions_t actions;
	int pipes[2], fd, r;
	ssize_t got;

	*bus = (struct fake_bus){.config = "/tmp/hvtune-bus-XXXXXX"};
	fd = mkstemp(bus->config);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, configuration, sizeof(configuration) - 1), sizeof(configuration) - 1);
	(void)close(fd);
	(void)snprintf(config, sizeof(config), "--config-file=%s", bus->config);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, pipes[1], 1), 0);
	/* In a container it complains of limits. */
	assert_int_equal(posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0), 0);
	r = posix_spawnp(&bus->daemon, argv[0], &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(pipes[1]);
	got = r == 0 ? read(pipes[0], bus->address, sizeof(bus->address) - 1) : 0;
	(void)close(pipes[0]);
	if (got <= 1) {
		(void)unlink(bus->config);
		return false;
	}
	bus->address[strcspn(bus->address, "\n")] = '\0';
	bus->orders = mmap(NULL, sizeof(*bus->orders), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(bus->orders != MAP_FAILED);
	return true;
}

static void end_process(pid_t *pid)
{
	if (*pid > 0) {
		(void)kill(*pid, SIGKILL);
		(void)waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

void fake_bus_stop(struct fake_bus *bus)
{
	fake_services_stop(bus);
	end_process(&bus->daemon);
	(void)unlink(bus->config);
	(void)munmap(bus->orders, sizeof(*bus->orders));
}

static void serve(struct fake *fake, const char *address, int ready_fd)
{
	int r;

	/* The test may be killed. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	fake->arena = arena_new();
	fake_must(sd_bus_new(&fake->bus), "sd_bus_new");
	fake_must(sd_bus_set_address(fake->bus, address), address);
	fake_must(sd_bus_set_bus_client(fake->bus, 1), "sd_bus_set_bus_client");
	fake_must(sd_bus_start(fake->bus), "sd_bus_start");
	fake_tuned_make(fake);
	fake_systemd_serve(fake);
	fake_must((int)write(ready_fd, "", 1), "ready");
	do {
		r = sd_bus_process(fake->bus, NULL);
		if (r == 0)
			r = sd_bus_wait(fake->bus, UINT64_MAX);
	} while (r >= 0);
	_exit(0);
}

void fake_services_start(struct fake_bus *bus, struct kernel *kernel)
{
	struct fake fake = {.kernel = kernel, .orders = bus->orders};
	int pipes[2];
	char ready;

	fake_services_stop(bus);
	*bus->orders = (struct fake_orders){0};
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	(void)fflush(NULL);
	bus->services = fork();
	assert_true(bus->services >= 0);
	if (bus->services == 0)
		serve(&fake, bus->address, pipes[1]);
	(void)close(pipes[1]);
	assert_int_equal(read(pipes[0], &ready, 1), 1);
	(void)close(pipes[0]);
	kernel->bus_address = bus->address;
}

void fake_services_stop(struct fake_bus *bus)
{
	end_process(&bus->services);
}

void fake_services_reboot(struct fake_bus *bus, struct kernel *kernel, const char *mode, const char *boot_id)
{
	fake_services_stop(bus);
	fake_systemd_down(kernel);
	kernel_reboot(kernel, mode, boot_id);
	fake_services_start(bus, kernel);
}

/* ---- of a whole program ---- */

struct fake_bus fake_bus_shared;

int fake_bus_group_start(void **state)
{
	(void)state;
	if (fake_bus_start(&fake_bus_shared))
		return 0;
	(void)fprintf(stderr, "dbus-daemon is not installed\n");
	return -1;
}

int fake_bus_group_stop(void **state)
{
	(void)state;
	fake_bus_stop(&fake_bus_shared);
	return 0;
}
