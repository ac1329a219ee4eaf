/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns loading libcurl and asking by it. Compiled only where its headers are. */
#include "meter_http.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "library.h"
#include "text.h"

enum { ANSWER_MOST = 1 << 20, CONNECT_MS = 3000, ALL_MS = 5000 };

/* clang-format off */
#define CURL_FUNCTIONS(X)                                                                                              \
	X(curl_easy_cleanup) X(curl_easy_getinfo) X(curl_easy_init) X(curl_easy_perform) X(curl_easy_setopt)            \
	X(curl_global_init) X(curl_slist_append) X(curl_slist_free_all)
/* clang-format on */

/* Macros of curl.h that check types get in the way of a pointer of the same name. */
#undef curl_easy_getinfo
#undef curl_easy_setopt

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct meter_http {
	CURL_FUNCTIONS(DECLARE)
	CURL *curl;
	char *answer;
	size_t size;
	char message[CURL_ERROR_SIZE];
	struct meter_http_answer *headers; /* where those of the answer go */
};

/* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */

static int load(struct meter_http *http, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&http->name},
	    CURL_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libcurl.so.4", "libcurl-gnutls.so.4"},
					.name = "libcurl",
					.where = "HTTP",
					.install = "libcurl4 (Debian, Ubuntu) or libcurl (Fedora, RHEL, SUSE)",
					.errnum = ENOENT};

	return library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);
}

static size_t keep_body(char *data, size_t size, size_t count, void *self)
{
	struct meter_http *http = self;
	size_t more = size * count;

	if (more > ANSWER_MOST - http->size)
		return 0;
	memcpy(http->answer + http->size, data, more);
	http->size += more;
	http->answer[http->size] = '\0';
	return more;
}

static void keep_header(const char *data, size_t length, const char *name, char *ret, size_t room)
{
	size_t name_length = strlen(name);

	if (length <= name_length || strncasecmp(data, name, name_length) != 0)
		return;
	data += name_length;
	length -= name_length;
	while (length && (*data == ' ' || *data == '\t'))
		data++, length--;
	while (length && (data[length - 1] == '\n' || data[length - 1] == '\r' || data[length - 1] == ' '))
		length--;
	if (length < room)
		(void)snprintf(ret, room, "%.*s", (int)length, data);
}

static size_t see_header(char *data, size_t size, size_t count, void *self)
{
	struct meter_http *http = self;

	keep_header(data, size * count, "X-Auth-Token:", http->headers->token, sizeof(http->headers->token));
	keep_header(data, size * count, "Location:", http->headers->location, sizeof(http->headers->location));
	return size * count;
}

static void set_up(struct meter_http *http, const struct meter_http_setup *setup)
{
	(void)http->curl_easy_setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_NOPROXY, "*");
	(void)http->curl_easy_setopt(http->curl, CURLOPT_FOLLOWLOCATION, 0L);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_TIMEOUT_MS, (long)ALL_MS);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_COOKIEFILE, "");
	(void)http->curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, keep_body);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, http);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_HEADERFUNCTION, see_header);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_HEADERDATA, http);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->message);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYPEER, setup->verify ? 1L : 0L);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYHOST, setup->verify ? 2L : 0L);
	if (setup->ca)
		(void)http->curl_easy_setopt(http->curl, CURLOPT_CAINFO, setup->ca);
	if (setup->user && setup->secret) {
		(void)http->curl_easy_setopt(http->curl, CURLOPT_USERNAME, setup->user);
		(void)http->curl_easy_setopt(http->curl, CURLOPT_PASSWORD, setup->secret);
		(void)http->curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH,
					     (long)(setup->basic ? CURLAUTH_BASIC : CURLAUTH_DIGEST));
	}
}

int meter_http_open(const struct meter_http_setup *setup, struct meter_http **ret, struct err *err)
{
	struct meter_http *http = calloc(1, sizeof(*http));
	int r;

	if (!http || !(http->answer = malloc(ANSWER_MOST + 1)))
		err_no_memory();
	r = load(http, err);
	if (r == 0 && (http->curl_global_init(CURL_GLOBAL_DEFAULT) || !(http->curl = http->curl_easy_init())))
		r = err_set(err, EIO, "HTTP", "libcurl cannot be started");
	if (r < 0) {
		(void)meter_http_close(http);
		return r;
	}
	set_up(http, setup);
	*ret = http;
	return 0;
}

struct meter_http *meter_http_close(struct meter_http *http)
{
	if (!http)
		return NULL;
	if (http->curl)
		http->curl_easy_cleanup(http->curl);
	free(http->answer);
	free(http);
	return NULL;
}

void meter_http_forget(struct meter_http *http)
{
	(void)http->curl_easy_setopt(http->curl, CURLOPT_COOKIELIST, "ALL");
}

static const struct known_error {
	CURLcode code;
	int errnum;
	const char *hint;
} known_errors[] = {
    {CURLE_OPERATION_TIMEDOUT, ETIMEDOUT, NULL},
    {CURLE_COULDNT_RESOLVE_HOST, EHOSTUNREACH, "look whether the name is right"},
    {CURLE_COULDNT_CONNECT, ECONNREFUSED, NULL},
    {CURLE_WRITE_ERROR, EFBIG, NULL},
    {CURLE_PEER_FAILED_VERIFICATION, EPROTO,
     "give its certificate as ca = FILE, or verify = no where the network is trusted"},
    {CURLE_SSL_CACERT_BADFILE, EPROTO, "ca = FILE takes a file of certificates (PEM)"},
    {CURLE_SSL_CONNECT_ERROR, EPROTO, NULL},
};

/* Without the URL, in which a password may stand. */
static int failed(const struct meter_http *http, CURLcode code, struct err *err)
{
	int errnum = EIO;
	const char *hint = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(known_errors); i++) {
		if (known_errors[i].code != code)
			continue;
		errnum = known_errors[i].errnum;
		hint = known_errors[i].hint;
	}
	(void)err_set(err, errnum, NULL, "%s",
		      code == CURLE_WRITE_ERROR ? "its answer is too long"
		      : *http->message		? http->message
						: "it does not answer");
	if (hint)
		(void)err_hint(err, "%s", hint);
	return -errnum;
}

/* One more header line; NULL when there is no memory. */
static struct curl_slist *add_line(struct meter_http *http, struct curl_slist *lines, const char *name,
				   const char *value)
{
	char line[512];

	if (!value)
		return lines;
	(void)snprintf(line, sizeof(line), "%s%s", name, value);
	struct curl_slist *longer = http->curl_slist_append(lines, line);

	if (!longer)
		err_no_memory();
	return longer;
}

static void set_body(struct meter_http *http, const struct meter_http_request *request)
{
	if (request->body) {
		(void)http->curl_easy_setopt(http->curl, CURLOPT_POST, 1L);
		(void)http->curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, request->body);
		(void)http->curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE, (long)request->body_size);
	} else
		(void)http->curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, request->method);
}

int meter_http_ask(struct meter_http *http, const struct meter_http_request *request, struct meter_http_answer *ret,
		   struct err *err)
{
	struct curl_slist *lines = NULL;
	struct meter_http_answer answer = {0};

	/* An empty type keeps libcurl from naming one of its own. */
	if (request->body)
		lines = add_line(http, lines, "Content-Type:", request->type ? request->type : "");
	lines = add_line(http, lines, "X-Auth-Token: ", request->token);
	lines = add_line(http, lines, "", request->header);
	/* Some small devices do not know "Expect: 100-continue". */
	lines = add_line(http, lines, "Expect:", "");
	http->size = 0;
	http->answer[0] = http->message[0] = '\0';
	http->headers = &answer;
	(void)http->curl_easy_setopt(http->curl, CURLOPT_URL, request->url);
	(void)http->curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, lines);
	set_body(http, request);
	CURLcode code = http->curl_easy_perform(http->curl);

	(void)http->curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
	http->curl_slist_free_all(lines);
	http->headers = NULL;
	if (code != CURLE_OK)
		return failed(http, code, err);
	(void)http->curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer.status);
	answer.body = http->answer;
	answer.size = http->size;
	*ret = answer;
	return 0;
}

/* NOLINTEND(clang-analyzer-core.CallAndMessage) */
