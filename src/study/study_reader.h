/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns reading the keys of a map by a table, and the values that a study file is made of. Reading goes on after a
 * mistake: a person wants to see all of them at once.
 */
#ifndef HVTUNE_STUDY_READER_H
#define HVTUNE_STUDY_READER_H

#include "study.h"
#include "study_yaml.h"

struct study_reader {
	struct arena *arena;
	const char *file;
	struct study *study;
	struct study_mistakes *mistakes;
};

/* Note a mistake at the node. */
void study_mistake(struct study_reader *reader, const struct study_node *node, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Say what to do about the mistake noted last. */
void study_advice(struct study_reader *reader, const char *format, ...) PRINTF_LIKE(2, 3);

/* One key of a map: `read` puts the value at `offset` of what is read, or notes a mistake. */
struct study_field {
	const char *name;
	void (*read)(struct study_reader *reader, const struct study_node *node, void *into);
	size_t offset;
	bool required;
};

/*
 * Read the map's keys by the table into `into`; `what` names it in messages ("a workload"). Keys that the table does
 * not have, and required ones that are missing, are mistakes. False when the node is no map.
 */
bool study_read_fields(struct study_reader *reader, const struct study_node *node, const struct study_field *fields,
		       size_t count, void *into, const char *what);

/* Values; `into` is what the comment says. */
void study_read_text(struct study_reader *reader, const struct study_node *node, void *into);	  /* const char * */
void study_read_name(struct study_reader *reader, const struct study_node *node, void *into);	  /* const char * */
void study_read_flag(struct study_reader *reader, const struct study_node *node, void *into);	  /* bool */
void study_read_count(struct study_reader *reader, const struct study_node *node, void *into);	  /* unsigned */
void study_read_share(struct study_reader *reader, const struct study_node *node, void *into);	  /* double, of 1 */
void study_read_duration(struct study_reader *reader, const struct study_node *node, void *into); /* double, s */
void study_read_watts(struct study_reader *reader, const struct study_node *node, void *into);	  /* double */
void study_read_celsius(struct study_reader *reader, const struct study_node *node, void *into);  /* double */
void study_read_weight(struct study_reader *reader, const struct study_node *node, void *into);	  /* double */
void study_read_command(struct study_reader *reader, const struct study_node *node, void *into);  /* study_command */

/* A scalar's text, or NULL after noting that one was expected. */
const char *study_scalar(struct study_reader *reader, const struct study_node *node, const char *expected);

/* The index of the word in `names`, or -1 after noting a mistake that lists them; `what` as "a design". */
int study_choice(struct study_reader *reader, const struct study_node *node, const char *const *names, size_t count,
		 const char *what);

/*
 * "; did you mean "x"?" for a word that is nearly one of the names, else "". In the arena. Nearly: one
 * letter in four wrong, at most three.
 */
const char *study_near(struct study_reader *reader, const char *word, const char *const *names, size_t count);

/* "KNOB@WHERE=VALUE" as an ask of the level, which has room for it; its cost rises to what the knob takes. */
void study_add_ask(struct study_reader *reader, struct study_level *level, const char *text,
		   const struct study_node *node);

/* The parts of a file, each in its own source file. */
void study_read_workloads(struct study_reader *reader, const struct study_node *node, void *into);
void study_read_on(struct study_reader *reader, const struct study_node *node, void *into); /* study_workload */
void study_read_factors(struct study_reader *reader, const struct study_node *node, void *into);
void study_read_plan(struct study_reader *reader, struct study_level *level, const struct study_node *node);
void study_read_forbids(struct study_reader *reader, const struct study_node *node);
void study_read_baseline(struct study_reader *reader, const struct study_node *node);

#endif
