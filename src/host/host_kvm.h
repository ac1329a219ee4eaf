/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns KVM: whether it can run, and the parameters of its modules.
 */
#ifndef HVTUNE_HOST_KVM_H
#define HVTUNE_HOST_KVM_H

#include "fact.h"

struct host;
struct host_rows;

struct kvm_parameter {
	const char *module; /* "kvm", "kvm_amd", "vhost_net"... */
	const char *name;
	struct fact value; /* text */
};

struct host_kvm {
	struct fact flag_svm;					 /* switch: the CPU shows svm (or vmx on Intel) */
	struct fact module_kvm, module_vendor, module_vhost_net; /* switches: loaded or built in */
	struct fact device;					 /* switch: /dev/kvm is there */
	struct fact device_vhost_net;				 /* switch: /dev/vhost-net is there */
	struct fact users;			      /* number: references to the vendor module; VMs hold some each,
						       * 0 means that none runs; absent when it is built in */
	struct fact halt_poll_ns;		      /* number */
	struct fact npt, nested, avic, nx_huge_pages; /* switches; on Intel npt is ept, avic enable_apicv */
	struct kvm_parameter *parameters;	      /* all that are readable */
	int parameter_count;
};

/* Do VMs run here now? True only when that is known. */
bool host_kvm_in_use(const struct host_kvm *kvm);

/* The value of a module's parameter, or NULL when the module or the parameter is not there. */
const struct fact *host_kvm_parameter(const struct host_kvm *kvm, const char *module, const char *name);

void host_kvm_read(struct host *host);
void host_kvm_rows(const struct host *host, struct host_rows *rows);

#endif
