/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in chart_samples.h. */
#include "chart_samples.h"

#include <math.h>

enum { RUNS = 12, MANY = 3000, SAMPLES = 2000 };

static const char long_name[] =
    "amd_pstate=guided, tuned.profile=throughput-performance-with-a-name-that-somebody-made-very-"
    "long, mitigations=auto,nosmt, vm.web1.queues=32 and the rest of it as well";
static const struct chart_measure seconds = {"time per run", "s", CHART_LOWER};
static const struct chart_measure watts = {"package power", "W", CHART_LOWER};

static const struct chart_interval profiles[] = {
    {"balanced", "amd_pstate=active", 105.3, 104.6, 106.0, NULL, CHART_REFERENCE},
    {"throughput-performance", NULL, 84.1, 83.2, 85.0, "20.1 % faster", CHART_BEST},
    {"virtual-host", NULL, 84.4, 83.1, 85.7, "no difference to the best larger than 2 %", CHART_UNSURE},
    {"powersave", NULL, 111.1, 110.0, 112.3, "5.5 % slower", CHART_BAD},
    {long_name, "amd_pstate=guided, after a heading that is too long for the line that a telephone has", 90, 84, 96,
     NULL, CHART_PLAIN},
    {"\u7535\u6e90\u7ba1\u7406\u8bbe\u7f6e \u0429\u0436\u044e\u0424 <b>&\"", NULL, NAN, NAN, NAN,
     "all runs void: throttled", CHART_PLAIN},
};

static const struct chart_step steps[] = {
    {"VM as it came", 130.6, NAN, NAN, NULL, 0, 0, false},
    {"tuned.profile=throughput-performance", 105.2, -27.1, -23.7, NULL, 0, 0, false},
    {"amd_pstate=active", 102.3, -5.5, -0.3, NULL, 0, 0, false},
    {"mitigations=off on the host", 101.1, -2.6, 0.2, "not clear of zero", 0, 0, false},
    {"vCPUs pinned, one per core, with hugepages of 1 GiB and an emulator thread of its own elsewhere", 77.8, -25,
     -21.6, NULL, 0, 0, false},
    {"SR-IOV", 78.9, 0.3, 1.9, NULL, 0, 0, false},
    {"not measured", NAN, NAN, NAN, "the VM hung at boot", 0, 0, false},
};

static const struct chart_step shares[] = {
    {"as it came", 130.6, NAN, NAN, NULL, 0, 0, false},
    {"tuned.profile: balanced \u2192 throughput-performance", 105.2, -27.1, -23.7, NULL, -34, -17, false},
    {"boot.mitigations: auto \u2192 off", 92.3, -15.5, -10.3, NULL, -16, -9, false},
    {long_name, 77.2, -16.7, -13.5, NULL, -15.2, -15, false},
    {"interactions left", 77.8, -1.4, 2.6, NULL, 0, 0, false},
    {"all of it", 77.8, -0.9, 0.9, "as measured", 0, 0, true},
};

static const char *const modes[] = {"off", "passive", "active", "guided"};
static const char *const names[] = {"balanced", "throughput-performance", "virtual-host", "powersave"};
static const double idle[] = {112, 114, 103, 105, 126, 127, 118, 119, 192, 190, 201, 199, 111, NAN, 102, 104};
static const char *const many[] = {
    "0", "1", "a very long level that can not be broken-into-pieces", "3", "4", "5", "6", "7", "8", "9", "10", "11"};
static const double grid[] = {1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 9e6, 1e7, 1.1e7, 1.2e7,
			      1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 9e6, 1e7, 1.1e7, 1.25e7};

static const struct chart_point points[] = {
    {"acpi-cpufreq performance", 100, 99, 101, 420, 415, 425, false, NULL},
    {"amd-pstate performance", 98, 97.3, 98.7, 401, 395, 406, true, NULL},
    {"balanced memory, EPP performance", 100.3, 99.6, 101, 369, 364, 374, true, "within 2.2 % at 8 % fewer watts"},
    {"powersave", 109, 107, 111, 350, 346, 355, true, NULL},
    {"guided", 98.1, 97.4, 98.8, 402, 396, 407, false, NULL},
    {"passive", 98.1, 97.4, 98.8, 402, 396, 407, false, NULL},
    {long_name, 105, 104, 106, 410, 405, 415, false, NULL},
    {"not measured", NAN, NAN, NAN, 300, NAN, NAN, false, NULL},
};

static struct chart_line line(struct arena *arena, const char *label, int count, double base, double swing)
{
	double *times = ARENA_ARRAY(arena, (size_t)count + 1, double),
	       *values = ARENA_ARRAY(arena, (size_t)count + 1, double);

	for (int i = 0; i < count; i++) {
		times[i] = i * 0.5;
		values[i] = base + swing * sin(i / 37.) + swing / 3 * sin(i * i);
		if (i > count / 3 && i < count / 3 + 40)
			values[i] = NAN;
	}
	return (struct chart_line){label, times, values, count};
}

static struct chart series(struct arena *arena)
{
	struct chart_panel *panels = ARENA_ARRAY(arena, 4, struct chart_panel);
	struct chart_line *lines = ARENA_ARRAY(arena, 16, struct chart_line);
	static const struct chart_event events[] = {
	    {60, "run 1 of A"}, {61, "run 1 of B"}, {420, "governor was changed by somebody"}};

	lines[0] = line(arena, "A", SAMPLES, 180, 30);
	lines[1] = line(arena, "B", SAMPLES, 181, 28);
	lines[2] = line(arena, long_name, SAMPLES, 179, 31);
	panels[0] = (struct chart_panel){watts, lines, 3};
	lines[3] = line(arena, "CCX 0", SAMPLES, 3.6e9, 2e8);
	panels[1] = (struct chart_panel){{"effective clock", "Hz", CHART_NEITHER}, &lines[3], 1};
	for (int i = 4; i < 16; i++)
		lines[i] = line(arena, i % 2 ? "core with a longer name" : "core", SAMPLES / 10, 50 + i, 3);
	panels[2] = (struct chart_panel){{"temperature", "\u00b0C", CHART_LOWER}, &lines[4], 12};
	panels[3] = (struct chart_panel){{"wall power", "W", CHART_LOWER}, NULL, 0};
	return (struct chart){.kind = CHART_SERIES,
			      .title = "Watts, clocks and temperature over the comparison",
			      .note =
				  "Energy source: package, perf power/energy-pkg; excludes memory, network and fans.",
			      .series = {.panels = panels, .panel_count = 4, .events = events, .event_count = 3}};
}

static struct chart dots(struct arena *arena)
{
	struct chart_runs *rows = ARENA_ARRAY(arena, 4, struct chart_runs);
	double *values = ARENA_ARRAY(arena, MANY, double);
	enum chart_run *kinds = ARENA_ARRAY(arena, RUNS, enum chart_run);

	for (int i = 0; i < MANY; i++)
		values[i] = 82 + 3 * sin(i * 7.1) * sin(i * 1.3);
	kinds[0] = CHART_RUN_WARM_UP;
	kinds[5] = CHART_RUN_OUTLIER;
	kinds[7] = CHART_RUN_VOID;
	rows[0] = (struct chart_runs){"balanced", values, kinds, RUNS, 82.1, 81.2, 83};
	rows[1] = (struct chart_runs){long_name, values, NULL, MANY, 82, 81.9, 82.1};
	rows[2] = (struct chart_runs){"one", values + 3, NULL, 1, NAN, NAN, NAN};
	rows[3] = (struct chart_runs){"none", NULL, NULL, 0, NAN, NAN, NAN};
	return (struct chart){.kind = CHART_DOTS,
			      .title = "Every run",
			      .note = NULL,
			      .dots = {.measure = seconds, .rows = rows, .count = 4}};
}

const struct chart *chart_samples(struct arena *arena, int *ret_count)
{
	struct chart *charts = ARENA_ARRAY(arena, 16, struct chart);
	int count = 0;

	charts[count++] = (struct chart){.kind = CHART_INTERVALS,
					 .title = "throughput-performance is 20.1 % faster than balanced",
					 .note = "95 % intervals, 12 runs each, in random blocks.",
					 .intervals = {seconds, profiles, ARRAY_SIZE(profiles)}};
	charts[count++] = (struct chart){.kind = CHART_WATERFALL,
					 .title = "From 130.6 s to 77.8 s in single steps",
					 .waterfall = {seconds, steps, ARRAY_SIZE(steps)}};
	charts[count++] = (struct chart){
	    .kind = CHART_HEAT,
	    .title = "Idle watts by profile and amd_pstate mode",
	    .note = "At the wall, lowest of 30 s after two minutes.",
	    .heat = {{"idle power", "W", CHART_LOWER}, "tuned profile", "amd_pstate mode", names, modes, 4, 4, idle}};
	charts[count++] = (struct chart){
	    .kind = CHART_HEAT,
	    .title = "More columns than fit",
	    .heat = {{"throughput", "B/s", CHART_HIGHER}, "queues", long_name, names, many, 2, 12, grid}};
	charts[count++] = (struct chart){.kind = CHART_PARETO,
					 .title = "Time and watts: three configurations that none beats in both",
					 .pareto = {seconds, watts, points, ARRAY_SIZE(points)}};
	charts[count++] = series(arena);
	charts[count++] = dots(arena);
	charts[count++] = (struct chart){.kind = CHART_INTERVALS, .title = "Nothing", .intervals = {seconds, NULL, 0}};
	charts[count++] = (struct chart){.kind = CHART_PARETO, .title = "Nothing", .pareto = {seconds, watts, NULL, 0}};
	charts[count++] = (struct chart){.kind = CHART_HEAT,
					 .title = "Nothing known",
					 .heat = {seconds, "row", "column", names, modes, 1, 1, &profiles[5].value}};
	charts[count++] = (struct chart){.kind = CHART_WATERFALL,
					 .title = "What each setting contributes",
					 .waterfall = {seconds, shares, ARRAY_SIZE(shares)}};
	*ret_count = count;
	return charts;
}
