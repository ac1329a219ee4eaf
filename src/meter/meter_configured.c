/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns making sources of the meters that a file names, and what the drivers of such devices have in common. */
#include <errno.h>
#include <unistd.h>

#include "meter_driver.h"
#include "text.h"

/* clang-format off */
static const struct meter_device_kind *const device_kinds[METER_KINDS] = {
	[METER_KIND_COMMAND] = &meter_command,
	[METER_KIND_SHELLY] = &meter_shelly,
	[METER_KIND_TASMOTA] = &meter_tasmota,
	[METER_KIND_REDFISH] = &meter_redfish,
	[METER_KIND_TAPO] = &meter_tapo,
	[METER_KIND_NUT] = &meter_nut,
	[METER_KIND_IPMI] = &meter_ipmi,
};
/* clang-format on */

static int add_device(struct meter_set *set, const struct meter_entry *entry, struct err *err)
{
	const struct meter_device_kind *kind = device_kinds[entry->kind];
	const char *place = entry->values[METER_KEY_ADDRESS];
	struct meter_input *input = meter_add(
	    set, &kind->driver,
	    (struct meter_source){
		.name = arena_printf(set->arena, "%s.%s", meter_kind_name(entry->kind), entry->name),
		.place = place ? place : arena_printf(set->arena, "%s, line %u", set->config.path, entry->line),
		.quantity = METER_POWER,
		.boundary = entry->boundary,
		.package = -1,
		.resolution = kind->resolution,
		.refresh_s = kind->refresh_s,
		.period_s = entry->period_s > 0 ? entry->period_s : kind->period_s,
		.most = entry->most_w,
		.part = entry->part,
		.slow = true,
	    });
	struct err why = {0};
	int r = kind->open(set, input, entry, &why);

	/* A line of the file that is wrong is an error; a library that is missing is told beside the source. */
	if (r == -EINVAL) {
		(void)err_copy(err, &why);
		return r;
	}
	if (r < 0) {
		meter_refuse(set, input, -r, *why.hint ? arena_strdup(set->arena, why.hint) : NULL);
		input->source.state = METER_UNREADABLE;
		input->source.why = arena_strdup(set->arena, why.what);
	}
	return 0;
}

static int find(struct meter_set *set, struct err *err)
{
	const char *path = set->setup.config;
	int r = 0;

	if (set->setup.local || set->setup.only_look)
		return 0;
	if (!path && (!sys_is_live(set->sys) || access(METER_CONFIG, F_OK) < 0)) {
		meter_lacks(set, "devices", "no plug, UPS, BMC or command is named in " METER_CONFIG,
			    "hvtune-meters(1) tells how");
		return 0;
	}
	r = meter_config_read(set->arena, path ? path : METER_CONFIG, &set->config, err);
	/* The usual file is for root: another user does without it, and is told. */
	if (r == -EACCES && !path) {
		meter_lacks(set, "devices", METER_CONFIG " cannot be read", "run hvtune as root");
		return 0;
	}
	for (size_t i = 0; i < set->config.count && r == 0; i++)
		r = add_device(set, &set->config.entries[i], err);
	return r;
}

static void read_none(struct meter_input *input, struct meter_reading *ret)
{
	(void)input;
	meter_unread(ret, ENODEV);
}

const struct meter_driver meter_configured = {.name = "devices", .find = find, .read = read_none};

/* ---- for the drivers ---- */

void meter_device_failed(struct meter_device *device, struct meter_reading *ret)
{
	meter_unread(ret, device->err.code ? -device->err.code : EIO);
	ret->why = *device->err.what ? device->err.what : NULL;
	ret->hint = *device->err.hint ? device->err.hint : NULL;
}

int meter_device_http(struct meter_device *device, const struct meter_entry *entry, const char *scheme,
		      struct meter_set *set, struct err *err)
{
	const char *user = entry->values[METER_KEY_USER];
	const struct meter_http_setup setup = {
	    /* Shelly has one user, whose name is fixed. */
	    .user = user ? user : "admin",
	    .secret = entry->kind == METER_KIND_SHELLY ? entry->secret : NULL,
	    .verify = entry->verify,
	    .ca = entry->values[METER_KEY_CA],
	};

	device->entry = entry;
	device->base = arena_printf(set->arena, "%s://%s", scheme, entry->values[METER_KEY_ADDRESS]);
	return meter_http_open(&setup, &device->http, err);
}

void meter_device_close(struct meter_input *input)
{
	struct meter_device *device = input->self;

	if (device)
		device->http = meter_http_close(device->http);
}

int meter_device_get(struct meter_device *device, const char *path, const char *token, struct meter_http_answer *ret)
{
	char url[1024];
	const struct meter_http_request request = {.url = url, .token = token};
	int r;

	(void)snprintf(url, sizeof(url), "%s%s", device->base, path);
	device->err = (struct err){0};
	r = meter_http_ask(device->http, &request, ret, &device->err);
	/* The URL of some has a password in it, and is not repeated. */
	if (r < 0)
		return r;
	if (ret->status == 401 || ret->status == 403)
		return err_set(&device->err, EACCES, NULL, "it refuses the user or password (HTTP %ld)", ret->status);
	if (ret->status == 404)
		return err_set(&device->err, ENOENT, NULL, "it has no such page (HTTP 404): is it of this kind?");
	if (ret->status != 200)
		return err_set(&device->err, EPROTO, NULL, "it answers HTTP %ld", ret->status);
	return 0;
}
