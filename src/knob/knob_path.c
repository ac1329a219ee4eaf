/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns paths of points: links resolved, for the writer follows none, and the files beside a point. */
#include <errno.h>

#include "knob_table.h"
#include "text.h"

enum { MOST_LINKS = 40 }; /* as the kernel's own limit */

/* "a/b" and "../c" joined: the directory of `path` with `target` applied to it. */
static const char *join(struct arena *arena, const char *directory, const char *target)
{
	char *joined = *target == '/' ? arena_strdup(arena, "") : arena_strdup(arena, directory);

	while (*target) {
		size_t length = strcspn(target, "/");
		bool is_up = length == 2 && text_starts(target, "..");

		if (is_up && strrchr(joined, '/'))
			*strrchr(joined, '/') = '\0';
		else if (length && !is_up && !(length == 1 && *target == '.'))
			joined = arena_printf(arena, "%s/%.*s", joined, (int)length, target);
		target += length + (target[length] == '/');
	}
	return joined;
}

int knob_real_path(struct knob_machine *machine, const char *path, const char **ret, struct err *err)
{
	const char *real = "", *rest = path;
	int links = 0;

	while (*rest) {
		size_t length = strcspn(rest, "/");
		const struct sys_look *link;
		const char *next;

		if (length == 0) {
			rest++;
			continue;
		}
		next = arena_printf(machine->arena, "%s/%.*s", real, (int)length, rest);
		link = sys_link(machine->sys, "%s", next);
		rest += length;
		if (link->state != SYS_VALUE) {
			real = next;
			continue;
		}
		if (++links > MOST_LINKS)
			return err_set(err, ELOOP, path, "leads in a circle of symbolic links");
		/* The target may hold links itself, so all of it is walked again. */
		rest = arena_printf(machine->arena, "%s%s", join(machine->arena, real, link->data), rest);
		real = "";
	}
	*ret = real;
	return 0;
}

const char *knob_beside(struct knob_machine *machine, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *data;
	const char *beside = arena_printf(machine->arena, "%.*s/%s", (int)(slash - path), path, name);
	struct err ignored = {0};

	return knob_get_value(machine, beside, &data, &ignored) < 0 ? NULL : data;
}
