/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns loading sd-bus and speaking it. Compiled only where libsystemd's headers are. */
#include "sys_bus.h"

#include <dlfcn.h>
#include <errno.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "library.h"
#include "sys.h"
#include "sys_write_internal.h"
#include "text.h"

enum { ASK_S = 30, MOST_TEXTS = 65536 };

/* clang-format off */
#define BUS_FUNCTIONS(X)                                                                                               \
	X(sd_bus_add_match) X(sd_bus_call) X(sd_bus_error_free) X(sd_bus_flush_close_unref)                            \
	X(sd_bus_message_append_basic) X(sd_bus_message_close_container) X(sd_bus_message_enter_container)             \
	X(sd_bus_message_exit_container) X(sd_bus_message_new_method_call) X(sd_bus_message_open_container)            \
	X(sd_bus_message_peek_type) X(sd_bus_message_read_basic) X(sd_bus_message_set_auto_start)                      \
	X(sd_bus_message_unref) X(sd_bus_new) X(sd_bus_open_system) X(sd_bus_process) X(sd_bus_set_address)            \
	X(sd_bus_set_bus_client) X(sd_bus_start) X(sd_bus_unref) X(sd_bus_wait)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct signal {
	struct sys_bus_reply reply; /* texts in the bus's arena */
	struct signal *next;
};

struct sys_bus {
	BUS_FUNCTIONS(DECLARE)
	struct sys_writer *writer;
	sd_bus *bus;
	struct arena *arena;	       /* of the signals and of what is listened for */
	struct signal *first, **after; /* signals that were kept */
	const char *listened;	       /* rules, each ended by a newline */
};

static int load(struct sys_bus *bus, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&bus->name},
	    BUS_FUNCTIONS(ENTRY)};
	const struct library library = {.files = {"libsystemd.so.0"},
					.name = "libsystemd",
					.where = "D-Bus",
					.install = "libsystemd0 (Debian, Ubuntu) or systemd-libs (Fedora, RHEL)",
					.errnum = ENOENT};

	return library_load(&library, functions, ARRAY_SIZE(functions), NULL, err);
}

static int connect_at(struct sys_bus *bus, const char *address)
{
	int r;

	/* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): load() has filled in all functions. */
	if (!address)
		return bus->sd_bus_open_system(&bus->bus);
	r = bus->sd_bus_new(&bus->bus);
	/* NOLINTEND(clang-analyzer-core.CallAndMessage) */
	if (r >= 0)
		r = bus->sd_bus_set_address(bus->bus, address);
	if (r >= 0)
		r = bus->sd_bus_set_bus_client(bus->bus, 1);
	return r < 0 ? r : bus->sd_bus_start(bus->bus);
}

static int connect_to(struct sys_bus *bus, const char *address, struct err *err)
{
	int r = connect_at(bus, address);

	if (r == -ENOENT)
		return err_set(err, ECONNREFUSED, "D-Bus", "there is no bus here: %s is missing",
			       address ? address : "/run/dbus/system_bus_socket");
	return r < 0 ? err_set(err, ECONNREFUSED, "D-Bus", "no bus answers: %s", sys_reason(-r)) : 0;
}

int sys_bus_open(struct sys_writer *writer, const char *address, struct sys_bus **ret, struct err *err)
{
	struct sys_bus *bus;
	int r;

	if (!address && !sys_writer_is_live(writer))
		return err_set(err, EXDEV, "D-Bus", "services can only be asked on the running machine");
	bus = calloc(1, sizeof(*bus));
	if (!bus)
		err_no_memory();
	bus->writer = writer;
	bus->arena = arena_new();
	bus->after = &bus->first;
	bus->listened = "";
	r = load(bus, err);
	if (r == 0)
		r = connect_to(bus, address, err);
	if (r < 0) {
		(void)sys_bus_close(bus);
		return r;
	}
	*ret = bus;
	return 0;
}

struct sys_bus *sys_bus_close(struct sys_bus *bus)
{
	if (!bus)
		return NULL;
	if (bus->bus)
		(void)bus->sd_bus_flush_close_unref(bus->bus);
	(void)arena_free(bus->arena);
	free(bus);
	return NULL;
}

/* The next argument; "" when too few were given. */
static const char *next_text(const char *const **texts)
{
	return *texts && **texts ? *(*texts)++ : "";
}

/* The next argument, of the first type in `types`. Returns how many letters of `types` it took, or a negative errno. */
static int append_one(struct sys_bus *bus, sd_bus_message *message, const char *types, const char *const **texts)
{
	int64_t count;
	int r, on;

	if (*types == 's')
		return (r = bus->sd_bus_message_append_basic(message, 's', next_text(texts))) < 0 ? r : 1;
	if (*types == 'b') {
		on = text_equal(next_text(texts), "true");
		return (r = bus->sd_bus_message_append_basic(message, 'b', &on)) < 0 ? r : 1;
	}
	if (!text_starts(types, "as") || text_int(next_text(texts), 10, &count) < 0)
		return -EINVAL;
	r = bus->sd_bus_message_open_container(message, 'a', "s");
	for (int64_t i = 0; i < count && r >= 0; i++)
		r = bus->sd_bus_message_append_basic(message, 's', next_text(texts));
	if (r >= 0)
		r = bus->sd_bus_message_close_container(message);
	return r < 0 ? r : 2;
}

static const char *number_text(struct arena *arena, char type, const void *value)
{
	uint64_t bits = 0;

	switch (type) {
	case 'b':
		return *(const int *)value ? "true" : "false";
	case 'y':
		return arena_printf(arena, "%u", *(const uint8_t *)value);
	case 'n':
		return arena_printf(arena, "%d", *(const int16_t *)value);
	case 'q':
		return arena_printf(arena, "%u", *(const uint16_t *)value);
	case 'i':
	case 'h':
		return arena_printf(arena, "%d", *(const int32_t *)value);
	case 'u':
		return arena_printf(arena, "%u", *(const uint32_t *)value);
	case 'x':
		return arena_printf(arena, "%lld", (long long)*(const int64_t *)value);
	case 'd':
		return arena_printf(arena, "%g", *(const double *)value);
	default:
		memcpy(&bits, value, sizeof(bits));
		return arena_printf(arena, "%llu", (unsigned long long)bits);
	}
}

struct flattening {
	struct arena *arena;
	const char **texts;
	size_t count, room;
};

static void add_text(struct flattening *flat, const char *text)
{
	if (flat->count == flat->room) {
		const char **larger;

		flat->room = flat->room ? 2 * flat->room : 16;
		larger = ARENA_ARRAY(flat->arena, flat->room, const char *);
		if (flat->count)
			memcpy(larger, flat->texts, flat->count * sizeof(*larger));
		flat->texts = larger;
	}
	flat->texts[flat->count++] = text;
}

/* All that is left in the message or the container that was entered. */
static int flatten(struct sys_bus *bus, sd_bus_message *message, struct flattening *flat)
{
	for (;;) {
		const char *contents = NULL;
		char type = 0;
		union {
			const char *text;
			double number;
			uint64_t bits;
		} value = {0};
		int r = bus->sd_bus_message_peek_type(message, &type, &contents);

		if (r <= 0)
			return r;
		if (flat->count >= MOST_TEXTS)
			return -E2BIG;
		if (strchr("arev", type)) {
			r = bus->sd_bus_message_enter_container(message, type, contents);
			if (r >= 0)
				r = flatten(bus, message, flat);
			if (r >= 0)
				r = bus->sd_bus_message_exit_container(message);
		} else {
			r = bus->sd_bus_message_read_basic(message, type, &value);
			if (r >= 0)
				add_text(flat, strchr("sog", type) ? arena_strdup(flat->arena, value.text)
								   : number_text(flat->arena, type, &value));
		}
		if (r < 0)
			return r;
	}
}

/* What a failed call means. `error` holds what the other side said. */
static int refused(const struct sys_bus_object *object, int r, const sd_bus_error *error, struct err *err)
{
	static const struct {
		const char *names;
		int errnum;
	} known[] = {
	    {"org.freedesktop.DBus.Error.ServiceUnknown org.freedesktop.DBus.Error.NameHasNoOwner", ECONNREFUSED},
	    {"org.freedesktop.DBus.Error.AccessDenied org.freedesktop.DBus.Error.AuthFailed "
	     "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired",
	     EACCES},
	    {"org.freedesktop.DBus.Error.NoReply org.freedesktop.DBus.Error.Timeout", ETIMEDOUT},
	    {"org.freedesktop.DBus.Error.UnknownMethod org.freedesktop.DBus.Error.UnknownProperty "
	     "org.freedesktop.DBus.Error.UnknownInterface",
	     EOPNOTSUPP},
	    {"org.freedesktop.systemd1.NoSuchUnit org.freedesktop.DBus.Error.UnknownObject "
	     "org.freedesktop.DBus.Error.FileNotFound",
	     ENOENT},
	};
	int errnum = r == -ETIMEDOUT ? ETIMEDOUT : error->name ? EPROTO : -r;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (error->name && text_has_word(known[i].names, " ", error->name))
			errnum = known[i].errnum;
	if (errnum == ECONNREFUSED)
		return err_set(err, errnum, object->program, "it does not run");
	if (errnum == EACCES) {
		(void)err_set(err, errnum, object->program, "it refuses: %s", error->message ? error->message : "");
		return err_hint(err, "run hvtune as root");
	}
	if (errnum == ETIMEDOUT)
		return err_set(err, errnum, object->program, "it gave no answer");
	return err_set(err, errnum, object->program, "it says: %s", error->message ? error->message : sys_reason(-r));
}

static int call(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *method,
		const char *types, const char *const *texts, unsigned timeout_s, struct sys_bus_reply *ret,
		struct err *err)
{
	sd_bus_message *message = NULL, *answer = NULL;
	sd_bus_error error = {0};
	struct flattening flat = {.arena = arena};
	int r = bus->sd_bus_message_new_method_call(bus->bus, &message, object->service, object->path,
						    object->interface, method);

	if (r >= 0)
		r = bus->sd_bus_message_set_auto_start(message, 0);
	while (r >= 0 && *types) {
		r = append_one(bus, message, types, &texts);
		types += r > 0 ? r : 0;
	}
	if (r >= 0)
		r = bus->sd_bus_call(bus->bus, message, (uint64_t)timeout_s * 1000000, &error, &answer);
	if (r >= 0)
		r = flatten(bus, answer, &flat);
	if (r < 0)
		r = refused(object, r, &error, err);
	else if (ret)
		*ret = (struct sys_bus_reply){flat.texts, flat.count};
	bus->sd_bus_error_free(&error);
	(void)bus->sd_bus_message_unref(message);
	(void)bus->sd_bus_message_unref(answer);
	return MIN_OF(r, 0);
}

int sys_bus_ask(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *method,
		const char *types, const char *const *texts, struct sys_bus_reply *ret, struct err *err)
{
	return call(bus, arena, object, method, types, texts, ASK_S, ret, err);
}

int sys_bus_property(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *name,
		     struct sys_bus_reply *ret, struct err *err)
{
	const struct sys_bus_object properties = {object->service, object->path, "org.freedesktop.DBus.Properties",
						  object->program};

	return call(bus, arena, &properties, "Get", "ss", (const char *[]){object->interface, name, NULL}, ASK_S, ret,
		    err);
}

int sys_bus_change(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *method,
		   const char *types, const char *const *texts, unsigned timeout_s, struct sys_bus_reply *ret,
		   struct err *err)
{
	const char *name = arena_printf(arena, "%s.%s", object->interface, method), *value = "";
	int r;

	for (const char *const *text = texts; text && *text; text++)
		value = arena_printf(arena, "%s%s%s", value, *value ? " " : "", *text);
	r = sys_write_pass(bus->writer, SYS_WRITE_BEFORE, "call", name, value, strlen(value));
	if (r < 0)
		return err_set(err, -r, object->program, "it could not be asked: %s", sys_reason(-r));
	r = call(bus, arena, object, method, types, texts, timeout_s, ret, err);
	(void)sys_write_pass(bus->writer, SYS_WRITE_AFTER, "call", name, value, strlen(value));
	return r;
}

static int keep(sd_bus_message *message, void *data, sd_bus_error *error)
{
	struct sys_bus *bus = data;
	struct flattening flat = {.arena = bus->arena};
	struct signal *signal = ARENA_NEW(bus->arena, struct signal);

	(void)error;
	if (flatten(bus, message, &flat) < 0)
		return 0;
	signal->reply = (struct sys_bus_reply){flat.texts, flat.count};
	*bus->after = signal;
	bus->after = &signal->next;
	return 0;
}

int sys_bus_listen(struct sys_bus *bus, const struct sys_bus_object *object, const char *signal, struct err *err)
{
	const char *rule = arena_printf(bus->arena, "type='signal',sender='%s',path='%s',interface='%s',member='%s'",
					object->service, object->path, object->interface, signal);
	int r = text_has_word(bus->listened, "\n", rule) ? 0 : bus->sd_bus_add_match(bus->bus, NULL, rule, keep, bus);

	if (r < 0)
		return err_set(err, -r, object->program, "its signals cannot be heard: %s", sys_reason(-r));
	bus->listened = arena_printf(bus->arena, "%s%s\n", bus->listened, rule);
	return 0;
}

static int process(struct sys_bus *bus)
{
	int r;

	do
		r = bus->sd_bus_process(bus->bus, NULL);
	while (r > 0);
	return r;
}

void sys_bus_forget(struct sys_bus *bus)
{
	(void)process(bus);
	bus->first = NULL;
	bus->after = &bus->first;
}

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int sys_bus_next(struct sys_bus *bus, struct arena *arena, unsigned timeout_ms, struct sys_bus_reply *ret,
		 struct err *err)
{
	int64_t end_ms = now_ms() + timeout_ms;

	for (;;) {
		int r = process(bus);
		int64_t left_ms = end_ms - now_ms();

		if (r < 0)
			return err_set(err, -r, "D-Bus", "the bus is gone: %s", sys_reason(-r));
		if (bus->first)
			break;
		if (left_ms <= 0)
			return -ETIMEDOUT;
		r = bus->sd_bus_wait(bus->bus, (uint64_t)left_ms * 1000);
		if (r < 0 && r != -EINTR)
			return err_set(err, -r, "D-Bus", "the bus is gone: %s", sys_reason(-r));
	}
	const char **texts = ARENA_ARRAY(arena, bus->first->reply.count + 1, const char *);

	for (size_t i = 0; i < bus->first->reply.count; i++)
		texts[i] = arena_strdup(arena, bus->first->reply.texts[i]);
	*ret = (struct sys_bus_reply){texts, bus->first->reply.count};
	bus->first = bus->first->next;
	if (!bus->first)
		bus->after = &bus->first;
	return 0;
}

void sys_notify_ready(void)
{
	void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
	struct {
		__typeof__(&sd_notify) notify;
	} api = {0};

	*(void **)&api.notify = library ? dlsym(library, "sd_notify") : NULL;
	if (api.notify)
		(void)api.notify(0, "READY=1");
}
