/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns power by a command that prints watts: the first number in its last line that has one. It is started without a
 * shell unless "shell = yes" asks for one, with a clean environment, and has ten seconds.
 */
#include <errno.h>

#include "meter_answer.h"
#include "meter_driver.h"
#include "sys_write.h"
#include "text.h"

enum { MOST_S = 10 };

struct command {
	struct meter_device device; /* first */
	const char *const *words;
};

static int open_command(struct meter_set *set, struct meter_input *input, const struct meter_entry *entry,
			struct err *err)
{
	struct command *command = ARENA_NEW(set->arena, struct command);
	const char *text = entry->values[METER_KEY_COMMAND];
	const char **words = ARENA_ARRAY(set->arena, 4, const char *);
	struct err why = {0};

	command->device.entry = entry;
	input->self = command;
	if (entry->shell) {
		words[0] = "/bin/sh";
		words[1] = "-c";
		words[2] = text;
		command->words = words;
		return 0;
	}
	if (meter_config_words(set->arena, text, &command->words, &why) < 0)
		return err_set_at(err, EINVAL, set->config.path, entry->lines[METER_KEY_COMMAND], 0, "%s", why.what);
	return 0;
}

static void read_command(struct meter_input *input, struct meter_reading *ret)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct command *command = input->self;
	const char *output;
	int r;

	command->device.err = (struct err){0};
	r = sys_write_run_given(arena, command->words, MOST_S, &output, &command->device.err);
	if (r == 0 && meter_answer_text(output, &ret->value) < 0)
		r = err_set(&command->device.err, ENODATA, NULL, "the command printed no number");
	if (r < 0)
		meter_device_failed(&command->device, ret);
}

const struct meter_device_kind meter_command = {
    .driver = {.name = "command", .read = read_command},
    .period_s = 2,
    .open = open_command,
};
