"""Just enough of RFC 6455 for a benchmark: a client that sends short text frames, on asyncio.

No fragmentation, no extensions, payloads under 126 bytes.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os

OPCODE_TEXT = 0x1
OPCODE_CLOSE = 0x8
FINAL = 0x80
MASKED = 0x80
PAYLOAD_MAX = 125

# RFC 6455, section 1.3.
ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class WebSocketError(Exception):
    """The peer broke the protocol or is gone."""


def accept_key(key: str) -> str:
    return base64.b64encode(hashlib.sha1((key + ACCEPT_SUFFIX).encode()).digest()).decode()


async def read_head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]]:
    """The first line, and the headers by lower-case name."""
    text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = text.strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return first, {name.lower(): value.strip() for name, _, value in pairs}


async def read_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    first, second = await reader.readexactly(2)
    length = second & 0x7F
    if not first & FINAL or length > PAYLOAD_MAX:
        raise WebSocketError("a frame that this benchmark never sends")
    if second & MASKED:
        raise WebSocketError("a server must not mask")
    return first & 0x0F, await reader.readexactly(length)


def frame(opcode: int, payload: bytes) -> bytes:
    """A client must mask (section 5.1)."""
    assert len(payload) <= PAYLOAD_MAX
    mask = os.urandom(4)
    hidden = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
    return bytes([FINAL | opcode, MASKED | len(payload)]) + mask + hidden


class Client:
    """One open WebSocket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, host: str, port: int, path: str) -> Client:
        reader, writer = await asyncio.open_connection(host, port)
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        status, headers = await read_head(reader)
        if " 101 " not in f"{status} " or headers.get("sec-websocket-accept") != accept_key(key):
            writer.close()
            raise WebSocketError(f"no upgrade: {status}")
        return cls(reader, writer)

    async def echo(self, payload: bytes, timeout: float) -> None:
        """Sends a frame and awaits the same payload."""
        self.writer.write(frame(OPCODE_TEXT, payload))
        async with asyncio.timeout(timeout):
            await self.writer.drain()
            opcode, answer = await read_frame(self.reader)
        if (opcode, answer) != (OPCODE_TEXT, payload):
            raise WebSocketError(f"sent {payload!r}, got {answer!r} (opcode {opcode})")

    async def close(self, timeout: float) -> None:
        """The closing handshake: the peer must send the close frame back."""
        self.writer.write(frame(OPCODE_CLOSE, (1000).to_bytes(2, "big")))
        try:
            async with asyncio.timeout(timeout):
                opcode, _ = await read_frame(self.reader)
        finally:
            self.writer.close()
        if opcode != OPCODE_CLOSE:
            raise WebSocketError(f"opcode {opcode} instead of a close")
