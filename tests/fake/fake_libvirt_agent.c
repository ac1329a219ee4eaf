/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the library in the place of libvirt-qemu's: the agents of guests that are directories; see fake_libvirt.h. It
 * answers as qemu-ga and libvirt do, over files of the guest's root; a program is done at once, and said to run still
 * when it is first asked about.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATH = 4096, TEXT = 65536, HANDLES = 16 };

int fake_libvirt_fail(int code, const char *message);
int fake_libvirt_guest(virDomainPtr domain, char *ret, size_t size);

static _Thread_local FILE *files[HANDLES];
static _Thread_local struct {
	int asked, code;
	char output[TEXT];
} program;

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *to_base64(const char *data, size_t size)
{
	char *text = calloc(size / 3 + 2, 4), *at = text;

	for (size_t i = 0; text && i < size; i += 3) {
		unsigned a = (unsigned char)data[i], b = i + 1 < size ? (unsigned char)data[i + 1] : 0;
		unsigned c = i + 2 < size ? (unsigned char)data[i + 2] : 0;

		*at++ = digits[a >> 2];
		*at++ = digits[(a & 3) << 4 | b >> 4];
		*at++ = i + 1 < size ? digits[(b & 15) << 2 | c >> 6] : '=';
		*at++ = i + 2 < size ? digits[c & 63] : '=';
	}
	return text;
}

static size_t from_base64(const char *text, char *ret)
{
	unsigned bits = 0, count = 0;
	size_t size = 0;

	for (; *text && *text != '='; text++) {
		bits = bits << 6 | (unsigned)(strchr(digits, *text) - digits);
		count += 6;
		if (count >= 8)
			ret[size++] = (char)(bits >> (count -= 8));
	}
	return size;
}

static json_t *open_file(const char *root, const json_t *arguments, const char **ret_error)
{
	const char *path = json_string_value(json_object_get(arguments, "path"));
	const char *mode = json_string_value(json_object_get(arguments, "mode"));
	char full[2 * PATH];
	int handle = 0;

	(void)snprintf(full, sizeof(full), "%s%s", root, path);
	while (handle < HANDLES && files[handle])
		handle++;
	if (handle == HANDLES || !(files[handle] = fopen(full, mode))) {
		*ret_error = "failed to open file (mode: 'r'): No such file or directory";
		return NULL;
	}
	return json_integer(handle);
}

static json_t *use_file(const char *name, const json_t *arguments, const char **ret_error)
{
	json_int_t handle = json_integer_value(json_object_get(arguments, "handle"));
	FILE *file = handle >= 0 && handle < HANDLES ? files[handle] : NULL;
	char data[TEXT];
	json_t *done;

	if (!file) {
		*ret_error = "handle has not been opened";
		return NULL;
	}
	if (strcmp(name, "guest-file-read") == 0) {
		/* Less than was asked for, as the agent may. */
		size_t size = fread(data, 1, 100, file);
		char *text = to_base64(data, size);

		done = json_pack("{s:i,s:s,s:b}", "count", (int)size, "buf-b64", text, "eof", feof(file) ? 1 : 0);
		free(text);
		return done;
	}
	if (strcmp(name, "guest-file-write") == 0) {
		size_t size = from_base64(json_string_value(json_object_get(arguments, "buf-b64")), data);

		size = fwrite(data, 1, size, file);
		return json_pack("{s:i,s:b}", "count", (int)size, "eof", 0);
	}
	if (strcmp(name, "guest-file-flush") == 0) {
		(void)fflush(file);
	} else {
		(void)fclose(file);
		files[handle] = NULL;
	}
	return json_object();
}

/* ---- programs ---- */

static int copy(const char *from, const char *to, const char *mode)
{
	FILE *in = fopen(from, "r"), *out = in ? fopen(to, mode) : NULL;
	struct stat status;
	int c;

	if (in && !out)
		(void)fclose(in);
	if (!out)
		return -1;
	while ((c = fgetc(in)) != EOF)
		(void)fputc(c, out);
	if (fstat(fileno(in), &status) == 0)
		(void)fchmod(fileno(out), status.st_mode & 0777);
	(void)fclose(in);
	return fclose(out);
}

static void list_snippets(const char *root, char *ret, size_t size)
{
	char path[2 * PATH];
	struct dirent *entry;
	DIR *directory;

	(void)snprintf(path, sizeof(path), "%s/etc/default/grub.d", root);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (strlen(entry->d_name) > 4 && strcmp(entry->d_name + strlen(entry->d_name) - 4, ".cfg") == 0)
			(void)snprintf(ret + strlen(ret), size - strlen(ret), "/etc/default/grub.d/%s\n",
				       entry->d_name);
	if (directory)
		(void)closedir(directory);
}

static int make_menu(const char *root, const char *menu)
{
	char from[2 * PATH], to[2 * PATH], list[TEXT] = "";

	(void)snprintf(from, sizeof(from), "%s/etc/default/grub", root);
	(void)snprintf(to, sizeof(to), "%s%s", root, menu);
	if (copy(from, to, "w") < 0)
		return 1;
	list_snippets(root, list, sizeof(list));
	for (char *line = strtok(list, "\n"); line; line = strtok(NULL, "\n")) {
		(void)snprintf(from, sizeof(from), "%s%s", root, line);
		(void)copy(from, to, "a");
	}
	return 0;
}

static int show(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(program.output, 1, sizeof(program.output) - 1, file) : 0;

	program.output[got] = '\0';
	if (file)
		(void)fclose(file);
	return file ? 0 : 1;
}

static json_t *run(const char *root, const json_t *arguments, const char **ret_error)
{
	const char *name = json_string_value(json_object_get(arguments, "path"));
	const json_t *words = json_object_get(arguments, "arg");
	size_t count = json_array_size(words);
	char path[2][2 * PATH];

	program.asked = program.code = 0;
	program.output[0] = '\0';
	for (size_t i = 0; i < 2; i++)
		(void)snprintf(path[i], sizeof(path[i]), "%s%s", root,
			       count > i ? json_string_value(json_array_get(words, count > 1 ? count - 2 + i : i))
					 : "");
	if (strcmp(name, "cp") == 0)
		program.code = copy(path[0], path[1], "w") < 0;
	else if (strcmp(name, "mv") == 0)
		program.code = rename(path[0], path[1]) < 0;
	else if (strcmp(name, "rm") == 0)
		program.code = unlink(path[1]) < 0;
	else if (strcmp(name, "sync") == 0)
		program.code = access(path[0], F_OK) < 0;
	else if (strcmp(name, "find") == 0)
		list_snippets(root, program.output, sizeof(program.output));
	else if (strcmp(name, "cat") == 0)
		program.code = show(path[0]);
	else if (strcmp(name, "sh") == 0)
		program.code = 0; /* that what it looks for is there */
	else if (strcmp(name, "/usr/sbin/update-grub") == 0)
		program.code = make_menu(root, "/boot/grub/grub.cfg");
	else if (strcmp(name, "/usr/sbin/grub2-mkconfig") == 0)
		program.code = make_menu(root, "/boot/grub2/grub.cfg");
	else
		*ret_error = "Failed to execute child process (No such file or directory)";
	return *ret_error ? NULL : json_pack("{s:i}", "pid", 77);
}

static json_t *look_at_program(void)
{
	char *text;
	json_t *done;

	if (program.asked++ == 0)
		return json_pack("{s:b}", "exited", 0);
	text = to_base64(program.output, strlen(program.output));
	done = json_pack("{s:b,s:i,s:s,s:s}", "exited", 1, "exitcode", program.code, "out-data", text, "err-data", "");
	free(text);
	return done;
}

/* ---- a real agent behind a socket ---- */

/* The file beside the guest's root with that ending. */
static const char *beside(const char *root, const char *ending, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%.*s%s", (int)(strlen(root) - strlen("guest")), root, ending);
	return ret;
}

/* One line there and one back, as libvirt does it. The agent takes one connection at a time: it is kept. */
static char *ask_once(const char *path, const char *cmd, int timeout, int *ret_old)
{
	static int fd = -1;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval limit = {.tv_sec = timeout > 0 ? timeout : 10};
	size_t size = 0, room = 64 << 20;
	char *text = malloc(room);
	ssize_t got = 1;

	if (strlen(path) >= sizeof(address.sun_path))
		abort();
	memcpy(address.sun_path, path, strlen(path) + 1);
	*ret_old = fd >= 0;
	if (fd < 0) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
			(void)close(fd);
			fd = -1;
		}
	}
	if (!text || fd < 0 || send(fd, cmd, strlen(cmd), MSG_NOSIGNAL) < 0 || send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
		got = 0;
	while (got > 0 && size < room - 1 && (!size || text[size - 1] != '\n')) {
		got = recv(fd, text + size, room - 1 - size, 0);
		size += got > 0 ? (size_t)got : 0;
	}
	if (got > 0) {
		text[size] = '\0';
		return text;
	}
	free(text);
	if (fd >= 0)
		(void)close(fd);
	fd = -1;
	return NULL;
}

/* The guest may have been restarted since, and its agent with it. */
static char *ask_real(const char *path, const char *cmd, int timeout)
{
	int old = 0;
	char *text = ask_once(path, cmd, timeout, &old);

	if (!text && old)
		text = ask_once(path, cmd, timeout, &old);
	if (!text)
		(void)fake_libvirt_fail(VIR_ERR_AGENT_UNRESPONSIVE,
					"Guest agent is not responding: QEMU guest agent is not connected");
	return text;
}

/* What libvirt makes of the agent's answer: an error is its own, and a long one comes to nobody. */
static char *judge_real(char *text, const json_t *request)
{
	json_t *answer = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *error = json_object_get(answer, "error");
	char message[1024];

	if (error) {
		(void)snprintf(message, sizeof(message),
			       "internal error: unable to execute QEMU agent command '%s': %s",
			       json_string_value(json_object_get(request, "execute")),
			       json_string_value(json_object_get(error, "desc")));
		(void)fake_libvirt_fail(VIR_ERR_INTERNAL_ERROR, message);
	} else if (text && strlen(text) > 4194304) {
		(void)fake_libvirt_fail(VIR_ERR_RPC, "Unable to encode message payload");
	} else {
		json_decref(answer);
		return text;
	}
	json_decref(answer);
	free(text);
	return NULL;
}

/* What it is asked that files of a guest tell beside it: its boot id and the line of its kernel. */
static int is_of_guest(const char *cmd, const char *root)
{
	static int asked;
	int it = strstr(cmd, "\"path\": \"cat\"") || strstr(cmd, "\"path\":\"cat\"");

	if (access(root, F_OK) < 0)
		return 0;
	it = it || (asked && strstr(cmd, "\"pid\":77}"));
	asked = it;
	return it;
}

/* ---- the call ---- */

static int is_blocked(const char *root, const char *name)
{
	char path[PATH], text[256] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "%.*sblocked", (int)(strlen(root) - strlen("guest")), root);
	file = fopen(path, "r");
	if (!file)
		return 0;
	(void)fgets(text, sizeof(text), file);
	(void)fclose(file);
	return strncmp(text, name, strlen(name)) == 0 && text[strlen(name)] == '\n';
}

char *virDomainQemuAgentCommand(virDomainPtr domain, const char *cmd, int timeout, unsigned flags)
{
	char root[PATH], message[PATH + 16];
	const char *error = NULL, *name;
	json_t *request, *done = NULL, *arguments;
	char *text;

	(void)flags;
	if (fake_libvirt_guest(domain, root, sizeof(root))) {
		(void)fake_libvirt_fail(VIR_ERR_OPERATION_DENIED, "operation forbidden for read only access");
		return NULL;
	}
	if (access(beside(root, "mute", message, sizeof(message)), F_OK) == 0) {
		(void)fake_libvirt_fail(VIR_ERR_ARGUMENT_UNSUPPORTED,
					"argument unsupported: QEMU guest agent is not configured");
		return NULL;
	}
	if (access(beside(root, "silent", message, sizeof(message)), F_OK) == 0) {
		(void)fake_libvirt_fail(VIR_ERR_AGENT_UNRESPONSIVE,
					"Guest agent is not responding: QEMU guest agent is not connected");
		return NULL;
	}
	if (access(beside(root, "agent", message, sizeof(message)), F_OK) == 0 && !is_of_guest(cmd, root)) {
		request = json_loads(cmd, 0, NULL);
		text = judge_real(ask_real(message, cmd, timeout), request);
		json_decref(request);
		return text;
	}
	if (access(root, F_OK) < 0) {
		(void)fake_libvirt_fail(VIR_ERR_AGENT_UNRESPONSIVE,
					"Guest agent is not responding: QEMU guest agent is not connected");
		return NULL;
	}
	request = json_loads(cmd, 0, NULL);
	name = json_string_value(json_object_get(request, "execute"));
	arguments = json_object_get(request, "arguments");
	if (!name)
		error = "Invalid JSON";
	else if (is_blocked(root, name))
		error = "Command guest-exec has been disabled: the command is not allowed";
	else if (strcmp(name, "guest-file-open") == 0)
		done = open_file(root, arguments, &error);
	else if (strcmp(name, "guest-exec") == 0)
		done = run(root, arguments, &error);
	else if (strcmp(name, "guest-exec-status") == 0)
		done = look_at_program();
	else
		done = use_file(name, arguments, &error);
	if (!done) {
		(void)snprintf(message, sizeof(message),
			       "internal error: unable to execute QEMU agent command '%s': %s", name ? name : "",
			       error ? error : "");
		(void)fake_libvirt_fail(VIR_ERR_INTERNAL_ERROR, message);
		json_decref(request);
		return NULL;
	}
	json_decref(request);
	done = json_pack("{s:o}", "return", done);
	text = json_dumps(done, 0);
	json_decref(done);
	return text;
}
