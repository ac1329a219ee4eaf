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
SESSIONS = ("pair", "chain", "grid", HOSTILE, "nothing", "workloads", "shares", "efficiency", "confirmed", "zeros", "answered", "nonsense")
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
        json_ = self.report("workloads", "--json").json()
        # 100 to 90 s and 10 to 11 s: (ln(100/90) + ln(10/11)) / 2.
        self.assertIn("Most performance over 2 workloads: x=2, with 100.", json_["verdict"][0])
        chart = self.report("workloads", env={"COLUMNS": "120"}).out.split("wall time of every run")[0]
        # Each below a heading of its own, the best first.
        self.assertRegex(chart, r"(?s)\nlong\n *x=2 .*\n *x=1 .*\nshort\n *x=1 .*\n *x=2 ")

    def test_shares_of_settings(self):
        """What each of two settings contributes, by hand in report_store.c; settings that move together are one."""
        first, second = self.report("shares", "--json").json()["attribution"]
        self.assertEqual((first["metric"], first["from"], first["to"]), ("wall time", "as it was", "both"))
        self.assertEqual([(one["setting"], one["from"], one["to"]) for one in first["settings"]],
                         [("governor and epp", "as it was", "performance"), ("thp", "as it was", "always")])
        for one, share, alone, last in zip(first["settings"], (.8705, .9189), (.9, .95), (.8 / .95, .8 / .9)):
            self.assertAlmostEqual(one["ratio"], share, delta=.001)
            self.assertAlmostEqual(one["alone"], alone, delta=.002)
            self.assertEqual(one["most"], one["alone"])
            self.assertAlmostEqual(one["least"], last, delta=.002)
            self.assertLess(one["low"], one["ratio"])
        self.assertAlmostEqual(first["total"]["ratio"], .8, delta=.002)
        self.assertAlmostEqual(first["not_attributable"]["ratio"], 1)
        self.assertTrue(first["attributable"])
        self.assertEqual(second["metric"], "energy")
        text = self.report("shares", env={"COLUMNS": "160"}).out
        self.assertIn("not attributable (three-way and higher)", text)
        self.assertIn("interactions left", text)
        # A chain is an order that somebody chose.
        self.assertEqual(self.report("chain", "--json").json()["attribution"], [])
        text = re.sub(r"\s+", " ", self.report("chain", env={"COLUMNS": "160"}).out)
        self.assertIn("in single steps, in this order", text)
        self.assertIn("alone: not measured", text)

    def test_geometric_means_with_power(self):
        """As study C has them; a workload that did not run on one side is on neither."""
        base, acpi, efficient = self.report("efficiency", "--json").json()["geometric_means"]
        self.assertEqual(base["settings"], {"driver": "amd-pstate"})
        self.assertEqual((efficient["performance"]["workloads"], efficient["left_out"]), (3, "broken"))
        self.assertAlmostEqual(efficient["performance"]["ratio"], .978, delta=.001)
        self.assertAlmostEqual(efficient["power"]["ratio"], .92, delta=.002)
        self.assertAlmostEqual(efficient["performance_per_watt"]["ratio"], .978 / .92, delta=.003)
        self.assertAlmostEqual(acpi["performance"]["ratio"], 1 / 1.02, delta=.001)
        self.assertLess(efficient["performance"]["low"], .978)
        self.assertGreater(efficient["performance"]["high"], .977)
        alike = efficient["performance"]["alike"]
        self.assertLess(alike["low"], alike["high"])
        text = re.sub(r"\s+", " ", self.report("efficiency", env={"COLUMNS": "200"}).out)
        self.assertIn("Most performance over 4 workloads: the baseline, driver=amd-pstate.", text)
        self.assertRegex(text, r"Most performance per watt over 3 workloads: driver=efficient, with 97\.8\d* % of the "
                               r"performance of the baseline \(97\.[67]\d* to 97\.[89]\d* %\) at 9[12]\.\d+ % of its power\.")
        self.assertIn("3, without broken", text)
        # Four boots: intervals rest on their means, and runs are told apart by them.
        self.assertIn("the intervals rest on the means of boots", text)

    def test_before_and_after(self):
        """As study B has it, from runs that were made to confirm the choice."""
        json_ = self.report("confirmed", "--json").json()
        self.assertEqual([(one["metric"], one["from"], one["to"], one["pairs"]) for one in json_["changes"]],
                         [("events", "pages=4K", "pages=1G", 6), ("latency", "pages=4K", "pages=1G", 6)])
        self.assertAlmostEqual(json_["changes"][0]["ratio"], 1.285, delta=.003)
        self.assertAlmostEqual(json_["changes"][1]["ratio"], .664, delta=.003)
        self.assertEqual(json_["verdict"][0], "Best for time: pages=1G, within 1 % of the best, with 98 % confidence. Measured again "
                         "beside the baseline: \N{MINUS SIGN}22.20 % (\N{MINUS SIGN}23.00 % to \N{MINUS SIGN}21.40 %, 6 pairs).")
        text = self.report("confirmed", env={"COLUMNS": "160"}).out
        self.assertIn("Before and after, from pages=4K to pages=1G", text)
        # Nothing was confirmed: nothing is claimed.
        self.assertEqual(self.report("grid", "--json").json()["changes"], [])

    def test_answer_of_a_study(self):
        """What it said at its end: picks, idle watts with traces, shares by its model, and the figures of study A."""
        json_ = self.report("answered", "--json").json()
        self.assertEqual(json_["verdict"][0], "Best for time: profile=virtual-host mode=active, within 1 % of the best, with 98 % "
                         "confidence. It was not measured again beside the baseline, so no effect is claimed.")
        shares, = json_["attribution"]
        self.assertEqual([one["setting"] for one in shares["settings"]], ["mode", "profile"])
        self.assertEqual([(one["setting"], one["value"]) for one in shares["in_this_order"]], [("mode", 101), ("profile", 90)])
        self.assertEqual(shares["in_this_order"][0]["alone"], .77)
        self.assertIsNone(shares["not_attributable"]["ratio"])
        text = self.report("answered", env={"COLUMNS": "200"}).out
        picks = text.split("What to take\n")[1].split("\n\n")[0]
        self.assertRegex(picks, r"fastest +profile=virtual-host mode=active +as asked for +0\.2 % +0\.01 %")
        self.assertRegex(picks, r"most efficient +profile=balanced mode=active +not sure: 21 % that it is not +1\.8 %")
        self.assertRegex(picks, r"most efficient within 5 % of the fastest +none: none is that near")
        self.assertIn("single steps, in this order", text)
        # Idle watts by profile and mode, beside no run; times grouped by the first factor.
        idle = text.split("Idle: wall power (wall) of each configuration")[1].split("\n\n")[0]
        self.assertRegex(idle, r"(?s)profile=balanced\n.*mode=active.*mode=passive.*profile=virtual-host\n.*mode=passive.*mode=active")
        self.assertIn("189.0 W (186.0 to 192.0)", idle)  # as the study said: parts of a window are no runs
        self.assertNotIn("210", idle)
        self.assertIn("wall power (wall) by profile and mode: idle", text)
        table = text.split("Idle watts: settled, then a window")[1].split("\n\n")[0]
        self.assertRegex(table, r"virtual-host mode=active +left behind: 75.0 W \(70.0 to 80.0\) +3 +189.0 W \(186.0 to 192.0\) +184.0 W +"
                                r"89.0 W \(85.0 to 93.0\)")
        self.assertIn("more often than every 240.0 s", text)
        # An idle window is no run of a workload.
        self.assertNotIn("idle: profile", text.split("wall time of every run")[1].split("Figures")[0])
        self.assertNotIn("no valid run", text)

    def test_few_runs_and_zeros(self):
        zeros = self.report("zeros", "--json").json()["metrics"][0]["estimates"][0]
        self.assertEqual(zeros["low"], 0)
        self.assertAlmostEqual(zeros["estimate"], .001)
        text = re.sub(r"\s+", " ", self.report("zeros").out)
        self.assertIn("1.0 ms, arithmetic", text)
        self.assertIn("0.0 to 3.2 ms", text)
        self.assertIn("No value was measured of: energy (package).", text)
        self.assertNotIn("no valid run", text)
        # Two runs have no interval that tells anything.
        self.assertIn("too few runs", self.report(HOSTILE, env={"COLUMNS": "200"}).out)

    def test_nonsense_in_a_store(self):
        for form in ("text", "html", "markdown", "json", "csv"):
            done = self.report("nonsense", "--format", form)
            self.assert_code(done, 0)
            self.assert_clean(done)
            self.assertNotRegex(done.out, r"\bnan\b|\binf\b")

    def test_what_was_left_out(self):
        text = self.report("pair", env={"COLUMNS": "160"}).out
        self.assertIn("8 runs, 1 warm-up, 1 void", text)
        section = text.split("What was left out\n")[1].split("\n\n")[0]
        self.assertRegex(section, r"B +invalid: throttled <b> +1")
        self.assertRegex(section, r"A +warmup +1")

    def test_verdict_stands_once(self):
        page = re.sub(r"\s+", " ", self.report("pair", "--format", "html").out)
        self.assertEqual(page.count("B takes 5.00 % less time than A"), 1)

    def test_host(self):
        text = re.sub(r"\s+", " ", self.report("pair", env={"COLUMNS": "160"}).out)
        for part in ("epyc: EPYC 9354P: 32 cores, 64 threads", "processor AMD EPYC 9354P 32-Core Processor",
                     "topology 1 package, 8 CCDs, 64 threads", "kernel 6.14.0", "memory 377.5 GiB", "runs under none",
                     "kernel's command line quiet amd_pstate=active", "governor performance (CPUs 0); schedutil (CPUs 1-63)",
                     "hugepages 512 of 2 MiB (node 0: 500, 0 free; node 1: 12, 12 free), 0 of 1 GiB; usual size 2.000 MiB",
                     "highest clock of the hardware 3.799 GHz (CPUs 0-63)", "vulnerable tsa (no microcode)", "mitigated spectre_v2",
                     "not affected by l1tf", "sources of energy and power readable, of one package", "hvtune 0.1.0"):
            self.assertIn(part, text)

    def test_charts_follow_the_data(self):
        """A chain of settings has its steps, a grid its map, energy its front."""
        expected = {"pair": ["intervals", "intervals", "intervals", "runs", "over-time", "over-time"], "chain": ["intervals", "steps", "runs"],
                    "shares": ["intervals", "intervals", "steps", "steps", "pareto", "runs"], "confirmed": ["intervals", "intervals", "runs"],
                    "answered": ["pareto", "intervals", "intervals", "intervals", "heat-map", "steps", "steps", "heat-map", "runs", "over-time"],
                    "efficiency": ["intervals", "pareto", "heat-map", "intervals", "intervals", "runs", "over-time"],
                    "grid": ["intervals", "intervals", "steps", "steps", "heat-map", "pareto", "runs"], "nothing": []}
        for session, names in expected.items():
            with self.subTest(session), tempfile.TemporaryDirectory() as folder:
                into = Path(folder) / "charts"
                self.assert_code(self.report(session, "--format", "svg", "--output", into), 0)
                self.assertEqual(sorted(path.name for path in into.iterdir()),
                                 sorted(f"{i + 1}-{name}.svg" for i, name in enumerate(names)))

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
