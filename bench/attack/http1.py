"""HTTP/1.1: heads that are too much, and bodies in chunks that cost more than they carry. Who is refused comes again at once."""

from __future__ import annotations

from collections.abc import Iterator

from attack import traffic
from attack.scenario import Bounds, Scenario, beside, not_far_from_peers

FLOODERS = 20
BLOCK_BYTES = 65536


def head(method: str, lines: str = "") -> bytes:
    return f"{method} /attack/echo HTTP/1.1\r\nHost: localhost\r\n{lines}".encode()


def lines(count: int) -> str:
    return "".join(f"X-{n}: {n}\r\n" for n in range(count)) + "\r\n"


def flood(first: bytes, again: bytes):
    """A connection sends `first`, then `again` without end."""

    def blocks() -> Iterator[bytes]:
        block = again * max(1, BLOCK_BYTES // len(again))
        yield first
        while True:
            yield block

    return lambda target, seconds: traffic.flood(target.port, seconds, FLOODERS, blocks, again=True)


def requests(one: bytes):
    return flood(one, one)


CHUNKED = head("POST", "Transfer-Encoding: chunked\r\n\r\n")


def scenario(name: str, title: str, attack) -> Scenario:
    return Scenario("http1", name, title, beside(attack), Bounds(judge=not_far_from_peers))


SCENARIOS = [
    scenario("headers", "requests with 80 header lines", requests(head("GET", lines(80)))),
    scenario("headers-10000", "requests with 10,000 header lines", requests(head("GET", lines(10_000)))),
    scenario("huge-header", "a header line without end", flood(head("GET", "X: "), b"a" * BLOCK_BYTES)),
    scenario("huge-target", "a request line without end", flood(b"GET /attack/", b"a" * BLOCK_BYTES)),
    scenario("small-chunks", "a body in chunks of one byte, without end", flood(CHUNKED, b"1\r\nx\r\n")),
    scenario("extensions", "chunk extensions without end", flood(CHUNKED + b"1;", b"a" * BLOCK_BYTES)),
    scenario("chunk-extensions", "a chunk extension of 8 KB for each byte", flood(CHUNKED, b"1;" + b"a" * 8000 + b"\r\nx\r\n")),
    scenario("trailers", "trailers without end", flood(CHUNKED + b"0\r\n", b"X-Trailer: 1\r\n")),
]
