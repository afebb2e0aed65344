"""What a scenario is: who is attacked how, and what Tollgate must keep to. A bound on latency is relative, since absolute times are the
machine's."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from attack import arena
from attack.arena import Arena, Attack

# What is called quick whatever the idle gateway does: below it, a loaded machine's scheduler is what one measures.
P99_FLOOR_MS = 50
P99_IDLE_RATIO_MAX = 5
P99_NGINX_RATIO_MAX = 2
RECOVERY_SECONDS_MAX = 5
CPU_PEER_RATIO_MAX = 2
# Share of one CPU that an attacker's whole line may always take.
CPU_SHARE_MAX = 0.1


@dataclasses.dataclass
class Bounds:
    """What holds for Tollgate. `judge` returns what is wrong with the facts of an attack."""

    growth_mib_max: float = 128
    after_mib_max: float = 64
    failed_max: int = 0
    p99: bool = True
    p99_floor_ms: float = P99_FLOOR_MS
    log_lines_max: int = 100
    judge: Callable[[dict, dict, bool], list[str]] = lambda result, all_results, quick: []


@dataclasses.dataclass
class Scenario:
    """`run` gives the figures of each gateway by its name."""

    group: str
    name: str
    title: str
    run: Callable[[Arena], dict[str, dict]]
    bounds: Bounds = dataclasses.field(default_factory=Bounds)
    seconds_max: int = 240


def beside(
    attack: Attack, gateways: tuple = ("tollgate", "nginx", "haproxy"), options: dict[str, Callable[[Arena], dict]] | None = None, **how
) -> Callable[[Arena], dict]:
    """The same attack on one gateway after the other. `options` says how each is started, `how` is for `measure`."""

    def run(place: Arena) -> dict:
        results = {}
        for kind in gateways:
            if kind != "tollgate" and kind not in place.settings.peers:
                continue
            with place.gateway(kind, **(options or {}).get(kind, lambda _: {})(place)) as target:
                results[kind] = arena.measure(place, target, attack, **how)
        return results

    return run


def verdict(scenario: Scenario, results: dict, quick: bool) -> list[str]:
    """What is wrong with Tollgate's figures, in words."""
    bounds, ours, nginx = scenario.bounds, results["tollgate"], results.get("nginx")
    wrong = []
    for kind, result in results.items():
        if "attack" in result["facts"]:
            wrong.append(f"the attack on {kind} {result['facts']['attack']}")
        elif result["facts"].get("sent_mib") == 0:
            wrong.append(f"the attack on {kind} sent nothing")
    if ours["killed_at_cap"]:
        wrong.append(f"killed: over {arena.MEMORY_MIB_MAX} MiB")
    elif not ours["alive"]:
        wrong.append("the gateway ended")
    growth, after = ours["peak_mib"] - ours["idle_mib"], ours["after_mib"] - ours["idle_mib"]
    if growth > bounds.growth_mib_max:
        wrong.append(f"memory grows by {growth:.0f} MiB, at most {bounds.growth_mib_max:.0f}")
    if after > bounds.after_mib_max:
        wrong.append(f"{after:.0f} MiB are kept afterwards, at most {bounds.after_mib_max:.0f}")
    for label, figures in ours["clients"].items():
        if figures["failed"] > bounds.failed_max:
            wrong.append(f"{figures['failed']} {label} of others fail ({troubles(figures)}), at most {bounds.failed_max}")
        beside_ours = nginx["clients"].get(label) if nginx else None
        of_nginx = P99_NGINX_RATIO_MAX * beside_ours["p99_ms"] if beside_ours else 0
        most = max(bounds.p99_floor_ms, P99_IDLE_RATIO_MAX * figures["idle_p99_ms"], of_nginx)
        if bounds.p99 and figures["p99_ms"] > most:
            wrong.append(f"p99 of {label} of others {figures['p99_ms']:.0f} ms, at most {most:.0f}")
    if bounds.p99 and (ours["latency_back_seconds"] is None or ours["latency_back_seconds"] > RECOVERY_SECONDS_MAX):
        wrong.append(f"latency is not back within {RECOVERY_SECONDS_MAX} s")
    if ours["log_lines"] > bounds.log_lines_max:
        wrong.append(f"{ours['log_lines']} log lines, at most {bounds.log_lines_max}")
    return wrong + bounds.judge(ours, results, quick)


def troubles(figures: dict) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in figures["troubles"].items())


def at_most(fact: str, most: float, unit: str = "") -> Callable[[dict, dict, bool], list[str]]:
    """A bound on one fact of the attack."""

    def judge(result: dict, _: dict, __: bool) -> list[str]:
        value = result["facts"].get(fact)
        if value is None:
            return [f"{fact} is missing"]
        return [f"{fact} {value:.3g}{unit}, at most {most:g}"] if value > most else []

    return judge


def cpu_seconds_max(ours: dict, results: dict) -> float:
    """CPU time that an attack may cost. nginx reads some floods without end, HAProxy closes their connections as Tollgate does, which costs
    new ones: the costlier peer counts."""
    peers = [result["cpu_seconds"] for kind, result in results.items() if kind != "tollgate"]
    return max([CPU_SHARE_MAX * ours["attack_seconds"], *(CPU_PEER_RATIO_MAX * seconds for seconds in peers)])


def not_far_from_peers(ours: dict, results: dict, quick: bool) -> list[str]:
    """CPU time for each MiB that an attacker sends: his line bounds how much that is."""
    for result in results.values():
        result["facts"]["cpu_ms_per_mib"] = result["cpu_seconds"] * 1e3 / max(0.01, result["facts"].get("sent_mib", 0))
    peers = [result["facts"]["cpu_ms_per_mib"] for kind, result in results.items() if kind != "tollgate"]
    if not peers or ours["cpu_seconds"] <= cpu_seconds_max(ours, results):
        return []
    cost = ours["facts"]["cpu_ms_per_mib"]
    return [f"{cost:.1f} ms of CPU for a MiB, the costlier peer {max(peers):.1f}"] if cost > CPU_PEER_RATIO_MAX * max(peers) else []


def all_of(*judges: Callable) -> Callable[[dict, dict, bool], list[str]]:
    return lambda *arguments: [text for judge in judges for text in judge(*arguments)]

