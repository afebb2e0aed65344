#!/usr/bin/env python3
"""Upgrades gateways from one version to another and back while requests come, and fails if one of them fails: two gateways on one Redis,
one after the other, and a gateway with a store of its own, each with and without TLS. Clients speak HTTP/1.1 and HTTP/2, over connections
that stay and over new ones. What one version has written must act in the other.

Usage: upgrade_check.py --program NEW --from OLD        OLD is the program of the last release; without it, NEW replaces itself
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from dist_check import eventually, free_port, started
from http2_client import Http2Connection, NotProcessed
from release.source import Refused, run

SECRET = "a-secret-of-the-check"
SETTLE_S = 1
PATH = "/upgrade/json/valid"
TIME_MAX_S = 60
# Between two requests of a client, so that gateways, their store and the machine have time for others.
PAUSE_S = 0.01


class Gateway:
    """A gateway, whose program file is replaced as a package does it."""

    def __init__(self, folder: pathlib.Path, program: pathlib.Path, redis: int | None, apps: pathlib.Path, certificate: pathlib.Path | None):
        self.folder, self.port, self.file = folder, free_port(), folder / "tollgate"
        self.certificate = certificate
        folder.mkdir()
        self.place(program)
        configuration = {
            "listen_port": self.port, "listen_address": "127.0.0.1", "secret": SECRET, "app_path": str(apps), "hash_keys": True,
            "policies": {"policy_source": "file", "policy_path": str(apps.parent / "policies")}, "pid_file_location": str(folder / "pid"),
            # On a busy machine, a Redis that is late is not gone.
            "tollgate": {"data_dir": str(folder / "data"), "shared_store": {"answer_ms_max": 20_000}},
        }
        if redis:
            configuration |= {"storage": {"type": "redis", "host": "127.0.0.1", "port": redis}}
        if certificate:
            certificates = [{"domain_name": "*", "cert_file": str(certificate), "key_file": str(certificate)}]
            configuration |= {"http_server_options": {"use_ssl": True, "enable_http2": True, "certificates": certificates}}
        (folder / "tyk.conf").write_text(json.dumps(configuration))
        self.words = [str(self.file), "run", "--conf", str(folder / "tyk.conf")]

    def place(self, program: pathlib.Path) -> None:
        shutil.copy(program, f"{self.file}.new")
        os.replace(f"{self.file}.new", self.file)

    def become(self, program: pathlib.Path) -> None:
        before = self.pid()
        self.place(program)
        os.kill(before, signal.SIGUSR2)
        eventually(f"a new process serves in {self.folder.name}", lambda: self.pid() != before)
        eventually(f"the old process of {self.folder.name} ends", lambda: not pathlib.Path(f"/proc/{before}").exists() or ended(before))

    def pid(self) -> int:
        return int((self.folder / "pid").read_text())

    def connect(self, protocol: str) -> socket.socket:
        stream = socket.create_connection(("127.0.0.1", self.port), TIME_MAX_S)
        # Requests in small pieces do not wait for acknowledgements.
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.certificate:
            return stream
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.set_alpn_protocols([protocol])
        secured = context.wrap_socket(stream, server_hostname="localhost")
        if secured.selected_alpn_protocol() != protocol:
            raise Refused(f"{self.folder.name}: {protocol} is not agreed on")
        return secured

    def request(self, method: str, path: str, headers: dict[str, str], document: object = None) -> tuple[int, bytes]:
        connection = Http1Connection(self)
        try:
            connection.request(method, path, json.dumps(document) if document is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def ask(self, method: str, path: str, document: object = None) -> dict:
        status, body = self.request(method, path, {"x-tyk-authorization": SECRET}, document)
        if status != 200:
            raise Refused(f"{method} {path}: {status} {body.decode()}")
        return json.loads(body)

    def answer(self, path: str, **headers: str) -> int | None:
        """The status of an answer; None if nobody answers."""
        try:
            return self.request("GET", path, headers)[0]
        except OSError:
            return None


class Http1Connection(http.client.HTTPConnection):
    """A connection to a gateway, over TLS if it speaks that."""

    def __init__(self, gateway: Gateway):
        super().__init__("localhost", gateway.port, timeout=TIME_MAX_S)
        self.gateway, self.is_going = gateway, False

    def connect(self) -> None:
        self.sock = self.gateway.connect("http/1.1")

    def get(self, path: str, headers: dict[str, str]) -> int:
        try:
            self.request("GET", path, headers=headers)
            answer = self.getresponse()
            answer.read()
        except http.client.HTTPException as error:
            raise OSError(repr(error)) from error
        self.is_going = answer.will_close
        return answer.status


def http2_connection(gateway: Gateway) -> Http2Connection:
    return Http2Connection(gateway.connect("h2"), f"localhost:{gateway.port}", "https" if gateway.certificate else "http")


def ended(pid: int) -> bool:
    """Whether a process is over and only its parent has not asked yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


class Load:
    """Clients that ask all gateways, in both versions of HTTP, half of them over connections that stay open. Together they send so many
    requests that one of them meets every moment of a switch."""

    def __init__(self, gateways: list[Gateway], key: str):
        self.served, self.again, self.failed, self.lock, self.done = 0, 0, [], threading.Lock(), threading.Event()
        kinds = [(gateway, connect, keeps) for gateway in gateways for connect in (Http1Connection, http2_connection) for keeps in (True, False)]
        self.threads = [threading.Thread(target=self.run, args=(*kind, key)) for kind in kinds]

    def __enter__(self) -> Load:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.done.set()
        for thread in self.threads:
            thread.join()

    def run(self, gateway: Gateway, connect, keeps: bool, key: str) -> None:
        connection = None
        while not self.done.is_set():
            failure, closes = None, not keeps
            try:
                connection = connection or connect(gateway)
                got = connection.get(PATH, {"Authorization": key})
                failure = None if got == 200 else f"{gateway.folder.name}: {got}"
                closes |= connection.is_going
            except NotProcessed:
                with self.lock:
                    self.again += 1
                connection.close()
                connection = None
                continue
            except (OSError, Refused) as error:
                failure, closes = f"{gateway.folder.name}, {connect.__name__}, {'kept' if keeps else 'new'}: {error!r}", True
            with self.lock:
                self.served += failure is None
                if failure:
                    self.failed.append(failure)
            if closes and connection:
                connection.close()
                connection = None
            time.sleep(PAUSE_S)


def check(name: str, work: pathlib.Path, old: pathlib.Path, new: pathlib.Path, redis: int | None, certificate: pathlib.Path | None) -> None:
    folder = work / name
    if redis:
        run("redis-cli", "-p", str(redis), "flushall")
    for part in ("apps", "policies"):
        (folder / part).mkdir(parents=True)
    upstream = free_port()
    gateways = [Gateway(folder / f"gateway-{number}", old, redis, folder / "apps", certificate) for number in range(2 if redis else 1)]
    definition = {
        "name": "upgrade", "api_id": "upgrade", "org_id": "default", "active": True, "auth": {"auth_header_name": "Authorization"},
        "proxy": {"listen_path": "/upgrade/", "target_url": f"http://127.0.0.1:{upstream}/", "strip_listen_path": True},
        "version_data": {"not_versioned": True, "versions": {"Default": {"name": "Default"}}},
    }
    (folder / "apps/upgrade.json").write_text(json.dumps(definition))
    with contextlib.ExitStack() as stack:
        stack.enter_context(started([str(new), "mock", "--listen", f"127.0.0.1:{upstream}"], dict(os.environ)))
        for gateway in gateways:
            stack.enter_context(started(gateway.words, dict(os.environ), gateway.folder))
            # What USR2 has started is no child of ours.
            stack.callback(end, gateway)
            eventually(f"{gateway.folder.name} listens", lambda gateway=gateway: gateway.answer("/hello") == 200)
        quota = 10_000_000
        session = {"quota_max": quota, "quota_renewal_rate": 86_400, "rate": 1_000_000, "per": 1,
                   "access_rights": {"upgrade": {"api_id": "upgrade", "api_name": "upgrade", "versions": ["Default"]}}}
        key = gateways[0].ask("POST", "/tyk/keys/create", session)["key"]
        with Load(gateways, key) as load:
            for step, program in (("upgrade", new), ("downgrade", old)):
                for gateway in gateways:
                    before = load.served
                    time.sleep(SETTLE_S)
                    gateway.become(program)
                    time.sleep(SETTLE_S)
                    # A key that one version has written acts in the other, and its end too.
                    made = gateway.ask("POST", "/tyk/keys/create", session)["key"]
                    for other in gateways:
                        if (got := other.answer(PATH, Authorization=made)) != 200:
                            raise Refused(f"{other.folder.name} answers {got} to a new key")
                    gateways[-1].ask("DELETE", f"/tyk/keys/{made}")
                    for other in gateways:
                        # The others hear of it.
                        eventually("an ended key is refused", lambda other=other, made=made: other.answer(PATH, Authorization=made) == 403)
                    print(f"{name:<14} {step} of {gateway.folder.name}: {load.served - before} requests, {len(load.failed)} failed")
        if load.failed:
            raise Refused(f"{name}: {len(load.failed)} requests failed, such as {load.failed[0]}")
        print(f"{name:<14} {load.again} requests of HTTP/2 were sent again, because a gateway that ended had not begun with them")
        if redis:
            # Leased requests that were not used are returned after a second.
            eventually(f"{load.served} requests served and {counted(redis)} counted", lambda: counted(redis) == load.served)
            print(f"{name:<14} {load.served} requests served, {counted(redis)} counted")


def answers(redis: int) -> bool:
    with contextlib.suppress(Refused):
        return run("redis-cli", "-p", str(redis), "ping").strip() == "PONG"
    return False


def counted(redis: int) -> int:
    """What has passed of the largest quota, as Redis knows it."""
    ask = ["redis-cli", "-p", str(redis)]
    names = run(*ask, "--scan", "--pattern", "quota-*").split()
    return max(int(run(*ask, "get", name)) for name in names)


def issued(folder: pathlib.Path) -> pathlib.Path:
    """A certificate for localhost, with its key."""
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate)
    both.write_text(certificate.read_text() + key.read_text())
    return both


def end(gateway: Gateway) -> None:
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        os.kill(gateway.pid(), signal.SIGKILL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the new version")
    parser.add_argument("--from", type=pathlib.Path, dest="old", help="the old version [default: the same]")
    options = parser.parse_args()
    new = options.program.resolve()
    old = options.old.resolve() if options.old else new
    redis = free_port()
    try:
        with tempfile.TemporaryDirectory() as name, started(["redis-server", "--port", str(redis), "--save", "", "--bind", "127.0.0.1"], dict(os.environ), pathlib.Path(name)):
            work = pathlib.Path(name)
            certificate = issued(work)
            eventually("Redis answers", lambda: answers(redis))
            for way, port in (("one Redis", redis), ("own store", None)):
                check(way, work, old, new, port, None)
                check(f"{way}, TLS", work, old, new, port, certificate)
    except Refused as refused:
        print(f"upgrade: failed: {refused}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
