/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a store with sessions whose results are known, for the tests of reports.
 * usage: report_store PATH
 */
#include <math.h>
#include <string.h>

#include "store.h"
#include "text.h"

enum { WALL, ENERGY, METRICS };

static const struct store_metric metrics[] = {
    {.id = WALL, .name = "wall time", .unit = "s", .direction = "less", .source = "clock"},
    {.id = ENERGY,
     .name = "energy",
     .unit = "J",
     .direction = "less",
     .source = "powercap.package-0",
     .boundary = "package"},
};

struct scene {
	struct store *store;
	int64_t session, runs;
	const char *uid, *study, *method, *answer; /* of the next session, or NULL */
	const char *boot;			   /* of the next runs; NULL: always the same */
	struct err err;
};

/* A test has no use for half a scene. */
static void must(struct scene *scene, int r)
{
	if (r >= 0)
		return;
	err_print(stderr, &scene->err);
	exit(1);
}

static void begin(struct scene *scene, const char *kind, const char *name, int metric_count)
{
	const struct store_session session = {
	    .uid = scene->uid,
	    .study = scene->study,
	    .kind = kind,
	    .name = name,
	    .command =
		"[\"hvtune\", \"compare\", \"--a\", \"memory.thp=always\", \"--\", \"sh\", \"-c\", \"make it; echo "
		"'done'\"]",
	    .cwd = "/home/somebody/a tree",
	    .version = "0.1.0",
	    .host = "epyc",
	    .facts = "{\"host\": \"EPYC 9354P: 32 cores, 64 threads\", \"cpu.model_name\": \"AMD EPYC 9354P 32-Core "
		     "Processor\", \"topology.packages\": \"1\", \"topology.ccds\": \"8\", \"topology.threads\": "
		     "\"64\", \"os.kernel_release\": \"6.14.0\", \"os.hypervisor\": \"none\", \"memory.total\": "
		     "\"395837440 KiB\", \"cpufreq.governor Governor\": \"performance (CPUs 0); schedutil (CPUs "
		     "1-63)\", \"cpufreq.cpuinfo_max_khz\": \"3799072 kHz (CPUs 0-63)\", \"spectre_v2\": "
		     "\"Mitigation: Retpolines\", \"tsa\": \"Vulnerable: no microcode\", \"l1tf\": \"Not "
		     "affected\", \"cmdline.word quiet\": \"set\", \"cmdline.word amd_pstate\": \"active\", "
		     "\"memory.default_hugepage\": \"2048 KiB\", \"memory.hugepages Hugepages of 2 MiB, Total\": "
		     "\"512\", \"memory.hugepages Hugepages of 1 GiB, Total\": \"0\", \"memory.node_hugepages "
		     "Hugepages of 2 MiB, Node 0\": \"500, 0 free\", \"memory.node_hugepages Hugepages of 2 MiB, "
		     "Node 1\": \"12, 12 free\", \"power.usable\": \"readable, of one package\"}",
	    .environment = "{\"LC_ALL\": \"C\"}",
	    .method = scene->method
			  ? scene->method
			  : "{\"alpha\": 0.05, \"seed\": 7, \"own cost\": {\"cpu_share\": 0.0004, \"reads\": 212}}",
	    .began_us = 1700000000000000,
	};

	must(scene, store_session_begin(scene->store, &session, &scene->session, &scene->err));
	for (int i = 0; i < metric_count; i++)
		must(scene, store_metric_add(scene->store, scene->session, &metrics[i], &scene->err));
	scene->runs = 0;
}

static void configuration(struct scene *scene, int64_t id, const char *name, const char *settings)
{
	const struct store_configuration one = {
	    .id = id, .name = name, .command = "[\"make\", \"-j32\"]", .settings = settings};

	must(scene, store_configuration_add(scene->store, scene->session, &one, &scene->err));
}

static void run(struct scene *scene, int64_t of, int64_t block, const char *purpose, const char *void_why,
		double seconds, double joules, int metric_count)
{
	const double values[] = {seconds, joules};
	const struct store_run one = {.id = scene->runs,
				      .configuration = of,
				      .block = block,
				      .position = scene->runs,
				      .purpose = purpose,
				      .began_us = 1700000000000000 + scene->runs * 90000000,
				      .took_ns = isnan(seconds) ? 30000000000 : (int64_t)(seconds * 1e9),
				      .boot = scene->boot ? scene->boot : "b",
				      .state = void_why ? "invalid" : "valid",
				      .why = void_why};

	must(scene, store_run_add(scene->store, scene->session, &one, values, (size_t)metric_count, &scene->err));
	scene->runs++;
}

/* Blocks of all configurations, whose times and energies are `seconds` and `joules` with a little that is known. */
static void blocks(struct scene *scene, int64_t count, int block_count, const double *seconds, const double *joules,
		   int metric_count)
{
	for (int block = 0; block < block_count; block++) {
		const struct store_block one = {
		    .id = block, .purpose = "measure", .order = "[]", .began_us = 1700000000000000};

		must(scene, store_block_add(scene->store, scene->session, &one, &scene->err));
		for (int64_t i = 0; i < count; i++)
			run(scene, i, block, "measure", NULL, seconds[i] * (1 + 0.004 * sin(block * 3. + (double)i)),
			    joules ? joules[i] * (1 + 0.006 * sin(block * 5. + (double)i)) : NAN, metric_count);
	}
}

static void samples(struct scene *scene)
{
	static const struct store_source sources[] = {{0, "powercap.package-0", "package", "energy", "J", 6.1e-5, 1000},
						      {1, "k10temp", NULL, "temperature", "C", 0.125, 1000},
						      {2, "core clock", NULL, "clock", "MHz", 1, 1000}};
	enum { COUNT = 900 };
	static struct store_sample all[COUNT * 3];
	double joules = 0;

	for (int i = 0; i < COUNT; i++) {
		joules += 180 + 40 * sin(i / 30.);
		all[i] = (struct store_sample){-1, 0, i * 1000000000LL, i > 500 ? joules - 90000 : joules};
		all[COUNT + i] = (struct store_sample){-1, 1, i * 1000000000LL, 60 + 5 * sin(i / 40.)};
		all[2 * COUNT + i] = (struct store_sample){-1, 2, i * 1000000000LL, 3600 + 150 * sin(i / 20.)};
	}
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		must(scene, store_source_add(scene->store, scene->session, &sources[i], &scene->err));
	must(scene, store_samples_add(scene->store, scene->session, all, ARRAY_SIZE(all), &scene->err));
}

static void end(struct scene *scene)
{
	must(scene, store_session_end(scene->store, scene->session, "done", NULL, scene->answer, &scene->err));
}

/* A and B: 5 % less time, no difference in energy. With warm-up, a void run, notes and samples. */
static void pair(struct scene *scene)
{
	static const double seconds[] = {80, 76}, joules[] = {15000, 15010};
	static const struct store_note notes[] = {
	    {-1, 1700000100000000, "gate", "temperature had not settled after 120 s"},
	    {3, 1700000200000000, "knob", "governor was changed by somebody"}};

	begin(scene, "compare", "pair", METRICS);
	configuration(scene, 0, "A", "{\"memory.thp\": \"always\"}");
	configuration(scene, 1, "B", "{\"memory.thp\": \"never\"}");
	run(scene, 0, -1, "warmup", NULL, 95, 16000, METRICS);
	run(scene, 1, -1, "warmup", NULL, 93, 16000, METRICS);
	run(scene, 1, -1, "measure", "throttled <b>", 140, 20000, METRICS);
	blocks(scene, 2, 8, seconds, joules, METRICS);
	samples(scene);
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		must(scene, store_note_add(scene->store, scene->session, &notes[i], &scene->err));
	end(scene);
}

/* Settings one after the other, and what each brings. */
static void chain(struct scene *scene)
{
	static const double seconds[] = {130.6, 105.2, 101.1, 77.8};

	begin(scene, "compare", "chain", 1);
	configuration(scene, 0, "as it came", "{}");
	configuration(scene, 1, "profile", "{\"tuned.profile\": \"throughput-performance\"}");
	configuration(scene, 2, "and mitigations off",
		      "{\"tuned.profile\": \"throughput-performance\", \"boot.mitigations\": \"off\"}");
	configuration(
	    scene, 3, "and pinned",
	    "{\"tuned.profile\": \"throughput-performance\", \"boot.mitigations\": \"off\", \"vm.web1.pins\": "
	    "\"0-7\"}");
	blocks(scene, 4, 6, seconds, NULL, 1);
	end(scene);
}

/* A study of two knobs crossed, cut and resumed: the second part has other numbers for the same, and one more. */
static void grid(struct scene *scene)
{
	static const char *const settings[] = {"{\"governor\": \"performance\", \"amd_pstate\": \"active\"}",
					       "{\"governor\": \"performance\", \"amd_pstate\": \"guided\"}",
					       "{\"governor\": \"powersave\", \"amd_pstate\": \"active\"}",
					       "{\"governor\": \"powersave\", \"amd_pstate\": \"guided\"}"};
	static const double seconds[] = {80, 81, 84, 99}, joules[] = {16000, 15500, 14000, 16500};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	scene->uid = "0123456789abcdef0123456789abcdef";
	begin(scene, "study", "grid", METRICS);
	for (int64_t i = 0; i < 4; i++)
		configuration(scene, i, arena_printf(arena, "cell %d", (int)i + 1), settings[i]);
	blocks(scene, 4, 6, seconds, joules, METRICS);
	end(scene);
	scene->study = scene->uid;
	scene->uid = NULL;
	begin(scene, "study", "grid, resumed", METRICS);
	configuration(scene, 0, "cell 4", settings[3]);
	configuration(scene, 1, "cell 1", settings[0]);
	run(scene, 0, -1, "measure", NULL, 99, 16500, METRICS);
	run(scene, 1, -1, "measure", NULL, 80, 16000, METRICS);
	end(scene);
	scene->study = NULL;
}

/* A study of two workloads, of which one takes ten times as long: their times are not beside each other. */
static void workloads(struct scene *scene)
{
	static const struct store_configuration all[] = {
	    {.id = 0, .name = "long: x=1", .command = "[\"long\"]", .settings = "{\"x\": \"1\"}"},
	    {.id = 1, .name = "short: x=1", .command = "[\"short\"]", .settings = "{\"x\": \"1\"}"},
	    {.id = 2, .name = "long: x=2", .command = "[\"long\"]", .settings = "{\"x\": \"2\"}"},
	    {.id = 3, .name = "short: x=2", .command = "[\"short\"]", .settings = "{\"x\": \"2\"}"}};
	static const double seconds[] = {100, 10, 90, 11};

	begin(scene, "study", "workloads", 1);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		must(scene, store_configuration_add(scene->store, scene->session, &all[i], &scene->err));
	blocks(scene, 4, 4, seconds, NULL, 1);
	end(scene);
}

/*
 * Two settings and both: alone -10 % and -5 %, together -20 %: so much more than the product that each has a share of
 * its own. Logs: (ln .9 + ln .8 - ln .95) / 2 and (ln .95 + ln .8 - ln .9) / 2, which is -12.95 % and -8.11 %.
 */
static void shares(struct scene *scene)
{
	static const double seconds[] = {100, 90, 95, 80}, joules[] = {9000, 9500, 9000, 9500};

	begin(scene, "compare", "shares", METRICS);
	configuration(scene, 0, "as it was", "{}");
	configuration(scene, 1, "governor", "{\"governor\": \"performance\", \"epp\": \"performance\"}");
	configuration(scene, 2, "pages", "{\"thp\": \"always\"}");
	configuration(scene, 3, "both",
		      "{\"governor\": \"performance\", \"epp\": \"performance\", \"thp\": \"always\"}");
	blocks(scene, 4, 6, seconds, joules, METRICS);
	end(scene);
}

/*
 * Three configurations of a study over three workloads and one that ran in the baseline only, each in four boots.
 * "efficient" takes 1 / .978 of the time at 92 % of the watts.
 */
static void efficiency(struct scene *scene)
{
	static const char *const names[] = {"compile", "compress", "crypto", "broken"};
	static const char *const settings[] = {"{\"driver\": \"acpi-cpufreq\"}", "{\"driver\": \"amd-pstate\"}",
					       "{\"driver\": \"efficient\"}"};
	static const char *const drivers[] = {"acpi-cpufreq", "amd-pstate", "efficient"};
	static const char *const boots[] = {"boot 1", "boot 2", "boot 3", "boot 4"};
	static const double slower[] = {1.02, 1, 1 / .978}, watts[] = {230, 220, 220 * .92};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	scene->method = "{\"study\": \"efficiency\", \"baseline\": {\"driver\": \"amd-pstate\"}}";
	begin(scene, "study", "efficiency", METRICS);
	scene->method = NULL;
	for (int64_t w = 0; w < 4; w++)
		for (int64_t c = 0; c < 3; c++) {
			const struct store_configuration one = {
			    .id = w * 3 + c,
			    .name = arena_printf(arena, "%s: driver=%s", names[w], drivers[c]),
			    .command = arena_printf(arena, "[\"%s\"]", names[w]),
			    .settings = settings[c]};

			must(scene, store_configuration_add(scene->store, scene->session, &one, &scene->err));
		}
	for (int boot = 0; boot < 4; boot++)
		for (int64_t w = 0; w < 4; w++)
			for (int64_t c = 0; c < 3; c++) {
				double own = 1 + 0.001 * sin(boot * 3. + (double)(w * 3 + c));
				double seconds = 10 * (double)(w + 1) * slower[c] * own;

				scene->boot = boots[boot];
				if (w == 3 && c != 1)
					run(scene, w * 3 + c, -1, "measure", "it ended with exit code 1", 1, 200,
					    METRICS);
				else
					run(scene, w * 3 + c, -1, "measure", NULL, seconds,
					    seconds * watts[c] * (1 + 0.002 * cos(boot * 2. + (double)(w * 3 + c))),
					    METRICS);
			}
	scene->boot = NULL;
	end(scene);
}

/* A study that chose, was sure of it, and measured it again beside its baseline: 28.5 % more events, 33.6 % latency
 * less. */
static void confirmed(struct scene *scene)
{
	enum { PAIRS = 6 };
	static const struct store_metric own[] = {
	    {.id = 0, .name = "events", .unit = "1/s", .direction = "more", .source = "output: events"},
	    {.id = 1, .name = "latency", .unit = "s", .direction = "less", .source = "output: p95"}};
	static const double events[] = {1000, 1285}, latency[] = {0.003, 0.003 * .664};

	scene->method = "{\"study\": \"confirmed\", \"within\": 0.01, \"confidence\": 0.98, \"baseline\": {\"pages\": "
			"\"4K\"}}";
	scene->answer = "[{\"target\": \"time\", \"best\": \"pages=1G\", \"sure\": true, \"bad\": 0.01, \"fallback\": "
			"false, \"configurations\": [], \"confirmed\": {\"ratio\": 0.778, \"low\": 0.77, \"high\": "
			"0.786, \"pairs\": 6}}]";
	begin(scene, "study", "confirmed", 0);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		must(scene, store_metric_add(scene->store, scene->session, &own[i], &scene->err));
	configuration(scene, 0, "pages=4K", "{\"pages\": \"4K\"}");
	configuration(scene, 1, "pages=1G", "{\"pages\": \"1G\"}");
	for (int i = 0; i < 2 * PAIRS; i++)
		for (int64_t c = 0; c < 2; c++)
			run(scene, c, -1, i < PAIRS ? "measure" : "confirm", NULL,
			    events[c] * (1 + .002 * sin(i * 3. + (double)c)),
			    latency[c] * (1 + .003 * sin(i * 5. + (double)c)), METRICS);
	end(scene);
	scene->method = scene->answer = NULL;
}

/*
 * A study of tuned profiles and modes of amd_pstate with idle windows, as study A made it, that has an answer: what to
 * take, idle watts with the trace that virtual-host leaves, and shares by a model with a chain in one order.
 */
static const char answer[] =
    "{\"targets\": [{\"target\": \"time\", \"best\": \"profile=virtual-host mode=active\", \"sure\": true, \"bad\": "
    "0.004, \"fallback\": false, \"configurations\": [], \"confirmed\": null}],"
    "\"answer\": {\"baseline\": \"profile=balanced mode=passive\", \"slower\": 0.05, \"within\": 0.01, \"void\": 0, "
    "\"minutes\": 90, \"picks\": ["
    "{\"pick\": \"fastest\", \"configuration\": \"profile=virtual-host mode=active\", \"why\": null, \"sought\": true, "
    "\"sure\": true, \"bad\": 0.004, \"regret\": 0.0005, \"regret_95\": 0.002, \"gain\": 0.0001},"
    "{\"pick\": \"efficient\", \"configuration\": \"profile=balanced mode=active\", \"why\": null, \"sought\": false, "
    "\"sure\": false, \"bad\": 0.21, \"regret\": 0.006, \"regret_95\": 0.018, \"gain\": 0.002},"
    "{\"pick\": \"knee\", \"configuration\": \"profile=virtual-host mode=active\", \"why\": null, \"sought\": false, "
    "\"sure\": true, \"bad\": 0.01, \"regret\": 0.001, \"regret_95\": 0.004, \"gain\": 0},"
    "{\"pick\": \"near\", \"configuration\": null, \"why\": \"none is that near\", \"sought\": false, \"sure\": false, "
    "\"bad\": null, \"regret\": null, \"regret_95\": null, \"gain\": null}],"
    "\"configurations\": ["
    "{\"name\": \"profile=balanced mode=passive\", \"front\": false, \"time\": {\"value\": {\"estimate\": 130.6, "
    "\"low\": "
    "129, \"high\": 132}}, \"energy\": {\"value\": {\"estimate\": 26000, \"low\": 25800, \"high\": 26200}}},"
    "{\"name\": \"profile=balanced mode=active\", \"front\": true, \"time\": {\"value\": {\"estimate\": 101, \"low\": "
    "100, "
    "\"high\": 102}}, \"energy\": {\"value\": {\"estimate\": 21000, \"low\": 20900, \"high\": 21100}}},"
    "{\"name\": \"profile=virtual-host mode=active\", \"front\": true, \"time\": {\"value\": {\"estimate\": 90, "
    "\"low\": "
    "89, \"high\": 91}}, \"energy\": {\"value\": {\"estimate\": 21500, \"low\": null, \"high\": null}}}],"
    "\"idle\": ["
    "{\"name\": \"profile=balanced mode=passive\", \"windows\": 3, \"watts\": {\"estimate\": 100, \"low\": 98, "
    "\"high\": "
    "102}, \"lowest\": 96, \"busy\": 0.001, \"over_baseline\": null, \"trace\": null, \"left\": false, \"behind\": "
    "null},"
    "{\"name\": \"profile=virtual-host mode=active\", \"windows\": 3, \"watts\": {\"estimate\": 189, \"low\": 186, "
    "\"high\": 192}, \"lowest\": 184, \"busy\": 0.001, \"over_baseline\": {\"estimate\": 89, \"low\": 85, \"high\": "
    "93}, "
    "\"trace\": {\"estimate\": 75, \"low\": 70, \"high\": 80}, \"left\": true, \"behind\": null}],"
    "\"idle_why\": null, \"break_even_s\": 240, \"shares\": {\"time\": {\"by\": \"model\", \"configuration\": "
    "\"profile=virtual-host mode=active\", \"start\": 130.6, \"end\": 90, \"total\": {\"estimate\": 0.689, \"low\": "
    "0.68, "
    "\"high\": 0.70}, \"residual\": {\"estimate\": 1, \"low\": 0.99, \"high\": 1.01}, \"attributable\": true, "
    "\"levers\": ["
    "{\"factor\": \"mode\", \"from\": \"passive\", \"to\": \"active\", \"share\": {\"estimate\": 0.775, \"low\": 0.76, "
    "\"high\": 0.79}, \"least\": 0.77, \"most\": 0.78, \"alone\": 0.77, \"equivalent\": false},"
    "{\"factor\": \"profile\", \"from\": \"balanced\", \"to\": \"virtual-host\", \"share\": {\"estimate\": 0.889, "
    "\"low\": 0.87, \"high\": 0.91}, \"least\": 0.88, \"most\": 0.90, \"alone\": 0.88, \"equivalent\": false}], "
    "\"in_this_order\": [{\"factor\": \"mode\", \"configuration\": \"profile=balanced mode=active\", \"value\": 101, "
    "\"step\": 0.773}, {\"factor\": \"profile\", \"configuration\": \"profile=virtual-host mode=active\", \"value\": "
    "90, "
    "\"step\": 0.891}]}, \"energy\": {\"by\": null, \"why\": \"too few runs\"}}}}";

static void answered(struct scene *scene)
{
	static const char *const names[] = {"profile=balanced mode=passive", "profile=balanced mode=active",
					    "profile=virtual-host mode=passive", "profile=virtual-host mode=active"};
	static const char *const settings[] = {"{\"profile\": \"balanced\", \"mode\": \"passive\"}",
					       "{\"profile\": \"balanced\", \"mode\": \"active\"}",
					       "{\"profile\": \"virtual-host\", \"mode\": \"passive\"}",
					       "{\"profile\": \"virtual-host\", \"mode\": \"active\"}"};
	static const double seconds[] = {130.6, 101, 116, 90}, idle[] = {100, 98, 170, 189};
	static const struct store_metric power = {
	    .id = 1, .name = "wall power", .unit = "W", .direction = "less", .source = "plug", .boundary = "wall"};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	scene->method = "{\"study\": \"answered\", \"within\": 0.01, \"confidence\": 0.98, \"baseline\": {\"profile\": "
			"\"balanced\", \"mode\": \"passive\"}}";
	scene->answer = answer;
	begin(scene, "study", "answered", 1);
	must(scene, store_metric_add(scene->store, scene->session, &power, &scene->err));
	for (int64_t i = 0; i < 4; i++) {
		const struct store_configuration of_idle = {.id = 4 + i,
							    .name = arena_printf(arena, "idle: %s", names[i]),
							    .command = "[\"sleep\", \"0.500\"]",
							    .settings = settings[i]};

		configuration(scene, i, names[i], settings[i]);
		must(scene, store_configuration_add(scene->store, scene->session, &of_idle, &scene->err));
	}
	for (int boot = 0; boot < 3; boot++)
		for (int64_t c = 0; c < 4; c++) {
			scene->boot = arena_printf(arena, "boot %d", boot);
			for (int i = 0; i < 2; i++)
				run(scene, c, -1, "measure", NULL,
				    seconds[c] * (1 + .004 * sin(boot * 3. + i + (double)c)),
				    210 + 3 * cos(i + (double)c), METRICS);
			run(scene, 4 + c, -1, "idle", NULL, NAN, idle[c] * (1 + .01 * sin(boot * 2. + (double)c)),
			    METRICS);
		}
	end(scene);
	scene->boot = scene->method = scene->answer = NULL;
}

/* What somebody wrote into a store by hand: of all kinds but the right one. */
static void nonsense(struct scene *scene)
{
	scene->method = "[1, {\"baseline\": 3}]";
	scene->answer =
	    "{\"targets\": 5, \"answer\": {\"picks\": [{}, 3, {\"pick\": \"x\", \"why\": \"y\"}], \"idle\": [{}, "
	    "{\"name\": \"z\", \"watts\": []}], \"configurations\": [{}, null, {\"name\": 4}], \"shares\": "
	    "{\"time\": {\"by\": \"model\", \"levers\": [{}, null], \"start\": 1, \"end\": 1, \"configuration\": "
	    "\"x\", \"in_this_order\": [{}, 7]}, \"energy\": 4, \"other\": {\"by\": \"\", \"levers\": {}}}}}";
	begin(scene, "study", "nonsense", METRICS);
	configuration(scene, 0, "A", "[]");
	configuration(scene, 1, "B", "{\"x\": null");
	for (int i = 0; i < 6; i++)
		run(scene, i % 2, -1, "measure", NULL, 1 + i, 2 + i, METRICS);
	end(scene);
	scene->method = scene->answer = NULL;
}

/* Values of which some are 0, so that there are no logarithms; and a metric that nothing measured. */
static void zeros(struct scene *scene)
{
	static const double seconds[] = {0, 0, 0.001, 0.004, 0};

	begin(scene, "run", "zeros", METRICS);
	configuration(scene, 0, "true", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
		run(scene, 0, -1, "measure", NULL, seconds[i], NAN, METRICS);
	end(scene);
}

/* Names that nobody would choose, one run each, a session that was cut. */
static void hostile(struct scene *scene)
{
	static const double seconds[] = {1e-5, 2e-5};

	begin(scene, "compare", "<script>alert(1)</script> | *bold* `code`", 1);
	configuration(scene, 0,
		      "<b>&\"'|*_`# with a name that goes on and on until no line of a telephone holds it anymore",
		      "{\"x\": {\"deep\": [1, 2]}}");
	configuration(scene, 1,
		      "an-unbroken-name-of-ninety-characters/which/is/a/path/of/some/program/somewhere/far/away/x",
		      "{}");
	blocks(scene, 2, 1, seconds, NULL, 1);
}

static void nothing(struct scene *scene)
{
	begin(scene, "run", "nothing", 0);
}

int main(int argc, char **argv)
{
	struct scene scene = {0};

	if (argc != 2)
		return 2;
	must(&scene, store_open(argv[1], STORE_WRITE, &scene.store, &scene.err));
	pair(&scene);
	chain(&scene);
	grid(&scene);
	hostile(&scene);
	nothing(&scene);
	workloads(&scene);
	shares(&scene);
	efficiency(&scene);
	confirmed(&scene);
	answered(&scene);
	zeros(&scene);
	nonsense(&scene);
	(void)store_close(scene.store);
	return 0;
}
