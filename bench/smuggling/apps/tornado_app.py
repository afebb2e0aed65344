"""A Tornado application on its HTTP server alone, without the routes of its web framework."""

import asyncio
import os
import sys

from tornado import httpserver, httputil

sys.path.insert(0, os.path.dirname(__file__))
from record import record  # noqa: E402


def handle(request):
    record(request.method, request.uri, request.headers.get_all(), request.body)
    request.connection.write_headers(httputil.ResponseStartLine("HTTP/1.1", 200, "OK"), httputil.HTTPHeaders({"Content-Length": "2"}))
    request.connection.write(b"ok")
    request.connection.finish()


async def main():
    httpserver.HTTPServer(handle).listen(int(sys.argv[1]), "127.0.0.1")
    await asyncio.Event().wait()


asyncio.run(main())
