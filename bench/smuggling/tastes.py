"""Differences between servers that no proxy can take away, because the request itself is right."""

from __future__ import annotations

import fnmatch

UNKNOWN_METHOD = "refuses methods that it does not know"
CHARACTERS = "refuses characters in a target that RFC 3986 wants escaped and that most servers take"
UNDERSCORES = "drops names with underscores, since variables cannot tell them from names with dashes"
EXPECTATION = "answers 417 to an expectation that it does not know, which RFC 9110 §10.1.1 allows"

# Which requests, which servers, why.
TASTES: list[tuple[str, str, str]] = [
    *((f"methods/{method} *", server, UNKNOWN_METHOD) for method in ("FOO", "PRI", "foo") for server in ("uvicorn-httptools", "aiohttp", "node")),
    *(("request-lines/[gX]*", server, UNKNOWN_METHOD) for server in ("uvicorn-httptools", "aiohttp", "node")),
    *(("lengths/underscore", server, UNKNOWN_METHOD) for server in ("uvicorn-httptools", "aiohttp", "node")),
    *((requests, server, "refuses methods in small letters") for requests in ("methods/foo *", "request-lines/get *", "lengths/underscore")
      for server in ("gunicorn", "waitress", "cheroot")),
    *((requests, "hypercorn", "turns methods into capital letters") for requests in ("methods/foo *", "request-lines/get *", "lengths/underscore")),
    ("targets/*", "java", CHARACTERS),
    ("targets/*%0d%0a*", "aiohttp", "finds no handler for a path with a line break in it"),
    *((requests, server, UNDERSCORES) for requests in ("field-lines/*X_In*", "hosts/*X_Host*") for server in ("gunicorn", "waitress", "werkzeug")),
    ("field-lines/*", "cheroot", "keeps the last of several lines of one name, counting underscores as dashes"),
    ("field-lines/*X_In*", "java", "lists names in another order"),
    ("hosts/*X-Forwarded-Host*", "waitress", "removes what proxies say about a client unless it is told to trust them"),
    *(("hop-by-hop/Upgrade: websocket*", server, "refuses a WebSocket without its other fields") for server in ("uvicorn-*", "hypercorn")),
    *(("expectations/*", server, EXPECTATION) for server in ("gunicorn", "aiohttp", "node", "go")),
]


def taste(name: str, origin: str) -> str | None:
    """Why a server reads a request otherwise than most others do; `None` when nothing is known about it."""
    found = (why for request, server, why in TASTES if fnmatch.fnmatchcase(name, request) and fnmatch.fnmatchcase(origin, server))
    return next(found, None)
