#!/usr/bin/env python3
"""Memory of the gateway for each open event stream of the Model Context Protocol, through a proxy and through a federation.

Each stream is of a session of its own, is open at the server too where the gateway opens it there, and says nothing after its beginning. The
server answers in sessions, as most do; it runs as a process of its own, because both sides of so many streams are more files than one may have.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import socket
import sys
import time

import credentials
import rig as bench
from rig import Rig, RigError, Server, Tollgate

VERSION = "2025-11-25"
# Of one caller, a federation allows 1,000.
STREAMS_OF_A_KEY = 500
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def main() -> int:
    args = arguments()
    if args.serve:
        asyncio.run(serve(args.serve))
        return 0
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    # Two for each open stream, and some more.
    bench.raise_open_files(2 * args.open + 150)
    with Rig(args.threads) as rig:
        upstream = start_server(rig)
        server = {"name": "one", "url": upstream.url("/mcp")}
        apis = [
            api("proxy", upstream.url("/mcp")),
            api("federation", "") | {"tollgate": {"mcp": {"servers": [server]}}},
            bench.api_definition("plain", "/plain/", upstream.url("/")),
        ]
        del apis[1]["proxy"]["target_url"]
        gateway = bench.tollgate_gateway(rig, args.binary, apis, "/plain/")
        memory = {name: open_streams(gateway, name, args.open) for name in ("proxy", "federation")}
    for name, kib in memory.items():
        print(f"  {name:12} {kib:7.1f} KiB for each of {args.open} open streams")
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "open": args.open, "open_kib": memory}, indent=1) + "\n")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--open", type=int, default=9_900, help="streams that are open at once")
    parser.add_argument("--threads", type=int, default=bench.GATEWAY_THREADS)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the raw data")
    parser.add_argument("--serve", type=int, metavar="PORT", help=argparse.SUPPRESS)
    return parser.parse_args()


def api(name: str, target: str) -> dict:
    definition = bench.api_definition(name, f"/{name}/", target)
    return definition | {
        "application_protocol": "mcp", "use_keyless": False, "auth": {"auth_header_name": "Authorization"}, "do_not_track": True
    }


# The server -------------------------------------------------------------------------------------------------


def start_server(rig: Rig) -> Server:
    port = rig.free_port()
    child = rig.start("server", [sys.executable, __file__, "--serve", port])
    server = Server("server", child, port)
    rig.await_answer("server", child, server.url("/json/valid"))
    return server


async def serve(port: int) -> None:
    server = await asyncio.start_server(answer, bench.HOST, port, backlog=4096)
    async with server:
        await server.serve_forever()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers requests until the other side leaves."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode().lower().split("\r\n")
            length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
            body = await reader.readexactly(length)
            if lines[0].startswith("get /mcp"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n: open\n\n\r\n")
                await writer.drain()
                await reader.read()
                return
            writer.write(reply(json.loads(body or b"{}")))
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        pass
    finally:
        writer.close()


def reply(message: dict) -> bytes:
    if "id" not in message:
        status = "202 Accepted" if message else "200 OK"
        return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()
    capabilities = {"tools": {"listChanged": True}}
    results = {
        "initialize": {"protocolVersion": VERSION, "capabilities": capabilities, "serverInfo": {"name": "bench", "version": "1"}},
        "tools/list": {"tools": []},
    }
    told = {"jsonrpc": "2.0", "id": message["id"]}
    told |= {"result": results[message["method"]]} if message["method"] in results else {"error": {"code": -32601, "message": "unknown"}}
    body = json.dumps(told)
    more = f"Mcp-Session-Id: session-{time.monotonic_ns()}\r\n" if message["method"] == "initialize" else ""
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n\r\n{body}".encode()


# The streams ------------------------------------------------------------------------------------------------


def open_streams(gateway: Tollgate, name: str, count: int) -> float:
    """KiB of the gateway for each stream that is open and has begun."""
    right = {"api_id": name, "api_name": name, "versions": ["Default"]}
    keys = [credentials.key(gateway, right, quota_max=-1) for _ in range(0, count, STREAMS_OF_A_KEY)]
    clients: list[socket.socket] = []
    # Opened once, so that what the gateway needs for the first one does not count.
    begin(gateway, name, keys[0]).close()
    before = bench.memory_kib(gateway.pid)
    try:
        for number in range(count):
            try:
                clients.append(begin(gateway, name, keys[number // STREAMS_OF_A_KEY]))
            except OSError as error:
                raise RigError(f"{name}: {error} with {number} open streams") from error
        time.sleep(2)
        return (bench.memory_kib(gateway.pid) - before) / count
    finally:
        for client in clients:
            client.close()
        time.sleep(2)


def begin(gateway: Tollgate, name: str, key: str) -> socket.socket:
    """A session, and its stream."""
    client = socket.create_connection((bench.HOST, gateway.port), timeout=30)
    lines = [f"Host: {bench.HOST}", f"Authorization: {key}"]
    accepts = "Accept: application/json, text/event-stream"
    body = json.dumps(INITIALIZE)
    head = ask(client, "POST", name, [*lines, accepts, "Content-Type: application/json"], body)
    session = next((line for line in head.split("\r\n") if line.lower().startswith("mcp-session-id:")), None)
    if not session:
        raise RigError(f"{name}: there is no session: {head!r}")
    head = ask(client, "GET", name, [*lines, session, f"Mcp-Protocol-Version: {VERSION}", "Accept: text/event-stream"])
    if "text/event-stream" not in head.lower():
        raise RigError(f"{name}: there is no stream: {head!r}")
    return client


def ask(client: socket.socket, method: str, name: str, lines: list[str], body: str = "") -> str:
    """Sends a request and returns the head of its answer; a body of a known length is read."""
    head = "\r\n".join([f"{method} /{name}/ HTTP/1.1", *lines, f"Content-Length: {len(body)}", "", ""])
    client.sendall((head + body).encode())
    said = b""
    while b"\r\n\r\n" not in said:
        piece = client.recv(65536)
        if not piece:
            raise RigError(f"{name}: the gateway has closed the connection: {said!r}")
        said += piece
    head, _, rest = said.decode().partition("\r\n\r\n")
    length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
    missing = length - len(rest)
    while missing > 0:
        missing -= len(client.recv(missing))
    return head


if __name__ == "__main__":
    bench.run(main)
