# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine of files whose libvirt is the tests' own (tests/fake), with VMs whose guests are this machine through a real qemu-ga."""
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from harness import HVTUNE

FAKE = Path(HVTUNE).resolve().parent.parent.parent / "tests/fake"
AGENT = shutil.which("qemu-ga", path=os.environ.get("PATH", "") + ":/usr/sbin")
XML = "<domain type='kvm'><name>{0}</name><uuid>{1}</uuid><memory>4194304</memory><vcpu>4</vcpu><os><type>hvm</type></os></domain>\n"
READY = (FAKE / "libvirt.so.0").exists() and AGENT
WHY = "built without libvirt, or there is no qemu-ga (Debian: qemu-guest-agent)"


class Guests:
    def __init__(self, folder):
        self.root = Path(folder) / "vms"
        self.run = self.root / "run/libvirt/qemu"
        self.run.mkdir(parents=True)
        (self.root / "etc/libvirt/qemu").mkdir(parents=True)
        (self.root / "etc/libvirt/test.xml").write_text("<node/>\n")
        self.agents = {}
        self.env = {"LD_LIBRARY_PATH": str(FAKE), "FAKE_LIBVIRT_ROOT": str(self.root)}

    def add(self, name, number=1, running=True):
        xml = XML.format(name, f"11111111-2222-4333-8444-{number:012d}")
        (self.root / f"etc/libvirt/qemu/{name}.xml").write_text(xml)
        if running:
            (self.run / f"{name}.live").write_text(xml)
            (self.run / f"{name}.pid").write_text("1\n")

    def start_agent(self, name, *options):
        """A real agent at the VM's channel; its programs run here."""
        socket = self.run / f"{name}.agent"
        state = self.root / f"state-{name}"
        state.mkdir(exist_ok=True)
        self.agents[name] = subprocess.Popen(
            [AGENT, "-m", "unix-listen", "-p", str(socket), "-t", str(state), "-f", str(state / "pid"), *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + 20
        while not socket.exists() and time.monotonic() < until:
            time.sleep(0.02)

    def stop_agent(self, name):
        agent = self.agents.pop(name)
        agent.kill()
        agent.wait()

    def freeze_agent(self, name, frozen=True):
        self.agents[name].send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def close(self):
        for name in list(self.agents):
            self.freeze_agent(name, False)
            self.stop_agent(name)
