/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns comparing a number with a printed one: they agree when the number, rounded to as many places, is the printed
 * one.
 */
#ifndef HVTUNE_DIGITS_H
#define HVTUNE_DIGITS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* Half a unit of the last place printed in "1.50", "-.25" or "3.76e-15". */
static inline double digits_half_unit(const char *printed)
{
	const char *point = strchr(printed, '.'), *exponent = strpbrk(printed, "eE");
	const char *end = exponent ? exponent : printed + strlen(printed);
	double places = point ? (double)(end - point - 1) : 0;

	return .5000001 * pow(10, (exponent ? strtod(exponent + 1, NULL) : 0) - places);
}

static inline void digits_agree(double value, const char *printed, const char *file, int line)
{
	if (fabs(value - strtod(printed, NULL)) <= digits_half_unit(printed))
		return;
	print_error("%s:%d: %.12g is not %s\n", file, line, value, printed);
	fail();
}

#define DIGITS(value, printed) digits_agree((value), #printed, __FILE__, __LINE__)

#endif
