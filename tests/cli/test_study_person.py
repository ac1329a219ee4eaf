# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies that ask a person, from outside: what `check` and `status` tell, what `resume` takes for an answer, and whole
studies in which the test is the person."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from harness import HVTUNE, Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True

NPS = """study: nps
workloads:
  w: {run: [true], takes: 20 s}
factors:
  nps: {ask: 'Set NPS to {level} in the BIOS setup', levels: [1, 4]}
  thp: {knob: thp, levels: [always, never]}
runs: [3, 4]
"""

BOOT = "5d9c3b1e-7c4a-4d5f-9a43-0c9de7a1a001"
STATE = {
    "version": 1, "uid": "00112233445566778899aabbccddeeff", "study": "nps", "file": "s.yaml", "text": NPS,
    "directory": "/", "boot": BOOT, "runs": 6, "boots": 0, "spent_s": 600.0, "config": "nps=4 thp=always",
    "asked": {"levels": {"nps": "1"}, "at": 0}, "clean": True,
    "suited": {"factors": {"nps": ["1", "4"], "thp": ["always", "never"]}, "baseline": {"nps": "1", "thp": "always"},
               "never": []},
    "hand": {"levels": {"nps": "1"}, "wanted": {"nps": "4"}, "texts": ["Set NPS to 4 in the BIOS setup"], "boot": BOOT,
             "boots": True},
}


def flat(text):
    return " ".join(text.split())


class Waiting(Test):
    """The state of one that waits, in a machine of files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "root"
        thp = self.root / "sys/kernel/mm/transparent_hugepage"
        thp.mkdir(parents=True)
        (thp / "enabled").write_text("[always] madvise never\n", encoding="ascii")
        random = self.root / "proc/sys/kernel/random"
        random.mkdir(parents=True)
        self.boot = random / "boot_id"
        self.boot.write_text(BOOT + "\n", encoding="ascii")
        self.place = self.root / "var/lib/hvtune"
        self.place.mkdir(parents=True)
        self.write()

    def write(self, **more):
        (self.place / "study").write_text(json.dumps(STATE | more), encoding="utf-8")

    def ask(self, *words):
        return hvtune("study", *words, "--host", self.root)

    def hand(self):
        return json.loads((self.place / "study").read_text(encoding="utf-8"))["hand"]

    def check(self, text, *options):
        path = self.root.parent / "s.yaml"
        path.write_text(text, encoding="utf-8")
        return hvtune("study", "check", path, "--host", self.root, *options)

    def test_check_tells_what_is_asked(self):
        done = self.check(NPS)
        self.assert_code(done, 0)
        text = flat(done.out)
        self.assertIn("As the study assumes, nps is 1 now. A person is asked to change that: 4 to 8 times", text)
        self.assertIn("Nothing tells whether that is so of nps", text)
        found = json.loads(self.check(NPS, "--json").out)
        self.assertTrue(found["possible"])
        self.assertEqual((found["estimate"]["least_asks"], found["estimate"]["most_asks"]), (4, 8))
        seen = NPS.replace("levels: [1, 4]", "levels: [1, 4], see: 'test {level} = 1'")
        self.assertNotIn("Nothing tells", flat(self.check(seen).out))
        self.assertNotIn("person", self.check(NPS.replace("  nps", "  #")).out)

    def test_status(self):
        done = self.ask("status")
        self.assert_code(done, 0)
        text = flat(done.out)
        self.assertIn("Study nps waits for a person. 1. Set NPS to 4 in the BIOS setup", text)
        self.assertIn("reboot it into its setup; do this, boot it, then say so: hvtune study resume --done", text)
        self.assertIn("hvtune study resume --cannot WHY; then nps=4 is left out", text)
        self.assertIn("Next: nps=4 thp=always.", text)
        found = json.loads(self.ask("status", "--json").out)
        self.assertEqual(found["state"], "asks")
        self.assertEqual(found["asks"], [{"factor": "nps", "level": "4", "text": "Set NPS to 4 in the BIOS setup"}])
        self.assertEqual((found["not_done"], found["by_hand"]), (None, {"nps": "1"}))
        self.write(hand=STATE["hand"] | {"levels": {"nps": "4"}, "wanted": {"nps": "1"}}, end="done")
        text = flat(self.ask("status").out)
        self.assertIn("has ended, and waits for a person to put back what was changed by hand", text)
        self.assertIn("then it stays as it is", text)

    def test_only_an_answer_is_one(self):
        for words, said in ((("resume",), "waits for a person"), (("resume", "--done"), "still the boot in which it was")):
            done = self.ask(*words)
            self.assert_code(done, 1)
            self.assertIn(said, flat(done.out))
            self.assertIn("1. Set NPS to 4 in the BIOS setup", flat(done.out))
            self.assertEqual(self.hand()["levels"], {"nps": "1"})
        self.assertIn("still the boot", json.loads(self.ask("status", "--json").out)["not_done"])
        self.boot.write_text(BOOT.replace("5d", "77") + "\n", encoding="ascii")
        self.assertEqual(json.loads(self.ask("status", "--json").out)["state"], "asks")
        self.assert_code(self.ask("resume"), 1)
        self.assert_code(self.ask("resume", "--done"), 0)
        self.assertEqual((self.hand()["levels"], self.hand()["wanted"]), ({"nps": "4"}, {}))
        self.assertNotIn("fault", self.hand())
        done = self.ask("resume", "--done")
        self.assert_code(done, 3)
        self.assertIn("asks nothing", done.err)

    def test_answer_as_json(self):
        done = self.ask("resume", "--done", "--json")
        self.assert_code(done, 1)
        found = json.loads(done.out)
        self.assertEqual((found["state"], len(found["asks"])), ("asks", 1))
        self.assertIn("still the boot", found["not_done"])

    def test_cannot_at_all(self):
        text = "".join(line for line in NPS.splitlines(True) if "thp" not in line)
        self.write(text=text, suited={"factors": {"nps": ["1", "4"]}, "baseline": {"nps": "1"}, "never": []})
        done = self.ask("resume", "--cannot", "the setup has no such item")
        self.assert_code(done, 1)
        self.assertIn("Study nps has ended: nothing is left to compare: the setup has no such item; all is as it was before",
                      flat(done.out))
        self.assertFalse((self.place / "study").exists())

    def test_pause_and_abort(self):
        done = self.ask("pause")
        self.assert_code(done, 0)
        self.assertIn("waits for a person", flat(done.out))
        self.assertFalse((self.place / "study.wish").exists())
        done = self.ask("abort")
        self.assert_code(done, 0)
        self.assertNotIn("by hand", done.out)
        self.write(hand=STATE["hand"] | {"levels": {"nps": "4"}, "wanted": {"nps": "1"}})
        self.assertIn("Still changed by hand: nps=4 (to put it back: Set NPS to 1 in the BIOS setup)",
                      flat(self.ask("abort").out))

    def test_usage(self):
        for words, said in ((("resume", "--done", "--cannot", "x"), "either"), (("resume", "--cannot", ""), "the reason"),
                            (("resume", "--done", "7"), "that waits here"), (("status", "--done"), "study resume")):
            done = self.ask(*words)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertIn(said, done.err)
        (self.place / "study").unlink()
        done = self.ask("resume", "--done")
        self.assert_code(done, 3)
        self.assertIn("no study runs", done.err)


FAN = """study: fan
workloads:
  w: {{run: 'echo v=$(cat {folder}/worth); sleep {nap}', takes: 1 s, metric: {{regex: 'v=([0-9.]+)', unit: s, better: less}}}}
factors:
  fan: {{ask: 'Plug the {{level}} fan in', needs: live, levels: [{levels}],
        see: 'test "$(cat {folder}/fan)" = {{level}}'}}
notify: 'echo "$HVTUNE_EVENT: $HVTUNE_TEXT" >>{folder}/told'
{more}"""

WORTH = {"small": "10.0", "large": "8.0", "huge": "9.0"}


@unittest.skipUnless(os.geteuid() == 0, "only root has the study of the machine")
class Person(Test):
    """Whole studies; what a person changes is a file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path, self.store = self.folder / "s.yaml", self.folder / "results.db"
        self.plug("small")
        self.addCleanup(self.end)

    def end(self):
        if self.status()["state"] != "none":
            hvtune("study", "abort")

    def plug(self, fan):
        (self.folder / "fan").write_text(fan + "\n", encoding="ascii")
        (self.folder / "worth").write_text(WORTH[fan] + "\n", encoding="ascii")

    def write(self, levels="small, large", more="runs: 3\nconfirm: no\n", nap="0"):
        self.path.write_text(FAN.format(folder=self.folder, levels=levels, more=more, nap=nap), encoding="utf-8")

    def run_it(self, **more):
        self.write(**more)
        return hvtune("study", "run", self.path, "--yes", "--store", self.store, "--json")

    @staticmethod
    def status():
        return json.loads(hvtune("study", "status", "--json").out)

    def asked(self):
        return [ask["level"] for ask in self.status().get("asks", [])]

    def play(self, done):
        """Do what is asked until nothing is; the last JSON that was printed, and how often that was."""
        turns, found = 0, json.loads(done.out)
        while self.asked():
            self.assertEqual(self.status()["state"], "asks")
            self.assert_code(done, 0, 1)
            self.plug(self.asked()[0])
            found = json.loads(done.out)
            done = hvtune("study", "resume", "--done", "--json")
            turns += 1
            self.assertLess(turns, 30, done.out)
        self.assert_code(done, 0, 1)
        return found, turns

    def told(self):
        return (self.folder / "told").read_text(encoding="utf-8").splitlines()

    def test_whole_study(self):
        done = self.run_it()
        self.assert_code(done, 1)
        found = json.loads(done.out)
        self.assertEqual((found["state"], found["asks"][0]["level"], found["restored"]), ("asks", "large", True))
        spent = self.status()["spent_s"]
        time.sleep(1)
        self.assertEqual(self.status()["spent_s"], spent)
        # A slip.
        done = hvtune("study", "resume", "--done", "--json")
        self.assert_code(done, 1)
        self.assertIn('fan is not large: its "see"', json.loads(done.out)["not_done"])
        last, turns = self.play(done)
        # small large | large small | small large, and back at the end.
        self.assertEqual(turns, 4)
        self.assertEqual(last["state"], "done")
        self.assertEqual({pick["pick"]: pick["configuration"] for pick in last["answer"]["picks"]}["fastest"], "fan=large")
        self.assertEqual((self.folder / "fan").read_text(encoding="ascii"), "small\n")
        self.assertEqual(self.status()["state"], "none")
        told = self.told()
        self.assertEqual(len(told), 4)
        self.assertIn("ask: study fan waits for a person: Plug the large fan in. Do this, then say so: hvtune study resume "
                      "--done.", told[0])
        self.assertIn("ask: study fan has ended, and to put back what was changed by hand it waits for a person: Plug the "
                      "small fan in.", told[3])

    def test_what_is_not_so_at_the_beginning(self):
        self.plug("large")
        done = self.run_it()
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("the baseline is not in force: fan is not small", done.err)
        self.assertIn("that of large does not", done.err)
        self.assertEqual(self.status()["state"], "none")

    def test_text(self):
        self.write()
        done = hvtune("study", "run", self.path, "--yes", "--store", self.store)
        self.assert_code(done, 1)
        text = flat(done.out)
        self.assertIn("The study waits for a person: 1. Plug the large fan in Do this, then say so: hvtune study resume "
                      "--done.", text)
        self.plug("large")
        text = flat(hvtune("study", "resume", "--done").out)
        self.assertNotIn("Factors, the dearest", text)
        self.assertIn("1. Plug the small fan in", text)

    def test_cannot(self):
        done = self.run_it(levels="small, large, huge")
        self.assertEqual(self.asked(), ["large"])
        done = hvtune("study", "resume", "--cannot", "it does not fit", "--json")
        self.assert_code(done, 1)
        self.assertEqual(self.asked(), ["huge"])
        self.assertEqual([out["why"] for out in self.status()["not_measurable"]], ["it does not fit"])
        last, _ = self.play(done)
        self.assertEqual({pick["pick"]: pick["configuration"] for pick in last["answer"]["picks"]}["fastest"], "fan=huge")
        self.assertFalse([line for line in self.told()[1:] if "large" in line])

    def test_stays(self):
        done = self.run_it(more="runs: 1\nconfirm: no\n")
        self.plug("large")
        done = hvtune("study", "resume", "--done")
        self.assertIn("To put back what was changed by hand, the study waits for a person: 1. Plug the small fan in",
                      flat(done.out))
        done = hvtune("study", "resume", "--cannot", "it is lost")
        self.assert_code(done, 1)
        self.assertIn("Study fan has ended; still changed by hand: fan=large (to put it back: Plug the small fan in).",
                      flat(done.out))
        self.assertEqual(self.status()["state"], "none")

    def test_best_stays(self):
        done = self.run_it(more="runs: 3\nleave: best\n")
        self.assert_code(done, 2)
        done = hvtune("study", "run", self.path, "--yes", "--store", self.store)
        turns = 0
        while self.asked():
            self.plug(self.asked()[0])
            done = hvtune("study", "resume", "--done")
            turns += 1
            self.assertLess(turns, 30, done.out)
        self.assertEqual((self.folder / "fan").read_text(encoding="ascii"), "large\n")
        self.assertIn("still changed by hand: fan=large", flat(done.out + done.err).replace("Still", "still"))

    def test_abort(self):
        self.run_it()
        for word, changed in (("small", False), ("large", True)):
            if changed:
                self.run_it()
                self.plug("large")
                hvtune("study", "resume", "--done")
                self.assertEqual(self.asked(), ["small"])
            done = hvtune("study", "abort")
            self.assert_code(done, 0)
            self.assertEqual("still changed by hand: fan=large" in flat(done.out), changed, word)
            self.assertEqual(self.status()["state"], "none")

    def test_stopped_while_it_is_changed(self):
        """It is not forgotten what he has changed, nor is he asked for it again."""
        self.run_it(nap="1.5")
        self.plug("large")
        with subprocess.Popen([HVTUNE, "study", "resume", "--done"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as process:
            for _ in range(100):
                if self.status()["state"] == "running":
                    break
                time.sleep(0.05)
            done = hvtune("study", "resume", "--done")
            self.assert_code(done, 3)
            self.assertIn("asks nothing now", done.err)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        self.assertIn("Changed by hand: fan=large", flat(out))
        status = self.status()
        self.assertEqual((status["state"], status["by_hand"]), ("paused", {"fan": "large"}))
        done = hvtune("study", "resume", "--yes", "--json")
        self.assertEqual(self.asked(), ["small"])
        self.play(done)

    def test_nobody_goes_past_it(self):
        self.run_it()
        other = self.folder / "other.yaml"
        other.write_text(self.path.read_text(encoding="utf-8").replace("study: fan", "study: other"), encoding="utf-8")
        for words in (("run", other, "--yes"), ("resume", "last", "--yes")):
            done = hvtune("study", *words, "--store", self.store)
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
            self.assertIn("study fan waits for a person", done.err)
        done = hvtune("study", "run", self.path, "--yes", "--no-store")
        self.assertNotEqual(done.code, 0)
