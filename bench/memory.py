#!/usr/bin/env python3
"""Memory of a gateway: idle, with idle keep-alive connections, and while 1 GiB passes through each way.

Peers are measured for comparison; only Tollgate is held to the limits. RSS of several processes is their sum, so
pages that nginx's workers share count more than once.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import socket
import time

import rig as bench
from rig import Rig, RigError, Server

IDLE_MIB_MAX = 15
CONNECTION_KIB_MAX = 8
BODY_PEAK_MIB_MAX = 64

SETTLE_SECONDS = 1
BLOCK = bytes(1 << 20)


def main() -> int:
    args = arguments()
    bench.raise_open_files(args.connections + 1000)
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    results = {}
    with Rig(args.threads) as rig:
        upstream = bench.mock_upstream(rig, args.binary)
        for name in args.gateways:
            gateway = start_gateway(rig, name, upstream, args)
            print(f"\n{name}")
            results[name] = measure(gateway, args)
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "results": results}, indent=1) + "\n")
    if "tollgate" not in results:
        return 0
    return verdict(results["tollgate"])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--mebibytes", type=int, default=1024, help="size of the large bodies")
    parser.add_argument("--gateways", "--only", type=lambda text: text.split(","), default=["tollgate", "nginx", "haproxy"])
    parser.add_argument("--threads", type=int, default=bench.GATEWAY_THREADS)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def start_gateway(rig: Rig, name: str, upstream: Server, args: argparse.Namespace) -> Server:
    if name == "nginx":
        return bench.nginx_gateway(rig, upstream.port, connections=args.connections + 1000)
    if name == "haproxy":
        return bench.haproxy_gateway(rig, upstream.port)
    if name == "tollgate":
        api = bench.api_definition("memory", "/memory/", upstream.url("/"))
        return bench.tollgate_gateway(rig, args.binary, [api], "/memory/")
    raise RigError(f"{name} is no gateway that is known here")


def measure(gateway: Server, args: argparse.Namespace) -> dict:
    result = {}
    time.sleep(SETTLE_SECONDS)
    result["idle_mib"] = bench.memory_kib(gateway.pid) / 1024
    print(f"  idle after start                 {result['idle_mib']:8.1f} MiB")

    result["connection_kib"], result["unusable"] = idle_connections(gateway, args.connections)
    print(f"  per idle connection of {args.connections:6}    {result['connection_kib']:8.2f} KiB"
          f"   ({result['unusable']} of a sample unusable afterwards)")

    for way, carry in (("upload", upload), ("download", download)):
        bench.reset_peak_memory(gateway.pid)
        began = time.monotonic()
        carry(gateway, args.mebibytes << 20)
        seconds = time.monotonic() - began
        result[f"{way}_peak_mib"] = bench.memory_kib(gateway.pid, "VmHWM") / 1024
        print(f"  peak in a {way:8} of {args.mebibytes:5} MiB  {result[f'{way}_peak_mib']:8.1f} MiB"
              f"   ({args.mebibytes / seconds:.0f} MiB/s)")
    return result


def verdict(result: dict) -> int:
    promises = [
        ("idle RSS", result["idle_mib"], IDLE_MIB_MAX, "MiB"),
        ("per idle connection", result["connection_kib"], CONNECTION_KIB_MAX, "KiB"),
        ("peak RSS in an upload", result["upload_peak_mib"], BODY_PEAK_MIB_MAX, "MiB"),
        ("peak RSS in a download", result["download_peak_mib"], BODY_PEAK_MIB_MAX, "MiB"),
        ("unusable connections", result["unusable"], 0, ""),
    ]
    print("\ntollgate against its limits")
    for what, value, most, unit in promises:
        print(f"  {'ok  ' if value <= most else 'OVER'} {what}: {value:.2f} {unit} (at most {most})")
    return 0 if all(value <= most for _, value, most, _ in promises) else 1


def idle_connections(gateway: Server, count: int) -> tuple[float, int]:
    """Growth of RSS in KiB per connection that has done one request and stays open, and how many of a sample
    of them then fail a second request."""
    first = connect(gateway)  # code and buffers that the first request brings in are not the connections'
    for _ in range(100):
        exchange(first, get(gateway, "/json/valid"))
    time.sleep(SETTLE_SECONDS)
    before = bench.memory_kib(gateway.pid)
    streams = [first]
    try:
        for _ in range(count):
            streams.append(connect(gateway))
            exchange(streams[-1], get(gateway, "/json/valid"))
        time.sleep(SETTLE_SECONDS)
        growth = bench.memory_kib(gateway.pid) - before
        unusable = sum(not still_answers(gateway, stream) for stream in streams[::100])
    finally:
        for stream in streams:
            stream.close()
    return growth / count, unusable


def still_answers(gateway: Server, stream: socket.socket) -> bool:
    try:
        exchange(stream, get(gateway, "/json/valid"))
    except (OSError, RigError):
        return False
    return True


def upload(gateway: Server, size: int) -> None:
    with connect(gateway) as stream:
        head = f"POST {gateway.prefix}echo HTTP/1.1\r\nHost: {bench.HOST}\r\nContent-Length: {size}\r\n\r\n"
        stream.sendall(head.encode())
        for _ in range(size // len(BLOCK)):
            stream.sendall(BLOCK)
        seen = json.loads(exchange(stream, b""))
    if seen["body_bytes"] != size:
        raise RigError(f"the upstream got {seen['body_bytes']} of {size} bytes")


def download(gateway: Server, size: int) -> None:
    with connect(gateway) as stream:
        stream.sendall(get(gateway, f"/size/{size}"))
        length, rest = read_head(stream)
        left = length - len(rest)
        block = bytearray(1 << 20)
        while left > 0:
            got = stream.recv_into(block)
            if not got:
                raise RigError(f"the download ended {left} bytes early")
            left -= got
    if length != size:
        raise RigError(f"the download was declared as {length} instead of {size} bytes")


def connect(gateway: Server) -> socket.socket:
    return socket.create_connection((bench.HOST, gateway.port), timeout=60)


def get(gateway: Server, path: str) -> bytes:
    return f"GET {gateway.prefix}{path.lstrip('/')} HTTP/1.1\r\nHost: {bench.HOST}\r\n\r\n".encode()


def exchange(stream: socket.socket, request: bytes) -> bytes:
    """Sends a request and reads the answer, which must be 200 and have a Content-Length."""
    stream.sendall(request)
    length, body = read_head(stream)
    while len(body) < length:
        more = stream.recv(65536)
        if not more:
            raise RigError("the answer ended early")
        body += more
    return body


def read_head(stream: socket.socket) -> tuple[int, bytes]:
    """The body's declared length, and what of it has come with the head."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = stream.recv(65536)
        if not more:
            raise RigError(f"the connection ended in the head of the answer: {data!r}")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    if " 200" not in lines[0]:
        raise RigError(f"unexpected answer: {lines[0]}")
    for line in lines:
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            return int(value), rest
    raise RigError("the answer has no Content-Length")


if __name__ == "__main__":
    bench.run(main)
