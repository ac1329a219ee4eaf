/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the words that describe a VM which does not exist yet. */
#include <errno.h>

#include "place_vm.h"
#include "text.h"

const char place_vm_words[] = "threads=1|2, pages=4K|2M|1G, device=ADDRESS, prefer=cache|frequency, nodes=N, "
			      "apart=ccx|node|socket, overcommit=N, priority=N, name=NAME, count=N";

enum {
	COUNT_MOST = PLACE_VMS_MAX,
	RATIO_MOST = 64, /* vCPUs a thread: more is a typing error */
	PRIORITY_MOST = 1000
};

struct reading {
	struct arena *arena;
	const struct host *host;
	struct place_request request;
	int count;
	const char *words;
	struct err *err;
	bool pages_given;
	unsigned keys_given; /* bits, in the order of `keys` */
};

const char *place_vm_name_problem(struct arena *arena, const char *name)
{
	if (!*name)
		return "a name is expected";
	/* Names of files are made of it, by libvirt too, which refuses these. */
	if (strchr(name, '/') || !text_equal(text_visible(arena, name), name))
		return "a name has no / and no control characters, and is UTF-8";
	return NULL;
}

static int refuse(struct reading *reading, unsigned column, const char *word, const char *expected)
{
	return err_set_at(reading->err, EINVAL, "--new", 0, column, "\"%s\": %s", word, expected);
}

static bool number(const char *text, int64_t most, int *ret)
{
	int64_t value;

	if (text_int(text, 10, &value) < 0 || value < 1 || value > most)
		return false;
	*ret = (int)value;
	return true;
}

static const char *read_threads(struct reading *reading, const char *value)
{
	if (!text_equal(value, "1") && !text_equal(value, "2"))
		return "a core has 1 or 2 threads for a VM";
	reading->request.smt = text_equal(value, "2") ? PLACE_SMT_THREADS : PLACE_SMT_ISOLATED;
	return NULL;
}

static const char *read_pages(struct reading *reading, const char *value)
{
	static const struct {
		const char *word;
		int64_t kib;
	} sizes[] = {{"4K", 0}, {"4k", 0}, {"2M", 2048}, {"1G", 1048576}, {"auto", PLACE_PAGES_AUTO}};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (text_equal(value, sizes[i].word)) {
			reading->request.page_kib = sizes[i].kib;
			reading->pages_given = true;
			return NULL;
		}
	return "pages are of 4K, 2M or 1G";
}

static const char *read_device(struct reading *reading, const char *value)
{
	const char *full = strlen(value) == strlen("41:00.0") ? arena_printf(reading->arena, "0000:%s", value) : value;
	const struct host_devices *devices = &reading->host->devices;

	for (int i = 0; i < devices->count; i++) {
		if (!text_equal(devices->list[i].address, full) && !text_equal(devices->list[i].name, value))
			continue;
		if (!fact_known(&devices->list[i].node))
			return "the firmware does not tell the node of that device";
		reading->request.has_device = true;
		reading->request.device_os_node = (int)devices->list[i].node.number;
		return NULL;
	}
	return "there is no such device on the host; `hvtune show devices` lists those that are known";
}

static const char *read_prefer(struct reading *reading, const char *value)
{
	if (text_equal(value, "cache"))
		reading->request.wish = PLACE_CLASS_CACHE;
	else if (text_equal(value, "frequency"))
		reading->request.wish = PLACE_CLASS_FREQUENCY;
	else
		return "cores are preferred for cache or frequency";
	return NULL;
}

static const char *read_nodes(struct reading *reading, const char *value)
{
	return number(value, PLACE_NODES_MAX, &reading->request.max_nodes) ? NULL : "a number of nodes is expected";
}

static const char *read_apart(struct reading *reading, const char *value)
{
	static const char *const levels[] = {
	    [PLACE_APART_CCX] = "ccx", [PLACE_APART_NODE] = "node", [PLACE_APART_SOCKET] = "socket"};

	for (size_t i = 1; i < ARRAY_SIZE(levels); i++)
		if (text_equal(value, levels[i])) {
			reading->request.apart = (enum place_apart)i;
			reading->request.apart_group = "--new";
			return NULL;
		}
	return "VMs are kept apart by ccx, node or socket";
}

static const char *read_overcommit(struct reading *reading, const char *value)
{
	int ratio;

	if (!number(value, RATIO_MOST, &ratio))
		return "a number of vCPUs for each thread of the pool is expected, up to 64";
	reading->request.overcommit_percent = 100 * ratio;
	return NULL;
}

static const char *read_priority(struct reading *reading, const char *value)
{
	return number(value, PRIORITY_MOST, &reading->request.priority) ? NULL : "a number from 1 to 1000 is expected";
}

static const char *read_name(struct reading *reading, const char *value)
{
	const char *wrong = place_vm_name_problem(reading->arena, value);

	if (!wrong)
		reading->request.name = value;
	return wrong;
}

static const char *read_count(struct reading *reading, const char *value)
{
	return number(value, COUNT_MOST, &reading->count) ? NULL : "a number of VMs is expected";
}

static const struct {
	const char *name;
	const char *(*read)(struct reading *reading, const char *value); /* what is wrong, or NULL */
} keys[] = {
    {"apart", read_apart},	 {"count", read_count},		  {"device", read_device}, {"name", read_name},
    {"nodes", read_nodes},	 {"overcommit", read_overcommit}, {"pages", read_pages},   {"prefer", read_prefer},
    {"priority", read_priority}, {"threads", read_threads},
};

/* "16vcpu", "16vcpus" or "16". */
static bool read_vcpus(struct reading *reading, const char *word)
{
	size_t digits = strspn(word, "0123456789");
	const char *unit = word + digits;

	return digits && (!*unit || text_equal(unit, "vcpu") || text_equal(unit, "vcpus")) &&
	       number(arena_strndup(reading->arena, word, digits), CPUSET_MAX, &reading->request.vcpus);
}

/* "64G": with a unit, so that it is not taken for a number of anything else. */
static bool read_memory(struct reading *reading, const char *word)
{
	size_t digits = strspn(word, "0123456789");
	int64_t bytes;

	if (!digits || !word[digits] || text_size(word, &bytes) < 0 || bytes < 1048576)
		return false;
	reading->request.memory_kib = bytes / 1024;
	return true;
}

static const char vcpus_expected[] = "vCPUs come first, as in 16vcpu,64G: at least one, at most 8192";
static const char memory_expected[] = "memory is a whole number with a unit, as in 64G or 512M, and at least 1M";
_Static_assert(CPUSET_MAX == 8192, "vcpus_expected names it");

static int read_word(struct reading *reading, const char *word, unsigned column)
{
	const char *equals = strchr(word, '=');
	bool number_first = strspn(word, "0123456789.") > 0;

	if (!equals && !reading->request.vcpus)
		return read_vcpus(reading, word) ? 0 : refuse(reading, column, word, vcpus_expected);
	if (!equals && reading->request.memory_kib && number_first)
		return refuse(reading, column, word, "the memory is given already");
	if (!equals && number_first)
		return read_memory(reading, word) ? 0 : refuse(reading, column, word, memory_expected);
	for (size_t i = 0; equals && i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) != (size_t)(equals - word) || !text_starts(word, keys[i].name))
			continue;
		/* The second would silently win. */
		if (reading->keys_given & 1U << i)
			return refuse(reading, column, word, "that is given already");
		reading->keys_given |= 1U << i;
		const char *wrong = keys[i].read(reading, equals + 1);

		return wrong ? refuse(reading, column, word, wrong) : 0;
	}
	(void)refuse(reading, column, word, "that says nothing of a VM");
	return err_hint(reading->err, "it knows 16vcpu,64G and %s", place_vm_words);
}

static bool has_hugepages(const struct host *host)
{
	for (int i = 0; i < host->memory.page_size_count; i++)
		if (fact_known(&host->memory.pages[i].total) && host->memory.pages[i].total.number > 0)
			return true;
	return false;
}

int place_request_of_words(struct arena *arena, const struct host *host, const char *words, struct place_request *ret,
			   int *ret_count, struct err *err)
{
	struct reading reading = {.arena = arena, .host = host, .count = 1, .words = words, .err = err};

	for (const char *at = words;;) {
		size_t length = strcspn(at, ",");
		int r = read_word(&reading, arena_strndup(arena, at, length), (unsigned)(at - words) + 1);

		if (r < 0)
			return r;
		if (!at[length])
			break;
		at += length + 1;
	}
	if (reading.request.memory_kib && !reading.pages_given && has_hugepages(host))
		reading.request.page_kib = PLACE_PAGES_AUTO;
	*ret = reading.request;
	*ret_count = reading.count;
	return 0;
}
