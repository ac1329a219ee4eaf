/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns power, energy and temperature by hwmon, matched by the chip's name, never by its number:
 *	power_meter	the platform's ACPI 4.0 meter (acpi_power_meter); old kernels have its files below device/ and
 *no name beside them. power1_average is microwatts over power1_average_interval ms; 0xFFFFFFFF mW is how the firmware
 *says that it does not know amd_hsmp_hwmon	power of a socket by its SMU (Linux 6.16), microwatts amd_energy
 *counters of sockets and cores in microjoules, which the driver extends to 64 bit (Linux 5.8 to 5.12, and out of the
 *tree since) zenpower	estimates of core and SoC by the regulators' telemetry (Zen 1 to 3, out of the tree) k10temp
 *temperatures, millidegrees
 */
#include "meter_driver.h"

#include <errno.h>

#include "text.h"

#define HWMON "/sys/class/hwmon"

enum { MOST_CHIPS = 256, MOST_CHANNELS = 600 };

static const char as_root[] = "run hvtune as root";

struct chip {
	struct meter_set *set;
	const char *name;   /* "power_meter" */
	const char *folder; /* where its files are */
	int number;	    /* of chips of that name so far */
};

/* What names the chip's channel: "Tctl", "Esocket0", or NULL. */
static const char *label_of(const struct chip *chip, const char *channel)
{
	return meter_text(chip->set, "%s/%s_label", chip->folder, channel);
}

static struct meter_input *add_channel(const struct chip *chip, const char *file, const char *name,
				       struct meter_source source)
{
	struct arena *arena = chip->set->arena;

	source.name =
	    name ? arena_printf(arena, "hwmon.%s.%s", chip->name, name) : arena_printf(arena, "hwmon.%s", chip->name);
	source.place = arena_printf(arena, "%s/%s", chip->folder, file);
	struct meter_input *input = meter_add(chip->set, &meter_hwmon, source);

	input->source.hint = as_root;
	meter_open_file(chip->set, input, as_root);
	return input;
}

static void add_power_meter(const struct chip *chip)
{
	int64_t interval_ms, battery;
	const char *file = sys_read(chip->set->sys, "%s/power1_average", chip->folder)->state == SYS_ABSENT
			       ? "power1_input"
			       : "power1_average";

	if (meter_number(chip->set->sys, &battery, "%s/power1_is_battery", chip->folder) == 0 && battery == 1)
		return;
	if (meter_number(chip->set->sys, &interval_ms, "%s/power1_average_interval", chip->folder) < 0 ||
	    interval_ms <= 0 || interval_ms > 3600000)
		interval_ms = 0;
	add_channel(chip, file, NULL,
		    (struct meter_source){.quantity = METER_POWER,
					  .boundary = METER_BOARD,
					  .package = -1,
					  .refresh_s = (double)interval_ms / 1e3})
	    ->scale = 1e-6;
}

/* A chip for each socket, in the order of their numbers; its limit says what is plausible. */
static void add_hsmp(const struct chip *chip)
{
	int64_t most_uw;

	if (meter_number(chip->set->sys, &most_uw, "%s/power1_cap_max", chip->folder) < 0 || most_uw <= 0)
		most_uw = 0;
	add_channel(chip, "power1_input", arena_printf(chip->set->arena, "%d", chip->number),
		    (struct meter_source){.quantity = METER_POWER,
					  .boundary = METER_SOCKET,
					  .package = chip->number,
					  .resolution = 0.001,
					  .refresh_s = 0.001,
					  .most = 2 * (double)most_uw / 1e6})
	    ->scale = 1e-6;
}

static void add_energy(const struct chip *chip)
{
	for (int i = 1; i <= MOST_CHANNELS; i++) {
		const char *label = label_of(chip, arena_printf(chip->set->arena, "energy%d", i));
		int64_t socket;

		if (!label)
			return;
		if (!text_starts(label, "Esocket") || text_int(label + strlen("Esocket"), 10, &socket) < 0 ||
		    socket < 0)
			continue;
		(void)add_channel(chip, arena_printf(chip->set->arena, "energy%d_input", i),
				  arena_printf(chip->set->arena, "%d", (int)socket),
				  (struct meter_source){.quantity = METER_ENERGY,
							.boundary = METER_PACKAGE,
							.package = (int)socket,
							.resolution = 15.26e-6,
							.refresh_s = 0.001,
							.counter = {.unit_j = 1e-6, .stands_ns = 1000000000}});
	}
}

static void add_zenpower(const struct chip *chip)
{
	for (int i = 1; i <= 2; i++)
		if (label_of(chip, arena_printf(chip->set->arena, "power%d", i)))
			add_channel(chip, arena_printf(chip->set->arena, "power%d_input", i),
				    arena_printf(chip->set->arena, "power%d", i),
				    (struct meter_source){
					.quantity = METER_POWER, .boundary = METER_PART, .package = chip->number})
			    ->scale = 1e-6;
}

static void add_temperatures(const struct chip *chip)
{
	const struct sys_look *look = sys_list(chip->set->sys, "%s", chip->folder);

	for (size_t i = 0; look->state == SYS_VALUE && i < MIN_OF(look->size, (size_t)MOST_CHANNELS); i++) {
		const char *file = look->names[i], *end = strstr(file, "_input");

		if (!text_starts(file, "temp") || !end || end[strlen("_input")])
			continue;
		const char *channel = arena_strndup(chip->set->arena, file, (size_t)(end - file));
		const char *label = label_of(chip, channel);

		label = label ? label : channel;
		add_channel(chip, file,
			    chip->number ? arena_printf(chip->set->arena, "%s.%d", label, chip->number) : label,
			    (struct meter_source){.quantity = METER_TEMPERATURE,
						  .boundary = METER_PACKAGE,
						  .package = chip->number,
						  .resolution = 0.125})
		    ->scale = 1e-3;
	}
}

static const struct known_chip {
	const char *name;
	void (*add)(const struct chip *chip);
} known_chips[] = {
    {"power_meter", add_power_meter}, {"amd_hsmp_hwmon", add_hsmp},  {"amd_energy", add_energy},
    {"zenpower", add_zenpower},	      {"k10temp", add_temperatures}, {"coretemp", add_temperatures},
};

static void add_chip(struct meter_set *set, const char *number, int *counts)
{
	const char *name = meter_text(set, HWMON "/%s/name", number);
	struct chip chip = {.set = set, .folder = arena_printf(set->arena, HWMON "/%s", number)};

	if (!name) {
		/* The old place: the class has a link to the device, which has the files and perhaps the name. */
		chip.folder = arena_printf(set->arena, "%s/device", chip.folder);
		name = meter_text(set, "%s/name", chip.folder);
		if (!name && sys_read(set->sys, "%s/power1_average", chip.folder)->state != SYS_ABSENT)
			name = "power_meter";
	}
	for (size_t i = 0; name && i < ARRAY_SIZE(known_chips); i++) {
		if (!text_equal(known_chips[i].name, name))
			continue;
		chip.name = known_chips[i].name;
		chip.number = counts[i]++;
		known_chips[i].add(&chip);
	}
}

static int find(struct meter_set *set, struct err *err)
{
	const struct sys_look *look = sys_list(set->sys, HWMON);
	int counts[ARRAY_SIZE(known_chips)] = {0};
	size_t before = set->count;

	(void)err;
	for (size_t i = 0; look->state == SYS_VALUE && i < MIN_OF(look->size, (size_t)MOST_CHIPS); i++)
		add_chip(set, look->names[i], counts);
	if (set->count == before)
		meter_lacks(set, "hwmon", "no chip in " HWMON " is known for power or temperature",
			    "modprobe k10temp for temperature, acpi_power_meter for a platform's meter, amd_hsmp or "
			    "hsmp_acpi for "
			    "sockets (Linux 6.16); a virtual machine has none");
	return 0;
}

static void read_channel(struct meter_input *input, struct meter_reading *ret)
{
	uint64_t number;
	char text[32];
	ssize_t got;

	if (input->source.quantity != METER_TEMPERATURE) {
		int r = sys_again_number(&input->file, &number);

		if (r < 0)
			meter_unread(ret, -r);
		else if (input->source.quantity == METER_ENERGY)
			ret->count = number;
		/* In mW by the ACPI specification ("0xFFFFFFFF: unknown"), in uW by the driver. */
		else if (number == UINT64_C(0xffffffff) * 1000)
			meter_implausible(ret, "the meter says that it does not know");
		else
			ret->value = (double)number * input->scale;
		return;
	}
	/* Below zero has a sign. */
	got = sys_again_read(&input->file, text, sizeof(text));
	if (got < 0)
		meter_unread(ret, (int)-got);
	else {
		int64_t degrees;

		if (text_int(text, 10, &degrees) < 0)
			meter_unread(ret, EBADMSG);
		else
			ret->value = (double)degrees * input->scale;
	}
}

const struct meter_driver meter_hwmon = {.name = "hwmon", .find = find, .read = read_channel};
