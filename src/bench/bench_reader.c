/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding values in what a workload prints: by pointer, by expression, and the built-in readers. */
#include <errno.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <regex.h>

#include "bench_internal.h"
#include "text.h"

int bench_number(const char *text, double *ret)
{
	char *end = NULL;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value))
		return -EBADMSG;
	*ret = value;
	return 0;
}

/* ---- JSON ---- */

static void release_json(json_t **json)
{
	json_decref(*json);
}

static int parse_json(const char *output, json_t **ret, struct err *err)
{
	const char *begin = strchr(output, '{');
	json_error_t error;

	/* Some programs say a word before it. */
	*ret = begin ? json_loads(begin, JSON_DISABLE_EOF_CHECK, &error) : NULL;
	if (!*ret)
		*ret = json_loads(output, 0, &error);
	return *ret ? 0 : err_set(err, EBADMSG, "output", "it is no JSON: %s", error.text);
}

/* RFC 6901: ~1 is a slash, ~0 a tilde; a list is asked by the number of the element. */
static const json_t *json_at(const json_t *json, const char *pointer)
{
	while (json && *pointer == '/') {
		char key[256];
		size_t length = 0;
		int64_t index;

		for (pointer++; *pointer && *pointer != '/' && length < sizeof(key) - 1; pointer++) {
			bool escaped = *pointer == '~' && (pointer[1] == '0' || pointer[1] == '1');

			key[length++] = (char)(escaped ? (pointer[1] == '1' ? '/' : '~') : *pointer);
			pointer += escaped;
		}
		key[length] = '\0';
		if (json_is_array(json))
			json =
			    text_int(key, 10, &index) == 0 && index >= 0 ? json_array_get(json, (size_t)index) : NULL;
		else
			json = json_object_get(json, key);
	}
	return json;
}

static bool json_value_at(const json_t *json, const char *pointer, double *ret)
{
	const json_t *found = json_at(json, pointer);

	if (json_is_string(found))
		return bench_number(json_string_value(found), ret) == 0;
	if (!json_is_number(found))
		return false;
	*ret = json_number_value(found);
	return true;
}

static int read_pointer(const struct bench_reader *reader, const char *output, struct bench_values *values,
			struct err *err)
{
	CLEANUP(release_json) json_t *json = NULL;
	double value;
	int r = parse_json(output, &json, err);

	if (r < 0)
		return r;
	if (!json_at(json, reader->pattern))
		return err_set(err, ENOENT, "output", "its JSON has nothing at %s", reader->pattern);
	if (!json_value_at(json, reader->pattern, &value))
		return err_set(err, EBADMSG, "output", "what its JSON has at %s is no number", reader->pattern);
	(void)bench_values_set(values, &reader->metric, value);
	return 0;
}

/* ---- expressions ---- */

/* The first group, or the whole match, of the first match. -ENOENT, -EBADMSG. */
static int find_number(const char *pattern, const char *text, double *ret, struct err *err)
{
	regmatch_t matches[2];
	regex_t regex;
	int r = bench_regex_compile(&regex, pattern, err);

	if (r < 0)
		return r;
	r = regexec(&regex, text, ARRAY_SIZE(matches), matches, 0);
	regfree(&regex);
	if (r != 0)
		return -ENOENT;
	return bench_number(text + matches[matches[1].rm_so >= 0].rm_so, ret);
}

static int find_in_both(const char *pattern, const char *output, const char *errors, double *ret, struct err *err)
{
	int r = find_number(pattern, output, ret, err);

	return r == -ENOENT && errors ? find_number(pattern, errors, ret, err) : r;
}

static int read_regex(const struct bench_reader *reader, const char *output, const char *errors,
		      struct bench_values *values, struct err *err)
{
	double value;
	int r = find_in_both(reader->pattern, output, errors, &value, err);

	if (r == -ENOENT)
		return err_set(err, ENOENT, "output", "nothing in it matches %s", reader->pattern);
	if (r == -EBADMSG)
		return err_set(err, EBADMSG, "output", "what matches %s is no number", reader->pattern);
	if (r == 0)
		(void)bench_values_set(values, &reader->metric, value);
	return r;
}

/* ---- built-ins ---- */

/* A value of a built-in: where it is and what it is. The first of a table must be there, unless `optional`. */
struct known {
	const char *where; /* pointer or expression */
	struct bench_metric metric;
	bool optional;
};

static int read_known(const struct known *known, size_t count, const json_t *json, const char *output,
		      const char *errors, struct bench_values *values)
{
	int found = 0;

	for (size_t i = 0; i < count; i++) {
		double value;
		bool is_there = json ? json_value_at(json, known[i].where, &value)
				     : find_in_both(known[i].where, output, errors, &value, NULL) == 0;

		if (is_there) {
			(void)bench_values_set(values, &known[i].metric, value);
			found++;
		}
	}
	return found;
}

#define METRIC(name, unit, better, source)                                                                             \
	{                                                                                                              \
		name, unit, source, NULL, better                                                                       \
	}

static int read_iperf3(const char *output, const char *errors, struct bench_values *values, struct err *err)
{
	static const struct known known[] = {
	    {"/end/sum_received/bits_per_second", METRIC("throughput", "bit/s", BENCH_MORE, "iperf3"), false},
	    {"/end/sum_sent/retransmits", METRIC("retransmits", "", BENCH_LESS, "iperf3"), true},
	    {"/end/cpu_utilization_percent/host_total", METRIC("sender's CPU", "%", BENCH_LESS, "iperf3"), true},
	};
	static const struct known udp[] = {
	    {"/end/sum/bits_per_second", METRIC("throughput", "bit/s", BENCH_MORE, "iperf3"), false},
	    {"/end/sum/jitter_ms", METRIC("jitter", "ms", BENCH_LESS, "iperf3"), true},
	    {"/end/sum/lost_percent", METRIC("lost", "%", BENCH_LESS, "iperf3"), true},
	};
	CLEANUP(release_json) json_t *json = NULL;
	int r = parse_json(output, &json, err);

	(void)errors;
	if (r < 0)
		return r;
	if (json_is_string(json_object_get(json, "error")))
		return err_set(err, EPROTO, "iperf3", "%s", json_string_value(json_object_get(json, "error")));
	if (json_at(json, "/end/sum_received"))
		r = read_known(known, ARRAY_SIZE(known), json, NULL, NULL, values);
	else
		r = read_known(udp, ARRAY_SIZE(udp), json, NULL, NULL, values);
	return r ? 0 : err_set(err, ENOENT, "iperf3", "its JSON has no sum at its end; was it run with -J?");
}

static int read_sysbench(const char *output, const char *errors, struct bench_values *values, struct err *err)
{
	static const struct known known[] = {
	    {"events per second: +([0-9.]+)", METRIC("events per second", "1/s", BENCH_MORE, "sysbench"), true},
	    {"transactions: +[0-9]+ +\\(([0-9.]+) per sec",
	     METRIC("transactions per second", "1/s", BENCH_MORE, "sysbench"), true},
	    {"Total operations: [0-9]+ \\(([0-9.]+) per second",
	     METRIC("operations per second", "1/s", BENCH_MORE, "sysbench"), true},
	    {"transferred \\(([0-9.]+) MiB/sec", METRIC("memory throughput", "MiB/s", BENCH_MORE, "sysbench"), true},
	    {"total number of events: +([0-9]+)", METRIC("events", "", BENCH_MORE, "sysbench"), true},
	    {"total time: +([0-9.]+)s", METRIC("sysbench time", "s", BENCH_LESS, "sysbench"), true},
	    {"avg: +([0-9.]+)", METRIC("mean latency", "ms", BENCH_LESS, "sysbench"), true},
	    {"95th percentile: +([0-9.]+)", METRIC("latency p95", "ms", BENCH_LESS, "sysbench"), true},
	};

	return read_known(known, ARRAY_SIZE(known), NULL, output, errors, values)
		   ? 0
		   : err_set(err, ENOENT, "sysbench", "its output holds none of the figures that sysbench prints");
}

/* Sums over the jobs; latencies are the worst job's. */
static void add_fio_direction(const json_t *jobs, const char *way, struct bench_values *values)
{
	struct {
		const char *pointer, *name, *unit;
		bool sum;
		enum bench_better better;
		double scale;
	} const figures[] = {
	    {"/iops", "IOPS", "1/s", true, BENCH_MORE, 1},
	    {"/bw_bytes", "throughput", "B/s", true, BENCH_MORE, 1},
	    {"/clat_ns/mean", "mean latency", "us", false, BENCH_LESS, 1e-3},
	    {"/clat_ns/percentile/99.000000", "latency p99", "us", false, BENCH_LESS, 1e-3},
	};
	size_t index;
	json_t *job;

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		double total = 0, value;
		bool any = false;
		char name[64];

		json_array_foreach (jobs, index, job) {
			const json_t *part = json_object_get(job, way);

			if (!json_value_at(part, "/total_ios", &value) || value == 0 ||
			    !json_value_at(part, figures[i].pointer, &value))
				continue;
			total = figures[i].sum ? total + value : MAX_OF(total, value);
			any = true;
		}
		(void)snprintf(name, sizeof(name), "%s %s", way, figures[i].name);
		if (any)
			(void)bench_values_set(
			    values, &(struct bench_metric){name, figures[i].unit, "fio", NULL, figures[i].better},
			    total * figures[i].scale);
	}
}

static int read_fio(const char *output, const char *errors, struct bench_values *values, struct err *err)
{
	static const char *const ways[] = {"read", "write", "trim"};
	CLEANUP(release_json) json_t *json = NULL;
	size_t index;
	json_t *job;
	int r = parse_json(output, &json, err);

	(void)errors;
	if (r < 0)
		return r;
	if (!json_array_size(json_object_get(json, "jobs")))
		return err_set(err, ENOENT, "fio", "its JSON has no jobs; was it run with --output-format=json?");
	json_array_foreach (json_object_get(json, "jobs"), index, job) {
		json_int_t error = json_integer_value(json_object_get(job, "error"));

		if (error)
			return err_set(err, EPROTO, "fio", "a job failed with error %lld", (long long)error);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		add_fio_direction(json_object_get(json, "jobs"), ways[i], values);
	return 0;
}

/*
 * "stress-ng: info:  [42] cpu               12345     10.00     39.90      0.01      1234.50         309.20": stressor,
 * bogo ops, real, user and system time, bogo ops/s by real time and by user + system time (--metrics-brief has the same
 * seven columns, --metrics more behind them).
 */
static bool read_stress_line(const char *line, struct bench_values *values)
{
	static const char pattern[] =
	    "^(stress-ng: )?(info|metrc): +\\[[0-9]+\\] +([a-z][a-z0-9-]*) +([0-9]+) +[0-9.]+ +[0-9.]+ "
	    "+[0-9.]+ +([0-9.]+)";
	regmatch_t matches[6];
	char name[80];
	regex_t regex;
	double value;
	bool found;

	if (bench_regex_compile(&regex, pattern, NULL) < 0)
		return false;
	found = regexec(&regex, line, ARRAY_SIZE(matches), matches, 0) == 0;
	regfree(&regex);
	if (!found || bench_number(line + matches[5].rm_so, &value) < 0)
		return false;
	(void)snprintf(name, sizeof(name), "%.*s bogo ops per second", (int)(matches[3].rm_eo - matches[3].rm_so),
		       line + matches[3].rm_so);
	(void)bench_values_set(values, &(struct bench_metric){name, "1/s", "stress-ng", NULL, BENCH_MORE}, value);
	return true;
}

static int read_stress(const char *output, const char *errors, struct bench_values *values, struct err *err)
{
	const char *const texts[] = {output, errors};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (const char *line = texts[i]; line && *line; line = strchr(line, '\n')) {
			line += *line == '\n';
			any = read_stress_line(line, values) || any;
		}
	return any ? 0
		   : err_set(err, ENOENT, "stress-ng",
			     "its output has no line of metrics; was it run with --metrics-brief?");
}

/* ---- Phoronix Test Suite ---- */

static const char *child_text(struct arena *arena, const xmlNode *node, const char *name)
{
	for (const xmlNode *child = node ? node->children : NULL; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && text_equal((const char *)child->name, name)) {
			xmlChar *content = xmlNodeGetContent(child);
			const char *text = content ? arena_strdup(arena, (const char *)content) : NULL;

			xmlFree(content);
			return text ? text_trim(arena, text) : NULL;
		}
	return NULL;
}

static const xmlNode *child_named(const xmlNode *node, const char *name)
{
	for (const xmlNode *child = node ? node->children : NULL; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && text_equal((const char *)child->name, name))
			return child;
	return NULL;
}

/* <Result> has Title, Description, Scale, Proportion (HIB: higher is better, LIB) and Data/Entry/Value. */
static bool take_phoronix(struct arena *arena, const xmlNode *result, struct bench_values *values)
{
	const xmlNode *entry = NULL;
	const char *title = child_text(arena, result, "Title"), *about = child_text(arena, result, "Description");
	const char *scale = child_text(arena, result, "Scale"), *proportion = child_text(arena, result, "Proportion");
	const char *value;
	double number;

	/* Of a file with several systems the last one is this one. */
	for (const xmlNode *child = child_named(result, "Data") ? child_named(result, "Data")->children : NULL; child;
	     child = child->next)
		if (child->type == XML_ELEMENT_NODE && text_equal((const char *)child->name, "Entry"))
			entry = child;
	value = child_text(arena, entry, "Value");
	if (!title || !value || bench_number(value, &number) < 0)
		return false;
	(void)bench_values_set(
	    values,
	    &(struct bench_metric){about && *about ? arena_printf(arena, "%s: %s", title, about) : title,
				   scale ? scale : "", "phoronix", NULL,
				   text_equal(proportion, "LIB") ? BENCH_LESS : BENCH_MORE},
	    number);
	return true;
}

static int read_phoronix(const char *output, const char *errors, struct bench_values *values, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *begin = strchr(output, '<');
	xmlDoc *document = begin ? xmlReadMemory(begin, (int)strlen(begin), "output", NULL,
						 XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
				 : NULL;
	const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
	bool any = false;

	(void)errors;
	if (!root || !text_equal((const char *)root->name, "PhoronixTestSuite")) {
		xmlFreeDoc(document);
		return err_set(err, EBADMSG, "phoronix", "this is no result file of the Phoronix Test Suite");
	}
	for (const xmlNode *child = root->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && text_equal((const char *)child->name, "Result"))
			any = take_phoronix(arena, child, values) || any;
	xmlFreeDoc(document);
	return any ? 0 : err_set(err, ENOENT, "phoronix", "this result file holds no result");
}

static const struct {
	const char *name, *reads;
	int (*read)(const char *output, const char *errors, struct bench_values *values, struct err *err);
} built_ins[] = {
    {"iperf3", "iperf3 -J", read_iperf3},
    {"sysbench", "sysbench ... run", read_sysbench},
    {"fio", "fio --output-format=json", read_fio},
    {"stress-ng", "stress-ng --metrics-brief", read_stress},
    {"phoronix", "a result file (composite.xml) of the Phoronix Test Suite", read_phoronix},
};

const char *bench_built_in_at(size_t index, const char **ret_reads)
{
	if (index >= ARRAY_SIZE(built_ins))
		return NULL;
	if (ret_reads)
		*ret_reads = built_ins[index].reads;
	return built_ins[index].name;
}

int bench_reader_read(const struct bench_reader *reader, const char *output, const char *errors,
		      struct bench_values *values, struct err *err)
{
	output = output ? output : "";
	if (reader->kind == BENCH_JSON)
		return read_pointer(reader, output, values, err);
	if (reader->kind == BENCH_REGEX)
		return read_regex(reader, output, errors, values, err);
	for (size_t i = 0; i < ARRAY_SIZE(built_ins); i++)
		if (text_equal(built_ins[i].name, reader->pattern))
			return built_ins[i].read(output, errors, values, err);
	return err_set(err, EINVAL, reader->pattern, "there is no such reader");
}
