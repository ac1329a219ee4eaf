/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in knob_guest_agent.h. */
#include "knob_guest_agent.h"

#include <errno.h>
#include <jansson.h>
#include <time.h>

#include "knob_libvirt.h"
#include "text.h"

enum { TEXT_LIMIT = 1024 * 1024, READ_BYTES = 65536, WRITE_BYTES = 32768, WAIT_MS = 120000, POLL_MS_MOST = 250 };

/* ---- base64 (RFC 4648), in which the agent has all contents ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static const char *to_base64(struct arena *arena, const char *data, size_t size)
{
	char *text = arena_array(arena, (size + 2) / 3 + 1, 4), *at = text;

	for (size_t i = 0; i < size; i += 3) {
		size_t bytes = MIN_OF(size - i, (size_t)3);
		uint32_t group = 0;

		for (size_t j = 0; j < 3; j++)
			group = group << 8 | (j < bytes ? (unsigned char)data[i + j] : 0);
		for (size_t j = 0; j < 4; j++)
			*at++ = j <= bytes ? digits[group >> (18 - 6 * j) & 63] : '=';
	}
	*at = '\0';
	return text;
}

static int from_base64(struct arena *arena, const char *text, const char **ret, size_t *ret_size)
{
	size_t length = strcspn(text, "="), size = 0;
	char *data = arena_array(arena, length + 1, 1);
	uint32_t bits = 0;
	unsigned count = 0;

	for (size_t i = 0; i < length; i++) {
		const char *digit = strchr(digits, text[i]);

		if (!digit)
			return -EPROTO;
		bits = bits << 6 | (uint32_t)(digit - digits);
		count += 6;
		if (count >= 8) {
			count -= 8;
			data[size++] = (char)(bits >> count & 0xff);
		}
	}
	data[size] = '\0';
	*ret = data;
	*ret_size = size;
	return 0;
}

/* ---- commands ---- */

static void free_json(json_t **json)
{
	json_decref(*json);
}

/* What the agent says of a command that it may not carry out, in all its versions. */
static int explain(const char *command, int r, struct err *err)
{
	if (r == -ENOTCONN)
		(void)err_hint(err, "install and start qemu-guest-agent in the guest, and wait for it if it boots; "
				    "systemctl status qemu-guest-agent there says why it does not answer");
	if (r == -ENOTSUP)
		(void)err_hint(err, "the VM has no channel for a guest agent: give it one with <channel type='unix'> "
				    "<target type='virtio' name='org.qemu.guest_agent.0'/> in virsh edit, and start it "
				    "anew");
	if (r != -EIO || (!strstr(err->what, "has been disabled") && !strstr(err->what, "not allowed") &&
			  !strstr(err->what, "has not been found")))
		return r;
	char where[sizeof(err->where)];

	(void)snprintf(where, sizeof(where), "%s", err->where);
	(void)err_set(err, EPERM, where, "its guest agent does not carry out %s", command);
	return err_hint(err, "allow guest-exec, guest-exec-status and guest-file-* in the guest: FILTER_RPC_ARGS or "
			     "BLOCK_RPCS (older: BLACKLIST_RPC) in /etc/sysconfig/qemu-ga, block-rpcs in "
			     "/etc/qemu/qemu-ga.conf; then restart qemu-guest-agent");
}

/* `arguments` is taken. *ret is what the answer returns, and lives as long as *ret_reply, which the caller frees. */
static int command(struct knob_machine *machine, const char *uuid, const char *change, const char *name,
		   json_t *arguments, json_t **ret_reply, json_t **ret, struct err *err)
{
	CLEANUP(free_json) json_t *request = json_pack("{s:s,s:o}", "execute", name, "arguments", arguments);
	CLEANUP(base_free) char *text = json_dumps(request, JSON_COMPACT);
	CLEANUP(base_free) char *reply = NULL;
	struct err own = {0};
	int r;

	err = err ? err : &own;
	if (!text)
		return err_set(err, EILSEQ, uuid, "what the guest is to be told is no UTF-8");
	r = knob_libvirt_agent(machine, uuid, change, text, &reply, err);
	if (r < 0 || !reply)
		return explain(name, r, err);
	*ret_reply = json_loads(reply, 0, NULL);
	*ret = json_object_get(*ret_reply, "return");
	return *ret ? 0 : err_set(err, EPROTO, uuid, "the guest agent's answer to %s has no \"return\"", name);
}

/* ---- files ---- */

static int open_file(struct knob_machine *machine, const char *uuid, const char *path, const char *mode, int64_t *ret,
		     struct err *err)
{
	CLEANUP(free_json) json_t *reply = NULL;
	json_t *handle = NULL;
	struct err own = {0};
	int r;

	/* What the agent says decides what it was. */
	err = err ? err : &own;
	r = command(machine, uuid, *mode == 'w' ? arena_printf(machine->arena, "open %s", path) : NULL,
		    "guest-file-open", json_pack("{s:s,s:s}", "path", path, "mode", mode), &reply, &handle, err);

	if (r == -EIO && (strstr(err->what, "No such file") || strstr(err->what, "cannot find the")))
		return -ENODATA;
	if (r == 0)
		*ret = json_integer_value(handle);
	return r;
}

static int close_file(struct knob_machine *machine, const char *uuid, int64_t handle, struct err *err)
{
	CLEANUP(free_json) json_t *reply = NULL;
	json_t *ignored = NULL;

	return command(machine, uuid, NULL, "guest-file-close", json_pack("{s:I}", "handle", (json_int_t)handle),
		       &reply, &ignored, err);
}

/* One piece of a file; *ret_end at its end. */
static int read_piece(struct knob_machine *machine, const char *uuid, int64_t handle, const char **ret,
		      size_t *ret_size, bool *ret_end, struct err *err)
{
	CLEANUP(free_json) json_t *reply = NULL;
	json_t *got = NULL;
	const char *text = "";
	int r = command(machine, uuid, NULL, "guest-file-read",
			json_pack("{s:I,s:i}", "handle", (json_int_t)handle, "count", READ_BYTES), &reply, &got, err);

	if (r < 0)
		return r;
	text = json_string_value(json_object_get(got, "buf-b64"));
	*ret_end = json_is_true(json_object_get(got, "eof"));
	if (!text || from_base64(machine->arena, text, ret, ret_size) < 0)
		return err_set(err, EPROTO, uuid, "the guest agent's piece of a file is no base64");
	*ret_end = *ret_end || *ret_size == 0;
	return 0;
}

int knob_guest_read(struct knob_machine *machine, const char *uuid, const char *path, const char **ret, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	char *text = arena_array(arena, TEXT_LIMIT + READ_BYTES + 1, 1);
	struct err ignored = {0};
	size_t size = 0;
	int64_t handle = 0;
	bool end = false;
	int r = open_file(machine, uuid, path, "r", &handle, err);

	if (r == -ENODATA) {
		*ret = NULL;
		return 0;
	}
	if (r < 0)
		return r;
	while (r == 0 && !end) {
		const char *piece = "";
		size_t length = 0;

		r = read_piece(machine, uuid, handle, &piece, &length, &end, err);
		if (r == 0 && size + length > TEXT_LIMIT)
			r = err_set(err, EFBIG, path, "larger than any such file (1 MiB)");
		if (r == 0)
			memcpy(text + size, piece, length);
		size += r == 0 ? length : 0;
	}
	(void)close_file(machine, uuid, handle, r < 0 ? &ignored : err);
	if (r < 0)
		return r;
	text[size] = '\0';
	if (strlen(text) != size)
		return err_set(err, EILSEQ, path, "is no text: it holds a NUL byte");
	*ret = arena_strdup(machine->arena, text);
	return 0;
}

int knob_guest_has(struct knob_machine *machine, const char *uuid, const char *path, bool *ret, struct err *err)
{
	int64_t handle = 0;
	int r = open_file(machine, uuid, path, "r", &handle, err);

	*ret = r == 0;
	if (r == 0)
		return close_file(machine, uuid, handle, err);
	return r == -ENODATA ? 0 : r;
}

static int write_piece(struct knob_machine *machine, const char *uuid, const char *path, int64_t handle,
		       const char *text, size_t size, struct err *err)
{
	CLEANUP(free_json) json_t *reply = NULL;
	json_t *done = NULL;
	int r = command(
	    machine, uuid, arena_printf(machine->arena, "write %s", path), "guest-file-write",
	    json_pack("{s:I,s:s}", "handle", (json_int_t)handle, "buf-b64", to_base64(machine->arena, text, size)),
	    &reply, &done, err);

	if (r == 0 && json_integer_value(json_object_get(done, "count")) != (json_int_t)size)
		r = err_set(err, ENOSPC, path, "could not be written whole in the guest");
	return r;
}

static int write_file(struct knob_machine *machine, const char *uuid, const char *path, const char *text,
		      struct err *err)
{
	CLEANUP(free_json) json_t *reply = NULL;
	struct err ignored = {0};
	size_t size = strlen(text);
	json_t *flushed = NULL;
	int64_t handle = 0;
	int r = open_file(machine, uuid, path, "w", &handle, err);

	if (r == -ENODATA)
		return err_set(err, EREMOTEIO, path, "the copy in the guest is gone");
	if (r < 0)
		return r;
	for (size_t at = 0; r == 0 && at < size; at += WRITE_BYTES)
		r = write_piece(machine, uuid, path, handle, text + at, MIN_OF(size - at, (size_t)WRITE_BYTES), err);
	if (r == 0)
		r = command(machine, uuid, NULL, "guest-file-flush", json_pack("{s:I}", "handle", (json_int_t)handle),
			    &reply, &flushed, err);
	if (r < 0) {
		(void)close_file(machine, uuid, handle, &ignored);
		return r;
	}
	return close_file(machine, uuid, handle, err);
}

#define COPY(path) arena_printf(machine->arena, "%s.hvtune", path)

int knob_guest_replace(struct knob_machine *machine, const char *uuid, const char *path, const char *text,
		       struct err *err)
{
	const char *copy = COPY(path), *read = NULL;
	/* A file that the agent makes anew may be written by everybody: it is a copy first. */
	const char *const make[] = {"cp", "-p", "--", path, copy, NULL}, *const sync[] = {"sync", copy, NULL};
	const char *const move[] = {"mv", "-f", "-T", "--", copy, path, NULL}, *const sync_all[] = {"sync", path, NULL};
	int r = knob_guest_run(machine, uuid, true, make, NULL, err);

	if (r == 0)
		r = write_file(machine, uuid, copy, text, err);
	if (r == 0)
		r = knob_guest_run(machine, uuid, false, sync, NULL, err);
	if (r == 0)
		r = knob_guest_read(machine, uuid, copy, &read, err);
	if (r == 0 && !text_equal(read, text))
		r = err_set(err, EREMOTEIO, copy, "was written in the guest and reads back otherwise");
	if (r == 0)
		r = knob_guest_run(machine, uuid, true, move, NULL, err);
	return r < 0 ? r : knob_guest_run(machine, uuid, false, sync_all, NULL, err);
}

int knob_guest_tidy(struct knob_machine *machine, const char *uuid, const char *path, struct err *err)
{
	const char *const argv[] = {"rm", "-f", "--", COPY(path), NULL};
	bool left = false;
	int r = knob_guest_has(machine, uuid, COPY(path), &left, err);

	return r < 0 || !left ? r : knob_guest_run(machine, uuid, true, argv, NULL, err);
}

/* ---- programs ---- */

static const char *last_line(struct arena *arena, const char *text)
{
	size_t end = strlen(text), start;

	while (end && strchr("\r\n \t", text[end - 1]))
		end--;
	for (start = end; start && text[start - 1] != '\n'; start--)
		;
	return arena_strndup(arena, text + start, end - start);
}

/* The stream of that name in the agent's answer; "" when there is none. */
static void take_stream(struct arena *arena, const json_t *status, const char *which, const char **ret,
			size_t *ret_size)
{
	const char *text = json_string_value(json_object_get(status, which));

	if (!text || from_base64(arena, text, ret, ret_size) < 0) {
		*ret = "";
		*ret_size = 0;
	}
}

int knob_guest_start(struct knob_machine *machine, const char *uuid, const char *change,
		     const struct knob_guest_command *start, struct knob_guest_program *ret, struct err *err)
{
	CLEANUP(free_json) json_t *reply = NULL;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	json_t *words = json_array(), *arguments, *started = NULL;
	struct err own = {0};
	int r;

	err = err ? err : &own;
	for (size_t i = 1; start->argv[i]; i++)
		(void)json_array_append_new(words, json_string(start->argv[i]));
	arguments = json_pack("{s:s,s:o,s:b}", "path", start->argv[0], "arg", words, "capture-output", 1);
	if (start->input)
		(void)json_object_set_new(arguments, "input-data",
					  json_string(to_base64(arena, start->input, start->input_size)));
	r = command(machine, uuid, change, "guest-exec", arguments, &reply, &started, err);
	if (r == -EIO && strstr(err->what, "execute child process"))
		return err_set(err, ENOEXEC, start->argv[0], "there is no such program in the guest");
	if (r == 0)
		*ret = (struct knob_guest_program){.pid = json_integer_value(json_object_get(started, "pid"))};
	return r;
}

int knob_guest_look(struct knob_machine *machine, const char *uuid, struct arena *arena,
		    struct knob_guest_program *program, struct err *err)
{
	CLEANUP(free_json) json_t *reply = NULL;
	json_t *status = NULL, *signal;
	int r = command(machine, uuid, NULL, "guest-exec-status", json_pack("{s:I}", "pid", (json_int_t)program->pid),
			&reply, &status, err);

	if (r < 0 || !json_is_true(json_object_get(status, "exited")))
		return r;
	signal = json_object_get(status, "signal");
	program->ended = true;
	program->signal = (int)json_integer_value(signal);
	program->exit_code = signal ? -1 : (int)json_integer_value(json_object_get(status, "exitcode"));
	take_stream(arena, status, "out-data", &program->output, &program->output_size);
	take_stream(arena, status, "err-data", &program->errors, &program->errors_size);
	return 0;
}

static const char *words_of(struct arena *arena, const char *const *argv)
{
	const char *line = argv[0];

	for (size_t i = 1; argv[i]; i++)
		line = arena_printf(arena, "%s %s", line, argv[i]);
	return line;
}

int knob_guest_run(struct knob_machine *machine, const char *uuid, bool changes, const char *const *argv,
		   const char **ret_output, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct knob_guest_command start = {.argv = argv};
	struct knob_guest_program program = {0};
	int r = knob_guest_start(machine, uuid, changes ? words_of(arena, argv) : NULL, &start, &program, err);

	for (int waited_ms = 0, poll_ms = 5; r == 0 && !program.ended; waited_ms += poll_ms) {
		const struct timespec moment = {.tv_nsec = poll_ms * 1000000L};

		r = knob_guest_look(machine, uuid, arena, &program, err);
		if (r < 0 || program.ended)
			break;
		if (waited_ms >= WAIT_MS)
			return err_set(err, ETIMEDOUT, argv[0], "does not end in the guest for %d seconds",
				       WAIT_MS / 1000);
		(void)nanosleep(&moment, NULL);
		poll_ms = MIN_OF(2 * poll_ms, POLL_MS_MOST);
	}
	if (r == 0 && program.exit_code != 0)
		r = err_set(err, EREMOTEIO, argv[0], "failed in the guest: %s", last_line(arena, program.errors));
	if (r == 0 && ret_output)
		*ret_output = arena_strdup(machine->arena, program.output);
	return r;
}
