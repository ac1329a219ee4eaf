# SPDX-License-Identifier: GPL-3.0-or-later
"""Man pages, completion, pages of findings and README say what the program says."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import COMMANDS, HVTUNE, TOP, Test, hvtune, options_in_help


def man_page(command):
    return (TOP / f"docs/man/hvtune-{command}.1").read_text(encoding="utf-8")


class Man(Test):
    def test_lint(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not there")
        for page in sorted((TOP / "docs/man").glob("*.1")):
            done = subprocess.run(["mandoc", "-T", "lint", str(page)], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False)
            # Whether the manuals referred to are installed here says nothing about the page.
            self.assertEqual([line for line in done.stdout.splitlines() if "referenced manual not found" not in line],
                             [], page)

    def test_every_option_and_no_other(self):
        for command in COMMANDS:
            items = re.findall(r"^\.It Fl (?:\w , )?-([a-z-]+)(?: Ar ([A-Z]+))?$", man_page(command), re.MULTILINE)
            documented = {f"--{name}": argument for name, argument in items}
            self.assertEqual(documented, options_in_help(command), command)

    def test_letters(self):
        for command in COMMANDS:
            shown = re.findall(r"^  -(\w), (--[a-z-]+)", hvtune(command, "--help").out, re.MULTILINE)
            documented = re.findall(r"^\.It Fl (\w) , -([a-z-]+)", man_page(command), re.MULTILINE)
            self.assertEqual(sorted(shown), sorted((letter, f"--{name}") for letter, name in documented), command)

    def test_synopsis_has_every_option(self):
        for command in COMMANDS:
            synopsis = re.search(r"\.Sh SYNOPSIS\n(.*?)\.Sh", man_page(command), re.DOTALL).group(1)
            for option in set(options_in_help(command)) - {"--help"}:
                self.assertRegex(synopsis, rf"(?m)Fl -{option[2:]}( |$)", command)

    def test_the_main_page_names_every_command(self):
        text = (TOP / "docs/man/hvtune.1").read_text(encoding="utf-8")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^\.Xr hvtune-{command} 1")
            self.assertIn(f".Cm {command}", text)

    def test_all_are_installed(self):
        listed = set(re.findall(r"'man/(.*?)'", (TOP / "docs/meson.build").read_text()))
        self.assertEqual(listed, {page.name for page in (TOP / "docs/man").glob("*.1")})


class StudyFiles(Test):
    """docs/study-files.md has each key that study files can have: what the program says that there is."""
    HEAD = "study: s\n"
    PLACES = ("nokey: 1\n", "limits: {nokey: 1}\n", "workloads: {w: {nokey: 1}}\n", "factors: {f: {nokey: 1}}\n",
              "workloads: {w: {run: x, metric: {nokey: 1}}}\n", "factors: {f: {levels: {a: {nokey: 1}, b: as-found}}}\n")

    def test_every_key(self):
        page = (TOP / "docs/study-files.md").read_text(encoding="utf-8")
        for place in self.PLACES:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(self.HEAD + place)
                file.flush()
                done = hvtune("study", "check", file.name)
            self.assert_code(done, 2)
            keys = re.search(r'no key "nokey".*?it has: ([a-z, -]+)', done.err, re.DOTALL).group(1).split(", ")
            self.assertGreater(len(keys), 2)
            for key in keys:
                self.assertRegex(page, rf"`\{{?{key}[`:]", f"{key} of {place}")

    def test_its_example(self):
        page = (TOP / "docs/study-files.md").read_text(encoding="utf-8")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(re.search(r"```yaml\n(.*?)```", page, re.DOTALL).group(1))
            file.flush()
            self.assertIn(hvtune("study", "check", file.name).code, (0, 1))


class Completion(Test):
    def complete(self, *words):
        script = f"""
            PATH={Path(HVTUNE).parent}:$PATH
            . {TOP}/data/hvtune.bash
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _hvtune
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", script, "bash", *words], stdout=subprocess.PIPE, text=True, check=True)
        return set(done.stdout.split())

    def test_commands(self):
        self.assertEqual(self.complete("hvtune", ""), {*COMMANDS, "help", "--help", "--version"})
        self.assertEqual(self.complete("hvtune", "help", ""), set(COMMANDS))
        self.assertEqual(self.complete("hvtune", "sh"), {"show"})

    def test_options(self):
        for command in COMMANDS:
            self.assertEqual(self.complete("hvtune", command, "--"), set(options_in_help(command)), command)

    def test_arguments_of_options(self):
        self.assertEqual(self.complete("hvtune", "lint", "--kind", ""), {"domain", "proxmox", "qemu", "cmdline", "entry", "grub", "modprobe", "tuned",
                                                                         "tuned-log"})
        self.assertIn(f"{TOP}/README.md", self.complete("hvtune", "check", "--host", f"{TOP}/READ"))

    def test_subjects_and_findings(self):
        self.assertIn("topology", self.complete("hvtune", "show", "top"))
        rules = hvtune("explain", "--list", "--json").json()["rules"]
        self.assertLessEqual({rule["id"] for rule in rules}, self.complete("hvtune", "explain", ""))


    def test_knobs(self):
        names = {knob["name"] for knob in hvtune("knobs", "--json").json()["knobs"] if knob["points"]}
        names = {name for name in names if "*" not in name}
        self.assertLessEqual(names, self.complete("hvtune", "knobs", ""))
        self.assertLessEqual({f"{name}=" for name in names}, self.complete("hvtune", "set", ""))


class Findings(Test):
    def test_pages_are_what_explain_prints(self):
        done = subprocess.run([sys.executable, TOP / "tools/update-docs", "--check"], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "HVTUNE": HVTUNE}, check=False)
        self.assertEqual(done.stdout.strip(), "", "tools/update-docs puts this right")
        self.assertEqual(done.returncode, 0)


class Settings(Test):
    """What pages, manual and README say to set can be set."""

    def assert_knob(self, ask, where):
        done = hvtune("set", ask, "--dry-run")
        self.assertNotIn("there is no such knob", done.err, f"{where}: {ask}")
        self.assertNotIn("is written KNOB", done.err, f"{where}: {ask}")

    def test_settings_of_findings(self):
        rules = hvtune("explain", "--json", *(rule["id"] for rule in
                                              hvtune("explain", "--list", "--json").json()["rules"])).json()["rules"]
        asks = {ask: rule["id"] for rule in rules for ask in (rule["knobs"] or "").split()}
        self.assertGreater(len(asks), 20)
        for ask, where in asks.items():
            self.assert_knob(ask, where)

    def test_commands_in_texts(self):
        texts = [*(TOP / "docs").rglob("*.md"), *(TOP / "docs/man").glob("*.1"), TOP / "README.md", *(TOP / "src/advise").glob("*.c"),
                 TOP / "src/knob/knob_rivals.c"]
        found = {}
        for path in texts:
            for command in re.findall(r"hvtune set((?: --?[a-z-]+| [\w.*-]+(?:@[\w,-]+)?=[^\s`;\"]+)+)",
                                      path.read_text(encoding="utf-8")):
                found.update({ask: path.name for ask in command.split() if not ask.startswith("-")})
        self.assertIn("governor=powersave", found)
        for ask, where in found.items():
            self.assert_knob(ask, where)


class Readme(Test):
    def test_commands_of_the_readme_exist(self):
        for name in ("README.md", "CONTRIBUTING.md"):
            text = (TOP / name).read_text(encoding="utf-8")
            for command, rest in re.findall(r"(?:`|\$ +)hvtune ([\w-]+)((?: --[a-z-]+)*)", text):
                if command in ("COMMAND",):
                    continue
                self.assertIn(command, (*COMMANDS, "help"), name)
                for option in rest.split():
                    self.assertIn(option, options_in_help(command), f"{name}: {command}")

    def test_files_that_are_named_exist(self):
        for name in ("README.md", "CONTRIBUTING.md"):
            text = (TOP / name).read_text(encoding="utf-8")
            for path in re.findall(r"(?:\]\(|`)((?:docs|src|tests|tools|data)/[\w./-]*)", text):
                self.assertTrue((TOP / path).exists(), f"{name} names {path}")

    def test_findings_that_are_named_exist(self):
        known = {rule["id"] for rule in hvtune("explain", "--list", "--json").json()["rules"]}
        subjects = {name.split(".")[0] for name in known}
        for name in ("README.md", "CONTRIBUTING.md", "docs/man/hvtune.1"):
            text = (TOP / name).read_text(encoding="utf-8")
            for found in re.findall(r"(?<![\w./-])([a-z0-9]+\.[a-z0-9]+(?:-[a-z0-9]+)+)(?![\w/.])", text):
                if found.split(".")[0] in subjects:
                    self.assertIn(found, known, name)


class Install(Test):
    def test_what_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["meson", "install", "-C", str(TOP / "build"), "--no-rebuild", "--quiet", "--destdir", folder],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            names = {path.name for path in Path(folder).rglob("*") if path.is_file()}
            pages = {page.name for page in (TOP / "docs/man").glob("*.1")}
            self.assertEqual(names, {"hvtune", "hvtune-confirm.service", *pages})
            programs = [path for path in Path(folder).rglob("hvtune") if os.access(path, os.X_OK)]
            done = subprocess.run([programs[0], "--version"], stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(done.stdout, hvtune("--version").out)


if __name__ == "__main__":
    unittest.main()
