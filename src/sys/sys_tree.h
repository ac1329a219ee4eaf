/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a tree of directories, files and links held in memory, with the kernel's rules for finding a path in it.
 */
#ifndef HVTUNE_SYS_TREE_H
#define HVTUNE_SYS_TREE_H

#include "arena.h"

enum {
	SYS_TREE_NODE_LIMIT = 500000, /* directories that entries imply count too */
	SYS_TREE_HOP_LIMIT = 40,      /* MAXSYMLINKS of Linux include/linux/namei.h */
};

enum sys_node_kind { NODE_DIR, NODE_FILE, NODE_LINK };

struct sys_node {
	struct sys_node *parent, *same_bucket, *first_child, *next_sibling;
	const char *name;
	const char *data; /* NODE_FILE: contents with a NUL after them; NODE_LINK: the target */
	size_t size;	  /* bytes in data */
	uint32_t hash;
	enum sys_node_kind kind;
	int errnum; /* positive: why a file has no contents (EFBIG), else 0 */
};

struct sys_tree;

struct sys_tree *sys_tree_new(void);
struct sys_tree *sys_tree_free(struct sys_tree *tree); /* takes NULL, returns NULL */
struct arena *sys_tree_arena(struct sys_tree *tree);
struct sys_node *sys_tree_top(const struct sys_tree *tree);

/*
 * Make the node at `path` below the top, and the directories that lead to it; "." and empty components and leading
 * slashes are passed over. A file or link that is there already is replaced, as tar does; a directory stays.
 * -EXDEV: "..", -ENOTDIR: leads through a file or link, or a directory and something else are one, -ENOSPC: more than
 * SYS_TREE_NODE_LIMIT nodes.
 */
int sys_tree_add(struct sys_tree *tree, const char *path, enum sys_node_kind kind, struct sys_node **ret);

/* The child of that name, or NULL. */
struct sys_node *sys_tree_child(const struct sys_tree *tree, const struct sys_node *parent, const char *name,
				size_t length);

/*
 * Find a path below `root`, which no ".." and no absolute link leaves (as openat2's RESOLVE_IN_ROOT). Links on the way
 * are followed, the last one too if `follow`. -ENOENT, -ENOTDIR, -ELOOP, -ENAMETOOLONG.
 */
int sys_tree_find(const struct sys_tree *tree, struct sys_node *root, const char *path, bool follow,
		  struct sys_node **ret);

/* "a/b/c" below the top; "" for the top. */
const char *sys_tree_path(struct arena *arena, const struct sys_node *node);

#endif
