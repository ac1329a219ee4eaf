/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns power by Tapo plugs (P110, P115 and kin) over local HTTP. They speak KLAP v2 or, with older firmware, a
 * passthrough with an RSA handshake; which one is found out by trying. The plug measures every one or two seconds, and
 * asking it more often than once a second provokes refusals: one connection, two seconds.
 */
#include "meter_tapo.h"

#include <errno.h>

#include "meter_answer.h"
#include "text.h"

/* The best first: power in mW, then the same under another name, then whole watts. Not all plugs have all. */
static const char *const methods[] = {"{\"method\":\"get_emeter_data\"}", "{\"method\":\"get_energy_usage\"}",
				      "{\"method\":\"get_current_power\"}"};

static int open_tapo(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry, struct err *err)
{
	struct tapo *tapo = ARENA_NEW(set->arena, struct tapo);
	int r;

	if (!entry->secret)
		return err_set_at(err, EINVAL, set->config.path, entry->line, 0,
				  "[%s] has no password: password-file, password-env, or password", entry->name);
	input->self = tapo;
	r = meter_device_http(&tapo->device, entry, "http", set, err);
	return r < 0 ? r : meter_crypto_open(&tapo->crypto, err);
}

int tapo_post(struct tapo *tapo, const char *path, const char *type, const void *body, size_t size,
	      struct meter_http_answer *ret)
{
	char url[512];
	const struct meter_http_request request = {
	    .url = url,
	    .type = type,
	    .body = body,
	    .body_size = size,
	    .header = type ? "requestByApp: true" : NULL,
	};

	(void)snprintf(url, sizeof(url), "%s%s", tapo->device.base, path);
	return meter_http_ask(tapo->device.http, &request, ret, &tapo->device.err);
}

int tapo_refused_by_firmware(struct tapo *tapo)
{
	char way[32] = "";

	(void)tapo_discover(tapo->device.entry->values[METER_KEY_ADDRESS], way, sizeof(way));
	(void)err_set(&tapo->device.err, EACCES, NULL,
		      "the plug's firmware (1.4 and later) refuses programs that are not TP-Link's%s%s",
		      *way ? "; it asks for " : "", way);
	return err_hint(
	    &tapo->device.err,
	    "in the Tapo app: Me, Third-Party Services, Third-Party Compatibility on (off and on again where it "
	    "is); it may be lost when the plug loses power, and may want Internet once");
}

/* ---- a session, whichever way ---- */

static int begin(struct tapo *tapo)
{
	int r = -ENOENT;

	meter_http_forget(tapo->device.http);
	tapo->klap_forbidden = false;
	if (tapo->way != TAPO_PASSTHROUGH)
		r = tapo_klap_begin(tapo);
	if (r == 0)
		tapo->way = TAPO_KLAP;
	/* Old firmware has no page of that name; new firmware forbids it, and may still answer the old way. */
	if (r == -ENOENT || tapo->klap_forbidden) {
		tapo->device.err = (struct err){0};
		r = tapo_passthrough_begin(tapo);
		if (r == 0)
			tapo->way = TAPO_PASSTHROUGH;
		else if (tapo->klap_forbidden && r != -EACCES)
			r = tapo_refused_by_firmware(tapo);
	}
	tapo->in_session = r == 0;
	return r;
}

static int ask(struct tapo *tapo, const char *json)
{
	int r = tapo->in_session ? 0 : begin(tapo);

	if (r < 0)
		return r;
	r = tapo->way == TAPO_KLAP ? tapo_klap_ask(tapo, json) : tapo_passthrough_ask(tapo, json);
	if (r != -ESTALE)
		return r;
	/* A session ends after a day, and when the plug thinks so. */
	tapo->device.err = (struct err){0};
	r = begin(tapo);
	if (r < 0)
		return r;
	r = tapo->way == TAPO_KLAP ? tapo_klap_ask(tapo, json) : tapo_passthrough_ask(tapo, json);
	return r == -ESTALE ? err_set(&tapo->device.err, EPROTO, NULL, "it ends each session at once") : r;
}

static int watts_of(struct tapo *tapo, int method, double *ret_w)
{
	int error = 0, r = ask(tapo, methods[method]);

	if (r < 0)
		return r;
	r = meter_answer_tapo(tapo->answer, strlen(tapo->answer), ret_w, &error);
	if (r == -EPROTO)
		return err_set(&tapo->device.err, EPROTO, NULL, "it answers with error %d", error);
	return r < 0 ? err_set(&tapo->device.err, -r, NULL, "its answer has no power: is it a plug that measures?") : 0;
}

static void read_tapo(struct meter_input *input, struct meter_reading *ret)
{
	struct tapo *tapo = input->self;
	int r = -ENODATA;

	/* What this plug has is found out once. */
	for (; tapo->method < (int)ARRAY_SIZE(methods); tapo->method++) {
		tapo->device.err = (struct err){0};
		r = watts_of(tapo, tapo->method, &ret->value);
		if (r != -EPROTO && r != -ENODATA)
			break;
	}
	if (tapo->method == (int)ARRAY_SIZE(methods))
		tapo->method = 0;
	if (r < 0)
		meter_device_failed(&tapo->device, ret);
}

static void close_tapo(struct meter_input *input)
{
	struct tapo *tapo = input->self;

	if (tapo)
		tapo->crypto = meter_crypto_close(tapo->crypto);
	meter_device_close(input);
}

const struct meter_device_kind meter_tapo = {
    .driver = {.name = "tapo", .read = read_tapo, .close = close_tapo},
    .resolution = 0.001,
    .refresh_s = 2,
    .period_s = 2,
    .open = open_tapo,
};
