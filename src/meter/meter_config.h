/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the file that names meters which the host itself does not have: plugs, UPSes, BMCs, commands. Sections with
 *keys:
 *
 *	# /etc/hvtune/meters.conf
 *	[rack-plug]
 *	kind = tapo
 *	address = 192.0.2.10
 *	user = someone@example.com
 *	password-file = /etc/hvtune/tapo.password
 *
 * What is secret stands in a file that only its owner can read (this one, or that of password-file), or in the
 *environment (password-env). It is never printed.
 */
#ifndef HVTUNE_METER_CONFIG_H
#define HVTUNE_METER_CONFIG_H

#include "arena.h"
#include "err.h"
#include "meter.h"

#define METER_CONFIG "/etc/hvtune/meters.conf"

enum meter_kind {
	METER_KIND_COMMAND,
	METER_KIND_SHELLY,
	METER_KIND_TASMOTA,
	METER_KIND_REDFISH,
	METER_KIND_TAPO,
	METER_KIND_NUT,
	METER_KIND_IPMI,
	METER_KINDS,
};

enum meter_key {
	METER_KEY_KIND,
	METER_KEY_ADDRESS,
	METER_KEY_USER,
	METER_KEY_PASSWORD,
	METER_KEY_PASSWORD_FILE,
	METER_KEY_PASSWORD_ENV,
	METER_KEY_BOUNDARY,
	METER_KEY_PART,
	METER_KEY_PERIOD,
	METER_KEY_MOST,
	METER_KEY_COMMAND,
	METER_KEY_SHELL,
	METER_KEY_ID,
	METER_KEY_VERIFY,
	METER_KEY_CA,
	METER_KEYS,
};

struct meter_entry {
	const char *name; /* of the section */
	unsigned line;	  /* 1-based */
	enum meter_kind kind;
	const char *values[METER_KEYS]; /* NULL: not given */
	unsigned lines[METER_KEYS];
	const char *secret; /* the password, or NULL */
	double period_s;    /* 0: as the kind has it */
	double most_w;	    /* 0: as the boundary has it */
	enum meter_boundary boundary;
	bool part; /* one of several power supplies: such meters of a boundary are added */
	bool shell, verify;
};

struct meter_config {
	const char *path;
	struct meter_entry *entries;
	size_t count;
};

/*
 * Read and check a file; everything lives in the arena. -EINVAL with line and column for what is not understood,
 * -EACCES for a secret in a file that others can read, -ENOENT...
 */
int meter_config_read(struct arena *arena, const char *path, struct meter_config *ret, struct err *err);

/*
 * The same for a text, without looking for secrets in other files or the environment. `closed`: only its owner can read
 * it, so that it may hold a password.
 */
int meter_config_parse(struct arena *arena, const char *path, const char *text, bool closed, struct meter_config *ret,
		       struct err *err);

/* "command", "shelly"... */
const char *meter_kind_name(enum meter_kind kind);

/* Words of a command without a shell: blanks part them, quotes of both kinds and backslashes hold them together. */
int meter_config_words(struct arena *arena, const char *text, const char *const **ret, struct err *err);

#endif
