"""An aiohttp application."""

import os
import sys

from aiohttp import web

sys.path.insert(0, os.path.dirname(__file__))
from record import record  # noqa: E402


async def handle(request):
    body = await request.read()
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.raw_headers]
    record(request.method, request.raw_path, headers, body)
    return web.Response(text="ok")


app = web.Application(client_max_size=1 << 20)
app.router.add_route("*", "/{path:.*}", handle)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
