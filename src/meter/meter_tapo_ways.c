/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the two ways of talking to a Tapo plug, KLAP v2 and the older passthrough, and asking which one it wants. */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meter_tapo.h"
#include "text.h"

static void free_json(json_t **json)
{
	json_decref(*json);
}

/* ---- KLAP v2 ---- */

/*
 * Whose proof is it: that of the user given, of the credentials that plugs have before they are set up (python-kasa,
 * DEFAULT_CREDENTIALS), or of none? The hash that fits; false when no one does.
 */
static bool fitting_auth(const struct tapo *tapo, const uint8_t *local, const uint8_t *remote, const uint8_t *proof,
			 uint8_t *ret_auth)
{
	const struct meter_entry *entry = tapo->device.entry;
	const char *const candidates[][2] = {
	    {entry->values[METER_KEY_USER], entry->secret}, {"test@tp-link.net", "test"}, {"", ""}};

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		uint8_t expected[CRYPTO_SHA256];

		meter_klap_auth(tapo->crypto, candidates[i][0], candidates[i][1], ret_auth);
		meter_klap_server_proof(tapo->crypto, local, remote, ret_auth, expected);
		if (memcmp(expected, proof, sizeof(expected)) == 0)
			return true;
	}
	return false;
}

int tapo_klap_begin(struct tapo *tapo)
{
	uint8_t local[KLAP_SEED], remote[KLAP_SEED], auth[CRYPTO_SHA256], proof[CRYPTO_SHA256];
	struct meter_http_answer answer;
	struct err *err = &tapo->device.err;
	int r = meter_crypto_random(tapo->crypto, local, sizeof(local));

	if (r < 0)
		return err_set(err, EIO, NULL, "there are no random numbers");
	r = tapo_post(tapo, "/app/handshake1", NULL, local, sizeof(local), &answer);
	if (r < 0)
		return r;
	if (answer.status == 403) {
		tapo->klap_forbidden = true;
		return err_set(err, EACCES, NULL, "it refuses the handshake (HTTP 403)");
	}
	if (answer.status != 200 || answer.size != KLAP_SEED + CRYPTO_SHA256)
		return err_set(err, ENOENT, NULL, "it does not speak KLAP (HTTP %ld)", answer.status);
	memcpy(remote, answer.body, sizeof(remote));
	if (!fitting_auth(tapo, local, remote, (const uint8_t *)answer.body + KLAP_SEED, auth)) {
		(void)err_set(err, EACCES, NULL, "user or password is wrong");
		return err_hint(err, "they are those of the TP-Link account, the e-mail in upper and lower case as "
				     "registered");
	}
	meter_klap_own_proof(tapo->crypto, local, remote, auth, proof);
	r = tapo_post(tapo, "/app/handshake2", NULL, proof, sizeof(proof), &answer);
	if (r < 0)
		return r;
	if (answer.status != 200)
		return err_set(err, EACCES, NULL, "it refuses the second handshake (HTTP %ld)", answer.status);
	meter_klap_begin(tapo->crypto, local, remote, auth, &tapo->klap);
	return 0;
}

int tapo_klap_ask(struct tapo *tapo, const char *json)
{
	uint8_t message[CRYPTO_SHA256 + 256 + CRYPTO_BLOCK];
	struct meter_http_answer answer;
	char path[64];
	int size = strlen(json) < 256 ? meter_klap_seal(tapo->crypto, &tapo->klap, json, message) : -EIO, r;

	if (size < 0)
		return err_set(&tapo->device.err, EIO, NULL, "the question could not be encrypted");
	(void)snprintf(path, sizeof(path), "/app/request?seq=%d", tapo->klap.sequence);
	r = tapo_post(tapo, path, NULL, message, (size_t)size, &answer);
	if (r < 0)
		return r;
	if (answer.status == 403 || answer.status == 401)
		return -ESTALE;
	if (answer.status != 200 || answer.size >= TAPO_ANSWER_MOST ||
	    meter_klap_open(tapo->crypto, &tapo->klap, answer.body, answer.size, tapo->answer) < 0)
		return err_set(&tapo->device.err, EPROTO, NULL, "its answer cannot be read (HTTP %ld)", answer.status);
	return 0;
}

/* ---- the older passthrough ---- */

/* POST JSON and take the answer apart; *ret_json is the caller's. -ENOENT when there is no such page. */
static int post_json(struct tapo *tapo, const char *path, json_t *question, json_t **ret_json, int *ret_error)
{
	CLEANUP(free_json) json_t *asked = question;
	CLEANUP(base_free) char *body = json_dumps(asked, JSON_COMPACT);
	struct meter_http_answer answer;

	if (!body)
		return err_set(&tapo->device.err, EINVAL, NULL, "user and password must be UTF-8");
	int r = tapo_post(tapo, path, " application/json", body, strlen(body), &answer);

	if (r < 0)
		return r;
	if (answer.status == 404)
		return err_set(&tapo->device.err, ENOENT, NULL, "it is no Tapo plug (HTTP 404)");
	json_t *json = json_loadb(answer.body, answer.size, 0, NULL);

	if (answer.status != 200 || !json_is_integer(json_object_get(json, "error_code"))) {
		json_decref(json);
		return err_set(&tapo->device.err, EPROTO, NULL, "its answer cannot be read (HTTP %ld)", answer.status);
	}
	*ret_error = (int)json_integer_value(json_object_get(json, "error_code"));
	*ret_json = json;
	return 0;
}

/* A question inside the passthrough; its answer's text in tapo->answer. */
static int pass(struct tapo *tapo, const char *json)
{
	size_t length = strlen(json);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	uint8_t *cipher = arena_alloc(arena, length + CRYPTO_BLOCK);
	char *text = arena_alloc(arena, 4 * ((length + CRYPTO_BLOCK + 2) / 3) + 1);
	uint8_t *decoded = arena_alloc(arena, TAPO_ANSWER_MOST + CRYPTO_BLOCK);
	CLEANUP(free_json) json_t *answer = NULL;
	char path[320] = "/app";
	int error = 0, size;

	size = meter_crypto_encrypt(tapo->crypto, tapo->key, tapo->iv, json, length, cipher);
	if (size < 0)
		return err_set(&tapo->device.err, EIO, NULL, "the question could not be encrypted");
	meter_crypto_to_base64(tapo->crypto, cipher, (size_t)size, text);
	if (*tapo->token)
		(void)snprintf(path, sizeof(path), "/app?token=%s", tapo->token);
	int r =
	    post_json(tapo, path, json_pack("{s:s, s:{s:s}}", "method", "securePassthrough", "params", "request", text),
		      &answer, &error);

	if (r < 0)
		return r;
	if (error == 9999)
		return -ESTALE;
	const char *inner = json_string_value(json_object_get(json_object_get(answer, "result"), "response"));

	if (error || !inner || strlen(inner) >= TAPO_ANSWER_MOST)
		return err_set(&tapo->device.err, EPROTO, NULL, "it answers with error %d", error);
	size = meter_crypto_from_base64(tapo->crypto, inner, decoded);
	if (size > 0)
		size = meter_crypto_decrypt(tapo->crypto, tapo->key, tapo->iv, decoded, (size_t)size,
					    (uint8_t *)tapo->answer);
	if (size <= 0)
		return err_set(&tapo->device.err, EPROTO, NULL, "its answer cannot be decrypted");
	tapo->answer[size] = '\0';
	return 0;
}

static int exchange_keys(struct tapo *tapo)
{
	CLEANUP(free_json) json_t *answer = NULL;
	struct meter_crypto_key *key = NULL;
	char pem[CRYPTO_PEM_MOST];
	uint8_t secret[CRYPTO_PEM_MOST], keys[32];
	int error = 0, size = -1;

	if (meter_crypto_key_new(tapo->crypto, &key, pem) < 0)
		return err_set(&tapo->device.err, EIO, NULL,
			       "OpenSSL makes no key of 1024 bit, which the plug asks for");
	int r = post_json(tapo, "/app", json_pack("{s:s, s:{s:s}}", "method", "handshake", "params", "key", pem),
			  &answer, &error);
	const char *text =
	    r == 0 && !error ? json_string_value(json_object_get(json_object_get(answer, "result"), "key")) : NULL;

	if (text && strlen(text) < sizeof(secret))
		size = meter_crypto_from_base64(tapo->crypto, text, secret);
	if (size > 0)
		size = meter_crypto_key_decrypt(tapo->crypto, key, secret, (size_t)size, keys, sizeof(keys));
	meter_crypto_key_free(tapo->crypto, key);
	if (r < 0)
		return r;
	/* "Unknown credentials": the encryption has changed with the firmware. */
	if (error == 1003)
		return tapo_refused_by_firmware(tapo);
	if (size != (int)sizeof(keys))
		return err_set(&tapo->device.err, EPROTO, NULL, "its handshake is not understood (error %d)", error);
	memcpy(tapo->key, keys, sizeof(tapo->key));
	memcpy(tapo->iv, keys + sizeof(tapo->key), sizeof(tapo->iv));
	return 0;
}

/* base64 of the hexadecimal SHA-1 of the user, and base64 of the password. */
static void login_words(const struct tapo *tapo, char *ret_user, char *ret_password)
{
	const struct meter_entry *entry = tapo->device.entry;
	const char *user = entry->values[METER_KEY_USER];
	uint8_t hash[CRYPTO_SHA1];
	char hex[2 * CRYPTO_SHA1 + 1];

	meter_crypto_sha1(tapo->crypto, (const struct meter_crypto_part[]){{user, strlen(user)}, {NULL, 0}}, hash);
	for (size_t i = 0; i < sizeof(hash); i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", hash[i]);
	meter_crypto_to_base64(tapo->crypto, hex, strlen(hex), ret_user);
	meter_crypto_to_base64(tapo->crypto, entry->secret, strlen(entry->secret), ret_password);
}

int tapo_passthrough_begin(struct tapo *tapo)
{
	char user[4 * CRYPTO_SHA1], password[1024];
	int r;

	*tapo->token = '\0';
	if (strlen(tapo->device.entry->secret) > 512)
		return err_set(&tapo->device.err, EINVAL, NULL, "the password is longer than 512 bytes");
	r = exchange_keys(tapo);
	if (r < 0)
		return r;
	login_words(tapo, user, password);
	CLEANUP(free_json)
	json_t *question = json_pack("{s:s, s:{s:s, s:s}, s:I}", "method", "login_device", "params", "username", user,
				     "password", password, "request_time_milis", (json_int_t)0);
	CLEANUP(base_free) char *text = question ? json_dumps(question, JSON_COMPACT) : NULL;

	r = text ? pass(tapo, text) : -EIO;
	if (r < 0)
		return r;
	CLEANUP(free_json) json_t *answer = json_loads(tapo->answer, 0, NULL);
	const char *token = json_string_value(json_object_get(json_object_get(answer, "result"), "token"));
	int error = (int)json_integer_value(json_object_get(answer, "error_code"));

	if (error == -1501)
		return err_set(&tapo->device.err, EACCES, NULL, "user or password is wrong");
	if (!token || strlen(token) >= sizeof(tapo->token) || strspn(token, "0123456789abcdefABCDEF") != strlen(token))
		return err_set(&tapo->device.err, EPROTO, NULL, "it gives no session (error %d)", error);
	(void)snprintf(tapo->token, sizeof(tapo->token), "%s", token);
	return 0;
}

int tapo_passthrough_ask(struct tapo *tapo, const char *json)
{
	return pass(tapo, json);
}

/* ---- which way ---- */

int tapo_discovered(const void *data, size_t size, char *ret, size_t room)
{
	/* JSON behind a header of 16 bytes. */
	const char *text = size > 16 ? memchr(data, '{', size) : NULL;
	CLEANUP(free_json)
	json_t *json =
	    text ? json_loadb(text, size - (size_t)(text - (const char *)data), JSON_DISABLE_EOF_CHECK, NULL) : NULL;
	const char *way = json_string_value(
	    json_object_get(json_object_get(json_object_get(json, "result"), "mgt_encrypt_schm"), "encrypt_type"));

	if (!way || strlen(way) >= room || !*way)
		return -EBADMSG;
	for (const char *at = way; *at; at++)
		if ((*at < 'A' || *at > 'Z') && (*at < '0' || *at > '9'))
			return -EBADMSG;
	(void)snprintf(ret, room, "%s", way);
	return 0;
}

static int wait_for_answer(int fd, char *ret, size_t room)
{
	char answer[4096];
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	ssize_t got;

	if (poll(&wait, 1, 1000) <= 0)
		return -ETIMEDOUT;
	got = recv(fd, answer, sizeof(answer), 0);
	return got < 0 ? -errno : tapo_discovered(answer, (size_t)got, ret, room);
}

int tapo_discover(const char *address, char *ret, size_t room)
{
	static const uint8_t question[] = {0x02, 0, 0, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0x46, 0x3c, 0xb5, 0xd3};
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	struct addrinfo *found = NULL;
	char name[256];
	int fd, r;

	/* The port in an address is that of HTTP. */
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(address, ":"), address);
	if (getaddrinfo(name, "20002", &hints, &found))
		return -EHOSTUNREACH;
	fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	r = fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0 ||
		    send(fd, question, sizeof(question), 0) != (ssize_t)sizeof(question)
		? -errno
		: wait_for_answer(fd, ret, room);
	freeaddrinfo(found);
	if (fd >= 0)
		(void)close(fd);
	return r;
}
