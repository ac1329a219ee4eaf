# SPDX-License-Identifier: GPL-3.0-or-later
"""Broken and hostile hosts: one clear line or states of facts, never a crash, a hang or a look outside."""
import gzip
import io
import lzma
import os
import random
import shutil
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

from harness import SANITIZED, TOP, Test, hvtune

sys.path.insert(0, str(TOP / "tests/hosts"))
import hosts  # noqa: E402

ASKED = (["check", "--all", "--json"], ["show", "topology"], ["show", "--sources"])
MIB = 1024 * 1024


def entry(name, data=b"", kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data) if kind == tarfile.REGTYPE else 0
    return info, data


MACHINE = [entry("proc/cpuinfo", b"processor\t: 0\nvendor_id\t: AuthenticAMD\n"),
           entry("sys/devices/system/cpu/online", b"0\n")]


class Hosts(Test):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hvtune-hostile-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def tar(self, *entries, name="a.tar", mode="w"):
        path = self.folder / name
        with tarfile.open(path, mode) as tar:
            for info, data in entries:
                tar.addfile(info, io.BytesIO(data))
        return path

    def assert_refused(self, path, *words):
        done = hvtune("check", "--host", path)
        self.assert_code(done, 3)
        self.assertEqual(done.out, "")
        self.assert_one_line(done.err)
        for word in words:
            self.assertIn(word, done.err)

    def assert_read(self, path):
        """It is a host, whatever it lacks."""
        for asked in ASKED:
            done = hvtune(*asked, "--host", path)
            self.assert_code(done, 0, 1)
            self.assert_clean(done)
            self.assertEqual(done.err, "")
        return hvtune("show", "--host", path).out


class Archives(Hosts):
    def test_entries_that_leave(self):
        for bad, words in ((entry("../evil", b"x"), '".."'), (entry("sys/../../evil", b"x"), '".."'),
                           (entry("/../evil", b"x"), '".."'),
                           (entry("evil", kind=tarfile.SYMTYPE, link="../x"), "a link that leads out"),
                           (entry("sys/evil", kind=tarfile.SYMTYPE, link="a/../../../x"), "a link that leads out"),
                           (entry("evil", kind=tarfile.LNKTYPE, link="../x"), "a hard link out"),
                           (entry("evil", kind=tarfile.LNKTYPE, link="/etc/shadow"), "what is not in the archive"),
                           (entry("../evil", kind=tarfile.FIFOTYPE), '".."'),
                           (entry("proc/cpuinfo/x", b"x"), "both file and directory")):
            self.assert_refused(self.tar(*MACHINE, bad), "refused", words)

    def test_an_entry_through_a_link(self):
        self.assert_refused(self.tar(*MACHINE, entry("a", kind=tarfile.SYMTYPE, link="/tmp"), entry("a/b", b"x")),
                            "refused")

    def test_links_stay_inside(self):
        """An absolute link is looked up in the archive: this machine's own command line is not what it leads to."""
        shown = self.assert_read(self.tar(*MACHINE, entry("proc/cmdline", kind=tarfile.SYMTYPE, link="/proc/version"),
                                          entry("proc/version", b"Linux version inside")))
        self.assertRegex(shown, r"inside +set")
        shown = self.assert_read(self.tar(*MACHINE, entry("proc/cmdline", kind=tarfile.SYMTYPE, link="/etc/hostname")))
        self.assertRegex(shown, r"Absent +Command line")

    def test_loops(self):
        shown = self.assert_read(self.tar(*MACHINE, entry("proc/cmdline", kind=tarfile.SYMTYPE, link="b"),
                                          entry("proc/b", kind=tarfile.SYMTYPE, link="cmdline"),
                                          entry("sys/class", kind=tarfile.SYMTYPE, link="class")))
        self.assertIn("a loop of links", shown)

    def test_a_link_that_grows(self):
        """Each hop makes the path longer: a limit, not memory, ends it."""
        self.assert_read(self.tar(*MACHINE, entry("proc/cmdline", kind=tarfile.SYMTYPE, link="cmdline/" + "a/" * 1500)))

    def test_devices_are_absent(self):
        for kind in (tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE):
            shown = self.assert_read(self.tar(*MACHINE, entry("proc/cmdline", kind=kind)))
            self.assertRegex(shown, r"Absent +Command line")

    def test_hard_links(self):
        shown = self.assert_read(self.tar(*MACHINE, entry("proc/a", b"amd_pstate=active quiet"),
                                          entry("proc/cmdline", kind=tarfile.LNKTYPE, link="proc/a")))
        self.assertRegex(shown, r"amd_pstate +active")

    def test_absolute_and_dotted_names(self):
        path = self.tar(entry("/proc/cpuinfo", b"processor: 0\n"), entry("./sys//devices/./system/cpu/online", b"0\n"))
        self.assertRegex(self.assert_read(path), r"Online CPUs +0")

    def test_a_file_of_more_than_8_mib(self):
        shown = self.assert_read(self.tar(*MACHINE, entry("proc/cmdline", b"x" * (8 * MIB + 1))))
        self.assertIn("larger than 8 MiB", shown)
        path = self.tar(*MACHINE, entry("proc/cmdline", b"x" * (8 * MIB)))
        self.assert_read(path)
        # What goes on below such a name is not pushed away by its length.
        self.assertLess(hvtune("show", "--sources", "--host", path).out.count(" "), MIB)

    def test_bombs(self):
        zeros = bytes(MIB)
        inside = io.BytesIO()
        with tarfile.open(fileobj=inside, mode="w") as tar:
            for info, data in MACHINE:
                tar.addfile(info, io.BytesIO(data))
        path = self.folder / "a.tar.xz"
        info = tarfile.TarInfo("bomb")
        info.size = 600 * MIB
        with lzma.open(path, "wb", preset=0) as out:
            out.write(info.tobuf())
            for _ in range(600):
                out.write(zeros)
            out.write(inside.getvalue())
        self.assertLess(path.stat().st_size, MIB)
        self.assert_refused(path, "more than 512 MiB")
        # One whose size is a lie of the header's alone.
        info.size = 1 << 50
        path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
        self.assert_refused(path, "more than 512 MiB")

    def test_many_large_files(self):
        path = self.folder / "a.tar.gz"
        with gzip.open(path, "wb", 1) as out:
            for number in range(80):
                info = tarfile.TarInfo(f"f{number}")
                info.size = 7 * MIB
                out.write(info.tobuf())
                for _ in range(7):
                    out.write(bytes(MIB))
        self.assert_refused(path, "more than 512 MiB")

    @unittest.skipIf(SANITIZED, "half a million entries take long there")
    def test_many_entries(self):
        path = self.folder / "a.tar.gz"
        with gzip.open(path, "wb", 1) as out:
            for number in range(500100):
                out.write(tarfile.TarInfo(f"f{number}").tobuf(tarfile.USTAR_FORMAT))
        self.assert_refused(path, "more than 500,000")

    def test_deep_paths(self):
        """Few entries that imply many directories."""
        self.assert_refused(self.tar(*[entry(f"{number}" + "/a" * 2000, b"x") for number in range(300)],
                                     mode="w:gz"), "more than 500,000")
        self.assert_refused(self.tar(*MACHINE, entry("a" * 5000, b"x")), "4095 bytes")

    def test_truncated(self):
        whole = self.tar(*MACHINE, entry("proc/cmdline", random.Random(1).randbytes(60000)), name="a.tar.xz",
                         mode="w:xz").read_bytes()
        for share in (0.05, 0.3, 0.6, 0.9, 0.99):
            path = self.folder / "cut.tar.xz"
            path.write_bytes(whole[:int(len(whole) * share)])
            self.assert_refused(path)
        whole = self.tar(*MACHINE, entry("proc/cmdline", b"x" * 60000)).read_bytes()
        path.write_bytes(whole[:30000])
        self.assert_refused(path, "damaged archive")

    def test_damaged(self):
        """Flipped bytes: refused or read, but nothing worse."""
        rng = random.Random(2)
        for mode, suffix in (("w", "tar"), ("w:gz", "tar.gz"), ("w:xz", "tar.xz")):
            whole = self.tar(*MACHINE, name=f"a.{suffix}", mode=mode).read_bytes()
            for _ in range(12):
                broken = bytearray(whole)
                for _ in range(8):
                    broken[rng.randrange(min(len(broken), 4096))] = rng.randrange(256)
                path = self.folder / "broken"
                path.write_bytes(broken)
                done = hvtune("check", "--host", path)
                self.assert_code(done, 0, 1, 3)
                self.assert_clean(done)
                if done.code == 3:
                    self.assert_one_line(done.err)

    def test_other_formats(self):
        path = self.folder / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for info, data in MACHINE:
                made.writestr("x/y/" + info.name, data)
        self.assertRegex(self.assert_read(path), r"Online CPUs +0")
        with zipfile.ZipFile(path, "w") as made:
            made.writestr("../evil", "x")
        self.assert_refused(path, "refused")

    def test_mtree_reads_no_files(self):
        """A format of libarchive's that names files on this machine's disk is not taken."""
        path = self.folder / "a.mtree"
        path.write_text("#mtree\n./proc/cpuinfo type=file contents=/proc/cpuinfo\n"
                        "./proc/cmdline type=file contents=/etc/passwd\n")
        self.assert_refused(path, "cannot tell what kind of host this is")

    def test_two_machines(self):
        both = [entry(f"{side}/{info.name}", data) for side in "ab" for info, data in MACHINE]
        self.assert_refused(self.tar(*both), "more than one machine", '"a"', '"b"')
        # One that lies deeper is not meant.
        self.assert_read(self.tar(*MACHINE, *both))

    def test_no_machine(self):
        self.assert_refused(self.tar(entry("readme", b"hello")), "no machine in here")
        self.assert_refused(self.tar(), "")

    def test_broken_captures(self):
        def manifest(text):
            return self.tar(entry("hvtune-capture/hvtune-capture.json", text.encode()),
                            entry("hvtune-capture/root/proc/cpuinfo", b"processor: 0\n"))
        self.assert_refused(manifest("{"), "damaged capture")
        self.assert_refused(manifest(""), "damaged capture")
        self.assert_refused(manifest("[]"), "schema")
        self.assert_refused(manifest('{"schema": 99}'), "schema 99", "schema 1")
        self.assert_read(manifest('{"schema": 1}'))
        self.assert_read(manifest('{"schema": 1, "lists": {"/proc": [1, "../x", "a/b", ""], "/sys": 3}, "links": [], '
                                  '"unreadable": [{"path": "/proc/cmdline"}, 7, {"path": "/proc/uptime", "kind": '
                                  '"file", "errno": "EWHAT"}], "absent": {}}'))


class Trees(Hosts):
    def machine(self):
        for info, data in MACHINE:
            path = self.folder / info.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return self.folder

    def test_fifos_and_devices(self):
        """Nothing waits for the other side, and no device is opened."""
        root = self.machine()
        (root / "etc").mkdir()
        (root / "dev").mkdir()
        for name in ("proc/cmdline", "proc/uptime", "etc/os-release", "dev/kmsg", "dev/cpu_dma_latency"):
            os.mkfifo(root / name)
        (root / "proc/version").symlink_to("cmdline")
        if os.geteuid() == 0:
            try:
                os.mknod(root / "proc/mounts", 0o020666, os.makedev(1, 5))  # /dev/zero, without end
            except PermissionError:
                pass
        self.assertRegex(self.assert_read(root), r"Absent +Command line")

    def test_links_that_leave(self):
        root = self.machine()
        (root / "proc/cmdline").symlink_to("/etc/passwd")
        (root / "proc/version").symlink_to("../../../../../../../../etc/passwd")
        (root / "sys/class").symlink_to("/sys/class")
        shown = self.assert_read(root)
        self.assertNotIn("root:", shown)
        self.assertRegex(shown, r"Absent +Command line")

    def test_loops(self):
        root = self.machine()
        (root / "proc/cmdline").symlink_to("cmdline")
        (root / "sys/class").symlink_to(".")
        self.assertIn("a loop of links", self.assert_read(root))

    def test_directories_for_files_and_files_for_directories(self):
        root = self.machine()
        for name in ("proc/cmdline", "proc/meminfo", "etc/os-release", "sys/devices/system/cpu/smt/control"):
            (root / name).mkdir(parents=True)
        for name in ("sys/class", "sys/kernel", "sys/module", "sys/devices/system/node", "run"):
            (root / name).write_text("x")
        self.assert_read(root)

    def test_files_of_8_mib_and_more(self):
        root = self.machine()
        for name in ("proc/cmdline", "proc/meminfo"):
            with (root / name).open("wb") as file:
                file.truncate(3 * 1024 * MIB)
        self.assertIn("larger than 8 MiB", self.assert_read(root))

    def test_ten_thousand_cpus(self):
        root = self.machine()
        cpus = root / "sys/devices/system/cpu"
        for name in ("online", "present", "possible"):
            (cpus / name).write_text("0-9999\n")
        for number in range(10000):
            (cpus / f"cpu{number}").mkdir()
        (root / "proc/cpuinfo").write_text("".join(f"processor\t: {number}\nvendor_id\t: AuthenticAMD\n\n"
                                                   for number in range(10000)))
        self.assert_read(root)

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_unreadable_files(self):
        root = self.machine()
        (root / "proc/cmdline").write_text("quiet")
        (root / "proc/cmdline").chmod(0)
        self.assertIn("permission denied", self.assert_read(root))

    def test_garbage_in_every_file(self):
        """Every file of a whole machine in turn holds bytes, one huge number, a long line, or nothing."""
        source = hosts.root_of("kvm-guest", hosts.names()["kvm-guest"])
        fillings = (random.Random(3).randbytes(5000), b"", b"\0" * 100, b"-" * 70000, b"99999999999999999999\n",
                    b"0-8191,0-8191:9/9\n", b"%s%n%x \xff\xfe\n", b"-1\n")
        for number, filling in enumerate(fillings):
            root = self.folder / str(number)
            shutil.copytree(source, root, symlinks=True)
            for folder, _, names in os.walk(root):
                for name in names:
                    path = Path(folder) / name
                    if not path.is_symlink() and not path.name.endswith(".txt"):
                        path.chmod(0o644)
                        path.write_bytes(filling)
            self.assert_read(root)
            capture = self.folder / f"{number}.tar"
            self.assert_code(hvtune("capture", "-o", capture, "--host", root), 0)
            self.assertEqual(hvtune("check", "--all", "--host", capture).out.replace(str(capture), ""),
                             hvtune("check", "--all", "--host", root).out.replace(str(root), ""))

    def test_truncated_files(self):
        source = hosts.root_of("epyc-9354p", hosts.names()["epyc-9354p"])
        rng = random.Random(4)
        for round_number in range(3):
            root = self.folder / str(round_number)
            shutil.copytree(source, root, symlinks=True)
            for folder, folders, names in os.walk(root):
                for name in names:
                    path = Path(folder) / name
                    if not path.is_symlink() and rng.random() < 0.5:
                        path.write_bytes(path.read_bytes()[:rng.randrange(8)])
                for name in list(folders):
                    if rng.random() < 0.03 and folder != str(root) and not (Path(folder) / name).is_symlink():
                        shutil.rmtree(Path(folder) / name)
                        folders.remove(name)
            for asked in ASKED:
                done = hvtune(*asked, "--host", root)
                self.assert_code(done, 0, 1, 3)
                self.assert_clean(done)


class NoHosts(Hosts):
    def test_what_is_no_host(self):
        (self.folder / "text").write_text("hello\n")
        (self.folder / "binary").write_bytes(random.Random(5).randbytes(100000))
        (self.folder / "empty").write_bytes(b"")
        (self.folder / "domain.xml").write_text("<?xml version='1.0'?><domain type='kvm'></domain>")
        (self.folder / "json").write_text('{"a": 1}')
        for name in ("text", "binary", "domain.xml", "json"):
            self.assert_refused(self.folder / name, "cannot tell what kind of host this is", "lscpu text")
        self.assert_refused(self.folder / "empty", "the file is empty")
        (self.folder / "a.xml").write_text("<?xml version='1.0'?><topology version='2.0'><object")
        self.assert_refused(self.folder / "a.xml", "hwloc could not", "lstopo")
        (self.folder / "b.xml").write_text("<?xml version='1.0'?>\n<topology version=\"99.0\"></topology>")
        self.assert_refused(self.folder / "b.xml", "of version 99")

    def test_special_files(self):
        os.mkfifo(self.folder / "fifo")
        for path in (self.folder / "fifo", "/dev/null", "/dev/zero"):
            self.assert_refused(path, "neither")
        (self.folder / "loop").symlink_to("loop")
        self.assert_refused(self.folder / "loop", "ymbolic links")
        self.assert_refused(self.folder / "nothing", "No such file")
        self.assert_refused(self.folder, "no machine in here")
