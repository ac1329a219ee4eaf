/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of KLAP v2 and of the answer by which a plug tells what it speaks. */
#include <errno.h>
#include <string.h>

#include "unit.h"
#include "meter_tapo.h"

static const char *hex_of(const void *data, size_t size, char *ret)
{
	for (size_t i = 0; i < size; i++)
		(void)sprintf(ret + 2 * i, "%02x", ((const uint8_t *)data)[i]);
	return ret;
}

static struct meter_crypto *crypto_or_skip(void)
{
	struct meter_crypto *crypto = NULL;

	if (meter_crypto_open(&crypto, NULL) < 0)
		skip();
	return crypto;
}

/* Seeds 00..0f and 10..1f, user@example.com and "password": computed with Python's hashlib and cryptography. */
static void test_vector(void **state)
{
	struct meter_crypto *crypto = crypto_or_skip();
	uint8_t local[KLAP_SEED], remote[KLAP_SEED], auth[CRYPTO_SHA256], proof[CRYPTO_SHA256], message[128];
	struct meter_klap klap;
	char hex[512], text[128];

	(void)state;
	for (int i = 0; i < KLAP_SEED; i++) {
		local[i] = (uint8_t)i;
		remote[i] = (uint8_t)(0x10 + i);
	}
	meter_klap_auth(crypto, "user@example.com", "password", auth);
	assert_string_equal(hex_of(auth, sizeof(auth), hex),
			    "7c5a94e6c3a98773a333e7c5d2a4755842eec1fcb9ef6ea5d55d185aee69186c");
	meter_klap_server_proof(crypto, local, remote, auth, proof);
	assert_string_equal(hex_of(proof, sizeof(proof), hex),
			    "f522196e08b17f7eeb7de0615b197f7636b96ebf4f4620305af661cb30538515");
	meter_klap_own_proof(crypto, local, remote, auth, proof);
	assert_string_equal(hex_of(proof, sizeof(proof), hex),
			    "b13273c1fef9029ed43b2cf254dc1f7b22c35b301b62ef97ad157e1357bd536c");
	meter_klap_begin(crypto, local, remote, auth, &klap);
	assert_string_equal(hex_of(klap.key, sizeof(klap.key), hex), "e3a2a0717a7becd0baf3d873a896787b");
	assert_string_equal(hex_of(klap.iv, sizeof(klap.iv), hex), "1e71259c60aecd791ff11475");
	assert_int_equal(klap.sequence, 2130631173);
	assert_string_equal(hex_of(klap.signature, sizeof(klap.signature), hex),
			    "c78f80a56ff19f39d7e9af6951b3db3e5f2c70d4819c9e4c0688f042");
	assert_int_equal(meter_klap_seal(crypto, &klap, "{\"method\":\"get_energy_usage\"}", message), 64);
	assert_int_equal(klap.sequence, 2130631174);
	assert_string_equal(hex_of(message, 64, hex),
			    "cba817a94b546a474c755f03c62e656af6ad5b4b17fca275b0a7db3c7cae4c38"
			    "92fbeffa5cc60196c503ee374df0072f1c069abdd857e603ba8d370cc8fd315e");
	/* An answer is made the same way. */
	assert_int_equal(meter_klap_open(crypto, &klap, message, 64, text), 29);
	assert_string_equal(text, "{\"method\":\"get_energy_usage\"}");
	assert_int_equal(meter_klap_open(crypto, &klap, message, 63, text), -EBADMSG);
	assert_int_equal(meter_klap_open(crypto, &klap, message, 32, text), -EBADMSG);
	message[63] ^= 1;
	assert_int_equal(meter_klap_open(crypto, &klap, message, 64, text), -EBADMSG);
	/* The number goes round from the largest to the smallest. */
	klap.sequence = INT32_MAX;
	assert_true(meter_klap_seal(crypto, &klap, "{}", message) > 0);
	assert_true(klap.sequence == INT32_MIN);
	(void)meter_crypto_close(crypto);
}

static void test_base64(void **state)
{
	struct meter_crypto *crypto = crypto_or_skip();
	uint8_t bytes[16];
	char text[16];

	(void)state;
	for (size_t size = 0; size <= 5; size++) {
		meter_crypto_to_base64(crypto, "abcde", size, text);
		assert_int_equal(meter_crypto_from_base64(crypto, text, bytes), (int)size);
		assert_memory_equal(bytes, "abcde", size);
	}
	assert_int_equal(meter_crypto_from_base64(crypto, "abc", bytes), -EBADMSG);
	assert_int_equal(meter_crypto_from_base64(crypto, "a*c=", bytes), -EBADMSG);
	(void)meter_crypto_close(crypto);
}

static void test_discovered(void **state)
{
	static const char answer[] = "0123456789abcdef{\"result\":{\"device_type\":\"SMART.TAPOPLUG\","
				     "\"mgt_encrypt_schm\":{\"encrypt_type\":\"KLAP\",\"http_port\":80}}}";
	static const char odd[] = "0123456789abcdef{\"result\":{\"mgt_encrypt_schm\":{\"encrypt_type\":\"a;b\"}}}";
	char way[16];

	(void)state;
	assert_int_equal(tapo_discovered(answer, strlen(answer), way, sizeof(way)), 0);
	assert_string_equal(way, "KLAP");
	assert_int_equal(tapo_discovered(odd, strlen(odd), way, sizeof(way)), -EBADMSG);
	assert_int_equal(tapo_discovered(answer, 40, way, sizeof(way)), -EBADMSG);
	assert_int_equal(tapo_discovered("", 0, way, sizeof(way)), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vector),
	    cmocka_unit_test(test_base64),
	    cmocka_unit_test(test_discovered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
