/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns power by a BMC's Redfish over HTTPS: EnvironmentMetrics of a chassis (PowerWatts.Reading), else the older Power
 * (PowerControl, deprecated in 2020.4). A session is opened, its token sent with each request, and it is closed at the
 * end, as BMCs have few; one that offers no sessions gets user and password with each request (Basic).
 */
#include <errno.h>
#include <jansson.h>

#include "meter_answer.h"
#include "meter_driver.h"
#include "text.h"

enum { MOST_CHASSIS = 16 };

#define SESSIONS "/redfish/v1/SessionService/Sessions"

struct redfish {
	struct meter_device device; /* first */
	struct meter_set *set;
	char token[256], session[512]; /* "" without a session */
	bool basic, found;
	const char *path; /* of what is read */
	int (*read)(const char *body, size_t size, double *ret_w);
};

static int open_redfish(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry,
			struct err *err)
{
	struct redfish *redfish = ARENA_NEW(set->arena, struct redfish);

	if (!entry->secret)
		return err_set_at(err, EINVAL, set->config.path, entry->line, 0,
				  "[%s] has no password: password-file, password-env, or password", entry->name);
	redfish->set = set;
	input->self = redfish;
	return meter_device_http(&redfish->device, entry, "https", set, err);
}

/* From here on user and password go with each request. */
static int begin_basic(struct redfish *redfish)
{
	const struct meter_entry *entry = redfish->device.entry;
	const struct meter_http_setup setup = {.user = entry->values[METER_KEY_USER],
					       .secret = entry->secret,
					       .basic = true,
					       .verify = entry->verify,
					       .ca = entry->values[METER_KEY_CA]};

	redfish->basic = true;
	redfish->device.http = meter_http_close(redfish->device.http);
	return meter_http_open(&setup, &redfish->device.http, &redfish->device.err);
}

static int begin_session(struct redfish *redfish)
{
	const struct meter_entry *entry = redfish->device.entry;
	json_t *json = json_pack("{s:s, s:s}", "UserName", entry->values[METER_KEY_USER], "Password", entry->secret);
	CLEANUP(base_free) char *body = json ? json_dumps(json, JSON_COMPACT) : NULL;
	char url[512];
	struct meter_http_answer answer;

	json_decref(json);
	if (!body)
		return err_set(&redfish->device.err, EINVAL, NULL, "user and password must be UTF-8");
	(void)snprintf(url, sizeof(url), "%s" SESSIONS, redfish->device.base);
	int r = meter_http_ask(redfish->device.http,
			       &(struct meter_http_request){
				   .url = url, .type = " application/json", .body = body, .body_size = strlen(body)},
			       &answer, &redfish->device.err);

	if (r < 0)
		return r;
	if ((answer.status == 200 || answer.status == 201) && *answer.token) {
		(void)snprintf(redfish->token, sizeof(redfish->token), "%s", answer.token);
		(void)snprintf(redfish->session, sizeof(redfish->session), "%s", answer.location);
		return 0;
	}
	if (answer.status == 400 || answer.status == 401 || answer.status == 403)
		return err_set(&redfish->device.err, EACCES, NULL, "it refuses the user or password (HTTP %ld)",
			       answer.status);
	return begin_basic(redfish);
}

static int get(struct redfish *redfish, const char *path, struct meter_http_answer *ret)
{
	return meter_device_get(&redfish->device, path, redfish->basic ? NULL : redfish->token, ret);
}

/* Does this chassis tell watts, the new way or the old? */
static int try_chassis(struct redfish *redfish, struct arena *arena, const char *chassis)
{
	static const struct {
		const char *link;
		int (*read)(const char *body, size_t size, double *ret_w);
	} ways[] = {{"EnvironmentMetrics", meter_answer_environment}, {"Power", meter_answer_power}};
	struct meter_http_answer answer;
	const char *links[ARRAY_SIZE(ways)];
	double watts;
	int r = get(redfish, chassis, &answer);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		links[i] = meter_answer_link(arena, answer.body, answer.size, ways[i].link);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!links[i] || get(redfish, links[i], &answer) < 0 ||
		    ways[i].read(answer.body, answer.size, &watts) < 0)
			continue;
		redfish->path = arena_strdup(redfish->set->arena, links[i]);
		redfish->read = ways[i].read;
		redfish->found = true;
		return 0;
	}
	return -ENODATA;
}

static int find_power(struct redfish *redfish)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *paths[MOST_CHASSIS], *wanted = redfish->device.entry->values[METER_KEY_ID];
	struct meter_http_answer answer;
	int r = get(redfish, "/redfish/v1/Chassis", &answer), count;

	if (r < 0)
		return r;
	count = meter_answer_members(arena, answer.body, answer.size, paths, MOST_CHASSIS);
	for (int i = 0; i < count; i++) {
		const char *name = strrchr(paths[i], '/');

		if (wanted && !text_equal(name + 1, wanted))
			continue;
		if (try_chassis(redfish, arena, paths[i]) == 0)
			return 0;
	}
	(void)err_set(&redfish->device.err, ENODATA, NULL,
		      wanted ? "it has no chassis of that id that tells watts" : "no chassis of it tells watts");
	return -ENODATA;
}

static int read_watts(struct redfish *redfish, double *ret_w)
{
	struct meter_http_answer answer;
	int r = 0;

	if (!*redfish->token && !redfish->basic)
		r = begin_session(redfish);
	if (r == 0 && !redfish->found)
		r = find_power(redfish);
	if (r == 0)
		r = get(redfish, redfish->path, &answer);
	if (r == 0 && redfish->read(answer.body, answer.size, ret_w) < 0)
		r = err_set(&redfish->device.err, ENODATA, NULL, "it has no watts now");
	return r;
}

static void read_redfish(struct meter_input *input, struct meter_reading *ret)
{
	struct redfish *redfish = input->self;
	bool had_session = *redfish->token;

	redfish->device.err = (struct err){0};
	int r = read_watts(redfish, &ret->value);

	/* Sessions end after a while of their own. */
	if (r == -EACCES && had_session) {
		*redfish->token = '\0';
		redfish->device.err = (struct err){0};
		r = read_watts(redfish, &ret->value);
	}
	if (r < 0)
		meter_device_failed(&redfish->device, ret);
}

/* BMCs have few sessions, and keep those that are not closed for minutes. */
static void close_redfish(struct meter_input *input)
{
	struct redfish *redfish = input->self;
	struct meter_http_answer answer;
	char url[1024];

	if (!redfish)
		return;
	const char *session = redfish->session;
	const char *path = strstr(session, "/redfish/");

	if (redfish->device.http && *redfish->token && path) {
		(void)snprintf(url, sizeof(url), "%s%s", redfish->device.base, path);
		(void)meter_http_ask(
		    redfish->device.http,
		    &(struct meter_http_request){.method = "DELETE", .url = url, .token = redfish->token}, &answer,
		    NULL);
	}
	meter_device_close(input);
}

const struct meter_device_kind meter_redfish = {
    .driver = {.name = "redfish", .read = read_redfish, .close = close_redfish},
    .resolution = 1,
    .period_s = 5,
    .open = open_redfish,
};
