/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a build without libcurl says of meters in the network. */
#include <errno.h>

#include "meter_http.h"

int meter_http_open(const struct meter_http_setup *setup, struct meter_http **ret, struct err *err)
{
	(void)setup, (void)ret;
	return err_set(err, EOPNOTSUPP, "HTTP", "this hvtune was built without libcurl");
}

struct meter_http *meter_http_close(struct meter_http *http)
{
	(void)http;
	return NULL;
}

int meter_http_ask(struct meter_http *http, const struct meter_http_request *request, struct meter_http_answer *ret,
		   struct err *err)
{
	(void)http, (void)request, (void)ret;
	return err_set(err, EOPNOTSUPP, "HTTP", "this hvtune was built without libcurl");
}

void meter_http_forget(struct meter_http *http)
{
	(void)http;
}
