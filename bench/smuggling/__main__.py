"""Request smuggling: sends requests on which servers disagree through Tollgate to many real servers, and compares what they read.

A request that Tollgate refuses is safe. One that it passes on must be the same request for every server behind it: as many requests, with
the same methods, targets, hosts, fields and bodies. Where servers differ by their own taste, `tastes.py` says which and why. Exit code 1
for any other difference. Everything runs on loopback.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import pathlib
import socket
import sys
import time

import rig as bench
from rig import HOST, Rig, RigError
from smuggling import origins
from smuggling.corpus import corpus
from smuggling.tastes import taste

# How long nothing must come before a connection counts as waiting for more bytes, in seconds.
SILENCE = 0.3
# How long the next client waits for its answer, in seconds.
PROBE_SECONDS = 10
# Fields that are compared, beside every one whose name begins with `x-`.
FIELDS = {"host", "content-type", "authorization", "cookie", "proxy", "upgrade"}
# What Tollgate adds, and what differs from one connection to the next.
OWN_FIELDS = {"x-forwarded-for", "x-real-ip", "x-request-id"}
# Listen paths, all of one length, so that lengths of bodies with paths in them are right.
PATHS = "abcdefghijklmnopqrstuvwxyz"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="only requests whose name fits: 'chunk-*'")
    parser.add_argument("--origins", default="", help="only these servers: node,go")
    parser.add_argument("--verbose", action="store_true", help="show what each server read where they differ")
    args = parser.parse_args()
    requests = {name: text for name, text in corpus().items() if not args.only or any(fnmatch.fnmatch(name, only) for only in args.only)}
    if not requests:
        raise RigError(f"no request fits {', '.join(args.only)}")
    with Rig() as rig:
        servers = origins.start(rig, [name for name in args.origins.split(",") if name])
        apis = [bench.api_definition(origin.name, f"/{path}/", origin.server.url("/")) for origin, path in zip(servers, PATHS)]
        for api in apis:
            api["proxy"]["preserve_host_header"] = True
        gateway = bench.tollgate_gateway(rig, args.binary, apis, f"/{PATHS[0]}/")
        print(f"{len(requests)} requests to {len(servers)} servers: {', '.join(origin.name for origin in servers)}", flush=True)
        read = send_to_all(servers, gateway.port, requests, SILENCE)
        # On a busy machine a server may have been too slow.
        again = {name: requests[name] for name in requests if wrong_at(name, read)}
        for server, once_more in send_to_all(servers, gateway.port, again, SILENCE * 10).items():
            read[server] |= once_more
        if gateway.child.poll() is not None:
            raise RigError(f"tollgate ended with {gateway.child.returncode}:\n{rig.log_tail('tollgate')}")
    return report(requests, read, args.verbose)


def send_to_all(servers: list[origins.Origin], port: int, requests: dict[str, bytes], silence: float) -> dict[str, dict[str, tuple]]:
    """What `send_all` gives for each server."""
    with concurrent.futures.ThreadPoolExecutor(len(servers)) as pool:
        passes = [pool.submit(send_all, origin, path, port, requests, silence) for origin, path in zip(servers, PATHS)]
        return {origin.name: one.result() for origin, one in zip(servers, passes)}


def send_all(origin: origins.Origin, path: str, port: int, requests: dict[str, bytes], silence: float) -> dict[str, tuple]:
    """For each request: the statuses that the client got, what the server read of it, and the statuses that the next client got."""
    read = {}
    prefix = f"/{path}/".encode()
    with origin.record.open() as lines:
        lines.read()  # what came while the servers were started
        for name, text in requests.items():
            last = b"GET " + prefix + b"last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            statuses = exchange(port, text.replace(b"/P/", prefix) + last, silence)
            probe = exchange(port, b"GET " + prefix + b"probe HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", PROBE_SECONDS)
            read[name] = statuses, requests_until_probe(lines, path, origin.server.port), probe
    return read


def exchange(port: int, text: bytes, silence: float) -> list[int]:
    """The statuses of the responses to what is sent on one connection."""
    received = b""
    with socket.create_connection((HOST, port), timeout=silence) as stream:
        try:
            stream.sendall(text)
            while piece := stream.recv(65536):
                received += piece
        except OSError:
            pass
    return [int(line[9:12]) for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.1 ") and line[9:12].isdigit()]


def requests_until_probe(lines, path: str, port: int) -> list[tuple]:
    """What the server wrote down since the last probe, without this one. Its own path and address read as `P` and `own`."""
    read, rest = [], ""
    deadline = time.monotonic() + PROBE_SECONDS
    while time.monotonic() < deadline:
        rest += lines.readline()
        if not rest.endswith("\n"):
            time.sleep(0.002)
            continue
        line, rest = json.loads(rest.replace(f"/{path}/", "/P/").replace(f"{HOST}:{port}", "own")), ""
        if line["target"] == "/probe":
            return read
        read.append(essence(line))
    return [*read, "no probe"]


def essence(line: dict) -> tuple:
    fields = {
        name: [part.strip() for value in values for part in value.split(",")]
        for name, values in line["headers"].items()
        if name not in OWN_FIELDS and (name in FIELDS or name.startswith("x-"))
    }
    return line["method"], line["target"], sorted(fields.items()), line["body"]


def wrong_at(name: str, read: dict[str, dict[str, tuple]]) -> list[str]:
    """The servers that read a request otherwise than most, for no known reason, or whose next client got no answer."""
    usual = usual_reading(name, read)
    return [
        origin for origin, of_one in read.items()
        if (of_one[name][1] != usual and not taste(name, origin)) or of_one[name][2] != [200]
    ]


def usual_reading(name: str, read: dict[str, dict[str, tuple]]) -> list:
    readings = [of_one[name][1] for of_one in read.values()]
    return max(readings, key=readings.count)


def report(requests: dict[str, bytes], read: dict[str, dict[str, tuple]], verbose: bool) -> int:
    counts: collections.Counter = collections.Counter()
    for name in requests:
        usual, wrong = usual_reading(name, read), wrong_at(name, read)
        are_alike = all(of_one[name][1] == usual for of_one in read.values())
        counts["DIFFER" if wrong else "differ by taste" if not are_alike else "read alike" if usual else "refused"] += 1
        if wrong:
            print(f"{name}: {', '.join(wrong)} read it otherwise, or the next client got no answer")
        for origin in wrong if verbose else []:
            statuses, seen, probe = read[origin][name]
            print(f"    most read {usual}\n    {origin} read {seen}; the client got {statuses}, the next one {probe}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["DIFFER"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RigError as error:
        sys.exit(f"smuggling: {error}")
