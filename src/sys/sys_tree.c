/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tree in memory: one hash table of (parent, name), so that a component costs one look. */
#include "sys_tree.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "err.h"
#include "text.h"

enum { FIRST_BUCKETS = 4096 };

struct tree {
	struct arena *arena;
	struct tree_node *top;
	struct tree_node **buckets;
	size_t bucket_count, count;
};

struct tree *tree_new(void)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		err_no_memory();
	tree->arena = arena_new();
	tree->bucket_count = FIRST_BUCKETS;
	tree->buckets = ARENA_ARRAY(tree->arena, FIRST_BUCKETS, struct tree_node *);
	tree->top = ARENA_NEW(tree->arena, struct tree_node);
	*tree->top = (struct tree_node){.name = "", .kind = TREE_DIR};
	return tree;
}

struct tree *tree_free(struct tree *tree)
{
	if (tree)
		(void)arena_free(tree->arena);
	free(tree);
	return NULL;
}

struct arena *tree_arena(struct tree *tree)
{
	return tree->arena;
}

struct tree_node *tree_top(const struct tree *tree)
{
	return tree->top;
}

/* FNV-1a over the name, begun with the parent's place in memory. */
static uint32_t hash_of(const struct tree_node *parent, const char *name, size_t length)
{
	uintptr_t place = (uintptr_t)parent >> 4;
	uint32_t hash = 2166136261U ^ (uint32_t)place ^ (uint32_t)(place >> 28);

	hash *= 16777619U;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619U;
	return hash ^ (hash >> 15);
}

struct tree_node *tree_child(const struct tree *tree, const struct tree_node *parent, const char *name, size_t length)
{
	uint32_t hash = hash_of(parent, name, length);
	struct tree_node *node = tree->buckets[hash % tree->bucket_count];

	while (node && !(node->hash == hash && node->parent == parent && strncmp(node->name, name, length) == 0 &&
			 node->name[length] == '\0'))
		node = node->same_bucket;
	return node;
}

static void grow(struct tree *tree)
{
	size_t count = tree->bucket_count * 4;
	struct tree_node **buckets = ARENA_ARRAY(tree->arena, count, struct tree_node *);

	for (size_t i = 0; i < tree->bucket_count; i++) {
		for (struct tree_node *node = tree->buckets[i], *next; node; node = next) {
			next = node->same_bucket;
			node->same_bucket = buckets[node->hash % count];
			buckets[node->hash % count] = node;
		}
	}
	tree->buckets = buckets;
	tree->bucket_count = count;
}

static struct tree_node *add_child(struct tree *tree, struct tree_node *parent, const char *name, size_t length,
				   enum tree_kind kind)
{
	struct tree_node *node = ARENA_NEW(tree->arena, struct tree_node);

	if (tree->count >= tree->bucket_count)
		grow(tree);
	uint32_t hash = hash_of(parent, name, length);

	*node = (struct tree_node){.parent = parent,
				   .next_sibling = parent->first_child,
				   .same_bucket = tree->buckets[hash % tree->bucket_count],
				   .name = arena_strndup(tree->arena, name, length),
				   .data = "",
				   .hash = hash,
				   .kind = kind};
	tree->buckets[hash % tree->bucket_count] = node;
	parent->first_child = node;
	tree->count++;
	return node;
}

static bool is_dot(const char *name, size_t length)
{
	return length == 1 && name[0] == '.';
}

static bool is_dot_dot(const char *name, size_t length)
{
	return length == 2 && name[0] == '.' && name[1] == '.';
}

int tree_add(struct tree *tree, const char *path, enum tree_kind kind, struct tree_node **ret)
{
	struct tree_node *node = tree->top;

	for (;;) {
		path += strspn(path, "/");
		size_t length = strcspn(path, "/");

		if (!length)
			break;
		const char *name = path;

		path += length;
		if (is_dot(name, length))
			continue;
		if (is_dot_dot(name, length))
			return -EXDEV;
		if (node->kind != TREE_DIR)
			return -ENOTDIR;
		bool last = path[strspn(path, "/")] == '\0';
		struct tree_node *child = tree_child(tree, node, name, length);

		if (!child && tree->count >= TREE_NODE_LIMIT)
			return -ENOSPC;
		node = child ? child : add_child(tree, node, name, length, last ? kind : TREE_DIR);
	}
	if ((node->kind == TREE_DIR) != (kind == TREE_DIR))
		return -ENOTDIR;
	node->kind = kind;
	*ret = node;
	return 0;
}

int tree_find(const struct tree *tree, struct tree_node *root, const char *path, bool follow, struct tree_node **ret)
{
	char buffers[2][2 * PATH_MAX];
	struct tree_node *node = root;
	size_t which = 0;
	int hops = 0;

	for (;;) {
		path += strspn(path, "/");
		size_t length = strcspn(path, "/");

		if (!length)
			break;
		const char *name = path;

		path += length;
		if (node->kind != TREE_DIR)
			return -ENOTDIR;
		if (is_dot(name, length))
			continue;
		if (is_dot_dot(name, length)) {
			node = node == root ? root : node->parent;
			continue;
		}
		struct tree_node *child = tree_child(tree, node, name, length);

		if (!child)
			return -ENOENT;
		bool last = path[strspn(path, "/")] == '\0';

		if (child->kind != TREE_LINK || (last && !follow)) {
			node = child;
			continue;
		}
		if (++hops > TREE_HOP_LIMIT)
			return -ELOOP;
		if (!child->size)
			return -ENOENT;
		int made = snprintf(buffers[which], sizeof(buffers[which]), "%s/%s", child->data, path);

		if (made >= (int)sizeof(buffers[which]))
			return -ENAMETOOLONG;
		if (child->data[0] == '/')
			node = root;
		path = buffers[which];
		which = !which;
	}
	*ret = node;
	return 0;
}

const char *tree_path(struct arena *arena, const struct tree_node *node)
{
	if (!node->parent)
		return "";
	const char *above = tree_path(arena, node->parent);

	return *above ? arena_printf(arena, "%s/%s", above, node->name) : node->name;
}
