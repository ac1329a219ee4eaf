/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of hosts that are lscpu texts: the forms of three generations of lscpu, and what is none. */
#include <errno.h>
#include <unistd.h>

#include "host.h"
#include "text.h"
#include "unit.h"

/* Open `text` as a host from a file of its own. */
static int open_text(const char *text, struct host **ret, struct err *err)
{
	char path[] = "/tmp/hvtune-lscpu-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
	int r = host_open(path, ret, err);

	assert_int_equal(unlink(path), 0);
	return r;
}

static struct host *open_good(const char *text)
{
	struct host *host = NULL;
	struct err err = {0};
	int r = open_text(text, &host, &err);

	assert_string_equal(err.what, "");
	assert_int_equal(r, 0);
	return host;
}

static void test_before_2_34(void **state)
{
	struct host *host = open_good("Architecture:          x86_64\n"
				      "CPU(s):                32\n"
				      "On-line CPU(s) list:   0-31\n"
				      "Thread(s) per core:    2\n"
				      "Core(s) per socket:    16\n"
				      "Socket(s):             1\n"
				      "NUMA node(s):          2\n"
				      "Vendor ID:             AuthenticAMD\n"
				      "CPU family:            23\n"
				      "Model:                 1\n"
				      "Model name:            AMD Ryzen Threadripper 1950X 16-Core Processor\n"
				      "Stepping:              1\n"
				      "L3 cache:              8192K\n"
				      "NUMA node0 CPU(s):     0-7,16-23\n"
				      "NUMA node1 CPU(s):     8-15,24-31\n"
				      "Flags:                 fpu vme svm avic\n");

	(void)state;
	assert_int_equal(host->kind, HOST_LSCPU);
	assert_int_equal(host->cpu.family.number, 23);
	assert_true(host->cpu.is_amd);
	assert_int_equal(host->cpu.zen, ZEN_1);
	assert_true(host_cpu_has_flag(&host->cpu, "avic"));
	assert_false(host_cpu_has_flag(&host->cpu, "avi"));
	assert_non_null(strstr(host->cpu.family.source, ":9"));
	assert_int_equal(cpuset_count(host_cpu_online(host)), 32);
	assert_true(fact_known(&host->cpu.present));
	assert_int_equal(host->topology.node_count, 2);
	assert_int_equal(topology_node_of(&host->topology, 24), 1);
	assert_int_equal(host->topology.core_count, 16);
	assert_int_equal(host->topology.package_count, 1);
	assert_false(host->topology.core_known);
	assert_false(host->topology.l3_known);
	assert_int_equal(host->topology.l3_count, 0);
	/* What such a text does not tell is absent, by name. */
	assert_int_equal(host->cmdline.line.state, FACT_ABSENT);
	assert_int_equal(host->cpu.microcode.state, FACT_ABSENT);
	assert_string_equal(host->cpu.microcode.name, "cpu.microcode");
	assert_int_equal(host->os.hypervisor.state, FACT_ABSENT);
	host_close(host);
}

static void test_grouped(void **state)
{
	struct host *host = open_good("Architecture:            x86_64\n"
				      "  CPU op-mode(s):        32-bit, 64-bit\n"
				      "CPU(s):                  16\n"
				      "  On-line CPU(s) list:   0-7\n"
				      "  Off-line CPU(s) list:  8-15\n"
				      "Vendor ID:               AuthenticAMD\n"
				      "  Model name:            AMD EPYC 9354P 32-Core Processor\n"
				      "    CPU family:          25\n"
				      "    Model:               17\n"
				      "    Thread(s) per core:  1\n"
				      "    Core(s) per socket:  8\n"
				      "    Socket(s):           1\n"
				      "    Flags:               fpu hypervisor\n"
				      "Caches (sum of all):     \n"
				      "  L1d:                   256 KiB (8 instances)\n"
				      "  L3:                    64 MiB (2 instances)\n"
				      "NUMA:                    \n"
				      "  NUMA node(s):          1\n"
				      "  NUMA node0 CPU(s):     0-7\n"
				      "Vulnerabilities:         \n"
				      "  Spec rstack overflow:  Mitigation; Safe RET\n"
				      "  Retbleed:              Not affected\n"
				      "  Spectre v2:            Vulnerable; no microcode\n");
	const struct mitigation *srso = host_mitigation(&host->mitigations, "spec_rstack_overflow");

	(void)state;
	assert_int_equal(cpuset_count(host_cpu_online(host)), 8);
	assert_int_equal(cpuset_count(host->cpu.offline.cpus), 8);
	assert_int_equal(cpuset_count(host->cpu.present.cpus), 16);
	assert_int_equal(host->topology.l3_count, 2);
	assert_int_equal(host->topology.l3s[1].size_kib, 32768);
	assert_true(cpuset_empty(&host->topology.l3s[0].cpus));
	assert_int_equal(host->mitigations.count, 3);
	assert_string_equal(srso->text.text, "Mitigation: Safe RET");
	assert_int_equal(srso->state, MITIGATION_ACTIVE);
	assert_int_equal(host_mitigation(&host->mitigations, "spectre_v2")->state, MITIGATION_VULNERABLE);
	assert_int_equal(host_mitigation(&host->mitigations, "retbleed")->state, MITIGATION_NOT_AFFECTED);
	/* The flag is enough to know a guest; lscpu named no vendor. */
	assert_string_equal(fact_text_or(&host->os.hypervisor, ""), "unknown");
	host_close(host);
}

static void test_json(void **state)
{
	struct host *host = open_good(
	    "{\"lscpu\":[{\"field\":\"Architecture:\",\"data\":\"x86_64\"},"
	    "{\"field\":\"CPU(s):\",\"data\":4,\"children\":[{\"field\":\"On-line CPU(s) list:\",\"data\":\"0-3\"}]},"
	    "{\"field\":\"Vendor ID:\",\"data\":\"AuthenticAMD\",\"children\":[{\"field\":\"Hypervisor "
	    "vendor:\",\"data\":\"KVM\"}]},{\"field\":\"Broken:\",\"data\":null},"
	    "{\"field\":\"Vulnerabilities:\",\"data\":null,\"children\":[{\"field\":\"Meltdown:\",\"data\":\"Not "
	    "affected\"}]}]}\n");

	(void)state;
	assert_int_equal(cpuset_count(host_cpu_online(host)), 4);
	assert_true(host_is_guest(host));
	assert_string_equal(fact_text_or(&host->os.hypervisor, ""), "KVM");
	assert_int_equal(host->mitigations.count, 1);
	host_close(host);
}

/* Lists with CPUs off line: lscpu 2.33 printed 0 threads per core and counts of sockets that do not multiply. */
static void test_contradictions(void **state)
{
	struct host *host = open_good("Architecture: x86_64\nCPU(s): 32\nOn-line CPU(s) list: 1,7,9,11,21,25,30,31\n"
				      "Thread(s) per core: 0\nCore(s) per socket: 8\nSocket(s): 2\n"
				      "CPU family: 6x\nStepping: r1p0\nModel: -\n");

	(void)state;
	assert_int_equal(host->topology.thread_count, 8);
	assert_int_equal(host->topology.core_count, 0);
	assert_int_equal(host->topology.threads_per_core, 0);
	assert_int_equal(host->cpu.family.state, FACT_IMPLAUSIBLE);
	assert_int_equal(host->cpu.stepping.state, FACT_IMPLAUSIBLE);
	assert_int_equal(host->cpu.model.state, FACT_ABSENT);
	host_close(host);

	host = open_good("Architecture: x86_64\nCPU(s): 4\nOn-line CPU(s) list: 0-3\nSocket(s): 99\n");
	assert_int_equal(host->topology.package_count, 0);
	host_close(host);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *what;
		unsigned line;
	} cases[] = {
	    {"Architecture: x86_64\nCPU(s): 4\n", "without \"On-line CPU(s) list\"", 0},
	    {"CPU(s): 4\nArchitecture: x86_64\nOn-line CPU(s) list: 0-99999\n", "is no list of CPUs: \"0-99999\"", 3},
	    {"CPU(s): 4\nArchitecture: x86_64\nOn-line CPU(s) list: \n", "is no list of CPUs", 3},
	    {"{\"lscpu\": [\n{\"field\": \"CPU(s):\",\n", "not the JSON of lscpu -J", 3},
	    {"{\"lscpu\": 3}", "without \"On-line CPU(s) list\"", 0},
	    {"one two three\n", "cannot tell what kind of host this is", 0},
	    {"", "the file is empty", 0},
	    {"CPU NODE SOCKET CORE\n0 0 0 0\n", "lscpu -e", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct host *host = NULL;
		struct err err = {0};

		assert_true(open_text(cases[i].text, &host, &err) < 0);
		assert_null(host);
		assert_non_null(strstr(err.what, cases[i].what));
		assert_int_equal(err.line, cases[i].line);
	}
}

static void test_synthetic(void **state)
{
	struct host *host = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(host_open("package:2 l3:4 core:3 pu:2", &host, &err), 0);
	assert_int_equal(host->kind, HOST_SYNTHETIC);
	assert_int_equal(host->topology.package_count, 2);
	assert_int_equal(host->topology.l3_count, 8);
	assert_int_equal(host->topology.core_count, 24);
	assert_int_equal(host->topology.thread_count, 48);
	host_close(host);
	assert_true(host_open("package:2 nonsense:4", &host, &err) < 0);
	assert_non_null(strstr(err.what, "no hwloc synthetic description"));
	assert_int_equal(host_open("no such thing", &host, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_before_2_34),	   cmocka_unit_test(test_grouped), cmocka_unit_test(test_json),
	    cmocka_unit_test(test_contradictions), cmocka_unit_test(test_refused), cmocka_unit_test(test_synthetic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
