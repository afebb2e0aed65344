#!/usr/bin/env python3
"""Prints the store that a program writes, as SQL: store-fixture.py --program TOLLGATE > crates/store/src/embedded/schema/version_N.sql

Run it with the program of a release whose schema has a new version: the tests open the file with every later program. The store has an API, a key with a
quota and a request that used it."""

import argparse
import http.client
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile

URL = re.compile(r"control API at (http://127\.0\.0\.1:(\d+)/tyk/)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True, metavar="TOLLGATE")
    program = parser.parse_args().program.resolve()
    with tempfile.TemporaryDirectory() as folder:
        fill(program, folder)
        database = sqlite3.connect(pathlib.Path(folder, "data/tollgate.db"))
        for pragma in ("application_id", "user_version"):
            print(f"PRAGMA {pragma} = {database.execute(f'PRAGMA {pragma}').fetchone()[0]};")
        sys.stdout.writelines(f"{line}\n" for line in database.iterdump())


def fill(program, folder):
    arguments = [program, "run", "--listen-address", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as gateway:
        url, port = next(found.groups() for line in gateway.stdout if (found := URL.search(line)))
        at = ["--url", url.removesuffix("/tyk/"), "--secret-file", "data/control-secret"]
        run(program, "apis", "add", *at, "--listen-path", "/hello/", "--target", "http://127.0.0.1:9/", cwd=folder)
        key = run(program, "keys", "create", *at, "--api", "hello", "--quota", "1000", "--quiet", cwd=folder)
        connection = http.client.HTTPConnection("127.0.0.1", int(port))
        connection.request("GET", "/hello/", headers={"Authorization": key})
        connection.getresponse().read()
        gateway.send_signal(signal.SIGTERM)


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    main()
