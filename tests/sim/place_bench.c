/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the time that placing takes: 200 VMs on all 252 free cores of a 2P Bergamo (512 threads) with the proof, and one
 * VM on a host whose facts are read already.
 *
 * usage: place_bench [HOST]     HOST as for hvtune --host
 *
 * Times are of this process alone, so that other load on the machine does not count. Exit code 1 when a promise is
 * broken.
 */
#include <errno.h>

#include "place_cases.h"
#include "place_host.h"

enum { VMS = 200, INSTANCES = 101, BERGAMO = 11 };

static const double many_median_ms = 2, many_most_ms = 100, one_most_ms = 1;

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return one < other ? -1 : one > other;
}

/* 200 VMs that fill the host to the last core: of one core each, some doubled until none is left. */
static void fill(struct place_case *of, struct case_random *random)
{
	int left = of->cores - VMS;

	for (int v = 0; v < VMS; v++)
		of->vms[v] = (struct place_vm){
		    .name = "vm", .cores = 1, .device_node = -1, .apart_group = -1, .priority = 1, .page_sizes = 2};
	while (left > 0) {
		struct place_vm *vm = &of->vms[case_below(random, VMS)];
		int more = MIN_OF(vm->cores, left);

		if (vm->cores > 8)
			continue;
		vm->cores += more;
		left -= more;
	}
	for (int v = 0; v < VMS; v++) {
		of->vms[v].memory_kib = (int64_t)of->vms[v].cores * 4 * 1048576;
		if (case_below(random, 100) < 12)
			of->vms[v].device_node = case_below(random, of->problem.node_count);
	}
	of->problem.vm_count = VMS;
}

static int many(void)
{
	double ms[INSTANCES];
	int proved = 0, placed = 0, bad = 0;

	for (int i = 0; i < INSTANCES; i++) {
		struct arena *arena CLEANUP(arena_free_pointer) = arena_new();
		struct place_case *of = case_new(arena, &case_hosts[BERGAMO], VMS);
		struct case_random random = {.state = (uint64_t)i + 1};
		const struct place_solution *solution = NULL;
		struct err err = {0};
		double start = 0;

		fill(of, &random);
		start = case_now_ms();
		if (place_solve(arena, &of->problem, &solution, &err) < 0) {
			err_print(stderr, &err);
			return 1;
		}
		ms[i] = case_now_ms() - start;
		proved += solution->proof != PLACE_NOT_PROVED;
		placed += solution->placed_cores == of->cores;
	}
	qsort(ms, INSTANCES, sizeof(*ms), compare);
	bad = ms[INSTANCES / 2] >= many_median_ms || ms[INSTANCES - 1] > many_most_ms || placed < INSTANCES;
	printf(
	    "place 200 VMs on 512 threads       median %.2f ms, most %.2f ms, all cores used %d of %d, proved %d  %s\n",
	    ms[INSTANCES / 2], ms[INSTANCES - 1], placed, INSTANCES, proved, bad ? "BROKEN" : "holds");
	return bad;
}

static int one(const char *path)
{
	const struct place_request request = {.name = "vm", .vcpus = 16, .memory_kib = 16LL * 1048576};
	struct place_wishes wishes = place_wishes_default();
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct err err = {0};
	double ms[INSTANCES];
	int bad = host_open(path, &host, &err);

	for (int i = 0; i < INSTANCES && bad == 0; i++) {
		struct arena *arena CLEANUP(arena_free_pointer) = arena_new();
		const struct place_plan *plan = NULL;
		double start = case_now_ms();

		bad = place_host(arena, host, &request, 1, &wishes, &plan, &err);
		ms[i] = case_now_ms() - start;
		if (bad == 0 && !plan->vms[0].result->placed)
			bad = err_set(&err, ENOSPC, path, "%s", plan->vms[0].result->reason);
	}
	if (bad < 0) {
		err_print(stderr, &err);
		return 1;
	}
	qsort(ms, INSTANCES, sizeof(*ms), compare);
	bad = ms[INSTANCES / 2] >= one_most_ms;
	printf("place one VM on %4d cores         median %.2f ms, most %.2f ms  %s\n", host->topology.core_count,
	       ms[INSTANCES / 2], ms[INSTANCES - 1], bad ? "BROKEN" : "holds");
	return bad;
}

int main(int argc, char **argv)
{
	int bad = many();

	if (argc > 1)
		bad += one(argv[1]);
	return bad > 0;
}
