/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns power of sockets and what limits their clock by HSMP (/dev/hsmp, drivers/platform/x86/amd/hsmp): Milan and later
 * server parts, when the BIOS setting HSMP Support is on. Only messages that get something are sent, over a descriptor
 * that is open for reading; a message that was refused once is not sent again, as the kernel logs each refusal.
 */
#include "meter_driver.h"

#include <errno.h>

#include "cpuset.h"
#include "text.h"

enum { MOST_SOCKETS = 8 };

/* Ids of arch/x86/include/uapi/asm/amd_hsmp.h. */
enum {
	GET_SOCKET_POWER = 0x04,	   /* mW, averaged by the SMU, whose loop takes 1 ms */
	GET_SOCKET_POWER_LIMIT_MAX = 0x07, /* mW */
	GET_SOCKET_FREQ_LIMIT = 0x19,	   /* MHz in bits 31:16, what limits in 15:0; Genoa and later */
};

static const char hint_bios[] = "turn on HSMP Support in the BIOS (AMD CBS, NBIO, SMU)";

static int64_t most_w_of(struct meter_set *set, int socket)
{
	struct sys_again file = {0};
	uint32_t most_mw = 0;

	if (sys_again_open_hsmp(set->sys, socket, GET_SOCKET_POWER_LIMIT_MAX, &file) < 0)
		return 0;
	if (sys_again_hsmp(&file, &most_mw) < 0)
		most_mw = 0;
	sys_again_close(&file);
	return 2 * (int64_t)most_mw / 1000;
}

static void add_message(struct meter_set *set, int socket, uint32_t message, const char *name,
			struct meter_source source)
{
	source.name = arena_printf(set->arena, "hsmp.%s-%d", name, socket);
	source.place = "/dev/hsmp";
	source.boundary = METER_SOCKET;
	source.package = socket;
	source.refresh_s = 0.001;
	struct meter_input *input = meter_add(set, &meter_hsmp, source);
	int r = set->setup.only_look ? 0 : sys_again_open_hsmp(set->sys, socket, message, &input->file);

	input->source.hint = hint_bios;
	input->scale = 1e-3;
	if (r < 0)
		meter_refuse(set, input, -r, hint_bios);
}

/* Packages of the online CPUs are numbered as the sockets are. */
static int count_sockets(struct meter_set *set)
{
	const char *online = meter_text(set, "/sys/devices/system/cpu/online");
	struct cpuset cpus;
	int sockets = 0;

	if (!online || cpuset_parse(online, &cpus, NULL) < 0)
		return 1;
	CPUSET_FOREACH (cpu, &cpus)
		sockets = MAX_OF(sockets, meter_package_of(set->sys, cpu) + 1);
	return MIN_OF(MAX_OF(sockets, 1), (int)MOST_SOCKETS);
}

static bool is_there(struct meter_set *set)
{
	const struct sys_look *look = sys_list(set->sys, "/dev");

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++)
		if (text_equal(look->names[i], "hsmp"))
			return true;
	return false;
}

static int find(struct meter_set *set, struct err *err)
{
	(void)err;
	if (!is_there(set)) {
		meter_lacks(set, "hsmp", "there is no /dev/hsmp",
			    "modprobe amd_hsmp or hsmp_acpi, on EPYC from Milan on, with HSMP Support on in the BIOS");
		return 0;
	}
	for (int socket = 0, sockets = count_sockets(set); socket < sockets; socket++) {
		add_message(set, socket, GET_SOCKET_POWER, "power",
			    (struct meter_source){.quantity = METER_POWER,
						  .resolution = 0.001,
						  .most = set->setup.only_look ? 0 : (double)most_w_of(set, socket)});
		add_message(set, socket, GET_SOCKET_FREQ_LIMIT, "limit",
			    (struct meter_source){.quantity = METER_LIMIT});
	}
	return 0;
}

static void read_message(struct meter_input *input, struct meter_reading *ret)
{
	uint32_t word;
	int r = sys_again_hsmp(&input->file, &word);

	if (r < 0)
		meter_unread(ret, -r);
	else if (input->source.quantity == METER_LIMIT)
		ret->value = word & 0xffff;
	else
		ret->value = word * input->scale;
}

const struct meter_driver meter_hsmp = {.name = "hsmp", .find = find, .read = read_message};
