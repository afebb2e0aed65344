"""Clients that mean harm: many connections at once which send without end, or hardly at all, or do not read."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import selectors
import socket
import time
from collections.abc import Callable, Iterator

from rig import HOST

READ_BYTES = 1 << 20
# All connections of a flood share an attacker's line of 160 Mbit/s, so that every gateway gets the same to do.
LINE_BYTES_PER_SECOND = 20 * 2**20
PIECE_BYTES = 65536
CONNECT_SECONDS_MAX = 10
ACCEPT_SECONDS = 5
BETWEEN_CONNECTIONS_SECONDS = 0.005  # so that the upstream's queue of connections does not overflow


@dataclasses.dataclass
class Peer:
    """One connection of an attack. `blocks` is what it still sends."""

    stream: socket.socket
    blocks: Iterator[bytes]
    pending: memoryview = memoryview(b"")
    ended: bool = False


def connect(port: int, receive_bytes: int = 0) -> socket.socket:
    stream = socket.socket()
    if receive_bytes:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    stream.settimeout(CONNECT_SECONDS_MAX)
    stream.connect((HOST, port))
    stream.setblocking(False)
    return stream


def flood(port: int, seconds: float, connections: int, blocks: Callable[[], Iterator[bytes]], again: bool = False) -> dict:
    """Each connection sends its blocks as fast as the line and the gateway take them, and reads and forgets what comes. Where the
    gateway closes one it stays closed, or is opened `again`."""
    selector = selectors.DefaultSelector()
    began = time.monotonic()
    deadline = began + seconds
    sent = received = closed = refused = 0
    buffer = bytearray(READ_BYTES)

    def open_one() -> None:
        nonlocal refused
        try:
            selector.register(stream := connect(port), selectors.EVENT_READ | selectors.EVENT_WRITE, Peer(stream, blocks()))
        except OSError:
            refused += 1

    for _ in range(connections):
        open_one()
    while (now := time.monotonic()) < deadline:
        if not selector.get_map():
            if not again:
                break
            time.sleep(0.01)
            open_one()
        budget = (now - began + 0.01) * LINE_BYTES_PER_SECOND
        if sent > budget:
            time.sleep(0.002)
        for key, events in selector.select(min(0.1, deadline - now)):
            peer, stream = key.data, key.fileobj
            try:
                if events & selectors.EVENT_READ:
                    count = stream.recv_into(buffer)
                    received += count
                    if not count:
                        raise ConnectionResetError
                if events & selectors.EVENT_WRITE and sent <= budget:
                    if not peer.pending:
                        peer.pending = memoryview(next(peer.blocks, b""))
                        if not peer.pending:
                            selector.modify(stream, selectors.EVENT_READ, peer)
                            continue
                    count = stream.send(peer.pending[:PIECE_BYTES])
                    peer.pending = peer.pending[count:]
                    sent += count
            except BlockingIOError:
                pass
            except OSError:
                closed += 1
                selector.unregister(stream)
                stream.close()
                if again:
                    open_one()
    still_open = len(selector.get_map())
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    selector.close()
    # Every gateway is watched for as long, whether or not it got rid of the attack.
    time.sleep(max(0, deadline - time.monotonic()))
    return {"sent_mib": sent / 2**20, "received_mib": received / 2**20, "closed": closed, "open": still_open, "refused": refused}


def drip(
    port: int, seconds: float, connections: int, opening: bytes, drop: bytes = b"", read_bytes: int = 0, interval: float = 1
) -> dict:
    """Connections that stay: each sends `opening`, then `drop` each `interval`, and takes `read_bytes` each `interval`. How many the
    gateway still holds is what the system says of its sockets, since a client that does not read learns nothing."""
    began = time.monotonic()
    settled = False
    shed_after: list[float] = []
    with contextlib.ExitStack() as stack:
        streams = []
        for _ in range(connections):
            streams.append(stack.enter_context(connect(port, receive_bytes=4096 if read_bytes else 0)))
            send(streams[-1], opening)
            time.sleep(BETWEEN_CONNECTIONS_SECONDS)
        ports = {stream.getsockname()[1] for stream in streams}
        while (now := time.monotonic() - began) < seconds:
            left = held(port, ports)
            settled = settled or left == connections or now > ACCEPT_SECONDS
            if not settled:
                left = connections  # those that wait to be accepted are nobody's yet either
            shed_after += [now] * (connections - left - len(shed_after))
            if not left:
                break
            for stream in streams:
                if drop:
                    send(stream, drop)
                if read_bytes:
                    with contextlib.suppress(OSError):
                        stream.recv(read_bytes)
            time.sleep(max(0, interval - (time.monotonic() - began - now)))
    first, last = (shed_after[0], shed_after[-1]) if shed_after else (None, None)
    return {"clients": connections, "shed": len(shed_after), "first_after_seconds": first, "last_after_seconds": last}


def send(stream: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        stream.send(data)


def held(port: int, clients: set[int]) -> int:
    """How many connections of these client ports a process still has on the server's side. One that its process has closed has no
    inode, even while the kernel waits for a client that does not read."""
    found = set()  # the table is not read at one moment: a line may come twice
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote, inode = fields[1], fields[2], fields[9]
        if inode != "0" and int(local.split(":")[1], 16) == port and int(remote.split(":")[1], 16) in clients:
            found.add(remote)
    return len(found)
