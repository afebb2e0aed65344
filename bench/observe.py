#!/usr/bin/env python3
"""What being observed costs: CPU time per request of Tollgate with records, figures and logs, as a ratio to itself with all of it off.

Each row is a process of its own in front of the same upstream. It is measured at the same time as the one with all of it off, each with
half of the connections: what else goes on at the machine changes within seconds, and so meets both. A second process with all of it off is
measured like the rows: how far its ratio is from 1 tells what the others are worth. Time of the threads that write records counts, so each
measurement ends when they have written. Records are counted where they went: a row that lost some is void.

Requests are keyless unless `--key` is given: then they carry a key with a rate limit and a quota.
"""

from __future__ import annotations

import argparse
import dataclasses
import http.server
import json
import os
import pathlib
import socket
import statistics
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import keys
import rig as bench
from rig import Rig, RigError, Tollgate

LIST = "analytics-tyk-system-analytics"
NO_METRICS = {"metrics": {"enabled": False}}
TRACES = "traces of 1 % (OTLP over HTTP)"
API = "a"
PATH = f"/{API}/json/valid"
# Sums are written every five seconds.
SUMS_SETTLE_S = 6


@dataclasses.dataclass
class Row:
    """A way to be observed. `count` tells how many requests have been recorded so far; they are after `settle_s` without requests."""

    name: str
    conf: dict
    count: Callable[[Tollgate], int] | None = None
    settle_s: float = 1.5


@dataclasses.dataclass
class Subject:
    """A running gateway that is observed in one of the ways."""

    row: Row
    gateway: Tollgate
    headers: dict[str, str]

    def count(self) -> int:
        return self.row.count(self.gateway) if self.row.count else 0


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    with Rig(args.threads) as rig, Collector() as collector, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as statsd:
        # What nobody reads is thrown away by the kernel.
        statsd.bind((bench.HOST, 0))
        upstream = bench.nginx_upstream(rig)
        rows = wanted(rows_of(rig, statsd.getsockname()[1], collector.port), args)
        apis = definitions(upstream.url("/"), args.key)

        def subject(number: int, row: Row) -> Subject:
            gateway = bench.tollgate_gateway(rig, args.binary, apis, "/open/", f"tollgate{number}", row.conf)
            return Subject(row, gateway, {"Authorization": keys.limited_key(gateway, API)} if args.key else {})

        off, *subjects = [subject(number, row) for number, row in enumerate(rows)]
        rounds = [
            {own.row.name: side_by_side(rig, off, own, args) for own in subjects} for _ in range(args.rounds + 1)
        ][1:]  # the first one warms up
        if any(row.name == TRACES for row in rows) and not collector.batches:
            raise RigError("no trace has come to the collector")
    report(rounds, args)
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "rounds": rounds}, indent=1) + "\n")
    return 1 if any(sample["trouble"] for one in rounds for sample in one.values()) else 0


def arguments() -> argparse.Namespace:
    parser = bench.argument_parser(__doc__, rounds=9, seconds=3)
    parser.add_argument("--rows", help="only those whose names contain one of these words, beside the ones with all off: redis,metrics")
    parser.add_argument("--key", action="store_true", help="requests carry a key with a rate limit and a quota")
    return parser.parse_args()


def definitions(target: str, with_key: bool) -> list[dict]:
    """The API that is measured, and one that says that a gateway is ready."""
    own = bench.api_definition(API, f"/{API}/", target) | {"do_not_track": False, "use_keyless": not with_key}
    return [own, bench.api_definition("open", "/open/", target)]


def rows_of(rig: Rig, statsd_port: int, collector_port: int) -> list[Row]:
    """The rows of the table; the first is what the others are compared with, the second the same again. A further one is one entry."""
    redis_port = bench.redis_server(rig).port
    lines, access_log, both = (rig.dir / name for name in ("records.json", "access.log", "both.log"))

    def analytics(sinks: dict, more: dict | None = None) -> dict:
        off = {"usage": False, "redis": False, "files_max": 100}
        return {"enable_analytics": True, "tollgate": NO_METRICS | {"analytics": off | sinks}} | (more or {})

    statsd = {"statsd_connection_string": f"{bench.HOST}:{statsd_port}", "statsd_prefix": "bench"}
    to_redis = {
        "enable_separate_analytics_store": True,
        "analytics_storage": {"type": "redis", "host": bench.HOST, "port": redis_port},
    }
    logs = {"access_logs": {"enabled": True}}
    traces = {
        "enabled": True,
        "exporter": "http",
        "endpoint": f"http://{bench.HOST}:{collector_port}",
        "sampling": {"type": "TraceIDRatioBased", "rate": 0.01},
    }
    return [
        Row("all off", {"tollgate": NO_METRICS}),
        Row("all off, once more", {"tollgate": NO_METRICS}),
        Row("metrics", {}),
        Row("metrics + StatsD", statsd),
        Row(TRACES, {"opentelemetry": {"traces": traces}, "tollgate": NO_METRICS}),
        Row("access log", logs | {"tollgate": NO_METRICS | {"access_log": {"file": str(access_log), "files_max": 100}}}, file_lines(access_log)),
        Row(
            "metrics + StatsD + access log",
            statsd | logs | {"tollgate": {"access_log": {"file": str(both), "files_max": 100}}},
            file_lines(both),
        ),
        Row("records: sums by minute (SQLite)", analytics({"usage": True}), usage_hits, SUMS_SETTLE_S),
        Row("records: JSON lines", analytics({"file": str(lines)}), file_lines(lines)),
        Row("records: Redis list", analytics({"redis": True}, to_redis), list_length(redis_port)),
    ]


class Collector:
    """Takes batches of spans, and throws them away."""

    def __init__(self):
        self.batches = 0
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                collector.batches += 1
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((bench.HOST, 0), Handler)
        self.port = self.server.server_port

    def __enter__(self) -> Collector:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()


def wanted(rows: list[Row], args: argparse.Namespace) -> list[Row]:
    words = [word.lower() for word in (args.rows or "").split(",") if word]
    return rows[:2] + [row for row in rows[2:] if not words or any(word in row.name.lower() for word in words)]


def redis(port: int, *words: str) -> str:
    argv = ["redis-cli", "-h", bench.HOST, "-p", str(port), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout.strip()


def list_length(port: int) -> Callable[[Tollgate], int]:
    taken = 0

    def count(_: Tollgate) -> int:
        # Taken out as a pump does, so that it does not grow from round to round.
        nonlocal taken
        while (length := int(redis(port, "LLEN", LIST))) > 0:
            redis(port, "LTRIM", LIST, str(length), "-1")
            taken += length
        return taken

    return count


def file_lines(path: pathlib.Path) -> Callable[[Tollgate], int]:
    """Lines of a file and of the full ones before it, which are emptied when they are counted: a machine that grows by a gigabyte of
    cached files pays for memory that it never used, which under a hypervisor costs ten times what is measured here. Nothing is lost as
    long as there are no more full files than are kept."""
    lines = 0

    def count(_: Tollgate) -> int:
        nonlocal lines
        for file in path.parent.glob(f"{path.name}*"):
            with open(file, "rb") as data:
                while block := data.read(1 << 20):
                    lines += block.count(b"\n")
            if file == path:
                os.truncate(file, 0)
            else:
                file.unlink()
        return lines

    return count


def usage_hits(gateway: Tollgate) -> int:
    request = urllib.request.Request(
        f"http://{bench.HOST}:{gateway.port}/tyk/usage?by=api&last=7d",
        headers={"x-tyk-authorization": gateway.secret},
    )
    with urllib.request.urlopen(request) as answer:
        return sum(row["hits"] for row in json.load(answer)["rows"])


def side_by_side(rig: Rig, off: Subject, own: Subject, args: argparse.Namespace) -> dict:
    """Both under load at the same time."""
    counted = own.count()
    before = [bench.usage(subject.gateway.pid) for subject in (off, own)]

    def load(subject: Subject) -> bench.Load:
        return bench.wrk(rig, f"http://{bench.HOST}:{subject.gateway.port}{PATH}", args.conns // 2, args.seconds, subject.headers)

    with ThreadPoolExecutor() as pool:
        loads = list(pool.map(load, (off, own)))
    time.sleep(own.row.settle_s)
    off_us, own_us = (
        (bench.usage(subject.gateway.pid) - earlier).cpu_ns / 1e3 / max(done.requests, 1)
        for subject, earlier, done in zip((off, own), before, loads, strict=True)
    )
    trouble = "; ".join(load.trouble for load in loads if load.trouble)
    requests = loads[1].requests
    if own.row.count and (recorded := own.count() - counted) < requests:
        trouble = trouble or f"{requests - recorded} of {requests} requests were not recorded"
    return {"off_us": off_us, "own_us": own_us, "requests": requests, "trouble": trouble}


def report(rounds: list[dict], args: argparse.Namespace) -> None:
    print(f"\n{args.conns} connections, {args.rounds} rounds x {args.seconds} s; medians (quartiles)")
    print(f"{'observed by':42} {'all off, CPU us':>22} {'CPU us':>22} {'ratio':>22}")
    for name in rounds[0]:
        samples = [one[name] for one in rounds]
        void = next((sample["trouble"] for sample in samples if sample["trouble"]), "")
        figures = (
            spread([sample["off_us"] for sample in samples], 2),
            spread([sample["own_us"] for sample in samples], 2),
            spread([sample["own_us"] / sample["off_us"] for sample in samples], 3),
        )
        print(f"{name:42} {' '.join(f'{figure:>22}' for figure in figures)}{'  VOID: ' + void if void else ''}")


def spread(values: list[float], digits: int) -> str:
    low, middle, high = statistics.quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


if __name__ == "__main__":
    bench.run(main)
