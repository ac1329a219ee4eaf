/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a build without libsystemd says of D-Bus: no bus is ever opened, so nothing else can be asked. */
#include <errno.h>

#include "sys_bus.h"

int sys_bus_open(struct sys_writer *writer, const char *address, struct sys_bus **ret, struct err *err)
{
	(void)writer, (void)address, (void)ret;
	return err_set(err, EOPNOTSUPP, "D-Bus", "this hvtune was built without libsystemd");
}

struct sys_bus *sys_bus_close(struct sys_bus *bus)
{
	(void)bus;
	return NULL;
}

int sys_bus_ask(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *method,
		const char *types, const char *const *texts, struct sys_bus_reply *ret, struct err *err)
{
	(void)arena, (void)method, (void)types, (void)texts, (void)ret;
	return sys_bus_listen(bus, object, method, err);
}

int sys_bus_change(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *method,
		   const char *types, const char *const *texts, unsigned timeout_s, struct sys_bus_reply *ret,
		   struct err *err)
{
	(void)timeout_s;
	return sys_bus_ask(bus, arena, object, method, types, texts, ret, err);
}

int sys_bus_property(struct sys_bus *bus, struct arena *arena, const struct sys_bus_object *object, const char *name,
		     struct sys_bus_reply *ret, struct err *err)
{
	return sys_bus_ask(bus, arena, object, name, "", NULL, ret, err);
}

int sys_bus_listen(struct sys_bus *bus, const struct sys_bus_object *object, const char *signal, struct err *err)
{
	(void)bus, (void)signal;
	return err_set(err, EOPNOTSUPP, object->program, "this hvtune was built without libsystemd");
}

void sys_bus_forget(struct sys_bus *bus)
{
	(void)bus;
}

int sys_bus_next(struct sys_bus *bus, struct arena *arena, unsigned timeout_ms, struct sys_bus_reply *ret,
		 struct err *err)
{
	(void)bus, (void)arena, (void)timeout_ms, (void)ret;
	return err_set(err, EOPNOTSUPP, "D-Bus", "this hvtune was built without libsystemd");
}

void sys_notify_ready(void)
{
}
