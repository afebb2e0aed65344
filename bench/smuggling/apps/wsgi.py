"""An application for WSGI servers."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from record import record  # noqa: E402


def app(environ, start_response):
    length = environ.get("CONTENT_LENGTH")
    stream = environ["wsgi.input"]
    if length:
        body = stream.read(int(length))
        cut = len(body) < int(length)
    else:
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ or environ.get("wsgi.input_terminated")
        body, cut = stream.read() if is_chunked else b"", False
    if not cut:
        headers = [(name[5:], value) for name, value in environ.items() if name.startswith("HTTP_")]
        target = environ.get("RAW_URI") or environ.get("REQUEST_URI")
        record(environ["REQUEST_METHOD"], target, headers, body)
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


def main():
    kind, port = sys.argv[1], int(sys.argv[2])
    if kind == "waitress":
        import waitress

        waitress.serve(app, listen=f"127.0.0.1:{port}", threads=4)
    elif kind == "cheroot":
        from cheroot.wsgi import Server

        Server(("127.0.0.1", port), app).start()
    elif kind == "werkzeug":
        from werkzeug.serving import WSGIRequestHandler, run_simple

        WSGIRequestHandler.protocol_version = "HTTP/1.1"
        run_simple("127.0.0.1", port, app, threaded=True)


if __name__ == "__main__":
    main()
