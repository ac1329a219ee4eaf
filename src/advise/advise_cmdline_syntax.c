/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the rules about how a kernel command line is written: typing errors, missing blanks, mangled quotes, doubles,
 * words that no kernel reads, lines that are too long.
 */
#include <ctype.h>

#include "advise_check.h"
#include "advise_words.h"

#define PARAMETERS "Linux Documentation/admin-guide/kernel-parameters.txt"

/* COMMAND_LINE_SIZE of x86 with the NUL at its end (arch/x86/include/asm/setup.h). */
enum { LINE_LIMIT = 2048 };

static void note_word(struct advise_check *c, const struct cmdline_word *word)
{
	advise_forget(c);
	advise_note_text(c, c->cmdline->path, "%s", word->text);
}

/* Has the host's own kernel said whether it knows the word? Only for its own command line. */
static bool kernel_says_unknown(const struct advise_check *c, const char *text)
{
	const struct fact *unknown = &c->host->os.unknown_words;

	return c->cmdline == &c->host->cmdline && fact_known(unknown) && text_has_word(unknown->text, " \n\"", text);
}

/* Edits that make a typing error of a name of this length: one, in long names two. */
static int edits_of(const char *name)
{
	return strlen(name) >= 9 ? 2 : 1;
}

static void check_typo(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];

		if (word->for_init || advise_kernel_word(word->name))
			continue;
		bool said = kernel_says_unknown(c, word->text);
		/* Without the kernel's word for it a name with a dot may be any module's. */
		const struct kernel_word *near =
		    said || !strchr(word->name, '.') ? advise_kernel_word_near(word->name, edits_of(word->name)) : NULL;

		if (!near)
			continue;
		note_word(c, word);
		struct advise_finding *finding =
		    advise_report(c, "%s is no parameter; did you mean %s?", word->name, near->name);

		if (said)
			finding->detail = "the kernel log calls it unknown";
		finding->by_hand = advise_printf(c, "write %s%s%s", near->name, word->value ? "=" : "",
						 word->value ? word->value : "");
		advise_at_word(c, finding, word);
	}
}

static void check_unknown(struct advise_check *c)
{
	/* What boot loaders and init systems put there for others to read. */
	static const char usual[] = "BOOT_IMAGE splash rhgb single text nosplash initrd boot ostree root.zfs";
	const struct fact *unknown = &c->host->os.unknown_words;
	const char *list = "";
	int count = 0;

	if (c->cmdline != &c->host->cmdline || !fact_known(unknown))
		return;
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];

		if (word->for_init || !kernel_says_unknown(c, word->text) || text_has_word(usual, " ", word->name) ||
		    advise_kernel_word_near(word->name, edits_of(word->name)))
			continue;
		list = advise_printf(c, "%s%s%s", list, *list ? " " : "", word->text);
		count++;
	}
	if (!count)
		return;
	advise_note(c, unknown);
	advise_report(c, "The kernel does not know %d word%s: %s", count, count == 1 ? "" : "s", list);
}

static void check_missing_blank(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const char *inside;

		if (word->for_init || !word->value || !advise_kernel_word_inside(word->value, &inside))
			continue;
		note_word(c, word);
		struct advise_finding *finding = advise_report(
		    c, "A space is missing before %s: the kernel takes it for a part of %s", inside, word->name);

		finding->by_hand = advise_printf(c, "write \"%s=%.*s %s\"", word->name, (int)(inside - word->value),
						 word->value, inside);
		advise_at_word(c, finding, word);
	}
}

static void check_mangled(struct advise_check *c)
{
	const char *line = c->cmdline->line.text;
	size_t quotes = 0;

	for (const char *at = line; *at; at++)
		quotes += *at == '"';
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const struct kernel_word *known = word->for_init ? NULL : advise_kernel_word(word->name);

		if (!known || !word->value || !strchr(word->value, '"'))
			continue;
		note_word(c, word);
		advise_at_word(c, advise_report(c, "%s=%s holds a quote inside its value", word->name, word->value),
			       word);
	}
	if (quotes % 2) {
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%zu quotes", quotes);
		advise_report(c, "A quote is not closed: all spaces behind it belong to one word");
	}
}

/* U+2018, U+2019, U+201C, U+201D in UTF-8: what word processors and web pages make of quotes. */
static bool has_typographic_quote(const char *text)
{
	static const char *const quotes[] = {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9c", "\xe2\x80\x9d"};

	for (size_t i = 0; i < ARRAY_SIZE(quotes); i++)
		if (strstr(text, quotes[i]))
			return true;
	return false;
}

static void check_typographic_quotes(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];

		if (!has_typographic_quote(word->text))
			continue;
		note_word(c, word);
		advise_at_word(c, advise_report(c, "%s holds a typographic quote, which quotes nothing", word->text),
			       word);
	}
}

static void check_shell_cuts(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->fault_count; i++) {
		const struct cmdline_fault *fault = &c->cmdline->faults[i];

		advise_forget(c);
		struct advise_finding *finding = advise_report(c, "%s", fault->what);

		finding->by_hand = fault->fix;
		finding->path = c->cmdline->path;
		finding->line = fault->line;
		finding->column = fault->column;
	}
}

static void check_behind_dashes(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];

		if (!word->for_init || !word->value || !advise_kernel_word(word->name))
			continue;
		note_word(c, word);
		advise_at_word(
		    c, advise_report(c, "%s stands behind \"--\": the kernel hands it to init unread", word->text),
		    word);
	}
}

/* Is this the first word of its name? Then the finding about doubles is made here. */
static bool is_first(const struct advise_check *c, int index)
{
	for (int i = 0; i < index; i++)
		if (!c->cmdline->words[i].for_init &&
		    cmdline_same_name(c->cmdline->words[i].name, c->cmdline->words[index].name))
			return false;
	return true;
}

static void report_doubles(struct advise_check *c, const struct cmdline_word *first)
{
	const struct cmdline_word *last = cmdline_last(c->cmdline, first->name);
	int count = cmdline_count(c->cmdline, first->name);
	bool differ = false;

	advise_forget(c);
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];

		if (word->for_init || !cmdline_same_name(word->name, first->name))
			continue;
		advise_note_text(c, c->cmdline->path, "%s", word->text);
		differ = differ || !text_equal(word->value ? word->value : "", last->value ? last->value : "");
	}
	advise_at_word(
	    c,
	    advise_report_as(c, differ ? ADVISE_WARN : ADVISE_INFO,
			     differ ? "%s is given %s: the last one counts, %s" : "%s is given %s, each time as %s",
			     first->name, count == 2 ? "twice" : advise_printf(c, "%d times", count), last->text),
	    last);
}

static void check_double(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const struct kernel_word *known = word->for_init ? NULL : advise_kernel_word(word->name);

		if (known && (known->flags & WORD_LAST_WINS) && cmdline_count(c->cmdline, word->name) > 1 &&
		    is_first(c, i))
			report_doubles(c, word);
	}
}

static void check_empty_list(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const struct kernel_word *known = word->for_init ? NULL : advise_kernel_word(word->name);

		if (!known || !(known->flags & WORD_CPUS) || !word->value || *word->value)
			continue;
		note_word(c, word);
		advise_at_word(c, advise_report(c, "%s= names no CPU", word->name), word);
	}
}

static void check_too_long(struct advise_check *c)
{
	size_t length = strlen(c->cmdline->line.text);

	advise_note_text(c, c->cmdline->path, "%zu characters", length);
	if (length >= LINE_LIMIT)
		advise_report(c, "The line has %zu characters: the kernel cuts it at %d", length, LINE_LIMIT - 1);
}

const struct advise_rule advise_cmdline_syntax_rules[] = {
    {
	.id = "cmdline.typing-error",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "A word is no kernel parameter but nearly one",
	.mechanism =
	    "The kernel hands words that it does not know to init and says so in one line of its log (\"Unknown kernel "
	    "command line parameters\").",
	.effect = "what was asked for does not happen",
	.basis = BASIS_REASONED,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "correct the word",
	.check = check_typo,
    },
    {
	.id = "cmdline.unknown-to-kernel",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "The kernel log names words that it does not know",
	.mechanism =
	    "They go to init, which may be meant. A word for a patched kernel or an older version does nothing here.",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.by_hand = "journalctl -k -b | grep 'Unknown kernel command line'",
	.check = check_unknown,
    },
    {
	.id = "cmdline.missing-blank",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "A space is missing between two words",
	.mechanism = "Tools that append words without a space make one word of two (ttyS0,115200n8spectre_v2=off): the "
		     "second is "
		     "lost without a message.",
	.effect = "the second word is not read; the first may be refused",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 268",
	.hurts = "nothing",
	.by_hand = "write a space",
	.check = check_missing_blank,
    },
    {
	.id = "cmdline.mangled-quotes",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "Quotes stand where the kernel or the boot loader will trip over them",
	.mechanism =
	    "Quotes protect spaces from the kernel only around a whole word or value. Inside a value they are left by "
	    "scripts that edited the line again and again (skew_tick=1\"=1\"=1); GRUB has stopped at its prompt over "
	    "such a line.",
	.effect = "the value is not understood; the machine may not boot",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 117 and 174",
	.hurts = "nothing",
	.by_hand = "write the word again without quotes",
	.check = check_mangled,
    },
    {
	.id = "cmdline.typographic-quotes",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "A word holds a typographic quote",
	.mechanism =
	    "Pasted from a web page: shell, boot loader and kernel know only the straight quotes \" and '. The "
	    "value ends at its first space, and its first and last word carry a strange letter.",
	.effect = "the first word is not known to the kernel, the words behind it are not read",
	.basis = BASIS_REASONED,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "replace it by a straight quote",
	.check = check_typographic_quotes,
    },
    {
	.id = "cmdline.cut-by-shell",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "The shell that reads GRUB's defaults takes less than what is written",
	.mechanism =
	    "grub-mkconfig reads /etc/default/grub as a shell script: there must be no space around \"=\", and a "
	    "value with spaces needs quotes. What does not belong to the value is run as a command or lost.",
	.effect = "the words do not reach the kernel, or the configuration is not made",
	.basis = BASIS_DOCUMENT,
	.source = "GRUB manual, simple configuration",
	.hurts = "nothing",
	.by_hand = "put the whole value into straight quotes, right behind \"=\"",
	.check = check_shell_cuts,
    },
    {
	.id = "cmdline.behind-dashes",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "A kernel parameter stands behind \"--\"",
	.mechanism = "Everything behind \"--\" is for init. Words appended to such a line never reach the kernel.",
	.effect = "what was asked for does not happen",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "move the word before \"--\"",
	.check = check_behind_dashes,
    },
    {
	.id = "cmdline.given-twice",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "A parameter is given more than once",
	.mechanism = "Of these parameters the last one counts; the earlier ones mislead whoever reads the line, and an "
		     "editor that "
		     "changes only the first changes nothing.",
	.effect = "the earlier values have no effect",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.rst; tuned issue 443",
	.hurts = "nothing",
	.by_hand = "keep one of them",
	.check = check_double,
    },
    {
	.id = "cmdline.empty-list",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "A list of CPUs is empty",
	.mechanism = "Left by a profile or script whose variable was not set: no CPU is isolated, and nobody says so.",
	.effect = "none of the isolation that was meant",
	.basis = BASIS_REASONED,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "name the CPUs, or take the word out; with tuned set isolated_cores= in its variables file",
	.check = check_empty_list,
    },
    {
	.id = "cmdline.too-long",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "The command line is longer than the kernel reads",
	.mechanism = "x86 keeps 2047 characters and drops the rest. Long lists of single CPUs are the usual cause; "
		     "write them as "
		     "ranges.",
	.effect = "the words at the end are lost",
	.basis = BASIS_DOCUMENT,
	.source = "Linux arch/x86/include/asm/setup.h; tuned issue 514",
	.hurts = "nothing",
	.by_hand = "write CPU lists as ranges (0-47 rather than 0,1,2...)",
	.check = check_too_long,
    },
    {.id = NULL},
};
