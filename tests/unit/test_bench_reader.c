/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of bench's readers: values from what real programs print, and what is said of output that lacks them. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "unit.h"
#include "bench_metric.h"
#include "text.h"

struct expected {
	const char *name, *unit;
	enum bench_better better;
	double value;
};

static void assert_read(const char *reader_text, const char *output, const char *errors,
			const struct expected *expected, size_t count)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct bench_values values = {.arena = arena};
	struct bench_reader reader;
	struct err err = {0};

	assert_int_equal(bench_reader_parse(arena, reader_text, &reader, &err), 0);
	if (bench_reader_read(&reader, output, errors, &values, &err) < 0)
		fail_msg("%s: %s", reader_text, err.what);
	assert_int_equal(values.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(values.metrics[i].name, expected[i].name);
		assert_string_equal(values.metrics[i].unit, expected[i].unit);
		assert_int_equal(values.metrics[i].better, expected[i].better);
		assert_true(fabs(values.values[i] - expected[i].value) <= 1e-9 * fabs(expected[i].value));
	}
}

static void assert_refused(const char *reader_text, const char *output, int code, const char *what)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct bench_values values = {.arena = arena};
	struct bench_reader reader;
	struct err err = {0};

	assert_int_equal(bench_reader_parse(arena, reader_text, &reader, &err), 0);
	assert_int_equal(bench_reader_read(&reader, output, NULL, &values, &err), code);
	if (!strstr(err.what, what))
		fail_msg("%s: \"%s\" does not say \"%s\"", reader_text, err.what, what);
}

#define READ(reader, output, errors, ...)                                                                              \
	do {                                                                                                           \
		const struct expected expected[] = {__VA_ARGS__};                                                      \
		assert_read(reader, output, errors, expected, ARRAY_SIZE(expected));                                   \
	} while (0)

static void test_pointers_and_expressions(void **state)
{
	(void)state;
	READ("rate:MB/s:more=json:/end/0/a~1b", "noise\n{\"end\": [{\"a/b\": 12.5}]} tail", NULL,
	     {"rate", "MB/s", BENCH_MORE, 12.5});
	READ("x=json:/x", "{\"x\": \"3.5 ms\"}", NULL, {"x", "", BENCH_LESS, 3.5});
	READ("x:s=regex:took ([0-9.]+) s", "it took 1.5 s\nit took 2.5 s\n", NULL, {"x", "s", BENCH_LESS, 1.5});
	READ("x:a:none=regex:=([0-9]+)", "y=3", NULL, {"x", "a", BENCH_NEITHER, 3});
	READ("x=regex:[0-9]+", "abc 7", NULL, {"x", "", BENCH_LESS, 7});
	READ("x=regex:in errors ([0-9]+)", "out", "in errors 9", {"x", "", BENCH_LESS, 9});
	assert_refused("x=json:/y", "{\"x\": 1}", -ENOENT, "nothing at /y");
	assert_refused("x=json:/x", "{\"x\": true}", -EBADMSG, "no number");
	assert_refused("x=json:/x", "hello", -EBADMSG, "no JSON");
	assert_refused("x=json:/x", "", -EBADMSG, "no JSON");
	assert_refused("x=regex:([0-9]+)", "none", -ENOENT, "nothing in it matches");
	assert_refused("x=regex:took (.*)", "took long", -EBADMSG, "no number");
	assert_refused("x=regex:took (.*)", "took inf", -EBADMSG, "no number");
}

static void test_what_is_no_reader(void **state)
{
	static const struct {
		const char *text, *what;
	} cases[] = {
	    {"joy", "no reader"},	  {"x=json:y", "begins with '/'"}, {"x=regex:(", "no regular expression"},
	    {"=json:/x", "needs a name"}, {":s=json:/x", "needs a name"},  {"x:s:best=json:/x", "\"less\", \"more\""},
	    {"x=xml:/y", "no reader"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct bench_reader reader;
		struct err err = {0};

		assert_int_equal(bench_reader_parse(arena, cases[i].text, &reader, &err), -EINVAL);
		if (!strstr(err.what, cases[i].what))
			fail_msg("%s: %s", cases[i].text, err.what);
	}
}

static void test_iperf3(void **state)
{
	(void)state;
	READ("iperf3",
	     "{\"start\":{},\"end\":{\"sum_sent\":{\"bits_per_second\":9.5e9,\"retransmits\":12},\"sum_received\":{"
	     "\"bits_per_second\":9412345678.9},\"cpu_utilization_percent\":{\"host_total\":33.25}}}",
	     NULL, {"throughput", "bit/s", BENCH_MORE, 9412345678.9}, {"retransmits", "", BENCH_LESS, 12},
	     {"sender's CPU", "%", BENCH_LESS, 33.25});
	READ("iperf3",
	     "{\"end\":{\"sum\":{\"bits_per_second\":1048576,\"jitter_ms\":0.012,\"lost_percent\":0.5,\"packets\":9}}}",
	     NULL, {"throughput", "bit/s", BENCH_MORE, 1048576}, {"jitter", "ms", BENCH_LESS, 0.012},
	     {"lost", "%", BENCH_LESS, 0.5});
	assert_refused("iperf3",
		       "{\"start\":{},\"end\":{},\"error\":\"unable to connect to server: Connection refused\"}",
		       -EPROTO, "Connection refused");
	assert_refused("iperf3", "{\"end\":{}}", -ENOENT, "-J");
}

static void test_sysbench(void **state)
{
	static const char threads[] = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nGeneral statistics:\n"
				      "    total time:                          10.0004s\n"
				      "    total number of events:              24180\n\nLatency (ms):\n"
				      "         min:                                    0.22\n"
				      "         avg:                                    1.65\n"
				      "         max:                                   30.10\n"
				      "         95th percentile:                        4.91\n"
				      "         sum:                                39987.21\n\nThreads fairness:\n"
				      "    events (avg/stddev):           6045.0000/21.00\n";
	static const char cpu[] = "CPU speed:\n    events per second:  1234.56\n\nGeneral statistics:\n"
				  "    total time:                          10.0001s\n"
				  "    total number of events:              12347\n";
	static const char memory[] = "Total operations: 104857600 (9876543.21 per second)\n\n"
				     "102400.00 MiB transferred (9645.06 MiB/sec)\n";

	(void)state;
	READ("sysbench", threads, NULL, {"events", "", BENCH_MORE, 24180}, {"sysbench time", "s", BENCH_LESS, 10.0004},
	     {"mean latency", "ms", BENCH_LESS, 1.65}, {"latency p95", "ms", BENCH_LESS, 4.91});
	READ("sysbench", cpu, NULL, {"events per second", "1/s", BENCH_MORE, 1234.56},
	     {"events", "", BENCH_MORE, 12347}, {"sysbench time", "s", BENCH_LESS, 10.0001});
	READ("sysbench", memory, NULL, {"operations per second", "1/s", BENCH_MORE, 9876543.21},
	     {"memory throughput", "MiB/s", BENCH_MORE, 9645.06});
	assert_refused("sysbench", "FATAL: Cannot find benchmark", -ENOENT, "none of the figures");
}

static void test_fio(void **state)
{
	static const char two_jobs[] =
	    "fio: a word before\n{\"fio "
	    "version\":\"fio-3.33\",\"jobs\":[{\"error\":0,\"read\":{\"total_ios\":10,\"iops\":1000.5,"
	    "\"bw_bytes\":4096000,\"clat_ns\":{\"mean\":50000.0,\"percentile\":{\"99.000000\":90000}}},\"write\":{"
	    "\"total_ios\":0,"
	    "\"iops\":0}},{\"error\":0,\"read\":{\"total_ios\":10,\"iops\":999.5,\"bw_bytes\":4000000,\"clat_ns\":{"
	    "\"mean\":60000.0,"
	    "\"percentile\":{\"99.000000\":80000}}}}]}";

	(void)state;
	READ("fio", two_jobs, NULL, {"read IOPS", "1/s", BENCH_MORE, 2000},
	     {"read throughput", "B/s", BENCH_MORE, 8096000}, {"read mean latency", "us", BENCH_LESS, 60},
	     {"read latency p99", "us", BENCH_LESS, 90});
	assert_refused("fio", "{\"jobs\":[{\"error\":28}]}", -EPROTO, "error 28");
	assert_refused("fio", "{}", -ENOENT, "--output-format=json");
}

static void test_stress_ng(void **state)
{
	static const char old[] = "stress-ng: info:  [2571] dispatching hogs: 4 cpu\n"
				  "stress-ng: info:  [2571] stressor       bogo ops real time  usr time  sys time   "
				  "bogo ops/s     bogo ops/s\n"
				  "stress-ng: info:  [2571]                           (secs)    (secs)    (secs)   "
				  "(real time) (usr+sys time)\n"
				  "stress-ng: info:  [2571] cpu                10233      5.00     19.97      0.01     "
				  " 2046.41         512.16\n";
	static const char new[] =
	    "stress-ng: metrc: [88] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s\n"
	    "stress-ng: metrc: [88] memcpy             7300      3.00      2.97      0.01      2433.33        2449.66\n"
	    "stress-ng: metrc: [88] vm-rw              9000      3.00      2.97      0.01      3000.00        "
	    "3020.13\n";

	(void)state;
	READ("stress-ng", old, NULL, {"cpu bogo ops per second", "1/s", BENCH_MORE, 2046.41});
	READ("stress-ng", "", new, {"memcpy bogo ops per second", "1/s", BENCH_MORE, 2433.33},
	     {"vm-rw bogo ops per second", "1/s", BENCH_MORE, 3000});
	assert_refused("stress-ng", "stress-ng: info:  [9] passed: 4: cpu (4)\n", -ENOENT, "--metrics-brief");
}

static void test_phoronix(void **state)
{
	static const char file[] =
	    "<?xml version=\"1.0\"?>\n<PhoronixTestSuite><System><Identifier>me</Identifier></System>"
	    "<Result><Identifier>pts/build-gdb-1.0.0</Identifier><Title>Timed GDB Compilation</Title><Description>Time "
	    "To Compile"
	    "</Description><Scale>Seconds</Scale><Proportion>LIB</Proportion><Data><Entry><Identifier>other</"
	    "Identifier><Value>99"
	    "</Value></Entry><Entry><Identifier>me</Identifier><Value>67.41</Value><RawString>67:68</RawString></"
	    "Entry></Data></Result>"
	    "<Result><Title>x264</Title><Description/><Scale>Frames Per "
	    "Second</Scale><Proportion>HIB</Proportion><Data><Entry>"
	    "<Value>123.4</Value></Entry></Data></Result></PhoronixTestSuite>\n";

	(void)state;
	READ("phoronix", file, NULL, {"Timed GDB Compilation: Time To Compile", "Seconds", BENCH_LESS, 67.41},
	     {"x264", "Frames Per Second", BENCH_MORE, 123.4});
	assert_refused("phoronix", "<html/>", -EBADMSG, "no result file");
	assert_refused("phoronix", "", -EBADMSG, "no result file");
	assert_refused("phoronix", "<PhoronixTestSuite/>", -ENOENT, "no result");
}

static void test_metrics_keep_their_place(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct bench_values values = {.arena = arena};
	char name[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "m%d", i);
		assert_int_equal(bench_values_set(&values, &(struct bench_metric){.name = name}, i), i);
	}
	assert_int_equal(bench_values_find(&values, "m7"), 7);
	assert_int_equal(bench_values_find(&values, "m100"), -1);
	bench_values_clear(&values);
	assert_true(isnan(values.values[99]));
	assert_int_equal(bench_values_set(&values, &(struct bench_metric){.name = "m3"}, 5), 3);
	assert_int_equal(values.count, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pointers_and_expressions),
	    cmocka_unit_test(test_what_is_no_reader),
	    cmocka_unit_test(test_iperf3),
	    cmocka_unit_test(test_sysbench),
	    cmocka_unit_test(test_fio),
	    cmocka_unit_test(test_stress_ng),
	    cmocka_unit_test(test_phoronix),
	    cmocka_unit_test(test_metrics_keep_their_place),
	};

	return cmocka_run_group_tests_name("bench_reader", tests, NULL, NULL);
}
