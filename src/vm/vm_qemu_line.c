/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding QEMU's command in a text and cutting it into options. */
#include "vm_qemu_internal.h"

#include <errno.h>
#include <stdarg.h>

#include "text.h"

enum { TEXT_LIMIT = 4 * 1024 * 1024 };

/* Options without an argument, of all versions of QEMU. */
static const char without_argument[] =
    "S XX alt-grab ctrl-grab curses daemonize device-help disable-kvm enable-fips enable-kvm enable-sync-profile "
    "fullscreen full-screen h help hvf-enable jitdump mem-prealloc nodefaults nodefconfig no-acpi no-daemon "
    "no-fd-bootchk no-frame no-hpet no-kvm no-kvm-irqchip no-kvm-pit no-kvm-pit-reinjection no-quit no-reboot "
    "no-shutdown no-user-config nographic old-param only-migratable perfmap portrait preconfig rtc-td-hack s sdl "
    "semihosting singlestep skip-legacy snapshot tdf usb version win2k-hack xen-attach xen-domid-restrict";

/* Options with one argument; where a name is in neither list, a next word that is no option is its argument. */
static const char with_argument[] =
    "accel acpitable action add-fd alpha-freq append assign audio audiodev balloon blockdev boot bios bt cdrom chardev "
    "chroot clock compat cpu cpu-throttle D d debugcon device dfilter display drive dtb dump-vmstate echr fda fdb "
    "fsdev "
    "fw_cfg g gdb global hda hdachs hdb hdc hdd icount id incoming initrd iscsi k kernel L loadvm M m machine "
    "mem-path mon monitor msg mtdblock name net netdev nic numa nvram object option-rom overcommit p parallel "
    "pflash pidfile plugin prom-env qmp qmp-pretty qtest qtest-log readconfig realtime rotate rtc run-with runas "
    "sandbox sd seed semihosting-config serial set shim smbios smp soundhw spice startdate swtpm sysinfo tb-size "
    "tpmdev "
    "trace usbdevice uuid vga virtfs virtfs_synth virtioconsole vnc watchdog watchdog-action writeconfig";

/* Options whose argument is a list of properties, with the name of the first one. */
static const struct {
	const char *option, *implied;
} with_properties[] = {
    {"M", "type"},	  {"accel", "accel"}, {"blockdev", "driver"}, {"chardev", "backend"}, {"cpu", "model"},
    {"device", "driver"}, {"drive", "file"},  {"fsdev", "fsdriver"},  {"global", NULL},	      {"m", "size"},
    {"machine", "type"},  {"mon", "chardev"}, {"name", "guest"},      {"net", "type"},	      {"netdev", "type"},
    {"nic", "type"},	  {"numa", "type"},   {"object", "qom-type"}, {"overcommit", NULL},   {"rtc", "base"},
    {"smbios", "file"},	  {"smp", "cpus"},    {"virtfs", "fsdriver"},
};

/* Words that may stand in front of a command: they run it. */
static const char runners[] =
    "! { builtin cgexec chroot chrt command do doas else env eval exec if ionice ip nice nohup numactl prlimit screen "
    "setarch setsid stdbuf strace sudo systemd-run taskset tee then time timeout tmux unshare until while xargs";

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool vm_is_qemu_program(const char *program)
{
	const char *name = base_name(program);

	if (text_starts(program, "/dev/"))
		return false;
	if (text_starts(name, "qemu-system-"))
		return true;
	return text_has_word("kvm qemu qemu-kvm qemu-kvm-spice qemu.real qemu-dm", " ", name);
}

static bool is_assignment(const char *word)
{
	size_t length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return length > 0 && word[length] == '=';
}

static const char *option_name(const char *word)
{
	if (word[0] != '-' || !word[1])
		return NULL;
	return word[1] == '-' && word[2] ? word + 2 : word + 1;
}

/* How many words look like options that only QEMU has. */
static int qemu_options_in(const struct qemu_words *words, int from)
{
	int count = 0;

	for (int i = from; i < words->count; i++) {
		const char *name = option_name(words->list[i].text);

		count +=
		    name && text_has_word("smp cpu m machine M device drive object numa netdev blockdev enable-kvm "
					  "accel nodefaults mem-path nographic hda cdrom overcommit",
					  " ", name);
	}
	return count;
}

/* The index of QEMU's own word in a command; -1: it does not run QEMU. */
static int program_in(const struct qemu_words *words)
{
	int first = 0;

	while (first < words->count && is_assignment(words->list[first].text))
		first++;
	if (first == words->count)
		return -1;
	const char *name = base_name(words->list[first].text);
	bool may_be_behind = text_has_word(runners, " ", name);

	for (int i = first; i < words->count; i++) {
		bool has_options = i + 1 < words->count && strchr("-$", words->list[i + 1].text[0]);

		/* Behind another command "kvm" may be anything: a group, a module. */
		if (vm_is_qemu_program(words->list[i].text) && (i == first || has_options))
			return i;
		/* "$QEMU -m 4G": a variable that is given QEMU's options. */
		if (words->list[i].text[0] == '$' && qemu_options_in(words, i + 1) > 1)
			return i;
		if (!may_be_behind)
			break;
	}
	return -1;
}

struct finder {
	struct qemu_words found;
	int program; /* index in found, -1: it begins with options */
	bool has;
	int others;	       /* further commands that run QEMU */
	unsigned comment_line; /* a comment cut the found command short */
	bool just_found;
};

static int look_at_command(void *context, const struct qemu_words *words, int index, unsigned comment_line)
{
	struct finder *finder = context;
	int program = program_in(words);
	bool bare = index == 0 && program < 0 && option_name(words->list[0].text) && qemu_options_in(words, 0) > 0;
	bool runs = program >= 0 && (words->count > program + 1 || !finder->has);

	if (finder->just_found && program < 0 && words->list[0].text[0] == '-' && finder->comment_line == 0)
		finder->comment_line = words->list[0].line;
	finder->just_found = false;
	if (!runs && !bare)
		return 0;
	if (finder->has) {
		finder->others++;
		return 0;
	}
	finder->has = finder->just_found = true;
	finder->program = program;
	finder->found.count = 0;
	for (int i = 0; i < words->count; i++)
		(void)qemu_words_add(&finder->found, NULL, words->list[i], NULL);
	finder->comment_line = comment_line;
	return 0;
}

static int find_command(struct finder *finder, const char *path, const char *text, size_t size, struct err *err)
{
	int outcome = 0;

	if (size > TEXT_LIMIT)
		return err_set(err, EFBIG, path, "more than %d MiB are no command line", TEXT_LIMIT / 1024 / 1024);
	if (memchr(text, '\0', size)) {
		outcome = qemu_argv(&finder->found, path, text, size, err);
		if (outcome < 0)
			return outcome;
		finder->program = program_in(&finder->found);
		finder->has = finder->program >= 0;
	} else {
		outcome = qemu_commands(finder->found.arena, path, text, size, look_at_command, finder, err);
	}
	if (outcome == 0 && !finder->has)
		outcome = err_set(err, EINVAL, path, "no command line of QEMU is in here");
	return outcome;
}

/* ---- options ---- */

static bool takes_argument(const char *option, const char *next)
{
	if (!next || text_has_word(without_argument, " ", option))
		return false;
	return text_has_word(with_argument, " ", option) || next[0] != '-' || !next[1];
}

static int take_properties(struct qemu_reader *reader, struct qemu_given *given)
{
	for (size_t i = 0; i < ARRAY_SIZE(with_properties); i++) {
		const char *implied = with_properties[i].implied;

		if (!text_equal(with_properties[i].option, given->option))
			continue;
		int outcome =
		    qemu_options_read(reader->arena, reader->path, &given->word, implied, &given->options, reader->err);

		given->first = outcome == 0 && implied ? qemu_option(&given->options, implied) : NULL;
		return outcome;
	}
	return 0;
}

static int take_options(struct qemu_reader *reader, const struct qemu_words *words, int first)
{
	reader->given = ARENA_ARRAY(reader->arena, (size_t)words->count + 1, struct qemu_given);
	for (int i = first; i < words->count; i++) {
		struct qemu_given *given = &reader->given[reader->count++];
		const char *option = option_name(words->list[i].text);
		const char *next = i + 1 < words->count ? words->list[i + 1].text : NULL;

		*given = (struct qemu_given){.option = option ? option : "", .word = words->list[i]};
		if (text_equal(given->option, "M"))
			given->option = "machine";
		if (option && takes_argument(option, next)) {
			given->word = words->list[++i];
			int outcome = take_properties(reader, given);

			if (outcome < 0)
				return outcome;
		} else if (option) {
			if (text_has_word(with_argument, " ", option))
				qemu_note(reader, qemu_place(given), "-%s has no argument behind it", option);
			given->word.text = "";
		}
	}
	return 0;
}

static void note_what_is_not_read(struct qemu_reader *reader)
{
	static const struct {
		const char *option, *before, *behind;
	} unread[] = {
	    {"readconfig", "-readconfig ", " is not read: it may add devices and settings"},
	    {"set", "-set ", " is not applied"},
	    {"incoming", "-incoming ", ": the VM comes by migration"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(unread); i++)
		for (const struct qemu_given *given = qemu_next(reader, unread[i].option, NULL); given;
		     given = qemu_next(reader, unread[i].option, given))
			qemu_note(reader, qemu_place(given), "%s%.100s%s", unread[i].before, given->word.text,
				  unread[i].behind);
}

int qemu_reader_read(struct qemu_reader *reader, const struct qemu_words *words, int first)
{
	static int (*const fill[])(struct qemu_reader *) = {
	    qemu_fill_machine, qemu_fill_cpu,	qemu_fill_smp,	   qemu_fill_threads, qemu_fill_cells,
	    qemu_fill_memory,  qemu_fill_disks, qemu_fill_devices, qemu_fill_nics,    qemu_fill_monitors,
	};
	int outcome = take_options(reader, words, first);

	for (size_t i = 0; outcome == 0 && i < ARRAY_SIZE(fill); i++)
		outcome = fill[i](reader);
	if (outcome == 0)
		note_what_is_not_read(reader);
	return outcome < 0 ? outcome : vm_check_name(reader->vm, reader->err);
}

static void note_the_text(struct qemu_reader *reader, const struct finder *finder)
{
	if (finder->others)
		qemu_note(reader, (struct vm_place){0}, "%d more command line%s of QEMU in here %s not read",
			  finder->others, finder->others == 1 ? "" : "s", finder->others == 1 ? "is" : "are");
	if (finder->comment_line)
		qemu_note(reader, (struct vm_place){.line = finder->comment_line},
			  "the command ends before line %u (a comment, or no backslash): options from there on are not "
			  "QEMU's",
			  finder->comment_line);
}

int vm_read_qemu_line(const char *path, const char *text, size_t size, struct vm **ret, struct err *err)
{
	CLEANUP(vm_free_pointer) struct vm *vm = vm_new(VM_QEMU_LINE, path);
	struct finder finder = {.found.arena = vm->arena, .program = -1};
	int outcome = find_command(&finder, path, text, size, err);

	if (outcome < 0)
		return outcome;
	struct qemu_reader reader = {.vm = vm, .arena = vm->arena, .path = vm->path, .err = err};

	if (finder.program >= 0) {
		const char *program = base_name(finder.found.list[finder.program].text);

		vm->arch = text_starts(program, "qemu-system-") ? program + strlen("qemu-system-") : NULL;
		reader.kvm = text_has_word("kvm qemu-kvm qemu-kvm-spice", " ", program);
	}
	outcome = qemu_reader_read(&reader, &finder.found, finder.program + 1);
	if (outcome == 0 && finder.program > 0)
		outcome = qemu_read_front(&reader, &finder.found, finder.program);
	if (outcome < 0)
		return outcome;
	note_the_text(&reader, &finder);
	*ret = vm;
	vm = NULL;
	return 0;
}

bool vm_looks_like_qemu_line(const char *text, size_t size)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct finder finder = {.found.arena = arena, .program = -1};
	struct err err = {0};

	if (find_command(&finder, "", text, size, &err) == 0)
		return true;
	/* Words that cannot be cut, such as a quote that does not end: with its line, the reader says it. */
	return err.line > 0 && memmem(text, size, "qemu-system-", strlen("qemu-system-"));
}

/* ---- what the other files use ---- */

const struct qemu_given *qemu_next(const struct qemu_reader *reader, const char *option, const struct qemu_given *after)
{
	for (int i = after ? (int)(after - reader->given) + 1 : 0; i < reader->count; i++)
		if (text_equal(reader->given[i].option, option))
			return &reader->given[i];
	return NULL;
}

const struct qemu_given *qemu_last(const struct qemu_reader *reader, const char *option)
{
	for (int i = reader->count - 1; i >= 0; i--)
		if (text_equal(reader->given[i].option, option))
			return &reader->given[i];
	return NULL;
}

int qemu_count(const struct qemu_reader *reader, const char *option)
{
	int count = 0;

	for (int i = 0; i < reader->count; i++)
		count += text_equal(reader->given[i].option, option);
	return count;
}

const struct qemu_given *qemu_find(const struct qemu_reader *reader, const char *option, const char *key,
				   const char *value)
{
	if (!value)
		return NULL;
	for (const struct qemu_given *given = qemu_next(reader, option, NULL); given;
	     given = qemu_next(reader, option, given))
		if (text_equal(qemu_option(&given->options, key), value))
			return given;
	return NULL;
}

struct vm_place qemu_place(const struct qemu_given *given)
{
	return (struct vm_place){.line = given->word.line, .column = given->word.column};
}

void qemu_note(struct qemu_reader *reader, struct vm_place place, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vm_add_note(reader->vm, place, arena_vprintf(reader->arena, format, arguments));
	va_end(arguments);
}

/* A value that only the shell knows. */
static bool is_variable(struct qemu_reader *reader, const struct qemu_given *given, const char *text)
{
	if (!strpbrk(text, "$`"))
		return false;
	qemu_note(reader, qemu_place(given), "%s%s: %.100s is known to the shell only", *given->option ? "-" : "",
		  given->option, text);
	return true;
}

static int refuse(struct qemu_reader *reader, const struct qemu_given *given, const char *text, const char *wanted)
{
	return err_set_at(reader->err, EINVAL, reader->path, given->word.line, given->word.column,
			  "-%s: \"%.60s\" is no %s", given->option, text, wanted);
}

int qemu_number(struct qemu_reader *reader, const struct qemu_given *given, const char *text, int64_t most,
		int64_t *ret)
{
	int64_t number;

	if (!text || is_variable(reader, given, text))
		return 0;
	if (text_int(text, 0, &number) < 0 || number < 0)
		return refuse(reader, given, text, "number");
	if (number > most)
		return err_set_at(reader->err, ERANGE, reader->path, given->word.line, given->word.column,
				  "-%s: %lld is more than QEMU takes (%lld)", given->option, (long long)number,
				  (long long)most);
	*ret = number;
	return 1;
}

int qemu_bytes(struct qemu_reader *reader, const struct qemu_given *given, const char *text, int64_t unit, int64_t *ret)
{
	if (!text || is_variable(reader, given, text))
		return 0;
	return qemu_size(text, unit, ret) < 0 ? refuse(reader, given, text, "size") : 1;
}

struct vm_set qemu_list(struct qemu_reader *reader, const struct qemu_given *given, const char *key)
{
	struct vm_set set = {.place = qemu_place(given)};
	size_t length = strlen(key);

	for (int i = 0; i < given->options.count; i++) {
		const struct qemu_property *property = &given->options.list[i];
		struct cpuset part;
		bool element = text_starts(property->key, key) && property->key[length] == '.'; /* JSON array */

		if (!element && !qemu_key_equal(property->key, key))
			continue;
		if (!is_variable(reader, given, property->value) && cpuset_parse(property->value, &part, NULL) == 0 &&
		    !cpuset_empty(&part)) {
			set.set = cpuset_or(&set.set, &part);
			set.given = true;
		} else {
			set.text = property->value;
			if (!is_variable(reader, given, property->value))
				qemu_note(reader, set.place, "%s=%.60s is no list of CPUs or nodes", key, set.text);
		}
	}
	if (set.text)
		set.given = false;
	return set;
}
