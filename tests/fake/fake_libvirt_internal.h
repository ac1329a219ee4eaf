/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the library in libvirt's place share. */
#ifndef HVTUNE_FAKE_LIBVIRT_INTERNAL_H
#define HVTUNE_FAKE_LIBVIRT_INTERNAL_H

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "fake_libvirt.h"

enum { TEXT = 65536, PATH = 1024, NAME = 64 };

#define FAKE_ALL "0-15"

extern struct fake_libvirt fake_libvirt;

struct _virConnect {
	char root[PATH];
	int looks; /* may only look */
};

struct _virDomain {
	struct _virConnect *connection;
	char name[NAME], uuid[VIR_UUID_STRING_BUFLEN];
};

#define DEFINITION(domain) fake_path_of(domain, "etc/libvirt/qemu", ".xml")
#define RUNTIME(domain, ending) fake_path_of(domain, "run/libvirt/qemu", ending)

int fake_fail(int code, const char *message); /* -1 */
const char *fake_path_of(const struct _virDomain *domain, const char *directory, const char *ending);
int fake_read_text(const char *path, char *ret, size_t size);
void fake_write_text(const char *path, const char *text);

int fake_pid_of(const struct _virDomain *domain);
int fake_tid_of(const struct _virDomain *domain, const char *name);
void fake_put_pin(const struct _virDomain *domain, const char *kind, unsigned index, const char *list);
void fake_put_status(const struct _virDomain *domain, int tid, const char *key, const char *list);

int fake_begin_change(const struct _virDomain *domain); /* 0: it may be made */
void fake_end_domain(const struct _virDomain *domain);

#endif
