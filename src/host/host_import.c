/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns telling apart and reading hosts that are no trees. */
#include "host_import.h"

int host_import(struct host *host, bool *ret_imported, struct err *err)
{
	(void)host, (void)err;
	*ret_imported = false;
	return 0;
}
