/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns where a store is and making its file: the only file in this room that writes past SQLite. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"
#include "sys.h"
#include "text.h"

#define ROOTS_PLACE "/var/lib/hvtune/results.db"

int store_usual_place(struct arena *arena, const char **ret, struct err *err)
{
	const char *given = getenv("HVTUNE_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (given && *given)
		*ret = arena_strdup(arena, given);
	else if (geteuid() == 0)
		*ret = ROOTS_PLACE;
	/* By the XDG specification a relative path is to be ignored. */
	else if (data && *data == '/')
		*ret = arena_printf(arena, "%s/hvtune/results.db", data);
	else if (home && *home == '/')
		*ret = arena_printf(arena, "%s/.local/share/hvtune/results.db", home);
	else
		return err_set(err, ENOENT, NULL, "no place for results: $HOME is not set; name one with --store");
	return 0;
}

static int make_parents(struct arena *arena, const char *path, struct err *err)
{
	char *folder = arena_strdup(arena, path);

	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
			(void)err_set(err, errno, folder, "this directory cannot be made for results: %s",
				      sys_reason(errno));
			return err_hint(err, "name another place with --store");
		}
		*slash = '/';
	}
	return 0;
}

/* Command lines and names of hosts are nobody else's business: the file and what SQLite puts beside it are 0600. */
int store_make_file(struct arena *arena, const char *path, struct err *err)
{
	struct stat info;
	int fd, r;

	if (stat(path, &info) == 0)
		return S_ISREG(info.st_mode) ? 0
					     : err_set(err, EINVAL, path, "this is no file; a store is one, or a URL");
	r = make_parents(arena, path, err);
	if (r < 0)
		return r;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		(void)err_set(err, errno, path, "the store cannot be made: %s", sys_reason(errno));
		return err_hint(err, "name another place with --store");
	}
	(void)close(fd);
	return 0;
}

void store_sync_folder(const char *path)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	char *folder = arena_strdup(arena, path), *slash = strrchr(folder, '/');
	int fd;

	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	(void)close(fd);
}
