"""Clients that take more than their share, and how connections spread over the gateway's threads: no malice is needed for these."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator

import rig as bench
from attack import traffic
from attack.arena import Arena, Target, thread_cpu, thread_shares
from attack.probe import PROBE_PATH
from attack.scenario import Bounds, Scenario, beside
from rig import HOST

BULK = 8
# Bytes of the body that is compressed, and how often a client asks for it.
LETTERS, DOWNLOADS = 16 << 20, 100
BULK_P50_FLOOR_MS = 5
P50_NGINX_RATIO_MAX = 1.5
# CPU time of the least busy thread over that of the busiest.
SHARE_MIN = 0.3
# What others may notice of it, whatever the idle gateway does: more than the slices of one look at the sockets.
P99_COMPRESSED_MS_MAX = 20
STORM_CLIENTS, STORMS = 400, 3


def downloads(target: Target, seconds: float) -> dict:
    """Clients that read a body of 4 GB as fast as it comes."""

    def blocks() -> Iterator[bytes]:
        yield b"GET /attack/size/4g HTTP/1.1\r\nHost: localhost\r\n\r\n"

    return traffic.flood(target.port, seconds, BULK, blocks)


def compressed(target: Target, seconds: float) -> dict:
    """Clients that read, as fast as it comes, what is the most work to compress."""

    def blocks() -> Iterator[bytes]:
        yield b"GET /compressed/letters.json HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n" * DOWNLOADS

    return traffic.flood(target.port, seconds, BULK, blocks)


def letters(place: Arena) -> None:
    """Two letters in random order."""
    file = place.rig.dir / "answers" / "letters.json"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(random.Random(1).randbytes(LETTERS).translate(bytes(97 + (number & 1) for number in range(256))))


def tollgate_compresses(place: Arena) -> dict:
    letters(place)
    api = bench.api_definition("compressed", "/compressed/", place.quiet.url("/answers/"))
    return {"apis": [api | {"tollgate": {"compression": {"encodings": ["gzip"]}}}]}


def nginx_compresses(place: Arena) -> dict:
    letters(place)
    return {"locations": f"""location /compressed/ {{
      proxy_pass http://{HOST}:{place.quiet.port}/answers/;
      proxy_max_temp_file_size 0;
      gzip on;
      gzip_comp_level 2;
      gzip_types application/json;
    }}"""}


def small_ones_are_served(ours: dict, results: dict, quick: bool) -> list[str]:
    figures, nginx = ours["clients"]["requests"], results.get("nginx")
    most = max(BULK_P50_FLOOR_MS, P50_NGINX_RATIO_MAX * nginx["clients"]["requests"]["p50_ms"] if nginx else 0)
    return [f"p50 of others {figures['p50_ms']:.1f} ms, at most {most:.1f}"] if figures["p50_ms"] > most else []


def storm(target: Target, seconds: float) -> dict:
    """All clients lose their connections at once and come again at once; then a few of them, at random, are busy."""
    streams: list[socket.socket] = []
    for _ in range(STORMS):
        for stream in streams:
            stream.close()
        streams = [socket.create_connection((HOST, target.port), timeout=10) for _ in range(STORM_CLIENTS)]
        for stream in streams:
            stream.sendall(request())
        for stream in streams:
            stream.recv(65536)
    return {"clients": STORM_CLIENTS} | busy(target, random.sample(streams, 16), seconds)


def busy(target: Target, streams: list[socket.socket], seconds: float) -> dict:
    """These connections send one request after the other. The shares are of this time, not of the storm."""
    before, count, deadline = thread_cpu(target), 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        for stream in streams:
            stream.sendall(request())
        for stream in streams:
            stream.recv(65536)
        count += len(streams)
    return {"requests": count, "thread_seconds": [round(share, 2) for share in thread_shares(before, thread_cpu(target))]}


def request() -> bytes:
    return f"GET {PROBE_PATH} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()


def eight_over_tls(target: Target, seconds: float) -> dict:
    before = thread_cpu(target)
    load = target.load(f"https://{HOST}:{target.port}{PROBE_PATH}", 8, max(2, round(seconds)))
    shares = [round(share, 2) for share in thread_shares(before, thread_cpu(target))]
    return {"requests": load.requests, "trouble": load.trouble, "thread_seconds": shares}


def tls(place: Arena) -> bench.Certificate:
    return bench.certificate(place.rig, "ecdsa")


def tollgate_tls(place: Arena) -> dict:
    made = tls(place)
    return {"conf": {"http_server_options": {"use_ssl": True, "certificates": [{"cert_file": str(made.file), "key_file": str(made.key)}]}}}


def spread(ours: dict, _: dict, __: bool) -> list[str]:
    shares = ours["facts"].get("thread_seconds") or [0]
    if shares[-1] >= SHARE_MIN * shares[0]:
        return []
    return [f"threads work {', '.join(f'{share:.2f}' for share in shares)} s, the least at least {SHARE_MIN} of the most"]


SCENARIOS = [
    Scenario("fairness", "downloads", f"{BULK} clients that download as fast as they can", beside(downloads),
             Bounds(p99=False, judge=small_ones_are_served)),
    Scenario("fairness", "compressed", f"{BULK} clients that download what is compressed for them",
             beside(compressed, ("tollgate", "nginx"), {"tollgate": tollgate_compresses, "nginx": nginx_compresses}),
             Bounds(p99_floor_ms=P99_COMPRESSED_MS_MAX)),
    Scenario("fairness", "reconnects", f"{STORM_CLIENTS} clients reconnect at once, then 16 of them are busy",
             beside(storm, paths={}, grace=30), Bounds(p99=False, judge=spread)),
    Scenario("fairness", "tls", "eight busy TLS connections",
             beside(eight_over_tls, options={"tollgate": tollgate_tls, "nginx": lambda place: {"tls": tls(place)},
                                             "haproxy": lambda place: {"tls": tls(place)}}, paths={}, grace=40),
             Bounds(p99=False, judge=spread)),
]
