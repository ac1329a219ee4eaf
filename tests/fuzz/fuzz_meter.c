/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes what devices answer and the file that names them: the first byte chooses the reader. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "meter_answer.h"
#include "meter_config.h"
#include "meter_tapo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int shelly(const char *body, size_t size, double *ret_w)
{
	return meter_answer_shelly(body, size, 0, ret_w);
}

static int shelly_old(const char *body, size_t size, double *ret_w)
{
	return meter_answer_shelly_old(body, size, 1, ret_w);
}

static int tapo(const char *body, size_t size, double *ret_w)
{
	int error;

	return meter_answer_tapo(body, size, ret_w, &error);
}

static int text(const char *body, size_t size, double *ret_w)
{
	(void)size;
	return meter_answer_text(body, ret_w);
}

static void members(struct arena *arena, const char *body, size_t size)
{
	const char *paths[4];
	int count = meter_answer_members(arena, body, size, paths, 4);

	for (int i = 0; i < count; i++)
		if (strncmp(paths[i], "/redfish/", 9) != 0 || strpbrk(paths[i], " \r\n?#@"))
			abort();
	(void)meter_answer_link(arena, body, size, "Power");
}

static void config(struct arena *arena, const char *body)
{
	struct meter_config read;
	const char *const *words;
	struct err err = {0};

	if (meter_config_parse(arena, "fuzz", body, true, &read, &err) < 0) {
		if (!err.code || !err.line || !*err.what)
			abort();
		return;
	}
	for (size_t i = 0; i < read.count; i++)
		if (read.entries[i].values[METER_KEY_COMMAND])
			(void)meter_config_words(arena, read.entries[i].values[METER_KEY_COMMAND], &words, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const readers[])(const char *body, size_t size, double *ret_w) = {
	    shelly, shelly_old, meter_answer_tasmota, meter_answer_environment, meter_answer_power, tapo, text};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	double watts = 0;

	if (!size)
		return 0;
	const char *body = arena_strndup(arena, (const char *)data + 1, size - 1);

	char way[32];

	if (data[0] % 10 == 9)
		(void)tapo_discovered(data + 1, size - 1, way, sizeof(way));
	else if (data[0] % 10 == 8)
		config(arena, body);
	else if (data[0] % 10 == 7)
		members(arena, body, size - 1);
	else if (readers[data[0] % 10](body, size - 1, &watts) == 0 && !isfinite(watts))
		abort();
	return 0;
}
