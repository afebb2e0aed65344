"""A small client of HTTP/2: one GET after the other on a connection, over TLS or with prior knowledge. It keeps no table of headers and asks its
server for none, so that a status of 200 is one byte (RFC 7541, appendix A)."""

from __future__ import annotations

import socket
import struct

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
REFUSED_STREAM = 7
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class NotProcessed(Exception):
    """The server has not begun to work on the request: it may be sent again (RFC 9113, section 8.7)."""


class Http2Error(OSError):
    """The server breaks off a request."""


class Http2Connection:
    """A connection over a socket on which HTTP/2 has been agreed on."""

    def __init__(self, stream: socket.socket, authority: str, scheme: str):
        self.stream, self.authority, self.scheme = stream, authority, scheme
        self.next_id, self.is_going = 1, False
        # No table of headers, no pushes.
        settings = struct.pack(">HI", 1, 0) + struct.pack(">HI", 2, 0)
        stream.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))

    def get(self, path: str, headers: dict[str, str]) -> int | None:
        """The status of an answer that has arrived as a whole; None if it is not 200. Afterwards `is_going` says whether the server ends the connection."""
        own, self.next_id = self.next_id, self.next_id + 2
        lines = {":method": "GET", ":scheme": self.scheme, ":authority": self.authority, ":path": path, **headers}
        block = b"".join(literal(name.lower(), value) for name, value in lines.items())
        try:
            self.stream.sendall(frame(HEADERS, END_STREAM | END_HEADERS, own, block))
        except OSError as error:
            # What the server has said before it closed tells whether the request counts.
            self.drain(own, error)
        return self.answer(own)

    def drain(self, own: int, error: OSError) -> None:
        try:
            while True:
                kind, _, _, payload = self.read()
                if kind == GOAWAY and own > last_stream(payload):
                    raise NotProcessed from error
        except OSError:
            raise error from None

    def answer(self, own: int) -> int | None:
        status = None
        while True:
            kind, flags, number, payload = self.read()
            if kind == GOAWAY:
                self.is_going = True
                if own > last_stream(payload):
                    raise NotProcessed
            elif number == own and kind == RST_STREAM:
                (code,) = struct.unpack(">I", payload)
                raise NotProcessed if code == REFUSED_STREAM else Http2Error(f"the stream ends with error {code}")
            elif number == own and kind == HEADERS:
                # A change of the table's size may come first.
                block = payload.lstrip(b"\x20")
                status = status or (200 if block[:1] == b"\x88" else -1)
            if number == own and kind in (HEADERS, DATA) and flags & END_STREAM:
                return status if status == 200 else None

    def read(self) -> tuple[int, int, int, bytes]:
        """The next frame. Those about the connection are answered."""
        head = self.take(9)
        length, kind, flags = int.from_bytes(head[:3]), head[3], head[4]
        number, payload = int.from_bytes(head[5:]) & 0x7FFF_FFFF, self.take(length)
        if kind == SETTINGS and not flags & ACK:
            self.stream.sendall(frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            self.stream.sendall(frame(PING, ACK, 0, payload))
        elif kind == DATA and length:
            self.stream.sendall(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", length)))
        return kind, flags, number, payload

    def take(self, length: int) -> bytes:
        taken = b""
        while len(taken) < length:
            more = self.stream.recv(length - len(taken))
            if not more:
                raise Http2Error("the connection ends within a request")
            taken += more
        return taken

    def close(self) -> None:
        self.stream.close()


def frame(kind: int, flags: int, number: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, flags]) + number.to_bytes(4) + payload


def literal(name: str, value: str) -> bytes:
    """A header that no table keeps, without Huffman's code."""
    return b"\x00" + text(name.encode()) + text(value.encode())


def text(value: bytes) -> bytes:
    if len(value) < 127:
        return bytes([len(value)]) + value
    rest, digits = len(value) - 127, b""
    while rest >= 128:
        digits, rest = digits + bytes([rest % 128 | 128]), rest // 128
    return b"\x7f" + digits + bytes([rest]) + value


def last_stream(payload: bytes) -> int:
    return int.from_bytes(payload[:4]) & 0x7FFF_FFFF
