"""The control API, from those who have its secret and from those who have not: documents that are hard to read, reloads without end, large
and slow bodies. `/live` and other APIs answer meanwhile. nginx has nothing to compare with."""

from __future__ import annotations

import concurrent.futures
import json
import socket
import time

import rig as bench
from attack import patterns, traffic
from attack.arena import Target
from attack.probe import PROBE_PATH
from attack.scenario import Bounds, Scenario, all_of, at_most, beside
from rig import HOST

PATHS = {"requests": PROBE_PATH, "/live": "/live"}
FIELDS = 150_000
KEY_SECONDS_MAX = 2
APIS, REWRITES = 10, 100
BODY_BYTES = 200 * 2**20
SLOW_CLIENTS = 200
KEY = {"org_id": "default", "expires": 0, "access_rights": {"probe": {"api_id": "probe", "api_name": "probe", "versions": ["Default"]}}}


def unknown_fields(target: Target, seconds: float) -> dict:
    """Keys with very many fields that nobody knows, one after the other."""
    fields = ",".join(f'"field{n}":{n}' for n in range(FIELDS))
    body = ('{"org_id":"default","expires":0,' + fields + "}").encode()
    took, statuses, began = [], set(), time.monotonic()
    while time.monotonic() - began < seconds:
        asked = time.monotonic()
        status, _ = target.control("POST", "/tyk/keys/create", body, timeout=40)
        took.append(time.monotonic() - asked)
        statuses.add(status)
    return {"keys": len(took), "key_seconds": max(took), "statuses": sorted(statuses)}


def reloads(target: Target, seconds: float) -> dict:
    """Ten definitions with 100 rewrites each, read again and again."""
    for number in range(APIS):
        api = bench.api_definition(f"more-{number}", f"/more-{number}/", f"http://{HOST}:{target.port}/")
        api["version_data"]["versions"]["Default"]["extended_paths"] = {"url_rewrites": patterns.rewriting(REWRITES)}
        (target.server.apps / f"more-{number}.json").write_text(json.dumps(api))
    took, statuses, began = [], set(), time.monotonic()
    while time.monotonic() - began < seconds:
        asked = time.monotonic()
        statuses.add(target.control("GET", "/tyk/reload/?block=true")[0])
        took.append(time.monotonic() - asked)
    return {"reloads": len(took), "longest_seconds": max(took), "statuses": sorted(statuses)}


def large_body(target: Target, secret: str) -> str:
    """A body of 200 MB: what was answered, and after how many bytes."""
    head = f"POST /tyk/keys/create HTTP/1.1\r\nHost: {HOST}\r\nx-tyk-authorization: {secret}\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
    sent, block = 0, b'{"a":"' + b"a" * 65536
    try:
        with socket.create_connection((HOST, target.port), timeout=20) as stream:
            stream.sendall(head.encode())
            try:
                while sent < BODY_BYTES:
                    sent += stream.send(block[: BODY_BYTES - sent])
            except OSError:
                pass  # the answer may be there all the same
            status = stream.recv(4096)[9:12].decode("latin-1") or "closed"
    except OSError as error:
        status = type(error).__name__
    return status


def large_bodies(target: Target, seconds: float) -> dict:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        deadline, answers = time.monotonic() + seconds, []
        while time.monotonic() < deadline:
            secrets = [target.server.secret, "wrong"] * 4
            answers += pool.map(lambda secret: large_body(target, secret), secrets)
    return {"bodies": len(answers), "answers": sorted(set(answers))}


def slow_bodies(target: Target, seconds: float) -> dict:
    """Half of the clients have the secret. An operator makes keys beside them."""

    def opening(secret: str) -> bytes:
        return f"POST /tyk/keys/create HTTP/1.1\r\nHost: {HOST}\r\nx-tyk-authorization: {secret}\r\nContent-Length: 10000\r\n\r\n".encode()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        secrets = (target.server.secret, "wrong")
        slow = [pool.submit(traffic.drip, target.port, seconds, SLOW_CLIENTS // 2, opening(secret), b" ") for secret in secrets]
        took, statuses, began = [], set(), time.monotonic()
        while time.monotonic() - began < seconds:
            asked = time.monotonic()
            statuses.add(target.control("POST", "/tyk/keys/create", KEY, timeout=20)[0])
            took.append(time.monotonic() - asked)
            time.sleep(0.05)
        shed = sum(one.result()["shed"] for one in slow)
        return {"clients": SLOW_CLIENTS, "shed": shed, "key_seconds": max(took), "statuses": sorted(statuses)}


def scenario(name: str, title: str, attack, judge=lambda *_: [], grace: float = 10, **bounds) -> Scenario:
    run = beside(attack, ("tollgate",), paths=PATHS, grace=grace)
    return Scenario("control", name, title, run, Bounds(growth_mib_max=256, after_mib_max=128, judge=judge, **bounds))


def answered(ours: dict, _: dict, __: bool) -> list[str]:
    statuses = ours["facts"].get("statuses", [0])
    return ["a request of the control API has no answer"] if 0 in statuses else []


keys_are_made = all_of(answered, at_most("key_seconds", KEY_SECONDS_MAX, " s"))

SCENARIOS = [
    scenario("unknown-fields", f"keys with {FIELDS:,} unknown fields", unknown_fields, keys_are_made, 60),
    scenario("reloads", f"reloads without a pause, {APIS} definitions with {REWRITES} rewrites", reloads, answered, 40,
             log_lines_max=10_000),  # one for each reload
    scenario("large-bodies", "8 bodies of 200 MB at a time, half of them without the secret", large_bodies, grace=40),
    scenario("slow-bodies", f"{SLOW_CLIENTS} bodies that come by the byte", slow_bodies, keys_are_made, 30),
]
