"""Definitions and keys with very many patterns. They are loaded while other clients are served, and then asked for the first time."""

from __future__ import annotations

import concurrent.futures
import json
import socket
import statistics
import time

import rig as bench
from attack.arena import Arena, Target
from attack.scenario import Bounds, Scenario, all_of, at_most, beside
from rig import HOST

FIRST_CONNECTIONS = 8  # so that each data thread gets its first request
FIRST_SECONDS_MAX = 30
LOOKUPS = 200
FIRST_MS_MAX = 100
PATTERNS_OF_A_KEY = 50


def ask(port: int, path: str, key: str = "", timeout: float = FIRST_SECONDS_MAX) -> tuple[str, float]:
    """Status and seconds of one request on a connection of its own."""
    began = time.monotonic()
    more = f"Authorization: {key}\r\n" if key else ""
    try:
        with socket.create_connection((HOST, port), timeout=timeout) as stream:
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{more}Connection: close\r\n\r\n".encode())
            status = stream.recv(65536)[9:12].decode("latin-1") or "closed"
    except OSError as error:
        status = type(error).__name__
    return status, time.monotonic() - began


def first_requests(target: Target, count: int, path, status: str) -> dict:
    """The first request of eight connections at once, then look-ups in all of the list."""
    with concurrent.futures.ThreadPoolExecutor(FIRST_CONNECTIONS) as pool:
        first = list(pool.map(lambda number: ask(target.port, path(count - 1 - number)), range(FIRST_CONNECTIONS)))
    facts = {
        "first_request_ms": max(seconds for _, seconds in first) * 1e3,
        "unexpected": sorted({got for got, _ in first if got != status}),
    }
    if not facts["unexpected"]:
        lookups = [ask(target.port, path(number * count // LOOKUPS)) for number in range(LOOKUPS)]
        facts["lookup_ms"] = statistics.median(seconds for _, seconds in lookups) * 1e3
        facts["unexpected"] = sorted({got for got, _ in lookups if got != status})
    return facts


# Definitions --------------------------------------------------------------------------------------------------


def definition(place_url: str, lists: dict, keyless: bool) -> dict:
    api = bench.api_definition("patterns", "/patterns/", place_url) | {"use_keyless": keyless}
    api["version_data"]["versions"]["Default"]["extended_paths"] = lists
    return api


def load_and_ask(lists: dict, keyless: bool, count: int, path):
    """Tollgate gets the definition while it runs; nginx has had its locations from the start."""

    def attack(target: Target, seconds: float) -> dict:
        facts, began = {}, time.monotonic()
        if target.kind == "tollgate":
            upstream = json.loads((target.server.apps / "attack.json").read_text())["proxy"]["target_url"]
            (target.server.apps / "patterns.json").write_text(json.dumps(definition(upstream, lists, keyless)))
            status, _ = target.control("GET", "/tyk/reload/?block=true")
            facts = {"reload_seconds": time.monotonic() - began, "reload_status": status}
        facts |= first_requests(target, count, lambda number: "/patterns" + path(number), "200")
        time.sleep(max(0, began + seconds - time.monotonic()))
        return facts

    return attack


def locations(count: int, pattern):
    """nginx with as many locations by regular expression."""

    def options(place: Arena) -> dict:
        lines = (
            f'location ~ "{pattern(number)}" {{ rewrite .* /json/valid break; proxy_pass http://{HOST}:{place.attacked.port}; }}'
            for number in range(count)
        )
        return {"locations": "\n".join(lines)}

    return options


def scenario(name: str, title: str, count: int, lists: dict, keyless: bool, path, pattern) -> Scenario:
    attack, options = load_and_ask(lists, keyless, count, path), {"nginx": locations(count, pattern)}
    run = beside(attack, ("tollgate", "nginx"), options, grace=2 * FIRST_SECONDS_MAX)
    judge = all_of(expected, at_most("first_request_ms", FIRST_MS_MAX))
    return Scenario("patterns", name, title, run, Bounds(growth_mib_max=100, after_mib_max=100, judge=judge))


def expected(ours: dict, _: dict, __: bool) -> list[str]:
    unexpected = ours["facts"].get("unexpected")
    return [] if unexpected == [] else [f"answers with {', '.join(unexpected or ['nothing'])}"]


def ignored(count: int) -> Scenario:
    entries = [{"path": f"^/svc{n}/(\\w+)/(\\d+)$", "method": "GET"} for n in range(count)]
    return scenario(f"ignored-{count}", f"{count} `ignored` of ^/svc1/(\\w+)/(\\d+)$", count, {"ignored": entries}, False,
                    lambda n: f"/svc{n}/json/5", lambda n: rf"^/patterns/svc{n}/(\w+)/(\d+)$")


def rewrites(count: int) -> Scenario:
    return scenario(f"rewrites-{count}", f"{count} `url_rewrites` with \\w", count, {"url_rewrites": rewriting(count)}, True,
                    lambda n: f"/r{n}/a/5", lambda n: rf"^/patterns/r{n}/(\w+)/(\d+)")


def rewriting(count: int) -> list[dict]:
    to = "/json/valid?a=$1&b=$2"
    return [
        {"path": f"/r{n}/(\\w+)", "method": "GET", "match_pattern": f"/r{n}/(\\w+)/(\\d+)", "rewrite_to": to} for n in range(count)
    ]


def white_list(count: int) -> Scenario:
    entries = [{"path": f"/p{n}/{{id}}/sub", "method": "GET"} for n in range(count)]
    return scenario(f"white-list-{count}", f"{count} `white_list` of /p1/{{id}}/sub", count, {"white_list": entries}, True,
                    lambda n: f"/p{n}/7/sub", lambda n: rf"^/patterns/p{n}/[^/]+/sub")


# Keys ---------------------------------------------------------------------------------------------------------


def keyed(place: Arena) -> dict:
    api = bench.api_definition("keyed", "/keyed/", place.attacked.url("/")) | {"use_keyless": False}
    return {"apis": [api]}


def keys_with_patterns(same: bool, full: int, quick: int):
    """Makes keys with 50 `allowed_urls` each and uses each once. Same patterns in each key, or each key has its own."""

    def attack(target: Target, seconds: float) -> dict:
        count = quick if target.quick else full
        began, names = time.monotonic(), []
        for number in range(count):
            of = 0 if same else number
            urls = [{"url": f"/k{of}/(\\w+)/r{n}/\\d+", "methods": ["GET"]} for n in range(PATTERNS_OF_A_KEY)]
            rights = {"keyed": {"api_id": "keyed", "api_name": "keyed", "versions": ["Default"], "allowed_urls": urls}}
            status, answer = target.control("POST", "/tyk/keys/create", {"org_id": "default", "expires": 0, "access_rights": rights})
            if status != 200:
                return {"keys": number, "unexpected": [f"{status} for a key"], "first_use_max_ms": None}
            names.append((of, answer["key"]))
        made = time.monotonic() - began
        used = [ask(target.port, f"/keyed/k{of}/a/r{number % PATTERNS_OF_A_KEY}/5", key) for number, (of, key) in enumerate(names)]
        refused, _ = ask(target.port, "/keyed/elsewhere", names[0][1])
        time.sleep(max(0, began + seconds - time.monotonic()))
        milliseconds = sorted(took * 1e3 for _, took in used)
        wrong = {status for status, _ in used if status != "200"} | ({f"{refused} for no right"} if refused != "403" else set())
        return {
            "keys": count, "make_seconds": made, "first_use_p50_ms": statistics.median(milliseconds),
            "first_use_max_ms": milliseconds[-1], "unexpected": sorted(wrong),
        }

    return attack


def memory_of_a_key(kib_max: float):
    def judge(ours: dict, _: dict, __: bool) -> list[str]:
        kib = ours["facts"]["kib_each"] = (ours["peak_mib"] - ours["idle_mib"]) * 1024 / max(1, ours["facts"].get("keys", 0))
        # What a gateway takes once, whatever the number of keys, is no key's.
        return [f"{kib:.0f} KiB for each key, at most {kib_max:.0f}"] if ours["peak_mib"] - ours["idle_mib"] > 16 and kib > kib_max else []

    return judge


def keys(name: str, title: str, same: bool, full: int, quick: int, kib_max: float) -> Scenario:
    run = beside(keys_with_patterns(same, full, quick), ("tollgate",), {"tollgate": keyed}, grace=100)
    judge = all_of(expected, at_most("first_use_max_ms", FIRST_MS_MAX), memory_of_a_key(kib_max))
    return Scenario("patterns", name, title, run, Bounds(growth_mib_max=256, after_mib_max=256, judge=judge))


SCENARIOS = [
    ignored(400),
    rewrites(1000),
    white_list(2000),
    white_list(10_000),
    keys("keys-same", "1,000 keys with the same 50 `allowed_urls`", True, 1000, 40, 32),
    keys("keys-own", "200 keys with 50 `allowed_urls` of their own", False, 200, 40, 1024),
]
