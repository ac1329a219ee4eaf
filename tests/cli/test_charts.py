# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns proving in a browser that no text of a chart stands on another, and that charts keep to their form."""
import re
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import browser
from harness import HVTUNE, Test

PAGE = Path(HVTUNE).resolve().parents[2] / "tests/unit/chart_page"
SVG = "{http://www.w3.org/2000/svg}"
CHARTS = 11


def chart_page(*arguments, locale="C.UTF-8"):
    return subprocess.run([PAGE, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True,
                          env={"LC_ALL": locale}).stdout


@unittest.skipUnless(PAGE.exists(), f"{PAGE.name} is not built")
class Charts(Test):
    @unittest.skipIf(browser.WHY_NOT, browser.WHY_NOT)
    def test_no_text_on_another(self):
        page = chart_page("html")
        for width in (1280, 800, 390, 360):
            with self.subTest(width=width):
                measured = browser.measure(page, width)
                self.assertEqual(measured["width"], width)
                texts = {box[4] for box in measured["boxes"]}
                self.assertLessEqual({"balanced", "powersave", "time, min"}, texts)
                self.assertEqual(browser.faults(measured), [])

    @unittest.skipIf(browser.WHY_NOT, browser.WHY_NOT)
    def test_faults_are_seen(self):
        """The measuring itself: texts put on each other, and out of the window."""
        page = ('<!DOCTYPE html><html><body style="margin:0"><svg width="100" height="40"><text x="5" y="20">one</text>'
                '<text x="10" y="24">two</text><text x="90" y="20">outside</text></svg>'
                '<p style="width:900px">wide</p></body></html>')
        found = "\n".join(browser.faults(browser.measure(page, 390)))
        self.assertIn("'one' and 'two' stand on each other", found)
        self.assertIn("'outside' is outside of chart 1", found)
        self.assertIn("the page is 900 pixels wide", found)

    def test_files_are_whole(self):
        for index in range(CHARTS):
            for width in (300, 342, 760, 1600):
                with self.subTest(index, width=width):
                    text = chart_page("file", index, width)
                    root = ElementTree.fromstring(text)
                    self.assertEqual(root.get("role"), "img")
                    self.assertEqual(root.get("width"), str(width))
                    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
                    self.assertEqual(root.get("aria-labelledby"), f"{title.get('id')} {description.get('id')}")
                    self.assertTrue(description.text.startswith(title.text), description.text)
                    self.assertNotRegex(text.replace('xmlns="http://www.w3.org/2000/svg"', ""),
                                        r"https?:|@import|<script|<image|nan|inf\"")
                    height = float(root.get("height"))
                    for part in root.iter():
                        for at in ("y", "y1", "y2", "cy"):
                            self.assertLessEqual(float(part.get(at, 0)), height)

    def test_every_run_is_drawn(self):
        root = ElementTree.fromstring(chart_page("file", 6, 760))
        dots = [dot for dot in root.iter(f"{SVG}circle")]
        crosses = [path for path in root.iter(f"{SVG}path") if path.get("class") == "bad"]
        self.assertEqual(len(dots) + len(crosses), 12 + 3000 + 1)
        self.assertEqual(len({(dot.get("cx"), dot.get("cy")) for dot in dots}), len(dots), "one hides another")

    def test_text_keeps_to_its_width(self):
        for width in (40, 60, 80, 120, 200):
            for locale in ("C.UTF-8", "C"):
                with self.subTest(width=width, locale=locale):
                    text = chart_page("text", width, locale=locale)
                    self.assertLessEqual(max(map(len, text.splitlines())), width)
                    self.assertIsNone(re.search(r"(?m) $|\bnan\b", text))
                    if locale == "C":
                        self.assertTrue(text.isascii())

    def test_colours_have_contrast(self):
        """Lines and shapes 3:1 on their ground, texts 4.5:1 (WCAG 2.2, 1.4.3 and 1.4.11), light and dark."""
        style = re.search(r"<style>(.*?)</style>", chart_page("file", 0, 760), re.DOTALL)[1]
        light, dark = style.split("@media", 1)
        for part in (light, dark.split(".chart text", 1)[0]):
            colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part))
            for name in ("main", "good", "bad", "ref", "s2", "s3", "s4", "s5"):
                self.assertGreaterEqual(contrast(colours[name], colours["paper"]), 3, name)
            for name in ("ink", "dim"):
                self.assertGreaterEqual(contrast(colours[name], colours["paper"]), 4.5, name)
            for shade in range(7):
                self.assertGreaterEqual(contrast(colours[f"h{shade}"], colours[f"t{shade}"]), 4.5, shade)
            # Shades of a heat map differ in lightness alone, in one direction.
            lightness = [luminance(colours[f"h{shade}"]) for shade in range(7)]
            self.assertIn(lightness, (sorted(lightness), sorted(lightness, reverse=True)))


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return sum(weight * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
               for weight, c in zip((0.2126, 0.7152, 0.0722), parts))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


if __name__ == "__main__":
    unittest.main()
