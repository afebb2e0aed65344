"""A GraphQL server of the smallest kind, for the example: it answers `books` and `addBook`, whatever fields are asked for, without checking
anything. The gateway in front of it does that. Usage: python3 server.py PORT"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BOOKS = [{"title": "Middlemarch", "pages": 880, "author": {"name": "George Eliot"}}]


class Library(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        query = request["query"]
        data = {"addBook": {"title": request["variables"]["title"]}} if "addBook" in query else {"books": [{"title": "Middlemarch"}]}
        if "author" in query:
            data["books"][0]["author"] = BOOKS[0]["author"]
        body = json.dumps({"data": data}, separators=(",", ":")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Library)
print(f"library on {sys.argv[1]}", flush=True)
server.serve_forever()
