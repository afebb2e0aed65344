"""What the suite does not ask: thousands of routes, an API server that hangs or dies, pods that come and go, all under requests."""

import collections
import http.client
import json
import os
import signal
import threading
import time

from .process import Failure
from .suite import GATEWAY_CLASS

NAMESPACE = "endurance"
GATEWAY_API = f"/apis/gateway.networking.k8s.io/v1/namespaces/{NAMESPACE}"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
# Between two requests of the load.
PAUSE_S = 0.01
PATIENCE_S = 300


def run(cluster, arguments, say):
    """Returns what went wrong."""
    setup(cluster)
    gateway = cluster.processes.wait_for("the Gateway has an address", lambda: address(cluster), PATIENCE_S)
    serve_route(cluster, gateway, "first")
    failures = []
    for name, act in (
        (f"{arguments.routes} routes", lambda: make_routes(cluster, gateway, arguments.routes, say)),
        (f"an API server that hangs for {arguments.outage} s", lambda: hang(cluster, gateway, arguments.outage, say)),
        (f"an API server that is dead for {arguments.outage} s", lambda: die(cluster, gateway, arguments.outage, say)),
        ("replicas: 1, 5, 1, 5, 1", lambda: change_replicas(cluster)),
    ):
        say(name)
        before = usage(cluster)
        with Load(gateway) as load:
            act()
        seconds, mebibytes = usage(cluster)
        say(f"    requests: {dict(load.outcomes)}; CPU of tollgate {seconds - before[0]:.1f} s, memory {mebibytes} MiB")
        if set(load.outcomes) != {200}:
            failures.append(name)
    return failures


class Load:
    """One request after the other, on a connection of its own each."""

    def __init__(self, gateway):
        self.gateway, self.outcomes, self.ends = gateway, collections.Counter(), threading.Event()
        self.thread = threading.Thread(target=self.ask)

    def ask(self):
        while not self.ends.wait(PAUSE_S):
            self.outcomes[ask(self.gateway, "first")] += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


def ask(gateway, route):
    connection = http.client.HTTPConnection(gateway, timeout=10)
    try:
        connection.request("GET", "/", headers={"Host": f"{route}.example.com"})
        return connection.getresponse().status
    except OSError as error:
        return type(error).__name__
    finally:
        connection.close()


def setup(cluster):
    labels = {"app": "echo"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "echo", "image": "echo-basic"}]}}
    create(cluster, "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    create(cluster, DEPLOYMENTS, {"metadata": {"name": "echo"}, "spec": {"selector": {"matchLabels": labels}, "template": pod}})
    ports = [{"port": 80, "targetPort": 3000}]
    create(cluster, f"/api/v1/namespaces/{NAMESPACE}/services", {"metadata": {"name": "echo"}, "spec": {"selector": labels, "ports": ports}})
    listeners = [{"name": "http", "port": 80, "protocol": "HTTP"}]
    gateway = {"metadata": {"name": "gateway"}, "spec": {"gatewayClassName": GATEWAY_CLASS, "listeners": listeners}}
    create_custom(cluster, "Gateway", gateway)


def create(cluster, path, document):
    status, answer = cluster.request("POST", path, json.dumps(document))
    if status != 201:
        raise Failure(f"POST {path}: {status} {answer}")


def create_custom(cluster, kind, document):
    typed = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, **document}
    create(cluster, f"{GATEWAY_API}/{kind.lower()}s", typed)


def create_route(cluster, name):
    rules = [{"backendRefs": [{"name": "echo", "port": 80}]}]
    spec = {"parentRefs": [{"name": "gateway"}], "hostnames": [f"{name}.example.com"], "rules": rules}
    create_custom(cluster, "HTTPRoute", {"metadata": {"name": name}, "spec": spec})


def address(cluster):
    _, gateway = cluster.request("GET", f"{GATEWAY_API}/gateways/gateway")
    addresses = json.loads(gateway).get("status", {}).get("addresses", [])
    return addresses[0]["value"] if addresses else None


def serve_route(cluster, gateway, name):
    """Creates a route and returns after how many seconds it was served."""
    create_route(cluster, name)
    began = time.monotonic()
    cluster.processes.wait_for(f"the route {name} is served", lambda: ask(gateway, name) == 200, PATIENCE_S)
    return time.monotonic() - began


def make_routes(cluster, gateway, count, say):
    began = time.monotonic()
    writers = [threading.Thread(target=lambda first=first: [create_route(cluster, f"many-{i}") for i in range(first, count, 4)]) for first in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    say(f"    created after {time.monotonic() - began:.1f} s")
    cluster.processes.wait_for("all routes are attached", lambda: attached(cluster) == count + 1, PATIENCE_S)
    say(f"    attached after {time.monotonic() - began:.1f} s")
    say(f"    one more was served after {serve_route(cluster, gateway, 'one-more'):.2f} s")


def attached(cluster):
    _, gateway = cluster.request("GET", f"{GATEWAY_API}/gateways/gateway")
    return json.loads(gateway)["status"]["listeners"][0]["attachedRoutes"]


def hang(cluster, gateway, seconds, say):
    process = cluster.processes.named("apiserver")
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGCONT)
    cluster.processes.wait_for("the API server answers", cluster.server_is_ready, PATIENCE_S)
    say(f"    a route was served {serve_route(cluster, gateway, 'after-hang'):.2f} s after the API server was back")


def die(cluster, gateway, seconds, say):
    cluster.processes.stop("apiserver")
    time.sleep(seconds)
    cluster.start_server()
    say(f"    a route was served {serve_route(cluster, gateway, 'after-death'):.2f} s after the API server was back")


def change_replicas(cluster):
    for replicas in (5, 1, 5, 1):
        cluster.request("PATCH", f"{DEPLOYMENTS}/echo", json.dumps({"spec": {"replicas": replicas}}), "application/merge-patch+json")
        cluster.processes.wait_for(f"{replicas} replicas", lambda: ready_replicas(cluster) == (replicas, replicas), PATIENCE_S)
        time.sleep(2)


def ready_replicas(cluster):
    status = json.loads(cluster.request("GET", f"{DEPLOYMENTS}/echo")[1])["status"]
    return status.get("replicas"), status.get("readyReplicas")


def usage(cluster):
    """(seconds of CPU, MiB of memory) of tollgate."""
    process = cluster.processes.named("tollgate").pid
    with open(f"/proc/{process}/stat") as stat, open(f"/proc/{process}/status") as status:
        fields = stat.read().rpartition(")")[2].split()
        resident = next(line.split()[1] for line in status if line.startswith("VmRSS"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(resident) // 1024
