/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns power by IPMI through FreeIPMI, which is loaded when a BMC is configured: of this host by /dev/ipmi0, or of one
 * in the network by IPMI 2.0. DCMI's power reading first; a BMC that does not know DCMI is asked for its sensors, of
 * which one that measures watts is read: the only one there is, or the one that "id" names.
 *
 * FreeIPMI keeps sensor records in a file; here that file is memory that has no name. Compiled only where the library's
 * headers are.
 */
#include "meter_driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <freeipmi/freeipmi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "library.h"
#include "text.h"

enum { RECORD_MOST = 4096, NAMES_MOST = 8, SESSION_MS = 5000, RESEND_MS = 1000 };

/* clang-format off */
#define IPMI_FUNCTIONS(X)                                                                                              \
	X(fiid_obj_create) X(fiid_obj_destroy) X(fiid_obj_get) X(ipmi_cmd_dcmi_get_power_reading) X(ipmi_ctx_close)     \
	X(ipmi_ctx_create) X(ipmi_ctx_destroy) X(ipmi_ctx_errormsg) X(ipmi_ctx_errnum) X(ipmi_ctx_open_inband)          \
	X(ipmi_ctx_open_outofband_2_0) X(ipmi_sdr_cache_create) X(ipmi_sdr_cache_first) X(ipmi_sdr_cache_next)          \
	X(ipmi_sdr_cache_open) X(ipmi_sdr_cache_record_read) X(ipmi_sdr_ctx_create) X(ipmi_sdr_ctx_destroy)             \
	X(ipmi_sdr_ctx_errormsg) X(ipmi_sdr_parse_id_string) X(ipmi_sdr_parse_record_id_and_type)                       \
	X(ipmi_sdr_parse_sensor_units) X(ipmi_sensor_read) X(ipmi_sensor_read_ctx_create)                               \
	X(ipmi_sensor_read_ctx_destroy) X(ipmi_sensor_read_ctx_errormsg)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

enum ipmi_way { IPMI_UNKNOWN, IPMI_DCMI, IPMI_SENSOR };

struct ipmi {
	struct meter_device device; /* first */
	IPMI_FUNCTIONS(DECLARE)
	fiid_field_t *template; /* of the answer to Get Power Reading */
	ipmi_ctx_t context;	/* NULL: not connected */
	enum ipmi_way way;
	uint8_t record[RECORD_MOST]; /* of the sensor */
	int record_size;
};

/* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */

static int load(struct ipmi *ipmi, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&ipmi->name},
	    IPMI_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libfreeipmi.so.17"},
					.name = "FreeIPMI",
					.where = NULL,
					.install = "libfreeipmi17 (Debian, Ubuntu) or freeipmi (Fedora, RHEL, SUSE)",
					.errnum = ENOENT};
	void *handle;
	int r = library_load(&library, functions, ARRAY_SIZE(functions), &handle, err);

	if (r < 0)
		return r;
	ipmi->template = dlsym(handle, "tmpl_cmd_dcmi_get_power_reading_rs");
	return ipmi->template ? 0 : err_set(err, ENOENT, NULL, "FreeIPMI is too old: it has no DCMI");
}

static int open_ipmi(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry, struct err *err)
{
	struct ipmi *ipmi = ARENA_NEW(set->arena, struct ipmi);

	if (entry->values[METER_KEY_ADDRESS] && (!entry->values[METER_KEY_USER] || !entry->secret))
		return err_set_at(err, EINVAL, set->config.path, entry->line, 0,
				  "[%s] needs a user and a password for a BMC in the network", entry->name);
	ipmi->device.entry = entry;
	input->self = ipmi;
	if (!entry->values[METER_KEY_ADDRESS])
		input->source.place = "/dev/ipmi0";
	return load(ipmi, err);
}

static void disconnect(struct ipmi *ipmi)
{
	if (!ipmi->context)
		return;
	(void)ipmi->ipmi_ctx_close(ipmi->context);
	ipmi->ipmi_ctx_destroy(ipmi->context);
	ipmi->context = NULL;
}

static int failed(struct ipmi *ipmi, int errnum)
{
	(void)err_set(&ipmi->device.err, errnum, NULL, "%s", ipmi->ipmi_ctx_errormsg(ipmi->context));
	disconnect(ipmi);
	return -errnum;
}

/* Cipher suite 3 is the one that every BMC of IPMI 2.0 has; reading needs no more than the privilege of a user. */
static int begin(struct ipmi *ipmi, unsigned workarounds)
{
	const struct meter_entry *entry = ipmi->device.entry;
	const char *address = entry->values[METER_KEY_ADDRESS];

	ipmi->context = ipmi->ipmi_ctx_create();
	if (!ipmi->context)
		err_no_memory();
	return address ? ipmi->ipmi_ctx_open_outofband_2_0(ipmi->context, address, entry->values[METER_KEY_USER],
							   entry->secret, NULL, 0, IPMI_PRIVILEGE_LEVEL_USER, 3,
							   SESSION_MS, RESEND_MS, workarounds, IPMI_FLAGS_DEFAULT)
		       : ipmi->ipmi_ctx_open_inband(ipmi->context, IPMI_DEVICE_OPENIPMI, 1, 0, 0, "/dev/ipmi0", 0,
						    IPMI_FLAGS_DEFAULT);
}

static int connect_to(struct ipmi *ipmi)
{
	const char *address = ipmi->device.entry->values[METER_KEY_ADDRESS];
	int r;

	if (ipmi->context)
		return 0;
	if (!address && access("/dev/ipmi0", R_OK | W_OK) < 0) {
		(void)err_set(&ipmi->device.err, errno, NULL, "/dev/ipmi0: %s", sys_reason(errno));
		return err_hint(&ipmi->device.err, "modprobe ipmi_si ipmi_devintf, and run hvtune as root");
	}
	/* Many a BMC does not compare privileges as the standard has it; FreeIPMI knows how to talk to those. */
	r = begin(ipmi, 0);
	if (r < 0 && address && ipmi->ipmi_ctx_errnum(ipmi->context) == IPMI_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED) {
		disconnect(ipmi);
		r = begin(ipmi, IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_OPEN_SESSION_PRIVILEGE);
	}
	return r < 0 ? failed(ipmi, EIO) : 0;
}

/* ---- DCMI ---- */

/* -EOPNOTSUPP when the BMC does not know DCMI. */
static int read_dcmi(struct ipmi *ipmi, double *ret_w)
{
	fiid_obj_t answer = ipmi->fiid_obj_create(ipmi->template);
	uint64_t watts = 0, active = 0;

	if (!answer)
		err_no_memory();
	/* Mode 1 is system power statistics (DCMI 1.5, 6.6.1). */
	int r = ipmi->ipmi_cmd_dcmi_get_power_reading(ipmi->context, 1, 0, answer);
	bool known = r >= 0 && ipmi->fiid_obj_get(answer, "current_power", &watts) == 1 &&
		     ipmi->fiid_obj_get(answer, "power_reading_state.power_measurement", &active) == 1;

	ipmi->fiid_obj_destroy(answer);
	if (r < 0) {
		int number = ipmi->ipmi_ctx_errnum(ipmi->context);

		if (number == IPMI_ERR_COMMAND_INVALID_OR_UNSUPPORTED || number == IPMI_ERR_BAD_COMPLETION_CODE ||
		    number == IPMI_ERR_PRIVILEGE_LEVEL_INSUFFICIENT ||
		    number == IPMI_ERR_COMMAND_INVALID_FOR_SELECTED_INTERFACE)
			return -EOPNOTSUPP;
		return failed(ipmi, EIO);
	}
	/* Without the bit the figures are whatever they are. */
	if (!known || !active)
		return -EOPNOTSUPP;
	*ret_w = (double)watts;
	return 0;
}

/* ---- sensors ---- */

static int sensor_failed(struct ipmi *ipmi, const char *text)
{
	return err_set(&ipmi->device.err, EIO, NULL, "its sensor records cannot be read: %s", text);
}

/* Is it a full record of a sensor in watts? Its name. */
static bool measures_watts(struct ipmi *ipmi, ipmi_sdr_ctx_t sdr, const uint8_t *record, int size, char *ret_name,
			   unsigned room)
{
	uint16_t id;
	uint8_t type, percent, modifier, rate, base, second;

	if (ipmi->ipmi_sdr_parse_record_id_and_type(sdr, record, (unsigned)size, &id, &type) < 0 ||
	    type != IPMI_SDR_FORMAT_FULL_SENSOR_RECORD)
		return false;
	if (ipmi->ipmi_sdr_parse_sensor_units(sdr, record, (unsigned)size, &percent, &modifier, &rate, &base, &second) <
	    0)
		return false;
	if (base != IPMI_SENSOR_UNIT_WATTS || percent || modifier)
		return false;
	(void)memset(ret_name, 0, room);
	return ipmi->ipmi_sdr_parse_id_string(sdr, record, (unsigned)size, ret_name, room - 1) >= 0;
}

/* Of the records that measure watts the one that is wanted, or the only one. */
static int choose_sensor(struct ipmi *ipmi, ipmi_sdr_ctx_t sdr)
{
	const char *wanted = ipmi->device.entry->values[METER_KEY_ID];
	uint8_t record[RECORD_MOST];
	char names[256] = "", name[64];
	int count = 0, more = ipmi->ipmi_sdr_cache_first(sdr);

	/* The first gives 0, the next 1 while there are more. */
	for (bool first = true; first ? more == 0 : more == 1; more = ipmi->ipmi_sdr_cache_next(sdr), first = false) {
		int size = ipmi->ipmi_sdr_cache_record_read(sdr, record, sizeof(record));
		size_t length = strlen(names);

		if (size <= 0 || !measures_watts(ipmi, sdr, record, size, name, sizeof(name)))
			continue;
		if (wanted && !text_equal(wanted, name))
			continue;
		count++;
		(void)snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "", name);
		memcpy(ipmi->record, record, (size_t)size);
		ipmi->record_size = size;
	}
	if (count == 1)
		return 0;
	if (wanted)
		return err_set(&ipmi->device.err, ENODATA, NULL, "it has %s of that name that measures watts",
			       count ? "several sensors" : "no sensor");
	if (!count)
		return err_set(&ipmi->device.err, ENODATA, NULL,
			       "it knows neither DCMI nor a sensor that measures watts");
	(void)err_set(&ipmi->device.err, ENODATA, NULL, "several of its sensors measure watts: %s", names);
	return err_hint(&ipmi->device.err, "name one with id = NAME; of power supplies name each, with part = yes");
}

static int find_sensor(struct ipmi *ipmi)
{
	int fd = memfd_create("hvtune-sdr", MFD_CLOEXEC), r;
	ipmi_sdr_ctx_t sdr = ipmi->ipmi_sdr_ctx_create();
	char path[64];

	if (fd < 0 || !sdr)
		err_no_memory();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ipmi->ipmi_sdr_cache_create(sdr, ipmi->context, path, IPMI_SDR_CACHE_CREATE_FLAGS_OVERWRITE, NULL, NULL) <
		0 ||
	    ipmi->ipmi_sdr_cache_open(sdr, ipmi->context, path) < 0)
		r = sensor_failed(ipmi, ipmi->ipmi_sdr_ctx_errormsg(sdr));
	else
		r = choose_sensor(ipmi, sdr);
	ipmi->ipmi_sdr_ctx_destroy(sdr);
	(void)close(fd);
	return r;
}

static int read_sensor(struct ipmi *ipmi, double *ret_w)
{
	ipmi_sensor_read_ctx_t reader = ipmi->ipmi_sensor_read_ctx_create(ipmi->context);
	double *value = NULL;
	uint16_t events;
	uint8_t raw;
	int r;

	if (!reader)
		err_no_memory();
	r = ipmi->ipmi_sensor_read(reader, ipmi->record, (unsigned)ipmi->record_size, 0, &raw, &value, &events);
	if (r == 1 && value)
		*ret_w = *value;
	else
		r = err_set(&ipmi->device.err, EIO, NULL, "the sensor gives no value: %s",
			    ipmi->ipmi_sensor_read_ctx_errormsg(reader));
	free(value);
	ipmi->ipmi_sensor_read_ctx_destroy(reader);
	/* A session that is gone shows itself here too. */
	if (r < 0)
		disconnect(ipmi);
	return MIN_OF(r, 0);
}

static int read_watts(struct ipmi *ipmi, double *ret_w)
{
	int r = connect_to(ipmi);

	if (r < 0)
		return r;
	if (ipmi->way == IPMI_UNKNOWN && !ipmi->device.entry->values[METER_KEY_ID]) {
		r = read_dcmi(ipmi, ret_w);
		if (r == 0)
			ipmi->way = IPMI_DCMI;
		if (r != -EOPNOTSUPP)
			return r;
	}
	if (ipmi->way == IPMI_DCMI) {
		r = read_dcmi(ipmi, ret_w);
		return r == -EOPNOTSUPP ? err_set(&ipmi->device.err, ENODATA, NULL, "DCMI measures no power now") : r;
	}
	if (ipmi->way == IPMI_UNKNOWN) {
		r = find_sensor(ipmi);
		if (r < 0)
			return r;
		ipmi->way = IPMI_SENSOR;
	}
	return read_sensor(ipmi, ret_w);
}

static void read_ipmi(struct meter_input *input, struct meter_reading *ret)
{
	struct ipmi *ipmi = input->self;

	ipmi->device.err = (struct err){0};
	if (read_watts(ipmi, &ret->value) < 0)
		meter_device_failed(&ipmi->device, ret);
}

static void close_ipmi(struct meter_input *input)
{
	if (input->self)
		disconnect(input->self);
}

/* NOLINTEND(clang-analyzer-core.CallAndMessage) */

const struct meter_device_kind meter_ipmi = {
    .driver = {.name = "ipmi", .read = read_ipmi, .close = close_ipmi},
    .resolution = 1,
    .refresh_s = 1,
    .period_s = 2,
    .open = open_ipmi,
};
