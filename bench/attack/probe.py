"""Ordinary clients beside an attack, and what they notice of it. They run in a process of their own."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable

from rig import HOST

PROBE_PATH = "/probe/json/valid"
TIMEOUT_SECONDS = 10
KEPT_CONNECTIONS, KEPT_INTERVAL_SECONDS = 4, 0.025
NEW_INTERVAL_SECONDS = 0.05
fork = multiprocessing.get_context("fork")


@dataclasses.dataclass
class Sample:
    """One request of the probe: when it was due, how long after that it was answered, and what was wrong."""

    label: str
    due: float
    seconds: float
    trouble: str


class Probe:
    """Connections that are kept, and new ones, that ask for each of `paths` (by label). Requests have a schedule, and latency counts
    from the moment one was due, so that a stall shows in all that it delayed."""

    def __init__(self, port: int, secure: bool, paths: dict[str, str]):
        self.samples: list[Sample] = []
        self.reading, writing = fork.Pipe(duplex=False)
        self.stop = fork.Event()
        self.tls = ssl._create_unverified_context() if secure else None
        self.process = fork.Process(target=self.ask, args=(port, paths, writing), daemon=True)
        self.process.start()
        writing.close()
        self.drain = threading.Thread(target=self.collect, daemon=True)
        self.drain.start()

    def collect(self) -> None:
        with contextlib.suppress(EOFError):
            while True:
                self.samples.append(Sample(*self.reading.recv()))

    def end(self) -> None:
        self.stop.set()
        self.process.join(TIMEOUT_SECONDS + 2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.drain.join(5)

    def between(self, begin: float, end: float, label: str) -> list[Sample]:
        return [sample for sample in self.samples if sample.label == label and begin <= sample.due < end]

    # What follows runs in the child.

    def ask(self, port: int, paths: dict[str, str], writing) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with contextlib.suppress(OSError):
            os.nice(-10)  # its own waiting for a CPU is no latency of the gateway's
        lock = threading.Lock()

        def report(*sample) -> None:
            with lock:
                writing.send(sample)

        for label, path in paths.items():
            for number in range(KEPT_CONNECTIONS):
                first = KEPT_INTERVAL_SECONDS * number / KEPT_CONNECTIONS
                argv = (label, port, path, True, first, KEPT_INTERVAL_SECONDS, report)
                threading.Thread(target=self.client, args=argv, daemon=True).start()
            argv = (label, port, path, False, 0, NEW_INTERVAL_SECONDS, report)
            threading.Thread(target=self.client, args=argv, daemon=True).start()
        self.stop.wait()
        # What is still under way is a sample too: a request that nobody answered.
        deadline = time.monotonic() + TIMEOUT_SECONDS + 1
        while threading.active_count() > 1 and time.monotonic() < deadline:
            time.sleep(0.02)

    def client(self, label: str, port: int, path: str, kept: bool, first: float, interval: float, report: Callable) -> None:
        head = f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: {'keep-alive' if kept else 'close'}\r\n\r\n".encode()
        due, stream = time.monotonic() + first, None
        while not self.stop.is_set():
            time.sleep(max(0, due - time.monotonic()))
            reused, trouble = stream is not None, ""
            try:
                stream = stream or self.connect(port)
                stream.sendall(head)
                trouble = read_answer(stream)
            except OSError as error:
                trouble = type(error).__name__
            if trouble or not kept:
                if stream:
                    stream.close()
                stream = None
            # A kept connection that was closed between two requests is asked again, as every client does.
            if trouble in ("closed", "ConnectionResetError", "BrokenPipeError") and reused and kept:
                continue
            report(label, due, time.monotonic() - due, trouble)
            due += interval
            if time.monotonic() - due > TIMEOUT_SECONDS:  # so late that nobody would still wait
                due = time.monotonic()

    def connect(self, port: int) -> socket.socket:
        stream = socket.create_connection((HOST, port), timeout=TIMEOUT_SECONDS)
        return self.tls.wrap_socket(stream) if self.tls else stream


def read_answer(stream: socket.socket) -> str:
    """Reads one answer with a Content-Length to its end; what is wrong with it, if anything."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = stream.recv(65536)
        if not more:
            return "closed"
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    if b" 200" not in head[:13]:
        return head[9:12].decode("latin-1")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        more = stream.recv(65536)
        if not more:
            return "cut short"
        body += more
    return ""


# Figures ------------------------------------------------------------------------------------------------------


def clients(idle: list[Sample], attacked: list[Sample], after: list[Sample]) -> dict:
    """Milliseconds of other clients, and how many of their requests went wrong."""
    troubles: dict[str, int] = {}
    for sample in attacked + after:
        if sample.trouble:
            troubles[sample.trouble] = troubles.get(sample.trouble, 0) + 1
    return {
        "idle_p50_ms": percentile(idle, 50) * 1e3,
        "idle_p99_ms": percentile(idle, 99) * 1e3,
        "p50_ms": percentile(attacked, 50) * 1e3,
        "p99_ms": percentile(attacked, 99) * 1e3,
        "requests": len(attacked),
        "failed": sum(troubles.values()),
        "troubles": troubles,
    }


def percentile(samples: list[Sample], percent: float) -> float:
    seconds = sorted(sample.seconds for sample in samples)
    return seconds[min(len(seconds) - 1, int(len(seconds) * percent / 100))] if seconds else 0.0
