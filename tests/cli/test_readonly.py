# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is written but where asked: system calls of every reading command, as root and as nobody."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import HVTUNE, SANITIZED, TOP, Test, hvtune
from test_set import Machine

# Calls that change a file system, or that a reader of files has no business with.
CHANGING = ("unlink unlinkat mkdir mkdirat rename renameat renameat2 link linkat symlink symlinkat mknod mknodat rmdir "
            "truncate ftruncate chmod fchmod fchmodat chown fchown fchownat lchown utimensat setxattr lsetxattr "
            "fsetxattr removexattr mount umount2 pivot_root swapon swapoff init_module finit_module delete_module "
            "sched_setaffinity sched_setscheduler sched_setattr setpriority kill tkill tgkill ptrace bpf reboot "
            "sethostname iopl ioperm ioctl socket connect bind perf_event_open fallocate creat execve execveat").split()


def trace(*arguments, stdin=""):
    """The system calls of a run that could change something, one a line, without the start of the program itself."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        # -qq -f: threads and children too. A run under the tracer needs no leak check.
        done = subprocess.run(["strace", "-f", "-qq", "-o", str(log), "-e",
                               "trace=open,openat,openat2," + ",".join("?" + name for name in CHANGING), HVTUNE,
                               *map(str, arguments)], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return done, [re.sub(r"^\d+ +", "", line) for line in lines]


# What a terminal is asked by its writer, and by the C library.
TERMINAL = re.compile(r"ioctl\(\d+, (TCGETS|TIOCGWINSZ)\b")


def changes(lines, allowed=()):
    found = []
    for number, line in enumerate(lines):
        call = line.split("(", 1)[0]
        if (call == "execve" and number == 0) or TERMINAL.match(line):
            continue
        if call in ("open", "openat", "openat2"):
            if re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)", line) and not any(
                    f'"{path}"' in line for path in allowed):
                found.append(line)
        elif call in CHANGING and not any(f'"{path}"' in line for path in allowed):
            found.append(line)
    return found


# Everything that opens for writing, changes a file system or starts a program, as it stands in C.
WRITES = re.compile(r"(?<!->)(?<!\.)\b(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE|"
                    r"(?:creat|unlink|unlinkat|remove|rename|renameat|renameat2|link|linkat|symlink|symlinkat|mkdir|mkdirat|"
                    r"rmdir|mknod|truncate|ftruncate|fallocate|posix_fallocate|chmod|fchmod|fchmodat|chown|fchown|fchownat|"
                    r"utimensat|futimens|setxattr|fsetxattr|mkstemp|mkdtemp|tmpfile|pwrite|write|sched_setaffinity|"
                    r"ioctl|posix_spawn|posix_spawnp|fork|vfork|clone|system|popen|exec[lv]p?e?|fexecve)(?=\())")
FOPEN = re.compile(r'\bf(?:re)?d?open\([^;]*?,\s*"([^"]*)"')
# What may besides the writer: files and commands that the user asks for, the store of results; a question to a QEMU's monitor, a word
# on standard error, how wide the terminal is, a question to an SMU that is opened for reading only.
WRITERS = {"src/sys/sys_capture.c", "src/cli/picture.c", "src/cli/cmd_report.c", "src/store/store_place.c", "src/bench/bench_spawn.c",
           "src/bench/bench_spawner.c"}
SENDERS = {"src/sys/sys_qmp.c": {"write"}, "src/base/err.c": {"write"}, "src/base/term.c": {"ioctl"},
           "src/sys/sys_again_device.c": {"ioctl"}}


class Source(Test):
    """src/sys/sys_write*.c is the only place that writes to a machine."""

    @staticmethod
    def code(path):
        """Without comments and, but for modes of fopen(), without texts."""
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        return re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda found: found[0] if len(found[0]) < 6 else '""', text)

    def test_only_the_writer_writes(self):
        found = {}
        for path in sorted((TOP / "src").rglob("*.[ch]")):
            name = str(path.relative_to(TOP))
            if name.startswith("src/sys/sys_write"):
                continue
            code = self.code(path)
            words = set(WRITES.findall(code)) | {f"fopen {mode}" for mode in FOPEN.findall(code) if re.search("[wa+]", mode)}
            words -= SENDERS.get(name, set())
            if words and name not in WRITERS:
                found[name] = sorted(words)
        self.assertEqual(found, {})

    def test_the_test_sees_them(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.c"
            path.write_text('/* unlink( */ int a = open("O_RDWR unlink(x)", O_RDWR); FILE *f = fopen(path, "we"); unlink (b);',
                            encoding="utf-8")
            code = self.code(path)
            self.assertEqual(WRITES.findall(code), ["O_RDWR"])
            self.assertEqual(FOPEN.findall(code), ["we"])
        self.assertTrue(WRITES.search((TOP / "src/sys/sys_write.c").read_text(encoding="utf-8")))


@unittest.skipIf(SANITIZED, "the sanitizer's own files would be seen")
@unittest.skipUnless(shutil.which("strace"), "strace is not there")
class ReadOnly(Test):
    def assert_reads_only(self, *arguments, stdin="", allowed=()):
        done, lines = trace(*arguments, stdin=stdin)
        if not lines and "ptrace" in done.stderr.lower():
            self.skipTest("this place does not let strace trace")
        self.assertTrue(lines, done.stderr)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(changes(lines, allowed), [])

    def test_the_test_sees_writes(self):
        self.assertEqual(len(changes(['openat(AT_FDCWD, "/a", O_WRONLY|O_CREAT, 0666) = 3', 'unlink("/b") = 0'])), 2)

    def test_check(self):
        self.assert_reads_only("check")
        self.assert_reads_only("check", "--all", "--json", "--timing")

    def test_show(self):
        self.assert_reads_only("show")
        self.assert_reads_only("show", "topology")
        self.assert_reads_only("show", "topology", "--svg", "-")

    def test_explain(self):
        self.assert_reads_only("explain", "--list")

    def test_lint(self):
        self.assert_reads_only("lint", "-k", "cmdline", "-", stdin="quiet amd_iommu=on\n")

    def test_looking_at_changes(self):
        self.assert_reads_only("status")
        self.assert_reads_only("knobs", "governor", "--json")
        # tuned is asked for its profile over the bus, libvirt for its VMs, and NICs for their queues (SIOCETHTOOL).
        done, lines = trace("knobs")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line for line in changes(lines, ("/run/dbus/system_bus_socket", "/var/run/libvirt/libvirt-sock"))
                          if not re.match(r"socket\(AF_(UNIX|INET, SOCK_DGRAM\|SOCK_CLOEXEC, IPPROTO_IP)\b"
                                          r"|ioctl\(\d+, SIOCETHTOOL,", line)], [])

    def test_meters(self):
        # Counters of perf are opened, which counts and changes nothing.
        done, lines = trace("meters", "--window", "0.1")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual([line for line in changes(lines) if not line.startswith("perf_event_open(")], [])

    def test_a_plan(self):
        machine = Machine()
        self.addCleanup(machine.folder.cleanup)
        self.assert_reads_only("set", "governor=performance", "--dry-run", "--host", machine.root)
        self.assert_reads_only("set", "governor=powersave", "--yes", "--host", machine.root)

    def test_a_change_writes_its_knobs_and_its_own_files(self):
        machine = Machine()
        self.addCleanup(machine.folder.cleanup)
        for arguments in (("set", "governor@1=performance", "thp=never", "--yes"), ("undo",)):
            done, lines = trace(*arguments, "--host", machine.root)
            self.assertEqual(done.returncode, 0, done.stderr)
            # By descriptor: what was opened is looked at.
            opened = [line for line in changes(lines) if not re.match("fallocate|ftruncate", line)]
            paths = {re.search(r'"(.*?)"', line)[1] for line in opened}
            self.assertEqual(paths - {"hvtune"}, {"lock", "journal", "sys/kernel/mm/transparent_hugepage/enabled",
                                                  "sys/devices/system/cpu/cpufreq/policy1/scaling_governor"})

    def test_a_picture_is_written_where_asked_and_nowhere_else(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "a.svg")
            self.assert_reads_only("show", "topology", "--svg", path, allowed=(path,))
            self.assertEqual(os.listdir(folder), ["a.svg"])


def as_nobody(*arguments):
    if os.geteuid() != 0:
        return hvtune(*arguments)
    return hvtune(*arguments, prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"))


@unittest.skipUnless(os.geteuid() != 0 or shutil.which("setpriv"), "neither nobody nor setpriv")
class Unprivileged(Test):
    def setUp(self):
        if not os.access(HVTUNE, os.X_OK) or as_nobody("--version").code != 0:
            self.skipTest("nobody cannot run the program where it lies")

    def test_check_gives_what_can_be_read(self):
        done = as_nobody("check", "--all")
        self.assert_code(done, 0, 1)
        self.assert_clean(done)
        self.assertEqual(done.err, "")
        root_would = any(item["root_helps"] for item in as_nobody("check", "--json").json()["undecided"])
        self.assertEqual("Root would decide" in done.out, root_would)

    def test_show_says_what_was_refused(self):
        done = as_nobody("show", "--json")
        self.assert_code(done, 0)
        for fact in re.findall(r'"state": "unreadable"[^}]*', done.out):
            self.assertIn('"note"', fact)

    def test_topology_needs_no_root(self):
        """How much memory is free changes between the two runs, and so may the width of its box; the rest stands."""
        def still(done):
            self.assert_code(done, 0)
            without_free = re.sub(r"[\d.]+ ([KMGT]iB) free", r"N \1 free", done.out)
            return re.sub(r"─+|  +", lambda run: run[0][0] * 2, without_free)
        self.assertEqual(still(as_nobody("show", "topology")), still(hvtune("show", "topology")))
