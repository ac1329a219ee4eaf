/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the model share. */
#ifndef HVTUNE_STAT_MODEL_INTERNAL_H
#define HVTUNE_STAT_MODEL_INTERNAL_H

#include "stat_model.h"

/* The runs of one configuration in one boot. */
struct stat_model_cell {
	int configuration, boot; /* boot: index of model->boots */
	int runs, first;	 /* first: of its runs in model->places and model->logs */
	double mean;
};

struct stat_model {
	const struct stat_space *space;
	struct stat_hyper hyper;
	struct stat_model_cell *cells;
	int *boots, *run_counts;
	int *lengths;  /* runs of each boot */
	int *places;   /* of the runs, cell by cell: how manieth of its boot */
	double *logs;  /* likewise */
	double *noise; /* sig2 of each configuration */
	double *alike; /* [cell][cell up to it]: mean correlation of the noise of their runs */
	double within; /* ln of how likely the differences of the runs within cells are, but for a constant */
	bool noise_given;
	double jitter, mean, widen;
	int cell_count, boot_count, total; /* total: runs */
	struct stat_past past;
	/* Rows one after the other. */
	double *factor; /* lower Cholesky factor of K */
	double *across; /* row c: L^-1 k(cell, c) */
	double *toward; /* row b: L^-1 (vb [boot of cell = b]) */
	double *ahead; /* row b: L^-1 of the covariance of cells with the noise of the next run in b, its deviation 1 */
	double *alpha; /* L^-1 (y - mean) */
	double *theta_mean, *theta_variance;
};

/* How alike runs are, and all that hangs on it: the correlation of cells, and the noise of configurations. */
void stat_model_set_alike(struct stat_model *model, double alike);

#endif
