"""Runs the conformance suite, shows how it goes, and says what failed."""

import json
import os
import re
import subprocess
import time

from .cluster import GATEWAYS
from .process import Failure

PROFILES = ["GATEWAY-HTTP", "GATEWAY-GRPC", "GATEWAY-TLS", "GATEWAY-TCP", "GATEWAY-UDP"]
GATEWAY_CLASS = "tollgate"
PROJECT = "https://github.com/tollgate-gateway/tollgate"
# The suite asks for one address that a Gateway can have and one that it cannot.
USABLE_ADDRESS = GATEWAYS[0].rsplit(".", 1)[0] + ".200"
UNUSABLE_ADDRESS = "10.99.0.1"
TEST = re.compile(r"^TestConformance/([^/]+)$")
# What a failed assertion says begins here; before it comes what the suite did.
ERROR = re.compile(r"^\s*(Error Trace:|Error:|\S+\.go:\d+: )")


class Results:
    def __init__(self, listed):
        self.listed = listed
        # Each test's outcome: pass, fail or skip; its seconds; and what it and its parts printed.
        self.outcomes, self.seconds, self.output = {}, {}, {}
        self.setup = []

    def failed(self):
        return sorted(name for name, outcome in self.outcomes.items() if outcome == "fail")

    def by_profile(self):
        """(profile, level, passed, failed, skipped) for each that has tests that ran."""
        for profile in PROFILES:
            for level in ("core", "extended"):
                outcomes = [self.outcomes.get(test["name"]) for test in self.listed if test["profiles"].get(profile) == level]
                counts = [outcomes.count(kind) for kind in ("pass", "fail", "skip")]
                if any(counts):
                    yield (profile, level, *counts)


def run(cluster, programs, arguments, say):
    listed = cluster.directory / "tests.json"
    options = [
        *("-test.v=test2json", "-test.run=^TestConformance$", f"-test.timeout={arguments.minutes}m", f"-list={listed}"),
        *(f"-conformance-profiles={','.join(arguments.profile or PROFILES)}", f"-cleanup-base-resources={'false' if arguments.keep else 'true'}"),
        *common_options(arguments),
    ]
    if arguments.features != "declared":
        options.append(f"-features-of={arguments.features}")
    if arguments.run_test:
        options.append(f"-run-test={arguments.run_test}")
    if arguments.report:
        options += [f"-report-output={arguments.report.resolve()}", "-organization=tollgate-gateway", "-project=tollgate", f"-version={arguments.version}"]
        options += [f"-url={PROJECT}", f"-contact={PROJECT}/issues"]
    results = Results([])
    for event in events(cluster, programs, options + arguments.suite_args, arguments.minutes):
        if not results.listed and listed.exists():
            results.listed = json.loads(listed.read_text())
        note(results, event, say)
    return results


def check_rig(cluster, programs, arguments, say):
    """The suite's setup without a gateway, and what the rig gives to tests. Returns whether all is well."""
    failed = []
    for event in events(cluster, programs, ["-test.v=test2json", "-test.run=^TestRig$", "-test.timeout=10m", *common_options(arguments)], 11):
        action, test = event["Action"], event.get("Test")
        if test and action in ("pass", "fail"):
            say(f"{action.upper()} {test} ({event['Elapsed']:.1f} s)")
            failed += [test] if action == "fail" else []
        elif action == "fail":
            failed.append("the program")
    return not failed


def common_options(arguments):
    return [
        *(f"-gateway-class={GATEWAY_CLASS}", f"-usable-address={USABLE_ADDRESS}", f"-unusable-address={UNUSABLE_ADDRESS}"),
        *(["-allow-crds-mismatch"] if arguments.channel == "experimental" else []),
    ]


def events(cluster, programs, options, minutes):
    """What the suite does, as `go tool test2json` tells it; all that it prints is also in suite.log."""
    log = cluster.processes.logs / "suite.log"
    command = ["go", "tool", "test2json", "-t", str(programs / "suite"), *options]
    until = time.monotonic() + 60 * (minutes + 1)
    with open(log, "a") as copy, subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}, start_new_session=True,
    ) as process:
        try:
            for line in process.stdout:
                if not line.startswith("{"):
                    copy.write(line)
                    continue
                event = json.loads(line)
                copy.write(event.get("Output", ""))
                copy.flush()
                yield event
                cluster.processes.check()
                if time.monotonic() > until:
                    raise Failure(f"the suite has not ended within {minutes} minutes")
        finally:
            if process.poll() is None:
                process.kill()


def note(results, event, say):
    action, test = event["Action"], event.get("Test", "")
    name = test.split("/")[1] if "/" in test else None
    if action == "output":
        (results.output.setdefault(name, []) if name else results.setup).append(event["Output"])
        if name is None and "Test Setup: " in event["Output"]:
            say(event["Output"].split("Test Setup: ")[1].strip())
    elif action in ("pass", "fail", "skip") and TEST.match(test):
        results.outcomes[name], results.seconds[name] = action, event["Elapsed"]
        if action != "skip":
            say(f"{action.upper()} {name} ({event['Elapsed']:.1f} s)")
            for line in reasons(results.output.get(name, []))[:6] if action == "fail" else []:
                say("       " + line)
    elif action == "fail" and test == "TestConformance" and not results.outcomes:
        say("the suite's setup failed:")
        for line in reasons(results.setup)[:20]:
            say("       " + line)


def reasons(output):
    """What a test says of its failure: its assertions' errors, or else its last lines."""
    lines = [line.rstrip() for line in "".join(output).splitlines() if line.strip()]
    found = []
    for i, line in enumerate(lines):
        if line.strip().startswith("Error:") or "fail" in line.lower() and ".go:" in line:
            text = line.strip().removeprefix("Error:").strip()
            if text not in found:
                found.append(text)
                # An assertion's text goes on in indented lines.
                found += [more.strip() for more in lines[i + 1 : i + 4] if more.startswith(" " * 12) and not re.match(r"\s*(Test|Messages):", more)]
    messages = [line.strip() for line in lines if line.strip().startswith("Messages:")]
    return (found + messages) or [line.strip() for line in lines[-8:]]


def summary(results):
    for profile, level, passed, failed, skipped in results.by_profile():
        yield f"{profile:14} {level:9} {passed:4} passed {failed:4} failed {skipped:4} skipped"


def failures_as_markdown(results, log):
    """For those who mend them: each test that failed, with what it said."""
    yield f"# Failing conformance tests ({time.strftime('%H:%M')})"
    yield ""
    yield from (f"    {line}" for line in summary(results))
    yield ""
    for name in results.failed():
        profiles = next((test["profiles"] for test in results.listed if test["name"] == name), {})
        yield f"## {name} ({', '.join(f'{profile} {level}' for profile, level in profiles.items())})"
        yield from (f"    {line[:400]}" for line in reasons(results.output.get(name, []))[:20])
        yield ""
    yield f"All that the suite printed: {log}"
