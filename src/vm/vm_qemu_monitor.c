/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the monitors of a command line: sockets on which QEMU itself answers to QMP. */
#include "text.h"
#include "vm_qemu_internal.h"

/* More are left out: they are asked one after another. */
enum { SOCKETS_MAX = 4 };

/* "server", "server=on", "server,nowait", "server=on,wait=off": bare words are on, "no" in front is off. */
static bool is_on(const struct qemu_options *options, const char *key, const char *negative, bool otherwise)
{
	int value = qemu_switch(qemu_option(options, key));

	if (qemu_option(options, negative))
		return false;
	return value < 0 ? otherwise : value == 1;
}

static void take_socket(struct qemu_reader *reader, const struct qemu_options *options)
{
	struct vm *vm = reader->vm;
	const char *path = qemu_option(options, "path");

	if (!path || !*path || qemu_switch(qemu_option(options, "abstract")) == 1 ||
	    !is_on(options, "server", "noserver", false))
		return;
	/* One that waits for its first client before it starts the guest would be started by being asked. */
	if (is_on(options, "wait", "nowait", true)) {
		vm->qmp_waits = true;
		return;
	}
	if (!vm->qmp_sockets)
		vm->qmp_sockets = ARENA_ARRAY(vm->arena, SOCKETS_MAX, const char *);
	if (vm->qmp_socket_count < SOCKETS_MAX)
		vm->qmp_sockets[vm->qmp_socket_count++] = path;
}

/* "-qmp unix:PATH,server=on,wait=off" */
static int take_short(struct qemu_reader *reader, const char *option)
{
	static const char prefix[] = "unix:";

	for (const struct qemu_given *given = qemu_next(reader, option, NULL); given;
	     given = qemu_next(reader, option, given)) {
		struct qemu_word word = given->word;
		struct qemu_options options = {0};

		if (!text_starts(word.text, prefix))
			continue;
		word.text += strlen(prefix);
		int outcome = qemu_options_read(reader->arena, reader->path, &word, "path", &options, reader->err);

		if (outcome < 0)
			return outcome;
		take_socket(reader, &options);
	}
	return 0;
}

int qemu_fill_monitors(struct qemu_reader *reader)
{
	int outcome = take_short(reader, "qmp");

	outcome = outcome < 0 ? outcome : take_short(reader, "qmp-pretty");
	if (outcome < 0)
		return outcome;
	for (const struct qemu_given *given = qemu_next(reader, "mon", NULL); given;
	     given = qemu_next(reader, "mon", given)) {
		const struct qemu_given *chardev =
		    qemu_find(reader, "chardev", "id", qemu_option(&given->options, "chardev"));

		if (chardev && text_equal(qemu_option(&given->options, "mode"), "control") &&
		    text_equal(chardev->first, "socket"))
			take_socket(reader, &chardev->options);
	}
	return 0;
}
