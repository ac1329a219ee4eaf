# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads of a QEMU whose threads have no names: its monitor tells, a fake one's and a real one's."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from harness import SANITIZED, Done, Test, hvtune
from test_readonly import changes, trace

QEMU = "qemu-system-x86_64"
WAIT_S = 20

# What plays QEMU: a thread for each vCPU, kept to a CPU, and a monitor; all threads have the name of the process.
FAKE = """
import json, os, socket, sys, threading
path, cpus, manners = sys.argv[sys.argv.index("-qmp") + 1][5:].split(",")[0], json.loads(os.environ["FAKE_CPUS"]), os.environ["FAKE_MANNERS"]
tids, ready = {}, threading.Barrier(len(cpus) + 1)

def vcpu(index):
    tids[index] = threading.get_native_id()
    os.sched_setaffinity(0, [cpus[index]])
    ready.wait()
    threading.Event().wait()

for index in range(len(cpus)):
    threading.Thread(target=vcpu, args=(index,), daemon=True).start()
ready.wait()
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(1)
print("ready", flush=True)
while True:
    client, _ = listener.accept()
    if manners == "silent":
        client.recv(4096)
        continue
    client.sendall(b'{"QMP": {"version": {}, "capabilities": []}}\\r\\n')
    for line in client.makefile("rb"):
        command = json.loads(line)["execute"]
        print(command, flush=True)
        answer = {}
        if command == "query-cpus-fast":
            # Not in the order of their threads.
            answer = [{"cpu-index": i, "thread-id": tids[i], "target": "x86_64", "qom-path": "/machine"}
                      for i in reversed(range(len(cpus)))]
        elif command == "query-iothreads":
            answer = []
        client.sendall(json.dumps({"return": answer}).encode() + b"\\r\\n")
    client.close()
"""


class Qmp(Test):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="qmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.socket = self.folder / "monitor"

    def start(self, command, **settings):
        """Start a process that is found as a VM, or skip where VMs without KVM are looked for in control groups only."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, **settings)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def rows(self, name):
        """What `show vms` says of a VM of this machine: label to text."""
        done = hvtune("show", "vms", "--json")
        self.assert_code(done, 0)
        self.assert_clean(done)
        rows = {}
        for row in done.json()["facts"]["vms"]:
            if row.get("section") == name:
                rows.setdefault(row["label"], []).append(row["value"])
        if not rows:
            self.skipTest("a VM without KVM is not looked for on this machine")
        return rows

    def answered(self, name):
        """The rows as soon as the monitor was asked: it may be starting, or be about to see that a client has gone."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            rows = self.rows(name)
            if rows["vCPUs may run on"] != [None]:
                break
            time.sleep(0.1)
        return rows

    def fake(self, cpus, manners="good"):
        program = self.folder / QEMU
        program.symlink_to(os.path.realpath(sys.executable))
        script = self.folder / "fake.py"
        script.write_text(FAKE)
        process = self.start([program, "-B", script, "-name", "guest=faked", "-smp", str(len(cpus)), "-m", "64",
                              "-qmp", f"unix:{self.socket},server=on,wait=off"],
                             env={**os.environ, "FAKE_CPUS": json.dumps(cpus), "FAKE_MANNERS": manners})
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_a_monitor_is_asked_which_thread_is_which(self):
        cpu = min(os.sched_getaffinity(0))
        process = self.fake([cpu, cpu, cpu])
        rows = self.rows("faked")
        self.assertEqual(rows["vCPUs may run on"], [str(cpu)])
        self.assertNotIn("Remark", rows)
        # Nothing else was asked, and the connection is gone.
        process.kill()
        self.assertEqual(process.stdout.read().split(), ["qmp_capabilities", "query-cpus-fast", "query-iothreads"])

    def test_one_that_serves_another_is_left_alone(self):
        self.fake([0])
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.socket))
            client.recv(4096)
            before = time.monotonic()
            rows = self.rows("faked")
            self.assertLess(time.monotonic() - before, 1.5)
            self.assertIn("its monitor (QMP) serves another client", rows["Remark"][0])
            # Its client was not disturbed.
            client.sendall(b'{"execute": "qmp_capabilities"}\n')
            self.assertIn(b"return", client.recv(4096))

    def test_one_that_does_not_answer_is_given_up(self):
        self.fake([0], manners="silent")
        before = time.monotonic()
        rows = self.rows("faked")
        self.assertLess(time.monotonic() - before, 5)
        self.assertIn("its monitor (QMP) does not answer", rows["Remark"][0])

    @unittest.skipUnless(shutil.which("strace") and not SANITIZED, "strace is not there, or sees the sanitizer's files")
    def test_nothing_else_is_done(self):
        self.fake([0])
        self.answered("faked")  # or skip
        done, lines = trace("show", "vms")
        if not lines and "ptrace" in done.stderr.lower():
            self.skipTest("this place does not let strace trace")
        self.assert_code(Done(done), 0)
        calls = [line for line in changes(lines) if '"/proc/self/fd/' not in line]
        self.assertEqual([re.sub(r"\(.*", "", call) for call in calls], ["socket"])
        self.assertIn("AF_UNIX", calls[0])

    @unittest.skipUnless(shutil.which("setpriv") and os.geteuid() == 0, "only root can be somebody else")
    def test_other_users_are_told(self):
        self.fake([0])
        nobody = hvtune("show", "vms", prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
        if nobody.code != 0 or "faked" not in nobody.out:
            self.skipTest("nobody cannot run the program or see processes here")
        self.assertIn("asking its monitor (QMP) needs root", " ".join(nobody.out.split()))

    @unittest.skipUnless(shutil.which(QEMU), f"{QEMU} is not there")
    def test_a_real_qemu(self):
        """vCPUs and I/O threads of a stopped guest, without names, each kept to a CPU by hand."""
        cpus = sorted(os.sched_getaffinity(0))
        process = self.start([QEMU, "-name", "guest=real,debug-threads=off", "-machine", "q35", "-accel",
                              "tcg,thread=multi", "-smp", "2", "-m", "64", "-display", "none", "-nodefaults", "-S",
                              "-object", "iothread,id=io1",
                              "-qmp", f"unix:{self.socket},server=on,wait=off"])
        until = time.monotonic() + WAIT_S
        while not self.socket.exists() and time.monotonic() < until and process.poll() is None:
            time.sleep(0.05)
        if process.poll() is not None:
            self.skipTest("QEMU does not start here: " + process.stdout.read().strip().splitlines()[-1])
        rows = self.answered("real")
        names = {Path(f"/proc/{process.pid}/task/{tid}/comm").read_text() for tid in os.listdir(f"/proc/{process.pid}/task")}
        if any(name.startswith("CPU ") for name in names):
            self.skipTest("this QEMU names its threads whatever it is told")
        self.assertNotIn("Remark", rows)
        self.assertEqual(rows["vCPUs may run on"], [text_of(cpus)])
        self.assertEqual(rows["vCPUs"], ["2"])
        self.assertEqual(rows["I/O threads"], [f"io1 on {text_of(cpus)}"])
        for thread in self.ask("query-cpus-fast"):
            os.sched_setaffinity(thread["thread-id"], cpus[:1])
        self.assertEqual(self.answered("real")["vCPUs may run on"], [str(cpus[0])])

    def ask(self, command):
        """What the monitor answers; its one place for a client is free again then."""
        with socket.socket(socket.AF_UNIX) as client, client.makefile("rw") as lines:
            client.connect(str(self.socket))
            lines.readline()
            for line in ("qmp_capabilities", command):
                lines.write(json.dumps({"execute": line}) + "\n")
                lines.flush()
                answer = json.loads(lines.readline())
        return answer["return"]


def text_of(cpus):
    """A list as the kernel writes it: 0-3,8"""
    runs = []
    for cpu in cpus:
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
