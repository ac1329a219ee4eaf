/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the fact: one property of a host with where it was read, in one of four states. A missing value can never be
 * mistaken for zero, because the value is only reached through the state.
 */
#ifndef HVTUNE_FACT_H
#define HVTUNE_FACT_H

#include "arena.h"
#include "cpuset.h"
#include "sys.h"

enum fact_state {
	FACT_ABSENT,	  /* there is no such thing here */
	FACT_VALUE,	  /* known */
	FACT_UNREADABLE,  /* there, but refused; `note` says why */
	FACT_IMPLAUSIBLE, /* read, but cannot be true or understood; `note` says why, `raw` has the text */
};

enum fact_type { FACT_NUMBER, FACT_TEXT, FACT_SWITCH, FACT_CPUS, FACT_NODES };

enum fact_unit {
	UNIT_NONE,
	UNIT_KHZ,
	UNIT_MHZ,
	UNIT_KIB,
	UNIT_BYTES,
	UNIT_US,
	UNIT_NS,
	UNIT_MS,
	UNIT_COUNT,
	UNIT_PERCENT
};

struct fact {
	enum fact_state state;
	enum fact_type type;
	enum fact_unit unit;
	const char *name;   /* dotted, stable, used in JSON: "cpufreq.driver" */
	const char *source; /* the path it was read from, or "derived from ..." */
	const char *note;   /* for the states without a value: why; for a value: a remark, or NULL */
	const char *raw;    /* the text that was read, trimmed; NULL when none */
	int errnum;	    /* positive, for FACT_UNREADABLE */
	union {
		int64_t number;		   /* FACT_NUMBER; FACT_SWITCH: 0 or 1 */
		const char *text;	   /* FACT_TEXT */
		const struct cpuset *cpus; /* FACT_CPUS, FACT_NODES */
	};
};

static inline bool fact_known(const struct fact *fact)
{
	return fact->state == FACT_VALUE;
}

/* Known and equal? */
bool fact_is_number(const struct fact *fact, int64_t number);
bool fact_is_text(const struct fact *fact, const char *text);
bool fact_is_on(const struct fact *fact);  /* a switch (or number) that is known and not 0 */
bool fact_is_off(const struct fact *fact); /* a switch (or number) that is known and 0 */

/* The value, or `otherwise` when it is not known. */
int64_t fact_number_or(const struct fact *fact, int64_t otherwise);
const char *fact_text_or(const struct fact *fact, const char *otherwise);

/* Readers: look through the door and make a fact of what is seen. `name` must outlive the fact (a literal). */
struct fact fact_read_text(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Of what has a unit (bytes excepted, which may be a balance) there is no less than nothing, and no more than MOST
 * below. */
struct fact fact_read_number(struct arena *arena, struct sys *sys, enum fact_unit unit, const char *name,
			     const char *format, ...) PRINTF_LIKE(5, 6);
/* 0/1, N/Y, off/on, disabled/enabled */
struct fact fact_read_switch(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
    PRINTF_LIKE(4, 5);
struct fact fact_read_cpus(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
    PRINTF_LIKE(4, 5);
struct fact fact_read_nodes(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* The word in brackets of "always [madvise] never"; the whole list stays in ->raw. */
struct fact fact_read_choice(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* The fact, or implausible where it is a number that is known and not from `least` to `most`. */
struct fact fact_within(struct fact fact, int64_t least, int64_t most, const char *note);

/* Makers, for facts that follow from others. `source` must outlive the fact. */
struct fact fact_absent(const char *name, const char *source);
struct fact fact_implausible(const char *name, const char *source, const char *raw, const char *note);
struct fact fact_unreadable(const char *name, const char *source, int errnum, const char *note);
struct fact fact_number(const char *name, enum fact_unit unit, int64_t number, const char *source);
struct fact fact_switch(const char *name, bool on, const char *source);
struct fact fact_text(const char *name, const char *text, const char *source);
struct fact fact_cpus(struct arena *arena, const char *name, const struct cpuset *cpus, const char *source);

/* The fact of a look without its value: absent or unreadable. */
struct fact fact_of_look(const char *name, const struct sys_look *look);

/* As people read it: "3.25 GHz", "on", "0-3,8", "absent", "unreadable (permission denied)". */
const char *fact_shown(struct arena *arena, const struct fact *fact);

#endif
