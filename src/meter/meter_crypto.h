/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the little cryptography that plugs ask for, by OpenSSL's libcrypto, which is loaded when one of them is
 * configured: SHA-1, SHA-256, AES-128-CBC with PKCS#7 padding, random bytes, base64, an RSA key for a handshake.
 */
#ifndef HVTUNE_METER_CRYPTO_H
#define HVTUNE_METER_CRYPTO_H

#include "base.h"
#include "err.h"

enum { CRYPTO_SHA1 = 20, CRYPTO_SHA256 = 32, CRYPTO_BLOCK = 16, CRYPTO_PEM_MOST = 512 };

struct meter_crypto;

/* -EOPNOTSUPP: built without OpenSSL; -ENOENT: it is not installed. */
int meter_crypto_open(struct meter_crypto **ret, struct err *err);
struct meter_crypto *meter_crypto_close(struct meter_crypto *crypto); /* takes NULL, returns NULL */

/* Part of what is hashed. */
struct meter_crypto_part {
	const void *data;
	size_t size;
};

/* Hashes of all parts, one behind the other; their count ends with a NULL data. */
void meter_crypto_sha1(const struct meter_crypto *crypto, const struct meter_crypto_part *parts,
		       uint8_t ret[CRYPTO_SHA1]);
void meter_crypto_sha256(const struct meter_crypto *crypto, const struct meter_crypto_part *parts,
			 uint8_t ret[CRYPTO_SHA256]);

int meter_crypto_random(const struct meter_crypto *crypto, uint8_t *ret, size_t size); /* -EIO */

/* `ret` has room for size + CRYPTO_BLOCK bytes. The size, or -EBADMSG for what is not so encrypted. */
int meter_crypto_encrypt(const struct meter_crypto *crypto, const uint8_t *key, const uint8_t *iv, const void *data,
			 size_t size, uint8_t *ret);
int meter_crypto_decrypt(const struct meter_crypto *crypto, const uint8_t *key, const uint8_t *iv, const void *data,
			 size_t size, uint8_t *ret);

/* base64 with a NUL behind it, in 4 * ((size + 2) / 3) + 1 bytes; and back, in 3 * (length / 4) bytes: size or
 * -EBADMSG. */
void meter_crypto_to_base64(const struct meter_crypto *crypto, const void *data, size_t size, char *ret);
int meter_crypto_from_base64(const struct meter_crypto *crypto, const char *text, uint8_t *ret);

/* A key of 1024 bit, as the plugs want it, and its public part in PEM. */
struct meter_crypto_key;
int meter_crypto_key_new(const struct meter_crypto *crypto, struct meter_crypto_key **ret,
			 char ret_pem[CRYPTO_PEM_MOST]);
void meter_crypto_key_free(const struct meter_crypto *crypto, struct meter_crypto_key *key);
/* PKCS#1 v1.5. The size of what was encrypted, at most `room`, or -EBADMSG. */
int meter_crypto_key_decrypt(const struct meter_crypto *crypto, struct meter_crypto_key *key, const uint8_t *data,
			     size_t size, uint8_t *ret, size_t room);

#endif
