#!/usr/bin/env python3
"""Runs every test, then once more those that failed, one after the other.

usage: test.py CARGO_ARGUMENT...        (test.py --workspace --profile quick)

Hundreds of tests start servers and clients of their own on as many cores as there are, and some depend on how soon the system runs a
process. A test that fails beside the others and passes alone does not fail the run, but the last lines name it as unsteady. A test that
fails twice fails the run, and so do more failures than RERUN_MAX.
"""

import re
import subprocess
import sys

RERUN_MAX = 6
FAILED = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. FAILED$")


def main(arguments):
    failed, is_ok = run(["cargo", "test", "--no-fail-fast", *arguments])
    if is_ok:
        return 0
    if not failed:
        print("test.py: the tests could not be built or run", file=sys.stderr)
        return 1
    if len(failed) > RERUN_MAX:
        print(f"test.py: {len(failed)} tests failed: {' '.join(failed)}", file=sys.stderr)
        return 1
    print(f"\ntest.py: once more, alone: {' '.join(failed)}", flush=True)
    again, is_ok = run(["cargo", "test", "--no-fail-fast", *arguments, "--", "--exact", *failed, "--test-threads=1"])
    for name in failed:
        print(f"test.py: {'FAILED twice' if name in again else 'unsteady: failed beside the others, passed alone'}: {name}")
    return 0 if is_ok else 1


def run(command):
    """Runs a command and shows what it prints: the tests that failed, and whether the command succeeded."""
    failed = []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        print(line, end="", flush=True)
        if test := FAILED.match(line):
            failed.append(test[1])
    return failed, process.wait() == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
