/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns telling apart and opening hosts that are no trees. */
#include "host_import.h"

#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <sys/stat.h>

#include "host_lscpu.h"
#include "text.h"

/* All facts absent, by name; what the text tells is filled in after that. */
static void start(struct host *host, enum host_kind kind)
{
	host->kind = kind;
	host->sys = sys_open_nothing(host->name);
	host_read_all(host);
}

static bool is_hwloc_xml(const char *text, size_t size)
{
	enum { LOOK_AT = 4096 };

	if (text_starts(text, "\xef\xbb\xbf"))
		text += 3;
	while (isspace((unsigned char)*text))
		text++;
	return *text == '<' &&
	       memmem(text, strnlen(text, MIN_OF(size, (size_t)LOOK_AT)), "<topology", strlen("<topology"));
}

/* hwloc says no more than "Invalid argument". */
static int read_xml(struct host *host, const char *text, size_t size, struct err *err)
{
	int r = host_topology_read_hwloc(host, text, size, true, err);
	const char *version = strstr(text, "<topology version=\"");
	long major = version ? strtol(version + strlen("<topology version=\""), NULL, 10) : 1;
	const int known = HWLOC_API_VERSION >> 16;

	if (r < 0 && major > known) {
		(void)err_set(err, -r, host->name, "hwloc XML of version %ld, but hvtune is built with hwloc %d", major,
			      known);
		(void)err_hint(err, "export it with lstopo of hwloc %d", known);
	} else if (r < 0 && r != -E2BIG) {
		(void)err_hint(err, "see whether lstopo -i takes the file; export it again with lstopo --of xml");
	}
	return r;
}

/* Texts that are often given for a host and are none: what to give instead. */
static int refuse_text(const struct host *host, const char *text, size_t size, struct err *err)
{
	const char *line = text + strspn(text, " \t\r\n");
	size_t length = strcspn(line, "\n");

	if (!*line && (size_t)(line - text) == size)
		return err_set(err, EINVAL, host->name, "the file is empty");
	/* Extended and parsable tables: "CPU NODE SOCKET CORE ...", "# The following is the parsable format". */
	if ((text_starts(line, "CPU ") && memmem(line, length, " CORE", strlen(" CORE"))) ||
	    text_starts(line, "# The following is the parsable format")) {
		(void)err_set(err, EINVAL, host->name, "tables of lscpu -e and lscpu -p are not read");
		return err_hint(err, "give the text of lscpu or lscpu -J");
	}
	return 0;
}

static int import_text(struct host *host, const char *text, size_t size, bool *ret_imported, struct err *err)
{
	if (is_hwloc_xml(text, size)) {
		*ret_imported = true;
		start(host, HOST_HWLOC_XML);
		return read_xml(host, text, size, err);
	}
	if (host_is_lscpu(text, size)) {
		*ret_imported = true;
		start(host, HOST_LSCPU);
		return host_lscpu_read(host, text, size, err);
	}
	return refuse_text(host, text, size, err);
}

/* Standard input: a text, or an archive that is read from memory. */
static int import_stream(struct host *host, bool *ret_imported, struct err *err)
{
	CLEANUP(base_free) char *data = NULL;
	const char *path = host->name;
	size_t size;
	int r = sys_read_stream(path, &data, &size, err);

	if (r < 0)
		return r;
	host->name = text_equal(path, "-") || text_equal(path, "/dev/stdin") ? "standard input" : path;
	if (!memchr(data, '\0', size)) {
		r = import_text(host, data, size, ret_imported, err);
		if (r < 0 || *ret_imported)
			return r;
	}
	return sys_open_archive_memory(data, size, host->name, &host->sys, err);
}

/* "package:2 l3:8 core:4 pu:2", "[numa] package:2 ...", "2 8 4 2" */
static bool is_synthetic(const char *name)
{
	bool has_number = false;

	for (const char *at = name; *at; at++) {
		if (!isalnum((unsigned char)*at) && !strchr(" :()=,[]*-", *at))
			return false;
		has_number |= isdigit((unsigned char)*at) != 0;
	}
	return has_number && (strchr(name, ':') || name[strspn(name, " 0123456789")] == '\0');
}

int host_import(struct host *host, bool *ret_imported, struct err *err)
{
	struct stat info;
	const char *text;
	size_t size;

	*ret_imported = false;
	if (!*host->name) {
		(void)err_set(err, EINVAL, NULL, "an empty name was given for a host");
		return err_hint(err, "%s", SYS_HOST_KINDS);
	}
	if (sys_is_stream(host->name))
		return import_stream(host, ret_imported, err);
	if (stat(host->name, &info) < 0) {
		if (errno != ENOENT || !is_synthetic(host->name))
			return 0;
		*ret_imported = true;
		start(host, HOST_SYNTHETIC);
		int r = host_topology_read_hwloc(host, host->name, strlen(host->name), false, err);

		if (r < 0 && r != -E2BIG) {
			(void)err_set(err, -r, host->name, "no such file, and no hwloc synthetic description");
			(void)err_hint(err, SYS_HOST_KINDS);
		}
		return r;
	}
	if (!S_ISREG(info.st_mode))
		return 0;
	int r = sys_read_given(host->arena, host->name, true, &text, &size, err);

	/* No text, or too large for one: an archive, or nothing that is known. */
	if (r == -EILSEQ || r == -EFBIG)
		return 0;
	return r < 0 ? r : import_text(host, text, size, ret_imported, err);
}
