# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns reaching the shared cases: unpacked once below build/ (or where HVTUNE_CASES says), composed one by one."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from harness import SHARED, TOP

CASES = Path(os.environ.get("HVTUNE_CASES", TOP / "build/cases"))
ROOTS = TOP / "build/scenario-roots"


def missing():
    """Why the cases cannot be had, or None."""
    if (CASES / "scenarios").is_dir():
        return None
    tool = SHARED / "cases/tools/unpack"
    if not tool.exists():
        return f"{SHARED}/cases is not there (HVTUNE_SHARED names another place)"
    shutil.rmtree(CASES, ignore_errors=True)
    partial = CASES.with_name(CASES.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    done = subprocess.run(["sh", str(tool), str(partial)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        return f"{tool} failed: {done.stderr.strip()[-200:]}"
    partial.rename(CASES)
    return None


class Expectation:
    """One EXPECT.md."""

    def __init__(self, folder):
        self.folder, self.number, self.name = folder, folder.name[:3], folder.name
        text = (folder / "EXPECT.md").read_text(encoding="utf-8")
        self.must, self.never = self.list_of(text, "Must report"), self.list_of(text, "Must not report")
        self.inputs = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name not in
                       ("BASE", "EXPECT.md")]

    @staticmethod
    def list_of(text, title):
        found = re.search(rf"^{title}:\n((?:- .*\n?)+)", text, re.MULTILINE)
        return [line[2:] for line in found.group(1).splitlines()] if found else []

    def compose(self):
        """The host of the scenario as a directory below ROOTS: its base with the overlay on top. Remove it afterwards."""
        root = ROOTS / f"{self.name}.{os.getpid()}"
        base = CASES / (self.folder / "BASE").read_text(encoding="utf-8").strip()
        root.mkdir(parents=True)
        # Hard links, where the file system is the same: thousands of small files are slow to copy.
        if subprocess.run(["cp", "-al", f"{base}/.", root], stderr=subprocess.DEVNULL, check=False).returncode:
            shutil.rmtree(root)
            root.mkdir()
            subprocess.run(["cp", "-a", f"{base}/.", root], check=True)
        if (self.folder / "overlay").is_dir():
            subprocess.run(["cp", "-a", "--remove-destination", f"{self.folder}/overlay/.", root], check=True)
        return root


def scenarios():
    return [Expectation(folder) for folder in sorted((CASES / "scenarios").iterdir())]


def trees():
    """Every machine as files: {"derived/NAME": path of its root}."""
    found = {}
    for group in ("dumps/derived", "dumps/ghw", "dumps/hwloc", "dumps/util-linux", "dumps/nri-plugins",
                  "hosts-rebuilt/trees"):
        for folder in sorted((CASES / group).glob("*")):
            roots = [path.parent for depth in range(6) for path in folder.glob("*/" * depth + "sys")
                     if (path / "devices/system").is_dir()]
            for root in roots:
                found[f"{Path(group).name}/{root.relative_to(CASES / group)}"] = root
    return found


def lscpu_texts():
    return sorted((CASES / "lscpu").glob("*.txt"))
