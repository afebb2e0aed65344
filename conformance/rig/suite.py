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
# testify writes what an assertion says as a table; the suite's log lines have a place and a time.
ASSERTION = re.compile(r"^\s+\t(Error Trace:|Error:|Test:|Messages:|)\s+\t(.*)$")
LOGGED = re.compile(r"^\s+\w+\.go:\d+: (?:\d{4}-\S+Z: )?(.*)$")


class Results:
    def __init__(self, profiles):
        self.profiles, self.listed = profiles, []
        # Of each test: pass, fail or skip, and its seconds.
        self.outcomes, self.seconds = {}, {}
        # Of tests and their parts, by path: what each printed, and which failed.
        self.output, self.failed_parts = {}, []

    def failed(self):
        return sorted(name for name, outcome in self.outcomes.items() if outcome == "fail")

    def by_profile(self):
        """(profile, level, passed, failed, skipped) for each that has tests that ran."""
        for profile in self.profiles:
            for level in ("core", "extended"):
                outcomes = [self.outcomes.get(test["name"]) for test in self.listed if test["profiles"].get(profile) == level]
                counts = [outcomes.count(kind) for kind in ("pass", "fail", "skip")]
                if any(counts):
                    yield (profile, level, *counts)


def run(cluster, programs, arguments, say):
    listed = cluster.directory / "tests.json"
    profiles = arguments.profile or PROFILES
    options = [
        *("-test.v=test2json", "-test.run=^TestConformance$", f"-test.timeout={arguments.minutes}m", f"-list={listed}"),
        # Tests that may run beside others mostly wait.
        "-test.parallel=4",
        *(f"-conformance-profiles={','.join(profiles)}", f"-cleanup-base-resources={'false' if arguments.keep else 'true'}"),
        *common_options(),
    ]
    if arguments.features != "declared":
        options.append(f"-features-of={arguments.features}")
    if arguments.patience:
        options.append(f"-patience={arguments.patience}s")
    if arguments.lenient:
        options.append("-lenient")
    if arguments.run_test:
        options.append(f"-run-test={arguments.run_test}")
    if arguments.report:
        options += [f"-report-output={arguments.report.resolve()}", "-organization=tollgate-gateway", "-project=tollgate", f"-version={arguments.version}"]
        options += [f"-url={PROJECT}", f"-contact={PROJECT}/issues"]
    results = Results(profiles)
    for event in events(cluster, programs, options + arguments.suite_args, arguments.minutes):
        if not results.listed and listed.exists():
            results.listed = json.loads(listed.read_text())
        note(results, event, say)
    return results


def check_rig(cluster, programs, say):
    """The suite's setup without a gateway, and what the rig gives to tests. Returns whether all is well."""
    failed = []
    for event in events(cluster, programs, ["-test.v=test2json", "-test.run=^TestRig$", "-test.timeout=10m", *common_options()], 11):
        action, test = event["Action"], event.get("Test")
        if test and action in ("pass", "fail"):
            say(f"{action.upper()} {test} ({event['Elapsed']:.1f} s)")
            failed += [test] if action == "fail" else []
        elif action == "fail":
            failed.append("the program")
    return not failed


def common_options():
    return [f"-gateway-class={GATEWAY_CLASS}", f"-usable-address={USABLE_ADDRESS}", f"-unusable-address={UNUSABLE_ADDRESS}"]


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
    action, test = event["Action"], event.get("Test", "").removeprefix("TestConformance").removeprefix("/")
    if action == "output":
        results.output.setdefault(test, []).append(event["Output"])
        if "Test Setup: " in event["Output"]:
            say(event["Output"].split("Test Setup: ")[1].strip())
    elif action == "fail":
        results.failed_parts.append(test)
    if action not in ("pass", "fail", "skip") or "Test" not in event:
        return
    if test and "/" not in test:
        results.outcomes[test], results.seconds[test] = action, event["Elapsed"]
        if action != "skip":
            say(f"{action.upper()} {test} ({event['Elapsed']:.1f} s)")
    elif not test and not results.outcomes:
        say("the suite's setup failed")
    else:
        return
    if action == "fail":
        for line in explain(results, test)[:8]:
            say("         " + line)


def explain(results, test):
    """Why a test failed: what those of its parts say that failed and have no part that failed."""
    failed = [part for part in results.failed_parts if part == test or part.startswith(test + "/") or not test]
    lines = []
    for part in failed:
        if not any(other.startswith(part + "/") for other in failed):
            if part != test:
                lines.append(part.removeprefix(test + "/") + ":")
            lines += reasons("".join(results.output.get(part, [])))
    return lines


def reasons(output):
    """The errors of assertions and their messages; before them the last lines of the log, which say what was seen instead."""
    errors, log, key = [], [], ""
    for line in output.splitlines():
        if assertion := ASSERTION.match(line):
            key = assertion[1] or key
            if key in ("Error:", "Messages:") and assertion[2].strip():
                errors.append(assertion[2].strip())
        elif logged := LOGGED.match(line):
            key = ""
            # After an error come the lines of the cleanup.
            if not errors and logged[1] and logged[1] not in log:
                log.append(logged[1])
    return log[-3:] + errors


def summary(results):
    for profile, level, passed, failed, skipped in results.by_profile():
        yield f"{profile:14} {level:9} {passed:4} passed {failed:4} failed {skipped:4} skipped"
    outcomes = list(results.outcomes.values())
    yield f"{'all tests':24} {outcomes.count('pass'):4} passed {outcomes.count('fail'):4} failed {outcomes.count('skip'):4} skipped"


def failures_as_markdown(results, log):
    """For those who mend them: each test that failed, with what it said."""
    yield f"# Failing conformance tests ({time.strftime('%H:%M')})"
    yield ""
    yield from (f"    {line}" for line in summary(results))
    yield ""
    for name in results.failed():
        profiles = next((test["profiles"] for test in results.listed if test["name"] == name), {})
        yield f"## {name} ({', '.join(f'{profile} {level}' for profile, level in profiles.items())})"
        yield from (f"    {line[:400]}" for line in explain(results, name)[:40])
        yield ""
    yield f"All that the suite printed: {log}"
