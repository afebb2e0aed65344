#!/usr/bin/env python3
"""Runs every test once. A test that fails fails the run; the last lines name those that failed, with the command that repeats each.

usage: test.py CARGO_ARGUMENT...        (test.py --workspace --profile quick)
"""

import os
import re
import shlex
import subprocess
import sys

BEGINS = re.compile(r"^\s+(?:Running|Doc-tests) (.+)$")
FAILED = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. FAILED$")
PASSED = re.compile(r"^test result: ok\.")
# Cargo lists the test programs that failed in the order in which they ran.
PROGRAM = re.compile(r"^    `(-p .+)`$")


class Program:
    """A test program that ran: its tests that failed, and whether it ended well."""

    def __init__(self, name):
        self.name, self.failed, self.passed = name, [], False


def main(arguments):
    # Most tests wait, for a process or for time, more than they compute.
    os.environ.setdefault("RUST_TEST_THREADS", str(4 * (os.cpu_count() or 1)))
    command = ["cargo", "test", "--no-fail-fast", *arguments]
    programs, selectors, is_ok = run(command)
    if is_ok:
        return 0
    bad = [program for program in programs if not program.passed]
    if not bad:
        print("test.py: the tests could not be built or run", file=sys.stderr)
        return 1
    print("\ntest.py: these tests failed:")
    same = selectors if len(selectors) == len(bad) else [None] * len(bad)
    for program, selector in zip(bad, same):
        for name in program.failed or [None]:
            print(f"  {name or 'the whole program ' + program.name}\n    {repeating(arguments, selector, name)}")
    return 1


def repeating(arguments, selector, name):
    """The command that runs one test of one program again."""
    kept = [argument for argument in arguments if not (selector and argument == "--workspace")]
    words = ["cargo", "test", *kept, *(selector.split() if selector else [])]
    return shlex.join(words + (["--", "--exact", name] if name else []))


def run(command):
    """Runs a command and shows what it prints: the programs that ran, how Cargo selects those that failed, and whether all went well."""
    programs, selectors = [], []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        print(line, end="", flush=True)
        line = line.rstrip("\n")
        if begins := BEGINS.match(line):
            programs.append(Program(begins[1]))
        elif program := PROGRAM.match(line):
            selectors.append(program[1])
        elif programs and (test := FAILED.match(line)):
            programs[-1].failed.append(test[1])
        elif programs and PASSED.match(line):
            programs[-1].passed = True
    return programs, selectors, process.wait() == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
