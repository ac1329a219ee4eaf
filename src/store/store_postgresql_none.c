/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns saying that this hvtune was built without the headers of libpq. */
#include <errno.h>

#include "store_internal.h"

int store_postgresql_open(struct store *store, const char *url, struct err *err)
{
	(void)url;
	return err_set(err, EOPNOTSUPP, store->name, "this hvtune was built without PostgreSQL; a store can be a file");
}
