/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns writing a first study file for a machine. */
#include "study_new.h"

#include <string.h>

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

const char *study_new(struct knob_machine *machine, const char *command)
{
	struct arena *arena = machine->arena;
	const char *factors = "";
	const char *workloads =
	    command ? arena_printf(arena, "workloads:\n  work:\n    run: '%s'\n", quoted(arena, command))
		    : "# Or your own: workloads: {build: make -j32}\nworkloads: [xz, perl]\n";

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		const char *values;

		if (find_values(machine, &candidates[i], &values))
			factors = arena_printf(
			    arena, "%s  # %s; more: hvtune knobs %s\n  %s: {optional: yes, knob: %s, levels: [%s]}\n",
			    factors, candidates[i].why, candidates[i].knob, candidates[i].knob, candidates[i].knob,
			    values);
	}
	return arena_printf(
	    arena,
	    "# A study of this host. `hvtune study check FILE` says what it will do, `hvtune study run FILE` does it "
	    "and puts\n"
	    "# everything back; man hvtune-study tells every key.\nstudy: mine\ntitle: which settings suit this "
	    "host\n\n%s\n"
	    "# What is changed. Take out what you do not want to try: each factor multiplies the "
	    "configurations.\nfactors:\n%s"
	    "  # What takes a boot, for when that is wanted:\n"
	    "  # mitigations: {knob: boot.mitigations, levels: [auto, off]}\n  # iommu: {knob: boot.iommu, levels: "
	    "[pt, nopt]}\n\n"
	    "# What must not meet: never: [{thp: always, governor: powersave}]\n\n"
	    "# time; with a meter also energy, load-watts, or a limit: {idle-watts: 120 W}\nobjectives: [time]\n"
	    "budget: 2 h\nwithin: 1 %%        # as good as the best\nconfidence: 98 %%\nleave: restore      # "
	    "everything is put back\n",
	    workloads, factors);
}
