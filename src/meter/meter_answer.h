/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what devices answer, as numbers: the JSON of Shelly, Tasmota, Redfish and Tapo, and the output of a command.
 * Answers come from strangers: nothing in them is believed but what has the right type, and what is missing is not 0.
 */
#ifndef HVTUNE_METER_ANSWER_H
#define HVTUNE_METER_ANSWER_H

#include "meter.h"

/*
 * Each gives watts. 0, -ENODATA when the answer has none (a relay that does not measure, a field that is null),
 * -EBADMSG when it is not understood. *ret_w untouched then.
 */

/* /rpc/Shelly.GetStatus of Gen2 and later: channel `id` of switch (apower), pm1 (apower), em1 (act_power), em (total).
 */
int meter_answer_shelly(const char *body, size_t size, int id, double *ret_w);

/* /status of Gen1: meters[id].power or emeters[id].power. */
int meter_answer_shelly_old(const char *body, size_t size, int id, double *ret_w);

/* Status 8 or 10: StatusSNS.ENERGY.Power, a number or one for each phase, which are added. */
int meter_answer_tasmota(const char *body, size_t size, double *ret_w);

/* EnvironmentMetrics: PowerWatts.Reading. */
int meter_answer_environment(const char *body, size_t size, double *ret_w);

/* Power: PowerControl[0].PowerConsumedWatts, else the sum of PowerSupplies[].PowerInputWatts. */
int meter_answer_power(const char *body, size_t size, double *ret_w);

/* Redfish's Chassis: the members' paths, at most `most`; how many, or -EBADMSG. */
int meter_answer_members(struct arena *arena, const char *body, size_t size, const char **ret_paths, int most);

/* One chassis: the path of a link in it ("Power", "EnvironmentMetrics"), or NULL. */
const char *meter_answer_link(struct arena *arena, const char *body, size_t size, const char *name);

/*
 * An answer of a Tapo plug to get_emeter_data, get_energy_usage or get_current_power. *ret_error: its error_code, 0
 * when all is well; -EPROTO when it is not.
 */
int meter_answer_tapo(const char *body, size_t size, double *ret_w, int *ret_error);

/* What a command printed: the first number in its last line that has one ("Instantaneous power reading: 215 Watts"). */
int meter_answer_text(const char *text, double *ret_w);

#endif
