"""Python's own http.server with the bodies that it leaves to the handler."""

import http.server
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from record import record  # noqa: E402


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body, cut = b"", False
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
        elif length := self.headers.get("Content-Length"):
            body = self.rfile.read(int(length))
            cut = len(body) < int(length)
        if not cut:
            record(self.command, self.path, self.headers.items(), body)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"ok")

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
