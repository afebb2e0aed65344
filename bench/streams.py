#!/usr/bin/env python3
"""CPU of Tollgate and HAProxy for bytes that nothing inspects: per connection, and per MiB on connections that stay.

Both pass TCP on, and TLS by the host that clients name. The upstream is nginx. In each round, every gateway is measured right after the other, so that
both see the same machine; the ratios are those of one run.
"""

from __future__ import annotations

import json
import statistics

import rig as bench
from rig import HOST, Rig, Server

# What the upstream sends for the figure per MiB.
FILE_BYTES = 65536


def main() -> int:
    parser = bench.argument_parser(__doc__, rounds=5, seconds=5)
    args = parser.parse_args()
    bench.raise_open_files(4096)
    facts = bench.circumstances(args.binary)
    bench.print_circumstances(facts)
    with Rig(args.threads) as rig:
        upstream, secure = bench.nginx_upstream(rig), tls_upstream(rig)
        gateways = [tollgate(rig, args.binary, upstream.port, secure.port), haproxy(rig, upstream.port, secure.port)]
        samples = [sample for _ in range(args.rounds) for sample in one_round(rig, args, gateways)]
    table(samples)
    if args.json:
        args.json.write_text(json.dumps({"run": facts, "samples": samples}, indent=1) + "\n")
    return 1 if any(sample["trouble"] for sample in samples) else 0


class Relay:
    """A gateway with a port for TCP and one for TLS that passes through."""

    def __init__(self, name: str, pid: int, tcp: int, tls: int):
        self.name, self.pid = name, pid
        self.ports = {"http": tcp, "https": tls}


def tollgate(rig: Rig, binary, tcp: int, tls: int) -> Relay:
    ports = {"tcp": rig.free_port(), "tls": rig.free_port()}
    endpoint = lambda port: {"protocol": "tcp", "endpoints": [{"address": HOST, "port": port}]}
    listener = lambda protocol, **more: {"addresses": [HOST], "port": ports[protocol], "protocol": protocol, **more}
    tables = {
        "listeners": {"tcp": listener("tcp"), "tls": listener("tls", tls={"passthrough": True})},
        "backends": {"tcp": endpoint(tcp), "tls": endpoint(tls)},
    }

    def route(name: str, hosts: list[str]) -> dict:
        definition = bench.api_definition(name, f"/{name}/", "")
        rules = [{"backends": [{"backend": name}]}]
        definition["tollgate"] = {"route": {"kind": "stream", "attached": [{"listener": name, "hosts": hosts}], "rules": rules}}
        return definition

    apis = [route("tcp", []), route("tls", ["localhost"]), bench.api_definition("ready", "/ready-api/", f"http://{HOST}:{tcp}")]
    more = {"tollgate": {"routing_file": str(rig.file("routing.json", json.dumps(tables)))}}
    server = bench.tollgate_gateway(rig, binary, apis, "/ready-api/", more=more)
    return Relay("tollgate", server.pid, ports["tcp"], ports["tls"])


def haproxy(rig: Rig, tcp: int, tls: int) -> Relay:
    ports = rig.free_port(), rig.free_port()
    config = f"""global
  nbthread {rig.threads}
  maxconn 20000
  no strict-limits
defaults
  mode tcp
  timeout connect 5s
  timeout client 600s
  timeout server 600s
listen tcp
  bind {HOST}:{ports[0]} backlog 4096
  server one {HOST}:{tcp}
frontend tls
  bind {HOST}:{ports[1]} backlog 4096
  tcp-request inspect-delay 5s
  tcp-request content accept if {{ req_ssl_hello_type 1 }}
  use_backend tls if {{ req_ssl_sni -i localhost }}
backend tls
  server one {HOST}:{tls}
"""
    child = rig.start("haproxy", ["haproxy", "-db", "-f", rig.file("haproxy.cfg", config)], gateway=True)
    rig.await_answer("haproxy", child, f"http://{HOST}:{ports[0]}/json/valid")
    return Relay("haproxy", child.pid, *ports)


def tls_upstream(rig: Rig) -> Server:
    made = bench.certificate(rig, "ecdsa")
    port = rig.free_port()
    config = bench.nginx_text(rig, "secure", 1, 4096, f"""
  server {{
    listen {HOST}:{port} ssl backlog=4096;
    ssl_certificate {made.file};
    ssl_certificate_key {made.key};
    location = /json/valid {{ default_type application/json; return 200 '{bench.JSON_BODY}'; }}
    location = /64k {{ root {rig.dir}; default_type application/octet-stream; }}
  }}""")
    child = rig.start("secure", ["nginx", "-c", rig.file("secure.conf", config), "-e", "stderr"])
    server = Server("secure", child, port, scheme="https")
    rig.await_answer("secure", child, server.url("/json/valid"))
    return server


def one_round(rig: Rig, args, gateways: list[Relay]):
    for scheme in ("http", "https"):
        for per, path, options in (("connection", "/json/valid", ["--disable-keepalive"]), ("MiB", "/64k", [])):
            for gateway in gateways:
                yield sample(rig, args, gateway, scheme, per, path, options)


def sample(rig: Rig, args, gateway: Relay, scheme: str, per: str, path: str, options: list[str]) -> dict:
    if scheme == "https":
        options = [*options, "--insecure"]
    # The host is a name, because TLS names no addresses.
    url = f"{scheme}://localhost:{gateway.ports[scheme]}{path}"
    before = bench.usage(gateway.pid)
    load = bench.load(rig, args.binary, url, args.conns, args.seconds, *options)
    used = bench.usage(gateway.pid) - before
    count = load.requests if per == "connection" else load.requests * FILE_BYTES / 2**20
    return {"gateway": gateway.name, "passes": "TLS" if scheme == "https" else "TCP", "per": per, "cpu_us": used.cpu_ns / 1000 / count, "trouble": load.trouble}


def table(samples: list[dict]) -> None:
    print(f"\n{'':24} {'Tollgate':>12} {'HAProxy':>12} {'ratio':>7}   medians, microseconds of CPU")
    for passes in ("TCP", "TLS"):
        for per in ("connection", "MiB"):
            of = lambda name: [s["cpu_us"] for s in samples if (s["gateway"], s["passes"], s["per"]) == (name, passes, per)]
            own, other = of("tollgate"), of("haproxy")
            ratio = statistics.median(a / b for a, b in zip(own, other))
            print(f"{passes + ', per ' + per:24} {statistics.median(own):12.1f} {statistics.median(other):12.1f} {ratio:7.2f}")
    for trouble in {sample["trouble"] for sample in samples} - {""}:
        print(f"trouble: {trouble}")


if __name__ == "__main__":
    bench.run(main)
