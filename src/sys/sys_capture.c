/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns writing a capture. The form of the archive is told in sys_replay.c, what is replaced in it in sys_anonymise.c.
 * All looks are gone through twice: a name that stands in the last file must be gone from the first one.
 */
#include "sys_capture.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys_anonymise.h"
#include "text.h"

#define TOP "hvtune-capture"

static const struct {
	const char *suffix;
	int filter; /* of libarchive */
} formats[] = {
    {".tar.xz", ARCHIVE_FILTER_XZ},
    {".tar.zst", ARCHIVE_FILTER_ZSTD},
    {".tar.gz", ARCHIVE_FILTER_GZIP},
    {".tar", ARCHIVE_FILTER_NONE},
};

struct writer {
	const struct sys *sys;
	const struct capture_request *request;
	struct capture_result result;
	struct sys_anonymiser *anonymiser;
	struct archive *archive;
	json_t *lists, *links, *unreadable, *absent; /* of the manifest */
	size_t done;				     /* looks gone through, of twice as many */
	time_t now;
	const char *error_path; /* the archive, for messages */
	struct err *err;
};

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int filter_of(const char *path)
{
	size_t length = strlen(path);

	if (is_stdout(path))
		return formats[0].filter;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		size_t suffix = strlen(formats[i].suffix);

		if (length > suffix && strcmp(path + length - suffix, formats[i].suffix) == 0)
			return formats[i].filter;
	}
	return -EINVAL;
}

static int exists(const char *path, struct err *err)
{
	(void)err_set(err, EEXIST, path, "exists already, and is left as it is");
	(void)err_hint(err, "--force overwrites it, -o FILE writes another");
	return -EEXIST;
}

int sys_capture_check(const char *path, bool overwrite, struct err *err)
{
	struct stat info;

	if (is_stdout(path) && isatty(STDOUT_FILENO)) {
		(void)err_set(err, ENOTTY, "standard output", "this is a terminal, and an archive is no text");
		return err_hint(err, "send it on: hvtune capture -o - > host.tar.xz");
	}
	if (is_stdout(path))
		return 0;
	if (filter_of(path) < 0)
		return err_set(err, EINVAL, path, "a name ending in .tar.xz, .tar.zst, .tar.gz or .tar was expected");
	if (lstat(path, &info) < 0)
		return errno == ENOENT ? 0 : err_set(err, errno, path, "cannot write there: %s", strerror(errno));
	if (!overwrite)
		return exists(path, err);
	if (!S_ISREG(info.st_mode))
		return err_set(err, EINVAL, path, "is no file, and is left as it is");
	return 0;
}

/* ---- the archive ---- */

static int archive_failed(const struct writer *writer)
{
	/* libarchive's own words for what the system refused are "Write error". */
	const int errnum = archive_errno(writer->archive);
	const char *why = errnum > 0 ? strerror(errnum) : archive_error_string(writer->archive);

	return err_set(writer->err, EIO, writer->error_path, "cannot write: %s", why ? why : "unknown reason");
}

static bool was_stopped(void)
{
	sigset_t pending;

	(void)sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP);
}

static int put_file(struct writer *writer, const char *name, const char *data, size_t size)
{
	struct archive_entry *entry = archive_entry_new();

	if (!entry)
		err_no_memory();
	archive_entry_set_pathname(entry, name);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, writer->now, 0);
	int r = archive_write_header(writer->archive, entry);

	archive_entry_free(entry);
	if (r < ARCHIVE_WARN || (size && archive_write_data(writer->archive, data, size) != (la_ssize_t)size))
		return archive_failed(writer);
	return 0;
}

/* ---- looks ---- */

/* jansson takes UTF-8 only; what is not stays out, as no path or name of the kernel's is otherwise. */
static void set_new(json_t *object, const char *key, json_t *value)
{
	(void)json_object_set_new(object, key, value);
}

static int put_value(struct writer *writer, struct arena *arena, const struct sys_look *look, const char *path)
{
	size_t size;
	const char *data = sys_anonymise_contents(writer->anonymiser, arena, look->path, look->data, look->size, &size);

	if (!writer->archive)
		return 0;
	writer->result.file_count++;
	return put_file(writer, arena_printf(arena, TOP "/" CAPTURE_ROOT "%s", path), data, size);
}

static void put_list(struct writer *writer, struct arena *arena, const struct sys_look *look, const char *path)
{
	json_t *names = json_array();

	for (size_t i = 0; i < look->size; i++)
		(void)json_array_append_new(
		    names, json_string(sys_anonymise_name(writer->anonymiser, arena, look->path, look->names[i])));
	set_new(writer->lists, path, names);
}

static void put_unreadable(struct writer *writer, const struct sys_look *look, const char *path)
{
	const char *name = strerrorname_np(look->errnum);

	(void)json_array_append_new(writer->unreadable,
				    json_pack("{s:s, s:s, s:s}", "path", path, "kind",
					      sys_capture_kind_name(look->kind), "errno", name ? name : "EIO"));
}

static int put_look(struct writer *writer, struct arena *arena, const struct sys_look *look)
{
	const char *path = sys_anonymise_path(writer->anonymiser, arena, look->path);

	if (look->state == SYS_UNREADABLE)
		put_unreadable(writer, look, path);
	else if (look->state == SYS_ABSENT)
		(void)json_array_append_new(writer->absent, json_string(path));
	else if (look->kind == SYS_FILE)
		return put_value(writer, arena, look, path);
	else if (look->kind == SYS_DIR)
		put_list(writer, arena, look, path);
	else
		set_new(writer->links, path,
			json_string(sys_anonymise_target(writer->anonymiser, arena, look->path, look->data)));
	return 0;
}

static void clear_manifest(struct writer *writer)
{
	json_decref(writer->lists);
	json_decref(writer->links);
	json_decref(writer->unreadable);
	json_decref(writer->absent);
	writer->lists = json_object();
	writer->links = json_object();
	writer->unreadable = json_array();
	writer->absent = json_array();
}

/* One time through all looks: learning names while there is no archive yet, then writing. */
static int go_through(struct writer *writer)
{
	size_t twice = 2 * sys_look_count(writer->sys);

	clear_manifest(writer);
	for (const struct sys_look *look = sys_first_look(writer->sys); look; look = look->next) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		int r = put_look(writer, arena, look);

		if (r < 0)
			return r;
		if (was_stopped())
			return err_set(writer->err, EINTR, writer->error_path, "stopped; nothing was written");
		if (writer->request->progress && writer->done++ % 64 == 0)
			writer->request->progress(writer->request->context, (int)(writer->done * 100 / twice));
	}
	return 0;
}

static int put_manifest(struct writer *writer)
{
	char date[16] = "";
	struct tm day;

	if (gmtime_r(&writer->now, &day))
		(void)strftime(date, sizeof(date), "%Y-%m-%d", &day);
	json_t *manifest = json_pack("{s:i, s:s, s:s, s:O, s:O, s:O, s:O}", "schema", CAPTURE_SCHEMA, "hvtune",
				     writer->request->version, "date", date, "lists", writer->lists, "links",
				     writer->links, "unreadable", writer->unreadable, "absent", writer->absent);
	char *text = manifest ? json_dumps(manifest, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;

	if (!text)
		err_no_memory();
	int r = put_file(writer, TOP "/" CAPTURE_MANIFEST, text, strlen(text));

	free(text);
	json_decref(manifest);
	return r;
}

static int put_hwloc(struct writer *writer)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	size_t size;

	if (!writer->request->hwloc_xml)
		return 0;
	const char *xml = sys_anonymise_contents(writer->anonymiser, arena, "/sys/" CAPTURE_HWLOC,
						 writer->request->hwloc_xml, writer->request->hwloc_size, &size);

	return put_file(writer, TOP "/" CAPTURE_HWLOC, xml, size);
}

static int open_archive(struct writer *writer, int fd)
{
	struct archive *archive = writer->archive = archive_write_new();

	if (!archive)
		err_no_memory();
	if (archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
	    archive_write_add_filter(archive, filter_of(writer->request->path)) < ARCHIVE_WARN ||
	    archive_write_open_fd(archive, fd) != ARCHIVE_OK)
		return archive_failed(writer);
	return 0;
}

static int write_archive(struct writer *writer, int fd)
{
	int r = go_through(writer);

	r = r < 0 ? r : open_archive(writer, fd);
	r = r < 0 ? r : go_through(writer);
	r = r < 0 ? r : put_manifest(writer);
	r = r < 0 ? r : put_hwloc(writer);
	if (r == 0 && archive_write_close(writer->archive) != ARCHIVE_OK)
		r = archive_failed(writer);
	return r;
}

/* ---- the file ---- */

/* What is written to before it has its name. */
struct output {
	int fd;
	char temporary[4096]; /* "" where it has no name at all, and is gone with us whatever ends us */
};

static void draw_name(const char *path, char *name, size_t room)
{
	uint32_t number = 0;

	(void)!getrandom(&number, sizeof(number), 0);
	(void)snprintf(name, room, "%s.%08x.part", path, number);
}

/* How a file without a name is found, to give it one. */
static void path_of_open(int fd, char name[static 32])
{
	(void)snprintf(name, 32, "/proc/self/fd/%d", fd);
}

/* -1 where the file system has no such files, or /proc is not there to name one by. */
static int open_nameless(const char *path)
{
	char folder[4096], name[32];
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) + 1 : 0;

	if (snprintf(folder, sizeof(folder), "%.*s.", length, path) >= (int)sizeof(folder))
		return -1;
	int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	path_of_open(fd, name);
	if (access(name, F_OK) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

/* A new file where the archive is to be, which only the user can read. */
static int open_output(const char *path, struct output *output, struct err *err)
{
	/* The name of the longest temporary file must fit too. */
	if (strlen(path) + 32 > sizeof(output->temporary))
		return err_set(err, ENAMETOOLONG, path, "cannot write there: the name is too long");
	output->temporary[0] = '\0';
	output->fd = open_nameless(path);
	for (int i = 0; output->fd < 0 && i < 8; i++) {
		draw_name(path, output->temporary, sizeof(output->temporary));
		output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (output->fd < 0 && errno != EEXIST)
			break;
	}
	return output->fd < 0 ? err_set(err, errno, path, "cannot write there: %s", strerror(errno)) : 0;
}

static int name_nameless(struct output *output, const struct capture_request *request)
{
	char name[32];

	path_of_open(output->fd, name);
	if (!request->overwrite)
		return linkat(AT_FDCWD, name, AT_FDCWD, request->path, AT_SYMLINK_FOLLOW);
	/* A link takes no other's place, a name does. */
	draw_name(request->path, output->temporary, sizeof(output->temporary));
	if (linkat(AT_FDCWD, name, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) < 0) {
		output->temporary[0] = '\0';
		return -1;
	}
	return rename(output->temporary, request->path);
}

static int rename_new(const char *temporary, const char *path)
{
	int r = renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE);

	/* Some file systems know no such rename. */
	if (r < 0 && (errno == EINVAL || errno == ENOSYS)) {
		r = link(temporary, path);
		if (r == 0)
			(void)unlink(temporary);
	}
	return r;
}

/* Give the file its name; without `overwrite` never in the place of another that came meanwhile. */
static int give_name(struct output *output, const struct capture_request *request, struct err *err)
{
	int r = !output->temporary[0] ? name_nameless(output, request)
		: request->overwrite  ? rename(output->temporary, request->path)
				      : rename_new(output->temporary, request->path);

	if (r == 0)
		return 0;
	return errno == EEXIST ? exists(request->path, err)
			       : err_set(err, errno, request->path, "cannot write there: %s", strerror(errno));
}

/* Close; what has no final name is cleared away. */
static void close_output(struct output *output, bool failed)
{
	(void)close(output->fd);
	if (failed && output->temporary[0])
		(void)unlink(output->temporary);
}

/* `output` NULL: to standard output, where there is nothing to name. */
static int write_file(struct writer *writer, struct output *output)
{
	struct stat info;
	int r = write_archive(writer, output ? output->fd : STDOUT_FILENO);

	(void)archive_write_free(writer->archive);
	if (r < 0 || !output)
		return r;
	if (fsync(output->fd) < 0 || fstat(output->fd, &info) < 0)
		return err_set(writer->err, errno, writer->error_path, "cannot write: %s", strerror(errno));
	if (was_stopped())
		return err_set(writer->err, EINTR, writer->error_path, "stopped; nothing was written");
	writer->result.size_bytes = (uint64_t)info.st_size;
	return give_name(output, writer->request, writer->err);
}

int sys_capture_write(const struct sys *sys, const struct capture_request *request, struct capture_result *ret,
		      struct err *err)
{
	struct output output = {.fd = -1};
	sigset_t stops, before;
	int r = sys_capture_check(request->path, request->overwrite, err);

	if (r < 0)
		return r;
	/* Signals wait, so that what is half done is cleared away before they take effect. */
	(void)sigemptyset(&stops);
	(void)sigaddset(&stops, SIGINT);
	(void)sigaddset(&stops, SIGTERM);
	(void)sigaddset(&stops, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &stops, &before);
	CLEANUP(sys_anonymiser_free_pointer) struct sys_anonymiser *anonymiser = sys_anonymiser_new();
	struct writer writer = {.sys = sys,
				.request = request,
				.anonymiser = anonymiser,
				.now = time(NULL),
				.error_path = is_stdout(request->path) ? "standard output" : request->path,
				.err = err};
	bool to_file = !is_stdout(request->path);

	r = to_file ? open_output(request->path, &output, err) : 0;
	if (r == 0) {
		r = write_file(&writer, to_file ? &output : NULL);
		if (to_file)
			close_output(&output, r < 0);
	}
	json_decref(writer.lists);
	json_decref(writer.links);
	json_decref(writer.unreadable);
	json_decref(writer.absent);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return r;
	writer.result.look_count = sys_look_count(sys);
	writer.result.replaced_count = sys_anonymiser_count(anonymiser);
	for (const struct sys_look *look = sys_first_look(sys); look; look = look->next)
		writer.result.unreadable_count += look->state == SYS_UNREADABLE;
	*ret = writer.result;
	return 0;
}
