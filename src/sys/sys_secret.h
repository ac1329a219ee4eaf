/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns secrets and their replacements: drawn at random once, kept in memory as long as one capture is written.
 */
#ifndef HVTUNE_SYS_SECRET_H
#define HVTUNE_SYS_SECRET_H

#include "arena.h"

enum secret_kind {
	SECRET_SHAPE,	/* letters become letters, digits digits, hexadecimal ones hexadecimal; the rest stays */
	SECRET_MAC,	/* as SHAPE, locally administered (02:...) */
	SECRET_IPV4,	/* 10.x.y.z */
	SECRET_IPV6,	/* 2001:db8:... (RFC 3849) */
	SECRET_HOST,	/* host1a2b3c; remembered as a name */
	SECRET_VM,	/* vm1a2b3c; remembered as a name */
	SECRET_USER,	/* user1a2b3c; remembered as a name */
	SECRET_BUILDER, /* name1a2b3c: who built a kernel where; not replaced elsewhere */
	SECRET_LABEL,	/* label1a2b3c */
};

struct secret_store;

struct secret_store *secret_store_new(void);
struct secret_store *secret_store_free(struct secret_store *store); /* takes NULL, returns NULL */

/* The replacement, the same at each call; as long-lived as the store. Replacements themselves are left as they are. */
const char *secret_replace(struct secret_store *store, enum secret_kind kind, const char *secret);

/*
 * Replace the names of hosts, VMs and users that are known so far, as whole words. Short and everyday ones ("linux",
 * "root") are left unless `all`.
 */
const char *secret_replace_names(struct secret_store *store, struct arena *arena, const char *line, bool all);

size_t secret_count(const struct secret_store *store);

#endif
