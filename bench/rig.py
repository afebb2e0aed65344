"""What the benchmarks stand on: free ports, child processes, their configuration, and what /proc says of them.

Everything runs on loopback and in a temporary directory. Children are ended by their own process id.
Python 3.11, standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import random
import re
import resource
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"

# As small as the answers that gateway benchmarks commonly use: 69 bytes.
JSON_BODY = '{"status":"ok","message":"a small answer of sixty-nine bytes in all"}'
assert len(JSON_BODY) == 69

# Debian keeps servers in sbin, which a user's PATH may lack.
os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"

# Every gateway gets as many threads as the others, and is confined to as many CPUs.
GATEWAY_THREADS = 2


class RigError(Exception):
    """Something the benchmark needs is not there or does not answer."""


def default_binary() -> pathlib.Path:
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "tollgate"


def raise_open_files(needed: int) -> None:
    """Raises the limit on open files, for this process and the children it starts later, as far as allowed."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(hard, needed)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    except (ValueError, PermissionError) as error:
        raise RigError(f"{needed} open files are needed and the limit is {hard}; raise it (ulimit -Hn)") from error


# Children ---------------------------------------------------------------------------------------------------


class Rig:
    """Children and their directory; leaving the `with` block ends the ones and removes the other."""

    def __init__(self, threads: int = GATEWAY_THREADS):
        self.threads = threads
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="tollgate-bench-"))
        self.dir.chmod(0o755)  # nginx workers may run as another user
        self.children: list[tuple[str, subprocess.Popen]] = []
        self.ports: set[int] = set()

        cpus = sorted(os.sched_getaffinity(0))
        self.gateway_cpus = cpus[:threads]
        # The loader and the upstream get CPUs of their own where there are enough.
        self.other_cpus = cpus[threads:] if len(cpus) >= threads + 2 else cpus

    def __enter__(self) -> Rig:
        # SIGTERM leaves the block too, instead of leaving the children behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return self

    def __exit__(self, *_) -> None:
        for _, child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
        for name, child in reversed(self.children):
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                print(f"bench: {name} did not end on SIGTERM, killing process {child.pid}")
                child.kill()
                child.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def stop(self, server: Server) -> None:
        """Ends one child before the others; kills it when it does not end by itself."""
        self.children.remove((server.name, server.child))
        if server.child.poll() is None:
            server.child.terminate()
        try:
            server.child.wait(10)
        except subprocess.TimeoutExpired:
            server.child.kill()
            server.child.wait()

    def free_port(self) -> int:
        """A port below those that the system gives to sockets that ask for any, such as connections of load generators."""
        while True:
            port = random.randrange(10_000, 32_000)
            with socket.socket() as probe:
                if port not in self.ports and probe.connect_ex((HOST, port)) != 0:
                    self.ports.add(port)
                    return port

    def start(self, name: str, argv: list, *, env: dict | None = None, gateway: bool = False) -> subprocess.Popen:
        cpus = self.gateway_cpus if gateway else self.other_cpus
        pinned = ["taskset", "-c", ",".join(map(str, cpus)), *map(str, argv)]
        with open(self.dir / f"{name}.log", "wb") as log:
            child = subprocess.Popen(
                pinned, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})}, start_new_session=True,
            )
        self.children.append((name, child))
        return child

    def await_answer(
        self, name: str, child: subprocess.Popen, url: str, seconds: float = 30, status: int = 200
    ) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if child.poll() is not None:
                raise RigError(f"{name} ended with {child.returncode}:\n{self.log_tail(name)}")
            if http_status(url) == status:
                return
            time.sleep(0.05)
        raise RigError(f"{name} does not answer {url} with {status}:\n{self.log_tail(name)}")

    def log_tail(self, name: str) -> str:
        return (self.dir / f"{name}.log").read_text(errors="replace")[-2000:]

    def file(self, name: str, text: str) -> pathlib.Path:
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@dataclasses.dataclass
class Server:
    """A child that answers HTTP. `prefix` is what its paths begin with."""

    name: str
    child: subprocess.Popen
    port: int
    prefix: str = "/"
    scheme: str = "http"

    @property
    def pid(self) -> int:
        return self.child.pid

    def url(self, path: str) -> str:
        return f"{self.scheme}://{HOST}:{self.port}{self.prefix}{path.lstrip('/')}"


def http_status(url: str) -> int | None:
    """The status of a GET on a connection of its own, or None when there is no answer. Certificates are not checked."""
    match = re.fullmatch(r"(https?)://([^:/]+):(\d+)(/.*)", url)
    assert match, url
    scheme, host, port, path = match.groups()
    try:
        with contextlib.ExitStack() as stack:
            stream = stack.enter_context(socket.create_connection((host, int(port)), timeout=5))
            if scheme == "https":
                stream = stack.enter_context(ssl._create_unverified_context().wrap_socket(stream))
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            head = stream.recv(64)
    except OSError:
        return None
    status = re.match(rb"HTTP/1\.[01] (\d{3})", head)
    return int(status[1]) if status else None


# Servers ----------------------------------------------------------------------------------------------------


def nginx_text(rig: Rig, name: str, workers: int, connections: int, body: str) -> str:
    """The parts of an nginx configuration that do not depend on its role. `connections` is for each worker: nginx
    allocates their slots at start."""
    as_root = "user root;\n" if os.geteuid() == 0 else ""
    scratch = "\n".join(
        f"  {kind}_temp_path {rig.dir}/{name}-{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""{as_root}daemon off;
worker_processes {workers};
pid {rig.dir}/{name}.pid;
error_log stderr warn;
events {{ worker_connections {connections}; }}
http {{
{scratch}
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 600s;
  keepalive_requests 100000000;
  client_max_body_size 0;
{body}
}}
"""


def nginx_upstream(rig: Rig) -> Server:
    """The upstream of every gateway: one worker, a small answer and a 64 KiB file."""
    port = rig.free_port()
    (rig.dir / "64k").write_bytes(b"x" * 65536)
    config = nginx_text(rig, "upstream", 1, 4096, f"""
  server {{
    listen {HOST}:{port} backlog=4096;
    location = /json/valid {{ default_type application/json; return 200 '{JSON_BODY}'; }}
    location = /64k {{ root {rig.dir}; default_type application/octet-stream; }}
    location /answers/ {{ root {rig.dir}; default_type application/json; }}
  }}""")
    child = rig.start("upstream", ["nginx", "-c", rig.file("upstream.conf", config), "-e", "stderr"])
    server = Server("upstream", child, port)
    rig.await_answer("upstream", child, server.url("/json/valid"))
    return server


@dataclasses.dataclass
class Certificate:
    """A certificate that signs itself, and its key, in PEM. `both` has one behind the other."""

    file: pathlib.Path
    key: pathlib.Path
    both: pathlib.Path


def certificate(rig: Rig, kind: str) -> Certificate:
    """Of a new key: `ecdsa` on P-256, or `rsa` with 2048 bits."""
    algorithm = {"ecdsa": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["-newkey", "rsa:2048"]}
    made = Certificate(rig.dir / "certificate.pem", rig.dir / "key.pem", rig.dir / "both.pem")
    done = subprocess.run(
        ["openssl", "req", "-x509", *algorithm[kind], "-nodes", "-days", "30", "-subj", "/CN=localhost",
         "-addext", f"subjectAltName=DNS:localhost,IP:{HOST}", "-keyout", made.key, "-out", made.file],
        capture_output=True, text=True,
    )
    if done.returncode:
        raise RigError(f"openssl makes no certificate:\n{done.stderr}")
    made.both.write_text(made.file.read_text() + made.key.read_text())
    return made


def nginx_gateway(
    rig: Rig, upstream_port: int, connections: int = 4096, name: str = "nginx", listen: str = "", more: str = "",
    scheme: str = "http",
) -> Server:
    """A plain proxy with kept-alive connections to the upstream. It adds no header, so does less than Tollgate. `listen` is how its
    port speaks, and `more` stands in its server block."""
    port = rig.free_port()
    config = nginx_text(rig, name, rig.threads, connections, f"""
  upstream backend {{
    server {HOST}:{upstream_port};
    keepalive 512;
    keepalive_requests 100000000;
    keepalive_timeout 600s;
  }}
  server {{
    listen {HOST}:{port} backlog=4096 {listen};
    {more}
    location / {{
      proxy_pass http://backend;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_max_temp_file_size 0;
    }}
  }}""")
    child = rig.start(name, ["nginx", "-c", rig.file(f"{name}.conf", config), "-e", "stderr"], gateway=True)
    server = Server(name, child, port, scheme=scheme)
    rig.await_answer(name, child, server.url("/json/valid"))
    return server


def haproxy_gateway(
    rig: Rig, upstream_port: int, name: str = "haproxy", bind: str = "", scheme: str = "http", frontend: str = "", backends: str = ""
) -> Server:
    """A plain proxy that shares upstream connections between clients. `bind` is how its port speaks, `frontend` and `backends` are
    further lines of its configuration."""
    port = rig.free_port()
    config = f"""global
  nbthread {rig.threads}
  maxconn 20000
  no strict-limits
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive 600s
frontend clients
  bind {HOST}:{port} backlog 4096 {bind}
{frontend}
  default_backend upstream
backend upstream
  server one {HOST}:{upstream_port} pool-purge-delay 600s
{backends}"""
    child = rig.start(name, ["haproxy", "-db", "-f", rig.file(f"{name}.cfg", config)], gateway=True)
    server = Server(name, child, port, scheme=scheme)
    rig.await_answer(name, child, server.url("/json/valid"))
    return server


def api_definition(api_id: str, listen_path: str, target_url: str) -> dict:
    """A keyless API in Tyk's classic form."""
    return {
        "name": api_id,
        "api_id": api_id,
        "org_id": "default",
        "active": True,
        "use_keyless": True,
        "definition": {"location": "header", "key": "x-api-version"},
        "version_data": {
            "not_versioned": True,
            "versions": {"Default": {"name": "Default", "use_extended_paths": True}},
        },
        "proxy": {"listen_path": listen_path, "target_url": target_url, "strip_listen_path": True},
        "do_not_track": True,
    }


@dataclasses.dataclass
class Tollgate(Server):
    """A running tollgate, its control secret and the folder of its API definitions."""

    secret: str = ""
    apps: pathlib.Path = pathlib.Path()


def argument_parser(description: str, *, rounds: int, seconds: int) -> argparse.ArgumentParser:
    """What measurements of Tollgate alone can be told. `description` begins with a line for `--help`."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seconds", type=int, default=seconds, help="length of one measurement")
    parser.add_argument("--conns", type=int, default=50)
    parser.add_argument("--threads", type=int, default=GATEWAY_THREADS)
    parser.add_argument("--binary", type=pathlib.Path, default=default_binary())
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the raw data")
    return parser


def redis_server(rig: Rig) -> Server:
    """A Redis that keeps nothing on disk."""
    port = rig.free_port()
    child = rig.start("redis", ["redis-server", "--bind", HOST, "--port", port, "--save", "", "--appendonly", "no"])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and child.poll() is None:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
            return Server("redis", child, port)
        except OSError:
            time.sleep(0.05)
    raise RigError(f"redis-server does not listen:\n{rig.log_tail('redis')}")


def tollgate_gateway(
    rig: Rig,
    binary: pathlib.Path,
    apis: list[dict],
    prefix: str,
    name: str = "tollgate",
    more: dict | None = None,
    under: list[str] | None = None,
    documents: dict[str, dict] | None = None,
) -> Tollgate:
    """Starts tollgate with these APIs, OpenAPI `documents` by name, and `more` configuration; the API at `prefix` is asked until it answers.
    `under` is a command that runs it."""
    if not os.access(binary, os.X_OK):
        raise RigError(f"no program at {binary}; build it (make release) or pass --binary")
    port, secret = rig.free_port(), secrets.token_hex(16)
    apps = rig.dir / name / "apps"
    apps.mkdir(parents=True)
    for api in apis:
        (apps / f"{api['api_id']}.json").write_text(json.dumps(api))
    for api_id, document in (documents or {}).items():
        (apps / f"{api_id}-oas.json").write_text(json.dumps(document))
    conf = {
        "listen_address": HOST,
        "listen_port": port,
        "app_path": str(apps),
        "http_server_options": {"enable_strict_routes": True, "enable_websockets": True},
        "tollgate": {"threads": rig.threads, "data_dir": str(rig.dir / name / "data")},
    }
    more = more or {}
    conf |= more | {part: conf[part] | more.get(part, {}) for part in ("tollgate", "http_server_options")}
    scheme = "https" if conf["http_server_options"].get("use_ssl") else "http"
    conf_path = rig.file(f"{name}/tyk.conf", json.dumps(conf, indent=2))
    argv = [*(under or []), binary.resolve(), "run", "--conf", conf_path, "--port", port]
    child = rig.start(name, argv, env={"TYK_GW_SECRET": secret}, gateway=True)
    server = Tollgate(name, child, port, prefix, scheme, secret, apps)
    rig.await_answer(name, child, server.url("/json/valid"), seconds=120)
    return server


def mock_upstream(rig: Rig, binary: pathlib.Path) -> Server:
    """`tollgate mock`, for bodies of any size."""
    if not os.access(binary, os.X_OK):
        raise RigError(f"no program at {binary}; build it (make release) or pass --binary")
    port = rig.free_port()
    child = rig.start("mock", [binary.resolve(), "mock", "--listen", f"{HOST}:{port}"])
    server = Server("mock", child, port)
    rig.await_answer("mock", child, server.url("/json/valid"))
    return server


# What /proc says --------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Usage:
    """Sums over a process and its descendants, since they started."""

    cpu_ns: int = 0
    user_ticks: int = 0
    system_ticks: int = 0
    switches: int = 0

    def __sub__(self, earlier: Usage) -> Usage:
        return Usage(*(a - b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(earlier))))


def processes(root: int) -> list[int]:
    """`root` and its descendants."""
    found = [root]
    for pid in found:  # grows while it is walked
        for thread in pathlib.Path(f"/proc/{pid}/task").glob("*"):
            try:
                found += map(int, (thread / "children").read_text().split())
            except OSError:
                pass  # ended meanwhile
    return found


def usage(root: int) -> Usage:
    """CPU time to the nanosecond from the scheduler; ticks only split it between user and kernel."""
    total = Usage()
    for pid in processes(root):
        for thread in pathlib.Path(f"/proc/{pid}/task").glob("*"):
            try:
                cpu_ns = int((thread / "schedstat").read_text().split()[0])
                fields = (thread / "stat").read_text().rpartition(")")[2].split()
                switches = re.findall(r"ctxt_switches:\s+(\d+)", (thread / "status").read_text())
            except OSError:
                continue  # ended meanwhile
            total.cpu_ns += cpu_ns
            total.user_ticks += int(fields[11])
            total.system_ticks += int(fields[12])
            total.switches += sum(map(int, switches))
    return total


def memory_kib(root: int, field: str = "VmRSS") -> int:
    """The sum of a field of /proc/PID/status: VmRSS for now, VmHWM for the highest so far."""
    total = 0
    for pid in processes(root):
        try:
            match = re.search(rf"{field}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
        except OSError:
            continue
        total += int(match[1]) if match else 0
    return total


def reset_peak_memory(root: int) -> None:
    for pid in processes(root):
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


# Load -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Load:
    """One run of `tollgate-bench load`. `trouble` is empty when every answer was 2xx or 3xx and no request failed."""

    requests: int
    rps: float
    p99_us: float
    trouble: str


def loader(binary: pathlib.Path) -> pathlib.Path:
    """The load generator, which is built beside the gateway."""
    beside = binary.resolve().with_name("tollgate-bench")
    if not os.access(beside, os.X_OK):
        raise RigError(f"no program at {beside}; build it (make release)")
    return beside


def load(rig: Rig, binary: pathlib.Path, url: str, conns: int, seconds: float, *options) -> Load:
    """`options` are those of `tollgate-bench load`."""
    file = rig.dir / f"load-{secrets.token_hex(4)}.json"
    argv = ["taskset", "-c", ",".join(map(str, rig.other_cpus)), loader(binary), "load", "--no-progress", "--threads", 1]
    argv += ["-c", conns, "-z", f"{seconds:g}s", "--json", file, *options, url]
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=seconds + 60)
    if not file.exists():
        raise RigError(f"the load generator gave no figures:\n{done.stdout}{done.stderr}")
    result = json.loads(file.read_text())
    wrong = {status: count for status, count in result["status"].items() if status[0] not in "23"}
    trouble = "; ".join([*(f"{count} x {status}" for status, count in wrong.items()), *result["error_messages"]])
    requests = result["requests"]["completed"]
    if not requests:
        trouble = trouble or "no request was answered"
    return Load(requests, result["requests_per_second"], result["response_time"]["p99_us"], trouble)


# The run's own circumstances --------------------------------------------------------------------------------


def circumstances(binary: pathlib.Path | None) -> dict:
    """What a figure must be quoted with."""
    cpu = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    return {
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "cpu": f"{os.cpu_count()} x {cpu[1] if cpu else platform.machine()}",
        "kernel": platform.release(),
        "load_average": os.getloadavg()[0],
        "commit": first_line(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]),
        "tollgate": first_line([str(binary), "--version"]) if binary else "not run",
        "nginx": first_line(["nginx", "-v"]),
        "haproxy": first_line(["haproxy", "-v"]),
    }


def first_line(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown ({error})"
    if done.returncode:
        return "unknown"
    return ((done.stdout + done.stderr).strip().splitlines() or ["?"])[0]


def print_circumstances(facts: dict) -> None:
    for name, value in facts.items():
        print(f"  {name:13} {value}")


def run(main) -> None:
    """Runs a script's `main` and ends the process with its result; what the rig cannot do is one line."""
    try:
        sys.exit(main())
    except RigError as error:
        sys.exit(f"bench: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
