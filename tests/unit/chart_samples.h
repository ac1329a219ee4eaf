/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns charts to test with: the figures of a study of one server, and the same kinds with data that is hard to draw:
 * long names, names of other scripts, points on one place, nothing known, thousands of runs.
 */
#ifndef HVTUNE_CHART_SAMPLES_H
#define HVTUNE_CHART_SAMPLES_H

#include "report_chart.h"

/* `ret_count` charts in the arena. */
const struct chart *chart_samples(struct arena *arena, int *ret_count);

#endif
