/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns asking devices over HTTP and HTTPS, by libcurl, which is loaded when the first of them is configured. Requests
 * go straight to the device (no proxy), follow no redirects, take five seconds at most and answers of at most 1 MiB.
 */
#ifndef HVTUNE_METER_HTTP_H
#define HVTUNE_METER_HTTP_H

#include "base.h"
#include "err.h"

struct meter_http;

struct meter_http_setup {
	const char *user, *secret; /* NULL: none */
	bool basic;		   /* they are sent at once (Basic); else as the device asks for, digest too */
	bool verify;		   /* of HTTPS: the certificate is checked */
	const char *ca;		   /* a file of certificates to check it by; NULL: the system's */
};

struct meter_http_request {
	const char *method; /* NULL: GET, or POST with a body */
	const char *url;
	const char *type; /* of the body: "application/json"; NULL: none is named */
	const void *body; /* NULL: none */
	size_t body_size;
	const char *token;  /* X-Auth-Token of Redfish, or NULL */
	const char *header; /* one more line, or NULL */
};

struct meter_http_answer {
	long status;	  /* 200 */
	const char *body; /* a NUL stands after its size bytes; all until the next request */
	size_t size;
	char token[256];    /* X-Auth-Token, "" without one */
	char location[512]; /* "" without one */
};

/* The texts of the setup must outlive it. -EOPNOTSUPP: built without libcurl; -ENOENT: it is not installed. */
int meter_http_open(const struct meter_http_setup *setup, struct meter_http **ret, struct err *err);
struct meter_http *meter_http_close(struct meter_http *http); /* takes NULL, returns NULL */

/*
 * Ask and wait. An answer of any status is an answer. -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH, -EPROTO (TLS, with what
 * to do in err), -EFBIG. Cookies that the device sets are sent back to it.
 */
int meter_http_ask(struct meter_http *http, const struct meter_http_request *request, struct meter_http_answer *ret,
		   struct err *err);

/* Forget the device's cookies: a new session begins. */
void meter_http_forget(struct meter_http *http);

#endif
