/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns drawing simulated hosts, and what they do. */
#include "sim_host.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TUNED                                                                                                          \
	"  tuned: {levels: {balanced: " SIM_HOOK ", balanced-performance: " SIM_HOOK                                   \
	", throughput-performance: " SIM_HOOK ", virtual-host: " SIM_HOOK ", powersave: " SIM_HOOK "}}\n"
#define PSTATE                                                                                                         \
	"  pstate: {levels: {active: " SIM_HOOK ", guided: " SIM_HOOK ", passive: " SIM_HOOK                           \
	", disable: {set: {boot.amd_pstate: disable}}}}\n"
#define MITIGATIONS "  mitigations: {knob: boot.mitigations, levels: [auto, off]}\n"
#define LEVER(name, needs) "  " name ": {" needs "levels: {0: " SIM_HOOK ", 1: " SIM_HOOK "}}\n"
#define BOOT "needs: host-boot, "
#define RESTART "needs: vm-restart, "

enum { TUNED_AT, PSTATE_AT, MITIGATIONS_AT, GUEST_AT, QUEUES_AT };

/* Minutes until half of a drift, and more, is forgotten (twenty runs of a minute and a half). */
#define DRIFT_MINUTES 30.
/* Preparation and settling of a run, and a live switch, in minutes. */
#define PREPARATION .25
#define LIVE .25

const struct sim_kind sim_metal = {"metal 40", TUNED PSTATE MITIGATIONS, 82.4, false, NULL};
const struct sim_kind sim_vm = {"VM 400",
				TUNED PSTATE MITIGATIONS
				"  guest: {needs: guest-boot, levels: {auto: " SIM_HOOK ", off: " SIM_HOOK "}}\n"
				"  queues: {needs: vm-restart, levels: {1: " SIM_HOOK ", 4: " SIM_HOOK ", 8: " SIM_HOOK
				", 16: " SIM_HOOK ", 32: " SIM_HOOK "}}\nvms: [vm]\n",
				130.6, false, NULL};
const struct sim_kind sim_levers = {"levers 1024",
				    LEVER("a", BOOT) LEVER("b", BOOT) LEVER("c", BOOT) LEVER("d", RESTART)
					LEVER("e", RESTART) LEVER("f", RESTART) LEVER("g", "") LEVER("h", "")
					    LEVER("i", "") LEVER("j", "") "vms: [vm]\n",
				    103, true, NULL};

/* Watts from one idle window to the next. */
#define IDLE_SD 1.5

/* ---- drawing ---- */

struct effects {
	double level[STUDY_MOST_FACTORS][STUDY_MOST_LEVELS];
	double pair[STUDY_MOST_FACTORS][STUDY_MOST_FACTORS][STUDY_MOST_LEVELS][STUDY_MOST_LEVELS];
	double balanced_off; /* balanced with the driver off */
	int both[2];	     /* levers that act together */
	double together;
};

static double between(gsl_rng *random, double low, double high)
{
	return gsl_ran_flat(random, low, high);
}

static void draw_pairs(struct sim_host *host, struct effects *effects, bool levers)
{
	size_t factors = host->study->factor_count;

	for (size_t f = 0; f < factors; f++)
		for (size_t g = 0; g < f; g++) {
			bool close = !levers && f == PSTATE_AT && g == TUNED_AT;
			/* Of two levels twice the difference is in the four corners. */
			double sd = levers ? .003 / 2 : close ? .004 : .003;

			for (size_t i = 0; i < STUDY_MOST_LEVELS; i++)
				for (size_t j = 0; j < STUDY_MOST_LEVELS; j++)
					effects->pair[f][g][i][j] = gsl_ran_gaussian(host->random, sd);
		}
}

static void draw_levers(struct sim_host *host, struct effects *effects)
{
	int factors = (int)host->study->factor_count, order[STUDY_MOST_FACTORS];
	int large = gsl_rng_uniform(host->random) < .5 ? 3 : 4;

	for (int f = 0; f < factors; f++)
		order[f] = f;
	gsl_ran_shuffle(host->random, order, (size_t)factors, sizeof(int));
	for (int i = 0; i < factors; i++) {
		double sign = gsl_rng_uniform(host->random) < .5 ? -1 : 1;

		effects->level[order[i]][1] =
		    i < large ? sign * between(host->random, .02, .13) : gsl_ran_gaussian(host->random, .003);
	}
	effects->both[0] = order[0];
	effects->both[1] = order[1];
	effects->together = between(host->random, .02, .05);
}

static void draw_study_a(struct sim_host *host, struct effects *effects)
{
	double(*level)[STUDY_MOST_LEVELS] = effects->level, least = 1, most = 0;
	gsl_rng *random = host->random;
	bool vm = host->study->factor_count > GUEST_AT;
	double span = between(random, .02, .05), queues = between(random, .05, .12);

	for (size_t i = 0; i < 5; i++) {
		level[TUNED_AT][i] = gsl_rng_uniform(random);
		least = fmin(least, level[TUNED_AT][i]);
		most = fmax(most, level[TUNED_AT][i]);
	}
	/* The slowest profile is that of the published start. */
	for (size_t i = 0; i < 5; i++)
		level[TUNED_AT][i] = -span * (level[TUNED_AT][i] - least) / (most - least);
	level[PSTATE_AT][1] = between(random, -.002, .002);
	level[PSTATE_AT][2] = between(random, 0, .02);
	level[PSTATE_AT][3] = between(random, 0, .03);
	level[MITIGATIONS_AT][1] = vm ? -between(random, .08, .14) : -between(random, .12, .15);
	effects->balanced_off = between(random, .02, .06);
	if (!vm)
		return;
	level[GUEST_AT][1] = -between(random, .12, .15);
	for (int i = 0; i < 5; i++)
		level[QUEUES_AT][i] = -queues * (1 - exp(-i)) / (1 - exp(-4));
}

/* What three levels do together: of factor f beside that of two others. */
static void add_triples(struct sim_host *host)
{
	enum { SIZE = 512 };
	double part[SIZE];
	size_t factors = host->study->factor_count;

	for (size_t f = 0; f < factors && host->wrong.triples > 0; f++)
		for (size_t g = 0; g < f; g++)
			for (size_t h = 0; h < g; h++) {
				for (size_t i = 0; i < SIZE; i++)
					part[i] = gsl_ran_gaussian(host->random, host->wrong.triples);
				for (size_t c = 0; c < host->matrix.count; c++) {
					const size_t *l = study_levels(&host->matrix, c);

					host->theta[c] += part[(l[f] * 64 + l[g] * 8 + l[h]) % SIZE];
				}
			}
}

static void draw(struct sim_host *host, const struct sim_kind *kind)
{
	if (kind->draw) {
		kind->draw(host);
		return;
	}
	struct effects *effects = ARENA_NEW(host->arena, struct effects);
	size_t factors = host->study->factor_count;

	draw_pairs(host, effects, kind->levers);
	if (kind->levers)
		draw_levers(host, effects);
	else
		draw_study_a(host, effects);
	for (size_t c = 0; c < host->matrix.count; c++) {
		const size_t *l = study_levels(&host->matrix, c);
		double theta = log(kind->base_s) + gsl_ran_gaussian(host->random, .0015);

		for (size_t f = 0; f < factors; f++) {
			theta += effects->level[f][l[f]];
			for (size_t g = 0; g < f; g++)
				theta += effects->pair[f][g][l[f]][l[g]];
		}
		if (kind->levers && l[effects->both[0]] && l[effects->both[1]])
			theta += effects->together;
		if (!kind->levers && l[TUNED_AT] == 0 && l[PSTATE_AT] == 3)
			theta += effects->balanced_off;
		host->theta[c] = theta;
		host->noise[c] = fmin(.05, fmax(.004, gsl_ran_lognormal(host->random, log(.011), .55)));
		host->dead[c] = c != host->matrix.baseline && gsl_rng_uniform(host->random) < host->wrong.dead;
	}
	add_triples(host);
}

struct sim_host *sim_host_new(const struct sim_kind *kind, const char *more, unsigned long seed,
			      const struct sim_wrong *wrong)
{
	struct arena *arena = arena_new();
	struct sim_host *host = ARENA_NEW(arena, struct sim_host);
	struct study_mistakes mistakes = {0};
	const char *text = arena_printf(arena, "study: s\nworkloads: {w: make}\nseed: %lu\n%sfactors:\n%s",
					1 + seed % 1000000, more, kind->factors);
	struct err err = {0};

	*host = (struct sim_host){.arena = arena, .wrong = wrong ? *wrong : (struct sim_wrong){0}};
	if (study_read(arena, "sim", text, strlen(text), &host->study, &mistakes) < 0) {
		err_print(stderr, &mistakes.items[0]);
		exit(3);
	}
	study_matrix_make(arena, host->study, &host->matrix);
	host->theta = ARENA_ARRAY(arena, host->matrix.count, double);
	host->noise = ARENA_ARRAY(arena, host->matrix.count, double);
	host->dead = ARENA_ARRAY(arena, host->matrix.count, bool);
	host->idle_w = ARENA_ARRAY(arena, host->matrix.count, double);
	host->leaves_w = ARENA_ARRAY(arena, host->matrix.count, double);
	host->seen = ARENA_ARRAY(arena, SIM_MOST_SEEN, struct study_seen);
	host->random = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(host->random, seed);
	if (host->wrong.boot_sd == 0)
		host->wrong.boot_sd = .003;
	if (host->wrong.drift_sd == 0)
		host->wrong.drift_sd = .003;
	draw(host, kind);
	host->config = -1;
	host->drift = gsl_ran_gaussian(host->random, host->wrong.drift_sd);
	if (study_engine_new(arena, &host->matrix, &host->engine, &err) < 0) {
		err_print(stderr, &err);
		exit(3);
	}
	return host;
}

void sim_host_free(struct sim_host **host)
{
	if (!*host)
		return;
	study_engine_free(&(*host)->engine);
	gsl_rng_free((*host)->random);
	arena_free((*host)->arena);
	*host = NULL;
}

/* ---- what it does ---- */

static void pass(struct sim_host *host, double minutes)
{
	double keep = exp(-minutes / DRIFT_MINUTES), sd = host->wrong.drift_sd * sqrt(1 - keep * keep);

	host->minutes += minutes;
	host->drift = host->drift * keep + gsl_ran_gaussian(host->random, sd);
}

static double noise_of_run(struct sim_host *host)
{
	const struct sim_wrong *wrong = &host->wrong;
	double sd = host->noise[host->config], fresh = gsl_ran_gaussian(host->random, 1);

	/* Scaled to the deviation that is said. */
	if (wrong->tail > 0)
		fresh = gsl_ran_tdist(host->random, wrong->tail) * sqrt((wrong->tail - 2) / wrong->tail);
	host->last = host->last * wrong->within_boot + fresh * sqrt(1 - wrong->within_boot * wrong->within_boot);
	return host->last * sd + (gsl_rng_uniform(host->random) < wrong->bimodal ? wrong->bimodal_by : 0);
}

static struct study_seen *see(struct sim_host *host, enum study_purpose purpose)
{
	struct study_seen *seen = &host->seen[MIN_OF(host->count, (size_t)SIM_MOST_SEEN - 1)];

	host->count = MIN_OF(host->count + 1, (size_t)SIM_MOST_SEEN);
	*seen = (struct study_seen){.config = host->config,
				    .boot = host->boot,
				    .purpose = purpose,
				    .valid = true,
				    .lowest = NAN,
				    .error = NAN,
				    .busy = NAN};
	for (size_t goal = 0; goal < STUDY_GOALS; goal++)
		seen->value[goal] = NAN;
	return seen;
}

/* What is not settled yet of a start. */
static double unsettled(const struct sim_host *host)
{
	const struct sim_wrong *wrong = &host->wrong;

	if (!wrong->settling_runs)
		return host->since ? 0 : wrong->settling;
	return wrong->settling * exp2(-host->since / wrong->settling_runs);
}

static void one_run(struct sim_host *host, enum study_purpose purpose)
{
	double y = host->theta[host->config] + host->boot_effect + host->drift +
		   host->wrong.slope * host->minutes / 60 + host->ramp * (host->minutes - host->booted_at) / 60 +
		   unsettled(host) + noise_of_run(host);
	struct study_seen *seen = see(host, purpose);

	seen->valid = !host->dead[host->config];
	seen->value[STUDY_TIME] = exp(y);
	seen->minutes = exp(y) / 60;
	pass(host, exp(y) / 60 + PREPARATION);
	host->runs += purpose != STUDY_WARM_UP;
	host->warm = true;
	host->since++;
}

/* Two minutes to settle and half a minute, as study A did it; readings wander. */
static void one_window(struct sim_host *host)
{
	struct study_seen *seen = see(host, STUDY_IDLE);
	double watts = host->idle_w[host->config] + host->trace_w + gsl_ran_gaussian(host->random, IDLE_SD);

	seen->value[STUDY_IDLE_WATTS] = watts;
	seen->lowest = watts - IDLE_SD;
	seen->error = IDLE_SD / 2;
	seen->busy = .001;
	seen->minutes = 2.5;
	pass(host, seen->minutes);
}

struct stat_switch sim_switch(const struct sim_host *host, int from, int to)
{
	int cost = from < 0 ? STUDY_HOST_BOOT : study_switch_cost(&host->matrix, (size_t)from, (size_t)to);

	if (cost < 0)
		return (struct stat_switch){STAT_CHANGE_NONE, 0};
	if (cost == STUDY_LIVE)
		return (struct stat_switch){STAT_CHANGE_LIVE, LIVE};
	if (cost < STUDY_HOST_BOOT)
		return (struct stat_switch){STAT_CHANGE_GUEST, study_cost_seconds(STUDY_VM_RESTART) / 60};
	/* A host that boots starts its guests too. */
	return (struct stat_switch){STAT_CHANGE_HOST, (study_cost_seconds(STUDY_HOST_BOOT) +
						       (*host->study->vms ? study_cost_seconds(STUDY_VM_RESTART) : 0)) /
							  60};
}

static void boot(struct sim_host *host, int config)
{
	host->boot++;
	host->boots++;
	host->boot_effect = gsl_ran_gaussian(host->random, host->wrong.boot_sd);
	host->last = gsl_ran_gaussian(host->random, 1);
	host->trace_w = 0;
	host->warm = false;
	host->since = 0;
	host->booted_at = host->minutes;
	host->ramp = host->wrong.ramp;
	if (host->wrong.ramp_sd > 0)
		host->ramp += gsl_ran_gaussian(host->random, host->wrong.ramp_sd);
	host->config = config;
}

/* false: the host did not come up, and is back in its baseline by a second boot. */
static bool enter(struct sim_host *host, int config, bool own_boot)
{
	struct stat_switch needed = sim_switch(host, own_boot ? -1 : host->config, config);

	pass(host, needed.minutes);
	if (host->config >= 0 && host->config != config)
		host->trace_w = fmax(host->trace_w, host->leaves_w[host->config]);
	if (needed.change == STAT_CHANGE_HOST) {
		boot(host, config);
		if (host->wrong.fails && host->boots % host->wrong.fails == 0) {
			see(host, STUDY_CHOOSE)->valid = false;
			pass(host, needed.minutes);
			boot(host, (int)host->matrix.baseline);
			host->failed_boots++;
			return false;
		}
	}
	if (needed.change == STAT_CHANGE_GUEST) {
		host->restarts++;
		host->warm = false;
		host->since = 0;
	}
	host->config = config;
	return true;
}

void sim_perform(struct sim_host *host, int config, int runs, enum study_purpose purpose, bool own_boot)
{
	if (!enter(host, config, own_boot))
		return;
	if (purpose == STUDY_IDLE) {
		one_window(host);
		return;
	}
	if (!host->warm)
		one_run(host, STUDY_WARM_UP);
	for (int i = 0; i < runs; i++)
		one_run(host, purpose);
}

struct study_answer sim_study(struct sim_host *host)
{
	struct study_answer answer = {.incumbent = -1};
	struct err err = {0};
	int r = 0;

	while (host->count < SIM_MOST_SEEN) {
		struct study_step step;

		r = study_next(host->engine, host->seen, host->count, host->config, host->boot, &step, &err);
		if (r < 0 || step.what != STUDY_RUN)
			break;
		sim_perform(host, step.config, step.runs, step.purpose,
			    step.own_boot && !study_boot_is_fresh(host->seen, host->count, host->boot));
	}
	if (r == 0)
		r = study_answer(host->engine, 0, host->seen, host->count, &answer, &err);
	if (r < 0) {
		err_print(stderr, &err);
		exit(3);
	}
	return answer;
}

double sim_regret(const struct sim_host *host, int config)
{
	double best = INFINITY;

	for (size_t c = 0; c < host->matrix.count; c++)
		if (!host->dead[c])
			best = fmin(best, host->theta[c]);
	return host->theta[config] - best;
}

static struct stat_switch change(const void *context, int from, int to)
{
	return sim_switch(context, from, to);
}

static double run_minutes(const void *context, int config)
{
	const struct sim_host *host = context;

	return exp(host->theta[config]) / 60 + PREPARATION;
}

int sim_factorial(struct sim_host *host, int runs)
{
	const struct stat_costs costs = {host, change, run_minutes};
	int *order = ARENA_ARRAY(host->arena, host->matrix.count, int), best = -1;
	double least = INFINITY;

	for (size_t c = 0; c < host->matrix.count; c++)
		order[c] = (int)c;
	stat_order_nested(&costs, host->config, host->study->seed, order, (int)host->matrix.count);
	for (size_t c = 0; c < host->matrix.count; c++) {
		double sum = 0;

		sim_perform(host, order[c], runs, STUDY_CHOOSE, false);
		for (int i = 0; i < runs; i++)
			sum += log(host->seen[host->count - 1 - (size_t)i].value[STUDY_TIME]);
		host->count = 0;
		if (sum / runs < least) {
			least = sum / runs;
			best = order[c];
		}
	}
	return best;
}
