/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a kernel command line, cut into words as the kernel cuts it.
 */
#ifndef HVTUNE_HOST_CMDLINE_H
#define HVTUNE_HOST_CMDLINE_H

#include "fact.h"

struct host;
struct host_rows;

struct cmdline_word {
	const char *text;  /* as written, without quotes around it */
	const char *name;  /* before "=", with '-' as '_' except where the kernel keeps it; "amd_iommu" */
	const char *value; /* after "=", without quotes; NULL for a bare word */
	unsigned line;	   /* 1-based, in the file; 0: first_line of the command line */
	unsigned column;   /* 1-based, in the line */
	bool for_init;	   /* behind "--": not the kernel's */
};

/* What keeps parts of a file from becoming words of the command line. */
struct cmdline_fault {
	const char *what; /* one sentence */
	const char *fix;
	unsigned line, column; /* 1-based, in the file */
};

struct host_cmdline {
	struct fact line; /* text: the whole line */
	const struct cmdline_word *words;
	int count;
	const char *path;		    /* the file it stands in: "/proc/cmdline" or what lint was given */
	unsigned first_line;		    /* the line in that file, 1-based */
	const struct cmdline_fault *faults; /* of a file that a shell reads; else none */
	int fault_count;
};

/*
 * Cut a line into words: blanks separate, double quotes protect blanks (lib/cmdline.c of Linux, next_arg). A '=' at the
 * start of a word does not end a name, and 0xa0 is a blank, both as there. At most 4096 words.
 */
void cmdline_parse(struct arena *arena, const char *line, struct host_cmdline *ret);

/* The last word with this name (the one that counts for most), or NULL; the first; and how often it stands there. */
const struct cmdline_word *cmdline_last(const struct host_cmdline *cmdline, const char *name);
const struct cmdline_word *cmdline_first(const struct host_cmdline *cmdline, const char *name);
int cmdline_count(const struct host_cmdline *cmdline, const char *name);

/* Are two names of parameters the same for the kernel, where '-' and '_' are alike? */
bool cmdline_same_name(const char *a, const char *b);

void host_cmdline_read(struct host *host);
void host_cmdline_rows(const struct host *host, struct host_rows *rows);

#endif
