#!/usr/bin/env python3
"""Checks the files of deploy/ and the unit of packaging/ with the programs that read them, and with a running gateway.

Usage: check.py [--program TOLLGATE] [PART...]; without a part, all of them. Exits with 1 if a part fails, and with 77 if a program that
a part needs is missing and nothing failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
SERVICE = ROOT / "packaging/systemd/tollgate.service"
METRIC = re.compile(r"\b(?:tollgate|process)_[a-z0-9_]+")
# How long something that must happen may take; it only bounds a hang.
PATIENCE_S = 60


class Failed(Exception):
    """What is wrong, as it is printed."""


class Missing(Exception):
    """A program that is not installed."""


def run(*command: str | pathlib.Path, **options) -> str:
    """The output of a command that must succeed."""
    words = [str(word) for word in command]
    if shutil.which(words[0]) is None:
        raise Missing(words[0])
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise Failed(message)


# --- Configurations ---


def configurations(program: str) -> None:
    """Every tyk.conf, definition and policy of the kit is free of errors, warnings and fields without effect."""
    files = [*ROOT.glob("packaging/**/tyk.conf"), *DEPLOY.glob("**/tyk.conf"), *ROOT.glob("packaging/**/apps/*.json"), *DEPLOY.glob("**/apps/*.json")]
    expect(len(files) >= 6, f"only {files}")
    for file in files:
        text = run(program, "check", file)
        expect("0 errors, 0 warnings, 0 ignored fields" in text, text)


# --- Prometheus and Grafana ---


def alerts(_program: str) -> None:
    """Rules are valid, and each alert has a case in which it fires and one in which it does not."""
    folder = DEPLOY / "prometheus"
    run("promtool", "check", "config", folder / "prometheus.yml")
    run("promtool", "test", "rules", folder / "alerts_test.yml")
    tests = (folder / "alerts_test.yml").read_text()
    for alert in re.findall(r"- alert: (\w+)", (folder / "alerts.yml").read_text()):
        for case in (f"name: {alert} fires\n", f"name: {alert} is quiet\n"):
            expect(case in tests, f"alerts_test.yml has no case {case.strip()}")


def expressions() -> dict[str, str]:
    """The expressions of board and alerts, with the board's variables replaced as Grafana does, by where they are."""
    board = json.loads((DEPLOY / "grafana/tollgate.json").read_text())
    found = {}
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$api", ".*")
            expect("$" not in text, f"{panel['title']}: unknown variable in {text}")
            found[f"board, {panel['title']} {target['refId']}"] = text
    rules = (DEPLOY / "prometheus/alerts.yml").read_text()
    for name, text in re.findall(r"- alert: (\w+)\n\s+expr: ((?:\|\n(?:\s{10,}.*\n)+)|.*\n)", rules):
        found[f"alert {name}"] = text.removeprefix("|\n").strip()
    return found


def panels_are_laid_out() -> None:
    """What Grafana needs to show a panel: a unique id, a data source, a place of its own."""
    board = json.loads((DEPLOY / "grafana/tollgate.json").read_text())
    expect(len({panel["id"] for panel in board["panels"]}) == len(board["panels"]), "two panels have the same id")
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        expect(place["x"] + place["w"] <= 24 and not cells & taken, f"{panel['title']} overlaps or is outside")
        taken |= cells
        expect(panel["type"] == "row" or panel["datasource"]["uid"] == "${datasource}", f"{panel['title']}: data source")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(url: str, **headers: str) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
        return answer.read()


def eventually(what: str, action):
    """The action's result, as soon as it has one."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if result := action():
                return result
        time.sleep(0.1)
    raise Failed(f"never happened: {what}")


@contextlib.contextmanager
def started(*command: str | pathlib.Path, **options):
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def gateway(program: str, folder: pathlib.Path, **settings):
    """A gateway that uses what has metrics: a cache, a breaker, a certificate, analytics. Gives its ports for clients and metrics."""
    port, metrics, upstream = free_port(), free_port(), free_port()
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=check", "-days", "30",
        "-keyout", folder / "key.pem", "-out", folder / "cert.pem")
    conf = {
        "listen_address": "127.0.0.1",
        "listen_port": port,
        "app_path": "apps",
        "enable_analytics": True,
        "http_server_options": {"use_ssl": True, "certificates": [{"cert_file": "cert.pem", "key_file": "key.pem"}]},
        "tollgate": {"metrics": {"listen": f"127.0.0.1:{metrics}"}, "threads": 1},
    } | settings
    extended = {"circuit_breakers": [{"path": "/", "method": "GET", "threshold_percent": 0.5, "samples": 5, "return_to_service_after": 5}]}
    api = {
        "name": "shop",
        "api_id": "shop",
        "active": True,
        "use_keyless": True,
        "global_rate_limit": {"rate": 5, "per": 3600},
        "cache_options": {"enable_cache": True, "cache_timeout": 60, "cache_all_safe_requests": True},
        "version_data": {"not_versioned": True, "versions": {"Default": {"name": "Default", "use_extended_paths": True, "extended_paths": extended}}},
        "proxy": {"listen_path": "/shop/", "target_url": f"http://127.0.0.1:{upstream}/", "strip_listen_path": True},
    }
    (folder / "apps").mkdir()
    (folder / "apps/shop.json").write_text(json.dumps(api))
    (folder / "tyk.conf").write_text(json.dumps(conf))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TYK_", "TOLLGATE_"))}
    with started(program, "mock", "--listen", f"127.0.0.1:{upstream}"), started(program, "run", cwd=folder, env=environment):
        eventually("the gateway listens", lambda: get(f"http://127.0.0.1:{metrics}/metrics"))
        yield port, metrics


def prometheus_for(metrics: int, folder: pathlib.Path) -> pathlib.Path:
    """The kit's own configuration, with this gateway as its target and faster scrapes."""
    text = (DEPLOY / "prometheus/prometheus.yml").read_text()
    expect('"gateway:9091"' in text and "scrape_interval: 15s" in text, "prometheus.yml has another form")
    file = folder / "prometheus.yml"
    file.write_text(text.replace("gateway:9091", f"127.0.0.1:{metrics}").replace("15s", "1s"))
    shutil.copy(DEPLOY / "prometheus/alerts.yml", folder)
    return file


def board(program: str) -> None:
    """A Prometheus server that scrapes a gateway knows every metric of board and alerts and computes every expression."""
    panels_are_laid_out()
    if shutil.which("prometheus") is None:
        raise Missing("prometheus")
    asked = expressions()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with gateway(program, folder) as (port, metrics):
            server = free_port()
            with started("prometheus", f"--config.file={prometheus_for(metrics, folder)}", f"--storage.tsdb.path={folder}/tsdb",
                         f"--web.listen-address=127.0.0.1:{server}"):
                compute_all(asked, port, metrics, f"http://127.0.0.1:{server}/api/v1")


def compute_all(asked: dict[str, str], port: int, metrics: int, api: str) -> None:
    def ask(expression: str) -> list:
        answer = json.loads(get(f"{api}/query?query={urllib.parse.quote(expression)}"))
        return answer["data"]["result"]

    eventually("prometheus scrapes", lambda: ask('up{job="tollgate"} == 1'))

    def requests_are_counted() -> list:
        # A rate needs two scrapes with different figures. The API's limit rejects the sixth request and all after it.
        for path in ("/shop/echo", "/nowhere"):
            run("curl", "-sk", "-o", "/dev/null", f"https://127.0.0.1:{port}{path}")
        return ask('sum(rate(tollgate_refusals_total[1m])) > 0')

    eventually("prometheus has the requests", requests_are_counted)
    known = set(re.findall(r"^# TYPE (\w+) ", get(f"http://127.0.0.1:{metrics}/metrics").decode(), re.M))
    empty = []
    for place, expression in asked.items():
        for metric in METRIC.findall(expression):
            family = re.sub(r"_(?:bucket|sum|count)$", "", metric)
            expect(metric in known or family in known, f"{place}: the gateway has no metric {metric}")
        try:
            result = ask(expression)
        except OSError as fault:
            raise Failed(f"{place}: {fault}: {expression}") from fault
        if not result and place.startswith("board"):
            empty.append(place)
    firing = {alert["labels"]["alertname"] for alert in json.loads(get(f"{api}/alerts"))["data"]["alerts"] if alert["state"] == "firing"}
    print(f"{len(asked)} expressions; empty on this gateway: {', '.join(empty) or 'none'}")
    expect(not firing, f"a healthy gateway raises {firing}")
    expect(len(empty) <= EMPTY_MAX, f"too many expressions without a value: {empty}")


# Panels of things that do not happen to a healthy gateway: errors, rejected connections, dropped lines.
EMPTY_MAX = 6


# --- OpenTelemetry ---


def collector(program: str) -> None:
    """A collector with the kit's configuration shows the metrics that a gateway pushes under the names that board and alerts use, and its traces."""
    config = DEPLOY / "collector/config.yaml"
    environment = os.environ | {"COLLECTOR_HOST": "127.0.0.1"}
    run("otelcol", "validate", f"--config={config}", env=environment)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log = folder / "collector.log"
        with log.open("w") as output, subprocess.Popen(["otelcol", f"--config={config}"], env=environment, stdout=output, stderr=output) as process:
            try:
                eventually("the collector listens", lambda: socket.create_connection(("127.0.0.1", 4317)))
                opentelemetry = {"enabled": True, "exporter": "grpc", "endpoint": "127.0.0.1:4317", "metrics": {"enabled": True, "export_interval": 1}}
                with gateway(program, folder, opentelemetry=opentelemetry) as (port, _):
                    run("curl", "-sk", "-o", "/dev/null", f"https://127.0.0.1:{port}/shop/echo")
                    eventually("the collector has the request", lambda: b"tollgate_requests_total{" in get("http://127.0.0.1:8889/metrics"))
                    known = set(re.findall(r"^# TYPE (\w+) ", get("http://127.0.0.1:8889/metrics").decode(), re.M))
                    eventually("the collector has the trace", lambda: "GET /shop/" in log.read_text())
            finally:
                process.kill()
    wrong = [metric for metric in known if metric.endswith(("_ratio", "_total_total", "_seconds_seconds", "_bytes_bytes"))]
    expect(not wrong, f"metrics with other names than on /metrics: {wrong}")


# --- Sandbox ---


def sandbox(_program: str) -> None:
    """The exposure that systemd computes is the one in the documentation."""
    text = run("systemd-analyze", "security", "--offline=true", "--no-pager", SERVICE)
    found = re.search(r"Overall exposure level for tollgate.service: ([\d.]+)", text)
    expect(found is not None, text)
    stated = re.search(r"rates its exposure ([\d.]+)", (ROOT / "docs/operations.md").read_text())
    expect(stated is not None, "docs/operations.md states no exposure")
    expect(float(found[1]) <= float(stated[1]), f"systemd computes {found[1]}, docs/operations.md says {stated[1]}")


# --- Containers ---


def compose(_program: str) -> None:
    """Each combination of files in README.md is a valid project."""
    folder = DEPLOY / "compose"
    combinations = re.findall(r"docker compose ((?:-f \S+ )+)up", (folder / "README.md").read_text())
    used = {file for combination in combinations for file in combination.split() if file != "-f"}
    expect(used == {file.name for file in folder.glob("*.yaml")}, f"README.md runs {used}")
    environment = os.environ | {name: "x" for name in ("TYK_GW_SECRET", "REDIS_PASSWORD", "GRAFANA_PASSWORD")}
    command = ["docker", "compose"] if subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0 else ["docker-compose"]
    for combination in combinations:
        run(*command, *combination.split(), "config", "--quiet", cwd=folder, env=environment)
        for file in re.findall(r"source: (/\S+)", run(*command, *combination.split(), "config", cwd=folder, env=environment)):
            expect(pathlib.Path(file).exists(), f"{combination}: {file} is mounted and does not exist")


def helm(program: str) -> None:
    """The chart lints and renders with default and with all optional values; its tyk.conf is free of errors; it refuses wrong values."""
    chart = DEPLOY / "helm/tollgate"
    version = ("--kube-version", "1.33.0")
    for values in sorted((chart / "ci").glob("*.yaml")):
        run("helm", "lint", "--strict", chart, "--values", values)
        rendered = run("helm", "template", "check", chart, *version, "--values", values)
        written = re.search(r'^  tyk\.conf: (".*")$', rendered, re.M)
        expect(written is not None, f"{values.name}: no tyk.conf")
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "tyk.conf")
            file.write_text(json.loads(written[1]))
            for folder in ("apps", "policies"):
                file.with_name(folder).mkdir()
            text = run(program, "check", file)
            expect("0 errors, 0 warnings, 0 ignored fields" in text, f"{values.name}: {text}")
        if shutil.which("kubeconform"):  # it downloads the schemas
            run("kubeconform", "-strict", "-summary", "-ignore-missing-schemas", "-", input=rendered)
    wrong = [("replicas=many", "replicas"), ("replicas=2", "several gateways need Redis"), ("nonsense=1", "nonsense"),
             ("kubernetes.addresses={gateway}", "addresses"), ("kubernetes.ports[0].name=http,kubernetes.ports[0].port=8081", "port")]
    for setting, word in wrong:
        refused = subprocess.run(["helm", "template", "check", str(chart), *version, "--set", f"controlSecret.value=a,{setting}"],
                                 capture_output=True, text=True, check=False)
        expect(refused.returncode != 0 and word in refused.stderr, f"the chart accepts {setting}")
    refused = subprocess.run(["helm", "template", "check", str(chart), *version], capture_output=True, text=True, check=False)
    expect(refused.returncode != 0 and "controlSecret" in refused.stderr, "the chart accepts no secret")
    folder = DEPLOY / "kubernetes"
    rendered = run("helm", "template", "tollgate", chart, "--namespace", "tollgate", *version, "--values", folder / "values.yaml")
    expect(rendered == (folder / "tollgate.yaml").read_text(), "deploy/kubernetes/tollgate.yaml is not what values.yaml beside it says how to make")


def ansible(_program: str) -> None:
    """Playbooks parse and lint."""
    folder = DEPLOY / "ansible"
    for playbook in sorted(folder.glob("*.yml")):
        run("ansible-playbook", "--syntax-check", "-i", "inventory.ini", playbook, cwd=folder)
    run("ansible-lint", "--offline", cwd=folder)


PARTS = {part.__name__: part for part in (configurations, alerts, board, collector, sandbox, compose, helm, ansible)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/tollgate"))
    parser.add_argument("part", nargs="*", choices=[[], *PARTS])
    options = parser.parse_args()
    # Programs start in folders of their own.
    program = pathlib.Path(options.program).resolve()
    if not os.access(program, os.X_OK):
        parser.error(f"{program} is no program; build it with `make release`, or name one with --program")
    code = 0
    for name in options.part or PARTS:
        try:
            PARTS[name](str(program))
            print(f"{name}: ok")
        except Missing as missing:
            print(f"{name}: not checked, {missing} is not installed")
            code = code or 77
        except Failed as failed:
            print(f"{name}: failed: {failed}")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
