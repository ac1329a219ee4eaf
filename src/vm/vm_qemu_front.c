/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the commands in front of QEMU that decide where all its threads run: taskset, numactl, chrt, systemd-run. */
#include <errno.h>

#include "text.h"
#include "vm_qemu_internal.h"

struct front {
	struct qemu_reader *reader;
	const struct qemu_words *words;
	int at, end;
};

/* taskset takes masks of any length without the commas that sysfs writes between words of 32 bits. */
static int parse_mask(struct arena *arena, const char *text, struct cpuset *ret)
{
	const char *digits = text_starts(text, "0x") || text_starts(text, "0X") ? text + 2 : text;
	size_t count = strlen(digits), length = 0;
	char *words = arena_alloc(arena, count + count / 8 + 2);

	if (strchr(digits, ','))
		return cpuset_parse_mask(digits, ret, NULL);
	for (size_t i = 0; i < count; i++) {
		if (i && (count - i) % 8 == 0)
			words[length++] = ',';
		words[length++] = digits[i];
	}
	return cpuset_parse_mask(words, ret, NULL);
}

/* taskset's "0-6:2" (every second one) is the kernel's "0-6:1/2". */
static int parse_list(struct arena *arena, const char *text, struct cpuset *ret)
{
	char *list = arena_alloc(arena, 3 * strlen(text) + 1);
	size_t length = 0;

	for (const char *at = text; *at; at++) {
		list[length++] = *at;
		if (*at != ':' || strchr(text, '/'))
			continue;
		list[length++] = '1';
		list[length++] = '/';
	}
	return cpuset_parse(list, ret, NULL);
}

/* The set in a word; kept as text when it is not understood. */
static struct vm_set set_of(const struct front *front, const struct qemu_word *word, const char *text, bool mask)
{
	struct vm_set set = {.place = {.line = word->line, .column = word->column}};
	int outcome =
	    mask ? parse_mask(front->reader->arena, text, &set.set) : parse_list(front->reader->arena, text, &set.set);

	set.given = outcome == 0 && !cpuset_empty(&set.set);
	if (set.given)
		return set;
	set.text = text;
	qemu_note(front->reader, set.place, "\"%.100s\" is no %s that hvtune can read", text,
		  mask ? "mask of CPUs" : "list of CPUs or nodes");
	return set;
}

/* Threads may run on the CPUs of every command in front. */
static void restrict_cpus(struct front *front, struct vm_set set)
{
	struct vm *vm = front->reader->vm;

	if (set.given && vm->cpuset.given)
		set.set = cpuset_and(&set.set, &vm->cpuset.set);
	vm->cpuset = set;
	vm->cputune_place = set.place;
}

static const char *word_at(const struct front *front, int at)
{
	return at < front->end ? front->words->list[at].text : "";
}

/* "taskset -c 0-3", "taskset -ac 0-3", "taskset 0xf". */
static void read_taskset(struct front *front)
{
	bool list = false;

	for (front->at++; word_at(front, front->at)[0] == '-'; front->at++) {
		const char *option = word_at(front, front->at);

		if (text_starts(option, "--cpu-list="))
			break;
		list |= option[1] == '-' ? text_equal(option, "--cpu-list") : strchr(option, 'c') != NULL;
	}
	const struct qemu_word *word = &front->words->list[MIN_OF(front->at, front->end - 1)];
	const char *text = word_at(front, front->at);

	if (text_starts(text, "--cpu-list=")) {
		text = strchr(text, '=') + 1;
		list = true;
	}
	if (*text)
		restrict_cpus(front, set_of(front, word, text, !list));
}

static void bind_memory(struct front *front, const char *mode, struct vm_set set)
{
	struct vm *vm = front->reader->vm;

	/* What -object says for a piece of memory overrides the policy of the process. */
	if (vm->numa_mode || vm->memnode_count)
		return;
	vm->numa_mode = mode;
	vm->numa_nodes = set;
}

static void apply_numactl(struct front *front, char letter, const struct qemu_word *word, const char *text)
{
	struct vm *vm = front->reader->vm;

	if (text_equal(text, "all"))
		return;
	struct vm_set set = set_of(front, word, text, false);

	switch (letter) {
	case 'C':
		restrict_cpus(front, set);
		break;
	case 'N':
	case 'c':
		vm->cpu_nodes = set;
		break;
	case 'm':
		bind_memory(front, "strict", set);
		break;
	case 'p':
		bind_memory(front, "preferred", set);
		break;
	default:
		bind_memory(front, "interleave", set);
		break;
	}
}

static void read_numactl(struct front *front)
{
	static const struct {
		const char *name;
		char letter;
	} options[] = {
	    {"--physcpubind", 'C'},
	    {"--cpunodebind", 'N'},
	    {"--cpubind", 'N'},
	    {"--membind", 'm'},
	    {"--preferred", 'p'},
	    {"--preferred-many", 'p'},
	    {"--weighted-interleave", 'i'},
	    {"--interleave", 'i'},
	    {"-C", 'C'},
	    {"-N", 'N'},
	    {"-c", 'N'},
	    {"-m", 'm'},
	    {"-p", 'p'},
	    {"-P", 'p'},
	    {"-i", 'i'},
	    {"-w", 'i'},
	};

	for (front->at++; word_at(front, front->at)[0] == '-'; front->at++) {
		const struct qemu_word *word = &front->words->list[front->at];

		for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
			size_t length = strlen(options[i].name);
			const char *behind = word->text + length;

			if (strncmp(word->text, options[i].name, length) != 0)
				continue;
			if (*behind == '=') {
				apply_numactl(front, options[i].letter, word, behind + 1);
			} else if (!*behind) {
				front->at++;
				apply_numactl(front, options[i].letter, word, word_at(front, front->at));
			} else if (length == 2) { /* "-N0" */
				apply_numactl(front, options[i].letter, word, behind);
			} else {
				continue;
			}
			break;
		}
	}
}

static void read_chrt(struct front *front)
{
	struct vm *vm = front->reader->vm;
	const char *policy = "rr"; /* chrt's default */
	int64_t priority = 0;

	for (front->at++; word_at(front, front->at)[0] == '-'; front->at++) {
		const char *option = word_at(front, front->at);

		if (text_has_word("-f --fifo", " ", option))
			policy = "fifo";
		else if (text_has_word("-b --batch", " ", option))
			policy = "batch";
		else if (text_has_word("-i --idle", " ", option))
			policy = "idle";
		else if (text_has_word("-o --other -d --deadline", " ", option))
			policy = NULL;
	}
	if (text_int(word_at(front, front->at), 10, &priority) < 0 || priority < 0 || priority > 99)
		priority = 0;
	const struct vm_scheduler scheduler = {.policy = policy, .priority = policy ? (int)priority : 0};

	vm->emulator_scheduler = scheduler;
	for (int i = 0; i < vm->vcpu_max; i++)
		vm->vcpus[i].scheduler = scheduler;
	for (int i = 0; i < vm->iothread_count; i++)
		vm->iothreads[i].scheduler = scheduler;
}

/* "systemd-run --scope -p AllowedCPUs=0-7": the same as a taskset that cannot be left. */
static void read_systemd_run(struct front *front)
{
	for (front->at++; front->at < front->end; front->at++) {
		const struct qemu_word *word = &front->words->list[front->at];
		const char *text = strstr(word->text, "AllowedCPUs=");

		if (text)
			restrict_cpus(front, set_of(front, word, strchr(text, '=') + 1, false));
		else if (word->text[0] != '-' && !strchr(word->text, '='))
			break;
	}
}

int qemu_read_front(struct qemu_reader *reader, const struct qemu_words *words, int program)
{
	static const struct {
		const char *name;
		void (*read)(struct front *front);
	} commands[] = {
	    {"taskset", read_taskset},
	    {"numactl", read_numactl},
	    {"chrt", read_chrt},
	    {"systemd-run", read_systemd_run},
	};
	struct front front = {.reader = reader, .words = words, .end = program};

	while (front.at < program) {
		const char *word = words->list[front.at].text, *slash = strrchr(word, '/');
		int before = front.at;

		for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
			if (text_equal(slash ? slash + 1 : word, commands[i].name)) {
				commands[i].read(&front);
				break;
			}
		front.at += front.at == before;
	}
	return 0;
}
