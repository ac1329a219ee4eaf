/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tables of commands and options. */
#include "change.h"
#include "cli.h"
#include "measure.h"

const struct cli_option cli_options[] = {
    {OPTION_HELP, "help", 'h', NULL, "print this help"},
    {OPTION_HOST, "host", 'H', "WHAT",
     "look at another host: a directory or archive with sys/ and proc/, a capture, an hwloc XML file, an lscpu text "
     "(plain or -J), or an hwloc synthetic description; - is standard input"},
    {OPTION_JSON, "json", 'j', NULL, "print JSON"},
    {OPTION_ALL, "all", 'a', NULL, "print notes, good points and undecided checks too"},
    {OPTION_TIMING, "timing", 0, NULL, "print to standard error where the time went"},
    {OPTION_SVG, "svg", 0, "FILE", "write a picture of the host to FILE (- for standard output)"},
    {OPTION_OUTPUT, "output", 'o', "FILE",
     "write the archive to FILE (.tar.xz, .tar.zst, .tar.gz or .tar; - for standard output)"},
    {OPTION_FORCE, "force", 'f', NULL, "overwrite FILE if it exists"},
    {OPTION_MARKDOWN, "markdown", 0, NULL, "print the page as Markdown"},
    {OPTION_LIST, "list", 'l', NULL, "list what there is"},
    {OPTION_KIND, "kind", 'k', "KIND",
     "take the file as KIND: domain, proxmox, qemu, cmdline, entry, grub, modprobe, tuned or tuned-log"},
    {OPTION_FILE, "file", 0, "FILE",
     "place the VM of this file too: libvirt XML, Proxmox configuration or QEMU command line; may be repeated"},
    {OPTION_NEW, "new", 'n', "VM",
     "place a VM that does not exist yet: 16vcpu,64G and, as wanted, threads=1|2, pages=4K|2M|1G, device=ADDRESS, "
     "prefer=cache|frequency, nodes=N, apart=ccx|node|socket, overcommit=N, priority=N, name=NAME, count=N; may be "
     "repeated"},
    {OPTION_NAME, "name", 0, "NAME", "the name of the new VM"},
    {OPTION_COPIES, "count", 0, "N", "so many of the new VM"},
    {OPTION_POLICY, "policy", 'p', "POLICY",
     "pack: keep large holes for the next VM (the usual); spread: few neighbours in each L3; power: leave whole dies "
     "empty; cache or frequency: VMs want the cores with the large L3 or the high clock"},
    {OPTION_REPIN, "repin", 0, NULL, "VMs that have a place may get other CPUs of the same nodes"},
    {OPTION_MOVE, "move", 0, NULL, "VMs that have a place may move to other nodes, with their memory"},
    {OPTION_MAX_EXCESS, "max-excess", 0, "NS",
     "rather no place than one with more ns per core than the VM would have alone on the host"},
    {OPTION_EVEN, "even", 0, NULL,
     "insist on equal parts over the fewest L3 groups, so that the guest can be shown them"},
    {OPTION_SMT, "smt", 0, "USE",
     "exposed: two vCPUs a core, as threads; isolated: one, the sibling idle; one-per-core: one, the sibling for the "
     "VM's emulator and I/O threads. Without it as the VM declares, else exposed"},
    {OPTION_RESERVE, "reserve", 0, "CORES",
     "whole cores of each node that stay with the host (1, or 2 from 64 cores a node), or their CPUs as a list"},
    {OPTION_WHAT_IF, "what-if", 0, "CHANGE", "plan for a changed BIOS setting: nps=1, nps=2, nps=4 or l3-as-numa"},
    {OPTION_FORMAT, "format", 0, "FORM",
     "text, or the change itself: xml, diff (of the XML), virsh, qm (Proxmox) or qemu"},
    {OPTION_PLAN, "plan", 0, NULL, "print only what is to be done, in order"},
    {OPTION_APPLY, "apply", 0, NULL, "make it so, after asking: the VMs that run and their definitions"},
    {OPTION_IGNORE, "ignore", 'i', "ID", "leave out the finding ID, or several (ID,ID...); how many is told"},
    {OPTION_MIN, "min", 'm', "SEVERITY", "leave out findings of less than SEVERITY: fail, warn, advice, info or good"},
    {OPTION_SOURCES, "sources", 's', NULL, "print beside each fact the path that it was read from"},
    {OPTION_YES, "yes", 'y', NULL, "apply without asking"},
    {OPTION_DRY_RUN, "dry-run", 'n', NULL, "print the plan and change nothing"},
    {OPTION_ACCEPT_RISK, "accept-risk", 0, NULL, "open the security hole that the plan names, without typing its name"},
    {OPTION_NO_TRIAL, "no-trial", 0, NULL, "change the default boot entry at once, without a trial boot"},
    {OPTION_THROUGH, "through", 0, "SERVICE",
     "hand the settings to tuned: a profile of its own that includes the active one and is activated"},
    {OPTION_WAIT, "wait", 0, "SECONDS", "wait so long for what is still to come up (0)"},
    {OPTION_METERS, "meters", 0, "FILE", "plugs, UPSes, BMCs and commands to measure with (/etc/hvtune/meters.conf)"},
    {OPTION_WINDOW, "window", 0, "SECONDS", "measure so long (1)"},
    {OPTION_SETTLE, "settle", 0, "SECONDS",
     "look again so long after the last write whether the values stay (2; 0 with --host)"},
    {OPTION_ROOT, "host", 'H', "DIRECTORY",
     "take a directory that holds the sys/ and proc/ of a machine for the machine"},
    {OPTION_EVERY, "all", 'a', NULL, "all changes in force, the newest first"},
    {OPTION_UNDO_YES, "yes", 'y', NULL, "nothing is asked with or without it; scripts may give it to every change"},
    {OPTION_WORKLOAD, "workload", 'w', "NAME", "run the workload that `hvtune workloads` knows by that name"},
    {OPTION_STUDY_VM, "vm", 0, "NAME", "the VM that a study of the program is of; none: of the host alone"},
    {OPTION_MINUTES, "minutes", 0, "N", "take at most so many minutes (27)"},
    {OPTION_TUNE_APPLY, "apply", 0, NULL, "make the best permanent, after asking"},
    {OPTION_PICK, "pick", 0, "WHAT",
     "fastest, efficient, near (efficient and hardly slower), knee, idle, or a configuration by its name"},
    {OPTION_SLOWER, "slower", 0, "PERCENT", "how much slower than the fastest \"near\" may be (5)"},
    {OPTION_ELSEWHERE, "measured-elsewhere", 0, NULL, "take over what was measured on another host or kernel"},
    {OPTION_DONE, "done", 0, NULL, "what the study asks a person for is done"},
    {OPTION_CANNOT, "cannot", 0, "WHY", "it cannot be done: go on without it"},
    {OPTION_NOT_SURE, "not-sure", 0, NULL, "apply with --yes too what the study is not sure of"},
    {OPTION_CONNECT, "connect", 'c', "URI",
     "take the VMs that libvirt has at URI (qemu:///session, say), asked read-only, instead of those in its files"},
    {OPTION_REFRESH, "refresh", 'r', "SECONDS", "read so often: 1 to 10 (2)"},
    {OPTION_TIMES, "times", 0, "N", "stop after N readings"},
    {OPTION_BATCH, "batch", 'b', NULL,
     "print CSV, a line for each value, instead of drawing; with --prometheus too, both"},
    {OPTION_PROMETHEUS, "prometheus", 0, "FILE",
     "write FILE anew with each reading, for the textfile collector of Prometheus' node exporter"},
    {OPTION_CPUS, "cpus", 0, NULL, "a line for each CPU too"},
    {OPTION_REPORT_OUTPUT, "output", 'o', "FILE",
     "write the report to FILE, its form by its name: .html, .md, .json, .csv or .txt; with --format svg the directory "
     "for one file a chart"},
    {OPTION_REPORT_FORMAT, "format", 0, "FORM",
     "text (the usual), html, markdown, json, csv (every run), or svg (the charts, each a file of --output)"},
    {OPTION_STORE, "store", 0, "WHERE",
     "where results are kept and taken from: a file or a postgresql:// address, instead of the usual place"},
    {OPTION_ON, "on", 0, "WHERE",
     "run commands and hooks on another machine (ssh:HOST, no password is asked for) or in a VM of libvirt (vm:NAME, "
     "through its guest agent); its clock measures"},
    {OPTION_SETUP, "setup", 0, "COMMAND", "run COMMAND once before all runs"},
    {OPTION_PREPARE, "prepare", 0, "COMMAND", "run COMMAND before each run, not timed"},
    {OPTION_CONCLUDE, "conclude", 0, "COMMAND", "run COMMAND after each run, not timed"},
    {OPTION_CLEANUP, "cleanup", 0, "COMMAND", "run COMMAND once after all runs, also after Ctrl-C"},
    {OPTION_SHELL, "shell", 0, NULL, "give commands to /bin/sh -c; its start is part of what is timed"},
    {OPTION_CWD, "cwd", 0, "DIRECTORY", "run commands in DIRECTORY"},
    {OPTION_ENV, "env", 0, "VARIABLE", "set a variable for commands: NAME=VALUE; may be repeated"},
    {OPTION_INPUT, "input", 0, "FILE", "standard input of the command (/dev/null)"},
    {OPTION_TIMEOUT, "timeout", 0, "SECONDS", "end a run that takes longer, with all that it has started; it is void"},
    {OPTION_EXIT_CODE, "exit-code", 0, "CODE", "the exit code that is right (0), or any; with another the run is void"},
    {OPTION_SHOW_OUTPUT, "show-output", 0, NULL, "show what commands print, on standard error"},
    {OPTION_METRIC, "metric", 0, "WHAT",
     "take a value from the output: iperf3, sysbench, fio, stress-ng, phoronix, or NAME:UNIT:more=json:POINTER or "
     "NAME:UNIT:less=regex:EXPRESSION; may be repeated"},
    {OPTION_READ_FROM, "read-from", 0, "FILE", "take values from FILE after each run instead of the output"},
    {OPTION_TARGET, "target", 0, "METRIC",
     "the metric that decides (the first that is taken from the output, else wall time)"},
    {OPTION_MAX_LOAD, "max-load", 0, "PERCENT",
     "runs during which other processes use more of the CPUs are void (no limit, it is told)"},
    {OPTION_MAX_TEMP, "max-temp", 0, "CELSIUS",
     "begin no run while a sensor is hotter: wait for it up to two minutes, then the run is void (no limit)"},
    {OPTION_LABEL, "label", 0, "NAME", "name the session"},
    {OPTION_NO_STORE, "no-store", 0, NULL, "keep nothing"},
    {OPTION_RUNS, "runs", 0, "N", "make exactly N runs (1 to 100000)"},
    {OPTION_MOST_RUNS, "max-runs", 0, "N", "make at most N runs (30; 6 to 100000)"},
    {OPTION_PRECISION, "precision", 0, "PERCENT",
     "stop when the interval is that narrow on either side (1; 0.01 to 50)"},
    {OPTION_TIME, "time", 0, "SECONDS", "begin no run after that time"},
    {OPTION_WARMUP, "warmup", 0, "N", "so many first runs are kept but left out (1)"},
    {OPTION_SIDE_A, "a", 0, "SETTINGS",
     "what the first configuration sets: KNOB=VALUE,... as hvtune set takes them, or now for the machine as it is"},
    {OPTION_SIDE_B, "b", 0, "SETTINGS", "what the second sets"},
    {OPTION_SIDE_C, "c", 0, "SETTINGS", "what a third sets"},
    {OPTION_SIDE_D, "d", 0, "SETTINGS", "what a fourth sets"},
    {OPTION_SWITCH, "switch", 0, "COMMAND",
     "run COMMAND with the name of the configuration (A, B or what --a and --b say) behind it, instead of knobs"},
    {OPTION_BLOCKS, "blocks", 0, "N", "make exactly N blocks (2 to 100000)"},
    {OPTION_MOST_BLOCKS, "max-blocks", 0, "N", "make at most N blocks of two configurations (16; 8 to 60)"},
    {OPTION_MARGIN, "margin", 0, "PERCENT", "smaller differences are none (1; 0.01 to 50)"},
    {OPTION_CALIBRATE, "calibrate", 0, "N",
     "compare the first with itself in N blocks before (12; 5 of runs over 2 s)"},
    {OPTION_NO_CALIBRATION, "no-calibration", 0, NULL, "do not compare the first with itself"},
    {OPTION_SEED, "seed", 0, "N", "of the random order within blocks, to have the same once more"},
    {OPTION_FAIL_IF_SLOWER, "fail-if-slower", 0, "PERCENT",
     "exit code 1 when another than the first is shown to be worse by more than that"},
    {OPTION_EXPORT_FORMAT, "format", 0, "FORM", "what export writes: jsonl (the usual; import reads it) or csv"},
    {OPTION_IDLE_SETTLE, "settle", 0, "SECONDS",
     "wait at most so long until load, watts and temperature are flat (120; 0: do not wait)"},
    {OPTION_IDLE_WINDOW, "window", 0, "SECONDS", "measure for so long, in ten parts (60)"},
    {0, NULL, 0, NULL, NULL},
};

static const enum cli_option_id check_options[] = {OPTION_HOST, OPTION_CONNECT, OPTION_JSON,   OPTION_ALL,
						   OPTION_MIN,	OPTION_IGNORE,	OPTION_TIMING, 0};
static const enum cli_option_id show_options[] = {OPTION_HOST, OPTION_CONNECT, OPTION_SOURCES, OPTION_JSON,
						  OPTION_SVG,  OPTION_LIST,    OPTION_TIMING,  0};
static const enum cli_option_id explain_options[] = {OPTION_LIST, OPTION_JSON, OPTION_MARKDOWN, 0};
static const enum cli_option_id lint_options[] = {OPTION_KIND, OPTION_HOST, OPTION_JSON, OPTION_ALL, OPTION_TIMING, 0};
static const enum cli_option_id place_options[] = {
    OPTION_NEW,	   OPTION_NAME,	      OPTION_COPIES, OPTION_FILE, OPTION_POLICY,  OPTION_REPIN,
    OPTION_MOVE,   OPTION_MAX_EXCESS, OPTION_EVEN,   OPTION_SMT,  OPTION_RESERVE, OPTION_WHAT_IF,
    OPTION_FORMAT, OPTION_PLAN,	      OPTION_APPLY,  OPTION_YES,  OPTION_DRY_RUN, OPTION_SETTLE,
    OPTION_HOST,   OPTION_CONNECT,    OPTION_JSON,   OPTION_SVG,  OPTION_TIMING,  0};
static const enum cli_option_id capture_options[] = {OPTION_OUTPUT, OPTION_FORCE, OPTION_HOST, OPTION_TIMING, 0};

static const enum cli_option_id change_options[] = {CHANGE_OPTIONS, 0};
static const enum cli_option_id set_options[] = {OPTION_THROUGH, CHANGE_OPTIONS, 0};
static const enum cli_option_id meters_options[] = {OPTION_WINDOW, OPTION_METERS, OPTION_HOST, OPTION_JSON, 0};
static const enum cli_option_id knobs_options[] = {OPTION_ROOT, OPTION_JSON, 0};
static const enum cli_option_id confirm_options[] = {OPTION_WAIT, OPTION_ROOT, OPTION_JSON, 0};
static const enum cli_option_id undo_options[] = {OPTION_EVERY, OPTION_UNDO_YES, OPTION_ROOT, OPTION_JSON, 0};
static const enum cli_option_id hold_options[] = {0};
static const enum cli_option_id study_options[] = {OPTION_STUDY_VM, OPTION_PICK,   OPTION_SLOWER,   OPTION_ELSEWHERE,
						   OPTION_NOT_SURE, OPTION_YES,	   OPTION_DRY_RUN,  OPTION_ACCEPT_RISK,
						   OPTION_NO_TRIAL, OPTION_SETTLE, OPTION_MAX_LOAD, OPTION_MAX_TEMP,
						   OPTION_METERS,   OPTION_STORE,  OPTION_NO_STORE, OPTION_DONE,
						   OPTION_CANNOT,   OPTION_ROOT,   OPTION_JSON,	    0};
static const enum cli_option_id workloads_options[] = {OPTION_YES, OPTION_DRY_RUN, OPTION_JSON, 0};
static const enum cli_option_id tune_options[] = {
    OPTION_MINUTES,  OPTION_TUNE_APPLY, OPTION_YES,   OPTION_ACCEPT_RISK, OPTION_CWD,  OPTION_MAX_LOAD,
    OPTION_MAX_TEMP, OPTION_METERS,	OPTION_STORE, OPTION_NO_STORE,	  OPTION_JSON, 0};
static const enum cli_option_id status_options[] = {OPTION_ROOT, OPTION_JSON, 0};

static const enum cli_option_id report_options[] = {OPTION_REPORT_FORMAT, OPTION_REPORT_OUTPUT, OPTION_STORE,
						    OPTION_JSON, 0};
static const enum cli_option_id run_options[] = {OPTION_WORKLOAD, OPTION_RUNS,	 OPTION_PRECISION, OPTION_MOST_RUNS,
						 OPTION_TIME,	  OPTION_WARMUP, MEASURE_OPTIONS,  0};

static const enum cli_option_id compare_options[] = {OPTION_SIDE_A,	 OPTION_SIDE_B,		OPTION_SIDE_C,
						     OPTION_SIDE_D,	 OPTION_SWITCH,		OPTION_BLOCKS,
						     OPTION_MOST_BLOCKS, OPTION_MARGIN,		OPTION_TIME,
						     OPTION_WARMUP,	 OPTION_CALIBRATE,	OPTION_NO_CALIBRATION,
						     OPTION_SEED,	 OPTION_FAIL_IF_SLOWER, OPTION_ACCEPT_RISK,
						     OPTION_ROOT,	 MEASURE_OPTIONS,	0};
static const enum cli_option_id top_options[] = {OPTION_REFRESH, OPTION_CPUS, OPTION_BATCH,   OPTION_PROMETHEUS,
						 OPTION_TIMES,	 OPTION_HOST, OPTION_CONNECT, 0};

static const enum cli_option_id results_options[] = {OPTION_STORE, OPTION_EXPORT_FORMAT, OPTION_YES, OPTION_JSON, 0};

static const enum cli_option_id idle_options[] = {OPTION_IDLE_SETTLE, OPTION_IDLE_WINDOW, OPTION_METERS, OPTION_LABEL,
						  OPTION_STORE,	      OPTION_NO_STORE,	  OPTION_JSON,	 0};

#define CODES_USUAL "0 fine, 1 findings, 2 usage, 3 could not"
#define CODES_CHANGE "0 done, 1 put back or not wanted, 2 usage, 3 could not"

const struct cli_command cli_commands[] = {
    {"check", "", "say what is wrong with this host",
     "Reads the host and prints findings, worst first: what was read, what it costs, what to do. Reads only; root is "
     "needed for little and said where it would help. Exit code 1 when there is a failure or a warning.",
     check_options, cmd_check, CODES_USUAL},
    {"show", "[SUBJECT...]", "show the facts, by subject",
     "Prints the facts of the given subjects, or of all; --sources adds where each was read. `hvtune show topology` "
     "draws packages, NUMA nodes, CCXs and cores; --svg makes a picture of it.",
     show_options, cmd_show, CODES_USUAL},
    {"explain", "[ID...]", "explain a finding",
     "Prints mechanism, expected effect with its source, what the change hurts and how to look by hand. A subject "
     "(`hvtune explain idle`) lists the findings of it.",
     explain_options, cmd_explain, CODES_USUAL},
    {"lint", "FILE...", "judge a VM's file, a kernel command line, GRUB default file, tuned profile or tuned log",
     "Prints the findings for a file, on this host or on the one that --host names. FILE - is standard input. Exit "
     "code "
     "1 when there is a failure or a warning.",
     lint_options, cmd_lint, CODES_USUAL},
    {"place", "[VM...]", "say where VMs run best, how good that is, and what to change",
     "Places VMs on cores, L3 groups and NUMA nodes: those of files, new ones, and those of the host; with names only "
     "these, the others are kept where they are. Says why, how far from the best that can be, and prints the change in "
     "the words of libvirt, Proxmox or QEMU; --apply makes it. Exit code 1 when not all could be placed.",
     place_options, cmd_place, CODES_USUAL},
    {"set", "KNOB[@WHERE]=VALUE...", "change settings of this host",
     "Prints the plan - every write in its order, what may move with it, what it costs - and asks. Each write is noted "
     "on disk "
     "before it is made and read back after it; when one fails or does not stick, all are put back.",
     set_options, cmd_set, CODES_CHANGE},
    {"apply", "PLAN", "apply a plan that set --dry-run --json printed",
     "Plans anew what the file asks for, and refuses when the machine is no longer as the plan saw it. Then as set. "
     "PLAN - is "
     "standard input.",
     change_options, cmd_apply, CODES_CHANGE},
    {"fix", "FINDING...", "put right what check found",
     "Makes one plan of the settings that the findings of this host recommend, and goes on as set. A finding that is "
     "not "
     "there needs nothing; one that no setting puts right is refused with what to do by hand.",
     change_options, cmd_fix, CODES_CHANGE},
    {"confirm", "", "make the line of a trial boot the default",
     "Looks at a trial boot that has come up: is the kernel's line the one that was asked for, has it done what it was "
     "to do, does no other unit fail than before, do the VMs run that start with the host. If all is well, the words "
     "become part of the default line; otherwise the next boot has the old one.",
     confirm_options, cmd_confirm, "0 confirmed, 1 not confirmed, 2 usage, 3 could not"},
    {"tune", "[-- COMMAND...]", "find the settings that make a workload fastest here",
     "Runs the quick study with COMMAND, a workload that is known by name, or a few of those: settings of the running "
     "host "
     "in random order, the best measured again beside what the host has now. Everything is put back; --apply then "
     "makes "
     "the best permanent, through plan and journal.",
     tune_options, cmd_tune, "0 answered, 1 unsure or not wanted, 2 usage, 3 could not"},
    {"workloads", "[list|check|install [NAME...]]", "the workloads that are known by name",
     "Lists real programs of Debian that studies measure by name, in groups; @GROUP names all of one. `workloads "
     "check` "
     "runs each once and tells its figure, `workloads install` installs the packages that are missing.",
     workloads_options, cmd_workloads, "0 fine, 1 one does not work here, 2 usage, 3 could not"},
    {"study", "ACTION [FILE|NAME]", "measure many configurations by a plan, and choose",
     "ACTION is list, show, new, check, run, resume, apply, status, pause or abort. "
     "Reads a study: workloads, factors with their levels, and what is sought. `study new` writes a first one for this "
     "host to standard output. `study check` says what it will do, how "
     "often it switches and boots, and what cannot be done on this machine; nothing is touched. `study run` does it: "
     "configurations in random order, until the best is known well enough, and puts all settings back. A study over "
     "words of the kernel's line boots the host by itself and goes on after each boot; `study status`, `study pause`, "
     "`study resume` and `study abort` speak of the one that runs. What a person has to change it asks for, and waits "
     "until "
     "`study resume --done` says so. `study apply` makes what one found permanent.",
     study_options, cmd_study, "0 answered, 1 unsure, not wanted, 2 usage or mistakes, 3 could not"},
    {"report", "[SESSION]", "say what a measurement showed, as a page, a table or charts",
     "Prints the verdict of a session (its number, its label, or last), its charts, figures, host, settings and every "
     "run; as text, as one HTML page that needs no network, as Markdown, JSON or CSV, or the charts as SVG files.",
     report_options, cmd_report, "0 fine, 2 usage, 3 could not"},
    {"top", "", "watch clocks, idle states, watts and VMs as they are now",
     "Draws every L3 group with its clock, C0 and idle states, power and temperature, and each VM with the CPUs on "
     "which "
     "its vCPUs really run and how often they halt; for logs as CSV, and for Prometheus. Reads only; root sees more.",
     top_options, cmd_top, "0 fine, 2 usage, 3 could not"},
    {"undo", "[ID]", "put back what was changed",
     "Puts back the newest change, the change ID or --all, after a crash or a reboot too. What someone else has set "
     "since is left alone and told.",
     undo_options, cmd_undo, "0 done, 1 a part could not be put back, 2 usage, 3 could not"},
    {"status", "", "say which changes are in force",
     "Prints the changes in force: since when, what a reboot clears, what no longer holds what was written, and what "
     "was cut "
     "short. Reads only.",
     status_options, cmd_status, "0 fine, 1 something drifted or was cut short, 2 usage, 3 could not"},
    {"knobs", "[NAME...]", "list what can be set, and how it stands",
     "Prints the knobs that this machine has, with what they hold; of those that are named the page: legal values "
     "here, "
     "what moves with them, what they cost.",
     knobs_options, cmd_knobs, "0 fine, 2 usage, 3 could not"},
    {"meters", "", "list what measures energy, power and temperature here",
     "Prints the sources of energy, power and temperature with what each is of and what it says now, those that do not "
     "work with the reason and what would make them work. Reads only.",
     meters_options, cmd_meters, "0 energy or power is measured, 1 it is not, 2 usage, 3 could not"},
    {"run", "-- COMMAND...", "run a command until its time, watts and joules are known",
     "Runs the command over and over until the interval of the metric that decides is narrow enough, and prints the "
     "interval, what else was measured, and what disturbed. Each run is kept as it ends, so that neither Ctrl-C nor a "
     "kill "
     "loses one.",
     run_options, cmd_run, "0 measured, 1 no run was valid, 2 usage, 3 could not"},
    {"compare", "-- COMMAND...", "compare commands or settings, and say how sure it is",
     "Compares two to 16 commands (each one word: 'make -j32' 'make -j64'), or one command under two to four settings "
     "(--a to --d) that are "
     "set "
     "and put back through the journal, in blocks of random order, until the interval of their ratio decides. First "
     "the "
     "first is compared with itself. The verdict is that one is better, that no difference is larger than so much, or "
     "that it is undecided.",
     compare_options, cmd_compare, "0 compared, 1 by --fail-if-slower, 2 usage, 3 could not"},
    {"idle", "", "measure what the machine draws when it does nothing",
     "Waits until the machine has settled, then measures power for a while in ten parts: the mean with its interval "
     "and the lowest "
     "part, for each boundary that has a meter, with temperature and how busy the CPUs were meanwhile.",
     idle_options, cmd_idle, "0 measured, 1 no figure, 2 usage, 3 could not, or no meter"},
    {"results", "[ACTION [SESSION...]]", "list, show and move what was measured",
     "Lists the sessions that are kept; show prints one, compare two beside each other with what else differs, delete "
     "forgets, merge copies other stores into this one, export and import carry sessions as JSON lines, and export as "
     "CSV. "
     "A session is named by its number or label; last is the newest.",
     results_options, cmd_results, "0 fine, 1 not wanted, 2 usage, 3 could not"},
    {"capture", "", "write an anonymised archive of this host",
     "Writes one archive of exactly what all commands ask, with serial numbers, MAC addresses, UUIDs and names "
     "replaced. "
     "Every command gives the same answer from it with --host.",
     capture_options, cmd_capture, CODES_USUAL},
    {"hold-latency", "MICROSECONDS", "hold a limit of the wake-up time until it is ended",
     "What the unit of `hvtune set latency.hold=50` runs: opens /dev/cpu_dma_latency, writes the limit and sleeps. The "
     "kernel forgets the limit when the process ends.",
     hold_options, cmd_hold_latency, "0 ended by a signal, 2 usage, 3 could not"},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
