"""Clients that take their time: heads and bodies that come by the byte, readers that hardly read; and one that reads steadily, which must
be served. All of them attack at once, all gateways are attacked at once: nothing here needs the CPU, and one round takes 80 seconds."""

from __future__ import annotations

import concurrent.futures
import contextlib
import time

from attack import arena, traffic
from attack.arena import Arena, Target
from attack.scenario import Bounds, Scenario
from rig import HOST

CLIENTS = 300
SECONDS, QUICK_SECONDS = 78, 20
SHED_MIN = CLIENTS
# Heads have 10 seconds by default, so that even a quick run sees them end.
QUICK_KINDS = ("heads",)
STEADY_BYTES_PER_SECOND = 16_000
STEADY_BODY = 24 * 1024 * 1024  # more than the sockets on the way can hold

KINDS = {
    "heads": {"opening": b"GET /attack/json/valid HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", "drop": b"a"},
    "bodies": {"opening": b"POST /attack/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n", "drop": b"a"},
    "readers": {"opening": b"GET /attack/size/20m HTTP/1.1\r\nHost: localhost\r\n\r\n", "read_bytes": 200},
}


def attack(kinds: list[str], target: Target, seconds: float) -> dict:
    """Facts of each kind, under its name."""
    with concurrent.futures.ThreadPoolExecutor(len(kinds) + 1) as pool:
        slow = {kind: pool.submit(traffic.drip, target.port, seconds, CLIENTS, **KINDS[kind]) for kind in kinds}
        steady = pool.submit(read_steadily, target, seconds)
        facts = {f"{kind}_{name}": value for kind in kinds for name, value in slow[kind].result().items() if name != "first_after_seconds"}
        return facts | {"steady_reader": steady.result()}


def read_steadily(target: Target, seconds: float) -> str:
    """16 kB/s until the time is over, then the rest at once: `whole`, or what went wrong."""
    stream = traffic.connect(target.port, receive_bytes=65536)
    stream.settimeout(15)
    began, taken, data = time.monotonic(), 0, b""
    with contextlib.closing(stream):
        try:
            stream.sendall(f"GET /attack/size/{STEADY_BODY} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
            while b"\r\n\r\n" not in data:
                data += stream.recv(1024)
            taken = len(data) - data.index(b"\r\n\r\n") - 4
            while taken < STEADY_BODY:
                hurry = time.monotonic() - began > seconds - 4
                more = len(stream.recv(1 << 20 if hurry else STEADY_BYTES_PER_SECOND // 4))
                if not more:
                    return f"ended after {time.monotonic() - began:.0f} s, {taken} of {STEADY_BODY} bytes"
                taken += more
                if not hurry:
                    time.sleep(0.25)
        except OSError as error:
            return f"{type(error).__name__} after {time.monotonic() - began:.0f} s, {taken} of {STEADY_BODY} bytes"
    return "whole"


def run(place: Arena) -> dict[str, dict]:
    seconds = QUICK_SECONDS if place.settings.quick else SECONDS
    kinds = list(KINDS)
    with contextlib.ExitStack() as stack:
        targets = {kind: stack.enter_context(place.gateway(kind)) for kind in ("tollgate", *place.settings.peers)}
        with concurrent.futures.ThreadPoolExecutor(len(targets)) as pool:
            futures = {
                name: pool.submit(arena.measure, place, target, lambda target, seconds: attack(kinds, target, seconds), seconds, grace=30)
                for name, target in targets.items()
            }
            return {name: future.result() for name, future in futures.items()}


def shed(ours: dict, _: dict, quick: bool) -> list[str]:
    facts = ours["facts"]
    wrong = [
        f"{facts.get(f'{kind}_shed')} of {CLIENTS} slow {kind} are shed, at least {SHED_MIN}"
        for kind in (QUICK_KINDS if quick else KINDS)
        if facts.get(f"{kind}_shed", 0) < SHED_MIN
    ]
    return wrong + ([] if facts.get("steady_reader") == "whole" else [f"the steady reader: {facts.get('steady_reader')}"])


SCENARIOS = [
    Scenario("slow", "all", f"{CLIENTS} slow heads, bodies and readers each, and one steady reader", run, Bounds(judge=shed)),
]
