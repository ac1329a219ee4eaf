/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_cpufreq.h. */
#include "host_cpufreq.h"

#include <errno.h>

#include "host.h"
#include "text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define X3D_DIR "/sys/bus/platform/drivers/amd_x3d_vcache"

/*
 * Frequencies outside of this are no frequencies of a CPU: the slowest limit of any AMD64 part is 400 MHz, the record
 * under liquid helium is below 10 GHz. What lies inside and still cannot be is the business of a finding.
 */
enum { LOWEST_KHZ = 10 * 1000, HIGHEST_KHZ = 10 * 1000 * 1000 };

/* More different values than this of one setting are shown as one group of "other" CPUs. */
enum { GROUPS_MAX = 32 };

/* On which policies a file is read: each read counts, a large host has 384 policies. */
enum policy_reads {
	READ_ALL,   /* on all, if the first policy has the file */
	READ_FIRST, /* alike on all policies of one driver */
	READ_ALIKE, /* alike where cpuinfo_max_freq is, which says that the cores are of one kind and rank */
};

static const struct policy_file {
	size_t offset; /* of the fact in struct cpufreq_policy */
	enum fact_type type;
	enum policy_reads reads;
	const char *name, *file;
} policy_files[] = {
#define FILE_OF(field, type, reads, file)                                                                              \
	{                                                                                                              \
		offsetof(struct cpufreq_policy, field), type, reads, "cpufreq." #field, file                           \
	}
    FILE_OF(driver, FACT_TEXT, READ_ALL, "scaling_driver"), /* first: another driver has other files */
    FILE_OF(governor, FACT_TEXT, READ_ALL, "scaling_governor"),
    FILE_OF(available_governors, FACT_TEXT, READ_FIRST, "scaling_available_governors"),
    FILE_OF(epp, FACT_TEXT, READ_ALL, "energy_performance_preference"),
    FILE_OF(available_epp, FACT_TEXT, READ_FIRST, "energy_performance_available_preferences"),
    FILE_OF(cpuinfo_max_khz, FACT_NUMBER, READ_ALL, "cpuinfo_max_freq"),
    FILE_OF(cpuinfo_min_khz, FACT_NUMBER, READ_ALIKE, "cpuinfo_min_freq"),
    FILE_OF(scaling_min_khz, FACT_NUMBER, READ_ALL, "scaling_min_freq"),
    FILE_OF(scaling_max_khz, FACT_NUMBER, READ_ALL, "scaling_max_freq"),
    FILE_OF(boost, FACT_SWITCH, READ_ALL, "boost"),
    FILE_OF(prefcore_ranking, FACT_NUMBER, READ_ALL, "amd_pstate_prefcore_ranking"),
    FILE_OF(lowest_nonlinear_khz, FACT_NUMBER, READ_ALIKE, "amd_pstate_lowest_nonlinear_freq"),
    FILE_OF(amd_max_khz, FACT_NUMBER, READ_ALIKE, "amd_pstate_max_freq"),
#undef FILE_OF
};

static struct fact *policy_fact(struct cpufreq_policy *policy, size_t offset)
{
	return (struct fact *)(void *)((char *)policy + offset);
}

static struct fact frequency(struct host *host, const char *name, const char *path)
{
	return fact_within(fact_read_number(host->arena, host->sys, UNIT_KHZ, name, "%s", path), LOWEST_KHZ,
			   HIGHEST_KHZ, "no frequency of a CPU");
}

static struct fact read_policy_file(struct host *host, const struct policy_file *file, int number)
{
	const char *path = arena_printf(host->arena, CPU_DIR "/cpufreq/policy%d/%s", number, file->file);

	if (file->type == FACT_SWITCH)
		return fact_read_switch(host->arena, host->sys, file->name, "%s", path);
	if (file->type == FACT_TEXT)
		return fact_read_text(host->arena, host->sys, file->name, "%s", path);
	if (file->offset == offsetof(struct cpufreq_policy, prefcore_ranking))
		return fact_read_number(host->arena, host->sys, UNIT_NONE, file->name, "%s", path);
	return frequency(host, file->name, path);
}

static bool same_value(const struct fact *a, const struct fact *b)
{
	if (a->state != b->state)
		return false;
	if (a->state == FACT_IMPLAUSIBLE)
		return text_equal(a->raw, b->raw);
	if (a->state != FACT_VALUE)
		return a->errnum == b->errnum;
	if (a->type != b->type)
		return false;
	return a->type == FACT_TEXT ? text_equal(a->text, b->text) : a->number == b->number;
}

/* The fact of a policy: read, or what the first policy tells of it. The facts before it in the table are there. */
static struct fact policy_file_fact(struct host *host, const struct policy_file *file, struct cpufreq_policy *policy,
				    struct cpufreq_policy *first)
{
	if (!first || !same_value(&policy->driver, &first->driver))
		return read_policy_file(host, file, policy->number);
	const struct fact *known = policy_fact(first, file->offset);
	bool alike = file->reads == READ_ALIKE && same_value(&policy->cpuinfo_max_khz, &first->cpuinfo_max_khz);

	if (file->reads == READ_FIRST || alike || known->state == FACT_ABSENT)
		return *known;
	return read_policy_file(host, file, policy->number);
}

/* Fills `policy`, whose number is set; false when no CPU of it is on line (its files then answer EBUSY). */
static bool read_policy(struct host *host, struct cpufreq_policy *policy, struct cpufreq_policy *first)
{
	struct fact cpus = fact_read_cpus(host->arena, host->sys, "cpufreq.affected_cpus",
					  CPU_DIR "/cpufreq/policy%d/affected_cpus", policy->number);

	/* The file separates by blanks: "0 12". */
	if (cpus.state == FACT_IMPLAUSIBLE && cpus.raw) {
		char *list = arena_strdup(host->arena, cpus.raw);
		struct cpuset set;

		for (char *at = list; *at; at++)
			if (*at == ' ')
				*at = ',';
		if (cpuset_parse(list, &set, NULL) == 0)
			cpus = fact_cpus(host->arena, cpus.name, &set, cpus.source);
	}
	if (cpus.state == FACT_UNREADABLE && cpus.errnum == EBUSY)
		return false;
	if (fact_known(&cpus) && cpuset_empty(cpus.cpus))
		return false;
	if (fact_known(&cpus))
		policy->cpus = *cpus.cpus;
	else
		cpuset_add(&policy->cpus, policy->number);
	for (size_t i = 0; i < ARRAY_SIZE(policy_files); i++)
		*policy_fact(policy, policy_files[i].offset) = policy_file_fact(host, &policy_files[i], policy, first);
	/* amd-pstate answers EINVAL when the raw value is none of the four that have a word (firmware's default). */
	if (policy->epp.state == FACT_UNREADABLE && policy->epp.errnum == EINVAL)
		policy->epp.note = "a raw value that has no word";
	return true;
}

static void read_policies(struct host *host)
{
	struct host_cpufreq *cpufreq = &host->cpufreq;
	const struct sys_look *look = sys_list(host->sys, CPU_DIR "/cpufreq");
	int room = 0;

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++)
		room += text_starts(look->names[i], "policy");
	room = MIN_OF(room, CPUSET_MAX);
	cpufreq->policies = ARENA_ARRAY(host->arena, (size_t)room, struct cpufreq_policy);
	for (size_t i = 0; room && i < look->size && cpufreq->policy_count < room; i++) {
		struct cpufreq_policy *policy = &cpufreq->policies[cpufreq->policy_count];
		int64_t number;

		if (!text_starts(look->names[i], "policy") ||
		    text_int(look->names[i] + strlen("policy"), 10, &number) < 0 || number < 0 || number >= CPUSET_MAX)
			continue;
		*policy = (struct cpufreq_policy){.number = (int)number};
		if (read_policy(host, policy, cpufreq->policy_count ? cpufreq->policies : NULL))
			cpufreq->policy_count++;
	}
	if (cpufreq->policy_count)
		cpufreq->policies_dir = fact_switch("cpufreq.policies", true, CPU_DIR "/cpufreq");
	else if (look->state == SYS_VALUE && !look->size) /* the frame of every kernel, without a driver in it */
		cpufreq->policies_dir = fact_switch("cpufreq.policies", false, look->path);
	else
		cpufreq->policies_dir = fact_of_look("cpufreq.policies", look);
	if (cpufreq->policies_dir.state == FACT_ABSENT)
		cpufreq->policies_dir.note = "no frequency driver";
}

static void read_cppc(struct host *host)
{
	struct host_cpufreq *cpufreq = &host->cpufreq;
	int cpu = MAX_OF(0, cpuset_first(host_cpu_online(host)));
	const char *dir = arena_printf(host->arena, CPU_DIR "/cpu%d/acpi_cppc", cpu);
	bool flags_known = fact_known(&host->cpu.flags);
	bool flag = flags_known && host_cpu_has_flag(&host->cpu, "cppc");
	bool has_dir = sys_has_dir(host->sys, "%s", dir);

	cpufreq->cppc_flag = flags_known ? fact_switch("cpufreq.cppc_flag", flag, "CPU flag cppc")
					 : fact_absent("cpufreq.cppc_flag", "CPU flag cppc");
	if (has_dir || flag)
		cpufreq->cppc = fact_switch("cpufreq.cppc", true, has_dir ? dir : "CPU flag cppc");
	else if (flags_known && sys_has_dir(host->sys, CPU_DIR "/cpu%d", cpu))
		cpufreq->cppc = fact_switch("cpufreq.cppc", false, dir);
	else
		cpufreq->cppc = fact_absent("cpufreq.cppc", dir);
	cpufreq->nominal_mhz = fact_absent("cpufreq.nominal_mhz", dir);
	if (has_dir)
		cpufreq->nominal_mhz =
		    fact_read_number(host->arena, host->sys, UNIT_MHZ, "cpufreq.nominal_mhz", "%s/nominal_freq", dir);
	const struct fact *mhz = &cpufreq->nominal_mhz;

	if (fact_known(mhz) && (mhz->number < LOWEST_KHZ / 1000 || mhz->number > HIGHEST_KHZ / 1000))
		cpufreq->nominal_mhz = fact_implausible(mhz->name, mhz->source, mhz->raw, "no frequency of a CPU");
}

/* The device's name (AMDI0101:00) is the firmware's choice. */
static struct fact read_x3d_mode(struct host *host)
{
	const struct sys_look *look = sys_list(host->sys, X3D_DIR);

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++)
		if (strchr(look->names[i], ':'))
			return fact_read_text(host->arena, host->sys, "cpufreq.x3d_mode", X3D_DIR "/%s/amd_x3d_mode",
					      look->names[i]);
	return fact_absent("cpufreq.x3d_mode", X3D_DIR);
}

void host_cpufreq_read(struct host *host)
{
	struct host_cpufreq *cpufreq = &host->cpufreq;
	struct arena *arena = host->arena;

	read_policies(host);
	cpufreq->status = fact_read_text(arena, host->sys, "cpufreq.amd_pstate_status", CPU_DIR "/amd_pstate/status");
	cpufreq->prefcore = fact_read_switch(arena, host->sys, "cpufreq.prefcore", CPU_DIR "/amd_pstate/prefcore");
	cpufreq->dynamic_epp =
	    fact_read_switch(arena, host->sys, "cpufreq.dynamic_epp", CPU_DIR "/amd_pstate/dynamic_epp");
	cpufreq->boost = fact_read_switch(arena, host->sys, "cpufreq.boost", CPU_DIR "/cpufreq/boost");
	cpufreq->x3d_mode = read_x3d_mode(host);
	read_cppc(host);
	cpufreq->acpi_cpufreq_module =
	    sys_has_dir(host->sys, "/sys/module/acpi_cpufreq")
		? fact_switch("cpufreq.acpi_cpufreq_module", true, "/sys/module/acpi_cpufreq")
		: fact_absent("cpufreq.acpi_cpufreq_module", "/sys/module/acpi_cpufreq");
}

const struct fact *host_cpufreq_driver(const struct host_cpufreq *cpufreq)
{
	static const struct fact none = {.state = FACT_ABSENT,
					 .name = "cpufreq.driver",
					 .source = CPU_DIR "/cpufreq",
					 .note = "no frequency driver"};

	return cpufreq->policy_count ? &cpufreq->policies[0].driver : &none;
}

size_t host_cpufreq_groups(struct arena *arena, const struct host_cpufreq *cpufreq, size_t offset,
			   struct cpufreq_group **ret_groups)
{
	struct cpufreq_group *groups = ARENA_ARRAY(arena, GROUPS_MAX, struct cpufreq_group);
	size_t count = 0;

	for (int i = 0; i < cpufreq->policy_count; i++) {
		const struct fact *fact = policy_fact(&cpufreq->policies[i], offset);
		size_t at = 0;

		if (fact->state == FACT_ABSENT)
			continue;
		while (at < count && !same_value(groups[at].fact, fact))
			at++;
		if (at == GROUPS_MAX) {
			at--;
			groups[at].value = "other values";
		} else if (at == count) {
			groups[count++] = (struct cpufreq_group){.value = fact_shown(arena, fact), .fact = fact};
		}
		groups[at].cpus = cpuset_or(&groups[at].cpus, &cpufreq->policies[i].cpus);
	}
	*ret_groups = groups;
	return count;
}

/* One row for each value of a setting, with its CPUs; one absent row where no policy has it. */
static void add_groups(const struct host *host, struct host_rows *rows, const char *label, size_t offset)
{
	struct cpufreq_group *groups;
	size_t count = host_cpufreq_groups(rows->arena, &host->cpufreq, offset, &groups);

	for (size_t i = 0; i < count; i++)
		host_rows_add_on(rows, label, groups[i].fact, &groups[i].cpus);
	if (count == 0 && host->cpufreq.policy_count)
		host_rows_add(rows, label, policy_fact(&host->cpufreq.policies[0], offset));
}

void host_cpufreq_rows(const struct host *host, struct host_rows *rows)
{
	static const struct {
		const char *section, *label;
		size_t offset;
	} settings[] = {
	    {"Policies", "Driver", offsetof(struct cpufreq_policy, driver)},
	    {"Policies", "Governor", offsetof(struct cpufreq_policy, governor)},
	    {"Policies", "Governors to choose", offsetof(struct cpufreq_policy, available_governors)},
	    {"Policies", "EPP", offsetof(struct cpufreq_policy, epp)},
	    {"Policies", "EPP to choose", offsetof(struct cpufreq_policy, available_epp)},
	    {"Policies", "Boost", offsetof(struct cpufreq_policy, boost)},
	    {"Limits", "Set minimum", offsetof(struct cpufreq_policy, scaling_min_khz)},
	    {"Limits", "Set maximum", offsetof(struct cpufreq_policy, scaling_max_khz)},
	    {"Limits", "Hardware minimum", offsetof(struct cpufreq_policy, cpuinfo_min_khz)},
	    {"Limits", "Hardware maximum", offsetof(struct cpufreq_policy, cpuinfo_max_khz)},
	};
	const struct host_cpufreq *cpufreq = &host->cpufreq;

	rows->section = "Whole host";
	host_rows_add(rows, "amd_pstate mode", &cpufreq->status);
	host_rows_add(rows, "CPPC", &cpufreq->cppc);
	host_rows_add(rows, "CPPC by MSR", &cpufreq->cppc_flag);
	host_rows_add(rows, "Nominal frequency", &cpufreq->nominal_mhz);
	host_rows_add(rows, "Boost", &cpufreq->boost);
	host_rows_add(rows, "Preferred cores", &cpufreq->prefcore);
	host_rows_add(rows, "Dynamic EPP", &cpufreq->dynamic_epp);
	host_rows_add(rows, "X3D mode", &cpufreq->x3d_mode);
	if (!cpufreq->policy_count) {
		rows->section = "Policies";
		host_rows_add(rows, "Driver", &cpufreq->policies_dir);
	}
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		rows->section = settings[i].section;
		add_groups(host, rows, settings[i].label, settings[i].offset);
	}
	if (cpufreq->policy_count) {
		host_rows_add(rows, "Lowest nonlinear", &cpufreq->policies[0].lowest_nonlinear_khz);
		host_rows_add(rows, "Boost maximum", &cpufreq->policies[0].amd_max_khz);
		rows->section = "Preferred cores";
		add_groups(host, rows, "Rank", offsetof(struct cpufreq_policy, prefcore_ranking));
	}
}
