#!/usr/bin/env python3
"""Configuration as code at size, held against its limits: 10,000 APIs dumped, compared and synced; a million requests replayed by one core; what
validation against an OpenAPI document costs; and a document of 13 MB that is loaded while others are served.

Each part prints its figure and its limit. `--only` restricts the run; `--apis` and `--records` make it smaller. The last part needs the document
that scripts/test-deps.sh fetches, and is left out without it.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import threading
import time
import urllib.error
import urllib.request

import rig as bench
from rig import Rig, RigError, Tollgate

SYNC_SECONDS_MAX = 10
REPLAY_SECONDS_MAX = 60
VALIDATION_RATIO_MAX = 1.4
DOCUMENT_SECONDS_MAX = 2
# A big document must not show in the latency of others; two data threads share two CPUs with everything else here.
DOCUMENT_P99_RATIO_MAX = 2

PARTS = ("sync", "replay", "validation", "document")
DOCUMENT = bench.ROOT / "target" / "test-documents" / "github.json"


def main() -> int:
    args = arguments()
    bench.print_circumstances(bench.circumstances(args.binary))
    promises: list[tuple[str, float, float]] = []
    for part in PARTS:
        if part in args.only:
            promises += globals()[f"measure_{part}"](args)
    print()
    for what, value, most in promises:
        print(f"  {'ok  ' if value <= most else 'OVER'} {what}: {value:.2f} (at most {most})")
    return 0 if all(value <= most for _, value, most in promises) else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=PARTS, help="run only this part; may be given several times")
    parser.add_argument("--apis", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4, help="length of one measurement of CPU time")
    parser.add_argument("--conns", type=int, default=50)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parsed = parser.parse_args()
    parsed.only = parsed.only or list(PARTS)
    return parsed


def command(gateway: Tollgate, args: argparse.Namespace, *words: object, codes: tuple[int, ...] = (0,)) -> float:
    """Runs a command of Tollgate and returns its seconds."""
    env = os.environ | {"TOLLGATE_URL": f"http://{bench.HOST}:{gateway.port}", "TOLLGATE_SECRET": gateway.secret}
    began = time.monotonic()
    done = subprocess.run([args.binary.resolve(), *map(str, words), "--timeout", "600"], env=env, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode not in codes:
        raise RigError(f"tollgate {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    last = done.stdout.strip().splitlines()[-1:] or [""]
    print(f"  {seconds:7.2f} s  {' '.join(str(word) for word in words if not str(word).startswith('/'))}: {last[0]}")
    return seconds


# Sync -------------------------------------------------------------------------------------------------------


def measure_sync(args: argparse.Namespace) -> list[tuple[str, float, float]]:
    print(f"\n{args.apis:,} APIs")
    with Rig() as rig:
        upstream = bench.nginx_upstream(rig)
        apis = [bench.api_definition("open", "/open/", upstream.url("/"))]
        apis += [bench.api_definition(f"n{number}", f"/n{number}/", "http://127.0.0.1:1/") for number in range(args.apis - 1)]
        gateway = bench.tollgate_gateway(rig, args.binary, apis, "/open/", "many")
        empty = bench.tollgate_gateway(rig, args.binary, apis[:1], "/open/", "empty")
        conf = rig.dir / "conf"
        figures = {"dump": command(gateway, args, "dump", conf), "diff, nothing differs": command(gateway, args, "diff", conf)}
        for number in range(args.apis - 1):
            file = conf / "apis" / f"n{number}.json"
            file.write_text(file.read_text().replace("http://127.0.0.1:1/", "http://127.0.0.1:2/"))
        figures["diff, all differ"] = command(gateway, args, "diff", conf, codes=(5,))
        figures["sync of all"] = command(gateway, args, "sync", conf)
        figures["sync again"] = command(gateway, args, "sync", conf)
        figures["sync into an empty gateway"] = command(empty, args, "sync", conf)
    return [(f"{what} of {args.apis:,} APIs, seconds", seconds, SYNC_SECONDS_MAX) for what, seconds in figures.items()]


# Replay -----------------------------------------------------------------------------------------------------


def measure_replay(args: argparse.Namespace) -> list[tuple[str, float, float]]:
    print(f"\n{args.records:,} records, one core for the gateway")
    with Rig(threads=1) as rig:
        upstream = bench.nginx_upstream(rig)
        open_api = bench.api_definition("open", "/open/", upstream.url("/"))
        keyed = bench.api_definition("keyed", "/keyed/", upstream.url("/")) | {"use_keyless": False, "auth": {"auth_header_name": "Authorization"}}
        limited = bench.api_definition("limited", "/limited/", upstream.url("/")) | {"global_rate_limit": {"rate": 1000, "per": 1}}
        gateway = bench.tollgate_gateway(rig, args.binary, [open_api, keyed, limited], "/open/", more={"hash_keys": True})
        hashes = [make_key(gateway, f"user{number}") for number in range(100)]
        conf = rig.dir / "conf"
        command(gateway, args, "dump", conf)
        change(conf / "apis" / "open.json", lambda api: api["version_data"]["versions"]["Default"].update(extended_paths={
            "black_list": [{"path": "/closed", "method_actions": {"GET": {"action": "no_action", "code": 200}}}]}))
        change(conf / "apis" / "limited.json", lambda api: api.update(global_rate_limit={"rate": 100, "per": 1}))
        file = rig.dir / "rec.jsonl"
        write_records(file, args.records, hashes)
        print(f"  {file.stat().st_size >> 20} MiB of records")
        before = process_seconds(gateway.pid)
        seconds = command(gateway, args, "replay", file, "--dir", conf, codes=(7,))
        spent = process_seconds(gateway.pid) - before
        print(f"  {spent:.1f} s CPU of the gateway, {spent * 1e6 / args.records:.1f} us for each record")
    return [(f"replay of {args.records:,} records, seconds", seconds, REPLAY_SECONDS_MAX)]


def process_seconds(pid: int) -> float:
    """CPU time of a process with the threads that have ended: a replay has its own."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make_key(gateway: Tollgate, name: str) -> str:
    right = {"api_id": "keyed", "api_name": "keyed", "versions": ["Default"]}
    session = {"org_id": "default", "rate": 1000, "per": 1, "quota_max": -1, "access_rights": {"keyed": right}}
    url = f"http://{bench.HOST}:{gateway.port}/tyk/keys/{name}"
    asked = urllib.request.Request(url, json.dumps(session).encode(), {"x-tyk-authorization": gateway.secret}, method="POST")
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)["key_hash"]


def change(file: pathlib.Path, edit) -> None:
    document = json.loads(file.read_text())
    edit(document)
    file.write_text(json.dumps(document))


def write_records(file: pathlib.Path, count: int, hashes: list[str]) -> None:
    """Records as an access log has them: a thousand each second, a third with keys."""
    chance = random.Random(7)
    kinds = [("open", "/open/things/{}"), ("open", "/open/closed"), ("keyed", "/keyed/orders/{}?page=2"), ("limited", "/limited/{}")]
    with file.open("w") as out:
        for number in range(count):
            api, path = kinds[number % len(kinds)]
            record = {
                "time_ms": 1_790_000_000_000 + number, "method": "GET", "host": "api.example", "path": path.format(number % 1000),
                "headers": [["Accept", "application/json"], ["User-Agent", "load/1"]], "client_ip": "203.0.113.7", "status": 200, "api_id": api,
            }
            if api == "keyed":
                record["key"] = chance.choice(hashes)
            out.write(json.dumps(record) + "\n")


# Validation -------------------------------------------------------------------------------------------------

ITEMS = [{"sku": f"item-{n:04}", "count": n % 7, "price": 10.5 + n, "note": "x" * 40} for n in range(8)]
BODY = json.dumps({"id": 123456, "customer": {"name": "Ann Lee", "mail": "ann@example.org"}, "items": ITEMS}).ljust(1024)


def order_document(api_id: str, target: str) -> dict:
    """Orders of 1 KiB with three parameters, whose responses are validated too if `api_id` says so."""
    schemas = {
        "Order": {"type": "object", "required": ["id", "customer", "items"], "properties": {
            "id": {"type": "integer", "minimum": 1}, "customer": {"$ref": "#/components/schemas/Customer"},
            "items": {"type": "array", "maxItems": 100, "items": {"$ref": "#/components/schemas/Item"}}}},
        "Customer": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "minLength": 1}, "mail": {"type": "string", "format": "email"}}},
        "Item": {"type": "object", "required": ["sku", "count"], "properties": {
            "sku": {"type": "string", "maxLength": 20}, "count": {"type": "integer", "minimum": 0}, "price": {"type": "number"},
            "note": {"type": "string"}}},
    }
    parameters = [
        {"name": "page", "in": "query", "required": True, "schema": {"type": "integer", "minimum": 1}},
        {"name": "sort", "in": "query", "schema": {"type": "string", "enum": ["up", "down"]}},
        {"name": "X-Client", "in": "header", "required": True, "schema": {"type": "string", "maxLength": 32}},
    ]
    operation = {
        "operationId": "putOrder", "parameters": parameters,
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
        "responses": {"200": {"description": "Done.", "content": {"application/json": {"schema": {
            "type": "object", "required": ["status"], "properties": {"status": {"type": "string"}, "message": {"type": "string"}}}}}}},
    }
    document = {
        "openapi": "3.0.3", "info": {"title": api_id, "version": "1"}, "paths": {"/json/valid": {"post": operation}},
        "components": {"schemas": schemas},
        "x-tyk-api-gateway": {
            "info": {"id": api_id, "name": api_id, "orgId": "default", "state": {"active": True}},
            "upstream": {"url": target}, "server": {"listenPath": {"value": f"/{api_id}/", "strip": True}},
            "middleware": {"operations": {"putOrder": {"validateRequest": {"enabled": api_id != "answers"}}}},
        },
    }
    if api_id == "answers":
        document["x-tollgate"] = {"validate_responses": {}}
    return document


def measure_validation(args: argparse.Namespace) -> list[tuple[str, float, float]]:
    print("\nA body of 1 KiB and three parameters: CPU of the gateway per request")
    with Rig() as rig:
        upstream = bench.nginx_upstream(rig)
        gateway = bench.tollgate_gateway(rig, args.binary, [bench.api_definition("open", "/open/", upstream.url("/"))], "/open/")
        for name in ("validated", "answers"):
            (gateway.apps / f"{name}-oas.json").write_text(json.dumps(order_document(name, upstream.url("/"))))
        command(gateway, args, "reload")
        order = ["-m", "POST", "-D", rig.file("order.json", BODY), "-T", "application/json", "-H", "X-Client: bench"]
        expect_refused(gateway)
        query = "json/valid?page=2&sort=up"
        shapes = {
            "keyless, no body": ("open", "json/valid", []), "keyless, 1 KiB": ("open", query, order),
            "validated": ("validated", query, order), "response validated": ("answers", query, order),
        }
        figures: dict[str, list[float]] = {name: [] for name in shapes}
        for _ in range(args.rounds):
            for name, (api, path, options) in shapes.items():
                before = bench.usage(gateway.pid)
                load = bench.load(rig, args.binary, f"http://{bench.HOST}:{gateway.port}/{api}/{path}", args.conns, args.seconds, *options)
                if load.trouble:
                    raise RigError(f"{name}: {load.trouble}")
                figures[name].append((bench.usage(gateway.pid) - before).cpu_ns / load.requests / 1_000)
    base = figures["keyless, no body"]
    ratios = {}
    for name, values in figures.items():
        ratios[name] = statistics.median(own / other for own, other in zip(values, base))
        print(f"  {name:20} {statistics.median(values):8.1f} us {ratios[name]:6.2f}")
    return [("validation, times a keyless request", ratios["validated"], VALIDATION_RATIO_MAX)]


def expect_refused(gateway: Tollgate) -> None:
    """What is measured must be in force."""
    url = f"http://{bench.HOST}:{gateway.port}/validated/json/valid?page=none"
    status = None
    try:
        urllib.request.urlopen(urllib.request.Request(url, BODY.encode(), {"Content-Type": "application/json"}))
    except urllib.error.HTTPError as error:
        status = error.code
    if status != 422:
        raise RigError(f"a request that does not fit was answered with {status}")


# A large document -------------------------------------------------------------------------------------------


def measure_document(args: argparse.Namespace) -> list[tuple[str, float, float]]:
    if not DOCUMENT.exists():
        print(f"\n{DOCUMENT} is missing: scripts/test-deps.sh tests fetches it")
        return []
    document = json.loads(DOCUMENT.read_text())
    print(f"\nA document of {DOCUMENT.stat().st_size / 1e6:.1f} MB, all of its requests validated, loaded while another API is served")
    ids = [operation["operationId"] for item in document["paths"].values() for operation in item.values() if isinstance(operation, dict) and "operationId" in operation]
    with Rig() as rig:
        upstream = bench.nginx_upstream(rig)
        gateway = bench.tollgate_gateway(rig, args.binary, [bench.api_definition("open", "/open/", upstream.url("/"))], "/open/")
        document["x-tyk-api-gateway"] = {
            "info": {"id": "large", "name": "large", "orgId": "default", "state": {"active": True}},
            "upstream": {"url": upstream.url("/")}, "server": {"listenPath": {"value": "/large/", "strip": True}},
            "middleware": {"operations": {own: {"validateRequest": {"enabled": True}} for own in ids}},
        }
        url = f"http://{bench.HOST}:{gateway.port}/open/json/valid"
        seconds, quiet, loading = [], [], []
        for number in range(args.rounds):
            quiet.append(bench.load(rig, args.binary, url, 10, args.seconds).p99_us)
            document["info"]["version"] = str(number)
            (gateway.apps / "large-oas.json").write_text(json.dumps(document))
            during: list[float] = []
            load = threading.Thread(target=lambda: during.append(bench.load(rig, args.binary, url, 10, args.seconds).p99_us))
            load.start()
            time.sleep(0.5)
            seconds.append(command(gateway, args, "reload"))
            load.join()
            loading += during
    ratio = statistics.median(one / other for one, other in zip(loading, quiet))
    print(f"  p99 of the other API {statistics.median(quiet):.0f} us, {statistics.median(loading):.0f} us while it is loaded")
    return [
        ("loading the document, seconds", statistics.median(seconds), DOCUMENT_SECONDS_MAX),
        ("p99 of the other API meanwhile, times that before", ratio, DOCUMENT_P99_RATIO_MAX),
    ]


if __name__ == "__main__":
    bench.run(main)
