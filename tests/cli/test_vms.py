# SPDX-License-Identifier: GPL-3.0-or-later
"""All VMs of a host: `check` and `show vms` on declared ones, on one that runs, and from a capture."""
import os
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "hosts"))
import hosts  # noqa: E402
from harness import Test, hvtune  # noqa: E402

XML = """<domain type='kvm'>
  <name>web1</name>
  <memory unit='GiB'>4</memory>
  <vcpu>4</vcpu>
  <cputune>
    <vcpupin vcpu='0' cpuset='0'/>
    <vcpupin vcpu='1' cpuset='1'/>
    <vcpupin vcpu='2' cpuset='2'/>
    <vcpupin vcpu='3' cpuset='3'/>
    <emulatorpin cpuset='4-5'/>
  </cputune>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <cpu mode='host-passthrough'>
    <topology sockets='1' cores='2' threads='2'/>
    <feature policy='require' name='topoext'/>
  </cpu>
  <devices><graphics type='vnc' passwd='hush'/></devices>
</domain>
"""
PROCESS = ["qemu-system-x86_64", "-name", "guest=web1,debug-threads=on", "-machine", "q35,accel=kvm", "-m", "4096",
           "-smp", "4,sockets=1,cores=2,threads=2", "-cpu", "host,topoext=on"]
PID = 4242


class Vms(Test):
    def setUp(self):
        name = "epyc-9354p"
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "root"
        # Links are faster than copies; write() never changes what another name has too.
        shutil.copytree(hosts.root_of(name, hosts.names()[name]), self.root, symlinks=True, copy_function=os.link)
        self.write("/etc/libvirt/qemu/web1.xml", XML)

    def write(self, path, text):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text, encoding="utf-8")

    def start(self, cpu_of_vcpu_3):
        """A process of QEMU with its threads, as /proc shows them."""
        self.write("/sys/module/kvm_amd/refcnt", "12\n")
        self.write(f"/proc/{PID}/cmdline", "\0".join(PROCESS) + "\0")
        self.write(f"/proc/{PID}/comm", "qemu-system-x86\n")
        threads = {PID: ("qemu-system-x86", "4-5")}
        for vcpu in range(4):
            threads[PID + 1 + vcpu] = (f"CPU {vcpu}/KVM", str(cpu_of_vcpu_3 if vcpu == 3 else vcpu))
        for tid, (comm, cpus) in threads.items():
            self.write(f"/proc/{PID}/task/{tid}/comm", comm + "\n")
            self.write(f"/proc/{PID}/task/{tid}/status", f"Name:\t{comm}\nTgid:\t{PID}\nPid:\t{tid}\n"
                                                         f"Cpus_allowed_list:\t{cpus}\n")
        self.write(f"/proc/{PID}/status", f"Name:\tqemu-system-x86\nTgid:\t{PID}\nPid:\t{PID}\n"
                                          "Cpus_allowed_list:\t4-5\n")

    def check(self, host=None):
        done = hvtune("check", "--json", "--host", host or self.root)
        self.assert_code(done, 0, 1)
        self.assert_clean(done)
        whole = done.json()
        return whole["vms"], {finding["id"]: finding for finding in whole["findings"] if "vm" in finding}

    def test_declared(self):
        vms, findings = self.check()
        self.assertEqual(vms, [{"name": "web1", "state": "defined"}])
        finding = findings["vm.sibling-order"]
        self.assertEqual((finding["vm"], finding["line"]), ("web1", 6))
        self.assertTrue(finding["path"].endswith("/etc/libvirt/qemu/web1.xml"))

    def test_running(self):
        self.start(3)
        vms, findings = self.check()
        self.assertEqual(vms, [{"name": "web1", "state": "running"}])
        self.assertIn("vm.sibling-order", findings)
        self.assertNotIn("vm.affinity-differs", findings)
        done = hvtune("check", "--host", self.root)
        self.assertIn("1 VM running", " ".join(done.out.split()))
        self.assertIn("web1: ", done.out)

    def test_affinity_changed_by_hand(self):
        self.start(9)
        _, findings = self.check()
        self.assertIn("vCPU 3 on 9 instead of 3", findings["vm.affinity-differs"]["title"])

    def lint(self, xml, *options):
        done = hvtune("lint", "--json", "--host", self.root, "-", stdin=xml)
        self.assert_code(done, 0, 1)
        self.assert_clean(done)
        return done.code, {finding["id"]: finding for finding in done.json()[0]["findings"]}

    def test_lint_judges_the_file_and_notes_what_runs(self):
        """A draft with good pins beside a VM that runs elsewhere: the pins of the draft are judged."""
        self.start(9)
        siblings = XML
        for vcpu, cpu in enumerate((0, 32, 1, 33)):
            siblings = siblings.replace(f"vcpu='{vcpu}' cpuset='{vcpu}'", f"vcpu='{vcpu}' cpuset='{cpu}'")
        code, draft = self.lint(siblings.replace("<memory unit='GiB'>4<", "<memory unit='GiB'>8<"))
        self.assertNotIn("vm.sibling-order", draft)
        self.assertEqual(draft["vm.affinity-differs"]["severity"], "info")
        self.assertIn("vCPU 1 on 1 instead of 32", draft["vm.affinity-differs"]["title"])
        self.assertEqual(draft["vm.definition-differs"]["severity"], "info")
        self.assertIn("4 GiB of memory instead of 8 GiB: this file holds from its next start on",
                      draft["vm.definition-differs"]["title"])
        alone = self.lint(siblings.replace("web1", "web2"))
        self.assertFalse({"vm.affinity-differs", "vm.definition-differs"} & alone[1].keys())
        self.assertEqual(code, alone[0], "notes change no exit code")

    def test_lint_pairs_by_uuid_before_name(self):
        self.start(9)
        uuid = "5f7d6b9e-33a1-4d0e-8a54-0a2d6b1c8f11"
        self.write(f"/proc/{PID}/cmdline", "\0".join([*PROCESS, "-uuid", uuid]) + "\0")
        for own, there in ((uuid.upper(), True), (uuid.replace("5f", "6f"), False)):
            _, findings = self.lint(XML.replace("</name>", f"</name><uuid>{own}</uuid>"))
            self.assertEqual("vm.affinity-differs" in findings, there, own)

    def test_what_the_guest_sees_differs(self):
        for declared, running, said in (
                ("<topology sockets='1' cores='2' threads='2'/>", ["-smp", "4,sockets=4"],
                 "topology 4 x 1 x 1 x 1 instead of 1 x 1 x 2 x 2"),
                ("<topology sockets='1' cores='2' threads='2'/>", ["-cpu", "EPYC-Milan"],
                 "CPU model EPYC-Milan instead of the host's"),
                ("<cache mode='passthrough'/>", [], "caches that are not the host's"),
                ("<numa><cell id='0' cpus='0-1' memory='2' unit='GiB'/><cell id='1' cpus='2-3' memory='2' unit='GiB'/></numa>",
                 [], "0 NUMA cells instead of 2")):
            with self.subTest(said):
                self.write("/etc/libvirt/qemu/web1.xml", XML.replace("<topology sockets='1' cores='2' threads='2'/>",
                                                                     declared))
                self.start(3)
                self.write(f"/proc/{PID}/cmdline", "\0".join([*PROCESS, *running]) + "\0")
                self.assertIn(said, self.check()[1]["vm.definition-differs"]["title"])

    def test_show(self):
        self.start(9)
        done = hvtune("show", "vms", "--host", self.root)
        self.assert_code(done, 0)
        self.assert_clean(done)
        for part in ("web1", f"running, process {PID}", "0-3, one to one", "0-2,9", "4-5", "4 GiB"):
            self.assertIn(part, done.out)

    def test_capture_holds_them_without_secrets(self):
        self.start(9)
        archive = self.folder / "host.tar.xz"
        self.assert_code(hvtune("capture", "--host", self.root, "-o", archive), 0)
        vms, findings = self.check(archive)
        self.assertEqual([vm["state"] for vm in vms], ["running"])
        self.assertNotEqual(vms[0]["name"], "web1")
        self.assertEqual(set(findings), set(self.check()[1]))
        shutil.unpack_archive(archive, self.folder / "unpacked")
        for file in (self.folder / "unpacked").rglob("*"):
            if file.is_file():
                text = file.read_text(encoding="utf-8", errors="replace")
                self.assertNotIn("web1", text, file)
                self.assertNotIn("hush", text, file)

    def test_what_is_no_vm_is_told(self):
        self.write("/etc/libvirt/qemu/broken.xml", "<domain")
        done = hvtune("check", "--host", self.root)
        self.assertRegex(done.out, r"(?m)^A VM is not looked at: .*/etc/libvirt/qemu/broken.xml: ")
        self.assertRegex(hvtune("show", "vms", "--host", self.root).out, r"Not readable .*broken.xml: ")
        self.assertEqual(len(hvtune("check", "--json", "--host", self.root).json()["vms_unread"]), 1)

    @unittest.skipUnless(shutil.which("setpriv") and os.geteuid() == 0, "only root can be somebody else")
    def test_files_of_root(self):
        """A folder that everybody may list, with files that they may not read, as Debian has it."""
        self.folder.chmod(0o755)
        (self.root / "etc/libvirt/qemu/web1.xml").chmod(0o600)
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        done = hvtune("check", "--host", self.root, prefix=nobody)
        self.assertIn("VMs that do not run are not looked at: /etc/libvirt/qemu needs root.\n", done.out)
        self.assertNotIn("A VM is not looked at", done.out)
        self.assertRegex(hvtune("show", "vms", "--host", self.root, prefix=nobody).out, "Not readable .*needs root")


class Connect(Test):
    """libvirt asked at a URI: its test driver needs no daemon."""

    def test_vms_of_a_uri(self):
        done = hvtune("show", "vms", "--connect", "test:///default")
        if done.code == 3 and ("cannot be loaded" in done.err or "without libvirt" in done.err):
            self.skipTest(done.err.strip())
        self.assert_code(done, 0)
        self.assert_clean(done)
        for part in ("test\n", "running", "8 GiB"):
            self.assertIn(part, done.out)
        self.assertIn({"name": "test", "state": "running"},
                      hvtune("check", "-c", "test:///default", "--json").json()["vms"])

    def test_what_cannot_be_asked(self):
        capture = hosts.names()["lab-active"]
        for part, options in (("another host's libvirt", ["-c", "qemu+ssh://other/system"]),
                              ("leave out one of", ["-c", "test:///default", "--host", capture])):
            done = hvtune("show", "vms", *options)
            self.assert_code(done, 3)
            self.assertIn(part, done.err)
            self.assert_one_line(done.err)
