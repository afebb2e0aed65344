"""HTTP/2 by hand, as far as attacks and a plain client need it: frames, header blocks without a table, and one connection that keeps
to the windows it is given. RFC 9113 and 7541."""

from __future__ import annotations

import socket
import struct

from rig import HOST

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
ACK = END_STREAM = 1
END_HEADERS = 4
INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS = 4, 3
WINDOW_BYTES = 65535
FRAME_BYTES_MAX = 16384


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return struct.pack(">HBBBI", len(payload) >> 8, len(payload) & 255, kind, flags, stream) + payload


def settings(values: dict[int, int] | None = None) -> bytes:
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in (values or {}).items()))


def opening(values: dict[int, int] | None = None) -> bytes:
    return PREFACE + settings(values)


def integer(value: int, prefix_bits: int, first: int = 0) -> bytes:
    """RFC 7541 §5.1."""
    most = (1 << prefix_bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def text(value: str) -> bytes:
    return integer(len(value), 7) + value.encode()


def field(name: str, value: str) -> bytes:
    """A literal that enters no table."""
    return b"\x00" + text(name) + text(value)


def request_block(path: str, method: str = "GET") -> bytes:
    """:method, :scheme http, :path, :authority."""
    return {"GET": b"\x82", "POST": b"\x83"}[method] + b"\x86" + b"\x04" + text(path) + b"\x01" + text(HOST)


def request(stream: int, path: str, method: str = "GET", end: bool = True) -> bytes:
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, request_block(path, method))


class Connection:
    """A well-behaved client. It has one request under way at a time."""

    def __init__(self, port: int, timeout: float = 30):
        self.stream = socket.create_connection((HOST, port), timeout=timeout)
        self.stream.sendall(opening())
        self.buffer = b""
        self.initial_window = self.window = WINDOW_BYTES
        self.next_id = 1

    def get(self, path: str) -> tuple[int, bytes]:
        number = self.open(request, path)
        return self.answer(number)

    def post_in_pieces(self, path: str, piece: bytes, count: int) -> tuple[int, bytes]:
        """Sends `count` DATA frames of one piece each, as far as windows allow."""
        number = self.open(request, path, "POST", False)
        one, sent = frame(DATA, 0, number, piece), 0
        stream_window = [self.initial_window]
        while sent < count:
            fits = min(count - sent, min(self.window, stream_window[0]) // len(piece))
            if not fits:
                done = self.read_frame(number, stream_window)
                if done is not None:
                    return done, b"answered before the body's end"
                continue
            self.stream.sendall(one * fits)
            sent += fits
            self.window -= fits * len(piece)
            stream_window[0] -= fits * len(piece)
        self.stream.sendall(frame(DATA, END_STREAM, number))
        return self.answer(number)

    def open(self, make, *arguments) -> int:
        number, self.next_id = self.next_id, self.next_id + 2
        self.stream.sendall(make(number, *arguments))
        return number

    def answer(self, number: int) -> tuple[int, bytes]:
        """Status and body; status 0 when the stream or the connection was ended."""
        self.status, self.body, self.complete = 0, b"", False
        while not self.complete:
            if self.read_frame(number, [0]) is not None:
                break
        return self.status, self.body

    def read_frame(self, number: int, stream_window: list[int]) -> int | None:
        """Handles one frame; 0 when it ended this stream before its answer."""
        head = self.take(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        stream, payload = int.from_bytes(head[5:], "big") & 0x7FFFFFFF, self.take(length)
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, length, 6):
                name, value = struct.unpack(">HI", payload[at : at + 6])
                if name == INITIAL_WINDOW_SIZE:
                    stream_window[0] += value - self.initial_window
                    self.initial_window = value
            self.stream.sendall(frame(SETTINGS, ACK))
        elif kind == PING and not flags & ACK:
            self.stream.sendall(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if stream == 0:
                self.window += more
            elif stream == number:
                stream_window[0] += more
        elif kind == GOAWAY or (kind == RST_STREAM and stream == number):
            return 0
        elif stream == number and kind in (HEADERS, DATA):
            if kind == HEADERS:
                self.status = 200 if b"\x88" in payload[:3] else 500
            else:
                self.body += payload
                if payload:
                    self.stream.sendall(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload))))
            self.complete = bool(flags & END_STREAM)
        return None

    def take(self, count: int) -> bytes:
        while len(self.buffer) < count:
            more = self.stream.recv(65536)
            if not more:
                raise ConnectionResetError("the gateway closed the connection")
            self.buffer += more
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken
