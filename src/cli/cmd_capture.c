/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune capture`: everything that any command asks of the host is asked, and written as one archive. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "advise.h"
#include "cli.h"
#include "config.h"
#include "meter.h"
#include "progress.h"
#include "sys_capture.h"
#include "text.h"
#include "vm_joined.h"

static void show_progress(void *context, int percent)
{
	progress_show(context, "writing, %d %%", percent);
}

/* What meters are found by, and what each says now. */
static void ask_meters(struct sys *sys)
{
	static const struct meter_setup only_host = {.only_look = true};
	CLEANUP(meter_set_close_pointer) struct meter_set *set = NULL;
	const struct meter_source *source;

	if (meter_set_open(sys, &only_host, &set, NULL) < 0)
		return;
	for (size_t i = 0; (source = meter_source_at(set, i)); i++)
		(void)sys_read(sys, "%s", source->place);
}

/* What facts look at is read by host_open(); rules may look at more. */
static void ask_everything(struct host *host)
{
	CLEANUP(vm_joined_free_pointer) struct vm_joined *vms = NULL;
	struct advise_subject subject = {.host = host};

	if (vm_joined_read(host, NULL, &vms, NULL) == 0) {
		subject.vms = vms->vms;
		subject.vm_count = (size_t)vms->count;
	}
	(void)advise_result_free(advise_run(&subject));
	ask_meters(host->sys);
	/* The names to be replaced everywhere. */
	(void)sys_read(host->sys, "/proc/sys/kernel/hostname");
	(void)sys_read(host->sys, "/etc/hostname");
}

static const char *default_path(struct arena *arena)
{
	time_t now = time(NULL);
	char date[16] = "";
	struct tm day;

	if (localtime_r(&now, &day))
		(void)strftime(date, sizeof(date), "%Y%m%d", &day);
	return arena_printf(arena, "hvtune-capture-%s.tar.xz", date);
}

static void print_result(const struct cli *cli, const char *path, const struct capture_result *result)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	bool to_stdout = text_equal(path, "-");
	struct term errors = term_of(stderr);
	const struct term *term = to_stdout ? &errors : &cli->out;

	if (to_stdout)
		term_flow(
		    term, 0, false,
		    arena_printf(arena, "hvtune: %zu files were written to standard output.", result->file_count));
	else
		(void)fprintf(term->out, "%s: %s, %zu files\n", path,
			      text_kib(arena, (int64_t)((result->size_bytes + 1023) / 1024)), result->file_count);
	if (result->unreadable_count)
		term_flow(term, 0, false,
			  arena_printf(arena, "%zu %s refused and captured as refused%s.", result->unreadable_count,
				       result->unreadable_count == 1 ? "file was" : "files were",
				       geteuid() == 0 ? "" : "; root may see more"));
	if (to_stdout)
		return;
	term_flow(term, 0, false,
		  arena_printf(
		      arena,
		      "Anonymised: serial numbers, addresses, UUIDs and names are replaced (%zu of them), each by the "
		      "same one everywhere. Look into it before you give it away: tar xf %s",
		      result->replaced_count, path));
	term_flow(term, 0, false, arena_printf(arena, "Use it with: hvtune check --host %s", path));
}

int cmd_capture(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(base_free) char *xml = NULL;
	const char *path = cli->values[OPTION_OUTPUT] ? cli->values[OPTION_OUTPUT] : default_path(arena);
	struct progress progress;
	struct capture_request request = {
	    .path = path, .overwrite = cli_given(cli, OPTION_FORCE), .version = HVTUNE_VERSION};
	struct capture_result result;
	struct err err = {0};

	if (cli->argument_count)
		return cli_usage(cli, "capture takes no arguments, but got \"%s\"; -o names the file",
				 cli->arguments[0]);
	if (sys_capture_check(path, request.overwrite, &err) < 0)
		return cli_fail(&err);
	int r = cli_open_host(cli, &host);

	if (r)
		return r;
	if (host->kind == HOST_HWLOC_XML || host->kind == HOST_LSCPU || host->kind == HOST_SYNTHETIC) {
		(void)err_set(&err, EINVAL, host->name,
			      "there is nothing to capture: this host is no more than its text");
		(void)err_hint(&err, "give that text to --host");
		return cli_fail(&err);
	}
	ask_everything(host);
	/* Where hwloc saw nothing the lists of sysfs were read, and are among the looks. */
	if (host->kind == HOST_ARCHIVE)
		request.hwloc_xml = sys_capture_part(host->sys, CAPTURE_HWLOC, &request.hwloc_size);
	else if (text_equal(host->topology.state.source, "hwloc") &&
		 host_topology_export_xml(host, &xml, &request.hwloc_size, &err) < 0)
		return cli_fail(&err);
	else
		request.hwloc_xml = xml;
	progress = progress_start();
	request.progress = show_progress;
	request.context = &progress;
	r = sys_capture_write(host->sys, &request, &result, &err);
	progress_end(&progress);
	if (r < 0)
		return cli_fail(&err);
	print_result(cli, path, &result);
	cli_print_timing(cli, host);
	return EXIT_FINE;
}
