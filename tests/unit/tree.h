/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns hosts made of a few files for unit tests: a table of paths and contents becomes a temporary directory, which is
 * opened as a host and removed again.
 *
 *	static const struct tree_file files[] = {
 *	    {"/proc/cmdline", "quiet amd_iommu=on\n"},
 *	    {"/sys/devices/system/cpu/online", "0-3\n"},
 *	    {NULL, NULL},
 *	};
 *	struct tree *tree = tree_new(files);
 *	struct advise_result *result = tree_advise(tree);
 *
 *	assert_true(tree_has(result, "cmdline.amd-iommu-on"));
 *	advise_result_free(result);
 *	tree_free(tree);
 *
 * Whatever goes wrong in here fails the test that runs.
 */
#ifndef HVTUNE_TREE_H
#define HVTUNE_TREE_H

#include "advise.h"

struct tree_file {
	const char *path;     /* absolute, below the tree's root; a path ending in "/" is an empty directory */
	const char *contents; /* of the file; a text starting with "->" makes a symbolic link to what follows */
};

struct tree {
	char *root;	   /* the directory */
	struct host *host; /* opened on first use by tree_host() */
};

/* Lay out the files of a table that ends with a NULL path. `files` may be NULL: an empty tree. */
struct tree *tree_new(const struct tree_file *files);

/* Add or replace files; later opens see them, a host that is already open does not. */
void tree_add(struct tree *tree, const struct tree_file *files);
void tree_write(struct tree *tree, const char *path, const char *contents);
void tree_write_bytes(struct tree *tree, const char *path, const void *data, size_t size);

/*
 * A machine with the least that makes it one: `cpus` CPUs of one package and one node, one L3 for each `per_l3` CPUs,
 * without SMT, AMD by vendor, family and model (Zen 4: 25, 17).
 */
void tree_add_amd(struct tree *tree, int cpus, int per_l3, int family, int model);

/* The tree opened as a host; the tree keeps it. */
struct host *tree_host(struct tree *tree);

/* All rules over the tree. The caller frees the result. */
struct advise_result *tree_advise(struct tree *tree);

/* The first finding with that id, or NULL. */
const struct advise_finding *tree_find(const struct advise_result *result, const char *id);
bool tree_has(const struct advise_result *result, const char *id);

/* Close the host and remove the directory. Returns NULL. */
struct tree *tree_free(struct tree *tree);

#endif
