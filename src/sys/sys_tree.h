/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a tree of directories, files and links held in memory, with the kernel's rules for finding a path in it.
 */
#ifndef HVTUNE_SYS_TREE_H
#define HVTUNE_SYS_TREE_H

#include "arena.h"

enum {
	TREE_NODE_LIMIT = 500000, /* directories that entries imply count too */
	TREE_HOP_LIMIT = 40,	  /* MAXSYMLINKS of Linux include/linux/namei.h */
};

enum tree_kind { TREE_DIR, TREE_FILE, TREE_LINK };

struct tree_node {
	struct tree_node *parent, *same_bucket, *first_child, *next_sibling;
	const char *name;
	const char *data; /* TREE_FILE: contents with a NUL after them; TREE_LINK: the target */
	size_t size;	  /* bytes in data */
	uint32_t hash;
	enum tree_kind kind;
	int errnum; /* positive: why a file has no contents (EFBIG), else 0 */
};

struct tree;

struct tree *tree_new(void);
struct tree *tree_free(struct tree *tree); /* takes NULL, returns NULL */
struct arena *tree_arena(struct tree *tree);
struct tree_node *tree_top(const struct tree *tree);

/*
 * Make the node at `path` below the top, and the directories that lead to it; "." and empty components and leading
 * slashes are passed over. A file or link that is there already is replaced, as tar does; a directory stays.
 * -EXDEV: "..", -ENOTDIR: leads through a file or link, or a directory and something else are one, -ENOSPC: more than
 * TREE_NODE_LIMIT nodes.
 */
int tree_add(struct tree *tree, const char *path, enum tree_kind kind, struct tree_node **ret);

/* The child of that name, or NULL. */
struct tree_node *tree_child(const struct tree *tree, const struct tree_node *parent, const char *name, size_t length);

/*
 * Find a path below `root`, which no ".." and no absolute link leaves (as openat2's RESOLVE_IN_ROOT). Links on the way
 * are followed, the last one too if `follow`. -ENOENT, -ENOTDIR, -ELOOP, -ENAMETOOLONG.
 */
int tree_find(const struct tree *tree, struct tree_node *root, const char *path, bool follow, struct tree_node **ret);

/* "a/b/c" below the top; "" for the top. */
const char *tree_path(struct arena *arena, const struct tree_node *node);

#endif
