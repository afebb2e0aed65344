#!/usr/bin/env python3
"""A gateway with 1,000,000 keys: memory per key, time to start, and whether a request costs what it costs with 100 keys.

Both gateways are filled through the control API, ended, and started again. CPU time per request is compared in interleaved rounds:
with the same 100 keys in use, and with keys drawn from all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import signal
import statistics
import time

import rig as bench
from rig import Rig, RigError, Server, Tollgate

KEY_BYTES_MAX = 700
RATIO_MAX = 1.1

FEW = 100
CONNECTIONS = 64  # that make keys: so many share one write to the disk
SETTLE_SECONDS = 2


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    with Rig(args.threads) as rig:
        upstream = bench.nginx_upstream(rig)
        gateways = {count: filled(rig, upstream, count, args) for count in (FEW, args.keys)}
        result = {
            "key_bytes": key_bytes(gateways, args),
            "start_seconds": {count: gateway.start_seconds for count, gateway in gateways.items()},
            "cost": cost(rig, gateways, args),
        }
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "result": result}, indent=1) + "\n")
    return verdict(result, args)


def arguments() -> argparse.Namespace:
    parser = bench.argument_parser(__doc__, rounds=6, seconds=2)
    parser.add_argument("--keys", type=int, default=1_000_000)
    return parser.parse_args()


# Filling ----------------------------------------------------------------------------------------------------


class Filled:
    """A gateway that was started with its keys in the store."""

    def __init__(self, server: Server, start_seconds: float):
        self.server = server
        self.start_seconds = start_seconds
        self.rss_kib = 0


def filled(rig: Rig, upstream: Server, count: int, args: argparse.Namespace) -> Filled:
    name = f"keys-{count}"
    open_api = bench.api_definition("open", "/open/", upstream.url("/"))
    keyed_api = bench.api_definition("keyed", "/keyed/", upstream.url("/")) | {"use_keyless": False}
    gateway = bench.tollgate_gateway(rig, args.binary, [open_api, keyed_api], "/open/", name)
    began = time.monotonic()
    asyncio.run(make_keys(gateway, count))
    print(f"\n{count:,} keys made in {time.monotonic() - began:.0f} s")
    gateway.child.send_signal(signal.SIGTERM)
    if gateway.child.wait(120) != 0:
        raise RigError(f"{name} ended with {gateway.child.returncode}:\n{rig.log_tail(name)}")
    return started(rig, gateway, args)


def started(rig: Rig, before: Tollgate, args: argparse.Namespace) -> Filled:
    """The same gateway once more, with what it has in its store."""
    name = f"{before.name}-again"
    argv = [args.binary.resolve(), "run", "--conf", rig.dir / before.name / "tyk.conf", "--port", before.port]
    began = time.monotonic()
    child = rig.start(name, argv, env={"TYK_GW_SECRET": before.secret}, gateway=True)
    server = Server(name, child, before.port, before.prefix)
    rig.await_answer(name, child, server.url("/json/valid"), seconds=600)
    gateway = Filled(server, time.monotonic() - began)
    time.sleep(SETTLE_SECONDS)
    gateway.rss_kib = bench.memory_kib(child.pid)
    print(f"  started in {gateway.start_seconds:.2f} s, {gateway.rss_kib / 1024:.0f} MiB")
    return gateway


def token(number: int) -> str:
    """As long and as random to look at as a key that the gateway makes."""
    return f"default{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128):032x}"


async def make_keys(gateway: Tollgate, count: int) -> None:
    numbers = iter(range(count))
    await asyncio.gather(*(make_some(gateway, numbers) for _ in range(CONNECTIONS)))


def plain_session(_: int) -> str:
    """A key that may call one API, with a rate."""
    right = {"api_id": "keyed", "api_name": "keyed", "versions": ["Default"], "allowed_urls": None, "limit": None}
    return json.dumps({
        "allowance": 1000, "rate": 1000, "per": 1, "expires": 0, "quota_max": -1, "quota_renews": 0,
        "quota_remaining": -1, "quota_renewal_rate": 60, "org_id": "default", "access_rights": {"keyed": right},
    })


async def make_some(gateway: Tollgate, numbers, session_of=plain_session) -> None:
    """Makes keys on one connection for as long as there are numbers."""
    reader, writer = await asyncio.open_connection(bench.HOST, gateway.port)
    for number in numbers:
        session = session_of(number)
        head = (
            f"POST /tyk/keys/{token(number)} HTTP/1.1\r\nHost: {bench.HOST}\r\n"
            f"x-tyk-authorization: {gateway.secret}\r\nContent-Length: {len(session)}\r\n\r\n"
        )
        writer.write((head + session).encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            raise RigError(f"a key was not made: {answer!r}")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
    writer.close()


# Measuring --------------------------------------------------------------------------------------------------


def key_bytes(gateways: dict[int, Filled], args: argparse.Namespace) -> float:
    few, many = gateways[FEW], gateways[args.keys]
    return (many.rss_kib - few.rss_kib) * 1024 / (args.keys - FEW)


def cost(rig: Rig, gateways: dict[int, Filled], args: argparse.Namespace) -> dict[str, list[float]]:
    """CPU microseconds per request of each shape, by round."""
    in_use = min(args.keys, 100_000)
    shapes = {
        f"{FEW} keys there, all in use": (gateways[FEW], FEW),
        f"{args.keys:,} keys there, {FEW} in use": (gateways[args.keys], FEW),
        f"{args.keys:,} keys there, {in_use:,} in use": (gateways[args.keys], in_use),
    }
    scripts = {used: rig.file(f"keys-{used}.txt", "\n".join(map(token, range(used)))) for _, used in shapes.values()}
    rounds: dict[str, list[float]] = {name: [] for name in shapes}
    for number in range(args.rounds + 1):
        for name, (gateway, used) in shapes.items():
            spent = sample(rig, gateway, scripts[used], args)
            if number > 0:  # the first one makes the keys ready
                rounds[name].append(spent)
    base = rounds[next(iter(shapes))]
    print(f"\n{args.conns} connections, {args.rounds} rounds x {args.seconds} s; medians (lowest-highest)")
    print(f"{'keys':42} {'CPU us':>22} {'x few':>20}")
    for name, own in rounds.items():
        print(f"{name:42} {spread(own):>22} {spread([one / few for one, few in zip(own, base)]):>20}")
    return rounds


def sample(rig: Rig, gateway: Filled, keys: pathlib.Path, args: argparse.Namespace) -> float:
    url = f"http://{bench.HOST}:{gateway.server.port}/keyed/json/valid"
    before = bench.usage(gateway.server.pid)
    load = bench.load(rig, args.binary, url, args.conns, args.seconds, "-H", "Authorization: {key}", "--vars", f"key={keys}")
    spent = bench.usage(gateway.server.pid) - before
    if load.trouble:
        raise RigError(load.trouble)
    return spent.cpu_ns / 1e3 / max(load.requests, 1)


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def verdict(result: dict, args: argparse.Namespace) -> int:
    few, many, *_ = result["cost"].values()
    ratio = statistics.median(one / base for one, base in zip(many, few))
    promises = [("bytes per idle key", result["key_bytes"], KEY_BYTES_MAX), ("cost, times that with few keys", ratio, RATIO_MAX)]
    print(f"\ntollgate with {args.keys:,} keys against its limits")
    for what, value, most in promises:
        print(f"  {'ok  ' if value <= most else 'OVER'} {what}: {value:.2f} (at most {most})")
    return 0 if all(value <= most for _, value, most in promises) else 1


if __name__ == "__main__":
    bench.run(main)
