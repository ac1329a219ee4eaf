/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a host does now for machines to read: CSV and the text format of Prometheus. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "report_watch.h"
#include "text.h"

/* ---- CSV ---- */

struct log {
	FILE *out;
	char at[48];
};

/* RFC 4180: quoted where it must be. Control characters never. */
static void put_field(FILE *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"") != NULL;

	if (quoted)
		(void)fputc('"', out);
	for (bool visible; *text;) {
		size_t length = text_character(text, &visible);

		if (*text == '"')
			(void)fputc('"', out);
		text_put(out, text, length);
		text += length;
	}
	if (quoted)
		(void)fputc('"', out);
}

static void put(const struct log *log, const char *kind, const char *name, const char *quantity, double value,
		const char *unit)
{
	if (!isfinite(value))
		return;
	(void)fprintf(log->out, "%s,%s,", log->at, kind);
	put_field(log->out, name);
	(void)fprintf(log->out, ",%s,%.6g,%s\n", quantity, value, unit);
}

static void put_activity(const struct log *log, const struct watch_view *view, const char *kind, const char *name,
			 const double *clock_c0_use, const double *idle)
{
	put(log, kind, name, "clock", clock_c0_use[0], "MHz");
	put(log, kind, name, "C0", clock_c0_use[1], "share");
	put(log, kind, name, "use", clock_c0_use[2], "share");
	for (size_t i = 0; i < view->state_count; i++)
		put(log, kind, name, view->states[i], idle[i], "share");
}

void report_watch_csv_head(FILE *out)
{
	(void)fputs("time,kind,name,quantity,value,unit\n", out);
}

void report_watch_csv(FILE *out, const struct watch_view *view, bool cpus)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct log log = {.out = out};
	time_t seconds = (time_t)(view->at_us / 1000000);
	struct tm parts;
	char text[32];

	if (gmtime_r(&seconds, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts))
		(void)snprintf(log.at, sizeof(log.at), "%s.%06dZ", text, (int)(view->at_us % 1000000));
	for (size_t i = 0; i < view->reading_count; i++)
		put(&log, "source", view->readings[i].source->name,
		    view->readings[i].source->quantity == METER_TEMPERATURE ? "temperature" : "power",
		    view->readings[i].value, view->readings[i].source->quantity == METER_TEMPERATURE ? "C" : "W");
	for (size_t i = 0; i < view->group_count; i++) {
		const struct watch_group *group = &view->groups[i];

		put_activity(&log, view, "l3", arena_printf(arena, "%d", group->l3),
			     (const double[]){group->clock_mhz, group->c0, group->use}, group->idle);
	}
	for (size_t i = 0; i < view->cpu_count && cpus; i++) {
		const struct watch_cpu *cpu = &view->cpus[i];

		put_activity(&log, view, "cpu", arena_printf(arena, "%d", cpu->cpu),
			     (const double[]){cpu->clock_mhz, cpu->c0, cpu->use}, cpu->idle);
	}
	for (size_t i = 0; i < view->vm_count; i++) {
		const struct watch_vm *vm = &view->vms[i];

		put(&log, "vm", vm->name, "use", vm->use, "CPUs");
		put(&log, "vm", vm->name, "halts", vm->halts, "1/s");
		put(&log, "vm", vm->name, "power estimate", vm->power_w, "W");
		for (int k = 0; k < vm->count; k++) {
			const char *name = arena_printf(arena, "%s/%d", vm->name, vm->vcpus[k].id);

			put(&log, "vcpu", name, "cpu", vm->vcpus[k].cpu < 0 ? (double)NAN : vm->vcpus[k].cpu, "number");
			put(&log, "vcpu", name, "use", vm->vcpus[k].use, "share");
		}
	}
	(void)fflush(out);
}

/* ---- Prometheus ---- */

/* Values of labels: backslash, quote and end of line are escaped (exposition formats of Prometheus, text 0.0.4). */
static const char *label(struct arena *arena, const char *text)
{
	const char *shown = text_visible(arena, text);
	char *escaped = arena_alloc(arena, strlen(shown) * 2 + 1), *end = escaped;

	for (; *shown; shown++) {
		if (*shown == '\\' || *shown == '"')
			*end++ = '\\';
		*end++ = *shown;
	}
	return escaped;
}

static void family(FILE *out, const char *name, const char *help)
{
	(void)fprintf(out, "# HELP hvtune_%s %s\n# TYPE hvtune_%s gauge\n", name, help, name);
}

static void gauge(FILE *out, const char *name, const char *labels, double value)
{
	if (isfinite(value))
		(void)fprintf(out, "hvtune_%s{%s} %.9g\n", name, labels, value);
}

static void put_cpus(FILE *out, struct arena *arena, const struct watch_view *view)
{
	const char **labels = ARENA_ARRAY(arena, view->cpu_count + 1, const char *);

	for (size_t i = 0; i < view->cpu_count; i++)
		labels[i] = arena_printf(arena, "cpu=\"%d\",l3=\"%d\",package=\"%d\"", view->cpus[i].cpu,
					 view->cpus[i].l3, view->cpus[i].package);
	family(out, "cpu_clock_hertz", "Clock of the CPU while it ran.");
	for (size_t i = 0; i < view->cpu_count; i++)
		gauge(out, "cpu_clock_hertz", labels[i], view->cpus[i].clock_mhz * 1e6);
	family(out, "cpu_c0_ratio", "Share of time in C0.");
	for (size_t i = 0; i < view->cpu_count; i++)
		gauge(out, "cpu_c0_ratio", labels[i], view->cpus[i].c0);
	family(out, "cpu_use_ratio", "Share of time that the scheduler gave to something.");
	for (size_t i = 0; i < view->cpu_count; i++)
		gauge(out, "cpu_use_ratio", labels[i], view->cpus[i].use);
	family(out, "cpu_idle_ratio", "Share of time in each idle state.");
	for (size_t i = 0; i < view->cpu_count; i++)
		for (size_t k = 0; k < view->state_count; k++)
			gauge(out, "cpu_idle_ratio",
			      arena_printf(arena, "%s,state=\"%s\"", labels[i], label(arena, view->states[k])),
			      view->cpus[i].idle[k]);
}

static void put_sources(FILE *out, struct arena *arena, const struct watch_view *view, bool heat)
{
	const char *name = heat ? "temperature_celsius" : "power_watts";

	family(out, name, heat ? "Temperature by sensor." : "Power by source; boundary says of what.");
	for (size_t i = 0; i < view->reading_count; i++) {
		const struct meter_source *source = view->readings[i].source;

		if ((source->quantity == METER_TEMPERATURE) == heat)
			gauge(out, name,
			      arena_printf(arena, "source=\"%s\",boundary=\"%s\"", label(arena, source->name),
					   meter_boundary_name(source->boundary)),
			      view->readings[i].value);
	}
}

static void put_vms(FILE *out, struct arena *arena, const struct watch_view *view)
{
	family(out, "vm_use_cpus", "CPUs that the vCPUs of the VM take together.");
	for (size_t i = 0; i < view->vm_count; i++)
		gauge(out, "vm_use_cpus", arena_printf(arena, "vm=\"%s\"", label(arena, view->vms[i].name)),
		      view->vms[i].use);
	family(out, "vm_halts_per_second", "Halts of the VM's vCPUs that left the guest.");
	for (size_t i = 0; i < view->vm_count; i++)
		gauge(out, "vm_halts_per_second", arena_printf(arena, "vm=\"%s\"", label(arena, view->vms[i].name)),
		      view->vms[i].halts);
	family(out, "vm_power_estimate_watts",
	       "Watts of the packages by the VM's share of the time that their CPUs were busy; an estimate.");
	for (size_t i = 0; i < view->vm_count; i++)
		gauge(out, "vm_power_estimate_watts", arena_printf(arena, "vm=\"%s\"", label(arena, view->vms[i].name)),
		      view->vms[i].power_w);
	family(out, "vcpu_cpu", "Number of the CPU on which the vCPU ran last.");
	for (size_t i = 0; i < view->vm_count; i++)
		for (int k = 0; k < view->vms[i].count; k++)
			gauge(out, "vcpu_cpu",
			      arena_printf(arena, "vm=\"%s\",vcpu=\"%d\"", label(arena, view->vms[i].name),
					   view->vms[i].vcpus[k].id),
			      view->vms[i].vcpus[k].cpu < 0 ? (double)NAN : view->vms[i].vcpus[k].cpu);
	family(out, "vcpu_use_ratio", "Share of a CPU that the vCPU takes.");
	for (size_t i = 0; i < view->vm_count; i++)
		for (int k = 0; k < view->vms[i].count; k++)
			gauge(out, "vcpu_use_ratio",
			      arena_printf(arena, "vm=\"%s\",vcpu=\"%d\"", label(arena, view->vms[i].name),
					   view->vms[i].vcpus[k].id),
			      view->vms[i].vcpus[k].use);
}

void report_watch_prometheus(FILE *out, const struct watch_view *view)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	put_cpus(out, arena, view);
	put_sources(out, arena, view, false);
	put_sources(out, arena, view, true);
	put_vms(out, arena, view);
	family(out, "sampled_seconds", "When this was read, since 1970.");
	(void)fprintf(out, "hvtune_sampled_seconds %.3f\n", (double)view->at_us / 1e6);
}
