/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the includes that cmocka wants before its own, in the order it wants them.
 */
#ifndef HVTUNE_UNIT_H
#define HVTUNE_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
