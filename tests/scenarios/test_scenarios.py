# SPDX-License-Identifier: GPL-3.0-or-later
"""
The scenarios: what an expert wants reported of a host, and what not, against expect.toml.

expect.toml has a table for each scenario, with one entry for each sentence of its EXPECT.md, in order:
  must  = ["ID", ...]      the finding must be there. Forms: "a.b|a.c" one of them; "a.b @warn,fail" with one of these
                           severities; "a.b ~REGEX" with that in its title, detail or evidence;
                           "show SUBJECT ~REGEX" the facts show it; "place ARGUMENTS ~REGEX" the plan says it; "lint FILE: ..." the form is about lint of that input
  never = ["GLOB", ...]    no finding with such an id of severity fail, warn or advice; "GLOB @fail" of these severities;
                           "~REGEX" no such text in one;
                           "any GLOB" not even as a note; "show SUBJECT ~REGEX" the facts do not show it,
                           "place ARGUMENTS ~REGEX" nor the plan
  "A && B"                 both forms hold
  "later: REASON"          the sentence is about what this version does not do
  "wrong: REASON"          the sentence is not right, for that reason
"""
import fnmatch
import re
import shutil
import tomllib
from pathlib import Path

import cases
from harness import Test, hvtune

TABLE = tomllib.loads((Path(__file__).parent / "expect.toml").read_text(encoding="utf-8"))
SEEN = ("fail", "warn", "advice")
WHY_NOT = cases.missing()


def text_of(finding):
    return "\n".join([finding["title"], finding.get("detail") or "",
                      *(f"{item['source']} = {item['value']}" for item in finding["evidence"])])


class Run:
    """The runs of one scenario, made when they are asked for."""

    def __init__(self, test, expectation):
        self.test, self.expectation, self.root, self.kept = test, expectation, expectation.compose(), {}

    def findings(self, file=None):
        if file not in self.kept:
            arguments = ["check"] if file is None else ["lint", self.expectation.folder / file]
            done = hvtune(*arguments, "--all", "--json", "--host", self.root)
            self.test.assert_code(done, 0, 1)
            self.test.assert_clean(done)
            answer = done.json()
            self.kept[file] = (answer if file is None else answer[0])["findings"]
        return self.kept[file]

    def shown(self, subject):
        done = hvtune("show", subject, "--host", self.root, env={"COLUMNS": "300"})
        self.test.assert_code(done, 0)
        return done.out

    def planned(self, form):
        words, regex = re.match(r"place (.*?) ~(.*)", form, re.DOTALL).groups()
        done = hvtune("place", "--host", self.root, *words.split(), env={"COLUMNS": "300"})
        self.test.assert_code(done, 0)
        self.test.assert_clean(done)
        return re.search(regex, done.out) is not None

    def split(self, form):
        found = re.match(r"lint (\S+): (.*)", form)
        return (found.group(2), found.group(1)) if found else (form, None)

    def must(self, form):
        if " && " in form:
            return all(map(self.must, form.split(" && ")))
        if form.startswith("show "):
            _, subject, regex = re.match(r"(show) (\S+) ~(.*)", form).groups()
            return re.search(regex, self.shown(subject)) is not None
        if form.startswith("place "):
            return self.planned(form)
        form, file = self.split(form)
        found = re.match(r"(\S+)(?: @([a-z,]+))?(?: ~(.*))?$", form)
        ids, severities, regex = found.groups()
        return any(any(fnmatch.fnmatch(finding["id"], one) for one in ids.split("|"))
                   and (not severities or finding["severity"] in severities.split(","))
                   and (not regex or re.search(regex, text_of(finding)))
                   for finding in self.findings(file))

    def never(self, form):
        if " && " in form:
            return all(map(self.never, form.split(" && ")))
        if form.startswith("show "):
            _, subject, regex = re.match(r"(show) (\S+) ~(.*)", form).groups()
            return re.search(regex, self.shown(subject)) is None
        if form.startswith("place "):
            return not self.planned(form)
        form, file = self.split(form)
        every = form.startswith("any ")
        form = form.removeprefix("any ")
        form, _, severities = form.partition(" @") if form[0] != "~" else (form, "", "")
        seen = severities.split(",") if severities else SEEN
        for finding in self.findings(file):
            if not every and finding["severity"] not in seen:
                continue
            if re.search(form[1:], text_of(finding)) if form[0] == "~" else fnmatch.fnmatch(finding["id"], form):
                return False
        return True


class Scenario(Test):
    """One test per scenario, added below."""


class Table(Test):
    def setUp(self):
        if WHY_NOT:
            self.skipTest(WHY_NOT)

    def test_every_scenario_and_every_sentence_has_its_entry(self):
        self.assertEqual(sorted(TABLE), [expectation.number for expectation in cases.scenarios()])
        for expectation in cases.scenarios():
            row = TABLE[expectation.number]
            self.assertEqual(len(row.get("must", [])), len(expectation.must), f"{expectation.name}: must")
            self.assertEqual(len(row.get("never", [])), len(expectation.never), f"{expectation.name}: never")

    def test_every_id_exists(self):
        known = [rule["id"] for rule in hvtune("explain", "--list", "--json").json()["rules"]]
        for number, row in TABLE.items():
            for form in (part for form in row.get("must", []) for part in form.split(" && ")):
                form = re.sub(r"^lint \S+: ", "", form)
                if form.startswith(("later: ", "wrong: ", "show ", "place ")):
                    continue
                for one in form.split()[0].split("|"):
                    self.assertTrue(fnmatch.filter(known, one), f"{number}: there is no finding {one}")


def one_scenario(expectation):
    def test(self):
        row = TABLE.get(expectation.number, {})
        run = Run(self, expectation)
        self.addCleanup(shutil.rmtree, run.root)
        run.findings()
        problems = []
        for sentence, form in zip(expectation.must, row.get("must", [])):
            if not form.startswith(("later: ", "wrong: ")) and not run.must(form):
                problems.append(f"not reported: {sentence}   [{form}]")
        for sentence, form in zip(expectation.never, row.get("never", [])):
            if not form.startswith(("later: ", "wrong: ")) and not run.never(form):
                problems.append(f"reported, but must not be: {sentence}   [{form}]")
        for glob in row.get("quiet", []):
            if not run.never(glob):
                problems.append(f"reported, but must not be: {glob}")
        if problems:
            reported = [f"{finding['severity']} {finding['id']}: {finding['title']}" for file in run.kept
                        for finding in run.kept[file]]
            self.fail("\n".join([expectation.name, *problems, "reported was:", *reported]))
    return test


if not WHY_NOT:
    for _one in cases.scenarios():
        if all(_form.startswith("later: ") for _forms in TABLE.get(_one.number, {}).values() for _form in _forms):
            continue  # about plans only; the table says so
        setattr(Scenario, "test_" + re.sub(r"\W", "_", _one.name), one_scenario(_one))
