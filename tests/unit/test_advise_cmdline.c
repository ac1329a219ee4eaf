/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the rules on kernel command lines: each rule fires where it must and is silent where it must be. */
#include "unit.h"

#include "advise_check.h"
#include "host_cmdline_file.h"
#include "lines.h"

/* Kernels as numbers: 601 is 6.1. 0: what the host has, 6.12. */
struct line_case {
	const char *id;
	int severity;
	const char *says;
	const char *line;
	int kernel;
};

#define ISOLATED "isolcpus=2-3,6-7 nohz_full=2-3,6-7 "

static const struct line_case cases[] = {
    {"cmdline.amd-iommu-value", ADVISE_ADVICE, "amd_iommu=on", "ro amd_iommu=on iommu=pt", 0},
    {"cmdline.amd-iommu-value", ADVISE_WARN, "iommu=pt is meant", "ro amd_iommu=pt", 0},
    {"cmdline.amd-iommu-value", ADVISE_WARN, "pgtbl_v3", "amd_iommu=force_enable,pgtbl_v3", 0},
    {"cmdline.amd-iommu-value", SILENT, NULL, "amd_iommu=force_enable,pgtbl_v2 iommu=pt", 0},
    {"cmdline.iommu-value", ADVISE_ADVICE, NULL, "iommu=on", 0},
    {"cmdline.iommu-value", ADVISE_WARN, "passthrough", "iommu=passthrough", 0},
    {"cmdline.iommu-value", SILENT, NULL, "iommu=pt,soft", 0},
    {"cmdline.iommu-value", SILENT, NULL, "ro -- iommu=on", 0},
    {"cmdline.iommu-off", ADVISE_ADVICE, NULL, "amd_iommu=off", 0},
    {"cmdline.iommu-off", SILENT, NULL, "iommu=pt", 0},
    {"cmdline.snp-needs-translation", SILENT, NULL, "kvm_amd.sev_snp=1 iommu=pt", 0}, /* the CPU has none */
    {"cmdline.intel-word-on-amd", ADVISE_ADVICE, "intel_iommu=on", "intel_iommu=on", 0},
    {"cmdline.intel-word-on-amd", ADVISE_INFO, NULL, "intel_idle.max_cstate=1", 0},
    {"cmdline.intel-word-on-amd", SILENT, NULL, "amd_pstate=active", 0},
    {"cmdline.amd-word-on-intel", SILENT, NULL, "amd_pstate=active", 0},
    {"cmdline.amd-pstate-value", ADVISE_WARN, "amd_pstate=on", "amd_pstate=on", 0},
    {"cmdline.amd-pstate-value", ADVISE_WARN, "passive only", "amd_pstate=active", 601},
    {"cmdline.amd-pstate-value", SILENT, NULL, "amd_pstate=active", 0},
    {"cmdline.amd-pstate-value", SILENT, NULL, "amd_pstate=passive", 601},
    {"cmdline.amd-pstate-removed-parameter", ADVISE_WARN, "shared_mem", "amd_pstate.shared_mem=1", 601},
    {"cmdline.amd-pstate-removed-parameter", ADVISE_WARN, "replace", "amd-pstate.replace=1", 0},
    {"cmdline.amd-pstate-removed-parameter", SILENT, NULL, "amd_pstate.shared_mem=1", 517},
    {"cmdline.no-frequency-driver", ADVISE_FAIL, "kept out", "initcall_blacklist=acpi_cpufreq_init", 601},
    {"cmdline.no-frequency-driver", ADVISE_FAIL, NULL, "cpufreq.off=1", 0},
    {"cmdline.no-frequency-driver", SILENT, NULL, "initcall_blacklist=acpi_cpufreq_init amd_pstate=passive", 601},
    {"cmdline.bad-value", ADVISE_WARN, "idle=sleep", "idle=sleep", 0},
    {"cmdline.bad-value", ADVISE_WARN, NULL, "transparent_hugepage=on", 0},
    {"cmdline.bad-value", ADVISE_WARN, NULL, "processor.max_cstate=C1", 0},
    {"cmdline.bad-value", SILENT, NULL,
     "transparent_hugepage=madvise processor.max_cstate=9 retbleed=auto,nosmt spec_rstack_overflow=safe-ret nohz=on "
     "numa_balancing=disable idle=nomwait amd_prefcore=disable spectre_v2=retpoline,lfence skew_tick=1 pcie_aspm=off",
     0},
    {"cmdline.bad-value", SILENT, NULL, "transparent_hugepage=${thp}", 0},
    {"cmdline.mitigations-value", ADVISE_WARN, NULL, "mitigations=none", 0},
    {"cmdline.mitigations-value", SILENT, NULL, "mitigations=auto,nosmt", 0},
    {"security.mitigations-off", ADVISE_WARN, "mitigations=off", "mitigations=off", 0},
    {"security.mitigations-off", SILENT, NULL, "mitigations=off mitigations=auto", 0},
    {"security.guest-vectors-off", ADVISE_WARN, "leaves the host open", "mitigations=auto,no_guest_host", 0},
    {"security.guest-vectors-off", SILENT, NULL, "mitigations=auto,no_user_kernel", 0},
    {"security.mitigation-switched-off", ADVISE_WARN, "spectre_v2=off, retbleed=off", "spectre_v2=off retbleed=off", 0},
    {"security.mitigation-switched-off", SILENT, NULL, "spectre_v2=auto", 0},
    {"memory.thp-set-at-boot", ADVISE_INFO, "never", "transparent_hugepage=never", 0},
    {"cpufreq.acpi-on-cppc-host", SILENT, NULL, "amd_pstate=disable", 0}, /* this host has no CPPC */
    {"cmdline.mitigations-contradict", ADVISE_ADVICE, "retbleed=ibpb", "mitigations=off retbleed=ibpb", 0},
    {"cmdline.mitigations-contradict", SILENT, NULL, "mitigations=off retbleed=off", 0},
    {"cmdline.smt-off", ADVISE_INFO, NULL, "nosmt", 0},
    {"cmdline.smt-off", ADVISE_INFO, "where a CPU needs it", "retbleed=auto,nosmt", 0},
    {"cmdline.smt-off", SILENT, NULL, "mitigations=auto", 0},
    {"idle.max-cstate-cmdline", ADVISE_WARN, "max_cstate=1", "processor.max_cstate=1", 0},
    {"idle.max-cstate-cmdline", SILENT, NULL, "processor.max_cstate=9", 0},
    {"idle.idle-poll", ADVISE_WARN, "poll", "idle=poll", 0},
    {"idle.nomwait-cmdline", ADVISE_ADVICE, "nomwait", "idle=nomwait", 0},
    {"idle.no-cpuidle-driver", ADVISE_WARN, "cpuidle.off=1", "cpuidle.off=1", 0},
    {"idle.no-cpuidle-driver", SILENT, NULL, "cpuidle.off=0", 0},
    {"cmdline.periodic-tick", ADVISE_ADVICE, "highres=off", "highres=off", 0},
    {"cmdline.periodic-tick", SILENT, NULL, "nohz=on", 0},
    {"cmdline.slow-clocksource", ADVISE_WARN, NULL, "clocksource=hpet", 0},
    {"cmdline.slow-clocksource", SILENT, NULL, "clocksource=tsc", 0},
    {"cmdline.aspm", ADVISE_INFO, NULL, "pcie_aspm=force", 0},
    {"cmdline.aspm", SILENT, NULL, "pcie_aspm.policy=default", 0},
    {"cmdline.governor-in-active-mode", ADVISE_ADVICE, NULL, "amd_pstate=active cpufreq.default_governor=schedutil", 0},
    {"cmdline.governor-in-active-mode", SILENT, NULL, "amd_pstate=passive cpufreq.default_governor=schedutil", 0},
    {"cmdline.npt-off", ADVISE_WARN, NULL, "kvm-amd.npt=0", 0},
    {"cmdline.npt-off", SILENT, NULL, "kvm_amd.npt=1", 0},
    {"cmdline.kvm-amd-parameter", ADVISE_WARN, "avik", "kvm_amd.avik=1", 0},
    {"cmdline.kvm-amd-parameter", SILENT, NULL, "kvm_amd.avic=1 kvm-amd.nested=0 kvm.ignore_msrs=1", 0},
    {"cmdline.vhost-zerocopy", ADVISE_INFO, NULL, "vhost_net.experimental_zcopytx=1", 0},
    {"cmdline.vhost-zerocopy", SILENT, NULL, "vhost_net.experimental_zcopytx=0", 0},
    {"cmdline.removed-word", ADVISE_INFO, "elevator=noop", "elevator=noop", 0},
    {"cmdline.removed-word", SILENT, NULL, "ro quiet", 0},
    {"cmdline.cpus-cut", ADVISE_WARN, "4 of 8", "maxcpus=4", 0},
    {"cmdline.cpus-cut", SILENT, NULL, "nr_cpus=8 maxcpus=16", 0},

    {"cmdline.typing-error", ADVISE_WARN, "mitigations", "mitigation=off", 0},
    {"cmdline.typing-error", ADVISE_WARN, "transparent_hugepage", "transparent_hugpages=never", 0},
    {"cmdline.typing-error", SILENT, NULL,
     "ro quiet rootflags=subvol=root rd.luks.uuid=x systemd.unit=rescue.target splash "
     "vfio-pci.ids=10de:1b80 net.ifnames=0 rqshare=llc iommu.strict=1 nosmp noht",
     0},
    {"cmdline.unknown-to-kernel", SILENT, NULL, "rqshare=llc", 0},
    {"cmdline.missing-blank", ADVISE_FAIL, "spectre_v2=off", "console=ttyS0,115200n8spectre_v2=off", 0},
    {"cmdline.missing-blank", ADVISE_FAIL, "iommu=pt", "amd_iommu=oniommu=pt", 0},
    {"cmdline.missing-blank", SILENT, NULL, "console=ttyS0,115200n8 spectre_v2=off rootflags=subvol=x,iommu=y", 0},
    {"cmdline.mangled-quotes", ADVISE_FAIL, NULL, "skew_tick=1\"=1\"=1", 0},
    {"cmdline.mangled-quotes", ADVISE_FAIL, "not closed", "ro dyndbg=\"file x +p", 0},
    {"cmdline.typographic-quotes", ADVISE_FAIL, NULL, "\xe2\x80\x9cquiet iommu=pt", 0},
    {"cmdline.typographic-quotes", SILENT, NULL, "dyndbg=\"file x +p\" ro", 0},
    {"cmdline.mangled-quotes", SILENT, NULL, "dyndbg=\"file x +p\" ro", 0},
    {"cmdline.behind-dashes", ADVISE_WARN, "mitigations=off", "ro -- single mitigations=off", 0},
    {"cmdline.behind-dashes", SILENT, NULL, "mitigations=off -- single", 0},
    {"cmdline.given-twice", ADVISE_WARN, "last one counts, mitigations=off", "mitigations=auto mitigations=off", 0},
    {"cmdline.given-twice", ADVISE_INFO, NULL, "amd_pstate=active amd_pstate=active", 0},
    {"cmdline.given-twice", SILENT, NULL,
     "console=tty0 console=ttyS0 hugepagesz=2M hugepages=1 hugepagesz=1G hugepages=1", 0},
    {"cmdline.empty-list", ADVISE_WARN, "nohz_full", "nohz_full= rcu_nocbs=", 0},
    {"cmdline.empty-list", SILENT, NULL, ISOLATED, 0},
    {"cmdline.too-long", SILENT, NULL, "ro", 0},

    {"cmdline.cpu-list-syntax", ADVISE_FAIL, "isolcpus", "isolcpus=2-", 0},
    {"cmdline.cpu-list-syntax", ADVISE_FAIL, "no flag", "isolcpus=managed,2-3", 0},
    {"cmdline.cpu-list-syntax", ADVISE_FAIL, "irqaffinity", "irqaffinity=0;1", 0},
    {"cmdline.cpu-list-syntax", SILENT, NULL, "isolcpus=nohz,domain,managed_irq,2-N irqaffinity=0,1:1/2 nohz_full=all",
     0},
    {"cmdline.cpu-list-absent", ADVISE_FAIL, "8-11", "nohz_full=2-11", 0},
    {"cmdline.cpu-list-absent", ADVISE_FAIL, "drops the whole list", "isolcpus=1-127", 0},
    {"cmdline.cpu-list-absent", ADVISE_WARN, "8-9", "irqaffinity=0,8-9", 0},
    {"cmdline.isolation-splits-cores", SILENT, NULL, "isolcpus=1-127", 0}, /* nothing is isolated */
    {"cmdline.isolated-not-balanced", SILENT, NULL, "isolcpus=1-127", 0},
    {"cmdline.no-core-for-host", SILENT, NULL, "isolcpus=0-127", 0},
    {"cmdline.cpu-list-absent", SILENT, NULL, ISOLATED "rcu_nocbs=0-127", 0},
    {"cmdline.isolation-splits-cores", ADVISE_WARN, "sibling threads 6-7", "isolcpus=2-3", 0},
    {"cmdline.isolation-splits-cores", SILENT, NULL, "isolcpus=2,6", 0},
    {"cmdline.isolation-splits-cores", SILENT, NULL, "isolcpus=managed_irq,2-3", 0},
    {"cmdline.isolation-splits-l3", ADVISE_ADVICE, "1 (2-3,6-7)", "isolcpus=2,6", 0},
    {"cmdline.isolation-splits-l3", SILENT, NULL, "isolcpus=2-3", 0}, /* the siblings are another finding */
    {"cmdline.no-core-for-host", ADVISE_FAIL, NULL, "isolcpus=0-7", 0},
    {"cmdline.no-core-for-host", ADVISE_WARN, "only 0", "isolcpus=1-7", 0},
    {"cmdline.no-core-for-host", SILENT, NULL, "isolcpus=1-3,5-7", 0},
    {"cmdline.cpu0-isolated", ADVISE_ADVICE, NULL, "nohz_full=0-1,4-5", 0},
    {"cmdline.cpu0-isolated", SILENT, NULL, ISOLATED, 0},
    {"cmdline.isolation-lists-differ", ADVISE_ADVICE, "6 keep the tick", "isolcpus=2,6 nohz_full=2", 0},
    {"cmdline.isolation-lists-differ", SILENT, NULL, ISOLATED, 0},
    {"cmdline.isolation-half", ADVISE_INFO, "without isolcpus", "nohz_full=2-3,6-7", 0},
    {"cmdline.isolation-half", ADVISE_INFO, "without nohz_full", "isolcpus=2-3,6-7", 0},
    {"cmdline.isolation-half", SILENT, NULL, "nohz_full=2-3,6-7 tuned.non_isolcpus=33", 0},
    {"cmdline.irqaffinity-on-isolated", ADVISE_WARN, "2", ISOLATED "irqaffinity=0-2", 0},
    {"cmdline.irqaffinity-on-isolated", SILENT, NULL, ISOLATED "irqaffinity=0-1,4-5", 0},
    {"cmdline.isolation-whole", ADVISE_GOOD, "complement", ISOLATED "irqaffinity=0-1,4-5", 0},
    {"cmdline.isolation-whole", ADVISE_GOOD, "2-3,6-7", ISOLATED, 0},
    {"cmdline.isolation-whole", SILENT, NULL, ISOLATED "irqaffinity=0-1", 0},
    {"cmdline.isolated-not-balanced", ADVISE_INFO, "2-3,6-7", ISOLATED, 0},
    {"cmdline.isolated-not-balanced", SILENT, NULL, "isolcpus=nohz,2-3", 0},

    {"cmdline.hugepage-word-ignored", ADVISE_WARN, "first one stands",
     "default_hugepagesz=2M hugepages=100 default_hugepagesz=1G hugepages=8", 0},
    {"cmdline.hugepage-word-ignored", SILENT, NULL, "hugepagesz=2M hugepages=100", 0},
    {"cmdline.hugepage-word-ignored", ADVISE_FAIL, "drops the letter", "hugepages=1G", 0},
    {"cmdline.hugepage-word-ignored", SILENT, NULL, "hugepages=64 default_hugepagesz=2M hugepagesz=2M", 0},
    {"cmdline.hugepage-word-ignored", ADVISE_WARN, "first one stands",
     "hugepages=64 default_hugepagesz=2M hugepagesz=2M hugepages=8", 0},
    {"cmdline.hugepages-exceed-memory", ADVISE_FAIL, "32 GiB", "hugepagesz=2M hugepages=20000", 0},
    {"cmdline.hugepages-exceed-memory", ADVISE_WARN, "little to the host", "hugepagesz=2M hugepages=16000", 0},
    {"cmdline.hugepages-exceed-memory", ADVISE_FAIL, NULL, "hugepagesz=2M hugepages=900000000", 0},
    {"cmdline.hugepages-exceed-memory", SILENT, NULL, "hugepagesz=2M hugepages=8192", 0},
    {"cmdline.hugepages-exceed-node", ADVISE_FAIL, "Node 0", "hugepagesz=2M hugepages=0:20000", 0},
    {"cmdline.hugepages-exceed-node", SILENT, NULL, "hugepagesz=2M hugepages=0:8192", 0},
    {"cmdline.hugepages-spread", SILENT, NULL, "hugepagesz=2M hugepages=100", 0},
    {"cmdline.hugepages-by-node", ADVISE_INFO, "node 0: 100", "hugepagesz=2M hugepages=0:100", 0},
    {"cmdline.hugepages-by-node", SILENT, NULL, "hugepagesz=2M hugepages=100", 0},
};

static struct advise_result *judge(struct host *host, const char *line, struct host_cmdline *cmdline)
{
	struct err err = {0};

	assert_int_equal(cmdline_read_plain(host->arena, "line", line, cmdline, &err), 0);
	const struct advise_subject subject = {
	    .host = host, .cmdline = cmdline, .path = "line", .rule_prefixes = "cmdline."};

	return advise_run(&subject);
}

static void set_kernel(struct host *host, int kernel)
{
	host->os.kernel_major = kernel / 100;
	host->os.kernel_minor = kernel % 100;
}

static void test_cases(void **state)
{
	struct tree *tree = lines_host();
	struct host *host = tree_host(tree);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct host_cmdline cmdline;

		set_kernel(host, cases[i].kernel ? cases[i].kernel : 612);
		struct advise_result *result = judge(host, cases[i].line, &cmdline);

		lines_expect(result, cases[i].line, cases[i].id, cases[i].severity, cases[i].says);
		(void)advise_result_free(result);
	}
	(void)tree_free(tree);
}

/* A line as on a well-kept host has nothing that is printed without --all. */
static void test_healthy(void **state)
{
	static const char line[] =
	    "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-6.12 root=UUID=0 ro rootflags=subvol=root rd.lvm.lv=vg/root quiet "
	    "crashkernel=1G-4G:192M,4G-:256M console=tty0 console=ttyS0,115200n8 amd_pstate=active iommu=pt "
	    "hugepagesz=2M hugepages=8192 transparent_hugepage=madvise isolcpus=managed_irq,domain,2-3,6-7 "
	    "nohz_full=2-3,6-7 rcu_nocbs=2-3,6-7 irqaffinity=0-1,4-5 mitigations=auto systemd.show_status=yes";
	struct tree *tree = lines_host();
	struct host_cmdline cmdline;
	struct advise_result *result = judge(tree_host(tree), line, &cmdline);

	(void)state;
	for (size_t i = 0; i < result->finding_count; i++)
		if (result->findings[i].severity < ADVISE_INFO)
			fail_msg("%s: %s", result->findings[i].rule->id, result->findings[i].title);
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

static void test_places(void **state)
{
	struct tree *tree = lines_host();
	struct host_cmdline cmdline;
	struct advise_result *result = judge(tree_host(tree), "# a comment\nro quiet\nisolcpus=domain,2-x\n", &cmdline);
	const struct advise_finding *finding = tree_find(result, "cmdline.cpu-list-syntax");

	(void)state;
	assert_non_null(finding);
	assert_string_equal(finding->path, "line");
	assert_int_equal(finding->line, 3);
	assert_int_equal(finding->column, 19); /* the x */
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

static void test_too_long(void **state)
{
	struct tree *tree = lines_host();
	struct host_cmdline cmdline;
	char line[3000];

	(void)state;
	memset(line, 'a', sizeof(line));
	memcpy(line, "ro ", 3);
	line[2999] = '\0';
	struct advise_result *result = judge(tree_host(tree), line, &cmdline);

	lines_expect(result, "a long line", "cmdline.too-long", ADVISE_FAIL, "2999");
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

/* What only the running host's own line can show. */
static void test_own_line(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/cmdline", "ro isolcpus=2,6 nohz_full=2,6 rqshare=llc mitigatoins=off\n"},
	    {"/sys/devices/system/cpu/isolated", "2,6\n"},
	    {"/sys/devices/system/cpu/nohz_full", "(null)\n"},
	    {NULL, NULL},
	};
	struct tree *tree = lines_host();

	(void)state;
	tree_add(tree, files);
	struct host *host = tree_host(tree);

	host->os.unknown_words = fact_text("os.unknown_words", "rqshare=llc mitigatoins=off", "/dev/kmsg");
	struct advise_result *result = tree_advise(tree);

	lines_expect(result, "own line", "cmdline.unknown-to-kernel", ADVISE_INFO, "1 word: rqshare=llc");
	lines_expect(result, "own line", "cmdline.typing-error", ADVISE_WARN, "mitigations");
	lines_expect(result, "own line", "cmdline.isolation-not-in-effect", ADVISE_WARN, "nohz_full asks for 2,6");
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

static void test_effect_is_there(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/cmdline", "ro isolcpus=2,6 nohz_full=0,2,4,6\n"},
	    {"/sys/devices/system/cpu/isolated", "2,6\n"},
	    {"/sys/devices/system/cpu/nohz_full", "2,4,6\n"},
	    {NULL, NULL},
	};
	struct tree *tree = lines_host();

	(void)state;
	tree_add(tree, files);
	struct advise_result *result = tree_advise(tree);

	lines_expect(result, "isolation in effect", "cmdline.isolation-not-in-effect", SILENT, NULL);
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

static void expect(struct host *host, const char *line, const char *id, int severity, const char *says)
{
	struct host_cmdline cmdline;
	struct advise_result *result = judge(host, line, &cmdline);

	lines_expect(result, line, id, severity, says);
	(void)advise_result_free(result);
}

/* SEV-SNP is judged where the CPU has it, or where nobody knows. */
static void test_snp(void **state)
{
	static const char id[] = "cmdline.snp-needs-translation";
	struct tree *tree = lines_host();
	struct host *host = tree_host(tree);

	(void)state;
	host->cpu.flags = fact_text("cpu.flags", "fpu svm sev sev_es sev_snp", "/proc/cpuinfo");
	expect(host, "kvm_amd.sev_snp=1 iommu=pt", id, ADVISE_FAIL, NULL);
	expect(host, "kvm-amd.sev_snp=1 iommu.passthrough=1", id, ADVISE_FAIL, NULL);
	expect(host, "kvm_amd.sev_snp=1 iommu=nopt", id, SILENT, NULL);
	host->cpu.flags = (struct fact){0};
	expect(host, "kvm_amd.sev_snp=1 iommu=pt", id, ADVISE_FAIL, NULL);
	(void)tree_free(tree);
}

/* Linted in a guest a line may be for the guest or for another machine: said, without the exit code of a fault. */
static void test_linted_in_guest(void **state)
{
	struct tree *tree = lines_host();
	struct host *host = tree_host(tree);

	(void)state;
	host->cpu.flags = fact_text("cpu.flags", "fpu svm hypervisor", "/proc/cpuinfo");
	host->os.hypervisor = fact_text("os.hypervisor", "KVM", "/proc/cpuinfo");
	expect(host, "mitigations=off", "security.mitigations-off", ADVISE_ADVICE, NULL);
	expect(host, "retbleed=off", "security.mitigation-switched-off", ADVISE_ADVICE, NULL);
	expect(host, "processor.max_cstate=1", "idle.max-cstate-cmdline", ADVISE_ADVICE, NULL);
	(void)tree_free(tree);
}

static void test_numbers_possible_but_not_there(void **state)
{
	static const struct tree_file files[] = {{"/sys/devices/system/cpu/possible", "0-15\n"}, {NULL, NULL}};
	struct tree *tree = lines_host();

	(void)state;
	tree_add(tree, files);
	expect(tree_host(tree), "isolcpus=2-3,6-9", "cmdline.cpu-list-absent", ADVISE_WARN, "8-9");
	expect(tree_host(tree), "isolcpus=2,8-9", "cmdline.isolation-splits-cores", ADVISE_WARN, "6");
	(void)tree_free(tree);
}

static void test_two_nodes(void **state)
{
	static const struct tree_file files[] = {
	    {"/sys/devices/system/node/online", "0-1\n"},
	    {"/sys/devices/system/node/node0/cpulist", "0-1,4-5\n"},
	    {"/sys/devices/system/node/node0/cpumap", "33\n"},
	    {"/sys/devices/system/node/node1/cpulist", "2-3,6-7\n"},
	    {"/sys/devices/system/node/node1/cpumap", "cc\n"},
	    {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 16777216 kB\nNode 1 MemFree: 100 kB\n"},
	    {NULL, NULL},
	};
	struct tree *tree = lines_host();
	struct host_cmdline cmdline;

	(void)state;
	tree_add(tree, files);
	struct advise_result *result = judge(tree_host(tree), "hugepagesz=1G hugepages=8", &cmdline);

	/* The CPU of this host has no pdpe1gb. */
	lines_expect(result, "1 GiB", "cmdline.hugepage-word-ignored", ADVISE_WARN, "no pages of that size");
	(void)advise_result_free(result);
	result = judge(tree_host(tree), "hugepagesz=2M hugepages=100", &cmdline);
	lines_expect(result, "2 MiB", "cmdline.hugepages-spread", ADVISE_INFO, "2 nodes, about 50 each");
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

static void test_other_vendor(void **state)
{
	struct tree *tree = lines_host();
	struct host_cmdline cmdline;
	struct host *host = tree_host(tree);

	(void)state;
	host->cpu.vendor = fact_text("cpu.vendor", "GenuineIntel", "/proc/cpuinfo");
	host->cpu.is_amd = false;
	struct advise_result *result = judge(host, "intel_iommu=on amd_pstate=active", &cmdline);

	lines_expect(result, "Intel", "cmdline.amd-word-on-intel", ADVISE_INFO, "amd_pstate=active");
	lines_expect(result, "Intel", "cmdline.intel-word-on-amd", SILENT, NULL);
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

/* Each rule must have a case that fires and one that is silent; these have theirs in tests of their own. */
static void test_covered(void **state)
{
	static const char own[] = "cmdline.amd-word-on-intel cmdline.unknown-to-kernel cmdline.too-long "
				  "cmdline.isolation-not-in-effect cmdline.hugepages-spread "
				  "cmdline.snp-needs-translation cmdline.cut-by-shell";
	static const struct advise_rule *const tables[] = {advise_cmdline_rules, advise_cmdline_cost_rules,
							   advise_cmdline_syntax_rules, advise_cmdline_cpu_rules,
							   advise_cmdline_memory_rules};

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct advise_rule *rule = tables[t]; rule->id; rule++) {
			bool fires = false, silent = false;

			for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
				if (text_equal(cases[i].id, rule->id)) {
					fires |= cases[i].severity != SILENT;
					silent |= cases[i].severity == SILENT;
				}
			if ((!fires || !silent) && !text_has_word(own, " ", rule->id))
				fail_msg("%s has no case in which it %s", rule->id, fires ? "is silent" : "fires");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_healthy),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_too_long),
	    cmocka_unit_test(test_own_line),
	    cmocka_unit_test(test_effect_is_there),
	    cmocka_unit_test(test_snp),
	    cmocka_unit_test(test_linted_in_guest),
	    cmocka_unit_test(test_numbers_possible_but_not_there),
	    cmocka_unit_test(test_snp),
	    cmocka_unit_test(test_linted_in_guest),
	    cmocka_unit_test(test_numbers_possible_but_not_there),
	    cmocka_unit_test(test_two_nodes),
	    cmocka_unit_test(test_other_vendor),
	    cmocka_unit_test(test_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
