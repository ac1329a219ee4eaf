/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a build without FreeIPMI says of BMCs. */
#include <errno.h>

#include "meter_driver.h"

static int open_none(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry, struct err *err)
{
	(void)set, (void)input, (void)entry;
	return err_set(err, EOPNOTSUPP, NULL, "this hvtune was built without FreeIPMI");
}

static void read_none(struct meter_input *input, struct meter_reading *ret)
{
	(void)input;
	meter_unread(ret, EOPNOTSUPP);
}

const struct meter_device_kind meter_ipmi = {.driver = {.name = "ipmi", .read = read_none}, .open = open_none};
