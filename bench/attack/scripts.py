"""Scripts and WebAssembly modules that never end, in calls and while they are loaded. Others are served and definitions change meanwhile;
no process and no memory of them is left. nginx has nothing to compare with."""

from __future__ import annotations

import base64
import concurrent.futures
import json
import time

import rig as bench
from attack import patterns
from attack.arena import Arena, Target
from attack.scenario import Bounds, Scenario, all_of, at_most, beside
from rig import HOST

# Built-in functions and operators that look at no clock. Each would run for hours, or again and again.
NATIVES = [
    "'a'.repeat(2e7).includes('a'.repeat(1e7) + 'b')",
    "'a'.repeat(2e7).split('a'.repeat(1e7) + 'b')",
    "var a = []; a.length = 4294967295; a.sort()",
    "Array.prototype.indexOf.call({length: 9e15}, 1)",
    "/(x+x+)+y/.test('x'.repeat(40))",
    "var n = 3n ** 600000n; while (true) n * n",
]
CALL_SECONDS = 2  # jsvm_timeout
CLIENTS = 24
HOSTILE = 48
ANSWER_SECONDS_MAX = 20  # with all that wait in the queue of one API
RELOAD_SECONDS_MAX = 10
PROCESSES_MAX = 6
# (module (memory (export "memory") 1) (func (export "proxy_abi_version_0_2_1"))
#   (func (export "proxy_on_configure") (param i32 i32) (result i32) (loop (br 0)) (i32.const 1)))
ENDLESS_MODULE = (
    b"\0asm\1\0\0\0"
    b"\x01\x0a\x02\x60\0\0\x60\x02\x7f\x7f\x01\x7f"
    b"\x03\x03\x02\0\x01"
    b"\x05\x03\x01\0\x01"
    b"\x07\x39\x03\x06memory\x02\0\x17proxy_abi_version_0_2_1\0\0\x12proxy_on_configure\0\x01"
    b"\x0a\x0e\x02\x02\0\x0b\x09\0\x03\x40\x0c\0\x0b\x41\x01\x0b"
)


def virtual(name: str, script: str, upstream: str) -> dict:
    """An API whose `/v` a function `f` answers."""
    api = bench.api_definition(name, f"/{name}/", upstream)
    entry = {
        "path": "/v", "method": "GET", "response_function_name": "f", "function_source_type": "blob",
        "function_source_uri": base64.b64encode(script.encode()).decode(),
    }
    api["version_data"]["versions"]["Default"]["extended_paths"] = {"virtual": [entry]}
    return api


def good(upstream: str) -> dict:
    return virtual("good", "function f() { return TykJsResponse({Body: 'good', Code: 200}, {}) }", upstream)


def options(place: Arena) -> dict:
    upstream = place.attacked.url("/")
    calls = [virtual(f"bad-{n}", f"function f() {{ {code}; return 'ended' }}", upstream) for n, code in enumerate(NATIVES)]
    return {"apis": [*calls, good(upstream)], "conf": {"enable_jsvm": True, "jsvm_timeout": CALL_SECONDS, "middleware_path": str(place.rig.dir)}}


def left(target: Target) -> int:
    """Processes of scripts when all calls and loads have had their time: 48 loads, eight at a time, for 5 s each."""
    deadline = time.monotonic() + 60
    while len(bench.processes(target.pid)) > PROCESSES_MAX and time.monotonic() < deadline:
        time.sleep(0.2)
    return len(bench.processes(target.pid))


def calls(target: Target, seconds: float) -> dict:
    """Clients that call each hostile function again and again, and one that calls another API's."""
    end = time.monotonic() + seconds

    def client(number: int) -> list[tuple[str, float]]:
        path, asked = f"/bad-{number % len(NATIVES)}/v", []
        while time.monotonic() < end:
            asked.append(patterns.ask(target.port, path))
        return asked

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        running = [pool.submit(client, number) for number in range(CLIENTS)]
        beside = []
        while time.monotonic() < end:
            beside.append(patterns.ask(target.port, "/good/v"))
            time.sleep(0.02)
        answers = [answer for one in running for answer in one.result()]
    return {
        "calls": len(answers),
        "answer_seconds": max(seconds for _, seconds in answers),
        "unexpected": sorted({status for status, _ in answers if status != "500"} | {status for status, _ in beside if status != "200"}),
        "other_call_ms": max(seconds for _, seconds in beside) * 1e3,
        "processes": left(target),
    }


def load(target: Target, definitions: list[dict], seconds: float) -> dict:
    """Reads hostile definitions while the gateway runs, and then a good one beside them."""
    began = time.monotonic()
    for definition in definitions:
        (target.server.apps / f"{definition['api_id']}.json").write_text(json.dumps(definition))
    status, _ = target.control("GET", "/tyk/reload/?block=true")
    reloaded = time.monotonic()
    upstream = json.loads((target.server.apps / "attack.json").read_text())["proxy"]["target_url"]
    (target.server.apps / "late.json").write_text(json.dumps(bench.api_definition("late", "/late/", upstream)))
    again, _ = target.control("GET", "/tyk/reload/?block=true")
    changed = time.monotonic()
    asked = [patterns.ask(target.port, path)[0] for path in ("/late/json/valid", "/good/v")]
    time.sleep(max(0, began + seconds - time.monotonic()))
    return {
        "reload_seconds": reloaded - began,
        "next_reload_seconds": changed - reloaded,
        "unexpected": sorted({str(status) for status in (status, again, *asked)} - {"200"}),
        "processes": left(target),
    }


def scripts(target: Target, seconds: float) -> dict:
    """Top-level code that never ends."""
    code = "; ".join(NATIVES[:1] * 3) + "; while (true) {} function f() {}"
    return load(target, [virtual(f"hostile-{number}", code, f"http://{HOST}:{target.port}/") for number in range(HOSTILE)], seconds)


def modules(target: Target, seconds: float) -> dict:
    """Modules whose start never ends, each another file, so that none is known already."""
    definitions = []
    for number in range(HOSTILE):
        name = f"endless-{number}.wasm"
        custom = bytes([0, 2, 1, number])  # a section without a meaning
        (target.log.parent / name).write_bytes(ENDLESS_MODULE + custom)
        definition = bench.api_definition(f"hostile-{number}", f"/hostile-{number}/", f"http://{HOST}:{target.port}/")
        definition["custom_middleware"] = {"driver": "wasm", "pre": [{"name": "endless", "path": name}]}
        definitions.append(definition)
    return load(target, definitions, seconds)


def expected(ours: dict, _: dict, __: bool) -> list[str]:
    unexpected = ours["facts"].get("unexpected")
    return [] if unexpected == [] else [f"unexpected answers: {unexpected}"]


def scenario(name: str, title: str, attack, judge, **how) -> Scenario:
    run = beside(attack, ("tollgate",), {"tollgate": options}, **how)
    bounds = Bounds(growth_mib_max=1536, after_mib_max=96, log_lines_max=2_000, p99=False, judge=all_of(expected, judge))
    return Scenario("scripts", name, title, run, bounds)


loads = all_of(at_most("reload_seconds", RELOAD_SECONDS_MAX, " s"), at_most("next_reload_seconds", RELOAD_SECONDS_MAX, " s"),
               at_most("processes", PROCESSES_MAX))

SCENARIOS = [
    scenario("calls", f"{CLIENTS} clients call functions that never end", calls,
             all_of(at_most("answer_seconds", ANSWER_SECONDS_MAX, " s"), at_most("processes", PROCESSES_MAX)), stretch=2, grace=60),
    scenario("scripts", f"{HOSTILE} scripts whose top-level code never ends", scripts, loads, grace=90),
    scenario("modules", f"{HOSTILE} modules whose start never ends", modules, loads, grace=90),
]
