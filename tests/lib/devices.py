# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns devices that measure, as servers in this process: plugs and BMCs that behave as the real ones are documented."""
import hashlib
import json
import os
import ssl
import subprocess
import threading
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
        import base64
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


def certificate(folder):
    """A certificate of its own making for 127.0.0.1, as (certificate, key)."""
    files = str(Path(folder) / "bmc.pem"), str(Path(folder) / "bmc.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=bmc", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return files
