/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tables of commands and options. */
#include "cli.h"

const struct cli_option cli_options[] = {
    {OPTION_HELP, "help", 'h', NULL, "print this help"},
    {OPTION_HOST, "host", 'H', "WHAT",
     "look at another host: a directory or archive with sys/ and proc/, a capture, an hwloc XML file, an lscpu text "
     "(plain or -J), or an hwloc synthetic description"},
    {OPTION_JSON, "json", 'j', NULL, "print JSON"},
    {OPTION_ALL, "all", 'a', NULL, "print notes, good points and undecided checks too"},
    {OPTION_TIMING, "timing", 0, NULL, "print to standard error where the time went"},
    {OPTION_SVG, "svg", 0, "FILE", "write the topology as a picture to FILE (- for standard output)"},
    {OPTION_OUTPUT, "output", 'o', "FILE", "write the archive to FILE (.tar.xz, .tar.zst, .tar.gz or .tar)"},
    {OPTION_FORCE, "force", 'f', NULL, "overwrite FILE if it exists"},
    {OPTION_MARKDOWN, "markdown", 0, NULL, "print the page as Markdown"},
    {OPTION_LIST, "list", 'l', NULL, "list what there is"},
    {OPTION_KIND, "kind", 'k', "KIND", "take the file as KIND: cmdline, entry, grub, modprobe, tuned or tuned-log"},
    {0, NULL, 0, NULL, NULL},
};

static const enum cli_option_id check_options[] = {OPTION_HOST, OPTION_JSON, OPTION_ALL, OPTION_TIMING, 0};
static const enum cli_option_id show_options[] = {OPTION_HOST, OPTION_JSON, OPTION_SVG, OPTION_LIST, OPTION_TIMING, 0};
static const enum cli_option_id explain_options[] = {OPTION_LIST, OPTION_JSON, OPTION_MARKDOWN, 0};
static const enum cli_option_id lint_options[] = {OPTION_KIND, OPTION_HOST, OPTION_JSON, OPTION_ALL, OPTION_TIMING, 0};
static const enum cli_option_id capture_options[] = {OPTION_OUTPUT, OPTION_FORCE, OPTION_HOST, OPTION_TIMING, 0};

const struct cli_command cli_commands[] = {
    {"check", "", "say what is wrong with this host",
     "Reads the host and prints findings, worst first: what was read, what it costs, what to do. Reads only; root is "
     "needed for little and said where it would help. Exit code 1 when there is a failure or a warning.",
     check_options, cmd_check},
    {"show", "[SUBJECT...]", "show the facts, by subject",
     "Prints the facts of the given subjects, or of all. `hvtune show topology` draws packages, NUMA nodes, CCXs and "
     "cores; --svg makes a picture of it.",
     show_options, cmd_show},
    {"explain", "[ID...]", "explain a finding",
     "Prints mechanism, expected effect with its source, what the change hurts and how to look by hand.",
     explain_options, cmd_explain},
    {"lint", "FILE...", "judge a kernel command line, GRUB default file, tuned profile or tuned log",
     "Prints the findings for a file, on this host or on the one that --host names. FILE - is standard input. Exit "
     "code "
     "1 when there is a failure or a warning.",
     lint_options, cmd_lint},
    {"capture", "", "write an anonymised archive of this host",
     "Writes one archive of exactly what all commands ask, with serial numbers, MAC addresses, UUIDs and names "
     "replaced. "
     "Every command gives the same answer from it with --host.",
     capture_options, cmd_capture},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};
