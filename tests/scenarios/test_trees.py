# SPDX-License-Identifier: GPL-3.0-or-later
"""Every machine that there is as files: each command ends well, says nothing odd, and blames no machine without reason."""
import json
import re
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cases
from harness import SANITIZED, Test, hvtune

WHY_NOT = cases.missing()
RUNS = (["check", "--all"], ["check", "--json"], ["show"], ["show", "--json"], ["show", "topology"],
        ["show", "topology", "--json"], ["show", "topology", "--svg", "-"])
# Findings of severity fail or warn on machines as they were found, looked at one by one: each is right there.
RIGHT = json.loads((Path(__file__).parent / "warnings.json").read_text(encoding="utf-8"))


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Trees(Test):
    def run_all(self, hosts):
        """Each command on each host; returns {name: findings}. Problems are gathered, so that all are seen at once."""
        def one(item):
            (name, host), arguments = item
            return name, arguments, hvtune(*arguments, "--host", host, env={"COLUMNS": "80"})

        problems, findings = [], {}
        work = [(host, arguments) for host in hosts.items() for arguments in RUNS]
        with ThreadPoolExecutor(2) as pool:
            for name, arguments, done in pool.map(one, work):
                try:
                    self.judge(name, arguments, done, findings)
                except AssertionError as problem:
                    problems.append(f"{name}: {' '.join(arguments)}: {str(problem)[:600]}")
        self.assertEqual(problems, [], "\n".join(problems))
        return findings

    def judge(self, name, arguments, done, findings):
        self.assert_clean(done)
        if done.code == 3:
            self.assert_one_line(done.err)
            self.assertEqual(done.out, "")
            return
        self.assert_code(done, 0, 1)
        if "--json" in arguments:
            whole = done.json()
            if arguments[0] == "check":
                findings[name] = whole["findings"]
        elif "--svg" not in arguments:
            self.assertNotRegex(done.out, r"\bnan\b|\binf\b|-2147483648|18446744073709")
        if arguments == ["show", "topology"]:
            widest = max(map(len, done.out.splitlines()), default=0)
            self.assertLessEqual(widest, 80, "wider than the terminal")

    def blamed(self, findings):
        return {name: sorted({finding["id"] for finding in items if finding["severity"] in ("fail", "warn")})
                for name, items in findings.items()}

    def assert_blamed_as_known(self, findings):
        """What is blamed beyond warnings.json is a false alarm until somebody has looked at it."""
        new = {}
        for name, ids in self.blamed(findings).items():
            extra = sorted(set(ids) - set(RIGHT.get(name, [])))
            if extra:
                new[name] = extra
        self.assertEqual(new, {})

    def sample(self, items):
        items = dict(items)
        return {name: host for number, (name, host) in enumerate(sorted(items.items()))
                if not SANITIZED or number % 4 == 0 or re.search(r"offline|buggy|empty|arm|s390|hybrid", name)}

    def test_trees(self):
        self.assert_blamed_as_known(self.run_all(self.sample(cases.trees())))

    def test_lscpu_texts(self):
        findings = self.run_all(self.sample({f"lscpu/{path.stem}": path for path in cases.lscpu_texts()}))
        self.assert_blamed_as_known(findings)

    def test_most_are_machines(self):
        names = self.sample(cases.trees())
        refused = [name for name, host in names.items() if hvtune("check", "--host", host).code == 3]
        self.assertLessEqual(len(refused), 2, refused)
