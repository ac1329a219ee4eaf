# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns devices that measure, as servers in this process: plugs and BMCs that behave as the real ones are documented."""
import base64
import hashlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse


class Device:
    """A server on a port of its own; `requests` are the paths that were asked for."""

    def __init__(self, tls=None):
        self.requests, self.requested = [], threading.Lock()
        device = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one(self):
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size)
                with device.requested:
                    device.requests.append(f"{self.command} {self.path}")
                    status, headers, answer = device.answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_DELETE = handle_one

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                """A client that breaks off, as one does that refuses a certificate."""

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, path, headers, body):
        raise NotImplementedError


def as_json(value, status=200, **headers):
    return status, {"Content-Type": "application/json", **headers}, json.dumps(value).encode()


class Shelly(Device):
    """Gen2 with or without a password (HTTP digest with SHA-256), or Gen1."""

    def __init__(self, watts=215.3, password=None, gen1=False, metering=True):
        self.watts, self.password, self.gen1, self.metering = watts, password, gen1, metering
        super().__init__()

    def is_allowed(self, method, headers):
        given = headers.get("Authorization") or ""
        if not given.startswith("Digest "):
            return False
        fields = dict(part.strip().split("=", 1) for part in given[7:].split(","))
        fields = {name: value.strip('"') for name, value in fields.items()}

        def digest(text):
            return hashlib.sha256(text.encode()).hexdigest()
        one = digest(f"admin:shelly:{self.password}")
        two = digest(f"{method}:{fields['uri']}")
        return fields["response"] == digest(f"{one}:{fields['nonce']}:{fields['nc']}:{fields['cnonce']}:auth:{two}")

    def answer(self, method, path, headers, body):
        if self.gen1:
            if path != "/status":
                return 404, {}, b"Not Found"
            return as_json({"meters": [{"power": self.watts, "is_valid": True, "total": 12345}]})
        if path != "/rpc/Shelly.GetStatus":
            return 404, {}, b"Not Found"
        if self.password and not self.is_allowed(method, headers):
            return 401, {"WWW-Authenticate": 'Digest qop="auth", realm="shelly", nonce="60dc2c7d", algorithm=SHA-256'}, b""
        switch = {"id": 0, "output": True, "temperature": {"tC": 41.2}}
        if self.metering:
            switch.update({"apower": self.watts, "voltage": 229.9, "current": 0.97, "aenergy": {"total": 3542.1}})
        return as_json({"ble": {}, "cloud": {"connected": False}, "switch:0": switch, "sys": {"uptime": 5}})


class Tasmota(Device):
    def __init__(self, power=118, password=None):
        self.power, self.password = power, password
        super().__init__()

    def answer(self, method, path, headers, body):
        query = parse_qs(urlparse(path).query)
        if self.password and (query.get("user"), query.get("password")) != (["admin"], [self.password]):
            return as_json({"WARNING": "Need user=<username>&password=<password>"})
        if query.get("cmnd") != ["Status 8"]:
            return as_json({"Command": "Unknown"})
        return as_json({"StatusSNS": {"Time": "2026-01-01T00:00:00",
                                      "ENERGY": {"Total": 3.185, "Power": self.power, "Voltage": 230}}})


class Redfish(Device):
    """A BMC with two chassis, of which the second tells watts; `way` is EnvironmentMetrics or Power."""
    USER, PASSWORD = "operator", "calvin \"and\" hobbes"

    def __init__(self, tls, way="EnvironmentMetrics", watts=312, sessions=True):
        self.way, self.watts, self.sessions, self.tokens = way, watts, sessions, set()
        super().__init__(tls)

    def is_allowed(self, headers):
        basic = base64.b64encode(f"{self.USER}:{self.PASSWORD}".encode()).decode()
        return headers.get("X-Auth-Token") in self.tokens or headers.get("Authorization") == f"Basic {basic}"

    def answer(self, method, path, headers, body):
        root = "/redfish/v1"
        if path == f"{root}/SessionService/Sessions" and method == "POST":
            if not self.sessions:
                return 404, {}, b""
            if json.loads(body) != {"UserName": self.USER, "Password": self.PASSWORD}:
                return as_json({"error": {}}, 401)
            token = os.urandom(8).hex()
            self.tokens.add(token)
            return as_json({"Id": "1"}, 201, **{"X-Auth-Token": token, "Location": f"{root}/SessionService/Sessions/{token}"})
        if not self.is_allowed(headers):
            return as_json({"error": {}}, 401)
        if method == "DELETE":
            self.tokens.discard(path.rsplit("/", 1)[1])
            return 204, {}, b""
        chassis = f"{root}/Chassis"
        pages = {
            chassis: {"Members": [{"@odata.id": f"{chassis}/Backplane"}, {"@odata.id": f"{chassis}/System.1"}]},
            f"{chassis}/Backplane": {"Id": "Backplane"},
            f"{chassis}/System.1": {"Id": "System.1", self.way: {"@odata.id": f"{chassis}/System.1/{self.way}"}},
            f"{chassis}/System.1/EnvironmentMetrics": {"PowerWatts": {"Reading": self.watts}},
            f"{chassis}/System.1/Power": {"PowerControl": [{"PowerConsumedWatts": self.watts}]},
        }
        return as_json(pages[path]) if path in pages else (404, {}, b"")


def aes(mode, key, iv, data):
    """AES-128-CBC with PKCS#7 by OpenSSL's program; `mode` is -e or -d."""
    return subprocess.run(["openssl", "enc", "-aes-128-cbc", mode, "-K", key.hex(), "-iv", iv.hex()], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


class TapoPlug:
    """What a plug says once a session stands; `methods` are those that it has."""
    USER, PASSWORD = "user@example.com", "password"
    METHODS = ("get_energy_usage", "get_current_power")

    def reading(self, question):
        method = json.loads(question)["method"]
        if method not in self.methods:
            return {"error_code": -1002}
        return {"error_code": 0, "result": {
            "get_emeter_data": {"power_mw": self.milliwatts, "voltage_mv": 230000},
            "get_energy_usage": {"today_energy": 1200, "month_energy": 40000, "current_power": self.milliwatts},
            "get_current_power": {"current_power": round(self.milliwatts / 1000)}}[method]}


class Klap(Device, TapoPlug):
    """A Tapo plug that speaks KLAP v2; `ends_after`: so many requests and the session is over."""

    def __init__(self, milliwatts=8962, methods=TapoPlug.METHODS, ends_after=None, forbids=False):
        self.milliwatts, self.methods, self.ends_after, self.forbids = milliwatts, methods, ends_after, forbids
        self.seeds, self.session, self.left, self.handshakes = None, None, 0, 0
        one, two = (hashlib.sha1(text.encode()).digest() for text in (self.USER, self.PASSWORD))
        self.auth = sha256(one, two)
        super().__init__()

    def begin(self):
        local, remote = self.seeds
        self.key = sha256(b"lsk", local, remote, self.auth)[:16]
        iv = sha256(b"iv", local, remote, self.auth)
        self.iv, self.sequence = iv[:12], int.from_bytes(iv[-4:], "big", signed=True)
        self.signature = sha256(b"ldk", local, remote, self.auth)[:28]
        self.left = self.ends_after or 1000000

    def answer(self, method, path, headers, body):
        if self.forbids:
            return (403, {}, b"") if path.startswith("/app/") else as_json({"error_code": 1003})
        if path == "/app/handshake1" and len(body) == 16:
            self.handshakes += 1
            self.seeds, self.session, self.left = (body, os.urandom(16)), os.urandom(8).hex().upper(), 0
            proof = sha256(body, self.seeds[1], self.auth)
            return 200, {"Set-Cookie": f"TP_SESSIONID={self.session};TIMEOUT=86400"}, self.seeds[1] + proof
        if not path.startswith("/app/") or self.seeds is None:
            return 404, {}, b""
        # The cookie of the session and no other, not even the time that came with it.
        if headers.get("Cookie") != f"TP_SESSIONID={self.session}":
            return 403, {}, b""
        if path == "/app/handshake2":
            if body != sha256(self.seeds[1], self.seeds[0], self.auth):
                return 403, {}, b""
            self.begin()
            return 200, {}, b""
        sequence = int(parse_qs(urlparse(path).query)["seq"][0])
        bits = sequence.to_bytes(4, "big", signed=True)
        if self.left <= 0 or sequence != self.sequence + 1 or body[:32] != sha256(self.signature, bits, body[32:]):
            return 403, {}, b""
        self.sequence, self.left = sequence, self.left - 1
        question = aes("-d", self.key, self.iv + bits, body[32:])
        cipher = aes("-e", self.key, self.iv + bits, json.dumps(self.reading(question)).encode())
        return 200, {}, sha256(self.signature, bits, cipher) + cipher


class Passthrough(Device, TapoPlug):
    """A Tapo plug with firmware from before KLAP."""

    def __init__(self, milliwatts=61500, methods=TapoPlug.METHODS):
        self.milliwatts, self.methods, self.secret, self.token = milliwatts, methods, None, None
        super().__init__()

    def handshake(self, pem):
        self.secret = os.urandom(32)
        with tempfile.NamedTemporaryFile() as key:
            key.write(pem.encode())
            key.flush()
            cipher = subprocess.run(["openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", key.name], input=self.secret,
                                    stdout=subprocess.PIPE, check=True).stdout
        return as_json({"error_code": 0, "result": {"key": base64.b64encode(cipher).decode()}},
                       **{"Set-Cookie": "TP_SESSIONID=ABCD;TIMEOUT=1440"})

    def inner(self, question, token):
        wanted = {"username": base64.b64encode(hashlib.sha1(self.USER.encode()).hexdigest().encode()).decode(),
                  "password": base64.b64encode(self.PASSWORD.encode()).decode()}
        if json.loads(question)["method"] == "login_device":
            if json.loads(question)["params"] != wanted:
                return {"error_code": -1501}
            self.token = os.urandom(16).hex().upper()
            return {"error_code": 0, "result": {"token": self.token}}
        return self.reading(question) if token == self.token else {"error_code": 9999}

    def answer(self, method, path, headers, body):
        url = urlparse(path)
        if url.path != "/app":
            return 404, {}, b""
        asked = json.loads(body)
        if asked["method"] == "handshake":
            return self.handshake(asked["params"]["key"])
        if headers.get("Cookie") != "TP_SESSIONID=ABCD" or not self.secret:
            return as_json({"error_code": 9999})
        key, iv = self.secret[:16], self.secret[16:]
        question = aes("-d", key, iv, base64.b64decode(asked["params"]["request"]))
        token = parse_qs(url.query).get("token", [None])[0]
        response = aes("-e", key, iv, json.dumps(self.inner(question, token)).encode())
        return as_json({"error_code": 0, "result": {"response": base64.b64encode(response).decode()}})


class Ups:
    """NUT's own dummy-ups under its own upsd, with the variables given; `missing()` names what is not installed."""
    DRIVERS = ("/lib/nut/dummy-ups", "/usr/lib/nut/dummy-ups", "/usr/libexec/nut/dummy-ups", "/usr/sbin/dummy-ups")
    SERVERS = ("/lib/nut/upsd", "/usr/lib/nut/upsd", "/usr/sbin/upsd")  # of Debian the last is a script about the first

    @classmethod
    def missing(cls):
        there = [any(os.access(path, os.X_OK) for path in paths) for paths in (cls.DRIVERS, cls.SERVERS)]
        return None if all(there) else "nut-server (dummy-ups, upsd) is not there"

    def __init__(self, folder, variables):
        self.folder = Path(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        files = {"ups.conf": "[rack]\n  driver = dummy-ups\n  port = rack.dev\n  mode = dummy-once\n",
                 "rack.dev": "ups.status: OL\n" + "".join(f"{name}: {value}\n" for name, value in variables.items()),
                 "upsd.conf": f"LISTEN 127.0.0.1 {port}\n", "upsd.users": "", "nut.conf": "MODE=standalone\n"}
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
            (self.folder / name).chmod(0o640)
        self.environment = {**os.environ, "NUT_CONFPATH": str(folder), "NUT_STATEPATH": str(folder),
                            "NUT_ALTPIDPATH": str(folder)}
        user = ("-u", "root") if os.geteuid() == 0 else ()
        driver = next(path for path in self.DRIVERS if os.access(path, os.X_OK))
        server = next(path for path in self.SERVERS if os.access(path, os.X_OK))
        self.processes = [self.run(driver, "-a", "rack", "-D", *user)]
        self.wait_for(lambda: list(self.folder.glob("dummy-ups-rack")))
        self.processes.append(self.run(server, "-D", *user))
        self.wait_for(lambda: self.answers(port))

    def run(self, *command):
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    @staticmethod
    def answers(port):
        """With what its driver tells, too: until then the status is WAIT."""
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                connection.sendall(b"GET VAR rack ups.status\n")
                return b'"OL"' in connection.recv(100)
        except OSError:
            return False

    @staticmethod
    def wait_for(condition):
        end = time.monotonic() + 20
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("NUT does not come up")
            time.sleep(0.1)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(10)


class Bmc:
    """OpenIPMI's simulator of a BMC, in the network by IPMI 2.0, with sensors: {name: watts}, of 4 W steps (or of another unit). No DCMI."""
    USER, PASSWORD = "ipmiusr", "test"

    @staticmethod
    def missing():
        return None if shutil.which("ipmi_sim") else "openipmi (ipmi_sim) is not there"

    @staticmethod
    def record(number, name, unit):
        """A full sensor record (IPMI 2.0, table 43-1): other units, threshold, watts, M = 4."""
        body = [0x20, 0, number, 0x13, number, 0x00, 0x68, 0x0b, 0x01, 0, 0, 0, 0, 0, 0, 0x00, unit, 0, 0, 4, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0 | len(name), *name.encode()]
        return [number, 0, 0x51, 0x01, len(body), *body]

    def __init__(self, folder, sensors, unit=6):
        folder = Path(folder)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        ways = "none md2 md5 straight"
        (folder / "lan.conf").write_text(
            f'name "bmc"\nset_working_mc 0x20\n  startlan 1\n    addr 127.0.0.1 {port}\n    priv_limit admin\n'
            f"    allowed_auths_callback {ways}\n    allowed_auths_user {ways}\n    allowed_auths_operator {ways}\n"
            f"    allowed_auths_admin {ways}\n    guid a123456789abcdefa123456789abcdef\n  endlan\n"
            f'  user 1 true "" "test" user 10 {ways}\n'
            f'  user 2 true "{self.USER}" "{self.PASSWORD}" admin 10 {ways}\n', encoding="utf-8")
        lines = ["mc_setbmc 0x20", "mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02"]
        for number, (name, watts) in enumerate(sensors.items(), start=1):
            lines.append(f"sensor_add 0x20 0 {number} 0x0b 0x01")
            lines.append(f"sensor_set_event_support 0x20 0 {number} enable scanning per-state " + " ".join(["0" * 15] * 4))
            lines.append(f"sensor_set_value 0x20 0 {number} {watts // 4} 0")
            lines.append("main_sdr_add 0x20 " + " ".join(f"0x{byte:02x}" for byte in self.record(number, name, unit)))
        (folder / "bmc.emu").write_text("\n".join([*lines, "mc_enable 0x20", ""]), encoding="utf-8")
        self.process = subprocess.Popen(
            ["ipmi_sim", "-n", "-c", folder / "lan.conf", "-f", folder / "bmc.emu", "-s", folder], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        Ups.wait_for(lambda: self.answers(port))

    @staticmethod
    def answers(port):
        """A presence ping (ASF) gets its pong."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(0.5)
            try:
                client.connect(("127.0.0.1", port))
                client.send(bytes([6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x80, 0, 0, 0]))
                return bool(client.recv(100))
            except OSError:
                return False

    def close(self):
        self.process.terminate()
        self.process.wait(10)


def certificate(folder):
    """A certificate of its own making for 127.0.0.1, as (certificate, key)."""
    files = str(Path(folder) / "bmc.pem"), str(Path(folder) / "bmc.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=bmc", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return files
