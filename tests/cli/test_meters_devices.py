# SPDX-License-Identifier: GPL-3.0-or-later
"""Meters that a file names: plugs, UPSes, BMCs and commands, each read end to end from one that behaves as it does."""
import json
import os
import shutil
import socket
import tempfile
import threading
import time
import unittest
from pathlib import Path

import devices
from harness import Test, hvtune


class Devices(Test):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hvtune-devices-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, device):
        self.addCleanup(device.close)
        return device

    def config(self, text, mode=0o600):
        path = self.folder / "meters.conf"
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def meters(self, text, *words, env=None):
        return hvtune("meters", "--json", "--window", "0.2", "--meters", self.config(text), *words, env=env)

    def source(self, text, name, env=None):
        done = self.meters(text, env=env)
        self.assert_code(done, 0, 1)
        self.assertEqual(done.err, "")
        return next(source for source in done.json()["sources"] if source["name"] == name), done

    def assert_reads(self, text, name, watts, env=None):
        source, done = self.source(text, name, env)
        self.assertEqual(source["state"], "value", source)
        self.assertAlmostEqual(source["result"]["mean"], watts)
        self.assertTrue(source["chosen"])
        self.assert_code(done, 0)
        return source

    def assert_refused(self, text, name, why):
        source, _ = self.source(text, name)
        self.assertEqual((source["state"], source["result"], source["chosen"]), ("unreadable", None, False))
        self.assertIn(why, source["why"])
        return source


class Plugs(Devices):
    def test_shelly(self):
        device = self.start(devices.Shelly())
        source = self.assert_reads(f"[rack]\nkind = shelly\naddress = {device.address}\n", "shelly.rack", 215.3)
        self.assertEqual((source["boundary"], source["unit"], source["resolution"]), ("wall", "W", 0.1))

    def test_shelly_with_a_password(self):
        device = self.start(devices.Shelly(password="pass word"))
        text = f"[rack]\nkind = shelly\naddress = {device.address}\n"
        self.assert_refused(text, "shelly.rack", "refuses the user or password")
        self.assert_reads(text + "password = pass word\n", "shelly.rack", 215.3)
        self.assert_refused(text + "password = wrong\n", "shelly.rack", "refuses the user or password")

    def test_shelly_gen1(self):
        device = self.start(devices.Shelly(gen1=True, watts=61.25))
        self.assert_reads(f"[old]\nkind = shelly\naddress = {device.address}\n", "shelly.old", 61.25)

    def test_a_relay_that_does_not_measure_is_no_zero(self):
        device = self.start(devices.Shelly(metering=False))
        text = f"[relay]\nkind = shelly\naddress = {device.address}\n"
        self.assert_refused(text, "shelly.relay", "tells no power")
        self.assert_refused(text + "id = 3\n", "shelly.relay", "tells no power")

    def test_tasmota(self):
        device = self.start(devices.Tasmota())
        self.assert_reads(f"[t]\nkind = tasmota\naddress = {device.address}\n", "tasmota.t", 118)
        phases = self.start(devices.Tasmota(power=[100, 120, 80]))
        self.assert_reads(f"[t]\nkind = tasmota\naddress = {phases.address}\n", "tasmota.t", 300)

    def test_tasmota_with_a_password(self):
        device = self.start(devices.Tasmota(password="a&b=c d"))
        text = f"[t]\nkind = tasmota\naddress = {device.address}\n"
        self.assert_refused(text, "tasmota.t", "wants a password")
        self.assert_reads(text + "password = a&b=c d\n", "tasmota.t", 118)

    def test_a_run_is_measured_with_it(self):
        device = self.start(devices.Tasmota())
        path = self.config(f"[t]\nkind = tasmota\nperiod = 0.1\naddress = {device.address}\n")
        done = hvtune("run", "--runs", "1", "--warmup", "0", "--no-store", "--meters", path, "--json", "--", "sleep", "5")
        self.assert_code(done, 0)
        means = {metric["name"]: metric["mean"] for metric in done.json()["result"]["metrics"]}
        self.assertAlmostEqual(means["wall power"], 118)
        self.assertAlmostEqual(means["wall energy"], 118 * means["wall time"], delta=10)
        self.assertGreater(len(device.requests), 10)

    def test_zero_watts_are_implausible(self):
        device = self.start(devices.Tasmota(power=0))
        source, _ = self.source(f"[t]\nkind = tasmota\naddress = {device.address}\n", "tasmota.t")
        self.assertEqual((source["state"], source["result"]), ("implausible", None))

    def test_another_kind_of_device(self):
        device = self.start(devices.Tasmota())
        self.assert_refused(f"[s]\nkind = shelly\naddress = {device.address}\n", "shelly.s", "is it of this kind")

    def test_no_device(self):
        device = devices.Tasmota()
        address = device.address
        device.close()
        self.assert_refused(f"[t]\nkind = tasmota\naddress = {address}\n", "tasmota.t", "connect")

    def test_devices_that_are_silent_are_waited_for_side_by_side(self):
        """Each takes five seconds; one after the other three would take fifteen."""
        silent = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        for server in silent:
            self.addCleanup(server.close)
        text = "".join(f"[t{i}]\nkind = tasmota\naddress = 127.0.0.1:{server.getsockname()[1]}\n"
                       for i, server in enumerate(silent))
        start = time.monotonic()
        done = self.meters(text)
        self.assertLess(time.monotonic() - start, 12)
        self.assertEqual([source["state"] for source in done.json()["sources"] if source["driver"] == "tasmota"],
                         ["unreadable"] * 3)

    def test_plugs_of_several_supplies_are_added(self):
        one, other = self.start(devices.Tasmota(power=100)), self.start(devices.Tasmota(power=140))
        text = "".join(f"[psu{i}]\nkind = tasmota\npart = yes\naddress = {device.address}\n"
                       for i, device in enumerate((one, other)))
        done = self.meters(text)
        self.assertEqual([source["chosen"] for source in done.json()["sources"] if source["driver"] == "tasmota"], [True, True])
        # Without it the second is an alternative.
        done = self.meters(text.replace("part = yes", "part = no"))
        self.assertEqual([source["chosen"] for source in done.json()["sources"] if source["driver"] == "tasmota"], [True, False])


@unittest.skipUnless(shutil.which("openssl"), "openssl is not there")
class Bmcs(Devices):
    def bmc(self, **how):
        self.tls = devices.certificate(self.folder)
        return self.start(devices.Redfish(self.tls, **how))

    def text(self, device, more=""):
        secret = self.folder / "password"
        secret.write_text(devices.Redfish.PASSWORD + "\n", encoding="utf-8")
        secret.chmod(0o600)
        return (f"[bmc]\nkind = redfish\naddress = {device.address}\nuser = {device.USER}\n"
                f"password-file = {secret}\n{more}")

    def test_redfish(self):
        for way in ("EnvironmentMetrics", "Power"):
            device = self.bmc(way=way)
            source = self.assert_reads(self.text(device, f"ca = {self.tls[0]}\n"), "redfish.bmc", 312)
            self.assertEqual(source["boundary"], "board")
            # BMCs have few sessions: ours is closed.
            self.assertEqual(device.tokens, set())
            self.assertTrue(device.requests[-1].startswith("DELETE /redfish/v1/SessionService/Sessions/"))

    def test_without_sessions(self):
        device = self.bmc(sessions=False)
        self.assert_reads(self.text(device, f"ca = {self.tls[0]}\n"), "redfish.bmc", 312)

    def test_a_certificate_that_nobody_vouches_for(self):
        device = self.bmc()
        source = self.assert_refused(self.text(device), "redfish.bmc", "certificate")
        self.assertIn("ca = FILE", source["hint"])
        self.assertEqual(device.requests, [])
        self.assert_reads(self.text(device, "verify = no\n"), "redfish.bmc", 312)

    def test_a_wrong_password(self):
        device = self.bmc()
        text = self.text(device, "verify = no\n")
        (self.folder / "password").write_text("other\n", encoding="utf-8")
        self.assert_refused(text, "redfish.bmc", "refuses the user or password")

    def test_no_watts(self):
        device = self.bmc(watts=None)
        self.assert_refused(self.text(device, "verify = no\n"), "redfish.bmc", "no chassis of it tells watts")
        self.assert_refused(self.text(device, "verify = no\nid = Backplane\n"), "redfish.bmc", "no chassis of that id")

    def test_the_password_from_the_environment(self):
        device = self.bmc()
        text = (f"[bmc]\nkind = redfish\naddress = {device.address}\nuser = {device.USER}\nverify = no\n"
                "password-env = BMC_SECRET\n")
        self.assert_reads(text, "redfish.bmc", 312, env={"BMC_SECRET": devices.Redfish.PASSWORD})
        done = self.meters(text)
        self.assert_code(done, 3)
        self.assertIn("the environment has no variable BMC_SECRET", done.err)


@unittest.skipUnless(shutil.which("openssl"), "openssl is not there")
class Tapo(Devices):
    def text(self, device, user=devices.TapoPlug.USER):
        return f"[plug]\nkind = tapo\naddress = {device.address}\nuser = {user}\npassword = {device.PASSWORD}\n"

    def test_klap(self):
        for methods, watts in ((("get_energy_usage", "get_current_power"), 8.962), (("get_current_power",), 9),
                               (("get_emeter_data", "get_energy_usage"), 8.962)):
            device = self.start(devices.Klap(methods=methods))
            source = self.assert_reads(self.text(device), "tapo.plug", watts)
            self.assertEqual((source["boundary"], source["refresh_s"]), ("wall", 2))
            self.assertEqual(device.handshakes, 1)

    def test_a_session_that_ends(self):
        device = self.start(devices.Klap(methods=("get_emeter_data",), ends_after=1))
        text = self.text(device) + "period = 0.1\n"
        done = hvtune("meters", "--json", "--window", "0.6", "--meters", self.config(text))
        source = next(source for source in done.json()["sources"] if source["name"] == "tapo.plug")
        self.assertEqual(source["result"]["bad"], 0)
        self.assertAlmostEqual(source["result"]["mean"], 8.962)
        self.assertGreater(device.handshakes, 2)

    def test_a_wrong_user(self):
        device = self.start(devices.Klap())
        source = self.assert_refused(self.text(device, "User@example.com"), "tapo.plug", "user or password is wrong")
        self.assertIn("upper and lower case", source["hint"])

    def test_firmware_that_refuses(self):
        device = self.start(devices.Klap(forbids=True))
        source = self.assert_refused(self.text(device), "tapo.plug", "firmware (1.4 and later) refuses")
        self.assertIn("Third-Party Compatibility", source["hint"])

    def test_what_it_asks_for_instead(self):
        """A plug tells by UDP what it wants to be talked to with."""
        try:
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.addCleanup(udp.close)
            udp.bind(("127.0.0.1", 20002))
        except OSError as error:
            self.skipTest(f"UDP port 20002 is taken: {error}")
        asked = []

        def answer():
            question, client = udp.recvfrom(100)
            asked.append(question.hex())
            scheme = {"result": {"device_type": "SMART.TAPOPLUG", "mgt_encrypt_schm": {"encrypt_type": "TPAP", "http_port": 80}}}
            udp.sendto(bytes(16) + json.dumps(scheme).encode(), client)
        threading.Thread(target=answer, daemon=True).start()
        device = self.start(devices.Klap(forbids=True))
        self.assert_refused(self.text(device), "tapo.plug", "it asks for TPAP")
        self.assertEqual(asked, ["020000010000000000000000463cb5d3"])

    def test_the_older_passthrough(self):
        device = self.start(devices.Passthrough())
        self.assert_reads(self.text(device), "tapo.plug", 61.5)
        self.assert_refused(self.text(device, "other@example.com"), "tapo.plug", "user or password is wrong")

    def test_a_plug_that_does_not_measure(self):
        device = self.start(devices.Klap(methods=()))
        self.assert_refused(self.text(device), "tapo.plug", "error -1002")

    def test_another_kind_of_device(self):
        device = self.start(devices.Shelly())
        self.assert_refused(self.text_for(device), "tapo.plug", "no Tapo plug")

    def text_for(self, device):
        return f"[plug]\nkind = tapo\naddress = {device.address}\nuser = u\npassword = p\n"


@unittest.skipIf(devices.Ups.missing(), devices.Ups.missing())
class Nut(Devices):
    def text(self, ups, identity="rack"):
        return f"[u]\nkind = nut\naddress = {ups.address}\nid = {identity}\n"

    def test_real_power(self):
        ups = self.start(devices.Ups(self.folder, {"ups.realpower": 243, "outlet.1.realpower": "81.5"}))
        source = self.assert_reads(self.text(ups), "nut.u", 243)
        self.assertEqual((source["boundary"], source["resolution"]), ("wall", 1))
        self.assert_reads(self.text(ups, "rack:outlet.1.realpower"), "nut.u", 81.5)
        self.assert_refused(self.text(ups, "rack:outlet.2.realpower"), "nut.u", "does not tell outlet.2.realpower")
        self.assert_refused(self.text(ups, "other"), "nut.u", "Unknown UPS")

    def test_load(self):
        ups = self.start(devices.Ups(self.folder, {"ups.load": 31, "ups.realpower.nominal": 900}))
        source = self.assert_reads(self.text(ups), "nut.u", 279)
        self.assertEqual(source["resolution"], 9)

    def test_a_ups_that_tells_nothing(self):
        ups = self.start(devices.Ups(self.folder, {"ups.load": 31}))
        self.assert_refused(self.text(ups), "nut.u", "tells neither ups.realpower nor")


@unittest.skipIf(devices.Bmc.missing(), devices.Bmc.missing())
class Ipmi(Devices):
    """Sensors of the simulator. It knows no DCMI, whose reading is therefore not proved end to end here."""

    def text(self, bmc, more="", password=devices.Bmc.PASSWORD):
        return f"[b]\nkind = ipmi\naddress = {bmc.address}\nuser = {bmc.USER}\npassword = {password}\n{more}"

    def test_the_only_sensor(self):
        bmc = self.start(devices.Bmc(self.folder, {"PW Consumption": 320}))
        source = self.assert_reads(self.text(bmc), "ipmi.b", 320)
        self.assertEqual(source["boundary"], "board")
        self.assert_refused(self.text(bmc, password="other"), "ipmi.b", "password")

    def test_several_sensors(self):
        bmc = self.start(devices.Bmc(self.folder, {"PSU1_PIN": 160, "PSU2_PIN": 148}))
        source = self.assert_refused(self.text(bmc), "ipmi.b", "several of its sensors measure watts: PSU1_PIN, PSU2_PIN")
        self.assertIn("id = NAME", source["hint"])
        self.assert_reads(self.text(bmc, "id = PSU2_PIN\n"), "ipmi.b", 148)
        self.assert_refused(self.text(bmc, "id = PSU3_PIN\n"), "ipmi.b", "no sensor of that name")

    def test_no_sensor(self):
        bmc = self.start(devices.Bmc(self.folder, {}))
        self.assert_refused(self.text(bmc), "ipmi.b", "sensor records cannot be read")

    def test_no_sensor_of_watts(self):
        bmc = self.start(devices.Bmc(self.folder, {"Inlet Temp": 24}, unit=1))
        self.assert_refused(self.text(bmc), "ipmi.b", "neither DCMI nor a sensor")

    @unittest.skipIf(os.path.exists("/dev/ipmi0"), "this machine has a BMC")
    def test_a_host_without_a_bmc(self):
        source = self.assert_refused("[b]\nkind = ipmi\n", "ipmi.b", "/dev/ipmi0: No such file")
        self.assertIn("modprobe ipmi_si ipmi_devintf", source["hint"])


class Commands(Devices):
    def script(self, text):
        path = self.folder / "watts"
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def test_a_command(self):
        path = self.script('echo "PSU2 at 12:30:01"; echo "Instantaneous power reading:  215 Watts"; echo done')
        self.assert_reads(f"[c]\nkind = command\ncommand = {path}\n", "command.c", 215)

    def test_no_shell_unless_asked(self):
        self.assert_refused("[c]\nkind = command\ncommand = echo $HOME\n", "command.c", "printed no number")
        self.assert_reads("[c]\nkind = command\ncommand = echo '5 ;' \"6\" a\\ 7\n", "command.c", 5)
        self.assert_reads("[c]\nkind = command\ncommand = echo $((100 + 7))\nshell = yes\n", "command.c", 107)

    def test_one_that_fails(self):
        path = self.script("echo broken >&2; exit 4")
        self.assert_refused(f"[c]\nkind = command\ncommand = {path}\n", "command.c", "exit code 4: broken")
        self.assert_refused("[c]\nkind = command\ncommand = no-such-program\n", "command.c", "is not installed")


class Config(Devices):
    def refused(self, text, *parts, mode=0o600):
        done = hvtune("meters", "--meters", self.config(text, mode))
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        for part in parts:
            self.assertIn(part, done.err)
        self.assertNotIn("hunter2", done.err + done.out)

    def test_lines_that_are_wrong(self):
        shelly = "[a]\nkind = shelly\naddress = 127.0.0.1\n"
        for text, *parts in (
                ("kind = shelly\n", "meters.conf:1:", "a section [name] comes first"),
                ("[a\n", ":1:", "a section is written [name]"),
                ("[a b]\n", ":1:", "a name of letters"),
                (shelly + "[a]\n", ":4:", "already, in line 1"),
                ("[a]\n", ":1:", "has no \"kind\": command, shelly"),
                ("[a]\nkind = shely\n", ":2:", "there is no kind \"shely\""),
                ("[a]\nkind = shelly\n", ":1:", "has no \"address\""),
                (shelly + "hunter2\n", ":4:", "key = value was expected"),
                (shelly + "pasword = hunter2\n", ":4:", 'did you mean "password"?'),
                (shelly + "period = 0\n", ":4:", "from 0.1 to 3600"),
                (shelly + "part = maybe\n", ":4:", "yes or no"),
                (shelly + "boundary = moon\n", ":4:", "wall, board or package"),
                (shelly + "command = x\n", ":4:", "is not for kind shelly"),
                (shelly + "id = x\n", ":4:", "number of its channel"),
                (shelly + "address = 10.0.0.1\n", ":4:", "given twice"),
                (shelly + "password =\n", ":4:", "has no value"),
                (shelly + "password = hunter2\npassword-env = X\n", ":1:", "several passwords"),
                ("[a]\nkind = shelly\naddress = 127.0.0.1/../x\n", ":3:", "a name or number"),
                ("[a]\nkind = command\ncommand = 'x\n", ":3:", "is not closed"),
                ("[a]\nkind = redfish\naddress = b\nuser = u\n", ":1:", "no password")):
            self.refused(text, *parts)

    def test_a_password_that_others_can_read(self):
        text = "[a]\nkind = shelly\naddress = 127.0.0.1\npassword = hunter2\n"
        self.refused(text, ":4:", "others can read", "chmod 600", mode=0o640)
        secret = self.folder / "secret"
        secret.write_text("hunter2\n", encoding="utf-8")
        secret.chmod(0o644)
        self.refused(f"[a]\nkind = shelly\naddress = 127.0.0.1\npassword-file = {secret}\n", "secret", "others can read")
        self.refused("[a]\nkind = shelly\naddress = 127.0.0.1\npassword-file = /nowhere/x\n", "/nowhere/x", "No such file")

    def test_a_file_that_is_not_there(self):
        done = hvtune("meters", "--meters", self.folder / "none")
        self.assert_code(done, 3)
        self.assert_one_line(done.err)

    def test_secrets_are_not_printed(self):
        device = self.start(devices.Tasmota(password="hunter2"))
        text = f"[t]\nkind = tasmota\naddress = {device.address}\npassword = hunter2\n"
        for words in (["--json"], []):
            done = hvtune("meters", "--window", "0.2", "--meters", self.config(text), *words)
            self.assert_code(done, 0)
            self.assertNotIn("hunter2", done.out + done.err)
        device.close()
        done = hvtune("meters", "--window", "0.2", "--meters", self.config(text))
        self.assertNotIn("hunter2", done.out + done.err)
        # What others may read is fine without a password.
        self.assert_code(hvtune("meters", "--window", "0.1", "--meters", self.config("# nothing\n", 0o644)), 0, 1)


if __name__ == "__main__":
    unittest.main()
