# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program says of each machine of the corpus, byte for byte, and what must hold of all of them."""
import re

import hosts
from harness import Test, hvtune


class Machine(Test):
    """One test per machine, added below."""


class Corpus(Test):
    def test_the_healthy_host_is_said_to_be_healthy_in_one_line(self):
        done = hvtune("check", "--host", hosts.root_of("epyc-9354p", hosts.names()["epyc-9354p"]))
        self.assert_code(done, 0)
        lines = done.out.splitlines()
        self.assertEqual([line for line in lines if re.match(r"FAIL|WARN|ADVICE", line)], [])
        self.assertTrue(any(line.startswith("Nothing wrong found;") for line in lines), done.out)

    def test_nothing_is_left_over(self):
        self.assertEqual({path.name for path in (hosts.HERE / "expected").iterdir()}, set(hosts.names()))

    def test_captures_hold_no_identity(self):
        for name, path in hosts.names().items():
            if path.suffix == ".host":
                continue
            done, text = hosts.output_of(name, path, ["show"])
            self.assertNotRegex(text, r"(?i)\b(?!00:)([0-9a-f]{2}:){5}[0-9a-f]{2}\b", "a MAC address")
            self.assert_code(done, 0)


def one_machine(name, path):
    def test(self):
        for file, arguments in hosts.outputs_of(name).items():
            done, text = hosts.output_of(name, path, arguments)
            self.assert_code(done, 0, 1)
            self.assert_clean(done)
            expected = hosts.HERE / "expected" / name / file
            self.assertTrue(expected.exists(), f"no {expected}: tests/hosts/renew {name}")
            self.assertEqual(text, expected.read_text(encoding="utf-8"),
                             f"{name}/{file} differs; if that is right: tests/hosts/renew {name}")
        for arguments in (["check", "--json"], ["show", "--json"], ["show", "topology", "--json"]):
            done = hvtune(*arguments, "--host", hosts.root_of(name, path))
            self.assertEqual(done.json()["schema"], 1)
            self.assert_clean(done)
    return test


for _name, _path in hosts.names().items():
    setattr(Machine, "test_" + re.sub(r"\W", "_", _name), one_machine(_name, _path))
