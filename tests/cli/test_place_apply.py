# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune place --apply` and the knobs of VMs, on a directory that holds a machine, with a library in libvirt's place."""
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "hosts"))
import hosts  # noqa: E402
from harness import HVTUNE, Test, hvtune  # noqa: E402

FAKE = Path(HVTUNE).resolve().parent.parent.parent / "tests/fake"
UUID = "11111111-2222-4333-8444-{:012d}"
XML = """<?xml version="1.0"?>
<domain type="kvm">
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit="KiB">4194304</memory>
  <vcpu placement="static">4</vcpu>
  <cputune>
{pins}  </cputune>
  <os>
    <type arch="x86_64">hvm</type>
  </os>
  <cpu mode="host-passthrough">
    <topology sockets="1" cores="4" threads="1" clusters="1"/>
  </cpu>
  <devices>
    <graphics type="vnc" passwd="hush"/>
  </devices>
</domain>
"""
LIVE = ("<domain type='kvm' id='1'><name>{name}</name><uuid>{uuid}</uuid><memory>4194304</memory><vcpu>4</vcpu>"
        "<cputune>@PINS@</cputune><os><type>hvm</type></os>"
        "<cpu><topology sockets='1' cores='4' threads='1'/></cpu></domain>\n")
PID = 1000


@unittest.skipUnless((FAKE / "libvirt.so.0").exists(), "built without libvirt")
class Apply(Test):
    def setUp(self):
        name = "epyc-9354p"
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "root"
        # Links are faster than copies; write() never changes what another name has too.
        shutil.copytree(hosts.root_of(name, hosts.names()[name]), self.root, symlinks=True, copy_function=os.link)
        self.write("/etc/libvirt/test.xml", "<node/>\n")
        self.write("/sys/module/kvm_amd/refcnt", "12\n")
        self.write("/proc/sys/kernel/random/boot_id", "first\n")
        (self.root / "var/lib").mkdir(parents=True, exist_ok=True)
        # Across four CCXs, which are 0-3, 4-7 and so on, siblings 32 higher.
        self.libvirt_vm("web1", 1, (1, 9, 17, 25))

    def write(self, path, text):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text, encoding="utf-8")

    def read(self, path):
        return (self.root / path.lstrip("/")).read_text(encoding="utf-8")

    def process(self, pid, name, words, threads):
        (self.root / f"sys/kernel/debug/kvm/{pid}-14").mkdir(parents=True, exist_ok=True)
        self.write(f"/proc/{pid}/cmdline", "\0".join(["/usr/bin/qemu-system-x86_64", "-name",
                                                      f"guest={name},debug-threads=on", "-smp", "4", "-m", "4096",
                                                      *words]) + "\0")
        self.write(f"/proc/{pid}/stat", f"{pid} (qemu) S 1 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 9 0 5000 1 1\n")
        for tid, (comm, cpus) in threads.items():
            self.write(f"/proc/{pid}/task/{tid}/comm", comm + "\n")
            self.write(f"/proc/{pid}/task/{tid}/status", f"Name:\t{comm}\nCpus_allowed_list:\t{cpus}\n"
                                                         "Mems_allowed_list:\t0\n")

    def libvirt_vm(self, name, number, cpus):
        uuid, pid = UUID.format(number), PID * number
        pins = "".join(f'    <vcpupin vcpu="{vcpu}" cpuset="{cpu}"/>\n' for vcpu, cpu in enumerate(cpus))
        self.write(f"/etc/libvirt/qemu/{name}.xml", XML.format(name=name, uuid=uuid, pins=pins))
        self.write(f"/run/libvirt/qemu/{name}.live", LIVE.format(name=name, uuid=uuid))
        self.write(f"/run/libvirt/qemu/{name}.pid", f"{pid}\n")
        self.write(f"/run/libvirt/qemu/{name}.pins",
                   "".join(f"vcpu {vcpu} {cpu}\n" for vcpu, cpu in enumerate(cpus)) + "emulator 0 0-15\n")
        self.process(pid, name, ["-uuid", uuid, "-chardev", "socket,id=charmonitor,fd=30"],
                     {pid: ("qemu-system-x86", "0-15"),
                      **{pid + 1 + vcpu: (f"CPU {vcpu}/KVM", cpu) for vcpu, cpu in enumerate(cpus)}})

    def files(self):
        """What a change could touch, with what it holds."""
        return {str(path.relative_to(self.root)): path.read_bytes()
                for folder in ("etc", "run", "proc") for path in sorted((self.root / folder).rglob("*"))
                if path.is_file()}

    def affinity(self, pid, tid):
        for line in self.read(f"/proc/{pid}/task/{tid}/status").splitlines():
            if line.startswith("Cpus_allowed_list:"):
                return line.split()[1]
        return None

    def run_it(self, *arguments, fail_at=None):
        env = {"LD_LIBRARY_PATH": str(FAKE), **({"FAKE_LIBVIRT_FAIL_AT": str(fail_at)} if fail_at else {})}
        done = hvtune(*arguments, "--host", self.root, env=env)
        self.assert_clean(done)
        return done

    def one_ccx(self, pid):
        cpus = [int(self.affinity(pid, pid + 1 + vcpu)) for vcpu in range(4)]
        return len({cpu % 32 // 4 for cpu in cpus}) == 1

    def test_there_and_back(self):
        before = self.files()
        done = self.run_it("place", "web1", "--apply", "--yes")
        self.assert_code(done, 0)
        self.assertIn("Done, as change 1. To put it back: hvtune undo 1", done.out)
        self.assertIn("vm.pins", done.out)
        self.assertNotIn("hush", done.out)
        self.assertTrue(self.one_ccx(PID), done)
        self.assertEqual(self.affinity(PID, PID), self.read("/run/libvirt/qemu/web1.pins").split()[-1])
        self.assertIn('passwd="hush"', self.read("/etc/libvirt/qemu/web1.xml"))
        self.assertNotIn("hush", self.read("/var/lib/hvtune/journal"))
        self.assertIn("place web1 --apply", self.run_it("status").out)
        self.assert_code(self.run_it("undo"), 0)
        self.assertEqual(self.files(), before)

    def test_placed_already(self):
        self.assert_code(self.run_it("place", "web1", "--apply", "--yes"), 0)
        done = self.run_it("place", "web1", "--apply", "--yes")
        self.assert_code(done, 0)
        self.assertIn("Nothing to do.", done.out)

    def test_dry_run(self):
        before = self.files()
        done = self.run_it("place", "web1", "--apply", "--dry-run")
        self.assert_code(done, 0)
        self.assertRegex(done.out, r"\d+ writes, in this order:")
        self.assertEqual(self.files(), before)
        self.assertFalse((self.root / "var/lib/hvtune").exists())

    def test_asks(self):
        done = self.run_it("place", "web1", "--apply")
        self.assert_code(done, 2)
        self.assertIn("add --yes to apply or --dry-run to look", done.err)

    def test_json(self):
        whole = self.run_it("place", "web1", "--apply", "--dry-run", "--json").json()
        self.assertEqual([step["knob"] for step in whole["change"]["steps"]],
                         ["vm.definition", "vm.emulator", "vm.pins"])
        self.assertNotIn("result", whole["change"])
        self.assertEqual(whole["vms"][0]["name"], "web1")
        whole = self.run_it("place", "web1", "--apply", "--yes", "--json").json()
        self.assertEqual(whole["change"]["result"]["state"], "applied")

    def test_a_pin_that_fails(self):
        before = self.files()
        for call in (1, 2, 5, 8):
            done = self.run_it("place", "web1", "--apply", "--yes", fail_at=call)
            self.assert_code(done, 1)
            self.assert_one_line(done.err)
            self.assertIn("everything was put back", done.err)
            self.assertEqual(self.files(), before)

    def test_vms_that_change_places(self):
        self.libvirt_vm("web1", 1, (8, 9, 10, 11))
        self.libvirt_vm("db", 2, (1, 9, 17, 25))
        before = self.files()
        done = self.run_it("place", "--repin", "--apply", "--yes")
        self.assert_code(done, 0)
        self.assertTrue(self.one_ccx(PID) and self.one_ccx(2 * PID), done)
        taken = {self.affinity(pid, pid + 1 + vcpu) for pid in (PID, 2 * PID) for vcpu in range(4)}
        self.assertEqual(len(taken), 8)
        self.assert_code(self.run_it("undo"), 0)
        self.assertEqual(self.files(), before)

    def test_plain_qemu_in_files(self):
        self.process(3 * PID, "plain", [], {3000: ("qemu-system-x86", "0-63"),
                                            **{3001 + vcpu: (f"CPU {vcpu}/KVM", "0-63") for vcpu in range(4)}})
        done = self.run_it("place", "plain", "--apply", "--yes")
        self.assert_code(done, 1)
        self.assertIn("can only be moved on the running machine", done.err)

    def test_proxmox(self):
        before = self.files()
        self.write("/etc/pve/qemu-server/100.conf", "name: pve\ncores: 4\nmemory: 4096\n")
        done = self.run_it("place", "pve", "--apply", "--yes")
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("pve: is a VM of Proxmox", done.err)
        self.assertIn("qm set 100 --affinity", done.out)
        (self.root / "etc/pve/qemu-server/100.conf").unlink()
        self.assertEqual(self.files(), before)

    def test_no_room(self):
        for number in range(2, 12):
            self.libvirt_vm(f"vm{number}", number, (1, 9, 17, 25))
        done = self.run_it("place", "--move", "--smt", "isolated", "--apply", "--yes")
        self.assert_code(done, 1)
        self.assertIn("have no place, so nothing is changed", done.err)

    def test_libvirt_of_another(self):
        """libvirt is asked, and knows no such VM: it is somebody else's."""
        (self.root / "etc/libvirt/qemu/web1.xml").unlink()
        (self.root / "run/libvirt/qemu/web1.live").unlink()
        done = self.run_it("place", "web1", "--apply", "--yes")
        self.assert_code(done, 3)
        self.assertIn("web1: is run by the libvirt of a session", done.err)

    def test_usage(self):
        for arguments in (["--new", "4vcpu"], ["--file", self.root / "etc/libvirt/qemu/web1.xml"],
                          ["--what-if", "nps=4"], ["--format", "virsh"], ["--plan"], ["--svg", "-"],
                          ["--connect", "qemu:///session"], ["--yes", "--dry-run"], ["--json"]):
            done = self.run_it("place", "--apply", *arguments)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertEqual(done.out, "")
        self.assert_code(self.run_it("place", "web1", "--yes"), 2)

    def test_knobs(self):
        before = self.files()
        self.assertIn("vm.pins ", self.run_it("knobs").out)
        done = self.run_it("set", "vm.pins@web1=8-11", "vm.emulator@web1=0", "vm.pages@web1=2M", "--yes")
        self.assert_code(done, 0)
        self.assertEqual(self.affinity(PID, PID + 4), "11")
        self.assertIn('<page size="2048" unit="KiB"/>', self.read("/etc/libvirt/qemu/web1.xml"))
        self.assertIn("the next start of the VM", done.out)
        self.assert_code(self.run_it("undo"), 0)
        self.assertEqual(self.files(), before)
        done = self.run_it("set", "vm.pins@web1=8-10", "--yes")
        self.assert_code(done, 2)
        self.assert_one_line(done.err)


if __name__ == "__main__":
    unittest.main()
