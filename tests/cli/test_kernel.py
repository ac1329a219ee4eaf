# SPDX-License-Identifier: GPL-3.0-or-later
"""Another installed kernel from outside: its trial, what confirm says of the boot, and what `study check` says of levels."""
import shutil
import tempfile
from pathlib import Path

from harness import TOP, Test, hvtune
from test_confirm import Host

WORD = "boot.skew_tick=1"

STUDY = """study: kernels
workloads:
  w: {run: [true], takes: 20 s}
factors:
  kernel: {knob: boot.kernel, levels: [6.1.0-25-amd64, %s]}
  iommu: {knob: boot.iommu, levels: [absent, pt]}
budget: 2 h
"""


def runs(host, release):
    (host.root / "proc/sys/kernel/osrelease").write_text(f"{release}\n", encoding="ascii")


class Kernel(Test):
    def assert_refused(self, done, *words, code=3):
        self.assert_code(done, code)
        self.assert_one_line(done.err)
        for word in words:
            self.assertIn(word, done.err)

    def test_trial(self):
        host = Host(self)
        before = host.files()
        plan = host.hvtune("set", "boot.kernel=6.1.0-23-amd64", WORD, "--dry-run")
        self.assertIn("6.1.0-23-amd64 (trial boot; default: 6.1.0-25-amd64)", plan.out)
        self.assert_code(host.hvtune("set", "boot.kernel=6.1.0-23-amd64", WORD, "--yes"), 0)
        after = host.files()
        self.assertEqual({name for name in after if after[name] != before.get(name)}, {"boot/grub/custom.cfg"})
        self.assertIn(b"/boot/vmlinuz-6.1.0-23-amd64 root=", after["boot/grub/custom.cfg"])
        host.boot_trial()
        runs(host, "6.1.0-25-amd64")
        done = host.hvtune("confirm")
        self.assert_code(done, 1)
        self.assertIn("bad: the kernel is 6.1.0-23-amd64; found 6.1.0-25-amd64", done.out)
        runs(host, "6.1.0-23-amd64")
        done = host.hvtune("confirm")
        self.assert_code(done, 0)
        self.assertIn("good: the kernel is 6.1.0-23-amd64", done.out)
        pinned = {"etc/default/grub.d/zz-hvtune.cfg", "etc/default/grub.d/zz-hvtune-kernel.cfg"}
        self.assertEqual(set(host.files()) - set(before), pinned)
        self.assertRegex(host.hvtune("knobs", "boot.kernel").out, "here +6.1.0-23-amd64\n")
        self.assert_code(host.hvtune("undo"), 0)
        self.assertEqual(host.files(), before)

    def test_by_hand(self):
        """Where the default is kept by others the trial is done all the same, and the rest is told before and after."""
        host = Host(self, "fedora")
        plan = host.hvtune("set", "boot.kernel=6.13.9-200.fc42.x86_64", "--yes")
        self.assert_code(plan, 0)
        self.assertIn("hvtune confirm will refuse: hvtune makes no kernel the default", " ".join(plan.out.split()))
        after = host.files()
        host.boot_trial()
        runs(host, "6.13.9-200.fc42.x86_64")
        self.assert_refused(host.hvtune("confirm"), "hvtune makes no kernel the default of all boots here",
                            "by hand: grub2-set-default '")
        self.assertEqual(host.files(), after)

    def test_refused(self):
        host = Host(self)
        there = "in /boot/grub/grub.cfg are: 6.1.0-25-amd64, 6.1.0-23-amd64"
        self.assert_refused(host.hvtune("set", "boot.kernel=6.12.9", "--yes"), "kernel 6.12.9 is not installed", there,
                            code=2)
        self.assert_refused(host.hvtune("set", "boot.kernel=", "--yes"),
                            f"boot.kernel: an empty value is no release; {there}", code=2)
        self.assert_refused(Host(self, "proxmox-zfs").hvtune("set", "boot.kernel=6.12.9", "--yes"),
                            "no kernel can be chosen here")

    def test_asked_to_be_two(self):
        """Also where one of the two is the default's, so that nothing would have to be written for it."""
        host = Host(self)
        before = host.files()
        for one, other in (("boot.kernel=6.1.0-25-amd64", "boot.kernel=6.1.0-23-amd64"),
                           ("boot.iommu=absent", "boot.iommu=pt"),
                           ("boot.kvm_amd.avic=absent", "boot.kvm-amd.avic=1"),
                           ("boot.amd_pstate=absent", "boot.amd-pstate=active"),
                           ("boot.hugepages.2M=absent", "boot.hugepages.2048K=4")):
            for asks in ((one, other), (other, one)):
                with self.subTest(asks):
                    values = sorted(ask.split("=")[1] for ask in asks)
                    done = host.hvtune("set", *asks, "--yes")
                    self.assert_refused(done, "is asked to be both ", *values, code=2)
        self.assertEqual(host.files(), before)
        self.assert_code(host.hvtune("set", "boot.kernel=6.1.0-25-amd64", "boot.kernel=6.1.0-25-amd64", "--yes"), 0)
        self.assertEqual(host.files(), before)

    def test_empty(self):
        """No value at all is no wish, and least of all one for the default entry without a trial."""
        host = Host(self)
        before = host.files()
        for word in ("boot.isolcpus", "boot.skew_tic"):
            self.assert_refused(host.hvtune("set", f"{word}=", "--yes"), f"{word}: an empty value is none", code=2)
        self.assertEqual(host.files(), before)

    def test_knobs_names_them(self):
        done = hvtune("knobs", "boot.kernel", "--host", TOP / "tests/knob/boot/debian/root")
        self.assert_code(done, 0)
        self.assertRegex(done.out, "here +6.1.0-25-amd64\n")
        self.assertRegex(done.out, "legal +6.1.0-25-amd64 6.1.0-23-amd64\n")
        self.assertRegex(" ".join(done.out.split()), "written at the entry of the trial boot, and once confirmed "
                                                     "/etc/default/grub.d/zz-hvtune-kernel.cfg")


class Study(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "root"
        shutil.copytree(TOP / "tests/knob/boot/debian/root", self.root)

    def check(self, text):
        path = self.root.parent / "s.yaml"
        path.write_text(text, encoding="utf-8")
        done = hvtune("study", "check", path, "--host", self.root)
        return done, " ".join(done.out.split())

    def test_check(self):
        done, text = self.check(STUDY % "6.1.0-23-amd64")
        self.assert_code(done, 0)
        self.assertIn("It boots the host: 4 times", text)
        self.assertIn("kernel: 6.1.0-25-amd64, 6.1.0-23-amd64; baseline 6.1.0-25-amd64", text)

    def test_check_of_one_that_is_not_there(self):
        done, text = self.check(STUDY % "6.12.9")
        self.assert_code(done, 1)
        self.assertIn("s.yaml:5: kernel=6.12.9: boot.kernel: kernel 6.12.9 is not installed; in /boot/grub/grub.cfg are: "
                      "6.1.0-25-amd64, 6.1.0-23-amd64", text)
        (self.root / "boot/vmlinuz-6.12.9").write_bytes(b"")
        done, text = self.check(STUDY % "6.12.9")
        self.assert_code(done, 1)
        self.assertIn("has no entry of it; entries are there of: 6.1.0-25-amd64, 6.1.0-23-amd64 (make its entry: "
                      "update-grub)", text)

    def test_check_of_another_name(self):
        done, _ = self.check((STUDY % "6.1.0-23-amd64").replace("boot.kernel", "kernel"))
        self.assert_code(done, 2)
        self.assertIn("which kernel is booted is boot.kernel", done.err)

    def test_new(self):
        done = hvtune("study", "new", "--host", self.root)
        self.assert_code(done, 0)
        self.assertIn("# kernel: {knob: boot.kernel, levels: [6.1.0-25-amd64, 6.1.0-23-amd64]}", done.out)
