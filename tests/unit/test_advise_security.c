/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_security: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "rules.h"
#include "rules_host.h"

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

/* A Genoa host with current microcode. */
static const struct tree_file healthy[] = {
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
    {"security.mitigations-off", true, ADVISE_WARN, "mitigations=off",
     {CMDLINE("mitigations=off"), FILE_OF("spectre_v2", "Vulnerable, IBPB: disabled, STIBP: disabled")}},
    {"security.mitigations-off", true, ADVISE_WARN, NULL, {CMDLINE("mitigations=auto mitigations=off")}},
    {"security.mitigations-off", true, ADVISE_INFO, "guest", {CMDLINE("mitigations=off"), GUEST}},
    {"security.mitigations-off", false, 0, NULL, {CMDLINE("mitigations=off mitigations=auto")}},
    {"security.mitigations-off", false, 0, NULL, {CMDLINE("mitigations=auto,nosmt")}},
    {"security.mitigations-off", false, 0, NULL, {CMDLINE("quiet")}},

    {"security.mitigation-switched-off", true, ADVISE_WARN, "retbleed=off, nospectre_v2",
     {CMDLINE("nospectre_v2 retbleed=off")}},
    {"security.mitigation-switched-off", false, 0, NULL, {CMDLINE("retbleed=auto spectre_v2=on")}},
    {"security.mitigation-switched-off", false, 0, NULL, {CMDLINE("mitigations=off retbleed=off")}}, /* told once */
    {"security.mitigation-switched-off", false, 0, NULL, {CMDLINE("retbleed=off"), GUEST}},

    {"security.guest-vectors-off", true, ADVISE_WARN, "the host and other VMs",
     {CMDLINE("mitigations=auto,no_guest_host,no_guest_guest")}},
    {"security.guest-vectors-off", true, ADVISE_WARN, "other VMs", {CMDLINE("mitigations=auto;no_guest_guest")}},
    {"security.guest-vectors-off", false, 0, NULL, {CMDLINE("mitigations=auto,no_user_user")}},
    {"security.guest-vectors-off", false, 0, NULL, {CMDLINE("mitigations=auto,no_guest_host"), GUEST}},

    {"security.vulnerable", true, ADVISE_WARN, "spec_store_bypass", {FILE_OF("spec_store_bypass", "Vulnerable")}},
    {"security.vulnerable", true, ADVISE_INFO, NULL, {FILE_OF("spec_store_bypass", "Vulnerable"), GUEST}},
    {"security.vulnerable", false, 0, NULL, {CMDLINE("quiet")}},
    {"security.vulnerable", false, 0, NULL, {SRSO("Vulnerable: Safe RET, no microcode")}}, /* has its own rule */
    {"security.vulnerable", false, 0, NULL, {FILE_OF("itlb_multihit", "Processor vulnerable")}},
    {"security.vulnerable", false, 0, NULL, {FILE_OF("new_fault", "garbage")}},
    {"security.vulnerable", false, 0, NULL, {CMDLINE("mitigations=off"), FILE_OF("spectre_v2", "Vulnerable")}},

    {"security.microcode-missing", true, ADVISE_WARN, "Safe RET, no microcode",
     {SRSO("Vulnerable: Safe RET, no microcode")}},
    {"security.microcode-missing", true, ADVISE_WARN, "tsa: No microcode",
     {FILE_OF("tsa", "Vulnerable: No microcode")}},
    {"security.microcode-missing", true, ADVISE_INFO, NULL, {SRSO("Vulnerable: No microcode"), GUEST}},
    {"security.microcode-missing", false, 0, NULL, {SRSO("Vulnerable: Microcode, no safe RET")}},
    {"security.microcode-missing", false, 0, NULL, {CMDLINE("quiet")}},

    {"security.old-microcode", true, ADVISE_WARN, "newer microcode", {FILE_OF("old_microcode", "Vulnerable")}},
    {"security.old-microcode", false, 0, NULL, {FILE_OF("old_microcode", "Unknown")}},
    {"security.old-microcode", false, 0, NULL, {CMDLINE("quiet")}},

    {"security.microcode-mixed", true, ADVISE_WARN, NULL, {MICROCODE("0xa101144", "0xa101148")}},
    {"security.microcode-mixed", false, 0, NULL, {MICROCODE("0xa101148", "0xa101148")}},
    {"security.microcode-mixed", false, 0, NULL, {CMDLINE("quiet")}},

    {"security.retbleed-ibpb", true, ADVISE_INFO, "large cost", {RETBLEED("Mitigation: IBPB; SMT vulnerable")}},
    {"security.retbleed-ibpb", false, 0, NULL, {RETBLEED("Mitigation: untrained return thunk; SMT disabled")}},
    {"security.retbleed-ibpb", false, 0, NULL, {CMDLINE("quiet")}},

    {"security.srso-ibpb", true, ADVISE_ADVICE, NULL, {SRSO("Mitigation: IBPB")}},
    {"security.srso-ibpb", false, 0, NULL, {SRSO("Mitigation: IBPB on VMEXIT only")}},
    {"security.srso-ibpb", false, 0, NULL, {CMDLINE("quiet")}},

    {"security.vmscape-cost", true, ADVISE_INFO, NULL, {FILE_OF("vmscape", "Mitigation: IBPB before exit to userspace")}},
    {"security.vmscape-cost", false, 0, NULL, {CMDLINE("quiet")}},

    {"security.smt-vulnerable", true, ADVISE_INFO, "retbleed",
     {RETBLEED("Mitigation: untrained return thunk; SMT vulnerable")}},
    {"security.smt-vulnerable", false, 0, NULL,
     {RETBLEED("Mitigation: untrained return thunk; SMT enabled with STIBP protection")}},

    {"security.retpolines-on-auto-ibrs", true, ADVISE_INFO, "chosen by spectre_v2=retpoline",
     {CMDLINE("spectre_v2=retpoline"), FILE_OF("spectre_v2", "Mitigation: Retpolines; IBPB: conditional")}},
    {"security.retpolines-on-auto-ibrs", false, 0, NULL, {CMDLINE("quiet")}},
    {"security.retpolines-on-auto-ibrs", false, 0, NULL, /* a guest's CPU model may lack the feature */
     {GUEST, FILE_OF("spectre_v2", "Mitigation: Retpolines; IBPB: conditional")}},

    {"security.mitigation-bill", true, ADVISE_INFO, "spec_rstack_overflow, spectre_v2, tsa", {CMDLINE("quiet")}},
    {"security.mitigation-bill", false, 0, NULL,
     {SRSO("Not affected"), FILE_OF("spectre_v2", "Not affected"), FILE_OF("tsa", "Not affected")}},

    {"security.none-vulnerable", true, ADVISE_GOOD, "none of the 10", {CMDLINE("quiet")}},
    {"security.none-vulnerable", false, 0, NULL, {FILE_OF("spec_store_bypass", "Vulnerable")}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	rules_check(healthy, cases, ARRAY_SIZE(cases));
	rules_covered(advise_security_rules, cases, ARRAY_SIZE(cases));
}

/* The kernel's words are shown as they are. */
static void test_evidence_is_the_file(void **state)
{
	struct tree *tree = tree_new(healthy);

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
