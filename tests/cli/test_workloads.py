# SPDX-License-Identifier: GPL-3.0-or-later
"""The workloads known by name: what the list holds, and that what is installed here runs and gives its figure."""
import json
import shutil
import unittest
from pathlib import Path

from harness import Test, hvtune


class Workloads(Test):
    def test_list(self):
        done = hvtune("workloads", "--json")
        self.assert_code(done, 0)
        found = json.loads(done.out)["workloads"]
        self.assertGreaterEqual(len(found), 20)
        groups = {row["group"] for row in found}
        self.assertLessEqual({"compile", "compress", "crypto", "memory", "database", "web", "interpreter", "math", "network",
                              "storage"}, groups)
        self.assertEqual(len({row["name"] for row in found}), len(found))

    def test_a_group(self):
        done = hvtune("workloads", "list", "@crypto")
        self.assert_code(done, 0)
        self.assertIn("rsa2048", done.out)
        self.assertNotIn("sqlite", done.out)

    @unittest.skipUnless(shutil.which("perl"), "perl is not installed")
    def test_check(self):
        done = hvtune("workloads", "check", "perl", "--json")
        self.assert_code(done, 0)
        row, = json.loads(done.out)["workloads"]
        self.assertTrue(row["works"])
        self.assertGreater(row["value"], 0)
        self.assertEqual(list(Path("/var/tmp").glob("hvtune-workloads-*")), [])

    def test_install_says_what(self):
        done = hvtune("workloads", "install", "--dry-run")
        self.assert_code(done, 0)
        self.assertRegex(done.out, "^(apt-get install|All that they need)")

    def test_usage(self):
        for words in (("chek",), ("check", "nope"), ("list", "@nope")):
            done = hvtune("workloads", *words)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
