/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of what devices answer, and of the file that names them. */
#include <errno.h>
#include <math.h>

#include "unit.h"
#include "meter_answer.h"
#include "meter_config.h"
#include "text.h"

static void test_shelly(void **state)
{
	static const char answer[] =
	    "{\"switch:0\":{\"apower\":8.9,\"aenergy\":{\"total\":1.5}},\"switch:1\":{\"output\":true},"
	    "\"em:2\":{\"total_act_power\":1234.5},\"em1:3\":{\"act_power\":-20.25},\"pm1:4\":{\"apower\":null}}";
	double watts = -1;

	(void)state;
	assert_int_equal(meter_answer_shelly(answer, strlen(answer), 0, &watts), 0);
	assert_true(watts == 8.9);
	assert_int_equal(meter_answer_shelly(answer, strlen(answer), 2, &watts), 0);
	assert_true(watts == 1234.5);
	assert_int_equal(meter_answer_shelly(answer, strlen(answer), 3, &watts), 0);
	assert_true(watts == -20.25);
	watts = -1;
	assert_int_equal(meter_answer_shelly(answer, strlen(answer), 1, &watts), -ENODATA);
	assert_int_equal(meter_answer_shelly(answer, strlen(answer), 4, &watts), -ENODATA);
	assert_int_equal(meter_answer_shelly(answer, strlen(answer), 9, &watts), -ENODATA);
	assert_int_equal(meter_answer_shelly("[]", 2, 0, &watts), -EBADMSG);
	assert_int_equal(meter_answer_shelly("", 0, 0, &watts), -EBADMSG);
	assert_int_equal(meter_answer_shelly("{\"switch:0\":{\"apower\":\"8.9\"}}", 30, 0, &watts), -EBADMSG);
	assert_true(watts == -1);
}

static void test_shelly_old(void **state)
{
	static const char answer[] =
	    "{\"meters\":[{\"power\":12.5,\"is_valid\":true},{\"power\":0,\"is_valid\":false}]}";
	double watts = -1;

	(void)state;
	assert_int_equal(meter_answer_shelly_old(answer, strlen(answer), 0, &watts), 0);
	assert_true(watts == 12.5);
	assert_int_equal(meter_answer_shelly_old(answer, strlen(answer), 1, &watts), -ENODATA);
	assert_int_equal(meter_answer_shelly_old(answer, strlen(answer), 2, &watts), -ENODATA);
}

static void test_tasmota(void **state)
{
	static const char one[] = "{\"StatusSNS\":{\"ENERGY\":{\"Power\":118}}}";
	static const char three[] = "{\"StatusSNS\":{\"ENERGY\":{\"Power\":[100,20.5,3]}}}";
	static const char hole[] = "{\"StatusSNS\":{\"ENERGY\":{\"Power\":[100,null,3]}}}";
	static const char none[] = "{\"StatusSNS\":{\"Time\":\"x\"}}";
	double watts = -1;

	(void)state;
	assert_int_equal(meter_answer_tasmota(one, strlen(one), &watts), 0);
	assert_true(watts == 118);
	assert_int_equal(meter_answer_tasmota(three, strlen(three), &watts), 0);
	assert_true(watts == 123.5);
	assert_int_equal(meter_answer_tasmota(hole, strlen(hole), &watts), -ENODATA);
	assert_int_equal(meter_answer_tasmota(none, strlen(none), &watts), -ENODATA);
	assert_true(watts == 123.5);
}

/* One supply that tells nothing makes the sum of the others no answer. */
static void test_redfish(void **state)
{
	static const char control[] = "{\"PowerControl\":[{\"PowerConsumedWatts\":344}]}";
	static const char supplies[] = "{\"PowerControl\":[{\"PowerConsumedWatts\":null}],"
				       "\"PowerSupplies\":[{\"PowerInputWatts\":150},{\"PowerInputWatts\":160.5}]}";
	static const char one_missing[] = "{\"PowerSupplies\":[{\"PowerInputWatts\":150},{\"PowerInputWatts\":null}]}";
	static const char members[] =
	    "{\"Members\":[{\"@odata.id\":\"/redfish/v1/Chassis/1\"},{\"@odata.id\":\"http://evil/\"},"
	    "{\"@odata.id\":\"/redfish/v1/../x\"},{\"@odata.id\":\"/redfish/v1/a b\"},7,"
	    "{\"@odata.id\":\"/redfish/v1/Chassis/Self\"}]}";
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *paths[4];
	double watts = -1;

	(void)state;
	assert_int_equal(meter_answer_power(control, strlen(control), &watts), 0);
	assert_true(watts == 344);
	assert_int_equal(meter_answer_power(supplies, strlen(supplies), &watts), 0);
	assert_true(watts == 310.5);
	assert_int_equal(meter_answer_power(one_missing, strlen(one_missing), &watts), -ENODATA);
	assert_int_equal(meter_answer_environment("{\"PowerWatts\":{\"Reading\":288}}", 30, &watts), 0);
	assert_true(watts == 288);
	assert_int_equal(meter_answer_environment("{\"PowerWatts\":null}", 19, &watts), -ENODATA);
	assert_int_equal(meter_answer_members(arena, members, strlen(members), paths, 4), 2);
	assert_string_equal(paths[1], "/redfish/v1/Chassis/Self");
	assert_int_equal(meter_answer_members(arena, "{}", 2, paths, 4), -EBADMSG);
	assert_null(meter_answer_link(arena, "{\"Power\":{\"@odata.id\":\"//evil\"}}", 32, "Power"));
}

/* The same field is milliwatts in one answer and watts in the other. */
static void test_tapo(void **state)
{
	static const char usage[] =
	    "{\"error_code\":0,\"result\":{\"today_energy\":1200,\"month_energy\":9,\"current_power\":8962}}";
	static const char power[] = "{\"error_code\":0,\"result\":{\"current_power\":9}}";
	static const char meter[] = "{\"error_code\":0,\"result\":{\"power_mw\":8962,\"current_ma\":61}}";
	static const char nothing[] = "{\"error_code\":0,\"result\":{\"today_energy\":1200}}";
	static const char refused[] = "{\"error_code\":-1002}";
	double watts = -1;
	int error = 7;

	(void)state;
	assert_int_equal(meter_answer_tapo(usage, strlen(usage), &watts, &error), 0);
	assert_true(watts == 8.962 && error == 0);
	assert_int_equal(meter_answer_tapo(power, strlen(power), &watts, &error), 0);
	assert_true(watts == 9);
	assert_int_equal(meter_answer_tapo(meter, strlen(meter), &watts, &error), 0);
	assert_true(watts == 8.962);
	assert_int_equal(meter_answer_tapo(nothing, strlen(nothing), &watts, &error), -ENODATA);
	assert_int_equal(meter_answer_tapo(refused, strlen(refused), &watts, &error), -EPROTO);
	assert_int_equal(error, -1002);
	assert_int_equal(meter_answer_tapo("{}", 2, &watts, &error), -EBADMSG);
}

static void test_text(void **state)
{
	static const struct {
		const char *text;
		double watts; /* NAN: none */
	} cases[] = {
	    {"215\n", 215},
	    {"215", 215},
	    {"    Instantaneous power reading:                   215 Watts\n    IPMI timestamp: Thu\n", 215},
	    {"100\n200.5 W\n", 200.5},
	    {"PSU1_PIN | 12h | ok", (double)NAN},
	    {"PW Consumption: 168.00 Watts", 168},
	    {"at 12:30:01 = 42 W", 42},
	    {"-5", -5},
	    {"", (double)NAN},
	    {"no figure\n", (double)NAN},
	    {"1e400", (double)NAN},
	    {"215 W\n666e666 and so on\n", 215},
	    {"215 W\nat 12h\n", 215},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double watts = -1;
		int r = meter_answer_text(cases[i].text, &watts);

		if (isnan(cases[i].watts) ? r != -ENODATA : r || watts != cases[i].watts)
			fail_msg("\"%s\" gives %d, %g", cases[i].text, r, watts);
	}
}

static void test_words(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *const *words;

	(void)state;
	assert_int_equal(meter_config_words(arena, "  a 'b c'  d\"e f\"g h\\ i '' \\\\", &words, NULL), 0);
	assert_string_equal(words[0], "a");
	assert_string_equal(words[1], "b c");
	assert_string_equal(words[2], "de fg");
	assert_string_equal(words[3], "h i");
	assert_string_equal(words[4], "");
	assert_string_equal(words[5], "\\");
	assert_null(words[6]);
	assert_int_equal(meter_config_words(arena, "a 'b", &words, NULL), -EINVAL);
	assert_int_equal(meter_config_words(arena, "  ", &words, NULL), -EINVAL);
}

static void test_config(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct meter_config config;
	struct err err = {0};

	(void)state;
	assert_int_equal(meter_config_parse(arena, "f",
					    "# a comment\n\n[a]\r\nkind=shelly\n address =  10.0.0.1:80 \nmost = 3000\n"
					    "[b]\nkind = command\ncommand = x = y\nboundary = package\nperiod = 0.5",
					    false, &config, &err),
			 0);
	assert_int_equal(config.count, 2);
	assert_int_equal(config.entries[0].kind, METER_KIND_SHELLY);
	assert_string_equal(config.entries[0].values[METER_KEY_ADDRESS], "10.0.0.1:80");
	assert_true(config.entries[0].most_w == 3000);
	assert_int_equal(config.entries[0].boundary, METER_WALL);
	assert_int_equal(config.entries[1].line, 7);
	assert_string_equal(config.entries[1].values[METER_KEY_COMMAND], "x = y");
	assert_int_equal(config.entries[1].boundary, METER_PACKAGE);
	assert_true(config.entries[1].period_s == 0.5);
	assert_int_equal(meter_config_parse(arena, "f", "", false, &config, &err), 0);
	assert_int_equal(config.count, 0);
	assert_int_equal(
	    meter_config_parse(arena, "f", "[a]\nkind = shelly\naddress = a\npassword = p\n", false, &config, &err),
	    -EACCES);
	assert_int_equal(err.line, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_shelly),  cmocka_unit_test(test_shelly_old), cmocka_unit_test(test_tasmota),
	    cmocka_unit_test(test_redfish), cmocka_unit_test(test_tapo),       cmocka_unit_test(test_text),
	    cmocka_unit_test(test_words),   cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
