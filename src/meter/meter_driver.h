/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the drivers of src/meter and the set that holds their sources share. */
#ifndef HVTUNE_METER_DRIVER_H
#define HVTUNE_METER_DRIVER_H

#include "arena.h"
#include "meter.h"
#include "meter_config.h"
#include "meter_http.h"
#include "sys_again.h"

struct meter_input;

struct meter_driver {
	const char *name;
	/*
	 * Look for sources and meter_add() them; say with meter_lacks() why there are none. 0, or an error of the
	 * configuration.
	 */
	int (*find)(struct meter_set *set, struct err *err);
	/* One read. No allocation; the gate of plausibility is passed by the caller. */
	void (*read)(struct meter_input *input, struct meter_reading *ret);
	void (*close)(struct meter_input *input); /* may be NULL */
};

/* A source with what its driver needs to read it. */
struct meter_input {
	struct meter_source source;
	const struct meter_driver *driver;
	struct sys_again file;
	double scale;	/* of the number in the file: to W or degrees */
	bool from_zero; /* a counter that starts at 0 when it is opened */
	void *self;	/* the driver's own, in the arena of the set; the driver closes what it opened */
};

struct meter_set {
	struct meter_config config; /* the meters that a file names */
	struct arena *arena;
	struct sys *sys;
	struct meter_setup setup;
	struct meter_input **inputs;
	size_t count, room;
	struct meter_missing *missing;
	size_t missing_count, missing_room;
};

/* What drivers of devices that a file names have in common. */
struct meter_device {
	const struct meter_entry *entry;
	struct meter_http *http; /* of those that speak it */
	const char *base;	 /* "http://ADDRESS" */
	struct err err;		 /* of the last read */
};

/* A kind of device, for the table in meter_configured.c. */
struct meter_device_kind {
	struct meter_driver driver;
	double resolution, refresh_s, period_s;
	/* Make the driver's own struct, which begins with a struct meter_device; refuse what cannot be. */
	int (*open)(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry, struct err *err);
};

extern const struct meter_device_kind meter_command, meter_shelly, meter_tasmota, meter_redfish, meter_tapo, meter_nut,
    meter_ipmi;

/* For read(): the device's err says why not. */
void meter_device_failed(struct meter_device *device, struct meter_reading *ret);
/* For open() and close() of devices that speak HTTP. */
int meter_device_http(struct meter_device *device, const struct meter_entry *entry, const char *scheme,
		      struct meter_set *set, struct err *err);
void meter_device_close(struct meter_input *input);
/* A GET below the base; what is no 200 is an error. The path goes into the URL as it is. */
int meter_device_get(struct meter_device *device, const char *path, const char *token, struct meter_http_answer *ret);

/* Finds those of all kinds; each has a driver of its own to read. */
extern const struct meter_driver meter_configured;
extern const struct meter_driver meter_perf, meter_powercap, meter_msr, meter_hwmon, meter_hsmp;

/*
 * Add a source; what `source` points to must live as long as the set's arena. Defaults: period 1 s, most as the
 * boundary allows. A name that is taken gets a number. The caller fills in file, scale and self.
 */
struct meter_input *meter_add(struct meter_set *set, const struct meter_driver *driver, struct meter_source source);

/* The source cannot be read: why, and what would make it work. `errnum` is positive. */
void meter_refuse(struct meter_set *set, struct meter_input *input, int errnum, const char *hint);

/* The driver found nothing: why, and what would make it work (may be NULL). */
void meter_lacks(struct meter_set *set, const char *driver, const char *why, const char *hint);

/* Open the file at source.place for reading again and again; a refusal is noted with the hint. */
void meter_open_file(struct meter_set *set, struct meter_input *input, const char *hint);

/* A number in a file, for the search: what is there once and does not change. -ENOENT...; -EBADMSG when it is none. */
int meter_number(struct sys *sys, int64_t *ret, const char *format, ...) PRINTF_LIKE(3, 4);
/* A text in a file, trimmed, in the arena; NULL when it is not there. */
const char *meter_text(struct meter_set *set, const char *format, ...) PRINTF_LIKE(2, 3);

/* The package of a CPU by its topology files, or -1. */
int meter_package_of(struct sys *sys, int cpu);

/* For read(): nothing was read, because. */
static inline void meter_unread(struct meter_reading *ret, int errnum)
{
	*ret = (struct meter_reading){.state = METER_UNREADABLE, .errnum = errnum};
}

static inline void meter_implausible(struct meter_reading *ret, const char *why)
{
	*ret = (struct meter_reading){.state = METER_IMPLAUSIBLE, .why = why};
}

/* One read and the gate. */
void meter_read_input(struct meter_input *input, struct meter_reading *ret);

#endif
