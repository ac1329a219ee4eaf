# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns proving that top shows what a host does between two readings: as CSV, for Prometheus, and on a terminal that it
gives back as it was. The host is a directory whose files are changed while it is watched."""
import csv
import fcntl
import io
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

from harness import HVTUNE, TOP, Test, hvtune

sys.path.insert(0, str(TOP / "tests/hosts"))
import hosts  # noqa: E402

# It measures, or changes this machine.
ONE_AT_A_TIME = True

TSC = 2_000_000_000
PID = 4000
STAT = "{tid} (CPU {name}/KVM) S 1 1 1 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 {cpu} 0 0"


class Machine:
    """An EPYC 9354P with one VM of four vCPUs, at a moment."""

    def __init__(self, folder):
        self.root = Path(folder) / "host"
        shutil.copytree(hosts.root_of("epyc-9354p", hosts.names()["epyc-9354p"]), self.root, symlinks=True)
        self.cpus = [int(path.name[3:]) for path in (self.root / "sys/devices/system/cpu").glob("cpu[0-9]*")]
        pmu = "sys/bus/event_source/devices/msr"
        for name, text in (("type", "10\n"), ("events/tsc", "event=0x00\n"), ("events/aperf", "event=0x01\n"),
                           ("events/mperf", "event=0x02\n")):
            self.write(f"{pmu}/{name}", text)
        process = f"proc/{PID}"
        self.write(f"{process}/comm", "qemu-system-x86\n")
        self.write(f"{process}/cmdline", "qemu-system-x86_64\0-name\0guest=web1\0-enable-kvm\0-smp\0" "4\0-m\0" "4096\0")
        self.write(f"{process}/status", "Name:\tqemu-system-x86\nCpus_allowed_list:\t0-63\n")
        for tid in (PID, *(PID + 1 + i for i in range(4))):
            self.write(f"{process}/task/{tid}/comm", "qemu-system-x86\n" if tid == PID else f"CPU {tid - PID - 1}/KVM\n")
            self.write(f"{process}/task/{tid}/status", "Name:\tx\nCpus_allowed_list:\t0-63\n")
        self.write("sys/module/kvm_amd/refcnt", "5\n")
        self.set(0)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def set(self, step):
        """After `step` seconds: CPU 0 runs half the time at 3 GHz, the others a tenth at 1 GHz (TSC of 2 GHz)."""
        self.write("perf/msr/0/cpu0", f"{step * TSC + 1}\n")
        for cpu in self.cpus:
            self.write(f"perf/msr/1/cpu{cpu}", f"{step * (1500000000 if cpu == 0 else 100000000) + 1}\n")
            self.write(f"perf/msr/2/cpu{cpu}", f"{step * (1000000000 if cpu == 0 else 200000000) + 1}\n")
        self.write("proc/stat", "cpu  1 1 1 1 0 0 0 0 0 0\n" + "".join(
            f"cpu{cpu} {1000 + step * (75 if cpu == 0 else 10)} 0 0 {5000 + step * (25 if cpu == 0 else 90)} 0 0 0 0 0 0\n"
            for cpu in self.cpus) + "intr 1 2 3\n")
        for i in range(4):
            # vCPU 3 wanders: from CPU 3 to CPU 32 + step.
            self.write(f"proc/{PID}/task/{PID + 1 + i}/stat",
                       STAT.format(tid=PID + 1 + i, name=i, user=100 + step * 20, system=7, cpu=i if i < 3 else 3 + step))
        next(self.root.glob("sys/**/intel-rapl:0/energy_uj")).write_text(f"{(1 + step) * 100000000}\n")
        self.write(f"sys/kernel/debug/kvm/{PID}-11/halt_exits", f"{1000 + step * 500}\n")


def watched(machine, *arguments, change=None, readings=2):
    """CSV of some readings, between which the machine goes on by a second's counts (or `change` happens)."""
    lines, seen = [], 0
    command = [HVTUNE, "top", "--batch", "--times", str(readings), "--refresh", "1", "--host", machine.root, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            lines.append(line)
            if ",vcpu,web1/3,cpu," in line:  # nearly the last one: there is a second until the next reading
                seen += 1
                (change or machine.set)(seen)
        code = process.wait()
    return code, "".join(lines)


def values(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return rows, {(row["kind"], row["name"], row["quantity"]): float(row["value"]) for row in rows}


class Readings(Test):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.machine = Machine(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.machine.set(0)

    def test_a_device_is_not_replaced(self):
        done = hvtune("top", "--prometheus", "/dev/null", "--times", "1")
        self.assert_code(done, 3)
        self.assertIn("/dev/null", done.err)
        self.assertFalse(Path("/dev/null").is_file())

    def test_batch(self):
        code, text = watched(self.machine, "--cpus")
        self.assertEqual(code, 0)
        rows, found = values(text)
        self.assertEqual(len({row["time"] for row in rows}), 2)
        # Shares are of counts and exact; a clock is of the time between the readings too, which a busy machine stretches.
        self.assertAlmostEqual(found["cpu", "0", "C0"], 0.5, places=3)
        self.assertAlmostEqual(found["cpu", "9", "C0"], 0.1, places=3)
        self.assertAlmostEqual(found["cpu", "0", "clock"] / found["cpu", "9", "clock"], 3, places=3)
        self.assertAlmostEqual(found["cpu", "9", "clock"], 1000, delta=300)
        self.assertAlmostEqual(found["cpu", "0", "use"], 0.75, places=2)
        # L3 group 0 of a 9354P: cores 0-3, CPUs 0-3 and 32-35: one of eight runs at 3 GHz for half of the time.
        self.assertAlmostEqual(found["l3", "0", "C0"], (0.5 + 7 * 0.1) / 8, places=3)
        self.assertAlmostEqual(found["l3", "0", "clock"] / found["l3", "1", "clock"], (3 * 0.5 + 0.7) / 1.2, places=3)
        self.assertEqual(len([key for key in found if key[0] == "l3" and key[2] == "C0"]), 8)
        self.assertGreater(found["vm", "web1", "halts"], 0)
        self.assertGreater(found["vm", "web1", "use"], 0)
        self.assertEqual(found["vcpu", "web1/0", "cpu"], 0)
        self.assertEqual(found["vcpu", "web1/3", "cpu"], 4)
        self.assertEqual([value for key, value in found.items() if key[2] == "temperature"], [45])
        # The package's watts by the VM's part of the busy time: of 0.75 CPUs, and 63 times 0.1.
        watts = found["source", "powercap.package-0", "power"]
        self.assertAlmostEqual(watts, 100, delta=40)
        self.assertAlmostEqual(found["vm", "web1", "power estimate"], watts * found["vm", "web1", "use"] / 7.05, delta=0.1)

    def test_nothing_moves(self):
        """What cannot be told is left out of a log: it is no zero."""
        done = hvtune("top", "--batch", "--times", "1", "--refresh", "1", "--host", self.machine.root)
        self.assert_code(done, 0)
        _, found = values(done.out)
        self.assertNotIn(("l3", "0", "clock"), found)
        self.assertNotIn(("l3", "0", "use"), found)
        self.assertEqual(found["vm", "web1", "halts"], 0)
        self.assertEqual(found["vm", "web1", "use"], 0)

    def test_a_vm_that_ends(self):
        gone = self.machine.root / f"proc/{PID}"
        away = gone.with_name("away")

        def end(_):
            # A read of a thread that has ended gives nothing, also by a file that is open.
            for stat in gone.glob("task/*/stat"):
                stat.write_text("")
            gone.rename(away)

        try:
            code, text = watched(self.machine, change=end, readings=2)
        finally:
            away.rename(gone)
        self.assertEqual(code, 0)
        rows, _ = values(text)
        self.assertEqual({row["time"] for row in rows if row["name"].startswith("web1")}, {rows[0]["time"]})
        self.assertEqual(len({row["time"] for row in rows}), 2)

    def test_prometheus(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hvtune.prom"
            path.write_text("old\n")
            with subprocess.Popen([HVTUNE, "top", "--prometheus", path, "--times", "2", "--refresh", "1", "--host",
                                   self.machine.root], stdout=subprocess.PIPE, text=True) as process:
                while path.read_text() == "old\n":
                    time.sleep(0.05)
                self.machine.set(1)
                self.assertEqual((process.stdout.read(), process.wait()), ("", 0))
            self.assertEqual(os.listdir(folder), ["hvtune.prom"])
            text = path.read_text()
            family = None
            for line in text.splitlines():
                if line.startswith("# "):
                    self.assertRegex(line, r"^# (HELP|TYPE) hvtune_[a-z0-9_]+ ")
                    family = line.split()[2]
                else:
                    self.assertRegex(line, r'^hvtune_[a-z0-9_]+(\{([a-z0-9_]+="[^"]*",?)+\})? [-+0-9.e]+$')
                    self.assertEqual(re.match(r"\w+", line)[0], family)
            self.assertIn('hvtune_cpu_c0_ratio{cpu="0",l3="0",package="0"} 0.5\n', text)
            self.assertRegex(text, r'hvtune_vm_halts_per_second\{vm="web1"\} [1-9]')
            self.assertRegex(text, r'hvtune_vcpu_cpu\{vm="web1",vcpu="1"\} 1\n')

    def test_a_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([HVTUNE, "top", "--batch", "--refresh", "1", "--host", self.machine.root], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "hvtune: standard output: cannot write: No space left on device\n"))

    def test_prometheus_could_not(self):
        done = hvtune("top", "--prometheus", "/no/such/hvtune.prom", "--times", "1", "--refresh", "1", "--host",
                      self.machine.root)
        self.assert_code(done, 3)
        self.assert_one_line(done.err)

    def test_usage(self):
        for arguments in (["--batch", "--refresh", "0.5"], ["--batch", "--refresh", "11"], ["--batch", "--times", "0"],
                          ["--batch", "x"], []):
            done = hvtune("top", *arguments)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)

    def test_a_closed_pipe_ends_it(self):
        done = subprocess.run(["sh", "-c", f'"{HVTUNE}" top --batch --refresh 1 --host "{self.machine.root}" | head -n 2'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=30, check=False)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertEqual(done.stderr, "")


class Terminal:
    """top on a pseudo terminal."""

    def __init__(self, *arguments, rows=30, columns=100):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.seen = ""
        self.process = subprocess.Popen([HVTUNE, "top", *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                        env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})

    def read(self, until=None, seconds=15):
        """What is drawn until `until` stands in it, or the process has ended."""
        end = time.monotonic() + seconds
        new = ""
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    new += os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    break
            if (until and until in plain(new)) or (not until and self.process.poll() is not None):
                break
        self.seen += new
        return plain(new)

    def type(self, text):
        os.write(self.master, text.encode())

    def size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)


def plain(text):
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>78M]", " ", text)
    return re.sub(r"[ \r\n]+", " ", text)


class Screen(Test):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.machine = Machine(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.machine.set(0)
        self.terminal = Terminal("--refresh", "1", "--host", self.machine.root)
        self.addCleanup(self.terminal.close)

    def assert_given_back(self, code=0):
        self.terminal.read()
        self.assertEqual(self.terminal.process.wait(10), code)
        self.assertEqual(termios.tcgetattr(self.terminal.slave), self.terminal.before)
        # The other screen is left, and the cursor is shown again.
        self.assertGreater(self.terminal.seen.rfind("\x1b[?1049l"), self.terminal.seen.rfind("\x1b[?1049h"))
        self.assertGreater(max(self.terminal.seen.rfind("\x1b[?25h"), self.terminal.seen.rfind("\x1b[?12l\x1b[?25h")),
                           self.terminal.seen.rfind("\x1b[?25l"))

    def test_what_is_drawn(self):
        first = self.terminal.read("q quit")
        self.assertIn("EPYC 9354P", first)
        self.assertIn("CCX 7", first)
        self.assertIn("web1", first)
        self.terminal.type("c")
        self.assertIn("core 0", self.terminal.read("core 0"))
        self.machine.set(1)
        self.assertRegex(self.terminal.read("50 %"), r"\d\.\d\d GHz +50 %")
        self.terminal.type("q")
        self.assert_given_back()

    def test_interrupt(self):
        self.terminal.read("q quit")
        self.terminal.type("\x03")
        self.assert_given_back()

    def test_signals(self):
        self.terminal.read("q quit")
        self.terminal.process.send_signal(signal.SIGTERM)
        self.assert_given_back()

    def test_another_size(self):
        self.terminal.read("q quit")
        self.terminal.size(12, 60)
        drawn = self.terminal.read("q quit")
        self.assertIn("CCX 0", drawn)
        self.assertNotIn("CCX 7", drawn)  # twelve rows do not hold it
        self.terminal.type("j" * 30)
        self.assertIn("web1", self.terminal.read("web1"))
        self.terminal.type("q")
        self.assert_given_back()

    def test_a_strange_terminal(self):
        for kind in ("no-such-terminal", "dumb", ""):
            done = subprocess.run(["script", "-qec", f"{HVTUNE} top --host {self.machine.root}", "/dev/null"],
                                  # ncurses itself keeps 1624 bytes of a terminal that it cannot use.
                                  env={**os.environ, "TERM": kind, "ASAN_OPTIONS": "detect_leaks=0"},
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, text=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 3)
            self.assertIn(f'of the kind "{kind}"; use --batch', done.stdout)


if __name__ == "__main__":
    unittest.main()
