# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads in a VM through its guest agent, a real qemu-ga: its clock measures, words arrive as they are, what is ended ends there too,
and every fault on the way is told in its own words."""
import os
import shlex
import signal
import subprocess
import time
import unittest
from pathlib import Path

from guests import READY, WHY, Guests
from harness import HVTUNE, hvtune
from test_run import Measuring

# It measures, or changes this machine.
ONE_AT_A_TIME = True


@unittest.skipUnless(READY, WHY)
class Guest(Measuring):
    def setUp(self):
        super().setUp()
        self.guests = Guests(self.folder.name)
        self.addCleanup(self.guests.close)
        self.guests.add("web")
        self.env.update(self.guests.env)

    def run_there(self, *arguments, code=0):
        if "web" not in self.guests.agents:
            self.guests.start_agent("web")
        done = hvtune("run", "--json", "--on", "vm:web", *arguments, env=self.env)
        self.assert_code(done, code)
        return done.json()["result"]

    def left(self):
        return list(Path("/tmp").glob("hvtune-run.*"))

    def test_the_clock_of_the_guest(self):
        before = self.left()
        result = self.run_there("--runs", 3, "--", "sleep", "0.1")
        self.assertGreaterEqual(result["minimum"], 0.1)
        self.assertLess(result["median"] if isinstance(result["median"], float) else result["minimum"], 0.4)
        self.assertEqual(self.rows("SELECT place FROM configuration"), [("vm:web",)])
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self.assertEqual(self.rows("SELECT DISTINCT clock, vm_boot FROM run"), [(os.uname().nodename, boot)])
        self.assertEqual(self.left(), before)

    def test_words_arrive_as_they_are(self):
        for words in (["a  b", "$HOME", "it's", "`x`", '"q"', "*", "\\"], ["", "x", "a\nb"]):
            script = "import sys; print(len(sys.argv) - 1 + (sys.argv[1:] == " + repr(words) + ") * 100)"
            result = self.run_there("--runs", 1, "--warmup", 0, "--metric", "x=regex:([0-9]+)", "--", "python3", "-c", script, *words)
            self.assertEqual(result["values"], [100 + len(words)], shlex.join(words))

    def test_surroundings(self):
        given = Path(self.folder.name) / "input"
        given.write_bytes(b"7\n")
        result = self.run_there("--runs", 1, "--warmup", 0, "--cwd", self.folder.name, "--env", "A=4 2", "--input", given, "--metric",
                                "x=regex:(.*)", "--shell", "--",
                                '[ "$PWD" = ' + self.folder.name + ' ] && [ "$A" = "4 2" ] && [ -n "$HOME" ] && cat')
        self.assertEqual(result["values"], [7])
        result = self.run_there("--runs", 1, "--warmup", 0, "--exit-code", 3, "--", "sh", "-c", "exit 3")
        self.assertEqual(result["runs"], 1)
        given.write_bytes(bytes(2 << 20))
        done = hvtune("run", "--on", "vm:web", "--input", given, "--", "true", env=self.env)
        self.assert_code(done, 3)
        self.assertIn("a guest agent takes at most 1 MiB of input", done.err)

    def test_cpu_time(self):
        result = self.run_there("--runs", 1, "--warmup", 0, "--shell", "--", "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done")
        user = next(metric["mean"] for metric in result["metrics"] if metric["name"] == "user time")
        self.assertGreater(user, 0.02)
        self.assertLessEqual(user, result["minimum"] * 1.5)

    def test_hooks_run_there(self):
        mark = Path(self.folder.name) / "mark"
        self.run_there("--runs", 2, "--warmup", 0, "--setup", f"cp /dev/null {mark}", "--prepare", f"test -e {mark}", "--cleanup",
                       f"rm {mark}", "--", "true")
        self.assertFalse(mark.exists())
        done = hvtune("run", "--on", "vm:web", "--setup", "sh -c 'echo no >&2; exit 2'", "--", "true", env=self.env)
        self.assert_code(done, 3)
        self.assertEqual(done.err, "hvtune: --setup: this command failed with exit code 2: no\n")

    def test_what_fails(self):
        result = self.run_there("--", "sh", "-c", "echo broken >&2; exit 9", code=1)
        self.assertEqual(result["void"], 3)
        self.assertEqual(self.rows("SELECT DISTINCT why FROM run"), [("exit code 9: broken",)])

    def test_much_output(self):
        much = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo value 12"
        result = self.run_there("--runs", 1, "--warmup", 0, "--shell", "--", much)
        self.assertEqual(result["runs"], 1)
        self.run_there("--runs", 1, "--warmup", 0, "--metric", "x=regex:value ([0-9]+)", "--shell", "--", much, code=1)
        (why,), = self.rows("SELECT DISTINCT why FROM run WHERE state = 'invalid'")
        self.assertIn("it printed 2.9 MiB, of which a guest agent brings the first 1 MiB", why)

    def test_what_is_left_running_is_not_waited_for(self):
        pid = Path(self.folder.name) / "pid"
        started = time.monotonic()
        result = self.run_there("--runs", 1, "--warmup", 0, "--shell", "--", f"sleep 300 & echo $! > {pid}")
        os.kill(int(pid.read_text()), signal.SIGKILL)
        self.assertEqual(result["runs"], 1)
        self.assertLess(time.monotonic() - started, 60)

    def ended(self, pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    def assert_ends(self, path):
        pid = int(path.read_text())
        until = time.monotonic() + 20
        while not self.ended(pid) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertTrue(self.ended(pid))

    def test_timeout_ends_it_there(self):
        pid = Path(self.folder.name) / "pid"
        before = self.left()
        for trap in ("", "trap '' TERM; "):
            self.run_there("--runs", 1, "--warmup", 0, "--timeout", 0.4, "--shell", "--", f"{trap}sleep 300 & echo $! > {pid}; wait; wait",
                           code=1)
            self.assert_ends(pid)
        whys = self.rows("SELECT DISTINCT why FROM run")
        self.assertEqual(whys, [("it did not end within 0.4 s",)])
        self.assertEqual(self.left(), before)

    def test_ctrl_c_ends_it_there(self):
        pid = Path(self.folder.name) / "pid"
        self.guests.start_agent("web")
        process = subprocess.Popen([HVTUNE, "run", "--on", "vm:web", "--shell", "--", f"sleep 300 & echo $! > {pid}; wait"],
                                   env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while not (pid.exists() and pid.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.wait(30)
        self.assert_ends(pid)

    def test_a_guest_that_is_lost(self):
        self.guests.start_agent("web")
        live = self.guests.run / "web.live"
        process = subprocess.Popen([HVTUNE, "run", "--on", "vm:web", "--runs", "1", "--warmup", "0", "--", "sleep", "2"],
                                   env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        live.unlink()
        self.assertEqual(process.wait(60), 3)
        whys = [why for why, in self.rows("SELECT why FROM run ORDER BY id")]
        self.assertIn("it was lost: the VM is off", whys[0])
        self.assertIn("it could not be started: the VM is off", whys[1])

    def refused(self, *expected, on="vm:web", command="true", code=3):
        done = hvtune("run", "--on", on, "--", command, env=self.env)
        self.assert_code(done, code)
        for text in expected:
            self.assertIn(text, done.err)

    def test_faults_are_told_apart(self):
        self.refused("ssh:HOST or vm:NAME", on="web", code=2)
        self.refused("ssh:HOST or vm:NAME", on="vm:", code=2)
        self.refused("libvirt knows no such VM", on="vm:nobody")
        self.refused("QEMU guest agent is not connected", "install and start qemu-guest-agent in the guest")
        mute = self.guests.run / "web.mute"
        mute.touch()
        self.refused("QEMU guest agent is not configured", "org.qemu.guest_agent.0")
        mute.unlink()
        self.guests.start_agent("web", "-b", "guest-exec")
        self.refused("its guest agent does not carry out guest-exec", "block-rpcs in /etc/qemu/qemu-ga.conf")
        self.guests.stop_agent("web")
        (self.guests.run / "web.agent").unlink(missing_ok=True)
        self.guests.start_agent("web")
        self.refused("there is no such program in the VM web", command="no-such-program")
        self.guests.freeze_agent("web")
        self.refused("QEMU guest agent is not connected")
        (self.guests.run / "web.live").unlink()
        self.refused("the VM is off, so nothing can be run in it", "virsh start web")

    def test_compare(self):
        self.guests.start_agent("web")
        done = hvtune("compare", "--on", "vm:web", "--no-calibration", "--blocks", 3, "--warmup", 0, "--metric", "x=regex:([0-9]+)",
                      "echo 100", "echo 120", env=self.env)
        self.assert_code(done, 0)
        self.assertIn("echo 120 has 20", " ".join(done.out.split()))


if __name__ == "__main__":
    unittest.main()
