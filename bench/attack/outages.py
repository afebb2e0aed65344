"""Things around the gateway that fail: an upstream that is gone while nobody reads the log, and a process without a file descriptor
left."""

from __future__ import annotations

import contextlib
import os
import time

import rig as bench
from attack import arena, patterns, traffic
from attack.arena import Arena, Target
from attack.probe import PROBE_PATH
from attack.scenario import Bounds, Scenario, at_most, beside
from rig import HOST

CLIENTS = 16
LINES_MAX = 100
OPEN_FILES = 512
IDLE = 700
SERVED_SECONDS_MAX = 1


def dead_api(place: Arena) -> dict:
    return bench.api_definition("dead", "/dead/", f"http://{HOST}:{place.rig.free_port()}/")


def ask_the_dead(target: Target, seconds: float) -> dict:
    """Requests at full speed to an upstream that refuses connections."""
    one = b"GET /dead/ HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def blocks():
        while True:
            yield one * 10

    return traffic.flood(target.port, min(seconds, 2), CLIENTS, blocks, again=True)


def nginx_dead(place: Arena) -> dict:
    return {"locations": f"location /dead/ {{ proxy_pass http://{HOST}:{place.rig.free_port()}; }}"}


def blocked_log(place: Arena) -> dict[str, dict]:
    """Standard error is a pipe that is full after 64 KB: it has a reading end, and nobody reads."""
    pipe = place.rig.dir / f"blocked-{place.started}"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    under = ["sh", "-c", 'exec "$@" 2>"$0"', pipe]
    try:
        with place.gateway("tollgate", apis=[dead_api(place)], under=under) as target:
            result = arena.measure(place, target, ask_the_dead)
            result["facts"]["log_bytes_waiting"] = len(os.read(end, 1 << 20))
    finally:
        os.close(end)
    # nginx writes to a file: it is the measure of what the requests alone cost.
    return {"tollgate": result} | beside(ask_the_dead, ("nginx",), {"nginx": nginx_dead})(place)


def counted_log(place: Arena) -> dict[str, dict]:
    options = {"tollgate": lambda place: {"apis": [dead_api(place)]}, "nginx": nginx_dead}
    return beside(ask_the_dead, ("tollgate", "nginx"), options)(place)


def no_descriptors(target: Target, seconds: float) -> dict:
    """Idle clients, each with one request behind it, take every descriptor; then somebody new comes."""
    idle = []
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE):
            try:
                stream = stack.enter_context(traffic.connect(target.port))
                stream.settimeout(1)
                stream.sendall(b"GET /attack/json/valid HTTP/1.1\r\nHost: localhost\r\n\r\n")
                stream.recv(4096)
                idle.append(stream)
            except OSError:
                break  # the last descriptor is gone
        status, took = patterns.ask(target.port, PROBE_PATH, timeout=max(5, 4 * seconds))
        time.sleep(max(0, seconds - took))
        ports = {stream.getsockname()[1] for stream in idle}
        return {"idle": len(idle), "held": traffic.held(target.port, ports), "new_client": status, "new_client_seconds": took}


def served(ours: dict, results: dict, quick: bool) -> list[str]:
    facts = ours["facts"]
    wrong = at_most("new_client_seconds", SERVED_SECONDS_MAX, " s")(ours, results, quick)
    return wrong + ([] if facts.get("new_client") == "200" else [f"a new client gets {facts.get('new_client')}"])


SCENARIOS = [
    Scenario("outages", "blocked-log", "a dead upstream at full speed, and a log that nobody reads", blocked_log),
    Scenario("outages", "dead-upstream", "a dead upstream at full speed: lines logged", counted_log, Bounds(log_lines_max=LINES_MAX)),
    Scenario(
        "outages", "descriptors", f"{IDLE} idle clients and {OPEN_FILES} file descriptors",
        beside(no_descriptors, ("tollgate", "nginx"), {
            "tollgate": lambda place: {"under": ["prlimit", f"--nofile={OPEN_FILES}:{OPEN_FILES}"]},
            "nginx": lambda place: {"connections": OPEN_FILES // place.rig.threads},
        }, grace=60),
        Bounds(log_lines_max=20, judge=served),
    ),
]
