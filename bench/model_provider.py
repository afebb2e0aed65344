"""A provider of language models that follows a script: the model's name says what it does.

It speaks the answers of three APIs, by the path of a request, and does what providers do on bad days. It notes what it was asked, what it has told of
tokens, and whether the other side has left before an answer was over.
"""

from __future__ import annotations

import dataclasses
import http.server
import json
import re
import socket
import threading
import time

KEY = "sk-provider-secret-0123456789"
ARGUMENTS = '{"place":"Bonn"}'
TEXT = "Grüße aus Köln, 你好 😀"
# An answer of a budget's cases, and the time that it takes, so that many are under way at once.
TOKENS, ANSWER_S = 100, 0.5
# How long a stream goes on whose client is expected to leave.
PATIENCE_S = 20.0
LIES = {"negative": -1000, "huge": 10**15, "text": "many", "absent": None}


@dataclasses.dataclass
class Noted:
    """What a provider has seen of one model."""

    bodies: list = dataclasses.field(default_factory=list)
    tokens: int = 0
    left: int = 0


class Provider:
    """A running provider."""

    def __init__(self) -> None:
        self.noted: dict[str, Noted] = {}
        self.lock = threading.Lock()
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                Answer(provider, self, body).run()

            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def of(self, model: str) -> Noted:
        with self.lock:
            return self.noted.setdefault(model, Noted())


class Answer:
    """One request and what is answered."""

    def __init__(self, provider: Provider, handler: http.server.BaseHTTPRequestHandler, body: dict) -> None:
        self.handler, self.body = handler, body
        in_path = re.search(r"/models/([^:]+):(\w+)", handler.path)
        self.api = "gemini" if in_path else "anthropic" if handler.path.endswith("/messages") else "openai"
        self.model = in_path[1] if in_path else body["model"]
        self.streams = "stream" in in_path[2] if in_path else body.get("stream") is True
        self.noted = provider.of(self.model)
        self.noted.bodies.append(body)

    def run(self) -> None:
        act = self.model.split("-", 2)[1:]
        match act:
            case ["status", status]:
                self.fail(int(status))
            case ["html", *_]:
                self.send(502, "text/html", b"<html><body>Bad Gateway</body></html>")
            case ["empty", *_]:
                self.send(500, "application/json", b"")
            case ["reset", *_]:
                self.handler.connection.shutdown(socket.SHUT_RDWR)
                self.handler.close_connection = True
            case ["json", *_]:
                self.send(200, "application/json", b'{"id": "cut')
            case _ if self.streams:
                self.stream(*act)
            case _:
                self.whole(*act)

    def fail(self, status: int) -> None:
        words = f"It is wrong with key {KEY}"
        error = {"error": {"message": words, "type": "some_error", "code": None}}
        if self.api == "anthropic":
            error = {"type": "error", "error": {"type": "some_error", "message": words}}
        elif self.api == "gemini":
            error = {"error": {"code": status, "message": words, "status": "SOME_ERROR"}}
        self.send(status, "application/json", json.dumps(error).encode(), {"Retry-After": "7"} if status == 429 else {})

    def send(self, status: int, kind: str, body: bytes, lines: dict | None = None) -> None:
        self.handler.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": len(body)} | (lines or {})).items():
            self.handler.send_header(name, str(value))
        self.handler.end_headers()
        self.handler.wfile.write(body)

    # What it takes ------------------------------------------------------------------------------------------

    def output_max(self) -> int:
        config = self.body.get("generationConfig", {})
        bounds = [self.body.get("max_tokens"), self.body.get("max_completion_tokens"), config.get("maxOutputTokens"), TOKENS]
        return min(bound for bound in bounds if bound is not None)

    def usage(self, kind: str = "", tokens: int = 3) -> dict | None:
        """What is told. A lie says nothing of what it really took."""
        self.noted.tokens += tokens
        told = LIES.get(kind, tokens)
        if told is None:
            return None
        names = {"openai": ("prompt_tokens", "completion_tokens"), "anthropic": ("input_tokens", "output_tokens")}
        names = names.get(self.api, ("promptTokenCount", "candidatesTokenCount"))
        usage = dict(zip(names, (7, told)))
        if self.api == "openai" and isinstance(told, int):
            usage["total_tokens"] = 7 + told
        return usage

    # Whole answers ------------------------------------------------------------------------------------------

    def whole(self, act: str, *more: str) -> None:
        text, tokens = TEXT, 3
        if act == "budget":
            time.sleep(ANSWER_S)
            tokens = self.output_max()
            text = "word " * tokens
        usage = self.usage(more[0] if more else "", tokens)
        called = act == "tool"
        match self.api:
            case "openai":
                message = {"role": "assistant", "content": text}
                call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
                message |= {"content": None, "tool_calls": [call]} if called else {}
                choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if called else "stop"}
                answer = {"id": "c", "object": "chat.completion", "created": 1, "model": self.model, "choices": [choice], "usage": usage}
            case "anthropic":
                content = {"type": "text", "text": text}
                if called:
                    content = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": json.loads(ARGUMENTS)}
                answer = {"id": "m", "type": "message", "role": "assistant", "model": self.model, "content": [content], "usage": usage}
                answer |= {"stop_reason": "tool_use" if called else "end_turn", "stop_sequence": None}
            case _:
                part = {"functionCall": {"name": "weather", "args": json.loads(ARGUMENTS)}} if called else {"text": text}
                answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]}
                answer |= {"usageMetadata": usage, "modelVersion": self.model}
        if usage is None:
            answer = {name: value for name, value in answer.items() if not name.startswith("usage")}
        self.send(200, "application/json", json.dumps(answer, ensure_ascii=False).encode())

    # Streams ------------------------------------------------------------------------------------------------

    def stream(self, act: str, *more: str) -> None:
        kind = more[0] if more else ""
        self.handler.send_response(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")):
            self.handler.send_header(name, value)
        self.handler.end_headers()
        try:
            self.pieces(act, kind)
        except OSError:
            self.noted.left += 1
            self.handler.close_connection = True

    def pieces(self, act: str, kind: str) -> None:
        self.say(*self.beginning(act))
        if act == "silent":
            return self.chunk(b"")
        if act == "tool":
            self.say(*self.call(ARGUMENTS))
            return self.end("tool")
        if act == "budget":
            count = self.output_max()
            for number in range(count):
                time.sleep(ANSWER_S / count)
                self.say(self.text("word "))
                self.noted.tokens += 1
            self.noted.tokens -= count
            return self.end("stop", kind, count)
        if act == "endless":
            until = time.monotonic() + PATIENCE_S
            while time.monotonic() < until:
                time.sleep(0.02)
                self.say(self.text("word "))
            return self.end("stop")
        texts = ["x" * (2 << 20)] if act == "large" else [TEXT[at : at + 3] for at in range(0, len(TEXT), 3)]
        events = [self.text(text) for text in texts]
        if act == "bytes":
            for byte in self.wire(events):
                self.chunk(bytes([byte]))
        elif act == "lines":
            self.chunk(b": a comment\r\n\r\n" + self.wire(events).replace(b"\n", b"\r\n"))
        else:
            self.say(*events)
        match act:
            case "cut":
                # Half an event, and no end of the body.
                self.chunk(self.wire([self.text("never")])[:20])
                self.handler.wfile.flush()
                self.handler.connection.shutdown(socket.SHUT_RDWR)
                self.handler.close_connection = True
            case "stops":
                self.chunk(b"")
            case "error":
                error = {"message": "Overloaded", "type": "overloaded_error"}
                self.say({"type": "error", "error": error} if self.api == "anthropic" else {"error": error | {"code": 503, "status": "UNAVAILABLE"}})
                self.chunk(b"")
            case _:
                self.end("stop", kind)

    def chunk(self, data: bytes) -> None:
        self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.handler.wfile.flush()

    def say(self, *events: dict) -> None:
        for event in events:
            self.chunk(self.wire([event]))

    def wire(self, events: list[dict]) -> bytes:
        named = (f"event: {event['type']}\n" if self.api == "anthropic" else "" for event in events)
        return "".join(f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n" for name, event in zip(named, events)).encode()

    def choice(self, delta: dict, end: str | None = None) -> dict:
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": self.model, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}

    def candidate(self, part: dict, **more) -> dict:
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0} | more]}

    def beginning(self, act: str) -> list[dict]:
        match self.api:
            case "openai":
                return [self.choice({"role": "assistant", "content": ""})]
            case "anthropic":
                message = {"id": "m", "type": "message", "role": "assistant", "model": self.model, "content": [], "stop_reason": None}
                first = {"type": "message_start", "message": message | {"usage": {"input_tokens": 7, "output_tokens": 1}}}
                text = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
                return [first] if act in ("tool", "silent") else [first, text]
        return []

    def text(self, text: str) -> dict:
        match self.api:
            case "openai":
                return self.choice({"content": text})
            case "anthropic":
                return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        return self.candidate({"text": text})

    def call(self, arguments: str) -> list[dict]:
        halves = arguments[:6], arguments[6:]
        match self.api:
            case "openai":
                first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": halves[0]}}
                return [self.choice({"tool_calls": [call]}) for call in (first, {"index": 0, "function": {"arguments": halves[1]}})]
            case "anthropic":
                block = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": half} for half in halves]
                events = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
                return [{"type": "content_block_start", "index": 0, "content_block": block}, *events]
        return [self.candidate({"functionCall": {"name": "weather", "args": json.loads(arguments)}})]

    def end(self, stop: str, kind: str = "", tokens: int = 3) -> None:
        usage = self.usage(kind, tokens)
        match self.api:
            case "openai":
                self.say(self.choice({}, "tool_calls" if stop == "tool" else "stop"))
                if usage is not None and self.body.get("stream_options", {}).get("include_usage"):
                    self.say(self.choice({}) | {"choices": [], "usage": usage})
                self.chunk(b"data: [DONE]\n\n")
            case "anthropic":
                delta = {"stop_reason": "tool_use" if stop == "tool" else "end_turn", "stop_sequence": None}
                last = {"type": "message_delta", "delta": delta} | ({"usage": usage} if usage is not None else {})
                self.say({"type": "content_block_stop", "index": 0}, last, {"type": "message_stop"})
            case _:
                self.say(self.candidate({"text": ""}, finishReason="STOP") | ({"usageMetadata": usage} if usage is not None else {}))
        self.chunk(b"")
