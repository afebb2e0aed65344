#!/usr/bin/env python3
"""Tests single sign-on with Keycloak: operators in the console and with commands, developers in the portal. Everything runs on loopback, and ends
with this program. Prints a line for each case."""

import argparse
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from rig import build, keycloak, sign_in_cases
from rig.browser import Browser
from rig.process import Failure, Processes
from rig.single_sign_on import SingleSignOn

MINUTES_MAX = 30


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the tollgate to test")
    parser.add_argument("--only", metavar="WORD", default="", help="run only the cases with this in their name")
    arguments = parser.parse_args()
    cases = [case for case in sign_in_cases.CASES if arguments.only in case.__name__]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, overdue)
    signal.alarm(MINUTES_MAX * 60)
    home = pathlib.Path(tempfile.mkdtemp(prefix="tollgate-keycloak-"))
    processes = Processes(home)
    try:
        failed = run(arguments.binary.resolve(), cases, home, processes)
    except (Failure, subprocess.SubprocessError) as failure:
        print(f"keycloak: {failure}", file=sys.stderr)
        failed = 1
    except KeyboardInterrupt:
        return 130
    finally:
        processes.end()
    if failed:
        print(f"the logs are in {home}")
        return 1
    # The browser's helpers may still be ending.
    shutil.rmtree(home, ignore_errors=True)
    return 0


def overdue(*_):
    sys.exit(f"keycloak: not done within {MINUTES_MAX} minutes")


def run(binary, cases, home, processes):
    folder = keycloak.installed(build.cache(), say)
    say(f"starting Keycloak {keycloak.VERSION}")
    provider = keycloak.Keycloak.start(folder, processes, home)
    rig = SingleSignOn(provider, Browser(processes, home / "profile"), processes, binary, home)
    rig.prepare()
    failed = 0
    for case in cases:
        name, begun = case.__name__.replace("_", " "), time.monotonic()
        try:
            case(rig)
            print(f"ok      {name} ({time.monotonic() - begun:.0f} s)", flush=True)
        # An answer that has not the form that a case expects fails this case alone.
        except Exception as failure:
            failed += 1
            print(f"FAILED  {name}: {type(failure).__name__}: {failure}", flush=True)
        rig.browser.close_tabs()
    print(f"{len(cases) - failed} passed, {failed} failed, with Keycloak {keycloak.VERSION}")
    return failed


def say(text):
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
