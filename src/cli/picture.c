/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns writing files for people: the picture that --svg asks for, reports. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "text.h"

/* A file that we make, or one that is there (a pipe, a device, an older picture). */
static int open_file(const char *path, bool *ret_ours)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	*ret_ours = fd >= 0;
	return fd < 0 && errno == EEXIST ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : fd;
}

/* 0 or a positive errno. */
static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t written = write(fd, data, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno;
		data += written;
		size -= (size_t)written;
	}
	return 0;
}

int cli_write_file(const char *path, const char *what, const char *data, size_t size)
{
	struct err err = {0};
	bool ours;
	int fd = open_file(path, &ours);
	int errnum = fd < 0 ? errno : write_all(fd, data, size);

	if (fd >= 0 && close(fd) < 0 && !errnum)
		errnum = errno;
	if (!errnum)
		return EXIT_FINE;
	/* Half of it is none. */
	if (fd >= 0 && ours)
		(void)unlink(path);
	(void)err_set(&err, errnum, path, "cannot write the %s: %s", what, strerror(errnum));
	return cli_fail(&err);
}

int cli_replace_file(const char *path, const char *data, size_t size, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	/* Beside it, so that it can take its place; a collector of *.prom does not look at this name. */
	const char *beside = arena_printf(arena, "%s.hvtune-new", path);
	struct stat info;

	/* A device or pipe would be replaced by a file. */
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return err_set(err, EINVAL, path, "this is no file, and is not replaced by one");
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	int errnum = fd < 0 ? errno : write_all(fd, data, size);

	if (fd >= 0 && close(fd) < 0 && !errnum)
		errnum = errno;
	if (!errnum && rename(beside, path) < 0)
		errnum = errno;
	if (!errnum)
		return 0;
	if (fd >= 0)
		(void)unlink(beside);
	return err_set(err, errnum, path, "cannot write: %s", strerror(errnum));
}

int cli_write_picture(const struct cli *cli, int (*write)(FILE *out, const void *what), const void *what)
{
	const char *path = cli->values[OPTION_SVG];
	CLEANUP(base_free) char *data = NULL;
	size_t size = 0;
	CLEANUP(base_fclose) FILE *out = open_memstream(&data, &size);
	struct err err = {0};

	if (!out)
		err_no_memory();
	int r = write(out, what);

	if (r < 0) {
		(void)err_set(&err, -r, path, "cannot write the picture: %s", strerror(-r));
		return cli_fail(&err);
	}
	base_fclose(&out);
	if (!text_equal(path, "-"))
		return cli_write_file(path, "picture", data, size);
	(void)fwrite(data, 1, size, stdout);
	return EXIT_FINE;
}
