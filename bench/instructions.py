#!/usr/bin/env python3
"""Instructions in user space per request, counted by valgrind: the same from run to run within half a percent, however busy the machine.

One Tollgate with one data thread runs under callgrind. Each shape is sent `--requests` times over kept-alive connections, between two
dumps of the counts; the median of `--rounds` is told. With `--keep DIR` the last dump of each shape stays there for callgrind_annotate.
With `--consoles N` it also counts while somebody looks.
Counted is what the tasks of connections do: what the runtime does around them, some tenth of it all, depends on how many requests a
thread finds when it wakes up. It says nothing of the kernel, which is most of a request's cost, nor of waiting for memory. `--cpu` says that: the CPU time of a request,
kernel and all, under as many requests as the load generator sends, of one shape after the other in each round, on a quiet machine.
Valgrind has none of the processor's instructions for SHA-256 and long multiplication: signatures count several times as much here.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import itertools
import json
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
from collections.abc import Iterator

import configuration
import credentials
import rig as bench
from rig import Rig, RigError, Tollgate

CONNECTIONS = 8
PATH = "json/valid"
# An order of 1 KiB, and the same work for it in each way: the order's id, its customer, and number and price of each item.
ITEMS = [{"sku": f"item-{n:04}", "count": n % 7, "price": 10.5 + n, "note": "x" * 40} for n in range(8)]
BODY = json.dumps({"id": 123456, "customer": {"name": "Ann Lee", "mail": "ann@example.org"}, "items": ITEMS}).encode().ljust(1024)
SCHEMA = {
    "type": "object", "required": ["id", "customer", "items"],
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "customer": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}},
        "items": {"type": "array", "maxItems": 100, "items": {
            "type": "object", "required": ["sku", "count"],
            "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}, "price": {"type": "number"}}}},
    },
}
TEMPLATE = ('{"id": {{.id}}, "name": "{{.customer.name}}", "items": '
            '[{{range $i, $item := .items}}{{if $i}}, {{end}}{"n": {{$item.count}}, "p": {{$item.price}}}{{end}}]}')
FILTER = "{body: {id: .body.id, name: .body.customer.name, items: [.body.items[] | {n: .count, p: .price}]}}"
# A query of 300 bytes, and a schema of 200 types.
QUERY = json.dumps({
    "operationName": "Order", "variables": {"id": "order-1234567", "first": 20},
    "query": "query Order($id: ID!, $first: Int) { order(id: $id) { id name count next { id name list(first: $first) { id name next "
             "{ id count } } } } all(first: 10) { id name next { id } } }",
}).encode().ljust(300)
TYPES = "\n".join(
    f"type T{n} {{ id: ID! name: String count: Int next: T{(n + 1) % 200} list(first: Int, after: String): [T{(n + 7) % 200}!]! }}" for n in range(200))
GRAPH = "type Query { order(id: ID!): T0 all(first: Int): [T1!]! }\n" + TYPES
# A call of a tool of 300 bytes, and what its head says of it.
CALL = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "weather", "arguments": {"city": "Bonn"}, "_meta": {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}).encode().ljust(300)
CALL_HEAD = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "weather"}
# The function that drives a connection.
COUNTED = "*tollgate_engine::connection::Connection*Future*poll*"
# Seconds; a program runs some fifty times slower under valgrind.
PATIENCE = 120


@dataclasses.dataclass
class Shape:
    """A request, and the status that it must be answered with. With `tokens` each request has another one."""

    api: str
    status: int
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    tokens: Iterator[str] | None = None
    body: bytes = b""
    path: str = PATH

    def bytes(self, port: int) -> bytes:
        token = {"Authorization": next(self.tokens)} if self.tokens else {}
        lines = {"Host": f"{bench.HOST}:{port}", "User-Agent": "instructions", "Accept": "*/*"} | self.headers | token
        if self.body:
            lines |= {"Content-Type": "application/json", "Content-Length": str(len(self.body))}
        fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        method = "POST" if self.body else "GET"
        return f"{method} /{self.api}/{self.path} HTTP/1.1\r\n{fields}\r\n".encode() + self.body


def main() -> int:
    args = arguments()
    for program in () if args.cpu else ("valgrind", "callgrind_control"):
        if not shutil.which(program):
            raise RigError(f"{program} is needed (Debian: apt install valgrind)")
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    key = credentials.RsaKey.new()
    with Rig(threads=1) as rig, credentials.Issuer(key) as issuer:
        upstream, second = bench.nginx_upstream(rig), bench.nginx_upstream(rig)
        out = rig.dir / "counts"
        under = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect={COUNTED}"]
        credentials.policies(rig, ["jwt"])
        apis = definitions(upstream.url("/"), second.url("/"), issuer.url)
        if args.consoles:
            # Tails and top lists leave out what is not tracked.
            apis = [api | {"do_not_track": False} for api in apis]
        documents = {"openapi": configuration.order_document("openapi", upstream.url("/"))}
        gateway = bench.tollgate_gateway(rig, args.binary, apis, "/open/", under=[] if args.cpu else under, documents=documents)
        shapes = {
            "keyless": Shape("open", 200),
            "health and retries": Shape("watched", 200),
            "key, limit, quota": Shape("key", 200, {"Authorization": credentials.limited_key(gateway, "key")}),
            "OAuth token": Shape("oauth", 200, {"Authorization": f"Bearer {credentials.oauth_token(gateway)}"}),
            "JWT, the same": Shape("jwt", 200, {"Authorization": credentials.token(key, "user", 0)}),
            "JWT, fresh": Shape("jwt", 200, tokens=(credentials.token(key, f"user-{n % 100}", n) for n in itertools.count(1))),
            "no key": Shape("key", 401),
            "unknown key": Shape("key", 403, {"Authorization": "0123456789abcdef0123456789abcdef"}),
            "over the limit": Shape("full", 429),
            "1 KiB": Shape("open", 200, body=BODY),
            "1 KiB, validate_json": Shape("validate", 200, body=BODY),
            "key, limit, quota, validate_json":
                Shape("held", 200, {"Authorization": credentials.limited_key(gateway, "held")}, body=BODY),
            "1 KiB, OpenAPI": Shape("openapi", 200, {"X-Client": "bench"}, body=BODY, path=f"{PATH}?page=2&sort=up"),
            "1 KiB, template": Shape("template", 200, body=BODY),
            "1 KiB, jq": Shape("jq", 200, body=BODY),
            "key, 300 bytes": Shape("key", 200, {"Authorization": credentials.limited_key(gateway, "key")}, body=CALL),
            "key, 300 bytes, a call's head":
                Shape("key", 200, {"Authorization": credentials.limited_key(gateway, "key")} | CALL_HEAD, body=CALL),
            "key, 300 bytes, validate_json":
                Shape("read", 200, {"Authorization": credentials.limited_key(gateway, "read")}, body=CALL),
            "key, MCP call": Shape("mcp", 200, {"Authorization": credentials.limited_key(gateway, "mcp")}, body=CALL),
            "key, MCP call, by head":
                Shape("heads", 200, {"Authorization": credentials.limited_key(gateway, "heads")} | CALL_HEAD, body=CALL),
            "key, federated MCP call, by head":
                Shape("mcps", 200, {"Authorization": credentials.limited_key(gateway, "mcps")} | CALL_HEAD, body=CALL),
            "300 bytes": Shape("open", 200, body=QUERY),
            "300 bytes, GraphQL": Shape("graph", 200, body=QUERY),
        }
        if args.only:
            shapes = {name: shape for name, shape in shapes.items() if name == "keyless" or any(text in name for text in args.only)}
        counter = Counter(gateway, out)
        if args.consoles:
            shapes = {name: shapes[name] for name in ("keyless", "key, limit, quota", "no key")}
        if args.cpu:
            figures = cpu_ns(rig, gateway, {name: shape for name, shape in shapes.items() if shape.status == 200 and not shape.tokens}, args)
        else:
            figures = {name: measure(gateway, counter, name, shape, args) for name, shape in shapes.items()}
        if args.consoles:
            figures |= watched(gateway, counter, shapes, args)
        for name, figure in figures.items():
            print(f"  {name:32} {figure:8.0f} {figure / figures['keyless']:6.2f}")
        if args.keep and not args.cpu:
            args.keep.mkdir(parents=True, exist_ok=True)
            for name, dump in counter.kept.items():
                shutil.copy(dump, args.keep / f"{name.replace(', ', '-').replace(' ', '-')}.callgrind")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=4000, help="requests of one count")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--consoles", type=int, default=0, metavar="N", help="also with N open consoles, a live tail and top lists; fewer shapes")
    parser.add_argument("--only", action="append", metavar="TEXT", help="only shapes whose name has this text, and keyless requests")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--cpu", type=float, default=0, metavar="SECONDS", help="nanoseconds of CPU instead of instructions, from so many seconds of each shape in a round")
    args = parser.parse_args()
    if args.cpu and args.consoles:
        parser.error("--consoles are for instructions")
    return args


def definitions(target: str, second: str, issuer: str) -> list[dict]:
    def api(name: str, **fields) -> dict:
        return bench.api_definition(name, f"/{name}/", target) | fields

    def endpoint(name: str, field: str, **fields) -> dict:
        definition = api(name)
        definition["version_data"]["versions"]["Default"]["extended_paths"] = {field: [{"path": f"/{PATH}", "method": "POST"} | fields]}
        return definition

    return [
        api("open"),
        api("watched", tollgate={"upstream": {
            "targets": [{"url": target}, {"url": second}], "balance": "least_requests", "health": {}, "retries": {}}}),
        api("key", use_keyless=False, auth={"auth_header_name": "Authorization"}),
        api("oauth", use_keyless=False, use_oauth2=True, oauth_meta={"allowed_authorize_types": ["token"]}),
        api("jwt", use_keyless=False, enable_jwt=True, jwt_signing_method="rsa", jwt_source=issuer,
            jwt_default_policies=[credentials.POLICY]),
        api("full", global_rate_limit={"rate": 1, "per": 3600}),
        endpoint("validate", "validate_json", schema=SCHEMA),
        endpoint("held", "validate_json", schema=SCHEMA) | {"use_keyless": False, "auth": {"auth_header_name": "Authorization"}},
        endpoint("template", "transform", template_data={
            "input_type": "json", "template_mode": "blob", "template_source": base64.b64encode(TEMPLATE.encode()).decode()}),
        endpoint("jq", "transform_jq", filter=FILTER),
        endpoint("read", "validate_json", schema={"type": "object"}) | {"use_keyless": False, "auth": {"auth_header_name": "Authorization"}},
        api("mcp", use_keyless=False, auth={"auth_header_name": "Authorization"}, application_protocol="mcp"),
        api("heads", use_keyless=False, auth={"auth_header_name": "Authorization"}, application_protocol="mcp",
            tollgate={"mcp_server_checks_heads": True}),
        api("mcps", use_keyless=False, auth={"auth_header_name": "Authorization"}, application_protocol="mcp",
            tollgate={"mcp": {"servers": [{"name": "none", "url": target}]}}),
        api("graph", graphql={"enabled": True, "execution_mode": "proxyOnly", "version": "2", "schema": GRAPH}),
    ]


class Counter:
    """Reads the counts of a running callgrind: each dump tells what was executed since the last one."""

    def __init__(self, gateway: Tollgate, out: pathlib.Path):
        self.pid, self.out, self.dumps, self.kept = gateway.pid, out, 0, {}

    def read(self, name: str) -> int:
        subprocess.run(["callgrind_control", "-d", str(self.pid)], check=True, capture_output=True, timeout=PATIENCE)
        self.dumps += 1
        dump = self.out.with_name(f"{self.out.name}.{self.dumps}")
        total = re.search(r"(?m)^(?:totals|summary): (\d+)", dump.read_text(errors="replace"))
        if not total or total[1] == "0":
            raise RigError(f"no counts in {dump}")
        self.kept[name] = dump
        return int(total[1])


def measure(gateway: Tollgate, counter: Counter, name: str, shape: Shape, args: argparse.Namespace) -> float:
    connections = [socket.create_connection((bench.HOST, gateway.port), timeout=PATIENCE) for _ in range(CONNECTIONS)]
    send(connections, shape, gateway.port, args.requests // 4)
    counts = []
    # Nothing may have run between two counts that are taken one right behind the other.
    counter.read(name)
    for _ in range(args.rounds):
        send(connections, shape, gateway.port, args.requests)
        counts.append(counter.read(name) / args.requests)
    for connection in connections:
        connection.close()
    return statistics.median(counts)


def cpu_ns(rig: Rig, gateway: Tollgate, shapes: dict[str, Shape], args: argparse.Namespace) -> dict[str, float]:
    """CPU time of a request, in nanoseconds: the median of the rounds."""
    found: dict[str, list[float]] = {name: [] for name in shapes}
    for _ in range(args.rounds):
        for name, shape in shapes.items():
            options = [word for line in shape.headers.items() for word in ("-H", ": ".join(line))]
            if shape.body:
                options += ["-m", "POST", "-T", "application/json", "-D", rig.file("body", shape.body.decode())]
            url = f"http://{bench.HOST}:{gateway.port}/{shape.api}/{shape.path}"
            before = bench.usage(gateway.pid)
            load = bench.load(rig, args.binary, url, 4 * CONNECTIONS, args.cpu, *options)
            used = bench.usage(gateway.pid) - before
            if load.trouble:
                raise RigError(f"{name}: {load.trouble}")
            found[name].append(used.cpu_ns / load.requests)
    return {name: statistics.median(rounds) for name, rounds in found.items()}


def watched(gateway: Tollgate, counter: Counter, shapes: dict[str, Shape], args: argparse.Namespace) -> dict[str, float]:
    """The same requests while consoles are open, while one of them shows the live tail, and while top lists are counted."""
    figures = {}
    streams = [watch(gateway, "/tyk/stream?topics=live,changes") for _ in range(args.consoles)]
    for what, target in ((f"{args.consoles} consoles", ""), ("and a live tail", "/tyk/stream?topics=tail"), ("and top lists", "/tyk/top?by=path")):
        if target:
            streams.append(watch(gateway, target))
        figures |= {f"{name}; {what}": measure(gateway, counter, name, shape, args) for name, shape in shapes.items()}
    return figures


def watch(gateway: Tollgate, target: str) -> socket.socket:
    """An answer that has begun; what follows is left in the socket's buffer."""
    connection = socket.create_connection((bench.HOST, gateway.port), timeout=PATIENCE)
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {bench.HOST}\r\nx-tyk-authorization: {gateway.secret}\r\n\r\n".encode())
    if b" 200 " not in connection.recv(4096):
        raise RigError(f"{target} is refused")
    return connection


def send(connections: list[socket.socket], shape: Shape, port: int, requests: int) -> None:
    """One request on each connection, then all answers, and again."""
    for first in range(0, requests, len(connections)):
        turn = connections[: requests - first]
        for connection in turn:
            connection.sendall(shape.bytes(port))
        for connection in turn:
            status = receive(connection)
            # The one request that a limit lets pass comes before the counting.
            if status != shape.status and not (shape.status == 429 and first == 0):
                raise RigError(f"{shape} was answered with {status}")


def receive(connection: socket.socket) -> int:
    answer = b""
    while True:
        piece = connection.recv(65536)
        if not piece:
            raise RigError(f"the connection ended: {answer!r}")
        answer += piece
        head, end, body = answer.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        if end and length and len(body) >= int(length[1]):
            return int(head.split(b" ", 2)[1])


if __name__ == "__main__":
    bench.run(main)
