/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the kernel command line of the next boots: which loader a host has, what its files ask for, and which changes of
 * files and which commands give it another line, for good or for one trial boot. Nothing in here writes: a plan is a
 * list of whole new file contents and of programs to run, for the part that journals and writes.
 *
 * A line is edited word by word. What is not asked for stays byte for byte: quotes, comments, unknown words, blanks,
 * line ends, a missing last newline. Every plan is read back before it is given out: the new files must hold the words
 * that were asked for, once, and all other words as they were.
 */
#ifndef HVTUNE_KNOB_BOOT_H
#define HVTUNE_KNOB_BOOT_H

#include "host.h"

/* ---- what is asked for ---- */

enum knob_boot_op {
	KNOB_BOOT_SET,	  /* NAME=VALUE, or the bare word NAME where `value` is NULL; replaces what the name had */
	KNOB_BOOT_REMOVE, /* no word with this name; with a value: no word NAME=VALUE */
	KNOB_BOOT_ADD,	  /* to the list that NAME= holds; CPU numbers are kept as one compressed list */
	KNOB_BOOT_TAKE,	  /* from that list; the word goes with its last item */
	/*
	 * Huge pages of one size: `name` is the size ("1G", "2M"), `value` the pages ("16", "0:8,1:8") or NULL for
	 * none. hugepagesz= and hugepages= are one unit, since the second counts for the size that stands before it.
	 */
	KNOB_BOOT_PAGES,
	/* No word of the line: the installed kernel whose release (uname -r) is `value`, in place of the default's. */
	KNOB_BOOT_KERNEL,
};

/* The name of that change, where others have the name of a word. */
#define KNOB_BOOT_KERNEL_NAME "kernel"

/*
 * One change of the kernel's line. Words that may stand several times (console=, rd.lvm.lv=...) are never replaced: SET
 * adds NAME=VALUE beside the others, REMOVE wants a value.
 */
struct knob_boot_change {
	const char *name;
	const char *value;
	enum knob_boot_op op;
};

/* ---- what is to be done ---- */

/* A file with new contents. */
struct knob_boot_file {
	const char *path;   /* absolute, on the host */
	const char *before; /* contents when the plan was made; NULL: there was no such file */
	size_t before_size;
	const char *after; /* contents wanted; NULL: the file is to go */
	size_t after_size;
};

/* A program to run, without a shell. */
struct knob_boot_command {
	const char *const *argv; /* ends with NULL; argv[0] is looked up in /usr/sbin, /usr/bin, /sbin, /bin */
	const char *const *undo; /* when the plan is taken back; NULL: argv once more, after the files are back */
	bool before;		 /* runs before the files are written, and before they are put back */
	bool makes;		 /* makes anew what boots, from whole files: of several plans once is enough */
	const char *why;	 /* half a sentence for the plan: "so that GRUB's menu has the new line" */
};

/*
 * Apply: commands with `before`, files in order, the other commands in order. Take back: the same with the old contents
 * and with `undo`. Lives in the arena that it was made in.
 */
struct knob_boot_plan {
	struct knob_boot_file *files;
	size_t file_count;
	struct knob_boot_command *commands;
	size_t command_count;
	const char **notes; /* whole sentences: what this does not reach, and what to know */
	size_t note_count;
};

/* Nothing to do, since all is as asked for? */
bool knob_boot_plan_is_empty(const struct knob_boot_plan *plan);

/* ---- which loader ---- */

enum knob_boot_kind {
	KNOB_BOOT_UNKNOWN,	  /* cannot tell */
	KNOB_BOOT_GRUB_DEBIAN,	  /* /etc/default/grub, its snippets in grub.d, update-grub; also Proxmox with GRUB */
	KNOB_BOOT_GRUB_OTHER,	  /* /etc/default/grub and grub-mkconfig: Arch, SUSE, RHEL without loader entries */
	KNOB_BOOT_GRUB_BLS,	  /* GRUB that reads loader entries: Fedora, RHEL 8 and later and kin */
	KNOB_BOOT_SYSTEMD,	  /* systemd-boot with loader entries that kernel-install makes */
	KNOB_BOOT_UKI,		  /* unified kernel images, which carry their line in themselves */
	KNOB_BOOT_SDBOOTUTIL,	  /* openSUSE: systemd-boot or GRUB with loader entries made by sdbootutil */
	KNOB_BOOT_PROXMOX_GRUB,	  /* proxmox-boot-tool with GRUB on its own boot partitions */
	KNOB_BOOT_PROXMOX_SDBOOT, /* proxmox-boot-tool with systemd-boot */
	KNOB_BOOT_OSTREE,	  /* rpm-ostree kargs */
};

struct knob_boot_loader {
	enum knob_boot_kind kind;
	const char *name;	 /* as people say it: "GRUB with update-grub" */
	const char *evidence;	 /* the file or word that it was told by; for KNOB_BOOT_UNKNOWN what was looked for */
	const char *entries;	 /* directory of loader entries, or NULL */
	const char *grub_cfg;	 /* GRUB's generated menu, or NULL */
	const char *grub_env;	 /* GRUB's environment block, or NULL */
	const char *grub_prefix; /* "grub" or "grub2", as the commands begin; NULL without GRUB */
	const char *esp, *esp_uuid; /* EFI system partition on which GRUB keeps a trial's choice, where it cannot write
				     * to its own environment block: its mount and file system; else NULL */
	const char *no_trial;	    /* NULL: a trial boot is possible; else why not, a sentence without its full stop */
};

/* Tell the loader of a host from its files. Never fails: not to know is an answer. Texts live in the host's arena. */
void knob_boot_find(struct host *host, struct knob_boot_loader *ret);

/* ---- plans ---- */

/*
 * What gives every later boot the changed line. -EINVAL for a change that makes no word, -ENOTSUP where a file cannot
 * be edited safely or the loader is not known, -EACCES where a file may not be read; err then has the file, its line
 * and what to do. A host that is as asked for has an empty plan.
 */
int knob_boot_plan_default(struct host *host, const struct knob_boot_loader *loader,
			   const struct knob_boot_change *changes, size_t count, struct arena *arena,
			   struct knob_boot_plan *ret, struct err *err);

/*
 * The kernel line that the next ordinary boot will have as far as the loader's files tell, as words. -ENOTSUP or
 * -EACCES where they do not. For "asked but not booted", and to show what a change does.
 */
int knob_boot_configured(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
			 struct host_cmdline *ret, struct err *err);

/*
 * The release of the kernel that the next ordinary boot takes, as its entry names it: what `uname -r` is to print then.
 * -ENOTSUP where no entry or no name tells it, -EACCES.
 */
int knob_boot_configured_kernel(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
				const char **ret, struct err *err);

/* The releases that the loader has entries of, blanks between them, the default's first. Errors as above. */
int knob_boot_kernels(struct host *host, const struct knob_boot_loader *loader, struct arena *arena, const char **ret,
		      struct err *err);

/*
 * Has the loader an entry with that kernel, of this system? -EINVAL with the releases that it has; -ENOTSUP where
 * entries cannot be told, -EACCES.
 */
int knob_boot_check_kernel(struct host *host, const struct knob_boot_loader *loader, const char *release,
			   struct err *err);

/* Do the words of a line hold what is asked? A kernel is none of them, and no line lacks it. */
bool knob_boot_line_has(struct arena *arena, const char *line, const struct knob_boot_change *change);

/*
 * What a word of the line is set to: of NAME the value, "present" for a bare word, "absent" without one; of
 * "hugepages.SIZE" the pages. The form in which boot knobs name values; never NULL.
 */
const char *knob_boot_value(struct arena *arena, const char *line, const char *name);

/* The change that gives the word that value, in the same form. Texts are not copied. */
struct knob_boot_change knob_boot_change_of(const char *name, const char *value);

/* Is the change one that makes words of a kernel line? -EINVAL with a clear text. */
int knob_boot_change_check(const struct knob_boot_change *change, struct err *err);

/* May words of this name stand several times, each for itself (console=)? Then the name has no one value. */
bool knob_boot_may_repeat(const char *name);

/* The program that makes what boots anew from changed files, or NULL where the files are what boots. */
const char *const *knob_boot_maker(struct arena *arena, const struct knob_boot_loader *loader);

/* ---- a trial boot ---- */

/*
 * A menu entry of its own with the changed line, which the next boot takes once; the default stays as it is. It is a
 * copy of the default's, or of the entry of another kernel that is asked for, with the default's line. The line also
 * gets hvtune.trial=ID, by which the boot is known, and panic=30 (with what keeps an initial ramdisk of dracut from
 * waiting in a shell) where the line does not say otherwise, so that a kernel that cannot go on makes room for the old
 * line. `id`: letters, digits and '-'. -ENOTSUP with the reason where this host cannot start an entry for once.
 */
int knob_boot_plan_trial(struct host *host, const struct knob_boot_loader *loader,
			 const struct knob_boot_change *changes, size_t count, const char *id, struct arena *arena,
			 struct knob_boot_plan *ret, struct err *err);

/* What takes a trial's entry and its choice away again; an empty plan where there is none. */
int knob_boot_plan_forget(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
			  struct knob_boot_plan *ret, struct err *err);

/* Does GRUB's environment have a word on the entry of the next boot, be it an empty one? */
bool knob_boot_names_next(struct host *host, const struct knob_boot_loader *loader);

/*
 * GRUB takes a trial's entry once by making that word empty. Where there was none before (knob_boot_names_next()), this
 * takes it out again, so that every byte is as it was; an empty plan where it is not there or names an entry.
 */
int knob_boot_plan_tidy(struct host *host, const struct knob_boot_loader *loader, struct arena *arena,
			struct knob_boot_plan *ret, struct err *err);

/* The names that a trial's loader entry may have, ended by NULL. */
extern const char *const knob_boot_trial_entries[];

/* The id of the trial that this boot is, by its line; NULL when it is none. */
const char *knob_boot_trial_id(const struct host *host);

#endif
