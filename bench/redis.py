#!/usr/bin/env python3
"""Whether the limits that gateways share through one Redis hold, and what they ask of it. `tollgate-bench run --suite redis` measures
what a request costs.

1. Scripts that Redis runs for limits per request, at a fixed rate of requests under a limit of 100,000 in a minute.
2. Three gateways on one Redis in overload: what they let pass together, as a share of the limit.

Status codes are checked: a result with an unexpected one is void.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import subprocess
import time

import credentials
import rig as bench
from rig import Rig, RigError, Tollgate

GATEWAYS = 3


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    facts["redis"] = bench.first_line(["redis-server", "--version"])
    bench.print_circumstances(facts)
    loader = bench.loader(args.binary)
    with Rig(args.threads) as rig:
        redis, upstream = bench.redis_server(rig), bench.nginx_upstream(rig)
        apis = [
            bench.api_definition("open", "/open/", upstream.url("/")),
            bench.api_definition("keyed", "/keyed/", upstream.url("/")) | {"use_keyless": False, "do_not_track": False},
        ]
        settings = {"hash_keys": True, "enable_analytics": True, "storage": {"host": bench.HOST, "port": redis.port}}
        start = lambda name: bench.tollgate_gateway(rig, args.binary, apis, "/open/", name, settings)  # noqa: E731
        first = start("tollgate-1")
        trips = round_trips(loader, first, redis, args)
        gateways = [first] + [start(f"tollgate-{number}") for number in range(2, GATEWAYS + 1)]
        time.sleep(2)  # until they know of each other
        passed = [overload(loader, gateways, limit, args) for limit in args.limits]
    void = report(trips, passed, args)
    if args.json:
        result = {"run": facts, "round_trips": trips, "overload": passed}
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if void else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=int, default=10_000, help="requests a second for counting round trips")
    parser.add_argument("--long", type=int, default=10, help="seconds for counting round trips, and of overload")
    parser.add_argument("--limits", type=int, nargs="*", default=[100, 1_000, 10_000], help="of overload, in a second")
    parser.add_argument("--threads", type=int, default=bench.GATEWAY_THREADS)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the raw data")
    return parser.parse_args()


def key(gateway: Tollgate, **session) -> str:
    return credentials.key(gateway, {"api_id": "keyed", "api_name": "keyed", "versions": ["Default"]}, quota_max=-1, **session)


def scripts_run(redis: bench.Server) -> int:
    """How many scripts Redis has run: each is one round trip for limits."""
    done = subprocess.run(
        ["redis-cli", "-p", str(redis.port), "INFO", "commandstats"], capture_output=True, text=True, check=True
    )
    return sum(map(int, re.findall(r"cmdstat_eval(?:sha)?:calls=(\d+)", done.stdout)))


# Round trips ------------------------------------------------------------------------------------------------


def load(loader: pathlib.Path, gateway: Tollgate, token: str, rate: float, seconds: int, file: pathlib.Path) -> subprocess.Popen:
    argv = [loader, "load", "--no-progress", "-z", f"{seconds}s", "--rate", str(rate), "-c", "50", "--json", file]
    argv += ["-H", f"Authorization: {token}", f"http://{bench.HOST}:{gateway.port}/keyed/json/valid"]
    return subprocess.Popen(list(map(str, argv)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def statuses(process: subprocess.Popen, file: pathlib.Path) -> dict[str, int]:
    _, errors = process.communicate(timeout=120)
    if not file.exists():
        raise RigError(f"the loader gave no figures:\n{errors}")
    return json.loads(file.read_text())["status"]


def round_trips(loader: pathlib.Path, gateway: Tollgate, redis: bench.Server, args: argparse.Namespace) -> dict:
    token = key(gateway, rate=100_000, per=60)
    file = gateway.apps.parent / "load.json"
    before, start = scripts_run(redis), time.monotonic()
    counted = statuses(load(loader, gateway, token, args.rate, args.long, file), file)
    # The gateway's own sign of life, once a second.
    own = time.monotonic() - start
    requests = max(sum(counted.values()), 1)
    return {"status": counted, "per_request": max(scripts_run(redis) - before - own, 0) / requests}


# Overload ---------------------------------------------------------------------------------------------------


def overload(loader: pathlib.Path, gateways: list[Tollgate], limit: int, args: argparse.Namespace) -> dict:
    token = key(gateways[0], rate=limit, per=1)
    files = [gateway.apps.parent / f"overload-{limit}.json" for gateway in gateways]
    rate = limit * 2 / len(gateways)
    loads = [load(loader, gateway, token, rate, args.long, file) for gateway, file in zip(gateways, files)]
    counted = [statuses(process, file) for process, file in zip(loads, files)]
    passed = sum(one.get("200", 0) for one in counted)
    others = {status for one in counted for status in one} - {"200", "429"}
    return {"limit": limit, "passed": passed / limit / args.long, "status": counted, "void": bool(others)}


def report(trips: dict, passed: list[dict], args: argparse.Namespace) -> bool:
    print(f"\nscripts for limits per request at {args.rate} requests/s: {trips['per_request']:.4f}  {trips['status']}")
    void = set(trips["status"]) - {"200", "429"} != set()
    print(f"\n{GATEWAYS} gateways, twice the limit asked for, {args.long} s; no more than 1.05 each second, and 1 once at the beginning")
    for one in passed:
        print(f"{one['limit']:>6} in 1 s: {one['passed']:.3f} of the limit passed{'  VOID' if one['void'] else ''}")
        void |= one["void"]
    return void


if __name__ == "__main__":
    bench.run(main)
