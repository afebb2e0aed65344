#!/usr/bin/env python3
"""What open consoles cost: CPU of a gateway with a little traffic, without and with ten streams, in one run.

Percent of one core, from the process's own times. `--apis` APIs are loaded; `--rate` requests per second go to the first fifty of them.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import socket
import threading
import time

import rig as bench
from rig import Rig, RigError, Tollgate


def main() -> int:
    args = arguments()
    bench.print_circumstances(bench.circumstances(args.binary))
    with Rig() as rig:
        upstream = bench.nginx_upstream(rig)
        apis = [bench.api_definition(f"api{n}", f"/api{n}/", upstream.url("/")) for n in range(args.apis)]
        gateway = bench.tollgate_gateway(rig, args.binary, apis, "/api0/")
        ended = threading.Event()
        traffic = threading.Thread(target=send, args=(gateway, args, ended), daemon=True)
        traffic.start()
        time.sleep(3)
        without = busy(gateway, args.seconds)
        streams = [watch(gateway, ended) for _ in range(args.consoles)]
        # The first samples of streams come at once.
        time.sleep(3)
        watched = busy(gateway, args.seconds)
        ended.set()
        traffic.join()
        print(f"  {len(streams)} consoles, {args.apis} APIs, {args.rate} requests/s, {args.seconds} s each, percent of one core:")
        print(f"  without {without:.2f}  with {watched:.2f}  consoles {watched - without:.2f}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--consoles", type=int, default=10)
    parser.add_argument("--apis", type=int, default=100)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--binary", type=pathlib.Path, default=bench.default_binary())
    return parser.parse_args()


def busy(gateway: Tollgate, seconds: int) -> float:
    def ticks() -> int:
        fields = pathlib.Path(f"/proc/{gateway.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    first, begun = ticks(), time.monotonic()
    time.sleep(seconds)
    return 100 * (ticks() - first) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - begun)


def send(gateway: Tollgate, args: argparse.Namespace, ended: threading.Event) -> None:
    connection, number = socket.create_connection((bench.HOST, gateway.port)), 0
    while not ended.wait(1 / args.rate):
        number += 1
        api = number % min(50, args.apis)
        connection.sendall(f"GET /api{api}/json/valid HTTP/1.1\r\nHost: {bench.HOST}\r\n\r\n".encode())
        if not connection.recv(65536):
            raise RigError("the gateway closed the connection")


def watch(gateway: Tollgate, ended: threading.Event) -> threading.Thread:
    connection = socket.create_connection((bench.HOST, gateway.port))
    connection.sendall(f"GET /tyk/stream?topics=live,changes HTTP/1.1\r\nHost: {bench.HOST}\r\nx-tyk-authorization: {gateway.secret}\r\n\r\n".encode())

    def read() -> None:
        while not ended.is_set() and connection.recv(65536):
            pass

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    bench.run(main)
