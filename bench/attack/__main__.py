"""Attacks on Tollgate, and the same on nginx and HAProxy: what each costs in memory and CPU, and what other clients notice.

Everything runs on loopback. A gateway is measured idle, attacked, and until it is back; ratios are to its own idle figures of seconds
before. Exit code 1 when Tollgate breaks a bound.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import pathlib
import shutil
import signal
import time

import rig as bench
from attack import bodies, control, fairness, http1, http2, outages, patterns, races, scripts, slow
from attack.arena import Arena, Settings
from attack.report import print_comparison, print_header, print_scenario
from attack.scenario import Scenario, verdict
from rig import Rig, RigError

SCENARIOS: list[Scenario] = [
    scenario for group in (http2, http1, slow, patterns, control, races, outages, scripts, bodies, fairness) for scenario in group.SCENARIOS
]
OPEN_FILES = 20_000
LATENCY = ("p50", "p99", "latency")  # how such a verdict begins


def main() -> int:
    args = arguments()
    if args.list:
        for scenario in SCENARIOS:
            print(f"{scenario.group}/{scenario.name:18} {scenario.title}")
        return 0
    if args.compare:
        print_comparison(*(json.loads(path.read_text()) for path in args.compare))
        return 0
    chosen = [scenario for scenario in SCENARIOS if not args.only or any(matches(scenario, pattern) for pattern in args.only)]
    if not chosen:
        raise RigError(f"no scenario is called {','.join(args.only)}; --list shows them")
    bench.raise_open_files(OPEN_FILES)
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    settings = Settings(args.quick, [name for name in args.peers if shutil.which(name)], args.binary)
    done = []
    with Rig(args.threads) as rig:
        place = Arena(rig, settings)
        print_header()
        for scenario in chosen:
            print(f"{scenario.group}/{scenario.name}: {scenario.title}", flush=True)
            done.append(run(place, scenario))
            print_scenario(done[-1])
            if args.out:  # after each one, for a run that is cut off
                args.out.write_text(json.dumps({"run": facts, "quick": args.quick, "scenarios": done}, indent=1) + "\n")
    bad = [entry for entry in done if entry["wrong"]]
    print(f"\n{len(done) - len(bad)} ok, {len(bad)} bad" + (f": {', '.join(entry['name'] for entry in bad)}" if bad else ""))
    return 1 if bad else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), help="groups or scenarios: http2,slow/heads,http1/*chunk*")
    parser.add_argument("--quick", action="store_true", help="3 minutes in place of 20: short, small, beside nginx alone")
    parser.add_argument("--list", action="store_true", help="list the scenarios")
    parser.add_argument("--peers", type=lambda text: [name for name in text.split(",") if name], help="nginx,haproxy, or '' for none")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="write the raw data as JSON")
    parser.add_argument("--compare", type=pathlib.Path, nargs=2, metavar=("BEFORE", "AFTER"), help="print two such files side by side")
    parser.add_argument("--threads", type=int, default=bench.GATEWAY_THREADS)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    args = parser.parse_args()
    if args.peers is None:
        args.peers = ["nginx"] if args.quick else ["nginx", "haproxy"]
    return args


def matches(scenario: Scenario, pattern: str) -> bool:
    return scenario.group == pattern or fnmatch.fnmatch(f"{scenario.group}/{scenario.name}", pattern)


def run(place: Arena, scenario: Scenario) -> dict:
    """The figures of one scenario and what is wrong with them. Where that is latency alone, something else on the machine may have
    been the cause: it counts when it comes twice."""
    entry = run_once(place, scenario)
    if entry["wrong"] and all(text.startswith(LATENCY) for text in entry["wrong"]):
        print(f"  once more: {'; '.join(entry['wrong'])}", flush=True)
        entry = run_once(place, scenario)
    return entry


def run_once(place: Arena, scenario: Scenario) -> dict:
    """Whatever fails is part of the report, and the next scenario goes on."""
    began, results = time.monotonic(), {}

    def too_long(*_) -> None:
        raise TimeoutError(f"took more than {scenario.seconds_max} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(scenario.seconds_max)
    try:
        results = scenario.run(place)
        wrong = verdict(scenario, results, place.settings.quick)
    except (RigError, OSError) as error:
        wrong = [f"{type(error).__name__}: {error}"]
    finally:
        signal.alarm(0)
    return {
        "name": f"{scenario.group}/{scenario.name}",
        "title": scenario.title,
        "seconds": time.monotonic() - began,
        "load_average": os.getloadavg()[0],
        "wrong": wrong,
        "gateways": results,
    }


if __name__ == "__main__":
    bench.run(main)
