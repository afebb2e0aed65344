"""The table of a run, and two runs side by side."""

from __future__ import annotations

COLUMNS = (
    f"{'':12} {'RSS MiB idle':>12} {'peak':>6} {'after':>6} {'CPU s':>6} {'x idle':>7} "
    f"{'p50 ms':>7} {'x idle':>7} {'p99 ms':>8} {'x idle':>7} {'failed':>6} {'back s':>9} {'log':>5}  facts"
)


def print_header() -> None:
    print("\nFor each gateway: memory, CPU time under attack, requests of other clients under attack and as a ratio to idle, how many")
    print("failed, seconds until their latency and the memory are back, lines logged.\n")
    print(COLUMNS)


def print_scenario(entry: dict) -> None:
    for gateway, result in entry["gateways"].items():
        for number, (label, clients) in enumerate(result["clients"].items() or [("", None)]):
            print(row(f"  {label}" if number else gateway, result, clients, bool(number)))
    for text in entry["wrong"]:
        print(f"  BAD: {text}")
    print(f"  {'bad' if entry['wrong'] else 'ok'}, {entry['seconds']:.0f} s", flush=True)


def row(name: str, result: dict, clients: dict | None, again: bool) -> str:
    text = f"  {name:10}"
    if again:
        text += " " * 44
    else:
        text += f" {result['idle_mib']:12.1f} {result['peak_mib']:6.0f} {result['after_mib']:6.0f} {result['cpu_seconds']:6.2f}"
        text += f" {result['cpu_seconds'] / max(1e-3, result['idle_cpu_seconds']):7.1f}"
    if clients:
        text += f" {clients['p50_ms']:7.2f} {ratio(clients, 'p50'):>7}"
        text += f" {clients['p99_ms']:8.2f} {ratio(clients, 'p99'):>7} {clients['failed']:6}"
    else:
        text += " " * 39
    if again:
        return text
    back = "/".join("-" if result[what] is None else f"{result[what]:.1f}" for what in ("latency_back_seconds", "memory_back_seconds"))
    facts = ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in result["facts"].items())
    return f"{text} {back:>9} {result['log_lines']:5}  {facts}"


def ratio(clients: dict, percent: str) -> str:
    idle = clients[f"idle_{percent}_ms"]
    return f"{clients[f'{percent}_ms'] / idle:.1f}" if idle else "-"


def print_comparison(before: dict, after: dict) -> None:
    """Tollgate in two runs, and nginx in the second: growth of memory, CPU time, p99 as a ratio to idle, failures, verdicts
    and their reasons."""
    print(f"before: {before['run']['date']}, after: {after['run']['date']}")
    print("MiB is growth at peak, p99 a ratio to the idle gateway\n")
    print("| attack | MiB | CPU s | p99 x idle | failed | verdict | nginx: MiB, CPU s, p99 |")
    print("|---|---|---|---|---|---|---|")
    earlier = {entry["name"]: entry for entry in before["scenarios"]}
    for entry in after["scenarios"]:
        pair = [earlier.get(entry["name"]), entry]
        cells = [" → ".join(cell(one, figure) for one in pair) for figure in (growth, cpu, p99, failed)]
        words = " → ".join("-" if one is None else "bad" if one["wrong"] else "ok" for one in pair)
        nginx = entry["gateways"].get("nginx")
        reference = ", ".join(figure(nginx) for figure in (growth, cpu, p99)) if nginx else "-"
        print(f"| {entry['name']} | {' | '.join(cells)} | {words} | {reference} |")
    print()
    for entry in after["scenarios"]:
        found = ["-" if one is None else "; ".join(one["wrong"]) or "ok" for one in (earlier.get(entry["name"]), entry)]
        if found[0] != found[1]:
            print(f"- {entry['name']}: {found[0]} → {found[1]}")


def cell(entry: dict | None, figure) -> str:
    ours = entry["gateways"].get("tollgate") if entry else None
    return figure(ours) if ours else "-"


def growth(result: dict) -> str:
    return f"{result['peak_mib'] - result['idle_mib']:.0f}" + (" (killed)" if result["killed_at_cap"] else "")


def cpu(result: dict) -> str:
    return f"{result['cpu_seconds']:.2f}"


def p99(result: dict) -> str:
    return "/".join(ratio(clients, "p99") for clients in result["clients"].values()) or "-"


def failed(result: dict) -> str:
    return str(sum(clients["failed"] for clients in result["clients"].values()))
