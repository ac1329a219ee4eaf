/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns how results are shown: findings and facts as text and JSON, the topology as boxes and as SVG.
 */
#ifndef HVTUNE_REPORT_H
#define HVTUNE_REPORT_H

#include <jansson.h>

#include "advise.h"
#include "term.h"
#include "vm_joined.h"

/* Raised when a field of any JSON output changes its meaning or goes away; new fields do not raise it. */
enum { REPORT_SCHEMA = 1 };

/* {"schema": 1, "command": ..., "hvtune": version, "host": {...}}: the start of every JSON output. Caller owns it. */
json_t *report_json_start(const char *command, const struct host *host);

/* Print JSON, sorted keys kept in order, with a newline; decrefs. 0 or -EIO. */
int report_json_print(FILE *out, json_t *json);

/* A foreign text as JSON: null for NULL, "(not UTF-8)" for what is no UTF-8. */
json_t *report_json_text(const char *text);

/* A fact as JSON: {"name","state","value","unit","source","note"}. */
json_t *report_json_fact(const struct fact *fact);

/* Findings. `all`: also INFO and GOOD; `also`: one more sentence for the line on the host, or NULL. */
void report_findings(const struct term *term, const struct host *host, const char *also,
		     const struct advise_result *result, bool all);
json_t *report_findings_json(const struct host *host, const struct advise_result *result, const char *command);

/* A page of Markdown: as it is, or laid out for the terminal. */
void report_page(const struct term *term, const char *page, bool markdown);

/*
 * Facts of the subjects for which `names` has a word; NULL: all. `vms` is the subject "vms"; NULL: it is left out.
 * `sources`: with the path that it was read from beside each.
 */
void report_facts(const struct term *term, const struct host *host, const struct vm_joined *vms,
		  const char *const *names, size_t count, bool sources);
json_t *report_facts_json(const struct host *host, const struct vm_joined *vms, const char *const *names, size_t count);

/* The subjects in order: those of the host, then "vms". False past the end. */
bool report_subject_at(size_t index, const char **ret_name, const char **ret_title);

/* The topology as boxes: package > node > CCX > core with its threads; equal CCXs are folded to fit the width. */
void report_topology(const struct term *term, const struct host *host);
json_t *report_topology_json(const struct host *host);

/* The same as one SVG picture. 0 or a negative errno. */
int report_topology_svg(FILE *out, const struct host *host);

#endif
