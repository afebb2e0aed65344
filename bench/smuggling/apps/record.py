"""Writes down each request that an application gets, one JSON line each, to the file that RECORD names."""

import json
import os

OUT = os.open(os.environ["RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)


def record(method, target, headers, body):
    """`headers` are pairs of text; a name is written in any case, with `-` or `_`."""
    named = {}
    for name, value in headers:
        named.setdefault(name.lower().replace("_", "-"), []).append(value)
    line = {"method": method, "target": target, "headers": named, "body": body.decode("latin-1")}
    os.write(OUT, (json.dumps(line) + "\n").encode())
