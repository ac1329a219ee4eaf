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
	struct fact halt_poll_ns;				 /* number */
	struct fact npt, nested, avic, nx_huge_pages;		 /* switches (nx_huge_pages also "auto": text) */
	struct kvm_parameter *parameters;			 /* all that are readable */
	int parameter_count;
};

void host_kvm_read(struct host *host);
void host_kvm_rows(const struct host *host, struct host_rows *rows);

#endif
