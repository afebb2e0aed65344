#!/usr/bin/env python3
"""CPU for a stream of a language model: passed and translated, compared with the same stream through an API without models.

The provider is `tollgate mock`, which speaks two APIs and sends one token after each pause. Each way is measured in turn, round after
round, and the median of the rounds is told: CPU of the gateway for a stream, time to the first event, time between two events. All
streams of a round begin together, so the first event there is that of a burst. For the time to the first token, streams begin one by one,
like those of independent users, while many are open. Then many streams are opened that hardly say anything: memory for each. With
`--litellm PROGRAM` LiteLLM's proxy is measured too, but for the last two.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import secrets
import socket
import statistics
import subprocess
import time

import litellm_proxy
import rig as bench
from rig import Rig, RigError, Server

PASSED_RATIO_MAX = 1.3
TRANSLATED_RATIO_MAX = 2.0
# How many times what a stream that passes costs LiteLLM takes at least.
LITELLM_RATIO_MIN = 20
ADDED_FIRST_MS_MAX = 1.0
BODY_BYTES = 1024
# What holds a stream open without a word.
SILENCE = "300s"
# Streams whose first token is waited for: their tokens, and the milliseconds between two.
CALM_TOKENS, CALM_PAUSE_MS = 100, 100


@dataclasses.dataclass
class Way:
    """One way to the model: whose process is measured, the path, and the names of the model that it knows."""

    name: str
    server: Server
    path: str
    model: str


@dataclasses.dataclass
class Figures:
    cpu_us: float
    first_p50_us: float
    first_p99_us: float
    gap_p50_us: float
    gap_p99_us: float


def main() -> int:
    args = arguments()
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    # Two for each open stream, and what is left of those that just begin.
    bench.raise_open_files(2 * args.open + 2000)
    with Rig(args.threads) as rig:
        upstream = bench.mock_upstream(rig, args.binary)
        gateway = start_gateway(rig, args, upstream)
        model = f"mock-{args.pause}"
        ways = [
            Way("directly", upstream, "/v1/chat/completions", model),
            Way("API without models", gateway, "/plain/v1/chat/completions", model),
            Way("passed", gateway, "/models/v1/chat/completions", f"passed-{model}"),
            Way("passed, hard budget", gateway, "/budget/v1/chat/completions", f"passed-{model}"),
            Way("translated", gateway, "/models/v1/chat/completions", f"translated-{model}"),
        ]
        if args.litellm:
            ways.append(Way("LiteLLM", start_litellm(rig, args.litellm, upstream, model), "/v1/chat/completions", model))
        rounds = [{way.name: measure(rig, args, way) for way in ways} for _ in range(args.rounds)]
        results = {way.name: median([round[way.name] for round in rounds]) for way in ways}
        report(args, results)
        calm = {way.name: calm_streams(rig, args, way) for way in ways if args.streams and way.name != "LiteLLM"}
        if calm:
            print(f"\nFirst token while {args.streams} streams are open, which begin one by one")
        for name, figures in calm.items():
            print(f"  {name:22} p50 {figures.first_p50_us / 1000:9.2f} ms   p99 {figures.first_p99_us / 1000:9.2f} ms")
        memory = {way.name: open_streams(args, way) for way in ways if args.open and way.server is gateway}
        for name, kib in memory.items():
            print(f"  {name:22} {kib:7.1f} KiB for each of {args.open} open streams")
    if args.json:
        streams, first = ({name: dataclasses.asdict(figures) for name, figures in all.items()} for all in (results, calm))
        args.json.write_text(json.dumps({"run": facts, "streams": streams, "first": first, "open_kib": memory}, indent=1) + "\n")
    return verdict(results, calm)


def arguments() -> argparse.Namespace:
    parser = bench.argument_parser(__doc__, rounds=3, seconds=8)
    parser.add_argument("--tokens", type=int, default=200, help="tokens of each answer")
    parser.add_argument("--pause", default="10ms", help="time between two tokens")
    parser.add_argument("--streams", type=int, default=1000, help="streams that are open while the first token of others is measured")
    parser.add_argument("--open", type=int, default=9_000, help="streams that are open at once when memory is measured")
    parser.add_argument("--litellm", type=pathlib.Path, metavar="PROGRAM", help="measure LiteLLM's proxy too")
    return parser.parse_args()


def start_gateway(rig: Rig, args: argparse.Namespace, upstream: Server) -> Server:
    plain = bench.api_definition("plain", "/plain/", upstream.url("/"))
    providers = [
        {"name": "same", "kind": "openai", "url": upstream.url("/v1"), "key": "none"},
        {"name": "other", "kind": "anthropic", "url": upstream.url("/v1"), "key": "none"},
    ]
    names = [f"mock-{pause}" for pause in dict.fromkeys((args.pause, f"{CALM_PAUSE_MS}ms", SILENCE))]
    models = [{"name": f"passed-{name}", "targets": [{"provider": "same", "model": name}]} for name in names]
    models += [{"name": f"translated-{name}", "targets": [{"provider": "other", "model": name}]} for name in names]
    llm = {"providers": providers, "models": models}
    budget = {"name": "all", "max": 10**12, "unit": "tokens", "per": "day"}
    apis = [plain]
    for api_id, more in (("models", {}), ("budget", {"budgets": [budget]})):
        api = bench.api_definition(api_id, f"/{api_id}/", upstream.url("/"))
        del api["proxy"]["target_url"]
        apis.append(api | {"tollgate": {"llm": llm | more}})
    return bench.tollgate_gateway(rig, args.binary, apis, "/plain/")


def start_litellm(rig: Rig, program: pathlib.Path, upstream: Server, model: str) -> Server:
    parameters = {"model": f"openai/{model}", "api_base": upstream.url("/v1"), "api_key": "none"}
    return litellm_proxy.start(rig, program, {"model_list": [{"model_name": model, "litellm_params": parameters}]})


def question(model: str, tokens: int) -> dict:
    asked = {"model": model, "max_tokens": tokens, "stream": True, "messages": [{"role": "user", "content": ""}]}
    asked["messages"][0]["content"] = "x" * (BODY_BYTES - len(json.dumps(asked)))
    return asked


def measure(rig: Rig, args: argparse.Namespace, way: Way) -> Figures:
    """Streams of which so many are always open, and begin together."""
    return load(rig, args, way, args.tokens, ["-c", args.conns, "-z", f"{args.seconds}s"])


def calm_streams(rig: Rig, args: argparse.Namespace, way: Way) -> Figures:
    """Streams that begin one by one, until so many are open, and from then on."""
    way = dataclasses.replace(way, model=way.model.replace(f"mock-{args.pause}", f"mock-{CALM_PAUSE_MS}ms"))
    seconds = CALM_TOKENS * CALM_PAUSE_MS / 1000
    pacing = ["-c", 2 * args.streams, "--rate", round(args.streams / seconds), "--arrivals", "poisson"]
    return load(rig, args, way, CALM_TOKENS, [*pacing, "--warmup", f"{seconds:.0f}s", "-z", f"{2 * seconds:.0f}s"])


def load(rig: Rig, args: argparse.Namespace, way: Way, tokens: int, pacing: list) -> Figures:
    body = rig.file(f"question-{secrets.token_hex(4)}.json", json.dumps(question(way.model, tokens)))
    result = rig.dir / f"streams-{secrets.token_hex(4)}.json"
    argv = ["taskset", "-c", ",".join(map(str, rig.other_cpus)), bench.loader(args.binary), "load", "--no-progress", "--threads", 1]
    argv += [*pacing, "-t", "60", "--events", "--json", result, "-m", "POST"]
    argv += ["-T", "application/json", "-D", body, f"{way.server.scheme}://{bench.HOST}:{way.server.port}{way.path}"]
    before = bench.usage(way.server.pid)
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=args.seconds + 180)
    used = bench.usage(way.server.pid) - before
    if not result.exists():
        raise RigError(f"the load generator gave no figures:\n{done.stdout}{done.stderr}")
    told = json.loads(result.read_text())
    answered, events = told["requests"]["completed"], told["events"]["count"]
    if not answered or set(told["status"]) != {"200"} or told["error_messages"] or events < answered * tokens:
        raise RigError(f"{way.name}: {answered} answers, {events} events, {told['status']}, {told['error_messages']}")
    first, gap = told["events"]["first"], told["events"]["gap"]
    return Figures(used.cpu_ns / 1000 / answered, first["p50_us"], first["p99_us"], gap["p50_us"], gap["p99_us"])


def median(rounds: list[Figures]) -> Figures:
    return Figures(*(statistics.median(figures) for figures in zip(*map(dataclasses.astuple, rounds))))


def report(args: argparse.Namespace, results: dict[str, Figures]) -> None:
    print(f"\n{BODY_BYTES} bytes in, {args.tokens} tokens out with {args.pause} between, {args.conns} streams at a time")
    print(f"  {'':22} {'CPU/stream':>12} {'ratio':>7} {'first p50':>12} {'first p99':>12} {'gap p50':>12} {'gap p99':>12}")
    plain = results["API without models"].cpu_us
    for name, figures in results.items():
        times = (figures.first_p50_us, figures.first_p99_us, figures.gap_p50_us, figures.gap_p99_us)
        print(f"  {name:22} {figures.cpu_us:9.0f} us {figures.cpu_us / plain:7.2f}" + "".join(f" {us / 1000:9.2f} ms" for us in times))


def open_streams(args: argparse.Namespace, way: Way) -> float:
    """KiB of the gateway for each stream that is open and has said its first token."""
    before = bench.memory_kib(way.server.pid)
    body = json.dumps(question(way.model.replace(f"mock-{args.pause}", f"mock-{SILENCE}"), args.tokens))
    head = f"POST {way.path} HTTP/1.1\r\nHost: {bench.HOST}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    clients = []
    try:
        for _ in range(args.open):
            client = socket.create_connection((bench.HOST, way.server.port), timeout=30)
            client.sendall((head + body).encode())
            clients.append(client)
        for client in clients:
            said = b""
            while b"data: " not in said:
                piece = client.recv(4096)
                if not piece or b" 200 " not in (said + piece):
                    raise RigError(f"{way.name}: {said + piece!r} with {len(clients)} streams")
                said += piece
        time.sleep(1)
        return (bench.memory_kib(way.server.pid) - before) / args.open
    finally:
        for client in clients:
            client.close()
        time.sleep(2)


def verdict(results: dict[str, Figures], calm: dict[str, Figures]) -> int:
    plain = results["API without models"]
    passed, translated = results["passed"], results["translated"]
    wrong = []
    if passed.cpu_us > PASSED_RATIO_MAX * plain.cpu_us:
        wrong.append(f"a stream that passes costs more than {PASSED_RATIO_MAX} of one without models")
    if translated.cpu_us > TRANSLATED_RATIO_MAX * plain.cpu_us:
        wrong.append(f"a stream that is translated costs more than {TRANSLATED_RATIO_MAX} of one without models")
    if (litellm := results.get("LiteLLM")) and passed.cpu_us > litellm.cpu_us / LITELLM_RATIO_MIN:
        wrong.append(f"a stream that passes costs more than 1/{LITELLM_RATIO_MIN} of LiteLLM's")
    if calm and calm["passed"].first_p99_us - calm["API without models"].first_p99_us > ADDED_FIRST_MS_MAX * 1000:
        wrong.append(f"more than {ADDED_FIRST_MS_MAX} ms are added to the time to the first token (p99)")
    for line in wrong:
        print(f"  missed: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    bench.run(main)
