/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzes the journal: reading it, looking at what is in force, and undoing everything, on a small machine of files.
 * Each line of the input becomes a record with a right checksum; one that starts with '!' is taken as it is.
 */
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "knob_apply.h"
#include "knob_status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 16, MOST_UNDONE = 20 };

static char root[64];

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info, (void)kind, (void)where;
	return remove(path);
}

static void clean_up(void)
{
	(void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static FILE *make_file(const char *path)
{
	char full[512];
	FILE *file;

	(void)snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	if (!file)
		abort();
	return file;
}

static void make_machine(void)
{
	static const char *const files[][2] = {
	    {"/proc/sys/vm/swappiness", "60\n"},
	    {"/proc/sys/kernel/random/boot_id", "first\n"},
	    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
	    {"/sys/module/kvm/parameters/halt_poll_ns", "200000\n"},
	};

	if (!*root) {
		(void)snprintf(root, sizeof(root), "/tmp/hvtune-fuzz-journal-XXXXXX");
		if (!mkdtemp(root))
			abort();
		(void)atexit(clean_up);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		FILE *file = make_file(files[i][0]);

		(void)fputs(files[i][1], file);
		(void)fclose(file);
	}
}

static void make_journal(const uint8_t *data, size_t size)
{
	FILE *file = make_file(KNOB_JOURNAL);

	for (size_t at = 0; at < size;) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);
		size_t length = newline ? (size_t)(newline - data) - at : size - at;

		if (data[at] != '!')
			(void)fprintf(file, "%08lx ", crc32_z(0, data + at, length));
		(void)fwrite(data + at, 1, length + (newline != NULL), file);
		at += length + 1;
	}
	(void)fclose(file);
}

static void look(struct knob_machine *machine)
{
	struct knob_journal journal = {0};
	struct knob_standing standing;
	struct err err = {0};

	if (knob_journal_read(machine, &journal, &err) < 0)
		return;
	for (size_t i = 0; i < journal.count; i++)
		knob_standing(machine, &journal, &journal.changes[i], &standing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	struct err err = {0};

	if (size > MOST_BYTES)
		return 0;
	make_machine();
	make_journal(data, size);
	if (knob_machine_open(root, NULL, &machine, &err) < 0)
		abort();
	look(&machine);
	for (int i = 0; i < MOST_UNDONE && knob_undo(&machine, 0, &report, &err) == 0; i++)
		;
	look(&machine);
	return 0;
}
