#!/usr/bin/env python3
"""Many endpoint patterns: time to load, first request, memory and cost of a look-up; and keys with URLs of their own or of a policy.

Each set of patterns has a gateway of its own, which may take no more than --memory-max MiB. The keys are used once each while others
ask a keyless API, whose slowest requests show whether anybody waited for a key.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import re
import resource
import socket
import threading
import time
import urllib.request

import million_keys
import rig as bench
from rig import Rig, RigError, Tollgate

URLS = 50  # of a key or a policy
LOOKUPS = 3_000


def listed(name: str, count: int, entry) -> tuple[str, dict, list[str]]:
    """A set of patterns: what it is called, the lists, and some paths that fit."""
    paths = [f"/p{number}/ab_c/sub" for number in (0, count // 2, count - 1)]
    return name, {name.split()[1]: [entry(number) for number in range(count)]}, paths


def sets() -> list[tuple[str, dict, list[str]]]:
    def template(number: int) -> dict:
        return {"path": f"/p{number}/{{id}}/sub", "method": "GET"}

    def expression(number: int) -> dict:
        return {"path": rf"^/p{number}/(\w+)/sub(\d*)$", "method": "GET"}

    def rewrite(number: int) -> dict:
        pattern = rf"/p{number}/(\w+)/sub"
        return {"path": pattern, "method": "GET", "match_pattern": pattern, "rewrite_to": "/json/valid?id=$1"}

    return [
        listed("10 ignored", 10, expression),
        listed("400 ignored", 400, expression),
        listed("1000 url_rewrites", 1_000, rewrite),
        listed("10000 url_rewrites", 10_000, rewrite),
        listed("2000 white_list", 2_000, template),
        listed("5000 white_list", 5_000, template),
        listed("10000 white_list", 10_000, template),
        listed("10000 ignored", 10_000, expression),
    ]


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    result: dict = {"patterns": {}, "keys": {}}
    print(f"\n{'patterns':>20} {'load ms':>9} {'first ms':>9} {'MiB loaded':>11} {'MiB used':>9} {'look-up us':>11}")
    for name, lists, paths in sets():
        if args.only and not re.search(args.only, name):
            continue
        row = result["patterns"][name] = measured(args, lists, paths)
        if "trouble" in row:
            print(f"{name:>20} {row['trouble']}")
        else:
            print(f"{name:>20} {row['load_ms']:9.0f} {row['first_ms']:9.2f} {row['loaded_mib']:11.0f} {row['used_mib']:9.0f} {row['lookup_us']:11.1f}")
    if not args.only:
        print(f"\n{'keys':>20} {'first ms (max)':>15} {'MiB':>7} {'others p50 ms':>14} {'p99':>7} {'max':>7}")
        for name, count, of_policy in [("own", args.own_keys, False), ("of a policy", args.keys, True)]:
            row = result["keys"][name] = keys(args, count, of_policy)
            if "trouble" in row:
                print(f"{count:>8,} {name:>11} {row['trouble']}")
                continue
            first = f"{row['first_p50_ms']:.2f} ({row['first_max_ms']:.1f})"
            print(f"{count:>8,} {name:>11} {first:>15} {row['mib']:7.0f} {row['p50_ms']:14.2f} {row['p99_ms']:7.2f} {row['max_ms']:7.1f}")
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "result": result}, indent=1) + "\n")
    return 0


def arguments() -> argparse.Namespace:
    parser = bench.argument_parser(__doc__, rounds=1, seconds=1)
    parser.add_argument("--only", metavar="REGEX", help="these sets of patterns alone, and no keys")
    parser.add_argument("--own-keys", type=int, default=40, help="keys that have URLs of their own")
    parser.add_argument("--keys", type=int, default=100_000, help="keys with the URLs of a policy")
    parser.add_argument("--memory-max", type=int, default=6_000, help="MiB of address space for each gateway")
    parser.add_argument("--time-max", type=int, default=60, help="seconds to wait for an answer")
    return parser.parse_args()


def started(rig: Rig, args: argparse.Namespace, apis: list[dict], more: dict | None = None) -> Tollgate:
    limit = args.memory_max << 20
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        return bench.tollgate_gateway(rig, args.binary, apis, "/open/", more=more)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def with_lists(api: dict, lists: dict) -> dict:
    api["version_data"]["versions"]["Default"]["extended_paths"] = lists
    return api


class Client:
    """One connection."""

    def __init__(self, port: int, seconds: float):
        self.socket = socket.create_connection((bench.HOST, port), timeout=seconds)

    def ask(self, path: str, key: str = "") -> tuple[int, float]:
        """Status and milliseconds."""
        head = f"GET {path} HTTP/1.1\r\nHost: {bench.HOST}\r\nAuthorization: {key or 'none'}\r\n\r\n".encode()
        began = time.perf_counter()
        self.socket.sendall(head)
        answer = b""
        while b"\r\n\r\n" not in answer:
            part = self.socket.recv(65536)
            if not part:
                raise RigError("the gateway closed the connection")
            answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        while length and len(body) < int(length[1]):
            body += self.socket.recv(65536)
        return int(head.split(b" ", 2)[1]), (time.perf_counter() - began) * 1e3


# Patterns ---------------------------------------------------------------------------------------------------


def measured(args: argparse.Namespace, lists: dict, paths: list[str]) -> dict:
    with Rig(args.threads) as rig:
        upstream = bench.nginx_upstream(rig)
        open_api = bench.api_definition("open", "/open/", upstream.url("/"))
        many = with_lists(bench.api_definition("many", "/many/", upstream.url("/")), lists)
        try:
            gateway = started(rig, args, [open_api, many])
            loaded_mib = bench.memory_kib(gateway.child.pid) / 1024
            client = Client(gateway.port, args.time_max)
            first_ms = client.ask(f"/many{paths[-1]}")[1]
            for path in paths:
                client.ask(f"/many{path}")
            began = bench.usage(gateway.child.pid).cpu_ns
            for number in range(LOOKUPS):
                client.ask(f"/many{paths[number % len(paths)]}")
            spent = bench.usage(gateway.child.pid).cpu_ns - began
            began = bench.usage(gateway.child.pid).cpu_ns
            for _ in range(LOOKUPS):
                client.ask("/open/json/valid")
            bare = bench.usage(gateway.child.pid).cpu_ns - began
        except (RigError, OSError) as error:
            return {"trouble": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        return {
            "load_ms": reload_ms(gateway),
            "first_ms": first_ms,
            "loaded_mib": loaded_mib,
            "used_mib": bench.memory_kib(gateway.child.pid) / 1024,
            "lookup_us": (spent - bare) / LOOKUPS / 1e3,
        }


def reload_ms(gateway: Tollgate) -> float:
    request = urllib.request.Request(f"http://{bench.HOST}:{gateway.port}/tyk/metrics", headers={"x-tyk-authorization": gateway.secret})
    text = urllib.request.urlopen(request, timeout=10).read().decode()
    found = re.search(r"(?m)^tollgate_config_last_reload_duration_seconds (\S+)", text)
    return float(found[1]) * 1e3 if found else 0.0


# Keys -------------------------------------------------------------------------------------------------------


def urls(owner: str) -> list[dict]:
    return [{"url": rf"^/keyed/{owner}/p{number}/(\w+)$", "methods": ["GET"]} for number in range(URLS)]


def keys(args: argparse.Namespace, count: int, of_policy: bool) -> dict:
    with Rig(args.threads) as rig:
        upstream = bench.nginx_upstream(rig)
        open_api = bench.api_definition("open", "/open/", upstream.url("/"))
        keyed = bench.api_definition("keyed", "/keyed/", upstream.url("/")) | {"use_keyless": False}
        right = {"api_id": "keyed", "api_name": "keyed", "versions": ["Default"], "allowed_urls": urls("gold")}
        policy = {"id": "gold", "active": True, "org_id": "default", "rate": 0, "per": 0, "quota_max": -1, "access_rights": {"keyed": right}}
        file = rig.file("policies.json", json.dumps({"gold": policy}))
        more = {"policies": {"policy_source": "file", "policy_record_name": str(file)}}
        try:
            gateway = started(rig, args, [open_api, keyed], more)
            asyncio.run(made(gateway, count, of_policy))
            before = bench.memory_kib(gateway.child.pid)
            slow: list[float] = []
            ends = threading.Event()
            other = threading.Thread(target=asked_meanwhile, args=(gateway, args, slow, ends))
            other.start()
            client = Client(gateway.port, args.time_max)
            first = []
            for number in range(count):
                owner = "gold" if of_policy else f"k{number}"
                status, ms = client.ask(f"/keyed/{owner}/p{URLS - 1}/x", million_keys.token(number))
                if status in (401, 403):
                    raise RigError(f"key {number} got {status}")
                first.append(ms)
            ends.set()
            other.join()
        except (RigError, OSError) as error:
            return {"trouble": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        first.sort()
        slow.sort()
        return {
            "first_p50_ms": first[len(first) // 2],
            "first_max_ms": first[-1],
            "mib": (bench.memory_kib(gateway.child.pid) - before) / 1024,
            "p50_ms": slow[len(slow) // 2],
            "p99_ms": slow[len(slow) * 99 // 100],
            "max_ms": slow[-1],
        }


def asked_meanwhile(gateway: Tollgate, args: argparse.Namespace, times: list[float], ends: threading.Event) -> None:
    """Requests to the keyless API, one after the other."""
    client = Client(gateway.port, args.time_max)
    while not ends.is_set():
        times.append(client.ask("/open/json/valid")[1])


async def made(gateway: Tollgate, count: int, of_policy: bool) -> None:
    """Makes the keys."""

    def session(number: int) -> str:
        right = {"api_id": "keyed", "api_name": "keyed", "versions": ["Default"], "allowed_urls": urls(f"k{number}")}
        own = {"access_rights": {"keyed": right}} if not of_policy else {"apply_policies": ["gold"]}
        return json.dumps({"org_id": "default", "rate": 0, "per": 0, "quota_max": -1, "expires": 0} | own)

    numbers = iter(range(count))
    await asyncio.gather(*(million_keys.make_some(gateway, numbers, session) for _ in range(million_keys.CONNECTIONS)))


if __name__ == "__main__":
    bench.run(main)
