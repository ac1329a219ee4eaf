/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the message to the firmware of EPYC's sockets (HSMP), as the kernel takes it from who asks and who sets. */
#ifndef HVTUNE_SYS_HSMP_H
#define HVTUNE_SYS_HSMP_H

#include <stdint.h>
#include <sys/ioctl.h>

#define SYS_HSMP_DEVICE "/dev/hsmp"

/* As struct hsmp_message of arch/x86/include/uapi/asm/amd_hsmp.h, which older headers of the kernel lack. */
#pragma pack(push, 4)
struct sys_hsmp_message {
	uint32_t id;
	uint16_t argument_count, response_count; /* have to be those of the kernel's own table */
	uint32_t arguments[8];			 /* in, and the response out */
	uint16_t socket;
};
#pragma pack(pop)

#define SYS_HSMP_REQUEST _IOWR(0xF8, 0, struct sys_hsmp_message)

_Static_assert(sizeof(struct sys_hsmp_message) == 44, "the kernel's struct hsmp_message");

#endif
