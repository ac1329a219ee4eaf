/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns writing a first study file for a machine. */
#include "study_new.h"

#include <ctype.h>
#include <string.h>

#include "study_meter.h"
#include "study_suit.h"
#include "text.h"

/* What is worth trying, with values where the machine does not list them. */
static const struct candidate {
	const char *knob, *why;
	const char *values;  /* with blanks between them; NULL: what the machine lists */
	const char *without; /* values that are listed and make no sense in a study */
} candidates[] = {
    {"amd_pstate", "how the driver of the clocks works", NULL, "disable"},
    {"governor", "who chooses the clocks", NULL, "userspace conservative powersave-bias ondemand"},
    {"epp", "what the firmware prefers between speed and watts", NULL, "default"},
    {"boost", "clocks above the nominal one", "1 0", NULL},
    {"tuned.profile", "a profile of tuned, which sets many of the others", NULL, NULL},
    {"thp", "large pages without asking", NULL, NULL},
    {"numa_balancing", "pages that follow their threads between nodes", "0 1", NULL},
    {"kvm.halt_poll_ns", "how long a vCPU that halts is waited for", "0 200000", NULL},
    {"swappiness", "what is given up first when memory is short", "10 60", NULL},
};

enum { MOST_VALUES = 8 };

/* Its legal values without what makes no sense; false: less than two, or it is not here. */
static bool find_values(struct knob_machine *machine, const struct candidate *candidate, const char **ret)
{
	struct knob_points points = {.arena = machine->arena};
	const struct knob_ask all = {.name = candidate->knob, .value = ""};
	const char *words = candidate->values, *kept = "";
	size_t count = 0;

	if (!knob_find(candidate->knob) || knob_expand(machine, &all, KNOB_EXPAND_READABLE, &points, NULL) < 0 ||
	    !points.count)
		return false;
	if (!words)
		words = knob_choices(machine, &points.items[0]);
	if (!words)
		words = points.items[0].knob->words;
	for (const char *at = words ? words : ""; *at;) {
		size_t length = strcspn(at, " []\n");
		const char *word = arena_strndup(machine->arena, at, length);

		if (length && count < MOST_VALUES &&
		    !text_has_word(candidate->without ? candidate->without : "", " ", word)) {
			kept = arena_printf(machine->arena, "%s%s%s", kept, count ? ", " : "", word);
			count++;
		}
		at += length;
		at += strspn(at, " []\n");
	}
	*ret = kept;
	return count >= 2;
}

/* A text of YAML in single quotes. */
static const char *quoted(struct arena *arena, const char *text)
{
	const char *result = "";

	for (const char *at = text; *at; at++)
		result = *at == '\'' ? arena_printf(arena, "%s''", result) : arena_printf(arena, "%s%c", result, *at);
	return result;
}

/* Names that are no plain words of YAML stand in quotes. */
static const char *word(struct arena *arena, const char *text)
{
	bool plain = *text != '\0';

	for (const char *at = text; *at; at++)
		plain = plain && (isalnum((unsigned char)*at) || strchr("_-.+", *at)) && (at > text || *at != '-');
	return plain ? text : arena_printf(arena, "'%s'", quoted(arena, text));
}

static const char *factor_text(struct arena *arena, const struct candidate *candidate, const char *values)
{
	return arena_printf(arena, "  %s: {optional: yes, knob: %s, levels: [%s]}\n", candidate->knob, candidate->knob,
			    values);
}

/* The levels that are left after study_suit() has looked at all of them together. */
static const char *levels_text(struct arena *arena, const struct study_factor *factor)
{
	const char *text = "";

	for (size_t l = 0; l < factor->level_count; l++)
		text = arena_printf(arena, "%s%s%s", text, l ? ", " : "", word(arena, factor->levels[l].name));
	return text;
}

static const struct candidate *candidate_of(const char *knob)
{
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++)
		if (text_equal(candidates[i].knob, knob))
			return &candidates[i];
	return NULL;
}

/* Factors with what can be set here, and the pairs of levels that exclude each other; "" for nothing. */
static const char *find_factors(struct knob_machine *machine, const char **ret_never)
{
	struct arena *arena = machine->arena;
	const char *text = "study: new\nworkloads: [xz]\nfactors:\n", *factors = "", *never = "", *values;
	struct study_mistakes mistakes = {0};
	struct study_left_out left_out;
	struct study *study;
	size_t count = 0;

	*ret_never = "";
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++)
		if (find_values(machine, &candidates[i], &values)) {
			text = arena_printf(arena, "%s%s", text, factor_text(arena, &candidates[i], values));
			count++;
		}
	if (!count || study_read(arena, "new", text, strlen(text), &study, &mistakes) < 0 ||
	    study_suit(machine, study, &left_out, NULL) < 0)
		return "";
	for (size_t f = 0; f < study->factor_count; f++) {
		const struct candidate *candidate = candidate_of(study->factors[f].name);

		factors = arena_printf(arena, "%s  # %s; now %s; more: hvtune knobs %s\n%s", factors, candidate->why,
				       study->factors[f].levels[study->baseline[f]].name, candidate->knob,
				       factor_text(arena, candidate, levels_text(arena, &study->factors[f])));
	}
	for (size_t n = 0; n < study->forbid_count; n++) {
		const struct study_forbid *forbid = &study->forbids[n];
		const struct study_factor *a = &study->factors[forbid->factors[0]],
					  *b = &study->factors[forbid->factors[1]];

		never = arena_printf(arena, "%s  - {%s: %s, %s: %s}\n", never, a->name,
				     word(arena, a->levels[forbid->levels[0]].name), b->name,
				     word(arena, b->levels[forbid->levels[1]].name));
	}
	*ret_never = never;
	return factors;
}

/* What takes a boot or a VM: as comments, with why it cannot be done here where it cannot. */
static const struct {
	const char *name, *knob, *levels, *why; /* levels NULL: those that the machine tells */
} dear[] = {
    {"kernel", "boot.kernel", NULL, "kernels that are installed"},
    {"driver", "boot.amd_pstate", "active, guided, passive, disable", "modes of amd_pstate, and acpi-cpufreq"},
    {"mitigations", "boot.mitigations", "auto, off", "what they cost; off is a security hole"},
    {"iommu", "boot.iommu", "pt, nopt", "devices of the host past the IOMMU"},
};
static const struct {
	const char *name, *knob, *levels, *why;
} of_vms[] = {
    {"pages", "vm.pages", "4K, 2M", "pages that back it; enough must be free: hugepages.2M"},
    {"queues", "vm.queues", "1, 4", "queues of its network card"},
    {"guest", "guest.mitigations", "auto, off", "mitigations in it; off is a security hole"},
};

/* What nobody but a person can set. */
static const char by_hand[] =
    "  # What a person sets, who is asked and waited for each time (`see` tells whether he did):\n"
    "  # nps: {ask: 'Set NPS to {level} in the BIOS setup', levels: [1, 4],\n"
    "  #       see: 'test $(ls -d /sys/devices/system/node/node[0-9]* | wc -l) = {level}'}   # of one socket\n";

/* Why a level of it cannot be set here; NULL: all can. */
static const char *why_not(struct knob_machine *machine, const char *knob, const char *levels)
{
	for (const char *at = levels; *at;) {
		size_t length = strcspn(at, ", ");
		const struct knob_ask ask = {.name = knob, .value = arena_strndup(machine->arena, at, length)};
		struct knob_plan plan = {0};
		struct err err = {0};

		if (knob_plan_make(machine, &ask, 1, &plan, &err) < 0)
			return arena_strdup(machine->arena, err.what);
		at += length;
		at += strspn(at, ", ");
	}
	return NULL;
}

static const char *dear_text(struct knob_machine *machine)
{
	struct arena *arena = machine->arena;
	const char *text = "", *last = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(dear); i++) {
		const struct candidate candidate = {.knob = dear[i].knob};
		const char *levels = dear[i].levels;

		/* Of a single kernel there is nothing to be compared. */
		if (!levels && !find_values(machine, &candidate, &levels))
			continue;
		const char *why = why_not(machine, dear[i].knob, levels);

		if (why && !text_equal(why, last))
			text = arena_printf(arena, "%s  # Not here: %s\n", text, why);
		last = why;
		text = arena_printf(arena, "%s  # %s: {knob: %s, levels: [%s]}   # %s\n", text, dear[i].name,
				    dear[i].knob, levels, dear[i].why);
	}
	return text;
}

static const char *vms_text(struct arena *arena, const char *const *vms, const char **ret_factors)
{
	const char *names = "", *first = NULL;

	*ret_factors = "";
	for (size_t i = 0; vms && vms[i]; i++) {
		first = first ? first : vms[i];
		names = arena_printf(arena, "%s%s%s", names, i ? ", " : "", word(arena, vms[i]));
	}
	if (!first)
		return "";
	for (size_t i = 0; i < ARRAY_SIZE(of_vms); i++)
		*ret_factors =
		    arena_printf(arena, "%s  # %s: {knob: '%s@%s', levels: [%s]}   # %s\n", *ret_factors,
				 of_vms[i].name, of_vms[i].knob, quoted(arena, first), of_vms[i].levels, of_vms[i].why);
	return arena_printf(
	    arena,
	    "# Its VMs. To run the work in one of them: on: vm:%s; for studies of a VM: hvtune study list\n"
	    "vms: [%s]\n\n",
	    first, names);
}

static const char *goals_text(struct arena *arena, const struct meter_set *meters)
{
	const struct study any = {0};
	const char *meter = study_meter_choose(&any, meters);

	if (!meter)
		return "# No meter of energy is readable here (hvtune meters): time alone can be sought.\nobjectives: "
		       "[time]\n";
	return arena_printf(
	    arena,
	    "# Also load-watts, idle-watts, or a limit: {idle-watts: 120 W}\nobjectives: [time, energy]\n"
	    "meter: %s             # whose joules count\n",
	    meter);
}

const char *study_new(struct knob_machine *machine, const struct study_new_facts *facts)
{
	struct arena *arena = machine->arena;
	const char *never, *vm_factors, *factors = find_factors(machine, &never);
	const char *vms = vms_text(arena, facts->vms, &vm_factors);
	const char *workloads =
	    facts->command ? arena_printf(arena, "workloads:\n  work:\n    run: '%s'\n", quoted(arena, facts->command))
			   : "# Or your own: workloads: {build: make -j32}\nworkloads: [xz, perl]\n";

	if (!*factors)
		factors =
		    "  # Nothing that suits a study can be changed here without a boot. The form of your own levels:\n"
		    "  own:\n    levels:\n      now: as-found\n      other: {run: 'true', undo: 'true'}\n";
	return arena_printf(
	    arena,
	    "# A study of this host. `hvtune study check FILE` says what it will do, `hvtune study run FILE` does it "
	    "and puts\n"
	    "# everything back; docs/study-files.md and man hvtune-study tell every key.\nstudy: mine\n"
	    "title: which settings suit this host\n\n%s\n%s"
	    "# What is changed. Take out what you do not want to try: each factor multiplies the "
	    "configurations.\nfactors:\n%s"
	    "  # What takes a boot of the host for each change:\n%s%s%s%s\n"
	    "%s%s\n%s"
	    "budget: 2 h\nwithin: 1 %%        # as good as the best\nconfidence: 95 %%\n%s"
	    "leave: restore      # everything is put back\n",
	    workloads, vms, factors, dear_text(machine),
	    *vm_factors ? "  # What takes a restart of the VM, or a boot of the guest:\n" : "", vm_factors, by_hand,
	    *never ? "# What excludes each other here.\nnever:\n"
		   : "# What must not meet: never: [{one: level, other: level}]\n",
	    never, goals_text(arena, facts->meters),
	    study_meter_feels(facts->meters) ? "limits: {temperature: 95 C}   # a run that exceeds it is ended\n" : "");
}
