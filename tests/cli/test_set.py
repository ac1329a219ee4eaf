# SPDX-License-Identifier: GPL-3.0-or-later
"""Changing a machine and getting it back, on directories that hold one: plan, question, apply, undo, status."""
import contextlib
import fcntl
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from harness import HVTUNE, TOP, Test, hvtune

sys.path.insert(0, str(TOP / "tests/hosts"))
import make_host  # noqa: E402

# It measures, or changes this machine.
ONE_AT_A_TIME = True

CPU = "sys/devices/system/cpu"
CPUS = 4


class Machine:
    """A directory with what a few knobs need; 4 CPUs under amd-pstate-epp."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        for cpu in range(CPUS):
            policy = f"{CPU}/cpufreq/policy{cpu}"
            self.write(f"{policy}/scaling_governor", "powersave")
            self.write(f"{policy}/scaling_available_governors", "performance powersave")
            self.write(f"{policy}/energy_performance_preference", "balance_performance")
            self.write(f"{policy}/energy_performance_available_preferences",
                       "default performance balance_performance balance_power power")
            self.write(f"{policy}/scaling_min_freq", "400000")
        self.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
        self.write("proc/sys/vm/swappiness", "60")
        self.write("proc/sys/kernel/random/boot_id", "first")
        self.write("etc/default/grub", 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"')
        (self.root / "var/lib").mkdir(parents=True)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="ascii")

    def read(self, path):
        return (self.root / path).read_text(encoding="ascii").strip()

    def governors(self):
        return [self.read(f"{CPU}/cpufreq/policy{cpu}/scaling_governor") for cpu in range(CPUS)]

    def files(self):
        """All but hvtune's own, with what they hold."""
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*"))
                if path.is_file() and "var/lib/hvtune" not in str(path)}

    def hvtune(self, command, *arguments, **options):
        return hvtune(command, *arguments, "--host", self.root, **options)

    def set(self, *arguments, **options):
        return self.hvtune("set", "--yes", *arguments, **options)

    def start(self, *arguments):
        return subprocess.Popen([HVTUNE, "set", "--yes", "--host", str(self.root), *arguments],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_until_written(self, path, text):
        for _ in range(1000):
            if self.read(path) == text:
                return
            time.sleep(0.02)
        raise AssertionError(f"{path} never held {text}")


class WithMachine(Test):
    def setUp(self):
        self.machine = Machine()
        self.addCleanup(self.machine.folder.cleanup)
        self.before = self.machine.files()

    def assert_as_before(self):
        self.assertEqual(self.machine.files(), self.before)

    def assert_refused(self, done, code, *words):
        self.assert_code(done, code)
        self.assert_one_line(done.err)
        for word in words:
            self.assertIn(word, done.err)


class Plan(WithMachine):
    def test_a_dry_run_shows_every_write_and_changes_nothing(self):
        done = self.machine.hvtune("set", "governor=performance", "thp=never", "swappiness=60", "--dry-run")
        self.assert_code(done, 0)
        self.assert_clean(done)
        self.assertIn("5 writes", done.out)
        self.assertRegex(done.out, r"governor +powersave -> performance \(CPUs 0-3\)\n +/sys/\S+/policy\*/scaling_governor")
        self.assertRegex(done.out, r"thp +madvise -> never\n +/sys/kernel/mm/transparent_hugepage/enabled")
        self.assertRegex(done.out, r"so already +swappiness 60")
        self.assertRegex(done.out, r"may move +epp balance_performance \(CPUs 0-3\)")
        self.assert_as_before()
        self.assertFalse((self.machine.root / "var/lib/hvtune").exists())

    def test_unlike_values_are_told_apart(self):
        self.machine.write(f"{CPU}/cpufreq/policy2/energy_performance_preference", "power")
        done = self.machine.hvtune("set", "epp=balance_power", "-n", env={"COLUMNS": "200"})
        self.assertIn("balance_performance -> balance_power (CPUs 0-1,3)", done.out)
        self.assertIn("power -> balance_power (CPU 2)", done.out)

    def test_json(self):
        done = self.machine.hvtune("set", "governor@1=performance", "swappiness=60", "--dry-run", "--json")
        self.assert_code(done, 0)
        plan = done.json()
        self.assertEqual((plan["schema"], plan["command"]), (1, "set"))
        self.assertEqual(plan["asks"], ["governor@1=performance", "swappiness=60"])
        self.assertEqual(plan["steps"], [{"knob": "governor", "writes": [
            {"knob": "governor", "at": f"/{CPU}/cpufreq/policy1/scaling_governor", "label": "CPU 1", "old": "powersave",
             "new": "performance"}]}])
        self.assertEqual(plan["already"], [{"knob": "swappiness", "at": "/proc/sys/vm/swappiness", "label": "",
                                            "value": "60"}])
        self.assertNotIn("result", plan)

    def test_nothing_to_do_needs_no_answer(self):
        done = self.machine.hvtune("set", "governor=powersave")
        self.assert_code(done, 0)
        self.assertIn("Nothing to do.", done.out)

    def test_what_cannot_be_asked(self):
        for ask, word in (("governr=powersave", 'did you mean "governor"?'), ("governor=fast", "performance powersave"),
                          ("governor", "KNOB=VALUE"), ("governor@=powersave", "nothing stands"),
                          ("swappiness=500", "0 to 200"), ("swappiness@3=10", "no @WHERE"),
                          ("governor@x=powersave", "a list of CPUs")):
            self.assert_refused(self.machine.set(ask), 2, word)
        self.assert_refused(self.machine.set("governor=powersave", "governor@2=performance"), 2, "both")
        self.assert_refused(self.machine.set("governor@0,9=performance"), 3, "there is no CPU 9 here")
        self.assert_refused(self.machine.set("ksm=1"), 3, "no such setting")
        self.assert_as_before()

    def test_options_that_exclude_each_other(self):
        self.assert_refused(self.machine.hvtune("set", "thp=never", "--yes", "--dry-run"), 2)
        self.assert_refused(self.machine.hvtune("set", "thp=never", "--json"), 2, "--dry-run", "--yes")
        self.assert_refused(self.machine.set("thp=never", "--settle", "soon"), 2, "--settle")
        self.assert_refused(self.machine.set("thp=never", "--settle", "-1"), 2, "--settle")
        self.assert_refused(self.machine.hvtune("set", "--yes"), 2)
        self.assert_as_before()


class Asking(WithMachine):
    def answer(self, text, *arguments):
        """Run on a terminal and type an answer; the exit code and all that was shown."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(HVTUNE, [HVTUNE, "set", "--host", str(self.machine.root), *arguments])
        os.write(terminal, text.encode())
        shown = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # EIO: the other side has closed
                break
            if not piece:
                break
            shown += piece
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()

    def test_without_a_terminal_nothing_is_done(self):
        done = self.machine.hvtune("set", "thp=never")
        self.assert_refused(done, 2, "--yes", "--dry-run")
        self.assertIn("madvise -> never", done.out)
        self.assert_as_before()

    def test_yes(self):
        code, shown = self.answer("y\n", "thp=never")
        self.assertEqual(code, 0, shown)
        self.assertIn("apply? [y/N]", shown)
        self.assertEqual(self.machine.read("sys/kernel/mm/transparent_hugepage/enabled"), "always madvise [never]")

    def test_no(self):
        for answer in ("n\n", "\n", "yeah\n", "\x04"):
            code, shown = self.answer(answer, "thp=never")
            self.assertEqual(code, 1, shown)
            self.assertIn("Nothing is changed.", shown)
            self.assert_as_before()

    def test_a_security_hole_wants_its_name_typed(self):
        hole = ("boot.mitigations=off", "--no-trial")
        code, shown = self.answer("boot.mitigations=off\ny\n", *hole)
        self.assertEqual(code, 0, shown)
        self.assertIn("mitigations=off", self.machine.read("etc/default/grub"))
        self.assert_code(self.machine.hvtune("undo"), 0)
        self.assert_as_before()
        for answer in ("y\n", "boot.mitigations\n", "\x04"):
            code, shown = self.answer(answer, *hole)
            self.assertEqual(code, 1, shown)
            self.assertIn("nothing is changed", shown)
            self.assert_as_before()
        self.assert_refused(self.machine.set(*hole), 2, "boot.mitigations=off opens a security hole", "--accept-risk")
        self.assert_as_before()
        self.assertEqual(self.machine.set(*hole, "-j", "--accept-risk").json()["hole"], "boot.mitigations=off")
        self.assertIn("mitigations=off", self.machine.read("etc/default/grub"))

    def test_the_progress_line(self):
        code, shown = self.answer("y\n", "thp=never", "--settle", "2.5")
        self.assertEqual(code, 0, shown)
        self.assertIn("looking whether it stays so", shown)


class Apply(WithMachine):
    def test_set_and_undo(self):
        done = self.machine.set("governor=performance", "thp=never")
        self.assert_code(done, 0)
        self.assert_clean(done)
        self.assertIn("To put it back: hvtune undo 1.", done.out)
        self.assertEqual(self.machine.governors(), ["performance"] * CPUS)
        self.assertEqual(self.machine.read("sys/kernel/mm/transparent_hugepage/enabled"), "always madvise [never]")
        # As all commands that change something it takes --yes.
        done = self.machine.hvtune("undo", "--yes")
        self.assert_code(done, 0)
        self.assertIn("Change 1 (set governor=performance thp=never) is undone.", done.out)
        self.assert_as_before()

    def test_result_as_json(self):
        done = self.machine.set("governor@0=performance", "--json")
        self.assert_code(done, 0)
        self.assertEqual(done.json()["result"], {"state": "applied", "id": 1, "error": None, "events": []})
        undone = self.machine.hvtune("undo", "--json").json()["changes"]
        self.assertEqual([(change["id"], change["undone"]) for change in undone], [(1, True)])
        self.assertIn(("CPU 0", "put back"), [(event["label"], event["outcome"]) for event in undone[0]["events"]])

    def test_undo_of_one_and_of_all(self):
        for ask in ("thp=never", "swappiness=10", "governor=performance"):
            self.assert_code(self.machine.set(ask), 0)
        self.assert_code(self.machine.hvtune("undo", 2), 0)
        self.assertEqual(self.machine.read("proc/sys/vm/swappiness"), "60")
        self.assert_refused(self.machine.hvtune("undo", 2), 3, "no change 2 in force")
        done = self.machine.hvtune("undo", "--all")
        self.assert_code(done, 0)
        self.assertLess(done.out.index("Change 3"), done.out.index("Change 1"))
        self.assert_as_before()
        done = self.machine.hvtune("undo")
        self.assert_code(done, 0)
        self.assertIn("Nothing of hvtune's is in force.", done.out)
        self.assert_refused(self.machine.hvtune("undo", "x"), 2)
        self.assert_refused(self.machine.hvtune("undo", "1", "--all"), 2)

    def test_what_a_later_change_wrote_again_waits_for_that(self):
        self.machine.set("swappiness=10")
        self.machine.set("swappiness=20")
        self.assert_refused(self.machine.hvtune("undo", 1), 3, "undo 2 first")
        self.assert_code(self.machine.hvtune("undo", "--all"), 0)
        self.assert_as_before()

    def test_what_someone_else_has_set_since_is_left(self):
        self.machine.set("governor=performance", "swappiness=10")
        self.machine.write("proc/sys/vm/swappiness", "33")
        done = self.machine.hvtune("undo")
        self.assert_code(done, 0)
        self.assertIn("left alone: someone has set it to 33 since", done.out)
        self.assertEqual(self.machine.read("proc/sys/vm/swappiness"), "33")
        self.assertEqual(self.machine.governors(), ["powersave"] * CPUS)

    def test_a_reboot_has_undone_it(self):
        self.machine.set("thp=never")
        self.machine.write("proc/sys/kernel/random/boot_id", "second")
        self.assertIn("Nothing of hvtune's is in force.", self.machine.hvtune("status").out)
        self.assertIn("Nothing of hvtune's is in force.", self.machine.hvtune("undo").out)
        self.assertEqual(self.machine.read("sys/kernel/mm/transparent_hugepage/enabled"), "always madvise [never]")


class PlanFile(WithMachine):
    def setUp(self):
        super().setUp()
        self.file = Path(self.machine.folder.name).with_suffix(".json")
        self.addCleanup(self.file.unlink)
        self.make("governor=performance", "thp=never")

    def make(self, *asks):
        self.file.write_text(self.machine.hvtune("set", *asks, "--dry-run", "--json").out, encoding="ascii")

    def change(self, **fields):
        self.file.write_text(json.dumps({**json.loads(self.file.read_text(encoding="ascii")), **fields}),
                             encoding="ascii")

    def apply(self, *arguments, **options):
        return self.machine.hvtune("apply", "--yes", self.file, *arguments, **options)

    def test_apply_and_undo(self):
        self.assert_code(self.apply(), 0)
        self.assertEqual(self.machine.governors(), ["performance"] * CPUS)
        self.assertIn(f"apply {self.file}", self.machine.hvtune("status", env={"COLUMNS": "300"}).out)
        self.assert_code(self.machine.hvtune("undo"), 0)
        self.assert_as_before()

    def test_from_standard_input(self):
        done = self.machine.hvtune("apply", "--yes", "-", stdin=self.file.read_text(encoding="ascii"))
        self.assert_code(done, 0)
        self.assertEqual(self.machine.governors(), ["performance"] * CPUS)

    def test_a_stale_plan(self):
        path = f"{CPU}/cpufreq/policy2/scaling_governor"
        self.machine.write(path, "schedutil")
        self.assert_refused(self.apply(), 3, path, "it was powersave, it is schedutil", "new plan")
        self.machine.write(path, "performance")
        self.assert_code(self.machine.hvtune("apply", self.file, "--dry-run"), 0)
        self.machine.write(path, "powersave")
        self.machine.write(f"{CPU}/cpufreq/policy4/scaling_governor", "powersave")
        self.assert_refused(self.apply(), 3, "1 more value")
        (self.machine.root / CPU / "cpufreq/policy4/scaling_governor").unlink()
        (self.machine.root / path).unlink()
        self.assert_refused(self.apply(), 3, path, "it is absent")

    def test_asks_alone_are_for_any_machine(self):
        self.file.write_text('{"schema": 1, "asks": ["governor=performance"]}', encoding="ascii")
        self.machine.write(f"{CPU}/cpufreq/policy2/scaling_governor", "schedutil")
        self.assert_code(self.apply(), 0)
        self.assertEqual(self.machine.governors(), ["performance"] * CPUS)

    def test_paths_of_the_file_are_not_written(self):
        steps = json.loads(self.file.read_text(encoding="ascii"))["steps"]
        steps[0]["writes"][0]["at"] = "/etc/passwd"
        self.change(steps=steps)
        self.assert_refused(self.apply(), 3, "/etc/passwd")
        self.assert_as_before()

    def test_what_is_no_plan(self):
        for text, words in (("", "is no JSON"), ("{", "is no JSON"), ("[]", "is no plan"), ("{}", "is no plan"),
                            ('{"schema": 1, "asks": []}', "is no plan"), ('{"schema": 1, "asks": [7]}', "is no plan"),
                            ('{"schema": 2, "asks": ["thp=never"]}', "is no plan"),
                            ('{"schema": 1, "asks": ["thq=never"]}', 'did you mean "thp"')):
            self.file.write_text(text, encoding="ascii")
            self.assert_refused(self.apply(), 3, words)
        self.assert_refused(self.machine.hvtune("apply", "--yes", "/nonexistent"), 3)
        self.assert_refused(self.machine.hvtune("apply", "--yes"), 2)
        self.assert_as_before()


class Fix(WithMachine):
    """On a whole machine, for findings are asked of it."""

    @classmethod
    def setUpClass(cls):
        cls.whole = Machine.__new__(Machine)
        cls.whole.folder = tempfile.TemporaryDirectory()
        cls.whole.root = Path(cls.whole.folder.name)
        make_host.make(TOP / "tests/hosts/machines/epyc-9354p.host", cls.whole.root)
        cls.addClassCleanup(cls.whole.folder.cleanup)
        for policy in (cls.whole.root / CPU / "cpufreq").glob("policy*"):
            (policy / "energy_performance_preference").write_text("power\n", encoding="ascii")
        cls.whole.write("sys/module/kvm/parameters/halt_poll_ns", "0")

    def setUp(self):
        self.machine = self.whole
        self.before = self.machine.files()

    def findings(self):
        return {finding["id"] for finding in self.machine.hvtune("check", "--json").json()["findings"]}

    def test_fix_and_undo(self):
        self.assertIn("cpufreq.epp-power-on-server", self.findings())
        done = self.machine.hvtune("fix", "--yes", "cpufreq.epp-power-on-server")
        self.assert_code(done, 0)
        self.assert_clean(done)
        self.assertRegex(done.out, r"epp +power -> balance_performance \(CPUs 0-63\)")
        self.assertIn("the fix costs watts under light load", " ".join(done.out.split()))
        self.assertNotIn("cpufreq.epp-power-on-server", self.findings())
        self.assertIn("fix cpufreq.epp-power-on-server", self.machine.hvtune("status").out)
        self.assert_code(self.machine.hvtune("undo"), 0)
        self.assert_as_before()

    def test_what_is_not_found_needs_no_fix(self):
        done = self.machine.hvtune("fix", "--yes", "cpufreq.boost-off")
        self.assert_refused(done, 0, "is not found on this host")
        self.assertEqual(done.out, "")
        plan = self.machine.hvtune("fix", "cpufreq.boost-off", "cpufreq.epp-power-on-server", "-n", "--json").json()
        self.assertEqual(plan["asks"], ["epp=balance_performance"])
        self.assert_as_before()

    def test_what_no_setting_puts_right(self):
        self.assertIn("kvm.halt-poll-off", self.findings())
        self.assert_refused(self.machine.hvtune("fix", "--yes", "cpufreq.epp-power-on-server", "kvm.halt-poll-off"), 3,
                            "leaves the value of kvm.halt_poll_ns to you", "by hand: echo 200000")
        self.assert_refused(self.machine.hvtune("fix", "--yes", "cpufreq.bost-off"), 2, 'did you mean "cpufreq.boost-off"')
        self.assert_refused(self.machine.hvtune("fix", "--yes"), 2)
        self.assert_as_before()

    def test_check_tells_the_command(self):
        self.assertIn("fix: hvtune set epp=balance_performance; by hand: echo",
                      " ".join(self.machine.hvtune("check").out.split()))


class Knobs(WithMachine):
    def test_the_list(self):
        done = self.machine.hvtune("knobs")
        self.assert_code(done, 0)
        self.assert_clean(done)
        self.assertRegex(done.out, r"(?m)^  governor +powersave \(CPUs 0-3\)$")
        self.assertRegex(done.out, r"(?s)Not on this machine: .*\bksm\b")

    def test_a_page(self):
        done = self.machine.hvtune("knobs", "governor")
        self.assert_code(done, 0)
        self.assertRegex(done.out, r"legal +performance powersave\n")
        self.assertRegex(done.out, r"may move +epp")
        self.assert_refused(self.machine.hvtune("knobs", "governr"), 2)

    def test_json(self):
        knobs = {knob["name"]: knob for knob in self.machine.hvtune("knobs", "--json").json()["knobs"]}
        self.assertEqual([point["value"] for point in knobs["governor"]["points"]], ["powersave"] * CPUS)
        self.assertEqual((knobs["swappiness"]["least"], knobs["swappiness"]["most"]), (0, 200))
        self.assertTrue(knobs["ksm"]["absent"])
        for knob in knobs.values():
            self.assertTrue(knob["summary"] and knob["value"] and knob["scope"], knob["name"])


class Status(WithMachine):
    def test_what_is_in_force(self):
        self.assert_code(self.machine.hvtune("status"), 0)
        self.machine.set("governor=performance")
        self.machine.set("thp=never")
        done = self.machine.hvtune("status")
        self.assert_code(done, 0)
        self.assert_clean(done)
        self.assertRegex(done.out, r"(?s)2 changes in force.*  2  set thp=never .*  1  set governor=performance ")
        self.assertIn("a reboot clears it", done.out)

    def test_drift(self):
        self.machine.set("governor=performance")
        self.machine.write(f"{CPU}/cpufreq/policy3/scaling_governor", "powersave")
        done = self.machine.hvtune("status")
        self.assert_code(done, 1)
        self.assertIn("holds powersave, performance was written (CPU 3)", done.out)
        change, = self.machine.hvtune("status", "--json").json()["changes"]
        self.assertEqual([(event["label"], event["now"]) for event in change["drift"]], [("CPU 3", "powersave")])

    def test_a_value_that_a_later_change_wrote_has_not_drifted(self):
        self.machine.set("swappiness=10")
        self.machine.set("swappiness=20")
        self.assert_code(self.machine.hvtune("status"), 0)

    def test_damage_is_told(self):
        self.machine.set("swappiness=10")
        journal = self.machine.root / "var/lib/hvtune/journal"
        journal.write_bytes(b"garbage\n" + journal.read_bytes())
        done = self.machine.hvtune("status")
        self.assertIn("1 record cannot be understood, the first in line 1", done.out)
        self.assertIn("set swappiness=10", done.out)


class Trouble(WithMachine):
    def test_signals_put_everything_back(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.machine.start("governor=performance", "thp=never", "--settle", "60")
            self.machine.wait_until_written("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]")
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 3, out + err)
            self.assertIn("interrupted; everything is as before", err)
            self.assert_one_line(err)
            self.assert_as_before()
            self.assert_code(self.machine.hvtune("status"), 0)

    def test_a_kill_is_told_and_put_back(self):
        process = self.machine.start("governor=performance", "--settle", "60")
        self.machine.wait_until_written(f"{CPU}/cpufreq/policy{CPUS - 1}/scaling_governor", "performance")
        self.assertIn("another hvtune is at work on it", self.machine.hvtune("status").out)
        process.kill()
        process.communicate(timeout=30)
        done = self.machine.hvtune("status")
        self.assert_code(done, 1)
        self.assertIn("hvtune undo 1", done.out)
        self.assertTrue(self.machine.hvtune("status", "--json").json()["changes"][0]["cut_short"])
        done = self.machine.hvtune("check")
        self.assert_code(done, 1)
        self.assertIn("Change 1 (set governor=performance) was cut short", done.out.replace("\n", " "))
        self.assertEqual(self.machine.hvtune("check", "--json").json()["cut_short"],
                         [{"id": 1, "what": "set governor=performance"}])
        self.assert_refused(self.machine.set("swappiness=10"), 3, "cut short", "hvtune undo 1")
        self.assert_code(self.machine.hvtune("undo"), 0)
        self.assert_as_before()
        self.assertNotIn("cut short", self.machine.hvtune("check").out)
        self.assert_code(self.machine.set("swappiness=10"), 0)

    def test_a_value_that_does_not_stick(self):
        def meddle():
            self.machine.wait_until_written("proc/sys/vm/swappiness", "10")
            self.machine.write("proc/sys/vm/swappiness", "44")
        meddler = threading.Thread(target=meddle)
        meddler.start()
        done = self.machine.set("governor=performance", "swappiness=10", "--settle", "3")
        meddler.join()
        self.assert_refused(done, 1, "did not stick: 10 was written", "it holds 44")
        self.assertRegex(done.out, r"swappiness +10 was written, it holds 44")
        self.assertEqual(self.machine.governors(), ["powersave"] * CPUS)

    def test_only_one_at_a_time(self):
        self.machine.set("thp=never")
        self.before = self.machine.files()
        with (self.machine.root / "var/lib/hvtune/lock").open("w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assert_refused(self.machine.set("swappiness=10"), 3, "another hvtune")
            self.assert_refused(self.machine.hvtune("undo"), 3, "another hvtune")
            self.assert_code(self.machine.hvtune("status"), 0)
        self.assert_as_before()

    def test_no_journal_no_change(self):
        shutil.rmtree(self.machine.root / "var")
        self.machine.write("var", "a file where the directory should be")
        self.before = self.machine.files()
        self.assert_refused(self.machine.set("swappiness=10"), 3, "/var/lib/hvtune")
        self.assert_as_before()

    def test_a_link_is_not_followed(self):
        file = self.machine.root / "proc/sys/vm/swappiness"
        elsewhere = self.machine.root / "elsewhere"
        elsewhere.write_text("60\n", encoding="ascii")
        file.unlink()
        file.symlink_to("../../../elsewhere")
        self.assert_refused(self.machine.set("swappiness=10"), 3, "symbolic link")
        self.assertEqual(elsewhere.read_text(encoding="ascii"), "60\n")

    def test_what_is_no_machine(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assert_refused(hvtune("set", "thp=never", "--yes", "--host", empty), 3, "no machine in here")
            archive = Path(empty) / "a.tar"
            archive.write_bytes(b"")
            for command in (["set", "thp=never", "--yes"], ["undo"], ["status"]):
                self.assert_refused(hvtune(*command, "--host", archive), 3, "unpack")
                self.assert_refused(hvtune(*command, "--host", "-"), 3, "unpack")
        self.assert_refused(hvtune("status", "--host", "/nonexistent"), 3)


class Rivals(WithMachine):
    """Services that write the same knobs."""

    def run_service(self, name):
        self.machine.write("sys/fs/cgroup/system.slice/cgroup.procs", "1")
        self.machine.write(f"sys/fs/cgroup/system.slice/{name}.service/cgroup.procs", "900")

    def notes(self, *asks):
        return " ".join(self.machine.hvtune("set", *asks, "-n", "--json").json()["notes"])

    def test_no_service_no_note(self):
        self.assertEqual(self.notes("governor=performance", "thp=never", "swappiness=10"), "")

    def test_a_service_is_named_with_what_it_writes(self):
        for name, word in (("power-profiles-daemon", "powerprofilesctl"), ("auto-cpufreq", "every few seconds")):
            with self.subTest(name):
                self.run_service(name)
                self.assertIn(f"{name} runs and sets governor, epp too", self.notes("governor=performance", "epp=performance"))
                self.assertIn(word, self.notes("governor=performance"))
                self.assertNotIn(name, self.notes("thp=never", "swappiness=10"))

    def test_tuned_counts_where_its_profile_sets_the_knob(self):
        self.run_service("tuned")
        self.machine.write("etc/tuned/active_profile", "mine")
        self.machine.write("etc/tuned/profiles/mine/tuned.conf",
                           "[cpu]\ngovernor=powersave\n[sysctl]\nvm.swappiness=77\n"
                           "[sysfs]\n/sys/kernel/mm/transparent_hugepage/enabled=always")
        notes = self.notes("governor=performance", "swappiness=10", "thp=never")
        self.assertIn("tuned's profile mine sets governor (powersave), swappiness (77), thp (always) too", notes)
        self.assertNotIn("epp", notes)
        self.assertEqual(self.notes("epp=power"), "")

    def test_status_names_them(self):
        self.run_service("auto-cpufreq")
        self.machine.set("governor=performance")
        self.assertIn("auto-cpufreq runs and sets governor too", self.machine.hvtune("status", env={"COLUMNS": "300"}).out)
        self.assertEqual([rival["service"] for rival in self.machine.hvtune("status", "--json").json()["rivals"]],
                         ["auto-cpufreq"])
        self.machine.hvtune("undo")
        self.machine.set("swappiness=10")
        self.assertEqual(self.machine.hvtune("status", "--json").json()["rivals"], [])


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("mount"), "not root")
class AsRoot(WithMachine):
    NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

    def as_nobody(self, *arguments):
        return hvtune(*arguments, prefix=self.NOBODY)

    def setUp(self):
        super().setUp()
        if self.as_nobody("--version").code != 0:
            self.skipTest("nobody cannot run the program where it lies")

    def test_who_is_not_root_is_told(self):
        done = self.as_nobody("undo")
        self.assert_refused(done, 3, "needs root", "sudo hvtune undo")

    def test_a_write_that_is_refused_rolls_back(self):
        for path in (self.machine.root, *self.machine.root.rglob("*")):
            os.chown(path, 65534, 65534)
        file = self.machine.root / f"{CPU}/cpufreq/policy2/scaling_governor"
        file.chmod(0o444)
        done = self.as_nobody("set", "--yes", "thp=never", "governor=performance", "--host", self.machine.root)
        self.assert_refused(done, 1, "policy2/scaling_governor", "permission denied", "everything was put back")
        self.assertRegex(done.out, r"governor +performance: .*permission denied\s+\(CPU 2\)")
        self.assert_as_before()
        self.assert_code(self.as_nobody("status", "--host", self.machine.root), 0)

    def mount(self, options):
        folder = self.machine.root / "var/lib"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], stderr=subprocess.DEVNULL,
                              check=False)
        if done.returncode:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        return folder

    def test_var_that_cannot_be_written(self):
        self.mount("ro")
        self.assert_refused(self.machine.set("swappiness=10"), 3, "Read-only file system")
        self.assert_as_before()

    def test_a_full_disk(self):
        folder = self.mount("size=512k,nr_inodes=100")
        with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        self.before = self.machine.files()
        self.assert_refused(self.machine.set("governor=performance"), 3, "No space left")
        # Room for a record, and not for all that the change may need.
        os.truncate(folder / "filler", (folder / "filler").stat().st_size - 16384)
        self.assert_refused(self.machine.set("governor=performance"), 3, "No space left")
        self.before["var/lib/filler"] = (folder / "filler").read_bytes()
        self.assert_as_before()
        self.assert_code(self.machine.hvtune("status"), 0)


if __name__ == "__main__":
    unittest.main()
