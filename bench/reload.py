#!/usr/bin/env python3
"""Reloads under load: 500 of them, 10 a second, every second one adding or removing an API, while a load keeps 50
connections busy and 50 WebSockets exchange a frame each second. No request may fail, no WebSocket may drop, an API
that was added must answer right after its reload and one that was removed must not, and memory must come back.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import statistics
import time

import rig as bench
import websocket
from rig import Rig, RigError, Tollgate

# One reload takes milliseconds; a second means something is stuck.
ANSWER_SECONDS_MAX = 10
ECHO_SECONDS_MAX = 10
# What an allocator may keep after a load without it being a leak.
GROWTH_MIB_MAX = 4
SETTLE_SECONDS = 3


def main() -> int:
    args = arguments()
    bench.raise_open_files(4096)
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    with Rig(args.threads) as rig:
        result = asyncio.run(exercise(rig, args))
    found = failures(result, args)
    print_result(result, found, args)
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "result": result}, indent=1) + "\n")
    return 1 if found else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reloads", type=int, default=500)
    parser.add_argument("--per-second", type=float, default=10)
    parser.add_argument("--conns", type=int, default=50)
    parser.add_argument("--sockets", type=int, default=50)
    parser.add_argument("--apis", type=int, default=100, help="further API definitions, so that a reload has work")
    parser.add_argument("--threads", type=int, default=bench.GATEWAY_THREADS)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


async def exercise(rig: Rig, args: argparse.Namespace) -> dict:
    upstream = bench.nginx_upstream(rig)
    echo = bench.mock_upstream(rig, args.binary)
    apis = [
        bench.api_definition("load", "/load/", upstream.url("/")),
        bench.api_definition("ws", "/ws/", echo.url("/")),
        *(bench.api_definition(f"more-{n}", f"/more-{n}/", upstream.url("/")) for n in range(args.apis)),
    ]
    gateway = bench.tollgate_gateway(rig, args.binary, apis, "/load/")
    extra = bench.api_definition("extra", "/extra/", upstream.url("/"))
    return await exercise_gateway(rig, gateway, extra, args)


async def exercise_gateway(rig: Rig, gateway: Tollgate, extra: dict, args: argparse.Namespace) -> dict:
    # The same load and sockets come first without reloads, so that "before" has all that load alone costs.
    _, _, before_mib = await stage(rig, gateway, args, seconds=5)
    reloading = asyncio.create_task(reload_often(gateway, extra, args))
    load, sockets, after_mib = await stage(rig, gateway, args, seconds=args.reloads / args.per_second + 2, until=reloading)
    return {"load": load, "sockets": sockets, "reloads": await reloading, "before_mib": before_mib, "after_mib": after_mib}


async def stage(
    rig: Rig, gateway: Tollgate, args: argparse.Namespace, seconds: float, until: asyncio.Task | None = None
) -> tuple[dict, dict, float]:
    """Load and open WebSockets for so long, or longer if `until` is not done; then RSS once all has settled."""
    finished = asyncio.Event()
    sockets = [
        asyncio.create_task(converse(gateway, number, finished, spread=number / args.sockets))
        for number in range(args.sockets)
    ]
    load = await asyncio.to_thread(bench.load, rig, args.binary, gateway.url("/json/valid"), args.conns, seconds)
    if until:
        await asyncio.wait([until])
    finished.set()
    outcomes = await asyncio.gather(*sockets)
    await asyncio.sleep(SETTLE_SECONDS)
    if gateway.child.poll() is not None:
        raise RigError(f"the gateway ended with {gateway.child.returncode}:\n{rig.log_tail(gateway.name)}")
    return (
        {"requests": load.requests, "rps": load.rps, "p99_us": load.p99_us, "trouble": load.trouble},
        {
            "opened": len(outcomes),
            "frames": sum(frames for frames, _ in outcomes),
            "dropped": [reason for _, reason in outcomes if reason],
        },
        bench.memory_kib(gateway.pid) / 1024,
    )


async def converse(gateway: Tollgate, number: int, finished: asyncio.Event, spread: float) -> tuple[int, str]:
    """A frame each second until `finished`: how many came back, and why the socket was lost if it was."""
    frames = 0
    try:
        await asyncio.sleep(spread)
        client = await websocket.Client.connect(bench.HOST, gateway.port, "/ws/echo")
        while not finished.is_set():
            await client.echo(f"socket {number} frame {frames}".encode(), ECHO_SECONDS_MAX)
            frames += 1
            try:
                await asyncio.wait_for(finished.wait(), 1)
            except TimeoutError:
                pass
        await client.close(ECHO_SECONDS_MAX)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, websocket.WebSocketError) as error:
        return frames, f"{type(error).__name__}: {error}"
    return frames, ""


async def reload_often(gateway: Tollgate, extra: dict, args: argparse.Namespace) -> dict:
    """Reloads on a schedule fixed in advance. The even ones add or remove the extra API first."""
    extra_path = gateway.apps / "extra.json"
    present = False
    took_ms, wrong = [], []
    began = time.monotonic()
    for number in range(args.reloads):
        await asyncio.sleep(max(0, began + number / args.per_second - time.monotonic()))
        changes = number % 2 == 0
        if changes:
            present = not present
            place(extra_path, extra if present else None)
        asked = time.monotonic()
        status, body = await get(gateway, "/tyk/reload/?block=true", {"x-tyk-authorization": gateway.secret})
        took_ms.append((time.monotonic() - asked) * 1e3)
        if status != 200 or '"ok"' not in body:
            wrong.append(f"reload {number}: {status} {body[:200]}")
        elif changes:
            status, _ = await get(gateway, "/extra/json/valid", {})
            if status != (200 if present else 404):
                wrong.append(f"after reload {number} the extra API answers {status}; present: {present}")
    return {
        "count": args.reloads,
        "per_second": args.reloads / (time.monotonic() - began),
        "median_ms": statistics.median(took_ms),
        "highest_ms": max(took_ms),
        "wrong": wrong,
    }


def place(path: pathlib.Path, definition: dict | None) -> None:
    """Written beside and renamed, so that no reload reads half a file."""
    if definition is None:
        path.unlink()
        return
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(definition))
    beside.rename(path)


async def get(gateway: Tollgate, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """Status and body of a GET on a connection of its own; status 0 when there is no answer."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    request = f"GET {path} HTTP/1.1\r\nHost: {bench.HOST}\r\nConnection: close\r\n{lines}\r\n"
    try:
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            reader, writer = await asyncio.open_connection(bench.HOST, gateway.port)
            writer.write(request.encode())
            answer = (await reader.read()).decode("latin-1")
            writer.close()
    except (OSError, TimeoutError) as error:
        return 0, f"{type(error).__name__}: {error}"
    head, _, body = answer.partition("\r\n\r\n")
    words = head.split(" ")
    return (int(words[1]), body) if len(words) > 1 and words[1].isdigit() else (0, "no HTTP answer")


def failures(result: dict, args: argparse.Namespace) -> list[str]:
    growth = result["after_mib"] - result["before_mib"]
    found = [*result["reloads"]["wrong"], *(f"WebSocket: {reason}" for reason in result["sockets"]["dropped"])]
    if result["load"]["trouble"]:
        found.append(f"requests: {result['load']['trouble']}")
    if result["reloads"]["per_second"] < 0.9 * args.per_second:
        found.append(f"schedule: only {result['reloads']['per_second']:.1f} reloads/s, so the last ones had no load")
    if growth > GROWTH_MIB_MAX:
        found.append(f"memory: {growth:.1f} MiB more than before, at most {GROWTH_MIB_MAX} are accepted")
    return found


def print_result(result: dict, found: list[str], args: argparse.Namespace) -> None:
    reloads, load, sockets = result["reloads"], result["load"], result["sockets"]
    print(f"\n{reloads['count']} reloads at {reloads['per_second']:.1f}/s with {args.apis + 2} APIs: "
          f"median {reloads['median_ms']:.1f} ms, highest {reloads['highest_ms']:.1f} ms, {len(reloads['wrong'])} wrong")
    print(f"requests    {load['requests']} ({load['rps']:.0f}/s, p99 {load['p99_us'] / 1e3:.1f} ms), "
          f"failed: {load['trouble'] or 'none'}")
    print(f"WebSockets  {sockets['opened']} open, {sockets['frames']} frames came back, dropped: {len(sockets['dropped'])}")
    print(f"RSS         {result['before_mib']:.1f} MiB before, {result['after_mib']:.1f} MiB after")
    for failure in found[:20]:
        print(f"  FAILED {failure}")
    print("ok" if not found else f"{len(found)} failures")


if __name__ == "__main__":
    bench.run(main)
