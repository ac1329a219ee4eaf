# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of the kernel's line from outside: the trial, what confirm says of each boot, and the way back."""
import json
import shutil
import tempfile
from pathlib import Path

from harness import TOP, Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True

WORD = "boot.skew_tick=1"


class Host:
    """A Debian with GRUB as files (tests/knob/boot/debian), which "boots" when it is told to."""

    def __init__(self, test, name="debian"):
        self.folder = tempfile.TemporaryDirectory()
        test.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name) / "root"
        shutil.copytree(TOP / f"tests/knob/boot/{name}/root", self.root)
        self.boots = 0
        self.line = (self.root / "proc/cmdline").read_text(encoding="ascii").strip()
        self.boot("")

    def boot(self, words):
        self.boots += 1
        random = self.root / "proc/sys/kernel/random"
        random.mkdir(parents=True, exist_ok=True)
        (random / "boot_id").write_text(f"boot-{self.boots}\n", encoding="ascii")
        (self.root / "proc/cmdline").write_text(f"{self.line} {words}\n", encoding="ascii")

    def boot_trial(self):
        state = json.loads((self.root / "var/lib/hvtune/trial").read_text(encoding="utf-8"))
        self.boot(f"skew_tick=1 panic=30 hvtune.trial={state['id']}")

    def files(self):
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*"))
                if path.is_file() and path.relative_to(self.root).parts[0] in ("boot", "etc")}

    def hvtune(self, command, *arguments):
        return hvtune(command, *arguments, "--host", self.root)


class Confirm(Test):
    def assert_refused(self, done, code, *words):
        self.assert_code(done, code)
        self.assert_one_line(done.err)
        for word in words:
            self.assertIn(word, done.err)

    def test_a_trial_that_is_well(self):
        host = Host(self)
        before = host.files()
        plan = host.hvtune("set", WORD, "--dry-run")
        self.assertIn("trial boot", plan.out)
        self.assertIn("/boot/grub/custom.cfg", plan.out)
        self.assertEqual(host.files(), before)
        self.assert_code(host.hvtune("set", WORD, "--yes"), 0)
        after = host.files()
        self.assertEqual({name for name in after if after[name] != before.get(name)}, {"boot/grub/custom.cfg"})
        done = host.hvtune("confirm")
        self.assert_code(done, 1)
        self.assertIn("still to come", done.out)
        self.assertIn("still to come", host.hvtune("status").out)
        host.boot_trial()
        done = host.hvtune("confirm")
        self.assert_code(done, 0)
        self.assertIn("good: the kernel's line: skew_tick=1", done.out)
        self.assertEqual(set(host.files()) - set(before), {"etc/default/grub.d/zz-hvtune.cfg"})
        self.assert_refused(host.hvtune("confirm"), 3, "no trial boot waits")
        self.assertIsNone(host.hvtune("status", "--json").json()["trial"])
        self.assert_code(host.hvtune("undo"), 0)
        self.assertEqual(host.files(), before)

    def test_a_trial_that_did_not_come_up(self):
        host = Host(self)
        before = host.files()
        self.assert_code(host.hvtune("set", WORD, "--yes"), 0)
        host.boot("")
        done = host.hvtune("confirm")
        self.assert_code(done, 1)
        self.assertIn("runs with the old line", done.out)
        self.assertIn("runs with the old line", host.hvtune("status", "--json").json()["trial"])
        report = host.hvtune("confirm", "--json").json()
        self.assertEqual((report["trial_boot"], report["confirmed"], report["asked"]), (False, False, "skew_tick=1"))
        self.assert_code(host.hvtune("undo"), 0)
        self.assertEqual(host.files(), before)

    def test_a_line_that_is_another(self):
        host = Host(self)
        self.assert_code(host.hvtune("set", WORD, "--yes"), 0)
        host.boot_trial()
        path = host.root / "proc/cmdline"
        path.write_text(path.read_text(encoding="ascii").replace("skew_tick=1", "skew_tick=0"), encoding="ascii")
        done = host.hvtune("confirm")
        self.assert_code(done, 1)
        self.assertIn("bad: the kernel's line: skew_tick=1; found 0", done.out)
        self.assertIn("the next boot has the old line", " ".join(done.out.split()))

    def test_without_a_trial(self):
        host = Host(self)
        before = host.files()
        self.assert_code(host.hvtune("set", WORD, "--no-trial", "--yes"), 0)
        self.assertEqual(set(host.files()) - set(before), {"etc/default/grub.d/zz-hvtune.cfg"})
        self.assert_code(host.hvtune("set", WORD, "--yes"), 0)
        self.assert_code(host.hvtune("undo", "--all"), 0)
        self.assertEqual(host.files(), before)

    def test_where_no_trial_is_possible(self):
        for name, reason in (("proxmox-grub", "cannot write to /dev/mapper/pve-root"), ("fedora-uki", "unified kernel image"),
                             ("proxmox-zfs", "not mounted")):
            host = Host(self, name)
            done = host.hvtune("set", WORD, "--yes")
            self.assert_refused(done, 3)
            self.assertIn(reason, done.err)
            self.assertIn("--no-trial", done.err)

    def test_usage(self):
        host = Host(self)
        self.assert_refused(host.hvtune("confirm", "x"), 2)
        self.assert_refused(host.hvtune("confirm", "--wait", "x"), 2, "--wait takes seconds")
        self.assert_refused(host.hvtune("confirm", "--wait", "1", "--wait", "2"), 2, "twice")
