/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns writing the picture that --svg asks for. */
#include <errno.h>

#include "cli.h"
#include "text.h"

int cli_write_picture(const struct cli *cli, int (*write)(FILE *out, const void *what), const void *what)
{
	const char *path = cli->values[OPTION_SVG];
	bool to_stdout = text_equal(path, "-");
	struct err err = {0};
	FILE *out = to_stdout ? stdout : fopen(path, "we");

	if (!out) {
		(void)err_set(&err, errno, path, "cannot write the picture: %s", strerror(errno));
		return cli_fail(&err);
	}
	int r = write(out, what);

	if (!to_stdout && fclose(out) != 0 && r == 0)
		r = -errno;
	if (r < 0) {
		(void)err_set(&err, -r, path, "cannot write the picture: %s", strerror(-r));
		return cli_fail(&err);
	}
	return EXIT_FINE;
}
