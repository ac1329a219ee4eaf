/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in watch_share.h. */
#include "watch_share.h"

#include <math.h>

struct part {
	const struct watch_view *view;
	const int *os_packages;
	int package_count;
	int os_package; /* whose CPUs; -1: all */
};

static bool holds(const struct part *part, const struct watch_cpu *cpu)
{
	if (part->os_package < 0)
		return true;
	return cpu->package >= 0 && cpu->package < part->package_count &&
	       part->os_packages[cpu->package] == part->os_package;
}

static double busy(const struct part *part)
{
	double sum = 0;

	for (size_t i = 0; i < part->view->cpu_count; i++)
		if (holds(part, &part->view->cpus[i]))
			sum += part->view->cpus[i].use;
	return sum;
}

/* A vCPU's time is put down to the CPU on which it was seen last. */
static double time_of(const struct part *part, const struct watch_vm *vm)
{
	double sum = 0;

	for (int k = 0; k < vm->count; k++)
		for (size_t i = 0; i < part->view->cpu_count; i++)
			if (part->view->cpus[i].cpu == vm->vcpus[k].cpu && holds(part, &part->view->cpus[i]))
				sum += vm->vcpus[k].use;
	return sum;
}

static bool counts(const struct meter_source *source, enum meter_boundary boundary)
{
	return source->chosen && source->boundary == boundary &&
	       (source->quantity == METER_ENERGY || source->quantity == METER_POWER);
}

static bool put_down(struct watch_view *view, const int *os_packages, int package_count, enum meter_boundary boundary)
{
	bool any = false;

	for (size_t i = 0; i < view->reading_count; i++) {
		const struct watch_reading *reading = &view->readings[i];
		const struct part part = {view, os_packages, package_count, reading->source->package};
		double all;

		if (!counts(reading->source, boundary))
			continue;
		all = busy(&part);
		for (size_t k = 0; k < view->vm_count; k++) {
			struct watch_vm *vm = &view->vms[k];
			double own = time_of(&part, vm);

			if (!any)
				vm->power_w = 0;
			/* Both are counted in ticks: a hair more than all is all. */
			if (own > 0 || isnan(own) || isnan(reading->value))
				vm->power_w += reading->value * (own > all ? 1 : own / all);
		}
		any = true;
	}
	return any;
}

void watch_share_power(struct watch_view *view, const int *os_packages, int package_count)
{
	for (size_t i = 0; i < view->vm_count; i++)
		view->vms[i].power_w = (double)NAN;
	if (!put_down(view, os_packages, package_count, METER_PACKAGE))
		(void)put_down(view, os_packages, package_count, METER_SOCKET);
}
