/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the table of placing under churn: VMs come and go, nothing is moved between nodes, and no VM may have more nodes
 * than it needs. Once with all pins kept, once with at most three re-pins inside a node for each arrival.
 *
 * usage: place_churn [--arrivals N]     (6000)
 *
 * Before an arrival would lift the load above 90 % of the cores or 95 % of the memory, VMs at random depart. Exit code
 * 1 when a share of split VMs or an excess is worse than its reference by more than two standard errors. Neighbours in
 * time are alike, so the error is that of the means of twenty batches of the run. The excess judged is that of VMs that
 * one node can hold; that of all is printed beside it.
 */
#include <math.h>
#include <string.h>

#include "place_cases.h"

struct churn_figures {
	double split, excess; /* %, ns a core */
};

static const struct {
	int host; /* in case_hosts */
	enum mix mix;
	struct churn_figures keep, repin;
	double repins; /* an arrival */
} rows[] = {
    {6, MIX_CLOUD, {2.9, 4.0}, {.6, .6}, .08},	     {6, MIX_ENTERPRISE, {12.2, 6.9}, {1.0, .6}, .11},
    {4, MIX_CLOUD, {3.1, 3.4}, {.1, .1}, .03},	     {10, MIX_ENTERPRISE, {7.5, 5.3}, {.5, 1.5}, .05},
    {11, MIX_ENTERPRISE, {.3, .1}, {.03, .02}, .01}, {13, MIX_ENTERPRISE, {8.4, 5.5}, {.7, .3}, .13},
};

enum { LIVE_MAX = 512, LOAD = 90, WARM_UP = 10, BATCHES = 20 };

struct batch {
	double split, excess, all, samples; /* sums; excess of VMs that one node can hold, and of all */
};

struct live {
	struct place_vm vm;
	int *now;
	int64_t *pages;
	int64_t excess; /* ps x cores */
	bool split;
};

struct churn {
	const struct case_host *host;
	struct place_case *of;
	const struct place_ccx *empty_ccxs;
	struct live live[LIVE_MAX];
	int count, cores;
	bool repin;
	int arrivals, rejected, repins;
	struct batch batches[BATCHES];
	double ms;
};

static void depart(struct churn *churn, int at)
{
	churn->cores -= churn->live[at].vm.cores;
	free(churn->live[at].now);
	free(churn->live[at].pages);
	churn->live[at] = churn->live[--churn->count];
}

/* The problem of one arrival: the live VMs with their rights, then the new one. */
static void pose(struct churn *churn, const struct place_vm *arrival)
{
	struct place_case *of = churn->of;
	struct place_problem *problem = &of->problem;

	problem->strict = true;
	problem->max_changes = churn->repin ? 3 : 0;
	problem->effort = 1; /* the arrival's own search, nothing else */
	problem->vm_count = churn->count + 1;
	for (int i = 0; i < problem->ccx_count; i++) {
		of->ccxs[i].free = of->ccxs[i].cores;
		of->ccxs[i].kept = 0;
	}
	for (int n = 0; n < problem->node_count; n++)
		of->nodes[n].free_pages[1] = of->nodes[n].total_pages[1];
	for (int v = 0; v < churn->count; v++) {
		struct live *live = &churn->live[v];

		of->vms[v] = live->vm;
		of->vms[v].right = churn->repin ? PLACE_REPIN : PLACE_KEEP;
		of->vms[v].now = live->now;
		of->vms[v].now_pages = live->pages;
		of->vms[v].now_page_size = 1;
		for (int i = 0; i < problem->ccx_count && !churn->repin; i++) {
			of->ccxs[i].free -= live->now[i];
			of->ccxs[i].kept += live->now[i];
		}
		for (int n = 0; n < problem->node_count; n++)
			of->nodes[n].free_pages[1] -= live->pages[n];
	}
	of->vms[churn->count] = *arrival;
}

static void take_over(struct churn *churn, const struct place_vm *arrival, const struct place_solution *solution)
{
	const struct place_problem *problem = &churn->of->problem;
	int count = churn->count;

	if (solution->vms[count].placed) {
		struct live *live = &churn->live[churn->count++];

		live->vm = *arrival;
		live->now = calloc((size_t)problem->ccx_count, sizeof(int));
		live->pages = calloc((size_t)problem->node_count, sizeof(int64_t));
		memcpy(live->pages, solution->vms[count].pages, (size_t)problem->node_count * sizeof(int64_t));
		churn->cores += arrival->cores;
	} else {
		churn->rejected++;
	}
	for (int v = 0; v < churn->count; v++) {
		const struct place_vm_result *result = &solution->vms[v];
		struct live *live = &churn->live[v];

		memset(live->now, 0, (size_t)problem->ccx_count * sizeof(int));
		for (int i = 0; i < result->part_count; i++)
			live->now[result->parts[i].ccx] = result->parts[i].cores;
		live->excess = result->cost - result->ideal;
		live->split = result->part_count > result->ccx_fewest;
		churn->repins += result->changed;
	}
}

/* Could one node of the empty host hold the VM? Re-pins inside a node can't mend what spans several. */
static bool fits_node(const struct churn *churn, const struct place_vm *vm)
{
	const struct place_problem *problem = &churn->of->problem;
	int cores = 0;

	for (int i = 0; i < problem->ccx_count; i++)
		cores += problem->ccxs[i].node == 0 ? problem->ccxs[i].cores : 0;
	return vm->cores <= cores && vm->memory_kib <= problem->nodes[0].total_pages[1] * problem->page_kib[1];
}

static void sample(const struct churn *churn, struct batch *batch)
{
	int64_t excess = 0, all = 0;
	int split = 0;

	for (int v = 0; v < churn->count; v++) {
		all += churn->live[v].excess;
		excess += fits_node(churn, &churn->live[v].vm) ? churn->live[v].excess : 0;
		split += churn->live[v].split;
	}
	batch->split += churn->count > 0 ? 100.0 * split / churn->count : 0;
	batch->excess += place_ns(excess, churn->cores);
	batch->all += place_ns(all, churn->cores);
	batch->samples++;
}

/* Would the load be above its limit, or memory above 95 %? */
static bool full(const struct churn *churn, const struct place_vm *vm)
{
	double memory_kib = (double)vm->memory_kib;

	for (int v = 0; v < churn->count; v++)
		memory_kib += (double)churn->live[v].vm.memory_kib;
	return (churn->cores + vm->cores) * 100 > LOAD * churn->of->cores || memory_kib > 0.95 * churn->of->memory_kib;
}

static int arrive(struct churn *churn, struct case_random *random, enum mix mix)
{
	struct arena *arena CLEANUP(arena_free_pointer) = arena_new();
	struct place_vm vm = case_draw(random, churn->of, churn->host, mix);
	const struct place_solution *solution = NULL;
	struct err err = {0};
	double start = case_now_ms();

	while (churn->count > 0 && full(churn, &vm))
		depart(churn, case_below(random, churn->count));
	pose(churn, &vm);
	if (place_solve(arena, &churn->of->problem, &solution, &err) < 0) {
		err_print(stderr, &err);
		return -1;
	}
	churn->ms += case_now_ms() - start;
	churn->arrivals++;
	take_over(churn, &vm, solution);
	return 0;
}

static bool run(struct churn *churn, int row, bool repin, int arrivals)
{
	struct arena *arena CLEANUP(arena_free_pointer) = arena_new();
	struct case_random random = {.state = (uint64_t)(row + 1)};
	int first = arrivals / WARM_UP;

	memset(churn, 0, sizeof(*churn));
	churn->host = &case_hosts[rows[row].host];
	churn->of = case_new(arena, churn->host, LIVE_MAX + 1);
	churn->repin = repin;
	for (int i = 0; i < arrivals; i++) {
		if (arrive(churn, &random, rows[row].mix) < 0)
			return false;
		if (i >= first)
			sample(churn, &churn->batches[(int64_t)(i - first) * BATCHES / (arrivals - first)]);
	}
	while (churn->count > 0)
		depart(churn, 0);
	return true;
}

/* Mean over the batches of the sum at `offset` in struct batch, and its standard error. */
static double mean_of(const struct churn *churn, size_t offset, double *ret_error)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < BATCHES; i++) {
		const struct batch *batch = &churn->batches[i];
		double mean = *(const double *)((const char *)batch + offset) / fmax(batch->samples, 1);

		sum += mean;
		squares += mean * mean;
	}
	sum /= BATCHES;
	*ret_error = sqrt(fmax(squares / BATCHES - sum * sum, 0) / (BATCHES - 1));
	return sum;
}

static int print(const struct churn *churn, int row, bool repin)
{
	static const char *const mixes[] = {"random", "cloud", "enterprise"};
	const struct churn_figures *want = repin ? &rows[row].repin : &rows[row].keep;
	double split_error = 0, excess_error = 0, all_error = 0;
	double split = mean_of(churn, offsetof(struct batch, split), &split_error);
	double excess = mean_of(churn, offsetof(struct batch, excess), &excess_error);
	double all = mean_of(churn, offsetof(struct batch, all), &all_error);
	/* Half a digit of the reference is its rounding. */
	bool bad = split > want->split + 2 * split_error + .05 || excess > want->excess + 2 * excess_error + .05;

	printf("%-14s %-10s %-7s %5.2f (%.2f) %5.2f (%.2f) all %5.2f (%.2f) | %5.2f %5.2f  re-pins %.3f (%.2f) "
	       "rejected %4.1f %%  %.3f "
	       "ms  %s\n",
	       churn->host->name, mixes[rows[row].mix], repin ? "re-pin" : "keep", split, split_error, excess,
	       excess_error, all, all_error, want->split, want->excess, (double)churn->repins / churn->arrivals,
	       repin ? rows[row].repins : 0, 100.0 * churn->rejected / churn->arrivals, churn->ms / churn->arrivals,
	       bad ? "WORSE" : "holds");
	(void)fflush(stdout);
	return bad;
}

int main(int argc, char **argv)
{
	static struct churn churn;
	int arrivals = 6000, bad = 0;

	if (argc == 3 && strcmp(argv[1], "--arrivals") == 0)
		arrivals = MAX_OF((int)strtol(argv[2], NULL, 10), 100);
	printf("%-33s split (error)  ns (error)                  | split    ns\n", "");
	for (int row = 0; row < (int)ARRAY_SIZE(rows); row++) {
		for (int repin = 0; repin < 2; repin++) {
			if (!run(&churn, row, repin, arrivals))
				return 1;
			bad += print(&churn, row, repin);
		}
	}
	if (bad)
		printf("%d figures are worse than their reference\n", bad);
	else
		printf("all figures hold\n");
	return bad ? 1 : 0;
}
