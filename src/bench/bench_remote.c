/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns workloads on other machines. */
#include "bench_remote.h"

#include <errno.h>
#include <stdio.h>

#include "text.h"

#define MARK "hvtune-times"

/*
 * bash tells the time without another process; elsewhere date(1) does, within about a millisecond. `times` prints two
 * lines, of the shell and of its children, as minutes and seconds; in a subshell it would know of no children.
 */
#define CLOCK "t() { if [ -n \"$EPOCHREALTIME\" ]; then echo \"$EPOCHREALTIME\"; else date +%s.%N; fi; }"
#define RUN "b=$(t); \"$@\""
#define TELL                                                                                                           \
	"c=$?; e=$(t); { printf '\\n" MARK "\\n'; times; "                                                             \
	"printf '%s %s %s %s ' \"$b\" \"$e\" \"$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo -)\" "        \
	"\"$(uname -n)\"; }"

/* Of files for the outputs the end is told by the shell, whatever still writes to them; a signal to all ends it not. */
#define FILES                                                                                                          \
	"trap : TERM; d=" BENCH_GUEST_DIRECTORY "$$; rm -rf \"$d\"; mkdir -m 700 \"$d\" || exit 126; "                 \
	"export HOME=\"${HOME:-/root}\"; cd \"$HOME\" || cd /; "
#define TAKE                                                                                                           \
	" >\"$d/times\"; head -c $m \"$d/out\"; { tail -c $m \"$d/err\"; cat \"$d/times\"; wc -c <\"$d/out\"; } >&2; " \
	"rm -rf \"$d\"; exit $c"

/* A word for the shell, always in quotes. */
static const char *quoted(struct arena *arena, const char *word)
{
	return bench_words_text(arena, (const char *const[]){word, NULL});
}

bool bench_is_remote(const char *place)
{
	return place && (text_starts(place, "ssh:") || text_starts(place, "vm:"));
}

static const char *surroundings(struct arena *arena, const char *script, const char *cwd,
				const char *const *environment)
{
	if (cwd)
		script = arena_printf(arena, "%s; cd %s || exit 126", script, quoted(arena, cwd));
	for (size_t i = 0; environment && environment[i]; i++) {
		size_t length = strcspn(environment[i], "=");

		script = arena_printf(arena, "%s; export %.*s=%s", script, (int)length, environment[i],
				      quoted(arena, environment[i] + length + 1));
	}
	return script;
}

const char *const *bench_remote_argv(struct arena *arena, const char *host, const char *const *words, const char *cwd,
				     const char *const *environment)
{
	const char **argv = ARENA_ARRAY(arena, 8, const char *);
	const char *script = surroundings(arena, CLOCK, cwd, environment), *run;

	script = arena_printf(arena, "%s; %s", script, RUN "; " TELL " >&2; echo - >&2; exit $c");
	/* bash where there is one, for its clock; the words come as arguments, whatever is in them. */
	run = arena_printf(arena,
			   "if command -v bash >/dev/null 2>&1; then s=bash; else s=sh; fi; exec $s -c %s hvtune %s",
			   quoted(arena, script), bench_words_text(arena, words));
	argv[0] = "ssh";
	argv[1] = "-oBatchMode=yes";
	argv[2] = "-oConnectTimeout=10";
	argv[3] = "--";
	argv[4] = host;
	argv[5] = run;
	return argv;
}

const char *const *bench_guest_argv(struct arena *arena, const char *const *words, const char *cwd,
				    const char *const *environment)
{
	static const char *const before[] = {
	    "setsid", "sh", "-c", "if command -v bash >/dev/null 2>&1; then s=bash; else s=sh; fi; exec $s -c \"$@\"",
	    "hvtune"};
	const char **argv, *script = surroundings(arena, FILES CLOCK, cwd, environment);
	size_t count = 0, at = ARRAY_SIZE(before);

	while (words[count])
		count++;
	argv = ARENA_ARRAY(arena, at + count + 3, const char *);
	memcpy(argv, before, sizeof(before));
	argv[at++] = arena_printf(arena, "%s; m=%d; %s", script, BENCH_GUEST_OUTPUT,
				  RUN " >\"$d/out\" 2>\"$d/err\"; " TELL TAKE);
	argv[at++] = "hvtune";
	memcpy(argv + at, words, count * sizeof(*words));
	return argv;
}

/* "0m1.230s" in seconds. */
static double minutes(const char *text)
{
	char *end = NULL;
	double whole = strtod(text, &end);

	return end != text && *end == 'm' ? 60 * whole + strtod(end + 1, NULL) : whole;
}

int bench_remote_take(struct arena *arena, struct bench_outcome *outcome, struct bench_remote *ret, struct err *err)
{
	char *found = NULL, *end;
	char begin[32], stop[32], boot[64], name[256], user[32] = "", system[32] = "", printed[32] = "";
	const char *last = NULL;

	/* The last one: the command might print such a line itself. */
	for (char *at = outcome->errors; at && (at = strstr(at, "\n" MARK "\n")); at++)
		found = at;
	/* NOLINTNEXTLINE(cert-err34-c): these are words; numbers are taken from them below. */
	if (found && sscanf(found + 1 + sizeof(MARK), "%*[^\n]\n%31s %31s\n%31s %31s %63s %255s %31s", user, system,
			    begin, stop, boot, name, printed) != 7)
		found = NULL;
	if (!found) {
		last = outcome->errors ? text_trim(arena, outcome->errors) : "";
		last = strrchr(last, '\n') ? strrchr(last, '\n') + 1 : last;
		return err_set(err, EBADMSG, NULL, "the other machine told no times%s%s", *last ? ": " : "", last);
	}
	*ret = (struct bench_remote){
	    .wall_s = strtod(stop, NULL) - strtod(begin, NULL),
	    .user_s = minutes(user),
	    .system_s = minutes(system),
	    .boot = text_equal(boot, "-") ? NULL : arena_strdup(arena, boot),
	    .name = arena_strdup(arena, name),
	    .printed = text_equal(printed, "-") ? -1 : strtoll(printed, NULL, 10),
	};
	end = found;
	for (int line = 0; end && line < 4; line++)
		end = strchr(end + 1, '\n');
	(void)memmove(found, end ? end + 1 : "", end ? strlen(end + 1) + 1 : 1);
	outcome->errors_size = strlen(outcome->errors);
	return ret->wall_s >= 0 ? 0 : err_set(err, EBADMSG, NULL, "the clock of the other machine went back");
}
