# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns finding the shared cases (machines as files) and unpacking them once, outside the repository's files.

HVTUNE_CASES names a directory in which they are unpacked already; otherwise they are unpacked below build/cases, which
takes half a minute the first time.
"""
import fcntl
import os
import subprocess
import unittest
from pathlib import Path

from harness import SHARED, TOP


def unpacked():
    """The directory with dumps/, hosts-rebuilt/, scenarios/...; skips the test when the shared cases are not there."""
    given = os.environ.get("HVTUNE_CASES")
    if given:
        return Path(given)
    tool = SHARED / "cases/tools/unpack"
    if not tool.exists():
        raise unittest.SkipTest(f"the shared cases are not there ({tool}); HVTUNE_SHARED names their directory")
    out = TOP / "build/cases"
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / ".complete").exists():
            subprocess.run([str(tool), str(out)], stdout=subprocess.DEVNULL, check=True)
            (out / ".complete").touch()
    return out


def trees():
    """{name: root} of every machine that is a tree with sys/devices/system/cpu."""
    top, found = unpacked(), {}
    for part in ("dumps", "hosts-rebuilt"):
        for folder, names, _ in os.walk(top / part):
            if "sys" in names and (Path(folder) / "sys/devices/system/cpu").is_dir():
                found[str(Path(folder).relative_to(top))] = Path(folder)
            if "sys" in names or "proc" in names:
                names.clear()
    return dict(sorted(found.items()))
