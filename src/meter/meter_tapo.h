/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the Tapo driver share: one plug, and the two ways of talking to it. */
#ifndef HVTUNE_METER_TAPO_H
#define HVTUNE_METER_TAPO_H

#include "meter_driver.h"
#include "meter_klap.h"

enum { TAPO_ANSWER_MOST = 64 << 10 };

enum tapo_way { TAPO_UNKNOWN, TAPO_KLAP, TAPO_PASSTHROUGH };

struct tapo {
	struct meter_device device; /* first */
	struct meter_crypto *crypto;
	enum tapo_way way;
	bool in_session;
	bool klap_forbidden; /* HTTP 403 to the first handshake */
	struct meter_klap klap;
	uint8_t key[16], iv[16]; /* of the passthrough */
	char token[256];
	int method; /* the reading that this plug has */
	char answer[TAPO_ANSWER_MOST];
};

/*
 * Begin a session. -EACCES: user or password are wrong, or the firmware refuses; -ENOENT: the plug does not speak this
 * way; else as meter_http_ask(). The device's err says so.
 */
int tapo_klap_begin(struct tapo *tapo);
int tapo_passthrough_begin(struct tapo *tapo);

/* Ask in a session; the answer's text in tapo->answer. -ESTALE: the session is over. */
int tapo_klap_ask(struct tapo *tapo, const char *json);
int tapo_passthrough_ask(struct tapo *tapo, const char *json);

/* POST to the plug. */
int tapo_post(struct tapo *tapo, const char *path, const char *type, const void *body, size_t size,
	      struct meter_http_answer *ret);

/* Firmware 1.4 and later: what to do, in the device's err. */
int tapo_refused_by_firmware(struct tapo *tapo);

/*
 * Ask the plug by UDP port 20002 how it wants to be talked to: "KLAP", "AES", "TPAP"..., in at most `room` bytes. Waits
 * a second. -ETIMEDOUT, -EBADMSG...
 */
int tapo_discover(const char *address, char *ret, size_t room);

/* The way in such an answer; for that and for fuzzing. -EBADMSG. */
int tapo_discovered(const void *data, size_t size, char *ret, size_t room);

#endif
