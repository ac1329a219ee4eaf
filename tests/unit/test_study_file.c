/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of study files: every mistake is named with its line, and what is right is read as it is written. */
#include <errno.h>
#include <unistd.h>

#include "study_matrix.h"
#include "study_yaml.h"
#include "text.h"
#include "unit.h"

#define NUMBERS "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32"
#define SIX " levels: [1, 2, 3, 4, 5, 6]}\n"
#define MANY                                                                                                           \
	"  a: {knob: swappiness," SIX "  b: {knob: dirty_ratio," SIX "  c: {knob: hugepages.2M," SIX                   \
	"  d: {knob: boot.nohz," SIX "  e: {knob: kvm.halt_poll_ns," SIX
#define HEAD "study: s\nworkloads: {w: make}\n"

static const struct {
	const char *text;
	unsigned line;
	const char *part;
} mistakes[] = {
    {"", 0, "empty"},
    {"- a\n", 1, "a study is a list of keys"},
    {"study: s\n", 1, "needs \"workloads\""},
    {"study: a b\n" HEAD, 2, "\"study\" is there twice; the first is in line 1"},
    {"study: [\n", 2, "no YAML"},
    {"study: s\n\tworkloads: {}\n", 2, "no YAML"},
    {HEAD "---\nstudy: t\n", 4, "a second document"},
    {HEAD "factor:\n  a: {}\n", 3, "no key \"factor\"; did you mean \"factors\"?"},
    {HEAD "factors:\n  f: {knob: governer, levels: [a, b]}\n", 4,
     "there is no knob \"governer\"; did you mean \"governor\"?"},
    {HEAD "factors:\n  f: {knob: governor, levels: [a]}\n", 4, "at least two levels"},
    {HEAD "factors:\n  f:\n    knob: governor\n    levels: [a, b, a]\n", 6, "level \"a\" is there twice"},
    {HEAD "factors:\n  f: {levels: [1, 4]}\n", 4, "says not of what"},
    {HEAD "factors:\n  f: {ask: Set it, levels: [1, 4]}\n", 4, "must say {level}"},
    {HEAD "factors:\n  f: {ask: 'Set {level}', see: 'true', levels: [1, 4]}\n", 4, "must say {level}"},
    {HEAD "factors:\n  f: {knob: thp, see: 'test {level}', levels: [always, never]}\n", 4, "\"f\" asks none"},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {see: 'true'}}}\n", 4, "\"f\" asks none"},
    {HEAD "factors:\n  f: {knob: thp, needs: person, levels: [always, never]}\n", 4, "what he is to do"},
    {HEAD "factors:\n  f: {levels: {a: {run: x}, b: {set: {thp: never}}}}\n", 4, "has no \"undo\""},
    {HEAD "factors:\n  f: {levels: {a: {}, b: {set: {thp: never}}}}\n", 4, "neither sets a knob"},
    {HEAD "factors:\n  f: {levels: {a: {set: {thp: [x]}}, b: {set: {thp: never}}}}\n", 4,
     "expected a value of the knob"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\n  g: {knob: thp, levels: [never, madvise]}\n", 5,
     "factors \"f\" and \"g\" both set thp"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnever:\n  - {f: nevr}\n", 6, "has no level \"nevr\""},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnever:\n  - {f: never}\n", 6, "forbids the baseline"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbaseline: {g: 1}\n", 5, "no factor \"g\""},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [tme]\n", 5,
     "\"tme\" is not an objective; did you mean \"time\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [{time: 3 W}]\n", 5, "only watts"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [{idle-watts: 90 W}]\n", 5,
     "one must be sought"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbudget: 8\n", 5, "a time with its unit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nconfidence: 0.98\n", 5, "write it with its unit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nconfidence: 100 %\n", 5, "between 0 % and 100 %"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nruns: [9, 3]\n", 5, "is above the most"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, {idle-watts: 90}]\n", 5, "as 120 W"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nleave: it\n", 5, "one of restore, best"},
    {"study: s\nworkloads:\n  w: {run: ''}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "an empty command"},
    {"study: s\nworkloads:\n  w: {run: x, on: web1}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "not among vms"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {json: a, better: less}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "no JSON pointer"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {regex: 'a(b'}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "no extended regular expression"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {regex: '([0-9]+) ms'}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "better: more"},
    {"study: s\nworkloads:\n  w: {run: x, directory: src}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "no absolute path"},
    {HEAD "factors: &a\n  f: *a\n", 3, "contains itself"},
    {HEAD "factors:\n  ? [a]\n  : b\n", 4, "a key must be a word"},
    {HEAD "factors: {f: {knob: thp, levels: [\"ne\\0ver\", always]}}\n", 3, "NUL"},
    {"study: \xff\n", 0, "no UTF-8"},
    {"a\n", 1, "a study is a list of keys"},
    {"%YAML 9.9\n---\nstudy: s\n", 1, "no YAML"},
    {"study: \nworkloads: {w: make}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 1,
     "expected a name, found nothing"},
    {"study: [s]\nworkloads: {w: make}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 1,
     "expected a name, found a list"},
    {"study: a/b\nworkloads: {w: make}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 1, "is no name"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\ntitle: {a: b}\n", 5, "expected a text, found keys"},
    {"study: s\non: vm:db\nworkloads: ['@compress']\n"
     "factors: {f: {knob: thp, levels: [never, always]}}\n",
     2, "vms: [db]"},
    {"study: s\non: [a]\nworkloads: [xz]\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 2, "found a list"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, idle-watts]\n"
	  "weights: {time: 1, idle-watts: 1}\n",
     6, "idle-watts takes no weight"},
    {HEAD "factors: {}\n", 3, "factors are names with their levels"},
    {HEAD "factors: [a]\n", 3, "factors are names with their levels"},
    {HEAD "factors:\n  'a b': {knob: thp, levels: [never, always]}\n", 4, "is no name"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nvms: web1\n", 5, "vms are a list"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nvms: [web1, web1]\n", 5, "there twice"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nvms: [{a: b}]\n", 5, "a VM has no key \"a\""},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nvms: [[a]]\n", 5, "expected the name of a VM"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nvms: [{ssh: a}]\n", 5, "name"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nvms: [{name: a, ssh: -x}]\n", 5,
     "\"-x\" names no machine"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nvms: [{name: a, wait: long}]\n", 5, ""},
    {HEAD "factors:\n  f: {knob: vm.queues@b, levels: [1, 2]}\nvms: [a]\n", 4,
     "vm.queues is of \"b\", which is not among vms"},
    {HEAD "factors:\n  f: {knob: guest.idle@b, levels: [poll, halt]}\n", 4, "guest.idle is of \"b\""},
    {HEAD "factors:\n  f: {knob: vm.queues, levels: [1, 2]}\nvms: [a]\n", 4, "needs the name of a VM"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nseed: -3\n", 5, "no whole number"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nseed: 0x10\n", 5, "no whole number"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\ndesign: best\n", 5,
     "one of auto, full, race, one-by-one"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\ndesign: rase\n", 5, "did you mean \"race\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nconfirm: perhaps\n", 5, "neither yes nor no"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nruns: many\n", 5, "no whole number"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nruns: [5]\n", 5, "the least and the most"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbudget: -8 h\n", 5, "a time with its unit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbudget: 8 hours\n", 5, "a time with its unit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbudget: nan h\n", 5, "a time with its unit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nwithin: 0 %\n", 5, "not between 0 % and 100 %"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbugdet: 8 h\n", 5, "did you mean \"budget\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: {time: 1}\n", 5, "objectives are a list"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, time]\n", 5, "there twice"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, {idle-watts: 90 V}]\n", 5,
     "as 120 W"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, [energy]]\n", 5,
     "expected an objective, found a list"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nweights: [2, 1]\n", 5, "with a weight each"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nweights: {energy: 1, time: 1}\n", 5,
     "not among the objectives"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, energy]\nweights: {time: 2}\n", 6,
     "\"energy\" is sought and has no weight"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nobjectives: [time, {idle-watts: 90 W}]\nweights: "
	  "{time: 2, idle-watts: 1}\n",
     6, "is a limit"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nweights: {time: 0}\n", 5, "is no weight"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nweights: {tmie: 1}\n", 5, "did you mean \"time\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nmeter: plug\n", 5, "one of wall, board, package"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nlimits: 85 C\n", 5, "limits is a list of keys"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nlimits: {}\n", 5, "limits without one"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nlimits: {temperature: 85}\n", 5, "as 85 C"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nlimits: {temperature: 850 C}\n", 5, "20 C to 150 C"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nlimits: {power: 600}\n", 5, "as 120 W"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nlimits: {boots: no}\n", 5, "no whole number"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nlimits: {tempreature: 85 C}\n", 5,
     "did you mean \"temperature\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnotify: []\n", 5, "an empty command"},
    {"study: s\nworkloads: {}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 2, "names with their commands"},
    {"study: s\nworkloads: [xzz]\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 2, "did you mean \"xz\"?"},
    {"study: s\nworkloads: ['@kompress']\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 2,
     "did you mean \"@compress\"?"},
    {"study: s\nworkloads:\n  w: {prepare: x}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "a workload needs \"run\""},
    {"study: s\nworkloads:\n  w: {run: []}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "an empty command"},
    {"study: s\nworkloads:\n  w: {run: ['', x]}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "program's name is empty"},
    {"study: s\nworkloads:\n  w: {run: [x, [y]]}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "expected a word of the command"},
    {"study: s\nworkloads:\n  w: {rum: x}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "did you mean \"run\"?"},
    {"study: s\nworkloads:\n  w: {run: x, weight: -1}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "is no weight"},
    {"study: s\nworkloads:\n  w: {run: x, timeout: 1}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "a time with its unit"},
    {"study: s\nworkloads:\n  w: {run: x, takes: 80 s, timeout: 1 min}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "ends a run of 80 s after 60 s"},
    {"study: s\nworkloads:\n  w: {run: x, packages: gcc}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "packages are a list"},
    {"study: s\nworkloads:\n  w: {run: x, metric: clock}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "is no metric"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {unit: s, better: less}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "there is neither"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {json: /a, regex: (a), better: less}}\nfactors: {f: {knob: thp, "
     "levels: [never, always]}}\n",
     3, "there are both"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {regex: abc, better: less}}\nfactors: {f: {knob: thp, levels: "
     "[never, always]}}\n",
     3, "no group in parentheses"},
    {"study: s\nworkloads:\n  w: {run: x, metric: {json: /a, better: lower}}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "one of less, more"},
    {"study: s\nworkloads:\n  w: {run: x, on: 'docker:x'}\nfactors: {f: {knob: thp, levels: [never, always]}}\n", 3,
     "host, vm:NAME or ssh:USER@MACHINE"},
    {"study: s\nworkloads:\n  w: {run: x, on: 'ssh:-oProxyCommand=x'}\nfactors: {f: {knob: thp, levels: [never, "
     "always]}}\n",
     3, "names no machine"},
    {"study: s\nworkloads:\n  w: {run: x, on: 'vm:db'}\nfactors: {f: {knob: thp, levels: [never, always]}}\nvms: "
     "[web]\n",
     3, "vms: [db]"},
    {HEAD "factors:\n  f: thp\n", 4, "a factor is a list of keys"},
    {HEAD "factors:\n  f: {knob: thp}\n", 4, "a factor needs \"levels\""},
    {HEAD "factors:\n  f: {knob: thp, levels: never}\n", 4, "at least two levels"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always], need: live}\n", 4, "did you mean \"needs\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always], needs: reboot}\n", 4, "one of live, vm-restart"},
    {HEAD "factors:\n  f: {knob: thp, levels: {a: {}, b: {}}}\n", 4, "named levels say \"set\""},
    {HEAD "factors:\n  f: {knob: thp, ask: '{level}?', levels: [1, 2]}\n", 4, "not both"},
    {HEAD "factors:\n  f: {knob: kernel, levels: [6.12, 6.18]}\n", 4, "is booted is boot.kernel"},
    {HEAD "factors:\n  f: {knob: 'governor@', levels: [a, b]}\n", 4, "governor@"},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {set: [thp]}}}\n", 4, "\"set\" holds knobs"},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {undo: x}}}\n", 4, "runs no command that it could take back"},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {plan: p.json}}}\n", 4, "no absolute path"},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {plan: /no/such}}}\n", 4, "/no/such"},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {plan: /proc/version}}}\n", 4, "what `hvtune place VM --json`"},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {plan: /x, set: {thp: never}}}}\n", 4, "both \"set\" and \"plan\""},
    {HEAD "factors:\n  f: {levels: {a: as-found, b: {sett: {thp: never}}}}\n", 4, "did you mean \"set\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, [always]]}\n", 4, "expected a level, found a list"},
    {HEAD "factors:\n  f: {knob: [thp], levels: [never, always]}\n", 4, "expected the name of a knob"},
    {HEAD "factors:\n  f: {knob: swappiness, levels: [" NUMBERS "]}\n", 4, "a factor has at most 32"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnever: {f: never}\n", 5, "levels that must not meet"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnever: [f]\n", 5, "expected factors with the levels"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nnever: [{ff: never}]\n", 5, "did you mean \"f\"?"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbaseline: never\n", 5, "a level each"},
    {HEAD "factors:\n  f: {knob: thp, levels: [never, always]}\nbaseline: {f: [never]}\n", 5,
     "expected a level, found a list"},
    {HEAD "factors:\n" MANY, 4, "a study has at most 4096"},
};

static void read_text(struct arena *arena, const char *text, struct study **ret, struct study_mistakes *found,
		      int *ret_r)
{
	*found = (struct study_mistakes){0};
	*ret_r = study_read(arena, "s.yaml", text, strlen(text), ret, found);
}

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct study *study = NULL;
		struct study_mistakes found;
		bool met = false;
		int r;

		read_text(arena, mistakes[i].text, &study, &found, &r);
		if (r != -EINVAL || study || !found.count)
			fail_msg("mistake %zu was not seen:\n%s", i, mistakes[i].text);
		for (size_t j = 0; j < found.count && !met; j++) {
			char all[1024];

			(void)snprintf(all, sizeof(all), "%s (%s)", found.items[j].what, found.items[j].hint);
			met = found.items[j].line == mistakes[i].line && strstr(all, mistakes[i].part);
		}
		if (!met)
			fail_msg("mistake %zu: expected \"%s\" in line %u, got line %u \"%s\" (%s)\n%s", i,
				 mistakes[i].part, mistakes[i].line, found.items[0].line, found.items[0].what,
				 found.items[0].hint, mistakes[i].text);
	}
}

/* One look at the file must show all that is wrong with it. */
static void test_all_at_once(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes found;
	struct study *study = NULL;
	int r;

	(void)state;
	read_text(arena,
		  "study: a/b\nworkloads:\n  w: {rum: x}\nfactors:\n  f: {knob: thp, levels: [never]}\n  g: {knob: "
		  "nope, levels: [1, 2]}\n"
		  "budget: long\n",
		  &study, &found, &r);
	assert_int_equal(r, -EINVAL);
	const unsigned lines[] = {1, 3, 3, 5, 6, 7};

	assert_int_equal(found.count, ARRAY_SIZE(lines));
	for (size_t i = 0; i < found.count; i++)
		assert_int_equal(found.items[i].line, lines[i]);
}

static const char whole[] = "study: amd\n"
			    "title: 'Speed: all'\n"
			    "vms: [web1]\n"
			    "on: ssh:me@there\n"
			    "workloads:\n"
			    "  build:\n"
			    "    run: make -j32\n"
			    "    prepare: [rm, -rf, build]\n"
			    "    directory: /src/gdb\n"
			    "    timeout: 20 min\n"
			    "  net:\n"
			    "    run: [iperf3, -J]\n"
			    "    on: vm:web1\n"
			    "    weight: 2\n"
			    "    metric: {json: /end/sum/bits_per_second, unit: bit/s, better: more}\n"
			    "  far: {run: make, on: 'ssh:root@10.0.0.2'}\n"
			    "  near: {run: make, on: host}\n"
			    "factors:\n"
			    "  governor: {knob: governor, levels: [performance, powersave]}\n"
			    "  driver: {knob: boot.amd_pstate, levels: [passive, active, guided]}\n"
			    "  queues: {knob: vm.queues@web1, levels: [1, 4, 16]}\n"
			    "  guest: {knob: guest.mitigations@web1, levels: [auto, off]}\n"
			    "  share:\n"
			    "    needs: vm-restart\n"
			    "    levels:\n"
			    "      none: as-found\n"
			    "      nfs: {run: [mount, a], undo: [umount, a]}\n"
			    "      both: {set: {thp: never, swappiness: 10}}\n"
			    "never:\n"
			    "  - {driver: active, governor: powersave}\n"
			    "baseline: {driver: guided}\n"
			    "objectives: [time, energy, {idle-watts: 0.12 kW}]\n"
			    "weights: {energy: 1, time: 3}\n"
			    "meter: wall\n"
			    "limits: {temperature: 85 °C, power: 0.6 kW, boots: 40}\n"
			    "notify: [mail, root]\n"
			    "budget: 1.5 h\n"
			    "within: 2 %\n"
			    "leave: best\n";

/* {level} is the level in what is asked and in what tells; a level's own goes before. */
static void test_asks(void **state)
{
	static const char text[] = HEAD
	    "factors:\n"
	    "  nps: {ask: 'Set NPS to {level}, not {level}K', levels: [1, 4], see: [test, '{level}', =, 'x{level}']}\n"
	    "  fan: {ask: 'Take {level}', needs: live, see: 'look {level}', levels: {big: {see: ls /big}, small: "
	    "as-found}}\n"
	    "  smt: {ask: '{level}', needs: host-boot, levels: [on, off]}\n";
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes found;
	struct study *study = NULL;
	int r;

	(void)state;
	read_text(arena, text, &study, &found, &r);
	if (r)
		fail_msg("line %u: %s", found.items[0].line, found.items[0].what);
	assert_string_equal(study_ask_text(arena, &study->factors[0], 1), "Set NPS to 4, not 4K");
	assert_string_equal(study->factors[0].levels[1].see.words[3], "x4");
	assert_null(study->factors[0].levels[1].see.words[4]);
	assert_string_equal(study->factors[1].levels[0].see.words[0], "ls /big");
	assert_string_equal(study->factors[1].levels[1].see.words[0], "look small");
	assert_int_equal(study->factors[2].levels[0].see.line, 0);
	for (size_t f = 0; f < 3; f++) {
		assert_int_equal(study->factors[f].cost, STUDY_PERSON);
		assert_int_equal(study->factors[f].ask_boots, f != 1);
	}
}

static void test_whole(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes found;
	struct study *study = NULL;
	int r;

	(void)state;
	read_text(arena, whole, &study, &found, &r);
	if (r)
		fail_msg("line %u: %s", found.items[0].line, found.items[0].what);
	assert_string_equal(study->title, "Speed: all");
	assert_int_equal(study->workload_count, 4);
	assert_string_equal(study->workloads[2].ssh, "root@10.0.0.2");
	assert_null(study->workloads[2].on);
	assert_null(study->workloads[3].on);
	assert_null(study->workloads[3].ssh);
	assert_string_equal(study->workloads[0].ssh, "me@there");
	assert_true(study->workloads[0].run.shell);
	assert_string_equal(study->workloads[0].prepare.words[1], "-rf");
	assert_false(study->workloads[0].prepare.shell);
	assert_float_equal(study->workloads[0].timeout_s, 1200, 0);
	assert_string_equal(study->workloads[1].on, "web1");
	assert_true(study->workloads[1].metric.more_is_better);
	assert_int_equal(study->factor_count, 5);
	assert_int_equal(study->factors[0].cost, STUDY_LIVE);
	assert_int_equal(study->factors[1].cost, STUDY_HOST_BOOT);
	assert_int_equal(study->factors[2].cost, STUDY_VM_RESTART);
	assert_int_equal(study->factors[3].cost, STUDY_GUEST_BOOT);
	assert_int_equal(study->factors[4].cost, STUDY_VM_RESTART);
	assert_int_equal(study->factors[4].levels[0].ask_count, 0);
	assert_int_equal(study->factors[4].levels[0].run.line, 0);
	assert_int_equal(study->factors[4].levels[2].ask_count, 2);
	assert_int_equal(study->baseline[1], 2);
	assert_float_equal(study->objectives[0].weight, 3, 0);
	assert_float_equal(study->objectives[1].weight, 1, 0);
	assert_float_equal(study->objectives[2].at_most, 120, 1e-9);
	assert_string_equal(study->meter, "wall");
	assert_float_equal(study->limits.temperature_c, 85, 1e-9);
	assert_float_equal(study->limits.power_w, 600, 1e-9);
	assert_int_equal(study->limits.boots, 40);
	assert_int_equal(study->limits.boots_line, study->limits.temperature_line);
	assert_string_equal(study->notify.words[1], "root");
	assert_float_equal(study->budget_s, 5400, 1e-9);
	assert_float_equal(study->within, .02, 1e-12);
	assert_true(study->leave_best);
}

static const struct {
	const char *plan;
	enum study_cost cost;
	const char *asks[4]; /* NAME@WHERE=VALUE, ended by NULL */
} plans[] = {
    {"{\"schema\": 1, \"asks\": [\"thp=never\", \"governor@0-3=powersave\"]}",
     STUDY_LIVE,
     {"thp@=never", "governor@0-3=powersave"}},
    /* Of VMs that have no place, or stay where they are, nothing is asked. */
    {"{\"command\": \"place\", \"vms\": [{\"name\": \"web1\", \"cpu_of_vcpu\": [2, 10, 3], \"emulator\": \"0,8\", "
     "\"memory\": [{\"node\": 1, \"kib\": 4}, {\"node\": 3}]}, {\"name\": \"db\", \"why\": \"no room\"}]}",
     STUDY_VM_RESTART,
     {"vm.pins.next@web1=0:2,1:10,2:3", "vm.emulator.next@web1=0,8", "vm.memory.next@web1=1,3"}},
};

static void test_plans(void **state)
{
	char path[] = "/tmp/hvtune-plan-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		const struct study_level *level;
		struct study_mistakes found;
		struct study *study = NULL;
		int r;

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, plans[i].plan, strlen(plans[i].plan), 0), strlen(plans[i].plan));
		read_text(arena,
			  arena_printf(
			      arena, HEAD "factors:\n  f: {levels: {now: as-found, placed: {plan: %s}}}\nvms: [web1]\n",
			      path),
			  &study, &found, &r);
		if (r)
			fail_msg("line %u: %s", found.items[0].line, found.items[0].what);
		level = &study->factors[0].levels[1];
		assert_int_equal(level->cost, plans[i].cost);
		assert_string_equal(level->plan, path);
		for (size_t a = 0; a < level->ask_count; a++)
			assert_string_equal(arena_printf(arena, "%s@%s=%s", level->asks[a].name,
							 level->asks[a].where ? level->asks[a].where : "",
							 level->asks[a].value),
					    plans[i].asks[a]);
		assert_null(plans[i].asks[level->ask_count]);
	}
	(void)close(fd);
	(void)unlink(path);
}

/* The nested order costs as much as the minimum spanning tree, which no order can beat. */
static void test_nested(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes found;
	struct study *study = NULL;
	struct study_matrix matrix;
	size_t boots = 0, restarts = 0;
	int r;

	(void)state;
	read_text(arena,
		  HEAD "factors:\n  a: {knob: thp, levels: [always, madvise, never]}\n"
		       "  b: {knob: boot.mitigations, levels: [auto, off]}\n"
		       "  c: {needs: vm-restart, levels: {x: {set: {swappiness: 1}}, y: {set: {swappiness: 2}}}}\n"
		       "  d: {knob: boot.iommu, levels: [pt, nopt]}\n"
		       "never:\n  - {a: never, b: off, c: y}\n",
		  &study, &found, &r);
	assert_int_equal(r, 0);
	study_matrix_make(arena, study, &matrix);
	assert_int_equal(matrix.count, 3 * 2 * 2 * 2 - 2);
	assert_int_equal(matrix.baseline, 0);
	for (size_t i = 1; i < matrix.count; i++) {
		int cost = study_switch_cost(&matrix, i - 1, i);

		assert_true(cost >= STUDY_LIVE);
		boots += cost == STUDY_HOST_BOOT;
		restarts += cost == STUDY_VM_RESTART;
		assert_int_equal(study_find_config(&matrix, study_levels(&matrix, i)), i);
	}
	assert_int_equal(boots, 3);
	assert_int_equal(restarts, 4);
	assert_string_equal(study_config_name(arena, &matrix, 0), "a=always b=auto c=x d=pt");
	assert_int_equal(study_switch_cost(&matrix, 2, 2), -1);
}

/* Aliases within aliases are one node each, not their product; deep nesting is refused. */
static void test_bombs(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	char text[8192] = "a: &a [x,x,x,x,x,x,x,x,x]\n";
	struct study_node *root = NULL;
	struct err err = {0};
	size_t used = strlen(text);

	(void)state;
	for (char c = 'b'; c <= 'z'; c++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1, c - 1,
					 c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
	assert_int_equal(study_yaml_parse(arena, "bomb", text, used, &root, &err), 0);
	assert_true(arena_used(arena) < 1 << 20);
	memset(text, '[', 4000);
	assert_int_equal(study_yaml_parse(arena, "deep", text, 4000, &root, &err), -EINVAL);
	memset(text + 100, ']', 100);
	memset(text, '[', 100);
	assert_int_equal(study_yaml_parse(arena, "deep", text, 200, &root, &err), -EINVAL);
	assert_non_null(strstr(err.what, "32 levels"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_mistakes), cmocka_unit_test(test_all_at_once), cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_asks),     cmocka_unit_test(test_nested),	 cmocka_unit_test(test_bombs),
	    cmocka_unit_test(test_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
