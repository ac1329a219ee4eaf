/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the two forms in which QEMU takes the properties of one option: "driver,key=value,..." and JSON. Both become the
 * same list: members of JSON objects and arrays have dotted keys ("iothread-vq-mapping.0.iothread"), as QEMU itself
 * names them.
 */
#ifndef HVTUNE_VM_QEMU_OPTIONS_H
#define HVTUNE_VM_QEMU_OPTIONS_H

#include "vm_qemu_words.h"

struct qemu_property {
	const char *key, *value; /* a bare word "key" has the value "on" */
	bool bare;		 /* it had no "=" */
};

struct qemu_options {
	struct qemu_property *list;
	int count, room;
};

/*
 * Read `word`. A first part without "=" is the value of `implied` (NULL: there is none). -EINVAL with the place on JSON
 * that cannot be read, -E2BIG on more than 4096 properties.
 */
int qemu_options_read(struct arena *arena, const char *path, const struct qemu_word *word, const char *implied,
		      struct qemu_options *ret, struct err *err);

/* The value of the last property of that name, or NULL. '-' and '_' are the same in a key. */
const char *qemu_option(const struct qemu_options *options, const char *key);

/* Are two keys the same but for '-' and '_'? */
bool qemu_key_equal(const char *a, const char *b);

/* on/yes/true/y: 1; off/no/false/n: 0; else (also NULL) -1. */
int qemu_switch(const char *value);

/* A size as QEMU takes it ("16G", "1.5G", "512M", "4096"), in bytes; without a suffix in units of `unit` bytes. */
int qemu_size(const char *text, int64_t unit, int64_t *ret_bytes);

/* The version that a text begins with, "9.2.0": its first two numbers. False: it begins with none. */
bool qemu_version(const char *text, int *ret_major, int *ret_minor);

#endif
