# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns proving that the pictures of the topology show every CPU once, and fit: the boxes in the terminal and the SVG."""
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import cases
import hosts
from harness import SANITIZED, Test, hvtune
from test_topology import numbers

WHY_NOT = cases.missing()
SVG = "{http://www.w3.org/2000/svg}"


def online(host):
    return numbers(hvtune("show", "topology", "--json", "--host", host).json()["topology"]["cpus"]["online"])


def picture(host):
    done = hvtune("show", "topology", "--svg", "-", "--host", host)
    return ElementTree.fromstring(done.out)


def cpus_of(root, kind):
    return [int(text.text) for text in root.iter(f"{SVG}text") if text.get("class") == kind]


def boxed(text):
    """Numbers and ranges inside the boxes."""
    found = []
    for line in text.splitlines():
        if not line.startswith(("│", "|")):
            continue
        line = re.sub(r"┌[^┐]*┐|\+ [^+]*\+", "", line)
        line = re.sub(r"\d+ (more like|CCXs?|L3 groups?)\b[^:]*:", "", line)  # "3 CCXs · 32 MiB each:"
        line = re.sub(r"(CCX|L3) \d+( \(id \d+\))?( · |, )?(\d+ [KM]iB)?", "", line)
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", line):
            found += range(int(first), int(last or first) + 1)
    return found


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Pictures(Test):
    @classmethod
    def setUpClass(cls):
        cls.roots = cases.trees()
        cls.roots = dict(list(cls.roots.items())[::8 if SANITIZED else 3])

    def test_svg_shows_every_cpu_once(self):
        for name, root in self.roots.items():
            with self.subTest(name):
                image = picture(root)
                self.assertEqual(sorted(cpus_of(image, "cpu")), sorted(online(root)))

    def test_svg_keeps_inside(self):
        for name, root in self.roots.items():
            with self.subTest(name):
                image = picture(root)
                width, height = float(image.get("width")), float(image.get("height"))
                for box in image.iter(f"{SVG}rect"):
                    if box.get("x"):
                        self.assertLessEqual(float(box.get("x")) + float(box.get("width")), width)
                        self.assertLessEqual(float(box.get("y")) + float(box.get("height")), height)
                for text in image.iter(f"{SVG}text"):
                    self.assertLessEqual(float(text.get("y")), height)

    def test_svg_is_self_contained(self):
        text = hvtune("show", "topology", "--svg", "-", "--host", next(iter(self.roots.values()))).out
        self.assertNotRegex(text.replace('xmlns="http://www.w3.org/2000/svg"', ""), r"https?:|@import|<script|<image")

    def test_terminal_shows_every_cpu_once(self):
        for name, root in self.roots.items():
            for width, locale in ((80, "C.UTF-8"), (160, "C")):
                with self.subTest(name, width=width, locale=locale):
                    done = hvtune("show", "topology", "--host", root, env={"COLUMNS": str(width), "LC_ALL": locale})
                    self.assertEqual(sorted(boxed(done.out)), sorted(online(root)), done.out)
                    self.assertLessEqual(max(map(len, done.out.splitlines())), width)
                    if locale == "C":
                        self.assertTrue(done.out.isascii())

    def test_names_are_escaped(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "proc").mkdir()
            (root / "sys/devices/system/cpu/cpu0/topology").mkdir(parents=True)
            (root / "sys/devices/system/cpu/online").write_text("0\n")
            name = b'<b>&"\x01\xff\xed\xa0\x80 \xe2\x82\xac'
            (root / "proc/cpuinfo").write_bytes(b"processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: " + name + b"\n")
            image = picture(root)
            title = "".join(text.text for text in image.iter(f"{SVG}text") if text.get("class") == "title")
            self.assertTrue(title.startswith('<b>&"'), title)
            self.assertIn("€", title)

    def test_folded_at_eighty_columns(self):
        """2 x 96 cores on a screen: one CCX of a kind is drawn, the others are named."""
        root = cases.CASES / "dumps/derived/hwloc-AMD-19h-Zen4-2xEpyc-9654"
        lines = hvtune("show", "topology", "--host", root, env={"COLUMNS": "80"}).out.splitlines()
        self.assertLess(len(lines), 40)
        self.assertEqual(sum("more like it · 32 MiB each:" in line for line in lines), 2)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_a_title_is_cut_between_its_parts(self):
        """Half a number would be another one."""
        root = hosts.root_of("epyc-9354p", hosts.names()["epyc-9354p"])
        for width in range(40, 90):
            title = hvtune("show", "topology", "--host", root, env={"COLUMNS": str(width)}).out.splitlines()[2:6]
            self.assertRegex("".join(title), r"┌ package 0 · node 0( · 384 GiB(, 160 GiB free)?)? ─*┐")

    def test_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            cpus = root / "sys/devices/system/cpu"
            for cpu in range(2):
                topology = cpus / f"cpu{cpu}/topology"
                topology.mkdir(parents=True)
                for file in ("core_cpus", "package_cpus"):
                    (topology / file).write_text(f"{1 << cpu if file == 'core_cpus' else 3:x}\n")
                (topology / "core_id").write_text(f"{cpu}\n")
                (topology / "physical_package_id").write_text("0\n")
            for file, text in (("online", "0-1"), ("present", "0-3"), ("possible", "0-3"), ("isolated", "1")):
                (cpus / file).write_text(text + "\n")
            (root / "proc").mkdir()
            (root / "proc/cpuinfo").write_text("processor\t: 0\n\nprocessor\t: 1\n")
            text = hvtune("show", "topology", "--host", root).out
            self.assertIn("1*", text)
            self.assertRegex(text, r"\* isolated +1\n")
            self.assertRegex(text, r"off line +2-3\n")
            image = picture(root)
            self.assertEqual(cpus_of(image, "off-cpu"), [2, 3])
            self.assertEqual(sum(box.get("class") == "thread isolated" for box in image.iter(f"{SVG}rect")), 2)


if __name__ == "__main__":
    unittest.main()
