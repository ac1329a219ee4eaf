/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns GRUB's generated menu (grub.cfg) as far as the default entry and its `linux` line need it.
 */
#ifndef HVTUNE_KNOB_BOOT_MENU_H
#define HVTUNE_KNOB_BOOT_MENU_H

#include "knob_boot_internal.h"

enum { BOOT_MENU_MAX = 1024 };

/* An entry or a submenu. Offsets are of the file. */
struct boot_menu_entry {
	const char *title, *id; /* id may be NULL */
	int parent;		/* of a submenu's: its index; -1: of the first menu */
	bool is_submenu;
	bool unsure;	    /* inside `if`: whether it is there is known at boot only */
	size_t head, id_at; /* the word `menuentry`; the option before the id, or the brace */
	size_t title_end;   /* behind the title */
	size_t id_end;	    /* behind the id, or as id_at */
	size_t body, end;   /* behind the opening brace; the closing brace */
};

struct boot_menu {
	struct boot_menu_entry list[BOOT_MENU_MAX];
	size_t count;
	const char *default_text; /* what `set default=` gives when nothing is chosen for once: "0", "${saved_entry}" */
	bool takes_next;	  /* it looks at next_entry, once */
	bool reads_custom;	  /* it sources custom.cfg */
};

/* -ENOTSUP with the line for quotes or braces without an end, nested too deeply, more than BOOT_MENU_MAX entries. */
int boot_menu_parse(struct arena *arena, const struct boot_file *file, struct boot_menu *ret, struct err *err);

/*
 * The entry that GRUB starts by `chosen` ("2", "1>0", a title, an id, "id>id"), as grub-core/normal/menu.c finds it.
 * -ENOENT when none is meant; -ENOTSUP where only GRUB can tell.
 */
int boot_menu_find(struct arena *arena, const struct boot_menu *menu, const char *chosen,
		   const struct boot_menu_entry **ret, const struct boot_file *file, struct err *err);

/*
 * The kernel's path in an entry's one `linux` command, and the words behind it as offsets of the file. -ENOTSUP.
 */
int boot_menu_linux(struct arena *arena, const struct boot_file *file, const struct boot_menu_entry *entry,
		    const char **ret_kernel, size_t *ret_start, size_t *ret_end, struct err *err);

#endif
