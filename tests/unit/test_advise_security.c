/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_security: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "healthy.h"
#include "hosts.h"

#define FILE_OF(name, text)                                                                                            \
	{                                                                                                              \
		"/sys/devices/system/cpu/vulnerabilities/" name, text "\n"                                             \
	}
#define SRSO(text) FILE_OF("spec_rstack_overflow", text)
#define RETBLEED(text) FILE_OF("retbleed", text)
#define MICROCODE(first, second)                                                                                       \
	{                                                                                                              \
		"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmicrocode\t: " first                      \
				 "\nflags\t\t: fpu\n\nprocessor\t: 1\nvendor_id\t: AuthenticAMD\nmicrocode\t: " second \
				 "\nflags\t\t: fpu\n\n"                                                                \
	}

#define INTEL                                                                                                          \
	{                                                                                                              \
		"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu\n\n"                       \
	}
#define NO_MD_CLEAR "Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable"

/* A Genoa host with current microcode. */
static const struct tree_file base[] = {
    CMDLINE("quiet"),
    FILE_OF("meltdown", "Not affected"),
    FILE_OF("itlb_multihit", "Not affected"),
    FILE_OF("old_microcode", "Not affected"),
    RETBLEED("Not affected"),
    SRSO("Mitigation: Safe RET"),
    FILE_OF("spec_store_bypass", "Mitigation: Speculative Store Bypass disabled via prctl"),
    FILE_OF("spectre_v1", "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"),
    FILE_OF("spectre_v2", "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: always-on; RSB filling"),
    FILE_OF("tsa", "Mitigation: Clear CPU buffers"),
    FILE_OF("vmscape", "Not affected"),
    {NULL, NULL},
};

/* clang-format off */
static const struct rule_case cases[] = {
    {"security.mitigations-off", ADVISE_WARN, "mitigations=off", NULL,
     {CMDLINE("mitigations=off"), FILE_OF("spectre_v2", "Vulnerable, IBPB: disabled, STIBP: disabled")}},
    {"security.mitigations-off", ADVISE_WARN, NULL, NULL, {CMDLINE("mitigations=auto mitigations=off")}},
    {"security.mitigations-off", ADVISE_INFO, "guest", NULL, {CMDLINE("mitigations=off"), GUEST}},
    {"security.mitigations-off", SILENT, NULL, NULL, {CMDLINE("mitigations=off mitigations=auto")}},
    {"security.mitigations-off", SILENT, NULL, NULL, {CMDLINE("mitigations=auto,nosmt")}},
    {"security.mitigations-off", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"security.mitigation-switched-off", ADVISE_WARN, "retbleed=off, nospectre_v2", NULL,
     {CMDLINE("nospectre_v2 retbleed=off")}},
    {"security.mitigation-switched-off", SILENT, NULL, NULL, {CMDLINE("retbleed=auto spectre_v2=on")}},
    {"security.mitigation-switched-off", SILENT, NULL, NULL, {CMDLINE("mitigations=off retbleed=off")}}, /* told once */
    {"security.mitigation-switched-off", SILENT, NULL, NULL, {CMDLINE("retbleed=off"), GUEST}},

    {"security.guest-vectors-off", ADVISE_WARN, "the host and other VMs", NULL,
     {CMDLINE("mitigations=auto,no_guest_host,no_guest_guest")}},
    {"security.guest-vectors-off", ADVISE_WARN, "other VMs", NULL, {CMDLINE("mitigations=auto;no_guest_guest")}},
    {"security.guest-vectors-off", SILENT, NULL, NULL, {CMDLINE("mitigations=auto,no_user_user")}},
    {"security.guest-vectors-off", SILENT, NULL, NULL, {CMDLINE("mitigations=auto,no_guest_host"), GUEST}},

    {"security.vulnerable", ADVISE_WARN, "spec_store_bypass", NULL, {FILE_OF("spec_store_bypass", "Vulnerable")}},
    {"security.vulnerable", ADVISE_INFO, NULL, NULL, {FILE_OF("spec_store_bypass", "Vulnerable"), GUEST}},
    {"security.vulnerable", ADVISE_WARN, "mds", NULL, {INTEL, FILE_OF("mds", NO_MD_CLEAR)}},
    {"security.vulnerable", SILENT, NULL, NULL, {SRSO("Vulnerable: No microcode"), GUEST}},
    {"security.vulnerable", SILENT, NULL, NULL, {CMDLINE("quiet")}},
    {"security.vulnerable", SILENT, NULL, NULL, {SRSO("Vulnerable: Safe RET, no microcode")}}, /* has its own rule */
    {"security.vulnerable", SILENT, NULL, NULL, {FILE_OF("itlb_multihit", "Processor vulnerable")}},
    {"security.vulnerable", SILENT, NULL, NULL, {FILE_OF("new_fault", "garbage")}},
    {"security.vulnerable", SILENT, NULL, NULL, {CMDLINE("mitigations=off"), FILE_OF("spectre_v2", "Vulnerable")}},

    {"security.microcode-missing", ADVISE_WARN, "Safe RET, no microcode", NULL,
     {SRSO("Vulnerable: Safe RET, no microcode")}},
    {"security.microcode-missing", ADVISE_WARN, "tsa: No microcode", NULL,
     {FILE_OF("tsa", "Vulnerable: No microcode")}},
    {"security.microcode-missing", ADVISE_INFO, NULL, NULL, {SRSO("Vulnerable: No microcode"), GUEST}},
    {"security.microcode-missing", SILENT, NULL, NULL, {INTEL, FILE_OF("mds", NO_MD_CLEAR)}},
    {"security.microcode-missing", SILENT, NULL, NULL, {SRSO("Vulnerable: Microcode, no safe RET")}},
    {"security.microcode-missing", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"security.old-microcode", ADVISE_WARN, "newer microcode", NULL, {FILE_OF("old_microcode", "Vulnerable")}},
    {"security.old-microcode", SILENT, NULL, NULL, {FILE_OF("old_microcode", "Unknown")}},
    {"security.old-microcode", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"security.microcode-mixed", ADVISE_WARN, NULL, NULL, {MICROCODE("0xa101144", "0xa101148")}},
    {"security.microcode-mixed", SILENT, NULL, NULL, {MICROCODE("0xa101148", "0xa101148")}},
    {"security.microcode-mixed", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"security.retbleed-ibpb", ADVISE_INFO, "large cost", NULL, {RETBLEED("Mitigation: IBPB; SMT vulnerable")}},
    {"security.retbleed-ibpb", SILENT, NULL, NULL, {RETBLEED("Mitigation: untrained return thunk; SMT disabled")}},
    {"security.retbleed-ibpb", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"security.srso-ibpb", ADVISE_ADVICE, NULL, NULL, {SRSO("Mitigation: IBPB")}},
    {"security.srso-ibpb", SILENT, NULL, NULL, {SRSO("Mitigation: IBPB on VMEXIT only")}},
    {"security.srso-ibpb", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"security.vmscape-cost", ADVISE_INFO, NULL, NULL, {FILE_OF("vmscape", "Mitigation: IBPB before exit to userspace")}},
    {"security.vmscape-cost", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"security.smt-vulnerable", ADVISE_INFO, "retbleed", NULL,
     {RETBLEED("Mitigation: untrained return thunk; SMT vulnerable")}},
    {"security.smt-vulnerable", SILENT, NULL, NULL,
     {RETBLEED("Mitigation: untrained return thunk; SMT enabled with STIBP protection")}},

    {"security.retpolines-on-auto-ibrs", ADVISE_INFO, "chosen by spectre_v2=retpoline", NULL,
     {CMDLINE("spectre_v2=retpoline"), FILE_OF("spectre_v2", "Mitigation: Retpolines; IBPB: conditional")}},
    {"security.retpolines-on-auto-ibrs", SILENT, NULL, NULL, {CMDLINE("quiet")}},
    {"security.retpolines-on-auto-ibrs", SILENT, NULL, NULL, /* a guest's CPU model may lack the feature */
     {GUEST, FILE_OF("spectre_v2", "Mitigation: Retpolines; IBPB: conditional")}},

    {"security.mitigation-bill", ADVISE_INFO, "spec_rstack_overflow, spectre_v2, tsa", NULL, {CMDLINE("quiet")}},
    {"security.mitigation-bill", SILENT, NULL, NULL,
     {SRSO("Not affected"), FILE_OF("spectre_v2", "Not affected"), FILE_OF("tsa", "Not affected")}},

    {"security.none-vulnerable", ADVISE_GOOD, "none of the 10", NULL, {CMDLINE("quiet")}},
    {"security.none-vulnerable", ADVISE_INFO, "too old to know of tsa, vmscape; of the 8 faults", NULL,
     {{"/sys/devices/system/cpu/vulnerabilities/tsa", GONE}, {"/sys/devices/system/cpu/vulnerabilities/vmscape", GONE}}},
    {"security.vulnerable", ADVISE_WARN, "spectre_v2: any user may load eBPF", NULL,
     {FILE_OF("spectre_v2", "Vulnerable: eIBRS with unprivileged eBPF")}},
    {"security.none-vulnerable", SILENT, NULL, NULL, {FILE_OF("spec_store_bypass", "Vulnerable")}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		healthy_run_case_over(base, &cases[i]);
	healthy_covers_over(base, advise_security_rules, cases, ARRAY_SIZE(cases));
}

/* The kernel's words are shown as they are. */
static void test_evidence_is_the_file(void **state)
{
	struct tree *tree = healthy_new_over(base);

	(void)state;
	tree_add_amd(tree, 4, 4, 25, 1);
	tree_write(tree, "/sys/devices/system/cpu/vulnerabilities/spec_rstack_overflow",
		   "Vulnerable: Safe RET, no microcode\n");
	struct advise_result *result = tree_advise(tree);
	const struct advise_finding *finding = tree_find(result, "security.microcode-missing");

	assert_non_null(finding);
	assert_true(finding->evidence_count > 0);
	assert_string_equal(finding->evidence[0].source,
			    "/sys/devices/system/cpu/vulnerabilities/spec_rstack_overflow");
	assert_string_equal(finding->evidence[0].shown, "Vulnerable: Safe RET, no microcode");
	advise_result_free(result);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_evidence_is_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
