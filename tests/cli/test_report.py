# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns proving that reports say what the store holds, in every form, and that the page can be read at any width."""
import csv
import io
import json
import re
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

import browser
from harness import HVTUNE, Test, hvtune

MAKER = Path(HVTUNE).resolve().parents[2] / "tests/unit/report_store"
HOSTILE = "5"
SESSIONS = ("pair", "chain", "grid", HOSTILE, "nothing", "workloads")
VOID = {"meta", "br", "hr", "img", "rect", "line", "circle", "path"}


class Page(HTMLParser):
    """Every element closed in its order; the texts of headings, sentences and tables."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.names, self.problems = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.names.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.names.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(tag)

    def handle_data(self, data):
        if data.strip() and self.open[-1:] not in (["style"],):
            self.texts.append((self.open[-1] if self.open else "", data.strip()))


@unittest.skipUnless(MAKER.exists(), f"{MAKER.name} is not built")
class Reports(Test):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = Path(cls.folder.name) / "results.db"
        subprocess.run([MAKER, cls.store], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def report(self, *arguments, **options):
        return hvtune("report", "--store", self.store, *arguments, **options)

    def test_verdict_and_figures(self):
        json_ = self.report("pair", "--format", "json").json()
        self.assertEqual(json_["verdict"][0], "B takes 5.00 % less time than A (4.69 to 5.31 % less).")
        self.assertIn("no difference in energy larger than 0.50 %", json_["verdict"][1])
        time = json_["metrics"][0]["estimates"][1]
        self.assertEqual(time["runs"], 8)  # neither the warm-up nor the void run
        self.assertAlmostEqual(time["beside_first"]["ratio"], 0.95, places=3)
        self.assertEqual(time["beside_first"]["verdict"], "lower")
        self.assertEqual(len(json_["runs"]), 19)
        self.assertEqual(json_["runs"][2]["why"], "throttled <b>")
        # Every form begins with the same verdict.
        for form in ("text", "html", "markdown"):
            out = re.sub(r"\s+", " ", self.report("pair", "--format", form).out)
            self.assertIn("B takes 5.00 % less time than A (4.69 to 5.31 % less).", out)

    def test_what_is_not_known_is_null(self):
        json_ = self.report(HOSTILE, "--format", "json").json()
        for estimate in json_["metrics"][0]["estimates"]:
            self.assertEqual((estimate["runs"], estimate["low"]), (1, None))
        self.assertIn("too few blocks", json_["verdict"][0])
        self.assertIn("Energy: not measurable here.", json_["verdict"])
        self.assertEqual(self.report("nothing", "--format", "json").json()["verdict"], ["Nothing has been measured."])

    def test_parts_of_a_study(self):
        """Resumed, it is one study: the same by name, and no difference claimed where runs were chosen."""
        for part in ("grid", "grid, resumed"):
            json_ = self.report(part, "--json").json()
            self.assertEqual([one["name"] for one in json_["configurations"]], [f"cell {i}" for i in range(1, 5)])
            self.assertEqual(len(json_["runs"]), 26)
            self.assertEqual([estimate["runs"] for estimate in json_["metrics"][1]["estimates"]], [7, 6, 6, 7])
            self.assertEqual({estimate["beside_first"] for estimate in json_["metrics"][0]["estimates"]}, {None})
            self.assertIn("Least wall time so far: cell 1", json_["verdict"][0])
            self.assertIn("no difference is claimed", json_["verdict"][0])

    def test_workloads_are_not_compared(self):
        verdict = self.report("workloads", "--json").json()["verdict"]
        self.assertIn("Least wall time so far: long: x=2, with 89.99 s", verdict[0])
        self.assertIn("Least wall time so far: short: x=1, with 10", verdict[1])
        self.assertIn("selected among 2", verdict[0])
        chart = self.report("workloads", env={"COLUMNS": "120"}).out.split("wall time of every run")[0]
        # Each below a heading of its own, the best first.
        self.assertRegex(chart, r"(?s)\nlong\n *long: x=2 .*\n *long: x=1 .*\nshort\n *short: x=1 .*\n *short: x=2 ")

    def test_charts_follow_the_data(self):
        """A chain of settings has its steps, a grid its map, energy its front."""
        expected = {"pair": ["intervals", "intervals", "runs", "over-time", "over-time"], "chain": ["intervals", "steps", "runs"],
                    "grid": ["intervals", "intervals", "heat-map", "pareto", "runs"], "nothing": []}
        for session, names in expected.items():
            with self.subTest(session), tempfile.TemporaryDirectory() as folder:
                into = Path(folder) / "charts"
                self.assert_code(self.report(session, "--format", "svg", "--output", into), 0)
                self.assertEqual(sorted(path.name for path in into.iterdir()),
                                 [f"{i + 1}-{name}.svg" for i, name in enumerate(names)])

    def test_page_is_whole_and_alone(self):
        for session in SESSIONS:
            with self.subTest(session):
                text = self.report(session, "--format", "html").out
                page = Page(text)
                self.assertEqual((page.open, page.problems), ([], []))
                self.assertEqual([name for name, _ in page.names if name in ("script", "link", "img", "iframe")], [])
                self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), r"https?:|url\(|@import")
                ids = [attributes["id"] for _, attributes in page.names if "id" in attributes]
                self.assertEqual(len(ids), len(set(ids)))
                for name, attributes in page.names:
                    if name == "svg":
                        self.assertEqual(attributes["role"], "img")
                        self.assertLessEqual(set(attributes["aria-labelledby"].split()), set(ids))
                self.assertEqual(text, self.report(session, "--format", "html").out)

    def test_hostile_names_stay_text(self):
        page = Page(self.report(HOSTILE, "--format", "html").out)
        self.assertIn(("h1", "<script>alert(1)</script> | *bold* `code`"), page.texts)
        self.assertFalse(any(name == "b" for name, _ in page.names))
        marked = self.report(HOSTILE, "--format", "markdown").out
        self.assertIn(r"# \<script\>alert(1)\</script\> \| \*bold\* \`code\`", marked)
        for line in marked.splitlines():
            if line.startswith("| \\<b"):
                self.assertIn(len(re.findall(r"(?<!\\)\|", line)), (4, 7, 8))

    @unittest.skipIf(browser.WHY_NOT, browser.WHY_NOT)
    def test_no_text_on_another(self):
        for session in SESSIONS:
            page = self.report(session, "--format", "html").out
            for width in (1280, 390):
                with self.subTest(session, width=width):
                    measured = browser.measure(page, width)
                    self.assertGreater(len(measured["boxes"]), 10)
                    self.assertEqual(browser.faults(measured), [])

    def test_repeat(self):
        text = self.report("pair").out
        self.assertIn("  cd '/home/somebody/a tree'\n"
                      "  hvtune compare --a memory.thp=always -- sh -c 'make it; echo '\\''done'\\'''\n", text)
        # The printed line is the command again.
        line = next(line for line in text.splitlines() if line.startswith("  hvtune compare"))
        words = subprocess.run(["sh", "-c", f"printf '%s\\n' {line.strip()}"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(words.stdout.splitlines()[-2:], ["-c", "make it; echo 'done'"])

    def test_csv_has_every_run(self):
        rows = list(csv.reader(io.StringIO(self.report("pair", "--format", "csv").out)))
        self.assertEqual(len(rows), 1 + 19)

    def test_form_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for ending, start in ((".html", "<!DOCTYPE html>"), (".md", "# pair"), (".json", "{"), (".txt", "pair\n"),
                                  (".csv", "")):
                path = Path(folder) / ("report" + ending)
                self.assert_code(self.report("pair", "--output", path), 0)
                self.assertTrue(path.read_text().startswith(start))
            json.loads((Path(folder) / "report.json").read_text())

    def test_usage(self):
        for arguments in (["--format", "pdf"], ["--output", "x.doc"], ["--format", "svg"], ["1", "2"],
                          ["--format", "svg", "--output", "-"]):
            done = self.report(*arguments)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)

    def test_could_not(self):
        for arguments in (["no-such"], ["--output", "/no/such/place.html"]):
            done = self.report(*arguments)
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
        done = hvtune("report", "--store", "/no/such/store.db")
        self.assert_code(done, 3)
        self.assert_one_line(done.err)

    def test_text_keeps_to_its_width(self):
        for width in (60, 80, 120):
            for line in self.report("pair", env={"COLUMNS": str(width)}).out.splitlines():
                if "hvtune compare" not in line:
                    self.assertLessEqual(len(line), width, line)


if __name__ == "__main__":
    unittest.main()
