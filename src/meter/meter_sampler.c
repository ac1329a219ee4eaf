/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the threads that sample. One reads all that the host itself offers; each source that may wait for a network or a
 * BMC has a thread of its own, so that it makes no other late. Their loops allocate nothing and write only samples,
 * into room that was set aside at the start; the pages of it come into being as they are used.
 */
#include "meter_sampler.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "meter_driver.h"

enum { DEFAULT_ROOM = 1 << 20, MARK_TRIES = 3 };

/* A read that takes longer says too little of when the value was. */
static const int64_t mark_most_ns = 5000000;
static const int64_t mark_least_ns = 100000000;

struct track {
	size_t source; /* its index in the set */
	struct meter_input *input;
	int64_t period_ns, next_ns;
	struct meter_sample *samples;
	atomic_size_t count;
	atomic_uint_least64_t lost;
};

/* Sums over all CPUs; only the quick lane has it. */
struct cpu_track {
	struct meter_cpus *cpus;
	struct meter_cpus_moment moment;
	int64_t period_ns, next_ns;
	struct meter_activity_sample *samples;
	atomic_size_t count;
};

/* One thread and what it reads. */
struct lane {
	struct meter_sampler *sampler;
	struct track *tracks;
	size_t count;
	pthread_t thread;
	bool started;
	_Atomic double cpu_s;
	atomic_uint_least64_t reads;
	/* below the lock of the sampler */
	uint64_t marks_wanted, marks_done;
	int64_t mark_ns; /* when the reads of the last mark began */
};

struct meter_sampler {
	struct meter_set *set;
	struct track *tracks; /* those of a lane stand together */
	size_t track_count, room;
	struct lane *lanes; /* the first is the quick one, also when it is empty */
	size_t lane_count;
	struct cpu_track activity;
	pthread_mutex_t lock;
	pthread_cond_t wake, marked;
	bool stop;
	int64_t start_ns, stop_ns; /* stop_ns 0: it runs */
};

int64_t meter_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- the loop ---- */

static void keep(struct meter_sampler *sampler, struct track *track, const struct meter_sample *sample)
{
	size_t count = atomic_load_explicit(&track->count, memory_order_relaxed);

	if (count == sampler->room) {
		(void)atomic_fetch_add_explicit(&track->lost, 1, memory_order_relaxed);
		return;
	}
	track->samples[count] = *sample;
	atomic_store_explicit(&track->count, count + 1, memory_order_release);
}

static struct meter_sample take_sample(struct meter_input *input)
{
	int64_t before_ns = meter_now_ns();
	struct meter_reading reading;

	meter_read_input(input, &reading);
	int64_t took_ns = meter_now_ns() - before_ns;
	struct meter_sample sample = {
	    .time_ns = before_ns + took_ns / 2,
	    .took_ns = (uint32_t)MIN_OF(took_ns, (int64_t)UINT32_MAX),
	    .state = (uint16_t)reading.state,
	    .errnum = (uint16_t)reading.errnum,
	};

	if (input->source.quantity == METER_ENERGY)
		sample.count = reading.count;
	else
		sample.value = reading.value;
	return sample;
}

static void sample_track(struct lane *lane, struct track *track, bool is_mark)
{
	struct meter_sample sample = take_sample(track->input);

	for (int i = 1; is_mark && i < MARK_TRIES && sample.took_ns > mark_most_ns; i++)
		sample = take_sample(track->input);
	keep(lane->sampler, track, &sample);
	(void)atomic_fetch_add_explicit(&lane->reads, 1, memory_order_relaxed);
}

static struct meter_activity_sample sum_moment(const struct meter_cpus_moment *moment, size_t count)
{
	struct meter_activity_sample sample = {
	    .time_ns = moment->time_ns, .tsc = moment->tsc, .clocks = moment->tsc_known, .idle = true};

	for (size_t i = 0; i < count; i++) {
		const struct meter_cpu_counts *counts = &moment->cpus[i];

		sample.clocks = sample.clocks && counts->clocks;
		sample.idle = sample.idle && counts->idle;
		sample.aperf += counts->aperf;
		sample.mperf += counts->mperf;
		for (size_t j = 0; j < METER_IDLE_MOST; j++)
			sample.idle_us[j] += counts->idle_us[j];
	}
	return sample;
}

/* Hundreds of CPUs take milliseconds: a mark reads them only when they were not read just before. */
static void sample_cpus(struct lane *lane, struct cpu_track *track, int64_t now_ns, bool is_mark)
{
	size_t count = atomic_load_explicit(&track->count, memory_order_relaxed);
	bool is_due = track->next_ns <= now_ns;

	if (is_due)
		track->next_ns += ((now_ns - track->next_ns) / track->period_ns + 1) * track->period_ns;
	if (is_mark && !is_due && count && now_ns - track->samples[count - 1].time_ns < mark_least_ns)
		return;
	if ((!is_due && !is_mark) || count == lane->sampler->room)
		return;
	meter_cpus_read(track->cpus, &track->moment);
	track->samples[count] = sum_moment(&track->moment, meter_cpus_count(track->cpus));
	atomic_store_explicit(&track->count, count + 1, memory_order_release);
	(void)atomic_fetch_add_explicit(&lane->reads, meter_cpus_count(track->cpus), memory_order_relaxed);
}

/* Read what is due, or all; the time when the next is due. What was missed is not made up for. */
static int64_t sample_due(struct lane *lane, int64_t now_ns, bool is_mark)
{
	int64_t next_ns = INT64_MAX;

	for (size_t i = 0; i < lane->count; i++) {
		struct track *track = &lane->tracks[i];

		if (is_mark || track->next_ns <= now_ns)
			sample_track(lane, track, is_mark);
		if (track->next_ns <= now_ns)
			track->next_ns += ((now_ns - track->next_ns) / track->period_ns + 1) * track->period_ns;
		next_ns = MIN_OF(next_ns, track->next_ns);
	}
	struct cpu_track *activity = &lane->sampler->activity;

	if (activity->cpus && lane == &lane->sampler->lanes[0]) {
		sample_cpus(lane, activity, now_ns, is_mark);
		next_ns = MIN_OF(next_ns, activity->next_ns);
	}
	return next_ns;
}

static void note_cost(struct lane *lane)
{
	struct timespec used;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0)
		atomic_store_explicit(&lane->cpu_s, (double)used.tv_sec + (double)used.tv_nsec / 1e9,
				      memory_order_relaxed);
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
}

/* Wait for the time, a mark or the end. Returns the number of the last mark that is wanted; false at the end. */
static bool wait_for_work(struct lane *lane, int64_t next_ns, uint64_t *ret_marks)
{
	struct meter_sampler *sampler = lane->sampler;
	const struct timespec until = timespec_of(next_ns);
	int r = 0;

	(void)pthread_mutex_lock(&sampler->lock);
	while (!sampler->stop && lane->marks_wanted == lane->marks_done && r != ETIMEDOUT)
		r = next_ns == INT64_MAX ? pthread_cond_wait(&sampler->wake, &sampler->lock)
					 : pthread_cond_timedwait(&sampler->wake, &sampler->lock, &until);
	bool goes_on = !sampler->stop;

	*ret_marks = lane->marks_wanted;
	(void)pthread_mutex_unlock(&sampler->lock);
	return goes_on;
}

static void say_marked(struct lane *lane, uint64_t marks, int64_t mark_ns)
{
	(void)pthread_mutex_lock(&lane->sampler->lock);
	lane->marks_done = marks;
	lane->mark_ns = mark_ns;
	(void)pthread_cond_broadcast(&lane->sampler->marked);
	(void)pthread_mutex_unlock(&lane->sampler->lock);
}

static void *run_lane(void *data)
{
	struct lane *lane = data;
	int64_t next_ns = sample_due(lane, meter_now_ns(), false);
	uint64_t marks, done = 0;

	note_cost(lane);
	while (wait_for_work(lane, next_ns, &marks)) {
		bool is_mark = marks != done;
		int64_t now_ns = meter_now_ns();

		next_ns = sample_due(lane, now_ns, is_mark);
		note_cost(lane);
		if (is_mark)
			say_marked(lane, marks, now_ns);
		done = marks;
	}
	note_cost(lane);
	return NULL;
}

/* ---- starting and ending ---- */

static bool is_usable(const struct meter_source *source)
{
	return source->state == METER_VALUE;
}

/* Address space whose pages come into being as they are written; NULL and errno when there is none. */
static void *reserve(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int make_track(struct meter_sampler *sampler, struct track *track, size_t source, double period_s,
		      struct err *err)
{
	struct meter_input *input = sampler->set->inputs[source];
	double own_s = input->source.period_s;

	*track = (struct track){.source = source, .input = input};
	if (!input->source.slow && period_s > 0)
		own_s = fmin(own_s, period_s);
	/* A counter that goes round must be read four times before it can have done so. */
	if (input->source.quantity == METER_ENERGY)
		own_s = fmin(own_s, meter_counter_round_s(&input->source.counter) / 4);
	track->period_ns = MAX_OF((int64_t)(own_s * 1e9), INT64_C(1000000));
	track->next_ns = sampler->start_ns;
	track->samples = reserve(sampler->room * sizeof(*track->samples));
	if (!track->samples)
		return err_set(err, errno, input->source.name, "no room for its samples: %s", strerror(errno));
	return 0;
}

static int make_activity(struct meter_sampler *sampler, const struct meter_sampling *how, struct err *err)
{
	struct cpu_track *track = &sampler->activity;
	double period_s = how->period_s > 0 ? fmin(how->period_s, 1) : 1;

	track->period_ns = MAX_OF((int64_t)(period_s * 1e9), INT64_C(1000000));
	track->next_ns = sampler->start_ns;
	track->samples = reserve(sampler->room * sizeof(*track->samples));
	if (!track->samples)
		return err_set(err, errno, "CPUs", "no room for their samples: %s", strerror(errno));
	track->moment = meter_cpus_moment_new(how->cpus);
	track->cpus = how->cpus;
	return 0;
}

/* Sources in lanes: first the quick ones, then each slow one by itself. */
static int make_lanes(struct meter_sampler *sampler, double period_s, struct err *err)
{
	const struct meter_set *set = sampler->set;
	struct lane *lane = &sampler->lanes[0];

	*lane = (struct lane){.sampler = sampler, .tracks = sampler->tracks};
	sampler->lane_count = 1;
	for (int slow = 0; slow <= 1; slow++) {
		for (size_t i = 0; i < set->count; i++) {
			const struct meter_source *source = &set->inputs[i]->source;
			struct track *track = &sampler->tracks[sampler->track_count];

			if (!is_usable(source) || source->slow != (bool)slow)
				continue;
			if (slow) {
				lane = &sampler->lanes[sampler->lane_count++];
				*lane = (struct lane){.sampler = sampler, .tracks = track};
			}
			sampler->track_count++;
			lane->count++;
			int r = make_track(sampler, track, i, period_s, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Signals are for the thread that runs the command. */
static int start_lane(struct lane *lane, struct err *err)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&lane->thread, NULL, run_lane, lane);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return err_set(err, r, NULL, "no thread for the sampler: %s", strerror(r));
	lane->started = true;
	return 0;
}

static void *zeroed(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		err_no_memory();
	return memory;
}

int meter_sampler_start(struct meter_set *set, const struct meter_sampling *how, struct meter_sampler **ret,
			struct err *err)
{
	CLEANUP(meter_sampler_free_pointer) struct meter_sampler *sampler = zeroed(1, sizeof(*sampler));
	pthread_condattr_t monotonic;
	int r;

	sampler->set = set;
	sampler->room = how && how->room ? how->room : DEFAULT_ROOM;
	sampler->tracks = zeroed(set->count + 1, sizeof(*sampler->tracks));
	sampler->lanes = zeroed(set->count + 1, sizeof(*sampler->lanes));
	sampler->start_ns = meter_now_ns();
	(void)pthread_mutex_init(&sampler->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&sampler->wake, &monotonic);
	(void)pthread_cond_init(&sampler->marked, NULL);
	(void)pthread_condattr_destroy(&monotonic);
	r = make_lanes(sampler, how ? how->period_s : 0, err);
	if (r == 0 && how && how->cpus)
		r = make_activity(sampler, how, err);
	for (size_t i = 0; i < sampler->lane_count && r == 0; i++)
		r = start_lane(&sampler->lanes[i], err);
	if (r < 0)
		return r;
	*ret = sampler;
	sampler = NULL;
	return 0;
}

int64_t meter_sampler_mark(struct meter_sampler *sampler)
{
	struct lane *quick = &sampler->lanes[0];
	int64_t mark_ns = meter_now_ns();

	if ((quick->count || sampler->activity.cpus) && quick->started) {
		(void)pthread_mutex_lock(&sampler->lock);
		uint64_t mark = ++quick->marks_wanted;

		(void)pthread_cond_broadcast(&sampler->wake);
		while (quick->marks_done < mark && !sampler->stop)
			(void)pthread_cond_wait(&sampler->marked, &sampler->lock);
		if (!sampler->stop)
			mark_ns = quick->mark_ns;
		(void)pthread_mutex_unlock(&sampler->lock);
	}
	return mark_ns;
}

void meter_sampler_stop(struct meter_sampler *sampler)
{
	(void)pthread_mutex_lock(&sampler->lock);
	sampler->stop = true;
	(void)pthread_cond_broadcast(&sampler->wake);
	(void)pthread_cond_broadcast(&sampler->marked);
	(void)pthread_mutex_unlock(&sampler->lock);
	for (size_t i = 0; i < sampler->lane_count; i++) {
		if (sampler->lanes[i].started)
			(void)pthread_join(sampler->lanes[i].thread, NULL);
		sampler->lanes[i].started = false;
	}
	if (!sampler->stop_ns)
		sampler->stop_ns = meter_now_ns();
}

struct meter_sampler *meter_sampler_free(struct meter_sampler *sampler)
{
	if (!sampler)
		return NULL;
	meter_sampler_stop(sampler);
	for (size_t i = 0; i < sampler->track_count; i++)
		if (sampler->tracks[i].samples)
			(void)munmap(sampler->tracks[i].samples, sampler->room * sizeof(*sampler->tracks[i].samples));
	if (sampler->activity.samples)
		(void)munmap(sampler->activity.samples, sampler->room * sizeof(*sampler->activity.samples));
	meter_cpus_moment_free(&sampler->activity.moment);
	(void)pthread_cond_destroy(&sampler->wake);
	(void)pthread_cond_destroy(&sampler->marked);
	(void)pthread_mutex_destroy(&sampler->lock);
	free(sampler->tracks);
	free(sampler->lanes);
	free(sampler);
	return NULL;
}

void meter_sampler_free_pointer(struct meter_sampler **sampler)
{
	*sampler = meter_sampler_free(*sampler);
}

/* ---- what was sampled ---- */

static const struct track *track_of(const struct meter_sampler *sampler, size_t source)
{
	for (size_t i = 0; i < sampler->track_count; i++)
		if (sampler->tracks[i].source == source)
			return &sampler->tracks[i];
	return NULL;
}

size_t meter_samples(const struct meter_sampler *sampler, size_t source, const struct meter_sample **ret,
		     uint64_t *ret_lost)
{
	const struct track *track = track_of(sampler, source);

	*ret = track ? track->samples : NULL;
	if (ret_lost)
		*ret_lost = track ? atomic_load_explicit(&track->lost, memory_order_relaxed) : 0;
	return track ? atomic_load_explicit(&track->count, memory_order_acquire) : 0;
}

void meter_window(const struct meter_sampler *sampler, size_t source, int64_t from_ns, int64_t to_ns,
		  struct meter_result *ret)
{
	const struct meter_sample *samples;
	size_t count = meter_samples(sampler, source, &samples, NULL);

	const struct track *track = track_of(sampler, source);
	struct meter_source as_read = sampler->set->inputs[source]->source;

	if (track)
		as_read.period_s = (double)track->period_ns / 1e9;
	meter_window_of(&as_read, samples, count, from_ns, to_ns, ret);
}

/* Put one more source into the sum. */
static void add_result(struct meter_result *sum, const struct meter_result *part)
{
	double error_j = hypot(sum->error_share * sum->energy_j, part->error_share * part->energy_j);

	if (sum->state == METER_VALUE && part->state != METER_VALUE) {
		sum->state = part->state;
		sum->why = part->why;
	}
	sum->energy_j += part->energy_j;
	sum->mean += part->mean;
	/* The peaks need not have come together: the sum is an upper bound, as that of the least is a lower. */
	sum->peak += part->peak;
	sum->least += part->least;
	sum->error_share = sum->energy_j > 0 ? error_j / sum->energy_j : 0;
	sum->covered_s = fmin(sum->covered_s, part->covered_s);
	sum->refresh_s = fmax(sum->refresh_s, part->refresh_s);
	sum->samples = MIN_OF(sum->samples, part->samples);
	sum->bad += part->bad;
	sum->distinct = MIN_OF(sum->distinct, part->distinct);
	sum->wraps += part->wraps;
	sum->resets += part->resets;
	sum->gaps += part->gaps;
	sum->stands += part->stands;
	sum->glitches += part->glitches;
	if (!sum->why)
		sum->why = part->why;
}

void meter_total(const struct meter_sampler *sampler, enum meter_boundary boundary, int64_t from_ns, int64_t to_ns,
		 struct meter_result *ret)
{
	struct meter_result sum = {.state = METER_ABSENT,
				   .why = "not measurable here",
				   .energy_j = (double)NAN,
				   .mean = (double)NAN,
				   .peak = (double)NAN,
				   .least = (double)NAN,
				   .window_s = (double)(to_ns - from_ns) / 1e9};
	bool any = false;

	for (size_t i = 0; i < sampler->set->count; i++) {
		const struct meter_source *source = &sampler->set->inputs[i]->source;
		struct meter_result part;

		if (!source->chosen || source->boundary != boundary)
			continue;
		meter_window(sampler, i, from_ns, to_ns, &part);
		if (any)
			add_result(&sum, &part);
		else
			sum = part;
		any = true;
	}
	*ret = sum;
}

size_t meter_activity_samples(const struct meter_sampler *sampler, const struct meter_activity_sample **ret)
{
	*ret = sampler->activity.samples;
	return sampler->activity.samples ? atomic_load_explicit(&sampler->activity.count, memory_order_acquire) : 0;
}

struct meter_cpu_activity meter_activity(const struct meter_sampler *sampler, int64_t from_ns, int64_t to_ns)
{
	const struct meter_activity_sample *samples;
	size_t count = meter_activity_samples(sampler, &samples);
	const struct meter_cpus *cpus = sampler->activity.cpus;
	size_t states = 0;

	while (cpus && meter_cpus_state(cpus, states))
		states++;
	return meter_activity_between(samples, count, cpus ? meter_cpus_count(cpus) : 0, states, from_ns, to_ns);
}

struct meter_cost meter_sampler_cost(const struct meter_sampler *sampler)
{
	int64_t end_ns = sampler->stop_ns ? sampler->stop_ns : meter_now_ns();
	struct meter_cost cost = {.wall_s = (double)(end_ns - sampler->start_ns) / 1e9};

	for (size_t i = 0; i < sampler->lane_count; i++) {
		cost.cpu_s += atomic_load_explicit(&sampler->lanes[i].cpu_s, memory_order_relaxed);
		cost.reads += atomic_load_explicit(&sampler->lanes[i].reads, memory_order_relaxed);
	}
	cost.share = cost.wall_s > 0 ? cost.cpu_s / cost.wall_s : 0;
	return cost;
}
