/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns findings: the table of what can be wrong (or right) with a host, each with its predicate, its explanation and
 * its sources, and the running of that table over the facts.
 *
 * A predicate reaches facts only through the advise_...() accessors below, which write down what was looked at: the
 * evidence of a finding is therefore what its predicate saw.
 */
#ifndef HVTUNE_ADVISE_H
#define HVTUNE_ADVISE_H

#include "host.h"
#include "vm.h"

enum advise_severity {
	ADVISE_FAIL,   /* does not work, or cannot work, as asked */
	ADVISE_WARN,   /* costs performance, watts or safety here, and the way out is known */
	ADVISE_ADVICE, /* worth doing or worth an experiment; the sign or size is not certain */
	ADVISE_INFO,   /* a fact to know; nothing to do */
	ADVISE_GOOD,   /* checked and right, worth saying */
};

/* What the stated effect rests on. */
enum advise_basis { BASIS_STUDY, BASIS_DOCUMENT, BASIS_REPORTS, BASIS_REASONED };

/* On which hosts a rule is asked at all; bits. */
enum advise_needs {
	NEEDS_AMD = 1 << 0,	/* vendor known to be AMD or Hygon */
	NEEDS_METAL = 1 << 1,	/* not a guest: a guest cannot know or change it */
	NEEDS_CMDLINE = 1 << 2, /* a kernel command line is known */
	NEEDS_TUNED = 1 << 3,	/* a tuned profile is active */
	NEEDS_LINT = 1 << 4,	/* only when a file is linted (and on /proc/cmdline for command line rules) */
	/*
	 * Not a need: the rule judges words of a command line though its id has another subject. It is asked too when a
	 * command line is linted, of whatever host; where its other needs are not met there (the file may be for
	 * another machine than this guest) it gives advice at most.
	 */
	JUDGES_WORDS = 1 << 5,
	NEEDS_VM = 1 << 6, /* asked once for each VM of the subject */
};

struct advise_check;

struct advise_rule {
	const char *id;		       /* stable, in words: "cpufreq.acpi-on-cppc-host" */
	enum advise_severity severity; /* the worst it reports */
	unsigned needs;		       /* enum advise_needs */
	const char *title;     /* one line, without figures of a host: "acpi-cpufreq drives a CPU that has CPPC" */
	const char *mechanism; /* why it matters, about two lines */
	const char *effect;    /* what it brings or costs, as a range where there is one; NULL for INFO and GOOD */
	enum advise_basis basis;
	const char *source;	/* of the effect: "study A: ...", "Linux Documentation/...", "tuned issue 588" */
	const char *hurts;	/* what the fix costs whom (latency, watts, security, migration), or "nothing known" */
	const char *knobs;	/* the fix as settings: "amd_pstate=active"; NULL when there is none */
	const char *by_hand;	/* the command that does it today, or how to look; NULL when there is none */
	const char *experiment; /* where the sign is not known: what to compare; else NULL */
	void (*check)(struct advise_check *check);
};

/* One look of a predicate. */
struct advise_evidence {
	const char *source; /* path or derivation */
	const char *shown;  /* "= 70 us" without the "=" */
};

struct advise_finding {
	const struct advise_rule *rule;
	enum advise_severity severity;
	const char *title;	     /* with the figures of this host */
	const char *detail;	     /* one more line, or NULL */
	const char *knobs, *by_hand; /* of this host, or the rule's */
	const char *effect;	     /* of this value, or the rule's */
	const char *experiment;	     /* the same */
	const char *vm;		     /* name of the VM that it is about, or NULL */
	const char *path;	     /* what the finding is about in a linted file or a command line; may be NULL */
	unsigned line, column;	     /* 1-based, 0 unknown */
	const struct advise_evidence *evidence;
	size_t evidence_count;
};

struct advise_unknown {
	const struct advise_rule *rule;
	const char *why; /* "/dev/cpu_dma_latency: permission denied" */
	bool root_helps;
};

struct advise_result {
	struct arena *arena;
	const struct advise_finding *findings; /* worst first, then in the order of the table */
	size_t finding_count;
	const struct advise_unknown *unknowns; /* rules that could not be decided */
	size_t unknown_count;
	size_t fine_count;	/* rules asked and not broken */
	size_t nothing_count;	/* rules asked for which there was nothing to look at: every fact was absent */
	size_t not_asked_count; /* rules that do not apply to such a host; those on VMs only where there are VMs */
	size_t ignored_count;	/* findings that advise_ignore() took out */
	size_t below_count;	/* findings that advise_keep_from() took out */
	bool linted;		/* a file was judged in the host's place: the host's settings do not put it right */
	size_t count_by_severity[ADVISE_GOOD + 1]; /* of the findings that are there */
};

/* What is looked at: the host and its VMs, and for lint the command line, profile or VM judged in the host's place. */
struct advise_subject {
	struct host *host;
	const struct host_cmdline *cmdline;  /* NULL: the host's own */
	const struct tuned_profile *profile; /* NULL: the active ones */
	const char *verify_log;		     /* text of a tuned log to explain, or NULL */
	struct vm *const *vms;		     /* vm_count VMs; may be NULL */
	size_t vm_count;
	const char *path;	   /* the linted file, or NULL */
	const char *rule_prefixes; /* "cmdline. tuned." : only rules whose id starts so; NULL: all */
};

/* The rule at a place of the whole table (subject after subject), NULL past its end. */
const struct advise_rule *advise_rule_at(size_t index);
const struct advise_rule *advise_rule_by_id(const char *id);

/* The rule whose id is nearest to what was typed, or NULL. */
const struct advise_rule *advise_rule_near(const char *id);

/* Run the table. The result lives in result->arena; free it with advise_result_free(). */
struct advise_result *advise_run(const struct advise_subject *subject);
struct advise_result *advise_result_free(struct advise_result *result);
void advise_result_free_pointer(struct advise_result **result);

/* Take out what is waived: the findings, and what could not be decided, of the rules in `ids` ("a.b,c.d"). */
void advise_ignore(struct advise_result *result, const char *ids);

/* Take out findings that are less than `least` ("fail" is the most). */
void advise_keep_from(struct advise_result *result, enum advise_severity least);

/* The severity of a name; false when there is none. */
bool advise_severity_by_name(const char *name, enum advise_severity *ret);

const char *advise_severity_name(enum advise_severity severity); /* "fail", "warn", "advice", "info", "good" */
const char *advise_basis_name(enum advise_basis basis);

/* The explanation as Markdown: the same text that stands in docs/findings/<id>.md. In the arena. */
const char *advise_page(struct arena *arena, const struct advise_rule *rule);

#endif
