/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune lint`: each file is judged in the place of the host's own command line or profile. */
#include <errno.h>

#include "advise.h"
#include "advise_words.h"
#include "cli.h"
#include "host_cmdline_file.h"
#include "lint_file.h"
#include "report.h"
#include "text.h"
#include "vm_nic.h"
#include "vm_process.h"
#include "vm_proxmox.h"
#include "vm_qemu_line.h"
#include "vm_xml.h"

/* What a file turned out to be, and what of it the rules look at. */
struct linted {
	struct host_cmdline cmdline;
	struct tuned_profile profile;
	struct vm *vm;
	struct vm **running; /* VMs of the host */
	int running_count;
	struct advise_subject subject;
};

static void free_linted(struct linted *linted)
{
	linted->vm = vm_free(linted->vm);
	vm_running_free(linted->running, linted->running_count);
}

/* Prose would pass for a command line of unknown words; one word that a kernel knows is asked for. */
static int refuse_prose(const char *path, const struct host_cmdline *cmdline, struct err *err)
{
	for (int i = 0; i < cmdline->count; i++) {
		const struct cmdline_word *word = &cmdline->words[i];

		if ((word->value || text_has_word("quiet ro rw nosmt", " ", word->name)) &&
		    advise_kernel_word(word->name))
			return 0;
	}
	(void)err_set(err, EINVAL, path, "no word in it is a kernel parameter that hvtune knows");
	return err_hint(err, "if it is a command line all the same, say --kind cmdline");
}

static int read_cmdline(struct host *host, const char *path, const char *text, enum lint_kind kind,
			struct linted *linted, struct err *err)
{
	static int (*const readers[])(struct arena *, const char *, const char *, struct host_cmdline *,
				      struct err *) = {[LINT_CMDLINE] = cmdline_read_plain,
						       [LINT_ENTRY] = cmdline_read_entry,
						       [LINT_GRUB] = cmdline_read_grub,
						       [LINT_MODPROBE] = cmdline_read_modprobe};
	int r = readers[kind](host->arena, path, text, &linted->cmdline, err);

	linted->subject.cmdline = &linted->cmdline;
	linted->subject.rule_prefixes = "cmdline.";
	return r;
}

static int read_tuned(struct host *host, const char *path, const char *text, struct linted *linted, struct err *err)
{
	int r = tuned_profile_parse(host, path, text, &linted->profile, err);

	linted->subject.profile = &linted->profile;
	linted->subject.rule_prefixes = "tuned.";
	/* What tuned cannot read is a finding like others, with its line. */
	return r == -EINVAL ? 0 : r;
}

static bool is_same_vm(const struct vm *a, const struct vm *b)
{
	if (a->uuid && b->uuid)
		return strcasecmp(a->uuid, b->uuid) == 0;
	return text_equal(a->name, b->name);
}

/*
 * The VM that the file is of may run on this host. It is set beside the file, not in its place: the file may be a draft
 * of what is to be, and is judged as it is written.
 */
static void find_running(struct host *host, struct linted *linted)
{
	struct vm *vm = linted->vm;

	if ((!vm->name && !vm->uuid) ||
	    vm_running(host, host->arena, &linted->running, &linted->running_count, NULL) < 0)
		return;
	for (int i = 0; i < linted->running_count && !vm->process; i++)
		if (is_same_vm(vm, linted->running[i]))
			vm->process = linted->running[i];
}

static int read_vm(struct host *host, const char *path, const char *text, enum lint_kind kind, struct linted *linted,
		   struct err *err)
{
	static int (*const readers[])(const char *, const char *, size_t, struct vm **, struct err *) = {
	    [LINT_DOMAIN] = vm_read_libvirt_xml, [LINT_PROXMOX] = vm_read_proxmox, [LINT_QEMU] = vm_read_qemu_line};

	linted->subject.vms = &linted->vm;
	linted->subject.vm_count = 1;
	linted->subject.rule_prefixes = "vm.";
	int r = readers[kind](path, text, strlen(text), &linted->vm, err);

	if (r < 0)
		return r;
	vm_find_ports(host, linted->vm);
	find_running(host, linted);
	return 0;
}

static int read_linted(const struct cli *cli, struct host *host, const char *path, struct linted *linted,
		       struct err *err)
{
	const char *shown = text_equal(path, "-") ? "standard input" : path;
	const char *kind_name = cli->values[OPTION_KIND];
	enum lint_kind kind = kind_name ? lint_kind_by_name(kind_name) : LINT_UNKNOWN;
	const char *text;
	int r = lint_file_read(host->arena, path, &text, err);

	if (r == 0 && !kind_name)
		r = lint_file_kind(shown, text, &kind, err);
	if (r)
		return r;
	linted->subject = (struct advise_subject){.host = host, .path = shown};
	if (kind == LINT_DOMAIN || kind == LINT_PROXMOX || kind == LINT_QEMU)
		return read_vm(host, shown, text, kind, linted, err);
	if (kind == LINT_TUNED)
		return read_tuned(host, shown, text, linted, err);
	if (kind == LINT_TUNED_LOG) {
		linted->subject.verify_log = text;
		linted->subject.rule_prefixes = "tuned.verify";
		return 0;
	}
	r = read_cmdline(host, shown, text, kind, linted, err);
	return r == 0 && kind == LINT_CMDLINE && !kind_name ? refuse_prose(shown, &linted->cmdline, err) : r;
}

/* Judge one file: EXIT_FINE, EXIT_FINDINGS or EXIT_COULD_NOT. `ret_json` is NULL for text. */
static int lint_one(const struct cli *cli, struct host *host, const char *path, json_t **ret_json)
{
	struct err err = {0};
	CLEANUP(free_linted) struct linted linted = {0};

	if (read_linted(cli, host, path, &linted, &err) < 0)
		return cli_fail(&err);
	CLEANUP(advise_result_free_pointer) struct advise_result *result = advise_run(&linted.subject);

	if (ret_json) {
		*ret_json = report_findings_json(host, result, "lint");
		json_object_set_new(*ret_json, "path", json_string(linted.subject.path));
	} else {
		if (cli->argument_count > 1)
			(void)fprintf(cli->out.out, "%s:\n", text_visible(host->arena, linted.subject.path));
		report_findings(&cli->out, host, NULL, result, cli_given(cli, OPTION_ALL));
	}
	return result->count_by_severity[ADVISE_FAIL] + result->count_by_severity[ADVISE_WARN] ? EXIT_FINDINGS
											       : EXIT_FINE;
}

int cmd_lint(struct cli *cli)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	bool as_json = cli_given(cli, OPTION_JSON);
	json_t *all = NULL;
	int worst = EXIT_FINE, standard_inputs = text_equal(cli->values[OPTION_HOST], "-");

	if (!cli->argument_count)
		return cli_usage(cli, "lint needs a FILE");
	if (cli_given(cli, OPTION_KIND) && lint_kind_by_name(cli->values[OPTION_KIND]) == LINT_UNKNOWN)
		return cli_usage(
		    cli,
		    "there is no kind \"%s\"; there are domain, proxmox, qemu, cmdline, entry, grub, modprobe, "
		    "tuned and tuned-log",
		    cli->values[OPTION_KIND]);
	for (int i = 0; i < cli->argument_count; i++)
		standard_inputs += text_equal(cli->arguments[i], "-");
	if (standard_inputs > 1)
		return cli_usage(cli, "standard input can be read once only");
	int r = cli_open_host(cli, &host);

	if (r)
		return r;
	/* One file or many: always an array, so that who reads it needs one way. */
	if (as_json)
		all = json_array();
	for (int i = 0; i < cli->argument_count; i++) {
		json_t *json = NULL;

		if (i && !as_json)
			(void)fputc('\n', cli->out.out);
		r = lint_one(cli, host, cli->arguments[i], as_json ? &json : NULL);
		worst = MAX_OF(worst, r);
		if (json)
			json_array_append_new(all, json);
	}
	if (all)
		(void)report_json_print(stdout, all);
	cli_print_timing(cli, host);
	return worst;
}
