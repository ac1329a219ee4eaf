/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the store that tests write and read: a SQLite file in a folder of its own, or the PostgreSQL database of
 * HVTUNE_TEST_POSTGRESQL where that is set (tests/cli/test_postgresql.py starts a server for it).
 */
#ifndef HVTUNE_TEST_STORE_SCENE_H
#define HVTUNE_TEST_STORE_SCENE_H

#include "store.h"

struct store_scene {
	char folder[64];
	char path[96];
	const char *url; /* of PostgreSQL, or NULL */
};

/* What store_open() takes. */
const char *store_place(const struct store_scene *scene);

/* For cmocka: *state is a struct store_scene. */
int store_set_up(void **state);
int store_tear_down(void **state);

/* Opened; the test fails when it cannot be. */
struct store *store_opened(const char *where, enum store_mode mode);

/* A session of two configurations with so many runs, samples and a note; its number. */
int64_t store_fill(struct store *store, const char *label, size_t runs);

/* It is read back as it was filled. */
void store_assert_filled(struct store *store, int64_t id, const char *label, size_t runs);

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, store_set_up, store_tear_down)

#endif
