/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of how the watts of packages are put down to VMs. */
#include <math.h>
#include <string.h>

#include "text.h"
#include "unit.h"
#include "watch_share.h"

static const struct meter_source
    package0 = {.quantity = METER_ENERGY, .boundary = METER_PACKAGE, .package = 3, .chosen = true},
    package1 = {.quantity = METER_POWER, .boundary = METER_PACKAGE, .package = 7, .chosen = true},
    beside = {.quantity = METER_POWER, .boundary = METER_PACKAGE, .package = 3},
    socket_of_all = {.quantity = METER_POWER, .boundary = METER_SOCKET, .package = -1, .chosen = true},
    heat = {.quantity = METER_TEMPERATURE, .boundary = METER_PACKAGE, .package = 3, .chosen = true};

static const int os_packages[] = {3, 7};

/* Two CPUs of each of two packages; VM a has a vCPU on each package, b one on the second, c one that does nothing. */
static void share(const struct watch_reading *readings, size_t count, double a_use, double ret_power[3])
{
	struct watch_cpu cpus[] = {{.cpu = 0, .package = 0, .use = .5},
				   {.cpu = 1, .package = 0, .use = .3},
				   {.cpu = 2, .package = 1, .use = 1},
				   {.cpu = 3, .package = 1, .use = .6}};
	struct watch_vcpu a[] = {{.cpu = 1, .use = a_use}, {.cpu = 2, .use = .4}}, b[] = {{.cpu = 3, .use = .6}},
			  c[] = {{.cpu = 0, .use = 0}};
	struct watch_vm vms[] = {{.vcpus = a, .count = 2}, {.vcpus = b, .count = 1}, {.vcpus = c, .count = 1}};
	struct watch_reading copy[4];
	struct watch_view view = {.cpus = cpus,
				  .cpu_count = ARRAY_SIZE(cpus),
				  .vms = vms,
				  .vm_count = ARRAY_SIZE(vms),
				  .readings = copy,
				  .reading_count = count};

	memcpy(copy, readings, count * sizeof(*readings));
	watch_share_power(&view, os_packages, 2);
	for (size_t i = 0; i < ARRAY_SIZE(vms); i++)
		ret_power[i] = vms[i].power_w;
}

static void test_packages(void **state)
{
	const struct watch_reading readings[] = {
	    {&beside, 1000, NULL}, {&package0, 80, NULL}, {&package1, 160, NULL}, {&heat, 50, NULL}};
	double power[3];

	(void)state;
	share(readings, 4, .2, power);
	assert_float_equal(power[0], 80 * .2 / .8 + 160 * .4 / 1.6, 1e-9);
	assert_float_equal(power[1], 160 * .6 / 1.6, 1e-9);
	assert_float_equal(power[2], 0, 0);
	/* Ticks of two counts: never more than all there is. */
	share(readings, 4, .9, power);
	assert_float_equal(power[0], 80 + 160 * .4 / 1.6, 1e-9);
}

static void test_all_at_once(void **state)
{
	const struct watch_reading readings[] = {{&socket_of_all, 240, NULL}};
	double power[3];

	(void)state;
	share(readings, 1, .2, power);
	assert_float_equal(power[0], 240 * .6 / 2.4, 1e-9);
	assert_float_equal(power[1], 240 * .6 / 2.4, 1e-9);
}

static void test_what_is_not_known(void **state)
{
	const struct watch_reading readings[] = {{&package0, (double)NAN, "first reading"}, {&package1, 160, NULL}};
	double power[3];

	(void)state;
	share(readings, 0, .2, power);
	assert_true(isnan(power[0]) && isnan(power[2]));
	share(readings, 2, .2, power);
	assert_true(isnan(power[0]));
	share(&readings[1], 1, (double)NAN, power);
	assert_float_equal(power[1], 160 * .6 / 1.6, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_packages),
	    cmocka_unit_test(test_all_at_once),
	    cmocka_unit_test(test_what_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
