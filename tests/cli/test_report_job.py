# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns a real job from measuring to the page: transparent_hugepage always beside never, for a program that lives in
memory, on this very machine. It changes a setting of the machine, so it is only done where HVTUNE_TEST_THIS_MACHINE is
set, by root; what was set before is back afterwards."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import browser
from harness import Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True

SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
# 64 MiB in steps that no TLB holds: reads and writes of one word at a place that a counter of a known series names.
PROGRAM = r"""
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
	size_t words = (size_t)64 << 18;
	uint32_t *memory = aligned_alloc((size_t)2 << 20, words * sizeof(*memory));
	uint64_t x = 88172645463325252u;
	for (size_t i = 0; i < words; i += 1024)
		memory[i] = 1;
	for (int i = 0; i < 8000000; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		memory[x % words]++;
	}
	return memory[x % words] == 0;
}
"""


def why_not():
    if not os.environ.get("HVTUNE_TEST_THIS_MACHINE"):
        return "it changes this machine for a moment: set HVTUNE_TEST_THIS_MACHINE=1 for it"
    if os.geteuid() != 0 or not os.access(SETTING, os.W_OK):
        return f"{SETTING} cannot be written"
    if not shutil.which("cc"):
        return "there is no compiler for the program that is measured"
    return None


@unittest.skipIf(why_not(), why_not())
class Job(Test):
    def test_from_measuring_to_the_page(self):
        before = SETTING.read_text()
        with tempfile.TemporaryDirectory() as folder:
            source, program, store = (Path(folder) / name for name in ("walk.c", "walk", "results.db"))
            source.write_text(PROGRAM)
            subprocess.run(["cc", "-O2", "-o", program, source], check=True)
            done = hvtune("compare", "--a", "thp=never", "--b", "thp=always", "--blocks", "6", "--no-calibration",
                          "--store", store, "--label", "huge pages", "--", program, timeout=300)
            self.assert_code(done, 0)
            self.assertEqual(SETTING.read_text(), before)
            json_ = hvtune("report", "--store", store, "--json").json()
            self.assertEqual([one["settings"] for one in json_["configurations"]], [{"thp": "never"}, {"thp": "always"}])
            self.assertEqual([estimate["runs"] for estimate in json_["metrics"][0]["estimates"]], [6, 6])
            # The report computes from the runs what compare said.
            verdict = json_["verdict"][0]
            self.assertIn("thp=always", verdict)
            page = hvtune("report", "--store", store, "--format", "html").out
            self.assertIn("huge pages", page)
            if browser.WHY_NOT:
                self.skipTest(browser.WHY_NOT)
            for width in (1280, 390):
                self.assertEqual(browser.faults(browser.measure(page, width)), [])


if __name__ == "__main__":
    unittest.main()
