/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns loading libcrypto and calling it. Compiled only where OpenSSL's headers are. */
#include "meter_crypto.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <string.h>

#include "library.h"

/* clang-format off */
#define CRYPTO_FUNCTIONS(X)                                                                                            \
	X(EVP_CIPHER_CTX_free) X(EVP_CIPHER_CTX_new) X(EVP_DecodeBlock) X(EVP_DecryptFinal_ex)                         \
	X(EVP_DecryptInit_ex) X(EVP_DecryptUpdate) X(EVP_DigestFinal_ex) X(EVP_DigestInit_ex) X(EVP_DigestUpdate)      \
	X(EVP_EncodeBlock) X(EVP_EncryptFinal_ex) X(EVP_EncryptInit_ex) X(EVP_EncryptUpdate) X(EVP_MD_CTX_free)        \
	X(EVP_MD_CTX_new) X(EVP_PKEY_CTX_ctrl_str) X(EVP_PKEY_CTX_free) X(EVP_PKEY_CTX_new) X(EVP_PKEY_CTX_new_id)     \
	X(EVP_PKEY_decrypt) X(EVP_PKEY_decrypt_init) X(EVP_PKEY_free) X(EVP_PKEY_keygen) X(EVP_PKEY_keygen_init)       \
	X(EVP_aes_128_cbc) X(EVP_sha1) X(EVP_sha256) X(RAND_bytes) X(i2d_PUBKEY)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct meter_crypto {
	CRYPTO_FUNCTIONS(DECLARE)
};

/* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): meter_crypto_open() has filled in all functions. */

int meter_crypto_open(struct meter_crypto **ret, struct err *err)
{
	struct meter_crypto *crypto = calloc(1, sizeof(*crypto));

	if (!crypto)
		err_no_memory();
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&crypto->name},
	    CRYPTO_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libcrypto.so.3", "libcrypto.so.1.1"},
					.name = "OpenSSL's libcrypto",
					.where = NULL,
					.install = "libssl3 (Debian, Ubuntu) or openssl-libs (Fedora, RHEL)",
					.errnum = ENOENT};
	int r = library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);

	if (r < 0)
		free(crypto);
	else
		*ret = crypto;
	return r;
}

struct meter_crypto *meter_crypto_close(struct meter_crypto *crypto)
{
	free(crypto);
	return NULL;
}

static void hash(const struct meter_crypto *crypto, const EVP_MD *kind, const struct meter_crypto_part *parts,
		 uint8_t *ret)
{
	EVP_MD_CTX *context = crypto->EVP_MD_CTX_new();
	int fine = context && crypto->EVP_DigestInit_ex(context, kind, NULL);

	for (; parts->data && fine; parts++)
		fine = crypto->EVP_DigestUpdate(context, parts->data, parts->size);
	fine = fine && crypto->EVP_DigestFinal_ex(context, ret, NULL);
	crypto->EVP_MD_CTX_free(context);
	/* Of hashes in memory only the lack of it is an error. */
	if (!fine)
		err_no_memory();
}

void meter_crypto_sha1(const struct meter_crypto *crypto, const struct meter_crypto_part *parts,
		       uint8_t ret[CRYPTO_SHA1])
{
	hash(crypto, crypto->EVP_sha1(), parts, ret);
}

void meter_crypto_sha256(const struct meter_crypto *crypto, const struct meter_crypto_part *parts,
			 uint8_t ret[CRYPTO_SHA256])
{
	hash(crypto, crypto->EVP_sha256(), parts, ret);
}

int meter_crypto_random(const struct meter_crypto *crypto, uint8_t *ret, size_t size)
{
	return crypto->RAND_bytes(ret, (int)size) == 1 ? 0 : -EIO;
}

int meter_crypto_encrypt(const struct meter_crypto *crypto, const uint8_t *key, const uint8_t *iv, const void *data,
			 size_t size, uint8_t *ret)
{
	EVP_CIPHER_CTX *context = crypto->EVP_CIPHER_CTX_new();
	int first = 0, last = 0;
	bool fine = context && crypto->EVP_EncryptInit_ex(context, crypto->EVP_aes_128_cbc(), NULL, key, iv) &&
		    crypto->EVP_EncryptUpdate(context, ret, &first, data, (int)size) &&
		    crypto->EVP_EncryptFinal_ex(context, ret + first, &last);

	crypto->EVP_CIPHER_CTX_free(context);
	return fine ? first + last : -EBADMSG;
}

int meter_crypto_decrypt(const struct meter_crypto *crypto, const uint8_t *key, const uint8_t *iv, const void *data,
			 size_t size, uint8_t *ret)
{
	EVP_CIPHER_CTX *context = crypto->EVP_CIPHER_CTX_new();
	int first = 0, last = 0;
	bool fine = context && crypto->EVP_DecryptInit_ex(context, crypto->EVP_aes_128_cbc(), NULL, key, iv) &&
		    crypto->EVP_DecryptUpdate(context, ret, &first, data, (int)size) &&
		    crypto->EVP_DecryptFinal_ex(context, ret + first, &last);

	crypto->EVP_CIPHER_CTX_free(context);
	return fine ? first + last : -EBADMSG;
}

void meter_crypto_to_base64(const struct meter_crypto *crypto, const void *data, size_t size, char *ret)
{
	(void)crypto->EVP_EncodeBlock((unsigned char *)ret, data, (int)size);
}

int meter_crypto_from_base64(const struct meter_crypto *crypto, const char *text, uint8_t *ret)
{
	size_t length = strlen(text);
	int size = length % 4 ? -1 : crypto->EVP_DecodeBlock(ret, (const unsigned char *)text, (int)length);

	if (size < 0)
		return -EBADMSG;
	/* It counts what is only padding. */
	for (size_t i = length; i > 0 && text[i - 1] == '=' && length - i < 2; i--)
		size--;
	return size;
}

int meter_crypto_key_new(const struct meter_crypto *crypto, struct meter_crypto_key **ret,
			 char ret_pem[CRYPTO_PEM_MOST])
{
	EVP_PKEY_CTX *context = crypto->EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, NULL);
	EVP_PKEY *key = NULL;
	/* 162 bytes, and 216 letters. */
	uint8_t der[192], *at = der;
	char text[4 * sizeof(der) / 3 + 1];
	bool fine = context && crypto->EVP_PKEY_keygen_init(context) > 0 &&
		    crypto->EVP_PKEY_CTX_ctrl_str(context, "rsa_keygen_bits", "1024") > 0 &&
		    crypto->EVP_PKEY_keygen(context, &key) > 0;
	int size = fine ? crypto->i2d_PUBKEY(key, NULL) : -1;

	crypto->EVP_PKEY_CTX_free(context);
	if (size <= 0 || size > (int)sizeof(der) || crypto->i2d_PUBKEY(key, &at) != size) {
		crypto->EVP_PKEY_free(key);
		return -EIO;
	}
	meter_crypto_to_base64(crypto, der, (size_t)size, text);
	(void)snprintf(ret_pem, CRYPTO_PEM_MOST, "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n", text);
	*ret = (struct meter_crypto_key *)key;
	return 0;
}

void meter_crypto_key_free(const struct meter_crypto *crypto, struct meter_crypto_key *key)
{
	crypto->EVP_PKEY_free((EVP_PKEY *)key);
}

int meter_crypto_key_decrypt(const struct meter_crypto *crypto, struct meter_crypto_key *key, const uint8_t *data,
			     size_t size, uint8_t *ret, size_t room)
{
	EVP_PKEY_CTX *context = crypto->EVP_PKEY_CTX_new((EVP_PKEY *)key, NULL);
	uint8_t plain[256];
	size_t length = sizeof(plain);
	/* PKCS#1 v1.5 is the usual padding. */
	bool fine = context && crypto->EVP_PKEY_decrypt_init(context) > 0 &&
		    crypto->EVP_PKEY_decrypt(context, plain, &length, data, size) > 0 && length <= room;

	crypto->EVP_PKEY_CTX_free(context);
	if (!fine)
		return -EBADMSG;
	memcpy(ret, plain, length);
	return (int)length;
}

/* NOLINTEND(clang-analyzer-core.CallAndMessage) */
