/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the estimate of what a study takes before a run was measured: switches of each kind and time, from what the file
 * says of its workloads and what changes of each kind usually take (study_cost_seconds()). What a person takes is not
 * in any of the times: a study does not count it.
 */
#ifndef HVTUNE_STUDY_ESTIMATE_H
#define HVTUNE_STUDY_ESTIMATE_H

#include "study_check.h"

struct study_estimate {
	double run_s; /* of all workloads once; 0: not all say what they take, and none of the times has runs in it */
	size_t least, most;	    /* rounds over all configurations; of a race 0 and 0 */
	size_t look;		    /* configurations that a race looks at first; 0: it is none */
	struct study_switches once; /* of one round */
	double once_s;		    /* one round with its runs, and those that are thrown away after a restart */
	double least_s, most_s;	    /* choosing, without confirming; most_s is at most the budget, 0: not known */
	double whole_least_s, whole_most_s; /* with confirming, where that is wanted and the baseline is not the best */
	size_t least_boots, most_boots;	    /* of the host */
	/* How often a person is asked, to put it back too; of a race the least, and how often to see each level once.
	 */
	size_t least_asks, most_asks;
};

/* `design` as study_engine_design() says, or of the file. */
void study_estimate(const struct study_matrix *matrix, struct study_estimate *ret);

#endif
