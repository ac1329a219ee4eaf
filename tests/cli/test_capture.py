# SPDX-License-Identifier: GPL-3.0-or-later
"""A capture holds no secrets, answers as the machine does, and is written whole or not at all."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

from harness import HVTUNE, SANITIZED, TOP, Test, hvtune

sys.path.insert(0, str(TOP / "tests/hosts"))
import cases  # noqa: E402
import hosts  # noqa: E402

ASKED = (["check", "--all"], ["check", "--all", "--json"], ["show"], ["show", "--json"], ["show", "topology"])

# A live machine goes on living between two runs: facts read from these change by themselves, and are compared between
# a capture and a capture of that one instead.
LIVING = re.compile(r"/proc/(uptime|meminfo|\d+)|/proc$|node\d*/meminfo|/system/node$|/dev/kmsg|ksm/|hugepages|"
                    r"energy|hwmon|scaling_cur_freq|refcnt|cpu_dma_latency")


UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
VM_NAME = re.compile(r"\bvm[0-9a-f]{6}\b")


def numbered(text):
    """Every capture draws other UUIDs, a capture of a capture too: numbers for them, the same for the same."""
    numbers = {}
    return UUID.sub(lambda found: f"UUID-{numbers.setdefault(found[0].lower(), len(numbers))}", text)


def secrets_of(archive):
    """All bytes of an archive: names, targets and contents."""
    pieces = []
    with tarfile.open(archive) as tar:
        for entry in tar:
            pieces.append(f"{entry.name}\n{entry.linkname}\n{entry.uname}\n{entry.gname}\n".encode())
            if entry.isreg():
                pieces.append(tar.extractfile(entry).read())
    return b"\n".join(pieces)


class Captures(Test):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hvtune-capture-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def capture(self, *arguments, name="a.tar"):
        path = self.folder / name
        done = hvtune("capture", "-o", path, *arguments)
        self.assert_code(done, 0)
        self.assertEqual(done.err, "")
        return path

    def answers(self, *host):
        return {" ".join(asked): hvtune(*asked, *host) for asked in ASKED}

    def assert_same_answers(self, host, other):
        ours, theirs = self.answers("--host", host), self.answers("--host", other)
        for asked, answer in ours.items():
            self.assertIn(answer.code, (0, 1), f"{asked} --host {host}: {answer!r}")
            self.assertEqual(numbered(answer.out.replace(str(host), "HOST")),
                             numbered(theirs[asked].out.replace(str(other), "HOST")),
                             f"{asked}: {host} and its capture differ")
            self.assertEqual(answer.code, theirs[asked].code)


class Equality(Captures):
    def test_synthetic_machines(self):
        for name, path in hosts.names().items():
            with self.subTest(name):
                root = hosts.root_of(name, path)
                self.assert_same_answers(root, self.capture("--host", root, "--force"))

    def test_real_machines(self):
        wanted = ("util-linux/x86_64-epyc_7451", "hwloc/16amd64-8n2c", "ghw/linux-amd64-offlineCPUs",
                  "hwloc/offline-cpu0-node0", "derived/hwloc-AMD-19h-Zen4-2xEpyc-9654", "hosts-rebuilt/trees/e")
        for name, root in cases.trees().items():
            if any(part in name for part in wanted):
                with self.subTest(name):
                    self.assert_same_answers(root, self.capture("--host", root, "--force"))

    def test_this_machine(self):
        """Everything that stands still is the same; what lives is compared between a capture and its capture."""
        path = self.capture()
        self.assert_same_answers(path, self.capture("--host", path, name="b.tar"))

        def still(done):
            facts = []

            def walk(value):
                if isinstance(value, dict):
                    if "source" in value and "state" in value and not LIVING.search(str(value["source"])):
                        facts.append({key: value[key] for key in ("name", "state", "value", "source")
                                      if key in value})
                    for inner in value.values():
                        walk(inner)
                elif isinstance(value, list):
                    for inner in value:
                        walk(inner)
            walk(done.json())
            return facts
        live = still(hvtune("show", "--json"))
        self.assertGreater(len(live), 40)
        self.assertEqual(live, still(hvtune("show", "--json", "--host", path)))

        def without_free(done):
            """The free memory changes from moment to moment, and the width of its box with it."""
            return re.sub(r"─+|  +", "  ", re.sub(r"[\d.]+ ([KMGT]iB) free", r"N \1 free", done.out))
        self.assertEqual(without_free(hvtune("show", "topology")),
                         without_free(hvtune("show", "topology", "--host", path)))

    def test_each_format(self):
        root = hosts.root_of("epyc-9354p", hosts.names()["epyc-9354p"])
        expected = hvtune("show", "--json", "--host", root).out
        for suffix, magic in ((".tar.xz", b"\xfd7zXZ"), (".tar.zst", b"\x28\xb5\x2f\xfd"), (".tar.gz", b"\x1f\x8b"),
                              (".tar", b"hvtune-capture/")):
            path = self.capture("--host", root, name="x" + suffix)
            self.assertTrue(path.read_bytes().startswith(magic), suffix)
            self.assertEqual(hvtune("show", "--json", "--host", path).out, expected)

    def test_what_was_refused_stays_refused(self):
        root = self.folder / "root"
        (root / "sys/devices/system/cpu").mkdir(parents=True)
        (root / "sys/devices/system/cpu/online").write_text("0\n")
        (root / "proc").mkdir()
        (root / "proc/cmdline").symlink_to("cmdline")
        (root / "proc/uptime").write_bytes(b"1" * (8 * 1024 * 1024 + 1))
        path = self.capture("--host", root)
        with tarfile.open(path) as tar:
            manifest = json.load(tar.extractfile("hvtune-capture/hvtune-capture.json"))
        refused = {(look["path"], look["kind"]): look["errno"] for look in manifest["unreadable"]}
        self.assertEqual(refused[("/proc/cmdline", "file")], "ELOOP")
        self.assertEqual(refused[("/proc/uptime", "file")], "EFBIG")
        self.assert_same_answers(root, path)


class Secrets(Captures):
    VM = "acmeweb1"  # as long as the names that are drawn, for lines to break at the same places
    PLANTED = {
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=0b5c3f1e-4a7d-4c62-9f00-1d2e3f4a5b6c ro amd_pstate=active "
                        "ip=192.168.17.5:::::eth0 rd.lvm.lv=acmevg/root systemd.hostname=acmehost7\n",
        "proc/sys/kernel/hostname": "acmehost7\n",
        "proc/version": "Linux version 6.14.0 (mallory@acmehost7) (gcc 13) #1 SMP\n",
        "proc/mounts": "nas.acmenet.example:/vol /mnt/acmeproject nfs4 rw 0 0\n"
                       "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0\n",
        "etc/default/grub": "# ask mallory@acmenet.example\nGRUB_CMDLINE_LINUX=\"root=LABEL=acmedisk\"\n",
        "etc/tuned/active_profile": "throughput-performance\n",
        "sys/class/dmi/id/product_serial": "ACMESERIAL0815\n",
        "sys/class/dmi/id/sys_vendor": "Supermicro\n",
        "sys/class/net/enx3cecef123456/operstate": "up\n",
        "sys/class/net/enx3cecef123456/address": "3c:ec:ef:12:34:56\n",
        "sys/class/net/enx3cecef123456/device/numa_node": "0\n",
        "sys/fs/cgroup/machine.slice/machine-qemu\\x2d1\\x2dacmeweb1.scope/cgroup.procs": "4711\n",
        "etc/libvirt/qemu/acmeweb1.xml": "<domain><name>acmeweb1</name></domain>\n",
        "proc/4711/comm": "python3\n",
        "proc/4711/cmdline": "python3\0/home/mallory/train.py\0--key\0acmekey\0",
        "dev/kmsg": "6,1,1,-;Kernel command line: root=UUID=0b5c3f1e-4a7d-4c62-9f00-1d2e3f4a5b6c kvm\n"
                    "6,2,2,-;usb 1-1: SerialNumber: ACMESERIAL0815\n"
                    "4,3,3,-;Unknown kernel command line parameters \"amd_iommu=pt\", will be passed\n"
                    "6,4,4,-;kvm: acmehost7\n",
    }
    SECRETS = ["0b5c3f1e-4a7d", "192.168.17.5", "acmevg", "acmehost7", "mallory", "acmenet", "acmeproject", "acmedisk",
               "ACMESERIAL0815", "3cecef", "3c:ec:ef", "acmeweb", "acmekey"]

    def plant(self):
        root = self.folder / "root"
        shutil.copytree(hosts.root_of("epyc-9354p", hosts.names()["epyc-9354p"]), root, symlinks=True)
        for path, text in self.PLANTED.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).unlink(missing_ok=True)
            (root / path).write_text(text)
        return root

    def test_none_is_in_the_archive(self):
        root = self.plant()
        path = self.capture("--host", root)
        everything = secrets_of(path)
        for secret in self.SECRETS:
            self.assertNotIn(secret.encode(), everything)
        self.assertIn(b"amd_pstate=active", everything)
        self.assertIn(b"pagesize=2M", everything)
        self.assertIn(b"Supermicro", everything)
        # The owner of the files is nobody's business either.
        with tarfile.open(path) as tar:
            self.assertEqual({(entry.uid, entry.uname) for entry in tar}, {(0, "")})
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_two_captures_differ_in_every_replacement(self):
        root = self.plant()

        def replaced(path):
            return re.search(rb"root=UUID=([0-9a-f-]{36})", secrets_of(path)).group(1)
        one, other = (replaced(self.capture("--host", root, name=name)) for name in ("a.tar", "b.tar"))
        self.assertNotEqual(one, other)

    def test_answers_stay_but_for_the_names(self):
        root = self.plant()
        path = self.capture("--host", root)
        drawn = set()
        for asked in (["check"], ["show", "cpufreq"], ["show", "topology"], ["show", "memory"]):
            ours, theirs = (hvtune(*asked, "--host", host).out.replace(str(host), "") for host in (root, path))
            self.assertNotIn(self.VM, theirs)
            drawn.update(VM_NAME.findall(theirs))
            self.assertEqual(ours, VM_NAME.sub(self.VM, theirs))
        self.assertEqual(len(drawn), 1, "one VM has one name")


class Writing(Captures):
    def host(self):
        return hosts.root_of("epyc-9354p", hosts.names()["epyc-9354p"])

    def test_the_name_by_default(self):
        done = subprocess.run([HVTUNE, "capture", "--host", self.host()], cwd=self.folder, stdout=subprocess.PIPE,
                              text=True, check=True)
        self.assertRegex(os.listdir(self.folder)[0], r"^hvtune-capture-\d{8}\.tar\.xz$")
        self.assertIn("nonymised", done.stdout)
        self.assertIn("hvtune check --host hvtune-capture-", done.stdout)

    def test_a_file_that_is_there_stays(self):
        path = self.folder / "a.tar"
        path.write_text("mine")
        done = hvtune("capture", "-o", path, "--host", self.host())
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("--force", done.err)
        self.assertEqual(path.read_text(), "mine")
        self.assert_code(hvtune("capture", "-f", "-o", path, "--host", self.host()), 0)
        self.assertTrue(tarfile.is_tarfile(path))
        self.assertEqual(os.listdir(self.folder), ["a.tar"])

    def test_a_link_is_not_followed(self):
        target = self.folder / "target"
        target.write_text("mine")
        (self.folder / "a.tar").symlink_to(target)
        for force in ((), ("--force",)):
            done = hvtune("capture", "-o", self.folder / "a.tar", "--host", self.host(), *force)
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
        self.assertEqual(target.read_text(), "mine")

    def test_where_it_cannot_be_written(self):
        for path, words in (("a.zip", "tar.xz"), ("no/such/folder/a.tar", "No such file"), ("/proc/a.tar", "annot write")):
            done = hvtune("capture", "-o", self.folder / path if path[0] != "/" else path, "--host", self.host())
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
            self.assertIn(words, done.err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_full_disk(self):
        """A limit on the size of files stands for it."""
        limited = ["bash", "-c", 'trap "" XFSZ; ulimit -f 4; exec "$@"', "-"]
        done = hvtune("capture", "-o", self.folder / "a.tar", "--host", self.host(), prefix=limited)
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("cannot write: File too large", done.err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_text_is_no_machine(self):
        done = hvtune("capture", "-o", self.folder / "a.tar", "--host", "package:1 core:2 pu:1")
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipIf(SANITIZED, "too slow to meet the moment")
    def test_a_signal_leaves_nothing(self):
        """At whatever moment it arrives there is the whole file or none, even where nobody could clear away."""
        signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        try:
            os.close(os.open(self.folder, os.O_WRONLY | os.O_TMPFILE))
            signals += [signal.SIGKILL, signal.SIGUSR1, signal.SIGPIPE]
        except OSError:
            pass  # this file system has no files without a name
        root = hosts.root_of("2x-epyc-9654-nps4", hosts.names()["2x-epyc-9654-nps4"])
        stopped = 0
        for step in range(24):
            path = self.folder / "a.tar.xz"
            process = subprocess.Popen([HVTUNE, "capture", "-o", path, "--host", root], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(0.02 * (step + 1))
            process.send_signal(signals[step % len(signals)])
            process.wait()
            left = os.listdir(self.folder)
            if process.returncode == 0:
                self.assertEqual(left, ["a.tar.xz"])
                path.unlink()
            else:
                stopped += 1
                self.assertEqual(left, [])
        self.assertGreater(stopped, 0)

    def test_no_progress_line_where_it_is_quick(self):
        main, side = pty.openpty()
        subprocess.run([HVTUNE, "capture", "-o", str(self.folder / "a.tar"), "--host", str(self.host())],
                       stdout=subprocess.DEVNULL, stderr=side, check=True)
        os.close(side)
        try:
            shown = os.read(main, 100)
        except OSError:  # EIO: nothing was written, and the other side is closed
            shown = b""
        os.close(main)
        if not SANITIZED:
            self.assertEqual(shown, b"")
