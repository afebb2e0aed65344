"""An application for ASGI servers."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from record import record  # noqa: E402


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    body = b""
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return
        body += event.get("body", b"")
        if not event.get("more_body"):
            break
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    target = scope["raw_path"].decode("latin-1")
    if scope["query_string"] and "?" not in target:
        target += "?" + scope["query_string"].decode("latin-1")
    record(scope["method"], target, headers, body)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
