#!/usr/bin/env python3
"""CPU time of a gRPC hook, and of an API without one: Tollgate's own CPU time per request, and the ratio of the two.

The server of plugins is the example in Python (`--python` must have grpcio and grpcio-tools). It limits the rate, not what is measured: only
the gateway's CPU time counts. The rounds alternate, and the median of each shape is told.
"""

from __future__ import annotations

import pathlib
import statistics

import rig as bench
from rig import Rig, RigError

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples/plugins/python-grpc"
HOOKS = {
    "pre": {"pre": [{"name": "add_header"}]},
    "pre, post": {"pre": [{"name": "add_header"}], "post": [{"name": "add_header"}]},
    "response": {"response": [{"name": "sign_response"}]},
}


def main() -> int:
    parser = bench.argument_parser(__doc__, rounds=3, seconds=4)
    parser.add_argument("--python", default="target/test-venv/bin/python", help="an interpreter with grpcio and grpcio-tools")
    args = parser.parse_args()
    bench.print_circumstances(bench.circumstances(args.binary))
    with Rig(args.threads) as rig:
        upstream = bench.nginx_upstream(rig)
        port = rig.free_port()
        rig.start("plugins", [args.python, EXAMPLE / "server.py", port])
        apis = [bench.api_definition("open", "/open/", upstream.url("/"))]
        for number, hooks in enumerate(HOOKS.values()):
            api = bench.api_definition(f"hooked{number}", f"/hooked{number}/", upstream.url("/"))
            apis.append(api | {"custom_middleware": {"driver": "grpc"} | hooks})
        more = {"coprocess_options": {"enable_coprocess": True, "coprocess_grpc_server": f"tcp://{bench.HOST}:{port}"}}
        gateway = bench.tollgate_gateway(rig, args.binary, apis, "/open/", more=more)
        paths = {"no hook": "open"} | {name: f"hooked{number}" for number, name in enumerate(HOOKS)}
        figures: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(args.rounds):
            for name, path in paths.items():
                url = f"http://{bench.HOST}:{gateway.port}/{path}/json/valid"
                before = bench.usage(gateway.pid)
                load = bench.wrk(rig, url, args.conns, args.seconds)
                if load.trouble:
                    raise RigError(f"{name}: {load.trouble}")
                figures[name].append((bench.usage(gateway.pid) - before).cpu_ns / load.requests / 1_000)
        base = statistics.median(figures["no hook"])
        for name, values in figures.items():
            figure = statistics.median(values)
            print(f"  {name:12} {figure:8.1f} us CPU per request {figure / base:6.2f}")
    return 0


if __name__ == "__main__":
    bench.run(main)
