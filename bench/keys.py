#!/usr/bin/env python3
"""What keys cost: CPU time per request of one Tollgate, as a ratio to its own keyless API, in one interleaved run.

The same process serves every row, so that only the chain differs. Refusals (401, 429) are measured against the proxied
request too. Their floor is `tollgate-bench relay --answer`, which gives the bytes of that 401 to whatever comes and parses
nothing, on as many threads. Status codes are checked: a row with an unexpected one is void.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import statistics
import urllib.request

import rig as bench
from rig import Rig, Server, Tollgate

FAR = 10**9  # no request of a run comes near a limit of this size


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    with Rig(args.threads) as rig:
        upstream = bench.nginx_upstream(rig)
        open_api = bench.api_definition("open", "/open/", upstream.url("/"))
        keyed_api = bench.api_definition("keyed", "/keyed/", upstream.url("/")) | {"use_keyless": False}
        oauth_api = bench.api_definition("oauth", "/oauth/", upstream.url("/")) | {
            "use_keyless": False, "use_oauth2": True, "oauth_meta": {"allowed_authorize_types": ["token"]},
        }
        gateway = bench.tollgate_gateway(rig, args.binary, [open_api, keyed_api, oauth_api], "/open/")
        rows = shapes(gateway)
        path, headers, is_refusal = rows["401"]
        floor = bench.answering(rig, args.binary, answer(gateway, path), "floor")
        servers = {name: (gateway, *row) for name, row in rows.items()}
        servers |= {"floor of a refusal": (floor, path, headers, is_refusal)}
        rounds = [
            {name: sample(rig, *row, args) for name, row in servers.items()} for _ in range(args.rounds + 1)
        ][1:]  # the first one warms up
    report(rounds, args)
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "rounds": rounds}, indent=1) + "\n")
    return 1 if any(row["trouble"] for one in rounds for row in one.values()) else 0


def arguments() -> argparse.Namespace:
    return bench.argument_parser(__doc__, rounds=6, seconds=2).parse_args()


def shapes(gateway: Tollgate) -> dict[str, tuple[str, dict[str, str], bool]]:
    """Rows of the table: path, headers, and whether the answer is a refusal."""
    right = {"api_id": "keyed", "api_name": "keyed", "versions": ["Default"]}
    only_get = right | {"allowed_urls": [{"url": "/json/.*", "methods": ["GET"]}]}
    limit, day = {"rate": FAR, "per": 1}, {"rate": FAR, "per": 86400}
    keys = {
        "key": key(gateway, right),
        "key + limit": key(gateway, right, **limit),
        "key + 2 limits + method filter + quota": key(
            gateway, only_get, **limit, limits=[day], quota_max=FAR, quota_renewal_rate=3600
        ),
        "429": key(gateway, right, rate=1, per=86400),
    }
    rows = {"keyless": ("/open/json/valid", {}, False)}
    rows |= {name: ("/keyed/json/valid", {"Authorization": token}, name == "429") for name, token in keys.items()}
    rows["OAuth token"] = ("/oauth/json/valid", {"Authorization": f"Bearer {oauth_token(gateway)}"}, False)
    return rows | {"401": ("/keyed/json/valid", {}, True)}


def answer(gateway: Tollgate, path: str) -> bytes:
    """What the gateway answers to this path, byte for byte."""
    with socket.create_connection((bench.HOST, gateway.port), timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {bench.HOST}:{gateway.port}\r\n\r\n".encode())
        got = b""
        while True:
            got += (piece := connection.recv(65536))
            head, end, body = got.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            if end and length and len(body) == int(length[1]):
                return got
            if not piece:
                raise bench.RigError(f"the answer ended early: {got!r}")


def key(gateway: Tollgate, right: dict, **session) -> str:
    body = {"org_id": "default", "expires": 0, "access_rights": {right["api_id"]: right}} | session
    return control(gateway, "keys/create", body)["key"]


def limited_key(gateway: Tollgate, api: str) -> str:
    """A key for one API with a rate limit and a quota, both far away."""
    right = {"api_id": api, "api_name": api, "versions": ["Default"]}
    return key(gateway, right, rate=FAR, per=1, quota_max=FAR, quota_renewal_rate=86400)


def oauth_token(gateway: Tollgate) -> str:
    control(gateway, "oauth/clients/create", {"client_id": "bench", "api_id": "oauth", "redirect_uri": "https://bench.test/"})
    rules = {"org_id": "default", "access_rights": {"oauth": {"api_id": "oauth", "versions": ["Default"]}}}
    asked = {"api_id": "oauth", "response_type": "token", "client_id": "bench", "key_rules": json.dumps(rules)}
    return control(gateway, "oauth/authorize-client", asked)["access_token"]


def control(gateway: Tollgate, path: str, body: dict) -> dict:
    request = urllib.request.Request(
        f"http://{bench.HOST}:{gateway.port}/tyk/{path}",
        data=json.dumps(body).encode(),
        headers={"x-tyk-authorization": gateway.secret, "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def sample(rig: Rig, gateway: Server, path: str, headers: dict, is_refusal: bool, args: argparse.Namespace) -> dict:
    before = bench.usage(gateway.pid)
    load = bench.wrk(rig, f"http://{bench.HOST}:{gateway.port}{path}", args.conns, args.seconds, headers)
    spent = bench.usage(gateway.pid) - before
    refused = int(load.trouble.rpartition(" ")[2]) if load.trouble.startswith("Non-2xx") else 0
    # A limit of one request lets exactly that one through.
    as_expected = refused >= load.requests - 1 if is_refusal else not load.trouble
    trouble = "" if as_expected else load.trouble or "nothing was refused"
    return {"cpu_us": spent.cpu_ns / 1e3 / max(load.requests, 1), "requests": load.requests, "trouble": trouble}


def report(rounds: list[dict], args: argparse.Namespace) -> None:
    print(f"\n{args.conns} connections, {args.rounds} rounds x {args.seconds} s; medians (lowest-highest)")
    print(f"{'request':42} {'CPU us':>22} {'x keyless':>20}")
    for name in rounds[0]:
        own = [one[name]["cpu_us"] for one in rounds]
        ratios = [one[name]["cpu_us"] / one["keyless"]["cpu_us"] for one in rounds]
        void = next((one[name]["trouble"] for one in rounds if one[name]["trouble"]), "")
        print(f"{name:42} {spread(own):>22} {spread(ratios):>20}{'  VOID: ' + void if void else ''}")


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


if __name__ == "__main__":
    bench.run(main)
