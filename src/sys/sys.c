/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the door: memory of every look, and the states that errnos mean. */
#include "sys.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "sys_internal.h"
#include "text.h"

enum { FIRST_BUCKETS = 1024 };

struct slot {
	struct slot *next;
	uint32_t hash;
	struct sys_look look;
};

struct sys {
	struct arena *arena;
	const struct sys_backend *backend;
	void *self;
	const char *name, *root;
	struct slot **buckets;
	size_t bucket_count, count;
	uint64_t took_us;
	struct sys_look *first, *last;
};

struct sys *sys_new(const struct sys_backend *backend, void *self, const char *name, const char *root)
{
	struct arena *arena = arena_new();
	struct sys *sys = ARENA_NEW(arena, struct sys);

	*sys = (struct sys){.arena = arena, .backend = backend, .self = self, .bucket_count = FIRST_BUCKETS};
	sys->name = arena_strdup(arena, name);
	sys->root = root ? arena_strdup(arena, root) : NULL;
	sys->buckets = ARENA_ARRAY(arena, FIRST_BUCKETS, struct slot *);
	return sys;
}

struct sys *sys_close(struct sys *sys)
{
	if (!sys)
		return NULL;
	if (sys->backend->close)
		sys->backend->close(sys->self);
	arena_free(sys->arena);
	return NULL;
}

void sys_close_pointer(struct sys **sys)
{
	*sys = sys_close(*sys);
}

bool sys_is_live(const struct sys *sys)
{
	return text_equal(sys->root, "/");
}

const char *sys_name(const struct sys *sys)
{
	return sys->name;
}

const char *sys_root(const struct sys *sys)
{
	return sys->root;
}

struct arena *sys_arena(struct sys *sys)
{
	return sys->arena;
}

const struct sys_look *sys_first_look(const struct sys *sys)
{
	return sys->first;
}

size_t sys_look_count(const struct sys *sys)
{
	return sys->count;
}

uint64_t sys_look_time_us(const struct sys *sys)
{
	return sys->took_us;
}

const char *sys_capture_part(const struct sys *sys, const char *name, size_t *ret_size)
{
	return sys->backend->part ? sys->backend->part(sys->self, name, ret_size) : NULL;
}

const char *sys_reason(int errnum)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
		return "permission denied";
	case EFBIG:
		return "larger than 8 MiB";
	case ELOOP:
		return "a loop of links";
	default:
		return strerror(errnum);
	}
}

/* FNV-1a, with the kind mixed in. */
static uint32_t hash_of(const char *path, enum sys_kind kind)
{
	uint32_t hash = 2166136261U ^ (uint32_t)kind;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619U;
	return hash;
}

static struct slot *find_slot(const struct sys *sys, const char *path, enum sys_kind kind, uint32_t hash)
{
	struct slot *slot = sys->buckets[hash % sys->bucket_count];

	while (slot && !(slot->hash == hash && slot->look.kind == kind && strcmp(slot->look.path, path) == 0))
		slot = slot->next;
	return slot;
}

const struct sys_look *sys_recall(const struct sys *sys, const char *path, enum sys_kind kind)
{
	const struct slot *slot = find_slot(sys, path, kind, hash_of(path, kind));

	return slot ? &slot->look : NULL;
}

static void grow(struct sys *sys)
{
	size_t count = sys->bucket_count * 4;
	struct slot **buckets = ARENA_ARRAY(sys->arena, count, struct slot *);

	for (size_t i = 0; i < sys->bucket_count; i++) {
		for (struct slot *slot = sys->buckets[i], *next; slot; slot = next) {
			next = slot->next;
			slot->next = buckets[slot->hash % count];
			buckets[slot->hash % count] = slot;
		}
	}
	sys->buckets = buckets;
	sys->bucket_count = count;
}

static struct sys_look *add_look(struct sys *sys, const char *path, enum sys_kind kind)
{
	struct slot *slot = ARENA_NEW(sys->arena, struct slot);

	if (sys->count >= sys->bucket_count)
		grow(sys);
	slot->hash = hash_of(path, kind);
	slot->look = (struct sys_look){.path = arena_strdup(sys->arena, path), .kind = kind};
	slot->next = sys->buckets[slot->hash % sys->bucket_count];
	sys->buckets[slot->hash % sys->bucket_count] = slot;
	if (sys->last)
		sys->last->next = &slot->look;
	else
		sys->first = &slot->look;
	sys->last = &slot->look;
	sys->count++;
	return &slot->look;
}

static void settle(struct sys_look *look, int error)
{
	switch (-error) {
	case 0:
		look->state = SYS_VALUE;
		break;
	/* sysfs says ENODEV or ENXIO for an attribute that this device does not have. */
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ENXIO:
		look->state = SYS_ABSENT;
		break;
	default:
		look->state = SYS_UNREADABLE;
		look->errnum = -error;
	}
}

const struct sys_look *sys_remember(struct sys *sys, const char *path, enum sys_kind kind, int error, const char *data,
				    size_t size, uint32_t took_us)
{
	struct sys_look *look = add_look(sys, path, kind);

	look->data = error ? NULL : data;
	look->size = error ? 0 : size;
	look->took_us = took_us;
	sys->took_us += took_us;
	settle(look, error);
	return look;
}

uint64_t sys_now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int sys_ask_file(struct sys *sys, const char *path, const char **ret_data, size_t *ret_size)
{
	return sys->backend->read(sys->self, sys->arena, path, ret_data, ret_size);
}

/* A path may only go down: names from foreign trees are put into paths. */
static bool path_is_clean(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *at = path; (at = strstr(at, "/..")); at += 3)
		if (at[3] == '/' || at[3] == '\0')
			return false;
	return true;
}

int sys_ask_open(struct sys *sys, const char *path)
{
	if (!path_is_clean(path))
		return -ENOENT;
	return sys->backend->open ? sys->backend->open(sys->self, path) : -EOPNOTSUPP;
}

static int look_at(struct sys *sys, struct sys_look *look)
{
	if (!path_is_clean(look->path))
		return -ENOENT;
	if (look->kind == SYS_DIR)
		return sys->backend->list(sys->self, sys->arena, look->path, &look->names, &look->size);
	if (look->kind == SYS_FILE)
		return sys->backend->read(sys->self, sys->arena, look->path, &look->data, &look->size);
	int r = sys->backend->link(sys->self, sys->arena, look->path, &look->data);

	look->size = r < 0 ? 0 : strlen(look->data);
	return r;
}

static PRINTF_LIKE(3, 0) const
    struct sys_look *look(struct sys *sys, enum sys_kind kind, const char *format, va_list arguments)
{
	char short_path[512];
	CLEANUP(base_free) char *long_path = NULL;
	const char *path = short_path;
	va_list again;

	va_copy(again, arguments);
	int length = vsnprintf(short_path, sizeof(short_path), format, arguments);

	if (length >= (int)sizeof(short_path)) {
		length = vasprintf(&long_path, format, again);
		path = long_path;
	}
	va_end(again);
	if (length < 0)
		err_no_memory();
	const struct sys_look *known = sys_recall(sys, path, kind);

	if (known)
		return known;
	struct sys_look *fresh = add_look(sys, path, kind);
	uint64_t start_us = sys_now_us();

	settle(fresh, look_at(sys, fresh));
	fresh->took_us = (uint32_t)(sys_now_us() - start_us);
	sys->took_us += fresh->took_us;
	return fresh;
}

const struct sys_look *sys_read(struct sys *sys, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const struct sys_look *found = look(sys, SYS_FILE, format, arguments);

	va_end(arguments);
	return found;
}

const struct sys_look *sys_list(struct sys *sys, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const struct sys_look *found = look(sys, SYS_DIR, format, arguments);

	va_end(arguments);
	return found;
}

const struct sys_look *sys_link(struct sys *sys, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const struct sys_look *found = look(sys, SYS_LINK, format, arguments);

	va_end(arguments);
	return found;
}

bool sys_has_dir(struct sys *sys, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const struct sys_look *found = look(sys, SYS_DIR, format, arguments);

	va_end(arguments);
	return found->state == SYS_VALUE;
}

void sys_sort_names(const char **names, size_t count)
{
	if (count)
		qsort(names, count, sizeof(*names), text_compare_natural);
}
