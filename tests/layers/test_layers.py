# SPDX-License-Identifier: GPL-3.0-or-later
"""The rooms of src/ see only the rooms above them: what the build's include paths allow, proved by compiling."""
import json
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import TOP, hvtune

LIBRARIES = subprocess.run(["pkg-config", "--cflags", "libxml-2.0"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.split()
ROOMS = [*re.findall(r"^  \['(\w+)', \[", (TOP / "src/meson.build").read_text(), re.MULTILINE), "cli"]


def sources(pattern):
    return sorted((TOP / "src").glob(pattern))


def compile_command(room):
    """The compiler call of some file of the room, without the file and its output."""
    for entry in json.loads((TOP / "build/compile_commands.json").read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if path.parent == TOP / "src" / room:
            words = shlex.split(entry["command"])
            kept, skip = [], 0
            for word in words:
                if skip:
                    skip -= 1
                elif word in ("-o", "-MF", "-MQ", "-MT"):
                    skip = 1
                elif word not in ("-MD", "-c") and not word.endswith(".c"):
                    kept.append(word)
            return entry["directory"], kept
    raise AssertionError(f"no file of {room} is compiled")


def compile_probe(room, text):
    """What the compiler says of a file of that room; empty when it compiles."""
    folder, command = compile_command(room)
    with tempfile.TemporaryDirectory() as out:
        path = Path(out) / "probe.c"
        path.write_text(text + "int probe;\n")
        # Internal headers of src/vm name libxml2, whose headers other rooms are not given.
        return subprocess.run([*command, *LIBRARIES, "-w", "-fsyntax-only", str(path)], cwd=folder, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr


class Layers(unittest.TestCase):
    """One compilation a room and question: there are many headers."""

    def test_a_room_sees_itself_and_those_above(self):
        for room in ROOMS:
            seen = [header.name for above in ROOMS[:ROOMS.index(room) + (room != "cli")]
                    for header in sources(f"{above}/*.h")
                    if not header.name.endswith("_internal.h") or above == room]
            with self.subTest(room=room):
                self.assertEqual(compile_probe(room, "".join(f'#include "{name}"\n' for name in seen)), "")

    def test_a_room_does_not_see_those_below(self):
        for room in ROOMS:
            hidden = [header.name for below in ROOMS[ROOMS.index(room) + 1:] for header in sources(f"{below}/*.h")]
            probe = "".join(f'#if __has_include("{name}")\n#error {room} can include {name}\n#endif\n' for name in hidden)
            with self.subTest(room=room):
                self.assertEqual(compile_probe(room, probe), "")

    def test_the_test_sees_headers(self):
        self.assertIn("can include err.h", compile_probe("sys", '#if __has_include("err.h")\n#error can include err.h\n#endif\n'))
        self.assertNotEqual(compile_probe("sys", '#include "cli.h"\n'), "")

    def test_there_are_rooms(self):
        self.assertEqual((ROOMS[0], ROOMS[-1]), ("base", "cli"))
        self.assertGreater(len(ROOMS), 8)

    def test_no_include_goes_around_the_include_paths(self):
        for path in sources("**/*.[ch]"):
            for name in re.findall(r'#\s*include\s*"([^"]*)"', path.read_text()):
                self.assertNotIn("/", name, f"{path.name} includes {name}")

    def test_internal_headers_stay_in_their_room(self):
        for header in sources("*/*_internal.h"):
            for path in sources("**/*.[ch]"):
                if path.parent != header.parent:
                    self.assertNotIn(f'"{header.name}"', path.read_text(), f"{path.name} includes {header.name}")

    def test_only_the_door_opens_files_for_reading_hosts(self):
        # A call through a table of functions is another room's or the file's own.
        opening = re.compile(r"(?<!->)(?<!\.)\b(open|openat|openat2|fopen|opendir|fdopendir|readlink|readlinkat|popen|system|"
                             r"freopen|scandir|nftw)\s*\(")
        # What is named on the command line, to be read or written; none of it is a host's file.
        allowed = {"cmd_capture.c", "host_import.c", "lint_file.c", "picture.c", "store_place.c", "cmd_results.c",
                   "bench_spawner.c"}
        for path in sources("**/*.c"):
            if path.parent.name == "sys" or path.name in allowed:
                continue
            code = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", "", path.read_text(), flags=re.DOTALL)
            self.assertIsNone(opening.search(code), f"{path.name} opens files past the door")


class Tables(unittest.TestCase):
    def test_every_rule_of_the_sources_is_asked(self):
        written = {name for path in sources("advise/*.c")
                   for name in re.findall(r'^\s*(?:\{)?\.id = "([^"]+)"', path.read_text(), re.MULTILINE)}
        asked = {rule["id"] for rule in hvtune("explain", "--list", "--json").json()["rules"]}
        self.assertEqual(written, asked)

    def test_there_are_enough_findings(self):
        self.assertGreaterEqual(len(hvtune("explain", "--list", "--json").json()["rules"]), 70)


class Files(unittest.TestCase):
    def test_every_source_says_its_licence_and_what_it_owns(self):
        for path in [*sources("**/*.[ch]"), *sorted((TOP / "tests").glob("**/*.[ch]"))]:
            lines = path.read_text().splitlines()
            self.assertTrue(lines[0].startswith("/* SPDX-License-Identifier: GPL-3.0-or-later"), path)
            self.assertTrue(lines[0][-2:] != "*/" or lines[1].startswith("/*"), f"{path} does not say what it owns")

    def test_files_stay_short(self):
        for path in sources("**/*.[ch]"):
            self.assertLessEqual(len(path.read_text().splitlines()), 650, path)

    def test_nothing_is_left_to_do(self):
        for path in [*sources("**/*"), *sorted((TOP / "docs").glob("**/*"))]:
            if path.is_file():
                self.assertIsNone(re.search(r"\b(TODO|FIXME|XXX)\b", path.read_text(errors="replace")), path)
