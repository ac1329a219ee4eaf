# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune meters`: what measures here, what does not and why, and never a silent zero."""
import shutil
import tempfile
import unittest
from pathlib import Path

from harness import Test, hvtune

RAPL = "sys/class/powercap/intel-rapl:0/"


class Host:
    """A directory with what meters look at."""

    def __init__(self, files):
        self.root = Path(tempfile.mkdtemp(prefix="hvtune-meters-test-"))
        self.write({"proc/cmdline": "quiet\n", "sys/devices/system/cpu/online": "0-3\n", **files})

    def write(self, files):
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")


PACKAGE = {RAPL + "name": "package-0\n", RAPL + "energy_uj": "123456789\n", RAPL + "max_energy_range_uj": "65532610987\n"}
BOARD = {"sys/class/hwmon/hwmon2/device/power1_average": "287000000\n"}


class Meters(Test):
    def host(self, files):
        host = Host(files)
        self.addCleanup(shutil.rmtree, host.root)
        return host.root

    def sources(self, done):
        return {source["name"]: source for source in done.json()["sources"]}

    def test_a_host_with_sources(self):
        root = self.host({**PACKAGE, **BOARD})
        done = hvtune("meters", "--host", root)
        self.assert_code(done, 0)
        self.assert_clean(done)
        self.assertRegex(done.out, r"(?m)^\* powercap.package-0 +package 0 +readable +counter, in steps of 15.3 uJ")
        self.assertRegex(done.out, r"(?m)^\* hwmon.power_meter +board +287.0 W +power$")
        self.assertRegex(done.out, r"(?m)^  perf +the kernel offers no event energy-\*")
        sources = self.sources(hvtune("meters", "--host", root, "--json"))
        self.assertEqual(sources["hwmon.power_meter"]["result"]["mean"], 287.0)
        self.assertIsNone(sources["powercap.package-0"]["result"]["energy_j"])
        self.assertEqual((sources["powercap.package-0"]["boundary"], sources["hwmon.power_meter"]["boundary"]),
                         ("package", "board"))

    def test_what_is_wrong_is_no_zero(self):
        root = self.host({**PACKAGE, RAPL + "energy_uj": "0\n",
                          "sys/class/hwmon/hwmon2/device/power1_average": "4294967295000\n"})
        done = hvtune("meters", "--host", root, env={"COLUMNS": "118"})
        self.assert_code(done, 1)
        self.assertIn("implausible: a counter that counts is not 0", done.out)
        self.assertIn("implausible: the meter says that it does not know", done.out)
        self.assertIn("cannot be measured here, which is not 0 W", done.out)
        for source in self.sources(hvtune("meters", "--host", root, "--json")).values():
            self.assertEqual((source["state"], source["result"]), ("implausible", None))

    def test_this_machine(self):
        """Whatever it is: a source that is chosen says watts, another says why not."""
        done = hvtune("meters", "--json", "--window", "0.2")
        self.assert_code(done, 0, 1)
        self.assertEqual(done.err, "")
        for source in done.json()["sources"]:
            if source["state"] == "value":
                self.assertNotEqual(source["result"]["mean"], 0)
            else:
                self.assertTrue(source["why"], source)
                self.assertFalse(source["chosen"])
        self.assertEqual(done.code, 0 if any(source["chosen"] for source in done.json()["sources"]) else 1)
        for missing in done.json()["missing"]:
            self.assertTrue(missing["why"])

    def test_a_capture_says_the_same(self):
        root = self.host({**PACKAGE, **BOARD, "sys/class/hwmon/hwmon3/name": "k10temp\n",
                          "sys/class/hwmon/hwmon3/temp1_input": "45125\n", "sys/class/hwmon/hwmon3/temp1_label": "Tctl\n"})
        path = root / "a.tar"
        self.assert_code(hvtune("capture", "--host", root, "-o", path), 0)
        here, there = (hvtune("meters", "--host", host, "--json").json() for host in (root, path))
        self.assertEqual(here["sources"], there["sources"])
        self.assertEqual(there["sources"][-1]["result"]["mean"], 45.125)

    def test_wrong_words(self):
        for words in (["all"], ["--window", "0"], ["--window", "nan"], ["--window", "1s"], ["--window", "-1"]):
            done = hvtune("meters", *words)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)


if __name__ == "__main__":
    unittest.main()
