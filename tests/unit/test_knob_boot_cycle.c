/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of boot knobs on whole machines of files: what a trial and a changed default write, that undo gives back
 * every byte, and that only a trial boot that is well becomes the default.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>

#include "unit.h"

#include "knob_boot_state.h"
#include "knob_confirm.h"
#include "text.h"

static const char *const with_trial[] = {"proxmox-lvm-efi", "arch-grub", "arch-systemd", "debian",     "fedora",
					 "rhel8",	    "rhel9",	 "sles",	 "tumbleweed", "ubuntu"};
static const char *const all[] = {"arch-grub",	  "arch-systemd",    "debian",	    "fedora",		"fedora-uki",
				  "proxmox-grub", "proxmox-lvm-efi", "proxmox-zfs", "proxmox-zfs-grub", "rhel9",
				  "sles",	  "tumbleweed",	     "ubuntu"};

struct copy {
	struct arena *arena;
	char *root;
	struct knob_machine machine;
};

static void boot_as(const struct copy *copy, const char *boot, const char *cmdline)
{
	const char *dir = arena_printf(copy->arena, "%s/proc/sys/kernel/random", copy->root);
	const char *paths[] = {arena_printf(copy->arena, "%s/boot_id", dir),
			       arena_printf(copy->arena, "%s/proc/cmdline", copy->root)};
	const char *texts[] = {boot, cmdline};

	assert_int_equal(system(arena_printf(copy->arena, "mkdir -p '%s'", dir)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CLEANUP(base_fclose) FILE *out = texts[i] ? fopen(paths[i], "we") : NULL;

		assert_true(!texts[i] || (out && fputs(texts[i], out) >= 0));
	}
}

static struct copy open_copy(const char *name)
{
	struct copy copy = {.arena = arena_new()};
	const char *top = getenv("HVTUNE_TOP");

	copy.root = arena_strdup(copy.arena, "/tmp/hvtune-cycle-XXXXXX");
	assert_non_null(mkdtemp(copy.root));
	assert_int_equal(system(arena_printf(copy.arena, "cp -r '%s/tests/knob/boot/%s/root/.' '%s'", top ? top : ".",
					     name, copy.root)),
			 0);
	boot_as(&copy, "11111111-0000-0000-0000-000000000000\n", NULL);
	assert_int_equal(knob_machine_open(copy.root, NULL, &copy.machine, NULL), 0);
	return copy;
}

static void reopen(struct copy *copy)
{
	knob_machine_close(&copy->machine);
	assert_int_equal(knob_machine_open(copy->root, NULL, &copy->machine, NULL), 0);
}

static void close_copy(struct copy *copy)
{
	knob_machine_close(&copy->machine);
	assert_int_equal(system(arena_printf(copy->arena, "rm -r '%s'", copy->root)), 0);
	copy->arena = arena_free(copy->arena);
}

/* Every file but hvtune's own journal and lock, and what was booted, as one checksum. */
static const char *sum_of(const struct copy *copy)
{
	const char *command =
	    arena_printf(copy->arena,
			 "cd '%s' && find . -type f ! -path './var/lib/hvtune/*' ! -path './proc/*' ! "
			 "-path './sys/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum",
			 copy->root);
	char *sum = arena_alloc(copy->arena, 128);
	FILE *pipe = popen(command, "re");

	assert_non_null(pipe);
	assert_non_null(fgets(sum, 128, pipe));
	assert_int_equal(pclose(pipe), 0);
	return sum;
}

static int apply(struct copy *copy, const char *const *words, size_t count, struct err *err)
{
	struct knob_ask *asks = ARENA_ARRAY(copy->arena, count, struct knob_ask);
	const struct knob_apply_options options = {.what = "test"};
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = knob_ask_parse(copy->machine.arena, words[i], &asks[i], err);
	if (r == 0)
		r = knob_plan_make(&copy->machine, asks, count, &plan, err);
	return r < 0 ? r : knob_apply(&copy->machine, &plan, &options, &report, err);
}

static void undo(struct copy *copy)
{
	struct knob_report report = {0};
	struct err err = {0};

	if (knob_undo(&copy->machine, 0, &report, &err) < 0)
		fail_msg("undo: %s: %s", err.where, err.what);
	for (size_t i = 0; i < report.count; i++)
		assert_true(report.events[i].outcome == KNOB_PUT_BACK || report.events[i].outcome == KNOB_WAS_BACK);
}

static const char *const words[] = {"boot.amd_pstate=guided", "boot.iommu=pt", "boot.quiet=absent",
				    "boot.hugepages.1G=4"};

static void test_default_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct copy copy = open_copy(all[i]);
		const char *before = sum_of(&copy);
		struct err err = {0};

		copy.machine.no_trial = true;
		if (apply(&copy, words, ARRAY_SIZE(words), &err) < 0)
			fail_msg("%s: %s: %s", all[i], err.where, err.what);
		assert_string_not_equal(sum_of(&copy), before);
		undo(&copy);
		if (!text_equal(sum_of(&copy), before))
			fail_msg("%s: undo leaves a difference", all[i]);
		close_copy(&copy);
	}
}

/* What someone else has written into such a file since stays, and the words go all the same. */
static void test_edited_since(void **state)
{
	static const char *const edited[][3] = {
	    {"arch-grub", "etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT='loglevel=3 nowatchdog quiet'"},
	    {"proxmox-zfs", "etc/kernel/cmdline", "root=ZFS=rpool/ROOT/pve-1 nowatchdog boot=zfs"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edited); i++) {
		struct copy copy = open_copy(edited[i][0]);
		struct knob_report report = {0};
		struct err err = {0};
		bool left = false;

		copy.machine.no_trial = true;
		assert_int_equal(apply(&copy, words, 2, &err), 0);
		assert_int_equal(
		    system(arena_printf(copy.arena,
					"sed -i 's/quiet/nowatchdog quiet/; s/boot=zfs/nowatchdog boot=zfs/' "
					"%s/%s",
					copy.root, edited[i][1])),
		    0);
		if (knob_undo(&copy.machine, 0, &report, &err) < 0)
			fail_msg("%s: %s", err.where, err.what);
		for (size_t j = 0; j < report.count; j++)
			left = left || report.events[j].outcome == KNOB_LEFT;
		assert_true(left);
		assert_int_equal(
		    system(arena_printf(copy.arena, "grep -qx \"%s\" %s/%s", edited[i][2], copy.root, edited[i][1])),
		    0);
		close_copy(&copy);
	}
}

static void test_trial_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(with_trial); i++) {
		struct copy copy = open_copy(with_trial[i]);
		const char *before = sum_of(&copy);
		struct err err = {0};

		if (apply(&copy, words, ARRAY_SIZE(words), &err) < 0)
			fail_msg("%s: %s: %s", with_trial[i], err.where, err.what);
		assert_string_not_equal(sum_of(&copy), before);
		undo(&copy);
		if (!text_equal(sum_of(&copy), before))
			fail_msg("%s: undo leaves a difference", with_trial[i]);
		close_copy(&copy);
	}
}

/* A trial of another kernel, with a word and without, and every byte back. */
static void test_kernel_and_back(void **state)
{
	static const struct {
		const char *machine, *words[2], *file, *has;
	} cases[] = {
	    {"debian",
	     {"boot.kernel=6.1.0-23-amd64", "boot.iommu=pt"},
	     "/boot/grub/custom.cfg",
	     "/boot/vmlinuz-6.1.0-23-amd64 root="},
	    {"ubuntu",
	     {"boot.iommu=pt", "boot.kernel=6.8.0-47-generic"},
	     "/boot/grub/custom.cfg",
	     "/vmlinuz-6.8.0-47-generic root="},
	    {"fedora",
	     {"boot.kernel=6.13.9-200.fc42.x86_64", "boot.iommu=pt"},
	     "/boot/loader/entries/~hvtune-trial.conf",
	     "initrd /initramfs-6.13.9-200.fc42.x86_64.img"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (size_t count = 1; count <= 2; count++) {
			struct copy copy = open_copy(cases[i].machine);
			const char *before = sum_of(&copy);
			struct boot_trial *trial = NULL;
			struct err err = {0};

			if (apply(&copy, &cases[i].words[2 - count], count, &err) < 0)
				fail_msg("%s: %s: %s", cases[i].machine, err.where, err.what);
			assert_int_equal(boot_trial_read(&copy.machine, &trial, &err), 0);
			assert_int_equal(trial->count, count);
			assert_int_equal(system(arena_printf(copy.arena, "grep -qF -e '%s' '%s%s'", cases[i].has,
							     copy.root, cases[i].file)) == 0,
					 count == 2 || i == 1);
			undo(&copy);
			if (!text_equal(sum_of(&copy), before))
				fail_msg("%s: undo leaves a difference", cases[i].machine);
			close_copy(&copy);
		}
}

/* The same as the default, where a file of hvtune's own makes it that; by a trial that was well, and without one. */
static void test_default_kernel_and_back(void **state)
{
	static const char *const asked[] = {"boot.kernel=6.1.0-23-amd64", "boot.iommu=pt"};
	const struct knob_apply_options options = {.what = "confirm"};
	struct copy copy = open_copy("debian"), other = open_copy("debian");
	const char *before = sum_of(&copy);
	struct boot_trial *trial = NULL;
	struct knob_confirm confirm = {0};
	struct knob_report report = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(apply(&copy, asked, 2, &err), 0);
	assert_int_equal(boot_trial_read(&copy.machine, &trial, &err), 0);
	boot_as(&copy, "22222222-0000-0000-0000-000000000000\n",
		arena_printf(copy.arena, "root=/dev/a iommu=pt hvtune.trial=%s\n", trial->id));
	for (int right = 0; right < 2; right++) {
		assert_int_equal(system(arena_printf(copy.arena, "echo 6.1.0-%d-amd64 >%s/proc/sys/kernel/osrelease",
						     right ? 23 : 25, copy.root)),
				 0);
		reopen(&copy);
		assert_int_equal(knob_confirm_look(&copy.machine, true, &confirm, &err), 0);
		assert_int_equal(confirm.worst, right ? KNOB_CONFIRM_GOOD : KNOB_CONFIRM_BAD);
	}
	if (knob_confirm_accept(&copy.machine, &options, &report, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
	other.machine.no_trial = true;
	assert_int_equal(apply(&other, asked, 2, &err), 0);
	assert_string_equal(sum_of(&copy), sum_of(&other));
	/* As asked for already. */
	assert_int_equal(apply(&other, asked, 2, &err), 0);
	assert_string_equal(sum_of(&copy), sum_of(&other));
	undo(&copy);
	undo(&other);
	assert_string_equal(sum_of(&copy), before);
	assert_string_equal(sum_of(&other), before);
	close_copy(&copy);
	close_copy(&other);
}

/* The trial's line as this host would have booted it. */
static const char *trial_cmdline(struct copy *copy)
{
	struct boot_trial *trial = NULL;

	assert_int_equal(boot_trial_read(&copy->machine, &trial, NULL), 0);
	assert_non_null(trial);
	return arena_printf(copy->arena, "root=/dev/a amd_pstate=guided iommu=pt panic=30 hvtune.trial=%s\n",
			    trial->id);
}

static void test_confirm(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(with_trial); i++) {
		struct copy copy = open_copy(with_trial[i]), other = open_copy(with_trial[i]);
		const struct knob_apply_options options = {.what = "confirm"};
		const char *before = sum_of(&copy), *line;
		struct knob_confirm confirm = {0};
		struct knob_report report = {0};
		struct err err = {0};

		/* RHEL 8 changes GRUB's block by a program, which a machine of files has not. */
		if (text_equal(with_trial[i], "rhel8")) {
			close_copy(&copy);
			close_copy(&other);
			continue;
		}
		assert_int_equal(knob_confirm_look(&copy.machine, true, &confirm, &err), -ENOENT);
		assert_int_equal(apply(&copy, words, 2, &err), 0);
		assert_int_equal(knob_confirm_look(&copy.machine, true, &confirm, &err), 0);
		assert_false(confirm.is_trial_boot);
		assert_true(confirm.asked_now);
		/* It came up with the old line. */
		boot_as(&copy, "22222222-0000-0000-0000-000000000000\n", "root=/dev/a\n");
		reopen(&copy);
		assert_int_equal(knob_confirm_look(&copy.machine, true, &confirm, &err), 0);
		assert_false(confirm.is_trial_boot);
		assert_false(confirm.asked_now);
		/* The trial's line, but the driver did not come. */
		line = trial_cmdline(&copy);
		boot_as(&copy, "33333333-0000-0000-0000-000000000000\n", line);
		reopen(&copy);
		assert_int_equal(knob_confirm_look(&copy.machine, true, &confirm, &err), 0);
		assert_true(confirm.is_trial_boot);
		assert_int_equal(confirm.worst, KNOB_CONFIRM_BAD);
		assert_int_equal(system(arena_printf(copy.arena,
						     "mkdir -p %s/sys/devices/system/cpu/amd_pstate; echo guided > "
						     "%s/sys/devices/system/cpu/amd_pstate/status",
						     copy.root, copy.root)),
				 0);
		reopen(&copy);
		assert_int_equal(knob_confirm_look(&copy.machine, true, &confirm, &err), 0);
		assert_int_equal(confirm.worst, KNOB_CONFIRM_GOOD);
		if (knob_confirm_accept(&copy.machine, &options, &report, &err) < 0)
			fail_msg("%s: %s: %s", with_trial[i], err.where, err.what);
		/* Now it is as if it had been set without a trial. */
		other.machine.no_trial = true;
		assert_int_equal(apply(&other, words, 2, &err), 0);
		if (!text_equal(sum_of(&copy), sum_of(&other)))
			fail_msg("%s: confirming leaves another machine than --no-trial", with_trial[i]);
		assert_int_equal(knob_confirm_look(&copy.machine, true, &confirm, &err), -ENOENT);
		undo(&copy);
		if (!text_equal(sum_of(&copy), before))
			fail_msg("%s: undo of the confirmed change leaves a difference", with_trial[i]);
		close_copy(&copy);
		close_copy(&other);
	}
}

static void expect_refusal(struct copy *copy, const char *word, const char *what)
{
	struct err err = {0};
	int r = apply(copy, &word, 1, &err);

	if (r >= 0 || !strstr(err.what, what))
		fail_msg("%s: %d %s", word, r, err.what);
}

/* Words that are legal, and yet told: the kernel would say nothing of them. */
static void test_notes(void **state)
{
	static const struct {
		const char *word, *value, *note;
	} cases[] = {
	    {"boot.skew_tic", "1", "but skew_tick is"}, {"boot.intel_iommu", "on", "Intel CPUs only"},
	    {"boot.kvm_amd.avic", "1", NULL},		{"boot.skew_tick", "0x1", NULL},
	    {"boot.retbleed", "auto,nosmt", NULL},	{"boot.nohz", "absent", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct copy debian = open_copy("debian");
		const struct knob_ask ask = {.name = cases[i].word, .value = cases[i].value};
		struct knob_plan plan = {0};
		struct err err = {0};
		bool found = false, known = false;

		if (knob_plan_make(&debian.machine, &ask, 1, &plan, &err) < 0)
			fail_msg("%s: %s", cases[i].word, err.what);
		for (size_t j = 0; j < plan.note_count; j++) {
			found = found || (cases[i].note && strstr(plan.notes[j], cases[i].note));
			known = known || strstr(plan.notes[j], "known to hvtune");
		}
		if (cases[i].note ? !found : known)
			fail_msg("%s: %s", cases[i].word, cases[i].note ? "not told" : "told");
		close_copy(&debian);
	}
}

static void test_refusals(void **state)
{
	struct copy debian = open_copy("debian"), lvm = open_copy("proxmox-grub"), none = open_copy("unknown");
	const char *before = sum_of(&debian);

	(void)state;
	assert_int_equal(
	    system(arena_printf(debian.arena, "echo 0-7 > %s/sys/devices/system/cpu/possible", debian.root)), 0);
	expect_refusal(&debian, "boot.amd_pstate=fast", "takes active");
	expect_refusal(&debian, "boot.amd_iommu=on", "takes off");
	expect_refusal(&debian, "boot.amd_iommu=pt", "takes off");
	expect_refusal(&debian, "boot.isolcpus=0-7", "leaves no CPU");
	expect_refusal(&debian, "boot.isolcpus=4-11", "not there");
	expect_refusal(&debian, "boot.isolcpus=nohs,2", "no flag and no CPU");
	expect_refusal(&debian, "boot.tsa=of", "takes on off user vm");
	expect_refusal(&debian, "boot.retbleed=auto,nosmp", "takes off auto");
	expect_refusal(&debian, "boot.skew_tick=yes", "takes a number");
	expect_refusal(&debian, "boot.idle=mwait", "takes poll");
	expect_refusal(&debian, "boot.console=ttyS0", "several times");
	expect_refusal(&debian, "boot.hugepages.4M=1", "no size");
	expect_refusal(&debian, "boot.skew_tick=1 init=/bin/sh\n", "no control characters");
	expect_refusal(&debian, "boot.x=$(reboot)", "no quotes");
	expect_refusal(&debian, "boot.kernel=6.12.9", "kernel 6.12.9 is not installed");
	expect_refusal(&debian, "boot.kernel=absent", "kernel absent is not installed");
	expect_refusal(&debian, "boot.kernel=6.1 init=/bin/sh", "no release of a kernel");
	expect_refusal(&none, "boot.kernel=6.12.9", "no kernel can be chosen here");
	expect_refusal(&lvm, "boot.iommu=pt", "no trial boot is possible");
	expect_refusal(&none, "boot.iommu=pt", "stands in no file");
	assert_string_equal(sum_of(&debian), before);
	close_copy(&debian);
	close_copy(&lvm);
	close_copy(&none);
}

/* What opens a hole is named, so that it has to be agreed to. */
static void test_hole(void **state)
{
	static const struct {
		const char *name, *value;
		bool hole;
	} cases[] = {{"boot.mitigations", "off", true},
		     {"boot.mitigations", "auto", false},
		     {"boot.spectre_v2", "off", true},
		     {"boot.nopti", "present", true},
		     {"boot.spec_rstack_overflow", "safe-ret", false}};
	struct copy copy = open_copy("debian");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct knob_ask ask = {.name = cases[i].name, .value = cases[i].value};
		struct knob_plan plan = {0};

		assert_int_equal(knob_plan_make(&copy.machine, &ask, 1, &plan, NULL), 0);
		if (!plan.hole == cases[i].hole)
			fail_msg("%s=%s", cases[i].name, cases[i].value);
	}
	close_copy(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_edited_since),
	    cmocka_unit_test(test_default_and_back),
	    cmocka_unit_test(test_trial_and_back),
	    cmocka_unit_test(test_confirm),
	    cmocka_unit_test(test_notes),
	    cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_hole),
	    cmocka_unit_test(test_kernel_and_back),
	    cmocka_unit_test(test_default_kernel_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
