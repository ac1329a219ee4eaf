/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the arithmetic of KLAP v2, by which Tapo plugs of 2023 and later talk (python-kasa, klaptransport.py):
 *	auth = SHA256(SHA1(user) || SHA1(password))
 *	server's proof SHA256(local || remote || auth), ours SHA256(remote || local || auth)
 *	key = SHA256("lsk" || local || remote || auth), 16 bytes; iv = SHA256("iv" || ...), 12 bytes, and a sequence
 *number in its last 4 (big endian, signed); signature = SHA256("ldk" || ...), 28 bytes a message is SHA256(signature ||
 *BE32(sequence) || ciphertext) || ciphertext, AES-128-CBC with iv || BE32(sequence) No network in here.
 */
#ifndef HVTUNE_METER_KLAP_H
#define HVTUNE_METER_KLAP_H

#include "meter_crypto.h"

enum { KLAP_SEED = 16 };

struct meter_klap {
	uint8_t key[16], iv[12], signature[28];
	int32_t sequence;
};

/* The hash of user and password; NULL is an empty text. */
void meter_klap_auth(const struct meter_crypto *crypto, const char *user, const char *password,
		     uint8_t ret[CRYPTO_SHA256]);

/* The proofs of the first and second handshake. */
void meter_klap_server_proof(const struct meter_crypto *crypto, const uint8_t *local, const uint8_t *remote,
			     const uint8_t *auth, uint8_t ret[CRYPTO_SHA256]);
void meter_klap_own_proof(const struct meter_crypto *crypto, const uint8_t *local, const uint8_t *remote,
			  const uint8_t *auth, uint8_t ret[CRYPTO_SHA256]);

/* Keys of a session. */
void meter_klap_begin(const struct meter_crypto *crypto, const uint8_t *local, const uint8_t *remote,
		      const uint8_t *auth, struct meter_klap *ret);

/* Raise the sequence number and make a message, in CRYPTO_SHA256 + size + CRYPTO_BLOCK bytes. Its size, or -EIO. */
int meter_klap_seal(const struct meter_crypto *crypto, struct meter_klap *klap, const char *text, uint8_t *ret);

/* What an answer to the last message says, with a NUL behind it, in size + 1 bytes. Its length, or -EBADMSG. */
int meter_klap_open(const struct meter_crypto *crypto, const struct meter_klap *klap, const void *data, size_t size,
		    char *ret);

#endif
