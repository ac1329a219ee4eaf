# SPDX-License-Identifier: GPL-3.0-or-later
"""Results in PostgreSQL: the tests of the store and of the commands, against a server that is started for them."""
import os
import pwd
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import TOP, Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
UNIT = Path(os.environ.get("HVTUNE", "")).resolve().parent.parent.parent / "tests/unit/test_store"


def as_user(*command):
    """The server refuses root."""
    if os.geteuid() != 0:
        return command
    return ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command)


@unittest.skipUnless(PROGRAMS, "PostgreSQL's server is not there")
@unittest.skipUnless(os.geteuid() != 0 or shutil.which("setpriv"), "setpriv is not there")
class PostgreSQL(Test):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hvtune-pg-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(cls.folder, nobody.pw_uid, nobody.pw_gid)
        data, programs = f"{cls.folder}/data", PROGRAMS[-1].parent
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True,
                 "cwd": cls.folder, "timeout": 120}
        subprocess.run(as_user(programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync"), **quiet)
        subprocess.run(as_user(programs / "pg_ctl", "-D", data, "-w", "-l", f"{cls.folder}/log", "-o",
                               f"-c listen_addresses='' -c fsync=off -k {cls.folder}", "start"), **quiet)
        cls.addClassCleanup(subprocess.run, as_user(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"), **quiet)
        cls.url = f"postgresql://tester@/postgres?host={cls.folder}"

    def test_the_tests_of_the_store(self):
        if not UNIT.exists():
            self.skipTest(f"{UNIT} is not built")
        done = subprocess.run([UNIT], env={**os.environ, "HVTUNE_TEST_POSTGRESQL": self.url}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^1\.\.7$|7 test\(s\) run")

    def test_measuring_and_results(self):
        done = hvtune("run", "--store", self.url, "--runs", 3, "--label", "here", "--metric", "x=regex:([0-9]+)", "--", "echo", "7")
        self.assert_code(done, 0)
        done = hvtune("compare", "--store", self.url, "--label", "two", "--no-calibration", "--blocks", 5, "--metric",
                      "x=regex:([0-9]+)", "echo 100", "echo 110")
        self.assert_code(done, 0)
        self.assertIn("10", done.out)
        listed = hvtune("results", "--store", self.url, "--json")
        self.assertLessEqual({"here", "two"}, {one["label"] for one in listed.json()["sessions"]})
        with tempfile.TemporaryDirectory() as folder:
            done = hvtune("results", "--store", f"{folder}/copy.db", "merge", self.url)
            self.assert_code(done, 0)
            for label in ("here", "two"):
                first, second = (hvtune("results", "--store", store, "--json", "show", label).json()
                                 for store in (self.url, f"{folder}/copy.db"))
                self.assertEqual(first["metrics"], second["metrics"])
                self.assertEqual(first["verdict"], second["verdict"])
        done = hvtune("results", "--store", self.url, "--yes", "delete", "here")
        self.assert_code(done, 0)

    def test_no_server(self):
        for url in ("postgresql://nobody:secret@/x?host=/nowhere", "postgres://127.0.0.1:1/x"):
            done = hvtune("results", "--store", url)
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
            self.assertIn("cannot be reached", done.err)
            self.assertNotIn("secret", done.err)


if __name__ == "__main__":
    unittest.main()
