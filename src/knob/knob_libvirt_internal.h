/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files that call into libvirt's library share. Included only where libvirt's headers are.
 */
#ifndef HVTUNE_KNOB_LIBVIRT_INTERNAL_H
#define HVTUNE_KNOB_LIBVIRT_INTERNAL_H

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "knob_libvirt.h"

/* clang-format off */
#define LIBVIRT_FUNCTIONS(X)                                                                                           \
	X(virConnectClose) X(virConnectOpen) X(virConnectOpenReadOnly) X(virDomainCreate)                              \
	X(virDomainDefineXMLFlags) X(virDomainDestroy) X(virDomainFree) X(virDomainGetEmulatorPinInfo)                 \
	X(virDomainGetName) X(virDomainGetNumaParameters) X(virDomainGetUUIDString)                                    \
	X(virDomainGetVcpuPinInfo) X(virDomainGetXMLDesc) X(virDomainHasManagedSaveImage)                              \
	X(virDomainIsActive) X(virDomainIsPersistent) X(virDomainLookupByName) X(virDomainLookupByUUIDString)          \
	X(virDomainPinEmulator) X(virDomainPinIOThread) X(virDomainPinVcpuFlags)                                       \
	X(virDomainSetNumaParameters) X(virDomainShutdownFlags) X(virGetLastError) X(virSetErrorFunc)                  \
	X(virTypedParamsClear)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define LIBVIRT_DECLARE(name) __typeof__(&(name)) name;

struct libvirt_api {
	LIBVIRT_FUNCTIONS(LIBVIRT_DECLARE)
};

struct libvirt_connection {
	struct libvirt_api api;
	LIBVIRT_DECLARE(virDomainQemuAgentCommand) /* of another library: NULL until a guest is asked */
	virConnectPtr reader; /* libvirt lets it only look: whatever does not change a VM uses this one */
	virConnectPtr writer;
	const char *uri;
	size_t map_size; /* bytes of a map of this host's CPUs */
};

/* What libvirt said last in this thread, as an errno; `what` is where. */
int libvirt_fail(const struct libvirt_connection *it, const char *what, struct err *err);

/* A VM that is freed when it goes out of scope: CLEANUP(libvirt_release). */
struct libvirt_domain {
	const struct libvirt_connection *it;
	virDomainPtr handle;
};

void libvirt_release(struct libvirt_domain *domain);

/* The VM of that UUID by the connection that changes, or by the one that looks. -ENOENT: there is none. */
int libvirt_look_up(struct knob_machine *machine, const char *uuid, bool writes, struct libvirt_domain *ret,
		    struct err *err);

#endif
