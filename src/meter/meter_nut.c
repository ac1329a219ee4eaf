/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns power by UPSes and PDUs through NUT's upsd, by libupsclient, which is loaded when one is configured: the
 * variable ups.realpower (W), else ups.load (%) of ups.realpower.nominal, which knows steps of 1 % only. upsd asks the
 * UPS every two seconds (pollinterval). Compiled only where the library's headers are.
 */
#include "meter_driver.h"

#include <errno.h>
#include <math.h>
#include <sys/time.h>
#include <upsclient.h>

#include "library.h"
#include "text.h"

enum { CONNECT_S = 3 };

/* clang-format off */
#define NUT_FUNCTIONS(X)                                                                                               \
	X(upscli_disconnect) X(upscli_get) X(upscli_strerror) X(upscli_tryconnect) X(upscli_upserror)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct nut {
	struct meter_device device; /* first */
	NUT_FUNCTIONS(DECLARE)
	/* Its size differs between versions of the library; nothing in it is looked at here. */
	union {
		UPSCONN_t ups;
		char room[4096];
	} connection;
	bool connected;
	const char *host, *ups, *variable;
	uint16_t port;
	double nominal_w; /* of the load; 0: not asked yet */
};

/* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */

static int load(struct nut *nut, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&nut->name},
	    NUT_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libupsclient.so.6", "libupsclient.so.7", "libupsclient.so.5"},
					.name = "libupsclient",
					.where = NULL,
					.install = "libupsclient6 (Debian, Ubuntu) or nut-client (Fedora, RHEL)",
					.errnum = ENOENT};

	return library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);
}

static bool is_word(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at == '"' || *at == '\\' || *at > '~')
			return false;
	return *text;
}

static int open_nut(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry, struct err *err)
{
	struct nut *nut = ARENA_NEW(set->arena, struct nut);
	const char *address = entry->values[METER_KEY_ADDRESS], *id = entry->values[METER_KEY_ID];
	const char *colon = strrchr(address, ':'), *variable = strchr(id, ':');
	int64_t port = 3493;
	bool is_v6 = colon && strchr(address, ':') != colon && address[strlen(address) - 1] != ']';

	if (colon && !is_v6 && colon[1] != '\0' && !strchr(colon, ']')) {
		if (text_int(colon + 1, 10, &port) < 0 || port < 1 || port > 65535)
			return err_set_at(err, EINVAL, set->config.path, entry->lines[METER_KEY_ADDRESS], 0,
					  "a port from 1 to 65535 was expected");
		address = arena_strndup(set->arena, address, (size_t)(colon - address));
	}
	nut->device.entry = entry;
	nut->host = address;
	nut->port = (uint16_t)port;
	nut->ups = variable ? arena_strndup(set->arena, id, (size_t)(variable - id)) : id;
	nut->variable = variable ? variable + 1 : "ups.realpower";
	if (!is_word(nut->ups) || !is_word(nut->variable))
		return err_set_at(err, EINVAL, set->config.path, entry->lines[METER_KEY_ID], 0,
				  "\"id\" is the name of the UPS, with :VARIABLE for another than ups.realpower");
	input->self = nut;
	return load(nut, err);
}

static void disconnect(struct nut *nut)
{
	if (nut->connected)
		(void)nut->upscli_disconnect(&nut->connection.ups);
	nut->connected = false;
}

static int failed(struct nut *nut)
{
	(void)err_set(&nut->device.err, EIO, NULL, "%s", nut->upscli_strerror(&nut->connection.ups));
	disconnect(nut);
	return -EIO;
}

static int connect_to(struct nut *nut)
{
	struct timeval most = {.tv_sec = CONNECT_S};

	if (nut->connected)
		return 0;
	/* Without TLS: nothing secret is said, and the library would talk of certificates on standard error. */
	if (nut->upscli_tryconnect(&nut->connection.ups, nut->host, nut->port, 0, &most) < 0)
		return failed(nut);
	nut->connected = true;
	return 0;
}

/* A variable that is a number. -ENODATA when the UPS does not have it. */
static int get_number(struct nut *nut, const char *variable, double *ret)
{
	const char *query[] = {"VAR", nut->ups, variable};
	size_t count = 0;
	char **answer = NULL, *end;

	if (nut->upscli_get(&nut->connection.ups, ARRAY_SIZE(query), query, &count, &answer) < 0) {
		int reason = nut->upscli_upserror(&nut->connection.ups);

		return reason == UPSCLI_ERR_VARNOTSUPP ? -ENODATA : failed(nut);
	}
	/* VAR NAME VARIABLE VALUE */
	if (count < 4)
		return -ENODATA;
	double number = strtod(answer[3], &end);

	if (end == answer[3] || *end || !isfinite(number))
		return -ENODATA;
	*ret = number;
	return 0;
}

static int read_load(struct nut *nut, struct meter_input *input, double *ret_w)
{
	double load_percent;
	int r = nut->nominal_w > 0 ? 0 : get_number(nut, "ups.realpower.nominal", &nut->nominal_w);

	if (r == 0)
		r = get_number(nut, "ups.load", &load_percent);
	if (r == -ENODATA)
		return err_set(&nut->device.err, ENODATA, NULL,
			       "the UPS tells neither ups.realpower nor ups.load and ups.realpower.nominal");
	if (r < 0)
		return r;
	input->source.resolution = nut->nominal_w / 100;
	*ret_w = load_percent / 100 * nut->nominal_w;
	return 0;
}

static void read_nut(struct meter_input *input, struct meter_reading *ret)
{
	struct nut *nut = input->self;

	nut->device.err = (struct err){0};
	int r = connect_to(nut);

	if (r == 0)
		r = get_number(nut, nut->variable, &ret->value);
	if (r == -ENODATA && text_equal(nut->variable, "ups.realpower"))
		r = read_load(nut, input, &ret->value);
	else if (r == -ENODATA)
		(void)err_set(&nut->device.err, ENODATA, NULL, "the UPS does not tell %s", nut->variable);
	if (r < 0)
		meter_device_failed(&nut->device, ret);
}

static void close_nut(struct meter_input *input)
{
	struct nut *nut = input->self;

	if (nut)
		disconnect(nut);
}

/* NOLINTEND(clang-analyzer-core.CallAndMessage) */

const struct meter_device_kind meter_nut = {
    .driver = {.name = "nut", .read = read_nut, .close = close_nut},
    .resolution = 1,
    .refresh_s = 2,
    .period_s = 2,
    .open = open_nut,
};
