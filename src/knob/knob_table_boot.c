/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of the kernel's command line, each one word of the next boots (knob_boot_knob.h), and of the kernel
 * itself. Legal values:
 * Documentation/admin-guide/kernel-parameters.txt of Linux and drivers/iommu/amd/init.c.
 */
#include <ctype.h>
#include <errno.h>

#include "advise_words.h"
#include "cpuset.h"
#include "knob_boot_knob.h"
#include "knob_boot_state.h"
#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define FAMILY KNOB_BOOT_FAMILY

/* ---- lists of CPUs ---- */

static int check_cpus(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const char *value = point->new, *possible_text = NULL;
	struct cpuset cpus = {{0}}, possible = {{0}};
	struct err ignored = {0};

	if (!value || text_equal(value, "absent"))
		return 0;
	/* isolcpus=[flags,]list; also "all" and "N" for the last CPU, which only the kernel knows. */
	while (*value && !isdigit((unsigned char)*value)) {
		size_t length = strcspn(value, ",");
		const char *flag = arena_strndup(machine->arena, value, length);

		if (!text_has_word("domain managed_irq nohz all", " ", flag))
			return err_set(err, EINVAL, point->name, "%s: \"%s\" is no flag and no CPU", point->new, flag);
		value += length + (value[length] == ',');
	}
	if (!*value)
		return 0;
	if (cpuset_parse(value, &cpus, &ignored) < 0)
		return err_set(err, EINVAL, point->name, "%s is no list of CPUs such as 2-7,10", point->new);
	if (knob_get_value(machine, "/sys/devices/system/cpu/possible", &possible_text, &ignored) < 0 ||
	    cpuset_parse(possible_text, &possible, &ignored) < 0)
		return 0;
	if (!cpuset_subset(&cpus, &possible))
		return err_set(err, ERANGE, point->name, "%s has CPUs that are not there (here: %s)", point->new,
			       possible_text);
	if (cpuset_equal(&cpus, &possible))
		return err_set(err, EINVAL, point->name, "%s leaves no CPU to the host itself", point->new);
	return 0;
}

/* ---- all other words ---- */

static bool takes(struct arena *arena, const struct kernel_word *word, const char *value)
{
	int64_t number;

	if (!word->values || text_has_word(word->values, " ", value) ||
	    ((word->flags & WORD_NUMBER) && text_int(value, 0, &number) == 0))
		return true;
	if (!(word->flags & WORD_LIST))
		return false;
	while (*value) {
		size_t length = strcspn(value, ",");

		if (!text_has_word(word->values, " ", arena_strndup(arena, value, length)))
			return false;
		value += length + (value[length] == ',');
	}
	return true;
}

/* The kernel passes over a value that it does not know without a word. */
int knob_boot_check_value(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const struct kernel_word *word = advise_kernel_word(knob_boot_name(point->where));

	if (!word || !point->new || text_has_word("absent present", " ", point->new) || (word->flags & WORD_CPUS))
		return 0;
	if (takes(machine->arena, word, point->new))
		return 0;
	return err_set(err, EINVAL, point->new, "%s takes %s%s", point->name, word->values,
		       word->flags & WORD_NUMBER ? *word->values ? " or a number" : "a number" : "");
}

static int check_any(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const struct kernel_word *word = advise_kernel_word(knob_boot_name(point->where));
	bool listed = word && (word->flags & WORD_CPUS) && !text_equal(point->new, "present");

	return listed ? check_cpus(machine, point, err) : knob_boot_check_value(machine, point, err);
}

void knob_boot_note_word(struct knob_machine *machine, struct knob_plan *plan, const struct knob_point *point)
{
	const char *name = knob_boot_name(point->where);
	const struct kernel_word *word = advise_kernel_word(name), *near = advise_kernel_word_near(name, 1);

	if (!word && near && !text_equal(point->new, "absent"))
		knob_plan_note(
		    machine, plan,
		    arena_printf(machine->arena, "no parameter %s is known to hvtune, but %s is", name, near->name));
	if (word && word->flags & WORD_INTEL)
		knob_plan_note(machine, plan, arena_printf(machine->arena, "%s acts on Intel CPUs only", name));
}

static int judge_any(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err)
{
	knob_boot_note_word(machine, plan, &plan->points.items[step->first]);
	return knob_boot_judge(machine, plan, step, err);
}

/* ---- the kernel ---- */

static int check_kernel(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	int r = boot_view_open(machine, &view, err);

	return r < 0 ? r : knob_boot_check_kernel(view.host, &view.loader, point->new, err);
}

static const char *list_kernels(struct knob_machine *machine, const struct knob_point *point)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	const char *text = "";

	(void)point;
	return boot_view_open(machine, &view, NULL) == 0 &&
		       knob_boot_kernels(view.host, &view.loader, machine->arena, &text, NULL) == 0 && *text
		   ? text
		   : NULL;
}

/* ---- the table ---- */

/* What any of the actuators may write; the loader decides which of them there are. */
static const char trial_state[] = BOOT_TRIAL_STATE;
static const char *const files[] = {
    "/etc/default/grub.d/zz-hvtune.cfg",
    "/etc/default/grub.d/*.cfg",
    "/etc/kernel/cmdline",
    "/boot/grub/custom.cfg",
    "/boot/grub2/custom.cfg",
    "/boot/loader/entries/*.conf",
    "/efi/loader/entries/*.conf",
    "/boot/efi/loader/entries/*.conf",
    "/boot/efi/EFI/hvtune/grubenv",
    "/efi/EFI/hvtune/grubenv",
    trial_state,
    NULL,
};

#define BOOT_KNOB_AT(file, place)                                                                                      \
	.scope = KNOB_BOOT, .unit = KNOB_OF_HOST, .actuator = &knob_boot_word, .path = (file),                         \
	.written = "the entry of the trial boot, and once confirmed " place, .paths = files,                           \
	.expand = knob_boot_expand, .rank = KNOB_RANK_BOOT, .after = "a reboot", .moves = FAMILY "files"
#define BOOT_KNOB BOOT_KNOB_AT("/etc/default/grub", "the files that the boot loader has its line from")

static const struct knob amd_pstate = {
    .name = FAMILY "amd_pstate",
    .summary = "mode of the frequency driver from boot on",
    .value = "active|passive|guided|disable|absent",
    .words = "active passive guided disable absent",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob mitigations = {
    .name = FAMILY "mitigations",
    .summary = "mitigations of the CPU's vulnerabilities",
    .value = "auto|auto,nosmt|off|absent",
    .words = "auto auto,nosmt off absent",
    .hole = "off",
    .hurts = "off leaves guests and processes able to read each other's memory; auto,nosmt halves the threads",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob iommu = {
    .name = FAMILY "iommu",
    .summary = "how devices of the host reach memory: pt is without translation",
    .value = "pt|nopt|off|...|absent",
    .words = "pt nopt off force noforce merge nomerge biomerge panic nopanic soft usedac absent",
    .hurts = "pt lets devices of the host reach all memory; off takes device passthrough away",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob amd_iommu = {
    .name = FAMILY "amd_iommu",
    .summary = "options of AMD's IOMMU; it is on without them",
    .value = "WORD|absent",
    .words = "off force_isolation force_enable pgtbl_v1 pgtbl_v2 irtcachedis nohugepages v2_pgsizes_only fullflush "
	     "absent",
    .hurts = "off takes device passthrough away",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob isolcpus = {
    .name = FAMILY "isolcpus",
    .summary = "CPUs without scheduling between them, until the next reboot",
    .value = "[FLAGS,]CPUS|absent",
    .hurts = "nothing is balanced onto isolated CPUs: each vCPU has to be pinned by hand",
    .check = check_cpus,
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob nohz_full = {
    .name = FAMILY "nohz_full",
    .summary = "CPUs without a periodic tick while one task runs",
    .value = "CPUS|absent",
    .hurts = "every entry into the kernel takes longer on these CPUs, which costs guests with many exits",
    .check = check_cpus,
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob rcu_nocbs = {
    .name = FAMILY "rcu_nocbs",
    .summary = "CPUs whose RCU callbacks run in threads elsewhere",
    .value = "CPUS|absent",
    .check = check_cpus,
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob irqaffinity = {
    .name = FAMILY "irqaffinity",
    .summary = "CPUs that interrupts go to from boot on",
    .value = "CPUS|absent",
    .check = check_cpus,
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob nosmt = {
    .name = FAMILY "nosmt",
    .summary = "only one thread of each core",
    .value = "present|force|absent",
    .words = "present force absent",
    .hurts = "half of the threads are gone; VMs that are pinned to them do not start",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob thp = {
    .name = FAMILY "transparent_hugepage",
    .summary = "transparent huge pages from boot on",
    .value = "always|madvise|never|absent",
    .words = "always madvise never absent",
    .hurts = "tuned leaves its own setting out while this word is on the line",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob default_size = {
    .name = FAMILY "default_hugepagesz",
    .summary = "the size of huge pages where none is named, and of /dev/hugepages",
    .value = "2M|1G|absent",
    .words = "2M 1G absent",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob pages = {
    .name = FAMILY "hugepages.*",
    .summary = "huge pages of one size, reserved at boot, in all or by node",
    .value = "PAGES|NODE:PAGES,...|absent",
    .members = "boot.hugepages.1G, boot.hugepages.2M",
    .hurts = "this memory is for huge pages only, also while no VM runs",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob max_cstate = {
    .name = FAMILY "processor.max_cstate",
    .summary = "the deepest idle state of ACPI; 1 is C1 only on EPYC",
    .value = "0-9|absent",
    .words = "absent",
    .least = 0,
    .most = 9,
    .hurts = "cores that may not sleep deeply cost idle watts and boost",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob prefcore = {
    .name = FAMILY "amd_prefcore",
    .summary = "whether amd_pstate tells the scheduler which cores boost highest",
    .value = "disable|absent",
    .words = "disable absent",
    .hurts = "without it light work does not find the best cores; EPYC mostly has no such ranks",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob idle = {
    .name = FAMILY "idle",
    .summary = "how idle CPUs wait: poll never sleeps, halt is C1 only, nomwait leaves MWAIT out",
    .value = "poll|halt|nomwait|absent",
    .words = "poll halt nomwait absent",
    .hurts = "poll draws full power in every idle thread and takes boost from the others; halt takes C2 away",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob nohz = {
    .name = FAMILY "nohz",
    .summary = "whether idle CPUs go without a periodic tick",
    .value = "on|off|absent",
    .words = "on off absent",
    .hurts = "off wakes every idle CPU at each tick: idle watts rise, and in a guest each tick is an exit",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

static const struct knob highres = {
    .name = FAMILY "highres",
    .summary = "whether timers are finer than the tick",
    .value = "on|off|absent",
    .words = "on off absent",
    .hurts = "off rounds all timers to the tick: sleeps and network timers take milliseconds longer",
    .judge = knob_boot_judge,
    BOOT_KNOB,
};

#define KERNEL_FILE "/etc/default/grub.d/zz-hvtune-kernel.cfg"
static const struct knob kernel = {
    .name = FAMILY KNOB_BOOT_KERNEL_NAME,
    .summary = "which of the installed kernels is booted, by its release as uname -r prints it",
    .value = "RELEASE",
    .hurts = "modules built for one kernel only (ZFS, DKMS) may be missing in another",
    .list = list_kernels,
    .check = check_kernel,
    .judge = knob_boot_judge,
    BOOT_KNOB_AT(KERNEL_FILE, KERNEL_FILE " (only where update-grub makes GRUB's menu)"),
};

static const struct knob any = {
    .name = FAMILY "*",
    .summary = "any other parameter of the kernel: a value, present for a bare word, or absent",
    .value = "VALUE|present|absent",
    .members = "boot.skew_tick, boot.kvm_amd.avic",
    .check = check_any,
    .judge = judge_any,
    BOOT_KNOB,
};

const struct knob *const knob_table_boot[] = {
    &knob_boot_files, &kernel,	   &amd_pstate, &prefcore,    &mitigations, &iommu, &amd_iommu,
    &isolcpus,	      &nohz_full,  &rcu_nocbs,	&irqaffinity, &nosmt,	    &thp,   &default_size,
    &pages,	      &max_cstate, &idle,	&nohz,	      &highres,	    &any,   NULL,
};
