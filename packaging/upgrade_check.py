#!/usr/bin/env python3
"""Upgrades gateways from one version to another and back while requests come, and fails if one of them fails: two gateways on one Redis,
one after the other, and a gateway with a store of its own. What one version has written must act in the other.

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
import subprocess
import sys
import tempfile
import threading
import time

from dist_check import eventually, free_port, started, status
from release.source import Refused, run

SECRET = "a-secret-of-the-check"
# Requests of all clients together must be many enough that one of them meets every moment of a switch.
CLIENTS = 4
SETTLE_S = 1


class Gateway:
    """A gateway, whose program file is replaced as a package does it."""

    def __init__(self, folder: pathlib.Path, program: pathlib.Path, redis: int | None, apps: pathlib.Path):
        self.folder, self.port, self.file = folder, free_port(), folder / "tollgate"
        folder.mkdir()
        self.place(program)
        configuration = {
            "listen_port": self.port, "listen_address": "127.0.0.1", "secret": SECRET, "app_path": str(apps), "hash_keys": True,
            "policies": {"policy_source": "file", "policy_path": str(apps.parent / "policies")}, "pid_file_location": str(folder / "pid"),
            "tollgate": {"data_dir": str(folder / "data")},
        }
        if redis:
            configuration |= {"storage": {"type": "redis", "host": "127.0.0.1", "port": redis}}
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

    def ask(self, method: str, path: str, document: object = None) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, json.dumps(document) if document is not None else None, {"x-tyk-authorization": SECRET})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Refused(f"{method} {path}: {answer.status} {body.decode()}")
        return json.loads(body)


def ended(pid: int) -> bool:
    """Whether a process is over and only its parent has not asked yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


class Load:
    """Clients that ask all gateways in turn, half of them over connections that stay open."""

    def __init__(self, gateways: list[Gateway], key: str):
        self.served, self.failed, self.lock, self.done = 0, [], threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(gateways[number % len(gateways)], key, number % 4 < 2)) for number in range(CLIENTS)]

    def __enter__(self) -> Load:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.done.set()
        for thread in self.threads:
            thread.join()

    def run(self, gateway: Gateway, key: str, keeps: bool) -> None:
        connection = None
        while not self.done.is_set():
            connection = connection or http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=10)
            try:
                connection.request("GET", "/upgrade/json/valid", headers={"Authorization": key})
                answer = connection.getresponse()
                answer.read()
                failure = None if answer.status == 200 else f"{gateway.folder.name}: {answer.status}"
                closes = answer.will_close
            except OSError as error:
                failure, closes = f"{gateway.folder.name}: {error}", True
            except http.client.HTTPException as error:
                failure, closes = f"{gateway.folder.name}: {error!r}", True
            with self.lock:
                self.served += failure is None
                if failure:
                    self.failed.append(failure)
            if closes or not keeps:
                connection.close()
                connection = None


def check(name: str, work: pathlib.Path, old: pathlib.Path, new: pathlib.Path, redis: int | None) -> None:
    folder = work / name
    for part in ("apps", "policies"):
        (folder / part).mkdir(parents=True)
    upstream = free_port()
    gateways = [Gateway(folder / f"gateway-{number}", old, redis, folder / "apps") for number in range(2 if redis else 1)]
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
            eventually(f"{gateway.folder.name} listens", lambda gateway=gateway: status(f"http://127.0.0.1:{gateway.port}/hello") == 200)
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
                        if (got := answer(other, made)) != 200:
                            raise Refused(f"{other.folder.name} answers {got} to a new key")
                    gateways[-1].ask("DELETE", f"/tyk/keys/{made}")
                    for other in gateways:
                        # The others hear of it.
                        eventually("an ended key is refused", lambda other=other, made=made: answer(other, made) == 403)
                    print(f"{name:<12} {step} of {gateway.folder.name}: {load.served - before} requests, {len(load.failed)} failed")
        if load.failed:
            raise Refused(f"{name}: {len(load.failed)} requests failed, such as {load.failed[0]}")
        if redis:
            # Leased requests that were not used are returned after a second.
            eventually(f"{load.served} requests served and {counted(redis)} counted", lambda: counted(redis) == load.served)
            print(f"{name:<12} {load.served} requests served, {counted(redis)} counted")


def answer(gateway: Gateway, key: str) -> int | None:
    return status(f"http://127.0.0.1:{gateway.port}/upgrade/json/valid", Authorization=key)


def counted(redis: int) -> int:
    """What has passed of the largest quota, as Redis knows it."""
    ask = ["redis-cli", "-p", str(redis)]
    names = run(*ask, "--scan", "--pattern", "quota-*").split()
    return max(int(run(*ask, "get", name)) for name in names)


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
            for way, port in (("one Redis", redis), ("own store", None)):
                check(way, pathlib.Path(name), old, new, port)
    except Refused as refused:
        print(f"upgrade: failed: {refused}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
