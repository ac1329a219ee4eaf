/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading YAML with libyaml into a tree with lines. */
#include <errno.h>
#include <yaml.h>

#include "study_yaml.h"
#include "text.h"

enum { MOST_DEPTH = 32, MOST_NODES = 65536, MOST_BYTES = 1 << 20, MOST_BRACKETS = 8192 };

struct reading {
	struct arena *arena;
	const char *file;
	yaml_document_t *document;
	struct study_node **made; /* by libyaml's number of the node: an alias is the node itself, not a copy of it */
	bool *open;		  /* of those that are being made: an alias to one of them is a circle */
	struct err *err;
};

static unsigned line_of(const yaml_mark_t *mark)
{
	return (unsigned)mark->line + 1;
}

static int refuse_node(const struct reading *reading, const yaml_node_t *node, const char *what)
{
	return err_set_at(reading->err, EINVAL, reading->file, line_of(&node->start_mark),
			  (unsigned)node->start_mark.column + 1, "%s", what);
}

static int make_node(struct reading *reading, int number, unsigned depth, struct study_node **ret);

static int make_scalar(struct reading *reading, const yaml_node_t *from, struct study_node *node)
{
	if (memchr(from->data.scalar.value, 0, from->data.scalar.length))
		return refuse_node(reading, from, "a NUL character in a text");
	node->kind = STUDY_SCALAR;
	node->text = arena_strndup(reading->arena, (const char *)from->data.scalar.value, from->data.scalar.length);
	node->quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (!node->quoted && (text_equal(node->text, "~") || text_equal(node->text, "null")))
		node->text = "";
	return 0;
}

static int make_list(struct reading *reading, const yaml_node_t *from, unsigned depth, struct study_node *node)
{
	size_t count = (size_t)(from->data.sequence.items.top - from->data.sequence.items.start);

	node->kind = STUDY_LIST;
	node->items = ARENA_ARRAY(reading->arena, count + 1, struct study_node *);
	for (size_t i = 0; i < count; i++) {
		int r = make_node(reading, from->data.sequence.items.start[i], depth, &node->items[i]);

		if (r < 0)
			return r;
	}
	node->item_count = count;
	return 0;
}

static int check_key(const struct reading *reading, const struct study_node *node, size_t at)
{
	const struct study_node *key = node->keys[at];

	if (key->kind != STUDY_SCALAR || !*key->text)
		return err_set_at(reading->err, EINVAL, reading->file, key->line, key->column, "a key must be a word");
	for (size_t i = 0; i < at; i++)
		if (text_equal(node->keys[i]->text, key->text))
			return err_set_at(reading->err, EINVAL, reading->file, key->line, key->column,
					  "\"%s\" is there twice; the first is in line %u", key->text,
					  node->keys[i]->line);
	return 0;
}

static int make_map(struct reading *reading, const yaml_node_t *from, unsigned depth, struct study_node *node)
{
	size_t count = (size_t)(from->data.mapping.pairs.top - from->data.mapping.pairs.start);

	/* Keys are compared each with each. */
	if (count > 1024)
		return refuse_node(reading, from, "more than 1024 keys in one place");
	node->kind = STUDY_MAP;
	node->keys = ARENA_ARRAY(reading->arena, count + 1, struct study_node *);
	node->items = ARENA_ARRAY(reading->arena, count + 1, struct study_node *);
	for (size_t i = 0; i < count; i++) {
		const yaml_node_pair_t *pair = &from->data.mapping.pairs.start[i];
		int r = make_node(reading, pair->key, depth, &node->keys[i]);

		if (r == 0)
			r = check_key(reading, node, i);
		if (r == 0)
			r = make_node(reading, pair->value, depth, &node->items[i]);
		if (r < 0)
			return r;
		node->item_count = i + 1;
	}
	return 0;
}

static int make_node(struct reading *reading, int number, unsigned depth, struct study_node **ret)
{
	const yaml_node_t *from = yaml_document_get_node(reading->document, number);
	struct study_node *node = reading->made[number];
	int r = 0;

	if (reading->open[number])
		return refuse_node(reading, from, "a text that contains itself");
	if (node) {
		*ret = node;
		return 0;
	}
	if (depth >= MOST_DEPTH)
		return refuse_node(reading, from, "nested deeper than 32 levels");
	node = ARENA_NEW(reading->arena, struct study_node);
	node->line = line_of(&from->start_mark);
	node->column = (unsigned)from->start_mark.column + 1;
	reading->open[number] = true;
	if (from->type == YAML_SEQUENCE_NODE)
		r = make_list(reading, from, depth + 1, node);
	else if (from->type == YAML_MAPPING_NODE)
		r = make_map(reading, from, depth + 1, node);
	else
		r = make_scalar(reading, from, node);
	reading->open[number] = false;
	if (r < 0)
		return r;
	reading->made[number] = node;
	*ret = node;
	return 0;
}

static int refuse_text(const yaml_parser_t *parser, const char *file, struct err *err)
{
	const yaml_mark_t *mark = &parser->problem_mark;
	const char *problem = parser->problem ? parser->problem : "this is no YAML";

	if (parser->error == YAML_READER_ERROR)
		return err_set(err, EINVAL, file, "no UTF-8 text at byte %zu: %s", parser->problem_offset, problem);
	(void)err_set_at(err, EINVAL, file, line_of(mark), (unsigned)mark->column + 1, "no YAML: %s", problem);
	if (strstr(problem, "tab"))
		(void)err_hint(err, "YAML is indented with blanks");
	return -EINVAL;
}

static int convert(struct arena *arena, const char *file, yaml_document_t *document, struct study_node **ret,
		   struct err *err)
{
	size_t count = (size_t)(document->nodes.top - document->nodes.start);
	struct reading reading = {.arena = arena, .file = file, .document = document, .err = err};

	if (!yaml_document_get_root_node(document))
		return err_set(err, EINVAL, file, "the file is empty");
	if (count > MOST_NODES)
		return err_set(err, EINVAL, file, "%zu values; a study has at most %d", count, MOST_NODES);
	reading.made = ARENA_ARRAY(arena, count + 1, struct study_node *);
	reading.open = ARENA_ARRAY(arena, count + 1, bool);
	return make_node(&reading, 1, 0, ret);
}

/* A second document would silently not count. */
static int check_end(yaml_parser_t *parser, const char *file, struct err *err)
{
	yaml_document_t more;
	int r = 0;

	if (!yaml_parser_load(parser, &more))
		return refuse_text(parser, file, err);
	const yaml_node_t *root = yaml_document_get_root_node(&more);

	if (root)
		r = err_set_at(err, EINVAL, file, line_of(&root->start_mark), 1, "a second document; one is expected");
	yaml_document_delete(&more);
	return r;
}

int study_yaml_parse(struct arena *arena, const char *file, const char *text, size_t length, struct study_node **ret,
		     struct err *err)
{
	yaml_parser_t parser;
	yaml_document_t document;
	struct study_node *root = NULL;
	int r;

	if (length > MOST_BYTES)
		return err_set(err, EFBIG, file, "%zu bytes; a study file has at most %d", length, MOST_BYTES);
	/* libyaml takes time by the square of open brackets; no study has that many. */
	for (size_t i = 0, brackets = 0; i < length; i++)
		if ((text[i] == '[' || text[i] == '{') && ++brackets > MOST_BRACKETS)
			return err_set(err, EINVAL, file, "more than %d brackets", MOST_BRACKETS);
	if (!yaml_parser_initialize(&parser))
		err_no_memory();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	if (!yaml_parser_load(&parser, &document)) {
		r = refuse_text(&parser, file, err);
	} else {
		r = convert(arena, file, &document, &root, err);
		yaml_document_delete(&document);
		if (r == 0)
			r = check_end(&parser, file, err);
	}
	yaml_parser_delete(&parser);
	if (r == 0)
		*ret = root;
	return r;
}

struct study_node *study_node_get(const struct study_node *node, const char *key, struct study_node **ret_key)
{
	for (size_t i = 0; node->kind == STUDY_MAP && i < node->item_count; i++)
		if (text_equal(node->keys[i]->text, key)) {
			if (ret_key)
				*ret_key = node->keys[i];
			return node->items[i];
		}
	return NULL;
}
