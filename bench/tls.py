#!/usr/bin/env python3
"""CPU time of Tollgate beside nginx and HAProxy where clients speak TLS and HTTP/2, in one interleaved run on loopback.

Every gateway shows the same certificate, and clients offer one version, one cipher and one group for the key exchange, so that all of
them compute the same. Handshakes are full ones: each is made by `openssl s_time -new`, which never offers a session again. The tickets
that gateways give out at their end are left as they are by default, which is two for each of the three.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import subprocess
import time
from collections.abc import Callable

import peers
import rig as bench
from peers import REFERENCES, median, ratio, spread, trouble
from rig import Certificate, Load, Rig, Server

PATH = "/json/valid"
CIPHER = "TLS_AES_128_GCM_SHA256"
GROUP = "X25519"
# What every client of OpenSSL's offers. Not all of the loaders have options for it.
CLIENT = f"""openssl_conf = conf
[conf]
ssl_conf = ssl
[ssl]
system_default = client
[client]
MinProtocol = TLSv1.3
Ciphersuites = {CIPHER}
Groups = {GROUP}
"""
SERVER_CIPHERS = f"ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites {CIPHER}; ssl_ecdh_curve {GROUP};"


@dataclasses.dataclass
class Shape:
    """A kind of load. `secure` is with TLS, `target` the most that the ratio to nginx is to be."""

    title: str
    secure: bool
    load: Callable[[Rig, str, argparse.Namespace, float], Load]
    target: float | None
    unit: str = "request"


def main() -> int:
    args = arguments()
    if args.nice:
        os.nice(args.nice)
    bench.raise_open_files(4096)
    facts = bench.circumstances(args.binary if "tollgate" in args.gateways else None)
    facts |= {"tls": f"TLS 1.3, {CIPHER}, {GROUP}, {args.certificate} certificate"}
    bench.print_circumstances(facts)
    shapes = []
    with Rig(args.threads) as rig:
        os.environ["OPENSSL_CONF"] = str(rig.file("openssl-client.cnf", CLIENT))
        upstream = bench.nginx_upstream(rig)
        certificate = bench.certificate(rig, args.certificate)
        started: dict[bool, list[Server]] = {}
        for name in args.shapes:
            shape = SHAPES[name]
            if shape.secure not in started:
                ways = (start_gateway(rig, gateway, upstream, certificate if shape.secure else None, args) for gateway in args.gateways)
                started[shape.secure] = list(ways)
            rounds = measure(rig, started[shape.secure], shape, args)
            shapes.append({"shape": name, "rounds": rounds})
            print_shape(shape, rounds, args)
    if args.json:
        settings = {name: getattr(args, name) for name in ("rounds", "seconds", "threads", "conns", "nice", "certificate")}
        args.json.write_text(json.dumps({"run": facts, "settings": settings, "shapes": shapes}, indent=1) + "\n")
        print(f"\nraw data: {args.json}")
    return 1 if any(trouble(shape["rounds"], name) for shape in shapes for name in args.gateways) else 0


def arguments() -> argparse.Namespace:
    parser = bench.argument_parser(__doc__, rounds=6, seconds=2)
    parser.add_argument("--shapes", type=peers.names(SHAPES), default=list(SHAPES), help=",".join(SHAPES))
    parser.add_argument("--gateways", "--only", type=peers.names(("tollgate", *REFERENCES)), default=["tollgate", *REFERENCES])
    parser.add_argument("--certificate", choices=("ecdsa", "rsa"), default="ecdsa", help="P-256, or 2048 bits")
    parser.add_argument("--nice", type=int, default=0, help="for everything that is started; below 0 needs root")
    return parser.parse_args()


# Gateways ---------------------------------------------------------------------------------------------------


def start_gateway(rig: Rig, name: str, upstream: Server, certificate: Certificate | None, args: argparse.Namespace) -> Server:
    """One that speaks HTTP/2, and HTTP/1.1 too where there is a certificate; its name in the figures is `name`."""
    label = name if certificate else f"{name}-h2c"
    scheme = "https" if certificate else "http"
    if name == "nginx":
        listen = "ssl http2" if certificate else "http2"
        more = f"ssl_certificate {certificate.file}; ssl_certificate_key {certificate.key}; {SERVER_CIPHERS}" if certificate else ""
        server = bench.nginx_gateway(rig, upstream.port, name=label, listen=listen, more=more, scheme=scheme)
    elif name == "haproxy":
        bind = "proto h2"
        if certificate:
            bind = f"ssl crt {certificate.both} alpn h2,http/1.1 ssl-min-ver TLSv1.3 ciphersuites {CIPHER} curves {GROUP}"
        server = bench.haproxy_gateway(rig, upstream.port, label, bind, scheme)
    else:
        pairs = [{"cert_file": str(certificate.file), "key_file": str(certificate.key)}] if certificate else []
        options = {"use_ssl": bool(certificate), "enable_http2": True, "certificates": pairs}
        api = bench.api_definition("a", "/a/", upstream.url("/"))
        server = bench.tollgate_gateway(rig, args.binary, [api], "/a/", label, {"http_server_options": options})
    return dataclasses.replace(server, name=name)


# Load -------------------------------------------------------------------------------------------------------


def keep_alive(rig: Rig, url: str, args: argparse.Namespace, seconds: float) -> Load:
    return bench.wrk(rig, url, args.conns, seconds)


def streams(rig: Rig, url: str, args: argparse.Namespace, seconds: float) -> Load:
    argv = [*pinned(rig), "h2load", "-t1", "-c8", "-m10", f"-D{seconds:g}", url]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds + 60)
    speed = re.search(r"finished in \S+, ([\d.]+) req/s", done.stdout)
    counts = re.search(r"requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", done.stdout)
    if not speed or not counts:
        raise bench.RigError(f"h2load gave no figures:\n{done.stdout}{done.stderr}")
    succeeded, *failures = map(int, counts.groups())
    wrong = "" if succeeded and not any(failures) else counts[0]
    return Load(succeeded, float(speed[1]), 0, 0, wrong)


def handshakes(rig: Rig, url: str, args: argparse.Namespace, seconds: float) -> Load:
    """Connections with one request each, four at a time."""
    address, path = re.fullmatch(r"https://([^/]+)(/.*)", url).groups()
    # Whole seconds are all it knows.
    argv = [*pinned(rig), "openssl", "s_time", "-new", "-tls1_3", "-connect", address, "-www", path, "-time", str(max(1, round(seconds)))]
    began = time.monotonic()
    children = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(4)]
    outputs = [child.communicate(timeout=seconds + 60)[0] for child in children]
    took = time.monotonic() - began
    found = [re.search(r"(\d+) connections in \d+ real seconds, (\d+) bytes read per connection", output) for output in outputs]
    if not all(found) or any(child.returncode for child in children):
        raise bench.RigError("openssl s_time gave no figures:\n" + "\n".join(outputs))
    count = sum(int(match[1]) for match in found)
    complete = all(int(match[2]) > len(bench.JSON_BODY) for match in found)
    return Load(count, count / took, 0, 0, "" if complete else "answers were cut short")


def pinned(rig: Rig) -> list[str]:
    return ["taskset", "-c", ",".join(map(str, rig.other_cpus))]


SHAPES = {
    "http1": Shape("HTTP/1.1 over TLS, kept alive", True, keep_alive, 0.7),
    "http2": Shape("HTTP/2 over TLS, 8 connections x 10 streams", True, streams, 0.9),
    "handshakes": Shape("full handshakes, one request each", True, handshakes, 1.0, "handshake"),
    "h2c": Shape("HTTP/2 without TLS, 8 connections x 10 streams", False, streams, None),
}


# Figures ----------------------------------------------------------------------------------------------------


def measure(rig: Rig, gateways: list[Server], shape: Shape, args: argparse.Namespace) -> list[dict]:
    """One dictionary per round: gateway name to its figures."""
    for gateway in gateways:
        shape.load(rig, gateway.url(PATH), args, peers.WARM_UP_SECONDS)
    return [{gateway.name: sample(rig, gateway, shape, args) for gateway in gateways} for _ in range(args.rounds)]


def sample(rig: Rig, gateway: Server, shape: Shape, args: argparse.Namespace) -> dict:
    return peers.figures(gateway, lambda: shape.load(rig, gateway.url(PATH), args, args.seconds))


def print_shape(shape: Shape, rounds: list[dict], args: argparse.Namespace) -> None:
    references = [name for name in REFERENCES if name in args.gateways]
    of_conns = f", {args.conns} connections" if shape.load is keep_alive else ""
    print(f"\n{shape.title}{of_conns}, {args.rounds} rounds x {args.seconds:g} s, {args.threads} threads; medians (lowest-highest); "
          f"load average {os.getloadavg()[0]:.1f}")
    header = f"{'gateway':15} {'CPU us/' + shape.unit:>22} {'user':>6} {'system':>6}"
    header += "".join(f" {'x ' + name:>18}" for name in references)
    header += f" {shape.unit + 's/s':>12} {'switches':>8} {'RSS MiB':>8}"
    print(header)
    for name in args.gateways:
        wrong = trouble(rounds, name)
        if wrong:
            print(f"{name:15} VOID: {wrong}")
            continue
        row = f"{name:15} {spread([r[name]['cpu_us'] for r in rounds], 2):>22}"
        row += f" {median(rounds, name, 'user_us'):6.1f} {median(rounds, name, 'system_us'):6.1f}"
        row += "".join(f" {ratio(rounds, name, reference):>18}" for reference in references)
        row += f" {median(rounds, name, 'rps'):12.0f} {median(rounds, name, 'switches'):8.3f} {median(rounds, name, 'rss_mib'):8.1f}"
        print(row, flush=True)
    if shape.target and "tollgate" in args.gateways and "nginx" in references:
        print(f"target: at most {shape.target} x nginx")


if __name__ == "__main__":
    bench.run(main)
