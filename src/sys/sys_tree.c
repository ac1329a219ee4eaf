/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tree in memory: one hash table of (parent, name), so that a component costs one look. */
#include "sys_tree.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "err.h"
#include "text.h"

enum { FIRST_BUCKETS = 4096 }; /* a power of two, and so is every later number */

struct sys_tree {
	struct arena *arena;
	struct sys_node *top;
	struct sys_node **buckets;
	size_t bucket_count, count;
};

struct sys_tree *sys_tree_new(void)
{
	struct sys_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		err_no_memory();
	tree->arena = arena_new();
	tree->bucket_count = FIRST_BUCKETS;
	tree->buckets = ARENA_ARRAY(tree->arena, FIRST_BUCKETS, struct sys_node *);
	tree->top = ARENA_NEW(tree->arena, struct sys_node);
	*tree->top = (struct sys_node){.name = "", .kind = NODE_DIR};
	return tree;
}

struct sys_tree *sys_tree_free(struct sys_tree *tree)
{
	if (tree)
		(void)arena_free(tree->arena);
	free(tree);
	return NULL;
}

struct arena *sys_tree_arena(struct sys_tree *tree)
{
	return tree->arena;
}

struct sys_node *sys_tree_top(const struct sys_tree *tree)
{
	return tree->top;
}

/* FNV-1a over the name, begun with the parent's place in memory. */
static uint32_t hash_of(const struct sys_node *parent, const char *name, size_t length)
{
	uintptr_t place = (uintptr_t)parent >> 4;
	uint32_t hash = 2166136261U ^ (uint32_t)place ^ (uint32_t)(place >> 28);

	hash *= 16777619U;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619U;
	return hash ^ (hash >> 15);
}

struct sys_node *sys_tree_child(const struct sys_tree *tree, const struct sys_node *parent, const char *name,
				size_t length)
{
	uint32_t hash = hash_of(parent, name, length);
	struct sys_node *node = tree->buckets[hash & (tree->bucket_count - 1)];

	while (node && !(node->hash == hash && node->parent == parent && strncmp(node->name, name, length) == 0 &&
			 node->name[length] == '\0'))
		node = node->same_bucket;
	return node;
}

static void grow(struct sys_tree *tree)
{
	size_t count = tree->bucket_count * 4;
	struct sys_node **buckets = ARENA_ARRAY(tree->arena, count, struct sys_node *);

	for (size_t i = 0; i < tree->bucket_count; i++) {
		for (struct sys_node *node = tree->buckets[i], *next; node; node = next) {
			next = node->same_bucket;
			node->same_bucket = buckets[node->hash & (count - 1)];
			buckets[node->hash & (count - 1)] = node;
		}
	}
	tree->buckets = buckets;
	tree->bucket_count = count;
}

static struct sys_node *add_child(struct sys_tree *tree, struct sys_node *parent, const char *name, size_t length,
				  enum sys_node_kind kind)
{
	struct sys_node *node = ARENA_NEW(tree->arena, struct sys_node);

	if (tree->count >= tree->bucket_count)
		grow(tree);
	uint32_t hash = hash_of(parent, name, length);

	*node = (struct sys_node){.parent = parent,
				  .next_sibling = parent->first_child,
				  .same_bucket = tree->buckets[hash & (tree->bucket_count - 1)],
				  .name = arena_strndup(tree->arena, name, length),
				  .data = "",
				  .hash = hash,
				  .kind = kind};
	tree->buckets[hash & (tree->bucket_count - 1)] = node;
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

int sys_tree_add(struct sys_tree *tree, const char *path, enum sys_node_kind kind, struct sys_node **ret)
{
	struct sys_node *node = tree->top;

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
		if (node->kind != NODE_DIR)
			return -ENOTDIR;
		bool last = path[strspn(path, "/")] == '\0';
		struct sys_node *child = sys_tree_child(tree, node, name, length);

		if (!child && tree->count >= SYS_TREE_NODE_LIMIT)
			return -ENOSPC;
		node = child ? child : add_child(tree, node, name, length, last ? kind : NODE_DIR);
	}
	if ((node->kind == NODE_DIR) != (kind == NODE_DIR))
		return -ENOTDIR;
	node->kind = kind;
	*ret = node;
	return 0;
}

int sys_tree_find(const struct sys_tree *tree, struct sys_node *root, const char *path, bool follow,
		  struct sys_node **ret)
{
	char buffers[2][2 * PATH_MAX];
	struct sys_node *node = root;
	size_t which = 0;
	int hops = 0;

	for (;;) {
		path += strspn(path, "/");
		size_t length = strcspn(path, "/");

		if (!length)
			break;
		const char *name = path;

		path += length;
		if (node->kind != NODE_DIR)
			return -ENOTDIR;
		if (is_dot(name, length))
			continue;
		if (is_dot_dot(name, length)) {
			node = node == root ? root : node->parent;
			continue;
		}
		struct sys_node *child = sys_tree_child(tree, node, name, length);

		if (!child)
			return -ENOENT;
		bool last = path[strspn(path, "/")] == '\0';

		if (child->kind != NODE_LINK || (last && !follow)) {
			node = child;
			continue;
		}
		if (++hops > SYS_TREE_HOP_LIMIT)
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

const char *sys_tree_path(struct arena *arena, const struct sys_node *node)
{
	if (!node->parent)
		return "";
	const char *above = sys_tree_path(arena, node->parent);

	return *above ? arena_printf(arena, "%s/%s", above, node->name) : node->name;
}
