/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files behind knob_boot.h share: a kernel line of which every character knows where in which file it
 * stands, and splices of those files.
 */
#ifndef HVTUNE_KNOB_BOOT_INTERNAL_H
#define HVTUNE_KNOB_BOOT_INTERNAL_H

#include "knob_boot.h"
#include "text.h"

struct boot_menu;
struct boot_menu_entry;

enum { BOOT_TEXT_LIMIT = 1024 * 1024, BOOT_CHAR_LIMIT = 4 * BOOT_TEXT_LIMIT };

/* How a character is written in its file, and so how text beside it has to be. */
enum boot_context {
	BOOT_PLAIN,  /* as it is: loader entries, /etc/kernel/cmdline, a `linux` line of grub.cfg */
	BOOT_DOUBLE, /* in double quotes of a shell */
	BOOT_SINGLE, /* in single quotes of a shell */
	BOOT_BARE,   /* in a shell without quotes */
	BOOT_ENV,    /* in GRUB's environment block */
	BOOT_OPAQUE, /* stands for what only the shell or the loader knows: $(...), a variable of another file */
};

struct boot_file {
	const char *path;
	const char *text; /* "" when there is no such file */
	size_t size;
	bool exists;
};

struct boot_char {
	uint32_t start, end; /* offsets in the file; a written `\"` is one character of two bytes */
	uint16_t file;
	uint8_t context;
	char c;
};

/* Where a new word goes: after `at`, with what has to stand around it when the value has no quotes yet. */
struct boot_anchor {
	bool given;
	uint16_t file;
	uint8_t context;
	bool blank_before; /* the value there does not end with a blank */
	bool quote_from;   /* the bare value from `from` on has to be put into quotes */
	uint32_t at, from;
	const char *prefix, *suffix; /* NULL: nothing */
};

struct boot_line {
	struct arena *arena;
	const struct boot_file *files;
	struct boot_char *chars;
	size_t count, room;
	struct boot_anchor anchor;
};

struct boot_splice {
	uint16_t file;
	uint32_t start, end;
	const char *text;
};

struct boot_splices {
	struct arena *arena;
	struct boot_splice *list;
	size_t count, room;
};

/* ---- knob_boot_line.c ---- */

void boot_line_put(struct boot_line *line, const struct boot_char *character);
void boot_line_put_all(struct boot_line *line, const struct boot_line *from);
/* The bytes start..end of a file as they are, in `context`. */
void boot_line_put_span(struct boot_line *line, uint16_t file, size_t start, size_t end, enum boot_context context);
/* The characters as a string; '$' for opaque ones. */
const char *boot_line_text(const struct boot_line *line);

void boot_splice(struct boot_splices *splices, uint16_t file, uint32_t start, uint32_t end, const char *text);
/* The file with its splices; equal splices count once. -ENOTSUP when two of them meet. */
int boot_splices_apply(const struct boot_splices *splices, const struct boot_file *files, uint16_t file,
		       const char **ret_text, size_t *ret_size, struct err *err);

/* 1-based line of an offset. */
unsigned boot_file_line(const struct boot_file *file, size_t offset);

/* ---- knob_boot_words.c ---- */

/* The words of a line as the kernel cuts it. */
struct boot_word {
	size_t from, to; /* characters of the line */
	const char *name;
	const char *value; /* NULL: none */
	bool for_init;	   /* behind "--" */
	bool gone;
	const char *text; /* new text, or NULL */
};

struct boot_words {
	struct boot_word *list; /* the line's words, then new ones with from == to */
	size_t count, room;
	size_t old_count;
};

void boot_words_cut(const struct boot_line *line, struct boot_words *ret);

/* Carry out changes on words. -EINVAL, -ENOTSUP with the file and line. */
int boot_words_change(const struct boot_line *line, struct boot_words *words, const struct knob_boot_change *changes,
		      size_t count, struct err *err);

/* Do the words hold what was asked for? */
bool boot_words_have(const struct boot_words *words, const struct knob_boot_change *change);

/* Turn changed words into splices of the files. -ENOTSUP where a word is put together by the shell. */
int boot_words_splice(const struct boot_line *line, const struct boot_words *words, struct boot_splices *splices,
		      struct err *err);

/* ---- knob_boot_list.c ---- */

/* The list `value` (NULL: none) with `items` added or taken; the same text when nothing changes, NULL when empty. */
const char *boot_list_add(struct arena *arena, const char *name, const char *value, const char *items);
const char *boot_list_take(struct arena *arena, const char *name, const char *value, const char *items);

/* Set the pages of one size. -ENOTSUP where the words there cannot be put right without moving other pages. */
int boot_pages_change(const struct boot_line *line, struct boot_words *words, const struct knob_boot_change *change,
		      struct err *err);
/* Huge pages by size as the words ask for them, as one text to compare: "2048 kB: 512, 1048576 kB: 0:8,1:8". */
const char *boot_pages_text(struct arena *arena, const struct boot_words *words, const char *but_size);
/* The pages asked for of one size; `none` where there are none. */
const char *boot_pages_of(struct arena *arena, const struct boot_words *words, const char *size, const char *none);
bool boot_pages_have(struct arena *arena, const struct boot_words *words, const char *size, const char *pages);

/* A new word at the end, or replace the text of one. */
struct boot_word *boot_words_add(struct arena *arena, struct boot_words *words, const char *name, const char *value);
void boot_word_set(struct arena *arena, struct boot_word *word, const char *name, const char *value);
/* "file:line" of a word, into err. */
int boot_word_refuse(const struct boot_line *line, const struct boot_word *word, struct err *err, const char *what);

/* ---- knob_boot_edit.c ---- */

enum { BOOT_FILES_MAX = 512, BOOT_NO_FILE = UINT16_MAX };

/* The files that a plan looks at: as they were, and as the edits so far make them. */
struct boot_table {
	struct arena *arena;
	struct host *host;
	struct boot_file files[BOOT_FILES_MAX];
	struct boot_file before[BOOT_FILES_MAX];
	size_t count;
};

struct boot_table *boot_table_new(struct host *host, struct arena *arena);
/* Read a file through the host's door; one that is absent is empty. -EACCES, -EFBIG, -EILSEQ with the path. */
int boot_table_add(struct boot_table *table, const char *path, uint16_t *ret, struct err *err);

/* A kernel line in the table's files, and how it is read. */
struct boot_where {
	int (*read)(const struct boot_table *table, const struct boot_where *where, struct boot_line *ret,
		    struct err *err);
	uint16_t file;		 /* the first file */
	uint16_t file_count;	 /* of a shell's: files `file`.. are sourced one after the other */
	uint16_t home;		 /* of a shell's: the file that gets new words */
	uint16_t env;		 /* of an entry: GRUB's environment block, for $kernelopts; or BOOT_NO_FILE */
	const char *anchor_name; /* of a shell's: the variable that gets new words */
	bool first_only;	 /* only the first line with words counts */
};

int boot_read_shell(const struct boot_table *table, const struct boot_where *where, struct boot_line *ret,
		    struct err *err);
int boot_read_plain(const struct boot_table *table, const struct boot_where *where, struct boot_line *ret,
		    struct err *err);
int boot_read_entry(const struct boot_table *table, const struct boot_where *where, struct boot_line *ret,
		    struct err *err);

/* Change the line there, in the table; read back and compared before the table is touched. */
int boot_edit(struct boot_table *table, const struct boot_where *where, const struct knob_boot_change *changes,
	      size_t count, struct err *err);

/* The snippet of GRUB's defaults that is hvtune's own; one without words is to go. */
#define BOOT_OWN_SNIPPET "/etc/default/grub.d/zz-hvtune.cfg"
bool boot_snippet_is_empty(const struct boot_file *file);

/* ---- knob_boot_env.c ---- */

/* The value of a variable in GRUB's environment block as characters; *ret_found. -EINVAL for what is no such block. */
int boot_env_read(const struct boot_file *files, uint16_t file, const char *name, struct boot_line *ret,
		  bool *ret_found, struct err *err);
/* The same as a string, NULL when it is not set or the block is none. */
const char *boot_env_get(struct arena *arena, const struct boot_file *file, const char *name);
/* The block with a variable set, or without it for NULL. The size stays; -ENOSPC when it does not fit. */
int boot_env_set(struct arena *arena, const struct boot_file *file, const char *name, const char *value,
		 const char **ret_text, struct err *err);
/* An edited block as a block of the old size again; -ENOSPC. */
int boot_env_fit(struct arena *arena, const struct boot_file *before, const char **text, size_t *size, struct err *err);

/* ---- knob_boot_plan.c ---- */

void boot_plan_file(struct arena *arena, struct knob_boot_plan *plan, const struct boot_file *before,
		    const struct boot_file *after);
enum boot_when { BOOT_FIRST, BOOT_THEN, BOOT_MAKE };
/* `argv` and `undo` end with NULL and are copied; `undo` may be NULL. */
void boot_plan_command(struct arena *arena, struct knob_boot_plan *plan, enum boot_when when, const char *why,
		       const char *const *argv, const char *const *undo);
/* A command as a person types it. */
const char *boot_command_text(struct arena *arena, const char *const *argv);
void boot_plan_note(struct arena *arena, struct knob_boot_plan *plan, const char *format, ...) PRINTF_LIKE(3, 4);

/* Is it a loader entry with a kernel of this system: no rescue entry, no tool, no other system's, not the trial's? */
bool boot_is_own_entry(struct host *host, struct arena *arena, const char *name, const char *text);
/* The value of a key of a loader entry, trimmed; NULL when it has none. */
const char *boot_entry_value(struct arena *arena, const char *text, const char *key);
/* The words of the running kernel's line that no loader puts there by itself. */
const char *boot_running_line(struct host *host, struct arena *arena);
/* The files of GRUB's defaults, which have to be the first of the table. */
int boot_find_defaults(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_where *ret,
		       struct err *err);

/* ---- knob_boot_oneshot.c ---- */

/* Why this host cannot start an entry for once, as a sentence without its full stop; NULL when it can. */
const char *boot_no_trial(struct host *host, const struct knob_boot_loader *loader);
/* For GRUB that cannot write to its own block: sets esp and esp_uuid when an EFI system partition can take its place.
 */
void boot_find_esp(struct host *host, struct knob_boot_loader *loader);
/* A variable of the boot loader interface of systemd ("LoaderEntrySelected"), or NULL. */
const char *boot_loader_variable(struct host *host, struct arena *arena, const char *name);

/* ---- knob_boot_entry.c ---- */

/* The loader entries with a kernel of this system, in the order of their names. */
struct boot_entries {
	struct boot_where where; /* how each is read; its `file` is the first's */
	uint16_t *files;	 /* of the table */
	size_t count;
};

/* -EACCES, -ENOENT where the directory cannot be listed. */
int boot_own_entries(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_entries *ret,
		     struct err *err);

/*
 * The loader entry that the next ordinary boot takes, as far as that can be told: what GRUB saved or systemd-boot says
 * it took, else the one of the running kernel, else the only one. -ENOTSUP when it cannot. `ret_all` may be NULL.
 */
int boot_default_entry(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_where *ret,
		       struct boot_entries *ret_all, struct err *err);

/* ---- knob_boot_kernel.c ---- */

/* A kernel that can be booted: an entry of GRUB's menu, or a loader entry. */
struct boot_kernel {
	const char *release;		     /* as uname -r prints it; NULL: the kernel's name does not tell */
	const char *id;			     /* what the loader's own tools call the entry: "a>b", "arch.conf" */
	uint16_t file;			     /* of the table: GRUB's menu, or the loader entry */
	const struct boot_menu_entry *entry; /* in GRUB's menu; NULL: a loader entry */
	size_t start, end;		     /* in GRUB's menu: the words of its line */
	bool same_line;			     /* as the default's */
	const char *unlike; /* a word by which its line is of another system than the default's; NULL: it is not */
};

struct boot_kernels {
	struct boot_kernel *list; /* the default's is the first */
	size_t count;
	struct boot_line line;	      /* the default's */
	const struct boot_menu *menu; /* GRUB's; NULL: loader entries */
};

/* The kernels that the loader has entries of, by its files. -ENOTSUP where they do not tell; -EACCES. */
int boot_kernels_find(struct boot_table *table, const struct knob_boot_loader *loader, struct boot_kernels *ret,
		      struct err *err);

/* The one of that release, or the default's for NULL. -ENOENT with those that there are; -ENOTSUP: not this system's.
 */
int boot_kernels_choose(struct boot_table *table, const struct knob_boot_loader *loader,
			const struct boot_kernels *kernels, const char *release, const struct boot_kernel **ret,
			struct err *err);

/* The default's; never NULL. */
const struct boot_kernel *boot_kernels_default(const struct boot_kernels *kernels);

/* The release that is asked for among changes; NULL: none is. */
const char *boot_kernel_asked(const struct knob_boot_change *changes, size_t count);

/* ---- knob_boot_pin.c ---- */

/* The file by which hvtune makes a kernel GRUB's default; Proxmox's own tool pins kernels by such a file. */
#define BOOT_OWN_KERNEL "/etc/default/grub.d/zz-hvtune-kernel.cfg"
#define BOOT_KERNEL_PLACE "boot." KNOB_BOOT_KERNEL_NAME

/* The entry that this file names, as GRUB takes it; NULL where there is none. */
const char *boot_pinned(struct boot_table *table, const struct knob_boot_loader *loader);

/*
 * Make that kernel the default of all boots, in the table; nothing where it is. -ENOTSUP with what a person types where
 * hvtune does not do it, else as choosing it.
 */
int boot_pin(struct boot_table *table, const struct knob_boot_loader *loader, const char *release,
	     struct knob_boot_plan *plan, struct err *err);

/* ---- knob_boot_trial.c ---- */

/*
 * Names of the trial's loader entry. Neither may ever become a default by its place in the menu, which sorts by name
 * where no default is set: '~' is the lowest of all for GRUB's blscfg; systemd's tools allow no '~' in names, and there
 * a capital A is lower than small letters and digits (the version format of the UAPI group).
 */
#define BOOT_TRIAL_ID "hvtune-trial"
#define BOOT_TRIAL_GRUB_ENTRY "~hvtune-trial.conf"
#define BOOT_TRIAL_ESP_FILE "/EFI/hvtune/grubenv"
/* On the line of a trial with another kernel: the default's loader entry, as the loader's tools call it. */
#define BOOT_BESIDE "hvtune.beside"
#define BOOT_TRIAL_SYSTEMD_ENTRY "A-hvtune-trial.conf"
static inline bool boot_is_trial_entry(const char *name)
{
	return strstr(name, BOOT_TRIAL_ID) != NULL;
}

#endif
