# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune lint`: what files it recognises, what it refuses, where it points, and what it must leave alone."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
import cases  # noqa: E402
from harness import Test, hvtune  # noqa: E402

WHY_NOT = cases.missing()
HOST = "package:1 l3:2 core:2 pu:2"

# Stock profiles that ask for a latency which shuts C2 out on EPYC: that is what they are for, and worth a warning.
LATENCY_PROFILES = {"accelerator-performance", "hpc-compute", "latency-performance", "mssql", "postgresql", "realtime",
                    "realtime-virtual-guest", "realtime-virtual-host", "virtual-host"}


def lint(text, *arguments, host=HOST):
    return hvtune("lint", "--host", host, *arguments, "-", stdin=text)


class Kinds(Test):
    def found(self, text, *arguments):
        done = lint(text, "--json", "--all", *arguments)
        self.assert_code(done, 0, 1)
        return {finding["id"]: finding for finding in done.json()[0]["findings"]}

    def test_command_line(self):
        found = self.found("ro quiet amd_iommu=pt\n")
        self.assertEqual((found["cmdline.amd-iommu-value"]["line"], found["cmdline.amd-iommu-value"]["column"]), (1, 10))

    def test_boot_loader_entry(self):
        found = self.found("title x\nlinux /vmlinuz\noptions ro amd_iommu=pt\n")
        self.assertEqual((found["cmdline.amd-iommu-value"]["line"], found["cmdline.amd-iommu-value"]["column"]), (3, 12))

    def test_grub_default(self):
        found = self.found('GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX="ro\\\n amd_iommu=pt"\n')
        self.assertEqual((found["cmdline.amd-iommu-value"]["line"], found["cmdline.amd-iommu-value"]["column"]), (3, 2))

    def test_grub_default_that_the_shell_cuts(self):
        for text, where, others in (('GRUB_CMDLINE_LINUX_DEFAULT=quiet iommu=pt\n', (1, 33), set()),
                                    ('GRUB_CMDLINE_LINUX_DEFAULT = "quiet iommu=pt"\n', (1, 1), set()),
                                    ('\nGRUB_CMDLINE_LINUX_DEFAULT=\u201cquiet iommu=pt\u201d\n', (2, 36),
                                     {"cmdline.typographic-quotes"})):
            with self.subTest(text=text):
                found = self.found(text)
                self.assertEqual(tuple(found["cmdline.cut-by-shell"][key] for key in ("line", "column")), where)
                self.assertEqual({id for id in found if found[id]["severity"] == "fail"},
                                 {"cmdline.cut-by-shell"} | others)
        self.assertNotIn("cmdline.cut-by-shell", self.found('GRUB_CMDLINE_LINUX_DEFAULT="quiet iommu=pt"  # mine\n'))

    def test_modprobe(self):
        self.assertIn("cmdline.npt-off", self.found("# x\noptions kvm_amd npt=0\n"))

    def test_tuned_profile(self):
        found = self.found("# mine\n[main]\nsummary=x\n\n[cpu]\nenergy_performance_preference=powersave\n")
        self.assertEqual(found["tuned.epp-word"]["line"], 6)

    def test_tuned_profile_that_cannot_be_read(self):
        done = lint("[main]\nsummary=x\n[cpu]\ngovernor performance\n")
        self.assert_code(done, 1)
        self.assertIn("standard input:4:1", done.out)

    def test_tuned_log(self):
        found = self.found("ERROR tuned.plugins.base: verify: failed: module cpufreq_conservative is not loaded\n")
        self.assertEqual(set(found), {"tuned.verify-harmless"})

    def test_kind_by_hand(self):
        self.assertIn("cmdline.typing-error", self.found("amd_pstat=active\n", "--kind", "cmdline"))
        self.assert_code(lint("ro\n", "--kind", "poem"), 2)

    def test_only_rules_of_the_subject(self):
        done = lint("ro amd_iommu=pt\n", "--json", "--all")
        self.assertEqual({finding["id"].split(".")[0] for finding in done.json()[0]["findings"]}, {"cmdline"})


class Refused(Test):
    def refuse(self, done, words):
        self.assert_code(done, 3)
        self.assertEqual(done.out, "")
        self.assert_one_line(done.err)
        self.assertIn(words, done.err)

    def test_vm_files_are_named(self):
        self.refuse(lint("<network><name>x</name></network>\n"), "not a domain")
        self.refuse(lint("[Unit]\nDescription=x\n"), "a systemd unit")

    def test_hostile_vms(self):
        """Bombs, depth, sizes, encodings, numbers: one clear line from every command that reads VMs."""
        start, end = "<domain type='kvm'><name>a</name><memory>1</memory>", "</domain>"
        bomb = "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10 if i else 'aaaaaaaaaa'}'>" for i in range(12))
        qemu = "qemu-system-x86_64 -enable-kvm -m 1G "
        for text, words in (
                (f"<!DOCTYPE d [{bomb}]><domain type='kvm'><name>&a11;</name></domain>", "document type declaration"),
                ("<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><domain><name>&x;</name></domain>",
                 "document type declaration"),
                (start + "<a>" * 50000 + "</a>" * 50000 + end, "Excessive depth in document: 256\n"),
                (start.replace("a<", "n" * 1000000 + "<") + end, "1000000 bytes, at most 255 can be"),
                (start.replace("a<", "n" * (10 << 20) + "<") + end, "larger than 1024 KiB"),
                (start + "<vcpu>99999999999999999999</vcpu>" + end, "not a number of vCPUs from 1 to 4096"),
                (start + "<vcpu>-4</vcpu>" + end, "not a number of vCPUs"),
                (start + "<vcpu>4</vcpu>", "not well-formed"),
                (start.replace("a<", "a&#27;[31m<") + end, "not well-formed"),
                ("cores: 4\nmemory: 99999999999999999999\nname: x\nscsi0: local:1\n", ":2:9: memory"),
                (f"name: {'x' * 900000}\ncores: 4\nmemory: 1024\nscsihw: virtio-scsi-pci\n", "at most 255 can be"),
                ("cores: -3\nmemory: 1024\nname: x\nnet0: virtio\n", "not between 1 and 4096"),
                (qemu + "-smp 99999999999\n", "more than QEMU takes (4096)"),
                (qemu + "-object '" + "{\"a\":" * 5000 + "'\n", "JSON that cannot be read"),
                (qemu + "-smp 4 'unterminated\n", "opened here and never closed"),
                (qemu + "-name " + "n" * 1000 + "\n", "1000 bytes, at most 255 can be")):
            for command in (("lint", "-"), ("place", "--file", "-", "--host", "package:1 l3:2 core:4 pu:2")):
                with self.subTest(words=words, command=command[0]):
                    self.refuse(hvtune(*command, stdin=text, timeout=20), words)

    def test_parameters_of_a_profile(self):
        done = lint("[bootloader]\ncmdline_mine=+amd_iommu=pt isolcpus=2-\n", "--json")
        found = {finding["id"]: finding["line"] for finding in done.json()[0]["findings"]}
        self.assertEqual(found, {"cmdline.amd-iommu-value": 2, "cmdline.cpu-list-syntax": 2})

    def test_modprobe_without_options(self):
        self.refuse(lint("kvm_amd nested=1\n", "--kind", "modprobe"), "options MODULE")

    def test_unclosed_quote_names_where_the_value_begins(self):
        self.refuse(lint('GRUB_CMDLINE_LINUX_DEFAULT="quiet\nGRUB_CMDLINE_LINUX=""\n'), ":1:28")

    def test_what_is_no_file_for_lint(self):
        self.refuse(lint(""), "nothing in it")
        self.refuse(lint(" \n\n"), "nothing in it")
        self.refuse(lint("To be or not to be, that is the question\n"), "no word in it is a kernel parameter")
        self.refuse(lint("a\x01b\n"), "this is no text")
        self.refuse(lint("x" * (2 << 20)), "larger than")
        self.refuse(lint("GRUB_CMDLINE_LINUX=\"ro\n"), "is not closed")
        self.refuse(hvtune("lint", "--host", HOST, "/nonexistent/file"), "cannot read")
        self.refuse(hvtune("lint", "--host", HOST, "/"), "a directory")

    def test_no_file_is_a_usage_error(self):
        self.assert_code(hvtune("lint"), 2)


class Several(Test):
    def test_the_worst_code_counts_and_the_good_files_are_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad = Path(folder, "good"), Path(folder, "bad")
            good.write_text("ro quiet iommu=pt\n")
            bad.write_text("ro amd_iommu=pt\n")
            done = hvtune("lint", "--host", HOST, good, bad)
            self.assert_code(done, 1)
            self.assertIn(f"{good}:\n", done.out)
            self.assert_code(hvtune("lint", "--host", HOST, good), 0)
            self.assert_code(hvtune("lint", "--host", HOST, good, "/nonexistent/file", bad), 3)
            answers = hvtune("lint", "--host", HOST, "--json", good, bad).json()
            self.assertEqual([answer["path"] for answer in answers], [str(good), str(bad)])
            alone = hvtune("lint", "--host", HOST, "--json", good).json()
            self.assertEqual([answer["path"] for answer in alone], [str(good)], "one file, the same shape")


@unittest.skipIf(WHY_NOT, WHY_NOT)
class SharedCases(Test):
    def test_stock_profiles_are_not_blamed(self):
        top = cases.CASES
        host = top / "hosts-rebuilt/trees/epyc7343"
        profiles = sorted((top / "config/tuned/profiles").glob("*/tuned.conf"))
        self.assertGreater(len(profiles), 15)
        for profile in profiles:
            done = hvtune("lint", "--json", "--host", host, profile)
            self.assert_code(done, 0, 1)
            for finding in done.json()[0]["findings"]:
                if finding["severity"] in ("fail", "warn"):
                    self.assertEqual(finding["id"], "tuned.latency-shuts-out-states", f"{profile}: {finding}")
                    self.assertIn(profile.parent.name, LATENCY_PROFILES)

    def test_users_command_lines(self):
        top = cases.CASES
        expected = {
            "u09-tr3960x-proxmox": {"cmdline.amd-iommu-value"},
            "u11-tr1950x": {"cmdline.amd-iommu-value", "security.mitigations-off"},
            "u28-liquorix119": {"cmdline.amd-pstate-removed-parameter"},
            "u30-empty-isolcpus": {"cmdline.empty-list", "cmdline.intel-word-on-amd"},
            "u31-duplicate-hugepages": {"cmdline.hugepage-word-ignored", "cmdline.given-twice"},
            "u33-retbleed-nosmt": {"cmdline.smt-off"},
        }
        for name, ids in expected.items():
            done = hvtune("lint", "--json", "--all", "--host", top / "hosts-rebuilt/trees/5950x",
                          top / f"config/users/{name}.cmdline")
            self.assert_code(done, 0, 1)
            found = {finding["id"] for finding in done.json()[0]["findings"]}
            self.assertLessEqual(ids, found, name)
            self.assertNotIn("cmdline.typing-error", found, json.dumps(done.json()))

    def test_u11_modprobe(self):
        done = hvtune("lint", "--json", "--all", "--host", HOST,
                      cases.CASES / "config/users/u11-tr1950x.modprobe.conf")
        self.assert_code(done, 0)
        self.assertEqual({finding["id"] for finding in done.json()[0]["findings"]}, {"cmdline.vhost-zerocopy"})
