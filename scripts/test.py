#!/usr/bin/env python3
"""Runs every test once. A test that fails fails the run; the last lines name those that failed, with the end of what each said and the
command that repeats it, and the programs that took longest.

usage: test.py CARGO_ARGUMENT...        (test.py --workspace --profile quick)
"""

import os
import re
import shlex
import subprocess
import sys
import time

BEGINS = re.compile(r"^\s+(?:Running|Doc-tests) (.+)$")
FAILED = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. FAILED$")
ENDS = re.compile(r"^test result: (ok|FAILED)\..* finished in ([0-9.]+)s$")
# Above what a failed test has printed.
SAYS = re.compile(r"^---- (.+?)(?: stdout)? ----$")
LINES_SHOWN = 30
# Cargo lists the test programs that failed in the order in which they ran.
PROGRAM = re.compile(r"^    `(-p .+)`$")


class Program:
    """A test program that ran: its tests that failed, what they said, whether it ended well, and how many seconds it took."""

    def __init__(self, name):
        self.name, self.failed, self.said, self.passed, self.seconds = name, [], {}, False, 0.0


def main(arguments):
    # Most tests wait, for a process or for time, more than they compute.
    os.environ.setdefault("RUST_TEST_THREADS", str(4 * (os.cpu_count() or 1)))
    command = ["cargo", "test", "--no-fail-fast", *arguments]
    start = time.monotonic()
    programs, selectors, is_ok = run(command)
    longest = sorted(programs, key=lambda program: -program.seconds)[:5]
    print(f"test.py: {time.monotonic() - start:.0f} s, of them", ", ".join(f"{program.name} {program.seconds:.0f} s" for program in longest))
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
            for line in telling(program.said.get(name, [])):
                print(f"      {line}")
    return 1


def telling(said):
    """The lines of a failed test in which it says why: from its panic on, or the last ones."""
    panic = next((index for index, line in enumerate(said) if " panicked at " in line), None)
    return said[-LINES_SHOWN:] if panic is None else said[panic : panic + LINES_SHOWN]


def repeating(arguments, selector, name):
    """The command that runs one test of one program again."""
    kept = [argument for argument in arguments if not (selector and argument == "--workspace")]
    words = ["cargo", "test", *kept, *(selector.split() if selector else [])]
    return shlex.join(words + (["--", "--exact", name] if name else []))


def run(command):
    """Runs a command and shows what it prints: the programs that ran, how Cargo selects those that failed, and whether all went well."""
    programs, selectors, said = [], [], None
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        print(line, end="", flush=True)
        line = line.rstrip("\n")
        if begins := BEGINS.match(line):
            programs.append(Program(begins[1]))
            said = None
        elif program := PROGRAM.match(line):
            selectors.append(program[1])
        elif programs and (test := FAILED.match(line)):
            programs[-1].failed.append(test[1])
        elif programs and (ends := ENDS.match(line)):
            programs[-1].passed, programs[-1].seconds = ends[1] == "ok", float(ends[2])
        elif programs and (says := SAYS.match(line)):
            said = programs[-1].said.setdefault(says[1], [])
        elif line == "failures:":
            said = None
        elif said is not None and line:
            said.append(line)
    return programs, selectors, process.wait() == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
