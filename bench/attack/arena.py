"""Where an attack takes place: the gateways, the clients that are watched beside it, and what is measured of both.

Attack and probe run in processes of their own, so that neither waits for the other's interpreter. The main process only samples the
gateway's memory, and kills it when that passes a cap.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import multiprocessing
import os
import pathlib
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import rig as bench
from attack.probe import PROBE_PATH, Probe, clients, fork, percentile
from rig import HOST, Rig, Server, Tollgate

MEMORY_MIB_MAX = 4096  # the gateway is killed above; the machine must survive the suite
SAMPLE_SECONDS = 0.02
NGINX_CONNECTIONS = 16_000



# Gateways -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Target:
    """A gateway that is attacked. `/probe/` leads to the upstream of ordinary clients, `/attack/` to another one, so that what
    the attack does to its upstream is not taken for what it does to the gateway."""

    kind: str
    server: Server
    http2_port: int
    log: pathlib.Path
    quick: bool
    load: Callable[[str, int, float], bench.Load]

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def pid(self) -> int:
        return self.server.pid

    def alive(self) -> bool:
        return self.server.child.poll() is None

    def log_lines(self) -> int:
        return self.log.read_bytes().count(b"\n") if self.log.is_file() else 0

    def log_end(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()[-3:] if self.log.is_file() else []

    def control(self, method: str, path: str, body: dict | bytes | None = None, timeout: float = 60) -> tuple[int, dict]:
        """Status and answer of the control API; status 0 when there is none."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        headers = {"x-tyk-authorization": self.server.secret, "Connection": "close"}
        request = urllib.request.Request(f"http://{HOST}:{self.port}{path}", data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, {}
        except (OSError, ValueError) as error:
            return 0, {"error": f"{type(error).__name__}: {error}"}


@dataclasses.dataclass
class Settings:
    quick: bool
    peers: list[str]
    binary: pathlib.Path

    @property
    def idle_seconds(self) -> float:
        return 0.5 if self.quick else 2.5

    @property
    def attack_seconds(self) -> float:
        return 1.0 if self.quick else 4.0

    @property
    def window_seconds(self) -> float:
        """Of the probe's requests, to say that latency is back."""
        return 0.3 if self.quick else 0.5

    @property
    def recovery_seconds_max(self) -> float:
        return 4.0 if self.quick else 15.0


class Arena:
    """One run of the suite: its options and upstreams. Each measurement starts a gateway of its own."""

    def __init__(self, rig: Rig, settings: Settings):
        self.rig, self.settings = rig, settings
        self.quiet = bench.nginx_upstream(rig)
        self.attacked = bench.mock_upstream(rig, settings.binary)
        self.started = 0
        self.load = lambda url, conns, seconds: bench.load(rig, settings.binary, url, conns, seconds)

    @contextlib.contextmanager
    def gateway(self, kind: str, **options) -> Iterator[Target]:
        """`options` are those of the function that starts this kind."""
        self.started += 1
        name = f"{kind}-{self.started}"
        start = {"tollgate": self.tollgate, "nginx": self.nginx, "haproxy": self.haproxy}[kind]
        target = start(name, **options)
        # Should memory run out all the same, the system takes the gateway and nothing else.
        for pid in bench.processes(target.pid):
            with contextlib.suppress(OSError):
                pathlib.Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
        try:
            yield target
        finally:
            self.rig.stop(target.server)

    def tollgate(self, name: str, apis: list[dict] = (), conf: dict | None = None, under: list | None = None) -> Target:
        conf = {"http_server_options": {"enable_http2": True, **(conf or {}).pop("http_server_options", {})}, **(conf or {})}
        apis = [
            bench.api_definition("probe", "/probe/", self.quiet.url("/")),
            bench.api_definition("attack", "/attack/", self.attacked.url("/")),
            *apis,
        ]
        server = bench.tollgate_gateway(self.rig, self.settings.binary, apis, "/probe/", name, conf, under)
        return Target("tollgate", server, server.port, self.rig.dir / f"{name}.log", self.settings.quick, self.load)

    def restart(self, target: Target) -> Target:
        """The same Tollgate once more, after a stop in order, with what it has in its store."""
        self.rig.stop(target.server)
        old: Tollgate = target.server
        name = f"{old.name}-again"
        conf = self.rig.dir / old.name / "tyk.conf"
        argv = [self.settings.binary.resolve(), "run", "--conf", conf, "--port", old.port]
        child = self.rig.start(name, argv, env={"TYK_GW_SECRET": old.secret}, gateway=True)
        server = dataclasses.replace(old, name=name, child=child)
        self.rig.await_answer(name, child, server.url("/json/valid"))
        return Target("tollgate", server, server.port, self.rig.dir / f"{name}.log", self.settings.quick, self.load)

    def nginx(self, name: str, locations: str = "", connections: int = NGINX_CONNECTIONS, tls: bench.Certificate | None = None) -> Target:
        port2 = self.rig.free_port()
        more = f"""
    listen {HOST}:{port2} http2 backlog=4096;
    {locations}
    location /attack/ {{
      proxy_pass http://{HOST}:{self.attacked.port}/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_max_temp_file_size 0;
    }}
    location = {PROBE_PATH} {{
      proxy_pass http://backend/json/valid;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }}"""
        scheme = "https" if tls else "http"
        if tls:
            more += f" ssl_certificate {tls.file}; ssl_certificate_key {tls.key};"
        server = bench.nginx_gateway(
            self.rig, self.quiet.port, connections, name, listen="ssl" if tls else "", more=more, scheme=scheme
        )
        return Target("nginx", server, port2, self.rig.dir / f"{name}.log", self.settings.quick, self.load)

    def haproxy(self, name: str, tls: bench.Certificate | None = None) -> Target:
        port2 = self.rig.free_port()
        frontend = f"""  bind {HOST}:{port2} proto h2 backlog 4096
  use_backend attacked if {{ path_beg /attack/ }}
  use_backend probed if {{ path {PROBE_PATH} }}"""
        backends = f"""backend attacked
  http-request replace-path /attack/(.*) /\\1
  server one {HOST}:{self.attacked.port}
backend probed
  http-request set-path /json/valid
  server one {HOST}:{self.quiet.port} pool-purge-delay 600s
"""
        bind, scheme = (f"ssl crt {tls.both}", "https") if tls else ("", "http")
        server = bench.haproxy_gateway(self.rig, self.quiet.port, name, bind, scheme, frontend, backends)
        return Target("haproxy", server, port2, self.rig.dir / f"{name}.log", self.settings.quick, self.load)


# Attack -------------------------------------------------------------------------------------------------------

Attack = Callable[[Target, float], dict]


@dataclasses.dataclass
class Running:
    """An attack in a process of its own. It returns facts: names to figures."""

    process: multiprocessing.Process
    reading: object
    began: float
    seconds: float

    @classmethod
    def start(cls, attack: Attack, target: Target, seconds: float) -> Running:
        reading, writing = fork.Pipe(duplex=False)
        process = fork.Process(target=attack_and_tell, args=(attack, target, seconds, writing), daemon=True)
        process.start()
        writing.close()
        return cls(process, reading, time.monotonic(), seconds)

    def facts(self, grace_seconds: float) -> dict:
        """Waits for the attack's end, and ends it by its process id when it takes longer than it may."""
        self.process.join(max(0.1, self.began + self.seconds + grace_seconds - time.monotonic()))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
            return {"attack": f"had to be ended after {time.monotonic() - self.began:.0f} s"}
        try:
            return self.reading.recv()
        except EOFError:
            return {"attack": f"failed with exit code {self.process.exitcode}"}


def attack_and_tell(attack: Attack, target: Target, seconds: float, writing) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(5)  # an attacker has his own machine; where he shares ours, the gateway comes first
    try:
        writing.send(attack(target, seconds))
    except Exception as error:  # whatever it is belongs into the report
        writing.send({"attack": f"failed: {type(error).__name__}: {error}"})


# Measurement --------------------------------------------------------------------------------------------------


class Watch(threading.Thread):
    """Samples a gateway's memory and CPU time, and kills it above the cap of memory."""

    def __init__(self, target: Target):
        super().__init__(daemon=True)
        self.target, self.samples, self.over, self.killed = target, [], threading.Event(), False
        self.cpu_ns = 0  # as long as the process is there to be asked

    def run(self) -> None:
        while not self.over.wait(SAMPLE_SECONDS):
            if self.target.alive():
                self.cpu_ns = max(self.cpu_ns, bench.usage(self.target.pid).cpu_ns)
            mib = bench.memory_kib(self.target.pid) / 1024
            self.samples.append((time.monotonic(), mib))
            if mib > MEMORY_MIB_MAX:
                self.killed = True
                for pid in reversed(bench.processes(self.target.pid)):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return

    def end(self) -> None:
        self.over.set()
        self.join()

    def between(self, begin: float, end: float) -> list[float]:
        return [mib for at, mib in self.samples if begin <= at < end]


def measure(
    arena: Arena,
    target: Target,
    attack: Attack,
    seconds: float | None = None,
    stretch: float = 1,
    paths: dict | None = None,
    grace: float = 10,
) -> dict:
    """The figures of one attack on one gateway: idle, attacked, and until it is back. `paths` is what the probe asks for, by label;
    with none there is no probe. The attack takes `seconds`, or `stretch` times what is usual."""
    settings = arena.settings
    seconds = stretch * settings.attack_seconds if seconds is None else seconds
    paths = {"requests": PROBE_PATH} if paths is None else paths
    labels = list(paths)
    bench.http_status(target.server.url("/json/valid"))
    probe, watch = Probe(target.port, target.server.scheme == "https", paths), Watch(target)
    watch.start()
    try:
        time.sleep(0.2)  # the probe's first requests bring in code and connections
        begin, cpu_begin = time.monotonic(), bench.usage(target.pid).cpu_ns
        lines_before = target.log_lines()
        time.sleep(settings.idle_seconds)
        attacked, cpu_before = time.monotonic(), bench.usage(target.pid).cpu_ns
        idle_cpu = (cpu_before - cpu_begin) / (attacked - begin)
        facts = Running.start(attack, target, seconds).facts(grace)
        ended, cpu_after = time.monotonic(), max(watch.cpu_ns, bench.usage(target.pid).cpu_ns)
        idle_mib = median(watch.between(begin, attacked))
        idle = {label: probe.between(begin, attacked, label) for label in labels}
        recovery = recover(arena, probe, watch, labels, idle, idle_mib, ended)
        over = time.monotonic()
    finally:
        probe.end()
        watch.end()
    return {
        "attack_seconds": ended - attacked,
        "idle_mib": idle_mib,
        "peak_mib": max(watch.between(attacked, over), default=0),
        "after_mib": (watch.between(over - 0.5, over + 1) or [0])[-1],
        "cpu_seconds": max(0, cpu_after - cpu_before) / 1e9,
        "idle_cpu_seconds": idle_cpu * (ended - attacked) / 1e9,  # in as much time
        **recovery,
        "log_lines": target.log_lines() - lines_before,
        "log_end": target.log_end(),
        "clients": {
            label: clients(idle[label], probe.between(attacked, ended, label), probe.between(ended, over, label)) for label in labels
        },
        "killed_at_cap": watch.killed,
        "alive": target.alive(),
        "facts": facts,
    }


def recover(arena: Arena, probe: Probe, watch: Watch, labels: list, idle: dict, idle_mib: float, ended: float) -> dict:
    """Seconds from the attack's end until a window of requests is as quick as before, and until memory is back."""
    window = arena.settings.window_seconds
    quick = {label: max(2 * percentile(idle[label], 99), percentile(idle[label], 99) + 0.02) for label in labels}
    mib_max = idle_mib + max(16, idle_mib / 4)
    latency_back = memory_back = None
    while time.monotonic() < ended + arena.settings.recovery_seconds_max and (latency_back is None or memory_back is None):
        time.sleep(0.1)
        now = time.monotonic()
        recent = {label: probe.between(now - window - 0.1, now - 0.1, label) for label in labels}
        if latency_back is None and now - window - 0.1 >= ended and all(
            len(samples) > 20 and percentile(samples, 99) <= quick[label] for label, samples in recent.items()
        ):
            latency_back = now - window - 0.1 - ended
        if memory_back is None and (watch.samples or [(0, 0)])[-1][1] <= mib_max:
            memory_back = next((at for at, mib in watch.samples if at >= ended and mib <= mib_max), now) - ended
    return {"latency_back_seconds": latency_back, "memory_back_seconds": memory_back}


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


def thread_cpu(target: Target) -> dict[str, int]:
    """CPU nanoseconds of each thread that serves clients: threads `core-N` of Tollgate, nginx' workers, all of HAProxy's."""
    found = {}
    for pid in bench.processes(target.pid):
        if target.kind == "nginx" and pid == target.pid:
            continue  # the master serves nobody
        for thread in pathlib.Path(f"/proc/{pid}/task").glob("*"):
            with contextlib.suppress(OSError):
                if target.kind != "tollgate" or (thread / "comm").read_text().startswith("core-"):
                    found[thread.name] = int((thread / "schedstat").read_text().split()[0])
    return found


def thread_shares(before: dict[str, int], after: dict[str, int]) -> list[float]:
    """Seconds of each, the busiest first."""
    return sorted(((after[name] - before.get(name, 0)) / 1e9 for name in after), reverse=True)
