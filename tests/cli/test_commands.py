# SPDX-License-Identifier: GPL-3.0-or-later
"""Help, exit codes, suggestions and the forms of output of every command."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import xml.dom.minidom
from pathlib import Path

from harness import COMMANDS, HVTUNE, TOP, Test, hvtune, options_in_help

sys.path.insert(0, str(TOP / "tests/hosts"))
import hosts  # noqa: E402

# A machine with warnings.
HOST = hosts.root_of("epyc-9354p-virtual-host", hosts.HERE / "machines/epyc-9354p-virtual-host.host")


def in_terminal(*arguments, env=None):
    """What the program prints to a terminal of 100 columns."""
    main, side = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    environment.update({"TERM": "xterm-256color", **(env or {})})
    process = subprocess.Popen([HVTUNE, *arguments], stdin=side, stdout=side, stderr=subprocess.DEVNULL,
                               env=environment)
    os.close(side)
    pieces = []
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # EIO: the other side has closed
            break
        if not piece:
            break
        pieces.append(piece)
    process.wait()
    os.close(main)
    return b"".join(pieces).decode(errors="replace")


class Help(Test):
    def test_the_list_of_commands(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            done = hvtune(*arguments)
            self.assert_code(done, 0)
            self.assert_clean(done)
            for command in COMMANDS:
                self.assertRegex(done.out, rf"(?m)^  {command} ")
            self.assertEqual(done.err, "")

    def test_without_a_command_help_is_a_usage_error(self):
        self.assert_code(hvtune(), 2)

    def test_each_command(self):
        for command in COMMANDS:
            done = hvtune(command, "--help")
            self.assert_code(done, 0)
            self.assert_clean(done)
            self.assertTrue(done.out.startswith(f"Usage: hvtune {command} "), done.out)
            self.assertIn("Exit codes:", done.out)
            self.assertEqual(done.out, hvtune("help", command).out)
            self.assertEqual(done.out, hvtune(command, "-h").out)
            self.assertIn("--help", options_in_help(command))

    def test_help_fits_80_columns(self):
        for command in COMMANDS:
            longest = max(map(len, hvtune(command, "--help", env={"COLUMNS": "80"}).out.splitlines()))
            self.assertLessEqual(longest, 80, command)

    def test_version(self):
        done = hvtune("--version")
        self.assert_code(done, 0)
        self.assertRegex(done.out, r"^hvtune \d+\.\d+\.\d+\n$")


class Usage(Test):
    def refused(self, *arguments):
        done = hvtune(*arguments)
        self.assert_code(done, 2)
        self.assert_one_line(done.err)
        self.assertEqual(done.out, "")
        return done.err

    def test_what_is_counted_is_whole(self):
        for command, option, value in (("run", "--runs", "2.5"), ("run", "--warmup", "0.5"), ("run", "--exit-code", "1.5"),
                                       ("compare", "--seed", "1.5"), ("compare", "--blocks", "5%")):
            self.assertIn(f'{option} takes a whole number from', self.refused(command, option, value, "--", "true"))

    def test_an_unknown_command_gets_a_suggestion(self):
        self.assertIn('did you mean "check"?', self.refused("chekc"))
        self.assertIn('did you mean "show"?', self.refused("shw"))
        self.assertNotIn("did you mean", self.refused("frobnicate"))
        self.refused("--frobnicate")
        self.refused("help", "frobnicate")
        self.refused("")

    def test_an_unknown_option(self):
        for command in COMMANDS:
            self.assertIn("--frobnicate", self.refused(command, "--frobnicate"))
            self.assertIn("-Z", self.refused(command, "-Z"))

        self.assertIn('did you mean "--sources"?', self.refused("show", "--soruces"))
        self.assertIn("-\u00e9", self.refused("check", "-\u00e9"))
        self.assertIn("-j\u00e9", self.refused("check", "-j\u00e9"))
        self.assertIn("a command comes first", self.refused("--json", "check"))

    def test_what_is_typed_cannot_command_the_terminal(self):
        bad = "a\x1b[31mb\r\nc\u009bd\u202ee"
        for arguments in (["explain", bad], ["show", bad], [bad], ["check", "--" + bad], ["check", bad],
                          ["check", "--ignore", bad], ["lint", "-k", bad, "x"], ["place", "--policy", bad],
                          ["place", "--new", bad], ["place", "--new", "4vcpu", "--name", bad]):
            self.assertIn("a?[31mb??c?d?e", self.refused(*arguments))

    def test_what_is_not_to_be_given_together(self):
        for arguments in (["check", "--min", "warn", "--min", "info"], ["show", "--list", "cpu"],
                          ["explain", "--list", "idle"], ["explain", "idle", "--json", "--markdown"],
                          ["explain", "--markdown"], ["show", "topology", "--svg", "-", "--json"],
                          ["lint", "-", "-"], ["lint", "--host", "-", "-"], ["place", "--host", "-", "--file", "-"],
                          ["place", "--new", "4vcpu", "--svg", "-", "--json"],
                          ["place", "--new", "4vcpu", "--svg", "-", "--format", "xml"],
                          ["place", "--new", "4vcpu", "--policy", "pack", "--policy", "power"]):
            self.refused(*arguments)

    def test_an_option_without_its_argument(self):
        self.assertIn("--host", self.refused("check", "--host"))

    def test_an_option_with_an_argument_that_it_does_not_take(self):
        self.assertIn("--json takes no argument", self.refused("check", "--json=yes"))

    def test_arguments_that_a_command_does_not_take(self):
        self.refused("check", "everything")

    def test_an_unknown_finding_or_subject(self):
        self.refused("explain", "no.such-finding")
        self.refused("show", "no-such-subject")

    def test_lint_without_a_file(self):
        self.refused("lint")


class CouldNot(Test):
    def refused(self, *arguments, stdin=None):
        done = hvtune(*arguments, stdin=stdin)
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertEqual(done.out, "")

    def test_a_host_that_is_not_there(self):
        for command in ("check", "show"):
            self.refused(command, "--host", "/nonexistent/host")

    def test_an_empty_name(self):
        for arguments in (["check", "--host", ""], ["lint", ""]):
            self.refused(*arguments)
            self.assertIn("empty", hvtune(*arguments).err)

    def test_a_directory_without_a_machine(self):
        with tempfile.TemporaryDirectory() as empty:
            self.refused("check", "--host", empty)

    def test_garbage_as_a_host(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(range(256)) * 64)
            file.flush()
            self.refused("check", "--host", file.name)

    def test_lint_of_what_is_not_there(self):
        self.refused("lint", "/nonexistent/grub")


class Output(Test):
    def test_a_full_disk_is_no_success(self):
        for arguments in (["check"], ["show"], ["explain", "--list"], ["help"], ["check", "--json"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([HVTUNE, *arguments], stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 3, arguments)
            self.assert_one_line(done.stderr)

    def test_a_closed_pipe_is_no_success_and_no_crash(self):
        for arguments in (["explain", "--list"], ["show"], ["check", "--json", "--all"]):
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = subprocess.run([HVTUNE, *arguments], stdin=subprocess.DEVNULL, stdout=write_end,
                                  stderr=subprocess.PIPE, text=True, check=False,
                                  preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
            os.close(write_end)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_json_of_every_command_parses_and_names_its_schema(self):
        for arguments in (["check", "--json"], ["check", "--json", "--all"], ["show", "--json"],
                          ["show", "topology", "--json"], ["show", "memory", "idle", "--json"], ["show", "--list", "--json"],
                          ["explain", "--json"]):
            done = hvtune(*arguments)
            self.assert_code(done, 0, 1)
            self.assert_clean(done)
            whole = done.json()
            self.assertEqual(whole["schema"], 1)
            self.assertEqual(whole["command"], arguments[0])
            self.assertTrue(done.out.isascii())

    def test_json_of_check(self):
        whole = hvtune("check", "--json").json()
        for finding in whole["findings"]:
            self.assertIn(finding["severity"], ("fail", "warn", "advice", "info", "good"))
            for key in ("id", "title", "mechanism", "evidence", "hurts", "by_hand", "source"):
                self.assertIn(key, finding)
        order = ["fail", "warn", "advice", "info", "good"]
        ranks = [order.index(finding["severity"]) for finding in whole["findings"]]
        self.assertEqual(ranks, sorted(ranks))

    def test_the_exit_code_says_whether_something_is_wrong(self):
        done = hvtune("check", "--json")
        wrong = any(finding["severity"] in ("fail", "warn") for finding in done.json()["findings"])
        self.assertEqual(done.code, 1 if wrong else 0)

    def test_colour_only_in_a_terminal_that_wants_it(self):
        self.assertNotIn("\033", hvtune("check", "--all").out)
        self.assertNotIn("\033", in_terminal("check", "--all", env={"NO_COLOR": "1"}))
        self.assertNotIn("\033", in_terminal("check", "--all", env={"TERM": "dumb"}))
        self.assertIn("\033[", in_terminal("check", "--all"))

    def test_text_is_clean(self):
        for arguments in (["check"], ["check", "--all"], ["show"], ["show", "topology"], ["show", "--list"],
                          ["explain", "--list"]):
            done = hvtune(*arguments)
            self.assert_code(done, 0, 1)
            self.assert_clean(done)
            self.assertEqual(done.err, "")

    def test_every_subject_of_show(self):
        names = [line.split()[0] for line in hvtune("show", "--list").out.splitlines()]
        self.assertIn("topology", names)
        for name in names:
            done = hvtune("show", name)
            self.assert_code(done, 0)
            self.assert_clean(done)
            done = hvtune("show", name, "--json")
            self.assert_code(done, 0)
            self.assertEqual(done.json()["schema"], 1)

    def test_check_names_the_machine_first_and_counts_last(self):
        lines = hvtune("check", env={"COLUMNS": "200"}).out.splitlines()
        self.assertRegex(lines[-1], r"checks? passed|apply here|more notes?|Root would")
        self.assertTrue(lines[0])

    def test_timing_goes_to_standard_error(self):
        plain, timed = hvtune("check"), hvtune("check", "--timing")
        self.assertEqual(plain.out, timed.out)
        self.assertRegex(timed.err, r"\d+ reads took \d")
        self.assertRegex(timed.err, r"ms  topology")

    def test_the_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.svg"
            # On a host whose free memory stays as it is.
            self.assert_code(hvtune("show", "topology", "--svg", path, "--host", HOST), 0)
            picture = path.read_text(encoding="utf-8")
            self.assertIn("<svg", picture)
            xml.dom.minidom.parseString(picture)
            self.assertEqual(hvtune("show", "topology", "--svg", "-", "--host", HOST).out, picture)
            done = hvtune("show", "topology", "--svg", Path(folder) / "no" / "such.svg")
            self.assert_code(done, 3)
            self.assert_one_line(done.err)

    def test_half_a_picture_is_none(self):
        limited = ["bash", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "-"]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.svg"
            for command in (["show", "topology"], ["place", "--new", "4vcpu"]):
                done = hvtune(*command, "--host", HOST, "--svg", path, prefix=limited)
                self.assert_code(done, 3)
                self.assert_one_line(done.err)
                self.assertIn("File too large", done.err)
                self.assertEqual(os.listdir(folder), [])
            self.assertIn("No space", hvtune("show", "topology", "--svg", "/dev/full").err)


class Choice(Test):
    """--ignore and --min of check."""

    def test_ignored_findings_are_told_and_do_not_count(self):
        before = hvtune("check", "--json", "--host", HOST).json()
        wrong = sorted({finding["id"] for finding in before["findings"] if finding["severity"] in ("fail", "warn")})
        self.assertTrue(wrong)
        done = hvtune("check", "--host", HOST, "--ignore", ",".join(wrong))
        self.assert_code(done, 0)
        self.assertRegex(done.out.replace("\n", " "), r"; \d+ findings? ignored")
        for name in wrong:
            self.assertNotIn(name, done.out)
        repeated = [word for name in wrong for word in ("--ignore", name)]
        self.assertEqual(hvtune("check", "--host", HOST, *repeated).out, done.out)
        after = hvtune("check", "--json", "--host", HOST, *repeated).json()
        self.assertEqual(after["ignored"] + len(after["findings"]), len(before["findings"]))

    def test_a_waiver_with_a_slip_is_refused(self):
        done = hvtune("check", "--ignore", "idle.c2-shut-ou")
        self.assert_code(done, 2)
        self.assertIn('did you mean "idle.c2-shut-out"? See hvtune check --help.', done.err)

    def test_min(self):
        for least in ("fail", "warn", "advice", "info", "good"):
            order = ["fail", "warn", "advice", "info", "good"]
            answer = hvtune("check", "--json", "--host", HOST, "--min", least).json()
            self.assertLessEqual({finding["severity"] for finding in answer["findings"]},
                                 set(order[:order.index(least) + 1]))
        self.assert_code(hvtune("check", "--min", "bad"), 2)


LSCPU = """Architecture: x86_64
CPU(s): 4
On-line CPU(s) list: 0-3
Vendor ID: AuthenticAMD
Model name: AMD EPYC Processor
Thread(s) per core: 1
Core(s) per socket: 4
Socket(s): 1
L3 cache: 8 MiB (1 instance)
NUMA node0 CPU(s): 0-3
"""


class Hosts(Test):
    def test_standard_input(self):
        done = hvtune("show", "topology", "--json", "--host", "-", stdin=LSCPU)
        self.assert_code(done, 0)
        counts = done.json()["topology"]["counts"]
        # One thread a core and one L3 in all: what follows is known.
        self.assertEqual((counts["cores"], counts["l3s"]), (4, 1))
        self.assertEqual(hvtune("show", "topology", "--json", "--host", "/dev/stdin", stdin=LSCPU).json()["topology"],
                         done.json()["topology"])
        pairs = LSCPU.replace("core: 1", "core: 2").replace("socket: 4", "socket: 2")
        self.assertIn("Sibling threads are not known", hvtune("show", "topology", "--host", "-", stdin=pairs).out)

    def test_a_capture_through_a_pipe(self):
        packed = subprocess.run([HVTUNE, "capture", "--host", str(HOST), "-o", "-"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, check=True)
        done = subprocess.run([HVTUNE, "check", "--json", "--host", "-"], input=packed.stdout, stdout=subprocess.PIPE,
                              check=False)
        self.assertEqual([finding["id"] for finding in json.loads(done.stdout)["findings"]],
                         [finding["id"] for finding in hvtune("check", "--json", "--host", HOST).json()["findings"]])
        self.assertEqual(in_terminal("capture", "-o", "-"), "", "an archive on a terminal")

    def test_texts_that_are_no_hosts(self):
        for text, said in (("", "the file is empty"), ("CPU NODE SOCKET CORE\n0 0 0 0\n", "lscpu -e"),
                           ("# The following is the parsable format, which\n", "lscpu -p")):
            done = hvtune("check", "--host", "-", stdin=text)
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
            self.assertIn(said, done.err)

    def test_a_machine_is_read_whole_or_not_at_all(self):
        done = hvtune("check", "--host", "package:8 l3:64 core:8 pu:3")
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("no numbers over 8191", done.err)

    def test_a_description_has_no_sizes_but_its_own(self):
        shape = hvtune("show", "topology", "--json", "--host", "package:1 l3:2 core:4 pu:2").json()["topology"]
        self.assertEqual([l3["size_kib"] for l3 in shape["l3s"]], [None, None])
        self.assertNotIn("GiB", hvtune("show", "topology", "--host", "package:1 l3:2 core:4 pu:2").out)
        told = hvtune("show", "topology", "--json", "--host",
                      "package:1 [numa(memory=64GiB)] l3:2(size=32MiB) core:4 pu:2").json()["topology"]
        self.assertEqual([l3["size_kib"] for l3 in told["l3s"]], [32768, 32768])
        self.assertIsNone(told["nps"]["value"])


class Layout(Test):
    def test_lines_fit_and_numbers_keep_their_units(self):
        for arguments in (["check", "--all"], ["explain", "--list"], ["show"]):
            for columns in (80, 100):
                done = hvtune(*arguments, *([] if arguments[0] == "explain" else ["--host", HOST]),
                              env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8"})
                for line in done.out.splitlines():
                    # A path that is longer than the line cannot be broken.
                    self.assertTrue(len(line) <= columns or "/" in line, line)
                self.assertNotRegex(done.out, r"\d\n +(us|ms|ns|MiB|GiB|MHz|GHz|W|%)\b")

    def test_nothing_to_judge_is_said(self):
        done = hvtune("check", "--host", "package:1 l3:2 core:4 pu:2")
        self.assert_code(done, 0)
        self.assertIn("Nothing could be judged: this source has no settings", done.out.replace("\n", " "))

    def test_sources(self):
        plain, told = hvtune("show", "kvm"), hvtune("show", "kvm", "--sources")
        self.assertNotIn("/sys/module/kvm", plain.out)
        self.assertIn("/sys/module/kvm", told.out)

    def test_labels_begin_with_a_capital_unless_they_are_names(self):
        names = r"(amd_pstate|hwmon|ipmi|node|nohz_full|perf|powercap|scx|tuned|vCPUs)\b"
        for host in (HOST, "/"):
            facts = hvtune("show", "--json", "--host", host).json()["facts"]
            for subject in set(facts) - {"cmdline", "devices"}:
                for fact in facts[subject]:
                    for text in (fact["label"], fact.get("section", "")):
                        self.assertNotRegex(text, r"^(?!" + names + r")[a-z]\w* ", subject)

    def test_slips(self):
        for arguments, said in ((["show", "topolgy"], 'did you mean "topology"?'),
                                (["show", "cpu", "--svg", "x.svg"], "--svg draws the topology"),
                                (["check", "--host", "/", "--host", "/"], "--host was given twice")):
            done = hvtune(*arguments)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertIn(said, done.err)

    def test_a_subject_lists_its_findings(self):
        done = hvtune("explain", "idle")
        self.assert_code(done, 0)
        listed = re.findall(r"^(?:fail|warn|advice|info|good) +(\S+)", done.out, re.MULTILINE)
        self.assertIn("idle.c2-shut-out", listed)
        self.assertEqual({name.split(".")[0] for name in listed}, {"idle"})


class Explain(Test):
    def test_every_finding_has_a_page(self):
        rules = hvtune("explain", "--list", "--json").json()["rules"]
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules), "an id is there twice")
        for rule in rules:
            self.assertRegex(rule["id"], r"^[a-z0-9]+\.[a-z0-9]+(-[a-z0-9]+)*$")
            done = hvtune("explain", rule["id"])
            self.assert_code(done, 0)
            self.assert_clean(done)
            self.assertIn(rule["id"], done.out)

    def test_texts_of_findings(self):
        rules = hvtune("explain", "--json", *[rule["id"] for rule in
                                              hvtune("explain", "--list", "--json").json()["rules"]]).json()["rules"]
        for rule in rules:
            with self.subTest(rule["id"]):
                for key in ("title", "mechanism", "source"):
                    self.assertTrue(rule[key], key)
                self.assertNotIn("!", json.dumps([rule[key] for key in ("title", "mechanism", "effect", "hurts")]
                                                 ).replace("!=", ""))
                self.assertFalse(rule["title"].endswith("."), rule["title"])
                if rule["severity"] in ("fail", "warn", "advice"):
                    self.assertTrue(rule["effect"], "says no effect")
                    self.assertTrue(rule["hurts"], "does not say whom the change hurts")
                    self.assertTrue(rule["by_hand"] or rule["experiment"], "says neither a way nor an experiment")

    def test_an_unknown_id_gets_a_suggestion(self):
        rules = hvtune("explain", "--list", "--json").json()["rules"]
        if not rules:
            self.skipTest("there are no findings yet")
        name = rules[0]["id"]
        self.assertIn(f'did you mean "{name}"?', hvtune("explain", name + "x").err)
