/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading and recognising the files that lint judges. */
#include "lint_file.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

#include "text.h"
#include "vm_proxmox.h"
#include "vm_qemu_line.h"
#include "vm_xml.h"

enum { FILE_LIMIT = 1024 * 1024 };

static const char understood[] =
    "lint understands libvirt domain XML, Proxmox VM configurations, QEMU and kernel command "
    "lines, boot loader entries, GRUB default files, modprobe.d files, tuned profiles and "
    "tuned logs";

enum lint_kind lint_kind_by_name(const char *name)
{
	static const struct {
		const char *name;
		enum lint_kind kind;
	} names[] = {{"cmdline", LINT_CMDLINE},	  {"entry", LINT_ENTRY},     {"grub", LINT_GRUB},
		     {"modprobe", LINT_MODPROBE}, {"tuned", LINT_TUNED},     {"tuned-log", LINT_TUNED_LOG},
		     {"domain", LINT_DOMAIN},	  {"proxmox", LINT_PROXMOX}, {"qemu", LINT_QEMU}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_equal(names[i].name, name))
			return names[i].kind;
	return LINT_UNKNOWN;
}

static int check_contents(const char *name, const char *data, size_t size, struct err *err)
{
	bool blank = true;

	if (size > FILE_LIMIT)
		return err_set(err, EFBIG, name, "larger than %d KiB: no file that lint judges", FILE_LIMIT / 1024);
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '\0' || (data[i] > 0 && data[i] < ' ' && !isspace((unsigned char)data[i])))
			return err_set(err, EINVAL, name, "this is no text: byte %zu is 0x%02x", i + 1,
				       (unsigned)(unsigned char)data[i]);
		blank = blank && isspace((unsigned char)data[i]);
	}
	return blank ? err_set(err, EINVAL, name, "there is nothing in it") : 0;
}

int lint_file_read(struct arena *arena, const char *path, const char **ret_text, struct err *err)
{
	bool is_stdin = text_equal(path, "-");
	const char *name = is_stdin ? "standard input" : path;
	CLEANUP(base_fclose) FILE *opened = is_stdin ? NULL : fopen(path, "re");
	FILE *file = is_stdin ? stdin : opened;
	struct stat info;

	if (!*path)
		return err_set(err, EINVAL, NULL, "an empty name was given for a file");
	if (!file)
		return err_set(err, errno, name, "cannot read: %s", strerror(errno));
	if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
		return err_set(err, EISDIR, name, "this is a directory");
	char *data = arena_alloc(arena, FILE_LIMIT + 2);
	size_t size = fread(data, 1, FILE_LIMIT + 1, file);

	if (ferror(file))
		return err_set(err, errno ? errno : EIO, name, "cannot read: %s", strerror(errno ? errno : EIO));
	data[size] = '\0';
	int r = check_contents(name, data, size, err);

	/* A byte order mark and \r of other systems are no part of any of these formats. */
	if (r == 0)
		*ret_text = text_starts(data, "\xef\xbb\xbf") ? data + 3 : data;
	return r;
}

/* The first line that is neither empty nor a comment. */
static const char *first_line(const char *text)
{
	while (*text) {
		text += strspn(text, " \t\r\n");
		if (*text != '#' && *text != ';')
			break;
		text += strcspn(text, "\n");
	}
	return text;
}

/* Does a line start with one of the words (each ended by a newline in `starts`), after optional blanks? */
static bool has_line(const char *text, const char *start)
{
	for (const char *at = text; *at;) {
		const char *line = at + strspn(at, " \t");

		if (text_starts(line, start))
			return true;
		at += strcspn(at, "\n");
		at += *at != '\0';
	}
	return false;
}

static bool has_section(const char *text, const char *const *sections)
{
	for (; *sections; sections++)
		if (has_line(text, *sections))
			return true;
	return false;
}

static int refuse(struct err *err, const char *path, const char *what)
{
	(void)err_set(err, ENOTSUP, path, "this is %s, which this version does not judge", what);
	return err_hint(err, "%s", understood);
}

static bool is_tuned_log(const char *text)
{
	return strstr(text, "tuned.") &&
	       (strstr(text, "INFO ") || strstr(text, "ERROR ") || strstr(text, "WARNING ") || strstr(text, "DEBUG "));
}

static enum lint_kind kind_of_options(const char *text)
{
	/* An entry names a kernel or a title too; modprobe's options have a module behind the word. */
	return has_line(text, "linux ") || has_line(text, "title ") || has_line(text, "version ") ||
		       has_line(text, "linux\t") || has_line(text, "title\t")
		   ? LINT_ENTRY
		   : LINT_MODPROBE;
}

int lint_file_kind(const char *path, const char *text, enum lint_kind *ret, struct err *err)
{
	static const char *const tuned_sections[] = {
	    "[main]",	    "[cpu]",	 "[vm]",	 "[sysctl]",	"[sysfs]",     "[disk]",   "[net]",
	    "[bootloader]", "[modules]", "[script]",	 "[variables]", "[scheduler]", "[video]",  "[scsi_host]",
	    "[acpi]",	    "[systemd]", "[irqbalance]", "[selinux]",	"[irq]",       "[uncore]", NULL};
	static const char *const unit_sections[] = {"[Unit]", "[Service]", "[Install]", "[Slice]", NULL};
	const char *first = first_line(text);

	if (*first == '[' && has_section(text, unit_sections))
		return refuse(err, path, "a systemd unit");
	if (vm_looks_like_libvirt_xml(text, strlen(text))) {
		*ret = LINT_DOMAIN;
	} else if (vm_looks_like_proxmox(text, strlen(text))) {
		*ret = LINT_PROXMOX;
	} else if (*first == '[' && has_section(text, tuned_sections)) {
		*ret = LINT_TUNED;
	} else if (has_line(text, "GRUB_") || has_line(text, "export GRUB_")) {
		*ret = LINT_GRUB;
	} else if (vm_looks_like_qemu_line(text, strlen(text))) {
		*ret = LINT_QEMU;
	} else if (has_line(text, "options ") || has_line(text, "options\t")) {
		*ret = kind_of_options(text);
	} else if (is_tuned_log(text)) {
		*ret = LINT_TUNED_LOG;
	} else if (*first != '[' && *first) {
		*ret = LINT_CMDLINE;
	} else {
		(void)err_set(err, EINVAL, path, "not understood");
		return err_hint(err, "%s; --kind says which it is", understood);
	}
	return 0;
}
