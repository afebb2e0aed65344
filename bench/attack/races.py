"""Two operators write to one key at the same moment. Whoever wins, what requests and the control API see must be what a restart finds in
the store."""

from __future__ import annotations

import json
import socket

import rig as bench
from attack import arena
from attack.arena import Arena, Target
from attack.scenario import Bounds, Scenario
from rig import HOST

PAIRS, QUICK_PAIRS = 1000, 200
AT_ONCE = 8


class Operator:
    """A kept connection to the gateway. A request can be sent now and its answer be read later."""

    def __init__(self, target: Target):
        self.secret = target.server.secret
        self.stream = socket.create_connection((HOST, target.port), timeout=30)
        self.reader = self.stream.makefile("rb")

    def send(self, method: str, path: str, rate: int | None = None, key: str = "") -> None:
        rights = {"raced": {"api_id": "raced", "api_name": "raced", "versions": ["Default"]}}
        session = {"org_id": "default", "expires": 0, "per": 1, "rate": rate, "allowance": rate, "access_rights": rights}
        body = b"" if rate is None else json.dumps(session).encode()
        who = f"Authorization: {key}" if key else f"x-tyk-authorization: {self.secret}"
        self.stream.sendall(f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\n{who}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    def answer(self) -> tuple[int, dict]:
        status, length = int(self.reader.readline().split()[1]), 0
        while (line := self.reader.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line[15:])
        return status, json.loads(self.reader.read(length) or b"{}")

    def ask(self, *request, **more) -> tuple[int, dict]:
        self.send(*request, **more)
        return self.answer()


def race(target: Target, count: int, other: str) -> list[str]:
    """Makes so many keys, then writes to each of them twice at the same moment: a PUT, and a PUT of another value or a DELETE. Several
    pairs are under way at once, and every second one is sent in the other order. Returns the keys."""
    pairs = [(Operator(target), Operator(target)) for _ in range(AT_ONCE)]
    keys = []
    for number in range(count):
        name = f"race-{other.lower()}-{number}"
        status, answer = pairs[0][0].ask("POST", f"/tyk/keys/{name}", 1000)
        if status != 200:
            raise OSError(f"{name} can't be made: {status} {answer}")
        keys.append(answer["key"])
    for first in range(0, count, AT_ONCE):
        under_way = list(zip(pairs, keys[first : first + AT_ONCE]))
        for number, ((one, two), key) in enumerate(under_way):
            second = ("DELETE", f"/tyk/keys/{key}") if other == "DELETE" else ("PUT", f"/tyk/keys/{key}", 3000 + number)
            writes = [(one, ("PUT", f"/tyk/keys/{key}", 2000 + number)), (two, second)]
            for operator, write in writes if number % 2 else reversed(writes):
                operator.send(*write)
        for pair, _ in under_way:
            for operator in pair:
                operator.answer()
    return keys


def state(target: Target, keys: list[str]) -> dict[str, tuple]:
    """What a request with the key gets, and what GET says of it."""
    operator, seen = Operator(target), {}
    for key in keys:
        status, session = operator.ask("GET", f"/tyk/keys/{key}")
        served, _ = operator.ask("GET", "/raced/json/valid", key=key)
        seen[key] = (served == 200, status == 200, session.get("rate") if status == 200 else None)
    return seen


def run(place: Arena) -> dict[str, dict]:
    count = QUICK_PAIRS if place.settings.quick else PAIRS
    api = bench.api_definition("raced", "/raced/", place.quiet.url("/")) | {"use_keyless": False}
    with place.gateway("tollgate", apis=[api]) as target:

        def attack(target: Target, seconds: float) -> dict:
            return {"keys": {other: race(target, count, other) for other in ("DELETE", "PUT")}}

        result = arena.measure(place, target, attack, grace=90)
        keys = result["facts"].pop("keys", {})
        before = {other: state(target, names) for other, names in keys.items()}
        again = place.restart(target)
        try:
            after = {other: state(again, names) for other, names in keys.items()}
        finally:
            target.server = again.server
    for other in keys:
        result["facts"][f"put_{other.lower()}_pairs"] = len(keys[other])
        result["facts"][f"put_{other.lower()}_differ"] = sum(before[other][key] != after[other][key] for key in keys[other])
    # A key that GET denies and requests are served with, or the other way round.
    seen = [one for states in (before, after) for found in states.values() for one in found.values()]
    result["facts"]["contradictory"] = sum(served != known for served, known, _ in seen)
    return {"tollgate": result}


def consistent(ours: dict, _: dict, __: bool) -> list[str]:
    facts = ours["facts"]
    counts = {name: facts.get(name) for name in ("put_delete_differ", "put_put_differ", "contradictory")}
    return [f"{name}: {count}" for name, count in counts.items() if count != 0]


SCENARIOS = [
    Scenario("races", "writes", f"{PAIRS:,} PUT/DELETE and {PAIRS:,} PUT/PUT pairs on one key each", run, Bounds(judge=consistent)),
]
