/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns talking to services over D-Bus: tuned and systemd. A call that changes something passes the gate of the
 * machine's writer like every other write. libsystemd (sd-bus) is loaded when a bus is opened, since loading it takes
 * longer than much of what hvtune does; without its headers at build time there is no bus, and that is told.
 *
 * Arguments and answers are texts in the order of the message, as busctl(1) takes and prints them: "true", "42", and
 * of an array its length before its members (in arguments only). Structs and variants of an answer are flattened.
 */
#ifndef HVTUNE_SYS_BUS_H
#define HVTUNE_SYS_BUS_H

#include "sys_write.h"

struct sys_bus;

struct sys_bus_object {
	const char *service;   /* "com.redhat.tuned" */
	const char *path;      /* "/Tuned" */
	const char *interface; /* "com.redhat.tuned.control" */
	const char *program;   /* what people call it: "tuned" */
};

struct sys_bus_reply {
	const char *const *texts; /* in the arena that was given */
	size_t count;
};

/* One text of a reply; "" when it has fewer. */
static inline const char *sys_bus_text(const struct sys_bus_reply *reply, size_t index)
{
	return index < reply->count && reply->texts ? reply->texts[index] : "";
}

/*
 * Connect to the bus at `address`, or to the system's when it is NULL; the writer's root must be the running machine
 * then (-EXDEV). `writer` must outlive the bus. -EOPNOTSUPP when hvtune was built without libsystemd, -ENOENT when the
 * library is not there, -ECONNREFUSED when there is no bus.
 */
int sys_bus_open(struct sys_writer *writer, const char *address, struct sys_bus **ret, struct err *err);
struct sys_bus *sys_bus_close(struct sys_bus *bus); /* takes NULL, returns NULL */

/*
 * Call a method that changes nothing. `types` are those of the arguments, of "s", "b" and "as"; `texts` ends with NULL.
 * `ret` may be NULL. No service is started by it. At most 30 seconds. -ECONNREFUSED: the service does not run; -EACCES;
 * -ETIMEDOUT; -EOPNOTSUPP: it has no such method; -ENOENT: it knows no such thing; -EPROTO: it refuses, with its own
 * words in err.
 */
int sys_bus_ask(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *method,
		const char *types, const char *const *texts, struct sys_bus_reply *ret, struct err *err);

/* The same for a method that changes something; at most `timeout_s` seconds. It passes the gate as "call". */
int sys_bus_change(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *method,
		   const char *types, const char *const *texts, unsigned timeout_s, struct sys_bus_reply *ret,
		   struct err *err);

/* A property, as text. */
int sys_bus_property(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *name,
		     struct sys_bus_reply *ret, struct err *err);

/* From now on keep the signals of that name which the object sends. Asking for the same again is fine. */
int sys_bus_listen(struct sys_bus *bus, const struct sys_bus_object *object, const char *signal, struct err *err);

/* Forget the signals that were kept so far. */
void sys_bus_forget(struct sys_bus *bus);

/* The oldest kept signal, or the next one within `timeout_ms`: -ETIMEDOUT (err untouched). Texts in the arena. */
int sys_bus_next(struct sys_bus *bus, struct arena *arena, unsigned timeout_ms, struct sys_bus_reply *ret,
		 struct err *err);

/* Tell the systemd that started this process that it is ready (Type=notify). Nothing where none waits for it. */
void sys_notify_ready(void);

#endif
