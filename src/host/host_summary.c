/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the one line that says what a host is. What is not known stays unsaid. */
#include <ctype.h>

#include "host.h"
#include "text.h"

static void append(struct arena *arena, const char **text, const char *separator, const char *more)
{
	*text = arena_printf(arena, "%s%s%s", *text, **text ? separator : "", more);
}

static const char *plural(int count)
{
	return count == 1 ? "" : "s";
}

/* Words of a model name that say nothing: "AMD EPYC 9354P 32-Core Processor" is an EPYC 9354P. */
static bool is_filler(const char *word, size_t length)
{
	static const char *const fillers[] = {"AMD", "CPU", "Processor", "processor"};

	for (size_t i = 0; i < ARRAY_SIZE(fillers); i++)
		if (strlen(fillers[i]) == length && strncmp(word, fillers[i], length) == 0)
			return true;
	/* "32-Core", "Six-Core", "24-Cores" */
	const char *core = memmem(word, length, "-Core", 5);

	return core && core > word && (size_t)(word + length - core) <= strlen("-Cores");
}

static void remove_marks(char *name)
{
	static const char *const marks[] = {"(R)", "(r)", "(TM)", "(tm)"};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		for (char *at; (at = strstr(name, marks[i]));)
			memmove(at, at + strlen(marks[i]), strlen(at + strlen(marks[i])) + 1);
}

const char *host_cpu_short_name(const struct host_cpu *cpu, struct arena *arena)
{
	const char *model = fact_text_or(&cpu->model_name, NULL);
	const char *shortened = "";

	if (!model)
		return NULL;
	char *name = arena_strdup(arena, model);

	remove_marks(name);
	/* "@ 2.40GHz", "with Radeon Graphics", "w/ Radeon 780M" */
	static const char *const tails[] = {" @ ", " with Radeon", " w/ Radeon"};

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		char *tail = strstr(name, tails[i]);

		if (tail)
			*tail = '\0';
	}
	for (const char *word = name; *word;) {
		size_t length = strcspn(word, " \t");

		if (length && !is_filler(word, length))
			append(arena, &shortened, " ", arena_strndup(arena, word, length));
		word += length;
		word += strspn(word, " \t");
	}
	return *shortened ? shortened : model;
}

/* ---- L3 groups ---- */

struct l3_kind {
	int members, groups; /* cores (or CPUs, where cores are not known) in each; how many such groups */
	int64_t size_kib;
};

enum { MOST_KINDS = 3 };

/* -1 when there are more kinds than can be told in a line. */
static int l3_kinds(const struct host_topology *topology, struct l3_kind kinds[MOST_KINDS])
{
	int count = 0;

	for (int i = 0; i < topology->l3_count; i++) {
		const struct topology_l3 *l3 = &topology->l3s[i];
		int members = topology->core_known ? l3->core_count : cpuset_count(&l3->cpus);
		int at = 0;

		while (at < count && (kinds[at].members != members || kinds[at].size_kib != l3->size_kib))
			at++;
		if (at == MOST_KINDS)
			return -1;
		if (at == count)
			kinds[count++] = (struct l3_kind){.members = members, .size_kib = l3->size_kib};
		kinds[at].groups++;
	}
	return count;
}

static const char *members_of(struct arena *arena, const struct host_topology *topology, int members)
{
	return arena_printf(arena, "%d %s%s", members, topology->core_known ? "core" : "CPU", plural(members));
}

/* "8 CCX of 4 cores (32 MiB L3 each)", "1 CCX of 8 cores with 96 MiB and 1 with 32 MiB" */
static const char *l3_text(const struct host *host, struct arena *arena)
{
	const struct host_topology *topology = &host->topology;
	struct l3_kind kinds[MOST_KINDS];
	int count = l3_kinds(topology, kinds);
	const char *text = "";

	if (!topology->l3_known || topology->l3_count == 0)
		return NULL;
	const char *what = host->cpu.zen != ZEN_NONE ? "CCX" : topology->l3_count == 1 ? "L3 group" : "L3 groups";

	if (count < 0)
		return arena_printf(arena, "%d %s of unlike sizes", topology->l3_count, what);
	if (count == 1) {
		text = arena_printf(arena, "%d %s of %s", kinds[0].groups, what,
				    members_of(arena, topology, kinds[0].members));
		if (kinds[0].size_kib > 0)
			text = arena_printf(arena, "%s (%s L3%s)", text, text_kib(arena, kinds[0].size_kib),
					    kinds[0].groups > 1 ? " each" : "");
		return text;
	}
	for (int i = 0; i < count; i++) {
		const char *part = arena_printf(arena, "%d", kinds[i].groups);

		if (i == 0)
			part = arena_printf(arena, "%s %s", part, what);
		if (i == 0 || kinds[i].members != kinds[i - 1].members)
			part = arena_printf(arena, "%s of %s", part, members_of(arena, topology, kinds[i].members));
		if (kinds[i].size_kib > 0)
			part = arena_printf(arena, "%s with %s", part, text_kib(arena, kinds[i].size_kib));
		append(arena, &text, i == count - 1 ? " and " : ", ", part);
	}
	return text;
}

static const char *node_text(const struct host_topology *topology, struct arena *arena)
{
	const char *text = arena_printf(arena, "%d node%s", topology->node_count, plural(topology->node_count));

	if (!topology->node_known)
		return NULL;
	if (fact_known(&topology->nps))
		return arena_printf(arena, "%s (NPS%d)", text, (int)topology->nps.number);
	if (fact_is_on(&topology->l3_as_numa))
		return arena_printf(arena, "%s (L3 as NUMA domain)", text);
	return text;
}

/* "Fedora Linux 42 (Server Edition)" is Fedora 42, "Debian GNU/Linux 12 (bookworm)" Debian 12. */
static const char *distribution_text(const struct host_os *os, struct arena *arena)
{
	const char *name = fact_text_or(&os->distribution, NULL), *text = "";

	if (!name)
		return NULL;
	for (const char *word = name; *word && *word != '(';) {
		size_t length = strcspn(word, " ");

		if (length && strncmp(word, "GNU/Linux", length) != 0 && strncmp(word, "Linux", length) != 0)
			append(arena, &text, " ", arena_strndup(arena, word, length));
		word += length;
		word += strspn(word, " ");
	}
	return *text ? text : name;
}

static const char *system_text(const struct host_os *os, struct arena *arena)
{
	const char *text = fact_is_on(&os->proxmox) ? "Proxmox VE" : "";
	const char *distribution = distribution_text(os, arena);

	if (distribution)
		append(arena, &text, ", ", distribution);
	if (os->kernel_major > 0)
		append(
		    arena, &text, ", ",
		    arena_printf(arena, "%s %d.%d", *text ? "kernel" : "Kernel", os->kernel_major, os->kernel_minor));
	return text;
}

const char *host_summary(const struct host *host, struct arena *arena)
{
	const struct host_topology *topology = &host->topology;
	struct cpuset off = host_cpu_switched_off(host);
	const char *name = host_cpu_short_name(&host->cpu, arena);
	const char *hypervisor = fact_text_or(&host->os.hypervisor, "unknown");
	const char *shape = "", *text, *part;

	/* Of several unknown ones only the number is worth a word. */
	if (!name && topology->package_count > 1 && !host_is_guest(host))
		name = arena_printf(arena, "%d packages", topology->package_count);
	else if (!name)
		name = host_is_guest(host) ? "unknown CPU" : "Unknown CPU";
	else if (topology->package_count > 1 && !host_is_guest(host))
		name = arena_printf(arena, "%d x %s", topology->package_count, name);
	if (host_is_guest(host))
		name = text_equal(hypervisor, "unknown") ? arena_printf(arena, "A guest: %s", name)
							 : arena_printf(arena, "A %s guest: %s", hypervisor, name);
	if (topology->core_known)
		append(arena, &shape, ", ",
		       arena_printf(arena, "%d core%s", topology->core_count, plural(topology->core_count)));
	if (topology->thread_count > 0)
		append(arena, &shape, ", ",
		       arena_printf(arena, "%d thread%s", topology->thread_count, plural(topology->thread_count)));
	if (!cpuset_empty(&off))
		append(arena, &shape, ", ", arena_printf(arena, "CPUs %s off line", cpuset_format(arena, &off)));
	if ((part = l3_text(host, arena)))
		append(arena, &shape, ", ", part);
	if ((part = node_text(topology, arena)))
		append(arena, &shape, ", ", part);
	text = *shape ? arena_printf(arena, "%s%s %s.", name, host_is_guest(host) ? "," : ":", shape)
		      : arena_printf(arena, "%s.", name);
	part = system_text(&host->os, arena);
	return *part ? arena_printf(arena, "%s %s.", text, part) : text;
}
