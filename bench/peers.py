#!/usr/bin/env python3
"""CPU time per request of Tollgate beside nginx, HAProxy and a byte relay, in one interleaved run on loopback.

Every round visits the gateways in turn (A B C, A B C, ...), so that whatever else the machine does falls on all of
them alike; ratios are made within a round. Requests per second are a property of the whole machine, because loader,
gateway and upstream share it: the figure to compare is the gateway's CPU time per request.

The floor is `tollgate-bench relay`, which copies bytes between a client and a connection of its own to the upstream and
looks at none: what is above it is what a gateway does besides moving bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
from collections.abc import Callable

import rig as bench
from rig import Load, Rig, Server

BODIES = {"small": "/json/valid", "64k": "/64k"}
WARM_UP_SECONDS = 1
REFERENCES = ("nginx", "haproxy")
FLOOR = "floor"


def main() -> int:
    args = arguments()
    if args.nice:
        os.nice(args.nice)
    bench.raise_open_files(4096)
    uses_tollgate = any(name.startswith("tollgate") for name in args.gateways)
    facts = bench.circumstances(args.binary if uses_tollgate else None)
    bench.print_circumstances(facts)
    shapes = []
    with Rig(args.threads) as rig:
        upstream = bench.nginx_upstream(rig)
        gateways = [start_gateway(rig, name, upstream, args) for name in args.gateways]
        for body in args.bodies:
            for conns in args.conns:
                rounds = measure(rig, gateways, body, conns, args)
                shapes.append({"body": body, "conns": conns, "rounds": rounds})
                print_shape(shapes[-1], args)
    if args.json:
        settings = {name: getattr(args, name) for name in ("rounds", "seconds", "threads", "nice")}
        args.json.write_text(json.dumps({"run": facts, "settings": settings, "shapes": shapes}, indent=1) + "\n")
        print(f"\nraw data: {args.json}")
    voids = sum(bool(trouble(shape["rounds"], name)) for shape in shapes for name in args.gateways)
    return 1 if voids else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=2, help="length of one measurement")
    parser.add_argument("--conns", type=numbers, default=[8, 50, 200], help="comma-separated, default 8,50,200")
    parser.add_argument("--bodies", type=names(BODIES), default=list(BODIES), help="small,64k")
    parser.add_argument("--gateways", "--only", type=names(("tollgate", *REFERENCES, FLOOR)), help="default: all four")
    parser.add_argument(
        "--apis", type=numbers, default=[],
        help="tollgate once for each of these numbers of API definitions, e.g. 10,10000, asking the one in the middle",
    )
    parser.add_argument("--threads", type=int, default=bench.GATEWAY_THREADS, help="of each gateway")
    parser.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'", help="sent with each request")
    parser.add_argument("--nice", type=int, default=0, help="for everything that is started; below 0 needs root")
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the raw data")
    args = parser.parse_args()
    args.headers = dict(header.split(": ", 1) for header in args.header)
    args.gateways = args.gateways or (["tollgate"] if args.apis else ["tollgate", *REFERENCES, FLOOR])
    if args.apis:
        variants = [f"tollgate-{count}" for count in args.apis]
        args.gateways = variants + [name for name in args.gateways if name != "tollgate"]
    return args


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def names(known):
    def parse(text: str) -> list[str]:
        words = text.split(",")
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"{word} is none of {', '.join(known)}")
        return words

    return parse


def start_gateway(rig: Rig, name: str, upstream: Server, args: argparse.Namespace) -> Server:
    if name == "nginx":
        return bench.nginx_gateway(rig, upstream.port)
    if name == "haproxy":
        return bench.haproxy_gateway(rig, upstream.port)
    if name == FLOOR:
        return bench.relay(rig, args.binary, upstream.port, name)
    count = int(name.partition("-")[2] or 1)
    target = upstream.url("/")
    apis = [bench.api_definition(f"api-{n}", f"/api-{n}/", target) for n in range(count)]
    return bench.tollgate_gateway(rig, args.binary, apis, f"/api-{count // 2}/", name)


def measure(rig: Rig, gateways: list[Server], body: str, conns: int, args: argparse.Namespace) -> list[dict]:
    """One dictionary per round: gateway name to its figures."""
    path = BODIES[body]
    for gateway in gateways:
        bench.wrk(rig, gateway.url(path), conns, WARM_UP_SECONDS, args.headers)
    rounds = []
    for _ in range(args.rounds):
        rounds.append({gateway.name: sample(rig, gateway, path, conns, args) for gateway in gateways})
    return rounds


def sample(rig: Rig, gateway: Server, path: str, conns: int, args: argparse.Namespace) -> dict:
    return figures(gateway, lambda: bench.wrk(rig, gateway.url(path), conns, args.seconds, args.headers))


def figures(gateway: Server, run: Callable[[], Load]) -> dict:
    """What the gateway used while `run` loaded it, for each request."""
    before = bench.usage(gateway.pid)
    load = run()
    spent = bench.usage(gateway.pid) - before
    requests = max(load.requests, 1)
    cpu_us = spent.cpu_ns / 1e3 / requests
    ticks = spent.user_ticks + spent.system_ticks
    user_share = spent.user_ticks / ticks if ticks else 0.0
    return {
        "cpu_us": cpu_us,
        "user_us": cpu_us * user_share,
        "system_us": cpu_us * (1 - user_share),
        "switches": spent.switches / requests,
        "rss_mib": bench.memory_kib(gateway.pid) / 1024,
        "requests": load.requests,
        "rps": load.rps,
        "p50_us": load.p50_us,
        "p99_us": load.p99_us,
        "trouble": load.trouble,
    }


def print_shape(shape: dict, args: argparse.Namespace) -> None:
    rounds = shape["rounds"]
    references = [name for name in (FLOOR, *REFERENCES) if name in args.gateways]
    if args.apis:
        references.insert(0, args.gateways[0])
    print(f"\n{shape['body']} body, {shape['conns']} connections, {args.rounds} rounds x {args.seconds:g} s, "
          f"{args.threads} threads; medians (lowest-highest); load average {os.getloadavg()[0]:.1f}")
    header = f"{'gateway':15} {'CPU us/request':>20} {'user':>6} {'system':>6}"
    header += "".join(f" {'x ' + name:>18}" for name in references)
    header += f" {'requests/s':>10} {'p50 us':>7} {'p99 us':>7} {'switches':>8} {'RSS MiB':>8}"
    header += "  p99 <= nginx's" if "nginx" in references else ""
    print(header)
    for name in args.gateways:
        print_row(rounds, name, references)


def print_row(rounds: list[dict], name: str, references: list[str]) -> None:
    wrong = trouble(rounds, name)
    if wrong:
        print(f"{name:15} VOID: {wrong}")
        return
    row = f"{name:15} {spread([r[name]['cpu_us'] for r in rounds], 2):>20}"
    row += f" {median(rounds, name, 'user_us'):6.1f} {median(rounds, name, 'system_us'):6.1f}"
    for reference in references:
        row += f" {ratio(rounds, name, reference):>18}"
    row += f" {median(rounds, name, 'rps'):10.0f} {median(rounds, name, 'p50_us'):7.0f}"
    row += f" {median(rounds, name, 'p99_us'):7.0f} {median(rounds, name, 'switches'):8.3f}"
    row += f" {median(rounds, name, 'rss_mib'):8.1f}"
    if "nginx" in references and name not in ("nginx", FLOOR) and not trouble(rounds, "nginx"):
        ours, theirs = median(rounds, name, "p99_us"), median(rounds, "nginx", "p99_us")
        row += f"  {'yes' if ours <= theirs else 'NO'} ({ours / theirs:.2f})"
    print(row, flush=True)


def ratio(rounds: list[dict], name: str, reference: str) -> str:
    """The median of the ratios made within each round, and their range."""
    if trouble(rounds, reference):
        return "-"
    return spread([r[name]["cpu_us"] / r[reference]["cpu_us"] for r in rounds], 2)


def trouble(rounds: list[dict], name: str) -> str:
    return next((r[name]["trouble"] for r in rounds if r[name]["trouble"]), "")


def median(rounds: list[dict], name: str, figure: str) -> float:
    return statistics.median(r[name][figure] for r in rounds)


def spread(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


if __name__ == "__main__":
    bench.run(main)
