# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns what the Python tests share: where the program is, running it, hosts to run it on."""
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
HVTUNE = os.environ.get("HVTUNE", str(TOP / "build/src/cli/hvtune"))
SHARED = Path(os.environ.get("HVTUNE_SHARED", TOP.parent / "shared"))
SANITIZED = bool(os.environ.get("HVTUNE_SANITIZED"))
COMMANDS = ("check", "show", "explain", "lint", "place", "set", "apply", "fix", "confirm", "undo", "status", "knobs", "report", "meters", "study", "tune", "workloads",
            "run", "compare", "top", "idle", "results", "capture", "hold-latency")


class Done:
    """A finished run: code, out, err."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit code {self.code}\n--- out\n{self.out[:3000]}\n--- err\n{self.err[:3000]}"


def hvtune(*arguments, env=None, timeout=60, stdin=None, prefix=()):
    """Run the program; `stdin` is text for its standard input."""
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    environment.update(env or {})
    done = subprocess.run([*prefix, HVTUNE, *map(str, arguments)], input=stdin if stdin is not None else "",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          timeout=timeout, env=environment, check=False)
    return Done(done)


def options_in_help(command):
    """Long options of a command, with the argument each takes: {"--host": "WHAT", "--json": ""}."""
    found = re.findall(r"^  (?:-\w|  )[, ] (--[a-z-]+)(?: ([A-Z]+))?", hvtune(command, "--help").out, re.MULTILINE)
    return dict(found)


class Test(unittest.TestCase):
    """Assertions about runs."""
    maxDiff = None

    def assert_code(self, done, *codes):
        self.assertIn(done.code, codes, repr(done))

    def assert_one_line(self, text):
        self.assertEqual(len(text.splitlines()), 1, f"not one line: {text!r}")
        self.assertTrue(text.startswith("hvtune: "), text)

    def assert_clean(self, done):
        """Nothing that no person should ever see."""
        self.assertNotIn("(null)", done.out + done.err, repr(done))
        self.assertNotRegex(done.out, r"\033", "an escape sequence where there is no terminal")
        self.assertNotRegex(done.err, r"Sanitizer|runtime error")
        # Line by line: a search for blanks before an end is quadratic in a long run of them.
        ends = [line for line in done.out.split("\n") if line.endswith((" ", "\t"))]
        self.assertEqual(ends, [], "white space at the end of a line")
