/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a build without OpenSSL says of plugs that want it: it is never opened, so nothing else is called. */
#include <errno.h>

#include "meter_crypto.h"

int meter_crypto_open(struct meter_crypto **ret, struct err *err)
{
	(void)ret;
	return err_set(err, EOPNOTSUPP, NULL, "this hvtune was built without OpenSSL");
}

struct meter_crypto *meter_crypto_close(struct meter_crypto *crypto)
{
	(void)crypto;
	return NULL;
}

void meter_crypto_sha1(const struct meter_crypto *crypto, const struct meter_crypto_part *parts,
		       uint8_t ret[CRYPTO_SHA1])
{
	(void)crypto, (void)parts, (void)ret;
}

void meter_crypto_sha256(const struct meter_crypto *crypto, const struct meter_crypto_part *parts,
			 uint8_t ret[CRYPTO_SHA256])
{
	(void)crypto, (void)parts, (void)ret;
}

int meter_crypto_random(const struct meter_crypto *crypto, uint8_t *ret, size_t size)
{
	(void)crypto, (void)ret, (void)size;
	return -EOPNOTSUPP;
}

int meter_crypto_encrypt(const struct meter_crypto *crypto, const uint8_t *key, const uint8_t *iv, const void *data,
			 size_t size, uint8_t *ret)
{
	(void)crypto, (void)key, (void)iv, (void)data, (void)size, (void)ret;
	return -EOPNOTSUPP;
}

int meter_crypto_decrypt(const struct meter_crypto *crypto, const uint8_t *key, const uint8_t *iv, const void *data,
			 size_t size, uint8_t *ret)
{
	(void)crypto, (void)key, (void)iv, (void)data, (void)size, (void)ret;
	return -EOPNOTSUPP;
}

void meter_crypto_to_base64(const struct meter_crypto *crypto, const void *data, size_t size, char *ret)
{
	(void)crypto, (void)data, (void)size, (void)ret;
}

int meter_crypto_from_base64(const struct meter_crypto *crypto, const char *text, uint8_t *ret)
{
	(void)crypto, (void)text, (void)ret;
	return -EOPNOTSUPP;
}

int meter_crypto_key_new(const struct meter_crypto *crypto, struct meter_crypto_key **ret,
			 char ret_pem[CRYPTO_PEM_MOST])
{
	(void)crypto, (void)ret, (void)ret_pem;
	return -EOPNOTSUPP;
}

void meter_crypto_key_free(const struct meter_crypto *crypto, struct meter_crypto_key *key)
{
	(void)crypto, (void)key;
}

int meter_crypto_key_decrypt(const struct meter_crypto *crypto, struct meter_crypto_key *key, const uint8_t *data,
			     size_t size, uint8_t *ret, size_t room)
{
	(void)crypto, (void)key, (void)data, (void)size, (void)ret, (void)room;
	return -EOPNOTSUPP;
}
