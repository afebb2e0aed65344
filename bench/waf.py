#!/usr/bin/env python3
"""The tests of the OWASP Core Rule Set, and CPU time for usual requests, by paranoia level: Tollgate's engine beside ModSecurity and Coraza.

`scripts/test-deps.sh tests` fetches the rules with their tests, `scripts/test-deps.sh waf` the other engines. All three get the same requests,
rules and settings, in programs of one form (`waf/`, and the example `engine` of the crate `tollgate-waf`). A test counts at the level of the rule
that it is for; level 4 is in force, as in the project's own runs. CPU time is told as a ratio to Tollgate's in the same run: each round asks all engines,
and the median of rounds counts, so that a busy machine harms all alike.
"""

from __future__ import annotations

import argparse
import base64
import collections
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "bench/waf"
LEVELS = (1, 2, 3, 4)
ENGINES = ("Tollgate", "ModSecurity", "Coraza")
# What ModSecurity and Coraza need to read what Tollgate's engine reads by itself.
PREAMBLE = r'''
SecRuleEngine {mode}
SecRequestBodyAccess On
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html text/xml application/json application/octet-stream
SecDefaultAction "phase:3,log,auditlog,pass"
SecDefaultAction "phase:4,log,auditlog,pass"
SecDefaultAction "phase:5,log,auditlog,pass"
SecRequestBodyLimit 13107200
SecRequestBodyNoFilesLimit 13107200
SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\+|/)|text/)xml" "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "^application/(?:[a-z0-9.-]+[+])?json" "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
'''
# Those of the project's own runs; see crates/waf/tests/core_rule_set.rs.
TEST_SETTINGS = r'''SecAction "id:900005,phase:1,nolog,pass,\
setvar:tx.detection_paranoia_level=4,setvar:tx.blocking_paranoia_level=4,setvar:tx.crs_validate_utf8_encoding=1,\
setvar:tx.arg_name_length=100,setvar:tx.arg_length=400,setvar:tx.total_arg_length=64000,setvar:tx.max_num_args=255,\
setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535{detection}"
'''
LEVEL_SETTINGS = 'SecAction "id:900005,phase:1,nolog,pass,setvar:tx.detection_paranoia_level={0},setvar:tx.blocking_paranoia_level={0}"\n'
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


def items(count: int) -> str:
    item = '{{"id": {0}, "name": "Item {0}", "price": {0}.50, "note": "by the door"}}'
    return '{"items": [' + ",".join(item.format(n) for n in range(count)) + "]}"


# Name, method, target, content type, body: as in crates/waf/examples/cost.rs.
SAMPLES = (
    ("GET without a query", "GET", "/orders/17", "", ""),
    ("GET with five parameters", "GET", "/orders?page=2&size=50&sort=-created&state=open&q=blue+lamp", "", ""),
    ("POST of a form", "POST", "/orders", FORM, "name=Ada+Lovelace&mail=ada%40example.com&city=London&note=by+the+door"),
    ("POST of 1 KiB of JSON", "POST", "/orders", JSON, items(16)),
    ("POST of 10 KiB of JSON", "POST", "/orders", JSON, items(156)),
    ("an attack", "GET", "/orders?q=1%27%20OR%20%271%27=%271", "", ""),
)


def piece(value: bytes | str | int) -> bytes:
    data = value if isinstance(value, bytes) else str(value).encode()
    return str(len(data)).encode() + b":" + data


def message(method: bytes, target: bytes, protocol: str, headers: Sequence[tuple[bytes, bytes]], body: bytes, status: int,
            answered: Sequence[tuple[bytes, bytes]], answer: bytes) -> bytes:
    parts: list[bytes | str | int] = [method, target, protocol, len(headers), *(part for pair in headers for part in pair)]
    parts += [body, status, len(answered), *(part for pair in answered for part in pair), answer]
    return b"".join(map(piece, parts))


def of_stage(stage: dict) -> bytes:
    data = base64.b64decode
    pairs = lambda name: [(data(key), data(value)) for key, value in stage[name]]
    return message(data(stage["method"]), data(stage["target"]), stage["protocol"], pairs("headers"), data(stage["body"]),
                   stage["status"], pairs("response_headers"), data(stage["response_body"]))


def of_sample(sample: tuple[str, str, str, str, str]) -> bytes:
    _, method, target, content_type, body = sample
    headers = [("Host", "shop.example.com"), ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
               ("Accept", "application/json"), ("Accept-Language", "en-US,en;q=0.5"), ("Cookie", "session=7f3a9c1e5b; theme=dark")]
    if body:
        headers += [("Content-Type", content_type), ("Content-Length", str(len(body)))]
    return message(method.encode(), target.encode(), "HTTP/1.1", [(name.encode(), value.encode()) for name, value in headers], body.encode(), 0, [], b"")


class Engines:
    """The programs, with their rules."""

    def __init__(self, rules: pathlib.Path, programs: dict[str, pathlib.Path], scratch: pathlib.Path) -> None:
        self.rules, self.programs, self.scratch = rules, programs, scratch

    def ask(self, engine: str, settings: str, mode: str, requests: Iterable[bytes], runs: int) -> list[str]:
        preamble, own = self.scratch / "preamble.conf", self.scratch / "settings.conf"
        preamble.write_text(PREAMBLE.format(mode=mode))
        own.write_text(settings)
        program = [str(self.programs[engine])]
        arguments = ["run", self.rules, own, runs] if engine == "Tollgate" else [self.rules, preamble, own, runs]
        done = subprocess.run(program + list(map(str, arguments)), input=b"".join(requests), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit(f"{engine} fails: {done.stderr.decode(errors='replace')[-2000:]}")
        for line in done.stderr.decode(errors="replace").splitlines():
            if line.startswith("not read:") and not runs:
                print(f"{engine}: {pathlib.Path(line.split(': ')[1]).name} is not read")
        return done.stdout.decode(errors="replace").splitlines()

    def cases(self) -> list[dict]:
        told = subprocess.run([self.programs["Tollgate"], "cases", self.rules], stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in told.stdout.splitlines()]


def levels_of_rules(rules: pathlib.Path) -> dict[int, int]:
    """Rules that name no level are in force at each: level 1."""
    levels: dict[int, int] = {}
    for file in sorted((rules / "rules/@owasp_crs").glob("*.conf")):
        text = re.sub(r"(?m)^\s*#.*$", "", file.read_text())
        for block in re.split(r"(?m)^Sec(?:Rule|Action)\b", text)[1:]:
            number = re.search(r"\bid:'?(\d+)", block)
            tag = re.search(r"paranoia-level/(\d)", block)
            if number:
                levels[int(number[1])] = int(tag[1]) if tag else 1
    return levels


def passes(case: dict, found: Sequence[Sequence[list]]) -> bool | None:
    """Whether an engine does what a test says; `None` if the test is about texts of a log that shows values, which engines differ in."""
    is_of_response, judged = case["folder"].startswith("RESPONSE"), False
    for stage, matches in zip(case["stages"], found):
        texts = bool(stage["fits"] or stage["fits_not"])
        if not (stage["expect"] or stage["no_expect"] or (is_of_response and texts)):
            continue
        judged = True
        numbers, messages = {match[0] for match in matches}, [match[1] for match in matches]
        has = lambda expression: any(re.search(expression, text) for text in messages)
        if not set(stage["expect"]) <= numbers or set(stage["no_expect"]) & numbers:
            return False
        if is_of_response and ((stage["fits"] and not has(stage["fits"])) or (stage["fits_not"] and has(stage["fits_not"]))):
            return False
    is_of_values = not is_of_response and any(stage["fits"] or stage["fits_not"] for stage in case["stages"])
    return True if judged and not is_of_values else None


def conformance(engines: Engines, shows_failures: bool) -> None:
    cases, levels = engines.cases(), levels_of_rules(engines.rules)
    requests = [of_stage(stage) for case in cases for stage in case["stages"]]
    counts: dict[tuple[str, bool, int], collections.Counter] = collections.defaultdict(collections.Counter)
    for engine in ENGINES:
        detection = ",ctl:ruleEngine=DetectionOnly" if engine == "Tollgate" else ""
        lines = iter(engines.ask(engine, TEST_SETTINGS.format(detection=detection), "DetectionOnly", requests, 0))
        for case in cases:
            verdict = passes(case, [json.loads(next(lines)) for _ in case["stages"]])
            if verdict is None:
                continue
            is_of_response, level = case["folder"].startswith("RESPONSE"), levels.get(int(case["rule"]), 1)
            counts[engine, is_of_response, level][verdict] += 1
            if shows_failures and not verdict:
                print(f"{engine}: {case['rule']}-{case['number']} fails")
    print(f"\n| tests for rules of | tests | {' | '.join(f'{engine}: fail' for engine in ENGINES)} |\n|---|---|{'---|' * len(ENGINES)}")
    for is_of_response, what in ((False, "requests"), (True, "responses")):
        for level in LEVELS:
            by_engine = [counts[engine, is_of_response, level] for engine in ENGINES]
            if by_engine[0].total():
                print(f"| {what}, level {level} | {by_engine[0].total()} | {' | '.join(str(count[False]) for count in by_engine)} |")


def cost(engines: Engines, rounds: int, runs: int) -> None:
    print("\nCPU time by level: Tollgate in microseconds, the others as multiples of it\n")
    print(f"| request | {' | '.join(f'{engine}, level {level}' for engine in ENGINES for level in LEVELS)} |\n|---|{'---|' * 12}")
    requests = [of_sample(sample) for sample in SAMPLES]
    took: dict[tuple[str, int, int], list[int]] = collections.defaultdict(list)
    for _ in range(rounds):
        for level in LEVELS:
            for engine in ENGINES:
                for index, line in enumerate(engines.ask(engine, LEVEL_SETTINGS.format(level), "On", requests, runs)):
                    took[engine, level, index].append(int(line))
    for index, sample in enumerate(SAMPLES):
        ours = {level: statistics.median(took["Tollgate", level, index]) for level in LEVELS}
        cells = [f"{ours[level] / 1000:.0f}" for level in LEVELS]
        cells += [f"{statistics.median(took[engine, level, index]) / ours[level]:.1f}" for engine in ENGINES[1:] for level in LEVELS]
        print(f"| {sample[0]} | {' | '.join(cells)} |")


def built(target: pathlib.Path, profile: str) -> dict[str, pathlib.Path]:
    subprocess.run(["cargo", "build", "--quiet", "--profile", profile, "-p", "tollgate-waf", "--example", "engine"], cwd=ROOT, check=True)
    others = target / "bench-waf"
    others.mkdir(parents=True, exist_ok=True)
    if not shutil.which("go"):
        raise SystemExit("there is no go, in which Coraza is written")
    subprocess.run(["cc", "-O2", "-o", others / "modsecurity", HERE / "modsecurity.c", "-lmodsecurity"], check=True)
    subprocess.run(["go", "build", "-o", others / "coraza", "."], cwd=HERE / "coraza", check=True)
    return {"Tollgate": target / profile / "examples/engine", "ModSecurity": others / "modsecurity", "Coraza": others / "coraza"}


def versions(rules: pathlib.Path) -> str:
    library = subprocess.run(["pkg-config", "--modversion", "modsecurity"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    module = re.search(r"coraza/v3 v(\S+)", (HERE / "coraza/go.mod").read_text())
    return f"Core Rule Set {(rules / 'installed').read_text().strip()}, ModSecurity {library}, Coraza {module[1] if module else '?'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default="release", help="of Cargo, for Tollgate's engine")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of measurements; 0: only the tests")
    parser.add_argument("--runs", type=int, default=200, help="inspections of each request in a round")
    parser.add_argument("--failures", action="store_true", help="names each test that fails")
    options = parser.parse_args()
    metadata = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    target = pathlib.Path(json.loads(metadata.stdout)["target_directory"])
    rules = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", target)) / "test-core-rule-set"
    if not (rules / "installed").exists():
        raise SystemExit("the Core Rule Set is missing: scripts/test-deps.sh tests")
    print(versions(rules))
    with tempfile.TemporaryDirectory() as scratch:
        engines = Engines(rules, built(target, options.profile), pathlib.Path(scratch))
        conformance(engines, options.failures)
        if options.rounds:
            cost(engines, options.rounds, options.runs)


if __name__ == "__main__":
    main()
