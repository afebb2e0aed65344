#!/usr/bin/env python3
"""Tests the Helm chart for the Gateway API in the rig: a real API server takes its objects, its pods are admitted at the Pod Security level
`restricted`, and the rights that it gives are those that the controller needs."""

import argparse
import base64
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import run
from rig import build, cluster
from rig.process import Failure, Processes

CHART = pathlib.Path(__file__).resolve().parent.parent / "deploy/helm/tollgate"
EXAMPLES = CHART.parents[2] / "examples/kubernetes"
NAMESPACE = "tollgate"
# Where the kubelet puts the token of a pod's ServiceAccount.
TOKEN_FOLDER = "/run/secrets/kubernetes.io/serviceaccount"
# What the chart must not allow: verb, group, resource and part of it, namespace ("" is all of them).
FORBIDDEN = [
    ("update", "gateway.networking.k8s.io", "gateways", "", ""),
    ("patch", "gateway.networking.k8s.io", "httproutes", "", ""),
    ("delete", "gateway.networking.k8s.io", "gateways", "", ""),
    ("create", "gateway.networking.k8s.io", "gateways", "", ""),
    ("create", "", "secrets", "", NAMESPACE),
    ("patch", "", "configmaps", "", NAMESPACE),
    ("delete", "", "services", "", ""),
    ("list", "", "pods", "", NAMESPACE),
    ("create", "", "pods", "", NAMESPACE),
    ("patch", "", "namespaces", "", ""),
    ("create", "", "serviceaccounts", "token", NAMESPACE),
    ("get", "coordination.k8s.io", "leases", "", "kube-system"),
    ("list", "apiextensions.k8s.io", "customresourcedefinitions", "", ""),
    ("patch", "rbac.authorization.k8s.io", "clusterroles", "", ""),
]
build.PROGRAMS["helm"] = ("helm", [], ["build", *build.FLAGS, "helm.sh/helm/v3/cmd/helm"])


def main():
    arguments = parse()
    try:
        if run.INSIDE in os.environ:
            return inside(arguments, pathlib.Path(os.environ[run.INSIDE]))
        return run.outside(arguments)
    except (Failure, subprocess.CalledProcessError) as failure:
        print(f"conformance: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the tollgate to test")
    parser.add_argument("--run-test", metavar="NAME", default="HTTPRouteSimpleSameNamespace", help="the conformance test to run, or `all`")
    parser.add_argument("--patience", type=int, metavar="SECONDS", help="wait at most so long for what takes the suite up to 300 s")
    parser.add_argument("--keep", action="store_true", help="leave everything running at the end, until this program is interrupted")
    # Everything else that run.py can be told has its default there.
    parser.set_defaults(**run_defaults())
    arguments = parser.parse_args()
    if arguments.run_test == "all":
        arguments.run_test = None
    return arguments


def run_defaults():
    own, sys.argv = sys.argv, sys.argv[:1]
    try:
        return {name: value for name, value in vars(run.parse()).items() if name not in ("binary", "run_test", "patience", "keep")}
    finally:
        sys.argv = own


def inside(arguments, folder):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logs = folder / "logs"
    logs.mkdir()
    processes = Processes(logs)
    try:
        kubernetes = cluster.Cluster(folder, build.cache() / "bin", processes)
        kubernetes.start(run.say)
        kubernetes.install(build.definitions(arguments.channel))
        result = 1
        try:
            result = test(arguments, kubernetes)
        finally:
            if arguments.keep:
                run.keep(folder)
        return result
    finally:
        processes.end()


def test(arguments, kubernetes):
    rig = Objects(kubernetes)
    # The gateways' namespace refuses other pods; the other one is that of the examples.
    rig.create_namespace(NAMESPACE, **{f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")})
    rig.create_namespace("shop")
    for values in sorted((CHART / "ci").glob("*.yaml")):
        count = rig.create(render(kubernetes, "check", "--values", values), NAMESPACE, dry=True)
        run.say(f"the API server would take the {count} objects of {values.name}")
    binary = arguments.binary.resolve()
    test_one_namespace(binary, kubernetes)
    return test_all(arguments, binary, kubernetes)


def test_one_namespace(binary, kubernetes):
    """One Gateway at the pod's own address, and rights in one namespace alone."""
    names = {"controllerName": "tollgate.dev/narrow", "gatewayClass": {"name": "narrow"},
             "ingress": {"controllerName": "tollgate.dev/narrow-ingress", "ingressClass": {"name": "narrow"}}}
    chart = Installation(kubernetes, "narrow-tollgate", {"kubernetes": {"enabled": True, "namespaces": ["shop"], **names}})
    chart.expect_refusals(FORBIDDEN + [("list", "", "secrets", "", ""), ("list", "", "secrets", "", "default"), ("patch", "", "services", "", "default")])
    process = chart.start_gateway(binary)
    for example in ("shop.yaml", "gateway.yaml"):
        text = (EXAMPLES / example).read_text().replace("gatewayClassName: tollgate", "gatewayClassName: narrow")
        chart.create([document for document in re.split(r"^---$", text, flags=re.M) if "kind: Namespace" not in document], "shop")
    kubernetes.processes.wait_for("the example is served", lambda: asked("catalog.example.com", "/catalog/shoes") == 200, 60)
    if asked("other.example.com", "/catalog/shoes") != 404:
        raise Failure("a host without a route is not refused")
    chart.expect_rights_suffice()
    chart.end(process)


def test_all(arguments, binary, kubernetes):
    """Many Gateways with addresses of a pool, in all namespaces."""
    chart = Installation(kubernetes, "tollgate", {"replicas": 2, "networkPolicy": {"enabled": True}, "podDisruptionBudget": {"enabled": True},
                                                  # The kinds of policies are the cluster's: the first release has brought them.
                                                  "kubernetes": {"enabled": True, "addresses": cluster.GATEWAYS[:1], "policyDefinitions": False}})
    chart.expect_pods(2)
    chart.expect_refusals(FORBIDDEN)
    chart.start_gateway(binary)
    result = run.test(arguments, kubernetes, kubernetes.programs)
    chart.expect_rights_suffice()
    return result


def render(kubernetes, release, *options, input=None):
    command = [kubernetes.programs / "helm", "template", release, CHART, "--namespace", NAMESPACE, "--kube-version", "1.34.0", *options]
    done = subprocess.run(command, input=input, capture_output=True, text=True, env={**os.environ, "HOME": str(kubernetes.directory)})
    if done.returncode:
        raise Failure(f"helm: {done.stderr}")
    return [document for document in re.split(r"^---$", done.stdout, flags=re.M) if re.search(r"^kind:", document, re.M)]


def asked(host, path):
    """The status of an answer at the node's address. None: nobody answers."""
    connection = http.client.HTTPConnection(cluster.SERVER[0], 80, timeout=2)
    try:
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


class Objects:
    """The objects of the API server."""

    def __init__(self, kubernetes):
        self.kubernetes, self.places = kubernetes, {}

    def create_namespace(self, name, **labels):
        self.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})

    def create(self, documents, namespace, dry=False):
        """Creates objects, or has the API server check everything about them. Kinds that the rig does not have are left out."""
        count = 0
        for document in documents:
            version, kind = (re.search(rf"^{name}: (\S+)$", document, re.M)[1] for name in ("apiVersion", "kind"))
            written = re.search(r"^  namespace: (\S+)$", document, re.M)
            if path := self.place(version, kind, written[1] if written else namespace):
                self.post(f"{path}?fieldValidation=Strict{'&dryRun=All' if dry else ''}", document)
                count += 1
        return count

    def place(self, version, kind, namespace):
        """Where objects of a kind are created."""
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if base not in self.places:
            status, answer = self.kubernetes.request("GET", base)
            self.places[base] = json.loads(answer)["resources"] if status == 200 else []
        for resource in self.places[base]:
            if resource["kind"] == kind and "/" not in resource["name"]:
                return f"{base}/namespaces/{namespace}/{resource['name']}" if resource["namespaced"] else f"{base}/{resource['name']}"
        return None

    def post(self, path, document):
        status, answer = self.kubernetes.request("POST", path, document if isinstance(document, str) else json.dumps(document))
        if status >= 300:
            raise Failure(f"POST {path}: {status} {answer}\n{document}")
        return json.loads(answer)

    def get(self, path):
        status, answer = self.kubernetes.request("GET", path)
        if status != 200:
            raise Failure(f"GET {path}: {status} {answer}")
        return json.loads(answer)


class Installation(Objects):
    """The chart, installed."""

    def __init__(self, kubernetes, name, values):
        super().__init__(kubernetes)
        self.name = name
        values = {"controlSecret": {"value": "a-secret-for-tests"}, **values}
        count = self.create(render(kubernetes, name, "--values", "-", input=json.dumps(values)), NAMESPACE)
        run.say(f"{name} is installed: {count} objects")

    def deployment(self):
        return self.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{self.name}")

    def expect_pods(self, count):
        """The controllers make the pods: those that may not be are never there. That others are refused shows that pods are judged at all."""
        pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
        own = f"{pods}?labelSelector=app.kubernetes.io/instance={self.name}"
        self.kubernetes.processes.wait_for("the pods are admitted", lambda: len(self.get(own)["items"]) == count, 60)
        pod = self.get(own)["items"][0]
        other = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": {"hostNetwork": True, "containers": [{"name": "a", "image": "b"}]}}
        status, answer = self.kubernetes.request("POST", f"{pods}?dryRun=All", json.dumps(other))
        if status != 403 or "PodSecurity" not in answer:
            raise Failure(f"a pod that is not restricted is not refused: {status} {answer}")
        if pod["spec"]["serviceAccountName"] != self.name:
            raise Failure(f"a pod runs as {pod['spec']['serviceAccountName']}")
        run.say(f"{count} pods are admitted at the level restricted")

    def account(self):
        return f"system:serviceaccount:{NAMESPACE}:{self.name}"

    def expect_refusals(self, things):
        """The account may do nothing that the controller does not do."""
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}", "system:authenticated"]
        for verb, group, resource, part, namespace in things:
            asked = {"verb": verb, "group": group, "resource": resource, "subresource": part, "namespace": namespace}
            review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                      "spec": {"user": self.account(), "groups": groups, "resourceAttributes": asked}}
            if self.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]:
                raise Failure(f"the chart allows to {verb} {resource} {part}")
        run.say(f"{len(things)} things that the controller does not do are refused")

    def start_gateway(self, binary):
        """Starts the program as the pod would: with its arguments, its files, its variables, its token, and no capability."""
        pod = self.deployment()["spec"]["template"]["spec"]
        container = pod["containers"][0]
        home = self.kubernetes.directory / self.name
        home.mkdir()
        for mount in container["volumeMounts"]:
            self.mount(mount, next(volume for volume in pod["volumes"] if volume["name"] == mount["name"]), home)
        variables = {"PATH": "/", "HOME": str(home), "KUBERNETES_SERVICE_HOST": cluster.SERVER[0], "KUBERNETES_SERVICE_PORT": str(cluster.SERVER[1])}
        variables |= {variable["name"]: self.value(variable) for variable in container["env"]}
        arguments = [re.sub(r"\$\((\w+)\)", lambda name: variables[name[1]], word) for word in container["args"]]
        for setting in pod["securityContext"]["sysctls"]:
            pathlib.Path("/proc/sys", setting["name"].replace(".", "/")).write_text(setting["value"])
        # The rig has a mount namespace, and the program gets one of its own: nobody else sees the token.
        prepare = f'mount -t tmpfs tmpfs /run && mkdir -p {TOKEN_FOLDER} && cp "$1"/* {TOKEN_FOLDER} && shift && exec "$@"'
        bare = ["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        process = self.kubernetes.processes.start(
            self.name, "/usr/bin/unshare", "--mount", "/usr/bin/env", "PATH=/usr/bin:/bin", "/bin/sh", "-c", prepare, "sh", self.token(), *bare, binary,
            *arguments, environment=variables, folder=home,
        )
        probe = container["readinessProbe"]["httpGet"]
        port = next(port["containerPort"] for port in container["ports"] if port["name"] == probe["port"])
        self.kubernetes.processes.wait_for("the gateway is ready", lambda: is_well(f"http://{cluster.SERVER[0]}:{port}{probe['path']}"), 60)
        run.say("the gateway is ready, with the token of the ServiceAccount")
        return process

    def end(self, process):
        """Ends the gateway. The Lease is free then."""
        processes = self.kubernetes.processes
        processes.started = [started for started in processes.started if started[1] is not process]
        process.terminate()
        if process.wait(30) != 0:
            raise Failure(f"the gateway ends with {process.returncode}")
        if self.lease()["spec"].get("holderIdentity"):
            raise Failure("the Lease of a gateway that has ended is not free")

    def lease(self):
        return self.get(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/tollgate-gateway-controller")

    def mount(self, mount, volume, home):
        place = home / pathlib.Path(mount["mountPath"]).relative_to("/opt/tyk-gateway")
        files = {}
        if "configMap" in volume:
            files = self.get(f"/api/v1/namespaces/{NAMESPACE}/configmaps/{volume['configMap']['name']}").get("data", {})
        if "subPath" in mount:
            place.write_text(files[mount["subPath"]])
            return
        place.mkdir()
        for name, text in files.items():
            (place / name).write_text(text)

    def value(self, variable):
        source = variable.get("valueFrom", {})
        if "fieldRef" in source:
            return cluster.SERVER[0]
        if "secretKeyRef" in source:
            secret = self.get(f"/api/v1/namespaces/{NAMESPACE}/secrets/{source['secretKeyRef']['name']}")
            return base64.b64decode(secret["data"][source["secretKeyRef"]["key"]]).decode()
        return variable["value"]

    def token(self):
        """A folder with what a pod is given of its ServiceAccount."""
        folder = self.kubernetes.directory / f"{self.name}-account"
        folder.mkdir(mode=0o700)
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        answer = self.post(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{self.name}/token", request)
        (folder / "token").write_text(answer["status"]["token"])
        (folder / "namespace").write_text(NAMESPACE)
        (folder / "ca.crt").write_bytes(self.kubernetes.authority.read_bytes())
        return folder

    def expect_rights_suffice(self):
        """The controller leads, and nothing was refused to it."""
        self.kubernetes.processes.wait_for("the Lease is held", lambda: self.lease()["spec"].get("holderIdentity"), 30)
        log = (self.kubernetes.processes.logs / f"{self.name}.log").read_text(errors="replace")
        refused = [line[:300] for line in log.splitlines() if re.search(r"forbidden|not allowed|\b403\b", line, re.I)]
        if refused:
            raise Failure("the rights of the chart do not suffice:\n" + "\n".join(refused[:5]))
        run.say("nothing was refused to the controller")


def is_well(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    sys.exit(main())
