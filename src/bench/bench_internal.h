/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of this room share.
 */
#ifndef HVTUNE_BENCH_INTERNAL_H
#define HVTUNE_BENCH_INTERNAL_H

#include <jansson.h>
#include <regex.h>

#include "bench_metric.h"

/* Compile an extended regular expression. -EINVAL. */
int bench_regex_compile(regex_t *ret, const char *pattern, struct err *err);

/* A number at the start of a text ("12.5 MiB"), with the decimal point of C. -EBADMSG. */
int bench_number(const char *text, double *ret);

#endif
