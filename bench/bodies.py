#!/usr/bin/env python3
"""Memory while many clients send large bodies at once to an endpoint whose template rewrites them.

Each client sends one JSON body. The gateway must answer each: 200 with the transformed body at the upstream, 503 when it has waited
for room, or 408 when the client was too slow. Peak RSS must stay below the memory of the idle gateway, `tollgate.limits.bodies_bytes_max`, and a fixed allowance.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import collections
import json
import pathlib
import time

import rig as bench
from rig import Rig, Server

BODIES_MIB_MAX = 256
# One parsed document and one result per core, the output to the upstream, the buffers of a thousand connections.
ALLOWANCE_MIB = 128

ANSWER_SECONDS_MAX = 120
TEMPLATE = '{"count": {{len .items}}, "first": {{(index .items 0).id}}, "text": "{{.text}}"}'


def main() -> int:
    args = arguments()
    bench.raise_open_files(3 * args.clients + 1000)
    bench.print_circumstances(bench.circumstances(args.binary))
    with Rig(args.threads) as rig:
        upstream = bench.mock_upstream(rig, args.binary)
        gateway = bench.tollgate_gateway(rig, args.binary, [definition(upstream)], "/bodies/")
        request = request_of(gateway, args.kibibytes << 10)
        # Code and memory that the first request needs are no part of the bodies'.
        asyncio.run(send_all(gateway, request, 1))
        idle = bench.memory_kib(gateway.pid) / 1024
        bench.reset_peak_memory(gateway.pid)
        began = time.monotonic()
        answers = asyncio.run(send_all(gateway, request, args.clients))
        seconds = time.monotonic() - began
        peak = bench.memory_kib(gateway.pid, "VmHWM") / 1024
    most = idle + BODIES_MIB_MAX + ALLOWANCE_MIB
    print(f"  {args.clients} clients, {len(request) >> 10} KiB each: {dict(answers)} in {seconds:.1f} s")
    print(f"  idle {idle:.1f} MiB, peak {peak:.1f} MiB (at most {most:.0f})")
    answered = sum(count for status, count in answers.items() if isinstance(status, int))
    return 0 if peak <= most and answered == args.clients and answers[200] > 0 else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--kibibytes", type=int, default=1024, help="size of each body")
    parser.add_argument("--threads", type=int, default=bench.GATEWAY_THREADS)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    return parser.parse_args()


def definition(upstream: Server) -> dict:
    api = bench.api_definition("bodies", "/bodies/", upstream.url("/"))
    version = next(iter(api["version_data"]["versions"].values()))
    data = {"input_type": "json", "template_mode": "blob", "template_source": base64.b64encode(TEMPLATE.encode()).decode()}
    version["use_extended_paths"] = True
    version["extended_paths"] = {"transform": [{"path": "/t", "method": "POST", "template_data": data}]}
    return api


def request_of(gateway: Server, size: int) -> bytes:
    """A request with a JSON body of this size: a long list of small objects, which is large once it is parsed."""
    item = {"id": 1, "name": "a name", "tags": ["one", "two"]}
    count = size // (len(json.dumps(item)) + 2)
    body = json.dumps({"items": [item] * count, "text": ""}).encode()
    body = json.dumps({"items": [item] * count, "text": "x" * max(0, size - len(body))}).encode()
    head = f"POST {gateway.prefix}t HTTP/1.1\r\nHost: {bench.HOST}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def send_all(gateway: Server, request: bytes, clients: int) -> collections.Counter:
    statuses = await asyncio.gather(*(send(gateway, request) for _ in range(clients)))
    return collections.Counter(statuses)


async def send(gateway: Server, request: bytes) -> int | str:
    """The status of the answer, or what went wrong."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
            writer.write(request)
            line = await reader.readline()
            writer.close()
        return int(line.split()[1])
    except (OSError, TimeoutError, IndexError, ValueError) as fault:
        return type(fault).__name__


if __name__ == "__main__":
    bench.run(main)
