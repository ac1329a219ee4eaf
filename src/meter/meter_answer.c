/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the readers declared in meter_answer.h. */
#include "meter_answer.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "text.h"

static void free_json(json_t **json)
{
	json_decref(*json);
}

static json_t *parse(const char *body, size_t size)
{
	return json_loadb(body, size, 0, NULL);
}

static int number_of(const json_t *value, double *ret)
{
	if (!json_is_number(value))
		return -ENODATA;
	*ret = json_number_value(value);
	return isfinite(*ret) ? 0 : -EBADMSG;
}

/* ---- Shelly ---- */

int meter_answer_shelly(const char *body, size_t size, int id, double *ret_w)
{
	static const struct {
		const char *component, *field;
	} places[] = {{"switch", "apower"},	 {"pm1", "apower"},   {"em1", "act_power"},
		      {"em", "total_act_power"}, {"cover", "apower"}, {"light", "apower"}};
	CLEANUP(free_json) json_t *json = parse(body, size);
	char key[32];

	if (!json_is_object(json))
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		(void)snprintf(key, sizeof(key), "%s:%d", places[i].component, id);
		const json_t *value = json_object_get(json_object_get(json, key), places[i].field);

		if (value)
			return number_of(value, ret_w);
	}
	return -ENODATA;
}

int meter_answer_shelly_old(const char *body, size_t size, int id, double *ret_w)
{
	CLEANUP(free_json) json_t *json = parse(body, size);
	const json_t *meters;

	if (!json_is_object(json))
		return -EBADMSG;
	meters = json_object_get(json, "emeters");
	if (!json_array_size(meters))
		meters = json_object_get(json, "meters");
	const json_t *meter = json_array_get(meters, (size_t)id);

	/* A meter says itself when its figure does not hold. */
	if (json_is_false(json_object_get(meter, "is_valid")))
		return -ENODATA;
	return number_of(json_object_get(meter, "power"), ret_w);
}

/* ---- Tasmota ---- */

int meter_answer_tasmota(const char *body, size_t size, double *ret_w)
{
	CLEANUP(free_json) json_t *json = parse(body, size);
	double sum_w = 0;

	if (!json_is_object(json))
		return -EBADMSG;
	const json_t *power = json_object_get(json_object_get(json_object_get(json, "StatusSNS"), "ENERGY"), "Power");

	if (!json_is_array(power))
		return number_of(power, ret_w);
	if (!json_array_size(power))
		return -ENODATA;
	for (size_t i = 0; i < json_array_size(power); i++) {
		double phase_w;
		int r = number_of(json_array_get(power, i), &phase_w);

		if (r < 0)
			return r;
		sum_w += phase_w;
	}
	*ret_w = sum_w;
	return 0;
}

/* ---- Redfish ---- */

int meter_answer_environment(const char *body, size_t size, double *ret_w)
{
	CLEANUP(free_json) json_t *json = parse(body, size);

	if (!json_is_object(json))
		return -EBADMSG;
	return number_of(json_object_get(json_object_get(json, "PowerWatts"), "Reading"), ret_w);
}

/* Of several supplies one without a figure would make the sum a part that looks whole. */
static int sum_supplies(const json_t *supplies, double *ret_w)
{
	double sum_w = 0;

	if (!json_array_size(supplies))
		return -ENODATA;
	for (size_t i = 0; i < json_array_size(supplies); i++) {
		double one_w;
		int r = number_of(json_object_get(json_array_get(supplies, i), "PowerInputWatts"), &one_w);

		if (r < 0)
			return r;
		sum_w += one_w;
	}
	*ret_w = sum_w;
	return 0;
}

int meter_answer_power(const char *body, size_t size, double *ret_w)
{
	CLEANUP(free_json) json_t *json = parse(body, size);

	if (!json_is_object(json))
		return -EBADMSG;
	const json_t *control = json_array_get(json_object_get(json, "PowerControl"), 0);

	if (number_of(json_object_get(control, "PowerConsumedWatts"), ret_w) == 0)
		return 0;
	return sum_supplies(json_object_get(json, "PowerSupplies"), ret_w);
}

/* It becomes part of a URL: a path of Redfish and nothing else. */
static const char *path_of(struct arena *arena, const json_t *link)
{
	const char *path = json_string_value(json_object_get(link, "@odata.id"));

	if (!path || !text_starts(path, "/redfish/") || strlen(path) > 200 || strstr(path, ".."))
		return NULL;
	for (const char *at = path; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("/-_.~%:", *at))
			return NULL;
	return arena_strdup(arena, path);
}

int meter_answer_members(struct arena *arena, const char *body, size_t size, const char **ret_paths, int most)
{
	CLEANUP(free_json) json_t *json = parse(body, size);
	const json_t *members = json_object_get(json, "Members");
	int count = 0;

	if (!json_is_array(members))
		return -EBADMSG;
	for (size_t i = 0; i < json_array_size(members) && count < most; i++) {
		const char *path = path_of(arena, json_array_get(members, i));

		if (path)
			ret_paths[count++] = path;
	}
	return count;
}

const char *meter_answer_link(struct arena *arena, const char *body, size_t size, const char *name)
{
	CLEANUP(free_json) json_t *json = parse(body, size);

	return path_of(arena, json_object_get(json, name));
}

/* ---- Tapo ---- */

int meter_answer_tapo(const char *body, size_t size, double *ret_w, int *ret_error)
{
	CLEANUP(free_json) json_t *json = parse(body, size);
	const json_t *code = json_object_get(json, "error_code"), *result = json_object_get(json, "result");
	double milliwatts;

	if (!json_is_integer(code))
		return -EBADMSG;
	*ret_error = (int)json_integer_value(code);
	if (*ret_error)
		return -EPROTO;
	/* get_emeter_data has power_mw; current_power is mW in get_energy_usage and whole W in get_current_power. */
	if (number_of(json_object_get(result, "power_mw"), &milliwatts) == 0) {
		*ret_w = milliwatts / 1e3;
		return 0;
	}
	int r = number_of(json_object_get(result, "current_power"), &milliwatts);

	if (r < 0)
		return r;
	*ret_w = json_object_get(result, "today_energy") ? milliwatts / 1e3 : milliwatts;
	return 0;
}

/* ---- a command ---- */

/* The first number of a line; false without one. A digit in a word ("W2") is none. */
static bool number_in_line(const char *line, size_t length, double *ret)
{
	for (size_t i = 0; i < length; i++) {
		bool begins = isdigit((unsigned char)line[i]) ||
			      (strchr("+-.", line[i]) && i + 1 < length && isdigit((unsigned char)line[i + 1]));
		char text[64], *end;
		double value;

		if (!begins || (i && (isalnum((unsigned char)line[i - 1]) || line[i - 1] == '_')))
			continue;
		(void)snprintf(text, sizeof(text), "%.*s", (int)MIN_OF(length - i, sizeof(text) - 1), line + i);
		value = strtod(text, &end);
		/* "215W" is one, "12h" and "12:30" are not. */
		if (isfinite(value) && (!isalpha((unsigned char)*end) || toupper((unsigned char)*end) == 'W') &&
		    (!*end || !strchr(":_", *end))) {
			*ret = value;
			return true;
		}
		while (i + 1 < length && !isspace((unsigned char)line[i + 1]))
			i++;
	}
	return false;
}

int meter_answer_text(const char *text, double *ret_w)
{
	bool found = false;

	while (*text) {
		size_t length = strcspn(text, "\n");

		found |= number_in_line(text, length, ret_w);
		text += length + (text[length] == '\n');
	}
	return found ? 0 : -ENODATA;
}
