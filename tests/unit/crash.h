/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the exhaustive crash test: a plan is applied on a simulated machine in a process that kills itself before and
 * after every single call that changes something, first while applying, then while undoing; undo afterwards gives back
 * all files as they were. Whatever goes wrong in here fails the test that runs.
 */
#ifndef HVTUNE_TEST_CRASH_H
#define HVTUNE_TEST_CRASH_H

#include <sys/types.h>

#include "kernel.h"
#include "knob_apply.h"

enum { CRASH_ASKS = 6 };

struct crash_scene {
	const char *mode;		    /* of amd_pstate, when it begins */
	const char *asks[CRASH_ASKS];	    /* what `set` would be given */
	void (*add)(struct kernel *kernel); /* parts of the machine, and what its owner has set; NULL: nothing */
};

/* What makes the machine of a scene, and takes it down. */
struct crash_world {
	void (*begin)(struct kernel *kernel, const struct crash_scene *scene, void *data);
	void (*end)(struct kernel *kernel, void *data);
	void *data;
};

/* A machine without services. */
extern const struct crash_world crash_plain;

/* Make the plan of a scene and apply it; undo the newest change. As knob_apply() and knob_undo(). */
int crash_apply(struct kernel *kernel, const struct crash_scene *scene, struct err *err);
int crash_undo(struct kernel *kernel, struct err *err);

/* Killed at every call of apply; then undo. */
void crash_in_apply(const struct crash_world *world, const struct crash_scene *scene);

/* Applied to its end or killed half-way, and then killed at every call of undo; then undo again. */
void crash_in_undo(const struct crash_world *world, const struct crash_scene *scene);

/* Every call of apply fails with `errnum`: apply says so, and everything is as before, by itself or after undo. */
void crash_by_failures(const struct crash_world *world, const struct crash_scene *scene, int errnum);

/*
 * The three above for all scenes of a table, as tests of cmocka: CRASH_TESTS(set) in a list of tests, where `set` is a
 * struct crash_set. `errnums` ends with 0.
 */
struct crash_set {
	const struct crash_world *world;
	const struct crash_scene *scenes;
	size_t count;
	const int *errnums;
};

void killed_anywhere_in_apply(void **state);
void killed_anywhere_in_undo(void **state);
void failing_anywhere(void **state);

#define CRASH_TESTS(set)                                                                                               \
	cmocka_unit_test_prestate(killed_anywhere_in_apply, (void *)&(set)),                                           \
	    cmocka_unit_test_prestate(killed_anywhere_in_undo, (void *)&(set)),                                        \
	    cmocka_unit_test_prestate(failing_anywhere, (void *)&(set))

/* Wait for a child that must have killed itself or been killed. */
void crash_wait_killed(pid_t pid);

/* Undo, and fail the test unless all files are as in `before`. `how` says what was done to them. */
void crash_check_undone(struct kernel *kernel, const char *before, const char *how);

#endif
