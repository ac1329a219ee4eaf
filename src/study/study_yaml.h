/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns YAML as a tree whose every node knows its line: libyaml reads the text, this room keeps the places, which a
 * study file needs for mistakes that only show later (a knob that this host does not have).
 */
#ifndef HVTUNE_STUDY_YAML_H
#define HVTUNE_STUDY_YAML_H

#include "arena.h"
#include "err.h"

enum study_node_kind { STUDY_SCALAR, STUDY_LIST, STUDY_MAP };

struct study_node {
	enum study_node_kind kind;
	unsigned line, column; /* 1-based */
	const char *text;      /* of a scalar; "" when nothing stands there */
	bool quoted;	       /* the scalar stood in quotes or as a block: its text is meant as it is */
	/* Of a list: item_count values. Of a map: item_count pairs, keys[i] with items[i]; a key stands there once. */
	struct study_node **keys, **items;
	size_t item_count;
};

/*
 * Parse one YAML document of `length` bytes; `file` is for messages. Nodes and texts live in the arena. -EINVAL: no
 * YAML, a key given twice, keys that are no words, more than one document, nested deeper than 32 levels or more than
 * 65536 nodes; err has line and column.
 */
int study_yaml_parse(struct arena *arena, const char *file, const char *text, size_t length, struct study_node **ret,
		     struct err *err);

/* The value of a key of a map; NULL when it is not there or the node is no map. `ret_key` may be NULL. */
struct study_node *study_node_get(const struct study_node *node, const char *key, struct study_node **ret_key);

#endif
