/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the kernel log as a file of the lines that hvtune's facts ask for. On the running machine it is read record by
 * record from /dev/kmsg, which never waits here; elsewhere it is the file /dev/kmsg of the tree or capture.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys_internal.h"
#include "text.h"

/*
 * A line is kept when it contains one of these. Nothing else of a kernel log leaves the machine in a capture: device
 * serials, user names and firewall lines are in it too.
 */
static const char *const kept_words[] = {
    "Unknown kernel command line parameters",
    "AMD-Vi",
    "AVIC",
    "CPPC",
    "CSTATE",
    "HugeTLB",
    "Hygon",
    "IOMMU",
    "L1TF",
    "MDS",
    "MMIO Stale Data",
    "Machine check",
    "Mitigation",
    "NX (Execute Disable)",
    "RAPL",
    "RETBleed",
    "RT throttling",
    "SEV",
    "SMT",
    "SRSO",
    "Spectre",
    "Speculative",
    "TSC",
    "_CPC",
    "acpi-cpufreq",
    "amd_energy",
    "amd_hsmp",
    "amd_pstate",
    "amd_uncore",
    "clocksource",
    "cpufreq",
    "cpuidle",
    "hsmp",
    "hugepages",
    "hwp",
    "intel_idle",
    "intel_pstate",
    "intel_rapl",
    "isolcpus",
    "kvm",
    "mce:",
    "microcode",
    "nohz_full",
    "rcu_nocbs",
    "split lock",
    "split_lock",
    "transparent_hugepage",
    "tsc:",
    "x2AVIC",
    "x2apic",
    "zram",
};

/* Lines that a guest's or user's name could be in although a word fits. */
static const char *const never_words[] = {"audit:", "audit(", "apparmor", "SELinux", "systemd["};

struct log {
	char *text;
	size_t size, room;
};

static bool contains_one(const char *line, size_t length, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (memmem(line, length, words[i], strlen(words[i])))
			return true;
	return false;
}

static bool is_kept(const char *line, size_t length)
{
	return contains_one(line, length, kept_words, ARRAY_SIZE(kept_words)) &&
	       !contains_one(line, length, never_words, ARRAY_SIZE(never_words));
}

static void log_add(struct log *log, const char *line, size_t length)
{
	if (!log->text || log->size + length + 2 > log->room) {
		size_t room = MAX_OF(log->room * 2, log->size + length + 4096);
		char *larger = realloc(log->text, room);

		if (!larger)
			err_no_memory();
		log->text = larger;
		log->room = room;
	}
	memcpy(log->text + log->size, line, length);
	log->size += length;
	log->text[log->size++] = '\n';
}

/*
 * The message of a record "6,339,5140900,-;message" (Documentation/ABI/testing/dev-kmsg), or of a line as dmesg prints
 * it, "[    5.140900] message", also with "<6>" before it. `length` is made that of the message.
 */
static const char *message_of(const char *line, size_t *length)
{
	const char *end = line + *length;
	const char *at = line + strspn(line, "0123456789");
	const char *semicolon =
	    at > line && at < end && *at == ',' ? memchr(at, ';', *length - (size_t)(at - line)) : NULL;

	if (semicolon) {
		line = semicolon + 1;
	} else {
		if (line < end && *line == '<' && (at = memchr(line, '>', MIN_OF(*length, (size_t)5))))
			line = at + 1;
		if (line < end && *line == '[' && (at = memchr(line, ']', MIN_OF((size_t)(end - line), (size_t)24))))
			line = at + 1;
		if (line < end && *line == ' ')
			line++;
	}
	*length = (size_t)(end - line);
	return line;
}

/* Take over what is kept of one line; the dictionary lines of a record (" SUBSYSTEM=pci") are none. */
static void take_line(struct log *log, const char *line, size_t length)
{
	if (!length || *line == ' ')
		return;
	line = message_of(line, &length);
	if (is_kept(line, length))
		log_add(log, line, length);
}

static void take_text(struct log *log, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		take_line(log, text, length);
		text += length + 1;
	}
}

/* Each read gives one record. EPIPE: records were overwritten meanwhile, the next read goes on with the oldest. */
static int read_records(struct log *log)
{
	enum { RECORD_LIMIT = 1 << 20 };
	char record[8192 + 1]; /* the kernel's largest: PRINTKRB_RECORD_MAX, before 6.5 CONSOLE_EXT_LOG_MAX */
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	int r = 0;

	if (fd < 0)
		return -errno;
	for (int i = 0; i < RECORD_LIMIT; i++) {
		ssize_t got = read(fd, record, sizeof(record) - 1);

		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got < 0)
			r = errno == EAGAIN ? 0 : -errno;
		if (got <= 0)
			break;
		record[got] = '\0';
		take_line(log, record, strcspn(record, "\n"));
	}
	(void)close(fd);
	return r;
}

const struct sys_look *sys_kernel_log(struct sys *sys)
{
	const struct sys_look *known = sys_recall(sys, SYS_KERNEL_LOG, SYS_FILE);
	struct log log = {0};
	uint64_t start_us = sys_now_us();
	int r = 0;

	if (known)
		return known;
	if (sys_is_live(sys)) {
		r = read_records(&log);
	} else {
		const char *text;
		size_t size;

		r = sys_ask_file(sys, SYS_KERNEL_LOG, &text, &size);
		if (r == 0)
			take_text(&log, text, size);
	}
	const char *kept = r < 0 ? NULL : arena_strndup(sys_arena(sys), log.text ? log.text : "", log.size);

	free(log.text);
	return sys_remember(sys, SYS_KERNEL_LOG, SYS_FILE, r, kept, log.size, (uint32_t)(sys_now_us() - start_us));
}
