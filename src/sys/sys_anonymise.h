/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a capture does not tell: serial numbers, addresses, UUIDs and names are replaced by others of the same
 * shape. The same secret gets the same replacement everywhere within one anonymiser; the replacement is drawn at random
 * and kept nowhere else, so nothing leads back. CPU and node lists, PCI addresses, versions, sizes and model names
 * stay.
 */
#ifndef HVTUNE_SYS_ANONYMISE_H
#define HVTUNE_SYS_ANONYMISE_H

#include "arena.h"

struct sys_anonymiser;

struct sys_anonymiser *sys_anonymiser_new(void);
struct sys_anonymiser *sys_anonymiser_free(struct sys_anonymiser *anonymiser); /* takes NULL, returns NULL */
void sys_anonymiser_free_pointer(struct sys_anonymiser **anonymiser);	       /* for CLEANUP() */

/*
 * The contents of the file `path` without secrets; may hold NULs, and has one after its *ret_size bytes. Names of
 * hosts, VMs and users that are found are remembered, and replaced in every later text: give all texts twice, and keep
 * the second result.
 */
const char *sys_anonymise_contents(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path,
				   const char *data, size_t size, size_t *ret_size);

/* A path without secrets. The parts of a path get the same replacements in every path that begins alike. */
const char *sys_anonymise_path(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path);

/* A name in the directory `path`. */
const char *sys_anonymise_name(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path,
			       const char *name);

/* The target of the link `path`. */
const char *sys_anonymise_target(struct sys_anonymiser *anonymiser, struct arena *arena, const char *path,
				 const char *target);

/* How many different secrets were replaced. */
size_t sys_anonymiser_count(const struct sys_anonymiser *anonymiser);

#endif
