/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns plugs that speak plain HTTP: Shelly (Gen2 and later by RPC, with HTTP digest for user admin; Gen1 by /status)
 * and Tasmota. Both measure about once a second; Tasmota in whole watts unless WattRes says else.
 */
#include <ctype.h>
#include <errno.h>

#include "meter_answer.h"
#include "meter_driver.h"
#include "text.h"

struct plug {
	struct meter_device device; /* first */
	const char *path;	    /* with the password, in Tasmota's URL */
	int id;
	bool old; /* Gen1 */
};

static void no_power(struct plug *plug, int r, struct meter_reading *ret)
{
	if (r == -ENODATA)
		(void)err_set(&plug->device.err, ENODATA, NULL,
			      "its answer tells no power: does it measure, and is it of this kind?");
	else
		(void)err_set(&plug->device.err, EPROTO, NULL, "its answer is not understood: is it of this kind?");
	meter_device_failed(&plug->device, ret);
}

/* ---- Shelly ---- */

static int open_shelly(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry,
		       struct err *err)
{
	struct plug *plug = ARENA_NEW(set->arena, struct plug);
	const char *id = entry->values[METER_KEY_ID];
	int64_t number = 0;

	if (id && (text_int(id, 10, &number) < 0 || number < 0 || number > 63))
		return err_set_at(err, EINVAL, set->config.path, entry->lines[METER_KEY_ID], 0,
				  "\"id\" of a Shelly is the number of its channel, 0 to 63");
	plug->id = (int)number;
	input->self = plug;
	return meter_device_http(&plug->device, entry, "http", set, err);
}

static void read_shelly(struct meter_input *input, struct meter_reading *ret)
{
	struct plug *plug = input->self;
	struct meter_http_answer answer;
	int r = meter_device_get(&plug->device, plug->old ? "/status" : "/rpc/Shelly.GetStatus", NULL, &answer);

	if (r == -ENOENT && !plug->old) {
		plug->old = true;
		r = meter_device_get(&plug->device, "/status", NULL, &answer);
	}
	if (r < 0) {
		meter_device_failed(&plug->device, ret);
		return;
	}
	r = plug->old ? meter_answer_shelly_old(answer.body, answer.size, plug->id, &ret->value)
		      : meter_answer_shelly(answer.body, answer.size, plug->id, &ret->value);
	if (r < 0)
		no_power(plug, r, ret);
}

const struct meter_device_kind meter_shelly = {
    .driver = {.name = "shelly", .read = read_shelly, .close = meter_device_close},
    .resolution = 0.1,
    .refresh_s = 1,
    .period_s = 1,
    .open = open_shelly,
};

/* ---- Tasmota ---- */

/* Whatever is no letter or digit is written %XX. */
static const char *url_word(struct arena *arena, const char *text)
{
	const char *word = "";

	for (; *text; text++)
		word = isalnum((unsigned char)*text) ? arena_printf(arena, "%s%c", word, *text)
						     : arena_printf(arena, "%s%%%02X", word, (unsigned char)*text);
	return word;
}

static int open_tasmota(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry,
			struct err *err)
{
	struct plug *plug = ARENA_NEW(set->arena, struct plug);
	const char *user = entry->values[METER_KEY_USER];

	plug->path = entry->secret ? arena_printf(set->arena, "/cm?user=%s&password=%s&cmnd=Status%%208",
						  url_word(set->arena, user ? user : "admin"),
						  url_word(set->arena, entry->secret))
				   : "/cm?cmnd=Status%208";
	input->self = plug;
	return meter_device_http(&plug->device, entry, "http", set, err);
}

static void read_tasmota(struct meter_input *input, struct meter_reading *ret)
{
	struct plug *plug = input->self;
	struct meter_http_answer answer;
	int r = meter_device_get(&plug->device, plug->path, NULL, &answer);

	if (r < 0) {
		meter_device_failed(&plug->device, ret);
		return;
	}
	/* A wrong password is told in the answer of a request that went well. */
	if (answer.size < 200 && strstr(answer.body, "\"WARNING\"")) {
		(void)err_set(&plug->device.err, EACCES, NULL, "it wants a password");
		meter_device_failed(&plug->device, ret);
		return;
	}
	r = meter_answer_tasmota(answer.body, answer.size, &ret->value);
	if (r < 0)
		no_power(plug, r, ret);
}

const struct meter_device_kind meter_tasmota = {
    .driver = {.name = "tasmota", .read = read_tasmota, .close = meter_device_close},
    .resolution = 1,
    .refresh_s = 1,
    .period_s = 1,
    .open = open_tasmota,
};
