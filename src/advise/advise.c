/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns running the rules over a host and keeping what they looked at. */
#include "advise.h"

#include <errno.h>

#include "advise_check.h"
#include "text.h"

/* A line each, so that new files do not collide. */
/* clang-format off */
static const struct advise_rule *const advise_tables[] = {
    advise_cpufreq_driver_rules,
    advise_cpufreq_rules,
    advise_cpufreq_limit_rules,
    advise_idle_rules,
    advise_idle_boot_rules,
    advise_power_rules,
    advise_memory_rules,
    advise_pages_rules,
    advise_topology_rules,
    advise_topology_cpu_rules,
    advise_cmdline_rules,
    advise_cmdline_cost_rules,
    advise_cmdline_cpu_rules,
    advise_cmdline_memory_rules,
    advise_cmdline_syntax_rules,
    advise_tuned_rules,
    advise_tuned_cpufreq_rules, advise_tuned_option_rules,
    advise_tuned_profile_rules,
    advise_daemon_rules,
    advise_kvm_rules,
    advise_security_rules,
    advise_device_rules,
    advise_system_rules,
    advise_vm_cpu_rules,
    advise_vm_sibling_rules,
    advise_vm_l3_rules,
    advise_vm_thread_rules,
    advise_vm_node_rules,
    advise_vm_cell_rules,
    advise_vm_pages_rules,
    advise_vm_topology_rules,
    advise_vm_feature_rules,
    advise_vm_device_rules,
    advise_vm_running_rules,
};
/* clang-format on */

struct advise_run {
	struct arena *arena;
	struct advise_finding **findings;
	size_t finding_count, finding_room;
	struct advise_unknown *unknowns;
	size_t unknown_count, unknown_room;
	struct advise_evidence *evidence; /* noted since the last forget */
	size_t evidence_count, evidence_room;
	/* of the rule that is running, over all VMs that it is asked for */
	bool reported, saw_something;
	const char *undecided; /* why, or NULL */
	bool root_helps;
};

/* Make room for one more entry in an array that lives in the arena. */
static void *room_for_one(struct arena *arena, void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? *room * 2 : 16;
	void *larger = arena_array(arena, *room, size);

	if (count)
		memcpy(larger, array, count * size);
	return larger;
}

const struct advise_rule *advise_rule_at(size_t index)
{
	for (size_t i = 0; i < ARRAY_SIZE(advise_tables); i++)
		for (const struct advise_rule *rule = advise_tables[i]; rule->id; rule++)
			if (index-- == 0)
				return rule;
	return NULL;
}

const struct advise_rule *advise_rule_by_id(const char *id)
{
	const struct advise_rule *rule;

	for (size_t i = 0; (rule = advise_rule_at(i)); i++)
		if (text_equal(rule->id, id))
			return rule;
	return NULL;
}

const struct advise_rule *advise_rule_near(const char *id)
{
	const struct advise_rule *rule, *near = NULL;
	int nearest = 1 + (int)strlen(id) / 3;

	for (size_t i = 0; (rule = advise_rule_at(i)); i++) {
		/* The part behind the subject is enough to be understood: "c2-shut-out". */
		const char *tail = strchr(rule->id, '.');
		int distance = text_distance(rule->id, id);

		if (tail)
			distance = MIN_OF(distance, text_distance(tail + 1, id));
		if (distance < nearest) {
			nearest = distance;
			near = rule;
		}
	}
	return near;
}

static void add_evidence(struct advise_run *run, const char *source, const char *shown)
{
	for (size_t i = 0; i < run->evidence_count; i++)
		if (text_equal(run->evidence[i].source, source) && text_equal(run->evidence[i].shown, shown))
			return;
	run->evidence =
	    room_for_one(run->arena, run->evidence, run->evidence_count, &run->evidence_room, sizeof(*run->evidence));
	run->evidence[run->evidence_count++] = (struct advise_evidence){.source = source, .shown = shown};
}

/* Switches that say whether something is there, which is not "on" or "off". */
static const char *evidence_of(struct arena *arena, const struct fact *fact)
{
	static const char presence[] = "cpufreq.acpi_cpufreq_module cpufreq.cppc cpufreq.cppc_flag cpufreq.policies "
				       "iommu.listed kvm.flag mitigations.directory os.proxmox topology";

	if (fact->type == FACT_SWITCH && fact_known(fact) && fact->name && text_has_word(presence, " ", fact->name))
		return fact->number ? "present" : "not there";
	return fact_shown(arena, fact);
}

bool advise_note(struct advise_check *c, const struct fact *fact)
{
	const char *source = fact->source ? fact->source : fact->name ? fact->name : "unknown";

	add_evidence(c->run, source, evidence_of(c->arena, fact));
	c->run->saw_something = c->run->saw_something || fact_known(fact);
	if ((fact->state == FACT_UNREADABLE || fact->state == FACT_IMPLAUSIBLE) && !c->run->undecided) {
		c->run->undecided = arena_printf(c->arena, "%s: %s", source, fact->note ? fact->note : "not readable");
		c->run->root_helps = fact->errnum == EACCES || fact->errnum == EPERM;
	}
	return fact_known(fact);
}

void advise_note_text(struct advise_check *c, const char *source, const char *format, ...)
{
	va_list arguments;

	c->run->saw_something = true;
	va_start(arguments, format);
	add_evidence(c->run, source, arena_vprintf(c->arena, format, arguments));
	va_end(arguments);
}

void advise_forget(struct advise_check *c)
{
	c->run->evidence = NULL;
	c->run->evidence_count = c->run->evidence_room = 0;
}

bool advise_number(struct advise_check *c, const struct fact *fact, int64_t *ret)
{
	if (!advise_note(c, fact) || (fact->type != FACT_NUMBER && fact->type != FACT_SWITCH))
		return false;
	*ret = fact->number;
	return true;
}

bool advise_text(struct advise_check *c, const struct fact *fact, const char **ret)
{
	if (!advise_note(c, fact) || fact->type != FACT_TEXT)
		return false;
	*ret = fact->text;
	return true;
}

bool advise_switch(struct advise_check *c, const struct fact *fact, bool *ret)
{
	int64_t number;

	if (!advise_number(c, fact, &number))
		return false;
	*ret = number != 0;
	return true;
}

bool advise_cpus(struct advise_check *c, const struct fact *fact, const struct cpuset **ret)
{
	if (!advise_note(c, fact) || (fact->type != FACT_CPUS && fact->type != FACT_NODES))
		return false;
	*ret = fact->cpus;
	return true;
}

/* Is a command line linted and judged by a rule under another subject? */
static bool judges_linted_words(const struct advise_check *c)
{
	return c->subject->cmdline && (c->rule->needs & JUDGES_WORDS);
}

/* Is this host of the kind that the rule is about? */
static bool host_fits(const struct advise_check *c)
{
	return !((c->rule->needs & NEEDS_AMD) && !host_is_amd(c->host)) &&
	       !((c->rule->needs & NEEDS_METAL) && host_is_guest(c->host));
}

static bool judges_foreign_words(const struct advise_check *c)
{
	return judges_linted_words(c) && !host_fits(c);
}

static struct advise_finding *add_finding(struct advise_check *c, enum advise_severity severity, const char *title)
{
	struct advise_run *run = c->run;
	struct advise_finding *finding = ARENA_NEW(run->arena, struct advise_finding);

	/* A file that is linted elsewhere may be for this guest or for another machine. */
	if (judges_foreign_words(c) && severity < ADVISE_ADVICE)
		severity = ADVISE_ADVICE;
	*finding = (struct advise_finding){
	    .rule = c->rule,
	    .severity = severity,
	    .title = title,
	    .knobs = c->rule->knobs,
	    .by_hand = c->rule->by_hand,
	    .effect = c->rule->effect,
	    .experiment = c->rule->experiment,
	    .vm = c->vm ? (c->vm->name ? c->vm->name : "VM") : NULL,
	    .path = c->subject->path,
	    .evidence = run->evidence,
	    .evidence_count = run->evidence_count,
	};
	/* What is noted from now on must not show up in this finding. */
	run->evidence_room = run->evidence_count;
	run->findings = room_for_one(run->arena, run->findings, run->finding_count, &run->finding_room,
				     sizeof(struct advise_finding *));
	run->findings[run->finding_count++] = finding;
	run->reported = true;
	return finding;
}

struct advise_finding *advise_report(struct advise_check *c, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *title = arena_vprintf(c->arena, format, arguments);

	va_end(arguments);
	return add_finding(c, c->rule->severity, title);
}

struct advise_finding *advise_report_as(struct advise_check *c, enum advise_severity severity, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *title = arena_vprintf(c->arena, format, arguments);

	va_end(arguments);
	return add_finding(c, severity, title);
}

const char *advise_printf(struct advise_check *c, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *text = arena_vprintf(c->arena, format, arguments);

	va_end(arguments);
	return text;
}

const char *advise_cpu_list(struct advise_check *c, const struct cpuset *cpus)
{
	const char *list = cpuset_format(c->arena, cpus);

	return *list ? list : "none";
}

const struct cmdline_word *advise_word(struct advise_check *c, const char *name)
{
	const struct cmdline_word *word = cmdline_last(c->cmdline, name);

	if (word)
		add_evidence(c->run, c->cmdline->path ? c->cmdline->path : "command line", word->text);
	return word;
}

void advise_at_word(struct advise_check *c, struct advise_finding *finding, const struct cmdline_word *word)
{
	finding->path = c->cmdline->path;
	finding->line = word->line ? word->line : c->cmdline->first_line;
	finding->column = word->column;
}

/* Is the rule among those whose id starts as the subject asks? */
static bool is_chosen(const struct advise_check *c)
{
	const char *at = c->subject->rule_prefixes;

	while (at && *at) {
		size_t length = strcspn(at, " ");

		if (length && strncmp(c->rule->id, at, length) == 0)
			return true;
		at += length + strspn(at + length, " ");
	}
	return !at;
}

static bool rule_applies(const struct advise_check *c)
{
	const unsigned needs = c->rule->needs;

	if ((needs & NEEDS_VM) && !c->subject->vm_count)
		return false;
	if (!judges_linted_words(c) && (!is_chosen(c) || !host_fits(c)))
		return false;
	if ((needs & NEEDS_CMDLINE) && !fact_known(&c->cmdline->line))
		return false;
	if ((needs & NEEDS_TUNED) && !c->subject->profile && !c->host->daemons.tuned.profile_count)
		return false;
	return !(needs & NEEDS_LINT) || c->subject->path;
}

static int compare_findings(const void *a, const void *b)
{
	const struct advise_finding *first = *(const struct advise_finding *const *)a;
	const struct advise_finding *second = *(const struct advise_finding *const *)b;

	return (first->severity > second->severity) - (first->severity < second->severity);
}

/* Worst first; a merge sort keeps the order of the table among equals. */
static void sort_findings(struct advise_finding **findings, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct advise_finding *moving = findings[i];
		size_t at = i;

		for (; at > 0 && compare_findings(&findings[at - 1], &moving) > 0; at--)
			findings[at] = findings[at - 1];
		findings[at] = moving;
	}
}

/* Run the predicate, for a rule about VMs once for each of them. */
static void ask(struct advise_check *c)
{
	bool for_vms = c->rule->needs & NEEDS_VM;

	for (size_t i = 0; i < (for_vms ? c->subject->vm_count : 1); i++) {
		advise_forget(c);
		c->vm = for_vms ? c->subject->vms[i] : NULL;
		c->rule->check(c);
	}
	c->vm = NULL;
}

static void run_rule(struct advise_check *c, struct advise_result *result)
{
	struct advise_run *run = c->run;

	run->reported = run->saw_something = false;
	run->undecided = NULL;
	run->root_helps = false;
	ask(c);
	if (run->undecided && !run->reported) {
		run->unknowns = room_for_one(run->arena, run->unknowns, run->unknown_count, &run->unknown_room,
					     sizeof(*run->unknowns));
		run->unknowns[run->unknown_count++] =
		    (struct advise_unknown){.rule = c->rule, .why = run->undecided, .root_helps = run->root_helps};
	} else if (!run->reported) {
		/* Only a rule that saw something gives a clean bill; absent facts give none. */
		bool judged = run->saw_something || (c->rule->needs & (NEEDS_CMDLINE | NEEDS_TUNED));

		result->fine_count += judged;
		result->nothing_count += !judged;
	}
}

/*
 * The kernel parameters of a linted profile, "[bootloader] cmdline_mine=+iommu=pt", as a command line; each knows its
 * line. Those that the profile takes away ("-") are none. False when there are none.
 */
static bool profile_cmdline(struct arena *arena, const struct tuned_profile *profile, struct host_cmdline *ret)
{
	struct cmdline_word *words = NULL;
	size_t count = 0, room = 0;
	const char *line = "";

	for (int i = 0; profile && i < profile->setting_count; i++) {
		const struct tuned_setting *setting = &profile->settings[i];
		const char *value = setting->value + (setting->value[0] == '+');
		struct host_cmdline part = {0};

		if (!text_equal(setting->type, "bootloader") || !text_starts(setting->option, "cmdline") ||
		    *value == '-')
			continue;
		cmdline_parse(arena, value, &part);
		for (int w = 0; w < part.count; w++) {
			words = room_for_one(arena, words, count, &room, sizeof(*words));
			words[count] = part.words[w];
			words[count].line = setting->line;
			words[count++].column = 0;
		}
		line = arena_printf(arena, "%s%s%s", line, *line ? " " : "", value);
		ret->path = setting->path;
	}
	ret->words = words;
	ret->count = (int)count;
	ret->line = fact_text("cmdline.line", line, ret->path);
	return count > 0;
}

static void run_table(struct advise_check *check, struct advise_result *result)
{
	for (size_t i = 0; (check->rule = advise_rule_at(i)); i++) {
		if (rule_applies(check))
			run_rule(check, result);
		else if (check->subject->vm_count || !(check->rule->needs & NEEDS_VM))
			result->not_asked_count++;
	}
}

struct advise_result *advise_run(const struct advise_subject *subject)
{
	struct arena *arena = arena_new();
	struct advise_result *result = ARENA_NEW(arena, struct advise_result);
	struct advise_run run = {.arena = arena};
	struct advise_check check = {
	    .subject = subject,
	    .host = subject->host,
	    .cmdline = subject->cmdline ? subject->cmdline : &subject->host->cmdline,
	    .arena = arena,
	    .run = &run,
	};

	result->arena = arena;
	result->linted = subject->path != NULL;
	run_table(&check, result);
	struct host_cmdline words = {0};
	struct advise_subject of_profile = *subject;

	if (profile_cmdline(arena, subject->profile, &words)) {
		of_profile.profile = NULL;
		of_profile.cmdline = &words;
		of_profile.rule_prefixes = "cmdline.";
		check.subject = &of_profile;
		check.cmdline = &words;
		run_table(&check, result);
	}
	sort_findings(run.findings, run.finding_count);
	struct advise_finding *findings = ARENA_ARRAY(arena, run.finding_count, struct advise_finding);

	for (size_t i = 0; i < run.finding_count; i++) {
		findings[i] = *run.findings[i];
		result->count_by_severity[findings[i].severity]++;
	}
	result->findings = findings;
	result->finding_count = run.finding_count;
	result->unknowns = run.unknowns;
	result->unknown_count = run.unknown_count;
	return result;
}

struct advise_result *advise_result_free(struct advise_result *result)
{
	if (result)
		arena_free(result->arena);
	return NULL;
}

void advise_result_free_pointer(struct advise_result **result)
{
	*result = advise_result_free(*result);
}

const char *advise_severity_name(enum advise_severity severity)
{
	static const char *const names[] = {[ADVISE_FAIL] = "fail",
					    [ADVISE_WARN] = "warn",
					    [ADVISE_ADVICE] = "advice",
					    [ADVISE_INFO] = "info",
					    [ADVISE_GOOD] = "good"};

	return names[severity];
}

const char *advise_basis_name(enum advise_basis basis)
{
	static const char *const names[] = {[BASIS_STUDY] = "measured in a study",
					    [BASIS_DOCUMENT] = "documented",
					    [BASIS_REPORTS] = "reported by users",
					    [BASIS_REASONED] = "reasoned"};

	return names[basis];
}
