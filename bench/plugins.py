#!/usr/bin/env python3
"""CPU time of hooks in WebAssembly, JavaScript and over gRPC, and of an API without one: Tollgate's own per request, and the ratios.

The hooks set one header. Only the gateway's CPU time counts. The rounds alternate, and the median of each shape is told.
The server of gRPC plugins is the example in Python (`--python` must have grpcio and grpcio-tools), which takes some thousand calls a second. The
gateway then wakes up for single calls, which costs more than the calls themselves; `--server PROGRAM` is a faster server that listens on the port
in its argument, such as the example in Go.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess

import rig as bench
from rig import Rig, RigError

EXAMPLES = bench.ROOT / "examples/plugins"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", bench.ROOT / "target")).resolve()
SCRIPT = """
var add_header = new TykJS.TykMiddleware.NewMiddleware({});
add_header.NewProcessRequest(function (request, session) {
    request.SetHeaders["X-Hello"] = "from JavaScript";
    return add_header.ReturnData(request, session.meta_data);
});
"""


def module() -> pathlib.Path:
    """The example in Rust, built for WebAssembly."""
    argv = ["cargo", "build", "--quiet", "--release", "--locked", "--target", "wasm32-wasip1"]
    argv += ["--manifest-path", EXAMPLES / "rust-wasm/Cargo.toml", "--target-dir", TARGET / "test-wasm"]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise RigError(f"the example in Rust can't be built (rustup target add wasm32-wasip1):\n{done.stderr}")
    return TARGET / "test-wasm/wasm32-wasip1/release/hello.wasm"


def hooks(rig: Rig, kinds: list[str]) -> dict[str, dict]:
    """`custom_middleware` of each shape."""
    shapes = {}
    if "wasm" in kinds:
        entry = {"name": "add_header", "path": str(module())}
        shapes["wasm: pre"] = {"driver": "wasm", "pre": [entry]}
        shapes["wasm: pre, post"] = {"driver": "wasm", "pre": [entry], "post": [entry]}
        shapes["wasm: response"] = {"driver": "wasm", "response": [entry | {"name": "sign_response"}]}
    if "javascript" in kinds:
        entry = {"name": "add_header", "path": str(rig.file("hook.js", SCRIPT))}
        shapes["javascript: pre"] = {"driver": "otto", "pre": [entry]}
    if "grpc" in kinds:
        shapes["grpc: pre"] = {"driver": "grpc", "pre": [{"name": "add_header"}]}
        shapes["grpc: response"] = {"driver": "grpc", "response": [{"name": "sign_response"}]}
    return shapes


def await_plugins(rig: Rig, child: subprocess.Popen, port: int) -> None:
    deadline = bench.time.monotonic() + 30
    while bench.time.monotonic() < deadline and child.poll() is None:
        try:
            return bench.socket.create_connection((bench.HOST, port), timeout=1).close()
        except OSError:
            bench.time.sleep(0.05)
    raise RigError(f"the server of plugins does not listen:\n{rig.log_tail('plugins')}")


def main() -> int:
    parser = bench.argument_parser(__doc__, rounds=5, seconds=4)
    parser.add_argument("--python", type=pathlib.Path, default=TARGET / "test-venv/bin/python", help="an interpreter with grpcio and grpcio-tools")
    parser.add_argument("--server", type=pathlib.Path, help="a server of gRPC plugins with the hooks of the example, in place of it")
    parser.add_argument("--only", nargs="+", choices=["wasm", "javascript", "grpc"], default=["wasm", "javascript", "grpc"])
    args = parser.parse_args()
    bench.print_circumstances(bench.circumstances(args.binary))
    with Rig(args.threads) as rig:
        upstream = bench.nginx_upstream(rig)
        more: dict = {"enable_jsvm": True}
        if "grpc" in args.only:
            port = rig.free_port()
            # Not resolved: the directory of the link makes it the interpreter of a virtual environment.
            server = [args.server.absolute()] if args.server else [args.python.absolute(), EXAMPLES / "python-grpc/server.py"]
            await_plugins(rig, rig.start("plugins", [*server, port]), port)
            more["coprocess_options"] = {"enable_coprocess": True, "coprocess_grpc_server": f"tcp://{bench.HOST}:{port}"}
        shapes = hooks(rig, args.only)
        apis = [bench.api_definition("open", "/open/", upstream.url("/"))]
        for number, section in enumerate(shapes.values()):
            api = bench.api_definition(f"hooked{number}", f"/hooked{number}/", upstream.url("/"))
            apis.append(api | {"custom_middleware": section})
        gateway = bench.tollgate_gateway(rig, args.binary, apis, "/open/", more=more)
        paths = {"no hook": "open"} | {name: f"hooked{number}" for number, name in enumerate(shapes)}
        urls = {name: f"http://{bench.HOST}:{gateway.port}/{path}/json/valid" for name, path in paths.items()}
        for name, url in urls.items():
            rig.await_answer("tollgate", gateway.child, url)
            bench.load(rig, args.binary, url, args.conns, 1)
        figures: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(args.rounds):
            for name, url in urls.items():
                before = bench.usage(gateway.pid)
                load = bench.load(rig, args.binary, url, args.conns, args.seconds)
                if load.trouble:
                    raise RigError(f"{name}: {load.trouble}")
                figures[name].append((bench.usage(gateway.pid) - before).cpu_ns / load.requests / 1_000)
        base = statistics.median(figures["no hook"])
        for name, values in figures.items():
            figure = statistics.median(values)
            print(f"  {name:18} {figure:8.1f} us CPU per request {figure / base:6.2f}   ({min(values):.1f} to {max(values):.1f})")
        if args.json:
            args.json.write_text(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    bench.run(main)
