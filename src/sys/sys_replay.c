/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the door on a capture that hvtune wrote (sys_capture.c): each look gets the answer that it got on the machine,
 * as the manifest has it; what is not in it is absent.
 *
 * The manifest, hvtune-capture.json, schema 1:
 *   {"schema": 1, "hvtune": "0.1.0", "date": "2026-11-30",
 *    "lists": {"/sys/class/net": ["eth0", "lo"]}, "links": {"/sys/class/net/eth0/device": "../../../0000:41:00.0"},
 *    "unreadable": [{"path": "/dev/cpu_dma_latency", "kind": "file", "errno": "EACCES"}], "absent": ["/proc/nothing"]}
 * Files that were read lie below root/, side files ("hwloc.xml") beside the manifest. "absent" says what was asked in
 * vain, for people who read captures.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "sys_capture.h"
#include "sys_internal.h"
#include "sys_tree.h"
#include "text.h"

struct replay_door {
	struct sys_tree *tree;
	struct sys_node *top;  /* the directory of the manifest */
	struct sys_node *root; /* files below it; NULL when none was captured */
	json_t *manifest;      /* owns what the others point to */
	const json_t *lists, *links;
	json_t *refused[3]; /* by enum sys_kind: path -> errno */
};

static const char *const kind_names[] = {[SYS_FILE] = "file", [SYS_DIR] = "list", [SYS_LINK] = "link"};

const char *sys_capture_kind_name(enum sys_kind kind)
{
	return kind_names[kind];
}

static int errno_by_name(const char *name)
{
	enum { LARGEST_ERRNO = 133 }; /* EHWPOISON */

	for (int errnum = 1; errnum <= LARGEST_ERRNO; errnum++)
		if (text_equal(strerrorname_np(errnum), name))
			return errnum;
	return EIO;
}

static int refused(const struct replay_door *door, enum sys_kind kind, const char *path)
{
	const json_t *errnum = json_object_get(door->refused[kind], path);

	return errnum ? -(int)json_integer_value(errnum) : -ENOENT;
}

static int replay_read(void *self, struct arena *arena, const char *path, const char **ret_data, size_t *ret_size)
{
	const struct replay_door *door = self;
	struct sys_node *node;

	(void)arena;
	if (!door->root || sys_tree_find(door->tree, door->root, path, false, &node) < 0 || node->kind != NODE_FILE)
		return refused(door, SYS_FILE, path);
	if (node->errnum)
		return -node->errnum;
	*ret_data = node->data;
	*ret_size = node->size;
	return 0;
}

static int replay_list(void *self, struct arena *arena, const char *path, const char *const **ret_names,
		       size_t *ret_count)
{
	const struct replay_door *door = self;
	const json_t *list = json_object_get(door->lists, path);
	size_t count = 0;

	if (!json_is_array(list))
		return refused(door, SYS_DIR, path);
	const char **names = ARENA_ARRAY(arena, json_array_size(list) + 1, const char *);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		/* A name with a slash is none; a path made of it would lead elsewhere. */
		if (name && *name && !strchr(name, '/'))
			names[count++] = name;
	}
	sys_sort_names(names, count);
	*ret_names = names;
	*ret_count = count;
	return 0;
}

static int replay_link(void *self, struct arena *arena, const char *path, const char **ret_target)
{
	const struct replay_door *door = self;
	const char *target = json_string_value(json_object_get(door->links, path));

	(void)arena;
	if (!target)
		return refused(door, SYS_LINK, path);
	*ret_target = target;
	return 0;
}

static const char *replay_part(void *self, const char *name, size_t *ret_size)
{
	const struct replay_door *door = self;
	const struct sys_node *node = sys_tree_child(door->tree, door->top, name, strlen(name));

	if (!node || node->kind != NODE_FILE || node->errnum)
		return NULL;
	if (ret_size)
		*ret_size = node->size;
	return node->data;
}

static void replay_close(void *self)
{
	struct replay_door *door = self;

	for (size_t i = 0; i < ARRAY_SIZE(door->refused); i++)
		json_decref(door->refused[i]);
	json_decref(door->manifest);
	(void)sys_tree_free(door->tree);
	free(door);
}

static const struct sys_backend replay_backend = {
    .read = replay_read, .list = replay_list, .link = replay_link, .part = replay_part, .close = replay_close};

static void take_refused(struct replay_door *door)
{
	const json_t *list = json_object_get(door->manifest, "unreadable");

	for (size_t i = 0; i < ARRAY_SIZE(door->refused); i++)
		door->refused[i] = json_object();
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *look = json_array_get(list, i);
		const char *path = json_string_value(json_object_get(look, "path"));
		const char *kind = json_string_value(json_object_get(look, "kind"));
		const char *errnum = json_string_value(json_object_get(look, "errno"));

		for (size_t k = 0; path && errnum && k < ARRAY_SIZE(kind_names); k++)
			if (text_equal(kind, kind_names[k]))
				(void)json_object_set_new(door->refused[k], path, json_integer(errno_by_name(errnum)));
	}
}

/* The manifest lies at the top or in the one directory there. */
static struct sys_node *find_manifest(const struct sys_tree *tree)
{
	const size_t length = strlen(CAPTURE_MANIFEST);
	const struct sys_node *top = sys_tree_top(tree);
	struct sys_node *found = sys_tree_child(tree, top, CAPTURE_MANIFEST, length);

	for (const struct sys_node *child = top->first_child; child && !found; child = child->next_sibling)
		found = sys_tree_child(tree, child, CAPTURE_MANIFEST, length);
	return found && found->kind == NODE_FILE ? found : NULL;
}

static int take_manifest(const struct sys_node *node, const char *name, json_t **ret, struct err *err)
{
	json_error_t why;
	json_t *manifest = node->errnum ? NULL : json_loadb(node->data, node->size, JSON_REJECT_DUPLICATES, &why);

	if (node->errnum)
		return err_set(err, node->errnum, name,
			       "damaged capture: its " CAPTURE_MANIFEST " is larger than 8 MiB");
	if (!manifest) {
		(void)err_set(err, EBADMSG, name, "damaged capture: line %d of its " CAPTURE_MANIFEST ": %s", why.line,
			      why.text);
		(void)err_hint(err, "capture again");
		return -EBADMSG;
	}
	const json_t *schema = json_object_get(manifest, "schema");

	if (!json_is_integer(schema) || json_integer_value(schema) != CAPTURE_SCHEMA) {
		(void)err_set(err, EPROTO, name, "a capture of schema %lld, but this hvtune reads schema %d",
			      (long long)json_integer_value(schema), CAPTURE_SCHEMA);
		json_decref(manifest);
		(void)err_hint(err, "use the hvtune that wrote it, or a newer one");
		return -EPROTO;
	}
	*ret = manifest;
	return 0;
}

int sys_replay_open(struct sys_tree **tree, const char *name, struct sys **ret, struct err *err)
{
	struct sys_node *node = find_manifest(*tree);
	json_t *manifest = NULL;

	if (!node)
		return -ENOENT;
	int r = take_manifest(node, name, &manifest, err);

	if (r < 0)
		return r;
	struct replay_door *door = calloc(1, sizeof(*door));

	if (!door)
		err_no_memory();
	*door = (struct replay_door){.tree = *tree, .top = node->parent, .manifest = manifest};
	door->root = sys_tree_child(*tree, node->parent, CAPTURE_ROOT, strlen(CAPTURE_ROOT));
	door->lists = json_object_get(manifest, "lists");
	door->links = json_object_get(manifest, "links");
	take_refused(door);
	*tree = NULL;
	*ret = sys_new(&replay_backend, door, name, NULL);
	return 0;
}
