/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the profiles that come with tuned set, for hosts on which their files cannot be read (a capture without
 * them, a tree of /sys and /proc only). Only options that hvtune's rules ask for.
 */
#ifndef HVTUNE_HOST_TUNED_STOCK_H
#define HVTUNE_HOST_TUNED_STOCK_H

#include "base.h"

struct tuned_stock_setting {
	const char *profile;
	const char *section, *option, *value;
	int since, until; /* minor versions of tuned 2.x in which the profile says so, both inclusive */
};

/* The names that a stock profile includes ("" for none), or NULL when there is no stock profile of this name. */
const char *tuned_stock_include(const char *profile);

/* All settings; ends with a NULL profile. */
extern const struct tuned_stock_setting tuned_stock_settings[];

#endif
