/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the arithmetic declared in meter_klap.h. */
#include "meter_klap.h"

#include <errno.h>
#include <string.h>

void meter_klap_auth(const struct meter_crypto *crypto, const char *user, const char *password,
		     uint8_t ret[CRYPTO_SHA256])
{
	uint8_t hashes[2][CRYPTO_SHA1];
	const char *texts[] = {user ? user : "", password ? password : ""};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		meter_crypto_sha1(crypto, (const struct meter_crypto_part[]){{texts[i], strlen(texts[i])}, {NULL, 0}},
				  hashes[i]);
	meter_crypto_sha256(crypto, (const struct meter_crypto_part[]){{hashes, sizeof(hashes)}, {NULL, 0}}, ret);
}

static void hash_of(const struct meter_crypto *crypto, const char *word, const uint8_t *one, const uint8_t *other,
		    const uint8_t *auth, uint8_t ret[CRYPTO_SHA256])
{
	meter_crypto_sha256(
	    crypto,
	    (const struct meter_crypto_part[]){
		{word, strlen(word)}, {one, KLAP_SEED}, {other, KLAP_SEED}, {auth, CRYPTO_SHA256}, {NULL, 0}},
	    ret);
}

void meter_klap_server_proof(const struct meter_crypto *crypto, const uint8_t *local, const uint8_t *remote,
			     const uint8_t *auth, uint8_t ret[CRYPTO_SHA256])
{
	hash_of(crypto, "", local, remote, auth, ret);
}

void meter_klap_own_proof(const struct meter_crypto *crypto, const uint8_t *local, const uint8_t *remote,
			  const uint8_t *auth, uint8_t ret[CRYPTO_SHA256])
{
	hash_of(crypto, "", remote, local, auth, ret);
}

static uint32_t from_big_endian(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void to_big_endian(uint32_t value, uint8_t *ret)
{
	for (int i = 0; i < 4; i++)
		ret[i] = (uint8_t)(value >> (24 - 8 * i));
}

void meter_klap_begin(const struct meter_crypto *crypto, const uint8_t *local, const uint8_t *remote,
		      const uint8_t *auth, struct meter_klap *ret)
{
	uint8_t hash[CRYPTO_SHA256];

	hash_of(crypto, "lsk", local, remote, auth, hash);
	memcpy(ret->key, hash, sizeof(ret->key));
	hash_of(crypto, "iv", local, remote, auth, hash);
	memcpy(ret->iv, hash, sizeof(ret->iv));
	ret->sequence = (int32_t)from_big_endian(hash + CRYPTO_SHA256 - 4);
	hash_of(crypto, "ldk", local, remote, auth, hash);
	memcpy(ret->signature, hash, sizeof(ret->signature));
}

static void make_iv(const struct meter_klap *klap, uint8_t ret[CRYPTO_BLOCK])
{
	memcpy(ret, klap->iv, sizeof(klap->iv));
	to_big_endian((uint32_t)klap->sequence, ret + sizeof(klap->iv));
}

int meter_klap_seal(const struct meter_crypto *crypto, struct meter_klap *klap, const char *text, uint8_t *ret)
{
	uint8_t iv[CRYPTO_BLOCK];
	int size;

	/* It goes round as the plug's does. */
	klap->sequence = (int32_t)((uint32_t)klap->sequence + 1);
	make_iv(klap, iv);
	size = meter_crypto_encrypt(crypto, klap->key, iv, text, strlen(text), ret + CRYPTO_SHA256);
	if (size < 0)
		return -EIO;
	meter_crypto_sha256(crypto,
			    (const struct meter_crypto_part[]){{klap->signature, sizeof(klap->signature)},
							       {iv + sizeof(klap->iv), 4},
							       {ret + CRYPTO_SHA256, (size_t)size},
							       {NULL, 0}},
			    ret);
	return CRYPTO_SHA256 + size;
}

int meter_klap_open(const struct meter_crypto *crypto, const struct meter_klap *klap, const void *data, size_t size,
		    char *ret)
{
	const uint8_t *bytes = data;
	uint8_t iv[CRYPTO_BLOCK];

	if (size <= CRYPTO_SHA256 || (size - CRYPTO_SHA256) % CRYPTO_BLOCK)
		return -EBADMSG;
	make_iv(klap, iv);
	/* What stands before the ciphertext is skipped, as python-kasa does. */
	int length =
	    meter_crypto_decrypt(crypto, klap->key, iv, bytes + CRYPTO_SHA256, size - CRYPTO_SHA256, (uint8_t *)ret);

	if (length < 0)
		return -EBADMSG;
	ret[length] = '\0';
	return length;
}
