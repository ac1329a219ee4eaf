/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the pools of hugepages within the memory subject: per size and per node, as sysfs lists them.
 */
#ifndef HVTUNE_HOST_PAGES_H
#define HVTUNE_HOST_PAGES_H

struct host;
struct host_rows;

/* Fill host->memory.pages. Sizes and nodes are what the directories list, at most 16 sizes and 256 nodes. */
void host_pages_read(struct host *host);
void host_pages_rows(const struct host *host, struct host_rows *rows);

#endif
