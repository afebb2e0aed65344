"""Requests at a steady rate while backends roll out and come and go, a certificate and routes change, and the controller and the data plane restart:
none may fail, except where there is no backend."""

import base64
import json
import os
import pathlib
import signal
import subprocess
import time

from . import build, endurance
from .ingress import make_certificate
from .process import Adopted, Failure
from .suite import GATEWAY_CLASS

NAMESPACE = endurance.NAMESPACE
CORE = f"/api/v1/namespaces/{NAMESPACE}"
CONTROLLER = "controller"
PATIENCE_S = 120
GONE, BACK = "the backend goes to zero", "the backend comes back"
# Pods of the rig end at once, with what they are working on; without any, 503 is what clients are to get.
EXPECTED = {GONE: {"200", "500", "503", "504"}, BACK: {"200", "503"}}
# The same in each: what goes on a moment before and after is seen too.
SETTLES_S = 2


def run(cluster, arguments, start_controller, say):
    """Returns what went wrong. `start_controller` starts the process that writes statuses."""
    gateway = setup(cluster)
    failures = []
    for name, is_secure, act in (
        ("nothing", False, lambda: time.sleep(5)),
        ("a rollout of the backend", False, lambda: roll_out(cluster)),
        (GONE, False, lambda: scale(cluster, 0)),
        (BACK, False, lambda: scale(cluster, 2)),
        ("change of the certificate", True, lambda: change_certificate(cluster, gateway)),
        (f"{arguments.edits} edits of routes", False, lambda: edit(cluster, arguments.edits)),
        ("restart of the controller", False, lambda: restart_controller(cluster, start_controller)),
        ("restart of the data plane", False, lambda: restart_data_plane(cluster)),
    ):
        with Load(cluster, gateway, arguments.rate, is_secure) as load:
            time.sleep(SETTLES_S)
            act()
            time.sleep(SETTLES_S)
        say(f"    {name}: {load.outcomes}, {load.per_second:.0f}/s")
        if not load.outcomes.get("200") or not set(load.outcomes) <= EXPECTED.get(name, {"200"}):
            failures.append(name)
    return failures


class Load:
    def __init__(self, cluster, gateway, rate, is_secure):
        host, port = ("secure.example.com", 443) if is_secure else ("first.example.com", 80)
        options = ["-address", f"{gateway}:{port}", "-host", host, "-rate", str(rate), *(["-tls"] if is_secure else [])]
        self.began = time.monotonic()
        self.process = subprocess.Popen([build.cache() / "bin/load", *options], stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        output, _ = self.process.communicate(timeout=60)
        self.outcomes = json.loads(output)
        self.per_second = sum(self.outcomes.values()) / (time.monotonic() - self.began)


def setup(cluster):
    labels = {"app": "echo"}
    # A pod that is told to end serves on until nobody sends it anything.
    container = {"name": "echo", "image": "echo-basic", "env": [{"name": "ROUND", "value": "0"}]}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    endurance.create(cluster, "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": pod, "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}}
    endurance.create(cluster, endurance.DEPLOYMENTS, {"metadata": {"name": "echo"}, "spec": spec})
    ports = [{"port": 80, "targetPort": 3000}]
    endurance.create(cluster, f"{CORE}/services", {"metadata": {"name": "echo"}, "spec": {"selector": labels, "ports": ports}})
    put_certificate(cluster, "POST", f"{CORE}/secrets")
    listeners = [
        {"name": "http", "port": 80, "protocol": "HTTP"},
        {"name": "https", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "certificate"}]}},
    ]
    endurance.create_custom(cluster, "Gateway", {"metadata": {"name": "gateway"}, "spec": {"gatewayClassName": GATEWAY_CLASS, "listeners": listeners}})
    gateway = cluster.processes.wait_for("the Gateway has an address", lambda: endurance.address(cluster), PATIENCE_S)
    for name in ("first", "secure"):
        endurance.serve_route(cluster, gateway, name)
    cluster.processes.wait_for("two pods are ready", lambda: endurance.ready_replicas(cluster) == (2, 2), PATIENCE_S)
    return gateway


def put_certificate(cluster, method, path, kind="application/json"):
    certificate, key = make_certificate(cluster.directory, "secure.example.com")
    data = {name: base64.b64encode(text.encode()).decode() for name, text in {"tls.crt": certificate, "tls.key": key}.items()}
    document = {"metadata": {"name": "certificate"}, "type": "kubernetes.io/tls", "data": data}
    status, answer = cluster.request(method, path, json.dumps(document), kind)
    if status not in (200, 201):
        raise Failure(f"{path}: {status} {answer}")
    return certificate


def patch(cluster, document):
    status, answer = cluster.request("PATCH", f"{endurance.DEPLOYMENTS}/echo", json.dumps(document), "application/strategic-merge-patch+json")
    if status != 200:
        raise Failure(f"the deployment: {status} {answer}")


def roll_out(cluster):
    env = [{"name": "ROUND", "value": str(time.monotonic())}]
    patch(cluster, {"spec": {"template": {"spec": {"containers": [{"name": "echo", "env": env}]}}}})
    cluster.processes.wait_for("new pods are ready", lambda: is_rolled_out(cluster), PATIENCE_S)


def is_rolled_out(cluster):
    deployment = json.loads(cluster.request("GET", f"{endurance.DEPLOYMENTS}/echo")[1])
    status = deployment["status"]
    figures = (status.get("replicas"), status.get("updatedReplicas"), status.get("availableReplicas"))
    return status.get("observedGeneration", 0) >= deployment["metadata"]["generation"] and figures == (2, 2, 2)


def scale(cluster, replicas):
    patch(cluster, {"spec": {"replicas": replicas}})
    wanted = ((replicas, replicas),) if replicas else ((None, None), (0, None), (0, 0))
    cluster.processes.wait_for(f"{replicas} pods are ready", lambda: endurance.ready_replicas(cluster) in wanted, PATIENCE_S)


def change_certificate(cluster, gateway):
    wanted = put_certificate(cluster, "PATCH", f"{CORE}/secrets/certificate", "application/merge-patch+json")
    cluster.processes.wait_for("the new certificate is served", lambda: served_certificate(gateway).strip() == wanted.strip(), PATIENCE_S)


def served_certificate(gateway):
    command = ["openssl", "s_client", "-connect", f"{gateway}:443", "-servername", "secure.example.com"]
    shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    return begin + shown.partition(begin)[2].partition(end)[0] + end + "\n" if begin in shown else ""


def edit(cluster, count):
    path = f"{endurance.GATEWAY_API}/httproutes/first"
    for number in range(count):
        rule = {"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "backendRefs": [{"name": "echo", "port": 80}]}
        other = {"matches": [{"path": {"type": "PathPrefix", "value": f"/edit-{number}"}}], "backendRefs": [{"name": "echo", "port": 80}]}
        status, answer = cluster.request("PATCH", path, json.dumps({"spec": {"rules": [rule, other]}}), "application/merge-patch+json")
        if status != 200:
            raise Failure(f"{path}: {status} {answer}")


def restart_controller(cluster, start):
    cluster.processes.stop(CONTROLLER)
    start()
    # The one that vanished still has the Lease.
    endurance.serve_route(cluster, endurance.address(cluster), f"after-restart-{int(time.monotonic())}")


def restart_data_plane(cluster):
    """The process hands its sockets over to another one, and ends when its last request has."""
    old = cluster.processes.named("tollgate")
    before = data_planes()
    os.kill(old.pid, signal.SIGUSR2)
    until = time.monotonic() + PATIENCE_S
    while old.poll() is None:
        if time.monotonic() > until:
            raise Failure("the data plane does not hand over")
        time.sleep(0.05)
    new = [pid for pid in data_planes() if pid not in before]
    if len(new) != 1:
        raise Failure(f"the data plane has {len(new)} successors")
    cluster.processes.replace("tollgate", Adopted(new[0]))


def data_planes():
    """The numbers of the processes that serve."""
    found = []
    for command in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"kubernetes" in words and b"--data-plane-only" in words:
            found.append(int(command.parent.name))
    return found
